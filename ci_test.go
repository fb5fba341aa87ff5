package coordinator_test

// Nothing that CI is meant to play is left out: a flag of a test that no script sets, a search that no night plays.

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// flagOfTest matches the definition of a flag.
var flagOfTest = regexp.MustCompile(`\bflag\.[A-Z]\w*\((?:&\w+, )?"([a-z-]+)"`)

// definedFlags returns the flags of all tests, each as its package and its name.
func definedFlags(t *testing.T) (all []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		src, err := os.ReadFile(name)
		for _, found := range flagOfTest.FindAllSubmatch(src, -1) {
			all = append(all, path.Dir(name)+" "+string(found[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// setsFlag reports whether a command of a script sets a flag of a package's tests.
func setsFlag(script, dir, flag string) bool {
	shorthand := map[string]string{".": `go test \. `, "internal/story": `[ ;]stories '`, "cmd/coordinator": `daemon_stories `}
	plays := regexp.MustCompile(cmp.Or(shorthand[dir], `$^`) + `|(go test|race\[@\]).* \./` + dir + `\b`)
	sets := regexp.MustCompile(`[ "]-` + flag + `[ =";\n]`)
	return slices.ContainsFunc(strings.SplitAfter(script, "\n"), func(line string) bool {
		return !strings.HasPrefix(strings.TrimSpace(line), "#") && plays.MatchString(line) && sets.MatchString(line)
	})
}

func TestEveryFlagOfATestIsPlayed(t *testing.T) {
	list, err := os.ReadFile(".ci/flags.txt")
	if err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	var listed []string
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) < 3 {
			t.Errorf(".ci/flags.txt: %q names no script", line)
			continue
		}
		listed = append(listed, words[0]+" "+words[1])
		if by, why, isByHand := strings.Cut(line, " by hand: "); isByHand {
			if strings.TrimSpace(why) == "" {
				t.Errorf(".ci/flags.txt: %q has no reason", by)
			}
			continue
		}
		for _, script := range words[2:] {
			if scripts[script] == "" {
				text, err := os.ReadFile(".ci/" + script)
				if err != nil {
					t.Fatal(err)
				}
				scripts[script] = strings.ReplaceAll(string(text), "\\\n", " ")
			}
			if !setsFlag(scripts[script], words[0], words[1]) {
				t.Errorf("%s: .ci/%s does not set -%s", words[0], script, words[1])
			}
		}
	}
	defined := definedFlags(t)
	if len(defined) < 20 {
		t.Errorf("only %d flags are found", len(defined))
	}
	for _, flag := range defined {
		if !slices.Contains(listed, flag) {
			t.Errorf("%s: list it in .ci/flags.txt with the script that sets it", flag)
		}
	}
	for _, flag := range listed {
		if !slices.Contains(defined, flag) {
			t.Errorf("%s: .ci/flags.txt lists it, and no test has it", flag)
		}
	}
}

func TestEverySearchIsPlayedByNight(t *testing.T) {
	script, err := os.ReadFile(".ci/deep")
	if err != nil {
		t.Fatal(err)
	}
	var searches []string
	for _, found := range regexp.MustCompile(`(?m)^search (\w+)`).FindAllSubmatch(script, -1) {
		searches = append(searches, string(found[1]))
	}
	workflow, err := os.ReadFile(".github/workflows/deep.yml")
	if err != nil {
		t.Fatal(err)
	}
	matrix := regexp.MustCompile(`search: \[(.*)\]`).FindSubmatch(workflow)
	if matrix == nil || len(searches) == 0 {
		t.Fatalf("%d searches, matrix %q", len(searches), matrix)
	}
	if got := strings.Split(string(matrix[1]), ", "); !slices.Equal(got, searches) {
		t.Errorf("deep.yml plays %q, and .ci/deep has %q", got, searches)
	}
}

// A mistake of .ci/mistakes.txt whose lines are no longer there is planted by no night, and its rule is held by nothing.
func TestEachMistakeApplies(t *testing.T) {
	src, err := os.ReadFile(".ci/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	records := strings.Split(strings.TrimSpace(string(src)), "\n\n")[1:] // the first says how they are written
	for _, record := range records {
		lines := strings.Split(record, "\n")
		_, file, _ := strings.Cut(lines[0], " ")
		var old []string
		for _, line := range lines {
			if text, isOld := strings.CutPrefix(line, "-"); isOld {
				old = append(old, text)
			}
		}
		text, err := os.ReadFile(file)
		if n := strings.Count(string(text), strings.Join(old, "\n")); err != nil || len(old) == 0 || n != 1 {
			t.Errorf("%s: what it replaces stands there %d times: %v", lines[0], n, err)
		}
	}
	count := strconv.Itoa(len(records)) + " planted mistakes"
	for _, name := range []string{".ci/deep", "CONTRIBUTING.md"} {
		if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), count) {
			t.Errorf("%s does not speak of %s: %v", name, count, err)
		}
	}
}
