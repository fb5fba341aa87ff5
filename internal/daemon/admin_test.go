package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
)

// shownTable is a table as the admin listener sees it.
type shownTable struct {
	counted bool // Health was asked for
	store.Store
	health  store.Health
	rows    []store.Row
	read    error
	written error
}

func (s *shownTable) Health(context.Context, time.Time) (store.Health, error) {
	s.counted = true
	return s.health, s.read
}

func (s *shownTable) queue(context.Context) (store.Health, error) { return s.health, s.read }

func (s *shownTable) Prune(context.Context, time.Time, int) (int, error) { return 0, s.written }

func (s *shownTable) Get(_ context.Context, key string) (store.Row, error) {
	for _, row := range s.rows {
		if row.Key == key && s.read == nil {
			return row, nil
		}
	}
	return store.Row{}, errors.Join(s.read, store.ErrNoRow)
}

// List has the rows in the order that the table promises.
func (s *shownTable) List(_ context.Context, q store.Query) (out []store.Row, err error) {
	for _, row := range s.rows {
		switch {
		case q.Kind != "" && q.Kind != row.Kind, q.Group != "" && q.Group != row.Group, q.Open != nil && *q.Open != row.Open,
			!q.Before.IsZero() && !row.Seen.Before(q.Before), len(out) == q.Limit:
		default:
			out = append(out, row)
		}
	}
	return out, s.read
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func newAdmin(table *shownTable) *Admin {
	a := &Admin{
		Store: table, Queue: table.queue, Started: noon.Add(-time.Hour), Now: func() time.Time { return noon },
		Board: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the dashboard") }),
	}
	a.asked(time.Minute, never)
	return a
}

const never = -1

// asked makes GitHub have answered a while ago, and not since another while.
func (a *Admin) asked(answered, silent time.Duration) {
	now := noon
	a.Metrics = NewMetrics(MetricsOptions{Now: func() time.Time { return now }})
	if now = noon.Add(-answered); answered != never {
		a.Metrics.Asked("GET /app", 404, time.Second)
	}
	if now = noon.Add(-silent); silent != never {
		a.Metrics.Asked("GET /app", 0, time.Second)
		now = noon
		a.Metrics.Asked("GET /app", 502, time.Second)
	}
}

func ask(a *Admin, method, path, host string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	return w
}

func TestReadinessSaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Admin, *shownTable)
		wrong  string // the check that fails; "": none
		says   string
	}{
		"all is well": {func(*Admin, *shownTable) {}, "", "answered 1m0s ago"},
		"unreadable":  {func(_ *Admin, s *shownTable) { s.read = errors.New("/var/lib/secret is gone") }, "database", "it cannot be read"},
		"unwritable":  {func(_ *Admin, s *shownTable) { s.written = errors.New("/var/lib/secret is full") }, "database", "it cannot be written"},
		"connections are refused": {func(a *Admin, _ *shownTable) {
			a.Refused = func() bool { return true }
		}, "serving", "connections cannot be accepted: the log says why"},
		"GitHub is silent": {func(a *Admin, _ *shownTable) { a.asked(16*time.Minute, 15*time.Minute) }, "github", "has not answered for 16m0s"},
		"GitHub is silent since a moment": {func(a *Admin, _ *shownTable) { // until then nothing was asked
			a.asked(16*time.Minute, 15*time.Minute-time.Second)
		}, "", "answered 16m0s ago"},
		"nothing was asked":      {func(a *Admin, _ *shownTable) { a.asked(time.Hour, never) }, "", "answered 1h0m0s ago"},
		"GitHub never spoke":     {func(a *Admin, _ *shownTable) { a.asked(never, time.Hour) }, "github", "has not answered since the start"},
		"nothing was ever asked": {func(a *Admin, _ *shownTable) { a.asked(never, never) }, "", "not asked yet"},
		"just asked": {func(a *Admin, _ *shownTable) {
			a.asked(never, 119*time.Second)
		}, "", "has not answered yet: asked first 1m59s ago"},
		"asked a while ago": {func(a *Admin, _ *shownTable) { a.asked(never, 120*time.Second) }, "github", "since the start"},
		"the queue is late": {
			func(_ *Admin, s *shownTable) { s.health = store.Health{Oldest: 5 * time.Minute} }, "queue",
			"the oldest has been due for 5m0s",
		},
		"the queue is nearly late": {
			func(_ *Admin, s *shownTable) { s.health = store.Health{Oldest: 299 * time.Second} }, "",
			"the oldest has been due for 4m59s",
		},
		"somebody waits for the next hour": {func(_ *Admin, s *shownTable) {
			s.health = store.Health{Held: map[int64]time.Time{1: noon.Add(time.Minute), 2: noon.Add(time.Hour)}}
		}, "", "wait for a limit of GitHub's: 2, until " + noon.Add(time.Hour).UTC().Format(time.RFC3339)},
		"late, and somebody is limited": {func(_ *Admin, s *shownTable) {
			s.health = store.Health{Oldest: time.Hour, Held: map[int64]time.Time{1: noon.Add(time.Second)}}
		}, "queue", "the oldest has been due for 1h0m0s"},
		"draining": {func(a *Admin, _ *shownTable) { a.Draining = func() bool { return true } }, "serving", "stopping"},
	} {
		table := &shownTable{}
		a := newAdmin(table)
		c.change(a, table)
		w := ask(a, http.MethodGet, "/readyz", "localhost")
		var got struct {
			Ready  bool
			Checks []struct {
				Name, Says string
				OK         bool
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %v in %s", name, err, w.Body)
		}
		if table.counted {
			t.Errorf("%s: a probe counts keys", name)
		}
		if got.Ready != (c.wrong == "") || (w.Code == http.StatusOK) != got.Ready || w.Code != http.StatusOK && w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		for _, check := range got.Checks {
			if check.Name == c.wrong && (check.OK || !strings.Contains(check.Says, c.says)) {
				t.Errorf("%s: %+v, want %s", name, check, c.says)
			}
		}
		if !strings.Contains(w.Body.String(), c.says) || strings.Contains(w.Body.String(), "/var/lib") {
			t.Errorf("%s: %s, want %s", name, w.Body, c.says)
		}
	}
}

// A load balancer asks whether GitHub's deliveries can be taken: an outage of GitHub is excluded by name, and nothing else is.
func TestReadinessLeavesOutWhatTheAddressExcludes(t *testing.T) {
	for _, c := range []struct {
		path  string
		stops bool
		code  int
	}{
		{"/readyz", false, http.StatusServiceUnavailable},
		{"/readyz?exclude=queue", false, http.StatusServiceUnavailable},
		{"/readyz?exclude=github&exclude=queue", false, http.StatusOK},
		{"/readyz?exclude=github&exclude=queue", true, http.StatusServiceUnavailable},
		{"/readyz?exclude=github,queue", false, http.StatusServiceUnavailable},
	} {
		a := newAdmin(&shownTable{})
		a.Draining = func() bool { return c.stops }
		a.asked(never, time.Hour)
		w := ask(a, http.MethodGet, c.path, "localhost")
		if w.Code != c.code || !strings.Contains(w.Body.String(), "has not answered since the start") {
			t.Errorf("%s, stopping %t: %d %s", c.path, c.stops, w.Code, w.Body)
		}
	}
}

func TestHealthIsThatTheProcessServes(t *testing.T) {
	a := newAdmin(&shownTable{read: errors.New("the disk is gone")})
	a.Draining = func() bool { return true }
	w := ask(a, http.MethodGet, "/healthz", "localhost:9090")
	if w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != `{"ok":true,"started":"2026-01-02T11:00:00Z","draining":true}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestTheAdminListenerOnlyShows(t *testing.T) {
	a := newAdmin(&shownTable{})
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
		for _, path := range []string{"/", "/healthz", "/readyz", "/metrics", "/api/v1/pulls", "/nothing"} {
			if w := ask(a, method, path, "localhost"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	a := newAdmin(&shownTable{})
	for _, path := range []string{
		"/", "/healthz", "/readyz", "/metrics", "/api/v1/", "/api/v1/pulls", "/api/v1/pulls/a/b/1", "/api/v1/queue",
		"/api/v9", "/nothing",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			w := ask(a, method, path, "localhost")
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
				"Access-Control-Allow-Origin": "", "Cross-Origin-Resource-Policy": "same-origin", "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s %s: %s is %q, want %q", method, path, name, got, want)
				}
			}
		}
	}
	if w := ask(a, http.MethodGet, "/anything", "localhost"); w.Body.String() != "the dashboard" {
		t.Errorf("the dashboard is not reached: %s", w.Body)
	}
	if w := ask(a, http.MethodGet, "/metrics", "localhost"); !strings.Contains(w.Body.String(), "coordinator_build_info") {
		t.Error("the figures are not reached")
	}
}

// A page on the web can ask by a name of its own that resolves to our address, wherever we listen.
func TestOnlyOwnNamesAreAnswered(t *testing.T) {
	for host, want := range map[string]int{
		"127.0.0.1:9090":           200,
		"localhost":                200,
		"LOCALHOST:8080":           200, // through a tunnel
		"[::1]:9090":               200,
		"[::1]":                    200,
		"192.0.2.1:9090":           200, // a probe asks the pod's address
		"Quorum.example":           200,
		"quorum.example:443":       200,
		"evil.example":             403,
		"evil.example:9090":        403,
		"localhost.evil.example":   403,
		"127.0.0.1.evil.example":   403,
		"quorum.example.evil":      403,
		"localhost:evil.example":   403,
		"127.0.0.1:9090.evil:9090": 403,
		"":                         403,
	} {
		a := newAdmin(&shownTable{})
		a.Hosts = []string{"quorum.example"}
		if w := ask(a, http.MethodGet, "/healthz", host); w.Code != want {
			t.Errorf("asked as %q: %d, want %d", host, w.Code, want)
		}
	}
}
