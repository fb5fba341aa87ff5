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

// reserveReached reports whether of any budget only the reserve is left, and until when by the local clock.
func (s *stats) reserveReached(now time.Time) (until time.Time, low bool) {
	return s.keptReached(now, func(_ string, b Budget) int { return b.reserve() })
}

// liveReached reports whether, once what is about to be sent is sent, of any budget only that is left which is kept for others and
// for what is urgent, and until when.
func (s *stats) liveReached(now time.Time, c Cost) (until time.Time, low bool) {
	return s.keptReached(now, func(name string, b Budget) int { return b.reserve() + b.Limit/urgentPart + max(c.ofBudget(name)-1, 0) })
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

// keptReached reports whether of any budget no more is left than is kept of it, and until when by the local clock.
func (s *stats) keptReached(now time.Time, keptOf func(name string, b Budget) int) (until time.Time, low bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, b := range s.budgets {
		kept := keptOf(name, b)
		if end := s.hourEnd(b); b.Left <= kept && end.After(now) && end.After(until) {
			until, low = end, true
		}
	}
	if longest := now.Add(longestLimit); until.After(longest) { // no hour is longer
		until = longest
	}
	return until, low
}

// reserve is what a server leaves of an hour to others, and what may be under way beside it.
func (b Budget) reserve() int { return b.Limit/reservePart + min(maxParallel, b.Limit/reservePart/8) }

// An hour's requests that are kept for what has just happened: at first nearly all, in the end what a few busy minutes take.
const (
	keptAtFirst = 0.95
	keptAtLast  = 0.08
)

// backlogReady is when the hours of all budgets leave over what c asks for, beside what has just happened; zero if
// GitHub has not said what there is.
func (s *stats) backlogReady(now time.Time, c Cost) (at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, b := range s.budgets {
		cost, end := c.ofBudget(name), s.hourEnd(b)
		if longest := now.Add(longestLimit); end.After(longest) { // no hour is longer
			end = longest
		}
		if ready := b.LeavesOver(cost, end); cost > 0 && end.After(now) && ready.After(at) {
			at = ready
		}
	}
	return at
}

// LeavesOver is when what is kept for what has just happened has shrunk so far that as many requests are left over: in a later
// hour, if this one has not so many.
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
