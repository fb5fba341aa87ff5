package evidence

// People who stand in for a reviewer, those who request changes, and those whose review was asked for.

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxUnheard is how many approvals that do not count are shown: the newest.
const maxUnheard = 5

// standIns are the people who may stand in and approve, those whose approval does not count, and those who request changes.
func (h *headView) standIns() (approving, unheard []quorum.StandIn, against []string) {
	least, s := h.policy.StandIn, h.snapshot
	for _, t := range h.lastReviews() {
		may, known := s.Permissions[strings.ToLower(t.Author.Login)]
		isOpen := !known && t.Member && t.State == "CHANGES_REQUESTED" // until the permission is known
		by := quorum.StandIn{Login: t.Author.Login, Review: t.ID, At: t.At, URL: t.URL, Why: whyUnheard(h, &t, known && may < least)}
		by.Carried = carriedFrom(h, t.TextRef)
		switch {
		case t.State != "APPROVED":
			if may >= least || isOpen {
				against = append(against, t.Author.Login)
			}
		case by.Why == "" && known:
			approving = append(approving, by)
		case by.Why != "" && t.Member && len(unheard) < maxUnheard: // nobody expects a passer-by's to count
			unheard = append(unheard, by)
		}
	}
	slices.SortStableFunc(unheard, func(a, b quorum.StandIn) int { return a.At.Compare(b.At) })
	slices.Sort(against)
	return approving, unheard, against
}

// whyUnheard says why a person's approval does not count; "" if it does. Of a person who mayNot approve the permission is missing.
func whyUnheard(h *headView, t *quorum.Text, mayNot bool) quorum.Reason {
	isReviewer := func(r quorum.Reviewer) bool { return r.IsAuthor(t.Author) }
	switch s := h.snapshot; {
	case mayNot:
		return quorum.ReasonMayNot
	case slices.ContainsFunc(h.policy.Reviewers, isReviewer): // one identity fills one place
		return quorum.ReasonIsReviewer
	case (t.Commit != s.PR.Head || h.isMovedReview(t)) && carriedFrom(h, t.TextRef) == "":
		return quorum.ReasonMoved
	case h.cycle.isBeforeBase(t.At):
		return quorum.ReasonOldBase
	case !t.Edited.IsZero() && !t.Editor.Same(t.Author):
		return quorum.ReasonEdited
	case change.HadHand(s, t.Author):
		return quorum.ReasonHadHand
	case !change.AreHandsKnown(s):
		return quorum.ReasonHandsUnknown
	}
	return ""
}

// lastReviews are the newest deciding reviews of each person, the newest first: approvals, and requests for changes of any
// head, which GitHub keeps up across pushes, and which only a person who had no hand in the change ends by dismissing them.
func (h *headView) lastReviews() (out []quorum.Text) {
	seen := map[string]bool{}
	if h.policy.StandIn == 0 {
		return nil
	}
	for _, t := range slices.Backward(h.snapshot.Reviews) {
		login := strings.ToLower(t.Author.Login)
		if t.Author.Bot || login == "" || seen[login] {
			continue
		}
		isOpen := t.State == "CHANGES_REQUESTED" || t.State == "APPROVED"
		seen[login] = isOpen || t.State == "DISMISSED"
		by, was := h.dismissalOf(&t)
		isInVain := was == "CHANGES_REQUESTED" && !by.Same(t.Author) && !h.hadNoHand(by)
		if isOpen || t.State == "DISMISSED" && isInVain { // by one who may not
			out = append(out, t)
		}
	}
	return out
}

// hadNoHand reports whether a is a person who had no hand in the change, as the pull request is now.
func (h *headView) hadNoHand(a quorum.Account) bool {
	return change.HadNoHand(cmp.Or(h.now, h.snapshot), a)
}

// approvalsByPeople are the people's approvals that count, as ballots of no reviewer's name: what keeps a reviewer's keeps them.
func approvalsByPeople(views []*reviewerView) (all []quorum.Ballot) {
	if len(views) == 0 || views[0].head.policy.Carry != quorum.CarrySameDiff {
		return nil
	}
	approving, _, _ := views[0].head.standIns()
	for _, by := range approving {
		ref := quorum.TextRef{Kind: quorum.TextReview, ID: by.Review}
		all = append(all, quorum.Ballot{Vote: quorum.Approve, Evidence: ref, At: by.At, Carried: by.Carried})
	}
	return all
}

// carriedFrom is the earlier head that has left a person's approval to this one; "" if none has.
func carriedFrom(h *headView, ref quorum.TextRef) string {
	if h.policy.Carry != quorum.CarrySameDiff {
		return ""
	}
	isIt := func(st *quorum.Stood) bool { return st.Reviewer == "" && st.TextRef == ref }
	return cmp.Or(firstOf(h.snapshot.Record.Stood, isIt), &quorum.Stood{}).Carried
}

// mayStandHere reports whether a person's review is an approval of this head, or of an earlier one that may have left it to this.
func mayStandHere(s *quorum.Snapshot, t *quorum.Text) bool {
	return t.State == "APPROVED" && (t.Commit == s.PR.Head ||
		slices.ContainsFunc(slices.Concat(s.Record.Stood, s.Before.Stood), func(st quorum.Stood) bool {
			return st.Reviewer == "" && st.TextRef == t.TextRef
		}))
}

func (h *headView) invitations() quorum.Invitations {
	s := h.snapshot
	in := quorum.Invitations{
		Off:   s.NoRecord || s.PR.Fork && !h.policy.Escalate.Forks,
		Asked: openAsk(s), Spoken: []string{s.PR.Author.Login}, Seen: slices.Clone(s.PR.Requested),
	}
	for _, t := range s.Reviews {
		if t.Commit == s.PR.Head && t.State != "PENDING" && t.Author.Login != "" {
			in.Spoken = append(in.Spoken, t.Author.Login)
		}
	}
	if in.Asked == nil {
		return in
	}
	since := in.Asked.At.Add(-quorum.ReplicaLag)
	for _, e := range s.Timeline {
		if e.Kind == quorum.ReviewRequested && !e.At.Before(since) && e.Target.Login != "" {
			in.Seen = append(in.Seen, e.Target.Login)
		}
	}
	if hasAnswered(s, in.Asked) { // a team's request ends with it
		in.Seen = append(in.Seen, in.Asked.To...)
	}
	return in
}

// openAsk is whose review was asked for; nil if nobody's was, or if somebody has answered and the head is another one.
func openAsk(s *quorum.Snapshot) *quorum.AskedPeople {
	asked := s.Record.People
	if asked == nil || s.Record.Head != s.PR.Head || asked.Head != s.PR.Head && hasAnswered(s, asked) {
		return nil
	}
	return asked
}

// hasAnswered reports whether somebody who was asked, or whom GitHub calls a member, has left a review since.
func hasAnswered(s *quorum.Snapshot, asked *quorum.AskedPeople) bool {
	return slices.ContainsFunc(s.Reviews, func(t quorum.Text) bool {
		isIts := func(name string) bool { return strings.EqualFold(name, t.Author.Login) }
		isOne := t.Member || slices.ContainsFunc(asked.To, isIts)
		return isOne && !t.Author.Bot && !t.Author.Same(s.PR.Author) && t.State != "PENDING" && t.At.After(asked.At)
	})
}

// rememberPeople adds that people are asked for a review. Who is asked again is not asked a third time.
func rememberPeople(s *quorum.Snapshot, names []string, now time.Time) *quorum.AskedPeople {
	asked := *cmp.Or(openAsk(s), &quorum.AskedPeople{Head: s.PR.Head})
	if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(asked.To, name) }) {
		asked.Tries++
	}
	asked.At, asked.To = now.UTC(), withoutRepeats(slices.Concat(asked.To, names))
	return &asked
}
