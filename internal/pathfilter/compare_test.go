package pathfilter

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCommonPath(t *testing.T) {
	for _, test := range []struct {
		a, b     string
		common   string // "": none was found
		disjoint bool
	}{
		{a: "docs/**", b: "docs/api/*.md", common: "docs/api/x.md"},
		{a: "docs/**", b: "**.md", common: "docs/x.md"},
		{a: "docs/**", b: "migrations/**", disjoint: true},
		{a: "docs/**", b: "docs", disjoint: true},
		{a: "**", b: "migrations/**", common: "migrations/x"},
		{a: "**/go.sum", b: "go.sum", common: "go.sum"},
		{a: "*.md", b: "docs/**", disjoint: true},
		{a: "*", b: "a/**/b", disjoint: true},
		{a: "[a-c]x", b: "[c-e]?x", common: "cx"},
		{a: "[a-c]x", b: "[d-e]x", disjoint: true},
		{a: "a+b", b: "aaab", common: "aaab"},
		{a: "** !migrations/**", b: "migrations/**"},
		{a: "** !x", b: "*", common: "a"},
		{a: "docs/** !docs/x*", b: "docs/*", common: "docs/a"},
		{a: "!docs/**", b: "docs/**", disjoint: true},
		{a: "a//b", b: "a//b", disjoint: true}, // no path
		{a: "[", b: "**", disjoint: true},      // no pattern
		{a: ".github/**", b: "**.yml", common: ".github/.yml"},
	} {
		a, b := strings.Fields(test.a), strings.Fields(test.b)
		for range 2 {
			path, found := CommonPath(a, b)
			if path != test.common || found != (test.common != "") {
				t.Errorf("common to %v and %v: %q (%t), want %q", a, b, path, found, test.common)
			}
			if got := AreDisjoint(a, b); got != test.disjoint {
				t.Errorf("%v and %v are disjoint: %t", a, b, got)
			}
			a, b = b, a
		}
	}
}

func TestCovers(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"**", "docs/** *.md", true},
		{"docs/** *.md", "*.md docs/**", true},
		{"docs/**", "docs/api/**", true},
		{"docs/**", "docs/*.md docs/readme", true},
		{"docs/**", "docs/?x", false},
		{"docs/**", "docs", false},
		{"docs/*", "docs/a", true},
		{"docs/*", "docs/a/b", false},
		{"docs/api/**", "docs/**", false},
		{"** !docs/**", "src/** go.sum", true},
		{"** !docs/**", "docs/a", false},
		{"!docs/** **", "docs/a", true},
		{"** !docs/** docs/api/**", "docs/api/*", true},
		{"** !**.md", "src/**", false},
		{"**", "!docs/**", false}, // matches nothing
		{"", "docs/**", false},
		{"** !docs/**", "** !docs/**", true},
		{"docs/**", "docs/** !docs/a", true},
		{"*", "a", true},
		{"*", "**", false},
	} {
		if got := Covers(strings.Fields(test.a), strings.Fields(test.b)); got != test.want {
			t.Errorf("%s covers %s: %t", test.a, test.b, got)
		}
	}
}

// TestComparedWithTrying holds the comparisons to trying: every short path over a few letters.
func TestComparedWithTrying(t *testing.T) {
	var paths []string
	for _, a := range []string{"a", "b", "x", "ab", "xx"} {
		paths = append(paths, a)
		for _, b := range []string{"a", "b", "x"} {
			paths = append(paths, a+"/"+b)
			for _, c := range []string{"a", "b", "xb"} {
				paths = append(paths, a+"/"+b+"/"+c)
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "/", "*", "**", "**/", "/**", "?", "+", "[ab]", "x"}
	list := func() (all []string) {
		for len(all) < 1+random.IntN(2) {
			pattern := strings.Repeat("!", random.IntN(5)/4)
			for range 1 + random.IntN(4) {
				pattern += pieces[random.IntN(len(pieces))]
			}
			if _, err := Compile(pattern); err == nil {
				all = append(all, pattern)
			}
		}
		return all
	}
	found := map[string]int{}
	for range 2_000 {
		a, b := list(), list()
		listA, _ := CompileAll(a)
		listB, _ := CompileAll(b)
		both := slices.ContainsFunc(paths, func(p string) bool { return listA.Match(p) && listB.Match(p) })
		common, isCommon := CommonPath(a, b)
		names := fmt.Sprintf("%q and %q", a, b)
		switch {
		case AreDisjoint(a, b) && (both || isCommon):
			t.Errorf("%s are not disjoint", names)
		case isCommon && (!listA.Match(common) || !listB.Match(common) || strings.Contains("/"+common+"/", "//")):
			t.Errorf("%s do not have %q in common", names, common)
		case both && !isCommon && !slices.ContainsFunc(slices.Concat(a, b), isNegated):
			t.Errorf("%s: no common path was found", names)
		}
		if Covers(a, b) {
			found["covers"]++
			if i := slices.IndexFunc(paths, func(p string) bool { return listB.Match(p) && !listA.Match(p) }); i >= 0 {
				t.Errorf("%s: the first does not cover the second: %s", names, paths[i])
			}
		}
		if MatchesAll(a) && slices.ContainsFunc(paths, func(p string) bool { return !listA.Match(p) }) {
			t.Errorf("%q does not match all", a)
		}
		found[fmt.Sprintf("common %t", isCommon)]++
	}
	for _, kind := range []string{"covers", "common true", "common false"} {
		if found[kind] < 20 {
			t.Errorf("%s: only %d times", kind, found[kind])
		}
	}
}

func TestIsName(t *testing.T) {
	for pattern, want := range map[string]bool{
		"main": true, "release/1.0": true, "release/*": false, "v?": false, "[ab]": false, "!main": false, `a\*`: false, "a+": false, "": false,
	} {
		if got := IsName(pattern); got != want {
			t.Errorf("%q is a name: %t", pattern, got)
		}
	}
}

// TestComparingEndsSoon: what two huge patterns have in common is not known, and then nothing is said.
func TestComparingEndsSoon(t *testing.T) {
	many := strings.Repeat("a?", 500)
	a, b := []string{many + "x"}, []string{many + "y"}
	if _, found := CommonPath(a, b); found || AreDisjoint(a, b) || Covers(a, b) {
		t.Error("something is said of patterns that were not compared to their end")
	}
}
