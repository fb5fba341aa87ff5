package main

import (
	"errors"
	"os"
	"path/filepath"
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
		pr, err := parsePull(test.text, test.api)
		if err != nil || pr.String() != test.want {
			t.Errorf("%q at %q: %s, %v; want %s", test.text, test.api, pr, err, test.want)
		}
	}
	for _, text := range []string{
		"", "0", "#0", "-7", "7.5", "1234567890", "octo/shop", "octo/shop#", "octo/shop#0", "octo/shop#7x", "../shop#7", "octo/..#7",
		"https://github.com/octo/shop/issues/7", "https://github.com/octo/shop/pull/x", "https://github.com/pull/7", "ftp://github.com/octo/shop/pull/7",
		"https://github.com.evil.example/octo/shop/pull/7", "https://octo@evil.example/octo/shop/pull/7", "https://git.example.org/octo/shop/pull/7",
	} {
		pr, err := parsePull(text, "")
		var wrong *exitError
		if !errors.As(err, &wrong) || wrong.code != exitUsage || wrong.hint == "" {
			t.Errorf("%q: %s, %v; want a usage error with a hint", text, pr, err)
		}
	}
}

// A number is one of the repository that is named, else of the job's, else of the clone's origin.
func TestPullOfWhichRepository(t *testing.T) {
	clone := cloneOf(t, "git@github.com:octo/cloned.git")
	for _, test := range []struct{ text, repo, env, folder, want string }{
		{"7", "octo/named", "octo/jobs", clone, "octo/named#7"},
		{"7", "https://github.com/octo/named.git", "octo/jobs", clone, "octo/named#7"},
		{"7", "", "octo/jobs", clone, "octo/jobs#7"},
		{"7", "", "", clone, "octo/cloned#7"},
		{"octo/own#7", "", "octo/jobs", clone, "octo/own#7"},
		{"octo/own#7", "OCTO/own", "octo/jobs", clone, "octo/own#7"},
	} {
		c := &command{Folder: test.folder, Getenv: func(name string) string { return map[string]string{"GITHUB_REPOSITORY": test.env}[name] }}
		if pr, err := c.resolvePull(test.text, test.repo, "explain"); err != nil || pr.String() != test.want {
			t.Errorf("%+v: %s, %v", test, pr, err)
		}
	}
}

// cloneOf makes a folder that looks like a clone with that origin.
func cloneOf(t *testing.T, origin string) string {
	t.Helper()
	dir := t.TempDir()
	writeTo(t, filepath.Join(dir, ".git", "config"), "[remote \"origin\"]\n\turl = "+origin+"\n")
	return dir
}

func writeTo(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
