package review

// This file compares a line with many expressions at little cost.

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/lazy"
)

// A pattern is an expression for lines in lower case. It is tried only where a line holds one of its words, found in the
// expression itself: most lines hold none, and a word is far cheaper to look for. The zero pattern matches nothing.
type pattern struct {
	expr  func() *regexp.Regexp
	words func() []string
}

func patternOf(expr string) pattern {
	return pattern{lazyRegexp(expr), sync.OnceValue(func() []string {
		tree, _ := syntax.Parse(expr, syntax.Perl) // an expression with an error does not compile, either
		return neededWords(tree)
	})}
}

// lazyRegexp returns a function that compiles an expression when it is first called: who reads no text compiles none.
func lazyRegexp(expr string) func() *regexp.Regexp { return lazy.Regexp(expr) }

// neededWords returns words of which every match of an expression holds one; nil if it finds none.
func neededWords(re *syntax.Regexp) (words []string) {
	shortest := func(words []string) int {
		if words == nil {
			return 0
		}
		return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
	}
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return neededWords(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if found := neededWords(sub); shortest(found) > shortest(words) {
				words = found
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			found := neededWords(sub)
			if found == nil {
				return nil
			}
			words = append(words, found...)
		}
	}
	return words
}

// mayMatch reports whether a line holds one of p's words; if not, p does not match it.
func (p pattern) mayMatch(line string) bool {
	if p.expr == nil {
		return false
	}
	words := p.words()
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) })
}

// findGroups returns the groups of p's match in a line, nil if there is none.
func (p pattern) findGroups(line string) []string {
	if !p.mayMatch(line) {
		return nil
	}
	return p.expr().FindStringSubmatch(line)
}
