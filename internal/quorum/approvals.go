package quorum

// Which approvals by people fill the places that a policy has for them, and which one stands in for reviewers.

import (
	"slices"
	"strings"
)

// missingBeside returns what p still asks for beside some approvals. A vouch is none: only where nobody else may write, so that nobody
// without a hand in the change can approve, does it take the place of all.
func (p People) missingBeside(approvals []StandIn, f Facts) (left People) {
	for _, r := range p {
		for _, person := range approvals {
			switch {
			case person.Vouch && strings.EqualFold(person.Login, f.OnlyWriter):
				r.Count = 0
			case !person.Vouch && r.isOf(person.Login, f.Teams):
				r.Count--
			}
		}
		if r.Count > 0 {
			left = append(left, r)
		}
	}
	return left
}

// filledBy returns those of some approvals, in their order, that p asks for.
func (p People) filledBy(approvals []StandIn, f Facts) (filling []StandIn) {
	for _, person := range approvals {
		isOf := func(r PeopleRule) bool { return People{r}.missingBeside([]StandIn{person}, f).Least() < r.Count }
		if slices.ContainsFunc(p.missingBeside(filling, f), isOf) {
			filling = append(filling, person)
		}
	}
	return filling
}

// spareApproval returns the approval, of some by their time, that stands in for reviewers: one without which p's
// are there as early as can be, else the first by somebody whom no rule names; false if there is none.
func (p People) spareApproval(approvals []StandIn, f Facts) (by StandIn, found bool) {
	for n := range approvals {
		for i := range n + 1 {
			if len(p.missingBeside(slices.Delete(slices.Clone(approvals[:n+1]), i, i+1), f)) == 0 {
				return approvals[i], true
			}
		}
	}
	for _, s := range approvals {
		isNaming := func(r PeopleRule) bool { return len(r.Of) > 0 && r.isOf(s.Login, f.Teams) }
		if s.Vouch || !slices.ContainsFunc(p, isNaming) {
			return s, true
		}
	}
	return StandIn{}, false
}
