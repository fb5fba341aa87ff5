//go:build !action

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// Who wants colour: a terminal, or whoever asks for it, and nobody against NO_COLOR.
func TestWantsColor(t *testing.T) {
	for env, want := range map[string]bool{
		"":                                 false,
		"CLICOLOR_FORCE=1":                 true,
		"CLICOLOR_FORCE=0":                 false,
		"FORCE_COLOR=1":                    true,
		"FORCE_COLOR=3":                    true,
		"FORCE_COLOR=0":                    false,
		"FORCE_COLOR=false":                false,
		"FORCE_COLOR=1 TERM=dumb":          true,
		"NO_COLOR=1":                       false,
		"NO_COLOR=1 CLICOLOR_FORCE=1":      false,
		"NO_COLOR=1 FORCE_COLOR=1":         false,
		"CLICOLOR_FORCE=1 FORCE_COLOR=0":   true,
		"CLICOLOR_FORCE=0 FORCE_COLOR=yes": true,
	} {
		if got := wantsColor(io.Discard, envOf(env)); got != want {
			t.Errorf("%s: %t, want %t", env, got, want)
		}
	}
}

// envOf reads NAME=VALUE, with blanks between them.
func envOf(words string) func(string) string {
	env := map[string]string{}
	for word := range strings.FieldsSeq(words) {
		name, value, _ := strings.Cut(word, "=")
		env[name] = value
	}
	return func(name string) string { return env[name] }
}

var paint = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Colours add nothing to the words and take nothing away, and each stream has its own.
func TestColor(t *testing.T) {
	g := sandbox.New(sandbox.Options{})
	g.SetFile(".github/review-coordinator.yml", "", `version: 1
quorum: 2
reviewers:
  - {name: sage, author: "sage[bot]", verdict: review-state}
  - {name: owl, author: "owl[bot]", verdict: review-state}
`)
	for n, states := range map[int][]string{1: {"APPROVED", "APPROVED"}, 2: {"CHANGES_REQUESTED"}, 3: {"APPROVED"}} {
		g.OpenPull(sandbox.PullSpec{Number: n, Head: fmt.Sprintf("head of %d", n)})
		for i, by := range []string{"sage[bot]", "owl[bot]"}[:len(states)] {
			if _, err := g.Review(n, sandbox.ReviewSpec{By: by, State: states[i], Body: "\x1b[2JIt is so."}); err != nil {
				t.Fatal(err)
			}
		}
	}
	server := httptest.NewServer(g)
	defer server.Close()
	const (
		good, bad, odd, busy = "\x1b[1;32m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;94m"
		strong, faint, end   = "\x1b[1m", "\x1b[2m", "\x1b[m"
	)
	const valid = "version: 1\nreviewers: [{preset: copilot}]\n"
	for _, test := range []struct {
		args, stdin string
		out, said   []string
	}{
		{"explain acme/shop#1", "", []string{good + "Passed." + end, good + "approve" + end, good + "approved" + end, strong + "Evidence:" + end}, nil},
		{"explain acme/shop#2", "", []string{bad + "Blocked." + end, bad + "object" + end, strong + "What you can do" + end, faint + "http"}, nil},
		{"explain acme/shop#3", "", []string{busy + "Waiting." + end, busy + "pending" + end, good + "approve" + end}, nil},
		{"run acme/shop#2 --dry-run", "", []string{bad + "failure" + end + ": Changes requested", bad + "Blocked." + end}, nil},
		{"run acme/shop#3 --dry-run", "", []string{busy + "in_progress" + end}, nil},
		{"config check -", valid, []string{"<stdin> " + good + "is valid" + end}, nil},
		{"config check -", valid + "deadline: 5m\ngrace: 10m\n", []string{odd + "warning:" + end + " <stdin>:"}, nil},
		{
			"config check -", "grace: soon\nreviewers: []\n",
			[]string{bad, faint + "  hint: "},
			[]string{bad + "coordinator:" + end + " <stdin> has ", faint + "hint: "},
		},
		{"explain nonsense", "", nil, []string{bad + "coordinator:" + end, faint + "hint: "}},
		{"explain acme/shop#1 --json", "", nil, nil},
	} {
		type streams struct{ out, said string }
		runIn := func(outColor, errColor bool) streams {
			var out, said bytes.Buffer
			env := envOf("GITHUB_TOKEN=ghs_x GITHUB_API_URL=" + server.URL)
			c := &command{
				Stdin: strings.NewReader(test.stdin), Stdout: &out, Stderr: &said, Getenv: env, Color: outColor, ErrColor: errColor,
			}
			c.Main(t.Context(), strings.Fields(test.args))
			return streams{out.String(), said.String()}
		}
		plain, both, one := runIn(false, false), runIn(true, true), runIn(true, false)
		for _, want := range test.out {
			if !strings.Contains(both.out, want) {
				t.Errorf("%s: no %q in %q", test.args, want, both.out)
			}
		}
		for _, want := range test.said {
			if !strings.Contains(both.said, want) {
				t.Errorf("%s: no %q in %q", test.args, want, both.said)
			}
		}
		if strings.Contains(test.args, "--json") {
			if json.Valid([]byte(both.out)) && !strings.Contains(both.out+both.said, "\x1b") {
				continue
			}
			t.Errorf("%s: colour in JSON: %q %q", test.args, both.out, both.said)
		}
		clock := regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d `)
		for _, s := range []streams{both, one} {
			if got := paint.ReplaceAllString(s.out, ""); clock.ReplaceAllString(got, "") != clock.ReplaceAllString(plain.out, "") {
				t.Errorf("%s: without its colours\n%s\nit is not\n%s", test.args, got, plain.out)
			}
			if got := paint.ReplaceAllString(s.said, ""); got != plain.said {
				t.Errorf("%s: without its colours it says %q, not %q", test.args, got, plain.said)
			}
		}
		if strings.Contains(plain.out+plain.said+one.said, "\x1b") {
			t.Errorf("%s: colour where none is wanted: %q %q %q", test.args, plain.out, plain.said, one.said)
		}
	}
}

// The story's check is coloured, too.
func TestSimulateColorsTheCheck(t *testing.T) {
	const day = "-- policy --\nquorum: 1\nreviewers: [{name: sage, author: \"sage[bot]\"}]\n\n-- timeline --\n" +
		"0s alice opens #7\n5s sage comments\n | **Ready to merge?** Yes\n"
	var out bytes.Buffer
	c := &command{Stdin: strings.NewReader(day), Stdout: &out, Stderr: io.Discard, Getenv: envOf(""), Color: true}
	if code := c.Main(t.Context(), []string{"simulate", "-", "--check"}); code != 0 || !strings.Contains(out.String(), "\x1b[1;32mPassed.\x1b[m ") {
		t.Errorf("exit %d, prints %q", code, out.String())
	}
}
