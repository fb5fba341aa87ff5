package github_test

// What becomes of an effect: done, void because GitHub has moved on, refused for a reason, or left open by a fault.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// effects are those of one action on the head a1 against main.
func effects(a quorum.Action) quorum.Effects {
	e := quorum.Effects{Head: sandbox.SHA("a1"), Base: "main"}
	switch a.Kind {
	case quorum.Rerun:
		e.Reruns = append(e.Reruns, a)
	case quorum.Cancel:
		e.Cancels = append(e.Cancels, a)
	case quorum.Ask:
		e.Requests = append(e.Requests, a)
	}
	return e
}

// apply carries out one action.
func (w *world) apply(a quorum.Action) quorum.Result {
	w.t.Helper()
	receipt, err := w.forge.Apply(w.t.Context(), w.pr, effects(a))
	w.must(err)
	if len(receipt.Done) != 1 || receipt.Done[0].Action != a {
		w.t.Fatalf("the receipt is %+v", receipt)
	}
	return receipt.Done[0]
}

func (w *world) wants(got quorum.Result, state quorum.ResultState, why quorum.Reason) {
	w.t.Helper()
	if got.State != state || got.Reason != why {
		w.t.Errorf("it ended as %d %s (%s), want %d %s", got.State, got.Reason, got.Detail, state, why)
	}
}

func TestApplyReruns(t *testing.T) {
	for name, test := range map[string]struct {
		conclusion string
		failedOnly bool
		attempt    int
		again      bool // a person was faster
		running    bool
		state      quorum.ResultState
		reran      int
		path       string
	}{
		"all of it":                     {conclusion: "success", attempt: 1, state: quorum.ResultDone, reran: 1, path: "/rerun"},
		"its failed jobs":               {conclusion: "failure", failedOnly: true, attempt: 1, state: quorum.ResultDone, reran: 1, path: "/rerun-failed-jobs"},
		"no job failed after all":       {conclusion: "success", failedOnly: true, attempt: 1, state: quorum.ResultDone, reran: 1, path: "/rerun"},
		"another attempt than was seen": {conclusion: "failure", attempt: 2, state: quorum.ResultVoid},
		"somebody was faster":           {conclusion: "failure", attempt: 1, again: true, state: quorum.ResultVoid, reran: 0},
		"it is still running":           {running: true, attempt: 1, state: quorum.ResultVoid},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				run := w.start(openaiFile)
				if !test.running {
					w.finish(run, sandbox.Finish{Conclusion: test.conclusion})
				}
				if test.again {
					w.must(w.g.RerunByPerson(run, "carol"))
				}
				before := len(w.g.Wrote().RerunOrder)
				w.wants(
					w.apply(quorum.Action{Kind: quorum.Rerun, Reviewer: "openai", Run: run, Attempt: test.attempt, FailedOnly: test.failedOnly}),
					test.state,
					"",
				)
				if n := len(w.g.Wrote().RerunOrder) - before; n != test.reran {
					t.Errorf("it was run again %d times, want %d", n, test.reran)
				}
				all := w.g.Requests()
				if last := all[len(all)-1].Path; !strings.HasSuffix(last, test.path) {
					t.Errorf("the last request was %s", last)
				}
			})
		})
	}
}

// GitHub says no in one status and many words.
func TestApplyReadsRefusals(t *testing.T) {
	const (
		reruns  = "POST /repos/acme/shop/actions/runs/*/rerun"
		cancels = "POST /repos/acme/shop/actions/runs/*/cancel"
		asks    = "POST /repos/acme/shop/pulls/7/requested_reviewers"
		says    = "POST /repos/acme/shop/issues/7/comments"
	)
	ask, say := quorum.Request{Login: copilotBot}, quorum.Request{Comment: "@sage review"}
	for _, test := range []struct {
		match   string
		request quorum.Request
		status  int
		words   string
		needs   string // X-Accepted-GitHub-Permissions
		state   quorum.ResultState
		why     quorum.Reason
		detail  string
	}{
		{reruns, quorum.Request{}, 403, "This workflow is already running", "", quorum.ResultVoid, "", ""},
		{reruns, quorum.Request{}, 403, "This workflow run cannot be retried", "", quorum.ResultRefused, quorum.ReasonRefused, "cannot be retried"},
		{reruns, quorum.Request{}, 403, "This workflow run cannot be rerun", "", quorum.ResultRefused, quorum.ReasonRefused, "cannot be rerun"},
		{
			reruns,
			quorum.Request{},
			403, "Unable to retry this workflow run because it was created over a month ago", "",
			quorum.ResultRefused, quorum.ReasonTooOld, "month",
		},
		{
			reruns,
			quorum.Request{},
			403,
			"Unable to retry this workflow run because it has reached the maximum number of attempts", "", quorum.ResultRefused,
			quorum.ReasonAttempts, "attempts",
		},
		{
			reruns,
			quorum.Request{},
			403, "Resource not accessible by integration", "actions=write", quorum.ResultRefused,
			quorum.ReasonPermission, "actions=write",
		},
		{
			reruns,
			quorum.Request{},
			403, "Resource not accessible by personal access token", "actions=write",
			quorum.ResultRefused, quorum.ReasonPermission, "actions=write",
		},
		{reruns, quorum.Request{}, 403, "Resource not accessible by integration", "", quorum.ResultRefused, quorum.ReasonPermission, "actions=write"},
		{reruns, quorum.Request{}, 403, "Must have admin rights to Repository.", "", quorum.ResultRefused, quorum.ReasonRefused, "admin rights"},
		{reruns, quorum.Request{}, 404, "Not Found", "", quorum.ResultFailed, "", ""}, // no reason: it is tried again
		{reruns, quorum.Request{}, 409, "Conflict", "", quorum.ResultFailed, "", ""},
		{reruns, quorum.Request{}, 422, "Validation Failed", "", quorum.ResultFailed, "", ""},
		{reruns, quorum.Request{}, 302, "Found", "", quorum.ResultFailed, "", ""},
		{reruns, quorum.Request{}, 409, "The workflow file is gone.", "", quorum.ResultRefused, quorum.ReasonRefused, "workflow file"},
		{reruns, quorum.Request{}, 422, "Something else", "", quorum.ResultRefused, quorum.ReasonRefused, "Something else"},
		{reruns, quorum.Request{}, 502, "Bad Gateway", "", quorum.ResultFailed, "", ""},
		{cancels, quorum.Request{}, 409, "Cannot cancel a workflow run that is completed.", "", quorum.ResultVoid, "", ""},
		{cancels, quorum.Request{}, 403, "Resource not accessible by integration", "", quorum.ResultRefused, quorum.ReasonPermission, "actions=write"},
		{cancels, quorum.Request{}, 500, "Failed to cancel workflow run", "", quorum.ResultFailed, "", ""},
		{asks, ask, 422, "Reviews may only be requested from collaborators.", "", quorum.ResultRefused, quorum.ReasonRefused, "collaborators"},
		{asks, ask, 403, "Resource not accessible by integration", "", quorum.ResultRefused, quorum.ReasonPermission, "pull_requests=write"},
		{says, say, 403, "Resource not accessible by integration", "", quorum.ResultRefused, quorum.ReasonPermission, "issues=write"},
		{says, say, 403, "Unable to create comment because issue is locked.", "", quorum.ResultRefused, quorum.ReasonRefused, "locked"},
		{says, say, 503, "Service Unavailable", "", quorum.ResultFailed, "", ""},
	} {
		t.Run(fmt.Sprintf("%d %s", test.status, test.words), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				run := w.start(openaiFile)
				a := quorum.Action{Kind: quorum.Ask, Reviewer: "x", Attempt: 1, Request: test.request}
				switch test.match {
				case reruns:
					w.finish(run, sandbox.Finish{Conclusion: "failure"})
					a.Kind, a.Run = quorum.Rerun, run
				case cancels:
					a.Kind, a.Run = quorum.Cancel, run
				}
				f := sandbox.Fault{Match: test.match, Kind: sandbox.FaultAnswer, Status: test.status, Body: fmt.Sprintf("{%q: %q}", "message", test.words)}
				if test.status == http.StatusFound {
					f.Header = []string{"Location: /elsewhere"}
				}
				if test.needs != "" {
					f.Header = []string{"X-Accepted-GitHub-Permissions: " + test.needs}
				}
				w.g.AddFault(f)
				got := w.apply(a)
				w.wants(got, test.state, test.why)
				if !strings.Contains(got.Detail, test.detail) || (got.Detail == "") != (test.detail == "") {
					t.Errorf("its detail is %q, want %q", got.Detail, test.detail)
				}
				if n := w.g.StruckRequests(); n != 1 {
					t.Errorf("it was sent %d times", n)
				}
			})
		})
	}
}

func TestApplyCancels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		run := w.start(openaiFile)
		w.wants(w.apply(quorum.Action{Kind: quorum.Cancel, Reviewer: "openai", Run: run, Attempt: 2}), quorum.ResultVoid, "")
		w.wants(w.apply(quorum.Action{Kind: quorum.Cancel, Reviewer: "openai", Run: run, Attempt: 1}), quorum.ResultDone, "")
		w.wants(w.apply(quorum.Action{Kind: quorum.Cancel, Reviewer: "openai", Run: run, Attempt: 1}), quorum.ResultVoid, "") // it has ended
		if n := w.g.Wrote().Cancels[run]; n != 1 {
			t.Errorf("%d cancels", n)
		}
	})
}

func TestApplyAsks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.sand.App = sandbox.App{Slug: "quorum-app"} })
		w.wants(w.apply(quorum.Action{Kind: quorum.Ask, Reviewer: "copilot", Attempt: 1, Request: quorum.Request{Login: copilotBot}}), quorum.ResultDone, "")
		w.wants(w.apply(quorum.Action{Kind: quorum.Ask, Reviewer: "sage", Attempt: 1, Request: quorum.Request{Comment: "@sage review"}}), quorum.ResultDone, "")
		if wrote := w.g.Wrote(); len(wrote.RequestedReviews) != 1 || wrote.RequestedReviews[0] != copilotBot || len(wrote.Comments) != 1 ||
			wrote.Comments[0] != "@sage review" {
			t.Errorf("written: %+v", wrote)
		}
	})
}

// A request that GitHub takes and does not pass on is refused: its answer lists who is asked, and not Copilot.
func TestApplyAsksCopilotInVain(t *testing.T) {
	ask := quorum.Action{Kind: quorum.Ask, Reviewer: "copilot", Attempt: 1, Request: quorum.Request{Login: copilotBot}}
	const done, refused, why = quorum.ResultDone, quorum.ResultRefused, quorum.ReasonIgnored
	for name, test := range map[string]struct {
		answer string // "": the sandbox's own, to a job's token
		state  quorum.ResultState
		why    quorum.Reason
	}{
		"with a job's token":       {"", refused, why},
		"somebody else is asked":   {`{"requested_reviewers": [{"login": "bob", "id": 7, "type": "User"}]}`, refused, why},
		"by its name as a reader":  {`{"requested_reviewers": [{"login": "bob"}, {"login": "Copilot"}]}`, done, ""},
		"by its name as reviewer":  {`{"requested_reviewers": [{"type": "Bot", "login": "` + copilotBot + `"}]}`, done, ""},
		"the answer does not tell": {`{"number": 7}`, done, ""},
		"the answer is no object":  {`[]`, quorum.ResultFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, asJob)
				if test.answer != "" {
					w.g.AddFault(sandbox.Fault{
						Match: "POST /repos/acme/shop/pulls/7/requested_reviewers",
						Kind:  sandbox.FaultAnswer, Status: 201, Body: test.answer,
					})
				}
				w.wants(w.apply(ask), test.state, test.why)
				if wrote := w.g.Wrote(); len(wrote.RequestedReviews) != 0 {
					t.Errorf("it was passed on: %+v", wrote)
				}
			})
		})
	}
}

// A pull request that has moved on makes every effect void.
func TestApplyIsVoidOnceGitHubMovedOn(t *testing.T) {
	for name, move := range map[string]func(w *world) error{
		"pushed":     func(w *world) error { return w.g.Push(7, "a2", sandbox.PushSpec{}) },
		"retargeted": func(w *world) error { return w.g.Retarget(7, "dev", "alice") },
		"closed":     func(w *world) error { return w.g.Close(7, "alice") },
		"merged":     func(w *world) error { return w.g.Merge(7, "alice") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				ended, running := w.start(openaiFile), w.start(geminiFile)
				w.finish(ended, sandbox.Finish{Conclusion: "failure"})
				w.must(move(w))
				for _, a := range []quorum.Action{
					{Kind: quorum.Rerun, Run: ended, Attempt: 1},
					{Kind: quorum.Cancel, Run: running, Attempt: 1},
					{Kind: quorum.Ask, Request: quorum.Request{Comment: "@sage review"}},
				} {
					w.wants(w.apply(a), quorum.ResultVoid, "")
				}
				if wrote := w.g.Wrote(); len(wrote.Reruns)+len(wrote.Cancels)+len(wrote.Comments) != 0 {
					t.Errorf("written: %+v", wrote)
				}
			})
		})
	}
}

// An answer that got lost leaves open whether it happened; then the next try finds out, and nothing happens twice.
func TestApplyWhenAnswersAreLost(t *testing.T) {
	for kind, happened := range map[sandbox.FaultKind]int{sandbox.FaultLost: 1, sandbox.FaultTruncate: 1, sandbox.FaultReset: 0} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			run := w.start(openaiFile)
			w.finish(run, sandbox.Finish{Conclusion: "failure"})
			w.g.AddFault(sandbox.Fault{Match: "POST /repos/**", Kind: kind, Times: 1})
			a := quorum.Action{Kind: quorum.Rerun, Reviewer: "openai", Run: run, Attempt: 1}
			w.wants(w.apply(a), quorum.ResultFailed, "")
			if n := w.g.Wrote().Reruns[run]; n != happened {
				t.Errorf("%s: run again %d times, want %d", kind, n, happened)
			}
			w.apply(a)
			if n := w.g.Wrote().Reruns[run]; n != 1 {
				t.Errorf("%s, and tried again: run again %d times", kind, n)
			}
		})
	}
}

// A limit, a token that is not taken, and the end of the context are no results: the rest is left to the next look.
func TestApplyStops(t *testing.T) {
	for name, test := range map[string]struct {
		fault sandbox.Fault
		is    func(error) bool
	}{
		"a limit": {sandbox.Fault{
			Status: 403, Body: `{"message":"You have exceeded a secondary rate limit."}`, Header: []string{"Retry-After: 60"},
		}, func(err error) bool {
			var limit *client.LimitError
			return errors.As(err, &limit) && limit.Until.After(time.Now())
		}},
		"a token that is not taken": {sandbox.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}, client.IsUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				one, two := w.start(openaiFile), w.start(geminiFile)
				w.finish(one, sandbox.Finish{Conclusion: "failure"})
				w.finish(two, sandbox.Finish{Conclusion: "failure"})
				test.fault.Match, test.fault.Kind, test.fault.Skip = "POST /repos/**", sandbox.FaultAnswer, 1
				w.g.AddFault(test.fault)
				e := effects(quorum.Action{Kind: quorum.Rerun, Run: one, Attempt: 1})
				e.Reruns = append(e.Reruns, quorum.Action{Kind: quorum.Rerun, Run: two, Attempt: 1})
				receipt, err := w.forge.Apply(t.Context(), w.pr, e)
				if !test.is(err) || len(receipt.Done) != 1 || receipt.Done[0].State != quorum.ResultDone {
					t.Errorf("got %v and %+v", err, receipt)
				}
			})
		})
	}
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		run := w.start(openaiFile)
		ctx, cancel := context.WithCancel(t.Context())
		w.g.BeforeRequest(func(req *http.Request) {
			if strings.HasSuffix(req.URL.Path, fmt.Sprint(run)) {
				cancel()
			}
		})
		if _, err := w.forge.Apply(ctx, w.pr, effects(quorum.Action{Kind: quorum.Cancel, Run: run, Attempt: 1})); !errors.Is(err, context.Canceled) ||
			len(w.g.Wrote().Cancels) != 0 {
			t.Errorf("got %v", err)
		}
	})
}
