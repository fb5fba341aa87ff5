package story_test

// Histories of pull requests that share a head, and so a check: who opens, closes and drafts which of them, and where
// reviewers say what. The loop's way from looks to that check is told here once more, in the words of package quorum.

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	bySiblings  property = "each base's no and yes decide, whoever speaks"
	forkHoldsUp property = "a fork holds nobody up"
	sameForAll  property = "the check is the same, whoever is looked at"

	oneAnswerForAll property = "what is said below one counts for each of that base"
)

// siblingProduct is what is under test of pull requests that share a head. A mutant replaces one of its parts.
type siblingProduct struct {
	product
	speakersOf func([]quorum.PullRequest) []quorum.PullRequest
	recordOf   func(p *quorum.PullRequest, held []quorum.HeldRecord) quorum.Record
	shared     func(judged []quorum.Sibling, all []quorum.PullRequest, held []quorum.HeldRecord) []quorum.SharedCheck
	isTwin     func(p, o *quorum.PullRequest) bool
	withTwins  func(own []quorum.Ballot, twins []quorum.Twin) []quorum.Ballot
	unheardOf  func(s *quorum.Snapshot) []quorum.PullRequest
}

var theSiblingProduct = siblingProduct{
	product: theProduct, speakersOf: quorum.SpeakersOf, recordOf: quorum.RecordOf, shared: quorum.Shared,
	isTwin: (*quorum.PullRequest).IsTwinOf, withTwins: quorum.WithTwins,
	unheardOf: quorum.UnheardOf,
}

// pullTruth is one of the pull requests of a head.
type pullTruth struct {
	pr       quorum.PullRequest
	isOpened bool // once
	reviews  []quorum.Text
}

// saidTruth is a no that an App said in one of them.
type saidTruth struct {
	pull int // its place
	at   time.Time
	seen bool // by a look at it, while it spoke, or after it was closed
}

// siblingState is a head with its pull requests at one moment.
type siblingState struct {
	now       time.Time
	nextID    int64
	pulls     []pullTruth
	statuses  []quorum.Status
	said      []saidTruth
	record    quorum.Record // of the check that they share
	hasFailed bool          // the commit's status, once
	pushes    int
	pushed    time.Time
	left      quorum.Record // of the check that they shared on the head before
	verdict   quorum.Verdict
	lead      int
}

// The pull requests of the model: two of this repository against one base, one against another, and one of a fork.
const (
	firstPull = iota
	secondPull
	otherBasePull
	forkPull
)

// siblingApps are two reviewers: only the first one ever objects.
var siblingApps = []quorum.Account{{Login: "a-app[bot]", ID: 50, Bot: true}, {Login: "b-app[bot]", ID: 51, Bot: true}}

func newSiblingState() *siblingState {
	st := &siblingState{now: opened, nextID: 100}
	for i, base := range []string{mainBase, mainBase, otherBase, mainBase} {
		pr := quorum.PullRequest{
			PR: quorum.PR{Owner: model, Repo: "shop", Number: 7 + i}, Head: headSHA(0), HeadRef: "feature", HeadRepo: "acme/shop", BaseRef: base,
			DefaultBranch: mainBase, Author: author, Created: opened, Commits: 1, Files: change{path: codeFile}.files(),
			Diff: change{path: codeFile}.printAgainst(base), Closed: true,
		}
		if i == forkPull {
			pr.Fork, pr.HeadRepo = true, "mallory/shop"
		}
		st.pulls = append(st.pulls, pullTruth{pr: pr})
	}
	st.open(firstPull)
	return st
}

func (st *siblingState) clone() *siblingState {
	c := *st
	c.pulls, c.statuses, c.said = slices.Clone(st.pulls), slices.Clone(st.statuses), slices.Clone(st.said)
	for i := range c.pulls {
		c.pulls[i].reviews = slices.Clone(st.pulls[i].reviews)
	}
	return &c
}

func (st *siblingState) open(place int) bool {
	p := &st.pulls[place]
	if p.isOpened || place == forkPull && st.pushes > 0 {
		return false
	}
	p.isOpened, p.pr.Closed, p.pr.Created = true, false, st.now
	return true
}

// review lets an App review one of them.
func (st *siblingState) review(app, place int, state string) bool {
	p := &st.pulls[place]
	if p.pr.Closed {
		return false
	}
	st.nextID++
	p.reviews = append(p.reviews, quorum.Text{
		TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: st.nextID}, Author: siblingApps[app], At: st.now, Commit: p.pr.Head, State: state,
	})
	if state == "CHANGES_REQUESTED" {
		st.said = append(st.said, saidTruth{pull: place, at: st.now})
	}
	return true
}

// siblingMove is one thing that may happen.
type siblingMove struct {
	name string
	do   func(st *siblingState) bool
}

// rebase gives the branch of this repository's pull requests another head that changes the same. A fork's is left alone.
func (st *siblingState) rebase() bool {
	if st.pushes == 2 {
		return false
	}
	st.pushes++
	st.pushed, st.statuses = st.now, nil
	st.left, st.record = st.record, quorum.Record{}
	for i := range st.pulls {
		p := &st.pulls[i].pr
		p.Closed = p.Closed || p.Fork
		if !p.Closed || !st.pulls[i].isOpened {
			p.Head = headSHA(st.pushes)
		}
	}
	return true
}

func siblingMoves() (all []siblingMove) {
	add := func(name string, do func(st *siblingState) bool) { all = append(all, siblingMove{name, do}) }
	for place, name := range []string{"#7", "#8", "#9 against " + otherBase, "#10 of a fork"} {
		short, _, _ := strings.Cut(name, " ")
		if place > 0 {
			add(name+" is opened", func(st *siblingState) bool { return st.open(place) })
		}
		add(short+" is closed", func(st *siblingState) bool {
			wasOpen := !st.pulls[place].pr.Closed
			st.pulls[place].pr.Closed = true
			return wasOpen
		})
		add(short+" is approved", func(st *siblingState) bool { return st.review(0, place, "APPROVED") })
		add(short+" is approved by the other", func(st *siblingState) bool { return st.review(1, place, "APPROVED") })
		add(short+" is objected to", func(st *siblingState) bool { return st.review(0, place, "CHANGES_REQUESTED") })
		add(short+" is objected to, and closed at once", func(st *siblingState) bool {
			said := st.review(0, place, "CHANGES_REQUESTED")
			st.pulls[place].pr.Closed = true
			return said
		})
	}
	add("#7 becomes a draft, or ready", func(st *siblingState) bool {
		st.pulls[firstPull].pr.Draft = !st.pulls[firstPull].pr.Draft
		return !st.pulls[firstPull].pr.Closed
	})
	add("alice rebases", func(st *siblingState) bool { return st.rebase() })
	add("two minutes pass", func(st *siblingState) bool {
		st.now = st.now.Add(2 * time.Minute)
		return true
	})
	for _, state := range []string{"success", "failure"} {
		add("the commit's status is "+state, func(st *siblingState) bool {
			st.nextID++
			st.hasFailed = st.hasFailed || state == "failure"
			st.statuses = slices.Insert(st.statuses, 0, quorum.Status{
				ID: st.nextID, Context: "c-status", State: state, Creator: quorum.Account{Login: "c-status[bot]", ID: 52, Bot: true}, At: st.now,
			})
			return true
		})
	}
	return all
}

// siblingWalker walks through the histories of a head.
type siblingWalker struct {
	product siblingProduct
	policy  quorum.Policy
	moves   []siblingMove
	seen    map[uint64]int
	broken  map[property]string
	passes  map[string]int
	looks   int
	stopAt  property // once it is broken, nothing more is walked through
}

func (w *siblingWalker) isOver() bool { return w.stopAt != "" && w.broken[w.stopAt] != "" }

func newSiblingWalker(p siblingProduct) *siblingWalker {
	w := &siblingWalker{
		product: p, policy: modelPolicy(1, []reviewerKind{byApp, byApp, byStatus}), moves: siblingMoves(), seen: map[uint64]int{},
		broken: map[property]string{}, passes: map[string]int{},
	}
	w.policy.DraftsWait = false // a draft that is approved may speak
	return w
}

func (w *siblingWalker) fails(p property, history []string, format string, args ...any) {
	told := fmt.Sprintf("%s\n\t\t→ %s", strings.Join(history, "\n\t\t"), fmt.Sprintf(format, args...))
	if was, found := w.broken[p]; !found || len(told) < len(was) {
		w.broken[p] = told
	}
}

// A siblingLook is what was decided about one of them alone.
type siblingLook struct {
	policy   quorum.Policy
	snapshot quorum.Snapshot
	ballots  []quorum.Ballot // by what was said below it
	decision quorum.Decision
	record   quorum.Record
}

func (w *siblingWalker) judge(l *siblingLook, now time.Time) {
	l.ballots = w.product.judge(l.policy, l.snapshot)
	w.decide(l, l.ballots, now)
}

func (w *siblingWalker) decide(l *siblingLook, ballots []quorum.Ballot, now time.Time) {
	p := &w.product
	l.decision = p.decide(l.policy, ballots, p.facts(l.policy, l.snapshot), now)
	l.record = p.remember(l.policy, l.snapshot, l.decision, now)
}

// decideWithTwins decides about each by what was said below its twins, too.
func (w *siblingWalker) decideWithTwins(looks []*siblingLook, now time.Time) {
	for _, l := range looks {
		var twins []quorum.Twin
		for _, o := range looks {
			if w.product.isTwin(&l.snapshot.PR, &o.snapshot.PR) {
				twins = append(twins, quorum.Twin{Number: o.snapshot.PR.Number, Ballots: o.ballots})
			}
		}
		w.decide(l, w.product.withTwins(l.ballots, twins), now)
	}
}

// lookFrom makes a look that begins with one of them: it returns the decision of the check that they share, and its
// record.
func (w *siblingWalker) lookFrom(st *siblingState, begin int) (d quorum.Decision, lead int, rec quorum.Record) {
	w.looks++
	var all, known []quorum.PullRequest
	for i := range st.pulls {
		if p := st.pulls[i].pr; st.pulls[i].isOpened && p.Head == headSHA(st.pushes) {
			known = append(known, p)
			if !p.Closed {
				all = append(all, p)
			}
		}
	}
	all = append(all[begin:], all[:begin]...)
	held := quorum.HeldRecords("plain", st.record)
	if st.record.Seq == 0 {
		held = nil
	}
	var looks []*siblingLook
	for _, pr := range w.product.speakersOf(all) {
		looks = append(looks, w.lookAt(st, pr, all, known, held))
	}
	var gone []*siblingLook
	if len(looks) > 0 {
		for _, pr := range w.product.unheardOf(&looks[0].snapshot) {
			pr.Closed, pr.ClosedAt = false, st.now
			gone = append(gone, w.lookAt(st, pr, all, known, held))
		}
	}
	w.shareObjections(looks, gone, held, st.now)
	w.decideWithTwins(looks, st.now)
	var judged []quorum.Sibling
	for _, l := range looks {
		judged = append(judged, quorum.Sibling{PR: l.snapshot.PR, Check: "plain", Gated: true, Decision: l.decision})
	}
	lead = w.product.shared(judged, all, nil)[0].Lead
	var others, before []quorum.Record
	for _, l := range looks {
		if l.snapshot.PR.Number == lead {
			d, rec = l.decision, l.record
		} else {
			others = append(others, l.record)
		}
	}
	for _, l := range gone {
		before = append(before, l.record)
	}
	for _, h := range held {
		if !slices.ContainsFunc(gone, func(l *siblingLook) bool { return l.record.Pull == h.Pull }) {
			before = append(before, h.Record)
		}
	}
	rec = rec.WithSiblings(others, before, func(number int) bool {
		return slices.ContainsFunc(all, func(p quorum.PullRequest) bool { return p.Number == number })
	})
	return d, lead, rec
}

// lookAt judges one of them alone.
func (w *siblingWalker) lookAt(st *siblingState, pr quorum.PullRequest, all, known []quorum.PullRequest, held []quorum.HeldRecord) *siblingLook {
	isOther := func(p quorum.PullRequest) bool { return p.Number != pr.Number }
	s := quorum.Snapshot{
		PR: pr, File: quorum.PolicyFile{State: quorum.FileValid, Path: ".github/review-coordinator.yml", SHA: "p1"}, Gated: true, Arrived: opened,
		Began: st.now, Ours: ourself, Links: []string{}, Statuses: st.statuses, Reviews: st.pulls[pr.Number-7].reviews, Held: held,
		Siblings: filterPulls(all, isOther), SameHead: filterPulls(known, isOther), Record: w.product.recordOf(&pr, held),
		Commits: []quorum.Commit{{SHA: pr.Head, People: []quorum.Account{author}}}, Pushes: []quorum.Push{{After: pr.Head, Actor: author, At: opened}},
	}
	if st.pushes > 0 {
		before := headSHA(st.pushes - 1)
		s.Pushes[0].Before, s.Pushes[0].At, s.Arrived = before, st.pushed, st.pushed
		s.Timeline = []quorum.Event{{Kind: quorum.ForcePushed, At: st.pushed, Actor: author, From: before, To: pr.Head}}
		s.Earlier = []string{before}
		if !evidence.HasInherited(s, st.pushed) && st.left.Seq > 0 {
			s.Before, s.BeforeHead = w.product.recordOf(&pr, quorum.HeldRecords("plain", st.left)), before
		}
	}
	for i := range st.pulls {
		if p := &st.pulls[i]; p.isOpened && p.pr.Fork == pr.Fork {
			s.SameBranch = append(s.SameBranch, p.pr)
		}
	}
	p := w.product.policyFor(w.policy, s)
	s.Record = w.product.inherit(p, s)
	l := &siblingLook{policy: p, snapshot: s}
	w.judge(l, st.now)
	return l
}

func filterPulls(all []quorum.PullRequest, keeps func(quorum.PullRequest) bool) []quorum.PullRequest {
	return slices.DeleteFunc(slices.Clone(all), func(p quorum.PullRequest) bool { return !keeps(p) })
}

// shareObjections tells each look what was objected in the others, and in those that were closed.
func (w *siblingWalker) shareObjections(looks, gone []*siblingLook, held []quorum.HeldRecord, now time.Time) {
	fresh := make([]quorum.HeldRecord, 0, len(looks)+len(gone)+len(held))
	for _, l := range looks {
		fresh = append(fresh, quorum.HeldRecord{Record: l.record.WithoutForeign()})
	}
	for _, l := range gone {
		l.record = l.record.WithoutForeign()
		l.record.HeardClosed = []int{l.record.Pull}
		fresh = append(fresh, quorum.HeldRecord{Record: l.record})
	}
	for _, l := range looks {
		pr := &l.snapshot.PR
		known := []quorum.HeldRecord{{Record: l.snapshot.Record.WithoutForeign()}}
		known[0].Pull = pr.Number
		for _, h := range slices.Concat(fresh, held) {
			if h.Pull != 0 && h.Pull != pr.Number {
				known = append(known, h)
			}
		}
		l.snapshot.Record.Objections = w.product.recordOf(pr, known).Objections
		l.snapshot.Record.Head = pr.Head
		w.judge(l, now)
	}
}

// look makes a look with each of them, and writes what the first one found.
func (w *siblingWalker) look(st *siblingState, history []string) {
	open := st.openPlaces()
	if len(open) == 0 {
		return
	}
	d, lead, rec := w.lookFrom(st, 0)
	for i := 1; i < len(open); i++ {
		if other, otherLead, _ := w.lookFrom(st, i); other.Verdict != d.Verdict || otherLead != lead {
			w.fails(sameForAll, history, "the verdict is %d of #%d; looked at from another one %d of #%d", d.Verdict, lead, other.Verdict, otherLead)
		}
	}
	st.record, st.verdict, st.lead = rec, d.Verdict, lead
	w.checkShared(st, history)
}

func (st *siblingState) openPlaces() (open []int) {
	for i := range st.pulls {
		if !st.pulls[i].pr.Closed {
			open = append(open, i)
		}
	}
	return open
}

// speaking are the places of those that truly speak: of this repository, or else of the fork; a draft only where all are.
func (st *siblingState) speaking() (places []int) {
	for _, isOf := range []func(p *quorum.PullRequest) bool{
		func(p *quorum.PullRequest) bool { return !p.Draft && !p.Fork },
		func(p *quorum.PullRequest) bool { return !p.Fork },
	} {
		for _, i := range st.openPlaces() {
			if isOf(&st.pulls[i].pr) {
				places = append(places, i)
			}
		}
		if len(places) > 0 {
			return places
		}
	}
	return st.openPlaces()
}

// twins are the places of those of all that truly count as one with that of a place, itself among them.
func (st *siblingState) twins(all []int, place int) []int {
	return slices.DeleteFunc(slices.Clone(all), func(i int) bool { return st.pulls[i].pr.BaseRef != st.pulls[place].pr.BaseRef })
}

// checkShared compares the check that they share with what is true.
func (w *siblingWalker) checkShared(st *siblingState, history []string) {
	speaking := st.speaking()
	isFailed := len(st.statuses) > 0 && st.statuses[0].State == "failure"
	isObjected := st.hasFailed // for one that came later, too
	for _, place := range speaking {
		pr, twins := &st.pulls[place].pr, st.twins(speaking, place)
		for i := range st.said {
			o := &st.said[i]
			said := &st.pulls[o.pull].pr
			o.seen = o.seen || o.pull == place || said.Closed && said.Head == pr.Head
			isHeard := o.pull != forkPull || pr.Fork // whatever the base is: the diff is the same
			isObjected = isObjected || isHeard
			answering := slices.Clone(twins)
			for other := range st.pulls { // one that was closed on an earlier head: a yes to the same diff ends it, on any of them
				if said.Head != pr.Head {
					answering = append(answering, other)
				}
			}
			if isHeard && o.seen && !st.isAnswered(o, answering) && st.verdict == quorum.Passed {
				w.fails(diffStaysRed, history, "#%d was objected to, and the check passed with #%d", 7+o.pull, st.lead)
			}
		}
		if st.verdict == quorum.Passed && (isFailed || !slices.ContainsFunc(twins, st.isApproved)) {
			w.fails(bySiblings, history, "the check passed, and nobody approves #%d, or the commit's status fails", pr.Number)
		}
	}
	if st.verdict != quorum.Passed && st.isApprovedBelowOne(speaking) {
		w.fails(oneAnswerForAll, history, "both reviewers approve one, nobody has ever objected, and the check of #%d is %d", st.lead, st.verdict)
	}
	if st.verdict == quorum.Blocked && !isObjected {
		w.fails(forkHoldsUp, history, "the check is blocked, and nobody objects to one that speaks")
	}
	if st.verdict == quorum.Passed {
		w.passes[fmt.Sprint(len(speaking), " of ", len(st.openPlaces()))]++
	}
}

// isAnswered reports whether the App has approved one of the twins since, or the one where it said no.
func (st *siblingState) isAnswered(o *saidTruth, twins []int) bool {
	return slices.ContainsFunc(append([]int{o.pull}, twins...), func(place int) bool {
		return slices.ContainsFunc(st.pulls[place].reviews, func(t quorum.Text) bool {
			return t.State == "APPROVED" && t.Author == siblingApps[0] && t.At.After(o.at)
		})
	})
}

// isApproved reports whether it is true of one of them that a reviewer approves it: an App there, or the commit's
// status, which came while no other one had this head against another base.
func (st *siblingState) isApproved(place int) bool {
	p := &st.pulls[place]
	for _, app := range siblingApps {
		for _, t := range slices.Backward(p.reviews) {
			if t.Author != app || t.Commit != p.pr.Head {
				continue
			}
			if t.State == "APPROVED" {
				return true
			}
			break
		}
	}
	if len(st.statuses) == 0 || st.statuses[0].State != "success" {
		return false
	}
	return !slices.ContainsFunc(st.pulls, func(o pullTruth) bool {
		return o.isOpened && o.pr.Head == p.pr.Head && o.pr.BaseRef != p.pr.BaseRef && !st.statuses[0].At.Before(o.pr.Created)
	})
}

// isApprovedBelowOne reports whether all that speak have one base, and both Apps and the status approve one of them, where
// nobody has ever objected.
func (st *siblingState) isApprovedBelowOne(speaking []int) bool {
	if len(st.said) > 0 || st.hasFailed || len(st.statuses) == 0 || len(st.twins(speaking, speaking[0])) < len(speaking) {
		return false
	}
	hasYes := func(app quorum.Account) bool {
		return slices.ContainsFunc(speaking, func(place int) bool {
			return slices.ContainsFunc(st.pulls[place].reviews, func(t quorum.Text) bool {
				return t.Author == app && t.State == "APPROVED" && t.Commit == st.pulls[place].pr.Head
			})
		})
	}
	return hasYes(siblingApps[0]) && hasYes(siblingApps[1])
}

// hash stands for all states that are taken to judge alike.
func (st *siblingState) hash() uint64 {
	var h maphash.Hash
	h.SetSeed(historySeedOfHash)
	for i := range st.pulls {
		p := &st.pulls[i]
		fmt.Fprint(&h, p.isOpened, p.pr.Closed, p.pr.Draft, st.isApproved(i))
		for _, t := range p.reviews {
			fmt.Fprint(&h, t.State, t.Author.ID, t.Commit == p.pr.Head)
		}
	}
	for _, s := range st.statuses {
		fmt.Fprint(&h, s.State)
	}
	fmt.Fprint(&h, st.pushes, st.said, st.verdict, st.lead, len(st.record.Siblings))
	return h.Sum64()
}

func (w *siblingWalker) step(st *siblingState, m siblingMove, history []string) *siblingState {
	next := st.clone()
	next.now = next.now.Add(moveTakes)
	if !m.do(next) {
		return nil
	}
	w.look(next, append(slices.Clip(history), m.name))
	return next
}

// walk walks through all histories of so many more moves.
func (w *siblingWalker) walk(st *siblingState, history []string, depth int) {
	hash := st.hash()
	if was, known := w.seen[hash]; depth == 0 || known && was >= depth || w.isOver() {
		return
	}
	w.seen[hash] = depth
	for _, m := range w.moves {
		if w.isOver() {
			return
		}
		if next := w.step(st, m, history); next != nil {
			w.walk(next, append(slices.Clip(history), m.name), depth-1)
		}
	}
}

// walkAll walks through all histories of that depth, and through a sample of longer ones.
func (w *siblingWalker) walkAll(depth, sample int, seed uint64) {
	beginnings := [][]string{
		nil,
		{"#7 is objected to", "#8 is opened", "#7 is closed", "alice rebases"},
		{"#10 of a fork is opened", "#7 is closed", "#10 is objected to"},
		{"#7 is objected to", "#8 is opened", "#7 is closed"},
		{"#7 is approved", "#9 against stable is opened", "#10 of a fork is opened"},
		{"#9 against stable is opened", "#9 is objected to", "#9 is closed"},
		{"#8 is opened", "#10 of a fork is opened", "#7 is approved", "#8 is approved by the other"},
		{"#7 is objected to", "#8 is opened", "#7 is closed", "alice rebases", "#9 against stable is opened"},
	}
	states := make([]*siblingState, len(beginnings))
	for i, names := range beginnings {
		st := newSiblingState()
		w.look(st, nil)
		for n, name := range names {
			at := slices.IndexFunc(w.moves, func(m siblingMove) bool { return m.name == name })
			st = w.step(st, w.moves[at], names[:n])
		}
		w.walk(st, names, depth)
		states[i] = st
	}
	for n := range sample {
		if w.isOver() {
			return
		}
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		st, history := states[n%len(states)], beginnings[n%len(states)]
		for range 4 + r.IntN(8) {
			m := w.moves[r.IntN(len(w.moves))]
			if next := w.step(st, m, history); next != nil {
				st, history = next, append(slices.Clip(history), m.name)
			}
		}
	}
}

func TestSiblingHistories(t *testing.T) {
	w := newSiblingWalker(theSiblingProduct)
	w.walkAll(*historyDepth, 4**historySample, *historySeed)
	t.Logf("%d moves, depth %d: %d looks; passes, with who speaks of how many: %v", len(w.moves), *historyDepth, w.looks, w.passes)
	for p, told := range w.broken {
		t.Errorf("%s does not hold:\n\t\t%s", p, told)
	}
	for _, kind := range []string{"1 of 1", "1 of 2", "2 of 2", "2 of 3"} {
		if w.passes[kind] == 0 {
			t.Errorf("nothing passed with who speaks of how many: %s", kind)
		}
	}
}

// siblingMutants has a mistake for each rule of pull requests that share a head.
var siblingMutants = map[string]struct {
	finds  property
	mutate func(p *siblingProduct)
}{
	"the best verdict counts": {bySiblings, func(p *siblingProduct) {
		shared := p.shared
		p.shared = func(judged []quorum.Sibling, all []quorum.PullRequest, held []quorum.HeldRecord) []quorum.SharedCheck {
			checks := shared(judged, all, held)
			for _, s := range judged {
				if s.Decision.Verdict == quorum.Passed {
					checks[0].Lead = s.PR.Number
				}
			}
			return checks
		}
	}},
	"the oldest speaks for every base": {bySiblings, func(p *siblingProduct) {
		speakersOf := p.speakersOf
		p.speakersOf = func(all []quorum.PullRequest) []quorum.PullRequest { return speakersOf(all)[:1] }
	}},
	"a fork speaks as others do": {forkHoldsUp, func(p *siblingProduct) {
		speakersOf := p.speakersOf
		p.speakersOf = func(all []quorum.PullRequest) []quorum.PullRequest {
			all = slices.Clone(all)
			for i := range all {
				all[i].Fork = false
				all[i].Number = -all[i].Number // the newest first
			}
			all = speakersOf(all)
			for i := range all {
				all[i].Number = -all[i].Number
			}
			return all
		}
	}},
	"what was said to a fork's counts": {forkHoldsUp, func(p *siblingProduct) {
		recordOf := p.recordOf
		p.recordOf = func(pr *quorum.PullRequest, held []quorum.HeldRecord) quorum.Record {
			forked := *pr
			forked.Fork = true
			return recordOf(&forked, held)
		}
	}},
	"a push sheds what was said to another one": {diffStaysRed, func(p *siblingProduct) {
		recordOf := p.recordOf
		p.recordOf = func(pr *quorum.PullRequest, held []quorum.HeldRecord) quorum.Record {
			rec := recordOf(pr, held)
			if rec.Before == "" && rec.Head == headSHA(0) { // the head before
				return rec.WithoutForeign()
			}
			return rec
		}
	}},
	"what was said last below a closed one is missed": {diffStaysRed, func(p *siblingProduct) {
		p.unheardOf = func(*quorum.Snapshot) []quorum.PullRequest { return nil }
	}},
	"what was said to another one is forgotten": {diffStaysRed, func(p *siblingProduct) {
		recordOf := p.recordOf
		p.recordOf = func(pr *quorum.PullRequest, held []quorum.HeldRecord) quorum.Record {
			return recordOf(pr, held).WithoutForeign()
		}
	}},
	"what was said of another base counts there alone": {diffStaysRed, func(p *siblingProduct) {
		recordOf := p.recordOf
		p.recordOf = func(pr *quorum.PullRequest, held []quorum.HeldRecord) quorum.Record {
			rec := recordOf(pr, held)
			rec.Objections = slices.DeleteFunc(slices.Clone(rec.Objections), func(o quorum.Objection) bool {
				return o.Of != 0 && o.Base != pr.BaseRef
			})
			return rec
		}
	}},
	"an approval of another base counts": {bySiblings, func(p *siblingProduct) {
		p.isTwin = func(one, o *quorum.PullRequest) bool { return one.Number != o.Number }
	}},
	"an answer below a twin is lost": {oneAnswerForAll, func(p *siblingProduct) {
		p.isTwin = func(_, _ *quorum.PullRequest) bool { return false }
	}},
	"who is looked at first speaks": {sameForAll, func(p *siblingProduct) {
		p.speakersOf = func(all []quorum.PullRequest) []quorum.PullRequest { return all[:1] }
	}},
}

func TestEverySiblingPropertyFindsItsMutant(t *testing.T) {
	for _, name := range someMutants(siblingMutants, 3) {
		m := siblingMutants[name]
		t.Run(name, func(t *testing.T) {
			p := theSiblingProduct
			m.mutate(&p)
			w := newSiblingWalker(p)
			w.stopAt = m.finds
			w.walkAll(2, 200, *historySeed)
			if w.broken[m.finds] == "" {
				t.Errorf("nothing says that %q does not hold; what does not: %v", m.finds, w.broken)
			}
			t.Logf("%s:\n\t\t%s", m.finds, w.broken[m.finds])
		})
	}
}
