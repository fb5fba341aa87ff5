package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// A clock that jumps by a minute between two readings, whichever two: a lease holds for half a minute. No fault is logged,
// and what is due is looked at without a pause.
func TestAClockThatJumpsBetweenTwoReadingsIsNoFault(t *testing.T) {
	for reading := range 12 {
		t.Run(fmt.Sprintf("before reading %d", reading+1), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				l.open(1, pull(7))
				var log bytes.Buffer
				var left atomic.Int64 // readings until the jump
				jump := &shift{}
				h := build(t, l, t.TempDir(), func(c *Config) {
					c.Log = slog.New(slog.NewTextHandler(&log, nil))
					c.Now = func() time.Time {
						if left.Add(-1) == 0 {
							jump.set(time.Minute)
						}
						return jump.now()
					}
				})
				settle(time.Minute)
				before := len(l.looks())
				left.Store(int64(reading) + 1)
				h.deliver(about(1, pull(7)))
				settle(100 * time.Millisecond)
				if after := len(l.looks()); after == before {
					t.Error("it was not looked at")
				}
				h.stop()
				if strings.Contains(log.String(), "level=ERROR") {
					t.Error(log.String())
				}
			})
		})
	}
}

// No pause of the dispatcher's is measured by a clock that stands: who moves it may wait for the work.
func TestAClockThatStandsHoldsUpNothingThatIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.takes = time.Second
		now := time.Now()
		faulty := &failsOnce{}
		h := build(t, l, t.TempDir(), func(c *Config) {
			faulty.Store = c.Store
			c.Store, c.Workers, c.Now = faulty, 2, func() time.Time { return now }
			c.Alarm = func(at time.Time) (<-chan time.Time, func()) {
				ring := make(chan time.Time, 1)
				if !at.After(now) {
					ring <- now
				}
				return ring, func() {}
			}
		})
		settle(time.Second)
		for n := range 6 {
			l.open(1, pull(n))
			h.deliver(about(1, pull(n)))
		}
		settle(time.Second)
		faulty.fails.Store(true)
		settle(time.Minute)
		for n := range 6 {
			if count(l.looks(), pull(n).String()) == 0 {
				t.Errorf("%s was not looked at", pull(n))
			}
		}
		if faulty.fails.Load() {
			t.Error("the table did not fail")
		}
		h.stop()
	})
}

// failsOnce is a table that cannot be read once, when it is told to.
type failsOnce struct {
	store.Store
	fails atomic.Bool
}

func (s *failsOnce) Claim(ctx context.Context, c store.Claim) ([]store.Work, error) {
	if s.fails.CompareAndSwap(true, false) {
		return nil, errors.New("disk I/O error")
	}
	return s.Store.Claim(ctx, c)
}
