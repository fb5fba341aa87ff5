package daemon

// Doubts of what GitHub says is not there.

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/workkey"
)

// secondOpinions are the pauses after which GitHub is asked again about what it says is not there. After the last it is believed: a
// replica that lags, and an outage, say the same for a while.
var secondOpinions = [...]time.Duration{2 * time.Second, 5 * time.Second, time.Minute}

// goneDoubts remembers which keys seem to be gone. It may be used by several goroutines.
type goneDoubts struct {
	mu   sync.Mutex
	keys map[string]goneDoubt
}

// A goneDoubt is how often in a row a key seemed to be gone, and when GitHub is asked about it again.
type goneDoubt struct {
	times int
	next  time.Time
}

// doubt returns when GitHub is asked again about a key that seems to be gone; zero: it is believed. What events have asked before is
// no further opinion.
func (g *goneDoubts) doubt(key string, now time.Time) (next time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.keys[key]
	switch {
	case now.Before(d.next):
		return d.next
	case d.times >= len(secondOpinions):
		delete(g.keys, key)
		return time.Time{}
	}
	d = goneDoubt{d.times + 1, now.Add(secondOpinions[d.times])}
	g.keys[key] = d
	return d.next
}

// forgetTenant forgets a tenant's keys.
func (g *goneDoubts) forgetTenant(id int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := workkey.Tenant(id)
	maps.DeleteFunc(g.keys, func(key string, _ goneDoubt) bool { return key == own || strings.HasPrefix(key, own+"/") })
}

// forget notes that a key is there.
func (g *goneDoubts) forget(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.keys, key)
}
