package github_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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
		const without = "conversation: 1, conversation: 1" // of which the first is too long
		for range 34 {
			w.comment("mallory", longestComment)
		}
		pass(2 * time.Minute)
		w.look()
		if got, want := q.taken(), without+strings.Repeat(", bodies: 1", 5); got != want { // of all, and four of ten
			t.Errorf("among long comments a look costs %s, want %s", got, want)
		}
		w.comment("mallory", "Hello")
		w.look()
		if got, want := q.taken(), "conversation: 1, bodies: 1"; got != want {
			t.Errorf("the next look costs %s, want %s", got, want)
		}
	})
}

// pagedQueries notes of each query for texts how many it asks for: by page, without words (in parentheses), or by their
// nodes (after =). It answers as answer does, if it is there.
func pagedQueries(t *testing.T, sizes *[]string, answer func(size int, words, nodes bool) *http.Response) func(*setup) {
	return func(s *setup) {
		s.wire = func(next http.RoundTripper) http.RoundTripper {
			return roundTrip(func(req *http.Request) (*http.Response, error) {
				if req.URL.Path != "/graphql" {
					return next.RoundTrip(req)
				}
				var asked struct {
					Variables struct {
						TextsPerPage int
						Words        bool
						IDs          []string
					}
				}
				_ = json.NewDecoder(do[io.ReadCloser](t)(req.GetBody())).Decode(&asked)
				size, ids := asked.Variables.TextsPerPage, len(asked.Variables.IDs)
				switch {
				case ids > 0:
					*sizes = append(*sizes, fmt.Sprint("=", ids))
				case size == 0:
					return next.RoundTrip(req)
				case asked.Variables.Words:
					*sizes = append(*sizes, fmt.Sprint(size))
				default:
					*sizes = append(*sizes, fmt.Sprintf("(%d)", size))
				}
				if answer != nil {
					if resp := answer(max(size, ids), asked.Variables.Words, ids > 0); resp != nil {
						return resp, nil
					}
				}
				return next.RoundTrip(req)
			})
		}
	}
}

// Words that are too long for a page are read apart, and once. A page that takes GitHub too long is asked for again with fewer texts,
// and all pages of a look have a bound.
func TestPagesOfTheQuery(t *testing.T) {
	const tries = "100 100 100 100 "
	endless := strings.TrimSpace(strings.Repeat("100 ", 200))
	for name, c := range map[string]struct {
		long          func(n int) bool // whether the n-th of 250 comments is one of the longest
		slow          int              // about more texts GitHub gives no answer in time
		endless       bool
		first, second string // what is asked for, in two looks
	}{
		"short": {first: "100 100 100", second: "100 100 100"},
		"a few long, late": {
			long:  func(n int) bool { return n >= 200 && n < 217 },
			first: "100 100 100 (100) =50 =10 =10 =10 =10 =10", second: "(100) (100) (100)",
		},
		"a few long, early": {
			long:  func(n int) bool { return n < 17 },
			first: "100 (100) (100) (100) =100" + strings.Repeat(" =10", 25), second: "(100) (100) (100)",
		},
		"slow":            {slow: 30, first: "25 " + tries + "25 25 25 25 25 25 25 25 25", second: tries + "25 25 25 25 25 25 25 25 25 25"},
		"slow, whatever":  {slow: -1, first: tries + "25 25 25 25", second: tries + "25 25 25 25"},
		"without any end": {endless: true, first: endless, second: endless},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var sizes []string
				changes := []func(*setup){under(oneSage), pagedQueries(t, &sizes, func(size int, _, _ bool) *http.Response {
					if c.slow == 0 || size <= c.slow {
						return nil
					}
					return answerWith(http.StatusOK, `{"data":null,"errors":[{"message":"Something went wrong while executing your query."}]}`)()
				})}
				if c.endless {
					changes = append(changes, rewriting("/graphql", func(body []byte) []byte {
						return bytes.ReplaceAll(body, []byte(`"hasNextPage":false`), []byte(`"hasNextPage":true`))
					}))
				}
				w := newWorld(t, changes...)
				_, _, err := w.forge.Observe(t.Context(), w.pr) // of the policy
				if hasEnd := !c.endless && c.slow >= 0; hasEnd != (err == nil) {
					t.Error(err)
				}
				for n := range 250 {
					body := "Hello"
					if c.long != nil && c.long(n) {
						body = longestComment
					}
					w.comment("mallory", body)
				}
				pass(2 * time.Minute)
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

// Strangers may leave any number of the longest comments: no word that counts is lost among them, and an event costs a query a
// hundred of them.
func TestAFloodOfLongComments(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var sizes []string
		pages := pagedQueries(t, &sizes, func(size int, words, nodes bool) *http.Response {
			if !words || size <= 6 || nodes && size <= 10 {
				return nil
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, ContentLength: 9 << 20}
		})
		w := newWorld(t, under(oneSage), pages)
		w.look()
		pass(time.Minute)
		for range 600 {
			w.comment("mallory", "As long as a comment may be")
		}
		w.comment("sage[bot]", plainYes)
		for range 600 {
			w.comment("mallory", "As long as a comment may be")
		}
		pass(2 * time.Minute)
		w.loop.Told = true
		costs := func(conclusion string) (queries int) {
			sizes = nil
			w.forge.Expect(w.pr, w.g.Head(7))
			w.look()
			w.reads(conclusion, "")
			return len(sizes)
		}
		if n := costs("success"); n > 1+13+1+121 {
			t.Errorf("the first look sends %d queries: %v", n, sizes)
		}
		if n := costs("success"); n > 13 {
			t.Errorf("the next one sends %d queries: %v", n, sizes)
		}
		id := do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{
			By: "sage[bot]", State: "COMMENTED", Body: plainNo, Comments: []sandbox.LineComment{{Path: "cart.go", Line: 3, Body: "It leaks."}},
		}))
		if n := costs("failure"); n > 14 {
			t.Errorf("after a review a look sends %d queries: %v", n, sizes)
		}
		fresh, as := *w, setup{token: "ghs_x", now: time.Now} // a process that knows no policy yet
		pages(&as)
		fresh.replica(as)
		fresh.forge.Expect(w.pr, w.g.Head(7))
		_, s := fresh.observe()
		for _, threads := range [][]quorum.Thread{w.last.Snapshot.Threads, s.Threads} {
			if len(threads) != 1 || threads[0].Body != "It leaks." {
				t.Errorf("%+v", threads)
			}
		}
		pass(5 * time.Minute)
		w.must(w.g.EditReview(id, "mallory", plainYes))
		if n := costs("failure"); n > 14 {
			t.Errorf("after an edit a look sends %d queries: %v", n, sizes)
		}
		w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
		if n := costs(""); n > 14 {
			t.Errorf("after a push a look sends %d queries: %v", n, sizes)
		}
	})
}
