package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// titles are titles that would command a runner, or a terminal.
var titles = []string{
	"Fix the cart",
	"::error::owned",
	"a\n::set-output name=verdict::pass",
	"##[error]owned",
	"a ##[group]b",
	"\x1b[2Jgone",
	"\r::add-mask::x",
}

// shop is a GitHub with an open pull request for each title, all of which sage approves.
func shop(t *testing.T, open []string) (*sandbox.GitHub, func(more map[string]string, args ...string) (code int, out, said string)) {
	t.Helper()
	return shopOf(t, sandbox.Options{}, open)
}

func shopOf(t *testing.T, as sandbox.Options, open []string) (*sandbox.GitHub, func(more map[string]string, args ...string) (code int, out, said string)) {
	t.Helper()
	g := sandbox.New(as)
	g.SetFile(
		".github/review-coordinator.yml",
		"",
		"version: 1\nquorum: 1\nsweep: {batch_delay: 0s}\nreviewers:\n  - {name: sage, author: \"sage[bot]\", verdict: review-state}\n",
	)
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
	return commandThrough(t, g, func(http.ResponseWriter) {})
}

// commandThrough is the same where the head of each answer is changed.
func commandThrough(
	t *testing.T, g *sandbox.GitHub, head func(http.ResponseWriter),
) func(more map[string]string, args ...string) (code int, out, said string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.ServeHTTP(&headWriter{w, head}, r)
	}))
	t.Cleanup(server.Close)
	return func(more map[string]string, args ...string) (int, string, string) {
		env := map[string]string{"GITHUB_TOKEN": "ghs_x"}
		maps.Copy(env, more)
		return runAt(t, server.URL, env, args...)
	}
}

// headWriter changes the head of an answer before it is written.
type headWriter struct {
	http.ResponseWriter
	change func(http.ResponseWriter)
}

func (w *headWriter) WriteHeader(status int) {
	w.change(w.ResponseWriter)
	w.ResponseWriter.WriteHeader(status)
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
	if code != 0 || said != "" || len(g.WrittenHeads()) != 0 {
		t.Errorf("a dry run: exit %d, %q, wrote on %v", code, said, g.WrittenHeads())
	}
	wants(t, out, "acme/shop: 3 open, 3 to look at (3 without a check)", "3 evaluated, 0 failed, 0 skipped")

	code, out, said = run(nil, "sweep", "--limit", "2")
	if code != 0 || said != "" {
		t.Errorf("exit %d: %s", code, said)
	}
	wants(
		t,
		out,
		"acme/shop#1 success: 1 of 1 approval (Fix the cart)\n",
		"stopped before acme/shop#3: the limit of 2 is reached\n",
		"\n2 evaluated, 0 failed, 1 skipped\n",
	)

	g.AddFault(
		sandbox.Fault{
			Match:  "GET /repos/acme/shop/pulls/3/reviews",
			Status: 403,
			Body:   `{"message":"Resource not accessible by integration"}`,
			Header: []string{"X-Accepted-GitHub-Permissions: pull_requests=read"},
		},
	)
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
		if code != 0 || said != "" || len(g.WrittenHeads()) != 2 {
			t.Errorf("%s: exit %d, %q, wrote on %v", event, code, said, g.WrittenHeads())
		}
		wants(t, out, "all that are open in acme/shop are swept\n", "2 evaluated, 0 failed, 0 skipped\n")
	}
}

// In a job the lines are folded, failures stand below the fold, and no title is a command.
func TestSweepInAJob(t *testing.T) {
	g, run := shop(t, titles)
	g.AddFault(sandbox.Fault{Match: "GET /repos/acme/shop/pulls/2/reviews", Status: 451, Body: `{"message":"::error::no\n##[error]no"}`})
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
	g.AddFault(sandbox.Fault{Match: "POST /graphql", Status: 401, Body: `{"message":"Bad credentials"}`})
	code, _, said := run(nil, "sweep")
	if code != 1 {
		t.Errorf("exit %d", code)
	}
	wants(t, said, "coordinator: list open pull requests of acme/shop: ", "401 Bad credentials\n", "hint: ")
}

// GitHub shows check runs to no personal token: then all are looked at, and nothing is written twice.
func TestSweepWithAPersonalToken(t *testing.T) {
	g, run := shopOf(t, sandbox.Options{TokenOwner: "carol"}, titles[:2])
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
	g.AddFault(sandbox.Fault{Match: "GET /repos/acme/shop/pulls/3/files", Status: 451, Body: `{"message":"Repository access blocked"}`})
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
	if got, _ := config.ParseSweep("docs/sweep.md", []byte(policy), nil); got != config.Default().Sweep {
		t.Errorf("the documents show %+v, the defaults are %+v", got, config.Default().Sweep)
	}
}

// A sweep leaves a fifth of the hour's requests to the repository's jobs.
func TestSweepLeavesRequests(t *testing.T) {
	later := time.Now().Add(time.Hour).Truncate(time.Minute).Add(30 * time.Second) // far from the next minute, which is shown
	for _, test := range []struct {
		left  int
		reset time.Time
		stops bool
	}{
		{201, later, false},
		{200, later, true},
		{0, time.Now().Add(-time.Minute), false}, // of an hour that is over
	} {
		g, _ := shop(t, titles[:2])
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			answer := httptest.NewRecorder()
			g.ServeHTTP(answer, req)
			maps.Copy(w.Header(), answer.Header())
			w.Header().Set("X-RateLimit-Limit", "1000")
			w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(test.left))
			w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(test.reset.Unix(), 10))
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes())
		}))
		defer server.Close()
		code, out, said := runAt(t, server.URL, map[string]string{"GITHUB_TOKEN": "ghs_x"}, "sweep")
		want, exit := "2 evaluated, 0 failed, 0 skipped\n", 0
		if test.stops {
			why := fmt.Sprintf("20 %% of the rate budget is left (200 of 1000 requests until %s)", later.UTC().Format("15:04 UTC"))
			want, exit = "stopped before acme/shop#1: "+why+"\n0 evaluated, 0 failed, 2 skipped\n", 1
			wants(t, said, "coordinator: 2 of 2 pull requests were not evaluated: "+why)
		}
		if code != exit || !strings.HasSuffix(out, want) {
			t.Errorf("with %d left: exit %d: %s%s, want %s", test.left, code, out, said, want)
		}
	}
}

// Where a sweep has several batches, each says which it is.
func TestSweepTellsItsBatches(t *testing.T) {
	g, sweep := shop(t, titles[:3])
	if code, out, said := sweep(nil, "sweep"); code != 0 || strings.Contains(out, "batch") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	g.SetFile(
		".github/review-coordinator.yml", "",
		"version: 1\nquorum: 1\nsweep: {batch_delay: 0s, batch_size: 2}\nreviewers:\n  - {name: sage, author: \"sage[bot]\", verdict: review-state}\n",
	)
	for n := range 3 {
		if err := g.Push(n+1, fmt.Sprintf("b%d", n), sandbox.PushSpec{}); err != nil {
			t.Fatal(err)
		}
	}
	code, out, said := sweep(nil, "sweep")
	if code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, said)
	}
	wants(t, out, "batch 1 of 2\n", "batch 2 of 2\n")
}
