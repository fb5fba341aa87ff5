package daemon

import (
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

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
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

// Each failure is called what it is. That GitHub cannot be reached is said where it cannot, and nowhere else.
func TestFailuresAreCalledWhatTheyAre(t *testing.T) {
	fails := func(err error) answering { return func(*http.Request) (*http.Response, error) { return nil, err } }
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	suspended := `{"message":"This installation has been suspended"}`
	for name, c := range map[string]struct {
		err  func(*testing.T) error
		want errorClass
	}{
		"no connection":  {func(t *testing.T) error { return asked(t, fails(refused)) }, classUnreachable},
		"reset":          {func(t *testing.T) error { return asked(t, fails(errors.New("connection reset"))) }, classUnreachable},
		"500":            {func(t *testing.T) error { return asked(t, answers(500, "{}")) }, classUnreachable},
		"a unicorn":      {func(t *testing.T) error { return asked(t, answers(502, "<html>")) }, classUnreachable},
		"503":            {func(t *testing.T) error { return asked(t, answers(503, "", "Retry-After: 1")) }, classUnreachable},
		"an App's 500":   {func(t *testing.T) error { return askedAsApp(t, answers(500, "{}")) }, classUnreachable},
		"a proxy's page": {func(t *testing.T) error { return asked(t, answers(200, "<html>sign in</html>")) }, classBroken},
		"null":           {func(t *testing.T) error { return asked(t, answers(200, "null")) }, classBroken},
		"another shape":  {func(t *testing.T) error { return asked(t, answers(200, `{"name":7}`)) }, classBroken},
		"another thing":  {func(*testing.T) error { return fmt.Errorf("read check: %w", client.ErrTransport) }, classBroken},
		"too long":       {func(*testing.T) error { return fmt.Errorf("read answer: %w", client.ErrTooLong) }, classBroken},
		"a bad token":    {func(t *testing.T) error { return asked(t, answers(401, `{"message":"Bad credentials"}`)) }, classUnauthorized},
		"a bad key":      {func(t *testing.T) error { return askedAsApp(t, answers(401, `{"message":"bad JWT"}`)) }, classUnauthorized},
		"another App":    {func(*testing.T) error { return fmt.Errorf("sign in: %w", github.ErrAppUnknown) }, classUnauthorized},
		"a permission": {func(t *testing.T) error {
			return asked(t, answers(403, `{"message":"Resource not accessible by integration"}`))
		}, classForbidden},
		"an address": {func(t *testing.T) error {
			return asked(t, answers(403, `{"message":"your IP address is not permitted"}`))
		}, classForbidden},
		"suspended":        {func(t *testing.T) error { return asked(t, answers(403, suspended)) }, classSuspended},
		"suspended before": {func(t *testing.T) error { return askedAsApp(t, answers(403, suspended)) }, classSuspended},
		"removed":          {func(t *testing.T) error { return askedAsApp(t, answers(404, `{"message":"Not Found"}`)) }, classNotInstalled},
		"not there":        {func(t *testing.T) error { return asked(t, answers(404, `{"message":"Not Found"}`)) }, classGone},
		"410":              {func(t *testing.T) error { return asked(t, answers(410, `{"message":"Gone"}`)) }, classGone},
		"a closed head":    {func(*testing.T) error { return &github.UnpublishableError{Head: sha, Err: errors.New("422")} }, classGone},
		"a limit": {func(t *testing.T) error {
			return asked(t, answers(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 946688400"))
		}, classLimited},
		"it moved":       {func(*testing.T) error { return fmt.Errorf("observe: %w", github.ErrMoved) }, classMoved},
		"not signed in":  {notSignedIn, classNotSignedIn},
		"our own table":  {func(*testing.T) error { return fmt.Errorf("read: %w: %w", errTable, errors.New("disk is full")) }, classDatabase},
		"our own file":   {func(*testing.T) error { return fmt.Errorf("read: %w: %w", errTable, context.DeadlineExceeded) }, classDatabase},
		"a stop":         {func(*testing.T) error { return fmt.Errorf("get: %w", context.Canceled) }, classCut},
		"a caller's end": {func(*testing.T) error { return fmt.Errorf("get: %w", context.DeadlineExceeded) }, classCut},
		"422":            {func(t *testing.T) error { return asked(t, answers(422, `{"message":"Validation Failed"}`)) }, classOther},
		"a mistake":      {func(*testing.T) error { return errors.New("index out of range") }, classOther},
	} {
		synctest.Test(t, func(t *testing.T) {
			err := c.err(t)
			if got := classOf(err); got != c.want {
				t.Errorf("%s: %v is called %q, want %q", name, err, classTexts[got].says, classTexts[c.want].says)
			}
			said := sayFailure(err)
			if saysUnreachable := strings.Contains(said, "cannot be reached"); saysUnreachable != (c.want == classUnreachable) {
				t.Errorf("%s: it says %q", name, said)
			}
			if strings.Contains(said, "canary") {
				t.Errorf("%s: it says the token: %q", name, said)
			}
		})
	}
}

// notSignedIn is the error of an App whose name is not known yet.
func notSignedIn(t *testing.T) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	p, err := client.NewPool(client.PoolOptions{Options: client.Options{App: &client.App{ID: 42, Key: text}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Client(77)
	return err
}

// Each class has its own words, and something to do.
func TestEachClassHasItsOwnWords(t *testing.T) {
	said := map[string]errorClass{}
	for class := classOther; class <= classCut; class++ {
		text := classTexts[class]
		if text.says == "" || text.remedy == "" || text.label == "" {
			t.Errorf("the class %d has no words", class)
		}
		if other, twice := said[text.says]; twice {
			t.Errorf("the classes %d and %d are told in the same words", class, other)
		}
		said[text.says] = class
	}
	if classTexts[classCut+1].says != "" || len(classTexts) != int(classCut) {
		t.Error("there are words of a class that is not there")
	}
}
