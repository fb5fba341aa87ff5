package daemon

// Errors of GitHub, classed by their consequence for the key: it waits, it ends, or its tenant does.

import (
	"context"
	"errors"
	"fmt"
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

// errTable is in the chain of an error of our own database, which says nothing of GitHub.
var errTable = errors.New("our own database failed")

// An errorClass is what kind of failure an error of a look is: what its consequence is, and what people are told. Apart
// from classes, limits have a method RetryAt() time.Time, and passing faults a method Temporary() bool that returns
// true.
type errorClass uint8

const (
	classOther        errorClass = 1 + iota
	classMoved                   // it changed while it was read
	classNotInstalled            // the App is not installed there
	classSuspended               // the installation is suspended
	classUnauthorized            // GitHub does not take our credentials, and a new token did not help
	classGone                    // the pull request, the repository or the commit is not there, or we may not see it
	classForbidden               // a permission is missing
	classLimited                 // GitHub takes no more requests for a while
	classUnreachable             // GitHub gave no answer, or was out of order itself
	classBroken                  // what answered did not answer as GitHub does
	classDatabase                // it is our own table that failed
	classCut                     // we ended it ourselves: the daemon stops, or its time is up
)

// classTexts are what people are told of each class: what is so, and what to do. "GitHub cannot be reached" stands in
// one of them alone. The label is the metric's.
var classTexts = map[errorClass]struct{ label, says, remedy string }{
	classOther: {"other", "it failed", "read the error; if it is a mistake of the coordinator's, report it"},
	classMoved: {"moved", "it changed while it was read", "nothing: it is read again at once"},
	classNotInstalled: {
		"not_installed", "the App is not installed there", "install it again if that was not meant",
	},
	classSuspended: {
		"suspended", "the installation is suspended", "whoever suspended it ends that in the installation's settings on GitHub",
	},
	classUnauthorized: {
		"unauthorized", "GitHub does not take the App's key, or the token", "renew it, and see that this machine's clock is right",
	},
	classGone: {
		"gone", "it is not there, or we may not see it", "if it should be seen, add its repository in the installation's settings",
	},
	classForbidden: {
		"forbidden", "GitHub refuses it", "accept the App's new permissions in the installation's settings, or give the token the one that the error names; " +
			"if it names none, look at the organisation's allowed addresses and single sign-on",
	},
	classLimited: {"limited", "GitHub's rate limit is reached", "nothing: it goes on when the limit ends"},
	classUnreachable: {
		"unreachable", "GitHub cannot be reached", "nothing while GitHub is down; else look at this machine's network, name service and proxy",
	},
	classBroken: {
		"broken_answer", "what answered is not GitHub's API, or its answer is broken",
		"if it stays so, look whether a proxy answers in GitHub's place, and at GITHUB_API_URL",
	},
	classDatabase: {"database", "our own database failed", "look at its disk and folder: is it full, or not writable?"},
	classCut:      {"cut_off", "it was not finished in time", "nothing: it is begun anew"},
}

// classOf returns the class of an error.
func classOf(err error) errorClass {
	var unpublishable *github.UnpublishableError
	var api *client.APIError
	_, limited := retryAt(err)
	switch {
	case limited:
		return classLimited
	case errors.Is(err, client.ErrAppUnknown):
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
	case errors.Is(err, errTable):
		return classDatabase
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return classCut
	case client.IsUnreachable(err):
		return classUnreachable
	case client.IsBrokenAnswer(err):
		return classBroken
	}
	return classOther
}

// sayFailure says what a failure is, what to do, and what the error was: for whoever sees the work that failed.
func sayFailure(err error) string {
	text := classTexts[classOf(err)]
	return fmt.Sprintf("%s. What to do: %s. %s", text.says, text.remedy, err)
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
