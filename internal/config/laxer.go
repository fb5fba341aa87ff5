package config

// What asks less. A lane that asks less than the top level holds only where no contributor can choose it.

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// NamedBases returns the bases that a lane names without a pattern: beside the default branch, a laxer one holds against
// them alone.
func NamedBases(lane *quorum.Lane) []string {
	list, err := pathfilter.CompileAll(lane.If.Base)
	if err != nil {
		return nil // unreachable: a policy with such a pattern has a mistake
	}
	return slices.DeleteFunc(slices.Clone(lane.If.Base), func(base string) bool { return !pathfilter.IsName(base) || !list.Match(base) })
}

// isLaxer reports whether a key of the lane asks less than the top level.
func isLaxer(p quorum.Policy, lane *quorum.Lane) bool {
	inLane := p.InLane(lane)
	return asksLessOfVoters(inLane, p) || len(keysThatAskLess(inLane, p)) > 0 ||
		inLane.Grace < p.Grace || inLane.Timeout < p.Timeout || inLane.Deadline < p.Deadline
}

// asksLessOfVoters reports whether p asks for fewer approvals than q, of some number of voters that there may be.
func asksLessOfVoters(p, q quorum.Policy) bool {
	for voters := leastVoters(q); voters <= countDistinct(q, q.Reviewers); voters++ {
		if p.NeedOf(voters) < q.NeedOf(voters) {
			return true
		}
	}
	return false
}

// leastVoters counts those who vote on every pull request.
func leastVoters(p quorum.Policy) int {
	always := slices.DeleteFunc(slices.Clone(p.Reviewers), func(r quorum.Reviewer) bool { return r.When.Names() })
	return countDistinct(p, always)
}

// keysThatAskLess returns the keys in which p asks less than q, but for the waits and the quorum.
func keysThatAskLess(p, q quorum.Policy) (keys []string) {
	if leavesOutVoter(p, q) {
		keys = append(keys, "reviewers")
	}
	if p.People < q.People {
		keys = append(keys, "people")
	}
	if p.StandIn.IsWider(q.StandIn) {
		keys = append(keys, "stand_in")
	}
	if p.Override.IsWider(q.Override) {
		keys = append(keys, "override")
	}
	if p.Threads == quorum.ByAnyone && q.Threads != quorum.ByAnyone {
		keys = append(keys, "threads")
	}
	return keys
}

// leavesOutVoter reports whether somebody votes under q and not under p.
func leavesOutVoter(p, q quorum.Policy) bool {
	for i, r := range q.Reviewers {
		if r.Voter() && !p.Reviewers[i].Voter() {
			return true
		}
	}
	return false
}
