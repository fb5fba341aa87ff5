// Package reviewtest gives the golden texts of the vendors to the tests of other packages.
//
// It promises what vendors/NAME.txtar holds, read as the names of its files say, and nothing of how it is read.
package reviewtest

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/review-coordinator/coordinator/internal/review"
)

// A GoldenText is one text of a vendor.
type GoldenText struct {
	Name     string // of its file: OUTCOME KIND [STATE] [comments=N] [conclusion=C] … SLUG
	Slug     string
	Outcome  string
	Reset    string // the wait that it states, as a duration; "" if none
	Material review.Material
}

// GoldenTexts returns the texts of a preset. folder is that of package review, as the test's own folder sees it.
func GoldenTexts(tb testing.TB, folder, preset string) (all []GoldenText) {
	tb.Helper()
	file := filepath.Join(folder, "vendors", preset+".txtar")
	archive, err := txtar.ParseFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range archive.Files {
		g, err := parseGoldenText(strings.Fields(f.Name), string(f.Data))
		if err != nil {
			tb.Fatalf("%s: %q: %v", file, f.Name, err)
		}
		all = append(all, g)
	}
	return all
}

func parseGoldenText(words []string, data string) (g GoldenText, err error) {
	last := len(words) - 1
	g = GoldenText{Name: strings.Join(words, " "), Outcome: words[0], Slug: words[last]}
	g.Material.Body = strings.TrimSuffix(data, "\n")
	g.Material.Kind, err = review.ParseKind(words[1])
	for i, word := range words[2:last] {
		key, value, isPair := strings.Cut(word, "=")
		switch {
		case !isPair && i == 0:
			g.Material.State = word
		case key == "comments" && err == nil:
			g.Material.Threads, err = strconv.Atoi(value)
		case key == "conclusion":
			g.Material.Conclusion = value
		case key == "reset":
			g.Reset = value
		}
	}
	return g, err
}
