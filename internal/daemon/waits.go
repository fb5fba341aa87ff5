package daemon

// Until when an installation waits for a limit of GitHub's, for people to see. A claim decides by claimLimits.

import "time"

// Waits returns until when a tenant waits for a limit of GitHub's to end; zero if it does not.
func (d *Daemon) Waits(tenant int64) time.Time {
	now := d.Now()
	until, isShort := d.health.limitOf(tenant)
	if isShort {
		if forge, err := d.Host.Enter(tenant); err == nil { // else its next look tells why
			until = laterTime(until, forge.Ready(1))
		}
	}
	if !until.After(now) {
		return time.Time{}
	}
	return until
}

// limitOf returns until when a limit holds a tenant, and whether it was short of its budget besides. What is refused or
// cannot be reached waits for no limit.
func (h *tenantHealth) limitOf(id int64) (until time.Time, isShort bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.states[id]
	if t == nil || !t.onlyLimited() {
		return time.Time{}, false
	}
	return t.heldUntil, t.budgetShort
}
