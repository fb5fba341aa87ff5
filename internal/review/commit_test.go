package review

import (
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestNamedCommit(t *testing.T) {
	const sha = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct{ name, preset, body, want string }{
		{"italic", "", "## R\n_Reviewed commit: 1a2b3c4_", "1a2b3c4"},
		{"bold and code", "", "**Reviewed commit:** `1A2B3C4D5E`", "1a2b3c4d5e"},
		{"full", "", "Reviewed commit: " + sha, sha},
		{"link", "", "Reviewed commit: [1a2b3c4](https://x/y/commit/" + sha + ")", sha},
		{"link's address", "", "Last reviewed commit: [fix it](https://github.com/o/r/commit/" + sha + ")", sha},
		{"for commit", "", "<sup>Written for commit [1a2b3c4](https://x). More.</sup>", "1a2b3c4"},
		{"up to commit", "", "Reviewed up to commit 1a2b3c4.", "1a2b3c4"},
		{"two that differ", "", "Reviewed commit: 1a2b3c4\nReviewed commit: 5d6e7f8", "1a2b3c4 and 5d6e7f8"},
		{"the same twice", "", "Reviewed commit: 1a2b3c4\nfor commit 1a2b3c4d5e", "1a2b3c4d5e"},
		{"the same twice, shorter", "", "for commit 1a2b3c4d5e\nReviewed commit: 1a2b3c4", "1a2b3c4d5e"},
		{"too short", "", "Reviewed commit: 1a2b3c", ""},
		{"no hex", "", "Reviewed commit: {sha}", ""},
		{"half hex", "", "Reviewed commit: 1a2b3c4xyz", ""},
		{"other digits", "", "This reverts 1a2b3c4d5e, see commit 1a2b3c4d5e", ""},
		{"in a fence", "", "```\nReviewed commit: 1a2b3c4\n```", ""},
		{"in a quote", "", "> Reviewed commit: 1a2b3c4", ""},
		{"in a comment", "", "<!-- Reviewed commit: 1a2b3c4 -->", ""},
		{"qodo", "qodo", "#### (Review updated until commit https://github.com/o/r/commit/" + sha + ")", sha},
		{"not qodo", "", "#### (Review updated until commit https://github.com/o/r/commit/" + sha + ")", ""},
		{"coderabbit", "coderabbit", "> Reviewing files that changed from the base of the PR and between 1111111 and 2222222.", "2222222"},
	} {
		if got := ReadLines(c.body).NamedCommit(quorum.Reviewer{Preset: c.preset}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCommitNamedAt(t *testing.T) {
	const row = "| 📝 **Code Review** | 🔄 **Running** | `1a2b3c4` | PR opened |"
	body := strings.Join([]string{
		"> [!WARNING]", "> ## Review limit reached", "> between 1111111 and 2222222", "",
		"Reviewed commit: 5d6e7f8", "and a sentence", "", "| Review | Status |", "| --- | --- |", row, "<!-- a comment -->",
	}, "\n")
	for _, c := range []struct {
		preset string
		line   int
		want   string
	}{
		{"coderabbit", 2, "2222222"},
		{"coderabbit", 6, "5d6e7f8"},
		{"codex", 10, "1a2b3c4"},
		{"codex", 8, ""},
		{"codex", 11, ""},
		{"codex", 0, ""},
		{"codex", 99, ""},
	} {
		if got := ReadLines(body).CommitNamedAt(quorum.Reviewer{Preset: c.preset}, c.line); got != c.want {
			t.Errorf("%s, line %d: %q, want %q", c.preset, c.line, got, c.want)
		}
	}
}

func TestHasHeading(t *testing.T) {
	const heading = "## OpenAI Code Review"
	for _, c := range []struct {
		body string
		want bool
	}{
		{heading, true},
		{"## openai code review", true},
		{"<!-- id: 7 -->\n\n" + heading + "\n\ntext", true},
		{"<!--\n## Other\n-->\n" + heading, true},
		{heading + " (gpt-5)", true},
		{heading + ": 2 findings", true},
		{"## OpenAI Code Review ##", true},
		{"```\n## Other\n```\n" + heading, true},
		{"## Response to OpenAI Code Review", false},
		{"## Response to OpenAI Code Review\n\n" + heading, false},
		{"Other\n=====\n\n" + heading, false},
		{"## OpenAI Code Reviewer", false},
		{"### OpenAI Code Review", false},
		{"OpenAI Code Review", false},
		{"> " + heading, false},
		{"```\n" + heading + "\n```", false},
		{"<!-- " + heading + " -->", false},
		{"    " + heading, false},
		{"##OpenAI Code Review", false},
		{"## Open\u200bAI Code Review", false},
		{"", false},
	} {
		if got := ReadLines(c.body).HasHeading(heading); got != c.want {
			t.Errorf("%q: %v", c.body, got)
		}
	}
	if ReadLines("## x").HasHeading("") {
		t.Error("no text has no heading")
	}
}

func TestPresets(t *testing.T) {
	names := Presets()
	for _, want := range []string{
		"copilot", "coderabbit", "codex", "codex-action", "claude-action", "claude-review", "gemini-cli",
		"qodo", "sourcery", "greptile", "bugbot", "gemini-code-assist",
		"cubic", "devin", "kilo", "macroscope", "augment", "codeant", "kodus", "amazon-q", "gitar", "ellipsis", "pullfrog", "bito",
		"codacy", "sonar", "socket", "snyk",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%v are not sorted and different", names)
	}
	for _, name := range names {
		r := presetReviewer(t, name)
		switch {
		case r.Name != name, r.Preset != name, r.Verdict.Kind == 0, r.FailureMeans == 0, r.Author == "", len(r.Guard) == 0:
			t.Errorf("%s is incomplete: %+v", name, r)
		case PresetNote(name) == "", strings.Contains(PresetNote(name), "\n"):
			t.Errorf("%s has no note of one line", name)
		case NeedsWorkflow(name) != (len(r.Events) > 0), NeedsWorkflow(name) && r.Workflow != "":
			t.Errorf("%s: workflow %q, needed %v, events %v", name, r.Workflow, NeedsWorkflow(name), r.Events)
		case !strings.HasSuffix(r.Author, "[bot]"):
			t.Errorf("%s is posted by %s", name, r.Author)
		case r.Retired != (name == "gemini-code-assist"):
			t.Errorf("%s: retired %v", name, r.Retired)
		}
		if len(r.Guard) > 0 {
			r.Guard[0] = "changed"
			if again := presetReviewer(t, name); again.Guard[0] == "changed" {
				t.Errorf("%s: its table can be changed from outside", name)
			}
		}
	}
	if _, ok := Preset(""); ok {
		t.Error(`"" is a preset`)
	}
	if NeedsWorkflow("nobody") || PresetNote("nobody") != "" {
		t.Error("an unknown preset has properties")
	}
}

func TestKind(t *testing.T) {
	for _, k := range []Kind{Comment, Review, Check, Status, Log} {
		if got, err := ParseKind(k.String()); err != nil || got != k {
			t.Errorf("%v: %v, %v", k, got, err)
		}
	}
	for _, word := range []string{"", "Comment", "thread"} {
		if _, err := ParseKind(word); err == nil {
			t.Errorf("%q is a kind", word)
		}
	}
}
