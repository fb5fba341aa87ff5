package config

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A drawnReviewer is one row of a policy, and whom GitHub shows where it is heard: told by brute force, without this
// package's words.
type drawnReviewer struct {
	yaml   string
	shadow bool
	hears  func(said) bool
}

// A said is one thing that GitHub shows: a text under a heading, an artifact, a check, a status or a run's conclusion.
// Its source is the file of the workflow that left it, or the account; Actions' own account says nothing of whom.
type said struct{ source, what string }

var (
	drawnFiles    = []string{".github/workflows/ai.yml", ".github/workflows/b.yml"}
	drawnHeadings = []string{"## Sage", "## sage", "## Sage says", "## Rune"}
	drawnNames    = []string{"scan", "Scan", "lint"}
	drawnApps     = []string{"sage", "Sage", "rune"}
)

const isActions = "github-actions"

// everySaid are all things that could be said in the vocabulary above.
func everySaid() (all []said) {
	for _, file := range drawnFiles {
		for _, heading := range drawnHeadings {
			all = append(all, said{file, "text " + heading})
		}
		for _, name := range drawnNames {
			all = append(all, said{file, "artifact " + name})
		}
	}
	for _, app := range drawnApps {
		all = append(all, said{app, ""})
	}
	for _, name := range drawnNames {
		all = append(all, said{isActions, "check " + name}, said{isActions, "status " + name})
	}
	return all
}

// drawReviewer draws a reviewer of each kind that a policy can describe.
func drawReviewer(dice *rand.Rand, name string) drawnReviewer {
	pick := func(words []string) string { return words[dice.IntN(len(words))] }
	file, heading, word, app := pick(drawnFiles), pick(drawnHeadings), pick(drawnNames), pick(drawnApps)
	r := drawnReviewer{shadow: dice.IntN(4) == 0}
	ofApp := func(s said) bool { return strings.EqualFold(s.source, app) } // an App is one, whatever it writes
	switch dice.IntN(7) {
	case 0:
		r.yaml = fmt.Sprintf("workflow: %s, heading: %q", file, heading)
		r.hears = func(s said) bool {
			return s.source == file && strings.HasPrefix(strings.ToLower(s.what), strings.ToLower("text "+heading))
		}
	case 1:
		r.yaml = fmt.Sprintf("workflow: %s, verdict: {artifact: %s}", file, word)
		r.hears = func(s said) bool { return s == said{file, "artifact " + word} }
	case 2:
		r.yaml = fmt.Sprintf("workflow: %s, verdict: conclusion", file)
		r.hears = func(s said) bool { return s.source == file } // the run is all of it
	case 3:
		r.yaml, r.hears = fmt.Sprintf("author: '%s[bot]'", app), ofApp
	case 4:
		r.yaml, r.hears = fmt.Sprintf("check: %s, app: %s, verdict: conclusion", word, app), ofApp
	case 5:
		r.yaml = fmt.Sprintf("check: %s, app: %s, verdict: conclusion", word, isActions)
		r.hears = func(s said) bool { return s == said{isActions, "check " + word} }
	case 6:
		r.yaml = fmt.Sprintf("status: %s, author: '%s[bot]', verdict: conclusion", word, isActions)
		r.hears = func(s said) bool { return s.source == isActions && strings.EqualFold(s.what, "status "+word) }
	}
	r.yaml = fmt.Sprintf("  - {name: %s, shadow: %t, %s}\n", name, r.shadow, r.yaml)
	return r
}

// One identity fills one place: in no policy that is accepted two voters are heard in one thing that GitHub shows, and
// none is refused as two that are one unless they are.
func TestOneIdentityFillsOnePlace(t *testing.T) {
	dice, all := rand.New(rand.NewPCG(11, 11)), everySaid()
	accepted, twins := 0, 0
	for range 1000 {
		var drawn []drawnReviewer
		file := "quorum: 1\nreviewers:\n  - {name: other, author: 'other[bot]'}\n"
		for _, name := range []string{"one", "two", "three"} {
			drawn = append(drawn, drawReviewer(dice, name))
			file += drawn[len(drawn)-1].yaml
		}
		areTwo := slices.ContainsFunc(all, func(s said) bool {
			heard := slices.DeleteFunc(slices.Clone(drawn), func(r drawnReviewer) bool { return r.shadow || !r.hears(s) })
			return len(heard) > 1
		})
		_, err := Parse("p.yml", []byte(file))
		switch {
		case err == nil && areTwo:
			t.Fatalf("two voters are heard in one text:\n%s", file)
		case err == nil:
			accepted++
		case areTwo:
			twins++
		case strings.Contains(err.Error(), "would count twice"):
			t.Fatalf("refused, although each voter is one of its own:\n%s\n%v", file, err)
		}
	}
	if accepted < 120 || twins < 120 {
		t.Errorf("%d policies were accepted and %d have a voter twice: the vocabulary is too narrow", accepted, twins)
	}
}
