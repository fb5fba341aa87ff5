package daemon

// Admission: a look begins where its installation's limiter has room for it beside those under way, and its pull request has not
// used up its own part. What waits becomes a due time.

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/store"
)

const (
	lookPause   = 100 * time.Millisecond // until a look under way may have ended, which takes the room that there is
	shortWait   = 10 * time.Second       // for a limit: no longer one is worth a line of the log
	replaySpeed = 2                      // keys that waited for a spent hour's end are looked at this much faster than they came
)

// admitLook counts a look that may begin now: endLook ends it. Otherwise it returns until when the key waits. That is its own due
// time where its whole tenant waits, or the whole backlog, so that it keeps its place. spacing is the distance between looks at
// its pull request, by the requests that they used.
func (b *tenantBook) admitLook(w store.Work, forge TenantForge, u client.Urgency) (until time.Time, spacing time.Duration) {
	t, now := b.openHeld(w.Tenant), b.config.Now()
	defer b.mu.Unlock()
	looks := t.looks + 1
	end := forge.Ready(looks, client.Live)
	switch {
	case forge.Ready(looks, client.Urgent).After(now):
		b.holdTenant(w.Tenant, t, laterTime(forge.Ready(1, client.Urgent), now.Add(lookPause)), now)
		return w.Due, 0
	case u == client.Backlog && forge.Ready(looks, client.Backlog).After(now):
		t.backlogUntil = laterTime(forge.Ready(1, client.Backlog), now.Add(lookPause))
		return w.Due, 0
	case end.After(now):
		b.noteSpentHour(w.Tenant, t, end, now)
		if u != client.Urgent {
			return t.placeOf(w, now), 0
		}
	}
	if hasShare(w) {
		if until, spacing = t.nextLook(w.Key, u == client.Urgent, end.After(now)); until.After(now) {
			return until, 0
		}
	}
	t.looks = looks
	return time.Time{}, spacing
}

// holdTenant holds a tenant until there is room for one look more, and says so if that is long; b.mu is held.
func (b *tenantBook) holdTenant(id int64, t *tenantEntry, until, now time.Time) {
	if !t.heldUntil.After(now) && until.Sub(now) > shortWait {
		b.config.Log.Warn("what GitHub allows at a time is used up, but for what others need: every pull request waits until there is more",
			oplog.Installation(id), "until", until)
	}
	t.heldUntil = laterTime(t.heldUntil, until)
}

// noteSpentHour notes that all that is left of a tenant's hour is kept for what may take a green check away. It says so when
// that begins; b.mu is held.
func (b *tenantBook) noteSpentHour(id int64, t *tenantEntry, end, now time.Time) {
	if !t.spentUntil.After(now) {
		t.spentSince = now
		if end.Sub(now) > shortWait {
			b.config.Log.Warn("what an hour of GitHub's allows is used up, but for what others need and for green checks that an event may end: "+
				"other pull requests wait for the next", oplog.Installation(id), "until", end)
		}
	}
	t.spentUntil = end
}

// placeOf returns when a key that waits for the end of a spent hour is looked at: in the order of the keys' newest events, faster
// than these came, so that later ones need not wait for all of them; or when the key wakes by itself, if that is earlier.
func (t *tenantState) placeOf(w store.Work, now time.Time) time.Time {
	place := t.spentUntil.Add(now.Sub(t.spentSince) / replaySpeed)
	if w.Wake.After(t.spentUntil) && w.Wake.Before(place) {
		return w.Wake
	}
	return place
}
