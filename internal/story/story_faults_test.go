package story

// Every story again, while GitHub fails: each request lost on its way, each answer lost on its way back, and another
// replica between any two requests. Whatever happens, it ends with the same check, and nothing is run twice.

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

var faultsFlag = flag.String("faults", "sample", "how many faults are tried in the stories: sample or all")

// sampled is how many stories a plain go test takes: two plays of each kind for each.
const sampled = 30

// trial is one play of a story with one fault in it.
type trial struct {
	s    *Scenario
	want Story
	nth  int // the request that fails, from 0
}

// trials are all requests of all stories, or a sample that is the same on every machine.
func trials(t *testing.T) (all []trial) {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 2026))
	told := stories(t)
	if *faultsFlag != "all" {
		random.Shuffle(len(told), func(i, j int) { told[i], told[j] = told[j], told[i] })
		told = told[:min(sampled, len(told))]
	}
	for _, s := range told {
		if s.faulty { // it has faults of its own
			continue
		}
		var g *sandbox.GitHub
		want, err := s.Step(t.Context(), Audience{world: func(w *world) { g = w.g }})
		if err != nil {
			t.Fatal(err)
		}
		n := len(g.Requests())
		if *faultsFlag != "all" {
			all = append(all, trial{s, want, random.IntN(n)}, trial{s, want, random.IntN(n)})
			continue
		}
		for i := range n {
			all = append(all, trial{s, want, i})
		}
	}
	return all
}

func TestFaults(t *testing.T) {
	all := trials(t)
	t.Logf("%d plays of each kind", len(all))
	for _, kind := range []sandbox.FaultKind{sandbox.FaultUnsent, sandbox.FaultLost} {
		t.Run(string(kind), func(t *testing.T) {
			for _, try := range all {
				t.Run(fmt.Sprintf("%s/%d", try.s.base(), try.nth), func(t *testing.T) {
					t.Parallel()
					var g *sandbox.GitHub
					got, err := try.s.Step(t.Context(), Audience{world: func(w *world) {
						g = w.g
						g.Fault(sandbox.Fault{Kind: kind, Skip: try.nth, Times: 1})
					}})
					if err != nil {
						t.Fatal(err)
					}
					unharmed(t, g, try.want, got, 1)
				})
			}
		})
	}
	t.Run("replica", func(t *testing.T) { // another process looks at the same pull requests between two requests
		for _, try := range all {
			t.Run(fmt.Sprintf("%s/%d", try.s.base(), try.nth), func(t *testing.T) {
				t.Parallel()
				other := replica{at: try.nth}
				got, err := try.s.Step(t.Context(), Audience{world: func(w *world) {
					other.w = w
					w.g.Before(other.before)
				}})
				if err != nil {
					t.Fatal(err)
				}
				unharmed(t, other.w.g, try.want, got, 2)
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

func (r *replica) before(req *http.Request) {
	r.mu.Lock()
	r.seen++
	now := r.seen == r.at+1
	r.mu.Unlock()
	if !now {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(req.Context()), time.Minute)
	defer stop()
	for _, n := range r.w.numbers {
		other, err := r.w.open(r.w.g, r.w.now)
		if err != nil {
			panic(err) // unreachable: the first replica opened it as well
		}
		other.Seen = nil
		_, _ = other.Reconcile(ctx, r.w.pr(n)) // what it comes to shows on GitHub
	}
}

// unharmed checks what no fault may change. Two replicas may each create the check of a head: then both must say the same.
func unharmed(t *testing.T, g *sandbox.GitHub, want, got Story, checks int) {
	t.Helper()
	if diff := cmp.Diff(finally(want), finally(got)); diff != "" {
		t.Errorf("it ends otherwise (-without the fault +with it):\n%s\n%s", diff, got)
	}
	for id, n := range g.Wrote().Reruns {
		if n > 1 {
			t.Errorf("run %d was run again %d times", id, n)
		}
	}
	for _, head := range g.Heads() {
		reads, count := map[string]string{}, map[string]int{}
		for _, c := range g.Own(head) {
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

// finally is how each check stands in the end. Until when it waits may differ by the second that the fault took.
func finally(s Story) map[string]string {
	final := s.Final()
	for key, says := range final {
		says, _, _ = strings.Cut(says, " until ")
		final[key] = says
	}
	return final
}
