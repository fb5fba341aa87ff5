package client

import (
	"math/rand/v2"
	"testing"
	"time"
)

// No minute, wherever it begins, holds more than is allowed; nearly all of that is let through; and what is kept of it
// stays small, however many requests there were.
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
		if at, free := w.take(now, Cost{Reads: cost}, ""); !free {
			now = at
			if at, free := w.take(now, Cost{Reads: cost}, ""); !free {
				t.Fatalf("at %v there was to be room, but only at %v there is", now, at)
			}
		}
		sent = append(sent, taken{now, cost})
		if n := len(w.points.sent); n > 3*256 {
			t.Fatalf("%d turns are kept", n)
		}
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

// What one pull request writes takes nothing that is held for another one, however often it is looked at.
func TestNobodyTakesAnothersHeldWrite(t *testing.T) {
	w, now := newRateWindows(), time.Duration(0)
	must := func(c Cost, pull string) {
		now += 10 * time.Millisecond
		if at, free := w.take(now, c, pull); !free {
			t.Fatalf("%+v of %q waits for %s", c, pull, at-now)
		}
	}
	for range 580 { // a busy minute
		must(Cost{Reads: 1}, "")
	}
	must(Cost{Reads: 1}, "pulls/8")
	for range 2 {
		must(Cost{Reads: 1}, "pulls/7")
		must(Cost{Writes: 1}, "")
	}
	for {
		if _, free := w.take(now, Cost{Reads: 1}, ""); !free {
			break
		}
	}
	must(Cost{Writes: 1}, "") // of 8
}
