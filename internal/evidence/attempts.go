package evidence

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// newestAttempt is the reviewer's newest attempt on this head.
func (v *reviewerView) newestAttempt() attempt {
	if v.Workflow == "" {
		return v.requestedAttempt()
	}
	start := v.head.cycle.start
	a := attempt{number: 1, from: start, working: start, spent: v.head.spentAttempts(v.Reviewer)}
	run := v.speakingRun()
	if run == nil {
		return a
	}
	a.run, a.number, a.from = run, run.Attempt, run.Started
	a.working = a.from
	if at := firstJobStart(run); !at.IsZero() {
		a.working = latest(a.from, at)
	}
	if run.Completed() {
		a.ended = v.head.memory.endOf(run)
	}
	a.byPerson = run.Attempt > 1 && !v.head.memory.hasIntent(quorum.Rerun, v.Name, run.ID, run.Attempt-1)
	return a
}

// requestedAttempt is the newest attempt of a reviewer without a run: the first begins at the start, the next when it was
// asked again. A request of a person's begins the clock anew and costs nothing of ours.
func (v *reviewerView) requestedAttempt() attempt {
	a := attempt{number: 1, from: v.head.cycle.start}
	for _, in := range v.head.memory.requests(v.Name) {
		a.number = max(a.number, in.Attempt) // a request for the first attempt bought that one
		a.request, a.from = in, latest(a.from, in.At)
	}
	if at := v.personRequest(); at.After(a.from) {
		a.from, a.byPerson = at, true
	}
	a.spent, a.working = a.number-1, a.from
	return a
}

// speakingRun is the newest run that really ran; if none did, the newest. One that would approve by itself, but may be
// another pull request's, leaves the word to those before it.
func (v *reviewerView) speakingRun() *quorum.Run {
	runs := v.runs.counted
	var doubtful *quorum.Run
	for i := range slices.Backward(runs) {
		run := &runs[i]
		if !v.reallyRan(run) {
			continue
		}
		if _, isDoubtful := v.head.otherPullOfRun(run); !isDoubtful || !v.isByConclusion() || run.Conclusion != "success" {
			return run
		}
		if doubtful == nil {
			doubtful = run
		}
	}
	if doubtful != nil || len(runs) == 0 {
		return doubtful
	}
	return &runs[len(runs)-1]
}

// reallyRan reports whether a run ran a job. One that was cancelled did if we cancelled it, or if it left a verdict.
func (v *reviewerView) reallyRan(run *quorum.Run) bool {
	switch {
	case !run.Completed():
		return true
	case run.Conclusion == "skipped" || len(run.Jobs) == 0:
		return false
	case run.Conclusion == "cancelled":
		if v.head.memory.hasIntent(quorum.Cancel, v.Name, run.ID, run.Attempt) {
			return true
		}
		a := attempt{run: run, number: run.Attempt, from: run.Started, ended: run.Updated}
		return slices.ContainsFunc(v.textStatements(&a), func(s statement) bool { return s.isVerdict() })
	}
	return true
}
