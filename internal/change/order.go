package change

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A LaneFault is that a lane asks less where adding to a pull request could lead.
type LaneFault struct {
	Keys  []string // in which it does, as the policy file names them
	Above int      // the lane above than which it asks less, by its index; -1: than the top level, and one more file or label reaches it
}

// FindLaneFault finds a fault of lane i of a policy. Without any, [PolicyFor] keeps the promise of this package: a pull request that
// leaves a lane that asks less never comes to one below that asks less still.
func FindLaneFault(p *quorum.Policy, i int) (fault LaneFault, found bool) {
	lane := &p.Lanes[i]
	adds, less := p.Compare(lane)
	if lane.If.OnlyAdds() {
		less = slices.DeleteFunc(less, func(key string) bool { return slices.Contains(adds, key) })
		return LaneFault{less, -1}, len(less) > 0
	}
	if !quorum.EndsReading(less) {
		return LaneFault{}, false
	}
	inLane := p.InLane(lane)
	for j := range i {
		above := &p.Lanes[j]
		if _, less := p.Compare(above); above.If.OnlyAdds() || !quorum.EndsReading(less) || haveOtherBases(above.If.Base, lane.If.Base) {
			continue
		}
		inAbove := p.InLane(above)
		if less := inLane.LessThan(&inAbove); quorum.EndsReading(less) {
			return LaneFault{less, j}, true
		}
	}
	return LaneFault{}, false
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
