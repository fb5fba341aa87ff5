package evidence

import (
	"cmp"
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
	Reason   quorum.Reason  `json:"reason,omitempty"`   // why that is its outcome
	Rejected string         `json:"rejected,omitempty"` // why it was not
}

// Consider lists every text and artifact that is a reviewer's by its author, used or not: it answers "why does that not
// count?". It decides nothing: it shows the statements and the ballot of [Judge].
func Consider(p quorum.Policy, s quorum.Snapshot) (out []Considered) {
	for _, v := range reviewerViews(&p, &s) {
		if v.Retired {
			continue
		}
		newest, b := v.newestAttempt(), v.makeBallot()
		ignored := newest.whyIgnored()
		for _, c := range append(newest.artifacts(), newest.textsFor()...) {
			shown, why := Considered{Reviewer: v.Name, Text: c.ref, URL: c.url, At: c.at.Truncate(time.Second)}, ignored
			if c.text != nil {
				shown.At = latest(c.text.At, c.text.Edited)
				if v.Verdict.Kind == quorum.Artifact {
					why = cmp.Or(why, artifactDecides)
				}
			}
			if why != "" && b.Evidence != c.ref {
				c.rejected = why
			}
			shown.Outcome, shown.Reason, shown.Rejected = explainStatement(&c, &b)
			out = append(out, shown)
		}
	}
	return out
}

// whyIgnored says why no text of the reviewer counts, whatever it says; "" if its texts are read.
func (v *attemptView) whyIgnored() rejection {
	why, detail := v.whyNoVote(false)
	switch {
	case why == quorum.ReasonSelf:
		return byPullAuthor
	case why == quorum.ReasonFamily:
		return ofFamily.with(cmp.Or(detail, "somebody"))
	case why == quorum.ReasonGuarded && detail == "":
		return guardUnknown
	case why == quorum.ReasonGuarded:
		return guardedFile.with(detail)
	case why == quorum.ReasonOtherGuards:
		return layerOfOthers.with(detail)
	case v.Verdict.Kind == quorum.Conclusion:
		return conclusionDecides
	}
	return ""
}

// explainStatement is the outcome of a statement that counts and its reason, or why it does not count. Where the ballot
// rests on it, they are the ballot's: of several threads, the record and the text together.
func explainStatement(c *statement, b *quorum.Ballot) (quorum.Outcome, quorum.Reason, string) {
	b = cmp.Or(b.Then, b)
	isEvidence := b.Evidence == c.ref
	switch {
	case isEvidence && c.rejected != "" && b.Reason.Standing():
		return 0, "", string(objectionStands.with(string(c.rejected)))
	case c.rejected != "" && !(isEvidence && b.Outcome == quorum.Approved): // it may be of another run than the newest
		return 0, "", string(c.rejected)
	case isEvidence && (b.Outcome == quorum.Approved || b.Outcome == quorum.Findings || b.Outcome == quorum.Withdrawn):
		return b.Outcome, b.Reason, ""
	}
	return c.Outcome, c.Reason, ""
}
