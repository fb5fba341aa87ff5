package quorum

import (
	"strconv"
	"strings"
	"time"
)

// A GroupRef names a commit of a merge queue: the pull requests of a group, merged one after the other onto their base.
type GroupRef struct {
	Owner, Repo string
	Head        string // the commit
	Branch      string // on which it stands: gh-readonly-queue/BASE/pr-N-SHA
}

func (g GroupRef) String() string { return g.Owner + "/" + g.Repo + "@" + g.Head }

// groupBranches is under which GitHub's branches stand that hold groups.
const groupBranches = "gh-readonly-queue/"

// parts are what the branch's name tells: its base, the number of the pull request that joined it last, and the commit on
// which that was merged. ok is false where it is none of a merge queue's.
func (g GroupRef) parts() (base string, number int, parent string, ok bool) {
	rest, isGroup := strings.CutPrefix(g.Branch, groupBranches)
	at := strings.LastIndex(rest, "/pr-")
	if !isGroup || at <= 0 || at > 255 {
		return "", 0, "", false
	}
	digits, parent, _ := strings.Cut(rest[at+len("/pr-"):], "-")
	number, err := strconv.Atoi(digits)
	isPlain := !strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r == 0x7F || r == '�' })
	isSHA := (len(parent) == 40 || len(parent) == 64) && strings.Trim(parent, "0123456789abcdef") == ""
	return rest[:at], number, parent, err == nil && number > 0 && isPlain && isSHA
}

// IsValid reports whether the branch's name is one of a merge queue's.
func (g GroupRef) IsValid() bool {
	_, _, _, ok := g.parts()
	return ok && g.Head != ""
}

// Base is the branch into which the group is to be merged; "" of a branch that is none of a merge queue's.
func (g GroupRef) Base() string {
	if base, _, _, ok := g.parts(); ok {
		return base
	}
	return ""
}

// Named is the pull request that joined the group last; its number is 0 where the branch is none of a merge queue's.
func (g GroupRef) Named() PR {
	pr := PR{Owner: g.Owner, Repo: g.Repo}
	if _, number, _, ok := g.parts(); ok {
		pr.Number = number
	}
	return pr
}

// Parent is the commit on which the pull request that joined last was merged: the base's tip, or another group's.
func (g GroupRef) Parent() string {
	if _, _, parent, ok := g.parts(); ok {
		return parent
	}
	return ""
}

// GroupBranch is the branch of a ref as GitHub's events name it.
func GroupBranch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// A MergeGroup is what GitHub shows of a group.
type MergeGroup struct {
	GroupRef
	Pulls []PR      // in the order in which they are merged
	Whole bool      // these are known to be all
	Gone  bool      // the queue has built another group for the pull request since, or the group was merged
	Since time.Time // when the commit came; zero: not known
}
