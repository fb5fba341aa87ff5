package config

// What a policy may say of lanes and conditions and is likely to be regretted: a lane that never gets a turn, one that
// hides a stricter one, keys that count for nothing. Only what can be proved is told, with an example where there is one.

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
	left   int          // how much more is compared: a file may try to be a burden
	idle   map[int]bool // lanes that nothing can reach
}

const maxComparisons = 2_000_000 // bytes of one condition's patterns times those of another

// warnOfLanes warns of lanes, and of the conditions of reviewers.
func (c *laneChecker) warnOfLanes() {
	c.left, c.idle = maxComparisons, map[int]bool{}
	for i := range c.policy.Lanes {
		lane := &c.policy.Lanes[i]
		c.warnOfLaneIf(laneKey(i), lane)
		c.warnOfLaneVoters(laneKey(i), lane)
		c.warnOfLaneWaits(laneKey(i), lane)
		if lane.Adds() {
			c.warnOfUselessKeys(laneKey(i), lane)
		} else {
			c.warnOfLanesAbove(i)
		}
	}
	for i, q := range c.policy.Reviewers {
		c.warnOfWhen(reviewerKey(i)+".when", q)
	}
	c.warnOfFewVoters()
}

// warnOfLaneIf warns of a condition that holds nowhere, or where nobody wants it to.
func (c *laneChecker) warnOfLaneIf(key string, lane *quorum.Lane) {
	cond, who := lane.If, lanePhrase(lane.Name)
	if len(cond.Paths) > 0 && len(cond.AnyPath) > 0 && pathfilter.AreDisjoint(cond.Paths, cond.AnyPath) {
		c.warnKey(
			key+".if.any_path",
			who+" can match nothing: every changed path must match paths, and none of those matches any_path",
			"keep one of the two, or make two lanes of it",
		)
	}
	if !lane.Laxer || lane.Adds() {
		return
	}
	if len(cond.AnyPath) > 0 && len(cond.Paths) == 0 {
		c.warnKey(
			key+".if.any_path",
			fmt.Sprintf("%s asks less than the top level as soon as one path matches, whatever else is changed beside it", who),
			"write paths in place of any_path: then every changed path must match",
		)
	}
	if len(cond.Base) > 0 && !slices.ContainsFunc(cond.Base, pathfilter.IsName) {
		c.warnKey(
			key+".if.base",
			who+" asks less than the top level, so a pattern of its base counts for the default branch only: anybody may name a branch so",
			"name the branches, or leave out base for the default branch",
		)
	}
	if i := slices.IndexFunc(cond.Authors, func(login string) bool { return !strings.HasSuffix(login, "[bot]") }); i >= 0 {
		c.warnKey(
			fmt.Sprintf("%s.if.authors[%d]", key, i),
			fmt.Sprintf("%s asks less for all that %s writes: who has that account needs less of a review", who, quoteText(cond.Authors[i])),
			"leave people out of the authors of a lane that asks less; the account of an App ends with [bot], as in "+quoteText(cond.Authors[i]+"[bot]"),
		)
	}
}

// warnOfLaneVoters warns of a reviewer that a lane names and that has no vote.
func (c *laneChecker) warnOfLaneVoters(key string, lane *quorum.Lane) {
	if lane.Adds() {
		return // told as a key that counts for nothing
	}
	for j, name := range lane.Voters {
		i := slices.IndexFunc(c.policy.Reviewers, func(q quorum.Reviewer) bool { return q.Name == name })
		if i >= 0 && !c.policy.Reviewers[i].MayVote() {
			c.warnKey(
				fmt.Sprintf("%s.reviewers[%d]", key, j),
				reviewerPhrase(c.policy.Reviewers[i])+" has no vote in any lane: it is a shadow or retired",
				"remove it here, or shadow: there",
			)
		}
	}
}

// warnOfLaneWaits warns of waits of a lane that end before anything can come of them.
func (c *laneChecker) warnOfLaneWaits(key string, lane *quorum.Lane) {
	p := c.policy.InLane(lane)
	for _, wait := range []struct {
		name string
		own  *time.Duration
	}{{"timeout", lane.Timeout}, {"deadline", lane.Deadline}} {
		if wait.own != nil && *wait.own < leastAttempt {
			c.warnKey(
				key+"."+wait.name,
				fmt.Sprintf("%s (%s) is over before a run has begun: GitHub takes longer to find it a runner", wait.name, Duration(*wait.own)),
				"write some minutes, or leave it out for the top level's",
			)
		}
	}
	for _, wait := range []struct {
		name  string
		own   *time.Duration
		holds time.Duration
	}{{"timeout", lane.Timeout, p.Timeout}, {"grace", lane.Grace, p.Grace}} {
		if wait.holds <= p.Deadline || wait.own == nil && (lane.Deadline == nil || wait.holds > c.policy.Deadline) {
			continue
		}
		at := wait.name
		if wait.own == nil {
			at = "deadline"
		}
		c.warnKey(
			key+"."+at,
			fmt.Sprintf("in this lane %s (%s) is longer than deadline (%s), which ends everything",
				wait.name, Duration(wait.holds), Duration(p.Deadline)),
			"shorten "+wait.name+" or lengthen deadline",
		)
	}
	if c.policy.Reroll == quorum.RerollPerson && p.Override == 0 {
		c.warnKey(
			key+".override",
			"reroll: person takes a person's word, and in this lane nobody may give it: an objection without threads can never end",
			"write override: maintain or admin",
		)
	}
}

// warnOfUselessKeys warns of the keys of a lane that labels or size choose: what does not ask for more than some other
// lane, or the top level, counts for nothing there.
func (c *laneChecker) warnOfUselessKeys(key string, lane *quorum.Lane) {
	keys := c.keysThatAdd(lane)
	for _, own := range keys {
		if own.adds {
			continue
		}
		hint := "remove it, or ask for more"
		if own.name == "reviewers" || own.name == "early_start" {
			hint = "remove it: who may set a label must not choose who votes"
		}
		c.warnKey(
			key+"."+own.name,
			fmt.Sprintf("%s counts for nothing: labels or size choose %s, and it can only ask for more", own.name, lanePhrase(lane.Name)),
			hint,
		)
	}
	if len(keys) == 0 {
		c.warnKey(
			key,
			lanePhrase(lane.Name)+" changes nothing: it has no key that asks for more",
			"add people:, or a larger quorum:",
		)
	}
}

// A laneKeyUse says whether a key that a lane has can ask for more somewhere.
type laneKeyUse struct {
	name string
	adds bool
}

// keysThatAdd returns the keys that a lane has, each with whether it asks for more than the top level or one of the lanes.
func (c *laneChecker) keysThatAdd(lane *quorum.Lane) (keys []laneKeyUse) {
	without := []quorum.Policy{c.policy}
	for i := range c.policy.Lanes {
		if other := &c.policy.Lanes[i]; !other.Adds() {
			without = append(without, c.policy.InLane(other))
		}
	}
	add := func(name string, isNamed bool, asksMore func(p quorum.Policy) bool) {
		if isNamed {
			keys = append(keys, laneKeyUse{name: name, adds: slices.ContainsFunc(without, asksMore)})
		}
	}
	never := func(quorum.Policy) bool { return false }
	add("quorum", lane.Need != nil, func(p quorum.Policy) bool {
		return asksLessOfVoters(p, quorum.Policy{Rules: []quorum.NeedRule{*lane.Need}, Families: p.Families, Reviewers: c.policy.Reviewers})
	})
	add("people", lane.People != nil, func(p quorum.Policy) bool { return *lane.People > p.People })
	add("reviewers", lane.Voters != nil, never)
	add("grace", lane.Grace != nil, func(p quorum.Policy) bool { return *lane.Grace > p.Grace })
	add("timeout", lane.Timeout != nil, func(p quorum.Policy) bool { return *lane.Timeout > p.Timeout })
	add("deadline", lane.Deadline != nil, func(p quorum.Policy) bool { return *lane.Deadline > p.Deadline })
	add("early_start", lane.EarlyStart != nil, never)
	add("stand_in", lane.StandIn != nil, func(p quorum.Policy) bool { return p.StandIn.IsWider(*lane.StandIn) })
	add("override", lane.Override != nil, func(p quorum.Policy) bool { return p.Override.IsWider(*lane.Override) })
	add("threads", lane.Threads != nil, func(p quorum.Policy) bool { return *lane.Threads < p.Threads })
	return keys
}

// warnOfWhen warns of a reviewer that votes nowhere, or only where somebody lets it.
func (c *laneChecker) warnOfWhen(key string, q quorum.Reviewer) {
	if !q.MayVote() {
		return
	}
	if len(q.When.Paths) > 0 && pathfilter.Covers(q.When.NotPaths, q.When.Paths) {
		c.warnKey(
			key+".not_paths",
			reviewerPhrase(q)+" votes nowhere: not_paths takes away all of paths",
			"take less away, or write shadow: true",
		)
	}
	if len(q.When.Labels) > 0 {
		c.warnKey(
			key+".labels",
			fmt.Sprintf("whoever may set labels chooses whether %s votes", reviewerPhrase(q)),
			"choose by paths or base, or ask for more in a lane with labels",
		)
	}
}

// warnOfFewVoters warns of pull requests on which fewer vote than must approve.
func (c *laneChecker) warnOfFewVoters() {
	least := leastVoters(c.policy)
	need := c.policy.NeedOf(least)
	if need <= least {
		return
	}
	key := "quorum"
	if !c.hasKey(key) {
		key = "reviewers"
	}
	helpers := "only people can make it green"
	if c.policy.StandIn == 0 {
		helpers = "nothing can make it green"
	}
	c.warnKey(
		key,
		fmt.Sprintf("a pull request for which no when: holds needs %s and has %s: %s",
			countedNoun(need, "approval"), countedNoun(least, "voter"), helpers),
		"take when: from one more reviewer, ask for fewer, or name those pull requests in a lane with quorum: none",
	)
}

func countedNoun(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
