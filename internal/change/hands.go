package change

// Who had a hand in the change: only the word of who had none counts for it, and an unknown one may be anybody.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// HadNoHand reports whether a is a person who had no hand in the change: whose word may end an objection.
func HadNoHand(s *quorum.Snapshot, a quorum.Account) bool {
	return a.Login != "" && !a.Bot && AreHandsKnown(s) && !HadHand(s, a)
}

// AreHandsKnown reports whether all who had a hand in the change are known. A commit of no known author is its pusher's.
func AreHandsKnown(s *quorum.Snapshot) bool {
	if len(s.Commits) == 0 || len(s.Commits) < s.PR.Commits {
		return false
	}
	hasUnknown := slices.ContainsFunc(s.Commits, func(c quorum.Commit) bool { return len(c.People) == 0 })
	if slices.ContainsFunc(s.Commits, func(c quorum.Commit) bool { return slices.ContainsFunc(c.People, isUnknown) }) {
		return false
	}
	return isPushListed(s) || !hasUnknown && isPushShown(s)
}

func isUnknown(a quorum.Account) bool { return a.Login == "" }

// isPushListed reports whether the branch's activity tells who pushed the head.
func isPushListed(s *quorum.Snapshot) bool {
	return slices.ContainsFunc(s.Pushes, func(p quorum.Push) bool { return p.After == s.PR.Head && p.Actor.Login != "" })
}

// isPushShown reports whether the timeline or a run shows who pushed the head: a pull request's run may be of a label.
func isPushShown(s *quorum.Snapshot) bool {
	isOfPush := func(r quorum.Run) bool { return r.Actor.Login != "" && r.Event == "push" }
	return slices.ContainsFunc(s.Runs, isOfPush) || slices.ContainsFunc(s.Timeline, func(e quorum.Event) bool {
		return e.Kind == quorum.ForcePushed && e.To == s.PR.Head && e.Actor.Login != ""
	})
}

// HadHand reports whether a had a hand in the change: opened it, made one of its commits, or pushed its head.
func HadHand(s *quorum.Snapshot, a quorum.Account) bool {
	hands, runs := pushersOf(s), s.Others
	for _, c := range s.Commits {
		hands = append(hands, c.People...)
	}
	if !isPushListed(s) {
		runs = slices.Concat(s.Runs, s.Others)
	}
	for _, r := range runs { // its actor may have pushed the commit, or set a label; a review started it for no push
		if !strings.HasPrefix(r.Event, "pull_request_review") {
			hands = append(hands, r.Actor)
		}
	}
	return slices.ContainsFunc(hands, a.Same)
}

// pushersOf are who opened the pull request and who pushed what it changes: since it was opened, or with one of its
// commits. A long-lived branch has pushes of before, of what its base has by now.
func pushersOf(s *quorum.Snapshot) []quorum.Account {
	all := []quorum.Account{s.PR.Author}
	for _, p := range s.Pushes {
		isOfPush := func(c quorum.Commit) bool { return c.SHA == p.After }
		if !p.At.Before(s.PR.Created) || p.After == s.PR.Head || slices.ContainsFunc(s.Commits, isOfPush) {
			all = append(all, p.Actor)
		}
	}
	for _, e := range s.Timeline {
		if e.Kind == quorum.ForcePushed {
			all = append(all, e.Actor)
		}
	}
	return all
}
