package pathfilter

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// Patterns that are matched without a regular expression match what their regular expression does.
func TestSimplePatternsMatchAsAllDo(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("aX./!]é*")), 0, 4, -1)
	simples := 0
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SampledFrom([]string{"", "**/"}).Draw(t, "before") + word.Draw(t, "name") + rapid.SampledFrom([]string{"", "/**"}).Draw(t, "after")
		p, ok := parseLiteral(pattern)
		if pattern == "" || !ok {
			return
		}
		simples++
		expr, err := patternToRegexp(pattern)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		re := regexp.MustCompile(expr)
		for _, path := range []string{
			word.Draw(t, "path"), word.Draw(t, "folder") + p.pathOrName, p.folderPrefix + word.Draw(t, "file"),
			"a/" + p.folderPrefix, p.pathOrName + "/", p.pathOrName, p.folderPrefix, p.folderPrefix + "\xff\n",
		} {
			if p.matchesPath(path) != re.MatchString(path) {
				t.Fatalf("%q matches %q: %t, want %t", pattern, path, p.matchesPath(path), re.MatchString(path))
			}
		}
	})
	if simples == 0 {
		t.Error("no pattern was simple")
	}
}

func BenchmarkCompileAll(b *testing.B) {
	for b.Loop() {
		if _, err := CompileAll([]string{"AGENTS.md", "**/AGENTS.md", ".codex/**", ".github/workflows/**", ".github/actions/**"}); err != nil {
			b.Fatal(err)
		}
	}
}
