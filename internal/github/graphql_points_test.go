package github_test

import (
	"encoding/json"
	"fmt"
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

// What is asked for rarely costs a point each time: who wrote the commits, once a head, and words that are too long for
// one answer, five texts at a time.
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
		if got := q.taken(); got != "conversation: 1, conversation: 1" {
			t.Errorf("among long comments a look costs %s", got)
		}
		for range 34 {
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "mallory", State: "COMMENTED", Body: longestComment}))
		}
		w.look()
		if got := q.taken(); got != "conversation: 1, conversation: 1, bodies: 1" {
			t.Errorf("among long reviews a look costs %s", got)
		}
	})
}
