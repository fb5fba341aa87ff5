package quorum

import (
	"cmp"
	"slices"
)

// What a reviewer said below one of several pull requests of one head and base it said of the change of each.

// A Twin is another pull request of the same head and base, with its ballots as they are by what was said there.
type Twin struct {
	Number  int
	Ballots []Ballot
}

// IsTwinOf reports whether what was said below one of two open pull requests of a head counts for the other.
func (p *PullRequest) IsTwinOf(o *PullRequest) bool {
	isOfOne := !p.Fork && !o.Fork || p.Fork && o.Fork && p.Author.Same(o.Author)
	return isOfOne && p.Number != o.Number && p.BaseRef == o.BaseRef && !p.Closed && !o.Closed
}

// WithTwins returns the ballots of a pull request with what reviewers said below its twins: who has left nothing here
// approves, or is at work, there; and an approval there answers what was objected here before it began.
func WithTwins(own []Ballot, twins []Twin) []Ballot {
	all := slices.Clone(own)
	for i := range all {
		for _, t := range twins {
			for _, b := range t.Ballots {
				isBetter := all[i].Of == 0 || b.Vote == Approve && all[i].Vote != Approve
				if b.Reviewer == own[i].Reviewer && isBetter && b.countsFor(&own[i]) {
					all[i] = b.takenOver(&own[i], t.Number)
				}
			}
		}
	}
	return all
}

// countsFor reports whether a twin's ballot counts in place of a pull request's own.
func (b *Ballot) countsFor(own *Ballot) bool {
	switch {
	case b.Excused != "" || own.Excused != "" || own.Retired || own.Relative:
		return false
	case own.Vote == Object: // the twin knows of it, so b is what it came to there
		began := cmp.Or(b.Begun, b.Since)
		return b.Vote == Approve && b.Reason != ReasonResolved && own.Since.Before(began)
	case own.Outcome == Silent:
		return b.Vote == Approve || b.Run != 0
	}
	return b.Vote == Approve && (own.Outcome == Empty || own.Reason == ReasonSkipped)
}

// takenOver is a twin's ballot as it counts in place of own. What is done for its reviewer the twin does.
func (b Ballot) takenOver(own *Ballot, number int) Ballot {
	b.Required, b.Shadow, b.Family, b.Again = own.Required, own.Shadow, own.Family, own.Again
	b.InsteadOf, b.Turn = own.InsteadOf, own.Turn
	b.Of, b.Next, b.Planned, b.Circuit = number, nil, false, Hold{}
	if b.Then != nil {
		then := b.Then.takenOver(own, number)
		b.Then = &then
	}
	return b
}

// WithEnded is the record in which what was objected to its own pull request and ended there is answered: ballots are by what
// was said below that one alone. Who retired has ended nothing, and what a person accepted the accept itself ends.
func (r Record) WithEnded(ballots []Ballot) Record {
	isEnded := func(o *Objection) bool {
		return slices.ContainsFunc(ballots, func(b Ballot) bool {
			return b.Reviewer == o.Reviewer && b.Vote != Object && !b.isDoubt() && !b.Retired && b.Ended.How != ReasonOverridden
		})
	}
	next := r.Seq + 1
	r.Objections = slices.Clone(r.Objections)
	for i := range r.Objections {
		if o := &r.Objections[i]; o.Of == 0 && !o.Answered && r.Concerns(o, r.Base, r.Diff) && isEnded(o) {
			o.Answered, r.Seq = true, next
		}
	}
	return r
}
