package evidence

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Considered is a text that a reviewer may have left, and what was made of it.
type Considered struct {
	Reviewer string         `json:"reviewer"`
	Text     quorum.TextRef `json:"text"`
	URL      string         `json:"url,omitempty"`
	At       time.Time      `json:"at"`
	Outcome  quorum.Outcome `json:"outcome,omitempty"`  // what it says, where it was used
	Rejected string         `json:"rejected,omitempty"` // why it was not
}

// Consider lists every text that is a reviewer's by its author, used or not: it answers "why does that not count?".
func Consider(p quorum.Policy, s quorum.Snapshot) (out []Considered) {
	j := newJudge(p, s)
	for _, r := range p.Reviewers {
		if r.Author == "" || r.Retired {
			continue
		}
		a := j.attempt(r)
		for _, t := range slices.Concat(s.Comments, s.Reviews) {
			if !t.Author.Is(r.Author) || j.own(t) {
				continue
			}
			c := Considered{Reviewer: r.Name, Text: t.TextRef, URL: t.URL, At: latest(t.At, t.Edited)}
			switch {
			case r.Heading != "" && !j.headed(r, t):
				if r.Author == Actions { // another workflow's
					continue
				}
				c.Rejected = "it does not open with the heading"
			case t.Kind == quorum.TextReview && t.Commit != s.PR.Head:
				c.Rejected = "it is a review of another commit"
			case !t.Edited.IsZero() && !t.Editor.Is(r.Author):
				c.Rejected = "it was edited by somebody else"
			case t.State == "DISMISSED":
				c.Rejected = "it was dismissed"
			default:
				c.Rejected = j.unbound(r, a, t, c.At)
			}
			for _, w := range j.texts(r, a) {
				if w.ref == t.TextRef && !w.void {
					c.Rejected, c.Outcome = "", w.Outcome
				}
			}
			if c.Rejected == "" && c.Outcome == 0 {
				c.Rejected = "it is no review"
			}
			out = append(out, c)
		}
	}
	return out
}
