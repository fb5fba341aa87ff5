package store

// Fairness among tenants. The database knows when each key is due; walking through thousands of tenants there for each
// claim would cost milliseconds, so the writer remembers of each tenant when its first key may be due and when it was
// last served.

import (
	"cmp"
	"math"
	"slices"
)

// neverDue is the due time of a key that is not due by itself.
const neverDue = math.MaxInt64

// A tenantTurn is one tenant's place among the others.
type tenantTurn struct {
	tenant     int64
	keyCount   int
	due        int64  // no key of the tenant is due before
	dueIsExact bool   // a key is due then
	lastServed uint64 // when it was last served: larger is later; 0: not yet
}

// tenantTurns are all tenants that have had a key, in the order in which they came. Changes can be undone until
// keepChanges.
type tenantTurns struct {
	all        []tenantTurn
	indexOf    map[int64]int
	serveClock uint64
	keptCount  int          // length of all at the last keepChanges
	undoLog    []turnBefore // turns as they were before their changes since then, oldest first
}

type turnBefore struct {
	i int
	tenantTurn
}

// keepChanges makes the changes so far final.
func (ts *tenantTurns) keepChanges() {
	ts.keptCount, ts.undoLog = len(ts.all), ts.undoLog[:0]
}

// undoChanges undoes the changes since the last keepChanges.
func (ts *tenantTurns) undoChanges() {
	for _, u := range slices.Backward(ts.undoLog) {
		ts.all[u.i] = u.tenantTurn
	}
	for _, t := range ts.all[ts.keptCount:] {
		delete(ts.indexOf, t.tenant)
	}
	ts.all = ts.all[:ts.keptCount]
	ts.keepChanges()
}

// editTurn returns the turn of a tenant to be changed, and notes how to undo the change.
func (ts *tenantTurns) editTurn(tenant int64) *tenantTurn {
	i, ok := ts.indexOf[tenant]
	if !ok {
		i = len(ts.all)
		ts.all = append(ts.all, tenantTurn{tenant: tenant, due: neverDue, dueIsExact: true})
		ts.indexOf[tenant] = i
	}
	if i < ts.keptCount {
		ts.undoLog = append(ts.undoLog, turnBefore{i, ts.all[i]})
	}
	return &ts.all[i]
}

// noteDueMoved updates a tenant's turn for a key that was due at before and is now due at after.
func (ts *tenantTurns) noteDueMoved(tenant, before, after int64) {
	t := ts.editTurn(tenant)
	switch {
	case after <= t.due:
		t.due, t.dueIsExact = after, true
	case before == t.due:
		t.dueIsExact = false
	}
}

// pickTenants returns the n tenants whose turn it is, among those with a due key. The turns of all that may have one
// must be exact.
func (ts *tenantTurns) pickTenants(now int64, n int, except map[int64]bool, most map[int64]int) []int64 {
	if n <= 0 {
		return nil
	}
	var best []tenantTurn
	for _, t := range ts.all {
		if t.due > now || len(best) == n && compareTurns(best[n-1], t) <= 0 || except[t.tenant] {
			continue
		}
		if m, ok := most[t.tenant]; ok && m <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, t, compareTurns)
		best = slices.Insert(best, at, t)
		best = best[:min(len(best), n)]
	}
	picked := make([]int64, len(best))
	for i, t := range best {
		picked[i] = t.tenant
	}
	return picked
}

// compareTurns puts the tenant that was served longest ago first, then the one that has waited longest.
func compareTurns(a, b tenantTurn) int {
	return cmp.Or(cmp.Compare(a.lastServed, b.lastServed), cmp.Compare(a.due, b.due), cmp.Compare(a.tenant, b.tenant))
}
