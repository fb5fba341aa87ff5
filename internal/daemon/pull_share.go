package daemon

// What one pull request may use of an installation's hour. Who pushes or speaks without end uses up its own part, and waits a
// little longer each time; the hour stays everybody's.

import (
	"maps"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// An hour has 36 parts. A pull request may use one of them at once, and gets one back in an hour. What it used beyond that
// spaces its looks: by six minutes for each part, and from half a part on until that is given back. So in any hour it uses
// 1 + 0.5 + 1 = 2.5 parts at most, 7 %. Looks that may take a green check away are spaced from three quarters of a part on, by
// two minutes at most up to one and a half, and then until that is given back: 1 + 1.5 + 1 = 3.5 parts, a tenth of an hour. No
// look is put off by more than a quarter of an hour or, if it takes nothing green away, as many as the last one took parts: one
// whose looks cost half a part or more uses up to four parts in an hour, or one such look; if they are urgent, four such looks.
// The same holds for a commit of which GitHub is asked whose it is. Queries count as requests.
const (
	pullPart       = 36
	spacedPart     = 0.5 // beyond one: from here on looks wait until it is given back
	urgentFrom     = 0.75
	mostUrgentPart = 1.5
	spacingOfPart  = 6 * time.Minute
	urgentSpacing  = 2 * time.Minute // what objects must not wait for whoever makes much happen
	longestSpacing = 15 * time.Minute
	mostSpentPart  = 0.25             // in a spent hour: then looks at what may take a green check away are
	spentSpacing   = 20 * time.Minute // so far apart
	manyPullShares = 4096             // of an installation: then those that have got all back are forgotten
)

// A pullShare is what a pull request has used and not yet got back.
type pullShare struct {
	parts float64   // of the hour's pullPart
	last  float64   // of them its last look took
	spent float64   // of them it took in the hour that was spent
	since time.Time // then
	at    time.Time // as of then: the end of its last look
}

// partsAt returns what is left of the use at a moment.
func (p pullShare) partsAt(now time.Time) float64 {
	return max(p.parts-max(now.Sub(p.at), 0).Hours(), 0)
}

// spacing is how long after its last look a pull request is looked at again.
func (p pullShare) spacing(isUrgent bool) time.Duration {
	over := p.parts - 1
	apart, most := over*float64(spacingOfPart), spacedPart
	if isUrgent {
		apart, most = min((over-urgentFrom)*float64(spacingOfPart), float64(urgentSpacing)), mostUrgentPart
	}
	longest := float64(longestSpacing)
	if !isUrgent {
		longest *= max(p.last, 1)
	}
	return time.Duration(min(max(apart, (over-most)*float64(time.Hour), 0), longest))
}

// hasShare reports whether a key has a part of the hour of its own.
func hasShare(w store.Work) bool { return w.Kind == workkey.KindPull || w.Kind == workkey.KindHead }

// endLook ends a look that was admitted, and adds the requests that it used, of those that an hour allows; 0: nobody says how many.
func (b *tenantBook) endLook(w store.Work, admitted time.Time, requests, hour int) {
	t, now := b.open(w.Tenant), b.config.Now()
	defer b.mu.Unlock()
	if t.looks--; hour <= 0 || !hasShare(w) {
		return
	}
	if len(t.shares) >= manyPullShares { // the requests of an hour bound the others
		maps.DeleteFunc(t.shares, func(_ string, p pullShare) bool { return p.partsAt(now) == 0 })
	}
	took := float64(requests) * pullPart / float64(hour)
	was := t.shares[w.Key]
	p := pullShare{parts: was.partsAt(now) + took, last: took, at: now}
	if t.spentUntil.After(admitted) && !admitted.Before(t.spentSince) {
		if p.since = t.spentSince; was.since.Equal(p.since) {
			p.spent = was.spent
		}
		p.spent += took
	}
	t.shares[w.Key] = p
}

// lookedAt returns when GitHub was last asked about a pull request, as far as is remembered. The table's row does not tell: its
// time is also that of events for which nothing was read.
func (b *tenantBook) lookedAt(r store.Row) time.Time {
	t := b.open(r.Tenant)
	defer b.mu.Unlock()
	return t.shares[r.Key].at
}

// nextLook returns when a pull request is looked at again, and how far its looks are apart; zero: at once. In a spent hour one that
// has used a quarter of its part waits longer.
func (t *tenantEntry) nextLook(key string, isUrgent, isSpent bool) (at time.Time, apart time.Duration) {
	p, ok := t.shares[key]
	if !ok {
		return time.Time{}, 0
	}
	at = p.at.Add(p.spacing(isUrgent))
	if isSpent && p.since.Equal(t.spentSince) && p.spent >= mostSpentPart {
		at = laterTime(at, earlierDue(p.at.Add(spentSpacing), t.spentUntil))
	}
	return at, p.spacing(false)
}
