package story_test

// Outages over many pull requests: while a reviewer is down nobody asks it again but once in a while, on one of them.

import (
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
		authors := map[string]bool{}
		for i := range h.outages {
			o := &h.outages[i]
			if o.pull == p && o.head == p.head {
				h.isDoubtful = h.isDoubtful || !o.known && w.clock.Sub(o.at) > time.Minute
				o.known = true
			}
			if !o.known {
				continue
			}
			authors[o.pull.author] = true
			h.isKnown = h.isKnown || len(authors) >= outagesThatOpen
		}
	}
}

// checkPassage checks that a reviewer that is down is asked again no sooner than the policy says.
func (w *teamWeek) checkPassage(p *teamPull, before *attempt, isCommanded bool) {
	h := w.also.health[before.voice]
	if !w.rules.breaker || w.rules.asJob || isCommanded || h == nil || !h.isKnown || h.isDoubtful {
		return
	}
	w.counts["→ an attempt is let through while a reviewer is down"]++
	if since := w.clock.Sub(h.lastTry); !h.lastTry.IsZero() && since < breakerReset-5*time.Second {
		w.fail(p, "%s is down, and is run again %s after the last attempt", voices[before.voice].name, since)
	}
	h.lastTry = w.clock
}

// circuitWatch is what the daemon's looks tell one another.
func (w *teamWeek) circuitWatch() loop.CircuitWatch {
	return loop.CircuitWatch{
		Table: &loop.SignMemory{}, Now: time.Now,
		Opened: func(quorum.PR, quorum.Circuit) { w.counts["→ a circuit opens"]++ },
		Changed: func(held quorum.PR) {
			if p := w.pull(held.Number); p != nil {
				p.lookBy(w.clock.Add(time.Second))
			}
		},
	}
}
