package evidence

// What a head has from earlier ones with the same diff, as votes: objections until they are answered, approvals until
// their reviewer has begun anew, and how often somebody was asked about one diff.

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// carriedApproval finds the approval of an earlier head with the very same files that stands for this one: its reviewer
// has neither started a run nor said anything here.
func (v *attemptView) carriedApproval(got attemptResult) (st quorum.Stood, found bool) {
	if v.head.policy.Carry != quorum.CarrySameDiff || got.outcome == quorum.Findings || got.outcome == quorum.Approved || v.hasBegunHere() {
		return quorum.Stood{}, false
	}
	for _, st := range slices.Backward(v.head.record.record.Stood) {
		if st.Carried == "" || st.Reviewer != v.Name || st.Base != v.head.record.base || v.head.cycle.isBeforeBase(st.At) {
			continue
		}
		if why, _ := v.whyWithdrawn(&st); why == "" {
			return st, true
		}
	}
	return quorum.Stood{}, false
}

// hasBegunHere reports whether the reviewer has started a run on this head, or said something about it. A run that was
// skipped is none, and nothing is said by a review that GitHub moved here.
func (v *reviewerView) hasBegunHere() bool {
	if slices.ContainsFunc(v.runs.counted, func(run quorum.Run) bool { return v.reallyRan(&run) }) {
		return true
	}
	a := v.newestAttempt()
	said := slices.Concat(v.textStatements(&a), v.checkStatements(), v.statusStatements())
	return slices.ContainsFunc(said, func(s statement) bool {
		return s.Outcome != quorum.Unrelated && s.voidReason != quorum.ReasonMoved && !v.head.record.isCarried(v.Name, s.ref)
	})
}

// whyWithdrawn says why an approval of an earlier head stands no more, as GitHub shows its text; "" if it stands. Of
// what is no text only the record tells.
func (v *reviewerView) whyWithdrawn(st *quorum.Stood) (why quorum.Reason, by string) {
	if !isWithdrawable(st.Kind) {
		return "", ""
	}
	i := slices.IndexFunc(v.head.texts, func(t quorum.Text) bool { return t.TextRef == st.TextRef })
	if i < 0 {
		return quorum.ReasonDeleted, ""
	}
	t := &v.head.texts[i]
	switch {
	case !v.IsAuthor(t.Author):
		return quorum.ReasonEdited, t.Author.Login
	case t.State == "DISMISSED":
		dismissed, _ := v.head.dismissalOf(t.ID)
		return quorum.ReasonDismissed, dismissed.Login
	case t.Edited.After(st.At) && (v.isShared() || !v.IsAuthor(t.Editor)):
		return quorum.ReasonEdited, t.Editor.Login
	}
	s := statement{ref: t.TextRef, isReview: t.Kind == quorum.TextReview, reviewState: t.State}
	if s.isReview {
		s.threads = v.head.openedThreads(v.Reviewer, t.ID)
	}
	objecting, minor := v.threads.countObjecting(s.threads)
	s.Reading = v.texts.readText(v.Reviewer, t, t.State, objecting, minor)
	isOpen := (v.OnlyNew || s.NoOpen) && len(v.threads.openFindings()) > 0
	if s.Outcome == quorum.Approved && !isOpen || s.Outcome == quorum.Findings && v.threads.haveEnded(&s) {
		return "", ""
	}
	return quorum.ReasonEdited, t.Author.Login
}

// withCarried is the ballot of an approval of an earlier head. Nobody is asked or run again for it.
func (v *reviewerView) withCarried(b quorum.Ballot, st *quorum.Stood) quorum.Ballot {
	b.Vote, b.Outcome, b.Reason, b.Detail = quorum.Approve, quorum.Approved, quorum.ReasonCarried, st.Carried
	b.Carried, b.Evidence, b.Run, b.Attempt = st.Carried, st.TextRef, st.Run, st.Attempt
	b.Since, b.At, b.URL = st.At, latest(st.At, v.head.cycle.start), ""
	for i := range v.head.texts {
		if t := &v.head.texts[i]; t.TextRef == st.TextRef {
			b.URL = t.URL
		}
	}
	b.Threads = slices.ContainsFunc(v.head.snapshot.Threads, func(t quorum.Thread) bool {
		return v.IsAuthor(t.Author) && st.Kind == quorum.TextReview && t.Review == st.ID
	})
	return b
}

// isCarried reports whether a text is one that an earlier head has left to this one.
func (v recordView) isCarried(reviewer string, ref quorum.TextRef) bool {
	return slices.ContainsFunc(v.record.Stood, func(st quorum.Stood) bool {
		return st.Carried != "" && st.Reviewer == reviewer && st.TextRef == ref
	}) || slices.ContainsFunc(v.record.Objections, func(o quorum.Objection) bool {
		return o.Carried != "" && o.Reviewer == reviewer && o.TextRef == ref
	})
}

// markCounting marks the approvals that count, for the next head.
func markCounting(stood []quorum.Stood, p *quorum.Policy, base string, ballots []quorum.Ballot) {
	for i := range stood {
		st := &stood[i]
		st.Counts = p.Carry == quorum.CarrySameDiff && st.Base == base && slices.ContainsFunc(ballots, func(b quorum.Ballot) bool {
			return b.Vote == quorum.Approve && b.Reviewer == st.Reviewer && b.Evidence == st.TextRef
		})
	}
}
