//go:build !action

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

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

func TestSimulateIsInterrupted(t *testing.T) { interruptReading(t, []string{"simulate", "-"}) }
