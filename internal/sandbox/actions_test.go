package sandbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// quiet is a repository with one pull request and nothing else.
func quiet(t *testing.T, o sandbox.Options) (*sandbox.GitHub, *clock, *caller) {
	t.Helper()
	c := newClock()
	o.Now = c.now
	g := sandbox.New(o)
	g.OpenPull(sandbox.PullSpec{Number: 7})
	return g, c, newCaller(t, g)
}

func TestAfterARerunTheOldAttemptStillShows(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/a.yml", PR: 7}))
	now.pass(time.Minute)
	must[bool](t)(g.FinishRun(id, sandbox.Finish{Conclusion: "failure"}))
	run := fmt.Sprintf("actions/runs/%d", id)
	old := c.get(run + "/jobs").at("jobs.0.id")
	var told string
	g.OnRerun(func(run int64, attempt int) { told = fmt.Sprint(run, attempt) })

	c.want(201, "POST", run+"/rerun-failed-jobs", "")
	if want := fmt.Sprint(id, 2); told != want {
		t.Errorf("players were told %q, want %q", told, want)
	}
	c.get(run).is(t, "run_attempt", "1", "status", "completed", "conclusion", "failure")
	c.want(404, "GET", run+"/attempts/2", "")
	c.want(403, "POST", run+"/rerun", "").is(t, "message", "This workflow is already running")

	if due := g.Due(); !due.Equal(now.at.Add(2 * time.Second)) {
		t.Errorf("due at %v, want in 2s", due)
	}
	now.pass(2 * time.Second)
	c.get(
		run,
	).is(
		t,
		"run_attempt",
		"2",
		"status",
		"queued",
		"conclusion",
		"null",
		"run_started_at",
		"2026-11-21T14:01:00Z",
		"created_at",
		"2026-11-21T14:00:00Z",
	)
	c.get(run+"/jobs").is(t, "total_count", "0") // which is not a run without jobs
	now.pass(time.Second)
	c.get(run+"/jobs").is(t, "total_count", "1", "jobs.0.status", "queued", "jobs.0.runner_id", "null")
	now.pass(2 * time.Second)
	jobs := c.get(run + "/jobs")
	jobs.is(t, "jobs.0.status", "in_progress", "jobs.0.run_attempt", "2", "jobs.0.started_at", "2026-11-21T14:01:05Z")
	if jobs.at("jobs.0.id") == old {
		t.Error("the new attempt's job has the old one's id")
	}
	c.get(run+"/attempts/1").is(t, "conclusion", "failure")
	if w := g.Wrote(); w.Reruns[id] != 1 {
		t.Errorf("reruns: %v", w.Reruns)
	}
}

func TestRerunsAreRefused(t *testing.T) {
	tests := []struct {
		name   string
		spec   sandbox.RunSpec
		finish string
		which  string
		want   string
	}{
		{"while it runs", sandbox.RunSpec{}, "", "rerun", "This workflow is already running"},
		{"when no job failed", sandbox.RunSpec{}, "success", "rerun-failed-jobs", "No failed jobs to rerun."},
		{"when it was cancelled", sandbox.RunSpec{}, "cancelled", "rerun-failed-jobs", "No failed jobs to rerun."},
		{"when it had no jobs", sandbox.RunSpec{Conclusion: "startup_failure"}, "", "rerun-failed-jobs", "No failed jobs to rerun."},
		{
			"when it is too old",
			sandbox.RunSpec{Created: newClock().at.Add(-31 * 24 * time.Hour), Conclusion: "failure"},
			"",
			"rerun",
			"Unable to retry this workflow run because it was created over a month ago",
		},
		{
			"when GitHub will not",
			sandbox.RunSpec{Conclusion: "failure", Refused: "This workflow run cannot be retried"},
			"",
			"rerun",
			"This workflow run cannot be retried",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, _, c := quiet(t, sandbox.Options{})
			tt.spec.Workflow, tt.spec.PR = ".github/workflows/a.yml", 7
			id := must[int64](t)(g.StartRun(tt.spec))
			if tt.finish != "" {
				must[bool](t)(g.FinishRun(id, sandbox.Finish{Conclusion: tt.finish}))
			}
			c.want(403, "POST", fmt.Sprintf("actions/runs/%d/%s", id, tt.which), "").is(t, "message", tt.want)
			if w := g.Wrote(); w.Reruns[id] != 0 {
				t.Error("it was run again")
			}
		})
	}
	g, now, c := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7, Conclusion: "failure"}))
	for range 50 {
		c.want(201, "POST", fmt.Sprintf("actions/runs/%d/rerun", id), "")
		now.pass(10 * time.Second)
		must[bool](t)(g.FinishRun(id, sandbox.Finish{Conclusion: "failure"}))
	}
	c.want(403, "POST", fmt.Sprintf("actions/runs/%d/rerun", id), "") // fifty are enough
}

func TestRerunOfFailedJobsKeepsTheOthers(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7, Jobs: []string{"prepare", "review"}}))
	must[bool](t)(g.FinishRun(id, sandbox.Finish{Conclusion: "failure", Job: "review"}))
	c.want(201, "POST", fmt.Sprintf("actions/runs/%d/rerun-failed-jobs", id), "")
	now.pass(10 * time.Second)
	c.get(
		fmt.Sprintf("actions/runs/%d/jobs", id),
	).is(
		t,
		"total_count",
		"2",
		"jobs.0.name",
		"prepare",
		"jobs.0.run_attempt",
		"1",
		"jobs.1.name",
		"review",
		"jobs.1.run_attempt",
		"2",
	)
	c.get(fmt.Sprintf("actions/runs/%d/jobs?filter=all", id)).is(t, "total_count", "3")
	checks := c.get("commits/" + sandbox.SHA("a1") + "/check-runs?check_name=review")
	checks.is(t, "total_count", "1", "check_runs.0.status", "in_progress")
	c.get("commits/"+sandbox.SHA("a1")+"/check-runs?check_name=review&filter=all").is(t, "total_count", "2", "check_runs.1.conclusion", "failure")
}

func TestACancelTakesAMoment(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7}))
	run := fmt.Sprintf("actions/runs/%d", id)
	c.want(202, "POST", run+"/cancel", "")
	c.want(202, "POST", run+"/cancel", "")
	c.get(run).is(t, "status", "in_progress")
	now.pass(3 * time.Second)
	c.get(run).is(t, "status", "completed", "conclusion", "cancelled", "updated_at", "2026-11-21T14:00:02Z")
	c.want(409, "POST", run+"/cancel", "")
	if w := g.Wrote(); w.Cancels[id] != 1 {
		t.Errorf("cancels: %v, want one", w.Cancels)
	}
	if ended := must[bool](t)(g.FinishRun(id, sandbox.Finish{})); ended {
		t.Error("a run that was cancelled ended once more")
	}

	other := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "b.yml", PR: 7}))
	c.want(202, "POST", fmt.Sprintf("actions/runs/%d/cancel", other), "")
	must[bool](t)(g.FinishRun(other, sandbox.Finish{})) // it ends before the cancel gets to it
	now.pass(5 * time.Second)
	c.get(fmt.Sprintf("actions/runs/%d", other)).is(t, "conclusion", "success")
}

func TestARunThatBeginsAnewMayKeepItsAttempt(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7, Conclusion: "action_required"}))
	run := fmt.Sprintf("actions/runs/%d", id)
	c.get(run+"/jobs").is(t, "total_count", "0")
	now.pass(time.Minute)
	check(t, g.RestartRun(id))
	c.get(run).is(t, "run_attempt", "1", "status", "queued", "run_started_at", "2026-11-21T14:01:00Z", "previous_attempt_url", "null")
	check(t, g.WithholdRunner(id))
	now.pass(time.Hour)
	c.get(run).is(t, "status", "queued")
	check(t, g.StartJobs(id))
	c.get(run+"/jobs").is(t, "jobs.0.started_at", "2026-11-21T15:01:00Z")
	if err := g.RerunByPerson(id, "bob"); err == nil {
		t.Error("a run that has not ended was run again")
	}
}

func TestARunWaitsForItsEnvironment(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7, Status: "waiting"}))
	run := fmt.Sprintf("actions/runs/%d", id)
	c.get(run).is(t, "status", "waiting", "conclusion", "null")
	c.get(run+"/jobs").is(t, "jobs.0.status", "waiting")
	now.pass(time.Hour)
	c.get(run).is(t, "status", "waiting")
	check(t, g.StartJobs(id))
	c.get(run+"/jobs").is(t, "jobs.0.status", "in_progress", "jobs.0.started_at", "2026-11-21T15:00:00Z")
	must[bool](t)(g.FinishRun(id, sandbox.Finish{Conclusion: "failure"}))
	if err := sandbox.AwaitEnvironment(g, id); err == nil {
		t.Error("a run that has ended waits")
	}

	check(t, g.RerunByPerson(id, "bob"))
	check(t, sandbox.AwaitEnvironment(g, id)) // each attempt asks for its environment anew
	now.pass(time.Hour)
	c.get(run).is(t, "run_attempt", "2", "status", "waiting")
	c.get(run+"/jobs").is(t, "jobs.0.status", "waiting", "jobs.0.run_attempt", "2")
	c.want(202, "POST", run+"/cancel", "")
	now.pass(5 * time.Second)
	c.get(run).is(t, "status", "completed", "conclusion", "cancelled")
}

func TestLogsAreElsewhereForAMinute(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7}))
	job := c.get(fmt.Sprintf("actions/runs/%d/jobs", id)).at("jobs.0.id")
	c.want(404, "GET", "actions/jobs/"+job+"/logs", "") // not before it has ended
	must[bool](t)(g.FinishRun(id, sandbox.Finish{Conclusion: "failure", Log: "HTTP 503", Annotation: "exit code 1"}))
	to := c.want(302, "GET", "actions/jobs/"+job+"/logs", "").header.Get("Location")
	fetch := func(token string) (int, string) {
		req, _ := http.NewRequest("GET", to, nil)
		if token != "" {
			req.Header.Set("Authorization", token)
		}
		res, err := g.RoundTrip(req)
		check(t, err)
		defer res.Body.Close()
		b := make([]byte, 100)
		n, _ := res.Body.Read(b)
		return res.StatusCode, string(b[:n])
	}
	if status, text := fetch(""); status != 200 || text != "HTTP 503" {
		t.Errorf("log: %d %q", status, text)
	}
	if status, _ := fetch("Bearer t1"); status != 401 {
		t.Errorf("the log's host took the API's token: %d", status)
	}
	now.pass(2 * time.Minute)
	if status, _ := fetch(""); status != 403 {
		t.Errorf("an old link still works: %d", status)
	}
	c.get("check-runs/"+job+"/annotations").is(t, "#", "1", "0.message", "exit code 1", "0.annotation_level", "failure")
}

func TestWhereRunsAppear(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	g.OpenPull(sandbox.PullSpec{Number: 8, Head: "f1", Fork: "mallory", Author: "mallory"})
	start := func(s sandbox.RunSpec) int64 {
		s.Workflow = ".github/workflows/a.yml@main"
		return must[int64](t)(g.StartRun(s))
	}
	same := start(sandbox.RunSpec{PR: 7})
	fork := start(sandbox.RunSpec{PR: 8, Event: "pull_request_target"})
	asked := start(sandbox.RunSpec{PR: 7, Event: "issue_comment"})
	show := func(id int64) reply { return c.get(fmt.Sprintf("actions/runs/%d", id)) }
	show(same).is(t, "head_sha", sandbox.SHA("a1"), "pull_requests.0.number", "7", "run_number", "1", "path", ".github/workflows/a.yml@main")
	show(fork).is(t, "head_sha", sandbox.SHA("f1"), "pull_requests.#", "0", "head_repository.full_name", "mallory/shop", "run_number", "2")
	show(asked).is(t, "head_branch", "main", "pull_requests.#", "0")
	c.get("actions/runs?head_sha="+sandbox.SHA("a1")).is(t, "total_count", "1")
	c.get("actions/runs?event=issue_comment").is(t, "total_count", "1")
	c.get("actions/runs?created=>=2026-11-21T14:00:00Z").is(t, "total_count", "3")
	c.get("actions/runs?created=2026-11-20").is(t, "total_count", "0")
	c.get("actions/runs?exclude_pull_requests=true").is(t, "workflow_runs.2.pull_requests.#", "0")

	check(t, g.HideRun(same, true)) // the index has not heard of it; GitHub has
	c.get("actions/runs?head_sha="+sandbox.SHA("a1")).is(t, "total_count", "0")
	c.get("actions/runs").is(t, "total_count", "3")
	show(same).is(t, "id", fmt.Sprint(same))

	check(t, g.Push(7, "a2", sandbox.PushSpec{})) // the pull request moves on, the run does not
	show(same).is(t, "head_sha", sandbox.SHA("a1"), "pull_requests.0.head.sha", sandbox.SHA("a2"))
	check(t, g.DeleteRun(asked))
	c.want(404, "GET", fmt.Sprintf("actions/runs/%d", asked), "")
	if _, err := g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 99}); err == nil || !strings.Contains(err.Error(), "#99") {
		t.Errorf("a run for a pull request that is not there: %v", err)
	}
}

// A run of an event that a policy forbids fails without a job; why, GitHub tells only on its page.
func TestAForbiddenEventStartsNoJob(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	sandbox.ForbidEvents(g, "pull_request_target", "issue_comment")
	start := func(event string) string {
		id := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7, Event: event}))
		return fmt.Sprintf("actions/runs/%d", id)
	}
	run := start("pull_request_target")
	c.get(run).is(t, "status", "completed", "conclusion", "failure", "run_attempt", "1", "head_sha", sandbox.SHA("a1"))
	c.get(run+"/jobs").is(t, "total_count", "0")
	c.want(403, "POST", run+"/rerun", "").is(t, "message", "This workflow run cannot be retried")
	c.want(403, "POST", run+"/rerun-failed-jobs", "")
	c.get(start("issue_comment")).is(t, "conclusion", "failure")
	c.get(start("workflow_run")).is(t, "status", "in_progress")
	sandbox.ForbidEvents(g)
	c.get(start("pull_request_target")).is(t, "status", "in_progress")
}
