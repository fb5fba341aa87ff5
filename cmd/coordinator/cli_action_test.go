//go:build action

package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestActionScripts: the action's program says what it does not have.
func TestActionScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/action"})
}
