package coordinator_test

// docs/a-reviewer-is-down.md shows two stories of this repository, as they are played, and what the checks say in them.

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/story"
)

func TestDocsCircuit(t *testing.T) {
	page, err := os.ReadFile("docs/a-reviewer-is-down.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"an-outage-on-five-pull-requests", "a-limit-holds-back-the-others"} {
		file := "internal/story/testdata/stories/" + name + ".txt"
		s := readStory(t, file)
		said := map[string]bool{}
		told, err := s.PlayStepped(t.Context(), story.Audience{Looked: func(l loop.Look) {
			for _, row := range l.Check.Page.Rows {
				if strings.Contains(row.Why.Plain(), "circuit open until") {
					said[row.Reviewer.Plain()+": "+row.Why.Plain()] = true
				}
			}
			for _, next := range l.Check.Page.Next {
				if strings.Contains(next.Plain(), "asked again") {
					said[next.Plain()] = true
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```text\n"+told.String()+"```\n") {
			t.Errorf("the page does not show the story of %s:\n%s", file, told)
		}
		if !strings.Contains(string(page), "("+"../"+file+")") {
			t.Errorf("the page does not lead to %s", file)
		}
		shown := 0
		for words := range said {
			if strings.Contains(string(page), "\n"+words+"\n") {
				shown++
			}
		}
		if shown < 2 {
			t.Errorf("the page shows %d of what the checks say in %s: %v", shown, file, slices.Sorted(maps.Keys(said)))
		}
	}
}
