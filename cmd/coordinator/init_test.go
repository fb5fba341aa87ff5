//go:build !action

package main

import (
	"net/http/httptest"
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

// A repository whose check a daemon posts gets a policy alone.
func TestInitOfThePolicyAlone(t *testing.T) {
	url, g := reviewed(t)
	env, dir := map[string]string{"GITHUB_TOKEN": "ghs_x"}, t.TempDir()
	code, out, said := runAt(t, url, env, "init", "--repo", "acme/shop", "--policy-only", "--dir", dir)
	if code != 0 || len(g.UnknownRequests()) > 0 || len(g.InvalidRequests()) > 0 {
		t.Fatalf("exit %d: %s%s%v%v", code, out, said, g.UnknownRequests(), g.InvalidRequests())
	}
	files := filesOf(t, dir)
	src := files[config.Paths()[0]]
	policy, err := config.Parse("policy.yml", []byte(src))
	if err != nil || len(files) != 1 || len(policy.Reviewers) != 2 || policy.Reviewers[0].Name != "copilot" ||
		policy.Reviewers[1].Heading != "## OpenAI review" {
		t.Errorf("%v: %d files, %+v\n%s", err, len(files), policy.Reviewers, src)
	}
	wants(t, src, "# Made by coordinator init from what acme/shop showed", "  # - name: claude\n  #   preset: claude-action\n", "#3")
	wants(t, said+out, "reading workflows of acme/shop\n", "fill in: no text of it was seen", "Commit what was written")
	wants(t, out, "Under this policy the check on the pull requests of acme/shop that changed last would say:\n\n  acme/shop#")
	if strings.Contains(out, "listens to") || strings.Contains(out, "40 digits") {
		t.Errorf("it speaks of workflows:\n%s", out)
	}
	for _, r := range g.Requests() {
		if r.Method != "GET" && r.Path != "/graphql" {
			t.Errorf("it wrote: %s %s", r.Method, r.Path)
		}
	}
	if code, _, said := runAt(t, url, env, "init", "--repo", "acme/nowhere", "--policy-only", "--dry-run"); code != 1 || !strings.Contains(said, "404") {
		t.Errorf("exit %d: %s", code, said)
	}
}
