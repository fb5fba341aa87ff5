//go:build action

package main

import (
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestActionScripts: the action's program says what it does not have.
func TestActionScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/action"})
}

// hasCommand reports whether a command line's first word is of a command that this build has, or of none.
func hasCommand(name string) bool { return !slices.Contains(absentCommands, name) }
