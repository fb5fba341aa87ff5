package story

// How a scenario is played: a world in which its sentences happen, and the player that jumps from one moment at which
// anything can change to the next.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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

	prepare func(*world) // prepares the world of the story: faults, other replicas
}

// world is GitHub as one play of a scenario has it.
type world struct {
	scenario        *Scenario
	g               *sandbox.GitHub
	now             func() time.Time // what GitHub's clock says
	begin           time.Time
	audience        Audience
	recorder        *recorder
	pullNumbers     []int // of the pull requests, in the order in which they were opened
	runIDs          map[string]int64
	commentIDs      map[string]int64 // newest, by author
	reviewIDs       map[string]int64
	dispatchCounts  map[string]int
	reactionAttempt int // the attempt of the reaction that is carried out; 0: none

	stepMu    sync.Mutex // one step is carried out at a time
	mu        sync.Mutex // guards queue, lastStep, askCounts, held and runIDs
	queue     []dueStep
	lastStep  time.Time // when the last step was carried out
	presses   []press   // of the check's button
	askCounts map[string]int
	stirred   chan struct{} // signals a new step in the queue, or a write
	held      map[int]bool  // pull requests to be looked at because what holds them back has changed

	above map[int]int    // layers of stacks, by the one below
	said  map[int]string // by the checks of those, as they were seen last

	signs loop.SignMemory // of reviewers' services, as one process keeps them that looks at all pull requests
}

// dueStep is a step with the moment at which it happens.
type dueStep struct {
	scenarioStep
	when    time.Time
	attempt int
}

func (s *Scenario) newWorld(now func() time.Time, a Audience) *world {
	return s.newWorldOn(s.GitHub(sandbox.Options{Now: now}), now, Begin, a)
}

// GitHub makes a GitHub on which the scenario can be played: with the person in it whose token it is about, if it is
// about one, and with more requests an hour than it needs.
func (s *Scenario) GitHub(o sandbox.Options) *sandbox.GitHub {
	o.TokenOwner = s.tokenOwner
	if s.appSlug != "" && !s.NeedsJobToken() {
		o.App = sandbox.App{Slug: s.appSlug}
	}
	// A player that starts every look as a new job has no use for ETags, and a story does not tell how many requests
	// that costs.
	o.HourlyLimit = 1_000_000
	return sandbox.New(o)
}

// TokenOwner is the login of the personal token that the scenario is told with; "" if it is told with an App's or a
// job's.
func (s *Scenario) TokenOwner() string { return s.tokenOwner }

// NeedsJobToken reports whether the scenario is told with a job's GITHUB_TOKEN and no other: a server has none.
func (s *Scenario) NeedsJobToken() bool { return s.appSlug == quorum.ActionsApp }

// newWorldOn prepares a play on g, whose clock is now, that begins at a moment.
func (s *Scenario) newWorldOn(g *sandbox.GitHub, now func() time.Time, begin time.Time, a Audience) *world {
	w := &world{
		g: g, now: now, begin: begin,
		scenario: s, audience: a, runIDs: map[string]int64{}, commentIDs: map[string]int64{},
		reviewIDs: map[string]int64{}, askCounts: map[string]int{}, dispatchCounts: map[string]int{}, stirred: make(chan struct{}, 1),
		held: map[int]bool{}, above: map[int]int{}, said: map[int]string{},
	}
	w.recorder = newRecorder(w, a.Wrote)
	if s.Policy != "" {
		w.g.SetFile(policyPath, "", s.Policy)
	}
	for _, st := range slices.Concat(s.setup, s.timeline) {
		w.queue = append(w.queue, dueStep{scenarioStep: st, when: begin.Add(st.at)})
	}
	w.g.OnRerun(w.queueRerunReactions)
	w.g.OnReviewerAsked(w.queueAskReactions)
	sandbox.OnDispatch(w.g, w.queueDispatchReactions)
	w.g.AfterRequest(func(req *http.Request, _ int) {
		if req.Method != http.MethodGet && !strings.HasSuffix(req.URL.Path, "/graphql") {
			w.recorder.recordWrites()
			w.notifyStirred()
		}
	})
	if a.prepare != nil {
		a.prepare(w)
	}
	return w
}

// press is a press of the check's button, as its event would tell of it.
type press struct {
	pull  int
	touch quorum.Touch
}

func (w *world) notePress(pull int, login string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.presses = append(w.presses, press{pull, quorum.Touch{
		Event: "check_run", Action: "requested_action", Author: login, Head: w.g.Head(pull),
		Press: -1 - int64(len(w.presses)), At: w.now().Unix(),
	}})
}

// A toldForge is told of the presses of the button before each look, as by events.
type toldForge struct {
	*github.Forge
	world *world
}

// Observe implements [loop.Forge].
func (f toldForge) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	f.world.mu.Lock()
	for _, p := range f.world.presses {
		if p.pull == pr.Number {
			f.Hear(pr, p.touch)
		}
	}
	f.world.mu.Unlock()
	return f.Forge.Observe(ctx, pr)
}

func (w *world) notifyStirred() {
	select {
	case w.stirred <- struct{}{}:
	default:
	}
}

// queueRerunReactions queues the steps that the scenario tells of the new attempt.
func (w *world) queueRerunReactions(id int64, attempt int) {
	for _, r := range w.scenario.reactions {
		isRerun := !r.onAsk && !r.onDispatch && (r.occurrence == 0 || r.occurrence == attempt)
		if run, found := w.runID(r.label); found && run == id && isRerun {
			w.queueSteps(r.steps, attempt)
		}
	}
}

// queueAskReactions queues the steps that the scenario tells of a reviewer that was asked.
func (w *world) queueAskReactions(kind, text string) {
	for _, reviewer := range w.scenario.reviewers {
		if kind == "comment" && strings.TrimSpace(reviewer.Request.Comment) != strings.TrimSpace(text) ||
			kind != "comment" && !strings.EqualFold(reviewer.Request.Login, text) {
			continue
		}
		w.mu.Lock()
		w.askCounts[reviewer.Name]++
		nth := w.askCounts[reviewer.Name]
		w.mu.Unlock()
		for _, r := range w.scenario.reactions {
			if r.label == reviewer.Name && r.onAsk && (r.occurrence == 0 || r.occurrence == nth) {
				w.queueSteps(r.steps, 0)
			}
		}
	}
}

func (w *world) queueSteps(steps []scenarioStep, attempt int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	for _, st := range steps {
		w.queue = append(w.queue, dueStep{scenarioStep: st, when: now.Add(st.at), attempt: attempt})
	}
	slices.SortStableFunc(w.queue, func(a, b dueStep) int { return a.when.Compare(b.when) })
}

// nextDue returns the moment of the next change, by the timeline or by GitHub itself; zero if there is none.
func (w *world) nextDue() time.Time {
	w.mu.Lock()
	at := time.Time{}
	if len(w.queue) > 0 {
		at = w.queue[0].when
	}
	w.mu.Unlock()
	return soonerOf(at, w.g.Due())
}

// quietSince returns when the last step was carried out, or at if that is later.
func (w *world) quietSince(at time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lastStep.After(at) {
		return w.lastStep
	}
	return at
}

// soonerOf is the earlier of two moments, of which either may be none.
func soonerOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// runDueSteps carries out the steps that are due.
func (w *world) runDueSteps() error {
	w.stepMu.Lock()
	defer w.stepMu.Unlock()
	for {
		w.mu.Lock()
		if len(w.queue) == 0 || w.queue[0].when.After(w.now()) {
			w.mu.Unlock()
			return nil
		}
		d := w.queue[0]
		w.queue, w.lastStep = w.queue[1:], w.now()
		w.mu.Unlock()
		w.reactionAttempt = d.attempt
		if err := d.do(w); err != nil {
			return fmt.Errorf("%s:%d: %w", w.scenario.File, d.line, err)
		}
		w.recorder.recordWrites() // what happened may have moved a merge gate
		if w.audience.Happened != nil {
			w.audience.Happened(w.now().Sub(w.begin), d.text)
		}
	}
}

// How the world resolves the names in sentences.

func (w *world) addPull(number int) {
	w.pullNumbers = append(w.pullNumbers, number)
	w.recorder.addGate(number)
}

func (w *world) pullNumber(n int) int {
	if n == 0 && len(w.pullNumbers) > 0 {
		return w.pullNumbers[0]
	}
	return n
}

func (w *world) headSHA(name string) string {
	if name == "" {
		return w.g.Head(w.pullNumber(0))
	}
	return sandbox.SHA(name)
}

// loginOf returns the account as which a reviewer writes, or the login itself.
func (w *world) loginOf(who string) string {
	if r, found := w.scenario.reviewers[who]; found && r.Author != "" {
		return r.Author
	}
	return who
}

func (w *world) startRun(label string, s sandbox.RunSpec) error {
	id, err := w.g.StartRun(s)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runIDs[label] = id
	return err
}

func (w *world) withRun(label string, do func(id int64) error) error {
	id, found := w.runID(label)
	if !found {
		return fmt.Errorf("no run of %q has started", label)
	}
	return do(id)
}

func (w *world) runID(label string) (int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, found := w.runIDs[label]
	return id, found
}

func (w *world) runLabel(id int64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for label, run := range w.runIDs {
		if run == id {
			return label
		}
	}
	return fmt.Sprint(id)
}

// commitName returns the scenario's name of a commit.
func (w *world) commitName(sha string) string {
	for _, name := range w.scenario.commitsByLength() {
		if sandbox.SHA(name) == sha {
			return name
		}
	}
	return sha[:7]
}

// extraCheckName returns a check's name; "" if it is the first policy's.
func (w *world) extraCheckName(name string) string {
	if name == w.scenario.checkName {
		return ""
	}
	return name
}

// expandCommits replaces {sha a1}, {short a1} and {merge a1} by commit ids.
func (w *world) expandCommits(text string) string {
	for _, name := range w.scenario.commitsByLength() {
		sha := sandbox.SHA(name)
		text = strings.NewReplacer(
			"{sha "+name+"}",
			sha,
			"{short "+name+"}",
			sha[:7],
			"{merge "+name+"}",
			sandbox.MergeSHA(name),
		).Replace(
			text,
		)
	}
	return text
}

// newReconciler returns a new reconciler, as a job that has just started has it.
func (w *world) newReconciler(transport http.RoundTripper, now func() time.Time) (*loop.Reconciler, error) {
	token := "ghs_storystorystorystorystorystorystory0"
	if w.scenario.tokenOwner != "" {
		token = "ghp_storystorystorystorystorystorystory0"
	}
	api, err := client.New(client.Options{Token: token, Actions: true, Transport: transport, Now: now})
	if err != nil {
		return nil, err
	}
	forge := github.NewForge(api, sandbox.AppSlug(w.g, cmp.Or(w.scenario.appSlug, quorum.ActionsApp)), "", nil)
	forge.SetClock(now)
	r := &loop.Reconciler{Forge: toldForge{forge, w}, Now: now, Seen: func(l loop.Look) {
		w.recorder.recordLook(l)
		w.noteLayer(l)
		if w.audience.Looked != nil {
			w.audience.Looked(l)
		}
	}}
	r.Note = loop.CircuitWatch{Table: &w.signs, Now: now, Changed: w.noteHeld}.Note
	r.Places.Web = "https://github.com"
	r.Places.Docs = "https://github.com/review-coordinator/coordinator/blob/main/docs"
	return r, nil
}

// noteHeld has a pull request looked at, as a server would: what holds it back has changed.
func (w *world) noteHeld(pr quorum.PR) {
	w.mu.Lock()
	w.held[pr.Number] = true
	w.mu.Unlock()
	w.notifyStirred()
}

// noteLayer has the layer above a pull request looked at, as a server would: its check waits for that of the one below.
func (w *world) noteLayer(l loop.Look) {
	pr, says := l.Snapshot.PR.PR, l.Check.Head+l.Check.Status+l.Check.Conclusion
	w.mu.Lock()
	above, isBelow := w.above[pr.Number]
	isNews := w.said[pr.Number] != says
	w.said[pr.Number] = says
	w.mu.Unlock()
	if isBelow && isNews {
		w.noteHeld(w.pullRef(above))
	}
}

// stack makes a pull request the layer above another one.
func (w *world) stack(number, upon int) error {
	w.mu.Lock()
	w.above[upon] = number
	w.mu.Unlock()
	return sandbox.Stack(w.g, number, upon)
}

// takeHeld reports whether a pull request is to be looked at because what holds it back has changed.
func (w *world) takeHeld(number int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	isHeld := w.held[number]
	delete(w.held, number)
	return isHeld
}

func (w *world) pullRef(number int) quorum.PR {
	owner, name := w.g.Repository()
	return quorum.PR{Owner: owner, Repo: name, Number: number}
}

// faultPatience is how long faults are borne in a row, as the waiting loop bears them.
const faultPatience = 15 * time.Minute

// maxLooks is the number of looks after which a story is taken to be endless.
const maxLooks = 3000

// pullProgress is the stepped player's state of one pull request.
type pullProgress struct {
	nextLook    time.Time
	retryPause  time.Duration
	faultySince time.Time
}

// PlayStepped plays the scenario in no time: from each moment at which something happens, or at which a decision can
// change by the clock, to the next. What happens in the same second happens before the look. Each look is a new job's,
// that knows nothing but what stands on GitHub.
func (s *Scenario) PlayStepped(ctx context.Context, a Audience) (Story, error) {
	var mu sync.Mutex
	clock := Begin
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return clock
	}
	w := s.newWorld(now, a)
	turns := map[string]*pullProgress{}
	happens := Begin
	for looks := 0; ; {
		if err := w.runDueSteps(); err != nil {
			return w.recorder.finishStory(), err
		}
		targets := w.lookTargets()
		keepTargets(turns, targets)
		for _, target := range targets {
			t := turns[target.key]
			if t == nil {
				t = &pullProgress{}
				turns[target.key] = t
			}
			stirred := !happens.IsZero() && !now().Before(happens)
			if !stirred && (t.nextLook.IsZero() || now().Before(t.nextLook)) {
				continue
			}
			if looks++; looks > maxLooks {
				return w.recorder.finishStory(), fmt.Errorf(
					"%s: the story does not end: %d looks until %s",
					s.File,
					looks,
					formatDuration(now().Sub(Begin)),
				)
			}
			if err := w.lookAt(ctx, target, t, now); err != nil {
				return w.recorder.finishStory(), err
			}
		}
		happens = w.nextDue()
		next := happens
		for _, n := range w.pullNumbers {
			if t := turns[w.pullRef(n).String()]; w.takeHeld(n) && t != nil {
				t.nextLook = now()
			}
		}
		for _, t := range turns {
			next = soonerOf(next, t.nextLook)
		}
		if next.IsZero() {
			return w.recorder.finishStory(), nil
		}
		if next.Before(now()) {
			next = now()
		}
		mu.Lock()
		clock = next
		mu.Unlock()
	}
}

// keepTargets forgets what is looked at no more.
func keepTargets[T any](kept map[string]T, targets []lookTarget) {
	maps.DeleteFunc(kept, func(key string, _ T) bool {
		return !slices.ContainsFunc(targets, func(t lookTarget) bool { return t.key == key })
	})
}

// lookAt looks once at one pull request or group, as a new job. A fault ends the look, and another job looks again a
// little later: nothing waits in a player that has no time.
func (w *world) lookAt(ctx context.Context, target lookTarget, t *pullProgress, now func() time.Time) error {
	looking, stop := context.WithCancel(ctx)
	defer stop()
	r, err := w.newReconciler(&impatientTransport{g: w.g, giveUp: stop}, now)
	if err != nil {
		return err
	}
	wake, err := target.reconcile(looking, r)
	var temporary interface{ Temporary() bool }
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		*t = pullProgress{nextLook: wake}
		if !wake.IsZero() && !wake.After(now()) {
			t.nextLook = now().Add(time.Second)
		}
		return nil
	case looking.Err() != nil, errors.As(err, &temporary) && temporary.Temporary():
	default:
		w.recorder.recordFailure(err)
		*t = pullProgress{}
		return nil
	}
	if t.faultySince.IsZero() {
		t.faultySince, t.retryPause = now(), time.Second
	}
	if now().Sub(t.faultySince) > faultPatience {
		w.recorder.recordFailure(err)
		*t = pullProgress{}
		return nil
	}
	t.nextLook = now().Add(t.retryPause)
	t.retryPause = min(2*t.retryPause, 30*time.Second)
	if wake.After(t.nextLook) { // the end of a limit
		t.nextLook, t.faultySince = wake, time.Time{}
	}
	return nil
}

// impatientTransport ends a look at the first fault, where a client would wait and try again.
type impatientTransport struct {
	g      *sandbox.GitHub
	giveUp context.CancelFunc
}

func (i *impatientTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := i.g.RoundTrip(req)
	switch {
	case err != nil:
		i.giveUp()
		return nil, err
	case res.StatusCode >= 500, res.StatusCode == http.StatusOK && res.Header.Get("Content-Type") == "text/html",
		res.StatusCode == http.StatusNotFound && strings.Contains(req.URL.Path, "/pulls/"):
		i.giveUp()
	}
	res.Body = &watchedBody{ReadCloser: res.Body, giveUp: i.giveUp}
	return res, nil
}

// watchedBody notices an answer that breaks off.
type watchedBody struct {
	io.ReadCloser
	giveUp context.CancelFunc
}

func (c *watchedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		c.giveUp()
	}
	return n, err
}
