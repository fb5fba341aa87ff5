package evidence

// Which policy holds for a pull request: that of its lane, for those of its reviewers that vote on it. What a
// contributor can choose, and what is not known, makes nothing easier.

import (
	"path"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// PolicyFor returns the policy that holds for the pull request of s: p in its lane, with what the lanes ask more that
// labels, size or a layer's own base choose, and with who has no vote on it.
func PolicyFor(p quorum.Policy, s quorum.Snapshot) quorum.Policy {
	c := changeView{policy: &p, snapshot: &s}
	lane, barred, _ := c.lane()
	out := p
	out.Lane.Not = barred
	if lane != nil {
		out = out.InLane(lane)
	}
	for i := range p.Lanes {
		if l := &p.Lanes[i]; c.adds(l) && c.conditionOf(l) == holds {
			out = out.WithAdded(l)
		}
	}
	out.Reviewers = slices.Clone(out.Reviewers)
	for i := range out.Reviewers {
		switch r := &out.Reviewers[i]; {
		case c.whenOf(r) != holds: // it tells more than the lane: not even who must judge again votes
			r.Excused = quorum.ReasonWhen
		case r.Excused == "" && out.NeedsNoReview():
			r.Excused = quorum.ReasonNoReview
		}
	}
	return out
}

// wantsOfLanes are the facts without which [PolicyFor] cannot tell the policy: they are read only where nothing else
// tells it.
func wantsOfLanes(p *quorum.Policy, s *quorum.Snapshot) (w quorum.Wants) {
	c := changeView{policy: p, snapshot: s}
	_, _, w = c.lane()
	for i := range p.Lanes {
		if l := &p.Lanes[i]; c.adds(l) && c.conditionOf(l) == untold {
			w.Authors = true
		}
	}
	for i := range p.Reviewers {
		if r := &p.Reviewers[i]; !r.Retired && c.whenOf(r) == untold {
			w.Authors = true
		}
	}
	w.Lane = w.Authors || w.Links
	return w
}

// NamesBase reports whether a lane that asks no less than the top level names a base: by its name, or only by a pattern.
func NamesBase(p quorum.Policy, base string) (byName, byPattern bool) {
	for i := range p.Lanes {
		if l := &p.Lanes[i]; !l.Laxer && matches(l.If.Base, base) {
			byName = byName || isNamedBase(l, base)
			byPattern = true
		}
	}
	return byName, byPattern && !byName
}

// GuardedNames are those of the paths that a laxer lane takes for guarded by p: by the policy, for whichever reviewer,
// or as an instruction file of any preset.
func GuardedNames(p quorum.Policy, paths []string) (guarded []string) {
	guards := [][]string{p.Guard, review.InstructionFiles()}
	for i := range p.Reviewers {
		guards = append(guards, p.Reviewers[i].Guard)
	}
	is := make([]bool, len(paths))
	for _, patterns := range guards { // each list by itself: what one excludes another may name
		list, err := pathfilter.CompileWithFolders(patterns)
		for i, path := range paths {
			is[i] = is[i] || err != nil || list.Match(path) // config has compiled them all
		}
	}
	for i, path := range paths {
		if is[i] {
			guarded = append(guarded, path)
		}
	}
	return guarded
}

// holding says whether a condition holds.
type holding uint8

const (
	fails  holding = 1 + iota
	untold         // it hangs on who made the commits, which was not read
	holds
)

// changeView is what a pull request changes and who made it, as lanes and reviewers choose by it.
type changeView struct {
	policy   *quorum.Policy
	snapshot *quorum.Snapshot
}

// lane finds the first lane that holds and that neither labels nor size choose; nil: the top level holds. barred are the
// laxer ones before it that are not for this pull request, w what must be read for another answer.
func (c changeView) lane() (lane *quorum.Lane, barred []quorum.LaneNot, w quorum.Wants) {
	for i := range c.policy.Lanes {
		l := &c.policy.Lanes[i]
		if c.adds(l) {
			continue
		}
		state := c.conditionOf(l)
		if state == fails {
			continue
		}
		why, isBarred := quorum.LaneNot{}, false
		if l.Laxer {
			why, isBarred = c.whyNotLaxer(l)
		}
		switch {
		case isBarred && why.Reason != quorum.ReasonLaneLinks:
		case state == untold:
			w.Authors = true // what links tell is asked for once that is known
		case isBarred && !c.snapshot.NoLinks:
			w.Links = true
		}
		switch {
		case state == untold:
		case isBarred:
			barred = append(barred, why)
		default:
			return l, barred, w
		}
	}
	return nil, barred, w
}

// whyNotLaxer says why a lane that asks less is not for this pull request although its condition holds.
func (c changeView) whyNotLaxer(l *quorum.Lane) (why quorum.LaneNot, barred bool) {
	why.Name = l.Name
	pr := &c.snapshot.PR
	if onto := pr.Target(); !isNamedBase(l, onto) && onto != pr.DefaultBranch {
		why.Reason, why.Detail = quorum.ReasonLaneBase, onto
		return why, true
	}
	if changed, found := c.changedPolicy(); found {
		why.Reason, why.Detail = quorum.ReasonLanePolicy, changed
		return why, true
	}
	if changed, found := c.guardedChange(); found {
		why.Reason, why.Detail = quorum.ReasonLaneGuard, changed
		return why, true
	}
	if c.snapshot.Links == nil {
		why.Reason = quorum.ReasonLaneLinks
		return why, true
	}
	return why, false
}

// isNamedBase reports whether a lane names a base by its name. A branch may be called v1+, and a pattern so means others, too.
func isNamedBase(l *quorum.Lane, base string) bool {
	return slices.Contains(l.If.Base, base) && pathfilter.IsName(base)
}

// changedPolicy finds the file of the policy among those that the pull request changes, or one that may take its place.
func (c changeView) changedPolicy() (changed string, found bool) {
	file, paths := &c.snapshot.File, changedPaths(&c.snapshot.PR)
	if file.Changed {
		return file.Path, true
	}
	pr := &c.snapshot.PR
	if strings.EqualFold(file.Org.Repo, pr.Owner+"/"+pr.Repo) && slices.Contains(paths, quorum.OrganisationPath) {
		return quorum.OrganisationPath, true
	}
	name, _ := strings.CutSuffix(file.Path, path.Ext(file.Path))
	i := slices.IndexFunc(paths, func(p string) bool { return name != "" && (p == name+".yml" || p == name+".yaml") })
	if i < 0 {
		return "", false
	}
	return paths[i], true
}

// guardedChange finds a changed path that is guarded: by the policy, for whichever reviewer, as an instruction file of
// any preset, or as what such a name links to. The path is "" where the list of changed files is incomplete.
func (c changeView) guardedChange() (path string, found bool) {
	if c.areFilesMissing() {
		return "", true
	}
	paths := changedPaths(&c.snapshot.PR)
	if guarded := GuardedNames(*c.policy, paths); len(guarded) > 0 {
		return guarded[0], true
	}
	for _, target := range c.snapshot.Links {
		if i := slices.IndexFunc(paths, func(path string) bool { return isOnWay(path, target) }); i >= 0 {
			return paths[i], true
		}
	}
	return "", false
}

// isOnWay reports whether one path is the other's or a folder on its way: what stands in a folder's place decides what
// is found below it.
func isOnWay(a, b string) bool {
	return a == b || b == "." || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// changedPaths are the changed files, of a rename both names.
func changedPaths(pr *quorum.PullRequest) (paths []string) {
	for _, f := range pr.Files {
		for _, name := range []string{f.Path, f.Previous} {
			if name != "" {
				paths = append(paths, name)
			}
		}
	}
	return paths
}

// areFilesMissing reports whether the list of changed files is empty or incomplete: then anything may be changed.
func (c changeView) areFilesMissing() bool {
	return c.snapshot.PR.FilesMissing || len(c.snapshot.PR.Files) == 0
}

// adds reports whether a lane only asks more, beside another one: also one that names a layer's own base, which its author
// chooses, and not its stack's trunk.
func (c changeView) adds(l *quorum.Lane) bool {
	pr := &c.snapshot.PR
	return l.Adds() || !l.Laxer && !matches(l.If.Base, pr.Target()) && matches(l.If.Base, pr.BaseRef)
}

// conditionOf says whether the condition of a lane holds.
func (c changeView) conditionOf(l *quorum.Lane) holding {
	q := &l.If
	pr := &c.snapshot.PR
	isOwnBase := !l.Laxer && matches(q.Base, pr.BaseRef) // of a layer of a stack
	if len(q.Base) > 0 && !isOwnBase && !matches(q.Base, pr.Target()) ||
		len(q.Paths) > 0 && (c.areFilesMissing() || !c.hasOnly(q.Paths)) {
		return fails
	}
	return c.restOf(q)
}

// whenOf says whether the pull request is one of those on which a reviewer votes.
func (c changeView) whenOf(r *quorum.Reviewer) holding {
	q := &r.When
	if len(q.Base) > 0 && !matches(q.Base, c.snapshot.PR.Target()) ||
		len(q.Paths)+len(q.NotPaths) > 0 && !c.areFilesMissing() && !c.hasOneOf(q.Paths, q.NotPaths) {
		return fails
	}
	return c.restOf(q)
}

// restOf says whether all holds that a condition names beside the base, and the paths that all must, or of which one may, match.
func (c changeView) restOf(q *quorum.Condition) holding {
	pr := &c.snapshot.PR
	switch {
	case len(q.AnyPath) > 0 && !c.areFilesMissing() && !c.hasOneOf(q.AnyPath, nil),
		len(q.Labels) > 0 && !hasLabel(pr.Labels, q.Labels),
		q.OverLines > 0 && pr.Lines <= q.OverLines:
		return fails
	case len(q.Authors) > 0:
		return c.madeBy(q.Authors)
	}
	return holds
}

// hasOnly reports whether every changed path matches.
func (c changeView) hasOnly(patterns []string) bool {
	list, err := pathfilter.CompileAll(patterns)
	return err == nil && !slices.ContainsFunc(changedPaths(&c.snapshot.PR), func(path string) bool { return !list.Match(path) })
}

// hasOneOf reports whether a changed path matches, and none of the patterns in but; without patterns any path does.
func (c changeView) hasOneOf(patterns, but []string) bool {
	list, err := pathfilter.CompileAll(patterns)
	exempt, errOfExempt := pathfilter.CompileAll(but)
	if err != nil || errOfExempt != nil { // unreachable: config has compiled them all
		return true
	}
	return slices.ContainsFunc(changedPaths(&c.snapshot.PR), func(path string) bool {
		return (len(patterns) == 0 || list.Match(path)) && !exempt.Match(path)
	})
}

func matches(patterns []string, name string) bool {
	list, err := pathfilter.CompileAll(patterns)
	return err == nil && list.Match(name)
}

// hasLabel reports whether one of the labels is on the pull request. GitHub compares them without case.
func hasLabel(on, wanted []string) bool {
	return slices.ContainsFunc(wanted, func(label string) bool {
		return slices.ContainsFunc(on, func(o string) bool { return strings.EqualFold(o, label) })
	})
}

// madeBy says whether those accounts, and nobody else, opened the pull request and pushed and made all of its commits.
// An unknown pusher or author may be anybody, and a robot's commit is its own only if GitHub has verified its
// signature: anyone can write its name into one.
func (c changeView) madeBy(logins []string) holding {
	s := c.snapshot
	isNamed := func(a quorum.Account) bool { return slices.ContainsFunc(logins, a.Is) }
	switch {
	case !isNamed(s.PR.Author):
		return fails
	case s.Commits == nil:
		return untold
	case len(s.Commits) == 0 || len(s.Commits) < s.PR.Commits || !isPushListed(s):
		return fails
	}
	for i := range s.Commits {
		if !isCommitBy(&s.Commits[i], isNamed) {
			return fails
		}
	}
	for i := range s.Pushes {
		if p := &s.Pushes[i]; isPushOfChange(s, p) && !isNamed(p.Actor) {
			return fails
		}
	}
	isByOther := func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed && !isNamed(e.Actor) }
	if slices.ContainsFunc(s.Timeline, isByOther) {
		return fails
	}
	return holds
}

// webFlow is the committer of what GitHub itself commits, which it signs.
const webFlow = "web-flow"

// isCommitBy reports whether nobody but who is named made a commit.
func isCommitBy(commit *quorum.Commit, isNamed func(quorum.Account) bool) bool {
	made := 0
	for _, a := range commit.People {
		switch {
		case commit.Verified && !a.Bot && strings.EqualFold(a.Login, webFlow):
		case !isNamed(a), a.Bot && !commit.Verified:
			return false
		default:
			made++
		}
	}
	return made > 0
}
