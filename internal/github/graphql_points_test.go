package github_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// queryLog notes of each query what it is and what it costs, as it passes.
type queryLog struct {
	next  http.RoundTripper
	g     *sandbox.GitHub
	costs []string
}

func (q *queryLog) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path != "/graphql" {
		return q.next.RoundTrip(req)
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	var asked struct {
		Query     string
		Variables map[string]any
	}
	if err := json.NewDecoder(body).Decode(&asked); err != nil {
		return nil, err
	}
	name := "unknown"
	for part, is := range map[string]string{
		"reviewThreads(first: $threadsPerPage": "conversation", "pullRequests(states: OPEN": "list", "authors(first": "authors", "nodes(ids": "bodies",
		"first: 20, orderBy": "recent answers",
	} {
		if strings.Contains(asked.Query, part) {
			name = is
		}
	}
	if first := asked.Variables["first"]; first != nil {
		name += fmt.Sprint(" of ", first)
	}
	if strings.HasPrefix(name, "list") && !strings.Contains(asked.Query, "statusCheckRollup") {
		name += " without statuses"
	}
	before := sandbox.GraphQLPoints(q.g)
	resp, err := q.next.RoundTrip(req)
	q.costs = append(q.costs, fmt.Sprintf("%s: %d", name, sandbox.GraphQLPoints(q.g)-before))
	return resp, err
}

// taken returns what the queries since the last call cost.
func (q *queryLog) taken() string {
	said := strings.Join(q.costs, ", ")
	q.costs = nil
	return said
}

// GITHUB_TOKEN has 1,000 points an hour for all that run in a repository: what each query costs is held here.
func TestPointsOfEachQuery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, test := range []struct {
			name             string
			as               func(*setup)
			look, few, whole string
		}{
			{"an App", func(*setup) {}, "conversation: 1", "list of 20: 1", "list of 100: 7"},
			{
				"a job without statuses", func(s *setup) { asJob(s); s.sand.NoStatuses = true }, "conversation: 1",
				"list of 20: 1, list of 20 without statuses: 1", "list of 100: 7, list of 100 without statuses: 6",
			},
		} {
			q := &queryLog{}
			w := newWorld(t, under(oneCopilot), test.as, func(s *setup) {
				s.wire = func(next http.RoundTripper) http.RoundTripper { q.next, q.g = next, next.(*sandbox.GitHub); return q }
			})
			w.look()
			if got := q.taken(); got != test.look {
				t.Errorf("%s: a look costs %s, want %s", test.name, got, test.look)
			}
			pass(time.Minute)
			for want, list := range map[string]func() error{
				test.few:   func() error { _, err := w.forge.OpenOfFew(t.Context(), "acme", "shop"); return err },
				test.whole: func() error { _, err := w.forge.Open(t.Context(), "acme", "shop"); return err },
			} {
				w.must(list())
				if got := q.taken(); got != want {
					t.Errorf("%s: a list costs %s, want %s", test.name, got, want)
				}
			}
		}
	})
}

// What is asked for rarely costs a point each time: who wrote the commits, once a head, and pages of words that are too
// long for one answer.
func TestPointsOfRareQueries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := &queryLog{}
		w := newWorld(t, under(oneCopilot), func(s *setup) {
			s.wire = func(next http.RoundTripper) http.RoundTripper { q.next, q.g = next, next.(*sandbox.GitHub); return q }
		})
		w.look()
		do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{
			By:       copilotBot,
			Body:     "Copilot reviewed 1 out of 1 changed files in this pull request and generated 1 comment.",
			Comments: []sandbox.LineComment{{Path: "a.go", Line: 3, Body: "It leaks."}},
		}))
		w.look()
		pass(2 * time.Minute)
		w.must(w.g.ResolveThreads(7, copilotBot, "bob"))
		q.taken()
		w.look()
		w.reads("success", "")
		if got := q.taken(); got != "conversation: 1, authors: 1" {
			t.Errorf("once a thread is resolved a look costs %s", got)
		}
		do[[]quorum.HeardAnswer](t)(w.forge.RecentAnswers(t.Context(), "acme", "shop"))
		if got := q.taken(); got != "recent answers: 1" {
			t.Errorf("what reviewers answered on other pull requests costs %s", got)
		}
		for range 34 {
			w.comment("mallory", longestComment)
		}
		w.look()
		pages := func(n int) string { return strings.TrimSuffix(strings.Repeat("conversation: 1, ", n), ", ") }
		if got := q.taken(); got != pages(2+6) { // of a hundred, of 25, and six of six
			t.Errorf("among long comments a look costs %s", got)
		}
		for range 34 {
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "mallory", State: "COMMENTED", Body: longestComment}))
		}
		w.look()
		if got := q.taken(); got != pages(6) {
			t.Errorf("among long reviews a look costs %s", got)
		}
	})
}

// Only a page that is too long is asked for again with fewer texts, or one that takes GitHub too long, and all pages of a
// look have a bound.
func TestPagesOfTheQuery(t *testing.T) {
	const tries = "100 100 100 100 "
	endless := strings.TrimSpace(strings.Repeat("100 ", 200))
	for name, c := range map[string]struct {
		long          func(n int) bool // whether the n-th of 250 comments is one of the longest
		slow          int              // about more texts GitHub gives no answer in time
		endless       bool
		first, second string // how many texts are asked for, in two looks
	}{
		"short": {first: "100 100 100", second: "100 100 100"},
		"a few long, late": {
			long:  func(n int) bool { return n >= 100 && n < 117 },
			first: "100 100 25 6 6 6 6 24 96 100", second: "100 100 25 6 6 6 6 24 96 100",
		},
		"a few long, early": {
			long:  func(n int) bool { return n < 17 },
			first: "100 25 6 6 6 6 24 96 100 100", second: "6 6 6 6 24 96 100 100",
		},
		"slow":            {slow: 30, first: tries + "25 25 25 25 25 25 25 25 25 25", second: "25 " + tries + "25 25 25 25 25 25 25 25 25"},
		"slow, whatever":  {slow: -1, first: tries + "25 25 25 25", second: tries + "25 25 25 25"},
		"without any end": {endless: true, first: endless, second: endless},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var sizes []string
				w := newWorld(t, under(oneSage), func(s *setup) {
					s.wire = func(next http.RoundTripper) http.RoundTripper {
						return roundTrip(func(req *http.Request) (*http.Response, error) {
							if req.URL.Path != "/graphql" {
								return next.RoundTrip(req)
							}
							body := do[io.ReadCloser](t)(req.GetBody())
							var asked struct{ Variables struct{ TextsPerPage int } }
							_ = json.NewDecoder(body).Decode(&asked)
							if asked.Variables.TextsPerPage == 0 {
								return next.RoundTrip(req)
							}
							sizes = append(sizes, strconv.Itoa(asked.Variables.TextsPerPage))
							if c.slow != 0 && asked.Variables.TextsPerPage > c.slow {
								return answerWith(http.StatusOK, `{"data":null,"errors":[{"message":"Something went wrong while executing your query."}]}`)(), nil
							}
							resp, err := next.RoundTrip(req)
							if err == nil && c.endless {
								text, _ := io.ReadAll(resp.Body)
								resp = answerWith(http.StatusOK, strings.ReplaceAll(string(text), `"hasNextPage":false`, `"hasNextPage":true`))()
							}
							return resp, err
						})
					}
				})
				for n := range 250 {
					body := "Hello"
					if c.long != nil && c.long(n) {
						body = longestComment
					}
					w.comment("mallory", body)
				}
				for _, want := range []string{c.first, c.second} {
					sizes = nil
					w.forge.Expect(w.pr, w.g.Head(7))
					_, s, err := w.forge.Observe(t.Context(), w.pr)
					if got := strings.Join(sizes, " "); got != want {
						t.Errorf("it asks for %s, want %s", got, want)
					}
					if hasEnd := !c.endless && c.slow >= 0; hasEnd != (err == nil && len(s.Comments) == 250) {
						t.Errorf("%d comments, %v", len(s.Comments), err)
					}
				}
			})
		})
	}
}
