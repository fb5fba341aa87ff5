//go:build !action

package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDaemonScripts runs the scripts of the commands that only the full program has.
func TestDaemonScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/daemon",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"GITHUB_ACTIONS", "GITHUB_TOKEN", "GITHUB_API_URL"} {
				env.Setenv(name, "")
			}
			return nil
		},
	})
}
