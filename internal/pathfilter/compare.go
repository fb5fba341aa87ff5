package pathfilter

// What two lists of patterns have in common, for a policy that is looked through before any pull request is there. What
// is said here can be proved: a path that both match, that there is none, that one list takes all that the other takes.
// Where nothing can be proved, nothing is said.

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// IsName reports whether a pattern matches one name and no other: it has no wildcard, no set and no !.
func IsName(pattern string) bool { return pattern != "" && !strings.ContainsAny(pattern, `*?+[]\!`) }

// CommonPath returns a path that both lists match, if one was found.
func CommonPath(a, b []string) (path string, found bool) {
	listA, errA := CompileAll(a)
	listB, errB := CompileAll(b)
	if errA != nil || errB != nil {
		return "", false
	}
	search := pathSearch{left: maxPairs}
	listOfA, listOfB := automata(a), automata(b)
	// A path that a later ! takes away may be one of many: another letter in the place of its stars makes another one.
	for _, search.filler = range "xa7" {
		for _, first := range listOfA {
			for _, second := range listOfB {
				for _, search.noDots = range []bool{true, false} { // docs/x.md tells more than docs/.md
					path, found = search.commonPath(first, second)
					if found && listA.Match(path) && listB.Match(path) {
						return path, true
					}
				}
			}
		}
	}
	return "", false
}

// AreDisjoint reports whether it is known that no path can match both lists.
func AreDisjoint(a, b []string) bool {
	search := pathSearch{left: maxPairs, filler: 'x'}
	listOfB := automata(b)
	for _, first := range automata(a) {
		for _, second := range listOfB {
			if _, found := search.commonPath(first, second); found {
				return false
			}
		}
	}
	return search.left > 0
}

// Covers reports whether b adds some path, and each path that it matches is known to match a, too.
func Covers(a, b []string) bool {
	adds := slices.DeleteFunc(slices.Clone(b), isNegated)
	return len(adds) > 0 && (slices.Equal(a, b) || !slices.ContainsFunc(adds, func(pattern string) bool { return !listCovers(a, pattern) }))
}

// listCovers reports whether a list is known to match each path that one pattern matches: a pattern of it does, and none
// behind that one takes away from it.
func listCovers(list []string, pattern string) bool {
	for i, wider := range list {
		if isNegated(wider) || !coversPattern(wider, pattern) {
			continue
		}
		var taken []string
		for _, later := range list[i+1:] {
			if isNegated(later) {
				taken = append(taken, later[1:])
			}
		}
		if AreDisjoint(taken, []string{pattern}) {
			return true
		}
	}
	return false
}

// MatchesAll reports whether a list matches every path.
func MatchesAll(list []string) bool {
	return slices.ContainsFunc(list, isStars) && !slices.ContainsFunc(list, isNegated)
}

func isStars(pattern string) bool   { return strings.Trim(pattern, "*") == "" && len(pattern) > 1 }
func isNegated(pattern string) bool { return strings.HasPrefix(pattern, "!") }

// coversPattern reports whether each path that one pattern matches is known to match a wider one: all, the same, a
// folder of it, or a name.
func coversPattern(wider, pattern string) bool {
	if isStars(wider) || wider == pattern {
		return true
	}
	if IsName(pattern) {
		p, err := Compile(wider)
		return err == nil && p.matchesPath(pattern)
	}
	folder, isFolder := strings.CutSuffix(wider, "/**")
	rest, isBelow := strings.CutPrefix(pattern, folder+"/")
	return isFolder && IsName(folder) && isBelow && !strings.HasPrefix(rest, "?") // a ? would make the slash optional
}

// An automaton is a pattern as regular expressions are run: its states are instructions. next are, for each, the states
// that read a character, or have matched, to which it leads without reading one.
type automaton struct {
	*syntax.Prog
	next [][]uint32
}

// automata returns the patterns of a list that add to it.
func automata(list []string) (all []automaton) {
	for _, pattern := range list {
		if isNegated(pattern) {
			continue
		}
		expr, err := patternToRegexp(pattern)
		if err != nil {
			continue
		}
		parsed, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			continue
		}
		if prog, err := syntax.Compile(parsed.Simplify()); err == nil {
			all = append(all, automaton{Prog: prog, next: make([][]uint32, len(prog.Inst))})
		}
	}
	return all
}

// maxPairs bounds how many pairs of states one comparison of two lists looks at: a file may try to be a burden. What was
// not found until then is not known.
const maxPairs = 20_000

// A pathSearch looks for a path that two patterns match.
type pathSearch struct {
	left   int  // how many more pairs of states are looked at
	filler rune // stands for the stars
	noDots bool // no name in the path begins with a dot
}

// A statePair is where two automata stand after the same beginning of a path.
type statePair struct {
	a, b       uint32
	afterSlash bool // a path begins with no slash, ends with none, and has no two in a row
}

// commonPath finds a path that both match.
func (s *pathSearch) commonPath(a, b automaton) (path string, found bool) {
	type step struct {
		statePair
		path string
	}
	queue := []step{{statePair: statePair{a: uint32(a.Start), b: uint32(b.Start), afterSlash: true}}} // a program is no longer than 2^31
	seen := map[statePair]bool{}
	for len(queue) > 0 && s.left > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at.statePair] {
			continue
		}
		seen[at.statePair] = true
		for _, stateA := range a.reachable(at.a) {
			for _, stateB := range b.reachable(at.b) {
				s.left--
				instA, instB := &a.Inst[stateA], &b.Inst[stateB]
				if instA.Op == syntax.InstMatch && instB.Op == syntax.InstMatch && !at.afterSlash {
					return at.path, true
				}
				c, fits := s.commonRune(instA, instB, at.afterSlash)
				if next := (statePair{a: instA.Out, b: instB.Out, afterSlash: c == '/'}); fits && !seen[next] {
					queue = append(queue, step{statePair: next, path: at.path + string(c)})
				}
			}
		}
	}
	return "", false
}

// reachable returns the states that read a character, or have matched, to which state leads without reading one.
func (a automaton) reachable(state uint32) []uint32 {
	if a.next[state] != nil {
		return a.next[state]
	}
	states, todo, seen := []uint32{}, []uint32{state}, map[uint32]bool{}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		switch inst := &a.Inst[at]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, inst.Arg, inst.Out)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth: // a pattern holds at the beginning and the end only
			todo = append(todo, inst.Out)
		case syntax.InstFail:
		case syntax.InstMatch, syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			states = append(states, at)
		}
	}
	a.next[state] = states
	return states
}

// commonRune returns a character that both instructions read, the filler if they do.
func (s *pathSearch) commonRune(a, b *syntax.Inst, afterSlash bool) (c rune, found bool) {
	if a.Op == syntax.InstMatch || b.Op == syntax.InstMatch {
		return 0, false
	}
	fits := func(c rune) bool {
		return c >= ' ' && a.MatchRune(c) && b.MatchRune(c) && !(afterSlash && (c == '/' || s.noDots && c == '.'))
	}
	// Two ranges that have a character in common have the later one's first in common.
	for _, ranges := range [][]rune{{s.filler}, a.Rune, b.Rune} {
		if i := slices.IndexFunc(ranges, fits); i >= 0 {
			return ranges[i], true
		}
	}
	return 0, false
}
