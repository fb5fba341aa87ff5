package daemon

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// dependentBook remembers on which others the check of a pull request depends: a layer of a stack on that of the one below, and any
// on those with the same diff, for what is objected there counts here. After a start the resync has each layer looked at. It may be
// used by several goroutines.
type dependentBook struct {
	mu sync.Mutex
	of map[string]dependence // by key
}

// dependence is on what in its repository the check of a pull request depends.
type dependence struct {
	branch string // upon which it is a layer; "": it is none
	alike  []int  // numbers of pull requests with the same diff
}

func newDependentBook() *dependentBook { return &dependentBook{of: map[string]dependence{}} }

// note notes what a look shows of a pull request. It reports whether it is a layer upon a branch and was not known as one: while
// it was looked at, nobody told of the one below.
func (b *dependentBook) note(key string, _ workkey.Key, l loop.Look) (isNew bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := dependence{alike: l.Snapshot.Record.Compared.Alike}
	if l.Decision.Trunk != "" {
		now.branch = l.Snapshot.PR.BaseRef
	}
	was := b.of[key]
	if l.Decision.Verdict == quorum.Ended || now.branch == "" && len(now.alike) == 0 {
		delete(b.of, key)
		return false
	}
	b.of[key] = now
	return now.branch != "" && was.branch != now.branch
}

// dependents are the numbers of those that are layers upon the branch of a pull request, or have its diff.
func (b *dependentBook) dependents(p workkey.Key, pr quorum.PullRequest) (numbers []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	repo := workkey.Repo(p.Tenant, p.Owner, p.Repo)
	for key, on := range b.of {
		isUpon := on.branch != "" && on.branch == pr.HeadRef && !pr.Fork
		number, isHere := strings.CutPrefix(key, repo+"#")
		if n, err := strconv.Atoi(number); isHere && err == nil && (isUpon || slices.Contains(on.alike, pr.Number)) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// removeTenant forgets all of a tenant.
func (b *dependentBook) removeTenant(id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.of, func(key string, _ dependence) bool { return strings.HasPrefix(key, workkey.Tenant(id)+"/") })
}
