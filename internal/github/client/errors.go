package client

// Errors between us and GitHub, told apart by what a caller does next: wait (LimitError), look again
// (ErrTransport), or act on what GitHub said (APIError).

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v60/github"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/lazy"
)

// ErrTransport is in the chain of every error after which it is unknown what GitHub would have said: a timeout, a
// reset, a 5xx, an answer that is cut off or not what was asked for. After a write it means that the write may have
// happened.
var ErrTransport = errors.New("transport fault")

// ErrTooLong is in the chain of an error where an answer is longer than is read: 32 MiB, of a list's page 8.
var ErrTooLong = errors.New("answer longer than allowed")

// A LimitError says that GitHub takes no requests of this token for a while. Its text holds an absolute time, so that
// it reads the same whenever it is read.
type LimitError struct {
	Until   time.Time
	Primary bool // the hourly budget is spent; otherwise one of the secondary limits
}

func (e *LimitError) Error() string {
	kind := "secondary"
	if e.Primary {
		kind = "primary"
	}
	return fmt.Sprintf("GitHub's %s rate limit until %s", kind, e.Until.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// RetryAt is when the limit has ended.
func (e *LimitError) RetryAt() time.Time { return e.Until }

// Temporary reports that the limit ends.
func (e *LimitError) Temporary() bool { return true }

// An APIError is a refusal that GitHub answered with.
type APIError struct {
	Status     int
	Method     string
	Path       string // without the query
	Message    string // GitHub's, in one line of at most 200 runes
	Permission string // what GitHub says would do: X-Accepted-GitHub-Permissions
	Missing    bool   // "Resource not accessible by …": the token lacks a permission
	SignOn     string // where the token is authorised for an organisation with single sign-on; on GitHub's own host

	address string // what to say of the API's address: set if a page answered, and no API
}

func (e *APIError) Error() string {
	text := fmt.Sprintf("%s %s: %d %s", e.Method, e.Path, e.Status, e.Message)
	if e.Permission != "" && e.Missing {
		text += " (needs " + e.Permission + ")"
	}
	return text
}

// errorMessage is what the body of a refusal says; "" if it is none of GitHub's.
func errorMessage(body []byte) string {
	var said gogithub.ErrorResponse
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	text := said.Message
	for _, e := range said.Errors {
		switch {
		case e.Message != "":
			text += "; " + e.Message
		case e.Field != "":
			text += "; " + e.Field + ": " + e.Code
		}
	}
	return text
}

// Hint is one piece of advice, or "".
func (e *APIError) Hint() string {
	switch {
	case e.address != "":
		return e.address
	case e.SignOn != "":
		return "authorise the token for the organisation's single sign-on: " + e.SignOn
	case e.Status == http.StatusForbidden && strings.Contains(e.Message, "SAML"):
		return "authorise the token for the organisation's single sign-on: on GitHub, under Settings, Developer settings, at the token, Configure SSO"
	case e.Status == http.StatusUnauthorized:
		return "GitHub does not take the token: it is expired, revoked or mistyped"
	case e.Missing && e.Permission != "":
		return "give the token the permission " + e.Permission
	case e.Missing:
		return "the token lacks a permission for this request"
	case e.Status == http.StatusMovedPermanently:
		return "the repository was renamed or moved: use its new name"
	}
	return ""
}

// IsUnauthorized says that GitHub does not take the token, or the App's signature for one.
func IsUnauthorized(err error) bool {
	var untaken *noTokenError
	return hasStatus(err, http.StatusUnauthorized) || errors.As(err, &untaken) && untaken.why.Status == http.StatusUnauthorized
}

// IsForbidden says that GitHub refused for a reason that is no limit.
func IsForbidden(err error) bool { return hasStatus(err, http.StatusForbidden) }

// LacksPermission says that GitHub refused because the token may not do that, whatever it asks for.
func LacksPermission(err error) bool {
	var api *APIError
	return errors.As(err, &api) && api.Status == http.StatusForbidden && api.Missing
}

// NotFound says 404, see [IsNotFound].
func (e *APIError) NotFound() bool { return e.Status == http.StatusNotFound }

// IsNotFound says 404: gone, never there, not visible to this token, or not yet on the replica that answered.
func IsNotFound(err error) bool { return hasStatus(err, http.StatusNotFound) }

// IsConflict says 409.
func IsConflict(err error) bool { return hasStatus(err, http.StatusConflict) }

// IsGone says 410: an expired log, issues that are switched off.
func IsGone(err error) bool { return hasStatus(err, http.StatusGone) }

// IsUnprocessable says 422: GitHub understood the request and will never carry it out.
func IsUnprocessable(err error) bool { return hasStatus(err, http.StatusUnprocessableEntity) }

func hasStatus(err error, status int) bool {
	var api *APIError
	return errors.As(err, &api) && api.Status == status
}

// A fault is one attempt that brought no usable answer. The error it came from is kept as words only: a caller who asks
// for context.DeadlineExceeded means the caller's own deadline, not that of an attempt.
type fault struct {
	what   string
	silent bool          // GitHub said nothing, or that it is broken itself; otherwise it is what it said that cannot be used
	unsent bool          // no byte of the request left this machine
	wait   time.Duration // GitHub's Retry-After
	hint   string        // what helps, if that is known
	final  bool          // it was tried as often as does any good
}

func (f *fault) Error() string { return f.what }
func (f *fault) Unwrap() error { return ErrTransport }

// Unreachable reports whether GitHub gave no answer, or one that says that it is out of order itself.
func (f *fault) Unreachable() bool { return f.silent }

// Temporary reports that the same request may well succeed the next time.
func (f *fault) Temporary() bool { return true }

// IsUnreachable says that GitHub cannot be reached: the network failed, no answer came in time or to its end, or what
// answered was a failure of GitHub's own (5xx).
func IsUnreachable(err error) bool {
	var f interface{ Unreachable() bool }
	return errors.As(err, &f) && f.Unreachable()
}

// IsBrokenAnswer says that something answered, and not as GitHub's API does: a proxy's page, or JSON of another shape.
func IsBrokenAnswer(err error) bool {
	var f *fault
	if errors.As(err, &f) {
		return !f.silent
	}
	return !IsUnreachable(err) && (errors.Is(err, ErrTransport) || errors.Is(err, ErrTooLong))
}

// maxMessage bounds what a stranger's words may take of an error.
const maxMessage = 200

var (
	userinfo = lazy.Regexp(`//[^/@\s"]*@`)
	// tokens have these shapes: GitHub's own, those of old Enterprise Servers, and an App's signature. An
	// installation's token changes every hour, so it is not known here.
	tokens = lazy.Regexp(`\b(?:gh[a-z]_|github_pat_)[\w.-]{8,}|\bv1\.[0-9a-f]{40}|\beyJ[\w-]+\.[\w-]+\.[\w-]*`)
)

// redact makes a text of GitHub, of a proxy or of the network fit for an error: without the token, on one line, short.
// The token goes first, because a cut through its middle would leave a piece of it.
func (s secret) redact(text string) string {
	if s != "" {
		text = strings.ReplaceAll(text, string(s), "***")
		text = strings.ReplaceAll(text, url.QueryEscape(string(s)), "***")
	}
	if len(text) > 16*maxMessage {
		text = text[:16*maxMessage] // before any work; what is shown is shorter still
	}
	return untrusted.OneLine(tokens().ReplaceAllString(userinfo().ReplaceAllString(text, "//***@"), "***"), maxMessage)
}

// secret is a token that no formatting verb prints.
type secret string

func (secret) String() string   { return "***" }
func (secret) GoString() string { return "***" }

// noTokenError is a token that could not be had. In the middle of a request it must not look like the refusal of that
// request: like a comment that is gone.
type noTokenError struct {
	why *APIError
	is  error // ErrNotInstalled, ErrSuspended, ErrAppUnknown, or nil
}

func (e *noTokenError) Error() string { return "take a token: " + e.why.Error() }

func (e *noTokenError) Is(target error) bool { return e.is != nil && target == e.is }

func isSuspension(e *APIError) bool {
	return e.Status == http.StatusForbidden && strings.Contains(strings.ToLower(e.Message), "installation has been suspended")
}

// Is says that the installation was suspended while its token was still good.
func (e *APIError) Is(target error) bool { return target == ErrSuspended && isSuspension(e) }

// ErrAppUnknown is in the chain of an error of the App's own endpoints that answered 404: GitHub does not know the App,
// which does not mean that what was asked for is gone.
var ErrAppUnknown = errors.New("GitHub does not know the App")

// appUnknownError reads like the error that it marks.
type appUnknownError struct{ error }

func (e appUnknownError) Unwrap() []error { return []error{e.error, ErrAppUnknown} }

// markAppUnknown marks an error of the App's own endpoints.
func markAppUnknown(err error) error {
	if IsNotFound(err) {
		return appUnknownError{err}
	}
	return err
}

// errOtherApp says that an answer is about another App than ours, whose installations must not become ours.
var errOtherApp = fmt.Errorf("the answer names another App: %w", ErrTransport)

// ErrNotInstalled says that the App has no installation that reaches the repository.
var ErrNotInstalled = errors.New("the App is not installed there")

// ErrSuspended says that the installation was suspended.
var ErrSuspended = errors.New("the App's installation is suspended")
