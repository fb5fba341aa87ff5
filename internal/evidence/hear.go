package evidence

// What becomes of people's words: each has an effect, or an answer that says why not. No limit of ours holds for
// people's reruns, but each is done once.

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxAlike is how many commands of a kind are kept on a head: of each person the reruns, the words that switch fixes
// on, and those that are refused; and all together of people who may not write. So nobody talks the record full, and
// nobody keeps another one who may write from being heard. An accept, and a word that switches fixes off, needs no
// bound: each ends something that must have begun anew.
const maxAlike = 8

// handsPatience is how long GitHub may take to tell who had a hand in the change before a command is refused for that.
const handsPatience = 2 * time.Minute

// keepCommand adds a command if there is room for it: of each verb of a person, of their refusals, and of all that those said who
// may not write. The last that is refused to a person says that no more are.
func keepCommand(h *headView, c quorum.Command) {
	isOther := func(o quorum.Command) bool {
		if o.Refused == quorum.ReasonMayNot || c.Refused == quorum.ReasonMayNot {
			return o.Refused != c.Refused
		}
		return o.By != c.By || (o.Refused == "") != (c.Refused == "") || c.Refused == "" && o.Verb != c.Verb
	}
	countAlike := func() int { return len(without(h.commands, isOther)) }
	isRepeated, alike := c.Verb == quorum.CommandRerun || c.Verb == quorum.CommandFixOn, countAlike()
	if c.Refused == "" && isRepeated && alike >= maxAlike {
		c.Reviewers, c.Refused = nil, quorum.ReasonUsedUp
		alike = countAlike() // among the refusals now
	}
	if c.Refused != "" && c.Refused != quorum.ReasonMayNot && alike == maxAlike-1 {
		c.Refused = quorum.ReasonUsedUp
	}
	if c.Refused == "" || alike < maxAlike {
		h.commands = append(h.commands, c)
	}
}

// hearCommand says what becomes of a command; false while that is not known.
func hearCommand(h *headView, said *saidCommand, views []*reviewerView) (c quorum.Command, heard bool) {
	s := h.snapshot
	may, known := s.Permissions[strings.ToLower(said.By)]
	if !known {
		return c, false
	}
	c = said.Command
	c.Base = s.PR.BaseRef
	needsNoHand := said.Verb == quorum.CommandRerun || said.Verb == quorum.CommandAccept && !h.policy.OwnChange
	switch {
	case may < quorum.Write:
		c.Refused = quorum.ReasonMayNot
	case said.Refused != "":
	case said.Verb == "":
		c.Refused = quorum.ReasonUnclear
	case said.Verb == quorum.CommandAccept && (h.policy.Override == 0 || may < h.policy.Override):
		c.Refused = quorum.ReasonNoOverride
	case said.Verb == quorum.CommandVouch:
		c.May, c.Refused = may, whyNoVouch(h, said, may)
	case said.isAboutFixes():
		c.Refused = whyNoSwitch(h, &c)
	case needsNoHand && change.HadHand(s, said.author):
		c.Refused = quorum.ReasonHadHand
	case needsNoHand && !change.AreHandsKnown(s):
		c.Refused = quorum.ReasonHandsUnknown
	case said.Verb == quorum.CommandAccept:
		c.Reviewers, c.Until, c.Refused = acceptedBy(h, said)
		c.Own, c.May = change.HadHand(s, said.author), may
	case said.Verb == quorum.CommandRerun:
		c.Reviewers, c.Refused = reviewersToRerun(views, said.about)
	}
	return c, c.Refused != quorum.ReasonHandsUnknown || !s.Began.Before(said.At.Add(handsPatience))
}

// whyNoSwitch says why a word about fixes changes nothing; "" if it does.
func whyNoSwitch(h *headView, c *quorum.Command) quorum.Reason {
	last := cmp.Or(fixSwitchOf(&h.snapshot.Record, h.commands), &quorum.FixSwitch{})
	switch {
	case h.policy.Fix.Workflow == "":
		return quorum.ReasonNoFixes
	case last.Off == (c.Verb == quorum.CommandFixOff), c.At.Before(last.At):
		return quorum.ReasonNoChange
	}
	return ""
}

// whyNoVouch says why somebody may not vouch for the change; "" if they may. Who had no hand in it approves it.
func whyNoVouch(h *headView, said *saidCommand, may quorum.Permission) quorum.Reason {
	isOfReviewer := func(r quorum.Reviewer) bool { return r.IsAuthor(said.author) }
	switch p := h.policy; {
	case !p.OwnChange, p.StandIn == 0, may < p.StandIn:
		return quorum.ReasonNoVouch
	case slices.ContainsFunc(p.Reviewers, isOfReviewer):
		return quorum.ReasonIsReviewer
	case !strings.HasPrefix(h.snapshot.PR.Head, said.about):
		return quorum.ReasonOtherHead
	case h.hadNoHand(said.author):
		return quorum.ReasonNotOwn
	case !change.HadHand(h.snapshot, said.author):
		return quorum.ReasonHandsUnknown
	case slices.ContainsFunc(h.vouchers(), func(s quorum.StandIn) bool { return strings.EqualFold(s.Login, said.By) }):
		return quorum.ReasonNoChange
	}
	return ""
}

// acceptedBy says whose objections an accept ends, of those that our check had named, and until when. One must stand still.
func acceptedBy(h *headView, said *saidCommand) (reviewers []string, until time.Time, refused quorum.Reason) {
	if !strings.HasPrefix(h.snapshot.PR.Head, said.about) {
		return nil, until, quorum.ReasonOtherHead
	}
	isNews := false
	for i := range h.snapshot.Record.Objections {
		o := &h.snapshot.Record.Objections[i]
		shown := h.shownText(o.TextRef)
		isOver := o.Answered || shown != nil && h.isDismissed(shown)
		if isOver || !h.record.concerns(o) || !wasNamedBy(o, said.At) {
			continue
		}
		ended := h.acceptOf(o.Reviewer, o.At, func(n *quorum.Objection) bool { return n == o })
		isNews, until = isNews || ended == nil, latest(until, o.At)
		reviewers = withOnce(reviewers, o.Reviewer)
	}
	switch {
	case len(reviewers) == 0:
		return nil, until, quorum.ReasonNothingNamed
	case !isNews:
		return nil, time.Time{}, quorum.ReasonNoChange
	}
	return reviewers, until.UTC(), ""
}

// reviewersToRerun says who is run again: of all those that do not approve, or who is named. Nothing that is under way is.
func reviewersToRerun(views []*reviewerView, named string) (chosen []string, refused quorum.Reason) {
	refused = quorum.ReasonNobodyToRerun
	if named != "" {
		refused = quorum.ReasonNoReviewer
		views = without(views, func(v *reviewerView) bool { return !strings.EqualFold(v.Name, named) })
	}
	for _, v := range views {
		switch why := v.whyNoRerun(named != ""); {
		case why == "":
			chosen = append(chosen, v.Name)
		case refused != quorum.ReasonUnderWay:
			refused = why
		}
	}
	if len(chosen) > 0 {
		refused = ""
	}
	return chosen, refused
}

// whyNoRerun says why a reviewer is not run again; "" if it is: by its name anyone, else who votes and does not approve.
func (v *reviewerView) whyNoRerun(isNamed bool) quorum.Reason {
	attempt := v.newestAttempt()
	a, got, b := &attempt.attempt, attempt.judgeAttempt(), v.makeBallot()
	whyVoid, _ := attempt.whyNoVote(true) // not even an objection counts
	isInReserve := v.InsteadOf != "" && v.head.record.turnOf(v.Name).IsZero() && !v.isRequiredAgain()
	isPointless := whyVoid != "" || !isNamed && (!b.Voter() || b.Vote == quorum.Approve || isInReserve)
	canRerun := a.run != nil && got.Outcome != quorum.AwaitingApproval
	canAsk := a.run == nil && v.Workflow == "" && v.Request.Set()
	isAsked := a.request != nil || a.byPerson || newPlanner(attempt, got).asksFirst() // then it is asked just now
	isAtWork := got.Outcome == quorum.Running || got.Outcome == quorum.Silent && isAsked
	switch {
	case a.isUnderWay():
		return quorum.ReasonUnderWay
	case isPointless || !canRerun && !canAsk:
		return quorum.ReasonNobodyToRerun
	case canAsk && isAtWork:
		return quorum.ReasonUnderWay
	}
	return ""
}

// withCommanded puts the first rerun that a person has commanded in place of our own, until GitHub shows it.
func (v *reviewerView) withCommanded(b quorum.Ballot) quorum.Ballot {
	for _, c := range v.head.commands {
		if !v.head.isInForce(&c, quorum.CommandRerun) || !slices.Contains(c.Reviewers, v.Name) {
			continue
		}
		p := newPlanner(v.newestAttempt(), statement{})
		a := &p.attempt
		commanded, isNew := p.againAction(c.At), !v.head.record.hasCommandedIntent(c.ID, v.Name, v.runs.counted)
		in, due, again, _ := p.announcedRerun()
		switch {
		case a.isUnderWay():
			return b
		case a.run == nil && !v.Request.Set(), !isNew && !(again && in.Command == c.ID):
			continue
		case !isNew:
			commanded.Due = due
		}
		commanded.Command = c.ID
		b.Next = without(b.Next, func(a quorum.Action) bool { return a.Kind == quorum.Rerun || a.Kind == quorum.Ask })
		b.Next = append(b.Next, commanded)
		b.Circuit = quorum.Hold{} // a person's word goes before an open circuit
		return b
	}
	return b
}
