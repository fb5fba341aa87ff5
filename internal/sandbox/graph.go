package sandbox

// The repository as GraphQL shows it, with GitHub's names: the fields that somebody asks for. Those that cost something
// are computed only if a query selects them.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A graphView is what a query sees of the repository.
type graphView struct {
	*GitHub
	r *routedRequest
}

// typenameOf is GraphQL's type of a timeline event, by REST's name of it: base_ref_changed is a BaseRefChangedEvent.
func typenameOf(kind string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(kind, "_") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Event"
}

// connectionOf is a connection of all these, whatever its arguments are.
func connectionOf[T any](all []T, show func(T) object) connectionField {
	return func(object) []object { return toObjects(all, show) }
}

// notResolved is GitHub's error about a name that nothing has.
func notResolved(format string, args ...any) (any, *graphError) {
	return nil, &graphError{Type: "NOT_FOUND", Message: fmt.Sprintf("Could not resolve to a "+format, args...)}
}

// gitUser returns the account behind a git identity. There, and only there, GraphQL shows a bot as a User and with its
// "[bot]".
func (v graphView) gitUser(login string) object {
	o := v.graphActor(login)
	if strings.HasSuffix(login, "[bot]") {
		o = maps.Clone(o)
		o["__typename"] = "User"
		o["login"], _ = v.accountNow(login)
	}
	return o
}

func (v graphView) rootNode(nodes int) object {
	limits := v.budget.currentState()
	return object{
		"__typename": "Query",
		"viewer":     v.graphActor(v.programLogin()),
		"rateLimit": object{
			"__typename": "RateLimit", "limit": limits.limit, "cost": v.r.graphPoints, "used": limits.usedGQL,
			"remaining": max(limits.limit-limits.usedGQL, 0), "resetAt": timeOrNull(limits.reset), "nodeCount": nodes,
		},
		"repository": resolverField(func(args object) (any, *graphError) {
			owner, name := fmt.Sprint(args["owner"]), fmt.Sprint(args["name"])
			if !strings.EqualFold(owner, v.owner) || !strings.EqualFold(name, v.repo) {
				return notResolved("Repository with the name '%s/%s'.", owner, name)
			}
			return v.repositoryNode(), nil
		}),
		"nodes": resolverField(v.textNodes),
	}
}

// texts are the texts of the nodes that are named, in their order.
func (v graphView) textNodes(args object) (any, *graphError) {
	known := map[string]func() object{}
	for _, p := range v.pulls {
		for _, c := range p.comments {
			known[nodeID("IC", c.id)] = func() object { return v.commentNode(c) }
		}
		for _, w := range p.reviews {
			known[nodeID("PRR", w.id)] = func() object { return v.reviewNode(w) }
		}
		for _, c := range p.reviewComments(0) {
			known[nodeID("PRRC", c.id)] = func() object { return v.lineCommentNode(c) }
		}
	}
	var found []object
	list, _ := args["ids"].([]any)
	for _, id := range list {
		node := known[fmt.Sprint(id)]
		if node == nil {
			return notResolved("node with the global id of '%v'.", id)
		}
		found = append(found, node())
	}
	return found, nil
}

func (v graphView) repositoryNode() object {
	return object{
		"__typename": "Repository", "id": nodeID("R", v.repoID), "databaseId": v.repoID, "name": v.repo,
		"nameWithOwner":    v.owner + "/" + v.repo,
		"mergeQueue":       resolverField(v.queueNode),
		"refs":             connectionField(v.refNodes),
		"defaultBranchRef": func() object { return v.refNode(v.defaultBranch, v.ensureBranch(v.defaultBranch).tip) },
		"ref": resolverField(func(args object) (any, *graphError) {
			name := strings.TrimPrefix(fmt.Sprint(args["qualifiedName"]), "refs/heads/")
			if v.branches[name] == nil {
				return nil, nil
			}
			return v.refNode(name, v.branches[name].tip), nil
		}),
		"object": resolverField(v.gitObject),
		"pullRequest": resolverField(func(args object) (any, *graphError) {
			n, _ := toInt(args["number"])
			if p := v.pulls[n]; p != nil {
				return v.pullNode(p), nil
			}
			return notResolved("PullRequest with the number of %d.", n)
		}),
		"pullRequests": connectionField(v.listedPulls),
	}
}

// gitObject is a commit, by its id or a name of it, or a file of the default branch.
func (v graphView) gitObject(args object) (any, *graphError) {
	ref, byID := args["oid"].(string)
	if !byID {
		ref, _ = args["expression"].(string)
	}
	if c := v.commits[v.resolveRef(ref)]; c != nil {
		return v.commitNode(c), nil
	}
	if file, found := strings.CutPrefix(ref, "HEAD:"); found && !byID {
		if content, there := v.fileContent(file, ""); there {
			return object{"__typename": "Blob", "oid": blobID(content)}, nil
		}
	}
	return nil, nil
}

// listedPulls are the pull requests that a query asks for, in its order; without an order they come by their number, as
// they were created.
func (v graphView) listedPulls(args object) []object {
	all := slices.DeleteFunc(slices.Clone(v.index.pullsByNumber), func(p *pullRequest) bool {
		head, given := args["headRefName"].(string)
		return given && head != p.headBranch || !filterAllows(args["states"], strings.ToUpper(p.state()))
	})
	by, _ := args["orderBy"].(object)
	if by["field"] == "UPDATED_AT" {
		slices.SortStableFunc(all, func(a, b *pullRequest) int { return a.updated.Compare(b.updated) })
	}
	if by["direction"] == "DESC" {
		slices.Reverse(all)
	}
	return toObjects(all, v.pullNode)
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

func (v graphView) refNode(name, tip string) object {
	return object{
		"__typename": "Ref", "id": "REF_" + name, "name": name, "prefix": "refs/heads/",
		"target": func() object { return v.commitNode(v.commits[tip]) },
	}
}

// refs are the branches under a prefix, by name.
func (v graphView) refNodes(args object) (all []object) {
	prefix := strings.TrimPrefix(fmt.Sprint(args["refPrefix"]), "refs/heads/")
	for _, name := range slices.Sorted(maps.Keys(v.branches)) {
		if tail, isUnder := strings.CutPrefix(name, prefix); isUnder {
			ref := v.refNode(name, v.branches[name].tip)
			ref["name"], ref["prefix"] = tail, "refs/heads/"+prefix
			all = append(all, ref)
		}
	}
	return all
}

func (v graphView) commitStub(sha string) object {
	return object{"__typename": "Commit", "id": "C_" + sha, "oid": sha}
}

func (v graphView) pullNode(p *pullRequest) object {
	added, removed := p.changedLines()
	return object{
		"__typename": "PullRequest", "id": nodeID("PR", pullID(p)), "databaseId": pullID(p), "number": p.number, "title": p.title,
		"state": strings.ToUpper(p.state()), "isDraft": p.draft, "isCrossRepository": p.fork, "author": v.graphActor(p.author),
		"headRefName": p.headBranch, "headRefOid": p.head, "baseRefName": p.baseBranch, "baseRefOid": p.baseSHA,
		"createdAt": timeOrNull(p.created), "updatedAt": timeOrNull(p.updated), "closedAt": timeOrNull(p.closedAt),
		"changedFiles": max(len(p.toldFiles()), p.changedCount), "additions": added, "deletions": removed,
		"potentialMergeCommit": func() object { return v.commitNode(v.commits[MergeSHA(p.head)]) },
		"headRepository":       object{"__typename": "Repository", "nameWithOwner": p.headOwner + "/" + v.repo},
		"headRef":              func() object { return v.refNode(p.headBranch, p.head) },
		"labels": connectionOf(p.labels, func(name string) object {
			return object{"__typename": "Label", "id": nodeID("LA", accountID(name)), "name": name}
		}),
		"reviewRequests": connectionOf(p.openRequests(), func(q *reviewRequest) object {
			return object{"__typename": "ReviewRequest", "id": "RR_" + q.login, "requestedReviewer": v.graphActor(q.login)}
		}),
		"comments": connectionOf(p.comments, v.commentNode),
		"reviews": connectionField(func(args object) []object {
			return toObjects(slices.DeleteFunc(slices.Clone(p.reviews), func(w *review) bool {
				return !filterAllows(args["states"], w.state)
			}), v.reviewNode)
		}),
		"reviewThreads": connectionOf(p.threads, v.threadNode),
		"timelineItems": connectionField(func(args object) []object { return v.timelineNodes(p, args["itemTypes"]) }),
		"commits":       connectionOf(p.shownCommits, v.pullCommitNode),
	}
}

func (v graphView) pullCommitNode(sha string) object {
	return object{
		"__typename": "PullRequestCommit", "id": "PURC_" + sha, "commit": func() object { return v.commitNode(v.commits[sha]) },
	}
}

// text is what all texts have: who wrote them and when, and who edited them last.
func (v graphView) textNode(typename, kind string, id int64, author, body string, at time.Time, editor string, editedAt time.Time) object {
	return object{
		"__typename": typename, "id": nodeID(kind, id), "databaseId": id, "fullDatabaseId": fmt.Sprint(id),
		"author": v.graphActor(author), "body": body, "createdAt": timeOrNull(at), "updatedAt": timeOrNull(laterOf(at, editedAt)),
		"editor": v.graphActor(editor), "lastEditedAt": timeOrNull(editedAt),
	}
}

func (v graphView) commentNode(c *issueComment) object {
	o := v.textNode("IssueComment", "IC", c.id, c.author, c.body, c.created, c.editor, c.editedAt)
	o["authorAssociation"] = association(v.permissions[strings.ToLower(c.author)])
	o["url"] = fmt.Sprintf("%s/pull/%d#issuecomment-%d", v.webURL(), c.pull.number, c.id)
	return o
}

func (v graphView) reviewNode(w *review) object {
	o := v.textNode("PullRequestReview", "PRR", w.id, w.author, w.body, w.submitted, w.editor, w.editedAt)
	o["state"], o["submittedAt"], o["commit"] = w.state, o["createdAt"], v.commitStub(w.commit)
	o["url"] = fmt.Sprintf("%s/pull/%d#pullrequestreview-%d", v.webURL(), w.pull.number, w.id)
	o["comments"] = connectionField(func(object) []object { return toObjects(w.pull.reviewComments(w.id), v.lineCommentNode) })
	return o
}

func (v graphView) threadNode(t *reviewThread) object {
	o := object{
		"__typename": "PullRequestReviewThread", "id": nodeID("PRRT", t.comments[0].id), "isResolved": t.resolvedBy != "",
		"resolvedBy": v.graphActor(t.resolvedBy), "isOutdated": t.outdated, "path": t.path, "line": intOrNull(t.line),
		"originalLine": intOrNull(t.line), "subjectType": "LINE", "comments": connectionOf(t.comments, v.lineCommentNode),
	}
	if t.line == 0 {
		o["subjectType"] = "FILE"
	}
	if t.outdated {
		o["line"] = nil
	}
	return o
}

func (v graphView) lineCommentNode(c *reviewComment) object {
	o := v.textNode("PullRequestReviewComment", "PRRC", c.id, c.author, c.body, c.created, c.editor, c.editedAt)
	o["url"] = fmt.Sprintf("%s/pull/%d#discussion_r%d", v.webURL(), c.thread.pull.number, c.id)
	o["commit"], o["originalCommit"] = v.commitStub(c.shownCommit()), v.commitStub(c.originalCommit)
	o["pullRequestReview"] = func() object { return v.reviewNode(c.review) }
	return o
}

// timeline lists the items of the timeline that the query allows: events, comments, reviews and commits.
func (v graphView) timelineNodes(p *pullRequest, types any) []object {
	type item struct {
		at time.Time
		o  object
	}
	var all []item
	asked := func(itemType string) bool { return filterAllows(types, itemType) }
	for _, h := range p.timeline {
		if asked(strings.ToUpper(h.kind) + "_EVENT") {
			all = append(all, item{h.at, v.eventNode(h)})
		}
	}
	if asked("ISSUE_COMMENT") {
		for _, c := range p.comments {
			all = append(all, item{c.created, v.commentNode(c)})
		}
	}
	if asked("PULL_REQUEST_REVIEW") {
		for _, w := range p.reviews {
			all = append(all, item{w.submitted, v.reviewNode(w)})
		}
	}
	if asked("PULL_REQUEST_COMMIT") {
		for _, sha := range p.shownCommits {
			all = append(all, item{v.commits[sha].pushedAt, v.pullCommitNode(sha)})
		}
	}
	slices.SortStableFunc(all, func(a, b item) int { return a.at.Compare(b.at) })
	return toObjects(all, func(i item) object { return i.o })
}

func (v graphView) eventNode(h *timelineEvent) object {
	o := object{
		"__typename": typenameOf(h.kind), "id": nodeID("EV", h.id), "databaseId": h.id, "createdAt": timeOrNull(h.at),
		"actor": v.graphActor(h.actor),
	}
	switch h.kind {
	case "review_requested":
		o["requestedReviewer"] = v.graphActor(h.requestedLogin)
	case "automatic_base_change_succeeded":
		o["oldBase"], o["newBase"] = h.old, h.new
	case "base_ref_changed":
		o["previousRefName"], o["currentRefName"] = h.old, h.new
	case "head_ref_force_pushed":
		o["beforeCommit"], o["afterCommit"] = v.commitStub(h.old), v.commitStub(h.new)
	case "labeled", "unlabeled":
		o["label"] = object{"__typename": "Label", "name": h.label}
	case "review_dismissed":
		o["previousReviewState"], o["review"] = strings.ToUpper(h.dismissedState), func() object { return v.reviewNode(h.review) }
	}
	return o
}

func (v graphView) commitNode(c *commit) object {
	if c == nil {
		return nil
	}
	who := func(person string) object {
		return object{
			"__typename": "GitActor", "name": person, "email": emailOf(person), "date": timeOrNull(c.pushedAt),
			"user": v.gitUser(accountOf(person)),
		}
	}
	o := v.commitStub(c.sha)
	maps.Copy(o, object{
		"message": c.fullMessage(), "committedDate": timeOrNull(c.pushedAt), "author": who(c.author), "committer": who(c.committer),
		"statusCheckRollup":      v.rollupField(c.sha),
		"authors":                connectionOf(append([]string{c.author}, c.coauthors...), who),
		"parents":                connectionOf(c.parents, v.commitStub),
		"associatedPullRequests": connectionField(func(object) []object { return toObjects(v.pullsWith(c), v.pullNode) }),
		"checkSuites":            connectionField(func(args object) []object { return v.suiteNodes(c, args["filterBy"]) }),
		"signature":              nil,
	})
	if c.verified {
		o["signature"] = object{"__typename": "GpgSignature", "isValid": true, "state": "VALID", "wasSignedByGitHub": true}
	}
	return o
}

// matchesFilter reports whether a query's filter by App and by a check's name allows what has these.
func matchesFilter(filter any, app App, hasName func(string) bool) bool {
	by, _ := filter.(object)
	id, byApp := toInt(by["appId"])
	name, byName := by["checkName"].(string)
	return (!byApp || int64(id) == app.ID) && (!byName || hasName(name))
}

func (v graphView) suiteNodes(c *commit, filter any) []object {
	return toObjects(slices.DeleteFunc(v.suitesOn(c.sha), func(s *checkSuite) bool {
		return !matchesFilter(filter, s.app, func(name string) bool {
			return slices.ContainsFunc(v.checksIn(s, false, v.r.now), func(c checkView) bool { return c.Name == name })
		})
	}), v.suiteNode)
}

func (v graphView) suiteNode(s *checkSuite) object {
	status, conclusion := v.suiteResult(s, v.r.now)
	o := object{
		"__typename": "CheckSuite", "id": nodeID("CS", s.id), "databaseId": s.id, "createdAt": timeOrNull(s.created),
		"updatedAt": timeOrNull(s.updatedAt(v.r.now)), "status": strings.ToUpper(status),
		"conclusion": stringOrNull(strings.ToUpper(conclusion)), "workflowRun": nil, "app": v.appNode(s.app),
		"checkRuns": connectionField(func(args object) []object {
			filter, _ := args["filterBy"].(object)
			return toObjects(slices.DeleteFunc(v.checksIn(s, filter["checkType"] == "LATEST", v.r.now), func(c checkView) bool {
				return !matchesFilter(filter, c.App, func(name string) bool { return c.Name == name })
			}), v.checkNode)
		}),
	}
	if w := s.run; w != nil {
		o["workflowRun"] = object{
			"__typename": "WorkflowRun", "id": nodeID("WFR", w.id), "databaseId": w.id, "event": w.event, "runNumber": w.runNumber,
			"createdAt": timeOrNull(w.created), "updatedAt": timeOrNull(w.shownAttempt(v.r.now).updated),
		}
	}
	return o
}

func (v graphView) appNode(a App) object {
	slug := v.slugNow(a.Slug)
	return object{"__typename": "App", "id": nodeID("A", a.ID), "slug": slug, "databaseId": a.ID, "name": slug}
}

func (v graphView) checkNode(c checkView) object {
	return object{
		"__typename": "CheckRun", "id": nodeID("CR", c.ID), "databaseId": c.ID, "name": c.Name, "status": strings.ToUpper(c.Status),
		"conclusion": stringOrNull(strings.ToUpper(c.Conclusion)), "externalId": stringOrNull(c.ExternalID),
		"startedAt": timeOrNull(c.Started), "completedAt": timeOrNull(c.Completed), "title": stringOrNull(c.Title),
		"summary": stringOrNull(c.Summary), "text": stringOrNull(c.Text),
		"checkSuite": object{"__typename": "CheckSuite", "id": nodeID("CS", c.suite.id), "databaseId": c.suite.id, "app": v.appNode(c.App)},
	}
}

// rollupField is the rollup of a commit, which GitHub refuses, beside all else that was asked for, to a token that may
// not read statuses.
func (v graphView) rollupField(sha string) any {
	if v.noStatuses {
		return resolverField(func(object) (any, *graphError) {
			return nil, &graphError{Type: "FORBIDDEN", Message: "Resource not accessible by integration"}
		})
	}
	return func() object { return v.rollupNode(sha) }
}

// rollup combines all checks and statuses of a commit; null if it has none.
func (v graphView) rollupNode(sha string) object {
	var contexts []object
	order := []string{"", "SUCCESS", "PENDING", "FAILURE"}
	worst := 0
	add := func(context object, result string) {
		contexts = append(contexts, context)
		state := "FAILURE"
		switch result {
		case "", "pending":
			state = "PENDING"
		case "success", "neutral", "skipped":
			state = "SUCCESS"
		}
		worst = max(worst, slices.Index(order, state))
	}
	for _, s := range v.suitesOn(sha) {
		for _, c := range v.checksIn(s, true, v.r.now) {
			add(v.checkNode(c), c.Conclusion)
		}
	}
	for _, s := range v.latestStatuses(sha) {
		add(object{
			"__typename": "StatusContext", "id": nodeID("SC", s.ID), "context": s.Context, "state": strings.ToUpper(s.State),
			"description": stringOrNull(s.Description), "creator": v.graphActor(s.By), "createdAt": timeOrNull(s.At),
		}, s.State)
	}
	if len(contexts) == 0 {
		return nil
	}
	return object{
		"__typename": "StatusCheckRollup", "id": "SCR_" + sha, "state": order[worst], "contexts": connectionOf(contexts, asItIs),
	}
}

// mergeQueue is a branch's merge queue as GraphQL shows it; null where it has none.
func (v graphView) queueNode(args object) (any, *graphError) {
	name, given := args["branch"].(string)
	if !given {
		name = v.defaultBranch
	}
	entries := slices.DeleteFunc(slices.Clone(v.queue), func(e *queueEntry) bool { return e.pull.baseBranch != name })
	if isClassic := v.settings.MergeQueue && name == v.defaultBranch; len(entries) == 0 && !v.queued[name] && !isClassic {
		return nil, nil
	}
	return object{
		"__typename": "MergeQueue", "id": "MQ_" + name,
		"entries": connectionOf(entries, func(e *queueEntry) object {
			return object{
				"__typename": "MergeQueueEntry", "id": nodeID("MQE", pullID(e.pull)), "position": slices.Index(entries, e) + 1,
				"headCommit":  func() object { return v.commitNode(v.commits[e.head]) },
				"baseCommit":  func() object { return v.commitNode(v.commits[e.base]) },
				"pullRequest": func() object { return v.pullNode(e.pull) },
			}
		}),
	}, nil
}
