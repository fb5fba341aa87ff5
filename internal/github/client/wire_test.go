package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The client's figures, said once more: a change of one of them is meant, and seen.
const (
	pointsAMinute  = 720 // four fifths of GitHub's bounds
	queriesAMinute = 1600
	writesAMinute  = 144
	contentAMinute = 64
	contentAnHour  = 400
	pointsAWrite   = 5
	atOnce         = 16
	tries          = 4
	hops           = 5
	patience       = 30 * time.Second // with one attempt
	cacheBytes     = 64 << 20
	errorRunes     = 200
	deliveryPages  = 200
	poolSize       = 512
)

// A canary is a token: it must be seen by GitHub, and nowhere else.
const canary = "ghs_canary0123456789"

// A said is one answer of a GitHub that follows a script.
type said struct {
	status int
	body   string
	header []string // "Name: value"
	err    error    // instead of an answer
	cut    bool     // the body breaks off at its end
	hang   bool     // no answer until the request is given up
	dated  bool     // with the Date of now
}

type heard struct {
	method, url, auth, condition, body string
	at                                 time.Time
}

// A wire is the other end: it answers with its script, whose last line it repeats.
type wire struct {
	mu     sync.Mutex
	script []said
	heard  []heard
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}
	w.mu.Lock()
	w.heard = append(w.heard, heard{req.Method, req.URL.String(), req.Header.Get("Authorization"), req.Header.Get("If-None-Match"), string(body), time.Now()})
	s := w.script[min(len(w.heard), len(w.script))-1]
	w.mu.Unlock()
	if s.hang {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if s.err != nil {
		return nil, s.err
	}
	h := http.Header{}
	for _, line := range s.header {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	if s.dated {
		h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	var r io.Reader = strings.NewReader(s.body)
	if s.cut {
		r = io.MultiReader(r, broken{})
	}
	return &http.Response{StatusCode: s.status, Header: h, Body: io.NopCloser(r)}, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func follows(script ...said) *wire { return &wire{script: script} }

func (w *wire) client(t testing.TB, change ...func(*Options)) *Client {
	t.Helper()
	o := Options{Token: canary, Transport: w}
	for _, f := range change {
		f(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *wire) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.heard)
}

var (
	fine        = said{status: 200, body: `{"n":1}`}
	reset       = said{err: &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}}
	unreachable = said{err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
)

type number struct {
	N int `json:"n"`
}

func get(t testing.TB, c *Client) (int, Response, error) {
	t.Helper()
	var n number
	a, err := c.Get(t.Context(), "repos/acme/shop?x=1", &n)
	return n.N, a, err
}

// Whatever goes wrong, by whichever way: the token is in no error and no line of the log, and no error has two lines.
func TestTheTokenStaysSecret(t *testing.T) { synctest.Test(t, theTokenStaysSecret) }

func theTokenStaysSecret(t *testing.T) {
	echo := `{"message":"no ` + canary + `\n::error::","documentation_url":"` + canary + `","errors":[{"message":"` + canary + `"}]}`
	long := `{"message":"` + strings.Repeat("x", errorRunes-10) + canary + `"}` // a cut would leave a piece
	headers := []string{
		"X-Accepted-GitHub-Permissions: " + canary,
		"Location: https://evil.example/" + canary,
		"Retry-After: 0",
		`Link: <https://evil.example/` + canary + `>; rel="next"`,
	}
	var answers []said
	for _, status := range []int{200, 201, 301, 302, 304, 307, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503} {
		answers = append(
			answers,
			said{status: status, body: echo, header: headers},
			said{status: status, body: long, header: headers},
			said{status: status, body: "<html>" + canary, header: headers},
		)
	}
	answers = append(answers,
		said{err: errors.New("proxyconnect http://user:hunter2@proxy: Bearer " + canary)},
		said{err: &net.OpError{Op: "dial", Err: errors.New(canary)}},
		said{status: 200, body: `{"n":"` + canary + `"}`}, said{status: 200, body: `{"n":` + canary, cut: true},
		said{status: 200, body: `{"data":null,"errors":[{"message":"` + canary + `\nx"}]}`},
		said{status: 200, body: `{"data":null,"errors":[{"type":"RATE_LIMITED","message":"` + canary + `"}]}`},
		said{status: 200, body: `{"data":{"n":"` + canary + `"}}`},
	)
	var log bytes.Buffer
	handlers := []slog.Handler{
		slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}),
		slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}),
	}
	errs := 0
	for i, answer := range answers {
		for _, ask := range []func(*Client) error{
			func(c *Client) error { _, _, err := get(t, c); return err },
			func(c *Client) error {
				_, err := c.Send(t.Context(), "POST", "repos/acme/shop/check-runs", number{1}, &number{})
				return err
			},
			func(c *Client) error { return c.GraphQL(t.Context(), "query{x}", nil, &number{}) },
			func(c *Client) error {
				_, err := c.Tail(t.Context(), "repos/acme/shop/actions/jobs/1/logs", 10)
				return err
			},
		} {
			logger := slog.New(handlers[i%2])
			w := follows(answer)
			o := Options{Token: canary, Transport: w, Log: logger}
			c := w.client(t, func(to *Options) { *to = o })
			logger.Info("who", "client", c, "options", o)
			err := ask(c)
			if err == nil {
				continue
			}
			errs++
			text := err.Error()
			for e := err; e != nil; e = errors.Unwrap(e) {
				text += e.Error()
			}
			var api *APIError
			if errors.As(err, &api) {
				j, _ := json.Marshal(api)
				text += string(j) + api.Hint()
			}
			if strings.Contains(text, "canary") || strings.Contains(text, "hunter2") || strings.ContainsAny(text, "\r\n") {
				t.Errorf("%+v: %q", answer, text)
			}
		}
	}
	if errs < 100 {
		t.Errorf("only %d errors seen: the test does not test", errs)
	}
	if strings.Contains(log.String(), "canary") || !strings.Contains(log.String(), "GitHub answered") {
		t.Errorf("log: %.2000s", log.String())
	}
}

// The header of an answer is read into memory before the body's bound counts.
func TestLongHeadersAreRefused(t *testing.T) {
	long := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 3 << 10 {
			w.Header().Add("X-Long", strings.Repeat("a", 1<<10))
		}
	}))
	defer long.Close()
	wire := newTransport(&net.Dialer{Timeout: 5 * time.Second}, 2)
	defer wire.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, long.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := wire.RoundTrip(req)
	if err == nil {
		answer.Body.Close()
		t.Error("a header of 3 MB was read")
	}
}
