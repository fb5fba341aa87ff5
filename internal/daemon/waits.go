package daemon

// Until when an installation waits for a limit of GitHub's, for people to see. A claim decides by claimLimits.

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

// Waits returns until when a tenant waits for a limit of GitHub's to end, or for its next hour; zero if it does not.
func (d *Daemon) Waits(tenant int64) time.Time {
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	return d.health.limitEnd(tenant, d.Now())
}

// limitEnds returns the tenants that wait so, and until when.
func (h *tenantHealth) limitEnds(now time.Time) (ends map[int64]time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.states {
		if until := h.limitEnd(id, now); !until.IsZero() {
			if ends == nil {
				ends = map[int64]time.Time{}
			}
			ends[id] = until
		}
	}
	return ends
}

// limitEnd is until when a tenant waits so; h.mu is held. What is refused or cannot be reached waits for no limit.
func (h *tenantHealth) limitEnd(id int64, now time.Time) time.Time {
	t := h.states[id]
	if t == nil || !t.onlyLimited() {
		return time.Time{}
	}
	until := laterTime(t.heldUntil, laterTime(t.spentUntil, t.heldLast))
	if t.budgetShort {
		if forge, err := h.config.Host.Enter(id); err == nil { // else its next look tells why
			until = laterTime(until, forge.Ready(1, client.Urgent))
		}
	}
	if !until.After(now) {
		return time.Time{}
	}
	return until
}

// backlogEnds returns when as many keys of tenants' backlogs have been looked at, at the earliest, of those whose budget
// leaves too little over.
func (h *tenantHealth) backlogEnds(now time.Time, waiting map[int64]int) (ends map[int64]time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, n := range waiting {
		if t := h.states[id]; t == nil || !t.backlogShort {
			continue
		}
		forge, err := h.config.Host.Enter(id)
		if err != nil {
			continue
		}
		if end := forge.Ready(n, client.ForNobody); end.After(now) {
			if ends == nil {
				ends = map[int64]time.Time{}
			}
			ends[id] = end
		}
	}
	return ends
}
