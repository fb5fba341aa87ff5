package coordinator_test

// docs/lanes.md shows a policy, and what the check says of six pull requests under it. Each is a story in docs/lanes that
// anybody can play; its policy is the page's, and what is shown of it is what the program writes:
//
//	go test -run '^TestDocsLanes$' -update .

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/story"
)

// A lanePage is one of the six pull requests.
type lanePage struct {
	heading, name string
	at            time.Duration // when somebody looks at the check; 0: in the end
}

var lanePages = []lanePage{
	{heading: "Docs only", name: "docs-only"},
	{heading: "A lockfile by the robot", name: "lockfile"},
	{heading: "A migration", name: "migration", at: 10 * time.Minute},
	{heading: "A change of a service", name: "service"},
	{heading: "Docs with a label", name: "careful"},
	{heading: "What instructs the reviewers", name: "instructions"},
}

// TestDocsLanes holds the six checks of docs/lanes.md.
func TestDocsLanes(t *testing.T) {
	const file = "docs/lanes.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	policy, _, found := strings.Cut(rest, "```\n")
	if lines := strings.Count(policy, "\n"); !found || lines < 35 || lines > 45 {
		t.Fatalf("%s begins with a policy of %d lines", file, lines)
	}
	var shown strings.Builder
	for _, p := range lanePages {
		shown.WriteString(p.play(t, policy))
	}
	generated(t, file, between(t, page, "lanes", shown.String()))
}

// play plays the pull request under the policy, and returns what the page shows of it.
func (p lanePage) play(t *testing.T, policy string) string {
	t.Helper()
	file := path.Join("docs", "lanes", p.name+".txt")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := story.Parse(file, []byte(withPolicy(string(src), policy)))
	if err != nil {
		t.Fatal(err)
	}
	var seen loop.Look
	told, err := s.PlayStepped(t.Context(), story.Audience{Looked: func(l loop.Look) {
		if p.at == 0 || !l.At.After(story.Begin.Add(p.at)) {
			seen = l
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	generated(t, file, s.Rewritten(told.String()))
	about, _, _ := strings.Cut(string(src), "\n")
	moment := "in the end"
	if p.at > 0 {
		moment = fmt.Sprintf("after %d minutes", int(p.at.Minutes()))
	}
	return fmt.Sprintf("### %s\n\n%s ([story](lanes/%s.txt))\n\n```text\n%s```\n\n", p.heading, about, p.name, told) +
		fmt.Sprintf("<details>\n<summary>The page %s: %s</summary>\n\n", moment, seen.Check.Title) +
		withoutFooter(seen.Check.Summary) + "\n\n</details>\n\n"
}

// withPolicy returns the scenario with that policy in front of its other sections.
func withPolicy(scenario, policy string) string {
	about, sections, _ := strings.Cut(scenario, "\n-- ")
	if rest, has := strings.CutPrefix(sections, "policy --\n"); has {
		_, sections, _ = strings.Cut(rest, "\n-- ")
	}
	return about + "\n-- policy --\n" + policy + "\n-- " + sections
}

// withoutFooter returns what stands above the folded parts of a check's page, which docs/pages.md shows. Its headings
// become lines in bold, because they are none of the document.
func withoutFooter(summary string) string {
	summary, _, _ = strings.Cut(summary, "\n<details>")
	lines := strings.Split(strings.TrimSpace(summary), "\n")
	for i, line := range lines {
		if heading, is := strings.CutPrefix(line, "### "); is {
			lines[i] = "**" + heading + "**"
		}
	}
	return strings.Join(lines, "\n")
}
