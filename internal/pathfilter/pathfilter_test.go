package pathfilter

// GitHub documents its filter patterns by example. These are the same rules, with paths and branches of our own.

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{"*", []string{"README.md", "go.mod", ".gitignore"}, []string{"docs/a.md", "a/"}},
		{"**", []string{"README.md", "docs/a.md", "a/b/c/d"}, nil},
		{"*.go", []string{"main.go", ".go"}, []string{"cmd/main.go", "main.gox", "main_go"}},
		{"**.go", []string{"main.go", "cmd/main.go", "a/b/c.go"}, []string{"main.goo", "go"}},
		{"docs/*", []string{"docs/a.md", "docs/b"}, []string{"docs/a/b.md", "docs", "my/docs/a.md"}},
		{"docs/**", []string{"docs/a.md", "docs/a/b/c.md"}, []string{"docs", "docsy/a.md", "my/docs/a.md"}},
		{"docs/**/*.md", []string{"docs/a.md", "docs/a/b/c.md"}, []string{"docs/a.txt", "a.md"}},
		{"**/docs/**", []string{"docs/a.md", "my/docs/a.md", "my/own/docs/a/b"}, []string{"mydocs/a.md", "docs"}},
		{"**/README.md", []string{"README.md", "docs/README.md", "a/b/README.md"}, []string{"MYREADME.md", "README.md/a"}},
		{"**/*src/**", []string{"src/a", "a/src/b", "my-src/a/b", "a/b/my-src/c"}, []string{"src", "srcs/a"}},
		{"**/*-post.md", []string{"my-post.md", "a/b/my-post.md", "-post.md"}, []string{"my-post.mdx", "post.md"}},
		{"migrations/**.sql", []string{"migrations/a.sql", "migrations/a/b.sql"}, []string{"a.sql"}},
		{".github/workflows/**", []string{".github/workflows/ci.yml", ".github/workflows/a/b"}, []string{"xgithub/workflows/ci.yml", ".github/workflows"}},
		{"*.jsx?", []string{"page.js", "page.jsx"}, []string{"page.j", "page.jsxx"}},
		{"v[12].[0-9]+.[0-9]+", []string{"v1.10.1", "v2.0.0"}, []string{"v3.0.0", "v1.1", "v1..1"}},
		{"[CB]at", []string{"Cat", "Bat"}, []string{"cat", "at", "CBat"}},
		{"[a-z-]x", []string{"ax", "-x"}, []string{"Ax", "x"}},
		{"[-a]x", []string{"ax", "-x"}, []string{"bx"}},
		{"release/**", []string{"release/1", "release/1/hot"}, []string{"release", "releases/1"}},
		{"a+b", []string{"ab", "aaab"}, []string{"b", "a+b"}},
		{"(a|b)", []string{"(a|b)"}, []string{"a", "b"}},
		{"a.b", []string{"a.b"}, []string{"axb"}},
		{"^a$", []string{"^a$"}, []string{"a"}},
		{`a\*b`, []string{"a*b"}, []string{"ab", "axb"}},
		{`\!a`, []string{"!a"}, []string{"a"}},
		{"ä?b", []string{"äb", "b"}, []string{"\xc3b", "a"}},
		{"a/*/c", []string{"a/b/c", "a//c"}, []string{"a/c", "a/b/b/c"}},
		{"a/**/c", []string{"a/c", "a/b/c", "a/b/b/c"}, []string{"ac", "a/bc", "a/bc/d"}},
		{"***", []string{"a", "a/b"}, nil},
		{"a**/c", []string{"a/c", "ab/c", "a/b/c"}, []string{"ac"}},
		{"*", []string{"two\nlines"}, []string{"a/two\nlines"}},
		{"**.md", []string{"two\nlines.md"}, []string{"a.md\n"}},
	}
	for _, test := range tests {
		for _, path := range test.yes {
			if !matches(test.pattern, path) {
				t.Errorf("%q does not match %q", test.pattern, path)
			}
		}
		for _, path := range append(test.no, "") {
			if path == "" && (test.pattern == "*" || strings.Trim(test.pattern, "*") == "") {
				continue
			}
			if matches(test.pattern, path) {
				t.Errorf("%q matches %q", test.pattern, path)
			}
		}
	}
}

func TestTheLastPatternWins(t *testing.T) {
	tests := []struct {
		patterns []string
		path     string
		want     bool
	}{
		{[]string{"**.md", "!README.md"}, "README.md", false},
		{[]string{"**.md", "!README.md"}, "docs/README.md", true},
		{[]string{"**.md", "!README.md", "README*"}, "README.md", true},
		{[]string{"!README.md", "**.md"}, "README.md", true},
		{[]string{"!README.md"}, "go.mod", false},
		{[]string{"!README.md"}, "README.md", false},
		{nil, "README.md", false},
		{[]string{"[", "*.md"}, "README.md", true},
		{[]string{"*.md", "["}, "README.md", true},
		{[]string{"["}, "[", false},
	}
	for _, test := range tests {
		if got := matchesAny(test.patterns, test.path); got != test.want {
			t.Errorf("%q on %q: %v", test.patterns, test.path, got)
		}
	}
	list, err := CompileAll([]string{"**.md", "!docs/**"})
	if err != nil || !list.Match("a.md") || list.Match("docs/a.md") || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

// What stands in the place of a folder that a pattern names matches, too: a link there decides what is found below it.
func TestFoldersOnTheWay(t *testing.T) {
	list, err := CompileWithFolders([]string{
		".github/workflows/**", "**/.claude/**", "**/.github/instructions/**", "**/CLAUDE.md",
		"a/*/b", "src/**", "!src/docs/**",
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		".github": true, ".github/workflows": true, ".github/workflows/a.yml": true,
		"my/.github": true, "my/.github/instructions": true,
		".claude": true, "my/.claude": true, "my/.claude/rules/a.md": true, "CLAUDE.md": true, "my/CLAUDE.md": true,
		"a": true, "a/x/b": true, "src": true, "src/a.go": true,
		"a/x": false, "my": false, "github": false, ".github/other": false, "x.claude": false,
		"src/docs/a.md": false, "docs": false,
	} {
		if got := list.Match(path); got != want {
			t.Errorf("%q: %v, want %v", path, got, want)
		}
	}
	if _, err := CompileWithFolders([]string{"a/b["}); err == nil {
		t.Error("a pattern that cannot be compiled is taken")
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	for pattern, why := range map[string]string{
		"":                          "it is empty",
		"!":                         "it is empty",
		"?a":                        "nothing stands before '?'",
		"+":                         "nothing stands before '+'",
		"a[":                        "never closed",
		"a[]":                       "holds nothing",
		"[z-a]":                     "no range within",
		"[A-z]":                     "no range within",
		"[0-Z]":                     "no range within",
		"[^a]":                      "may only hold",
		"[a b]":                     "may only hold",
		`a\`:                        "lone",
		"a\xff":                     "cannot be compiled",
		strings.Repeat("a", 257):    "longer than 256 bytes",
		strings.Repeat("a?", 20000): "longer than 256 bytes",
	} {
		_, err := Compile(pattern)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.20q: %v, want %q", pattern, err, why)
		}
		if matches(pattern, pattern) || matches(pattern, "a") {
			t.Errorf("%.20q matches", pattern)
		}
	}
	if _, err := CompileAll([]string{"a", "b["}); err == nil || !strings.HasPrefix(err.Error(), `read pattern "b["`) {
		t.Errorf("the pattern is not named: %v", err)
	}
	if _, err := Compile(strings.Repeat("a", 256)); err != nil {
		t.Error(err)
	}
}

// A stranger chooses the paths, and in its own copy of the policy the patterns too.
func TestAHostilePatternTakesNoTime(t *testing.T) {
	path := strings.Repeat("a", 4096)
	for _, pattern := range []string{
		strings.Repeat("*", 1024) + "", strings.Repeat("*a", 500) + "b", strings.Repeat("**a", 300) + "b", "a" + strings.Repeat("+", 200) + "b",
		"a" + strings.Repeat("?", 200) + "b", strings.Repeat("**/", 300) + "b", strings.Repeat("a?", 500) + "b", "a" + strings.Repeat("+", 1000),
	} {
		before := time.Now()
		matches(pattern, path)
		if took := time.Since(before); took > 5*time.Second {
			t.Errorf("%.20q… takes %v", pattern, took)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, pattern := range []string{"**.go", "docs/**/*.md", "!a", "[a-z]+x?", `\*`, "[", "a??", "\xff", "**/"} {
		f.Add(pattern, "docs/a.md")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		p, err := Compile(pattern)
		if err != nil {
			if matches(pattern, path) {
				t.Fatalf("%q cannot be compiled and matches %q", pattern, path)
			}
			return
		}
		if got := (Patterns{p}).Match(path); got != matches(pattern, path) || got && strings.HasPrefix(pattern, "!") {
			t.Fatalf("%q on %q: %v", pattern, path, got)
		}
		if !strings.ContainsAny(pattern, `*?+[]\!`) && (Patterns{p}).Match(path) != (pattern == path) {
			t.Fatalf("%q has no special character, and on %q it does not mean itself", pattern, path)
		}
	})
}

func TestMatchOfGitHubsExamples(t *testing.T) {
	// GitHub's documented table of patterns for branches and for paths, with what they match and some that they do not.
	for _, test := range []struct{ pattern, yes, no string }{
		{"feature/*", "feature/my-branch feature/your-branch", "feature/a/b feature"},
		{"feature/**", "feature/beta-a/my-branch feature/your-branch feature/mona/the/octocat", "features/x"},
		{"main", "main", "maine domain"},
		{"releases/mona-the-octocat", "releases/mona-the-octocat", "releases/mona"},
		{"*", "main README.md server.rb", "a/b docs/x.md"},
		{"**", "all/the/branches every/tag x", ""},
		{"*feature", "mona-feature feature ver-10-feature", "a/feature feature-1"},
		{"v2*", "v2 v2.0 v2.9", "v1 v3/2"},
		{"v[12].[0-9]+.[0-9]+", "v1.10.1 v2.0.0", "v3.0.0 v1.x.1 v1.1."},
		{"*.jsx?", "page.js page.jsx", "page.jsxx page.j src/page.js"},
		{"*.js", "app.js index.js", "js/index.js appjs"},
		{"**.js", "index.js js/index.js src/js/app.js", "index.jsx"},
		{"docs/*", "docs/README.md docs/file.txt", "docs/a/b.md xdocs/a"},
		{"docs/**", "docs/README.md docs/mona/octocat.txt", "adocs/x docs"},
		{"docs/**/*.md", "docs/README.md docs/mona/hello-world.md docs/a/markdown/file.md", "docs/a.txt README.md"},
		{"**/docs/**", "docs/hello.md dir/docs/my-file.txt space/docs/plan/space.doc", "mydocs/hello.md docs"},
		{"**/README.md", "README.md js/README.md", "READMExmd my-README.md"},
		{"**/*src/**", "a/src/app.js my-src/code/js/app.js", "srcs/a"},
		{"**/*-post.md", "my-post.md path/their-post.md", "post.md"},
		{"**/migrate-*.sql", "migrate-10909.sql db/migrate-v1.0.sql db/sept/migrate-v1.sql", "migrate.sql"},
		{"[CB]at", "Cat Bat", "Mat cat CBat"},
		{"[1-2]00", "100 200", "300 1200"},
		{"[a-c-]x", "ax -x", "dx"},
		{`\*.md`, "*.md", "a.md"},
		{`a\[b`, "a[b", "ab"},
		{"a.b", "a.b", "axb"},
		{"a{1,2}", "a{1,2}", "aa a"},
		{"(a|b)$^", "(a|b)$^", "a"},
		{"é+", "é éé", "e"},
		{"!README.md", "", "README.md x"},
		{"", "", "a"},
		{"[z-a]", "", "z a -"},
		{"[!a]", "", "b a !"},
		{"?", "", "a ?"},
	} {
		for _, path := range strings.Fields(test.yes) {
			if !matches(test.pattern, path) {
				t.Errorf("%q does not match %q", test.pattern, path)
			}
		}
		for _, path := range strings.Fields(test.no) {
			if matches(test.pattern, path) {
				t.Errorf("%q matches %q", test.pattern, path)
			}
		}
	}
	for _, test := range []struct{ patterns, yes, no string }{
		{"*.md !README.md", "hello.md", "README.md docs/hello.md"},
		{"*.md !README.md README*", "hello.md README.md README.doc", "x.doc"},
		{"!README.md", "", "README.md hello.md"},
	} {
		for _, path := range strings.Fields(test.yes + " " + test.no) {
			if got, want := matchesAny(strings.Fields(test.patterns), path), slices.Contains(strings.Fields(test.yes), path); got != want {
				t.Errorf("%q matches %q: %t, want %t", test.patterns, path, got, want)
			}
		}
	}
	if matches(strings.Repeat("a*", 500)+"c", strings.Repeat("a", 4000)+"b") { // and it ends
		t.Error("a pattern of many stars matches")
	}
}

// matches reports whether path matches pattern; one that cannot be compiled matches nothing.
func matches(pattern, path string) bool { return matchesAny([]string{pattern}, path) }

// matchesAny reports whether path matches a list of patterns; those that cannot be compiled match nothing.
func matchesAny(patterns []string, path string) bool {
	var list Patterns
	for _, pattern := range patterns {
		if p, err := Compile(pattern); err == nil {
			list = append(list, p)
		}
	}
	return list.Match(path)
}
