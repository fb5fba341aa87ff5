package daemon

import (
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// dependence is on what in its repository the check of a pull request depends: a layer of a stack on that of the one below, and any
// on those with the same diff, for what is objected there counts here. After a start the resync has each layer looked at.
type dependence struct {
	branch string // upon which it is a layer; "": it is none
	alike  []int  // numbers of pull requests with the same diff
}

// noteDependence notes what a look shows of a pull request. It reports whether it is a layer upon a branch and was not known as one: while
// it was looked at, nobody told of the one below.
func (b *tenantBook) noteDependence(w store.Work, l loop.Look) (isNew bool) {
	t := b.open(w.Tenant)
	defer b.mu.Unlock()
	now := dependence{alike: l.Snapshot.Record.Compared.Alike}
	if l.Decision.Trunk != "" {
		now.branch = l.Snapshot.PR.BaseRef
	}
	was := t.depends[w.Key]
	if l.Decision.Verdict == quorum.Ended || now.branch == "" && len(now.alike) == 0 {
		delete(t.depends, w.Key)
		return false
	}
	t.depends[w.Key] = now
	return now.branch != "" && was.branch != now.branch
}

// dependents are the numbers of those that are layers upon the branch of a pull request, or have its diff.
func (b *tenantBook) dependents(p workkey.Key, pr quorum.PullRequest) (numbers []int) {
	t := b.open(p.Tenant)
	defer b.mu.Unlock()
	repo := workkey.Repo(p.Tenant, p.Owner, p.Repo)
	for key, on := range t.depends {
		isUpon := on.branch != "" && on.branch == pr.HeadRef && !pr.Fork
		number, isHere := strings.CutPrefix(key, repo+"#")
		if n, err := strconv.Atoi(number); isHere && err == nil && (isUpon || slices.Contains(on.alike, pr.Number)) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
