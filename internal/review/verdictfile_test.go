package review_test

// The structured verdict: what is refused, what the verdict is computed from, and how a policy reads it.

import (
	"reflect"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

const (
	someHead = "1111111111111111111111111111111111111111"
	someBase = "main"
)

// plainVerdict is a verdict file that approves.
const plainVerdict = `{
  "schema": 1,
  "head": "` + someHead + `",
  "base": "` + someBase + `",
  "run": 4711,
  "attempt": 2,
  "verdict": "approve",
  "findings": [],
  "files_reviewed": 3,
  "files_total": 3
}
`

// objectingVerdict is one with findings.
const objectingVerdict = `{
  "schema": 1,
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
  "files_reviewed": 2,
  "files_total": 3
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
		Schema: 1, Head: someHead, Base: someBase, Run: 4711, Attempt: 1, Verdict: "request_changes", FilesReviewed: 2, FilesTotal: 3,
		Findings: []quorum.Finding{
			{Path: "cart/total.go", Line: 42, Severity: quorum.High, Body: `An empty cart <divides> by "zero".`},
			{Body: "The change has no test."},
		},
	}
	if err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("%v: %+v", err, f)
	}
}

// TestAVerdictFileIsReadStrictly: each of these changes to a file that approves makes it unreadable, and the error names the place.
func TestAVerdictFileIsReadStrictly(t *testing.T) {
	finding := func(text string) [2]string { return [2]string{`"findings": []`, `"findings": [` + text + `]`} }
	for says, change := range map[string][2]string{
		`longer than 1048576 bytes`:           {"}\n", "}" + strings.Repeat(" ", 1<<20)},
		`too many values`:                     {"[]", "[" + strings.Repeat("0,", 100_001) + "0]"},
		`no UTF-8 text`:                       {"approve", "appro\xffve"},
		`not one JSON object: text after`:     {"}\n", "}{}"},
		`"head": key stands twice`:            {`"base"`, `"head": "` + someBase + `", "base"`},
		`"HEAD": key stands twice`:            {`"base"`, `"HEAD": "` + someBase + `", "base"`},
		`"Body": key stands twice`:            finding(`{"body": "a", "Body": "b"}`),
		`nested too deeply`:                   {"[]", strings.Repeat("[", 40) + strings.Repeat("]", 40)},
		`"Head": no such key; the keys are`:   {`"head"`, `"Head"`},
		`"blocking": no such key`:             {`"base"`, `"blocking": [], "base"`},
		`findings[1]."note": no such key`:     finding(`{"body": "a"}, {"body": "b", "note": ""}`),
		`schema: 2 is not known`:              {`"schema": 1`, `"schema": 2`},
		`schema: it is no whole number`:       {`"schema": 1`, `"schema": "1"`},
		`head: it is missing`:                 {`  "head": "` + someHead + `",`, ``},
		`head: "1111111" is no commit's id`:   {someHead, someHead[:7]},
		`base: "the main one" is no name of`:  {someBase, "the main one"},
		`base: it is no text`:                 {`"` + someBase + `"`, "null"},
		`head: "A1111111111111111111111111`:   {someHead, "A" + someHead[1:]},
		`run: -1 is below 1`:                  {"4711", "-1"},
		`run: it is no whole number`:          {"4711", "4711.0"},
		`run: 9007199254740992 is too large`:  {"4711", "9007199254740992"},
		`attempt: 0 is below 1`:               {`"attempt": 2`, `"attempt": 0`},
		`attempt: 2147483648 is too large`:    {`"attempt": 2`, `"attempt": 2147483648`},
		`verdict: it is missing`:              {`  "verdict": "approve",`, ``},
		`verdict: it is no text`:              {`"approve"`, `true`},
		`verdict: "Approve" is neither`:       {`"approve"`, `"Approve"`},
		`verdict: "comment" is neither`:       {`"approve"`, `"comment"`},
		`findings: it is missing`:             {`  "findings": [],`, ``},
		`findings: it is no list`:             {`[]`, `{}`},
		`findings[0]: it is no object`:        finding(`"a word"`),
		`findings[0].body: it is missing`:     finding(`{"path": "a.go"}`),
		`findings[0].body: it says nothing`:   finding(`{"body": " \u200b\n"}`),
		`findings[0].path: "/etc/a" is not`:   finding(`{"body": "a", "path": "/etc/a"}`),
		`findings[0].path: "a/../../b" is no`: finding(`{"body": "a", "path": "a/../../b"}`),
		`findings[0].path: "C:\\a" is not`:    finding(`{"body": "a", "path": "C:\\a"}`),
		`findings[0].path: "a b" holds`:       finding(`{"body": "a", "path": "a\nb"}`),
		`findings[0].path: "" is empty`:       finding(`{"body": "a", "path": ""}`),
		`findings[0].line: -3 is below 0`:     finding(`{"body": "a", "path": "a", "line": -3}`),
		`findings[0].line: it is no whole`:    finding(`{"body": "a", "path": "a", "line": "3"}`),
		`findings[0].line: there is no path`:  finding(`{"body": "a", "line": 3}`),
		`findings[0].severity: "blocker" is`:  finding(`{"body": "a", "severity": "blocker"}`),
		`findings[0].severity: "" is not low`: finding(`{"body": "a", "severity": ""}`),
		`approve, and findings[0] objects`:    finding(`{"body": "a", "severity": "critical"}`),
		`approve, and findings[1] objects`:    finding(`{"body": "a", "severity": "low"}, {"body": "b"}`),
		`files_reviewed: -1 is below 0`:       {`"files_reviewed": 3`, `"files_reviewed": -1`},
		`files_reviewed: it is no whole numb`: {`"files_reviewed": 3`, `"files_reviewed": -0`},
		`files_reviewed: 4 is more than file`: {`"files_reviewed": 3`, `"files_reviewed": 4`},
		`files_total: it is missing`:          {",\n  \"files_total\": 3", ""},
	} {
		text := strings.Replace(plainVerdict, change[0], change[1], 1)
		if text == plainVerdict {
			t.Errorf("%s: nothing was changed", says)
		}
		f, err := review.ParseVerdictFile([]byte(text))
		if err == nil || !strings.Contains(err.Error(), says) || !reflect.DeepEqual(f, review.VerdictFile{}) {
			t.Errorf("%v, not %q: %+v", err, says, f)
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
	low := quorum.Finding{Body: "a name", Severity: quorum.Low}
	high := quorum.Finding{Body: "a fault", Severity: quorum.High}
	unknown := quorum.Finding{Body: "a doubt"}
	for _, c := range []struct {
		name            string
		findings        []quorum.Finding
		reviewed, total int
		made            quorum.Severity // min-severity of the maker
		verdict         string
		policy          quorum.Severity // min_severity of the policy
		changed         int
		outcome         quorum.Outcome
		reason          quorum.Reason
		detail          string
	}{
		{"clean", nil, 3, 3, 0, "approve", 0, 3, quorum.Approved, quorum.ReasonApproved, "verdict: approve"},
		{
			"clean, of more than is changed now", nil, 3, 3, 0, "approve",
			0, 2, quorum.Approved, quorum.ReasonApproved, "verdict: approve",
		},
		{"clean, of some", nil, 2, 3, 0, "approve", 0, 3, quorum.Partial, quorum.ReasonPartial, "files_reviewed: 2 of 3"},
		{
			"clean, of fewer than are changed", nil, 3, 3, 0, "approve",
			0, 4, quorum.Partial, quorum.ReasonPartial, "files_total: 3 of 4 changed files",
		},
		{
			"clean, of nothing", nil, 0, 0, 0, "approve",
			0, 0, quorum.Partial, quorum.ReasonPartial, "files_reviewed: 0 of 0",
		},
		{
			"a finding",
			[]quorum.Finding{low},
			3, 3, 0, "request_changes",
			0, 3, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
		{
			"a finding, of some",
			[]quorum.Finding{high},
			1, 3, 0, "request_changes",
			0, 3, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
		{
			"below both",
			[]quorum.Finding{low},
			3, 3, quorum.High, "approve",
			quorum.Medium, 3, quorum.Approved, quorum.ReasonAccepted, "verdict: approve",
		},
		{
			"below both, of some",
			[]quorum.Finding{low},
			2, 3, quorum.High, "approve",
			quorum.Medium, 3, quorum.Partial, quorum.ReasonPartial, "files_reviewed: 2 of 3",
		},
		{
			"below the maker's alone",
			[]quorum.Finding{low},
			3, 3, quorum.High, "approve",
			0, 3, quorum.Findings, quorum.ReasonFindings, "verdict: approve, with findings",
		},
		{
			"below the policy's alone",
			[]quorum.Finding{low},
			3, 3, 0, "request_changes",
			quorum.High, 3, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
		{
			"without a severity",
			[]quorum.Finding{unknown},
			3, 3, quorum.Critical, "request_changes",
			quorum.Critical, 3, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
		{
			"mixed",
			[]quorum.Finding{low, high},
			3, 3, quorum.High, "request_changes",
			quorum.High, 3, quorum.Findings, quorum.ReasonFindings, "verdict: request_changes",
		},
	} {
		f := review.MakeVerdict(c.findings, c.reviewed, c.total, c.made)
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
		got := f.Reading(c.policy, c.changed)
		if got.Outcome != c.outcome || got.Reason != c.reason || got.Detail != c.detail || len(got.Findings) != len(c.findings) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got.Below != (got.Reason == quorum.ReasonAccepted) || got.Rule != "artifact" {
			t.Errorf("%s: below %t, rule %s", c.name, got.Below, got.Rule)
		}
		for i, found := range got.Findings {
			if found.Below != (found.Severity > 0 && found.Severity < c.policy) || f.Findings[i].Below {
				t.Errorf("%s: finding %d: %+v", c.name, i, found)
			}
		}
	}
}

// TestAnObjectionNeedsNoWords: a script that says no and nothing else objects.
func TestAnObjectionNeedsNoWords(t *testing.T) {
	f, err := review.ParseVerdictFile([]byte(strings.Replace(plainVerdict, "approve", "request_changes", 1)))
	if got := f.Reading(quorum.Critical, 3); err != nil || got.Outcome != quorum.Findings {
		t.Errorf("%v: %+v", err, got)
	}
}

func FuzzParseVerdictFile(f *testing.F) {
	f.Add([]byte(plainVerdict), uint8(0), 3)
	f.Add([]byte(objectingVerdict), uint8(2), 4)
	f.Fuzz(func(t *testing.T, data []byte, least uint8, changed int) {
		file, err := review.ParseVerdictFile(data)
		if err != nil {
			if !reflect.DeepEqual(file, review.VerdictFile{}) {
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
		got := file.Reading(quorum.Severity(least%5), changed)
		if got.Outcome == quorum.Approved && (file.Verdict != "approve" || file.FilesReviewed < max(1, file.FilesTotal, changed)) {
			t.Errorf("%+v approves", file)
		}
	})
}
