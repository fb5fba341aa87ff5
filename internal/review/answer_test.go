package review_test

// A model's answer: what is understood of it, what is refused and where, and that the schema promises nothing else.

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

const root = "/runner/tree/shop"

func TestAnAnswerIsUnderstood(t *testing.T) {
	clean := `{"findings": [], "files_reviewed": ["cart/total.go", "cart/tax.go"]}`
	for _, c := range []struct {
		name, text string
		form       review.AnswerForm
		want       review.ModelAnswer
	}{
		{"clean", clean, review.PlainAnswer, review.ModelAnswer{Reviewed: 2}},
		{"a number", `{"findings": [], "files_reviewed": 2}`, review.PlainAnswer, review.ModelAnswer{Reviewed: 2}},
		{
			"names that are one file", `{"findings": [], "files_reviewed": ["a.go", "./a.go", " a.go", "` + root + `/a.go", "/home/runner/work/shop/shop/a.go", ""]}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: 1},
		},
		{"in a fence", "\n```json\n" + clean + "\n```\n", review.CodexAnswer, review.ModelAnswer{Reviewed: 2}},
		{"in a long fence", "`````\n" + clean + "\n`````", review.ClaudeAnswer, review.ModelAnswer{Reviewed: 2}},
		{
			"what claude prints", `{"type": "result", "subtype": "success", "is_error": false, "num_turns": 3, "result": "Approved!", "structured_output": ` + clean + `}`,
			review.ClaudeAnswer,
			review.ModelAnswer{Reviewed: 2},
		},
		{
			"the schema's keys", `{"findings": [{"path": "cart/total.go", "line": 42, "severity": "high", "body": "It divides by zero."}], "files_reviewed": 1}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: 1, Findings: []quorum.Finding{
				{Path: "cart/total.go", Line: 42, Severity: quorum.High, Body: "It divides by zero."},
			}},
		},
		{
			"other keys", `{"Findings": [{"file": "./cart/total.go", "line": "42", "severity": "Blocker", "title": "Zero", "message": "It divides."}], "files_reviewed": 1}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: 1, Findings: []quorum.Finding{
				{Path: "cart/total.go", Line: 42, Severity: quorum.Critical, Body: "Zero\n\nIt divides."},
			}},
		},
		{
			"keys that say nothing", `{"findings": [{"path": null, "line": null, "severity": "", "body": "No test.", "fix": {}}], "files_reviewed": 1, "errors": [], "note": ""}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: 1, Findings: []quorum.Finding{{Body: "No test."}}},
		},
		{
			"places that are none", `{"findings": [
				{"path": "../x", "line": 3, "severity": "low", "body": "a"}, {"path": "/etc/hosts", "line": 3, "severity": "low", "body": "b"},
				{"path": "a\nb", "line": 3, "severity": "low", "body": "c"}, {"path": "", "line": 3, "severity": "low", "body": "d"},
				{"path": "x", "line": -3, "severity": "low", "body": "e"}, {"path": "x", "line": 9e99, "severity": "low", "body": " "}],
				"files_reviewed": 1}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: 1, Findings: []quorum.Finding{
				{Severity: quorum.Low, Body: "../x: a"},
				{Severity: quorum.Low, Body: "/etc/hosts: b"},
				{Severity: quorum.Low, Body: "a b: c"},
				{Severity: quorum.Low, Body: "d"},
				{Path: "x", Severity: quorum.Low, Body: "e"},
				{Path: "x", Severity: quorum.Low, Body: "(no words)"},
			}},
		},
	} {
		got, err := review.ParseModelAnswer(c.text, c.form, root)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v\n%+v\n%+v", c.name, err, got, c.want)
		}
	}
}

func TestAnAnswerThatSaysMoreIsRefused(t *testing.T) {
	finding := func(keys string) string { return `{"findings": [{` + keys + `}], "files_reviewed": 1}` }
	for _, c := range []struct{ text, says, hint string }{
		{"", "the answer is empty", "said nothing"},
		{"null", "JSON, but no object", "verdict schema"},
		{"[]", "no object", "verdict schema"},
		{"No issues found.", `is no JSON object: it begins "No issues found."`, "verdict schema"},
		{"Here it is:\n```json\n{}\n```", "is no JSON object", "verdict schema"},
		{"```json\n{\"findings\": [], \"files_reviewed\": 1}\n```\nBut do not merge it.", "is no JSON object", "verdict schema"},
		{"```json\n{\"findings\": [], \"files_reviewed\": 1}\n```\n```json\n{\"findings\": []}\n```", "is not one JSON object", "verdict schema"},
		{"```sh\nrm -rf .\n```", "is no JSON object", "verdict schema"},
		{"```json", "is no JSON object", "verdict schema"},
		{`{"findings": [], "files_reviewed": 1}{}`, "is not one JSON object: text after the value", ""},
		{`{"findings": [], "findings": [{"body": "a"}], "files_reviewed": 1}`, `"findings": key stands twice`, ""},
		{"{\"findings\": [], \"files_reviewed\": 1, \"note\": \"\xff\"}", "no UTF-8", ""},
		{`{"findings": [` + strings.Repeat(`[],`, 100_000) + `[]]}`, "too many values", ""},
		{strings.Repeat(" ", 1<<20) + "{}", "longer than", "shorter"},
		{`{"files_reviewed": 1}`, "findings are missing", "[]"},
		{`{"findings": null, "files_reviewed": 1}`, "findings are no list", ""},
		{`{"findings": []}`, "files_reviewed is missing", "by their paths"},
		{`{"findings": [], "files_reviewed": "all"}`, "neither a list of paths nor a number", ""},
		{`{"findings": [], "files_reviewed": -1}`, "no number of files", ""},
		{`{"findings": [], "files_reviewed": 1.5}`, "no number of files", ""},
		{`{"findings": [], "files_reviewed": [1]}`, "files_reviewed[0] is no text", ""},
		{`{"findings": [], "files_reviewed": 1, "verdict": "approve"}`, "verdict is a key that nobody knows", "do not ask the model"},
		{`{"findings": [], "files_reviewed": 1, "Approved": false}`, "Approved is a key that nobody knows", "do not ask the model"},
		{`{"findings": [], "files_reviewed": 1, "blocking_issues": ["a"]}`, "blocking_issues is a key that nobody knows", "the keys are findings"},
		{`{"findings": ["a fault"], "files_reviewed": 1}`, "findings[0] is no object", ""},
		{finding(`"body": "a", "fixed": false`), "findings[0].fixed is a key", "the keys are path, file"},
		{finding(`"body": ["a"]`), "findings[0].body is no text", ""},
		{finding(`"body": "a", "message": "b"`), "findings[0].message is not its body", ""},
		{finding(`"body": "a", "path": "x", "file": "y"`), "findings[0].file is not its path", ""},
		{finding(`"body": "a", "line": "the end"`), `findings[0].line is "the end"`, ""},
		{finding(`"body": "a", "line": 1.5`), `findings[0].line is "1.5"`, ""},
		{finding(`"body": "a", "line": [1]`), "findings[0].line is no number", ""},
		{finding(`"body": "a", "severity": "spicy"`), `findings[0].severity is "spicy"`, "low, medium, high, critical"},
		{finding(`"body": "a", "severity": "lоw"`), `findings[0].severity is "lоw"`, ""}, // the o is no Latin one
		{`{"type": "result", "is_error": true, "result": "Overloaded"}`, "is that of a run that failed: Overloaded", ""},
		{`{"type": "result", "is_error": false, "result": "Approved!"}`, "structured_output is missing", "--json-schema"},
	} {
		got, err := review.ParseModelAnswer(c.text, review.ClaudeAnswer, root)
		var wrong *review.AnswerError
		told := errors.As(err, &wrong) && strings.Contains(err.Error(), c.says) && strings.Contains(wrong.Hint, c.hint)
		if !told || !reflect.DeepEqual(got, review.ModelAnswer{}) {
			t.Errorf("%.80q: %v (%+v), not %q\n%+v", c.text, err, wrong, c.says, got)
		}
	}
	fenced := "```json\n{\"findings\": [], \"files_reviewed\": 1}\n```"
	if _, err := review.ParseModelAnswer(fenced, review.PlainAnswer, ""); err == nil {
		t.Error("a plain file may be a fence")
	}
	if _, err := review.ParseModelAnswer(`{"type": "result", "structured_output": {"findings": [], "files_reviewed": 1}}`, review.CodexAnswer, ""); err == nil {
		t.Error("codex may answer as claude")
	}
}

// TestMoreThanAllIsNoCoverage: who says that it read more files than are changed approves nothing. Its objections stand.
func TestMoreThanAllIsNoCoverage(t *testing.T) {
	answer := review.ModelAnswer{Reviewed: 5}
	if f, err := answer.Verdict(4, 0); err == nil {
		t.Errorf("%+v", f)
	}
	if f, err := answer.Verdict(5, 0); err != nil || f.Verdict != "approve" || f.FilesReviewed != 5 || f.FilesTotal != 5 {
		t.Errorf("%v: %+v", err, f)
	}
	answer.Findings = []quorum.Finding{{Body: "a", Severity: quorum.Low}}
	if f, err := answer.Verdict(4, quorum.Medium); err == nil {
		t.Errorf("%+v", f)
	}
	if f, err := answer.Verdict(4, 0); err != nil || f.Verdict != "request_changes" || f.FilesReviewed != 4 {
		t.Errorf("%v: %+v", err, f)
	}
}

func answerSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(review.AnswerSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("answer.json", doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("answer.json")
}

// TestWhatTheSchemaAcceptsIsAccepted: a model that keeps to the schema is never refused, whatever it puts into it.
func TestWhatTheSchemaAcceptsIsAccepted(t *testing.T) {
	schema := answerSchema(t)
	words := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", " ", "a.go", "./a.go", "/a", "../a", "C:\\a", "a\nb", "::error::x", "##[error]", "\u200b", "```",
	}))
	accepted, refused := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		finding := func() any {
			f := map[string]any{
				"path": words.Draw(r, "path"), "line": rapid.OneOf(rapid.Int(), rapid.IntRange(-1, 50)).Draw(r, "line"),
				"severity": rapid.SampledFrom([]string{"low", "medium", "high", "critical", "none"}).Draw(r, "severity"), "body": words.Draw(r, "body"),
			}
			if extra := rapid.SampledFrom([]string{"", "", "", "note", "title"}).Draw(r, "extra"); extra != "" {
				f[extra] = words.Draw(r, extra)
			}
			if gone := rapid.SampledFrom([]string{"", "", "", "", "path", "line"}).Draw(r, "gone"); gone != "" {
				delete(f, gone)
			}
			return f
		}
		answer := map[string]any{
			"findings":       rapid.SliceOfN(rapid.Custom(func(*rapid.T) any { return finding() }), 0, 3).Draw(r, "findings"),
			"files_reviewed": rapid.SliceOfN(words, 0, 5).Draw(r, "files"),
		}
		text, err := json.Marshal(answer)
		if err != nil {
			r.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			r.Fatal(err)
		}
		got, parsed := review.ParseModelAnswer(string(text), review.PlainAnswer, root)
		if schema.Validate(doc) != nil {
			refused++
			return
		}
		accepted++
		if parsed != nil {
			r.Fatalf("%s: %v", text, parsed)
		}
		f, err := got.Verdict(max(got.Reviewed, 1), quorum.High)
		if err != nil {
			r.Fatal(err)
		}
		f.Head, f.Base, f.Run, f.Attempt = someHead, someBase, 1, 1
		if _, err := f.Marshal(); err != nil {
			r.Fatalf("%s: %v", text, err)
		}
		if len(got.Findings) != len(answer["findings"].([]any)) {
			r.Fatalf("%s: %d findings are left", text, len(got.Findings))
		}
	})
	if accepted < 20 || refused < 5 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}

// TestTheSchemaFitsBothVendors: a schema for strict outputs requires every key of every object, forbids others, and uses
// no bounds; and it stands between apostrophes in the arguments of an action.
func TestTheSchemaFitsBothVendors(t *testing.T) {
	text := review.AnswerSchema()
	if strings.ContainsAny(text, "'`$\\") {
		t.Error("the schema holds a character that a shell or a workflow reads")
	}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(at, item)
			}
		case map[string]any:
			if properties, isObject := v["properties"].(map[string]any); isObject {
				var names, required []string
				for name := range properties {
					names = append(names, name)
				}
				for _, name := range v["required"].([]any) {
					required = append(required, name.(string))
				}
				slices.Sort(names)
				slices.Sort(required)
				if !slices.Equal(names, required) || v["additionalProperties"] != false {
					t.Errorf("%s: keys %v, required %v", at, names, required)
				}
				for name, inner := range properties {
					walk(at+"."+name, inner)
				}
			}
			for key, inner := range v {
				known := []string{"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
				if !slices.Contains(known, key) {
					t.Errorf("%s: %s is not known to every vendor", at, key)
				}
				if key == "items" {
					walk(at+"[]", inner)
				}
			}
		}
	}
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	walk("", doc)
}

func FuzzParseModelAnswer(f *testing.F) {
	f.Add(`{"findings": [{"path": "a", "line": 1, "severity": "low", "body": "b"}], "files_reviewed": ["a"]}`, uint8(0), 1)
	f.Add("```json\n{\"findings\": [], \"files_reviewed\": 3}\n```", uint8(1), 3)
	f.Add(`{"type": "result", "structured_output": {"findings": [], "files_reviewed": 3}}`, uint8(2), 3)
	f.Fuzz(func(t *testing.T, text string, form uint8, total int) {
		answer, err := review.ParseModelAnswer(text, review.AnswerForm(form%3+1), root)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("the error has two lines: %q", err)
			}
			return
		}
		total = max(total, 0) % 1000
		file, err := answer.Verdict(total, quorum.SeverityAny)
		if err != nil {
			return
		}
		file.Head, file.Base, file.Run, file.Attempt = someHead, someBase, 1, 1
		if _, err := file.Marshal(); err != nil && len(text) < 1<<16 {
			t.Fatalf("%+v: %v", file, err)
		}
		got := file.Reading(quorum.SeverityAny, total)
		if got.Outcome == quorum.Approved && (len(answer.Findings) > 0 || answer.Reviewed < max(1, total)) {
			t.Errorf("%q of %d approves", text, total)
		}
	})
}
