package evidence

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// whyUnbound says why a text neither names the head nor was written during the attempt; "" if it is bound to both.
func (v textView) whyUnbound(t *quorum.Text, at time.Time) rejection {
	if v.head.cycle.isBeforeBase(at) {
		return beforeBase
	}
	named := v.namedCommit(t)
	about := v.head.isHead(named)
	if v.head.isOtherCommit(named) && !v.isNoticeOfHead(t, at) {
		return namesOtherCommit.with(named)
	}
	if t.Kind == quorum.TextReview {
		about = true // by its commit_id
	}
	switch {
	case v.Workflow != "":
		return v.whyOutsideRun(t, about, at)
	case about:
		return ""
	case v.isShared():
		return anyWorkflows
	case at.Before(v.head.cycle.arrival):
		return beforeHead
	}
	return ""
}

// isNoticeOfHead reports whether a text says since the start that its reviewer works, or why there is no review, and
// names no other commit where it says so: what it names elsewhere is of an older review that stands there still.
func (v textView) isNoticeOfHead(t *quorum.Text, at time.Time) bool {
	if at.Before(v.head.cycle.start) {
		return false
	}
	got := v.texts.readText(v.Reviewer, t, t.State, 0, 0)
	isNotice := got.Outcome == quorum.Running || saysWhy(got.Outcome)
	return isNotice && !v.head.isOtherCommit(v.texts.pageOf(t).CommitNamedAt(*v.Reviewer, got.Line))
}

// whyOutsideRun is [textView.whyUnbound] for a workflow's reviewer.
func (v textView) whyOutsideRun(t *quorum.Text, about bool, at time.Time) rejection {
	isNamedByOther := about && isAnyUnderWay(v.runs.oldBase, at) // a run for the base of before names this head, too
	isOwn := func(a reviewAttempt) bool { return v.attempts.mayHaveLeft(&a, at) }
	switch {
	case v.attempt.isOfTwin && slices.ContainsFunc(v.attempts, isOwn):
		return outsideAttempt
	case v.attempt.run == nil && about && !v.isShared() && !isNamedByOther:
		return ""
	case v.attempt.run == nil:
		return noRunKnown.with(v.Workflow)
	case about && !v.isShared() && !at.Before(v.attempt.began) && !isNamedByOther:
		return ""
	case !v.attempts.mayHaveLeft(v.attempt, at):
		return outsideAttempt
	case (isNamedByOther || !about && isAnyUnderWay(v.runs.others, at)) && !v.isRemembered(t):
		if s := v.readAgain(t); v.head.isLeft && s.Outcome == quorum.Findings {
			return ""
		}
		return duringOtherRun
	}
	return ""
}

// isRemembered reports whether the record holds that t approved, and t was not edited since: a run of another head that
// is run again later would seem to have been under way all the time.
func (v textView) isRemembered(t *quorum.Text) bool {
	return !latest(t.At, t.Edited).After(v.head.record.firstApproval(v.Name, t.TextRef))
}
