package coordinator_test

// What is pinned is raised by a bot, and stands in one place: .github/renovate.json finds each pin, scripts/go-version is the Go of
// releases and of CI, and the modules below tools/ have the
// programs that CI uses.

import (
	"encoding/json"
	"go/version"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// renovate is as much of .github/renovate.json as finds pins that Renovate does not know by itself.
type renovate struct {
	Actions struct {
		Patterns []string `json:"managerFilePatterns"`
	} `json:"github-actions"`
	Managers []struct {
		Name     string   `json:"depNameTemplate"`
		Patterns []string `json:"managerFilePatterns"`
		Pins     []string `json:"matchStrings"`
	} `json:"customManagers"`
}

func readRenovate(t *testing.T) (r renovate) {
	t.Helper()
	text, err := os.ReadFile(".github/renovate.json")
	must(t, err)
	must(t, json.Unmarshal(text, &r))
	return r
}

// filesThat are the files that a pattern of renovate.json matches.
func filesThat(t *testing.T, pattern string) (matching []string) {
	t.Helper()
	expression := regexp.MustCompile(strings.TrimSuffix(strings.TrimPrefix(pattern, "/"), "/"))
	for _, file := range files(t) {
		if expression.MatchString(file) {
			matching = append(matching, file)
		}
	}
	return matching
}

// TestRenovateFindsWhatIsPinned: each pin that it needs help with is found where it stands, with its version.
func TestRenovateFindsWhatIsPinned(t *testing.T) {
	found := map[string]string{} // versions, by the file and the name of what is pinned
	for _, manager := range readRenovate(t).Managers {
		for _, file := range filesThat(t, manager.Patterns[0]) {
			text, err := os.ReadFile(file)
			must(t, err)
			pin := regexp.MustCompile(manager.Pins[0])
			for _, match := range pin.FindAllSubmatch(text, -1) {
				name := manager.Name
				if i := pin.SubexpIndex("depName"); i > 0 {
					name = string(match[i])
				}
				if i := pin.SubexpIndex("currentDigest"); i > 0 && len(match[i]) > 0 && file == "workflows_test.go" {
					name += "@" + string(match[i])
				}
				found[file+" "+name] = string(match[pin.SubexpIndex("currentValue")])
			}
		}
	}
	want := map[string]string{"scripts/go-version go": releaseGo(t), ".ko.yaml cgr.dev/chainguard/static": "latest"}
	for pin, version := range pins {
		want["workflows_test.go "+pin] = version
	}
	for pin, version := range want {
		if found[pin] != version {
			t.Errorf("%s is %q, and found as %q", pin, version, found[pin])
		}
	}
	if len(found) != len(want) {
		t.Errorf("found %v", found)
	}
}

// TestRenovateRaisesActionsOfExamples: people copy these, and what they copy is not older than what we use.
func TestRenovateRaisesActionsOfExamples(t *testing.T) {
	matching := filesThat(t, readRenovate(t).Actions.Patterns[0])
	for _, w := range workflows(t) {
		if w.example() && !slices.Contains(matching, w.file) {
			t.Errorf("%s is not looked at", w.file)
		}
	}
}

// releaseGo is the version of Go that releases are built with.
func releaseGo(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("scripts/go-version")
	must(t, err)
	return strings.TrimSuffix(string(text), "\n")
}

// toolModules pin the tools: there are two as golangci-lint and ko need a newer parser of YAML than actionlint compiles with.
var toolModules = []string{"tools/go.mod", "tools/workflows/go.mod"}

// required matches the modules that a go.mod requires, and wanted the Go that it asks for.
var (
	required = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) v\S+`)
	wanted   = regexp.MustCompile(`(?m)^go (\S+)$`)
	tools    = regexp.MustCompile(`(?ms)^tool \(\n(.*?)^\)`)
)

// TestTheGoOfARelease: it is a whole version, and builds the program and the tools.
func TestTheGoOfARelease(t *testing.T) {
	if !regexp.MustCompile(`^1\.\d+\.\d+$`).MatchString(releaseGo(t)) {
		t.Fatalf("scripts/go-version holds %q", releaseGo(t))
	}
	for _, file := range append([]string{"go.mod"}, toolModules...) {
		text, err := os.ReadFile(file)
		must(t, err)
		least := wanted.FindSubmatch(text)
		if least == nil || version.Compare("go"+releaseGo(t), "go"+string(least[1])) < 0 {
			t.Errorf("%s asks for %s, and scripts/go-version is older: %s", file, least, releaseGo(t))
		}
	}
}

// TestToolsStayOutOfTheProgram: they come from the modules of tools alone, at their versions, and go.mod does not require them.
func TestToolsStayOutOfTheProgram(t *testing.T) {
	program, err := os.ReadFile("go.mod")
	must(t, err)
	if strings.Contains(string(program), "\ntool ") {
		t.Error("go.mod has a tool")
	}
	for _, file := range toolModules {
		text, err := os.ReadFile(file)
		must(t, err)
		block := tools.FindSubmatch(text)
		if block == nil {
			t.Fatalf("%s has no tools", file)
		}
		for tool := range strings.FieldsSeq(string(block[1])) {
			for _, module := range required.FindAllSubmatch(program, -1) {
				if strings.HasPrefix(tool+"/", string(module[1])+"/") {
					t.Errorf("go.mod requires the tool %s", tool)
				}
			}
		}
	}
	ofAnotherVersion := regexp.MustCompile(`go (?:run|install) \S+@v\d`)
	for _, file := range files(t) {
		text, err := os.ReadFile(file)
		if err != nil { // removed, and not yet committed
			continue
		}
		if found := ofAnotherVersion.Find(text); found != nil {
			t.Errorf("%s says %q: a module of tools knows the version", file, found)
		}
	}
}
