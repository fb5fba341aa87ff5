package daemon

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestARushIsLetInFirst(t *testing.T) {
	var r rush
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if at := r.settled(1, now); !at.Equal(now) || r.looks(now, 32) != 32 {
		t.Errorf("a single delivery is due at %s", at)
	}
	for range 2 * rushAll {
		r.settled(1, now)
	}
	if at := r.settled(1, now); !at.Equal(now.Add(settles)) || r.looks(now, 32) != rushLooks || r.looks(now, 2) != 2 {
		t.Errorf("in a rush a delivery is due at %s", at)
	}
	if at := r.settled(2, now); !at.Equal(now) {
		t.Errorf("who has no part in it waits until %s", at)
	}
	if later := now.Add(2 * rushSlot); r.looks(later, 32) != 32 {
		t.Error("it has no end")
	}
}

// Who has no part in a rush does not wait until its looks end, from the moment at which what they ask for stands in the table.
func TestARushHoldsUpNobodyElse(t *testing.T) {
	var r rush
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r.settled(2, now)
	r.kept(2)
	if _, asked := r.bystanders(); asked {
		t.Error("without a rush nobody stands beside it")
	}
	for range 2 * rushAll {
		r.settled(1, now)
		r.kept(1)
	}
	if _, asked := r.bystanders(); asked {
		t.Error("who has a part in it does not stand beside it")
	}
	r.settled(2, now)
	if _, asked := r.bystanders(); asked {
		t.Error("it is not in the table yet")
	}
	r.kept(2)
	if parts, asked := r.bystanders(); !asked || !slices.Equal(parts, []int64{1}) {
		t.Errorf("asked %v, besides %v", asked, parts)
	}
	if _, asked := r.bystanders(); asked {
		t.Error("it was told twice")
	}
	r.settled(2, now.Add(rushSlot))
	if parts, _ := r.bystanders(); !slices.Equal(parts, []int64{1}) {
		t.Errorf("in the next slot besides %v", parts)
	}
}

// What was kept for many looks goes when they are over, and not before; a single one is no reason.
func TestWhatARushTookIsGivenBack(t *testing.T) {
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
		settle(calm - time.Second)
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
