package sandbox

// The fourth player, for a coordinator that gets webhooks and wakes by itself: only GitHub's side of a scenario happens.

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A Performance is where a scenario is played, and for whom.
type Performance struct {
	Hub    *Hub
	GitHub *GitHub // made by [Scenario.GitHub] and added to the Hub
	Clock  Clock   // that of the Hub and the GitHub; the story begins when it is now

	// Rest waits until the coordinator has dealt with all that it was told by now, and returns when it will act by itself;
	// zero if it will not. With it a story ends when nothing more can come, and every story can be played. Without it, it
	// ends when nothing more happens on GitHub and every open pull request that is no draft has a completed check of ours
	// that did not change for Quiet.
	Rest     func(ctx context.Context) (time.Time, error)
	Quiet    time.Duration // by the clock; default 5s
	Audience Audience      // Looked is not called: what the coordinator sees, only it knows
}

// Perform plays GitHub's side of the scenario, whose webhooks go out through the Hub; somebody must deliver them. What the
// coordinator writes is observed on GitHub. The story has no Ends. What is due at the moment of a request happens before
// the request is answered.
func (s *Scenario) Perform(ctx context.Context, p Performance) (Story, error) {
	if p.Quiet == 0 {
		p.Quiet = 5 * time.Second
	}
	w := s.worldOf(p.GitHub, p.Clock.Now(), p.Audience)
	play := &performance{Performance: p, w: w}
	w.g.Before(func(*http.Request) { play.failed(w.happen()) })
	defer w.g.Before(nil)
	for {
		play.failed(w.happen())
		p.Hub.Tick()
		if err := play.failure(); err != nil {
			return w.rec.told(), err
		}
		if err := p.Hub.Delivered(ctx); err != nil {
			return w.rec.told(), fmt.Errorf("play %s: %w", s.File, err)
		}
		next, over, err := play.next(ctx)
		switch {
		case err != nil:
			return w.rec.told(), fmt.Errorf("play %s: %w", s.File, err)
		case over:
			return w.rec.told(), play.failure()
		}
		if err := play.wait(ctx, next); err != nil {
			return w.rec.told(), fmt.Errorf("play %s: %w", s.File, err)
		}
	}
}

// performance is a play with what went wrong in it.
type performance struct {
	Performance
	w *world

	mu  sync.Mutex
	err error
}

func (p *performance) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *performance) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// next is when to look again; over says that nothing more will come. A zero next, and not over, waits for the coordinator
// to write.
func (p *performance) next(ctx context.Context) (next time.Time, over bool, err error) {
	if p.Rest != nil {
		acts, err := p.Rest(ctx)
		if err != nil {
			return time.Time{}, false, err
		}
		next := sooner(p.w.next(), acts)
		return next, next.IsZero(), nil
	}
	next = p.w.next()
	if !next.IsZero() {
		return next, false, nil
	}
	since, decided := p.w.decided()
	switch quiet := since.Add(p.Quiet); {
	case !decided:
		return time.Time{}, false, nil
	case !p.Clock.Now().Before(quiet):
		return time.Time{}, true, nil
	default:
		return quiet, false, nil
	}
}

// decided reports whether every open pull request that is no draft has a completed check of ours, or a status that is not
// pending, and when the last of them changed.
func (w *world) decided() (since time.Time, all bool) {
	g := w.g
	g.mu.Lock()
	defer g.mu.Unlock()
	since = w.begin
	for _, p := range g.sorted() {
		if p.closed || p.draft {
			continue
		}
		done := false
		for _, s := range g.find.suitesAt[p.head] {
			for _, c := range s.checks {
				if c.Mine {
					done = c.Status == "completed"
					since = later(since, c.History[len(c.History)-1].At)
				}
			}
		}
		for _, s := range slices.Backward(g.find.statuses[p.head]) {
			if g.person != "" && s.By == g.me() {
				done = s.State != "pending"
				since = later(since, s.At)
				break
			}
		}
		if !done {
			return since, false
		}
	}
	return since, true
}

// wait returns at next, or as soon as the coordinator has written.
func (p *performance) wait(ctx context.Context, next time.Time) error {
	if next.IsZero() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.w.stir:
			return nil
		}
	}
	sleeping, wake := context.WithCancel(ctx)
	slept := make(chan struct{})
	go func() {
		defer close(slept)
		_ = p.Clock.Sleep(sleeping, next.Sub(p.Clock.Now())) // woken or not: it is looked again
	}()
	defer func() {
		wake()
		<-slept
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.w.stir:
	case <-slept:
	}
	return nil
}
