package main

import (
	"errors"
	"os"
	"path/filepath"
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
	for _, test := range []struct{ origin, api, want, wrong string }{
		{"https://github.com/octo/shop.git", "", "octo/shop", ""},
		{"https://github.com/octo/shop/", "https://api.github.com", "octo/shop", ""},
		{"https://somebody:canary@github.com/octo/shop", "", "octo/shop", ""},
		{"git@github.com:octo/shop.git", "", "octo/shop", ""},
		{"github.com:octo/shop.js.git", "", "octo/shop.js", ""},
		{"ssh://git@ssh.github.com:443/octo/shop.git", "", "octo/shop", ""},
		{"git@git.example.org:octo/shop.git", "https://git.example.org/api/v3", "octo/shop", ""},
		{"https://git.example.org:8443/octo/shop", "https://git.example.org:8443/api/v3/", "octo/shop", ""},
		{"https://octo.ghe.com/octo/shop", "https://api.octo.ghe.com", "octo/shop", ""},
		{"git@gitlab.com:octo/shop.git", "", "", "the clone's origin is at gitlab.com and not at github.com"},
		{"git@github.com:octo/shop.git", "https://git.example.org/api/v3", "", "the clone's origin is at github.com and not at git.example.org"},
		{"https://github.com/octo", "", "", "the clone's origin is no address of a repository on GitHub"},
		{"https://github.com/a/b/c", "", "", "the clone's origin is no address of a repository on GitHub"},
		{"../elsewhere", "", "", "the clone's origin is no address of a repository on GitHub"},
		{`C:\work\shop`, "", "", "the clone's origin is no address of a repository on GitHub"},
		{"", "", "", errNoOrigin.Error()},
	} {
		owner, name, err := originRepo(cloneOf(t, test.origin), test.api)
		got, wrong := "", ""
		if err != nil {
			wrong = err.Error()
		} else {
			got = owner + "/" + name
		}
		if got != test.want || wrong != test.wrong {
			t.Errorf("%s at %q: %q, %q; want %q, %q", test.origin, test.api, got, wrong, test.want, test.wrong)
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
		if owner, name, err := originRepo(dir, ""); owner != "octo" || name != "shop" || err != nil {
			t.Errorf("%s: %s/%s, %v", dir, owner, name, err)
		}
	}
	if _, _, err := originRepo(t.TempDir(), ""); !errors.Is(err, errNoOrigin) {
		t.Errorf("no clone: %v", err)
	}
}
