package github_test

// More pull requests of one head, each against a base of its own, than are judged together.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const crowdPolicy = "version: 1\nquorum: 1\nreviewers:\n  - {name: sage, author: 'sage[bot]'}\n"

// openBeside opens the pull requests from first to last on the head of #7, each against a protected base of its own.
func (w *world) openBeside(first, last int, s sandbox.PullSpec) {
	for n := first; n <= last; n++ {
		s.Number, s.Base = n, fmt.Sprintf("base-%d", n)
		w.g.Protect(s.Base)
		w.g.OpenPull(s)
	}
}

// lookFrom looks at pull requests in turn, and wants the head's one check to read so from each of them.
func (w *world) lookFrom(conclusion, title string, numbers ...int) {
	w.t.Helper()
	for _, n := range numbers {
		do[time.Time](w.t)(w.loop.Reconcile(w.t.Context(), quorum.PR{Owner: "acme", Repo: "shop", Number: n}))
		w.reads(conclusion, title)
	}
}

// sageSays is a review of a pull request's head.
func (w *world) sageSays(number int, state string) {
	said := sandbox.ReviewSpec{By: "sage[bot]", State: state, Body: "Read all of it."}
	do[int64](w.t)(w.g.Review(number, said))
}

// Of a crowd nothing is decided, whoever of it is looked at, and nothing that was said in it is lost.
func TestACrowdOfOneHeadIsNotJudged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy))
		w.openBeside(8, 16, sandbox.PullSpec{})
		for n := 7; n <= 16; n++ {
			w.sageSays(n, "APPROVED")
		}
		w.lookFrom("success", "#16 → base-16: 1 of", 7, 16)
		w.openBeside(17, 17, sandbox.PullSpec{})
		w.sageSays(17, "APPROVED")
		const crowd = "#7, #8, #9, #10, #11, #12, #13, #14, #15, #16 and #17 have the same head commit"
		w.lookFrom("action_required", crowd, 17)
		writes := w.own().Writes
		w.sageSays(9, "CHANGES_REQUESTED")
		w.lookFrom("action_required", crowd, 9, 7, 12, 17)
		if n := w.own().Writes - writes; n != 0 {
			t.Errorf("what is seen from the others wrote the check %d times", n)
		}
		w.must(w.g.Close(8, "alice"))
		w.lookFrom("failure", "#9 → base-9: Change", 8, 9, 17)
	})
}

// A crowd of forks holds up no pull request of this repository, and decides nothing where it is alone.
func TestACrowdOfForksHoldsNobodyUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy))
		w.sageSays(7, "APPROVED")
		w.look()
		w.openBeside(8, 18, sandbox.PullSpec{Fork: "mallory", Author: "mallory"})
		w.sageSays(12, "CHANGES_REQUESTED")
		w.lookFrom("success", "1 of 1 approval", 8, 12, 18, 7)
		w.must(w.g.Close(7, "alice"))
		w.lookFrom("action_required", "have the same head commit", 7, 8, 18)
	})
}

// Only those that share the check are a crowd: onto bases that nothing protects anybody may open pull requests.
func TestACrowdOfOtherChecksHoldsNobodyUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy))
		w.sageSays(7, "APPROVED")
		w.look()
		plain := func(conclusion, title string, numbers ...int) {
			t.Helper()
			for _, n := range numbers {
				w.lookAt(n)
				for _, c := range w.g.OwnCheckRuns(w.g.Head(7)) {
					isWanted := strings.HasPrefix(c.Conclusion+c.Status, conclusion) && strings.Contains(c.Title, title)
					if c.Name == "Review quorum" && (!isWanted || strings.Contains(c.Summary, "#12")) {
						t.Errorf("after a look at #%d the check reads %s %q\n%s", n, c.Conclusion, c.Title, c.Summary)
					}
				}
			}
		}
		for n := 8; n <= 20; n++ {
			w.g.OpenPull(sandbox.PullSpec{Number: n, Base: fmt.Sprintf("base-%d", n), Author: "mallory", Draft: n == 18})
			w.lookAt(n)
		}
		plain("success", "1 of 1 approval", 7, 8, 12, 18, 20, 7)
		w.openBeside(21, 21, sandbox.PullSpec{Author: "mallory"})
		plain("in_progress", "#21 → base-21: 0 of 1", 21, 7, 8)
		w.openBeside(22, 30, sandbox.PullSpec{Author: "mallory"})
		plain("action_required", "#28, #29 and #30 have the same head commit", 30, 7)
		plain("action_required", "Unverified: pull requests #7, #21, #22, #23", 8)
	})
}

// What was objected in a crowd stands over a push that changes nothing and leaves the crowd.
func TestACrowdShedsNoObjection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, under(crowdPolicy+"  - {name: owl, author: 'owl[bot]'}\n"))
		w.look()
		w.openBeside(8, 18, sandbox.PullSpec{Author: "mallory"})
		w.sageSays(7, "CHANGES_REQUESTED")
		w.lookFrom("action_required", "have the same head commit", 7)
		pass(time.Minute)
		w.must(w.g.Push(7, "b2", sandbox.PushSpec{Same: true, Force: true}))
		do[int64](t)(w.g.Review(7, sandbox.ReviewSpec{By: "owl[bot]", State: "APPROVED", Body: "Fine."}))
		w.lookFrom("failure", "Changes requested by sage", 7)
	})
}
