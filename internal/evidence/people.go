package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Facts returns the input of [quorum.Decide] that is not a ballot.
func Facts(p quorum.Policy, s quorum.Snapshot) quorum.Facts {
	h := newHeadView(&p, &s)
	if h.hasNewCommands() {
		h = reviewerViews(&p, &s)[0].head
	}
	f := quorum.Facts{
		PR: s.PR.PR, Head: s.PR.Head, Base: s.PR.BaseRef, File: s.File, Draft: s.PR.Draft, Closed: s.PR.Closed, Start: h.cycle.start,
	}
	for _, o := range s.Siblings {
		f.Siblings = append(f.Siblings, o.Number)
	}
	slices.Sort(f.Siblings)
	f.StandIns, f.Against = h.standIns()
	f.Replies = h.replies()
	if pass := s.Record.Pass; pass != nil && s.Record.Head == s.PR.Head && !h.cycle.isBeforeBase(pass.At) {
		f.Pass = pass
	}
	return f
}

// standIns finds the people with at least the policy's permission who approve this head, and those who request
// changes.
func (h *headView) standIns() (approving []quorum.StandIn, against []string) {
	least, s := h.policy.StandIn, h.snapshot
	if least == 0 {
		return nil, nil
	}
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
		case !areHandsKnown(s) || hadHandIn(s, t.Author):
		default:
			approving = append(approving, quorum.StandIn{Login: t.Author.Login, Review: t.ID, At: t.At, URL: t.URL})
		}
	}
	slices.SortStableFunc(approving, func(a, b quorum.StandIn) int { return a.At.Compare(b.At) })
	slices.Sort(against)
	return approving, against
}

// lastReviews are the newest deciding reviews of each person that could count for or against: approvals of the head,
// and requests for changes of any head, which GitHub keeps up across pushes, and which only a person who had no hand
// in the change ends by dismissing them.
func (h *headView) lastReviews() (out []quorum.Text) {
	s := h.snapshot
	seen := map[string]bool{}
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

// hadNoHand reports whether a is a person who had no hand in the change: whose word may end an objection.
func (h *headView) hadNoHand(a quorum.Account) bool {
	return a.Login != "" && !a.Bot && areHandsKnown(h.snapshot) && !hadHandIn(h.snapshot, a)
}

// areHandsKnown reports whether everybody who had a hand in the change is known: an unknown one may be anybody. A
// commit whose author GitHub does not know is its pusher's.
func areHandsKnown(s *quorum.Snapshot) bool {
	if len(s.Commits) == 0 || len(s.Commits) < s.PR.Commits {
		return false
	}
	hasUnknown := slices.ContainsFunc(s.Commits, func(c quorum.Commit) bool { return len(c.People) == 0 })
	return isPushListed(s) || !hasUnknown && (isPushShownByRun(s) || isForcePushed(s))
}

// isPushOfChange reports whether a push belongs to the change: it came since the pull request was opened, or brought
// one of its commits. A long-lived branch has pushes of before, of what its base has by now.
func isPushOfChange(s *quorum.Snapshot, p *quorum.Push) bool {
	return !p.At.Before(s.PR.Created) || p.After == s.PR.Head ||
		slices.ContainsFunc(s.Commits, func(c quorum.Commit) bool { return c.SHA == p.After })
}

// isPushListed reports whether the branch's activity tells who pushed the head.
func isPushListed(s *quorum.Snapshot) bool {
	return slices.ContainsFunc(s.Pushes, func(p quorum.Push) bool { return p.After == s.PR.Head && p.Actor.Login != "" })
}

// isPushShownByRun reports whether a run's actor shows who pushed the head. That of a pull request's event does not:
// it may have set a label.
func isPushShownByRun(s *quorum.Snapshot) bool {
	return slices.ContainsFunc(s.Runs, func(r quorum.Run) bool { return r.Actor.Login != "" && r.Event == "push" })
}

func isForcePushed(s *quorum.Snapshot) bool {
	return slices.ContainsFunc(s.Timeline, func(e quorum.Event) bool {
		return e.Kind == quorum.ForcePushed && e.To == s.PR.Head && e.Actor.Login != ""
	})
}

// hadHandIn reports whether a had a hand in the change: opened it, made one of its commits, or pushed its head.
func hadHandIn(s *quorum.Snapshot, a quorum.Account) bool {
	if a.Same(s.PR.Author) {
		return true
	}
	for _, c := range s.Commits {
		if slices.ContainsFunc(c.People, a.Same) {
			return true
		}
	}
	runs := s.Others
	if !isPushListed(s) {
		runs = slices.Concat(s.Runs, s.Others)
	}
	for _, r := range runs { // its actor may have pushed the commit, or set a label; a review started it for no push
		if a.Same(r.Actor) && !strings.HasPrefix(r.Event, "pull_request_review") {
			return true
		}
	}
	for _, p := range s.Pushes {
		if a.Same(p.Actor) && isPushOfChange(s, &p) {
			return true
		}
	}
	for _, e := range s.Timeline {
		if e.Kind == quorum.ForcePushed && a.Same(e.Actor) {
			return true
		}
	}
	return false
}
