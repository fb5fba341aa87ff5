//go:build !action

package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestFullProgramScripts runs the scripts of the commands that only the full program has.
func TestFullProgramScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/full",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{
				"GITHUB_ACTIONS", "GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY",
				"GITHUB_APP_PRIVATE_KEY_FILE", "GITHUB_WEBHOOK_SECRET", "DATABASE_URL",
			} {
				env.Setenv(name, "")
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, errors.New("no such condition")
			}
			return os.Geteuid() == 0, nil
		},
	})
}

// exits runs a program that must end with the exit code that stands before it.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	code := 0
	var ended *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		code = ended.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}
