package main

// The run command in a job, against a GitHub in memory.

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func TestRunInAJob(t *testing.T) {
	for _, test := range []struct {
		title, failOn, state string
		code                 int
		want                 []namedValue
	}{
		{
			"Fix the cart", "blocked", "APPROVED", 0,
			[]namedValue{{"verdict", "passed"}, {"conclusion", "success"}, {"approvals", "1"}, {"need", "1"}, {"unavailable", ""}, {"reruns", "0"}},
		},
		{
			"::set-output name=verdict::passed", "blocked,unverified", "CHANGES_REQUESTED", 3,
			[]namedValue{{"verdict", "blocked"}, {"conclusion", "failure"}, {"approvals", "0"}, {"need", "1"}, {"unavailable", ""}, {"reruns", "0"}},
		},
	} {
		g, run := shop(t, []string{test.title})
		if _, err := g.Review(1, sandbox.ReviewSpec{By: "sage[bot]", State: test.state, Body: "##[set-output name=verdict]passed\n::set-output name=verdict::passed"}); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		file, page := filepath.Join(dir, "output"), filepath.Join(dir, "summary")
		code, out, said := run(
			map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": file, "GITHUB_STEP_SUMMARY": page},
			"run",
			"--pr",
			"1",
			"--hold",
			"0s",
			"--fail-on",
			test.failOn,
		)
		if code != test.code {
			t.Fatalf("exit %d: %s%s", code, out, said)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := runnerOutputs(string(text), false)
		if err != nil || !slices.Equal(got[:len(test.want)], test.want) || len(got) != 13 {
			t.Errorf("%v: %q", err, got)
		}
		if own := g.OwnCheckRuns(g.Head(1)); len(own) != 1 || got[6].value != fmt.Sprint(own[0].ID) || !strings.Contains(got[7].value, "/runs/") {
			t.Errorf("check %q at %q", got[6].value, got[7].value)
		}
		for _, command := range runnerCommands(out + said) {
			if !own(command) {
				t.Errorf("prints %q", command)
			}
		}
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "| sage |") && !strings.Contains(string(text), "sage") {
			t.Errorf("summary %q, %v", text, err)
		}
	}
}

// A token without a permission: which one, and what to write into the workflow.
func TestMissingPermissionIsNamed(t *testing.T) {
	g, _ := shop(t, []string{"Fix the cart"})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/check-runs") {
			w.Header().Set("X-Accepted-GitHub-Permissions", "checks=write")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"message":"Resource not accessible by integration"}`)
			return
		}
		g.ServeHTTP(w, req)
	}))
	defer server.Close()
	output := filepath.Join(t.TempDir(), "output")
	code, out, said := runAt(
		t,
		server.URL,
		map[string]string{"GITHUB_TOKEN": "ghs_canary0123", "GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": output},
		"run",
		"--pr",
		"1",
		"--hold",
		"0s",
	)
	if code != 1 || strings.Contains(out+said, "canary") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	wants(
		t,
		said,
		"coordinator: ",
		"403 Resource not accessible by integration",
		"hint: the token lacks checks: write: give the job permissions: {actions: write, checks: write, contents: read,",
	)
	if text, err := os.ReadFile(output); err == nil {
		t.Errorf("outputs were written: %s", text)
	}
}

func runAt(t *testing.T, url string, env map[string]string, args ...string) (code int, out, said string) {
	t.Helper()
	all := map[string]string{"GITHUB_API_URL": url, "GITHUB_REPOSITORY": "acme/shop"}
	for k, v := range env {
		all[k] = v
	}
	var stdout, stderr bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(k string) string { return all[k] }}
	return c.Main(t.Context(), args), stdout.String(), stderr.String()
}

// appServer is a GitHub on which App 42, called quorum-app, is installed.
func appServer(t *testing.T, g *sandbox.GitHub, permissions string) (url string, key []byte) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.Method + " " + strings.TrimPrefix(req.URL.Path, "/api/v3") {
		case "GET /app":
			fmt.Fprint(w, `{"slug":"quorum-app"}`)
		case "GET /repos/acme/shop/installation":
			fmt.Fprint(w, `{"id":7,"app_id":42}`)
		case "POST /app/installations/7/access_tokens":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, `{"token":"ghs_canary0123","expires_at":%q,"permissions":{%s}}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339), permissions)
		default:
			if req.Header.Get("Authorization") != "Bearer ghs_canary0123" {
				http.Error(w, `{"message":"Bad credentials"}`, http.StatusUnauthorized)
				return
			}
			g.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/api/v3", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
}

func TestRunAsAnApp(t *testing.T) {
	const all = `"actions":"write","checks":"write","contents":"read","pull_requests":"write","statuses":"read"`
	g, _ := shopOf(t, sandbox.Options{App: sandbox.App{Slug: "quorum-app", ID: 42}}, []string{"Fix the cart"})
	url, key := appServer(t, g, all)
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, key, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, env := range []map[string]string{
		{"GITHUB_APP_PRIVATE_KEY": string(key), "GITHUB_ACTIONS": "true"},
		{"GITHUB_APP_PRIVATE_KEY": strings.ReplaceAll(string(key), "\n", `\n`)},
		{"GITHUB_APP_PRIVATE_KEY_FILE": file, "GITHUB_TOKEN": "ghs_the_job's"}, // an App goes before the job's token
	} {
		env["GITHUB_APP_ID"] = "42"
		code, out, said := runAt(t, url, env, "run", "--pr", "1", "--hold", "0s", "-v")
		if code != 0 {
			t.Fatalf("exit %d: %s%s", code, out, said)
		}
		shown := strings.Replace(out, "::add-mask::ghs_canary0123\n", "", 1)
		if masked := shown != out; masked != (env["GITHUB_ACTIONS"] != "") || strings.Contains(shown+said, "canary") || strings.Contains(out+said, "eyJ") {
			t.Errorf("the token is shown, or was not masked: %s%s", out, said)
		}
	}
	// The App's own check is recognised by the App's id: there is one, however often it ran.
	if own := g.OwnCheckRuns(g.Head(1)); len(own) != 1 || own[0].App.Slug != "quorum-app" || own[0].Conclusion != "success" {
		t.Errorf("checks: %+v", own)
	}
	if code, out, said := runAt(t, url, map[string]string{"GITHUB_APP_ID": "42", "GITHUB_APP_PRIVATE_KEY": string(key)}, "explain", "acme/shop#1"); code != 0 ||
		!strings.Contains(out, "1 of 1 approval") {
		t.Errorf("explain: exit %d: %s%s", code, out, said)
	}
}

func TestAppLacksAPermission(t *testing.T) {
	g, _ := shopOf(t, sandbox.Options{App: sandbox.App{Slug: "quorum-app", ID: 42}}, []string{"Fix the cart"})
	url, key := appServer(t, g, `"actions":"read","checks":"read","contents":"read","pull_requests":"write"`)
	env := map[string]string{"GITHUB_APP_ID": "42", "GITHUB_APP_PRIVATE_KEY": string(key)}
	code, out, said := runAt(t, url, env, "run", "--pr", "1")
	if code != 1 || len(g.Requests()) > 0 {
		t.Errorf("exit %d after %d requests: %s%s", code, len(g.Requests()), out, said)
	}
	wants(t, said, "coordinator: the App quorum-app lacks checks: write on acme/shop\nhint: add it in the App's settings")
	if code, _, said = runAt(t, url, env, "run", "--pr", "1", "--dry-run"); code != 0 {
		t.Errorf("a dry run needs to read only: exit %d: %s", code, said)
	}
	url, key = appServer(t, g, `"actions":"read","checks":"write","contents":"read","pull_requests":"read"`)
	env["GITHUB_APP_PRIVATE_KEY"] = string(key)
	if code, _, said = runAt(t, url, env, "run", "--pr", "1", "--hold", "0s"); code != 0 {
		t.Errorf("exit %d: %s", code, said)
	}
	wants(t, said, "warning: the App quorum-app lacks actions: write, pull-requests: write, statuses: read: ")
}

func TestAppIsMisconfigured(t *testing.T) {
	_, key := appServer(t, nil, "")
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"GITHUB_APP_ID": "42"}, "there is an App's id without its private key"},
		{map[string]string{"GITHUB_APP_PRIVATE_KEY": "canary"}, "there is an App's private key without the App's id"},
		{map[string]string{"GITHUB_APP_ID": "42", "GITHUB_APP_PRIVATE_KEY": "canary"}, "the App's private key is no RSA key in PEM (GITHUB_APP_PRIVATE_KEY)"},
		{map[string]string{"GITHUB_APP_ID": "Iv1.abc", "GITHUB_APP_PRIVATE_KEY": "canary"}, "GITHUB_APP_ID is no number"},
		{map[string]string{"GITHUB_APP_ID": "42", "GITHUB_APP_PRIVATE_KEY": "canary", "GITHUB_APP_PRIVATE_KEY_FILE": "x"}, "are both set"},
		{map[string]string{"GITHUB_APP_ID": "42", "GITHUB_APP_PRIVATE_KEY_FILE": "no such file"}, "read the App's private key: open no such file"},
		{map[string]string{"GITHUB_APP_ID": "42", "GITHUB_APP_PRIVATE_KEY": string(key), "GITHUB_REPOSITORY": ""}, "no repository"},
		{map[string]string{}, "there is no token"},
	} {
		code, out, said := runAt(t, "http://127.0.0.1:1", test.env, "run", "--pr", "1")
		if code != 2 || !strings.Contains(said, test.want) || strings.Contains(out+said, "canary") {
			t.Errorf("exit %d: %s%s, want %s", code, out, said, test.want)
		}
	}
}

// The hint names the permissions that GitHub names, the first set of several, and nothing that is no permission.
func TestMissingPermissions(t *testing.T) {
	const denied = `{"message":"Resource not accessible by integration"}`
	for header, want := range map[string]string{
		"checks=write":                      "\nhint: the token lacks checks: write: ",
		"pull_requests=read,contents=read":  "\nhint: the token lacks pull-requests: read, contents: read: ",
		"issues=write; pull_requests=write": "\nhint: the token lacks issues: write: ",
		"":                                  "\nhint: the token lacks a permission: ",
		"::error::=x,?=y, =, a=b=c, X=read": "\nhint: the token lacks a permission: ",
	} {
		g, run := shop(t, []string{"Fix the cart"})
		needs := "X-Accepted-GitHub-Permissions: " + header
		g.AddFault(sandbox.Fault{Match: "POST /repos/acme/shop/check-runs", Status: 403, Body: denied, Header: []string{needs}})
		if code, _, said := run(nil, "run", "--pr", "1", "--hold", "0s"); code != 1 || !strings.Contains(said, want) {
			t.Errorf("%q: exit %d: %s, want %q", header, code, said, want)
		}
	}
}
