package evidence

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A threadView is what one reviewer's threads on the diff say, of whichever head.
type threadView struct {
	*quorum.Reviewer
	head  *headView
	texts *textReader
}

// openedThreads are the threads that a review of r's opened; of review 0 all that r opened on this head.
func (h *headView) openedThreads(r *quorum.Reviewer, review int64) []quorum.Thread {
	return without(h.snapshot.Threads, func(t quorum.Thread) bool {
		return !r.IsAuthor(t.Author) || t.Review != review && (review != 0 || t.Commit != h.snapshot.PR.Head)
	})
}

// threadOf is the thread of that id; nil if GitHub shows it no more.
func (v threadView) threadOf(id int64) *quorum.Thread {
	return firstOf(v.head.snapshot.Threads, func(t *quorum.Thread) bool { return t.ID == id })
}

// hasEnded reports whether a thread of r's has ended: somebody who may has resolved it, or a later head has made it
// outdated for a reviewer that reports only what is new. On the head that it objects to a bot resolves nothing, not
// even its own: nothing has changed there.
func (h *headView) hasEnded(r *quorum.Reviewer, t *quorum.Thread) bool {
	isOfHead := t.Commit == h.snapshot.PR.Head || h.isAlike(t.Commit)
	switch {
	case t.Outdated && !isOfHead && r.OnlyNew:
		return true
	case !t.Resolved:
		return false
	case t.ResolvedBy.Bot:
		return !isOfHead
	}
	return h.policy.Threads == quorum.ByAnyone || h.hadNoHand(t.ResolvedBy)
}

// openFindings are the threads of the reviewer's that object and have not ended, of whichever head.
func (v threadView) openFindings() (open []quorum.Finding) {
	for i := range v.head.snapshot.Threads {
		if t := &v.head.snapshot.Threads[i]; v.IsAuthor(t.Author) && !v.head.hasEnded(v.Reviewer, t) && !v.isMinor(t) {
			open = append(open, v.findingOf(t))
		}
	}
	return open
}

// severityOf is how grave the reviewer says its thread is; 0 if it does not say, or if somebody else edited that.
func (v threadView) severityOf(t *quorum.Thread) quorum.Severity {
	if t.Edited && !v.IsAuthor(t.Editor) {
		return 0
	}
	return v.texts.severityOf(v.Reviewer, t)
}

// isMinor reports whether a thread lies below the reviewer's min_severity: it is shown and does not object.
func (v threadView) isMinor(t *quorum.Thread) bool {
	severity := v.severityOf(t)
	return severity > 0 && severity < v.MinSeverity // of [quorum.SeverityAny] none is
}

// countObjecting counts the threads that object, and those that do not.
func (v threadView) countObjecting(threads []quorum.Thread) (objecting, minor int) {
	for i := range threads {
		if v.isMinor(&threads[i]) {
			minor++
		}
	}
	return len(threads) - minor, minor
}

func (v threadView) findingOf(t *quorum.Thread) quorum.Finding {
	return quorum.Finding{
		Path: t.Path, Line: t.Line, Body: t.Body, Thread: t.ID, URL: t.URL, Severity: v.severityOf(t), Below: v.isMinor(t),
	}
}

// withFindings returns findings and those that threads are.
func (v threadView) withFindings(findings []quorum.Finding, threads []quorum.Thread) []quorum.Finding {
	for i := range threads {
		findings = append(slices.Clip(findings), v.findingOf(&threads[i]))
	}
	return findings
}

// dismissalOf is who dismissed a review, and the state that it had.
func (h *headView) dismissalOf(review int64) (by quorum.Account, was string) {
	for _, e := range slices.Backward(h.snapshot.Timeline) {
		if e.Kind != quorum.ReviewDismissed || e.Review != review {
			continue
		}
		if e.From != "" && e.From != "DISMISSED" {
			return e.Actor, e.From
		}
		by = e.Actor
	}
	return by, "DISMISSED"
}

// isDismissed reports whether a person who had no hand in the change dismissed a review: that ends what it objected.
func (h *headView) isDismissed(t *quorum.Text) bool {
	by, _ := h.dismissalOf(t.ID)
	return t.State == "DISMISSED" && h.hadNoHand(by)
}

// isOfDiff reports whether a review is of this head or of an earlier one with the same diff.
func (v threadView) isOfDiff(t *quorum.Text) bool {
	return t.Commit == v.head.snapshot.PR.Head || v.head.isAlike(t.Commit) || v.head.record.isCarried(v.Name, t.TextRef)
}

// endsByThreads reports whether s objects by inline comments alone: resolving them is what may end it.
func (s *statement) endsByThreads() bool {
	return len(s.threads) > 0 && s.Inline && s.reviewState != "CHANGES_REQUESTED"
}

// haveEnded reports whether an objection by inline comments has ended: every thread of it that objects has, and
// none was deleted or edited by somebody else. An objection in words or by CHANGES_REQUESTED does not end that way.
func (v threadView) haveEnded(s *statement) bool {
	isOne := func(o quorum.Objection) bool { return o.TextRef == s.ref && len(s.threads) < o.Threads }
	if !s.endsByThreads() || slices.ContainsFunc(v.head.snapshot.Record.Objections, isOne) {
		return false
	}
	objecting, _ := v.countObjecting(s.threads)
	return !slices.ContainsFunc(s.threads, func(t quorum.Thread) bool {
		isOpen := !v.head.hasEnded(v.Reviewer, &t) || t.Edited && !v.IsAuthor(t.Editor)
		return isOpen && !(objecting > 0 && v.isMinor(&t))
	})
}
