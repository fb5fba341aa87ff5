package quorum

// The breaker: whether a reviewer's service is down, as several pull requests show it. It only delays: a reviewer that
// is down is not asked again before that can help, and its vote is waited for as long as if it had been.

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Breaker says when a reviewer that is down is asked no more. The zero value: never.
type Breaker struct {
	Threshold int           // pull requests in a row with outages that open the circuit, a stranger's counted once; 0: there is no breaker
	Reset     time.Duration // after this long one attempt is let through, and the next after half of it if nothing came of that
}

// A Sign shows how a reviewer's service fared on a pull request, or what was done about that. No vote rests on it.
type Sign struct {
	Reviewer string
	Of       string // names what shows it; of each kind it is kept once
	Kind     SignKind
	Pull     int
	Stranger string // who opened the pull request, as [PullRequest.Stranger] says it; of several of one stranger's the breaker counts one
	At       time.Time
	Until    time.Time // SignLimited: when the limit ends; SignHeld: until when the circuit is open
}

type SignKind uint8

const (
	SignAnswered SignKind = 1 + iota // the service answered
	SignOutage                       // it was down
	SignLimited                      // it takes nothing before a moment that it stated
	SignProbed                       // one attempt was let through, to see whether it is back
	SignTold                         // an operator was told that the circuit is open
	SignHeld                         // a record tells of an open circuit
)

// A Circuit is what the signs of a reviewer come to, and no more: an outage ends by an answer, a limit by the clock.
type Circuit struct {
	Reviewer string
	Opened   time.Time // when outages opened it; zero: they did not
	Until    time.Time // with Opened: nothing is let through before, and then one attempt at a time
	Probe    int       // with Opened: the pull request whose attempt was let through and is waited for until then
	Limited  time.Time // when a limit was met that may not have ended; zero: there is none
	LimitEnd time.Time // with Limited
	Waiting  []int     // the pull requests whose attempts failed since the last answer, or before the circuit closed
	Answered time.Time // when the service answered last
	Closed   time.Time // when an answer closed it last
	Told     bool      // an operator knows that it is open

	probedAt time.Time
}

// A Hold is an open circuit as it delays a reviewer on one pull request.
type Hold struct {
	Reviewer string    `json:"reviewer,omitempty"`
	Since    time.Time `json:"since"`           // when the circuit opened
	Until    time.Time `json:"until"`           // it is open until then at least
	At       time.Time `json:"at"`              // when this pull request's attempt is let through
	Limit    bool      `json:"limit,omitempty"` // a limit keeps it open longest, else outages do
}

func (h Hold) IsZero() bool { return h == Hold{} }

const (
	probeGap   = 5 * time.Second // between turns to be the probe: whose turn it is may be merged, closed or decided
	spreadMost = time.Minute     // over which the attempts that follow are spread
)

// KeptSigns is how many of a reviewer's newest signs are kept.
func (b Breaker) KeptSigns() int { return max(100, 4*b.Threshold) }

// CircuitOf returns the circuit of a reviewer; the zero one if nothing is known of it.
func CircuitOf(reviewer string, all []Circuit) Circuit {
	if i := slices.IndexFunc(all, func(c Circuit) bool { return c.Reviewer == reviewer }); i >= 0 {
		return all[i]
	}
	return Circuit{Reviewer: reviewer}
}

// circuitOf is what the signs of a reviewer come to, which are in order.
func (b Breaker) circuitOf(reviewer string, signs []Sign) Circuit {
	c, row := Circuit{Reviewer: reviewer}, map[string]bool{}
	for _, s := range signs {
		switch s.Kind {
		case SignAnswered:
			c = c.withAnswer(s)
			clear(row)
		case SignOutage:
			row[sourceOf(s.Stranger, s.Pull)] = true
			c = c.withOutage(s, b, len(row))
		case SignLimited:
			c.Waiting = withNumber(c.Waiting, s.Pull)
			if !s.At.Before(c.LimitEnd) { // another one than before
				c.Limited, c.Told = s.At, c.Told && !c.Opened.IsZero()
			}
			c.LimitEnd = laterOf(c.LimitEnd, s.Until)
		case SignProbed:
			if !c.Opened.IsZero() && !s.At.Before(c.Until) {
				c.Probe, c.probedAt, c.Until = s.Pull, s.At, s.At.Add(b.Reset/2)
			}
		case SignHeld:
			if c.Waiting = withNumber(c.Waiting, s.Pull); c.Opened.IsZero() { // its outages are not known here, or not all
				c.Opened, c.Until = s.At, s.Until
			}
		case SignTold:
			c.Told = !c.Opened.IsZero() || !c.Limited.IsZero()
		}
	}
	return c
}

// sourceOf names who is counted once: a stranger, who may open many pull requests, or else a pull request.
func sourceOf(stranger string, pull int) string { return cmp.Or(stranger, fmt.Sprint("#", pull)) }

// withAnswer is c after an answer: all is over. What follows a limit that the clock ended goes on to be spread.
func (c Circuit) withAnswer(s Sign) Circuit {
	now := Circuit{Reviewer: c.Reviewer, Answered: s.At, Closed: c.Closed}
	switch {
	case !c.Opened.IsZero() || s.At.Before(c.LimitEnd):
		now.Closed, now.Waiting = s.At, c.Waiting
	case !c.Limited.IsZero():
		now.Limited, now.LimitEnd, now.Told, now.Waiting = c.Limited, c.LimitEnd, c.Told, c.Waiting
	}
	return now
}

// withOutage is c after an outage, the last of a row of so many that count. While nothing is let through, an
// outage is one of an attempt that began before, and shows nothing new.
func (c Circuit) withOutage(s Sign, b Breaker, row int) Circuit {
	c.Waiting = withNumber(c.Waiting, s.Pull)
	switch {
	case c.Opened.IsZero() && row >= b.Threshold:
		c.Opened, c.Until = s.At, s.At.Add(b.Reset)
		c.Told = c.Told && s.At.Before(c.LimitEnd)
	case !c.Opened.IsZero() && !s.At.Before(cmp.Or(c.probedAt, c.Until)):
		c.Until, c.Probe, c.probedAt = s.At.Add(b.Reset), 0, time.Time{}
	}
	return c
}

// withNumber adds a number to sorted ones.
func withNumber(all []int, n int) []int {
	return slices.Compact(slices.Sorted(slices.Values(append(slices.Clip(all), n))))
}

// Concerns returns the pull requests that c may delay otherwise than what was known before did.
func (c Circuit) Concerns(before Circuit) []int {
	isSame := c.Opened.Equal(before.Opened) && c.Until.Equal(before.Until) && c.Probe == before.Probe &&
		c.Limited.Equal(before.Limited) && c.Closed.Equal(before.Closed)
	if isSame {
		return nil
	}
	return c.Waiting
}

// IsOpen reports whether the circuit is open at a moment: it holds somebody back.
func (c Circuit) IsOpen(now time.Time) bool { return !c.Opened.IsZero() || now.Before(c.LimitEnd) }

// Hold is how it delays whoever is not let through; zero if it is not known to be open. A limit may have ended since.
func (c Circuit) Hold() Hold {
	h := Hold{Since: c.Opened, Until: laterOf(c.Until, c.LimitEnd), Limit: c.Until.Before(c.LimitEnd)}
	if c.Opened.IsZero() || c.Limited.Before(c.Opened) && c.Opened.Before(c.LimitEnd) { // the limit had opened it before
		h.Since = c.Limited
	}
	return h
}

// A Passage says when an attempt is let through.
type Passage struct {
	At    time.Time // zero: whenever it is due
	Hold  Hold      // of an open circuit
	Round time.Time // by then it would be the probe, which one pull request at a time is: the name of this turn; zero: it need be none
}

// PassageOf says when an attempt on a pull request is let through, after one that failed at a moment.
func (c Circuit) PassageOf(pull int, failed time.Time) (p Passage) {
	rank, _ := slices.BinarySearch(c.Waiting, pull)
	if failed.Before(c.LimitEnd) {
		p.At = c.LimitEnd
		if rank > 0 {
			p.At = p.At.Add(spreadOf(pull))
		}
	}
	if !c.Opened.IsZero() && c.Probe != pull {
		p.Round = c.Until
		p.At = laterOf(p.At, c.Until.Add(time.Duration(rank)*probeGap))
	}
	switch {
	case !p.At.IsZero():
		p.Hold = c.Hold()
		p.Hold.At = p.At
	case failed.Before(c.Closed):
		p.At = c.Closed.Add(spreadOf(pull))
	}
	return p
}

// spreadOf spreads pull requests over a minute, by their numbers: so a decision stays a function of its inputs.
func spreadOf(pull int) time.Duration {
	part := uint64(pull) * 0x9E3779B97F4A7C15 >> 40 // of 2^24
	return (time.Duration(part) * spreadMost >> 24).Truncate(time.Second)
}

func (s Sign) IsSame(o Sign) bool {
	return s.Reviewer == o.Reviewer && s.Of == o.Of && s.Kind == o.Kind
}

func laterOf(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

func earlierOf(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }
