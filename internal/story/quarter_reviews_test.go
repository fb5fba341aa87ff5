package story_test

// Very many reviews through Judge, Decide and the record: histories of a pull request with six reviewers, one of each
// kind and a second workflow, drawn by chance and much longer than those that are walked through in full.

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	manyReviews     = flag.Int("reviews", 1200, "how many reviews go through Judge and Decide")
	manyReviewsSeed = flag.Uint64("reviews-seed", 22, "of these reviews")
)

// reviewMove is a move with which a reviewer is done: its run ends, or it leaves what is a verdict by itself.
var reviewMove = regexp.MustCompile(` (ends as \w+|approves|requests changes|opens a thread|comments no|(check|status) (fails|succeeds))$`)

// movesOfOneHistory is how long such a history is.
const movesOfOneHistory = 40

// walkByChance draws histories until there are so many reviews, and settles each at its end. A history is drawn by its
// number, so that the seed tells them all, however many walk.
func (w *walker) walkByChance(reviews int64, seed uint64) (made int64) {
	isReview := make([]bool, len(w.moves))
	for i, m := range w.moves {
		isReview[i] = reviewMove.MatchString(m.name)
	}
	var number, done atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for done.Load() < reviews && !w.isOver() {
				r := rand.New(rand.NewPCG(seed, uint64(number.Add(1))))
				st, history := newModelState(&w.policy, w.kinds), []string{}
				for range movesOfOneHistory {
					i := r.IntN(len(w.moves))
					if next := w.step(st, w.moves[i], history); next != nil {
						st, history = next, append(history, w.moves[i].name)
						if isReview[i] {
							done.Add(1)
						}
					}
				}
				if r.IntN(4) == 0 {
					w.settle(st, history)
				}
			}
		})
	}
	workers.Wait()
	return done.Load()
}

func TestAMillionReviews(t *testing.T) {
	for _, need := range []int{2, 4} {
		t.Run(fmt.Sprint(need, " approvals"), func(t *testing.T) {
			w := newWalker(theProduct, sixReviewers(need))
			made, most := w.walkByChance(int64(*manyReviews)/2, *manyReviewsSeed), int64(*manyReviews)/2
			t.Logf("seed %d: %d reviews, %d looks; passes %v", *manyReviewsSeed, made, w.looks.Load(), w.passes)
			if made < most || w.passes["reviewers"] == 0 {
				t.Errorf("%d reviews and %d passes: nothing can be seen", made, w.passes["reviewers"])
			}
			for p, told := range w.broken {
				t.Errorf("%s does not hold:\n\t\t%s", p, told)
			}
		})
	}
}

func sixReviewers(need int) world {
	return plainWorld(need, byWorkflowText, byWorkflowText, byConclusion, byApp, byCheck, byStatus)
}

func TestManyReviewsFindTheirMutants(t *testing.T) {
	for _, name := range []string{
		"an objection drops while its reviewer looks again", "the record forgets objections", "a green run is an approval",
		"any account ends an objection", "a rerun spends nothing", "what is under way is run again",
	} {
		t.Run(name, func(t *testing.T) {
			m, p := mutants[name], theProduct
			m.mutate(&p)
			w := newWalker(p, sixReviewers(2))
			w.stopAt = m.finds
			w.walkByChance(20_000, *manyReviewsSeed)
			if w.broken[m.finds] == "" {
				t.Errorf("nothing says that %q does not hold; what does not: %v", m.finds, w.broken)
			}
		})
	}
}

// brokenOnce are histories that broke a law before, by the approvals that their policy needs.
var brokenOnce = []struct {
	need  int
	moves string
}{
	// a no stands until it is answered
	{2, `
d-app opens a thread
d-app threads are resolved by alice
d-app approves
d-app comments no
alice retargets to stable
b-workflow starts
b-workflow says no
b-workflow says yes
b-workflow says no
alice retargets to main
d-app comments no
f-status status succeeds
d-app opens a thread
f-status status is pending
d-app edits its comment into a word that it works
a minute passes
d-app approves
f-status status is pending
d-app comments no
b-workflow starts
b-workflow text is edited into a yes by a workflow
d-app edits its comment into a yes
`},
	// nothing is spent twice
	{2, `
b-workflow starts
alice pushes
e-check check fails
bob approves
bob approves
f-status status is pending
e-check check succeeds
e-check check begins
d-app requests changes
d-app opens a thread
e-check check succeeds
d-app threads are resolved by bob
c-conclusion starts
d-app opens a thread
d-app comments no
b-workflow starts
b-workflow says yes
e-check check begins
b-workflow says that it is overloaded
d-app review is dismissed by github-actions[bot]
a minute passes
b-workflow text is deleted
`},
	// nothing is spent twice
	{4, `
a-workflow starts
d-app opens a thread
alice pushes
a-workflow starts
f-status status is pending
d-app threads are resolved by tidy[bot]
a minute passes
alice closes and reopens
a-workflow says yes
f-status status is pending
a-workflow says no
a minute passes
a-workflow text is deleted
a-workflow says that it is overloaded
d-app approves
bob approves
a-workflow ends as failure
e-check check fails
`},
	// a text is of its head on every base: on the third one, too
	{2, `
d-app comments no
d-app edits its comment into a word that it works
alice retargets to stable
alice retargets to next
`},
}

func TestHistoriesThatWereBrokenOnceHold(t *testing.T) {
	for _, h := range brokenOnce {
		w := newWalker(theProduct, sixReviewers(h.need))
		st, history := newModelState(&w.policy, w.kinds), []string{}
		for name := range strings.Lines(strings.TrimSpace(h.moves)) {
			name = strings.TrimSpace(name)
			i := slices.IndexFunc(w.moves, func(m move) bool { return m.name == name })
			if i < 0 {
				t.Fatalf("no move is called %q", name)
			}
			next := w.step(st, w.moves[i], history)
			if next == nil {
				t.Fatalf("%q cannot follow %q", name, history)
			}
			st, history = next, append(history, name)
		}
		w.settle(st, history)
		for p, told := range w.broken {
			t.Errorf("%s does not hold:\n\t\t%s", p, told)
		}
	}
}
