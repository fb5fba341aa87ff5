package config

// From the lanes of the file to those of the policy. What a lane does not say it has from the top level, so its mistakes
// are sought in both together.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

func laneKey(i int) string { return fmt.Sprintf("lanes[%d]", i) }

// lanePhrase names a lane in a message.
func lanePhrase(name string) string { return "lane " + quoteText(name) }

// resolveLanes makes the lanes of a policy whose top level is resolved. It may note mistakes.
func (r policyResolver) resolveLanes(f PolicyKeys, p quorum.Policy) []quorum.Lane {
	if r.brokenKeys["lanes"] || len(f.Lanes) == 0 {
		return nil
	}
	lanes, keysOfLanes := make([]quorum.Lane, 0, len(f.Lanes)), make([]string, 0, len(f.Lanes))
	names := make([]string, 0, len(f.Lanes))
	for i, keys := range f.Lanes {
		key := laneKey(i)
		names = append(names, keys.Name)
		if r.brokenKeys[key] {
			continue // it was no lane at all
		}
		r.checkLaneIf(key, keys.If)
		lane := r.resolveLane(key, keys)
		r.checkLaneVoters(key, keys, p)
		r.checkLanePeople(key, &lane, p)
		lanes, keysOfLanes = append(lanes, lane), append(keysOfLanes, key)
	}
	r.checkNames("lane", names, laneKey)
	if !r.anyBroken("", "reviewers", "quorum", "families", "people", "stand_in") {
		r.checkLess(keysOfLanes, lanes, p)
	}
	return lanes
}

// checkLess refuses lanes that ask less where adding to a pull request could lead.
func (r policyResolver) checkLess(keys []string, lanes []quorum.Lane, p quorum.Policy) {
	p.Lanes = lanes
	for i := range lanes {
		less, j, found := change.LessThanAbove(&p, i)
		if !found {
			continue
		}
		at := r.firstSaid(keys[i]+"."+less[0], keys[i])
		what := fmt.Sprintf("%s asks less in %s than", lanePhrase(lanes[i].Name), strings.Join(less, ", "))
		above := lanes[j].Name
		hint := fmt.Sprintf("move %s above %s: what asks least comes first", quoteText(lanes[i].Name), quoteText(above))
		swapped := p
		swapped.Lanes = []quorum.Lane{lanes[i], lanes[j]}
		if _, _, isFaulty := change.LessThanAbove(&swapped, 1); isFaulty {
			hint = "each of the two asks less than the other in some key: have both ask the same, or give them bases of their own"
		}
		r.failKey(at, fmt.Sprintf("%s %s above it: adding a file could move a pull request from there to here", what, lanePhrase(above)),
			hint)
	}
}

// resolveLane makes a lane of what its keys say; nil stays what they do not.
func (r policyResolver) resolveLane(key string, keys LaneKeys) quorum.Lane {
	has := func(name string) bool { return r.hasKey(key + "." + name) }
	return quorum.Lane{
		Name: keys.Name, Why: keys.Why, If: keys.If.condition(), Voters: keys.Reviewers,
		Need:       ifHas(has("quorum"), quorum.NeedRule(keys.Quorum)),
		People:     ifHas(has("people"), keys.People.asRules()),
		Grace:      ifHas(has("grace"), time.Duration(keys.Grace)),
		Timeout:    ifHas(has("timeout"), time.Duration(keys.Timeout)),
		Deadline:   ifHas(has("deadline"), time.Duration(keys.Deadline)),
		EarlyStart: ifHas(has("early_start"), keys.EarlyStart),
		StandIn:    ifHas(has("stand_in"), permissions[keys.StandIn]),
		Override:   ifHas(has("override"), permissions[keys.Override]),
		OwnChange:  ifHas(has("own_change"), keys.OwnChange == ownByStandIn),
		Threads:    ifHas(has("threads"), threadEnders[keys.Threads]),
	}
}

func ifHas[T any](has bool, value T) *T {
	if !has {
		return nil
	}
	return &value
}

// condition returns the conditions of a lane or a reviewer as the core's.
func (keys ConditionKeys) condition() quorum.Condition {
	return quorum.Condition{
		AllPaths: textsOf(keys.AllPaths), AnyPath: textsOf(keys.AnyPath), Base: textsOf(keys.Base),
		Authors: textsOf(keys.Authors), Labels: textsOf(keys.Labels),
	}
}

// checkLaneIf refuses a lane that every pull request would be in.
func (r policyResolver) checkLaneIf(key string, keys ConditionKeys) {
	ifKey := key + ".if"
	if r.brokenKeys[ifKey] || r.anyBroken(ifKey+".", keysOf(reflect.TypeFor[ConditionKeys]())...) {
		return
	}
	if isEmptied := r.checkEmptyLists(ifKey, keys); isEmptied || keys.condition().Names() {
		r.checkCondition(ifKey, keys)
		return
	}
	at := r.firstSaid(ifKey, key)
	r.failKey(at, "no condition: every pull request would be in this lane",
		"add if: with all_paths:, any_path:, authors:, labels: or base:")
	r.brokenKeys[at] = at == ifKey // the rest of the lane is still looked at
}

// checkEmptyLists refuses a list that somebody has emptied: the condition would then hold for more than it did.
func (r policyResolver) checkEmptyLists(key string, keys ConditionKeys) (found bool) {
	for field, list := range reflect.ValueOf(keys).Fields() {
		if at := key + "." + field.Tag.Get("yaml"); r.hasKey(at) && list.Len() == 0 {
			r.failKey(at, "the list is empty, and would be no condition at all", "name at least one, or remove the key")
			found = true
		}
	}
	return found
}

// checkCondition refuses accounts and bases that no pull request has, and warns of lists that match nothing.
func (r policyResolver) checkCondition(key string, keys ConditionKeys) {
	for i, login := range keys.Authors {
		at := fmt.Sprintf("%s.authors[%d]", key, i)
		r.checkLogin(at, login)
		r.failIf(slices.Contains(onlyBots, strings.ToLower(login)), at,
			fmt.Sprintf("%s is an App, whose account ends with [bot]", quoteText(login)),
			fmt.Sprintf(`write "%s[bot]"`, cleanText(login, 40)))
	}
	r.checkPatterns(key+".all_paths", keys.AllPaths)
	r.checkPatterns(key+".any_path", keys.AnyPath)
	r.checkPatterns(key+".base", keys.Base)
	for i, base := range keys.Base {
		if branch, isRef := strings.CutPrefix(strings.TrimPrefix(string(base), "!"), "refs/heads/"); isRef {
			r.failKey(fmt.Sprintf("%s.base[%d]", key, i), "a base is the name of a branch",
				fmt.Sprintf("write %q", cleanText(branch, 60)))
		}
	}
}

// onlyBots are names that only an App's account has. Source: GitHub reserves dependabot and github-actions for its own Apps.
var onlyBots = []string{"dependabot", "github-actions", "copilot-swe-agent"}

// checkLaneVoters refuses voters that there are not, and a number of approvals that they cannot give.
func (r policyResolver) checkLaneVoters(key string, keys LaneKeys, p quorum.Policy) {
	at := key + ".reviewers"
	if r.brokenKeys[at] || r.brokenKeys["reviewers"] || !r.votersAreKnown(p) {
		return
	}
	isNamed, voters, need := r.hasKey(at), p.Reviewers, p.Rules[0]
	if isNamed {
		if voters = r.findLaneVoters(at, keys.Reviewers, p.Reviewers); voters == nil {
			return
		}
	}
	if keys.If.condition().OnlyAdds() {
		isNamed, voters = false, p.Reviewers // who is named there counts for nothing
	}
	switch {
	case r.hasKey(key + ".quorum"):
		need, at = quorum.NeedRule(keys.Quorum), key+".quorum"
	case !isNamed:
		return // the top level's quorum of all voters was looked at there
	}
	most := p.CountVoters(voters)
	r.failIf(need.Count > most && !r.anyBroken("", at, "quorum", "families"), at,
		fmt.Sprintf("a quorum of %d can never be reached in this lane: %s", need.Count, votersPhrase(p, voters)),
		fmt.Sprintf("write quorum: %s, majority or all, or let more reviewers vote", numbersUpTo(most)))
}

func numbersUpTo(most int) string {
	if most == 1 {
		return "1"
	}
	return fmt.Sprintf("%d or less", most)
}

// findLaneVoters returns the reviewers that a lane names. Unless all of them are known and one votes it returns nil, and notes why.
func (r policyResolver) findLaneVoters(key string, names []string, reviewers []quorum.Reviewer) (voters []quorum.Reviewer) {
	areKnown := true
	for j, name := range names {
		at := fmt.Sprintf("%s[%d]", key, j)
		q, isSeat := r.findSeat(at, name, reviewers)
		if areKnown = areKnown && isSeat; !isSeat {
			continue
		}
		r.failIf(slices.Contains(names[:j], name), at, quoteText(name)+" stands here again", "remove it")
		voters = append(voters, q)
	}
	if areKnown && slices.ContainsFunc(voters, quorum.Reviewer.Voter) {
		return voters
	}
	r.failIf(areKnown, key, "nobody votes in this lane: every reviewer that it names is a shadow or retired", "name one whose vote counts")
	return nil
}

// checkLanePeople refuses people that a lane asks for and that nobody could be, be it by its own stand_in or by the top
// level's.
func (r policyResolver) checkLanePeople(key string, lane *quorum.Lane, p quorum.Policy) {
	isTold := len(p.People) > 0 && p.StandIn == 0
	if isTold || r.anyBroken("", "stand_in", "people") || r.anyBroken(key, ".stand_in", ".people") {
		return
	}
	inLane := p.InLane(lane)
	if len(inLane.People) == 0 || inLane.StandIn != 0 {
		return
	}
	at := r.firstSaid(key+".stand_in", key+".people")
	tell := r.failKey
	if r.isTightened { // what is enforced may have come later: the lane waits for somebody, and the file holds
		tell = r.warnKey
	}
	tell(at, peoplePhrase(inLane.People)+" can never be had in this lane: stand_in: none lets nobody approve",
		"have somebody stand in: stand_in says who, here, at the top level or in the organisation's policy")
}
