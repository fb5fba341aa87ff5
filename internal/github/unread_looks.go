package github

import (
	"context"
	"errors"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

// unreadLooks are the looks in a row that could not read all they needed.
type unreadLooks struct {
	since time.Time // when the first of them began; zero: none
	looks int
	err   error // of the last one
}

// note counts a look that failed. Where GitHub answers nobody, or refuses to, it says nothing about the pull request.
func (u *unreadLooks) note(began time.Time, err error) {
	var limit *client.LimitError
	switch {
	case errors.As(err, &limit), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		client.IsUnauthorized(err), client.IsNotFound(err):
		return
	case u.looks == 0:
		u.since = began
	}
	u.looks++
	u.err = err
}
