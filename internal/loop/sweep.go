package loop

// The sweep: many pull requests, each reconciled once, so that what no event announced is seen all the same. One that
// fails, or panics, is told and stops no other; what stops the rest is that GitHub is down, or wants to be left alone.

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

// A Sweep reconciles pull requests side by side. It may be broken off at any moment and begun anew: like each of its
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
	Done   func(Swept)                            // called after each evaluation, by one at a time; may be nil
}

// Swept is one evaluation.
type Swept struct {
	PR   quorum.PR
	Look Look  // the last one; zero with an error
	Err  error // why it failed
	N    int   // how many have been evaluated or have failed, this one included
}

// Tally is what a sweep came to.
type Tally struct {
	Evaluated int
	Failed    int
	Skipped   int
	At        quorum.PR // the first that was skipped
	Why       string    // it was; "" if none was
	Limited   bool      // only because of the Limit
}

// A PanicError is an evaluation that panicked: a mistake of ours.
type PanicError struct {
	Value string
	Stack []byte
}

func (e *PanicError) Error() string { return "evaluate: panic: " + e.Value }

// sweeping is a sweep under way.
type sweeping struct {
	*Sweep
	pauses context.Context // ends when the rest is stopped
	stop   context.CancelFunc

	mu      sync.Mutex
	todo    []quorum.PR // of this batch
	tally   Tally
	counted map[quorum.PR]bool
	row     int // transport faults since GitHub last answered
	why     string
}

// Run evaluates prs in their order. It returns early if ctx ends.
func (s *Sweep) Run(ctx context.Context, prs []quorum.PR) Tally {
	all := prs
	if s.Limit > 0 && len(all) > s.Limit {
		all = all[:s.Limit]
	}
	sw := &sweeping{Sweep: s, counted: map[quorum.PR]bool{}}
	sw.pauses, sw.stop = context.WithCancel(ctx)
	defer sw.stop()
	for batch := range slices.Chunk(all, max(s.Batch, 1)) {
		if sw.tally.Evaluated+sw.tally.Failed > 0 && s.pause(sw.pauses, s.BatchDelay) != nil {
			break
		}
		sw.todo = batch
		var workers sync.WaitGroup
		for range min(max(s.Concurrent, 1), len(batch)) {
			workers.Go(func() { sw.work(ctx) })
		}
		workers.Wait()
		if sw.why != "" || ctx.Err() != nil {
			break
		}
	}
	return sw.sum(ctx, prs, len(all))
}

// sum completes the tally.
func (sw *sweeping) sum(ctx context.Context, prs []quorum.PR, limit int) Tally {
	t := sw.tally
	at := slices.IndexFunc(prs, func(pr quorum.PR) bool { return !sw.counted[pr] })
	if at < 0 {
		return t
	}
	t.At, t.Skipped = prs[at], len(prs)-t.Evaluated-t.Failed
	switch {
	case sw.why != "":
		t.Why = sw.why
	case ctx.Err() != nil:
		t.Why = "it was interrupted"
	default:
		t.Why, t.Limited = fmt.Sprintf("the limit of %d is reached", limit), true
	}
	return t
}

// work evaluates one pull request after the other.
func (sw *sweeping) work(ctx context.Context) {
	for pr, ok := sw.take(ctx); ok; pr, ok = sw.take(ctx) {
		look, err := sw.evaluate(ctx, pr)
		if more := sw.done(ctx, pr, look, err); !more || sw.pause(sw.pauses, sw.ItemDelay) != nil {
			return
		}
	}
}

// take returns the next pull request, unless nothing more may be begun.
func (sw *sweeping) take(ctx context.Context) (quorum.PR, bool) {
	sw.mu.Lock()
	defer sw.mu.Unlock()
	if len(sw.todo) == 0 || sw.why != "" || ctx.Err() != nil {
		return quorum.PR{}, false
	}
	if sw.Spent != nil {
		if why := sw.Spent(); why != "" {
			sw.halt(why)
			return quorum.PR{}, false
		}
	}
	pr := sw.todo[0]
	sw.todo = sw.todo[1:]
	return pr, true
}

// halt stops the rest; sw.mu is held. What is under way is finished, but tried no more.
func (sw *sweeping) halt(why string) {
	if sw.why == "" {
		sw.why = why
		sw.stop()
	}
}

// done counts an evaluation, and reports whether there is another one to begin.
func (sw *sweeping) done(ctx context.Context, pr quorum.PR, look Look, err error) bool {
	sw.mu.Lock()
	defer sw.mu.Unlock()
	var panicked *PanicError
	until, limited := retryAt(err)
	switch {
	case err == nil:
		sw.tally.Evaluated++
		sw.row = 0
	case ctx.Err() != nil && !errors.As(err, &panicked): // by our own end
		return false
	default:
		errors.As(err, &panicked)
		sw.tally.Failed++
		switch {
		case limited:
			sw.halt(fmt.Sprintf("GitHub takes no more requests until %s", until.UTC().Format("15:04:05 UTC")))
		case temporary(err):
			if sw.row++; sw.Threshold > 0 && sw.row >= sw.Threshold {
				sw.halt(fmt.Sprintf("GitHub seems to be down: %d evaluations in a row failed on the way to it", sw.row))
			}
		case panicked == nil: // GitHub answered
			sw.row = 0
		}
	}
	sw.counted[pr] = true
	if sw.Done != nil {
		sw.Done(Swept{PR: pr, Look: look, Err: err, N: sw.tally.Evaluated + sw.tally.Failed})
	}
	return len(sw.todo) > 0
}

// retryAt is when a limit of GitHub's ends, if err is one.
func retryAt(err error) (time.Time, bool) {
	var limit interface{ RetryAt() time.Time }
	if errors.As(err, &limit) {
		return limit.RetryAt(), true
	}
	return time.Time{}, false
}

// evaluate reconciles pr, and again if GitHub could not be reached: nothing else is mended by trying again.
func (sw *sweeping) evaluate(ctx context.Context, pr quorum.PR) (look Look, err error) {
	for try := 0; ; try++ {
		look, err = sw.once(ctx, pr)
		if _, limited := retryAt(err); err == nil || limited || !temporary(err) || try >= sw.Retries {
			return look, err
		}
		most := sw.Max
		if try < 30 && sw.Base<<try < most {
			most = sw.Base << try
		}
		if sw.pause(sw.pauses, sw.jitter(most)) != nil {
			return look, err
		}
	}
}

// once reconciles pr, and survives it.
func (sw *sweeping) once(ctx context.Context, pr quorum.PR) (look Look, err error) {
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

func (s *Sweep) pause(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.Reconciler.sleep(ctx, d)
}

func (s *Sweep) jitter(most time.Duration) time.Duration {
	if s.Jitter != nil {
		return s.Jitter(most)
	}
	return rand.N(max(most, 1))
}
