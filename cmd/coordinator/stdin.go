package main

// Standard input is the one read that no context ends: a terminal or a pipe returns when somebody writes. So a
// goroutine of its own reads it, and a signal does not wait for it.

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/x/term"
)

// readStdin reads at most that many bytes of standard input. It returns as soon as ctx ends; the read ends with the
// program.
func (c *command) readStdin(ctx context.Context, most int64) ([]byte, error) {
	if f, ok := c.Stdin.(*os.File); ok && term.IsTerminal(f.Fd()) {
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
