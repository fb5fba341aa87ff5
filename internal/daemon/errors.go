package daemon

// What can go wrong at the host, told apart by what becomes of the key: it waits, it ends, or its tenant does.

import (
	"errors"
	"time"
)

// Errors of a [Host] and its [Site]s are in the chain of what they return where it applies. Beside them a limit has a method
// RetryAt() time.Time, and what may go better the next time one Temporary() bool that is true.
var (
	ErrGone         = errors.New("it is not there, or we may not see it") // the pull request, the repository, the commit
	ErrNoTenant     = errors.New("the App is not installed there")
	ErrSuspended    = errors.New("the installation is suspended")
	ErrUnauthorized = errors.New("the host does not take our credentials") // and a new token did not help
	ErrForbidden    = errors.New("a permission is missing")
	ErrMoved        = errors.New("it changed while it was read")
	ErrMalformed    = errors.New("the payload is not what the host sends") // of [Host.Read]
	ErrDraining     = errors.New("the daemon is stopping and accepts nothing new")
)

// retryAt is when a limit of the host's ends, if err is one.
func retryAt(err error) (time.Time, bool) {
	var limit interface{ RetryAt() time.Time }
	if errors.As(err, &limit) {
		return limit.RetryAt(), true
	}
	return time.Time{}, false
}

// isTemporary reports whether the same look may go better the next time.
func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}
