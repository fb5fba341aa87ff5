package story_test

// Outages over many pull requests: while a reviewer is down nobody asks it again but once in a while, on one of them.

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const (
	duringOutage    = "an outage over many"
	outagesThatOpen = 2
	breakerReset    = 10 * time.Minute
)

// breakerNames are what must happen of outages and the breaker.
var breakerNames = []string{
	"an outage of openai, over pull requests", "→ a circuit opens", "→ an attempt is let through while a reviewer is down",
	"→ the next attempt is let through where one has shown nothing",
}

// A voiceHealth is what is known to be wrong with a reviewer's service, since its last answer.
type voiceHealth struct {
	isDoubtful bool // an outage was seen late, or may count or not: the circuit may be another than was thought
	outages    []outageSeen
	isKnown    bool      // the circuit must be open
	lastTry    time.Time // since then
}

type outageSeen struct {
	pull  *teamPull
	head  string
	at    time.Time
	known bool // a look has seen it
}

// breakerOutages are the outages of a week with a breaker, short ones and long ones: so many that the pull requests which
// open in one do not use up what GitHub lets one token do in a minute.
func breakerOutages(begin time.Time, pulls int) (all [][2]time.Time) {
	for i := range max(2, pulls/10) {
		from := begin.Add(4*time.Hour + time.Duration(i)*150*time.Minute)
		all = append(all, [2]time.Time{from, from.Add([...]time.Duration{22 * time.Minute, time.Hour}[i%2])})
	}
	return all
}

// noteHealth notes how an attempt has ended, or that it has said something. Whatever else it is than an outage may be an
// answer, and all may be well.
func (w *teamWeek) noteHealth(a *attempt, isOutage bool) {
	w.noteEnded(a)
	if !isOutage {
		delete(w.also.health, a.voice)
		return
	}
	p := a.pull
	if w.also.health[a.voice] == nil {
		w.also.health[a.voice] = &voiceHealth{}
	}
	h := w.also.health[a.voice]
	isPlain := p.path == "cart.go" && !p.draft && p.base == defaultBase && p.fork == "" && !a.foreign && p.twin == nil
	if !isPlain || a.head != p.head || a.created.Before(p.baseSince) || p.hasUnanswered(a.voice) { // an objection that stands says more
		h.isDoubtful = true
		return
	}
	h.outages = append(h.outages, outageSeen{pull: p, head: a.head, at: w.clock})
}

// noteOutagesSeen notes which outages a look has seen, and whether these are enough to open a circuit.
func (w *teamWeek) noteOutagesSeen(p *teamPull) {
	for _, h := range w.also.health {
		pulls := map[*teamPull]bool{} // none is a stranger's
		for i := range h.outages {
			o := &h.outages[i]
			if o.pull == p && o.head == p.head {
				h.isDoubtful = h.isDoubtful || !o.known && w.clock.Sub(o.at) > time.Minute
				o.known = true
			}
			if !o.known {
				continue
			}
			pulls[o.pull] = true
			h.isKnown = h.isKnown || len(pulls) >= outagesThatOpen
		}
	}
}

// isWatched reports whether what the week's pull requests show of reviewers' services comes together: a job knows one alone.
func (w *teamWeek) isWatched() bool { return w.rules.breaker && !w.rules.asJob }

// isAttack reports whether the next pull request of the week is a fork's of mallory, who wants to switch openai off for the
// others: the first ones are, before anybody else's shows an outage.
func (w *teamWeek) isAttack() bool { return w.isWatched() && len(w.pulls) < outagesThatOpen }

// makeNeedy has a pull request of a week with a breaker need openai, and nothing else happen to it: so what is done for openai
// shows, whatever becomes of the rest.
func (w *teamWeek) makeNeedy(p *teamPull) bool {
	if !w.isWatched() || p.path != "cart.go" || p.draft || p.fork != "" || p.dice.IntN(4) == 0 {
		return false
	}
	p.forced = map[int]string{0: "yes", 1: "yes", 2: "yes", 3: "yes", 4: "yes", 5: "yes"}
	for place := range min(len(voices)-w.rules.need, 2) {
		p.forced[1+place] = "no key"
	}
	w.startReviewers(p)
	return true
}

// noteEnded notes who has shown anything of a reviewer's service in the week: of forks their owners.
func (w *teamWeek) noteEnded(a *attempt) {
	who := cmp.Or(a.pull.fork, fmt.Sprint("#", a.pull.number))
	if name := voices[a.voice].name; !slices.Contains(w.also.shown[name], who) {
		w.also.shown[name] = append(w.also.shown[name], who)
	}
}

// checkOpened checks that nobody opens a circuit alone.
func (w *teamWeek) checkOpened(pr quorum.PR, c quorum.Circuit) {
	w.counts["→ a circuit opens"]++
	if who := w.also.shown[c.Reviewer]; !c.Opened.IsZero() && len(who) < outagesThatOpen {
		w.fail(w.pull(pr.Number), "the circuit of %s is opened by %s alone", c.Reviewer, who)
	}
}

// patience is for how long an attempt that may be let through may not have been: those before it in turn went first, or
// a look failed.
const patience = 3 * time.Minute

// checkPassage checks that a reviewer that is down is asked again no sooner than the policy says, and no later where the
// attempt before has shown nothing.
func (w *teamWeek) checkPassage(p *teamPull, before *attempt, isCommanded bool) {
	h := w.also.health[before.voice]
	if !w.isWatched() || isCommanded || h == nil || !h.isKnown || h.isDoubtful {
		return
	}
	w.counts["→ an attempt is let through while a reviewer is down"]++
	since, least := w.clock.Sub(h.lastTry), breakerReset/2
	hasFailed := slices.ContainsFunc(h.outages, func(o outageSeen) bool { return o.known && o.at.After(h.lastTry) })
	if hasFailed {
		least = breakerReset
	}
	switch name := voices[before.voice].name; {
	case h.lastTry.IsZero():
	case since < least-5*time.Second:
		w.fail(p, "%s is down, and is run again %s after the last attempt", name, since)
	case !hasFailed && since > least+patience && later(before.ended, p.clock).Before(h.lastTry):
		w.fail(p, "%s is run again %s after an attempt that has shown nothing", name, since)
	case !hasFailed:
		w.counts["→ the next attempt is let through where one has shown nothing"]++
	}
	h.lastTry = w.clock
}

// circuitWatch is what the daemon's looks tell one another.
func (w *teamWeek) circuitWatch() loop.CircuitWatch {
	return loop.CircuitWatch{
		Table: &loop.SignMemory{}, Now: time.Now,
		Opened: w.checkOpened,
		Changed: func(held quorum.PR) {
			if p := w.pull(held.Number); p != nil {
				p.lookBy(w.clock.Add(time.Second))
			}
		},
	}
}
