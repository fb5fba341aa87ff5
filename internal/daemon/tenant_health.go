package daemon

// The health of an installation: whether GitHub limits it, has suspended it, refuses our credentials or cannot be
// reached. While one of these lasts, nothing of the installation is claimed, or little.

import (
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/store"
)

const (
	firstDeniedPause   = time.Minute // after the first refusal of our credentials; doubles
	longestDeniedPause = time.Hour
	faultsInARow       = 5               // on the way to the host, of one tenant: then all of it waits
	firstFaultPause    = 5 * time.Second // doubles
	longestFaultPause  = time.Minute
	backlogPause       = time.Hour   // between two lines about a backlog that waits
	cautiousFor        = time.Minute // after a limit: keys are claimed one at a time
)

// tenantHealth remembers the tenants that are limited or failing. It may be used by several goroutines.
type tenantHealth struct {
	config *Config

	mu     sync.Mutex
	states map[int64]*tenantState // of tenants that are not simply healthy
	looks  map[int64]int          // of tenants, that were admitted and are under way
}

// tenantState is the backoff state of one installation.
type tenantState struct {
	heldUntil      time.Time // nothing of it is claimed before
	backlogUntil   time.Time // nor anything of its backlog before this
	suspendedUntil time.Time // nor anything before this
	spentSince     time.Time // since then only what may take a green check away is looked at,
	spentUntil     time.Time // and until then
	backlogTold    time.Time // when people were told that its backlog waits
	faults         int       // in a row: on the way to the host
	denials        int       // in a row: the host did not take our credentials
}

// A spentHour is the rest of an hour in which only what may take a green check away is looked at; zero: it is not spent.
type spentHour struct{ since, end time.Time }

func newTenantHealth(c *Config) *tenantHealth {
	return &tenantHealth{config: c, states: map[int64]*tenantState{}, looks: map[int64]int{}}
}

// stateOf returns a tenant's state, and makes one if it has none; h.mu is held.
func (h *tenantHealth) stateOf(id int64) *tenantState {
	t := h.states[id]
	if t == nil {
		t = &tenantState{}
		h.states[id] = t
	}
	return t
}

// holdLimited keeps a tenant back until a limit of the host's ends.
func (h *tenantHealth) holdLimited(id int64, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.stateOf(id)
	h.endFaults(id, t) // a limit is an answer
	t.heldUntil = laterTime(t.heldUntil, until)
}

// endFaults notes that a tenant's host can be reached; h.mu is held.
func (h *tenantHealth) endFaults(id int64, t *tenantState) {
	if t.faults >= faultsInARow {
		h.config.Log.Info("GitHub can be reached again", oplog.Installation(id))
	}
	t.faults = 0
}

// holdSuspended keeps a suspended tenant back until it returns, or at most until a time: then it is asked again.
func (h *tenantHealth) holdSuspended(id int64, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stateOf(id).suspendedUntil = until
}

// endSuspension says that a tenant may be back.
func (h *tenantHealth) endSuspension(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.states[id]; t != nil {
		t.suspendedUntil = time.Time{}
	}
}

// countFault notes that a tenant's host could not be reached, or did not answer as GitHub does. After some in a row all
// of the tenant waits a little: during an outage each key would find it out for itself.
func (h *tenantHealth) countFault(id int64, class errorClass) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.stateOf(id)
	if t.faults++; t.faults < faultsInARow {
		return
	}
	if t.faults == faultsInARow {
		h.config.Log.Warn(classTexts[class].says+": pull requests are evaluated once that has ended",
			oplog.Installation(id), "remedy", classTexts[class].remedy)
	}
	rest := min(firstFaultPause<<min(t.faults-faultsInARow, 10), longestFaultPause)
	t.heldUntil = laterTime(t.heldUntil, h.config.Now().Add(rest/2+h.config.Jitter(rest/2)))
}

// backOffUnauthorized keeps a tenant back whose credentials the host does not take: asking on would change nothing.
func (h *tenantHealth) backOffUnauthorized(id int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, now := h.stateOf(id), h.config.Now()
	isFirst := t.denials == 0
	if isFirst || !now.Before(t.heldUntil) { // else another look of the same moment has said so
		t.heldUntil = now.Add(min(firstDeniedPause<<min(t.denials, 10), longestDeniedPause))
		t.denials++
	}
	if text := classTexts[classUnauthorized]; isFirst {
		h.config.Log.Error(text.says, oplog.Installation(id), "remedy", text.remedy, "next", t.heldUntil, "err", err)
	}
}

// markHealthy forgets a tenant's faults and denials, but not until when it is held.
func (h *tenantHealth) markHealthy(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.states[id]
	if t == nil {
		return
	}
	h.endFaults(id, t)
	if t.denials > 0 {
		h.config.Log.Info("GitHub takes the App's key, or the token, again", oplog.Installation(id))
	}
	t.denials = 0
	held := laterTime(laterTime(t.heldUntil, t.backlogUntil).Add(cautiousFor), laterTime(t.spentUntil, t.suspendedUntil))
	if !h.config.Now().Before(laterTime(held, t.backlogTold.Add(backlogPause))) {
		delete(h.states, id)
	}
}

// claimLimits returns the tenants that get no key now, how many keys others may get beside those under way, and the
// first moment at which one of the former may get a key.
func (h *tenantHealth) claimLimits(now time.Time, underWay map[int64]int) (except []int64, most map[int64]int, until time.Time) {
	return h.boundsOf(now, h.config.PerTenant, underWay, func(t *tenantState) time.Time { return laterTime(t.heldUntil, t.suspendedUntil) })
}

// backlogBounds returns how much of their backlogs tenants may get beside what of it is under way, and the first moment at
// which one that gets nothing may get a key.
func (h *tenantHealth) backlogBounds(now time.Time, underWay map[int64]int) (b store.BacklogBounds, until time.Time) {
	b.Each = max(h.config.PerTenant*3/4, 1)
	b.Except, b.Most, until = h.boundsOf(now, b.Each, underWay, func(t *tenantState) time.Time { return t.backlogUntil })
	return b, until
}

// boundsOf returns which tenants get nothing where each has room for a number of keys and some are held, how many others get, and
// the first moment at which one of the former may get a key. One that was held gets one key for a while, so that few are claimed in vain.
func (h *tenantHealth) boundsOf(
	now time.Time, room int, underWay map[int64]int, heldUntil func(*tenantState) time.Time,
) (except []int64, most map[int64]int, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	most = map[int64]int{}
	for id, n := range underWay {
		most[id] = room - n
	}
	for id, t := range h.states {
		held := heldUntil(t)
		switch most[id] = room - underWay[id]; {
		case now.Before(held):
			most[id], until = 0, earlierDue(until, held)
		case t.denials > 0: // one is enough to find out whether the key was renewed
			most[id] = min(most[id], 1-underWay[id])
		case now.Sub(held) < cautiousFor:
			most[id] = min(most[id], 1)
		}
	}
	for id, n := range most {
		if n <= 0 {
			except = append(except, id)
			delete(most, id)
		}
	}
	return except, most, until
}

// waitingTenants returns the tenants that wait for something that comes by itself.
func (h *tenantHealth) waitingTenants(now time.Time) (ids []int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, t := range h.states {
		if now.Before(t.suspendedUntil) || t.onlyLimited() && now.Before(t.heldUntil) {
			ids = append(ids, id)
		}
	}
	return ids
}

// onlyLimited reports whether nothing but a limit holds a tenant back, if anything does.
func (t *tenantState) onlyLimited() bool { return t.denials == 0 && t.faults < faultsInARow }

// spentHourOf returns the rest of a tenant's hour that is spent.
func (h *tenantHealth) spentHourOf(id int64) spentHour {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.states[id]; t != nil {
		return spentHour{t.spentSince, t.spentUntil}
	}
	return spentHour{}
}

// forgetTenant drops a tenant that is gone.
func (h *tenantHealth) forgetTenant(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.states, id)
}

// laterTime returns the later of two times.
func laterTime(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

// earlierDue returns the earlier of two due times; zero means never.
func earlierDue(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
