package quorum

// How reviewers' services fared, and whether their answers are still understood: vendors change their format without a
// word. One answer that nobody can read shows nothing, several on different pull requests that asking again is of no use.

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A HeardAnswer is an answer of a reviewer, and whether it was understood. No vote rests on it; it may spare a request.
type HeardAnswer struct {
	TextRef
	Reviewer string
	Preset   string // of the reviewer; "" without one
	Pull     int
	Stranger string // who opened the pull request, as [PullRequest.Stranger] says it
	At       time.Time
	Unread   bool // it held no verdict in any shape that is known
}

const (
	MaxHeard   = 20 // a reviewer's newest answers that are looked at
	driftInRow = 3  // answers in a row that nobody understood, when the format is taken to have changed
)

// A Drift says how well a reviewer's newest answers were understood.
type Drift struct {
	Reviewer string `json:"reviewer"`
	Answers  int    `json:"answers"` // the newest ones, at most MaxHeard
	Unread   int    `json:"unread"`  // of them: not understood
	InRow    int    `json:"in_row"`  // pull requests of those after the last one that was understood; a stranger's count once
}

// Drifted reports whether asking the reviewer again for an answer that was not understood is of no use.
func (d Drift) Drifted() bool { return d.InRow >= driftInRow }

// Notable reports whether a person should be told: the format seems to have changed, for all answers or for most.
func (d Drift) Notable() bool {
	return d.Drifted() || d.Unread >= driftInRow && 2*d.Unread >= d.Answers
}

// DriftOf measures a reviewer's newest answers, those on one pull request aside; 0: on none.
func DriftOf(reviewer string, heard []HeardAnswer, aside int) Drift {
	d := Drift{Reviewer: reviewer}
	inRow := map[string]bool{}
	for _, a := range NewestAnswers(heard) {
		if a.Reviewer != reviewer || a.Pull == aside {
			continue
		}
		if d.Answers++; a.Unread {
			d.Unread++
		}
		if d.Unread == d.Answers { // none was understood yet
			inRow[sourceOf(a.Stranger, a.Pull)] = true
		}
	}
	d.InRow = len(inRow)
	return d
}

// DriftsOf measures the newest answers of each of p's reviewers that has given any, in their order.
func DriftsOf(p Policy, heard []HeardAnswer) (all []Drift) {
	for _, r := range p.Reviewers {
		if d := DriftOf(r.Name, heard, 0); d.Answers > 0 {
			all = append(all, d)
		}
	}
	return all
}

// NewestAnswers are the newest of each reviewer, newest first. Of two for one text the later was read anew, and counts.
func NewestAnswers(heard []HeardAnswer) []HeardAnswer {
	newest := slices.Clone(heard)
	slices.Reverse(newest)
	unread := map[bool]int{true: 1}
	return newestOfEach(newest, MaxHeard, func(a HeardAnswer) (string, any) { return a.Reviewer, a.TextRef },
		func(a, b HeardAnswer) int {
			return cmp.Or(
				b.At.Compare(a.At), unread[a.Unread]-unread[b.Unread], cmp.Compare(b.ID, a.ID), cmp.Compare(a.Reviewer, b.Reviewer),
				cmp.Compare(a.Kind, b.Kind),
			)
		})
}

// newestOfEach returns the newest of each reviewer; compare puts newer ones first. Of two of one name the first counts.
func newestOfEach[T any](all []T, most int, name func(T) (reviewer string, of any), compare func(a, b T) int) []T {
	known, count := map[[2]any]bool{}, map[string]int{}
	newest := slices.DeleteFunc(slices.Clone(all), func(x T) bool {
		reviewer, of := name(x)
		isKnown := known[[2]any{reviewer, of}]
		known[[2]any{reviewer, of}] = true
		return isKnown
	})
	slices.SortStableFunc(newest, compare)
	return slices.DeleteFunc(newest, func(x T) bool {
		reviewer, _ := name(x)
		count[reviewer]++
		return count[reviewer] > most
	})
}

// AnswersIn returns the answers that the ballots of a pull request rest on. What a contradiction, an unfilled
// template, a condition or a review of a part says was read, so the shape is known.
func AnswersIn(p Policy, pr PullRequest, ballots []Ballot) (heard []HeardAnswer) {
	for _, b := range ballots {
		isTold := b.isAnswer() && b.Reason != ReasonNotReceived // which takes the place of how it was read
		if b.Evidence.ID == 0 || b.Evidence.Kind == TextRun || !isTold {
			continue
		}
		a := HeardAnswer{TextRef: b.Evidence, Reviewer: b.Reviewer, Pull: pr.Number, At: b.Since, Stranger: pr.Stranger()}
		a.Unread = b.Reason == ReasonMalformed || b.Reason == ReasonDrift
		if i := slices.IndexFunc(p.Reviewers, func(r Reviewer) bool { return r.Name == b.Reviewer }); i >= 0 {
			a.Preset = p.Reviewers[i].Preset
		}
		heard = append(heard, a)
	}
	return heard
}

// isAnswer reports whether the reviewer's service has answered at all. A notice of a limit or an outage is none.
func (b *Ballot) isAnswer() bool {
	return slices.Contains([]Outcome{Approved, Findings, Partial, Malformed}, b.Outcome)
}

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
