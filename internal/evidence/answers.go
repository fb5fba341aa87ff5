package evidence

// What answers an objection: an approval of its reviewer, or a person who ended it.

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// isAnswer reports whether a result answers what its reviewer objected before. Threads that were resolved end the
// objection that they are, and no other.
func (v *attemptView) isAnswer(got *attemptResult) bool {
	return got.outcome == quorum.Approved && got.reason != quorum.ReasonResolved && !v.attempt.isUnderWay() && !v.needsPerson()
}

// isAnswered reports whether a recorded objection stands no more. shown are the statements of this attempt and of
// those before it, as GitHub shows them; isAnswer says that the result is an approval that counts.
func (v *attemptView) isAnswered(o *quorum.Objection, got attemptResult, isAnswer bool, shown []statement) bool {
	if v.head.record.hasAnswered(v.Name, o.At, o.Run, o.Attempt) {
		return true
	}
	if o.Carried != "" {
		return v.isCarriedAnswered(o, got, isAnswer)
	}
	switch {
	case o.Kind == quorum.TextThread:
		return v.isThreadAnswered(o.ID, isAnswer)
	case o.Kind == quorum.TextRun:
		return v.isReadAnew(o) || isAnswer && v.isOlder(o)
	case o.Kind == quorum.TextCheck || o.Kind == quorum.TextStatus: // only its App can change it, but others can delete its threads
		return isAnswer && !hasLostThread(o, shown)
	}
	for i := range shown {
		if s := &shown[i]; s.ref == o.TextRef && s.voidReason != quorum.ReasonMoved {
			return v.isAnsweredAsShown(o, s, isAnswer)
		}
	}
	switch {
	case v.hasEndedSince(o):
		return true
	case v.isShared():
		return isAnswer && v.isOlder(o)
	case o.Kind != got.ref.Kind && v.head.showsText(o.TextRef): // one in a comment stands whatever its reviews say
		return isAnswer && v.isOlder(o)
	}
	return isAnswer && got.at.After(o.At) // its text is void or gone: a newer one of an author of its own takes its place
}

// isReadAnew reports whether an objection by a run's conclusion is this attempt's own: that is read under the policy in
// force.
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
	i := slices.IndexFunc(v.head.snapshot.Reviews, func(t quorum.Text) bool { return t.TextRef == o.TextRef })
	if i < 0 {
		return false
	}
	t := &v.head.snapshot.Reviews[i]
	if t.State == "DISMISSED" {
		by, _ := v.head.dismissalOf(t.ID)
		return v.head.hadNoHand(by)
	}
	s := v.readAgain(t)
	return s.Outcome == quorum.Findings && v.threads.haveEnded(&s)
}

// isThreadAnswered reports whether a thread that was open when it was recorded objects no more: somebody who may has
// ended it, or an approval counts, which reads all threads anew. Deleting it does not close it.
func (v *attemptView) isThreadAnswered(id int64, isAnswer bool) bool {
	i := slices.IndexFunc(v.head.snapshot.Threads, func(t quorum.Thread) bool { return t.ID == id })
	if i < 0 {
		return false
	}
	t := &v.head.snapshot.Threads[i]
	return isAnswer || v.head.hasEnded(v.Reviewer, t) || v.threads.isMinor(t)
}

// isAnsweredAsShown is [attemptView.isAnswered] for an objection whose text GitHub still shows.
func (v *attemptView) isAnsweredAsShown(o *quorum.Objection, s *statement, isAnswer bool) bool {
	switch {
	case s.void && s.voidReason == quorum.ReasonDismissed:
		by, _ := v.head.dismissalOf(o.ID)
		return v.head.hadNoHand(by)
	case isAnswer && v.isOlder(o):
		return true
	case s.void:
		return false
	case s.at.After(o.At): // edited since: by its author, or by any workflow where that one is shared
		return !v.isShared() && (s.Outcome == quorum.Approved && !v.needsPerson() || v.threads.haveEnded(s))
	}
	return len(s.threads) >= o.Threads // it was read anew, under the policy in force
}

// isOlder reports whether an objection is from an earlier attempt of this run, or from an earlier run.
func (v *attemptView) isOlder(o *quorum.Objection) bool {
	a := &v.attempt
	switch {
	case a.run == nil:
		return o.Attempt < a.number
	case o.Run == a.run.ID: // GitHub sometimes begins a run again without counting the attempt
		return o.Attempt < a.number || o.Attempt == a.number && o.At.Before(a.began)
	}
	for i := range v.head.snapshot.Runs {
		if run := &v.head.snapshot.Runs[i]; run.ID == o.Run && run.Path == a.run.Path {
			return run.Number < a.run.Number
		}
	}
	return o.At.Before(a.began) // GitHub shows its run no more, or the policy names another workflow
}

// isCarriedAnswered reports whether an objection to an earlier head with this diff stands no more: by what its reviewer
// says here since, or by a person who ended it there.
func (v *attemptView) isCarriedAnswered(o *quorum.Objection, got attemptResult, isAnswer bool) bool {
	isAnswer = isAnswer && got.at.After(o.At)
	switch {
	case isAnswer:
		return true
	case o.Kind == quorum.TextThread:
		return v.isThreadAnswered(o.ID, false)
	}
	return o.Kind == quorum.TextReview && v.hasEndedSince(o)
}
