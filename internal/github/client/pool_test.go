package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A hubWire is a GitHub with one App, 42, and many installations. Whatever a token reads says whose it is.
type hubWire struct {
	*appWire
	mu     sync.Mutex
	tokens map[string]int64 // whose
	minted map[int64]int
	never  bool           // no token is taken
	pages  map[string]hub // by path and query
	asked  []string
	etags  bool
}

type hub struct{ body, next string }

func newHubWire(t testing.TB) *hubWire {
	return &hubWire{appWire: newAppWire(t), tokens: map[string]int64{}, minted: map[int64]int{}, pages: map[string]hub{}}
}

func (w *hubWire) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		io.Copy(io.Discard, req.Body)
		req.Body.Close()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h := http.Header{}
	status, body := w.say(req, h)
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

func (w *hubWire) say(req *http.Request, h http.Header) (int, string) {
	w.asked = append(w.asked, req.Method+" "+req.URL.RequestURI())
	auth := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if s, odd := w.odd[req.URL.Path]; odd {
		return s.status, s.body
	}
	if strings.HasPrefix(req.URL.Path, "/app") && !strings.HasPrefix(auth, "eyJ") {
		return 401, `{}`
	}
	if p, ok := w.pages[req.URL.RequestURI()]; ok {
		if p.next != "" {
			h.Set("Link", `<https://api.github.com`+p.next+`>; rel="next"`)
		}
		return 200, p.body
	}
	if parts := strings.Split(req.URL.Path, "/"); len(parts) == 5 && parts[4] == "access_tokens" {
		id, _ := strconv.ParseInt(parts[3], 10, 64)
		w.minted[id]++
		token := fmt.Sprintf("ghs_tokenOfInstallation%d.%d", id, w.minted[id])
		w.tokens[token] = id
		return 201, fmt.Sprintf(`{"token":%q,"expires_at":%q}`, token, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}
	switch id, known := w.tokens[auth]; {
	case !known || w.never:
		return 401, `{"message":"Bad credentials"}`
	case strings.HasSuffix(req.URL.Path, "/attempts"):
		return 401, `{}`
	case w.etags && req.Header.Get("If-None-Match") == fmt.Sprintf(`"of-%d"`, id):
		h.Set("Etag", fmt.Sprintf(`"of-%d"`, id))
		return 304, ""
	default:
		if w.etags {
			h.Set("Etag", fmt.Sprintf(`"of-%d"`, id))
		}
		return 200, fmt.Sprintf(`{"n":%d}`, id)
	}
}

func (w *hubWire) pool(t testing.TB, change ...func(*PoolOptions)) *Pool {
	t.Helper()
	o := PoolOptions{Options: Options{App: &App{ID: 42, Key: w.pem()}, Transport: w}, Slug: "quorum-app"}
	for _, f := range change {
		f(&o)
	}
	f, err := NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// whose reads something as an installation, and returns what the answer says whose it is.
func whose(t testing.TB, f *Pool, installation int64, path string) (int, error) {
	t.Helper()
	c, err := f.Client(installation)
	if err != nil {
		return 0, err
	}
	var n number
	_, err = c.Get(t.Context(), path, &n)
	return n.N, err
}

// T31: three tenants ask for the same at the same time, 10,000 times, their answers on one disk: none gets another's. The
// tenants are let go and taken up again all the while.
func TestTenantsAreNeverMixedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHubWire(t)
		w.etags = true
		disk := &paper{kept: map[string][]byte{}}
		f := w.pool(t, func(o *PoolOptions) { o.Cache, o.Most = disk, 2 })
		var all sync.WaitGroup
		for id := range int64(3) {
			for range 4 {
				all.Go(func() {
					for i := range 834 {
						if n, err := whose(t, f, id+1, fmt.Sprintf("repos/acme/shop/pulls/%d", i%7)); err != nil || n != int(id+1) {
							t.Errorf("installation %d: %d, %v", id+1, n, err)
							return
						}
					}
				})
			}
		}
		all.Wait()
		if len(w.asked) < 10_000 || len(disk.kept) != 21 {
			t.Errorf("%d requests, %d answers", len(w.asked), len(disk.kept))
		}
	})
}

func TestAClientIsKeptWhileItIsUsed(t *testing.T) {
	w := newHubWire(t)
	p := w.pool(t, func(o *PoolOptions) { o.Most = 2 })
	one, err := p.Client(1)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := p.Client(1)
	two, _ := p.Client(2)
	if one != again || one == two || len(w.asked) != 0 {
		t.Errorf("%v, asked %q", err, w.asked)
	}
	if _, err := whose(t, p, 1, "x"); err != nil || w.minted[1] != 1 {
		t.Fatal(err)
	}
	for _, id := range []int64{2, 3} { // 1 has to go, and what it used of its limits is not forgotten
		if _, err := p.Client(id); err != nil {
			t.Fatal(err)
		}
	}
	if p.Holds(1) || !p.Holds(2) || !p.Holds(3) {
		t.Error("another one was dropped than that of longest ago")
	}
	used := one.Requests().Sent
	anew, _ := p.Client(1)
	if anew == one || anew.Requests().Sent != used || p.Holds(2) {
		t.Errorf("%d requests are known of, want %d", anew.Requests().Sent, used)
	}
	p.Leave(1)
	if left, _ := p.Client(1); left == anew || left.Requests().Sent != 0 {
		t.Error("something is left of an installation")
	}
	for _, id := range []int64{0, -1} {
		if _, err := p.Client(id); err == nil {
			t.Errorf("entered %d", id)
		}
	}
}

func TestManyInstallationsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, alive := newHubWire(t).pool(t), 0
		for id := range int64(5000) {
			if _, err := p.Client(id + 1); err != nil {
				t.Fatal(err)
			}
		}
		for id := range int64(5000) {
			if p.Holds(id + 1) {
				alive++
			}
		}
		if alive != poolSize {
			t.Errorf("%d alive", alive)
		}
	})
}

func TestTokensInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHubWire(t)
		f := w.pool(t)
		if _, err := whose(t, f, 1, "x"); err != nil {
			t.Fatal(err)
		}
		clear(w.tokens)
		if n, err := whose(t, f, 1, "x"); err != nil || n != 1 || w.minted[1] != 2 {
			t.Errorf("one 401: %d, %v, %d tokens", n, err, w.minted[1])
		}
		w.never = true
		before := len(w.asked)
		if _, err := whose(t, f, 1, "x"); !IsUnauthorized(err) || len(w.asked)-before > 4 {
			t.Errorf("401 for ever: %v, %d requests", err, len(w.asked)-before)
		}
		w.never = false
		for _, test := range []struct {
			title string
			path  string
			said  said
			is    error
			limit bool
		}{
			{"gone", "/app/installations/1/access_tokens", said{status: 404, body: `{"message":"Not Found"}`}, ErrNotInstalled, false},
			{
				"suspended", "/app/installations/1/access_tokens",
				said{status: 403, body: `{"message":"This installation has been suspended"}`},
				ErrSuspended, false,
			},
			{"suspended, the token still good", "/x", said{status: 403, body: `{"message":"This installation has been suspended"}`}, ErrSuspended, false},
			{"forbidden", "/app/installations/1/access_tokens", said{status: 403, body: `{"message":"no"}`}, nil, false},
			{"an outage", "/app/installations/1/access_tokens", said{status: 503}, ErrTransport, false},
			{"a limit", "/app/installations/1/access_tokens", said{status: 403, body: `{"message":"You have exceeded a secondary rate limit"}`}, nil, true},
		} {
			f := w.pool(t) // without a token
			w.odd = map[string]said{test.path: test.said}
			_, err := whose(t, f, 1, "x")
			for _, sentinel := range []error{ErrNotInstalled, ErrSuspended, ErrTransport} {
				if errors.Is(err, sentinel) != errors.Is(test.is, sentinel) {
					t.Errorf("%s: is %v: %v", test.title, sentinel, err)
				}
			}
			if err == nil || IsNotFound(err) || errors.As(err, new(*LimitError)) != test.limit || strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("%s: %v", test.title, err)
			}
			w.odd = nil
		}
	})
}

func TestPoolLists(t *testing.T) {
	w := newHubWire(t)
	w.pages["/app"] = hub{`{"id":42,"slug":"quorum-app"}`, ""}
	w.pages["/app/installations?per_page=100"] = hub{
		`[{"id":1,"app_id":42,"account":{"login":"acme"},"suspended_at":null,"permissions":{"checks":"write"}}]`,
		"/app/installations?page=2",
	}
	w.pages["/app/installations?page=2&per_page=100"] = hub{`[{"id":2,"app_id":42,"account":{"slug":"big"},"suspended_at":"2026-01-02T03:04:05Z"}]`, ""}
	w.pages["/installation/repositories?per_page=100"] = hub{
		`{"total_count":4,"repositories":[{"full_name":"acme/shop"},{"full_name":"acme/old","archived":true}]}`,
		"/installation/repositories?page=2",
	}
	w.pages["/installation/repositories?page=2&per_page=100"] = hub{`{"repositories":[{"full_name":"acme/../x"},{"full_name":"acme/b"}]}`, ""}
	f := w.pool(t, func(o *PoolOptions) { o.Slug = "" })
	if n, err := whose(t, f, 1, "x"); n != 1 || err != nil || len(w.asked) != 3 || w.asked[0] != "GET /app" {
		t.Errorf("%d, %v, asked %q", n, err, w.asked)
	}
	for range 2 {
		if slug, err := f.Slug(t.Context()); slug != "quorum-app" || err != nil {
			t.Errorf("%s, %v", slug, err)
		}
	}
	all, err := f.Installations(t.Context())
	want := []Installation{
		{ID: 1, Account: "acme", Grants: map[string]string{"checks": "write"}},
		{ID: 2, Account: "big", Suspended: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	}
	if d := cmp.Diff(want, all); d != "" || err != nil {
		t.Error(d, err)
	}
	c, err := f.Client(1)
	if err != nil {
		t.Fatal(err)
	}
	repos, err := c.Repositories(t.Context())
	if !slices.Equal(repos, []string{"acme/shop", "acme/b"}) || err != nil {
		t.Errorf("%q, %v", repos, err)
	}
	if len(w.asked) != 7 {
		t.Errorf("asked %q", w.asked)
	}
	w.pages["/app/installations?per_page=100"] = hub{`[{"id":1,"app_id":43}]`, ""}
	w.pages["/installation/repositories?per_page=100"] = hub{`{}`, ""}
	_, err1 := f.Installations(t.Context())
	_, err2 := c.Repositories(t.Context())
	if !errors.Is(err1, ErrTransport) || !errors.Is(err2, ErrTransport) {
		t.Errorf("another App's: %v; no list: %v", err1, err2)
	}
}

func TestDeliveries(t *testing.T) {
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	w := newHubWire(t)
	row := func(id int, guid, status string, code int, ago time.Duration) string {
		return fmt.Sprintf(
			`{"id":%d,"guid":%q,"status":%q,"status_code":%d,"delivered_at":%q,"event":"push","action":null,"installation_id":7}`,
			id,
			guid,
			status,
			code,
			now.Add(-ago).Format(time.RFC3339),
		)
	}
	w.pages["/app/hook/deliveries?per_page=100"] = hub{"[" + strings.Join([]string{
		row(9, "timed out", "timed out", 0, time.Minute), row(8, "healed", "OK", 202, 2*time.Minute),
		row(7, "refused", "Invalid HTTP Response: 503", 503, 3*time.Minute),
		row(6, "refused", "failed to connect to host", 0, 4*time.Minute),
	}, ",") + "]", "/app/hook/deliveries?per_page=100&cursor=v1_1"}
	w.pages["/app/hook/deliveries?cursor=v1_1&per_page=100"] = hub{"[" + strings.Join([]string{
		row(5, "healed", "failed", 500, 5*time.Minute), row(4, "odd code", "bad", 200, 59*time.Minute), row(3, "long ago", "failed", 500, 61*time.Minute),
	}, ",") + "]", "/app/hook/deliveries?per_page=100&cursor=v1_2"}
	w.pages["/app/hook/deliveries?cursor=v1_2&per_page=100"] = hub{
		"[" + row(2, "days ago", "failed", 500, 71*time.Hour) + "," + row(1, "too old", "failed", 500, 73*time.Hour) + "]",
		"/app/hook/deliveries?per_page=100&cursor=v1_3",
	}
	w.odd["/app/hook/deliveries/7/attempts"] = said{status: 202, body: `{}`}
	w.odd["/app/hook/deliveries/1/attempts"] = said{status: 422, body: `{"message":"too old"}`}
	f := w.pool(t, func(o *PoolOptions) { o.Now = func() time.Time { return now } })
	for _, test := range []struct {
		since time.Time
		want  []int64
		pages int
	}{
		{now.Add(-time.Hour), []int64{9, 7, 4}, 2},
		{time.Time{}, []int64{9, 7, 4, 3, 2}, 3},
	} {
		w.asked = nil
		all, err := f.Deliveries(t.Context(), test.since)
		var ids []int64
		for _, d := range all {
			ids = append(ids, d.ID)
		}
		if err != nil || !slices.Equal(ids, test.want) || len(w.asked) != test.pages || all[1].GUID != "refused" || all[1].Installation != 7 {
			t.Errorf("%+v, %v, asked %q", all, err, w.asked)
		}
	}
	if err := f.Redeliver(t.Context(), 7); err != nil {
		t.Error(err)
	}
	if err := f.Redeliver(t.Context(), 1); !IsUnprocessable(err) {
		t.Errorf("%v", err)
	}
	w.pages["/app/hook/deliveries?per_page=100"] = hub{ // for ever
		"[" + row(9, "x", "failed", 0, time.Minute) + "]", "/app/hook/deliveries?per_page=100&cursor=v1_4",
	}
	w.pages["/app/hook/deliveries?cursor=v1_4&per_page=100"] = w.pages["/app/hook/deliveries?per_page=100"]
	w.asked = nil
	if all, err := f.Deliveries(t.Context(), time.Time{}); err != nil || len(all) != 1 || len(w.asked) != deliveryPages {
		t.Errorf("%d, %v, %d pages", len(all), err, len(w.asked))
	}
}

// TestAnAppWithoutAWebhook: GitHub answers 404 for its deliveries. That is no fault, and said once.
func TestAnAppWithoutAWebhook(t *testing.T) {
	var log bytes.Buffer
	w := newHubWire(t)
	w.odd["/app/hook/deliveries"] = said{status: 404, body: `{"message":"Not Found"}`}
	f := w.pool(t, func(o *PoolOptions) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for range 3 {
		if all, err := f.Deliveries(t.Context(), time.Time{}); err != nil || len(all) != 0 {
			t.Errorf("%v, %v", all, err)
		}
	}
	if n := strings.Count(log.String(), "its webhook is off"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, log.String())
	}
}

func TestPoolOfAToken(t *testing.T) {
	w := follows(fine)
	p, err := NewPool(PoolOptions{Options: Options{Token: "ghp_" + canary, Transport: w}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Client(0)
	again, _ := p.Client(0)
	if err != nil || c != again || !c.Personal() || !p.Personal() {
		t.Errorf("%v", err)
	}
	if _, err := p.Client(7); err == nil {
		t.Error("entered an installation")
	}
	p.Leave(0)
	ins, err1 := p.Installations(t.Context())
	repos, err2 := c.Repositories(t.Context())
	missed, err3 := p.Deliveries(t.Context(), time.Time{})
	if ins != nil || repos != nil || missed != nil || errors.Join(err1, err2, err3) != nil || p.Redeliver(t.Context(), 1) == nil || w.count() != 0 {
		t.Errorf("%v, %v, %v, %v", ins, repos, missed, errors.Join(err1, err2, err3))
	}
	if _, err := NewPool(PoolOptions{}); err == nil {
		t.Error("a pool of nobody")
	}
}

func TestPoolKeepsItsSecrets(t *testing.T) {
	w := newHubWire(t)
	var shown bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&shown, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o := PoolOptions{Options: Options{App: &App{ID: 42, Key: w.pem()}, Token: canary, Transport: w, Log: log}, Slug: "quorum-app"}
	f, err := NewPool(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := whose(t, f, 1, "x"); err != nil {
		t.Fatal(err)
	}
	w.never = true
	_, refused := whose(t, f, 1, "x")
	log.Info("x", "options", o, "err", refused)
	fmt.Fprintf(&shown, "%v %+v %#v %v %+v %v", o, o, o, f, f, refused)
	for _, secret := range []string{"canary", "PRIVATE", "tokenOf", "eyJ", strings.Split(string(w.pem()), "\n")[1]} {
		if strings.Contains(shown.String(), secret) {
			t.Errorf("%s is shown:\n%s", secret[:3], shown.String())
		}
	}
}
