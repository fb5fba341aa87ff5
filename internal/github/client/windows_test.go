package client

import (
	"math/rand/v2"
	"testing"
	"time"
)

// No minute, wherever it begins, holds more than is allowed; nearly all of that is let through.
func TestWindowsSlide(t *testing.T) {
	type taken struct {
		at   time.Duration
		cost int
	}
	w := newRateWindows()
	random := rand.New(rand.NewPCG(1, 2))
	var sent []taken
	var now time.Duration
	for now < 20*time.Minute {
		now += time.Duration(random.IntN(120)) * time.Millisecond
		cost := 1 + random.IntN(5)
		if wait := w.take(now, Cost{Reads: cost}); wait > 0 {
			now += wait
			if wait := w.take(now, Cost{Reads: cost}); wait > 0 {
				t.Fatalf("at %v there was to be room, but only %v later there is", now, wait)
			}
		}
		sent = append(sent, taken{now, cost})
	}
	sum, all, from := 0, 0, 0
	for _, x := range sent {
		sum, all = sum+x.cost, all+x.cost
		for ; sent[from].at <= x.at-time.Minute; from++ {
			sum -= sent[from].cost
		}
		if sum > pointsAMinute {
			t.Fatalf("the minute up to %v holds %d, of %d", x.at, sum, pointsAMinute)
		}
	}
	if want := 20 * pointsAMinute * 98 / 100; all < want {
		t.Errorf("%d were let through in 20 minutes, want %d or more", all, want)
	}
	if w.isIdle(now) || !w.isIdle(now+time.Minute+time.Second) || len(w.points.sent) != 0 {
		t.Errorf("%d turns are kept of a client that rests", len(w.points.sent))
	}
}
