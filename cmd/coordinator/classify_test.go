//go:build !action

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		flags          []string
	}{
		{"approved", "**Ready to merge?** Yes", "approved (approved): it approves\n  read: **Ready to merge?** Yes\n", []string{"--kind", "comment"}},
		{
			"a finding", "1. **Critical** `a.go:3`: leaks\n\n**Ready to merge?** No",
			"findings (findings): it objects\n  read: **Ready to merge?** No\n  by: field: ready to merge (line 3)\n  finding: a.go:3 **Critical** `a.go:3`: leaks\n",
			[]string{"--kind", "comment"},
		},
		{
			"a limit", "Rate limit exceeded. Please wait 5 minutes.",
			"limited (rate_limit): it met a rate limit\n  read: Rate limit exceeded. Please wait 5 minutes.\n  by: general notices (line 1)\n  resets: in 5m0s\n",
			[]string{"--kind", "comment"},
		},
		{
			"a preset", "Copilot reviewed 1 out of 1 changed files in this pull request and generated no comments.",
			"approved (approved): it approves\n  read: Copilot reviewed 1 out of 1 changed files in this pull request and generated no comments.\n" +
				"  by: copilot.json counts: copilot reviewed {some} out of {n} changed file(s|) in this pull request and generated {count} (new |)comment(s|) (line 1)\n" +
				"  only: if none of its reviewer's threads is open\n  unknown: who wrote it, when, and in which run; ",
			[]string{"--kind", "review", "--state", "COMMENTED", "--preset", "copilot"},
		},
		{"comments", "see below", "findings (findings): it objects\n", []string{"--kind", "review", "--state", "COMMENTED", "--comments=1"}},
		{"a format", `{"verdict": "approve"}`, "approved (approved): it approves\n", []string{"--kind", "comment", "--verdict", "json"}},
		{"a state in small letters", "", "findings (findings): it objects\n", []string{"--kind", "review", "--state", "changes_requested"}},
		{
			"a lone field that is not known", "## Review\n\n**Task quality:** Exemplary\n\nThe tests cover it.",
			"malformed (malformed): no clear verdict in its answer\n  read: **Task quality:** Exemplary\n" +
				"  by: field: task quality (line 3)\n" +
				"  advice: Check the reviewer's prompt: it must end with exactly one verdict and no condition.\n" +
				"  row to add, from line 3, beside the reviewer's other keys in the policy:\n\n" +
				"    # Name every word that this field may have: under approve ONLY what says that all is well,\n" +
				"    # under object what objects, under none what says that nothing was reviewed.\n" +
				"    verdict: {field: \"Task quality\", approve: [\"FILL IN\"], object: [\"FILL IN\"], none: [\"FILL IN\"]}\n",
			nil,
		},
		{"advice", "I like it.", "malformed (malformed): no clear verdict in its answer\n  read: I like it.\n  advice: Check the reviewer's prompt", nil},
		{
			"no review", "Copilot reviewed 1 out of 1 changed files in this pull request and generated no comments.",
			"unrelated (unknown): it is neither a review nor a failure\n",
			[]string{"--preset", "copilot"},
		},
		{
			"a commit", "Reviewed commit: 4f2c9a1e0b7d35c8a6f1240d9e83b57c6a0f1d2e\n\n**Ready to merge?** Yes",
			"approved (approved): it approves\n  read: **Ready to merge?** Yes\n  by: field: ready to merge (line 3)\n" +
				"  only: for the commit that it names, 4f2c9a1e0b7d35c8a6f1240d9e83b57c6a0f1d2e\n  unknown: ",
			nil,
		},
		{"a check under way", "**Ready to merge?** Yes", "running (running): ", []string{"--kind", "check", "--state", "in_progress"}},
		{"a log", "**Ready to merge?** Yes", "unknown (unknown): it failed, and nothing says why\n", []string{"--kind", "log", "--conclusion", "failure"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code, out, said := classify(t, c.in, c.flags...); code != 0 || said != "" || !strings.HasPrefix(out, c.want) {
				t.Errorf("exit %d: prints %q, want %q; says %q", code, out, c.want, said)
			}
		})
	}
}

// classify runs coordinator classify on a text.
func classify(t *testing.T, text string, flags ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr strings.Builder
	c := &command{Stdin: strings.NewReader(text), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }}
	return c.Main(t.Context(), append([]string{"classify"}, flags...)), stdout.String(), stderr.String()
}

func TestClassifyJSON(t *testing.T) {
	code, out, said := classify(t, "**Ready to merge?** <Yes>", "--kind", "comment", "--json")
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("exit %d: %v: %s", code, err, said)
	}
	if findings, ok := got["findings"].([]any); got["outcome"] != "malformed" || got["reason"] != "template" || !ok || len(findings) != 0 {
		t.Errorf("prints %s", out)
	}
}

func TestClassifyRefuses(t *testing.T) {
	for want, flags := range map[string][]string{
		"unknown preset":   {"--kind", "comment", "--preset", "nobody"},
		"unknown verdict":  {"--kind", "comment", "--verdict", "mood"},
		"unknown kind":     {"--kind", "letter"},
		"no state of a":    {"--kind", "check", "--state", "APPROVED"},
		"without --policy": {"--reviewer", "sage"},
		"another flag":     {"--policy", "policy.yml", "--preset", "copilot"},
		"no such file":     {"--policy", "absent.yml"},
		"is negative":      {"--kind", "review", "--comments=-1"},
		"longer than":      {"--kind", "comment"},
	} {
		if code, _, said := classify(t, strings.Repeat("x", 1<<20+1), flags...); code != 2 || !strings.Contains(said, want) {
			t.Errorf("%s: exit %d: %s", want, code, said)
		}
	}
}
