package daemon

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/store"
)

// answering is a GitHub that answers every request in one way.
type answering func(*http.Request) (*http.Response, error)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// answers returns an answer of GitHub's.
func answers(status int, body string, header ...string) answering {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for _, line := range header {
			name, value, _ := strings.Cut(line, ": ")
			h.Set(name, value)
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// leadsNowhere is a way to GitHub that leads nowhere.
func leadsNowhere(err error) answering {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// asked returns the error of a client that asks such a GitHub.
func asked(t *testing.T, wire answering) error {
	t.Helper()
	c, err := client.New(client.Options{Token: "ghp_canary", Transport: wire})
	if err != nil {
		t.Fatal(err)
	}
	var into struct {
		Name string `json:"name"`
	}
	_, err = c.Get(t.Context(), "repos/acme/shop", &into)
	return fmt.Errorf("look: %w", err)
}

// askedAsApp returns the error of an App's client, whose token is refused.
func askedAsApp(t *testing.T, wire answering) error {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	p, err := client.NewPool(client.PoolOptions{Options: client.Options{App: &client.App{ID: 42, Key: text}, Transport: wire}, Slug: "quorum"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Client(77)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Get(t.Context(), "repos/acme/shop", nil)
	return fmt.Errorf("look: %w", err)
}

// failures are the errors that a look may end with, by what they come from.
var failures = map[string]struct {
	err    func(*testing.T) error
	reason string
}{
	"no connection": {func(t *testing.T) error {
		return asked(t, leadsNowhere(&net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}))
	}, "unreachable"},
	"reset":          {func(t *testing.T) error { return asked(t, leadsNowhere(errors.New("connection reset"))) }, "unreachable"},
	"500":            {func(t *testing.T) error { return asked(t, answers(500, "{}")) }, "unreachable"},
	"a unicorn":      {func(t *testing.T) error { return asked(t, answers(502, "<html>")) }, "unreachable"},
	"503":            {func(t *testing.T) error { return asked(t, answers(503, "", "Retry-After: 1")) }, "unreachable"},
	"an App's 500":   {func(t *testing.T) error { return askedAsApp(t, answers(500, "{}")) }, "unreachable"},
	"a proxy's page": {func(t *testing.T) error { return asked(t, answers(200, "<html>sign in</html>")) }, "broken_answer"},
	"null":           {func(t *testing.T) error { return asked(t, answers(200, "null")) }, "broken_answer"},
	"another shape":  {func(t *testing.T) error { return asked(t, answers(200, `{"name":7}`)) }, "broken_answer"},
	"another thing":  {func(*testing.T) error { return fmt.Errorf("read check: %w", client.ErrTransport) }, "broken_answer"},
	"too long":       {func(*testing.T) error { return fmt.Errorf("read answer: %w", client.ErrTooLong) }, "broken_answer"},
	"a bad token":    {func(t *testing.T) error { return asked(t, answers(401, `{"message":"Bad credentials"}`)) }, "unauthorized"},
	"a bad key":      {func(t *testing.T) error { return askedAsApp(t, answers(401, `{"message":"bad JWT"}`)) }, "unauthorized"},
	"another App":    {func(*testing.T) error { return fmt.Errorf("sign in: %w", client.ErrAppUnknown) }, "unauthorized"},
	"a permission": {func(t *testing.T) error {
		return asked(t, answers(403, `{"message":"Resource not accessible by integration"}`))
	}, "forbidden"},
	"an address": {func(t *testing.T) error {
		return asked(t, answers(403, `{"message":"your IP address is not permitted"}`))
	}, "forbidden"},
	"suspended": {func(t *testing.T) error {
		return asked(t, answers(403, `{"message":"This installation has been suspended"}`))
	}, "suspended"},
	"suspended before": {func(t *testing.T) error {
		return askedAsApp(t, answers(403, `{"message":"This installation has been suspended"}`))
	}, "suspended"},
	"removed":       {func(t *testing.T) error { return askedAsApp(t, answers(404, `{"message":"Not Found"}`)) }, "not_installed"},
	"not there":     {func(t *testing.T) error { return asked(t, answers(404, `{"message":"Not Found"}`)) }, "gone"},
	"410":           {func(t *testing.T) error { return asked(t, answers(410, `{"message":"Gone"}`)) }, "gone"},
	"a closed head": {func(*testing.T) error { return &github.UnpublishableError{Head: sha, Err: errors.New("422")} }, "gone"},
	"a limit": {func(t *testing.T) error {
		return asked(t, answers(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 946688400"))
	}, "limited"},
	"it moved":       {func(*testing.T) error { return fmt.Errorf("observe: %w", github.ErrMoved) }, "moved"},
	"a caller's end": {func(*testing.T) error { return fmt.Errorf("get: %w", context.DeadlineExceeded) }, "cut_off"},
	"422":            {func(t *testing.T) error { return asked(t, answers(422, `{"message":"Validation Failed"}`)) }, "other"},
	"a mistake":      {func(*testing.T) error { return errors.New("index out of range") }, "other"},
}

// wordsOf are the sentences of the reasons, as docs/daemon.md tells them; a limit, and what is gone, have lines of their
// own.
var wordsOf = map[string]string{
	"unreachable": "GitHub cannot be reached", "broken_answer": "what answered is not GitHub's API", "forbidden": "GitHub refuses it",
	"unauthorized": "GitHub does not take the App's key", "suspended": "the installation is suspended",
	"moved": "it changed while it was read", "cut_off": "it was not finished in time",
	"other": "it failed", "database": "our own database failed",
	"limited": "", "gone": "it is not on GitHub any more", "not_installed": "an installation is gone",
}

// Each failure is called what it is, in the log, in the figures and where the work stands. That GitHub cannot be reached
// is said where it cannot, and nowhere else.
func TestFailuresAreCalledWhatTheyAre(t *testing.T) {
	for name, c := range failures {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			l := newLand()
			h := build(t, l, t.TempDir(), overheard(&log))
			settle(time.Minute)
			l.open(1, pull(7))
			err := c.err(t)
			mend := l.failing(1, err)
			h.deliver(about(1, pull(7)))
			settle(75 * time.Second) // what seems gone is asked about for more than a minute
			said := log.String()
			if row, err := h.Store.Get(t.Context(), "1/acme/shop#7"); err == nil {
				said += row.Failed
			}
			if !strings.Contains(said, wordsOf[c.reason]) {
				t.Errorf("%s: of %v it says %s, and not %q", name, err, said, wordsOf[c.reason])
			}
			if got := strings.Contains(said, "cannot be reached"); got != (c.reason == "unreachable") {
				t.Errorf("%s: of %v it says %s", name, err, said)
			}
			if strings.Contains(said, "canary") {
				t.Errorf("%s: it says the token: %s", name, said)
			}
			isCounted := c.reason != "limited" && c.reason != "gone" && c.reason != "not_installed"
			series := scrape(t, h.Metrics)
			for reason := range wordsOf {
				name := fmt.Sprintf("coordinator_task_failures_total{reason=%q}", reason)
				if got := series[name] != "0"; got != (isCounted && reason == c.reason) {
					t.Errorf("%v: %s is %s", err, name, series[name])
				}
			}
			mend()
			h.stop()
		})
	}
}

// brokenList is a table that cannot be listed.
type brokenList struct{ store.Store }

func (brokenList) List(context.Context, store.Query) ([]store.Row, error) {
	return nil, errors.New("the disk is full")
}

// A fault of our own database says nothing of GitHub.
func TestOurOwnDatabaseIsNotGitHub(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir(), overheard(&log), func(c *Config) { c.Store = brokenList{c.Store} })
		settle(time.Minute)
		h.stop()
		if text := log.String(); !strings.Contains(text, "our own database failed") || strings.Contains(text, "GitHub") {
			t.Errorf("it says %s", text)
		}
		if n := scrape(t, h.Metrics)[`coordinator_task_failures_total{reason="database"}`]; n == "0" {
			t.Error("it is not counted")
		}
	})
}
