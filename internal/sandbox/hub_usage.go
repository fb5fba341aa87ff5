package sandbox

// The cost of requests by GitHub's rules: the hour's limit, which all repositories of an installation share, and the
// secondary limits of a minute, which GitHub's headers do not mention.

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The secondary limits: the most that GitHub allows an installation in any minute.
const (
	MaxPoints        = 900  // of REST: a read is one point, a write five
	MaxGraphQLPoints = 2000 // points of GraphQL: a query is one
	MaxContentWrites = 80   // comments and review requests
	MaxConcurrent    = 100  // requests at a time
)

// Usage counts requests by what GitHub limits.
type Usage struct {
	Requests    int // answered ones, those of GraphQL and 304s included
	NotModified int // answered 304
	Points      int // of REST
	Writes      int // over REST
	Content     int // writes that notify people
	GraphQL     int // points of GraphQL
}

func (u *Usage) add(v Usage, sign int) {
	u.Requests += sign * v.Requests
	u.NotModified += sign * v.NotModified
	u.Points += sign * v.Points
	u.Writes += sign * v.Writes
	u.Content += sign * v.Content
	u.GraphQL += sign * v.GraphQL
}

// maxOfEach returns the larger of each count.
func (u Usage) maxOfEach(v Usage) Usage {
	return Usage{
		Requests: max(u.Requests, v.Requests), NotModified: max(u.NotModified, v.NotModified), Points: max(u.Points, v.Points),
		Writes: max(u.Writes, v.Writes), Content: max(u.Content, v.Content), GraphQL: max(u.GraphQL, v.GraphQL),
	}
}

// spending is one request in the ledger.
type spending struct {
	at   int64 // nanoseconds
	kind spendingKind
}

type spendingKind uint8

const (
	spentRead spendingKind = 1 + iota
	spentNothing
	spentWrite
	spentContent
	spentQuery
)

func (k spendingKind) usage() Usage {
	switch k {
	case spentRead:
		return Usage{Requests: 1, Points: 1}
	case spentNothing: // the secondary limits count it all the same
		return Usage{Requests: 1, Points: 1, NotModified: 1}
	case spentWrite:
		return Usage{Requests: 1, Points: 5, Writes: 1}
	case spentContent:
		return Usage{Requests: 1, Points: 5, Writes: 1, Content: 1}
	case spentQuery:
		return Usage{Requests: 1, GraphQL: 1}
	default:
		return Usage{}
	}
}

func spendingKindOf(method, path string) spendingKind {
	switch {
	case path == "/graphql":
		return spentQuery
	case method == http.MethodGet || method == http.MethodHead:
		return spentRead
	case strings.HasSuffix(path, "/comments"),
		strings.HasSuffix(path, "/requested_reviewers"),
		strings.HasSuffix(path, "/reviews"),
		strings.Contains(path, "/issues/comments/"):
		return spentContent
	default:
		return spentWrite
	}
}

// budget counts the requests of one token, or one installation, against its limits. A GitHub alone has one of its
// own; in a Hub all repositories of an installation share one.
type budget struct {
	mu      lock
	holder  string // its name in GitHub's message when the limit is reached
	limit   int
	used    int
	usedGQL int
	reset   time.Time // when the hour ends

	pointsGQL int // points of GraphQL in all hours

	keepsLedger bool // keep the ledger, and the counts made of it
	enforce     bool // refuse requests beyond a minute's limits
	ledger      []spending
	minuteStart int // index of the oldest one of the last minute
	minute      Usage
	peak        Usage
	inFlight    int // requests under way
	refusals    int
}

// renewHour begins a new hour if the last one is over.
func (b *budget) renewHour(now time.Time) {
	if now.Before(b.reset) {
		return
	}
	b.used, b.usedGQL, b.reset = 0, 0, now.Add(time.Hour)
}

// spendRequest takes a request out of the budget. If the budget does not allow it, it returns GitHub's refusal and
// false.
func (b *budget) spendRequest(r *routedRequest) (routeAnswer, bool) {
	defer b.mu.held()()
	b.renewHour(r.now)
	if r.path == "/rate_limit" {
		return routeAnswer{}, true
	}
	graph := r.path == "/graphql"
	exceeded := "API rate limit exceeded for " + b.holder + "."
	switch {
	case graph && b.usedGQL >= b.limit:
		return answerOK(object{"errors": []graphError{{Type: "RATE_LIMITED", Message: exceeded}}}), false
	case !graph && b.used >= b.limit:
		return answerError(403, exceeded), false
	}
	if a, fine := b.recordSpending(spendingKindOf(r.Method, r.path), r.now); !fine {
		return a, false
	}
	if graph {
		b.usedGQL += r.graphPoints
		b.pointsGQL += r.graphPoints
	} else {
		b.used++
	}
	return routeAnswer{}, true
}

// GraphQLPoints counts the points that all queries so far have cost, of all repositories that share the budget. Those
// of an hour are limited as requests are; the points of a minute, of which a query is one, are others.
func GraphQLPoints(g *GitHub) int {
	defer g.mu.held()()
	defer g.budget.mu.held()()
	return g.budget.pointsGQL
}

// recordSpending enters a request into the ledger, or refuses it if it is more than a minute allows.
func (b *budget) recordSpending(kind spendingKind, now time.Time) (routeAnswer, bool) {
	if !b.keepsLedger {
		return routeAnswer{}, true
	}
	at := now.UnixNano()
	for b.minuteStart < len(b.ledger) && b.ledger[b.minuteStart].at <= at-int64(time.Minute) {
		b.minute.add(b.ledger[b.minuteStart].kind.usage(), -1)
		b.minuteStart++
	}
	cost := kind.usage()
	if b.enforce {
		then := b.minute
		then.add(cost, 1)
		if then.Points > MaxPoints || then.GraphQL > MaxGraphQLPoints || then.Content > MaxContentWrites || b.inFlight > MaxConcurrent {
			b.refusals++
			wait := time.Second
			if b.minuteStart < len(b.ledger) {
				wait = time.Duration(b.ledger[b.minuteStart].at + int64(time.Minute) - at)
			}
			a := answerError(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
			return routeAnswer{
				status: a.status, body: a.body,
				header: map[string]string{"Retry-After": strconv.Itoa(max(int((wait+time.Second-1)/time.Second), 1))},
			}, false
		}
	}
	b.ledger = append(b.ledger, spending{at, kind})
	b.minute.add(cost, 1)
	b.peak = b.peak.maxOfEach(b.minute)
	return routeAnswer{}, true
}

// refundRequest gives back the cost of a request that was answered 304.
func (b *budget) refundRequest() {
	defer b.mu.held()()
	if b.used > 0 {
		b.used--
	}
	if n := len(b.ledger); b.keepsLedger && n > 0 && b.ledger[n-1].kind == spentRead {
		b.ledger[n-1].kind = spentNothing
		b.minute.NotModified++
		b.peak = b.peak.maxOfEach(b.minute)
	}
}

// countInFlight changes the number of requests under way.
func (b *budget) countInFlight(by int) {
	defer b.mu.held()()
	b.inFlight += by
}

type budgetState struct {
	limit, used, usedGQL int
	reset                time.Time
}

func (b *budget) currentState() budgetState {
	defer b.mu.held()()
	return budgetState{limit: b.limit, used: b.used, usedGQL: b.usedGQL, reset: b.reset}
}

// PeakUsage returns the highest counts of an installation in any minute so far.
func (h *Hub) PeakUsage(installation int64) Usage {
	if in := h.findInstallation(installation); in != nil {
		defer in.budget.mu.held()()
		return in.budget.peak
	}
	return Usage{}
}

// RefusedRequests counts the requests of an installation that met a secondary limit.
func (h *Hub) RefusedRequests(installation int64) int {
	if in := h.findInstallation(installation); in != nil {
		defer in.budget.mu.held()()
		return in.budget.refusals
	}
	return 0
}

// Usage counts the requests of an installation from one moment on, and before another. A zero moment is no bound.
func (h *Hub) Usage(installation int64, from, to time.Time) Usage {
	var u Usage
	in := h.findInstallation(installation)
	if in == nil {
		return u
	}
	b := in.budget
	defer b.mu.held()()
	start := 0
	if !from.IsZero() {
		start, _ = slices.BinarySearchFunc(b.ledger, from.UnixNano(), func(s spending, at int64) int {
			if s.at < at {
				return -1
			}
			return 1
		})
	}
	for _, s := range b.ledger[start:] {
		if !to.IsZero() && s.at >= to.UnixNano() {
			break
		}
		u.add(s.kind.usage(), 1)
	}
	return u
}
