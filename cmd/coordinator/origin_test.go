package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cloneOf makes a folder that looks like a clone with that origin.
func cloneOf(t *testing.T, origin string) string {
	t.Helper()
	dir := t.TempDir()
	writeTo(t, filepath.Join(dir, ".git", "config"), "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = https://github.com/zed/shop\n"+
		"[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\turl = "+origin+"\n[branch \"main\"]\n\tremote = origin\n")
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

func TestOriginRepo(t *testing.T) {
	for _, test := range []struct{ origin, api, wrong string }{
		{"https://github.com/octo/shop.git", "", ""},
		{"https://github.com/octo/shop/", "https://api.github.com", ""},
		{"https://somebody:canary@github.com/octo/shop", "", ""},
		{"git@github.com:octo/shop.git", "", ""},
		{"github.com:octo/shop.js.git", "", ""},
		{"ssh://git@ssh.github.com:443/octo/shop.git", "", ""},
		{"git@git.example.org:octo/shop.git", "https://git.example.org/api/v3", ""},
		{"https://git.example.org:8443/octo/shop", "https://git.example.org:8443/api/v3/", ""},
		{"https://octo.ghe.com/octo/shop", "https://api.octo.ghe.com", ""},
		{"git@gitlab.com:octo/shop.git", "", "the clone's origin is at gitlab.com and not at github.com"},
		{"git@github.com:octo/shop.git", "https://git.example.org/api/v3", "the clone's origin is at github.com and not at git.example.org"},
		{"https://github.com/octo", "", "the clone's origin is no address of a repository on GitHub"},
		{"https://github.com/a/b/c", "", "the clone's origin is no address of a repository on GitHub"},
		{"../elsewhere", "", "the clone's origin is no address of a repository on GitHub"},
		{`C:\work\shop`, "", "the clone's origin is no address of a repository on GitHub"},
		{"", "", "no clone with an origin"},
	} {
		want := test.wrong
		if want == "" { // with a repository, a token is looked for
			want = "there is no token"
		}
		said := sayOf(t, cloneOf(t, test.origin), map[string]string{"GITHUB_API_URL": test.api}, "sweep")
		if !strings.Contains(said, want) || strings.Contains(said, "canary") {
			t.Errorf("%s at %q: %s; want %s", test.origin, test.api, said, want)
		}
	}
}

// A worktree has a file for a .git, and shares the config of its clone; below a clone's root it is the same.
func TestOriginOfWorktree(t *testing.T) {
	clone, tree := cloneOf(t, "https://github.com/octo/shop"), t.TempDir()
	own := filepath.Join(clone, ".git", "worktrees", "tree")
	writeTo(t, filepath.Join(own, "commondir"), "../..\n")
	writeTo(t, filepath.Join(tree, ".git"), "gitdir: "+own+"\n")
	writeTo(t, filepath.Join(tree, "deep", "down", "file"), "")
	for _, dir := range []string{tree, filepath.Join(tree, "deep", "down"), clone} {
		if said := sayOf(t, dir, nil, "sweep"); !strings.Contains(said, "there is no token") {
			t.Errorf("%s: %s", dir, said)
		}
	}
	if said := sayOf(t, t.TempDir(), nil, "sweep"); !strings.Contains(said, "no clone with an origin") {
		t.Errorf("no clone: %s", said)
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
