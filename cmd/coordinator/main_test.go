package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/store/storetest"
)

func TestMain(m *testing.M) {
	testscript.Main(deadline.Watch(m, storetest.OpenTables), map[string]func(){"coordinator": main, "coordinator-held": holds})
}

// heldWord is what the held program says when it waits.
const heldWord = "held"

// holds is the program with streams that hold it: what it reads never comes, and what it prints is never taken.
func holds() {
	say := sync.OnceFunc(func() { _, _ = os.Stdout.WriteString(heldWord + "\n") })
	c := &command{Stdin: heldStream{say}, Stdout: heldStream{say}, Stderr: os.Stderr, Getenv: os.Getenv, Folder: "."}
	c.RunUntilSignal(os.Args[1:])
}

type heldStream struct{ say func() }

func (s heldStream) Read([]byte) (int, error)    { s.say(); select {} }
func (s heldStream) Write(p []byte) (int, error) { s.say(); select {} }

// TestScripts runs the binary as users do.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			// A test may run inside a job of the very service that the program talks to.
			env.Setenv("GITHUB_ACTIONS", "")
			env.Setenv("GITHUB_TOKEN", "")
			return nil
		},
	})
}

func TestExit(t *testing.T) {
	live := context.Background()
	ended, cancel := context.WithCancel(live)
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		err  error
		code int
		said string
	}{
		{"nothing went wrong", live, nil, 0, ""},
		{"any error", live, errors.New("read pull request: 404"), 1, "coordinator: read pull request: 404\n"},
		{"usage", live, usageError(errors.New("no such flag"), "try --help"), 2, "coordinator: no such flag\nhint: try --help\n"},
		{
			"wrapped", live, fmt.Errorf("check policy: %w", usageError(errors.New("is broken"), "mend it")), 2,
			"coordinator: check policy: is broken\nhint: mend it\n",
		},
		{"a hint", live, hintedError(errors.New("403"), "grant checks: write"), 1, "coordinator: 403\nhint: grant checks: write\n"},
		{"a signal", ended, fmt.Errorf("wait: %w", context.Canceled), 130, ""},
		{"an error after a signal", ended, errors.New("post check: 500"), 1, "coordinator: post check: 500\n"},
		{"a cancelled request without a signal", live, context.Canceled, 1, "coordinator: context canceled\n"},
		{"an answer with line breaks", live, errors.New("a\n::set-output::b\x1b[31m"), 1, "coordinator: a ::set-output::b [31m\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var said bytes.Buffer
			c := &command{Stderr: &said}
			if code := c.reportError(test.ctx, test.err); code != test.code || said.String() != test.said {
				t.Errorf("exit %d, says %q; want %d, %q", code, said.String(), test.code, test.said)
			}
		})
	}
}
