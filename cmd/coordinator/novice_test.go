package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/review-coordinator/coordinator/internal/github"
)

// TestInterrupted: whoever waits for standard input is ended by a signal, though nobody writes there.
func TestInterrupted(t *testing.T) {
	for _, args := range [][]string{{"classify"}, {"config", "check", "-"}, {"simulate", "-"}} {
		silent, end := io.Pipe()
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
		end.Close()
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

// A story from standard input that opens nothing says so, and one that comes as it is told too.
func TestSimulateSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "day.txt")
	const policy = "-- policy --\nquorum: 1\nreviewers: [{name: sage, author: sage[bot]}]\n\n"
	for _, test := range []struct {
		src  string
		args []string
		want string
	}{
		{"-- timeline --\n0s nothing happens\n", nil, "no pull request is opened"},
		{"-- timeline --\n0s alice opens #7\n", nil, "there is no policy"},
		{policy + "-- timeline --\n0s alice opens #7\n5s sage comments\n | **Ready to merge?** Yes\n5s alice closes #7\n", []string{"--update"}, "written: " + file + "\n"},
		{"", nil, "as told: " + file + "\n"}, // the file as it was written
	} {
		if test.src != "" {
			if err := os.WriteFile(file, []byte(test.src), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out, said bytes.Buffer
		c := &command{Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }}
		if code := c.Main(t.Context(), append([]string{"simulate", file}, test.args...)); code != 0 || !bytes.Contains(said.Bytes(), []byte(test.want)) {
			t.Errorf("exit %d, says %q, want %q", code, said.String(), test.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		will access
		err  error
		hint string
	}{
		{readAccess, &github.APIError{Status: 404, Method: "GET", Path: "repos/octo/shop/pulls/7"}, "no such repository or pull request, or this token may not see it"},
		{writeAccess, &github.APIError{Status: 404, Method: "GET", Path: "repos/octo/shop/pulls/7"}, "no such repository or pull request, or this token may not see it"},
		{writeAccess, &github.APIError{Status: 404, Method: "POST", Path: "repos/octo/shop/check-runs"}, ""},
		{readAccess, &github.APIError{Status: 403, Method: "GET", Path: "repos/octo/shop/pulls/7", Missing: true}, "the token may not read this: it needs " + readPermissions},
		{writeAccess, &github.APIError{Status: 403, Method: "GET", Path: "repos/octo/shop/pulls/7", Missing: true}, "the token lacks a permission: give the job " + writePermissions + ", or add it to the App and accept it in its installation"},
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
