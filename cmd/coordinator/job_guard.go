package main

// What a job prints. The runner reads every line of both streams: one that begins with "::", or that holds "##[" anywhere,
// is a command to it, and what reviewers write is printed here. So in a job both streams go through a guard that lets no
// command pass but those the program itself means.

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode"

	"github.com/sethvargo/go-githubactions"
)

// A outputGuard passes on whole lines, in which nothing is a workflow command.
type outputGuard struct {
	mu          sync.Mutex
	w           io.Writer
	pendingLine []byte // begun and not ended
}

// maxLineBytes bounds what is kept of a line that does not end.
const maxLineBytes = 1 << 20

// Write keeps what follows the last line break until its line ends.
func (g *outputGuard) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []byte
	for _, b := range p {
		g.pendingLine = append(g.pendingLine, b)
		if b == '\n' || b == '\r' || len(g.pendingLine) >= maxLineBytes { // the runner ends a line at either
			out = append(out, defuseCommands(g.pendingLine)...)
			if len(g.pendingLine) >= maxLineBytes {
				out = append(out, '\n')
			}
			g.pendingLine = g.pendingLine[:0]
		}
	}
	if len(out) == 0 {
		return len(p), nil
	}
	if _, err := g.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush passes on a last line without an end.
func (g *outputGuard) Flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flushLocked()
}

func (g *outputGuard) flushLocked() {
	if len(g.pendingLine) > 0 {
		fmt.Fprintf(g.w, "%s\n", defuseCommands(g.pendingLine))
		g.pendingLine = g.pendingLine[:0]
	}
}

// defuseCommands breaks what the runner would take for a command. It trims more than the runner does before the colons.
func defuseCommands(line []byte) []byte {
	rest := bytes.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	if bytes.HasPrefix(rest, []byte("::")) {
		at := len(line) - len(rest) + 1
		line = append(append(bytes.Clone(line[:at]), ' '), line[at:]...)
	}
	return bytes.ReplaceAll(line, []byte("##["), []byte("## ["))
}

// Command gives the runner a command of ours. What it says is escaped, so that it is one line.
func (g *outputGuard) sendCommand(give func(*githubactions.Action)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flushLocked()
	var line bytes.Buffer // in memory, because the library panics where it cannot write
	give(githubactions.New(githubactions.WithWriter(&line), githubactions.WithGetenv(func(string) string { return "" })))
	command := bytes.ReplaceAll(line.Bytes(), []byte("##["), []byte("## ["))
	_, _ = g.w.Write(command) // a broken standard output is noticed by whoever prints next
}

// Guarded makes both streams those of a job, if this is one, and returns what ends them.
func (c *command) guardStreams() (flush func()) {
	if c.Getenv("GITHUB_ACTIONS") != "true" {
		return func() {}
	}
	out, said := &outputGuard{w: c.Stdout}, &outputGuard{w: c.Stderr}
	c.Stdout, c.Stderr, c.jobOutput = out, said, out
	return func() {
		out.Flush()
		said.Flush()
	}
}

// Mask has the runner hide a secret wherever it would be printed.
func (c *command) maskSecret(secret string) {
	if c.jobOutput != nil && secret != "" {
		c.jobOutput.sendCommand(func(a *githubactions.Action) { a.AddMask(secret) })
	}
}
