package daemon

// The table for those who watch it: keys that wait for a limit of GitHub's, or for the end of a suspension, are not
// late, and no reason to call anybody. Keys that wait until somebody renews credentials are.

import (
	"context"
	"fmt"
	"time"

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
	h.Held, h.BacklogUntil = v.health.limitEnds(now), v.health.backlogEnds(now, h.Backlog)
	if h.Oldest == 0 {
		return h, nil
	}
	next, err := v.Next(ctx, v.health.waitingTenants(now))
	if err != nil {
		return store.Health{}, fmt.Errorf("find the oldest key: %w", err)
	}
	h.Oldest = 0
	if !next.IsZero() {
		h.Oldest = max(now.Sub(next), 0)
	}
	return h, nil
}
