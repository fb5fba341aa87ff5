package main

// What --json prints: one object on standard output, for tools, in a shape that only grows. Everything else that a
// command says goes to standard error then.

import (
	"encoding/json"
	"fmt"

	"github.com/alecthomas/kong"
)

// wantJSON keeps standard output for the object, if the command that was parsed is given --json.
func (c *command) wantJSON(parsed *kong.Context) {
	for _, f := range parsed.Flags() {
		if f.Name == "json" && f.Target.Bool() {
			c.keepStdoutForJSON()
		}
	}
}

func (c *command) keepStdoutForJSON() {
	c.JSON, c.Stdout, c.Color = c.Stdout, c.Stderr, c.ErrColor
	if guard, isJob := c.Stderr.(*outputGuard); isJob { // the runner takes commands from both streams
		c.jobOutput = guard
	}
}

// writeJSON writes the object of --json.
func (c *command) writeJSON(v any) error {
	c.wroteJSON = true
	enc := json.NewEncoder(c.JSON)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
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

// printChecked says that a part of the settings is as it should be.
func (c *command) printChecked(name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.checked = append(c.checked, checkedJSON{name, text})
	fmt.Fprintf(c.Stdout, "ok  %-10s %s\n", name, text)
}
