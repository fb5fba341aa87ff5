//go:build !action

package main

// Load and outages, told to the whole daemon in virtual time: GitHub's limits make a burst take an hour, and here that
// hour takes seconds. Nothing is left out but the listeners.

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// loadOf is how many pull requests a burst is about: fewer by default, for a thousand take a while.
var loadOf = flag.Int("load", 150, "pull requests of the load tests")

// underLoad is a daemon with a GitHub that enforces its limits.
type underLoad struct {
	t      *testing.T
	hub    *sandbox.Hub
	github *distant
	server *server
	repos  []*sandbox.GitHub
	ctx    context.Context
	stop   func()

	mu    sync.Mutex
	last  time.Time      // when a check was last written
	looks map[string]int // that were kept, by pull request
}

const loadSecret = "a secret of a test"

const loadPolicy = `version: 1
quorum: all
timeout: 8h
deadline: 12h
reviewers:
  - name: openai
    workflow: .github/workflows/openai.yml
    heading: "## openai"
  - name: gemini
    workflow: .github/workflows/gemini.yml
    heading: "## gemini"
  - name: claude
    workflow: .github/workflows/claude.yml
    heading: "## claude"
`

var loadReviewers = []string{"openai", "gemini", "claude"}

// startUnderLoad starts a daemon with so many installations of so many repositories. All repositories have the same
// names in each installation, and all have the same commits: nothing but the installation tells them apart.
func startUnderLoad(t *testing.T, installations, repositories int) *underLoad {
	t.Helper()
	l := &underLoad{t: t, looks: map[string]int{}}
	l.hub = sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: loadSecret, EnforceLimits: true, ParallelDeliveries: 16})
	for in := range installations {
		for n := range repositories {
			g := sandbox.New(sandbox.Options{Owner: fmt.Sprintf("org-%d", in), Repo: fmt.Sprintf("shop-%d", n), App: l.hub.App()})
			g.SetFile(".github/review-coordinator.yml", "", loadPolicy)
			l.hub.Add(int64(77+in), g)
			l.repos = append(l.repos, g)
		}
	}
	l.start(l.hub)
	return l
}

// start starts a daemon that works on a hub.
func (l *underLoad) start(hub *sandbox.Hub) {
	t := l.t
	t.Helper()
	l.hub = hub
	l.hub.AfterRequest(func(r *http.Request, status int) {
		if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/check-runs") && status/100 == 2 {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.last = time.Now()
		}
	})
	deadline.Describe(t, "a check was last written", func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.last.UTC().String()
	})
	l.github = &distant{hub: l.hub, least: 5000}
	var err error
	l.server, err = openServer(t.Context(), serverConfig{
		Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", Database: filepath.Join(t.TempDir(), "c.db"), Secrets: []string{loadSecret},
		GitHub: client.Options{BaseURL: "https://api.github.com", Transport: l.github, App: &client.App{ID: 4711, Key: testKey()}},
		Resync: 5 * time.Minute, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Tune: func(c *daemon.Config) {
			c.Looked = func(pr quorum.PR, _ dashboard.Sight) {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.looks[pr.String()]++
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.ctx = ctx
	var all sync.WaitGroup
	all.Go(func() {
		if err := l.server.daemon.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	all.Go(func() {
		l.hub.DeliverFunc(ctx, func(event, guid string, payload []byte) error {
			err := receive(ctx, l.server, event, guid, payload)
			if err != nil && ctx.Err() == nil {
				t.Errorf("%s was not accepted: %v", event, err)
			}
			return err
		})
	})
	l.stop = func() {
		cancel()
		all.Wait()
		l.server.close()
	}
}

// distant is a GitHub that takes 30 ms, but for a token: who waits for one waits for a lock, and in a bubble no time
// passes meanwhile.
type distant struct {
	hub *sandbox.Hub

	mu    sync.Mutex
	paid  int                                 // requests that count in the hour
	least int                                 // that an hour had left
	alter func(*http.Request, *http.Response) // nil: nothing
}

func (d *distant) RoundTrip(req *http.Request) (*http.Response, error) {
	token := strings.HasSuffix(req.URL.Path, "/access_tokens")
	if !token {
		<-time.After(30 * time.Millisecond)
	}
	resp, err := d.hub.RoundTrip(req)
	if err == nil && d.alter != nil {
		d.alter(req, resp)
	}
	if err != nil || token || req.URL.Path == "/graphql" {
		return resp, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if resp.StatusCode != http.StatusNotModified {
		d.paid++
	}
	if left, err := strconv.Atoi(resp.Header.Get("X-RateLimit-Remaining")); err == nil {
		d.least = min(d.least, left)
	}
	return resp, nil
}

// spent is how many requests counted in the hour so far.
func (d *distant) spent() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.paid
}

// receive is a webhook as it comes in, but for the network.
func receive(ctx context.Context, s *server, event, guid string, payload []byte) error {
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, daemon.WebhookPath, bytes.NewReader(payload))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "X-GitHub-Event": event, "X-GitHub-Delivery": guid, "X-Hub-Signature-256": sandbox.Sign(loadSecret, payload),
	} {
		req.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.webhookServer.Handler.ServeHTTP(w, req)
	if w.Code != http.StatusAccepted {
		return fmt.Errorf("the answer is %d: %s", w.Code, w.Body)
	}
	return nil
}

// after lets time pass.
func (l *underLoad) after(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// told keeps the webhooks that a test counts: the others of GitHub's are lost.
func (l *underLoad) told(kept ...string) {
	l.hub.DisturbDeliveries(func(d sandbox.HookDelivery) sandbox.Fate {
		for _, k := range kept {
			if k == strings.TrimSuffix(d.Event+"."+d.Action, ".") {
				return sandbox.Fate{}
			}
		}
		return sandbox.Fate{Lost: true}
	})
}

// A loadPull is a pull request that three reviewers look at, in ten steps of which each is one webhook.
type loadPull struct {
	g      *sandbox.GitHub
	number int
	runs   [3]int64
}

func (r *loadPull) step(n int) (err error) {
	switch {
	case n == 0:
		r.g.OpenPull(sandbox.PullSpec{Number: r.number, Head: fmt.Sprintf("of %d", r.number)})
	case n <= 3:
		who := loadReviewers[n-1]
		r.runs[n-1], err = r.g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/" + who + ".yml", Name: who, PR: r.number, Jobs: []string{"review"}})
	case n <= 6:
		_, err = r.g.Comment(r.number, "github-actions[bot]", "## "+loadReviewers[n-4]+"\n\nRead.\n\n**Ready to merge?** Yes")
	default:
		_, err = r.g.FinishRun(r.runs[n-7], sandbox.Finish{})
	}
	return err
}

const loadSteps = 10

// conclusion is what the check of a pull request's head says; more than one check is an error.
func (l *underLoad) conclusion(r *loadPull) string {
	own := r.g.OwnCheckRuns(r.g.Head(r.number))
	switch len(own) {
	case 0:
		return "no check"
	case 1:
		if own[0].Status != "completed" {
			return own[0].Status
		}
		return own[0].Conclusion
	}
	l.t.Errorf("#%d has %d checks of ours on its head", r.number, len(own))
	return "several"
}

// passed waits until all checks pass.
func (l *underLoad) passed(pulls []*loadPull, most time.Duration) {
	l.t.Helper()
	end := time.Now().Add(most)
	for _, r := range pulls {
		for l.conclusion(r) != "success" {
			if time.Now().After(end) {
				l.t.Fatalf("#%d is %s after %s", r.number, l.conclusion(r), most)
			}
			l.after(time.Second)
		}
	}
}

// demands is how long GitHub's limits make work take at least. In a minute of those that slide there is room for so
// many points, writes and so on. The hour's requests are counted by GitHub in windows that begin with the first request
// and do not slide. What fits into nine tenths of one window less what may be under way demands nothing; more than that
// demands the share of an hour that it is of 5,000.
func demands(u sandbox.Usage, requests int) time.Duration {
	minutes := max(float64(u.Points)/900, float64(u.Writes)/180, float64(u.Content)/80, float64(u.GraphQL)/2000)
	if requests > 4484 {
		minutes = max(minutes, 60*float64(requests)/5000)
	}
	return time.Duration(minutes * float64(time.Minute))
}

func TestABurstKeepsTheLimitsAndWastesNoneOfThem(t *testing.T) {
	t.Parallel()
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 10)
		defer l.stop()
		l.told("pull_request.opened", "workflow_run.in_progress", "workflow_run.completed", "issue_comment.created")
		l.after(time.Minute + time.Second) // the start is over, and its requests have left the minute
		began, before := time.Now(), l.github.spent()
		var pulls []*loadPull
		for n := range *loadOf {
			pulls = append(pulls, &loadPull{g: l.repos[n%len(l.repos)], number: n + 1})
		}
		for step := range loadSteps {
			for n, r := range pulls {
				if err := r.step(step); err != nil {
					t.Fatal(err)
				}
				if n%10 == 9 {
					l.after(10 * time.Second / time.Duration(loadSteps*len(pulls)/10))
				}
			}
		}
		sent := time.Since(began)
		if err := l.hub.WaitDelivered(l.ctx); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); sent > 11*time.Second || took > sent+time.Second {
			t.Errorf("the events happened within %s, and were all accepted after %s", sent, took)
		}
		l.passed(pulls, 4*time.Hour)
		l.mu.Lock()
		took := l.last.Sub(began)
		l.mu.Unlock()
		u, peak, paid := l.hub.Usage(77, began, time.Time{}), l.hub.PeakUsage(77), l.github.spent()-before
		t.Logf(
			"%d events for %d pull requests: the last check after %s, limits demand %s; %d requests that count; %+v; peak minute %+v",
			loadSteps*len(pulls),
			len(pulls),
			took,
			demands(u, paid),
			paid,
			u,
			peak,
		)
		if most := demands(u, paid) * 5 / 4; took > most {
			t.Errorf("the last check came after %s; the limits demand %s, and 1.25 times that is %s", took, demands(u, paid), most)
		}
		if peak.Points > 720 || peak.Writes > 144 || peak.Content > 64 || peak.GraphQL > 1600 {
			t.Errorf("more than four fifths of a minute's limits were used: %+v", peak)
		}
		if n := l.hub.RefusedRequests(77); n > 0 {
			t.Errorf("%d requests were sent that GitHub refused for a limit", n)
		}
		if l.github.least < 250 { // of 5,000
			t.Errorf("only %d of an hour's requests were left", l.github.least)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		twice := map[int]int{}
		for name, n := range l.looks {
			twice[n]++
			if n > 2 {
				t.Errorf("%s was evaluated %d times", name, n)
			}
		}
		t.Logf("evaluations: %v", twice)
	})
}

func TestNoTokenIsUsedForAnothersRepository(t *testing.T) {
	t.Parallel()
	testKey()
	synctest.Test(t, func(t *testing.T) {
		const installations = 20
		l := startUnderLoad(t, installations, 2)
		defer l.stop()
		want, asked := 10*(*loadOf), 0 // 10,000 where CI asks for a thousand
		for number := 1; asked < want; number++ {
			var pulls []*loadPull
			for _, g := range l.repos {
				pulls = append(pulls, &loadPull{g: g, number: number})
			}
			for step := range loadSteps {
				for _, r := range pulls {
					if err := r.step(step); err != nil {
						t.Fatal(err)
					}
				}
				l.after(1500 * time.Millisecond)
			}
			l.passed(pulls, time.Hour)
			asked = 0
			for in := range installations {
				asked += l.hub.Usage(int64(77+in), time.Time{}, time.Time{}).Requests
			}
		}
		if crossed := l.hub.CrossedRequests(); len(crossed) > 0 {
			t.Errorf("%d of %d requests crossed, for example %s", len(crossed), asked, crossed[0])
		}
		t.Logf("%d requests", asked)
	})
}

func TestAnOutageLeavesEveryCheckInProgressAndHeals(t *testing.T) {
	t.Parallel()
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 4, 2)
		defer l.stop()
		var pulls []*loadPull
		for n := range 24 {
			pulls = append(pulls, &loadPull{g: l.repos[n%len(l.repos)], number: n + 1})
		}
		play := func(from, to int) {
			for step := from; step < to; step++ {
				for _, r := range pulls {
					if err := r.step(step); err != nil {
						t.Fatal(err)
					}
				}
				l.after(2 * time.Second)
			}
		}
		play(0, 5)
		l.after(time.Minute)
		states := map[string]int{}
		for _, r := range pulls {
			states[l.conclusion(r)]++
		}
		if states["in_progress"] != len(pulls) {
			t.Fatalf("before the outage the checks are %v", states)
		}
		l.hub.AddFault(sandbox.Fault{Status: 500})
		out := time.Now()
		play(5, loadSteps) // all is reviewed meanwhile, and GitHub tells of it
		l.after(10*time.Minute - time.Since(out))
		clear(states)
		for _, r := range pulls {
			states[l.conclusion(r)]++
		}
		if !maps.Equal(states, map[string]int{"in_progress": len(pulls)}) {
			t.Errorf("in the outage the checks are %v", states)
		}
		l.hub.ClearFaults()
		healed := time.Now()
		l.passed(pulls, 10*time.Minute)
		t.Logf("healed within %s of the outage's end", time.Since(healed))
		for _, r := range pulls {
			own := r.g.OwnCheckRuns(r.g.Head(r.number))
			for _, s := range own[0].History {
				if s.Conclusion != "" && s.Conclusion != "success" {
					t.Errorf("#%d was %s for a while", r.number, s.Conclusion)
				}
			}
		}
	})
}
