package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/sandbox/openapi"
)

// A clock is what a story's time is.
type clock struct{ at time.Time }

func (c *clock) now() time.Time       { return c.at }
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }
func newClock() *clock                { return &clock{at: time.Date(2026, 11, 21, 14, 0, 0, 400_000_000, time.UTC)} }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A step that panics leaves no lock behind: who plays on would wait for it for ever.
func TestAPanicLeavesNoLockBehind(t *testing.T) {
	fine, breaks := newClock(), false
	g := sandbox.New(sandbox.Options{Now: func() time.Time {
		if breaks {
			panic("the clock is broken")
		}
		return fine.now()
	}})
	hub := sandbox.NewHub(sandbox.HubOptions{App: sandbox.App{Slug: "quorum-bot", ID: 4711}, Now: fine.now})
	hub.Add(77, g)
	for name, step := range map[string]func(){
		"a request": func() {
			g.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/repos/octo/shop", nil))
		},
		"what becomes due":  func() { g.Due() },
		"a tick of the hub": hub.Tick,
		"a pull request":    func() { g.OpenPull(sandbox.PullSpec{}) },
	} {
		breaks = true
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			step()
		}()
		breaks = false
		free := make(chan struct{})
		go func() { g.Due(); close(free) }()
		select {
		case <-free:
		case <-time.After(time.Minute):
			t.Fatalf("%s leaves a lock behind", name)
		}
	}
}

// must takes a result and wants no error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		check(t, err)
		return v
	}
}

// A caller asks GitHub as a program does, and fails the test if GitHub's description has anything against it.
type caller struct {
	t     *testing.T
	rt    http.RoundTripper
	token string
}

func newCaller(t *testing.T, g *sandbox.GitHub) *caller {
	t.Helper()
	rt, violations := openapi.Validate(g)
	t.Cleanup(func() {
		for _, v := range violations() {
			t.Error(v)
		}
	})
	return &caller{t: t, rt: rt, token: "t1"}
}

type reply struct {
	status int
	header http.Header
	body   []byte
	err    error
}

const repo = "/repos/acme/shop"

// ask sends a request; a path without a slash is one of the repository's. Headers are "Name: value".
func (c *caller) ask(method, path, body string, headers ...string) reply {
	c.t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = repo + "/" + path
	}
	req, err := http.NewRequest(method, "https://api.github.com"+path, strings.NewReader(body))
	check(c.t, err)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := c.rt.RoundTrip(req)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return reply{status: res.StatusCode, header: res.Header, body: b, err: err}
}

// get asks and wants 200.
func (c *caller) get(path string, headers ...string) reply {
	c.t.Helper()
	return c.want(200, "GET", path, "", headers...)
}

func (c *caller) want(status int, method, path, body string, headers ...string) reply {
	c.t.Helper()
	r := c.ask(method, path, body, headers...)
	if r.err != nil || r.status != status {
		c.t.Fatalf("%s %s: status %d, err %v, want %d: %.300s", method, path, r.status, r.err, status, r.body)
	}
	return r
}

// at digs into an answer: "check_runs.0.output.title". It is "<missing>" where there is nothing.
func (r reply) at(path string) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	if path == "" {
		return fmt.Sprint(v)
	}
	for _, p := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			inner, found := x[p]
			if !found {
				return "<missing>"
			}
			v = inner
		case []any:
			var i int
			if p == "#" {
				v = len(x)
				continue
			}
			if _, err := fmt.Sscan(p, &i); err != nil || i >= len(x) {
				return "<missing>"
			}
			v = x[i]
		default:
			return "<missing>"
		}
	}
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v)
}

// is compares some of an answer: path, wanted value, path, wanted value …
func (r reply) is(t *testing.T, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := r.at(pairs[i]); got != pairs[i+1] {
			t.Errorf("%s = %s, want %s", pairs[i], got, pairs[i+1])
		}
	}
}

// busy is a repository in which everything has happened once.
type busy struct {
	*sandbox.GitHub
	*clock
	run, failed, comment, review, foreign int64
}

func newBusy(t *testing.T, o sandbox.Options) *busy {
	t.Helper()
	c := newClock()
	o.Now = c.now
	b := &busy{GitHub: sandbox.New(o), clock: c}
	g := b.GitHub
	g.Protect("main")
	g.AddRuleset("main")
	g.SetFile(".github/review-coordinator.yml", "", "version: 1\n")
	g.SetPermission("bob", "maintain")
	g.OpenPull(
		sandbox.PullSpec{
			Number: 7,
			Head:   "a1",
			Labels: []string{"go"},
			Files:  []sandbox.ChangedFile{{Path: "new.go", Previous: "old.go"}, {Path: "main.go"}},
			Commit: sandbox.CommitSpec{CoAuthors: []string{"carol"}},
		},
	)
	g.OpenPull(sandbox.PullSpec{Number: 8, Head: "f1", Fork: "mallory", Author: "mallory", Draft: true})
	c.pass(10 * time.Second)
	check(t, g.Push(7, "a2", sandbox.PushSpec{}))
	check(t, g.Push(7, "a3", sandbox.PushSpec{Force: true, By: "bob"}))
	check(t, g.ConvertToDraft(7, ""))
	check(t, g.MarkReady(7, ""))
	check(t, g.Close(7, ""))
	check(t, g.Reopen(7, "bob"))
	check(t, g.Retarget(7, "release/1", ""))
	check(t, g.Retarget(7, "main", ""))
	check(t, g.AddLabel(7, "urgent", ""))
	check(t, g.RemoveLabel(7, "urgent", ""))
	check(t, g.RequestReview(7, "copilot-pull-request-reviewer[bot]", ""))
	b.run = must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/openai.yml", Name: "OpenAI", PR: 7}))
	b.failed = must[int64](
		t,
	)(
		g.StartRun(
			sandbox.RunSpec{
				Workflow: ".github/workflows/gemini.yml@main",
				Name:     "Gemini",
				PR:       7,
				Event:    "pull_request_target",
				Jobs:     []string{"prepare", "review"},
			},
		),
	)
	must[int64](
		t,
	)(
		g.StartRun(sandbox.RunSpec{Workflow: "dynamic/copilot-pull-request-reviewer/copilot-pull-request-reviewer", PR: 7, Event: "dynamic", Status: "queued"}),
	)
	must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/broken.yml", PR: 7, Conclusion: "startup_failure"}))
	must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/fork.yml", PR: 8, Conclusion: "action_required"}))
	must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/skipped.yml", PR: 7, Conclusion: "skipped"}))
	must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/ask.yml", PR: 7, Event: "issue_comment"}))
	c.pass(30 * time.Second)
	must[bool](
		t,
	)(
		g.FinishRun(
			b.failed,
			sandbox.Finish{Conclusion: "failure", Job: "review", Log: "boom 503", Step: "Ask the model", Annotation: "Process completed with exit code 1."},
		),
	)
	b.comment = must[int64](t)(g.Comment(7, "github-actions[bot]", "## OpenAI"))
	check(t, g.EditComment(b.comment, "alice", "## OpenAI edited"))
	b.review = must[int64](
		t,
	)(
		g.Review(
			7,
			sandbox.ReviewSpec{
				By:       "copilot-pull-request-reviewer[bot]",
				Body:     "## Overview",
				Comments: []sandbox.LineComment{{Path: "main.go", Line: 3, Body: "a"}, {Path: "new.go", Body: "b"}},
			},
		),
	)
	approval := must[int64](t)(g.Review(7, sandbox.ReviewSpec{By: "bob", State: "approved", Body: "fine"}))
	must[int64](t)(g.ReplyInThread(7, "", "alice", "why?"))
	check(t, g.OutdateThreads(7, "copilot-pull-request-reviewer[bot]"))
	check(t, g.ResolveThreads(7, "copilot-pull-request-reviewer[bot]", "bob"))
	check(t, g.DismissReview(approval, "bob"))
	b.foreign = must[int64](
		t,
	)(
		g.SetCheck(
			sandbox.CheckSpec{
				Name:        "Cursor Bugbot",
				App:         sandbox.App{Slug: "cursor"},
				Head:        "a3",
				Conclusion:  "neutral",
				Title:       "3 issues",
				Annotations: []sandbox.CheckAnnotation{{Path: "main.go", StartLine: 1, EndLine: 1, Level: "warning", Message: "hm"}},
			},
		),
	)
	must[int64](
		t,
	)(
		g.SetStatus(sandbox.CommitStatus{Head: "a3", Context: "CodeRabbit", State: "pending", Description: "Review queued", By: "coderabbitai[bot]"}),
	)
	return b
}

// TestEndpoints asks every endpoint once and holds it against GitHub's own description.
func TestEndpoints(t *testing.T) {
	g := newBusy(t, sandbox.Options{})
	c := newCaller(t, g.GitHub)
	head := sandbox.SHA("a3")
	job := c.get(fmt.Sprintf("actions/runs/%d/jobs", g.failed)).at("jobs.1.id")

	artifact, err := sandbox.UploadArtifact(g.GitHub, g.run, sandbox.ArtifactUpload{Name: "verdict", Content: "{}"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sandbox.UploadArtifact(g.GitHub, g.run, sandbox.ArtifactUpload{Name: "verdict", Content: "{}"}); err == nil {
		t.Error("a name is taken once in a run")
	}
	own := c.want(
		201,
		"POST",
		"check-runs",
		`{"name":"Review quorum","head_sha":"`+head+`","status":"in_progress","external_id":"x","started_at":"2026-11-21T14:00:00Z",
		"output":{"title":"0 of 2","summary":"s","text":"t"}}`,
	).at(
		"id",
	)
	asked := c.want(201, "POST", "issues/7/comments", `{"body":"@coderabbitai review"}`).at("id")

	for _, path := range []string{
		repo, "pulls", "pulls?state=all&sort=updated&direction=desc&per_page=1", "pulls/7",
		"pulls/8", "pulls/7/files", "pulls/7/commits", "pulls/7/comments", "pulls/7/reviews",
		fmt.Sprintf("pulls/7/reviews/%d", g.review),
		"issues/7/comments", fmt.Sprintf("issues/comments/%d", g.comment), "issues/7/timeline",
		"commits/" + head, "commits/main", "commits/" + head + "/pulls",
		"commits/" + head + "/check-runs", "commits/" + head + "/check-runs?filter=all&per_page=100",
		"commits/" + head + "/check-suites", "commits/" + head + "/statuses",
		"check-runs/" + own, "check-runs/" + job, fmt.Sprintf("check-runs/%d/annotations", g.foreign),
		"check-runs/" + job + "/annotations",
		"actions/runs", "actions/runs?head_sha=" + head + "&event=pull_request&per_page=100",
		fmt.Sprintf("actions/runs/%d", g.run), fmt.Sprintf("actions/runs/%d/attempts/1", g.run),
		fmt.Sprintf("actions/runs/%d/artifacts", g.run), "actions/workflows", "actions/workflows/openai.yml/runs",
		"contents/.github/review-coordinator.yml", "collaborators", "collaborators/bob/permission", "collaborators/stranger/permission",
		"branches/main", "branches/release/1", "rules/branches/main", "rules/branches/release/1",
		"activity?ref=refs/heads/feature-7",
		"git/ref/heads/main", "git/commits/" + head, "compare/main...feature-7", "/rate_limit",
		"git/trees/main", "git/trees/" + head + "?recursive=1", "git/blobs/b82551848c644f63b8517a7bdf8be9a992e6f4da",
	} {
		c.get(path)
	}
	c.want(302, "GET", "actions/jobs/"+job+"/logs", "")
	c.want(302, "GET", fmt.Sprintf("actions/artifacts/%d/zip", artifact), "")
	if err := sandbox.ExpireArtifacts(g.GitHub, g.run); err != nil {
		t.Fatal(err)
	}
	c.want(410, "GET", fmt.Sprintf("actions/artifacts/%d/zip", artifact), "")
	c.want(200, "PATCH", "check-runs/"+own, `{"name":"Review quorum","conclusion":"success","output":{"title":"2 of 2","summary":"s"}}`)
	c.want(201, "POST", "issues/comments/"+asked+"/reactions", `{"content":"+1"}`)
	c.want(200, "POST", "issues/comments/"+asked+"/reactions", `{"content":"+1"}`)
	c.want(200, "PATCH", "issues/comments/"+asked, `{"body":"@coderabbitai full review"}`)
	c.want(204, "DELETE", "issues/comments/"+asked, "")
	c.want(201, "POST", "pulls/7/requested_reviewers", `{"reviewers":["copilot-pull-request-reviewer[bot]"]}`)
	c.want(201, "POST", "statuses/"+head, `{"state":"pending","context":"x","description":"d"}`)
	c.want(201, "POST", fmt.Sprintf("actions/runs/%d/rerun-failed-jobs", g.failed), "")
	c.want(202, "POST", fmt.Sprintf("actions/runs/%d/cancel", g.failed), "")
	g.pass(10 * time.Second)
	c.get(fmt.Sprintf("actions/runs/%d/jobs?filter=all", g.failed))
	c.want(201, "POST", fmt.Sprintf("actions/runs/%d/rerun", g.failed), "")

	c.want(403, "POST", "git/trees", `{"tree":[{"path":".github/workflows/x.yml","mode":"100644","type":"blob","content":"x"}]}`)
	tree := c.want(201, "POST", "git/trees", `{"tree":[{"path":"docs/new.md","mode":"100644","type":"blob","content":"new\n"}]}`).at("sha")
	tip := c.get("git/ref/heads/main").at("object.sha")
	commit := c.want(201, "POST", "git/commits", `{"message":"Add","tree":"`+tree+`","parents":["`+tip+`"]}`).at("sha")
	c.want(201, "POST", "git/refs", `{"ref":"refs/heads/add","sha":"`+commit+`"}`)
	c.get("contents/docs/new.md?ref=add")
	c.want(404, "GET", "contents/docs/new.md", "")
	proposed := c.want(201, "POST", "pulls", `{"title":"Add","head":"add","base":"main","body":"b"}`)
	proposed.is(t, "head.sha", commit, "changed_files", "1")
	number, err := strconv.Atoi(proposed.at("number"))
	check(t, err)
	check(t, g.Merge(number, "bob"))
	c.get("contents/docs/new.md")
	g.SetFile(".github/workflows/fix.yml", "", fixFile)
	c.want(204, "POST", "actions/workflows/fix.yml/dispatches", `{"ref":"main"}`)
	settings := sandbox.Settings{MayRead: true, Allowed: "selected", Patterns: []string{"actions/*"}, Rulesets: []sandbox.RulesetSpec{
		{ID: 5, Name: "main", Include: []string{"~DEFAULT_BRANCH"}, Checks: []sandbox.RequiredCheck{{Name: "Review quorum", AppID: 7}}, MergeQueue: true},
		{ID: 6, Name: "all", Include: []string{"refs/heads/*"}, Creation: true, By: "octo", Enforcement: "evaluate"},
	}}
	sandbox.Configure(g.GitHub, settings)
	c.get("rulesets").is(t, "0.id", "5", "1.source_type", "Organization", "1.enforcement", "evaluate")
	c.get("rulesets/5").is(t, "rules.0.parameters.required_status_checks.0.integration_id", "7", "conditions.ref_name.include.0", "~DEFAULT_BRANCH")
	c.get("rules/branches/main").is(t, "2.type", "merge_queue", "2.ruleset_id", "5")
	c.get("actions/permissions").is(t, "allowed_actions", "selected")
	c.get("actions/permissions/workflow").is(t, "default_workflow_permissions", "read")
	c.get("actions/permissions/selected-actions").is(t, "patterns_allowed.0", "actions/*")
	sandbox.Configure(g.GitHub, sandbox.Settings{})
	c.want(403, "GET", "actions/permissions", "")

	sandbox.AddTeam(g.GitHub, "owners", "bob")
	c.get("/orgs/acme/teams/owners/memberships/Bob").is(t, "state", "active")
	c.want(404, "GET", "/orgs/acme/teams/owners/memberships/carol", "")
	c.want(404, "GET", "/orgs/other/teams/owners/memberships/bob", "")
	sandbox.HideTeam(g.GitHub, "owners")
	c.want(403, "GET", "/orgs/acme/teams/owners/memberships/bob", "")

	person := newCaller(t, newBusy(t, sandbox.Options{TokenOwner: "alice"}).GitHub)
	person.get("/user").is(t, "login", "alice")

	if unknown := g.UnknownRequests(); len(unknown) > 0 {
		t.Errorf("unknown: %v", unknown)
	}
	if invalid := g.InvalidRequests(); len(invalid) > 0 {
		t.Errorf("invalid: %v", invalid)
	}
	var called []string
	for _, r := range g.Requests() {
		called = append(called, r.Method+" "+r.Path)
	}
	for _, e := range sandbox.Endpoints() {
		if e != "GET /user" && !slices.ContainsFunc(called, func(have string) bool { return fits(e, have) }) {
			t.Errorf("%s was never asked", e)
		}
	}
}

// fits says whether a request is one of an endpoint's.
func fits(endpoint, request string) bool {
	want, got := strings.Split(endpoint, "/"), strings.Split(request, "/")
	for i, w := range want {
		switch {
		case i >= len(got):
			return false
		case w == "{path}" || w == "{ref}" && i == len(want)-1 || w == "{branch}":
			return true
		case strings.HasPrefix(w, "{") || w == got[i]:
		default:
			return false
		}
	}
	return len(want) == len(got)
}
