package main

// Merge queues, as a job, a sweep and the daemon meet them.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// groupEvent writes the event of the group that was built last, and returns what a job of it gets.
func groupEvent(t *testing.T, g *sandbox.GitHub, action string) map[string]string {
	t.Helper()
	all := sandbox.Groups(g)
	last := all[len(all)-1]
	dir := t.TempDir()
	event := filepath.Join(dir, "event.json")
	payload := fmt.Sprintf(
		`{"action":%q,"merge_group":{"head_sha":%q,"head_ref":"refs/heads/%s"},"repository":{"full_name":"acme/shop"}}`, action, last.Head, last.Branch,
	)
	if err := os.WriteFile(event, []byte(payload), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "merge_group", "GITHUB_EVENT_PATH": event,
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
	}
}

// groupReads is what the one check of a group's commit says.
func groupReads(t *testing.T, g *sandbox.GitHub, commit string) string {
	t.Helper()
	own := g.OwnCheckRuns(sandbox.SHA(commit))
	if len(own) != 1 {
		return fmt.Sprintf("%d checks", len(own))
	}
	return own[0].Conclusion + " " + own[0].Title
}

func mustHappen(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRunOnAMergeGroup(t *testing.T) {
	g, run := shop(t, []string{"Fix the cart", "Fix the till"})
	mustHappen(t, sandbox.Enqueue(g, 1, "m1", ""))
	mustHappen(t, sandbox.Enqueue(g, 2, "m2", ""))
	env := groupEvent(t, g, "checks_requested")
	if code, out, said := run(env, "run"); code != 0 || strings.Contains(out+said, "nothing to evaluate") {
		t.Fatalf("exit %d: %s%s", code, out, said)
	}
	if is := groupReads(t, g, "m2"); is != "success #1: 1 of 1 approval; #2: 1 of 1 approval" {
		t.Errorf("it reads %q", is)
	}
	output, _ := os.ReadFile(env["GITHUB_OUTPUT"])
	summary, _ := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
	if !strings.Contains(string(output), "passed") || !strings.Contains(string(summary), "merge queue's commit") {
		t.Errorf("outputs %s, summary %s", output, summary)
	}
	if code, out, said := run(groupEvent(t, g, "destroyed"), "run"); code != 0 || !strings.Contains(out, "nothing to evaluate: the merge group is no more") {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
	if status := g.Statuses(sandbox.SHA("m2")); len(status) != 1 || status[0].State != "success" {
		t.Errorf("the statuses are %+v", status)
	}
}

// A dry run writes nothing, and says what it would.
func TestDryRunOnAMergeGroup(t *testing.T) {
	g, run := shop(t, []string{"Fix the cart"})
	mustHappen(t, sandbox.Enqueue(g, 1, "m1", ""))
	code, out, said := run(groupEvent(t, g, "checks_requested"), "run", "--dry-run")
	if is := groupReads(t, g, "m1"); code != 0 || is != "0 checks" || !strings.Contains(out, "#1: 1 of 1 approval") {
		t.Errorf("exit %d, %s: %s%s", code, is, out, said)
	}
}

// What is decided about a pull request after its group has passed is written there, too, by whichever job sees it first; a
// sweep finds a group whose own job never was.
func TestOtherJobsKeepAGroupTrue(t *testing.T) {
	for _, args := range [][]string{{"run", "--pr", "1", "--hold", "0s"}, {"sweep"}} {
		g, run := shop(t, []string{"Fix the cart", "Fix the till"})
		mustHappen(t, sandbox.Enqueue(g, 1, "m1", ""))
		mustHappen(t, sandbox.Enqueue(g, 2, "m2", ""))
		env := map[string]string{"GITHUB_ACTIONS": "true"}
		if code, out, said := run(env, args...); code != 0 || groupReads(t, g, "m1") != "success #1: 1 of 1 approval" {
			t.Fatalf("%v: exit %d, %s: %s%s", args, code, groupReads(t, g, "m1"), out, said)
		}
		if _, err := g.Review(1, sandbox.ReviewSpec{By: "sage[bot]", State: "CHANGES_REQUESTED", Body: "No."}); err != nil {
			t.Fatal(err)
		}
		code, out, said := run(env, args...)
		if is := groupReads(t, g, "m2"); code != 0 || is != "failure #1: Changes requested by sage; #2: 1 of 1 approval" {
			t.Errorf("%v: exit %d, %s: %s%s", args, code, is, out, said)
		}
	}
}
