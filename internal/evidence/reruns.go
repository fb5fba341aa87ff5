package evidence

// People's reruns: who is run again, and until GitHub shows it. No limit of ours holds for them, but each is done once.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// chooseReruns says of the reruns that are heard now who is run again: of all those that do not approve, or who is named.
// Nothing that is under way is.
func (v *commandView) chooseReruns(views []*reviewerView) {
	for i := range v.all {
		c := &v.all[i]
		if c.Verb != quorum.CommandRerun || c.Refused != "" || i < len(v.head.snapshot.Record.Commands) {
			continue
		}
		c.Reviewers, c.Refused = reviewersToRerun(views, slices.Clone(c.Reviewers))
		if c.Refused != "" && !hasRoomFor(v.all[:i], *c) {
			c.ID = 0 // it is forgotten below
		}
	}
	v.all = slices.DeleteFunc(v.all, func(c quorum.Command) bool { return c.ID == 0 })
}

func reviewersToRerun(views []*reviewerView, named []string) (chosen []string, refused quorum.Reason) {
	refused = quorum.ReasonNobodyToRerun
	if len(named) > 0 {
		refused = quorum.ReasonNoReviewer
	}
	for _, v := range views {
		if len(named) > 0 && !strings.EqualFold(v.Name, named[0]) {
			continue
		}
		switch v.rerunState(len(named) > 0) {
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

// commandedActions are what people's reruns ask of a reviewer now: each once, and again only while GitHub shows no trace
// of it.
func (v *reviewerView) commandedActions() (actions []quorum.Action) {
	for _, c := range v.commands.all {
		isInForce := c.Refused == "" && c.Base == v.head.snapshot.PR.BaseRef
		if c.Verb != quorum.CommandRerun || !isInForce || !slices.Contains(c.Reviewers, v.Name) {
			continue
		}
		a := v.newestAttempt()
		p := newPlanner(attemptView{reviewerView: v, attempt: a}, attemptResult{})
		isNew := !v.head.record.hasCommandedIntent(c.ID, v.Name, v.runs.counted)
		switch {
		case a.isUnderWay():
		case a.run == nil && isNew && v.Request.Set():
			ask := p.askAction(a.number+1, c.At)
			ask.Command = c.ID
			actions = append(actions, ask)
		case a.run != nil:
			rerun := p.rerunAction(c.At)
			rerun.Command = c.ID
			if !isNew {
				in, found := v.head.record.newestIntent(quorum.Rerun, v.Name, a.run.ID, a.number)
				_, refused := v.head.record.refusedRerun(a.run.ID, a.number)
				if !found || in.Command != c.ID || in.Tries >= maxTries || refused {
					continue
				}
				rerun.Due = in.At.Add(quorum.ReplicaLag)
			}
			actions = append(actions, rerun)
		}
	}
	return actions
}

// withCommanded adds to a ballot what people have asked for, in place of what we would do for the reviewer ourselves.
func (v *reviewerView) withCommanded(b quorum.Ballot) quorum.Ballot {
	commanded := v.commandedActions()
	if len(commanded) == 0 {
		return b
	}
	b.Next = without(b.Next, func(a quorum.Action) bool { return a.Kind == quorum.Rerun || a.Kind == quorum.Ask })
	b.Next = append(b.Next, commanded[0])
	b.Circuit = quorum.Hold{} // a person's word goes before an open circuit
	return b
}
