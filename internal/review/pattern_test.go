package review

// The words of the patterns are proved here: a word that a pattern can do without would make it overlook a line.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// inspectSource visits all nodes of the package's source, or of its tests'.
func inspectSource(t testing.TB, tests bool, visit func(ast.Node) bool) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, visit)
	}
}

// patternsInSource returns all patterns that the source writes, so that none can be left out of a list.
func patternsInSource(t testing.TB) (all []pattern) {
	t.Helper()
	built := 0
	inspectSource(t, false, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			if name, ok := lit.Type.(*ast.Ident); ok && name.Name == "pattern" {
				built++
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "rx" {
			return true
		}
		var args []string
		for _, arg := range call.Args {
			args = append(args, literalArg(t, arg))
		}
		all = append(all, rx(args[0], args[1:]...))
		return true
	})
	if built != 1 {
		t.Fatalf("%d places build a pattern: only rx may, so that all are found here", built)
	}
	return all
}

// literalArg returns the text of a literal, or of literals joined by +.
func literalArg(t testing.TB, e ast.Expr) string {
	t.Helper()
	if sum, ok := e.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		return literalArg(t, sum.X) + literalArg(t, sum.Y)
	}
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		t.Fatalf("an argument of rx is no literal: %#v", e)
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNoPatternMatchesWithoutItsWords(t *testing.T) {
	all := patternsInSource(t)
	if len(all) < len(generalNotices) {
		t.Fatalf("only %d patterns found", len(all))
	}
	for _, name := range Presets() {
		for _, list := range presetOf(name).shapes.lists {
			for _, s := range list {
				if s.words[0] != "" { // without words it is tried on each line
					all = append(all, s.pattern)
				}
			}
		}
	}
	for _, p := range all {
		if text, ok := textWithoutWords(t, p.expr().String(), p.words); ok {
			t.Errorf("%v matches %q, which holds none of %q", p.expr(), text, p.words)
		}
	}
}

// The proof of the words must itself find a wrong one.
func TestWrongWordsAreFound(t *testing.T) {
	for _, c := range []struct {
		expr  string
		words []string
		right bool
	}{
		{`^a`, nil, false},
		{`^time(?:out|d out)$`, []string{"timeout", "timed out"}, true},
		{`^time(?:out|d out)$`, []string{"timeout"}, false},
		{`(?:quota|usage limits?) hit`, []string{"quota", "usage limit"}, true},
		{`(?:quota|usage limits?) hit`, []string{"quota", "usage limits"}, false},
		{`^(?:ab)?c`, []string{"abc"}, false},
		{`^a.{0,3}bc$`, []string{"bc"}, true},
		{`^a+b`, []string{"aab"}, false},
		{`^a+b`, []string{"ab"}, true},
		{`^[ab]c`, []string{"ac"}, false},
		{`^[ab]c`, []string{"ac", "bc"}, true},
		{`^[^b]c`, []string{"ac"}, false},
		{`^aabaaab`, []string{"aaab"}, true},
		{`(?i)^ab`, []string{"ab"}, false},
		{`^(?:b…|.…)$`, []string{"…"}, true},
		{`^.$`, []string{"…"}, false},
	} {
		if text, ok := textWithoutWords(t, c.expr, c.words); ok == c.right {
			t.Errorf("%s with %q: %v %q", c.expr, c.words, ok, text)
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
