package evidence

// Whose review was asked for when nothing else helped, and who has answered since.

import (
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// invitations are what is known of the people whose review is asked for.
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

// hasAnswered reports whether somebody has left a review since people were asked for one: who was asked, or whom GitHub
// calls a member. A stranger's review is no answer.
func hasAnswered(s *quorum.Snapshot, asked *quorum.AskedPeople) bool {
	return slices.ContainsFunc(s.Reviews, func(t quorum.Text) bool {
		isOne := t.Member || slices.ContainsFunc(asked.To, func(name string) bool { return strings.EqualFold(name, t.Author.Login) })
		return isOne && !t.Author.Bot && !t.Author.Same(s.PR.Author) && t.State != "PENDING" && t.At.After(asked.At)
	})
}

// rememberPeople adds that people are asked for a review. Who is asked again is not asked a third time.
func rememberPeople(s *quorum.Snapshot, names []string, now time.Time) *quorum.AskedPeople {
	asked := quorum.AskedPeople{Head: s.PR.Head}
	if before := openAsk(s); before != nil {
		asked = *before
	}
	if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(asked.To, name) }) {
		asked.Tries++
	}
	asked.At, asked.To = now.UTC(), withoutRepeats(slices.Concat(asked.To, names))
	return &asked
}
