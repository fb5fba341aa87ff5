package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
)

// A pull request is understood however it is at hand.
func TestPullReferences(t *testing.T) {
	const enterprise = "https://git.example.org/api/v3"
	for _, test := range []struct{ text, api, want string }{
		{"7", "", "/#7"},
		{"#7", "", "/#7"},
		{" 7\n", "", "/#7"},
		{"octo/shop#7", "", "octo/shop#7"},
		{"octo/shop/pull/7", "", "octo/shop#7"},
		{"octo/shop/pull/7/", "", "octo/shop#7"},
		{"github.com/octo/shop/pull/7", "", "octo/shop#7"},
		{"https://github.com/octo/shop/pull/7", "", "octo/shop#7"},
		{"https://www.github.com/octo/shop/pull/7", "https://api.github.com", "octo/shop#7"},
		{"http://github.com/octo/shop/pull/7/files", "", "octo/shop#7"},
		{"https://github.com/octo/shop/pull/7/checks?check_run_id=5", "", "octo/shop#7"},
		{"https://github.com/octo/shop/pull/7/commits/0123abc", "", "octo/shop#7"},
		{"https://github.com/octo/shop.js/pull/7#issuecomment-12", "", "octo/shop.js#7"},
		{"https://github.com/octo/shop/pull/7/files#diff-1?x", "", "octo/shop#7"},
		{"https://GitHub.com/Octo/Shop/pull/7#discussion_r1", "", "Octo/Shop#7"},
		{"https://git.example.org/octo/shop/pull/7/files", enterprise, "octo/shop#7"},
		{"git.example.org/octo/shop/pull/7", enterprise, "octo/shop#7"},
		{"octo/shop#7", enterprise, "octo/shop#7"},
		{"https://octo.ghe.com/octo/shop/pull/7", "https://api.octo.ghe.com", "octo/shop#7"},
	} {
		// What is understood is named where another repository is asked for; a number alone needs one.
		args, want := []string{"explain", test.text, "--repo", "octo/other"}, "is not the repository of "+test.want+"\n"
		if strings.HasPrefix(test.want, "/") {
			want = "there is no token"
		}
		if said := sayOf(t, "", map[string]string{"GITHUB_API_URL": test.api}, args...); !strings.Contains(said, want) {
			t.Errorf("%q at %q: %s; want %s", test.text, test.api, said, want)
		}
	}
	for _, text := range []string{
		"", "0", "#0", "-7", "7.5", "1234567890", "octo/shop", "octo/shop#", "octo/shop#0", "octo/shop#7x", "../shop#7", "octo/..#7",
		"https://github.com/octo/shop/issues/7", "https://github.com/octo/shop/pull/x", "https://github.com/pull/7", "ftp://github.com/octo/shop/pull/7",
		"https://github.com.evil.example/octo/shop/pull/7", "https://octo@evil.example/octo/shop/pull/7", "https://git.example.org/octo/shop/pull/7",
	} {
		said := sayOf(t, "", nil, "explain", "--", text)
		if !strings.Contains(said, "coordinator: ") || !strings.Contains(said, "\nhint: ") || strings.Contains(said, "token\n") {
			t.Errorf("%q: %s; want an error with a hint", text, said)
		}
	}
}

// A number is one of the repository that is named, else of the job's, else of the clone's origin.
func TestPullOfWhichRepository(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	clone := cloneOf(t, "git@127.0.0.1:octo/cloned.git")
	for _, test := range []struct{ text, repo, env, want string }{
		{"7", "octo/named", "octo/jobs", "octo/named#7"},
		{"7", "https://127.0.0.1/octo/named.git", "octo/jobs", "octo/named#7"},
		{"7", "", "octo/jobs", "octo/jobs#7"},
		{"7", "", "", "octo/cloned#7"},
		{"octo/own#7", "", "octo/jobs", "octo/own#7"},
		{"octo/own#7", "OCTO/own", "octo/jobs", "octo/own#7"},
	} {
		env := map[string]string{"GITHUB_API_URL": server.URL, "GITHUB_TOKEN": "ghs_x", "GITHUB_REPOSITORY": test.env}
		said := sayOf(t, clone, env, "explain", test.text, "--repo="+test.repo)
		if !strings.Contains(said, "observe "+test.want+": ") {
			t.Errorf("%+v: %s", test, said)
		}
	}
}

// cloneOf makes a clone with that origin.
func cloneOf(t *testing.T, origin string) string {
	t.Helper()
	dir := t.TempDir()
	makeClone(t, dir, origin)
	return dir
}

func makeClone(t *testing.T, dir, origin string) {
	t.Helper()
	for _, args := range [][]string{{"init", "--quiet", dir}, {"-C", dir, "remote", "add", "origin", origin}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
}

// sayOf returns what the program says where it fails, to a person who stands in that folder.
func sayOf(t *testing.T, folder string, env map[string]string, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	c := &command{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Folder: folder, Getenv: func(name string) string { return env[name] },
	}
	if code := c.Main(t.Context(), args); code == 0 {
		t.Errorf("%q: exit 0: %s", args, out.String())
	}
	return said.String()
}
