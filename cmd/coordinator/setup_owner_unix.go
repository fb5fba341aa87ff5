//go:build !action && unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// isAnothers reports whether a file belongs to another user.
func isAnothers(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) != os.Geteuid()
}
