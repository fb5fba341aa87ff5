package client

// The budget: how much of the hour's requests is left. A sweep stops while the jobs of the repository still have some.

import (
	"net/http"
	"strconv"
	"time"
)

// A Budget is what GitHub's last answers say is left of an hour's requests. The zero value: they say nothing.
type Budget struct {
	Left  int
	Limit int
	Reset time.Time // when the next hour has begun for sure, by our clock
}

// Budget returns the budget of which the smallest part is left: GitHub has one for REST and one for GraphQL.
func (c *Client) Budget() (least Budget) {
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	for _, b := range c.stats.budgets {
		if least.Limit == 0 || b.Left*least.Limit < least.Left*b.Limit {
			least = b
		}
	}
	if least.Limit > 0 {
		least.Reset = c.stats.hourEnd(least)
	}
	return least
}

// wholeSecond is how much later than in its header a moment may be: GitHub writes it without a fraction. Who begins a
// new hour by the header alone sends the first requests of it in the old one.
const wholeSecond = time.Second

// hourEnd is when the hour of a budget has ended for sure, by our clock; s.mu is held.
func (s *stats) hourEnd(b Budget) time.Time { return b.Reset.Add(wholeSecond - s.skew) }

// reserveReached reports whether of any budget only the reserve is left, and until when by the local clock.
func (s *stats) reserveReached(now time.Time) (until time.Time, low bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.budgets {
		kept := b.Limit/reservePart + min(maxParallel, b.Limit/reservePart/8) // as many requests may be under way
		if end := s.hourEnd(b); b.Left <= kept && end.After(now) && end.After(until) {
			until, low = end, true
		}
	}
	if longest := now.Add(longestLimit); until.After(longest) { // no hour is longer
		until = longest
	}
	return until, low
}

// learnBudget learns from an answer's headers; s.mu is held. Answers overtake one another: within an hour only less can
// be left.
func (s *stats) learnBudget(h http.Header) {
	limit, err1 := strconv.Atoi(h.Get("X-Ratelimit-Limit"))
	left, err2 := strconv.Atoi(h.Get("X-Ratelimit-Remaining"))
	reset, err3 := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || limit <= 0 {
		return
	}
	now := Budget{Left: max(left, 0), Limit: limit, Reset: time.Unix(reset, 0)}
	name := h.Get("X-Ratelimit-Resource")
	if was, known := s.budgets[name]; known &&
		(was.Reset.After(now.Reset) || was.Reset.Equal(now.Reset) && was.Limit == limit && was.Left < now.Left) {
		return
	}
	if s.budgets == nil {
		s.budgets = map[string]Budget{}
	}
	if len(s.budgets) < 16 { // GitHub has a few
		s.budgets[name] = now
	}
}
