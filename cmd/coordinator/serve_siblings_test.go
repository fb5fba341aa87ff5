//go:build !action

package main

// Pull requests of one head, told to the whole daemon: what an event of one of them does to the other's check, without
// an event of that one, in virtual time.

import (
	"cmp"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

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
func TestAnEventOfASiblingLeadsToTheOthersCheck(t *testing.T) {
	testKey()
	for name, test := range map[string]struct {
		happens func(l *underLoad, g *sandbox.GitHub, objection int64) error
		kept    string // the events that are told
		want    string
	}{
		"it is approved": {
			func(l *underLoad, _ *sandbox.GitHub, _ int64) error { l.reviewBy(7, "APPROVED"); return nil },
			"pull_request_review.submitted", "success",
		},
		"it is closed": {
			func(_ *underLoad, g *sandbox.GitHub, _ int64) error { return g.Close(7, "alice") },
			"pull_request.closed", "success",
		},
		"it is pushed on": {
			func(_ *underLoad, g *sandbox.GitHub, _ int64) error { return g.Push(7, "a2", sandbox.PushSpec{}) },
			"pull_request.synchronize", "success",
		},
		"it is retargeted": { // what was said below the other one counts for both, and what was objected a person has ended
			func(_ *underLoad, g *sandbox.GitHub, objection int64) error {
				return errors.Join(g.DismissReview(objection, "bob"), g.Retarget(7, "release", "alice"))
			},
			"pull_request.edited", "success",
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
				objection := l.reviewBy(7, "CHANGES_REQUESTED")
				l.after(5*time.Minute + 30*time.Second) // between two rounds of the resync
				eighth := &loadPull{g: g, number: 8}
				if got := l.conclusion(eighth); got != "failure" {
					t.Fatalf("with an objection to #7 the check is %s", got)
				}
				l.told(test.kept)
				if err := test.happens(l, g, objection); err != nil {
					t.Fatal(err)
				}
				l.after(20 * time.Second)
				if got := l.conclusion(eighth); got != test.want {
					t.Errorf("the check of #8 is %s, want %s", got, test.want)
				}
				row, err := l.server.store.Get(t.Context(), "77/org-0/shop-0#8")
				var shown dashboard.Sight
				if err := cmp.Or(err, json.Unmarshal(row.Sight, &shown)); err != nil {
					t.Fatal(err)
				}
				if got := cmp.Or(shown.Conclusion, shown.Status); got != test.want {
					t.Errorf("the dashboard shows %s of #8, want %s", got, test.want)
				}
			})
		})
	}
}

// What is objected to a pull request shows at once in the check of another one with the same diff, which has another head.
func TestAnObjectionShowsOnAPullRequestWithTheSameDiff(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		g := l.repos[0]
		g.SetFile(".github/review-coordinator.yml", "", siblingsPolicy)
		l.after(time.Minute)
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
