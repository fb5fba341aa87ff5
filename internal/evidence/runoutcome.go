package evidence

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// outcomeOfRun derives the result from the run alone: the reviewer left no text.
func (v *attemptView) outcomeOfRun() attemptResult {
	a, run := &v.attempt, v.attempt.run
	if run == nil {
		return attemptResult{outcome: quorum.Silent, reason: quorum.ReasonSilent, at: a.began}
	}
	result := func(o quorum.Outcome, why quorum.Reason, at time.Time) attemptResult {
		return attemptResult{outcome: o, reason: why, at: at, url: run.URL}
	}
	switch {
	case run.Status == "waiting", run.Completed() && run.Conclusion == "action_required":
		return result(quorum.AwaitingApproval, quorum.ReasonApproval, a.began)
	case !run.Completed():
		return result(quorum.Running, quorum.ReasonRunning, a.firstJobBegan)
	case run.Conclusion == "skipped":
		return result(quorum.Declined, quorum.ReasonSkipped, a.ended)
	case run.Conclusion == "timed_out":
		return result(quorum.Hung, quorum.ReasonHung, a.ended)
	case v.isForbidden(run):
		got := result(quorum.Declined, quorum.ReasonForbidden, a.ended)
		got.detail = run.Event
		return got
	}
	log, isExplained := readLogs(run)
	switch isCancelled := run.Conclusion == "cancelled"; {
	case isExplained && (!isCancelled || log.Outcome == quorum.Hung): // a job's own timeout-minutes cancel it, too
		got := result(log.Outcome, log.Reason, a.ended)
		got.detail, got.limitReset = log.Detail, resetOf(&log, a.ended)
		return got
	case isCancelled:
		return result(quorum.Cancelled, quorum.ReasonCancelled, a.ended)
	case run.Conclusion == "success", run.Conclusion == "neutral":
		return result(quorum.Empty, quorum.ReasonEmpty, a.ended)
	}
	return result(quorum.Unknown, quorum.ReasonUnknown, a.ended)
}

// isForbidden reports whether GitHub refused to run what a policy of the repository forbids: such a run fails without a
// job, while one of a broken file ends as startup_failure. A job may show a little late. Source: "About Actions
// policies", GitHub's changelog of 2026-09-17.
func (v *attemptView) isForbidden(run *quorum.Run) bool {
	began := v.head.snapshot.Began
	mayBeLate := !began.IsZero() && began.Before(v.attempt.ended.Add(quorum.ReplicaLag))
	return run.Conclusion == "failure" && len(run.Jobs) == 0 && !mayBeLate
}

// causeRank orders the causes that a log may show: a final one beats a transient one.
var causeRank = map[quorum.Outcome]int{
	quorum.Failed: 4, quorum.Declined: 3, quorum.Limited: 2, quorum.Overloaded: 1, quorum.Hung: 1,
}

// readLogs reads the logs and annotations of a run. A cause that will not go away beats one that may.
func readLogs(run *quorum.Run) (best review.Reading, explained bool) {
	anyone := quorum.Reviewer{Verdict: quorum.Format{Kind: quorum.Auto}}
	for i := range run.Jobs {
		job := &run.Jobs[i]
		for _, text := range append(slices.Clip(job.Annotations), job.Log) {
			got := review.Read(anyone, review.Material{Kind: review.Log, Body: text, Conclusion: run.Conclusion})
			isEmpty := got.Outcome == quorum.Empty && run.Conclusion != "success"
			isCause := text != "" && !isEmpty && got.Outcome != quorum.Unknown && got.Outcome != quorum.Unrelated
			if isCause && (!explained || causeRank[got.Outcome] > causeRank[best.Outcome]) {
				best, explained = got, true
			}
		}
	}
	return best, explained
}
