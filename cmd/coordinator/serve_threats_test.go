//go:build !action

package main

// What an attacker, or bad luck, may do to the whole daemon: THREATS.md, the rows of the daemon, in virtual time.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
)

// approve has all reviewers look at a pull request, and approve it.
func (r *loadPull) approve(t *testing.T) {
	t.Helper()
	for n := 1; n < loadSteps; n++ {
		if err := r.step(n); err != nil {
			t.Fatal(err)
		}
	}
}

// written counts the requests that changed something on GitHub, and all.
func (l *underLoad) written() (writes, all int) {
	for _, g := range l.repos {
		requests := g.Requests()
		all += len(requests)
		for _, r := range requests {
			if r.Method != http.MethodGet && r.Path != "/graphql" {
				writes++
			}
		}
	}
	return writes, all
}

// looked counts the looks that were kept.
func (l *underLoad) looked() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, looks := range l.looks {
		n += looks
	}
	return n
}

// answered counts the deliveries that had a result, as the daemon's metrics tell it.
func (l *underLoad) answered(result string) (n int) {
	l.t.Helper()
	w := httptest.NewRecorder()
	l.server.adminServer.Handler.ServeHTTP(w, httptest.NewRequestWithContext(l.t.Context(), http.MethodGet, "http://127.0.0.1:9090/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(name, "coordinator_webhook_deliveries_total{") && strings.Contains(name, fmt.Sprintf("result=%q", result)) {
			count, err := strconv.Atoi(value)
			if err != nil {
				l.t.Error(err)
			}
			n += count
		}
	}
	return n
}

// T3: whoever sees a delivery can send it again, with its signature and its id.
func TestReplaysOfDeliveriesDoNothing(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 2)
		defer l.stop()
		l.after(time.Minute)
		for n := range 6 {
			r := &loadPull{g: l.repos[n%2], number: n + 1}
			if err := r.step(0); err != nil {
				t.Fatal(err)
			}
			l.after(10 * time.Second)
			if n < 4 { // the others wait for their reviewers
				r.approve(t)
			}
		}
		l.after(15*time.Minute + 30*time.Second) // between two rounds of the resync
		handled, fresh := l.hub.Deliveries(), l.answered("accepted")
		if fresh < 40 {
			t.Fatalf("only %d deliveries were accepted", fresh)
		}
		writes, requests := l.written()
		looks := l.looked()
		want := 10 * (*loadOf) // 10,000 where CI asks for a thousand
		for n := range want {
			d := handled[n%len(handled)]
			if err := receive(t.Context(), l.server, d.Event, d.GUID, d.Payload); err != nil {
				t.Fatal(err)
			}
		}
		l.after(5 * time.Second)
		if _, now := l.written(); now != requests || l.looked() != looks {
			t.Errorf("replays led to %d requests and %d looks", now-requests, l.looked()-looks)
		}
		l.after(time.Hour)
		if now, _ := l.written(); now != writes {
			t.Errorf("replays led to %d writes", now-writes)
		}
		if now, again := l.answered("accepted"), l.answered("duplicate"); now != fresh || again < want/2 {
			t.Errorf("of %d replays %d were accepted, and %d were known", want, now-fresh, again)
		}
	})
}

// Fault 30: GitHub announces one thing twice, under two names, so that nobody can tell by them.
func TestAnEventUnderTwoIDsIsOneDecision(t *testing.T) {
	testKey()
	story := func(t *testing.T, twice func(l *underLoad, d sandbox.HookDelivery)) (c sandbox.StoredCheckRun) {
		synctest.Test(t, func(t *testing.T) {
			l := startUnderLoad(t, 1, 1)
			defer l.stop()
			l.after(time.Minute)
			l.hub.DisturbDeliveries(func(d sandbox.HookDelivery) sandbox.Fate { twice(l, d); return sandbox.Fate{} })
			r := &loadPull{g: l.repos[0], number: 7}
			for n := range loadSteps {
				if err := r.step(n); err != nil {
					t.Fatal(err)
				}
				l.after(20 * time.Second)
			}
			l.passed([]*loadPull{r}, time.Minute) // and there is one check only
			l.after(time.Hour)
			own := r.g.OwnCheckRuns(r.g.Head(r.number))
			c = own[len(own)-1]
		})
		return c
	}
	once := story(t, func(*underLoad, sandbox.HookDelivery) {})
	for _, later := range []time.Duration{0, 50 * time.Millisecond, 5 * time.Second} {
		copies := 0
		twice := story(t, func(l *underLoad, d sandbox.HookDelivery) {
			copies++
			go func() {
				l.after(later)
				if err := receive(l.ctx, l.server, d.Event, "again-"+d.GUID, d.Payload); err != nil {
					l.t.Errorf("%s was not accepted: %v", d.Event, err)
				}
			}()
		})
		verdicts := 0
		for _, s := range twice.History {
			if s.Conclusion != "" {
				verdicts++
			}
		}
		if copies < loadSteps || verdicts != 1 || twice.Writes != once.Writes {
			t.Errorf(
				"%d events came again after %s: the check shows %d verdicts, and was written %d times; without them it was %d times",
				copies,
				later,
				verdicts,
				twice.Writes,
				once.Writes,
			)
		}
	}
}

// Fault 31: events come in any order, and no resync mends what they leave behind.
func TestEventsInAnyOrder(t *testing.T) {
	t.Parallel()
	testKey()
	const most = time.Minute // that an event is late
	ends := []func(r *loadPull) error{
		func(*loadPull) error { return nil },
		func(r *loadPull) error {
			return r.g.Push(r.number, fmt.Sprintf("second of %d", r.number), sandbox.PushSpec{})
		},
		func(r *loadPull) error {
			return r.g.EditComment(r.g.NewestComment(r.number, "github-actions[bot]"), "github-actions[bot]", "## claude\n\nRead.\n\n**Ready to merge?** No")
		},
		func(r *loadPull) error { return r.g.Retarget(r.number, "release", "alice") },
		func(r *loadPull) error { return r.g.RerunByPerson(r.runs[1], "alice") },
		func(r *loadPull) error {
			return errors.Join(r.g.ConvertToDraft(r.number, "alice"), r.g.MarkReady(r.number, "alice"), r.g.ConvertToDraft(r.number, "alice"))
		},
		func(r *loadPull) error {
			return errors.Join(r.g.Close(r.number, "alice"), r.g.Reopen(r.number, "alice"))
		},
	}
	size, seeds := 2*len(ends), uint64(1)
	if *loadOf >= 1000 {
		size, seeds = 5*len(ends), 2
	}
	story := func(t *testing.T, fate func(began time.Time) sandbox.Fate) (says []string) {
		synctest.Test(t, func(t *testing.T) {
			l := startUnderLoad(t, 6, 1)
			defer l.stop()
			for _, g := range l.repos {
				g.Protect("release") // so that the check keeps its name there
			}
			l.after(10 * time.Second)
			began := time.Now()
			l.hub.DisturbDeliveries(func(sandbox.HookDelivery) sandbox.Fate { return fate(began) })
			var pulls []*loadPull
			for n := range size {
				pulls = append(pulls, &loadPull{g: l.repos[n%len(l.repos)], number: n + 1})
			}
			for step := range loadSteps + 1 {
				for n, r := range pulls {
					play := func(r *loadPull) error { return r.step(step) }
					if step == loadSteps {
						play = ends[n%len(ends)]
					}
					if err := play(r); err != nil {
						t.Fatal(err)
					}
				}
				l.after(5 * time.Second)
			}
			l.after(15 * time.Second)
			for _, r := range pulls { // the sandbox notices only when it is asked that a runner took something up
				if _, err := r.g.StateOfRun(r.runs[1]); err != nil {
					t.Fatal(err)
				}
			}
			l.after(most + 60*time.Second)
			if took := time.Since(began); took > 4*time.Minute {
				t.Fatalf("after %s a resync may have mended it", took)
			}
			for _, r := range pulls {
				line := fmt.Sprintf("#%d: %s", r.number, l.conclusion(r))
				for _, c := range r.g.OwnCheckRuns(r.g.Head(r.number)) {
					line += ", " + c.Title
				}
				says = append(says, line)
			}
		})
		return says
	}
	orderly := story(t, func(time.Time) sandbox.Fate { return sandbox.Fate{} })
	for n, end := range []string{"success", "in_progress", "failure", "in_progress", "in_progress", "in_progress", "success"} {
		if !strings.Contains(orderly[n], ": "+end) {
			t.Errorf("in order it ends with %s", orderly[n])
		}
	}
	reversed := story(t, func(began time.Time) sandbox.Fate { // the newest comes first, and the opening last
		return sandbox.Fate{Delay: max(0, 2*time.Until(began.Add(70*time.Second)))}
	})
	if diff := cmp.Diff(orderly, reversed); diff != "" {
		t.Errorf("(- in order, + in reverse):\n%s", diff)
	}
	for seed := range seeds {
		var mu sync.Mutex
		random := rand.New(rand.NewPCG(seed, 31)) //nolint:gosec // it is no secret
		mixed := story(t, func(time.Time) sandbox.Fate {
			mu.Lock()
			defer mu.Unlock()
			return sandbox.Fate{Delay: time.Duration(random.Int64N(int64(most)))}
		})
		if diff := cmp.Diff(orderly, mixed); diff != "" {
			t.Errorf("seed %d (- in order, + mixed):\n%s", seed, diff)
		}
	}
}

// Fault 34: what happened on a head is told 40 minutes later, when there is another one.
func TestALateEventOfAnOldHeadTouchesNoHead(t *testing.T) {
	testKey()
	for name, reviewed := range map[string]bool{"the new head is decided": true, "the new head is not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := startUnderLoad(t, 1, 1)
				defer l.stop()
				l.after(time.Minute)
				r := &loadPull{g: l.repos[0], number: 7}
				if err := r.step(0); err != nil {
					t.Fatal(err)
				}
				l.after(time.Minute)
				pushed := time.Now().Add(time.Minute)
				var late atomic.Int64
				l.hub.DisturbDeliveries(func(d sandbox.HookDelivery) sandbox.Fate {
					if !time.Now().Before(pushed) {
						return sandbox.Fate{}
					}
					late.Add(1)
					return sandbox.Fate{Delay: 40 * time.Minute}
				})
				r.approve(t) // and nobody tells
				l.after(time.Minute)
				before := r.g.Head(r.number)
				if err := r.g.Push(r.number, "second", sandbox.PushSpec{}); err != nil {
					t.Fatal(err)
				}
				l.after(time.Minute)
				if reviewed {
					r.approve(t)
				}
				l.after(10 * time.Minute)
				was, is := r.g.OwnCheckRuns(before), r.g.OwnCheckRuns("second")
				told := l.answered("accepted")
				want := "in_progress"
				if reviewed {
					want = "success"
				}
				if got := l.conclusion(r); got != want || late.Load() < loadSteps {
					t.Fatalf("before %d late events the new head's check is %s, want %s", late.Load(), got, want)
				}
				l.after(40 * time.Minute)
				if l.answered("accepted")-told < 9 {
					t.Errorf("only %d late events were accepted", l.answered("accepted")-told)
				}
				if diff := cmp.Diff(was, r.g.OwnCheckRuns(before), cmpopts.IgnoreUnexported(sandbox.StoredCheckRun{})); diff != "" {
					t.Errorf("the old head's check changed: %s", diff)
				}
				if diff := cmp.Diff(is, r.g.OwnCheckRuns("second"), cmpopts.IgnoreUnexported(sandbox.StoredCheckRun{})); diff != "" {
					t.Errorf("the new head's check changed: %s", diff)
				}
			})
		})
	}
}

// An event of which nothing is known may hold anything: it is answered like any other, or GitHub would count a failure
// and be asked for it again.
func TestStrangeEventsAreIgnored(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		l.after(time.Minute)
		all, before := []string{
			`{}`,
			`{"sender":"x"}`,
			`{"ref":{}}`,
			`{"check_run":"x"}`,
			`{"inputs":{"pr":true}}`,
			`{"changes":{"base":"main"}}`,
			`{"changes":[1]}`,
			`{"repository":"x","installation":[],"action":7}`,
		}, l.answered(
			"ignored",
		)
		for n, payload := range all {
			if err := receive(t.Context(), l.server, "moon_phase", fmt.Sprintf("strange-%d", n), []byte(payload)); err != nil {
				t.Errorf("%s: %v", payload, err)
			}
		}
		if got := l.answered("ignored") - before; got != len(all) {
			t.Errorf("%d of %d are counted as ignored", got, len(all))
		}
	})
}

// Fault 22: requests to a repository's old name are sent on by GitHub, so that its old keys would work for ever beside
// the new ones, and two would look at one pull request.
func TestARenamedRepositoryIsLookedAtByOneName(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		l.after(time.Minute)
		r := &loadPull{g: l.repos[0], number: 7}
		if err := r.step(0); err != nil {
			t.Fatal(err)
		}
		l.after(time.Minute)
		l.hub.RenameRepository(l.repos[0], "store")
		l.after(time.Minute)
		r.approve(t)
		l.after(time.Hour)
		own := r.g.OwnCheckRuns(r.g.Head(r.number))
		if newest := own[len(own)-1]; len(own) != 1 || newest.Conclusion != "success" {
			t.Errorf("its newest check is %+v", newest)
		}
		rows, err := l.server.store.List(t.Context(), store.Query{Kind: "pull"})
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > 1 {
			t.Errorf("%d keys for one pull request: %s, %s", len(rows), rows[0].Key, rows[1].Key)
		}
	})
}

// Two pull requests with one head share a check: whoever of them is looked at first writes it, and the other finds it.
func TestSiblingsHaveOneCheck(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		l.after(time.Minute)
		for n := range 20 {
			head := fmt.Sprintf("shared %d", n)
			a, b := &loadPull{g: l.repos[0], number: 100 + n}, &loadPull{g: l.repos[0], number: 200 + n}
			l.repos[0].OpenPull(sandbox.PullSpec{Number: a.number, Head: head})
			l.repos[0].OpenPull(sandbox.PullSpec{Number: b.number, Head: head})
			l.after(time.Minute)
			if got := l.conclusion(a); got == "success" {
				t.Errorf("its check is %s", got)
			}
		}
	})
}

// A key that GitHub does not know, or an outage that looks like one, ends no work: GitHub's 404 is about the App.
func TestAnAppThatIsNotFoundLosesNoWork(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		l.hub.AddFault(sandbox.Fault{Match: "GET /app", Status: 404})
		l.hub.AddFault(sandbox.Fault{Match: "GET /app/**", Status: 404})
		r := &loadPull{g: l.repos[0], number: 7}
		if err := r.step(0); err != nil {
			t.Fatal(err)
		}
		l.after(10 * time.Minute)
		if _, err := l.server.store.Get(t.Context(), "77/org-0/shop-0#7"); err != nil {
			t.Errorf("an accepted delivery's key: %v", err)
		}
		l.hub.ClearFaults()
		l.after(time.Hour)
		if got := l.conclusion(r); got == "no check" {
			t.Error("never looked at")
		}
	})
}

// Faults 19 and 47: failed deliveries are found whatever the difference between our clock and GitHub's.
func TestFailedDeliveriesAreFoundByAWrongClock(t *testing.T) {
	testKey()
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: loadSecret})
			g := sandbox.New(sandbox.Options{Owner: "acme", Repo: "shop", App: hub.App()})
			hub.Add(77, g)
			now := func() time.Time { return time.Now().Add(off) }
			fleet, err := github.NewFleet(
				github.FleetOptions{
					PoolOptions: client.PoolOptions{
						Options: client.Options{
							BaseURL:   "https://api.github.com",
							Transport: hub,
							App:       &client.App{ID: 4711, Key: testKey()},
							Now:       now,
							Reserve:   true,
						},
					},
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fleet.Installations(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go hub.DeliverFunc(ctx, func(string, string, []byte) error { return http.ErrServerClosed })
			g.OpenPull(sandbox.PullSpec{Number: 7, Head: "of 7"})
			if err := hub.WaitDelivered(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-time.After(2 * time.Minute)
			missed, err := fleet.Deliveries(t.Context(), now().Add(-6*time.Minute))
			if err != nil || len(missed) == 0 {
				t.Errorf("our clock is off by %s: %d failed deliveries are found, %v", off, len(missed), err)
			}
		})
	}
}

// T30: nothing secret is in what the daemon says, however much it is asked to say and whatever goes wrong.
func TestTheDaemonTellsNoSecret(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		var said syncBuffer
		hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: loadSecret})
		g := sandbox.New(sandbox.Options{Owner: "acme", Repo: "shop", App: hub.App()})
		g.SetFile(".github/review-coordinator.yml", "", loadPolicy)
		hub.Add(77, g)
		secrets := []string{loadSecret, strings.Split(string(testKey()), "\n")[1], "ghs_canary00000000000000000000000000"}
		talk := echoing{hub: hub, add: func(s string) { said.mu.Lock(); defer said.mu.Unlock(); said.tokens = append(said.tokens, s) }}
		s, err := openServer(t.Context(), serverConfig{
			Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", Database: filepath.Join(t.TempDir(), "c.db"), Secrets: []string{loadSecret},
			GitHub: client.Options{BaseURL: "https://api.github.com", Transport: talk, App: &client.App{ID: 4711, Key: testKey()}},
			Resync: 5 * time.Minute, Log: slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug})), Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		l := &underLoad{t: t, hub: hub, server: s, repos: []*sandbox.GitHub{g}}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _ = s.daemon.Run(ctx) })
		all.Go(func() {
			hub.DeliverFunc(ctx, func(event, guid string, payload []byte) error { return receive(ctx, s, event, guid, payload) })
		})
		l.after(time.Minute)
		r := &loadPull{g: g, number: 7}
		if err := r.step(0); err != nil {
			t.Fatal(err)
		}
		r.approve(t)
		const reads = "GET /repos/**" // and not tokens: who waits for one waits for a lock, and in a bubble no time passes meanwhile
		for _, f := range []sandbox.Fault{
			{Status: 401, Times: 9},
			{Match: reads, Status: 500, Times: 40},
			{Match: reads, Kind: sandbox.FaultGarbage, Times: 40},
			{Status: 403, Times: 9},
			{Match: "POST /app/installations/*/access_tokens", Status: 422, Times: 5},
		} {
			f.Body = `{"message":"bad credentials: Authorization: token ghs_canary00000000000000000000000000"}`
			hub.AddFault(f)
			if _, err := g.Comment(7, "github-actions[bot]", "## openai\n\nMore."); err != nil {
				t.Fatal(err)
			}
			l.after(5 * time.Minute)
			hub.ClearFaults()
		}
		for _, path := range []string{
			"/", "/metrics", "/readyz", "/api/v1/pulls", "/api/v1/queue", "/pulls/acme/shop/7", "/repositories", "/api/v1/repositories",
		} {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:9090"+path, nil)
			w := httptest.NewRecorder()
			s.adminServer.Handler.ServeHTTP(w, req)
			fmt.Fprintln(&said, w.Body)
		}
		cancel()
		all.Wait()
		s.close()
		text := said.String()
		if len(said.tokens) == 0 || len(text) < 10_000 {
			t.Fatalf("%d tokens, %d bytes said: nothing was tried", len(said.tokens), len(text))
		}
		for _, secret := range append(secrets, said.tokens...) {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("a secret was said: %s", text[max(0, at-200):at])
			}
		}
	})
}

// echoing notes the tokens with which the daemon signs in.
type echoing struct {
	hub *sandbox.Hub
	add func(string)
}

func (e echoing) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, token, ok := strings.Cut(req.Header.Get("Authorization"), " "); ok {
		e.add(token)
	}
	return e.hub.RoundTrip(req)
}

type syncBuffer struct {
	mu     sync.Mutex
	text   bytes.Buffer
	tokens []string
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// A suspended installation that comes back is looked at when GitHub says so.
func TestASuspendedInstallationComesBack(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		l.after(time.Minute)
		r := &loadPull{g: l.repos[0], number: 7}
		if err := r.step(0); err != nil {
			t.Fatal(err)
		}
		l.after(time.Minute)
		l.hub.Suspend(77)
		l.after(30 * time.Minute)
		r.approve(t) // unheard
		l.hub.Unsuspend(77)
		l.passed([]*loadPull{r}, 8*time.Minute)
	})
}

// lagging answers some paths as they were answered before it lagged.
type lagging struct {
	of func(path string) bool

	mu   sync.Mutex
	kept map[string][]byte
	lags bool
}

func (g *lagging) alter(req *http.Request, resp *http.Response) {
	if !g.of(req.URL.Path) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
	case g.lags && g.kept[req.URL.Path] != nil:
		body, resp.StatusCode = g.kept[req.URL.Path], http.StatusOK
		resp.Header.Del("ETag")
	case !g.lags && resp.StatusCode == http.StatusOK:
		g.kept[req.URL.Path] = body
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
}

func (g *lagging) set(yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lags = yes
}

// Fault 26: a replica that lags behind an event neither makes a check pass nor keeps an objection from it.
func TestAReplicaThatLagsBehindAnEvent(t *testing.T) {
	testKey()
	for name, c := range map[string]struct {
		lag    []string // suffixes of paths
		before []sandbox.ReviewSpec
		then   sandbox.ReviewSpec
		edit   string // what somebody else makes of it
	}{
		"GraphQL does not know of a thread": {
			lag: []string{"/graphql"},
			then: sandbox.ReviewSpec{
				By: "sage[bot]", State: "COMMENTED", Body: "**Ready to merge?** Yes",
				Comments: []sandbox.LineComment{{Path: "cart.go", Line: 3, Body: "It is emptied twice."}},
			},
		},
		"GraphQL does not know of an edit": {
			lag:  []string{"/graphql"},
			then: sandbox.ReviewSpec{By: "sage[bot]", State: "COMMENTED", Body: "**Ready to merge?** No"}, edit: "**Ready to merge?** Yes",
		},
		"nothing knows of an objection": {
			lag:    []string{"/graphql", "/pulls/7/reviews"},
			before: []sandbox.ReviewSpec{{By: "sage[bot]", State: "APPROVED"}},
			then:   sandbox.ReviewSpec{By: "sage[bot]", State: "CHANGES_REQUESTED", Body: "No."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := startUnderLoad(t, 1, 1)
				defer l.stop()
				lag := &lagging{kept: map[string][]byte{}, of: func(path string) bool {
					return slices.ContainsFunc(c.lag, func(suffix string) bool { return strings.HasSuffix(path, suffix) })
				}}
				l.github.alter = lag.alter
				g := l.repos[0]
				g.SetFile(".github/review-coordinator.yml", "", "version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n")
				l.after(time.Minute)
				r := &loadPull{g: g, number: 7}
				g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1"})
				l.after(time.Minute)
				for _, review := range c.before {
					if _, err := g.Review(7, review); err != nil {
						t.Fatal(err)
					}
					l.after(time.Minute)
				}
				lag.set(true)
				id, err := g.Review(7, c.then)
				if err != nil {
					t.Fatal(err)
				}
				l.after(800 * time.Millisecond)
				if c.edit != "" {
					if err := g.EditReview(id, "mallory", c.edit); err != nil {
						t.Fatal(err)
					}
				}
				l.after(1200 * time.Millisecond)
				lag.set(false)
				l.after(8 * time.Second)
				for range 600 {
					if l.conclusion(r) == "success" {
						t.Fatal("it passes")
					}
					l.after(time.Second)
				}
			})
		})
	}
}

// Fault 26: an approval that its author takes back takes the pass back, though nothing that is listed knows of the edit
// when the event comes, and REST does not date it.
func TestAReplicaThatLagsBehindAnEdit(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		lag := &lagging{kept: map[string][]byte{}, of: func(path string) bool {
			return strings.HasSuffix(path, "/graphql") || strings.HasSuffix(path, "/pulls/7/reviews")
		}}
		l.github.alter = lag.alter
		g := l.repos[0]
		g.SetFile(".github/review-coordinator.yml", "", "version: 1\nquorum: 1\ngrace: 0s\nreviewers:\n  - {name: sage, author: \"sage[bot]\"}\n")
		l.after(time.Minute)
		r := &loadPull{g: g, number: 7}
		g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1"})
		l.after(time.Minute)
		id, err := g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "COMMENTED", Body: "**Ready to merge?** Yes"})
		if err != nil {
			t.Fatal(err)
		}
		l.after(time.Minute)
		if got := l.conclusion(r); got != "success" {
			t.Fatalf("before the edit it is %s", got)
		}
		lag.set(true)
		if err := g.EditReview(id, "sage[bot]", "**Ready to merge?** No"); err != nil {
			t.Fatal(err)
		}
		l.after(3 * time.Second)
		lag.set(false)
		l.after(20 * time.Second)
		if got := l.conclusion(r); got != "failure" {
			t.Errorf("after it is %s", got)
		}
	})
}

// Fault 14: a key that GitHub does not take any more leaves each installation alone, and shows.
func TestARefusedKeyIsNoLoop(t *testing.T) {
	testKey()
	synctest.Test(t, func(t *testing.T) {
		l := startUnderLoad(t, 1, 1)
		defer l.stop()
		l.after(time.Minute)
		pulls := []*loadPull{{g: l.repos[0], number: 7}, {g: l.repos[0], number: 8}, {g: l.repos[0], number: 9}}
		for _, r := range pulls {
			if err := r.step(0); err != nil {
				t.Fatal(err)
			}
		}
		l.after(time.Minute)
		var refused atomic.Int64
		var renewed atomic.Bool
		l.github.alter = func(_ *http.Request, resp *http.Response) {
			if !renewed.Load() {
				refused.Add(1)
				resp.StatusCode, resp.Body = http.StatusUnauthorized, io.NopCloser(strings.NewReader(`{"message":"Bad credentials"}`))
			}
		}
		ready := func() int {
			w := httptest.NewRecorder()
			l.server.adminServer.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:9090/readyz", nil))
			return w.Code
		}
		for _, r := range pulls {
			r.approve(t)
		}
		l.after(10 * time.Minute)
		if code := ready(); code != http.StatusServiceUnavailable {
			t.Errorf("/readyz says %d after ten minutes", code)
		}
		l.after(3 * time.Hour)
		if n := refused.Load(); n > 100 {
			t.Errorf("%d requests in three hours", n)
		}
		renewed.Store(true)
		l.passed(pulls, 70*time.Minute)
		l.after(time.Hour) // the App itself is asked for once in that time
		if code := ready(); code != http.StatusOK {
			t.Errorf("/readyz says %d after the key was renewed", code)
		}
	})
}
