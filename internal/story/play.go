package story

// How a scenario is played: a world in which its sentences happen, and the player that jumps from one moment at which
// anything can change to the next.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// An Audience is told of what happens while a story is played. Each field may be nil.
type Audience struct {
	Happened func(at time.Duration, what string) // a sentence of the timeline came true
	Wrote    func(Entry)                         // the coordinator wrote
	Looked   func(loop.Look)                     // the coordinator has looked

	world func(*world) // prepares the world of the story: faults, other replicas
}

// world is GitHub as one play of a scenario has it.
type world struct {
	s        *Scenario
	g        *sandbox.GitHub
	now      func() time.Time // what GitHub's clock says
	begin    time.Time
	audience Audience
	rec      *recorder
	numbers  []int // of the pull requests, in the order in which they were opened
	runs     map[string]int64
	comments map[string]int64 // newest, by author
	reviews  map[string]int64
	attempt  int // the attempt of the reaction that is carried out; 0: none

	doing sync.Mutex // one thing happens after the other
	mu    sync.Mutex // of what requests of the program under test set off, and of runs
	queue []due
	asks  map[string]int
	stir  chan struct{} // something was put into the queue, or written
}

// due is a step with its moment.
type due struct {
	step
	when    time.Time
	attempt int
}

func (s *Scenario) world(now func() time.Time, a Audience) *world {
	return s.worldOf(s.GitHub(sandbox.Options{Now: now}), now, Begin, a)
}

// GitHub makes a GitHub on which the scenario can be played: with the person in it whose token it is about, if it is about
// one, and with more requests an hour than it needs.
func (s *Scenario) GitHub(o sandbox.Options) *sandbox.GitHub {
	o.Person = s.person
	// A player that begins every look anew has no use of ETags; what a story tells is not how many requests that costs.
	o.Limit = 1_000_000
	return sandbox.New(o)
}

// Person is the login of the personal token that the scenario is told with; "" if it is told with an App's or a job's.
func (s *Scenario) Person() string { return s.person }

// worldOf prepares a play on g, whose clock is now, that begins at a moment.
func (s *Scenario) worldOf(g *sandbox.GitHub, now func() time.Time, begin time.Time, a Audience) *world {
	w := &world{
		g: g, now: now, begin: begin,
		s: s, audience: a, runs: map[string]int64{}, comments: map[string]int64{}, reviews: map[string]int64{}, asks: map[string]int{}, stir: make(chan struct{}, 1),
	}
	w.rec = newRecorder(w, a.Wrote)
	if s.Policy != "" {
		w.g.SetFile(policyPath, "", s.Policy)
	}
	for _, st := range slices.Concat(s.setup, s.timeline) {
		w.queue = append(w.queue, due{step: st, when: begin.Add(st.at)})
	}
	w.g.OnRerun(w.rerun)
	w.g.OnAsk(w.asked)
	w.g.After(func(req *http.Request, _ int) {
		if req.Method != http.MethodGet && !strings.HasSuffix(req.URL.Path, "/graphql") {
			w.rec.see()
			w.stirred()
		}
	})
	if a.world != nil {
		a.world(w)
	}
	return w
}

func (w *world) stirred() {
	select {
	case w.stir <- struct{}{}:
	default:
	}
}

// rerun sets off what the scenario tells of the new attempt.
func (w *world) rerun(id int64, attempt int) {
	for _, r := range w.s.reactions {
		if run, found := w.runOf(r.to); found && run == id && !r.asked && (r.nth == 0 || r.nth == attempt) {
			w.later(r.steps, attempt)
		}
	}
}

// asked sets off what the scenario tells of a reviewer that was asked.
func (w *world) asked(kind, text string) {
	for _, reviewer := range w.s.reviewers {
		if kind == "comment" && strings.TrimSpace(reviewer.Request.Comment) != strings.TrimSpace(text) || kind != "comment" && !strings.EqualFold(reviewer.Request.Login, text) {
			continue
		}
		w.mu.Lock()
		w.asks[reviewer.Name]++
		nth := w.asks[reviewer.Name]
		w.mu.Unlock()
		for _, r := range w.s.reactions {
			if r.to == reviewer.Name && r.asked && (r.nth == 0 || r.nth == nth) {
				w.later(r.steps, 0)
			}
		}
	}
}

func (w *world) later(steps []step, attempt int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	for _, st := range steps {
		w.queue = append(w.queue, due{step: st, when: now.Add(st.at), attempt: attempt})
	}
	slices.SortStableFunc(w.queue, func(a, b due) int { return a.when.Compare(b.when) })
}

// next is when something happens next, by the timeline or in GitHub by itself; zero if nothing will.
func (w *world) next() time.Time {
	w.mu.Lock()
	at := time.Time{}
	if len(w.queue) > 0 {
		at = w.queue[0].when
	}
	w.mu.Unlock()
	return soonerOf(at, w.g.Due())
}

// soonerOf is the earlier of two moments, of which either may be none.
func soonerOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// happen carries out what is due.
func (w *world) happen() error {
	w.doing.Lock()
	defer w.doing.Unlock()
	for {
		w.mu.Lock()
		if len(w.queue) == 0 || w.queue[0].when.After(w.now()) {
			w.mu.Unlock()
			return nil
		}
		d := w.queue[0]
		w.queue = w.queue[1:]
		w.mu.Unlock()
		w.attempt = d.attempt
		if err := d.do(w); err != nil {
			return fmt.Errorf("%s:%d: %w", w.s.File, d.line, err)
		}
		if w.audience.Happened != nil {
			w.audience.Happened(w.now().Sub(w.begin), d.text)
		}
	}
}

// What sentences mean by their names.

func (w *world) opened(number int) { w.numbers = append(w.numbers, number) }

func (w *world) number(n int) int {
	if n == 0 && len(w.numbers) > 0 {
		return w.numbers[0]
	}
	return n
}

func (w *world) head(name string) string {
	if name == "" {
		return w.g.Head(w.number(0))
	}
	return sandbox.SHA(name)
}

// author is the account as which a reviewer writes, or the login itself.
func (w *world) author(who string) string {
	if r, found := w.s.reviewers[who]; found && r.Author != "" {
		return r.Author
	}
	return who
}

func (w *world) started(label string, s sandbox.RunSpec) error {
	id, err := w.g.StartRun(s)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs[label] = id
	return err
}

func (w *world) run(label string, do func(id int64) error) error {
	id, found := w.runOf(label)
	if !found {
		return fmt.Errorf("no run of %q has started", label)
	}
	return do(id)
}

func (w *world) runOf(label string) (int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, found := w.runs[label]
	return id, found
}

func (w *world) labelOf(id int64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for label, run := range w.runs {
		if run == id {
			return label
		}
	}
	return fmt.Sprint(id)
}

// name is what the scenario calls a commit.
func (w *world) name(sha string) string {
	for _, name := range w.s.commits() {
		if sandbox.SHA(name) == sha {
			return name
		}
	}
	return sha[:7]
}

// unusual is a check's name, unless it is the first policy's.
func (w *world) unusual(name string) string {
	if name == w.s.checkName {
		return ""
	}
	return name
}

// expand puts in commits: {sha a1}, {short a1}, {merge a1}.
func (w *world) expand(text string) string {
	for _, name := range w.s.commits() {
		sha := sandbox.SHA(name)
		text = strings.NewReplacer("{sha "+name+"}", sha, "{short "+name+"}", sha[:7], "{merge "+name+"}", sandbox.MergeSHA(name)).Replace(text)
	}
	return text
}

// open returns a new reconciler, as a job that has just started has it.
func (w *world) open(transport http.RoundTripper, now func() time.Time) (*loop.Reconciler, error) {
	token := "ghs_storystorystorystorystorystorystory0"
	if w.s.person != "" {
		token = "ghp_storystorystorystorystorystorystory0"
	}
	api, err := client.New(client.Options{Token: token, Actions: true, Transport: transport, Now: now})
	if err != nil {
		return nil, err
	}
	forge := github.NewForge(api, github.ActionsApp, "", nil)
	forge.SetClock(now)
	return &loop.Reconciler{Forge: forge, Now: now, Seen: func(l loop.Look) {
		w.rec.looked(l)
		if w.audience.Looked != nil {
			w.audience.Looked(l)
		}
	}}, nil
}

func (w *world) pr(number int) quorum.PR {
	owner, name := w.g.Repository()
	return quorum.PR{Owner: owner, Repo: name, Number: number}
}

// How long faults are borne in a row, as the waiting loop bears them.
const patience = 15 * time.Minute

// mostLooks ends a story that does not end.
const mostLooks = 3000

// turn is where the stepped player is with one pull request.
type turn struct {
	wake   time.Time
	pause  time.Duration
	faulty time.Time
}

// Step plays the scenario in no time: from each moment at which something happens, or at which a decision can change by
// the clock, to the next. What happens in the same second happens before the look. Each look is a new job's, that knows
// nothing but what stands on GitHub.
func (s *Scenario) Step(ctx context.Context, a Audience) (Story, error) {
	var mu sync.Mutex
	clock := Begin
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return clock
	}
	w := s.world(now, a)
	turns := map[int]*turn{}
	happens := Begin
	for looks := 0; ; {
		if err := w.happen(); err != nil {
			return w.rec.told(), err
		}
		for _, n := range w.numbers {
			t := turns[n]
			if t == nil {
				t = &turn{}
				turns[n] = t
			}
			stirred := !happens.IsZero() && !now().Before(happens)
			if !stirred && (t.wake.IsZero() || now().Before(t.wake)) {
				continue
			}
			if looks++; looks > mostLooks {
				return w.rec.told(), fmt.Errorf("%s: the story does not end: %d looks until %s", s.File, looks, short(now().Sub(Begin)))
			}
			if err := w.look(ctx, n, t, now); err != nil {
				return w.rec.told(), err
			}
		}
		happens = w.next()
		next := happens
		for _, t := range turns {
			next = soonerOf(next, t.wake)
		}
		if next.IsZero() {
			return w.rec.told(), nil
		}
		if next.Before(now()) {
			next = now()
		}
		mu.Lock()
		clock = next
		mu.Unlock()
	}
}

// look is one look at one pull request by a new job. A fault ends it, and another job looks again a little later: nothing
// waits in a player that has no time.
func (w *world) look(ctx context.Context, n int, t *turn, now func() time.Time) error {
	looking, stop := context.WithCancel(ctx)
	defer stop()
	r, err := w.open(&impatient{g: w.g, give: stop}, now)
	if err != nil {
		return err
	}
	wake, err := r.Reconcile(looking, w.pr(n))
	var temporary interface{ Temporary() bool }
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		*t = turn{wake: wake}
		if !wake.IsZero() && !wake.After(now()) {
			t.wake = now().Add(time.Second)
		}
		return nil
	case looking.Err() != nil, errors.As(err, &temporary) && temporary.Temporary():
	default:
		w.rec.gaveUp(err)
		*t = turn{}
		return nil
	}
	if t.faulty.IsZero() {
		t.faulty, t.pause = now(), time.Second
	}
	if now().Sub(t.faulty) > patience {
		w.rec.gaveUp(err)
		*t = turn{}
		return nil
	}
	t.wake = now().Add(t.pause)
	t.pause = min(2*t.pause, 30*time.Second)
	if wake.After(t.wake) { // the end of a limit
		t.wake, t.faulty = wake, time.Time{}
	}
	return nil
}

// impatient ends a look at the first fault, where a client would wait and try again.
type impatient struct {
	g    *sandbox.GitHub
	give context.CancelFunc
}

func (i *impatient) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := i.g.RoundTrip(req)
	switch {
	case err != nil:
		i.give()
		return nil, err
	case res.StatusCode >= 500, res.StatusCode == http.StatusOK && res.Header.Get("Content-Type") == "text/html",
		res.StatusCode == http.StatusNotFound && strings.Contains(req.URL.Path, "/pulls/"):
		i.give()
	}
	res.Body = &cut{ReadCloser: res.Body, give: i.give}
	return res, nil
}

// cut notices an answer that breaks off.
type cut struct {
	io.ReadCloser
	give context.CancelFunc
}

func (c *cut) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		c.give()
	}
	return n, err
}
