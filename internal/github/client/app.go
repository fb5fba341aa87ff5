package client

// A GitHub App as whom we work. The App signs in with its private key, finds its installation on one repository, and
// takes that installation's token, which lives for an hour and is good for that repository only.

import (
	"bytes"
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/golang-jwt/jwt/v4"
	gogithub "github.com/google/go-github/v60/github"
	"golang.org/x/sync/errgroup"
)

// An App is a GitHub App with its key.
type App struct {
	ID   int64
	Key  []byte             // PEM
	Mint func(token string) // told each token before it is used, so that it can be masked; may be nil
}

// Format keeps the key out of every verb.
func (a App) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "github.App(%d)", a.ID) }

// A Grant is one permission of a token, in the words of GitHub's API: pull_requests, write.
type Grant struct{ Name, Level string }

// String is how a workflow's permissions: names it.
func (g Grant) String() string { return strings.ReplaceAll(g.Name, "_", "-") + ": " + g.Level }

// An Installation is an App on a repository.
type Installation struct {
	ID        int64
	Slug      string            // of the App
	Grants    map[string]string // what its token may do: name to level
	Events    []string          // of which GitHub tells the App; nil from [Client.Install]
	Account   string            // whose repositories they are; hostile. "" from [Client.Install]
	Suspended time.Time         // zero: it is not
}

// Lacks are the grants that the token does not have.
func (i Installation) Lacks(need ...Grant) (lacking []Grant) {
	levels := []string{"", "read", "write", "admin"} // an unknown level is none
	for _, n := range need {
		if has := slices.Index(levels, i.Grants[n.Name]); has < slices.Index(levels, n.Level) {
			lacking = append(lacking, n)
		}
	}
	return lacking
}

// Install makes c the App's installation on a repository. Without it every request of an App's client fails. It must
// not be called while c is in use.
func (c *Client) Install(ctx context.Context, owner, repo string) (Installation, error) {
	if c.app == nil {
		return Installation{}, errors.New("install App: the client has a token") // unreachable unless Options had no App
	}
	var app struct {
		Slug string `json:"slug"`
	}
	var found struct {
		ID        int64      `json:"id"`
		App       int64      `json:"app_id"`
		Suspended *time.Time `json:"suspended_at"`
	}
	both, asking := errgroup.WithContext(ctx)
	both.Go(func() error {
		if _, err := c.app.signed.Get(asking, "app", &app); err != nil {
			return fmt.Errorf("sign in as App %d: %w", c.app.id, err)
		}
		return nil
	})
	both.Go(func() error {
		_, err := c.app.signed.Get(asking, RepoPath(owner, repo, "installation"), &found)
		switch {
		case IsNotFound(err):
			return fmt.Errorf("find the installation of App %d on %s/%s: %w", c.app.id, owner, repo, errors.Join(ErrNotInstalled, err))
		case err != nil:
			return fmt.Errorf("find the installation of App %d on %s/%s: %w", c.app.id, owner, repo, err)
		}
		return nil
	})
	if err := both.Wait(); err != nil {
		return Installation{}, err
	}
	switch {
	case app.Slug == "" || found.ID == 0 || found.App != c.app.id: // another App's installation must not become ours
		return Installation{}, fmt.Errorf("find the installation of App %d on %s/%s: %w", c.app.id, owner, repo, errOtherApp)
	case found.Suspended != nil:
		return Installation{}, fmt.Errorf("find the installation of App %d on %s/%s: %w", c.app.id, owner, repo, ErrSuspended)
	}
	c.app.chooseInstallation(found.ID, repo)
	grants, err := c.app.readGrants(ctx)
	if err != nil {
		return Installation{}, fmt.Errorf("take a token of App %d for %s/%s: %w", c.app.id, owner, repo, err)
	}
	return Installation{ID: found.ID, Slug: app.Slug, Grants: grants}, nil
}

// A signer is an App that signs in, and takes tokens of its installations.
type signer struct {
	id     int64
	key    *rsa.PrivateKey
	now    func() time.Time
	stats  *stats // knows GitHub's clock
	base   string
	mint   func(string)
	wire   http.RoundTripper // on which tokens are asked for
	signed *Client           // asks as the App itself
}

// newSigner reads the key.
func newSigner(g *githubHost, app App, counted *stats) (*signer, error) {
	if app.ID <= 0 {
		return nil, errors.New("open GitHub: the App's id is no number of an App")
	}
	key, err := jwt.ParseRSAPrivateKeyFromPEM(app.Key)
	if err != nil { // its words are about the key: they stay here
		return nil, errors.New("open GitHub: the App's private key is no RSA key in PEM")
	}
	tokens := g.authorizedLayers(g.wireLayer("", counted), newLimits(g, counted))
	signed := g.newClient("", newLimits(g, counted))
	base := strings.TrimSuffix(g.base.String(), "/")
	s := &signer{id: app.ID, key: key, now: g.now, stats: counted, base: base, mint: app.Mint, wire: tokens, signed: signed}
	signed.connect(g.authorizedLayers(&ownRequest{s.newTransport(g.wireLayer("", counted))}, signed.limits))
	return s, nil
}

func (s *signer) newTransport(wire http.RoundTripper) *ghinstallation.AppsTransport {
	t, _ := ghinstallation.NewAppsTransportWithOptions(wire, s.id, ghinstallation.WithSigner(s)) // it needs that alone
	return t
}

// Sign implements [ghinstallation.Signer] by GitHub's clock, for nine minutes: GitHub takes ten at most.
func (s *signer) Sign(claims jwt.Claims) (string, error) {
	if own, isOurs := claims.(*jwt.RegisteredClaims); isOurs {
		now := s.now().Add(s.stats.clockOffset())
		own.IssuedAt, own.ExpiresAt = jwt.NewNumericDate(now.Add(-30*time.Second)), jwt.NewNumericDate(now.Add(9*time.Minute))
	}
	return jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(s.key)
}

// ownRequest gives next a request that it may change.
type ownRequest struct{ next http.RoundTripper }

func (o *ownRequest) RoundTrip(req *http.Request) (*http.Response, error) {
	return o.next.RoundTrip(req.Clone(req.Context()))
}

// appAuth is the layer that puts an installation's token into a request.
type appAuth struct {
	*signer
	next http.RoundTripper // towards GitHub, with the token
	// signIn comes before the first token, so that whoever has an answer knows the App's slug; nil: it is known.
	signIn func(context.Context) (slug string, err error)

	mu           sync.Mutex
	installation int64
	repo         string // "": the token is good for all of the installation's
	source       *ghinstallation.Transport
	token        secret
}

// installationID is the installation.
func (a *appAuth) installationID() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.installation
}

// chooseInstallation fixes whose token is taken.
func (a *appAuth) chooseInstallation(installation int64, repo string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.installation, a.repo = installation, repo
	a.source = a.newTokenSource()
}

// newTokenSource is a source without a token. Each has an AppsTransport of its own: sources that share one race.
func (a *appAuth) newTokenSource() *ghinstallation.Transport {
	t := ghinstallation.NewFromAppsTransport(a.newTransport(a.wire), a.installation)
	t.BaseURL = a.base
	if a.repo != "" {
		t.InstallationTokenOptions = &gogithub.InstallationTokenOptions{Repositories: []string{a.repo}}
	}
	return t
}

// currentToken returns a token that GitHub should take.
func (a *appAuth) currentToken(ctx context.Context) (secret, *ghinstallation.Transport, error) {
	a.mu.Lock()
	from := a.source
	a.mu.Unlock()
	if from == nil {
		return "", nil, errors.New("the App's installation is not known") // unreachable unless Install was not called
	}
	if a.signIn != nil {
		if _, err := a.signIn(ctx); err != nil {
			return "", nil, signInRefusal(err)
		}
	}
	// A request of its own: what the layers know of the one that needs the token is not said of this one.
	ctx = context.WithValue(ctx, exchangeKey{}, &exchange{repeatable: true}) // a token that was lost is no harm
	text, err := from.Token(ctx)
	if err != nil {
		return "", nil, a.tokenRefusal(ctx, err)
	}
	if text == "" {
		return "", nil, &fault{what: "the answer holds no token"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if token := secret(text); token != a.token {
		a.token = token
		if a.mint != nil {
			a.mint(text)
		}
	}
	return secret(text), from, nil
}

// signInRefusal is why the App cannot sign in. Above this layer it must not look like the refusal of what was asked for.
func signInRefusal(err error) error {
	var refusal *APIError
	switch {
	case !errors.As(err, &refusal):
		return err
	case errors.Is(err, ErrAppUnknown):
		return &noTokenError{why: refusal, is: ErrAppUnknown}
	}
	return &noTokenError{why: refusal}
}

// tokenRefusal is why there is no token, in the words of this package. Above this layer only the words are left: a
// token that is not found must not look like a comment that is gone.
func (a *appAuth) tokenRefusal(ctx context.Context, err error) error {
	var refusal *ghinstallation.HTTPError
	if !errors.As(err, &refusal) || refusal.Response == nil || refusal.RootCause != nil {
		return a.signed.rootCause(ctx, err)
	}
	resp := refusal.Response
	defer resp.Body.Close()
	err = a.signed.newAPIError(resp.Request, resp)
	var e *APIError
	if !errors.As(err, &e) {
		return a.signed.rootCause(ctx, err)
	}
	e.Path = "app/installations/access_tokens"
	switch {
	case e.Status == http.StatusNotFound:
		return &noTokenError{why: e, is: ErrNotInstalled}
	case isSuspension(e):
		return &noTokenError{why: e, is: ErrSuspended}
	}
	return &noTokenError{why: e}
}

// readGrants are the permissions of the token, as its own answer names them.
func (a *appAuth) readGrants(ctx context.Context) (map[string]string, error) {
	_, from, err := a.currentToken(ctx)
	var refused *noTokenError
	if errors.As(err, &refused) { // here it is what was asked for
		if refused.is == nil {
			return nil, refused.why
		}
		return nil, fmt.Errorf("%w: %w", refused.is, refused.why)
	}
	if err != nil {
		return nil, err
	}
	said, err := from.Permissions()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(said) // a struct with a field for each permission
	if err != nil {
		return nil, err
	}
	granted := map[string]string{}
	return granted, json.Unmarshal(text, &granted)
}

// RoundTrip sends req with the token. A token that GitHub does not take any more is given up for a new one, once: what
// was answered with 401 was not carried out.
func (a *appAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 0; ; try++ {
		token, from, err := a.currentToken(req.Context())
		var f *fault
		if errors.As(err, &f) {
			f.final = true // of its own request's
		}
		if err != nil {
			return nil, err
		}
		out := req.WithContext(req.Context())
		out.Header = maps.Clone(req.Header)
		if try > 0 && req.GetBody != nil {
			if out.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
		out.Header.Set("Authorization", "Bearer "+string(token))
		resp, err := a.next.RoundTrip(out)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusUnauthorized && try == 0 && (req.Body == nil || req.GetBody != nil) {
			resp.Body.Close()
			a.giveUp(from)
			continue
		}
		return redactRefusal(resp, token)
	}
}

// giveUp drops a token; another request may have done it already.
func (a *appAuth) giveUp(from *ghinstallation.Transport) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.source == from {
		a.source = a.newTokenSource()
	}
}

// redactRefusal takes the token out of a refusal: a proxy may quote the request.
func redactRefusal(resp *http.Response, token secret) (*http.Response, error) {
	if resp.StatusCode < 400 {
		return resp, nil
	}
	body, err := bufferBody(resp)
	if err != nil {
		return nil, fmt.Errorf("read refusal: %w", err)
	}
	resp.Body = bodyOf(bytes.ReplaceAll(body, []byte(token), []byte("***")))
	return resp, nil
}
