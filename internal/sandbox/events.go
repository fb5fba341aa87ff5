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

// A hookSender is the Hub, as a repository sees it.
type hookSender interface {
	isMuted() bool
	queueEvent(d *HookDelivery)
	notifyDueChanged() // something may become due sooner than it knows
}

// emitEvent sends an event. The caller holds the lock.
func (g *announcer) emitEvent(event, action, sender string, fields func() object) {
	if g.webhook == nil || g.webhook.hub.isMuted() {
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

// emitFilePush sends a push event for changed files on a branch of the repository itself. The branch's tip keeps its
// id.
func (g *announcer) emitFilePush(path, ref string) {
	if ref = or(ref, g.defaultBranch); g.webhook != nil && g.branches[ref] != nil {
		g.emitPushEvent(ref, g.branches[ref].tip, SHA(fmt.Sprintf("push %d to %s", g.newID(), ref)), g.owner, []string{path})
	}
}

// A HookDelivery is a webhook that was sent, or is to be.
type HookDelivery struct {
	ID           int64
	GUID         string // X-GitHub-Delivery: a redelivery has that of the first
	Event        string
	Action       string
	Installation int64
	Repository   int64     // id; 0 for none
	Name         string    // of the repository, as owner/name; "" for none
	Emitted      time.Time // when it happened
	Redelivery   bool
	Payload      []byte // nil for an old one that arrived

	Delivered time.Time     // when it was tried; zero: not yet
	Duration  time.Duration // how long that took
	Status    string        // OK, or what went wrong
	Code      int           // of the answer; 0: there was none

	fate Fate
}

// Fate says how a delivery is disturbed on its way.
type Fate struct {
	Lost  bool          // it is not sent, and GitHub does not know that: it is in no list
	Drop  bool          // it is not sent, and is listed as one that could not connect
	Delay time.Duration // it comes so much later
}

// webhookTarget is the receiver of a repository's events.
type webhookTarget struct {
	hub          hookSender
	installation int64
	repository   int64
}

// emitBaseChange sends the event of a changed base; ref and sha are the old ones.
func (g *announcer) emitBaseChange(p *pullRequest, ref, sha, by string) {
	g.emitPullEvent(
		p, "edited", or(by, p.author),
		object{"changes": object{"base": object{"ref": object{"from": ref}, "sha": object{"from": sha}}}},
	)
}

func (g *announcer) emitReviewRequested(p *pullRequest, login, by string) {
	g.emitPullEvent(p, "review_requested", by, object{"requested_reviewer": g.requesteeJSON(login)})
}

// emitRunStart sends the events of a new run, and those of its progress if it has begun or ended already.
func (g *announcer) emitRunStart(r *workflowRun) {
	g.emitRunEvent(r, "requested")
	g.emitJobEvents(r, "created", everyJob)
	g.emitRunProgress(r, "queued")
}
