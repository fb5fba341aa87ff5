//go:build action

package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestActionScripts: the action's program runs what the action starts, and says of every other command where it is.
func TestActionScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/action"})
}
