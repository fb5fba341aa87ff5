package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// An appWire is a GitHub that knows one App, 42, and its installation 7 on acme/shop.
type appWire struct {
	key *rsa.PrivateKey

	mu       sync.Mutex
	heard    []string // method and path, tokens not shown
	bodies   []string // of requests for a token
	bad      []string // what no GitHub would have accepted
	minted   int      // tokens so far
	live     string   // the token that is taken
	odd      map[string]said
	refuse   bool // every request with a token is answered 403, and the token quoted
	forget   int  // so many answers later the token is not taken any more
	lifetime time.Duration
	ahead    time.Duration // of its clock; 0: it does not tell the time
}

func newAppWire(t testing.TB) *appWire {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return &appWire{key: key, lifetime: time.Hour, odd: map[string]said{}, forget: -1}
}

func (w *appWire) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(w.key)})
}

func (w *appWire) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	path := strings.TrimPrefix(req.URL.Path, "/api/v3")
	w.heard = append(w.heard, req.Method+" "+path)
	status, said := w.answer(req, path, string(body))
	header := http.Header{}
	if w.ahead != 0 {
		header.Set("Date", time.Now().Add(w.ahead).UTC().Format(http.TimeFormat))
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(said)), Request: req}, nil
}

func (w *appWire) answer(req *http.Request, path, body string) (int, string) {
	auth := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if strings.HasPrefix(path, "/app") || strings.HasSuffix(path, "/installation") {
		var claims jwt.RegisteredClaims
		isSigned := func(*jwt.Token) (any, error) { return &w.key.PublicKey, nil }
		if _, err := jwt.NewParser(jwt.WithoutClaimsValidation()).ParseWithClaims(auth, &claims, isSigned); err != nil {
			w.bad = append(w.bad, "a signature: "+err.Error())
		}
		now := time.Now().Add(w.ahead)
		if lasts := claims.ExpiresAt.Sub(now); lasts <= 0 || lasts > 10*time.Minute || claims.IssuedAt.After(now) {
			return 401, `{"message":"'Expiration time' claim ('exp') must be a numeric value representing the future time"}`
		}
		if s, strange := w.odd[path]; strange {
			return s.status, strings.ReplaceAll(s.body, "ECHO", auth)
		}
	}
	switch path {
	case "/app":
		return 200, `{"id":42,"slug":"quorum-app"}`
	case "/repos/acme/shop/installation":
		return 200, `{"id":7,"app_id":42,"suspended_at":null,"permissions":{"checks":"write"}}`
	case "/app/installations/7/access_tokens":
		w.minted++
		w.bodies = append(w.bodies, strings.TrimSpace(body))
		w.live = fmt.Sprintf("ghs_canaryOfTheInstallation%d", w.minted)
		return 201, fmt.Sprintf(`{"token":%q,"expires_at":%q,"permissions":{"checks":"write","contents":"read","pull_requests":"write"}}`,
			w.live, time.Now().Add(w.lifetime).UTC().Format(time.RFC3339))
	}
	if w.forget == 0 {
		w.live = "gone"
	}
	w.forget--
	switch {
	case auth != w.live:
		return 401, fmt.Sprintf(`{"message":"Bad credentials: %s"}`, auth)
	case w.refuse:
		return 403, fmt.Sprintf(`{"message":"Resource not accessible by integration, said %s"}`, auth)
	case path == "/graphql" || path == "/api/graphql":
		return 200, `{"data":{"n":1}}`
	case req.Method == http.MethodPost:
		return 201, `{"n":` + fmt.Sprint(len(body)) + `}`
	}
	return 200, `{"n":1}`
}

func (w *appWire) client(t testing.TB, change ...func(*Options)) *Client {
	t.Helper()
	o := Options{App: &App{ID: 42, Key: w.pem()}, Transport: w}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, bad := range w.bad {
			t.Errorf("GitHub does not accept %s", bad)
		}
	})
	return c
}

func TestAppSignsIn(t *testing.T) {
	for _, base := range []string{"", "https://ghe.example/api/v3"} {
		synctest.Test(t, func(t *testing.T) {
			w := newAppWire(t)
			var minted []string
			c := w.client(t, func(o *Options) { o.BaseURL, o.App.Mint = base, func(token string) { minted = append(minted, token) } })
			in, err := c.Install(t.Context(), "acme", "shop")
			if err != nil || in.ID != 7 || in.Slug != "quorum-app" || c.Personal() {
				t.Fatalf("%+v, personal: %v, %v", in, c.Personal(), err)
			}
			var n number
			if err := c.GraphQL(t.Context(), "query{n}", nil, &n); err != nil || n.N != 1 {
				t.Fatalf("%d, %v", n.N, err)
			}
			if _, _, err := get(t, c); err != nil {
				t.Fatal(err)
			}
			if w.minted != 1 || !slices.Equal(minted, []string{w.live}) || len(w.heard) != 5 {
				t.Errorf("one token for all: %d, told %d, sent %q", w.minted, len(minted), w.heard)
			}
			if want := `{"repositories":["shop"]}`; w.bodies[0] != want {
				t.Errorf("asked for %s, want %s", w.bodies[0], want)
			}
			<-time.After(time.Hour) // of the bubble: the token expires
			if _, _, err := get(t, c); err != nil || w.minted != 2 || len(minted) != 2 {
				t.Errorf("after an hour: %v, %d tokens, told %d", err, w.minted, len(minted))
			}
		})
	}
}

// A clock that is minutes away from GitHub's costs one request: its answer tells the time.
func TestAppSignsByGitHubsClock(t *testing.T) {
	for _, ahead := range []time.Duration{15 * time.Minute, 3 * time.Minute, -3 * time.Minute, -15 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			w := newAppWire(t)
			w.ahead = ahead
			c := w.client(t)
			_, _ = c.Install(t.Context(), "acme", "shop")
			if in, err := c.Install(t.Context(), "acme", "shop"); err != nil || in.ID != 7 {
				t.Errorf("GitHub's clock is %s ahead: %+v, %v", ahead, in, err)
			}
		})
	}
}

func TestAppLacks(t *testing.T) {
	in := Installation{Grants: map[string]string{"checks": "read", "contents": "write", "issues": "strange"}}
	got := in.Lacks(Grant{"checks", "write"}, Grant{"contents", "read"}, Grant{"pull_requests", "write"}, Grant{"issues", "read"})
	if fmt.Sprint(got) != "[checks: write pull-requests: write issues: read]" {
		t.Errorf("got %v", got)
	}
}

// A token that was revoked is given up for a new one once, a write's body is sent again, and many requests at a time
// ask for one token only.
func TestAppTokenIsRevoked(t *testing.T) {
	w := newAppWire(t)
	c := w.client(t)
	if _, err := c.Install(t.Context(), "acme", "shop"); err != nil {
		t.Fatal(err)
	}
	w.forget = 0
	var n number
	if _, err := c.Send(t.Context(), http.MethodPost, "repos/acme/shop/check-runs", map[string]int{"a": 1}, &n); err != nil || n.N != len(`{"a":1}`)+1 ||
		w.minted != 2 {
		t.Fatalf("%v, %d bytes, %d tokens", err, n.N, w.minted)
	}
	w.mu.Lock()
	w.forget = 0
	w.mu.Unlock()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := c.Get(t.Context(), "repos/acme/shop", nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if w.minted > 4 {
		t.Errorf("%d tokens", w.minted)
	}
	w.odd["/app/installations/7/access_tokens"] = said{status: 404, body: `{"message":"Not Found"}`}
	w.mu.Lock()
	w.forget = 0
	w.mu.Unlock()
	_, err := c.Get(t.Context(), "repos/acme/shop", nil)
	if err == nil || IsNotFound(err) || !strings.Contains(err.Error(), "access_tokens: 404") { // a token that is not found is no comment that is gone
		t.Errorf("an App that was taken away: %v", err)
	}
}

func TestAppIsRefused(t *testing.T) {
	for _, test := range []struct {
		title, path string
		answer      said
		want        string
		is          func(error) bool
	}{
		{
			"not installed", "/repos/acme/shop/installation",
			said{status: 404, body: `{"message":"Not Found"}`},
			"on acme/shop: the App is not installed there", func(err error) bool { return errors.Is(err, ErrNotInstalled) },
		},
		{
			"suspended", "/repos/acme/shop/installation",
			said{status: 200, body: `{"id":7,"app_id":42,"suspended_at":"2026-01-02T03:04:05Z"}`},
			"suspended",
			func(err error) bool { return errors.Is(err, ErrSuspended) },
		},
		{
			"another App's", "/repos/acme/shop/installation",
			said{status: 200, body: `{"id":8,"app_id":43}`},
			"names another App",
			func(err error) bool { return errors.Is(err, ErrTransport) },
		},
		{
			"another key", "/app",
			said{status: 401, body: `{"message":"A JSON web token could not be decoded: ECHO"}`},
			"sign in as App 42: GET app: 401", IsUnauthorized,
		},
		{
			"no token", "/app/installations/7/access_tokens",
			said{status: 403, body: `{"message":"This installation has been suspended ECHO"}`},
			"access_tokens: 403 This installation has been suspended", IsForbidden,
		},
		{
			"an empty token", "/app/installations/7/access_tokens",
			said{status: 201, body: `{}`},
			"the answer holds no token",
			func(err error) bool { return errors.Is(err, ErrTransport) },
		},
		{
			"an outage", "/app/installations/7/access_tokens",
			said{status: 502, body: `{"message":"ECHO"}`},
			"502",
			func(err error) bool { return errors.Is(err, ErrTransport) },
		},
		{
			"a limit", "/app/installations/7/access_tokens",
			said{status: 403, body: `{"message":"You have exceeded a secondary rate limit"}`},
			"secondary rate limit until",
			func(err error) bool { return errors.As(err, new(*LimitError)) },
		},
	} {
		t.Run(test.title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newAppWire(t)
				w.odd[test.path] = test.answer
				_, err := w.client(t).Install(t.Context(), "acme", "shop")
				if err == nil || !strings.Contains(err.Error(), test.want) || !test.is(err) || strings.Contains(err.Error(), "eyJ") {
					t.Errorf("got %v, want %s", err, test.want)
				}
			})
		})
	}
}

func TestAppKeyIsRefused(t *testing.T) {
	for _, test := range []struct {
		app  App
		want string
	}{
		{App{ID: 42, Key: []byte("canary-key")}, "open GitHub: the App's private key is no RSA key in PEM"},
		{App{ID: 0, Key: newAppWire(t).pem()}, "open GitHub: the App's id is no number of an App"},
	} {
		if _, err := New(Options{App: &test.app}); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	c := newAppWire(t).client(t)
	if _, err := c.Get(t.Context(), "repos/acme/shop", nil); err == nil {
		t.Error("a request without an installation was sent")
	}
}

// Neither the key nor a signature nor a token stands in an error, a log or a formatted value, also where GitHub quotes
// it.
func TestAppSecretsStaySecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAppWire(t)
		var log bytes.Buffer
		options := Options{
			App:       &App{ID: 42, Key: w.pem()},
			Transport: w,
			Log:       slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}
		c, err := New(options)
		if err != nil {
			t.Fatal(err)
		}
		in, err := c.Install(t.Context(), "acme", "shop")
		if err != nil {
			t.Fatal(err)
		}
		w.refuse = true
		_, refused := c.Get(t.Context(), "repos/acme/shop", nil)
		_, written := c.Send(t.Context(), http.MethodPost, "repos/acme/shop/check-runs", map[string]int{}, nil)
		w.odd["/app/installations/7/access_tokens"] = said{status: 500, body: `{"message":"ECHO"}`}
		w.forget = 0
		_, lost := c.Get(t.Context(), "repos/acme/shop", nil)
		var shown bytes.Buffer
		for _, v := range []any{refused, written, lost, options, *options.App, options.App, c, in} {
			fmt.Fprintf(&shown, "%v %+v %#v %s %q\n", v, v, v, v, v)
			text, _ := json.Marshal(v)
			if _, isOptions := v.(Options); !isOptions {
				if _, isApp := v.(App); !isApp {
					shown.Write(text)
				}
			}
		}
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "options", options)
		for _, where := range []string{shown.String(), log.String()} {
			for _, secret := range []string{"canaryOfThe", "eyJhbGci", "PRIVATE KEY", strings.Split(string(w.pem()), "\n")[1]} {
				if strings.Contains(where, secret) {
					t.Errorf("%s is shown:\n%s", secret[:8], where)
				}
			}
		}
		if !IsForbidden(refused) || !IsForbidden(written) || !errors.Is(lost, ErrTransport) {
			t.Errorf("got %v, %v, %v", refused, written, lost)
		}
	})
}

func TestAppObeysItsContext(t *testing.T) {
	w := newAppWire(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.client(t).Install(ctx, "acme", "shop"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
