//go:build unix

package daemon

import (
	"math"
	"syscall"
)

// openFilesLimit is how many files this process may open at once. Go raises it to the hard limit at the start.
func openFilesLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt32
	}
	return uint64(limit.Cur) //nolint:gosec,unconvert // FreeBSD's is signed
}
