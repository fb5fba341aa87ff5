package evidence

// The attempts of a reviewer on this head: those of all its runs speak, whichever run has the higher number.

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// isCancelledByUs reports whether the record holds our cancel of this attempt.
func (v *attemptView) isCancelledByUs() bool {
	return v.head.record.hasIntent(quorum.Cancel, v.attempt.run.ID, v.attempt.number)
}

// judgeAttempts judges each attempt of the reviewer's runs on this head by itself. Those for other pull requests with
// this head, of which none approves this diff, come first.
func (v *reviewerView) judgeAttempts() {
	twins := attemptsOfRuns(v.head, v.Reviewer, v.runs.ofTwins)
	for i, a := range slices.Concat(twins, v.attempts) {
		a.isOfTwin = i < len(twins)
		view := attemptView{v, a}
		if got := view.ownResult(); !a.isOfTwin || got.Outcome == quorum.Findings {
			v.judged = append(v.judged, judgedAttempt{view, got})
		}
	}
}

// newestAttempt is the attempt by which the reviewer is judged first, beside which all others speak.
func (v *reviewerView) newestAttempt() *attemptView {
	if v.Workflow == "" {
		return &attemptView{v, v.requestedAttempt()}
	}
	start := v.head.cycle.start
	a := reviewAttempt{number: 1, began: start, firstJobBegan: start}
	if speaking := speakingAttempt(v.judged, rankUnderWay); speaking != nil {
		a = speaking.attempt
		a.byPerson = a.number > 1 && !v.head.record.hasOwnIntent(quorum.Rerun, a.run.ID, a.number-1)
	}
	a.spentAttempts = v.head.spentAttempts(v.Reviewer)
	return &attemptView{v, a}
}

// speakingAttempt is, among the newest attempts of runs that did no more than most, the last of those that did most.
// One that waits for a person's approval replaces no approval, nor does one that we cancelled.
func speakingAttempt(all []judgedAttempt, most attemptRank) (best *judgedAttempt) {
	var idle *judgedAttempt
	newestAt := func(a *judgedAttempt) time.Time { return cmp.Or(a.attempt.ended, a.attempt.firstJobBegan) }
	isNewer := func(a, than *judgedAttempt) bool { return than == nil || !newestAt(a).Before(newestAt(than)) }
	for i := range all {
		a := &all[i]
		switch rank := a.attemptRank(); {
		case a.attempt.isPast, a.attempt.isOfTwin, rank > most:
		case !a.got.isVerdict() && (a.attempt.run.Status == "waiting" || a.isOurCancel()):
			idle = a
		case best == nil || rank > best.attemptRank() || rank == best.attemptRank() && isNewer(a, best):
			best = a
		}
	}
	if idle != nil && isNewer(idle, best) && (best == nil || best.attemptRank() < rankUnderWay && best.got.Outcome != quorum.Approved) {
		return idle
	}
	return best
}

// isOurCancel reports whether it ended by our cancel.
func (a *judgedAttempt) isOurCancel() bool {
	return a.attempt.run.Conclusion == "cancelled" && a.isCancelledByUs()
}

// attemptRank is how much an attempt did, as far as others may replace it.
type attemptRank int

const (
	rankNothing  attemptRank = iota // it was skipped, or cancelled before it spoke
	rankEmpty                       // it ran a job and left nothing, or what may be another pull request's
	rankSpoke                       // it left a verdict, or failed
	rankUnderWay                    // it has not ended
)

func (a *judgedAttempt) attemptRank() attemptRank {
	switch run := a.attempt.run; {
	case !run.Completed():
		return rankUnderWay
	case a.got.isVerdict() || a.isOurCancel():
		return rankSpoke
	case run.Conclusion == "skipped" || run.Conclusion == "cancelled" || len(run.Jobs) == 0:
		return rankNothing
	case a.got.Outcome == quorum.Empty, isByConclusion(a.Reviewer) && a.got.Reason == quorum.ReasonOtherPull:
		return rankEmpty
	}
	return rankSpoke
}

// requestedAttempt is the newest attempt of a reviewer without a run: the first begins at the start, the next when it
// was asked again. A person's request restarts the clock and spends no attempt.
func (v *reviewerView) requestedAttempt() reviewAttempt {
	a, free := reviewAttempt{number: 1, began: v.head.cycle.start}, 0
	for _, in := range v.head.record.requestsTo(v.Name) {
		a.number = max(a.number, in.Attempt) // a request at the start is for attempt 1
		a.request, a.began = in, latest(a.began, in.At)
		if a.isCommanded = in.Command != 0; a.isCommanded || in.Free {
			free++
		}
	}
	a.byPerson = a.isCommanded
	if at := v.personRequest(); at.After(a.began) && !at.Before(v.turn) {
		a.began, a.byPerson, a.isCommanded = at, true, false
	}
	a.spentAttempts, a.firstJobBegan = max(a.number-1-free, 0), a.began
	return a
}

// judgeAttempt derives the reviewer's result by the attempt, beside which all others speak. The order of judgement: texts
// (identity and binding came first), then the record of them, then the run's log and annotations, then its conclusion.
func (v *attemptView) judgeAttempt() statement {
	if v.Verdict.Kind == quorum.Conclusion {
		got, beside := v.ownResult(), v.textStatements(&v.attempt) // its comments on the diff object
		if _, objection, _ := v.decidingStatements(beside); objection != nil && got.Outcome != quorum.Findings {
			got = v.objectionResult(objection)
		}
		return v.applyRecord(got, append(v.signalStatements(), beside...))
	}
	a := &v.attempt
	all := v.textStatements(a)
	for _, list := range [][]statement{v.checkStatements(), v.statusStatements()} {
		if s, found := newestStatement(list); found && s.Outcome != quorum.Unrelated && !a.wasBefore(&s) {
			all = append(all, s)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].at.Before(all[j].at) })
	return v.applyRecord(v.dateApproval(v.combineTexts(all)), all)
}

// ownResult is the result of the attempt alone.
func (v *attemptView) ownResult() statement {
	switch {
	case v.Verdict.Kind != quorum.Conclusion:
		return v.dateApproval(v.combineTexts(v.textStatements(&v.attempt)))
	case v.Check == "" && v.Status == "":
		return v.dateApproval(v.conclusionOfRun())
	}
	return v.dateApproval(v.conclusionOfSignals())
}

// dateApproval adds when the attempt began whose approval a result is. A text belongs to the first that may have left it.
func (v *attemptView) dateApproval(got statement) statement {
	if v.attempt.run == nil || got.Outcome != quorum.Approved {
		return got
	}
	got.begun = v.attempt.began
	for i := range v.attempts {
		if a := &v.attempts[i]; isWithdrawable(got.ref.Kind) && v.attempts.mayHaveLeft(a, got.at) {
			got.begun = earliest(got.begun, a.began)
		}
	}
	return got
}

// combineTexts joins the statements of an attempt into one result.
func (v *attemptView) combineTexts(statements []statement) statement {
	approval, objection, other := v.decidingStatements(statements)
	switch {
	case objection != nil:
		got := v.objectionResult(objection)
		got.Doubt = got.Doubt && v.attempt.isUnderWay() // once that has ended, it objects
		return got
	case approval != nil && v.attempt.hasBegun():
		return v.approvalResult(approval)
	case v.attempt.isUnderWay(): // whatever else it has said: it may yet say more
		return v.outcomeOfRun()
	case other != nil && (other.Outcome != quorum.Running || v.attempt.ended.IsZero()):
		return v.noVerdict(other)
	}
	return v.nothingSaid(statements)
}

// decidingStatements picks the statement that decides as an approval, as an objection, and, if there is neither,
// without a verdict. Any objection objects, with two exceptions for an account of its own: of several reviews the
// newest verdict counts, and an approval that came after it was asked again answers what it objected to before.
func (v *attemptView) decidingStatements(statements []statement) (approval, objection, other *statement) {
	var inReview, elsewhere *statement // the newest objections in a review, and in a comment, a check or a status
	for i := range statements {
		s := &statements[i]
		if s.rejected != "" {
			continue
		}
		switch {
		case s.Outcome == quorum.Findings && v.threads.haveEnded(s):
			if approval == nil || approval.Outcome == quorum.Findings { // an approval in words answers more
				approval = s
			}
		case s.Outcome == quorum.Findings && s.isReview():
			inReview = newerObjection(inReview, s)
		case s.Outcome == quorum.Findings:
			elsewhere = newerObjection(elsewhere, s)
		case s.Outcome == quorum.Approved:
			approval = s
			if !v.isShared() && (s.isReview() || v.isOfAttemptsBefore(inReview, s)) {
				inReview = nil
			}
			if !v.isShared() && v.isOfAttemptsBefore(elsewhere, s) {
				elsewhere = nil
			}
		default:
			other = v.tellingStatement(other, s)
		}
	}
	return approval, newerObjection(elsewhere, inReview), other
}

// tellingStatement is the newer of two statements without a verdict, unless only the older one says why there is none.
func (v *attemptView) tellingStatement(older, newer *statement) *statement {
	isAtWork := newer.Outcome == quorum.Running && v.attempt.ended.IsZero()
	if older == nil || !saysWhy(older.Outcome) || saysWhy(newer.Outcome) || isAtWork {
		return newer
	}
	return older
}

// isOfAttemptsBefore reports whether the reviewer was asked again between an objection, if there is one, and an approval.
func (v *attemptView) isOfAttemptsBefore(objection, approval *statement) bool {
	began := v.attempt.began
	return objection != nil && v.attempt.wasAskedAgain() && objection.at.Before(began) && !approval.at.Before(began)
}

// newerObjection is the newer of two objections; a doubt only if there is nothing else.
func newerObjection(a, b *statement) *statement {
	if a == nil || b != nil && (a.Doubt && !b.Doubt || a.Doubt == b.Doubt && !a.at.After(b.at)) {
		return b
	}
	return a
}

// objectionResult is the result of a statement that objects.
func (v *reviewerView) objectionResult(s *statement) statement {
	got := *s
	got.Outcome, got.Reason = quorum.Findings, quorum.ReasonFindings
	got.begun = time.Time{} // of an objection it counts when it was said
	got.Findings = v.threads.withFindings(slices.Clip(s.Findings), s.threads)
	got.hasThreads = s.endsByThreads()
	return got
}

// approvalResult is the result of a statement that approves, which an open thread may keep from counting.
func (v *attemptView) approvalResult(s *statement) statement {
	got := *s
	got.Outcome, got.Reason, got.Detail, got.Doubt = quorum.Approved, quorum.ReasonApproved, "", false
	switch {
	case s.Outcome == quorum.Findings:
		var resolvers []string
		for _, t := range s.threads {
			if t.Resolved {
				resolvers = append(resolvers, t.ResolvedBy.Login)
			}
		}
		got.Findings, got.Reason, got.Detail = nil, quorum.ReasonResolved, strings.Join(withoutRepeats(resolvers), ", ")
	case s.Below:
		got.Findings, got.Reason = v.threads.withFindings(got.Findings, s.threads), quorum.ReasonAccepted
	}
	got.hasThreads = len(s.threads) > 0 // unresolving one would end the approval
	if !v.OnlyNew && !s.NoOpen {
		return got
	}
	if open := v.threads.openFindings(); len(open) > 0 {
		got.Outcome, got.Reason, got.Detail, got.Findings, got.hasThreads = quorum.Findings, quorum.ReasonOpenThreads, "", open, true
	}
	return got
}

// noVerdict is the result of a statement that neither approves nor objects.
func (v *attemptView) noVerdict(s *statement) statement {
	got, run := *s, v.outcomeOfRun()
	isExplained := run.Outcome != quorum.Empty && run.Outcome != quorum.Unknown // by its log or its conclusion
	if isExplained && !saysWhy(s.Outcome) && !v.attempt.ended.IsZero() {
		return run
	}
	got.Findings = nil
	return got
}

// nothingSaid is the result of an attempt without a statement that counts. A void one may explain why.
func (v *attemptView) nothingSaid(statements []statement) statement {
	got := v.outcomeOfRun()
	if got.Outcome != quorum.Silent && got.Outcome != quorum.Empty {
		return got
	}
	for _, why := range [...]quorum.Reason{
		quorum.ReasonOtherPull, quorum.ReasonUnnamed, quorum.ReasonMoved, quorum.ReasonOldBase, quorum.ReasonCommand,
	} {
		s := firstOf(statements, func(s *statement) bool { return voidReasons[s.rejected] == why }) // the oldest
		switch {
		case s == nil:
		case why == quorum.ReasonOtherPull:
			return s.asDeclined()
		case got.Outcome == quorum.Silent:
			got.Reason, got.Detail, got.void = why, s.voidDetail, s.at
			return got
		}
	}
	isOfAnyRun := func(s statement) bool { return s.rejected == duringOtherRun }
	if got.Outcome == quorum.Empty && slices.ContainsFunc(v.textsFor(&v.attempt), isOfAnyRun) {
		got.Reason = quorum.ReasonAmbiguous
	}
	return got
}

// conclusionOfSignals is the result of an attempt whose verdict is the conclusion of a check or a status.
func (v *attemptView) conclusionOfSignals() statement {
	all := v.signalStatements()
	s, seen := newestStatement(all) // [attemptView.applyRecord] finds an older one that it does not answer
	switch {
	case !seen:
		return v.outcomeOfRun()
	case s.rejected != "":
		return s.asDeclined()
	}
	isRunning := func(o statement) bool { return o.Outcome == quorum.Running }
	s.isHeldUp = v.Check != "" && slices.ContainsFunc(all, isRunning)
	s.Doubt = false // a conclusion is clear, whatever is said beside it
	return s
}

// conclusionOfRun is the result of an attempt whose verdict is the conclusion of its run.
func (v *attemptView) conclusionOfRun() statement {
	run, got := v.attempt.run, v.outcomeOfRun()
	isNeutral, isFailure := got.Outcome == quorum.Empty, got.Outcome == quorum.Unknown && run.Conclusion == "failure"
	switch {
	case run == nil || !run.Completed():
	case run.Conclusion == "success":
		got = statementOf(quorum.Approved, quorum.ReasonApproved, v.attempt.ended)
		got.ref, got.url = runRef(run), run.URL
		if got.voidIfOtherPull(v.head.otherPullOfRun(run, false)); got.rejected != "" {
			return got.asDeclined()
		}
	case isNeutral && v.Verdict.Neutral == quorum.MeansFindings, isFailure && v.FailureMeans == quorum.MeansFindings:
		got.Outcome, got.Reason, got.ref = quorum.Findings, quorum.ReasonFindings, runRef(run)
	case isNeutral:
		got.Outcome, got.Reason = quorum.Declined, quorum.ReasonSkipped
	case isFailure && v.attempt.number > 1:
		got.Reason = quorum.ReasonFailedTwice
	}
	return got
}

// outcomeOfRun derives the result from the run alone: the reviewer left no text.
func (v *attemptView) outcomeOfRun() statement {
	a, run := &v.attempt, v.attempt.run
	if run == nil {
		return statementOf(quorum.Silent, quorum.ReasonSilent, a.began)
	}
	result := func(o quorum.Outcome, why quorum.Reason, at time.Time) statement {
		got := statementOf(o, why, at)
		got.url = run.URL
		return got
	}
	// Source: "About Actions policies", GitHub's changelog of 2026-09-17. A job may show a little late.
	seen := v.head.snapshot.Began
	mayBeLate := !seen.IsZero() && seen.Before(a.ended.Add(quorum.ReplicaLag))
	switch {
	case run.Status == "waiting", run.Completed() && run.Conclusion == "action_required":
		return result(quorum.AwaitingApproval, quorum.ReasonApproval, a.began)
	case !run.Completed():
		return result(quorum.Running, quorum.ReasonRunning, a.firstJobBegan)
	case run.Conclusion == "skipped":
		return result(quorum.Declined, quorum.ReasonSkipped, a.ended)
	case run.Conclusion == "timed_out":
		return result(quorum.Hung, quorum.ReasonHung, a.ended)
	case run.Conclusion == "failure" && len(run.Jobs) == 0 && !mayBeLate: // a policy of the repository forbids it
		got := result(quorum.Declined, quorum.ReasonForbidden, a.ended)
		got.Detail = run.Event
		return got
	}
	log, isExplained := readLogs(run)
	switch isCancelled := run.Conclusion == "cancelled"; {
	case isExplained && (!isCancelled || log.Outcome == quorum.Hung): // a job's own timeout-minutes cancel it, too
		got := result(log.Outcome, log.Reason, a.ended)
		got.Detail, got.Reset, got.Until = log.Detail, log.Reset, log.Until
		return got
	case isCancelled:
		return result(quorum.Cancelled, quorum.ReasonCancelled, a.ended)
	case run.Conclusion == "success", run.Conclusion == "neutral":
		return result(quorum.Empty, quorum.ReasonEmpty, a.ended)
	}
	return result(quorum.Unknown, quorum.ReasonUnknown, a.ended)
}

// readLogs reads the logs and annotations of a run. A cause that will not go away beats one that may.
func readLogs(run *quorum.Run) (best review.Reading, isExplained bool) {
	for _, job := range run.Jobs {
		for _, text := range append(slices.Clip(job.Annotations), job.Log) {
			got := review.Read(quorum.Reviewer{}, review.Material{Kind: review.Log, Body: text, Conclusion: run.Conclusion})
			isEmpty := got.Outcome == quorum.Empty && run.Conclusion != "success"
			isCause := text != "" && !isEmpty && got.Outcome != quorum.Unknown && got.Outcome != quorum.Unrelated
			if isCause && (!isExplained || got.Outranks(best)) {
				best, isExplained = got, true
			}
		}
	}
	return best, isExplained
}
