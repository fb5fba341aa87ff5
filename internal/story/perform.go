package story

// The fourth player, for a coordinator that gets webhooks and wakes by itself: only GitHub's side of a scenario
// happens.

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A Performance says where a scenario is played, and who is told.
type Performance struct {
	Hub    *sandbox.Hub
	GitHub *sandbox.GitHub // made by [Scenario.GitHub] and added to the Hub
	Clock  sandbox.Clock   // that of the Hub and the GitHub; the story begins when it is now

	// Rest waits until the coordinator has dealt with all that it was told by now, and returns when it will act by
	// itself; zero if it will not. With it a story ends when nothing more can come, and every story can be played.
	// Without it, it ends when nothing more happens on GitHub and every open pull request that is no draft has a
	// completed check of ours, and nothing was done for Quiet: no step, and no change of a check.
	Rest     func(ctx context.Context) (time.Time, error)
	Quiet    time.Duration // by the clock; default 5s
	Audience Audience      // Looked is not called: what the coordinator sees, only it knows
}

// Perform plays GitHub's side of the scenario, whose webhooks go out through the Hub; somebody must deliver them. What
// the coordinator writes is observed on GitHub. The story has no Ends. What is due at the moment of a request happens
// before the request is answered.
func (s *Scenario) Perform(ctx context.Context, p Performance) (Story, error) {
	if p.Quiet == 0 {
		p.Quiet = 5 * time.Second
	}
	w := s.newWorldOn(p.GitHub, p.Clock.Now, p.Clock.Now(), p.Audience)
	play := &performanceState{Performance: p, world: w}
	w.g.BeforeRequest(func(*http.Request) { play.setError(w.runDueSteps()) })
	defer w.g.BeforeRequest(nil)
	for {
		play.setError(w.runDueSteps())
		p.Hub.Tick()
		if err := play.firstError(); err != nil {
			return w.recorder.finishStory(), err
		}
		if err := p.Hub.WaitDelivered(ctx); err != nil {
			return w.recorder.finishStory(), fmt.Errorf("play %s: %w", s.File, err)
		}
		next, over, err := play.nextLook(ctx)
		switch {
		case err != nil:
			return w.recorder.finishStory(), fmt.Errorf("play %s: %w", s.File, err)
		case over:
			return w.recorder.finishStory(), play.firstError()
		}
		if err := play.waitUntil(ctx, next); err != nil {
			return w.recorder.finishStory(), fmt.Errorf("play %s: %w", s.File, err)
		}
	}
}

// performanceState is a performance that runs, with the first error in it.
type performanceState struct {
	Performance
	world *world

	mu  sync.Mutex
	err error
}

func (p *performanceState) setError(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *performanceState) firstError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// nextLook returns when to look again; over says that nothing more will come. A zero next, and not over, waits for
// the coordinator to write.
func (p *performanceState) nextLook(ctx context.Context) (next time.Time, over bool, err error) {
	if p.Rest != nil {
		acts, err := p.Rest(ctx)
		if err != nil {
			return time.Time{}, false, err
		}
		next := soonerOf(p.world.nextDue(), acts)
		return next, next.IsZero(), nil
	}
	next = p.world.nextDue()
	if !next.IsZero() {
		return next, false, nil
	}
	since, decided := sandbox.Decided(p.world.g, p.world.begin)
	switch quiet := p.world.quietSince(since).Add(p.Quiet); {
	case !decided:
		return time.Time{}, false, nil
	case !p.Clock.Now().Before(quiet):
		return time.Time{}, true, nil
	default:
		return quiet, false, nil
	}
}

// waitUntil returns at next, or as soon as the coordinator has written.
func (p *performanceState) waitUntil(ctx context.Context, next time.Time) error {
	if next.IsZero() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.world.stirred:
			return nil
		}
	}
	sleeping, wake := context.WithCancel(ctx)
	slept := make(chan struct{})
	go func() {
		defer close(slept)
		_ = p.Clock.Sleep(sleeping, next.Sub(p.Clock.Now())) // the loop looks again, woken or not
	}()
	defer func() {
		wake()
		<-slept
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.world.stirred:
	case <-slept:
	}
	return nil
}

// A Background is a scenario that happens beside another one, on the same clock: whoever moves the clock carries it out.
type Background struct{ world *world }

// PlayBeside begins the scenario now, on a GitHub made by [Scenario.GitHub]. Nothing happens until [Background.CatchUp].
func (s *Scenario) PlayBeside(g *sandbox.GitHub, now func() time.Time) *Background {
	return &Background{world: s.newWorldOn(g, now, now(), Audience{})}
}

// NextDue returns the moment at which something happens next, by the timeline or by GitHub itself; zero: nothing will.
func (b *Background) NextDue() time.Time { return b.world.nextDue() }

// CatchUp carries out what is due.
func (b *Background) CatchUp() error {
	if err := b.world.runDueSteps(); err != nil {
		return fmt.Errorf("play %s: %w", b.world.scenario.File, err)
	}
	return nil
}
