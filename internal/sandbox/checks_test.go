package sandbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func TestACheckRunGrows(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	head := sandbox.SHA("a1")
	id := c.want(
		201,
		"POST",
		"check-runs",
		`{"name":"Q","head_sha":"`+head+`","status":"in_progress","output":{"title":"0 of 2","summary":"s","text":"t"}}`,
	).at(
		"id",
	)
	now.pass(time.Minute)
	c.want(200, "PATCH", "check-runs/"+id, `{"output":{"title":"0 of 2","summary":"other"}}`)
	now.pass(time.Minute)
	done := c.want(200, "PATCH", "check-runs/"+id, `{"conclusion":"success","output":{"title":"2 of 2","summary":"s"}}`)
	done.is(t, "status", "completed", "conclusion", "success", "completed_at", "2026-11-21T14:02:00Z",
		"output.text", "null", "app.id", "15368")
	c.want(200, "PATCH", "check-runs/"+id, `{"status":"in_progress"}`).is(t, "conclusion", "null",
		"completed_at", "null", "output.title", "2 of 2")

	own := g.OwnCheckRuns("a1")
	if len(own) != 1 || own[0].Writes != 4 {
		t.Fatalf("own: %+v", own)
	}
	var story []string
	for _, s := range own[0].History {
		story = append(story, fmt.Sprintf("%s %s%s %q", s.At.Format("15:04"), s.Status, s.Conclusion, s.Title))
	}
	want := `14:00 in_progress "0 of 2"; 14:02 completedsuccess "2 of 2"; 14:02 in_progress "2 of 2"`
	if got := strings.Join(story, "; "); got != want {
		t.Errorf("history\n got %s\nwant %s", got, want)
	}
}

func TestAnnotationsAddUp(t *testing.T) {
	_, _, c := quiet(t, sandbox.Options{})
	one := `{"path":"a.go","start_line":1,"end_line":1,"annotation_level":"warning","message":"m"}`
	fifty := strings.TrimSuffix(strings.Repeat(one+",", 50), ",")
	id := c.want(
		201,
		"POST",
		"check-runs",
		`{"name":"Q","head_sha":"`+sandbox.SHA("a1")+`","output":{"title":"t","summary":"s","annotations":[`+fifty+`]}}`,
	).at(
		"id",
	)
	c.want(200, "PATCH", "check-runs/"+id, `{"output":{"title":"t","summary":"s","annotations":[`+one+`]}}`).is(t, "output.annotations_count", "51")
	page := c.get("check-runs/" + id + "/annotations?per_page=50&page=2")
	page.is(t, "#", "1")
}

func TestWhatAChecksWriterMayNot(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	head := `"head_sha":"` + sandbox.SHA("a1") + `"`
	output := func(inner string) string {
		return `{"name":"Q",` + head + `,"output":{"title":"t","summary":"s",` + inner + `}}`
	}
	long := strings.Repeat("x", 65536)
	note := func(inner string) string { return output(`"annotations":[{` + inner + `}]`) }
	bad := map[string]string{
		"no name":                     `{` + head + `}`,
		"no head":                     `{"name":"Q"}`,
		"an unknown head":             `{"name":"Q","head_sha":"` + sandbox.SHA("nobody pushed it") + `"}`,
		"stale":                       `{"name":"Q",` + head + `,"conclusion":"stale"}`,
		"a made up end":               `{"name":"Q",` + head + `,"conclusion":"approved"}`,
		"waiting":                     `{"name":"Q",` + head + `,"status":"waiting"}`,
		"an end without a conclusion": `{"name":"Q",` + head + `,"status":"completed"}`,
		"no title":                    `{"name":"Q",` + head + `,"output":{"summary":"s"}}`,
		"no summary":                  `{"name":"Q",` + head + `,"output":{"title":"t"}}`,
		"a long text":                 output(`"text":"` + long + `"`),
		"a long summary":              `{"name":"Q",` + head + `,"output":{"title":"t","summary":"` + long + `"}}`,
		"51 annotations": output(
			`"annotations":[` + strings.TrimSuffix(
				strings.Repeat(`{"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m"},`, 51),
				",",
			) + `]`,
		),
		"no line":       note(`"path":"a","annotation_level":"notice","message":"m"`),
		"no such level": note(`"path":"a","start_line":1,"end_line":1,"annotation_level":"error","message":"m"`),
		"a long title": note(
			`"path":"a","start_line":1,"end_line":1,"annotation_level":"notice","message":"m","title":"` + strings.Repeat("x", 256) + `"`,
		),
		"columns of lines": note(`"path":"a","start_line":1,"end_line":2,"start_column":1,"annotation_level":"notice","message":"m"`),
		"four buttons": `{"name":"Q",` + head + `,"actions":[` + strings.TrimSuffix(
			strings.Repeat(`{"label":"a","description":"b","identifier":"c"},`, 4),
			",",
		) + `]}`,
		"a long button":       `{"name":"Q",` + head + `,"actions":[{"label":"a label of 21 letters","description":"b","identifier":"c"}]}`,
		"a name of no string": `{"name":7,` + head + `}`,
	}
	for name, body := range bad {
		unheld := &caller{t: t, rt: g, token: "t1"} // the description would object, as it should
		if r := unheld.ask("POST", "check-runs", body); r.status != 422 {
			t.Errorf("%s: status %d, want 422", name, r.status)
		}
	}
	if own := g.OwnCheckRuns("a1"); own != nil {
		t.Errorf("a refused request made %v", own)
	}
	if len(g.InvalidRequests()) != len(bad) {
		t.Errorf("%d refusals kept, want %d", len(g.InvalidRequests()), len(bad))
	}
	foreign := must[int64](t)(g.SetCheck(sandbox.CheckSpec{Name: "Q", App: sandbox.App{Slug: "other"}, Head: "a1", Conclusion: "success"}))
	c.want(403, "PATCH", fmt.Sprintf("check-runs/%d", foreign), `{"conclusion":"failure"}`)
	run := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7}))
	job := c.get(fmt.Sprintf("actions/runs/%d/jobs", run)).at("jobs.0.id")
	c.want(403, "PATCH", "check-runs/"+job, `{"conclusion":"failure"}`).is(
		t, "message", "Check runs that are jobs can only be updated internally by GitHub Actions.")
	c.want(404, "PATCH", "check-runs/1", `{"conclusion":"failure"}`)
}

func TestAPersonalTokenWritesStatuses(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{TokenOwner: "alice"})
	head := sandbox.SHA("a1")
	c.want(403, "POST", "check-runs", `{"name":"Q","head_sha":"`+head+`"}`)
	c.want(201, "POST", "statuses/"+head, `{"state":"pending","context":"Q"}`)
	c.want(201, "POST", "statuses/"+head, `{"state":"success","context":"q","description":"`+strings.Repeat("é", 140)+`"}`)
	c.want(422, "POST", "statuses/"+head, `{"state":"success","context":"q","description":"`+strings.Repeat("x", 141)+`"}`)
	(&caller{t: t, rt: g, token: "t"}).want(422, "POST", "statuses/"+head, `{"state":"green"}`)
	rollup := pr + "commits.nodes.0.commit.statusCheckRollup."
	c.pull(`commits(first: 1) {nodes {commit {statusCheckRollup {state contexts(first: 9) {totalCount}}}}}`).is(
		t, rollup+"state", "SUCCESS", rollup+"contexts.totalCount", "1") // contexts have no case
	c.get("commits/"+head+"/statuses").is(t, "#", "2", "0.state", "success", "0.creator.login", "alice")
	for range 998 {
		must[int64](t)(g.SetStatus(sandbox.CommitStatus{Head: "a1", Context: "Q", State: "pending", By: "alice"}))
	}
	c.want(422, "POST", "statuses/"+head, `{"state":"pending","context":"Q"}`) // a thousand are enough
	if all := g.Statuses("a1"); len(all) != 1000 || g.WrittenHeads()[0] != head {
		t.Errorf("%d statuses on %v", len(all), g.WrittenHeads())
	}
}

// A check of GITHUB_TOKEN turns up in the suite of whichever workflow came first; an App has a suite of its own, from
// the push on.
func TestSuites(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	head := sandbox.SHA("a1")
	c.get("commits/"+head+"/check-suites").is(t, "total_count", "0")
	now.pass(time.Second)
	first := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7}))
	now.pass(time.Second)
	must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "b.yml", PR: 7}))
	suite := c.get(fmt.Sprintf("actions/runs/%d", first)).at("check_suite_id")
	c.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+head+`"}`).is(t, "check_suite.id", suite)
	c.get(
		"commits/"+head+"/check-suites",
	).is(
		t,
		"total_count",
		"2",
		"check_suites.0.created_at",
		"2026-11-21T14:00:01Z",
		"check_suites.0.latest_check_runs_count",
		"2",
	)

	g, now, c = quiet(t, sandbox.Options{App: sandbox.App{Slug: "review-coordinator", ID: 4242}})
	now.pass(time.Minute)
	c.get(
		"commits/"+head+"/check-suites?app_id=4242",
	).is(
		t,
		"total_count",
		"1",
		"check_suites.0.created_at",
		"2026-11-21T14:00:00Z",
		"check_suites.0.status",
		"queued",
	)
	own := c.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+head+`","conclusion":"failure"}`)
	own.is(t, "app.slug", "review-coordinator")
	c.get(
		"commits/"+head+"/check-suites",
	).is(
		t,
		"total_count",
		"1",
		"check_suites.0.conclusion",
		"failure",
		"check_suites.0.updated_at",
		"2026-11-21T14:01:00Z",
		"check_suites.0.id",
		own.at("check_suite.id"),
	)
	must[int64](t)(g.SetCheck(sandbox.CheckSpec{Name: "Q", App: sandbox.App{Slug: "forger"}, Head: "a1", Conclusion: "success"}))
	c.get("commits/"+head+"/check-runs?check_name=Q&filter=all").is(t, "total_count", "2")
	c.get("commits/"+head+"/check-runs?app_id=4242").is(t, "total_count", "1")
}

// A check of GITHUB_TOKEN is listed as a job of the run into whose suite GitHub has filed it, and goes with that run.
func TestACheckIsListedAsAJobOfAForeignRun(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	head := sandbox.SHA("a1")
	lint := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "lint.yml", PR: 7, Event: "workflow_dispatch", Head: "a1"}))
	now.pass(time.Second)
	review := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7}))
	made := c.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+head+`","details_url":"https://example.com/why"}`)
	made.is(t, "html_url", "https://github.com/acme/shop/runs/"+made.at("id"))
	bare := c.want(201, "POST", "check-runs", `{"name":"R","head_sha":"`+head+`","conclusion":"success"}`)

	c.get(fmt.Sprintf("actions/runs/%d/jobs", review)).is(t, "total_count", "1", "jobs.0.name", "review")
	jobs := c.get(fmt.Sprintf("actions/runs/%d/jobs", lint))
	jobs.is(t, "total_count", "3", "jobs.0.runner_id", "1")
	jobs.is(t, "jobs.1.id", made.at("id"), "jobs.1.name", "Q", "jobs.1.status", "queued",
		"jobs.1.html_url", "https://example.com/why")
	jobs.is(t, "jobs.1.runner_id", "0", "jobs.1.runner_name", "", "jobs.1.steps.#", "0")
	jobs.is(t, "jobs.2.html_url", bare.at("html_url"), "jobs.2.conclusion", "success",
		"jobs.2.run_id", fmt.Sprint(lint))

	suites := func() reply {
		return c.query(`{repository(owner: "acme", name: "shop") {object(oid: "` + head + `") {... on Commit {
			checkSuites(first: 10) {nodes {databaseId workflowRun {event runNumber}
				checkRuns(first: 5, filterBy: {checkName: "Q"}) {nodes {databaseId}}}}}}}}`)
	}
	const node = "data.repository.object.checkSuites.nodes."
	shown := suites()
	shown.is(t, node+"#", "2", node+"0.databaseId", made.at("check_suite.id"))
	shown.is(t, node+"0.workflowRun.event", "workflow_dispatch", node+"0.workflowRun.runNumber", "1")
	shown.is(t, node+"0.checkRuns.nodes.0.databaseId", made.at("id"), node+"1.checkRuns.nodes.#", "0")

	check(t, g.DeleteRun(lint))
	c.want(404, "GET", "check-runs/"+made.at("id"), "")
	suites().is(t, node+"#", "1", node+"0.workflowRun.event", "pull_request")
	c.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+head+`"}`).is(
		t, "check_suite.id", c.get(fmt.Sprintf("actions/runs/%d", review)).at("check_suite_id"))
}

// A new name changes an App's slug and its bot's login everywhere, on what it wrote before too, and no id.
func TestAnAppIsRenamed(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{App: sandbox.App{Slug: "review-coordinator", ID: 4242}})
	head := sandbox.SHA("a1")
	set := func(slug string) {
		_, err := g.SetCheck(sandbox.CheckSpec{Name: "Q", App: sandbox.App{Slug: slug}, Head: "a1", Conclusion: "success"})
		check(t, err)
	}
	set("sage")
	remarks := []sandbox.LineComment{{Path: "x", Line: 1, Body: "no"}}
	must[int64](t)(g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", Comments: remarks}))
	must[int64](t)(g.SetStatus(sandbox.CommitStatus{Context: "S", State: "success", Head: "a1", By: "sage[bot]"}))
	c.want(201, "POST", "check-runs", `{"name":"own","head_sha":"`+head+`"}`)
	c.want(201, "POST", "issues/7/comments", `{"body":"@sage please"}`)
	shown := func() (names, ids []string) {
		checks := "commits/" + head + "/check-runs?check_name="
		graph := c.pull(`reviews(first: 1) {nodes {author {login ... on Bot {databaseId}}}} ` +
			`commits(last: 1) {nodes {commit {checkSuites(first: 1, filterBy: {checkName: "Q"}) {nodes {` +
			`app {slug databaseId}}}}}}`)
		const app = pr + "commits.nodes.0.commit.checkSuites.nodes.0.app."
		for _, of := range []struct {
			answer   reply
			name, id string
		}{
			{c.get("pulls/7/reviews"), "0.user.login", "0.user.id"},
			{c.get("pulls/7/comments"), "0.user.login", "0.user.id"},
			{c.get("commits/" + head + "/statuses"), "0.creator.login", "0.creator.id"},
			{c.get(checks + "Q"), "check_runs.0.app.slug", "check_runs.0.app.id"},
			{graph, pr + "reviews.nodes.0.author.login", pr + "reviews.nodes.0.author.databaseId"},
			{graph, app + "slug", app + "databaseId"},
			{c.get(checks + "own"), "check_runs.0.app.slug", "check_runs.0.app.id"},
			{c.get("issues/7/comments"), "0.user.login", "0.user.id"},
		} {
			names, ids = append(names, of.answer.at(of.name)), append(ids, of.answer.at(of.id))
		}
		return names, ids
	}
	_, before := shown()
	sandbox.RenameApp(g, "sage", "wise")
	sandbox.RenameApp(g, "wise", "wiser")
	sandbox.RenameApp(g, "review-coordinator", "quorum")
	names, ids := shown()
	want := "wiser[bot] wiser[bot] wiser[bot] wiser wiser wiser quorum quorum[bot]"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("names\n got %s\nwant %s", got, want)
	}
	if fmt.Sprint(ids) != fmt.Sprint(before) {
		t.Errorf("ids were %v, and are %v", before, ids)
	}
	set("wiser") // the same check
	c.get("commits/"+head+"/check-runs?check_name=Q&filter=all").is(t, "total_count", "1")
	must[int64](t)(g.Comment(7, "wiser[bot]", "x"))
	c.get("issues/7/comments").is(t, "1.user.id", ids[0], "1.user.login", "wiser[bot]")
	if now := sandbox.AppSlug(g, "sage"); now != "wiser" {
		t.Errorf("sage is called %s now", now)
	}
}

// When its days are over, what Actions has left on a commit is gone, and so are the checks and statuses of others.
func TestRetentionTakesRunsAndChecks(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{App: sandbox.App{Slug: "review-coordinator"}})
	head := sandbox.SHA("a1")
	run := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 7}))
	job := c.get(fmt.Sprintf("actions/runs/%d/jobs", run)).at("jobs.0.id")
	own := c.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+head+`","conclusion":"success"}`)
	lint := sandbox.CheckSpec{Name: "lint", App: sandbox.App{Slug: "github-actions"}, Head: "a1", Conclusion: "success"}
	must[int64](t)(g.SetCheck(lint))
	status := sandbox.CommitStatus{Context: "S", State: "success", Head: "a1", By: "sage[bot]"}
	first := must[int64](t)(g.SetStatus(status))
	g.OpenPull(sandbox.PullSpec{Number: 8, Head: "b1"})
	kept := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: "a.yml", PR: 8}))

	check(t, sandbox.Expire(g, 7))
	for _, list := range []string{"check-runs", "check-suites"} {
		c.get("commits/"+head+"/"+list).is(t, "total_count", "0")
	}
	c.get("commits/"+head+"/statuses").is(t, "#", "0")
	for _, gone := range []string{
		fmt.Sprintf("actions/runs/%d", run), "check-runs/" + job, "check-runs/" + own.at("id"),
	} {
		c.want(404, "GET", gone, "")
	}
	c.get("actions/runs").is(t, "total_count", "1", "workflow_runs.0.id", fmt.Sprint(kept))
	if all := g.OwnCheckRuns("a1"); len(all) > 0 || sandbox.MergeGateOpens(g, 7, "Q") {
		t.Errorf("our checks are %v", all)
	}
	c.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+head+`","conclusion":"success"}`)
	second := must[int64](t)(g.SetStatus(status))
	if second <= first || !sandbox.MergeGateOpens(g, 7, "Q") {
		t.Errorf("a status %d after %d, and what is written anew does not count", second, first)
	}
	if sandbox.Expire(g, 9) == nil {
		t.Error("a pull request that is not there has expired")
	}
}

// A token without the permission for statuses is refused them over REST, and over GraphQL beside the rest of the data.
func TestATokenWithoutStatuses(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{NoStatuses: true})
	must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/a.yml", PR: 7}))
	head := sandbox.SHA("a1")
	c.want(403, "GET", "commits/"+head+"/statuses", "")
	c.want(403, "POST", "statuses/"+head, `{"state":"success","context":"q"}`)
	c.get("commits/"+head+"/check-runs").is(t, "total_count", "1")
	r := c.pull(`commits(first: 1) {nodes {commit {oid statusCheckRollup {state}}}}`)
	r.is(t, pr+"commits.nodes.0.commit.oid", head, pr+"commits.nodes.0.commit.statusCheckRollup", "null")
	r.is(t, "errors.0.type", "FORBIDDEN", "errors.0.message", "Resource not accessible by integration")
	r.is(t, "errors.0.path.#", "6", "errors.0.path.5", "statusCheckRollup")
}
