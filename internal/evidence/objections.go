package evidence

// A no stands until it is answered: by a newer attempt of its reviewer that ended with a verdict that approves, or by
// a person who may end it. What only looks again, waits, fails, is deleted or edited away ends nothing.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// applyRecord corrects a result by what was said before it: an objection stands until it is answered, and an approval
// that was withdrawn is not asked for again.
func (v *attemptView) applyRecord(got attemptResult, statements []statement) attemptResult {
	if got.outcome == quorum.Findings && !got.isDoubt {
		c, isAccepted := v.acceptOfResult(&got)
		if !isAccepted {
			return got
		}
		got = overriddenResult(got, c)
	}
	objection, found := v.unansweredObjection(got, statements)
	switch {
	case !found:
	case objection.reason != quorum.ReasonOverridden:
		return objection
	case got.reason != quorum.ReasonOverridden && !v.attempt.isUnderWay() && !answersAnew(&got, &objection):
		return objection
	}
	if got.outcome == quorum.Approved || got.isDoubt || got.reason == quorum.ReasonOverridden {
		return got
	}
	if withdrawn, found := v.withdrawnApproval(statements); found {
		return withdrawn
	}
	return got
}

// withdrawnApproval finds an approval in the record that GitHub no longer shows, unless its author is writing a new
// answer in its place.
func (v *attemptView) withdrawnApproval(statements []statement) (attemptResult, bool) {
	since := v.head.cycle.baseChanged // for a reviewer without a run: its attempt would begin with a reopening
	if v.attempt.run != nil {
		since = latest(since, v.attempt.began)
	}
	for _, st := range v.head.record.approvalsOf(v.Name) {
		if st.At.Before(since) || !isWithdrawable(st.Kind) {
			continue
		}
		why, by := quorum.ReasonDeleted, ""
		for i := range statements {
			s := &statements[i]
			switch {
			case s.ref != st.TextRef:
			case s.void:
				why, by = s.voidReason, s.voidDetail
			case s.Outcome == quorum.Running:
				return attemptResult{}, false
			default:
				why, by = quorum.ReasonEdited, v.Author
			}
		}
		return attemptResult{outcome: quorum.Withdrawn, reason: why, detail: by, at: st.At, ref: st.TextRef}, true
	}
	return attemptResult{}, false
}

// isWithdrawable reports whether an approval of that kind is taken back by deleting it.
func isWithdrawable(k quorum.TextKind) bool { return k == quorum.TextComment || k == quorum.TextReview }

// An objectionSearch looks for an objection that nothing has answered, beside a result of the newest attempt that does
// not object.
type objectionSearch struct {
	*attemptView
	got      attemptResult
	isAnswer bool           // it answers what its reviewer objected before
	shown    []statement    // of this attempt and of those before it, as GitHub shows them
	accepted *attemptResult // the first that only a person's accept has ended
}

// unansweredObjection finds an objection to this head and base that nothing has answered, beside a result of the
// newest attempt that does not object. What GitHub still shows is read anew; the record speaks for what it shows no
// more. Where all that nothing has answered was accepted by a person, it is the first of that.
func (v *attemptView) unansweredObjection(got attemptResult, statements []statement) (attemptResult, bool) {
	s := &objectionSearch{attemptView: v, got: got, isAnswer: v.isAnswer(&got), shown: statements}
	for _, findIn := range []func() (attemptResult, bool){s.findInAttemptsBefore, s.findInSignals, s.findInRunsBefore, s.findInRecord} {
		if objection, found := findIn(); found {
			return objection, true
		}
	}
	if s.accepted != nil {
		return *s.accepted, true
	}
	return attemptResult{}, false
}

// isEnded reports whether a person accepted over an objection, and notes the first.
func (s *objectionSearch) isEnded(objection attemptResult) bool {
	c, ended := s.acceptOfResult(&objection)
	if ended && s.accepted == nil {
		overridden := overriddenResult(objection, c)
		s.accepted = &overridden
	}
	return ended
}

// findInAttemptsBefore finds what the last attempt with a verdict objected, and adds what all of them said to what is shown.
func (s *objectionSearch) findInAttemptsBefore() (attemptResult, bool) {
	var standing *statement
	var saidIn reviewAttempt
	for _, earlier := range s.earlierAttempts() {
		said := s.textStatements(&earlier)
		s.shown = append(slices.Clip(s.shown), said...)
		objection, approves := s.verdictOfAttempt(said)
		if objection != nil || approves && !s.needsPerson() {
			standing, saidIn = objection, earlier
		}
	}
	if standing == nil || s.isAnswer || s.head.record.hasAnswered(s.Name, standing.at, saidIn.run.ID, saidIn.number) {
		return attemptResult{}, false
	}
	objection := s.objectionResult(standing)
	objection.saidRun, objection.saidAttempt = saidIn.run.ID, saidIn.number
	return s.standingResult(objection, s.got, true), !s.isEnded(objection)
}

// findInSignals finds what a check or a status objects that a newer one says no more.
func (s *objectionSearch) findInSignals() (attemptResult, bool) {
	for _, list := range [][]statement{s.checkStatements(), s.statusStatements()} {
		open, found := openObjection(list, s.needsPerson())
		if !found || s.isAnswer && s.got.at.After(open.at) || s.head.record.hasAnswered(s.Name, open.at, 0, 0) {
			continue
		}
		if objection := s.objectionResult(&open); !s.isEnded(objection) {
			return s.standingResult(objection, s.got, false), true
		}
	}
	return attemptResult{}, false
}

// findInRunsBefore finds the failure of an earlier run or attempt whose conclusion was the verdict.
func (s *objectionSearch) findInRunsBefore() (attemptResult, bool) {
	objection, found := s.failedRunBefore()
	if !found || s.isAnswer || s.head.record.hasAnswered(s.Name, objection.at, objection.saidRun, objection.saidAttempt) {
		return attemptResult{}, false
	}
	return s.standingResult(objection, s.got, true), !s.isEnded(objection)
}

// findInRecord finds what only the record still knows.
func (s *objectionSearch) findInRecord() (attemptResult, bool) {
	for _, o := range s.head.record.objectionsOf(s.Name) {
		objection := attemptResult{
			outcome: quorum.Findings, at: o.At, ref: o.TextRef, url: o.URL, findings: []quorum.Finding{{Body: o.Excerpt, URL: o.URL}},
			carried: o.Carried, hasThreads: o.Threads > 0 || o.Kind == quorum.TextThread,
		}
		if !s.isAnswered(&o, s.got, s.isAnswer, s.shown) && !s.isEnded(objection) {
			return s.standingResult(objection, s.got, o.Carried != "" || s.isOlder(&o)), true
		}
	}
	return attemptResult{}, false
}

// needsPerson reports whether the reviewer's own yes answers nothing that it objected to the same diff: then only a
// person ends it.
func (v *reviewerView) needsPerson() bool { return v.head.policy.Reroll == quorum.RerollPerson }

// openObjection finds an objection by a check or status after which a newer one came that is no verdict: it goes on,
// say. Where a person must end it, one that approves leaves it open, too.
func openObjection(all []statement, needsPerson bool) (objection statement, found bool) {
	objection, found = newestStatement(without(all, func(s statement) bool {
		return !s.isVerdict() || needsPerson && s.Outcome == quorum.Approved
	}))
	newest, _ := newestStatement(all)
	return objection, found && objection.Outcome == quorum.Findings && (needsPerson || newest.ref != objection.ref)
}

// failedRunBefore finds the run or attempt before this one that objects, where the conclusion is the verdict.
func (v *attemptView) failedRunBefore() (objection attemptResult, found bool) {
	for _, earlier := range v.attemptsByConclusionBefore() {
		got, _ := earlier.resultByConclusion()
		switch got.outcome {
		case quorum.Approved:
			if !v.needsPerson() {
				return attemptResult{}, false
			}
		case quorum.Findings:
			got.saidRun, got.saidAttempt = earlier.attempt.run.ID, earlier.attempt.number
			return got, true
		}
	}
	return attemptResult{}, false
}

// attemptsByConclusionBefore are the attempts that ended before this one, the newest first, where the conclusion is the
// verdict: the last of each earlier run, and of every run those of whose end no look has seen.
func (v *attemptView) attemptsByConclusionBefore() (views []attemptView) {
	if !v.isByConclusion() || v.attempt.run == nil {
		return nil
	}
	for i := range slices.Backward(v.runs.counted) {
		run := &v.runs.counted[i]
		if run.Number > v.attempt.run.Number {
			continue
		}
		if run.ID != v.attempt.run.ID && run.Completed() {
			views = append(views, v.ofRunBefore(run, v.head.record.endOf(run)))
		}
		for _, n := range v.unseenAttempts(run) {
			earlier, _ := v.head.earlierAttempt(n)
			if earlier.Conclusion == "" {
				continue
			}
			earlier.Jobs = without(run.FailedJobs, func(job quorum.Job) bool {
				return job.Completed.Before(earlier.Started) || job.Completed.After(earlier.Updated)
			})
			views = append(views, v.ofRunBefore(&earlier, earlier.Updated))
		}
	}
	return views
}

// ofRunBefore is the view of the newest attempt of a run that ended then.
func (v *attemptView) ofRunBefore(run *quorum.Run, ended time.Time) attemptView {
	return attemptView{reviewerView: v.reviewerView, attempt: reviewAttempt{
		run: run, number: run.Attempt, began: run.Started, firstJobBegan: run.Started, ended: ended,
	}}
}

// unseenAttempts are the attempts of a run, the newest first, of whose end no look has seen, if one of its jobs has failed
// before: somebody who has it run again at once would make its conclusion unsaid. What a look saw stands in the record.
// There are no more than the fifty that GitHub lets a run have.
func (v *attemptView) unseenAttempts(run *quorum.Run) (all []quorum.AttemptName) {
	if v.Retired || !v.isByConclusion() || v.FailureMeans != quorum.MeansFindings || len(run.FailedJobs) == 0 {
		return nil
	}
	for n := run.Attempt - 1; n > v.head.record.seenAttempts(run.ID); n-- {
		all = append(all, quorum.AttemptName{Run: run.ID, Number: n})
	}
	return all
}

// verdictOfAttempt is what the texts of one of the [attemptView.earlierAttempts] say: any objection objects.
func (v *attemptView) verdictOfAttempt(said []statement) (objection *statement, approves bool) {
	for i := range said {
		switch s := &said[i]; {
		case !s.isVerdict() || !s.at.Before(v.attempt.began):
		case s.Outcome == quorum.Findings && v.threads.haveEnded(s): // it was no approval of the rest
		case s.Outcome == quorum.Findings:
			objection = s
		case (v.OnlyNew || s.NoOpen) && len(v.threads.openFindings()) > 0: // clean, but for its open threads
			open := *s
			open.Outcome, open.Findings = quorum.Findings, v.threads.openFindings()
			objection = &open
		default:
			approves = true
		}
	}
	return objection, approves
}

// standingResult is an objection that its reviewer has not answered, beside the result of its newest attempt.
func (v *attemptView) standingResult(objection, newest attemptResult, isOlder bool) attemptResult {
	objection.reason, objection.isDoubt = quorum.ReasonStands, false
	if v.attempt.isUnderWay() && isOlder || newest.outcome == quorum.Running && v.attempt.run == nil {
		objection.reason = quorum.ReasonLookingAgain
	}
	if v.attempt.run != nil && (isOlder || v.attempt.isUnderWay()) {
		objection.newestResult = &newest
	}
	return objection
}

// earlierAttempts are what went before this attempt on this head, oldest run first: one for each run, with all of its
// attempts before the newest, for GitHub does not show where one of those ended and the next began.
func (v *attemptView) earlierAttempts() (out []reviewAttempt) {
	a := &v.attempt
	if v.Verdict.Kind == quorum.Conclusion || a.run == nil {
		return nil // what those concluded attemptsByConclusionBefore tells
	}
	for i := range v.runs.counted {
		run := &v.runs.counted[i]
		switch {
		case run.ID == a.run.ID && a.number > 1:
			out = append(out, reviewAttempt{run: a.run, number: a.number - 1, isSeveral: true, began: run.Created, ended: a.began})
		case run.ID != a.run.ID && run.Completed() && run.Number < a.run.Number:
			out = append(out, reviewAttempt{
				run: run, number: run.Attempt, isSeveral: true, began: run.Created, ended: v.head.record.endOf(run),
			})
		}
	}
	return out
}
