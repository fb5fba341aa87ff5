//go:build !action

package main

// The folder into which serve setup writes a new App's secrets. GitHub shows them once: all that can be wrong with the
// folder is found before GitHub is asked, and nothing that was written is lost by a crash. Everything goes through the
// folder as it was opened: another user who puts a link into its place gets nothing.

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// The files of an App. The environment file is written last: where it is, the others are, too.
const (
	appKeyFile    = "app.pem"
	appSecretFile = "webhook-secret"
	appEnvFile    = "env"
)

// An appFile is a file of an App, and what is in it.
type appFile struct{ name, content string }

// An appFolder is an open folder of ours alone.
type appFolder struct {
	path  string // absolute
	root  *os.Root
	force bool // what is there may be replaced
	made  bool // by us, just now
}

// openAppFolder opens the folder, which it makes if it is not there, and finds out whether it can be written.
func openAppFolder(dir string, force bool) (_ *appFolder, err error) {
	f := &appFolder{force: force}
	if f.path, err = filepath.Abs(dir); err != nil {
		return nil, usageError(fmt.Errorf("find --dir: %w", err), "")
	}
	if !isPlainValue(filepath.ToSlash(f.path)) {
		return nil, usageError(
			fmt.Errorf("--dir %s has a space or a sign that an environment file cannot hold", oneLine(f.path)),
			"choose a folder whose whole path has letters, digits and / . _ - alone: a shell, systemd and docker read the file alike then",
		)
	}
	switch err := os.Mkdir(f.path, 0o700); {
	case errors.Is(err, fs.ErrExist):
	case errors.Is(err, fs.ErrNotExist):
		return nil, usageError(
			fmt.Errorf("the folder in which --dir %s would be made is not there", f.path),
			"make it first, or choose another --dir",
		)
	case err != nil:
		return nil, usageError(fmt.Errorf("make --dir: %w", err), "choose a folder that you may write")
	default:
		f.made = true
	}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if err := f.openOwn(); err != nil {
		return nil, err
	}
	if err := f.refuseExisting(); err != nil {
		return nil, err
	}
	if err := f.writeTemporary(".writable", strings.Repeat(".", 16<<10)); err != nil { // more than is ever written
		return nil, usageError(fmt.Errorf("write into --dir: %w", err), "choose a folder that you may write, on a disk with room")
	}
	return f, f.root.Remove(".writable")
}

// openOwn opens the folder, if it is one, and ours.
func (f *appFolder) openOwn() error {
	before, err := os.Lstat(f.path)
	switch {
	case err != nil:
		return usageError(fmt.Errorf("look at --dir: %w", err), "")
	case before.Mode()&fs.ModeSymlink != 0:
		return usageError(fmt.Errorf("--dir %s is a symbolic link", f.path), "name the folder itself: a link may be another user's")
	case !before.IsDir():
		return usageError(fmt.Errorf("--dir %s is no folder", f.path), "name a folder, or one that is not there yet")
	}
	if f.made && before.Mode().Perm() != 0o700 { // an odd umask
		if err := os.Chmod(f.path, 0o700); err != nil { //nolint:gosec // a folder must be entered
			return fmt.Errorf("make --dir private: %w", err)
		}
	}
	if f.root, err = os.OpenRoot(f.path); err != nil {
		return usageError(fmt.Errorf("open --dir: %w", err), "choose a folder that you may write")
	}
	now, err := f.root.Stat(".")
	switch {
	case err != nil:
		return fmt.Errorf("look at --dir: %w", err)
	case !os.SameFile(before, now):
		return usageError(fmt.Errorf("--dir %s was replaced while it was opened", f.path), "choose a folder that no other user can move")
	case isAnothers(now):
		return usageError(fmt.Errorf("--dir %s belongs to another user, who could read what is written there", f.path), "choose a folder of your own")
	case now.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows":
		return usageError(
			fmt.Errorf("others may write into --dir %s (mode %04o)", f.path, now.Mode().Perm()),
			"chmod 700 makes it yours alone; or choose one that is not there yet",
		)
	}
	return nil
}

// refuseExisting returns an error if a file of an App is there and may not be replaced.
func (f *appFolder) refuseExisting() error {
	for _, name := range []string{appKeyFile, appSecretFile, appEnvFile} {
		if _, err := f.root.Lstat(name); f.force || errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("look into --dir: %w", err)
		}
		return usageError(
			fmt.Errorf("%s is there already, perhaps of an App that is in use", filepath.Join(f.path, name)),
			"choose another --dir, or replace it with --force: GitHub does not show its key again",
		)
	}
	return nil
}

// writeTemporary writes a new file that only its owner can read, down to the disk.
func (f *appFolder) writeTemporary(name, content string) (err error) {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			_ = f.root.Remove(name) // half a file is none
		}
	}()
	if err := file.Chmod(0o600); err != nil && runtime.GOOS != "windows" { // an odd umask
		return err
	}
	if _, err := file.WriteString(content); err != nil {
		return err
	}
	return file.Sync()
}

// writeFiles writes all files or none. The last one is the sign that all are there: at no moment does a new one of it stand
// beside an old key, or an old one beside a new key.
func (f *appFolder) writeFiles(files []appFile) (err error) {
	if err := f.checkInPlace(); err != nil {
		return err
	}
	suffix := "." + randomText(8) + ".new"
	var written []string
	defer func() {
		for _, name := range written {
			_ = f.root.Remove(name) // gone already, if all went well
		}
	}()
	for _, file := range files {
		if err := f.writeTemporary(file.name+suffix, file.content); err != nil {
			return err
		}
		written = append(written, file.name+suffix)
	}
	if f.force {
		if err := f.root.Remove(files[len(files)-1].name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	var placed []string
	for _, file := range files {
		if err := f.placeFile(file.name+suffix, file.name); err != nil {
			for _, name := range placed {
				_ = f.root.Remove(name)
			}
			return err
		}
		placed = append(placed, file.name)
	}
	folder, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && runtime.GOOS != "windows" {
		return err
	}
	return nil
}

// checkInPlace checks that the folder still has its name: the environment file says where the key is by that.
func (f *appFolder) checkInPlace() error {
	named, err := os.Lstat(f.path)
	if err != nil {
		return err
	}
	ours, err := f.root.Stat(".")
	if err == nil && !os.SameFile(named, ours) {
		err = fmt.Errorf("%s was replaced", f.path)
	}
	return err
}

// placeFile gives a file its name. Without force nothing is replaced, not even what has come there in the meantime.
func (f *appFolder) placeFile(from, to string) error {
	if f.force {
		return f.root.Rename(from, to) // a link in its place is replaced, and not followed
	}
	err := f.root.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, gone := f.root.Lstat(to); !errors.Is(gone, fs.ErrNotExist) { // a file system without hard links
		return fmt.Errorf("%s is there already", to)
	}
	return f.root.Rename(from, to)
}

// close closes the folder, and removes it if it was made for nothing.
func (f *appFolder) close() {
	if f.root != nil {
		_ = f.root.Close() // nothing was written through it
	}
	if f.made {
		_ = os.Remove(f.path) // an empty one alone
	}
}

// isPlainValue reports whether a shell, systemd and docker read a text in an environment file alike, without quotes.
func isPlainValue(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@,:=[]", r)
	})
}

// randomText returns so many random bytes as text.
func randomText(n int) string {
	b := make([]byte, n)
	rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// rescueFolders are where a key goes that could not be written where it should: anything is better than to lose it.
func rescueFolders(beside string) []string {
	home, err := os.UserHomeDir()
	all := []string{filepath.Dir(beside), home, os.TempDir()}
	if err != nil {
		all = slices.Delete(all, 1, 2)
	}
	return all
}

// rescueAppFiles writes the files into a new folder, wherever one can be had.
func rescueAppFiles(beside string, files func(dir string) []appFile) (dir string, err error) {
	for _, base := range rescueFolders(beside) {
		made, failed := os.MkdirTemp(base, "review-coordinator-app-")
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		folder, failed := openAppFolder(made, false)
		if failed == nil {
			failed = folder.writeFiles(files(folder.path))
			folder.close()
		}
		if failed == nil {
			return folder.path, nil
		}
		_ = os.Remove(made) // an empty one alone
		err = errors.Join(err, failed)
	}
	return "", err
}
