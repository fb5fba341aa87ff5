package report

import (
	"fmt"
	"slices"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What the check says of the loop of fixes: how many there were, what is open, and why it goes on or has ended.

// loopTitle says how the loop of fixes stands, as the end of a title; "" where nothing is to be said.
func loopTitle(d quorum.Decision) string {
	switch l := d.Loop; {
	case l == nil:
		return ""
	case l.State == quorum.LoopRunning && l.Made == 0: // it was started for another pull request of this head
		return "; fix under way"
	case l.State == quorum.LoopRunning:
		return fmt.Sprintf("; fix %d of %d under way", l.Made, l.Max)
	case l.State == quorum.LoopOver:
		return "; " + Sentence(l.Reason) + "; needs a person"
	default:
		return ""
	}
}

// fixRules say which workflow mends the pull request, and how often it was started.
func fixRules(p quorum.Policy, d quorum.Decision) []Phrase {
	if l := d.Loop; l != nil {
		return []Phrase{fillPhrase(
			"A blocked change is mended by %s, which is started once for each change: %s so far, at most %s.",
			quotePhrase(p.Fix.Workflow), wordsPhrase("%s", countNoun(l.Made, "fix run")), wordsPhrase("%d", l.Max),
		)}
	}
	return nil
}

// loopSaid says what the loop of fixes does next, and what is open.
func loopSaid(d quorum.Decision) (says []Phrase) {
	l, start := d.Loop, d.Start
	if l == nil {
		return nil
	}
	run := linkPhrase(d.PR, wordsPhrase("fix run"), l.URL)
	switch l.State {
	case quorum.LoopWaiting:
		says = append(says, wordsPhrase(
			"A fix run is started when the attempts that object have ended, and at %s at the latest.", formatTime(l.Until, start),
		))
	case quorum.LoopDue:
		says = append(says, wordsPhrase("A fix run is started."))
	case quorum.LoopRunning:
		says = append(says, fillPhrase(
			"A %s was started at %s. Its push starts the reviews anew; without one by %s a person is needed.",
			run, wordsPhrase("%s", formatTime(l.At, start)), wordsPhrase("%s", formatTime(l.Until, start)),
		))
	case quorum.LoopNone:
		says = append(says, fillPhrase("No fix run is started: %s.", loopReasonSaid(l)))
	case quorum.LoopOver:
		says = append(says, fillPhrase("No more %s is started: %s.", run, loopReasonSaid(l)))
	case quorum.LoopIdle:
		return nil
	}
	return append(says, openSaid(l))
}

// loopReasonSaid says why the loop has ended or none is started, with what a stranger said of it.
func loopReasonSaid(l *quorum.Loop) Phrase {
	switch {
	case oneLine(l.Detail) == "":
		return wordsPhrase("%s", Sentence(l.Reason))
	case l.Reason == quorum.ReasonFixOff:
		return fillPhrase("%s has switched fixes off", namePhrase(l.Detail))
	default:
		return fillPhrase(Sentence(l.Reason)+": %s", quotePhrase(l.Detail))
	}
}

// maxOpenSaid is how many open findings are named beside the loop: all of them stand among the findings.
const maxOpenSaid = 8

// openSaid lists what is open, and how it came to be.
func openSaid(l *quorum.Loop) Phrase {
	var names []Phrase
	for _, f := range l.Open {
		name := namePhrase(f.Said[0].Reviewer)
		switch {
		case f.Path != "" && f.Line > 0:
			name = quotePhrase(fmt.Sprintf("%s:%d", clipRunes(oneLine(f.Path), maxQuoteRunes-20), f.Line))
		case f.Path != "":
			name = quotePhrase(f.Path)
		}
		names = append(names, slices.Concat(name, wordsPhrase(" (%s)", findingStateSaid(f.State))))
	}
	count := countNoun(quorum.CountOpen(l.Open), "finding")
	if l.Before > 0 {
		count += fmt.Sprintf(" (%d before the fix)", l.Before)
	}
	return fillPhrase("Open: %s: %s.", wordsPhrase("%s", count), joinPhrasesBy("and", names, maxOpenSaid))
}

func findingStateSaid(s quorum.FindingState) string {
	switch s {
	case quorum.FindingAgain:
		return "seen before"
	case quorum.FindingByFix:
		return "made by the fix"
	default:
		return "new"
	}
}
