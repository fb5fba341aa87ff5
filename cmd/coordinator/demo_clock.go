//go:build !action

package main

// The clock of a story. It is stopped while the daemon works, so that a story reads the same at every speed and on
// every machine. Between two events it runs, or jumps, to the next one.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// storyClock is a clock that moves only in advanceTo and runUntil.
type storyClock struct {
	speed float64 // story seconds per second; 0: it jumps

	mu           sync.Mutex
	stoppedAt    time.Time // the time while it is stopped
	runningSince time.Time // by the machine's clock: when it began to run, from stoppedAt; zero: stopped
	stopAt       time.Time // the time at which it stops
	rate         float64
	alarms       map[*storyAlarm]struct{}
	alarmSet     chan struct{} // signals a new alarm to runUntil
}

type storyAlarm struct {
	at   time.Time
	ring chan time.Time
}

func newStoryClock(begin time.Time, speed float64) *storyClock {
	return &storyClock{speed: speed, stoppedAt: begin, alarms: map[*storyAlarm]struct{}{}, alarmSet: make(chan struct{}, 1)}
}

// Now is the story's time.
func (c *storyClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *storyClock) nowLocked() time.Time {
	if c.runningSince.IsZero() {
		return c.stoppedAt
	}
	now := c.stoppedAt.Add(time.Duration(float64(time.Since(c.runningSince)) * c.rate))
	if now.After(c.stopAt) {
		return c.stopAt
	}
	return now
}

// String returns the time and the alarms.
func (c *storyClock) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	alarms := "none"
	for i, at := range c.alarmTimesLocked() {
		if i == 0 {
			alarms = ""
		}
		alarms += " " + at.Format(time.TimeOnly)
	}
	return fmt.Sprintf("it is %s; alarms: %s", c.nowLocked().Format(time.TimeOnly), strings.TrimSpace(alarms))
}

// Alarm rings once, when the clock reaches at.
func (c *storyClock) Alarm(at time.Time) (ring <-chan time.Time, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &storyAlarm{at: at, ring: make(chan time.Time, 1)}
	c.alarms[a] = struct{}{}
	c.ringDue(c.nowLocked())
	select {
	case c.alarmSet <- struct{}{}:
	default:
	}
	return a.ring, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.alarms, a)
	}
}

// ringDue rings the alarms that are due, and returns the time of the next one, or stopAt if that comes first.
func (c *storyClock) ringDue(now time.Time) (next time.Time) {
	next = c.stopAt
	for a := range c.alarms {
		switch {
		case !a.at.After(now):
			a.ring <- now // does not block: the channel has room for its one value
			delete(c.alarms, a)
		case a.at.Before(next):
			next = a.at
		}
	}
	return next
}

// skipToAlarm moves a clock that stands to the next alarm, if there is one.
func (c *storyClock) skipToAlarm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if next := c.alarmTimesLocked(); len(next) > 0 && c.runningSince.IsZero() {
		c.stoppedAt = next[0]
		c.ringDue(c.stoppedAt)
	}
}

func (c *storyClock) alarmTimesLocked() (all []time.Time) {
	for a := range c.alarms {
		all = append(all, a.at)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// advanceTo moves the clock to a time, at the story's speed. If ctx ends before, the clock stops where it is then.
func (c *storyClock) advanceTo(ctx context.Context, until time.Time) error {
	if c.speed > 0 {
		return c.runUntil(ctx, until, c.speed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if until.After(c.stoppedAt) {
		c.stoppedAt = until
	}
	c.ringDue(c.stoppedAt)
	return nil
}

// runUntil runs the clock to a time, at a rate in story seconds per second.
func (c *storyClock) runUntil(ctx context.Context, until time.Time, rate float64) error {
	c.mu.Lock()
	c.runningSince, c.stopAt, c.rate = time.Now(), until, rate
	if until.Before(c.stoppedAt) {
		c.stopAt = c.stoppedAt
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stoppedAt, c.runningSince = c.nowLocked(), time.Time{}
	}()
	for {
		c.mu.Lock()
		now := c.nowLocked()
		wait := min(float64(c.ringDue(now).Sub(now))/rate+1, float64(time.Hour)) // a rate may be very small
		over := !now.Before(c.stopAt)
		c.mu.Unlock()
		if over {
			return nil
		}
		timer := time.NewTimer(time.Duration(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-c.alarmSet:
			timer.Stop()
		case <-timer.C:
		}
	}
}
