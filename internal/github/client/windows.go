package client

// Rate windows: how many requests GitHub takes in any minute. Sliding windows, not token buckets: burst plus refill must stay below
// the limit of a minute, so a bucket leaves a part of each minute unused (docs/decisions/0020-live-before-backlog.md has the figures).

import (
	"time"
)

// Our share of GitHub's secondary limits: four fifths.
const (
	maxPoints  = 720  // a minute, of 900: a read costs 1, a write 5, so that there are at most 144 writes, of 180
	maxQueries = 1600 // a minute, of 2,000 points of GraphQL: a query costs 1
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

// points returns what c costs of a minute's points.
func (c Cost) points() int { return c.Reads + writePoints*c.Writes }

// LookCost is a look at a pull request, and the write that it may lead to.
var LookCost = Cost{Reads: 10, Queries: 1, Writes: 1}

// An Urgency says how much of what GitHub allows may be used.
type Urgency int

// The urgencies, the one that may use most first.
const (
	Urgent  Urgency = 1 + iota // all but what is left to others: it may take a green check away
	Live                       // a twentieth of an hour less: it decides what has just happened
	Backlog                    // what an hour leaves over beside that, and half of a minute: nobody waits for it
)

// A sentCost is something that was sent, as a time since the windows were made.
type sentCost struct {
	at   time.Duration
	cost int
}

// A window counts what was sent during its span, which ends now. It is no token bucket (golang.org/x/time/rate): a job that
// waits sends 675 reads in 15 seconds, and a bucket that lets as many through at once and never more than 720 in a minute
// refills 45 a minute.
type window struct {
	span time.Duration
	most int
	sum  int
	sent []sentCost // oldest first
}

// slide forgets what has left the window.
func (w *window) slide(now time.Duration) {
	for len(w.sent) > 0 && w.sent[0].at <= now-w.span {
		w.sum -= w.sent[0].cost
		w.sent = w.sent[1:]
	}
	if len(w.sent) == 0 {
		w.sent = nil // an idle client is small
	}
}

// earliest is the earliest moment from now on at which cost has room and leaves some of it; slide comes first. A cost
// above the limit is clamped to it.
func (w *window) earliest(now time.Duration, cost, leaves int) time.Duration {
	free := w.most - leaves - w.sum
	cost = min(cost, w.most-leaves)
	for _, t := range w.sent {
		if free >= cost {
			break
		}
		free += t.cost
		now = t.at + w.span
	}
	return now
}

func (w *window) add(now time.Duration, cost int) {
	if cost > 0 {
		w.sum += cost
		w.sent = append(w.sent, sentCost{now, cost})
	}
}

// rateWindows are all bounds of one token.
type rateWindows struct {
	points, queries, content, hourly window

	last time.Duration
}

func newRateWindows() *rateWindows {
	return &rateWindows{
		points: window{span: time.Minute, most: maxPoints}, queries: window{span: time.Minute, most: maxQueries},
		content: window{span: time.Minute, most: maxContent}, hourly: window{span: time.Hour, most: maxHourly},
	}
}

// slide brings all windows to a moment, and returns it: a clock that was put back frees nothing.
func (w *rateWindows) slide(now time.Duration) time.Duration {
	w.last = max(now, w.last)
	for _, x := range []*window{&w.points, &w.queries, &w.content, &w.hourly} {
		x.slide(w.last)
	}
	return w.last
}

// waitFor returns how long it is until all of c has room. The backlog leaves half of each minute to what happens.
func (w *rateWindows) waitFor(now time.Duration, c Cost, u Urgency) time.Duration {
	now = w.slide(now)
	points, queries := 0, 0
	if u == Backlog {
		points, queries = maxPoints/2, maxQueries/2
	}
	return max(
		w.points.earliest(now, c.points(), points), w.queries.earliest(now, c.Queries, queries),
		w.content.earliest(now, c.Content, 0), w.hourly.earliest(now, c.Content, 0),
	) - now
}

// take counts c as sent now if there is room, and returns how long it is until then otherwise.
func (w *rateWindows) take(now time.Duration, c Cost) (wait time.Duration) {
	if wait := w.waitFor(now, c, Urgent); wait > 0 {
		return wait
	}
	w.points.add(w.last, c.points())
	w.queries.add(w.last, c.Queries)
	w.content.add(w.last, c.Content)
	w.hourly.add(w.last, c.Content)
	return 0
}

// isIdle reports whether the windows hold nothing that would be missed.
func (w *rateWindows) isIdle(now time.Duration) bool {
	w.slide(now)
	return w.points.sum+w.queries.sum+w.hourly.sum == 0
}
