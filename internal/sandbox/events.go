package sandbox

// The webhooks that GitHub sends of what happens in a repository. A payload is made at the moment of the change, and only
// where somebody hears of it.

import (
	"fmt"
	"strings"
	"time"
)

// emit sends an event. The caller holds the lock.
func (g *GitHub) emit(event, action, sender string, fields func() object) {
	if g.hook == nil || g.hook.hub.muted.Load() {
		return
	}
	o := fields()
	if o == nil {
		o = object{}
	}
	if action != "" {
		o["action"] = action
	}
	o["repository"], o["sender"] = g.repoJSON(g.owner), g.user(or(sender, g.owner))
	if id := g.hook.installation; id != 0 {
		o["installation"] = object{"id": id, "node_id": nodeID("MDIz", id)}
	}
	g.hook.hub.post(&Delivery{
		Event: event, Action: action, Installation: g.hook.installation, Repository: g.hook.repository, Name: g.owner + "/" + g.repo, Emitted: g.now(), Payload: render(o),
	})
}

// pullEvent sends what happened to a pull request.
func (g *GitHub) pullEvent(p *pull, action, sender string, more object) {
	g.emit("pull_request", action, sender, func() object {
		o := object{"number": p.number, "pull_request": g.pullJSON(p)}
		for name, value := range more {
			o[name] = value
		}
		return o
	})
}

// pushEvent says that a branch of the repository itself has another tip.
func (g *GitHub) pushEvent(branch, before, after, sender string, files []string) {
	if g.hook == nil {
		return
	}
	now := g.now()
	g.emit("push", "", sender, func() object {
		user := object{"name": sender, "email": sender + "@users.noreply.github.com", "username": sender}
		commit := object{
			"id": after, "tree_id": SHA("tree " + after), "distinct": true, "message": "Change", "timestamp": stamp(now), "url": g.web() + "/commit/" + after, "author": user, "committer": user,
			"added": []string{}, "removed": []string{}, "modified": files,
		}
		return object{
			"ref": "refs/heads/" + branch, "before": before, "after": after, "created": strings.Trim(before, "0") == "", "deleted": false, "forced": false, "base_ref": nil,
			"compare": g.web() + "/compare/" + before[:12] + "..." + after[:12], "commits": []any{commit}, "head_commit": commit, "pusher": object{"name": sender, "email": sender + "@users.noreply.github.com"},
		}
	})
}

// issueJSON is a pull request as an issue.
func (g *GitHub) issueJSON(p *pull) object {
	api, web := fmt.Sprintf("%s/issues/%d", g.api(), p.number), fmt.Sprintf("%s/pull/%d", g.web(), p.number)
	state := "open"
	if p.closed {
		state = "closed"
	}
	labels := []any{}
	for _, l := range p.labels {
		labels = append(labels, g.labelJSON(l))
	}
	return object{
		"id": pullID(p), "node_id": nodeID("PR", pullID(p)), "url": api, "repository_url": g.api(), "labels_url": api + "/labels{/name}", "comments_url": api + "/comments", "events_url": api + "/events",
		"html_url": web, "number": p.number, "title": p.title, "user": g.user(p.author), "labels": labels, "state": state, "locked": false, "assignee": nil, "assignees": []any{},
		"milestone": nil, "comments": len(p.comments), "created_at": stamp(p.created), "updated_at": stamp(p.updated), "closed_at": stamp(p.closedAt), "author_association": "CONTRIBUTOR",
		"active_lock_reason": nil, "draft": p.draft, "body": orNull(p.body), "reactions": reactions(api), "timeline_url": api + "/timeline", "performed_via_github_app": nil, "state_reason": nil,
		"pull_request": object{"url": fmt.Sprintf("%s/pulls/%d", g.api(), p.number), "html_url": web, "diff_url": web + ".diff", "patch_url": web + ".patch", "merged_at": nil},
	}
}

func (g *GitHub) labelJSON(name string) object {
	return object{
		"id": accountID(name), "node_id": nodeID("LA", accountID(name)), "url": g.api() + "/labels/" + name, "name": name, "color": "ededed", "default": false, "description": nil,
	}
}

func reactions(url string) object {
	return object{"url": url + "/reactions", "total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "hooray": 0, "confused": 0, "heart": 0, "rocket": 0, "eyes": 0}
}

func (g *GitHub) commentEvent(p *pull, c *comment, action, sender string, changes object) {
	g.emit("issue_comment", action, sender, func() object {
		shown := g.commentJSON(p, c)
		shown["reactions"] = reactions(shown["url"].(string))
		o := object{"issue": g.issueJSON(p), "comment": shown}
		if changes != nil {
			o["changes"] = changes
		}
		return o
	})
}

// reviewEvent sends a review. Webhooks write its state in lower case.
func (g *GitHub) reviewEvent(p *pull, v *review, action, sender string, changes object) {
	g.emit("pull_request_review", action, sender, func() object {
		shown := g.reviewJSON(p, v)
		shown["state"], shown["body"] = strings.ToLower(v.state), orNull(v.body)
		o := object{"review": shown, "pull_request": g.simplePull(p)}
		if changes != nil {
			o["changes"] = changes
		}
		return o
	})
}

// simplePull is a pull request as the events of its reviews have it.
func (g *GitHub) simplePull(p *pull) object {
	o := g.pullJSON(p)
	for _, missing := range []string{
		"merged", "mergeable", "rebaseable", "mergeable_state", "merged_by", "comments", "review_comments", "maintainer_can_modify", "commits", "additions", "deletions", "changed_files",
	} {
		delete(o, missing)
	}
	return o
}

func (g *GitHub) reviewCommentEvent(p *pull, t *thread, c *reviewComment) {
	g.emit("pull_request_review_comment", "created", c.by, func() object {
		return object{"comment": g.hookComment(p, t, c), "pull_request": g.simplePull(p)}
	})
}

// hookComment is a comment on the diff with what only webhooks say of it.
func (g *GitHub) hookComment(p *pull, t *thread, c *reviewComment) object {
	o := g.reviewCommentJSON(p, t, c)
	o["reactions"] = reactions(o["url"].(string))
	for _, name := range []string{"line", "original_line", "position", "original_position"} {
		if _, has := o[name]; !has {
			o[name] = nil
		}
	}
	return o
}

func (g *GitHub) threadEvent(p *pull, t *thread, action, sender string) {
	g.emit("pull_request_review_thread", action, sender, func() object {
		comments := []any{}
		for _, c := range t.comments {
			comments = append(comments, g.hookComment(p, t, c))
		}
		return object{"thread": object{"node_id": nodeID("PRRT", t.comments[0].id), "comments": comments}, "pull_request": g.simplePull(p)}
	})
}

// runEvent sends what happened to a workflow run: its newest attempt, which lists may not show yet.
func (g *GitHub) runEvent(r *run, action string) {
	g.emit("workflow_run", action, r.last().by, func() object {
		return object{"workflow_run": g.runJSON(r, r.last(), true), "workflow": g.workflowJSON(r)}
	})
}

// jobEvents send the check runs of the jobs of the newest attempt.
func (g *GitHub) jobEvents(r *run, action string, of func(*job) bool) {
	if g.hook == nil {
		return
	}
	for _, j := range r.last().jobs {
		if j.attempt == r.last().number && of(j) {
			g.checkEvent(g.jobView(r, j), action)
		}
	}
}

// moved sends what a run's newest attempt came to since it was as before says.
func (g *GitHub) moved(r *run, before string) {
	a := r.last()
	switch {
	case g.hook == nil || a.status == before:
	case a.status == "in_progress":
		g.runEvent(r, "in_progress")
	case a.status == "completed":
		g.jobEvents(r, "completed", func(j *job) bool { return j.completed.Equal(a.finished) })
		g.suiteEvent(r.suite, "completed")
		g.runEvent(r, "completed")
	}
}

// checkEvent sends a check run, be it a job, one of another App, or ours.
func (g *GitHub) checkEvent(c checkView, action string) {
	g.emit("check_run", action, c.App.Slug+"[bot]", func() object {
		shown := g.checkJSON(c)
		suite := g.suiteJSON(c.suite, g.now())
		for _, missing := range []string{"latest_check_runs_count", "check_runs_url", "head_commit", "rerequestable", "runs_rerequestable"} {
			delete(suite, missing)
		}
		delete(suite, "repository")
		shown["check_suite"] = suite
		if c.Started.IsZero() { // a job that waits
			shown["started_at"] = stamp(c.Created)
		}
		return object{"check_run": shown}
	})
}

// checked sends what a check run that was written through the API came to.
func (g *GitHub) checked(c *CheckRun, isNew, completed bool) {
	if g.hook == nil {
		return
	}
	view := checkView{CheckRun: c}
	if isNew {
		g.checkEvent(view, "created")
	}
	if !completed {
		return
	}
	g.checkEvent(view, "completed")
	if status, _ := g.rollup(c.suite, g.now()); status == "completed" && c.suite.run == nil {
		g.suiteEvent(c.suite, "completed")
	}
}

func (g *GitHub) suiteEvent(s *suite, action string) {
	g.emit("check_suite", action, s.app.Slug+"[bot]", func() object {
		o := g.suiteJSON(s, g.now())
		if s.run != nil { // the newest attempt, which lists may not show yet
			o["status"], o["conclusion"] = s.run.last().status, orNull(s.run.last().conclusion)
		}
		delete(o, "repository")
		return object{"check_suite": o}
	})
}

func (g *GitHub) statusEvent(s *Status) {
	g.emit("status", "", s.By, func() object {
		branches := []any{}
		for _, p := range g.find.pullsFor(s.Head) {
			if p.head == s.Head && !p.fork {
				branches = append(branches, object{"name": p.branch, "commit": object{"sha": p.head, "url": g.api() + "/commits/" + p.head}, "protected": false})
			}
		}
		return object{
			"id": s.ID, "sha": s.Head, "name": g.owner + "/" + g.repo, "avatar_url": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d?v=4", accountID(s.By)), "target_url": orNull(s.TargetURL),
			"context": s.Context, "description": orNull(s.Description), "state": s.State, "commit": g.commitJSON(g.commits[s.Head]), "branches": branches,
			"created_at": s.At.UTC().Format(time.RFC3339), "updated_at": s.At.UTC().Format(time.RFC3339),
		}
	})
}
