//go:build !action

package main

// Merge queues, as the daemon meets them.

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const sagePolicy = "version: 1\nquorum: 1\nreviewers:\n  - {name: sage, author: \"sage[bot]\", verdict: review-state}\n"

// knownGroups are the keys of the merge groups that a daemon knows.
func knownGroups(t *testing.T, b *bubbled) (all []string) {
	t.Helper()
	rows, err := b.store.List(t.Context(), store.Query{Kind: workkey.KindGroup})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		all = append(all, row.Key)
	}
	return all
}

// The daemon finds a group of which no delivery told, keeps it true, and forgets it when no delivery told of its end.
func TestTheDaemonFindsMergeGroupsWithoutDeliveries(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hub, g := newShop(sagePolicy)
		hub.DisturbDeliveries(func(d sandbox.HookDelivery) sandbox.Fate { return sandbox.Fate{Lost: d.Event == "merge_group"} })
		g.OpenPull(sandbox.PullSpec{Number: 1, Head: "a1"})
		mustHappen(t, sandbox.Enqueue(g, 1, "m0", ""))
		mustHappen(t, sandbox.Dequeue(g, 1)) // the branch has a queue
		b := inBubble(t, hub, t.TempDir(), "")
		defer b.stop()
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
		if is := groupReads(t, g, "m1"); is != "success #1: 1 of 1 approval" || len(knownGroups(t, b)) != 1 {
			t.Errorf("it reads %q; known are %q", is, knownGroups(t, b))
		}
		mustHappen(t, sandbox.MergeQueued(g, 1))
		<-time.After(11 * time.Minute)
		if left := knownGroups(t, b); len(left) != 0 {
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

// A pestered table asks for a look at whatever is told or forgotten: before each delivery's own pokes, and while a key is
// forgotten.
type pestered struct {
	store.Store
	forgotten *sync.Map // keys
}

func (p pestered) Accept(ctx context.Context, d store.AcceptedDelivery, pokes ...store.Poke) (bool, error) {
	var all []store.Poke
	for _, poke := range pokes {
		all = append(all, store.Poke{Key: poke.Key, Tenant: poke.Tenant, Kind: poke.Kind, Group: poke.Group, Due: poke.Due}, poke)
	}
	return p.Store.Accept(ctx, d, all...)
}

func (p pestered) Complete(ctx context.Context, l store.Lease, o store.Completion) (bool, error) {
	if _, known := p.forgotten.LoadOrStore(l.Key, true); o.Gone && !known {
		if err := p.Poke(ctx, store.Poke{Key: l.Key, Due: o.Now, IfKnown: true}); err != nil {
			return false, err
		}
	} else if !o.Gone {
		p.forgotten.Delete(l.Key)
	}
	return p.Store.Complete(ctx, l, o)
}

// A merge group that is no more is not looked at again, whatever else asks for it when its end is told and while it is
// forgotten.
func TestTheDaemonLeavesAMergeGroupThatIsGone(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		hub, g := newShop(sagePolicy)
		b := inBubbleOver(t, hub, t.TempDir(), "", slog.New(slog.DiscardHandler), func(table store.Store) store.Store {
			return pestered{table, &sync.Map{}}
		})
		defer b.stop()
		g.OpenPull(sandbox.PullSpec{Number: 1, Head: "a1"})
		mustHappen(t, sandbox.Enqueue(g, 1, "m1", ""))
		<-time.After(time.Minute)
		before := len(knownGroups(t, b))
		mustHappen(t, sandbox.Dequeue(g, 1))
		<-time.After(time.Minute)
		if after := len(knownGroups(t, b)); before != 1 || after != 0 {
			t.Errorf("%d groups are known, and %d after its end", before, after)
		}
	})
}
