package review

// This file recognises the lines that stand below reviews and say nothing of the change.

import "strings"

// isFooter reports whether a line belongs to what stands below a review: small print, a rule, a link, a comment's remains.
func isFooter(text string) bool {
	text = strings.TrimSpace(text)
	switch {
	case footerStart().MatchString(text):
		return true
	case italicLine().MatchString(text):
		words := plainWords(text)
		return !saysUnread(words) && !deniesInProse(words) && !connective().MatchString(strings.ToLower(words))
	}
	words := statementOf(text[:min(len(text), maxMatchedLine)])
	return words == "" || isOneOf(footers(), words)
}

var (
	footerStart = lazyRegexp(`^(?:[-*_ ]*$|<su[bp]>|<!--|<a |\[!\[)`)
	italicLine  = lazyRegexp(`^(?:_.+_|\*[^* ].*\*)$`)
)

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
