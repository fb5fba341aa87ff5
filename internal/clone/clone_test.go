package clone_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/clone"
)

// newClone is a clone with that configuration.
func newClone(t *testing.T, config string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, "init", "--quiet", dir)
	if err := os.WriteFile(filepath.Join(dir, ".git", "config"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func git(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

// repositoryOf is what the address of an origin names.
func repositoryOf(t *testing.T, address, host string) string {
	t.Helper()
	got, _, err := clone.Find(newClone(t, "[remote \"origin\"]\n\turl = "+address+"\n"))
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
	config := "[remote \"up\"]\n\turl = https://github.com/up/shop ; a comment\n[remote \"origin\"] url = short:octo/shop\n" +
		"\tpushurl = x\n[branch \"main\"]\n\turl = https://github.com/no/no\n[url \"https://github.com/\"]\n\tinsteadOf = short:\n" +
		"[REMOTE \"two\"]\nURL=git@github.com:two/shop\n"
	got, found, err := clone.Find(newClone(t, config))
	if origin, _ := got.Repository("github.com"); !found || err != nil || origin != "octo/shop" || !got.MayBeOf("UP/shop", "github.com") ||
		!got.MayBeOf("two/shop", "github.com") || got.MayBeOf("no/no", "github.com") {
		t.Errorf("%+v %v", got, err)
	}
}

// A folder in a clone, and a second working folder, are the clone's. A folder outside, and a clone without files, are none's.
func TestFindClone(t *testing.T) {
	main := newClone(t, "[remote \"origin\"]\nurl = git@github.com:octo/shop\n")
	second, bare := filepath.Join(t.TempDir(), "two"), t.TempDir()
	git(t, "-C", main, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "--message=a")
	git(t, "-C", main, "worktree", "add", "--quiet", second)
	git(t, "init", "--quiet", "--bare", bare)
	if err := os.Mkdir(filepath.Join(main, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, root := range map[string]string{main: main, filepath.Join(main, "a"): main, second: second} {
		got, found, err := clone.Find(dir)
		if repo, _ := got.Repository("github.com"); !found || err != nil || got.Root != root || repo != "octo/shop" {
			t.Errorf("%s: %+v %v", dir, got, err)
		}
	}
	for _, dir := range []string{t.TempDir(), bare} {
		if got, found, err := clone.Find(dir); found || err != nil {
			t.Errorf("%s: %+v %v", dir, got, err)
		}
	}
}

// A fault of git's is an error in its own words, without an address.
func TestAFaultOfGit(t *testing.T) {
	broken := newClone(t, "[remote \"origin\"]\nurl = https://user:canary@github.com/octo/shop\n[half\n")
	_, _, err := clone.Find(broken)
	if err == nil || !strings.Contains(err.Error(), "bad config line 3") || strings.Contains(err.Error(), "canary") {
		t.Errorf("a broken configuration: %v", err)
	}
	if _, _, err := clone.Find(filepath.Join(t.TempDir(), "nowhere")); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a folder that is not there: %v", err)
	}
	t.Setenv("PATH", "")
	if _, _, err := clone.Find(broken); err == nil || !strings.Contains(err.Error(), `"git": executable file not found`) {
		t.Errorf("no git: %v", err)
	}
}
