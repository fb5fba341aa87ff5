package review

// This file quotes what strangers wrote: in one short line, without keys and without what shows nothing.

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDetail is the longest quote, in runes.
const maxDetail = 120

// secretKeys matches the API keys and tokens that logs and answers sometimes quote; GitHub masks only those that it
// knows. A key may follow an underscore, or an escape of JSON or a URL (for a line break or a colon). It may contain a
// NUL, which maskKeys puts in place of characters that show nothing.
var secretKeys = lazyRegexp(
	`(?:\b|_|\\[nrt]|%[0-9A-Fa-f]{2})` +
		`(?:(?:sk|pk|rk)-[A-Za-z0-9_\x00-]{8,}|gh[a-z]_[A-Za-z0-9\x00]{16,}` +
		`|github_pat_[A-Za-z0-9_\x00]{16,}|(?:AKIA|ASIA)[A-Z0-9\x00]{12,}` +
		`|AIza[A-Za-z0-9_\x00-]{16,}|xox[a-z]-[A-Za-z0-9\x00-]{8,}` +
		`|eyJ[A-Za-z0-9_\x00-]{8,}\.[A-Za-z0-9_.\x00-]{8,})` +
		`|(?i:bearer)[\s\p{Z}]+[A-Za-z0-9._~+/\x00-]{16,}`,
)

// ansiCodes matches the escape codes with which terminals colour text.
var ansiCodes = lazyRegexp("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[()][0-9A-Z]|[@-Z\\\\^_])")

// shortQuote returns s as one line of at most maxDetail runes, without keys and without characters that show nothing.
func shortQuote(s string) string {
	s = maskKeys(s[:min(len(s), 4<<10)])
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return ' '
		case isUnseen(r):
			return -1
		}
		return r
	}, s)
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) < maxDetail {
		return string(runes)
	}
	return strings.TrimRight(string(runes[:maxDetail-1]), " ") + "…"
}

// maskKeys returns s with *** in place of each key. Characters that show nothing are dropped where one of them might
// split a key, or part it from the word before it.
func maskKeys(s string) string {
	joined := overwriteUnseen(ansiCodes().ReplaceAllStringFunc(s, func(code string) string { return strings.Repeat("\x00", len(code)) }), 0)
	if strings.IndexByte(joined, 0) < 0 {
		return secretKeys().ReplaceAllString(s, "***")
	}
	covered := make([]bool, len(s))
	for _, form := range []string{joined, overwriteUnseen(s, 1)} { // the second form keeps two adjacent keys apart
		for _, at := range secretKeys().FindAllStringIndex(form, -1) {
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
	return secretKeys().ReplaceAllString(b.String(), "***") // a key that was split within its prefix
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
func isUnseen(r rune) bool {
	return unicode.IsControl(r) && (!unicode.IsSpace(r) || r == 0x85) || isInvisible(r)
}
