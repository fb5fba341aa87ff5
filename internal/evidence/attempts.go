package evidence

// The attempts of a reviewer on this head: those of all its runs speak, whichever run has the higher number.

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// isCancelledByUs reports whether we cancelled the attempt, which has a run.
func (v *attemptView) isCancelledByUs() bool {
	run := v.attempt.run
	return run.Conclusion == "cancelled" && v.head.record.hasIntent(quorum.Cancel, run.ID, v.attempt.number)
}

// judgeAttempts judges each attempt of the reviewer's runs on this head by itself. Those for other pull requests with
// this head, of which none approves this diff, come first.
func (v *reviewerView) judgeAttempts() {
	twins := attemptsOfRuns(v.head, v.Reviewer, v.runs.ofTwins)
	for i, a := range slices.Concat(twins, v.attempts) {
		a.isOfTwin = i < len(twins)
		view := attemptView{reviewerView: v, attempt: a}
		if view.own = view.ownResult(); !a.isOfTwin || view.own.Outcome == quorum.Findings {
			v.judged = append(v.judged, view)
		}
	}
}

// newestAttempt is the attempt by which the reviewer is judged first, beside which all others speak.
func (v *reviewerView) newestAttempt() *attemptView {
	if v.Workflow == "" {
		return &attemptView{reviewerView: v, attempt: v.requestedAttempt()}
	}
	start := v.head.cycle.start
	a := reviewAttempt{number: 1, began: start, firstJobBegan: start}
	if speaking := speakingAttempt(v.judged, rankUnderWay); speaking != nil {
		a = speaking.attempt
		a.byPerson = a.number > 1 && !v.head.record.hasOwnIntent(quorum.Rerun, a.run.ID, a.number-1)
	}
	a.spentAttempts = v.head.spentAttempts(v.Reviewer)
	return &attemptView{reviewerView: v, attempt: a}
}

// speakingAttempt is, among the newest attempts of runs that did no more than most, the last of those that did most.
// One that waits for a person's approval replaces no approval, nor does one that we cancelled.
func speakingAttempt(all []attemptView, most attemptRank) (best *attemptView) {
	var idle *attemptView
	newestAt := func(a *attemptView) time.Time { return cmp.Or(a.attempt.ended, a.attempt.firstJobBegan) }
	isNewer := func(a, than *attemptView) bool { return than == nil || !newestAt(a).Before(newestAt(than)) }
	for i := range all {
		a := &all[i]
		switch rank := rankOf(a); {
		case a.attempt.isPast, a.attempt.isOfTwin, rank > most:
		case !a.own.isVerdict() && (a.attempt.run.Status == "waiting" || a.isCancelledByUs()):
			idle = a
		case best == nil || rank > rankOf(best) || rank == rankOf(best) && isNewer(a, best):
			best = a
		}
	}
	if idle != nil && isNewer(idle, best) && (best == nil || rankOf(best) < rankUnderWay && best.own.Outcome != quorum.Approved) {
		return idle
	}
	return best
}

// attemptRank is how much an attempt did, as far as others may replace it.
type attemptRank int

const (
	rankNothing  attemptRank = iota // it was skipped, or cancelled before it spoke
	rankEmpty                       // it ran a job and left nothing, or what may be another pull request's
	rankSpoke                       // it left a verdict, or failed
	rankUnderWay                    // it has not ended
)

func rankOf(a *attemptView) attemptRank {
	switch run := a.attempt.run; {
	case !run.Completed():
		return rankUnderWay
	case a.own.isVerdict() || a.isCancelledByUs():
		return rankSpoke
	case run.Conclusion == "skipped" || run.Conclusion == "cancelled" || len(run.Jobs) == 0:
		return rankNothing
	case a.own.Outcome == quorum.Empty, isByConclusion(a.Reviewer) && a.own.Reason == quorum.ReasonOtherPull:
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
	a, all := &v.attempt, v.textStatements()
	if v.Verdict.Kind == quorum.Conclusion {
		got := v.ownResult()
		if _, objection, _ := v.decidingStatements(all); objection != nil && got.Outcome != quorum.Findings {
			got = v.objectionResult(objection) // its comments on the diff object
		}
		return v.applyRecord(got, append(v.signalStatements(), all...))
	}
	for _, list := range [][]statement{v.checkStatements(), v.statusStatements()} {
		if s, found := newestStatement(list); found && s.Outcome != quorum.Unrelated && !a.wasBefore(&s) {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b statement) int { return a.at.Compare(b.at) })
	return v.applyRecord(v.combineTexts(all), all)
}

func (v *attemptView) ownResult() statement {
	switch {
	case v.Verdict.Kind != quorum.Conclusion:
		return v.combineTexts(v.textStatements())
	case v.Check == "" && v.Status == "":
		return v.conclusionOfRun()
	}
	return v.conclusionOfSignals()
}

func (v *attemptView) combineTexts(statements []statement) statement {
	approval, objection, other := v.decidingStatements(statements)
	switch {
	case objection != nil:
		got := v.objectionResult(objection)
		got.Doubt = got.Doubt && v.attempt.isUnderWay() // once that has ended, it objects
		return got
	case approval != nil && v.attempt.hasBegun():
		return v.approvalResult(approval)
	}
	got := v.outcomeOfRun()
	hasRun := v.attempt.run != nil
	isExplained := hasRun && got.Outcome != quorum.Empty && got.Outcome != quorum.Unknown // by its log or its conclusion
	switch {
	case v.attempt.isUnderWay(): // whatever else it has said: it may yet say more
		return got
	case other == nil, hasRun && other.Outcome == quorum.Running, isExplained && !saysWhy(other.Outcome):
		return v.resultWithoutVerdict(got, statements)
	}
	got = *other
	got.Findings = nil
	return got
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
		case s.Outcome == quorum.Findings && v.haveEnded(s):
			if approval == nil || approval.Outcome == quorum.Findings { // an approval in words answers more
				approval = s
			}
		case s.Outcome == quorum.Findings && s.isReview():
			inReview = newerObjection(inReview, s)
		case s.Outcome == quorum.Findings:
			elsewhere = newerObjection(elsewhere, s)
		case s.Outcome == quorum.Approved:
			approval = s
			if !v.isShared() && s.isReview() || v.isOfAttemptsBefore(inReview, s) {
				inReview = nil
			}
			if v.isOfAttemptsBefore(elsewhere, s) {
				elsewhere = nil
			}
		default:
			isAtWork := s.Outcome == quorum.Running && v.attempt.ended.IsZero()
			if other == nil || !saysWhy(other.Outcome) || saysWhy(s.Outcome) || isAtWork {
				other = s // else only the older one says why there is no verdict
			}
		}
	}
	return approval, newerObjection(elsewhere, inReview), other
}

// isOfAttemptsBefore reports whether an account of its own was asked again between an objection, if any, and an approval.
func (v *attemptView) isOfAttemptsBefore(objection, approval *statement) bool {
	isAskedAgain, began := !v.isShared() && v.attempt.wasAskedAgain(), v.attempt.began
	return objection != nil && isAskedAgain && objection.at.Before(began) && !approval.at.Before(began)
}

// newerObjection is the newer of two objections; a doubt only if there is nothing else.
func newerObjection(a, b *statement) *statement {
	if a == nil || b != nil && (a.Doubt && !b.Doubt || a.Doubt == b.Doubt && !a.at.After(b.at)) {
		return b
	}
	return a
}

func (v *reviewerView) objectionResult(s *statement) statement {
	got := *s
	got.Outcome, got.Reason = quorum.Findings, quorum.ReasonFindings
	got.begun = time.Time{} // of an objection it counts when it was said
	got.Findings = v.withFindings(slices.Clip(s.Findings), s.threads)
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
		got.Findings, got.Reason = v.withFindings(got.Findings, s.threads), quorum.ReasonAccepted
	}
	got.hasThreads = len(s.threads) > 0 // unresolving one would end the approval
	if open := v.openFindings(); len(open) > 0 && (v.OnlyNew || s.NoOpen) {
		got.Outcome, got.Reason, got.Detail, got.Findings, got.hasThreads = quorum.Findings, quorum.ReasonOpenThreads, "", open, true
		return got
	}
	if v.attempt.run != nil { // begun with its attempt; a text with the first that may have left it
		got.begun = v.attempt.began
	}
	for i := range v.attempts {
		if a := &v.attempts[i]; isWithdrawable(got.ref.Kind) && v.mayHaveLeft(a, got.at) {
			got.begun = earliest(got.begun, a.began)
		}
	}
	return got
}

// resultWithoutVerdict is what a run came to that no statement decides. Where it left nothing, a void one may explain why.
func (v *attemptView) resultWithoutVerdict(got statement, statements []statement) statement {
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
	if got.Outcome == quorum.Empty && slices.ContainsFunc(v.textsFor(), isOfAnyRun) {
		got.Reason = quorum.ReasonAmbiguous
	}
	return got
}

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

func (v *attemptView) conclusionOfRun() statement {
	run, got := v.attempt.run, v.outcomeOfRun()
	isNeutral, isFailure := got.Outcome == quorum.Empty, got.Outcome == quorum.Unknown && run.Conclusion == "failure"
	switch {
	case run == nil || !run.Completed():
	case run.Conclusion == "success":
		got = statementOf(quorum.Approved, quorum.ReasonApproved, v.attempt.ended)
		got.ref, got.url, got.begun = runRef(run), run.URL, v.attempt.began
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

func (v *attemptView) outcomeOfRun() statement {
	a, run := &v.attempt, v.attempt.run
	if run == nil {
		return statementOf(quorum.Silent, quorum.ReasonSilent, a.began)
	}
	got := statementOf(quorum.Unknown, quorum.ReasonUnknown, a.ended)
	got.url = run.URL
	// Source: "About Actions policies", GitHub's changelog of 2026-09-17. A job may show a little late.
	seen := v.head.snapshot.Began
	mayBeLate := !seen.IsZero() && seen.Before(a.ended.Add(quorum.ReplicaLag))
	log, isExplained := readLogs(run)
	isCancelled := run.Conclusion == "cancelled"
	switch {
	case run.Status == "waiting", run.Completed() && run.Conclusion == "action_required":
		got.Outcome, got.Reason, got.at = quorum.AwaitingApproval, quorum.ReasonApproval, a.began
	case !run.Completed():
		got.Outcome, got.Reason, got.at = quorum.Running, quorum.ReasonRunning, a.firstJobBegan
	case run.Conclusion == "skipped":
		got.Outcome, got.Reason = quorum.Declined, quorum.ReasonSkipped
	case run.Conclusion == "timed_out":
		got.Outcome, got.Reason = quorum.Hung, quorum.ReasonHung
	case run.Conclusion == "failure" && len(run.Jobs) == 0 && !mayBeLate: // a policy of the repository forbids it
		got.Outcome, got.Reason, got.Detail = quorum.Declined, quorum.ReasonForbidden, run.Event
	case isExplained && (!isCancelled || log.Outcome == quorum.Hung): // a job's own timeout-minutes cancel it, too
		got.Reading = log
	case isCancelled:
		got.Outcome, got.Reason = quorum.Cancelled, quorum.ReasonCancelled
	case run.Conclusion == "success", run.Conclusion == "neutral":
		got.Outcome, got.Reason = quorum.Empty, quorum.ReasonEmpty
	}
	return got
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
