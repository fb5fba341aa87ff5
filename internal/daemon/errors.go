package daemon

// Errors of GitHub, classed by their consequence for the key: it waits, it ends, or its tenant does.

import (
	"errors"
	"net/http"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
)

// Errors of [Daemon.Receive].
var (
	ErrMalformed = errors.New("the payload is not what the host sends")
	ErrDraining  = errors.New("the daemon is stopping and accepts nothing new")
)

// An errorClass is the consequence of an error of GitHub's for the key that was worked on. Apart from classes, limits
// have a method RetryAt() time.Time, and passing faults a method Temporary() bool that returns true.
type errorClass uint8

const (
	classOther        errorClass = 1 + iota
	classMoved                   // it changed while it was read
	classNotInstalled            // the App is not installed there
	classSuspended               // the installation is suspended
	classUnauthorized            // GitHub does not take our credentials, and a new token did not help
	classGone                    // the pull request, the repository or the commit is not there, or we may not see it
	classForbidden               // a permission is missing
)

// classOf returns the class of an error.
func classOf(err error) errorClass {
	var unpublishable *github.UnpublishableError
	var api *client.APIError
	switch {
	case errors.Is(err, github.ErrAppUnknown):
		return classUnauthorized
	case errors.Is(err, github.ErrMoved):
		return classMoved
	case errors.Is(err, client.ErrNotInstalled):
		return classNotInstalled
	case errors.Is(err, client.ErrSuspended):
		return classSuspended
	case client.IsUnauthorized(err):
		return classUnauthorized
	case errors.As(err, &unpublishable), client.IsNotFound(err), client.IsGone(err):
		return classGone
	case errors.As(err, &api) && api.Status == http.StatusMovedPermanently: // it has another name now, and another key
		return classGone
	case client.IsForbidden(err):
		return classForbidden
	}
	return classOther
}

// retryAt returns when a limit of GitHub's ends, if err is one.
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
