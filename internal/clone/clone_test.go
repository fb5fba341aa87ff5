package clone_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/review-coordinator/coordinator/internal/clone"
)

// newClone is a folder that Git would take for a clone with that configuration, with files.
func newClone(t *testing.T, config string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{".git/config": config}
	maps.Copy(all, files)
	for name, text := range all {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// repositoryOf is what the address of an origin names.
func repositoryOf(t *testing.T, address, host string) string {
	t.Helper()
	got, _, err := clone.Find(newClone(t, "[remote \"origin\"]\n\turl = "+address+"\n", nil))
	if err != nil {
		t.Fatal(err)
	}
	repo, _ := got.Repository(host)
	return repo
}

func TestRemotes(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/octo/shop.git": "octo/shop", "https://github.com/octo/shop": "octo/shop", "https://github.com/octo/shop/": "octo/shop",
		"https://user:ghp_secret@github.com/octo/shop.git": "octo/shop", "git@github.com:octo/shop.git": "octo/shop", "github.com:octo/shop": "octo/shop",
		"ssh://git@github.com/octo/shop.git": "octo/shop", "ssh://git@ssh.github.com:443/octo/shop.git": "octo/shop",
		"git://github.com/octo/shop.js": "octo/shop.js",
		"HTTPS://GitHub.com/Octo/Shop":  "Octo/Shop", "git@gitlab.com:octo/shop.git": "", "https://github.com.evil.example/octo/shop": "",
		"https://github.com/octo": "", "https://github.com/octo/shop/tree/main": "", "../shop": "", "/srv/git/shop.git": "", "": "",
		"https://github.com/../..": "", "git@work:octo/shop.git": "", "https://github.com/octo/sh\x1bop": "", "file:///octo/shop": "",
	} {
		if got := repositoryOf(t, address, "github.com"); got != want {
			t.Errorf("%q is %q, not %q", address, got, want)
		}
	}
	if got := repositoryOf(t, "ssh://git@ghe.example:2222/octo/shop", "ghe.example:8443"); got != "octo/shop" {
		t.Errorf("an Enterprise Server's: %q", got)
	}
	config := "[remote \"up\"]\n\turl = https://github.com/up/shop ; a comment\n[remote \"origin\"] url = \"https://github.com/octo/shop\"\n" +
		"\tpushurl = x\n[branch \"main\"]\n\turl = https://github.com/no/no\n[ REMOTE \"two\" ]\nURL=git@github.com:two/shop\n"
	got, found, err := clone.Find(newClone(t, config, nil))
	if origin, _ := got.Repository("github.com"); !found || err != nil || origin != "octo/shop" || !got.IsOf("UP/shop", "github.com") ||
		!got.IsOf("two/shop", "github.com") || got.IsOf("no/no", "github.com") {
		t.Errorf("%+v %v", got, err)
	}
}

// A second working folder of a clone, and a folder in it, are the clone's.
func TestFindClone(t *testing.T) {
	main := newClone(t, "[remote \"origin\"]\nurl = git@github.com:octo/shop\n", map[string]string{".git/worktrees/two/commondir": "../..\n", "a/b/c": ""})
	second := t.TempDir()
	if err := os.WriteFile(filepath.Join(second, ".git"), []byte("gitdir: "+main+"/.git/worktrees/two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, root := range map[string]string{main: main, filepath.Join(main, "a/b"): main, second: second} {
		got, found, err := clone.Find(dir)
		if repo, _ := got.Repository("github.com"); !found || err != nil || got.Root != root || repo != "octo/shop" {
			t.Errorf("%s: %+v %v", dir, got, err)
		}
	}
}
