package review

// This file reads the marks with which a line of Markdown begins: of headings, of lists, and the indentation.

import (
	"strings"
)

// headingLevel returns the number of marks of an ATX heading, 0 if text is none.
func headingLevel(text string) int {
	indent, rest := cutIndent(text)
	n := leadingCount(rest, '#')
	if indent > 3 || n == 0 || n > 6 || n < len(rest) && rest[n] != ' ' && rest[n] != '\t' {
		return 0
	}
	return n
}

func headingText(text string) string {
	text = strings.TrimSpace(text)
	if n := leadingCount(text, '#'); n > 0 && n <= 6 && headingLevel(text) > 0 {
		text = strings.TrimSpace(text[n:])
		if bare := strings.TrimRight(text, "#"); bare == "" || strings.HasSuffix(bare, " ") {
			text = strings.TrimSpace(bare)
		}
	}
	return text
}

var itemMark = lazyRegexp(`^(?:[-*+•]|\d{1,9}[.)])(?:[ \t]+|$)`)

func listItem(text string) (rest string, ok bool) {
	mark := itemMark().FindString(text)
	return text[len(mark):], mark != ""
}

// cutItems takes the marks of up to so many items off, each within the one before.
func cutItems(text string, most int) (rest string, n int) {
	for rest = text; n < most; n++ {
		after, ok := listItem(rest)
		if !ok {
			break
		}
		rest = after
	}
	return rest, n
}

// cutIndent counts the columns before the first letter; a tab reaches to the next multiple of four.
func cutIndent(raw string) (columns int, rest string) {
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		case '\v', '\f':
		default:
			return columns, raw[i:]
		}
	}
	return columns, ""
}

func leadingCount(s string, c byte) (n int) {
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}
