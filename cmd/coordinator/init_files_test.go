//go:build !action

package main

// Where coordinator init writes: the right clone or none, all files or none, or a pull request.

import (
	"errors"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

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
	wants(t, again, "acme/shop#2 is open already: https://")
	if err := g.Merge(2, "alice"); err != nil {
		t.Fatal(err)
	}
	code, out, said = runAt(t, server.URL, env, "init", "--pull-request")
	if code != 2 || !strings.Contains(said, "on main .github/review-coordinator.yml, "+bellPath+" and "+coordinatorPath+" exist\n") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	if code, out, said = runAt(t, server.URL, env, "init", "--dry-run"); code != 0 || !strings.HasPrefix(out, "# --- .github/review-coordinator.yml\n# yaml-") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	if len(g.UnknownRequests()) > 0 {
		t.Error(g.UnknownRequests())
	}
}

// What strangers named and wrote is quoted in the pull request's text.
func TestInitProposalIsQuoted(t *testing.T) {
	s := setup{branch: "main", listen: []string{"Review bell", "`@acme` [x](https://evil.example)\n# H"}, draft: config.Draft{
		Found: []config.Found{{Name: "a", Evidence: []string{"`<img src=x>` | @acme"}, ToFill: "x"}}, Notes: []string{"\n## H"},
	}}
	for line := range strings.Lines(s.pullBody()) {
		if strings.HasPrefix(line, "#") || strings.Contains(line, "evil") && !strings.Contains(line, "- `` ") {
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
		{server.URL + "/acme/shop", []string{"--dir", "nowhere"}, "nowhere: no such file or directory"},
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

// A failure half way leaves what was there, and nothing beside it.
func TestInitWritesAllOrNone(t *testing.T) {
	files := []initFile{{path: ".github/review-coordinator.yml", content: []byte("new\n")}, {path: bellPath, content: []byte("new\n")}}
	before := map[string]string{".github/review-coordinator.yml": "old\n", bellPath + "/in/the/way": "old\n"}
	dir := newClone(t, "x", before)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := writeAll(root, files, true); err == nil {
		t.Error("it wrote over a folder")
	}
	text, err := os.ReadFile(filepath.Join(dir, ".github/review-coordinator.yml"))
	if err != nil || string(text) != "old\n" {
		t.Errorf("%q %v", text, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, ".github"))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, bellPath)); err != nil {
		t.Fatal(err)
	}
	if err := writeAll(root, files, false); err == nil || filesOf(t, dir)[".github/review-coordinator.yml"] != "old\n" {
		t.Errorf("it wrote over a file: %v", err)
	}
	if err := writeAll(root, files, true); err != nil || !maps.Equal(filesOf(t, dir), map[string]string{files[0].path: "new\n", bellPath: "new\n"}) {
		t.Errorf("%v %v", err, filesOf(t, dir))
	}
	// A link leads nowhere else.
	outside := t.TempDir()
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, ".github")), os.Symlink(outside, filepath.Join(dir, ".github"))); err != nil {
		t.Fatal(err)
	}
	if err := writeAll(root, files, true); err == nil {
		t.Error("it wrote through a link out of the clone")
	}
}

func TestRemotes(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/octo/shop.git": "octo/shop", "https://github.com/octo/shop": "octo/shop", "https://github.com/octo/shop/": "octo/shop",
		"https://user:ghp_secret@github.com/octo/shop.git": "octo/shop", "git@github.com:octo/shop.git": "octo/shop", "github.com:octo/shop": "octo/shop",
		"ssh://git@github.com/octo/shop.git": "octo/shop", "ssh://git@ssh.github.com:443/octo/shop.git": "octo/shop", "git://github.com/octo/shop.js": "octo/shop.js",
		"HTTPS://GitHub.com/Octo/Shop": "Octo/Shop", "git@gitlab.com:octo/shop.git": "", "https://github.com.evil.example/octo/shop": "",
		"https://github.com/octo": "", "https://github.com/octo/shop/tree/main": "", "../shop": "", "/srv/git/shop.git": "", "": "",
		"https://github.com/../..": "", "git@work:octo/shop.git": "", "https://github.com/octo/sh\x1bop": "", "file:///octo/shop": "",
	} {
		if got, _ := (gitRemote{"origin", address}).repository("github.com"); got != want {
			t.Errorf("%q is %q, not %q", address, got, want)
		}
	}
	if got, _ := (gitRemote{"origin", "ssh://git@ghe.example:2222/octo/shop"}).repository("ghe.example:8443"); got != "octo/shop" {
		t.Errorf("an Enterprise Server's: %q", got)
	}
	for api, want := range map[string]string{
		"": "https://github.com", "https://api.github.com": "https://github.com", "https://api.acme.ghe.com": "https://acme.ghe.com",
		"https://ghe.example/api/v3": "https://ghe.example", "::": "https://github.com",
	} {
		if got := webAddress(api); got != want {
			t.Errorf("%q has its pages at %q, not %q", api, got, want)
		}
	}
	config := "[remote \"up\"]\n\turl = https://github.com/up/shop ; a comment\n[remote \"origin\"] url = \"https://github.com/octo/shop\"\n" +
		"\tpushurl = x\n[branch \"main\"]\n\turl = https://github.com/no/no\n[ REMOTE \"two\" ]\nURL=git@github.com:two/shop\n"
	got := gitClone{remotes: parseRemotes(config)}
	if origin, _ := got.repository("github.com"); origin != "octo/shop" || len(got.remotes) != 3 || !got.isOf("UP/shop", "github.com") ||
		!got.isOf("two/shop", "github.com") || got.isOf("no/no", "github.com") {
		t.Errorf("%+v", got)
	}
}

// A second working folder of a clone, and a folder in it, are the clone's.
func TestFindClone(t *testing.T) {
	main := newClone(t, "git@github.com:octo/shop", map[string]string{".git/worktrees/two/commondir": "../..\n", "a/b/c": ""})
	second := t.TempDir()
	if err := os.WriteFile(filepath.Join(second, ".git"), []byte("gitdir: "+main+"/.git/worktrees/two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, root := range map[string]string{main: main, filepath.Join(main, "a/b"): main, second: second} {
		clone, found, err := findClone(dir)
		if repo, _ := clone.repository("github.com"); !found || err != nil || clone.root != root || repo != "octo/shop" {
			t.Errorf("%s: %+v %v", dir, clone, err)
		}
	}
}
