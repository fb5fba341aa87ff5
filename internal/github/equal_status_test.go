package github_test

// The status that a job writes beside its check: it says the same, and both are never green over a newer no.

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func green(c *report.Check) {
	c.Status, c.Conclusion, c.Title, c.Described = "completed", "success", "2 of 2 approvals", "2 of 2 approvals"
}

func red(c *report.Check) {
	c.Status, c.Conclusion, c.Title, c.Described = "completed", "failure", "Changes requested", "Changes requested"
}

// statusOn is the newest status of our name on a commit.
func (w *world) statusOn(head string) (newest sandbox.CommitStatus) {
	for _, st := range w.g.Statuses(head) {
		if st.Context == "Review quorum" {
			newest = st
		}
	}
	return newest
}

func TestEqualStatusSaysWhatTheCheckSays(t *testing.T) {
	for name, test := range map[string]struct {
		check func(*report.Check)
		state string
		words string
	}{
		"waiting":     {func(*report.Check) {}, "pending", "Not decided yet. The check of this name says what it waits for."},
		"passed":      {green, "success", "2 of 2 approvals"},
		"blocked":     {red, "failure", "Changes requested"},
		"unverified":  {func(c *report.Check) { red(c); c.Conclusion = "action_required" }, "failure", "Changes requested"},
		"only report": {func(c *report.Check) { red(c); c.Conclusion = "neutral" }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, asJob)
				w.must(w.publish(check("a1", test.check)))
				if st := w.statusOn("a1"); st.State != test.state || st.Description != test.words {
					t.Errorf("the status is %q, %q", st.State, st.Description)
				}
				w.must(w.publish(check("a1", test.check, func(c *report.Check) { c.Summary += " More." })))
				if all := w.g.Statuses("a1"); len(all) > 1 {
					t.Errorf("%d statuses were written for one state", len(all))
				}
				w.must(w.publish(check("a1", red)))
				if st := w.statusOn("a1"); st.State != "failure" {
					t.Errorf("then the status is %q", st.State)
				}
				w.must(w.publish(check("a1", func(c *report.Check) { green(c); c.Conclusion = "neutral"; c.Described += " (report only)" })))
				if st := w.statusOn("a1"); st.State != "success" || st.Description != "2 of 2 approvals (report only)" {
					t.Errorf("where it only reports since, the status is %q, %q", st.State, st.Description)
				}
			})
		})
	}
}

// An App's check needs no status. One that a job left is kept equal, so that it does not hold back what the App lets
// through.
func TestAnAppKeepsTheStatusOfAJob(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.must(w.publish(check("a1", red)))
		if all := w.g.Statuses("a1"); len(all) != 0 {
			t.Errorf("an App wrote %+v", all)
		}
	})
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		do[int64](t)(w.g.SetCheck(sandbox.CheckSpec{Name: "Review quorum", App: sandbox.App{Slug: "github-actions"}, Head: "a1", Conclusion: "failure"}))
		do[int64](t)(w.g.SetStatus(sandbox.CommitStatus{Head: "a1", Context: "Review quorum", State: "failure", By: actionsBot}))
		w.must(w.publish(check("a1", green)))
		if st := w.statusOn("a1"); st.State != "success" {
			t.Errorf("the status of a job stays %s", st.State)
		}
	})
}

// Where GitHub refuses statuses the check stands alone, as it did before there were any.
func TestAStatusThatIsRefusedStopsNoCheck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, asJob)
		refused := `{"message":"Resource not accessible by integration"}`
		w.g.AddFault(sandbox.Fault{Match: "POST /repos/acme/shop/statuses/*", Kind: sandbox.FaultAnswer, Status: 403, Body: refused})
		for _, says := range []func(*report.Check){red, green, red} {
			w.must(w.publish(check("a1", says)))
		}
		if c := w.own(); c.Conclusion != "failure" {
			t.Errorf("the check reads %q", c.Conclusion)
		}
	})
}

// GitHub takes a thousand statuses of a name: the last hundred are kept for red ones.
func TestTheLastStatusesAreRed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, asJob)
		for range 899 {
			do[int64](t)(w.g.SetStatus(sandbox.CommitStatus{Head: "a1", Context: "Review quorum", State: "pending", By: actionsBot}))
		}
		w.must(w.publish(check("a1", green)))
		if st := w.statusOn("a1"); st.State != "success" {
			t.Errorf("the 900th is %s", st.State)
		}
		w.must(w.publish(check("a1")))
		if st := w.statusOn("a1"); st.State != "failure" || !strings.Contains(st.Description, "Push a new commit") {
			t.Errorf("a green one becomes %s, %q", st.State, st.Description)
		}
		w.must(w.publish(check("a1", green)))
		if st := w.statusOn("a1"); st.State != "failure" {
			t.Errorf("after the 900th it is %s", st.State)
		}
	})
}

// An older head's status ends with its check, and so does that of a check under another name.
func TestEqualStatusEndsWithItsCheck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, asJob)
		w.must(w.publish(check("a1")))
		w.must(w.g.Push(7, "b2", sandbox.PushSpec{}))
		w.must(w.publish(check("b2", func(c *report.Check) {
			c.Retire = []report.Retired{{Name: "Review quorum", Head: sandbox.SHA("a1"), Title: "superseded by b2"}}
		})))
		if st := w.statusOn("a1"); st.State != "error" || st.Description != "superseded by b2" {
			t.Errorf("on the older head it is %s, %q", st.State, st.Description)
		}
		w.must(w.publish(check("b2", func(c *report.Check) { c.Name = "Another quorum" })))
		if st := w.statusOn("b2"); st.State != "error" {
			t.Errorf("under the name of before it is %s", st.State)
		}
	})
}

// A turnstile lets the requests of several writers through in a given order. A writer dies after a number of requests.
type turnstile struct {
	next http.RoundTripper
	turn *turns
	name byte
	left atomic.Int64 // requests until it dies; below 0 it lives
}

// turns are whose request comes next, among several turnstiles.
type turns struct {
	mu    sync.Mutex
	order []byte // those who have ended are passed over
	ended map[byte]bool
	made  strings.Builder // who asked, with + for a status that was written; what a dead one has read is left out
}

var errDied = errors.New("the job was killed")

// isOf reports whether it is a writer's turn.
func (s *turns) isOf(name byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.order) > 0 && s.ended[s.order[0]] {
		s.order = s.order[1:]
	}
	return len(s.order) == 0 || s.order[0] == name
}

// end ends a turn, in which something was asked or written.
func (s *turns) end(asked string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made.WriteString(asked)
	if len(s.order) > 0 {
		s.order = s.order[1:]
	}
}

// leave says that a writer has ended.
func (s *turns) leave(name byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[name] = true
}

func (s *turnstile) RoundTrip(r *http.Request) (*http.Response, error) {
	for !s.turn.isOf(s.name) {
		pass(time.Millisecond)
	}
	asked := ""
	defer func() { s.turn.end(asked) }() // the next one's turn comes when this request has been answered
	if s.left.Load() == 0 {
		return nil, errDied
	}
	s.left.Add(-1)
	switch {
	case r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/statuses/"):
		asked = string(s.name) + "+"
	case s.name == 'B':
		asked = "B"
	}
	return s.next.RoundTrip(r)
}

// orders are all sequences of a times A and b times B.
func orders(a, b int) (all []string) {
	if a == 0 || b == 0 {
		return []string{strings.Repeat("A", a) + strings.Repeat("B", b)}
	}
	for _, rest := range orders(a-1, b) {
		all = append(all, "A"+rest)
	}
	for _, rest := range orders(a, b-1) {
		all = append(all, "B"+rest)
	}
	return all
}

var jobsStep = flag.Int("jobs-step", 211, "every n-th order in which two jobs write is played")

// Of two jobs the one saw a pass, and the other a no that came later. In whatever order their requests arrive, and
// wherever one of them dies: once the other has ended, with the look that follows a pass or a refusal, the status is
// not green, and the merge gate stays closed whether it looks at the check or not. Nobody can help where the one that
// saw the pass is killed with its last request, and that arrives after all of the other's: the next look mends it.
func TestTwoJobsAreNeverGreenOverANewerNo(t *testing.T) {
	const requestsOfPass, requestsOfNo = 6, 5 // at most
	plays := 0
	for _, stands := range []func(*report.Check){nil, func(*report.Check) {}, green} {
		for _, order := range orders(requestsOfPass, requestsOfNo) {
			for dies := -requestsOfPass; dies <= requestsOfNo; dies++ { // below 0 the one who saw the pass dies, above the other, 0: none
				if plays++; plays%*jobsStep != 0 {
					continue
				}
				bubble(t, func(t *testing.T) { playTwoJobs(t, stands, order, dies) })
				if t.Failed() {
					return
				}
			}
		}
	}
	t.Logf("every %dth of %d plays", *jobsStep, plays)
}

func playTwoJobs(t *testing.T, stands func(*report.Check), order string, dies int) {
	w := newWorld(t, asJob)
	if stands != nil {
		w.must(w.publish(check("a1", stands)))
	}
	turn := &turns{order: []byte(order), ended: map[byte]bool{}}
	job := func(name byte, budget int) *world {
		other := *w
		wire := &turnstile{next: w.g, turn: &turns{}, name: name}
		wire.left.Store(-1)
		other.replica(setup{token: "ghs_x", now: time.Now, wire: func(http.RoundTripper) http.RoundTripper { return wire }})
		other.observe()
		wire.turn = turn
		wire.left.Store(int64(budget))
		return &other
	}
	budget := func(died bool, n int) int {
		if died {
			return n - 1
		}
		return -1
	}
	pass, no := job('A', budget(dies < 0, -dies)), job('B', budget(dies > 0, dies))
	isOver := make(chan bool, 2)
	publish := func(j *world, name byte, says func(*report.Check)) {
		defer func() { turn.leave(name); isOver <- true }()
		err := j.forge.Publish(context.Background(), j.pr, check("a1", says))
		switch {
		case errors.Is(err, errDied) || err != nil && strings.Contains(err.Error(), errDied.Error()):
			return
		case err != nil || name == 'A': // it looks again, and sees the no
			for range 3 {
				if _, _, err = j.forge.Observe(context.Background(), j.pr); err == nil {
					err = j.forge.Publish(context.Background(), j.pr, check("a1", red))
				}
				if err == nil || strings.Contains(err.Error(), errDied.Error()) {
					return
				}
			}
			t.Errorf("%c: %v", name, err)
		}
	}
	go publish(pass, 'A', green)
	go publish(no, 'B', red)
	<-isOver
	<-isOver
	if st := w.statusOn("a1"); st.State == "success" && !(dies < 0 && strings.HasSuffix(turn.made.String(), "A+")) {
		t.Errorf("in the order %s, %d: the status is green after %s", order, dies, turn.made.String())
	}
	w.must(w.publish(check("a1", red)))
	if st := w.statusOn("a1"); st.State != "failure" {
		t.Errorf("in the order %s, %d: after another look the status is %s", order, dies, st.State)
	}
}

// Wherever a job dies, what it has written already closes the merge gate, or does not open it yet: the gate may look at
// both, or at the status alone.
func TestAJobThatDiesOpensNothing(t *testing.T) {
	for name, c := range map[string]struct {
		stands, says func(*report.Check)
	}{
		"to red":   {green, red},
		"to open":  {green, func(*report.Check) {}},
		"to green": {red, green},
	} {
		for requests := range 8 {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, asJob)
				w.must(w.publish(check("a1", c.stands)))
				w.observe()
				var writes atomic.Int64
				w.g.BeforeRequest(func(r *http.Request) {
					if r.Method != http.MethodGet {
						writes.Add(1)
					}
				})
				wire := &turnstile{next: w.g, turn: &turns{}}
				wire.left.Store(-1)
				w.replica(setup{token: "ghs_x", now: time.Now, wire: func(http.RoundTripper) http.RoundTripper { return wire }})
				w.observe()
				writes.Store(0)
				wire.left.Store(int64(requests))
				err := w.forge.Publish(context.Background(), w.pr, check("a1", c.says))
				status, isDone := w.statusOn("a1").State, err == nil
				switch wasGreen := name != "to green"; {
				case isDone:
				case wasGreen && writes.Load() > 0 && status == "success":
					t.Errorf("%s, killed after %d requests: the status stays green", name, requests)
				case !wasGreen && status == "success" && w.own().Conclusion != "success":
					t.Errorf("%s, killed after %d requests: the status is green before the check", name, requests)
				}
			})
		}
	}
}

// The check is filed with the run that came first. Where the merge gate passes over that one the check says so, and the
// status keeps the gate as it should be.
func TestACheckThatTheMergeGatePassesOverSaysSo(t *testing.T) {
	newer := func(w *world) { w.start(openaiFile) }
	for name, c := range map[string]struct {
		first sandbox.RunSpec
		then  func(*world)
		over  bool
	}{
		"the only run":         {sandbox.RunSpec{Workflow: openaiFile, PR: 7}, func(*world) {}, false},
		"a newer run":          {sandbox.RunSpec{Workflow: openaiFile, PR: 7}, newer, true},
		"another workflow's":   {sandbox.RunSpec{Workflow: openaiFile, PR: 7}, func(w *world) { w.start(geminiFile) }, false},
		"a run that was begun": {sandbox.RunSpec{Workflow: openaiFile, PR: 7, Event: "workflow_dispatch", Head: "a1"}, func(*world) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, asJob, under(oneSage))
				do[int64](t)(w.g.StartRun(c.first))
				w.look()
				c.then(w)
				pass(time.Second)
				w.comment("sage[bot]", plainYes)
				w.look()
				w.look()
				if says := strings.Contains(w.own().Summary, "counts it no more"); says != c.over {
					t.Errorf("it says so: %t", says)
				}
				if !sandbox.MergeGateOpens(w.g, 7, "Review quorum") {
					t.Error("the merge gate stays closed over a pass")
				}
				w.comment("sage[bot]", plainNo)
				w.look()
				if sandbox.MergeGateOpens(w.g, 7, "Review quorum") {
					t.Error("the merge gate opens over an objection")
				}
			})
		})
	}
}

// A job that is shown no statuses keeps none beside its check, and says so once. Where a reviewer answers by one,
// nothing is decided without it.
func TestAJobThatIsShownNoStatuses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		said := &strings.Builder{}
		hide := func(s *setup) { s.sand.NoStatuses = true }
		w := newWorld(t, asJob, hide)
		w.forge = github.NewForge(w.client, quorum.ActionsApp, "", slog.New(slog.NewTextHandler(said, nil)))
		w.loop.Forge = w.forge
		for range 3 {
			w.look()
			pass(time.Minute)
		}
		w.reads("in_progress", "")
		if n := strings.Count(said.String(), "does not show commit statuses"); n != 1 {
			t.Errorf("it was said %d times:\n%s", n, said)
		}
		if _, s := w.observe(); s.Statuses != nil {
			t.Errorf("none was shown, and these are known: %+v", s.Statuses)
		}

		for _, as := range []func(*setup){asJob, func(*setup) {}} {
			w = newWorld(t, as, hide, under("version: 1\nquorum: 1\nreviewers:\n  - {name: sage, status: sage, author: 'sage[bot]'}\n"))
			if _, _, err := w.forge.Observe(t.Context(), w.pr); !client.LacksPermission(err) {
				t.Errorf("a reviewer's status is not shown, and the look ends with %v", err)
			}
		}
	})
}
