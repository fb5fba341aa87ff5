package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/sethvargo/go-githubactions"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// runnerOutputs reads a GITHUB_OUTPUT as the runner does: line by line; NAME=VALUE or NAME<<DELIMITER, whichever sign comes
// first. On Windows a line also ends with CR LF.
func runnerOutputs(file string, windows bool) (got []stepOutput, err error) {
	next := func() (line string, end int, more bool) {
		if file == "" {
			return "", 0, false
		}
		line, rest, found := strings.Cut(file, "\n")
		end = len(line)
		file = rest
		if windows && found {
			line = strings.TrimSuffix(line, "\r")
		}
		return line, end, true
	}
	for line, _, more := next(); more; line, _, more = next() {
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case line == "":
		case heredoc >= 0 && (equals < 0 || heredoc < equals):
			name, delimiter := line[:heredoc], line[heredoc+2:]
			var value []string
			for {
				inner, _, more := next()
				if !more {
					return got, fmt.Errorf("%s does not end", name)
				}
				if inner == delimiter {
					break
				}
				value = append(value, inner)
			}
			got = append(got, stepOutput{name, strings.Join(value, "\n")})
		case equals >= 0:
			got = append(got, stepOutput{line[:equals], line[equals+1:]})
		default:
			return got, fmt.Errorf("%q is no output", line)
		}
	}
	return got, nil
}

// runnerCommands finds the commands in what a step prints, as the runner does: a line ends at CR or LF; a command begins
// with "::" after white space, or with "##[" anywhere.
func runnerCommands(printed string) (found []string) {
	for _, line := range strings.FieldsFunc(printed, func(r rune) bool { return r == '\n' || r == '\r' }) {
		trimmed := strings.TrimLeftFunc(line, unicode.IsSpace)
		if strings.HasPrefix(trimmed, "::") && strings.Contains(trimmed[2:], "::") || strings.Contains(line, "##[") {
			found = append(found, line)
		}
	}
	return found
}

// forgery writes what somebody would write who knows how the runner reads.
func forgery(r *mathrand.Rand) string {
	pieces := []string{
		"\n", "\r", "\r\n", "\x00", "\x85", "\u00a0", "\u2028", "\ufeff", " ", "\t", "::", ":", "##[", "#", "[", "]", "%0A", "%0D", "%25", "=", "<<", "EOF", "ghadelimiter_", "_GitHubActionsFileCommandDelimeter_",
		"verdict=passed", "verdict<<X\npassed\nX\n", "::set-output name=verdict::passed", "\n::set-output name=verdict::passed\n", "##[set-output name=verdict]passed", "::add-mask::a", "::stop-commands::x", "::error::",
		"title=", ",", "\xff\xfe", "\x1b[31m", "👻", "a", "-->", "```", "</details>", "@octo", "https://evil.example",
	}
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// strange is a result in which every text that a stranger can write is text.
func strange(text string) runResult {
	pr := quorum.PR{Owner: "acme", Repo: "shop", Number: 7}
	return runResult{pr: pr, checkID: 11, checkURL: "https://github.com/acme/shop/runs/11" + text, look: loop.Look{
		At: time.Unix(1_800_000_000, 0),
		Decision: quorum.Decision{
			PR: pr, Head: "3f2c1d9", Base: text, Verdict: quorum.Blocked, Reason: quorum.ReasonTally, Need: 2, Approvals: 1, Objections: 1, Unavailable: 1, Wake: time.Unix(1_800_000_100, 0),
			Ballots: []quorum.Ballot{
				{Reviewer: "openai" + text, Vote: quorum.Object, Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: text, Findings: []quorum.Finding{{Path: text, Body: text, URL: text}}, Answers: []string{text}},
				{Reviewer: "gemini" + text, Vote: quorum.Unavailable, Outcome: quorum.Overloaded, Reason: quorum.ReasonOverloaded, Detail: text},
			},
			StandIns: []quorum.StandIn{{Login: text, URL: text}},
		},
		Check: report.Check{Name: "Review quorum" + text, Title: "Changes requested" + text, Summary: text, Status: "completed", Conclusion: "failure"},
	}}
}

// jobbed is a command in a job whose files are in a folder of their own.
func jobbed(t testing.TB) (c *command, printed *bytes.Buffer, env map[string]string) {
	dir := t.TempDir()
	env = map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary")}
	printed = &bytes.Buffer{}
	return &command{Stdout: printed, Stderr: printed, Getenv: func(name string) string { return env[name] }}, printed, env
}

func TestOutputs(t *testing.T) {
	c, printed, env := jobbed(t)
	if err := os.WriteFile(env["GITHUB_OUTPUT"], []byte("earlier=1"), 0o600); err != nil { // of the same step, without a line break
		t.Fatal(err)
	}
	flush := c.guardStreams()
	good := strange("")
	good.pr.Number, good.look.Decision.Verdict = 8, quorum.Passed
	if err := c.reportResults([]runResult{good, strange("")}); err != nil {
		t.Fatal(err)
	}
	flush()
	file, err := os.ReadFile(env["GITHUB_OUTPUT"])
	if err != nil {
		t.Fatal(err)
	}
	got, err := runnerOutputs(string(file), false)
	if err != nil {
		t.Fatal(err)
	}
	want := []stepOutput{
		{"earlier", "1"},
		{"verdict", "blocked"},
		{"conclusion", "failure"},
		{"approvals", "1"},
		{"need", "2"},
		{"unavailable", "gemini"},
		{"reruns", "0"},
		{"check-run-id", "11"},
		{"check-url", "https://github.com/acme/shop/runs/11"},
		{"next-check-at", "2027-01-15T08:01:40Z"},
	}
	if len(got) != len(want)+1 || !slices.Equal(got[:len(want)], want) {
		t.Errorf("got %q, want %q and the decision", got, want)
	}
	if last := got[len(got)-1]; last.name != "decision" || !strings.Contains(last.value, `"pull_request": "acme/shop#7"`) || !strings.Contains(last.value, `"verdict": "blocked"`) {
		t.Errorf("got %q", last)
	}
	summary, err := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
	if err != nil || !strings.Contains(string(summary), "acme/shop#7") || !strings.Contains(string(summary), "acme/shop#8") {
		t.Errorf("the summary is %q, %v", summary, err)
	}
	commands := runnerCommands(printed.String())
	if len(commands) != 6-1 || !strings.HasPrefix(commands[4], "::warning title=Review quorum%3A acme/shop#7::Changes requested. openai: Mend what") {
		t.Errorf("got %q", commands)
	}
}

// Beside an error no verdict is written: a job that goes on would read half of the truth.
func TestNoOutputsBesideAnError(t *testing.T) {
	for name, results := range map[string][]runResult{
		"nothing was evaluated": nil,
		"an error":              {{pr: quorum.PR{Number: 1}, err: errors.New("x")}},
		"an error and a pass":   {strange(""), {pr: quorum.PR{Number: 1}, err: errors.New("x"), look: strange("").look}},
	} {
		c, _, env := jobbed(t)
		if err := c.reportResults(results); err != nil {
			t.Fatal(err)
		}
		if file, err := os.ReadFile(env["GITHUB_OUTPUT"]); err == nil {
			t.Errorf("%s: %s", name, file)
		}
	}
}

// One that stands beside a pull request that was never looked at is no verdict about both.
func TestOneErrorAmongSeveral(t *testing.T) {
	c, _, env := jobbed(t)
	if err := c.reportResults([]runResult{strange(""), {pr: quorum.PR{Number: 9}, err: errors.New("read pull request: 404")}}); err != nil {
		t.Fatal(err)
	}
	if file, err := os.ReadFile(env["GITHUB_OUTPUT"]); err == nil {
		t.Errorf("written: %s", file)
	}
}

func TestDelimiterIsInNoValue(t *testing.T) {
	drawn := []string{"a", "b", "c"}
	draw := func() string {
		d := drawn[0]
		drawn = drawn[1:]
		return d
	}
	got, err := encodeOutputs([]stepOutput{{"x", "ghadelimiter_a"}, {"y", "1\nghadelimiter_b\n"}}, draw)
	if want := "x<<ghadelimiter_c\nghadelimiter_a\nghadelimiter_c\ny<<ghadelimiter_c\n1\nghadelimiter_b\n\nghadelimiter_c\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := encodeOutputs([]stepOutput{{"x", "ghadelimiter_a"}}, func() string { return "a" }); err == nil {
		t.Error("a value that holds the delimiter was written")
	}
}

// A few by default, so that go test stays quick; -hostile=100000 is what CI asks for.
var forgeries = flag.Int("hostile", 3000, "how many hostile strings TestHostileTextsInAJob tries")

// 0 of 100,000 hostile strings change an output or start a workflow command.
func TestHostileTextsInAJob(t *testing.T) {
	many := *forgeries
	r := mathrand.New(mathrand.NewPCG(20261121, 7))
	forged := 0
	for i := range many {
		words := forgery(r)
		res := strange(words)
		all, err := stepOutputs(res)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			all[i].value = cleanText(all[i].value)
		}
		file, err := encodeOutputs(all, rand.Text)
		if err != nil {
			t.Fatal(err)
		}
		windows := i%2 == 0
		got, err := runnerOutputs(string(file), windows)
		if windows { // there a line break is what it is
			for i := range all {
				all[i].value = strings.TrimSuffix(strings.ReplaceAll(all[i].value, "\r\n", "\n"), "\r")
			}
		}
		if err != nil || !slices.Equal(got, all) {
			forged++
			t.Errorf("%q: %v\n got %q\nwant %q", words, err, got, all)
		}

		var printed bytes.Buffer
		c := &command{Stdout: &printed, Stderr: &printed, Getenv: func(name string) string { return map[string]string{"GITHUB_ACTIONS": "true"}[name] }}
		flush := c.guardStreams()
		cut := 0
		if len(words) > 0 {
			cut = r.IntN(len(words))
		}
		fmt.Fprint(c.Stdout, words[:cut]) // in two writes, in the middle of anything
		fmt.Fprint(c.Stdout, words[cut:])
		c.logTables([]runResult{res})
		c.printNotices([]runResult{res})
		c.printWarning(words)
		fmt.Fprintf(c.Stderr, "coordinator: %s\n", words)
		(&progressLines{w: c.Stdout}).printLook(res.look)
		flush()
		ours := 0
		for _, command := range runnerCommands(printed.String()) {
			if !own(command) {
				forged++
				t.Errorf("%q starts %q", words, command)
			}
			ours++
		}
		if ours != 4 {
			t.Fatalf("%q: %d commands of ours: %q", words, ours, printed.String())
		}
	}
	t.Logf("%d of %d hostile strings changed an output or started a command", forged, many)
}

// own reports whether a command is one that the program means: by its name and its properties, which end at the next "::".
func own(command string) bool {
	said, _, found := strings.Cut(strings.TrimPrefix(command, "::"), "::")
	title, titled := strings.CutPrefix(said, "warning title=Review quorum")
	switch {
	case !found, strings.Contains(command, "##["), !strings.HasPrefix(command, "::"):
		return false
	case titled:
		return !strings.ContainsAny(title, ":,\r\n")
	}
	return slices.Contains([]string{"group", "endgroup", "warning"}, said)
}

func TestMask(t *testing.T) {
	c, printed, _ := jobbed(t)
	c.maskSecret("before the streams are a job's")
	flush := c.guardStreams()
	fmt.Fprint(c.Stdout, "begun")
	c.maskSecret("ghs_x")
	flush()
	if want := "begun\n::add-mask::ghs_x\n"; printed.String() != want {
		t.Errorf("got %q, want %q", printed.String(), want)
	}
}

func TestGuardPassesOn(t *testing.T) {
	for in, want := range map[string]string{
		"a: b::c\n":           "a: b::c\n",
		"::x::y\n":            ": :x::y\n",
		" \t\u2028::x::\n":    " \t\u2028: :x::\n",
		"a ##[group]b":        "a ## [group]b\n",
		"###[x]\n":            "### [x]\n",
		"a\r::x::y\n":         "a\r: :x::y\n",
		"\x1b[0m::x::\n":      "\x1b[0m::x::\n",
		"\ufeff::x::\n":       "\ufeff: :x::\n",
		"::\n":                ": :\n",
		"":                    "",
		"\n\n":                "\n\n",
		"{\"a\":\"##[b]\"}\n": "{\"a\":\"## [b]\"}\n",
	} {
		var out bytes.Buffer
		g := &outputGuard{w: &out}
		for _, b := range []byte(in) {
			if n, err := g.Write([]byte{b}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		g.Flush()
		if out.String() != want {
			t.Errorf("%q: got %q, want %q", in, out.String(), want)
		}
	}
	var out bytes.Buffer
	g := &outputGuard{w: &out}
	g.sendCommand(func(a *githubactions.Action) { a.Noticef("%s", "a\n##[b]::c::%") })
	if want := "::notice::a%0A## [b]::c::%25\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestFailOn(t *testing.T) {
	passed, unverified := strange(""), strange("")
	passed.look.Decision.Verdict, unverified.look.Decision.Verdict = quorum.Passed, quorum.Unverified
	for _, test := range []struct {
		words   string
		results []runResult
		code    int
	}{
		{"", []runResult{strange("")}, 0},
		{"blocked", []runResult{passed, strange("")}, 3},
		{"unverified", []runResult{strange("")}, 0},
		{"unverified", []runResult{strange(""), unverified}, 3},
		{" unverified, blocked", []runResult{passed}, 0},
		{"blocked,unverified", []runResult{unverified}, 3},
	} {
		var said bytes.Buffer
		if err := validateFailOn(test.words); err != nil {
			t.Fatal(err)
		}
		if code := (&command{Stderr: &said}).reportError(t.Context(), failOnError(test.words, test.results)); code != test.code || (code == 3) != strings.Contains(said.String(), "acme/shop#7 is ") {
			t.Errorf("%q: exit %d, says %q; want %d", test.words, code, said.String(), test.code)
		}
	}
	if err := validateFailOn("passed"); err == nil {
		t.Error("passed is accepted")
	}
}

func TestSummaryHasRoom(t *testing.T) {
	c, _, env := jobbed(t)
	var many []runResult
	for range 40 {
		long := strange("")
		long.look.Check.Summary = strings.Repeat("x", 60_000)
		many = append(many, long)
	}
	if err := c.writeSummary(many); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
	if err != nil || len(text) > 1<<20 || !strings.HasSuffix(string(text), "There is no room for 23 pull requests more.\n") {
		t.Errorf("%d bytes, %v: %s", len(text), err, text[max(0, len(text)-80):])
	}
	if err := c.writeSummary(many[:17]); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(env["GITHUB_STEP_SUMMARY"]); len(again) > 1<<20 {
		t.Errorf("%d bytes", len(again))
	}
}

func TestDecisionIsCut(t *testing.T) {
	all, err := stepOutputs(strange(strings.Repeat("y", 100_000)))
	if err != nil {
		t.Fatal(err)
	}
	if d := all[len(all)-1].value; !strings.Contains(d, `"cut": true`) || strings.Contains(d, `"findings":`) || !strings.Contains(d, `"objections": 1`) {
		t.Errorf("%d bytes: %.300s", len(d), d)
	}
}

func TestReruns(t *testing.T) {
	rec := quorum.Record{
		Intents: []quorum.Intent{
			{Kind: quorum.Rerun, Reviewer: "a", Run: 1, Attempt: 1}, {Kind: quorum.Rerun, Reviewer: "b", Run: 2, Attempt: 1}, {Kind: quorum.Ask, Reviewer: "c"}, {Kind: quorum.Cancel, Reviewer: "a", Run: 1},
		},
		Refusals: []quorum.Refusal{{Kind: quorum.Rerun, Reviewer: "b", Run: 2, Attempt: 1}},
	}
	if n := countReruns(rec); n != 1 {
		t.Errorf("got %d, want 1", n)
	}
}
