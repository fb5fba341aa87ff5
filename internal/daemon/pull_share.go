package daemon

// What one pull request may use of an installation's hour. Who pushes or speaks without end uses up its own part, and waits a
// little longer each time; the hour stays everybody's.

import (
	"sync"
	"time"
)

// What a pull request uses of an hour is given back in an hour, one part of pullPart of it. As much may have come at once;
// beyond that its looks are spaced, the farther the more there are, and where half a part more is used, until that is given
// back. For looks that may take a green check away that begins three quarters of a part later and ends at two minutes, until
// it has used one and a half. So it is about a tenth of an hour at most, in any hour, unless one look uses most of a part: none
// waits for longer than a quarter of an hour. The same holds for a commit of which GitHub is asked whose it is.
const (
	pullPart       = 36
	spacedPart     = 0.5
	urgentPart     = 0.75
	mostUrgentPart = 1.5
	spacingOfPart  = 6 * time.Minute
	urgentSpacing  = 2 * time.Minute  // of those looks, until so much is used: what objects must not wait for whoever makes much happen
	longestSpacing = 15 * time.Minute // of any
	maxPullShares  = 4096
)

// pullShares remembers what pull requests have used. It may be used by several goroutines.
type pullShares struct {
	mu     sync.Mutex
	byPull map[string]pullShare
}

// A pullShare is what a pull request has used and not yet got back.
type pullShare struct {
	parts float64   // of the hour's pullPart
	at    time.Time // as of then: the end of its last look
}

func newPullShares() *pullShares { return &pullShares{byPull: map[string]pullShare{}} }

// partsAt returns what is left of the use at a moment.
func (p pullShare) partsAt(now time.Time) float64 {
	return max(p.parts-max(now.Sub(p.at), 0).Hours(), 0)
}

// spacing is how long after its last look a pull request is looked at again.
func (p pullShare) spacing(isUrgent bool) time.Duration {
	over := p.parts - 1
	apart, most := over*float64(spacingOfPart), spacedPart
	if isUrgent {
		apart, most = min((over-urgentPart)*float64(spacingOfPart), float64(urgentSpacing)), mostUrgentPart
	}
	return time.Duration(min(max(apart, (over-most)*float64(time.Hour), 0), float64(longestSpacing)))
}

// noteUse adds requests that a look at a pull request has used, of those that an hour allows; 0: nobody says how many.
func (s *pullShares) noteUse(key string, requests, hour int, now time.Time) {
	if hour <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byPull) >= maxPullShares {
		s.forgetIdle(now)
	}
	s.byPull[key] = pullShare{s.byPull[key].partsAt(now) + float64(requests)*pullPart/float64(hour), now}
}

// forgetIdle forgets those that have used little; all, if they are too many still. s.mu is held.
func (s *pullShares) forgetIdle(now time.Time) {
	for key, p := range s.byPull {
		if p.partsAt(now) < 0.5 {
			delete(s.byPull, key)
		}
	}
	if len(s.byPull) >= maxPullShares {
		clear(s.byPull)
	}
}

// lookedAt returns when a pull request was looked at last, as far as is remembered.
func (s *pullShares) lookedAt(key string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byPull[key].at
}

// next returns when a pull request is looked at again, and how far its looks are apart; zero: at once.
func (s *pullShares) next(key string, isUrgent bool) (at time.Time, apart time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.byPull[key]
	if !ok {
		return time.Time{}, 0
	}
	return p.at.Add(p.spacing(isUrgent)), p.spacing(false)
}
