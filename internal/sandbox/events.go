package sandbox

// Webhooks about changes in a repository. A payload is rendered at the moment of the change, and only if a Hub
// delivers it.

import (
	"fmt"
	"maps"
	"strings"
	"time"
)

// An announcer sends webhooks.
type announcer struct {
	wire
	webhook *webhookTarget // receives the repository's events; nil: none are sent
}

// emitEvent sends an event. The caller holds the lock.
func (g *announcer) emitEvent(event, action, sender string, fields func() object) {
	if g.webhook == nil || g.webhook.hub.muted.Load() {
		return
	}
	o := fields()
	if o == nil {
		o = object{}
	}
	if action != "" {
		o["action"] = action
	}
	o["repository"], o["sender"] = g.repoJSON(g.owner), g.userJSON(or(sender, g.owner))
	if id := g.webhook.installation; id != 0 {
		o["installation"] = object{"id": id, "node_id": nodeID("MDIz", id)}
	}
	g.webhook.hub.queueEvent(&HookDelivery{
		Event: event, Action: action, Installation: g.webhook.installation, Repository: g.webhook.repository,
		Name: g.owner + "/" + g.repo, Emitted: g.now(), Payload: renderJSON(o),
	})
}

// emitPullEvent sends a pull_request event.
func (g *announcer) emitPullEvent(p *pullRequest, action, sender string, more object) {
	g.emitEvent("pull_request", action, sender, func() object {
		o := object{"number": p.number, "pull_request": g.pullJSON(p)}
		maps.Copy(o, more)
		return o
	})
}

// emitPushEvent sends a push event: a branch of the repository itself has another tip.
func (g *announcer) emitPushEvent(branch, before, after, sender string, files []string) {
	if g.webhook == nil {
		return
	}
	now := g.now()
	g.emitEvent("push", "", sender, func() object {
		user := object{"name": sender, "email": sender + "@users.noreply.github.com", "username": sender}
		commit := object{
			"id": after, "tree_id": SHA("tree " + after), "distinct": true, "message": "Change",
			"timestamp": timeOrNull(now), "url": g.webURL() + "/commit/" + after, "author": user, "committer": user,
			"added": []string{}, "removed": []string{}, "modified": files,
		}
		return object{
			"ref": "refs/heads/" + branch, "before": before, "after": after,
			"created": strings.Trim(before, "0") == "", "deleted": false, "forced": false, "base_ref": nil,
			"compare": g.webURL() + "/compare/" + before[:12] + "..." + after[:12], "commits": []any{commit},
			"head_commit": commit, "pusher": object{"name": sender, "email": sender + "@users.noreply.github.com"},
		}
	})
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

func (g *announcer) emitCommentEvent(c *issueComment, action, sender string, more object) {
	g.emitEvent("issue_comment", action, sender, func() object {
		shown := g.commentJSON(c)
		shown["reactions"] = reactionsJSON(shown["url"].(string))
		o := object{"issue": g.issueJSON(c.pull), "comment": shown}
		maps.Copy(o, more)
		return o
	})
}

// emitReviewEvent sends a pull_request_review event, in which the review's state is in lower case.
func (g *announcer) emitReviewEvent(v *review, action, sender string, more object) {
	g.emitEvent("pull_request_review", action, sender, func() object {
		shown := g.reviewJSON(v)
		shown["state"], shown["body"] = strings.ToLower(v.state), stringOrNull(v.body)
		o := object{"review": shown, "pull_request": g.simplePullJSON(v.pull)}
		maps.Copy(o, more)
		return o
	})
}

// simplePullJSON renders a pull request as the events of its reviews have it, with fewer fields.
func (g *wire) simplePullJSON(p *pullRequest) object {
	return without(
		g.pullJSON(p), "merged", "mergeable", "rebaseable", "mergeable_state", "merged_by", "comments", "review_comments",
		"maintainer_can_modify", "commits", "additions", "deletions", "changed_files",
	)
}

func (g *announcer) emitReviewCommentEvent(c *reviewComment) {
	g.emitEvent("pull_request_review_comment", "created", c.author, func() object {
		return object{"comment": g.webhookCommentJSON(c), "pull_request": g.simplePullJSON(c.thread.pull)}
	})
}

// webhookCommentJSON renders a comment on the diff with the fields that only webhooks have.
func (g *announcer) webhookCommentJSON(c *reviewComment) object {
	o := g.reviewCommentJSON(c)
	o["reactions"] = reactionsJSON(o["url"].(string))
	for _, name := range []string{"line", "original_line", "position", "original_position"} {
		if _, has := o[name]; !has {
			o[name] = nil
		}
	}
	return o
}

func (g *announcer) emitThreadEvent(t *reviewThread, action, sender string) {
	g.emitEvent("pull_request_review_thread", action, sender, func() object {
		comments := []any{}
		for _, c := range t.comments {
			comments = append(comments, g.webhookCommentJSON(c))
		}
		return object{
			"thread":       object{"node_id": nodeID("PRRT", t.comments[0].id), "comments": comments},
			"pull_request": g.simplePullJSON(t.pull),
		}
	})
}

// emitRunEvent sends a workflow_run event about the newest attempt, which lists may not show yet.
func (g *announcer) emitRunEvent(r *workflowRun, action string) {
	g.emitEvent("workflow_run", action, r.newestAttempt().triggeredBy, func() object {
		return object{"workflow_run": g.runJSON(r, r.newestAttempt(), true), "workflow": g.workflowJSON(r)}
	})
}

// emitJobEvents sends a check_run event for each job of the newest attempt that of selects.
func (g *announcer) emitJobEvents(r *workflowRun, action string, of func(*job) bool) {
	if g.webhook == nil {
		return
	}
	for _, j := range r.newestAttempt().jobs {
		if j.attempt == r.newestAttempt().number && of(j) {
			g.emitCheckEvent(g.jobView(j), action)
		}
	}
}

// emitRunProgress sends the events of a run's newest attempt if its status is no longer the one before.
func (g *announcer) emitRunProgress(r *workflowRun, before string) {
	a := r.newestAttempt()
	switch {
	case g.webhook == nil || a.status == before:
	case a.status == "in_progress":
		g.emitRunEvent(r, "in_progress")
	case a.status == "completed":
		g.emitJobEvents(r, "completed", func(j *job) bool { return j.completed.Equal(a.finishedAt) })
		g.emitSuiteEvent(r.suite, "completed")
		g.emitRunEvent(r, "completed")
	}
}

// emitCheckEvent sends a check_run event about a job, a check run of another App, or one of ours.
func (g *announcer) emitCheckEvent(c checkView, action string) {
	g.emitCheckRunEvent(c, action, c.App.Slug+"[bot]", nil)
}

func (g *announcer) emitCheckRunEvent(c checkView, action, sender string, more object) {
	g.emitEvent("check_run", action, sender, func() object {
		shown := g.checkJSON(c)
		shown["check_suite"] = without(
			g.suiteJSON(c.suite, g.now()), "latest_check_runs_count", "check_runs_url", "head_commit", "rerequestable",
			"runs_rerequestable", "repository",
		)
		if c.Started.IsZero() { // a job that waits
			shown["started_at"] = timeOrNull(c.Created)
		}
		o := object{"check_run": shown}
		maps.Copy(o, more)
		return o
	})
}

// emitCheckProgress sends the events of a check run that was written through the API.
func (g *announcer) emitCheckProgress(c *StoredCheckRun, isNew, completed bool) {
	if g.webhook == nil {
		return
	}
	view := checkView{StoredCheckRun: c}
	if isNew {
		g.emitCheckEvent(view, "created")
	}
	if !completed {
		return
	}
	g.emitCheckEvent(view, "completed")
	if status, _ := g.suiteResult(c.suite, g.now()); status == "completed" && c.suite.run == nil {
		g.emitSuiteEvent(c.suite, "completed")
	}
}

func (g *announcer) emitSuiteEvent(s *checkSuite, action string) {
	g.emitEvent("check_suite", action, s.app.Slug+"[bot]", func() object {
		o := g.suiteJSON(s, g.now())
		if s.run != nil { // the newest attempt, which lists may not show yet
			o["status"], o["conclusion"] = s.run.newestAttempt().status, stringOrNull(s.run.newestAttempt().conclusion)
		}
		delete(o, "repository")
		return object{"check_suite": o}
	})
}

func (g *announcer) emitStatusEvent(s *CommitStatus) {
	g.emitEvent("status", "", s.By, func() object {
		branches := []any{}
		for _, p := range g.index.pullsFor(s.Head) {
			if p.head == s.Head && !p.fork {
				branches = append(
					branches,
					object{
						"name": p.headBranch, "commit": object{"sha": p.head, "url": g.apiURL() + "/commits/" + p.head},
						"protected": false,
					},
				)
			}
		}
		return object{
			"id": s.ID, "sha": s.Head, "name": g.owner + "/" + g.repo,
			"avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", accountID(s.By)),
			"target_url": stringOrNull(s.TargetURL), "context": s.Context, "description": stringOrNull(s.Description),
			"state": s.State, "commit": g.commitJSON(g.commits[s.Head]), "branches": branches,
			"created_at": s.At.UTC().Format(time.RFC3339), "updated_at": s.At.UTC().Format(time.RFC3339),
		}
	})
}

// emitGroupEvent sends a merge_group event.
func (g *announcer) emitGroupEvent(e *queueEntry, action string, more object) {
	head, base, branch := e.head, e.base, e.branchName()
	g.emitEvent("merge_group", action, e.by, func() object {
		who := object{"name": "GitHub", "email": "noreply@github.com"}
		o := object{"merge_group": object{
			"head_sha": head, "head_ref": "refs/heads/" + branch, "base_sha": base, "base_ref": "refs/heads/" + e.pull.baseBranch,
			"head_commit": object{
				"id": head, "tree_id": SHA("tree " + head), "message": fmt.Sprintf("Merge pull request #%d", e.pull.number),
				"timestamp": timeOrNull(g.now()), "author": who, "committer": who,
			},
		}}
		maps.Copy(o, more)
		return o
	})
}
