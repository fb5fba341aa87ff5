package daemon

// The leases under which this process works, and how many keys of each installation that are.

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// errLost says that another worker may have the key by now.
var errLost = errors.New("the lease is lost")

// leaseTable holds the leases of the keys that are worked on. It may be used by several goroutines.
type leaseTable struct {
	mu   sync.Mutex
	held map[store.Lease]leasedWork
	void time.Time // what was claimed until then is lost
}

// leasedWork is the work under one lease.
type leasedWork struct {
	until     time.Time // when it runs out, unless it is renewed; zero: it is lost
	observing time.Time // when GitHub was first asked about a pull request; zero: it is not
	cancel    context.CancelCauseFunc
}

func newLeaseTable() *leaseTable { return &leaseTable{held: map[store.Lease]leasedWork{}} }

// begin notes a lease that was claimed at a moment and runs out at another, and reports whether no other worker of this process has
// its key. A lease can run out under a look whose process lives: its clock was set forward, or the machine slept. Such a look ends
// before the next one begins.
func (t *leaseTable) begin(l store.Lease, claimed, until time.Time, cancel context.CancelCauseFunc) (alone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	alone = true
	for other, work := range t.held {
		if other.Key == l.Key {
			work.cancel(errLost)
			alone = false
		}
	}
	if !t.void.IsZero() && !claimed.After(t.void) {
		cancel(errLost)
		until, alone = time.Time{}, false
	}
	t.held[l] = leasedWork{until: until, cancel: cancel}
	return alone
}

// end says that nobody looks under a lease any more.
func (t *leaseTable) end(l store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.held, l)
}

// markObserving says that a pull request is being looked at under a lease.
func (t *leaseTable) markObserving(l store.Lease, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if work, ok := t.held[l]; ok {
		work.observing = since
		t.held[l] = work
	}
}

// observingSince returns since when, by our clock, a pull request is being looked at; zero: it is not.
func (t *leaseTable) observingSince(key string) (since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l, work := range t.held {
		if l.Key == key {
			since = work.observing
		}
	}
	return since
}

// list returns the leases that are held and were not voided: who has those now, renews them.
func (t *leaseTable) list() (all []store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l, work := range t.held {
		if !work.until.IsZero() {
			all = append(all, l)
		}
	}
	return all
}

// voidAll ends all work that was claimed until a moment.
func (t *leaseTable) voidAll(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.void = now
	for l, work := range t.held {
		work.until = time.Time{}
		work.cancel(errLost)
		t.held[l] = work
	}
}

// noteRenewal notes until when leases hold now.
func (t *leaseTable) noteRenewal(until time.Time, leases []store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range leases {
		if work, ok := t.held[l]; ok && !work.until.IsZero() {
			work.until = until
			t.held[l] = work
		}
	}
}

// permitOf returns what says whether a lease holds, and goes on doing so for a margin: a process that was halted, or whose machine
// slept, learns from its clock alone that another one may have the key by now. Work whose lease does not hold ends.
func (t *leaseTable) permitOf(l store.Lease, now func() time.Time, margin time.Duration) func() error {
	return func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		at := now().Add(margin)
		work, ok := t.held[l]
		if ok && at.Before(work.until) && at.Round(0).Before(work.until.Round(0)) {
			return nil
		}
		if ok {
			work.cancel(errLost)
		}
		return errLost
	}
}

// cancelLost ends the work under leases that another worker may have by now.
func (t *leaseTable) cancelLost(lost []store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range lost {
		if work, ok := t.held[l]; ok {
			work.cancel(errLost)
		}
	}
}

// workload counts the keys that are worked on, by tenant. It may be used by several goroutines.
type workload struct {
	mu       sync.Mutex
	byTenant map[int64]int
	backlog  map[int64]int // those among them that are of the backlog
}

func newWorkload() *workload { return &workload{byTenant: map[int64]int{}, backlog: map[int64]int{}} }

// add counts keys that were claimed.
func (w *workload) add(claimed []store.Work) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range claimed {
		w.byTenant[c.Tenant]++
		if c.Backlog {
			w.backlog[c.Tenant]++
		}
	}
}

// remove says that a key came to its end.
func (w *workload) remove(key store.Work) {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := []map[int64]int{w.byTenant}
	if key.Backlog {
		counts = append(counts, w.backlog)
	}
	for _, c := range counts {
		if c[key.Tenant]--; c[key.Tenant] <= 0 {
			delete(c, key.Tenant)
		}
	}
}

// snapshot returns a copy of the counts, and of those of the backlog.
func (w *workload) snapshot() (all, backlog map[int64]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.byTenant), maps.Clone(w.backlog)
}

// total returns how many keys are worked on.
func (w *workload) total() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, looks := range w.byTenant {
		n += looks
	}
	return n
}
