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

// readMessage returns the reading of the first row that matches text; its outcome is 0 if none does.
func (t messageTable) readMessage(text string) Reading {
	i := slices.IndexFunc(t, func(row messageRow) bool { return row.pattern.findGroups(text) != nil })
	if i < 0 {
		return Reading{}
	}
	return Reading{Outcome: t[i].outcome, Reason: t[i].reason}
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
func readType(text string) Reading {
	m := errorType().FindStringSubmatch(text)
	if m == nil || settingValue().MatchString(m[3]) {
		return Reading{}
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

// readHTTPCode reads a message by the HTTP code that it states in one of the forms.
func readHTTPCode(text string, forms ...pattern) (got Reading) {
	code := ""
	for _, p := range forms {
		if m := p.findGroups(text); m != nil && code == "" {
			code = m[1] + m[2]
		}
	}
	switch code {
	case "401", "403":
		got.Outcome, got.Reason = quorum.Failed, quorum.ReasonCredentials
	case "402":
		got.Outcome, got.Reason = quorum.Failed, quorum.ReasonBilling
	case "400", "404", "405", "410", "413", "414", "415", "422":
		got.Outcome, got.Reason = quorum.Failed, quorum.ReasonInvalid
	case "429":
		got.Outcome, got.Reason = quorum.Limited, quorum.ReasonRateLimit
	case "408", "409", "499":
		got.Outcome, got.Reason = quorum.Overloaded, quorum.ReasonOverloaded
	default:
		if code >= "500" {
			got.Outcome, got.Reason = quorum.Overloaded, quorum.ReasonOverloaded
		}
	}
	return got
}
