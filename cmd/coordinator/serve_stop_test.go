//go:build !action

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A stopWriter stops the program as soon as it writes a word.
type stopWriter struct {
	mu   sync.Mutex
	all  bytes.Buffer
	word string
	stop func()
}

func (w *stopWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all.Write(p)
	if strings.Contains(w.all.String(), w.word) {
		w.stop()
	}
	return len(p), nil
}

// A daemon that is told to stop ends well, however early that comes: a service manager would call anything else a
// failure.
func TestServeStoppedEarlyEndsWell(t *testing.T) {
	for _, test := range []struct {
		args string
		word string // which it says when it is stopped; "": before it begins
		code int
	}{
		{"--listen 127.0.0.1:0", "", 0},
		{"--listen localhost:0", "", 0}, // a name is looked up
		{"--listen 127.0.0.1:0", "the review coordinator serves", 0},
		{"--listen 127.0.0.1:0 --check", "ok  webhooks", exitInterrupted},
	} {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		if test.word == "" {
			stop()
		}
		said := &stopWriter{word: test.word, stop: stop}
		c := &command{Stdin: strings.NewReader(""), Stdout: said, Stderr: said, Getenv: envOf(
			"GITHUB_TOKEN=ghp_x GITHUB_API_URL=http://127.0.0.1:9 GITHUB_WEBHOOK_SECRET=0123456789abcdef0123 DATABASE_URL=sqlite://" +
				filepath.Join(t.TempDir(), "coordinator.db"),
		)}
		code := c.Main(ctx, append([]string{"serve", "--admin-listen", "127.0.0.1:0"}, strings.Fields(test.args)...))
		if code != test.code || strings.Contains(said.all.String(), "coordinator: ") {
			t.Errorf("%s, stopped at %q: exit %d, says\n%s", test.args, test.word, code, said.all.String())
		}
	}
}
