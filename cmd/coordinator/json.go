package main

// What --json prints: one object on standard output, for tools, in a shape that only grows. Everything else that a
// command says goes to standard error then.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/review-coordinator/coordinator/internal/report"
)

// keepStdoutForJSON keeps standard output for the object.
func (c *command) keepStdoutForJSON() {
	c.JSON, c.Stdout, c.Color = c.Stdout, c.Stderr, c.ErrColor
	if guard, isJob := c.Stderr.(*outputGuard); isJob { // the runner takes commands from both streams
		c.jobOutput = guard
	}
}

// writeJSON writes the object of --json.
func (c *command) writeJSON(v any) error {
	c.wroteJSON = true
	return encodeJSON(c.JSON, v)
}

// encodeJSON writes v as people and tools read it. Strangers' texts are in it, and it may come to a terminal: what that
// obeys, and what turns or hides text, is escaped, which JSON leaves as it is.
func encodeJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if _, err := w.Write(report.EscapeHidden(text.Bytes())); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// A failureJSON is what --json prints of a command that has no result.
type failureJSON struct {
	Error    string `json:"error"`
	Hint     string `json:"hint,omitempty"`
	ExitCode int    `json:"exit_code"`
}
