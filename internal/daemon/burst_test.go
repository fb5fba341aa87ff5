package daemon

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/store"
)

// what a burst is, and what it gets
const (
	muchMore = 120                    // deliveries at once, by far a burst
	delayed  = 500 * time.Millisecond // of what a burst asks for
	inSlots  = 100 * time.Millisecond // deliveries are counted in slots
	inShares = time.Second            // and in longer ones, for whose they are
)

func TestARushIsLetInFirst(t *testing.T) {
	var r burstLimiter
	now := noon
	room := func(at time.Time, workers, busy int) int { // for who has a part in it
		n, except := r.allowedLooks(at, workers, map[int64]int{1: busy})
		if slices.Contains(except, 1) {
			return 0
		}
		return n
	}
	if at := r.countDelivery(1, now); !at.Equal(now) || room(now, 32, 1) != 31 {
		t.Errorf("a single delivery is due at %s", at)
	}
	for range muchMore {
		r.countDelivery(1, now)
	}
	if at := r.countDelivery(1, now); !at.Equal(now.Add(delayed)) || room(now, 32, 0) != 1 || room(now, 32, 1) != 0 {
		t.Errorf("in a burst a delivery is due at %s", at)
	}
	if at := r.countDelivery(2, now); !at.Equal(now) {
		t.Errorf("who has no part in it waits until %s", at)
	}
	if later := now.Add(2 * inSlots); room(later, 32, 1) != 31 {
		t.Error("it has no end")
	}
}

// What goes on for long is no burst, of which more is better waited for.
func TestALongRushIsWorkedOn(t *testing.T) {
	var r burstLimiter
	room := func(at time.Time) int {
		n, _ := r.allowedLooks(at, 32, nil)
		return n
	}
	now := noon
	for end := now.Add(11 * time.Second); now.Before(end); now = now.Add(time.Millisecond) {
		r.countDelivery(1, now)
	}
	if n := room(now); n != 16 {
		t.Errorf("there is room for %d looks, want half of the workers", n)
	}
	if n, except := r.allowedLooks(now, 1, nil); n != 1 || except != nil {
		t.Errorf("one worker looks at %d beside %v", n, except)
	}
	if n, except := r.allowedLooks(now, 32, map[int64]int{1: 16}); n != 16 || !slices.Equal(except, []int64{1}) {
		t.Errorf("beside them there is room for %d but of %v, want the other half of the workers", n, except)
	}
	now = now.Add(time.Second) // none comes
	for range muchMore {
		r.countDelivery(1, now)
	}
	if n := room(now); n != 1 {
		t.Errorf("in the next one there is room for %d looks, want one", n)
	}
}

// When a slot has just begun there seems to be no burst, if it is a small one: that is not its end.
func TestARushDoesNotEndWithASlot(t *testing.T) {
	var r burstLimiter
	now := noon
	every := inSlots / 60 // as few as a burst may be
	for range 20 * time.Second / every {
		now = now.Add(every)
		r.countDelivery(1, now)
	}
	if n, _ := r.allowedLooks(now, 32, nil); n != 16 {
		t.Errorf("there is room for %d looks, want half of the workers", n)
	}
	late := now.Truncate(inShares).Add(inShares)
	r.countDelivery(1, late)
	for _, at := range []time.Time{late, late.Add(-time.Microsecond), late} { // the second read the clock before the slot began
		if n, _ := r.allowedLooks(at, 32, nil); n != 16 {
			t.Errorf("%s after the slot's begin there is room for %d looks, want half of the workers", at.Sub(late), n)
		}
	}
}

// A clock that is put back by an hour neither prolongs a burst by it nor takes the next one for a new one all the time.
func TestARushEndsThoughTheClockIsPutBack(t *testing.T) {
	var r burstLimiter
	for range muchMore {
		r.countDelivery(1, noon)
	}
	now := noon.Add(-time.Hour)
	if n, except := r.allowedLooks(now, 32, nil); n != 32 || except != nil {
		t.Errorf("there is room for %d beside %v, want all workers", n, except)
	}
	for end := now.Add(11 * time.Second); now.Before(end); now = now.Add(time.Millisecond) {
		r.countDelivery(1, now)
	}
	if n, _ := r.allowedLooks(now, 32, nil); n != 16 {
		t.Errorf("there is room for %d looks, want half of the workers", n)
	}
}

// Whoever sends a few deliveries while others send very many is a bystander.
func TestAFewDeliveriesAreNoPart(t *testing.T) {
	var r burstLimiter
	now := noon
	var due time.Time
	for n := range 3000 {
		now = now.Add(time.Millisecond)
		due = r.countDelivery(1, now)
		if n%200 != 0 { // five a second
			continue
		}
		if at := r.countDelivery(2, now); !at.Equal(now) {
			t.Fatalf("after %s it waits until %s", now.Sub(noon), at)
		}
	}
	if !due.Equal(now.Add(delayed)) {
		t.Error("there is no burst")
	}
}

// Nor is whoever sends as few as all others do, however many they are.
func TestAFewDeliveriesOfEachAreNoPart(t *testing.T) {
	var r burstLimiter
	for n := range 3 {
		for tenant := range int64(100) {
			if at := r.countDelivery(tenant, noon); !at.Equal(noon) {
				t.Fatalf("delivery %d of %d waits until %s", n, tenant, at)
			}
		}
	}
	if at := r.countDelivery(1, noon); !at.Equal(noon.Add(delayed)) {
		t.Error("one more is no part")
	}
}

// Who has no part in a burst does not wait until its looks end.
func TestARushHoldsUpNobodyElse(t *testing.T) {
	var r burstLimiter
	now := noon
	for range muchMore {
		r.countDelivery(1, now)
	}
	r.countDelivery(2, now)
	aside := func(when string, of1, tenants, want int, besides ...int64) {
		t.Helper()
		busy := map[int64]int{1: of1}
		for tenant := range int64(tenants) {
			busy[2+tenant] = 1
		}
		if n, except := r.allowedLooks(now, 32, busy); n != want || !slices.Equal(except, besides) {
			t.Errorf("%s: room for %d beside %v, want %d beside %v", when, n, except, want, besides)
		}
	}
	aside("there is no place", 1, 4, 0)
	aside("there is no place, not even its own", 0, 5, 0)
	aside("there is no worker", 31, 1, 0)
	aside("there is one", 2, 3, 1, 1)
	aside("at once again", 1, 0, 0)
	now = now.Add(20 * time.Millisecond)
	aside("a moment later", 1, 0, 4, 1)
	now = now.Add(-10 * time.Millisecond)
	aside("the clock was put back", 1, 0, 4, 1)
	now = now.Add(10*time.Millisecond + inSlots)
	aside("in the next slot", 1, 0, 4, 1)
	next := now.Truncate(inShares).Add(inShares)
	for range muchMore {
		r.countDelivery(1, next.Add(-time.Millisecond))
	}
	now = next
	aside("in the next second", 1, 0, 4, 1)
	aside("it has its own place", 0, 4, 1)
	if n, _ := r.allowedLooks(now, 32, map[int64]int{2: 12}); n != 1 {
		t.Errorf("beside many looks that began before there is room for %d, want one", n)
	}
}

// In a burst of many tenants each has a part, though in one slot little of it is a tenant's: else all of them would be
// let in as bystanders, and looked at again.
func TestARushOfManyHasNoBystanders(t *testing.T) {
	var r burstLimiter
	now := noon
	for n := range int64(3000) {
		now = now.Add(time.Millisecond)
		due := r.countDelivery(n%100, now) // ten a second of each
		if n < 400 {
			continue
		}
		if !due.Equal(now.Add(delayed)) {
			t.Fatalf("after %s %d has no part", now.Sub(noon), n%100)
		}
		if n%20 != 0 { // others are let in that often
			continue
		}
		room, except := r.allowedLooks(now, 32, map[int64]int{n % 100: 1})
		slices.Sort(except)
		if all := slices.Compact(except); room != 4 || len(all) != 100 {
			t.Fatalf("after %s there is room for %d beside %d of a hundred", now.Sub(noon), room, len(all))
		}
	}
}

// What concerns nobody costs no look, and so it is no burst.
func TestWhatConcernsNobodyIsNoRush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		for range muchMore {
			if got := h.deliverAs("the same", webhook.Notice{Concern: webhook.ConcernNothing, Installation: 1}); got != "ignored" {
				t.Fatalf("it was %s", got)
			}
		}
		l.open(1, pull(7))
		for range 5 { // more than a few
			h.deliver(about(1, pull(7)))
		}
		settle(delayed / 2)
		if len(l.looks()) == 0 {
			t.Error("there is a burst")
		}
		h.stop()
	})
}

// What was kept for many looks goes when they are over, and not before; a single one is no reason.
func TestWhatARushTookIsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.takes = 100 * time.Millisecond
		var calms atomic.Int32
		h := build(t, l, t.TempDir(), func(c *Config) { c.Calm, c.Resync = func() { calms.Add(1) }, 24*time.Hour })
		for n := range 50 {
			l.open(1, pull(n+1))
		}
		settle(time.Minute)
		calms.Store(0) // the start has looked at them all
		h.deliver(about(1, pull(1)))
		settle(time.Minute)
		if n := calms.Load(); n != 0 {
			t.Errorf("after a single look %d times", n)
		}
		for n := range 50 {
			h.deliver(about(1, pull(n+1)))
		}
		settle(7 * time.Second)
		if n := calms.Load(); n != 0 {
			t.Error("too early")
		}
		settle(5 * time.Minute)
		if n := calms.Load(); n != 1 {
			t.Errorf("after many looks %d times, want once", n)
		}
		h.stop()
	})
}

// A tenant that waits for a limit is not late, and the queue tells so.
func TestWhatWaitsForALimitIsNotLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		until := time.Now().Add(time.Hour)
		l.mu.Lock()
		l.fails = func(tenant int64) error {
			if tenant == 1 {
				return limitError{until}
			}
			return nil
		}
		l.mu.Unlock()
		h.deliver(about(1, pull(7)))
		settle(20 * time.Minute)
		table, err := h.Store.Health(t.Context(), time.Now())
		if err != nil || table.Oldest < 15*time.Minute {
			t.Fatalf("the table says %+v, %v", table, err)
		}
		seen, err := h.View().Health(t.Context(), time.Now())
		if err != nil || seen.Oldest != 0 || seen.Due == 0 {
			t.Errorf("it is seen as %+v, %v", seen, err)
		}
		if at := h.Limited(); !at.Equal(until) {
			t.Errorf("limited until %s, want %s", at, until)
		}
		h.stop()
	})
}

// One tenant's limit does not explain that another's requests are not answered.
func TestALimitExplainsNoOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.mu.Lock()
		l.fails = func(tenant int64) error {
			if tenant == 1 {
				return limitError{time.Now().Add(time.Hour)}
			}
			return faultError{}
		}
		l.mu.Unlock()
		h.deliver(about(1, pull(7)))
		settle(time.Minute)
		if h.Limited().IsZero() {
			t.Error("a limit of the only one that was asked for is none")
		}
		h.deliver(about(2, pull(7)))
		settle(20 * time.Minute)
		if at := h.Limited(); !at.IsZero() {
			t.Errorf("limited until %s, though others are not answered", at)
		}
		seen, err := h.View().Health(t.Context(), time.Now())
		if err != nil || seen.Oldest > 5*time.Minute { // what is tried again and again is not late
			t.Errorf("%+v, %v", seen, err)
		}
		h.stop()
	})
}

// What waits for somebody to renew a key is late: nothing else would tell of it.
func TestWhatWaitsForAKeyIsLate(t *testing.T) {
	for name, tenant := range map[string]int64{"installation": 1, "App": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				h := build(t, l, t.TempDir())
				settle(time.Second)
				mend := l.failing(tenant, fmt.Errorf("token: %w", errUnauthorized))
				h.deliver(about(1, pull(7)))
				var pokes []store.Poke // all due at once: that they are refused at the same moment is one refusal
				for n := range 12 {
					pokes = append(pokes, lookAt(tenant, pull(n+10), time.Now().Add(-time.Second)))
				}
				if err := h.Store.Poke(t.Context(), pokes...); err != nil {
					t.Fatal(err)
				}
				settle(11*time.Minute + 30*time.Second) // the App's own key is due after five of them
				seen, err := h.View().Health(t.Context(), time.Now())
				if err != nil || seen.Oldest < 5*time.Minute || seen.Due == 0 {
					t.Errorf("after minutes of refusals it is seen as %+v, %v", seen, err)
				}
				mend()
				settle(10 * time.Minute)
				seen, err = h.View().Health(t.Context(), time.Now())
				if err != nil || seen.Oldest != 0 {
					t.Errorf("when the key was renewed it is seen as %+v, %v", seen, err)
				}
				h.stop()
			})
		})
	}
}
