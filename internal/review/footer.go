package review

// This file recognises the lines that stand below reviews and say nothing of the change.

import "strings"

// isFooter reports whether a line belongs to what stands below a review: small print, a rule, a link, a comment's remains.
func isFooter(text string) bool {
	text = strings.TrimSpace(text)
	switch {
	case text == "", strings.Trim(text, "-*_ ") == "", strings.HasPrefix(text, "<sub>"), strings.HasPrefix(text, "<sup>"),
		strings.HasPrefix(text, "<!--"), strings.HasPrefix(text, "<a "), strings.HasPrefix(text, "[!["):
		return true
	case isItalic(text):
		words := plainWords(text)
		return !saysUnread(words) && !deniesInProse(words) && !connective().MatchString(strings.ToLower(words))
	}
	words := statementOf(text[:min(len(text), maxMatchedLine)])
	if words == "" {
		return true
	}
	return isOneOf(footers(), words)
}

// isItalic reports whether a whole line is in italics.
func isItalic(text string) bool {
	switch {
	case len(text) < 3:
		return false
	case text[0] == '_':
		return strings.HasSuffix(text, "_")
	}
	return text[0] == '*' && text[1] != '*' && text[1] != ' ' && strings.HasSuffix(text, "*")
}

// footers are the lines that stand below reviews and say nothing of the change.
var footers = lazyShapes(
	"generated (with|by) {any}", "reviewed in {duration}", "reviewed (by|with) {word}", "reviewed commit{any}",
	"reviewed up to commit{any}",
	"powered by {any}", "view in {any}",
	"this (review|comment|summary) (was|is) (generated|written|created|automatically generated) {any}",
	"was this helpful{any}", "react with {any}", "help me be more useful! please click {any}",
	"(re-|re|)(trigger|run|request) {any}",
	"comment {any} to {any}", "view (job|run|details|log|the log){any}",
	"learn more{any}", "for more (information|details){any}", "model {any}", "tokens used {any}", "cost {any}",
	"run id {any}", "duration {any}",
)
