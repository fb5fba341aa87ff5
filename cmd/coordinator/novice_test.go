package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/review-coordinator/coordinator/internal/github/client"
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
	if got := <-code; got != exitInterrupted || out.Len()+said.Len() > 0 {
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
		{[]string{"run", "--repo", "octo/shop", "--pr", "0"}, "hint: --pr N is the pull request's number"},
		{[]string{"run", "--pr", "7"}, "hint: coordinator run --repo OWNER/NAME"},
		{[]string{"config", "init"}, "hint: coordinator config init --repo OWNER/NAME"},
		{[]string{"sweep"}, "hint: coordinator sweep --repo OWNER/NAME"},
		{[]string{"sweep", "--repo", "octo/shop", "--limit", "0"}, "hint: leave it out for the policy's sweep.limit"},
		{[]string{"classify", "--state", "APPROVED"}, "hint: add --kind review"},
		{[]string{"classify", "--kind", "review", "--state", "approve"}, "hint: states: APPROVED"},
		{[]string{"classify", "--approve", "("}, "hint: "},
		{[]string{"classify", "--object", "no"}, "hint: "},
		{[]string{"explain", "octo/shop#7"}, "export GITHUB_TOKEN=$(gh auth token)"},
	} {
		var out, said bytes.Buffer
		c := &command{Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }}
		if code := c.Main(t.Context(), test.args); code != exitUsage || !bytes.Contains(said.Bytes(), []byte(test.hint)) {
			t.Errorf("%q: exit %d, says %q, want %q", test.args, code, said.String(), test.hint)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		will access
		err  error
		hint string
	}{
		{readAccess, &client.APIError{Status: 404, Method: "GET", Path: "repos/octo/shop/pulls/7"}, "no such repository or pull request, or this token may not see it"},
		{writeAccess, &client.APIError{Status: 404, Method: "GET", Path: "repos/octo/shop/pulls/7"}, "no such repository or pull request, or this token may not see it"},
		{writeAccess, &client.APIError{Status: 404, Method: "POST", Path: "repos/octo/shop/check-runs"}, ""},
		{readAccess, &client.APIError{Status: 403, Method: "GET", Path: "repos/octo/shop/pulls/7", Missing: true}, "the token may not read this: it needs " + readPermissions},
		{writeAccess, &client.APIError{Status: 403, Method: "GET", Path: "repos/octo/shop/pulls/7", Missing: true}, "the token lacks a permission: give the job " + writePermissions + ", or add it to the App and accept it in its installation"},
		{readAccess, errors.New("no route"), ""},
	} {
		var got *exitError
		hint := ""
		if errors.As(test.will.explainRefusal(fmt.Errorf("observe: %w", test.err)), &got) {
			hint = got.hint
		}
		if hint != test.hint {
			t.Errorf("%v: hint %q, want %q", test.err, hint, test.hint)
		}
	}
}
