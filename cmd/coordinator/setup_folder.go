//go:build !action

package main

// The folder into which serve setup writes a new App's secrets. It is always a new one, for its owner alone: nothing of
// another App is in the way, and no file or link of another user's. Everything goes through the folder as it was opened.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// The files of an App. The environment file is written last: where it is, the others are, too.
const (
	appKeyFile    = "app.pem"
	appSecretFile = "webhook-secret"
	appEnvFile    = "env"
)

// An appFolder is an open folder of ours alone.
type appFolder struct {
	path string // absolute
	root *os.Root
}

// makeAppFolder makes the folder. One that is there is refused, whoever made it.
func makeAppFolder(dir string) (*appFolder, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, usageError(fmt.Errorf("find --dir: %w", err), "")
	}
	if !isPlainValue(filepath.ToSlash(path)) {
		return nil, usageError(
			fmt.Errorf("--dir %s has a space or a sign that an environment file cannot hold", oneLine(path)),
			"choose a folder whose whole path has letters, digits and / . _ - alone: a shell, systemd and docker read the file alike then",
		)
	}
	switch err := os.Mkdir(path, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return nil, usageError(
			fmt.Errorf("--dir %s is there already, perhaps with an App that is in use", path),
			"name a folder that is not there yet: GitHub does not show an App's key again, so nothing is written beside another's",
		)
	case errors.Is(err, fs.ErrNotExist):
		return nil, usageError(
			fmt.Errorf("the folder in which --dir %s would be made is not there", path),
			"make it first, or choose another --dir",
		)
	case err != nil:
		return nil, usageError(fmt.Errorf("make --dir: %w", err), "choose a folder that you may write")
	}
	f := &appFolder{path: path}
	if f.root, err = os.OpenRoot(path); err == nil {
		err = f.checkInPlace()
	}
	if err != nil {
		f.close()
		return nil, usageError(fmt.Errorf("open --dir: %w", err), "choose a folder that no other user can move")
	}
	return f, nil
}

// checkInPlace checks that the folder is ours, and still has its name: the environment file says where the key is by that,
// and a shell reads that file.
func (f *appFolder) checkInPlace() error {
	named, err := os.Lstat(f.path)
	if err != nil {
		return err
	}
	ours, err := f.root.Stat(".")
	if err == nil && (!os.SameFile(named, ours) || isAnothers(ours)) {
		err = fmt.Errorf("%s was replaced", f.path)
	}
	return err
}

// writeFiles writes files that only their owner can read, all or none, and replaces nothing.
func (f *appFolder) writeFiles(files []newFile) error {
	if err := f.checkInPlace(); err != nil {
		return err
	}
	if err := writeAll(f.root, files, false); err != nil {
		return err
	}
	if dir, err := f.root.Open("."); err == nil { // GitHub does not show the key again: its name must outlive a power cut, too
		_ = errors.Join(dir.Sync(), dir.Close()) // Windows cannot
	}
	return nil
}

// close closes the folder, and removes it if it is empty.
func (f *appFolder) close() {
	if f.root != nil {
		_ = f.root.Close() // nothing was written through it
	}
	_ = os.Remove(f.path)
}

// isPlainValue reports whether a shell, systemd and docker read a text in an environment file alike, without quotes.
func isPlainValue(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@,:=[]", r)
	})
}
