package evidence

// The ballot of one reviewer: whether it has a vote here, what its newest attempt came to, and what the policy makes of
// that.

import "github.com/review-coordinator/coordinator/internal/quorum"

// makeBallot makes the reviewer's ballot.
func (v *reviewerView) makeBallot() quorum.Ballot {
	if v.Excused == "" || v.Retired || v.past.hasObjectedBefore() || v.past.isRequiredAgain() {
		return v.makeVotersBallot()
	}
	return v.excuse(v.makeVotersBallot())
}

// makeVotersBallot makes the ballot that the reviewer has if it votes on this pull request.
func (v *reviewerView) makeVotersBallot() quorum.Ballot {
	b := quorum.Ballot{
		Reviewer: v.Name, Required: v.Required, Shadow: v.Shadow, Retired: v.Retired, Family: v.Family,
		Since: v.head.cycle.start, Relative: v.Relative != nil,
	}
	if why, detail, excluded := v.whyExcluded(); excluded {
		return declinedBallot(b, why, detail)
	}
	a := v.newestAttempt()
	if a.run != nil {
		b.Run, b.Attempt, b.URL = a.run.ID, a.number, a.run.URL
	}
	attempt := attemptView{reviewerView: v, attempt: a}
	got := attempt.judgeAttempt()
	isObjection := got.Outcome == quorum.Findings // one in doubt is waited for
	if why, detail := v.whyNoApproval(&a); why != "" && !isObjection {
		return declinedBallot(b, why, detail)
	}
	carry := carryView{v}
	if st, found := carry.carriedApproval(got); found {
		return carry.withCarried(b, &st)
	}
	b.Carried, b.Pull = got.carried, got.pull
	return newPlanner(attempt, got).completeBallot(b)
}

// isExcusedNow reports whether the reviewer has no vote on this pull request, and has not objected to it.
func (v *reviewerView) isExcusedNow() bool { return v.Excused != "" && v.makeBallot().Excused != "" }

// excuse returns the ballot of a reviewer without a vote on this pull request: what it approved is shown, nothing is
// waited for or done, and once it objects it votes. What seems to be an objection is one when its attempt has ended.
func (v *reviewerView) excuse(b quorum.Ballot) quorum.Ballot {
	seemsToObject := b.Vote == quorum.Pending && b.Then != nil && b.Then.Vote == quorum.Object
	switch {
	case b.Vote == quorum.Object:
		return b
	case seemsToObject:
		b.Next, b.Watch = nil, false
	case b.Vote != quorum.Approve:
		return declinedBallot(quorum.Ballot{
			Reviewer: b.Reviewer, Shadow: b.Shadow, Family: b.Family, Excused: v.Excused,
			Since: v.head.cycle.start, Run: b.Run, Attempt: b.Attempt, URL: b.URL,
		}, v.Excused, "")
	}
	b.Excused, b.Required = v.Excused, false
	return b
}

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
func (v *reviewerView) whyNoApproval(a *reviewAttempt) (why quorum.Reason, detail string) {
	path, isGuarded := v.guardedPath(a)
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

func declinedBallot(b quorum.Ballot, why quorum.Reason, detail string) quorum.Ballot {
	b.Vote, b.Outcome, b.Reason, b.Detail = quorum.Unavailable, quorum.Declined, why, detail
	return b
}
