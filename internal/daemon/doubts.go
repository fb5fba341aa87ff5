package daemon

// Doubts of what GitHub says is not there.

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// secondOpinions are the pauses after which GitHub is asked again about what it says is not there. After the last it is believed: a
// replica that lags, and an outage, say the same for a while.
var secondOpinions = [...]time.Duration{2 * time.Second, 5 * time.Second, time.Minute}

// A goneDoubt is how often in a row a key seemed to be gone, and when GitHub is asked about it again.
type goneDoubt struct {
	times int
	next  time.Time
}

// doubt returns when GitHub is asked again about a key that seems to be gone; zero: it is believed. What events have asked before is
// no further opinion.
func (b *tenantBook) doubt(w store.Work) (next time.Time) {
	t, now := b.open(w.Tenant), b.config.Now()
	defer b.mu.Unlock()
	d := t.doubts[w.Key]
	switch {
	case now.Before(d.next):
		return d.next
	case d.times >= len(secondOpinions):
		delete(t.doubts, w.Key)
		return time.Time{}
	}
	d = goneDoubt{d.times + 1, now.Add(secondOpinions[d.times])}
	t.doubts[w.Key] = d
	return d.next
}
