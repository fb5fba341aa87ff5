package client

// The rate gate keeps us within GitHub's limits, and away from it once a limit is reached. A limit becomes an error
// with the moment at which it ends, and so a wake of the caller; nothing here sleeps until then, and nothing waits
// under a lock. GitHub bans clients that go on asking.

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxParallel   = 16          // GitHub takes 100, of all clients of a token together
	shortestLimit = time.Second // a reset in the past still means: not now
	longestLimit  = time.Hour
	unnamedLimit  = time.Minute     // of a limit that does not say when it ends; doubles while it goes on
	longestTurn   = 2 * time.Second // that a server's request waits for its turn
	reservePart   = 20              // a server leaves one part in so many of an hour's requests to others
	urgentPart    = 20              // and one more to what may take a green check away
)

// limits are the rate limits of one token, and what it has used of them.
type limits struct {
	now     func() time.Time
	stats   *stats
	log     *slog.Logger
	reserve bool
	slots   chan struct{}

	// Turns count by this clock. It is the machine's: a caller's may stand still, and would let no request pass.
	// Servers never sleep on this clock, so any clock will do for them.
	clock func() time.Time
	born  time.Time

	mu      sync.Mutex
	windows *rateWindows
	until   time.Time
	primary bool
	unnamed int // limits in a row that did not say when they end
}

func newLimits(g *githubHost, counted *stats) *limits {
	l := &limits{
		now:     g.now,
		stats:   counted,
		log:     g.log,
		reserve: g.reserve,
		slots:   make(chan struct{}, maxParallel),
		clock:   time.Now,
		windows: newRateWindows(),
	}
	if g.reserve {
		l.clock = g.now
	}
	l.born = l.clock()
	return l
}

type gate struct {
	*limits
	next http.RoundTripper
}

func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.waitForTurn(req); err != nil {
		return nil, err
	}
	defer g.freeSlot()
	sent := g.now()
	resp, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if g.reserve && movedAway(req, resp) {
		resp.StatusCode, resp.Status = http.StatusGone, "" // what is left of the answer is not read
	}
	limit, err := readLimit(req, resp, g.now().Add(g.stats.clockOffset()))
	if err != nil {
		return nil, err
	}
	if limit.isZero() {
		g.noteSuccess()
		return resp, nil
	}
	return nil, g.noteLimit(limit, sent)
}

// movedAway says that a repository has another name. A server does not follow it there: it works on that name by
// itself, and two who look at one pull request would write two checks.
func movedAway(req *http.Request, resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusPermanentRedirect:
		return strings.Contains(req.URL.Path, "/repos/")
	}
	return false
}

// waitForTurn waits for a slot and a turn. While a limit lasts it is the error; a server's request waits for a moment at most.
func (l *limits) waitForTurn(req *http.Request) (err error) {
	ctx := req.Context()
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		if err != nil {
			l.freeSlot()
		}
	}()
	began := l.clock()
	for {
		wait, err := l.takeTurn(costOf(req))
		if err != nil || wait == 0 {
			return err
		}
		if l.reserve && l.clock().Sub(began)+wait > longestTurn {
			return &LimitError{Until: l.now().Add(max(wait, shortestLimit))}
		}
		if end, bounded := ctx.Deadline(); bounded && time.Until(end) < wait {
			return fmt.Errorf("wait for a turn: %w", context.DeadlineExceeded) // which comes first
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

func (l *limits) freeSlot() { <-l.slots }

// takeTurn takes a turn, or returns how long it is until there is one.
func (l *limits) takeTurn(c Cost) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if now.Before(l.until) {
		return 0, &LimitError{Until: l.until, Primary: l.primary}
	}
	if end := l.hourReady(now, Cost{}, Urgent); !end.IsZero() {
		return 0, &LimitError{Until: end, Primary: true}
	}
	return l.windows.take(l.clock().Sub(l.born), c), nil
}

// hourReady is when the hour allows c; zero: now. A job uses up the hour.
func (l *limits) hourReady(now time.Time, c Cost, u Urgency) time.Time {
	if !l.reserve {
		return time.Time{}
	}
	return l.stats.hourReady(now, c, u)
}

// Ready is the earliest moment at which that many looks at pull requests would not be held up, or are due to them, by
// what is known now; zero: at once.
func (c *Client) Ready(looks int, u Urgency) (at time.Time) {
	n, l := max(looks, 1), c.limits
	cost := Cost{Reads: n * LookCost.Reads, Queries: n * LookCost.Queries, Writes: n * LookCost.Writes}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for _, ready := range []time.Time{
		l.until, l.hourReady(now, cost, u), now.Add(l.windows.waitFor(l.clock().Sub(l.born), cost, u)),
	} {
		if ready.After(now) && ready.After(at) {
			at = ready
		}
	}
	return at
}

// isIdle says that nothing would be lost with l.
func (l *limits) isIdle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.slots) == 0 && !l.now().Before(l.until) && l.windows.isIdle(l.clock().Sub(l.born))
}

func (l *limits) noteSuccess() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.now().Before(l.until) { // an answer that was under way when the gate closed says nothing about the limit
		l.unnamed = 0
	}
}

// noteLimit keeps requests back until the limit ends. Many answers may bring the same one: those to requests sent
// before the gate closed do not count as going on.
func (l *limits) noteLimit(by limitSign, sent time.Time) *LimitError {
	bound := longestLimit + l.stats.clockOffset().Abs()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	wait := by.wait
	if !by.named {
		if sent.Before(l.until) || now.Before(l.until) {
			return &LimitError{Until: l.until, Primary: l.primary}
		}
		wait = unnamedLimit << min(l.unnamed, 10)
		l.unnamed++
	}
	until := now.Add(min(max(wait, shortestLimit), bound))
	if until.After(l.until) {
		l.until, l.primary = until, by.primary
		l.log.Warn("GitHub's rate limit is reached", "primary", by.primary, "until", until)
	}
	return &LimitError{Until: l.until, Primary: l.primary}
}

// A limitSign is what an answer says about rate limits; zero if it says nothing.
type limitSign struct {
	primary   bool
	secondary bool
	named     bool // it says when it ends
	wait      time.Duration
}

func (l limitSign) isZero() bool { return !l.primary && !l.secondary }

// readLimit tells a limit from a refusal. GitHub limits with 403 as well as with 429, names the end in one of two
// headers or in none, and answers a spent GraphQL budget with 200. now stands in for a Date that is missing.
func readLimit(req *http.Request, resp *http.Response, now time.Time) (limitSign, error) {
	graphql := exchangeOf(req).graphql && resp.StatusCode == http.StatusOK
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests && !graphql {
		return limitSign{}, nil
	}
	body, err := bufferBody(resp)
	if err != nil {
		return limitSign{}, fmt.Errorf("read answer: %w", err)
	}
	var l limitSign
	spent := resp.Header.Get("X-Ratelimit-Remaining") == "0"
	words := ""
	if !graphql { // whose answer was read, and is long
		words = limitWords(body)
	}
	switch {
	case graphql:
		l.primary, l.secondary = exchangeOf(req).response.readLimit()
	case strings.Contains(words, "secondary rate limit"),
		strings.Contains(words, "abuse detection"),
		strings.Contains(words, "abuse-rate-limit"):
		l.secondary = true
	case strings.Contains(words, "api rate limit exceeded"):
		l.primary = true
	case strings.HasPrefix(words, "resource not accessible"):
		return limitSign{}, nil // a missing permission stays one, though it took the last request of the hour
	case spent:
		l.primary = true
	case resp.StatusCode == http.StatusTooManyRequests, resp.Header.Get("Retry-After") != "", strings.Contains(words, "rate-limit"):
		l.secondary = true
	}
	if !l.isZero() {
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

// limitEnd reads how long a limit lasts. The headers hold GitHub's time: it is compared with the Date of the same
// answer, so that a wrong clock on either side does not matter.
func limitEnd(h http.Header, spent bool, now time.Time) (time.Duration, bool) {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if after := strings.TrimSpace(h.Get("Retry-After")); after != "" {
		if _, err := strconv.Atoi(after); err == nil {
			return parseSeconds(after), true
		}
		if at, err := http.ParseTime(after); err == nil {
			return at.Sub(now), true
		}
	}
	if reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); spent && err == nil {
		return time.Unix(reset, 0).Sub(now), true
	}
	return 0, false
}

// costOf returns the cost of a request.
func costOf(req *http.Request) Cost {
	switch {
	case exchangeOf(req).graphql:
		return Cost{Queries: 1}
	case req.Method == http.MethodGet, req.Method == http.MethodHead:
		return Cost{Reads: 1}
	case req.Method == http.MethodPost && notifies[path.Base(req.URL.Path)]:
		return Cost{Writes: 1, Content: 1}
	}
	return Cost{Writes: 1}
}

// notifies are the ends of paths to which a POST notifies people.
var notifies = map[string]bool{
	"comments":            true,
	"reviews":             true,
	"requested_reviewers": true,
	"replies":             true,
	"issues":              true,
	"pulls":               true,
}
