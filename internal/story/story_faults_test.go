package story

// Every story again, while GitHub fails: each request lost on its way, each answer lost on its way back, and another
// replica between any two requests. Whatever happens, it ends with the same check, and nothing is run twice.

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

var (
	faultsFlag     = flag.String("faults", "sample", "faults that are tried: those of a sample of the stories, all, or every n-th of every story, for example 12")
	faultsSeedFlag = flag.Uint64("faults-seed", 2026, "which faults are tried where not all are")
)

// sampledStories is the number of stories in a sample: two plays of each kind for each.
const sampledStories = 6

// longStory is how many requests a story has of which a part of the faults takes no more than of a shorter one.
const longStory = 144

// trial is one play of a story with one fault in it.
type trial struct {
	s    *Scenario
	want Story
	// reruns says how often each run is run again without the fault.
	reruns map[int64]int
	nth    int // the request that fails, from 0
}

// allTrials are all requests of all stories, one in so many of them, or a sample of a few stories. The seed says which.
func allTrials(t *testing.T) (all []trial) {
	t.Helper()
	random := rand.New(rand.NewPCG(7, *faultsSeedFlag))
	told := parseStories(t)
	part := 1
	switch *faultsFlag {
	case "all":
	case "sample":
		random.Shuffle(len(told), func(i, j int) { told[i], told[j] = told[j], told[i] })
		told = told[:min(sampledStories, len(told))]
	default:
		var err error
		if part, err = strconv.Atoi(*faultsFlag); err != nil || part < 1 {
			t.Fatalf("-faults=%s: it is sample, all, or how many there are for each that is tried", *faultsFlag)
		}
	}
	for place, s := range told {
		if s.hasFaults { // it has faults of its own
			continue
		}
		var g *sandbox.GitHub
		want, err := s.PlayStepped(t.Context(), Audience{prepare: func(w *world) { g = w.g }})
		if err != nil {
			t.Fatal(err)
		}
		n := len(g.Requests())
		if *faultsFlag == "sample" {
			all = append(all, trial{s, want, g.Wrote().Reruns, random.IntN(n)}, trial{s, want, g.Wrote().Reruns, random.IntN(n)})
			continue
		}
		step := part
		if part > 1 { // of a story of a thousand requests fewer: it would cost as much as a hundred others
			step = max(part, part*n/longStory)
		}
		first := int((*faultsSeedFlag + uint64(place)) % uint64(step)) // as many seeds one after another take all
		for i := first; i < n; i += step {
			all = append(all, trial{s, want, g.Wrote().Reruns, i})
		}
	}
	return all
}

// asksTwice are the stories in which two processes that wake in one second both ask a reserve, which then answers twice. That is
// a known fault: what is due by the clock is announced in no check before. The list only shrinks.
var asksTwice = []string{"a-reserve-that-objected-is-asked-again"}

func TestFaults(t *testing.T) {
	all := allTrials(t)
	t.Logf("%s, seed %d: %d plays of each kind", *faultsFlag, *faultsSeedFlag, len(all))
	for _, kind := range []sandbox.FaultKind{sandbox.FaultUnsent, sandbox.FaultLost} {
		t.Run(string(kind), func(t *testing.T) {
			for _, try := range all {
				t.Run(fmt.Sprintf("%s/%d", try.s.baseName(), try.nth), func(t *testing.T) {
					t.Parallel()
					var g *sandbox.GitHub
					got, err := try.s.PlayStepped(t.Context(), Audience{prepare: func(w *world) {
						g = w.g
						g.AddFault(sandbox.Fault{Kind: kind, Skip: try.nth, Times: 1})
					}})
					if err != nil {
						t.Fatal(err)
					}
					checkUnharmed(t, g, try, got, 1)
				})
			}
		})
	}
	t.Run("replica", func(t *testing.T) { // another process looks at the same pull requests between two requests
		for _, try := range all {
			if slices.Contains(asksTwice, try.s.baseName()) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", try.s.baseName(), try.nth), func(t *testing.T) {
				t.Parallel()
				other := replica{at: try.nth}
				got, err := try.s.PlayStepped(t.Context(), Audience{prepare: func(w *world) {
					other.w = w
					w.g.BeforeRequest(other.lookBefore)
				}})
				if err != nil {
					t.Fatal(err)
				}
				checkUnharmed(t, other.w.g, try, got, 2)
			})
		}
	})
}

// replica looks once, before the request whose turn it is.
type replica struct {
	w  *world
	at int

	mu   sync.Mutex
	seen int
}

func (r *replica) lookBefore(req *http.Request) {
	r.mu.Lock()
	r.seen++
	now := r.seen == r.at+1
	r.mu.Unlock()
	if !now {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(req.Context()), time.Minute)
	defer stop()
	for _, target := range r.w.lookTargets() {
		other, err := r.w.newReconciler(r.w.g, r.w.now)
		if err != nil {
			panic(err) // unreachable: the first replica opened it as well
		}
		other.Seen = nil
		_, _ = target.reconcile(ctx, other) // what it comes to shows on GitHub
	}
}

// checkUnharmed checks what no fault may change. Two replicas may each create the check of a head: then both must say
// the same.
func checkUnharmed(t *testing.T, g *sandbox.GitHub, try trial, got Story, checks int) {
	t.Helper()
	if diff := cmp.Diff(finalStates(try.want), finalStates(got)); diff != "" {
		t.Errorf("it ends otherwise (-without the fault +with it):\n%s\n%s", diff, got)
	}
	without := slices.Sorted(maps.Keys(try.reruns)) // their order is the same; ids are those of checks, too
	for i, id := range slices.Sorted(maps.Keys(g.Wrote().Reruns)) {
		most := 1
		if i < len(without) {
			most = max(try.reruns[without[i]], 1) // a person may ask for more, and a push back makes a cancelled one again
		}
		if n := g.Wrote().Reruns[id]; n > most {
			t.Errorf("run %d was run again %d times", id, n)
		}
	}
	started := map[string]bool{}
	for _, d := range g.Wrote().Dispatched {
		if started[d.Name] {
			t.Errorf("%q was started twice", d.Name)
		}
		started[d.Name] = true
	}
	for _, head := range g.WrittenHeads() {
		reads, count := map[string]string{}, map[string]int{}
		for _, c := range g.OwnCheckRuns(head) {
			now := c.Status + " " + c.Conclusion + " " + c.Title
			if old, twice := reads[c.Name]; twice && old != now {
				t.Errorf("two checks %q on %s disagree: %q and %q", c.Name, head[:7], old, now)
			}
			reads[c.Name] = now
			if count[c.Name]++; count[c.Name] > checks {
				t.Errorf("%d checks %q stand on %s", count[c.Name], c.Name, head[:7])
			}
		}
	}
}

// finalStates is how each check stands in the end. Until when it waits may differ by the second that the fault took.
func finalStates(s Story) map[string]string {
	final := s.FinalStates()
	for key, says := range final {
		says, _, _ = strings.Cut(says, " until ")
		if final[key] = says; strings.HasPrefix(says, "cancelled the check is called ") {
			delete(final, key) // a look that was late never gave it the other name
		}
	}
	return final
}
