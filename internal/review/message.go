package review

// This file defines the tables that recognise why there is no review: messages in a log, notices in a text.

import (
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// messagePlace is where a message stands.
type messagePlace uint8

const (
	inLog     messagePlace = 1 + iota // a line of a log, after the marks of runners and loggers
	inLine                            // a line of a comment, review, check or status, as plainWords returns it
	inComment                         // an HTML comment
)

// A messageRow recognises one message and says what it means.
type messageRow struct {
	where   messagePlace
	pattern pattern
	outcome quorum.Outcome
	reason  quorum.Reason
	example string // as a log or a reviewer shows it: a test reads it, and fails if anything but this row recognises it
}

// A messageTable is tried in order: of the rows that match one message the first counts.
type messageTable []messageRow

// candidateRows returns the first n rows for a place that may match text or a part of it. It does not call mayMatch, nor
// strings.Contains in vain: every row is tried on every line of a log, and the calls would cost more than the search.
func (t messageTable) candidateRows(where messagePlace, text string, n int) (rows messageTable) {
	for i := range t {
		if t[i].where != where {
			continue
		}
		for _, w := range t[i].pattern.words {
			if len(w) > len(text) || !strings.Contains(text, w) {
				continue
			}
			if rows = append(rows, t[i]); len(rows) == n {
				return rows
			}
			break
		}
	}
	return rows
}

// readMessage returns the reading of the first row that matches text. The rows are those that candidateRows returns for it.
func (t messageTable) readMessage(text string) (Reading, bool) {
	for i := range t {
		if t[i].pattern.expr().MatchString(text) {
			return Reading{Outcome: t[i].outcome, Reason: t[i].reason}, true
		}
	}
	return Reading{}, false
}

// readLine returns the reading of one whole line or comment.
func (t messageTable) readLine(where messagePlace, text string) (Reading, bool) {
	return t.candidateRows(where, text, len(t)).readMessage(text)
}
