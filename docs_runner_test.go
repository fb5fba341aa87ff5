package coordinator_test

// How long runners are busy with a review, in virtual time: what docs/runner-time.md states is measured here, with the
// program's own loop and GitHub in memory, for the two examples that people copy.

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// What is assumed, and said in the docs.
const (
	setUp   = 10 * time.Second        // of a job: the runner's own steps, the action, the program
	latency = 200 * time.Millisecond  // of a request
	review  = 10 * time.Minute        // until the last reviewer has answered
	began   = 10 * time.Second        // when the reviewers' runs begin, and a gate's first look at them
	polling = review - began          // of a gate that polls until the last run has ended
	poll    = 15 * time.Second        // as coordinator run has it by default,
	hold    = 15 * time.Minute        // and this
	window  = review + 30*time.Minute // longer than any job of a story
)

// A bad or good ten minutes of three reviewers.
type tenMinutes struct {
	name, quorum string
	outage       bool // gemini's first attempt fails after two minutes
}

var tenMinuteReviews = []tenMinutes{
	{"all three must approve", "all", false},
	{"two of three, grace 3m", "2", false},
	{"all three, and one is run again after an outage", "all", true},
}

// A bill is what runners were busy with.
type bill struct {
	jobs    int
	busy    time.Duration
	minutes int // as GitHub counts them: each job is rounded up
	end     string
}

func (b *bill) job(d time.Duration) {
	b.jobs++
	b.busy += d
	b.minutes += int((d + time.Minute - 1) / time.Minute)
}

func TestRunnerTime(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("| the review | event-driven | waiting job | a gate that polls |\n|---|---|---|---|\n")
	for _, r := range tenMinuteReviews {
		var event, waiting bill
		synctest.Test(t, func(t *testing.T) { event = newOffice(t, r, false).open() })
		synctest.Test(t, func(t *testing.T) { waiting = newOffice(t, r, true).open() })
		for _, b := range []bill{event, waiting} {
			if b.end != "success" {
				t.Fatalf("%s: the check ends as %q", r.name, b.end)
			}
		}
		if event.busy >= waiting.busy*3/5 {
			t.Errorf("%s: event-driven takes %s, waiting %s", r.name, event.busy, waiting.busy)
		}
		fmt.Fprintf(&rows, "| %s | **%.0f s** in %d jobs (%d min billed) | **%.0f s** in %d job (%d min billed) | about %.0f s |\n",
			r.name, event.busy.Seconds(), event.jobs, event.minutes, waiting.busy.Seconds(), waiting.jobs, waiting.minutes, polling.Seconds())
	}
	t.Logf("\n%s", rows.String())
	const file = "docs/runner-time.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	generated(t, file, between(t, page, "measured", rows.String()))
	for _, figure := range []time.Duration{setUp, latency} {
		if !strings.Contains(string(page), fmt.Sprint(figure.Seconds())+" s") {
			t.Errorf("%s does not say that %s are assumed", file, figure)
		}
	}
}

// An office is where jobs are started by what happens in a repository.
type office struct {
	t    *testing.T
	g    *sandbox.GitHub
	wait bool
	plan []appointment

	mu      sync.Mutex
	runs    map[string]int64
	bill    bill
	working sync.WaitGroup
	turn    chan bool // of the group's jobs: one at a time, the others wait without a runner
}

// An appointment is something that happens, and whether it is an event that starts a job.
type appointment struct {
	at    time.Duration
	do    func()
	event bool
}

func newOffice(t *testing.T, r tenMinutes, wait bool) *office {
	o := &office{t: t, wait: wait, runs: map[string]int64{}, turn: make(chan bool, 1), g: sandbox.New(sandbox.Options{Now: time.Now})}
	yaml := "version: 1\nquorum: " + r.quorum + "\nreviewers:\n"
	answers := map[string]time.Duration{"openai": 3 * time.Minute, "gemini": 6 * time.Minute, "claude": review}
	o.at(0, true, func() { o.g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1"}) })
	for i, name := range []string{"openai", "gemini", "claude"} {
		file := ".github/workflows/" + name + ".yml"
		yaml += fmt.Sprintf("  - {name: %s, workflow: %s, heading: \"## %s\"}\n", name, file, name)
		// One after the other: the ids of runs, on which a backoff depends, are the same each time.
		o.at(began+time.Duration(i)*time.Second, true, func() {
			id, err := o.g.StartRun(sandbox.RunSpec{Workflow: file, PR: 7})
			must(t, err)
			o.mu.Lock()
			defer o.mu.Unlock()
			o.runs[name] = id
		})
		if r.outage && name == "gemini" {
			// A rerun by GITHUB_TOKEN wakes no job: the one that made it stays.
			o.at(2*time.Minute, true, func() { o.ends(name, "failure", "Error: 503 Service Unavailable") })
			o.g.OnRerun(func(int64, int) {
				time.AfterFunc(3*time.Minute, func() { o.says(name); o.ends(name, "success", "") })
			})
			continue
		}
		// What github-actions[bot] comments is no event. That its run has ended is one.
		o.at(answers[name]-2*time.Second, false, func() { o.says(name) })
		o.at(answers[name], true, func() { o.ends(name, "success", "") })
	}
	o.g.SetFile(".github/review-coordinator.yml", "", yaml)
	o.g.Protect("main")
	return o
}

func (o *office) at(d time.Duration, event bool, do func()) {
	o.plan = append(o.plan, appointment{at: d, do: do, event: event})
}

func (o *office) says(name string) {
	_, err := o.g.Comment(7, "github-actions[bot]", "## "+name+"\n\n**Ready to merge?** Yes\n")
	must(o.t, err)
}

func (o *office) ends(name, conclusion, log string) {
	o.mu.Lock()
	id := o.runs[name]
	o.mu.Unlock()
	_, err := o.g.FinishRun(id, sandbox.Finish{Conclusion: conclusion, Log: log})
	must(o.t, err)
}

// open lets the plan happen and returns the bill.
func (o *office) open() bill {
	for _, a := range o.plan {
		time.AfterFunc(a.at, func() {
			a.do()
			if a.event && (!o.wait || a.at == 0) {
				o.start()
			}
		})
	}
	<-time.After(window)
	o.working.Wait()
	for _, c := range o.g.OwnCheckRuns(sandbox.SHA("a1")) {
		o.bill.end = c.Conclusion
	}
	return o.bill
}

// start is an event's job: it waits for the one before it, as the examples' concurrency group has it.
func (o *office) start() {
	o.working.Go(func() {
		o.turn <- true
		defer func() { <-o.turn }()
		began := time.Now()
		<-time.After(setUp)
		o.look(context.Background())
		o.mu.Lock()
		o.bill.job(time.Since(began))
		o.mu.Unlock()
	})
}

// look is what coordinator run does in the job.
func (o *office) look(ctx context.Context) {
	api, err := client.New(client.Options{Token: "ghs_officeofficeofficeofficeofficeoffice00", Actions: true, Transport: distant{o.g}})
	must(o.t, err)
	r := &loop.Reconciler{Forge: github.NewForge(api, quorum.ActionsApp, "", nil)}
	pr := quorum.PR{Owner: "acme", Repo: "shop", Number: 7}
	if _, err := r.Stay(ctx, pr, loop.Stay{Wait: o.wait, Poll: poll, Hold: hold}); err != nil && ctx.Err() == nil {
		o.t.Errorf("look at %s: %v", pr, err)
	}
}

// distant is GitHub with a way to it.
type distant struct{ g *sandbox.GitHub }

func (d distant) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	case <-time.After(latency):
		return d.g.RoundTrip(req)
	}
}
