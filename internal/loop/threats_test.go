package loop_test

// What hostile pull requests and unlucky moments have done to a sweep, and what must hold against it.

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// a hook sees each request before GitHub does.
type hook struct {
	g  http.RoundTripper
	do func(*http.Request)
}

func (h *hook) RoundTrip(r *http.Request) (*http.Response, error) {
	h.do(r)
	return h.g.RoundTrip(r)
}

// a stand answers some requests in GitHub's stead.
type stand struct {
	g    http.RoundTripper
	path string // the end of the path
	with string // is in the query
	body string
}

func (s *stand) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, s.path) && strings.Contains(r.URL.RawQuery, s.with) {
		return answer(r, http.StatusOK, s.body)
	}
	return s.g.RoundTrip(r)
}

// forge is that of a job of its own, over wire.
func (w *swept) forge(wire http.RoundTripper) *github.Forge {
	w.t.Helper()
	api, err := client.New(client.Options{Token: "ghs_x", Actions: true, Transport: wire, Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	f := github.NewForge(api, quorum.ActionsApp, "", nil)
	f.SetClock(w.now)
	return f
}

// job looks at a pull request as the job of an event does.
func (w *swept) job(wire http.RoundTripper, n int) {
	w.t.Helper()
	r := &loop.Reconciler{Forge: w.forge(wire), Now: w.now}
	pr := quorum.PR{Owner: "acme", Repo: "shop", Number: n}
	_, err := r.Reconcile(w.t.Context(), pr)
	if errors.Is(err, github.ErrMoved) { // a job looks again
		_, err = r.Reconcile(w.t.Context(), pr)
	}
	if err != nil {
		w.t.Error(err)
	}
}

// emptied is a repository without pull requests.
func emptied(t *testing.T, policy string) *swept {
	t.Helper()
	w := &swept{t: t}
	w.g = sandbox.New(sandbox.Options{HourlyLimit: 1_000_000, Now: w.now})
	w.g.SetFile(".github/review-coordinator.yml", "", policy)
	return w
}

// concludes wants each check of ours on a head to have a conclusion.
func (w *swept) concludes(head, conclusion string) {
	w.t.Helper()
	own := w.g.OwnCheckRuns(head)
	if len(own) == 0 {
		w.t.Fatalf("%s has no check", head)
	}
	for _, c := range own {
		if c.Conclusion != conclusion {
			w.t.Errorf("the check on %s reads %s %q, want %s", head, c.Conclusion, c.Title, conclusion)
		}
	}
}

// GitHub lists a folder as an array, which is no outage of GitHub's.
func TestAFolderInThePolicysPlaceStopsNoSweep(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := emptied(t, onePolicy)
		for n := 1; n <= 8; n++ {
			w.g.OpenPull(
				sandbox.PullSpec{
					Number: n,
					Head:   fmt.Sprintf("evil %d", n),
					Author: "mallory",
					Fork:   "mallory",
					Files: []sandbox.ChangedFile{
						{Path: ".github/review-coordinator.yml", Status: "removed"},
						{Path: ".github/review-coordinator.yml/x", Status: "added"},
					},
				},
			)
		}
		for n := 9; n <= 20; n++ {
			w.g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n)})
			w.review(n, "APPROVED")
		}
		pass(time.Hour)
		w.wire = &stand{
			w.g,
			"/contents/.github/review-coordinator.yml",
			"ref=",
			`[{"type":"file","name":"x","path":".github/review-coordinator.yml/x","sha":"abc"}]`,
		}
		_, tally := w.sweep(t.Context())
		if tally.Skipped > 0 || tally.Why != "" {
			t.Errorf("the sweep came to %+v", tally)
		}
		w.passed(upTo(20)[8:]...)
	})
}

// Between a sweep's look and its write an event's job sees an objection and turns the check red.
func TestARestampTurnsNothingGreen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newSwept(t, 1, 1_000_000)
		w.sweep(t.Context())
		w.passed(1)
		pass(time.Hour)
		if _, err := w.g.Comment(1, "mallory", "hello"); err != nil { // makes it due
			t.Fatal(err)
		}
		pass(30 * time.Second)
		raced := false
		w.change = func(s *loop.Sweep) {
			s.Reconciler.Now = func() time.Time {
				if !raced {
					raced = true
					w.review(1, "CHANGES_REQUESTED")
					w.job(w.g, 1)
				}
				return w.now()
			}
		}
		if w.sweep(t.Context()); !raced {
			t.Fatal("the sweep did not look")
		}
		w.concludes("head of 1", "failure")
	})
}

// Siblings of one commit are due for ever, more of them than a sweep's limit.
func TestSiblingsCrowdNobodyOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := emptied(t, strings.ReplaceAll(onePolicy, "500", "6"))
		for n := 1; n <= 8; n++ {
			w.g.OpenPull(sandbox.PullSpec{Number: n, Head: "evil"})
		}
		w.g.OpenPull(sandbox.PullSpec{Number: 9, Head: "head of 9"})
		w.review(9, "APPROVED")
		pass(time.Hour)
		w.change = func(s *loop.Sweep) { s.Limit = 0 }
		w.sweep(t.Context())
		w.passed(9)
		pass(time.Hour)
		w.change = nil
		w.review(9, "CHANGES_REQUESTED") // the event's job is lost
		for range 4 {
			pass(15 * time.Minute)
			w.sweep(t.Context())
		}
		w.concludes("head of 9", "failure")
	})
}

// Two jobs of different concurrency groups see a new head at once.
func TestTwoJobsAskOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := emptied(t, `
version: 1
quorum: 1
reviewers:
  - {name: sage, author: "sage[bot]", verdict: review-state, request: {comment: "@sage review", at_start: true}}
`)
		w.g.OpenPull(sandbox.PullSpec{Number: 1, Head: "head of 1"})
		pass(10 * time.Second)
		asked, raced := 0, false
		count := func(r *http.Request) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/comments") {
				asked++
			}
		}
		w.job(&hook{w.g, func(r *http.Request) {
			if !raced && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/check-runs") {
				raced = true
				w.job(&hook{w.g, count}, 1)
			}
			count(r)
		}}, 1)
		if asked != 1 || !raced {
			t.Errorf("sage was asked %d times, want once", asked)
		}
	})
}

// GitHub shows the run of a fork that is gone without a repository: it may be anybody's branch of that name.
func TestARunOfADeletedForkIsNoEarlierHead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := emptied(t, onePolicy)
		w.g.OpenPull(sandbox.PullSpec{Number: 1, Head: "a"})
		if err := w.g.Push(1, "b", sandbox.PushSpec{}); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Second)
		f := w.forge(
			&stand{
				w.g,
				"/actions/runs",
				"branch=",
				`{"total_count":1,"workflow_runs":[{"id":77,"run_number":5,"path":".github/workflows/openai.yml","event":"pull_request","head_sha":"` + strings.Repeat(
					"e",
					40,
				) + `","head_branch":"feature-1","run_attempt":1,"status":"in_progress","created_at":"2026-01-05T09:00:00Z","run_started_at":"2026-01-05T09:00:00Z","updated_at":"2026-01-05T09:00:00Z","head_repository":null}]}`,
			},
		)
		_, s, err := f.Observe(t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: 1})
		if err != nil || len(s.Others) != 0 {
			t.Errorf("got %+v, %v", s.Others, err)
		}
	})
}
