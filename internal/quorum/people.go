package quorum

// People whose review is asked for, and when the verdict is told in a comment.

import (
	"slices"
	"strings"
	"time"
)

// An Escalation says whose review is asked for when nothing else helps. The zero value asks nobody.
type Escalation struct {
	To    []string      // logins, and teams as "org/team"
	After time.Duration // how long the check must have been Unverified
}

// IsTeam reports whether a name in [Escalation.To] is a team's.
func IsTeam(name string) bool { return strings.Contains(name, "/") }

// CommentWhen says when the verdict is also told in a comment on the pull request.
type CommentWhen uint8

const (
	CommentNever     CommentWhen = 1 + iota
	CommentOnProblem             // from the first Blocked or Unverified on
	CommentAlways
)

// VerdictMarker begins our comment that tells the verdict. Pages do not show it.
const VerdictMarker = "<!-- review-coordinator tells the verdict -->"

// AskedPeople is whose review was asked for on a pull request.
type AskedPeople struct {
	Head    string          `json:"head"` // on which; the first seven digits
	At      time.Time       `json:"at"`   // the last time
	To      []string        `json:"to"`
	Tries   int             `json:"tries,omitempty"` // after the first
	Refused []RefusedPerson `json:"refused,omitempty"`
}

// maxPeopleTries is how often those are asked again whom GitHub does not show as asked: its answer was lost.
const maxPeopleTries = 1

// RefusedPerson is GitHub's no to a request for somebody's review.
type RefusedPerson struct {
	Name   string `json:"name"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"` // hostile
}

// Invitations are what a decision rests on when people are asked for a review.
type Invitations struct {
	Off       bool         // nobody may be asked: nothing is remembered here
	Asked     *AskedPeople // whose review was asked for, unless somebody has answered since and the head is another
	Seen      []string     // whose review is asked for, as GitHub shows it, by whomever
	Spoken    []string     // logins of the pull request's author, and of those who have reviewed the head
	LoopEnded bool         // the fix loop has ended without a pass: a person is needed at once
}

// hasName reports whether a list has a name, as GitHub compares them.
func hasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// unasked are those of the policy's people who were not asked yet, and may be.
func (in *Invitations) unasked(to []string) (names []string) {
	for _, name := range to {
		isAsked := in.Asked != nil && hasName(in.Asked.To, name)
		if !isAsked && !hasName(in.Seen, name) && !hasName(in.Spoken, name) {
			names = append(names, name)
		}
	}
	return names
}

// unshown are those who were asked, and of whom GitHub shows no trace of it, nor has refused.
func (in *Invitations) unshown() (names []string) {
	if in.Asked == nil || in.Asked.Tries >= maxPeopleTries {
		return nil
	}
	for _, name := range in.Asked.To {
		isRefused := slices.ContainsFunc(in.Asked.Refused, func(r RefusedPerson) bool { return strings.EqualFold(r.Name, name) })
		if !isRefused && !hasName(in.Seen, name) && !hasName(in.Spoken, name) {
			names = append(names, name)
		}
	}
	return names
}
