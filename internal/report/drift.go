package report

// What is said of a reviewer whose answers are not understood any more.

import (
	"fmt"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// DriftSentence says how many of a reviewer's newest answers were not understood, as the part of a sentence that
// follows its name and a colon; "" where nobody needs to be told.
func DriftSentence(d quorum.Drift) string {
	if !d.Notable() {
		return ""
	}
	return fmt.Sprintf("%d of its last %d answers were not understood; its format may have changed", d.Unread, d.Answers)
}

// PlainDrifts says the same of each reviewer of which it must be said, a line each, for a terminal or a log.
func PlainDrifts(drifts []quorum.Drift) (lines []string) {
	for _, d := range drifts {
		if says := DriftSentence(d); says != "" {
			lines = append(lines, plainLine(d.Reviewer, 60)+": "+says)
		}
	}
	return lines
}
