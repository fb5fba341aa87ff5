package github

import (
	"maps"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A disagreement is what REST and GraphQL show differently of a pull request, as of the last look.
type disagreement struct {
	mu    sync.Mutex // other workers look at it as a sibling of theirs
	head  string
	since map[quorum.TextRef]time.Time // when each text was first found so; the zero one stands for the pull request itself
}

// of returns what is shown differently of a head, and since when.
func (d *disagreement) of(head string) map[quorum.TextRef]time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.head != head {
		return nil
	}
	return maps.Clone(d.since)
}

// note takes over what is shown differently of a head now, and returns since when: of late ones that was before, too.
func (d *disagreement) note(head string, refs, late []quorum.TextRef, now time.Time) map[quorum.TextRef]time.Time {
	known, since := d.of(head), map[quorum.TextRef]time.Time{}
	for _, ref := range refs {
		since[ref] = now
	}
	for _, ref := range late {
		if since[ref] = now; !known[ref].IsZero() {
			since[ref] = known[ref]
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.head, d.since = head, since
	return maps.Clone(since)
}
