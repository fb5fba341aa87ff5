package client

// Rate windows: how many requests GitHub takes in any minute. They slide, because a bucket that refills must leave a
// third unused, or exceeds the bound in some minute.

import (
	"slices"
	"strings"
	"time"
)

// Our share of GitHub's secondary limits: four fifths.
const (
	maxPoints  = 720  // a minute, of 900: a read costs 1, a write 5
	maxQueries = 1600 // a minute, of 2,000 points of GraphQL: a query costs 1
	maxWrites  = 144  // a minute, of 180: what 900 points allow
	maxContent = 64   // a minute, of about 80: what notifies people
	maxHourly  = 400  // content an hour, of 500

	writePoints = 5
)

// A Cost is how many requests of each kind a caller is about to send.
type Cost struct {
	Reads   int
	Queries int // of GraphQL
	Writes  int // of them all
	Content int // those that notify people
}

// LookCost is a look at a pull request, and the write that it may lead to.
var LookCost = Cost{Reads: 10, Queries: 1, Writes: 1}

// A sentCost is something that was sent, as a time since the windows were made.
type sentCost struct {
	at   time.Duration
	cost int
}

// grainsPerWindow are the parts of a window in which what was sent is counted together, as if it were sent at the
// part's end: no more is let through for that, and a busy client's windows stay small.
const grainsPerWindow = 256

// A window counts what was sent during its span, which ends now.
type window struct {
	span time.Duration
	most int
	sum  int
	sent []sentCost // oldest first, from head on
	head int
}

// slide forgets what has left the window.
func (w *window) slide(now time.Duration) {
	for w.head < len(w.sent) && w.sent[w.head].at <= now-w.span {
		w.sum -= w.sent[w.head].cost
		w.head++
	}
	switch {
	case w.head == len(w.sent):
		w.sent, w.head = w.sent[:0], 0
	case w.head > 64 && w.head > len(w.sent)/2:
		w.sent = w.sent[:copy(w.sent, w.sent[w.head:])]
		w.head = 0
	}
	if len(w.sent) == 0 && cap(w.sent) > 64 {
		w.sent = nil // an idle client is small
	}
}

// earliest is the earliest moment from now on at which cost has room; slide comes first. More than there ever is asks
// for all.
func (w *window) earliest(now time.Duration, cost int) time.Duration {
	free := w.most - w.sum
	cost = min(cost, w.most)
	for _, t := range w.sent[w.head:] {
		if free >= cost {
			break
		}
		free += t.cost
		now = t.at + w.span
	}
	return now
}

func (w *window) add(now time.Duration, cost int) {
	if cost == 0 {
		return
	}
	w.sum += cost
	grain := w.span / grainsPerWindow
	now = (now + grain - 1) / grain * grain
	if n := len(w.sent); n > 0 && w.sent[n-1].at == now {
		w.sent[n-1].cost += cost
		return
	}
	w.sent = append(w.sent, sentCost{now, cost})
}

// rateWindows are all bounds of one token.
//
// A look reads its pull request once, and what it found out would be lost if its reads had used up what its write
// needs: so each such read holds a write back for a while, which other reads leave alone. The next look at the same pull
// request renews it, unless something was written since: a job that waits looks many times, and writes but a few.
type rateWindows struct {
	points, queries, writes, content, hourly window

	held []heldWrite // of looks that have not written yet, oldest first
	sent int         // how many writes were
	last time.Duration
}

// A heldWrite is what a look at a pull request may write, and how many writes had been sent before: one since may be its own.
type heldWrite struct {
	pull string // its path
	at   time.Duration
	sent int
}

// writeHeldFor is how long the write of a look is waited for: most looks need none.
const writeHeldFor = 10 * time.Second

func newRateWindows() *rateWindows {
	return &rateWindows{
		points: window{span: time.Minute, most: maxPoints}, queries: window{span: time.Minute, most: maxQueries},
		writes: window{span: time.Minute, most: maxWrites}, content: window{span: time.Minute, most: maxContent},
		hourly: window{span: time.Hour, most: maxHourly},
	}
}

func (w *rateWindows) slide(now time.Duration) time.Duration {
	now = max(now, w.last) // a clock that was put back frees nothing
	w.last = now
	for _, x := range []*window{&w.points, &w.queries, &w.writes, &w.content, &w.hourly} {
		x.slide(now)
	}
	for len(w.held) > 0 && w.held[0].at <= now-writeHeldFor {
		w.held = w.held[1:]
	}
	return now
}

// earliest is the earliest moment from now on at which all of c has room. pull is what is looked at, if a look begins with it.
func (w *rateWindows) earliest(now time.Duration, c Cost, pull string) time.Duration {
	now = w.slide(now)
	at := max(
		w.points.earliest(now, c.Reads+writePoints*c.Writes), w.queries.earliest(now, c.Queries), w.writes.earliest(now, c.Writes),
		w.content.earliest(now, c.Content), w.hourly.earliest(now, c.Content),
	)
	hold := len(w.held)
	if pull != "" && !slices.ContainsFunc(w.held, w.isRenewedBy(pull)) {
		hold++
	}
	if c.Reads == 0 || hold == 0 {
		return at // a write takes what was held longest
	}
	with := max(at, w.points.earliest(now, c.Reads+writePoints*(c.Writes+hold)), w.writes.earliest(now, c.Writes+hold))
	if with > at && pull == "" { // or when those writes are not waited for any more
		with = min(with, max(at, w.held[len(w.held)-1].at+writeHeldFor))
	}
	return with
}

// take counts c as sent now, if there is room; else it says when there may be.
func (w *rateWindows) take(now time.Duration, c Cost, pull string) (at time.Duration, taken bool) {
	now = max(now, w.last)
	if at := w.earliest(now, c, pull); at > now {
		return at, false
	}
	w.points.add(now, c.Reads+writePoints*c.Writes)
	w.queries.add(now, c.Queries)
	w.writes.add(now, c.Writes)
	w.content.add(now, c.Content)
	w.hourly.add(now, c.Content)
	if pull != "" {
		w.held = append(slices.DeleteFunc(w.held, w.isRenewedBy(pull)), heldWrite{pull, now, w.sent})
	}
	if w.sent += c.Writes; c.Writes > 0 {
		w.held = w.held[min(1, len(w.held)):]
	}
	return now, true
}

// isRenewedBy tells of which held write a look at a pull request takes the place.
func (w *rateWindows) isRenewedBy(pull string) func(h heldWrite) bool {
	return func(h heldWrite) bool { return h.pull == pull && h.sent == w.sent }
}

// isIdle says that the windows hold nothing that would be missed.
func (w *rateWindows) isIdle(now time.Duration) bool {
	w.slide(now)
	return w.points.sum+w.queries.sum+w.hourly.sum == 0
}

// costOf returns the cost of a request to an endpoint.
func costOf(method, endpoint string, query bool) Cost {
	switch {
	case query:
		return Cost{Queries: 1}
	case method == "GET", method == "HEAD":
		return Cost{Reads: 1}
	case method == "POST" && notifies[endpoint[strings.LastIndexByte(endpoint, '/')+1:]]:
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
