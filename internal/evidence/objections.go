package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// applyRecord applies the record to a result: an objection does not end because its text is gone, and an approval that
// stood and stands no more is not bought anew.
func (v *attemptView) applyRecord(got attemptResult, statements []statement) attemptResult {
	if got.outcome == quorum.Findings {
		return got
	}
	if s, found := v.earlierObjection(got); found {
		earlier := objectionResult(&s)
		earlier.reason = quorum.ReasonStands
		return earlier
	}
	for _, o := range v.head.record.record.Objections {
		if o.Reviewer == v.Name && o.Base == v.head.record.base && !v.head.cycle.isBeforeBase(o.At) && v.objectionStillStands(got, o, statements) {
			return attemptResult{outcome: quorum.Findings, reason: quorum.ReasonStands, at: o.At, ref: o.TextRef, url: o.URL, findings: []quorum.Finding{{Body: o.Excerpt, URL: o.URL}}}
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

// withdrawnApproval is an approval that stood and stands no more, if its author has not begun anew in the same place.
func (v *attemptView) withdrawnApproval(statements []statement) (attemptResult, bool) {
	since := v.head.cycle.baseChanged // of a reviewer without a run, whose first attempt begins anew with a reopening
	if v.attempt.run != nil {
		since = latest(since, v.attempt.began)
	}
	for _, st := range v.head.record.record.Stood {
		if st.Reviewer != v.Name || st.At.Before(since) || st.Kind == quorum.TextCheck || st.Kind == quorum.TextStatus || st.Kind == quorum.TextRun {
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

// earlierObjection is an objection of an earlier attempt or run of this head, which stands if the newest ended without a
// verdict. It need not have been seen by a look in between.
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

// earlierAttempts are those that ended before this one began, oldest run first.
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

// objectionStillStands reports whether a remembered objection still objects.
func (v *attemptView) objectionStillStands(got attemptResult, o quorum.Objection, statements []statement) bool {
	switch {
	case o.Kind == quorum.TextThread: // open when it was remembered: deleting it does not close it
		return !slices.ContainsFunc(v.head.snapshot.Threads, func(t quorum.Thread) bool { return t.ID == o.ID })
	case o.Kind == quorum.TextRun: // a run is read anew
		return false
	case v.isOlder(o): // the newest attempt speaks, once it has said something
		return got.outcome != quorum.Approved && got.outcome != quorum.Running && !v.attempt.isUnderWay()
	case o.Kind == quorum.TextCheck || o.Kind == quorum.TextStatus: // its App alone writes it; its threads are others' to delete
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

// stillObjects reports whether a remembered objection stands of which the text is there and says something else now.
func (v *attemptView) stillObjects(s *statement, o quorum.Objection) bool {
	switch {
	case s.void && s.voidReason == quorum.ReasonDismissed:
		return s.voidDetail == "" || strings.EqualFold(s.voidDetail, v.head.snapshot.PR.Author.Login)
	case s.void:
		return true
	case v.Author == Actions && s.at.After(o.At): // any workflow may have edited it since its attempt ended
		return true
	}
	return len(s.threads) < o.Threads
}

// isOlder reports whether an objection is of an attempt before this one: an earlier one of its run, or one of an earlier
// run that is still there to be compared.
func (v *attemptView) isOlder(o quorum.Objection) bool {
	a := &v.attempt
	if a.run == nil || o.Run == a.run.ID {
		return o.Attempt < a.number
	}
	return slices.ContainsFunc(v.head.snapshot.Runs, func(run quorum.Run) bool {
		return run.ID == o.Run && run.Path == a.run.Path && run.Number < a.run.Number
	})
}
