package review

// This file defines a text as its reviewer's: its lines, with the shapes that are looked for in them.

import (
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A Reader reads the texts of one reviewer. Making one costs as much as the policy brings shapes of its own (those of a
// preset are shared): who reads several texts of a reviewer keeps it.
type Reader struct {
	reviewer quorum.Reviewer
	preset   *preset
	shapes   []*compiledShapes // the preset's, then the policy's
	field    *namedField       // the policy's; nil if it names none
}

// A document is a text as a reviewer's.
type document struct {
	LinedText
	*Reader
	pull       int      // the number of the pull request; 0: not known
	statements []string // of each line; "" where it is hidden, blank or too long
}

// A namedField is the field of a policy with its words, the longer ones first: "approve with changes" is not "approve".
type namedField struct {
	label string // in small letters
	words []namedWord
}

type namedWord struct {
	text string // in small letters
	Reading
}

// mayApprove reports whether a line can hold the vendor's clean words: in plain view, and with no mark that denies them.
func (d *document) mayApprove(l pageLine) bool {
	return (l.visibility == inView || l.coded && d.preset.CodeRows) &&
		!isDeceptive(l.text) && !strings.ContainsAny(l.text, crosses)
}

// shapeAt finds the first shape of a list that line i has, with a count that is accepted.
func (d *document) shapeAt(list, i int, accepts func(count string) bool) (s shape, count string, ok bool) {
	for _, set := range d.shapes {
		for _, s = range set.lists[list] {
			if s.heading && d.lines[i].level == 0 {
				continue
			}
			if count, ok = s.match(d.statements[i]); ok && accepts(count) {
				return s, count, true
			}
		}
	}
	return shape{}, "", false
}

// findShape finds the first of the first lines with words that has a shape of a list, with a count that is accepted.
func (d *document) findShape(list, lines int, accepts func(count string) bool) (line int, rule string, found bool) {
	for i := range d.lines {
		if d.statements[i] == "" {
			continue
		}
		if s, _, ok := d.shapeAt(list, i, accepts); ok {
			return i, s.rule, true
		}
		if lines--; lines == 0 {
			break
		}
	}
	return 0, "", false
}

func anyCount(string) bool { return true }

// isZero reports whether a count that was read is none; one that was not read is not.
func isZero(count string) bool {
	return count == "no" || count == "zero" || count != "" && strings.Trim(count, "0,") == ""
}

// countOf returns a count that was read; 0 if it is no number.
func countOf(count string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(count, ",", ""))
	return n
}

// contentStart returns the index of the first line after the heading and the line that names the commit, or len(p.lines).
func contentStart(r quorum.Reviewer, p LinedText) int {
	headings := 0
	for i, l := range p.lines {
		words := plainWords(strings.TrimSpace(l.text[:min(len(l.text), maxMatchedLine)]))
		isTitle := l.level > 0 && l.visibility == inView && headings == 0 && i < 20 &&
			(r.Heading == "" || ReadLines(l.text).HasHeading(r.Heading))
		switch {
		case l.visibility == hidden && l.text == "" && len(p.blocks) == 0: // an HTML comment; a fence would be content
		case words == "" && l.visibility != hidden:
		case isTitle:
		case strings.HasPrefix(words, "reviewed commit"):
		default:
			return i
		}
		if l.level > 0 {
			headings++
		}
	}
	return len(p.lines)
}
