package config

// From the lanes of the file to those of the policy. What a lane does not say it has from the top level, so its mistakes
// are sought in both together.

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	lanes := make([]quorum.Lane, 0, len(f.Lanes))
	for i, keys := range f.Lanes {
		key := laneKey(i)
		if r.brokenKeys[key] {
			continue // it was no lane at all
		}
		r.checkLaneIf(key, keys.If)
		lane := r.resolveLane(key, keys)
		r.checkLaneVoters(key, keys, p)
		r.checkLanePeople(key, &lane, p)
		lane.Laxer = isLaxer(p, &lane)
		lanes = append(lanes, lane)
	}
	r.checkLaneNames(f.Lanes)
	return lanes
}

// resolveLane makes a lane of what its keys say; nil stays what they do not.
func (r policyResolver) resolveLane(key string, keys LaneKeys) quorum.Lane {
	lane := quorum.Lane{Name: keys.Name, Why: keys.Why, If: keys.If.condition(), Voters: keys.Reviewers}
	has := func(name string) bool { return r.hasKey(key + "." + name) }
	if has("quorum") {
		lane.Need = new(keys.Quorum.needRule())
	}
	if has("people") {
		lane.People = &keys.People
	}
	if has("grace") {
		lane.Grace = new(time.Duration(keys.Grace))
	}
	if has("timeout") {
		lane.Timeout = new(time.Duration(keys.Timeout))
	}
	if has("deadline") {
		lane.Deadline = new(time.Duration(keys.Deadline))
	}
	if has("early_start") {
		lane.EarlyStart = &keys.EarlyStart
	}
	if has("stand_in") {
		lane.StandIn = new(parsePermission(keys.StandIn))
	}
	if has("override") {
		lane.Override = new(parsePermission(keys.Override))
	}
	if has("threads") {
		lane.Threads = new(parseThreads(keys.Threads))
	}
	return lane
}

// condition returns the conditions of a lane as the core's.
func (keys LaneIfKeys) condition() quorum.Condition {
	return quorum.Condition{
		Paths: namedGlobs(keys.Paths), AnyPath: namedGlobs(keys.AnyPath), Base: namedGlobs(keys.Base),
		Authors: namedTexts(keys.Authors), Labels: namedTexts(keys.Labels), OverLines: keys.OverLines,
	}
}

// condition returns the conditions of a reviewer as the core's.
func (keys WhenKeys) condition() quorum.Condition {
	return quorum.Condition{
		Paths: namedGlobs(keys.Paths), NotPaths: namedGlobs(keys.NotPaths), Base: namedGlobs(keys.Base),
		Authors: namedTexts(keys.Authors), Labels: namedTexts(keys.Labels),
	}
}

func namedGlobs(globs []Glob) []string { return namedTexts(globTexts(globs)) }

// namedTexts returns list, nil if it names nothing.
func namedTexts(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// checkLaneIf refuses a lane that every pull request would be in, and a list that somebody has emptied: the lane would
// then be for more than it was.
func (r policyResolver) checkLaneIf(key string, keys LaneIfKeys) {
	ifKey := key + ".if"
	isBroken := r.brokenKeys[ifKey] || slices.ContainsFunc(keysOfLaneIf(), func(name string) bool { return r.brokenKeys[ifKey+"."+name] })
	if isBroken {
		return
	}
	if !keys.condition().Names() {
		at := ifKey
		if !r.hasKey(ifKey) {
			at = key
		}
		r.failKey(
			at,
			"no condition: every pull request would be in this lane",
			"add if: with paths:, any_path:, authors:, labels:, base: or over_lines:",
		)
		r.brokenKeys[at] = at == ifKey // the rest of the lane is still looked at
		return
	}
	for _, list := range []struct {
		name  string
		count int
	}{
		{"paths", len(keys.Paths)},
		{"any_path", len(keys.AnyPath)},
		{"authors", len(keys.Authors)},
		{"labels", len(keys.Labels)},
		{"base", len(keys.Base)},
	} {
		if r.hasKey(ifKey+"."+list.name) && list.count == 0 {
			r.failKey(ifKey+"."+list.name, "the list is empty, and would be no condition at all", "name at least one, or remove the key")
		}
	}
	r.checkLogins(ifKey+".authors", keys.Authors)
	r.checkPatterns(ifKey+".paths", keys.Paths)
	r.checkPatterns(ifKey+".any_path", keys.AnyPath)
	r.checkPatterns(ifKey+".base", keys.Base)
}

func keysOfLaneIf() []string {
	return []string{"paths", "any_path", "authors", "labels", "base", "over_lines"}
}

// checkWhen refuses conditions of a reviewer that say nothing.
func (r policyResolver) checkWhen(key string, keys WhenKeys) {
	if len(keys.NotPaths) > 0 && len(keys.Paths) == 0 && !r.brokenKeys[key+".paths"] {
		r.failKey(key+".not_paths", "not_paths takes away from paths, and there are none", `add paths: ["**"] for all others`)
	}
	r.checkLogins(key+".authors", keys.Authors)
	r.checkPatterns(key+".paths", keys.Paths)
	r.checkPatterns(key+".base", keys.Base)
}

// checkLaneNames refuses two lanes of one name: the check and the record know them by it.
func (r policyResolver) checkLaneNames(lanes []LaneKeys) {
	seen := map[string]int{}
	for i, keys := range lanes {
		name := strings.ToLower(keys.Name)
		first, ok := seen[name]
		if ok && name != "" {
			r.failKey(
				laneKey(i)+".name",
				fmt.Sprintf("a second lane is called %s; the first is in line %d",
					quoteText(keys.Name), r.positionOfKey(laneKey(first)).line),
				"give it another name",
			)
			continue
		}
		seen[name] = i
	}
}

// checkLaneVoters refuses voters that there are not, and a number of approvals that they cannot give.
func (r policyResolver) checkLaneVoters(key string, keys LaneKeys, p quorum.Policy) {
	at := key + ".reviewers"
	if r.brokenKeys[at] || r.brokenKeys["reviewers"] || !r.votersAreKnown(p) {
		return
	}
	voters := p.Reviewers
	if r.hasKey(at) {
		var known bool
		if voters, known = r.findLaneVoters(at, keys.Reviewers, p.Reviewers); !known {
			return
		}
	}
	if cond := keys.If.condition(); (&quorum.Lane{If: cond}).Adds() {
		voters, at = p.Reviewers, key // who is named there counts for nothing
	}
	most, need, needKey := countDistinct(p, voters), p.Rules[0], at
	if r.hasKey(key + ".quorum") {
		need, needKey = keys.Quorum.needRule(), key+".quorum"
	}
	if r.brokenKeys[needKey] || r.brokenKeys["quorum"] || r.brokenKeys["families"] || need.Count <= most {
		return
	}
	if needKey == key || !r.hasKey(needKey) {
		return // the top level's quorum of all voters was looked at there
	}
	r.failKey(
		needKey,
		fmt.Sprintf("a quorum of %d can never be reached in this lane: %s", need.Count, votersPhrase(p, voters)),
		fmt.Sprintf("write quorum: %s, majority or all, or let more reviewers vote", numbersUpTo(most)),
	)
}

func numbersUpTo(most int) string {
	if most == 1 {
		return "1"
	}
	return fmt.Sprintf("%d or less", most)
}

// findLaneVoters returns the reviewers that a lane names. Unless all of them are known and one votes it notes why.
func (r policyResolver) findLaneVoters(key string, names []string, reviewers []quorum.Reviewer) (voters []quorum.Reviewer, known bool) {
	var all []string
	for _, q := range reviewers {
		all = append(all, q.Name)
	}
	known = true
	for j, name := range names {
		at := fmt.Sprintf("%s[%d]", key, j)
		i := slices.Index(all, name)
		switch {
		case r.brokenKeys[at]:
			known = false
		case i < 0:
			r.failKey(
				at,
				"there is no reviewer "+quoteText(name),
				suggestWord(name, all, "name some of "+cleanText(strings.Join(all, ", "), 200)),
			)
			known = false
		case slices.Contains(names[:j], name):
			r.failKey(at, fmt.Sprintf("%s stands here again", quoteText(name)), "remove it")
		default:
			voters = append(voters, reviewers[i])
		}
	}
	if known && !slices.ContainsFunc(voters, quorum.Reviewer.Voter) {
		r.failKey(key, "nobody votes in this lane: every reviewer that it names is a shadow or retired", "name one whose vote counts")
		known = false
	}
	return voters, known
}

// checkLanePeople refuses people that a lane asks for and that nobody could be, be it by its own stand_in or by the top
// level's.
func (r policyResolver) checkLanePeople(key string, lane *quorum.Lane, p quorum.Policy) {
	if p.People > 0 && p.StandIn == 0 || r.brokenKeys["stand_in"] || r.brokenKeys["people"] ||
		r.brokenKeys[key+".stand_in"] || r.brokenKeys[key+".people"] {
		return
	}
	inLane := p.InLane(lane)
	if lane.Adds() {
		inLane = p.WithAdded(lane)
	}
	if inLane.People == 0 || inLane.StandIn != 0 {
		return
	}
	at, hint := key+".people", "write stand_in: write, maintain or admin"
	if lane.StandIn != nil {
		at, hint = key+".stand_in", "write stand_in: write, maintain or admin, or people: 0"
	}
	r.failKey(at, fmt.Sprintf("%s can never be had in this lane: stand_in: none lets nobody approve", peoplePhrase(inLane.People)), hint)
}
