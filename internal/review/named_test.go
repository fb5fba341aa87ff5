package review

// These tests hold that what a policy names is final: only another of its words, or that nothing was read, stands against
// it.

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// housePolicy returns a reviewer whose policy names the words of its field.
func housePolicy() quorum.Reviewer {
	r := reviewerWith(quorum.Words)
	r.Verdict = quorum.Format{
		Kind: quorum.Words, Field: "Verdict", Approve: []string{"APPROVE", "Approve with nits"},
		Object: []string{"MAJOR", "REQUEST_CHANGES", "Approve with changes"}, None: []string{"UNAVAILABLE"},
	}
	return r
}

func TestNamedField(t *testing.T) {
	for _, c := range []struct {
		body string
		want quorum.Outcome
		line int
	}{
		{"**Verdict:** APPROVE", quorum.Approved, 1},
		{"**Verdict: APPROVE**", quorum.Approved, 1},
		{"**1. Verdict: APPROVE**", quorum.Approved, 1},
		{"**Verdict:** APPROVE" + strings.Repeat(" ", 4*maxMatchedLine) + "once fixed", quorum.Malformed, 1},
		{"verdict: approve", quorum.Approved, 1},
		{"VERDICT: ✅ **Approve**", quorum.Approved, 1},
		{"- **Verdict**: `APPROVE`", quorum.Approved, 1},
		{"1. Verdict: \"APPROVE\".", quorum.Approved, 1},
		{"Verdict: [APPROVE]", quorum.Approved, 1},
		{"Verdict: [APPROVE](https://example.com/run/7)", quorum.Approved, 1},
		{"**Verdict:** APPROVE — the lock is held where it was", quorum.Approved, 1},
		{"**Verdict:** APPROVE - all well", quorum.Approved, 1},
		{"**Verdict:** APPROVE (round 2, it was REQUEST_CHANGES)", quorum.Approved, 1},
		{"**Verdict:** APPROVE. No MAJOR finding is left.", quorum.Approved, 1},
		{"**Verdict:** Approve with nits", quorum.Approved, 1},
		{"## Verdict: APPROVE", quorum.Approved, 1},
		{"### 3. Verdict: APPROVE", quorum.Approved, 1},
		{"## Verdict\n\n**APPROVE**\n\nThe tests cover it.", quorum.Approved, 3},
		{"**Verdict**\n✅ APPROVE", quorum.Approved, 2},
		{"Verdict:\n\nAPPROVE", quorum.Approved, 3},
		{"| Field | Value |\n|---|---|\n| **Verdict** | ✅ APPROVE |", quorum.Approved, 3},
		{"| Field | Value |\n|---|---|\n| Verdict | `APPROVE` |", quorum.Approved, 3},
		{"| Verdict | APPROVE | high confidence |", quorum.Approved, 1},
		{"**Verdict:** APPROVE\n\n**Verdict:** Approve with nits", quorum.Approved, 3}, // both approve
		{"**Verdict:** see the table\n\n| Verdict | APPROVE |", quorum.Approved, 3},
		{"Verdict: APPROVE — approve with nits", quorum.Approved, 1},
		{"> [!NOTE]\n> something else\n\nVerdict: APPROVE", quorum.Approved, 4},

		{"**Verdict:** MAJOR", quorum.Findings, 1},
		{"Verdict: ❌ request_changes — two leaks", quorum.Findings, 1},
		{"Verdict: Approve with changes", quorum.Findings, 1},
		{"Verdict: MAJOR once more", quorum.Findings, 1},
		{"| Verdict | MAJOR |", quorum.Findings, 1},
		{"## Verdict\nMAJOR", quorum.Findings, 2},
		{"> [!CAUTION]\n> **Verdict:** MAJOR", quorum.Findings, 2},
		{"**Verdict:** APPROVE\n\n**Verdict:** MAJOR", quorum.Findings, 3},
		{"**Verdict:** MAJOR\n\n**Verdict:** APPROVE", quorum.Findings, 1},
		{"**Verdict:** MAJOR\n\n**Verdict:** UNAVAILABLE", quorum.Findings, 1},

		{"**Verdict:** UNAVAILABLE", quorum.Unknown, 1},
		{"**Verdict:** UNAVAILABLE\n\n### Critical\n- `a.go:3` leaks", quorum.Unknown, 1},
		{"Verdict: unavailable (the model gave no output)", quorum.Unknown, 1},

		{"**Verdict:** APPROVE\n\n**Verdict:** UNAVAILABLE", quorum.Malformed, 3},
		{"**Verdict:** APPROVE | MAJOR | UNAVAILABLE", quorum.Malformed, 1},
		{"**Verdict:** APPROVE / REQUEST_CHANGES", quorum.Malformed, 1},
		{"**Verdict:** APPROVE — REQUEST_CHANGES", quorum.Malformed, 1},
		{"| Verdict | APPROVE | MAJOR |", quorum.Malformed, 1},
		{"**Verdict:** APPROVE once the leak is closed", quorum.Malformed, 1},
		{"**Verdict:** APPROVE, but close the leak", quorum.Malformed, 1},
		{"**Verdict:** APPROVE-WITH-CONDITIONS", quorum.Malformed, 1},
		{"**Verdict:** ❌ APPROVE", quorum.Malformed, 1},
		{"**Verdict:** APPROVE ❌", quorum.Malformed, 1},
		{"**Verdict:** ☐ APPROVE ☐ MAJOR", quorum.Malformed, 1},
		{"**Verdict:** APPROVE_WITH_CONDITIONS", quorum.Malformed, 1},
		{"**Verdict:** APPROVED", quorum.Malformed, 0},
		{"**Verdict:** not APPROVE", quorum.Malformed, 0},
		{"**Verdict:** LGTM", quorum.Malformed, 0},
		{"The verdict: APPROVE", quorum.Malformed, 0},
		{"Verdict confidence: APPROVE", quorum.Malformed, 0},
		{"Verdict APPROVE", quorum.Malformed, 0},
		{"Verdict\n\nAPPROVE", quorum.Malformed, 0},
		{"APPROVE", quorum.Malformed, 0},
		{"**Ready to merge?** Yes", quorum.Malformed, 0},
		{"> **Verdict:** APPROVE", quorum.Malformed, 0},
		{"```\nVerdict: APPROVE\n```", quorum.Malformed, 0},
		{"`Verdict: APPROVE`", quorum.Malformed, 0},
		{"<!-- Verdict: APPROVE -->", quorum.Empty, 0},
		{"~~Verdict: APPROVE~~", quorum.Malformed, 0},
		{"Verdict: АPPROVE", quorum.Malformed, 0}, // its first letter is Cyrillic
		{"Verdict: APPR\u200bOVE", quorum.Malformed, 0},
		{"Vеrdict: APPROVE", quorum.Malformed, 0},
		{"## Verdict\n\n    APPROVE", quorum.Malformed, 0},
		{"## Verdict\n\nAPPR\u200bOVE", quorum.Malformed, 0},
		{"    Verdict: APPROVE", quorum.Malformed, 0},
		{"Verdict: (see below) APPROVE", quorum.Malformed, 0},
		{"Ver\u200bdict: MA\u200bJOR", quorum.Findings, 1},
		{"    Verdict: MAJOR", quorum.Findings, 1},
		{"", quorum.Empty, 0},
	} {
		got := Read(housePolicy(), Material{Kind: Comment, Body: c.body})
		if got.Outcome != c.want || c.line > 0 && got.Line != c.line {
			t.Errorf("%q is %v in line %d by %q, want %v in %d", c.body, got.Outcome, got.Line, got.Rule, c.want, c.line)
		}
	}
}

func TestNamedLines(t *testing.T) {
	r := housePolicy()
	r.Verdict.Field = ""
	r.Verdict.Approve = []string{"**GATE:** pass", "all {some} files look right", "👍"}
	r.Verdict.Object = []string{"gate: (fail|block){any}"}
	r.Verdict.None = []string{"GATE: down"}
	for want, bodies := range map[quorum.Outcome][]string{
		quorum.Approved: {"x\nGATE: pass\n\nI ran the tests.", "gate: pass.", "All 3 files look right!", "👍"},
		quorum.Findings: {"GATE: fail now", "GATE: pass\nGATE: block"},
		quorum.Unknown:  {"GATE: down", "GATE: pass\nGATE: down"},
		quorum.Malformed: {
			"```\nGATE: pass\n```", "> GATE: pass", "GATE: pass later", "❌ GATE: pass", "Verdict: APPROVE",
			"All 0 files look right", "GATE: pass\n\n## API Error (HTTP 503)", "GATE: pass\n\nThe diff was truncated.",
		},
		quorum.Empty: {"👍👍"},
	} {
		for _, body := range bodies {
			if got := Read(r, Material{Kind: Comment, Body: body}); got.Outcome != want {
				t.Errorf("%q is %v by %q, want %v", body, got.Outcome, got.Rule, want)
			}
		}
	}
}

// A policy's shapes are final, too. What its preset reads as an objection objects.
func TestNamedShapes(t *testing.T) {
	r := autoReviewer()
	r.Shapes = quorum.Shapes{
		Approves: []string{"sage is happy"}, Counts: []string{"sage left {count} remark(s|)"},
		Objects: []string{"sage is unhappy"},
		Notices: []quorum.NoticeShape{{Line: "sage is asleep", Outcome: quorum.Failed, Reason: quorum.ReasonBilling}},
	}
	for body, want := range map[string]quorum.Outcome{
		"Sage is happy.\n\nThe lock must be fixed before the release, but not here.": quorum.Approved,
		"Sage left 0 remarks.\n\n### Critical\n- `a.go:3` leaked before this change": quorum.Approved,
		"Sage is happy.\n\nSage is unhappy.":                                         quorum.Findings,
		"Sage is happy.\n\nSage left 2 remarks":                                      quorum.Findings,
		"Sage is asleep.\n\n### Critical\n- `a.go:3` leaks":                          quorum.Failed,
		"Sage is happy.\n\nI could not read the diff.":                               quorum.Malformed,
		"**Verdict:** APPROVE":                                                       quorum.Approved, // none of its own: as any text
		"### Critical\n- `a.go:3` leaks":                                             quorum.Findings,
	} {
		if got := Read(r, Material{Kind: Comment, Body: body}); got.Outcome != want {
			t.Errorf("%q is %v by %q, want %v", body, got.Outcome, got.Rule, want)
		}
	}
	for _, said := range []string{"Sage is happy.\n\n- Sage is asleep.", "Sage is happy.\n\n> Sage is asleep."} {
		if got := Read(r, Material{Kind: Comment, Body: said}); got.Outcome != quorum.Approved {
			t.Errorf("%q is %v by %q", said, got.Outcome, got.Rule)
		}
	}
	r.Shapes.IfSettled = []string{"sage has nothing new"}
	if got := Read(r, Material{Kind: Comment, Body: "Sage has nothing new\n\nSage is happy"}); !got.NoOpen {
		t.Errorf("it approves whatever threads are open: %+v", got)
	}
	copilot, _ := Preset("copilot")
	copilot.Shapes = quorum.Shapes{Approves: []string{"copilot is happy"}}
	counts := "Copilot is happy.\n\nCopilot reviewed 1 out of 1 changed files in this pull request and generated 2 comments."
	if got := Read(copilot, Material{Kind: Review, State: "COMMENTED", Body: counts}); got.Outcome != quorum.Findings {
		t.Errorf("beside its preset's objection: %v", got.Outcome)
	}
}

// The state of a review and its comments on the diff speak beside the words, in every format.
func TestStateBesideWords(t *testing.T) {
	clean := map[quorum.FormatKind]string{
		quorum.Words: "**Verdict:** APPROVE", quorum.ReadyToMerge: yes,
		quorum.JSON:        `{"verdict": "approve", "findings": []}`,
		quorum.FindingList: "No issues found", quorum.Auto: yes, quorum.ReviewState: yes, quorum.Conclusion: "",
	}
	for kind, body := range clean {
		r := housePolicy()
		r.Verdict.Kind = kind
		inline := Read(r, Material{Kind: Review, State: "COMMENTED", Threads: 1, Body: body})
		if inline.Outcome != quorum.Findings || !inline.Inline {
			t.Errorf("format %d with a comment on the diff is %+v", kind, inline)
		}
		got := Read(r, Material{Kind: Review, State: "CHANGES_REQUESTED", Body: body})
		if got.Outcome != quorum.Findings || got.Inline {
			t.Errorf("format %d with changes requested is %+v", kind, got)
		}
		if got := Read(r, Material{Kind: Review, State: "DISMISSED", Body: body}); got.Outcome == quorum.Approved {
			t.Errorf("format %d approves by a review that was dismissed", kind)
		}
	}
	for body, want := range map[string]quorum.Outcome{"Fine.": quorum.Malformed, "**Verdict:** MAJOR": quorum.Findings} {
		if got := Read(housePolicy(), Material{Kind: Review, State: "APPROVED", Body: body}); got.Outcome != want {
			t.Errorf("%q in a review that approves is %v", body, got.Outcome)
		}
	}
}

func TestCoverageRequired(t *testing.T) {
	const head = "4f2c9a1e0b7d35c8a6f1240d9e83b57c6a0f1d2e"
	for body, want := range map[string]quorum.Outcome{
		"":                                       quorum.Malformed,
		"Reviewed commit: " + head:               quorum.Approved,
		"Reviewed commit: `4f2c9a1`":             quorum.Approved,
		"Reviewed commit: 5f2c9a1":               quorum.Malformed,
		"For commit 4f2c9a1, for commit 5f2c9a1": quorum.Malformed,
		"> Reviewed commit: 4f2c9a1":             quorum.Malformed,
		"Reviewed 3 of 3 files.":                 quorum.Approved,
		"Files: 3/3 files":                       quorum.Approved,
		"0 of 0 files":                           quorum.Malformed,
		"3 of 3 agents":                          quorum.Malformed,
		"```\n3 of 3 files\n```":                 quorum.Malformed,
		"> 3 of 3 files":                         quorum.Malformed,
		"I read all files.":                      quorum.Malformed,
	} {
		r := housePolicy()
		r.Verdict.Covered = true
		m := Material{Kind: Comment, Body: "**Verdict:** APPROVE\n\n" + body, Head: head}
		got := Read(r, m)
		if got.Outcome != want || got.Outcome == quorum.Malformed && got.Reason != quorum.ReasonUncovered {
			t.Errorf("%q is %v (%s), want %v", body, got.Outcome, got.Reason, want)
		}
		if r.Verdict.Covered = false; want == quorum.Malformed && Read(r, m).Outcome != quorum.Approved {
			t.Errorf("%q does not approve without coverage", body)
		}
		m.Body = strings.Replace(m.Body, "APPROVE", "MAJOR", 1)
		if r.Verdict.Covered = true; Read(r, m).Outcome != quorum.Findings {
			t.Errorf("%q: an objection needs no coverage", body)
		}
	}
}

// Where the head is not known, as for a comment, one commit must be named; package evidence compares it.
func TestCoverageWithoutHead(t *testing.T) {
	r := housePolicy()
	r.Verdict.Covered = true
	for body, want := range map[string]quorum.Outcome{
		"Reviewed commit: 5f2c9a1": quorum.Approved, "For commit 4f2c9a1, for commit 5f2c9a1": quorum.Malformed,
	} {
		if got := Read(r, Material{Kind: Comment, Body: "**Verdict:** APPROVE\n\n" + body}); got.Outcome != want {
			t.Errorf("%q is %v, want %v", body, got.Outcome, want)
		}
	}
}

// What stands beside an objecting word is shown as what it objects to, whatever its severity.
func TestNamedObjectionHasItsFindings(t *testing.T) {
	r := housePolicy()
	r.MinSeverity = quorum.Critical
	got := Read(r, Material{Kind: Comment, Body: "**Verdict:** MAJOR\n\n### Low\n- `a.go:3` leaks"})
	if len(got.Findings) != 1 || got.Findings[0].Below {
		t.Errorf("it objects to %+v", got.Findings)
	}
	augment, _ := Preset("augment") // its counts are its comments on the diff
	augment.Shapes = quorum.Shapes{Counts: []string{"remarks: {count}"}}
	for body, inline := range map[string]bool{"Remarks: 2": true, "Remarks: 2\n\n### Critical\n- `a.go:3` leaks": false} {
		got := Read(augment, Material{Kind: Review, State: "COMMENTED", Body: body})
		if got.Outcome != quorum.Findings || got.Inline != inline {
			t.Errorf("%q: %v, ends with its threads: %t", body, got.Outcome, got.Inline)
		}
	}
}

// prose are sentences that free text would weigh, and none of which a policy's words leave room for.
var prose = []string{
	"I ran the tests.", "This must be fixed before the release.", "Do not merge on a Friday.", "### Issues found\n- None.",
	"❌ The linter was red.", "However, the name could be better.", "- [ ] a box", "**Critical:** None",
	"### Critical\n- `a.go:3` leaks", "**Changes requested** in round 1.", "Previously REQUEST_CHANGES, now mended.",
	"No MAJOR finding is left.", "Recommendation: merge", "cc @alice", "Actually, never mind.", "**Ready to merge?** No",
	"| Severity | Count |\n|---|---|\n| Critical | 2 |", "> quoted words", "Verdict confidence: high",
	"Das muss noch geändert werden.",
}

// The words of a named field decide, whatever stands around them: an approving one is needed, an opposing one is enough.
func TestNamedFieldIsFinal(t *testing.T) {
	forms := []string{
		"**Verdict:** %s", "Verdict: %s", "- Verdict: **%s**", "## Verdict: %s", "## Verdict\n\n%s", "| Verdict | %s |",
		"**Verdict:** %s — as said",
	}
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(prose), 0, 5).Draw(rt, "prose")
		named := rapid.SampledFrom([]string{"APPROVE", "MAJOR", "REQUEST_CHANGES", "UNAVAILABLE"})
		words := rapid.SliceOfN(named, 0, 3).Draw(rt, "words")
		said := map[string]bool{}
		for _, word := range words {
			at := rapid.IntRange(0, len(parts)).Draw(rt, "at")
			field := fmt.Sprintf(rapid.SampledFrom(forms).Draw(rt, "form"), word)
			parts = append(parts[:at:at], append([]string{field}, parts[at:]...)...)
			said[word] = true
		}
		body := strings.Join(parts, "\n\n")
		want := quorum.Malformed
		switch {
		case said["MAJOR"] || said["REQUEST_CHANGES"]:
			want = quorum.Findings
		case said["APPROVE"] && !said["UNAVAILABLE"]:
			want = quorum.Approved
		case said["UNAVAILABLE"] && !said["APPROVE"]:
			want = quorum.Unknown
		}
		got := Read(housePolicy(), Material{Kind: Comment, Body: body})
		if got.Outcome != want && len(parts) > 0 {
			rt.Fatalf("%q is %v by %q, want %v", body, got.Outcome, got.Rule, want)
		}
		unread := Read(housePolicy(), Material{Kind: Comment, Body: body + "\n\nI could not read the diff."})
		if unread.Outcome == quorum.Approved {
			rt.Fatalf("%q approves, and nothing was read", body)
		}
	})
}

func TestCheckWord(t *testing.T) {
	lines := quorum.Format{Approve: []string{"pass{any}"}, Object: []string{"fail{any}"}}
	for word, refused := range map[string]bool{
		"^LGTM$": true, "LGTM.*": true, `\bLGTM`: true, "pass{any}": true, "{nothing}": true, "(open": true, "ok": true,
		"LGTM": false, "fail{any}": false, "👍": false, "**Gate:** pass": false,
	} {
		if err := CheckWord(lines, word); (err != nil) != refused {
			t.Errorf("%q: %v", word, err)
		}
	}
	field := quorum.Format{Field: "Verdict"}
	for word, refused := range map[string]bool{"👍": true, "APPROVE": false, "5/5": false, "^APPROVE$": true} {
		if err := CheckWord(field, word); (err != nil) != refused {
			t.Errorf("a field's %q: %v", word, err)
		}
	}
}
