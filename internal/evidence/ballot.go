package evidence

// The ballot of one reviewer: whether it has a vote here, what its newest attempt came to, and what the policy makes of
// that.

import (
	"cmp"
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// makeBallot makes the reviewer's ballot. Of one without a vote on this pull request it shows what it approved, nothing
// is waited for or done, and once it objects it votes. What seems to be an objection is one when its attempt has ended.
func (v *reviewerView) makeBallot() quorum.Ballot {
	b := v.makeVotersBallot()
	seemsToObject := b.Vote == quorum.Pending && b.Then != nil && b.Then.Vote == quorum.Object
	switch {
	case v.Excused == "", v.Retired, b.Vote == quorum.Object, v.past.hasObjectedBefore(), v.past.isRequiredAgain():
		return b
	case seemsToObject:
		b.Next, b.Watch = nil, false
	case b.Vote != quorum.Approve:
		b = asUnavailable(quorum.Ballot{
			Reviewer: b.Reviewer, Shadow: b.Shadow, Family: b.Family,
			Since: v.head.cycle.start, Run: b.Run, Attempt: b.Attempt, URL: b.URL,
		}, quorum.Declined, v.Excused, "")
	}
	b.Excused, b.Required = v.Excused, false
	return b
}

// makeVotersBallot makes the ballot that the reviewer has if it votes on this pull request.
func (v *reviewerView) makeVotersBallot() quorum.Ballot {
	b := quorum.Ballot{
		Reviewer: v.Name, Required: v.Required, Shadow: v.Shadow, Retired: v.Retired, Family: v.Family,
		Since: v.head.cycle.start, Relative: v.Relative != nil,
	}
	if why, detail, excluded := v.whyExcluded(); excluded {
		return asUnavailable(b, quorum.Declined, why, detail)
	}
	attempt := v.newestAttempt()
	if run := attempt.attempt.run; run != nil {
		b.Run, b.Attempt, b.URL = run.ID, attempt.attempt.number, run.URL
	}
	got := attempt.judgeAttempt()
	isObjection := got.Outcome == quorum.Findings // one in doubt is waited for
	if why, detail := attempt.whyNoApproval(); why != "" && !isObjection {
		return asUnavailable(b, quorum.Declined, why, detail)
	}
	if st, found := attempt.carriedApproval(got); found {
		return attempt.withCarried(b, &st)
	}
	b.Carried, b.Pull = got.carried, got.pull
	return newPlanner(attempt, got).completeBallot(b)
}

// isExcusedNow reports whether the reviewer has no vote on this pull request, and has not objected to it.
func (v *reviewerView) isExcusedNow() bool { return v.Excused != "" && v.makeBallot().Excused != "" }

// whyExcluded says why the reviewer has no say on this pull request, whatever it wrote.
func (v *reviewerView) whyExcluded() (why quorum.Reason, detail string, excluded bool) {
	switch {
	case v.Retired:
		return quorum.ReasonRetired, "", true
	case v.Relative == nil && !v.isShared() && v.IsAuthor(v.head.snapshot.PR.Author):
		return quorum.ReasonSelf, v.Author, true
	}
	return "", "", false
}

// whyNoApproval says why an approval of the reviewer's is worth nothing on this pull request; "" if it may count. Its objection does.
func (v *attemptView) whyNoApproval() (why quorum.Reason, detail string) {
	path, isGuarded := v.guardedPath()
	switch {
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

// Approvals that earlier heads with the very same files have left: they stand until their reviewer begins anew here.

// carriedApproval finds the approval that stands for this head, where its reviewer has neither run nor spoken here.
func (v *attemptView) carriedApproval(got statement) (st quorum.Stood, found bool) {
	if v.head.policy.Carry != quorum.CarrySameDiff || got.isVerdict() || v.hasBegunHere() {
		return st, false
	}
	for _, st := range slices.Backward(v.head.snapshot.Record.Stood) {
		isOwn := st.Carried != "" && st.Reviewer == v.Name && st.Base == v.head.record.base && st.Terms == termsOf(v.Reviewer)
		if isOwn && !v.head.cycle.isBeforeBase(st.At) && !(isWithdrawable(st.Kind) && v.isWithdrawn(&st)) {
			return st, true
		}
	}
	return st, false
}

// hasBegunHere reports whether the reviewer has run or spoken on this head, and not in a review that GitHub moved here.
func (v *attemptView) hasBegunHere() bool {
	said := slices.Concat(v.textStatements(&v.attempt), v.signalStatements())
	ran := slices.ContainsFunc(v.judged, func(a judgedAttempt) bool {
		return !a.attempt.isOfTwin && a.attemptRank() > rankNothing
	})
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
	isOpen := (v.OnlyNew || s.NoOpen) && len(v.threads.openFindings()) > 0
	return !(s.Outcome == quorum.Approved && !isOpen || s.Outcome == quorum.Findings && v.threads.haveEnded(&s))
}

// mayOtherHaveEdited reports whether somebody else than the reviewer may have edited its text.
func (v *reviewerView) mayOtherHaveEdited(t *quorum.Text) bool {
	return !t.Edited.IsZero() && (v.isShared() || !v.IsAuthor(t.Editor))
}

// withCarried is the ballot of an approval of an earlier head. Nobody is asked or run again for it.
func (v *attemptView) withCarried(b quorum.Ballot, st *quorum.Stood) quorum.Ballot {
	b.Vote, b.Outcome, b.Reason, b.Detail = quorum.Approve, quorum.Approved, quorum.ReasonCarried, st.Carried
	b.Carried, b.Evidence, b.Run, b.Attempt = st.Carried, st.TextRef, st.Run, st.Attempt
	b.Since, b.At = st.At, latest(st.At, v.head.cycle.start)
	b.URL = cmp.Or(v.head.shownText(st.TextRef), &quorum.Text{}).URL
	b.Threads = st.Kind == quorum.TextReview && len(v.head.openedThreads(v.Reviewer, st.ID)) > 0
	return b
}

// mayCarryOverDraft reports whether a draft that waits may keep approvals of before: then as much is asked as for any other.
func mayCarryOverDraft(p *quorum.Policy, s *quorum.Snapshot) bool {
	hasCounted := func(st quorum.Stood) bool { return st.Counts || st.Carried != "" }
	isSame := s.Before.Diff == s.PR.Diff.Lines && s.Before.Base == s.PR.BaseRef
	return p.Carry == quorum.CarrySameDiff && isJudgedLater(p, s) &&
		(slices.ContainsFunc(s.Record.Stood, hasCounted) || isSame && slices.ContainsFunc(s.Before.Stood, hasCounted))
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
