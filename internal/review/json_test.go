package review

import (
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestJSON(t *testing.T) {
	const approve = `{"verdict": "APPROVE", "findings": []}`
	fence := func(s string) string { return "```json\n" + s + "\n```" }
	for _, c := range []struct {
		name, body string
		want       quorum.Outcome
		reason     quorum.Reason
		found      int
	}{
		{"whole text", approve, quorum.Approved, none, 0},
		{"codex", `{"findings": [], "overall_correctness": "patch is correct"}`, quorum.Approved, none, 0},
		{
			"codex, incorrect",
			`{"findings": [{"title": "[P1] races", "body": "b", "priority": 1, ` +
				`"code_location": {"absolute_file_path": "/r/a.go", "line_range": {"start": 3, "end": 4}}}], ` +
				`"overall_correctness": "patch is incorrect"}`,
			quorum.Findings, none, 1,
		},
		{"last block", "## Review\n\ntext\n\n" + fence(approve), quorum.Approved, none, 0},
		{"bare below its heading", "## Review\n\n" + approve, quorum.Approved, none, 0},
		{"another block before", fence(`{"x": 1}`) + "\n\n" + fence(approve), quorum.Approved, none, 0},
		{"another block behind", fence(approve) + "\n\n```\nx\n```", quorum.Malformed, none, 0},
		{"a footer behind", fence(approve) + "\n\n---\n<sub>Reviewed by oak</sub>\n", quorum.Approved, none, 0},
		{"another verdict behind", fence(approve) + "\n\nVerdict: reject", quorum.Malformed, quorum.ReasonContradicts, 0},
		{"a finding behind", fence(approve) + "\n\nP0: the token is logged", quorum.Malformed, quorum.ReasonContradicts, 0},
		{"two of its shape", fence(approve) + "\n\n" + fence(approve), quorum.Malformed, quorum.ReasonContradicts, 0},
		{"one of its shape is broken", fence(`{"verdict": "REVISE",`) + "\n\n" + fence(approve), quorum.Malformed, none, 0},
		{"another verdict before", "## Review\n\n{\"verdict\": \"REVISE\"}\n\n" + fence(approve), quorum.Malformed, none, 0},
		{
			"another verdict in the text before", "## Review\n\nHm.\n\n{\"verdict\": \"REVISE\"}\n\n" + fence(approve),
			quorum.Malformed, quorum.ReasonContradicts, 0,
		},
		{
			"skipped, and a finding", `{"verdict": "SKIPPED", "findings": [{"file": "a.go", "message": "leaks", "severity": "critical"}]}`,
			quorum.Malformed, quorum.ReasonContradicts, 1,
		},
		{"approves and skipped", `{"verdict": "APPROVE", "status": "skipped"}`, quorum.Malformed, quorum.ReasonContradicts, 0},
		{"objects and unavailable", `{"verdict": "UNAVAILABLE", "status": "rejected"}`, quorum.Findings, none, 0},
		{"a list before", `[{"verdict": "reject"}]` + "\n\n" + fence(approve), quorum.Malformed, none, 0},
		{"a list in a block before", fence(`[{"verdict": "reject"}]`) + "\n\n" + fence(approve), quorum.Malformed, quorum.ReasonContradicts, 0},
		{
			"a nested verdict in a block before", fence(`{"result": {"Verdict": "reject"}}`) + "\n\n" + fence(approve),
			quorum.Malformed, quorum.ReasonContradicts, 0,
		},
		{"an API's answer before", fence(`{"response": {"status": "ok"}}`) + "\n\n" + fence(approve), quorum.Approved, none, 0},
		{"unknown keys that hold nothing", `{"verdict": "APPROVE", "a": {}, "b": [], "c": null}`, quorum.Approved, none, 0},
		{"an unknown key with blanks alone", `{"verdict": "APPROVE", "notes": " \n", "findings": []}`, quorum.Approved, none, 0},
		{"an object within a summary", `{"verdict": "APPROVE", "summary": [{"blocking": "the lock leaks"}]}`, quorum.Malformed, none, 0},
		{"a list within a list", `{"verdict": "APPROVE", "reasons": [["the lock leaks"]]}`, quorum.Malformed, none, 0},
		{"a list within a known list", `{"verdict": "APPROVE", "reason": [["the diff was not read"]]}`, quorum.Malformed, none, 0},
		{"a list of words", `{"verdict": "APPROVE", "strengths": ["small", "tested"]}`, quorum.Approved, none, 0},
		{"files in tenths", `{"verdict": "APPROVE", "files_reviewed": 3, "files_total": 12.0}`, quorum.Partial, none, 0},
		{"unavailable", `{"verdict": "UNAVAILABLE"}`, quorum.Unknown, none, 0},
		{"skipped", `{"verdict": "SKIPPED", "findings": []}`, quorum.Declined, quorum.ReasonSkipped, 0},
		{"open fence", "```json\n" + approve, quorum.Malformed, none, 0},
		{"quoted", "> ```json\n> " + approve + "\n> ```", quorum.Malformed, none, 0},
		{"in a comment", "<!--\n" + fence(approve) + "\n-->", quorum.Empty, none, 0},
		{"revise", `{"verdict": "REVISE", "findings": [{"path": "a.go", "line": 3, "body": "leaks", "severity": "high"}]}`, quorum.Findings, none, 1},
		{"status", `{"status": "CHANGES_REQUESTED"}`, quorum.Findings, none, 0},
		{
			"yet a P0",
			`{"overall_correctness": "patch is correct", "findings": [{"title": "[P0] loses data", "priority": 0}]}`,
			quorum.Malformed, quorum.ReasonContradicts, 1,
		},
		{
			"yet a finding of unknown severity",
			`{"verdict": "approve", "findings": [{"file": "a.go", "message": "hm"}]}`,
			quorum.Malformed, quorum.ReasonContradicts, 1,
		},
		{"and a nit", `{"verdict": "approve", "findings": [{"file": "a.go", "message": "hm", "severity": "low"}]}`, quorum.Approved, quorum.ReasonAccepted, 1},
		{"two verdicts", `{"verdict": "approve", "status": "rejected"}`, quorum.Malformed, quorum.ReasonContradicts, 0},
		{"one of two unknown", `{"verdict": "approve", "status": "done"}`, quorum.Malformed, none, 0},
		{"equal keys", `{"verdict": "REVISE", "verdict": "APPROVE"}`, quorum.Malformed, none, 0},
		{"equal keys but for case", `{"Verdict": "REVISE", "verdict": "APPROVE"}`, quorum.Malformed, none, 0},
		{"equal keys, escaped", `{"verdict": "REVISE", "v\u0065rdict": "APPROVE"}`, quorum.Malformed, none, 0},
		{"equal keys, in other letters", `{"statuſ": "REVISE", "status": "APPROVE"}`, quorum.Malformed, none, 0},
		{"read nothing", `{"verdict": "APPROVE", "files_reviewed": []}`, quorum.Partial, none, 0},
		{"template", `{"verdict": "APPROVE|REVISE"}`, quorum.Malformed, quorum.ReasonTemplate, 0},
		{"a sentence", `{"verdict": "approve if CI passes"}`, quorum.Malformed, none, 0},
		{"no verdict", `{"findings": []}`, quorum.Malformed, none, 0},
		{"null", `{"verdict": null}`, quorum.Malformed, none, 0},
		{"true", `{"verdict": true}`, quorum.Malformed, none, 0},
		{"nested verdict", `{"x": {"verdict": "APPROVE"}}`, quorum.Malformed, none, 0},
		{"in a list", `[{"verdict": "APPROVE"}]`, quorum.Malformed, none, 0},
		{"findings that are none", `{"verdict": "APPROVE", "findings": "none"}`, quorum.Malformed, none, 0},
		{"text behind", approve + " but wait", quorum.Malformed, none, 0},
		{"two objects", approve + approve, quorum.Malformed, none, 0},
		{"a comma too many", `{"verdict": "APPROVE",}`, quorum.Malformed, none, 0},
		{"a missing comma", `{"verdict": "APPROVE" "findings": []}`, quorum.Malformed, none, 0},
		{"homoglyph", `{"verdict": "аpprove"}`, quorum.Malformed, none, 0},
		{"deep", `{"verdict": "APPROVE", "x": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", quorum.Malformed, none, 0},
		{"a field of templates", yes, quorum.Malformed, none, 0},
		{"blank", "", quorum.Empty, none, 0},
		{"an error", "API Error (HTTP 503)", quorum.Overloaded, none, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Read(reviewerWith(quorum.JSON), Material{Kind: Comment, Body: c.body})
			if got.Outcome != c.want || c.reason != none && got.Reason != c.reason || len(got.Findings) != c.found {
				t.Errorf("%v (%v, %q) with %d, want %v (%v) with %d", got.Outcome, got.Reason, got.Detail, len(got.Findings), c.want, c.reason, c.found)
			}
			if auto := Read(autoReviewer(), Material{Kind: Comment, Body: c.body}); c.name != "a field of templates" && auto.Outcome == quorum.Approved {
				t.Error("auto reads JSON")
			}
		})
	}
}

func TestJSONFindings(t *testing.T) {
	r := reviewerWith(quorum.JSON)
	r.MinSeverity = quorum.High
	got := Read(
		r,
		Material{
			Kind: Comment,
			Body: `{"verdict": "approve", "findings": [{"file": "a.go", "line": 3, "message": "hm", "title": "t", "severity": "Medium"}, ` +
				`{"path": "b.go", "line": "7", "body": "ho", "severity": "low"}]}`,
		},
	)
	if got.Outcome != quorum.Approved || !got.Below || len(got.Findings) != 2 {
		t.Fatalf("%+v", got)
	}
	want := quorum.Finding{Path: "a.go", Line: 3, Body: "t\n\nhm", Severity: quorum.Medium, Below: true}
	if got.Findings[0] != want || got.Findings[1].Line != 7 {
		t.Errorf("%+v", got.Findings)
	}
	got = Read(
		reviewerWith(quorum.JSON),
		Material{
			Kind: Comment,
			Body: `{"verdict": "revise", "findings": [{"title": "[P1] x", "body": "y", ` +
				`"code_location": {"absolute_file_path": "/r/a.go", "line_range": {"start": 3}}}]}`,
		},
	)
	if len(got.Findings) != 1 || got.Findings[0].Path != "/r/a.go" || got.Findings[0].Line != 3 || got.Findings[0].Severity != quorum.High {
		t.Errorf("%+v", got.Findings)
	}
}
