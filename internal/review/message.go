package review

// This file defines the tables that recognise why there is no review: by messages, types of errors and HTTP codes.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A messageRow recognises one message and says what it means.
type messageRow struct {
	pattern pattern
	outcome quorum.Outcome
	reason  quorum.Reason
	example string // as a log or a reviewer shows it: a test reads it, and fails if anything but this row recognises it
}

// A messageTable is tried in order: of the rows that match one message the first counts.
type messageTable []messageRow

// meaning returns rows that all mean the same, from pairs of an expression and its example.
func meaning(outcome quorum.Outcome, reason quorum.Reason, pairs ...string) (rows messageTable) {
	for pair := range slices.Chunk(pairs, 2) {
		rows = append(rows, messageRow{patternOf(pair[0]), outcome, reason, pair[1]})
	}
	return rows
}

// candidateRows returns the rows that may match text or a part of it.
func (t messageTable) candidateRows(text string) (rows messageTable) {
	for i := range t {
		if t[i].pattern.mayMatch(text) {
			rows = append(rows, t[i])
		}
	}
	return rows
}

// readMessage returns the reading of the first row that matches text.
func (t messageTable) readMessage(text string) (Reading, bool) {
	for i := range t {
		if t[i].pattern.findGroups(text) != nil {
			return Reading{Outcome: t[i].outcome, Reason: t[i].reason}, true
		}
	}
	return Reading{}, false
}

// errorType matches the name of an error's type in lower case, and where it ends: openai.RateLimitError,
// RESOURCE_EXHAUSTED. What only contains one, as a setting or a sentence does, is none.
var errorType = lazyRegexp(
	`^(?:(?:[\w$-]+(?:\.|::))*([\w$-]*(?:error|exception|exhausted|exceeded|denied|overloaded|unavailable` +
		`|unauthenticated|disconnected|not_?found)|(?:insufficient|invalid|(?:und_)?err)_\w+` +
		`|(?:connect|read|write|pool|execution)timeout)|(?:\w+\.)*exceptions?\.(\w+))` +
		`(?: *$|["')\]}]|:(.*))`,
)

// settingValue matches what stands behind the name of a setting: request_denied: false.
var settingValue = lazyRegexp(`^ ?(?:true|false|null|\d+),? *$`)

var typeJoints = strings.NewReplacer("_", "", "-", "")

// readType returns the reading of an error's type that begins text.
func readType(text string) (Reading, bool) {
	m := errorType().FindStringSubmatch(text)
	if m == nil || settingValue().MatchString(m[3]) {
		return Reading{}, false
	}
	return errorTypes.readMessage(typeJoints.Replace(m[1] + m[2]))
}

// The forms of an HTTP code: headlineCode in the headline of a notice or a log's line, logCode in a log's alone.
var (
	headlineCode = patternOf(
		`^(?:[\w.':-]+ ){0,6}(?:[\w.'-]+ ?\(http(?: status)?(?: code)?:? ([45]\d\d)\b` +
			`|(?:error|failed):?(?: http| status| code)* ?[ (]([45]\d\d)(?:$|[^\w ,]| \W))`,
	)
	logCode = patternOf(
		`^(?:(?:http(?:/[\d.]+)?|(?:http |unexpected |request failed with )?status(?: code)?|(?:client|server) error` +
			`|code)["']?(?: status)?[ :=]{1,3}["'(]?([45]\d\d)\b` +
			`|([45]\d\d)[ :,-]{1,3}(?:service|too many|internal|bad|gateway|unauthorized|forbidden|client|payment` +
			`|request|server|unprocessable|not found|overloaded|resource|\{))`,
	)
)

// readHTTPCode reads a message of a log by its HTTP code.
func readHTTPCode(text string) (Reading, bool) {
	for _, p := range [...]pattern{headlineCode, logCode} {
		if m := p.findGroups(text); m != nil {
			return readingOfCode(m[1] + m[2])
		}
	}
	return Reading{}, false
}

// readingOfCode returns the reading of a run that failed with that HTTP code; ok is false if the code is no failure.
func readingOfCode(code string) (_ Reading, ok bool) {
	switch code {
	case "401", "403":
		return Reading{Outcome: quorum.Failed, Reason: quorum.ReasonCredentials}, true
	case "402":
		return Reading{Outcome: quorum.Failed, Reason: quorum.ReasonBilling}, true
	case "400", "404", "405", "410", "413", "414", "415", "422":
		return Reading{Outcome: quorum.Failed, Reason: quorum.ReasonInvalid}, true
	case "429":
		return Reading{Outcome: quorum.Limited, Reason: quorum.ReasonRateLimit}, true
	case "408", "409", "499":
		return Reading{Outcome: quorum.Overloaded, Reason: quorum.ReasonOverloaded}, true
	}
	return Reading{Outcome: quorum.Overloaded, Reason: quorum.ReasonOverloaded}, code >= "500"
}
