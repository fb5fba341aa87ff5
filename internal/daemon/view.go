package daemon

// How the queue stands, as people should see it: what waits for a limit of GitHub's, or for the end of a suspension, is not
// late, and no reason to call anybody. What waits for somebody to renew a key is.

import (
	"context"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// View is the daemon's table for those who watch it.
func (d *Daemon) View() store.Store { return view{d.Store, d} }

type view struct {
	store.Store
	daemon *Daemon
}

// Health says how the table stands. Oldest is that of the keys whose tenants are held back by no limit and
// no suspension.
func (v view) Health(ctx context.Context, now time.Time) (store.Health, error) {
	h, err := v.Store.Health(ctx, now)
	if err != nil || h.Oldest == 0 {
		return h, err
	}
	next, err := v.Next(ctx, v.daemon.waiting(now))
	if err != nil {
		return store.Health{}, fmt.Errorf("find the oldest key: %w", err)
	}
	h.Oldest = 0
	if !next.IsZero() {
		h.Oldest = max(now.Sub(next), 0)
	}
	return h, nil
}

// waiting are the tenants that wait for something that comes by itself.
func (d *Daemon) waiting(now time.Time) (ids []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, t := range d.tenants {
		if now.Before(t.parked) || t.limited() && (t.short || now.Before(t.until)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// limited reports whether nothing but a limit holds a tenant back, if anything does.
func (t *tenant) limited() bool { return t.denied == 0 && t.faults < faultsInARow }

// Limited is until when GitHub's limits keep us from asking at all; zero if they do not. They do not if somebody was asked for
// and got no answer: who is limited is not asked for.
func (d *Daemon) Limited() (until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.tenants {
		if t.faults > 0 {
			return time.Time{}
		}
		if t.denied == 0 {
			until = latest(until, t.until)
		}
	}
	return until
}
