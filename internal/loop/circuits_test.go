package loop_test

// A reviewer whose service is down, over the pull requests of a sweep, and over pull requests of one head.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const downPolicy = `
version: 1
quorum: 1
sweep: {max_concurrent: %d}
circuit_breaker: {failure_threshold: 3}
reviewers:
  - name: gemini
    workflow: .github/workflows/gemini.yml
    heading: "## Gemini Review"
`

// newDown is a repository in which gemini is down.
func newDown(t *testing.T, concurrent int) *swept {
	w := &swept{t: t}
	w.g = sandbox.New(sandbox.Options{HourlyLimit: 5000, Now: w.now})
	w.g.SetFile(".github/review-coordinator.yml", "", fmt.Sprintf(downPolicy, concurrent))
	return w
}

// fails opens pull requests, all of one maintainer's, on which a run of gemini fails at once, and returns these runs.
func (w *swept) fails(numbers ...int) map[int]int64 {
	w.t.Helper()
	runs := map[int]int64{}
	for _, n := range numbers {
		w.g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n)})
		id, err := w.g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/gemini.yml", PR: n})
		if err == nil {
			_, err = w.g.FinishRun(id, sandbox.Finish{Conclusion: "failure", Log: "Error: 503 Service Unavailable"})
		}
		if err != nil {
			w.t.Fatal(err)
		}
		runs[n] = id
		w.pass(time.Second)
	}
	w.pass(2 * time.Minute) // reruns are due
	return runs
}

// senses makes a sweep as the program makes one, with a memory of its own, and returns how many runs it ran again.
func (w *swept) senses() int {
	w.t.Helper()
	before := len(w.g.Wrote().RerunOrder)
	w.change = func(s *loop.Sweep) { s.Reconciler.Note = loop.CircuitWatch{Table: &loop.SignMemory{}, Now: w.now}.Note }
	if _, tally := w.sweep(w.t.Context()); tally.Failed > 0 {
		w.t.Fatalf("%d failed: %+v", tally.Failed, w.told)
	}
	return len(w.g.Wrote().RerunOrder) - before
}

func TestASweepStopsAskingWhoIsDown(t *testing.T) {
	for _, concurrent := range []int{1, 4} {
		t.Run(fmt.Sprint(concurrent, " at once"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newDown(t, concurrent)
				w.fails(1, 2, 3, 4, 5, 6, 7, 8)
				if n := w.senses(); n > 3 || n < 2 { // two are known to be too few, and looks side by side are told before they decide
					t.Errorf("%d runs were run again, want 2 or 3", n)
				}
				held := 0
				for _, told := range w.told {
					if b := told.Look.Decision.Ballots[0]; !b.Circuit.IsZero() {
						held++
						if told.Look.Decision.Verdict != quorum.Waiting || len(told.Look.Snapshot.Record.Circuits) != 1 {
							t.Errorf("%s: %s, %+v", told.PR, told.Look.Decision.Verdict, told.Look.Snapshot.Record.Circuits)
						}
						if text := told.Look.Check.Summary; !strings.Contains(text, "circuit open until ") {
							t.Errorf("%s does not say so:\n%s", told.PR, text)
						}
					}
				}
				if held < 5 {
					t.Errorf("%d are held back", held)
				}
			})
		})
	}
}

// The next sweep knows what the first one wrote, and what GitHub shows.
func TestTheNextSweepHoldsThemToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDown(t, 1)
		runs := w.fails(1, 2, 3, 4, 5)
		first := w.senses()
		w.pass(time.Minute)
		for id := range w.g.Wrote().Reruns {
			if _, err := w.g.FinishRun(id, sandbox.Finish{Conclusion: "failure", Log: "Error: 503 Service Unavailable"}); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(2 * time.Minute)
		if n := w.senses(); n != 0 {
			t.Errorf("%d runs were run again within the ten minutes", n)
		}
		w.pass(15 * time.Minute)
		if n := w.senses(); n != 1 {
			t.Errorf("%d runs were run again after them, want one: the probe", n)
		}
		if len(w.g.Wrote().RerunOrder) != first+1 || len(runs) != 5 {
			t.Errorf("%v", w.g.Wrote().RerunOrder)
		}
	})
}

// Who looks at one pull request alone holds nobody back.
func TestWithoutOtherPullRequestsNobodyIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDown(t, 4)
		w.fails(1, 2, 3, 4, 5)
		w.change = nil
		if _, tally := w.sweep(t.Context()); tally.Failed > 0 {
			t.Fatal(w.told)
		}
		if n := len(w.g.Wrote().RerunOrder); n != 5 {
			t.Errorf("%d were run again, want all five", n)
		}
	})
}

// tableOf is a table that may fail.
type tableOf struct {
	loop.SignMemory
	unreadable, unwritable bool
}

func (m *tableOf) Signs(ctx context.Context) ([]quorum.Sign, error) {
	if m.unreadable {
		return nil, errors.New("it cannot be read")
	}
	return m.SignMemory.Signs(ctx)
}

func (m *tableOf) AddSigns(ctx context.Context, most int, signs ...quorum.Sign) (int, error) {
	if m.unwritable {
		return 0, errors.New("it cannot be written")
	}
	return m.SignMemory.AddSigns(ctx, most, signs...)
}

func TestCircuitWatch(t *testing.T) {
	var opened, failed []string
	var changed []int
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	table := &tableOf{}
	watch := loop.CircuitWatch{
		Table: table, Now: func() time.Time { return now },
		Opened:  func(pr quorum.PR, c quorum.Circuit) { opened = append(opened, fmt.Sprint(pr.Number, " ", c.Reviewer)) },
		Changed: func(held quorum.PR) { changed = append(changed, held.Number) },
		Failed:  func(_ quorum.PR, doing string, _ error) { failed = append(failed, doing) },
	}
	p := quorum.Policy{Breaker: quorum.Breaker{Threshold: 2, Reset: 10 * time.Minute}, Reviewers: []quorum.Reviewer{{Name: "gemini"}}}
	note := func(pull int, kind quorum.SignKind) quorum.Circuit {
		now = now.Add(time.Second)
		changed = nil
		s := quorum.Sign{Reviewer: "gemini", Of: fmt.Sprint(pull, "/", kind), Kind: kind, Pull: pull, At: now}
		all := watch.Note(t.Context(), p, quorum.PR{Number: pull}, []quorum.Sign{s})
		return quorum.CircuitOf("gemini", quorum.CircuitsOf(p, all))
	}
	want := func(what string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	note(1, quorum.SignOutage)
	want("before it opens", opened, nil)
	if c := note(2, quorum.SignOutage); c.Opened.IsZero() || !slices.Equal(changed, []int{1}) {
		t.Errorf("%+v; changed for %v", c, changed)
	}
	want("once it opens", opened, []string{"2 gemini"})
	if c := note(3, quorum.SignOutage); c.Opened.IsZero() || changed != nil {
		t.Errorf("%+v; changed for %v", c, changed)
	}
	restarted := watch
	watch = restarted // with the table as it stands
	note(4, quorum.SignOutage)
	want("it is told once", opened, []string{"2 gemini"})
	if c := note(5, quorum.SignAnswered); !c.Opened.IsZero() || !slices.Equal(changed, []int{1, 2, 3, 4}) {
		t.Errorf("%+v; changed for %v", c, changed)
	}
	note(6, quorum.SignOutage)
	note(7, quorum.SignOutage)
	want("and again when it opens again", opened, []string{"2 gemini", "7 gemini"})

	table.unwritable = true
	if c := note(8, quorum.SignAnswered); c.Opened.IsZero() == false {
		t.Errorf("what was found is not known: %+v", c)
	}
	want("it cannot be written", failed, []string{"keep"})
	table.unreadable = true
	if c := note(9, quorum.SignOutage); !c.Opened.IsZero() || len(c.Waiting) != 1 {
		t.Errorf("more is known than was found: %+v", c)
	}
	want("nor read", failed, []string{"keep", "read"})
}

// A look at one pull request of a head looks at those that share it, too: what these show is told as their own.
func TestSiblingsAreHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newSwept(t, 1, 5000)
		w.g.OpenPull(sandbox.PullSpec{Number: 2, Head: "head of 1", Base: "stable"})
		if _, err := w.g.Review(2, sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "Reviewed commit: " + sandbox.SHA("head of 1")}); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Hour)
		noted, heard := map[int]int{}, map[int]int{}
		w.change = func(s *loop.Sweep) {
			s.Concurrent = 1
			s.Reconciler.Note = func(_ context.Context, _ quorum.Policy, pr quorum.PR, found []quorum.Sign) []quorum.Sign {
				for _, s := range found {
					if s.Pull != pr.Number {
						t.Errorf("#%d told of #%d", pr.Number, s.Pull)
					}
					noted[s.Pull]++
				}
				return found
			}
			s.Reconciler.Hear = func(_ context.Context, pr quorum.PR, found []quorum.HeardAnswer) []quorum.HeardAnswer {
				heard[pr.Number] += len(found)
				return found
			}
			s.Limit = 1
		}
		if _, tally := w.sweep(t.Context()); tally.Evaluated != 1 {
			t.Fatalf("%+v", tally)
		}
		if noted[1] == 0 || noted[2] == 0 || heard[1] == 0 || heard[2] == 0 {
			t.Errorf("told of %v, heard of %v", noted, heard)
		}
	})
}
