package doctor

// The page that explains what is found: it has each code, and each code has a spoiled set-up that shows it.

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestThePageHasEachCode(t *testing.T) {
	page, err := os.ReadFile("../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "<!-- codes -->")
	table, _, _ = strings.Cut(table, "<!-- /codes -->")
	var explained []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(table, -1) {
		explained = append(explained, row[1])
	}
	var reported []string
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../workflow/reviewer.go")
	call := regexp.MustCompile(`(?:e\.report\(\s*(?:Broken|ToDo|Warning|Unknown|grade),\s*|\bID:\s*)"([a-z-]+)"`)
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range call.FindAllSubmatch(src, -1) {
			reported = append(reported, string(found[1]))
		}
	}
	shown := []string{"forgeable"} // of the good set-ups with a job's token
	for _, s := range spoiledSetups() {
		shown = append(shown, s.code)
	}
	for _, all := range []*[]string{&explained, &reported, &shown} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	if !slices.Equal(explained, reported) {
		t.Errorf("docs/doctor.md explains\n%q, and these are reported\n%q", explained, reported)
	}
	if !slices.Equal(shown, reported) {
		t.Errorf("set-ups show\n%q, and these are reported\n%q", shown, reported)
	}
}
