package client

// A GitHub App that was just made from a manifest: its key, for the code that GitHub sent the browser on with.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/untrusted"
	"github.com/review-coordinator/coordinator/internal/lazy"
)

// A NewApp is a GitHub App with the secrets that GitHub shows once.
type NewApp struct {
	ID            int64
	Slug          string // hostile, as all words here are: a person chose them
	Name          string
	Owner         string
	Page          string // its address on the website
	Key           []byte // PEM
	WebhookSecret string // "" if GitHub made none
}

// Format keeps the secrets out of every verb.
func (a NewApp) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "github.NewApp(%d)", a.ID) }

// manifestCode matches the codes that are exchanged: one stands in a path.
var manifestCode = lazy.Regexp(`^[A-Za-z0-9_-]{1,200}$`)

// ErrNoManifestCode says that a text cannot be the code of a manifest.
var ErrNoManifestCode = errors.New("it is no code of GitHub's")

// maxNewAppBytes is larger than any answer that describes an App.
const maxNewAppBytes = 1 << 20

// ExchangeManifestCode exchanges the code of a manifest for the App that was made. The code is the only credential, and
// is worth nothing afterwards: it stands in no error. GitHub answers 404 if it is more than an hour old, or was used.
func ExchangeManifestCode(ctx context.Context, o Options, code string) (NewApp, error) {
	if !manifestCode().MatchString(code) {
		return NewApp{}, ErrNoManifestCode
	}
	g, err := newHost(o, 1)
	if err != nil {
		return NewApp{}, err
	}
	const shown = "/app-manifests/CODE/conversions"
	to := g.base.JoinPath("app-manifests", url.PathEscape(code), "conversions").String()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, http.NoBody)
	if err != nil {
		return NewApp{}, errors.New("make App: the address of the API is none") // unreachable: it was read
	}
	req.Header = g.header.Clone()
	resp, err := g.wire.RoundTrip(req)
	if err != nil {
		return NewApp{}, fmt.Errorf("POST %s: %w", shown, &fault{what: secret(code).redact(err.Error())})
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxNewAppBytes))
	switch {
	case err != nil:
		return NewApp{}, fmt.Errorf("POST %s: %w", shown, &fault{what: secret(code).redact(err.Error())})
	case resp.StatusCode >= 500:
		return NewApp{}, fmt.Errorf("POST %s: %w", shown, &fault{what: fmt.Sprintf("status %d", resp.StatusCode)})
	case resp.StatusCode != http.StatusCreated:
		var said struct{ Message string }
		_ = json.Unmarshal(body, &said) // what is no JSON says nothing
		return NewApp{}, &APIError{
			Status: resp.StatusCode, Method: http.MethodPost, Path: shown, Message: secret(code).redact(said.Message),
		}
	}
	return readNewApp(body)
}

// readNewApp reads GitHub's answer. No error quotes it: it holds a key.
func readNewApp(body []byte) (NewApp, error) {
	var in struct {
		ID      int64  `json:"id"`
		Slug    string `json:"slug"`
		Name    string `json:"name"`
		HTMLURL string `json:"html_url"`
		Owner   struct {
			Login string `json:"login"`
			Slug  string `json:"slug"` // of an enterprise
		} `json:"owner"`
		Secret string `json:"webhook_secret"`
		PEM    string `json:"pem"`
	}
	if err := json.Unmarshal(body, &in); err != nil || in.ID <= 0 || !strings.Contains(in.PEM, "PRIVATE KEY-----") {
		return NewApp{}, fmt.Errorf("make App: %w", &fault{what: "the answer describes no new App with its key"})
	}
	owner := in.Owner.Login
	if owner == "" {
		owner = in.Owner.Slug
	}
	return NewApp{
		ID: in.ID, Slug: untrusted.OneLine(in.Slug, 100), Name: untrusted.OneLine(in.Name, 100), Owner: untrusted.OneLine(owner, 100),
		Page: in.HTMLURL, Key: []byte(in.PEM), WebhookSecret: in.Secret,
	}, nil
}
