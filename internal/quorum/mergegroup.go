package quorum

// A merge queue's commit holds several pull requests, and no reviewer ever looks at it. Here stands what its check
// says: what is decided about each of them, and the worst of it counts.

import (
	"slices"
	"strconv"
	"time"

	"github.com/review-coordinator/coordinator/internal/lazy"
)

const (
	GroupPatience = 10 * time.Minute // in which a group is decided: a queue tries again, a wrong merge does not
	groupUnseen   = 30 * time.Second // between looks at a group whose commit or pull requests GitHub does not show yet
)

// DecideGroup decides about a group by its open pull requests, each alone and anew, and shows that of the worst, the first of several.
func DecideGroup(g MergeGroup, pulls []Sibling, now time.Time) Decision {
	pulls = slices.Clone(pulls)
	for i := range pulls {
		if d := &pulls[i].Decision; d.Verdict == Ended && d.Reason == ReasonClosed { // without a merge: it is not to be merged
			d.Verdict = Unverified
		}
	}
	d := Decision{PR: g.Named(), Verdict: Ended, Reason: ReasonClosed}
	if len(pulls) > 0 {
		lead := slices.MinFunc(pulls, func(a, b Sibling) int { return b.Decision.Verdict.badness() - a.Decision.Verdict.badness() })
		d = lead.Decision
		d.PR = lead.PR.PR
	}
	d.Head, d.Base, d.Effects, d.Pass, d.Siblings = g.Head, g.Base(), Effects{}, nil, nil
	d.Group, d.Shared, d.MoreShared, d.Wake = &GroupState{Branch: g.Branch, Since: g.Since}, nil, 0, time.Time{}
	for _, p := range pulls {
		d.Shared = append(d.Shared, SharedPull{
			Number: p.PR.Number, Base: p.PR.BaseRef, Fork: p.PR.Fork, Speaks: true, Verdict: p.Decision.Verdict, Title: p.Title,
		})
		d.wakeBy(p.Decision.Wake)
	}
	// The badness of one of which nothing is decided is the least: the policy may go while they are looked at.
	isMixed := slices.ContainsFunc(pulls, func(p Sibling) bool { return p.Decision.Verdict == Ended })
	if d.Verdict == Passed && (isMixed || !g.Whole) {
		d.Verdict, d.Reason = Waiting, ReasonGroupUnknown
		if now.Before(g.Since.Add(GroupPatience)) { // a replica may show it in a moment
			age := max(now.Sub(g.Since), 0)
			d.wakeBy(g.Since.Add(age.Truncate(groupUnseen) + groupUnseen))
		}
	}
	if d.Verdict != Waiting {
		return d
	}
	switch end := g.Since.Add(GroupPatience); {
	case g.Since.IsZero(): // it will be known by then
		d.wakeBy(now.Add(groupUnseen))
	case now.Before(end):
		d.wakeBy(end)
	default:
		d.Verdict, d.Group.Late = Blocked, true
		if d.Reason != ReasonGroupUnknown {
			d.Reason = ReasonGroupLate
		}
	}
	return d
}

// A GroupRef names a commit of a merge queue: the pull requests of a group, merged one after the other onto their base.
type GroupRef struct {
	Owner, Repo string
	Head        string // the commit
	Branch      string // on which it stands: gh-readonly-queue/BASE/pr-N-SHA
}

func (g GroupRef) String() string { return g.Owner + "/" + g.Repo + "@" + g.Head }

// groupBranch matches the branches that GitHub makes for groups.
var groupBranch = lazy.Regexp(`^gh-readonly-queue/([^\x00-\x20\x7F\x{FFFD}]+)/pr-([1-9][0-9]{0,8})-([0-9a-f]{40}|[0-9a-f]{64})$`)

// parts are what the branch's name tells: the base, the number of the pull request that joined last, and the commit
// on which that was merged. Each is "" where it is none of a merge queue's.
func (g GroupRef) parts() (parts [3]string) {
	if m := groupBranch().FindStringSubmatch(g.Branch); m != nil && len(m[1]) <= 255 {
		copy(parts[:], m[1:])
	}
	return parts
}

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

type MergeGroup struct {
	GroupRef
	Pulls []PR      // in the order in which they are merged
	Whole bool      // these are known to be all
	Gone  bool      // the queue has built another group for the pull request since, or the group was merged
	Since time.Time // when the commit came; zero: not known
}
