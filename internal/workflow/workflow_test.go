package workflow

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDefinition(t *testing.T) {
	d, err := ParseDefinition(`
name: Review coordinator
on:
  workflow_run: {workflows: [Bell, "A: b"], types: [completed]}
  pull_request:
    paths-ignore: docs/**
  status:
permissions: read-all
jobs:
  b: {uses: ./.github/workflows/other.yml}
  a:
    name: look
    permissions: {checks: write}
    steps:
      - uses: review-coordinator/coordinator@v1
        with: {pr: 7, wait: true}
      - run: make
`)
	if err != nil {
		t.Fatal(err)
	}
	want := Definition{
		Name: "Review coordinator",
		Triggers: []Trigger{
			{Event: "pull_request", PathsIgnore: []string{"docs/**"}},
			{Event: "status"},
			{Event: "workflow_run", Workflows: []string{"Bell", "A: b"}, Types: []string{"completed"}},
		},
		Token: TokenRights{Named: true, All: "read"},
		Jobs: []JobPlan{
			{
				ID: "a", Name: "look", Token: TokenRights{Named: true, Levels: map[string]string{"checks": "write"}},
				Steps: []StepPlan{
					{Uses: "review-coordinator/coordinator@v1", With: map[string]string{"pr": "7", "wait": "true"}},
					{Run: "make", With: map[string]string{}},
				},
			},
			{ID: "b", Uses: "./.github/workflows/other.yml"},
		},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func TestTriggersAreWrittenInThreeWays(t *testing.T) {
	for _, on := range []string{"on: push", "on: [push]", "on: {push: }", "on:\n  push:\n    branches: main", "\"on\": push"} {
		d, err := ParseDefinition(on + "\njobs: {a: {steps: []}}\n")
		if _, found := d.Trigger("push"); err != nil || !found || len(d.Triggers) != 1 {
			t.Errorf("%q: %+v, %v", on, d, err)
		}
	}
}

func TestWhatATokenMay(t *testing.T) {
	for _, test := range []struct {
		permissions, of, level string
		want                   bool
	}{
		{"write-all", "checks", "write", true},
		{"read-all", "checks", "write", false},
		{"read-all", "checks", "read", true},
		{"{}", "checks", "read", false},
		{"{checks: write}", "checks", "read", true},
		{"{checks: write}", "statuses", "read", false},
		{"", "contents", "read", false},
	} {
		d, err := ParseDefinition("on: push\npermissions: " + test.permissions + "\njobs: {a: {steps: []}}\n")
		if got := d.Token.Allows(test.of, test.level); err != nil || got != test.want || !d.Token.Named {
			t.Errorf("%q: %s: %s is %v, %v", test.permissions, test.of, test.level, got, err)
		}
	}
	if d, _ := ParseDefinition("on: push\njobs: {a: {steps: []}}\n"); d.Token.Named {
		t.Error("what is not written is named")
	}
}

func TestFilesThatAreNoWorkflow(t *testing.T) {
	for _, src := range []string{
		"", "a: [", "- a", "on: push", "jobs: {a: {}}", "on: {push: [}", "on: 7\njobs: 8", "\x00", strings.Repeat("#", maxSource+1),
		"a: &a [x]\n" + strings.Repeat("b: [ *a ]\n", maxAliases+1),
	} {
		if d, err := ParseDefinition(src); err == nil {
			t.Errorf("%.40q is read as %+v", src, d)
		}
	}
}

// The examples are workflows.
func TestExamplesAreRead(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseDefinition(string(src)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func FuzzParseDefinition(f *testing.F) {
	f.Add("on: push\njobs: {a: {steps: [{uses: x}]}}\n")
	f.Add("on: [a, {b: c}]\npermissions: {a: {b: c}}\njobs: {a: b, c: [d]}\n")
	f.Fuzz(func(_ *testing.T, src string) { _, _ = ParseDefinition(src) })
}

// A run is one of all that it calls, however they call each other.
func TestAWorkflowIsReadWithWhatItCalls(t *testing.T) {
	call := func(paths ...string) string {
		jobs := "on: pull_request\njobs:\n"
		for i, path := range paths {
			jobs += fmt.Sprintf("  j%d: {uses: %s}\n", i, path)
		}
		return jobs + "  own: {steps: [{run: ./x}]}\n"
	}
	all := []File{
		Read("a.yml", call("./b.yml", "./c.yml", "acme/x/.github/workflows/y.yml@v1")),
		Read("b.yml", call("./c.yml", "./a.yml")),
		Read("c.yml", call("./c.yml", "./gone.yml")),
		Read("d.yml", "on: ["),
	}
	for _, f := range all[:3] {
		whole := f.WithCalled(all)
		if n, want := len(whole.Steps()), map[string]int{"a.yml": 3, "b.yml": 3, "c.yml": 1}[f.Path]; n != want || len(f.Steps()) != 1 {
			t.Errorf("%s: %d steps with those that it calls, want %d; %d of its own", f.Path, n, want, len(f.Steps()))
		}
	}
	if by := all[2].Caller(all); by != "a.yml" {
		t.Errorf("c.yml is called by %q", by)
	}
}

func TestWhatMayComment(t *testing.T) {
	for source, want := range map[string]bool{
		"{steps: [{uses: actions/checkout@v4}, {run: go test}]}":                                              false,
		"{steps: [{run: gh pr comment}]}":                                                                     false,
		"{steps: [{run: npx danger ci, env: {T: '${{ secrets.github_token }}'}}]}":                            true,
		"{steps: [{uses: actions/first-interaction@v1}]}":                                                     true,
		"{steps: [{run: 'echo high; ghost'}]}":                                                                false,
		"{steps: [{uses: actions/github-script@v7}]}":                                                         true,
		"{steps: [{uses: acme/judge@v1}]}":                                                                    true,
		"{steps: [{uses: ./.github/actions/judge}]}":                                                          true,
		"{uses: ./.github/workflows/x.yml}":                                                                   true,
		"{permissions: {contents: read}, steps: [{run: gh pr comment}]}":                                      false,
		"{permissions: read-all, steps: [{uses: acme/judge@v1}]}":                                             false,
		"{permissions: {issues: write}, steps: [{run: curl -H 'Authorization: bearer ${{ github.token }}'}]}": true,
	} {
		if got := Read("x.yml", "on: pull_request\njobs: {a: "+source+"}\n").MayComment(); got != want {
			t.Errorf("%s: %t", source, got)
		}
	}
}
