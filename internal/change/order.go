package change

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// LessThanAbove finds the keys in which lane i of a policy asks less than a lane above it that asks less, too. Without any, [PolicyFor]
// keeps the promise of this package: a pull request that leaves a lane that asks less never comes to one that asks less still.
func LessThanAbove(p *quorum.Policy, i int) (keys []string, above int, found bool) {
	lane := &p.Lanes[i]
	if _, less := p.Compare(lane); !quorum.EndsReading(less) {
		return nil, 0, false
	}
	inLane := p.InLane(lane)
	for j := range i {
		above := &p.Lanes[j]
		if _, less := p.Compare(above); !quorum.EndsReading(less) || haveOtherBases(above.If.Base, lane.If.Base) {
			continue
		}
		inAbove := p.InLane(above)
		if keys := inLane.LessThan(&inAbove); quorum.EndsReading(keys) {
			return keys, j, true
		}
	}
	return nil, 0, false
}

// haveOtherBases reports whether it is sure that no branch matches both lists. Where both name patterns, the default branch may.
func haveOtherBases(a, b []string) bool {
	isOther := func(names, patterns []string) bool {
		return len(names) > 0 && len(patterns) > 0 && !slices.ContainsFunc(names, func(name string) bool {
			return !pathfilter.IsName(name) || matchesAny(patterns, name)
		})
	}
	return isOther(a, b) || isOther(b, a)
}
