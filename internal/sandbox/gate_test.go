package sandbox_test

import (
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// gateKeeper is a quiet repository in which the merge gate is asked after the check Q.
type gateKeeper struct {
	*sandbox.GitHub
	*caller
	now *clock
}

func keepGate(t *testing.T, o sandbox.Options) *gateKeeper {
	t.Helper()
	g, now, c := quiet(t, o)
	return &gateKeeper{g, c, now}
}

// expectGate expects the gate to be open, or closed.
func (k *gateKeeper) expectGate(open bool, when string) {
	k.t.Helper()
	if got := sandbox.MergeGateOpens(k.GitHub, 7, "Q"); got != open {
		k.t.Errorf("%s: the gate is open: %v, want %v", when, got, open)
	}
	k.now.pass(time.Second)
}

// run starts a run on the head.
func (k *gateKeeper) run(file, event string) int64 {
	k.t.Helper()
	k.now.pass(time.Second)
	return must[int64](k.t)(k.StartRun(sandbox.RunSpec{Workflow: file, PR: 7, Event: event, Head: "a1"}))
}

// A green check of GITHUB_TOKEN stops counting when the run whose suite it was filed into is followed by another. A
// status beside it opens the gate, and a red one closes it.
func TestTheMergeGatePassesOverASupersededSuite(t *testing.T) {
	k := keepGate(t, sandbox.Options{})
	body := `{"name":"Q","head_sha":"` + sandbox.SHA("a1") + `",`
	status := func(state string) {
		k.want(201, "POST", "statuses/"+sandbox.SHA("a1"), `{"context":"q","state":"`+state+`"}`) // contexts have no case
	}
	k.expectGate(false, "nothing is there")
	first := k.run("a.yml", "pull_request")
	q := k.want(201, "POST", "check-runs", body+`"status":"in_progress"}`).at("id")
	k.expectGate(false, "the check is open")
	k.want(200, "PATCH", "check-runs/"+q, `{"conclusion":"success"}`)
	k.expectGate(true, "the check is green")
	k.run("b.yml", "pull_request")
	k.run("a.yml", "pull_request_target")
	k.expectGate(true, "another workflow and another event ran")
	second := k.run("a.yml", "pull_request")
	k.expectGate(false, "its suite is superseded")
	k.get("commits/"+sandbox.SHA("a1")+"/check-runs?check_name=Q").is(t, "check_runs.0.conclusion", "success")
	k.want(201, "POST", "check-runs", body+`"conclusion":"success"}`)
	k.expectGate(false, "posting again lands in the same suite")
	status("pending")
	k.expectGate(false, "the status is open")
	status("success")
	k.expectGate(true, "the status is green")
	k.want(200, "PATCH", "check-runs/"+q, `{"conclusion":"failure"}`)
	k.expectGate(true, "nobody looks at the check")
	status("failure")
	k.expectGate(false, "the status is red")
	check(t, k.DeleteRun(first))
	check(t, k.DeleteRun(second))
	status("success")
	k.expectGate(true, "the checks are gone with their suites")
	k.want(201, "POST", "check-runs", body+`"conclusion":"failure"}`)
	k.expectGate(false, "both count, and one is red")
	k.want(201, "POST", "check-runs", body+`"conclusion":"success"}`)
	k.expectGate(false, "a newer check hides no red one")
}

// Checks in the suite of a dispatched or scheduled run never count, though that is the oldest.
func TestTheMergeGateAndDispatchedRuns(t *testing.T) {
	for _, event := range []string{"workflow_dispatch", "schedule"} {
		k := keepGate(t, sandbox.Options{})
		k.run("a.yml", event)
		k.run("b.yml", "pull_request")
		k.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+sandbox.SHA("a1")+`","conclusion":"success"}`)
		k.expectGate(false, event)
	}
}

// An App's check is in a suite of its own, and counts whatever runs.
func TestTheMergeGateAndAnAppsCheck(t *testing.T) {
	k := keepGate(t, sandbox.Options{App: sandbox.App{Slug: "review-coordinator"}})
	k.run("a.yml", "schedule")
	k.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+sandbox.SHA("a1")+`","conclusion":"neutral"}`)
	k.run("a.yml", "schedule")
	k.expectGate(true, "the App's check is green")
	check(t, k.Push(7, "a2", sandbox.PushSpec{}))
	k.expectGate(false, "the new head has none")
	if sandbox.MergeGateOpens(k.GitHub, 8, "Q") {
		t.Error("a pull request that is not there may be merged")
	}
}

// A check that is required of one App is fulfilled by no other, be it by a check run or a status.
func TestTheMergeGateAndTheExpectedApp(t *testing.T) {
	k := keepGate(t, sandbox.Options{App: sandbox.App{Slug: "review-coordinator", ID: 4242}})
	set := func(slug, conclusion string) {
		app := sandbox.App{Slug: slug}
		_, err := k.SetCheck(sandbox.CheckSpec{Name: "Q", App: app, Head: "a1", Conclusion: conclusion})
		check(t, err)
	}
	set("github-actions", "success")
	k.expectGate(true, "anybody may set it")
	sandbox.AddBranchRuleset(k.GitHub, "main", sandbox.RequiredCheck{Name: "lint"}, sandbox.RequiredCheck{Name: "Q", AppID: 4242})
	k.expectGate(false, "it was not set by the expected App")
	must[int64](t)(k.SetStatus(sandbox.CommitStatus{Context: "Q", State: "success", Head: "a1", By: "github-actions[bot]"}))
	k.expectGate(false, "nor was the status")
	must[int64](t)(k.SetStatus(sandbox.CommitStatus{Context: "Q", State: "success", Head: "a1", By: "carol"}))
	k.expectGate(false, "nor by a person")
	own := `{"name":"Q","head_sha":"` + sandbox.SHA("a1") + `","conclusion":"success"}`
	k.want(201, "POST", "check-runs", own)
	k.expectGate(true, "the expected App has set it")
	set("github-actions", "failure")
	k.expectGate(true, "what another has set counts for nothing")

	sandbox.ProtectBranch(k.GitHub, "main", sandbox.RequiredCheck{Name: "Q", AppID: 15368})
	sandbox.AddBranchRuleset(k.GitHub, "main")
	k.expectGate(false, "the check of GITHUB_TOKEN is red")
	set("github-actions", "success")
	must[int64](t)(k.SetStatus(sandbox.CommitStatus{Context: "Q", State: "success", Head: "a1", By: "github-actions[bot]"}))
	k.expectGate(true, "and green")
}
