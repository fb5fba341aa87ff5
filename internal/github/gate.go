package github

// The rate gate: what keeps us within GitHub's limits, and away from it once a limit is reached. A limit becomes an error
// with the moment at which it ends, and so a wake of the caller; nothing here sleeps until then, and nothing waits under
// a lock. GitHub bans clients that go on asking.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	maxParallel   = 16          // GitHub takes 100, of all clients of a token together
	shortestLimit = time.Second // a reset in the past still means: not now
	longestLimit  = time.Hour
	unnamedLimit  = time.Minute // of a limit that does not say when it ends; doubles while it goes on
)

type gate struct {
	next   http.RoundTripper
	now    func() time.Time
	skew   func() time.Duration
	log    *slog.Logger
	slots  chan struct{}
	points *rate.Limiter // GitHub: 900 a minute, a write costs 5
	writes *rate.Limiter // GitHub: about 80 pieces of content a minute

	mu      sync.Mutex
	until   time.Time
	primary bool
	unnamed int // limits in a row that did not say when they end
}

// newGate leaves a burst of its budget for a first look, and spreads the rest: burst and rate together stay below what
// GitHub allows in any minute.
func newGate(next http.RoundTripper, now func() time.Time, skew func() time.Duration, log *slog.Logger) *gate {
	return &gate{
		next: next, now: now, skew: skew, log: log,
		slots:  make(chan struct{}, maxParallel),
		points: rate.NewLimiter(rate.Every(time.Minute/600), 300),
		writes: rate.NewLimiter(rate.Every(time.Minute/60), 20),
	}
}

func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := g.closed(); err != nil {
		return nil, err
	}
	if err := g.pace(ctx, req); err != nil {
		return nil, err
	}
	select {
	case g.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-g.slots }()
	if err := g.closed(); err != nil { // it may have closed while we waited
		return nil, err
	}
	sent := g.now()
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	limit, err := readLimit(req, resp, g.now().Add(g.skew()))
	if err != nil {
		return nil, err
	}
	if limit.none() {
		g.open()
		return resp, nil
	}
	return nil, g.close(limit, sent)
}

// closed is the error of a request that comes while a limit lasts.
func (g *gate) closed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now().Before(g.until) {
		return &LimitError{Until: g.until, Primary: g.primary}
	}
	return nil
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.now().Before(g.until) { // an answer that was under way when the gate closed says nothing about the limit
		g.unnamed = 0
	}
}

// close keeps requests back until l ends. Many answers may bring the same limit: those to requests sent before the gate
// closed do not count as going on.
func (g *gate) close(l limit, sent time.Time) *LimitError {
	bound := longestLimit + g.skew().Abs()
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	wait := l.wait
	if !l.named {
		if sent.Before(g.until) || now.Before(g.until) {
			return &LimitError{Until: g.until, Primary: g.primary}
		}
		wait = unnamedLimit << min(g.unnamed, 10)
		g.unnamed++
	}
	until := now.Add(min(max(wait, shortestLimit), bound))
	if until.After(g.until) {
		g.until, g.primary = until, l.primary
		g.log.Warn("GitHub's rate limit is reached", "primary", l.primary, "until", until)
	}
	return &LimitError{Until: g.until, Primary: g.primary}
}

// pace waits for its turn within GitHub's secondary limits.
func (g *gate) pace(ctx context.Context, req *http.Request) error {
	cost := 5
	if repeatable(req) {
		cost = 1
	} else if err := g.writes.Wait(ctx); err != nil {
		return waited(ctx, err)
	}
	return waited(ctx, g.points.WaitN(ctx, cost))
}

func waited(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("wait for a turn: %w", context.DeadlineExceeded) // the limiter sees that the deadline comes first
}

// A limit is what an answer says about rate limits; zero if it says nothing.
type limit struct {
	primary   bool
	secondary bool
	named     bool // it says when it ends
	wait      time.Duration
}

func (l limit) none() bool { return !l.primary && !l.secondary }

// readLimit tells a limit from a refusal. GitHub limits with 403 as well as with 429, names the end in one of two headers
// or in none, and answers a spent GraphQL budget with 200. now stands in for a Date that is missing.
func readLimit(req *http.Request, resp *http.Response, now time.Time) (limit, error) {
	graphql := callOf(req).graphql && resp.StatusCode == http.StatusOK
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests && !graphql {
		return limit{}, nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return limit{}, fmt.Errorf("read answer: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var l limit
	spent := resp.Header.Get("X-RateLimit-Remaining") == "0"
	switch words := limitWords(body); {
	case graphql:
		l.primary, l.secondary = graphqlLimit(body)
	case strings.Contains(words, "secondary rate limit"), strings.Contains(words, "abuse detection"), strings.Contains(words, "abuse-rate-limit"):
		l.secondary = true
	case strings.Contains(words, "api rate limit exceeded"):
		l.primary = true
	case strings.HasPrefix(words, "resource not accessible"):
		return limit{}, nil // a missing permission stays one, though it took the last request of the hour
	case spent:
		l.primary = true
	case resp.StatusCode == http.StatusTooManyRequests, resp.Header.Get("Retry-After") != "", strings.Contains(words, "rate-limit"):
		l.secondary = true
	}
	if !l.none() {
		l.wait, l.named = limitEnd(resp.Header, spent, now)
	}
	return l, nil
}

// limitWords is what a refusal says, in lower case: message and documentation URL, or the start of a page.
func limitWords(body []byte) string {
	var said struct {
		Message string `json:"message"`
		URL     string `json:"documentation_url"`
	}
	if json.Unmarshal(body, &said) != nil {
		return strings.ToLower(string(body[:min(len(body), 4<<10)]))
	}
	return strings.ToLower(said.Message + " " + said.URL)
}

// limitEnd reads how long a limit lasts. The headers hold GitHub's time: it is compared with the Date of the same answer,
// so that a wrong clock on either side does not matter.
func limitEnd(h http.Header, spent bool, now time.Time) (time.Duration, bool) {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if after := strings.TrimSpace(h.Get("Retry-After")); after != "" {
		if _, err := strconv.Atoi(after); err == nil {
			return seconds(after), true
		}
		if at, err := http.ParseTime(after); err == nil {
			return at.Sub(now), true
		}
	}
	if reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); spent && err == nil {
		return time.Unix(reset, 0).Sub(now), true
	}
	return 0, false
}
