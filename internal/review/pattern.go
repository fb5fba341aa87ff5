package review

// This file is how a line is compared with many expressions at little cost.

import (
	"regexp"
	"strings"
)

// a pattern is an expression for lines in small letters, with words one of which stands in whatever it matches. It is
// tried only where one does: most lines hold none, and to look for a word is far cheaper. A test proves of each pattern
// from its expression that it matches nothing without its words; the pattern without any matches nothing.
type pattern struct {
	expr  *regexp.Regexp
	words []string
}

func rx(expr string, words ...string) pattern {
	return pattern{expr: regexp.MustCompile(expr), words: words}
}

// mayMatch reports whether a line holds a word of p's, without which p does not match it.
func (p pattern) mayMatch(line string) bool {
	for _, w := range p.words {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

func (p pattern) matches(line string) bool { return p.mayMatch(line) && p.expr.MatchString(line) }

// findGroups returns the groups of p's match in a line, nil without a match.
func (p pattern) findGroups(line string) []string {
	if !p.mayMatch(line) {
		return nil
	}
	return p.expr.FindStringSubmatch(line)
}

// findAllGroups returns the groups of the first n matches.
func (p pattern) findAllGroups(line string, n int) [][]string {
	if !p.mayMatch(line) {
		return nil
	}
	return p.expr.FindAllStringSubmatch(line, n)
}
