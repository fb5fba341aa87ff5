package github_test

// Runs that were made for another pull request of the same commit. Once that one is closed, nothing on GitHub says so.

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const lintFile = ".github/workflows/lint.yml"

const byLint = "version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - {name: lint, workflow: " + lintFile + ", verdict: conclusion}\n"

// lints runs the linter for a pull request, with success.
func (w *world) lints(pr int) {
	w.t.Helper()
	id := do[int64](w.t)(w.g.StartRun(sandbox.RunSpec{Workflow: lintFile, PR: pr}))
	pass(30 * time.Second)
	w.finish(id, sandbox.Finish{Conclusion: "success"})
	pass(2 * time.Minute)
}

func TestARunOfAClosedPullRequest(t *testing.T) {
	for name, c := range map[string]struct {
		other  sandbox.PullSpec
		does   func(w *world) // while it is open
		reason quorum.Reason
		detail string
	}{
		"its branch": {sandbox.PullSpec{Branch: "feature-7", Base: "lax"}, func(w *world) {
			w.lints(8)
			w.must(w.g.Close(8, "mallory"))
		}, quorum.ReasonOtherPull, "#8 by alice"},
		"its branch, with another head by now": {sandbox.PullSpec{Branch: "feature-7", Base: "lax"}, func(w *world) {
			w.lints(8)
			w.must(w.g.Push(8, "b9", sandbox.PushSpec{Force: true}))
			w.must(w.g.Close(8, "mallory"))
		}, quorum.ReasonOtherPull, "#8 by alice"},
		"another branch": {sandbox.PullSpec{Branch: "evil", Base: "lax"}, func(w *world) {
			w.lints(8)
			w.must(w.g.Close(8, "mallory"))
		}, quorum.ReasonSilent, ""},
		"a fork's branch of that name": {sandbox.PullSpec{Branch: "feature-7", Fork: "mallory", Base: "lax"}, func(w *world) {
			w.lints(8)
			w.must(w.g.Close(8, "mallory"))
		}, quorum.ReasonSilent, ""},
		"closed before, with another head": {sandbox.PullSpec{Branch: "feature-7", Head: "a0", Base: "lax"}, func(w *world) {
			w.must(w.g.Close(8, "alice"))
			pass(time.Minute)
			w.must(w.g.Push(7, "a1b", sandbox.PushSpec{}))
			pass(time.Minute)
			w.lints(7)
		}, quorum.ReasonApproved, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) { s.policy = byLint })
				c.other.Number = 8
				if c.other.Head == "" {
					c.other.Head = w.g.Head(7)
				}
				w.g.OpenPull(c.other)
				pass(time.Minute)
				c.does(w)
				w.look()
				b := w.last.Decision.Ballots[0]
				if b.Reason != c.reason || b.Detail != c.detail || (w.own().Conclusion == "success") != (c.reason == quorum.ReasonApproved) {
					t.Errorf("it is %s %s %q, and the check %s", b.Vote, b.Reason, b.Detail, w.own().Conclusion)
				}
				pass(time.Second)
				w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
				pass(time.Minute)
				w.lints(7)
				w.look()
				w.reads("success", "")
			})
		})
	}
}

// A text that approves asks for it once, as long as no newer run is there; one that objects does not.
func TestTheSameBranchIsAskedForWhereItMatters(t *testing.T) {
	for text, want := range map[string]int{geminiYes: 1, strings.Replace(geminiYes, "Yes", "No", 1): 0} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { s.policy = oneGemini })
			run := w.start(geminiFile)
			pass(10 * time.Second)
			w.comment(actionsBot, text)
			w.look()
			w.finish(run, sandbox.Finish{Conclusion: "success"})
			pass(2 * time.Minute)
			w.look()
			asked := 0
			for _, r := range w.g.Requests() {
				if r.Path == "/repos/acme/shop/pulls" && strings.Contains(r.Query, "head=") {
					asked++
				}
			}
			if asked != want {
				t.Errorf("%s asked %d times, want %d", text, asked, want)
			}
		})
	}
}

// ends starts a run, and ends it half a minute later.
func (w *world) ends(s sandbox.RunSpec, conclusion string) (id int64) {
	w.t.Helper()
	id = do[int64](w.t)(w.g.StartRun(s))
	pass(30 * time.Second)
	w.finish(id, sandbox.Finish{Conclusion: conclusion})
	pass(30 * time.Second)
	return id
}

const byJob = "version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - {name: lint, check: lint, app: github-actions, verdict: conclusion}\n"

// A job is as good as its run: of another branch, or not shown by the list yet.
func TestAJobOfAnotherPullRequestsRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.policy = byJob })
		w.g.OpenPull(sandbox.PullSpec{Number: 8, Branch: "evil", Fork: "mallory", Base: "lax", Head: w.g.Head(7), Author: "mallory"})
		id := w.ends(sandbox.RunSpec{Workflow: lintFile, PR: 8, Jobs: []string{"lint"}}, "success")
		w.must(w.g.Close(8, "mallory"))
		pass(5 * time.Second)
		for _, hidden := range []bool{false, true} {
			w.must(w.g.HideRun(id, hidden))
			w.look()
			if w.own().Conclusion == "success" {
				t.Errorf("it passes; its run is hidden: %v", hidden)
			}
		}
	})
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.policy = byJob })
		w.look()
		head := w.g.Head(7)
		w.g.OpenPull(sandbox.PullSpec{Number: 8, Branch: "feature-7", Base: "lax", Head: head})
		other := w.ends(sandbox.RunSpec{Workflow: lintFile, PR: 8, Jobs: []string{"lint"}}, "success")
		for _, n := range []int{7, 8} {
			w.must(w.g.Push(n, "b9", sandbox.PushSpec{Force: true}))
		}
		w.must(w.g.Close(8, "mallory"))
		pass(time.Minute)
		w.must(w.g.Push(7, head, sandbox.PushSpec{Force: true}))
		pass(time.Minute)
		w.ends(sandbox.RunSpec{Workflow: lintFile, PR: 7, Jobs: []string{"lint"}}, "failure")
		w.must(w.g.RerunByPerson(other, "mallory"))
		pass(30 * time.Second)
		w.finish(other, sandbox.Finish{Conclusion: "success"})
		pass(time.Minute)
		w.look()
		if w.own().Conclusion == "success" {
			t.Error("a rerun of the other's job passes")
		}
	})
}

// Who opens another pull request of the branch, and closes it, takes no pass away.
func TestAPassOutlivesAnotherPullRequest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.policy = byLint })
		w.lints(7)
		w.look()
		w.reads("success", "")
		w.g.OpenPull(sandbox.PullSpec{Number: 8, Branch: "feature-7", Base: "lax", Head: w.g.Head(7), Author: "mallory"})
		pass(time.Minute)
		w.lints(8)
		w.must(w.g.Close(8, "mallory"))
		pass(time.Minute)
		w.look()
		w.reads("success", "")
	})
}

// A list that GitHub refuses, or that is not whole, costs an approval, and no look.
func TestTheSameBranchIsNotListed(t *testing.T) {
	for _, fault := range []sandbox.Fault{
		{Status: http.StatusNotFound, Body: `{"message":"Not Found"}`},
		{Status: http.StatusUnprocessableEntity, Body: `{"message":"Validation Failed"}`},
		{Status: http.StatusOK, Body: "[]"},
	} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { s.policy = byLint })
			w.look()
			w.lints(7)
			fault.Kind, fault.Match = sandbox.FaultAnswer, "GET /repos/*/*/pulls"
			w.g.AddFault(fault)
			w.look()
			if b := w.last.Decision.Ballots[0]; b.Reason != quorum.ReasonOtherPull || w.own().Conclusion == "success" {
				t.Errorf("%d: %s %s, %s", fault.Status, b.Vote, b.Reason, w.own().Conclusion)
			}
			w.g.ClearFaults()
			pass(time.Minute)
			w.look()
			w.reads("success", "")
		})
	}
}

// Branches that bots use live for years: the list is read as far back as it can matter.
func TestALongLivedBranch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.policy, s.pull = byLint, sandbox.PullSpec{Number: 500} })
		for n := range 250 {
			w.g.OpenPull(sandbox.PullSpec{Number: 600 + n, Branch: "release", Head: fmt.Sprint("old ", n)})
			w.must(w.g.Close(600+n, "alice"))
		}
		pass(time.Hour)
		w.g.OpenPull(sandbox.PullSpec{Number: 7, Branch: "release", Head: "new"})
		w.lints(7)
		w.g.ForgetRequests()
		w.look()
		w.reads("success", "")
		for _, r := range w.g.Requests() {
			if r.Path == "/repos/acme/shop/pulls" && strings.Contains(r.Query, "&page=") {
				t.Errorf("%s?%s", r.Path, r.Query)
			}
		}
	})
}
