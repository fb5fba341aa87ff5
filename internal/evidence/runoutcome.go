package evidence

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// outcomeOfRun derives the result from the run alone: the reviewer left no text.
func (v *attemptView) outcomeOfRun() attemptResult {
	a := &v.attempt
	got := attemptResult{at: a.began}
	if a.run == nil {
		got.outcome, got.reason = quorum.Silent, quorum.ReasonSilent
		return got
	}
	run := a.run
	got.url = run.URL
	switch {
	case run.Status == "waiting", run.Completed() && run.Conclusion == "action_required":
		got.outcome, got.reason = quorum.AwaitingApproval, quorum.ReasonApproval
		return got
	case !run.Completed():
		got.outcome, got.reason, got.at = quorum.Running, quorum.ReasonRunning, a.firstJobBegan
		return got
	}
	got.at = a.ended
	switch run.Conclusion {
	case "skipped":
		got.outcome, got.reason = quorum.Declined, quorum.ReasonSkipped
		return got
	case "timed_out":
		got.outcome, got.reason = quorum.Hung, quorum.ReasonHung
		return got
	}
	if v.isForbidden(run) {
		got.outcome, got.reason, got.detail = quorum.Declined, quorum.ReasonForbidden, run.Event
		return got
	}
	log, explained := readLogs(run)
	switch cancelled := run.Conclusion == "cancelled"; {
	case cancelled && explained && log.Outcome == quorum.Hung: // by the job's own timeout-minutes
		got.outcome, got.reason, got.detail = log.Outcome, log.Reason, log.Detail
	case cancelled:
		got.outcome, got.reason, got.supersedeFor = quorum.Cancelled, quorum.ReasonCancelled, v.head.policy.Retry.FastFail
	case explained:
		got.outcome, got.reason, got.detail = log.Outcome, log.Reason, log.Detail
		got.limitReset = resetOf(&log, a.ended)
	case run.Conclusion == "success", run.Conclusion == "neutral":
		got.outcome, got.reason = quorum.Empty, quorum.ReasonEmpty
	default:
		got.outcome, got.reason = quorum.Unknown, quorum.ReasonUnknown
	}
	return got
}

// isForbidden reports whether GitHub refused to run what a policy of the repository forbids: such a run fails without a
// job, while one of a broken file ends as startup_failure. A job may show a little late. Source: "About Actions
// policies", GitHub's changelog of 2026-09-17.
func (v *attemptView) isForbidden(run *quorum.Run) bool {
	began := v.head.snapshot.Began
	mayBeLate := !began.IsZero() && began.Before(v.attempt.ended.Add(quorum.ReplicaLag))
	return run.Conclusion == "failure" && len(run.Jobs) == 0 && !mayBeLate
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
			if isCause && (!explained || causeRank(got.Outcome) > causeRank(best.Outcome)) {
				best, explained = got, true
			}
		}
	}
	return best, explained
}

// causeRank orders the causes that a log may show: a final one beats a transient one.
func causeRank(o quorum.Outcome) int {
	switch o {
	case quorum.Failed:
		return 4
	case quorum.Declined:
		return 3
	case quorum.Limited:
		return 2
	case quorum.Overloaded, quorum.Hung:
		return 1
	}
	return 0
}
