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

// newRetryPolicy returns the policy of all clients, whose pauses jitter draws: a time below most; nil: by math/rand.
func newRetryPolicy(jitter func(most time.Duration) time.Duration) failsafe.Executor[*http.Response] {
	if jitter == nil {
		jitter = rand.N[time.Duration]
	}
	return failsafe.With(retrypolicy.NewBuilder[*http.Response]().
		HandleIf(func(_ *http.Response, err error) bool { return mayRetry(err) }).
		WithMaxAttempts(maxTries).
		WithDelayFunc(func(e failsafe.ExecutionAttempt[*http.Response]) time.Duration { return retryDelay(e, jitter) }).
		ReturnLastFailure().
		Build())
}

func mayRetry(err error) bool {
	var f *fault
	return errors.As(err, &f) && !f.final
}

type retrier struct {
	policy failsafe.Executor[*http.Response]
	next   http.RoundTripper
	log    *slog.Logger
}

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	first, failed := r.sendTry(req)
	if !mayRetry(failed) { // nearly always: the rest costs more than it
		return first, failed
	}
	return r.policy.WithContext(req.Context()).GetWithExecution(func(e failsafe.Execution[*http.Response]) (*http.Response, error) {
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
		return r.sendTry(try)
	})
}

// sendTry carries a request out once. A fault of a write is final, unless nothing of it was sent.
func (r *retrier) sendTry(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	var f *fault
	if errors.As(err, &f) && !f.unsent && !isRepeatable(req) {
		f.final = true
	}
	return resp, err
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
