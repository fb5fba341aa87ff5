package loop

// The sweep: many pull requests, each reconciled once, so that changes which no event announced are seen all the same.
// A pull request that fails, or panics, is reported and stops no other; the rest is stopped if GitHub is down, or wants
// to be left alone.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A Sweep reconciles pull requests side by side. It may be stopped at any moment and started again: like each of its
// evaluations it only makes true what GitHub shows.
type Sweep struct {
	Reconciler Reconciler // its Seen is not called
	Concurrent int        // evaluations at once
	Batch      int        // pull requests that are finished before the next ones are begun
	BatchDelay time.Duration
	ItemDelay  time.Duration // between two evaluations of one worker
	Retries    int           // of an evaluation that failed for a transport fault
	Base, Max  time.Duration // of the pause before one: doubling, with full jitter
	Limit      int           // pull requests at most; 0: all
	Threshold  int           // transport faults in a row that stop it; 0: none do

	Spent  func() string                          // why no more requests may be spent, "" while they may; may be nil
	Jitter func(most time.Duration) time.Duration // nil: random
	Begin  func(batch, batches int)               // called before each batch; may be nil
	Done   func(Swept)                            // called after each evaluation, by one at a time; may be nil
}

// Swept is one evaluation.
type Swept struct {
	PR   quorum.PR
	Look Look  // the last one; zero with an error
	Err  error // why it failed
	N    int   // how many have been evaluated or have failed, this one included
}

// Tally is the result of a sweep.
type Tally struct {
	Evaluated int
	Failed    int
	Skipped   int
	At        quorum.PR // the first that was skipped
	Why       string    // why it was skipped; "" if none was
	Limited   bool      // skipped only because of the Limit
}

// A PanicError is an evaluation that panicked: a mistake of ours.
type PanicError struct {
	Value string
	Stack []byte
}

func (e *PanicError) Error() string { return "evaluate: panic: " + e.Value }

// sweepRun is a sweep under way.
type sweepRun struct {
	*Sweep
	pauseCtx     context.Context // ends when the rest is stopped
	cancelPauses context.CancelFunc

	mu          sync.Mutex
	todo        []quorum.PR // left of this batch
	tally       Tally
	counted     map[quorum.PR]bool
	faultsInRow int // transport faults since GitHub last answered
	stopReason  string
}

// Run evaluates prs in their order. It returns early if ctx ends.
func (s *Sweep) Run(ctx context.Context, prs []quorum.PR) Tally {
	if s.Jitter == nil {
		s.Jitter = rand.N[time.Duration]
	}
	all := prs
	if s.Limit > 0 && len(all) > s.Limit {
		all = all[:s.Limit]
	}
	sw := &sweepRun{Sweep: s, counted: map[quorum.PR]bool{}}
	sw.pauseCtx, sw.cancelPauses = context.WithCancel(ctx)
	defer sw.cancelPauses()
	n, size := 0, max(s.Batch, 1)
	for batch := range slices.Chunk(all, size) {
		if sw.tally.Evaluated+sw.tally.Failed > 0 && s.pauseFor(sw.pauseCtx, s.BatchDelay) != nil {
			break
		}
		sw.todo = batch
		if n++; s.Begin != nil {
			s.Begin(n, (len(all)+size-1)/size)
		}
		var workers sync.WaitGroup
		for range min(max(s.Concurrent, 1), len(batch)) {
			workers.Go(func() { sw.runWorker(ctx) })
		}
		workers.Wait()
		if sw.stopReason != "" || ctx.Err() != nil {
			break
		}
	}
	return sw.completeTally(ctx, prs, len(all))
}

// completeTally returns the tally with the pull requests that were skipped, and why.
func (sw *sweepRun) completeTally(ctx context.Context, prs []quorum.PR, limit int) Tally {
	t := sw.tally
	at := slices.IndexFunc(prs, func(pr quorum.PR) bool { return !sw.counted[pr] })
	if at < 0 {
		return t
	}
	t.At, t.Skipped = prs[at], len(prs)-t.Evaluated-t.Failed
	switch {
	case sw.stopReason != "":
		t.Why = sw.stopReason
	case ctx.Err() != nil:
		t.Why = "it was interrupted"
	default:
		t.Why, t.Limited = fmt.Sprintf("the limit of %d is reached", limit), true
	}
	return t
}

// runWorker evaluates one pull request after the other.
func (sw *sweepRun) runWorker(ctx context.Context) {
	for pr, ok := sw.takeNext(ctx); ok; pr, ok = sw.takeNext(ctx) {
		look, err := sw.evaluateWithRetries(ctx, pr)
		if more := sw.countResult(ctx, pr, look, err); !more || sw.pauseFor(sw.pauseCtx, sw.ItemDelay) != nil {
			return
		}
	}
}

// takeNext returns the next pull request, unless nothing more may be begun.
func (sw *sweepRun) takeNext(ctx context.Context) (quorum.PR, bool) {
	sw.mu.Lock()
	defer sw.mu.Unlock()
	if len(sw.todo) == 0 || sw.stopReason != "" || ctx.Err() != nil {
		return quorum.PR{}, false
	}
	if sw.Spent != nil {
		if why := sw.Spent(); why != "" {
			sw.stopRest(why)
			return quorum.PR{}, false
		}
	}
	pr := sw.todo[0]
	sw.todo = sw.todo[1:]
	return pr, true
}

// stopRest stops the sweep; sw.mu is held. An evaluation that is under way is finished, but not retried.
func (sw *sweepRun) stopRest(why string) {
	if sw.stopReason == "" {
		sw.stopReason = why
		sw.cancelPauses()
	}
}

// countResult counts an evaluation, and reports whether there is another one to begin.
func (sw *sweepRun) countResult(ctx context.Context, pr quorum.PR, look Look, err error) bool {
	sw.mu.Lock()
	defer sw.mu.Unlock()
	var panicked *PanicError
	until, limited := retryAt(err)
	switch {
	case err == nil:
		sw.tally.Evaluated++
		sw.faultsInRow = 0
	case ctx.Err() != nil && !errors.As(err, &panicked): // by our own end
		return false
	default:
		errors.As(err, &panicked)
		sw.tally.Failed++
		switch {
		case limited:
			sw.stopRest(fmt.Sprintf("GitHub takes no more requests until %s", until.UTC().Format("15:04:05 UTC")))
		case isTemporary(err):
			if sw.faultsInRow++; sw.Threshold > 0 && sw.faultsInRow >= sw.Threshold {
				sw.stopRest(fmt.Sprintf("GitHub seems to be down: %d evaluations in a row failed on the way to it", sw.faultsInRow))
			}
		case panicked == nil: // GitHub answered
			sw.faultsInRow = 0
		}
	}
	sw.counted[pr] = true
	if sw.Done != nil {
		sw.Done(Swept{PR: pr, Look: look, Err: err, N: sw.tally.Evaluated + sw.tally.Failed})
	}
	return len(sw.todo) > 0
}

// retryAt returns when a limit of GitHub's ends, if err is one.
func retryAt(err error) (time.Time, bool) {
	var limit interface{ RetryAt() time.Time }
	if errors.As(err, &limit) {
		return limit.RetryAt(), true
	}
	return time.Time{}, false
}

// evaluateWithRetries reconciles pr, and again if GitHub could not be reached: no other error is mended by a retry.
func (sw *sweepRun) evaluateWithRetries(ctx context.Context, pr quorum.PR) (look Look, err error) {
	for try := 0; ; try++ {
		look, err = sw.evaluateOnce(ctx, pr)
		if _, limited := retryAt(err); err == nil || limited || !isTemporary(err) || try >= sw.Retries {
			return look, err
		}
		most := sw.Max
		if try < 30 && sw.Base<<try < most {
			most = sw.Base << try
		}
		if sw.pauseFor(sw.pauseCtx, sw.Jitter(max(most, 1))) != nil {
			return look, err
		}
	}
}

// evaluateOnce reconciles pr, and turns a panic into an error.
func (sw *sweepRun) evaluateOnce(ctx context.Context, pr quorum.PR) (look Look, err error) {
	defer func() {
		if v := recover(); v != nil {
			look, err = Look{}, &PanicError{Value: fmt.Sprint(v), Stack: debug.Stack()}
		}
	}()
	r := sw.Reconciler
	r.Seen = func(l Look) { look = l }
	if _, err := r.Reconcile(ctx, pr); err != nil {
		return Look{}, err
	}
	return look, nil
}

func (s *Sweep) pauseFor(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.Reconciler.sleep(ctx, d)
}
