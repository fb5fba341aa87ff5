package daemon

// Deliveries that did not reach us: kept in the row of the host until they are accepted or too old, and asked for again and again.

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

// A failedDelivery failed, as far as the host knows, and the table does not know it. One that is too old by now stays
// as long as the host names it, so that it is not taken for a new one.
type failedDelivery struct {
	ID    string    `json:"id"`
	Hook  int64     `json:"hook"`          // of its newest attempt
	Found time.Time `json:"found"`         // when the host first named it
	Next  time.Time `json:"next,omitzero"` // when it is asked for; zero: never again
}

func (f *failedDelivery) tooOld(now time.Time) bool { return now.Sub(f.Found) > maxMissedAge }

// markAsked notes that a delivery was asked for: the next time after a pause as long as it has been missing, or never again.
func (f *failedDelivery) markAsked(now time.Time, pause time.Duration, never bool) {
	if f.Next = now.Add(min(now.Sub(f.Found)+pause, longestPause)); never {
		f.Next = time.Time{}
	}
}

// mergeFailed returns, oldest first, the deliveries that were kept and those that GitHub lists as failed, without those that are too old.
func mergeFailed(kept []failedDelivery, listed []client.FailedDelivery, now time.Time) []failedDelivery {
	byID, named := map[string]failedDelivery{}, map[string]bool{}
	for _, d := range kept {
		if d.Found.After(now) { // the clock was set back
			d.Found, d.Next = now, now
		}
		byID[d.ID] = d
	}
	for _, l := range listed {
		d, old := byID[l.GUID]
		if !old {
			d = failedDelivery{ID: l.GUID, Found: now, Next: now}
		}
		d.Hook = l.ID
		byID[l.GUID], named[l.GUID] = d, true
	}
	maps.DeleteFunc(byID, func(id string, d failedDelivery) bool {
		return !named[id] && (d.Next.IsZero() || d.tooOld(now))
	})
	return slices.SortedFunc(maps.Values(byID), func(a, b failedDelivery) int {
		return cmp.Or(a.Found.Compare(b.Found), cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.ID, b.ID))
	})
}

// ignoredDeliveries are those that came since the last resync and asked for nothing: the table never knows them. It may be used by
// several goroutines.
type ignoredDeliveries struct {
	mu  sync.Mutex
	ids map[string]bool
}

// add notes one, unless there are too many: then it is asked for once more than it need be.
func (i *ignoredDeliveries) add(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.ids) < maxUnsettled {
		i.ids[id] = true
	}
}

// take returns all, and forgets them.
func (i *ignoredDeliveries) take() map[string]bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	ids := i.ids
	i.ids = map[string]bool{}
	return ids
}
