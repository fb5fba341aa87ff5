package github_test

import (
	"bytes"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A look at a comment sees what else has changed in its pull request, though no event told: all that a process sees that never
// saw it before. If nothing has, it does not read the pull request over REST.
func TestWhatElseChangedShowsBesideAComment(t *testing.T) {
	for name, change := range map[string]func(g *sandbox.GitHub) error{
		"nothing":        func(*sandbox.GitHub) error { return nil },
		"a push":         func(g *sandbox.GitHub) error { return g.Push(7, "a2", sandbox.PushSpec{}) },
		"another base":   func(g *sandbox.GitHub) error { return g.Retarget(7, "release", "alice") },
		"its end":        func(g *sandbox.GitHub) error { return g.Close(7, "alice") },
		"its merge":      func(g *sandbox.GitHub) error { return g.Merge(7, "alice") },
		"a draft":        func(g *sandbox.GitHub) error { return g.ConvertToDraft(7, "alice") },
		"a label":        func(g *sandbox.GitHub) error { return g.AddLabel(7, "urgent", "alice") },
		"one label less": func(g *sandbox.GitHub) error { return g.RemoveLabel(7, "old", "alice") },
		"a request":      func(g *sandbox.GitHub) error { return g.RequestReview(7, "bob", "alice") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				w.g.SetFile("README.md", "release", "# Shop\n")
				w.g.SetPermission("bob", "write")
				w.must(w.g.AddLabel(7, "old", "alice"))
				for range 2 {
					w.look()
					pass(time.Minute)
				}
				w.must(change(w.g))
				pass(time.Second)
				id := w.comment(actionsBot, openaiYes)
				pass(time.Second)
				w.forge.Expect(w.pr, sandbox.SHA("a1"))
				w.forge.Hear(w.pr, quorum.Touch{Event: "issue_comment", Action: "created", Author: actionsBot, Text: id})
				w.g.ForgetRequests()
				_, got := w.observe()
				isPull := func(r sandbox.LoggedRequest) bool { return strings.HasSuffix(r.Path, "/pulls/7") }
				if reads := slices.ContainsFunc(w.g.Requests(), isPull); reads != (name != "nothing") {
					t.Errorf("the pull request was read over REST: %v", reads)
				}
				fresh := *w
				fresh.replica(setup{token: "ghs_y", now: time.Now})
				if _, want := fresh.observe(); !reflect.DeepEqual(got.PR, want.PR) {
					t.Errorf("it shows\n%+v, and there is\n%+v", got.PR, want.PR)
				}
			})
		})
	}
}

// An event that says what else has changed in the pull request is looked at over REST, however late GraphQL is, and so is one
// that does not say what it is about.
func TestAChangeIsSeenThoughGraphQLLags(t *testing.T) {
	const hot = "version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n" +
		"  - {name: sec, author: \"sec[bot]\", required: true, when: {labels: [hot]}}\n"
	for name, change := range map[string]func(g *sandbox.GitHub) error{
		"labeled":            func(g *sandbox.GitHub) error { return g.AddLabel(7, "hot", "alice") },
		"edited":             func(g *sandbox.GitHub) error { return g.Retarget(7, "release", "alice") },
		"converted_to_draft": func(g *sandbox.GitHub) error { return g.ConvertToDraft(7, "alice") },
	} {
		for _, what := range []quorum.Touch{{Event: "pull_request", Action: name}, {}} {
			t.Run(name+" told by "+what.Event, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w, lag := laggingWorld(t, hot, "/graphql")
					w.g.SetFile("README.md", "release", "# Shop\n")
					w.look()
					pass(time.Minute)
					w.comment("sage[bot]", "**Ready to merge?** Yes")
					pass(time.Minute)
					w.look()
					w.reads("success", "")
					lag.lags = true
					w.must(change(w.g))
					pass(time.Second)
					w.forge.Expect(w.pr, sandbox.SHA("a1"))
					w.forge.Hear(w.pr, what, quorum.Touch{Event: "issue_comment", Action: "created", Author: "mallory"})
					isGreen := func(c sandbox.StoredCheckRun) bool { return c.Conclusion == "success" }
					for range 3 {
						_, err := w.loop.Reconcile(w.t.Context(), w.pr)
						if err == nil && slices.ContainsFunc(w.g.OwnCheckRuns("a1"), isGreen) {
							t.Fatalf("a look that was whole left it green")
						}
						pass(time.Second)
						lag.lags = false
					}
					if slices.ContainsFunc(w.g.OwnCheckRuns("a1"), isGreen) {
						t.Error("it is still green")
					}
				})
			})
		}
	}
}

// Where GraphQL shows a pull request otherwise than REST, it is read over REST beside all else, from the second time on.
func TestAPullRequestThatGraphQLShowsOtherwise(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, s := far(t)
		s.next = roundTrip(func(req *http.Request) (*http.Response, error) {
			resp, err := w.g.RoundTrip(req)
			if err == nil && req.URL.Path == "/graphql" {
				body, _ := io.ReadAll(resp.Body)
				body = bytes.ReplaceAll(body, []byte(`"changedFiles":`), []byte(`"changedFiles":1`))
				resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			}
			return resp, err
		})
		w.look()
		for n, want := range []int{3, 2, 2, 2} {
			w.start([]string{openaiFile, geminiFile}[n%2])
			w.comment("mallory", "Hello")
			if n := w.depth(s, "a1"); n != want {
				t.Errorf("its check is %d requests away, want %d:\n%s", n, want, w.requests())
			}
		}
	})
}
