package evidence

import (
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// openedThreads are the threads that a review of r's opened; of review 0 all that r opened on this head.
func (h *headView) openedThreads(r *quorum.Reviewer, review int64) (out []quorum.Thread) {
	for _, t := range h.snapshot.Threads {
		if t.Author.Is(r.Author) && (t.Review == review || review == 0 && t.Commit == h.snapshot.PR.Head) {
			out = append(out, t)
		}
	}
	return out
}

// hasEnded reports whether a thread of r's has ended: somebody who may has resolved it, or a later head has made it
// outdated for a reviewer that reports only what is new. On the head that it objects to a bot resolves nothing, not even
// its own: nothing has changed there.
func (h *headView) hasEnded(r *quorum.Reviewer, t *quorum.Thread) bool {
	isOfHead := t.Commit == h.snapshot.PR.Head
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

// openFindings are the threads of r's that have not ended, of whichever head.
func (h *headView) openFindings(r *quorum.Reviewer) (open []quorum.Finding) {
	for i := range h.snapshot.Threads {
		if t := &h.snapshot.Threads[i]; t.Author.Is(r.Author) && !h.hasEnded(r, t) {
			open = append(open, threadFinding(t))
		}
	}
	return open
}

func threadFinding(t *quorum.Thread) quorum.Finding {
	return quorum.Finding{Path: t.Path, Line: t.Line, Body: t.Body, Thread: t.ID, URL: t.URL}
}

// dismissalOf is who dismissed a review, and the state that it had.
func (h *headView) dismissalOf(review int64) (by quorum.Account, was string) {
	for i := len(h.snapshot.Timeline) - 1; i >= 0; i-- {
		e := &h.snapshot.Timeline[i]
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
