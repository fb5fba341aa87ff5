package daemon

// A rush: more deliveries than can be looked at one by one. They are let in first, so that each is acknowledged in time and
// those of one pull request are looked at together; who sends much less than senders do on the mean is looked at beside them.

import (
	"sync"
	"time"
)

const (
	rushSlot   = 100 * time.Millisecond // deliveries are counted in slots, for whether there is a rush
	rushAll    = 60                     // deliveries in two of them, of all tenants
	rushPart   = time.Second            // and in longer ones by tenant, for who has a part in it: a part is one for some time
	rushTenant = 3                      // deliveries of a tenant in two of those: so few are no part
	settles    = 500 * time.Millisecond // how long what a rush asks for waits
	rushLooks  = 1                      // looks at once that a rush asks for: most would be made again, as more is to come
	rushAside  = 4                      // and how many tenants that have no part in it are looked at beside them
	rushBurst  = 10 * time.Second       // what goes on for longer is no burst: then every second worker looks, and the others are for the rest
	rushPause  = 20 * time.Millisecond  // until there may be room for a look
)

// A rush counts the deliveries of late. The zero value has seen none.
type rush struct {
	mu      sync.Mutex
	all     flood
	tenants flood
	began   time.Time // when there was none before
	last    time.Time // when there was one
	let     time.Time // when those who have no part in it were let in last
}

// A flood is what came in the slot of the clock that runs, and in the one before, by tenant.
type flood struct {
	slot        int64
	now, before map[int64]int
	n, was      int // of all tenants
}

// turn begins a new slot if it is time.
func (f *flood) turn(now time.Time, length time.Duration) {
	slot := now.UnixNano() / int64(length)
	switch {
	case f.now != nil && slot <= f.slot && slot > f.slot-5: // who read the clock first may come last
		return
	case slot == f.slot+1:
		f.before, f.was = f.now, f.n
	default:
		f.before, f.was = nil, 0
	}
	f.slot, f.now, f.n = slot, map[int64]int{}, 0
}

func (f *flood) count(tenant int64) {
	f.now[tenant]++
	f.n++
}

func (f *flood) of(tenant int64) int { return f.now[tenant] + f.before[tenant] }

func (f *flood) total() int { return f.n + f.was }

// turn brings the counts to a moment; r.mu is held.
func (r *rush) turn(now time.Time) {
	r.all.turn(now, rushSlot)
	r.tenants.turn(now, rushPart)
	if r.on() {
		r.last = now
	} else if since := now.Sub(r.last); since < -settles || since > settles { // a moment without one is not its end
		r.began = now
	}
}

// settled counts a delivery and returns when what it asks for is due: at once, unless its tenant has a part in a rush.
func (r *rush) settled(tenant int64, now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn(now)
	r.all.count(tenant)
	r.tenants.count(tenant)
	if r.on() && r.part(tenant) {
		return now.Add(settles)
	}
	return now
}

func (r *rush) on() bool { return r.all.total() > rushAll }

// part reports whether a tenant has a part in it: it sends more than a few, and not much less than others do, a quarter to a
// half of their mean.
func (r *rush) part(tenant int64) bool {
	n, senders := r.tenants.of(tenant), len(r.tenants.now)+len(r.tenants.before) // most of them twice
	return n > rushTenant && 2*n*senders >= r.tenants.total()
}

// room is how many looks may begin beside those that are under way by tenant, and whose may not be among them. Who has no part
// in a rush has places of their own, and not as many as there are workers: in a burst of many tenants each has had no part in it
// at first. They are let in every now and then, as nobody tells when something of theirs becomes due, and to ask the table costs.
func (r *rush) room(now time.Time, workers int, busy map[int64]int) (n int, except []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn(now)
	free, looking, aside := workers, 0, 0
	for tenant, looks := range busy {
		free -= looks
		if r.part(tenant) {
			looking += looks
		} else {
			aside++ // however many: they may have begun before the rush, and hang
		}
	}
	looks, besides := rushLooks, rushAside
	switch {
	case !r.on():
		return free, nil
	case now.Sub(r.began) > rushBurst:
		looks = max(workers/2, looks)
		besides = workers - looks
	}
	if n := min(looks-looking, looks+besides-looking-aside, free); n > 0 {
		return n, nil
	}
	since := now.Sub(r.let)
	if n = min(besides-aside, free); n <= 0 || 0 <= since && since < rushPause {
		return 0, nil
	}
	r.let = now
	for _, of := range []map[int64]int{r.tenants.now, r.tenants.before} {
		for tenant := range of {
			if r.part(tenant) {
				except = append(except, tenant)
			}
		}
	}
	return n, except
}
