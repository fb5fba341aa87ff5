// Package review reads what a reviewer wrote: the text of a comment or a review, a check's output, a status, a log.
//
// It promises never to find an approval that is not there. An approval is a clear verdict at a clear place of a text;
// what stands in a fence, a quote or a comment, what is half a sentence, a template, a condition, a contradiction or a
// trick with invisible letters is none. Everything it reads was written by strangers: it only ever quotes them, in
// time linear in the length of the text.
//
// The package is pure. It knows nothing of heads, runs and other texts: package evidence puts those together.
package review

// This file defines a text (Material) and the result of reading it (Reading), and how texts are quoted.

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Kind says where on GitHub a text stands. It limits what the text can prove: a log shows at most how a run failed.
type Kind uint8

const (
	Comment Kind = 1 + iota // an issue comment
	Review                  // a review's body
	Check                   // a check run's output
	Status                  // a commit status' description
	Log                     // a job's log, or its annotations
)

// kindNames lets a Kind be printed and parsed.
var kindNames = [...]string{"", "comment", "review", "check", "status", "log"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("%%!%d", uint8(k))
}

// ParseKind is the inverse of [Kind.String].
func ParseKind(name string) (Kind, error) {
	for i, n := range kindNames {
		if n != "" && n == name {
			return Kind(i), nil
		}
	}
	return 0, fmt.Errorf("unknown kind %q: comment, review, check, status or log", name)
}

// Material is one text with the facts that GitHub gives about it.
type Material struct {
	Kind       Kind
	Body       string // hostile
	State      string // of a review (APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED) or a status (success, failure, error, pending)
	Threads    int    // a review's inline comments that open a thread
	Conclusion string // of a check run or, for Log, of the run
}

// Reading is the result of reading one text. Its Outcome is never zero.
type Reading struct {
	Outcome  quorum.Outcome
	Reason   quorum.Reason
	Detail   string // hostile: a quote of what was recognised, one line of at most 120 runes
	Findings []quorum.Finding
	Reset    time.Duration // Limited: the wait that it states, 0 if none
	Until    time.Time     // Limited: or the moment that it states, zero if none
	Below    bool          // Approved, although it lists findings that do not object; they are in Findings with Below set
	Inline   bool          // Findings only because of its inline comments: it objects no longer than its threads do
	NoOpen   bool          // Approved only if none of the reviewer's threads is open, as with OnlyNew

	minorOnly bool // Findings, but only minor ones without a file and line: an error message's list of advice looks the same
}

// MaxText is the longest comment, review, check or status that is read: GitHub keeps 64 KiB. A longer text has no verdict.
const MaxText = 1 << 20

// MaxLog is how much of a log is read, counted from its end.
const MaxLog = 1 << 20

// maxDetail is the longest quote, in runes.
const maxDetail = 120

// secretKeys matches the API keys and tokens that logs and answers sometimes quote; GitHub masks only those that it
// knows. A key may follow an underscore, or an escape of JSON or a URL (for a line break or a colon). It may contain a
// NUL, which maskKeys puts in place of characters that show nothing.
var secretKeys = regexp.MustCompile(`(?:\b|_|\\[nrt]|%[0-9A-Fa-f]{2})(?:(?:sk|pk|rk)-[A-Za-z0-9_\x00-]{8,}|gh[a-z]_[A-Za-z0-9\x00]{16,}|github_pat_[A-Za-z0-9_\x00]{16,}|(?:AKIA|ASIA)[A-Z0-9\x00]{12,}|AIza[A-Za-z0-9_\x00-]{16,}|xox[a-z]-[A-Za-z0-9\x00-]{8,}|eyJ[A-Za-z0-9_\x00-]{8,}\.[A-Za-z0-9_.\x00-]{8,})|(?i:bearer)[\s\p{Z}]+[A-Za-z0-9._~+/\x00-]{16,}`)

// ansiCodes are what a terminal takes for colours and movements.
var ansiCodes = regexp.MustCompile("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[()][0-9A-Z]|[@-Z\\\\^_])")

// shortQuote returns s as one line of at most maxDetail runes, without keys and without characters that show nothing.
func shortQuote(s string) string {
	if s = s[:min(len(s), 4<<10)]; hasLongWord(s) {
		s = maskKeys(s)
	}
	var b strings.Builder
	n, gap := 0, false
	for _, r := range s {
		if r == utf8.RuneError || unicode.IsSpace(r) {
			gap = b.Len() > 0
			continue
		}
		if isUnseen(r) {
			continue
		}
		more := 1
		if gap {
			more = 2
		}
		if n+more >= maxDetail {
			b.WriteRune('…')
			break
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
		n += more
	}
	return b.String()
}

// maskKeys returns s with *** in place of each key. Characters that show nothing are dropped where one of them might
// split a key, or part it from the word before it.
func maskKeys(s string) string {
	joined := overwriteUnseen(ansiCodes.ReplaceAllStringFunc(s, func(code string) string { return strings.Repeat("\x00", len(code)) }), 0)
	if strings.IndexByte(joined, 0) < 0 {
		return secretKeys.ReplaceAllString(s, "***")
	}
	covered := make([]bool, len(s))
	for _, form := range []string{joined, overwriteUnseen(s, 1)} { // the second form keeps two adjacent keys apart
		for _, at := range secretKeys.FindAllStringIndex(form, -1) {
			for i := at[0]; i < at[1]; i++ {
				covered[i] = true
			}
		}
	}
	var b strings.Builder
	for i := range len(s) {
		switch {
		case covered[i] && (i == 0 || !covered[i-1]):
			b.WriteString("***")
		case !covered[i] && joined[i] != 0:
			b.WriteByte(s[i])
		}
	}
	return secretKeys.ReplaceAllString(b.String(), "***") // a key that was split within its prefix
}

// overwriteUnseen replaces each byte of a character that shows nothing.
func overwriteUnseen(s string, with byte) string {
	b := []byte(s)
	for i, r := range s {
		if isUnseen(r) {
			for n := range utf8.RuneLen(r) {
				b[i+n] = with
			}
		}
	}
	return string(b)
}

// isUnseen reports whether r shows nothing, so that a quote leaves it out.
func isUnseen(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) || isInvisible(r) }

// hasLongWord reports whether s holds a word that is long enough to be a key. Most quotes hold none and need no masking.
func hasLongWord(s string) bool {
	const shortest = len("sk-12345678")
	n := 0
	for i := range len(s) {
		if n++; s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r' {
			n = 0
		}
		if n == shortest {
			return true
		}
	}
	return false
}

// isInvisible reports whether r shows nothing and can therefore hide or split a word. The variation selector after an
// emoji (U+FE0F) and the joiner within one (U+200D) are harmless.
func isInvisible(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r == 0xfe0f, r == 0x200d:
		return false
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}
