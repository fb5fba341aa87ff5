package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// holdFile takes the lock of a file, at a byte that nobody reads. It is released when the file is closed.
func holdFile(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{OffsetHigh: 1 << 8})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
