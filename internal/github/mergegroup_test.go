package github_test

// Merge queues: which pull requests a group has, and the check on its commit.

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

type queued struct { // an entry of a queue as GitHub shows it, its commit as one letter
	number int
	head   string
}

type queueShown struct {
	entries  []queued
	tip      string
	branches [][3]string // name, commit on which it stands, commit
}

// letters is the id of a commit that is called by one letter; "" is none.
func letters(name string) string { return strings.Repeat(name, 40) }

// answer is what GraphQL says of such a queue.
func (q queueShown) answer() string {
	type o = map[string]any
	oid := func(name string) any {
		if name == "" {
			return nil
		}
		return o{"oid": letters(name)}
	}
	page := func(nodes []any) o {
		return o{"pageInfo": o{"hasNextPage": false, "endCursor": nil}, "nodes": nodes}
	}
	entries, branches := []any{}, []any{}
	for i, e := range q.entries {
		entries = append(entries, o{"position": i + 1, "headCommit": oid(e.head), "pullRequest": o{"number": e.number}})
	}
	for _, b := range q.branches {
		branches = append(branches, o{"name": b[0] + letters(b[1]), "target": oid(b[2])})
	}
	repo := o{"mergeQueue": o{"entries": page(entries)}, "refs": page(branches), "ref": nil, "object": nil}
	if q.tip != "" {
		repo["ref"] = o{"target": oid(q.tip)}
	}
	text, _ := json.Marshal(o{"data": o{"repository": repo}})
	return string(text)
}

// Which pull requests a group has, by what GitHub shows of its queue: the group of #8 is commit c, and stands on b.
func TestGroupIsReadFromItsQueue(t *testing.T) {
	ref := quorum.GroupRef{Owner: "acme", Repo: "shop", Head: letters("c"), Branch: "gh-readonly-queue/main/pr-8-" + letters("b")}
	one := func(all ...queued) queueShown { return queueShown{entries: all, tip: "a"} }
	for _, test := range []struct {
		title string
		shown queueShown
		pulls []int
		is    string // whole, partial or gone
	}{
		{"up to the one whose commit it is", one(queued{7, "b"}, queued{8, "c"}, queued{9, "d"}), []int{7, 8}, "whole"},
		{"that one first", one(queued{8, "c"}, queued{9, "d"}), []int{8}, "whole"},
		{
			"its commit is not shown yet, and its branch is",
			queueShown{[]queued{{7, "b"}, {8, ""}, {9, ""}}, "a", [][3]string{{"pr-8-", "b", "c"}}},
			[]int{7, 8},
			"whole",
		},
		{"neither its commit nor its branch is shown", one(queued{7, "b"}, queued{8, ""}, queued{9, ""}), []int{7, 8}, "partial"},
		{
			"its commit is not shown, and it does not stand on what is in front of it",
			queueShown{[]queued{{6, "f"}, {8, ""}}, "a", [][3]string{{"pr-8-", "b", "c"}}},
			[]int{6, 8},
			"partial",
		},
		{"who stood in front of it was taken out", one(queued{8, ""}), []int{8}, "partial"},
		{"the first, whose commit is not shown yet", queueShown{[]queued{{8, ""}}, "b", [][3]string{{"pr-8-", "b", "c"}}}, []int{8}, "whole"},
		{"the first was taken out and put in again", queueShown{[]queued{{8, ""}}, "b", nil}, []int{8}, "partial"},
		{"the queue built another for it", one(queued{7, "b"}, queued{8, "e"}), nil, "gone"},
		{
			"it is not shown yet, and what it stands on is",
			queueShown{[]queued{{6, "f"}, {7, "b"}}, "a", [][3]string{{"pr-8-", "b", "c"}}},
			[]int{6, 7, 8},
			"whole",
		},
		{"it was taken out, and what it stands on is there", one(queued{6, "f"}, queued{7, "b"}), []int{6, 7, 8}, "partial"},
		{"neither it nor what it stands on is shown", one(queued{9, "d"}), []int{8}, "partial"},
		{"an empty queue, and it does not stand on the base", one(), []int{8}, "partial"},
		{"an empty queue, and it stands on the base", queueShown{nil, "b", [][3]string{{"pr-8-", "b", "c"}}}, []int{8}, "whole"},
		{"the queue let go of it, and it stands on the base", queueShown{tip: "b"}, []int{8}, "partial"},
		{"it was merged", queueShown{tip: "c"}, nil, "gone"},
		{
			"two branches stand on what it stands on",
			queueShown{tip: "a", branches: [][3]string{{"pr-6-", "a", "b"}, {"pr-7-", "a", "b"}}},
			[]int{8},
			"partial",
		},
		{"a host that shows neither queue nor base", queueShown{}, []int{8}, "whole"},
		{
			"branches lead to the base",
			queueShown{nil, "a", [][3]string{{"pr-6-", "a", "f"}, {"gh-readonly-queue/main/pr-7-", "f", "b"}, {"pr-8-", "b", "c"}}},
			[]int{6, 7, 8},
			"whole",
		},
		{"branches lead to an entry", queueShown{[]queued{{5, "f"}}, "a", [][3]string{{"pr-7-", "f", "b"}, {"pr-8-", "b", "c"}}}, []int{5, 7, 8}, "whole"},
		{"branches lead nowhere", queueShown{nil, "a", [][3]string{{"pr-7-", "f", "b"}}}, []int{7, 8}, "partial"},
		{"branches lead in a circle", queueShown{nil, "a", [][3]string{{"pr-7-", "f", "b"}, {"pr-6-", "b", "f"}}}, []int{6, 7, 8}, "partial"},
		{"a branch that is none of a queue's", queueShown{nil, "a", [][3]string{{"pr-x-", "f", "b"}}}, []int{8}, "partial"},
	} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			w.g.AddFault(sandbox.Fault{Match: "POST /graphql", Kind: sandbox.FaultAnswer, Status: 200, Body: test.shown.answer()})
			g, err := github.QueuesOf(w.forge).ReadGroup(t.Context(), ref)
			is := "partial"
			if g.Gone {
				is = "gone"
			} else if g.Whole {
				is = "whole"
			}
			var pulls []int
			for _, pr := range g.Pulls {
				pulls = append(pulls, pr.Number)
			}
			if err != nil || !slices.Equal(pulls, test.pulls) || is != test.is {
				t.Errorf("%s: %v, %s, %v", test.title, pulls, is, err)
			}
		})
	}
}

// queueOf is the group that the queue of a world built last.
func (w *world) queueOf(number int, commit string) quorum.GroupRef {
	w.t.Helper()
	w.must(sandbox.Enqueue(w.g, number, commit, "alice"))
	all := sandbox.Groups(w.g)
	last := all[len(all)-1]
	return quorum.GroupRef{Owner: "acme", Repo: "shop", Head: last.Head, Branch: last.Branch}
}

// A token that may not read the queue sees the branches on which its groups stand.
func TestGroupIsReadWithoutThePermission(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.g.OpenPull(sandbox.PullSpec{Number: 8, Head: "b1"})
		w.queueOf(7, "m1")
		ref := w.queueOf(8, "m2")
		w.g.AddFault(sandbox.Fault{
			Match: "POST /graphql", Kind: sandbox.FaultAnswer, Status: 200, Times: 1,
			Body: `{"data":{"repository":{"mergeQueue":null}},"errors":[{"type":"FORBIDDEN","path":["repository","mergeQueue"],` +
				`"message":"Resource not accessible by integration"}]}`,
		})
		g, err := github.QueuesOf(w.forge).ReadGroup(t.Context(), ref)
		if err != nil || len(g.Pulls) != 2 || g.Pulls[0].Number != 7 || g.Pulls[1].Number != 8 || !g.Whole || g.Since.IsZero() {
			t.Errorf("%+v, %v", g, err)
		}
	})
}

// groupCheck is a group's check that passes.
func groupCheck(ref quorum.GroupRef, change ...func(*report.Check)) report.Check {
	return check(ref.Head, append([]func(*report.Check){func(c *report.Check) {
		c.ExternalID, c.Status, c.Conclusion = report.GroupID("acme", "shop", "main"), "completed", "success"
	}}, change...)...)
}

// A group has one check, which is written when it reads otherwise, and a job's has the status beside it.
func TestGroupsCheckIsWrittenOnce(t *testing.T) {
	for _, slug := range []string{"quorum-app", quorum.ActionsApp} {
		for _, kind := range []sandbox.FaultKind{"", sandbox.FaultLost, sandbox.FaultUnsent} {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) { s.sand.App = sandbox.App{Slug: slug} })
				ref, queues := w.queueOf(7, "m1"), github.QueuesOf(w.forge)
				if kind != "" {
					w.g.AddFault(sandbox.Fault{Match: creates, Kind: kind, Times: 1})
				}
				w.must(queues.PublishGroup(t.Context(), ref, groupCheck(ref)))
				w.must(queues.PublishGroup(t.Context(), ref, groupCheck(ref)))
				all := w.g.OwnCheckRuns(ref.Head)
				if len(all) != 1 || all[0].Writes != 1 || all[0].Conclusion != "success" || all[0].ExternalID != "review-coordinator acme/shop@main" {
					t.Fatalf("%s, %s: %+v", slug, kind, all)
				}
				w.must(queues.PublishGroup(t.Context(), ref, groupCheck(ref, func(c *report.Check) { c.Conclusion, c.Title = "failure", "no" })))
				if all = w.g.OwnCheckRuns(ref.Head); len(all) != 1 || all[0].Writes != 2 || all[0].Conclusion != "failure" {
					t.Errorf("%s, %s: %+v", slug, kind, all)
				}
				want := ""
				if slug == quorum.ActionsApp {
					want = "failure"
				}
				if st := w.statusOn(ref.Head); st.State != want {
					t.Errorf("%s, %s: the status is %q", slug, kind, st.State)
				}
			})
		}
	}
}

// A pass that was decided before somebody else wrote a no is not written over it.
func TestGroupsPassIsNotWrittenOverANo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		ref := w.queueOf(7, "m1")
		waits := groupCheck(ref, func(c *report.Check) { c.Status, c.Conclusion = "in_progress", "" })
		w.must(github.QueuesOf(w.forge).PublishGroup(t.Context(), ref, waits))
		other := w.beside()
		reads := 0
		isSecondRead := func(r *http.Request) bool {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ref.Head+"/check-runs") {
				reads++
			}
			return reads == 2
		}
		w.once(isSecondRead, func() {
			no := groupCheck(ref, func(c *report.Check) { c.Conclusion, c.Title = "failure", "no" })
			w.must(github.QueuesOf(other.forge).PublishGroup(t.Context(), ref, no))
		})
		err := github.QueuesOf(w.forge).PublishGroup(t.Context(), ref, groupCheck(ref))
		if all := w.g.OwnCheckRuns(ref.Head); !errors.Is(err, github.ErrMoved) || all[0].Conclusion != "failure" {
			t.Errorf("%v, and the check reads %s", err, all[0].Conclusion)
		}
	})
}

// Anybody can open a pull request on a commit of the queue. As long as the queue has it, that does not touch the queue's
// check: neither undecided, nor when it is decided, nor closed. Afterwards the check is its own, and no old green.
func TestAPullRequestOnTheQueuesCommitHoldsItUpNot(t *testing.T) {
	for base, isOne := range map[string]bool{"main": true, "feature": false} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			ref := w.queueOf(7, "m1")
			w.must(github.QueuesOf(w.forge).PublishGroup(t.Context(), ref, groupCheck(ref)))
			w.g.OpenPull(sandbox.PullSpec{Number: 9, Head: "m1", Base: base, Fork: "mallory", Author: "mallory"})
			w.pr.Number = 9
			for range 2 { // undecided, and decided
				if _, err := w.loop.Reconcile(t.Context(), w.pr); errors.Is(err, github.ErrMoved) != isOne {
					t.Errorf("against %s: %v", base, err)
				}
				pass(time.Hour)
			}
			w.must(w.g.Close(9, "mallory"))
			w.look()
			plain := func() (all []sandbox.StoredCheckRun) {
				return slices.DeleteFunc(w.g.OwnCheckRuns(ref.Head), func(c sandbox.StoredCheckRun) bool { return c.Name != "Review quorum" })
			}
			if all := plain(); len(all) != 1 || all[0].Conclusion != "success" || all[0].Writes != 1 || len(w.g.OwnCheckRuns(ref.Head)) == 1 != isOne {
				t.Fatalf("against %s the queue's check reads %+v", base, all)
			}
			w.must(w.g.Reopen(9, "mallory"))
			w.must(sandbox.Dequeue(w.g, 7))
			w.look()
			if all := plain(); len(all) != 1 || all[0].Conclusion == "success" {
				t.Errorf("against %s the check reads %s %q when the queue has let go of the commit", base, all[0].Conclusion, all[0].Title)
			}
		})
	}
}
