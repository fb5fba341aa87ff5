package review

// The words of the patterns are proved here: a word that a pattern can do without would make it overlook a line.

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

func TestNoPatternMatchesWithoutItsWords(t *testing.T) {
	all := []pattern{headlineCode, logCode}
	for _, row := range slices.Concat(errorTypes, logMessages, generalNotices) {
		all = append(all, row.pattern)
	}
	for _, form := range limitForms {
		all = append(all, form.pattern)
	}
	for _, name := range Presets() {
		for _, list := range presetOf(name).shapes.lists {
			for _, s := range list {
				isMarker := s.expr == nil
				if !isMarker && s.words() != nil { // without words it is tried on each line
					all = append(all, s.pattern)
				}
			}
		}
	}
	for _, p := range all {
		if words := p.words(); words == nil && p.expr().String() != headlineCode.expr().String() {
			t.Errorf("%v has no words", p.expr())
		} else if text, ok := textWithoutWords(t, p.expr().String(), words); ok && words != nil {
			t.Errorf("%v matches %q, which holds none of %q", p.expr(), text, words)
		}
	}
}

func TestNeededWords(t *testing.T) {
	for expr, want := range map[string]string{
		`^time(?:out|d out)$`:         "time",
		`(?:quota|usage limits?) hit`: "quota, usage limit",
		`^(?:ab)?c`:                   "c",
		`^a.{0,3}bc$`:                 "bc",
		`^a+(?:bcd|e)f`:               "a",
		`[ab]`:                        "",
		`x|[ab]`:                      "",
		`(?i)abc`:                     "",
		`(abc)+`:                      "abc",
		`^(?:an apple|the (?:pear|plum)) is ripe`: " is ripe",
	} {
		if got := strings.Join(patternOf(expr).words(), ", "); got != want {
			t.Errorf("%s has %q, want %q", expr, got, want)
		}
	}
}

// textWithoutWords finds a text that expr matches and that holds none of words; ok is false if there is none. It walks
// through the program of expr and notes with each instruction how much of a word has just been read. A border of a word
// or a line is taken as given: so it may find a text that is none, and overlooks none.
func textWithoutWords(t testing.TB, expr string, words []string) (text string, ok bool) {
	t.Helper()
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(words, "") {
		t.Fatalf("%s: an empty word stands everywhere", expr)
	}
	letters := alphabet(prog, words)
	type place struct {
		at   uint32
		read string // the longest end of the text that begins a word
	}
	texts := map[place]string{{at: uint32(prog.Start)}: ""}
	todo := []place{{at: uint32(prog.Start)}}
	visit := func(p place, text string) {
		if _, known := texts[p]; !known {
			texts[p] = text
			todo = append(todo, p)
		}
	}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		switch in := prog.Inst[p.at]; in.Op {
		case syntax.InstMatch:
			return texts[p], true
		case syntax.InstAlt, syntax.InstAltMatch:
			visit(place{in.Out, p.read}, texts[p])
			visit(place{in.Arg, p.read}, texts[p])
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			visit(place{in.Out, p.read}, texts[p])
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for _, r := range letters {
				read := p.read + string(r)
				if !in.MatchRune(r) || slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(read, w) }) {
					continue
				}
				for !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, read) }) && read != "" {
					read = read[1:]
				}
				visit(place{in.Out, read}, texts[p]+string(r))
			}
		case syntax.InstFail:
		}
	}
	return "", false
}

// alphabet has one letter of each kind that prog and words tell apart.
func alphabet(prog *syntax.Prog, words []string) []rune {
	letters := []rune{0, '\n', '\n' + 1}
	for _, r := range strings.Join(words, "") {
		letters = append(letters, r, r+1)
	}
	for _, in := range prog.Inst {
		for i, r := range in.Rune {
			letters = append(letters, r)
			if i%2 == 1 || len(in.Rune) == 1 {
				letters = append(letters, r+1)
			}
		}
	}
	slices.Sort(letters)
	return slices.Compact(letters)
}
