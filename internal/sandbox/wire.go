package sandbox

// GitHub's objects in JSON. Every field that GitHub's own description requires is there, even those that the program
// under test does not read today.

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A wire shows the repository over REST, and keeps what it has rendered until an App or the repository gets another name.
type wire struct {
	repository
	renderedAccounts map[string]json.RawMessage
	renderedApps     map[App]json.RawMessage
	renderedRepos    map[string]json.RawMessage
	graphActors      map[string]object // accounts as GraphQL has them; never written to
}

func (g *wire) forgetRendered() {
	g.renderedAccounts, g.renderedApps = map[string]json.RawMessage{}, map[App]json.RawMessage{}
	g.renderedRepos, g.graphActors = map[string]json.RawMessage{}, map[string]object{}
}

func nodeID(kind string, id int64) string {
	var room [40]byte
	return kind + "_" + base64.RawURLEncoding.EncodeToString(
		strconv.AppendInt(append(append(room[:0], kind...), ':'), id, 10),
	)
}

// renderOnce renders an object that never changes, and keeps the result.
func renderOnce(in map[string]json.RawMessage, key string, render func() object) json.RawMessage {
	if in[key] == nil {
		in[key] = renderJSON(render())
	}
	return in[key]
}

// userJSON renders an account; null if it is gone.
func (g *wire) userJSON(login string) any {
	if login == "" {
		return nil
	}
	return renderOnce(g.renderedAccounts, login, func() object { return accountJSON(g.accountNow(login)) })
}

func accountJSON(login string, id int64) object {
	u := object{
		"login": login, "id": id, "node_id": nodeID("U", id), "type": "User", "site_admin": false, "gravatar_id": "",
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", id),
		"html_url":   "https://github.com/" + login,
	}
	if slug, bot := strings.CutSuffix(login, "[bot]"); bot {
		u["type"], u["html_url"] = "Bot", "https://github.com/apps/"+slug
	}
	base := apiRoot + "/users/" + strings.NewReplacer("[", "%5B", "]", "%5D").Replace(login)
	u["url"] = base
	for field, tail := range map[string]string{
		"followers_url": "/followers", "following_url": "/following{/other_user}",
		"gists_url": "/gists{/gist_id}", "starred_url": "/starred{/owner}{/repo}",
		"subscriptions_url": "/subscriptions", "organizations_url": "/orgs", "repos_url": "/repos",
		"events_url": "/events{/privacy}", "received_events_url": "/received_events",
	} {
		u[field] = base + tail
	}
	return u
}

// userJSONWith renders an account with further fields.
func (g *wire) userJSONWith(login string, more object) object {
	u := object{}
	if err := json.Unmarshal(g.userJSON(login).(json.RawMessage), &u); err != nil {
		panic(err) // unreachable: it was written here
	}
	maps.Copy(u, more)
	return u
}

func isCopilot(login string) bool {
	return strings.EqualFold(login, "copilot-pull-request-reviewer[bot]")
}

// requesteeJSON renders an account whose review was requested. Copilot has another name there than the one with
// which it reviews.
func (g *wire) requesteeJSON(login string) any {
	if isCopilot(login) {
		return renderOnce(
			g.renderedAccounts, "requested "+login,
			func() object { return g.userJSONWith(login, object{"login": "Copilot"}) },
		)
	}
	return g.userJSON(login)
}

// repoJSON renders this repository, or the owner's fork of it.
func (g *wire) repoJSON(owner string) json.RawMessage {
	return renderOnce(g.renderedRepos, owner, func() object {
		full := owner + "/" + g.repo
		id := accountID(full)
		if owner == g.owner {
			id = g.repoID
		}
		base := apiRoot + "/repos/" + full
		r := object{
			"id": id, "node_id": nodeID("R", id), "name": g.repo, "full_name": full, "private": g.settings.Private,
			"owner": g.userJSON(owner), "description": nil, "fork": owner != g.owner,
			"html_url": "https://github.com/" + full, "url": base,
			"git_url": "git://github.com/" + full + ".git", "ssh_url": "git@github.com:" + full + ".git",
			"clone_url": "https://github.com/" + full + ".git", "svn_url": "https://github.com/" + full,
			"homepage": nil, "mirror_url": nil, "language": "Go", "license": nil,
			"forks": 0, "forks_count": 0, "open_issues": 0, "open_issues_count": 0,
			"size": 1, "stargazers_count": 0, "watchers": 0, "watchers_count": 0,
			"network_count": 0, "subscribers_count": 0, "has_issues": true, "has_projects": true,
			"has_wiki": false, "has_pages": false, "has_downloads": true, "has_discussions": false,
			"archived": false, "disabled": false, "allow_forking": true,
			"web_commit_signoff_required": false, "custom_properties": object{}, "is_template": false,
			"visibility": visibilityWord(g.settings), "topics": []string{}, "default_branch": g.defaultBranch,
			"pushed_at": timeOrNull(
				g.createdAt,
			), "created_at": timeOrNull(g.createdAt), "updated_at": timeOrNull(g.createdAt),
		}
		for _, name := range []string{
			"contributors", "deployments", "downloads", "events", "forks", "hooks", "languages",
			"merges", "stargazers", "subscribers", "subscription", "tags", "teams",
		} {
			r[name+"_url"] = base + "/" + name
		}
		for name, tail := range map[string]string{
			"archive": "/{archive_format}{/ref}", "assignees": "/assignees{/user}", "blobs": "/git/blobs{/sha}",
			"branches": "/branches{/branch}", "collaborators": "/collaborators{/collaborator}",
			"comments": "/comments{/number}", "commits": "/commits{/sha}", "compare": "/compare/{base}...{head}",
			"contents": "/contents/{+path}", "git_commits": "/git/commits{/sha}",
			"git_refs": "/git/refs{/sha}", "git_tags": "/git/tags{/sha}", "issue_comment": "/issues/comments{/number}",
			"issue_events": "/issues/events{/number}", "issues": "/issues{/number}",
			"keys": "/keys{/key_id}", "labels": "/labels{/name}", "milestones": "/milestones{/number}",
			"notifications": "/notifications{?since,all,participating}", "pulls": "/pulls{/number}",
			"releases": "/releases{/id}", "statuses": "/statuses/{sha}", "trees": "/git/trees{/sha}",
		} {
			r[name+"_url"] = base + tail
		}
		return r
	})
}

func (g *wire) pullJSON(p *pullRequest) object {
	added, removed := p.changedLines()
	api, web := fmt.Sprintf("%s/pulls/%d", g.apiURL(), p.number), fmt.Sprintf("%s/pull/%d", g.webURL(), p.number)
	issue := fmt.Sprintf("%s/issues/%d", g.apiURL(), p.number)
	mergedBy, mergedAt := any(nil), any(nil)
	if p.merged {
		mergedBy, mergedAt = g.userJSON(p.timeline[len(p.timeline)-1].actor), timeOrNull(p.closedAt)
	}
	links := map[string]string{
		"self": api, "html": web, "issue": issue, "comments": issue + "/comments",
		"review_comments": api + "/comments", "review_comment": g.apiURL() + "/pulls/comments{/number}",
		"commits": api + "/commits", "statuses": g.apiURL() + "/statuses/" + p.head,
	}
	hrefs := object{}
	for name, href := range links {
		hrefs[name] = object{"href": href}
	}
	threads := 0
	for _, t := range p.threads {
		threads += len(t.comments)
	}
	out := object{
		"url": api, "id": pullID(p), "node_id": nodeID("PR", pullID(p)), "html_url": web,
		"diff_url": web + ".diff", "patch_url": web + ".patch", "issue_url": issue,
		"number": p.number, "state": p.openOrClosed(), "locked": p.locked, "title": p.title, "user": g.userJSON(p.author),
		"body": stringOrNull(p.body), "labels": g.labelsJSON(p), "milestone": nil, "draft": p.draft,
		"created_at": timeOrNull(p.created), "updated_at": timeOrNull(p.updated),
		"closed_at": timeOrNull(p.closedAt), "merged_at": mergedAt, "merge_commit_sha": MergeSHA(p.head),
		"assignee": nil, "assignees": []any{}, "requested_reviewers": g.requestedReviewersJSON(p),
		"requested_teams": g.requestedTeamsJSON(p),
		"commits_url":     links["commits"], "review_comments_url": links["review_comments"],
		"review_comment_url": links["review_comment"], "comments_url": links["comments"], "statuses_url": links["statuses"],
		"head": object{
			"label": p.headOwner + ":" + p.headBranch, "ref": p.headBranch, "sha": p.head,
			"user": g.userJSON(p.headOwner), "repo": g.repoJSON(p.headOwner),
		},
		"base": object{
			"label": g.owner + ":" + p.baseBranch, "ref": p.baseBranch, "sha": p.baseSHA, "user": g.userJSON(g.owner),
			"repo": g.repoJSON(g.owner),
		},
		"_links": hrefs, "author_association": "CONTRIBUTOR", "auto_merge": nil, "active_lock_reason": nil,
		"merged": p.merged, "mergeable": true, "rebaseable": true, "mergeable_state": "blocked",
		"merged_by": mergedBy, "comments": len(p.comments), "review_comments": threads,
		"maintainer_can_modify": false, "commits": len(p.shownCommits), "additions": added,
		"deletions": removed, "changed_files": max(len(p.toldFiles()), p.changedCount),
	}
	if p.stack != nil {
		out["stack"] = g.stackJSON(p)
	}
	return out
}

func (g *wire) requestedReviewersJSON(p *pullRequest) []any {
	out := []any{}
	for _, q := range p.openRequests() {
		out = append(out, g.requesteeJSON(q.login))
	}
	return out
}

func (g *wire) fileJSON(head string, f ChangedFile) object {
	status := or(f.Status, "modified")
	patch, added, removed := f.patch()
	if f.Added+f.Removed > 0 { // so many that GitHub shows not all
		added, removed = f.Added, f.Removed
	}
	out := object{
		"sha": f.blob(), "filename": f.Path, "additions": added, "deletions": removed, "changes": added + removed,
		"blob_url": g.webURL() + "/blob/" + head + "/" + f.Path, "raw_url": g.webURL() + "/raw/" + head + "/" + f.Path,
		"contents_url": g.apiURL() + "/contents/" + f.Path + "?ref=" + head,
	}
	if f.Previous != "" {
		out["previous_filename"], status = f.Previous, or(f.Status, "renamed")
	}
	out["status"] = status
	if patch != "" {
		out["patch"] = patch
	}
	return out
}

func (g *wire) commitJSON(c *commit) object {
	url := g.apiURL() + "/commits/" + c.sha
	parents := []any{}
	for _, sha := range c.parents {
		parents = append(
			parents,
			object{"sha": sha, "url": g.apiURL() + "/commits/" + sha, "html_url": g.webURL() + "/commit/" + sha},
		)
	}
	inner := g.gitCommitJSON(c)
	inner["url"], inner["comment_count"] = g.apiURL()+"/git/commits/"+c.sha, 0
	return object{
		"sha": c.sha, "node_id": "C_" + c.sha, "commit": inner, "url": url,
		"html_url": g.webURL() + "/commit/" + c.sha, "comments_url": url + "/comments",
		"author": g.userJSON(accountOf(c.author)), "committer": g.userJSON(accountOf(c.committer)), "parents": parents,
	}
}

// gitCommitJSON renders a commit as git has it.
func (g *wire) gitCommitJSON(c *commit) object {
	who := func(login string) object {
		return object{"name": login, "email": emailOf(login), "date": timeOrNull(c.pushedAt)}
	}
	tree := or(c.tree, SHA("tree "+c.sha))
	return object{
		"message": c.fullMessage(), "author": who(c.author), "committer": who(c.committer),
		"tree": object{"sha": tree, "url": g.apiURL() + "/git/trees/" + tree},
		"verification": object{
			"verified": c.verified, "reason": map[bool]string{true: "valid", false: "unsigned"}[c.verified],
			"signature": nil, "payload": nil, "verified_at": nil,
		},
	}
}

func (g *wire) commentJSON(c *issueComment) object {
	return object{
		"id": c.id, "node_id": nodeID("IC", c.id), "url": fmt.Sprintf("%s/issues/comments/%d", g.apiURL(), c.id),
		"html_url":  fmt.Sprintf("%s/pull/%d#issuecomment-%d", g.webURL(), c.pull.number, c.id),
		"issue_url": fmt.Sprintf("%s/issues/%d", g.apiURL(), c.pull.number), "user": g.userJSON(c.author),
		"body": c.body, "created_at": timeOrNull(c.created), "updated_at": timeOrNull(c.updated),
		"author_association": association(g.permissions[strings.ToLower(c.author)]), "performed_via_github_app": nil,
	}
}

func (g *wire) reviewJSON(v *review) object {
	html := fmt.Sprintf("%s/pull/%d#pullrequestreview-%d", g.webURL(), v.pull.number, v.id)
	api := fmt.Sprintf("%s/pulls/%d", g.apiURL(), v.pull.number)
	return object{
		"id": v.id, "node_id": nodeID("PRR", v.id), "user": g.userJSON(v.author), "body": v.body,
		"state": v.state, "html_url": html, "pull_request_url": api,
		"author_association": association(g.permissions[strings.ToLower(v.author)]),
		"_links":             object{"html": object{"href": html}, "pull_request": object{"href": api}},
		"submitted_at":       timeOrNull(v.submitted), "commit_id": v.commit,
	}
}

// without takes fields out of an object.
func without(o object, fields ...string) object {
	for _, name := range fields {
		delete(o, name)
	}
	return o
}

// association is GitHub's word for what an account with that permission is to the repository.
func association(permission string) string {
	switch permission {
	case "":
		return "NONE"
	case "read":
		return "CONTRIBUTOR"
	}
	return "COLLABORATOR"
}

func (g *wire) reviewCommentJSON(c *reviewComment) object {
	t, p := c.thread, c.thread.pull
	html, api := fmt.Sprintf("%s/pull/%d#discussion_r%d", g.webURL(), p.number, c.id), fmt.Sprintf("%s/pulls/%d", g.apiURL(), p.number)
	self := fmt.Sprintf("%s/pulls/comments/%d", g.apiURL(), c.id)
	out := object{
		"url": self, "pull_request_review_id": c.review.id, "id": c.id,
		"node_id": nodeID("PRRC", c.id), "diff_hunk": "@@ -1 +1 @@", "path": t.path,
		"commit_id": c.shownCommit(), "original_commit_id": c.originalCommit, "user": g.userJSON(c.author),
		"body": c.body, "created_at": timeOrNull(c.created), "updated_at": timeOrNull(laterOf(c.created, c.editedAt)),
		"html_url": html, "pull_request_url": api, "author_association": "NONE",
		"subject_type": "line", "side": "RIGHT", "original_position": 1, "position": 1,
		"line": t.line, "original_line": t.line, "start_line": nil, "original_start_line": nil, "start_side": nil,
		"_links": object{"self": object{"href": self}, "html": object{"href": html}, "pull_request": object{"href": api}},
	}
	if t.line == 0 {
		out["subject_type"] = "file"
		delete(out, "line")
		delete(out, "original_line")
	}
	if t.outdated { // it has no place in the diff any more
		delete(out, "position")
		delete(out, "line")
	}
	if c != t.comments[0] {
		out["in_reply_to_id"] = t.comments[0].id
	}
	return out
}

func (g *wire) timelineEventJSON(h *timelineEvent) object {
	out := object{
		"id": h.id, "node_id": nodeID("EV", h.id), "url": fmt.Sprintf("%s/issues/events/%d", g.apiURL(), h.id),
		"actor": g.userJSON(h.actor), "event": h.kind,
		"commit_id": nil, "commit_url": nil, "created_at": timeOrNull(h.at), "performed_via_github_app": nil,
	}
	switch h.kind {
	case "head_ref_force_pushed":
		out["commit_id"], out["commit_url"] = h.new, g.apiURL()+"/commits/"+h.new
	case "review_requested":
		out["review_requester"], out["requested_reviewer"] = g.userJSON(h.actor), g.requesteeJSON(h.requestedLogin)
	case "review_dismissed":
		out["dismissed_review"] = object{"state": h.dismissedState, "review_id": h.review.id, "dismissal_message": nil}
	case "labeled", "unlabeled":
		out["label"] = object{"name": h.label, "color": "ededed"}
	case "closed":
		out["state_reason"] = nil
	}
	return out
}

func (g *wire) runJSON(r *workflowRun, a *runAttempt, withPulls bool) object {
	url, web := fmt.Sprintf("%s/actions/runs/%d", g.apiURL(), r.id), fmt.Sprintf("%s/actions/runs/%d", g.webURL(), r.id)
	pulls := []any{}
	if withPulls {
		pulls = g.pullsOfRunJSON(r)
	}
	previous := any(nil)
	if a.number > 1 {
		previous = fmt.Sprintf("%s/attempts/%d", url, a.number-1)
	}
	head := g.commits[r.head]
	return object{
		"id": r.id, "name": r.name, "node_id": nodeID("WFR", r.id), "check_suite_id": r.suite.id,
		"check_suite_node_id": nodeID("CS", r.suite.id), "head_branch": r.headBranch, "head_sha": r.head,
		"path": r.workflowPath, "run_number": r.runNumber, "run_attempt": a.number, "event": r.event,
		"status": a.status, "conclusion": stringOrNull(a.conclusion), "workflow_id": r.workflowID, "url": url,
		"html_url": web, "display_title": r.title, "pull_requests": pulls, "created_at": timeOrNull(r.created),
		"updated_at": timeOrNull(a.updated), "run_started_at": timeOrNull(a.started), "actor": g.userJSON(r.actor),
		"triggering_actor": g.userJSON(a.triggeredBy), "referenced_workflows": []any{},
		"previous_attempt_url": previous, "jobs_url": url + "/jobs", "logs_url": url + "/logs",
		"check_suite_url": fmt.Sprintf("%s/check-suites/%d", g.apiURL(), r.suite.id),
		"artifacts_url":   url + "/artifacts", "cancel_url": url + "/cancel", "rerun_url": url + "/rerun",
		"workflow_url": fmt.Sprintf("%s/actions/workflows/%d", g.apiURL(), r.workflowID),
		"head_commit":  g.simpleCommitJSON(head), "repository": g.repoJSON(g.owner),
		"head_repository": g.repoJSON(or(r.forkOwner, g.owner)),
	}
}

// simpleCommitJSON renders a commit once: it never changes.
func (g *wire) simpleCommitJSON(c *commit) json.RawMessage {
	if c.simpleJSON != nil {
		return c.simpleJSON
	}
	who := func(login string) object {
		return object{"name": login, "email": login + "@users.noreply.github.com"}
	}
	c.simpleJSON = renderJSON(
		object{
			"id": c.sha, "tree_id": SHA("tree " + c.sha), "message": c.fullMessage(),
			"timestamp": timeOrNull(c.pushedAt), "author": who(c.author), "committer": who(c.committer),
		},
	)
	return c.simpleJSON
}

// pullsOfRunJSON lists the open pull requests with a run's head or branch, even if another one started it. Those of
// forks are never among them.
func (g *wire) pullsOfRunJSON(r *workflowRun) []any {
	out := []any{}
	if r.pullNumber == 0 && r.event != "push" || r.forkOwner != "" {
		return out
	}
	for _, p := range g.index.pullsFor(r.head, r.headBranch) {
		if !p.closed && !p.fork && (p.head == r.head || p.headBranch == r.headBranch) {
			out = append(out, g.minimalPullJSON(p))
		}
	}
	return out
}

func (g *wire) minimalPullJSON(p *pullRequest) json.RawMessage {
	m := &p.minimalJSON
	if m.json != nil && m.repo == g.repo && m.branch == p.headBranch && m.head == p.head && m.base == p.baseBranch &&
		m.baseSHA == p.baseSHA {
		return m.json
	}
	repo := object{"id": g.repoID, "url": g.apiURL(), "name": g.repo}
	*m = minimalPullCache{g.repo, p.headBranch, p.head, p.baseBranch, p.baseSHA, renderJSON(object{
		"id": pullID(p), "number": p.number, "url": fmt.Sprintf("%s/pulls/%d", g.apiURL(), p.number),
		"head": object{
			"ref": p.headBranch, "sha": p.head, "repo": repo,
		}, "base": object{"ref": p.baseBranch, "sha": p.baseSHA, "repo": repo},
	})}
	return m.json
}

func (g *wire) workflowJSON(r *workflowRun) object {
	url := fmt.Sprintf("%s/actions/workflows/%d", g.apiURL(), r.workflowID)
	return object{
		"id": r.workflowID, "node_id": nodeID("W", r.workflowID), "name": r.name, "path": r.workflowFile(),
		"state":      or(g.settings.States[r.workflowFile()], "active"),
		"created_at": timeOrNull(g.createdAt), "updated_at": timeOrNull(g.createdAt),
		"url": url, "html_url": g.webURL() + "/blob/" + g.defaultBranch + "/" + r.workflowFile(),
		"badge_url": g.webURL() + "/workflows/" + path.Base(r.workflowFile()) + "/badge.svg",
	}
}

func (g *wire) jobJSON(j *job) object {
	r := j.run
	url := fmt.Sprintf("%s/actions/jobs/%d", g.apiURL(), j.id)
	out := object{
		"id": j.id, "run_id": r.id, "workflow_name": r.name, "head_branch": r.headBranch,
		"run_url": fmt.Sprintf("%s/actions/runs/%d", g.apiURL(), r.id), "run_attempt": j.attempt,
		"node_id": nodeID("CR", j.id), "head_sha": r.head, "url": url,
		"html_url": fmt.Sprintf("%s/actions/runs/%d/job/%d", g.webURL(), r.id, j.id), "status": j.status,
		"conclusion": stringOrNull(j.conclusion), "created_at": timeOrNull(j.created), "started_at": timeOrNull(j.started),
		"completed_at": timeOrNull(j.completed), "name": j.name, "labels": []string{"ubuntu-latest"},
		"check_run_url": fmt.Sprintf("%s/check-runs/%d", g.apiURL(), j.id), "runner_id": nil,
		"runner_name": nil, "runner_group_id": nil, "runner_group_name": nil, "steps": []any{},
	}
	if j.started.IsZero() { // GitHub has no null there: a job that waits shows the moment of its creation
		out["started_at"] = timeOrNull(j.created)
		return out
	}
	if j.conclusion == "skipped" {
		return out
	}
	out["runner_id"], out["runner_name"], out["runner_group_id"], out["runner_group_name"] = 1, "GitHub Actions 1", 0, "GitHub Actions"
	step := func(n int, name, status string, conclusion any, end time.Time) object {
		return object{
			"name": name, "status": status, "conclusion": conclusion, "number": n, "started_at": timeOrNull(j.started),
			"completed_at": timeOrNull(end),
		}
	}
	steps := []any{step(1, "Set up job", "completed", "success", j.started)}
	conclusion := stringOrNull(j.conclusion)
	if j.conclusion == "timed_out" {
		conclusion = "cancelled"
	}
	status := "in_progress"
	if j.status == "completed" {
		status = "completed"
	}
	out["steps"] = append(steps, step(2, or(j.failedStep, "Run review"), status, conclusion, j.completed))
	return out
}

// jobOfCheckJSON shows a check run that was made with GITHUB_TOKEN as a job of the run whose suite it was filed into:
// it has no steps and no runner, and its page is the one that its writer gave it. Source: the probe of sluiceway,
// 2026-09-22.
func (g *wire) jobOfCheckJSON(r *workflowRun, c *StoredCheckRun, now time.Time) object {
	out := g.jobJSON(&job{
		run: r, id: c.ID, attempt: r.shownAttempt(now).number, name: c.Name, status: c.Status, conclusion: c.Conclusion, created: c.Created,
		completed: c.Completed,
	})
	out["html_url"], out["started_at"] = or(c.DetailsURL, g.checkPage(c.ID)), timeOrNull(c.Started)
	out["labels"], out["runner_id"], out["runner_name"] = []string{}, 0, ""
	out["runner_group_id"], out["runner_group_name"] = 0, ""
	return out
}

func (g *wire) appJSON(a App) json.RawMessage {
	if g.renderedApps[a] != nil {
		return g.renderedApps[a]
	}
	slug := g.slugNow(a.Slug)
	out := object{
		"id": a.ID, "slug": slug, "client_id": "Iv1." + a.Slug, "node_id": nodeID("A", a.ID),
		"owner": g.userJSON(g.owner), "name": slug, "description": "",
		"external_url": "https://example.com/" + slug, "html_url": "https://github.com/apps/" + slug,
		"created_at": timeOrNull(g.createdAt), "updated_at": timeOrNull(g.createdAt),
		"permissions": map[string]string{"checks": "write", "metadata": "read"}, "events": []string{"check_run"},
	}
	if a == actionsApp {
		out["name"], out["owner"] = "GitHub Actions", g.userJSON("github")
	}
	g.renderedApps[a] = renderJSON(out)
	return g.renderedApps[a]
}

func (g *wire) checkJSON(c checkView) object {
	url := fmt.Sprintf("%s/check-runs/%d", g.apiURL(), c.ID)
	count := len(c.Annotations)
	if c.job != nil {
		count = len(c.job.annotations)
	}
	web := g.checkPage(c.ID)
	if c.job != nil { // a job is shown in its run
		web = c.DetailsURL
	}
	out := object{
		"id": c.ID, "name": c.Name, "node_id": nodeID("CR", c.ID),
		"head_sha": c.Head, "external_id": c.ExternalID, "url": url, "html_url": web,
		"details_url": or(c.DetailsURL, "https://github.com/apps/"+g.slugNow(c.App.Slug)), "status": c.Status,
		"conclusion": stringOrNull(c.Conclusion), "started_at": timeOrNull(c.Started),
		"completed_at": timeOrNull(c.Completed), "check_suite": object{"id": c.suite.id},
		"app": g.appJSON(c.App), "pull_requests": g.pullsAtHeadJSON(c.Head),
		"output": object{
			"title": stringOrNull(c.Title), "summary": stringOrNull(c.Summary), "text": stringOrNull(c.Text),
			"annotations_count": count, "annotations_url": url + "/annotations",
		},
	}
	return out
}

// pullsAtHeadJSON lists the open pull requests with that head, except those of forks.
func (g *wire) pullsAtHeadJSON(head string) []any {
	out := []any{}
	for _, p := range g.index.pullsFor(head) {
		if !p.closed && !p.fork && p.head == head {
			out = append(out, g.minimalPullJSON(p))
		}
	}
	return out
}

func (g *wire) suiteJSON(s *checkSuite, now time.Time) object {
	status, conclusion := g.suiteResult(s, now)
	url := fmt.Sprintf("%s/check-suites/%d", g.apiURL(), s.id)
	return object{
		"id": s.id, "node_id": nodeID("CS", s.id), "head_branch": stringOrNull(s.headBranch), "head_sha": s.head,
		"status": status, "conclusion": stringOrNull(conclusion), "url": url, "before": nil, "after": s.head,
		"pull_requests": g.pullsAtHeadJSON(s.head), "app": g.appJSON(s.app), "created_at": timeOrNull(s.created),
		"updated_at": timeOrNull(s.updatedAt(now)), "latest_check_runs_count": len(g.checksIn(s, true, now)),
		"check_runs_url": url + "/check-runs", "head_commit": g.simpleCommitJSON(g.commits[s.head]),
		"repository": g.repoJSON(g.owner), "rerequestable": true, "runs_rerequestable": s.app == actionsApp,
	}
}

func (g *wire) statusJSON(s *CommitStatus) object {
	return object{
		"url":        g.apiURL() + "/statuses/" + s.Head,
		"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", accountID(s.By)), "id": s.ID,
		"node_id": nodeID("SC", s.ID), "state": s.State, "description": stringOrNull(s.Description),
		"target_url": stringOrNull(s.TargetURL), "context": s.Context, "created_at": timeOrNull(s.At),
		"updated_at": timeOrNull(s.At), "creator": g.userJSON(s.By), "required": false,
	}
}

func (g *wire) artifactJSON(w *workflowRun, a *artifact) object {
	url := fmt.Sprintf("%s/actions/artifacts/%d", g.apiURL(), a.id)
	digest := sha256.Sum256(a.archive)
	return object{
		"id": a.id, "node_id": nodeID("A", a.id), "name": a.name, "size_in_bytes": len(a.archive), "url": url,
		"archive_download_url": url + "/zip", "expired": a.expired,
		"created_at": timeOrNull(a.created), "updated_at": timeOrNull(a.created),
		"expires_at": timeOrNull(a.created.Add(90 * 24 * time.Hour)), "digest": "sha256:" + hex.EncodeToString(digest[:]),
		"workflow_run": object{
			"id": w.id, "repository_id": g.repoID, "head_repository_id": g.repoID, "head_branch": w.headBranch, "head_sha": w.head,
		},
	}
}

func intOrNull(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// issueJSON renders a pull request as an issue.
func (g *wire) issueJSON(p *pullRequest) object {
	api, web := fmt.Sprintf("%s/issues/%d", g.apiURL(), p.number), fmt.Sprintf("%s/pull/%d", g.webURL(), p.number)
	return object{
		"id": pullID(p), "node_id": nodeID("PR", pullID(p)), "url": api, "repository_url": g.apiURL(),
		"labels_url": api + "/labels{/name}", "comments_url": api + "/comments", "events_url": api + "/events",
		"html_url": web, "number": p.number, "title": p.title, "user": g.userJSON(p.author),
		"labels": g.labelsJSON(p), "state": p.openOrClosed(), "locked": false, "assignee": nil, "assignees": []any{},
		"milestone": nil, "comments": len(p.comments), "created_at": timeOrNull(p.created),
		"updated_at": timeOrNull(p.updated), "closed_at": timeOrNull(p.closedAt), "author_association": "CONTRIBUTOR",
		"active_lock_reason": nil, "draft": p.draft, "body": stringOrNull(p.body), "reactions": reactionsJSON(api),
		"timeline_url": api + "/timeline", "performed_via_github_app": nil, "state_reason": nil,
		"pull_request": object{
			"url": fmt.Sprintf("%s/pulls/%d", g.apiURL(), p.number), "html_url": web, "diff_url": web + ".diff",
			"patch_url": web + ".patch", "merged_at": nil,
		},
	}
}

func (g *wire) labelsJSON(p *pullRequest) []object { return toObjects(p.labels, g.labelJSON) }

func (g *wire) labelJSON(name string) object {
	return object{
		"id": accountID(name), "node_id": nodeID("LA", accountID(name)), "url": g.apiURL() + "/labels/" + name,
		"name": name, "color": "ededed", "default": false, "description": "",
	}
}

func reactionsJSON(url string) object {
	return object{
		"url": url + "/reactions", "total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "hooray": 0, "confused": 0,
		"heart": 0, "rocket": 0, "eyes": 0,
	}
}

// simplePullJSON renders a pull request as the events of its reviews have it, with fewer fields.
func (g *wire) simplePullJSON(p *pullRequest) object {
	return without(
		g.pullJSON(p), "merged", "mergeable", "rebaseable", "mergeable_state", "merged_by", "comments", "review_comments",
		"maintainer_can_modify", "commits", "additions", "deletions", "changed_files",
	)
}

// toObjects converts each item with f.
func toObjects[T any](all []T, f func(T) object) []object {
	out := make([]object, 0, len(all))
	for _, x := range all {
		out = append(out, f(x))
	}
	return out
}

// graphActor returns an account as GraphQL shows it: a bot's login has no "[bot]" here.
func (g *wire) graphActor(login string) object {
	if login == "" || g.graphActors[login] != nil {
		return g.graphActors[login]
	}
	typename := "User"
	now, id := g.accountNow(login)
	short, isBot := strings.CutSuffix(now, "[bot]")
	if isBot {
		typename = "Bot"
	}
	g.graphActors[login] = object{
		"__typename": typename, "login": short, "id": nodeID(typename[:1], id), "databaseId": id, "name": short,
	}
	return g.graphActors[login]
}

// bodyChangeJSON returns what an event about an edited text has more.
func bodyChangeJSON(from string) object {
	return object{"changes": object{"body": object{"from": from}}}
}

func (g *wire) requestedTeamsJSON(p *pullRequest) []any {
	out := []any{}
	for _, team := range p.teamRequests {
		api := "https://api.github.com/organizations/1/team/1"
		out = append(out, object{
			"id": 1, "node_id": nodeID("T", 1), "name": team, "slug": team, "description": nil, "privacy": "closed",
			"notification_setting": "notifications_enabled", "permission": "push", "parent": nil, "url": api, "type": "organization",
			"html_url": "https://github.com/orgs/" + g.owner + "/teams/" + team, "members_url": api + "/members{/member}",
			"repositories_url": api + "/repos",
		})
	}
	return out
}

// stackJSON renders the stack of a layer.
func (g *wire) stackJSON(p *pullRequest) object {
	s := p.stack
	return object{
		"id": 7_000_000 + s.number, "number": s.number, "size": len(s.layers), "position": slices.Index(s.layers, p) + 1,
		"base": object{"ref": s.trunk, "sha": g.ensureBranch(s.trunk).tip},
	}
}

func (g *wire) reactionJSON(x commentReaction) object {
	return object{
		"id": x.id, "node_id": nodeID("REA", x.id), "user": g.userJSON(x.by), "content": x.content, "created_at": timeOrNull(x.at),
	}
}

// collaboratorJSON is an account with what it may do.
func (g *wire) collaboratorJSON(login string) object {
	role := or(g.permissions[strings.ToLower(login)], "read")
	if strings.EqualFold(login, g.owner) {
		role = "admin"
	}
	rank := slices.Index([]string{"none", "read", "triage", "write", "maintain", "admin"}, role)
	return g.userJSONWith(login, object{
		"permissions": object{"pull": rank > 0, "triage": rank > 1, "push": rank > 2, "maintain": rank > 3, "admin": rank > 4},
		"role_name":   role,
	})
}

func rulesJSON(rules *branchRules) []object {
	if len(rules.checks) == 0 {
		return []object{{"type": "deletion"}, {"type": "required_linear_history"}}
	}
	checks := []any{}
	for _, c := range rules.checks {
		check := object{"context": c.Name}
		if c.AppID != 0 {
			check["integration_id"] = c.AppID
		}
		checks = append(checks, check)
	}
	return []object{{"type": "required_status_checks", "parameters": object{
		"strict_required_status_checks_policy": false, "do_not_enforce_on_create": false, "required_status_checks": checks,
	}}}
}

// visibilityWord is GitHub's word for who sees the repository.
func visibilityWord(s Settings) string {
	if s.Private {
		return "private"
	}
	return "public"
}

// rulesOf are the rules of a ruleset.
func rulesOf(s RulesetSpec) []object {
	var rules []object
	if len(s.Checks) > 0 {
		rules = rulesJSON(&branchRules{checks: s.Checks})
	}
	if s.Creation {
		rules = append(rules, object{"type": "creation"})
	}
	if s.MergeQueue {
		rules = append(rules, object{"type": "merge_queue", "parameters": object{
			"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN", "max_entries_to_build": 5, "max_entries_to_merge": 5,
			"merge_method": "MERGE", "min_entries_to_merge": 1, "min_entries_to_merge_wait_minutes": 5,
		}})
	}
	return rules
}

// rulesetJSON is a ruleset as the list has it.
func (g *wire) rulesetJSON(s RulesetSpec) object {
	kind, source := g.sourceOf(s)
	return object{
		"id": s.ID, "name": s.Name, "target": "branch", "source_type": kind, "source": source, "enforcement": or(s.Enforcement, "active"),
		"node_id": nodeID("RRS", s.ID), "created_at": timeOrNull(g.createdAt), "updated_at": timeOrNull(g.createdAt),
		"_links": object{"self": object{"href": fmt.Sprintf("%s/rulesets/%d", g.apiURL(), s.ID)}, "html": nil},
	}
}

// timeOrNull returns a time as GitHub writes it, in whole seconds; null if it is zero.
func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// stringOrNull returns a string, or null if it is empty.
func stringOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
