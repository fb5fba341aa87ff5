//go:build !action

package main

// Pull requests of one head, told to the whole daemon: what an event of one of them does to the other's check, without
// an event of that one, in virtual time.

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// withSiblings plays with a daemon that has one repository, with siblingsPolicy, in virtual time.
func withSiblings(t *testing.T, play func(l *underLoad, g *sandbox.GitHub)) {
	t.Helper()
	testKey() // made outside of the bubble
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		l.repos[0].SetFile(".github/review-coordinator.yml", "", siblingsPolicy)
		l.after(time.Minute)
		play(l, l.repos[0])
	})
}

const siblingsPolicy = `version: 1
quorum: 1
timeout: 8h
deadline: 12h
reviewers:
  - {name: sage, author: "sage[bot]"}
`

// reviewBy is a review of the head.
func (l *underLoad) reviewBy(number int, state string) (id int64) {
	l.t.Helper()
	said := sandbox.ReviewSpec{By: "sage[bot]", State: state, Body: "Read all of it."}
	id, err := l.repos[0].Review(number, said)
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

// What happens to a pull request shows in the check of the others of its head at once, though no event names them: where
// it is judged anew, and where it leaves them, for then nobody else writes their check. The dashboard shows them so, too.
// What was objected counts for both until somebody ends it.
func TestAnEventOfASiblingLeadsToTheOthersCheck(t *testing.T) {
	testKey()
	for name, test := range map[string]struct {
		happens func(l *underLoad, g *sandbox.GitHub, objection int64) error
		kept    string // the events that are told
		before  string // failure: its reviewer objects to the other one; in_progress: it has said nothing of that
	}{
		"it is approved": {
			func(l *underLoad, _ *sandbox.GitHub, _ int64) error { l.reviewBy(7, "APPROVED"); return nil },
			"pull_request_review.submitted", "failure",
		},
		"it is closed": {
			func(_ *underLoad, g *sandbox.GitHub, _ int64) error { return g.Close(7, "alice") },
			"pull_request.closed", "in_progress",
		},
		"it is pushed on": {
			func(_ *underLoad, g *sandbox.GitHub, _ int64) error { return g.Push(7, "a2", sandbox.PushSpec{}) },
			"pull_request.synchronize", "in_progress",
		},
		"it is retargeted": {
			func(_ *underLoad, g *sandbox.GitHub, objection int64) error {
				return errors.Join(g.DismissReview(objection, "bob"), g.Retarget(7, "release", "alice"))
			},
			"pull_request.edited", "failure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := startUnderLoad(t, 1, 1)
				defer l.stop()
				g := l.repos[0]
				g.SetFile(".github/review-coordinator.yml", "", siblingsPolicy)
				g.Protect("release")
				g.SetPermission("bob", "write")
				l.after(time.Minute)
				g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1"})
				g.OpenPull(sandbox.PullSpec{Number: 8, Head: "a1", Base: "release"})
				l.after(time.Minute)
				l.reviewBy(8, "APPROVED")
				var objection int64
				if test.before == "failure" {
					objection = l.reviewBy(7, "CHANGES_REQUESTED")
				}
				l.after(5*time.Minute + 30*time.Second) // between two rounds of the resync
				eighth := &loadPull{g: g, number: 8}
				if got := l.conclusion(eighth); got != test.before {
					t.Fatalf("before it the check is %s, want %s", got, test.before)
				}
				l.told(test.kept)
				if err := test.happens(l, g, objection); err != nil {
					t.Fatal(err)
				}
				l.after(20 * time.Second)
				if got := l.conclusion(eighth); got != "success" {
					t.Errorf("the check of #8 is %s, want success", got)
				}
				row, err := l.server.store.Get(t.Context(), "77/org-0/shop-0#8")
				var shown dashboard.Sight
				if err := cmp.Or(err, json.Unmarshal(row.Sight, &shown)); err != nil {
					t.Fatal(err)
				}
				if got := cmp.Or(shown.Conclusion, shown.Status); got != "success" {
					t.Errorf("the dashboard shows %s of #8, want success", got)
				}
			})
		})
	}
}

// What is objected to a pull request shows at once in the check of another one with the same diff, which has another head.
func TestAnObjectionShowsOnAPullRequestWithTheSameDiff(t *testing.T) {
	withSiblings(t, func(l *underLoad, g *sandbox.GitHub) {
		changed := []sandbox.ChangedFile{{
			Path:   "cart.go",
			Change: &sandbox.FileChange{Was: sandbox.FileVersion{Content: "sum\n"}, Is: sandbox.FileVersion{Content: "round(sum)\n"}},
		}}
		g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Files: changed})
		l.after(time.Minute)
		g.OpenPull(sandbox.PullSpec{Number: 8, Head: "b1", Files: changed})
		l.after(time.Minute)
		l.reviewBy(8, "APPROVED")
		l.after(time.Minute)
		eighth := &loadPull{g: g, number: 8}
		if got := l.conclusion(eighth); got != "success" {
			t.Fatalf("the check of #8 is %s", got)
		}
		l.reviewBy(7, "CHANGES_REQUESTED")
		l.after(20 * time.Second)
		if got := l.conclusion(eighth); got != "failure" {
			t.Errorf("with an objection to #7 the check of #8 is %s, want failure", got)
		}
	})
}

// One that has come to a commit, of which no event told, is looked at once another one of it is closed: nobody else writes its check.
func TestWhoCameUntoldIsLookedAtWhenAnotherCloses(t *testing.T) {
	withSiblings(t, func(l *underLoad, g *sandbox.GitHub) {
		g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1"})
		g.OpenPull(sandbox.PullSpec{Number: 8, Head: "b1"})
		l.after(time.Minute)
		l.told()
		mustHappen(t, g.Push(8, "a1", sandbox.PushSpec{}))
		l.told("pull_request_review.submitted", "pull_request.closed")
		l.reviewBy(7, "APPROVED")
		l.after(10 * time.Second)
		mustHappen(t, g.Close(7, "alice"))
		l.after(10 * time.Second)
		row, err := l.server.store.Get(l.t.Context(), "77/org-0/shop-0#8")
		var shown dashboard.Sight
		if err := cmp.Or(err, json.Unmarshal(row.Sight, &shown)); err != nil {
			t.Fatal(err)
		}
		if shown.Head != g.Head(8) {
			t.Errorf("#8 was last seen on %s, and is on %s", shown.Head, g.Head(8))
		}
	})
}

// Two pull requests were closed on a commit with an objection each. They hold up a third one, a crowd of closed ones comes and goes,
// and then there is rest: they wake one another no more, and are looked at no more.
func TestClosedPullRequestsOfACommitRest(t *testing.T) {
	withSiblings(t, func(l *underLoad, g *sandbox.GitHub) {
		for n := 10; n < 12; n++ {
			g.OpenPull(sandbox.PullSpec{Number: n, Head: "a1", Branch: fmt.Sprint("f", n)})
			l.after(10 * time.Second)
			l.reviewBy(n, "CHANGES_REQUESTED")
			l.after(10 * time.Second)
			g.Close(n, "alice")
			l.after(10 * time.Second)
		}
		third := &loadPull{g: g, number: 30}
		g.OpenPull(sandbox.PullSpec{Number: third.number, Head: "a1", Branch: "f30"})
		l.after(10 * time.Minute)
		if got := l.conclusion(third); got != "failure" {
			t.Errorf("the check of #30 is %s, want failure", got)
		}
		for n := 40; n < 55; n++ {
			g.OpenPull(sandbox.PullSpec{Number: n, Head: "a1", Branch: fmt.Sprint("f", n)})
		}
		l.after(10 * time.Minute)
		if got := l.conclusion(third); got != "action_required" {
			t.Errorf("of sixteen the check is %s, want action_required", got)
		}
		for n := 40; n < 55; n++ {
			g.Close(n, "alice")
		}
		l.after(10 * time.Minute)
		if got := l.conclusion(third); got != "failure" {
			t.Errorf("the check of #30 is %s once it is alone, want failure", got)
		}
		writes, requests := l.written()
		l.after(time.Hour)
		if w, all := l.written(); w != writes || all-requests > 100 {
			t.Errorf("an hour without an event costs %d writes and %d requests", w-writes, all-requests)
		}
	})
}

// Of eleven pull requests of one commit nothing is decided. What was objected below one of them, which is closed, counts for the rest.
func TestANoBelowOneOfEleven(t *testing.T) {
	withSiblings(t, func(l *underLoad, g *sandbox.GitHub) {
		eighth := &loadPull{g: g, number: 8}
		says := func(want string) {
			t.Helper()
			l.after(10 * time.Minute)
			if got := l.conclusion(eighth); got != want {
				t.Errorf("the check of #8 is %s, want %s", got, want)
			}
		}
		for n := 7; n < 18; n++ {
			g.OpenPull(sandbox.PullSpec{Number: n, Head: "a1", Fork: "mallory", Branch: fmt.Sprint("f", n)})
		}
		l.after(time.Minute)
		l.reviewBy(7, "CHANGES_REQUESTED")
		says("action_required")
		g.Close(7, "mallory")
		for n := 9; n < 17; n++ {
			g.Close(n, "mallory")
		}
		says("failure")
	})
}
