package client

import (
	"math/rand/v2"
	"testing"
	"time"
)

// No minute, wherever it begins, holds more than is allowed; nearly all of that is let through; and what is kept of it stays
// small, however many requests there were.
func TestWindowsSlide(t *testing.T) {
	const most = 700
	w := &window{span: time.Minute, most: most}
	random := rand.New(rand.NewPCG(1, 2))
	var sent []sentCost
	var now time.Duration
	for now < 20*time.Minute {
		now += time.Duration(random.IntN(120)) * time.Millisecond
		cost := 1 + random.IntN(5)
		w.slide(now)
		if at := w.earliest(now, cost); at > now {
			now = at
			w.slide(now)
			if at := w.earliest(now, cost); at > now {
				t.Fatalf("at %v there was to be room, but only at %v there is", now, at)
			}
		}
		w.add(now, cost)
		sent = append(sent, sentCost{now, cost})
		if len(w.sent) > 3*grainsPerWindow {
			t.Fatalf("%d turns are kept", len(w.sent))
		}
	}
	sum, all, from := 0, 0, 0
	for _, x := range sent {
		sum, all = sum+x.cost, all+x.cost
		for ; sent[from].at <= x.at-w.span; from++ {
			sum -= sent[from].cost
		}
		if sum > most {
			t.Fatalf("the minute up to %v holds %d, of %d", x.at, sum, most)
		}
	}
	if want := 20 * most * 98 / 100; all < want {
		t.Errorf("%d were let through in 20 minutes, want %d or more", all, want)
	}
	if w.slide(now + w.span + w.span/grainsPerWindow); w.sum != 0 || len(w.sent) != 0 {
		t.Errorf("%d are still counted, in %d turns", w.sum, len(w.sent))
	}
}
