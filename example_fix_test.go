package coordinator_test

// The example that mends a change, from the dispatch's inputs to the commit that is pushed: the scripts of its steps, in
// bash. The model and GitHub's API are servers of the test, and the push goes to a repository that git itself serves.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A fixYard is what an example that mends a change works with: a repository with one pull request's branch, a model, and
// an App.
type fixYard struct {
	url, bare, branch, head string
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v %s", args, err, said)
	}
	return strings.TrimSpace(string(said))
}

// newFixYard serves acme/shop, with the pull request's head on branch, and a model that answers.
func newFixYard(t *testing.T, branch, answer string) fixYard {
	t.Helper()
	dir := t.TempDir()
	y := fixYard{bare: filepath.Join(dir, "acme/shop.git"), branch: branch}
	work := filepath.Join(dir, "work")
	must(t, os.MkdirAll(filepath.Join(work, ".github/workflows"), 0o755))
	must(t, os.WriteFile(filepath.Join(work, ".github/workflows/ci.yml"), []byte("on: push\n"), 0o644))
	cmd := exec.Command("bash", "-c", twoCommits+"git add . && git commit -q -m ci && git rev-parse head")
	cmd.Dir = work
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	y.head = strings.TrimSpace(string(out))
	git(t, dir, "clone", "-q", "--bare", work, y.bare)
	git(t, y.bare, "update-ref", "refs/heads/"+branch, y.head)
	git(t, y.bare, "config", "http.receivepack", "true")
	git(t, y.bare, "config", "uploadpack.allowAnySHA1InWant", "true")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /repos/acme/shop/installation", func(w http.ResponseWriter, req *http.Request) { fmt.Fprint(w, `{"id": 99}`) })
	mux.HandleFunc("POST /app/installations/99/access_tokens", func(w http.ResponseWriter, req *http.Request) {
		if !strings.HasPrefix(req.Header.Get("Authorization"), "Bearer ey") {
			t.Errorf("a token is asked for by %q", req.Header.Get("Authorization"))
		}
		fmt.Fprintf(w, `{"token": %q}`, installed)
	})
	mux.HandleFunc("GET /repos/acme/shop/pulls/7", func(w http.ResponseWriter, req *http.Request) {
		must(t, json.NewEncoder(w).Encode(map[string]any{"head": map[string]any{"ref": y.branch, "sha": y.head}}))
	})
	mux.HandleFunc("POST /chat", func(w http.ResponseWriter, req *http.Request) { y.answerChat(t, w, req, answer) })
	backend := &cgi.Handler{
		Path: filepath.Join(git(t, dir, "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=app"},
	}
	mux.HandleFunc("/acme/shop.git/", func(w http.ResponseWriter, req *http.Request) {
		if _, key, _ := req.BasicAuth(); key != installed && strings.Contains(req.URL.RequestURI(), "git-receive-pack") {
			http.Error(w, "who are you?", http.StatusForbidden)
			return
		}
		backend.ServeHTTP(w, req)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	y.url = server.URL
	return y
}

// answerChat answers as a model does that is told what to mend and shown the files.
func (y fixYard) answerChat(t *testing.T, w http.ResponseWriter, req *http.Request, answer string) {
	var asked struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(req.Body).Decode(&asked); err != nil || len(asked.Messages) != 2 {
		t.Errorf("the model was asked %+v: %v", asked, err)
		return
	}
	said := asked.Messages[1].Content
	for _, holds := range []string{`"body": "$(touch \"$KEEP/pwned\")"`, "=== total.go\ntotal := 1\n"} {
		if !strings.Contains(said, holds) {
			t.Errorf("the model is not shown %s:\n%s", holds, said)
		}
	}
	for _, hides := range []string{"=== .github", "=== ../", "root:"} {
		if strings.Contains(said, hides) {
			t.Errorf("the model is shown %s:\n%s", hides, said)
		}
	}
	if key := req.Header.Get("Authorization"); key != "Bearer "+canary {
		t.Errorf("the model was asked with %q", key)
	}
	must(t, json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]string{"content": answer}}},
	}))
}

// shownFindings are the findings of a dispatch, with paths that are no file of the change.
const shownFindings = `{"findings": [{"path": "total.go", "line": 1, "state": "new", "said": [{"reviewer": "gemini", "body": "$(touch \"$KEEP/pwned\")"}]},
	{"path": ".github/workflows/ci.yml"}, {"path": "../../../etc/passwd"}, {"path": "/etc/passwd"}, {"state": "new"}], "total": 5, "more": "x"}`

const (
	mended    = "diff --git a/total.go b/total.go\n--- a/total.go\n+++ b/total.go\n@@ -1 +1 @@\n-total := 1\n+total := 3\n"
	added     = "diff --git a/sum.go b/sum.go\nnew file mode 100644\n--- /dev/null\n+++ b/sum.go\n@@ -0,0 +1 @@\n+sum := 0\n"
	otherFlow = "diff --git a/.github/workflows/ci.yml b/.github/workflows/ci.yml\n--- a/.github/workflows/ci.yml\n" +
		"+++ b/.github/workflows/ci.yml\n@@ -1 +1 @@\n-on: push\n+on: pull_request_target\n"
)

// runSteps runs the scripts of the example's steps, one after the other, as a runner does that has checked the head out.
func (y fixYard) runSteps(t *testing.T, keep string) (failed, said string) {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "clone", "-q", y.bare, "work")
	work := filepath.Join(dir, "work")
	git(t, work, "checkout", "-q", y.head)
	values := map[string]string{
		"vars.MODEL_URL": y.url + "/chat", "vars.MODEL_NAME": "sage-1", "secrets.MODEL_KEY": canary,
		"vars.FIX_APP_ID": "4711", "secrets.FIX_APP_PRIVATE_KEY": newKey(t), "github.repository": "acme/shop",
		"github.api_url": y.url, "github.server_url": y.url,
		"inputs.pr": "7", "inputs.head": y.head, "inputs.findings": shownFindings,
	}
	var w workflow
	readYAML(t, "examples/fix.yml", &w)
	steps := w.Jobs["fix"].Steps
	if len(steps) != 4 || !strings.HasPrefix(steps[0].Uses, "actions/checkout@") {
		t.Fatalf("its steps are %+v", steps)
	}
	for _, step := range steps[1:] {
		cmd := exec.Command("bash", "-e", "-c", step.Run)
		cmd.Dir = work
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "RUNNER_TEMP=" + dir, "KEEP=" + keep, "GIT_CONFIG_NOSYSTEM=1"}
		for name, text := range step.Env {
			if expression, isOne := strings.CutPrefix(text, "${{ "); isOne {
				value, known := values[strings.TrimSuffix(expression, " }}")]
				if !known {
					t.Fatalf("%s is %s", name, text)
				}
				text = value
			}
			cmd.Env = append(cmd.Env, name+"="+text)
		}
		out, err := cmd.CombinedOutput()
		said += string(out)
		if err != nil {
			return step.Name, said
		}
	}
	return "", said
}

// TestFixExample: the example pushes what its model answered, as the App and onto the head alone, and nothing else of it.
func TestFixExample(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its steps are for Linux")
	}
	for _, program := range []string{"bash", "curl", "git", "jq", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s here", program)
		}
	}
	for name, c := range map[string]struct {
		answer string
		moved  bool     // somebody pushed meanwhile
		want   []string // files of the commit; nil: nothing is pushed
		fails  string   // the step
	}{
		"mends a file":                     {mended, false, []string{"total.go"}, ""},
		"adds a file":                      {mended + added, false, []string{"sum.go", "total.go"}, ""},
		"changes a workflow":               {mended + otherFlow, false, []string{"total.go"}, ""},
		"changes nothing but a workflow":   {otherFlow, false, nil, "Push as the App"},
		"says more than a diff":            {"touch \"$KEEP/pwned\"; $(touch \"$KEEP/pwned\")", false, nil, "Apply it"},
		"another commit was pushed before": {mended, true, nil, "Push as the App"},
	} {
		t.Run(name, func(t *testing.T) {
			y := newFixYard(t, "feature-`id`$(id)", c.answer)
			before, keep := y.head, t.TempDir()
			if c.moved {
				before = git(t, y.bare, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit-tree", "-p", y.head, "-m", "more", y.head+"^{tree}")
				git(t, y.bare, "update-ref", "refs/heads/"+y.branch, before)
			}
			failed, said := y.runSteps(t, keep)
			if failed != c.fails {
				t.Errorf("the step %q failed, want %q\n%s", failed, c.fails, said)
			}
			if _, pwned := os.Stat(filepath.Join(keep, "pwned")); pwned == nil {
				t.Error("what a reviewer or the model said was run")
			}
			for _, secret := range []string{canary, installed, "PRIVATE KEY"} {
				if strings.Contains(said, secret) {
					t.Errorf("%s was printed", secret)
				}
			}
			after := git(t, y.bare, "rev-parse", "refs/heads/"+y.branch)
			if c.want == nil {
				if after != before {
					t.Errorf("%s was pushed\n%s", after, said)
				}
				return
			}
			files := strings.Fields(git(t, y.bare, "diff-tree", "-r", "--name-only", y.head, after))
			if parent := git(t, y.bare, "rev-parse", after+"^"); parent != y.head || !slices.Equal(files, c.want) {
				t.Errorf("the commit on %s changes %q\n%s", parent, files, said)
			}
		})
	}
}
