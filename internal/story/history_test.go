package story_test

// Every short history of a pull request, through Judge, Decide, the record and our own actions. Stories tell what their
// writers thought of; here everything happens that the moves of the model allow, in every order.

import (
	"flag"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

var (
	historyDepth  = flag.Int("history-depth", 2, "how many moves long the histories are that are walked through, all of them")
	historySample = flag.Int("history-sample", 500, "how many longer histories are drawn beside them, for each policy")
	historySeed   = flag.Uint64("history-seed", 1, "of the longer histories")
)

// A property names what must hold after every look.
type property string

const (
	noStands       property = "a no stands until it is answered"
	passIsEarned   property = "a pass is earned"
	announcedIsDue property = "what is announced happens"
	nothingTwice   property = "nothing is spent twice"
	leavesAlone    property = "what is under way is left alone"
	alwaysEnds     property = "it always ends"
	staysDecided   property = "what is decided stays"
	survivesCrash  property = "a crash changes nothing"
	quietTillWake  property = "nothing changes before the wake"
	noIdleWait     property = "a wait that nothing can end is over"
)

// failingProperties do not hold yet, by policy. The list only shrinks: what is on it and holds is an error.
var failingProperties = map[string][]property{}

// modelPolicies are the policies whose histories are walked through.
var modelPolicies = [][]reviewerKind{
	{byWorkflowText},
	{byConclusion},
	{byApp},
	{byWorkflowText, byWorkflowText},
	{byApp, byWorkflowText},
	{byConclusion, byWorkflowText},
	{byCheck, byStatus},
}

// sampledPolicies are those of which only a sample of histories is walked through: two approvals are needed, and there
// may be three reviewers.
var sampledPolicies = [][]reviewerKind{
	{byWorkflowText, byWorkflowText},
	{byApp, byWorkflowText},
	{byWorkflowText, byWorkflowText, byApp},
	{byConclusion, byWorkflowText, byStatus},
}

// A walker walks through the histories of one policy.
type walker struct {
	product product
	policy  quorum.Policy
	moves   []move
	seen    sync.Map // hashes of states that were settled
	walked  sync.Map // how many moves further histories were walked from states, by hash
	looks   atomic.Int64
	states  atomic.Int64

	mu     sync.Mutex
	broken map[property]string // the shortest history that breaks it
}

func newWalker(p product, need int, kinds []reviewerKind) *walker {
	w := &walker{product: p, policy: modelPolicy(need, kinds), broken: map[property]string{}}
	w.moves = moves(&w.policy, kinds)
	return w
}

// fails notes a history that breaks a property.
func (w *walker) fails(p property, history []string, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	told := fmt.Sprintf("%s\n\t\t→ %s", strings.Join(history, "\n\t\t"), fmt.Sprintf(format, args...))
	if was, found := w.broken[p]; !found || len(told) < len(was) {
		w.broken[p] = told
	}
}

// crashPoint says where a look is cut off.
type crashPoint int

const (
	noCrash     crashPoint = iota
	beforeWrite            // nothing was written
	afterWrite             // the check is written, its effects are not carried out
	afterEffect            // the first of several effects is carried out
)

// look makes a look, and another one as long as GitHub tells of what we did.
func (w *walker) look(st *modelState, history []string, crash crashPoint) {
	for range 5 {
		if acted := w.lookOnce(st, history, crash); !acted || crash != noCrash {
			return
		}
	}
	w.fails(alwaysEnds, history, "each look does something: %v", st.shown.Effects)
}

// lookOnce judges, decides, writes the check with its record, and carries out the effects. It reports whether there
// were any.
func (w *walker) lookOnce(st *modelState, history []string, crash crashPoint) (acted bool) {
	w.looks.Add(1)
	s := st.s
	s.Began = st.now
	d := w.decide(st, s)
	if crash == beforeWrite {
		return false
	}
	effects := d.Effects
	st.s.Record = w.product.remember(w.policy, s, d, st.now)
	if !effects.Empty() {
		s.Record = st.s.Record
		d = w.decide(st, s)
	}
	st.shown, st.looked = d, true
	for i := range st.objections {
		st.objections[i].seen = true
	}
	w.checkDecision(st, history)
	if crash == afterWrite {
		return false
	}
	for i, a := range slices.Concat(effects.Reruns, effects.Cancels) {
		switch {
		case crash == afterEffect && i > 0:
			return false
		case a.Kind == quorum.Rerun:
			w.rerun(st, a, history)
		default:
			w.cancel(st, a, history)
		}
	}
	return !effects.Empty()
}

func (w *walker) decide(st *modelState, s quorum.Snapshot) quorum.Decision {
	return w.product.decide(w.policy, w.product.judge(w.policy, s), w.product.facts(w.policy, s), st.now)
}

// rerun carries out a rerun as GitHub does.
func (w *walker) rerun(st *modelState, a quorum.Action, history []string) {
	i := slices.IndexFunc(st.s.Runs, func(run quorum.Run) bool { return run.ID == a.Run })
	if i < 0 {
		return // it was deleted
	}
	run := &st.s.Runs[i]
	if run.Attempt != a.Attempt {
		return // the adapter reads it again and finds it void
	}
	if !run.Completed() {
		w.fails(leavesAlone, history, "%s is run again while attempt %d goes on", a.Reviewer, a.Attempt)
		return
	}
	spent := 0
	for _, before := range st.reruns {
		if before.Reviewer == a.Reviewer && slices.ContainsFunc(st.s.Runs, func(run quorum.Run) bool { return run.ID == before.Run }) {
			spent++
		}
	}
	if spent > 0 {
		w.fails(nothingTwice, history, "%s is run again a second time", a.Reviewer)
	}
	place := slices.IndexFunc(w.policy.Reviewers, func(r quorum.Reviewer) bool { return r.Name == a.Reviewer })
	if said := st.said[place]; said.counts && said.yes && !said.no {
		w.fails(nothingTwice, history, "%s is run again although it returned a verdict", a.Reviewer)
	}
	st.reruns = append(st.reruns, a)
	run.Attempt++
	st.beginAttempt(run, "in_progress")
	st.said[place] = reviewerTruth{since: st.now}
}

// cancel carries out a cancel.
func (w *walker) cancel(st *modelState, a quorum.Action, history []string) {
	i := slices.IndexFunc(st.s.Runs, func(run quorum.Run) bool { return run.ID == a.Run && run.Attempt == a.Attempt && !run.Completed() })
	if i < 0 {
		return
	}
	run := &st.s.Runs[i]
	if st.now.Before(run.Started.Add(modelTimeout)) {
		w.fails(leavesAlone, history, "%s is cancelled %v after it began", a.Reviewer, st.now.Sub(run.Started))
	}
	st.endRun(run, "cancelled")
	st.cancels = append(st.cancels, run.ID)
	st.said[slices.IndexFunc(w.policy.Reviewers, func(r quorum.Reviewer) bool { return r.Name == a.Reviewer })].counts = true
}

// checkDecision compares what the check says with what is true.
func (w *walker) checkDecision(st *modelState, history []string) {
	d := &st.shown
	for _, place := range st.standing() {
		b := d.Ballots[place]
		if d.Verdict == quorum.Passed || b.Vote != quorum.Object {
			w.fails(noStands, history, "%s objected, and its vote is %d (%s): the verdict is %d", b.Reviewer, b.Vote, b.Reason, d.Verdict)
		}
	}
	if d.Verdict != quorum.Passed {
		return
	}
	person := len(d.StandIns) > 0 && slices.ContainsFunc(st.s.Reviews, func(t quorum.Text) bool {
		return t.Author.Login == helper.Login && t.State == "APPROVED" && t.Commit == st.s.PR.Head
	})
	if st.approvers() < w.policy.Need && !person {
		w.fails(passIsEarned, history, "it passed with %d of %d approvals", st.approvers(), w.policy.Need)
	}
}

// settleLooks is how many looks a state may take until it is decided for good.
const settleLooks = 40

// settle lets nothing happen any more but the clock, and what we do ourselves; what we run again never answers. It
// checks that each look comes when it was announced and not before, that what is announced is done, and that it ends.
// It returns the last decision, and how many reruns were made.
func (w *walker) settle(from *modelState, history []string) (last quorum.Decision, reruns int) {
	st := from.clone()
	w.look(st, history, noCrash)
	announced := map[int64]quorum.Action{} // reruns that a check named, by run
	for range settleLooks {
		idle := st.nothingUnderWay()
		done := len(st.reruns)
		note := func() {
			for _, b := range st.shown.Ballots {
				for _, a := range b.Next {
					if a.Kind == quorum.Rerun && b.Retrying && st.shown.Verdict == quorum.Waiting {
						announced[a.Run] = a
					}
				}
			}
		}
		note()
		wake := st.shown.Wake
		if wake.IsZero() {
			break
		}
		if quiet := wake.Add(-time.Second); quiet.After(st.now) {
			s := st.s
			s.Began = quiet
			at := *st
			at.now = quiet
			if d := w.decide(&at, s); d.Verdict != st.shown.Verdict || !d.Effects.Empty() || !d.Wake.Equal(wake) {
				w.fails(quietTillWake, history, "at %v, a second before its wake %v, the verdict is %d, not %d; its wake %v, effects %v", quiet.Sub(opened), wake.Sub(opened), d.Verdict, st.shown.Verdict, d.Wake.Sub(opened), d.Effects)
			}
		}
		if idle && st.shown.Verdict == quorum.Waiting && st.shown.GraceEnd.IsZero() && !st.waitsForWord() {
			defer func(before int, since quorum.Decision) {
				if len(st.reruns) == before && last.Verdict != quorum.Passed && !slices.ContainsFunc(since.Ballots, mayComeLater) {
					w.fails(noIdleWait, history, "it waited for %s until %s, and nothing was run again", pendingOf(&since), wake.Sub(opened))
				}
			}(done, st.shown)
		}
		st.now = wake
		if !wake.After(from.now) {
			st.now = st.now.Add(time.Second)
		}
		w.look(st, history, noCrash)
	}
	last = st.shown
	if !last.Wake.IsZero() {
		w.fails(alwaysEnds, history, "after %d looks the verdict is %d and its wake %s", settleLooks, last.Verdict, last.Wake.Sub(opened))
	}
	for _, a := range announced {
		happened := slices.ContainsFunc(st.reruns, func(r quorum.Action) bool { return r.Run == a.Run })
		if !happened && last.Verdict != quorum.Passed && last.Verdict != quorum.Blocked {
			w.fails(announcedIsDue, history, "%s was to be run again, and was not: the verdict is %d", a.Reviewer, last.Verdict)
		}
	}
	seq := st.s.Record.Seq
	w.look(st, history, noCrash)
	if st.shown.Verdict != last.Verdict || st.s.Record.Seq != seq {
		w.fails(staysDecided, history, "the verdict was %d and is %d", last.Verdict, st.shown.Verdict)
	}
	return last, len(st.reruns)
}

// nothingUnderWay reports whether no run has still to end.
func (st *modelState) nothingUnderWay() bool {
	return !slices.ContainsFunc(st.s.Runs, func(run quorum.Run) bool { return !run.Completed() })
}

// waitsForWord reports whether a reviewer may still say its first word.
func (st *modelState) waitsForWord() bool {
	return slices.ContainsFunc(st.shown.Ballots, func(b quorum.Ballot) bool {
		return b.Vote == quorum.Pending && (b.Outcome == quorum.Silent || b.Outcome == quorum.Running || b.Outcome == quorum.Withdrawn ||
			b.Outcome == quorum.Cancelled || b.Outcome == quorum.AwaitingApproval)
	})
}

// mayComeLater reports whether an answer of a reviewer may still come by itself.
func mayComeLater(b quorum.Ballot) bool { return b.Vote == quorum.Pending && len(b.Next) == 0 }

func pendingOf(d *quorum.Decision) string {
	var names []string
	for _, b := range d.Ballots {
		if b.Vote == quorum.Pending {
			names = append(names, b.Reviewer+" ("+string(b.Reason)+")")
		}
	}
	return strings.Join(names, ", ")
}

// hasSeveralEffects reports whether a look at a state would do more than one thing.
func (w *walker) hasSeveralEffects(st *modelState) bool {
	s := st.s
	s.Began = st.now
	d := w.decide(st, s)
	return len(d.Effects.Reruns)+len(d.Effects.Cancels) > 1
}

// visit settles a state, and the same after a crash, unless one that judges alike was settled before.
func (w *walker) visit(st *modelState, hash uint64, history []string) {
	if _, known := w.seen.LoadOrStore(hash, true); known {
		return
	}
	w.states.Add(1)
	last, reruns := w.settle(st, history)
	for _, crash := range []crashPoint{beforeWrite, afterWrite, afterEffect} {
		crashed := st.clone()
		if st.shown.Wake.After(st.now) {
			crashed.now = st.shown.Wake // when there is something to do
		}
		if crash == afterEffect && !w.hasSeveralEffects(crashed) {
			continue
		}
		w.look(crashed, history, crash)
		again, made := w.settle(crashed, history)
		// A pass may come before the next try, and of three reviewers others may block before it.
		isDecided := last.Verdict == quorum.Passed || last.Verdict == quorum.Blocked && len(w.policy.Reviewers) > 2
		if again.Verdict != last.Verdict || made != reruns && !isDecided {
			w.fails(survivesCrash, history, "after a crash the verdict is %d, with %d reruns; else %d, with %d", again.Verdict, made, last.Verdict, reruns)
		}
	}
}

var historySeedOfHash = maphash.MakeSeed()

// hash stands for all states that are taken to judge alike: times count from now, in steps of 20 seconds.
func (st *modelState) hash() uint64 {
	var h maphash.Hash
	h.SetSeed(historySeedOfHash)
	since := func(t time.Time) int {
		if t.IsZero() {
			return -1
		}
		return int(st.now.Sub(t) / (20 * time.Second))
	}
	for _, b := range st.shown.Ballots {
		fmt.Fprint(&h, b.Vote, b.Outcome, b.Reason, b.Attempt, since(b.Since), since(b.At), since(b.Deadline), len(b.Next), b.Then != nil, ";")
	}
	for _, run := range st.s.Runs {
		fmt.Fprint(&h, run.Path, run.Attempt, run.Status, run.Conclusion, since(run.Started), ";")
	}
	for _, t := range slices.Concat(st.s.Comments, st.s.Reviews) {
		fmt.Fprint(&h, t.Author.Login, len(t.Body), t.State, t.Commit == st.s.PR.Head, t.Edited.IsZero(), ";")
	}
	for _, t := range st.s.Threads {
		fmt.Fprint(&h, t.Resolved, t.ResolvedBy.Login)
	}
	for _, o := range st.objections {
		fmt.Fprint(&h, o.reviewer, o.head == st.s.PR.Head, o.base == st.s.PR.BaseRef, o.seen, o.answered, ";")
	}
	rec := &st.s.Record
	fmt.Fprint(&h, st.shown.Verdict, st.s.PR.BaseRef, len(st.s.Earlier), len(st.s.Timeline), len(rec.Intents), len(rec.Objections))
	fmt.Fprint(&h, rec.Pass != nil, st.said)
	return h.Sum64()
}

// step makes a move, and the look after it. It returns nil if the move cannot be made.
func (w *walker) step(st *modelState, m move, history []string) *modelState {
	next := st.clone()
	next.now = next.now.Add(moveTakes)
	if !m.do(next) {
		return nil
	}
	w.look(next, append(slices.Clip(history), m.name), noCrash)
	return next
}

// walk walks through all histories of so many more moves.
func (w *walker) walk(st *modelState, history []string, depth int) {
	hash := st.hash()
	w.visit(st, hash, history)
	if depth == 0 {
		return
	}
	if was, _ := w.walked.Swap(hash, depth); was != nil && was.(int) >= depth {
		w.walked.Store(hash, was)
		return // one that judges alike was walked on from as far
	}
	for _, m := range w.moves {
		if next := w.step(st, m, history); next != nil {
			w.walk(next, append(slices.Clip(history), m.name), depth-1)
		}
	}
}

// beginnings are states from which histories begin: what had to happen before is told by moves.
func (w *walker) beginnings(kinds []reviewerKind) (all []*modelState, told [][]string) {
	add := func(names ...string) {
		st, history := newModelState(w.policy, kinds), []string{}
		w.look(st, history, noCrash)
		for _, name := range names {
			i := slices.IndexFunc(w.moves, func(m move) bool { return m.name == name })
			if i < 0 {
				return
			}
			if next := w.step(st, w.moves[i], history); next != nil {
				st, history = next, append(slices.Clip(history), name)
			}
		}
		all, told = append(all, st), append(told, history)
	}
	verdictOf := func(place int, yes bool) []string {
		name := w.policy.Reviewers[place].Name + " "
		word := map[bool]string{true: "yes", false: "no"}[yes]
		switch kinds[place] {
		case byWorkflowText:
			return []string{name + "starts", name + "says " + word, name + "ends as success"}
		case byConclusion:
			return []string{name + "starts", name + "ends as " + map[bool]string{true: "success", false: "failure"}[yes]}
		case byApp:
			return []string{name + map[bool]string{true: "approves", false: "opens a thread"}[yes]}
		case byCheck:
			return []string{name + "check " + map[bool]string{true: "succeeds", false: "fails"}[yes]}
		default:
			return []string{name + "status " + map[bool]string{true: "succeeds", false: "fails"}[yes]}
		}
	}
	add()
	add(verdictOf(0, false)...)
	add(verdictOf(0, true)...)
	if len(kinds) > 1 {
		add(slices.Concat(verdictOf(0, false), verdictOf(1, true))...)
		add(slices.Concat(verdictOf(0, true), verdictOf(1, false))...)
		add(append(verdictOf(1, true), w.policy.Reviewers[0].Name+" starts", "a minute passes", "a minute passes")...)
	}
	return all, told
}

// walkAll walks through all histories of that depth, on all cores, and through a sample of longer ones.
func (w *walker) walkAll(kinds []reviewerKind, depth, sample int, seed uint64) {
	type job struct {
		st      *modelState
		history []string
		depth   int
	}
	jobs := make(chan job)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for j := range jobs {
				if j.depth >= 0 {
					w.walk(j.st, j.history, j.depth)
					continue
				}
				r := rand.New(rand.NewPCG(seed, uint64(-j.depth)))
				st, history := j.st, j.history
				for range 4 + r.IntN(8) {
					m := w.moves[r.IntN(len(w.moves))]
					if next := w.step(st, m, history); next != nil {
						st, history = next, append(slices.Clip(history), m.name)
					}
				}
				w.visit(st, st.hash(), history)
			}
		})
	}
	all, told := w.beginnings(kinds)
	for i, st := range all {
		w.visit(st, st.hash(), told[i])
		for _, m := range w.moves {
			if next := w.step(st, m, told[i]); next != nil && depth > 0 {
				jobs <- job{next, append(slices.Clip(told[i]), m.name), depth - 1}
			}
		}
	}
	for n := range sample {
		jobs <- job{all[n%len(all)], told[n%len(all)], -1 - n}
	}
	close(jobs)
	workers.Wait()
}

func policyName(kinds []reviewerKind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, kindNames[k])
	}
	return strings.Join(names, "+")
}

func TestHistories(t *testing.T) {
	for _, kinds := range modelPolicies {
		testHistories(t, policyName(kinds), 1, kinds, *historyDepth)
	}
	for _, kinds := range sampledPolicies {
		testHistories(t, policyName(kinds)+" both", 2, kinds, min(*historyDepth, 1))
	}
}

// testHistories walks through the histories of a policy of need approvals.
func testHistories(t *testing.T, name string, need int, kinds []reviewerKind, depth int) {
	t.Run(name, func(t *testing.T) {
		w := newWalker(theProduct, need, kinds)
		w.walkAll(kinds, depth, *historySample, *historySeed)
		t.Logf("%d moves, depth %d: %d looks, %d states settled; %d longer histories of seed %d",
			len(w.moves), depth, w.looks.Load(), w.states.Load(), *historySample, *historySeed)
		known := failingProperties[t.Name()]
		for p, told := range w.broken {
			if !slices.Contains(known, p) {
				t.Errorf("%s does not hold:\n\t\t%s", p, told)
			}
		}
		for _, p := range known {
			if w.broken[p] == "" {
				t.Errorf("%s holds now: take it off the list", p)
			}
		}
	})
}

// A mutant is the product with a mistake in it, and the property that must find it.
type mutant struct {
	finds  property
	policy []reviewerKind
	mutate func(p *product)
}

// mutants has a mistake for each property. What no property found would be a property that cannot fail.
var mutants = map[string]mutant{
	"an objection drops while its reviewer looks again": {noStands, []reviewerKind{byWorkflowText}, mutateBallots(func(b *quorum.Ballot) {
		if b.Reason == quorum.ReasonLookingAgain {
			b.Vote, b.Outcome, b.Reason, b.Deadline, b.Late = quorum.Pending, quorum.Running, quorum.ReasonRunning, b.Since.Add(modelTimeout), quorum.ReasonLate
		}
	})},
	"the record forgets objections": {noStands, []reviewerKind{byConclusion}, mutateRecord(func(rec *quorum.Record) { rec.Objections = nil })},
	"coming back to a base brings nothing back": {noStands, []reviewerKind{byApp}, mutateRecord(func(rec *quorum.Record) {
		for i := range rec.Objections {
			rec.Objections[i].Base = ""
		}
	})},
	"a green run is an approval": {passIsEarned, []reviewerKind{byWorkflowText}, mutateBallots(func(b *quorum.Ballot) {
		if b.Outcome == quorum.Empty {
			b.Vote, b.Outcome, b.At = quorum.Approve, quorum.Approved, b.Since
		}
	})},
	"any account ends an objection": {passIsEarned, []reviewerKind{byApp}, func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			s.Threads = slices.Clone(s.Threads)
			for i := range s.Threads {
				s.Threads[i].ResolvedBy = helper
			}
			return judge(policy, s)
		}
	}},
	"a rerun is announced and not made": {announcedIsDue, []reviewerKind{byWorkflowText}, mutateDecision(func(d *quorum.Decision) { d.Effects.Reruns = nil })},
	"a rerun spends nothing": {nothingTwice, []reviewerKind{byWorkflowText}, func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			policy.Retry.Max = 9
			return judge(policy, s)
		}
	}},
	"what is under way is run again": {leavesAlone, []reviewerKind{byWorkflowText}, mutateBallots(func(b *quorum.Ballot) {
		if b.Outcome == quorum.Running && b.Run != 0 && b.Vote == quorum.Pending {
			b.Next = []quorum.Action{{Kind: quorum.Rerun, Reviewer: b.Reviewer, Due: b.Since, Run: b.Run, Attempt: b.Attempt}}
		}
	})},
	"each look says anew when to look next": {alwaysEnds, []reviewerKind{byWorkflowText}, func(p *product) {
		decide := p.decide
		p.decide = func(policy quorum.Policy, ballots []quorum.Ballot, f quorum.Facts, now time.Time) quorum.Decision {
			d := decide(policy, ballots, f, now)
			d.Wake = now.Add(time.Minute)
			return d
		}
	}},
	"a decision hangs on the second in which it is made": {staysDecided, []reviewerKind{byWorkflowText}, func(p *product) {
		remember := p.remember
		p.remember = func(policy quorum.Policy, s quorum.Snapshot, d quorum.Decision, now time.Time) quorum.Record {
			rec := remember(policy, s, d, now)
			rec.Seq++
			return rec
		}
	}},
	"an intent counts as done": {survivesCrash, []reviewerKind{byWorkflowText}, mutateBallots(func(b *quorum.Ballot) {
		if b.Retrying && !b.Planned && b.Outcome != quorum.Running {
			b.Next = nil
		}
	})},
	"the wake comes a minute late": {quietTillWake, []reviewerKind{byWorkflowText}, mutateDecision(func(d *quorum.Decision) {
		if !d.Wake.IsZero() {
			d.Wake = d.Wake.Add(time.Minute)
		}
	})},
	"what cannot help is waited for": {noIdleWait, []reviewerKind{byWorkflowText, byWorkflowText}, mutateBallots(func(b *quorum.Ballot) {
		if b.Vote == quorum.Unavailable && b.Spent {
			b.Vote, b.Deadline, b.Late = quorum.Pending, b.Since.Add(20*time.Minute), b.Reason
			b.Next = []quorum.Action{{Kind: quorum.Cancel, Reviewer: b.Reviewer, Due: b.Deadline, Run: b.Run, Attempt: b.Attempt}}
		}
	})},
}

// mutateBallots changes each ballot that the judge makes.
func mutateBallots(change func(b *quorum.Ballot)) func(p *product) {
	return func(p *product) {
		judge := p.judge
		p.judge = func(policy quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
			ballots := judge(policy, s)
			for i := range ballots {
				change(&ballots[i])
			}
			return ballots
		}
	}
}

// mutateDecision changes each decision.
func mutateDecision(change func(d *quorum.Decision)) func(p *product) {
	return func(p *product) {
		decide := p.decide
		p.decide = func(policy quorum.Policy, ballots []quorum.Ballot, f quorum.Facts, now time.Time) quorum.Decision {
			d := decide(policy, ballots, f, now)
			change(&d)
			return d
		}
	}
}

// mutateRecord changes each record before it is written.
func mutateRecord(change func(rec *quorum.Record)) func(p *product) {
	return func(p *product) {
		remember := p.remember
		p.remember = func(policy quorum.Policy, s quorum.Snapshot, d quorum.Decision, now time.Time) quorum.Record {
			rec := remember(policy, s, d, now)
			change(&rec)
			return rec
		}
	}
}

func TestEveryPropertyFindsItsMutant(t *testing.T) {
	found := map[property]bool{}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			p := theProduct
			m.mutate(&p)
			w := newWalker(p, 1, m.policy)
			w.walkAll(m.policy, 2, 200, *historySeed)
			if w.broken[m.finds] == "" {
				t.Errorf("nothing says that %q does not hold; what does not: %v", m.finds, w.broken)
				return
			}
			found[m.finds] = true
			t.Logf("%s:\n\t\t%s", m.finds, w.broken[m.finds])
		})
	}
	for _, p := range []property{
		noStands, passIsEarned, announcedIsDue, nothingTwice, leavesAlone, alwaysEnds, staysDecided, survivesCrash, quietTillWake, noIdleWait,
	} {
		if !found[p] {
			t.Errorf("no mutant shows that %q can fail", p)
		}
	}
}
