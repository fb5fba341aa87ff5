//go:build !action

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// runInProcess runs the program with these arguments and this input, in no clone.
func runInProcess(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	c := &command{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }}
	return c.Main(context.Background(), args), out.String(), said.String()
}

// A terminal obeys nothing of an object that is printed on it, and tools read the same texts.
func TestJSONOnATerminal(t *testing.T) {
	hostile := "31m\u009b31m \u202e \x7f \u2028 \U000e0041 é 😀"
	finding, err := json.Marshal(map[string]any{
		"verdict": "request_changes", "findings": []any{map[string]any{"path": "a.go", "line": 1, "body": hostile}},
	})
	if err != nil {
		t.Fatal(err)
	}
	code, out, said := runInProcess(t, string(finding), "classify", "--json", "--verdict", "json")
	if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); code != 0 || i >= 0 {
		t.Errorf("exit %d, %s: a character that a terminal obeys: %q", code, said, out[max(i, 0):])
	}
	var got struct{ Findings []struct{ Body string } }
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Findings) != 1 || got.Findings[0].Body != hostile {
		t.Errorf("%v: read as %+v", err, got)
	}
}

// With --json standard output is one object, whatever happens.
func TestJSONIsAllOfStandardOutput(t *testing.T) {
	t.Chdir(t.TempDir()) // serve makes a database
	const policy = "version: 1\nreviewers:\n  - preset: copilot\n"
	for _, test := range []struct {
		stdin string
		args  string
		code  int
		keys  string
	}{
		{"", "version --json", 0, "version go os arch"},
		{policy, "config check --json -", 0, "file valid check mode need voters grace deadline reviewers problems warnings"},
		{"version: 2\n", "config check --json -", 2, "file valid problems warnings"},
		{"", "config check --json nowhere.yml", 2, "error exit_code"},
		{"**Ready to merge?** Yes\n", "classify --json", 0, "outcome reason detail findings"},
		{"", "classify --json --preset nobody", 2, "error hint exit_code"},
		{"", "run --json --hold soon", 2, "error hint exit_code"},
		{"", "run --json", 2, "error hint exit_code"},
		{"", "sweep --json --repo x", 2, "error hint exit_code"},
		{"", "explain --json 0", 2, "error hint exit_code"},
		{"{}", "verdict check --json -", 2, "error hint exit_code"},
		{"", "simulate --json nowhere.txt", 2, "error exit_code"},
		{"", "serve --check --json", 2, "ok checked warnings mistakes"},
	} {
		code, out, said := runInProcess(t, test.stdin, strings.Fields(test.args)...)
		var object map[string]any
		if err := json.Unmarshal([]byte(out), &object); err != nil || code != test.code {
			t.Errorf("%s: exit %d, %v: %s%s", test.args, code, err, out, said)
		}
		for key := range strings.FieldsSeq(test.keys) {
			if _, has := object[key]; !has {
				t.Errorf("%s: no %q in %s", test.args, key, out)
			}
		}
	}
}
