package daemon

import (
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// layerBook remembers which pull requests are layers of stacks, and upon which branch: their checks wait for that of the one
// below. After a start the resync has each layer looked at. It remembers, too, which others have the diff of a pull request: what is
// objected there counts for it. It may be used by several goroutines.
type layerBook struct {
	mu    sync.Mutex
	upon  map[string]layerBase // by key
	alike map[string][]int     // by key: numbers of pull requests of the same repository
}

// layerBase is the branch of a repository upon which a layer is.
type layerBase struct {
	tenant       int64
	repo, branch string
}

func layerBaseOf(p workkey.Key, branch string) layerBase {
	return layerBase{p.Tenant, workkey.Repo(p.Tenant, p.Owner, p.Repo), branch}
}

func newLayerBook() *layerBook {
	return &layerBook{upon: map[string]layerBase{}, alike: map[string][]int{}}
}

// note notes what a look shows of a pull request. It reports whether it is a layer upon a branch and was not known as one: while
// it was looked at, nobody told of the one below.
func (b *layerBook) note(key string, p workkey.Key, l loop.Look) (isNew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.alike, key)
	if others := l.Snapshot.Record.Alike; len(others) > 0 && l.Decision.Verdict != quorum.Ended {
		b.alike[key] = others
	}
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

// dependents are the numbers of those that are layers upon the branch of a pull request, or have its diff.
func (b *layerBook) dependents(p workkey.Key, pr quorum.PullRequest) (numbers []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	repo := workkey.Repo(p.Tenant, p.Owner, p.Repo)
	for key, others := range b.alike {
		o, ok := workkey.Parse(key)
		if ok && workkey.Repo(o.Tenant, o.Owner, o.Repo) == repo && slices.Contains(others, pr.Number) {
			numbers = append(numbers, o.Number)
		}
	}
	if pr.Fork {
		return numbers
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
	for key := range b.alike {
		if p, ok := workkey.Parse(key); ok && p.Tenant == id {
			delete(b.alike, key)
		}
	}
}
