// Package lazy puts off work until it is needed: a job starts the program for every event.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles an expression when it is first called.
//
// It is not inlined: there are 160 calls, and a copy of it in each would weigh 0.2 MB.
//
//go:noinline
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
