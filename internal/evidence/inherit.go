package evidence

// A push need not change what a pull request changes. So a verdict cannot be had by asking until it differs: what was
// objected to a diff stands on every head that has it, and comes back with it. Approvals are carried over only where
// the policy says so, and only to the very same files.

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// UnknownTree stands in a record for a tree that was asked for, and that GitHub does not tell whole.
const UnknownTree = "-"

const (
	maxAlike          = 10 // earlier heads with the same diff that are remembered
	maxPast           = 20 // other diffs that are remembered, unless a reviewer's last objection is among the rest
	maxPastObjections = 40 // in all of them
)

// HasInherited reports whether the head's own record has taken over what the head before left, which was left then.
func HasInherited(s quorum.Snapshot, left time.Time) bool {
	rec := &s.Record
	return rec.Head == s.PR.Head && rec.Before != "" && rec.BeforeAt.Equal(left)
}

// Inherit returns the record of the head of s with what it has from the head before: what was objected to the same
// diff, the objections to others, who judged last, and, where p carries them, approvals of the very same files. It
// changes nothing that is there already, so that it may be applied at every look.
func Inherit(p quorum.Policy, s quorum.Snapshot) quorum.Record {
	own := s.Record
	if own.Head != s.PR.Head {
		own = quorum.Record{}
	}
	if s.PR.Diff.Lines == "" { // nothing is judged
		return own
	}
	in := inheritance{policy: &p, snapshot: &s, rec: cloneRecord(own)}
	if own.Head != "" && own.Base != s.PR.BaseRef {
		in.changeBase()
	}
	if s.BeforeHead != "" {
		in.takeOver(s.Before)
		_, in.rec.BeforeAt = HeadsBefore(s)
		in.rec.Before = s.BeforeHead
		if in.rec.Org == "" && own.Seq == 0 { // a policy of the organisation that was known stays so
			in.rec.Org = s.Before.Org
		}
	}
	in.bringBack()
	in.addLateObjections()
	if reflect.DeepEqual(in.rec, own) {
		return own
	}
	rec := in.rec
	rec.Version, rec.Head, rec.Base, rec.Pull = 1, s.PR.Head, s.PR.BaseRef, s.PR.Number
	rec.Diff = s.PR.Diff.Lines
	rec.Seq++
	return rec
}

// An inheritance is the record of a head while it takes over another one.
type inheritance struct {
	policy   *quorum.Policy
	snapshot *quorum.Snapshot
	rec      quorum.Record
}

// changeBase keeps what was objected here where the diff is the same against the new base, and texts about this head of which
// nobody knows against which base they were begun: a no belongs to the change. Of the rest it notes to which diff it was.
func (in *inheritance) changeBase() {
	isSame := in.rec.Diff == in.snapshot.PR.Diff.Lines
	if !isSame {
		in.rec.Past = rememberPast(in.rec.Past, ownPast(&in.rec))
		in.rec.Alike = nil
	}
	for i := range in.rec.Objections {
		o := &in.rec.Objections[i]
		if o.Base == in.rec.Base && o.Of == 0 && (isSame || isOwnText(o)) {
			o.Answered = o.Answered || isAccepted(&in.rec, o)
			o.Base = in.snapshot.PR.BaseRef
		}
	}
}

// isOwnText reports whether an objection is a text about this very head that no run has left.
func isOwnText(o *quorum.Objection) bool {
	isText := o.Kind == quorum.TextReview || o.Kind == quorum.TextComment || o.Kind == quorum.TextThread
	return isText && o.Run == 0 && o.Carried == ""
}

// ownPast is what a record holds against its own diff.
func ownPast(rec *quorum.Record) quorum.PastDiff {
	past := quorum.PastDiff{Diff: rec.Diff, Head: shortOf(rec.Head)}
	for _, o := range rec.Objections {
		if o.Base == rec.Base && !o.Answered && !isAccepted(rec, &o) {
			past.Objections = append(past.Objections, o)
		}
	}
	return past
}

// takeOver takes over the record of the head before.
func (in *inheritance) takeOver(before quorum.Record) {
	if before.Head == "" || before.Head == in.snapshot.PR.Head {
		return
	}
	if in.rec.People == nil {
		in.rec.People = before.People
	}
	for _, past := range slices.Backward(before.Past) {
		in.rec.Past = rememberPast(in.rec.Past, past)
	}
	in.rec.Past = rememberPast(in.rec.Past, ownPast(&before))
	for _, j := range before.Judged {
		i := slices.IndexFunc(in.rec.Judged, func(own quorum.Judged) bool { return own.Reviewer == j.Reviewer })
		switch {
		case i < 0:
			in.rec.Judged = append(in.rec.Judged, j)
		case in.rec.Judged[i].Said.Before(j.Said):
			in.rec.Judged[i] = j
		}
	}
	in.takeOverFixes(&before)
	if before.Diff != in.snapshot.PR.Diff.Lines {
		return
	}
	in.rec.Alike = slices.Concat([]string{shortOf(before.Head)}, before.Alike, in.rec.Alike)
	in.rec.Alike = withoutRepeats(slices.DeleteFunc(in.rec.Alike, func(head string) bool { return head == shortOf(in.snapshot.PR.Head) }))
	in.rec.Alike = in.rec.Alike[:min(len(in.rec.Alike), maxAlike)]
	in.takeOverAnswers(&before)
	in.takeOverApprovals(&before)
}

// takeOverAnswers takes over which objections to this diff were answered: GitHub may still show them.
func (in *inheritance) takeOverAnswers(before *quorum.Record) {
	for _, o := range before.Objections {
		if o.Base != before.Base || !o.Answered && !isAccepted(before, &o) {
			continue
		}
		o.Base = in.snapshot.PR.BaseRef
		if i := in.indexOfObjection(&o); i >= 0 {
			in.rec.Objections[i].Answered = true
			continue
		}
		o.Answered, o.Excerpt, o.URL, o.Named, o.Of, o.Carried = true, "", "", time.Time{}, 0, cmp.Or(o.Carried, shortOf(before.Head))
		in.rec.Objections = append(in.rec.Objections, o)
	}
}

func (in *inheritance) indexOfObjection(o *quorum.Objection) int {
	return slices.IndexFunc(in.rec.Objections, func(own quorum.Objection) bool {
		return own.Reviewer == o.Reviewer && own.Base == o.Base && own.TextRef == o.TextRef && own.Run == o.Run &&
			own.Attempt == o.Attempt && own.At.Equal(o.At) // a check run may fail again after it was answered
	})
}

// takeOverApprovals takes over the approvals that counted, where this head has the very same files.
func (in *inheritance) takeOverApprovals(before *quorum.Record) {
	tree := in.snapshot.PR.Diff.Tree
	isSameTree := tree == before.Tree && tree != "" && tree != UnknownTree
	if in.policy.Carry != quorum.CarrySameDiff || !isSameTree || before.Base != in.snapshot.PR.BaseRef {
		return
	}
	for _, st := range before.Stood {
		isKnown := slices.ContainsFunc(in.rec.Stood, func(own quorum.Stood) bool {
			return own.Reviewer == st.Reviewer && own.Base == st.Base && own.TextRef == st.TextRef
		})
		if !st.Counts || st.Base != before.Base || isKnown {
			continue
		}
		st.Counts, st.Carried = false, cmp.Or(st.Carried, shortOf(before.Head))
		in.rec.Stood = append(in.rec.Stood, st)
	}
}

// bringBack brings back what was objected to the diff that the head has against its base now, whichever base it was said of.
func (in *inheritance) bringBack() {
	lines, base, head := in.snapshot.PR.Diff.Lines, in.snapshot.PR.BaseRef, shortOf(in.snapshot.PR.Head)
	in.rec.Past = slices.DeleteFunc(in.rec.Past, func(past quorum.PastDiff) bool {
		if past.Diff != lines {
			return false
		}
		for _, o := range past.Objections {
			o.Base = base
			if in.indexOfObjection(&o) >= 0 {
				continue
			}
			if o.Carried = cmp.Or(o.Carried, past.Head); o.Carried == head {
				o.Carried = ""
			}
			o.Named, o.Of = time.Time{}, 0 // it is this pull request's own from now on
			in.rec.Objections = append(in.rec.Objections, o)
		}
		return true
	})
	if len(in.rec.Past) == 0 {
		in.rec.Past = nil
	}
}

// addLateObjections adds what was objected to earlier heads with this diff, and what no look saw there: just before the
// push, or by a run that ended after it.
func (in *inheritance) addLateObjections() {
	s := *in.snapshot
	s.Record = in.rec
	for _, o := range objectionsOfAlikeHeads(in.policy, &s) {
		isKnown := slices.ContainsFunc(in.rec.Objections, func(own quorum.Objection) bool {
			return own.Reviewer == o.Reviewer && own.Base == o.Base && own.TextRef == o.TextRef && own.Attempt >= o.Attempt
		})
		if !isKnown {
			in.rec.Objections = appendObjection(in.rec.Objections, o)
		}
	}
}

// objectionsOfAlikeHeads are the objections that GitHub shows to earlier heads with this diff, by texts that name their
// commit or belong to its run.
func objectionsOfAlikeHeads(p *quorum.Policy, s *quorum.Snapshot) (all []quorum.Objection) {
	texts := newTextReader()
	for _, alike := range s.Record.Alike {
		head := headByPrefix(s, alike)
		if head == "" {
			continue
		}
		past := snapshotOfLeftHead(s, head)
		var then quorum.Record
		for _, v := range viewsOf(p, &past, texts) {
			if v.Verdict.Kind == quorum.Artifact { // its files are not read
				continue
			}
			if b := v.makeBallot(); b.Vote == quorum.Object && b.Reason != quorum.ReasonOpenThreads && v.isOfHead(b.Evidence) {
				rememberBallot(&then, past, b)
			}
		}
		for _, o := range then.Objections {
			o.Carried = alike
			all = append(all, o)
		}
	}
	return all
}

// rememberPast adds what was objected to another diff. Of those that are too many the oldest go, but no reviewer's last
// one.
func rememberPast(all []quorum.PastDiff, past quorum.PastDiff) []quorum.PastDiff {
	if past.Diff == "" || len(past.Objections) == 0 {
		return all
	}
	kept := []quorum.PastDiff{past}
	for _, old := range all {
		if old.Diff == past.Diff {
			kept[0].Objections = slices.Clone(kept[0].Objections)
			for _, o := range old.Objections {
				kept[0].Objections = appendObjection(kept[0].Objections, o)
			}
			continue
		}
		kept = append(kept, old)
	}
	for i := len(kept) - 1; i > 0 && (len(kept) > maxPast || countObjections(kept) > maxPastObjections); i-- {
		if !holdsLast(kept, i) {
			kept = slices.Delete(kept, i, i+1)
		}
	}
	return kept
}

func countObjections(all []quorum.PastDiff) (n int) {
	for _, past := range all {
		n += len(past.Objections)
	}
	return n
}

// holdsLast reports whether one of the diffs holds all that is left of what some reviewer objected to any.
func holdsLast(all []quorum.PastDiff, at int) bool {
	return slices.ContainsFunc(all[at].Objections, func(o quorum.Objection) bool {
		for i, other := range all {
			if i != at && slices.ContainsFunc(other.Objections, func(x quorum.Objection) bool { return x.Reviewer == o.Reviewer }) {
				return false
			}
		}
		return true
	})
}
