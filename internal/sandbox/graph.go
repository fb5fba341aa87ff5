package sandbox

// The repository as GraphQL shows it. The names are GitHub's; what is costly to work out is so only when it is asked for.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// interfaces says which other types an object answers to in a fragment.
var interfaces = map[string][]string{
	"Bot":  {"Actor", "Node", "RequestedReviewer", "UniformResourceLocatable"},
	"User": {"Actor", "Node", "RequestedReviewer", "ProfileOwner", "UniformResourceLocatable"},

	"PullRequest": {"Node", "Closable", "Comment", "Labelable", "IssueOrPullRequest"},
	"Repository":  {"Node", "RepositoryInfo"},
	"Commit":      {"Node", "GitObject"},
	"Blob":        {"Node", "GitObject"},

	"IssueComment":             {"Node", "Comment", "PullRequestTimelineItems"},
	"PullRequestReview":        {"Node", "Comment", "PullRequestTimelineItems"},
	"PullRequestReviewComment": {"Node", "Comment"},
	"PullRequestReviewThread":  {"Node", "PullRequestTimelineItems"},
	"CheckRun":                 {"Node", "RequirableByPullRequest", "StatusCheckRollupContext"},
	"StatusContext":            {"Node", "RequirableByPullRequest", "StatusCheckRollupContext"},
}

// typenames are the timeline's types, by REST's names.
var typenames = map[string]string{
	"automatic_base_change_succeeded": "AutomaticBaseChangeSucceededEvent",
	"base_ref_changed":                "BaseRefChangedEvent", "closed": "ClosedEvent", "convert_to_draft": "ConvertToDraftEvent", "head_ref_force_pushed": "HeadRefForcePushedEvent",
	"labeled": "LabeledEvent", "ready_for_review": "ReadyForReviewEvent", "reopened": "ReopenedEvent", "review_dismissed": "ReviewDismissedEvent",
	"review_requested": "ReviewRequestedEvent", "unlabeled": "UnlabeledEvent",
}

// actor is an account: a bot's login has no "[bot]" here.
func (g *GitHub) actor(login string) object {
	if login == "" || g.actors[login] != nil {
		return g.actors[login]
	}
	typename, short := "User", login
	if slug, bot := strings.CutSuffix(login, "[bot]"); bot {
		typename, short = "Bot", slug
	}
	kind := string(typename[0])
	g.actors[login] = object{
		"__typename": typename, "login": short, "id": nodeID(kind, accountID(login)), "databaseId": accountID(login), "url": "https://github.com/" + short,
		"resourcePath": "/" + short, "avatarUrl": fmt.Sprintf("https://avatars.githubusercontent.com/u/%d", accountID(login)), "name": short,
	}
	return g.actors[login]
}

func (g *GitHub) graphRoot(r *call) object {
	limits := g.budget.state()
	return object{
		"__typename": "Query",
		"viewer":     g.actor(g.me()),
		"rateLimit": object{
			"__typename": "RateLimit", "limit": limits.limit, "cost": 1, "used": limits.usedGQL, "remaining": max(limits.limit-limits.usedGQL, 0), "resetAt": stamp(limits.reset), "nodeCount": 0,
		},
		"repository": resolver(func(args object) (any, *graphError) {
			owner, name := fmt.Sprint(args["owner"]), fmt.Sprint(args["name"])
			if !strings.EqualFold(owner, g.owner) || !strings.EqualFold(name, g.repo) {
				return nil, &graphError{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a Repository with the name '%s/%s'.", owner, name)}
			}
			return g.graphRepo(r), nil
		}),
	}
}

func (g *GitHub) graphRepo(r *call) object {
	id := g.repoID
	return object{
		"__typename": "Repository", "id": nodeID("R", id), "databaseId": id, "name": g.repo, "nameWithOwner": g.owner + "/" + g.repo, "owner": g.actor(g.owner), "isFork": false,
		"isPrivate": false, "isArchived": false, "url": g.web(), "mergeQueue": nil,
		"defaultBranchRef": func() object { return g.graphRef(g.defaultBranch, g.branch(g.defaultBranch).tip, r) },
		"ref": resolver(func(args object) (any, *graphError) {
			name := strings.TrimPrefix(fmt.Sprint(args["qualifiedName"]), "refs/heads/")
			if g.branches[name] == nil {
				return nil, nil
			}
			return g.graphRef(name, g.branches[name].tip, r), nil
		}),
		"object": resolver(func(args object) (any, *graphError) {
			ref, byID := args["oid"].(string)
			if !byID {
				ref, _ = args["expression"].(string)
			}
			if c := g.commits[g.resolve(ref)]; c != nil {
				return g.graphCommit(c, r), nil
			}
			if file, found := strings.CutPrefix(ref, "HEAD:"); found && !byID {
				if content, there := g.content(file, ""); there {
					return object{"__typename": "Blob", "oid": blobID(content)}, nil
				}
			}
			return nil, nil
		}),
		"pullRequest": resolver(func(args object) (any, *graphError) {
			n, _ := args["number"].(float64)
			if p := g.pulls[int(n)]; p != nil {
				return g.graphPull(p, r), nil
			}
			return nil, &graphError{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.", int(n))}
		}),
		"pullRequests": connection(func(args object) []object {
			var all []object
			for _, p := range g.find.ordered {
				state := strings.ToUpper(g.stateOf(p))
				if head, given := args["headRefName"].(string); given && head != p.branch || !wanted(args["states"], state) {
					continue
				}
				all = append(all, g.graphPull(p, r))
			}
			return all
		}),
	}
}

// wanted says whether a list of enums, or none, has the value.
func wanted(list any, value string) bool {
	switch list := list.(type) {
	case []any:
		return slices.Contains(list, any(value))
	case string:
		return list == value
	default:
		return true
	}
}

func (g *GitHub) stateOf(p *pull) string {
	switch {
	case p.merged:
		return "merged"
	case p.closed:
		return "closed"
	default:
		return "open"
	}
}

func (g *GitHub) graphRef(name, tip string, r *call) object {
	return object{
		"__typename": "Ref", "id": "REF_" + name, "name": name, "prefix": "refs/heads/", "target": func() object { return g.graphCommit(g.commits[tip], r) },
		"branchProtectionRule": nil,
	}
}

func (g *GitHub) oid(sha string) object {
	return object{"__typename": "Commit", "id": "C_" + sha, "oid": sha, "abbreviatedOid": sha[:7], "url": g.web() + "/commit/" + sha}
}

func (g *GitHub) graphPull(p *pull, r *call) object {
	base := g.branches[p.base]
	return object{
		"__typename": "PullRequest", "id": nodeID("PR", pullID(p)), "databaseId": pullID(p), "fullDatabaseId": fmt.Sprint(pullID(p)), "number": p.number, "title": p.title,
		"body": p.body, "url": fmt.Sprintf("%s/pull/%d", g.web(), p.number), "state": strings.ToUpper(g.stateOf(p)), "closed": p.closed, "merged": p.merged, "isDraft": p.draft,
		"isCrossRepository": p.fork, "author": g.actor(p.author), "authorAssociation": "CONTRIBUTOR", "headRefName": p.branch, "headRefOid": p.head, "baseRefName": p.base, "baseRefOid": p.baseSHA,
		"createdAt": stamp(p.created), "updatedAt": stamp(p.updated), "closedAt": stamp(p.closedAt), "changedFiles": max(len(p.files), p.changed), "additions": len(p.files), "deletions": len(p.files),
		"mergeable": "MERGEABLE", "mergeQueueEntry": nil, "isInMergeQueue": false, "reviewDecision": nil,
		"potentialMergeCommit": func() object { return g.graphCommit(g.commits[MergeSHA(p.head)], r) },
		"headRepository":       object{"__typename": "Repository", "nameWithOwner": p.owner + "/" + g.repo, "name": g.repo, "isFork": p.fork, "owner": g.actor(p.owner)},
		"headRef":              func() object { return g.graphRef(p.branch, p.head, r) },
		"baseRef":              func() object { return g.graphRef(base.name, base.tip, r) },
		"statusCheckRollup":    func() object { return g.graphRollup(p.head, r) },
		"labels": connection(func(object) []object {
			return each(p.labels, func(l string) object {
				return object{"__typename": "Label", "id": nodeID("LA", accountID(l)), "name": l, "color": "ededed", "description": nil}
			})
		}),
		"files": connection(func(object) []object {
			return each(p.files, func(f File) object {
				change := strings.ToUpper(or(f.Status, "modified"))
				if f.Previous != "" && f.Status == "" {
					change = "RENAMED"
				}
				return object{"__typename": "PullRequestChangedFile", "path": f.Path, "additions": 1, "deletions": 1, "changeType": change}
			})
		}),
		"reviewRequests": connection(func(object) []object {
			open := slices.DeleteFunc(slices.Clone(p.requested), func(q *request) bool { return q.done })
			return each(open, func(q *request) object {
				return object{"__typename": "ReviewRequest", "id": "RR_" + q.login, "databaseId": accountID(q.login), "asCodeOwner": false, "requestedReviewer": g.actor(q.login)}
			})
		}),
		"comments": connection(func(object) []object {
			return each(p.comments, func(c *comment) object { return g.graphComment(p, c) })
		}),
		"reviews": connection(func(args object) []object {
			all := slices.DeleteFunc(slices.Clone(p.reviews), func(v *review) bool { return !wanted(args["states"], v.state) })
			return each(all, func(v *review) object { return g.graphReview(p, v) })
		}),
		"reviewThreads": connection(func(object) []object {
			return each(p.threads, func(t *thread) object { return g.graphThread(p, t) })
		}),
		"timelineItems": connection(func(args object) []object { return g.graphTimeline(p, args, r) }),
		"commits": connection(func(object) []object {
			return each(p.listed, func(sha string) object {
				return object{"__typename": "PullRequestCommit", "id": "PURC_" + sha, "url": fmt.Sprintf("%s/pull/%d/commits/%s", g.web(), p.number, sha), "commit": func() object { return g.graphCommit(g.commits[sha], r) }}
			})
		}),
	}
}

// each turns things into objects.
func each[T any](all []T, f func(T) object) []object {
	out := make([]object, 0, len(all))
	for _, x := range all {
		out = append(out, f(x))
	}
	return out
}

// edited adds who changed a text last, and when.
func (g *GitHub) edited(o object, editor string, at time.Time) object {
	o["editor"], o["lastEditedAt"], o["includesCreatedEdit"] = nil, nil, editor != ""
	if editor != "" {
		o["editor"], o["lastEditedAt"] = g.actor(editor), stamp(at)
	}
	return o
}

func (g *GitHub) graphComment(p *pull, c *comment) object {
	return g.edited(object{
		"__typename": "IssueComment", "id": nodeID("IC", c.id), "databaseId": c.id, "fullDatabaseId": fmt.Sprint(c.id), "author": g.actor(c.by), "authorAssociation": "NONE", "body": c.body,
		"createdAt": stamp(c.created), "updatedAt": stamp(c.updated), "isMinimized": false, "url": fmt.Sprintf("%s/pull/%d#issuecomment-%d", g.web(), p.number, c.id),
	}, c.editor, c.edited)
}

func (g *GitHub) graphReview(p *pull, v *review) object {
	return g.edited(object{
		"__typename": "PullRequestReview", "id": nodeID("PRR", v.id), "databaseId": v.id, "fullDatabaseId": fmt.Sprint(v.id), "author": g.actor(v.by), "authorAssociation": "NONE",
		"body": v.body, "state": v.state, "commit": g.oid(v.commit), "submittedAt": stamp(v.submitted), "createdAt": stamp(v.submitted), "updatedAt": stamp(later(v.submitted, v.edited)),
		"isMinimized": false, "url": fmt.Sprintf("%s/pull/%d#pullrequestreview-%d", g.web(), p.number, v.id),
		"comments": connection(func(object) []object {
			return each(p.reviewComments(v.id), func(c placed) object { return g.graphReviewComment(p, c) })
		}),
	}, v.editor, v.edited)
}

func (g *GitHub) graphThread(p *pull, t *thread) object {
	o := object{
		"__typename": "PullRequestReviewThread", "id": nodeID("PRRT", t.comments[0].id), "isResolved": t.resolved != "", "resolvedBy": g.actor(t.resolved), "isOutdated": t.outdated,
		"isCollapsed": t.resolved != "" || t.outdated, "path": t.path, "line": zeroNull(t.line), "originalLine": zeroNull(t.line), "startLine": nil, "originalStartLine": nil, "diffSide": "RIGHT",
		"subjectType": "LINE",
		"comments": connection(func(object) []object {
			return each(t.comments, func(c *reviewComment) object { return g.graphReviewComment(p, placed{t, c}) })
		}),
	}
	if t.line == 0 {
		o["subjectType"] = "FILE"
	}
	if t.outdated {
		o["line"] = nil
	}
	return o
}

func (g *GitHub) graphReviewComment(p *pull, c placed) object {
	t, opened := c.thread, c.thread.comments[0]
	o := g.edited(object{
		"__typename": "PullRequestReviewComment", "id": nodeID("PRRC", c.comment.id), "databaseId": c.comment.id, "fullDatabaseId": fmt.Sprint(c.comment.id), "author": g.actor(c.comment.by),
		"authorAssociation": "NONE", "body": c.comment.body, "path": t.path, "line": zeroNull(t.line), "originalLine": zeroNull(t.line), "outdated": t.outdated, "isMinimized": false,
		"createdAt": stamp(c.comment.created), "updatedAt": stamp(later(c.comment.created, c.comment.edited)), "publishedAt": stamp(c.comment.created), "state": "SUBMITTED", "replyTo": nil,
		"commit": g.oid(p.shownAt(t, c.comment)), "originalCommit": g.oid(c.comment.commit), "diffHunk": "@@ -1 +1 @@", "subjectType": "LINE",
		"url": fmt.Sprintf("%s/pull/%d#discussion_r%d", g.web(), p.number, c.comment.id),
	}, c.comment.editor, c.comment.edited)
	if t.outdated {
		o["line"] = nil
	}
	if c.comment != opened {
		o["replyTo"] = object{"__typename": "PullRequestReviewComment", "id": nodeID("PRRC", opened.id), "databaseId": opened.id, "fullDatabaseId": fmt.Sprint(opened.id)}
	}
	for _, v := range p.reviews {
		if v.id == c.comment.review {
			o["pullRequestReview"] = func() object { return g.graphReview(p, v) }
		}
	}
	return o
}

// graphTimeline lists what happened, and on demand what was said: comments, reviews and commits are items of it too.
func (g *GitHub) graphTimeline(p *pull, args object, r *call) []object {
	type item struct {
		at time.Time
		o  object
	}
	var all []item
	asked := func(typename string) bool { return wanted(args["itemTypes"], itemType(typename)) }
	for _, h := range p.timeline {
		if asked(typenames[h.kind]) {
			all = append(all, item{h.at, g.graphHappening(p, h)})
		}
	}
	if asked("IssueComment") {
		for _, c := range p.comments {
			all = append(all, item{c.created, g.graphComment(p, c)})
		}
	}
	if asked("PullRequestReview") {
		for _, v := range p.reviews {
			all = append(all, item{v.submitted, g.graphReview(p, v)})
		}
	}
	if asked("PullRequestCommit") {
		for _, sha := range p.listed {
			all = append(all, item{g.commits[sha].pushed, object{"__typename": "PullRequestCommit", "id": "PURC_" + sha, "commit": func() object { return g.graphCommit(g.commits[sha], r) }}})
		}
	}
	slices.SortStableFunc(all, func(a, b item) int { return a.at.Compare(b.at) })
	return each(all, func(i item) object { return i.o })
}

// itemType is a type's name as itemTypes has it: BaseRefChangedEvent is BASE_REF_CHANGED_EVENT.
func itemType(typename string) string {
	var b strings.Builder
	for i, c := range typename {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToUpper(b.String())
}

func (g *GitHub) graphHappening(p *pull, h *happening) object {
	o := object{"__typename": typenames[h.kind], "id": nodeID("EV", h.id), "createdAt": stamp(h.at), "actor": g.actor(h.by)}
	switch h.kind {
	case "review_requested":
		o["requestedReviewer"] = g.actor(h.login)
	case "automatic_base_change_succeeded":
		o["oldBase"], o["newBase"] = h.old, h.new
	case "base_ref_changed":
		o["previousRefName"], o["currentRefName"], o["databaseId"] = h.old, h.new, h.id
	case "head_ref_force_pushed":
		o["beforeCommit"], o["afterCommit"] = g.oid(h.old), g.oid(h.new)
	case "labeled", "unlabeled":
		o["label"] = object{"__typename": "Label", "name": h.label}
	case "review_dismissed":
		o["databaseId"], o["previousReviewState"], o["dismissalMessage"], o["review"] = h.id, strings.ToUpper(h.state), nil, nil
		for _, v := range p.reviews {
			if v.id == h.review {
				o["review"] = func() object { return g.graphReview(p, v) }
			}
		}
	}
	return o
}

func (g *GitHub) graphCommit(c *commit, r *call) object {
	if c == nil {
		return nil
	}
	who := func(login string) object {
		return object{"__typename": "GitActor", "name": login, "email": login + "@users.noreply.github.com", "date": stamp(c.pushed), "user": g.graphUser(login)}
	}
	o := object{
		"message": c.text(), "messageHeadline": c.message, "committedDate": stamp(c.pushed), "authoredDate": stamp(c.pushed), "pushedDate": nil,
		"author": who(c.author), "committer": who(c.committer), "committedViaWeb": false, "authoredByCommitter": c.author == c.committer,
		"statusCheckRollup": func() object { return g.graphRollup(c.sha, r) },
		"authors": connection(func(object) []object {
			return each(append([]string{c.author}, c.coauthors...), who)
		}),
		"parents": connection(func(object) []object { return each(c.parents, g.oid) }),
		"associatedPullRequests": connection(func(object) []object {
			all := slices.DeleteFunc(g.find.pullsFor(c.sha), func(p *pull) bool { return !slices.Contains(p.listed, c.sha) })
			return each(all, func(p *pull) object { return g.graphPull(p, r) })
		}),
		"checkSuites": connection(func(args object) []object {
			filter, _ := args["filterBy"].(object)
			all := slices.DeleteFunc(g.suitesOn(c.sha), func(s *suite) bool {
				app, byApp := filter["appId"].(float64)
				name, byName := filter["checkName"].(string)
				return byApp && int64(app) != s.app.ID ||
					byName && !slices.ContainsFunc(g.checksIn(s, false, r.now), func(c checkView) bool { return c.Name == name })
			})
			return each(all, func(s *suite) object { return g.graphSuite(s, r) })
		}),
	}
	maps.Copy(o, g.oid(c.sha))
	return o
}

// graphUser is the account behind a git identity. There, and only there, GraphQL shows a bot as a User and with its
// "[bot]".
func (g *GitHub) graphUser(login string) object {
	o := g.actor(login)
	if strings.HasSuffix(login, "[bot]") {
		o = maps.Clone(o)
		o["__typename"], o["login"] = "User", login
	}
	return o
}

func (g *GitHub) graphSuite(s *suite, r *call) object {
	status, conclusion := g.rollup(s, r.now)
	o := object{
		"__typename": "CheckSuite", "id": nodeID("CS", s.id), "databaseId": s.id, "createdAt": stamp(s.created), "updatedAt": stamp(g.changedAt(s, r.now)), "status": strings.ToUpper(status),
		"conclusion": orNull(strings.ToUpper(conclusion)), "url": fmt.Sprintf("%s/commit/%s/checks?check_suite_id=%d", g.web(), s.head, s.id), "workflowRun": nil, "commit": g.oid(s.head),
		"app": object{"__typename": "App", "id": nodeID("A", s.app.ID), "slug": s.app.Slug, "databaseId": s.app.ID, "name": s.app.Slug}, "branch": nil,
		"checkRuns": connection(func(args object) []object {
			filter, _ := args["filterBy"].(object)
			all := slices.DeleteFunc(g.checksIn(s, filter["checkType"] == "LATEST", r.now), func(c checkView) bool {
				name, byName := filter["checkName"].(string)
				app, byApp := filter["appId"].(float64)
				return byName && c.Name != name || byApp && int64(app) != c.App.ID
			})
			return each(all, g.graphCheck)
		}),
	}
	if w := s.run; w != nil {
		o["workflowRun"] = object{
			"__typename": "WorkflowRun", "id": nodeID("WFR", w.id), "databaseId": w.id, "event": w.event, "runNumber": w.number, "createdAt": stamp(w.created),
			"updatedAt": stamp(w.shown(r.now).updated), "url": fmt.Sprintf("%s/actions/runs/%d", g.web(), w.id),
			"file":     object{"__typename": "WorkflowRunFile", "id": nodeID("WFRF", w.id), "path": w.file()},
			"workflow": object{"__typename": "Workflow", "id": nodeID("W", w.workflow), "databaseId": w.workflow, "name": w.name, "state": "ACTIVE", "resourcePath": "/" + g.owner + "/" + g.repo + "/actions/workflows/" + w.file()},
		}
	}
	return o
}

func (g *GitHub) graphCheck(c checkView) object {
	return object{
		"__typename": "CheckRun", "id": nodeID("CR", c.ID), "databaseId": c.ID, "name": c.Name, "status": strings.ToUpper(c.Status), "conclusion": orNull(strings.ToUpper(c.Conclusion)),
		"externalId": orNull(c.ExternalID), "startedAt": stamp(c.Started), "completedAt": stamp(c.Completed), "title": orNull(c.Title), "summary": orNull(c.Summary), "text": orNull(c.Text),
		"detailsUrl": orNull(c.DetailsURL), "url": fmt.Sprintf("%s/runs/%d", g.web(), c.ID), "permalink": fmt.Sprintf("%s/runs/%d", g.web(), c.ID),
		"checkSuite": object{"__typename": "CheckSuite", "id": nodeID("CS", c.suite.id), "databaseId": c.suite.id, "app": object{"__typename": "App", "slug": c.App.Slug, "databaseId": c.App.ID, "name": c.App.Slug}},
	}
}

// graphRollup is all checks and statuses of a commit in one; null if it has none.
func (g *GitHub) graphRollup(sha string, r *call) object {
	var contexts []object
	order := []string{"", "SUCCESS", "PENDING", "FAILURE"}
	state := ""
	worse := func(s string) {
		if slices.Index(order, s) > slices.Index(order, state) {
			state = s
		}
	}
	for _, s := range g.suitesOn(sha) {
		for _, c := range g.checksIn(s, true, r.now) {
			contexts = append(contexts, g.graphCheck(c))
			switch c.Conclusion {
			case "":
				worse("PENDING")
			case "success", "neutral", "skipped":
				worse("SUCCESS")
			default:
				worse("FAILURE")
			}
		}
	}
	for _, s := range g.latestStatuses(sha) {
		contexts = append(contexts, object{
			"__typename": "StatusContext", "id": nodeID("SC", s.ID), "context": s.Context, "state": strings.ToUpper(s.State), "description": orNull(s.Description),
			"targetUrl": orNull(s.TargetURL), "creator": g.actor(s.By), "createdAt": stamp(s.At),
		})
		switch s.State {
		case "success":
			worse("SUCCESS")
		case "pending":
			worse("PENDING")
		default:
			worse("FAILURE")
		}
	}
	if len(contexts) == 0 {
		return nil
	}
	return object{"__typename": "StatusCheckRollup", "id": "SCR_" + sha, "state": state, "contexts": connection(func(object) []object { return contexts })}
}
