//go:build !action

package main

// coordinator init on ten repositories, played to the check of the next pull request.

import (
	"cmp"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/sandbox/firstday"
)

// newClone is a clone of a repository, with files.
func newClone(t *testing.T, origin string, files map[string]string) string {
	t.Helper()
	dir := cloneOf(t, origin)
	for name, text := range files {
		writeTo(t, filepath.Join(dir, name), text)
	}
	return dir
}

// filesOf reads what init wrote.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{".github/*.y*ml*", ".github/workflows/*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[strings.TrimPrefix(file, dir+"/")] = string(text)
		}
	}
	return all
}

func TestInitToTheFirstCheck(t *testing.T) {
	const bell, job = ".github/workflows/review-bell.yml", ".github/workflows/review-coordinator.yml"
	for _, r := range firstday.Repositories() {
		t.Run(r.Name, func(t *testing.T) {
			g, err := r.New()
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(g)
			t.Cleanup(server.Close)
			api := server.URL
			if r.Server {
				api += "/api/v3"
			}
			dir := newClone(t, server.URL+"/acme/shop.git", r.There)
			t.Chdir(dir)
			env := map[string]string{"GITHUB_TOKEN": "ghs_x", "GITHUB_REPOSITORY": ""}
			code, out, said := runAt(t, api, env, "init")
			if len(r.There) > 0 { // it touches nothing, and is told to
				if code != 2 || !strings.Contains(said, "exist") || !maps.Equal(filesOf(t, dir), r.There) {
					t.Fatalf("exit %d: %s%s", code, out, said)
				}
				code, out, said = runAt(t, api, env, "init", "--force")
			}
			if code != 0 || len(g.UnknownRequests())+len(g.InvalidRequests()) > 0 {
				t.Fatalf("exit %d: %s%s%v", code, out, said, g.UnknownRequests())
			}
			wants(t, out, append([]string{"Next:", "coordinator config check ", "/acme/shop/settings/rules"}, r.Says...)...)
			files := filesOf(t, dir)
			policyPath := cmp.Or(r.Policy, ".github/review-coordinator.yml")
			if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, []string{policyPath, bell, job}) {
				t.Fatalf("wrote %q", got)
			}
			checkWritten(t, r, files[policyPath], files[job])
			if both := files[bell] + files[job]; strings.Contains(both, "event-driven.yml") || strings.Contains(both, " bell.yml") {
				t.Errorf("a comment names a file of the examples, which is not here:\n%s", both)
			}
			if code, out, said := runAt(t, api, env, "config", "check", policyPath); code != 0 {
				t.Fatalf("config check: exit %d: %s%s\n%s", code, out, said, files[policyPath])
			}
			lintWorkflows(t, dir)
			playNextPull(t, r, g, api, files)
		})
	}
}

// checkWritten holds the policy and the workflow to what the repository has.
func checkWritten(t *testing.T, r firstday.Repository, policy, workflow string) {
	t.Helper()
	if !strings.HasPrefix(policy, "# yaml-language-server: $schema="+config.SchemaAddress+"\n") {
		t.Errorf("the policy names no schema:\n%s", policy)
	}
	parsed, err := config.Parse("policy.yml", []byte(policy))
	if err != nil {
		t.Fatalf("%v\n%s", err, policy)
	}
	var votes []string
	for _, reviewer := range parsed.Reviewers {
		votes = append(votes, reviewer.Name)
	}
	if slices.Sort(votes); !slices.Equal(votes, r.Votes) {
		t.Errorf("%q vote, not %q:\n%s", votes, r.Votes, policy)
	}
	var file struct {
		On struct {
			Run struct{ Workflows []string } `yaml:"workflow_run"`
		}
	}
	if err := yaml.Unmarshal([]byte(workflow), &file); err != nil {
		t.Fatalf("%v\n%s", err, workflow)
	}
	slices.Sort(file.On.Run.Workflows)
	want := append([]string{"Review bell"}, r.Listens...)
	if slices.Sort(want); !slices.Equal(file.On.Run.Workflows, want) {
		t.Errorf("listens to %q, not %q", file.On.Run.Workflows, want)
	}
	if strings.Contains(workflow, "queue: max") == r.Server {
		t.Error("a GitHub Enterprise Server knows no queue, and github.com needs it")
	}
}

// lintWorkflows runs actionlint where it is there.
func lintWorkflows(t *testing.T, dir string) {
	t.Helper()
	lint, err := exec.LookPath("actionlint")
	if err != nil {
		return
	}
	args := []string{
		"-ignore", `unexpected key "queue" for "concurrency" section`, "-ignore", `constant expression "false" in condition`,
		filepath.Join(dir, ".github/workflows/review-bell.yml"), filepath.Join(dir, ".github/workflows/review-coordinator.yml"),
	}
	if said, err := exec.Command(lint, args...).CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, said)
	}
}

// playNextPull merges the files, and lets the next pull request be opened and reviewed.
func playNextPull(t *testing.T, r firstday.Repository, g *sandbox.GitHub, api string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		g.SetFile(name, "", text)
	}
	g.OpenPull(sandbox.PullSpec{Number: 100, Head: "the next"})
	ring := func(name, event string) sandbox.StoredCheckRun {
		payload := fmt.Sprintf(`{"action":"completed","workflow_run":{"id":77,"name":%q,"event":%q,"status":"completed","conclusion":"skipped",
			"run_attempt":1,"head_sha":%q,"head_branch":"feature-100","path":".github/workflows/x.yml","pull_requests":[{"number":100}]},
			"repository":{"full_name":"acme/shop"}}`, name, event, g.Head(100))
		env := jobFor(t, "workflow_run", payload)
		env["GITHUB_TOKEN"] = "ghs_x"
		code, out, said := runAt(t, api, env, "run", "--hold", "0s")
		own := g.OwnCheckRuns(g.Head(100))
		if code != 0 || len(own) != 1 {
			t.Fatalf("exit %d, %d checks: %s%s", code, len(own), out, said)
		}
		return own[0]
	}
	if check := ring("Review bell", "pull_request"); check.Name != "Review quorum" || check.Conclusion == "success" {
		t.Errorf("as it is opened: %s %q", check.Conclusion, check.Title)
	}
	if err := r.Review(g, 100); err != nil {
		t.Fatal(err)
	}
	check := ring("Review bell", "pull_request_review")
	if !strings.Contains(check.Title, r.Title) || (check.Conclusion == "success") != r.Passes {
		_, why, _ := runAt(t, api, map[string]string{"GITHUB_TOKEN": "ghs_x"}, "explain", "acme/shop#100")
		t.Errorf("reviewed: %s %q, not %q\n%s", check.Conclusion, check.Title, r.Title, why)
	}
}
