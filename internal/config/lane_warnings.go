package config

// What a policy may say of lanes and conditions and is likely to be regretted: a lane that changes nothing, waits that are over before
// anything can come of them.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A laneChecker warns of the lanes of a policy that has no mistakes.
type laneChecker struct {
	policyResolver
	policy quorum.Policy
}

// warnOfLanes warns of lanes, and of the conditions of reviewers.
func (c *laneChecker) warnOfLanes() {
	for i := range c.policy.Lanes {
		lane := &c.policy.Lanes[i]
		sure := *lane
		sure.If = quorum.Condition{}
		adds, less := c.policy.Compare(&sure)
		switch vain := slices.DeleteFunc(slices.Clone(less), func(key string) bool { return slices.Contains(adds, key) }); {
		case len(adds)+len(less) == 0:
			c.warnKey(laneKey(i), lanePhrase(lane.Name)+" asks what the top level asks",
				"add people:, or another quorum:")
		case lane.If.OnlyAdds() && len(vain) > 0:
			what := lanePhrase(lane.Name) + " asks less in " + strings.Join(vain, ", ")
			c.warnKey(laneKey(i)+"."+vain[0],
				what+", and one more file or label reaches it: that counts for nothing, for such a lane can only ask for more",
				"remove what asks less, or choose by all_paths, authors or base")
		case !lane.If.OnlyAdds() && len(less) > 0:
			c.warnOfLess(laneKey(i), lane)
		}
		c.warnOfLaneVoters(laneKey(i), lane)
		c.warnOfLaneWaits(laneKey(i), lane)
	}
	for i, q := range c.policy.Reviewers {
		c.warnOfWhen(reviewerKey(i)+".when", q)
	}
	c.warnOfFewVoters()
}

// warnOfLess warns of a lane that asks less, and does so nowhere, or for whom nobody wants it to.
func (c *laneChecker) warnOfLess(key string, lane *quorum.Lane) {
	cond, who := lane.If, lanePhrase(lane.Name)
	c.warnIf(len(cond.Base) > 0 && !slices.ContainsFunc(cond.Base, pathfilter.IsName), key+".if.base",
		who+" asks less than the top level, so a pattern of its base counts for the default branch only: anybody may name a branch so",
		"name the branches, or leave out base for the default branch")
	if i := slices.IndexFunc(cond.Authors, func(login string) bool { return strings.EqualFold(login, quorum.ActionsBot) }); i >= 0 {
		c.warnKey(fmt.Sprintf("%s.if.authors[%d]", key, i),
			fmt.Sprintf("%s asks less for all that a workflow commits and opens, on any branch: whoever may push may write one", who),
			"name an App that only does what the lane is for")
	}
	if i := slices.IndexFunc(cond.Authors, func(login string) bool { return !strings.HasSuffix(login, "[bot]") }); i >= 0 {
		author := cond.Authors[i]
		c.warnKey(fmt.Sprintf("%s.if.authors[%d]", key, i),
			fmt.Sprintf("%s asks less for all that %s writes: who has that account needs less of a review", who, quoteText(author)),
			"leave people out of the authors of a lane that asks less; the account of an App ends with [bot], as in "+quoteText(author+"[bot]"))
	}
}

// warnOfLaneVoters warns of a reviewer that a lane names and that has no vote.
func (c *laneChecker) warnOfLaneVoters(key string, lane *quorum.Lane) {
	for j, name := range lane.Voters {
		i := slices.IndexFunc(c.policy.Reviewers, func(q quorum.Reviewer) bool { return q.Name == name })
		if i >= 0 && !c.policy.Reviewers[i].MayVote() {
			c.warnKey(fmt.Sprintf("%s.reviewers[%d]", key, j),
				reviewerPhrase(c.policy.Reviewers[i])+" has no vote in any lane: it is a shadow or retired",
				"remove it here, or shadow: there")
		}
	}
}

// warnOfLaneWaits warns of waits of a lane that end before anything can come of them, or after everything.
func (c *laneChecker) warnOfLaneWaits(key string, lane *quorum.Lane) {
	p := c.policy.InLane(lane)
	c.warnShort(key+".timeout", "timeout", Duration(p.Timeout), "the top level's")
	c.warnShort(key+".deadline", "deadline", Duration(p.Deadline), "the top level's")
	for _, wait := range []struct {
		name  string
		holds time.Duration
	}{{"timeout", p.Timeout}, {"grace", p.Grace}} {
		keys := []string{key + "." + wait.name}
		if wait.holds <= c.policy.Deadline { // else the top level says so
			keys = append(keys, key+".deadline")
		}
		c.warnLong(keys, "in this lane "+wait.name, wait.name, Duration(wait.holds), Duration(p.Deadline))
	}
}

// warnOfWhen warns of a reviewer that votes only where somebody lets it.
func (c *laneChecker) warnOfWhen(key string, q quorum.Reviewer) {
	c.warnIf(q.MayVote() && len(q.When.Labels) > 0, key+".labels",
		fmt.Sprintf("whoever may set labels chooses whether %s votes", reviewerPhrase(q)),
		"choose by any_path or base, or ask for more in a lane with labels")
}

// warnOfFewVoters warns of pull requests on which fewer vote than must approve.
func (c *laneChecker) warnOfFewVoters() {
	least, _ := c.policy.CountAnyVoters()
	need := c.policy.NeedOf(least)
	if need <= least {
		return
	}
	helpers := "only people can make it green"
	if c.policy.StandIn == 0 {
		helpers = "nothing can make it green"
	}
	c.warnKey(c.firstSaid("quorum", "reviewers"),
		fmt.Sprintf("a pull request for which no when: holds needs %s and has %s: %s",
			countNoun(need, "approval"), countNoun(least, "voter"), helpers),
		"take when: from one more reviewer, ask for fewer, or name those pull requests in a lane with quorum: none")
}
