package evidence

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// isRequest reports whether a comment consists of the words by which r is asked, and nothing else.
func isRequest(t *quorum.Text, r *quorum.Reviewer) bool {
	return strings.TrimSpace(t.Body) == strings.TrimSpace(r.Request.Comment)
}

// isReviewRequest reports whether an event asks r for a review.
func isReviewRequest(e *quorum.Event, r *quorum.Reviewer) bool {
	return e.Kind == quorum.ReviewRequested && r.Request.IsFor(e.Target)
}

// isOurs reports whether we wrote t: our own comments are never evidence. A job writes as github-actions[bot], as
// reviewers' workflows do, so there only what we would ask for tells them apart.
func (h *headView) isOurs(t *quorum.Text) bool {
	if t.Kind != quorum.TextComment || !t.Author.Same(h.snapshot.Ours) {
		return false
	}
	if !t.Author.Is(quorum.ActionsBot) {
		return true
	}
	return slices.ContainsFunc(h.policy.Reviewers, func(r quorum.Reviewer) bool {
		return r.Request.Comment != "" && isRequest(t, &r)
	})
}

// personRequest is when a person first asked the reviewer on this head and base; zero if none did. Later requests
// restart no clock: anybody may write them, and a wait must end.
func (v *reviewerView) personRequest() (at time.Time) {
	start, s := v.head.cycle.start, v.head.snapshot
	if at := v.head.record.personRequest(v.Name, start); !at.IsZero() {
		return at
	}
	isPerson := func(a quorum.Account) bool { return !a.Bot && !a.Same(s.Ours) }
	keepFirst := func(t time.Time) {
		if t.After(start) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if v.Request.Comment != "" {
		for i := range s.Comments {
			if t := &s.Comments[i]; isPerson(t.Author) && isRequest(t, v.Reviewer) {
				keepFirst(t.At)
			}
		}
	}
	if v.Request.Login != "" {
		for i := range s.Timeline {
			if e := &s.Timeline[i]; isReviewRequest(e, v.Reviewer) && isPerson(e.Actor) {
				keepFirst(e.At)
			}
		}
	}
	return at
}

// commandBefore finds whose command an approval answers: a review that approves by its state alone, whatever it says beside,
// after a comment that told the reviewer to, by anybody but a person who may stand in. It reviewed nothing.
func (v *reviewerView) commandBefore(c *candidate) (by string, found bool) {
	if len(v.Obeys) == 0 || !c.isReview || !strings.HasPrefix(c.Rule, "state: ") {
		return "", false
	}
	for i := range v.head.texts {
		t := &v.head.texts[i]
		isOfHead := !t.At.Before(v.head.cycle.arrival) || c.at.Before(v.head.cycle.arrival) // GitHub may show no arrival yet
		if isOfHead && !t.At.After(c.at) && v.isCommand(t) && !v.head.mayCommand(t.Author) {
			by, found = t.Author.Login, true
		}
	}
	return by, found
}

// isCommand reports whether a comment or a review tells the reviewer to approve, or to end what it objects to.
func (v *reviewerView) isCommand(t *quorum.Text) bool {
	body := strings.ToLower(t.Body)
	if v.IsAuthor(t.Author) {
		return false
	}
	isMentioned := strings.Contains(body, v.Addresses()[0])
	fields := strings.Fields(body)
	words := strings.FieldsFunc(body, func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(v.Obeys, func(command string) bool {
		if strings.HasPrefix(command, "/") { // with whatever stands between
			return !slices.ContainsFunc(strings.Fields(command), func(part string) bool { return !slices.Contains(fields, part) })
		}
		return isMentioned && slices.Contains(words, command)
	})
}

// mayCommand reports whether a is a person with write permission who had no hand in the change.
func (h *headView) mayCommand(a quorum.Account) bool {
	return h.hadNoHand(a) && h.snapshot.Permissions[strings.ToLower(a.Login)] >= quorum.Write
}

// commanders are the people whose permission to command the reviewer matters.
func (v *reviewerView) commanders() (logins []string) {
	if len(v.Obeys) == 0 {
		return nil
	}
	for i := range v.head.texts {
		if t := &v.head.texts[i]; !t.Author.Bot && v.isCommand(t) && !slices.Contains(logins, t.Author.Login) {
			logins = append(logins, t.Author.Login)
		}
	}
	return logins
}
