package github_test

// REST and GraphQL are answered by replicas of which one may lag. What one shows and the other does not know yet must
// not pass for what it was before.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// lagging answers a path as it was answered before it lagged.
type lagging struct {
	next http.RoundTripper
	path string
	kept []byte
	lags bool
}

func (g *lagging) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(req)
	if err != nil || !strings.HasSuffix(req.URL.Path, g.path) {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	switch {
	case g.lags && g.kept != nil:
		body, resp.StatusCode = g.kept, http.StatusOK
		resp.Header.Del("ETag")
	case !g.lags && resp.StatusCode == http.StatusOK:
		g.kept = body
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// laggingWorld is a world of which one path can lag.
func laggingWorld(t *testing.T, policy, path string) (*world, *lagging) {
	lag := &lagging{path: path}
	return newWorld(t, func(s *setup) {
		s.policy = policy
		s.wire = func(next http.RoundTripper) http.RoundTripper { lag.next = next; return lag }
	}), lag
}

// through looks while one path lags for some time, and after it, as if an event had come each time.
func (w *world) through(lag *lagging, d time.Duration) (passed bool) {
	w.t.Helper()
	lag.lags = true
	for began := time.Now(); time.Since(began) < d+time.Minute; pass(400 * time.Millisecond) {
		lag.lags = lag.lags && time.Since(began) < d
		w.forge.Expect(w.pr, w.g.Head(7))
		_, _ = w.loop.Reconcile(w.t.Context(), w.pr) // moved, as long as the two differ
		passed = passed || w.own().Conclusion == "success"
	}
	return passed
}

const (
	bySage    = "version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n"
	oneGemini = "version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - {name: gemini, workflow: .github/workflows/gemini.yml, heading: \"## Gemini Review\"}\n"
)

func TestGraphQLBehindREST(t *testing.T) {
	yes, no := "**Ready to merge?** Yes", "**Ready to merge?** No"
	for name, does := range map[string]func(w *world){
		"a review edited by somebody else": func(w *world) {
			id := do[int64](w.t)(w.g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "COMMENTED", Body: no}))
			pass(3 * time.Second)
			w.must(w.g.EditReview(id, "mallory", yes))
		},
		"a review with a thread": func(w *world) {
			do[int64](w.t)(w.g.Review(7, sandbox.ReviewSpec{
				By: "sage[bot]", State: "COMMENTED", Body: yes,
				Comments: []sandbox.LineComment{{Path: "cart.go", Line: 3, Body: "It is emptied twice."}},
			}))
		},
		"a comment edited by somebody else in its own second": func(w *world) {
			id := w.comment("sage[bot]", no)
			w.must(w.g.EditComment(id, "mallory", yes))
		},
	} {
		for _, d := range []time.Duration{1500 * time.Millisecond, 20 * time.Second} {
			t.Run(fmt.Sprint(name, " ", d), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w, lag := laggingWorld(t, bySage, "/graphql")
					w.look()
					w.look()
					pass(time.Minute)
					does(w)
					pass(time.Second)
					if w.through(lag, d) {
						t.Error("it passed")
					}
				})
			})
		}
	}
}

// A text that GraphQL knows at once passes at once.
func TestNothingLags(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := laggingWorld(t, bySage, "/graphql")
		w.look()
		pass(time.Minute)
		w.comment("sage[bot]", "**Ready to merge?** Yes")
		w.look()
		w.reads("success", "")
	})
}

// A text that GraphQL never shows counts for nothing, and holds nothing up for ever.
func TestATextThatGraphQLNeverShows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, lag := laggingWorld(t, bySage, "/graphql")
		w.look()
		w.look()
		pass(time.Minute)
		for who, says := range map[string]string{"mallory": "Hello", "sage[bot]": "**Ready to merge?** Yes"} { // mallory is no reviewer
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: who, State: "COMMENTED", Body: says}))
		}
		lag.lags = true
		ended := false
		for began := time.Now(); time.Since(began) < time.Minute; pass(time.Second) {
			w.forge.Expect(w.pr, w.g.Head(7))
			_, s, err := w.forge.Observe(t.Context(), w.pr)
			if ended = err == nil; ended && time.Since(began) < 20*time.Second {
				t.Errorf("it is taken for granted after %s", time.Since(began))
			}
			if ended && (len(s.Reviews) != 2 || s.Reviews[1].Editor.Login != "" || s.Reviews[1].Edited.IsZero()) {
				t.Errorf("%+v", s.Reviews)
			}
		}
		if !ended {
			t.Error("no look came to an end")
		}
	})
}

// Comments are told by REST or by GraphQL: whichever lags, the words of an old head pass no new one.
func TestASourceOfCommentsLags(t *testing.T) {
	for _, path := range []string{"/issues/7/comments", "/graphql"} {
		bubble(t, func(t *testing.T) {
			w, lag := laggingWorld(t, oneGemini, path)
			run := w.start(geminiFile)
			pass(10 * time.Second)
			id := w.comment(actionsBot, geminiYes)
			pass(5 * time.Second)
			w.finish(run, sandbox.Finish{Conclusion: "success"})
			pass(2 * time.Minute)
			w.look()
			w.look()
			w.reads("success", "")
			w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
			pass(time.Second)
			w.look()
			run = w.start(geminiFile)
			pass(20 * time.Second)
			lag.lags = true
			w.must(w.g.EditComment(id, actionsBot, geminiNo)) // its sticky comment
			pass(time.Second)
			w.finish(run, sandbox.Finish{Conclusion: "success"})
			if w.through(lag, 1200*time.Millisecond) {
				t.Error("the words of the old head passed the new one")
			}
			w.reads("failure", "")
		})
	}
}

// What an event told of is waited for: a list that lags must not use the event up. What a stranger wrote is not, and
// nothing for ever.
func TestWhatAnEventToldIsWaitedFor(t *testing.T) {
	no := sandbox.ReviewSpec{By: "sage[bot]", State: "CHANGES_REQUESTED", Body: "No."}
	for name, c := range map[string]struct {
		path  string
		does  func(w *world) quorum.Touch
		waits bool
	}{
		"a review": {"/pulls/7/reviews", func(w *world) quorum.Touch {
			return quorum.Touch{Event: "pull_request_review", Action: "submitted", Author: "Sage[bot]", Text: do[int64](w.t)(w.g.Review(7, no))}
		}, false}, // it is read by its id
		"an edited comment": {"/issues/7/comments", func(w *world) quorum.Touch {
			pass(time.Minute)
			w.must(w.g.EditComment(w.last7(), "sage[bot]", "**Ready to merge?** No"))
			return quorum.Touch{Event: "issue_comment", Action: "edited", Author: "sage[bot]", Text: w.last7(), At: time.Now().Unix()}
		}, false},
		"a review that is nowhere": {"/nothing", func(*world) quorum.Touch {
			return quorum.Touch{Event: "pull_request_review", Action: "submitted", Author: "sage[bot]", Text: 4242}
		}, true},
		"an edited review": {"/pulls/7/reviews", func(w *world) quorum.Touch {
			id := do[int64](w.t)(w.g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "COMMENTED", Body: "**Ready to merge?** Yes"}))
			w.look()
			w.must(w.g.EditReview(id, "sage[bot]", "**Ready to merge?** No"))
			return w.touch(
				"pull_request_review", "edited",
				fmt.Sprintf(`"review":{"id":%d,"body":"**Ready to merge?** No\r\n","user":{"login":"sage[bot]"}}`, id),
			)
		}, false},
		"a review of which an edit is shown nowhere": {"/nothing", func(w *world) quorum.Touch {
			id := do[int64](w.t)(w.g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "COMMENTED", Body: "**Ready to merge?** No"}))
			return w.touch(
				"pull_request_review", "edited",
				fmt.Sprintf(`"review":{"id":%d,"body":"**Ready to merge?** No, never","user":{"login":"sage[bot]"}}`, id),
			)
		}, true},
		"a comment that was edited twice within a second": {"/nothing", func(w *world) quorum.Touch {
			return w.touch(
				"issue_comment", "edited",
				fmt.Sprintf(
					`"comment":{"id":%d,"body":"**Ready to merge?** No","updated_at":%q,"user":{"login":"sage[bot]"}}`, w.last7(),
					time.Now().UTC().Format(time.RFC3339),
				),
			)
		}, true},
		"a comment that was edited since": {"/nothing", func(w *world) quorum.Touch {
			touch := w.touch(
				"issue_comment", "edited",
				fmt.Sprintf(
					`"comment":{"id":%d,"body":"**Ready to merge?** Hm","updated_at":%q,"user":{"login":"sage[bot]"}}`, w.last7(),
					time.Now().UTC().Format(time.RFC3339),
				),
			)
			pass(time.Second)
			w.must(w.g.EditComment(w.last7(), "sage[bot]", "**Ready to merge?** No"))
			return touch
		}, false},
		"a stranger's that is nowhere": {"/nothing", func(*world) quorum.Touch {
			return quorum.Touch{Event: "issue_comment", Action: "created", Author: "mallory", Text: 4242}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, lag := laggingWorld(t, bySage, c.path)
				w.comment("sage[bot]", "**Ready to merge?** Yes")
				w.look()
				w.look()
				w.reads("success", "")
				touch := c.does(w)
				lag.lags = true
				w.forge.Expect(w.pr, "")
				w.forge.Hear(w.pr, touch)
				_, s, err := w.forge.Observe(t.Context(), w.pr)
				if (err != nil) != c.waits {
					t.Errorf("the first look: %v", err)
				}
				if told := slices.ContainsFunc(
					slices.Concat(s.Comments, s.Reviews),
					func(o quorum.Text) bool { return o.ID == touch.Text && !strings.Contains(o.Body, "Yes") },
				); !c.waits &&
					told != (touch.Text != 4242) {
					t.Errorf("it shows %+v %+v", s.Comments, s.Reviews)
				}
				lag.lags = false
				pass(30 * time.Second)
				if _, _, err := w.forge.Observe(t.Context(), w.pr); err != nil {
					t.Errorf("half a minute later: %v", err)
				}
			})
		})
	}
	bubble(t, func(t *testing.T) {
		w, _ := laggingWorld(t, bySage, "/nothing")
		w.look()
		for _, action := range []string{"created", "deleted"} {
			w.forge.Hear(w.pr, quorum.Touch{Event: "issue_comment", Action: action, Author: "sage[bot]", Text: 4242})
		}
		if _, _, err := w.forge.Observe(t.Context(), w.pr); err != nil {
			t.Errorf("a comment that was deleted is waited for: %v", err)
		}
	})
}

// touch is what the event called name says of pull request 7.
func (w *world) touch(name, action, what string) quorum.Touch {
	w.t.Helper()
	e, err := webhook.Parse(
		name,
		fmt.Appendf(
			nil,
			`{"action":%q,%s,"pull_request":{"number":7},"issue":{"number":7,"pull_request":{}},"repository":{"full_name":"acme/shop"}}`,
			action,
			what,
		),
	)
	w.must(err)
	return e.Touch
}

// Of several edits the last one is waited for, in whatever order they are told if GitHub dates them.
func TestTheLastOfSeveralEditsIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		told  []string
		at    []int // seconds; none: a review
		waits bool
	}{
		"of a review":                 {told: []string{"Once", "Twice"}, waits: false},
		"of a review, the first only": {told: []string{"Once"}, waits: true},
		"of a comment":                {told: []string{"Once", "Twice"}, at: []int{-1, 0}, waits: false},
		"of a comment, out of order":  {told: []string{"Twice", "Once"}, at: []int{0, -1}, waits: false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, _ := laggingWorld(t, bySage, "/nothing")
				id := do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "COMMENTED", Body: "Twice"}))
				comment := w.comment("sage[bot]", "Hello")
				pass(time.Minute)
				w.must(w.g.EditComment(comment, "sage[bot]", "Twice"))
				edited := time.Now().UTC()
				pass(time.Minute)
				for n, body := range c.told {
					event, what := "pull_request_review", fmt.Sprintf(`"review":{"id":%d,"body":%q,"user":{"login":"sage[bot]"}}`, id, body)
					if c.at != nil {
						at := edited.Add(time.Duration(c.at[n]) * time.Second).Format(time.RFC3339)
						event, what = "issue_comment", fmt.Sprintf(
							`"comment":{"id":%d,"body":%q,"updated_at":%q,"user":{"login":"sage[bot]"}}`,
							comment,
							body,
							at,
						)
					}
					w.forge.Hear(w.pr, w.touch(event, "edited", what))
				}
				if _, _, err := w.forge.Observe(t.Context(), w.pr); (err != nil) != c.waits {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// A dismissal that only one of the two knows of: neither the objection is gone nor the approval still there.
func TestADismissalThatLags(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, lag := laggingWorld(t, bySage+"  - {name: fox, author: \"fox[bot]\"}\n", "/graphql")
		w.look()
		pass(time.Minute)
		id := do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "CHANGES_REQUESTED", Body: "Hm."}))
		w.comment("fox[bot]", "**Ready to merge?** Yes")
		pass(2 * time.Second)
		w.must(w.g.DismissReview(id, "alice"))
		if w.through(lag, 5*time.Second) {
			t.Error("an objection that the pull request's author dismissed is gone")
		}
		w.reads("failure", "")
	})
	bubble(t, func(t *testing.T) {
		w, lag := laggingWorld(t, bySage, "/pulls/7/reviews")
		w.look()
		pass(time.Minute)
		id := do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "**Ready to merge?** Yes"}))
		_, _, err := w.forge.Observe(t.Context(), w.pr) // REST is asked
		w.must(err)
		pass(time.Second)
		w.must(w.g.DismissReview(id, "bob"))
		w.forge.Forget(w.pr)
		if w.through(lag, 5*time.Second) {
			t.Error("an approval that was dismissed passed")
		}
	})
}

// A dismissal that was told stays told, whatever event follows.
func TestADismissalIsNotForgotten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, lag := laggingWorld(t, bySage, "/nothing")
		id := do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "Fine."}))
		w.look()
		lag.lags = true
		for _, action := range []string{"dismissed", "edited"} {
			w.forge.Hear(w.pr, quorum.Touch{Event: "pull_request_review", Action: action, Author: "sage[bot]", Text: id})
		}
		if _, _, err := w.forge.Observe(t.Context(), w.pr); err == nil {
			t.Error("an approval that was said to be dismissed is believed")
		}
	})
}

// A person's review that GraphQL does not show yet may have been edited by anybody: the look waits for that, and not for a stranger's.
func TestAPersonsReviewThatLags(t *testing.T) {
	for by, waits := range map[string]bool{"bob": true, "mallory": false} {
		bubble(t, func(t *testing.T) {
			w, lag := laggingWorld(t, bySage, "/graphql")
			w.g.SetPermission("bob", "write")
			w.look()
			pass(time.Minute)
			lag.lags = true
			do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: by, State: "APPROVED"}))
			if _, _, err := w.forge.Observe(t.Context(), w.pr); (err != nil) != waits {
				t.Errorf("the approval of %s: %v", by, err)
			}
		})
	}
}

// Who is no reviewer holds no look up, however much he writes while GraphQL lags.
func TestAStrangerHoldsNothingUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, lag := laggingWorld(t, bySage, "/graphql")
		w.look()
		w.look()
		lag.lags = true
		for n := range 30 {
			w.comment("mallory", fmt.Sprint("Hello ", n))
			w.forge.Expect(w.pr, "")
			if _, _, err := w.forge.Observe(t.Context(), w.pr); err != nil {
				t.Fatalf("look %d: %v", n, err)
			}
			pass(900 * time.Millisecond)
		}
	})
}

// A 404 of one part of what is there is a replica's, and no end.
func TestA404OfAPart(t *testing.T) {
	for _, part := range []string{
		"GET /repos/acme/shop/pulls/7/reviews", "GET /repos/acme/shop/issues/7/comments", "GET /repos/acme/shop/pulls/7/files",
		"GET /repos/acme/shop/actions/runs", "GET /repos/acme/shop/commits/**", "POST /graphql",
	} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			w.start(openaiFile)
			w.look()
			fault := sandbox.Fault{Kind: sandbox.FaultAnswer, Match: part, Status: http.StatusNotFound, Body: `{"message":"Not Found"}`, Times: 1}
			if part == "POST /graphql" {
				fault.Status, fault.Body = http.StatusOK, `{"data":{"repository":{"pullRequest":null}},"errors":[{"type":"NOT_FOUND",`+
					`"path":["repository","pullRequest"],"message":"Could not resolve to a PullRequest with the number of 7."}]}`
			}
			w.forge.Forget(w.pr)
			w.g.AddFault(fault)
			_, _, err := w.forge.Observe(t.Context(), w.pr)
			var again interface{ Temporary() bool }
			if client.IsNotFound(err) || !errors.As(err, &again) {
				t.Errorf("%s: %v", part, err)
			}
		})
	}
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.look()
		if _, _, err := w.forge.Observe(t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: 99}); !client.IsNotFound(err) {
			t.Errorf("one that is not there: %v", err)
		}
	})
}

// A workflow file whose name begins like the reviewer's is another file.
func TestAFileNameThatHoldsAnAt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		other := ".github/workflows/gemini.yml@x.yml"
		w := newWorld(t, func(s *setup) {
			s.policy = "version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n" +
				"  - {name: gemini, workflow: .github/workflows/gemini.yml, verdict: conclusion, failure_means: findings}\n" +
				"guard: [\".github/workflows/gemini.yml\"]\n"
			s.pull.Files = []sandbox.ChangedFile{{Path: "cart.go"}, {Path: other}}
		})
		for file, conclusion := range map[string]string{geminiFile: "failure", other: "success"} {
			run := w.start(file)
			pass(time.Minute)
			w.finish(run, sandbox.Finish{Conclusion: conclusion})
		}
		pass(time.Second)
		w.look()
		w.reads("failure", "")
	})
}

// The first head was approved by its short id. The head now, many commits on, was made to begin alike.
func TestAShortIDOfAnOldHead(t *testing.T) {
	for _, more := range []int{5, evidence.ListedCommits - 2, evidence.ListedCommits - 1, 18, 25} {
		bubble(t, func(t *testing.T) {
			old, crafted := "abcdef1234"+strings.Repeat("0", 30), "abcdef1234"+strings.Repeat("1", 30)
			w := newWorld(t, func(s *setup) {
				s.policy = "version: 1\nquorum: 1\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n"
				s.pull.Head = old
			})
			w.look()
			pass(time.Minute)
			w.comment("sage[bot]", "## Review\n\nReviewed commit: `abcdef1234`\n\n**Ready to merge?** Yes\n")
			pass(time.Minute)
			w.look()
			w.reads("success", "")
			for n := range more {
				w.must(w.g.Push(7, fmt.Sprintf("c%d", n), sandbox.PushSpec{}))
			}
			w.must(w.g.Push(7, crafted, sandbox.PushSpec{}))
			pass(time.Minute)
			w.look()
			if c := w.own(); c.Status == "completed" {
				t.Errorf("%d commits on: %s %q", more+1, c.Conclusion, c.Title)
			}
		})
	}
}

// A reviewer that names the head by a short id is heard in a long pull request, too.
func TestAShortIDInALongPullRequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) {
			s.policy = "version: 1\nquorum: 1\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n"
		})
		for n := range 25 {
			w.must(w.g.Push(7, fmt.Sprintf("c%d", n), sandbox.PushSpec{}))
		}
		head := "abcdef1234" + strings.Repeat("1", 30)
		w.must(w.g.Push(7, head, sandbox.PushSpec{}))
		w.look()
		pass(time.Minute)
		w.comment("sage[bot]", "## Review\n\nReviewed commit: `abcdef1234`\n\n**Ready to merge?** Yes\n")
		pass(time.Minute)
		w.look()
		w.reads("success", "")
	})
}

// Before a pass is written, both REST and GraphQL have shown the comments: one that the query does not show yet, not as it was
// edited, or still though it was deleted, stops it, whoever looks, and though no event told of it.
func TestNoPassOnCommentsOfALaggingQuery(t *testing.T) {
	for name, change := range map[string]func(*setup){"an App": func(*setup) {}, "a job": asJob} {
		for _, isFresh := range []bool{false, true} {
			for what, happen := range map[string]func(g *sandbox.GitHub, id int64) error{
				"edited":  func(g *sandbox.GitHub, id int64) error { return g.EditComment(id, actionsBot, geminiNo) },
				"deleted": func(g *sandbox.GitHub, id int64) error { return g.DeleteComment(id) },
			} {
				t.Run(fmt.Sprint(name, ", a process of its own: ", isFresh, ", ", what), func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						lag := &lagging{path: "/graphql"}
						wire := func(next http.RoundTripper) http.RoundTripper { lag.next = next; return lag }
						w := newWorld(t, change, func(s *setup) { s.policy, s.wire = oneGemini, wire })
						w.look()
						run := w.start(geminiFile)
						pass(10 * time.Second)
						id := w.comment(actionsBot, geminiYes)
						pass(time.Second)
						w.forge.Expect(w.pr, w.g.Head(7), run)
						w.look()
						pass(20 * time.Second)
						lag.lags = true
						w.must(happen(w.g, id))
						pass(time.Second)
						w.finish(run, sandbox.Finish{Conclusion: "success"})
						who := *w
						if isFresh {
							as := setup{token: "ghs_y", now: time.Now, wire: wire}
							change(&as)
							who.replica(as)
						}
						if who.through(lag, 5*time.Second) {
							t.Error("it passed in between")
						}
						if is := who.own().Conclusion; is == "success" {
							t.Error("it passes in the end")
						}
					})
				})
			}
		}
	}
}

// The same where the clock alone brings the look that would pass.
func TestNoPassAtTheEndOfTheGraceOnALaggingQuery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		lag := &lagging{path: "/graphql"}
		w := newWorld(t, asJob, func(s *setup) {
			s.policy = "version: 1\nquorum: 1\ngrace: 2m\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n  - {name: sec, author: \"sec[bot]\"}\n"
			s.wire = func(next http.RoundTripper) http.RoundTripper { lag.next = next; return lag }
		})
		w.look()
		pass(time.Minute)
		w.comment("sage[bot]", "**Ready to merge?** Yes")
		pass(time.Second)
		wake := w.look()
		pass(time.Until(wake) - 3*time.Second)
		lag.lags = true
		w.comment("sec[bot]", "**Ready to merge?** No")
		pass(4 * time.Second)
		if _, err := w.loop.Reconcile(w.t.Context(), w.pr); err == nil || w.own().Conclusion == "success" {
			t.Errorf("it reads %q: %v", w.own().Title, err)
		}
		lag.lags = false
		w.look()
		w.reads("failure", "")
	})
}
