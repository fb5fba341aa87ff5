package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// titles are titles that would command a runner, or a terminal.
var titles = []string{"Fix the cart", "::error::owned", "a\n::set-output name=verdict::pass", "##[error]owned", "a ##[group]b", "\x1b[2Jgone", "\r::add-mask::x"}

// shop is a GitHub with an open pull request for each title, all of which sage approves.
func shop(t *testing.T, open []string) (*sandbox.GitHub, func(more map[string]string, args ...string) (code int, out, said string)) {
	t.Helper()
	return shopOf(t, sandbox.Options{}, open)
}

func shopOf(t *testing.T, as sandbox.Options, open []string) (*sandbox.GitHub, func(more map[string]string, args ...string) (code int, out, said string)) {
	t.Helper()
	g := sandbox.New(as)
	g.SetFile(".github/review-coordinator.yml", "", "version: 1\nquorum: 1\nsweep: {batch_delay: 0s}\nreviewers:\n  - {name: sage, author: \"sage[bot]\", verdict: review-state}\n")
	for i, title := range open {
		g.OpenPull(sandbox.PullSpec{Number: i + 1, Head: fmt.Sprintf("head of %d", i+1), Title: title})
		if _, err := g.Review(i+1, sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "Good."}); err != nil {
			t.Fatal(err)
		}
	}
	return g, commandOn(t, g)
}

// commandOn runs the program with a job's token on a GitHub.
func commandOn(t *testing.T, g *sandbox.GitHub) func(more map[string]string, args ...string) (code int, out, said string) {
	t.Helper()
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return func(more map[string]string, args ...string) (int, string, string) {
		env := map[string]string{"GITHUB_TOKEN": "ghs_x"}
		maps.Copy(env, more)
		return runAt(t, server.URL, env, args...)
	}
}

func wants(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
}

func TestSweepCommand(t *testing.T) {
	g, run := shop(t, titles[:3])
	code, out, said := run(nil, "sweep", "--dry-run")
	if code != 0 || said != "" || len(g.Heads()) != 0 {
		t.Errorf("a dry run: exit %d, %q, wrote on %v", code, said, g.Heads())
	}
	wants(t, out, "acme/shop: 3 open, 3 to look at (3 without a check)", "3 evaluated, 0 failed, 0 skipped")

	code, out, said = run(nil, "sweep", "--limit", "2")
	if code != 0 || said != "" {
		t.Errorf("exit %d: %s", code, said)
	}
	wants(t, out, "acme/shop#1 success: 1 of 1 approval (Fix the cart)\n", "stopped before acme/shop#3: the limit of 2 is reached\n", "\n2 evaluated, 0 failed, 1 skipped\n")

	g.Fault(sandbox.Fault{Match: "GET /repos/acme/shop/pulls/3/reviews", Status: 403, Body: `{"message":"Resource not accessible by integration"}`, Header: []string{"X-Accepted-GitHub-Permissions: pull_requests=read"}})
	code, out, said = run(nil, "sweep", "--repo", "acme/shop")
	if code != 1 || !strings.HasPrefix(said, "coordinator: 1 of ") {
		t.Errorf("exit %d: %s", code, said)
	}
	wants(t, out, "acme/shop#3 failed: ", "403 Resource not accessible by integration", "hint: ", "pull_requests", " 1 failed, 0 skipped\n")
}

// A schedule names no pull request, and neither does a person who types nothing.
func TestRunSweeps(t *testing.T) {
	for event, payload := range map[string]string{"schedule": `{"schedule":"7 * * * *"}`, "workflow_dispatch": `{"inputs":{"pr":"","head":""}}`} {
		g, run := shop(t, titles[:2])
		path := filepath.Join(t.TempDir(), "event.json")
		if err := os.WriteFile(path, []byte(payload), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, said := run(map[string]string{"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": path}, "run")
		if code != 0 || said != "" || len(g.Heads()) != 2 {
			t.Errorf("%s: exit %d, %q, wrote on %v", event, code, said, g.Heads())
		}
		wants(t, out, "all that are open in acme/shop are swept\n", "2 evaluated, 0 failed, 0 skipped\n")
	}
}

// In a job the lines are folded, failures stand below the fold, and no title is a command.
func TestSweepInAJob(t *testing.T) {
	g, run := shop(t, titles)
	g.Fault(sandbox.Fault{Match: "GET /repos/acme/shop/pulls/2/reviews", Status: 451, Body: `{"message":"::error::no\n##[error]no"}`})
	code, out, _ := run(map[string]string{"GITHUB_ACTIONS": "true"}, "sweep")
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	_, below, folded := strings.Cut(out, "::endgroup::\n")
	if !strings.HasPrefix(out, "::group::Sweep of acme/shop\n") || !folded || strings.Contains(below, "acme/shop#1 ") {
		t.Errorf("it is not folded:\n%s", out)
	}
	wants(t, below, "acme/shop#2 failed: ", "6 evaluated, 1 failed, 0 skipped\n")
	for line := range strings.FieldsFuncSeq(out, func(r rune) bool { return r == '\n' || r == '\r' }) {
		ours := line == "::group::Sweep of acme/shop" || line == "::endgroup::"
		if !ours && (strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "\x1b")) {
			t.Errorf("the runner would obey %q", line)
		}
	}
}

// Without GitHub's list there is nothing to sweep.
func TestSweepWithoutAList(t *testing.T) {
	g, run := shop(t, nil)
	code, out, _ := run(nil, "sweep")
	if code != 0 {
		t.Errorf("nothing is open: exit %d", code)
	}
	wants(t, out, "0 open, 0 to look at\n", "0 evaluated, 0 failed, 0 skipped\n")
	g.RemoveFile(".github/review-coordinator.yml", "")
	_, out, _ = run(nil, "sweep")
	wants(t, out, "there is no policy file (.github/review-coordinator.yml)")
	g.Fault(sandbox.Fault{Match: "POST /graphql", Status: 401, Body: `{"message":"Bad credentials"}`})
	code, _, said := run(nil, "sweep")
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	wants(t, said, "coordinator: list open pull requests of acme/shop: ", "401 Bad credentials\n", "hint: ")
}

// GitHub shows check runs to no personal token: then all are looked at, and nothing is written twice.
func TestSweepWithAPersonalToken(t *testing.T) {
	g, run := shopOf(t, sandbox.Options{Person: "carol"}, titles[:2])
	for range 2 {
		code, out, said := run(map[string]string{"GITHUB_TOKEN": "ghp_x"}, "sweep")
		if code != 0 || said != "" {
			t.Errorf("exit %d: %s", code, said)
		}
		wants(t, out, "2 evaluated, 0 failed, 0 skipped\n")
	}
	for n := 1; n <= 2; n++ {
		if all := g.Statuses(fmt.Sprintf("head of %d", n)); len(all) != 1 || all[0].State != "success" {
			t.Errorf("#%d has the statuses %+v", n, all)
		}
	}
}

// snippet is the block of docs/sweep.md in that language.
func snippet(t *testing.T, language string) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/sweep.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(doc), "```"+language+"\n")
	block, _, closed := strings.Cut(after, "```\n")
	if !found || !closed {
		t.Fatalf("docs/sweep.md has no block of %s", language)
	}
	return block
}

// The documents show what really is printed, and the defaults that really hold.
func TestSweepDocs(t *testing.T) {
	g, run := shop(t, []string{"Fix the cart", "Empty it once", "Sell more"})
	g.Fault(sandbox.Fault{Match: "GET /repos/acme/shop/pulls/3/files", Status: 451, Body: `{"message":"Repository access blocked"}`})
	command, shown, _ := strings.Cut(snippet(t, "console"), "\n")
	_, out, said := run(nil, strings.Fields(strings.TrimPrefix(command, "$ coordinator "))...)
	out = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d`).ReplaceAllString(out, "09:00:00")
	sorted := func(s string) string { // they are evaluated side by side
		lines := strings.SplitAfter(s, "\n")
		slices.Sort(lines)
		return strings.Join(lines, "")
	}
	if got := out + said; sorted(got) != sorted(shown) {
		t.Errorf("it prints\n%s\nand the documents show\n%s", got, shown)
	}

	policy := snippet(t, "yaml") + "reviewers:\n  - {name: sage, author: \"sage[bot]\"}\n"
	if _, err := config.Parse("docs/sweep.md", []byte(policy)); err != nil {
		t.Error(err)
	}
	if got, _ := config.ParseSweep("docs/sweep.md", []byte(policy)); got != config.Default().Sweep {
		t.Errorf("the documents show %+v, the defaults are %+v", got, config.Default().Sweep)
	}
}

// The bar in a terminal: it grows in place, and a failure stands above it.
func TestSweepBar(t *testing.T) {
	var out bytes.Buffer
	pr := func(n int) quorum.PR { return quorum.PR{Owner: "acme", Repo: "shop", Number: n} }
	p := &sweepProgress{w: &out, drawsBar: true, total: 2, titles: map[quorum.PR]string{pr(2): titles[5]}, now: func() time.Time { return time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC) }}
	p.printStart("acme/shop", github.Open{Count: 9, Due: []github.Due{{PR: pr(1), Why: github.Changed}, {PR: pr(2), Why: github.Undecided}}, File: quorum.PolicyFile{State: quorum.FileValid}})
	p.printEvaluated(loop.Swept{PR: pr(1), Look: loop.Look{Check: report.Check{Title: "1 of 1 approval", Conclusion: "success"}}, N: 1})
	p.printEvaluated(loop.Swept{PR: pr(2), Err: errors.New("oh\nno"), N: 2})
	p.printTally(loop.Tally{Evaluated: 1, Failed: 1})
	const clear = "\r\x1b[K"
	half, full := strings.Repeat("█", 15), strings.Repeat("█", 30)
	want := "09:00:00 acme/shop: 9 open, 2 to look at (1 changed, 1 undecided)\n" +
		clear + strings.Repeat("░", 30) + " 0/2" + clear + half + strings.Repeat("░", 15) + " 1/2" +
		clear + "09:00:00 acme/shop#2 failed: oh no ( [2Jgone)\n" + clear + full + " 2/2" + clear + "1 evaluated, 1 failed, 0 skipped\n"
	if out.String() != want {
		t.Errorf("it shows\n%q\nwant\n%q", out.String(), want)
	}
}

func TestSpent(t *testing.T) {
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		b    client.Budget
		want string
	}{
		{client.Budget{}, ""},
		{client.Budget{Left: 201, Limit: 1000, Reset: now.Add(time.Hour)}, ""},
		{client.Budget{Left: 200, Limit: 1000, Reset: now.Add(time.Hour)}, "20 % of the rate budget is left (200 of 1000 requests until 10:00 UTC)"},
		{client.Budget{Left: 0, Limit: 1000, Reset: now.Add(-time.Second)}, ""},
	} {
		if got := budgetSpent(test.b, now); got != test.want {
			t.Errorf("%+v: %q, want %q", test.b, got, test.want)
		}
	}
}
