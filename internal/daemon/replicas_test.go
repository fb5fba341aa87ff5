package daemon

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// sharedTable is a table that another process uses, too.
type sharedTable struct {
	store.Store
	moved   atomic.Bool // the next claim finds that another process has worked meanwhile
	retired atomic.Bool
	silent  bool        // it does not answer any more once a pull request is looked at
	leased  atomic.Bool // one is
}

func (s *sharedTable) Renew(ctx context.Context, until time.Time, leases ...store.Lease) ([]store.Lease, error) {
	if s.silent {
		return nil, errors.New("no answer")
	}
	return s.Store.Renew(ctx, until, leases...)
}

func (s *sharedTable) Claim(ctx context.Context, c store.Claim) ([]store.Work, error) {
	if s.silent && s.leased.Load() {
		return nil, errors.New("no answer")
	}
	works, err := s.Store.Claim(ctx, c)
	if slices.ContainsFunc(works, func(w store.Work) bool { return w.Kind == workkey.KindPull }) {
		s.leased.Store(true)
	}
	if len(works) > 0 && s.moved.CompareAndSwap(true, false) {
		works[0].Moved = true
	}
	return works, err
}

func (s *sharedTable) Retire(ctx context.Context) error {
	s.retired.Store(true)
	return s.Store.Retire(ctx)
}

// What a process knows of a policy counts no more once another process has worked for the installation.
func TestWhatMovedIsReadAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		shared := &sharedTable{}
		h := build(t, l, t.TempDir(), func(c *Config) { shared.Store, c.Store = c.Store, shared })
		settle(time.Minute)
		concerns := func(workflow string) bool {
			before := l.sent(1)
			n := about(1, pull(7))
			n.Touch = quorum.Touch{Event: "workflow_run", Workflow: workflow, Run: 5}
			h.deliver(n)
			settle(time.Second)
			return l.sent(1) > before
		}
		second := l.policy.Reviewers[0]
		second.Name, second.Workflow = "second", ".github/workflows/second.yml"
		if concerns(second.Workflow) {
			t.Fatal("nobody's run is looked at")
		}
		l.mu.Lock()
		l.policy.Reviewers, l.file.SHA = append(slices.Clone(l.policy.Reviewers), second), "p2" // told to another process
		l.mu.Unlock()
		shared.moved.Store(true)
		if !concerns(second.Workflow) {
			t.Error("the policy from before another process worked spares a look")
		}
		h.stop()
		if !shared.retired.Load() {
			t.Error("a process that stops does not say so")
		}
	})
}

// A table that others write to is read without being told: often after something was found, and at least as often as is said.
func TestASharedTableIsPolled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir(), func(c *Config) { c.Poll = 500 * time.Millisecond })
		settle(time.Minute)
		before := len(l.looks())
		told := store.Poke{ // by another process
			Key: workkey.Pull(1, pull(7)), Tenant: 1, Kind: workkey.KindPull, Group: workkey.Repo(1, "acme", "shop"), Due: time.Now(),
		}
		if err := h.Store.Poke(t.Context(), told); err != nil {
			t.Fatal(err)
		}
		settle(500 * time.Millisecond)
		if len(l.looks()) == before {
			t.Error("what another process was told is not looked at within half a second")
		}
		h.stop()
	})
}

// A look whose lease has run out by the clock changes nothing any more, whoever has the key by then.
func TestALookWithoutALeaseMayNotWrite(t *testing.T) {
	for name, c := range map[string]struct {
		renews bool
		takes  time.Duration
		may    bool
	}{
		"in time":              {false, 22 * time.Second, true},
		"too close to its end": {false, 23 * time.Second, false},
		"late":                 {false, 31 * time.Second, false},
		"late, but prolonged":  {true, 31 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				l.open(1, pull(7))
				l.takes = c.takes
				shared := &sharedTable{silent: !c.renews}
				build(t, l, t.TempDir(), func(c *Config) { shared.Store, c.Store = c.Store, shared })
				settle(c.takes + time.Second)
				l.mu.Lock()
				defer l.mu.Unlock()
				if len(l.permits) == 0 || (l.permits[0] == nil) != c.may {
					t.Errorf("it may write: %v", l.permits)
				}
			})
		})
	}
}

// Once it may be taken for gone, a process writes nothing of what it had claimed until then, and looks again.
func TestWhatWasClaimedBeforeALossWritesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		l.takes = 10 * time.Second
		h := build(t, l, t.TempDir())
		settle(5 * time.Second)
		h.VoidClaims()
		settle(6 * time.Second)
		l.mu.Lock()
		if len(l.looked) == 0 || len(l.permits) > 0 {
			t.Errorf("after %d looks it has written: %v", len(l.looked), l.permits)
		}
		l.mu.Unlock()
		settle(time.Minute)
		h.stop()
		if len(l.permits) == 0 || l.permits[0] != nil {
			t.Errorf("it did not look again: %v", l.permits)
		}
	})
}
