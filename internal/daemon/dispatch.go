package daemon

// The dispatcher: it claims what is due, as much as there are workers free, and gives each key a worker. Nothing sleeps
// while it holds a key: a limit, a refusal or a fault becomes a due time.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	ownTableTrust   = 10 * time.Second // the longest wait of the dispatcher between two reads of a table that is its own
	leastTrust      = 50 * time.Millisecond
	shortPause      = 5 * time.Millisecond // for workers to be free together, and between two vain claims
	storeFaultPause = time.Second          // before the table is asked again after a fault of its own
	backlogLate     = time.Minute          // from then on people are told of what no event asks for,
	backlogPause    = time.Hour            // so often
	clockSetBack    = time.Minute          // a clock that goes back by more has everything looked over: due times lie in its future
)

// errStopped ends looks that are under way when the daemon stops.
var errStopped = errors.New("the daemon is stopping")

// Run works until ctx ends, and then drains: looks under way are given [Config.Drain] to end, nothing new is begun, and
// keys that are left over stay in the table. It returns the error of the table if that cannot be used at all.
func (d *Daemon) Run(ctx context.Context) error {
	err := d.Store.Poke(ctx, store.Poke{Key: workkey.App, Kind: workkey.KindApp, Due: d.Now()})
	if err != nil && ctx.Err() == nil { // a stop that comes this early is one like any other
		return fmt.Errorf("begin: %w", err)
	}
	working, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var workers sync.WaitGroup
	free := make(chan struct{}, d.Workers)
	for range d.Workers {
		free <- struct{}{}
	}
	renewing, renewed := context.WithCancel(working)
	var renewer sync.WaitGroup
	renewer.Go(func() { d.renewLeases(renewing) })
	moreIsDue, lastWork := false, time.Time{} // the last claim found work for all free workers; when one found any
	for ctx.Err() == nil {
		n := 1
		select {
		case <-ctx.Done():
			continue
		case <-free:
		}
		if len(free) == 0 && moreIsDue { // a claim is a commit: where much is due, a few workers share one
			restFor(ctx, shortPause)
		}
		for len(free) > 0 {
			<-free
			n++
		}
		began, now := time.Now(), d.Now()
		works, next, pause := d.claimDue(ctx, n, now)
		took := time.Since(began)
		for range n - len(works) {
			free <- struct{}{}
		}
		for _, w := range works {
			workers.Go(func() {
				defer func() { free <- struct{}{}; d.wakeDispatcher() }()
				d.workOn(working, w, now.Add(d.Lease))
			})
		}
		if len(works) > 0 {
			lastWork = d.Now()
		}
		if moreIsDue = len(works) == n; !moreIsDue {
			if d.Poll > 0 { // others claim, too: it costs the same whatever it finds, and in a flood each delivery would ask for one
				restFor(ctx, min(2*took, leastTrust))
			}
			if pause > 0 {
				restFor(ctx, pause)
			} else {
				d.awaitDue(ctx, earlierDue(next, d.Now().Add(d.longestTrust(lastWork))))
			}
		}
	}
	d.Stop()
	timer := time.NewTimer(d.Drain) // the time to retire counts
	defer timer.Stop()
	retireFrom(working, d.Store, d.Log)
	ended := make(chan struct{})
	go func() { workers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-timer.C:
		stop(errStopped)
		<-ended
	}
	renewed()
	renewer.Wait()
	return nil
}

// retireFrom says to those who share the table that this process claims no more.
func retireFrom(ctx context.Context, table store.Store, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	if err := table.Retire(ctx); err != nil {
		log.Warn("other coordinators learn late that this one stops", "err", err)
	}
}

// restFor waits by the machine's time. Only what is due goes by [Config.Now]: who moves that clock may wait for us.
func restFor(ctx context.Context, rest time.Duration) {
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// awaitDue waits until something may have become due, at a moment at the latest.
func (d *Daemon) awaitDue(ctx context.Context, next time.Time) {
	ring, stop := d.Alarm(next)
	defer stop()
	select {
	case <-ctx.Done():
	case <-d.mayBeDue:
	case <-ring:
	}
}

// longestTrust is the longest wait of the dispatcher between two reads of the table: where other processes write to it, it reads the
// more often the less time has passed since it found something.
func (c *Config) longestTrust(lastWork time.Time) time.Duration {
	if c.Poll == 0 {
		return ownTableTrust
	}
	return min(max(c.Now().Sub(lastWork)/4, leastTrust), c.Poll)
}

// claimDue leases up to n keys that are due now, which is the one reading of the clock that counts for a claim. If there
// are fewer it says when there will be more, or after which pause to ask again.
func (d *Daemon) claimDue(ctx context.Context, n int, now time.Time) (works []store.Work, next time.Time, pause time.Duration) {
	d.noticeClockSetBack(ctx, now)
	d.watchBacklog(ctx, now)
	underWay, backlogUnderWay := d.work.underWay()
	bounds, until := d.tenants.boundsOf(now, d.PerTenant, underWay, (*tenantState).waitsUntil)
	ofBacklog := func(t *tenantState) time.Time { return t.backlogUntil }
	backlog, untilBacklog := d.tenants.boundsOf(now, max(d.PerTenant*3/4, 1), backlogUnderWay, ofBacklog)
	until = earlierDue(until, untilBacklog)
	works, err := d.Store.Claim(ctx, store.Claim{Now: now, Lease: d.Lease, Limit: n, Bounds: bounds, Backlog: backlog})
	d.tenants.forgetMoved(works, err)
	d.work.add(works)
	if err == nil && len(works) < n {
		next, err = d.nextDue(ctx, bounds.Except, backlog.Except)
	}
	if err != nil {
		if ctx.Err() == nil {
			d.Log.Error("our database cannot be read", "err", err)
		}
		return works, time.Time{}, storeFaultPause
	}
	next = earlierDue(next, until)
	if len(works) == 0 && !next.IsZero() && !next.After(now) { // whatever a clock or a budget says: no two vain claims without a pause
		next, pause = time.Time{}, shortPause
	}
	return works, next, pause
}

// nextDue returns when the next key is due, those of held tenants and of held backlogs apart; zero: never.
func (d *Daemon) nextDue(ctx context.Context, held, heldBacklogs []int64) (time.Time, error) {
	live, err := d.Store.Next(ctx, false, held)
	if err != nil {
		return time.Time{}, err
	}
	backlog, err := d.Store.Next(ctx, true, slices.Concat(held, heldBacklogs))
	return earlierDue(live, backlog), err
}

// noticeClockSetBack has everything looked over if the clock was set back: due keys would wait until it has caught up.
func (d *Daemon) noticeClockSetBack(ctx context.Context, now time.Time) {
	now = now.Round(0) // the machine's own count of time goes on
	back := d.lastClock.Sub(now)
	d.lastClock = now
	if back <= clockSetBack {
		return
	}
	d.tenants.beginAnew()
	d.Log.Warn("the clock was set back: every open pull request is looked at", "by", back)
	if err := d.Store.Poke(ctx, store.Poke{Key: workkey.App, Kind: workkey.KindApp, Due: now}); err != nil {
		d.Log.Error("our database cannot be written", "err", err)
	}
}

// watchBacklog shows, once a minute, how long what no event asks for has been due: the resync's own tasks, and what they found. Once
// an hour it says so, whatever holds it back, but for suspensions, which are told by themselves.
func (d *Daemon) watchBacklog(ctx context.Context, now time.Time) {
	if now.Sub(d.backlogSeen).Abs() < backlogLate {
		return
	}
	d.backlogSeen = now
	oldest, err := d.Store.Next(ctx, true, d.tenants.tenantsThat(func(t *tenantState) bool { return now.Before(t.suspendedUntil) }))
	if err != nil || oldest.IsZero() {
		oldest = now
	}
	late := now.Sub(oldest)
	d.Metrics.backlogAge.Store(int64(late))
	if late < backlogLate || now.Sub(d.backlogTold).Abs() < backlogPause {
		return
	}
	d.backlogTold = now
	h, err := d.View().Health(ctx, now)
	if err != nil {
		return
	}
	facts := []any{"count", h.BacklogSize(), "since", oldest}
	if end := h.BacklogEnd(); !end.IsZero() { // they wait for GitHub's limits, until then at least
		facts = append(facts, "until", end)
	}
	d.Log.Info("open pull requests are looked over late: GitHub's limits and what happens now go before them", facts...)
}

// renewLeases prolongs the leases of all looks under way.
func (d *Daemon) renewLeases(ctx context.Context) {
	for {
		ring, stop := d.Alarm(d.Now().Add(d.Lease / 3))
		select {
		case <-ctx.Done():
			stop()
			return
		case <-ring:
			stop()
		}
		leases := d.work.leases()
		if len(leases) == 0 {
			continue
		}
		until := d.Now().Add(d.Lease)
		lost, err := d.Store.Renew(ctx, until, leases...)
		if err != nil {
			until = time.Time{}
			if ctx.Err() == nil {
				d.Log.Error("our database cannot be written: evaluations under way may be made twice", "err", err)
			}
		}
		d.work.noteRenewal(until, leases, lost)
	}
}
