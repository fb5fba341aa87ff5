package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"
)

// Faults 15 to 19: a limit is an error that names its end. Until then nothing is sent, and nobody waits.
func TestLimits(t *testing.T) {
	secondary := `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`
	primary := `{"message":"API rate limit exceeded for installation ID 1."}`
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of every synctest bubble
	reset := func(d time.Duration) string {
		return "X-RateLimit-Reset: " + strconv.FormatInt(start.Add(d).Unix(), 10)
	}
	const spent = "X-RateLimit-Remaining: 0"
	for _, test := range []struct {
		title   string
		s       said
		wait    time.Duration
		primary bool
	}{
		{"15 secondary, Retry-After", said{status: 403, body: secondary, header: []string{"Retry-After: 37"}}, 37 * time.Second, false},
		{
			"15 abuse, by its URL",
			said{
				status: 403, body: `{"message":"no","documentation_url":"https://docs.github.com/rest#abuse-rate-limits"}`,
				header: []string{"Retry-After: 37"},
			},
			37 * time.Second, false,
		},
		{"16 429", said{status: 429, header: []string{"Retry-After: 12"}}, 12 * time.Second, false},
		{"16 429 as a page", said{status: 429, body: "<html>Whoa there!</html>"}, time.Minute, false},
		{"16 Retry-After as a date", said{status: 429, header: []string{"Retry-After: Sat, 01 Jan 2000 00:00:42 GMT"}, dated: true}, 42 * time.Second, false},
		{"16 and without our Date", said{status: 429, header: []string{"Retry-After: Sat, 01 Jan 2000 00:00:42 GMT"}}, 42 * time.Second, false},
		{"17 primary", said{status: 403, body: primary, header: []string{spent, reset(20 * time.Minute)}, dated: true}, 20 * time.Minute, true},
		{"17 primary as 429", said{status: 429, body: primary, header: []string{spent, reset(20 * time.Minute)}}, 20 * time.Minute, true},
		{
			"17 primary, by its headers",
			said{
				status: 403, body: `{"message":"Dependency review is not supported on this repository"}`,
				header: []string{spent, reset(time.Minute)},
			},
			time.Minute, true,
		},
		{"18 no header", said{status: 403, body: secondary}, time.Minute, false},
		{"18 no header, plain text", said{status: 403, body: "You have triggered an abuse detection mechanism"}, time.Minute, false},
		{
			"18 a reset that is not meant",
			said{status: 403, body: secondary, header: []string{"X-RateLimit-Remaining: 4000", reset(50 * time.Minute)}},
			time.Minute, false,
		},
		{"19 reset in the past", said{status: 403, body: primary, header: []string{spent, reset(-5 * time.Minute)}}, time.Second, true},
		{"19 reset in a year", said{status: 403, body: primary, header: []string{spent, reset(365 * 24 * time.Hour)}}, time.Hour, true},
		{"19 garbage", said{status: 429, header: []string{spent, "X-RateLimit-Reset: soon", "Retry-After: 1e9"}}, time.Minute, true},
		{"19 negative", said{status: 429, header: []string{"Retry-After: -5"}}, time.Second, false},
		{
			"19 GitHub's clock is behind",
			said{
				status: 403, body: primary, header: []string{spent, reset(5 * time.Minute), "Date: Fri, 31 Dec 1999 23:55:00 GMT"},
			},
			10 * time.Minute, true,
		},
		{
			"19 GitHub's clock is ahead",
			said{
				status: 403, body: primary, header: []string{spent, reset(65 * time.Minute), "Date: Sat, 01 Jan 2000 00:05:00 GMT"},
			},
			60 * time.Minute, true,
		},
	} {
		for _, graphql := range []bool{false, true} {
			t.Run(fmt.Sprint(test.title, graphql), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					good := fine
					if graphql {
						good.body = `{"data":{"n":1}}`
					}
					w := follows(test.s, good)
					c := w.client(t)
					ask := func() error {
						if graphql {
							return c.GraphQL(t.Context(), "query{n}", nil, &number{})
						}
						_, _, err := get(t, c)
						return err
					}
					began := time.Now()
					first := ask()
					for range 2 {
						var limit *LimitError
						if err := ask(); !errors.As(err, &limit) || err.Error() != first.Error() {
							t.Fatalf("first %v, then %v", first, err)
						}
						if limit.Until.Sub(began) != test.wait || limit.Primary != test.primary {
							t.Errorf("until %v, primary %v", limit.Until.Sub(began), limit.Primary)
						}
						if _, err := c.Send(t.Context(), "POST", "x", number{}, nil); !errors.As(err, &limit) {
							t.Errorf("a write: %v", err)
						}
						<-time.After(test.wait/2 - time.Millisecond)
					}
					if len(w.heard) != 1 || errors.Is(first, ErrTransport) {
						t.Errorf("%d requests while limited, %v", len(w.heard), first)
					}
					<-time.After(2 * time.Millisecond)
					if err := ask(); err != nil {
						t.Errorf("afterwards: %v", err)
					}
				})
			})
		}
	}
}

func TestASpentGraphQLBudgetClosesTheGate(t *testing.T) {
	for _, kind := range []string{"RATE_LIMITED", "RATE_LIMIT"} {
		synctest.Test(t, func(t *testing.T) {
			w := follows(
				said{
					status: 200,
					body:   `{"errors":[{"type":"` + kind + `","message":"API rate limit exceeded"}]}`,
					header: []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: " + strconv.FormatInt(time.Now().Add(9*time.Minute).Unix(), 10)},
				},
			)
			c := w.client(t)
			want := time.Now().Add(9 * time.Minute)
			var limit *LimitError
			if err := c.GraphQL(t.Context(), "query{n}", nil, &number{}); !errors.As(err, &limit) || !limit.Primary || !limit.Until.Equal(want) {
				t.Errorf("%v", err)
			}
			if _, _, err := get(t, c); !errors.As(err, &limit) || len(w.heard) != 1 {
				t.Errorf("%d requests, %v", len(w.heard), err)
			}
		})
	}
}

// Fault 18: a limit that does not say when it ends is waited for longer each time, however many answers bring it at
// once.
func TestUnnamedLimitsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := said{status: 403, body: `{"message":"You have exceeded a secondary rate limit"}`}
		w := follows(no)
		c := w.client(t)
		for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			began := time.Now()
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					var limit *LimitError
					if _, err := c.Get(t.Context(), "x", nil); !errors.As(err, &limit) || limit.Until.Sub(began) != want*time.Minute {
						t.Errorf("want %v minutes, got %v", want, err)
					}
				})
			}
			wg.Wait()
			<-time.After(want * time.Minute)
		}
		w.mu.Lock()
		w.script = []said{fine, no}
		w.heard = nil
		w.mu.Unlock()
		if _, _, err := get(t, c); err != nil {
			t.Fatal(err)
		}
		var limit *LimitError
		began := time.Now()
		if _, _, err := get(t, c); !errors.As(err, &limit) || limit.Until.Sub(began) != time.Minute {
			t.Errorf("after a good answer it begins anew: %v", err)
		}
	})
}

// Whatever is asked of it, the client stays within four fifths of GitHub's secondary limits in any minute, and uses
// them.
func TestPace(t *testing.T) {
	for _, test := range []struct {
		method, path string
		points       int // of each
		budget       int // of them in any span
		span         time.Duration
		total        int
	}{
		{"GET", "x", 1, pointsAMinute, time.Minute, 3000},
		{"PATCH", "x", 5, writesAMinute, time.Minute, 600},
		{"POST", "repos/acme/shop/check-runs", 5, writesAMinute, time.Minute, 600},
		{"POST", "repos/acme/shop/issues/7/comments", 5, contentAMinute, time.Minute, 300},
		{"POST", "repos/acme/shop/pulls/7/requested_reviewers", 5, contentAnHour, time.Hour, 900},
		{"POST", "graphql", 1, queriesAMinute, time.Minute, 5000},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := follows(said{status: 200, body: `{"data":{"n":1}}`})
			c := w.client(t)
			var wg sync.WaitGroup
			for range test.total {
				wg.Go(func() {
					err := error(nil)
					if test.path == "graphql" {
						err = c.GraphQL(t.Context(), "query{n}", nil, &number{})
					} else {
						_, err = c.Send(t.Context(), test.method, test.path, nil, nil)
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			began := time.Now()
			wg.Wait()
			if len(w.heard) != test.total {
				t.Errorf("%d requests", len(w.heard))
			}
			within(t, w.heard, test.budget, test.span)
			least := time.Duration((test.total-1)/test.budget) * test.span
			if took := time.Since(began); took < least || took > least+time.Minute+least/50 {
				t.Errorf("%s %s: %v for %d of %d a span", test.method, test.path, took, test.total, test.budget)
			}
		})
	}
}

// within fails if there are more than most in any span.
func within(t *testing.T, all []heard, most int, span time.Duration) {
	t.Helper()
	for i, h := range all {
		if i >= most && h.at.Sub(all[i-most].at) < span {
			t.Fatalf("%s %s: number %d comes %v after number %d", h.method, h.url, i, h.at.Sub(all[i-most].at), i-most)
		}
	}
}

// A mix, in any order and at any pace: no bound is exceeded in any minute, whether the client waits or is told when to
// come back.
func TestPaceOfAMix(t *testing.T) {
	for _, reserve := range []bool{false, true} {
		for seed := range uint64(4) {
			synctest.Test(t, func(t *testing.T) {
				w := follows(said{status: 200, body: `{"data":{"n":1}}`})
				c := w.client(t, func(o *Options) { o.Reserve = reserve })
				r := rand.New(rand.NewPCG(seed, 1))
				var wg sync.WaitGroup
				for range 40 {
					seed1, seed2 := r.Uint64(), r.Uint64()
					wg.Go(func() {
						r := rand.New(rand.NewPCG(seed1, seed2))
						for range 60 {
							ask(t, c, r.IntN(100))
							if r.IntN(4) == 0 {
								<-time.After(time.Duration(r.IntN(3000)) * time.Millisecond)
							}
						}
					})
				}
				wg.Wait()
				if len(w.heard) < 2400 {
					t.Errorf("%d requests", len(w.heard))
				}
				bounded(t, w.heard)
			})
		}
	}
}

// ask sends one of several requests, and comes back when a limit says so.
func ask(t *testing.T, c *Client, which int) {
	for {
		err := error(nil)
		switch {
		case which < 10:
			err = c.GraphQL(t.Context(), "query{n}", nil, &number{})
		case which < 25:
			_, err = c.Send(t.Context(), "PATCH", "repos/acme/shop/check-runs/1", number{}, nil)
		case which < 30:
			_, err = c.Send(t.Context(), "POST", "repos/acme/shop/issues/7/comments", number{}, nil)
		case which < 50:
			_, err = c.Get(t.Context(), "repos/acme/shop/pulls/7", nil)
		default:
			_, err = c.Get(t.Context(), "repos/acme/shop/pulls/7/reviews", nil)
		}
		var limit *LimitError
		if !errors.As(err, &limit) {
			if err != nil {
				t.Error(err)
			}
			return
		}
		if limit.Primary || !limit.Until.After(time.Now()) {
			t.Errorf("%v at %v", err, time.Now())
		}
		<-time.After(time.Until(limit.Until))
	}
}

// bounded holds what was heard against all bounds.
func bounded(t *testing.T, all []heard) {
	t.Helper()
	sums := func(span time.Duration, cost func(heard) int) (most int) {
		sum, first := 0, 0
		for _, h := range all {
			for sum += cost(h); h.at.Sub(all[first].at) >= span; first++ {
				sum -= cost(all[first])
			}
			most = max(most, sum)
		}
		return most
	}
	write := func(h heard) bool { return h.method != "GET" && !strings.HasSuffix(h.url, "graphql") }
	count := func(of func(heard) bool, n int) func(heard) int {
		return func(h heard) int {
			if of(h) {
				return n
			}
			return 0
		}
	}
	content := count(func(h heard) bool { return strings.HasSuffix(h.url, "/comments") }, 1)
	for _, b := range []struct {
		what        string
		used, bound int
	}{
		{"points", sums(time.Minute, func(h heard) int {
			return count(write, 5)(h) + count(func(h heard) bool { return h.method == "GET" }, 1)(h)
		}), pointsAMinute},
		{"writes", sums(time.Minute, count(write, 1)), writesAMinute},
		{"content", sums(time.Minute, content), contentAMinute},
		{"content an hour", sums(time.Hour, content), contentAnHour},
		{"queries", sums(time.Minute, count(func(h heard) bool { return strings.HasSuffix(h.url, "graphql") }, 1)), queriesAMinute},
	} {
		if b.used > b.bound {
			t.Errorf("%d %s, at most %d", b.used, b.what, b.bound)
		}
	}
}

// A job that waits looks at one pull request again and again, and mostly writes nothing: that holds up none of its looks.
func TestAWaitingJobIsNotHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := follows(said{status: 200, body: `{"n":1}`})
		c := w.client(t, func(*Options) {})
		began := time.Now()
		const looks = 75
		for range looks {
			for range 9 {
				if _, err := c.Get(t.Context(), "repos/acme/shop/pulls/7", &number{}); err != nil {
					t.Fatal(err)
				}
			}
			<-time.After(200 * time.Millisecond)
		}
		if took := time.Since(began); took > looks*250*time.Millisecond {
			t.Errorf("%d looks took %s", looks, took)
		}
	})
}

// Looks at many pull requests at once: what the limits allow is used, and few looks that have read are kept from their write.
func TestLooksAtTheLimit(t *testing.T) {
	t.Run("asked before", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { looksAtTheLimit(t, true) }) })
	t.Run("in a burst", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { looksAtTheLimit(t, false) }) })
}

func looksAtTheLimit(t *testing.T, asks bool) {
	w := follows(said{status: 200, body: `{"data":{"n":1}}`})
	c := w.client(t, func(o *Options) { o.Reserve = true })
	const looks, workers = 400, 6
	todo := make(chan int, looks)
	for i := range looks {
		todo <- i
	}
	close(todo)
	var lost atomic.Int64 // writes that were held up
	var wg sync.WaitGroup
	for i := range uint64(workers) {
		wg.Go(func() {
			pause := rand.New(rand.NewPCG(i, 1))
			for number := range todo {
				for !lookOnce(t, c, number, asks, time.Duration(5+pause.IntN(200))*time.Millisecond, &lost) {
				}
			}
		})
	}
	began := time.Now()
	wg.Wait()
	bounded(t, w.heard)
	minutes := time.Since(began).Minutes()
	if best := float64(looks*(8+pointsAWrite)) / pointsAMinute; asks && minutes > best/0.98 || lost.Load() > looks/16 {
		t.Errorf("%.2f minutes, %.2f are needed; %d writes were held up", minutes, best, lost.Load())
	}
}

// lookOnce is eight reads, a query and a write, which take pause each. It may wait until there is room for it.
func lookOnce(t *testing.T, c *Client, pull int, asks bool, pause time.Duration, lost *atomic.Int64) bool {
	for at := c.Ready(1, Urgent); asks && at.After(time.Now()); at = c.Ready(1, Urgent) {
		<-time.After(time.Until(at))
	}
	var wave errgroup.Group
	for i := range 8 {
		wave.Go(func() error {
			<-time.After(pause)
			path := fmt.Sprint("repos/acme/shop/pulls/", pull)
			if i > 0 {
				path += "/reviews"
			}
			_, err := c.Get(t.Context(), path, nil)
			return err
		})
	}
	wave.Go(func() error { return c.GraphQL(t.Context(), "query{n}", nil, &number{}) })
	var limit *LimitError
	if err := wave.Wait(); err != nil {
		if !errors.As(err, &limit) {
			t.Error(err)
			return true
		}
		<-time.After(time.Until(limit.Until))
		return false
	}
	<-time.After(pause)
	if _, err := c.Send(t.Context(), "PATCH", "repos/acme/shop/check-runs/1", number{}, nil); err != nil {
		lost.Add(1)
		return false
	}
	return true
}

// A server's request does not wait long: it is told when to come back. It leaves a fifth of the hour to others.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := follows(fine)
		c := w.client(t, func(o *Options) { o.Reserve = true })
		for range pointsAMinute {
			if _, _, err := get(t, c); err != nil {
				t.Fatal(err)
			}
		}
		full := time.Now().Add(time.Minute)
		var limit *LimitError
		if _, _, err := get(t, c); !errors.As(err, &limit) || !limit.Until.Equal(full) || limit.Primary {
			t.Errorf("%v", err)
		}
		if at := c.Ready(1, Urgent); !at.Equal(full) {
			t.Errorf("ready %v", at)
		}
		<-time.After(58500 * time.Millisecond)
		if _, _, err := get(t, c); err != nil || time.Now() != full {
			t.Errorf("a turn that is near: %v", err)
		}
		if at := c.Ready(1, Urgent); at.After(time.Now()) {
			t.Errorf("ready %v", at)
		}

		reset := time.Now().Add(20 * time.Minute).Truncate(time.Second)
		over := reset.Add(time.Second) // the header has no fraction: until then the old hour may go on
		tell := func(left int) said {
			return said{
				status: 200,
				body:   `{}`,
				dated:  true,
				header: []string{
					"X-RateLimit-Limit: 5000",
					"X-RateLimit-Resource: core",
					fmt.Sprintf("X-RateLimit-Remaining: %d", left),
					fmt.Sprintf("X-RateLimit-Reset: %d", reset.Unix()),
				},
			}
		}
		w.mu.Lock()
		w.script = []said{tell(640)}
		w.mu.Unlock()
		if _, _, err := get(t, c); err != nil {
			t.Errorf("640 left: %v", err)
		}
		for looks, is := range map[int]time.Time{11: {}, 12: over} { // looks that begin together are counted together: 516 are kept
			if at := c.Ready(looks, Live); !at.Equal(is) {
				t.Errorf("%d more are ready at %v, want %v", looks, at, is)
			}
		}
		for _, left := range []int{300, 266} {
			w.mu.Lock()
			w.script = []said{tell(left)}
			w.mu.Unlock()
			if _, _, err := get(t, c); err != nil {
				t.Errorf("%d left: %v", left, err)
			}
		}
		sent := w.count()
		if _, _, err := get(t, c); !errors.As(err, &limit) || !limit.Primary || !limit.Until.Equal(over) || w.count() != sent {
			t.Errorf("the reserve: %v", err)
		}
		if at := c.Ready(1, Urgent); !at.Equal(over) {
			t.Errorf("ready %v", at)
		}
		if b := c.Budget(); !b.Reset.Equal(over) {
			t.Errorf("the hour ends at %v", b.Reset)
		}
		job := w.client(t)
		for range 2 {
			if _, _, err := get(t, job); err != nil {
				t.Errorf("a job: %v", err)
			}
		}
		<-time.After(time.Until(over))
		w.mu.Lock()
		w.script = []said{
			{
				status: 200,
				body:   `{}`,
				dated:  true,
				header: []string{
					"X-RateLimit-Limit: 5000",
					"X-RateLimit-Resource: core",
					"X-RateLimit-Remaining: 4999",
					fmt.Sprintf("X-RateLimit-Reset: %d", reset.Add(time.Hour).Unix()),
				},
			},
		}
		w.mu.Unlock()
		for range 2 {
			if _, _, err := get(t, c); err != nil {
				t.Errorf("after the reset: %v", err)
			}
		}
	})
}

func TestWaitingForATurnEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := follows(fine)
		c := w.client(t)
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				if _, err := c.Send(ctx, "PATCH", "x", nil, nil); err != nil && (!errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrTransport)) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(w.heard) != writesAMinute {
			t.Errorf("%d requests", len(w.heard))
		}
	})
}

func TestAtMostSoManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := follows(said{hang: true})
		c := w.client(t)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 3 * atOnce {
			wg.Go(func() {
				if _, err := c.Get(ctx, "x", nil); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := w.count(); n != atOnce {
			t.Errorf("%d at once", n)
		}
		cancel()
		wg.Wait()
	})
}
