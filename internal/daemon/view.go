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
	health *tenantHealth
}

// Health says how the table stands, and which tenants wait for a limit. Oldest is that of the keys whose tenants are held
// back by no limit and no suspension.
func (v view) Health(ctx context.Context, now time.Time) (store.Health, error) {
	h, err := v.Store.Health(ctx, now)
	if err != nil {
		return h, err
	}
	queue, err := v.queue(ctx, now)
	h.Held, h.Oldest, h.BacklogUntil = queue.Held, queue.Oldest, v.health.backlogEnds(now, h.Backlog)
	return h, err
}

// queue is the part of Health that takes as long for a million keys as for one: Oldest and Held.
func (v view) queue(ctx context.Context, now time.Time) (store.Health, error) {
	next, err := v.Next(ctx, false, v.health.waitingTenants(now))
	if err != nil {
		return store.Health{}, fmt.Errorf("find the oldest key: %w", err)
	}
	h := store.Health{Held: v.health.limitEnds(now)}
	if !next.IsZero() {
		h.Oldest = max(now.Sub(next), 0)
	}
	return h, nil
}

// Queue returns the Oldest and Held of [Daemon.View]'s Health, and counts nothing.
func (d *Daemon) Queue(ctx context.Context) (store.Health, error) {
	return view{d.Store, d.health}.queue(ctx, d.Now())
}

// Waits returns until when a tenant waits for a limit of GitHub's to end, or for its next hour; zero if it does not.
func (d *Daemon) Waits(tenant int64) time.Time {
	return d.health.limitEnds(d.Now())[tenant]
}

// limitEnds returns the tenants that wait so, and until when. What is refused or cannot be reached waits for no limit.
func (h *tenantHealth) limitEnds(now time.Time) (ends map[int64]time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ends = map[int64]time.Time{}
	for id, t := range h.states {
		if until := laterTime(t.heldUntil, t.spentUntil); t.onlyLimited() && until.After(now) {
			ends[id] = until
		}
	}
	return ends
}

// backlogEnds returns when as many keys of tenants' backlogs have been looked at, at the earliest, of those that wait.
func (h *tenantHealth) backlogEnds(now time.Time, waiting map[int64]int) (ends map[int64]time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ends = map[int64]time.Time{}
	for id, n := range waiting {
		if t := h.states[id]; t == nil || now.After(t.backlogUntil.Add(cautiousFor)) {
			continue
		}
		forge, err := h.config.Host.Enter(id)
		if err != nil {
			continue
		}
		if end := forge.Ready(n, client.Backlog); end.After(now) {
			ends[id] = end
		}
	}
	return ends
}
