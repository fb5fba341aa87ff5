package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// replyWindow is how long an answer may take to show after the attempt that posted it has ended.
const replyWindow = time.Minute

type workflowRuns struct {
	counted []quorum.Run // of this head and base, by one of the reviewer's events, the newest last
	others  []quorum.Run // of another head, base or event; a text that names no commit may come from one of these
	oldBase []quorum.Run // those of the others that are of this head and another base: they name this commit, too
	ofTwins []quorum.Run // for another pull request of this repository with this head: they object, and never approve
}

// runsOf sorts the runs of r's workflow. A rerun replays the base that its run was created for.
func (h *headView) runsOf(r *quorum.Reviewer) (runs workflowRuns) {
	pr := &h.snapshot.PR
	for _, run := range slices.Concat(h.snapshot.Runs, h.snapshot.Others) {
		isOfBaseBefore := h.cycle.isBeforeBase(run.Created)
		isOld := isOfBaseBefore || strings.HasPrefix(run.Event, "pull_request") && run.Created.Before(pr.Created)
		isOfHead := slices.Contains(r.Events, run.Event) && run.Head == pr.Head
		switch {
		case run.Path != r.Workflow:
		case h.isOtherBranchRun(&run):
			if isOfHead && strings.EqualFold(run.Repo, pr.Owner+"/"+pr.Repo) {
				runs.ofTwins = append(runs.ofTwins, run)
			}
		case !isOld && isOfHead:
			runs.counted = append(runs.counted, run)
		case !run.Completed() || run.Conclusion != "skipped" && run.Conclusion != "action_required":
			runs.others = append(runs.others, run)
			if run.Head == pr.Head && isOfBaseBefore {
				runs.oldBase = append(runs.oldBase, run)
			}
		}
	}
	slices.SortStableFunc(runs.counted, func(a, b quorum.Run) int { // by number, not by the digits of an id
		return cmp.Or(cmp.Compare(a.Number, b.Number), a.Created.Compare(b.Created))
	})
	return runs
}

// isAnyUnderWay reports whether a run may have been under way: one that waits for a runner is not; old attempts may have been.
func isAnyUnderWay(runs []quorum.Run, at time.Time) bool {
	return slices.ContainsFunc(runs, func(run quorum.Run) bool {
		from := run.Started
		if run.Attempt > 1 {
			from = run.Created
		}
		hasWaited := run.Attempt == 1 && run.Status == "queued" && len(run.Jobs) > 0 && firstJobStart(&run).IsZero()
		return !hasWaited && !at.Before(from) && (!run.Completed() || !at.After(run.Updated))
	})
}

// spentAttempts counts the attempts beyond the first of r's workflow on this head. Coming back to a base buys none.
func (h *headView) spentAttempts(r *quorum.Reviewer) (n int) {
	for _, run := range h.snapshot.Runs {
		if run.Path == r.Workflow && run.Head == h.snapshot.PR.Head && !h.isOtherBranchRun(&run) {
			n += run.Attempt - 1 + h.record.seenRun(run.ID).Again - h.record.leftReruns(&run)
		}
	}
	for _, seen := range h.record.record.Runs { // a run that was deleted refills nothing
		isShown := slices.ContainsFunc(h.snapshot.Runs, func(run quorum.Run) bool { return run.ID == seen.ID })
		if seen.Path == r.Workflow && !isShown {
			n += seen.Attempt - 1 + seen.Again
		}
	}
	return n
}

// firstJobStart is when a runner began the newest attempt; zero if none has. Jobs not run again keep their times.
func firstJobStart(run *quorum.Run) (at time.Time) {
	for _, job := range run.Jobs {
		if !job.Started.IsZero() && !job.Started.Before(run.Started) {
			at = earliest(job.Started, cmp.Or(at, job.Started))
		}
	}
	return at
}

// A reviewAttempt is one attempt of a reviewer: of its run, or, without a run, the time since it was last asked.
type reviewAttempt struct {
	run           *quorum.Run // nil without one
	number        int
	began         time.Time
	firstJobBegan time.Time // began, if no job has started
	ended         time.Time // zero while it is under way, and always without a run
	spentAttempts int       // attempts used up beyond the first
	request       *quorum.Intent
	byPerson      bool // a person caused it: deadlines begin anew
	isCommanded   bool // at the person's command it was we who asked
	isPast        bool // it was run again: it stands for that attempt, or for all up to it
	isOfTwin      bool // its run is another pull request's: it only objects
}

// isUnderWay reports whether its run has not ended. An attempt without a run is never under way: it has no end.
func (a reviewAttempt) isUnderWay() bool { return a.run != nil && a.ended.IsZero() }

// hasBegun reports whether it may have said something: a run that waits for an approval or a runner approves nothing.
func (a reviewAttempt) hasBegun() bool {
	return a.run == nil || !slices.Contains([]string{"queued", "requested", "waiting", "pending"}, a.run.Status)
}

// covers reports whether an answer may have shown during the attempt, soon after it, or during a job that was not run again.
func (a reviewAttempt) covers(at time.Time) bool {
	return !at.Before(a.began) && (a.ended.IsZero() || !at.After(a.ended.Add(replyWindow))) || a.keepsJobOf(at)
}

// keepsJobOf reports whether a job was under way then that the newest attempt, as it shows its jobs, did not run again.
func (a reviewAttempt) keepsJobOf(at time.Time) bool {
	return !a.isPast && !firstJobStart(a.run).IsZero() && slices.ContainsFunc(a.run.Jobs, func(job quorum.Job) bool {
		return job.Completed.Before(a.began) && !at.Before(job.Started) && !at.After(job.Completed) && !job.Started.IsZero()
	})
}

// attemptsOfRuns lists the attempts of r's runs, of each the newest last. Of earlier ones GitHub does not show where one
// ended and the next began: one entry stands for all of them, but for those whose conclusions were asked for.
func attemptsOfRuns(h *headView, r *quorum.Reviewer, runs []quorum.Run) (all []reviewAttempt) {
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

// unseenAttempts are the attempts of a run, the newest first, of whose end no look has seen, if a job has failed
// before: running it again at once would make its conclusion unsaid. GitHub lets a run have fifty.
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
func (v *reviewerView) mayHaveLeft(a *reviewAttempt, at time.Time) bool {
	switch {
	case !a.covers(at) || a.isPast && !at.Before(a.ended):
		return false
	case a.ended.IsZero() || !at.After(a.ended):
		return true
	}
	return !slices.ContainsFunc(v.attempts, func(o reviewAttempt) bool {
		return o.run.ID != a.run.ID && o.hasBegun() && !at.Before(o.began) && (o.ended.IsZero() || !at.After(o.ended))
	})
}
