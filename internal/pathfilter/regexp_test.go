package pathfilter

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Patterns match what a regular expression that says the same does, and are refused where there is none.
func TestPatternsMatchAsRegularExpressionsDo(t *testing.T) {
	pieces := []string{
		"a", "X", ".", "/", "!", "]", "é", "\ufffd", "\xff", "*", "**", "**/", "/**", "?", "+",
		"[a-c]", "[X-]", "[-a]", "[.9]", "[c-a]", `\a`, `\*`, `\`,
	}
	matched, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pattern"), "")
		if strings.HasPrefix(pattern, "!") {
			return
		}
		p, err := Compile(pattern)
		var re *regexp.Regexp
		expr, wrong := patternToRegexp(pattern)
		if wrong == nil {
			re, wrong = regexp.Compile(expr)
		}
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%q: %v, want %v", pattern, err, wrong)
		}
		if err != nil {
			refused++
			return
		}
		chars := rapid.SampledFrom([]rune("aaaXb-.c/9/!]é*\n\ufffd"))
		for _, path := range []string{
			rapid.StringOfN(chars, 0, 8, -1).Draw(t, "path"), strings.NewReplacer("*", "a", "?", "", "+", "", `\`, "").Replace(pattern),
			strings.NewReplacer("**/", "", "/**", "/a", "**", "", "*", "a").Replace(pattern), "a/" + pattern, pattern + "\xff\n",
		} {
			got, want := p.matchesPath(path), re.MatchString(path)
			if got != want {
				t.Fatalf("%q matches %q: %t, want %t", pattern, path, got, want)
			}
			if got {
				matched++
			}
		}
	})
	if matched == 0 || refused == 0 {
		t.Errorf("%d matched, %d refused", matched, refused)
	}
}

// patternToRegexp is a second implementation: it writes a pattern as a regular expression. Each piece is a group of its
// own, so that ? and + take all of it.
func patternToRegexp(pattern string) (string, error) {
	var out strings.Builder
	out.WriteString(`(?s)\A`)
	piece := "" // the piece that a ? or + would refer to; "": none
	rest := pattern
	for rest != "" {
		var err error
		size := 1
		switch rest[0] {
		case '*':
			out.WriteString(piece)
			piece, size = starsToRegexp(rest, len(rest) == len(pattern) || pattern[len(pattern)-len(rest)-1] == '/')
		case '?', '+':
			if piece == "" {
				return "", fmt.Errorf("nothing stands before %q that it could refer to", rest[0])
			}
			piece = "(?:" + piece + rest[:1] + ")"
		case '[':
			out.WriteString(piece)
			piece, size, err = setToRegexp(rest)
		case '\\':
			if len(rest) == 1 {
				return "", errors.New(`it ends with a lone \`)
			}
			out.WriteString(piece)
			_, width := utf8.DecodeRuneInString(rest[1:])
			piece, size = "(?:"+regexp.QuoteMeta(rest[1:1+width])+")", 1+width
		default:
			out.WriteString(piece)
			_, size = utf8.DecodeRuneInString(rest)
			piece = "(?:" + regexp.QuoteMeta(rest[:size]) + ")"
		}
		if err != nil {
			return "", err
		}
		rest = rest[size:]
	}
	out.WriteString(piece)
	out.WriteString(`\z`)
	return out.String(), nil
}

// starsToRegexp reads "*", "**" and, at the beginning of a path component, "**/", which also stands for no folder at all.
func starsToRegexp(rest string, opens bool) (piece string, size int) {
	for size < len(rest) && rest[size] == '*' {
		size++
	}
	switch {
	case size == 1:
		return `(?:[^/]*)`, 1
	case opens && strings.HasPrefix(rest[size:], "/"):
		return `(?:(?:.*/)?)`, size + 1
	default:
		return `(?:.*)`, size
	}
}

// setToRegexp reads "[…]": characters and the ranges a-z, A-Z and 0-9.
func setToRegexp(rest string) (piece string, size int, err error) {
	end := strings.IndexByte(rest, ']')
	switch {
	case end < 0:
		return "", 0, errors.New("a [ is never closed")
	case end == 1:
		return "", 0, errors.New("[] holds nothing")
	}
	var b strings.Builder
	chars := rest[1:end]
	for i := 0; i < len(chars); i++ {
		if i+2 < len(chars) && chars[i+1] == '-' {
			if !isRange(chars[i], chars[i+2]) {
				return "", 0, fmt.Errorf("%q is no range within a-z, A-Z or 0-9", chars[i:i+3])
			}
			b.WriteString(chars[i : i+3])
			i += 2
			continue
		}
		if !isRange(chars[i], chars[i]) && !strings.ContainsRune("-_.", rune(chars[i])) {
			return "", 0, fmt.Errorf("[%s] may only hold letters, digits and ranges of them", chars)
		}
		b.WriteString(regexp.QuoteMeta(chars[i : i+1]))
		if chars[i] == '-' {
			// QuoteMeta leaves it alone, and between two characters it would be a range.
			s := strings.TrimSuffix(b.String(), "-")
			b.Reset()
			b.WriteString(s + `\-`)
		}
	}
	return "[" + b.String() + "]", end + 1, nil
}

// BenchmarkMatch has the guards of a usual policy look at a long path that none of them matches.
func BenchmarkMatch(b *testing.B) {
	list, err := CompileAll([]string{"AGENTS.md", "**/AGENTS.md", "**/*.md", "**/.github/**", ".github/workflows/**", "docs/**"})
	if err != nil {
		b.Fatal(err)
	}
	path := strings.Repeat("services/", 12) + "main.go"
	for b.Loop() {
		if list.Match(path) {
			b.Fatal("it matches")
		}
	}
}

func BenchmarkCompileAll(b *testing.B) {
	for b.Loop() {
		if _, err := CompileAll([]string{"AGENTS.md", "**/AGENTS.md", ".codex/**", ".github/workflows/**", ".github/actions/**"}); err != nil {
			b.Fatal(err)
		}
	}
}
