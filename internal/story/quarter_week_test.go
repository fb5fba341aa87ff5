package story_test

// A week of the quarter: one repository, its pull requests, the clock, and the coordinator that looks when something
// happened or when it said that it would.

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

type dice = rand.Rand

const (
	guardedFile = ".github/workflows/openai.yml"
	policyFile  = ".github/review-coordinator.yml"
	teamApp     = "quorum"
)

var (
	maintainers = []string{"bob", "dave"} // may write; bob maintains
	teamBegin   = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)
)

// A teamEvent is something that happens at a moment.
type teamEvent struct {
	at  time.Time
	seq int
	do  func()
}

type teamQueue []teamEvent

func (q teamQueue) Len() int { return len(q) }
func (q teamQueue) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].seq < q[j].seq
}
func (q teamQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *teamQueue) Push(x any)   { *q = append(*q, x.(teamEvent)) }
func (q *teamQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// A teamWeek is a week of the team.
type teamWeek struct {
	seed    uint64
	number  int
	rules   teamRules
	g       *sandbox.GitHub
	clock   time.Time
	queue   teamQueue
	seq     int
	pulls   []*teamPull
	byRun   map[int64]*attempt
	daemon  *loop.Reconciler // nil: each look is a new job's
	mutate  teamMutation
	answers deck
	moves   deck
	counts  map[string]int
	broken  []string       // what must not happen and did
	outages [][2]time.Time // of openai
	also    weekAlso
	inHand  bool // a person, not we, runs something again
	asked   string
	looks   int
	until   string // nothing more is played once something with these words is broken
}

// teamMutation is a mistake that is put into the product from outside: into what it reads, writes or does.
type teamMutation struct {
	pulls    int // of the quarter in which it is found soon; 0: 156
	snapshot func(*quorum.Policy, *quorum.Snapshot)
	check    func(*report.Check)
	effects  func(*quorum.Effects)
	wake     func(time.Time) time.Time
	group    func(*quorum.MergeGroup)
	sign     func(*quorum.Sign)
}

// A mistakenForge makes that mistake.
type mistakenForge struct {
	loop.Forge
	mutate *teamMutation
}

func (f mistakenForge) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	p, s, err := f.Forge.Observe(ctx, pr)
	if err == nil && f.mutate.snapshot != nil {
		f.mutate.snapshot(&p, &s)
	}
	return p, s, err
}

func (f mistakenForge) ObserveSibling(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	p, s, err := f.Forge.ObserveSibling(ctx, pr)
	if err == nil && f.mutate.snapshot != nil {
		f.mutate.snapshot(&p, &s)
	}
	return p, s, err
}

func (f mistakenForge) Publish(ctx context.Context, pr quorum.PR, c report.Check) error {
	if f.mutate.check != nil {
		f.mutate.check(&c)
	}
	return f.Forge.Publish(ctx, pr, c)
}

func (f mistakenForge) Apply(ctx context.Context, pr quorum.PR, e quorum.Effects) (quorum.Receipt, error) {
	if f.mutate.effects != nil {
		f.mutate.effects(&e)
	}
	return f.Forge.Apply(ctx, pr, e)
}

func newTeamWeek(seed uint64, number, pulls int, answers, moves deck) *teamWeek {
	<-time.After(time.Until(teamBegin.AddDate(0, 0, 7*number)))
	w := &teamWeek{
		seed: seed, number: number, rules: teamPolicies[number%len(teamPolicies)], clock: time.Now(),
		byRun: map[int64]*attempt{}, answers: answers, moves: moves, counts: map[string]int{},
	}
	w.prepareAlso()
	o := sandbox.Options{HourlyLimit: 10_000_000}
	if !w.rules.asJob {
		o.App = sandbox.App{Slug: teamApp}
	}
	w.g = sandbox.New(o)
	w.g.Protect(defaultBase)
	w.g.SetFile(policyFile, "", w.rules.yaml("the first"))
	for i := range voices {
		if v := &voices[i]; v.hasRuns() {
			w.g.SetFile(v.workflow(), "", "name: "+v.name+"\n")
			w.g.SetFile(v.workflow(), "evil", "name: "+v.name+" # says yes to all\n")
		}
	}
	for login, permission := range map[string]string{
		"alice": "write", "bob": "maintain", "dave": "write", "erin": "write", "mallory": "read", "trudy": "triage",
	} {
		w.g.SetPermission(login, permission)
	}
	w.g.OnRerun(w.hearRerun)
	w.prepareFixes()
	w.g.OnReviewerAsked(func(kind, body string) {
		if kind == "comment" {
			w.asked = body
		}
	})
	w.g.AfterRequest(w.hearRequest)
	begin := w.clock.Add(time.Duration(rand.New(rand.NewPCG(seed, uint64(number))).IntN(3600)) * time.Second)
	w.outages = [][2]time.Time{{begin.Add(4 * time.Hour), begin.Add(5 * time.Hour)}}
	if w.rules.breaker {
		w.outages = breakerOutages(begin, pulls)
	}
	return w
}

// hearRequest learns of which pull request a review was asked for.
func (w *teamWeek) hearRequest(req *http.Request, _ int) {
	if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "/comments") || w.asked == "" {
		return
	}
	body := w.asked
	w.asked = ""
	parts := strings.Split(req.URL.Path, "/")
	number, _ := strconv.Atoi(parts[len(parts)-2])
	p := w.pull(number)
	if p == nil || !strings.HasPrefix(body, "@sage review") {
		return
	}
	key := p.head + " " + p.base
	most := 1
	if p.baseSince.After(p.opened) || p.moved { // then it is asked for its first answer, too, and once more if that may be of before
		most = 3
	}
	if p.asks[key]++; p.asks[key] > most {
		w.fail(p, "sage is asked %d times about one head and base", p.asks[key])
	}
	p.note("sage is asked")
	w.after(time.Duration(20+p.dice.IntN(100))*time.Second, func() { w.letAppAnswer(p, p.head) })
}

func (w *teamWeek) pull(number int) *teamPull {
	for _, p := range w.pulls {
		if p.number == number {
			return p
		}
	}
	return nil
}

func (w *teamWeek) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.queue, teamEvent{w.clock.Add(d), w.seq, do})
}

// fail notes that something happened that must not.
func (w *teamWeek) fail(p *teamPull, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	p.note("!! %s", what)
	w.broken = append(w.broken, fmt.Sprintf("week %d (%s), #%d by %s, %s after it was opened: %s\n\t%s",
		w.number, w.rules.name, p.number, p.author, w.clock.Sub(p.opened), what, strings.Join(p.history, "\n\t")))
}

// happened counts something by its name, and has the pull requests that it concerns looked at a little later; of some
// events GitHub tells nobody, and the next resync finds them.
func (w *teamWeek) happened(p *teamPull, what string) {
	p.note("%s", what)
	delay := time.Duration(p.dice.IntN(15)) * time.Second
	if p.dice.IntN(20) == 0 {
		w.counts["an event is lost"]++
		delay = time.Duration(60+p.dice.IntN(240)) * time.Second
	}
	for _, o := range w.pulls {
		if o == p || o.head == p.head && !o.closed {
			o.lookBy(w.clock.Add(delay))
		}
	}
	w.lookAtGroupsOf(p, delay)
}

func (p *teamPull) lookBy(at time.Time) {
	if p.lookAt.IsZero() || at.Before(p.lookAt) {
		p.lookAt = at
	}
}

// play lets the week happen.
func (w *teamWeek) play() {
	isFound := func(what string) bool { return w.until != "" && strings.Contains(what, w.until) }
	for !slices.ContainsFunc(w.broken, isFound) {
		for len(w.queue) > 0 && !w.queue[0].at.After(w.clock) {
			heap.Pop(&w.queue).(teamEvent).do()
		}
		due := w.g.Due()
		for _, p := range w.pulls {
			if !p.lookAt.IsZero() && !p.lookAt.After(w.clock) {
				w.look(p)
			}
		}
		w.lookAtGroups()
		for _, p := range w.pulls {
			p.checkDeadline()
		}
		next := due
		if len(w.queue) > 0 {
			next = soonest(next, w.queue[0].at)
		}
		for _, p := range w.pulls {
			next = soonest(next, p.lookAt)
		}
		for _, g := range w.also.groups {
			next = soonest(next, g.lookAt)
		}
		if next.IsZero() {
			break
		}
		<-time.After(next.Sub(w.clock))
		w.clock = time.Now()
		if next.Equal(due) { // GitHub did something by itself
			for _, p := range w.pulls {
				if slices.ContainsFunc(p.attempts, func(a *attempt) bool {
					return a.ended.IsZero() && a.head == p.head && w.clock.Sub(a.begun) < teamDeadline
				}) {
					p.lookBy(w.clock.Add(time.Second))
				}
			}
			w.noteCancels()
		}
	}
	if !slices.ContainsFunc(w.broken, isFound) {
		for _, p := range w.pulls {
			p.checkEnd()
		}
		w.checkGroupsAtEnd()
	}
}

func soonest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// noteCancels notes which attempts GitHub has cancelled.
func (w *teamWeek) noteCancels() {
	for _, p := range w.pulls {
		for _, a := range p.attempts {
			if state, err := w.g.StateOfRun(a.run); a.ended.IsZero() && err == nil && state.Attempt == a.number && state.Status == "completed" {
				w.noteCancel(a)
			}
		}
	}
}

// noteCancel notes that an attempt has ended because we had it cancelled, which must not be too soon.
func (w *teamWeek) noteCancel(a *attempt) {
	if !a.ended.IsZero() {
		return
	}
	a.ended, a.conclusion = w.clock, "cancelled"
	a.pull.note("we have cancelled %s", voices[a.voice].name)
	w.counts["→ cancels"]++
	if a.head == a.pull.head && w.clock.Before(a.begun.Add(teamTimeout)) { // what runs on a head that was left is ended at once
		w.fail(a.pull, "%s is cancelled %s after it began", voices[a.voice].name, w.clock.Sub(a.begun))
	}
}

// reconciler is the daemon's, or a new job's.
func (w *teamWeek) reconciler() (*loop.Reconciler, error) {
	if w.daemon != nil {
		return w.daemon, nil
	}
	slug := teamApp
	if w.rules.asJob {
		slug = quorum.ActionsApp
	}
	api, err := client.New(client.Options{
		Token: "ghs_quarterquarterquarterquarterquarter0", Actions: true, Transport: w.g, Now: time.Now,
		Jitter: func(most time.Duration) time.Duration { return most / 2 },
	})
	if err != nil {
		return nil, err
	}
	forge := github.NewForge(api, sandbox.AppSlug(w.g, slug), "", nil)
	forge.SetClock(time.Now)
	r := &loop.Reconciler{Forge: mistakenForge{forge, &w.mutate}, Now: time.Now}
	if !w.rules.asJob {
		watch := w.circuitWatch()
		r.Note = func(ctx context.Context, p quorum.Policy, pr quorum.PR, found []quorum.Sign) []quorum.Sign {
			found = slices.Clone(found)
			for i := range found {
				if w.mutate.sign != nil {
					w.mutate.sign(&found[i])
				}
			}
			return watch.Note(ctx, p, pr, found)
		}
		w.daemon = r
	}
	return r, nil
}

// maxLooksAtPull is how many looks one pull request may take; more is an endless loop.
const maxLooksAtPull = 600

// look looks at a pull request, sometimes with a fault, sometimes while another replica looks too.
func (w *teamWeek) look(p *teamPull) {
	p.lookAt = time.Time{}
	if p.looks++; p.looks > maxLooksAtPull {
		if p.looks == maxLooksAtPull+1 {
			w.fail(p, "it is looked at without end")
		}
		return
	}
	w.looks++
	r, err := w.reconciler()
	if err != nil {
		w.fail(p, "%v", err)
		return
	}
	w.addFault(p.dice)
	wake, err := r.Reconcile(context.Background(), w.ref(p))
	w.clock = time.Now()
	w.g.ClearFaults()
	w.g.ForgetRequests()
	var temporary interface{ Temporary() bool }
	switch {
	case err == nil:
		p.lookedAt = w.clock
		w.noteOutagesSeen(p)
		if w.mutate.wake != nil {
			wake = w.mutate.wake(wake)
		}
		p.patient = time.Time{}
		if !wake.IsZero() {
			p.lookBy(later(wake, w.clock.Add(time.Second)))
		}
		w.checkLook(p)
	case errors.As(err, &temporary) && temporary.Temporary():
		if p.patient.IsZero() {
			p.patient = w.clock
		}
		if w.clock.Sub(p.patient) > 15*time.Minute {
			w.fail(p, "it cannot be looked at: %v", err)
			return
		}
		p.lookBy(later(wake, w.clock.Add(2*time.Second)))
	default:
		w.fail(p, "a look fails: %v", err)
	}
}

// mayFail are requests of a look, of which one goes wrong, sometimes: never the nth, for a look sends many at once, and a
// seed is to give the same quarter each time. No log's: that is advice, and the oracle takes it for read.
var mayFail = []string{
	"GET /repos/*/*/pulls/*", "GET /repos/*/*/pulls/*/reviews", "GET /repos/*/*/issues/*/comments", "GET /repos/*/*/pulls/*/files",
	"GET /repos/*/*/actions/runs", "GET /repos/*/*/commits/*/check-runs", "GET /repos/*/*/commits/*/statuses", "GET /repos/*/*/contents/**",
	"POST /graphql", "POST /repos/*/*/check-runs", "PATCH /repos/*/*/check-runs/*", "POST /repos/*/*/actions/runs/*/rerun-failed-jobs",
	"POST /repos/*/*/issues/*/comments", "GET /repos/*/*/actions/runs/*/artifacts",
}

// addFault has a request of the next look go wrong, sometimes.
func (w *teamWeek) addFault(d *dice) {
	f := sandbox.Fault{Match: mayFail[d.IntN(len(mayFail))], Times: 1}
	switch d.IntN(40) {
	case 0:
		w.counts["a look may lose a request"]++
		f.Kind = sandbox.FaultUnsent
	case 1:
		w.counts["a look may lose an answer"]++
		f.Kind = sandbox.FaultLost
	case 2:
		w.counts["a look may be answered 502"]++
		f.Status, f.CarriedOut = 502, d.IntN(2) == 0
	default:
		return
	}
	w.g.AddFault(f)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (w *teamWeek) ref(p *teamPull) quorum.PR {
	owner, name := w.g.Repository()
	return quorum.PR{Owner: owner, Repo: name, Number: p.number}
}

// checkSeen is the check of a head after the last look.
type checkSeen struct {
	head, state string
	since       time.Time
}

// stateOf returns the state of a check of ours: its conclusion, or its status; "" if there is none.
func (w *teamWeek) stateOf(head, name string) string {
	state := ""
	for _, c := range w.g.OwnCheckRuns(head) {
		if c.Name == name {
			if state = c.Conclusion; state == "" {
				state = c.Status
			}
		}
	}
	return state
}

// nameOf is the name of the check of a pull request: the plain one stands for main.
func nameOf(base string) string {
	if base == defaultBase {
		return checkName
	}
	return checkName + " (→ " + base + ")"
}

// speaker is the pull request that speaks for a head and base: the oldest that is no draft, those of this repository first.
func (w *teamWeek) speaker(head, base string) (first *teamPull) {
	for _, p := range w.pulls {
		if p.closed || p.head != head || p.base != base || p.draft && first != nil {
			continue
		}
		switch {
		case first == nil, first.draft && !p.draft:
			first = p
		case (first.fork == "") == (p.fork == ""):
			if p.number < first.number && !p.draft {
				first = p
			}
		case first.fork != "":
			first = p
		}
	}
	return first
}

// checkLook compares, after a look, what the check says with what is true.
func (w *teamWeek) checkLook(p *teamPull) {
	if p.closed { // of a closed pull request no words are read
		return
	}
	for _, o := range p.objections {
		isOfBase := o.base == p.base && o.said.at.Truncate(time.Second) != p.baseSince.Truncate(time.Second) // else it may be the one before
		o.seen = o.seen || isOfBase && !o.said.gone && o.said.head == p.head
	}
	state := w.stateOf(p.head, nameOf(p.base))
	if state != p.checked.state || p.head != p.checked.head {
		p.note("→ %s %s", p.head[:7], state)
		p.checked = checkSeen{p.head, state, w.clock}
	}
	if state == "" {
		w.fail(p, "a look leaves no check %q", nameOf(p.base))
	}
	if p.base != defaultBase && w.stateOf(p.head, checkName) == "success" && w.speaker(p.head, defaultBase) == nil {
		w.fail(p, "it is against %s, and the check for %s is green", p.base, defaultBase)
	}
	if state != "success" {
		return
	}
	w.counts["→ passes"]++
	s := w.speaker(p.head, p.base)
	if why := s.whyNotPass(w.clock); why != "" {
		for _, c := range w.g.OwnCheckRuns(s.head) {
			p.note("check %q: %s %q", c.Name, c.Conclusion, c.Title)
		}
		w.fail(s, "false pass: %s", why)
	}
	w.mergeSoon(s)
}

// mergeSoon lets the team merge what is green, if it still is when somebody comes to it.
func (w *teamWeek) mergeSoon(p *teamPull) {
	if w.rules.queue {
		w.queueSoon(p)
		return
	}
	if p.base != defaultBase || p.dice.IntN(12) != 0 {
		return
	}
	w.after(time.Duration(1+p.dice.IntN(600))*time.Second, func() {
		isNew := func(a *attempt) bool { return !a.begun.Before(p.lookedAt) } // the check cannot know of it yet
		isStale := !p.lookAt.IsZero() || slices.ContainsFunc(p.attempts, isNew)
		if p.closed || p.base != defaultBase || isStale || !sandbox.MergeGateOpens(w.g, p.number, checkName) {
			return
		}
		if why := w.speaker(p.head, p.base).whyNotPass(w.clock); why != "" {
			w.fail(p, "it is merged: %s", why)
		}
		if err := w.g.Merge(p.number, "bob"); err == nil {
			p.closed, p.merged = true, true
			w.counts["→ merged"]++
			w.happened(p, "bob merges")
		}
	})
}

// checkDeadline says so if a check is open although its deadline is over.
func (p *teamPull) checkDeadline() {
	if p.closed || p.draft || p.checked.state != "in_progress" || p.checked.head != p.head {
		return
	}
	if end := p.clock.Add(teamDeadline + 6*time.Minute); p.team.clock.After(end) && !p.isStuckKnown() {
		p.team.fail(p, "its check is open %s after its deadline", p.team.clock.Sub(p.clock.Add(teamDeadline)))
	}
}

// isStuckKnown keeps one stuck check from being told again and again.
func (p *teamPull) isStuckKnown() bool {
	known := p.checked.since.IsZero()
	p.checked.since = time.Time{}
	return known
}

// checkEnd checks that everything has ended once nothing happens any more.
func (p *teamPull) checkEnd() {
	w := p.team
	for _, head := range p.heads {
		if p.returned && head != p.head {
			continue // GitHub does not tell which head a way back has left: best effort
		}
		isHead := func(o *teamPull) bool { return !o.closed && o.head == head }
		for _, c := range w.g.OwnCheckRuns(head) {
			if c.Status != "completed" && !slices.ContainsFunc(w.pulls, func(o *teamPull) bool { return isHead(o) && o.draft }) {
				w.fail(p, "in the end the check %q of %s is %s", c.Name, head[:7], c.Status)
			}
			wasHead := func(o *teamPull) bool { return o.head == head } // a closed one's green against main stays
			if c.Conclusion == "success" && !slices.ContainsFunc(w.pulls, wasHead) {
				w.fail(p, "in the end the check of %s, an older head, is green", head[:7])
			}
		}
	}
	if p.closed || p.draft {
		return
	}
	state := w.stateOf(p.head, nameOf(p.base))
	w.counts["→ ends as "+state]++
	if w.speaker(p.head, p.base) != p || p.whyNotPass(w.clock) != "" || state == "success" {
		return
	}
	for _, c := range w.g.OwnCheckRuns(p.head) { // many have earned it by what the oracle leaves open
		if c.Name == nameOf(p.base) {
			sentence, _, _ := strings.Cut(inTitles.ReplaceAllString(c.Title, "…"), ";")
			w.counts["→ ends red although nothing speaks against a pass: "+sentence]++
		}
	}
	if !p.murky {
		w.fail(p, "in the end its check is %s, and nothing speaks against a pass", state)
	}
}

// inTitles are names and numbers in the titles of checks.
var inTitles = regexp.MustCompile(`(openai|gemini|deep|scan|sage|sonar|dave|bob|[0-9]+)((, | and )(openai|gemini|deep|scan|sage|sonar|dave|bob))*`)
