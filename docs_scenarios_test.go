package coordinator_test

// docs/scenarios are stories that a reader can play. Each stands on a page between <!-- told NAME --> and <!-- /told NAME -->
// as the program prints it:
//
//	go test -run '^TestDocs$' -update .

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/story"
)

var toldHere = regexp.MustCompile(`(?m)^<!-- told ([a-z-]+) -->$`)

// scenarios: every story in docs/scenarios is played, is the one in its file, and stands on a page with a link to the file.
func (h handbook) scenarios(t *testing.T) {
	files, err := filepath.Glob("docs/scenarios/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d stories in docs/scenarios: %v", len(files), err)
	}
	told := map[string]string{} // by name
	for _, file := range files {
		args := []string{"simulate", file}
		if *update {
			args = []string{"simulate", "--update", file}
		}
		said, err := exec.Command(h.program, args...).Output()
		if err != nil || len(said) == 0 {
			t.Errorf("%s is played to another story (go test -run '^TestDocs$' -update .): %v\n%s", file, err, said)
		}
		if src, err := os.ReadFile(file); err != nil || !strings.HasSuffix(string(src), "\n-- story --\n"+string(said)) {
			t.Errorf("%s does not end with its story: %v", file, err)
		}
		told[strings.TrimSuffix(filepath.Base(file), ".txt")] = string(said)
	}
	shown := map[string]bool{}
	for _, d := range documents(t) {
		page := d.src
		for _, m := range toldHere.FindAllSubmatch(d.src, -1) {
			name := string(m[1])
			said, found := told[name]
			if !found {
				t.Errorf("%s: there is no docs/scenarios/%s.txt", d.file, name)
				continue
			}
			shown[name] = true
			page = between(t, page, "told "+name, "```text\n"+said+"```\n")
			if link := "(" + path.Join("scenarios", name+".txt") + ")"; !strings.Contains(string(page), link) {
				t.Errorf("%s does not link %s", d.file, link)
			}
		}
		generated(t, d.file, page)
	}
	for name := range told {
		if !shown[name] {
			t.Errorf("docs/scenarios/%s.txt stands on no page", name)
		}
	}
}

// shownPolicies: the reviewer that docs/add-a-reviewer.md teaches is the one whose story it tells.
func (h handbook) shownPolicies(t *testing.T) {
	page, err := os.ReadFile("docs/add-a-reviewer.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	reviewer, _, found := strings.Cut(rest, "```\n")
	src, err := os.ReadFile("docs/scenarios/own-reviewer.txt")
	if err != nil {
		t.Fatal(err)
	}
	indented := "  " + strings.ReplaceAll(strings.TrimSuffix(reviewer, "\n"), "\n", "\n  ") + "\n"
	if !found || !strings.Contains(string(src), "reviewers:\n"+indented+"\n-- ") {
		t.Errorf("docs/scenarios/own-reviewer.txt does not have the reviewer of its page:\n%s", indented)
	}
}

// shownAnswers: two answers without a verdict are both shown in the check, as docs/bad-days.md says.
func (h handbook) shownAnswers(t *testing.T) {
	var last loop.Look
	if _, err := readStory(t, "docs/scenarios/malformed.txt").PlayStepped(t.Context(), story.Audience{Looked: func(l loop.Look) { last = l }}); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"> `**Ready to merge?** Hard to say`\n", "> `**Ready to merge?** Hard to say, again`\n"} {
		if !strings.Contains(last.Check.Text, answer) {
			t.Errorf("the check does not show %q:\n%s", answer, last.Check.Text)
		}
	}
}
