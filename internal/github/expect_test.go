package github_test

// What an event's look costs in requests that wait for each other, and that reading side by side is believed no more
// than reading in order.

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// Where a policy stands.
const (
	policyPath = ".github/review-coordinator.yml"
	otherPath  = ".github/review-coordinator.yaml"
)

// trip is how long a request takes.
const trip = 30 * time.Millisecond

// slow is GitHub far away: half of the way lies before what it does, half of it behind. In virtual time, how long
// something takes is how many requests of it waited for each other.
type slow struct {
	next http.RoundTripper

	mu      sync.Mutex
	written time.Time // when the last write of a check was answered
}

func (s *slow) RoundTrip(req *http.Request) (*http.Response, error) {
	pass(trip / 2)
	resp, err := s.next.RoundTrip(req)
	pass(trip / 2)
	if req.Method != http.MethodGet && strings.Contains(req.URL.Path, "/check-runs") {
		s.mu.Lock()
		s.written = time.Now()
		s.mu.Unlock()
	}
	return resp, err
}

// far is a world at that distance.
func far(t *testing.T, change ...func(*setup)) (*world, *slow) {
	s := &slow{}
	w := newWorld(t, append(change, func(x *setup) {
		x.wire = func(next http.RoundTripper) http.RoundTripper { s.next = next; return s }
	})...)
	return w, s
}

// depth is how many requests in series lie between an event and our check.
func (w *world) depth(s *slow, head string, runs ...int64) int {
	w.t.Helper()
	pass(10 * time.Second)
	w.g.ForgetRequests()
	from := time.Now()
	w.forge.Expect(w.pr, sandbox.SHA(head), runs...)
	w.forge.Hear(w.pr, quorum.Touch{Event: "workflow_run", Action: "completed", Head: sandbox.SHA(head)})
	w.look()
	if s.written.Before(from) {
		w.t.Fatalf("no check was written:\n%s", w.requests())
	}
	return int(s.written.Sub(from) / trip)
}

// told observes what an event tells to look at.
func (w *world) told() quorum.Policy {
	w.t.Helper()
	w.forge.Expect(w.pr, sandbox.SHA("a1"))
	p, _ := w.observe()
	return p
}

func TestAnEventIsThreeRequestsAway(t *testing.T) {
	tracked := func(w *world) {
		w.start(openaiFile)
		w.start(geminiFile)
		pass(5 * time.Second)
		w.look()
	}
	for name, test := range map[string]struct {
		change func(*setup)
		before func(*world)
		event  func(w *world) (head string, runs []int64)
		most   int
	}{
		"opened": {event: func(*world) (string, []int64) { return "a1", nil }, most: 2},
		"opened with several commits": {
			before: func(w *world) { w.must(w.g.Push(7, "a2", sandbox.PushSpec{})) },
			event:  func(*world) (string, []int64) { return "a2", nil }, most: 3,
		},
		"opened against another base": {
			change: func(s *setup) { s.pull.Base = "dev" },
			event:  func(*world) (string, []int64) { return "a1", nil }, most: 5, // its protection, then its rules: once
		},
		"a run began": {before: (*world).lookOnce, event: func(w *world) (string, []int64) { return "a1", []int64{w.start(openaiFile)} }, most: 2},
		"a comment": {before: tracked, event: func(w *world) (string, []int64) {
			w.comment(actionsBot, openaiYes)
			return "", nil
		}, most: 3}, // the first word that approves: whose else it may be
		"a review": {before: tracked, event: func(w *world) (string, []int64) {
			do[int64](w.t)(w.g.Review(7, sandbox.ReviewSpec{
				By: copilotBot, State: "COMMENTED", Body: "x",
				Comments: []sandbox.LineComment{{Path: "cart.go", Line: 3, Body: "No."}},
			}))
			return "a1", nil
		}, most: 2},
		"a push": {before: tracked, event: func(w *world) (string, []int64) {
			w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
			return "a2", nil
		}, most: 3}, // the old head's check is ended first: whose head it is, and its end
		"a push that no event told": {before: tracked, event: func(w *world) (string, []int64) {
			w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
			return "a1", nil
		}, most: 7}, // the conversation shows another head, so that the pull request is read after it
		"another policy": {before: func(w *world) { tracked(w); w.told() }, event: func(w *world) (string, []int64) {
			w.g.SetFile(policyPath, "", strings.Replace(threeReviewers, "quorum: 2", "quorum: 3", 1))
			return "a1", nil
		}, most: 3},
		"a comment, with the policy at its second path": {before: func(w *world) {
			w.g.RemoveFile(policyPath, "")
			w.g.SetFile(otherPath, "", threeReviewers)
			tracked(w)
		}, event: func(w *world) (string, []int64) {
			w.comment(actionsBot, openaiYes)
			return "a1", nil
		}, most: 4},
		"a run failed": {before: func(w *world) { tracked(w); w.comment(actionsBot, geminiYes) }, event: func(w *world) (string, []int64) {
			run := w.start(openaiFile)
			pass(time.Minute)
			w.finish(run, sandbox.Finish{Conclusion: "failure", Log: "Error: 503 Service Unavailable\n"})
			return "a1", []int64{run}
		}, most: 5}, // its log, and where GitHub sends us for it
		"a run that lists do not show": {before: tracked, event: func(w *world) (string, []int64) {
			run := w.start(openaiFile)
			w.must(w.g.HideRun(run, true))
			return "a1", []int64{run}
		}, most: 3},
		"the last approval": {
			before: func(w *world) {
				tracked(w)
				w.comment(actionsBot, openaiYes)
				do[int64](w.t)(w.g.Review(7, sandbox.ReviewSpec{
					By: copilotBot, State: "APPROVED",
					Body: "Copilot reviewed 1 out of 1 changed files in this pull request and generated no comments.",
				}))
				w.look()
			},
			event: func(w *world) (string, []int64) {
				w.comment(actionsBot, geminiYes)
				return "a1", nil
			}, most: 3, // a pass makes sure that nobody else wrote meanwhile
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, s := far(t, func(x *setup) {
					if test.change != nil {
						test.change(x)
					}
				})
				if test.before != nil {
					test.before(w)
				}
				head, runs := test.event(w)
				from := w.pr
				if head == "" {
					head = "a1"
				}
				if n := w.depth(s, head, runs...); n > test.most {
					t.Errorf("%s: its check is %d requests away, want at most %d:\n%s", from, n, test.most, w.requests())
				}
			})
		})
	}
}

func (w *world) lookOnce() { w.look() }

// A push with three reviewers: the old head's check is ended, runs of it are looked for, and nothing is asked twice.
func TestRequestsOfAPush(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run(fmt.Sprint("force ", force), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				w.start(openaiFile)
				w.start(geminiFile)
				pass(5 * time.Second)
				w.look()
				w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
				w.start(openaiFile)
				w.look()
				pass(time.Minute)
				w.must(w.g.Push(7, "a3", sandbox.PushSpec{Force: force}))
				w.start(openaiFile)
				w.start(geminiFile)
				pass(5 * time.Second)
				w.g.ForgetRequests()
				w.forge.Expect(w.pr, sandbox.SHA("a3"))
				w.look()
				if n := w.asked(); n.fresh > 10 || n.graphql != 1 || n.writes != 2 {
					t.Errorf("it cost %+v:\n%s", n, w.requests())
				}
				if old := w.g.OwnCheckRuns("a2"); len(old) != 1 || old[0].Conclusion != "cancelled" {
					t.Errorf("the old head's checks are %+v", old)
				}
				w.reads("in_progress", "")
			})
		})
	}
}

// A first look that an event calls for asks REST for nothing that the conversation tells.
func TestRequestsOfAFirstSight(t *testing.T) {
	for name, as := range map[string]struct {
		identity      func(*setup)
		reads, writes int // reads over REST; a query comes beside them
	}{
		"an App":   {func(*setup) {}, 6, 1},
		"a job":    {asJob, 8, 2},   // and statuses, once more before one is written beside the check: that is answered 304
		"a person": {asCarol, 8, 1}, // statuses, and who that is
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, as.identity)
				w.start(openaiFile)
				w.start(geminiFile)
				pass(5 * time.Second)
				w.forge.Expect(w.pr, sandbox.SHA("a1"))
				w.look()
				if n := w.asked(); n.all-n.graphql-n.writes != as.reads || n.graphql != 1 || n.writes != as.writes {
					t.Errorf("it cost %+v:\n%s", n, w.requests())
				}
			})
		})
	}
}

// What is expected decides nothing: a wrong head, or none that GitHub knows, comes to the same observation.
func TestExpectIsOnlyAdvice(t *testing.T) {
	for _, head := range []string{"", "a1", "b9", "none"} {
		t.Run(head, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				nowhere := sandbox.SHA("none")
				w := newWorld(t, func(s *setup) {
					s.pull.Base = "dev"
					s.wire = func(next http.RoundTripper) http.RoundTripper { return without{next, nowhere} }
				})
				w.g.OpenPull(sandbox.PullSpec{Number: 8, Head: "b9"})
				w.g.OpenPull(sandbox.PullSpec{Number: 9, Head: "a1"})
				w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
				w.g.OpenPull(sandbox.PullSpec{Number: 10, Head: "a2"})
				w.start(openaiFile)
				w.comment(actionsBot, openaiYes)
				do[int64](t)(w.g.SetCheck(sandbox.CheckSpec{Name: "x", App: sandbox.App{Slug: "secbot"}, Head: "b9", Conclusion: "success"}))
				_, want := w.observe()
				w.forge.Forget(w.pr)
				if head != "" {
					head = sandbox.SHA(head)
				}
				w.forge.Expect(w.pr, head)
				_, got := w.observe()
				want.Began, want.Arrived = got.Began, got.Arrived
				if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
					t.Errorf("observed\n%+v, want\n%+v", got, want)
				}
				if len(got.Siblings) != 1 || got.Siblings[0].Number != 10 {
					t.Errorf("its siblings are %+v", got.Siblings)
				}
			})
		})
	}
}

// without is GitHub as it answers about a commit that it does not know.
type without struct {
	next http.RoundTripper
	sha  string
}

func (o without) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.Contains(req.URL.Path, o.sha) {
		return o.next.RoundTrip(req)
	}
	body := `{"message":"No commit found for SHA: ` + o.sha + `"}`
	return &http.Response{StatusCode: http.StatusUnprocessableEntity, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// between lets something happen on GitHub after the conversation was answered, and before the texts are. It can hold
// them back because they are asked for side by side.
type between struct {
	next http.RoundTripper
	do   func()

	once     sync.Once
	answered chan struct{}
}

func (b *between) RoundTrip(req *http.Request) (*http.Response, error) {
	text := strings.HasSuffix(req.URL.Path, "/pulls/7/reviews") || strings.HasSuffix(req.URL.Path, "/issues/7/comments") ||
		strings.HasSuffix(req.URL.Path, "/pulls/7")
	if text && b.do != nil {
		<-b.answered
	}
	resp, err := b.next.RoundTrip(req)
	if err == nil && strings.HasSuffix(req.URL.Path, "/graphql") && b.do != nil {
		body, _ := io.ReadAll(resp.Body)
		resp.Body = io.NopCloser(strings.NewReader(string(body)))
		b.once.Do(func() {
			b.do()
			close(b.answered)
		})
	}
	return resp, err
}

// Whatever happens between the conversation and the texts, no approval comes of it that reading in order would not
// show.
func TestNothingSlipsBetweenConversationAndTexts(t *testing.T) {
	const clean = "Copilot reviewed 1 out of 1 changed files in this pull request and generated no new comments."
	for name, test := range map[string]struct {
		before, between func(w *world)
		then            func(w *world, s quorum.Snapshot) bool
	}{
		"a review with inline comments": {
			between: func(w *world) {
				do[int64](w.t)(w.g.Review(7, sandbox.ReviewSpec{
					By: copilotBot, State: "COMMENTED", Body: clean,
					Comments: []sandbox.LineComment{{Path: "cart.go", Line: 3, Body: "No."}},
				}))
			},
			then: func(_ *world, s quorum.Snapshot) bool {
				return len(s.Reviews) == 0 || len(s.Threads) == 1 && s.Reviews[0].Threads == 1
			},
		},
		"an edit of a comment within its second": {
			before:  func(w *world) { w.comment(actionsBot, geminiNo) },
			between: func(w *world) { w.must(w.g.EditComment(w.last7(), "mallory", geminiYes)) },
			then: func(_ *world, s quorum.Snapshot) bool {
				c := s.Comments[0]
				return c.Body == strings.TrimSpace(geminiNo) || c.Body == geminiNo || c.Editor.Login == "mallory"
			},
		},
		"an edit of a review": {
			before: func(w *world) {
				do[int64](w.t)(w.g.Review(7, sandbox.ReviewSpec{By: copilotBot, State: "COMMENTED", Body: "Two problems."}))
			},
			between: func(w *world) { w.must(w.g.EditReview(w.last7(), "mallory", clean)) },
			then: func(_ *world, s quorum.Snapshot) bool {
				return s.Reviews[0].Body == "Two problems." || s.Reviews[0].Editor.Login == "mallory"
			},
		},
		"another base": {
			before: func(w *world) {
				w.comment(actionsBot, geminiYes)
				w.comment(actionsBot, openaiYes)
				pass(5 * time.Second)
			},
			between: func(w *world) { w.must(w.g.Retarget(7, "dev", "mallory")) },
			then: func(_ *world, s quorum.Snapshot) bool {
				return s.PR.BaseRef == "main" || len(s.Timeline) == 1 && s.Timeline[0].Kind == quorum.BaseChanged
			},
		},
		"a dismissal": {
			before: func(w *world) {
				do[int64](w.t)(w.g.Review(7, sandbox.ReviewSpec{By: copilotBot, State: "CHANGES_REQUESTED", Body: "Two problems."}))
			},
			between: func(w *world) { w.must(w.g.DismissReview(w.last7(), "alice")) },
			then: func(_ *world, s quorum.Snapshot) bool {
				return s.Reviews[0].State != "DISMISSED" || len(s.Timeline) == 1
			},
		},
	} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/first %v", name, first), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					b := &between{answered: make(chan struct{})}
					w := newWorld(t, func(s *setup) {
						s.wire = func(next http.RoundTripper) http.RoundTripper { b.next = next; return b }
					})
					w.start(openaiFile)
					w.start(geminiFile)
					if !first {
						w.look()
					}
					if test.before != nil {
						test.before(w)
					}
					b.do = func() { test.between(w) }
					w.forge.Expect(w.pr, sandbox.SHA("a1"))
					if _, s := w.observe(); !test.then(w, s) {
						t.Errorf(
							"observed: base %s, comments %+v, reviews %+v, threads %+v, timeline %+v",
							s.PR.BaseRef,
							s.Comments,
							s.Reviews,
							s.Threads,
							s.Timeline,
						)
					}
					select {
					case <-b.answered:
					default:
						t.Error("nothing happened between")
					}
				})
			})
		}
	}
}

// last7 is the id of what was said last: ids count up.
func (w *world) last7() int64 {
	w.t.Helper()
	probe := *w
	api, err := client.New(client.Options{Token: "ghs_x", Transport: w.g})
	w.must(err)
	probe.forge = github.NewForge(api, quorum.ActionsApp, "", nil)
	_, s := probe.observe()
	var id int64
	for _, all := range [][]quorum.Text{s.Comments, s.Reviews} {
		for _, text := range all {
			id = max(id, text.ID)
		}
	}
	return id
}

// Whatever part of a look in one wave cannot be read, nothing is observed.
func TestExpectIsWholeOrNothing(t *testing.T) {
	for _, path := range []string{
		"/pulls/7", "/contents/.github/review-coordinator.yml", "/commits/*/check-runs", "/pulls/7/files", "/actions/runs",
		"/pulls/7/reviews",
	} {
		for _, fault := range []sandbox.Fault{
			{Kind: sandbox.FaultAnswer, Status: 502},
			{Kind: sandbox.FaultTruncate},
			{Kind: sandbox.FaultAnswer, Status: 403, Body: `{"message":"Resource not accessible by integration"}`},
		} {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				fault.Match = "GET /repos/acme/shop" + path
				w.g.AddFault(fault)
				w.forge.Expect(w.pr, sandbox.SHA("a1"))
				if _, _, err := w.forge.Observe(t.Context(), w.pr); err == nil {
					t.Errorf("%s: it was observed all the same", fault.Match)
				}
				w.g.ClearFaults()
				w.look()
				w.reads("in_progress", "0 of 2")
			})
		}
	}
}

// The conversation tells which file the policy is, so that it is asked for only where it may be another one. What
// stands on the default branch counts all the same, from the next look on, and nothing that stands elsewhere.
func TestThePolicyIsAskedForWhereItMayBeAnother(t *testing.T) {
	need := func(n int) string { return strings.Replace(threeReviewers, "quorum: 2", fmt.Sprint("quorum: ", n), 1) }
	for name, test := range map[string]struct {
		at     string // where it stands at first
		base   string // of the pull request
		change func(*world)
		reads  int // of contents
		state  quorum.FileState
		need   int
	}{
		"the same":     {at: policyPath, change: func(*world) {}, reads: 0, state: quorum.FileValid, need: 2},
		"another":      {at: policyPath, change: func(w *world) { w.g.SetFile(policyPath, "", need(3)) }, reads: 1, state: quorum.FileValid, need: 3},
		"a broken one": {at: policyPath, change: func(w *world) { w.g.SetFile(policyPath, "", "quorum: no") }, reads: 1, state: quorum.FileBroken},
		"gone":         {at: policyPath, change: func(w *world) { w.g.RemoveFile(policyPath, "") }, reads: 4, state: quorum.FileMissing},
		"moved": {
			at: policyPath, change: func(w *world) { w.g.RemoveFile(policyPath, ""); w.g.SetFile(otherPath, "", need(1)) },
			reads: 2, state: quorum.FileValid, need: 1,
		},
		"the second":       {at: otherPath, change: func(*world) {}, reads: 2, state: quorum.FileValid, need: 2},
		"one before it":    {at: otherPath, change: func(w *world) { w.g.SetFile(policyPath, "", need(1)) }, reads: 1, state: quorum.FileValid, need: 1},
		"on a branch only": {at: policyPath, change: func(w *world) { w.g.SetFile(policyPath, "other", need(1)) }, reads: 0, state: quorum.FileValid, need: 2},
		"the old one stays on the head": {at: policyPath, change: func(w *world) {
			w.g.SetFile(policyPath, sandbox.SHA("a1"), need(2))
			w.g.SetFile(policyPath, "", need(3))
		}, reads: 1, state: quorum.FileValid, need: 3},
		"the old one stays on the base": {at: policyPath, base: "dev", change: func(w *world) {
			w.g.SetFile(policyPath, "dev", need(2))
			w.g.SetFile(policyPath, "", need(3))
		}, reads: 1, state: quorum.FileValid, need: 3},
		"the head moved": {
			at: policyPath, change: func(w *world) { w.must(w.g.Push(7, "a2", sandbox.PushSpec{})) }, reads: 0,
			state: quorum.FileValid, need: 2,
		},
		"the head and the file moved": {at: policyPath, change: func(w *world) {
			w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
			w.g.SetFile(policyPath, "", need(3))
		}, reads: 1, state: quorum.FileValid, need: 3},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) { s.pull.Base = test.base })
				w.g.RemoveFile(policyPath, "")
				w.g.SetFile(test.at, "", need(2))
				w.look()
				w.told()
				pass(time.Minute)
				w.comment(actionsBot, openaiYes)
				test.change(w)
				w.g.ForgetRequests()
				w.forge.Expect(w.pr, sandbox.SHA("a1"))
				p, s := w.observe()
				if n := strings.Count(w.requests(), "/contents/"); n != test.reads || s.File.State != test.state || p.Need != test.need {
					t.Errorf("%d reads, %v, %d needed; want %d, %v, %d:\n%s", n, s.File.State, p.Need, test.reads, test.state, test.need, w.requests())
				}
			})
		})
	}
}

// A policy that is another one and cannot be read is no reason to go by the old one.
func TestAnUnreadablePolicyIsNotTheOldOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.look()
		w.told()
		w.g.SetFile(policyPath, "", strings.Replace(threeReviewers, "quorum: 2", "quorum: 3", 1))
		w.g.AddFault(sandbox.Fault{Match: "GET /repos/acme/shop/contents/" + policyPath, Kind: sandbox.FaultAnswer, Status: 502})
		w.forge.Expect(w.pr, sandbox.SHA("a1"))
		if p, _, err := w.forge.Observe(t.Context(), w.pr); err == nil {
			t.Errorf("it was observed with %d needed", p.Need)
		}
		w.g.ClearFaults()
		if p, _ := w.observe(); p.Need != 3 {
			t.Errorf("%d approvals are needed, want 3", p.Need)
		}
	})
}

// A link has a name of its own, whatever the file that it leads to has become. GitHub may tell that name in both
// places, or that of the file in one of them; and what is a link now may have been a file that read the same.
func TestAPolicyBehindALinkIsAskedForEachTime(t *testing.T) {
	const target = "policy.yml"
	changed := strings.Replace(threeReviewers, "quorum: 2", "quorum: 3", 1)
	blob := func(src string) string {
		return fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(src), src)))
	}
	for name, test := range map[string]struct{ file, target bool }{
		"its own name":      {},
		"the target's name": {target: true},
		"once a file":       {file: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, s := far(t, asJob)
				leads := func(policy string) {
					w.g.SetFile(policyPath, "", target)
					w.g.ClearFaults()
					sha := blob(target)
					if test.target {
						sha = blob(policy)
					}
					w.g.AddFault(sandbox.Fault{
						Match: "GET /repos/acme/shop/contents/" + policyPath, Kind: sandbox.FaultAnswer, Status: 200,
						Body: fmt.Sprintf(`{"type":"file","encoding":"base64","sha":%q,"content":%q}`, sha, base64.StdEncoding.EncodeToString([]byte(policy))),
					})
				}
				if !test.file {
					leads(threeReviewers)
				}
				w.look()
				w.told()
				leads(threeReviewers)
				w.told()
				w.comment(actionsBot, openaiYes)
				if n := w.depth(s, "a1"); n != 2 { // it is asked for beside all else
					t.Errorf("%d requests in series, want 2:\n%s", n, w.requests())
				}
				leads(changed)
				for range 3 {
					if p := w.told(); p.Need != 3 {
						t.Errorf("%d approvals are needed, want 3", p.Need)
					}
				}
			})
		})
	}
}

// What a conversation says of the policy once, because it failed or lags, says nothing of the looks to come: neither
// that the file need not be asked for, nor that it must be, after all else.
func TestTheConversationMayErrAboutThePolicy(t *testing.T) {
	const lag, none = `"policy":{"oid":"e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1"}`, `"policy":null`
	for name, test := range map[string]struct {
		says  []string // in each look
		reads []int    // of contents
		deep  []int    // requests in series
	}{
		"true":     {says: []string{"", ""}, reads: []int{0, 0}, deep: []int{1, 1}},
		"not read": {says: []string{nothing, ""}, reads: []int{1, 0}, deep: []int{3, 1}},
		"a lag":    {says: []string{lag, "", ""}, reads: []int{1, 1, 0}, deep: []int{2, 1, 1}},
		"a gap":    {says: []string{none, "", ""}, reads: []int{1, 1, 0}, deep: []int{2, 1, 1}},
		"never":    {says: []string{none, none, none}, reads: []int{1, 1, 1}, deep: []int{2, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				o, s := &overheard{}, &slow{}
				w := newWorld(t, func(x *setup) {
					x.wire = func(next http.RoundTripper) http.RoundTripper { o.next, s.next = next, o; return s }
				})
				w.look()
				w.told()
				for i, says := range test.says {
					w.g.ForgetRequests()
					o.says = says
					from := time.Now()
					if p := w.told(); p.Need != 2 {
						t.Errorf("look %d: %d approvals are needed, want 2", i, p.Need)
					}
					deep := int(time.Since(from) / trip)
					if n := strings.Count(w.requests(), "/contents/"); n != test.reads[i] || deep != test.deep[i] {
						t.Errorf("look %d: %d reads, %d requests in series; want %d, %d:\n%s", i, n, deep, test.reads[i], test.deep[i], w.requests())
					}
				}
			})
		})
	}
}

// Where the conversation is not asked beside all else, the policy is: nothing waits for it.
func TestThePolicyIsReadBesideAllElse(t *testing.T) {
	for name, test := range map[string]struct {
		policy string
		look   func(*world)
	}{
		"nothing happened": {policy: threeReviewers, look: func(w *world) { w.observe() }},
		"off":              {policy: "mode: off\n" + threeReviewers, look: func(w *world) { w.told() }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w, _ := far(t, func(s *setup) { s.policy = test.policy })
				w.look()
				w.told()
				w.g.ForgetRequests()
				from := time.Now()
				test.look(w)
				if n := int(time.Since(from) / trip); n != 1 || !strings.Contains(w.requests(), "/contents/") {
					t.Errorf("%d requests in series, want 1:\n%s", n, w.requests())
				}
			})
		})
	}
}

// nothing is an answer that knows no pull request.
const nothing = `{"data":{"repository":null}}`

// overheard keeps what is asked by GraphQL, and may say something else of the policy than GitHub.
type overheard struct {
	next    http.RoundTripper
	queries []string
	says    string
}

var ofPolicy = regexp.MustCompile(`"policy":(null|\{[^}]*\})`)

func (o *overheard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/graphql") {
		return o.next.RoundTrip(req)
	}
	query, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	o.queries = append(o.queries, string(query))
	req.Body = io.NopCloser(bytes.NewReader(query))
	resp, err := o.next.RoundTrip(req)
	if err != nil || o.says == "" {
		return resp, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	said := ofPolicy.ReplaceAll(answer, []byte(o.says))
	if o.says == nothing {
		said = []byte(nothing)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(said)), int64(len(said))
	return resp, nil
}

// A path that Git does not take is not put into the conversation's query, nor is one of this machine.
func TestAnOddPathIsAskedForByItself(t *testing.T) {
	for _, test := range []struct {
		path    string
		suppose bool
		asked   string
		reads   int
	}{
		{path: "policy.yml", asked: "policy.yml"},
		{path: "a/b c.yml", asked: "a/b c.yml"},
		{path: "/policy.yml", asked: policyPath, reads: 1},
		{path: "../policy.yml", suppose: true, asked: policyPath},
		{path: "policy.yml", suppose: true, asked: policyPath},
	} {
		t.Run(fmt.Sprint(test.path, " ", test.suppose), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				heard := &overheard{}
				w := newWorld(t, func(s *setup) {
					s.wire = func(next http.RoundTripper) http.RoundTripper { heard.next = next; return heard }
				})
				w.g.SetFile(test.path, "", threeReviewers)
				w.forge = github.NewForge(w.client, w.app, test.path, nil)
				if test.suppose {
					w.forge.Suppose(test.path, []byte(threeReviewers))
				}
				w.observe()
				w.told()
				w.g.ForgetRequests()
				w.told()
				if n := strings.Count(w.requests(), "/contents/"); n != test.reads {
					t.Errorf("%d reads, want %d:\n%s", n, test.reads, w.requests())
				}
				for i := range 3 {
					if want := `"policy":"HEAD:` + test.asked + `"`; i >= len(heard.queries) || !strings.Contains(heard.queries[i], want) {
						t.Errorf("query %d does not ask for %s: %q", i, want, heard.queries)
					}
				}
			})
		})
	}
}

// A policy that is supposed counts, whatever was read before.
func TestASupposedPolicyCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.look()
		w.told()
		w.forge.Suppose(policyPath, []byte(strings.Replace(threeReviewers, "quorum: 2", "quorum: 3", 1)))
		if p := w.told(); p.Need != 3 {
			t.Errorf("%d approvals are needed, want 3", p.Need)
		}
	})
}

// What an event told is not lost with a look that failed.
func TestExpectOutlastsAFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, s := far(t)
		w.start(openaiFile)
		w.forge.Expect(w.pr, sandbox.SHA("a1"))
		w.g.AddFault(sandbox.Fault{Match: "GET /repos/acme/shop/pulls/7", Kind: sandbox.FaultAnswer, Status: 403, Times: 1, Body: `{"message":"no"}`})
		if _, _, err := w.forge.Observe(t.Context(), w.pr); err == nil {
			t.Fatal("it was observed all the same")
		}
		from := time.Now()
		w.look()
		if n := int(s.written.Sub(from) / trip); n > 3 {
			t.Errorf("the next look's check is %d requests away:\n%s", n, w.requests())
		}
	})
}

// A pull request that was forgotten comes to the same, and one that is looked at is not forgotten.
func TestMemoriesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		all := github.NewMemories(3)
		w.forge.Share(all)
		w.start(openaiFile)
		w.look()
		_, want := w.observe()
		for n := 100; n < 120; n++ {
			w.forge.Expect(quorum.PR{Owner: "acme", Repo: "shop", Number: n}, "")
		}
		if n := all.Len(); n != 3 {
			t.Errorf("%d pull requests are remembered, want 3", n)
		}
		if err := w.forge.Publish(t.Context(), w.pr, check("a1")); err == nil || w.own().Writes != 1 {
			t.Errorf("written without knowing what stands there: %v", err)
		}
		_, got := w.observe()
		want.Began = got.Began
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("observed\n%+v, want\n%+v", got, want)
		}
		w.g.BeforeRequest(func(req *http.Request) {
			if req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/check-runs") || req.Method == http.MethodPatch {
				for n := 200; n < 220; n++ {
					w.forge.Expect(quorum.PR{Owner: "acme", Repo: "shop", Number: n}, "")
				}
			}
		})
		w.must(w.forge.Publish(t.Context(), w.pr, check("a1", func(c *report.Check) { c.Title = "now" })))
		if id, _ := w.forge.CheckID(w.pr); id == 0 {
			t.Error("it was forgotten while it was written")
		}
	})
}

// A long log is what a pull request may fill memory with.
func TestMemoriesAreBoundedInBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		all := github.NewMemories(4)
		w.forge.Share(all)
		run := w.start(openaiFile)
		pass(time.Minute)
		w.finish(run, sandbox.Finish{Conclusion: "failure", Log: strings.Repeat("Error: 503 Service Unavailable\n", 20<<10)})
		w.look()
		w.forge.Expect(quorum.PR{Owner: "acme", Repo: "shop", Number: 8}, "")
		if n := all.Len(); n != 1 {
			t.Errorf("%d pull requests are remembered", n)
		}
	})
}

// Two installations may see a repository of one name, after it was given away.
func TestMemoriesAreOfOneForge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		all := github.NewMemories(10)
		w.forge.Share(all)
		w.look()
		other := *w
		other.replica(setup{token: "ghs_x", now: time.Now})
		other.forge.Share(all)
		if id, _ := other.forge.CheckID(w.pr); id != 0 {
			t.Errorf("another forge knows check %d", id)
		}
	})
}

// Of a pull request of several commits one list shows the runs, that of its branch, unless a check suite of the head is
// no
// run's of the branch.
func TestRunsOfABranchAndOfItsHead(t *testing.T) {
	jobless := sandbox.RunSpec{Branch: "renamed", Status: "completed", Conclusion: "startup_failure"}
	for name, test := range map[string]struct {
		run     sandbox.RunSpec
		differs bool // REST shows a text otherwise than GraphQL does, so that these are not read side by side
		lists   int
	}{
		"of the branch":                         {sandbox.RunSpec{}, false, 1},
		"of another branch":                     {sandbox.RunSpec{Branch: "renamed"}, false, 2},
		"one without any job":                   {jobless, false, 2},
		"one without any job, and texts differ": {jobless, true, 2},
		"of the branch, where texts differ":     {sandbox.RunSpec{}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) {
					s.wire = func(next http.RoundTripper) http.RoundTripper {
						return roundTrip(func(req *http.Request) (*http.Response, error) {
							resp, err := next.RoundTrip(req)
							if err == nil && test.differs && strings.HasSuffix(req.URL.Path, "/pulls/7/reviews") {
								body, _ := io.ReadAll(resp.Body)
								body = bytes.ReplaceAll(body, []byte("as it is"), []byte("otherwise"))
								resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
							}
							return resp, err
						})
					}
				})
				do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "bob", State: "COMMENTED", Body: "as it is"}))
				for range 3 {
					w.look()
					pass(time.Minute)
				}
				w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
				spec := test.run
				spec.Workflow, spec.Name, spec.PR, spec.Jobs = openaiFile, "openai", 7, []string{"review"}
				id, err := w.g.StartRun(spec)
				w.must(err)
				pass(5 * time.Second)
				w.g.ForgetRequests()
				w.forge.Expect(w.pr, sandbox.SHA("a2"))
				_, s := w.observe()
				if !slices.ContainsFunc(s.Runs, func(r quorum.Run) bool { return r.ID == id }) {
					t.Errorf("run %d is not among %+v", id, s.Runs)
				}
				lists := 0
				for _, r := range w.g.Requests() {
					if strings.HasSuffix(r.Path, "/actions/runs") {
						lists++
					}
				}
				if lists != test.lists {
					t.Errorf("%d lists of runs, want %d:\n%s", lists, test.lists, w.requests())
				}
			})
		})
	}
}
