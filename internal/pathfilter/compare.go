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
	// A path that a later ! takes away may be one of many: another letter in the place of its stars makes another one.
	for _, filler := range "xa7" {
		for first := range automata(a) {
			for second := range automata(b) {
				for _, noDots := range []bool{true, false} { // docs/x.md tells more than docs/.md
					path, found = first.commonWith(second, filler, noDots)
					if found && listA.Match(path) && listB.Match(path) {
						return path, true
					}
				}
			}
		}
	}
	return "", false
}

// AreDisjoint reports whether no path can match both lists.
func AreDisjoint(a, b []string) bool {
	for first := range automata(a) {
		for second := range automata(b) {
			if _, found := first.commonWith(second, 'x', false); found {
				return false
			}
		}
	}
	return true
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

// An automaton is a pattern as regular expressions are run: its states are instructions.
type automaton struct{ *syntax.Prog }

// automata yields the patterns of a list that add to it.
func automata(list []string) func(yield func(automaton) bool) {
	return func(yield func(automaton) bool) {
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
			prog, err := syntax.Compile(parsed.Simplify())
			if err == nil && !yield(automaton{prog}) {
				return
			}
		}
	}
}

// maxPairs bounds how many pairs of states are looked at: patterns are short, and a file may try to be a burden.
const maxPairs = 20_000

// A statePair is where two automata stand after the same beginning of a path.
type statePair struct {
	a, b       uint32
	afterSlash bool // a path begins with no slash, ends with none, and has no two in a row
}

// commonWith finds a path that both match. The stars of both are filled with one character; with noDots no name in the
// path begins with a dot.
func (a automaton) commonWith(b automaton, filler rune, noDots bool) (path string, found bool) {
	type step struct {
		statePair
		path string
	}
	queue := []step{{statePair: statePair{a: uint32(a.Start), b: uint32(b.Start), afterSlash: true}}} // a program is no longer than 2^31
	seen := map[statePair]bool{}
	for len(queue) > 0 && len(seen) < maxPairs {
		at := queue[0]
		queue = queue[1:]
		if seen[at.statePair] {
			continue
		}
		seen[at.statePair] = true
		for _, stateA := range a.reachable(at.a) {
			for _, stateB := range b.reachable(at.b) {
				instA, instB := &a.Inst[stateA], &b.Inst[stateB]
				if instA.Op == syntax.InstMatch && instB.Op == syntax.InstMatch && !at.afterSlash {
					return at.path, true
				}
				c, fits := commonRune(instA, instB, filler, at.afterSlash)
				fits = fits && !(noDots && at.afterSlash && c == '.')
				if next := (statePair{a: instA.Out, b: instB.Out, afterSlash: c == '/'}); fits && !seen[next] {
					queue = append(queue, step{statePair: next, path: at.path + string(c)})
				}
			}
		}
	}
	return "", false
}

// reachable returns the states that read a character, or have matched, to which state leads without reading one.
func (a automaton) reachable(state uint32) (states []uint32) {
	todo, seen := []uint32{state}, map[uint32]bool{}
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
	return states
}

// commonRune returns a character that both instructions read, the filler if they do.
func commonRune(a, b *syntax.Inst, filler rune, afterSlash bool) (c rune, found bool) {
	if a.Op == syntax.InstMatch || b.Op == syntax.InstMatch {
		return 0, false
	}
	// Two ranges that have a character in common have the later one's first in common.
	for _, c := range slices.Concat([]rune{filler}, a.Rune, b.Rune) {
		if c >= ' ' && a.MatchRune(c) && b.MatchRune(c) && (c != '/' || !afterSlash) {
			return c, true
		}
	}
	return 0, false
}
