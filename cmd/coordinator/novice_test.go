//go:build !action

package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// TestInterrupted: whoever waits for standard input is ended by a signal, though nobody writes there.
func TestInterrupted(t *testing.T) {
	for _, args := range [][]string{{"classify"}, {"config", "check", "-"}} {
		interruptReading(t, args)
	}
}

// interruptReading starts a command that reads standard input, interrupts it there, and expects it to end in silence.
func interruptReading(t *testing.T, args []string) {
	t.Helper()
	silent, end := io.Pipe()
	defer end.Close()
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	var out, said bytes.Buffer
	c := &command{Stdin: &notified{Reader: silent, asked: asked}, Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }}
	code := make(chan int, 1)
	go func() { code <- c.Main(ctx, args) }()
	<-asked
	cancel()
	if got := <-code; got != 130 || out.Len()+said.Len() > 0 {
		t.Errorf("%q: exit %d, prints %q %q", args, got, out.String(), said.String())
	}
}

// notified says when it is first read.
type notified struct {
	io.Reader
	asked chan struct{}
	told  bool
}

func (n *notified) Read(b []byte) (int, error) {
	if !n.told {
		n.told = true
		close(n.asked)
	}
	return n.Reader.Read(b)
}

func TestRefusedFlags(t *testing.T) {
	for _, test := range []struct {
		args []string
		hint string
	}{
		{[]string{"run", "--repo", "octo/shop", "--pr", "7", "--poll", "5"}, "hint: write it with a unit: 5s or 5m\n"},
		{[]string{"run", "--repo", "octo/shop", "--pr", "7", "--hold=5"}, "hint: write it with a unit: 5s or 5m\n"},
		{[]string{"run", "--repo", "octo/shop", "--pr", "7", "--hold", "-5m"}, "coordinator: --hold -5m is below zero\nhint: coordinator run --help"},
		{[]string{"sweep", "--repo", "octo/shop", "--limit", "-5"}, "coordinator: --limit -5 is below zero\nhint: coordinator sweep --help"},
		{[]string{"run", "--repo", "octo/shop", "--pr", "0"}, "they are counted from 1"},
		{[]string{"run", "--pr", "7"}, "hint: coordinator run 7 --repo OWNER/NAME"},
		{[]string{"sweep"}, "hint: coordinator sweep --repo OWNER/NAME"},
		{[]string{"sweep", "--repo", "octo/shop", "--limit", "0"}, "hint: leave it out for the policy's sweep.limit"},
		{[]string{"classify", "--state", "APPROVED"}, "hint: add --kind review"},
		{[]string{"classify", "--kind", "review", "--state", "approve"}, "hint: states: APPROVED"},
		{[]string{"explain", "octo/shop#7"}, "export GITHUB_TOKEN=$(gh auth token)"},
	} {
		var out, said bytes.Buffer
		c := &command{Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }}
		if code := c.Main(t.Context(), test.args); code != 2 || !bytes.Contains(said.Bytes(), []byte(test.hint)) {
			t.Errorf("%q: exit %d, says %q, want %q", test.args, code, said.String(), test.hint)
		}
	}
}

// TestRefused: a hint says what GitHub's refusal means for the command, and nothing is guessed of other errors.
func TestRefused(t *testing.T) {
	t.Parallel()
	const (
		pull   = "GET /repos/acme/shop/pulls/1"
		absent = "no such repository or pull request, or this token may not see it"
		lacks  = `{"message":"Resource not accessible by integration"}`
	)
	explain, evaluate := []string{"explain", "acme/shop#1"}, []string{"run", "--pr", "1", "--hold", "0s"}
	for _, test := range []struct {
		name  string
		args  []string
		fault sandbox.Fault
		hint  string
	}{
		{"not found by a command that reads", explain, sandbox.Fault{Match: pull, Status: 404}, absent},
		{"not found by one that writes", evaluate, sandbox.Fault{Match: pull, Status: 404}, absent},
		{"a write that is not allowed may be answered so, too", evaluate, sandbox.Fault{Match: "POST /repos/acme/shop/check-runs", Status: 404}, ""},
		{
			"a permission to read", explain,
			sandbox.Fault{Match: pull, Status: 403, Body: lacks},
			"the token may not read this: it needs actions: read, checks: read, contents: read, issues: read, pull-requests: read, statuses: read",
		},
		{
			"a permission to write", evaluate,
			sandbox.Fault{Match: pull, Status: 403, Body: lacks},
			"the token lacks a permission: give the job permissions: {actions: write, checks: write, contents: read, issues: read, " +
				"pull-requests: write, statuses: write}, or add it to the App and accept it in its installation",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g, run := shop(t, []string{"Fix the cart"})
			g.AddFault(test.fault)
			code, _, said := run(nil, test.args...)
			_, hint, _ := strings.Cut(said, "\nhint: ")
			if hint = strings.TrimSuffix(hint, "\n"); code != 1 || hint != test.hint {
				t.Errorf("exit %d, hint %q, want %q: %s", code, hint, test.hint, said)
			}
		})
	}
	t.Run("no route", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { // it is tried again and again
			code, _, said := runAt(t, "http://127.0.0.1:1", map[string]string{"GITHUB_TOKEN": "ghs_x"}, explain...)
			if code != 1 || !strings.Contains(said, "\nhint: nothing takes requests at that address") {
				t.Errorf("exit %d: %s", code, said)
			}
		})
	})
}
