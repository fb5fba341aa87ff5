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

// keepCommand adds a command if there is room for it. The last that is refused to a person says that no more are.
func (v *commandView) keepCommand(c quorum.Command) {
	repeated, refused, unentitled := 0, 0, 0
	for i := range v.all {
		switch o := &v.all[i]; {
		case o.Refused == quorum.ReasonMayNot:
			unentitled++
		case o.By != c.By:
		case o.Refused != "":
			refused++
		case o.Verb == c.Verb:
			repeated++
		}
	}
	isRepeated := c.Verb == quorum.CommandRerun || c.Verb == quorum.CommandFixOn
	if c.Refused == "" && isRepeated && repeated >= maxAlike {
		c.Reviewers, c.Refused = nil, quorum.ReasonUsedUp
	}
	isOwnRefusal := c.Refused != "" && c.Refused != quorum.ReasonMayNot
	if isOwnRefusal && refused == maxAlike-1 {
		c.Refused = quorum.ReasonUsedUp
	}
	isFull := isOwnRefusal && refused >= maxAlike || c.Refused == quorum.ReasonMayNot && unentitled >= maxAlike
	if !isFull {
		v.all = append(v.all, c)
	}
}

// hearCommand says what becomes of a command; false while that is not known.
func (v *commandView) hearCommand(said *saidCommand, views []*reviewerView) (c quorum.Command, heard bool) {
	s := v.head.snapshot
	may, known := s.Permissions[strings.ToLower(said.By)]
	if !known {
		return c, false
	}
	c = said.Command
	c.Base = s.PR.BaseRef
	needsNoHand := said.Verb == quorum.CommandRerun || said.Verb == quorum.CommandAccept && !v.head.policy.OwnChange
	switch {
	case may < quorum.Write:
		c.Refused = quorum.ReasonMayNot
	case said.Refused != "":
	case said.Verb == "":
		c.Refused = quorum.ReasonUnclear
	case said.Verb == quorum.CommandAccept && (v.head.policy.Override == 0 || may < v.head.policy.Override):
		c.Refused = quorum.ReasonNoOverride
	case said.Verb == quorum.CommandVouch:
		c.May, c.Refused = may, v.whyNoVouch(said, may)
		return c, c.Refused != quorum.ReasonHandsUnknown || !s.Began.Before(said.At.Add(handsPatience))
	case said.isAboutFixes():
		c.Refused = v.whyNoSwitch(&c)
	case needsNoHand && change.HadHand(s, said.author):
		c.Refused = quorum.ReasonHadHand
	case needsNoHand && !change.AreHandsKnown(s):
		if s.Began.Before(said.At.Add(handsPatience)) {
			return c, false
		}
		c.Refused = quorum.ReasonHandsUnknown
	case said.Verb == quorum.CommandAccept:
		c.Reviewers, c.Until, c.Refused = v.acceptedBy(said)
		c.Own = change.HadHand(s, said.author)
	case said.Verb == quorum.CommandRerun:
		c.Reviewers, c.Refused = reviewersToRerun(views, said.reviewer)
	}
	return c, true
}

// whyNoSwitch says why a word about fixes changes nothing; "" if it does.
func (v *commandView) whyNoSwitch(c *quorum.Command) quorum.Reason {
	last := cmp.Or(fixSwitchOf(&v.head.snapshot.Record, v.all), &quorum.FixSwitch{})
	switch {
	case v.head.policy.Fix.Workflow == "":
		return quorum.ReasonNoFixes
	case last.Off == (c.Verb == quorum.CommandFixOff), c.At.Before(last.At):
		return quorum.ReasonNoChange
	}
	return ""
}

// whyNoVouch says why somebody may not vouch for the change; "" if they may. Who had no hand in it approves it.
func (v *commandView) whyNoVouch(said *saidCommand, may quorum.Permission) quorum.Reason {
	switch p := v.head.policy; {
	case !p.OwnChange, p.StandIn == 0, may < p.StandIn:
		return quorum.ReasonNoVouch
	case !strings.HasPrefix(v.head.snapshot.PR.Head, said.sha):
		return quorum.ReasonOtherHead
	case v.head.hadNoHand(said.author):
		return quorum.ReasonNotOwn
	case !change.HadHand(v.head.snapshot, said.author):
		return quorum.ReasonHandsUnknown
	case slices.ContainsFunc(v.vouchers(), func(s quorum.StandIn) bool { return strings.EqualFold(s.Login, said.By) }):
		return quorum.ReasonNoChange
	}
	return ""
}

// acceptedBy says whose objections an accept ends, of those that our check had named, and until when. One must stand still.
func (v *commandView) acceptedBy(said *saidCommand) (reviewers []string, until time.Time, refused quorum.Reason) {
	if !strings.HasPrefix(v.head.snapshot.PR.Head, said.sha) {
		return nil, until, quorum.ReasonOtherHead
	}
	refused = quorum.ReasonNoChange
	for i := range v.head.snapshot.Record.Objections {
		o := &v.head.snapshot.Record.Objections[i]
		shown := v.head.shownText(o.TextRef)
		isOver := o.Answered || shown != nil && v.head.isDismissed(shown)
		if isOver || !v.head.record.concerns(o) || !wasNamedBy(o, said.At) {
			continue
		}
		if _, isEnded := v.acceptOf(o.Reviewer, o.At, func(n *quorum.Objection) bool { return n == o }); !isEnded {
			refused = ""
		}
		until = latest(until, o.At)
		reviewers = withOnce(reviewers, o.Reviewer)
	}
	if len(reviewers) == 0 {
		refused = quorum.ReasonNothingNamed
	}
	if refused != "" {
		return nil, time.Time{}, refused
	}
	return reviewers, until.UTC(), ""
}

// reviewersToRerun says who is run again: of all those that do not approve, or who is named. Nothing that is under way is.
func reviewersToRerun(views []*reviewerView, named string) (chosen []string, refused quorum.Reason) {
	refused = quorum.ReasonNobodyToRerun
	if named != "" {
		refused = quorum.ReasonNoReviewer
	}
	for _, v := range views {
		if named != "" && !strings.EqualFold(v.Name, named) {
			continue
		}
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

// whyNoRerun says why a reviewer cannot be run or asked again; "" if it can. By its name that may be anyone, else only
// who votes and does not approve.
func (v *reviewerView) whyNoRerun(isNamed bool) quorum.Reason {
	attempt := v.newestAttempt()
	a := &attempt.attempt
	if a.isUnderWay() {
		return quorum.ReasonUnderWay
	}
	got, b := attempt.judgeAttempt(), v.makeBallot()
	_, _, isExcluded := v.whyExcluded()
	isInReserve := v.InsteadOf != "" && v.head.record.turnOf(v.Name).IsZero() && !v.past.isRequiredAgain()
	isPointless := isExcluded || !isNamed && (!b.Voter() || b.Vote == quorum.Approve || isInReserve)
	switch {
	case isPointless, a.run != nil && got.Outcome == quorum.AwaitingApproval:
		return quorum.ReasonNobodyToRerun
	case a.run != nil:
		return ""
	case v.Workflow != "" || !v.Request.Set():
		return quorum.ReasonNobodyToRerun
	}
	isAsked := a.request != nil || a.byPerson || newPlanner(attempt, got).asksFirst() // then it is asked just now
	if got.Outcome == quorum.Running || got.Outcome == quorum.Silent && isAsked {
		return quorum.ReasonUnderWay
	}
	return ""
}

// withCommanded puts the first rerun that a person has commanded in place of our own, until GitHub shows it.
func (v *reviewerView) withCommanded(b quorum.Ballot) quorum.Ballot {
	for _, c := range v.commands.all {
		isInForce := c.Refused == "" && c.Base == v.head.snapshot.PR.BaseRef
		if c.Verb != quorum.CommandRerun || !isInForce || !slices.Contains(c.Reviewers, v.Name) {
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
