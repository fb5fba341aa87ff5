package daemon

// The health of an installation: whether GitHub limits it, has suspended it, refuses our credentials or cannot be
// reached, and whether its budget is short. While one of these lasts, nothing of the installation is claimed, or
// little.

import (
	"context"
	"hash/fnv"
	"maps"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/store"
)

const (
	firstDeniedPause   = time.Minute // after the first refusal of our credentials; doubles
	longestDeniedPause = time.Hour
	faultsInARow       = 5               // on the way to the host, of one tenant: then all of it waits
	firstFaultPause    = 5 * time.Second // doubles
	longestFaultPause  = time.Minute
	shortWait          = 10 * time.Second // for a limit: no longer one is worth a line of the log
	longestSpread      = 30 * time.Minute // of looks that were held back until an hour's end
	longestHold        = 3 * time.Hour    // of a key, through hours that are spent
	backlogPause       = time.Hour        // between two lines about a backlog that waits
)

// tenantHealth remembers the tenants that are limited or failing. It may be used by several goroutines.
type tenantHealth struct {
	config *Config

	mu     sync.Mutex
	states map[int64]*tenantState // of tenants that are not simply healthy
}

// A tenantState is what is wrong with one tenant.
type tenantState struct {
	heldUntil      time.Time            // nothing of it is claimed before
	suspendedUntil time.Time            // nor before this
	faults         int                  // in a row: on the way to the host
	faultClass     errorClass           // of the fault that people were told of
	denials        int                  // in a row: the host did not take our credentials
	budgetShort    bool                 // its budget did not allow what was under way
	backlogShort   bool                 // its budget left nothing over for its backlog
	spentSince     time.Time            // since then only what may take a green check away is looked at,
	spentUntil     time.Time            // and until then
	heldKeys       map[string]time.Time // what waits for that, and since when
	heldLast       time.Time            // when the last of it is due
	backlogTold    time.Time            // when people were told that its backlog waits
}

func newTenantHealth(c *Config) *tenantHealth {
	return &tenantHealth{config: c, states: map[int64]*tenantState{}}
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
	if until.After(t.heldUntil) {
		t.heldUntil = until
	}
}

// endFaults notes that a tenant's host can be reached; h.mu is held.
func (h *tenantHealth) endFaults(id int64, t *tenantState) {
	if t.faults >= faultsInARow {
		text := "GitHub answers as it should again"
		if t.faultClass == classUnreachable {
			text = "GitHub can be reached again"
		}
		h.config.Log.Info(text, oplog.Installation(id))
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
		t.faultClass = class
		h.config.Log.Warn(classTexts[class].says+": pull requests are evaluated once that has ended",
			oplog.Installation(id), "remedy", classTexts[class].remedy)
	}
	rest := min(firstFaultPause<<min(t.faults-faultsInARow, 10), longestFaultPause)
	if until := h.config.Now().Add(rest/2 + h.config.Jitter(rest/2)); until.After(t.heldUntil) {
		t.heldUntil = until
	}
}

// backOffUnauthorized keeps a tenant back whose credentials the host does not take: asking on would change nothing.
func (h *tenantHealth) backOffUnauthorized(id int64, err error) {
	h.mu.Lock()
	t := h.stateOf(id)
	first, now := t.denials == 0, h.config.Now()
	if first || !now.Before(t.heldUntil) { // else another look of the same moment has said so
		t.heldUntil = now.Add(min(firstDeniedPause<<min(t.denials, 10), longestDeniedPause))
		t.denials++
	}
	next := t.heldUntil
	h.mu.Unlock()
	if first {
		text := classTexts[classUnauthorized]
		h.config.Log.Error(text.says, oplog.Installation(id), "remedy", text.remedy, "next", next, "err", err)
	}
}

// markHealthy forgets a tenant's faults and denials, but not until when it is held.
func (h *tenantHealth) markHealthy(id int64) {
	h.mu.Lock()
	renewed := false
	if t := h.states[id]; t != nil {
		renewed = t.denials > 0
		h.endFaults(id, t)
		t.denials = 0
		held := laterTime(laterTime(t.heldUntil, t.heldLast), laterTime(t.spentUntil, t.suspendedUntil))
		held = laterTime(held, t.backlogTold.Add(backlogPause))
		if !t.budgetShort && !t.backlogShort && !h.config.Now().Before(held) {
			delete(h.states, id)
		}
	}
	h.mu.Unlock()
	if renewed {
		h.config.Log.Info("GitHub takes the App's key, or the token, again", oplog.Installation(id))
	}
}

// noteShortBudget reports whether a tenant's budget does not allow its looks under way: from then on it gets one look
// at a time, as the budget allows.
func (h *tenantHealth) noteShortBudget(id int64, looks int, forge TenantForge) bool {
	now := h.config.Now()
	if !forge.Ready(looks, client.Urgent).After(now) {
		return false
	}
	h.mu.Lock()
	t := h.stateOf(id)
	begins := !t.budgetShort
	t.budgetShort = true
	h.mu.Unlock()
	if until := forge.Ready(1, client.Urgent); begins && until.Sub(now) > shortWait {
		h.config.Log.Warn("what GitHub allows at a time is used up, but for what others need: every pull request waits until there is more",
			oplog.Installation(id), "until", until)
	}
	return true
}

// A spentHour is the rest of an hour in which only what may take a green check away is looked at; zero: it is not spent.
type spentHour struct{ since, end time.Time }

// noteSpentHour returns the rest of an hour in which only what may take a green check away is looked at, because what is left of it,
// less the looks under way, is kept for that. A key that is not urgent then waits until a moment. It says so when that begins.
func (h *tenantHealth) noteSpentHour(w store.Work, isUrgent bool, looks int, forge TenantForge) (spent spentHour, until time.Time) {
	now, end := h.config.Now(), forge.Ready(looks, client.Live)
	isSpent := end.After(now) && !forge.Ready(looks, client.Urgent).After(now) // else another limit is reached, which ends before
	h.mu.Lock()
	t := h.states[w.Tenant]
	if !isSpent {
		if t != nil {
			isOver := !now.Before(t.spentUntil) || !forge.Ready(h.config.PerTenant, client.Live).After(now)
			t.letThrough(w.Key, isOver) // else it is the looks under way that are fewer
		}
		h.mu.Unlock()
		return spentHour{}, time.Time{}
	}
	t = h.stateOf(w.Tenant)
	begins := !t.spentUntil.After(now)
	if begins {
		t.spentSince = now
		maps.DeleteFunc(t.heldKeys, func(_ string, since time.Time) bool { return now.Sub(since) > longestHold }) // it is gone
	}
	t.spentUntil = end
	if !isUrgent {
		until = t.holdKey(w.Key, now, end, forge.Hour())
	}
	spent = spentHour{t.spentSince, end}
	h.mu.Unlock()
	if begins && end.Sub(now) > shortWait {
		h.config.Log.Warn("what an hour of GitHub's allows is used up, but for what others need and for green checks that an event may end: "+
			"other pull requests wait for the next", oplog.Installation(w.Tenant), "until", end)
	}
	return spent, until
}

// spentHourOf returns the rest of a tenant's hour that is spent.
func (h *tenantHealth) spentHourOf(id int64) spentHour {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.states[id]; t != nil {
		return spentHour{t.spentSince, t.spentUntil}
	}
	return spentHour{}
}

// letThrough notes that a key waits no more, and whether the hour is spent no more.
func (t *tenantState) letThrough(key string, isOver bool) {
	if isOver {
		t.spentSince, t.spentUntil = time.Time{}, time.Time{}
	}
	if delete(t.heldKeys, key); len(t.heldKeys) == 0 {
		t.heldLast = time.Time{}
	}
}

// holdKey returns until when a key waits: for the end of the spent hour and, unless it has waited for the end of one before, its
// place after that.
func (t *tenantState) holdKey(key string, now, end time.Time, hour int) (until time.Time) {
	if t.heldKeys == nil {
		t.heldKeys = map[string]time.Time{}
	}
	since, isHeld := t.heldKeys[key]
	if !isHeld {
		since = now
		t.heldKeys[key] = now
	}
	if until = end; !since.Before(t.spentSince) {
		until = end.Add(placeIn(spreadOf(len(t.heldKeys), hour), key))
	}
	t.heldLast = laterTime(t.heldLast, until)
	return until
}

// placeIn returns a key's own place in a span: the same one each time, so that who makes much happen moves nobody's.
func placeIn(span time.Duration, key string) time.Duration {
	sum := fnv.New32a()
	sum.Write([]byte(key))
	return time.Duration(float64(span) * float64(sum.Sum32()) / (1 << 32))
}

// spreadOf returns over how long so many looks that were held back are spread in an hour that allows so many requests, 0
// being unknown: about as it allows them, so that what happens in it need not wait for all of them.
func spreadOf(looks, hour int) time.Duration {
	if hour <= 0 {
		return 0
	}
	return min(time.Duration(min(looks, hour))*(time.Hour/time.Duration(hour))*time.Duration(client.LookCost.Reads), longestSpread)
}

// noteShortBacklog reports whether a tenant's budget leaves nothing over for its backlog: from then on that gets one look
// at a time, as the budget allows. looks is how many of it are under way. It says so, once an hour.
func (h *tenantHealth) noteShortBacklog(ctx context.Context, id int64, looks int, forge TenantForge) bool {
	if !forge.Ready(looks, client.ForNobody).After(h.config.Now()) {
		return false
	}
	h.mu.Lock()
	t := h.stateOf(id)
	t.backlogShort = true
	now := h.config.Now()
	isNews := now.Sub(t.backlogTold).Abs() >= backlogPause && forge.Ready(looks, client.ForNobody).Sub(now) > shortWait
	if isNews {
		t.backlogTold = now
	}
	h.mu.Unlock()
	if !isNews {
		return true
	}
	if table, err := h.config.Store.Health(ctx, h.config.Now()); err == nil {
		h.config.Log.Info("open pull requests are looked over as GitHub's hour allows, and what happens now goes before them",
			oplog.Installation(id), "count", table.Backlog[id], "until", forge.Ready(table.Backlog[id], client.ForNobody))
	}
	return true
}

// backlogBounds returns how much of their backlogs tenants may get beside what of it is under way, and the first moment at
// which one that gets nothing may get a key.
func (h *tenantHealth) backlogBounds(now time.Time, underWay map[int64]int) (b store.BacklogBounds, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b.Each = max(h.config.PerTenant*3/4, 1)
	b.Most = map[int64]int{}
	for id, n := range underWay {
		b.Most[id] = b.Each - n
	}
	for id, t := range h.states {
		if !t.backlogShort {
			continue
		}
		forge, err := h.config.Host.Enter(id)
		if err != nil || !forge.Ready(b.Each, client.ForNobody).After(now) {
			t.backlogShort = false // if it cannot be entered, its next look tells why
			continue
		}
		b.Most[id] = 1 - underWay[id]
		if at := forge.Ready(1+underWay[id], client.ForNobody); at.After(now) {
			b.Most[id] = 0
			if until.IsZero() || at.Before(until) {
				until = at
			}
		}
	}
	for id, n := range b.Most {
		if n <= 0 {
			b.Except = append(b.Except, id)
			delete(b.Most, id)
		}
	}
	return b, until
}

// budgetReady returns when a tenant that was short of its budget may have one look more; h.mu is held.
func (h *tenantHealth) budgetReady(id int64, t *tenantState, looks int, now time.Time) time.Time {
	forge, err := h.config.Host.Enter(id)
	if err != nil { // its next look tells why
		t.budgetShort = false
		return now
	}
	if !forge.Ready(h.config.PerTenant, client.Urgent).After(now) {
		t.budgetShort = false
		return now
	}
	return forge.Ready(looks+1, client.Urgent)
}

// claimLimits returns the tenants that get no key now, how many keys others may get beside those under way, and the
// first moment at which one of the former may get a key.
func (h *tenantHealth) claimLimits(now time.Time, underWay map[int64]int) (except []int64, most map[int64]int, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	most = map[int64]int{}
	for id, n := range underWay {
		most[id] = h.config.PerTenant - n
	}
	for id, t := range h.states {
		at := laterTime(t.heldUntil, t.suspendedUntil)
		if t.budgetShort {
			at = laterTime(at, h.budgetReady(id, t, underWay[id], now))
			most[id] = min(1, h.config.PerTenant-underWay[id])
		}
		if t.denials > 0 { // one is enough to find out whether the key was renewed
			most[id] = 1 - underWay[id]
		}
		if now.Before(at) {
			most[id] = 0
			if until.IsZero() || at.Before(until) {
				until = at
			}
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
		if now.Before(t.suspendedUntil) || t.onlyLimited() && (t.budgetShort || now.Before(t.heldUntil)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// onlyLimited reports whether nothing but a limit holds a tenant back, if anything does.
func (t *tenantState) onlyLimited() bool { return t.denials == 0 && t.faults < faultsInARow }

// limitedUntil returns until when limits keep us from asking for any tenant; zero if they do not. A fault of one shows
// that it was asked for, so no limit kept us from it.
func (h *tenantHealth) limitedUntil() (until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.states {
		if t.faults > 0 {
			return time.Time{}
		}
		if t.denials == 0 {
			until = laterTime(until, t.heldUntil)
		}
	}
	return until
}

// forgetTenant drops a tenant that is gone.
func (h *tenantHealth) forgetTenant(id int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.states, id)
}

// laterTime returns the later of two times.
func laterTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
