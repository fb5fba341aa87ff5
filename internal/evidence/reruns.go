package evidence

// People's reruns: who is run again, and until GitHub shows it. No limit of ours holds for them, but each is done once.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

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

// whyNoRerun says why a reviewer cannot be run or asked again; "" if it can. By its name that may be anyone, else only who votes
// and does not approve.
func (v *reviewerView) whyNoRerun(isNamed bool) quorum.Reason {
	a := v.newestAttempt()
	attempt := attemptView{reviewerView: v, attempt: a}
	if a.isUnderWay() {
		return quorum.ReasonUnderWay
	}
	got, b := attempt.judgeAttempt(), v.makeBallot()
	_, _, isExcluded := v.whyExcluded()
	isInReserve := v.InsteadOf != "" && v.head.record.turnOf(v.Name).IsZero()
	isPointless := isExcluded || !isNamed && (!b.Voter() || b.Vote == quorum.Approve || isInReserve)
	switch {
	case isPointless, a.run != nil && got.outcome == quorum.AwaitingApproval:
		return quorum.ReasonNobodyToRerun
	case a.run != nil:
		return ""
	case v.Workflow != "" || !v.Request.Set():
		return quorum.ReasonNobodyToRerun
	}
	isAsked := a.request != nil || a.byPerson || newPlanner(attempt, got).asksFirst() // then it is asked just now
	if got.outcome == quorum.Running || got.outcome == quorum.Silent && isAsked {
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
		a := v.newestAttempt()
		p := newPlanner(attemptView{reviewerView: v, attempt: a}, attemptResult{})
		commanded, isNew := p.againAction(c.At), !v.head.record.hasCommandedIntent(c.ID, v.Name, v.runs.counted)
		in, isAnnounced := p.announcedRerun()
		due, again := p.triesAgain(in)
		switch {
		case a.isUnderWay():
			return b
		case a.run == nil && !v.Request.Set(), !isNew && !(isAnnounced && in.Command == c.ID && again):
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
