package sandbox_test

import (
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// gated is a quiet repository with a function that says whether the merge gate must be open for the check Q, and one that
// starts a run on the head.
func gated(t *testing.T, o sandbox.Options) (g *sandbox.GitHub, c *caller, gate func(open bool, when string), run func(file, event string) int64) {
	g, now, c := quiet(t, o)
	gate = func(open bool, when string) {
		t.Helper()
		if got := sandbox.MergeGateOpens(g, 7, "Q"); got != open {
			t.Errorf("%s: the gate is open: %v, want %v", when, got, open)
		}
		now.pass(time.Second)
	}
	run = func(file, event string) int64 {
		now.pass(time.Second)
		return must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: file, PR: 7, Event: event, Head: "a1"}))
	}
	return g, c, gate, run
}

// A green check of GITHUB_TOKEN stops counting when the run whose suite it was filed into is followed by another. A
// status beside it opens the gate, and a red one closes it.
func TestTheMergeGatePassesOverASupersededSuite(t *testing.T) {
	g, c, gate, run := gated(t, sandbox.Options{})
	check := `{"name":"Q","head_sha":"` + sandbox.SHA("a1") + `",`
	status := func(state string) {
		c.want(201, "POST", "statuses/"+sandbox.SHA("a1"), `{"context":"q","state":"`+state+`"}`) // contexts have no case
	}
	gate(false, "nothing is there")
	first := run("a.yml", "pull_request")
	q := c.want(201, "POST", "check-runs", check+`"status":"in_progress"}`).at("id")
	gate(false, "the check is open")
	c.want(200, "PATCH", "check-runs/"+q, `{"conclusion":"success"}`)
	gate(true, "the check is green")
	run("b.yml", "pull_request")
	run("a.yml", "pull_request_target")
	gate(true, "another workflow and another event ran")
	second := run("a.yml", "pull_request")
	gate(false, "its suite is superseded")
	c.get("commits/"+sandbox.SHA("a1")+"/check-runs?check_name=Q").is(t, "check_runs.0.conclusion", "success")
	c.want(201, "POST", "check-runs", check+`"conclusion":"success"}`)
	gate(false, "posting again lands in the same suite")
	status("pending")
	gate(false, "the status is open")
	status("success")
	gate(true, "the status is green")
	c.want(200, "PATCH", "check-runs/"+q, `{"conclusion":"failure"}`)
	gate(true, "nobody looks at the check")
	status("failure")
	gate(false, "the status is red")
	if err := g.DeleteRun(first); err != nil {
		t.Fatal(err)
	}
	if err := g.DeleteRun(second); err != nil {
		t.Fatal(err)
	}
	status("success")
	gate(true, "the checks are gone with their suites")
	c.want(201, "POST", "check-runs", check+`"conclusion":"failure"}`)
	gate(false, "both count, and one is red")
	c.want(201, "POST", "check-runs", check+`"conclusion":"success"}`)
	gate(false, "a newer check hides no red one")
}

// Checks in the suite of a dispatched or scheduled run never count, though that is the oldest.
func TestTheMergeGateAndDispatchedRuns(t *testing.T) {
	for _, event := range []string{"workflow_dispatch", "schedule"} {
		_, c, gate, run := gated(t, sandbox.Options{})
		run("a.yml", event)
		run("b.yml", "pull_request")
		c.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+sandbox.SHA("a1")+`","conclusion":"success"}`)
		gate(false, event)
	}
}

// An App's check is in a suite of its own, and counts whatever runs.
func TestTheMergeGateAndAnAppsCheck(t *testing.T) {
	g, c, gate, run := gated(t, sandbox.Options{App: sandbox.App{Slug: "review-coordinator"}})
	run("a.yml", "schedule")
	c.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+sandbox.SHA("a1")+`","conclusion":"neutral"}`)
	run("a.yml", "schedule")
	gate(true, "the App's check is green")
	if err := g.Push(7, "a2", sandbox.PushSpec{}); err != nil {
		t.Fatal(err)
	}
	gate(false, "the new head has none")
	if sandbox.MergeGateOpens(g, 8, "Q") {
		t.Error("a pull request that is not there may be merged")
	}
}
