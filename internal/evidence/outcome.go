package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// judgeAttempt is what the attempt came to. The order of judgement: texts (identity and binding came first), then what was
// remembered of them, then the run's log and annotations, then its conclusion.
func (v *attemptView) judgeAttempt() attemptResult {
	if v.Verdict.Kind == quorum.Conclusion {
		got, seen := v.resultByConclusion()
		if !seen {
			return v.outcomeOfRun()
		}
		return v.applyRecord(got, nil)
	}
	statements := v.allStatements()
	return v.applyRecord(v.combineTexts(statements), statements)
}

// allStatements are all that the reviewer said in texts, checks and statuses, oldest first.
func (v *attemptView) allStatements() []statement {
	a := &v.attempt
	all := v.textStatements(a)
	for _, list := range [][]statement{v.checkStatements(), v.statusStatements()} {
		if s, found := newestStatement(list); found {
			all = append(all, s)
		}
	}
	if a.run == nil && (a.number > 1 || a.byPerson) { // what was no verdict belongs to the attempt before
		all = slices.DeleteFunc(all, func(s statement) bool { return !s.isVerdict() && !s.void && s.at.Before(a.began) })
	}
	slices.SortStableFunc(all, func(a, b statement) int { return a.at.Compare(b.at) })
	return slices.DeleteFunc(all, func(s statement) bool { return s.Outcome == quorum.Unrelated })
}

// combineTexts is what the statements of an attempt say together.
func (v *attemptView) combineTexts(statements []statement) attemptResult {
	approval, objection, other := v.decidingStatements(statements)
	switch {
	case objection != nil:
		return objectionResult(objection)
	case approval != nil:
		return v.approvalResult(approval)
	case other != nil && (other.Outcome != quorum.Running || v.attempt.ended.IsZero()):
		return v.noVerdict(other)
	}
	return v.nothingSaid(statements)
}

// decidingStatements are the statements that speak for an approval, for an objection, and for neither.
func (v *attemptView) decidingStatements(statements []statement) (approval, objection, other *statement) {
	for i := range statements {
		s := &statements[i]
		if s.void {
			continue
		}
		switch s.Outcome {
		case quorum.Findings:
			if v.hasEndedByThreads(s) {
				approval = s
				continue
			}
			objection = s
		case quorum.Approved:
			approval = s
			if s.isReview && objection != nil && objection.isReview && v.Author != Actions { // of several reviews the newest that holds a verdict counts
				objection = nil
			}
		default:
			if other == nil || !saysWhy(other.Outcome) || saysWhy(s.Outcome) {
				other = s
			}
		}
	}
	return approval, objection, other
}

// saysWhy reports whether an outcome without a verdict says why there is none.
func saysWhy(o quorum.Outcome) bool {
	switch o {
	case quorum.Limited, quorum.Failed, quorum.Declined, quorum.Overloaded:
		return true
	}
	return false
}

// approvalResult is an approval; of a reviewer that reports only what is new it counts only if none of its threads is open.
func (v *attemptView) approvalResult(s *statement) attemptResult {
	got := attemptResult{outcome: quorum.Approved, reason: quorum.ReasonApproved, at: s.at, ref: s.ref, url: s.url, findings: s.Findings}
	if s.Below {
		got.reason = quorum.ReasonAccepted
	}
	if s.Outcome == quorum.Findings {
		got.findings, got.reason, got.detail = nil, quorum.ReasonResolved, strings.Join(threadResolvers(s.threads), ", ")
	}
	got.hasThreads = len(s.threads) > 0 // they may be opened again
	if !v.OnlyNew && !s.NoOpen {
		return got
	}
	if open := v.head.openFindings(v.Reviewer); len(open) > 0 {
		got.outcome, got.reason, got.detail, got.findings, got.hasThreads = quorum.Findings, quorum.ReasonOpenThreads, "", open, true
	}
	return got
}

// threadResolvers are those who resolved threads, each once.
func threadResolvers(threads []quorum.Thread) (logins []string) {
	for _, t := range threads {
		if t.Resolved && !slices.Contains(logins, t.ResolvedBy.Login) {
			logins = append(logins, t.ResolvedBy.Login)
		}
	}
	return logins
}

// noVerdict is the result of an answer that holds no verdict.
func (v *attemptView) noVerdict(s *statement) attemptResult {
	got := resultOf(s)
	got.limitReset = resetOf(&s.Reading, s.at)
	if s.Outcome == quorum.Malformed {
		got.excerpt = excerptOf(s.body)
	}
	if saysWhy(s.Outcome) || v.attempt.ended.IsZero() {
		return got
	}
	if run := v.outcomeOfRun(); run.outcome != quorum.Empty && run.outcome != quorum.Unknown { // the log or the conclusion knows more
		return run
	}
	return got
}

// nothingSaid is the result of an attempt of which no statement counts. A void one may say why.
func (v *attemptView) nothingSaid(statements []statement) attemptResult {
	got := v.outcomeOfRun()
	switch {
	case got.outcome == quorum.Empty && v.lostToOtherRun():
		got.reason = quorum.ReasonAmbiguous
	case got.outcome == quorum.Silent && slices.ContainsFunc(statements, func(s statement) bool { return s.voidReason == quorum.ReasonUnnamed }):
		got.reason = quorum.ReasonUnnamed
	}
	if got.outcome != quorum.Silent && got.outcome != quorum.Empty {
		return got
	}
	for i := range statements {
		if statements[i].voidReason == quorum.ReasonOtherPull {
			return declinedResult(&statements[i])
		}
	}
	return got
}

// lostToOtherRun reports whether the attempt's run left a text that may as well be about another run's head.
func (v *attemptView) lostToOtherRun() bool {
	a := &v.attempt
	if a.run == nil || v.Heading == "" {
		return false
	}
	return slices.ContainsFunc(v.head.snapshot.Comments, func(t quorum.Text) bool {
		at := latest(t.At, t.Edited)
		return t.Author.Is(v.Author) && v.hasHeading(&t) && a.covers(at) && v.runs.otherUnderWay(a.run, at)
	})
}

// resultByConclusion is the result of a reviewer whose verdict is a conclusion.
func (v *attemptView) resultByConclusion() (got attemptResult, seen bool) {
	var s statement
	switch run := v.attempt.run; {
	case v.Check != "":
		s, seen = newestStatement(v.checkStatements())
	case v.Status != "":
		s, seen = newestStatement(v.statusStatements())
	case run == nil || !run.Completed():
		return attemptResult{}, false
	case run.Conclusion != "success":
		return v.failedConclusion(), true
	default:
		s = statement{Reading: review.Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved}, at: v.attempt.ended, ref: runRef(run), url: run.URL}
		s.voidIfOtherPull(v.head.otherPullOfRun(run))
		seen = true
	}
	if s.void {
		return declinedResult(&s), seen
	}
	got = resultOf(&s)
	got.findings = s.Findings
	return got, seen
}

// failedConclusion is the result of a run that did not succeed, where its conclusion is the verdict.
func (v *attemptView) failedConclusion() attemptResult {
	got := v.outcomeOfRun()
	if got.outcome == quorum.Empty { // neutral
		got.outcome, got.reason = quorum.Declined, quorum.ReasonSkipped
	}
	if got.outcome == quorum.Unknown && v.attempt.run.Conclusion == "failure" {
		if v.attempt.number > 1 {
			got.reason = quorum.ReasonFailedTwice
		}
		if v.FailureMeans == quorum.MeansFindings {
			got.outcome, got.reason, got.ref = quorum.Findings, quorum.ReasonFindings, runRef(v.attempt.run)
		}
	}
	return got
}
