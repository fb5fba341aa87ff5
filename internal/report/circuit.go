package report

// What is said of a reviewer that is not asked again yet, because its service is down or has a limit.

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// CircuitSentence says until when a reviewer's circuit is open, as the part of a sentence that follows its name and a
// colon; "" where it is not.
func CircuitSentence(h quorum.Hold) string {
	switch {
	case h.IsZero():
		return ""
	case h.Limit:
		return "circuit open until " + formatTime(h.Until, h.Since) + ", when its limit ends"
	default:
		return "circuit open until " + formatTime(h.Until, h.Since) + ": its service is down on several pull requests"
	}
}

// PlainCircuits says the same of each circuit that is open at a moment, a line each, for a terminal or a log.
func PlainCircuits(all []quorum.Circuit, now time.Time) (lines []string) {
	for _, c := range all {
		if c.IsOpen(now) {
			lines = append(lines, plainLine(c.Reviewer, 60)+": "+CircuitSentence(c.Hold()))
		}
	}
	return lines
}

// againSaid says that b's reviewer is started again at a moment, and why not before.
func againSaid(verb string, b quorum.Ballot, due, start time.Time) string {
	limitEnd := b.Circuit.Until
	if b.Circuit.IsZero() {
		limitEnd = b.Reset
	}
	isLimit := b.Circuit.Limit || b.Circuit.IsZero() && !b.Reset.IsZero() && b.Outcome == quorum.Limited
	when := " at " + formatTime(due, start)
	switch {
	case isLimit && due.Sub(limitEnd) < time.Minute:
		return "it is asked again" + when + ", when its limit ends"
	case isLimit:
		return "it is asked again" + when + ", after the end of its limit"
	case !b.Circuit.IsZero():
		return "it is asked again" + when + " at the earliest: one pull request goes first, and the others follow once that succeeds"
	default:
		return verb + when
	}
}
