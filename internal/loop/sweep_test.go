package loop_test

// Sweeps over GitHub in memory, in virtual time: what fails, what stops them, and what they cost.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const onePolicy = `
version: 1
quorum: 1
sweep: {limit: 500}
reviewers:
  - {name: sage, author: "sage[bot]", verdict: review-state}
`

// a swept is a repository with open pull requests that sage has approved.
type swept struct {
	t      testing.TB
	g      *sandbox.GitHub
	wire   http.RoundTripper // nil: straight to g
	change func(*loop.Sweep)
	began  func(github.Open) // nil: nothing is done with it
	told   []loop.Swept
	at     time.Time // outside of a bubble: what time it is
}

func (w *swept) now() time.Time {
	if w.at.IsZero() {
		return time.Now()
	}
	return w.at
}

// pass lets time pass: that of the bubble, or that of a test without one.
func (w *swept) pass(d time.Duration) {
	if w.at.IsZero() {
		<-time.After(d)
		return
	}
	w.at = w.at.Add(d)
}

func newSwept(t testing.TB, pulls int, limit int) *swept {
	t.Helper()
	return openSwept(&swept{t: t}, pulls, limit)
}

func openSwept(w *swept, pulls int, limit int) *swept {
	w.t.Helper()
	w.g = sandbox.New(sandbox.Options{HourlyLimit: limit, Now: w.now})
	w.g.SetFile(".github/review-coordinator.yml", "", onePolicy)
	for n := 1; n <= pulls; n++ {
		w.g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n)})
		w.review(n, "APPROVED")
	}
	w.pass(time.Hour) // what has happened is long ago
	w.t.Cleanup(func() {
		if bad := w.g.UnknownRequests(); len(bad) > 0 {
			w.t.Errorf("GitHub does not know: %s", bad)
		}
	})
	return w
}

func (w *swept) review(n int, state string, lines ...sandbox.LineComment) {
	w.t.Helper()
	if _, err := w.g.Review(n, sandbox.ReviewSpec{
		By: "sage[bot]", State: state, Body: "Reviewed commit: " + sandbox.SHA(fmt.Sprintf("head of %d", n)),
		Comments: lines,
	}); err != nil {
		w.t.Fatal(err)
	}
}

// sweep is one run of the program.
func (w *swept) sweep(ctx context.Context) (github.Open, loop.Tally) {
	w.t.Helper()
	wire := w.wire
	if wire == nil {
		wire = w.g
	}
	api, err := client.New(client.Options{Token: "ghs_x", Actions: true, Transport: wire, Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	forge := github.NewForge(api, quorum.ActionsApp, "", nil)
	forge.SetClock(w.now)
	open, err := forge.Open(ctx, "acme", "shop")
	if err != nil {
		w.t.Fatal(err)
	}
	if w.began != nil {
		w.began(open)
	}
	var prs []quorum.PR
	for _, d := range open.Due {
		prs = append(prs, d.PR)
	}
	w.told = nil
	s := loop.Sweep{
		Reconciler: loop.Reconciler{Forge: forge, Restamp: true, Now: w.now},
		Concurrent: open.Sweep.MaxConcurrent, Batch: open.Sweep.BatchSize, BatchDelay: time.Duration(open.Sweep.BatchDelay),
		Retries: open.Sweep.MaxRetries, Base: time.Duration(open.Sweep.Backoff.Base), Max: time.Duration(open.Sweep.Backoff.Max),
		Limit: open.Sweep.Limit, Threshold: open.Threshold,
		Spent: func() string {
			if b := api.Budget(); b.Limit > 0 && b.Left*5 <= b.Limit {
				return "20 % is left"
			}
			return ""
		},
		Done: func(d loop.Swept) { w.told = append(w.told, d) },
	}
	if w.change != nil {
		w.change(&s)
	}
	return open, s.Run(ctx, prs)
}

// wants wants a sweep to come to so much.
func (w *swept) wants(got loop.Tally, evaluated, failed, skipped int) {
	w.t.Helper()
	if got.Evaluated != evaluated || got.Failed != failed || got.Skipped != skipped || len(w.told) != evaluated+failed {
		w.t.Errorf(
			"%d evaluated, %d failed, %d skipped (%s), %d told; want %d, %d, %d",
			got.Evaluated,
			got.Failed,
			got.Skipped,
			got.Why,
			len(w.told),
			evaluated,
			failed,
			skipped,
		)
	}
}

// passed wants so many pull requests to have one check, which is green.
func (w *swept) passed(numbers ...int) {
	w.t.Helper()
	for _, n := range numbers {
		own := w.g.OwnCheckRuns(fmt.Sprintf("head of %d", n))
		if len(own) != 1 || own[0].Conclusion != "success" {
			w.t.Errorf("#%d has the checks %v, want one that is green", n, own)
		}
	}
}

func upTo(n int) (all []int) {
	for i := 1; i <= n; i++ {
		all = append(all, i)
	}
	return all
}

// a disturbed wire does to a request what is wrong with its pull request.
type disturbed struct {
	g    *sandbox.GitHub
	does func(n int, req *http.Request) (*http.Response, error) // both nil: nothing is wrong
}

var (
	ofPull  = regexp.MustCompile(`/(?:pulls|issues)/(\d+)`)
	ofCheck = regexp.MustCompile(`"external_id":"review-coordinator acme/shop#(\d+)"`)
)

func (d *disturbed) RoundTrip(req *http.Request) (*http.Response, error) {
	number := ofPull.FindStringSubmatch(req.URL.Path)
	if number == nil && req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/check-runs") {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		number = ofCheck.FindStringSubmatch(string(body))
	}
	if number != nil {
		n, _ := strconv.Atoi(number[1])
		if res, err := d.does(n, req); res != nil || err != nil {
			return res, err
		}
	}
	return d.g.RoundTrip(req)
}

func answer(req *http.Request, status int, body string) (*http.Response, error) {
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    req,
	}, nil
}

// Of two hundred pull requests every tenth fails in another way.
func TestSweepTellsEachFailureAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 200, 1_000_000)
		ways := []struct {
			at   string // the end of the path at which it fails
			why  string
			fail func(*http.Request) (*http.Response, error)
		}{
			{"/pulls/N", "404 Not Found", func(r *http.Request) (*http.Response, error) { return answer(r, 404, `{"message":"Not Found"}`) }},
			{"/reviews", "403 Resource not accessible by integration", func(r *http.Request) (*http.Response, error) {
				return answer(r, 403, `{"message":"Resource not accessible by integration"}`)
			}},
			{"/check-runs", "422 Validation Failed", func(r *http.Request) (*http.Response, error) {
				return answer(r, 422, `{"message":"Validation Failed"}`)
			}},
			{"/files", "500 Internal Server Error", func(r *http.Request) (*http.Response, error) { return answer(r, 500, `{"message":"Oh no"}`) }},
			{"/comments", "answer is no JSON", func(r *http.Request) (*http.Response, error) { return answer(r, 200, `[{"id":1,`) }},
			{"/pulls/N", "connection reset", func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNRESET }},
			{"/pulls/N", "another host", func(r *http.Request) (*http.Response, error) {
				res, err := answer(r, 307, "")
				res.Header.Set("Location", "https://elsewhere.invalid/")
				return res, err
			}},
			{"/reviews", "answer is null", func(r *http.Request) (*http.Response, error) { return answer(r, 200, `null`) }},
			{"/pulls/N", "is no pull request", func(r *http.Request) (*http.Response, error) { return answer(r, 200, `{}`) }},
			{"/files", "451", func(r *http.Request) (*http.Response, error) {
				return answer(r, 451, `{"message":"Repository access blocked"}`)
			}},
		}
		w.wire = &disturbed{g: w.g, does: func(n int, req *http.Request) (*http.Response, error) {
			way := ways[n/10%len(ways)]
			if n%10 != 0 || !strings.HasSuffix(req.URL.Path, strings.Replace(way.at, "N", strconv.Itoa(n), 1)) {
				return nil, nil
			}
			return way.fail(req)
		}}
		open, tally := w.sweep(t.Context())
		if open.Count != 200 || len(open.Due) != 200 {
			t.Fatalf("%d open, %d due, want 200 of both", open.Count, len(open.Due))
		}
		w.wants(tally, 180, 20, 0)
		for _, d := range w.told {
			way := ways[d.PR.Number/10%len(ways)]
			switch {
			case d.PR.Number%10 != 0 && d.Err != nil:
				t.Errorf("#%d failed: %v", d.PR.Number, d.Err)
			case d.PR.Number%10 == 0 && (d.Err == nil || !strings.Contains(d.Err.Error(), way.why)):
				t.Errorf("#%d failed with %v, want %q", d.PR.Number, d.Err, way.why)
			}
		}
		w.passed(slices.DeleteFunc(upTo(200), func(n int) bool { return n%10 == 0 })...)
	})
}

// Two hundred are open, twenty change: the others cost nothing, and our own writes are no change.
func TestSweepCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 200, 1_000_000)
		_, tally := w.sweep(t.Context())
		w.wants(tally, 200, 0, 0)
		w.pass(10 * time.Minute)
		const most = 4 // the list, its threads, the policy and the organisation's
		w.requests(most, nil)
		for n := 10; n <= 200; n += 10 {
			if _, err := w.g.Comment(n, "bob", "Looks fine, thanks."); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(10 * time.Minute)
		w.requests(most+20*12, func(n int) bool { return n%10 == 0 }) // the pull request and all that is on it: eleven lists, one of statuses
		w.pass(10 * time.Minute)
		w.requests(most, nil)
		w.passed(upTo(200)...)
	})
}

// requests wants a sweep to cost so many requests at most, and none for other pull requests.
func (w *swept) requests(most int, mayBe func(n int) bool) {
	w.t.Helper()
	w.g.ForgetRequests()
	w.sweep(w.t.Context())
	all := w.g.Requests()
	if len(all) > most {
		w.t.Errorf("the sweep cost %d requests, want %d at most", len(all), most)
	}
	for _, r := range all {
		number := ofPull.FindStringSubmatch(r.Path)
		if number == nil {
			continue
		}
		if n, _ := strconv.Atoi(number[1]); mayBe == nil || !mayBe(n) {
			w.t.Errorf("%s %s was asked for nothing", r.Method, r.Path)
		}
	}
}

func BenchmarkSweepOf200WithTwentyChanged(b *testing.B) {
	w := openSwept(&swept{t: b, at: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)}, 200, 1_000_000)
	w.change = func(s *loop.Sweep) { s.BatchDelay, s.Limit = 0, 15 } // a client of its own is within its rate so long
	for left := 1; left > 0; {
		_, tally := w.sweep(b.Context())
		left = tally.Skipped
	}
	for b.Loop() {
		for n := 10; n <= 200; n += 10 {
			if _, err := w.g.Comment(n, "bob", "Looks fine, thanks."); err != nil {
				b.Fatal(err)
			}
		}
		w.pass(10 * time.Minute)
		w.change = func(s *loop.Sweep) { s.BatchDelay = 0 }
		w.g.ForgetRequests()
		w.sweep(b.Context())
	}
	b.ReportMetric(float64(len(w.g.Requests())), "requests/sweep")
}

func TestSweepStopsWhenGitHubIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 60, 1_000_000)
		w.g.AddFault(sandbox.Fault{Match: "GET /repos/acme/shop/pulls/*", Skip: 12, Status: 502})
		_, tally := w.sweep(t.Context())
		if tally.Failed < 5 || tally.Failed > 5+3 || tally.Evaluated+tally.Failed+tally.Skipped != 60 || !strings.Contains(tally.Why, "down") ||
			tally.At.Number == 0 {
			t.Errorf("the sweep came to %+v", tally)
		}
		w.g.ClearFaults() // GitHub is back, and so is the next sweep
		_, tally = w.sweep(t.Context())
		if tally.Failed+tally.Skipped > 0 {
			t.Errorf("the next sweep came to %+v", tally)
		}
		w.passed(upTo(60)...)
	})
}

// A fault that goes away is nobody's failure; a refusal is told at once.
func TestSweepTriesAgainOnlyAfterTransportFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 2, 1_000_000)
		var tries [3]int
		w.wire = &disturbed{g: w.g, does: func(n int, req *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(req.URL.Path, "/files") {
				return nil, nil
			}
			tries[n]++
			switch {
			case n == 1 && tries[n] <= 6: // a client bears three in a row
				return answer(req, 503, "{}")
			case n == 2:
				return answer(req, 403, `{"message":"Resource not accessible by integration"}`)
			}
			return nil, nil
		}}
		var pauses []time.Duration
		w.change = func(s *loop.Sweep) {
			s.Concurrent, s.Jitter = 1, func(most time.Duration) time.Duration { pauses = append(pauses, most); return most }
		}
		_, tally := w.sweep(t.Context())
		w.wants(tally, 1, 1, 0)
		if tries[2] != 1 || !slices.Equal(pauses, []time.Duration{2 * time.Second}) {
			t.Errorf("the refusal was asked for %d times; pauses %v", tries[2], pauses)
		}
	})
}

func TestSweepPausesDoubleUpToTheirBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 1, 1_000_000)
		w.wire = &disturbed{g: w.g, does: func(_ int, req *http.Request) (*http.Response, error) { return answer(req, 500, "{}") }}
		var pauses []time.Duration
		w.change = func(s *loop.Sweep) {
			s.Retries, s.Jitter = 5, func(most time.Duration) time.Duration { pauses = append(pauses, most); return 0 }
		}
		_, tally := w.sweep(t.Context())
		w.wants(tally, 0, 1, 0)
		if want := []time.Duration{2e9, 4e9, 8e9, 10e9, 10e9}; !slices.Equal(pauses, want) {
			t.Errorf("pauses of %v, want %v", pauses, want)
		}
	})
}

func TestSweepLeavesAFifthOfTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 100, 1000)
		w.g.SpendRequests(500)
		_, tally := w.sweep(t.Context())
		used := 0
		for _, r := range w.g.Requests() {
			if r.Path != "/graphql" && !r.NotModified { // those have a budget of their own, or are free
				used++
			}
		}
		if tally.Failed > 0 || tally.Skipped == 0 || tally.At.Number == 0 || !strings.Contains(tally.Why, "20 %") || used > 300+4*12 || used < 300 {
			t.Errorf("after %d requests the sweep came to %+v", used, tally)
		}
	})
}

func TestSweepEndsAtALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 30, 1_000_000)
		w.g.AddFault(
			sandbox.Fault{
				Match:  "GET /repos/acme/shop/pulls/*/files",
				Skip:   6,
				Status: 403,
				Body:   `{"message":"You have exceeded a secondary rate limit."}`,
				Header: []string{"Retry-After: 60"},
			},
		)
		_, tally := w.sweep(t.Context())
		if tally.Failed == 0 || tally.Failed > 4 || tally.Skipped == 0 || !strings.Contains(tally.Why, "takes no more requests") {
			t.Errorf("the sweep came to %+v", tally)
		}
	})
}

// A page that GitHub cannot make in time is asked for in parts, and no part twice.
func TestSweepAsksForSmallerPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 60, 1_000_000)
		w.g.AddFault(sandbox.Fault{Match: "POST /graphql", Times: 4, Status: 502})
		open, tally := w.sweep(t.Context())
		pages := 0
		for _, r := range w.g.Requests() {
			if r.Path == "/graphql" && !r.Faulted {
				pages++
			}
		}
		w.wants(tally, 60, 0, 0)
		if open.Count != 60 || pages != 3+2*60 { // each look asks once more, each pass is looked at twice
			t.Errorf("%d open on %d pages", open.Count, pages-2*60)
		}
	})
}

func TestSweepLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 30, 1_000_000)
		w.change = func(s *loop.Sweep) { s.Limit = 12 }
		_, tally := w.sweep(t.Context())
		w.wants(tally, 12, 0, 18)
		if !tally.Limited || tally.At.Number != 13 {
			t.Errorf("the sweep came to %+v", tally)
		}
		_, tally = w.sweep(t.Context()) // those that have a check now are past
		w.wants(tally, 12, 0, 6)
		_, tally = w.sweep(t.Context())
		w.wants(tally, 6, 0, 0)
		w.passed(upTo(30)...)
	})
}

// stumbling panics at one pull request.
type stumbling struct {
	loop.Forge
	at int
}

func (s stumbling) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	if pr.Number == s.at {
		panic("a mistake\nof ours")
	}
	return s.Forge.Observe(ctx, pr)
}

func TestSweepSurvivesAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 12, 1_000_000)
		w.change = func(s *loop.Sweep) { s.Reconciler.Forge = stumbling{s.Reconciler.Forge, 3} }
		_, tally := w.sweep(t.Context())
		w.wants(tally, 11, 1, 0)
		for _, d := range w.told {
			var panicked *loop.PanicError
			if errors.As(d.Err, &panicked) != (d.PR.Number == 3) || panicked != nil && !strings.Contains(string(panicked.Stack), "stumbling") {
				t.Errorf("#%d: %v", d.PR.Number, d.Err)
			}
		}
	})
}

// A sweep that is killed anywhere, and another one: nothing is written twice.
func TestSweepBegunAnew(t *testing.T) {
	for _, after := range []int{1, 40, 97, 131} {
		synctest.Test(t, func(t *testing.T) {
			w := newSwept(t, 15, 1_000_000)
			ctx, kill := context.WithCancel(t.Context())
			var n atomic.Int64
			w.g.AfterRequest(func(*http.Request, int) {
				if n.Add(1) == int64(after) {
					kill()
				}
			})
			if after > 2 { // before, there is no list yet
				_, tally := w.sweep(ctx)
				if tally.Failed > 0 || tally.Evaluated+tally.Skipped != 15 || tally.Why == "" {
					t.Errorf("the sweep that was killed came to %+v", tally)
				}
			}
			w.g.AfterRequest(nil)
			w.pass(time.Minute)
			_, tally := w.sweep(t.Context())
			if tally.Failed+tally.Skipped > 0 {
				t.Errorf("the one after it came to %+v", tally)
			}
			w.passed(upTo(15)...)
			kill()
		})
	}
}

// What the clock does to a decision is seen by a sweep alone: there is no event.
func TestSweepSeesDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 0, 1_000_000)
		w.g.OpenPull(sandbox.PullSpec{Number: 1, Head: "head of 1"})
		w.sweep(t.Context())
		if own := w.g.OwnCheckRuns("head of 1"); len(own) != 1 || own[0].Status != "in_progress" {
			t.Fatalf("the check reads %+v", own)
		}
		w.pass(4 * time.Minute)
		w.sweep(t.Context())
		writes := w.g.OwnCheckRuns("head of 1")[0].Writes // the first one brought the head's first suite, and with it its arrival
		w.pass(4 * time.Minute)
		if w.sweep(t.Context()); w.g.OwnCheckRuns("head of 1")[0].Writes != writes {
			t.Errorf("a look that changed nothing was written into an open check: %d writes, then %d", writes, w.g.OwnCheckRuns("head of 1")[0].Writes)
		}
		w.pass(3 * time.Minute)
		open, _ := w.sweep(t.Context())
		if own := w.g.OwnCheckRuns("head of 1"); own[0].Conclusion != "action_required" || open.Due[0].Why != github.Awake {
			t.Errorf("after the deadline it reads %+v, looked at because it is %s", own[0].Title, open.Due[0].Why)
		}
		w.pass(time.Minute)
		w.requests(3, nil)
	})
}

// GitHub tells of a resolved thread neither by an event nor by a time.
func TestSweepSeesResolvedThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 0, 1_000_000)
		w.g.OpenPull(sandbox.PullSpec{Number: 1, Head: "head of 1"})
		w.review(
			1,
			"COMMENTED",
			sandbox.LineComment{Path: "cart.go", Line: 3, Body: "It is emptied twice."},
			sandbox.LineComment{Path: "cart.go", Line: 9, Body: "And never filled."},
		)
		w.pass(time.Minute)
		reads := func(conclusion string, why github.Why) {
			t.Helper()
			open, _ := w.sweep(t.Context())
			own := w.g.OwnCheckRuns("head of 1")
			if len(own) != 1 || own[0].Conclusion != conclusion || len(open.Due) != 1 || open.Due[0].Why != why {
				t.Errorf("the checks are %+v, due is %+v; want %s, %s", own, open.Due, conclusion, why)
			}
			w.pass(time.Minute)
			w.requests(3, nil)
		}
		reads("failure", github.Unseen)
		if err := w.g.ResolveThreads(1, "sage[bot]", "bob"); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		reads("success", github.Settled)
		if err := w.g.UnresolveThreads(1, "sage[bot]"); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		reads("failure", github.Settled)
	})
}
