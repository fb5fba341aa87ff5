package evidence

// What answers an objection: an approval of its reviewer, or a person who ended it.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// isAnswer reports whether a result answers what its reviewer objected before: an approval that no run under way may have
// left. Threads that were resolved end the objection that they are, and no other.
func (v *attemptView) isAnswer(got *attemptResult) bool {
	mayBeIts := func(a reviewAttempt) bool { return a.ended.IsZero() && v.attempts.mayHaveLeft(&a, got.at) }
	isYes := got.outcome == quorum.Approved && got.reason != quorum.ReasonResolved
	return isYes && !v.attempt.isUnderWay() && !slices.ContainsFunc(v.attempts, mayBeIts)
}

// hasAnswer reports whether an attempt that began after what was objected in an attempt of a run approves.
func (s *objectionSearch) hasAnswer(at time.Time, run int64, attempt int) bool {
	isLater := func(a *reviewAttempt, got *attemptResult) bool {
		isOfRun := run == a.run.ID && attempt < a.number && !a.isPast && got.begun.Equal(a.began)
		return isOfRun || at.Before(got.begun)
	}
	return s.isAnswer && s.attempt.run != nil && isLater(&s.attempt, &s.got) ||
		slices.ContainsFunc(s.others, func(o judgedAttempt) bool {
			return o.isApproval() && o.isAnswer(&o.got) && isLater(&o.attempt, &o.got)
		})
}

// isAnswered reports whether a recorded objection stands no more.
func (s *objectionSearch) isAnswered(o *quorum.Objection) bool {
	if s.head.record.hasAnswered(s.Name, o.At, o.Run, o.Attempt) {
		return true
	}
	if o.Carried != "" {
		return s.isCarriedAnswered(o)
	}
	isAnswered := s.hasAnswer(o.At, o.Run, o.Attempt)
	if s.attempt.run == nil {
		isAnswered = s.isAnswer && o.Attempt < s.attempt.number
	}
	switch {
	case o.Kind == quorum.TextThread:
		return s.isThreadAnswered(o.ID, s.isAnswer)
	case o.Kind == quorum.TextRun:
		return s.isReadAnew(o) || isAnswered
	case o.Kind == quorum.TextCheck || o.Kind == quorum.TextStatus: // others can only delete its threads
		return s.isAnswer && s.isAnsweredByCheck(o) && !hasLostThread(o, s.shown)
	}
	for i := range s.shown {
		if shown := &s.shown[i]; shown.ref == o.TextRef && shown.rejected != reviewMoved {
			return s.isAnsweredAsShown(o, shown, isAnswered)
		}
	}
	switch {
	case s.hasEndedSince(o):
		return true
	case s.attempt.run != nil:
		return isAnswered
	case o.Kind != s.got.ref.Kind && s.head.shownText(o.TextRef) != nil: // one in a comment stands whatever its reviews say
		return isAnswered
	}
	return s.isAnswer && s.got.at.After(o.At) // its text is void or gone: a newer one of an author of its own takes its place
}

// isAnsweredByCheck reports whether what approves is the check or status that objected, or began after that.
func (s *objectionSearch) isAnsweredByCheck(o *quorum.Objection) bool {
	return o.TextRef == s.got.ref || s.got.begun.IsZero() || o.At.Before(s.got.begun)
}

// isReadAnew reports whether an objection by a run's conclusion is this attempt's own: the policy in force reads it.
func (v *attemptView) isReadAnew(o *quorum.Objection) bool {
	run := v.attempt.run
	return run != nil && run.ID == o.Run && run.Completed() && run.Attempt == o.Attempt
}

// hasLostThread reports whether an objection has fewer threads than it was recorded with.
func hasLostThread(o *quorum.Objection, shown []statement) bool {
	return slices.ContainsFunc(shown, func(s statement) bool {
		return s.ref == o.TextRef && s.Outcome == quorum.Findings && len(s.threads) < o.Threads
	})
}

// hasEndedSince reports whether a person ended a review that objected to this base and head and is void since, for the
// pull request left one of them for a while: by dismissing it, or by resolving all of its threads.
func (v *attemptView) hasEndedSince(o *quorum.Objection) bool {
	t := v.head.shownText(o.TextRef)
	if t == nil || t.Kind != quorum.TextReview || t.State == "DISMISSED" {
		return t != nil && v.head.isDismissed(t)
	}
	s := v.readAgain(t)
	return s.Outcome == quorum.Findings && v.threads.haveEnded(&s)
}

// isThreadAnswered reports whether a thread that was open when it was recorded objects no more: somebody who may has
// ended it, or an approval counts, which reads all threads anew. Deleting it does not close it.
func (v *attemptView) isThreadAnswered(id int64, isAnswer bool) bool {
	t := v.threads.threadOf(id)
	return t != nil && (isAnswer || v.head.hasEnded(v.Reviewer, t) || v.threads.isMinor(t))
}

// isAnsweredAsShown is [objectionSearch.isAnswered] for an objection whose text GitHub still shows.
func (v *attemptView) isAnsweredAsShown(o *quorum.Objection, s *statement, isAnswered bool) bool {
	switch {
	case s.rejected == reviewDismissed:
		return v.head.isDismissed(s.text)
	case isAnswered:
		return true
	case s.isVoid():
		return false
	case s.at.After(o.At): // edited since: by its author, or by any workflow where that one is shared
		return !v.isShared() && (s.Outcome == quorum.Approved || v.threads.haveEnded(s))
	}
	return len(s.threads) >= o.Threads // it was read anew, under the policy in force
}

// isCarriedAnswered reports whether its reviewer has answered an objection to an earlier head here, or a person ended it.
func (s *objectionSearch) isCarriedAnswered(o *quorum.Objection) bool {
	return s.isAnswer && s.got.at.After(o.At) && s.isAnsweredByCheck(o) ||
		o.Kind == quorum.TextThread && s.isThreadAnswered(o.ID, false) || s.hasEndedSince(o)
}
