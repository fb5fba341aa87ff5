package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		cmd            classifyCmd
	}{
		{"approved", "**Ready to merge?** Yes", "approved (approved): it approves\n  read: **Ready to merge?** Yes\n", classifyCmd{Kind: "comment"}},
		{"a finding", "1. **Critical** `a.go:3`: leaks\n\n**Ready to merge?** No", "findings (findings): it objects\n  read: **Ready to merge?** No\n  finding: a.go:3 **Critical** `a.go:3`: leaks\n", classifyCmd{Kind: "comment"}},
		{"a limit", "Rate limit exceeded. Please wait 5 minutes.", "limited (rate_limit): it met a rate limit\n  read: Rate limit exceeded. Please wait 5 minutes.\n  resets: in 5m0s\n", classifyCmd{Kind: "comment"}},
		{"a preset", "Copilot reviewed 1 out of 1 changed files in this pull request and generated no comments.", "approved (approved): it approves\n", classifyCmd{Kind: "review", State: "COMMENTED", Preset: "copilot"}},
		{"comments", "see below", "findings (findings): it objects\n", classifyCmd{Kind: "review", State: "COMMENTED", Comments: 1}},
		{"a format", `{"verdict": "approve"}`, "approved (approved): it approves\n", classifyCmd{Kind: "comment", Verdict: "json"}},
		{"a state in small letters", "", "findings (findings): it objects\n", classifyCmd{Kind: "review", State: "changes_requested"}},
		{"a pattern", "Verdict: ship it", "approved (approved): it approves\n  read: Verdict: ship it\n", classifyCmd{Approve: "^Verdict: ship", Object: "^Verdict: hold"}},
		{"advice", "I like it.", "malformed (malformed): no clear verdict in its answer\n  read: I like it.\n  advice: Check the reviewer's prompt", classifyCmd{}},
		{"no review", "Copilot reviewed 1 out of 1 changed files in this pull request and generated no comments.", "unrelated (unknown): it is neither a review nor a failure\n", classifyCmd{Preset: "copilot"}},
		{"a log", "**Ready to merge?** Yes", "unknown (unknown): it failed, and nothing says why\n", classifyCmd{Kind: "log", Conclusion: "failure"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			if err := c.cmd.Run(t.Context(), &command{Stdin: strings.NewReader(c.in), Stdout: &out}); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(out.String(), c.want) {
				t.Errorf("prints %q, want %q", out.String(), c.want)
			}
		})
	}
}

func TestClassifyJSON(t *testing.T) {
	var out strings.Builder
	if err := (classifyCmd{Kind: "comment", JSON: true}).Run(t.Context(), &command{Stdin: strings.NewReader("**Ready to merge?** <Yes>"), Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	if findings, ok := got["findings"].([]any); got["outcome"] != "malformed" || got["reason"] != "template" || !ok || len(findings) != 0 {
		t.Errorf("prints %s", out.String())
	}
}

func TestClassifyRefuses(t *testing.T) {
	for name, cmd := range map[string]classifyCmd{
		"unknown preset":  {Kind: "comment", Preset: "nobody"},
		"unknown verdict": {Kind: "comment", Verdict: "mood"},
		"unknown kind":    {Kind: "letter"},
		"is negative":     {Kind: "review", Comments: -1},
		"longer than":     {Kind: "comment"},
	} {
		err := cmd.Run(t.Context(), &command{Stdin: strings.NewReader(strings.Repeat("x", 1<<20+1)), Stdout: &strings.Builder{}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
