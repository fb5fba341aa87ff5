package quorum

// When nothing else helps, people are asked for a review: once on a pull request, until somebody answered.

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
	Off    bool         // nobody may be asked: nothing is remembered here
	Asked  *AskedPeople // whose review was asked for, unless somebody has answered since and the head is another
	Seen   []string     // whose review is asked for, as GitHub shows it, by whomever
	Spoken []string     // logins of the pull request's author, and of those who have reviewed the head
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

// schedulePeople finds whose review is asked for, or when.
func (d *Decision) schedulePeople(p Policy, f Facts, now time.Time) {
	in := &f.Invited
	d.AskedPeople = in.Asked
	if in.Off || p.Mode != Enforce || len(p.Escalate.To) == 0 || d.Verdict != Unverified && !d.NeedsPerson() {
		return
	}
	if names := in.unasked(p.Escalate.To); len(names) > 0 {
		at := f.Start
		if !d.NeedsPerson() {
			at = d.unverifiedSince(p, f).Add(p.Escalate.After)
		}
		d.askPeople(names, at, now)
	}
	if again := in.unshown(); len(again) > 0 {
		d.askPeople(again, in.Asked.At.Add(ReplicaLag), now)
	}
	if len(d.Effects.People) > 0 {
		d.Effects.Head, d.Effects.Base = f.Head, f.Base
	}
}

// askPeople has people asked for a review at a moment.
func (d *Decision) askPeople(names []string, at, now time.Time) {
	if now.Before(at) {
		d.wakeBy(at)
		if d.PeopleAt.IsZero() {
			d.PeopleAt, d.NextPeople = at, names
		}
		return
	}
	d.Effects.People = append(d.Effects.People, names...)
}

// unverifiedSince is since when so many reviewers give no vote, or such a one, that the check cannot pass.
func (d *Decision) unverifiedSince(p Policy, f Facts) time.Time {
	if d.Reason == ReasonPeople {
		return laterOf(d.Enough, f.Start)
	}
	var ends []time.Time
	for _, b := range d.Ballots {
		if b.Voter() && b.Vote == Unavailable {
			ends = append(ends, laterOf(b.Since, f.Start))
		}
	}
	slices.SortFunc(ends, time.Time.Compare)
	for _, at := range ends {
		isLeft := func(b *Ballot) bool { return b.Vote != Unavailable || laterOf(b.Since, f.Start).After(at) }
		isLost := func(b Ballot) bool { return b.Required && b.Voter() && !isLeft(&b) }
		if countDistinct(p, d.Ballots, isLeft) < d.Need || slices.ContainsFunc(d.Ballots, isLost) {
			return at
		}
	}
	return f.Start
}
