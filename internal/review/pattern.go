package review

// This file compares a line with many expressions at little cost.

import (
	"regexp"
	"strings"
	"sync"
)

// A pattern is an expression for lines in lower case, with words of which every match holds one. The expression is tried
// only where a line holds such a word: most hold none, and a word is far cheaper to look for. A test proves from each
// expression that it matches nothing without its words. The zero pattern matches nothing.
type pattern struct {
	expr  func() *regexp.Regexp
	words []string
}

func rx(expr string, words ...string) pattern { return newPattern(expr, words...) }

// newPattern is rx for expressions that no source file writes.
func newPattern(expr string, words ...string) pattern {
	if len(words) == 0 {
		words = []string{""} // each line holds it
	}
	return pattern{lazyRegexp(expr), words}
}

// lazyRegexp returns a function that compiles an expression when it is first called: a program that reads no text compiles
// none.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// mayMatch reports whether a line holds one of p's words; if not, p does not match it.
func (p pattern) mayMatch(line string) bool {
	for _, w := range p.words {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

// findGroups returns the groups of p's match in a line, nil if there is none.
func (p pattern) findGroups(line string) []string {
	if !p.mayMatch(line) {
		return nil
	}
	return p.expr().FindStringSubmatch(line)
}

// findAllGroups returns the groups of the first n matches.
func (p pattern) findAllGroups(line string, n int) [][]string {
	if !p.mayMatch(line) {
		return nil
	}
	return p.expr().FindAllStringSubmatch(line, n)
}
