//go:build !action

package main

// Several files on a disk, as of coordinator init: all of them or none, and nothing that was there is lost.

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/review-coordinator/coordinator/internal/config"
)

// findRoom returns the path of the policy to write, and refuses if one of those files is in the way.
func findRoom(root *os.Root, names []string, force bool) (policyPath string, err error) {
	policyPath = config.Paths()[0]
	var there []string
	for _, name := range names {
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", usageError(err, "")
		case info.IsDir():
			return "", usageError(fmt.Errorf("%s is a folder", name), "move it away")
		}
		there = append(there, name)
	}
	if len(there) > 0 && !force {
		return "", usageError(errors.New(listThere(there)), "--force overwrites; nothing was written")
	}
	if len(there) > 0 && there[0] == config.Paths()[1] { // it is read under this name, too
		policyPath = there[0]
	}
	return policyPath, nil
}

// listThere says which files exist.
func listThere(there []string) string {
	if len(there) == 1 {
		return there[0] + " exists"
	}
	return strings.Join(there[:len(there)-1], ", ") + " and " + there[len(there)-1] + " exist"
}

// A newFile is a file to write.
type newFile struct {
	path    string
	content []byte
	mode    fs.FileMode
	does    string // for the person
}

// writeAll writes the files. Each is written beside its place first, so that a full disk is noticed before anything
// changes; a failure after that puts back what was there.
func writeAll(root *os.Root, files []newFile, force bool) (err error) {
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0; i-- {
			if undone := undo[i](); undone != nil && err != nil {
				err = errors.Join(err, undone)
			}
		}
	}()
	beside := make([]string, len(files))
	for i, f := range files {
		if err := root.MkdirAll(path.Dir(f.path), 0o755); err != nil {
			return usageError(fmt.Errorf("write %s: %w", f.path, err), "")
		}
		beside[i] = f.path + "." + rand.Text()[:8]
		undo = append(undo, func() error { return removeIfThere(root, beside[i]) })
		if err := writeNew(root, beside[i], f); err != nil {
			return usageError(fmt.Errorf("write %s: %w", f.path, err), "")
		}
	}
	clean := undo
	for i, f := range files {
		before, err := root.ReadFile(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			undo = append(undo, func() error { return removeIfThere(root, f.path) })
		case err != nil:
			return usageError(fmt.Errorf("write %s: %w", f.path, err), "")
		case !force: // it came while the repository was read
			return usageError(fmt.Errorf("%s exists", f.path), "--force overwrites; nothing was written")
		default:
			undo = append(undo, func() error { return root.WriteFile(f.path, before, f.mode) })
		}
		if err := root.Rename(beside[i], f.path); err != nil {
			return usageError(fmt.Errorf("write %s: %w", f.path, err), "")
		}
	}
	undo = clean
	return nil
}

// writeNew writes a file that is not there, down to the disk.
func writeNew(root *os.Root, name string, file newFile) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, file.mode)
	if err != nil {
		return err
	}
	_, err = f.Write(file.content)
	return errors.Join(err, f.Sync(), f.Close())
}

// removeIfThere removes a file that may be gone.
func removeIfThere(root *os.Root, name string) error {
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
