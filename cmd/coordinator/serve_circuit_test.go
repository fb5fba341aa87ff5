//go:build !action

package main

// The daemon and a reviewer whose service is down, over several pull requests and a restart.

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
)

const downPolicy = `
version: 1
quorum: 1
circuit_breaker: {failure_threshold: 3}
reviewers:
  - name: gemini
    workflow: .github/workflows/gemini.yml
    heading: "## Gemini Review"
`

// failsOn opens a pull request of a maintainer's on which gemini's run fails after a minute.
func failsOn(t *testing.T, g *sandbox.GitHub, n int) (run int64) {
	t.Helper()
	g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n)})
	run, err := g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/gemini.yml", PR: n})
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Minute)
	finishRun(t, g, run, sandbox.Finish{Conclusion: "failure", Log: "Error: 503 Service Unavailable"})
	<-time.After(5 * time.Second)
	return run
}

func finishRun(t *testing.T, g *sandbox.GitHub, run int64, f sandbox.Finish) {
	t.Helper()
	if _, err := g.FinishRun(run, f); err != nil {
		t.Fatal(err)
	}
}

// A lineCounter counts the lines of a log that hold a word.
type lineCounter struct {
	word  string
	count atomic.Int64
}

func (c *lineCounter) Write(line []byte) (int, error) {
	c.count.Add(int64(strings.Count(string(line), c.word)))
	return len(line), nil
}

func TestTheDaemonAsksNobodyAgainWhoIsDown(t *testing.T) {
	t.Parallel()
	testKey() // made outside of the bubble
	synctest.Test(t, func(t *testing.T) {
		hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: "a secret of many words"})
		g := sandbox.New(sandbox.Options{Owner: "acme", Repo: "shop", App: hub.App(), Now: time.Now})
		g.SetFile(".github/review-coordinator.yml", "", downPolicy)
		hub.Add(77, g)
		log := lineCounter{word: "a reviewer is not asked again for a while"}
		logger, dir := slog.New(slog.NewTextHandler(&log, nil)), t.TempDir()
		b := inBubbleWithLog(t, hub, dir, "", logger)
		warned := func() int { return int(log.count.Load()) }
		runs := map[int]int64{}
		runs[1] = failsOn(t, g, 1)
		runs[2] = failsOn(t, g, 2)
		if warned() != 0 || b.OpenCircuits() != 0 || len(g.Wrote().RerunOrder) == 0 {
			t.Errorf("warned %d times of %d circuits; run again: %v", warned(), b.OpenCircuits(), g.Wrote().RerunOrder)
		}
		reran := len(g.Wrote().RerunOrder)
		runs[3] = failsOn(t, g, 3)
		runs[4] = failsOn(t, g, 4)
		<-time.After(time.Minute)
		if warned() != 1 || b.OpenCircuits() != 1 {
			t.Errorf("warned %d times of %d circuits", warned(), b.OpenCircuits())
		}
		line := b.laneOf(t, 4)
		if line.CircuitUntil.IsZero() || !strings.HasPrefix(line.Circuit, "circuit open until ") || !strings.Contains(line.Why, line.Circuit) {
			t.Errorf("the dashboard has %+v", line)
		}
		for _, page := range []string{"/", "/pulls/acme/shop/4"} {
			if text := pageOf(t, b.store, page); !strings.Contains(text, line.Circuit) {
				t.Errorf("%s does not say %q:\n%s", page, line.Circuit, text)
			}
		}
		b.stop()

		b = inBubbleWithLog(t, hub, dir, "", logger)
		runs[5] = failsOn(t, g, 5)
		<-time.After(2 * time.Minute)
		if warned() != 1 || b.OpenCircuits() != 1 {
			t.Errorf("after a restart: warned %d times of %d circuits", warned(), b.OpenCircuits())
		}
		if again := g.Wrote().RerunOrder; len(again) > reran {
			t.Errorf("run again: %v, want no more than %d", again, reran)
		}
		<-time.After(8 * time.Minute) // its time is over
		again := g.Wrote().RerunOrder
		if len(again) != reran+1 {
			t.Fatalf("run again: %v, want one more than %d", again, reran)
		}
		finishRun(t, g, again[reran], sandbox.Finish{Conclusion: "failure", Log: "Error: 503 Service Unavailable"})
		<-time.After(11 * time.Minute)
		if again = g.Wrote().RerunOrder; len(again) != reran+2 || warned() != 1 {
			t.Fatalf("run again: %v, want two more than %d; warned %d times", again, reran, warned())
		}
		for number, run := range runs {
			if run == again[reran+1] {
				if _, err := g.Comment(number, "github-actions[bot]", "## Gemini Review\n\n**Ready to merge?** Yes"); err != nil {
					t.Fatal(err)
				}
			}
		}
		finishRun(t, g, again[reran+1], sandbox.Finish{})
		<-time.After(70 * time.Second) // and those that are left follow within a minute, long before they would look by themselves
		if again = g.Wrote().RerunOrder; len(again) < reran+3 || b.OpenCircuits() != 0 {
			t.Errorf("run again: %v; %d circuits are open", again, b.OpenCircuits())
		}
		if line := b.laneOf(t, 5); line.Circuit != "" || !line.CircuitUntil.IsZero() {
			t.Errorf("the dashboard still has %+v", line)
		}
		b.stop()
	})
}

// pageOf is a page of the dashboard.
func pageOf(t *testing.T, s store.Store, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	board := dashboard.Board{Store: s, Feed: dashboard.NewFeed(), Now: time.Now, Reached: time.Now}
	board.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Body.String()
}
