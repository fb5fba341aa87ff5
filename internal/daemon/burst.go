package daemon

// Bursts: more deliveries than can be looked at one by one. They are accepted first, so that each is acknowledged in
// time and those of one pull request are looked at together; installations that send much less than the mean are looked
// at meanwhile.

import (
	"sync"
	"time"
)

const (
	burstSlot       = 100 * time.Millisecond // deliveries are counted in slots, for whether there is a burst
	burstDeliveries = 60                     // deliveries in two slots, of all tenants: more are a burst
	shareSlot       = time.Second            // longer slots, by tenant, for which tenants take part: a part is one for some time
	shareDeliveries = 3                      // deliveries of a tenant in two of those: so few are no part
	burstDelay      = 500 * time.Millisecond // how long the pokes of a burst wait
	burstLooks      = 1                      // looks at once for tenants in the burst: most would be made again, as more is to come
	asideTenants    = 4                      // tenants outside the burst that are looked at besides
	longestBurst    = 10 * time.Second       // after it, it is no burst: every second worker looks, and the others are for the rest
	burstPause      = 20 * time.Millisecond  // until there may be room for a look
)

// A burstLimiter counts recent deliveries, and bounds the looks while they are many. The zero value has seen none. It
// may be used by several goroutines.
type burstLimiter struct {
	mu       sync.Mutex
	all      slotCounter
	byTenant slotCounter
	began    time.Time // when there was no burst before
	last     time.Time // when there was one
	asideAt  time.Time // when tenants outside the burst were let in last
}

// A slotCounter counts deliveries per installation in the current and the previous time slot.
type slotCounter struct {
	slot              int64
	current, previous map[int64]int
	total, totalWas   int // of all tenants, in the current and the previous slot
}

// advance begins a new slot if it is time.
func (c *slotCounter) advance(now time.Time, length time.Duration) {
	slot := now.UnixNano() / int64(length)
	switch {
	case c.current != nil && slot <= c.slot && slot > c.slot-5: // a goroutine that read the clock first may come last
		return
	case slot == c.slot+1:
		c.previous, c.totalWas = c.current, c.total
	default:
		c.previous, c.totalWas = nil, 0
	}
	c.slot, c.current, c.total = slot, map[int64]int{}, 0
}

func (c *slotCounter) count(tenant int64) {
	c.current[tenant]++
	c.total++
}

func (c *slotCounter) ofTenant(id int64) int { return c.current[id] + c.previous[id] }

func (c *slotCounter) ofAll() int { return c.total + c.totalWas }

// advance brings the counts to a moment; b.mu is held.
func (b *burstLimiter) advance(now time.Time) {
	b.all.advance(now, burstSlot)
	b.byTenant.advance(now, shareSlot)
	if b.active() {
		b.last = now
	} else if since := now.Sub(b.last); since < -burstDelay || since > burstDelay { // a moment without one is not its end
		b.began = now
	}
}

// countDelivery counts a delivery and returns when its pokes are due: at once, unless its tenant takes part in a burst.
func (b *burstLimiter) countDelivery(tenant int64, now time.Time) (due time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.advance(now)
	b.all.count(tenant)
	b.byTenant.count(tenant)
	if b.active() && b.takesPart(tenant) {
		return now.Add(burstDelay)
	}
	return now
}

func (b *burstLimiter) active() bool { return b.all.ofAll() > burstDeliveries }

// takesPart reports whether a tenant is in the burst: it sends more than a few, and not much less than others do, a
// quarter to a half of their mean.
func (b *burstLimiter) takesPart(tenant int64) bool {
	n, senders := b.byTenant.ofTenant(tenant), len(b.byTenant.current)+len(b.byTenant.previous) // most of them twice
	return n > shareDeliveries && 2*n*senders >= b.byTenant.ofAll()
}

// allowedLooks returns how many looks may begin beside those under way, by tenant, and which tenants get none of them.
// Installations outside the burst get places of their own, so that a burst cannot starve them, but fewer than there are
// workers: at the begin of a burst of many tenants none seems to take part. They are let in every now and then: nothing
// announces when something of theirs becomes due, and to ask the table costs.
func (b *burstLimiter) allowedLooks(now time.Time, workers int, underWay map[int64]int) (n int, except []int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.advance(now)
	free, inBurst, aside := workers, 0, 0
	for tenant, looks := range underWay {
		free -= looks
		if b.takesPart(tenant) {
			inBurst += looks
		} else {
			aside++ // however many looks: they may have begun before the burst, and hang
		}
	}
	mostLooks, mostAside := burstLooks, asideTenants
	switch {
	case !b.active():
		return free, nil
	case now.Sub(b.began) > longestBurst:
		mostLooks = max(workers/2, mostLooks)
		mostAside = workers - mostLooks
	}
	if n := min(mostLooks-inBurst, mostLooks+mostAside-inBurst-aside, free); n > 0 {
		return n, nil
	}
	since := now.Sub(b.asideAt)
	if n = min(mostAside-aside, free); n <= 0 || 0 <= since && since < burstPause {
		return 0, nil
	}
	b.asideAt = now
	for _, counts := range []map[int64]int{b.byTenant.current, b.byTenant.previous} {
		for tenant := range counts {
			if b.takesPart(tenant) {
				except = append(except, tenant)
			}
		}
	}
	return n, except
}
