package daemon

import (
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// layerBook remembers which pull requests are layers of stacks, and upon which branch: their checks wait for that of the one
// below. After a start the resync has each layer looked at. It may be used by several goroutines.
type layerBook struct {
	mu   sync.Mutex
	upon map[string]layerBase // by key
}

// layerBase is the branch of a repository upon which a layer is.
type layerBase struct {
	tenant       int64
	repo, branch string
}

func layerBaseOf(p workkey.Key, branch string) layerBase {
	return layerBase{p.Tenant, workkey.Repo(p.Tenant, p.Owner, p.Repo), branch}
}

func newLayerBook() *layerBook { return &layerBook{upon: map[string]layerBase{}} }

// note notes what a look shows of a pull request. It reports whether it is a layer upon a branch and was not known as one: while
// it was looked at, nobody told of the one below.
func (b *layerBook) note(key string, p workkey.Key, l loop.Look) (isNew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.Decision.Trunk == "" || l.Decision.Verdict == quorum.Ended {
		delete(b.upon, key)
		return false
	}
	base := layerBaseOf(p, l.Snapshot.PR.BaseRef)
	isNew = b.upon[key] != base
	b.upon[key] = base
	return isNew
}

// isStale reports whether a pull request needs a look that was seen and updated then; whole: so does each layer, to be noted.
func isStale(s dashboard.Sight, whole bool, seen, updated time.Time) bool {
	isLayer := s.Trunk != ""
	return whole && isLayer || seen.Before(updated)
}

// above are the numbers of those that are layers upon the branch of a pull request.
func (b *layerBook) above(p workkey.Key, pr quorum.PullRequest) (numbers []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if pr.Fork {
		return nil
	}
	for key, base := range b.upon {
		if layer, ok := workkey.Parse(key); ok && base == layerBaseOf(p, pr.HeadRef) {
			numbers = append(numbers, layer.Number)
		}
	}
	return numbers
}

// removeTenant forgets all of a tenant.
func (b *layerBook) removeTenant(id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, base := range b.upon {
		if base.tenant == id {
			delete(b.upon, key)
		}
	}
}
