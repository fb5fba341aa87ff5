package quorum

// Whether a reviewer's answers are still understood. Vendors change their format without a word. A single answer that
// nobody can read shows nothing; several in a row, on different pull requests, show that asking again will not help.

import (
	"cmp"
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
