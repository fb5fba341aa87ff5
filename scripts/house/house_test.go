package main

// A small module in which every figure has something to count: what is counted, and that each figure can fail.

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// built is the module. In room, a.go and b.go lean on each other; c.go leans on them, and d.go on c.go.
var built = map[string]string{
	"go.mod": "module example.com/built\n\ngo 1.26\n",
	"room/a.go": `package room

type Shelf[T any] struct{ rows []T }

func (s *Shelf[T]) add(row T) { s.rows = append(s.rows, row); countAll() }

func (s *Shelf[T]) dropRow() { s.rows = s.rows[1:] }

func (s *Shelf[T]) Len() int { return len(s.rows) }
`,
	"room/b.go": `package room

func countAll() int { return new(Shelf[int]).Len() }

func reset() {}

type (
	helper struct{}
	alias  = helper
)
`,
	"room/c.go": `package room

func Use() { reset() }
`,
	"room/d.go": "package room\n\nvar _ = Use\n",
	"room/room_test.go": `package room

var _, _ = (*Shelf[int]).add, (*Shelf[string]).add

var _ = Shelf[int]{rows: nil}

func (helper) inTest() { countAll() }

var _ = helper.inTest

type Attic int
`,
	"room/outside_test.go": "package room_test\n\nvar _ = 1\n",
	"room/other_build.go":  "//go:build ignore\n\npackage room\n\nfunc another() {}\n",
	"cmd/tool/main.go": `package main

func main() {}

type Shelf interface{ Len() int }

type Attic struct{}

// ` + strings.Repeat("é", 138) + `
` + "\t// " + strings.Repeat("é", 114) + `
`,
	"internal/story/hub.go": "package story\n\ntype Hub int\n\nfunc (Hub) One() {}\n\nfunc (Hub) Two() {}\n",
	"docs/page.md":          "What is this? Nobody says what is told beside it.\n",
	"wide_test.go":          "package built\n\n// " + strings.Repeat("x", 158) + "\n\nvar _ = `" + strings.Repeat("x", 160) + "`\n",
}

// load writes the module of these files into a folder and reads it.
func load(t *testing.T, files map[string]string) (string, checkout) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	house, err := loadModule(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, house
}

func TestEveryFigureIsCountedAndCanFail(t *testing.T) {
	dir, house := load(t, built)
	profile := filepath.Join(dir, "webhook.cover")
	ran := "mode: set\nexample.com/built/room/a.go:5.40,5.80 2 1\nexample.com/built/room/a.go:7.30,7.60 1 0\n" +
		"example.com/built/room/b.go:3.20,3.60 1 3\nexample.com/built/internal/story/hub.go:5.18,5.20 1 1\n"
	if err := os.WriteFile(profile, []byte(ran), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if house.covered, err = readProfile(profile, house.module); err != nil {
		t.Fatal(err)
	}
	if _, err := readProfile(profile, "example.com/other"); err == nil || !strings.Contains(err.Error(), profile) {
		t.Errorf("of a module that did not run: %v", err)
	}
	counted := make(map[string]string)
	for _, m := range measureHouse(house, limitTable{
		{methodsOfType, nil, 1, "so that the fake's are listed"},
		{linesOfRoom, []string{"internal/story", "attic"}, 8, "of which there is one"},
	}) {
		if m.counted > 0 {
			counted[m.title()] = m.inUnits(m.figure())
		}
	}
	want := map[string]string{
		"lines of code":                          "47",
		"lines of tests":                         "19",
		"lines of the biggest package: room":     "30",
		"lines of a room: internal/story, attic": "7",
		"code over 120 columns":                  "4.3 %", // one of 141 characters, and one of 117 and a tab
		"lines of code over 140 columns":         "1",
		"tests over 120 columns":                 "10.5 %", // two of 19
		"lines of tests over 160 columns":        "1",
		"largest circle of files: room":          "2",
		"methods of a type: room.Shelf":          "3",
		"fields of a struct: room.Shelf":         "1",
		"methods of a type: internal/story.Hub":  "2",
		"one-word unexported functions":          "50.0 %", // add and reset; not dropRow and countAll
		"type names in two or more packages":     "1",      // Shelf; the Attic in room is a test's
		"unexported names held by tests: room":   "4",      // Shelf.add, Shelf.rows, helper, countAll

		"functions that one event enters on its way to a check":    "2",      // add and countAll: dropRow did not run, and Hub is no product
		"uses in 10,000 words of docs and comments: what is":       "1111.1", // two of 16 words
		"uses in 10,000 words of docs and comments: nobody":        "555.6",
		"uses in 10,000 words of docs and comments: is told, says": "555.6",
		"uses in 10,000 words of docs and comments: beside":        "555.6",
	}
	if !maps.Equal(counted, want) {
		t.Errorf("counted\n%s\nwant\n%s", lines(counted), lines(want))
	}
	for _, m := range measureHouse(house, nil) {
		if m.kind.remedy == "" {
			continue // it is only printed
		}
		var said bytes.Buffer
		var of []string
		if m.kind == usesOfPhrase { // each has a limit of its own
			of = []string{m.of}
		}
		reached, passed := limitTable{{m.kind, of, m.figure(), "why"}}, limitTable{{m.kind, of, m.figure() - 0.1, "why"}}
		if code := printRemedies(&said, measureHouse(house, reached)); code != 0 {
			t.Errorf("%s: at its limit it ends with %d: %s", m.title(), code, &said)
		}
		code := printRemedies(&said, measureHouse(house, passed))
		text := said.String()
		if code != 1 || !strings.Contains(text, m.title()+": ") || !strings.Contains(text, ": why; "+m.kind.remedy) {
			t.Errorf("%s: past its limit it ends with %d: %s", m.title(), code, text)
		}
	}
}

func lines(figures map[string]string) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprintf("%q", figures), "map[]"), `" "`, "\"\n\"")
}

// The row of a package holds for what is below it, and counts it together.
func TestALimitHoldsForWhatIsBelow(t *testing.T) {
	table := limitTable{
		{heldByTests, []string{"room", "attic"}, 3, "why"},
		{methodsOfType, []string{"room.Shelf"}, 2, "why"},
		{methodsOfType, nil, 1, "why"},
	}
	_, house := load(t, map[string]string{
		"go.mod":               "module example.com/built\n\ngo 1.26\n",
		"room/a.go":            "package room\n\nfunc one() {}\n",
		"room/shelf.go":        "package room\n\ntype Shelf int\n\nfunc (Shelf) A() {}\nfunc (Shelf) B() {}\n",
		"room/a_test.go":       "package room\n\nvar _ = one\n",
		"room/inner/a.go":      "package inner\n\nfunc one() {}\n\nfunc two() {}\n",
		"room/inner/a_test.go": "package inner\n\nvar _, _ = one, two\n",
		"attic/a.go":           "package attic\n\nfunc one() {}\n",
		"attic/a_test.go":      "package attic\n\nvar _ = one\n",
		"roomy/a.go":           "package roomy\n\nfunc one() {}\n",
		"roomy/a_test.go":      "package roomy\n\nvar _ = one\n",
	})
	var all bytes.Buffer
	printTable(&all, measureHouse(house, table))
	narrow := regexp.MustCompile(` +`).ReplaceAllString(all.String(), " ")
	for _, line := range []string{
		"held by tests: room, attic 4 3 FALLS BEHIND\n",
		"held by tests: roomy 1 -\n",
		"methods of a type: room.Shelf 2 2 ok\n",
	} {
		if !strings.Contains(narrow, line) {
			t.Errorf("no %q in\n%s", line, &all)
		}
	}
}

func TestTheCommand(t *testing.T) {
	dir, _ := load(t, built)
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "go.mod"), []byte("module example.com/broken\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "a.go"), []byte("package a\n\nvar a = b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-at", dir}, 1, "FALLS BEHIND\n", "one-word unexported functions: 50.0 % is more than 7.0 %"},
		{[]string{"-v", "-at", dir}, 1, "  a.go leans on b.go (countAll)\n  b.go leans on a.go (Len Shelf)\n", ""},
		{[]string{"-h"}, 0, "", "-at"},
		{[]string{"here"}, 2, "", `"here" is not a flag`},
		{[]string{"-wrong"}, 2, "", "-wrong"},
		{[]string{"-at", broken}, 2, "", "undefined: b"},
		{[]string{"-at", filepath.Join(broken, "none")}, 2, "", "none"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(c.args, &stdout, &stderr); code != c.code {
			t.Errorf("house %q ends with %d, not %d", c.args, code, c.code)
		}
		if !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("house %q says\n%s%s", c.args, &stdout, &stderr)
		}
	}
}

func TestEveryLimitSaysWhyAndWhatToDo(t *testing.T) {
	for _, row := range limits {
		if row.why == "" || row.kind.remedy == "" {
			t.Errorf("%s %v: why %q, what to do %q", row.kind.name, row.of, row.why, row.kind.remedy)
		}
	}
}
