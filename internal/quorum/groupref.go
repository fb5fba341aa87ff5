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

// parts are what the branch's name tells: the base, the number of the pull request that joined last, and the commit on which
// that was merged. Each is "" where it is none of a merge queue's.
func (g GroupRef) parts() (parts [3]string) {
	if m := groupBranch.FindStringSubmatch(g.Branch); m != nil && len(m[1]) <= 255 {
		copy(parts[:], m[1:])
	}
	return parts
}

// IsValid reports whether the branch's name is one of a merge queue's.
func (g GroupRef) IsValid() bool { return g.Base() != "" && g.Head != "" }

// Base is the branch into which the group is to be merged; "" of a branch that is none of a merge queue's.
func (g GroupRef) Base() string { return g.parts()[0] }

// Named is the pull request that joined the group last; its number is 0 where the branch is none of a merge queue's.
func (g GroupRef) Named() PR {
	number, _ := strconv.Atoi(g.parts()[1])
	return PR{Owner: g.Owner, Repo: g.Repo, Number: number}
}

// Parent is the commit on which the pull request that joined last was merged: the base's tip, or another group's.
func (g GroupRef) Parent() string { return g.parts()[2] }

// A MergeGroup is what GitHub shows of a group.
type MergeGroup struct {
	GroupRef
	Pulls []PR      // in the order in which they are merged
	Whole bool      // these are known to be all
	Gone  bool      // the queue has built another group for the pull request since, or the group was merged
	Since time.Time // when the commit came; zero: not known
}
