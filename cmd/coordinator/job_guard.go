package main

// The output of a job. The runner reads every line of both streams: one that begins with "::", or that holds "##["
// anywhere, is a command to it, and texts of reviewers are printed here. So in a job both streams go through a guard
// that lets no command pass but the program's own.

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode"

	"github.com/sethvargo/go-githubactions"
)

// An outputGuard is a writer that passes on whole lines and breaks every workflow command in them.
type outputGuard struct {
	mu          sync.Mutex
	w           io.Writer
	pendingLine []byte // its line break has not come yet
}

// maxLineBytes is how much of a line is kept until it is passed on without its line break.
const maxLineBytes = 1 << 20

// Write passes on the lines that are complete and keeps the rest.
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

// Flush passes on the last line even if it has no line break.
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

// defuseCommands inserts a space into whatever the runner would take for a command. It ignores more characters before
// the colons than the runner does.
func defuseCommands(line []byte) []byte {
	rest := bytes.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
	if bytes.HasPrefix(rest, []byte("::")) {
		at := len(line) - len(rest) + 1
		line = append(append(bytes.Clone(line[:at]), ' '), line[at:]...)
	}
	return bytes.ReplaceAll(line, []byte("##["), []byte("## ["))
}

// sendCommand writes a workflow command of ours. Its text is escaped, so that it stays on one line.
func (g *outputGuard) sendCommand(give func(*githubactions.Action)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flushLocked()
	var line bytes.Buffer // in memory, because the library panics where it cannot write
	give(githubactions.New(githubactions.WithWriter(&line), githubactions.WithGetenv(func(string) string { return "" })))
	command := bytes.ReplaceAll(line.Bytes(), []byte("##["), []byte("## ["))
	_, _ = g.w.Write(command) // a broken standard output is reported by the next print
}

// guardStreams puts guards before both streams if this is a job, and returns a function that flushes them.
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

// maskSecret tells the runner to hide a secret in its log.
func (c *command) maskSecret(secret string) {
	if c.jobOutput != nil && secret != "" {
		c.jobOutput.sendCommand(func(a *githubactions.Action) { a.AddMask(secret) })
	}
}
