package review

// This file defines a text sorted into lines by what its readers see of each.

import "strings"

// visibility is how a line of a text appears to its readers.
type visibility uint8

const (
	inView   visibility = 1 + iota // in plain view
	doubtful                       // perhaps in plain view: GitHub's rendering depends on what is not followed here
	quoted                         // in a block quote
	hidden                         // in a fence or an HTML comment
)

type pageLine struct {
	text         string // without HTML comments and, if quoted, without the quote's marks
	visibility   visibility
	level        int  // of a heading; 0: none
	afterComment bool // begins with an HTML comment, so that it is no heading
	folded       bool // within <details>
	alert        bool // quoted, within an alert: "> [!WARNING]"
	coded        bool // doubtful for no more than that it is a row of <code>…</code>
}

type fencedBlock struct {
	text   string
	closed bool
	end    int // index of the line that closes it
}

// LinedText is a text sorted into lines by their visibility.
type LinedText struct {
	lines        []pageLine
	comments     []string      // contents of its HTML comments
	commentLines []int         // the index of the line in which each of them ends
	blocks       []fencedBlock // its certain fenced blocks, in order
	size         int           // bytes of the text
}

func cellsOf(row string) []string { return strings.Split(strings.Trim(row, "|"), "|") }

// nextLine returns the first line of p after i that is not blank, and its index.
func nextLine(p LinedText, i int) (text string, at int) {
	for n := i + 1; n < len(p.lines) && n <= i+4; n++ {
		l := p.lines[n]
		if l.visibility == hidden || l.visibility == quoted {
			return "", n
		}
		if text := strings.TrimSpace(l.text); text != "" {
			return text, n
		}
	}
	return "", i
}
