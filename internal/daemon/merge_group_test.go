package daemon

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// A merge group that is no more is not looked at again, whichever look of its pull request asks for that: one that ends
// while the group is forgotten, or one that had read before that the group is known. No forge is there to look with.
func TestGoneMergeGroupStaysGone(t *testing.T) {
	table, err := store.OpenSQLite(filepath.Join(t.TempDir(), "c.db"), store.SQLiteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	now := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	d := &Daemon{Config: Config{Store: table, Now: func() time.Time { return now }}}
	d.resync = &resyncer{config: &d.Config}
	sha := strings.Repeat("9d05", 10)
	ref := quorum.GroupRef{Owner: "acme", Repo: "shop", Head: sha, Branch: "gh-readonly-queue/main/pr-7-" + sha}
	ctx, key := t.Context(), workkey.Group(1, ref)
	at, ok := workkey.Parse(key)
	if !ok {
		t.Fatal(key)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(table.Poke(ctx, groupPoke(1, ref, now, false)))
	fromPull := d.groupPokes(ctx, workkey.Key{Tenant: 1, Owner: "acme", Repo: "shop", Number: 7})
	if len(fromPull) != 1 || fromPull[0].Key != key {
		t.Fatalf("a look of #7 asks for %+v", fromPull)
	}
	must(table.Poke(ctx, groupPoke(1, ref, now, true)))
	for looks := 1; ; looks++ {
		work, err := table.Claim(ctx, store.Claim{Now: now, Until: now.Add(time.Minute), Limit: 1})
		must(err)
		if len(work) == 0 {
			if looks != 3 { // the one that was told, and the one that was asked for meanwhile
				t.Errorf("looked at %d times", looks-1)
			}
			break
		}
		r, err := d.reconcileGroup(ctx, work[0], at, nil)
		must(err)
		if looks == 1 {
			must(table.Poke(ctx, fromPull...))
		}
		r.outcome.Now = now
		if _, err := table.Complete(ctx, work[0].Lease, r.outcome); err != nil {
			t.Fatal(err)
		}
	}
	must(table.Poke(ctx, fromPull...))
	if _, err := table.Get(ctx, key); !errors.Is(err, store.ErrNoRow) {
		t.Errorf("it is known again: %v", err)
	}
}
