package sandbox

// Endpoints for pull requests, workflow runs, and the rest of a repository.

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

func pullRoutes() []route {
	return []route{
		onGet("R/pulls", listPulls),
		onGet("R/pulls/{n:pull_number}", onPull(getPull)),
		onGet("R/pulls/{n:pull_number}/files", onPull(listFiles)),
		onGet("R/pulls/{n:pull_number}/commits", onPull(listCommits)),
		onGet("R/pulls/{n:pull_number}/comments", onPull(listReviewComments)),
		onGet("R/pulls/{n:pull_number}/reviews", onPull(listReviews)),
		onGet("R/pulls/{n:pull_number}/reviews/{n:review_id}", onPull(getReview)),
		onPost("R/pulls/{n:pull_number}/requested_reviewers", onPull(requestReviewers)),
		onGet("R/issues/comments/{n:comment_id}", onComment(getComment)),
		{method: "PATCH", pattern: "R/issues/comments/{n:comment_id}", handle: onComment(updateComment)},
		{method: "DELETE", pattern: "R/issues/comments/{n:comment_id}", handle: onComment(removeComment)},
		onPost("R/issues/comments/{n:comment_id}/reactions", onComment(createReaction)),
		onGet("R/issues/{n:issue_number}/comments", onPull(listComments)),
		onPost("R/issues/{n:issue_number}/comments", onPull(createComment)),
		onGet("R/issues/{n:issue_number}/timeline", onPull(listTimeline)),
	}
}

// onFound answers with what f makes of the thing that a route names, and 404 where find finds none.
func onFound[T comparable](find func(*GitHub, *routedRequest) T, f func(*GitHub, *routedRequest, T) routeAnswer) handler {
	return func(g *GitHub, r *routedRequest) routeAnswer {
		var none T
		if x := find(g, r); x != none {
			return f(g, r, x)
		}
		return answerNotFound()
	}
}

func onPull(f func(*GitHub, *routedRequest, *pullRequest) routeAnswer) handler {
	return onFound(func(g *GitHub, r *routedRequest) *pullRequest {
		return g.pulls[int(r.intParam("pull_number")+r.intParam("issue_number"))] // a route has one of them
	}, f)
}

func onComment(f func(*GitHub, *routedRequest, *issueComment) routeAnswer) handler {
	return onFound(func(g *GitHub, r *routedRequest) *issueComment { return g.index.comments[r.intParam("comment_id")] }, f)
}

// onCommit hands on the commit that a route names; GitHub refuses a ref that it does not know with 422.
func onCommit(f func(*GitHub, *routedRequest, *commit) routeAnswer) handler {
	return func(g *GitHub, r *routedRequest) routeAnswer {
		ref := r.params["ref"] + r.params["commit_sha"] // a route has one of them
		if c := g.commits[g.resolveRef(ref)]; c != nil {
			return f(g, r, c)
		}
		return answerError(422, "No commit found for SHA: "+ref)
	}
}

func listPulls(g *GitHub, r *routedRequest) routeAnswer {
	state, head, base := or(r.queryParam("state"), "open"), r.queryParam("head"), r.queryParam("base")
	all := slices.DeleteFunc(slices.Clone(g.index.pullsByNumber), func(p *pullRequest) bool {
		return state != "all" && (state == "closed") != p.closed || head != "" && head != p.headOwner+":"+p.headBranch ||
			base != "" && base != p.baseBranch
	})
	byUpdate := r.queryParam("sort") == "updated"
	slices.SortStableFunc(all, func(a, b *pullRequest) int {
		if byUpdate {
			return a.updated.Compare(b.updated)
		}
		return a.created.Compare(b.created)
	})
	if r.queryParam("direction") == "desc" ||
		r.queryParam("direction") == "" && or(r.queryParam("sort"), "created") == "created" {
		slices.Reverse(all)
	}
	return answerList(r, all, g.pullJSON)
}

func getPull(g *GitHub, _ *routedRequest, p *pullRequest) routeAnswer {
	return answerOK(g.pullJSON(p))
}

// listFiles lists at most 3,000 files and, like GitHub, does not say that there are more.
func listFiles(g *GitHub, r *routedRequest, p *pullRequest) routeAnswer {
	files := p.diffs.changesAgainst(p.head, p.baseBranch)
	return answerList(r, files[:min(len(files), 3000)], func(f ChangedFile) object { return g.fileJSON(p.head, f) })
}

// listCommits lists at most 250 commits.
func listCommits(g *GitHub, r *routedRequest, p *pullRequest) routeAnswer {
	shown := p.shownCommits[:min(len(p.shownCommits), 250)]
	return answerList(r, shown, func(sha string) object { return g.commitJSON(g.commits[sha]) })
}

func listReviews(g *GitHub, r *routedRequest, p *pullRequest) routeAnswer {
	return answerList(r, p.reviews, g.reviewJSON)
}

func getReview(g *GitHub, r *routedRequest, p *pullRequest) routeAnswer {
	if v := g.index.reviews[r.intParam("review_id")]; v != nil && v.pull == p {
		return answerOK(g.reviewJSON(v))
	}
	return answerNotFound()
}

func listReviewComments(g *GitHub, r *routedRequest, p *pullRequest) routeAnswer {
	return answerList(r, p.reviewComments(0), g.reviewCommentJSON)
}

// requestReviewers knows Copilot only under its bot's login. People must be collaborators, and the pull request's
// author is refused. Asked with GITHUB_TOKEN, Copilot never hears of it: only the answer's list of reviewers shows
// that.
func requestReviewers(g *GitHub, r *routedRequest, p *pullRequest) routeAnswer {
	var in struct {
		Reviewers []string `json:"reviewers"`
		Teams     []string `json:"team_reviewers"`
	}
	if err := r.decodeBody(&in); err != nil || len(in.Reviewers)+len(in.Teams) == 0 {
		return answerError(422, "Invalid request. Reviewers are missing.")
	}
	for _, login := range in.Reviewers {
		switch {
		case strings.EqualFold(login, p.author):
			return answerError(422, "Review cannot be requested from pull request author.")
		case !strings.HasSuffix(login, "[bot]") && g.permissions[strings.ToLower(login)] == "":
			return answerNoCollaborator(g)
		}
	}
	if slices.ContainsFunc(in.Teams, func(team string) bool { _, known := g.teams[team]; return !known }) {
		return answerNoCollaborator(g)
	}
	for _, team := range in.Teams {
		requestTeam(g, p, team)
	}
	for _, login := range in.Reviewers {
		if isCopilot(login) &&
			g.programLogin() == actionsApp.Slug+"[bot]" { // GitHub takes it from a job's token, and does nothing
			continue
		}
		g.requestReview(p, login, g.programLogin())
		g.emitReviewRequested(p, login, g.programLogin())
		g.written.RequestedReviews = append(g.written.RequestedReviews, login)
		g.notifyReviewerAsked(r, "review_request", login)
	}
	p.updated = r.now
	return answerCreated(g.pullJSON(p))
}

// notifyReviewerAsked calls the function of OnReviewerAsked as soon as the lock is released.
func (g *GitHub) notifyReviewerAsked(r *routedRequest, kind, body string) {
	if f := g.onReviewerAsked; f != nil {
		r.afterUnlock = append(r.afterUnlock, func() { f(kind, body) })
	}
}

func listComments(g *GitHub, r *routedRequest, p *pullRequest) routeAnswer {
	all := p.comments
	if since, err := time.Parse(time.RFC3339, r.queryParam("since")); err == nil {
		all = slices.DeleteFunc(slices.Clone(all), func(c *issueComment) bool { return c.updated.Before(since) })
	}
	return answerList(r, all, g.commentJSON)
}

// decodeCommentBody returns the text of a comment, or the message of GitHub's refusal.
func (r *routedRequest) decodeCommentBody() (string, string) {
	var in struct {
		Body string `json:"body"`
	}
	switch err := r.decodeBody(&in); {
	case err != nil:
		return "", "Validation Failed: " + err.Error()
	case strings.TrimSpace(in.Body) == "":
		return "", "Validation Failed: body cannot be blank"
	}
	if err := checkTextLength(in.Body); err != nil {
		return "", "Validation Failed: " + err.Error()
	}
	return in.Body, ""
}

func createComment(g *GitHub, r *routedRequest, p *pullRequest) routeAnswer {
	body, why := r.decodeCommentBody()
	if why != "" {
		return answerError(422, why)
	}
	if p.locked {
		return answerError(403, "Unable to create comment because issue is locked.")
	}
	c := g.addComment(p, g.programLogin(), body, r.now)
	g.written.Comments = append(g.written.Comments, body)
	g.notifyReviewerAsked(r, "comment", body)
	return answerCreated(g.commentJSON(c))
}

func getComment(g *GitHub, _ *routedRequest, c *issueComment) routeAnswer {
	return answerOK(g.commentJSON(c))
}

func updateComment(g *GitHub, r *routedRequest, c *issueComment) routeAnswer {
	body, why := r.decodeCommentBody()
	if why != "" {
		return answerError(422, why)
	}
	g.editComment(c, g.programLogin(), body, r.now)
	g.written.Edited[c.id] = true
	g.written.Revisions = append(g.written.Revisions, Revision{Comment: c.id, Body: body})
	return answerOK(g.commentJSON(c))
}

func removeComment(g *GitHub, r *routedRequest, c *issueComment) routeAnswer {
	g.deleteComment(c, g.programLogin(), r.now)
	g.written.Deleted = append(g.written.Deleted, c.id)
	return routeAnswer{status: 204}
}

// reactionContents are the words by which GitHub names reactions.
var reactionContents = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

func createReaction(g *GitHub, r *routedRequest, c *issueComment) routeAnswer {
	var in struct {
		Content string `json:"content"`
	}
	if err := r.decodeBody(&in); err != nil || !slices.Contains(reactionContents, in.Content) {
		return answerError(422, "Validation Failed: content is no reaction")
	}
	by := g.programLogin()
	for _, old := range c.reactions { // one of a kind each: GitHub answers with the one that is there
		if old.by == by && old.content == in.Content {
			return answerOK(g.reactionJSON(old))
		}
	}
	made := commentReaction{id: g.newID(), by: by, content: in.Content, at: r.now}
	c.reactions = append(c.reactions, made)
	g.written.Reactions = append(g.written.Reactions, Reaction{Comment: c.id, Author: c.author, Content: in.Content})
	c.pull.updated = r.now
	return answerCreated(g.reactionJSON(made))
}

func listTimeline(g *GitHub, r *routedRequest, p *pullRequest) routeAnswer {
	return answerList(r, p.timeline, g.timelineEventJSON)
}

func runRoutes() []route {
	return []route{
		onGet("R/actions/runs", listRuns),
		onGet("R/actions/runs/{n:run_id}", onRun(getRun)),
		onGet("R/actions/runs/{n:run_id}/attempts/{n:attempt_number}", onRun(getAttempt)),
		onGet("R/actions/runs/{n:run_id}/jobs", onRun(listJobs)),
		onGet("R/actions/runs/{n:run_id}/artifacts", onRun(listArtifacts)),
		onGet("R/actions/artifacts/{n:artifact_id}/{archive_format}", onFound(findArtifact, getArtifact)),
		onGet("/_logs/artifacts/{n:artifact_id}", readArchive),
		onPost("R/actions/runs/{n:run_id}/rerun", onRun(rerunAll)),
		onPost("R/actions/runs/{n:run_id}/rerun-failed-jobs", onRun(rerunFailed)),
		onPost("R/actions/runs/{n:run_id}/cancel", onRun(cancelRun)),
		onGet("R/actions/jobs/{n:job_id}/logs", onFound(jobOfRoute, getLog)),
		onGet("/_logs/{n:job_id}", readLog),
		onGet("R/actions/workflows", listWorkflows),
		onGet("R/actions/workflows/{workflow_id}/runs", listRuns),
		onPost("R/actions/workflows/{workflow_id}/dispatches", dispatchWorkflow),
	}
}

func onRun(f func(*GitHub, *routedRequest, *workflowRun) routeAnswer) handler {
	return onFound(func(g *GitHub, r *routedRequest) *workflowRun { return g.index.runByID[r.intParam("run_id")] }, f)
}

func jobOfRoute(g *GitHub, r *routedRequest) *job { return g.findJob(r.intParam("job_id"), r.now) }

// listRuns answers a filtered list from an index, which lags: a run that is hidden is missing there. A filtered list
// also ends at 1,000 runs.
func listRuns(g *GitHub, r *routedRequest) routeAnswer {
	filtered := false
	filter := func(name string) string {
		v := r.queryParam(name)
		filtered = filtered || v != ""
		return v
	}
	head, event, branch := filter("head_sha"), filter("event"), filter("branch")
	status, suite, actor := filter("status"), filter("check_suite_id"), filter("actor")
	since, until, valid := createdRange(filter("created"))
	if !valid {
		return answerError(422, "Validation Failed: created")
	}
	var all []*workflowRun
	from := g.runs
	switch {
	case head != "":
		from = g.index.runsByHead[head]
	case branch != "":
		from = g.index.runsByBranch[branch]
	}
	for _, w := range slices.Backward(from) {
		a := w.shownAttempt(r.now)
		switch {
		case !w.isOfWorkflow(r.params["workflow_id"]),
			head != "" && head != w.head,
			event != "" && event != w.event,
			branch != "" && branch != w.headBranch:
		case status != "" && status != a.status && status != a.conclusion,
			suite != "" && suite != fmt.Sprint(w.suite.id),
			actor != "" && actor != w.actor:
		case w.created.Before(since), !until.IsZero() && w.created.After(until), filtered && w.hidden:
		default:
			all = append(all, w)
		}
	}
	if filtered {
		all = all[:min(len(all), 1000)]
	}
	return answerCounted(r, "workflow_runs", all, func(w *workflowRun) object { return runAsAsked(g, r, w, w.shownAttempt(r.now)) })
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

func getRun(g *GitHub, r *routedRequest, w *workflowRun) routeAnswer {
	return answerOK(runAsAsked(g, r, w, w.shownAttempt(r.now)))
}

func runAsAsked(g *GitHub, r *routedRequest, w *workflowRun, a *runAttempt) object {
	return g.runJSON(w, a, r.queryParam("exclude_pull_requests") != "true")
}

func getAttempt(g *GitHub, r *routedRequest, w *workflowRun) routeAnswer {
	if a := w.findAttempt(r.intParam("attempt_number"), r.now); a != nil {
		return answerOK(runAsAsked(g, r, w, a))
	}
	return answerNotFound()
}

// listJobs lists, behind a run's jobs, also the check runs that were filed into its suite: GitHub takes them for jobs.
func listJobs(g *GitHub, r *routedRequest, w *workflowRun) routeAnswer {
	var all []object
	for _, j := range w.shownJobs(r.now, r.queryParam("filter") == "all") {
		all = append(all, g.jobJSON(j))
	}
	for _, c := range w.suite.checks {
		all = append(all, g.jobOfCheckJSON(w, c, r.now))
	}
	return answerCounted(r, "jobs", all, asItIs)
}

func rerunAll(g *GitHub, r *routedRequest, w *workflowRun) routeAnswer {
	return rerunJobs(g, r, w, false, everyJob)
}

func rerunFailed(g *GitHub, r *routedRequest, w *workflowRun) routeAnswer {
	return rerunJobs(g, r, w, true, isFailedJob)
}

func rerunJobs(g *GitHub, r *routedRequest, w *workflowRun, failedOnly bool, jobs func(*job) bool) routeAnswer {
	if status, why := w.whyNoRerun(failedOnly, r.now); status != 0 {
		return answerError(status, why)
	}
	r.afterUnlock = append(r.afterUnlock, g.startNextAttempt(w, g.programLogin(), jobs, r.now))
	g.written.Reruns[w.id]++
	g.written.RerunOrder = append(g.written.RerunOrder, w.id)
	return answerCreated(object{})
}

// cancelRun accepts a cancel at once; it takes effect later.
func cancelRun(g *GitHub, r *routedRequest, w *workflowRun) routeAnswer {
	a := w.newestAttempt()
	if a.status == "completed" {
		return answerError(409, "Cannot cancel a workflow run that is completed.")
	}
	if a.cancelAt.IsZero() {
		a.cancelAt = r.now.Add(g.lag.Cancel)
		g.written.Cancels[w.id]++
		g.markLive(w)
		g.carryOutDue()
	}
	return routeAnswer{status: 202, body: object{}}
}

// getLog redirects to the log.
func getLog(g *GitHub, r *routedRequest, j *job) routeAnswer {
	if j.status != "completed" {
		return answerNotFound()
	}
	return redirectToStorage(g, r, fmt.Sprint(j.id))
}

// redirectToStorage redirects to a file on another host, where it can be read for one minute.
func redirectToStorage(g *GitHub, r *routedRequest, name string) routeAnswer {
	host, repository := "https://"+logHost, ""
	if r.overNetwork {
		host = strings.TrimSuffix(r.baseURL, "/api/v3")
	}
	if g.webhook != nil { // there are several
		repository = "&repository=" + url.QueryEscape(g.owner+"/"+g.repo)
	}
	to := fmt.Sprintf("%s/_logs/%s?se=%d%s", host, name, r.now.Add(time.Minute).Unix(), repository)
	return routeAnswer{status: 302, header: map[string]string{"Location": to}}
}

// answerFromStorage answers for the other host.
func answerFromStorage(r *routedRequest, kind string, content []byte, isThere bool) routeAnswer {
	switch {
	case r.queryParam("se") < fmt.Sprint(r.now.Unix()):
		return answerRaw(403, "text/plain; charset=utf-8", []byte("Signature not valid in the specified time frame"))
	case !isThere:
		return answerRaw(404, "text/plain; charset=utf-8", []byte("BlobNotFound"))
	}
	return answerRaw(200, kind, content)
}

func readLog(g *GitHub, r *routedRequest) routeAnswer {
	j := jobOfRoute(g, r)
	if j == nil {
		j = &job{logLost: true}
	}
	return answerFromStorage(r, "text/plain; charset=utf-8", []byte(j.log), !j.logLost)
}

func listWorkflows(g *GitHub, r *routedRequest) routeAnswer {
	all := append(g.newestRuns(), g.workflowsWithoutRun()...)
	return answerCounted(r, "workflows", all, g.workflowJSON)
}

func repoRoutes() []route {
	return []route{
		onGet(repoPattern, getRepo),
		onGet("R/commits/{ref}", onCommit(getCommit)),
		onGet("R/commits/{commit_sha}/pulls", onCommit(listCommitPulls)),
		onGet("R/git/commits/{commit_sha}", getGitCommit),
		onGet("R/git/ref/{ref...}", getRef),
		onGet("R/contents/{path...}", getContent),
		onGet("R/collaborators", listCollaborators),
		onGet("R/collaborators/{username}/permission", getPermission),
		onGet("R/branches/{branch...}", getBranch),
		onGet("R/rules/branches/{branch...}", listRules),
		onGet("R/activity", listActivity),
		onGet("R/compare/{basehead}", compareCommits),
		onGet("/orgs/{org}/teams/{team_slug}/memberships/{username}", getMembership),
		onGet("/rate_limit", getRateLimit),
		onGet("/user", getUser),
	}
}

func getRepo(g *GitHub, _ *routedRequest) routeAnswer { return answerOK(g.repoJSON(g.owner)) }

// listActivity lists who moved the branches of a repository, newest first. A fork's pushes are told in the fork.
func listActivity(g *GitHub, r *routedRequest) routeAnswer {
	ref := strings.TrimPrefix(r.queryParam("ref"), "refs/heads/")
	all := slices.DeleteFunc(slices.Clone(g.activity), func(b branchPush) bool {
		return !strings.EqualFold(b.owner, r.params["owner"]) || ref != "" && ref != b.branch
	})
	slices.Reverse(all)
	return answerList(r, all, func(b branchPush) object {
		return object{
			"id": b.id, "node_id": nodeID("PSH", b.id), "before": b.before, "after": b.after, "ref": "refs/heads/" + b.branch,
			"timestamp": timeOrNull(b.at), "activity_type": b.kind, "actor": g.userJSON(b.actor),
		}
	})
}

func getCommit(g *GitHub, _ *routedRequest, c *commit) routeAnswer { return answerOK(g.commitJSON(c)) }

// listCommitPulls lists merged and open pull requests, as GitHub does of a commit that is not on the default branch:
// one that was closed without a merge is not there. Source: the description of
// repos/list-pull-requests-associated-with-commit.
func listCommitPulls(g *GitHub, r *routedRequest, c *commit) routeAnswer {
	all := slices.DeleteFunc(g.pullsWith(c), func(p *pullRequest) bool { return p.closed && !p.merged })
	return answerList(r, all, g.pullJSON)
}

func getGitCommit(g *GitHub, r *routedRequest) routeAnswer {
	c := g.commits[r.params["commit_sha"]]
	if c == nil {
		return answerNotFound()
	}
	out := g.gitCommitJSON(c)
	out["sha"], out["node_id"], out["url"], out["html_url"] = c.sha, "C_"+c.sha,
		g.apiURL()+"/git/commits/"+c.sha, g.webURL()+"/commit/"+c.sha
	out["parents"] = g.commitJSON(c)["parents"]
	return answerOK(out)
}

func getRef(g *GitHub, r *routedRequest) routeAnswer {
	ref := r.params["ref"]
	sha := g.resolveRef(ref)
	if sha == "" || !strings.HasPrefix(ref, "heads/") && !strings.HasPrefix(ref, "pull/") {
		return answerNotFound()
	}
	return answerOK(object{
		"ref": "refs/" + ref, "node_id": "REF_" + sha, "url": g.apiURL() + "/git/refs/" + ref,
		"object": object{"type": "commit", "sha": sha, "url": g.apiURL() + "/git/commits/" + sha},
	})
}

func getContent(g *GitHub, r *routedRequest) routeAnswer {
	name, ref := r.params["path"], r.queryParam("ref")
	content, found := g.fileContent(name, ref)
	if g.treeNotes.isLink(name, or(ref, g.defaultBranch)) { // GitHub answers with the file that it leads to
		if target, isThere := g.fileContent(path.Join(path.Dir(name), content), ref); isThere {
			content = target
		}
	}
	switch {
	case !found && ref != "" && g.resolveRef(ref) == "":
		return answerError(404, "No commit found for the ref "+ref)
	case !found:
		return answerNotFound()
	case strings.Contains(r.Header.Get("Accept"), "raw"):
		return answerRaw(200, "application/vnd.github.raw+json; charset=utf-8", []byte(content))
	}
	sha := blobID(content)
	url, git := g.apiURL()+"/contents/"+name+"?ref="+or(ref, g.defaultBranch), g.apiURL()+"/git/blobs/"+sha
	html := g.webURL() + "/blob/" + or(ref, g.defaultBranch) + "/" + name
	return answerOK(object{
		"type": "file", "encoding": "base64", "size": len(content), "name": path.Base(name), "path": name, "sha": sha,
		"content": wrapBase64(base64.StdEncoding.EncodeToString([]byte(content))), "url": url, "git_url": git,
		"html_url": html, "download_url": html + "?raw=true", "_links": object{"self": url, "git": git, "html": html},
	})
}

// wrapBase64 breaks base64 as GitHub does: after 60 characters.
func wrapBase64(s string) string {
	var b strings.Builder
	for part := range slices.Chunk([]byte(s), 60) {
		b.Write(part)
		b.WriteByte('\n')
	}
	return b.String()
}

// getPermission answers with the old names, in which maintain is write and triage is read, and with the role's own.
func getPermission(g *GitHub, r *routedRequest) routeAnswer {
	user := g.collaboratorJSON(r.params["username"])
	role := user["role_name"].(string)
	old := map[string]string{"maintain": "write", "triage": "read"}
	return answerOK(object{"permission": or(old[role], role), "role_name": role, "user": user})
}

// listCollaborators lists whom [GitHub.SetPermission] has named.
func listCollaborators(g *GitHub, r *routedRequest) routeAnswer {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(g.permissions)), func(login string) bool { return g.permissions[login] == "none" })
	return answerList(r, all, g.collaboratorJSON)
}

// getMembership answers as to an App with members: read. Of a team that is hidden ([HideTeam]) it answers as to every other token.
func getMembership(g *GitHub, r *routedRequest) routeAnswer {
	login, slug := r.params["username"], r.params["team_slug"]
	isLogin := func(member string) bool { return strings.EqualFold(member, login) }
	switch {
	case g.hiddenTeams[slug]:
		return answerError(403, "Resource not accessible by integration")
	case !strings.EqualFold(r.params["org"], g.owner) || !slices.ContainsFunc(g.teams[slug], isLogin):
		return answerNotFound()
	}
	return answerOK(object{
		"url": "https://api.github.com/organizations/1/team/1/memberships/" + login, "role": "member", "state": "active",
	})
}

func getBranch(g *GitHub, r *routedRequest) routeAnswer {
	name := r.params["branch"]
	b := g.branches[name]
	if b == nil {
		tip := ""
		for _, p := range g.index.pullsFor(name) {
			if p.headBranch == name && !p.fork {
				tip = p.head
			}
		}
		if tip == "" {
			return answerError(404, "Branch not found")
		}
		b = &branch{name: name, tip: tip}
	}
	url := g.apiURL() + "/branches/" + name
	required := object{"enforcement_level": "off", "contexts": []any{}, "checks": []any{}}
	if b.protection != nil && len(b.protection.checks) > 0 {
		names, checks := []any{}, []any{}
		for _, c := range b.protection.checks {
			app := any(nil)
			if c.AppID != 0 {
				app = c.AppID
			}
			names, checks = append(names, c.Name), append(checks, object{"context": c.Name, "app_id": app})
		}
		required = object{"enforcement_level": "non_admins", "contexts": names, "checks": checks}
	}
	return answerOK(object{
		"name": name, "protected": b.isProtected(),
		"commit": g.commitJSON(g.commits[b.tip]), "protection_url": url + "/protection",
		"protection": object{"enabled": b.protection != nil, "required_status_checks": required},
		"_links":     object{"self": url, "html": g.webURL() + "/tree/" + name},
	})
}

// listRules lists the rules of a branch's ruleset. Those of the classic protection are not among them.
func listRules(g *GitHub, r *routedRequest) routeAnswer {
	rules := []object{}
	if b := g.branches[r.params["branch"]]; b != nil && b.ruleset != nil {
		rules = rulesJSON(b.ruleset)
	}
	for _, rule := range rules {
		rule["ruleset_source_type"], rule["ruleset_source"], rule["ruleset_id"] = "Repository", g.owner+"/"+g.repo, 42
	}
	for _, set := range g.rulesetsFor(r.params["branch"]) {
		for _, rule := range rulesOf(set) {
			rule["ruleset_source_type"], rule["ruleset_source"] = g.sourceOf(set)
			rule["ruleset_id"] = set.ID
			rules = append(rules, rule)
		}
	}
	return answerList(r, rules, asItIs)
}

func compareCommits(g *GitHub, r *routedRequest) routeAnswer {
	from, to, found := strings.Cut(r.params["basehead"], "...")
	short := func(ref string) string {
		_, after, foreign := strings.Cut(ref, ":")
		if foreign {
			return after
		}
		return ref
	}
	base, head := g.resolveRef(short(from)), g.resolveRef(short(to))
	if !found || base == "" || head == "" {
		return answerNotFound()
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
	commits, files, status, fork := []any{}, []any{}, "ahead", g.commits[base]
	for _, sha := range slices.Backward(between) {
		commits = append(commits, g.commitJSON(g.commits[sha]))
	}
	if p, branch := g.pullBetween(base, head); p != nil {
		fork = g.mergeBase(p, head, branch)
		changed := p.diffs.changesAgainst(head, branch)
		for _, f := range changed[:min(len(changed), 300)] {
			files = append(files, g.fileJSON(head, f))
		}
	}
	if base == head {
		status, files = "identical", []any{}
	}
	url, web := g.apiURL()+"/compare/"+r.params["basehead"], g.webURL()+"/compare/"+r.params["basehead"]
	return answerOK(object{
		"url": url, "html_url": web, "permalink_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch",
		"base_commit": g.commitJSON(g.commits[base]), "merge_base_commit": g.commitJSON(fork),
		"status": status, "ahead_by": len(commits), "behind_by": 0, "total_commits": len(commits), "commits": commits, "files": files,
	})
}

func getRateLimit(g *GitHub, _ *routedRequest) routeAnswer {
	return answerRateLimit(g.budget.currentState())
}

func answerRateLimit(s budgetState) routeAnswer {
	limit := func(used int) object {
		return object{"limit": s.limit, "used": used, "remaining": max(s.limit-used, 0), "reset": s.reset.Unix()}
	}
	return answerOK(
		object{
			"resources": object{"core": limit(s.used), "graphql": limit(s.usedGQL), "search": limit(0)},
			"rate":      limit(s.used),
		},
	)
}

func getUser(g *GitHub, _ *routedRequest) routeAnswer {
	if g.tokenOwner == "" {
		return answerError(403, "Resource not accessible by integration")
	}
	return answerOK(g.userJSONWith(g.tokenOwner, object{
		"user_view_type": "public", "name": nil, "company": nil, "blog": "", "location": nil, "email": nil,
		"hireable": nil, "bio": nil, "public_repos": 1, "public_gists": 0, "followers": 0, "following": 0,
		"created_at": timeOrNull(g.createdAt), "updated_at": timeOrNull(g.createdAt),
	}))
}

// The routes by which a pull request is made without a clone: a tree of files, a commit of it, a branch, the pull request.
func proposalRoutes() []route {
	return []route{
		onPost("R/git/trees", createTree),
		onPost("R/git/commits", createCommit),
		onPost("R/git/refs", createRef),
		onPost("R/pulls", createPull),
	}
}

// createTree makes a tree of text files, upon another if one is named.
func createTree(g *GitHub, r *routedRequest) routeAnswer {
	var in struct {
		Base string `json:"base_tree"`
		Tree []struct {
			Path, Mode, Type string
			Content          *string
		}
	}
	if err := r.decodeBody(&in); err != nil || len(in.Tree) == 0 {
		return answerError(422, "Invalid tree info")
	}
	files := fileTree{}
	maps.Copy(files, g.trees[in.Base])
	var entries []any
	for _, e := range in.Tree {
		if e.Path == "" || strings.HasPrefix(e.Path, "/") || e.Mode != "100644" || e.Type != "blob" || e.Content == nil {
			return answerError(422, "tree.path contains a malformed path component")
		}
		// With a job's token no workflow can be written, whatever permissions the job gives it.
		if strings.HasPrefix(e.Path, ".github/workflows/") && g.app == actionsApp && g.tokenOwner == "" {
			return answerError(403, "Resource not accessible by integration")
		}
		files[e.Path] = e.Content
		sha := blobID(*e.Content)
		entries = append(entries, object{
			"path": e.Path, "mode": e.Mode, "type": "blob", "sha": sha, "size": len(*e.Content), "url": g.apiURL() + "/git/blobs/" + sha,
		})
	}
	sha := SHA(fmt.Sprint("tree ", in.Base, entries)) // as with Git, the same files are the same tree
	g.trees[sha] = files
	return answerCreated(object{"sha": sha, "url": g.apiURL() + "/git/trees/" + sha, "truncated": false, "tree": entries})
}

// createCommit makes a commit that no branch has yet.
func createCommit(g *GitHub, r *routedRequest) routeAnswer {
	var in struct {
		Message, Tree string
		Parents       []string
	}
	err := r.decodeBody(&in)
	unknown := slices.ContainsFunc(in.Parents, func(sha string) bool { return g.commits[sha] == nil })
	if err != nil || in.Message == "" || g.trees[in.Tree] == nil || unknown {
		return answerError(422, "Tree SHA does not exist")
	}
	c := &commit{
		sha: SHA(fmt.Sprintf("commit %d", g.newID())), parents: in.Parents, message: in.Message, tree: in.Tree,
		author: g.programLogin(), committer: g.programLogin(), pushedAt: r.now,
	}
	g.commits[c.sha] = c
	answer := getGitCommit(g, &routedRequest{params: map[string]string{"commit_sha": c.sha}})
	answer.status = 201
	return answer
}

// createRef makes a branch at a commit, which shows the commit's files from then on.
func createRef(g *GitHub, r *routedRequest) routeAnswer {
	var in struct{ Ref, SHA string }
	err := r.decodeBody(&in)
	name, isBranch := strings.CutPrefix(in.Ref, "refs/heads/")
	switch {
	case err != nil || !isBranch || name == "":
		return answerError(422, "Reference name is invalid")
	case g.branches[name] != nil:
		return answerError(422, "Reference already exists")
	case g.commits[in.SHA] == nil:
		return answerError(422, "Object does not exist")
	}
	g.branches[name] = &branch{name: name, tip: in.SHA}
	maps.Copy(g.filesAt(name), g.trees[g.commits[in.SHA].tree])
	answer := getRef(g, &routedRequest{params: map[string]string{"ref": "heads/" + name}})
	answer.status = 201
	return answer
}

// createPull opens a pull request of a branch of the repository itself.
func createPull(g *GitHub, r *routedRequest) routeAnswer {
	var in struct{ Title, Body, Head, Base string }
	if err := r.decodeBody(&in); err != nil || in.Title == "" {
		return answerError(422, "Validation Failed: title")
	}
	head := strings.TrimPrefix(in.Head, g.owner+":")
	switch from := g.branches[head]; {
	case from == nil || from.tip == "":
		return answerError(422, "Validation Failed: head")
	case g.branches[in.Base] == nil:
		return answerError(422, "Validation Failed: base")
	case slices.ContainsFunc(g.index.pullsByNumber, func(p *pullRequest) bool {
		return !p.closed && !p.fork && p.headBranch == head && p.baseBranch == in.Base
	}):
		return answerError(422, fmt.Sprintf("Validation Failed: A pull request already exists for %s:%s.", g.owner, head))
	}
	var files []ChangedFile
	for _, name := range slices.Sorted(maps.Keys(g.files[head])) {
		files = append(files, ChangedFile{Path: name, Status: "added"})
	}
	p := g.openPull(PullSpec{
		Title: in.Title, Body: in.Body, Head: g.branches[head].tip, Branch: head, Base: in.Base, Author: g.programLogin(), Files: files,
	})
	return answerCreated(g.pullJSON(p))
}

// settingsRoutes are those of the settings. What only an administrator sees is refused to anybody else.
func settingsRoutes() []route {
	return []route{
		onGet("R/rulesets", listRulesets),
		onGet("R/rulesets/{n:ruleset_id}", getRuleset),
		onGet("R/actions/permissions", forAdministrators(getActionsPermissions)),
		onGet("R/actions/permissions/workflow", forAdministrators(getDefaultToken)),
		onGet("R/actions/permissions/selected-actions", forAdministrators(getSelectedActions)),
	}
}

// forAdministrators refuses what GitHub shows with the permission administration: read alone.
func forAdministrators(handle handler) handler {
	return func(g *GitHub, r *routedRequest) routeAnswer {
		if g.settings.MayRead {
			return handle(g, r)
		}
		a := answerError(403, "Resource not accessible by integration")
		a.header = map[string]string{"X-Accepted-GitHub-Permissions": "administration=read"}
		return a
	}
}

func listRulesets(g *GitHub, r *routedRequest) routeAnswer {
	all := slices.DeleteFunc(slices.Clone(g.settings.Rulesets), func(s RulesetSpec) bool {
		return s.By != "" && r.queryParam("includes_parents") == "false"
	})
	return answerList(r, all, g.rulesetJSON)
}

func getRuleset(g *GitHub, r *routedRequest) routeAnswer {
	for _, s := range g.settings.Rulesets {
		if s.ID == r.intParam("ruleset_id") {
			whole := g.rulesetJSON(s)
			whole["rules"] = rulesOf(s)
			whole["conditions"] = object{"ref_name": object{"include": s.Include, "exclude": []string{}}}
			return answerOK(whole)
		}
	}
	return answerNotFound()
}

func getActionsPermissions(g *GitHub, _ *routedRequest) routeAnswer {
	if g.settings.NoActions {
		return answerOK(object{"enabled": false})
	}
	said := object{"enabled": true, "allowed_actions": or(g.settings.Allowed, "all")}
	if g.settings.Allowed == "selected" {
		said["selected_actions_url"] = g.apiURL() + "/actions/permissions/selected-actions"
	}
	return answerOK(said)
}

func getDefaultToken(g *GitHub, _ *routedRequest) routeAnswer {
	level := "read"
	if g.settings.WriteDefault {
		level = "write"
	}
	return answerOK(object{"default_workflow_permissions": level, "can_approve_pull_request_reviews": g.settings.WorkflowsVote})
}

func getSelectedActions(g *GitHub, _ *routedRequest) routeAnswer {
	if g.settings.Allowed != "selected" {
		return answerError(409, "Conflict")
	}
	patterns := append([]string{}, g.settings.Patterns...)
	return answerOK(object{"github_owned_allowed": true, "verified_allowed": false, "patterns_allowed": patterns})
}
