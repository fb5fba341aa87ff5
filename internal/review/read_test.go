package review

// These tests read one text each. The texts are our own, in the forms that reviewers are known to post.

import (
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func autoReviewer() quorum.Reviewer {
	return quorum.Reviewer{Name: "r", Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable}
}

func reviewerWith(k quorum.FormatKind) quorum.Reviewer {
	r := autoReviewer()
	r.Verdict.Kind = k
	return r
}

func presetReviewer(t *testing.T, name string) quorum.Reviewer {
	t.Helper()
	r, ok := Preset(name)
	if !ok {
		t.Fatalf("no preset %q", name)
	}
	return r
}

func joinLines(l ...string) string { return strings.Join(l, "\n") }

const (
	yes  = "**Ready to merge?** Yes"
	no   = "**Ready to merge?** No"
	none = quorum.Reason("")
)

func TestVerdictLine(t *testing.T) {
	const (
		ok  = quorum.Approved
		bad = quorum.Malformed
		obj = quorum.Findings
	)
	for _, c := range []struct {
		name, body string
		want       quorum.Outcome
		reason     quorum.Reason
	}{
		// Filled as the template wants.
		{"yes", yes, ok, none},
		{"yes, bold around it all", "**Ready to merge? Yes**", ok, none},
		{"yes after a colon", "**Ready to merge: Yes**", ok, none},
		{"yes in brackets", "**Ready to merge?** [Yes]", ok, none},
		{"yes with reasoning", "**Ready to merge?** Yes, all good", bad, quorum.ReasonConditional},
		{"yes and a dash", "Ready to merge? Yes — every criterion is met.", bad, quorum.ReasonConditional},
		{"yes, no issues", "Ready to merge? Yes, no issues remain.", bad, quorum.ReasonConditional},
		{"yes with a check mark", "**Ready to merge?** ✅ Yes", ok, none},
		{"yes in a heading", "### Ready to merge? Yes", ok, none},
		{"yes in a list", "- **Ready to merge?** Yes", ok, none},
		{"yes below its question", "### Ready to merge?\n\nYes", ok, none},
		{"yes in details", "<details>\n<summary>more</summary>\n\n" + yes + "\n\n</details>", ok, none},
		{"yes after a fence", "```go\nx := 1\n```\n" + yes, ok, none},
		{"yes after a comment", "<!-- review -->\n" + yes, ok, none},
		{"yes said twice", yes + "\n\n" + yes, ok, none},
		{"reasoning that has a condition", yes + "\n\n**Reasoning:** it closes the file when it is done.", ok, none},
		{"in a row", "| | |\n|---|---|\n| **Verdict** | ✅ APPROVE |", ok, none},
		{"the value is the heading", "## ✅ APPROVED", ok, none},
		{"the heading ends in it", "## Round 2 — APPROVED", ok, none},
		{"pass", "VERDICT: PASS", ok, none},
		{"lgtm", "### Review: ✅ LGTM", ok, none},
		{"a tick before its label", "✓ Decision: APPROVE", ok, none},
		{"a number before its label", "**1. Verdict: APPROVE**", ok, none},
		{"behind a list of sections", "#### Critical (Must Fix)\n(none)\n\n" + yes, ok, none},
		{"behind labels of nothing", "**Critical:** None\n**Important:** None\n\n" + yes, ok, none},
		{"reasoning in the next line", yes + "\nReasoning: it closes the file when it is done.", ok, none},
		{"carriage returns", "## Review\r\n\r\n" + yes + "\r\n", ok, none},
		{"verdict", "### Verdict: APPROVE", ok, none},
		{"status", "**Status:** Approved", ok, none},
		{"task quality", "**Task quality:** Approved", ok, none},
		{"another status", yes + "\n\nStatus: 200 OK", ok, none},
		{"no", no, obj, none},
		{"no, because", "**Ready to merge?** No, the lock leaks.", obj, none},
		{"with fixes", "**Ready to merge: With fixes**", obj, none},
		{"revise", "### Verdict: REVISE", obj, none},
		{"rethink", "**Verdict:** RETHINK", obj, none},
		{"issues found", "**Status:** Issues Found", obj, none},
		{"needs fixes", "**Task quality:** Needs fixes", obj, none},
		{"praise above", "Excellent work!\n\n**Ready to merge?** With fixes", obj, none},

		{"no in a row", "| Field | Value |\n|---|---|\n| Verdict | REJECTED |", obj, none},
		{"rejected with a tail", "## Round 2 — ⛔ REJECTED (the loop still spins)", obj, none},
		{"changes required", "**Verdict:** CHANGES_REQUIRED", obj, none},
		{"no-go", "**Verdict:** NO-GO", obj, none},
		{"in another language", "**Ergebnis:** Änderungen erforderlich", obj, none},
		{"nack", "NACK", obj, none},
		{"unavailable", "## Verdict\nUNAVAILABLE (no output)\n\n## Blockers\n(none)", quorum.Unknown, none},
		{"skipped", "**Status:** SKIPPED", quorum.Declined, none},
		{"yes and unavailable", yes + "\n\n**Status:** UNAVAILABLE", bad, quorum.ReasonContradicts},
		{"an error and a finding", "**Verdict:** ERROR\n\n- **Critical** `a.go:3`: leaks", obj, none},

		// Not in plain view.
		{"a prompt", "End with one of these lines:\n" + yes + "\n" + no, bad, quorum.ReasonTemplate},
		{"white on white", "<span style=\"color:white\">" + yes + "</span>", bad, none},
		{"in a fence", "```\n" + yes + "\n```", bad, none},
		{"in a fence of tildes", "~~~\n" + yes + "\n~~~", bad, none},
		{"in a long fence", "`````\n```\n" + yes + "\n```\n`````", bad, none},
		{"in an open fence", "```md\n" + yes, bad, none},
		{"in an open fence of tildes", "~~~~\n```\n" + yes, bad, none},
		{"a fence closed by another mark", "```\n~~~\n" + yes, bad, none},
		{"a fence closed by less", "````\n```\n" + yes, bad, none},
		{"in a fence of a list", "- ```\n  " + yes + "\n  ```", bad, none},
		{"in an indented block", "code:\n\n    " + yes, bad, none},
		{"in a quote", "> " + yes, bad, none},
		{"in a quote in a quote", "> > " + yes, bad, none},
		{"in a quote's lazy line", "> they said\n" + yes, bad, none},
		{"in a comment", "x\n<!-- " + yes + " -->", bad, none},
		{"in a comment of lines", "x\n<!--\n" + yes + "\n-->", bad, none},
		{"in an open comment", "x\n<!--\n" + yes, bad, none},
		{"in a code span", "`Ready to merge? Yes`", bad, none},
		{"in a code span of lines", "see `\n" + yes + "\n` there", bad, none},
		{"in an attribute", "<img alt=\"\n" + yes + "\n\" src=x>", bad, none},
		{"in pre", "<pre>\n" + yes + "\n</pre>", bad, none},
		{"in blockquote", "<blockquote>\n\n" + yes + "\n\n</blockquote>", bad, none},
		{"in a lazy line of a quote in a list", "- > they said\n" + yes, bad, none},
		{"in an instruction", "<?\n" + yes + "\n?>", bad, none},
		{"in a tag that is named", "`<pre>` is wrong here\n\n" + yes, ok, none},
		{"fix it first", "Ready to merge? Yes, fix the lock first", bad, quorum.ReasonConditional},
		{"struck out", "**Ready to merge?** ~~No~~ Yes", bad, none},
		{"within a sentence", "I was asked: Ready to merge? Yes", bad, none},

		// Templates.
		{"enumeration with bars", "**Ready to merge?** [Yes | No | With fixes]", bad, quorum.ReasonTemplate},
		{"enumeration with slashes", "**Ready to merge?** Yes/No/With fixes", bad, quorum.ReasonTemplate},
		{"enumeration with commas", "**Ready to merge?** Yes, No, With fixes", bad, quorum.ReasonTemplate},
		{"enumeration of two", "**Ready to merge?** Yes or No", bad, quorum.ReasonTemplate},
		{"no value", "**Ready to merge?**\n\n**Reasoning:** good.", bad, quorum.ReasonTemplate},
		{"a variable", "**Verdict:** {{verdict}}", bad, quorum.ReasonTemplate},
		{"a hint", "**Ready to merge?** [your verdict]", bad, quorum.ReasonTemplate},
		{"verdicts enumerated", "### Verdict: APPROVE|REVISE|RETHINK", bad, quorum.ReasonTemplate},
		{"template above the value", "**Ready to merge?** [Yes | No]\n\n" + yes, bad, quorum.ReasonTemplate},

		// Conditions.
		{"if", "Ready to merge? Yes, if the tests pass", bad, quorum.ReasonConditional},
		{"once", "Ready to merge? Yes once the lock is fixed", bad, quorum.ReasonConditional},
		{"after", "Ready to merge? Yes (after a rebase)", bad, quorum.ReasonConditional},
		{"when", "Ready to merge? Yes - when CI is green", bad, quorum.ReasonConditional},
		{"unless", "Ready to merge? Yes, unless Bob objects", bad, quorum.ReasonConditional},
		{"provided", "Ready to merge? Yes, provided that it builds", bad, quorum.ReasonConditional},
		{"assuming", "Ready to merge? Yes, assuming CI", bad, quorum.ReasonConditional},
		{"pending", "Ready to merge? Yes, pending CI", bad, quorum.ReasonConditional},
		{"except", "Ready to merge? Yes, except for the lock", bad, quorum.ReasonConditional},
		{"but", "Ready to merge? Yes, but fix the lock", bad, quorum.ReasonConditional},
		{"with nits", "**Verdict:** Approved with minor suggestions", bad, quorum.ReasonConditional},
		{"in the next sentence", "Ready to merge? Yes. But only after the lock is fixed.", bad, quorum.ReasonConditional},
		{"in the next line", yes + "\nif the tests pass", bad, quorum.ReasonConditional},
		{"wrapped", yes + ", the change is\nsound, provided that it builds", bad, quorum.ReasonConditional},
		{"in the next item", yes + "\n\n- but fix the lock first", bad, quorum.ReasonConditional},

		// Contradictions.
		{"yes and no", yes + "\n\n" + no, bad, quorum.ReasonContradicts},
		{"approve and with fixes", "**Verdict:** APPROVE\n\n**Ready to merge?** With fixes", bad, quorum.ReasonContradicts},
		{"yes and a cross", "**Ready to merge?** ❌ Yes", bad, quorum.ReasonContradicts},
		{"yes beside a critical item", "1. **Critical** `a.go:3`: leaks\n\n" + yes, bad, quorum.ReasonContradicts},
		{"yes and an indented no", yes + "\n\n    " + no, bad, quorum.ReasonContradicts},

		// Tricks.
		{"a zero-width space in yes", "**Ready to merge?** Y\u200bes", bad, none},
		{"a zero-width space in the label", "**Ready to\u200b merge?** Yes", bad, none},
		{"a Cyrillic e", "**Ready to merge?** Y\u0435s", bad, none},
		{"a Greek label", "**R\u03b5ady to merge?** Yes", bad, none},
		{"fullwidth", "**Ready to merge?** Ｙｅｓ", bad, none},
		{"right to left", "**Ready to merge?** \u202eYes", bad, none},
		{"a hidden condition", "**Ready to merge?** Yes, \u0456f it builds", bad, none},
		{"a combining stroke", "**Ready to merge?** Yes\u0336", bad, none},

		// Soft words.
		{"soft praise", "Looks great overall! A few small things, nothing blocking.", bad, quorum.ReasonMalformed},
		{"cannot approve", "I cannot approve this before the test is back.", bad, quorum.ReasonMalformed},
		{"in quotation marks", "**Ready to merge?** \"Yes\"", bad, none},
		{"lgtm alone", "LGTM", bad, quorum.ReasonMalformed},
		{"not quite a word", "**Ready to merge?** Yes-ish", bad, none},
		{"no in passing", "**Ready to merge?** No issues", bad, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Read(autoReviewer(), Material{Kind: Comment, Body: c.body})
			if got.Outcome != c.want || c.reason != none && got.Reason != c.reason {
				t.Errorf("%q\nis %v (%v, %q), want %v (%v)", c.body, got.Outcome, got.Reason, got.Detail, c.want, c.reason)
			}
		})
	}
}

func TestFindingsFormat(t *testing.T) {
	table := func(rows ...string) string {
		return "| Kind | Count |\n|---|---|\n| " + strings.Join(rows, " |\n| ") + " |\n"
	}
	for _, c := range []struct {
		name, body string
		least      quorum.Severity
		want       quorum.Outcome
		reason     quorum.Reason
		found      int
	}{
		{"zero counts", table("🔴 Critical | 0", "🟠 High | 0", "✅ Good practices | 3"), 0, quorum.Approved, none, 0},
		{"one critical", table("🔴 Critical | 1", "🟡 Suggestions | 0"), 0, quorum.Findings, none, 0},
		{
			"resolved rows do not count",
			table("🔴 Critical | 0", "Resolved issues | 4", "Deferred | 2", "Acknowledged | 1", "Good practices | 9"),
			0, quorum.Approved, none, 0,
		},
		{"unresolved rows do", table("🔴 Critical | 0", "Unresolved issues | 4", "Issues | 4"), 0, quorum.Findings, none, 0},
		{"columns", "| Critical | High | Medium |\n|--|--|--|\n| 0 | 2 | 1 |", 0, quorum.Findings, none, 0},
		{"columns of zero", "| Critical | High | Medium |\n|--|--|--|\n| 0 | 0 | 0 |", 0, quorum.Malformed, none, 0},
		{"columns of zero in files", "Reviewed 3 files.\n\n| Critical | High | Medium |\n|--|--|--|\n| 0 | 0 | 0 |", 0, quorum.Approved, none, 0},
		{"open column", "| Severity | Found | Open |\n|--|--|--|\n| High | 2 | 0 |", 0, quorum.Approved, none, 0},
		{"placeholders", table("🔴 Critical | N", "🟡 Suggestions | N"), 0, quorum.Malformed, quorum.ReasonTemplate, 0},
		{"placeholders in braces", table("🔴 Critical | {n}"), 0, quorum.Malformed, quorum.ReasonTemplate, 0},
		{
			"a named blocker",
			table("🔴 Critical | 0") + "\n### 🔴 Critical Issues\n\n1. **[a.go:7]** lost update",
			0, quorum.Malformed, quorum.ReasonContradicts, 1,
		},
		{"a blocker in words", table("🔴 Critical | 0") + "\n**Blocker:** the lock leaks", 0, quorum.Malformed, quorum.ReasonContradicts, 1},
		{"table in a fence", "```\n" + table("🔴 Critical | 0") + "```", 0, quorum.Malformed, none, 0},
		{"table in a quote", "> | Kind | Count |\n> |---|---|\n> | 🔴 Critical | 0 |", 0, quorum.Malformed, none, 0},
		{"lines", "Critical: 0\nHigh: 0\nMedium: 0", 0, quorum.Malformed, none, 0},
		{"lines and files", "Files reviewed: 3\nCritical: 0\nHigh: 0\nMedium: 0", 0, quorum.Approved, none, 0},
		{"lines and prose", "Files reviewed: 3\nCritical: 0\nHigh: 0\n\nThe lock leaks.", 0, quorum.Malformed, none, 0},
		{"none across files", "**No issues found** across 3 files", 0, quorum.Approved, none, 0},
		{"none across no files", "**No issues found** across 0 files", 0, quorum.Malformed, none, 0},
		{"lines that object", "- Critical: 0\n- High: 2", 0, quorum.Findings, none, 0},
		{"one line", "🔴 Critical: 0 · 🟠 High: 1 · 🟢 Low: 4", 0, quorum.Findings, none, 0},
		{"items", "- **High**: `b.go:12` races\n- 🟡 name it better\n- 🟢 name it", 0, quorum.Findings, none, 3},
		{"p1", "- [P1] `b.go:12` races", 0, quorum.Findings, none, 1},
		{"sections", "#### Critical\n- no index (db.sql:4)\n\n#### Minor\n- a name\n  - deeper", 0, quorum.Findings, none, 2},
		{"empty sections", "#### Critical\nNone found\n\n#### Important\n- None.\n\n#### Minor\nN/A", 0, quorum.Malformed, none, 0},
		{"none at all", "No issues found", 0, quorum.Approved, none, 0},
		{"none, as a heading", "## Review\n\n### ✅ No issues found\n\n---\n<sub>Reviewed in 3 s</sub>", 0, quorum.Approved, none, 0},
		{"none, and prose", "## Review\n\n### ✅ No issues found\n\nI read some of it.", 0, quorum.Malformed, none, 0},
		{"green alone", "- 🟢 Tests\n- 🟢 Style", 0, quorum.Malformed, none, 0},
		{"none, within a sentence", "There were no issues found in the parts that I could read.", 0, quorum.Malformed, none, 0},
		{"none, and praise", "No issues found. Looks good!", 0, quorum.Malformed, none, 0},
		{"none, as code", "`No issues found`", 0, quorum.Malformed, none, 0},
		{"none, and a section of its own", "## Issues\n\nNo issues found\n\n## Security\n\nThe token is logged.", 0, quorum.Malformed, none, 0},
		{"none, and a summary", "## Review\n\n### Summary\n\nAdds a cache.\n\n### Findings\n\nNo issues found", 0, quorum.Approved, none, 0},
		{"no blocking issues", "No blocking issues found.", 0, quorum.Malformed, none, 0},
		{"none beside a place", "No issues found\n\n- `a.go:3` overflows", 0, quorum.Malformed, quorum.ReasonContradicts, 1},
		{"none in one section only", "# Review\n\n## Security\nNo issues found\n\n## Speed\nThe loop is quadratic.", 0, quorum.Malformed, none, 0},
		{"none in every section", "# Review\n\n## Security\nNo issues found\n\n## Speed\nNo issues found.", 0, quorum.Malformed, none, 0},
		{"below", "#### Minor\n- a name (a.go:3)", quorum.High, quorum.Approved, quorum.ReasonAccepted, 1},
		{"below, counted", table("High | 0", "Low | 3"), quorum.Medium, quorum.Approved, quorum.ReasonAccepted, 0},
		{"not below", "#### Important\n- a lock (a.go:3)", quorum.High, quorum.Findings, none, 1},
		{"unknown severity objects always", table("Issues | 2"), quorum.Critical, quorum.Findings, none, 0},
		{"severe prose", "This touches a CRITICAL path: the high road.", 0, quorum.Malformed, none, 0},
		{
			"a row without a file", "| Severity | Issue | File |\n|--|--|--|\n| Critical | a query is built from the request | - |",
			0, quorum.Findings, none, 1,
		},
		{
			"a row without an issue", "| Severity | Issue | File |\n|--|--|--|\n| Critical | None | a.go |",
			0, quorum.Malformed, none, 0,
		},
		{"three issues", "Found 3 issues:", 0, quorum.Findings, none, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, k := range []quorum.FormatKind{quorum.FindingList, quorum.Auto} {
				r := reviewerWith(k)
				r.MinSeverity = c.least
				got := Read(r, Material{Kind: Comment, Body: c.body})
				if got.Outcome != c.want || c.reason != none && got.Reason != c.reason || len(got.Findings) != c.found {
					t.Errorf(
						"format %d: %v (%v, %q) with %d findings %v, want %v (%v) with %d",
						k,
						got.Outcome,
						got.Reason,
						got.Detail,
						len(got.Findings),
						got.Findings,
						c.want,
						c.reason,
						c.found,
					)
				}
				if got.Below != (c.reason == quorum.ReasonAccepted) {
					t.Errorf("below: %v", got.Below)
				}
			}
		})
	}
}

func TestFindingsAreQuoted(t *testing.T) {
	got := Read(
		autoReviewer(),
		Material{
			Kind: Comment,
			Body: joinLines(
				"## Review",
				"",
				"### 🔴 Critical Issues",
				"",
				"1. **[run.sh:42]** Unquoted variable",
				"   - Fix: quote it",
				"2. Second `pkg/a.go:7-9`",
				"",
				"### ✅ Good practices",
				"- `b.go:1` is neat",
				"",
				no,
			),
		},
	)
	if got.Outcome != quorum.Findings || len(got.Findings) != 2 {
		t.Fatalf("%v with %+v", got.Outcome, got.Findings)
	}
	first, second := got.Findings[0], got.Findings[1]
	if first.Path != "run.sh" || first.Line != 42 || first.Severity != quorum.Critical || !strings.Contains(first.Body, "quote it") {
		t.Errorf("first: %+v", first)
	}
	if second.Path != "pkg/a.go" || second.Line != 7 {
		t.Errorf("second: %+v", second)
	}
	if got := Read(autoReviewer(), Material{Kind: Comment, Body: "- `pay.go:17` loses the error.\n- see http://localhost:8080/x at 12:30\n\n" + no}); len(
		got.Findings,
	) != 1 ||
		got.Findings[0].Path != "pay.go" {
		t.Errorf("findings without severity: %+v", got.Findings)
	}
}

func TestReviewState(t *testing.T) {
	for _, c := range []struct {
		name, state, body string
		threads           int
		want              quorum.Outcome
		inline            bool
	}{
		{"approved", "APPROVED", "", 0, quorum.Approved, false},
		{"approved in words, too", "APPROVED", "nice", 2, quorum.Approved, false},
		{"changes requested", "CHANGES_REQUESTED", "", 0, quorum.Findings, false},
		{"changes requested, with a yes", "CHANGES_REQUESTED", yes, 0, quorum.Findings, false},
		{"approved, with a no", "APPROVED", no, 0, quorum.Malformed, false},
		{"approved on a condition", "APPROVED", "Ready to merge? Yes, if it builds", 0, quorum.Malformed, false},
		{"comments", "COMMENTED", "see below", 2, quorum.Findings, true},
		{"comments without a body", "COMMENTED", "", 1, quorum.Findings, true},
		{"comments and a no", "COMMENTED", no, 1, quorum.Findings, false},
		{"comments and a yes", "COMMENTED", yes, 1, quorum.Findings, true},
		{"comment, yes", "COMMENTED", yes, 0, quorum.Approved, false},
		{"comment, nothing", "COMMENTED", "hello", 0, quorum.Malformed, false},
		{"nothing but answers in threads", "COMMENTED", " \n", 0, quorum.Unrelated, false},
		{"dismissed", "DISMISSED", "", 0, quorum.Empty, false},
		{"dismissed yes", "DISMISSED", yes, 0, quorum.Malformed, false},
		{"unheard-of", "ACCEPTED", yes, 0, quorum.Malformed, false},
		{"limited but approved", "APPROVED", "Rate limit exceeded.", 0, quorum.Malformed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, k := range []quorum.FormatKind{quorum.Auto, quorum.ReviewState} {
				got := Read(reviewerWith(k), Material{Kind: Review, State: c.state, Body: c.body, Threads: c.threads})
				if got.Outcome != c.want || got.Inline != c.inline {
					t.Errorf("format %d: %v (%v), inline %v; want %v, %v", k, got.Outcome, got.Reason, got.Inline, c.want, c.inline)
				}
			}
		})
	}
	if got := Read(reviewerWith(quorum.ReviewState), Material{Kind: Comment, Body: yes}); got.Outcome != quorum.Unrelated {
		t.Errorf("a comment has no state: %v", got.Outcome)
	}
	for _, k := range []quorum.FormatKind{quorum.ReadyToMerge, quorum.FindingList, quorum.JSON} {
		if got := Read(reviewerWith(k), Material{Kind: Review, State: "CHANGES_REQUESTED", Body: yes}); got.Outcome != quorum.Findings {
			t.Errorf("format %d: changes requested is %v", k, got.Outcome)
		}
	}
}

func TestNotices(t *testing.T) {
	head := "## Gemini Code Review\n\n_Reviewed commit: 1a2b3c4_\n\n"
	for _, c := range []struct {
		name, body string
		want       quorum.Outcome
		reason     quorum.Reason
	}{
		{"503", head + "## ⚠️ Gemini API Error (HTTP 503)", quorum.Overloaded, none},
		{"401", head + "## ⚠️ Gemini API Error (HTTP 401)", quorum.Failed, quorum.ReasonCredentials},
		{"402", "OpenAI API Error (HTTP 402)", quorum.Failed, quorum.ReasonBilling},
		{"429", "OpenAI API Error (HTTP 429)", quorum.Limited, quorum.ReasonRateLimit},
		{"413", "OpenAI API Error (HTTP 413)", quorum.Failed, quorum.ReasonInvalid},
		{"timeout", head + "## ⚠️ Gemini API Timeout\n\n**Suggestions:**\n- try a smaller diff", quorum.Overloaded, none},
		{"a timeout in brackets", head + "## ⚠️ OpenAI API Error (timeout)", quorum.Overloaded, none},
		{"a timeout behind a colon", head + "❌ Review failed: the request timed out.", quorum.Overloaded, none},
		{"a quota or a rate", head + "⏳ Model quota used up or rate limit reached. Set the label `again`.", quorum.Limited, none},
		{"unavailable", head + "The service is currently unavailable.", quorum.Overloaded, none},
		{"no key", head + "Gemini review skipped: no API key here.", quorum.Declined, quorum.ReasonNoSecrets},
		{"skipped", head + "Review skipped: docs only", quorum.Declined, quorum.ReasonDeclined},
		{"empty file", head + "⚠️ Review file is empty.", quorum.Empty, none},
		{"only a heading", head, quorum.Empty, none},
		{"only a comment", "<!-- x -->", quorum.Empty, none},
		{"blank", " \n\t\n", quorum.Empty, none},
		{"0 tool uses", "Done (0 tool uses · 3 s)", quorum.Empty, none},
		{"working", head + "I am reviewing this change, one moment please.", quorum.Running, none},
		{"preparing", "Preparing review...", quorum.Running, none},
		{"working, and yes", "Preparing review...\n\n" + yes, quorum.Running, none},
		{"an error beside a yes", head + "## ⚠️ Gemini API Error (HTTP 503)\n\n" + yes, quorum.Malformed, quorum.ReasonContradicts},
		{"a limit beside a yes", "Rate limit exceeded.\n\n" + yes, quorum.Malformed, quorum.ReasonContradicts},
		{
			"an error far below a yes",
			yes + strings.Repeat("\n\nmore prose", 100) + "\n\n## API Error (HTTP 500)" + strings.Repeat("\n\nmore prose", 100),
			quorum.Malformed, quorum.ReasonContradicts,
		},
		{"a limit beside a no", "Rate limit exceeded.\n\n" + no, quorum.Findings, none},
		{
			"a review of a rate limiter",
			"The rate limit is exceeded too early: `limit.go:4` counts twice, so a user is told \"rate limit exceeded\" after one call.\n\n" +
				"- Rate limit exceeded is returned with 503.\n\n**Ready to merge?** Yes",
			quorum.Approved, none,
		},
		{"the same without a verdict", "This rate limiter returns HTTP 429 when the quota is exceeded, which is what the API says.", quorum.Malformed, none},
		{"an error in a fence", "```\nAPI Error (HTTP 503)\n```\n" + yes, quorum.Approved, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Read(autoReviewer(), Material{Kind: Comment, Body: c.body})
			if got.Outcome != c.want || c.reason != none && got.Reason != c.reason {
				t.Errorf("%v (%v, %q), want %v (%v)", got.Outcome, got.Reason, got.Detail, c.want, c.reason)
			}
		})
	}
}

// What one of a vendor's scores means for its threads is no part of a golden text's name.
func TestAScoreHoldsForSettledThreads(t *testing.T) {
	four := Read(presetReviewer(t, "greptile"), Material{Kind: Comment, Body: "## Greptile Summary\n\n**Confidence Score: 4/5**"})
	if four.Outcome != quorum.Approved || !four.NoOpen {
		t.Errorf("4/5 is %v, no thread may be open: %v", four.Outcome, four.NoOpen)
	}
}

func TestClassify(t *testing.T) {
	r := autoReviewer()
	r.Heading = "## Gemini Code Review"
	for _, c := range []struct {
		r    quorum.Reviewer
		body string
		want quorum.Outcome
	}{
		{r, "## Gemini Code Review\n\n" + yes, quorum.Approved},
		{r, "## Response to Gemini Code Review\n\n" + yes, quorum.Unrelated},
		{r, yes, quorum.Unrelated},
		{presetReviewer(t, "greptile"), "Confidence Score: 5/5", quorum.Unrelated},
		{presetReviewer(t, "codex"), yes, quorum.Unrelated},
	} {
		if got := Read(c.r, Material{Kind: Comment, Body: c.body}); got.Outcome != c.want {
			t.Errorf("%q is %v, want %v", c.body, got.Outcome, c.want)
		}
	}
}

func TestConclusion(t *testing.T) {
	for _, c := range []struct {
		kind       Kind
		word, body string
		means      quorum.FailureMeans
		want       quorum.Outcome
	}{
		{Check, "success", "", 0, quorum.Approved},
		{Check, "success", "Review rate limited", 0, quorum.Limited},
		{Check, "success", "Review skipped", 0, quorum.Declined},
		{Check, "failure", "", quorum.MeansUnavailable, quorum.Unknown},
		{Check, "failure", "", quorum.MeansFindings, quorum.Findings},
		{Check, "failure", "API Error (HTTP 503)", quorum.MeansFindings, quorum.Overloaded},
		{Check, "neutral", "", 0, quorum.Declined},
		{Check, "skipped", "", 0, quorum.Declined},
		{Check, "timed_out", "", quorum.MeansFindings, quorum.Unknown},
		{Check, "cancelled", "", 0, quorum.Unknown},
		{Check, "stale", "", 0, quorum.Unknown},
		{Check, "SUCCESS", "", 0, quorum.Unknown},
		{Check, "splendid", yes, 0, quorum.Unknown},
		{Status, "success", "", 0, quorum.Approved},
		{Status, "pending", "", 0, quorum.Running},
		{Status, "error", "", quorum.MeansFindings, quorum.Unknown},
		{Status, "failure", "", quorum.MeansFindings, quorum.Findings},
		{Comment, "success", yes, 0, quorum.Unrelated},
		{Log, "success", yes, 0, quorum.Empty},
	} {
		r := reviewerWith(quorum.Conclusion)
		r.FailureMeans = c.means
		m := Material{Kind: c.kind, Conclusion: c.word, Body: c.body}
		if c.kind == Status {
			m.State = c.word
		}
		if got := Read(r, m); got.Outcome != c.want {
			t.Errorf("%v %q %q: %v, want %v", c.kind, c.word, c.body, got.Outcome, c.want)
		}
	}
}

// What a check that has not ended says is not its answer yet.
func TestCheckUnderWay(t *testing.T) {
	for _, k := range []quorum.FormatKind{quorum.Auto, quorum.Conclusion} {
		for state, want := range map[string]quorum.Outcome{
			"": quorum.Approved, "completed": quorum.Approved, "queued": quorum.Running, "in_progress": quorum.Running, "waiting": quorum.Running,
		} {
			if got := Read(reviewerWith(k), Material{Kind: Check, Body: yes, State: state, Conclusion: "success"}); got.Outcome != want {
				t.Errorf("format %d, %q: %v, want %v", k, state, got.Outcome, want)
			}
		}
	}
}

func TestWhatIsNoMaterial(t *testing.T) {
	if got := Read(quorum.Reviewer{}, Material{Kind: Comment, Body: yes}); got.Outcome != quorum.Malformed {
		t.Errorf("no format: %v", got.Outcome)
	}
	if got := Read(autoReviewer(), Material{Body: yes}); got.Outcome != quorum.Unknown {
		t.Errorf("no kind: %v", got.Outcome)
	}
}

func TestALabelIsNoSentence(t *testing.T) {
	long := func(n int) string { return "fixed high " + strings.Repeat("é", n-len("fixed high ")) }
	for line, want := range map[string]bool{
		long(60) + ": 3": true, long(61) + ": 3": false,
		long(48) + " (two words): 3": true, long(49) + " (two words): 3": false,
		"3 " + long(60): true, "3 " + long(61): false,
	} {
		if got := new(findingTally).readCounts(line, line); got != want {
			t.Errorf("%q is read as a count: %v, want %v", line, got, want)
		}
	}
}

// No key is shown: not the shortest one, not behind or split by what shows nothing, and not beside another.
func TestAQuoteShowsNoKey(t *testing.T) {
	keys := []string{
		"sk-12345678", "pk-abcdefgh", "ghp_" + strings.Repeat("a", 16), "github_pat_" + strings.Repeat("b", 16),
		"AKIA" + strings.Repeat("C", 12), "AIza" + strings.Repeat("d", 16), "xoxb-12345678",
		"eyJ12345678.12345678", "Bearer " + strings.Repeat("e", 16), "bearer \u00a0\t" + strings.Repeat("e", 16),
	}
	for _, key := range keys {
		texts := []string{
			key, "a key: " + key + " in it", "\t" + key + "\n", "\x1b[31m" + key + "\x1b[0m",
			"a\x1b[1m" + key, "\x1b(B\x1b[m" + key, "\x1b[" + key, "\x1b" + key,
			key[:3] + "\u200b" + key[3:], key[:5] + "\u0085" + key[5:], key[:6] + "\x01" + key[6:], key[:len(key)-2] + "\u2060" + key[len(key)-2:],
			"token\u200b" + key, "token\x00" + key, "from_" + key, `{"message":"denied\n` + key + `"}`, "url=https%3A" + key,
		}
		for _, next := range keys {
			texts = append(texts, key+"\x00"+next, key+"\u200b"+next, next+"\x01"+key)
		}
		for _, text := range texts {
			got := shortQuote(text)
			for _, key := range keys {
				if strings.Contains(got, key[len(key)-8:]) {
					t.Errorf("%q is quoted as %q", text, got)
				}
			}
			if !strings.Contains(got, "***") {
				t.Errorf("%q is quoted as %q", text, got)
			}
		}
	}
	if got := shortQuote("No findings. Ready to merge?"); got != "No findings. Ready to merge?" {
		t.Errorf("got %q", got)
	}
}

// mustReadBesideAYes requires what a text comes to that holds something above a yes.
func mustReadBesideAYes(t *testing.T, text string, want quorum.Outcome) {
	t.Helper()
	got := Read(autoReviewer(), Material{Kind: Comment, Body: "## Review\n\n" + text + "\n\n**Verdict:** APPROVE\n"})
	if got.Outcome != want {
		t.Errorf("beside a yes: %s (%s), want %s\n%s", got.Outcome, got.Reason, want, text)
	}
}

// A total may stand before what it is made of. Whatever of it is grave stands against a yes.
func TestCountsBehindATotal(t *testing.T) {
	for line, want := range map[string]quorum.Outcome{
		"Issues: 3 (2 high, 1 low)":                                quorum.Malformed,
		"Findings: 3 (2 critical, 1 low)":                          quorum.Malformed,
		"**Total issues:** 4 (1 critical, 3 minor)":                quorum.Malformed,
		"Issues found: 2 critical":                                 quorum.Malformed,
		"Found 3 issues (2 high, 1 low)":                           quorum.Malformed,
		"3 issues found: 2 high, 1 low":                            quorum.Malformed,
		"Issues: 3 (2 high, the rest minor)":                       quorum.Malformed, // the parts are not understood: the total counts
		"Issues: 3 (0 critical, 3 low)":                            quorum.Approved,
		"Issues: 0 (0 high, 0 low)":                                quorum.Approved,
		"Issues: 2 (2 resolved)":                                   quorum.Approved,
		"High: 2+":                                                 quorum.Malformed,
		"**Tests passed.**\n\n1. [P1] The lock is never released.": quorum.Malformed,
		"### Minor\n\nNone worth mentioning.":                      quorum.Approved,
		"**Critical:** Nothing worth keeping survives a crash":     quorum.Malformed,
	} {
		mustReadBesideAYes(t, line, want)
		got := Read(autoReviewer(), Material{Kind: Comment, Body: line + "\n\nNo issues found.\n"})
		if want != quorum.Approved && got.Outcome == quorum.Approved {
			t.Errorf("%q beside a word of praise approves", line)
		}
	}
}

// A count of zero with more behind it in its line approves nothing, whatever the text praises.
func TestACountOfZeroWithSuggestions(t *testing.T) {
	for line, want := range map[string]quorum.Outcome{
		"0 bugs found":                    quorum.Approved,
		"0 bugs found (0 high, 0 low)":    quorum.Approved,
		"0 bugs found (with suggestions)": quorum.Malformed,
		"0 bugs found: some suggestions":  quorum.Malformed,
	} {
		got := Read(autoReviewer(), Material{Kind: Comment, Body: "### Strengths\n\n- Clear names.\n\n### Findings\n\n" + line + "\n"})
		if got.Outcome != want {
			t.Errorf("%q: %s (%s), want %s", line, got.Outcome, got.Reason, want)
		}
	}
}

// What a table explains is no finding; and what stands in a column without a name says nothing about its row.
func TestTablesThatExplain(t *testing.T) {
	for table, want := range map[string]quorum.Outcome{
		"| Severity | Meaning |\n|--|--|\n| Critical | must be mended first |":                  quorum.Approved,
		"| Severity | Issue |\n|--|--|\n| Critical | SQL injection |":                           quorum.Malformed,
		"| Severity | Issue |\n|--|--|\n| Critical | None |":                                    quorum.Approved,
		"| Severity | Issue | File |\n|--|--|--|\n| Critical | SQL injection in login | None |": quorum.Malformed,
		"| Severity | Issue | File |\n|--|--|--|\n| Critical | SQL injection in login | - |":    quorum.Malformed,
		// The header is what a rule follows. A row without one is no table, and can object.
		"| High | 2 |\n| Low | 1 |": quorum.Malformed,
		"| All | of the previous review was addressed |\n| Severity | Count |\n|--|--|\n| High | 2 |": quorum.Malformed,
		"| Remaining\n| High | 3 |": quorum.Malformed,
		"| Severity | Remaining | Unresolved |\n|--|--|--|\n| High | 0 | 1 |":              quorum.Malformed,
		"| Severity | Outstanding | Open |\n|--|--|--|\n| Critical | 2 | 0 |":              quorum.Malformed,
		"| Severity | Found | Open |\n|--|--|--|\n| Critical | 2 | 0 |":                    quorum.Approved,
		"## Highlights\n\n| Sev | Where |\n|--|--|\n| High | the lock leaks in `hub.go` |": quorum.Malformed,
	} {
		mustReadBesideAYes(t, table, want)
	}
}

// An objection is heard in whatever form stands beside a yes.
func TestWhatStandsBesideAYesIsHeard(t *testing.T) {
	const clean = "**Verdict:** Approve"
	for _, objection := range []string{
		"Merge now? Final verdict: not yet, the lock leaks",
		"Ready for production? Verdict: needs work",
		"Done? **Decision:** no",
		"**Risk**: low | **Verdict**: revise",
		"| Field | Value |\n|--|--|\n| Final verdict | Reject | ",
		"| # | Severity | Breaking | Issue |\n|--|--|--|--|\n| 1 | Critical | N | SQL injection in login |",
		"| Severity | Blocking | Issue |\n|--|--|--|\n| Critical | Y | SQL injection in login |",
		"| # | Severity | Issue |\n|--|--|--|\n| 0 | Critical | SQL injection in login |",
		"| Severity | File | Line | Issue |\n|--|--|--|--|\n| Critical | a.go | 0 | SQL injection in login |",
		"| Severity | File | Issue |\n|--|--|--|\n| Critical | src/fixed.go | SQL injection in login |",
		"| File | Severity | Issue |\n|--|--|--|\n| previous.go | Critical | SQL injection in login |",
		"| Severity | Issue | Fix |\n|--|--|--|\n| Critical | SQL injection in login | TBD |",
		"### Critical\n\n| # | Issue |\n|--|--|\n| 0 | SQL injection in login |",
		"### Critical\n\n| File | Line | Issue |\n|--|--|--|\n| a.go | 0 | SQL injection in login |",
		"### Critical\n\n| File | Issue |\n|--|--|\n| a.go | Fixed buffer overflow |",
		"### Critical\n\n| Issue | Previously |\n|--|--|\n| SQL injection in login | previous pass |",
		"### 1. 🔴 `auth.go:41`: the token is logged",
		"### - 🔴 **Critical**: the token is logged",
		"**1) 🔴 The lock is never released**",
		"## **1. 🔴 The lock leaks in the hub**",
	} {
		for _, body := range []string{clean + "\n\n" + objection + "\n", objection + "\n\n" + clean + "\n"} {
			if got := Read(autoReviewer(), Material{Kind: Comment, Body: body}); got.Outcome == quorum.Approved {
				t.Errorf("%q approves by %s", body, got.Rule)
			}
		}
	}
	for _, alone := range []string{"| Field | Value |\n|--|--|\n| **Verdict** | Approve | ", "| Verdict | Approve |"} {
		if got := Read(autoReviewer(), Material{Kind: Comment, Body: alone}); got.Outcome != quorum.Approved {
			t.Errorf("%q: %s (%s)", alone, got.Outcome, got.Reason)
		}
	}
}

// A notice that begins with a number sign is looked for in headings alone.
func TestANoticeInAHeading(t *testing.T) {
	r := autoReviewer()
	r.Shapes.Notices = []quorum.NoticeShape{{Line: "# sage is out of credit", Outcome: quorum.Failed, Reason: quorum.ReasonBilling}}
	for body, want := range map[string]quorum.Outcome{
		"# Sage is out of credit": quorum.Failed, "Sage is out of credit": quorum.Malformed,
	} {
		if got := Read(r, Material{Kind: Comment, Body: body}); got.Outcome != want {
			t.Errorf("%q: %s, want %s", body, got.Outcome, want)
		}
	}
}
