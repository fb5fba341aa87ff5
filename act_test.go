package coordinator_test

// The action as GitHub runs it: act plays the runner, on this machine and without containers, and the sandbox is
// GitHub. Every example and every event goes end to end, from the payload to the check that stands on the head
// afterwards.
//
// It needs the program act, whose path is in ACT: .ci/act.sh gets it and runs this.

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const policy = `version: 1
quorum: 2
reviewers:
  - {name: openai, workflow: .github/workflows/openai.yml, heading: "## OpenAI Review"}
  - {name: gemini, workflow: .github/workflows/gemini.yml, heading: "## Gemini Review"}
`

// canary stands for a secret: nothing may print it.
const canary = "ghs_canaryCanaryCanaryCanaryCanary012345"

// A stage is a repository with one pull request that two reviewers look at, and a server in front of it.
type stage struct {
	*sandbox.GitHub
	url    string
	head   string
	owner  string // of the repository that the head is in
	runs   []int64
	inputs string // of a workflow_dispatch
}

func newStage(t *testing.T, app sandbox.App) *stage {
	t.Helper()
	return newStageOf(t, app, sandbox.PullSpec{})
}

func newStageOf(t *testing.T, app sandbox.App, pull sandbox.PullSpec) *stage {
	t.Helper()
	s := &stage{GitHub: sandbox.New(sandbox.Options{App: app}), inputs: `{"pr": "7", "wait": "false", "dry-run": "false"}`}
	s.SetFile(".github/review-coordinator.yml", "", policy)
	s.Protect("main")
	pull.Number, pull.Head = 7, "a1"
	if n := s.OpenPull(pull); n != 7 {
		t.Fatalf("pull request #%d", n)
	}
	s.head, s.owner = sandbox.SHA("a1"), or(pull.Fork, "acme")
	for _, path := range []string{".github/workflows/openai.yml", ".github/workflows/gemini.yml"} {
		run, err := s.StartRun(sandbox.RunSpec{Workflow: path, PR: 7})
		must(t, err)
		s.runs = append(s.runs, run)
	}
	server := httptest.NewServer(withApp(s.GitHub, app))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// installed is the token that the App gets for its installation.
const installed = "ghs_installationInstallationInstallation"

// withApp puts what an App asks for its token in front of GitHub; afterwards no other token will do.
func withApp(g *sandbox.GitHub, app sandbox.App) http.Handler {
	if app.Slug == "" {
		return g
	}
	mux := http.NewServeMux()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			if !strings.HasPrefix(req.Header.Get("Authorization"), "Bearer ey") { // a JSON Web Token
				status, body = http.StatusUnauthorized, `{"message": "A JSON web token could not be decoded"}`
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	permissions := `"permissions": {"actions": "write", "checks": "write", "contents": "read", "issues": "read", "metadata": "read", "pull_requests": "write", "statuses": "read"}`
	mux.HandleFunc("GET /app", answer(200, fmt.Sprintf(`{"id": %d, "slug": %q, %s}`, app.ID, app.Slug, permissions)))
	mux.HandleFunc(
		"GET /repos/acme/shop/installation",
		answer(200, fmt.Sprintf(`{"id": 99, "app_id": %d, "app_slug": %q, "account": {"login": "acme"}, %s}`, app.ID, app.Slug, permissions)),
	)
	mux.HandleFunc(
		"POST /app/installations/99/access_tokens",
		answer(201, fmt.Sprintf(`{"token": %q, "expires_at": "2099-01-01T00:00:00Z", %s}`, installed, permissions)),
	)
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		if auth := req.Header.Get("Authorization"); !strings.HasSuffix(auth, " "+installed) && !strings.Contains(req.URL.Path, "/logs") {
			http.Error(w, `{"message": "Bad credentials"}`, http.StatusUnauthorized)
			return
		}
		g.ServeHTTP(w, req)
	})
	return mux
}

// review lets the nth reviewer answer and its run end.
func (s *stage) review(nth int, ready string) error {
	text := fmt.Sprintf("## %s Review\n\n**Ready to merge?** %s\n\nReviewed commit: %s\n", []string{"OpenAI", "Gemini"}[nth], ready, s.head)
	_, err := s.Comment(7, "github-actions[bot]", text)
	_, ended := s.FinishRun(s.runs[nth], sandbox.Finish{})
	return errors.Join(err, ended)
}

// payloads are the parts of GitHub's payloads that a workflow or the program reads.
func (s *stage) payload(event string) string {
	pull := fmt.Sprintf(
		`{"number": 7, "state": "open", "draft": false, "head": {"sha": %q, "ref": "feature-7", "repo": {"full_name": "acme/shop"}}, "base": {"ref": "main"}}`,
		s.head,
	)
	parts := map[string]string{
		"pull_request":        `"action": "opened", "number": 7, "pull_request": ` + pull,
		"pull_request_target": `"action": "opened", "number": 7, "pull_request": ` + pull,
		"pull_request_review": `"action": "submitted", "review": {"state": "commented", "commit_id": "` + s.head + `"}, "pull_request": ` + pull,
		"issue_comment":       `"action": "created", "comment": {"body": "::set-output name=verdict::passed", "user": {"login": "sage[bot]", "type": "Bot"}, "author_association": "NONE"}, "issue": {"number": 7, "pull_request": {"url": "https://api.github.com/repos/acme/shop/pulls/7"}}`,
		"workflow_run": fmt.Sprintf(
			`"action": "completed", "workflow": {"path": ".github/workflows/openai.yml"}, "workflow_run": {"id": %d, "name": "OpenAI review", "event": "pull_request", "status": "completed", "conclusion": "success", "run_attempt": 1, "head_sha": %q, "path": ".github/workflows/openai.yml", "pull_requests": [{"number": 7}]}`,
			s.runs[0],
			s.head,
		),
		"check_run": fmt.Sprintf(
			`"action": "completed", "check_run": {"name": "elsewhere", "head_sha": %q, "pull_requests": [{"number": 7}], "app": {"slug": "elsewhere"}}`,
			s.head,
		),
		"status":            fmt.Sprintf(`"sha": %q, "context": "elsewhere", "state": "success"`, s.head),
		"workflow_dispatch": `"ref": "refs/heads/main", "inputs": ` + s.inputs,
		"schedule":          `"schedule": "7 * * * *"`,
		"merge_group": fmt.Sprintf(
			`"action": "checks_requested", "merge_group": {"head_sha": %q, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-%s", "base_ref": "refs/heads/main", "base_sha": %q}`,
			s.head, sandbox.SHA("the tip of main"), sandbox.SHA("the tip of main"),
		),
	}
	return `{` + parts[event] + `, "repository": {"full_name": "acme/shop", "name": "shop", "default_branch": "main", "owner": {"login": "acme"}}, "sender": {"login": "alice"}}`
}

// check is what stands on the head: the only check of ours.
func (s *stage) check(t *testing.T) sandbox.StoredCheckRun {
	t.Helper()
	own := s.OwnCheckRuns(s.head)
	if len(own) != 1 {
		t.Fatalf("%d checks of ours on the head", len(own))
	}
	if bad := append(s.UnknownRequests(), s.InvalidRequests()...); len(bad) > 0 {
		t.Errorf("requests that GitHub does not understand: %v", bad)
	}
	return own[0]
}

// An actRun is one event of one workflow.
type actRun struct {
	workflow string // its file
	event    string
	payload  string            // of the event; "": the stage's
	action   string            // the folder that holds the action
	env      map[string]string // of all steps
	secrets  map[string]string
	vars     map[string]string
	local    map[string]string // folders that stand in for the actions of others, by what uses them
}

var queueLine = regexp.MustCompile(`(?m)^ +queue: max.*\n`)

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// slots is how many of them run at once.
var slots = make(chan bool, 2)

// do plays the event and returns what the runner printed.
func (r actRun) do(t *testing.T, s *stage) (string, error) {
	t.Helper()
	slots <- true
	defer func() { <-slots }()
	dir := t.TempDir()
	work, home := filepath.Join(dir, "shop"), filepath.Join(dir, "home")
	must(t, os.MkdirAll(work, 0o755))
	must(t, os.MkdirAll(home, 0o755))
	payload := filepath.Join(dir, "event.json")
	must(t, os.WriteFile(payload, []byte(or(r.payload, s.payload(r.event))), 0o644))
	text, err := os.ReadFile(r.workflow)
	must(t, err)
	// act knows no queue yet: that it stands there is held by the laws of workflows.
	workflow := filepath.Join(dir, filepath.Base(r.workflow))
	must(t, os.WriteFile(workflow, queueLine.ReplaceAll(text, nil), 0o644))
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"},
	} {
		git := exec.Command("git", args...)
		git.Dir = work
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git: %v %s", err, out)
		}
	}
	args := []string{
		r.event, "-C", work, "-W", workflow, "-e", payload, "-P", "ubuntu-latest=-self-hosted", "--no-cache-server", "--use-new-action-cache",
		"--action-cache-path", filepath.Join(dir, "cache"), "--local-repository", ourselves + "=" + r.action, "--actor", "alice",
		"--env", "GITHUB_API_URL=" + s.url, "--env", "GITHUB_REPOSITORY=acme/shop", "-s", "GITHUB_TOKEN=" + canary,
	}
	for k, v := range r.env {
		args = append(args, "--env", k+"="+v)
	}
	for k, v := range r.secrets {
		args = append(args, "-s", k+"="+v)
	}
	for k, v := range r.vars {
		args = append(args, "--var", k+"="+v)
	}
	for k, v := range r.local {
		args = append(args, "--local-repository", k+"="+v)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv("ACT"), args...)
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOTOOLCHAIN", "GOROOT", "GOSUMDB"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			cmd.Env = append(cmd.Env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	for _, secret := range []string{canary, installed, "PRIVATE KEY"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s was printed", secret)
		}
	}
	return out.String(), err
}

// needAct skips where there is no act.
func needAct(t *testing.T) {
	t.Helper()
	if os.Getenv("ACT") == "" {
		t.Skip("ACT does not name the program act: see .ci/act.sh")
	}
}

// unreleased is the action as a commit between releases has it: no row in the table, so it builds itself.
func unreleased(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"action.yml", "VERSION", "go.mod", "go.sum"} {
		body, err := os.ReadFile(name)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, name), body, 0o644))
	}
	for _, name := range []string{"scripts", "verdict", "cmd", "internal"} {
		must(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(name)))
	}
	return dir
}

// A release is the action as a release's commit has it, and the server that its file lies on.
type release struct {
	action, url string
	handed      *atomic.Int32 // how often the server gave it away
}

var build = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "review-coordinator")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "coordinator")
	cmd := exec.Command(
		"go",
		"build",
		"-tags",
		"action",
		"-trimpath",
		"-buildvcs=false",
		"-ldflags",
		"-s -w -X main.release=v9.9.9",
		"-o",
		out,
		"./cmd/coordinator",
	)
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w: %s", err, said)
	}
	return os.ReadFile(out)
})

// newRelease serves the program; what the server hands out may differ from what the table promises.
func newRelease(t *testing.T, hand func([]byte) []byte) release {
	t.Helper()
	program, err := build()
	must(t, err)
	name := "coordinator-action_v9.9.9_linux_" + runtime.GOARCH
	handed := &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/v9.9.9/"+name || req.Header.Get("Authorization") != "" {
			http.NotFound(w, req)
			return
		}
		handed.Add(1)
		w.Write(hand(program))
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "scripts"), os.DirFS("scripts")))
	must(t, os.CopyFS(filepath.Join(dir, "verdict"), os.DirFS("verdict")))
	body, err := os.ReadFile("action.yml")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "action.yml"), body, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "VERSION"), []byte("v9.9.9\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "scripts/checksums.txt"), []byte(sum(string(program))+"  "+name+"\n"), 0o644))
	return release{action: dir, url: server.URL, handed: handed}
}

func whole(program []byte) []byte { return program }

func (r release) env() map[string]string {
	return map[string]string{"REVIEW_COORDINATOR_RELEASES": r.url}
}

// probe is a workflow for any event that keeps the outputs.
const probe = `name: probe
on: [pull_request, pull_request_target, pull_request_review, issue_comment, workflow_run, check_run, status, workflow_dispatch, schedule]
jobs:
  look:
    runs-on: ubuntu-latest
    steps:
      - id: quorum
        uses: ` + ourselves + `
        with:
          pr: ${{ inputs.pr }}
          poll: 1s
      - if: always()
        env:
          OUTPUTS: ${{ toJSON(steps.quorum.outputs) }}
        run: printf '%s' "$OUTPUTS" > "$KEEP"
`

// TestActEvents: the action, built from source and from a release, for each kind of event.
func TestActEvents(t *testing.T) {
	needAct(t)
	workflow := filepath.Join(t.TempDir(), "probe.yml")
	must(t, os.WriteFile(workflow, []byte(probe), 0o644))
	built := unreleased(t)
	for _, event := range []string{
		"pull_request", "pull_request_target", "workflow_run", "pull_request_review", "workflow_dispatch",
		"issue_comment", "check_run", "status", "schedule",
	} {
		for how, downloads := range map[string]int32{"source": 0, "release": 1} {
			t.Run(event+"/"+how, func(t *testing.T) {
				t.Parallel()
				r := newRelease(t, whole)
				action := r.action
				if how == "source" {
					action = built
				}
				s := newStage(t, sandbox.App{})
				must(t, errors.Join(s.review(0, "Yes"), s.review(1, "Yes")))
				env := r.env()
				env["KEEP"] = filepath.Join(t.TempDir(), "outputs.json")
				said, err := actRun{workflow: workflow, event: event, action: action, env: env}.do(t, s)
				if err != nil {
					t.Fatalf("%v\n%s", err, said)
				}
				if n := r.handed.Load(); n != downloads {
					t.Errorf("the release was fetched %d times", n)
				}
				check := s.check(t)
				if check.Conclusion != "success" || check.Title != "2 of 2 approvals" {
					t.Errorf("%s %q", check.Conclusion, check.Title)
				}
				if event == "schedule" { // a sweep has no outputs of one pull request
					return
				}
				want := map[string]string{
					"verdict": "passed", "conclusion": "success", "approvals": "2", "need": "2", "unavailable": "", "reruns": "0",
					"check-run-id": strconv.FormatInt(check.ID, 10), "next-check-at": "",
				}
				got := outputsOf(t, env["KEEP"])
				for name, value := range want {
					if got[name] != value {
						t.Errorf("output %s is %q, not %q", name, got[name], value)
					}
				}
				if !json.Valid([]byte(got["decision"])) || !strings.Contains(got["check-url"], want["check-run-id"]) {
					t.Errorf("outputs %v", got)
				}
			})
		}
	}
}

func outputsOf(t *testing.T, file string) (got map[string]string) {
	t.Helper()
	body, err := os.ReadFile(file)
	must(t, err)
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for name := range got {
		known := false
		for _, o := range outputs {
			known = known || o == name
		}
		if !known {
			t.Errorf("output %s is not in action.yml", name)
		}
	}
	return got
}

// TestActWrongChecksum: what is not the table's program is not run; the job fails, and nothing reached GitHub. What the
// script says of it is held by TestInstall: act loses the last lines of a step at times.
func TestActWrongChecksum(t *testing.T) {
	needAct(t)
	workflow := filepath.Join(t.TempDir(), "probe.yml")
	must(t, os.WriteFile(workflow, []byte(probe), 0o644))
	for _, event := range []string{"pull_request", "workflow_run", "pull_request_review", "workflow_dispatch", "schedule"} {
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			r := newRelease(t, func(program []byte) []byte {
				bad := bytes.Clone(program)
				bad[len(bad)/2] ^= 1
				return bad
			})
			s := newStage(t, sandbox.App{})
			env := r.env()
			env["KEEP"] = filepath.Join(t.TempDir(), "outputs.json")
			said, err := actRun{workflow: workflow, event: event, action: r.action, env: env}.do(t, s)
			if n := r.handed.Load(); err == nil || n != 1 || !strings.Contains(said, "Failure - Main Fetch the coordinator") {
				t.Errorf("%v, fetched %d times\n%s", err, n, said)
			}
			if asked := s.Requests(); len(asked) != 0 {
				t.Errorf("GitHub was asked: %v", asked)
			}
			if got := outputsOf(t, env["KEEP"]); got["verdict"] != "" {
				t.Errorf("outputs %v", got)
			}
		})
	}
}

// TestActExamples: each example does what its comment says, as people copy it.
func TestActExamples(t *testing.T) {
	needAct(t)
	r := newRelease(t, whole)
	for _, c := range []struct {
		file, event string
		answers     []string // of the reviewers, before the event; a reviewer without one is still at it
		title       string   // of the check afterwards
		conclusion  string
		says        string
	}{
		{"event-driven.yml", "workflow_run", []string{"Yes"}, "1 of 2 approvals; waiting for gemini", "", ""},
		{"event-driven.yml", "workflow_dispatch", []string{"Yes", "Yes"}, "2 of 2 approvals", "success", ""},
		{"event-driven.yml", "schedule", []string{"Yes", "Yes"}, "2 of 2 approvals", "success", ""},
		{"event-driven.yml", "issue_comment", []string{"Yes", "No"}, "Changes requested by gemini", "failure", ""},
		{"event-driven.yml", "check_run", []string{"Yes", "Yes"}, "2 of 2 approvals", "success", ""},
		{"event-driven.yml", "status", []string{"Yes", "Yes"}, "2 of 2 approvals", "success", ""},
		{"waiting-job.yml", "pull_request_target", []string{"Yes"}, "2 of 2 approvals", "success", "Success - Main Say what came of it"},
		{"schedule-sweep.yml", "schedule", []string{"Yes", "Yes"}, "2 of 2 approvals", "success", ""},
		{"schedule-sweep.yml", "workflow_dispatch", []string{"Yes", "No"}, "Changes requested by gemini", "failure", ""},
		{"manual.yml", "workflow_dispatch", []string{"Yes", "Yes"}, "2 of 2 approvals", "success", ""},
		{"merge-queue.yml", "merge_group", []string{"Yes", "Yes"}, "#7: 2 of 2 approvals", "success", ""},
		{"merge-queue.yml", "merge_group", []string{"Yes", "No"}, "#7: Changes requested by gemini", "failure", ""},
		{"with-app-token.yml", "check_run", []string{"Yes", "Yes"}, "2 of 2 approvals", "success", ""},
		{"with-app-token.yml", "workflow_run", []string{"Yes", "Yes"}, "2 of 2 approvals", "success", ""},
	} {
		t.Run(c.file+"/"+c.event, func(t *testing.T) {
			t.Parallel()
			run := actRun{workflow: "examples/" + c.file, event: c.event, action: r.action, env: r.env()}
			var app sandbox.App
			if c.file == "with-app-token.yml" {
				app = sandbox.App{Slug: "shop-quorum", ID: 4711}
				run.vars = map[string]string{"REVIEW_COORDINATOR_APP_ID": "4711"}
				run.secrets = map[string]string{"REVIEW_COORDINATOR_PRIVATE_KEY": newKey(t)}
			}
			s := newStage(t, app)
			for nth, ready := range c.answers {
				must(t, s.review(nth, ready))
			}
			late := make(chan error, 1)
			if c.file != "waiting-job.yml" {
				late <- nil
			} else { // the second reviewer answers once the check says that it is waited for
				var once sync.Once
				s.AfterRequest(func(req *http.Request, _ int) {
					if req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/check-runs") {
						once.Do(func() { go func() { late <- s.review(1, "Yes") }() }) // GitHub is busy until this returns
					}
				})
			}
			if c.file == "schedule-sweep.yml" {
				s.inputs = "null"
			}
			if c.event == "merge_group" { // the check is that of the queue's commit
				must(t, sandbox.Enqueue(s.GitHub, 7, "m1", "alice"))
				s.head = sandbox.SHA("m1")
			}
			said, err := run.do(t, s)
			if err != nil || !strings.Contains(said, c.says) {
				t.Fatalf("%v\n%s", err, said)
			}
			must(t, <-late)
			check := s.check(t)
			if app.Slug != "" && check.App.Slug != app.Slug {
				t.Errorf("the check belongs to %s", check.App.Slug)
			}
			if check.Conclusion != c.conclusion || !strings.HasPrefix(check.Title, c.title) {
				t.Errorf("%s %q\n%s", check.Conclusion, check.Title, said)
			}
		})
	}
}

// TestActSetUp: the recommended set-up as GitHub plays it, in a public repository. What rings the bell starts the job,
// what GitHub holds or forbids does not, and the merge gate agrees with the check.
func TestActSetUp(t *testing.T) {
	needAct(t)
	r := newRelease(t, whole)
	rings := func(s *stage, event, status, conclusion string) string { // a fork's run names no pull request
		return fmt.Sprintf(`{"action": "completed", "workflow": {"name": "Review bell"}, "workflow_run": {"id": 77, "name": "Review bell", "event": %q,
			"status": %q, "conclusion": %q, "run_attempt": 1, "head_sha": %q, "path": ".github/workflows/bell.yml", "pull_requests": [],
			"head_branch": "feature-7", "head_repository": {"full_name": "%s/shop"}},
			"repository": {"full_name": "acme/shop", "name": "shop", "private": false, "default_branch": "main", "owner": {"login": "acme"}}}`,
			event, status, conclusion, s.head, s.owner)
	}
	bell := func(s *stage) string { return rings(s, "pull_request", "completed", "skipped") }
	comment := func(kind, association, body string) func(*stage) string {
		return func(*stage) string {
			return fmt.Sprintf(`{"action": "created", "comment": {"body": %q, "user": {"login": "who", "type": %q}, "author_association": %q},
				"issue": {"number": 7, "pull_request": {"url": "https://api.github.com/repos/acme/shop/pulls/7"}},
				"repository": {"full_name": "acme/shop", "name": "shop", "private": false, "default_branch": "main", "owner": {"login": "acme"}}}`,
				body, kind, association)
		}
	}
	yes := []string{"Yes", "Yes"}
	for name, c := range map[string]struct {
		file, event string
		payload     func(*stage) string
		pull        sandbox.PullSpec
		before      func(t *testing.T, s *stage)
		answers     []string
		want        string // title of the check; "": there is none
		open        bool   // the merge gate
	}{
		"opened":           {event: "workflow_run", payload: bell, want: "0 of 2 approvals; waiting for"},
		"opened by a fork": {event: "workflow_run", payload: bell, pull: sandbox.PullSpec{Fork: "mallory"}, want: "0 of 2 approvals; waiting for"},
		"opened by Dependabot": {
			event:   "workflow_run",
			payload: bell,
			pull:    sandbox.PullSpec{Author: "dependabot[bot]"},
			want:    "0 of 2 approvals; waiting for",
		},
		"reviewed by an App": {
			event:   "workflow_run",
			payload: func(s *stage) string { return rings(s, "pull_request_review", "completed", "skipped") },
			answers: yes,
			want:    "2 of 2 approvals", open: true,
		},
		"the bell begins": {event: "workflow_run", payload: func(s *stage) string {
			return strings.Replace(rings(s, "pull_request", "queued", ""), "completed", "requested", 1)
		}},
		"a first contribution": {event: "workflow_run", payload: func(s *stage) string {
			return strings.Replace(rings(s, "pull_request", "action_required", ""), "completed", "requested", 1)
		}, pull: sandbox.PullSpec{Fork: "mallory"}, want: "0 of 2 approvals; waiting for"},
		"the next job of another": {
			event:   "workflow_run",
			payload: func(s *stage) string { return strings.Replace(bell(s), s.head, sandbox.SHA("elsewhere"), 1) },
			answers: yes,
			want:    "2 of 2 approvals", open: true,
		},
		"a stranger's comment": {event: "issue_comment", payload: comment("User", "NONE", "/review-coordinator rerun"), answers: yes},
		"a member's talk":      {event: "issue_comment", payload: comment("User", "MEMBER", "Thanks!"), answers: yes},
		"a member's command": {
			event:   "issue_comment",
			payload: comment("User", "MEMBER", "/review-coordinator rerun"),
			answers: yes,
			want:    "2 of 2 approvals", open: true,
		},
		"a bot's comment": {
			event:   "issue_comment",
			payload: comment("Bot", "NONE", "Read all of it."),
			answers: yes,
			want:    "2 of 2 approvals", open: true,
		},
		"our own comment, of a job with our App": {
			event:   "issue_comment",
			payload: comment("Bot", "NONE", quorum.VerdictMarker+"\n**Review quorum: Passed.**"),
			answers: yes,
		},
		"a bell of a bell": {file: "bell.yml", event: "pull_request"},
		"pull_request_target is forbidden": {
			event: "workflow_run", payload: bell, want: "0 of 2 approvals; waiting for",
			before: func(t *testing.T, s *stage) { // GitHub starts no job of the old file, and the bell still brings the check
				sandbox.ForbidEvents(s.GitHub, "pull_request_target")
				_, err := s.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/waiting-job.yml", Event: "pull_request_target", PR: 7})
				must(t, err)
				if own := s.OwnCheckRuns(s.head); len(own) > 0 {
					t.Errorf("%d checks before the bell", len(own))
				}
			},
		},
		"a fork's is closed": {
			event: "workflow_run", payload: bell, pull: sandbox.PullSpec{Fork: "mallory"}, want: "Nothing is decided here: closed",
			before: func(t *testing.T, s *stage) { s.ring(t, r); must(t, s.Close(7, "mallory")) },
		},
		"closed": {
			event: "workflow_run", payload: bell, want: "Nothing is decided here: closed",
			before: func(t *testing.T, s *stage) { s.ring(t, r); must(t, s.Close(7, "alice")) },
		},
		"a new base": {
			event: "workflow_run", payload: bell, want: "0 of 2 approvals; waiting for",
			before: func(t *testing.T, s *stage) { s.ring(t, r); must(t, s.Retarget(7, "stable", "alice")) },
		},
		"a dismissal": {
			event: "workflow_run", payload: func(s *stage) string { return rings(s, "pull_request_review", "completed", "skipped") },
			want: "0 of 1 approval", open: false,
			before: func(t *testing.T, s *stage) {
				s.SetFile(".github/review-coordinator.yml", "", "version: 1\nquorum: 1\nreviewers:\n  - {name: sage, author: 'sage[bot]'}\n")
				review, err := s.Review(7, sandbox.ReviewSpec{By: "sage[bot]", State: "APPROVED", Body: "Good."})
				must(t, err)
				s.ring(t, r)
				if !sandbox.MergeGateOpens(s.GitHub, 7, "Review quorum") {
					t.Fatal("it never passed")
				}
				must(t, s.DismissReview(review, "bob"))
			},
		},
		"a label after the pass": {
			event: "workflow_run", payload: bell, answers: yes, want: "2 of 2 approvals", open: true,
			before: func(t *testing.T, s *stage) { // the reviewers' workflows run again, and the check's suite is superseded
				s.ring(t, r)
				run, err := s.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/openai.yml", PR: 7})
				s.runs[0] = run
				must(t, errors.Join(err, s.AddLabel(7, "urgent", "alice"), s.review(0, "Yes")))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStageOf(t, sandbox.App{}, c.pull)
			for nth, ready := range c.answers {
				must(t, s.review(nth, ready))
			}
			if c.before != nil {
				c.before(t, s)
			}
			run := actRun{workflow: "examples/" + or(c.file, "event-driven.yml"), event: c.event, action: r.action, env: r.env()}
			if c.payload != nil {
				run.payload = c.payload(s)
			}
			said, err := run.do(t, s)
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			own := s.OwnCheckRuns(s.head)
			switch {
			case c.want == "" && len(own) > 0:
				t.Errorf("a check was written\n%s", said)
			case c.want != "" && (len(own) == 0 || !strings.HasPrefix(own[0].Title, c.want) && !strings.HasPrefix(own[len(own)-1].Title, c.want)):
				t.Errorf("%d checks, the first %q\n%s", len(own), titleOf(own), said)
			}
			if open := sandbox.MergeGateOpens(s.GitHub, 7, "Review quorum"); open != c.open {
				t.Errorf("the merge gate is open: %t\n%s", open, said)
			}
		})
	}
}

// ring plays the bell once.
func (s *stage) ring(t *testing.T, r release) {
	t.Helper()
	payload := fmt.Sprintf(`{"action": "completed", "workflow_run": {"id": 76, "name": "Review bell", "event": "pull_request", "status": "completed",
		"conclusion": "skipped", "run_attempt": 1, "head_sha": %q, "path": ".github/workflows/bell.yml", "pull_requests": [{"number": 7}]},
		"repository": {"full_name": "acme/shop", "name": "shop", "private": false, "default_branch": "main", "owner": {"login": "acme"}}}`, s.head)
	said, err := actRun{workflow: "examples/event-driven.yml", event: "workflow_run", payload: payload, action: r.action, env: r.env()}.do(t, s)
	if err != nil || len(s.OwnCheckRuns(s.head)) != 1 {
		t.Fatalf("%v\n%s", err, said)
	}
}

func newKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

func titleOf(own []sandbox.StoredCheckRun) string {
	if len(own) == 0 {
		return ""
	}
	return own[0].Title
}
