package report

import (
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What people asked for by comment, or by the check's button, and what came of it: each word on a line, as the record
// keeps it. Reasons that people gave are quoted.

// maxHeard is how many commands a page tells of: the newest.
const maxHeard = 20

// heardCommands says what became of each command of this base.
func heardCommands(d quorum.Decision, rec quorum.Record) (says []Phrase) {
	if d.Verdict == quorum.Ended {
		return nil
	}
	var all []quorum.Command
	for _, c := range rec.Commands {
		if c.Base == "" || c.Base == d.Base {
			all = append(all, c)
		}
	}
	if n := len(all) - maxHeard; n > 0 {
		says, all = append(says, wordsPhrase("%s not shown.", countVerb(n, "earlier word"))), all[n:]
	}
	for _, c := range all {
		says = append(says, heardSaid(d, c))
	}
	return says
}

// heardSaid says what became of one command.
func heardSaid(d quorum.Decision, c quorum.Command) Phrase {
	verb := quotePhrase(string(c.Verb))
	if c.Verb == "" {
		verb = wordsPhrase("a word that is none of ours")
	}
	asked := fillPhrase("%s, %s, %s", namePhrase(c.By), wordsPhrase("%s", formatTime(c.At, d.Start)), verb)
	if c.Refused != "" {
		why := Sentence(c.Refused) + "."
		if c.Refused == quorum.ReasonInReview { // no 👎 leads here
			why += " " + Advice(c.Refused)
		}
		return slices.Concat(asked, wordsPhrase(": not heard, because %s", why))
	}
	names := namesOf(c.Reviewers)
	switch c.Verb {
	case quorum.CommandAccept:
		what := wordsPhrase("ends the objections that the check had named")
		if len(names) > 0 {
			what = fillPhrase("ends what %s had objected to", joinPhrases(names))
		}
		if oneLine(c.Reason) == "" {
			return slices.Concat(asked, fillPhrase(": %s.", what))
		}
		return slices.Concat(asked, fillPhrase(": %s, because: %s", what, quotePhrase(c.Reason)))
	case quorum.CommandVouch:
		return slices.Concat(asked, fillPhrase(": vouches for the change, because: %s", quotePhrase(c.Reason)))
	case quorum.CommandRerun:
		if len(names) == 0 {
			return slices.Concat(asked, wordsPhrase(": the reviewers whose attempts have ended are run again."))
		}
		return slices.Concat(asked, fillPhrase(": %s %s run again.", joinPhrases(names), wordsPhrase("%s", isOrAre(len(names)))))
	case quorum.CommandFixOff:
		return slices.Concat(asked, wordsPhrase(": no fix is started for this pull request."))
	case quorum.CommandFixOn:
		return slices.Concat(asked, wordsPhrase(": fixes may be started for this pull request."))
	default:
		return append(asked, Span{Text: "."})
	}
}
