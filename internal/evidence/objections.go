package evidence

// A no stands until it is answered: by an approval of its reviewer whose attempt began after it was said, or by a
// person who may end it. What only looks again, waits, fails, is deleted or edited away ends nothing.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// applyRecord corrects a result by what was said before: an objection stands, and what was withdrawn is not asked for again.
func (v *attemptView) applyRecord(got statement, statements []statement) statement {
	if got.Outcome == quorum.Findings && !got.Doubt {
		accepted, isAccepted := v.endedByAccept(got)
		if got = accepted; !isAccepted {
			return got
		}
	}
	search := v.newObjectionSearch(got, statements)
	objection, found := search.unansweredObjection()
	switch {
	case !found && !got.isVerdict():
		got.ended = v.endedEarlier()
	case !found:
	case objection.Reason != quorum.ReasonOverridden:
		return objection
	case got.Reason == quorum.ReasonOverridden, isYes(&got) && got.at.After(objection.at):
	case !v.attempt.isUnderWay():
		return objection
	default:
		got.ended = objection.ended
	}
	beside := speakingAttempt(search.others, rankSpoke)
	if v.attempt.isUnderWay() && !got.isVerdict() && beside != nil && beside.ownApproves() {
		return beside.own // it counts when the attempt ends, or is at its deadline
	}
	if got.Outcome == quorum.Approved || got.Doubt || got.Reason == quorum.ReasonOverridden {
		return got
	}
	if withdrawn, found := v.withdrawnApproval(statements); found {
		return withdrawn
	}
	return got
}

// withdrawnApproval finds an approval in the record that GitHub no longer shows, unless its author is writing a new answer.
func (v *attemptView) withdrawnApproval(statements []statement) (statement, bool) {
	since := v.head.cycle.baseChanged // for a reviewer without a run: its attempt would begin with a reopening
	if v.attempt.run != nil {
		since = latest(since, v.attempt.began)
	}
	for _, st := range v.head.record.approvalsOf(v.Name) {
		if st.At.Before(since) || !isWithdrawable(st.Kind) {
			continue
		}
		got := statementOf(quorum.Withdrawn, quorum.ReasonDeleted, st.At)
		got.ref = st.TextRef
		if s := firstOf(statements, func(s *statement) bool { return s.ref == st.TextRef }); s != nil {
			got.Reason, got.Detail = quorum.ReasonEdited, v.Author
			if s.isVoid() {
				got.Reason, got.Detail = voidReasons[s.rejected], s.voidDetail
			} else if s.Outcome == quorum.Running {
				return statement{}, false
			}
		}
		return got, true
	}
	return statement{}, false
}

// isWithdrawable reports whether an approval of that kind is taken back by deleting it.
func isWithdrawable(k quorum.TextKind) bool { return k == quorum.TextComment || k == quorum.TextReview }

// An objectionSearch looks for an objection that nothing has answered, beside a result that does not object.
type objectionSearch struct {
	*attemptView
	got      statement
	isAnswer bool          // it answers what its reviewer objected before
	others   []attemptView // of all its runs
	shown    []statement   // of all attempts, as GitHub shows them
}

func (v *attemptView) newObjectionSearch(got statement, statements []statement) *objectionSearch {
	s := &objectionSearch{attemptView: v, got: got, isAnswer: v.isAnswer(&got), shown: slices.Clip(statements)}
	for _, o := range v.judged {
		run := v.attempt.run
		if run != nil && o.attempt.run.ID == run.ID && o.attempt.number == v.attempt.number {
			continue
		}
		s.others = append(s.others, o)
		if v.Verdict.Kind != quorum.Conclusion {
			s.shown = append(s.shown, o.textStatements()...)
		}
	}
	return s
}

// unansweredObjection finds an objection to this head and base that nothing has answered. What GitHub shows is read
// anew; the record speaks for the rest. Where a person accepted all of them, it is the first.
func (s *objectionSearch) unansweredObjection() (objection statement, found bool) {
	for _, open := range slices.Concat(s.openInAttempts(), s.openInSignals(), s.openInRecord()) {
		accepted, isAccepted := s.endedByAccept(open)
		switch {
		case !isAccepted:
			return s.standingResult(open), true
		case !found:
			objection, found = accepted, true
		}
	}
	return objection, found
}

// isApproval reports whether the attempt came to an approval that its event's guard lets count.
func (v *attemptView) ownApproves() bool {
	_, isGuarded := v.guardedPath()
	return v.own.Outcome == quorum.Approved && !isGuarded
}

// openInAttempts is what other attempts objected and nothing has answered, the newest first.
func (s *objectionSearch) openInAttempts() (open []statement) {
	for _, o := range slices.Backward(s.others) {
		got, run, number := o.own, o.attempt.run.ID, o.attempt.number
		if got.Outcome == quorum.Findings && !got.Doubt && !s.hasAnswer(got.at, run, number) {
			got.run, got.attempt, got.isOlder = run, number, true
			open = append(open, got)
		}
	}
	return open
}

// openInSignals is what a check or a status objects that a newer one says no more.
func (s *objectionSearch) openInSignals() (all []statement) {
	for _, list := range [][]statement{s.checkStatements(), s.statusStatements()} {
		open, found := unansweredStatement(list)
		newest, _ := newestStatement(list)
		isAnswered := s.hasYesSince(&quorum.Objection{TextRef: open.ref, At: open.at})
		if found && newest.ref != open.ref && !isAnswered {
			all = append(all, s.objectionResult(&open))
		}
	}
	return all
}

// openInRecord is what only the record still knows.
func (s *objectionSearch) openInRecord() (all []statement) {
	a, open := &s.attempt, s.openFindings()
	for _, o := range s.head.record.objectionsOf(s.Name) {
		objection := statement{
			Reading: review.Reading{Outcome: quorum.Findings}, at: o.At, ref: o.TextRef, url: o.URL,
			carried: o.Carried, pull: o.Pull, hasThreads: o.Threads > 0 || o.Kind == quorum.TextThread,
			isOlder: o.Carried != "" || a.run != nil && (o.Run != a.run.ID || o.Attempt < a.number || o.At.Before(a.began)),
		}
		switch {
		case s.isAnswered(&o):
			continue
		case o.Kind == quorum.TextThread && len(open) > 0: // each is an objection of its own
			objection.Findings = open
		case o.More < 0:
			objection.Detail = o.Excerpt
		default:
			objection.Findings = []quorum.Finding{{Body: o.Excerpt, URL: o.URL, More: o.More}}
		}
		all = append(all, objection)
	}
	return all
}

// standingResult is an objection that its reviewer has not answered, beside the result of its newest attempt.
func (s *objectionSearch) standingResult(objection statement) statement {
	objection.Reason, objection.Doubt = quorum.ReasonStands, false
	if s.attempt.isUnderWay() && objection.isOlder || s.got.Outcome == quorum.Running && s.attempt.run == nil {
		objection.Reason = quorum.ReasonLookingAgain
	}
	if s.attempt.run != nil && (objection.isOlder || s.attempt.isUnderWay()) {
		objection.newest = &s.got
	}
	return objection
}

// isYes reports whether a result is the reviewer's own approval, and not threads that were resolved.
func isYes(got *statement) bool {
	return got.Outcome == quorum.Approved && got.Reason != quorum.ReasonResolved
}

// isAnswer reports whether a result answers what its reviewer objected before: an approval that no run under way may
// have left. Threads that were resolved end the objection that they are, and no other.
func (v *attemptView) isAnswer(got *statement) bool {
	mayBeIts := func(a reviewAttempt) bool { // one that waits for a person has said nothing
		return a.ended.IsZero() && a.run.Status != "waiting" && v.mayHaveLeft(&a, got.at)
	}
	return isYes(got) && !v.attempt.isUnderWay() && !slices.ContainsFunc(v.attempts, mayBeIts)
}

// hasAnswer reports whether an attempt that began after what was objected in an attempt of a run approves, or has.
func (s *objectionSearch) hasAnswer(at time.Time, run int64, attempt int) bool {
	isLater := func(a *reviewAttempt, got *statement) bool {
		isOfRun := run == a.run.ID && attempt < a.number && !a.isPast && got.begun.Equal(a.began)
		return isOfRun || at.Before(got.begun)
	}
	return s.head.record.hasAnswered(s.Name, at, run, attempt) ||
		s.isAnswer && s.attempt.run != nil && isLater(&s.attempt, &s.got) ||
		slices.ContainsFunc(s.others, func(o attemptView) bool {
			return o.ownApproves() && o.isAnswer(&o.own) && isLater(&o.attempt, &o.own)
		})
}

// isAnswered reports whether a recorded objection stands no more: its reviewer approves what began after it, or a person
// has ended it, or what GitHub shows in its place was read anew.
func (s *objectionSearch) isAnswered(o *quorum.Objection) bool {
	isHere := o.Carried == ""
	switch run := s.attempt.run; {
	case s.head.record.hasAnswered(s.Name, o.At, o.Run, o.Attempt): // also of a thread, and of a review that was dismissed since
		return true
	case o.Kind == quorum.TextThread: // an approval that counts reads all anew; deleting one does not close it
		t := s.head.threadOf(o.ID)
		isOver := t != nil && (isHere && s.isAnswer || s.head.hasEnded(s.Reviewer, t) || s.isMinor(t))
		return isOver || !isHere && s.hasYesSince(o)
	case isSignal(o.TextRef):
		shown := s.shownAs(o)
		isShorter := shown != nil && shown.Outcome == quorum.Findings && len(shown.threads) < o.Threads
		return s.hasYesSince(o) && !isShorter // others can only delete its threads
	case o.Kind == quorum.TextRun: // the policy in force reads this attempt's own anew
		isOwn := isHere && run != nil && run.ID == o.Run && run.Attempt == o.Attempt && run.Completed()
		return isOwn || s.hasYesSince(o)
	}
	return s.isTextAnswered(o)
}

// isTextAnswered is [objectionSearch.isAnswered] for a text or an artifact. Where its reviewer has no run, another text
// answers one about this head that came after it was asked again.
func (s *objectionSearch) isTextAnswered(o *quorum.Objection) bool {
	run, shown := s.attempt.run, s.shownAs(o)
	isReplaced := shown == nil && (run != nil || o.Kind == s.got.ref.Kind || s.head.shownText(o.TextRef) == nil)
	switch {
	case o.Carried != "" || isReplaced: // a newer one takes the place of one that is void or gone
		return s.hasYesSince(o) || s.hasEndedSince(o)
	case shown != nil && shown.rejected == reviewDismissed:
		return s.head.isDismissed(shown.text)
	case s.hasAnswer(o.At, o.Run, o.Attempt), run == nil && s.isAnswer && o.Attempt < s.attempt.number:
		return true
	case shown == nil:
		return s.hasEndedSince(o)
	case shown.isVoid():
		return s.hasYesSince(o)
	case shown.at.After(o.At): // edited since: by its author, or by any workflow where that one is shared
		return !s.isShared() && (shown.Outcome == quorum.Approved || s.haveEnded(shown))
	}
	return len(shown.threads) >= o.Threads // it was read anew, under the policy in force
}

// shownAs is the statement as which GitHub still shows an objection; nil if it shows it no more, or moved it.
func (s *objectionSearch) shownAs(o *quorum.Objection) *statement {
	return firstOf(s.shown, func(shown *statement) bool { return shown.ref == o.TextRef && shown.rejected != reviewMoved })
}

// hasYesSince reports whether the reviewer approves in what began after an objection or, where nothing shows that, was
// said after it; of two statuses of one second the newer has the higher ID. A check or a status that objected, and
// approves now, has begun anew.
func (s *objectionSearch) hasYesSince(o *quorum.Objection) bool {
	isLater := o.At.Before(s.got.begun) || s.got.begun.IsZero() && o.At.Before(s.got.at)
	if ref := s.got.ref; isSignal(o.TextRef) && ref.Kind == o.Kind {
		isNewer := ref.Kind == quorum.TextStatus && ref.ID > o.ID && s.got.at.Equal(o.At)
		isLater = isLater || isNewer || ref == o.TextRef
	}
	return s.isAnswer && isLater || s.hasAnswer(o.At, o.Run, o.Attempt)
}

// hasEndedSince reports whether a person ended a review that objected to this base and head and is void since, for the
// pull request left one of them for a while: by dismissing it, or by resolving all threads of one that no other edited.
func (v *attemptView) hasEndedSince(o *quorum.Objection) bool {
	t := v.head.shownText(o.TextRef)
	if t == nil || t.Kind != quorum.TextReview || t.State == "DISMISSED" {
		return t != nil && v.head.isDismissed(t)
	}
	s := v.readAgain(t)
	return s.Outcome == quorum.Findings && !v.mayOtherHaveEdited(t) && v.haveEnded(&s)
}
