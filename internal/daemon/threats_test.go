package daemon

// What an attacker, or bad luck, may do to the daemon between two of its steps: THREATS.md, the rows of the daemon. All
// of it in virtual time.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// failing makes the land fail for a tenant until it is told otherwise.
func (l *land) failing(tenant int64, err error) (mend func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails = func(of int64) error {
		if of == tenant {
			return err
		}
		return nil
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.fails, l.looked = nil, nil
	}
}

// Fault 21: GitHub answers 404 for a while to what is there. What was dropped for it comes back without an event.
func TestWhatSeemedGoneIsFoundAgain(t *testing.T) {
	for name, is := range map[string]error{"repository": errGone, "installation": client.ErrNotInstalled} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				l.open(1, pull(7))
				h := build(t, l, t.TempDir())
				settle(time.Minute)
				mend := l.failing(1, fmt.Errorf("not found: %w", is))
				settle(16 * time.Minute)
				mend()
				l.open(1, pull(8)) // and nobody tells
				settle(16 * time.Minute)
				for _, pr := range []quorum.PR{pull(7), pull(8)} {
					if count(l.looks(), pr.String()) == 0 {
						t.Errorf("%s was never looked at again", pr)
					}
				}
				h.stop()
			})
		})
	}
}

// The same of a pull request, of which reads said 404 for longer than it is doubted, and which nothing changes afterwards.
func TestAPullRequestThatSeemedGoneIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		l.open(1, pull(8)) // a later change, since which the resync asks
		settle(10 * time.Minute)
		l.mu.Lock()
		left := 4
		l.fails = func(tenant int64) error {
			if tenant == 1 && left > 0 {
				left--
				return fmt.Errorf("list of reviews: %w", errGone)
			}
			return nil
		}
		l.mu.Unlock()
		h.deliver(about(1, pull(7)))
		settle(70 * time.Second)
		if _, err := h.Store.Get(t.Context(), workkey.Pull(1, pull(7))); !errors.Is(err, store.ErrNoRow) {
			t.Fatalf("it is still there: %v", err)
		}
		settle(2 * h.Resync)
		if row := h.row(1, pull(7)); row.Sight == nil || !row.Open {
			t.Errorf("it is not looked at again: %+v", row)
		}
		h.stop()
	})
}

// The host itself cannot be gone: a 404 of the App's own endpoints is a fault.
func TestTheHostIsNeverGone(t *testing.T) {
	for _, is := range []error{errGone, client.ErrNotInstalled} {
		synctest.Test(t, func(t *testing.T) {
			l := newLand()
			mend := l.failing(0, fmt.Errorf("app: %w", is))
			h := build(t, l, t.TempDir())
			settle(10 * time.Minute)
			mend()
			l.open(1, pull(7)) // and nobody tells
			settle(10 * time.Minute)
			if count(l.looks(), pull(7).String()) == 0 {
				t.Errorf("%v: nothing is looked over any more", is)
			}
			h.stop()
		})
	}
}

// A round that fails half way is made whole by the next one.
func TestAFaultHalfWayLosesNoTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		fails := 1
		host := hooked{land: l, missed: func() error {
			if fails--; fails >= 0 {
				return faultError{}
			}
			return nil
		}}
		h := build(t, l, t.TempDir(), func(c *Config) { c.Host = host })
		settle(11 * time.Minute)
		if count(l.looks(), pull(7).String()) == 0 {
			t.Error("the tenant was never looked over")
		}
		h.stop()
	})
}

// hooked is a land whose App endpoints can be made to fail.
type hooked struct {
	*land
	missed    func() error
	redeliver func(guid string) error
}

func (h hooked) Deliveries(ctx context.Context, since time.Time) ([]client.FailedDelivery, error) {
	if h.missed != nil {
		if err := h.missed(); err != nil {
			return nil, err
		}
	}
	return h.land.Deliveries(ctx, since)
}

func (h hooked) Redeliver(ctx context.Context, delivery int64) error {
	_ = h.land.Redeliver(ctx, delivery)
	if h.redeliver != nil {
		h.mu.Lock()
		guid := h.guidOf(delivery)
		h.mu.Unlock()
		return h.redeliver(guid)
	}
	return nil
}

// One delivery that cannot be asked for again holds up no other, and none is asked for at each resync.
func TestADeliveryThatCannotBeAskedForHoldsUpNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.missed = []client.FailedDelivery{{GUID: "a", ID: 1}, {GUID: "bad", ID: 2}, {GUID: "c", ID: 3}}
		host := hooked{land: l, redeliver: func(guid string) error {
			if guid == "bad" {
				return errors.New("422 cannot be redelivered")
			}
			return nil
		}}
		h := build(t, l, t.TempDir(), func(c *Config) { c.Host = host })
		settle(2 * time.Hour)
		l.mu.Lock()
		asked := slices.Clone(l.asked)
		l.mu.Unlock()
		for _, id := range []string{"a", "bad", "c"} {
			if n := count(asked, id); n != 5 {
				t.Errorf("%s was asked for %d times", id, n)
			}
		}
		h.stop()
	})
}

// Fault 68: an installation that comes back works at once, not when its hold ends.
func TestASuspensionEndsWhenItsEndIsAnnounced(t *testing.T) {
	for _, announced := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := newLand()
			l.open(1, pull(7))
			h := build(t, l, t.TempDir())
			settle(time.Minute)
			mend := l.failing(1, fmt.Errorf("token: %w", client.ErrSuspended))
			h.deliver(about(1, pull(7)))
			settle(10 * time.Minute)
			sent := l.sent(1)
			if sent > 20 {
				t.Errorf("%d requests to a suspended installation", sent)
			}
			mend()
			within := 11 * time.Minute
			if announced {
				h.deliver(webhook.Notice{Action: "unsuspend", Concern: webhook.ConcernInstallation, Installation: 1})
				within = time.Second
			}
			settle(within)
			if count(l.looks(), pull(7).String()) == 0 {
				t.Errorf("announced %v: not looked at within %s of its return", announced, within)
			}
			h.stop()
		})
	}
}

// Fault 47: the machine's clock jumps forward while looks are under way. Their leases have run out by the table's
// reckoning; no pull request is looked at twice at once for it.
func TestAClockThatJumpsDoublesNoLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.takes = 20 * time.Second
		for n := range 5 {
			l.open(1, pull(n+1))
		}
		jump := &shift{}
		h := build(t, l, t.TempDir(), func(c *Config) { c.Now = jump.now })
		settle(5 * time.Second)
		jump.set(time.Hour)
		h.deliver(about(1, pull(1)))
		settle(2 * time.Minute)
		if len(l.twice) > 0 {
			t.Errorf("looked at twice at once: %v", l.twice)
		}
		for n := range 5 {
			if count(l.looks(), pull(n+1).String()) == 0 {
				t.Errorf("%s was never looked at", pull(n+1))
			}
		}
		h.stop()
	})
}

// A key that is claimed anew as soon as its look was kept is looked at then: the look before is at its end.
func TestALookThatWasKeptHoldsUpNoNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir(), func(c *Config) { c.Store = slowToReturn{c.Store} })
		settle(time.Minute)
		l.open(1, pull(7))
		h.deliver(about(1, pull(7)))
		settle(500 * time.Millisecond) // it is looked at, and kept; who looked has not heard of it yet
		h.deliver(about(1, pull(7)))
		settle(500 * time.Millisecond)
		if got := len(l.looks()); got != 2 || len(l.twice) > 0 {
			t.Errorf("%d looks, at once %v", got, l.twice)
		}
		h.stop()
	})
}

// slowToReturn is a table that tells a while later that a look was kept.
type slowToReturn struct{ store.Store }

func (s slowToReturn) Complete(ctx context.Context, l store.Lease, o store.Completion) (bool, error) {
	ours, err := s.Store.Complete(ctx, l, o)
	<-time.After(2 * time.Second)
	return ours, err
}

// And back: what was due in an hour that comes twice is found all the same.
func TestAClockThatIsSetBackDelaysNoResync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		jump := &shift{}
		h := build(t, l, t.TempDir(), func(c *Config) { c.Now = jump.now })
		jump.set(time.Hour)
		settle(12 * time.Minute)
		jump.set(0)
		l.mu.Lock()
		l.looked = nil
		l.missed = []client.FailedDelivery{{GUID: "lost", ID: 1}}
		l.mu.Unlock()
		l.open(1, pull(8)) // and nobody tells
		settle(7 * time.Minute)
		if count(l.looks(), pull(8).String()) == 0 {
			t.Error("a new pull request was not found within a resync")
		}
		if count(l.looks(), pull(7).String()) == 0 {
			t.Error("a waiting pull request was not looked at within a resync")
		}
		h.stop()
	})
}

// A limit of GitHub's that is over holds nothing when its hour comes again, and one that is not holds nothing in an hour that
// is past.
func TestAClockThatIsSetBackEndsLimits(t *testing.T) {
	for name, mended := range map[string]bool{"a limit that was over": true, "one that was not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				l.open(1, pull(7))
				jump := &shift{}
				h := build(t, l, t.TempDir(), func(c *Config) { c.Now = jump.now })
				jump.set(3 * time.Hour)
				settle(time.Minute)
				mend := l.failing(1, limitError{until: jump.now().Add(30 * time.Minute)})
				l.open(1, pull(8)) // and nobody tells
				settle(6 * time.Minute)
				mend()
				if mended {
					settle(time.Hour)
				}
				jump.set(0)
				l.mu.Lock()
				l.looked = nil
				l.mu.Unlock()
				settle(7 * time.Minute)
				l.open(1, pull(9))
				settle(7 * time.Minute)
				if count(l.looks(), pull(9).String()) == 0 {
					t.Error("nothing is looked at in the hours that come twice")
				}
				h.stop()
			})
		})
	}
}

// shift is a clock that can be set.
type shift struct {
	mu sync.Mutex
	by time.Duration
}

func (s *shift) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.by)
}

func (s *shift) set(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by = by
}

// Fault 43: a delivery that could not be kept leaves nothing behind, not even that its repository was named.
func TestADeliveryThatWasNotKeptIsAsNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir())
		settle(time.Second)
		l.open(1, pull(7), pull(8))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		n := about(1, pull(7))
		payload, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Receive(gone, Received{ID: "x", Event: "pull_request", Payload: payload, At: h.Now()}); err == nil {
			t.Fatal("it was kept")
		}
		h.deliverAs("y", n)
		if _, err := h.Store.Get(t.Context(), workkey.Repo(1, "acme", "shop")); err != nil {
			t.Errorf("the repository has no resync: %v", err)
		}
		h.stop()
	})
}

// T35: a look that began before the policy changed must not bring the old one back: events are spared by it.
func TestASlowLookBringsNoOldPolicyBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		l.mu.Lock()
		l.takes = 20 * time.Second
		l.mu.Unlock()
		h.deliver(about(1, pull(7)))
		settle(time.Second)
		l.mu.Lock()
		l.takes = 0
		l.file.SHA = "p2"
		added := l.policy.Reviewers[0]
		added.Name, added.Workflow = "second", ".github/workflows/second.yml"
		l.policy.Reviewers = append(slices.Clone(l.policy.Reviewers), added)
		l.mu.Unlock()
		h.deliver(webhook.Notice{Name: "push", Concern: webhook.ConcernRepo, Installation: 1, Owner: "acme", Repo: "shop"})
		l.mu.Lock()
		l.takes = time.Minute // of the second look, which would mend it
		l.mu.Unlock()
		concerns := func(workflow string) bool { // whether an event is worth a request
			before := l.sent(1)
			h.deliver(webhook.Notice{
				Action: "completed", Concern: webhook.ConcernHead, Installation: 1, Owner: "acme", Repo: "shop", Head: sha,
				Touch: quorum.Touch{Event: "workflow_run", Workflow: workflow, Run: 5},
			})
			settle(100 * time.Millisecond)
			return l.sent(1) > before
		}
		settle(10 * time.Second)
		if !concerns(added.Workflow) {
			t.Fatal("the resync did not leave a policy of two reviewers")
		}
		settle(10 * time.Second) // the look that began with the old policy is at its end
		if !concerns(added.Workflow) {
			t.Error("an older reading replaced a newer one")
		}
		if concerns(".github/workflows/third.yml") {
			t.Error("what concerns no reviewer costs a request")
		}
		h.stop()
	})
}

// A page on the web makes a browser ask by a name of its own; no spelling of one passes for ours.
func TestNoOtherNamePassesForOurs(t *testing.T) {
	for _, host := range []string{
		"", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1:9090.evil.example", "127.1",
		"0x7f000001", "2130706433", "0.0.0.0", "[::]", "[::ffff:0.0.0.0]", "localhost:",
	} {
		if ask(newAdmin(&shownTable{}), http.MethodGet, "/healthz", host).Code != http.StatusForbidden {
			t.Errorf("%q passes", host)
		}
	}
	for _, host := range []string{"localhost", "LocalHost:9090", "127.0.0.1", "127.0.0.1:9090", "[::1]:9090", "[::1]", "127.8.8.8:1", "192.0.2.1:9090"} {
		if ask(newAdmin(&shownTable{}), http.MethodGet, "/healthz", host).Code != http.StatusOK {
			t.Errorf("%q is refused", host)
		}
	}
}

// Fault 68: where a permission is missing, asking does not bring it. It is asked for seldom, and found soon once it is
// there.
func TestAMissingPermissionIsAskedForSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir(), func(c *Config) { c.Resync = 24 * time.Hour })
		settle(time.Second)
		mend := l.failing(1, fmt.Errorf("checks: %w", errForbidden))
		for n := range 20 {
			l.open(1, pull(n+1))
			h.deliver(about(1, pull(n+1)))
		}
		settle(time.Hour)
		sent := l.sent(1)
		settle(5 * time.Hour)
		if n := l.sent(1) - sent; n > 20*5*8+50 {
			t.Errorf("%d requests in five hours for 20 pull requests", n)
		}
		mend()
		settle(16 * time.Minute)
		for n := range 20 {
			if count(l.looks(), pull(n+1).String()) == 0 {
				t.Errorf("%s was not looked at after it", pull(n+1))
			}
		}
		h.stop()
	})
}

// A burst of pull requests of a tenant whose every look panics holds up no other tenant, whichever comes first.
func TestAlwaysPanickingKeysHoldUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		h := build(t, l, t.TempDir(), func(c *Config) {
			c.Workers, c.PerTenant = 4, 3
			c.Host = panicking{l}
		})
		settle(time.Second)
		for n := range 100 {
			l.open(1, pull(n+1))
			h.deliver(about(1, pull(n+1)))
		}
		other := quorum.PR{Owner: "other", Repo: "tool", Number: 1}
		l.open(2, other)
		h.deliver(about(2, other))
		settle(time.Second)
		if count(l.looks(), other.String()) == 0 {
			t.Error("the other tenant waits")
		}
		h.stop()
	})
}

// panicking is a land in which nothing of tenant 1 can be looked at.
type panicking struct{ *land }

func (p panicking) Enter(tenant int64) (TenantForge, error) {
	if tenant == 1 {
		panic("a mistake")
	}
	return p.land.Enter(tenant)
}

// Each error of GitHub's has one consequence: the key ends, all of its installation waits, or the key is tried again. That something is
// not there is no more than an opinion at first.
func TestAnErrorHasOneConsequence(t *testing.T) {
	const ends, waits, again = "the key ends", "the installation waits", "the key is tried again"
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"not found":             {errGone, again},
		"gone":                  {&client.APIError{Status: http.StatusGone}, ends},
		"moved to another name": {&client.APIError{Status: http.StatusMovedPermanently}, ends},
		"no check can be there": {&github.UnpublishableError{Head: sha, Err: &client.APIError{Status: http.StatusUnprocessableEntity}}, ends},
		"not installed":         {errors.Join(client.ErrNotInstalled, errGone), again},
		"suspended":             {errors.Join(client.ErrSuspended, errForbidden), waits},
		"unauthorized":          {errUnauthorized, waits},
		"the App is unknown":    {errors.Join(client.ErrAppUnknown, errGone), waits},
		"forbidden":             {errForbidden, again},
		"it changed":            {errors.Join(github.ErrMoved, errGone), again},
		"unprocessable":         {&client.APIError{Status: http.StatusUnprocessableEntity}, again},
		"a fault":               {faultError{}, again},
		"another error":         {errors.New("unforeseen"), again},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLand()
				l.open(1, pull(7), pull(8))
				h := build(t, l, t.TempDir())
				settle(time.Minute)
				l.failing(1, fmt.Errorf("read: %w", c.err))
				h.deliver(about(1, pull(7)))
				settle(200 * time.Millisecond)
				got := again
				_, err := h.Store.Get(t.Context(), workkey.Pull(1, pull(7)))
				sent := l.sent(1)
				h.deliver(about(1, pull(8)))
				settle(200 * time.Millisecond)
				switch {
				case errors.Is(err, store.ErrNoRow):
					got = ends
				case l.sent(1) == sent:
					got = waits
				}
				if got != c.want {
					t.Errorf("%s, want: %s", got, c.want)
				}
				h.stop()
			})
		})
	}
}

// A press of the check's button is known from its event alone: once it is accepted a restart does not lose it, nor do
// events that ask for a look whatever happened.
func TestAPressOutlivesARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, dir := newLand(), t.TempDir()
		l.open(1, pull(7))
		h := build(t, l, dir)
		settle(time.Minute)
		l.failing(1, faultError{})
		whatever, press := about(1, pull(7)), about(1, pull(7))
		whatever.Touch = quorum.Touch{}
		press.Touch = quorum.Touch{Event: "check_run", Action: "requested_action", Author: "carol", By: 12, Head: sha}
		h.deliver(whatever)
		settle(time.Second)
		h.deliver(press)
		h.deliver(whatever)
		h.stop()
		l.mu.Lock()
		l.fails, l.heard = nil, nil
		l.mu.Unlock()
		h = build(t, l, dir)
		settle(3 * time.Minute)
		var heard []string
		for _, touch := range l.heard {
			if touch.Press != 0 {
				heard = append(heard, touch.Author)
			}
		}
		if !slices.Equal(heard, []string{"carol"}) {
			t.Errorf("after the restart presses by %q were heard", heard)
		}
		h.stop()
	})
}

// Pull requests whose looks fail on purpose, each after a while, hold up no other one for long.
func TestLooksThatFailHoldUpNoOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hostile, honest = 6, 1000
		l := newLand()
		l.open(1, pull(honest))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		l.mu.Lock()
		l.hurts = hostile
		l.mu.Unlock()
		for n := range hostile {
			l.open(1, pull(n+1))
			h.deliver(about(1, pull(n+1)))
		}
		settle(10 * time.Minute)
		for range 5 {
			before, began := count(l.looks(), pull(honest).String()), time.Now()
			h.deliver(about(1, pull(honest)))
			for count(l.looks(), pull(honest).String()) == before && time.Since(began) < time.Hour {
				settle(time.Second)
			}
			if waited := time.Since(began); waited > 75*time.Second {
				t.Errorf("it waited %s", waited)
			}
			settle(7 * time.Minute)
		}
		h.stop()
	})
}

// Whatever events come while GitHub says that something is not there: these are no further opinions.
func TestABurstOfEventsIsNoFurtherOpinion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir())
		settle(7 * time.Minute)
		mend := l.failing(1, fmt.Errorf("read: %w", errGone))
		for range 4 {
			h.deliver(about(1, pull(7)))
			settle(500 * time.Millisecond)
		}
		mend()
		before := count(l.looks(), pull(7).String())
		settle(10 * time.Second)
		if count(l.looks(), pull(7).String()) == before {
			t.Error("it is not looked at again")
		}
		h.row(1, pull(7))
		h.stop()
	})
}

// Refusals are asked about ever more rarely, also while faults come between.
func TestRefusalsAmongFaultsAreRefusals(t *testing.T) {
	now := time.Unix(1000, 0)
	h := newTenantBook(&Config{
		PerTenant: 12, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Jitter: func(most time.Duration) time.Duration { return most },
	})
	for range 6 {
		for _, err := range []error{errUnauthorized, faultError{}} {
			now = h.noteTrouble(1, classOf(err), err)
		}
	}
	if until := h.noteTrouble(1, classOf(errUnauthorized), errUnauthorized); until.Sub(now) < time.Minute {
		t.Errorf("after minutes of refusals the next try comes %s later", until.Sub(now))
	}
}
