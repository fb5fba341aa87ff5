package quorum

import (
	"regexp"
	"strconv"
	"time"
)

// A GroupRef names a commit of a merge queue: the pull requests of a group, merged one after the other onto their base.
type GroupRef struct {
	Owner, Repo string
	Head        string // the commit
	Branch      string // on which it stands: gh-readonly-queue/BASE/pr-N-SHA
}

func (g GroupRef) String() string { return g.Owner + "/" + g.Repo + "@" + g.Head }

// groupBranch matches the branches that GitHub makes for groups.
var groupBranch = regexp.MustCompile(
	`^gh-readonly-queue/([^\x00-\x20\x7F\x{FFFD}]+)/pr-([1-9][0-9]{0,8})-([0-9a-f]{40}|[0-9a-f]{64})$`,
)

// parts are what the branch's name tells: its base, the number of the pull request that joined it last, and the commit on
// which that was merged. They are zero where it is none of a merge queue's.
func (g GroupRef) parts() (base string, number int, parent string) {
	m := groupBranch.FindStringSubmatch(g.Branch)
	if m == nil || len(m[1]) > 255 {
		return "", 0, ""
	}
	number, _ = strconv.Atoi(m[2]) // unreachable: it is one
	return m[1], number, m[3]
}

// IsValid reports whether the branch's name is one of a merge queue's.
func (g GroupRef) IsValid() bool { return g.Base() != "" && g.Head != "" }

// Base is the branch into which the group is to be merged; "" of a branch that is none of a merge queue's.
func (g GroupRef) Base() string {
	base, _, _ := g.parts()
	return base
}

// Named is the pull request that joined the group last; its number is 0 where the branch is none of a merge queue's.
func (g GroupRef) Named() PR {
	_, number, _ := g.parts()
	return PR{Owner: g.Owner, Repo: g.Repo, Number: number}
}

// Parent is the commit on which the pull request that joined last was merged: the base's tip, or another group's.
func (g GroupRef) Parent() string {
	_, _, parent := g.parts()
	return parent
}

// A MergeGroup is what GitHub shows of a group.
type MergeGroup struct {
	GroupRef
	Pulls []PR      // in the order in which they are merged
	Whole bool      // these are known to be all
	Gone  bool      // the queue has built another group for the pull request since, or the group was merged
	Since time.Time // when the commit came; zero: not known
}
