package evidence

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// isBound reports whether a text is about this head and of attempt a: it names the head, or was written during a's
// time.
func (v *reviewerView) isBound(a *reviewAttempt, t *quorum.Text, at time.Time) bool {
	return v.whyUnbound(a, t, at) == ""
}

// whyUnbound says why a text is not about this head or not from attempt a; "" if it is.
func (v *reviewerView) whyUnbound(a *reviewAttempt, t *quorum.Text, at time.Time) string {
	if v.head.cycle.isBeforeBase(at) {
		return "it is from before the base changed"
	}
	named := v.namedCommit(t)
	about := v.head.isHead(named)
	if named != "" && !about && !v.head.isVague(named) && !v.head.isMergeOfHead(named) {
		return "it names the commit " + named + ", which is not this head"
	}
	if t.Kind == quorum.TextReview {
		about = true // by its commit_id
	}
	if v.Workflow == "" {
		return v.whyUnboundWithoutRun(about, at)
	}
	return v.whyOutsideRun(a, t, about, at)
}

// whyUnboundWithoutRun is [reviewerView.whyUnbound] for a reviewer without a workflow.
func (v *reviewerView) whyUnboundWithoutRun(about bool, at time.Time) string {
	switch {
	case about:
		return ""
	case v.Author == Actions:
		return "any workflow could have written it, and it does not name this commit"
	case at.Before(v.head.cycle.arrival):
		return "it is from before this head arrived and names no commit"
	}
	return ""
}

// whyOutsideRun is [reviewerView.whyUnbound] for a workflow's reviewer.
func (v *reviewerView) whyOutsideRun(a *reviewAttempt, t *quorum.Text, about bool, at time.Time) string {
	ownAccount := v.Author != Actions
	switch {
	case a.run == nil && about && ownAccount:
		return ""
	case a.run == nil:
		return "no run of " + v.Workflow + " is known on this head"
	case about && ownAccount && !at.Before(a.began):
		return ""
	case !a.covers(at):
		return "it was not written during the newest attempt of this head's run"
	case !about && !v.isRemembered(t) && v.runs.otherUnderWay(a.run, at):
		return "it names no commit, and another run of this workflow for this pull request was under way"
	}
	return ""
}

// isRemembered reports whether the record holds that t approved, and t was not edited since: a run of another head that
// is run again later would seem to have been under way all the time.
func (v *reviewerView) isRemembered(t *quorum.Text) bool {
	stood, found := v.head.record.firstApproval(v.Name, t.TextRef)
	return found && !latest(t.At, t.Edited).After(stood)
}
