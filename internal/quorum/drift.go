package quorum

// Whether a reviewer's answers are still understood. Vendors change their format without a word. A single answer that
// nobody can read shows nothing; several in a row, on different pull requests, show that asking again will not help.

import (
	"cmp"
	"slices"
	"time"
)

// A HeardAnswer is an answer of a reviewer on a pull request, and whether it was understood. It is history: it decides
// no vote, and may spare a request.
type HeardAnswer struct {
	TextRef
	Reviewer string
	Preset   string // of the reviewer; "" without one
	Pull     int
	Stranger string // who opened the pull request, as [PullRequest.Stranger] says it
	At       time.Time
	Unread   bool // it held no verdict in any shape that is known
}

// MaxHeard is how many of a reviewer's newest answers are looked at.
const MaxHeard = 20

// driftInRow is how many answers in a row nobody understood when the format is taken to have changed.
const driftInRow = 3

// A Drift says how well a reviewer's newest answers were understood.
type Drift struct {
	Reviewer string `json:"reviewer"`
	Answers  int    `json:"answers"` // the newest ones, at most MaxHeard
	Unread   int    `json:"unread"`  // of them: not understood
	// InRow counts the pull requests of those that came after the last one that was understood; a stranger's count
	// once.
	InRow int `json:"in_row"`
}

// Drifted reports whether asking the reviewer again for an answer that was not understood is of no use.
func (d Drift) Drifted() bool { return d.InRow >= driftInRow }

// Notable reports whether a person should be told: the format seems to have changed, whether for all answers or for
// most.
func (d Drift) Notable() bool {
	return d.Drifted() || d.Unread >= driftInRow && 2*d.Unread >= d.Answers
}

// DriftOf measures a reviewer's newest answers, those on one pull request aside; 0: on none.
func DriftOf(reviewer string, heard []HeardAnswer, aside int) Drift {
	d := Drift{Reviewer: reviewer}
	type source struct {
		pull     int
		stranger string
	}
	unread, ended := map[source]bool{}, false
	for _, a := range NewestAnswers(heard) {
		if a.Reviewer != reviewer || a.Pull == aside {
			continue
		}
		d.Answers++
		if !a.Unread {
			ended = true
			continue
		}
		d.Unread++
		from := source{pull: a.Pull}
		if a.Stranger != "" { // or three pull requests of one stranger would keep others' from being asked again
			from = source{stranger: a.Stranger}
		}
		if !ended && !unread[from] {
			unread[from] = true
			d.InRow++
		}
	}
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

// NewestAnswers returns the newest answers of each reviewer, newest first. Of two entries for one text the later in the
// list counts: the text was read anew.
func NewestAnswers(heard []HeardAnswer) []HeardAnswer {
	type key struct {
		TextRef
		reviewer string
	}
	at := make(map[key]int, len(heard))
	all := make([]HeardAnswer, 0, len(heard))
	for _, a := range heard {
		k := key{a.TextRef, a.Reviewer}
		if i, known := at[k]; known {
			all[i] = a
			continue
		}
		at[k] = len(all)
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, b HeardAnswer) int {
		unread := func(a HeardAnswer) int {
			if a.Unread {
				return 1
			}
			return 0
		}
		return cmp.Or(
			b.At.Compare(a.At), cmp.Compare(unread(a), unread(b)), cmp.Compare(b.ID, a.ID), cmp.Compare(a.Reviewer, b.Reviewer),
		)
	})
	count := map[string]int{}
	return slices.DeleteFunc(all, func(a HeardAnswer) bool {
		count[a.Reviewer]++
		return count[a.Reviewer] > MaxHeard
	})
}

// AnswersIn returns the answers that the ballots of a pull request rest on.
func AnswersIn(p Policy, pr PullRequest, ballots []Ballot) (heard []HeardAnswer) {
	for _, b := range ballots {
		unread, isAnswer := b.isUnread()
		if !isAnswer {
			continue
		}
		a := HeardAnswer{TextRef: b.Evidence, Reviewer: b.Reviewer, Pull: pr.Number, At: b.Since, Unread: unread, Stranger: pr.Stranger()}
		if i := slices.IndexFunc(p.Reviewers, func(r Reviewer) bool { return r.Name == b.Reviewer }); i >= 0 {
			a.Preset = p.Reviewers[i].Preset
		}
		heard = append(heard, a)
	}
	return heard
}

// isUnread reports whether the ballot rests on an answer that nobody can read; isAnswer: on an answer at all. A
// contradiction, an unfilled template, a condition, a review of a part: these were read, so the shape is known. A
// notice of a limit or an outage is no answer: whether the vendor's reviews are understood, it does not show.
func (b *Ballot) isUnread() (unread, isAnswer bool) {
	if b.Evidence.ID == 0 || b.Evidence.Kind == TextRun {
		return false, false
	}
	switch b.Outcome {
	case Approved, Findings, Partial:
		return false, true
	case Malformed:
		unread = b.Reason == ReasonMalformed || b.Reason == ReasonDrift
		return unread, unread || b.Reason == ReasonContradicts || b.Reason == ReasonTemplate || b.Reason == ReasonConditional
	default:
		return false, false
	}
}
