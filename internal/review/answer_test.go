package review_test

// A model's answer: what is understood of it, what is refused and where, and that the schema promises nothing else.

import (
	"encoding/json"
	"errors"
	"fmt"
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
	two := review.ModelAnswer{Reviewed: []string{"cart/tax.go", "cart/total.go"}}
	for _, c := range []struct {
		name, text string
		form       review.AnswerForm
		want       review.ModelAnswer
	}{
		{"clean", clean, review.PlainAnswer, two},
		{"nothing was read", `{"findings": [], "files_reviewed": []}`, review.PlainAnswer, review.ModelAnswer{}},
		{
			"names that are one file", `{"findings": [], "files_reviewed": ["a.go", "./a.go", " a.go", "` + root + `/a.go", "/home/runner/work/shop/shop/a.go", ""]}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: []string{"a.go"}},
		},
		{
			"names that no changed file has",
			`{"findings": [], "files_reviewed": ["a.go", "/etc/passwd", "../../x", "a/../b", "c\nd", "` + strings.Repeat("x", 5000) + `"]}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: []string{"a.go"}},
		},
		{"in a fence", "\n```json\n" + clean + "\n```\n", review.CodexAnswer, two},
		{"in a long fence", "`````\n" + clean + "\n`````", review.ClaudeAnswer, two},
		{
			"what claude prints", `{"type": "result", "subtype": "success", "is_error": false, "num_turns": 3, "result": "Approved!", "structured_output": ` + clean + `}`,
			review.ClaudeAnswer, two,
		},
		{
			"a finding", `{"findings": [{"path": "./cart/total.go", "line": 42, "severity": "high", "body": "It divides by zero."}], "files_reviewed": ["a"]}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: []string{"a"}, Findings: []review.ReportedFinding{
				{Path: "cart/total.go", Line: 42, Severity: quorum.High, Body: "It divides by zero."},
			}},
		},
		{
			"what says nothing", `{"findings": [{"path": null, "line": null, "severity": "", "body": "No test."}], "files_reviewed": ["a"]}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: []string{"a"}, Findings: []review.ReportedFinding{{Body: "No test."}}},
		},
		{
			"places that are none", `{"findings": [
				{"path": "../x", "line": 3, "severity": "low", "body": "a"}, {"path": "/etc/hosts", "line": 3, "severity": "low", "body": "b"},
				{"path": "a\nb", "line": 3, "severity": "low", "body": "c"}, {"path": "", "line": 3, "severity": "low", "body": "d"},
				{"path": "x", "line": 2147483648, "severity": "low", "body": "e"}, {"path": "x", "line": 9e99, "severity": "Blocker", "body": " "}],
				"files_reviewed": ["a"]}`,
			review.PlainAnswer,
			review.ModelAnswer{Reviewed: []string{"a"}, Findings: []review.ReportedFinding{
				{Severity: quorum.Low, Body: "../x: a"},
				{Severity: quorum.Low, Body: "/etc/hosts: b"},
				{Severity: quorum.Low, Body: "a b: c"},
				{Severity: quorum.Low, Body: "d"},
				{Path: "x", Severity: quorum.Low, Body: "e"},
				{Path: "x", Severity: quorum.Critical, Body: "(no words)"},
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
	finding := func(keys string) string { return `{"findings": [{` + keys + `}], "files_reviewed": ["a"]}` }
	var many strings.Builder
	for i := range 3001 {
		fmt.Fprintf(&many, `"%d", `, i)
	}
	for _, c := range []struct{ text, says, hint string }{
		{"", "the answer is empty", "said nothing"},
		{"null", "is no JSON object", "verdict schema"},
		{"[]", "is no JSON object", "verdict schema"},
		{"No issues found.", `is no JSON object: it begins "No issues found."`, "verdict schema"},
		{"Here it is:\n```json\n{}\n```", "is no JSON object", "verdict schema"},
		{"```json\n{\"findings\": [], \"files_reviewed\": []}\n```\nBut do not merge it.", "is no JSON object", "verdict schema"},
		{"```json\n{\"findings\": [], \"files_reviewed\": []}\n```\n```json\n{\"findings\": []}\n```", "is no JSON object", "verdict schema"},
		{"```sh\nrm -rf .\n```", "is no JSON object", "verdict schema"},
		{"```json", "is no JSON object", "verdict schema"},
		{`{"findings": [], "files_reviewed": []}{}`, "is not one JSON object: text after the value", ""},
		{`{"findings": [], "findings": [{"body": "a"}], "files_reviewed": []}`, `"findings": key stands twice`, ""},
		{`{"findings": [{"body": "a"}], "findingſ": [], "files_reviewed": []}`, `"findingſ": key stands twice`, ""},
		{"{\"findings\": [], \"files_reviewed\": [\"\xff\"]}", "no object of UTF-8", ""},
		{`{"findings": [` + strings.Repeat(`[],`, 100_000) + `[]]}`, "too many values", ""},
		{`{"findings": ` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, "nested too deeply", ""},
		{`{"findings": [], "files_reviewed": ["` + strings.Repeat("x", 1<<20) + `"]}`, "longer than", ""},
		{`{"files_reviewed": []}`, "has no findings", "[]"},
		{`{"findings": null, "files_reviewed": []}`, "has no findings", ""},
		{`{"findings": {}, "files_reviewed": []}`, "findings may be no object", ""},
		{`{"findings": []}`, "has no files_reviewed", "the paths"},
		{`{"findings": [], "files_reviewed": null}`, "has no files_reviewed", "the paths"},
		{`{"findings": [], "files_reviewed": 2}`, "files_reviewed may be no number", "the paths"},
		{`{"findings": [], "files_reviewed": "all"}`, "files_reviewed may be no string", "the paths"},
		{`{"findings": [], "files_reviewed": [1]}`, "files_reviewed may be no number", ""},
		{`{"findings": [], "files_reviewed": [` + many.String() + `"x"]}`, "names 3002 files as read", "changed files"},
		{`{"findings": [], "files_reviewed": [], "verdict": "approve"}`, `unknown field "verdict"`, "least of all a verdict"},
		{`{"findings": [], "files_reviewed": [], "blocking_issues": ["a"]}`, `unknown field "blocking_issues"`, "nothing else"},
		{`{"findings": ["a fault"], "files_reviewed": []}`, "findings may be no string", ""},
		{finding(`"body": "a", "fixed": false`), `unknown field "fixed"`, ""},
		{finding(`"body": ["a"]`), "findings.body may be no array", ""},
		{finding(`"body": "a", "line": "the end"`), `invalid number literal`, ""},
		{finding(`"body": "a", "line": [1]`), "findings.line may be no array", ""},
		{finding(`"body": "a", "severity": "spicy"`), `severity that nobody knows, of findings[0]: "spicy"`, "low, medium, high, critical"},
		{finding(`"body": "a", "severity": "lоw"`), `of findings[0]: "lоw"`, ""}, // the o is no Latin one
		{`{"type": "result", "is_error": true, "result": "Overloaded"}`, "is that of a run that failed: Overloaded", ""},
		{`{"type": "result", "is_error": false, "result": "Approved!"}`, "no object as structured_output", "--json-schema"},
	} {
		got, err := review.ParseModelAnswer(c.text, review.ClaudeAnswer, root)
		var wrong *review.AnswerError
		told := errors.As(err, &wrong) && strings.Contains(err.Error(), c.says) && strings.Contains(wrong.Hint, c.hint)
		if !told || !reflect.DeepEqual(got, review.ModelAnswer{}) {
			t.Errorf("%.80q: %v (%+v), not %q\n%+v", c.text, err, wrong, c.says, got)
		}
	}
	fenced := "```json\n{\"findings\": [], \"files_reviewed\": []}\n```"
	if _, err := review.ParseModelAnswer(fenced, review.PlainAnswer, ""); err == nil {
		t.Error("a plain file may be a fence")
	}
	if _, err := review.ParseModelAnswer(`{"type": "result", "structured_output": {"findings": [], "files_reviewed": []}}`, review.CodexAnswer, ""); err == nil {
		t.Error("codex may answer as claude")
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
		f := review.MakeVerdict(got, quorum.High)
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
	f.Add(`{"findings": [{"path": "a", "line": 1, "severity": "low", "body": "b"}], "files_reviewed": ["a"]}`, uint8(0), "a")
	f.Add("```json\n{\"findings\": [], \"files_reviewed\": [\"a\", \"b\"]}\n```", uint8(1), "a b")
	f.Add(`{"type": "result", "structured_output": {"findings": [], "files_reviewed": ["a"]}}`, uint8(2), "a b")
	f.Fuzz(func(t *testing.T, text string, form uint8, changed string) {
		answer, err := review.ParseModelAnswer(text, review.AnswerForm(form%3+1), root)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("the error has two lines: %q", err)
			}
			return
		}
		file := review.MakeVerdict(answer, quorum.SeverityAny)
		file.Head, file.Base, file.Run, file.Attempt = someHead, someBase, 1, 1
		if _, err := file.Marshal(); err != nil && len(text) < 1<<16 {
			t.Fatalf("%+v: %v", file, err)
		}
		got := file.Reading(quorum.SeverityAny, changedFiles(changed), true)
		if got.Outcome == quorum.Approved && (len(answer.Findings) > 0 || len(answer.Reviewed) == 0 || changed == "") {
			t.Errorf("%q of %q approves", text, changed)
		}
	})
}
