package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// isRequest reports whether a comment consists of the words by which r is asked, and nothing else.
func isRequest(t *quorum.Text, r *quorum.Reviewer) bool {
	return strings.TrimSpace(t.Body) == strings.TrimSpace(r.Request.Comment)
}

// isReviewRequest reports whether an event asks r for a review. GitHub shows Copilot by another name there.
func isReviewRequest(e *quorum.Event, r *quorum.Reviewer) bool {
	return e.Kind == quorum.ReviewRequested &&
		(e.Target.Is(r.Request.Login) || e.Target.Login == "Copilot" && strings.HasPrefix(r.Request.Login, "copilot-"))
}

// isOurs reports whether we wrote t: our own comments are never evidence. A job writes as github-actions[bot], as
// reviewers' workflows do, so there only what we would ask for tells them apart.
func (h *headView) isOurs(t *quorum.Text) bool {
	if t.Kind != quorum.TextComment || !t.Author.Same(h.snapshot.Ours) {
		return false
	}
	if !t.Author.Is(quorum.ActionsBot) {
		return true
	}
	return slices.ContainsFunc(h.policy.Reviewers, func(r quorum.Reviewer) bool {
		return r.Request.Comment != "" && isRequest(t, &r)
	})
}

// personRequest is when a person first asked the reviewer on this head and base; zero if none did. Later requests
// restart no clock: anybody may write them, and a wait must end.
func (v *reviewerView) personRequest() (at time.Time) {
	start, s := v.head.cycle.start, v.head.snapshot
	if at := v.head.record.personRequest(v.Name, start); !at.IsZero() {
		return at
	}
	isPerson := func(a quorum.Account) bool { return !a.Bot && !a.Same(s.Ours) }
	keepFirst := func(t time.Time) {
		if t.After(start) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if v.Request.Comment != "" {
		for i := range s.Comments {
			if t := &s.Comments[i]; isPerson(t.Author) && isRequest(t, v.Reviewer) {
				keepFirst(t.At)
			}
		}
	}
	if v.Request.Login != "" {
		for i := range s.Timeline {
			if e := &s.Timeline[i]; isReviewRequest(e, v.Reviewer) && isPerson(e.Actor) {
				keepFirst(e.At)
			}
		}
	}
	return at
}
