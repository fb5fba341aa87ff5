package quorum

// What a pull request, and the record of its check, show of reviewers' services.

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// CircuitsOf returns the circuits of p's reviewers of which there are signs, in their order.
func CircuitsOf(p Policy, signs []Sign) (all []Circuit) {
	if p.Breaker.Threshold < 1 {
		return nil
	}
	signs = NewestSigns(signs, p.Breaker.KeptSigns())
	for _, r := range p.Reviewers {
		isOther := func(s Sign) bool { return s.Reviewer != r.Name }
		if own := slices.DeleteFunc(slices.Clone(signs), isOther); len(own) > 0 {
			all = append(all, p.Breaker.circuitOf(r.Name, own))
		}
	}
	return all
}

// SignOfProbe is the sign that an attempt on a pull request is let through. Of a turn the first one counts.
func SignOfProbe(reviewer string, pr PullRequest, round, now time.Time) Sign {
	return Sign{
		Reviewer: reviewer, Of: nameOfTime(round), Kind: SignProbed, Pull: pr.Number,
		At: now.UTC().Truncate(time.Microsecond), // as a table keeps it
	}
}

// SignOfTold is the sign that an operator is told of an open circuit.
func SignOfTold(c Circuit, pr PR, now time.Time) Sign {
	since := c.Hold().Since
	return Sign{
		Reviewer: c.Reviewer, Of: nameOfTime(since), Kind: SignTold, Pull: pr.Number,
		At: laterOf(now.UTC().Truncate(time.Microsecond), since),
	}
}

// SignsOfRecord is what a record tells of circuits that outages opened: a process that has just begun knows of none.
func SignsOfRecord(p Policy, pr PullRequest, rec Record, now time.Time) (signs []Sign) {
	for _, h := range rec.Circuits {
		if !h.Limit {
			signs = append(signs, Sign{
				Reviewer: h.Reviewer, Of: nameOfTime(h.Since), Kind: SignHeld, Pull: pr.Number, At: h.Since,
				Until: earlierOf(h.Until, now.Add(p.Breaker.Reset)),
			})
		}
	}
	return signs
}

// SignsIn returns what the ballots of a pull request show of its reviewers' services.
func SignsIn(pr PullRequest, ballots []Ballot) (signs []Sign) {
	for i := range ballots {
		b := &ballots[i]
		s := Sign{Reviewer: b.Reviewer, Pull: pr.Number, Stranger: pr.Stranger(), At: b.Since}
		switch {
		case b.Since.IsZero() || b.Carried != "" || b.Reason.Standing(): // nothing of now
			continue
		case b.Outcome == Limited && !b.Reset.IsZero() && !pr.Fork: // a stranger can let a run's log say what it likes
			s.Kind, s.Until = SignLimited, b.Reset
		case b.Outcome == Overloaded, b.Outcome == Limited && !b.Reset.IsZero():
			s.Kind = SignOutage
		case b.isAnswer():
			s.Kind = SignAnswered
		default:
			continue
		}
		if s.Of = fmt.Sprintf("%s/%d", b.Evidence.Kind, b.Evidence.ID); b.Run != 0 {
			s.Of = fmt.Sprintf("run/%d/%d", b.Run, b.Attempt)
		}
		signs = append(signs, s)
	}
	return signs
}

func nameOfTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// NewestSigns returns the newest signs of each reviewer, oldest first. Of two of one name the first in the list counts.
func NewestSigns(signs []Sign, most int) []Sign {
	newest := newestOfEach(signs, most, func(s Sign) (string, any) { return s.Reviewer, [2]any{s.Of, s.Kind} },
		func(a, b Sign) int {
			return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Kind, a.Kind), b.Pull-a.Pull, cmp.Compare(b.Of, a.Of),
				cmp.Compare(b.Reviewer, a.Reviewer))
		})
	slices.Reverse(newest)
	return newest
}
