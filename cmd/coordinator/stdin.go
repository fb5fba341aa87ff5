package main

// Files that a person names, and standard input. No context ends that one read: a goroutine of its own waits for it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/review-coordinator/coordinator/internal/config"
)

// readStdin reads at most that many bytes of standard input, until ctx ends. The read itself ends with the program.
func (c *command) readStdin(ctx context.Context, most int64) ([]byte, error) {
	if isTerminal(c.Stdin) {
		fmt.Fprintln(c.Stderr, "reading standard input; end with Ctrl-D")
	}
	type all struct {
		text []byte
		err  error
	}
	read := make(chan all, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(c.Stdin, most))
		read <- all{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Canceled
	case got := <-read:
		if got.err != nil {
			return nil, fmt.Errorf("read standard input: %w", got.err)
		}
		return got.text, nil
	}
}

// readInput reads a file, or standard input if its name is -.
func (c *command) readInput(ctx context.Context, name string, most int64) ([]byte, error) {
	if name == "-" {
		return c.readStdin(ctx, most)
	}
	text, err := readFileUpTo(name, most)
	if err != nil {
		return nil, usageError(err, fileHint(err))
	}
	return text, nil
}

// readFileUpTo reads at most that many bytes of a file.
func readFileUpTo(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	return text, errors.Join(err, f.Close())
}

// readPolicyFile reads the policy file that --policy names.
func readPolicyFile(path string) ([]byte, error) {
	src, err := readFileUpTo(path, config.MaxSize+1) // one byte more than allowed, so that a longer file is noticed
	if err != nil {
		return nil, usageError(err, "--policy names a file on this machine; "+
			"git show origin/main:.github/review-coordinator.yml >FILE writes the one in force")
	}
	return src, nil
}

// fileHint returns what helps where a file that a person named cannot be read.
func fileHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is the path right, seen from this folder?"
	case errors.Is(err, syscall.EISDIR):
		return "name a file in that folder"
	case errors.Is(err, fs.ErrPermission):
		return "the user who runs this must be able to read it"
	}
	return ""
}
