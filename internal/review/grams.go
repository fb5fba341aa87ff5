package review

// This file makes expressions of many words cheap on lines that hold none of them, which are most. From an expression it
// finds the groups of four letters of which every match holds one; a line without such a group need not be tried.

import (
	"math/bits"
	"regexp"
	"regexp/syntax"
	"sync"
)

// A wordedRegexp is an expression with the groups of four letters of which each of its matches holds one.
type wordedRegexp struct {
	expr  func() *regexp.Regexp
	grams *gramSet // nil: a match may hold none
}

// gramSet is a set of groups of four letters. What is no letter counts as one space, however much of it there is.
// Two groups may share a place in it, which costs a try.
type gramSet [1 << 15 / 64]uint64

// A gram is four letters, of five bits each.
type gram uint32

func (g gram) followedBy(class uint16) gram { return g<<5&(1<<20-1) | gram(class) }

func (g gram) place() uint32 { return uint32(g) * 2654435761 >> 17 }

func (s *gramSet) add(g gram)      { s[g.place()>>6] |= 1 << (g.place() & 63) }
func (s *gramSet) has(g gram) bool { return s[g.place()>>6]>>(g.place()&63)&1 != 0 }

// lazyWorded returns a function that compiles an expression when it is first called, with its groups of letters.
func lazyWorded(expr string) func() *wordedRegexp {
	return sync.OnceValue(func() *wordedRegexp {
		w := &wordedRegexp{expr: lazyRegexp(expr)}
		if parsed, err := syntax.Parse(expr, syntax.Perl); err == nil {
			w.grams = neededGrams(parsed.Simplify(), []string{""}, "")
		}
		return w
	})
}

// MatchString reports whether a line holds a match.
func (w *wordedRegexp) MatchString(line string) bool {
	return w.mayMatch(line) && w.expr().MatchString(line)
}

// FindStringIndex returns where the first match in a line stands, nil if there is none.
func (w *wordedRegexp) FindStringIndex(line string) []int {
	if !w.mayMatch(line) {
		return nil
	}
	return w.expr().FindStringIndex(line)
}

// FindStringSubmatch returns the groups of the first match in a line, nil if there is none.
func (w *wordedRegexp) FindStringSubmatch(line string) []string {
	if !w.mayMatch(line) {
		return nil
	}
	return w.expr().FindStringSubmatch(line)
}

// mayMatch reports whether a line holds one of the groups.
func (w *wordedRegexp) mayMatch(line string) bool {
	if w.grams == nil {
		return true
	}
	at := gram(0) // it begins behind a space, and ends before one
	for i := 0; i <= len(line); i++ {
		class := uint16(0)
		if i < len(line) {
			class = letterClass(line[i])
		}
		if class == 0 && at&31 == 0 {
			continue
		}
		if at = at.followedBy(class); w.grams.has(at) {
			return true
		}
	}
	return false
}

// letterClass returns 1 to 26 for a letter, and 0 for what is none.
func letterClass(c byte) uint16 {
	switch {
	case c >= 'a' && c <= 'z':
		return uint16(c-'a') + 1
	case c >= 'A' && c <= 'Z':
		return uint16(c-'A') + 1
	}
	return 0
}

// maxSpelled is how many strings a part of an expression may stand for and still be spelled out.
const maxSpelled = 400

// neededGrams returns groups of which every match of an expression holds one; nil if there are none to be found. before and
// after are what is known to stand around a match: one of some strings before it, and a space or nothing behind it.
func neededGrams(re *syntax.Regexp, before []string, after string) *gramSet {
	if spelled, ok := spellOut(re); ok {
		return gramsOf(joinSpellings(joinSpellings(before, spelled), []string{after}))
	}
	switch re.Op {
	case syntax.OpCapture:
		return neededGrams(re.Sub[0], before, after)
	case syntax.OpPlus:
		return neededGrams(re.Sub[0], before, "")
	case syntax.OpAlternate:
		var all gramSet
		for _, sub := range re.Sub {
			one := neededGrams(sub, before, after)
			if one == nil {
				return nil
			}
			for i := range all {
				all[i] |= one[i]
			}
		}
		return &all
	case syntax.OpConcat:
		return gramsOfSequence(re.Sub, before, after)
	}
	return nil
}

// gramsOfSequence returns the groups of the part of a sequence whose groups are least common: as many neighbours as can be
// spelled out together, or one part by itself.
func gramsOfSequence(parts []*syntax.Regexp, before []string, after string) (best *gramSet) {
	take := func(g *gramSet) {
		if g != nil && (best == nil || g.commonness() < best.commonness()) {
			best = g
		}
	}
	for from := 0; from < len(parts); {
		spelled := before
		end := from
		for ; end < len(parts); end++ {
			next, ok := spellOut(parts[end])
			if !ok || len(next)*len(spelled) > maxSpelled {
				break
			}
			spelled = joinSpellings(spelled, next)
		}
		behind := ""
		switch {
		case end == len(parts):
			behind = after
		case end+1 == len(parts):
		case end > from && isBoundary(parts[end]):
			behind = " "
		}
		if end > from {
			take(gramsOf(joinSpellings(spelled, []string{behind})))
		}
		if before = []string{""}; end == len(parts) {
			break
		}
		if len(spelled) <= maxBefore { // the parser takes a common beginning out of what may stand next
			before = spelled
		}
		if _, ok := spellOut(parts[end]); ok && end > from { // too much in one: it begins a run of its own
			from, before = end, []string{""}
			continue
		}
		behind = ""
		switch {
		case end+1 == len(parts):
			behind = after
		case isBoundary(parts[end+1]):
			behind = " "
		}
		take(neededGrams(parts[end], before, behind))
		from, before = end+1, []string{""}
	}
	return best
}

// maxBefore is how many spellings may stand before a part of an expression.
const maxBefore = 16

// isBoundary reports whether no letter stands on one side of where an expression matches nothing.
func isBoundary(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpBeginLine, syntax.OpEndText, syntax.OpEndLine:
		return true
	}
	return false
}

func joinSpellings(first, second []string) (all []string) {
	for _, a := range first {
		for _, b := range second {
			all = append(all, a+b)
		}
	}
	return all
}

// gramsOf returns one group of each spelling; nil if one has none.
func gramsOf(spellings []string) *gramSet {
	var g gramSet
	for _, s := range spellings {
		best, rank := gram(0), -1
		at, n := gram(0), 0
		for i := range len(s) {
			class := letterClass(s[i])
			if class == 0 && n > 0 && at&31 == 0 {
				continue
			}
			at = at.followedBy(class)
			if n++; n >= 4 && at.rarity() > rank {
				best, rank = at, at.rarity()
			}
		}
		if rank < 0 {
			return nil
		}
		g.add(best)
	}
	return &g
}

// commonText holds the words that stand in most lines.
const commonText = " the a and is are was were be been to of in on for with that this it its by as at from not has have had no all " +
	"only when if after before once until can could should will would may must change changes changed code test tests file files " +
	"line lines review reviewed issue issues " +
	"fix fixed added adds new function handling error errors "

// commonGrams are the groups of commonText.
var commonGrams = sync.OnceValue(func() *gramSet {
	var s gramSet
	at := gram(0)
	for i := range len(commonText) {
		at = at.followedBy(letterClass(commonText[i]))
		s.add(at)
	}
	return &s
})

// rarity returns how much a group tells: one of letters more than one with spaces, and a common one nothing.
func (g gram) rarity() (n int) {
	if commonGrams().has(g) {
		return 0
	}
	for ; g != 0; g >>= 5 {
		if g&31 != 0 {
			n++
		}
	}
	return n
}

// commonness returns how many common groups a set holds.
func (s *gramSet) commonness() (n int) {
	for i := range s {
		n += bits.OnesCount64(s[i] & commonGrams()[i])
	}
	return n
}

// spellOut returns all that an expression stands for, with a space for what is no letter; ok is false if that is too much, or
// may be anything.
func spellOut(re *syntax.Regexp) (all []string, ok bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpWordBoundary, syntax.OpBeginText, syntax.OpBeginLine, syntax.OpEndText, syntax.OpEndLine:
		return []string{" "}, true
	case syntax.OpLiteral:
		b := make([]byte, 0, len(re.Rune))
		for _, r := range re.Rune {
			b = append(b, spelledRune(r))
		}
		return []string{string(b)}, true
	case syntax.OpCharClass:
		seen := map[byte]bool{}
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > 30 {
				return nil, false
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if c := spelledRune(r); !seen[c] {
					seen[c] = true
					all = append(all, string(c))
				}
			}
		}
		return all, len(all) > 0 && len(all) <= 8
	case syntax.OpCapture:
		return spellOut(re.Sub[0])
	case syntax.OpQuest:
		all, ok = spellOut(re.Sub[0])
		return append([]string{""}, all...), ok && len(all) < maxSpelled
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			one, ok := spellOut(sub)
			if !ok || len(all)+len(one) > maxSpelled {
				return nil, false
			}
			all = append(all, one...)
		}
		return all, true
	case syntax.OpConcat:
		all = []string{""}
		for _, sub := range re.Sub {
			one, ok := spellOut(sub)
			if !ok || len(all)*len(one) > maxSpelled {
				return nil, false
			}
			all = joinSpellings(all, one)
		}
		return all, true
	}
	return nil, false
}

// spelledRune returns a letter in lower case, and a space for what is none.
func spelledRune(r rune) byte {
	switch {
	case r >= 'a' && r <= 'z':
		return byte(r)
	case r >= 'A' && r <= 'Z':
		return byte(r - 'A' + 'a')
	}
	return ' '
}
