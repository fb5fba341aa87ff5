package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// applyRecord corrects a result by the record: an objection does not end because its text is gone, and an approval that
// was withdrawn is not asked for again.
func (v *attemptView) applyRecord(got attemptResult, statements []statement) attemptResult {
	if got.outcome == quorum.Findings {
		return got
	}
	if s, found := v.earlierObjection(got); found {
		earlier := objectionResult(&s)
		earlier.reason = quorum.ReasonStands
		return earlier
	}
	for _, o := range v.head.record.objectionsOf(v.Name) {
		if !v.head.cycle.isBeforeBase(o.At) && v.objectionStillStands(got, o, statements) {
			return attemptResult{
				outcome: quorum.Findings, reason: quorum.ReasonStands, at: o.At, ref: o.TextRef, url: o.URL,
				findings: []quorum.Finding{{Body: o.Excerpt, URL: o.URL}},
			}
		}
	}
	if got.outcome == quorum.Approved {
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
		if st.At.Before(since) || st.Kind == quorum.TextCheck || st.Kind == quorum.TextStatus || st.Kind == quorum.TextRun {
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

// earlierObjection is the objection of an earlier attempt or run on this head, which stands if the newest ended without
// a verdict, whether or not a look recorded it in between.
func (v *attemptView) earlierObjection(got attemptResult) (objection statement, found bool) {
	a := &v.attempt
	if v.Verdict.Kind == quorum.Conclusion || a.run == nil || a.ended.IsZero() || got.outcome == quorum.Approved {
		return statement{}, false
	}
	for _, earlier := range v.earlierAttempts() {
		for _, s := range v.textStatements(&earlier) {
			if s.isVerdict() && s.at.Before(a.began) {
				objection, found = s, s.Outcome == quorum.Findings && !v.hasEndedByThreads(&s)
			}
		}
	}
	return objection, found
}

// earlierAttempts are the attempts on this head that ended before this one, oldest run first.
func (v *attemptView) earlierAttempts() (out []reviewAttempt) {
	a := &v.attempt
	for i := range v.runs.counted {
		run := &v.runs.counted[i]
		switch {
		case run.ID == a.run.ID && a.number > 1:
			out = append(out, reviewAttempt{run: a.run, number: a.number - 1, began: run.Created, ended: a.began})
		case run.ID != a.run.ID && run.Completed() && run.Number < a.run.Number:
			out = append(out, reviewAttempt{run: run, number: run.Attempt, began: run.Created, ended: v.head.record.endOf(run)})
		}
	}
	return out
}

// objectionStillStands reports whether a recorded objection still objects, beside a result that does not.
func (v *attemptView) objectionStillStands(got attemptResult, o quorum.Objection, statements []statement) bool {
	switch {
	case o.Kind == quorum.TextThread: // it was open when it was recorded: deleting it does not close it
		return !slices.ContainsFunc(v.head.snapshot.Threads, func(t quorum.Thread) bool { return t.ID == o.ID })
	case o.Kind == quorum.TextRun: // never recorded: the run is read again
		return false
	case v.isOlder(o): // stands until the newest attempt approves, and not while that runs
		return got.outcome != quorum.Approved && got.outcome != quorum.Running && !v.attempt.isUnderWay()
	case o.Kind == quorum.TextCheck || o.Kind == quorum.TextStatus: // only its App can change it, but others can delete its threads
		return slices.ContainsFunc(statements, func(s statement) bool {
			return s.ref == o.TextRef && s.Outcome == quorum.Findings && len(s.threads) < o.Threads
		})
	}
	for i := range statements {
		if statements[i].ref == o.TextRef {
			return v.stillObjects(&statements[i], o)
		}
	}
	// Its text is gone. A later review of the same reviewer replaces an earlier one; nothing else does.
	return !(o.Kind == quorum.TextReview && got.outcome == quorum.Approved && got.ref.Kind == quorum.TextReview && got.at.After(o.At))
}

// stillObjects reports whether a recorded objection stands although its text now says something else.
func (v *attemptView) stillObjects(s *statement, o quorum.Objection) bool {
	switch {
	case s.void && s.voidReason == quorum.ReasonDismissed:
		return s.voidDetail == "" || strings.EqualFold(s.voidDetail, v.head.snapshot.PR.Author.Login)
	case s.void:
		return true
	case v.Author == quorum.ActionsBot && s.at.After(o.At): // any workflow may have edited it after its attempt
		return true
	}
	return len(s.threads) < o.Threads
}

// isOlder reports whether an objection is from an earlier attempt of this run, or from an earlier run that GitHub still
// shows.
func (v *attemptView) isOlder(o quorum.Objection) bool {
	a := &v.attempt
	if a.run == nil || o.Run == a.run.ID {
		return o.Attempt < a.number
	}
	return slices.ContainsFunc(v.head.snapshot.Runs, func(run quorum.Run) bool {
		return run.ID == o.Run && run.Path == a.run.Path && run.Number < a.run.Number
	})
}
