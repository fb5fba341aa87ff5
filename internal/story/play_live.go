package story

// The players that live through a story: the waiting loop, which every event starts again as a job is started, and
// one that gets no events and looks every few seconds.

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// jobPollInterval is how often a job looks while it stays, even without an event; in a story this must change
// nothing.
const jobPollInterval = time.Minute

// errEvent ends the stay of a job whose place a newer one takes.
var errEvent = errors.New("an event has started a newer job")

// jobSet holds the jobs that stay with the pull requests of a story.
type jobSet struct {
	world *world
	clock sandbox.Clock
	ended chan string // a job has ended

	wg      sync.WaitGroup
	mu      sync.Mutex
	jobs    map[string]*stayingJob
	sweepAt map[string]time.Time // when a sweep looks at what no job stays with
}

type stayingJob struct {
	stop context.CancelCauseFunc
	done chan struct{}
}

// PlayLive plays the scenario with the waiting loop. Every event starts a job that stays until the pull request is
// decided, and ends the one before it. Where none stays, a sweep comes at the moment that the decision named.
func (s *Scenario) PlayLive(ctx context.Context, clock sandbox.Clock, a Audience) (Story, error) {
	w := s.newWorld(clock.Now, a)
	js := &jobSet{world: w, clock: clock, ended: make(chan string, 16), jobs: map[string]*stayingJob{}, sweepAt: map[string]time.Time{}}
	ctx, stop := context.WithCancelCause(ctx)
	defer js.wg.Wait()
	defer stop(nil)
	happens := Begin
	for {
		if err := w.runDueSteps(); err != nil {
			stop(err)
			js.wg.Wait()
			return w.recorder.finishStory(), err
		}
		stirred := !happens.IsZero() && !clock.Now().Before(happens)
		targets := w.lookTargets()
		js.leaveOthers(targets)
		for _, target := range targets {
			if stirred || js.isSweepDue(target.key) {
				if err := js.startJob(ctx, target); err != nil {
					return w.recorder.finishStory(), err
				}
			}
		}
		happens = w.nextDue()
		js.sweepHeld()
		if next := soonerOf(happens, js.nextSweep()); next.IsZero() && !js.hasJobs() {
			return w.recorder.finishStory(), nil
		} else if err := js.waitUntil(ctx, next); err != nil {
			return w.recorder.finishStory(), err
		}
	}
}

// punctualTransport lets what is due happen before a request of the same moment is answered.
type punctualTransport struct{ world *world }

func (p punctualTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := p.world.runDueSteps(); err != nil {
		return nil, err
	}
	return p.world.g.RoundTrip(req)
}

// leaveOthers ends the jobs at groups that the merge queue has let go of.
func (js *jobSet) leaveOthers(targets []lookTarget) {
	js.mu.Lock()
	left := maps.Clone(js.jobs)
	keepTargets(js.sweepAt, targets)
	js.mu.Unlock()
	for _, target := range targets {
		delete(left, target.key)
	}
	for _, job := range left {
		job.stop(errEvent)
		<-job.done
	}
}

// startJob begins a new job at a pull request or group, in place of the one that stays there.
func (js *jobSet) startJob(ctx context.Context, target lookTarget) error {
	js.mu.Lock()
	old := js.jobs[target.key]
	js.mu.Unlock()
	if old != nil {
		old.stop(errEvent)
		<-old.done
	}
	r, err := js.world.newReconciler(punctualTransport{js.world}, js.clock.Now)
	if err != nil {
		return err
	}
	r.Sleep = js.clock.Sleep
	looked := make(chan struct{})
	noteLook := sync.OnceFunc(func() { close(looked) })
	r.Fault = func(error, time.Time) { noteLook() }
	staying, cancel := context.WithCancelCause(ctx)
	job := &stayingJob{stop: cancel, done: make(chan struct{})}
	js.mu.Lock()
	js.jobs[target.key] = job
	delete(js.sweepAt, target.key)
	js.mu.Unlock()
	js.wg.Go(func() {
		wake, err := target.stay(staying, r, noteLook)
		replaced := context.Cause(staying) != nil
		cancel(nil)
		js.mu.Lock()
		delete(js.jobs, target.key)
		if err == nil && !wake.IsZero() {
			js.sweepAt[target.key] = wake
		}
		js.mu.Unlock()
		if err != nil && !replaced {
			js.world.recorder.recordFailure(err)
		}
		close(job.done)
		if !replaced {
			js.ended <- target.key
		}
	})
	select { // jobs of one head that look at once get in each other's way, and one of them looks again a second later
	case <-looked:
	case <-job.done:
	}
	return nil
}

// hasJobs reports whether a job stays anywhere.
func (js *jobSet) hasJobs() bool {
	js.mu.Lock()
	defer js.mu.Unlock()
	return len(js.jobs) > 0
}

// nextSweep returns the moment of the next sweep.
func (js *jobSet) nextSweep() (at time.Time) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, t := range js.sweepAt {
		at = soonerOf(at, t)
	}
	return at
}

// sweepHeld has pull requests looked at for which what holds them back has changed, whether or not a job stays there.
func (js *jobSet) sweepHeld() {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, n := range js.world.pullNumbers {
		if js.world.takeHeld(n) {
			js.sweepAt[js.world.pullRef(n).String()] = js.clock.Now()
		}
	}
}

func (js *jobSet) isSweepDue(key string) bool {
	js.mu.Lock()
	defer js.mu.Unlock()
	t := js.sweepAt[key]
	return !t.IsZero() && !js.clock.Now().Before(t)
}

// waitUntil returns at next, or as soon as that may have changed.
func (js *jobSet) waitUntil(ctx context.Context, next time.Time) error {
	if next.IsZero() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-js.ended:
		case <-js.world.stirred:
		}
		return nil
	}
	sleeping, wake := context.WithCancel(ctx)
	defer wake()
	slept := make(chan struct{})
	js.wg.Go(func() {
		_ = js.clock.Sleep(sleeping, next.Sub(js.clock.Now())) // the caller looks again, woken or not
		close(slept)
	})
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-js.ended:
	case <-js.world.stirred:
	case <-slept:
	}
	return nil
}

// unannounced is longer than a process takes to see what no event and no clock brings: a thread that was resolved.
const unannounced = 2 * time.Minute

// PlayPolled plays the scenario with one process that gets no events and looks at every pull request every few
// seconds.
func (s *Scenario) PlayPolled(ctx context.Context, clock sandbox.Clock, every time.Duration, a Audience) (Story, error) {
	w := s.newWorld(clock.Now, a)
	r, err := w.newReconciler(punctualTransport{w}, clock.Now)
	if err != nil {
		return Story{}, err
	}
	tick, quiet, stirred := Begin, false, Begin
	for looks := 0; looks < maxLooks; {
		if err := w.runDueSteps(); err != nil {
			return w.recorder.finishStory(), err
		}
		if now := clock.Now(); !now.Before(tick) {
			tick, quiet = now.Add(every), true
			for _, target := range w.lookTargets() {
				looks++
				wake, err := target.reconcile(ctx, r)
				var temporary interface{ Temporary() bool }
				again := errors.As(err, &temporary) && temporary.Temporary()
				quiet = quiet && !again && wake.IsZero()
			}
		}
		next := w.nextDue()
		if !next.IsZero() || !quiet {
			quiet, stirred = false, clock.Now()
		}
		if clock.Now().Sub(stirred) >= unannounced {
			break
		}
		if err := clock.Sleep(ctx, soonerOf(next, tick).Sub(clock.Now())); err != nil {
			return w.recorder.finishStory(), err
		}
	}
	return w.recorder.finishStory(), nil
}

// commitsByLength returns the names of all commits in a scenario, longest first, so that none hides another.
func (s *Scenario) commitsByLength() []string {
	all := slices.Clone(s.commitNames)
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}
