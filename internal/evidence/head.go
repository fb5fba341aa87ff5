package evidence

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// headView is a head as GitHub shows it, under its policy, with the moments of its cycle.
type headView struct {
	policy   *quorum.Policy
	snapshot *quorum.Snapshot
	cycle    cycle
	record   recordView
	texts    []quorum.Text  // comments, then reviews
	stays    []stay         // the times that the pull request had this head before
	isLeft   bool           // the pull request has another head now
	timeline []quorum.Event // with the changes of the base, of which a view of then shows none

	objectedElsewhere map[string]bool // reviewers that objected last against another base
}

func newHeadView(p *quorum.Policy, s *quorum.Snapshot) *headView {
	s = withoutMoves(withoutImpostors(p, withoutAccepts(p, s)))
	texts := slices.Concat(s.Comments, s.Reviews)
	return &headView{
		policy: p, snapshot: s, cycle: cycleOf(s), texts: texts, stays: earlierHeadStays(s), timeline: s.Timeline,
		record: recordView{record: &s.Record, base: s.PR.BaseRef, diff: s.PR.Diff.Lines},
	}
}

// mayHaveHadOtherHead reports whether the pull request had another head before, or may have had one of which no run,
// check or force-push tells: then the branch's activity list does.
func (h *headView) mayHaveHadOtherHead() bool {
	return h.cycle.hadOtherHead || h.snapshot.PR.Commits > 1 && len(h.snapshot.Pushes) == 0
}

// isMovedReview reports whether a review of the head is older than the head is on this branch: GitHub moves a review's
// commit_id at some force-pushes and merges of the base. One that the record saw on this head was here before. What
// tells the push itself is exact; a commit's first check suite may come later, and before it somebody may have spoken.
// Where nothing shows when the head was pushed, one from before its arrival may be of any age.
func (h *headView) isMovedReview(t *quorum.Text) bool {
	if !h.mayHaveHadOtherHead() || h.record.knowsText(t.TextRef) {
		return false
	}
	switch {
	case !h.cycle.pushed.IsZero() && t.State == "CHANGES_REQUESTED": // in the same second it is in doubt, and a no counts
		return t.At.Before(h.cycle.pushed)
	case !h.cycle.pushed.IsZero():
		return !t.At.After(h.cycle.pushed)
	case !h.snapshot.Pushed.IsZero():
		return t.At.Before(h.snapshot.Pushed)
	}
	return t.At.Before(h.cycle.arrival)
}

// shownText is a text as GitHub shows it, void or not; nil if it shows it no more.
func (h *headView) shownText(ref quorum.TextRef) *quorum.Text {
	return firstOf(h.texts, func(t *quorum.Text) bool { return t.TextRef == ref })
}

// earlierAttempt is an attempt of a run that was asked for; nil if it was not read.
func (h *headView) earlierAttempt(n quorum.AttemptName) *quorum.Run {
	return firstOf(h.snapshot.Attempts, func(run *quorum.Run) bool { return run.ID == n.Run && run.Attempt == n.Number })
}

// isJudgedInPart reports whether the ballots decide nothing now, so that nothing is asked for that only they need.
func isJudgedInPart(p *quorum.Policy, s *quorum.Snapshot) bool {
	return s.PR.Closed || s.File.State != quorum.FileValid || p.Mode == quorum.Off || isJudgedLater(p, s)
}

// isJudgedLater reports whether the pull request is a draft that waits: the ballots decide once it is ready.
func isJudgedLater(p *quorum.Policy, s *quorum.Snapshot) bool {
	return !s.PR.Closed && s.File.State == quorum.FileValid && p.Mode != quorum.Off && s.PR.Draft && p.DraftsWait
}
