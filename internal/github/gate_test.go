package github

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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
		{"15 abuse, by its URL", said{status: 403, body: `{"message":"no","documentation_url":"https://docs.github.com/rest#abuse-rate-limits"}`, header: []string{"Retry-After: 37"}}, 37 * time.Second, false},
		{"16 429", said{status: 429, header: []string{"Retry-After: 12"}}, 12 * time.Second, false},
		{"16 429 as a page", said{status: 429, body: "<html>Whoa there!</html>"}, time.Minute, false},
		{"16 Retry-After as a date", said{status: 429, header: []string{"Retry-After: Sat, 01 Jan 2000 00:00:42 GMT"}, dated: true}, 42 * time.Second, false},
		{"16 and without our Date", said{status: 429, header: []string{"Retry-After: Sat, 01 Jan 2000 00:00:42 GMT"}}, 42 * time.Second, false},
		{"17 primary", said{status: 403, body: primary, header: []string{spent, reset(20 * time.Minute)}, dated: true}, 20 * time.Minute, true},
		{"17 primary as 429", said{status: 429, body: primary, header: []string{spent, reset(20 * time.Minute)}}, 20 * time.Minute, true},
		{"17 primary, by its headers", said{status: 403, body: `{"message":"Dependency review is not supported on this repository"}`, header: []string{spent, reset(time.Minute)}}, time.Minute, true},
		{"18 no header", said{status: 403, body: secondary}, time.Minute, false},
		{"18 no header, plain text", said{status: 403, body: "You have triggered an abuse detection mechanism"}, time.Minute, false},
		{"18 a reset that is not meant", said{status: 403, body: secondary, header: []string{"X-RateLimit-Remaining: 4000", reset(50 * time.Minute)}}, time.Minute, false},
		{"19 reset in the past", said{status: 403, body: primary, header: []string{spent, reset(-5 * time.Minute)}}, time.Second, true},
		{"19 reset in a year", said{status: 403, body: primary, header: []string{spent, reset(365 * 24 * time.Hour)}}, time.Hour, true},
		{"19 garbage", said{status: 429, header: []string{spent, "X-RateLimit-Reset: soon", "Retry-After: 1e9"}}, time.Minute, true},
		{"19 negative", said{status: 429, header: []string{"Retry-After: -5"}}, time.Second, false},
		{"19 GitHub's clock is behind", said{status: 403, body: primary, header: []string{spent, reset(5 * time.Minute), "Date: Fri, 31 Dec 1999 23:55:00 GMT"}}, 10 * time.Minute, true},
		{"19 GitHub's clock is ahead", said{status: 403, body: primary, header: []string{spent, reset(65 * time.Minute), "Date: Sat, 01 Jan 2000 00:05:00 GMT"}}, 60 * time.Minute, true},
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
			w := follows(said{status: 200, body: `{"errors":[{"type":"` + kind + `","message":"API rate limit exceeded"}]}`, header: []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: " + strconv.FormatInt(time.Now().Add(9*time.Minute).Unix(), 10)}})
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

// Fault 18: a limit that does not say when it ends is waited for longer each time, however many answers bring it at once.
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

// Whatever is asked of it, the client stays below GitHub's secondary limits, in any minute.
func TestPace(t *testing.T) {
	for _, test := range []struct {
		method        string
		total, budget int
	}{{"POST", 200, 80}, {"GET", 1500, 900}} {
		synctest.Test(t, func(t *testing.T) {
			w := follows(fine)
			c := w.client(t)
			var wg sync.WaitGroup
			for range test.total {
				wg.Go(func() {
					if _, err := c.Send(t.Context(), test.method, "x", nil, nil); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for i, h := range w.heard {
				if i >= test.budget && h.at.Sub(w.heard[i-test.budget].at) < time.Minute {
					t.Fatalf("%s %d comes %v after number %d", test.method, i, h.at.Sub(w.heard[i-test.budget].at), i-test.budget)
				}
			}
			if len(w.heard) != test.total {
				t.Errorf("%d requests", len(w.heard))
			}
		})
	}
}

func TestWaitingForATurnEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := follows(fine)
		c := w.client(t)
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				if _, err := c.Send(ctx, "POST", "x", nil, nil); err != nil && (!errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrTransport)) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(w.heard) < 20 || len(w.heard) > 23 {
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
		for range 3 * maxParallel {
			wg.Go(func() {
				if _, err := c.Get(ctx, "x", nil); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := w.count(); n != maxParallel {
			t.Errorf("%d at once", n)
		}
		cancel()
		wg.Wait()
	})
}
