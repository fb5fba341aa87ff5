package github_test

// What hostile authors and unlucky moments have done through GitHub, and what must hold against it.

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const (
	oneOpenai  = "version: 1\nquorum: 1\nreviewers:\n  - {name: openai, workflow: .github/workflows/openai.yml, heading: '## OpenAI Review'}\n"
	oneSage    = "version: 1\nquorum: 1\nreviewers:\n  - {name: sage, author: 'sage[bot]'}\n"
	oneCopilot = "version: 1\nquorum: 1\nreviewers:\n  - {preset: copilot, timeout: 10m}\n"
	openaiNo   = "## OpenAI Review\n\nThe cart is emptied twice.\n\n**Ready to merge?** No\n"
	plainYes   = "Read all of it.\n\n**Ready to merge?** Yes\n"
	plainNo    = "The cart is emptied twice.\n\n**Ready to merge?** No\n"
	couldNot   = "Copilot encountered an error and was unable to review this pull request. You can try again by re-requesting a review."
	outage     = "Error: 503 Service Unavailable"
)

func under(policy string) func(*setup) { return func(s *setup) { s.policy = policy } }

// asCarol looks with a person's token, which can keep no record.
func asCarol(s *setup) { s.token, s.sand.TokenOwner = "ghp_x", "carol" }

// withheld wants the last look not to have passed.
func (w *world) withheld() {
	w.t.Helper()
	if w.last.Decision.Verdict == quorum.Passed {
		w.t.Errorf("it passes: %s", w.last.Check.Title)
	}
}

// noneGreen wants no check of ours on the head to be green.
func (w *world) noneGreen() {
	w.t.Helper()
	for _, c := range w.g.OwnCheckRuns(w.g.Head(7)) {
		if c.Conclusion == "success" {
			w.t.Errorf("%s is green: %q", c.Name, c.Title)
		}
	}
}

// beside is another process that looks at the same pull request.
func (w *world) beside() *world {
	other := *w
	other.replica(setup{token: "ghs_x", now: time.Now})
	other.loop.Seen = func(loop.Look) {}
	return &other
}

// once does something before the first request of a kind.
func (w *world) once(is func(*http.Request) bool, do func()) {
	done := false
	w.g.BeforeRequest(func(r *http.Request) {
		if !done && is(r) {
			done = true
			do()
		}
	})
}

func TestNoCheckOutlivesItsPolicyGreen(t *testing.T) {
	const gate = "version: 1\ncheck: Gate\nquorum: 1\nreviewers:\n  - {name: sage, author: 'sage[bot]'}\n"
	for name, then := range map[string]string{
		"another name":  strings.Replace(gate, "Gate", "Other", 1),
		"out of range":  strings.Replace(gate, "quorum: 1", "quorum: 7", 1),
		"no YAML":       "check: Gate\nquorum: [\n",
		"another shape": "version: 1\ncheck: Gate\nreviewers: 5\n",
		"a list's name": strings.Replace(gate, "Gate", "[Gate]", 1),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(gate))
				w.look()
				w.comment("sage[bot]", plainYes)
				w.look()
				w.reads("success", "")
				w.g.SetFile(".github/review-coordinator.yml", "", then)
				pass(time.Minute)
				w.comment("sage[bot]", plainNo)
				w.look()
				w.noneGreen()
			})
		})
	}
}

// A run that was created in the second of the retarget replays the base that was left.
func TestARunOfTheBaseThatWasLeftPassesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(oneOpenai), func(s *setup) { s.pull.Base = "easy" })
		run := w.start(openaiFile)
		w.must(w.g.Retarget(7, "main", "alice"))
		pass(30 * time.Second)
		w.comment(actionsBot, openaiYes)
		w.finish(run, sandbox.Finish{})
		pass(time.Second)
		w.look()
		w.noneGreen()
	})
}

// a replica answers GraphQL with what it knew first.
type replica struct {
	next  http.RoundTripper
	first []byte
}

func (s *replica) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := s.next.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/graphql") {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if s.first == nil {
		s.first = body
	}
	res.Header.Del("Content-Length")
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(s.first)), int64(len(s.first))
	return res, nil
}

// REST shows the new words of a review before GraphQL shows who wrote them.
func TestWordsOfAnUnknownEditorPassNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(oneSage), func(s *setup) {
			s.wire = func(next http.RoundTripper) http.RoundTripper { return &replica{next: next} }
		})
		id := do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", Body: "It is hard to say."}))
		w.look()
		pass(time.Minute)
		w.must(w.g.EditReview(id, "alice", plainYes))
		_, _ = w.loop.Reconcile(t.Context(), w.pr) // it may also say that it cannot tell
		w.withheld()
	})
}

// A comment that is deleted between two pages makes another fall through.
func TestNoCommentFallsBetweenTwoPages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under("version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - {name: sage, author: 'sage[bot]'}\n  - {name: owl, author: 'owl[bot]'}\n"))
		first := w.comment("alice", "chatter")
		w.comment("sage[bot]", plainYes)
		for i := range 98 {
			w.comment("alice", fmt.Sprint("chatter ", i))
		}
		w.comment("owl[bot]", plainNo) // the 101st
		w.once(func(r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/comments") && r.URL.Query().Get("page") == "2"
		}, func() { w.must(w.g.DeleteComment(first)) })
		if _, err := w.loop.Reconcile(t.Context(), w.pr); err == nil {
			t.Errorf("%d comments were read, and nothing is said of the one that is missing", len(w.last.Snapshot.Comments))
		}
		w.noneGreen()
		w.look()
		w.noneGreen()
	})
}

// latecomer delivers runs and checks only after the comments.
type latecomer struct {
	next http.RoundTripper
	gate chan struct{}

	mu   sync.Mutex
	then func() // between the two; nil: nothing is late
}

func (s *latecomer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	then := s.then
	if then != nil && strings.HasSuffix(r.URL.Path, "/issues/7/comments") {
		s.then = nil
	}
	s.mu.Unlock()
	switch {
	case then == nil:
	case strings.HasSuffix(r.URL.Path, "/issues/7/comments"):
		res, err := s.next.RoundTrip(r)
		then()
		close(s.gate)
		return res, err
	case strings.HasSuffix(r.URL.Path, "/actions/runs"), strings.HasSuffix(r.URL.Path, "/check-runs") && r.Method == http.MethodGet:
		<-s.gate
	}
	return s.next.RoundTrip(r)
}

// The words of a sticky comment are read before it is edited, its editor and the end of the run after that.
func TestNoWordsAreOlderThanTheirEdit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		late := &latecomer{gate: make(chan struct{})}
		w := newWorld(t, under(oneOpenai), func(s *setup) {
			s.wire = func(next http.RoundTripper) http.RoundTripper {
				late.next = next
				return late
			}
		})
		w.look()
		run := w.start(openaiFile)
		sticky := w.comment(actionsBot, openaiYes)
		pass(time.Minute)
		w.finish(run, sandbox.Finish{})
		w.look()
		w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
		pass(10 * time.Second)
		run = w.start(openaiFile)
		w.look()
		pass(time.Minute)
		late.then = func() {
			w.must(w.g.EditComment(sticky, actionsBot, openaiNo))
			w.finish(run, sandbox.Finish{})
			pass(time.Second)
		}
		_, _ = w.loop.Reconcile(t.Context(), w.pr) // it may also say that it cannot tell
		w.withheld()
		w.noneGreen()
	})
}

func TestAPersonAsksAndRunsAgainOnce(t *testing.T) {
	failing := func(w *world) {
		_, _ = w.g.Review(7, sandbox.ReviewSpec{By: copilotBot, Body: couldNot})
	}
	for name, change := range map[string]func(w *world){
		"a failed review": failing,
		"a base that goes and comes back": func(w *world) {
			pass(time.Minute)
			w.must(w.g.Retarget(7, "dev", "alice"))
			w.must(w.g.Retarget(7, "main", "alice"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(oneCopilot), asCarol)
				w.g.OnReviewerAsked(func(string, string) {
					go func() {
						pass(20 * time.Second)
						failing(w)
					}()
				})
				change(w)
				_, _ = w.loop.Stay(t.Context(), w.pr, loop.Stay{Wait: true, Poll: 15 * time.Second})
				pass(time.Minute)
				if n := len(w.g.Wrote().RequestedReviews); n > 2 {
					t.Errorf("Copilot was asked %d times", n)
				}
			})
		})
	}
	t.Run("a run, while GitHub shows its old attempt", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, under(oneOpenai), asCarol, func(s *setup) { s.sand.Lag.Rerun = 20 * time.Second })
			w.look()
			run := w.start(openaiFile)
			pass(5 * time.Second)
			w.finish(run, sandbox.Finish{Conclusion: "failure", Log: outage})
			w.look()
			pass(2 * time.Minute)
			w.g.ForgetRequests()
			for range 10 {
				w.look()
				pass(2 * time.Second)
			}
			if n := strings.Count(w.requests(), "/rerun"); n != 1 {
				t.Errorf("it is run again %d times, want once", n)
			}
		})
	})
}

func TestAPersonsWaitEnds(t *testing.T) {
	for _, base := range []string{"main", "dev"} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, under(oneSage), asCarol, func(s *setup) { s.pull.Base = base })
			for range 20 {
				w.look()
				pass(5 * time.Minute)
			}
			if w.last.Decision.Verdict == quorum.Waiting {
				t.Errorf("against %s it still waits after 95 minutes: %s", base, w.last.Check.Title)
			}
		})
	}
}

// The process that has seen less writes last.
func TestWhoSawLessTurnsNothingGreen(t *testing.T) {
	for name, method := range map[string]string{"a check that stands": http.MethodPatch, "a new one": http.MethodPost} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(
					t,
					under("version: 1\nquorum: 1\ngrace: 1m\nreviewers:\n  - {name: sage, author: 'sage[bot]'}\n  - {name: owl, author: 'owl[bot]'}\n"),
				)
				if method == http.MethodPatch {
					w.look()
				}
				w.comment("sage[bot]", plainYes)
				pass(time.Minute + time.Second)
				raced, other := false, w.beside()
				w.once(func(r *http.Request) bool {
					return r.Method == method && strings.Contains(r.URL.Path, "/check-runs")
				}, func() {
					raced = true
					w.comment("owl[bot]", plainNo)
					other.look()
				})
				_, _ = w.loop.Reconcile(t.Context(), w.pr) // it may also say that another one was there
				if !raced {
					t.Fatal("nothing was written")
				}
				w.noneGreen()
			})
		})
	}
}

func TestASharedRunIsRunAgainOnce(t *testing.T) {
	for _, lag := range []time.Duration{-1, 5 * time.Second} {
		bubble(t, func(t *testing.T) {
			w := newWorld(
				t,
				under(
					"version: 1\nquorum: 2\nreviewers:\n"+
						"  - {name: sec, workflow: .github/workflows/openai.yml, heading: '## Sec'}\n"+
						"  - {name: style, workflow: .github/workflows/openai.yml, heading: '## Style'}\n",
				),
				func(s *setup) { s.sand.Lag.Rerun = lag },
			)
			w.look()
			run := w.start(openaiFile)
			pass(5 * time.Second)
			w.finish(run, sandbox.Finish{Conclusion: "failure", Log: outage})
			w.look()
			pass(2 * time.Minute)
			w.g.ForgetRequests()
			w.look()
			if n := strings.Count(w.requests(), "/rerun"); n != 1 {
				t.Errorf("with a lag of %s it is run again %d times, want once", lag, n)
			}
		})
	}
}

// What a reviewer says late is about the head it has read.
func TestALateAnswerPassesNoLaterHead(t *testing.T) {
	for name, c := range map[string]struct {
		pushes int
		change func(*setup)
	}{
		"a job's token":            {1, func(*setup) {}},
		"a person's":               {1, asCarol},
		"more commits than listed": {25, func(*setup) {}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(oneSage), c.change)
				w.look()
				pass(time.Minute)
				for i := range c.pushes {
					w.must(w.g.Push(7, fmt.Sprintf("c%d", i), sandbox.PushSpec{}))
				}
				pass(5 * time.Second)
				w.look()
				pass(5 * time.Second)
				w.comment("sage[bot]", plainYes)
				w.look()
				w.withheld()
			})
		})
	}
}

func TestAThreadThatIsOpenedAgainIsSeen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(oneCopilot))
		w.look()
		do[int64](
			t,
		)(
			w.g.Review(
				7,
				sandbox.ReviewSpec{
					By:       copilotBot,
					Body:     "Copilot reviewed 1 out of 1 changed files in this pull request and generated 1 comment.",
					Comments: []sandbox.LineComment{{Path: "a.go", Line: 3, Body: "It leaks."}},
				},
			),
		)
		w.look()
		w.must(w.g.ResolveThreads(7, copilotBot, "bob"))
		pass(time.Minute)
		w.look()
		w.reads("success", "")
		w.must(w.g.UnresolveThreads(7, copilotBot))
		pass(time.Minute)
		w.look()
		w.reads("failure", "")
	})
}

func TestTheCheckLinksToNoStranger(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under("version: 1\nquorum: 1\nreviewers:\n  - {name: sonar, status: sonarqube, author: 'sonarbot[bot]', verdict: conclusion}\n"))
		do[int64](
			t,
		)(
			w.g.SetStatus(
				sandbox.CommitStatus{
					Head:      w.g.Head(7),
					Context:   "sonarqube",
					State:     "success",
					By:        "sonarbot[bot]",
					TargetURL: "https://evil.example/acme/shop/pull/7?steal=1",
				},
			),
		)
		w.look()
		if c := w.own(); strings.Contains(c.Summary, "](https://evil.example") {
			t.Errorf("a stranger's address is a link of ours:\n%s", c.Summary)
		}
	})
}

func TestAKeyInALogStaysThere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(oneOpenai))
		w.look()
		run := w.start(openaiFile)
		pass(5 * time.Second)
		w.finish(
			run,
			sandbox.Finish{
				Conclusion: "failure",
				Log: "2026-11-01T10:00:00.0000000Z Error: 401 Incorrect API key provided: sk-proj-CANARYCANARYCANARY1234567890. " +
					"You can find your API key in your account.\n",
			},
		)
		w.look()
		if c := w.own(); strings.Contains(c.Title+c.Summary+c.Text, "CANARY") {
			t.Errorf("a key from a log stands in the check:\n%s", c.Summary)
		}
	})
}

// A late event of a pull request that is closed, whose head another one has now.
func TestAClosedPullRequestEndsNoOthersCheck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(oneSage))
		w.look()
		w.must(w.g.Close(7, "alice"))
		w.g.OpenPull(sandbox.PullSpec{Number: 8, Head: "a1", Branch: "again", Author: "alice"})
		do[time.Time](t)(w.loop.Reconcile(t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: 8}))
		w.look()
		for _, c := range w.g.OwnCheckRuns(w.g.Head(8)) {
			if c.Conclusion == "cancelled" {
				t.Errorf("the check on which #8 waits was ended: %q", c.Title)
			}
		}
	})
}

// A stranger's command is read wherever it stands in a long comment, of which no other word is kept.
func TestACommandInALongComment(t *testing.T) {
	for name, words := range map[string]string{"a command": "\n@CodeRabbitAI approve\n", "none": "\n@CodeRabbitAI thanks\n"} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, under("version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - preset: coderabbit\n"))
			pass(time.Minute)
			w.comment("mallory", strings.Repeat("x", 5000)+words+strings.Repeat("y", 5000))
			pass(time.Minute)
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "coderabbitai[bot]", State: "APPROVED"}))
			pass(time.Minute)
			w.look()
			if b := w.last.Decision.Ballots[0]; (b.Vote == quorum.Approve) == (name == "a command") {
				t.Errorf("after %s it is %s, %s", name, b.Vote, b.Reason)
			}
		})
	}
}

// A job that waits for a thread to be resolved asks once a minute: GITHUB_TOKEN has 1,000 points an hour for all that
// run in a repository.
func TestAWaitForAThreadCostsFewPoints(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, asJob, func(s *setup) {
			s.policy = "version: 1\nquorum: 2\nreviewers:\n" +
				"  - {name: sage, author: 'sage[bot]', timeout: 50m}\n  - {name: moss, author: 'moss[bot]', timeout: 50m}\n"
		})
		w.look()
		do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{
			By: "sage[bot]", State: "COMMENTED", Comments: []sandbox.LineComment{{Path: "cart.go", Line: 42, Body: "Twice."}},
		}))
		before := sandbox.GraphQLPoints(w.g)
		until := time.Now().Add(40 * time.Minute)
		for time.Now().Before(until) {
			w.look()
			pass(15 * time.Second)
		}
		if n := sandbox.GraphQLPoints(w.g) - before; n > 100 || n < 40 {
			t.Errorf("40 minutes cost %d points", n)
		}
		w.must(w.g.ResolveThreads(7, "sage[bot]", "bob"))
		w.comment("moss[bot]", plainYes)
		w.look()
		w.reads("success", "2 of 2 approvals")
	})
}
