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

// goneDoubts counts how often in a row keys seemed to be gone. It may be used by several goroutines.
type goneDoubts struct {
	mu    sync.Mutex
	times map[string]int
}

// doubt reports whether GitHub is asked again about a key that seems to be gone, and after which pause.
func (g *goneDoubts) doubt(key string) (pause time.Duration, isDoubted bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.times[key]
	if n >= len(secondOpinions) {
		delete(g.times, key)
		return 0, false
	}
	g.times[key] = n + 1
	return secondOpinions[n], true
}

// forgetTenant forgets a tenant's keys.
func (g *goneDoubts) forgetTenant(id int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := workkey.Tenant(id)
	maps.DeleteFunc(g.times, func(key string, _ int) bool { return key == own || strings.HasPrefix(key, own+"/") })
}

// forget notes that a key is there, or needs no row.
func (g *goneDoubts) forget(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.times, key)
}
