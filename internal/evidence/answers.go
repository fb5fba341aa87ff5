package evidence

// What answers an objection: an approval of its reviewer, or a person who ended it. What a person accepted over stands no more:
// the accept of a head, found for each objection that it ends.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// isAnswer reports whether a result answers what its reviewer objected before: an approval that no run under way may have
// left. Threads that were resolved end the objection that they are, and no other.
func (v *attemptView) isAnswer(got *attemptResult) bool {
	if got.outcome != quorum.Approved || got.reason == quorum.ReasonResolved || v.attempt.isUnderWay() {
		return false
	}
	return !slices.ContainsFunc(v.attempts, func(a reviewAttempt) bool { return a.ended.IsZero() && v.attempts.mayHaveLeft(&a, got.at) })
}

// hasAnswer reports whether an approval answers what was objected at that time, in that attempt of that run: its own
// attempt began later, of whichever run.
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
		run := s.attempt.run // of its own attempt the conclusion is read anew, under the policy in force
		return isAnswered || run != nil && run.ID == o.Run && run.Completed() && run.Attempt == o.Attempt
	case o.Kind == quorum.TextCheck || o.Kind == quorum.TextStatus: // only its App can change it, but others can delete its threads
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
	switch {
	case t == nil || t.Kind != quorum.TextReview:
		return false
	case t.State == "DISMISSED":
		return isDismissed(v.head, t)
	}
	s := v.readAgain(t)
	return s.Outcome == quorum.Findings && v.threads.haveEnded(&s)
}

// isThreadAnswered reports whether a thread that was open when it was recorded objects no more: somebody who may has
// ended it, or an approval counts, which reads all threads anew. Deleting it does not close it.
func (v *attemptView) isThreadAnswered(id int64, isAnswer bool) bool {
	t := firstOf(v.head.snapshot.Threads, func(t *quorum.Thread) bool { return t.ID == id })
	return t != nil && (isAnswer || v.head.hasEnded(v.Reviewer, t) || v.threads.isMinor(t))
}

// isAnsweredAsShown is [objectionSearch.isAnswered] for an objection whose text GitHub still shows.
func (v *attemptView) isAnsweredAsShown(o *quorum.Objection, s *statement, isAnswered bool) bool {
	switch {
	case s.rejected == reviewDismissed:
		return isDismissed(v.head, s.text)
	case isAnswered:
		return true
	case s.isVoid():
		return false
	case s.at.After(o.At): // edited since: by its author, or by any workflow where that one is shared
		return !v.isShared() && (s.Outcome == quorum.Approved || v.threads.haveEnded(s))
	}
	return len(s.threads) >= o.Threads // it was read anew, under the policy in force
}

// isCarriedAnswered reports whether an objection to an earlier head with this diff stands no more: by what its reviewer
// says here since, or by a person who ended it there.
func (s *objectionSearch) isCarriedAnswered(o *quorum.Objection) bool {
	switch {
	case s.isAnswer && s.got.at.After(o.At) && s.isAnsweredByCheck(o):
		return true
	case o.Kind == quorum.TextThread:
		return s.isThreadAnswered(o.ID, false)
	}
	return o.Kind == quorum.TextReview && s.hasEndedSince(o)
}

// acceptOf finds the accept that ends an objection of a reviewer that was said at a moment: one against this head and base
// that our check had named by then, or one that was said before that.
func (v *commandView) acceptOf(reviewer string, at time.Time, isNamed func(o *quorum.Objection) bool) (c quorum.Command, found bool) {
	for _, c := range v.all {
		if c.Verb != quorum.CommandAccept || c.Refused != "" || c.Base != v.head.snapshot.PR.BaseRef || v.head.cycle.isBeforeBase(c.At) ||
			at.After(c.Until) || !slices.Contains(c.Reviewers, reviewer) {
			continue
		}
		for i := range v.head.snapshot.Record.Objections {
			o := &v.head.snapshot.Record.Objections[i]
			isOfAccept := o.Reviewer == reviewer && v.head.record.concerns(o) && wasNamedBy(o, c.At)
			if isOfAccept && (isNamed(o) || !at.After(o.At)) { // the record has no room for all of many: the check named those before it
				return c, true
			}
		}
	}
	return c, false
}

// vouchers are those who vouch for a change of their own, in the order in which they did.
func (v *commandView) vouchers() (all []quorum.StandIn) {
	for _, c := range v.all {
		p, isHere := v.head.policy, c.Base == v.head.snapshot.PR.BaseRef && !v.head.cycle.isBeforeBase(c.At)
		isHeard := c.Verb == quorum.CommandVouch && c.Refused == "" && isHere
		if isHeard && p.OwnChange && p.StandIn != 0 && c.May >= p.StandIn {
			all = append(all, quorum.StandIn{Login: c.By, Review: c.ID, At: c.At, Vouch: true})
		}
	}
	return all
}

// acceptOfResult finds the accept that ends an objection as a result shows it. One by open threads is ended if none of
// them is younger than the accepted ones.
func (v *attemptView) acceptOfResult(r *attemptResult) (c quorum.Command, found bool) {
	if len(v.commands.all) == 0 {
		return c, false
	}
	if r.reason != quorum.ReasonOpenThreads {
		return v.commands.acceptOf(v.Name, r.at, func(o *quorum.Objection) bool { return o.TextRef == r.ref })
	}
	at := r.at
	for _, f := range r.findings {
		for i := range v.head.snapshot.Threads {
			if t := &v.head.snapshot.Threads[i]; t.ID == f.Thread {
				at = latest(at, t.At)
			}
		}
	}
	return v.commands.acceptOf(v.Name, at, func(o *quorum.Objection) bool { return o.Kind == quorum.TextThread })
}

// overriddenResult is an objection that a person's accept has ended.
func overriddenResult(objection attemptResult, c quorum.Command) attemptResult {
	objection.reason, objection.detail, objection.isDoubt = quorum.ReasonOverridden, c.By, false
	objection.newestResult, objection.hasThreads = nil, false
	objection.ended = quorum.Ending{By: c.By, How: quorum.ReasonOverridden}
	return objection
}

// answersAnew reports whether a result is the reviewer's own approval after an objection.
func answersAnew(got, objection *attemptResult) bool {
	return got.outcome == quorum.Approved && got.reason != quorum.ReasonResolved && got.at.After(objection.at)
}

// endedEarlier is the act of a person that ended what the reviewer objected to this diff: an accept on another head, or the
// dismissal of a review.
func (v *attemptView) endedEarlier() quorum.Ending {
	rec, s := v.head.record, v.head.snapshot
	for _, t := range slices.Backward(s.Reviews) {
		isHere := t.Commit == s.PR.Head || v.head.isAlike(t.Commit) || rec.isCarried(v.Name, t.TextRef)
		by, was := v.head.dismissalOf(t.ID)
		if t.State != "DISMISSED" || !isHere || !v.IsAuthor(t.Author) || !v.head.hadNoHand(by) {
			continue
		}
		if t.State = was; v.readAgain(&t).Outcome == quorum.Findings {
			return quorum.Ending{By: by.Login, How: quorum.ReasonDismissed}
		}
	}
	for _, o := range rec.record.Objections {
		if o.Reviewer == v.Name && o.Accepted != "" && rec.concerns(&o) {
			return quorum.Ending{By: o.Accepted, How: quorum.ReasonOverridden}
		}
	}
	return quorum.Ending{}
}

// markAccepted notes that somebody who may accepted over an objection, on the record's head and base.
func markAccepted(rec *quorum.Record, o *quorum.Objection) {
	c := firstOf(rec.Commands, func(c *quorum.Command) bool {
		return c.Verb == quorum.CommandAccept && c.Refused == "" && c.Base == rec.Base && rec.Concerns(o, rec.Base, rec.Diff) &&
			slices.Contains(c.Reviewers, o.Reviewer) && !o.At.After(c.Until) && wasNamedBy(o, c.At)
	})
	if c != nil && !o.Answered {
		o.Answered, o.Accepted, o.Own = true, c.By, c.Own
	}
}
