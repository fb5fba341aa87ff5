package report

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Whose review is asked for when nothing else helps, and what GitHub will not do beside the check.

// peopleSteps say whose review was asked for, and whose will be.
func peopleSteps(d quorum.Decision, rec quorum.Record) (items []Phrase) {
	if d.Verdict != quorum.Unverified && d.Verdict != quorum.Blocked {
		return nil
	}
	if asked := rec.People; asked != nil && len(asked.To) > len(asked.Refused) {
		at := wordsPhrase("%s", formatTime(asked.At, d.Start))
		items = append(items, fillPhrase("%s was asked for a review at %s.", joinPhrases(askedNames(asked)), at))
	}
	if !d.PeopleAt.IsZero() {
		at := wordsPhrase("%s", formatTime(d.PeopleAt, d.Start))
		items = append(items, fillPhrase("If nothing changes, %s is asked for a review at %s.", joinPhrases(namesOf(d.NextPeople)), at))
	}
	return items
}

// askedNames are those who were asked, without whom GitHub refused.
func askedNames(asked *quorum.AskedPeople) []Phrase {
	return namesOf(slices.DeleteFunc(slices.Clone(asked.To), func(name string) bool { return isRefused(asked, name) }))
}

func isRefused(asked *quorum.AskedPeople, name string) bool {
	for _, no := range asked.Refused {
		if no.Name == name {
			return true
		}
	}
	return false
}

// refusedNotes say what GitHub refused to do beside the check.
func refusedNotes(rec quorum.Record) (notes []PageNote) {
	add := func(what Phrase, why quorum.Reason, detail string) {
		says := fillPhrase("%s, because %s", what, wordsPhrase("%s", Sentence(why)))
		if detail = oneLine(detail); detail != "" {
			says = fillPhrase("%s: %s", says, quotePhrase(detail))
		}
		notes = append(notes, PageNote{Says: append(says, Span{Text: ". " + Advice(why)})})
	}
	if rec.People != nil {
		for _, no := range rec.People.Refused {
			add(fillPhrase("%s could not be asked for a review", namePhrase(no.Name)), no.Reason, no.Detail)
		}
	}
	if no := rec.Untold; no != nil {
		add(wordsPhrase("The comment that the policy asks for could not be written"), no.Reason, no.Detail)
	}
	return notes
}

// tellPeople tells when people were asked for a review.
func tellPeople(rec quorum.Record, tell func(at time.Time, format string, parts ...Phrase)) {
	if asked := rec.People; asked != nil && len(asked.To) > len(asked.Refused) {
		tell(asked.At, "%s: asked for a review", joinPhrases(askedNames(asked)))
	}
}
