//go:build !action

package main

// Merge queues, as the daemon meets them.

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// The daemon finds a group of which no delivery told, keeps it true, and forgets it when no delivery told of its end.
func TestTheDaemonFindsMergeGroupsWithoutDeliveries(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: "a secret of many words", Now: time.Now})
		g := sandbox.New(sandbox.Options{Now: time.Now, App: sandbox.App{Slug: "quorum-app", ID: 4711}})
		g.SetFile(".github/review-coordinator.yml", "", "version: 1\nquorum: 1\nreviewers:\n  - {name: sage, author: \"sage[bot]\", verdict: review-state}\n")
		hub.Add(77, g)
		hub.DisturbDeliveries(func(d sandbox.HookDelivery) sandbox.Fate { return sandbox.Fate{Lost: d.Event == "merge_group"} })
		g.OpenPull(sandbox.PullSpec{Number: 1, Head: "a1"})
		mustHappen(t, sandbox.Enqueue(g, 1, "m0", ""))
		mustHappen(t, sandbox.Dequeue(g, 1)) // the branch has a queue
		b := inBubble(t, hub, t.TempDir(), "")
		defer b.stop()
		groups := func() (all []string) {
			rows, err := b.store.List(t.Context(), store.Query{Kind: workkey.KindGroup})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				all = append(all, row.Key)
			}
			return all
		}
		<-time.After(time.Minute)
		mustHappen(t, sandbox.Enqueue(g, 1, "m1", ""))
		<-time.After(6 * time.Minute) // a resync
		if is := groupReads(t, g, "m1"); !strings.HasPrefix(is, " #1: 0 of 1 approval; waiting for sage") {
			t.Errorf("it reads %q", is)
		}
		if _, err := g.Review(1, sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "Yes."}); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		if is := groupReads(t, g, "m1"); is != "success #1: 1 of 1 approval" || len(groups()) != 1 {
			t.Errorf("it reads %q; known are %q", is, groups())
		}
		mustHappen(t, sandbox.MergeQueued(g, 1))
		<-time.After(11 * time.Minute)
		if left := groups(); len(left) != 0 {
			t.Errorf("still known are %q", left)
		}
		if is := groupReads(t, g, "m1"); is != "success #1: 1 of 1 approval" || len(g.OwnCheckRuns(sandbox.SHA("m1"))[0].History) > 3 {
			t.Errorf("at the end it reads %q", is)
		}
		if bad := slices.Concat(g.UnknownRequests(), g.InvalidRequests()); len(bad) > 0 {
			t.Errorf("GitHub does not understand %q", bad)
		}
	})
}
