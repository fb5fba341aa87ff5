package loop

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Stay says how long a job stays with a pull request.
type Stay struct {
	Wait bool          // until it is decided, following new heads; else only for what GitHub announces to no job
	Poll time.Duration // how often to look while it stays; looks at every wake too
	Hold time.Duration // without Wait: how long at most

	// Cost counts the requests that were paid for so far; may be nil. After a look that cost much the next one comes
	// later.
	Cost func() int

	// Looked is called once, when the first look was made or has failed, before anything is waited for; may be nil.
	Looked func()
}

// A look usually finds most answers unchanged, which costs nothing. Where a stranger has filled a pull request with
// long texts each look reads them all: so that it takes no more than about a tenth of GITHUB_TOKEN's 1,000 requests an
// hour, each request then delays the next look.
const (
	cheapLook    = 40 // requests
	requestPause = 36 * time.Second
	longestPause = 15 * time.Minute
)

// pauseAfter returns how long to wait after a look that cost so many requests.
func (s Stay) pauseAfter(requests int) time.Duration {
	if requests <= cheapLook {
		return s.Poll
	}
	return max(s.Poll, min(time.Duration(requests)*requestPause, longestPause))
}

// maxFaultTime is how long GitHub may answer with nothing but faults before a stay is given up.
const maxFaultTime = 15 * time.Minute

// minPause is the least pause between two looks, whatever a clock says.
const minPause = 50 * time.Millisecond

// Stay reconciles pr until there is nothing left for this process to wait for, and returns the last look. It ends with
// an error if ctx ends, if GitHub refuses for good, or if nothing but faults came for fifteen minutes.
func (r *Reconciler) Stay(ctx context.Context, pr quorum.PR, stay Stay) (last Look, err error) {
	var faults faultRow
	inner := *r
	inner.Seen = func(l Look) {
		last = l
		if r.Seen != nil {
			r.Seen(l)
		}
	}
	if stay.Cost == nil {
		stay.Cost = func() int { return 0 }
	}
	began := r.now()
	var cost, costBefore int // of the last two looks
	for {
		before := stay.Cost()
		wake, err := inner.Reconcile(ctx, pr)
		if stay.Looked != nil {
			stay.Looked()
			stay.Looked = nil
		}
		costBefore, cost = cost, stay.Cost()-before
		next := r.now().Add(stay.pauseAfter(min(costBefore, cost))) // a first look reads all there is
		switch {
		case ctx.Err() != nil:
			return last, context.Cause(ctx)
		case err == nil:
			faults = faultRow{}
			if !stay.shouldStay(last.decisionShown(), r.now().Sub(began)) {
				return last, nil
			}
			if !wake.IsZero() && wake.Add(-last.Snapshot.Skew).Before(next) { // a wake is by GitHub's clock
				next = wake.Add(-last.Snapshot.Skew)
			}
			if end := began.Add(stay.Hold); !stay.Wait && next.After(end) {
				next = end
			}
		case !isTemporary(err):
			return last, err
		default:
			if next = faults.retryAfter(r.now(), wake); next.IsZero() { // with an error wake is the end of a limit
				return last, err
			}
			if !stay.Wait && next.Sub(began) > max(stay.Hold, time.Minute) {
				return last, err
			}
			if r.Fault != nil {
				r.Fault(err, next)
			}
		}
		if err := r.sleep(ctx, max(next.Sub(r.now()), minPause)); err != nil {
			return last, err
		}
	}
}

// A faultRow counts what failed in a row for a reason that passes. The zero value: nothing did.
type faultRow struct {
	since time.Time // the first of them, after the last limit
	pause time.Duration
}

// retryAfter returns when to try again after one more fault: after a pause that doubles, and not before a limit ends. It
// is zero once faults have been borne for long enough.
func (f *faultRow) retryAfter(now, limitEnd time.Time) (next time.Time) {
	if f.since.IsZero() {
		f.since = now
	}
	if now.Sub(f.since) > maxFaultTime {
		return time.Time{}
	}
	f.pause = min(max(2*f.pause, time.Second), 30*time.Second)
	next = now.Add(f.pause)
	if limitEnd.After(next) {
		next, f.since = limitEnd, time.Time{}
	}
	return next
}

// shouldStay reports whether the job has something to wait for: whoever objects may be run again by it, too.
func (s Stay) shouldStay(d quorum.Decision, stayed time.Duration) bool {
	isWaiting := d.Verdict == quorum.Waiting && d.Reason != quorum.ReasonDraft && !d.Reason.OfLayers() // those may take days
	switch {
	case s.Wait:
		return isWaiting
	case !isWaiting && d.Verdict != quorum.Blocked, stayed >= s.Hold:
		return false
	case isWaiting && !d.GraceEnd.IsZero():
		return true
	}
	return slices.ContainsFunc(d.Ballots, func(b quorum.Ballot) bool {
		isOpen := b.Vote == quorum.Object || b.Vote == quorum.Pending && isWaiting
		return isOpen && b.Watch && !b.Shadow
	})
}

// isTemporary reports whether looking again may help.
func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

func (r *Reconciler) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

func (r *Reconciler) sleep(ctx context.Context, d time.Duration) error {
	if r.Sleep != nil {
		return r.Sleep(ctx, d)
	}
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
