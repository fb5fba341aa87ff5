package github

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	minFenceSweep = 4096
	forgetWrite   = 10 * time.Minute // longer than any look
)

// A writeFence keeps two pull requests that have one head from writing two checks on it: a look that began before
// another pull request's look wrote there does not show that write, and must be taken again. Time is the machine's,
// whatever a caller's clock says. It may be used by several goroutines.
type writeFence struct {
	mu      sync.Mutex
	writes  map[[sha256.Size]byte]headWrite // the last ones; of so many commits the names would be memory
	sweepAt int                             // writes: beyond it those are forgotten that no look under way can have missed
}

// siblingWriteError is a write that a look at another pull request of the same head has made meanwhile.
type siblingWriteError struct {
	commit string
	number int
}

func (e siblingWriteError) Error() string {
	return fmt.Sprintf("publish on %s: #%d, which has the same head, is written at the same time", e.commit, e.number)
}

func (siblingWriteError) Temporary() bool { return true }

// LookAgain says that a look at once shows what was written.
func (siblingWriteError) LookAgain() bool { return true }

func (siblingWriteError) Unwrap() error { return ErrMoved }

// headWrite is which pull request's look wrote on a commit last, and when that ended; a write under way ends later.
type headWrite struct {
	number int
	at     time.Time
}

func newWriteFence() *writeFence { return &writeFence{writes: map[[sha256.Size]byte]headWrite{}} }

// claim notes that pr's look, which began to observe at a moment, writes a check on a commit, as an installation's, until
// written is called. That is an error where another pull request's look writes, or has written since: then nothing is noted.
func (f *writeFence) claim(
	installation int64, pr quorum.PR, head, check string, observed time.Time,
) (written func(), err error) {
	commit := fmt.Sprintf("%d/%s/%s@%s %s", installation, pr.Owner, pr.Repo, head, check)
	f.mu.Lock()
	defer f.mu.Unlock()
	now, sum := time.Now(), sha256.Sum256([]byte(commit))
	if was, known := f.writes[sum]; known && was.number != pr.Number && !was.at.Before(observed) {
		return nil, siblingWriteError{commit, was.number}
	}
	if len(f.writes) > f.sweepAt {
		maps.DeleteFunc(f.writes, func(_ [sha256.Size]byte, w headWrite) bool { return now.Sub(w.at) > forgetWrite })
		f.sweepAt = max(2*len(f.writes), minFenceSweep)
	}
	f.writes[sum] = headWrite{pr.Number, now.Add(forgetWrite)}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.writes[sum] = headWrite{pr.Number, time.Now()}
	}, nil
}
