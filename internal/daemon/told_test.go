package daemon

// What the daemon tells of its decisions: one line of its log for each that changed, and the figures of a scrape.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// told are the lines of a log that tell of decisions, as an operator's log shows them: debugging is off.
func told(t *testing.T, log *bytes.Buffer) (lines []string) {
	t.Helper()
	for dec := json.NewDecoder(bytes.NewReader(log.Bytes())); dec.More(); {
		var line struct {
			Level, Msg, Repository, Head, Verdict, Title string
			Installation                                 int
			CheckRun                                     string `json:"check_run"`
			PullRequest                                  int    `json:"pull_request"`
		}
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.Msg == "decided" {
			lines = append(lines, fmt.Sprintf("%s %d %s %d %.7s %s %s: %s", line.Level, line.Installation, line.Repository, line.PullRequest,
				line.Head, line.Verdict, line.CheckRun, line.Title))
		}
	}
	return lines
}

// overheard has the daemon log into a buffer.
func overheard(log *bytes.Buffer) func(*Config) {
	return func(c *Config) { c.Log = slog.New(slog.NewJSONHandler(log, nil)) }
}

// wantSeries wants figures of a scrape.
func wantSeries(t *testing.T, m *Metrics, want map[string]string) {
	t.Helper()
	series := scrape(t, m)
	for name, value := range want {
		if got := series[name]; got != value {
			t.Errorf("%s is %q, want %s", name, got, value)
		}
	}
}

// A pull request ends once, whatever comes after it: comments, a resync, an event that comes while its end is looked
// at.
func TestAnEndIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := newLand()
		l.open(1, pull(7))
		h := build(t, l, t.TempDir(), overheard(&log))
		settle(time.Minute)
		l.mu.Lock()
		delete(l.pulls[1], pull(7))
		l.takes = 10 * time.Second
		l.mu.Unlock()
		for range 2 {
			h.deliver(about(1, pull(7)))
			settle(5 * time.Second)
		}
		settle(time.Minute)
		for range 4 {
			h.deliver(about(1, pull(7)))
			settle(time.Minute)
		}
		h.deliver(about(1, pull(9))) // of which nothing was known, and which is closed
		settle(11 * time.Minute)
		want := []string{
			"INFO 1 acme/shop 7 a1a1a1a waiting in_progress: 0 of 1 approval; waiting for openai until 00:10 UTC",
			"INFO 1 acme/shop 7 a1a1a1a ended cancelled: Nothing is decided here: closed",
		}
		if got := told(t, &log); !slices.Equal(got, want) {
			t.Errorf("the log tells %q, want %q", got, want)
		}
		if n := count(l.looks(), pull(7).String()); n < 7 {
			t.Errorf("%d looks", n)
		}
		wantSeries(t, h.Metrics, map[string]string{`coordinator_verdict_changes_total{verdict="ended"}`: "1"})
		l.open(1, pull(7)) // it is opened again
		h.deliver(about(1, pull(7)))
		settle(time.Minute)
		wantSeries(t, h.Metrics, map[string]string{`coordinator_verdict_changes_total{verdict="waiting"}`: "2"})
		if got := told(t, &log); len(got) != 3 {
			t.Errorf("of its return the log tells %q", got[min(2, len(got)):])
		}
		h.stop()
	})
}

// What is wrong with a policy stands in the API, as long as it is, and no longer than anybody reads.
func TestABrokenPolicyIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.file = quorum.PolicyFile{
			State: quorum.FileBroken, Path: ".github/a policy?.yml",
			Problem: ".github/a policy?.yml:2:8: grace: \"soon\" is not a duration\n" + strings.Repeat("    2 | grace: soon\n", 10_000),
		}
		l.open(1, pull(7))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		h.deliver(about(1, pull(7)))
		settle(time.Minute)
		row, err := h.Store.Get(t.Context(), "1/acme/shop#7")
		if err != nil {
			t.Fatal(err)
		}
		var sight dashboard.Sight
		if err := json.Unmarshal(row.Sight, &sight); err != nil || sight.Page == nil || len(sight.Page.Notes) != 1 {
			t.Fatalf("it tells of no problem: %v, %s", err, row.Sight)
		}
		n := sight.Page.Notes[0]
		if !strings.Contains(n.Says.Plain(), ".github/a policy?.yml") || !strings.HasPrefix(n.Block, ".github/a policy?.yml:2:8: grace") ||
			!strings.Contains(n.Block, "grace: soon") || len(n.Block) > 5000 {
			t.Errorf("it tells %+v", n)
		}
		if steps := sight.Page.Steps; !strings.Contains(fmt.Sprint(steps), "coordinator config check") {
			t.Errorf("nobody is told what to do: %+v", steps)
		}
		h.stop()
	})
}

// What is kept of an end for the look after it is forgotten with that look, even if it is spared.
func TestAnEndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLand()
		l.open(1, pull(7), pull(8))
		h := build(t, l, t.TempDir())
		settle(time.Minute)
		l.mu.Lock()
		delete(l.pulls[1], pull(7))
		l.takes = 10 * time.Second
		l.mu.Unlock()
		h.deliver(about(1, pull(7)))
		settle(5 * time.Second)
		n := about(1, pull(7))
		n.Touch = quorum.Touch{Event: "issue_comment", Author: "alice"} // concerns no reviewer
		h.deliver(n)
		settle(time.Minute)
		if due, kept := h.dues()["1/acme/shop#7"]; kept {
			t.Errorf("the table still holds it, due %s", due)
		}
		h.stop()
	})
}

// One pull request from its first event to its end: each decision is told once, and all that happened is counted.
func TestAStoryIsLoggedAndCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := &play{land: newLand(), comes: []quorum.ResultState{quorum.ResultVoid, quorum.ResultDone}}
		h := build(t, p.land, t.TempDir(), overheard(&log), func(c *Config) { c.Host = p })
		settle(time.Minute)
		p.open(1, pull(7))
		event := func() { h.deliver(about(1, pull(7))); settle(time.Second) }
		event()
		p.runs(1, "", "")
		event()
		settle(time.Minute)
		p.runs(1, "failure", "")
		event()
		settle(2 * time.Minute) // and is run again
		p.runs(2, "success", "## OpenAI Review\n\nRead all of it.\n\n**Ready to merge?** Yes\n")
		event()
		event() // which changes nothing
		p.mu.Lock()
		delete(p.pulls[1], pull(7))
		p.mu.Unlock()
		event()
		want := []string{
			"INFO 1 acme/shop 7 a1a1a1a waiting in_progress: 0 of 1 approval; waiting for openai until 00:11 UTC",
			"INFO 1 acme/shop 7 a1a1a1a waiting in_progress: 0 of 1 approval; waiting for openai until 00:13 UTC", // its second attempt
			"INFO 1 acme/shop 7 a1a1a1a passed success: 1 of 1 approval",
			"INFO 1 acme/shop 7 a1a1a1a ended cancelled: Nothing is decided here: closed",
		}
		if got := told(t, &log); !slices.Equal(got, want) {
			t.Errorf("the log tells %q, want %q", got, want)
		}
		wantSeries(t, h.Metrics, map[string]string{
			`coordinator_verdict_changes_total{verdict="waiting"}`: "1", `coordinator_verdict_changes_total{verdict="passed"}`: "1",
			`coordinator_verdict_changes_total{verdict="ended"}`: "1", `coordinator_verdict_changes_total{verdict="blocked"}`: "",
			`coordinator_reviewer_reruns_total{outcome="void"}`: "1", `coordinator_reviewer_reruns_total{outcome="done"}`: "1",
			`coordinator_reviewer_reruns_total{outcome="refused"}`: "", `coordinator_reviewer_reruns_total{outcome="failed"}`: "",
			"coordinator_deadline_lateness_seconds_sum": "0",
		})
		if n := scrape(t, h.Metrics)["coordinator_deadline_lateness_seconds_count"]; n == "0" {
			t.Error("no wake was counted")
		}
		h.stop()
	})
}

// A play is a land whose pull requests have a reviewer's run and its answer, and a check that is read again.
type play struct {
	*land
	run    []quorum.Run
	says   []quorum.Text
	record quorum.Record
	comes  []quorum.ResultState // of reruns, in turn
}

func (p *play) Enter(tenant int64) (TenantForge, error) { return stage{place2{p.land, tenant}, p}, nil }

// runs sets the reviewer's run: an attempt that began now, or what it came to.
func (p *play) runs(attempt int, conclusion, says string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if len(p.run) == 0 || p.run[0].Attempt != attempt {
		p.run = []quorum.Run{{
			ID: 1, Number: 1, Path: ".github/workflows/openai.yml", Event: "pull_request", Head: sha, Attempt: attempt,
			Status: "in_progress", Created: now, Started: now, Updated: now,
			Jobs: []quorum.Job{{ID: int64(attempt), Started: now}},
		}}
	}
	if conclusion == "" {
		return
	}
	r := p.run[0]
	r.Status, r.Conclusion, r.Updated = "completed", conclusion, now
	r.Jobs = []quorum.Job{{ID: int64(attempt), Conclusion: conclusion, Started: r.Started, Completed: now, Read: true}}
	p.run = []quorum.Run{r}
	if says != "" {
		p.says = []quorum.Text{{
			TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: 1}, Author: quorum.Account{Login: "github-actions[bot]", Bot: true}, Body: says, At: now,
		}}
	}
}

type stage struct {
	place2
	play *play
}

func (s stage) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	policy, snap, err := s.place2.Observe(ctx, pr)
	s.mu.Lock()
	defer s.mu.Unlock()
	snap.Runs, snap.Comments, snap.Record = s.play.run, s.play.says, s.play.record
	return policy, snap, err
}

func (s stage) Apply(_ context.Context, _ quorum.PR, e quorum.Effects) (r quorum.Receipt, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Concat(e.Cancels, e.Reruns, e.Requests) {
		state := quorum.ResultDone
		if a.Kind == quorum.Rerun && len(s.play.comes) > 0 {
			state, s.play.comes = s.play.comes[0], s.play.comes[1:]
		}
		r.Done = append(r.Done, quorum.Result{Action: a, State: state})
	}
	return r, nil
}

func (s stage) Publish(_ context.Context, _ quorum.PR, c report.Check) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rec, found := report.ParseRecord(c.Text); found {
		s.play.record = rec
	}
	return nil
}
