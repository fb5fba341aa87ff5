//go:build unix

package store

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// holdFile locks a byte of a file that SQLite neither reads nor locks. The lock is the open file's own: it goes when that
// is closed, and not when SQLite closes the same file.
func holdFile(f *os.File) error {
	setLock := 0x25 // F_OFD_SETLK
	if runtime.GOOS == "darwin" {
		setLock = 90
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: 1 << 40, Len: 1}
	err := unix.FcntlFlock(f.Fd(), setLock, &lock)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errHeld
	}
	return err
}
