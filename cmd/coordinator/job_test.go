package main

import (
	"bytes"
	"encoding/json"
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

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A namedValue is an output of a step, or a reviewer with its answer.
type namedValue struct{ name, value string }

// runnerOutputs reads a GITHUB_OUTPUT as the runner does: line by line; NAME=VALUE or NAME<<DELIMITER, whichever sign
// comes first. On Windows a line also ends with CR LF.
func runnerOutputs(file string, windows bool) (got []namedValue, err error) {
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
			got = append(got, namedValue{name, strings.Join(value, "\n")})
		case equals >= 0:
			got = append(got, namedValue{line[:equals], line[equals+1:]})
		default:
			return got, fmt.Errorf("%q is no output", line)
		}
	}
	return got, nil
}

// runnerCommands finds the commands in what a step prints, as the runner does: a line ends at CR or LF; a command
// begins with "::" after white space, or with "##[" anywhere.
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
		"\n", "\r", "\r\n", "\x00", "\x85", "\u00a0", "\u2028", "\ufeff", " ", "\t", "::", ":", "##[", "#", "[", "]",
		"%0A", "%0D", "%25", "=", "<<", "EOF", "ghadelimiter_", "_GitHubActionsFileCommandDelimeter_",
		"verdict=passed", "verdict<<X\npassed\nX\n", "::set-output name=verdict::passed",
		"\n::set-output name=verdict::passed\n", "##[set-output name=verdict]passed", "::add-mask::a",
		"::stop-commands::x", "::error::",
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
			PR: pr, Head: "3f2c1d9", Base: text, Verdict: quorum.Blocked, Reason: quorum.ReasonTally, Need: 2,
			Approvals: 1, Objections: 1, Unavailable: 1, Wake: time.Unix(1_800_000_100, 0),
			Lane: quorum.LaneChoice{Name: "docs" + text, Why: text}, NeedPeople: 1, People: []quorum.StandIn{{Login: "dave" + text}},
			Ballots: []quorum.Ballot{
				{
					Reviewer: "openai" + text,
					Vote:     quorum.Object,
					Outcome:  quorum.Findings,
					Reason:   quorum.ReasonFindings,
					Detail:   text,
					Findings: []quorum.Finding{{Path: text, Body: text, URL: text}},
					Answers:  []string{text},
				},
				{Reviewer: "gemini" + text, Vote: quorum.Unavailable, Outcome: quorum.Overloaded, Reason: quorum.ReasonOverloaded, Detail: text},
			},
			StandIns: []quorum.StandIn{{Login: text, URL: text}},
		},
		Check: report.Check{Name: "Review quorum" + text, Title: "Changes requested" + text, Summary: text, Status: "completed", Conclusion: "failure"},
	}}
}

// jobbed is a command in a job whose files are in a folder of their own.
func jobbed(t testing.TB) (c *command, printed *bytes.Buffer, env map[string]string) {
	printed, env = &bytes.Buffer{}, jobFiles(t)
	return &command{Stdout: printed, Stderr: printed, Getenv: func(name string) string { return env[name] }}, printed, env
}

// jobFiles is the environment of a job whose files are in a folder of their own.
func jobFiles(t testing.TB) map[string]string {
	dir := t.TempDir()
	output, summary := filepath.Join(dir, "output"), filepath.Join(dir, "summary")
	return map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": output, "GITHUB_STEP_SUMMARY": summary}
}

// about adds an event to a job's environment: another App's check has ended, on these pull requests.
func about(t *testing.T, env map[string]string, pulls ...int) map[string]string {
	t.Helper()
	type pull struct {
		Number int `json:"number"`
	}
	named := make([]pull, 0, len(pulls))
	for _, n := range pulls {
		named = append(named, pull{n})
	}
	payload, err := json.Marshal(map[string]any{
		"action": "completed", "repository": map[string]any{"full_name": "acme/shop"},
		"check_run": map[string]any{"name": "build", "head_sha": strings.Repeat("a", 40), "app": map[string]any{"slug": "builder"}, "pull_requests": named},
	})
	if err != nil {
		t.Fatal(err)
	}
	env["GITHUB_EVENT_NAME"], env["GITHUB_EVENT_PATH"] = "check_run", filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(env["GITHUB_EVENT_PATH"], payload, 0o600); err != nil {
		t.Fatal(err)
	}
	return env
}

// The pull requests of decidedShop.
const (
	passedPull     = 1 + iota // sage and rose approve, gemini is down
	blockedPull               // sage objects, rose approves, gemini is down
	unverifiedPull            // sage approves, rose and gemini are down
)

// decidedShop is a GitHub with a decided pull request of each verdict; two of three reviewers must approve.
func decidedShop(t *testing.T) (*sandbox.GitHub, func(more map[string]string, args ...string) (code int, out, said string)) {
	t.Helper()
	g := sandbox.New(sandbox.Options{})
	g.SetFile(".github/review-coordinator.yml", "", `version: 1
quorum: 2
retry: {max: 0}
reviewers:
  - {name: sage, author: "sage[bot]", verdict: review-state}
  - {name: rose, workflow: .github/workflows/rose.yml, heading: "## rose"}
  - {name: gemini, workflow: .github/workflows/gemini.yml, heading: "## gemini"}
`)
	const yes, down = "\n\nRead.\n\n**Ready to merge?** Yes", "\n\nGemini API Error (HTTP 503): Service Unavailable"
	for number := passedPull; number <= unverifiedPull; number++ {
		rose := yes
		if number == unverifiedPull {
			rose = down
		}
		g.OpenPull(sandbox.PullSpec{Number: number, Head: fmt.Sprintf("head of %d", number)})
		state := "APPROVED"
		if number == blockedPull {
			state = "CHANGES_REQUESTED"
		}
		if _, err := g.Review(number, sandbox.ReviewSpec{By: "sage[bot]", State: state, Body: "I have read it."}); err != nil {
			t.Fatal(err)
		}
		for _, r := range []namedValue{{"rose", rose}, {"gemini", down}} {
			run, err := g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/" + r.name + ".yml", Name: r.name, PR: number, Jobs: []string{"review"}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.Comment(number, "github-actions[bot]", "## "+r.name+r.value); err != nil {
				t.Fatal(err)
			}
			if _, err := g.FinishRun(run, sandbox.Finish{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return g, commandOn(t, g)
}

func TestOutputs(t *testing.T) {
	g, run := decidedShop(t)
	env := jobFiles(t)
	if err := os.WriteFile(env["GITHUB_OUTPUT"], []byte("earlier=1"), 0o600); err != nil { // of the same step, without a line break
		t.Fatal(err)
	}
	code, printed, said := run(about(t, env, passedPull, blockedPull), "run", "--hold", "0s")
	if code != 0 || said != "" {
		t.Fatalf("exit %d: %s%s", code, printed, said)
	}
	file, err := os.ReadFile(env["GITHUB_OUTPUT"])
	if err != nil {
		t.Fatal(err)
	}
	got, err := runnerOutputs(string(file), false)
	if err != nil {
		t.Fatal(err)
	}
	check := g.OwnCheckRuns(g.Head(blockedPull))[0]
	want := []namedValue{ // of the worse of the two
		{"earlier", "1"},
		{"verdict", "blocked"},
		{"conclusion", "failure"},
		{"approvals", "1"},
		{"need", "2"},
		{"unavailable", "gemini"},
		{"reruns", "0"},
		{"check-run-id", fmt.Sprint(check.ID)},
	}
	if len(got) != len(want)+6 || !slices.Equal(got[:len(want)], want) {
		t.Fatalf("got %q, want %q, an address, a time, lane and people, and the decision", got, want)
	}
	if url := got[8]; url.name != "check-url" || !strings.HasSuffix(url.value, fmt.Sprintf("/runs/%d", check.ID)) {
		t.Errorf("got %q", url)
	}
	if got[13].name != "decision" {
		t.Errorf("got %q", got[13])
	}
	wants(t, got[13].value, `"pull_request": "acme/shop#2"`, `"verdict": "blocked"`)
	summary, err := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
	if err != nil || !strings.Contains(string(summary), "acme/shop#1") || !strings.Contains(string(summary), "acme/shop#2") {
		t.Errorf("the summary is %q, %v", summary, err)
	}
	commands := runnerCommands(printed)
	skipped := strings.Contains(strings.Join(commands, " "), "gemini: its service was overloaded") // of both, as they happened
	if len(commands) != 7 || !skipped || !strings.HasPrefix(commands[6], "::warning title=Review quorum%3A acme/shop#2::Changes requested by sage") {
		t.Errorf("got %q", commands)
	}
}

// Beside an error no verdict is written: a job that goes on would read half of the truth.
func TestNoOutputsBesideAnError(t *testing.T) {
	for name, test := range map[string]struct {
		code      int
		evaluated []int
	}{
		"nothing is evaluated":   {0, nil},
		"an error":               {1, []int{passedPull}},
		"an error and a verdict": {1, []int{blockedPull, passedPull}},
	} {
		g, run := decidedShop(t)
		g.AddFault(sandbox.Fault{Match: fmt.Sprintf("GET /repos/acme/shop/pulls/%d/reviews", passedPull), Status: 451})
		env := jobFiles(t)
		code, out, said := run(about(t, env, test.evaluated...), "run", "--hold", "0s")
		if code != test.code {
			t.Errorf("%s: exit %d: %s%s", name, code, out, said)
		}
		if file, err := os.ReadFile(env["GITHUB_OUTPUT"]); err == nil {
			t.Errorf("%s: %s", name, file)
		}
		summary, _ := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
		if told := strings.Contains(string(summary), "acme/shop#2"); told != slices.Contains(test.evaluated, blockedPull) {
			t.Errorf("%s: the summary is %q", name, summary)
		}
	}
}

// A few by default, so that go test stays quick; -hostile=100000 is what CI asks for.
var forgeries = flag.Int("hostile", 3000, "how many hostile strings TestHostileTextsInAJob tries")

// 0 of 100,000 hostile strings change an output or start a workflow command.
func TestHostileTextsInAJob(t *testing.T) {
	many := *forgeries
	r := mathrand.New(mathrand.NewPCG(20261121, 7))
	forged := 0
	c, printed, env := jobbed(t)
	for i := range many {
		words := forgery(r)
		printed.Reset()
		for _, file := range []string{env["GITHUB_OUTPUT"], env["GITHUB_STEP_SUMMARY"]} {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		job := &command{Stdout: printed, Stderr: printed, Getenv: c.Getenv}
		flush := job.guardStreams()
		cut := 0
		if len(words) > 0 {
			cut = r.IntN(len(words))
		}
		fmt.Fprint(job.Stdout, words[:cut]) // in two writes, in the middle of anything
		fmt.Fprint(job.Stdout, words[cut:])
		if err := job.reportResults([]runResult{strange(words)}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(job.Stderr, "coordinator: %s\n", words)
		flush()

		file, err := os.ReadFile(env["GITHUB_OUTPUT"])
		if err != nil {
			t.Fatal(err)
		}
		windows := i%2 == 0
		got, err := runnerOutputs(string(file), windows)
		if err != nil || !meant(got, words, windows) {
			forged++
			t.Errorf("%q: %v\n got %q", words, err, got)
		}
		ours := 0
		for _, command := range runnerCommands(printed.String()) {
			if !own(command) {
				forged++
				t.Errorf("%q starts %q", words, command)
			}
			ours++
		}
		if ours != 3 {
			t.Fatalf("%q: %d commands of ours: %q", words, ours, printed.String())
		}
	}
	t.Logf("%d of %d hostile strings changed an output or started a command", forged, many)
}

// meant reports whether outputs are those of a result in which every text is words.
func meant(got []namedValue, words string, windows bool) bool {
	words = strings.ReplaceAll(strings.ToValidUTF8(words, "\uFFFD"), "\x00", "\uFFFD")
	want := []namedValue{
		{"verdict", "blocked"},
		{"conclusion", "failure"},
		{"approvals", "1"},
		{"need", "2"},
		{"unavailable", "gemini" + words},
		{"reruns", "0"},
		{"check-run-id", "11"},
		{"check-url", "https://github.com/acme/shop/runs/11" + words},
		{"next-check-at", "2027-01-15T08:01:40Z"},
		{"lane", "docs" + words},
		{"need-people", "1"},
		{"people", "dave" + words},
	}
	if windows { // there a line break is what it is
		for i := range want {
			want[i].value = strings.TrimSuffix(strings.ReplaceAll(want[i].value, "\r\n", "\n"), "\r")
		}
	}
	if len(got) != len(want)+1 || !slices.Equal(got[:len(want)], want) || got[len(want)].name != "decision" {
		return false
	}
	var decision struct {
		PullRequest string `json:"pull_request"`
		Verdict     string `json:"verdict"`
	}
	err := json.Unmarshal([]byte(got[len(want)].value), &decision)
	return err == nil && decision.PullRequest == "acme/shop#7" && decision.Verdict == "blocked"
}

// own reports whether a command is one that the program means: by its name and its properties, which end at the next
// "::".
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
		c, printed, _ := jobbed(t)
		flush := c.guardStreams()
		for _, b := range []byte(in) {
			if n, err := c.Stdout.Write([]byte{b}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		flush()
		if printed.String() != want {
			t.Errorf("%q: got %q, want %q", in, printed.String(), want)
		}
	}
	// What a command of ours says stays on its line.
	c, printed, _ := jobbed(t)
	flush := c.guardStreams()
	c.maskSecret("a\n##[b]::c::%")
	flush()
	if want := "::add-mask::a%0A## [b]::c::%25\n"; printed.String() != want {
		t.Errorf("got %q, want %q", printed.String(), want)
	}
}

func TestFailOn(t *testing.T) {
	_, run := decidedShop(t)
	for _, test := range []struct {
		words string
		pulls []int
		fails int // the pull request that is named with exit code 3; 0: none
	}{
		{"", []int{blockedPull}, 0},
		{"blocked", []int{passedPull, blockedPull}, blockedPull},
		{"unverified", []int{blockedPull}, 0},
		{"unverified", []int{blockedPull, unverifiedPull}, unverifiedPull},
		{" unverified, blocked", []int{passedPull}, 0},
		{"blocked,unverified", []int{unverifiedPull}, unverifiedPull},
	} {
		code, _, said := run(about(t, map[string]string{}, test.pulls...), "run", "--hold", "0s", "--fail-on", test.words)
		want, line := 0, ""
		if test.fails != 0 {
			want, line = 3, fmt.Sprintf("coordinator: acme/shop#%d is ", test.fails)
		}
		if code != want || !strings.HasPrefix(said, line) {
			t.Errorf("%q: exit %d, says %q; want %d, %q", test.words, code, said, want, line)
		}
	}
	if code, _, said := run(nil, "run", "--pr", "1", "--fail-on", "passed"); code != 2 {
		t.Errorf("passed is accepted: exit %d: %s", code, said)
	}
}

// GitHub shows nothing of a summary that is longer than 1 MiB, whoever wrote how much of it.
func TestSummaryHasRoom(t *testing.T) {
	const limit = 1 << 20
	_, run := decidedShop(t)
	env := about(t, jobFiles(t), passedPull, blockedPull, unverifiedPull)
	summaryAfter := func(earlier int) string {
		if err := os.WriteFile(env["GITHUB_STEP_SUMMARY"], bytes.Repeat([]byte("x\n"), earlier/2), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, said := run(env, "run", "--hold", "0s"); code != 0 {
			t.Fatalf("exit %d: %s%s", code, out, said)
		}
		text, err := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimPrefix(string(text[earlier:]), "\n")
	}
	whole := summaryAfter(0)
	worst, _, found := strings.Cut(whole, "## `acme/shop#3`")
	if !found || len(whole) > limit/2 {
		t.Fatalf("%d bytes: %s", len(whole), whole)
	}
	const rest = "There is no room for 2 pull requests more.\n"
	earlier := (limit - len(worst) - len(rest) - 4) &^ 1
	got := summaryAfter(earlier)
	whose := strings.HasPrefix(got, "## `acme/shop#2`") && !strings.Contains(got, "acme/shop#3")
	if !whose || !strings.HasSuffix(got, rest) || earlier+len(got) >= limit {
		t.Errorf("beside %d bytes it writes %d: %s", earlier, len(got), got)
	}
	if got := summaryAfter(limit - 10); got != "" {
		t.Errorf("where there is no room at all it writes %q", got)
	}
}

// outputOf is an output of a result.
func outputOf(t *testing.T, r runResult, name string) string {
	t.Helper()
	c, _, env := jobbed(t)
	if err := c.reportResults([]runResult{r}); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(env["GITHUB_OUTPUT"])
	if err != nil {
		t.Fatal(err)
	}
	all, err := runnerOutputs(string(file), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if o.name == name {
			return o.value
		}
	}
	t.Fatalf("there is no %s: %q", name, all)
	return ""
}

func TestDecisionIsCut(t *testing.T) {
	d := outputOf(t, strange(strings.Repeat("y", 100_000)), "decision")
	if !strings.Contains(d, `"cut": true`) || strings.Contains(d, `"findings":`) || !strings.Contains(d, `"objections": 1`) {
		t.Errorf("%d bytes: %.300s", len(d), d)
	}
}

func TestReruns(t *testing.T) {
	r := strange("")
	r.look.Snapshot.Record = quorum.Record{
		Intents: []quorum.Intent{
			{Kind: quorum.Rerun, Reviewer: "a", Run: 1, Attempt: 1},
			{Kind: quorum.Rerun, Reviewer: "b", Run: 2, Attempt: 1},
			{Kind: quorum.Ask, Reviewer: "c"},
			{Kind: quorum.Cancel, Reviewer: "a", Run: 1},
		},
		Refusals: []quorum.Refusal{{Kind: quorum.Rerun, Reviewer: "b", Run: 2, Attempt: 1}},
	}
	if n := outputOf(t, r, "reruns"); n != "1" {
		t.Errorf("got %s, want 1", n)
	}
}
