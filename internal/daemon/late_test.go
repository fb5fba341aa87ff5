package daemon

// Whether what waits is late.

import (
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// A tenant that waits for a limit is not late, and the queue tells so.
func TestWhatWaitsForALimitIsNotLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		until := time.Now().Add(time.Hour)
		l.mu.Lock()
		l.fails = func(tenant int64) error {
			if tenant == 1 {
				return limitError{until}
			}
			return nil
		}
		l.mu.Unlock()
		h.deliver(about(1, pull(7)))
		settle(20 * time.Minute)
		table, err := h.Store.Health(t.Context(), time.Now())
		if err != nil || table.Oldest < 15*time.Minute {
			t.Fatalf("the table says %+v, %v", table, err)
		}
		seen, err := h.View().Health(t.Context(), time.Now())
		if err != nil || seen.Oldest != 0 || seen.Due == 0 {
			t.Errorf("it is seen as %+v, %v", seen, err)
		}
		if at := seen.Held[1]; !at.Equal(until) {
			t.Errorf("limited until %s, want %s", at, until)
		}
		h.stop()
	})
}

// One tenant's limit does not explain that another's requests are not answered.
func TestALimitExplainsNoOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.mu.Lock()
		l.fails = func(tenant int64) error {
			if tenant == 1 {
				return limitError{time.Now().Add(time.Hour)}
			}
			return faultError{}
		}
		l.mu.Unlock()
		h.deliver(about(1, pull(7)))
		settle(time.Minute)
		h.deliver(about(2, pull(7)))
		settle(20 * time.Minute)
		seen, err := h.View().Health(t.Context(), time.Now())
		if _, isHeld := seen.Held[2]; isHeld {
			t.Error("one that is not answered is said to wait for a limit")
		}
		if err != nil || seen.Oldest > 5*time.Minute { // what is tried again and again is not late
			t.Errorf("%+v, %v", seen, err)
		}
		h.stop()
	})
}

// What waits for somebody to renew a key is late: nothing else would tell of it.
func TestWhatWaitsForAKeyIsLate(t *testing.T) {
	for name, tenant := range map[string]int64{"installation": 1, "App": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				h := build(t, l, t.TempDir())
				settle(time.Second)
				mend := l.failing(tenant, fmt.Errorf("token: %w", errUnauthorized))
				h.deliver(about(1, pull(7)))
				var pokes []store.Poke // all due at once: that they are refused at the same moment is one refusal
				for n := range 12 {
					pokes = append(pokes, lookAt(tenant, pull(n+10), time.Now().Add(-time.Second)))
				}
				if err := h.Store.Poke(t.Context(), pokes...); err != nil {
					t.Fatal(err)
				}
				settle(11*time.Minute + 30*time.Second) // the App's own key is due after five of them
				seen, err := h.View().Health(t.Context(), time.Now())
				if err != nil || seen.Oldest < 5*time.Minute || seen.Due == 0 {
					t.Errorf("after minutes of refusals it is seen as %+v, %v", seen, err)
				}
				mend()
				settle(10 * time.Minute)
				seen, err = h.View().Health(t.Context(), time.Now())
				if err != nil || seen.Oldest != 0 {
					t.Errorf("when the key was renewed it is seen as %+v, %v", seen, err)
				}
				h.stop()
			})
		})
	}
}

// Two refusals hours apart are two short troubles, not a long one.
func TestATroubleAfterAQuietWhileIsANewOne(t *testing.T) {
	now := time.Unix(0, 0)
	h := newTenantBook(&Config{
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, Jitter: func(most time.Duration) time.Duration { return most },
	})
	for _, pause := range []time.Duration{0, 8 * time.Hour} {
		now = now.Add(pause)
		if until := h.noteTrouble(1, classOf(errUnauthorized), errUnauthorized); until.Sub(now) > time.Minute {
			t.Errorf("all of the installation waits for %s", until.Sub(now))
		}
	}
	for range 8 { // what goes on is asked about ever more rarely
		now = h.noteTrouble(1, classOf(errUnauthorized), errUnauthorized)
	}
	if until := h.noteTrouble(1, classOf(errUnauthorized), errUnauthorized); until.Sub(now) < 2*time.Minute {
		t.Errorf("after minutes of refusals the next try comes %s later", until.Sub(now))
	}
}
