package evidence

// The ballot of one reviewer: whether it has a vote here, what its newest attempt came to, and what that makes of it.

import (
	"cmp"
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// makeBallot makes the reviewer's ballot. Of one without a vote on this pull request it shows what it approved, nothing
// is waited for or done, and once it objects it votes. What seems to be an objection is one when its attempt has ended.
func (v *reviewerView) makeBallot() quorum.Ballot {
	b := v.makeVotersBallot()
	switch {
	case v.Excused == "", v.Retired, b.Vote == quorum.Object, v.hasObjectedBefore(), v.isRequiredAgain():
		return b
	case isOrBecomes(&b, quorum.Object): // it seems to object
		b.Next, b.Watch = nil, false
	case b.Vote != quorum.Approve:
		b = asUnavailable(v.newestAttempt().newBallot(), quorum.Declined, v.Excused, "")
	}
	b.Excused, b.Required = v.Excused, false
	return b
}

// isOrBecomes reports whether a ballot is that vote, or will be when its attempt ends.
func isOrBecomes(b *quorum.Ballot, vote quorum.Vote) bool {
	return b.Vote == vote || b.Then != nil && b.Then.Vote == vote
}

// newBallot is a ballot that tells only of which reviewer and run it is.
func (v *attemptView) newBallot() quorum.Ballot {
	b := quorum.Ballot{
		Reviewer: v.Name, Required: v.Required, Shadow: v.Shadow, Retired: v.Retired, Family: v.Family,
		Since: v.head.cycle.start, Relative: v.Relative != nil,
	}
	if run := v.attempt.run; run != nil {
		b.Run, b.Attempt, b.URL = run.ID, v.attempt.number, run.URL
	}
	return b
}

func (v *reviewerView) makeVotersBallot() quorum.Ballot {
	attempt := v.newestAttempt()
	b, got := attempt.newBallot(), attempt.judgeAttempt()
	if why, detail := attempt.whyNoVote(got.Outcome == quorum.Findings); why != "" { // an objection in doubt is waited for
		return asUnavailable(b, quorum.Declined, why, detail)
	}
	got = attempt.withCarried(got)
	b.Carried, b.Pull = got.carried, got.pull
	return newPlanner(attempt, got).completeBallot(b)
}

// whyNoVote says why the reviewer's word is worth nothing here; "" if it may count. An objection is void for fewer reasons.
func (v *attemptView) whyNoVote(objects bool) (why quorum.Reason, detail string) {
	path, isGuarded := v.guardedPath()
	switch {
	case v.Retired:
		return quorum.ReasonRetired, ""
	case v.Relative == nil && !v.isShared() && v.IsAuthor(v.head.snapshot.PR.Author):
		return quorum.ReasonSelf, v.Author
	case objects:
	case v.Relative != nil:
		return quorum.ReasonFamily, v.Relative.Login
	case isGuarded:
		return quorum.ReasonGuarded, path
	case isUnsafeLayer(v.head.snapshot):
		return quorum.ReasonOtherGuards, v.head.snapshot.PR.BaseRef
	}
	return "", ""
}

// asUnavailable is b as that of a reviewer that gives no vote, with what came of it and why.
func asUnavailable(b quorum.Ballot, o quorum.Outcome, why quorum.Reason, detail string) quorum.Ballot {
	b.Vote, b.Outcome, b.Reason, b.Detail = quorum.Unavailable, o, why, detail
	return b
}

// withCarried is a result, or the approval that an earlier head with the very same files has left to this one, where its
// reviewer has neither run nor spoken here. Nobody is asked or run again for it.
func (v *attemptView) withCarried(got statement) statement {
	if v.head.policy.Carry != quorum.CarrySameDiff || got.isVerdict() || v.hasBegunHere() {
		return got
	}
	for _, st := range slices.Backward(v.head.snapshot.Record.Stood) {
		isOwn := st.Carried != "" && st.Reviewer == v.Name && st.Base == v.head.record.base && st.Terms == termsOf(v.Reviewer)
		if isOwn && !v.head.cycle.isBeforeBase(st.At) && !(isWithdrawable(st.Kind) && v.isWithdrawn(&st)) {
			carried := statementOf(quorum.Approved, quorum.ReasonCarried, st.At)
			carried.ref, carried.carried, carried.Detail = st.TextRef, st.Carried, st.Carried
			carried.url = cmp.Or(v.head.shownText(st.TextRef), &quorum.Text{}).URL
			carried.hasThreads = st.Kind == quorum.TextReview && len(v.head.openedThreads(v.Reviewer, st.ID)) > 0
			return carried
		}
	}
	return got
}

// hasBegunHere reports whether the reviewer has run or spoken on this head, and not in a review that GitHub moved here.
func (v *attemptView) hasBegunHere() bool {
	said := slices.Concat(v.textStatements(), v.signalStatements())
	ran := slices.ContainsFunc(v.judged, func(a attemptView) bool { return !a.attempt.isOfTwin && rankOf(&a) > rankNothing })
	return ran || slices.ContainsFunc(said, func(s statement) bool {
		return s.Outcome != quorum.Unrelated && s.rejected != reviewMoved && !v.head.record.isCarried(v.Name, s.ref)
	})
}

// isWithdrawn reports whether an approval of an earlier head in a text stands no more, as GitHub shows that.
func (v *attemptView) isWithdrawn(st *quorum.Stood) bool {
	t := v.head.shownText(st.TextRef)
	if t == nil || !v.IsAuthor(t.Author) || t.State == "DISMISSED" ||
		t.Edited.After(st.At) && v.mayOtherHaveEdited(t) {
		return true
	}
	s := v.readAgain(t)
	isOpen := (v.OnlyNew || s.NoOpen) && len(v.openFindings()) > 0
	return !(s.Outcome == quorum.Approved && !isOpen || s.Outcome == quorum.Findings && v.haveEnded(&s))
}

func (v *reviewerView) mayOtherHaveEdited(t *quorum.Text) bool {
	return !t.Edited.IsZero() && (v.isShared() || !v.IsAuthor(t.Editor))
}

// mayCarryOverDraft reports whether a draft that waits may keep approvals of before: then as much is asked as for any other.
func mayCarryOverDraft(p *quorum.Policy, s *quorum.Snapshot) bool {
	mayCount := func(st quorum.Stood) bool { return st.Counts || st.Carried != "" }
	return p.Carry == quorum.CarrySameDiff && isJudgedLater(p, s) &&
		(slices.ContainsFunc(s.Record.Stood, mayCount) || hasCountedBefore(s))
}

// hasCountedBefore reports whether an approval counted on the head before, which had the same diff against the same base.
func hasCountedBefore(s *quorum.Snapshot) bool {
	b := &s.Before
	hasCounted := func(st quorum.Stood) bool { return st.Counts }
	return b.Diff == s.PR.Diff.Lines && b.Base == s.PR.BaseRef && slices.ContainsFunc(b.Stood, hasCounted)
}

// markCounting marks the approvals that count, for the next head, and notes on what terms those of this head do.
func markCounting(stood []quorum.Stood, p *quorum.Policy, base string, ballots []quorum.Ballot) {
	for i := range stood {
		st := &stood[i]
		isIts := slices.ContainsFunc(ballots, func(b quorum.Ballot) bool {
			return b.Vote == quorum.Approve && b.Reviewer == st.Reviewer && b.Evidence == st.TextRef
		})
		st.Counts = p.Carry == quorum.CarrySameDiff && st.Base == base && isIts
		by := firstOf(p.Reviewers, func(r *quorum.Reviewer) bool { return r.Name == st.Reviewer })
		if isIts && by != nil && st.Carried == "" {
			st.Terms = termsOf(by)
		}
	}
}

// hasObjectedBefore reports whether the reviewer has objected to this head: then it votes on it, whatever its lane is now.
func (v *reviewerView) hasObjectedBefore() bool {
	s, j := v.head.snapshot, lastJudged(v.head.snapshot.Record.Judged, v.Name)
	return j.Noes > 0 && j.Head == s.PR.Head ||
		slices.ContainsFunc(s.Record.Objections, func(o quorum.Objection) bool {
			return o.Reviewer == v.Name && v.head.record.concerns(&o)
		})
}

// isRequiredAgain reports whether the reviewer objected to the last head that it judged, and this one has another diff,
// or to this head against another base. Its answer is needed then in every lane but one that asks for no review.
func (v *reviewerView) isRequiredAgain() bool {
	if !v.MayVote() || v.Excused == quorum.ReasonWhen || v.head.policy.NeedsNoReview() {
		return false
	}
	if v.head.objectedElsewhere[v.Name] {
		return true
	}
	j, diff := lastJudged(v.head.snapshot.Record.Judged, v.Name), v.head.snapshot.PR.Diff.Lines
	isHere := j.Head == v.head.snapshot.PR.Head
	if v.onLeftHeads != nil && !isHere { // what GitHub shows of heads that were left, where no look has seen it
		left := v.onLeftHeads()
		isEdited := j.No && !left.No && v.Author == quorum.ActionsBot // any workflow edits what all of them write
		if left.Reviewer != "" && (left.Head != j.Head || !isEdited && left.Said.After(j.Said)) {
			j = left
		}
	}
	isOther := !isHere
	if j.Diff != "" && diff != "" {
		isOther = j.Diff != diff
	}
	return j.No && isOther || j.Again && isHere
}

// withPast adds to a ballot what the reviewer said before: on this diff, and on the head that it judged last.
func (v *reviewerView) withPast(b quorum.Ballot) quorum.Ballot {
	if v.isRequiredAgain() {
		b.Again, b.Required = true, true
	}
	s := v.head.snapshot
	now := nextJudged(lastJudged(s.Record.Judged, v.Name), &b, &s.PR)
	if isVerdictHere(&b) && now.Times > 1 && now.Diff != "" && now.Diff == s.PR.Diff.Lines {
		b.Asked, b.Flipped = now.Times, b.Vote == quorum.Approve && b.Reason != quorum.ReasonResolved && now.Noes > 0
	}
	if b.Then != nil {
		then := v.withPast(*b.Then)
		then.Required = b.Required
		b.Then = &then
	}
	return b
}
