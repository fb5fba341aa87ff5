package quorum

// Which approvals by people fill the places that a policy has for them, and which one stands in for reviewers.

import "slices"

// missingBeside returns what p still asks for beside some approvals. Vouches are none.
func (p People) missingBeside(approvals []StandIn, teams Teams) (left People) {
	for _, r := range p {
		for _, person := range approvals {
			if !person.Vouch && r.isOf(person.Login, teams) {
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
func (p People) filledBy(approvals []StandIn, teams Teams) (filling []StandIn) {
	for _, person := range approvals {
		isOf := func(r PeopleRule) bool { return !person.Vouch && r.isOf(person.Login, teams) }
		if slices.ContainsFunc(p.missingBeside(filling, teams), isOf) {
			filling = append(filling, person)
		}
	}
	return filling
}

// spareApproval returns the approval, of some by their time, that stands in for reviewers: one without which p's
// are there as early as can be, else the first by somebody whom no rule names; false if there is none.
func (p People) spareApproval(approvals []StandIn, teams Teams) (by StandIn, found bool) {
	for n := range approvals {
		for i := range n + 1 {
			if len(p.missingBeside(slices.Delete(slices.Clone(approvals[:n+1]), i, i+1), teams)) == 0 {
				return approvals[i], true
			}
		}
	}
	for _, s := range approvals {
		isNaming := func(r PeopleRule) bool { return len(r.Of) > 0 && r.isOf(s.Login, teams) }
		if s.Vouch || !slices.ContainsFunc(p, isNaming) {
			return s, true
		}
	}
	return StandIn{}, false
}
