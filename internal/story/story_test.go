package story

// Every story, told by every player: they must tell the same.

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

var update = flag.Bool("update", false, "rewrite the stories in testdata/stories")

func parseStories(t *testing.T) (all []*Scenario) {
	t.Helper()
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(file, src)
		if err != nil {
			t.Error(err)
			continue
		}
		all = append(all, s)
	}
	return all
}

func (s *Scenario) baseName() string { return strings.TrimSuffix(filepath.Base(s.File), ".txt") }

// bubbleClock is the clock of a synctest bubble, which has run until the story begins.
func bubbleClock(t *testing.T) sandbox.Clock {
	t.Helper()
	var until atomic.Int64
	deadline.Describe(t, "the story's clock runs until", func() string { return time.Unix(0, until.Load()).UTC().String() })
	c := sandbox.Clock{Now: time.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		until.Store(time.Now().Add(d).UnixNano())
		timer := time.NewTimer(max(d, 0))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return nil
		}
	}}
	if err := c.Sleep(t.Context(), time.Until(Begin)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStories(t *testing.T) {
	var seen outcomes
	t.Run("all", func(t *testing.T) { seen.tellStories(t) })
	if seen.told == seen.all { // and not only those that -run names
		seen.checkComplete(t)
	}
}

// outcomes are what the looks of all stories came to.
type outcomes struct {
	mu   sync.Mutex
	saw  map[string]bool
	all  int // stories
	told int
}

func (o *outcomes) recordLook(l loop.Look) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.saw == nil {
		o.saw = map[string]bool{}
	}
	o.saw[l.Decision.Verdict.String()] = true
	for _, b := range l.Decision.Ballots {
		o.saw[b.Outcome.String()], o.saw[b.Vote.String()] = true, true
	}
}

// checkComplete: the stories show every outcome, every vote and every verdict.
func (o *outcomes) checkComplete(t *testing.T) {
	var want []fmt.Stringer
	for x := quorum.Silent; x <= quorum.Unknown; x++ {
		if x != quorum.Unrelated { // no ballot has it
			want = append(want, x)
		}
	}
	for x := quorum.Pending; x <= quorum.Unavailable; x++ {
		want = append(want, x)
	}
	for x := quorum.Waiting; x <= quorum.Ended; x++ {
		want = append(want, x)
	}
	for _, x := range want {
		if !o.saw[x.String()] {
			t.Errorf("no story shows %q", x)
		}
	}
}

func (o *outcomes) tellStories(t *testing.T) {
	all := parseStories(t)
	o.all = len(all)
	for i, s := range all {
		if i%*storyStep != *storyFirst%*storyStep {
			continue
		}
		t.Run(s.baseName(), func(t *testing.T) {
			o.told++
			t.Parallel()
			var g *sandbox.GitHub
			stepped, err := s.PlayStepped(t.Context(), Audience{Looked: o.recordLook, prepare: func(w *world) { g = w.g }})
			if err != nil {
				t.Fatal(err)
			}
			odd := slices.DeleteFunc(g.InvalidRequests(), func(r string) bool { // a text may name a commit that is none, a policy nobody
				return strings.HasPrefix(r, "GET ") || strings.Contains(r, "Reviews may only be requested from collaborators.")
			})
			if odd = append(odd, g.UnknownRequests()...); len(odd) > 0 {
				t.Errorf("GitHub does not know or take these requests: %q", odd)
			}
			got := stepped.String()
			if *update {
				if err := os.WriteFile(s.File, s.Rewritten(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(s.RecordedStory, got); diff != "" {
				t.Errorf("the story is another (-file +told; -update rewrites it):\n%s", diff)
			}
			if i%*liveStep != *storyFirst%*liveStep {
				return
			}
			synctest.Test(t, func(t *testing.T) {
				lived, err := s.PlayLive(t.Context(), bubbleClock(t), Audience{})
				if err != nil {
					t.Fatal(err)
				}
				if s.hasFaults { // a client waits a random while before it tries again
					compareStories(t, "lived through", stepped, lived)
				} else if diff := cmp.Diff(inMoments(got), inMoments(lived.String())); diff != "" {
					t.Errorf("lived through it is another (-stepped +lived):\n%s", diff)
				}
			})
			if !*tellPolled {
				return
			}
			synctest.Test(t, func(t *testing.T) {
				polled, err := s.PlayPolled(t.Context(), bubbleClock(t), pollEvery, Audience{})
				if err != nil {
					t.Fatal(err)
				}
				compareStories(t, "polled", stepped, polled)
			})
		})
	}
}

// inMoments puts what happens at one moment in an order of its own: looks at several pull requests go side by side.
func inMoments(told string) string {
	lines := strings.SplitAfter(told, "\n")
	moment := func(line string) string { at, _, _ := strings.Cut(line, " "); return at }
	for i, j := 0, 0; i < len(lines); i = j {
		for j = i + 1; j < len(lines) && moment(lines[j]) == moment(lines[i]); {
			j++
		}
		slices.Sort(lines[i:j])
	}
	return strings.Join(lines, "")
}

var (
	tellPolled = flag.Bool("polled", false, "also play every story as a job that polls every 15 seconds")
	liveStep   = flag.Int("live-step", 9, "every n-th story is also lived through, by a job that waits")
	storyStep  = flag.Int("story-step", 1, "TestStories tells every n-th story")
	storyFirst = flag.Int("story-first", 0, "the first story of -story-step, counted from 0, modulo the step")
)

// pollEvery is how often a job polls by default.
const pollEvery = 15 * time.Second

// compareStories compares what must be the same whenever somebody looked.
func compareStories(t *testing.T, how string, want, got Story) {
	t.Helper()
	if diff := cmp.Diff(want.Transitions(), got.Transitions()); diff != "" {
		t.Errorf("%s it takes other turns (-stepped +%s):\n%s", how, how, diff)
	}
	if diff := cmp.Diff(want.FinalStates(), got.FinalStates()); diff != "" {
		t.Errorf("%s it ends otherwise (-stepped +%s):\n%s", how, how, diff)
	}
}

// What GitHub does not pass on is asked for once: the refusal stands in the record, for every later look.
func TestAVainRequestIsMadeOnce(t *testing.T) {
	for _, s := range parseStories(t) {
		if s.baseName() != "copilot-is-asked-in-vain" {
			continue
		}
		asked := 0
		_, err := s.PlayStepped(t.Context(), Audience{prepare: func(w *world) {
			w.g.AfterRequest(func(r *http.Request, _ int) {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/requested_reviewers") {
					asked++
				}
			})
		}})
		if err != nil || asked != 1 {
			t.Errorf("Copilot was asked %d times, %v", asked, err)
		}
		return
	}
	t.Error("the story is not there")
}
