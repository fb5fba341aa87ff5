package evidence

// A push need not change what a pull request changes. So a verdict cannot be had by asking until it differs, nor by
// opening another pull request: what was objected to a diff stands on every head that has it, and comes back with it.
// Approvals are carried over only where the policy says so, and only to the very same files.

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// UnknownTree stands in a record for a tree that was asked for, and that GitHub does not tell whole.
const UnknownTree = "-"

// HasInherited reports whether the head's own record has taken over what the head before left, which was left then.
func HasInherited(s quorum.Snapshot, left time.Time) bool {
	rec := &s.Record
	return rec.Head == s.PR.Head && rec.Before != "" && rec.BeforeAt.Equal(left)
}

// Inherit returns the record of the head of s with what it has from the head before: objections, who judged last, and,
// where p carries them, approvals of the very same files. It may be applied at every look: what is there already stays.
func Inherit(p quorum.Policy, s quorum.Snapshot) quorum.Record {
	own := s.Record
	s = *withoutAccepts(&p, &s)
	if own.Head != s.PR.Head {
		own, s.Record = quorum.Record{}, quorum.Record{}
	}
	if s.PR.Diff.Lines == "" { // nothing is judged
		return own
	}
	in := inheritance{policy: &p, snapshot: &s, rec: cloneRecord(s.Record)}
	if own.Head != "" && own.Base != s.PR.BaseRef {
		left := ownDiffs(&in.rec)
		if MayBeSameBase(s) && s.Guards == own.Guards && !isPushedSince(&s, s.BasePushed) {
			move, _ := newestBaseMove(&s)
			moveBase(&in.rec, move, s.PR.BaseRef)
		} else {
			in.leaveBase()
		}
		in.addHeads(left)
		in.rec.Compared = quorum.Compared{}
	}
	if s.BeforeHead != "" {
		in.takeOver(s.Before)
		_, in.rec.BeforeAt = HeadsBefore(s)
		in.rec.Before = s.BeforeHead
		if in.rec.Org == "" && own.Seq == 0 { // a policy of the organisation that was known stays so
			in.rec.Org = s.Before.Org
		}
	}
	in.takeOverAlike()
	in.forget()
	if reflect.DeepEqual(in.rec, own) {
		return own
	}
	rec := in.rec
	rec.Version, rec.Head, rec.Base, rec.Pull = 1, s.PR.Head, s.PR.BaseRef, s.PR.Number
	rec.Diff, rec.Files = s.PR.Diff.Lines, s.PR.Diff.Files
	rec.Seq++
	return rec
}

// An inheritance is the record of a head while it takes over another one.
type inheritance struct {
	policy   *quorum.Policy
	snapshot *quorum.Snapshot
	rec      quorum.Record
}

// here is what the record tells about this head and base, with what was taken over.
func (in *inheritance) here() recordView {
	return recordView{record: &in.rec, base: in.snapshot.PR.BaseRef, diff: in.snapshot.PR.Diff.Lines}
}

// leaveBase notes what the head changed against the base of before, and what a person ended there. A text about this
// head that no run has left may have been begun against any base: it objects against this one, too.
func (in *inheritance) leaveBase() {
	pr := &in.snapshot.PR
	in.rec.Moved, in.rec.Guards = nil, ""
	var anew []quorum.Objection
	for i, o := range in.rec.Objections {
		if o.Of != 0 {
			continue
		}
		wasHere := in.rec.Concerns(&o, in.rec.Base, in.rec.Diff) || slices.Contains(o.AnsweredOn, in.rec.Base)
		isText := isWithdrawable(o.Kind) || o.Kind == quorum.TextThread
		markAccepted(&in.rec, &o)
		in.rec.Objections[i] = o
		in.rec.Objections[i].Diff = in.rec.DiffOf(&o)
		if isText && o.Run == 0 && o.Carried == "" && wasHere && in.rec.Diff != pr.Diff.Lines {
			o.Base, o.AnsweredOn, o.Named = pr.BaseRef, nil, time.Time{}
			anew = append(anew, o)
		}
	}
	for _, o := range anew {
		in.here().addObjection(o)
	}
}

// ownDiffs are what a record's head changed against its base and, as a layer of a stack, is judged by against the trunk.
func ownDiffs(rec *quorum.Record) []quorum.HeadDiff {
	own := []quorum.HeadDiff{{Head: rec.Head, Base: rec.Base, Diff: rec.Diff, Files: rec.Files}}
	if rec.Trunk != "" {
		own = append(own, quorum.HeadDiff{Head: own[0].Head, Base: rec.Trunk, Diff: rec.Diff})
	}
	return own
}

// addHeads adds what heads changed, the newest first, before those that are known.
func (in *inheritance) addHeads(heads []quorum.HeadDiff) {
	all := slices.Concat(heads, in.rec.Heads)
	in.rec.Heads = nil
	for _, h := range all {
		if h.Diff != "" {
			in.rec.Heads = withOnce(in.rec.Heads, h)
		}
	}
}

func (in *inheritance) takeOver(before quorum.Record) {
	if before.Head == "" || before.Head == in.snapshot.PR.Head {
		return
	}
	in.rec.People = cmp.Or(in.rec.People, before.People)
	in.addHeads(slices.Concat(ownDiffs(&before), before.Heads))
	for _, o := range before.Objections {
		in.takeOverObjection(&before, o)
	}
	for _, j := range before.Judged {
		if lastJudged(in.rec.Judged, j.Reviewer).Said.Before(j.Said) {
			in.rec.Judged = withJudged(in.rec.Judged, j)
		}
	}
	if before.Base == in.snapshot.PR.BaseRef && len(in.rec.Moved) == 0 {
		in.rec.Moved = before.Moved
	}
	for _, c := range before.Intents { // a run of this head that we cancelled when the pull request had left it
		isHere := slices.ContainsFunc(in.snapshot.Runs, func(run quorum.Run) bool { return run.ID == c.Run })
		if c.Kind == quorum.Cancel && isHere && !in.here().hasIntent(c.Kind, c.Run, c.Attempt) {
			in.rec.Intents = append(in.rec.Intents, c)
		}
	}
	in.takeOverFixes(&before)
	in.takeOverApprovals(&before)
}

// takeOverObjection takes over what was objected to an earlier head, whatever that changed: this one, or one that comes
// later, may change the same. GitHub may still show one that was answered.
func (in *inheritance) takeOverObjection(before *quorum.Record, o quorum.Objection) {
	markAccepted(before, &o)
	o.Diff = before.DiffOf(&o)
	if o.Carried = cmp.Or(o.Carried, before.Head); o.Carried == in.snapshot.PR.Head {
		o.Carried = ""
	}
	if own := firstOf(in.rec.Objections, func(own *quorum.Objection) bool { return o.IsSame(*own) }); own != nil {
		if o.Answered && !own.Answered {
			own.Answered, own.Resolved, own.Accepted, own.Own, own.May = true, o.Resolved, o.Accepted, o.Own, o.May
		}
		for _, base := range o.AnsweredOn {
			own.AnsweredOn = withBase(own.AnsweredOn, base)
		}
		return
	}
	o.Named, o.Of = time.Time{}, 0 // it is this pull request's own from now on
	if o.Answered {
		o.Excerpt, o.URL = "", ""
	}
	in.here().addObjection(o)
}

// takeOverApprovals takes over the approvals that counted, where this head has the very same files.
func (in *inheritance) takeOverApprovals(before *quorum.Record) {
	tree := in.snapshot.PR.Diff.Tree
	isSameTree := before.Diff == in.snapshot.PR.Diff.Lines && tree == before.Tree && tree != "" && tree != UnknownTree
	if in.policy.Carry != quorum.CarrySameDiff || !isSameTree || before.Base != in.snapshot.PR.BaseRef {
		return
	}
	for _, st := range before.Stood {
		isKnown := slices.ContainsFunc(in.rec.Stood, func(own quorum.Stood) bool {
			return own.Reviewer == st.Reviewer && own.Base == st.Base && own.TextRef == st.TextRef
		})
		isIts := func(r *quorum.Reviewer) bool { return r.Name == st.Reviewer && r.Workflow != "" }
		by := firstOf(in.policy.Reviewers, isIts)
		isBegunAnew := by != nil && slices.ContainsFunc(in.snapshot.Others, func(run quorum.Run) bool {
			isOfHead := run.Head == before.Head && run.Path == by.Workflow && run.Created.After(st.At)
			return isOfHead && run.Conclusion != "skipped" // such a run has not begun
		})
		if st.Counts && st.Base == before.Base && !isKnown && !isBegunAnew {
			in.rec.Guards = cmp.Or(in.rec.Guards, before.Guards)
			st.Counts, st.Carried = false, cmp.Or(st.Carried, before.Head)
			in.rec.Stood = append(in.rec.Stood, st)
		}
	}
}

// forget forgets the oldest objections to other diffs, but no reviewer's last one, and the oldest heads.
func (in *inheritance) forget() {
	others := 0
	for i, o := range slices.Backward(in.rec.Objections) {
		isBy := func(later quorum.Objection) bool { return later.Reviewer == o.Reviewer }
		isLast := !slices.ContainsFunc(in.rec.Objections[i+1:], isBy)
		switch isOver := o.Answered && o.Accepted == "" && o.Carried != ""; { // an accept may end by the policy
		case o.Of != 0, in.here().concerns(&o):
		case !isOver && (others < maxOthers || isLast):
			others++
		default:
			in.rec.Objections = slices.Delete(in.rec.Objections, i, i+1)
		}
	}
	heads := map[bool]int{} // those with this diff, and the others
	in.rec.Heads = slices.DeleteFunc(in.rec.Heads, func(h quorum.HeadDiff) bool {
		isSame := h.Diff == in.snapshot.PR.Diff.Lines
		heads[isSame]++
		return heads[isSame] > maxHeads
	})
}

// maxClosedTime is how long what was objected on a pull request counts elsewhere after that was closed.
const maxClosedTime = 14 * 24 * time.Hour

// MayBeAlike reports whether what was objected on o may count for pr: o is by the same author or from the same branch, and open
// or closed unmerged not long ago. It may have been onto the same base before. One with the same head shares pr's check.
func MayBeAlike(pr, o *quorum.PullRequest, now time.Time) bool {
	isSameBranch := o.HeadRef == pr.HeadRef && o.HeadRepo != "" && strings.EqualFold(o.HeadRepo, pr.HeadRepo)
	isOver := o.Merged || o.Closed && now.Sub(o.ClosedAt) > maxClosedTime
	return o.Number != pr.Number && o.Head != pr.Head && !isOver && (isSameBranch || o.Author.Same(pr.Author))
}

// IsCompared reports whether the head's own record knows which other pull requests onto its base have the same diff.
func IsCompared(s *quorum.Snapshot) bool {
	rec := &s.Record
	return rec.Head == s.PR.Head && rec.Base == s.PR.BaseRef && rec.Trunk == s.PR.Stack.Trunk && rec.Compared.Done
}

// IsKnownAlike reports whether the record knows if another pull request, with its head and base, has the same diff.
func IsKnownAlike(s *quorum.Snapshot, o *quorum.PullRequest) bool {
	return slices.Contains(s.Record.Compared.Alike, o.Number) || slices.Contains(s.Record.Compared.Unlike, unlikeName(o.Head, o.BaseRef))
}

// unlikeName names a head and its base in few letters, which nobody can find another head for.
func unlikeName(head, base string) string {
	sum := sha256.Sum256([]byte(head + " " + base))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// takeOverAlike takes over what was objected on other pull requests with this diff, and how it stands there now.
func (in *inheritance) takeOverAlike() {
	s := in.snapshot
	isOther := func(d quorum.HeadDiff) bool {
		return d.Base != s.PR.BaseRef && d.Base != s.PR.Target() || d.Diff != s.PR.Diff.Lines
	}
	for i := range s.Alike {
		other := &s.Alike[i]
		alike := without(append(ownDiffs(other), other.Heads...), isOther)
		switch {
		case len(alike) > 0:
			in.rec.Compared.Alike = withOnce(in.rec.Compared.Alike, other.Pull)
		case other.Diff != "" && other.Diff != s.PR.Diff.Lines && len(in.rec.Compared.Unlike) < maxUnlike:
			in.rec.Compared.Unlike = withOnce(in.rec.Compared.Unlike, unlikeName(other.Head, other.Base))
		}
		for _, o := range other.Objections {
			isOfAlike := func(d quorum.HeadDiff) bool { return d.Head == cmp.Or(o.Carried, other.Head) } // on this base
			if slices.ContainsFunc(alike, isOfAlike) && o.Of == 0 && o.Pull != s.PR.Number && other.DiffOf(&o) == s.PR.Diff.Lines {
				o.Pull, o.Answered, o.Ended = cmp.Or(o.Pull, other.Pull), o.Answered || o.Ended, false
				in.takeOverObjection(other, o)
			}
		}
	}
}
