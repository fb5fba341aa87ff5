package daemon

// Deliveries that did not reach us: remembered until they are accepted or too old, and asked for again and again.

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

const (
	maxMissedAge = 72 * time.Hour // GitHub redelivers what is at most three days old
	longestPause = 4 * time.Hour  // before one delivery is asked for once more
	maxUnsettled = 10_000         // deliveries that failed and are still asked for
)

// failedDeliveries holds the deliveries that failed and were not accepted since. It may be used by several goroutines.
type failedDeliveries struct {
	mu   sync.Mutex
	byID map[string]failedDelivery // nil: those that another process left are not read yet
	asOf time.Time                 // of the row that this process read or wrote last
}

// A failedDelivery failed, as far as the host knows, and the table does not know it. One that is too old by now stays
// as long as the host names it, so that it is not taken for a new one.
type failedDelivery struct {
	ID    string    `json:"id"`
	Hook  int64     `json:"hook"`           // of its newest attempt
	Found time.Time `json:"found"`          // when the host first named it
	Next  time.Time `json:"next,omitzero"`  // when it is asked for; zero: never again
	Asks  int       `json:"asks,omitempty"` // how often it was
}

func (f failedDelivery) tooOld(now time.Time) bool { return now.Sub(f.Found) > maxMissedAge }

// restore takes up the deliveries that another process left as of a moment.
func (f *failedDeliveries) restore(left []failedDelivery, asOf time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byID != nil && !asOf.After(f.asOf) { // this process knows newer ones: a round that failed half way may not have been kept
		return
	}
	f.asOf = asOf
	f.byID = map[string]failedDelivery{}
	for _, d := range left {
		f.byID[d.ID] = d
	}
}

// keptAsOf notes that what is known is to be kept as of a moment.
func (f *failedDeliveries) keptAsOf(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asOf = at
}

// oldestFirst returns the failed deliveries.
func (f *failedDeliveries) oldestFirst() []failedDelivery {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sorted()
}

// sorted returns the oldest first; f.mu is held.
func (f *failedDeliveries) sorted() []failedDelivery {
	return slices.SortedFunc(maps.Values(f.byID), func(a, b failedDelivery) int {
		return cmp.Or(a.Found.Compare(b.Found), cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.ID, b.ID))
	})
}

// merge adds the deliveries that GitHub lists as failed, and removes those that the table knows or that are too old. It
// returns how many were dropped because there are too many.
func (f *failedDeliveries) merge(missed []client.FailedDelivery, known map[string]bool, now time.Time) (dropped int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	named := map[string]bool{}
	for _, m := range missed {
		named[m.GUID] = true
		d, old := f.byID[m.GUID]
		if !old {
			d = failedDelivery{ID: m.GUID, Found: now, Next: now}
		}
		d.Hook = m.ID
		f.byID[m.GUID] = d
	}
	for id, d := range f.byID {
		if d.Found.After(now) { // the clock was set back
			d.Found, d.Next = now, now
		}
		f.byID[id] = d
		if known[id] || (d.Next.IsZero() || d.tooOld(now)) && !named[id] {
			delete(f.byID, id)
		}
	}
	if all := f.sorted(); len(all) > maxUnsettled {
		dropped = len(all) - maxUnsettled
		for _, d := range all[:dropped] {
			delete(f.byID, d.ID)
		}
	}
	return dropped
}

// markAsked notes that a delivery was asked for: the next time after a pause that doubles, or never again.
func (f *failedDeliveries) markAsked(id string, now time.Time, pause time.Duration, never bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.byID[id]
	if !ok { // it came meanwhile
		return
	}
	d.Next = now.Add(min(pause<<min(d.Asks, 14), longestPause))
	d.Asks++
	if never {
		d.Next = time.Time{}
	}
	f.byID[id] = d
}

// settle says that a delivery need not be asked for.
func (f *failedDeliveries) settle(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byID, id)
}
