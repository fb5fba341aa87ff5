package story

// The stories, played to a coordinator that hears of webhooks and wakes by itself.

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// listener is the least coordinator that lives by webhooks: each names all open pull requests, and a decision says when
// to look again.
type listener struct {
	t    *testing.T
	play Performance

	mu    sync.Mutex
	world *world // of the story, once it has begun
	wakes map[int]time.Time
	poked chan struct{}
}

func (l *listener) receiveEvent(event, _ string, payload []byte) error {
	if _, err := webhook.Parse(event, payload); err != nil {
		l.t.Error(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.world != nil { // nil: the story has not begun, and nothing is opened
		l.world.stepMu.Lock()
		defer l.world.stepMu.Unlock()
		for _, number := range l.world.pullNumbers {
			l.wakes[number] = l.world.now()
		}
	}
	select {
	case l.poked <- struct{}{}:
	default:
	}
	return nil
}

// nextWake is the earliest wake, and of which pull request it is.
func (l *listener) nextWake() (number int, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n, t := range l.wakes {
		if at.IsZero() || t.Before(at) || t.Equal(at) && n < number {
			number, at = n, t
		}
	}
	return number, at
}

func (l *listener) runUntilDone(ctx context.Context) {
	for ctx.Err() == nil {
		n, at := l.nextWake()
		if n == 0 || at.After(time.Now()) {
			sleeping, wake := context.WithCancel(ctx)
			if n != 0 {
				sleeping, wake = context.WithDeadline(ctx, at)
			}
			select {
			case <-sleeping.Done():
			case <-l.poked:
			}
			wake()
			continue
		}
		l.mu.Lock()
		delete(l.wakes, n)
		l.mu.Unlock()
		wake, err := l.reconcilePull(ctx, n)
		if err != nil && ctx.Err() == nil {
			wake = time.Now().Add(10 * time.Second)
		}
		if !wake.IsZero() && !wake.After(time.Now()) { // as the stepped player does
			wake = time.Now().Add(time.Second)
		}
		l.mu.Lock()
		if old, poked := l.wakes[n]; !wake.IsZero() && (!poked || wake.Before(old)) {
			l.wakes[n] = wake
		}
		l.mu.Unlock()
	}
}

func (l *listener) reconcilePull(ctx context.Context, n int) (time.Time, error) {
	api, err := client.New(client.Options{Token: l.play.Hub.MintToken(77), Actions: true, Transport: l.play.Hub, Now: time.Now})
	if err != nil {
		return time.Time{}, err
	}
	forge := github.NewForge(api, l.play.Hub.App().Slug, "", nil)
	forge.SetClock(time.Now)
	r := &loop.Reconciler{Forge: forge, Now: time.Now, Sleep: l.play.Clock.Sleep}
	return r.Reconcile(ctx, quorum.PR{Owner: "acme", Repo: "shop", Number: n})
}

// performStory plays a story to a listener.
func performStory(t *testing.T, s *Scenario, withRest bool) (story Story) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		clock := bubbleClock(t)
		h := sandbox.NewHub(sandbox.HubOptions{HourlyLimit: 1_000_000})
		g := s.GitHub(sandbox.Options{Now: time.Now})
		l := &listener{t: t, play: Performance{Hub: h, GitHub: g, Clock: clock}, wakes: map[int]time.Time{}, poked: make(chan struct{}, 1)}
		h.Add(77, g)
		l.play.Audience.prepare = func(w *world) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.world = w
		}
		if s.TokenOwner() != "" {
			t.Fatal("a personal token has no installation")
		}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { h.DeliverFunc(ctx, l.receiveEvent) })
		wg.Go(func() { l.runUntilDone(ctx) })
		if withRest {
			l.play.Rest = func(context.Context) (time.Time, error) {
				synctest.Wait()
				_, at := l.nextWake()
				return at, nil
			}
		}
		var err error
		story, err = s.Perform(ctx, l.play)
		if err != nil {
			t.Error(err)
		}
		stop()
		wg.Wait()
	})
	return story
}

func TestStoriesArePerformed(t *testing.T) {
	few := []string{
		"a-new-base",
		"all-approve",
		"attempt-two-dies",
		"both-heads-under-way",
		"closed-and-reopened",
		"copilot-is-asked-again",
		"hung-then-approves",
	}
	for _, s := range parseStories(t) {
		if s.TokenOwner() != "" || s.hasFaults || !slices.Contains(few, s.baseName()) {
			continue
		}
		t.Run(s.baseName(), func(t *testing.T) {
			stepped, err := s.PlayStepped(t.Context(), Audience{})
			if err != nil {
				t.Fatal(err)
			}
			story := performStory(t, s, true)
			if diff := cmp.Diff(stepped.Transitions(), story.Transitions()); diff != "" {
				t.Errorf("the story is another (-stepped +performed):\n%s\n%s", diff, story)
			}
		})
	}
}

func TestAPerformanceEndsWithoutRest(t *testing.T) {
	for _, s := range parseStories(t) {
		if s.baseName() != "a-new-base" {
			continue
		}
		story := performStory(t, s, false)
		if n := len(story.Entries); n == 0 || !strings.Contains(story.Entries[n-1].String(), "action_required") {
			t.Errorf("it ended with\n%s", story)
		}
	}
}
