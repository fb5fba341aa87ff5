//go:build !action

package main

// The daemon and a vendor that has changed the format of its answers, over several pull requests and a restart.

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const driftPolicy = `
version: 1
quorum: 1
reviewers:
  - name: sage
    author: "sage[bot]"
    verdict: review-state
    request: {comment: "@sage review"}
`

// a drifting repository has a reviewer that answers on each pull request as it is told.
type drifting struct {
	t *testing.T
	g *sandbox.GitHub
}

// answers opens a pull request if it is not there, has sage answer, and lets ten minutes pass.
func (d drifting) answers(n int, state string) {
	d.t.Helper()
	if d.g.Head(n) == "" {
		d.g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n), Author: "alice"})
		<-time.After(10 * time.Second)
	}
	body := "The basket is now called a cart.\n\nReviewed commit: " + d.g.Head(n)
	if _, err := d.g.Review(n, sandbox.ReviewSpec{By: "sage[bot]", State: state, Body: body}); err != nil {
		d.t.Fatal(err)
	}
	<-time.After(10 * time.Minute)
}

// wantAsked wants sage to have been asked again on these pull requests, and no others.
func (d drifting) wantAsked(numbers ...int) {
	d.t.Helper()
	var got []int
	for n := range 10 {
		if d.g.NewestComment(n, "quorum-app[bot]") != 0 {
			got = append(got, n)
		}
	}
	if !slices.Equal(got, numbers) {
		d.t.Errorf("asked again on %v, want %v", got, numbers)
	}
}

// laneOf is what the dashboard shows of sage on a pull request.
func (b *bubbled) laneOf(t *testing.T, n int) dashboard.ReviewerLine {
	t.Helper()
	row, err := b.store.Get(t.Context(), fmt.Sprintf("%s#%d", workkey.Repo(77, "acme", "shop"), n))
	var s dashboard.Sight
	if err == nil {
		err = json.Unmarshal(row.Sight, &s)
	}
	if err != nil || len(s.Lanes) != 1 {
		t.Fatalf("%+v, %v", s.Lanes, err)
	}
	return s.Lanes[0]
}

func TestTheDaemonAsksNobodyAgainWhomNobodyUnderstands(t *testing.T) {
	t.Parallel()
	testKey() // made outside of the bubble
	synctest.Test(t, func(t *testing.T) {
		hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: "a secret of many words"})
		g := sandbox.New(sandbox.Options{Owner: "acme", Repo: "shop", App: hub.App(), Now: time.Now})
		g.SetFile(".github/review-coordinator.yml", "", driftPolicy)
		hub.Add(77, g)
		d, dir := drifting{t, g}, t.TempDir()
		b := inBubble(t, hub, dir, "")
		for n := 1; n <= 3; n++ {
			d.answers(n, "COMMENTED")
			d.answers(n, "COMMENTED") // it was asked again
		}
		d.wantAsked(1, 2, 3)
		d.answers(4, "COMMENTED")
		d.wantAsked(1, 2, 3)
		const says = "7 of its last 7 answers were not understood; its format may have changed"
		if lane := b.laneOf(t, 4); lane.Drift != says || lane.Answers != 7 || lane.Unread != 7 || lane.Vote != "unavailable" {
			t.Errorf("the dashboard shows %+v", lane)
		}

		b.stop()
		b = inBubble(t, hub, dir, "")
		d.answers(5, "COMMENTED")
		d.wantAsked(1, 2, 3)
		counts, err := daemon.CountHeard(context.Background(), b.store, time.Now())
		if want := (store.HeardCount{Answers: 8, Unread: 8}); err != nil || counts[""] != want {
			t.Errorf("counted %+v, %v; want %+v", counts, err, want)
		}

		d.answers(6, "APPROVED") // it is understood again
		d.answers(7, "COMMENTED")
		if d.g.NewestComment(7, "quorum-app[bot]") == 0 {
			t.Error("it is not asked again, though its last answer was understood")
		}
		b.stop()
	})
}
