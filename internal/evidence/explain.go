package evidence

import (
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
	for _, v := range reviewerViews(&p, &s) {
		if v.Author == "" || v.Retired {
			continue
		}
		a := v.newestAttempt()
		for i := range v.head.texts {
			t := &v.head.texts[i]
			if !t.Author.Is(v.Author) || v.head.isOurs(t) {
				continue
			}
			c := Considered{Reviewer: v.Name, Text: t.TextRef, URL: t.URL, At: latest(t.At, t.Edited)}
			switch {
			case !v.hasHeading(t):
				if v.Author == Actions { // another workflow's
					continue
				}
				c.Rejected = "it does not open with the heading"
			case t.Kind == quorum.TextReview && t.Commit != s.PR.Head:
				c.Rejected = "it is a review of another commit"
			case !t.Edited.IsZero() && !t.Editor.Is(v.Author):
				c.Rejected = "it was edited by somebody else"
			case t.State == "DISMISSED":
				c.Rejected = "it was dismissed"
			default:
				c.Rejected = v.whyUnbound(&a, t, c.At)
			}
			for _, w := range v.textStatements(&a) {
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
