package github_test

// A new pull request with the diff of another one: what was objected there counts here.

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const kimAndLee = "version: 1\nquorum: 1\ngrace: 0s\noverride: maintain\n" +
	"reviewers:\n  - {name: kim, author: \"kim[bot]\"}\n  - {name: lee, author: \"lee[bot]\"}\n"

// changing changes a line of cart.go into that one.
func changing(line string) []sandbox.ChangedFile {
	return []sandbox.ChangedFile{{
		Path:   "cart.go",
		Change: &sandbox.FileChange{Was: sandbox.FileVersion{Content: "sum\n"}, Is: sandbox.FileVersion{Content: line + "\n"}},
	}}
}

// says lets a reviewer review a pull request, which is looked at then.
func (w *world) says(number int, by, state string) int64 {
	w.t.Helper()
	pass(time.Minute)
	id := do[int64](w.t)(w.g.Review(number, sandbox.ReviewSpec{By: by, State: state, Body: "The total is not rounded."}))
	w.lookAt(number)
	return id
}

func (w *world) lookAt(number int) {
	w.t.Helper()
	pass(time.Minute)
	do[time.Time](w.t)(w.loop.Reconcile(w.t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: number}))
	pass(time.Minute)
}

// accepts lets root accept what was objected to a head.
func (w *world) accepts(number int) {
	w.t.Helper()
	w.g.SetPermission("root", "admin")
	do[int64](w.t)(w.g.Comment(number, "root", "/review-coordinator accept "+w.g.Head(number)[:7]+" it is rounded later"))
	w.lookAt(number)
}

func TestANewPullRequestWithTheSameDiff(t *testing.T) {
	objected := func(w *world) { w.says(6, "kim[bot]", "CHANGES_REQUESTED") }
	closed := func(w *world) { objected(w); w.must(w.g.Close(6, "alice")); w.lookAt(6) }
	for name, c := range map[string]struct {
		other  sandbox.PullSpec
		before func(w *world) // the new one has this diff
		after  func(w *world) // it was looked at, with an approval
		passes bool
	}{
		"closed":                {before: closed},
		"open":                  {before: objected},
		"merged":                {before: func(w *world) { objected(w); w.must(w.g.Merge(6, "alice")) }, passes: true},
		"closed long ago":       {before: func(w *world) { closed(w); pass(15 * 24 * time.Hour) }, passes: true},
		"somebody else's":       {other: sandbox.PullSpec{Author: "bob"}, before: closed, passes: true},
		"the author's fork's":   {other: sandbox.PullSpec{Fork: "alice"}, before: closed},
		"onto another base":     {other: sandbox.PullSpec{Base: "dev"}, before: closed, passes: true},
		"another diff":          {other: sandbox.PullSpec{Files: changing("total")}, before: closed, passes: true},
		"answered there":        {before: func(w *world) { objected(w); w.says(6, "kim[bot]", "APPROVED") }, passes: true},
		"accepted there":        {before: func(w *world) { objected(w); w.accepts(6) }, passes: true},
		"accepted, then closed": {before: func(w *world) { objected(w); w.accepts(6); w.must(w.g.Close(6, "alice")); w.lookAt(6) }, passes: true},
		"dismissed there":       {before: dismissedBy("bob"), passes: true},
		"resolved there": {before: func(w *world) {
			opensThread(w)
			w.must(w.g.ResolveThreads(6, "kim[bot]", "bob"))
			w.lookAt(6)
		}, passes: true},
		"a thread that is answered there later": {before: opensThread, after: func(w *world) {
			w.reads("failure", "kim objected on #6")
			w.says(6, "kim[bot]", "APPROVED")
		}, passes: true},
		"dismissed by its maker": {before: dismissedBy("alice")},
		"answered there later": {before: objected, after: func(w *world) {
			w.reads("failure", "kim objected on #6")
			w.says(6, "kim[bot]", "APPROVED")
		}, passes: true},
		"answered there on its next head": {before: objected, after: func(w *world) {
			w.must(w.g.Push(6, "a2", sandbox.PushSpec{Same: true}))
			w.lookAt(6)
			w.says(6, "kim[bot]", "APPROVED")
		}, passes: true},
		"said there later": {before: func(w *world) { w.lookAt(6) }, after: func(w *world) {
			w.reads("success", "")
			closed(w)
		}},
		"answered here": {before: closed, after: func(w *world) { w.says(7, "kim[bot]", "APPROVED") }, passes: true},
		"accepted here": {before: closed, after: func(w *world) { w.accepts(7) }, passes: true},
		"rebased here": {before: closed, after: func(w *world) {
			w.must(w.g.Push(7, "b2", sandbox.PushSpec{Same: true, Force: true}))
			w.says(7, "lee[bot]", "APPROVED")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, under(kimAndLee), func(s *setup) { s.pull.Draft, s.pull.Head = true, "b0" })
				w.look()
				c.other.Number, c.other.Head = 6, "a1"
				if c.other.Files == nil {
					c.other.Files = changing("round(sum)")
				}
				w.g.OpenPull(c.other)
				w.lookAt(6)
				c.before(w)
				w.must(w.g.Push(7, "b1", sandbox.PushSpec{Files: changing("round(sum)"), Force: true}))
				w.must(w.g.MarkReady(7, "alice"))
				w.says(7, "lee[bot]", "APPROVED")
				if c.after != nil {
					c.after(w)
					w.lookAt(7)
				}
				if c.passes {
					w.reads("success", "")
				} else {
					w.reads("failure", "kim objected on #6")
				}
			})
		})
	}
}

func opensThread(w *world) {
	pass(time.Minute)
	do[int64](w.t)(w.g.Review(6, sandbox.ReviewSpec{
		By: "kim[bot]", State: "COMMENTED", Body: "A remark.", Comments: []sandbox.LineComment{{Path: "cart.go", Line: 1, Body: "It is not rounded."}},
	}))
	w.lookAt(6)
}

func dismissedBy(who string) func(w *world) {
	return func(w *world) {
		id := w.says(6, "kim[bot]", "CHANGES_REQUESTED")
		w.must(w.g.DismissReview(id, who))
		w.lookAt(6)
	}
}

// Where an event told of the head, the query shows the other pull requests, and REST's list is not read. It is where the query
// comes after it; one that is too long to read then leaves the search to the query.
func TestTheQueryShowsOtherPullRequests(t *testing.T) {
	for name, c := range map[string]struct {
		head  string // of which an event told
		lists int
	}{"told": {"a1", 0}, "not told": {"", 1}, "another told": {"b1", 1}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				wire := &blind{path: "/acme/shop/pulls", answer: answerWith(http.StatusOK, "["+strings.Repeat(" ", 40<<20)+"]")}
				lists := 0
				w := newWorld(t, under(kimAndLee), func(s *setup) {
					s.pull.Files = changing("round(sum)")
					s.wire = func(next http.RoundTripper) http.RoundTripper { wire.next = next; return wire }
				})
				w.g.OpenPull(sandbox.PullSpec{Number: 6, Head: "b1", Files: changing("round(sum)")})
				w.says(6, "kim[bot]", "CHANGES_REQUESTED")
				tooLong := wire.answer
				wire.answer = func() *http.Response { lists++; return tooLong() }
				if c.head != "" {
					w.forge.Expect(w.pr, sandbox.SHA(c.head))
				}
				w.says(7, "lee[bot]", "APPROVED")
				w.reads("failure", "kim objected on #6")
				if lists != c.lists {
					t.Errorf("REST listed them %d times, want %d", lists, c.lists)
				}
			})
		})
	}
}

// Other pull requests are searched once for a head and its base, by whichever process; those that were found are read again.
func TestOtherPullRequestsAreSearchedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := setup{token: "ghs_x", now: time.Now}
		w := newWorld(t, under(kimAndLee), func(s *setup) { s.pull.Files = changing("round(sum)") })
		w.g.OpenPull(sandbox.PullSpec{Number: 6, Head: "b1", Files: changing("round(sum)")})
		w.lookAt(6)
		searched := func(want int, what string) {
			t.Helper()
			w.g.ForgetRequests()
			w.lookAt(7)
			got := 0
			for _, r := range w.g.Requests() {
				if r.Path == "/repos/acme/shop/pulls" && strings.Contains(r.Query, "sort=updated") {
					got++
				}
			}
			if got != want {
				t.Errorf("%s: %d searches, want %d", what, got, want)
			}
		}
		searched(1, "the first look")
		w.says(6, "kim[bot]", "CHANGES_REQUESTED")
		searched(0, "another look")
		w.reads("failure", "kim objected on #6")
		w.replica(s)
		searched(0, "another process")
		w.must(w.g.Retarget(7, "dev", "alice"))
		searched(1, "another base")
		w.must(w.g.Push(7, "a2", sandbox.PushSpec{}))
		searched(1, "another head")
	})
}
