package evidence

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// attemptList has the attempts of runs on this head, the newest run last: its newest attempt, and before it the earlier ones.
type attemptList []reviewAttempt

// attemptsOfRuns lists the attempts of r's runs. Of earlier attempts GitHub does not show where one ended and the next
// began: one entry stands for all of them, but for those whose conclusions were asked for.
func attemptsOfRuns(h *headView, r *quorum.Reviewer, runs []quorum.Run) (all attemptList) {
	for i := range runs {
		run := &runs[i]
		for _, n := range slices.Backward(unseenAttempts(h, r, run)) {
			if read := h.earlierAttempt(n); read != nil && read.Conclusion != "" {
				earlier := *read
				earlier.Jobs = without(run.FailedJobs, func(job quorum.Job) bool {
					return job.Completed.Before(earlier.Started) || job.Completed.After(earlier.Updated)
				})
				all = append(all, pastAttempt(&earlier, earlier.Attempt, earlier.Started, earlier.Updated))
			}
		}
		if run.Attempt > 1 && r.Verdict.Kind != quorum.Conclusion {
			all = append(all, pastAttempt(run, run.Attempt-1, run.Created, run.Started))
		}
		a := reviewAttempt{run: run, number: run.Attempt, began: run.Started, firstJobBegan: latest(run.Started, firstJobStart(run))}
		if run.Completed() {
			a.ended = h.record.endOf(run)
		}
		all = append(all, a)
	}
	return all
}

func pastAttempt(run *quorum.Run, number int, began, ended time.Time) reviewAttempt {
	return reviewAttempt{run: run, number: number, isPast: true, began: began, firstJobBegan: began, ended: ended}
}

// unseenAttempts are the attempts of a run, the newest first, of whose end no look has seen, if one of its jobs has failed
// before: somebody who has it run again at once would make its conclusion unsaid. What a look saw stands in the record.
// There are no more than the fifty that GitHub lets a run have.
func unseenAttempts(h *headView, r *quorum.Reviewer, run *quorum.Run) (all []quorum.AttemptName) {
	if r.Retired || !isByConclusion(r) || r.FailureMeans != quorum.MeansFindings || len(run.FailedJobs) == 0 {
		return nil
	}
	for n := run.Attempt - 1; n > h.record.seenAttempts(run.ID); n-- {
		all = append(all, quorum.AttemptName{Run: run.ID, Number: n})
	}
	return all
}

// mayHaveLeft reports whether a text may be an attempt's: it was under way, or had just ended and no other run was.
func (l attemptList) mayHaveLeft(a *reviewAttempt, at time.Time) bool {
	switch {
	case !a.covers(at) || a.isPast && !at.Before(a.ended):
		return false
	case a.ended.IsZero() || !at.After(a.ended):
		return true
	}
	return !slices.ContainsFunc(l, func(o reviewAttempt) bool {
		return o.run.ID != a.run.ID && o.hasBegun() && !at.Before(o.began) && (o.ended.IsZero() || !at.After(o.ended))
	})
}

// firstBegun is when the first of the attempts began that may have left a text at that time.
func (l attemptList) firstBegun(at time.Time) (began time.Time) {
	for i := range l {
		if a := &l[i]; l.mayHaveLeft(a, at) && (began.IsZero() || a.began.Before(began)) {
			began = a.began
		}
	}
	return began
}
