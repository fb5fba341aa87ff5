package review

import (
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestSuggest(t *testing.T) {
	for _, c := range []struct{ body, list, shape string }{
		{"## Sage review\n\nI read 12 files.\n\nAll 12 files look right to me.", "approves", "all {some} files look right to me"},
		{"## ✅ Everything checked is clean", "approves", "# everything checked is clean"},
		{"Hello @octocat\n\n**Well done: it passes.**", "approves", "well done: it passes"},
		{"Checked `4f2c9a1e` in 1m 20s (2 rounds): it passes", "approves", "checked {sha} in {duration} ({some} rounds): it passes"},
		{"No remarks in 3 files", "counts", "{count} remarks in {some} files"},
		{"**0 open remarks** in 12 files", "counts", "{count} open remarks in {some} files"},
		{"Remarks: 4", "counts", "remarks: {count}"},
		{"No issues identified (3 code objects reviewed).", "counts", "{count} issues identified ({some} code objects reviewed)"},
		{"Sage met an error while it was reading 4f2c9a1e", "notices", "sage met an error while it was reading {sha}"},
		{"Sage cannot approve this yet", "objects", "sage cannot approve this yet"},
		{"Result {draft} | fine", "", ""}, // a shape of it would hold {any}
		{"- all is well\n- it passes", "", ""},
		{"> It passes", "", ""},
		{"```\nIt passes\n```", "", ""},
		{"It passes:\n\n| a | b |", "", ""},
		{strings.Repeat("it passes and ", 20), "", ""},
		{"", "", ""},
	} {
		got, found := NewReader(quorum.Reviewer{Verdict: quorum.Format{Kind: quorum.Auto}}).Suggest(c.body)
		if found != (c.list != "") || got.List != c.list || got.Shape != c.shape {
			t.Errorf("%q: %s %q, want %s %q", c.body, got.List, got.Shape, c.list, c.shape)
		}
	}
	own := quorum.Reviewer{Verdict: quorum.Format{Kind: quorum.Auto}, Heading: "## All clear"}
	if got, found := NewReader(own).Suggest("## All clear"); found {
		t.Errorf("the reviewer's own heading is proposed: %q", got.Shape)
	}
}

func TestSuggestField(t *testing.T) {
	for body, want := range map[string]string{
		"## Review\n\n**Task quality:** Exemplary":                `"Task quality", approve: ["FILL IN"], object: ["FILL IN"], none: ["FILL IN"]`,
		"Overall result: PASS — all fine\n\nOverall result: PASS": `"Overall result", approve: ["PASS"], object: ["FILL IN"]`,
		"Outcome: DOCK":                      `"Outcome", approve: ["FILL IN"], object: ["FILL IN"], none: ["FILL IN"]`,
		"## Outcome\n\n🔴 Needs rework":       `"Outcome", approve: ["FILL IN"], object: ["Needs rework"]`,
		"| Review status | ✅ Good to go |":   `"Review status", approve: ["FILL IN"], object: ["FILL IN"], none: ["FILL IN"]`,
		"- Verdict: UNAVAILABLE (no output)": `"Verdict", approve: ["FILL IN"], object: ["FILL IN"], none: ["UNAVAILABLE"]`,
		"Verdict: fine\nStatus: open":        "",
		"> Verdict: fine":                    "",
		"Lines: 12":                          "",
		"Verdict: it is all as it should be": "",
		"Verdict: f\u200bine":                "",
		"":                                   "",
	} {
		f, line, found := NewReader(quorum.Reviewer{}).SuggestField(body)
		switch {
		case found != (want != "") || found && VerdictRow(f) != "verdict: {field: "+want+"}":
			t.Errorf("%q: %t %s, want %s", body, found, VerdictRow(f), want)
		case found && line == 0:
			t.Errorf("%q: no line", body)
		}
	}
}

// A row that was added is read by it, and the row of one text reads no other text as an approval that differs in a word.
func TestSuggestedRowReadsItsText(t *testing.T) {
	for _, body := range []string{
		"All 12 files look right to me.", "## ✅ Everything checked is clean", "**0 open remarks** in 12 files", "No remarks in 3 files",
		"Checked `4f2c9a1e` in 1m 20s (2 rounds): it passes",
	} {
		r := quorum.Reviewer{Verdict: quorum.Format{Kind: quorum.Auto}}
		row, found := NewReader(r).Suggest(body)
		if !found {
			t.Errorf("%q: no row", body)
			continue
		}
		r.Shapes = row.Shapes
		if got := Read(r, Material{Kind: Comment, Body: body}); got.Outcome != quorum.Approved || !strings.HasPrefix(got.Rule, "policy "+row.List) {
			t.Errorf("%q by %q: %v by %q", body, row.Shape, got.Outcome, got.Rule)
		}
		for _, word := range strings.Fields(body) {
			other := strings.Replace(body, word, "xyz", 1)
			if strings.Trim(word, "*#✅") == "" {
				continue
			}
			if got := Read(r, Material{Kind: Comment, Body: other}); got.Outcome == quorum.Approved {
				t.Errorf("%q by %q, the row of %q, approves", other, got.Rule, body)
			}
		}
	}
}
