package sandbox

// The endpoints for pull requests, runs, and what else a repository has.

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

func pullRoutes() []route {
	return []route{
		{method: "GET", pattern: "R/pulls", answer: (*GitHub).listPulls},
		{method: "GET", pattern: "R/pulls/comments/{n:comment_id}", answer: (*GitHub).getReviewComment},
		{method: "GET", pattern: "R/pulls/{n:pull_number}", answer: onPull((*GitHub).getPull)},
		{method: "GET", pattern: "R/pulls/{n:pull_number}/files", answer: onPull((*GitHub).listFiles)},
		{method: "GET", pattern: "R/pulls/{n:pull_number}/commits", answer: onPull((*GitHub).listCommits)},
		{method: "GET", pattern: "R/pulls/{n:pull_number}/comments", answer: onPull((*GitHub).listReviewComments)},
		{method: "GET", pattern: "R/pulls/{n:pull_number}/reviews", answer: onPull((*GitHub).listReviews)},
		{method: "GET", pattern: "R/pulls/{n:pull_number}/reviews/{n:review_id}", answer: onPull((*GitHub).getReview)},
		{method: "GET", pattern: "R/pulls/{n:pull_number}/reviews/{n:review_id}/comments", answer: onPull((*GitHub).listCommentsOfReview)},
		{method: "GET", pattern: "R/pulls/{n:pull_number}/requested_reviewers", answer: onPull((*GitHub).listRequested)},
		{method: "POST", pattern: "R/pulls/{n:pull_number}/requested_reviewers", answer: onPull((*GitHub).requestReviewers)},
		{method: "GET", pattern: "R/issues/comments/{n:comment_id}", answer: (*GitHub).getComment},
		{method: "PATCH", pattern: "R/issues/comments/{n:comment_id}", answer: (*GitHub).updateComment},
		{method: "DELETE", pattern: "R/issues/comments/{n:comment_id}", answer: (*GitHub).removeComment},
		{method: "GET", pattern: "R/issues/{n:issue_number}/comments", answer: onPull((*GitHub).listComments)},
		{method: "POST", pattern: "R/issues/{n:issue_number}/comments", answer: onPull((*GitHub).createComment)},
		{method: "GET", pattern: "R/issues/{n:issue_number}/timeline", answer: onPull((*GitHub).listTimeline)},
		{method: "GET", pattern: "R/issues/{n:issue_number}/events", answer: onPull((*GitHub).listTimeline)},
	}
}

// onPull finds the pull request that a route names.
func onPull(f func(*GitHub, *call, *pull) answer) func(*GitHub, *call) answer {
	return func(g *GitHub, r *call) answer {
		n := r.num("pull_number") + r.num("issue_number") // a route has one of them
		if p := g.pulls[int(n)]; p != nil {
			return f(g, r, p)
		}
		return notFound()
	}
}

func (g *GitHub) listPulls(r *call) answer {
	state, head, base := or(r.query("state"), "open"), r.query("head"), r.query("base")
	all := slices.DeleteFunc(slices.Clone(g.find.ordered), func(p *pull) bool {
		return state != "all" && (state == "closed") != p.closed || head != "" && head != p.owner+":"+p.branch || base != "" && base != p.base
	})
	byUpdate := r.query("sort") == "updated"
	slices.SortStableFunc(all, func(a, b *pull) int {
		if byUpdate {
			return a.updated.Compare(b.updated)
		}
		return a.created.Compare(b.created)
	})
	if r.query("direction") == "desc" || r.query("direction") == "" && or(r.query("sort"), "created") == "created" {
		slices.Reverse(all)
	}
	return list(r, all, func(p *pull) any { return g.pullJSON(p) }, "")
}

func (g *GitHub) getPull(_ *call, p *pull) answer { return ok(g.pullJSON(p)) }

// listFiles stops at 3,000 files, and says so nowhere.
func (g *GitHub) listFiles(r *call, p *pull) answer {
	return list(r, p.files[:min(len(p.files), 3000)], func(f File) any { return g.fileJSON(p, f) }, "")
}

// listCommits stops at 250 commits.
func (g *GitHub) listCommits(r *call, p *pull) answer {
	return list(r, p.listed[:min(len(p.listed), 250)], func(sha string) any { return g.commitJSON(g.commits[sha]) }, "")
}

func (g *GitHub) listReviews(r *call, p *pull) answer {
	return list(r, p.reviews, func(v *review) any { return g.reviewJSON(p, v) }, "")
}

func (g *GitHub) getReview(r *call, p *pull) answer {
	for _, v := range p.reviews {
		if v.id == r.num("review_id") {
			return ok(g.reviewJSON(p, v))
		}
	}
	return notFound()
}

// placed is a comment on the diff with its thread.
type placed struct {
	thread  *thread
	comment *reviewComment
}

func (p *pull) reviewComments(review int64) []placed {
	var all []placed
	for _, t := range p.threads {
		for _, c := range t.comments {
			if review == 0 || c.review == review {
				all = append(all, placed{t, c})
			}
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return int(a.comment.id - b.comment.id) })
	return all
}

func (g *GitHub) listReviewComments(r *call, p *pull) answer {
	return list(r, p.reviewComments(0), func(c placed) any { return g.reviewCommentJSON(p, c.thread, c.comment) }, "")
}

// listCommentsOfReview shows less of a comment than the others do, and a place in the diff that is gone as null.
func (g *GitHub) listCommentsOfReview(r *call, p *pull) answer {
	return list(r, p.reviewComments(r.num("review_id")), func(c placed) any {
		o := g.reviewCommentJSON(p, c.thread, c.comment)
		if c.thread.outdated {
			o["position"] = nil
		}
		for _, missing := range []string{"line", "original_line", "start_line", "original_start_line", "side", "start_side", "subject_type"} {
			delete(o, missing)
		}
		return o
	}, "")
}

func (g *GitHub) getReviewComment(r *call) answer {
	for _, p := range g.find.ordered {
		for _, c := range p.reviewComments(0) {
			if c.comment.id == r.num("comment_id") {
				return ok(g.reviewCommentJSON(p, c.thread, c.comment))
			}
		}
	}
	return notFound()
}

func (g *GitHub) listRequested(_ *call, p *pull) answer {
	return ok(object{"users": g.requestedJSON(p), "teams": []any{}})
}

// requestReviewers knows Copilot only under its bot's login. People must be collaborators, and the author may not be
// asked.
func (g *GitHub) requestReviewers(r *call, p *pull) answer {
	var in struct {
		Reviewers []string `json:"reviewers"`
	}
	if err := r.decode(&in); err != nil || len(in.Reviewers) == 0 {
		return problem(422, "Invalid request. Reviewers are missing.")
	}
	for _, login := range in.Reviewers {
		switch {
		case strings.EqualFold(login, p.author):
			return problem(422, "Review cannot be requested from pull request author.")
		case !strings.HasSuffix(login, "[bot]") && g.permissions[strings.ToLower(login)] == "":
			return problem(422, fmt.Sprintf("Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the %s/%s repository.", g.owner, g.repo))
		}
	}
	for _, login := range in.Reviewers {
		g.requestReview(p, login, g.me())
		g.requestEvent(p, login, g.me())
		g.wrote.Reviews = append(g.wrote.Reviews, login)
		g.ask(r, "review_request", login)
	}
	p.updated = r.now
	return created(g.pullJSON(p))
}

// ask tells the players that a reviewer was asked.
func (g *GitHub) ask(r *call, kind, body string) {
	if f := g.onAsk; f != nil {
		r.later = append(r.later, func() { f(kind, body) })
	}
}

func (g *GitHub) listComments(r *call, p *pull) answer {
	all := p.comments
	if since, err := time.Parse(time.RFC3339, r.query("since")); err == nil {
		all = slices.DeleteFunc(slices.Clone(all), func(c *comment) bool { return c.updated.Before(since) })
	}
	return list(r, all, func(c *comment) any { return g.commentJSON(p, c) }, "")
}

// text reads the text of a comment; the second result is what is wrong with it.
func (r *call) text() (string, string) {
	var in struct {
		Body string `json:"body"`
	}
	switch err := r.decode(&in); {
	case err != nil:
		return "", "Validation Failed: " + err.Error()
	case strings.TrimSpace(in.Body) == "":
		return "", "Validation Failed: body cannot be blank"
	case len(in.Body) > 65536:
		return "", "Validation Failed: body is too long (maximum is 65536 characters)"
	}
	return in.Body, ""
}

func (g *GitHub) createComment(r *call, p *pull) answer {
	body, why := r.text()
	if why != "" {
		return problem(422, why)
	}
	c := g.comment(p, g.me(), body, r.now)
	p.updated = r.now
	g.wrote.Comments = append(g.wrote.Comments, body)
	g.ask(r, "comment", body)
	g.commentEvent(p, c, "created", g.me(), nil)
	return created(g.commentJSON(p, c))
}

func (g *GitHub) getComment(r *call) answer {
	if p, c := g.findComment(r.num("comment_id")); c != nil {
		return ok(g.commentJSON(p, c))
	}
	return notFound()
}

func (g *GitHub) updateComment(r *call) answer {
	p, c := g.findComment(r.num("comment_id"))
	if c == nil {
		return notFound()
	}
	body, why := r.text()
	if why != "" {
		return problem(422, why)
	}
	from := c.body
	c.body, c.editor, c.edited, c.updated, p.updated = body, g.me(), r.now, r.now, r.now
	g.commentEvent(p, c, "edited", g.me(), bodyFrom(from))
	if g.wrote.Edited == nil {
		g.wrote.Edited = map[int64]bool{}
	}
	g.wrote.Edited[c.id] = true
	return ok(g.commentJSON(p, c))
}

func (g *GitHub) removeComment(r *call) answer {
	p, c := g.findComment(r.num("comment_id"))
	if c == nil {
		return notFound()
	}
	p.comments = slices.DeleteFunc(slices.Clone(p.comments), func(x *comment) bool { return x == c })
	p.updated = r.now
	g.commentEvent(p, c, "deleted", g.me(), nil)
	g.wrote.Deleted = append(g.wrote.Deleted, c.id)
	return answer{status: 204}
}

func (g *GitHub) listTimeline(r *call, p *pull) answer {
	return list(r, p.timeline, func(h *happening) any { return g.happeningJSON(h) }, "")
}

func runRoutes() []route {
	return []route{
		{method: "GET", pattern: "R/actions/runs", answer: (*GitHub).listRuns},
		{method: "GET", pattern: "R/actions/runs/{n:run_id}", answer: onRun((*GitHub).getRun)},
		{method: "GET", pattern: "R/actions/runs/{n:run_id}/attempts/{n:attempt_number}", answer: onRun((*GitHub).getAttempt)},
		{method: "GET", pattern: "R/actions/runs/{n:run_id}/attempts/{n:attempt_number}/jobs", answer: onRun((*GitHub).listAttemptJobs)},
		{method: "GET", pattern: "R/actions/runs/{n:run_id}/jobs", answer: onRun((*GitHub).listJobs)},
		{method: "GET", pattern: "R/actions/runs/{n:run_id}/artifacts", answer: onRun((*GitHub).listArtifacts)},
		{method: "POST", pattern: "R/actions/runs/{n:run_id}/rerun", answer: onRun((*GitHub).rerunAll)},
		{method: "POST", pattern: "R/actions/runs/{n:run_id}/rerun-failed-jobs", answer: onRun((*GitHub).rerunFailed)},
		{method: "POST", pattern: "R/actions/runs/{n:run_id}/cancel", answer: onRun((*GitHub).cancel)},
		{method: "POST", pattern: "R/actions/runs/{n:run_id}/force-cancel", answer: onRun((*GitHub).cancel)},
		{method: "GET", pattern: "R/actions/jobs/{n:job_id}", answer: (*GitHub).getJob},
		{method: "GET", pattern: "R/actions/jobs/{n:job_id}/logs", answer: (*GitHub).getLog},
		{method: "POST", pattern: "R/actions/jobs/{n:job_id}/rerun", answer: (*GitHub).rerunJob},
		{method: "GET", pattern: "/_logs/{n:job_id}", answer: (*GitHub).readLog},
		{method: "GET", pattern: "R/actions/workflows", answer: (*GitHub).listWorkflows},
		{method: "GET", pattern: "R/actions/workflows/{workflow_id}", answer: (*GitHub).getWorkflow},
		{method: "GET", pattern: "R/actions/workflows/{workflow_id}/runs", answer: (*GitHub).listRuns},
	}
}

func onRun(f func(*GitHub, *call, *run) answer) func(*GitHub, *call) answer {
	return func(g *GitHub, r *call) answer {
		if w := g.run(r.num("run_id")); w != nil {
			return f(g, r, w)
		}
		return notFound()
	}
}

func (r *run) is(workflow string) bool {
	return workflow == "" || workflow == fmt.Sprint(r.workflow) || workflow == path.Base(r.file())
}

// listRuns answers a filtered list from an index, which lags: a run that is hidden is missing there. A filtered list also
// ends at 1,000 runs.
func (g *GitHub) listRuns(r *call) answer {
	filtered := false
	filter := func(name string) string {
		v := r.query(name)
		filtered = filtered || v != ""
		return v
	}
	head, event, branch, status, suite, actor := filter("head_sha"), filter("event"), filter("branch"), filter("status"), filter("check_suite_id"), filter("actor")
	since, until, valid := createdRange(filter("created"))
	if !valid {
		return problem(422, "Validation Failed: created")
	}
	var all []*run
	from := g.runs
	switch {
	case head != "":
		from = g.find.runsAt[head]
	case branch != "":
		from = g.find.runsOf[branch]
	}
	for _, w := range slices.Backward(from) {
		a := w.shown(r.now)
		switch {
		case !w.is(r.params["workflow_id"]), head != "" && head != w.head, event != "" && event != w.event, branch != "" && branch != w.branch:
		case status != "" && status != a.status && status != a.conclusion, suite != "" && suite != fmt.Sprint(w.suite.id), actor != "" && actor != w.by:
		case w.created.Before(since), !until.IsZero() && w.created.After(until), filtered && w.hidden:
		default:
			all = append(all, w)
		}
	}
	if filtered {
		all = all[:min(len(all), 1000)]
	}
	pulls := r.query("exclude_pull_requests") != "true"
	return list(r, all, func(w *run) any { return g.runJSON(w, w.shown(r.now), pulls) }, "workflow_runs")
}

// createdRange reads GitHub's date filter: >=, <=, > and < before a moment, A..B, or a day.
func createdRange(s string) (since, until time.Time, valid bool) {
	parse := func(s string) time.Time {
		for _, layout := range []string{time.RFC3339, time.DateOnly} {
			if t, err := time.Parse(layout, s); err == nil {
				return t
			}
		}
		valid = false
		return time.Time{}
	}
	valid = true
	from, to, both := strings.Cut(s, "..")
	switch {
	case s == "":
	case both:
		if from != "*" {
			since = parse(from)
		}
		if to != "*" {
			until = parse(to)
		}
	case strings.HasPrefix(s, ">"):
		since = parse(strings.TrimLeft(s, ">="))
	case strings.HasPrefix(s, "<"):
		until = parse(strings.TrimLeft(s, "<="))
	default:
		since = parse(s)
		until = since.Add(24*time.Hour - 1)
	}
	return since, until, valid
}

func (g *GitHub) getRun(r *call, w *run) answer {
	return ok(g.runJSON(w, w.shown(r.now), r.query("exclude_pull_requests") != "true"))
}

// attempt finds an attempt that shows.
func (r *run) attempt(n int64, now time.Time) *attempt {
	for _, a := range r.attempts {
		if int64(a.number) == n && a.number <= r.shown(now).number {
			return a
		}
	}
	return nil
}

func (g *GitHub) getAttempt(r *call, w *run) answer {
	if a := w.attempt(r.num("attempt_number"), r.now); a != nil {
		return ok(g.runJSON(w, a, r.query("exclude_pull_requests") != "true"))
	}
	return notFound()
}

// listAttemptJobs shows the jobs that ran in that attempt, and not those that it kept from an earlier one.
func (g *GitHub) listAttemptJobs(r *call, w *run) answer {
	a := w.attempt(r.num("attempt_number"), r.now)
	if a == nil {
		return notFound()
	}
	ran := slices.DeleteFunc(slices.Clone(a.jobsAt(r.now)), func(j *job) bool { return j.attempt != a.number })
	return list(r, ran, func(j *job) any { return g.jobJSON(w, j) }, "jobs")
}

func (g *GitHub) listJobs(r *call, w *run) answer {
	return list(r, w.jobsOf(r.now, r.query("filter") == "all"), func(j *job) any { return g.jobJSON(w, j) }, "jobs")
}

func (g *GitHub) listArtifacts(r *call, _ *run) answer {
	return list(r, []object{}, func(o object) any { return o }, "artifacts")
}

func (g *GitHub) rerunAll(r *call, w *run) answer    { return g.rerun(r, w, false, everyJob) }
func (g *GitHub) rerunFailed(r *call, w *run) answer { return g.rerun(r, w, true, failedJob) }

func (g *GitHub) rerun(r *call, w *run, failedOnly bool, jobs func(*job) bool) answer {
	if status, why := w.refusal(failedOnly, r.now); status != 0 {
		return problem(status, why)
	}
	r.later = append(r.later, g.again(w, g.me(), jobs, r.now))
	g.wrote.Reruns[w.id]++
	g.wrote.Reran = append(g.wrote.Reran, w.id)
	return created(object{})
}

// cancel is accepted at once and takes effect later.
func (g *GitHub) cancel(r *call, w *run) answer {
	a := w.last()
	if a.status == "completed" {
		return problem(409, "Cannot cancel a workflow run that is completed.")
	}
	if a.cancel.IsZero() {
		a.cancel = r.now.Add(g.lag.Cancel)
		g.wrote.Cancels[w.id]++
		g.alive(w)
		g.settle()
	}
	return answer{status: 202, body: object{}}
}

func (g *GitHub) findJob(id int64, now time.Time) (*run, *job) {
	if w := g.find.jobs[id]; w != nil {
		for _, j := range w.jobsOf(now, true) {
			if j.id == id {
				return w, j
			}
		}
	}
	return nil, nil
}

func (g *GitHub) getJob(r *call) answer {
	if w, j := g.findJob(r.num("job_id"), r.now); j != nil {
		return ok(g.jobJSON(w, j))
	}
	return notFound()
}

func (g *GitHub) rerunJob(r *call) answer {
	w, j := g.findJob(r.num("job_id"), r.now)
	switch {
	case j == nil:
		return notFound()
	case w.last().status != "completed":
		return problem(403, "The workflow run containing this job is already running")
	}
	return g.rerun(r, w, false, func(x *job) bool { return x.name == j.name })
}

// getLog points at the log, which is on another host, for one minute.
func (g *GitHub) getLog(r *call) answer {
	_, j := g.findJob(r.num("job_id"), r.now)
	if j == nil || j.status != "completed" {
		return notFound()
	}
	host := "https://" + logHost
	if r.wire {
		host = strings.TrimSuffix(r.base, "/api/v3")
	}
	return answer{status: 302, header: map[string]string{"Location": fmt.Sprintf("%s/_logs/%d?se=%d", host, j.id, r.now.Add(time.Minute).Unix()) + g.logOf()}}
}

// logOf names the repository in the address of a log where there are several.
func (g *GitHub) logOf() string {
	if g.hook == nil {
		return ""
	}
	return "&repository=" + url.QueryEscape(g.owner+"/"+g.repo)
}

func (g *GitHub) readLog(r *call) answer {
	_, j := g.findJob(r.num("job_id"), r.now)
	text := map[string]string{"Content-Type": "text/plain; charset=utf-8"}
	switch {
	case r.query("se") < fmt.Sprint(r.now.Unix()):
		return answer{status: 403, raw: []byte("Signature not valid in the specified time frame"), header: text}
	case j == nil || j.noLog:
		return answer{status: 404, raw: []byte("BlobNotFound"), header: text}
	}
	return answer{status: 200, raw: []byte(j.log), header: text}
}

// workflows are the newest runs of each workflow, the oldest workflow first.
func (g *GitHub) workflows() []*run {
	newest := map[int64]int{}
	var all []*run
	for _, w := range g.runs {
		if i, seen := newest[w.workflow]; seen {
			all[i] = w
			continue
		}
		newest[w.workflow] = len(all)
		all = append(all, w)
	}
	return all
}

func (g *GitHub) listWorkflows(r *call) answer {
	return list(r, g.workflows(), func(w *run) any { return g.workflowJSON(w) }, "workflows")
}

func (g *GitHub) getWorkflow(r *call) answer {
	for _, w := range g.workflows() {
		if w.is(r.params["workflow_id"]) {
			return ok(g.workflowJSON(w))
		}
	}
	return notFound()
}

func repoRoutes() []route {
	return []route{
		{method: "GET", pattern: repoPattern, answer: (*GitHub).getRepo},
		{method: "GET", pattern: "R/commits/{ref}", answer: (*GitHub).getCommit},
		{method: "GET", pattern: "R/commits/{commit_sha}/pulls", answer: (*GitHub).listCommitPulls},
		{method: "GET", pattern: "R/git/commits/{commit_sha}", answer: (*GitHub).getGitCommit},
		{method: "GET", pattern: "R/git/ref/{ref...}", answer: (*GitHub).getRef},
		{method: "GET", pattern: "R/contents/{path...}", answer: (*GitHub).getContent},
		{method: "GET", pattern: "R/collaborators/{username}/permission", answer: (*GitHub).getPermission},
		{method: "GET", pattern: "R/branches", answer: (*GitHub).listBranches},
		{method: "GET", pattern: "R/branches/{branch...}", answer: (*GitHub).getBranch},
		{method: "GET", pattern: "R/rules/branches/{branch...}", answer: (*GitHub).listRules},
		{method: "GET", pattern: "R/compare/{basehead}", answer: (*GitHub).compare},
		{method: "GET", pattern: "/rate_limit", answer: (*GitHub).getRateLimit},
		{method: "GET", pattern: "/user", answer: (*GitHub).getUser},
	}
}

func (g *GitHub) getRepo(*call) answer { return ok(g.repoJSON(g.owner)) }

func (g *GitHub) getCommit(r *call) answer {
	if sha := g.resolve(r.params["ref"]); sha != "" {
		return ok(g.commitJSON(g.commits[sha]))
	}
	return problem(422, "No commit found for SHA: "+r.params["ref"])
}

// listCommitPulls names all pull requests that have or had the commit, closed ones and those of forks included.
func (g *GitHub) listCommitPulls(r *call) answer {
	sha := g.resolve(r.params["commit_sha"])
	if sha == "" {
		return problem(422, "No commit found for SHA: "+r.params["commit_sha"])
	}
	all := slices.DeleteFunc(g.find.pullsFor(sha), func(p *pull) bool { return !slices.Contains(p.listed, sha) })
	return list(r, all, func(p *pull) any { return g.pullJSON(p) }, "")
}

func (g *GitHub) getGitCommit(r *call) answer {
	c := g.commits[r.params["commit_sha"]]
	if c == nil {
		return notFound()
	}
	out := g.gitCommit(c)
	out["sha"], out["node_id"], out["url"], out["html_url"] = c.sha, "C_"+c.sha, g.api()+"/git/commits/"+c.sha, g.web()+"/commit/"+c.sha
	out["parents"] = g.commitJSON(c)["parents"]
	return ok(out)
}

func (g *GitHub) getRef(r *call) answer {
	ref := r.params["ref"]
	sha := g.resolve(ref)
	if sha == "" || !strings.HasPrefix(ref, "heads/") && !strings.HasPrefix(ref, "pull/") {
		return notFound()
	}
	return ok(object{
		"ref": "refs/" + ref, "node_id": "REF_" + sha, "url": g.api() + "/git/refs/" + ref,
		"object": object{"type": "commit", "sha": sha, "url": g.api() + "/git/commits/" + sha},
	})
}

func (g *GitHub) getContent(r *call) answer {
	name, ref := r.params["path"], r.query("ref")
	content, found := g.content(name, ref)
	switch {
	case !found && ref != "" && g.resolve(ref) == "":
		return problem(404, "No commit found for the ref "+ref)
	case !found:
		return notFound()
	case strings.Contains(r.Header.Get("Accept"), "raw"):
		return answer{status: 200, raw: []byte(content), header: map[string]string{"Content-Type": "application/vnd.github.raw+json; charset=utf-8"}}
	}
	sha := blobID(content)
	url, git := g.api()+"/contents/"+name+"?ref="+or(ref, g.defaultBranch), g.api()+"/git/blobs/"+sha
	html := g.web() + "/blob/" + or(ref, g.defaultBranch) + "/" + name
	return ok(object{
		"type": "file", "encoding": "base64", "size": len(content), "name": path.Base(name), "path": name, "sha": sha, "content": lines(base64.StdEncoding.EncodeToString([]byte(content))),
		"url": url, "git_url": git, "html_url": html, "download_url": html + "?raw=true", "_links": object{"self": url, "git": git, "html": html},
	})
}

// blobID is the name that Git gives to a file's content.
func blobID(content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))
	return hex.EncodeToString(sum[:])
}

// lines breaks base64 as GitHub does: after 60 characters.
func lines(s string) string {
	var b strings.Builder
	for part := range slices.Chunk([]byte(s), 60) {
		b.Write(part)
		b.WriteByte('\n')
	}
	return b.String()
}

// getPermission answers with the old names, in which maintain is write and triage is read, and with the role's own.
func (g *GitHub) getPermission(r *call) answer {
	login := r.params["username"]
	role := or(g.permissions[strings.ToLower(login)], "read")
	if strings.EqualFold(login, g.owner) {
		role = "admin"
	}
	old := map[string]string{"maintain": "write", "triage": "read"}
	user := object{
		"permissions": object{
			"admin": role == "admin", "maintain": role == "admin" || role == "maintain", "push": slices.Contains([]string{"admin", "maintain", "write"}, role),
			"triage": role != "read" && role != "none", "pull": role != "none",
		},
		"role_name": role,
	}
	return ok(object{"permission": or(old[role], role), "role_name": role, "user": g.userWith(login, user)})
}

func (g *GitHub) listBranches(r *call) answer {
	all := make([]*branch, 0, len(g.branches))
	for _, b := range g.branches {
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *branch) int { return strings.Compare(a.name, b.name) })
	return list(r, all, func(b *branch) any {
		return object{"name": b.name, "protected": b.protected || b.ruled, "commit": object{"sha": b.tip, "url": g.api() + "/commits/" + b.tip}}
	}, "")
}

func (g *GitHub) getBranch(r *call) answer {
	name := r.params["branch"]
	b := g.branches[name]
	if b == nil {
		tip := ""
		for _, p := range g.find.pullsFor(name) {
			if p.branch == name && !p.fork {
				tip = p.head
			}
		}
		if tip == "" {
			return problem(404, "Branch not found")
		}
		b = &branch{name: name, tip: tip}
	}
	url := g.api() + "/branches/" + name
	return ok(object{
		"name": name, "protected": b.protected || b.ruled, "commit": g.commitJSON(g.commits[b.tip]), "protection_url": url + "/protection",
		"protection": object{"enabled": b.protected, "required_status_checks": object{"enforcement_level": "off", "contexts": []any{}, "checks": []any{}}},
		"_links":     object{"self": url, "html": g.web() + "/tree/" + name},
	})
}

func (g *GitHub) listRules(r *call) answer {
	rules := []object{}
	if b := g.branches[r.params["branch"]]; b != nil && b.ruled {
		rules = append(rules, object{"type": "deletion", "ruleset_source_type": "Repository", "ruleset_source": g.owner + "/" + g.repo, "ruleset_id": 42})
	}
	return list(r, rules, func(o object) any { return o }, "")
}

func (g *GitHub) compare(r *call) answer {
	from, to, found := strings.Cut(r.params["basehead"], "...")
	short := func(ref string) string {
		_, after, foreign := strings.Cut(ref, ":")
		if foreign {
			return after
		}
		return ref
	}
	base, head := g.resolve(short(from)), g.resolve(short(to))
	if !found || base == "" || head == "" {
		return notFound()
	}
	var between []string
	for sha := head; sha != base && sha != "" && len(between) < 250; {
		between = append(between, sha)
		next := ""
		if c := g.commits[sha]; c != nil && len(c.parents) > 0 {
			next = c.parents[0]
		}
		sha = next
	}
	commits, files, status := []any{}, []any{}, "ahead"
	for _, sha := range slices.Backward(between) {
		commits = append(commits, g.commitJSON(g.commits[sha]))
	}
	for _, p := range g.find.pullsFor(head) {
		if p.head == head {
			for _, f := range p.files[:min(len(p.files), 300)] {
				files = append(files, g.fileJSON(p, f))
			}
		}
	}
	if base == head {
		status, files = "identical", []any{}
	}
	url, web := g.api()+"/compare/"+r.params["basehead"], g.web()+"/compare/"+r.params["basehead"]
	return ok(object{
		"url": url, "html_url": web, "permalink_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "base_commit": g.commitJSON(g.commits[base]), "merge_base_commit": g.commitJSON(g.commits[base]),
		"status": status, "ahead_by": len(commits), "behind_by": 0, "total_commits": len(commits), "commits": commits, "files": files,
	})
}

func (g *GitHub) getRateLimit(*call) answer { return rateLimit(g.budget.state()) }

func rateLimit(s budgetState) answer {
	limit := func(used int) object {
		return object{"limit": s.limit, "used": used, "remaining": max(s.limit-used, 0), "reset": s.reset.Unix()}
	}
	return ok(object{"resources": object{"core": limit(s.used), "graphql": limit(s.usedGQL), "search": limit(0)}, "rate": limit(s.used)})
}

func (g *GitHub) getUser(*call) answer {
	if g.person == "" {
		return problem(403, "Resource not accessible by integration")
	}
	return ok(g.userWith(g.person, object{
		"user_view_type": "public", "name": nil, "company": nil, "blog": "", "location": nil, "email": nil, "hireable": nil, "bio": nil, "public_repos": 1, "public_gists": 0, "followers": 0, "following": 0,
		"created_at": stamp(g.created), "updated_at": stamp(g.created),
	}))
}
