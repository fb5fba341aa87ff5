package client

// The budget: how much of the hour's requests is left. A sweep stops while the jobs of the repository still have some.

import (
	"math"
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

// Hour returns how many REST requests GitHub allows in an hour; 0: it has not said that.
func (c *Client) Hour() int {
	c.stats.mu.Lock()
	defer c.stats.mu.Unlock()
	return c.stats.budgets["core"].Limit
}

// wholeSecond is how much later than in its header a moment may be: GitHub writes it without a fraction. Who begins a
// new hour by the header alone sends the first requests of it in the old one.
const wholeSecond = time.Second

// hourEnd is when the hour of a budget has ended for sure, by our clock; s.mu is held.
func (s *stats) hourEnd(b Budget) time.Time { return b.Reset.Add(wholeSecond - s.skew) }

// hourReady is when the hours of all budgets allow what is about to be sent; zero: they do now, or GitHub has not said what there is.
func (s *stats) hourReady(now time.Time, c Cost, u Urgency) (at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, b := range s.budgets {
		end := s.hourEnd(b)
		if longest := now.Add(longestLimit); end.After(longest) { // no hour is longer
			end = longest
		}
		if ready := b.readyAt(c.ofBudget(name), u, end); end.After(now) && ready.After(at) {
			at = ready
		}
	}
	return at
}

// ofBudget is what c takes of a budget.
func (c Cost) ofBudget(name string) int {
	switch name {
	case "core":
		return c.Reads + c.Writes
	case "graphql":
		return 2 * c.Queries // a query of a look takes one point, or two
	}
	return 0
}

// readyAt is when an hour that ends then allows as many requests; zero: now.
func (b Budget) readyAt(requests int, u Urgency, end time.Time) time.Time {
	kept := b.reserve()
	switch {
	case u == Backlog && requests == 0:
		return time.Time{}
	case u == Backlog:
		return b.LeavesOver(requests, end)
	case u == Live:
		kept += b.Limit / urgentPart
	}
	if b.Left <= kept+max(requests-1, 0) {
		return end
	}
	return time.Time{}
}

// reserve is what a server leaves of an hour to others, and what may be under way beside it.
func (b Budget) reserve() int { return b.Limit/reservePart + min(maxParallel, b.Limit/reservePart/8) }

// An hour's requests that are kept for what has just happened: at first nearly all, in the end what a few busy minutes take.
const (
	keptAtFirst = 0.95
	keptAtLast  = 0.08
)

// LeavesOver is when what is kept for what has just happened has shrunk so far that as many requests are left over: in
// a later hour, if this one has not so many.
func (b Budget) LeavesOver(requests int, end time.Time) time.Time {
	kept := b.reserve() + b.Limit/urgentPart
	usable := float64(b.Limit - kept)
	hours := func(n float64) time.Duration { return time.Duration(n * float64(time.Hour)) }
	hourly := (keptAtFirst - keptAtLast) * usable // what an hour gives free, little by little
	missing := float64(requests) - max(float64(b.Left-kept)-keptAtLast*usable, 0)
	if missing <= 0 {
		return end.Add(hours(missing / hourly))
	}
	atOnce := (1 - keptAtFirst) * usable
	whole := math.Floor(missing / (hourly + atOnce))
	return end.Add(hours(whole + max(missing-whole*(hourly+atOnce)-atOnce, 0)/hourly))
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
