package loop_test

// A reviewer whose format has changed, over several pull requests: within a sweep, and in the next one by what stands
// on GitHub.

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const askedPolicy = `
version: 1
quorum: 1
reviewers:
  - name: sage
    author: "sage[bot]"
    verdict: review-state
    request: {comment: "@sage review"}
`

// newAsked is a repository whose one reviewer can be asked again.
func newAsked(t *testing.T) *swept {
	w := &swept{t: t}
	w.g = sandbox.New(sandbox.Options{HourlyLimit: 5000, Now: w.now})
	w.g.SetFile(".github/review-coordinator.yml", "", askedPolicy)
	return w
}

// opens opens pull requests, on each of which sage answers; COMMENTED, and nobody can read it.
func (w *swept) opens(state string, numbers ...int) {
	w.t.Helper()
	for _, n := range numbers {
		w.g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n)})
	}
	w.answers(state, numbers...)
}

// answers lets sage answer.
func (w *swept) answers(state string, numbers ...int) {
	w.t.Helper()
	for _, n := range numbers {
		body := "The basket is now called a cart.\n\nReviewed commit: " + sandbox.SHA(fmt.Sprintf("head of %d", n))
		if _, err := w.g.Review(n, sandbox.ReviewSpec{By: "sage[bot]", State: state, Body: body}); err != nil {
			w.t.Fatal(err)
		}
		w.pass(time.Second)
	}
	w.pass(3 * time.Minute)
}

// hears makes a sweep as the program makes one: it begins with what our checks tell.
func (w *swept) hears() {
	w.t.Helper()
	memory := &loop.AnswerMemory{}
	w.change = func(s *loop.Sweep) { s.Reconciler.Hear = memory.Hear }
	w.began = func(open github.Open) { memory.Hear(w.t.Context(), quorum.PR{}, open.Heard) }
	if _, tally := w.sweep(w.t.Context()); tally.Failed > 0 {
		w.t.Fatalf("%d failed", tally.Failed)
	}
}

// asked wants sage to have been asked again on these pull requests, and no others.
func (w *swept) asked(numbers ...int) {
	w.t.Helper()
	var got []int
	for n := range 20 {
		if w.g.NewestComment(n, quorum.ActionsBot) != 0 {
			got = append(got, n)
		}
	}
	if !slices.Equal(got, numbers) {
		w.t.Errorf("asked again on %v, want %v", got, numbers)
	}
}

func TestASweepAsksNobodyAgainWhomNobodyUnderstands(t *testing.T) {
	for _, concurrent := range []int{1, 4} {
		t.Run(fmt.Sprint(concurrent, " at once"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newAsked(t)
				w.g.SetFile(".github/review-coordinator.yml", "", askedPolicy+fmt.Sprintf("sweep: {max_concurrent: %d}\n", concurrent))
				w.opens("COMMENTED", 1, 2, 3, 4, 5, 6)
				w.hears()
				var asked int
				for n := range 7 {
					if w.g.NewestComment(n, quorum.ActionsBot) != 0 {
						asked++
					}
				}
				if asked != 3 {
					t.Errorf("asked again on %d pull requests, want 3", asked)
				}
				for _, told := range w.told {
					b := told.Look.Decision.Ballots[0]
					isAsked := w.g.NewestComment(told.PR.Number, quorum.ActionsBot) != 0
					if !isAsked && (b.Vote != quorum.Unavailable || b.Reason != quorum.ReasonDrift) {
						t.Errorf("%s: %s, %s", told.PR, b.Vote, b.Reason)
					}
				}
			})
		})
	}
}

func TestTheNextSweepKnowsWhatOurChecksTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAsked(t)
		w.opens("COMMENTED", 1, 2, 3)
		w.hears()
		w.asked(1, 2, 3)
		w.answers("COMMENTED", 1, 2, 3)
		w.hears()
		w.opens("COMMENTED", 4)
		w.hears()
		w.asked(1, 2, 3)
		w.opens("APPROVED", 5)
		w.hears()
		w.opens("COMMENTED", 6)
		w.hears()
		w.asked(1, 2, 3, 6) // 5 was understood
	})
}

// Who looks at one pull request alone knows no others.
func TestWithoutAHistoryItIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAsked(t)
		w.opens("COMMENTED", 1, 2, 3, 4)
		w.sweep(t.Context())
		w.asked(1, 2, 3, 4)
	})
}
