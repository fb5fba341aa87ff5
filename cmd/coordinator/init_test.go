//go:build !action

package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A repository with a workflow reviewer, one that never posted, an App, and a workflow that reviews nothing.
func reviewed(t *testing.T) (url string, g *sandbox.GitHub) {
	t.Helper()
	g = sandbox.New(sandbox.Options{})
	g.SetFile(".github/workflows/openai.yml", "", "on: pull_request\nenv: {OPENAI_API_KEY: x}\n")
	g.SetFile(".github/workflows/claude.yml", "", "on: pull_request\njobs: {a: {steps: [{uses: anthropics/claude-code-action@v1}]}}\n")
	g.SetFile(".github/workflows/ci.yml", "", "on: pull_request\n")
	for n, workflow := range map[int]string{1: "openai", 2: "claude", 3: "ci", 4: "gone"} {
		g.OpenPull(sandbox.PullSpec{Number: n, Head: "head of " + workflow})
		id, err := g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/" + workflow + ".yml", PR: n})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.StartJobs(id); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			if _, err := g.Comment(n, "github-actions[bot]", "## OpenAI review\n\nFine.\n\n**Ready to merge?** Yes"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := g.FinishRun(id, sandbox.Finish{Conclusion: "success"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Review(3, sandbox.ReviewSpec{By: "copilot-pull-request-reviewer[bot]", Body: "x"}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return server.URL, g
}

func TestConfigInit(t *testing.T) {
	url, g := reviewed(t)
	env := map[string]string{"GITHUB_TOKEN": "ghs_x"}
	code, out, said := runAt(t, url, env, "config", "init", "--repo", "acme/shop")
	if code != 0 || len(g.UnknownRequests()) > 0 || len(g.InvalidRequests()) > 0 {
		t.Fatalf("exit %d: %s%s%v%v", code, out, said, g.UnknownRequests(), g.InvalidRequests())
	}
	policy, err := config.Parse("policy.yml", []byte(out))
	if err != nil || len(policy.Reviewers) != 2 || policy.Reviewers[0].Name != "copilot" || policy.Reviewers[1].Heading != "## OpenAI review" {
		t.Errorf("%v: %+v\n%s", err, policy.Reviewers, out)
	}
	wants(t, out, "# Made by coordinator config init from what acme/shop showed", "  # - name: claude\n  #   preset: claude-action\n", "#3")
	wants(t, said, "reading workflows of acme/shop\n", "<stdout>:", "fill in: no text of it was seen", "found 2 voters; 2 approvals needed")
	for _, r := range g.Requests() {
		if r.Method != "GET" {
			t.Errorf("it wrote: %s %s", r.Method, r.Path)
		}
	}

	file := filepath.Join(t.TempDir(), ".github", "review-coordinator.yml")
	if code, stdout, said := runAt(t, url, env, "config", "init", "--write", file); code != 0 || stdout != "" {
		t.Errorf("exit %d: %s%s", code, stdout, said)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != out {
		t.Errorf("%v: %s", err, text)
	}
	g.ForgetRequests()
	if code, _, said := runAt(t, url, env, "config", "init", "--write", file); code != 2 || !strings.Contains(said, "exists\nhint: --force overwrites it") ||
		len(g.Requests()) > 0 {
		t.Errorf("exit %d after %d requests: %s", code, len(g.Requests()), said)
	}
	if code, _, said := runAt(t, url, env, "config", "init", "--write", file, "--force"); code != 0 {
		t.Errorf("exit %d: %s", code, said)
	}
	if code, out, said := runAt(t, url, env, "config", "check", file); code != 0 {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
}

func TestConfigInitFindsNothing(t *testing.T) {
	g := sandbox.New(sandbox.Options{})
	server := httptest.NewServer(g)
	defer server.Close()
	code, out, said := runAt(t, server.URL, map[string]string{"GITHUB_TOKEN": "ghs_x"}, "config", "init", "--repo", "acme/shop")
	if code != 0 {
		t.Errorf("exit %d: %s", code, said)
	}
	wants(t, out, "Nothing was recognised")
	wants(t, said, "fill in: no reviewer was recognised", "the file is no valid policy yet")
	if code, _, said := runAt(t, server.URL, map[string]string{"GITHUB_TOKEN": "ghs_x"}, "config", "init", "--repo", "acme/nowhere"); code != 1 ||
		!strings.Contains(said, "404") {
		t.Errorf("exit %d: %s", code, said)
	}
}
