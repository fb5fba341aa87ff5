package github_test

// Runs that were made for another pull request of the same commit. Once that one is closed, nothing on GitHub says so.

import (
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

func TestARunOfAClosedTwin(t *testing.T) {
	for name, c := range map[string]struct {
		twin   sandbox.PullSpec
		does   func(w *world) // with the twin open
		reason quorum.Reason
		detail string
	}{
		"its branch": {sandbox.PullSpec{Branch: "feature-7", Base: "lax"}, func(w *world) {
			w.lints(8)
			w.must(w.g.Close(8, "mallory"))
		}, quorum.ReasonElsewhere, "#8"},
		"its branch, with another head by now": {sandbox.PullSpec{Branch: "feature-7", Base: "lax"}, func(w *world) {
			w.lints(8)
			w.must(w.g.Push(8, "b9", sandbox.PushSpec{Force: true}))
			w.must(w.g.Close(8, "mallory"))
		}, quorum.ReasonElsewhere, "#8"},
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
			w.lints(7)
		}, quorum.ReasonApproved, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) { s.policy = byLint })
				c.twin.Number = 8
				if c.twin.Head == "" {
					c.twin.Head = w.g.Head(7)
				}
				w.g.OpenPull(c.twin)
				pass(time.Minute)
				c.does(w)
				w.look()
				b := w.last.Decision.Ballots[0]
				if b.Reason != c.reason || b.Detail != c.detail || (w.own().Conclusion == "success") != (c.reason == quorum.ReasonApproved) {
					t.Errorf("it is %s %s %q, and the check %s", b.Vote, b.Reason, b.Detail, w.own().Conclusion)
				}
				w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
				pass(time.Minute)
				w.lints(7)
				w.look()
				w.reads("success", "")
			})
		})
	}
}

// Other reviewers cost no request for it.
func TestTwinsAreAskedForWhereTheyMatter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.policy = oneGemini })
		run := w.start(geminiFile)
		pass(10 * time.Second)
		w.comment(actionsBot, geminiYes)
		w.finish(run, sandbox.Finish{Conclusion: "success"})
		pass(2 * time.Minute)
		w.look()
		w.reads("success", "")
		for _, r := range w.g.Requests() {
			if r.Path == "/repos/acme/shop/pulls" {
				t.Errorf("%s %s?%s", r.Method, r.Path, r.Query)
			}
		}
	})
}
