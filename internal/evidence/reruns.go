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
		switch v.rerunState(named != "") {
		case rerunPossible:
			chosen = append(chosen, v.Name)
		case rerunUnderWay:
			refused = quorum.ReasonUnderWay
		case rerunPointless:
			if refused != quorum.ReasonUnderWay {
				refused = quorum.ReasonNobodyToRerun
			}
		}
	}
	if len(chosen) > 0 {
		return chosen, ""
	}
	return nil, refused
}

type rerunState uint8

const (
	rerunPossible  rerunState = 1 + iota
	rerunUnderWay             // it is at work, or is about to be
	rerunPointless            // it approves, or there is nothing that could be run again
)

// rerunState says whether a reviewer can be run or asked again. By its name that may be anyone, else only who votes and
// does not approve.
func (v *reviewerView) rerunState(isNamed bool) rerunState {
	a := v.newestAttempt()
	attempt := attemptView{reviewerView: v, attempt: a}
	if a.isUnderWay() {
		return rerunUnderWay
	}
	got, b := attempt.judgeAttempt(), v.makeBallot()
	if _, _, excluded := v.whyExcluded(); excluded || !isNamed && (!b.Voter() || b.Vote == quorum.Approve) {
		return rerunPointless
	}
	switch {
	case a.run != nil && got.outcome == quorum.AwaitingApproval:
		return rerunPointless
	case a.run != nil:
		return rerunPossible
	case v.Workflow != "" || !v.Request.Set():
		return rerunPointless
	case got.outcome == quorum.Running, got.outcome == quorum.Silent && (a.request != nil || a.byPerson):
		return rerunUnderWay
	case got.outcome == quorum.Silent && newPlanner(attempt, got).asksFirst():
		return rerunUnderWay // it is asked just now
	}
	return rerunPossible
}

// withCommanded adds to a ballot the first rerun that a person has commanded, in place of our own: each once, and again only
// while GitHub shows no trace of it.
func (v *reviewerView) withCommanded(b quorum.Ballot) quorum.Ballot {
	for _, c := range v.commands.all {
		isInForce := c.Refused == "" && c.Base == v.head.snapshot.PR.BaseRef
		if c.Verb != quorum.CommandRerun || !isInForce || !slices.Contains(c.Reviewers, v.Name) {
			continue
		}
		a := v.newestAttempt()
		p := newPlanner(attemptView{reviewerView: v, attempt: a}, attemptResult{})
		isNew := !v.head.record.hasCommandedIntent(c.ID, v.Name, v.runs.counted)
		var commanded quorum.Action
		switch {
		case a.isUnderWay():
			return b
		case a.run == nil && isNew && v.Request.Set():
			commanded = p.askAction(a.number+1, c.At)
		case a.run == nil:
			continue
		default:
			commanded = p.rerunAction(c.At)
			if !isNew {
				in, found := v.head.record.newestIntent(quorum.Rerun, a.run.ID, a.number)
				due, again := p.triesAgain(in)
				if !found || in.Command != c.ID || !again {
					continue
				}
				commanded.Due = due
			}
		}
		commanded.Command = c.ID
		b.Next = without(b.Next, func(a quorum.Action) bool { return a.Kind == quorum.Rerun || a.Kind == quorum.Ask })
		b.Next = append(b.Next, commanded)
		b.Circuit = quorum.Hold{} // a person's word goes before an open circuit
		return b
	}
	return b
}
