//go:build !action && unix

package main

// The folder of a new App's secrets, where others have been before, or come in between.

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// setupInto runs serve setup into a folder that it should refuse, before it shows a page or asks anything.
func setupInto(t *testing.T, dir string, flags ...string) (said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }}
	args := append([]string{"serve", "setup", "--webhook", "https://quorum.example.com/webhook", "--timeout", "1s", "--dir", dir}, flags...)
	if code := c.Main(t.Context(), args); code != 2 || stdout.Len() > 0 {
		t.Errorf("%s: exit %d, prints %s", dir, code, &stdout)
	}
	return stderr.String()
}

func TestServeSetupRefusesFolders(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	prepare := func(errs ...error) {
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	prepare(
		os.Mkdir(at("real"), 0o700), os.Symlink(at("real"), at("link")), os.Symlink(at("nowhere"), at("dangling")), os.WriteFile(at("file"), nil, 0o600),
	)
	cases := map[string]string{
		at("real"):     "is there already",
		at("link"):     "is there already",
		at("dangling"): "is there already",
		at("file"):     "is there already",
		at("none/app"): "is not there",
		at("a b"):      "has a space or a sign",
		at("$(id)"):    "has a space or a sign",
	}
	for dir, want := range cases {
		if said := setupInto(t, dir); !strings.Contains(said, want) || !strings.Contains(said, "hint: ") {
			t.Errorf("%s: it says %s", dir, said)
		}
	}
	if left, err := os.ReadDir(at("real")); err != nil || len(left) != 0 {
		t.Errorf("it wrote through the link: %v, %v", left, err)
	}
	if said := setupInto(t, at("new"), "--listen", "0.0.0.0:0"); !strings.Contains(said, "is reached by other machines") {
		t.Errorf("it says %s", said)
	}
	if _, err := os.Lstat(at("new")); !os.IsNotExist(err) {
		t.Errorf("a folder is left: %v", err)
	}
}

// What is written is its owner's alone, whatever the umask.
func TestServeSetupWritesPrivateFiles(t *testing.T) {
	for _, umask := range []int{0, 0o077} {
		old := syscall.Umask(umask)
		defer syscall.Umask(old)
		s := startSetup(t, sandbox.HubOptions{})
		if res, _ := s.visit(http.MethodGet, s.pressButton(), "", ""); res.StatusCode != 200 {
			t.Errorf("%d: %s", res.StatusCode, s.stderr)
		}
		if code := s.wait(); code != 0 || s.stderr.String() != "" {
			t.Errorf("exit %d: %s", code, s.stderr)
		}
		syscall.Umask(0o022)
		for name, want := range map[string]fs.FileMode{"": fs.ModeDir | 0o700, "app.pem": 0o600, "webhook-secret": 0o600, "env": 0o600} {
			if info, err := os.Lstat(filepath.Join(s.dir, name)); err != nil || info.Mode() != want {
				t.Errorf("umask %o: %q is %v, %v", umask, name, info.Mode(), err)
			}
		}
		s.tellsNoSecret(s.dir)
	}
}

// The folder is replaced by another user's while the person is on GitHub's page: that one gets nothing, and nobody is told
// to read its settings. Once the own one is back, all is well.
func TestServeSetupIntoAReplacedFolder(t *testing.T) {
	s := startSetup(t, sandbox.HubOptions{})
	back, theirs, moved := s.pressButton(), t.TempDir(), filepath.Join(t.TempDir(), "moved")
	if err := errors.Join(os.Rename(s.dir, moved), os.Symlink(theirs, s.dir)); err != nil {
		t.Fatal(err)
	}
	if res, _ := s.visit(http.MethodGet, back, "", ""); res.StatusCode != 502 || !strings.Contains(s.stderr.String(), "was replaced; do not stop") {
		t.Errorf("%d: %s", res.StatusCode, s.stderr)
	}
	if left, _ := os.ReadDir(theirs); len(left) != 0 || strings.Contains(s.out.String(), s.dir) {
		t.Errorf("the other folder got %v: %s", left, s.out)
	}
	if err := errors.Join(os.Remove(s.dir), os.Rename(moved, s.dir)); err != nil {
		t.Fatal(err)
	}
	if res, _ := s.visit(http.MethodGet, back, "", ""); res.StatusCode != 200 {
		t.Errorf("%d: %s", res.StatusCode, s.stderr)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("exit %d: %s", code, s.stderr)
	}
	s.tellsNoSecret(s.dir)
}
