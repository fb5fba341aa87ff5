package review_test

// The structured verdict: what is refused, what the verdict is computed from, and how a policy reads it.

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

const (
	someHead = "1111111111111111111111111111111111111111"
	someBase = "main"
)

// plainVerdict is a verdict file that approves.
const plainVerdict = `{
  "schema": 2,
  "head": "` + someHead + `",
  "base": "` + someBase + `",
  "run": 4711,
  "attempt": 2,
  "verdict": "approve",
  "findings": [],
  "files_reviewed": [
    "cart/total.go"
  ]
}
`

// objectingVerdict is one with findings.
const objectingVerdict = `{
  "schema": 2,
  "head": "` + someHead + `",
  "base": "` + someBase + `",
  "run": 4711,
  "attempt": 1,
  "verdict": "request_changes",
  "findings": [
    {
      "path": "cart/total.go",
      "line": 42,
      "severity": "high",
      "body": "An empty cart <divides> by \"zero\"."
    },
    {
      "body": "The change has no test."
    }
  ],
  "files_reviewed": []
}
`

func TestAVerdictFileIsReadAsItWasWritten(t *testing.T) {
	for _, text := range []string{plainVerdict, objectingVerdict} {
		f, err := review.ParseVerdictFile([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		again, err := f.Marshal()
		if err != nil || string(again) != text {
			t.Errorf("%v: it is written as\n%s", err, again)
		}
	}
	f, err := review.ParseVerdictFile([]byte(objectingVerdict))
	want := review.VerdictFile{
		Schema: 2, Head: someHead, Base: someBase, Run: 4711, Attempt: 1, Verdict: "request_changes", FilesReviewed: []string{},
		Findings: []review.ReportedFinding{
			{Path: "cart/total.go", Line: 42, Severity: quorum.High, Body: `An empty cart <divides> by "zero".`},
			{Body: "The change has no test."},
		},
	}
	if err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("%v: %+v", err, f)
	}
}

// TestAVerdictFileIsReadStrictly: each of these changes to a file that approves makes it unreadable, and the error names
// the place.
func TestAVerdictFileIsReadStrictly(t *testing.T) {
	finding := func(text string) [2]string { return [2]string{`"findings": []`, `"findings": [` + text + `]`} }
	const files = "[\n    \"cart/total.go\"\n  ]"
	for says, change := range map[string][2]string{
		`longer than 1048576 bytes`:            {"}\n", "}" + strings.Repeat(" ", 1<<20)},
		`too many values`:                      {"[]", "[" + strings.Repeat("0,", 100_001) + "0]"},
		`no object of UTF-8 text`:              {"approve", "appro\xffve"},
		`not one JSON object: text after`:      {"}\n", "}{}"},
		`"head": key stands twice`:             {`"base"`, `"head": "` + someBase + `", "base"`},
		`"HEAD": key stands twice`:             {`"base"`, `"HEAD": "` + someBase + `", "base"`},
		`"findings": key stands twice`:         {`"run"`, `"findingſ": [], "run"`},
		`"Body": key stands twice`:             finding(`{"body": "a", "Body": "b"}`),
		`nested too deeply`:                    {"[]", strings.Repeat("[", 40) + strings.Repeat("]", 40)},
		`unknown field "blocking"`:             {`"base"`, `"blocking": [], "base"`},
		`unknown field "files_total"`:          {`"run"`, `"files_total": 1, "run"`},
		`unknown field "note"`:                 finding(`{"body": "a"}, {"body": "b", "note": ""}`),
		`unknown field "below"`:                finding(`{"body": "a", "below": true}`),
		`schema: it is missing`:                {`"schema": 2,`, ``},
		`schema 1 is not known, only 2 is: up`: {`"schema": 2`, `"schema": 1`},
		`schema 3 is not known, only 2 is`:     {`"schema": 2`, `"schema": 3`},
		`schema 2.0 is not known`:              {`"schema": 2`, `"schema": 2.0`},
		`schema may be no string`:              {`"schema": 2`, `"schema": "2"`},
		`head: "" is no commit's id`:           {`  "head": "` + someHead + `",`, ``},
		`head: "1111111" is no commit's id`:    {someHead, someHead[:7]},
		`head: "A1111111111111111111111111`:    {someHead, "A" + someHead[1:]},
		`base: "the main one" is no name of`:   {someBase, "the main one"},
		`base: "" is no name of a branch`:      {`"` + someBase + `"`, "null"},
		`run: it is missing, or below 1`:       {"4711", "-1"},
		`run may be no number 4711.0`:          {"4711", "4711.0"},
		`run may be no number 92233720368547`:  {"4711", "9223372036854775808"},
		`attempt: it is missing, or below 1`:   {`"attempt": 2`, `"attempt": 0`},
		`verdict: "" is no verdict`:            {`  "verdict": "approve",`, ``},
		`verdict may be no bool`:               {`"approve"`, `true`},
		`verdict: "Approve" is no verdict`:     {`"approve"`, `"Approve"`},
		`verdict: "comment" is no verdict`:     {`"approve"`, `"comment"`},
		`findings: it is missing`:              {`  "findings": [],`, ``},
		`findings may be no object`:            {`[]`, `{}`},
		`findings may be no string`:            finding(`"a word"`),
		`findings[0].body: it says nothing`:    finding(`{"path": "a.go"}`),
		`findings[1].body: it says nothing`:    finding(`{"body": "a"}, {"body": " \u200b\n"}`),
		`findings[0].path: "/etc/a" is no`:     finding(`{"body": "a", "path": "/etc/a"}`),
		`findings[0].path: "a/../../b" is no`:  finding(`{"body": "a", "path": "a/../../b"}`),
		`findings[0].path: "C:\\a" is no`:      finding(`{"body": "a", "path": "C:\\a"}`),
		`findings[0].path: "a b" holds`:        finding(`{"body": "a", "path": "a\nb"}`),
		`findings[0].line: -3 is no line`:      finding(`{"body": "a", "path": "a", "line": -3}`),
		`findings[0].line: 2147483648 is no`:   finding(`{"body": "a", "path": "a", "line": 2147483648}`),
		`findings.line may be no string`:       finding(`{"body": "a", "path": "a", "line": "3"}`),
		`findings[0].line: 3 is no line`:       finding(`{"body": "a", "line": 3}`),
		`unknown word "blocker"`:               finding(`{"body": "a", "severity": "blocker"}`),
		`files_reviewed may be no number`:      {files, `1`},
		`files_reviewed: it is missing`:        {files, `null`},
		`files_reviewed[0]: "" is no path`:     {files, `[null]`},
		`files_reviewed[1]: "./a" is no path`:  {files, `["a", "./a"]`},
		`files_reviewed[0]: "/a" is no path`:   {files, `["/a"]`},
		`files_reviewed[0]: "ab" holds`:        {files, `["a\u0000b"]`},
		`files_reviewed: it has more than 30`:  {files, `["a"` + strings.Repeat(`, "a"`, 3000) + `]`},
		`files_reviewed[0]: "aaaaaaaaaaaaaaa`:  {files, `["` + strings.Repeat("a", 4097) + `"]`},
	} {
		text := strings.Replace(plainVerdict, change[0], change[1], 1)
		if text == plainVerdict {
			t.Errorf("%s: nothing was changed", says)
		}
		f, err := review.ParseVerdictFile([]byte(text))
		if err == nil || !strings.Contains(err.Error(), says) || !reflect.DeepEqual(f, review.VerdictFile{}) {
			t.Errorf("%v, not %q: %+v", err, says, f)
		}
		if err != nil && (len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\r\n")) {
			t.Errorf("%s: the error is no short line: %q", says, err)
		}
	}
	for _, text := range []string{"", "null", "[]", "\ufeff" + plainVerdict, "```\n" + plainVerdict + "```", strings.Replace(plainVerdict, ",", ",,", 1)} {
		if f, err := review.ParseVerdictFile([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, f)
		}
	}
}

// TestTheVerdictIsComputed: from findings and coverage, and a policy has the last word about severities.
func TestTheVerdictIsComputed(t *testing.T) {
	low := review.ReportedFinding{Body: "a name", Severity: quorum.Low}
	high := review.ReportedFinding{Body: "a fault", Severity: quorum.High}
	unknown := review.ReportedFinding{Body: "a doubt"}
	const all, part, none = "a.go b.go c.go", "a.go b.go", ""
	for _, c := range []struct {
		name     string
		findings []review.ReportedFinding
		read     string
		made     quorum.Severity // min-severity of the maker
		verdict  string
		policy   quorum.Severity // min_severity of the policy
		outcome  quorum.Outcome
		reason   quorum.Reason
		detail   string
	}{
		{"clean", nil, all, 0, "approve", 0, quorum.Approved, quorum.ReasonApproved, "verdict: approve"},
		{
			"clean, and of files around it", nil, all + " d.go", 0, "approve",
			0, quorum.Approved, quorum.ReasonApproved, "verdict: approve",
		},
		{"clean, of some", nil, part, 0, "approve", 0, quorum.Partial, quorum.ReasonPartial, "1 of 3 files not read: c.go"},
		{
			"clean, of as many others", nil, "x.go y.go z.go", 0, "approve",
			0, quorum.Partial, quorum.ReasonPartial, "3 of 3 files not read: a.go, b.go, c.go",
		},
		{
			"clean, of nothing", nil, none, 0, "approve",
			0, quorum.Partial, quorum.ReasonPartial, "3 of 3 files not read: a.go, b.go, c.go",
		},
		{
			"a finding",
			[]review.ReportedFinding{low},
			all, 0, "request_changes",
			0, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
		{
			"a finding, of some",
			[]review.ReportedFinding{high},
			part, 0, "request_changes",
			0, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
		{
			"below both",
			[]review.ReportedFinding{low},
			all, quorum.High, "approve",
			quorum.Medium, quorum.Approved, quorum.ReasonAccepted, "verdict: approve",
		},
		{
			"below both, of some",
			[]review.ReportedFinding{low},
			part, quorum.High, "approve",
			quorum.Medium, quorum.Partial, quorum.ReasonPartial, "1 of 3 files not read: c.go",
		},
		{
			"below the maker's alone",
			[]review.ReportedFinding{low},
			all, quorum.High, "approve",
			0, quorum.Findings, quorum.ReasonFindings, "verdict: approve, with findings",
		},
		{
			"below the policy's alone",
			[]review.ReportedFinding{low},
			all, 0, "request_changes",
			quorum.High, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
		{
			"without a severity",
			[]review.ReportedFinding{unknown},
			all, quorum.Critical, "request_changes",
			quorum.Critical, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
		{
			"mixed",
			[]review.ReportedFinding{low, high},
			all, quorum.High, "request_changes",
			quorum.High, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
	} {
		f := review.MakeVerdict(review.ModelAnswer{Findings: c.findings, Reviewed: strings.Fields(c.read)}, c.made)
		f.Head, f.Base, f.Run, f.Attempt = someHead, someBase, 1, 1
		if f.Verdict != c.verdict {
			t.Errorf("%s: %s", c.name, f.Verdict)
		}
		text, err := f.Marshal()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if f, err = review.ParseVerdictFile(text); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := f.Reading(c.policy, changedFiles(all), true)
		if got.Outcome != c.outcome || got.Reason != c.reason || got.Detail != c.detail || len(got.Findings) != len(c.findings) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got.Below != (got.Reason == quorum.ReasonAccepted) || got.Rule != "artifact" {
			t.Errorf("%s: below %t, rule %s", c.name, got.Below, got.Rule)
		}
		for i, found := range got.Findings {
			if found.Below != (found.Severity > 0 && found.Severity < c.policy) {
				t.Errorf("%s: finding %d: %+v", c.name, i, found)
			}
		}
		if got := f.Reading(c.policy, changedFiles(all), false); got.Outcome == quorum.Approved {
			t.Errorf("%s: it approves files that nobody knows", c.name)
		}
	}
}

// changedFiles are files of which lines are changed, by their names.
func changedFiles(names string) (changed []quorum.File) {
	for _, name := range strings.Fields(names) {
		changed = append(changed, quorum.File{Path: name})
	}
	return changed
}

// TestUnread: which files need to be read, and by which names they were.
func TestUnread(t *testing.T) {
	a := quorum.File{Path: "a.go"}
	for _, c := range []struct {
		name    string
		changed []quorum.File
		read    string
		want    string
	}{
		{"all", changedFiles("a.go b/c.go"), "a.go b/c.go", ""},
		{"a name in other letters", changedFiles("a.go B.go"), "a.go b.go", "B.go"},
		{"a file of that name in another folder", changedFiles("a.go b/c.go"), "a.go c.go", "b/c.go"},
		{"its folder", changedFiles("a.go b/c.go"), "a.go b", "b/c.go"},
		{"nothing is changed", nil, "a.go", ""},
		{"a rename by its new name", []quorum.File{a, {Path: "new.go", Previous: "old.go"}}, "a.go new.go", ""},
		{"a rename by its old name", []quorum.File{a, {Path: "new.go", Previous: "old.go"}}, "a.go old.go", ""},
		{"a rename by neither", []quorum.File{a, {Path: "new.go", Previous: "old.go"}}, "a.go", "new.go"},
		{
			"an old name that another file bears now",
			[]quorum.File{{Path: "new.go", Previous: "old.go"}, {Path: "old.go"}},
			"old.go", "new.go",
		},
		{
			"an old name of two",
			[]quorum.File{a, {Path: "one.go", Previous: "old.go"}, {Path: "two.go", Previous: "old.go"}},
			"a.go old.go", "one.go two.go",
		},
		{"a deleted file", []quorum.File{a, {Path: "gone.go", Deleted: true}}, "a.go", ""},
		{"lock files", changedFiles("a.go go.sum web/package-lock.json .terraform.lock.hcl"), "a.go", ""},
		{
			"what only looks like one", changedFiles("a.go package-lock.json.js x-go.sum Go.sum vendor.lock go.sum/a.go"), "a.go",
			"package-lock.json.js x-go.sum Go.sum vendor.lock go.sum/a.go",
		},
		{"source maps", changedFiles("a.go dist/app.js.map app.css.map"), "a.go", ""},
		{"what is no source map", changedFiles("a.go app.map app.jsxmap js.map.js"), "a.go", "app.map app.jsxmap js.map.js"},
		{"pictures", []quorum.File{a, {Path: "a.PNG", NoText: true}, {Path: "b/f.woff2", NoText: true}}, "a.go", ""},
		{"a picture that has lines", []quorum.File{a, {Path: "run.png"}}, "a.go", "run.png"},
		{
			"other binary files",
			[]quorum.File{a, {Path: "x.jar", NoText: true}, {Path: "x.svg", NoText: true}, {Path: "png", NoText: true}},
			"a.go", "x.jar x.svg png",
		},
		{
			"generated code", changedFiles("a.go api.pb.go app.min.js vendor/x.go dist/app.js a_gen.go"), "a.go",
			"api.pb.go app.min.js vendor/x.go dist/app.js a_gen.go",
		},
		{
			"nothing, of files that need not be read",
			[]quorum.File{{Path: "gone.go", Deleted: true}, {Path: "go.sum"}},
			"a.go", "gone.go go.sum",
		},
		{"one of those", []quorum.File{{Path: "gone.go", Deleted: true}, {Path: "go.sum"}}, "gone.go", ""},
	} {
		if got := review.Unread(strings.Fields(c.read), c.changed); strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
}

// TestWhatIsNotReadIsNotApproved: whatever the files are called and whatever else was read, an approval from whose names
// one is missing that needs to be read approves nothing, and says so in a short line.
func TestWhatIsNotReadIsNotApproved(t *testing.T) {
	names := rapid.SampledFrom([]string{
		"a.go", "A.go", "b/a.go", "go.sum", "b/go.sum", "x.png", "x.js.map", "vendor/a.go", "app.min.js", "evil.go",
		"@all ::error::x", "b",
	})
	file := rapid.Custom(func(r *rapid.T) quorum.File {
		f := quorum.File{Path: names.Draw(r, "path"), NoText: rapid.Bool().Draw(r, "no text")}
		f.Deleted = rapid.IntRange(0, 4).Draw(r, "deleted") == 0
		if rapid.IntRange(0, 3).Draw(r, "renamed") == 0 {
			f.Previous = names.Draw(r, "previous")
		}
		return f
	})
	approved := 0
	rapid.Check(t, func(r *rapid.T) {
		changed := rapid.SliceOfNDistinct(file, 1, 6, func(f quorum.File) string { return f.Path }).Draw(r, "changed")
		read := rapid.SliceOfN(names, 0, 12).Draw(r, "read")
		evil := quorum.File{Path: "evil.go", NoText: rapid.Bool().Draw(r, "moved")}
		evil.Previous = rapid.SampledFrom([]string{"", "old.go"}).Draw(r, "old")
		f := review.MakeVerdict(review.ModelAnswer{Reviewed: read}, 0)
		got := f.Reading(0, changed, true)
		if got.Outcome == quorum.Approved {
			approved++
		}
		f.FilesReviewed = slices.DeleteFunc(f.FilesReviewed, func(name string) bool { return name == evil.Path })
		changed = slices.DeleteFunc(changed, func(f quorum.File) bool { return f.Path == evil.Path })
		got = f.Reading(0, slices.Insert(changed, rapid.IntRange(0, len(changed)).Draw(r, "at"), evil), true)
		if got.Outcome != quorum.Partial || strings.ContainsAny(got.Detail, "\r\n") || len(got.Detail) > 500 {
			r.Fatalf("%q are read: %+v", f.FilesReviewed, got)
		}
	})
	if approved < 5 {
		t.Errorf("%d approve at all", approved)
	}
}

// TestAnObjectionNeedsNoWords: a script that says no and nothing else objects.
func TestAnObjectionNeedsNoWords(t *testing.T) {
	f, err := review.ParseVerdictFile([]byte(strings.Replace(plainVerdict, "approve", "request_changes", 1)))
	if got := f.Reading(quorum.Critical, nil, false); err != nil || got.Outcome != quorum.Findings {
		t.Errorf("%v: %+v", err, got)
	}
}

func FuzzParseVerdictFile(f *testing.F) {
	f.Add([]byte(plainVerdict), uint8(0), "cart/total.go")
	f.Add([]byte(plainVerdict), uint8(0), "")
	f.Add([]byte(objectingVerdict), uint8(2), "a b")
	f.Fuzz(func(t *testing.T, data []byte, least uint8, changed string) {
		file, err := review.ParseVerdictFile(data)
		if err != nil {
			if !reflect.DeepEqual(file, review.VerdictFile{}) || strings.ContainsAny(err.Error(), "\r\n\x1b") {
				t.Errorf("an error, and %+v", file)
			}
			return
		}
		text, err := file.Marshal()
		if err != nil && len(data) < 1<<17 {
			t.Fatalf("it cannot be written: %v", err)
		}
		if again, err := review.ParseVerdictFile(text); len(text) > 0 && (err != nil || !reflect.DeepEqual(again, file)) {
			t.Errorf("%v: %+v, then %+v", err, file, again)
		}
		got := file.Reading(quorum.Severity(least%5), changedFiles(changed), true)
		if got.Outcome == quorum.Approved && (file.Verdict != "approve" || changed == "" || len(file.FilesReviewed) == 0) {
			t.Errorf("%+v approves", file)
		}
	})
}
