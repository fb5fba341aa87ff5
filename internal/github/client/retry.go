package client

// Repeating what may be repeated. A read is tried again after any fault; a write only if no byte of it was sent,
// because a lost answer is not a lost request: a check would stand twice, a reviewer be paid twice. Package github
// writes a check again once it has read what became of it (publish.go, writeTries).

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
)

const (
	maxTries     = 4
	firstDelay   = 500 * time.Millisecond
	longestDelay = 10 * time.Second
)

// retryPolicies say what is tried again. All clients share them.
type retryPolicies struct {
	reads, writes failsafe.Executor[*http.Response]
}

// newPolicies are the policies whose pauses that draws: a time below most; nil: by math/rand.
func newPolicies(jitter func(most time.Duration) time.Duration) retryPolicies {
	if jitter == nil {
		jitter = rand.N[time.Duration]
	}
	policy := func(writes bool) failsafe.Executor[*http.Response] {
		return failsafe.With(retrypolicy.NewBuilder[*http.Response]().
			HandleIf(func(_ *http.Response, err error) bool { return mayRetry(err, writes) }).
			WithMaxAttempts(maxTries).
			WithDelayFunc(func(e failsafe.ExecutionAttempt[*http.Response]) time.Duration { return retryDelay(e, jitter) }).
			ReturnLastFailure().
			Build())
	}
	return retryPolicies{reads: policy(false), writes: policy(true)}
}

func mayRetry(err error, write bool) bool {
	var f *fault
	return errors.As(err, &f) && !f.final && (f.unsent || !write)
}

type retrier struct {
	retryPolicies
	next http.RoundTripper
	log  *slog.Logger
	all  bool // every request is tried again as a read is
}

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	write := !r.all && !isRepeatable(req)
	first, failed := r.next.RoundTrip(req)
	if failed == nil || !mayRetry(failed, write) { // nearly always: the rest costs more than it
		return first, failed
	}
	executor := r.reads
	if write {
		executor = r.writes
	}
	return executor.WithContext(req.Context()).GetWithExecution(func(e failsafe.Execution[*http.Response]) (*http.Response, error) {
		if !e.IsRetry() {
			return nil, failed
		}
		r.log.Debug("GitHub is asked again", "method", req.Method, "attempt", e.Attempts(), "err", e.LastError())
		try := req.Clone(req.Context())
		if req.GetBody != nil { // the first try has read the body
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			try.Body = body
		}
		return r.next.RoundTrip(try)
	})
}

// retryDelay draws the pause before the next try: full jitter below a bound that doubles, so that jobs which failed
// together do not come back together. A short Retry-After of a 5xx is kept.
func retryDelay(e failsafe.ExecutionAttempt[*http.Response], jitter func(most time.Duration) time.Duration) time.Duration {
	bound := min(firstDelay<<max(0, e.Attempts()-1), longestDelay)
	pause := jitter(bound)
	var f *fault
	if errors.As(e.LastError(), &f) {
		pause = max(pause, min(f.wait, longestDelay))
	}
	return pause
}
