package config

// The order of lanes: the first that matches holds, so one may take all that another is for, or hide a stricter one.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// warnOfLanesAbove warns of a lane that one above it leaves nothing to, and of one above it that asks less of a pull
// request for which both are.
func (c *laneChecker) warnOfLanesAbove(i int) {
	lane := &c.policy.Lanes[i]
	for j := range i {
		above := &c.policy.Lanes[j]
		if above.Adds() || !c.mayCompare(above.If, lane.If) {
			continue
		}
		if takesAllOf(above, lane) {
			c.idle[i] = true
			c.warnKey(
				laneKey(i)+".if",
				fmt.Sprintf("nothing can reach %s: %s above it takes every pull request that it is for",
					lanePhrase(lane.Name), lanePhrase(above.Name)),
				fmt.Sprintf("move %s above %s, or remove it", quoteText(lane.Name), quoteText(above.Name)),
			)
			return
		}
	}
	for j := range i {
		above := &c.policy.Lanes[j]
		if above.Adds() || c.idle[j] || coversCondition(lane.If, above.If) || !c.mayCompare(above.If, lane.If) {
			continue
		}
		keys := c.keysThatHide(above, lane)
		files, found := commonChange(above, lane)
		if len(keys) == 0 || !found {
			continue
		}
		c.warnKey(
			laneKey(j)+".name",
			fmt.Sprintf("%s stands above %s, which is stricter (%s), and is taken first for %s",
				lanePhrase(above.Name), lanePhrase(lane.Name), strings.Join(keys, ", "), changePhrase(files)),
			fmt.Sprintf("move %s above %s, unless that is meant", quoteText(lane.Name), quoteText(above.Name)),
		)
	}
}

// mayCompare reports whether there is time to compare two conditions: it takes time in proportion to the patterns of both.
func (c *laneChecker) mayCompare(a, b quorum.Condition) bool {
	c.left -= patternBytes(a) * patternBytes(b)
	return c.left >= 0
}

func patternBytes(c quorum.Condition) int {
	return 1 + len(strings.Join(slices.Concat(c.Paths, c.AnyPath, c.Base), " "))
}

// keysThatHide returns the keys in which a lane asks less than one below it, but for the waits.
func (c *laneChecker) keysThatHide(above, lane *quorum.Lane) (keys []string) {
	p, q := c.policy.InLane(above), c.policy.InLane(lane)
	if p.NeedOf(countDistinct(p, p.Reviewers)) < q.NeedOf(countDistinct(q, q.Reviewers)) {
		keys = append(keys, "quorum")
	}
	return append(keys, keysThatAskLess(p, q)...)
}

// takesAllOf reports whether the lane above holds wherever one below it could.
func takesAllOf(above, lane *quorum.Lane) bool {
	if !coversCondition(above.If, lane.If) {
		return false
	}
	// Where a laxer lane may not hold the next one gets its turn: for guarded files, and on other bases.
	return !above.Laxer || lane.Laxer && pathfilter.Covers(basesOf(above), basesOf(lane))
}

// coversCondition reports whether each pull request for which b holds is known to be one for which a does.
func coversCondition(a, b quorum.Condition) bool {
	allPaths := pathfilter.MatchesAll(a.Paths) || len(b.Paths) > 0 && pathfilter.Covers(a.Paths, b.Paths)
	anyPath := pathfilter.MatchesAll(a.AnyPath) || len(b.AnyPath) > 0 && pathfilter.Covers(a.AnyPath, b.AnyPath) ||
		len(b.Paths) > 0 && pathfilter.Covers(a.AnyPath, b.Paths)
	base := pathfilter.MatchesAll(a.Base) || len(b.Base) > 0 && pathfilter.Covers(a.Base, b.Base)
	authors := len(b.Authors) > 0 && !slices.ContainsFunc(b.Authors, func(login string) bool { return !hasLogin(a.Authors, login) })
	return (len(a.Paths) == 0 || allPaths) && (len(a.AnyPath) == 0 || anyPath) && (len(a.Base) == 0 || base) &&
		(len(a.Authors) == 0 || authors)
}

func hasLogin(logins []string, login string) bool {
	return slices.ContainsFunc(logins, func(l string) bool { return strings.EqualFold(l, login) })
}

// usualDefaultBranches stand for the default branch, whose name no policy tells.
var usualDefaultBranches = []string{"main", "master"}

// basesOf returns the patterns of the branches against which a lane may hold, none if that is any branch. A laxer one
// holds against the default branch and those that it names.
func basesOf(lane *quorum.Lane) []string {
	if !lane.Laxer {
		return lane.If.Base
	}
	usual := usualDefaultBranches
	if len(lane.If.Base) > 0 {
		usual = slices.DeleteFunc(slices.Clone(usual), func(base string) bool { return !matchesPath(lane.If.Base, base) })
	}
	return slices.Concat(usual, NamedBases(lane))
}

// commonChange returns the files of a pull request for which two lanes are, if there can be one: none if paths do not
// matter to them.
func commonChange(a, b *quorum.Lane) (files []string, found bool) {
	if len(a.If.Authors) > 0 && len(b.If.Authors) > 0 &&
		!slices.ContainsFunc(a.If.Authors, func(login string) bool { return hasLogin(b.If.Authors, login) }) {
		return nil, false
	}
	basesOfA, basesOfB := basesOf(a), basesOf(b)
	if a.Laxer && len(basesOfA) == 0 || b.Laxer && len(basesOfB) == 0 {
		return nil, false
	}
	if _, found := pathInAll(basesOfA, basesOfB); !found {
		return nil, false
	}
	for _, anyPath := range [][]string{a.If.AnyPath, b.If.AnyPath} {
		if len(anyPath) == 0 {
			continue
		}
		file, found := pathInAll(anyPath, a.If.Paths, b.If.Paths)
		if !found {
			return nil, false
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	if len(files) > 0 || len(a.If.Paths)+len(b.If.Paths) == 0 {
		return files, true
	}
	file, found := pathInAll(a.If.Paths, b.If.Paths)
	return []string{file}, found
}

// pathInAll returns a path that matches all lists; an empty list matches any.
func pathInAll(lists ...[]string) (path string, found bool) {
	lists = slices.DeleteFunc(lists, func(list []string) bool { return len(list) == 0 })
	if len(lists) == 0 {
		return "", true
	}
	for i, a := range lists {
		for _, b := range lists[min(i+1, len(lists)-1):] {
			path, found := pathfilter.CommonPath(a, b)
			if found && !slices.ContainsFunc(lists, func(list []string) bool { return !matchesPath(list, path) }) {
				return path, true
			}
		}
	}
	return "", false
}

func matchesPath(list []string, path string) bool {
	patterns, err := pathfilter.CompileAll(list)
	return err == nil && patterns.Match(path)
}

// changePhrase names a pull request by what it changes.
func changePhrase(files []string) string {
	if len(files) == 0 {
		return "a pull request for which both are"
	}
	quoted := make([]string, 0, len(files))
	for _, file := range files {
		quoted = append(quoted, quoteText(file))
	}
	return "one that changes " + strings.Join(quoted, " and ")
}
