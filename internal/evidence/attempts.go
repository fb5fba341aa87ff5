package evidence

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// newestAttempt is the reviewer's newest attempt on this head.
func (v *reviewerView) newestAttempt() reviewAttempt {
	if v.Workflow == "" {
		return v.requestedAttempt()
	}
	start := v.head.cycle.start
	a := reviewAttempt{number: 1, began: start, firstJobBegan: start, spentAttempts: v.head.spentAttempts(v.Reviewer)}
	run := v.speakingRun()
	if run == nil {
		return a
	}
	a.run, a.number, a.began = run, run.Attempt, run.Started
	a.firstJobBegan = a.began
	if at := firstJobStart(run); !at.IsZero() {
		a.firstJobBegan = latest(a.began, at)
	}
	if run.Completed() {
		a.ended = v.head.record.endOf(run)
	}
	a.byPerson = run.Attempt > 1 && !v.head.record.hasOwnIntent(quorum.Rerun, v.Name, run.ID, run.Attempt-1)
	return a
}

// requestedAttempt is the newest attempt of a reviewer without a run: the first begins at the start, the next when it
// was asked again. A person's request restarts the clock and spends no attempt.
func (v *reviewerView) requestedAttempt() reviewAttempt {
	a, commanded := reviewAttempt{number: 1, began: v.head.cycle.start}, 0
	for _, in := range v.head.record.requestsTo(v.Name) {
		a.number = max(a.number, in.Attempt) // a request at the start is for attempt 1
		a.request, a.began = in, latest(a.began, in.At)
		if a.isCommanded = in.Command != 0; a.isCommanded {
			commanded++
		}
	}
	a.byPerson = a.isCommanded
	if at := v.personRequest(); at.After(a.began) {
		a.began, a.byPerson, a.isCommanded = at, true, false
	}
	a.spentAttempts, a.firstJobBegan = max(a.number-1-commanded, 0), a.began
	return a
}

// speakingRun is the run that counts: the newest that really ran, else the newest. One whose success would approve, but
// that may be another pull request's, counts only if none before it does.
func (v *reviewerView) speakingRun() *quorum.Run {
	runs := v.runs.counted
	var doubtful *quorum.Run
	for i := range slices.Backward(runs) {
		run := &runs[i]
		if !v.reallyRan(run) {
			continue
		}
		_, isDoubtful := v.head.otherPullOfRun(run)
		if !isDoubtful || !v.isByConclusion() || run.Conclusion != "success" {
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

// reallyRan reports whether a run ran a job. A cancelled one did if we cancelled it, or if it left a verdict.
func (v *reviewerView) reallyRan(run *quorum.Run) bool {
	switch {
	case !run.Completed():
		return true
	case run.Conclusion == "skipped" || len(run.Jobs) == 0:
		return false
	case run.Conclusion == "cancelled":
		if v.head.record.hasIntent(quorum.Cancel, v.Name, run.ID, run.Attempt) {
			return true
		}
		a := reviewAttempt{run: run, number: run.Attempt, began: run.Started, ended: run.Updated}
		return slices.ContainsFunc(v.textStatements(&a), func(s statement) bool { return s.isVerdict() })
	}
	return true
}
