package daemon

// A rush: more deliveries than can be looked at one by one. They are let in first, so that each is acknowledged in time and
// those of one pull request are looked at together; what trickles in beside a rush is looked at as always.

import (
	"sync"
	"time"
)

const (
	rushSlot   = 200 * time.Millisecond // deliveries are counted in slots
	rushAll    = 60                     // deliveries in one of them, of all tenants
	rushTenant = 3                      // and of one of them, for it to have a part in the rush
	settles    = 500 * time.Millisecond // how long what a rush asks for waits
	rushLooks  = 4                      // looks at once during a rush, and as many more for who has no part in it
	rushPause  = 20 * time.Millisecond  // until there may be room for a look
)

// A rush counts the deliveries of the slot that runs and of the one before. The zero value has seen none.
type rush struct {
	mu          sync.Mutex
	slot        int64 // of the clock
	now, before flood
	let         time.Time // when those who have no part in it were let in last
}

// A flood is what came in a slot.
type flood struct {
	all int
	of  map[int64]int // by tenant
}

// turn begins a new slot if it is time; r.mu is held.
func (r *rush) turn(now time.Time) {
	slot := now.UnixNano() / int64(rushSlot)
	switch {
	case slot == r.slot:
		return
	case slot == r.slot+1:
		r.before = r.now
	default:
		r.before = flood{}
	}
	r.slot, r.now = slot, flood{of: map[int64]int{}}
}

// settled counts a delivery and returns when what it asks for is due: at once, unless its tenant has a part in a rush.
func (r *rush) settled(tenant int64, now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn(now)
	r.now.all++
	r.now.of[tenant]++
	if r.on() && r.part(tenant) {
		return now.Add(settles)
	}
	return now
}

// part reports whether a tenant has a part in it.
func (r *rush) part(tenant int64) bool {
	return max(r.now.of[tenant], r.before.of[tenant]) > rushTenant
}

// room is how many looks may begin beside those that are under way by tenant, and whose may not be among them. Who has no part
// in a rush has places of their own, and not as many as there are workers: in a burst of many tenants each has had no part in it
// at first. They are let in every now and then, as nobody tells when something of theirs becomes due, and to ask the table costs.
func (r *rush) room(now time.Time, workers int, busy map[int64]int) (n int, except []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn(now)
	all, aside := 0, 0
	for tenant, looks := range busy {
		all += looks
		if !r.part(tenant) {
			aside += looks
		}
	}
	if !r.on() {
		return workers - all, nil
	}
	if n := min(rushLooks, workers) - all; n > 0 {
		return n, nil
	}
	since := now.Sub(r.let)
	if n = min(rushLooks-aside, workers-all); n <= 0 || 0 <= since && since < rushPause {
		return 0, nil
	}
	r.let = now
	for _, of := range []map[int64]int{r.now.of, r.before.of} {
		for tenant := range of {
			if r.part(tenant) {
				except = append(except, tenant)
			}
		}
	}
	return n, except
}

func (r *rush) on() bool { return max(r.now.all, r.before.all) > rushAll }
