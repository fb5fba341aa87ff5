package store

// Fairness among tenants. The database knows when each key is due; walking through thousands of tenants there for each
// claim would cost milliseconds, so the writer remembers of each tenant when its first key may be due and when it was
// last served.

import (
	"cmp"
	"math"
	"slices"
)

// A queueKind is one of the two queues in which a key can wait.
type queueKind int

const (
	liveQueue    queueKind = iota // of what has just happened, and of wakes
	backlogQueue                  // of what waits for nobody
	queueKinds
)

// neverDue is the due time of a key that is not due by itself.
const neverDue = math.MaxInt64

// A tenantTurn is one tenant's place among the others.
type tenantTurn struct {
	tenant     int64
	keyCount   int
	first      [queueKinds]firstDue
	lastServed uint64 // when it was last served: larger is later; 0: not yet
}

// firstDue is when the first key of a tenant is due in a queue.
type firstDue struct {
	at      int64 // no key is due before
	isExact bool  // one is due then
}

// nothingDue is that of a tenant without keys.
var nothingDue = [queueKinds]firstDue{{neverDue, true}, {neverDue, true}}

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
		ts.all = append(ts.all, tenantTurn{tenant: tenant, first: nothingDue})
		ts.indexOf[tenant] = i
	}
	if i < ts.keptCount {
		ts.undoLog = append(ts.undoLog, turnBefore{i, ts.all[i]})
	}
	return &ts.all[i]
}

// noteDueMoved updates a tenant's turn for a key that was due at before in a queue and is now due at after.
func (ts *tenantTurns) noteDueMoved(tenant int64, q queueKind, before, after int64) {
	if before == after {
		return
	}
	due := &ts.editTurn(tenant).first[q]
	switch {
	case after <= due.at:
		*due = firstDue{after, true}
	case before == due.at:
		due.isExact = false
	}
}

// pickTenants returns the n tenants whose turn it is, among those with a due key in a queue. The turns of all that may
// have one must be exact.
func (ts *tenantTurns) pickTenants(now int64, n int, q queueKind, except map[int64]bool, mayHave func(tenant int64) bool) []int64 {
	if n <= 0 {
		return nil
	}
	compare := func(a, b tenantTurn) int {
		return cmp.Or(cmp.Compare(a.lastServed, b.lastServed), cmp.Compare(a.first[q].at, b.first[q].at), cmp.Compare(a.tenant, b.tenant))
	}
	var best []tenantTurn
	for _, t := range ts.all {
		if t.first[q].at > now || len(best) == n && compare(best[n-1], t) <= 0 || except[t.tenant] || !mayHave(t.tenant) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, t, compare)
		best = slices.Insert(best, at, t)
		best = best[:min(len(best), n)]
	}
	picked := make([]int64, len(best))
	for i, t := range best {
		picked[i] = t.tenant
	}
	return picked
}
