//go:build !unix

package daemon

import "math"

// openFilesLimit is how many files this process may open at once: this system has no such limit.
func openFilesLimit() uint64 { return math.MaxInt32 }
