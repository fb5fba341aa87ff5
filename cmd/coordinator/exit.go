package main

// How the program ends and what it says then: a line "coordinator: …", and a line "hint: …" where something helps.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Exit codes. The verdict of a pull request is no error: it is in the check and in the outputs.
const (
	exitFailed      = 1   // could not evaluate or post
	exitUsage       = 2   // the arguments, or a local file
	exitFailOn      = 3   // --fail-on named this verdict
	exitOutage      = 4   // GitHub did not answer, see [longestOutage]
	exitDatabase    = 5   // the daemon's database: only a restart can help, see [store.Database.Hopeless]
	exitInterrupted = 130 // by SIGINT; SIGTERM makes it 143
)

// An exitError is an error with its exit code and a hint. Any other error ends the program with exitFailed.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// usageError makes an error of the caller's, with a hint at what to do about it.
func usageError(err error, hint string) error {
	return &exitError{code: exitUsage, err: err, hint: hint}
}

// hintedError makes an error with a hint at what to do about it.
func hintedError(err error, hint string) error {
	return &exitError{code: exitFailed, err: err, hint: hint}
}

// stopError is why the program's context ends.
type stopError struct{ os.Signal }

func (s stopError) Error() string { return "stopped by a signal: " + s.String() }

// Unwrap makes it what a context ends with.
func (stopError) Unwrap() error { return context.Canceled }

// exitCode is what a shell calls the end by this signal.
func (s stopError) exitCode() int {
	number, _ := s.Signal.(syscall.Signal) // all signals are of this type
	return 128 + int(number)
}

// reportError prints err and its hint, and returns the exit code.
func (c *command) reportError(ctx context.Context, err error) int {
	if err == nil {
		return 0
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		var got stopError
		if errors.As(context.Cause(ctx), &got) {
			return got.exitCode()
		}
		return exitInterrupted
	}
	ending := &exitError{code: exitFailed, err: err}
	errors.As(err, &ending)
	// Print err itself: it may wrap the exitError with more context.
	us := paintIf(c.ErrColor, caretStyle, "coordinator:")
	var several interface{ lines() []string }
	if errors.As(err, &several) {
		for _, line := range several.lines() {
			fmt.Fprintf(c.Stderr, "%s %s\n", us, line)
		}
	} else {
		fmt.Fprintf(c.Stderr, "%s %s\n", us, oneLine(err.Error()))
	}
	if ending.hint != "" {
		fmt.Fprintln(c.Stderr, paintIf(c.ErrColor, hintStyle, "hint: "+oneLine(ending.hint)))
	}
	if c.JSON != nil && !c.wroteJSON {
		_ = c.writeJSON(failureJSON{Error: oneLine(err.Error()), Hint: oneLine(ending.hint), ExitCode: ending.code})
	}
	return ending.code
}

// oneLine replaces control characters by spaces: an error's text may quote an answer from the network.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// countNoun returns a number with its noun, which takes an s in the plural.
func countNoun(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
