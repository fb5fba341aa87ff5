package evidence

// People who stand in for a reviewer, and those who request changes.

import (
	"slices"
	"sort"
	"strings"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// standIns finds the people with at least the policy's permission who approve this head, and those who request
// changes.
func (h *headView) standIns() (approving []quorum.StandIn, against []string) {
	least, s := h.policy.StandIn, h.snapshot
	for _, t := range h.lastReviews() {
		may, known := s.Permissions[strings.ToLower(t.Author.Login)]
		isOpen := !known && t.Member && t.State == "CHANGES_REQUESTED" // until a member's permission is known, the objection stands
		if may < least && !isOpen {
			continue
		}
		switch {
		case t.State == "CHANGES_REQUESTED", t.State == "DISMISSED":
			against = append(against, t.Author.Login)
		case t.Commit != s.PR.Head || h.isMovedReview(&t) || h.cycle.isBeforeBase(t.At) || !t.Edited.IsZero() && !t.Editor.Same(t.Author):
		case !change.AreHandsKnown(s) || change.HadHand(s, t.Author):
		case isReviewer(h.policy, t.Author): // one identity fills one place
		default:
			approving = append(approving, quorum.StandIn{Login: t.Author.Login, Review: t.ID, At: t.At, URL: t.URL})
		}
	}
	sort.SliceStable(approving, func(i, j int) bool { return approving[i].At.Before(approving[j].At) })
	slices.Sort(against)
	return approving, against
}

// isReviewer reports whether a is the account of a reviewer, with a vote here or without.
func isReviewer(p *quorum.Policy, a quorum.Account) bool {
	return slices.ContainsFunc(p.Reviewers, func(r quorum.Reviewer) bool { return r.IsAuthor(a) })
}

// lastReviews are the newest deciding reviews of each person that could count for or against: approvals of the head,
// and requests for changes of any head, which GitHub keeps up across pushes, and which only a person who had no hand
// in the change ends by dismissing them.
func (h *headView) lastReviews() (out []quorum.Text) {
	s := h.snapshot
	seen := map[string]bool{}
	if h.policy.StandIn == 0 {
		return nil
	}
	for _, t := range slices.Backward(s.Reviews) {
		login := strings.ToLower(t.Author.Login)
		if t.Author.Bot || login == "" || seen[login] {
			continue
		}
		switch t.State {
		case "APPROVED", "CHANGES_REQUESTED", "DISMISSED":
			seen[login] = true
		}
		if t.State == "CHANGES_REQUESTED" || t.State == "APPROVED" && t.Commit == s.PR.Head || h.isDismissedInVain(&t) {
			out = append(out, t)
		}
	}
	return out
}

// isDismissedInVain reports whether a review is a request for changes that was dismissed by one who may not.
func (h *headView) isDismissedInVain(t *quorum.Text) bool {
	if t.State != "DISMISSED" {
		return false
	}
	by, was := h.dismissalOf(t.ID)
	return was == "CHANGES_REQUESTED" && !by.Same(t.Author) && !h.hadNoHand(by)
}

// hadNoHand reports whether a is a person who had no hand in the change.
func (h *headView) hadNoHand(a quorum.Account) bool { return change.HadNoHand(h.snapshot, a) }
