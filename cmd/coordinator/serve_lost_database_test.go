//go:build !action

package main

// The database holds no truth: who loses it loses time.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A daemon whose database is deleted between two runs makes every check right within one resync, also where something happened
// meanwhile of which it gets no event, and writes no check again that is right.
func TestADeletedDatabaseCostsNoMoreThanAResync(t *testing.T) {
	t.Parallel()
	testKey() // made outside of the bubble
	synctest.Test(t, func(t *testing.T) {
		hub, g := newShop(driftPolicy)
		dir := t.TempDir()
		says := func(n int, state string) {
			t.Helper()
			spec := sandbox.ReviewSpec{By: "sage[bot]", State: state, Body: "Reviewed commit: " + g.Head(n)}
			if _, err := g.Review(n, spec); err != nil {
				t.Fatal(err)
			}
		}
		stands := func(n int) string {
			runs := g.OwnCheckRuns(g.Head(n))
			if len(runs) != 1 {
				return fmt.Sprintf("%d checks", len(runs))
			}
			return runs[0].Status + " " + runs[0].Conclusion
		}
		want := func(all map[int]string) {
			t.Helper()
			for n, should := range all {
				if is := stands(n); is != should {
					t.Errorf("the check of #%d is %s, want %s", n, is, should)
				}
			}
		}
		const passed, refused, waits = "completed success", "completed failure", "in_progress "

		b := inBubble(t, hub, dir, "")
		for n := 1; n <= 5; n++ {
			g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n), Author: "alice"})
		}
		<-time.After(time.Minute)
		says(1, "APPROVED")
		says(2, "CHANGES_REQUESTED")
		says(4, "APPROVED")
		says(5, "CHANGES_REQUESTED")
		<-time.After(time.Minute)
		want(map[int]string{1: passed, 2: refused, 3: waits, 4: passed, 5: refused})
		b.stop()

		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(filepath.Join(dir, "c.db"+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := g.Push(1, "second head of 1", sandbox.PushSpec{By: "alice"}); err != nil {
			t.Fatal(err)
		}
		says(2, "APPROVED")
		says(3, "APPROVED")
		g.OpenPull(sandbox.PullSpec{Number: 6, Head: "head of 6", Author: "alice"})
		<-time.After(time.Minute)
		says(6, "CHANGES_REQUESTED")
		forgetting, enough := context.WithTimeout(t.Context(), time.Minute)
		defer enough()
		hub.DeliverFunc(forgetting, func(string, string, []byte) error { return nil })
		written := len(g.OwnCheckRuns(g.Head(4)))

		b = inBubble(t, hub, dir, "")
		defer b.stop()
		<-time.After(5*time.Minute + 30*time.Second) // a resync, and its looks
		want(map[int]string{1: waits, 2: passed, 3: passed, 4: passed, 5: refused, 6: refused})
		if now := len(g.OwnCheckRuns(g.Head(4))); now != written {
			t.Errorf("%d checks were written anew where nothing happened", now-written)
		}
	})
}
