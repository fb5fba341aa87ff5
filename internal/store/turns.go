package store

// Whose turn it is. The database knows when each key is due; walking through thousands of tenants there for each claim
// would cost milliseconds, so the writer remembers of each tenant when its first key may be due and when it was last served.

import (
	"cmp"
	"math"
	"slices"
)

// never is the time of what is not due by itself.
const never = math.MaxInt64

// A turn is one tenant's place among the others.
type turn struct {
	tenant int64
	keys   int
	due    int64  // none of its keys is due before
	exact  bool   // one is due then
	served uint64 // when it was last served: larger is later; 0: not yet
}

// turns are all tenants that have had a key, in the order in which they came. A change can be taken back until keep.
type turns struct {
	all   []turn
	where map[int64]int
	clock uint64
	kept  int        // how many there were at the last keep
	undo  []undoTurn // as they were before their changes since then, oldest first
}

type undoTurn struct {
	i int
	turn
}

// keep makes the changes so far final.
func (ts *turns) keep() {
	ts.kept, ts.undo = len(ts.all), ts.undo[:0]
}

// takeBack undoes the changes since the last keep.
func (ts *turns) takeBack() {
	for _, u := range slices.Backward(ts.undo) {
		ts.all[u.i] = u.turn
	}
	for _, t := range ts.all[ts.kept:] {
		delete(ts.where, t.tenant)
	}
	ts.all = ts.all[:ts.kept]
	ts.keep()
}

// change returns the place of a tenant to be changed.
func (ts *turns) change(tenant int64) *turn {
	i, ok := ts.where[tenant]
	if !ok {
		i = len(ts.all)
		ts.all = append(ts.all, turn{tenant: tenant, due: never, exact: true})
		ts.where[tenant] = i
	}
	if i < ts.kept {
		ts.undo = append(ts.undo, undoTurn{i, ts.all[i]})
	}
	return &ts.all[i]
}

// moved tells of a key whose due time was before and is now after.
func (ts *turns) moved(tenant, before, after int64) {
	t := ts.change(tenant)
	switch {
	case after <= t.due:
		t.due, t.exact = after, true
	case before == t.due:
		t.exact = false
	}
}

// pick returns the n tenants whose turn it is, of those that have something due. All that may must be exact.
func (ts *turns) pick(now int64, n int, except map[int64]bool, most map[int64]int) []int64 {
	if n <= 0 {
		return nil
	}
	var best []turn
	for _, t := range ts.all {
		if t.due > now || len(best) == n && inTurn(best[n-1], t) <= 0 || except[t.tenant] {
			continue
		}
		if m, ok := most[t.tenant]; ok && m <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, t, inTurn)
		best = slices.Insert(best, at, t)
		best = best[:min(len(best), n)]
	}
	picked := make([]int64, len(best))
	for i, t := range best {
		picked[i] = t.tenant
	}
	return picked
}

// inTurn orders by who was served longest ago, then by who has waited longest.
func inTurn(a, b turn) int {
	return cmp.Or(cmp.Compare(a.served, b.served), cmp.Compare(a.due, b.due), cmp.Compare(a.tenant, b.tenant))
}
