//go:build !action

package main

// Where coordinator init writes: the right clone or none, all files or none, or a pull request.

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// Somebody who may push has put a branch of that name there, with a workflow of his own beside the three files: no pull
// request is opened of it under our title, and nothing says that it adds three files.
func TestInitProposesNoStrangersBranch(t *testing.T) {
	g := sandbox.New(sandbox.Options{TokenOwner: "alice"})
	if _, err := g.Review(g.OpenPull(sandbox.PullSpec{}), sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED"}); err != nil {
		t.Fatal(err)
	}
	evil := map[string]any{"path": ".github/workflows/evil.yml", "mode": "100644", "type": "blob", "content": "on: push"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/git/trees") && evil != nil {
			var in map[string]any
			if err := json.NewDecoder(req.Body).Decode(&in); err != nil {
				t.Error(err)
			}
			in["tree"], evil = append(in["tree"].([]any), evil), nil
			text, err := json.Marshal(in)
			if err != nil {
				t.Error(err)
			}
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		}
		g.ServeHTTP(w, req)
	}))
	defer server.Close()
	t.Chdir(t.TempDir())
	g.AddFault(sandbox.Fault{Match: "POST /repos/acme/shop/pulls", Status: 403, Times: 1}) // so that the branch alone is there
	env := map[string]string{"GITHUB_TOKEN": "ghp_x"}
	if code, _, said := runAt(t, server.URL, env, "init", "--pull-request"); code != 1 || evil != nil {
		t.Fatalf("exit %d: %s", code, said)
	}
	code, out, said := runAt(t, server.URL, env, "init", "--pull-request")
	if code != 2 || strings.Contains(out, "opened") ||
		!strings.Contains(said, "review-coordinator/init: the branch is there and holds something else\nhint: look at it, and delete it") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
}

func TestInitProposes(t *testing.T) {
	g := sandbox.New(sandbox.Options{TokenOwner: "alice"})
	if _, err := g.Review(g.OpenPull(sandbox.PullSpec{}), sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "@team `x`"}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(g)
	defer server.Close()
	t.Chdir(t.TempDir()) // no clone is needed
	env := map[string]string{"GITHUB_TOKEN": "ghp_x"}
	for _, test := range []struct {
		fault      sandbox.Fault
		said, hint string
	}{
		{sandbox.Fault{Match: "POST /repos/acme/shop/git/trees", Status: 404, Times: 1}, "write the files: ", "workflows: write"},
		{sandbox.Fault{Match: "POST /repos/acme/shop/git/trees", Status: 403, Times: 1}, "write the files: ", "gh auth refresh -s workflow"},
		{sandbox.Fault{
			Match: "POST /repos/acme/shop/pulls", Status: 403, Times: 1,
			Body: `{"message":"GitHub Actions is not permitted to create or approve pull requests."}`,
		}, "open the pull request of the branch review-coordinator/init, which is there", "Settings, Actions, General"},
	} {
		g.AddFault(test.fault)
		if code, out, said := runAt(t, server.URL, env, "init", "--pull-request"); code != 1 || out != "" ||
			!strings.Contains(said, test.said) || !strings.Contains(said, test.hint) {
			t.Errorf("exit %d: %s%s", code, out, said)
		}
	}
	// The branch is there with all its files, so that the next try opens its pull request.
	code, out, said := runAt(t, server.URL, env, "init", "--pull-request")
	if code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, said)
	}
	wants(t, out, "review-coordinator/init was there already", "opened acme/shop#2: ", "Merge it into main")
	code, again, said := runAt(t, server.URL, env, "init", "--pull-request")
	if code != 0 {
		t.Errorf("exit %d: %s%s", code, again, said)
	}
	wants(t, again, "acme/shop#2 is open already: https://", "alice opened it: read its files before you merge it\n")
	if err := g.Merge(2, "alice"); err != nil {
		t.Fatal(err)
	}
	code, out, said = runAt(t, server.URL, env, "init", "--pull-request")
	if code != 2 || !strings.Contains(said, "on main .github/review-coordinator.yml, "+
		".github/workflows/review-bell.yml and .github/workflows/review-coordinator.yml exist\n") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	if code, out, said = runAt(t, server.URL, env, "init", "--dry-run"); code != 0 || !strings.HasPrefix(out, "# --- .github/review-coordinator.yml\n# yaml-") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	if len(g.UnknownRequests()) > 0 {
		t.Error(g.UnknownRequests())
	}
}

// A policy alone is proposed beside whatever workflows are there, and not over another policy.
func TestInitProposesAPolicyAlone(t *testing.T) {
	g := sandbox.New(sandbox.Options{TokenOwner: "alice"})
	g.SetFile(".github/workflows/review-bell.yml", "", "on: pull_request\n")
	server := httptest.NewServer(g)
	defer server.Close()
	t.Chdir(t.TempDir())
	env := map[string]string{"GITHUB_TOKEN": "ghp_x"}
	code, out, said := runAt(t, server.URL, env, "init", "--repo", "acme/shop", "--pull-request", "--policy-only")
	if code != 0 || strings.Contains(out, "review-bell") || strings.Contains(out, "listens to") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	wants(t, out, "proposed .github/review-coordinator.yml: ", "opened acme/shop#1: ")
	if err := g.Merge(1, "alice"); err != nil {
		t.Fatal(err)
	}
	code, out, said = runAt(t, server.URL, env, "init", "--repo", "acme/shop", "--pull-request", "--policy-only")
	if code != 2 || !strings.Contains(said, "on main .github/review-coordinator.yml exists\n") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
}

// What strangers named is quoted in the pull request's text.
func TestInitProposalIsQuoted(t *testing.T) {
	g := sandbox.New(sandbox.Options{TokenOwner: "alice"})
	const file = ".github/workflows/`acme` <img src=x>.yml"
	g.SetFile(file, "", "on: pull_request\nenv: {OPENAI_API_KEY: x}\n")
	g.OpenPull(sandbox.PullSpec{})
	if _, err := g.StartRun(sandbox.RunSpec{Workflow: file, Name: "`[x](https://evil.example)` | @acme\n# H", PR: 1}); err != nil {
		t.Fatal(err)
	}
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/pulls") {
			text, err := io.ReadAll(req.Body)
			var in struct{ Body string }
			if err = errors.Join(err, json.Unmarshal(text, &in)); err != nil {
				t.Error(err)
			}
			body, req.Body = in.Body, io.NopCloser(bytes.NewReader(text))
		}
		g.ServeHTTP(w, req)
	}))
	defer server.Close()
	if code, _, said := runAt(t, server.URL, map[string]string{"GITHUB_TOKEN": "ghp_x"}, "init", "--pull-request"); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	wants(t, body, "evil.example", "<img")
	for line := range strings.Lines(body) {
		if hostile := strings.Contains(line, "evil") || strings.Contains(line, "<img"); hostile && strings.Count(line, "``") != 2 ||
			strings.HasPrefix(line, "#") {
			t.Errorf("not quoted: %s", line)
		}
	}
}

// A job's own token can write no workflow, and is told so.
func TestInitProposesInNoJob(t *testing.T) {
	server := httptest.NewServer(sandbox.New(sandbox.Options{}))
	defer server.Close()
	code, _, said := runAt(t, server.URL, map[string]string{"GITHUB_TOKEN": "ghs_x"}, "init", "--pull-request")
	if code != 1 || !strings.Contains(said, "a job's own token cannot write workflows") {
		t.Errorf("exit %d: %s", code, said)
	}
}

func TestInitRefusesOtherClones(t *testing.T) {
	g := sandbox.New(sandbox.Options{})
	server := httptest.NewServer(g)
	defer server.Close()
	env := map[string]string{"GITHUB_TOKEN": "ghs_x", "GITHUB_REPOSITORY": ""}
	for _, test := range []struct {
		origin string
		args   []string
		want   string
	}{
		{server.URL + "/acme/other", []string{"--repo", "acme/shop"}, "this folder is in a clone of acme/other, not of acme/shop\nhint: start it in your clone"},
		{"https://gitlab.example/acme/shop", []string{"--repo", "acme/shop"}, "this folder is in a clone not of acme/shop\n"},
		{"https://gitlab.example/acme/shop", nil, "no clone whose origin is on 127.0.0.1:"},
		{server.URL + "/acme/shop", []string{"--pull-request", "--dir", "."}, "--pull-request writes nothing into a folder"},
		{server.URL + "/acme/shop", []string{"--ref", "a b"}, "--ref \"a b\" is no tag or commit"},
		{server.URL + "/acme/shop", []string{"--ref", "main"}, "--ref \"main\" is no tag or commit"},
		{server.URL + "/acme/shop", []string{"--dir", "nowhere"}, "there is no folder "},
	} {
		dir := newClone(t, test.origin, nil)
		t.Chdir(dir)
		code, out, said := runAt(t, server.URL, env, append([]string{"init"}, test.args...)...)
		if code != 2 || !strings.Contains(said, test.want) || len(filesOf(t, dir)) > 0 || len(g.Requests()) > 0 {
			t.Errorf("%q: exit %d: %s%s", test.args, code, out, said)
		}
	}
	t.Chdir(t.TempDir())
	if code, _, said := runAt(t, server.URL, env, "init", "--repo", "acme/shop"); code != 2 || !strings.Contains(said, "this folder is in no clone") {
		t.Errorf("exit %d: %s", code, said)
	}
	if code, _, said := runAt(t, server.URL, env, "init", "--repo", "acme/shop", "--dir", "."); code != 0 {
		t.Errorf("exit %d: %s", code, said)
	}
}

// What comes in the way while the repository is read is not lost, and nothing is left half done.
func TestInitWritesAllOrNone(t *testing.T) {
	const policy, bell, job = ".github/review-coordinator.yml", ".github/workflows/review-bell.yml", ".github/workflows/review-coordinator.yml"
	for _, test := range []struct {
		name  string
		force []string
		there map[string]string
		comes func(dir string) error
		want  string
	}{
		{"a folder", []string{"--force"}, map[string]string{policy: "old\n", bell: "old\n"}, func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, job, "in the way"), 0o755)
		}, "coordinator: write .github/workflows/review-coordinator.yml: "},
		{"a file", nil, map[string]string{".github/other.yml": "old\n"}, func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, ".github/workflows"), 0o755), os.WriteFile(filepath.Join(dir, job), []byte("new\n"), 0o644))
		}, "coordinator: .github/workflows/review-coordinator.yml exists\n"},
		{"a link out of the clone", nil, nil, func(dir string) error { return os.Symlink(t.TempDir(), filepath.Join(dir, ".github")) }, "escapes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := sandbox.New(sandbox.Options{})
			server := httptest.NewServer(g)
			defer server.Close()
			dir := newClone(t, server.URL+"/acme/shop", test.there)
			t.Chdir(dir)
			var once sync.Once
			var before map[string]string
			g.BeforeRequest(func(*http.Request) {
				once.Do(func() {
					if err := test.comes(dir); err != nil {
						t.Error(err)
					}
					before = filesOf(t, dir)
				})
			})
			code, out, said := runAt(t, server.URL, map[string]string{"GITHUB_TOKEN": "ghs_x"}, append([]string{"init"}, test.force...)...)
			if code != 2 || !strings.Contains(said, test.want) {
				t.Errorf("exit %d: %s%s", code, out, said)
			}
			if after := filesOf(t, dir); !maps.Equal(after, before) {
				t.Errorf("%q became %q", before, after)
			}
		})
	}
}
