//go:build !action

package main

// The time of a story. It stands while the daemon works, so that a story reads the same at every speed and on every
// machine, and runs, or jumps, to the moment at which something comes next.

import (
	"context"
	"sync"
	"time"
)

// storyClock is a clock that goes only while somebody sleeps by it.
type storyClock struct {
	speed float64 // story seconds per second; 0: it jumps

	mu     sync.Mutex
	at     time.Time // what it shows while it stands
	since  time.Time // of the machine's clock: it runs since then, from at; zero: it stands
	until  time.Time // where it stops
	rate   float64
	alarms map[*storyAlarm]struct{}
	set    chan struct{} // there is a new alarm
}

type storyAlarm struct {
	at   time.Time
	ring chan time.Time
}

func newStoryClock(begin time.Time, speed float64) *storyClock {
	return &storyClock{speed: speed, at: begin, alarms: map[*storyAlarm]struct{}{}, set: make(chan struct{}, 1)}
}

// Now is the story's time.
func (c *storyClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *storyClock) now() time.Time {
	if c.since.IsZero() {
		return c.at
	}
	now := c.at.Add(time.Duration(float64(time.Since(c.since)) * c.rate))
	if now.After(c.until) {
		return c.until
	}
	return now
}

// Alarm rings once it is at.
func (c *storyClock) Alarm(at time.Time) (ring <-chan time.Time, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &storyAlarm{at: at, ring: make(chan time.Time, 1)}
	c.alarms[a] = struct{}{}
	c.rung(c.now())
	select {
	case c.set <- struct{}{}:
	default:
	}
	return a.ring, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.alarms, a)
	}
}

// rung rings what is due, and returns when the next one is, at the latest until.
func (c *storyClock) rung(now time.Time) (next time.Time) {
	next = c.until
	for a := range c.alarms {
		switch {
		case !a.at.After(now):
			a.ring <- now // it holds one, and rings once
			delete(c.alarms, a)
		case a.at.Before(next):
			next = a.at
		}
	}
	return next
}

// goTo lets the time pass until a moment. If ctx ends before, the clock stands where it is then.
func (c *storyClock) goTo(ctx context.Context, until time.Time) error {
	if c.speed > 0 {
		return c.run(ctx, until, c.speed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if until.After(c.at) {
		c.at = until
	}
	c.rung(c.at)
	return nil
}

// run lets the clock run at a rate.
func (c *storyClock) run(ctx context.Context, until time.Time, rate float64) error {
	c.mu.Lock()
	c.since, c.until, c.rate = time.Now(), until, rate
	if until.Before(c.at) {
		c.until = c.at
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.at, c.since = c.now(), time.Time{}
	}()
	for {
		c.mu.Lock()
		now := c.now()
		wait := min(float64(c.rung(now).Sub(now))/rate+1, float64(time.Hour)) // a rate may be very small
		over := !now.Before(c.until)
		c.mu.Unlock()
		if over {
			return nil
		}
		timer := time.NewTimer(time.Duration(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-c.set:
			timer.Stop()
		case <-timer.C:
		}
	}
}
