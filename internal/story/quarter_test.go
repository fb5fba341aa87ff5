package story_test

// A team's quarter in virtual time: some thousand pull requests of thirteen weeks, six reviewers, outages, limits, forks,
// force-pushes, other bases, and people who wish the team ill, through the adapter against GitHub in memory. Nobody wrote
// these stories; an oracle that knows what was really said holds the check against it after every look.

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

var (
	quarterPulls = flag.Int("quarter-pulls", 26, "number of pull requests of the team's quarter; from 2000 on every move and answer must occur")
	quarterSeed  = flag.Uint64("quarter-seed", 23, "of the quarter: the same seed gives the same quarter")
	quarterOnly  = flag.Int("quarter-only", -1, "play only this week of the quarter, from 0 on")
	quarterTell  = flag.Int("quarter-tell", 0, "the number of the pull request whose history is told")
)

const quarterWeeks = 13

// A quarter is what became of it.
type quarter struct {
	mu     sync.Mutex
	counts map[string]int
	broken []string
	looks  int
	told   []string
}

// playQuarter plays the weeks of a quarter, or one of them, each on a GitHub of its own.
func playQuarter(t *testing.T, seed uint64, pulls, only, tell int, mutate teamMutation) *quarter {
	q := &quarter{counts: map[string]int{}}
	t.Run("weeks", func(t *testing.T) {
		for n := range quarterWeeks {
			if only >= 0 && n != only {
				continue
			}
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(*testing.T) { q.add(playWeek(seed, n, pulls, mutate), tell) })
			})
		}
	})
	slices.Sort(q.broken)
	return q
}

// playWeek plays one week of a quarter.
func playWeek(seed uint64, n, pulls int, mutate teamMutation) *teamWeek {
	w := prepareWeek(seed, n, pulls)
	w.mutate = mutate
	w.play()
	return w
}

// playWeekUntil plays one week, until what is looked for has happened, and returns what is broken.
func playWeekUntil(seed uint64, n, pulls int, mutate teamMutation, finds string) []string {
	w := prepareWeek(seed, n, pulls)
	w.mutate, w.until = mutate, finds
	w.play()
	return w.broken
}

// prepareWeek lets the pull requests of a week open when it is played.
func prepareWeek(seed uint64, n, pulls int) *teamWeek {
	first, last := n*pulls/quarterWeeks, (n+1)*pulls/quarterWeeks
	share := func(names []string) int { return n * len(names) / quarterWeeks }
	w := newTeamWeek(seed, n, last-first, newDeck(seed, share(unusualAnswers), unusualAnswers), newDeck(seed, share(moveNames()), moveNames()))
	r := rand.New(rand.NewPCG(seed, uint64(1_000_000+n)))
	for number := first + 1; number <= last; number++ {
		w.after(w.delayOfOpening(r, number-first), func() { w.openPull(number) })
	}
	return w
}

func (q *quarter) add(w *teamWeek, tell int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for what, n := range w.counts {
		q.counts[what] += n
	}
	q.broken, q.looks = append(q.broken, w.broken...), q.looks+w.looks
	if p := w.pull(tell); p != nil {
		q.told = append(q.told, fmt.Sprintf("#%d in week %d: %s", p.number, w.number, strings.Join(p.history, "\n\t")))
	}
}

// missing are the moves and answers that nobody made.
func (q *quarter) missing() (all []string) {
	for _, name := range moveNames() {
		if q.counts[name] == 0 {
			all = append(all, name)
		}
	}
	for _, name := range unusualAnswers {
		if q.counts["answer: "+name] == 0 {
			all = append(all, "answer: "+name)
		}
	}
	for _, name := range slices.Concat(queueNames, breakerNames, fixNames) {
		if q.counts[name] == 0 {
			all = append(all, name)
		}
	}
	return all
}

// summary tells what happened, and how often.
func (q *quarter) summary() string {
	var b strings.Builder
	for _, what := range slices.SortedFunc(maps.Keys(q.counts), cmp.Compare) {
		fmt.Fprintf(&b, "%7d  %s\n", q.counts[what], what)
	}
	return b.String()
}

func TestQuarter(t *testing.T) {
	q := playQuarter(t, *quarterSeed, *quarterPulls, *quarterOnly, *quarterTell, teamMutation{})
	t.Logf("seed %d, %d pull requests, %d looks:\n%s", *quarterSeed, *quarterPulls, q.looks, q.summary())
	for _, told := range q.told {
		t.Log(told)
	}
	for i, what := range q.broken {
		if i == 20 {
			t.Errorf("and %d more", len(q.broken)-i)
			break
		}
		t.Errorf("seed %d: %s", *quarterSeed, what)
	}
	if *quarterOnly < 0 && *quarterPulls >= 2000 {
		for _, name := range q.missing() {
			t.Errorf("nothing of this happened: %s", name)
		}
	}
}
