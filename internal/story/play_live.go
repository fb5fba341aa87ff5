package story

// The players that live through a story: the waiting loop, which is started anew by every event as a job is, and one that
// hears of nothing and looks every few seconds.

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// polls is how often a job looks while it stays, though nothing was announced: in a story that must change nothing.
const polls = time.Minute

// errEvent ends a stay whose place a newer job takes.
var errEvent = errors.New("an event has started a newer job")

// stays are the jobs that stay with the pull requests of a story.
type stays struct {
	w     *world
	clock sandbox.Clock
	ended chan int // a job has ended

	wg      sync.WaitGroup
	mu      sync.Mutex
	running map[int]*stay
	sweeps  map[int]time.Time // when a sweep looks at a pull request at which no job stays
}

type stay struct {
	stop context.CancelCauseFunc
	done chan struct{}
}

// Live plays the scenario with the waiting loop. Every event starts a job that stays until the pull request is decided,
// and ends the one before it. Where none stays, a sweep comes at the moment that the decision named.
func (s *Scenario) Live(ctx context.Context, clock sandbox.Clock, a Audience) (Story, error) {
	w := s.world(clock.Now, a)
	js := &stays{w: w, clock: clock, ended: make(chan int, 16), running: map[int]*stay{}, sweeps: map[int]time.Time{}}
	ctx, stop := context.WithCancelCause(ctx)
	defer js.wg.Wait()
	defer stop(nil)
	happens := Begin
	for {
		if err := w.happen(); err != nil {
			stop(err)
			js.wg.Wait()
			return w.rec.told(), err
		}
		stirred := !happens.IsZero() && !clock.Now().Before(happens)
		for _, n := range w.numbers {
			if stirred || js.swept(n) {
				if err := js.start(ctx, n); err != nil {
					return w.rec.told(), err
				}
			}
		}
		happens = w.next()
		if next := soonerOf(happens, js.sweep()); next.IsZero() && !js.any() {
			return w.rec.told(), nil
		} else if err := js.wait(ctx, next); err != nil {
			return w.rec.told(), err
		}
	}
}

// punctual lets what is due happen before a request of the same moment is answered.
type punctual struct{ w *world }

func (p punctual) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := p.w.happen(); err != nil {
		return nil, err
	}
	return p.w.g.RoundTrip(req)
}

// start begins a new job at pull request n, in place of the one that stays there.
func (js *stays) start(ctx context.Context, n int) error {
	js.mu.Lock()
	old := js.running[n]
	js.mu.Unlock()
	if old != nil {
		old.stop(errEvent)
		<-old.done
	}
	r, err := js.w.open(punctual{js.w}, js.clock.Now)
	if err != nil {
		return err
	}
	r.Sleep = js.clock.Sleep
	staying, cancel := context.WithCancelCause(ctx)
	job := &stay{stop: cancel, done: make(chan struct{})}
	js.mu.Lock()
	js.running[n] = job
	delete(js.sweeps, n)
	js.mu.Unlock()
	js.wg.Go(func() {
		last, err := r.Stay(staying, js.w.pr(n), loop.Stay{Wait: true, Poll: polls})
		replaced := context.Cause(staying) != nil
		cancel(nil)
		js.mu.Lock()
		delete(js.running, n)
		if err == nil && !last.Decision.Wake.IsZero() {
			js.sweeps[n] = last.Decision.Wake
		}
		js.mu.Unlock()
		if err != nil && !replaced {
			js.w.rec.gaveUp(err)
		}
		close(job.done)
		if !replaced {
			js.ended <- n
		}
	})
	return nil
}

// any reports whether a job stays anywhere.
func (js *stays) any() bool {
	js.mu.Lock()
	defer js.mu.Unlock()
	return len(js.running) > 0
}

// sweep is when the next sweep comes.
func (js *stays) sweep() (at time.Time) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, t := range js.sweeps {
		at = soonerOf(at, t)
	}
	return at
}

func (js *stays) swept(n int) bool {
	js.mu.Lock()
	defer js.mu.Unlock()
	t := js.sweeps[n]
	return !t.IsZero() && !js.clock.Now().Before(t)
}

// wait returns at next, or as soon as that may have changed.
func (js *stays) wait(ctx context.Context, next time.Time) error {
	if next.IsZero() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-js.ended:
		case <-js.w.stir:
		}
		return nil
	}
	sleeping, wake := context.WithCancel(ctx)
	defer wake()
	slept := make(chan struct{})
	js.wg.Go(func() {
		_ = js.clock.Sleep(sleeping, next.Sub(js.clock.Now())) // woken or not: whoever waits looks again
		close(slept)
	})
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-js.ended:
	case <-js.w.stir:
	case <-slept:
	}
	return nil
}

// Poll plays the scenario with one process that hears of no event and looks at every pull request every few seconds.
func (s *Scenario) Poll(ctx context.Context, clock sandbox.Clock, every time.Duration, a Audience) (Story, error) {
	w := s.world(clock.Now, a)
	r, err := w.open(punctual{w}, clock.Now)
	if err != nil {
		return Story{}, err
	}
	tick, quiet := Begin, false
	for looks := 0; looks < mostLooks; {
		if err := w.happen(); err != nil {
			return w.rec.told(), err
		}
		if now := clock.Now(); !now.Before(tick) {
			tick, quiet = now.Add(every), true
			for _, n := range w.numbers {
				looks++
				wake, err := r.Reconcile(ctx, w.pr(n))
				var temporary interface{ Temporary() bool }
				again := errors.As(err, &temporary) && temporary.Temporary()
				quiet = quiet && !again && wake.IsZero()
			}
		}
		next := w.next()
		if next.IsZero() && quiet {
			break
		}
		if !next.IsZero() {
			quiet = false
		}
		if err := clock.Sleep(ctx, soonerOf(next, tick).Sub(clock.Now())); err != nil {
			return w.rec.told(), err
		}
	}
	return w.rec.told(), nil
}

// commits are the names of all commits in a scenario, longest first, so that none hides another.
func (s *Scenario) commits() []string {
	all := slices.Clone(s.names)
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}
