package daemon

// The health of an installation: whether GitHub limits it, has suspended it, refuses our credentials or cannot be
// reached. While one of these lasts, nothing of the installation is claimed, or little.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/store"
)

const (
	faultsInARow       = 5 // on the way to the host, of one tenant: then all of it waits
	shortestFaultPause = time.Second
	longestFaultPause  = time.Minute
	shortestDenial     = 2 * time.Second
	longestDenial      = time.Hour
	quietWhile         = 4 * time.Minute // no key waits as long: a trouble after it is a new one
	cautiousFor        = time.Minute     // after a limit: keys are claimed one at a time
)

// tenantState is the backoff state of one installation.
type tenantState struct {
	heldUntil      time.Time // nothing of it is claimed before
	backlogUntil   time.Time // nor anything of its backlog before this
	suspendedUntil time.Time // nor anything before this
	spentSince     time.Time // since then only what may take a green check away is looked at,
	spentUntil     time.Time // and until then
	trouble        trouble
}

// A trouble is a row of looks that the host did not answer as it should: faults on the way to it, or refusals of our credentials. While
// it lasts all of the tenant waits, and after a share of the time that it has lasted a few keys find out whether it is over; of refusals
// one. So what has waited is looked at as soon after a short outage as that was short.
type trouble struct {
	class errorClass // of the first; zero: there is none
	since time.Time
	times int
	until time.Time // when the next key finds out; of one that does not hold: when its last look was
}

// holds reports whether all of the tenant waits for its end.
func (t *trouble) holds() bool {
	return t.class == classUnauthorized || t.times >= faultsInARow
}

// pause is how long after now the next key finds out. Refusals are asked about ever more rarely: GitHub bans whoever goes on.
func (t *trouble) pause(now time.Time) time.Duration {
	lasted := now.Sub(t.since)
	if t.class == classUnauthorized {
		return min(max(lasted, shortestDenial), longestDenial)
	}
	return min(max(lasted/8, shortestFaultPause), longestFaultPause)
}

// holdLimited keeps a tenant back until a limit of the host's ends.
func (b *tenantBook) holdLimited(id int64, until time.Time) {
	t := b.openHeld(id)
	defer b.mu.Unlock()
	b.endTrouble(id, &t.tenantState) // a limit is an answer
	t.heldUntil = laterTime(t.heldUntil, until)
}

// endTrouble notes that a tenant's host answers as it should; b.mu is held.
func (b *tenantBook) endTrouble(id int64, t *tenantState) {
	if t.trouble.holds() {
		over := "GitHub can be reached again"
		if t.trouble.class == classUnauthorized {
			over = "GitHub takes the App's key, or the token, again"
		}
		b.config.Log.Info(over, oplog.Installation(id))
	}
	t.trouble = trouble{}
}

// holdSuspended keeps a suspended tenant back until it returns, or at most until a time: then it is asked again; zero: it may be back.
func (b *tenantBook) holdSuspended(id int64, until time.Time) {
	t := b.open(id)
	defer b.mu.Unlock()
	if t.suspendedUntil = until; !until.IsZero() {
		b.held[id] = t
	}
}

// noteTrouble notes that a tenant's host could not be reached, did not answer as GitHub does, or did not take our credentials. It returns
// when a key is to find out whether that is over, if all of the tenant waits for it.
func (b *tenantBook) noteTrouble(id int64, class errorClass, err error) (until time.Time) {
	t, now := &b.openHeld(id).trouble, b.config.Now()
	defer b.mu.Unlock()
	if t.class == 0 || now.After(t.until.Add(quietWhile)) {
		*t = trouble{since: now, class: class}
	}
	held := t.times > 0 && t.holds()
	if class == classUnauthorized && t.class != class { // it is asked about more rarely, also while faults come between
		held, t.class = false, class
	}
	if t.times++; !t.holds() {
		t.until = now
		return time.Time{}
	}
	pause := t.pause(now)
	t.until = laterTime(t.until, now.Add(pause/2+b.config.Jitter(pause/2)))
	switch text := classTexts[class]; {
	case held: // people were told
	case class == classUnauthorized:
		b.config.Log.Error(text.says, oplog.Installation(id), "remedy", text.remedy, "next", t.until, "err", err)
	default:
		b.config.Log.Warn(text.says+": pull requests are evaluated once that has ended", oplog.Installation(id), "remedy", text.remedy)
	}
	return t.until
}

// markHealthy notes that a tenant's host has answered about a key: its trouble is over, but not what a limit holds, and the key is there.
func (b *tenantBook) markHealthy(w store.Work) {
	t := b.open(w.Tenant)
	defer b.mu.Unlock()
	delete(t.doubts, w.Key)
	b.endTrouble(w.Tenant, &t.tenantState)
	ends := laterTime(laterTime(t.heldUntil, t.backlogUntil).Add(cautiousFor), laterTime(t.spentUntil, t.suspendedUntil))
	if !b.config.Now().Before(ends) {
		delete(b.held, w.Tenant)
	}
}

// waitsUntil is when a key may be claimed again.
func (t *tenantState) waitsUntil() time.Time {
	until := laterTime(t.heldUntil, t.suspendedUntil)
	if t.trouble.holds() {
		until = laterTime(until, t.trouble.until)
	}
	return until
}

// boundsOf returns which tenants get nothing where each has room for a number of keys and some are held, how many others get, and
// the first moment at which one of the former may get a key. One that was held gets one key for a while, so that few are claimed in vain.
func (b *tenantBook) boundsOf(
	now time.Time, room int, underWay map[int64]int, heldUntil func(*tenantState) time.Time,
) (bounds store.Bounds, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var except []int64
	most := map[int64]int{}
	for id, n := range underWay {
		most[id] = room - n
	}
	for id, t := range b.held {
		held, left := heldUntil(&t.tenantState), room-underWay[id]
		switch {
		case now.Before(held):
			most[id], until = 0, earlierDue(until, held)
		case t.trouble.class == classUnauthorized: // one is enough to find out whether it is over
			most[id] = min(left, 1-underWay[id])
		case t.trouble.holds(), now.Sub(held) < cautiousFor: // one at each claim: a look that fails for long keeps no others waiting
			most[id] = min(left, 1)
		}
	}
	for id, n := range most {
		if n <= 0 {
			except = append(except, id)
			delete(most, id)
		}
	}
	return store.Bounds{Except: except, Most: most, Each: room}, until
}

// tenantsThat returns the tenants of which something holds.
func (b *tenantBook) tenantsThat(holds func(*tenantState) bool) (ids []int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, t := range b.held {
		if holds(&t.tenantState) {
			ids = append(ids, id)
		}
	}
	return ids
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
