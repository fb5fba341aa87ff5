package main

// GitHub is down: a job that nobody waits for gives up.

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sethvargo/go-githubactions"
)

// longestOutage is how long a job goes on without an answer of GitHub's.
const longestOutage = time.Minute

var errOutage = errors.New("GitHub has not answered for a minute")

// An outageWatch gives up once nothing but silence and failures of GitHub's own came for [longestOutage].
type outageWatch struct {
	giveUp context.CancelCauseFunc
	mu     sync.Mutex
	since  time.Time // when the first request began that was not answered; zero: the newest one was
}

// observe is told of each attempt: its status is 0 if none came. While nothing is asked nothing is given up.
func (w *outageWatch) observe(_ string, status int, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch now := time.Now(); {
	case status != 0 && status < 500:
		w.since = time.Time{}
	case w.since.IsZero():
		w.since = now.Add(-took)
	case now.Sub(w.since) >= longestOutage:
		w.giveUp(errOutage)
	}
}

// untilOutage works until GitHub is down. Then it says so in one annotation and by an exit code of its own.
func (c *command) untilOutage(ctx context.Context, work func(context.Context) error) error {
	lasting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	w := &outageWatch{giveUp: giveUp}
	c.Observed = w.observe
	err := work(lasting)
	if err == nil || ctx.Err() != nil || !errors.Is(context.Cause(lasting), errOutage) {
		return err
	}
	if c.jobOutput != nil {
		c.jobOutput.sendCommand(func(a *githubactions.Action) { a.Errorf("%v", errOutage) })
	}
	return &exitError{code: exitOutage, err: errOutage, hint: "the check stays as it is; the next event, or the schedule, looks again"}
}
