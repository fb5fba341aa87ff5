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
	words := strings.TrimSpace(r.Request.Comment)
	return words != "" && t.Kind == quorum.TextComment && strings.TrimSpace(t.Body) == words
}

func isReviewRequest(e *quorum.Event, r *quorum.Reviewer) bool {
	return e.Kind == quorum.ReviewRequested && r.Request.IsFor(e.Target)
}

// isOurs reports whether we wrote t: our own comments are never evidence. A job writes as github-actions[bot], as
// reviewers' workflows do, so there only what we would ask for tells them apart.
func (h *headView) isOurs(t *quorum.Text) bool {
	isAsked := func(r quorum.Reviewer) bool { return isRequest(t, &r) }
	return t.Kind == quorum.TextComment && t.Author.Same(h.snapshot.Ours) &&
		(!t.Author.Is(quorum.ActionsBot) || slices.ContainsFunc(h.policy.Reviewers, isAsked))
}

// personRequest is when a person first asked the reviewer on this head and base; zero if none did. Later requests
// restart no clock: anybody may write them, and a wait must end.
func (v *reviewerView) personRequest() (at time.Time) {
	start := v.head.cycle.start
	if at := v.head.record.firstAfter(v.head.snapshot.Record.Asked, v.Name, start); !at.IsZero() {
		return at
	}
	for _, e := range v.shownRequests() {
		isByPerson := !e.Actor.Bot && !e.Actor.Same(v.head.snapshot.Ours)
		if isByPerson && e.At.After(start) && (at.IsZero() || e.At.Before(at)) {
			at = e.At
		}
	}
	return at
}

// shownRequests are the requests to the reviewer that GitHub shows: events, and comments as events of no kind.
func (v *reviewerView) shownRequests() []quorum.Event {
	s := v.head.snapshot
	all := without(s.Timeline, func(e quorum.Event) bool { return !isReviewRequest(&e, v.Reviewer) })
	for i := range s.Comments {
		if t := &s.Comments[i]; isRequest(t, v.Reviewer) {
			all = append(all, quorum.Event{At: t.At, Actor: t.Author})
		}
	}
	return all
}

// commandWindow is how long after a command an approval may answer it: a stranger's words hold up no later one.
const commandWindow = 30 * time.Minute

// commandBefore finds whose command an approval answers: a review that approves by its state alone, whatever it says
// beside, after a comment that told r to, by anybody but a person who may stand in. It reviewed nothing.
func (h *headView) commandBefore(r *quorum.Reviewer, s *statement) (by string, found bool) {
	if len(r.Obeys) == 0 || !s.isReview() || !strings.HasPrefix(s.Rule, "state: ") {
		return "", false
	}
	isIt := func(c *quorum.Commanded) bool { return c.TextRef == s.ref }
	if seen := firstOf(h.record.record.Commanded, isIt); seen != nil { // at an earlier look
		return seen.By, true
	}
	isMaintainer := func(a quorum.Account) bool {
		return h.hadNoHand(a) && h.snapshot.Permissions[strings.ToLower(a.Login)] >= quorum.Write
	}
	for i := range h.texts {
		t := &h.texts[i]
		isOfHead := !t.At.Before(h.cycle.arrival) || s.at.Before(h.cycle.arrival) // GitHub may show no arrival yet
		if isOfHead && !t.At.After(s.at) && t.At.Add(commandWindow).After(s.at) && isCommand(t, r) && !isMaintainer(t.Author) {
			by, found = t.Author.Login, true
		}
	}
	return by, found
}

// isCommand reports whether a comment or a review tells r to approve, or to end what it objects to.
func isCommand(t *quorum.Text, r *quorum.Reviewer) bool {
	body := strings.ToLower(t.Body)
	isMentioned := strings.Contains(body, r.Addresses()[0])
	fields := strings.Fields(body)
	words := strings.FieldsFunc(body, func(char rune) bool { return !unicode.IsLetter(char) })
	return !r.IsAuthor(t.Author) && slices.ContainsFunc(r.Obeys, func(command string) bool {
		if strings.HasPrefix(command, "/") { // with whatever stands between
			isMissing := func(part string) bool { return !slices.Contains(fields, part) }
			return !slices.ContainsFunc(strings.Fields(command), isMissing)
		}
		return isMentioned && slices.Contains(words, command)
	})
}

// commanders are the people whose permission to command r matters.
func (h *headView) commanders(r *quorum.Reviewer) (logins []string) {
	if len(r.Obeys) == 0 {
		return nil
	}
	for i := range h.texts {
		if t := &h.texts[i]; !t.Author.Bot && isCommand(t, r) {
			logins = withOnce(logins, t.Author.Login)
		}
	}
	return logins
}
