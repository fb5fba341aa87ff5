package github_test

// Green that a pull request leaves behind, where another one could pick it up.

import (
	"fmt"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func TestGreenThatIsLeftBehindEnds(t *testing.T) {
	closes := func(w *world) error { return w.g.Close(7, "alice") }
	for name, c := range map[string]struct {
		base   string
		before string // what a reviewer says before; "": nothing
		shared bool   // another open pull request has the head
		leaves func(*world) error
		want   string // of a1: the check's conclusion or status, and the status beside a job's
	}{
		"closed, against the default branch": {"main", plainYes, false, closes, "success success"},
		"closed, against another that needs": {"kept", plainYes, false, closes, "cancelled error"},
		"closed, and another has its head":   {"kept", plainYes, true, closes, "success success"},
		"closed while it waits":              {"main", "", false, closes, "cancelled error"},
		"closed, red":                        {"kept", plainNo, false, closes, "failure failure"},
		"merged, green":                      {"kept", plainYes, false, func(w *world) error { return w.g.Merge(7, "alice") }, "success success"},
		"merged while it waits":              {"main", "", false, func(w *world) error { return w.g.Merge(7, "alice") }, "in_progress pending"},
		"pushed, green":                      {"main", plainYes, false, pushes("b2"), "cancelled error"},
		"pushed, red":                        {"main", plainNo, false, pushes("b2"), "failure failure"},
		"pushed while it waits":              {"main", "", false, pushes("b2"), "cancelled error"},
		"retargeted, then pushed": {"main", plainYes, false, func(w *world) error {
			w.must(w.g.Retarget(7, "free", "alice"))
			pass(time.Second)
			return pushes("b2")(w)
		}, "cancelled error"},
	} {
		for who, identity := range map[string]func(*setup){"App": func(*setup) {}, "job": asJob} {
			t.Run(name+", "+who, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					w := newWorld(t, under(oneSage), identity, func(s *setup) { s.pull.Base = c.base })
					w.g.Protect("kept")
					w.look()
					if c.before != "" {
						w.comment("sage[bot]", c.before)
						w.look()
					}
					if c.shared {
						w.g.OpenPull(sandbox.PullSpec{Number: 8, Head: "a1", Branch: "other", Base: c.base})
					}
					pass(time.Minute)
					w.must(c.leaves(w))
					pass(time.Minute)
					w.look()
					got := w.g.OwnCheckRuns(sandbox.SHA("a1"))[0]
					state := got.Conclusion
					if state == "" {
						state = got.Status
					}
					want := c.want
					if who == "App" {
						fmt.Sscan(c.want, &want)
					} else {
						state += " " + w.statusOn(sandbox.SHA("a1")).State
					}
					if got.Text == "" {
						t.Error("its record is lost")
					}
					if state != want {
						t.Errorf("%s: %s, want %s", got.Title, state, want)
					}
				})
			})
		}
	}
}

func pushes(head string) func(*world) error {
	return func(w *world) error { return w.g.Push(7, head, sandbox.PushSpec{}) }
}

// A reviewer that objected is required on what comes after, however many commits came at once, and though the process that looks
// never saw the head that it objected to.
func TestManyCommitsAtOnceShedNoObjection(t *testing.T) {
	for _, more := range []int{1, evidence.ListedCommits - 1, evidence.ListedCommits, 19, 60} {
		t.Run(fmt.Sprint(more), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) {
					s.policy = "version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n  - {name: sec, author: \"sec[bot]\"}\n"
				})
				w.look()
				pass(time.Minute)
				do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "sec[bot]", State: "CHANGES_REQUESTED", Body: "**Ready to merge?** No"}))
				pass(time.Minute)
				w.look()
				w.reads("failure", "")
				for n := range more {
					w.must(w.g.Push(7, fmt.Sprint("c", n), sandbox.PushSpec{}))
				}
				fresh := *w
				fresh.replica(setup{token: "ghs_y", now: time.Now})
				fresh.look()
				pass(time.Minute)
				do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "**Ready to merge?** Yes"}))
				pass(time.Hour)
				fresh.look()
				if is := fresh.own(); is.Conclusion == "success" {
					t.Errorf("it reads %q", is.Title)
				}
			})
		})
	}
}

// All commits are asked for once: the record says that there was no other head to be found.
func TestManyCommitsAreAskedForOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *setup) { s.policy = bySage })
		for n := range 3 * evidence.ListedCommits {
			w.must(w.g.Push(7, fmt.Sprint("c", n), sandbox.PushSpec{}))
		}
		var queries []int
		for range 3 {
			fresh := *w
			fresh.replica(setup{token: "ghs_y", now: time.Now})
			w.g.ForgetRequests()
			fresh.look()
			queries = append(queries, fresh.asked().graphql)
			pass(time.Minute)
		}
		if queries[0] != 2 || queries[1] != 1 || queries[2] != 1 {
			t.Errorf("three processes took %v queries", queries)
		}
	})
}
