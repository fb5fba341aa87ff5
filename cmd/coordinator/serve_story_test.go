//go:build !action

package main

// One story, every shell: each story of the sandbox is told to the whole daemon, by webhooks and in virtual time, and
// must take the same turns as when it is stepped through without a daemon.

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
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

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/story"
)

// testKey is an App's key. Making one takes a while.
var testKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // unreachable unless the machine has no randomness
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// bubbled is a daemon in a bubble of virtual time: all of it but the listeners, for a network has no virtual time.
type bubbled struct {
	*daemon.Daemon
	store *store.Database
	stop  func()
	heard *atomic.Int64 // when the last event was, in nanoseconds
}

// newShop is a repository with a policy, in which our App is installed, by the clock of a bubble.
func newShop(policy string) (*sandbox.Hub, *sandbox.GitHub) {
	hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: "a secret of many words", Now: time.Now})
	g := sandbox.New(sandbox.Options{Now: time.Now, App: hub.App()})
	g.SetFile(".github/review-coordinator.yml", "", policy)
	hub.Add(77, g)
	return hub, g
}

// inBubble starts a daemon that works on hub.
func inBubble(t *testing.T, hub *sandbox.Hub, dir, token string) *bubbled {
	t.Helper()
	return inBubbleWithLog(t, hub, dir, token, slog.New(slog.DiscardHandler))
}

// inBubbleWithLog starts a daemon that works on hub and writes a log.
func inBubbleWithLog(t *testing.T, hub *sandbox.Hub, dir, token string, log *slog.Logger) *bubbled {
	t.Helper()
	return inBubbleOver(t, hub, dir, token, log, func(table store.Store) store.Store { return table })
}

// inBubbleOver starts a daemon that works on hub, by what over makes of its table, and through the wire, if there is one.
func inBubbleOver(
	t *testing.T, hub *sandbox.Hub, dir, token string, log *slog.Logger, over func(store.Store) store.Store, wire ...http.RoundTripper,
) *bubbled {
	t.Helper()
	table, err := store.OpenSQLite(filepath.Join(dir, "c.db"), store.Options{Log: log, Fleeting: true})
	if err != nil {
		t.Fatal(err)
	}
	metrics := daemon.NewMetrics(daemon.MetricsOptions{})
	o := client.Options{BaseURL: "https://api.github.com", Transport: hub, Reserve: true, Now: time.Now, Observed: metrics.Asked}
	if len(wire) > 0 {
		o.Transport = wire[0]
	}
	if token != "" {
		o.Token = token
	} else {
		o.App = &client.App{ID: hub.App().ID, Key: testKey()}
	}
	fleet, err := github.NewFleet(github.FleetOptions{PoolOptions: client.PoolOptions{Options: o}})
	if err != nil {
		t.Fatal(err)
	}
	d := daemon.New(daemon.Config{
		Store: over(table), Host: daemon.HostOf(fleet), Metrics: metrics, Feed: dashboard.NewFeed(), Log: log, Now: time.Now, Resync: 5 * time.Minute,
		Jitter: func(most time.Duration) time.Duration { return most },
	})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var heard atomic.Int64
	deadline.Describe(t, "the last delivery came", func() string { return time.Unix(0, heard.Load()).UTC().String() })
	all.Go(func() {
		if err := d.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	all.Go(func() {
		hub.DeliverFunc(ctx, func(event, guid string, payload []byte) error {
			heard.Store(time.Now().UnixNano())
			if late, ok := o.Transport.(*lateQueries); ok {
				time.AfterFunc(time.Second, late.askAll)
			}
			_, err := d.Receive(ctx, daemon.Received{ID: guid, Event: event, Payload: payload, At: time.Now()})
			return err
		})
	})
	stop := func() {
		cancel()
		all.Wait()
		if err := table.Close(); err != nil {
			t.Error(err)
		}
		namesAllRequests(t, metrics)
	}
	return &bubbled{d, table, stop, &heard}
}

// namesAllRequests wants each request that was made under its own name: what the daemon asks for and its figures do not
// list would be counted with all that is foreign.
func namesAllRequests(t *testing.T, m *daemon.Metrics) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	asked := 0
	for line := range strings.Lines(w.Body.String()) {
		n, counts := strings.CutPrefix(line, "coordinator_github_requests_total{")
		if !counts || strings.HasSuffix(n, " 0\n") {
			continue
		}
		asked++
		if strings.HasPrefix(n, `endpoint="other"`) {
			t.Errorf("requests without a name: %s", line)
		}
	}
	if asked == 0 {
		t.Error("no request was counted")
	}
}

// rest waits until the daemon has nothing to do, and says when it will look at a pull request again by itself.
func (b *bubbled) rest(ctx context.Context) (next time.Time, err error) {
	synctest.Wait()
	health, err := b.store.Health(ctx, time.Now())
	if err != nil || health.Leased > 0 || health.Due > 0 { // it waits within a look
		return time.Now().Add(100 * time.Millisecond), err
	}
	// Resyncs, and what cannot be done, have no end: the story waits for them as long as three resyncs after the last
	// event.
	heard := time.Unix(0, b.heard.Load()).Add(16 * time.Minute)
	rows, err := b.store.List(ctx, store.Query{Limit: 100, Thin: true})
	for _, row := range rows {
		if (row.Kind != "pull" || row.Attempts > 5) && row.Due.After(heard) {
			continue
		}
		if !row.Due.IsZero() && (next.IsZero() || row.Due.Before(next)) {
			next = row.Due
		}
	}
	if soon := time.Now().Add(100 * time.Millisecond); !next.IsZero() && next.Before(soon) { // of a backlog that is held
		next = soon
	}
	return next, err
}

var (
	storyStep    = flag.Int("story-step", 96, "TestTheDaemonTellsTheSameStories tells every n-th story")
	requestsSeed = flag.Uint64("requests-seed", 2026, "seed of how long the requests of TestTheDaemonTellsTheSameStoriesThoughRequestsTakeTime take")
	storyFirst   = flag.Int("story-first", 0, "the first story of -story-step, counted from 0, modulo the step")
)

func TestTheDaemonTellsTheSameStories(t *testing.T) {
	tellStories(t, func(hub *sandbox.Hub) http.RoundTripper { return hub }, func(t *testing.T, stepped, performed story.Story) {
		if diff := cmp.Diff(stepped.FinalStates(), performed.FinalStates()); diff != "" {
			t.Errorf("it ends otherwise (-stepped +daemon):\n%s", diff)
		}
		if diff := cmp.Diff(stepped.Transitions(), performed.Transitions()); diff != "" {
			t.Errorf("it takes other turns (-stepped +daemon):\n%s", diff)
		}
	})
}

// GraphQL shows what happens a second late. Nothing passes for it that does not pass in the story, and it ends alike.
func TestTheDaemonTellsTheSameStoriesThoughGraphQLLags(t *testing.T) {
	wire := func(hub *sandbox.Hub) http.RoundTripper {
		return &lateQueries{hub: hub, answers: map[string]*lateAnswer{}}
	}
	tellStories(t, wire, func(t *testing.T, stepped, performed story.Story) {
		if diff := cmp.Diff(finalConclusions(stepped), finalConclusions(performed)); diff != "" {
			t.Errorf("it ends otherwise (-stepped +daemon):\n%s\n%s", diff, performed)
		}
		told := stepped.Transitions()
		for _, turn := range performed.Transitions() {
			if strings.Contains(turn, "success") && !slices.Contains(told, turn) {
				t.Errorf("it passes in between: %s\nwhere the story has\n%s", turn, strings.Join(told, "\n"))
			}
		}
	})
}

// A look is no moment: its requests go side by side, each takes its time, and what happens meanwhile it sees in part.
// Nothing passes for it that does not pass in the story, it ends alike, and nothing is run again that is not in the story.
func TestTheDaemonTellsTheSameStoriesThoughRequestsTakeTime(t *testing.T) {
	var place atomic.Uint64
	wire := func(hub *sandbox.Hub) http.RoundTripper {
		return &slowRequests{hub: hub, random: mathrand.New(mathrand.NewPCG(*requestsSeed, place.Add(1)))}
	}
	tellStories(t, wire, func(t *testing.T, stepped, performed story.Story) {
		ends := finalConclusions(stepped)
		for key := range ends { // a base that was left within the second may never have had a check
			if _, written := finalConclusions(performed)[key]; !written && ends[key] == "cancelled" {
				delete(ends, key)
			}
		}
		if diff := cmp.Diff(ends, finalConclusions(performed)); diff != "" {
			t.Errorf("it ends otherwise (-stepped +daemon):\n%s\n%s", diff, performed)
		}
		told := stepped.Transitions()
		for _, turn := range performed.Transitions() {
			if (strings.Contains(turn, "success") || strings.Contains(turn, "rerun")) && !slices.Contains(told, turn) {
				t.Errorf("it passes or is run again: %s\nwhere the story has\n%s\n%s", turn, strings.Join(told, "\n"), performed)
			}
		}
	})
}

// slowRequests is GitHub behind a wire on which each request takes up to a second and a half, and so does its answer; but
// not that for a token, during which others wait for a lock, and in a bubble who waits for one holds up time.
type slowRequests struct {
	hub *sandbox.Hub

	mu     sync.Mutex
	random *mathrand.Rand
}

func (s *slowRequests) RoundTrip(req *http.Request) (*http.Response, error) {
	travel := func() {
		s.mu.Lock()
		d := s.random.Int64N(int64(1500 * time.Millisecond))
		s.mu.Unlock()
		select {
		case <-req.Context().Done():
		case <-time.After(time.Duration(d)):
		}
	}
	if strings.HasSuffix(req.URL.Path, "/access_tokens") {
		return s.hub.RoundTrip(req)
	}
	travel()
	defer travel()
	return s.hub.RoundTrip(req)
}

// finalConclusions is how each check stands in the end, without its title: what was seen of a head that was left soon depends
// on the second.
func finalConclusions(s story.Story) map[string]string {
	final := s.FinalStates()
	for key, says := range final {
		final[key], _, _ = strings.Cut(says, " ")
	}
	return final
}

// lateQueries answers queries as GitHub was a second after the last event but those of this second.
type lateQueries struct {
	hub *sandbox.Hub

	mu      sync.Mutex
	answers map[string]*lateAnswer // by query
}

// A lateAnswer is a query with the answer that is shown.
type lateAnswer struct {
	req   *http.Request
	query []byte
	shown []byte
}

// ask asks the query anew.
func (a *lateAnswer) ask(hub *sandbox.Hub) (*http.Response, []byte, error) {
	req := a.req.Clone(context.Background())
	req.Body = io.NopCloser(bytes.NewReader(a.query))
	resp, err := hub.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(resp.Body)
	return resp, text, err
}

// askAll lets all queries show what there is now.
func (l *lateQueries) askAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.answers {
		if resp, text, err := a.ask(l.hub); err == nil && resp.StatusCode == http.StatusOK {
			a.shown = text
		}
	}
}

func (l *lateQueries) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/graphql") {
		return l.hub.RoundTrip(req)
	}
	query, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := &lateAnswer{req: req, query: query}
	resp, text, err := now.ask(l.hub)
	if err != nil {
		return nil, err
	}
	if was, known := l.answers[string(query)]; known {
		was.req, text = req, was.shown // by a token that holds
	} else if resp.StatusCode == http.StatusOK {
		now.shown = text
		l.answers[string(query)] = now
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return resp, nil
}

// tellStories tells stories to a daemon through a wire, and compares each with how it goes on step by step.
func tellStories(t *testing.T, wire func(*sandbox.Hub) http.RoundTripper, compare func(t *testing.T, stepped, performed story.Story)) {
	t.Helper()
	files, err := filepath.Glob("../../internal/story/testdata/stories/*.txt")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d stories, %v", len(files), err)
	}
	testKey()
	for i, file := range files {
		if i%*storyStep != *storyFirst%*storyStep {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			s, err := story.Parse(file, src)
			if err != nil {
				t.Fatal(err)
			}
			if s.NeedsJobToken() {
				return // a daemon has none
			}
			stepped, err := s.PlayStepped(t.Context(), story.Audience{})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { compare(t, stepped, perform(t, s, wire)) })
		})
	}
}

// perform plays a story to a daemon, from [sandbox.Begin] on.
func perform(t *testing.T, s *story.Scenario, through func(*sandbox.Hub) http.RoundTripper) story.Story {
	t.Helper()
	wait := func(ctx context.Context, d time.Duration) error {
		timer := time.NewTimer(max(d, 0))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return nil
		}
	}
	if err := wait(t.Context(), time.Until(story.Begin)); err != nil {
		t.Fatal(err)
	}
	hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: "a secret of many words", Now: time.Now})
	g := s.GitHub(sandbox.Options{Now: time.Now})
	installation, token := int64(77), ""
	if who := s.TokenOwner(); who != "" {
		installation, token = 0, fmt.Sprintf("ghp_%s", who)
	}
	hub.Add(installation, g)
	sameTable := func(table store.Store) store.Store { return table }
	b := inBubbleOver(t, hub, t.TempDir(), token, slog.New(slog.DiscardHandler), sameTable, through(hub))
	defer b.stop()
	story, err := s.Perform(t.Context(), story.Performance{Hub: hub, GitHub: g, Clock: sandbox.Clock{Now: time.Now, Sleep: wait}, Rest: b.rest})
	if err != nil {
		t.Fatal(err)
	}
	if crossed := hub.CrossedRequests(); len(crossed) > 0 {
		t.Errorf("requests crossed from one installation to another: %v", crossed)
	}
	return story
}

// By the machine's clock, which unlike that of a bubble moves on between two readings: an event leads to a check at
// once.
func TestAnEventLeadsToACheckByTheMachinesClock(t *testing.T) {
	hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: "a secret of many words"})
	g := sandbox.New(sandbox.Options{Owner: "acme", Repo: "shop", App: hub.App()})
	g.SetFile(".github/review-coordinator.yml", "", loadPolicy)
	hub.Add(77, g)
	written := make(chan struct{}, 1)
	hub.AfterRequest(func(r *http.Request, status int) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/check-runs") && status == http.StatusCreated {
			written <- struct{}{}
		}
	})
	b := inBubble(t, hub, t.TempDir(), "")
	defer b.stop()
	g.OpenPull(sandbox.PullSpec{Number: 7, Head: "a1", Author: "alice", Files: []sandbox.ChangedFile{{Path: "cart.go"}}})
	<-written
}
