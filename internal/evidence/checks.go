package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// checkStatements are the reviewer's check runs on this head and base, by name and App. A job is as good as its run: of
// another branch it is nothing, and it approves once a list shows that run.
func (v *reviewerView) checkStatements() (out []statement) {
	of := signalsOf(v.Reviewer)
	for i := range v.head.snapshot.Checks {
		c := &v.head.snapshot.Checks[i]
		at := latest(c.Started, c.Completed)
		if of.Check == "" || c.Name != of.Check || !strings.EqualFold(c.App, of.App) || v.head.cycle.isBeforeBase(at) {
			continue
		}
		s, began, run := v.newCheckStatement(c, at), c.Started, v.head.runOfCheck(c)
		if c.Job && run != nil {
			began = run.Created
		}
		isElsewhere := c.Job && (run != nil && v.head.isOtherBranchRun(run) || run == nil && s.Outcome == quorum.Approved)
		if !isElsewhere && v.isSaid(&s, v.Check != "", began) {
			s.voidIfOtherPull(v.head.otherPullOfCheck(c))
			out = append(out, s)
		}
	}
	return out
}

func (v *reviewerView) signalStatements() []statement {
	return slices.Concat(v.checkStatements(), v.statusStatements())
}

// isSaid reports whether a check or a status says something here: a verdict, that the review is under way, why there is
// none, or, in words of its vendor's own or of the policy's for it, what it is. Whatever else a signal says is left to
// the texts. A yes says it only of the base that it looked at.
func (v *reviewerView) isSaid(s *statement, isVerdict bool, began time.Time) bool {
	isSaid := isVerdict || s.Outcome == quorum.Running || saysWhy(s.Outcome) || s.isVerdict() && s.IsByShape(v.Preset)
	isOfOldBase := s.Outcome == quorum.Approved && !began.IsZero() && v.head.cycle.isBeforeBase(began)
	return isSaid && !isOfOldBase
}

// newCheckStatement reads a check run of the reviewer's. If it counts the comments that stand in its reviews, and all
// lie below its min_severity, it is read with their number.
func (v *reviewerView) newCheckStatement(c *quorum.CheckRun, at time.Time) statement {
	m := review.Material{
		Kind: review.Check, Body: strings.Join([]string{c.Title, c.Summary, c.Text}, "\n\n"),
		State: cmp.Or(c.Status, "queued"), Conclusion: c.Conclusion, Head: v.head.snapshot.PR.Head,
	}
	reader, ref := v.texts.readerOf(v.Reviewer), quorum.TextRef{Kind: quorum.TextCheck, ID: c.ID}
	s := statement{Reading: reader.Read(m), at: at, begun: c.Started, ref: ref, url: c.URL, body: c.Summary}
	if s.Inline {
		s.threads = v.head.openedThreads(v.Reviewer, 0)
		if objecting, minor := v.countObjecting(s.threads); objecting == 0 && minor > 0 {
			m.Minor = minor
			s.Reading = reader.Read(m)
		}
	}
	return s
}

// statusStatements are the reviewer's commit statuses on this head and base, by context and creator.
func (v *reviewerView) statusStatements() (out []statement) {
	context := signalsOf(v.Reviewer).Status
	for i := range v.head.snapshot.Statuses {
		st := &v.head.snapshot.Statuses[i]
		isIts := context != "" && strings.EqualFold(st.Context, context) && v.IsAuthor(st.Creator)
		if !isIts || v.head.cycle.isBeforeBase(st.At) {
			continue
		}
		m := review.Material{Kind: review.Status, Body: st.Description, State: st.State}
		s := statement{Reading: v.texts.readerOf(v.Reviewer).Read(m), at: st.At, url: st.URL, body: st.Description}
		s.ref = quorum.TextRef{Kind: quorum.TextStatus, ID: st.ID}
		if began := v.head.scanBegan(st); v.isSaid(&s, v.Status != "", began) {
			s.voidIfOtherPull(v.head.otherPullOfCommit(began))
			out = append(out, s)
		}
	}
	return out
}

// scanBegan is when its creator began what a status ends: when it set the status to pending before, or now.
func (h *headView) scanBegan(end *quorum.Status) (began time.Time) {
	began = end.At
	for _, st := range h.snapshot.Statuses { // the newest first
		switch {
		case st.ID >= end.ID || !strings.EqualFold(st.Context, end.Context) || !st.Creator.Same(end.Creator):
		case st.State != "pending":
			return began
		default:
			began = st.At
		}
	}
	return began
}

// unansweredStatement is the newest of checks or statuses that objects and that none answers: a check that approves
// answers what was said before it began, a status those before it.
func unansweredStatement(all []statement) (objection statement, found bool) {
	for _, s := range all {
		isAnswer := func(o statement) bool {
			isLater := !o.begun.IsZero() && s.at.Before(o.begun) || o.begun.IsZero() && o.ref.ID > s.ref.ID
			return isLater && o.rejected == "" && o.Outcome == quorum.Approved
		}
		isOpen := s.rejected == "" && s.Outcome == quorum.Findings && !slices.ContainsFunc(all, isAnswer)
		if isOpen && (!found || s.at.After(objection.at) || s.at.Equal(objection.at) && s.ref.ID > objection.ref.ID) {
			objection, found = s, true
		}
	}
	return objection, found
}

// newestStatement is the newest of checks or statuses, of those that cannot be about another pull request if there are any.
func newestStatement(all []statement) (best statement, found bool) {
	for _, s := range all {
		if !found || best.isVoid() && !s.isVoid() || best.isVoid() == s.isVoid() && s.ref.ID >= best.ref.ID {
			best, found = s, true
		}
	}
	return best, found
}
