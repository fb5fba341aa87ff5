package daemon

// The table for those who watch it: keys that wait for a limit of GitHub's, or for the end of a suspension, are not
// late, and no reason to call anybody. Keys that wait until somebody renews credentials are.

import (
	"context"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/store"
)

// A view is the table with a [store.Health] that leaves out tenants that wait.
type view struct {
	store.Store
	d *Daemon
}

// View is the daemon's table for those who watch it.
func (d *Daemon) View() store.Store { return view{d.Store, d} }

// Health says how the table stands, and which tenants wait for a limit. Oldest is that of the keys whose tenants are held
// back by no limit and no suspension.
func (v view) Health(ctx context.Context, now time.Time) (store.Health, error) {
	h, err := v.Store.Health(ctx, now)
	if err != nil {
		return h, err
	}
	queue, err := v.d.Queue(ctx)
	h.Held, h.Oldest, h.BacklogUntil = queue.Held, queue.Oldest, v.d.tenants.backlogEnds(now, h.Backlog)
	return h, err
}

// Queue returns the Oldest and Held of [Daemon.View]'s Health, which takes as long for a million keys as for one.
func (d *Daemon) Queue(ctx context.Context) (store.Health, error) {
	now := d.Now()
	next, err := d.Store.Next(ctx, false, d.tenants.tenantsThat(func(t *tenantState) bool { // they wait for what comes by itself
		return now.Before(t.suspendedUntil) || !t.trouble.holds() && now.Before(t.heldUntil)
	}))
	if err != nil {
		return store.Health{}, fmt.Errorf("find the oldest key: %w", err)
	}
	h := store.Health{Held: d.tenants.limitEnds(now)}
	if !next.IsZero() {
		h.Oldest = max(now.Sub(next), 0)
	}
	return h, nil
}

// Waits returns until when a tenant waits for a limit of GitHub's to end, or for its next hour; zero if it does not.
func (d *Daemon) Waits(tenant int64) time.Time {
	return d.tenants.limitEnds(d.Now())[tenant]
}

// limitEnds returns the tenants that wait so, and until when. What is refused or cannot be reached waits for no limit.
func (b *tenantBook) limitEnds(now time.Time) (ends map[int64]time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ends = map[int64]time.Time{}
	for id, t := range b.held {
		if until := laterTime(t.heldUntil, t.spentUntil); !t.trouble.holds() && until.After(now) {
			ends[id] = until
		}
	}
	return ends
}

// backlogEnds returns when as many keys of tenants' backlogs have been looked at, at the earliest, of those that wait.
func (b *tenantBook) backlogEnds(now time.Time, waiting map[int64]int) (ends map[int64]time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ends = map[int64]time.Time{}
	for id, n := range waiting {
		if t := b.held[id]; t == nil || now.After(t.backlogUntil.Add(cautiousFor)) {
			continue
		}
		forge, err := b.config.Host.Enter(id)
		if err != nil {
			continue
		}
		if end := forge.Ready(n, client.Backlog); end.After(now) {
			ends[id] = end
		}
	}
	return ends
}
