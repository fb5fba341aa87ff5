package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// query asks over GraphQL; variables are name, value, name, value …
func (c *caller) query(q string, variables ...any) reply {
	c.t.Helper()
	vars := map[string]any{}
	for i := 0; i < len(variables); i += 2 {
		vars[variables[i].(string)] = variables[i+1]
	}
	b, err := json.Marshal(map[string]any{"query": q, "variables": vars})
	check(c.t, err)
	return c.want(200, "POST", "/graphql", string(b)) // also with errors
}

// pull asks for fields of pull request 7; the answer's path begins with "data.p.".
func (c *caller) pull(fields string) reply {
	c.t.Helper()
	return c.query(`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {` + fields + `}}}`)
}

const pr = "data.repository.pullRequest."

func TestThreadsOverGraphQL(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	review := must[int64](
		t,
	)(
		g.Review(
			7,
			sandbox.ReviewSpec{
				By:       "bugbot[bot]",
				Body:     "r",
				Comments: []sandbox.LineComment{{Path: "main.go", Line: 3, Body: "nil"}, {Path: "go.mod", Body: "file"}},
			},
		),
	)
	must[int64](t)(g.ReplyInThread(7, "", "alice", "why"))
	now.pass(time.Minute)
	check(t, g.Push(7, "a2", sandbox.PushSpec{}))
	ask := `reviewThreads(first: 100) {totalCount nodes {id isResolved isOutdated path line originalLine subjectType resolvedBy {__typename login databaseId}
		comments(first: 1) {totalCount nodes {databaseId fullDatabaseId body createdAt lastEditedAt url ` +
		`author {...who} editor {...who} originalCommit {oid} commit {oid} pullRequestReview {databaseId fullDatabaseId}}}}}`
	who := `fragment who on Actor {__typename login ... on Bot {databaseId} ... on User {databaseId}}`
	q := `query Threads {repository(owner: "acme", name: "shop") {pullRequest(number: 7) {` + ask + `}}} ` + who
	node := pr + "reviewThreads.nodes.0."
	c.query(
		q,
	).is(
		t,
		pr+"reviewThreads.totalCount",
		"2",
		node+"isResolved",
		"false",
		node+"resolvedBy",
		"null",
		node+"line",
		"3",
		pr+"reviewThreads.nodes.1.line",
		"null",
		pr+"reviewThreads.nodes.1.comments.totalCount",
		"2",
		node+"comments.nodes.0.author.login",
		"bugbot",
		node+"comments.nodes.0.author.__typename",
		"Bot",
		node+"comments.nodes.0.pullRequestReview.fullDatabaseId",
		fmt.Sprint(review),
		node+"comments.nodes.0.originalCommit.oid",
		sandbox.SHA("a1"),
		node+"comments.nodes.0.commit.oid",
		sandbox.SHA("a2"),
		node+"comments.nodes.0.createdAt",
		"2026-11-21T14:00:00Z",
	)
	check(t, g.ResolveThreads(7, "bugbot[bot]", "bob"))
	check(t, g.OutdateThreads(7, "bugbot[bot]"))
	c.query(
		q,
	).is(
		t,
		node+"isResolved",
		"true",
		node+"resolvedBy.login",
		"bob",
		node+"isOutdated",
		"true",
		node+"line",
		"null",
		node+"originalLine",
		"3",
		node+"comments.nodes.0.commit.oid",
		sandbox.SHA("a1"),
	)
	check(t, g.UnresolveThreads(7, "bugbot[bot]"))
	c.query(q).is(t, node+"isResolved", "false")
}

func TestEditorsAndTheTimeline(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	comment := must[int64](t)(g.Comment(7, "github-actions[bot]", "x"))
	review := must[int64](t)(g.Review(7, sandbox.ReviewSpec{By: "codex[bot]", Body: "x"}))
	now.pass(time.Minute)
	check(t, g.EditComment(comment, "mallory", "y"))
	check(t, g.EditReview(review, "", "y"))
	check(t, g.Push(7, "a2", sandbox.PushSpec{Force: true}))
	check(t, g.Retarget(7, "release/1", "bob"))
	check(t, g.RequestReview(7, "copilot-pull-request-reviewer[bot]", ""))
	check(t, g.DismissReview(review, "bob"))
	r := c.pull(`comments(last: 10) {nodes {fullDatabaseId lastEditedAt editor {login}}} reviews(first: 10) {nodes {state editor {login __typename}}}
		events: timelineItems(first: 10, itemTypes: [` +
		`HEAD_REF_FORCE_PUSHED_EVENT, BASE_REF_CHANGED_EVENT, REVIEW_REQUESTED_EVENT, REVIEW_DISMISSED_EVENT]) {totalCount nodes {__typename
			... on HeadRefForcePushedEvent {createdAt beforeCommit {oid} afterCommit {oid}}
			... on BaseRefChangedEvent {previousRefName currentRefName actor {login}}
			... on ReviewRequestedEvent {requestedReviewer {... on Bot {login databaseId}}}
			... on ReviewDismissedEvent {previousReviewState review {fullDatabaseId}}}}
		all: timelineItems(first: 100) {totalCount}`)
	r.is(
		t,
		pr+"comments.nodes.0.editor.login",
		"mallory",
		pr+"comments.nodes.0.lastEditedAt",
		"2026-11-21T14:01:00Z",
		pr+"reviews.nodes.0.editor.login",
		"codex",
		pr+"reviews.nodes.0.state",
		"DISMISSED",
		pr+"events.totalCount",
		"4",
		pr+"events.nodes.0.beforeCommit.oid",
		sandbox.SHA("a1"),
		pr+"events.nodes.0.afterCommit.oid",
		sandbox.SHA("a2"),
		pr+"events.nodes.1.previousRefName",
		"main",
		pr+"events.nodes.1.currentRefName",
		"release/1",
		pr+"events.nodes.1.actor.login",
		"bob",
		pr+"events.nodes.2.requestedReviewer.login",
		"copilot-pull-request-reviewer",
		pr+"events.nodes.3.review.fullDatabaseId",
		fmt.Sprint(review),
		pr+"events.nodes.3.previousReviewState",
		"COMMENTED",
		pr+"all.totalCount",
		"7",
	)
}

func TestSuitesOverGraphQL(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	run := must[int64](t)(g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/a.yml", PR: 7, Event: "pull_request_target"}))
	c.want(201, "POST", "check-runs", `{"name":"Q","head_sha":"`+sandbox.SHA("a1")+`","external_id":"e","output":{"title":"t","summary":"s"}}`)
	check(t, g.Push(7, "a2", sandbox.PushSpec{Commit: sandbox.CommitSpec{Author: "dependabot[bot]", CoAuthors: []string{"dave"}}}))
	r := c.pull(
		`commits(first: 100) {nodes {commit {oid parents(first: 2) {nodes {oid}} ` +
			`authors(first: 10) {nodes {user {login __typename databaseId}}} committer {user {login}}
		checkSuites(first: 10) {totalCount nodes {databaseId createdAt app {slug databaseId} workflowRun {databaseId event runNumber createdAt} ` +
			`checkRuns(first: 10, filterBy: {checkName: "Q"}) {totalCount nodes {databaseId name status conclusion externalId startedAt completedAt}}}}
		statusCheckRollup {state contexts(first: 10) {nodes {__typename ... on CheckRun {name} ... on StatusContext {context}}}}}}}`,
	)
	first, suite := pr+"commits.nodes.0.commit.", pr+"commits.nodes.0.commit.checkSuites.nodes.0."
	r.is(
		t,
		first+"oid",
		sandbox.SHA("a1"),
		first+"checkSuites.totalCount",
		"1",
		suite+"app.databaseId",
		"15368",
		suite+"workflowRun.databaseId",
		fmt.Sprint(run),
		suite+"workflowRun.event",
		"pull_request_target",
		suite+"checkRuns.totalCount",
		"1",
		suite+"checkRuns.nodes.0.externalId",
		"e",
		suite+"checkRuns.nodes.0.status",
		"QUEUED",
		suite+"checkRuns.nodes.0.conclusion",
		"null",
		first+"statusCheckRollup.state",
		"PENDING",
		pr+"commits.nodes.1.commit.statusCheckRollup",
		"null",
		pr+"commits.nodes.1.commit.authors.nodes.0.user.login",
		"dependabot[bot]",
		pr+"commits.nodes.1.commit.authors.nodes.1.user.login",
		"dave",
		pr+"commits.nodes.1.commit.parents.nodes.0.oid",
		sandbox.SHA("a1"),
	)
}

func TestGraphQLPages(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	for i := range 250 {
		must[int64](t)(g.Comment(7, "alice", fmt.Sprint(i)))
	}
	q := `query($n: Int!, $size: Int = 100, $after: String) {repository(owner: "acme", name: "shop") {` +
		`pullRequest(number: $n) {comments(first: $size, after: $after) {pageInfo {hasNextPage endCursor} nodes {body}}}}}`
	var after any
	var got []string
	for range 5 {
		r := c.query(q, "n", 7, "after", after)
		for i := range 100 {
			if body := r.at(fmt.Sprintf("%scomments.nodes.%d.body", pr, i)); body != "<missing>" {
				got = append(got, body)
			}
		}
		if r.at(pr+"comments.pageInfo.hasNextPage") == "false" {
			break
		}
		after = r.at(pr + "comments.pageInfo.endCursor")
	}
	if len(got) != 250 || got[0] != "0" || got[249] != "249" {
		t.Errorf("%d comments", len(got))
	}
	c.pull(
		`comments(last: 2) {pageInfo {hasPreviousPage startCursor} nodes {body}}`,
	).is(
		t,
		pr+"comments.nodes.0.body",
		"248",
		pr+"comments.pageInfo.hasPreviousPage",
		"true",
	)
	c.query(q, "n", 7, "size", 3, "after", "bm9uc2Vuc2U=").is(t, "errors.0.type", "INVALID_CURSOR_ARGUMENTS")
}

// doubled is a query whose fragments come to 2 to that power of fields.
func doubled(times int) string {
	query := "{...f0}"
	for n := range times {
		query += fmt.Sprintf(" fragment f%d on Query {...f%d ...f%d}", n, n+1, n+1)
	}
	return query + fmt.Sprintf(" fragment f%d on Query {viewer {login}}", times)
}

func TestWhatGraphQLRefuses(t *testing.T) {
	_, _, c := quiet(t, sandbox.Options{})
	tests := []struct{ query, want string }{
		{`{repository(owner: "acme", name: "other") {id}}`, "Could not resolve to a Repository"},
		{`{repository(owner: "acme", name: "shop") {pullRequest(number: 99) {id}}}`, "Could not resolve to a PullRequest with the number of 99."},
		{`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {reviews {nodes {body}}}}}`, "must provide a `first` or `last`"},
		{`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {reviews(first: 101) {nodes {body}}}}}`, "exceeds the `first` limit of 100"},
		{`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {verdict}}}`, "Cannot query field \"verdict\" on type \"PullRequest\""},
		{`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {reviews(newest: 3) {totalCount}}}}`, "Unknown argument \"newest\""},
		{`{repository(owner: "acme") {id}}`, "argument \"name\" of type \"String!\" is required"},
		{`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {author {databaseId}}}}`, "Cannot query field \"databaseId\" on type \"Actor\""},
		{
			`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {author {... on Commit {oid}}}}}`,
			"\"Actor\" can never be of type \"Commit\"",
		},
		{`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {title {text}}}}`, "Cannot query field \"text\" on type \"String\""},
		{`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {author}}}`, "must have a selection of subfields"},
		{
			`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {timelineItems(first: 1, itemTypes: [NO_SUCH_EVENT]) {totalCount}}}}`,
			"\"NO_SUCH_EVENT\" does not exist",
		},
		{`{repository(owner: "acme", name: "shop") {pullRequest(number: "seven") {id}}}`, "Int cannot represent"},
		{`query($n: Int!) {repository(owner: "acme", name: "shop") {id}}`, "Variable \"$n\" is never used"},
		{`query($n: String!) {repository(owner: "acme", name: "shop") {pullRequest(number: $n) {id}}}`, "Variable \"$n\" of type \"String!\" used in position"},
		{`{repository(owner: "acme", name: $name) {id}}`, "Variable \"$name\" is not defined"},
		{`{repository(owner: "acme", name: "shop") {...missing}}`, "Unknown fragment \"missing\""},
		{`{repository(owner: "acme", name: "shop") {milestones(first: 1) {totalCount}}}`, "Cannot query field \"milestones\""},
		{
			`{repository(owner: "acme", name: "shop") {pullRequest(number: 7) {commits(first: 100) {nodes {` +
				`commit {checkSuites(first: 100) {nodes {checkRuns(first: 100) {nodes {name}}}}}}}}}}`,
			"exceeds the maximum limit of 500000",
		},
		{`{repository(owner: "acme", name: "shop") {id}`, "Expected Name, found <EOF>"},
		{`{repository(owner: "acme, name: 1) {id}}`, "Unexpected <Invalid>"},
		{`mutation {addStar(input: {starrableId: "x"}) {clientMutationId}}`, "Only queries are known here."},
		{strings.Repeat("{a", 100_000), "maximum nesting depth"},
		{`{...f} fragment f on Query {...f}`, "Cannot spread fragment"},
		{`{...f ...f} fragment f on Query {...g ...g} fragment g on Query {...f ...f}`, "Cannot spread fragment"},
		{``, "Only queries"},
		{doubled(20), "exceeds the maximum limit of 500000"},
		{`query($n: Int!) {repository(owner: "acme", name: "shop") {pullRequest(number: $n) {id}}}`, "must be defined"},
	}
	for _, tt := range tests {
		r := c.query(tt.query)
		if got := r.at("errors.0.message"); !strings.Contains(got, tt.want) {
			t.Errorf("%.120s\n got %s\nwant %s", tt.query, got, tt.want)
		}
	}
	c.query(
		`{repository(owner: "acme", name: "shop") {pullRequest(number: 99) {id}}}`,
	).is(
		t,
		"errors.0.type",
		"NOT_FOUND",
		"data.repository.pullRequest",
		"null",
		"errors.0.path.1",
		"pullRequest",
	)
	c.query(
		`query($s: Boolean!) {repository(owner: "acme", name: "shop") {id @skip(if: $s) name @include(if: $s)}}`,
		"s",
		true,
	).is(
		t,
		"data.repository.id",
		"<missing>",
		"data.repository.name",
		"shop",
	)
}

func TestGraphQLHasAnHourOfItsOwn(t *testing.T) {
	_, _, c := quiet(t, sandbox.Options{HourlyLimit: 2})
	c.pull("title").is(t, pr+"title", "Change 7")
	c.pull("title")
	c.pull("title").is(t, "errors.0.type", "RATE_LIMITED", "data", "<missing>")
	c.get("pulls/7")
}

// FuzzGraphQL: no query brings it down.
func FuzzGraphQL(f *testing.F) {
	f.Add(
		`query Q($n: Int = 7) {a: repository(owner: "acme", name: "shop") {pullRequest(number: $n) {...x @skip(if: false)}}} ` +
			`fragment x on PullRequest {title labels(first: 1) {nodes {name}}}`,
	)
	f.Add(`{repository(owner: "acme", name: "shop") {object(expression: "main") {... on Commit {oid}}}}`)
	g := sandbox.New(sandbox.Options{HourlyLimit: 1 << 30})
	g.OpenPull(sandbox.PullSpec{Number: 7})
	f.Fuzz(func(t *testing.T, q string) {
		c := &caller{t: t, rt: g, token: "t"}
		r := c.query(q)
		if r.at("data") == "<missing>" && r.at("errors") == "<missing>" {
			t.Errorf("neither data nor errors: %s", r.body)
		}
	})
}

// A query costs points: a hundredth of the requests that its connections would take if every page were full.
func TestAQueryCostsPoints(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	const threads = `reviewThreads(first: 50) {nodes {comments(first: $n) {nodes {body}}}}`
	ask := func(fields string, n int) reply { // of the repository
		return c.query(`query($n: Int!) {repository(owner: "acme", name: "shop") {`+fields+`
			never: pullRequests(first: $n) @skip(if: true) {nodes {reviews(first: 50) {nodes {comments(first: 1) {totalCount}}}}}} rateLimit {cost}}`, "n", n)
	}
	for _, test := range []struct {
		name, fields string
		n            int
		points       string
	}{
		{"no connection", `name`, 1, "1"},
		{"one connection", `pullRequests(first: 100) {nodes {number}}`, 1, "1"},
		{"GitHub's example: 1 + 100 + 100 × 50", `pullRequests(first: 100) {nodes {` + threads + `}}`, 60, "51"},
		{"1 + 50: what the innermost one asks for costs nothing", `pullRequest(number: 7) {` + threads + `}`, 100, "1"},
		{
			"1 + 80 + 80 × 5: a variable counts by its value", `pullRequests(first: $n) {nodes {reviews(last: 5) {nodes {
				comments(first: 100) {totalCount}}}}}`, 80, "5",
		},
		{
			"1 + 30 + 30 × 10: also within a fragment", `object(expression: "main") {... on Commit {
				checkSuites(first: 30) {nodes {checkRuns(first: 10) {totalCount}}}}}
				pullRequests(first: $n) {nodes {reviews(first: 10) {nodes {comments(first: 1) {totalCount}}}}}`, 30, "4",
		},
	} {
		before := sandbox.GraphQLPoints(g)
		r := ask(test.fields, test.n)
		r.is(t, "errors", "<missing>", "data.rateLimit.cost", test.points)
		log := g.Requests()
		spent, used := sandbox.GraphQLPoints(g)-before, r.header.Get("X-Ratelimit-Used")
		if fmt.Sprint(spent) != test.points || log[len(log)-1].Points != spent || used != fmt.Sprint(before+spent) {
			t.Errorf("%s: it cost %d points, %s of the hour, and %+v", test.name, spent, used, log[len(log)-1])
		}
	}
	left := 1000 - sandbox.GraphQLPoints(g) // GITHUB_TOKEN has a thousand an hour
	c.get("/rate_limit").is(t, "resources.graphql.remaining", fmt.Sprint(left), "resources.core.used", "0")
	dear := `pullRequests(first: 100) {nodes {` + threads + `}}`
	for range (left + 50) / 51 {
		ask(dear, 60).is(t, "errors", "<missing>")
	}
	ask(dear, 60).is(t, "errors.0.type", "RATE_LIMITED")
	now.pass(time.Hour)
	ask(dear, 60).is(t, "errors", "<missing>")
}

// A merge queue that classic protection asks for stands in GraphQL alone.
func TestAMergeQueueOverGraphQL(t *testing.T) {
	g := newBusy(t, sandbox.Options{}).GitHub
	c := newCaller(t, g)
	const query = `query($branch: String) {repository(owner: "acme", name: "shop") {mergeQueue(branch: $branch) {id}}}`
	c.query(query, "branch", "main").is(t, "data.repository.mergeQueue", "null")
	sandbox.Configure(g, sandbox.Settings{MergeQueue: true})
	c.query(query, "branch", "other").is(t, "data.repository.mergeQueue", "null")
	if id := c.query(query, "branch", "main").at("data.repository.mergeQueue.id"); id == "<missing>" || id == "null" {
		t.Errorf("its id is %s", id)
	}
}
