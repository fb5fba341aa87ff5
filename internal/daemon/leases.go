package daemon

// The keys that this process works on, and the leases under which it does.

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// errLost says that another worker may have the key by now.
var errLost = errors.New("the lease is lost")

// workTable holds the keys that were claimed, until all that each leads to is done. It may be used by several goroutines.
type workTable struct {
	mu   sync.Mutex
	held map[store.Lease]*leasedWork
	void time.Time // what was claimed until then is lost
}

// leasedWork is the work on a key.
type leasedWork struct {
	store.Work
	until     time.Time               // when its lease runs out, unless it is renewed; zero: there is none, or it is lost
	observing time.Time               // when GitHub was first asked about a pull request; zero: it is not
	cancel    context.CancelCauseFunc // nil: its look has not begun, or is over
}

// add notes keys that were claimed.
func (t *workTable) add(claimed []store.Work) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range claimed {
		t.held[w.Lease] = &leasedWork{Work: w}
	}
}

// remove notes that all is done for a key that was claimed.
func (t *workTable) remove(l store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.held, l)
}

// underWay counts the keys, and those among them that are of the backlog, by tenant.
func (t *workTable) underWay() (all, backlog map[int64]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, backlog = map[int64]int{}, map[int64]int{}
	for _, work := range t.held {
		all[work.Tenant]++
		if work.Backlog {
			backlog[work.Tenant]++
		}
	}
	return all, backlog
}

// UnderWay returns how many keys are worked on. One whose outcome is kept counts until it is announced.
func UnderWay(d *Daemon) int {
	d.work.mu.Lock()
	defer d.work.mu.Unlock()
	return len(d.work.held)
}

// begin notes that a key is looked at under a lease that was claimed at a moment and runs out at another, and reports whether no
// other worker of this process looks at it. A lease can run out under a look whose process lives: its clock was set forward, or the
// machine slept. Such a look ends before the next one begins.
func (t *workTable) begin(l store.Lease, claimed, until time.Time, cancel context.CancelCauseFunc) (alone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	alone = true
	for _, other := range t.held {
		if other.Key == l.Key && other.cancel != nil {
			other.cancel(errLost)
			alone = false
		}
	}
	if !t.void.IsZero() && !claimed.After(t.void) {
		cancel(errLost)
		until, alone = time.Time{}, false
	}
	t.held[l].until, t.held[l].cancel = until, cancel
	return alone
}

// end notes that a key is not looked at any more.
func (t *workTable) end(l store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if work := t.held[l]; work != nil {
		*work = leasedWork{Work: work.Work}
	}
}

// markObserving notes since when GitHub is asked about a pull request.
func (t *workTable) markObserving(l store.Lease, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if work := t.held[l]; work != nil {
		work.observing = since
	}
}

// observing returns the pull requests that are being looked at, and since when by our clock.
func (t *workTable) observing() map[string]time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	since := map[string]time.Time{}
	for _, work := range t.held {
		since[work.Key] = laterTime(since[work.Key], work.observing)
	}
	return since
}

// leases returns those that are held and were not voided: another process may have those, and renews them.
func (t *workTable) leases() (all []store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for l, work := range t.held {
		if !work.until.IsZero() {
			all = append(all, l)
		}
	}
	return all
}

// VoidClaims ends all work that was claimed until now: it may be another process's.
func (d *Daemon) VoidClaims() {
	t := d.work
	t.mu.Lock()
	defer t.mu.Unlock()
	t.void = d.Now()
	for _, work := range t.held {
		if work.cancel != nil {
			work.until = time.Time{}
			work.cancel(errLost)
		}
	}
}

// noteRenewal notes until when leases hold now, zero: as long as before. Work under those that are lost ends.
func (t *workTable) noteRenewal(until time.Time, leases, lost []store.Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range leases {
		switch work := t.held[l]; {
		case work == nil || work.until.IsZero(): // it is over by now, or void
		case slices.Contains(lost, l):
			work.cancel(errLost)
		case !until.IsZero():
			work.until = until
		}
	}
}

// permitOf returns what reports whether a lease holds, and goes on doing so for a margin: a process that was halted, or whose machine
// slept, learns from its clock alone that another one may have the key by now. Work whose lease does not hold ends.
func (t *workTable) permitOf(l store.Lease, now func() time.Time, margin time.Duration) func() error {
	return func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		at := now().Add(margin)
		work := t.held[l]
		if work != nil && at.Before(work.until) && at.Round(0).Before(work.until.Round(0)) {
			return nil
		}
		if work != nil && work.cancel != nil {
			work.cancel(errLost)
		}
		return errLost
	}
}
