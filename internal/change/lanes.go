package change

// Which policy holds, and who votes: lanes ask more wherever they may hold, and less only where one surely does.

import (
	"path"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// PolicyFor returns the policy that holds for the pull request of s: p as its lanes change it, and with who has no vote on it.
func PolicyFor(p quorum.Policy, s quorum.Snapshot) quorum.Policy {
	out, _ := pullView{policy: &p, snapshot: &s}.readLanes()
	return out
}

// Wants are the facts without which [PolicyFor] cannot tell the policy: they are read only where nothing else tells it.
func Wants(p quorum.Policy, s quorum.Snapshot) quorum.Wants {
	_, w := pullView{policy: &p, snapshot: &s}.readLanes()
	return w
}

// A BaseNaming says how the lanes of a policy name a base, but for those that ask less than the top level.
type BaseNaming uint8

const (
	Unnamed BaseNaming = iota
	ByPattern
	ByName
)

func NamingOf(p quorum.Policy, base string) (how BaseNaming) {
	for i := range p.Lanes {
		l := &p.Lanes[i]
		if _, less := p.Compare(l); len(less) > 0 || !matchesAny(l.If.Base, base) {
			continue
		}
		if slices.Contains(NamedBases(l), base) {
			return ByName
		}
		how = ByPattern
	}
	return how
}

// GuardedNames are those of the paths that p guards, for whichever reviewer, or that any preset has for instructions.
func GuardedNames(p quorum.Policy, paths []string) []string {
	guards := [][]string{p.Guard, review.InstructionFiles()}
	for i := range p.Reviewers {
		guards = append(guards, p.Reviewers[i].Guard)
	}
	var lists []pathfilter.Patterns
	for _, patterns := range guards { // each list by itself: what one excludes another may name
		list, err := pathfilter.CompileWithFolders(patterns)
		if err != nil { // unreachable: config has compiled them all
			return paths
		}
		lists = append(lists, list)
	}
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return !slices.ContainsFunc(lists, func(list pathfilter.Patterns) bool { return list.Match(path) })
	})
}

// An answer says whether a condition holds.
type answer uint8

const (
	no     answer = 1 + iota
	untold        // it hangs on who made the commits, which was not read
	yes
)

// pullView is what a pull request changes and who made it, as lanes and reviewers choose by it.
type pullView struct {
	policy   *quorum.Policy
	snapshot *quorum.Snapshot
}

// readLanes reads the lanes from the top to the first that asks less and surely holds, and then who votes.
func (v pullView) readLanes() (out quorum.Policy, w quorum.Wants) {
	out = *v.policy
	var added []string // keys that the lanes so far have added
	for i := range v.policy.Lanes {
		l := &v.policy.Lanes[i]
		adds, less := v.policy.Compare(l)
		isLess := len(less) > 0 && v.mayAskLess(l, &out, &w) == yes
		if isLess {
			out = out.Loosened(l, less, added)
		}
		if pr := &v.snapshot.PR; len(adds) > 0 {
			// A layer of a stack is judged as onto the trunk; what asks more may name its own base, too.
			state := v.holdsPossibly(&l.If, pr.Target(), pr.BaseRef)
			if w.Authors = w.Authors || state == untold; state == yes {
				out, added = out.Adding(l, adds), append(added, adds...)
			}
		}
		if isLess && quorum.EndsReading(less) {
			break
		}
	}
	v.chooseVoters(&out, &w)
	w.Lane = w.Authors || w.Links
	return out, w
}

// mayAskLess says whether a lane that asks less is surely for this pull request. If it surely holds and is not, out says why.
func (v pullView) mayAskLess(l *quorum.Lane, out *quorum.Policy, w *quorum.Wants) answer {
	state := v.holdsSurely(&l.If)
	if state == no {
		return no
	}
	why := v.whyNotLess(l)
	isBarred := why.Reason != ""
	switch {
	case isBarred && why.Reason != quorum.ReasonLaneLinks:
	case state == untold:
		w.Authors = true // what links tell is asked for once that is known
	case isBarred && !v.snapshot.NoLinks:
		w.Links = true
	}
	if state == yes && isBarred {
		out.Lane.Not = append(slices.Clip(out.Lane.Not), why)
		return no
	}
	return state
}

// chooseVoters excuses those who have no vote on this pull request.
func (v pullView) chooseVoters(out *quorum.Policy, w *quorum.Wants) {
	out.Reviewers = slices.Clone(out.Reviewers)
	for i := range out.Reviewers {
		r := &out.Reviewers[i]
		state := v.holdsPossibly(&r.When, v.snapshot.PR.Target())
		switch {
		case state == no: // it tells more than the lane: not even who must judge again votes
			r.Excused = quorum.ReasonWhen
		case r.Excused == "" && out.NeedsNoReview():
			r.Excused = quorum.ReasonNoReview
		}
		if out.Families == quorum.DistinctFamily {
			who, hand := v.possibleHand(familyOf(v.policy, r))
			if hand == yes && who.Login != "" { // a commit that may be anybody's is no agent's
				r.Relative = &who
			}
			w.Authors = w.Authors || hand == untold && !r.Retired
		}
		w.Authors = w.Authors || state == untold && !r.Retired
	}
}

// familyOf tells the accounts of a reviewer's family: those of itself, and of the policy's reviewers and the presets that have it.
func familyOf(p *quorum.Policy, r *quorum.Reviewer) func(a quorum.Account) bool {
	family := append(review.PresetsOf(r.Family), *r)
	for _, o := range p.Reviewers {
		if o.Family != "" && o.Family == r.Family {
			family = append(family, o)
		}
	}
	return func(a quorum.Account) bool {
		return slices.ContainsFunc(family, func(o quorum.Reviewer) bool { return o.IsFamily(a) })
	}
}

// whyNotLess says why a lane that asks less is not for this pull request although its condition holds; no Reason if it is.
func (v pullView) whyNotLess(l *quorum.Lane) (why quorum.LaneNot) {
	why.Name = l.Name
	if onto := v.snapshot.PR.Target(); onto != v.snapshot.PR.DefaultBranch && !slices.Contains(NamedBases(l), onto) {
		why.Reason, why.Detail = quorum.ReasonLaneBase, onto
		return why
	}
	policy, isPolicy := v.changedPolicy()
	guarded, isGuarded := v.guardedChange()
	if !isGuarded && l.Need != nil && l.Need.Share == quorum.NoReview {
		guarded, isGuarded = v.hiddenChange(l.If.AllPaths)
	}
	switch {
	case isPolicy:
		why.Reason, why.Detail = quorum.ReasonLanePolicy, policy
	case isGuarded:
		why.Reason, why.Detail = quorum.ReasonLaneGuard, guarded
	case v.snapshot.Links == nil:
		why.Reason = quorum.ReasonLaneLinks
	}
	return why
}

// NamedBases are the bases that a lane names without a pattern: beside the default branch, one that asks less holds
// against them alone. A branch may be called v1+, and a pattern so means others, too.
func NamedBases(l *quorum.Lane) []string {
	return slices.DeleteFunc(slices.Clone(l.If.Base), func(base string) bool {
		return !pathfilter.IsName(base) || !matchesAny(l.If.Base, base)
	})
}

// changedPolicy finds the file of the policy among those that the pull request changes, or one that may take its place.
func (v pullView) changedPolicy() (changed string, found bool) {
	file, pr := &v.snapshot.File, &v.snapshot.PR
	if file.Changed {
		return file.Path, true
	}
	isOrganisations := strings.EqualFold(file.Org.Repo, pr.Owner+"/"+pr.Repo)
	name, _ := strings.CutSuffix(file.Path, path.Ext(file.Path))
	return v.findPath(func(p string) bool {
		return isOrganisations && p == quorum.OrganisationPath || name != "" && (p == name+".yml" || p == name+".yaml")
	})
}

func (v pullView) findPath(is func(path string) bool) (path string, found bool) {
	paths := Paths(&v.snapshot.PR)
	if i := slices.IndexFunc(paths, is); i >= 0 {
		return paths[i], true
	}
	return "", false
}

// guardedChange finds a changed path that is guarded: by the policy, for whichever reviewer, as an instruction file of
// any preset, or as what such a name links to. The path is "" where the list of changed files is incomplete.
func (v pullView) guardedChange() (path string, found bool) {
	if v.areFilesMissing() {
		return "", true
	}
	if guarded := GuardedNames(*v.policy, Paths(&v.snapshot.PR)); len(guarded) > 0 {
		return guarded[0], true
	}
	return v.findPath(func(path string) bool {
		return slices.ContainsFunc(v.snapshot.Links, func(target string) bool { return isOnWay(path, target) })
	})
}

// hiddenChange finds a changed path that a lane without review is not for: below .github, or in a hidden folder, or
// in the place of one, that no pattern which matches it spells out. Tools look for their instructions there.
func (v pullView) hiddenChange(patterns []string) (path string, found bool) {
	return v.findPath(func(path string) bool {
		parts := strings.Split(path, "/")
		return parts[0] == ".github" || len(parts) > 1 && slices.ContainsFunc(parts, func(part string) bool {
			isSpelled := func(pattern string) bool {
				return slices.Contains(strings.Split(pattern, "/"), part) && matchesAny([]string{pattern}, path)
			}
			return strings.HasPrefix(part, ".") && !slices.ContainsFunc(patterns, isSpelled)
		})
	})
}

// isOnWay reports whether a path is the other, or on its way: what stands in a folder's place decides what is below.
func isOnWay(a, b string) bool {
	return a == b || b == "." || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// Paths are the changed files, of a rename both names.
func Paths(pr *quorum.PullRequest) (paths []string) {
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
func (v pullView) areFilesMissing() bool {
	return v.snapshot.PR.FilesMissing || len(v.snapshot.PR.Files) == 0
}

// holdsSurely says whether a condition holds whatever else is added to the pull request that it does not look at.
func (v pullView) holdsSurely(q *quorum.Condition) answer {
	switch {
	case q.OnlyAdds(),
		len(q.Base) > 0 && !matchesAny(q.Base, v.snapshot.PR.Target()),
		len(q.AllPaths) > 0 && (v.areFilesMissing() || !v.hasOnly(q.AllPaths)):
		return no
	case len(q.Authors) > 0:
		return v.surelyBy(q.Authors)
	}
	return yes
}

// holdsPossibly says whether a condition holds for a part of the pull request onto one of those bases, or may.
func (v pullView) holdsPossibly(q *quorum.Condition, bases ...string) answer {
	lacks := func(patterns []string) bool { // what stands in the place of a folder on the way brings in what is below it, as a link
		list, err := pathfilter.CompileWithFolders(patterns)
		return len(patterns) > 0 && !v.areFilesMissing() && err == nil && !slices.ContainsFunc(Paths(&v.snapshot.PR), list.Match)
	}
	switch {
	case len(q.Base) > 0 && !slices.ContainsFunc(bases, func(base string) bool { return matchesAny(q.Base, base) }),
		lacks(q.AllPaths), lacks(q.AnyPath),
		len(q.Labels) > 0 && !slices.ContainsFunc(q.Labels, v.snapshot.PR.HasLabel):
		return no
	case len(q.Authors) > 0:
		_, hand := v.possibleHand(func(a quorum.Account) bool { return slices.ContainsFunc(q.Authors, a.Is) })
		return hand
	}
	return yes
}

// hasOnly reports whether every changed path matches.
func (v pullView) hasOnly(patterns []string) bool {
	list, err := pathfilter.CompileAll(patterns)
	return err == nil && !slices.ContainsFunc(Paths(&v.snapshot.PR), func(path string) bool { return !list.Match(path) })
}

func matchesAny(patterns []string, name string) bool {
	list, err := pathfilter.CompileAll(patterns)
	return err == nil && list.Match(name)
}

// surelyBy says whether those accounts, and nobody else, opened the pull request and pushed and made all of its commits. An unknown
// pusher or author may be anybody, and a robot's commit is its own only if GitHub has verified its signature: anyone can write
// its name into one. Who has GitHub merge the base by its button is no exception: what was edited in a conflict looks the same.
func (v pullView) surelyBy(logins []string) answer {
	s := v.snapshot
	isNamed := func(a quorum.Account) bool { return slices.ContainsFunc(logins, a.Is) }
	isOther := func(a quorum.Account) bool { return !isNamed(a) }
	isByOther := func(c quorum.Commit) bool { return !isCommitBy(&c, isNamed) }
	switch {
	case slices.ContainsFunc(pushersOf(s), isOther):
		return no
	case s.Commits == nil:
		return untold
	case len(s.Commits) == 0 || len(s.Commits) < s.PR.Commits || !isPushListed(s), slices.ContainsFunc(s.Commits, isByOther):
		return no
	}
	return yes
}

// possibleHand finds who of those accounts had a hand in the change, or may have had one: a commit of which neither
// author nor pusher is known may be anybody's.
func (v pullView) possibleHand(isOne func(quorum.Account) bool) (who quorum.Account, state answer) {
	s := v.snapshot
	hands, isWhole := pushersOf(s), len(s.Commits) >= s.PR.Commits
	for _, c := range s.Commits {
		hands = append(hands, c.People...)
		isWhole = isWhole && (isPushListed(s) || len(c.People) > 0 && !slices.ContainsFunc(c.People, isUnknown))
	}
	i := slices.IndexFunc(hands, isOne)
	switch {
	case i >= 0:
		return hands[i], yes
	case s.Commits == nil:
		return who, untold
	case !isWhole:
		return who, yes
	}
	return who, no
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

// LessThanAbove finds the keys in which lane i of a policy asks less than a lane above it that asks less, too. Without any, [PolicyFor]
// keeps the promise of this package: a pull request that leaves a lane that asks less never comes to one that asks less still.
func LessThanAbove(p *quorum.Policy, i int) (keys []string, above int, found bool) {
	lane := &p.Lanes[i]
	if _, less := p.Compare(lane); !quorum.EndsReading(less) {
		return nil, 0, false
	}
	inLane := p.InLane(lane)
	for j := range i {
		above := &p.Lanes[j]
		if _, less := p.Compare(above); !quorum.EndsReading(less) || haveOtherBases(above.If.Base, lane.If.Base) {
			continue
		}
		inAbove := p.InLane(above)
		if keys := inLane.LessThan(&inAbove); quorum.EndsReading(keys) {
			return keys, j, true
		}
	}
	return nil, 0, false
}

// haveOtherBases reports whether it is sure that no branch matches both lists. Where both name patterns, the default branch may.
func haveOtherBases(a, b []string) bool {
	isOther := func(names, patterns []string) bool {
		return len(names) > 0 && len(patterns) > 0 && !slices.ContainsFunc(names, func(name string) bool {
			return !pathfilter.IsName(name) || matchesAny(patterns, name)
		})
	}
	return isOther(a, b) || isOther(b, a)
}
