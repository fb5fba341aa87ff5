package sandbox

// The repository as GraphQL shows it, with GitHub's names. Fields that cost something are computed only if a query
// selects them.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// timelineTypenames maps REST's names of timeline events to GraphQL's types.
var timelineTypenames = map[string]string{
	"automatic_base_change_succeeded": "AutomaticBaseChangeSucceededEvent",
	"base_ref_changed":                "BaseRefChangedEvent", "closed": "ClosedEvent",
	"convert_to_draft": "ConvertToDraftEvent", "head_ref_force_pushed": "HeadRefForcePushedEvent",
	"labeled": "LabeledEvent", "ready_for_review": "ReadyForReviewEvent",
	"reopened": "ReopenedEvent", "review_dismissed": "ReviewDismissedEvent",
	"review_requested": "ReviewRequestedEvent", "unlabeled": "UnlabeledEvent",
}

// graphActor returns an account as GraphQL shows it: a bot's login has no "[bot]" here.
func (g *GitHub) graphActor(login string) object {
	if login == "" || g.graphActors[login] != nil {
		return g.graphActors[login]
	}
	typename := "User"
	now, id := accountNow(g, login)
	short, isBot := strings.CutSuffix(now, "[bot]")
	if isBot {
		typename = "Bot"
	}
	kind := string(typename[0])
	g.graphActors[login] = object{
		"__typename": typename, "login": short, "id": nodeID(kind, id),
		"databaseId": id, "url": "https://github.com/" + short,
		"resourcePath": "/" + short,
		"avatarUrl":    fmt.Sprintf("https://avatars.githubusercontent.com/u/%d", id), "name": short,
	}
	return g.graphActors[login]
}

func (g *GitHub) graphRoot(r *routedRequest, nodes int) object {
	limits := g.budget.currentState()
	return object{
		"__typename": "Query",
		"viewer":     g.graphActor(g.programLogin()),
		"rateLimit": object{
			"__typename": "RateLimit", "limit": limits.limit, "cost": r.graphPoints, "used": limits.usedGQL,
			"remaining": max(limits.limit-limits.usedGQL, 0), "resetAt": timeOrNull(limits.reset), "nodeCount": nodes,
		},
		"repository": resolverField(func(args object) (any, *graphError) {
			owner, name := fmt.Sprint(args["owner"]), fmt.Sprint(args["name"])
			if !strings.EqualFold(owner, g.owner) || !strings.EqualFold(name, g.repo) {
				return nil, &graphError{
					Type:    "NOT_FOUND",
					Message: fmt.Sprintf("Could not resolve to a Repository with the name '%s/%s'.", owner, name),
				}
			}
			return g.graphRepo(r), nil
		}),
		"nodes": resolverField(func(args object) (any, *graphError) { return graphTexts(g, args["ids"]) }),
	}
}

// graphTexts are the texts of those nodes, in their order.
func graphTexts(g *GitHub, ids any) (any, *graphError) {
	known := map[string]func() object{}
	for _, p := range g.pulls {
		for _, c := range p.comments {
			known[nodeID("IC", c.id)] = func() object { return g.graphComment(p, c) }
		}
		for _, v := range p.reviews {
			known[nodeID("PRR", v.id)] = func() object { return g.graphReview(p, v) }
		}
		for _, t := range p.threads {
			for _, c := range t.comments {
				known[nodeID("PRRC", c.id)] = func() object { return g.graphReviewComment(p, threadComment{t, c}) }
			}
		}
	}
	var found []object
	list, _ := ids.([]any)
	for _, id := range list {
		node := known[fmt.Sprint(id)]
		if node == nil {
			return nil, &graphError{
				Type:    "NOT_FOUND",
				Message: fmt.Sprintf("Could not resolve to a node with the global id of '%v'.", id),
			}
		}
		found = append(found, node())
	}
	return found, nil
}

func (g *GitHub) graphRepo(r *routedRequest) object {
	id := g.repoID
	return object{
		"__typename": "Repository", "id": nodeID("R", id), "databaseId": id, "name": g.repo,
		"nameWithOwner": g.owner + "/" + g.repo, "owner": g.graphActor(g.owner), "isFork": false,
		"isPrivate": false, "isArchived": false, "url": g.webURL(),
		"mergeQueue":       resolverField(func(args object) (any, *graphError) { return graphQueue(g, args, r) }),
		"refs":             connectionField(func(args object) []object { return graphRefs(g, args, r) }),
		"defaultBranchRef": func() object { return g.graphRef(g.defaultBranch, g.ensureBranch(g.defaultBranch).tip, r) },
		"ref": resolverField(func(args object) (any, *graphError) {
			name := strings.TrimPrefix(fmt.Sprint(args["qualifiedName"]), "refs/heads/")
			if g.branches[name] == nil {
				return nil, nil
			}
			return g.graphRef(name, g.branches[name].tip, r), nil
		}),
		"object": resolverField(func(args object) (any, *graphError) {
			ref, byID := args["oid"].(string)
			if !byID {
				ref, _ = args["expression"].(string)
			}
			if c := g.commits[g.resolveRef(ref)]; c != nil {
				return g.graphCommit(c, r), nil
			}
			if file, found := strings.CutPrefix(ref, "HEAD:"); found && !byID {
				if content, there := g.fileContent(file, ""); there {
					return object{"__typename": "Blob", "oid": blobID(content)}, nil
				}
			}
			return nil, nil
		}),
		"pullRequest": resolverField(func(args object) (any, *graphError) {
			n, _ := toInt(args["number"])
			if p := g.pulls[n]; p != nil {
				return g.graphPull(p, r), nil
			}
			return nil, &graphError{
				Type:    "NOT_FOUND",
				Message: fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.", n),
			}
		}),
		"pullRequests": connectionField(func(args object) []object {
			var all []object
			for _, p := range g.index.pullsByNumber {
				state := strings.ToUpper(g.pullState(p))
				if head, given := args["headRefName"].(string); given && head != p.headBranch ||
					!filterAllows(args["states"], state) {
					continue
				}
				all = append(all, g.graphPull(p, r))
			}
			return orderPulls(g, all, args["orderBy"])
		}),
	}
}

// orderPulls orders pull requests as a query asks; without an order they come by their number, as they were created.
func orderPulls(g *GitHub, all []object, order any) []object {
	by, _ := order.(object)
	if by["field"] == "UPDATED_AT" {
		updated := func(o object) time.Time { return g.pulls[o["number"].(int)].updated }
		slices.SortStableFunc(all, func(a, b object) int { return updated(a).Compare(updated(b)) })
	}
	if by["direction"] == "DESC" {
		slices.Reverse(all)
	}
	return all
}

// filterAllows reports whether an enum filter, a list or a single name, has the value. No filter allows all.
func filterAllows(list any, value string) bool {
	switch list := list.(type) {
	case []any:
		return slices.Contains(list, any(value))
	case string:
		return list == value
	default:
		return true
	}
}

func (g *GitHub) pullState(p *pullRequest) string {
	switch {
	case p.merged:
		return "merged"
	case p.closed:
		return "closed"
	default:
		return "open"
	}
}

func (g *GitHub) graphRef(name, tip string, r *routedRequest) object {
	return object{
		"__typename": "Ref", "id": "REF_" + name, "name": name, "prefix": "refs/heads/",
		"target":               func() object { return g.graphCommit(g.commits[tip], r) },
		"branchProtectionRule": nil,
	}
}

func (g *GitHub) graphCommitStub(sha string) object {
	return object{
		"__typename":     "Commit",
		"id":             "C_" + sha,
		"oid":            sha,
		"abbreviatedOid": sha[:7],
		"url":            g.webURL() + "/commit/" + sha,
	}
}

func (g *GitHub) graphPull(p *pullRequest, r *routedRequest) object {
	base := g.branches[p.baseBranch]
	added, removed := p.changedLines()
	return object{
		"__typename": "PullRequest", "id": nodeID("PR", pullID(p)), "databaseId": pullID(p),
		"fullDatabaseId": fmt.Sprint(pullID(p)), "number": p.number, "title": p.title,
		"body": p.body, "url": fmt.Sprintf("%s/pull/%d", g.webURL(), p.number),
		"state": strings.ToUpper(g.pullState(p)), "closed": p.closed, "merged": p.merged, "isDraft": p.draft,
		"isCrossRepository": p.fork, "author": g.graphActor(p.author), "authorAssociation": "CONTRIBUTOR",
		"headRefName": p.headBranch, "headRefOid": p.head, "baseRefName": p.baseBranch, "baseRefOid": p.baseSHA,
		"createdAt": timeOrNull(p.created), "updatedAt": timeOrNull(p.updated), "closedAt": timeOrNull(p.closedAt),
		"changedFiles": max(len(p.toldFiles()), p.changedCount), "additions": added, "deletions": removed,
		"mergeable": "MERGEABLE", "mergeQueueEntry": nil,
		"isInMergeQueue": slices.ContainsFunc(g.queue, func(e *queueEntry) bool { return e.pull == p }), "reviewDecision": nil,
		"potentialMergeCommit": func() object { return g.graphCommit(g.commits[MergeSHA(p.head)], r) },
		"headRepository": object{
			"__typename":    "Repository",
			"nameWithOwner": p.headOwner + "/" + g.repo,
			"name":          g.repo,
			"isFork":        p.fork,
			"owner":         g.graphActor(p.headOwner),
		},
		"headRef":           func() object { return g.graphRef(p.headBranch, p.head, r) },
		"baseRef":           func() object { return g.graphRef(base.name, base.tip, r) },
		"statusCheckRollup": rollupField(g, p.head, r),
		"labels": connectionField(func(object) []object {
			return toObjects(p.labels, func(l string) object {
				return object{
					"__typename":  "Label",
					"id":          nodeID("LA", accountID(l)),
					"name":        l,
					"color":       "ededed",
					"description": nil,
				}
			})
		}),
		"files": connectionField(func(object) []object {
			return toObjects(p.toldFiles(), func(f ChangedFile) object {
				change := strings.ToUpper(or(f.Status, "modified"))
				if f.Previous != "" && f.Status == "" {
					change = "RENAMED"
				}
				added, removed := f.changedLines()
				return object{
					"__typename": "PullRequestChangedFile",
					"path":       f.Path,
					"additions":  added,
					"deletions":  removed,
					"changeType": change,
				}
			})
		}),
		"reviewRequests": connectionField(func(object) []object {
			open := slices.DeleteFunc(slices.Clone(p.reviewRequests), func(q *reviewRequest) bool { return q.fulfilled })
			return toObjects(open, func(q *reviewRequest) object {
				return object{
					"__typename":        "ReviewRequest",
					"id":                "RR_" + q.login,
					"databaseId":        accountID(q.login),
					"asCodeOwner":       false,
					"requestedReviewer": g.graphActor(q.login),
				}
			})
		}),
		"comments": connectionField(func(object) []object {
			return toObjects(p.comments, func(c *issueComment) object { return g.graphComment(p, c) })
		}),
		"reviews": connectionField(func(args object) []object {
			all := slices.DeleteFunc(
				slices.Clone(p.reviews),
				func(v *review) bool { return !filterAllows(args["states"], v.state) },
			)
			return toObjects(all, func(v *review) object { return g.graphReview(p, v) })
		}),
		"reviewThreads": connectionField(func(object) []object {
			return toObjects(p.threads, func(t *reviewThread) object { return g.graphThread(p, t) })
		}),
		"timelineItems": connectionField(func(args object) []object { return g.graphTimeline(p, args, r) }),
		"commits": connectionField(func(object) []object {
			return toObjects(p.shownCommits, func(sha string) object {
				return object{
					"__typename": "PullRequestCommit",
					"id":         "PURC_" + sha,
					"url":        fmt.Sprintf("%s/pull/%d/commits/%s", g.webURL(), p.number, sha),
					"commit":     func() object { return g.graphCommit(g.commits[sha], r) },
				}
			})
		}),
	}
}

// toObjects converts each item with f.
func toObjects[T any](all []T, f func(T) object) []object {
	out := make([]object, 0, len(all))
	for _, x := range all {
		out = append(out, f(x))
	}
	return out
}

// withEditor adds the last editor of a text, and the moment of the edit.
func (g *GitHub) withEditor(o object, editor string, at time.Time) object {
	o["editor"], o["lastEditedAt"], o["includesCreatedEdit"] = nil, nil, editor != ""
	if editor != "" {
		o["editor"], o["lastEditedAt"] = g.graphActor(editor), timeOrNull(at)
	}
	return o
}

func (g *GitHub) graphComment(p *pullRequest, c *issueComment) object {
	return g.withEditor(object{
		"__typename": "IssueComment", "id": nodeID("IC", c.id), "databaseId": c.id, "fullDatabaseId": fmt.Sprint(c.id),
		"author": g.graphActor(c.author), "authorAssociation": association(g.permissions[strings.ToLower(c.author)]), "body": c.body,
		"createdAt": timeOrNull(c.created), "updatedAt": timeOrNull(c.updated), "isMinimized": false,
		"url": fmt.Sprintf("%s/pull/%d#issuecomment-%d", g.webURL(), p.number, c.id),
	}, c.editor, c.editedAt)
}

func (g *GitHub) graphReview(p *pullRequest, v *review) object {
	return g.withEditor(object{
		"__typename": "PullRequestReview", "id": nodeID("PRR", v.id), "databaseId": v.id, "fullDatabaseId": fmt.Sprint(v.id),
		"author": g.graphActor(v.author), "authorAssociation": association(g.permissions[strings.ToLower(v.author)]), "body": v.body,
		"state": v.state, "commit": g.graphCommitStub(v.commit), "submittedAt": timeOrNull(v.submitted),
		"createdAt": timeOrNull(v.submitted), "updatedAt": timeOrNull(laterOf(v.submitted, v.editedAt)),
		"isMinimized": false, "url": fmt.Sprintf("%s/pull/%d#pullrequestreview-%d", g.webURL(), p.number, v.id),
		"comments": connectionField(func(object) []object {
			return toObjects(p.reviewComments(v.id), func(c threadComment) object { return g.graphReviewComment(p, c) })
		}),
	}, v.editor, v.editedAt)
}

func (g *GitHub) graphThread(p *pullRequest, t *reviewThread) object {
	o := object{
		"__typename": "PullRequestReviewThread", "id": nodeID("PRRT", t.comments[0].id),
		"isResolved": t.resolvedBy != "", "resolvedBy": g.graphActor(t.resolvedBy), "isOutdated": t.outdated,
		"isCollapsed": t.resolvedBy != "" || t.outdated, "path": t.path, "line": intOrNull(t.line),
		"originalLine": intOrNull(t.line), "startLine": nil, "originalStartLine": nil, "diffSide": "RIGHT",
		"subjectType": "LINE",
		"comments": connectionField(func(object) []object {
			return toObjects(
				t.comments,
				func(c *reviewComment) object { return g.graphReviewComment(p, threadComment{t, c}) },
			)
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

func (g *GitHub) graphReviewComment(p *pullRequest, c threadComment) object {
	t, opened := c.thread, c.thread.comments[0]
	o := g.withEditor(object{
		"__typename": "PullRequestReviewComment", "id": nodeID("PRRC", c.comment.id), "databaseId": c.comment.id,
		"fullDatabaseId": fmt.Sprint(c.comment.id), "author": g.graphActor(c.comment.author),
		"authorAssociation": "NONE", "body": c.comment.body, "path": t.path, "line": intOrNull(t.line),
		"originalLine": intOrNull(t.line), "outdated": t.outdated, "isMinimized": false,
		"createdAt": timeOrNull(c.comment.created), "updatedAt": timeOrNull(laterOf(c.comment.created, c.comment.editedAt)),
		"publishedAt": timeOrNull(c.comment.created), "state": "SUBMITTED", "replyTo": nil,
		"commit":         g.graphCommitStub(p.shownCommit(t, c.comment)),
		"originalCommit": g.graphCommitStub(c.comment.originalCommit), "diffHunk": "@@ -1 +1 @@", "subjectType": "LINE",
		"url": fmt.Sprintf("%s/pull/%d#discussion_r%d", g.webURL(), p.number, c.comment.id),
	}, c.comment.editor, c.comment.editedAt)
	if t.outdated {
		o["line"] = nil
	}
	if c.comment != opened {
		o["replyTo"] = object{
			"__typename":     "PullRequestReviewComment",
			"id":             nodeID("PRRC", opened.id),
			"databaseId":     opened.id,
			"fullDatabaseId": fmt.Sprint(opened.id),
		}
	}
	for _, v := range p.reviews {
		if v.id == c.comment.reviewID {
			o["pullRequestReview"] = func() object { return g.graphReview(p, v) }
		}
	}
	return o
}

// graphTimeline lists the items of the timeline that the query allows: events, comments, reviews and commits.
func (g *GitHub) graphTimeline(p *pullRequest, args object, r *routedRequest) []object {
	type item struct {
		at time.Time
		o  object
	}
	var all []item
	asked := func(typename string) bool { return filterAllows(args["itemTypes"], itemType(typename)) }
	for _, h := range p.timeline {
		if asked(timelineTypenames[h.kind]) {
			all = append(all, item{h.at, g.graphTimelineEvent(p, h)})
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
		for _, sha := range p.shownCommits {
			all = append(
				all,
				item{
					g.commits[sha].pushedAt,
					object{
						"__typename": "PullRequestCommit",
						"id":         "PURC_" + sha,
						"commit":     func() object { return g.graphCommit(g.commits[sha], r) },
					},
				},
			)
		}
	}
	slices.SortStableFunc(all, func(a, b item) int { return a.at.Compare(b.at) })
	return toObjects(all, func(i item) object { return i.o })
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

func (g *GitHub) graphTimelineEvent(p *pullRequest, h *timelineEvent) object {
	o := object{
		"__typename": timelineTypenames[h.kind],
		"id":         nodeID("EV", h.id),
		"createdAt":  timeOrNull(h.at),
		"actor":      g.graphActor(h.actor),
	}
	switch h.kind {
	case "review_requested":
		o["requestedReviewer"] = g.graphActor(h.requestedLogin)
	case "automatic_base_change_succeeded":
		o["oldBase"], o["newBase"] = h.old, h.new
	case "base_ref_changed":
		o["previousRefName"], o["currentRefName"], o["databaseId"] = h.old, h.new, h.id
	case "head_ref_force_pushed":
		o["beforeCommit"], o["afterCommit"] = g.graphCommitStub(h.old), g.graphCommitStub(h.new)
	case "labeled", "unlabeled":
		o["label"] = object{"__typename": "Label", "name": h.label}
	case "review_dismissed":
		o["databaseId"], o["previousReviewState"], o["dismissalMessage"], o["review"] = h.id, strings.ToUpper(
			h.dismissedState,
		), nil, nil
		for _, v := range p.reviews {
			if v.id == h.reviewID {
				o["review"] = func() object { return g.graphReview(p, v) }
			}
		}
	}
	return o
}

func (g *GitHub) graphCommit(c *commit, r *routedRequest) object {
	if c == nil {
		return nil
	}
	who := func(login string) object {
		return object{
			"__typename": "GitActor",
			"name":       login,
			"email":      emailOf(login),
			"date":       timeOrNull(c.pushedAt),
			"user":       g.graphGitUser(accountOf(login)),
		}
	}
	o := object{
		"message": c.fullMessage(), "messageHeadline": c.message, "committedDate": timeOrNull(c.pushedAt),
		"authoredDate": timeOrNull(c.pushedAt), "pushedDate": nil,
		"author": who(
			c.author,
		), "committer": who(c.committer), "committedViaWeb": false, "authoredByCommitter": c.author == c.committer,
		"statusCheckRollup": rollupField(g, c.sha, r),
		"authors": connectionField(func(object) []object {
			return toObjects(append([]string{c.author}, c.coauthors...), who)
		}),
		"parents": connectionField(func(object) []object { return toObjects(c.parents, g.graphCommitStub) }),
		"associatedPullRequests": connectionField(func(object) []object {
			all := slices.DeleteFunc(
				g.index.pullsFor(c.sha),
				func(p *pullRequest) bool { return !slices.Contains(p.shownCommits, c.sha) },
			)
			return toObjects(all, func(p *pullRequest) object { return g.graphPull(p, r) })
		}),
		"checkSuites": connectionField(func(args object) []object {
			filter, _ := args["filterBy"].(object)
			all := slices.DeleteFunc(g.suitesOn(c.sha), func(s *checkSuite) bool {
				app, byApp := toInt(filter["appId"])
				name, byName := filter["checkName"].(string)
				return byApp && int64(app) != s.app.ID ||
					byName &&
						!slices.ContainsFunc(g.checksIn(s, false, r.now), func(c checkView) bool { return c.Name == name })
			})
			return toObjects(all, func(s *checkSuite) object { return g.graphSuite(s, r) })
		}),
	}
	o["signature"] = nil
	if c.verified {
		o["signature"] = object{"__typename": "GpgSignature", "isValid": true, "state": "VALID", "wasSignedByGitHub": true}
	}
	maps.Copy(o, g.graphCommitStub(c.sha))
	return o
}

// graphGitUser returns the account behind a git identity. There, and only there, GraphQL shows a bot as a User and
// with its "[bot]".
func (g *GitHub) graphGitUser(login string) object {
	o := g.graphActor(login)
	if strings.HasSuffix(login, "[bot]") {
		o = maps.Clone(o)
		o["__typename"] = "User"
		o["login"], _ = accountNow(g, login)
	}
	return o
}

func (g *GitHub) graphSuite(s *checkSuite, r *routedRequest) object {
	status, conclusion := g.suiteResult(s, r.now)
	o := object{
		"__typename": "CheckSuite", "id": nodeID("CS", s.id), "databaseId": s.id, "createdAt": timeOrNull(s.created),
		"updatedAt": timeOrNull(g.suiteUpdatedAt(s, r.now)), "status": strings.ToUpper(status),
		"conclusion":  stringOrNull(strings.ToUpper(conclusion)),
		"url":         fmt.Sprintf("%s/commit/%s/checks?check_suite_id=%d", g.webURL(), s.head, s.id),
		"workflowRun": nil, "commit": g.graphCommitStub(s.head),
		"app":    graphApp(g, s.app),
		"branch": nil,
		"checkRuns": connectionField(func(args object) []object {
			filter, _ := args["filterBy"].(object)
			all := slices.DeleteFunc(g.checksIn(s, filter["checkType"] == "LATEST", r.now), func(c checkView) bool {
				name, byName := filter["checkName"].(string)
				app, byApp := toInt(filter["appId"])
				return byName && c.Name != name || byApp && int64(app) != c.App.ID
			})
			return toObjects(all, g.graphCheck)
		}),
	}
	if w := s.run; w != nil {
		o["workflowRun"] = object{
			"__typename": "WorkflowRun", "id": nodeID("WFR", w.id), "databaseId": w.id,
			"event": w.event, "runNumber": w.runNumber, "createdAt": timeOrNull(w.created),
			"updatedAt": timeOrNull(
				w.shownAttempt(r.now).updated,
			), "url": fmt.Sprintf("%s/actions/runs/%d", g.webURL(), w.id),
			"file": object{"__typename": "WorkflowRunFile", "id": nodeID("WFRF", w.id), "path": w.workflowFile()},
			"workflow": object{
				"__typename":   "Workflow",
				"id":           nodeID("W", w.workflowID),
				"databaseId":   w.workflowID,
				"name":         w.name,
				"state":        "ACTIVE",
				"resourcePath": "/" + g.owner + "/" + g.repo + "/actions/workflows/" + w.workflowFile(),
			},
		}
	}
	return o
}

func graphApp(g *GitHub, a App) object {
	slug := slugNow(g, a.Slug)
	return object{"__typename": "App", "id": nodeID("A", a.ID), "slug": slug, "databaseId": a.ID, "name": slug}
}

func (g *GitHub) graphCheck(c checkView) object {
	return object{
		"__typename": "CheckRun", "id": nodeID("CR", c.ID), "databaseId": c.ID, "name": c.Name,
		"status": strings.ToUpper(c.Status), "conclusion": stringOrNull(strings.ToUpper(c.Conclusion)),
		"externalId": stringOrNull(c.ExternalID), "startedAt": timeOrNull(c.Started), "completedAt": timeOrNull(c.Completed),
		"title": stringOrNull(c.Title), "summary": stringOrNull(c.Summary), "text": stringOrNull(c.Text),
		"detailsUrl": stringOrNull(c.DetailsURL), "url": fmt.Sprintf("%s/runs/%d", g.webURL(), c.ID),
		"permalink": fmt.Sprintf("%s/runs/%d", g.webURL(), c.ID),
		"checkSuite": object{
			"__typename": "CheckSuite",
			"id":         nodeID("CS", c.suite.id),
			"databaseId": c.suite.id,
			"app":        graphApp(g, c.App),
		},
	}
}

// rollupField is the rollup of a commit, which GitHub refuses, beside all else that was asked for, to a token that may
// not read statuses.
func rollupField(g *GitHub, sha string, r *routedRequest) any {
	if g.noStatuses {
		return resolverField(func(object) (any, *graphError) {
			return nil, &graphError{Type: "FORBIDDEN", Message: "Resource not accessible by integration"}
		})
	}
	return func() object { return g.graphRollup(sha, r) }
}

// graphRollup combines all checks and statuses of a commit; null if it has none.
func (g *GitHub) graphRollup(sha string, r *routedRequest) object {
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
			"__typename": "StatusContext", "id": nodeID("SC", s.ID), "context": s.Context,
			"state": strings.ToUpper(s.State), "description": stringOrNull(s.Description),
			"targetUrl": stringOrNull(s.TargetURL), "creator": g.graphActor(s.By), "createdAt": timeOrNull(s.At),
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
	return object{
		"__typename": "StatusCheckRollup",
		"id":         "SCR_" + sha,
		"state":      state,
		"contexts":   connectionField(func(object) []object { return contexts }),
	}
}

// graphQueue is a branch's merge queue as GraphQL shows it; null where it has none.
func graphQueue(g *GitHub, args object, r *routedRequest) (any, *graphError) {
	name, given := args["branch"].(string)
	if !given {
		name = g.defaultBranch
	}
	var entries []*queueEntry
	for _, e := range g.queue {
		if e.pull.baseBranch == name {
			entries = append(entries, e)
		}
	}
	if isClassic := g.settings.MergeQueue && name == g.defaultBranch; entries == nil && !g.queued[name] && !isClassic {
		return nil, nil
	}
	return object{
		"__typename": "MergeQueue", "id": "MQ_" + name, "url": g.webURL() + "/queue/" + name, "nextEntryEstimatedTimeToMerge": nil,
		"entries": connectionField(func(object) []object {
			all := []object{}
			for i, e := range entries {
				all = append(all, graphQueueEntry(g, e, i+1, r))
			}
			return all
		}),
	}, nil
}

func graphQueueEntry(g *GitHub, e *queueEntry, position int, r *routedRequest) object {
	state := "QUEUED"
	if e.head != "" {
		state = "AWAITING_CHECKS"
	}
	return object{
		"__typename": "MergeQueueEntry", "id": nodeID("MQE", pullID(e.pull)), "position": position, "state": state,
		"enqueuedAt": timeOrNull(e.at), "enqueuer": g.graphActor(e.by), "solo": false, "jump": false, "estimatedTimeToMerge": nil,
		"headCommit":  func() object { return g.graphCommit(g.commits[e.head], r) },
		"baseCommit":  func() object { return g.graphCommit(g.commits[e.base], r) },
		"pullRequest": func() object { return g.graphPull(e.pull, r) },
	}
}

// graphRefs are the branches under a prefix, by name.
func graphRefs(g *GitHub, args object, r *routedRequest) (all []object) {
	prefix := strings.TrimPrefix(fmt.Sprint(args["refPrefix"]), "refs/heads/")
	names := []string{}
	for name := range g.branches {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		ref := g.graphRef(name, g.branches[name].tip, r)
		ref["name"], ref["prefix"] = strings.TrimPrefix(name, prefix), "refs/heads/"+prefix
		all = append(all, ref)
	}
	return all
}
