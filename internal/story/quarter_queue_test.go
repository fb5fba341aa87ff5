package story_test

// A merge queue in weeks of the quarter: what is green is queued, groups hold several pull requests, are taken apart and
// built anew; and the oracle's law of them: a group's commit is green only if each of its pull requests may pass.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const (
	queuedPlainly   = "queued"
	queuedToLeave   = "queued, and leaves the queue"
	queuedToRebuild = "queued, and its group is built anew"
	queuedInVain    = "queued, and then objected to"
	queuedTooEarly  = "queued although it waits"

	groupPatience = 10 * time.Minute
	groupSlack    = 2 * time.Minute // an event may be lost, a request too
)

// queueNames are what must happen in the merge queues of a quarter.
var queueNames = []string{
	queuedPlainly, queuedToLeave, queuedToRebuild, queuedInVain, queuedTooEarly,
	"→ groups of several", "→ groups go", "→ groups pass", "→ groups are refused", "→ groups wait for ten minutes", "→ groups are merged",
}

// weekAlso is what only some weeks have: a merge queue, a breaker, fixes.
type weekAlso struct {
	groups  []*teamGroup
	queued  []*teamPull // in their order
	commits int         // of groups
	fates   deck        // of those that are queued
	health  map[int]*voiceHealth
	shown   map[string][]string // by reviewer: who has shown anything of its service
	fixes   deck                // how fix runs go
}

// prepareAlso says what else a week has: by turns a merge queue, a breaker that opens soon, and fixes.
func (w *teamWeek) prepareAlso() {
	w.rules.queue, w.rules.breaker, w.rules.fixes = w.number%3 == 0, w.number%3 == 1, w.number%3 == 2
	if w.rules.breaker && w.rules.override { // what several pull requests show the daemon knows alone
		w.rules.asJob = false
	}
	w.also.health, w.also.shown = map[int]*voiceHealth{}, map[string][]string{}
	w.also.fates = newDeck(w.seed, w.number, []string{queuedPlainly, queuedToLeave, queuedToRebuild, queuedInVain, queuedPlainly})
	w.also.fixes = newDeck(w.seed, w.number, fixNames[1:])
}

// delayOfOpening is when a pull request of the week opens: some beside one another, which a queue takes together, and
// some while a reviewer is down.
func (w *teamWeek) delayOfOpening(r *rand.Rand, place int) time.Duration {
	at := time.Duration(r.IntN(40*3600)) * time.Second
	switch {
	case w.rules.queue:
		bunch := rand.New(rand.NewPCG(w.seed, uint64(2_000_000+1000*w.number+place/3)))
		return time.Duration(bunch.IntN(40*3600)+r.IntN(60)) * time.Second
	case w.rules.breaker && place%3 != 2:
		down := w.outages[place/4%len(w.outages)]
		return down[0].Sub(w.clock) + time.Duration(1+r.IntN(10*60))*time.Second
	}
	return at
}

// isCalm lets a pull request of a week with a queue open to which nothing happens but what the queue does.
func (w *teamWeek) isCalm(p *teamPull) bool {
	if !w.rules.queue || p.path != "cart.go" || p.draft || p.fork != "" || p.dice.IntN(4) == 0 {
		return false
	}
	p.calm, p.forced = true, map[int]string{}
	isEarly := p.dice.IntN(6) == 0
	for place := range voices {
		p.forced[place] = "yes"
		if isEarly && voices[place].hasRuns() {
			p.forced[place] = "hangs"
		} else if isEarly && voices[place].kind == voiceApp {
			p.forced[place] = "silent"
		}
	}
	w.startReviewers(p)
	if isEarly {
		w.after(time.Duration(10+p.dice.IntN(100))*time.Second, func() { w.enqueue(p, queuedTooEarly) })
	}
	return true
}

// queueSoon lets the team put a green pull request into the merge queue.
func (w *teamWeek) queueSoon(p *teamPull) {
	if p.base != defaultBase || w.isQueued(p) || !p.calm && p.dice.IntN(3) != 0 {
		return
	}
	w.after(time.Duration(1+p.dice.IntN(60))*time.Second, func() {
		if !p.closed && !w.isQueued(p) && sandbox.MergeGateOpens(w.g, p.number, checkName) {
			w.enqueue(p, w.also.fates.draw(func(string) bool { return true }))
		}
	})
}

func (w *teamWeek) isQueued(p *teamPull) bool { return slices.Contains(w.also.queued, p) }

func (w *teamWeek) newGroupCommit() string {
	w.also.commits++
	return fmt.Sprintf("w%dg%d", w.number, w.also.commits)
}

// enqueue puts a pull request into the merge queue, whose fate there is known.
func (w *teamWeek) enqueue(p *teamPull, fate string) {
	if p.closed || p.draft || p.base != defaultBase || sandbox.Enqueue(w.g, p.number, w.newGroupCommit(), "bob") != nil {
		return
	}
	w.also.queued = append(w.also.queued, p)
	w.count(p, fate)
	w.syncGroups()
	soon := time.Duration(40+p.dice.IntN(120)) * time.Second
	switch fate {
	case queuedToLeave:
		w.after(soon, func() { w.dequeue(p) })
	case queuedToRebuild:
		w.after(soon, func() {
			if w.isQueued(p) {
				w.buildGroupsFrom(min(slices.Index(w.also.queued, p), w.placeWithoutGroup())) // nobody's is built without those in front
			}
		})
	case queuedInVain:
		w.after(soon, func() { w.sayAsApp(p, p.head, "sage: requests changes") })
	}
}

func (w *teamWeek) dequeue(p *teamPull) {
	if !w.isQueued(p) || sandbox.Dequeue(w.g, p.number) != nil {
		return
	}
	p.note("it leaves the queue")
	w.syncGroups()
}

// buildGroupsFrom has the groups built anew of who is at a place of the queue and of those behind. Who is in the queue no
// more is forgotten.
func (w *teamWeek) buildGroupsFrom(place int) {
	for _, p := range slices.Clone(w.also.queued[place:]) {
		if sandbox.BuildGroup(w.g, p.number, w.newGroupCommit()) != nil {
			w.also.queued = slices.DeleteFunc(w.also.queued, func(o *teamPull) bool { return o == p })
		}
		w.syncGroups()
	}
}

// A teamGroup is a commit of the merge queue.
type teamGroup struct {
	ref      quorum.GroupRef
	pulls    []*teamPull // in their order
	built    time.Time
	begun    time.Time // its check: it may be the first suite on the commit, and tells the age then
	patient  time.Time // faults are borne since
	lookAt   time.Time
	lookedAt time.Time
	looks    int
	state    string // of its check, after the last look
	gone     bool
	isLate   bool // it is said
}

func (g *teamGroup) last() *teamPull { return g.pulls[len(g.pulls)-1] }

func (g *teamGroup) lookBy(at time.Time) {
	if g.lookAt.IsZero() || at.Before(g.lookAt) {
		g.lookAt = at
	}
}

// note notes something in the histories of all that are in the group.
func (g *teamGroup) note(format string, args ...any) {
	for _, p := range g.pulls {
		p.note("group %s: "+format, append([]any{g.ref.Head[:7]}, args...)...)
	}
}

// syncGroups compares the groups with those of GitHub: which are new, and which it has let go of.
func (w *teamWeek) syncGroups() {
	now := sandbox.Groups(w.g)
	isGone := false
	for _, g := range w.also.groups {
		if g.gone || slices.ContainsFunc(now, func(s sandbox.Group) bool { return s.Head == g.ref.Head }) {
			continue
		}
		g.gone, isGone = true, true
		g.note("the queue lets go of it, %q", g.state)
		w.counts["→ groups go"]++
		g.lookAt = w.clock.Add(time.Duration(1+w.also.commits%7) * time.Second) // by an event that is late
	}
	owner, name := w.g.Repository()
	for i, s := range now {
		if slices.ContainsFunc(w.also.groups, func(g *teamGroup) bool { return g.ref.Head == s.Head }) {
			continue
		}
		g := &teamGroup{ref: quorum.GroupRef{Owner: owner, Repo: name, Head: s.Head, Branch: s.Branch}, built: w.clock}
		for _, before := range now[:i+1] {
			g.pulls = append(g.pulls, w.pull(before.Pull))
		}
		if len(g.pulls) > 1 {
			w.counts["→ groups of several"]++
		}
		w.also.groups = append(w.also.groups, g)
		g.note("it is built of %d", len(g.pulls))
		d := g.last().dice
		delay := time.Duration(1+d.IntN(10)) * time.Second
		if d.IntN(15) == 0 {
			delay = time.Duration(60+d.IntN(120)) * time.Second
		}
		g.lookBy(w.clock.Add(delay))
		w.after(time.Duration(180+d.IntN(180))*time.Second, func() { w.mergeGroup(g) })
	}
	if isGone {
		w.after(20*time.Second, func() { w.buildMissingGroups() })
	}
}

// buildMissingGroups has the groups built of those in the queue that have none.
func (w *teamWeek) buildMissingGroups() {
	w.buildGroupsFrom(w.placeWithoutGroup())
}

// placeWithoutGroup is the place of the first in the queue that has no group; the length of the queue if all have one.
func (w *teamWeek) placeWithoutGroup() int {
	for place, p := range w.also.queued {
		hasGroup := func(g *teamGroup) bool { return !g.gone && g.last() == p }
		if p.closed || !slices.ContainsFunc(w.also.groups, hasGroup) {
			return place
		}
	}
	return len(w.also.queued)
}

// lookAtGroupsOf has the groups of a pull request looked at.
func (w *teamWeek) lookAtGroupsOf(p *teamPull, delay time.Duration) {
	for _, g := range w.also.groups {
		if !g.gone && slices.ContainsFunc(g.pulls, func(o *teamPull) bool { return o.head == p.head }) {
			g.lookBy(w.clock.Add(delay))
		}
	}
}

// lookAtGroups looks at the groups that are due.
func (w *teamWeek) lookAtGroups() {
	if !w.rules.queue {
		return
	}
	w.syncGroups()
	for _, g := range w.also.groups {
		if !g.lookAt.IsZero() && !g.lookAt.After(w.clock) {
			w.lookAtGroup(g)
		}
		isOpen := !g.gone && !g.isLate && g.state != "success" && g.state != "failure" && g.state != "action_required"
		if isOpen && w.clock.After(later(g.built, g.begun).Add(groupPatience+groupSlack)) {
			g.isLate = true
			w.fail(g.last(), "a group's check is undecided after ten minutes: %q", g.state)
		}
	}
}

// mistakenQueue makes a mistake in what is read of a merge queue.
type mistakenQueue struct {
	loop.GroupForge
	mutate *teamMutation
}

func (q mistakenQueue) ReadGroup(ctx context.Context, ref quorum.GroupRef) (quorum.MergeGroup, error) {
	g, err := q.GroupForge.ReadGroup(ctx, ref)
	if err == nil && q.mutate.group != nil {
		q.mutate.group(&g)
	}
	return g, err
}

func (w *teamWeek) lookAtGroup(g *teamGroup) {
	g.lookAt = time.Time{}
	if g.looks++; g.looks > maxLooksAtPull {
		w.fail(g.last(), "a group is looked at without end")
		return
	}
	r, err := w.reconciler()
	if err != nil {
		w.fail(g.last(), "%v", err)
		return
	}
	w.looks++
	w.addFault(g.last().dice)
	queue := mistakenQueue{github.QueuesOf(r.Forge.(mistakenForge).Forge.(*github.Forge)), &w.mutate}
	look, err := r.ReconcileGroup(context.Background(), queue, g.ref)
	w.clock = time.Now()
	w.g.ClearFaults()
	w.g.ForgetRequests()
	var temporary interface{ Temporary() bool }
	switch {
	case err == nil:
		g.patient, g.lookedAt = time.Time{}, w.clock
		w.checkGroup(g, look.Decision.Wake)
	case errors.As(err, &temporary) && temporary.Temporary():
		if g.patient.IsZero() {
			g.patient = w.clock
		}
		if w.clock.Sub(g.patient) > groupPatience {
			w.fail(g.last(), "a group cannot be looked at: %v", err)
			return
		}
		g.lookBy(w.clock.Add(2 * time.Second))
	default:
		w.fail(g.last(), "a look at a group fails: %v", err)
	}
}

// checkGroup compares, after a look, what the check on a group's commit says with what is true of its pull requests.
func (w *teamWeek) checkGroup(g *teamGroup, wake time.Time) {
	state := w.stateOf(g.ref.Head, checkName)
	if g.gone {
		if state != g.state && state == "success" {
			w.fail(g.last(), "a group's check turns green after the queue let go of it")
		}
		return
	}
	if !wake.IsZero() {
		g.lookBy(later(wake, w.clock.Add(time.Second)))
	}
	if state != g.state {
		g.note("→ %s", state)
	}
	if g.begun.IsZero() && state != "" {
		g.begun = w.clock
	}
	isNew := state != g.state
	g.state = state
	switch state {
	case "success":
		w.counts["→ groups pass"]++
		if why := g.whyNotGreen(w.clock); why != "" {
			w.fail(g.last(), "a group's commit is green: %s", why)
		}
	case "failure", "action_required":
		if isNew {
			w.counts["→ groups are refused"]++
			if !w.clock.Before(g.built.Add(groupPatience)) {
				w.counts["→ groups wait for ten minutes"]++
			}
			w.after(time.Duration(20+g.last().dice.IntN(60))*time.Second, func() { w.dropRefused(g) })
		}
		if g.mayPass(w.clock) {
			w.fail(g.last(), "a group's commit is %s, and nothing speaks against any of it", state)
		}
	case "":
		w.fail(g.last(), "a look leaves no check on a group's commit")
	}
}

// whyNotGreen says why the group's commit must not be green; "" if it may. A look at a group sees what is there, also
// what no look at a pull request has put into its record.
func (g *teamGroup) whyNotGreen(now time.Time) string {
	for _, p := range g.pulls {
		if p.merged {
			continue
		}
		s := p.team.speaker(p.head, p.base)
		if s == nil {
			return fmt.Sprintf("#%d is closed", p.number)
		}
		var unseen []*objection
		for _, o := range s.objections {
			if !o.seen && !o.said.gone && o.said.head == s.head {
				o.seen = true
				unseen = append(unseen, o)
			}
		}
		why := s.whyNotPass(now)
		for _, o := range unseen {
			o.seen = false
		}
		if why != "" {
			return fmt.Sprintf("#%d: %s", p.number, why)
		}
	}
	return ""
}

// mayPass reports whether all of a group have a green check of their own, which knows all that happened.
func (g *teamGroup) mayPass(now time.Time) bool {
	isGreen := func(p *teamPull) bool {
		return p.merged || !p.closed && !p.murky && p.lookAt.IsZero() && p.checked.head == p.head && p.checked.state == "success"
	}
	return !slices.ContainsFunc(g.pulls, func(p *teamPull) bool { return !isGreen(p) }) && g.whyNotGreen(now) == ""
}

// dropRefused takes out of the queue who joined a group last whose check is red.
func (w *teamWeek) dropRefused(g *teamGroup) {
	if state := w.stateOf(g.ref.Head, checkName); !g.gone && (state == "failure" || state == "action_required") {
		w.dequeue(g.last())
	}
}

// mergeGroup lets the queue merge a group that is green, once nothing has happened that its check cannot know of.
func (w *teamWeek) mergeGroup(g *teamGroup) {
	w.syncGroups()
	if g.gone || w.clock.Sub(g.built) > 40*time.Minute {
		return
	}
	if w.stateOf(g.ref.Head, checkName) != "success" || !g.lookAt.IsZero() {
		w.after(20*time.Second, func() { w.mergeGroup(g) })
		return
	}
	isNew := func(a *attempt) bool { return !a.begun.Before(g.lookedAt) }
	for _, p := range g.pulls {
		if slices.ContainsFunc(p.attempts, isNew) {
			w.after(20*time.Second, func() { w.mergeGroup(g) })
			return
		}
	}
	if why := g.whyNotGreen(w.clock); why != "" {
		w.fail(g.last(), "a group is merged: %s", why)
	}
	if err := sandbox.MergeQueued(w.g, g.last().number); err != nil {
		w.fail(g.last(), "merge a group: %v", err)
		return
	}
	w.counts["→ groups are merged"]++
	w.also.queued = slices.DeleteFunc(w.also.queued, func(p *teamPull) bool { return slices.Contains(g.pulls, p) })
	for _, p := range g.pulls {
		if !p.closed {
			p.closed, p.merged = true, true
			w.counts["→ merged"]++
			w.happened(p, "the queue merges it")
		}
	}
	w.syncGroups()
}

// checkGroupsAtEnd checks that no group has turned green that the queue let go of.
func (w *teamWeek) checkGroupsAtEnd() {
	for _, g := range w.also.groups {
		switch state := w.stateOf(g.ref.Head, checkName); {
		case g.gone && state == "success" && g.state != "success":
			w.fail(g.last(), "in the end a group is green that was not when the queue let go of it")
		case !g.gone:
			w.fail(g.last(), "in the end a group is in the queue, %q", state)
		}
	}
}
