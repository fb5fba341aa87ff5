package evidence

// What a head has from earlier ones with the same diff, as votes: objections until they are answered, approvals until
// their reviewer has begun anew, and how often somebody was asked about one diff.

import (
	"slices"
	"strings"
	"time"

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

// isAlike reports whether a commit is an earlier head with the same diff: nothing has changed since.
func (h *headView) isAlike(commit string) bool {
	return slices.ContainsFunc(h.snapshot.Record.Alike, func(head string) bool {
		return len(head) >= shortSHA && strings.HasPrefix(commit, head)
	})
}

// isCarried reports whether a text is one that an earlier head has left to this one.
func (v recordView) isCarried(reviewer string, ref quorum.TextRef) bool {
	return slices.ContainsFunc(v.record.Stood, func(st quorum.Stood) bool {
		return st.Carried != "" && st.Reviewer == reviewer && st.TextRef == ref
	}) || slices.ContainsFunc(v.record.Objections, func(o quorum.Objection) bool {
		return o.Carried != "" && o.Reviewer == reviewer && o.TextRef == ref
	})
}

// isCarriedAnswered reports whether an objection to an earlier head with this diff stands no more: by what its reviewer
// says here since, or by a person who ended it there.
func (v *attemptView) isCarriedAnswered(o *quorum.Objection, got attemptResult, isAnswer bool) bool {
	isAnswer = isAnswer && got.at.After(o.At)
	switch {
	case isAnswer:
		return true
	case o.Kind == quorum.TextThread:
		return v.isThreadAnswered(o.ID, false)
	}
	return o.Kind == quorum.TextReview && v.hasEndedSince(o)
}

// judged is the verdict that the reviewer gave last, as the record knows it.
func (v *reviewerView) judged() (j quorum.Judged, found bool) {
	i := slices.IndexFunc(v.head.record.record.Judged, func(j quorum.Judged) bool { return j.Reviewer == v.Name })
	if i < 0 {
		return quorum.Judged{}, false
	}
	return v.head.record.record.Judged[i], true
}

// isRequiredAgain reports whether the reviewer objected to the last head that it judged, and this one has another diff:
// its answer is needed, whatever lane the pull request is in now, unless that one asks for no review.
func (v *reviewerView) isRequiredAgain() bool {
	j, found := v.judged()
	if !found || !v.MayVote() || v.Excused == quorum.ReasonWhen || v.head.policy.NeedsNoReview() {
		return false
	}
	diff, isHere := v.head.snapshot.PR.Diff.Lines, j.Head == shortOf(v.head.snapshot.PR.Head)
	isOtherDiff := j.Diff == "" || diff == "" || j.Diff != diff
	return j.No && !isHere && isOtherDiff || j.Again && isHere
}

// withPast adds to a ballot what the reviewer said before: on this diff, and on the head that it judged last.
func (v *reviewerView) withPast(b quorum.Ballot) quorum.Ballot {
	if v.isRequiredAgain() {
		b.Again, b.Required = true, true
	}
	b.Asked, b.Flipped = v.countAnswers(&b)
	if b.Then != nil {
		then := *b.Then
		then.Again, then.Required = b.Again, b.Required
		then.Asked, then.Flipped = v.countAnswers(&then)
		b.Then = &then
	}
	return b
}

// countAnswers counts the verdicts on this diff, b among them; 0 if it is the only one. flipped says that it approves
// after an objection.
func (v *reviewerView) countAnswers(b *quorum.Ballot) (asked int, flipped bool) {
	j, found := v.judged()
	if !found || !isVerdictHere(b) || j.Diff == "" || j.Diff != v.head.snapshot.PR.Diff.Lines {
		return 0, false
	}
	asked, noes := j.Times, j.Noes
	if isNewVerdict(&j, b) {
		asked++
	}
	if asked < 2 {
		return 0, false
	}
	return asked, b.Vote == quorum.Approve && b.Reason != quorum.ReasonResolved && noes > 0
}

// isVerdictHere reports whether a ballot is a verdict that was given on this head.
func isVerdictHere(b *quorum.Ballot) bool {
	return b.Carried == "" && b.Evidence.ID != 0 && (b.Vote == quorum.Approve || b.Vote == quorum.Object)
}

func isNewVerdict(j *quorum.Judged, b *quorum.Ballot) bool {
	return b.Since.UTC().Truncate(time.Second).After(j.Said)
}

// rememberJudged remembers what each reviewer said last, and counts what it said on this diff.
func rememberJudged(all []quorum.Judged, s *quorum.Snapshot, ballots []quorum.Ballot) []quorum.Judged {
	head, diff := shortOf(s.PR.Head), s.PR.Diff.Lines
	for i := range ballots {
		b := &ballots[i]
		if !isVerdictHere(b) {
			continue
		}
		isNo := b.Vote == quorum.Object
		now := quorum.Judged{
			Reviewer: b.Reviewer, Head: head, No: isNo, Diff: diff, Times: 1, Said: b.Since.UTC().Truncate(time.Second), Again: b.Again,
		}
		if isNo {
			now.Noes = 1
		}
		at := slices.IndexFunc(all, func(j quorum.Judged) bool { return j.Reviewer == b.Reviewer })
		if at < 0 {
			all = append(all, now)
			continue
		}
		was := &all[at]
		switch {
		case isNewVerdict(was, b):
			if was.Diff == diff && diff != "" {
				now.Times, now.Noes = was.Times+1, was.Noes+now.Noes
			}
			*was = now
		case was.Head == head && was.Said.Equal(now.Said): // the same words count otherwise now: of open threads, say
			was.No, was.Noes = isNo, max(was.Noes, now.Noes)
		}
	}
	return all
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
