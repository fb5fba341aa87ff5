//go:build !action && unix

package main

// The folder of a new App's secrets, where others have been before, or come in between.

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// setupInto runs serve setup into a folder that it should refuse, before it shows a page or asks anything.
func setupInto(t *testing.T, dir string, flags ...string) (said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := &command{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }}
	args := append([]string{"serve", "setup", "--webhook", "https://quorum.example.com/webhook", "--timeout", "1s", "--dir", dir}, flags...)
	if code := c.Main(t.Context(), args); code != exitUsage || stdout.Len() > 0 {
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
		os.Mkdir(at("real"), 0o700), os.Symlink(at("real"), at("link")), os.Symlink(at("nowhere"), at("dangling")),
		os.WriteFile(at("file"), nil, 0o600), os.Mkdir(at("open"), 0o700), os.Chmod(at("open"), 0o770),
		os.Mkdir(at("used"), 0o700), os.Symlink(at("victim"), at("used/app.pem")),
	)
	cases := map[string]string{
		at("link"):     "is a symbolic link",
		at("dangling"): "is a symbolic link",
		at("file"):     "is no folder",
		at("open"):     "others may write into --dir",
		at("used"):     "app.pem is there already",
		at("none/app"): "is not there",
		at("a b"):      "has a space or a sign",
		at("$(id)"):    "has a space or a sign",
	}
	if os.Geteuid() == 0 {
		prepare(os.Mkdir(at("anothers"), 0o700), os.Chown(at("anothers"), 12345, 12345))
		cases[at("anothers")] = "belongs to another user"
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

// With --force links are replaced and not followed, and what is written is its owner's alone, whatever the umask.
func TestAppFilesArePrivateAndFollowNoLink(t *testing.T) {
	for _, umask := range []int{0, 0o077, 0o777} {
		dir, victim := filepath.Join(t.TempDir(), "app"), filepath.Join(t.TempDir(), "victim")
		old := syscall.Umask(umask)
		defer syscall.Umask(old)
		made, err := openAppFolder(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		syscall.Umask(0o022)
		for _, name := range []string{appKeyFile, appSecretFile, appEnvFile} {
			if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		files := []appFile{{appKeyFile, "key"}, {appSecretFile, "secret"}, {appEnvFile, "env"}}
		if err := made.write(files); err == nil { // they came after it was opened
			t.Error("it replaced what it may not")
		}
		if left, _ := os.ReadDir(dir); len(left) != 3 {
			t.Errorf("%d files are in the folder", len(left))
		}
		made.force = true
		syscall.Umask(umask)
		if err := made.write(files); err != nil {
			t.Error(err)
		}
		syscall.Umask(0o022)
		made.close()
		for _, file := range files {
			info, err := os.Lstat(filepath.Join(dir, file.name))
			if err != nil || info.Mode() != 0o600 {
				t.Errorf("umask %o: %s is %v, %v", umask, file.name, info.Mode(), err)
			}
			if text, err := os.ReadFile(filepath.Join(dir, file.name)); err != nil || string(text) != file.content {
				t.Errorf("%s holds %q, %v", file.name, text, err)
			}
		}
		if info, err := os.Lstat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("umask %o: the folder is %v, %v", umask, info.Mode(), err)
		}
		if _, err := os.Lstat(victim); !os.IsNotExist(err) {
			t.Errorf("a link was followed: %v", err)
		}
	}
}

// The folder is replaced by another user's while the person is on GitHub's page: that one gets nothing.
func TestAReplacedFolderGetsNothing(t *testing.T) {
	dir, moved := filepath.Join(t.TempDir(), "app"), filepath.Join(t.TempDir(), "moved")
	folder, err := openAppFolder(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.close()
	theirs := t.TempDir()
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(theirs, dir); err != nil {
		t.Fatal(err)
	}
	if err := folder.write([]appFile{{appKeyFile, "key"}, {appEnvFile, "env"}}); err == nil {
		t.Error("nobody was told that the files are elsewhere")
	}
	if left, _ := os.ReadDir(theirs); len(left) != 0 {
		t.Errorf("the other folder got %v", left)
	}
}
