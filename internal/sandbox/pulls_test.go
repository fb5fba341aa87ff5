package sandbox_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

func TestAPullRequestsLife(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	c.get(
		"pulls/7",
	).is(
		t,
		"head.sha",
		sandbox.SHA("a1"),
		"base.ref",
		"main",
		"state",
		"open",
		"created_at",
		"2026-11-21T14:00:00Z",
		"commits",
		"1",
		"user.login",
		"alice",
	)
	now.pass(time.Minute)
	check(t, g.Push(7, "a2", sandbox.PushSpec{Commit: sandbox.CommitSpec{Author: "carol", CoAuthors: []string{"dave"}}}))
	c.get("pulls/7").is(t, "head.sha", sandbox.SHA("a2"), "updated_at", "2026-11-21T14:01:00Z", "commits", "2")
	c.get(
		"pulls/7/commits",
	).is(
		t,
		"1.author.login",
		"carol",
		"1.parents.0.sha",
		sandbox.SHA("a1"),
		"1.commit.message",
		"Change\n\nCo-authored-by: dave <dave@users.noreply.github.com>",
	)
	check(t, g.Push(7, "a3", sandbox.PushSpec{Force: true}))
	c.get("pulls/7/commits").is(t, "#", "1", "0.sha", sandbox.SHA("a3"))
	c.get("issues/7/timeline").is(t, "0.event", "head_ref_force_pushed", "0.commit_id", sandbox.SHA("a3"))
	c.get("commits/"+sandbox.SHA("a2")+"/pulls").is(t, "#", "0")
	c.get("commits/"+sandbox.SHA("a3")+"/pulls").is(t, "#", "1", "0.number", "7")
	check(t, g.Merge(7, "bob"))
	c.get("pulls/7").is(t, "state", "closed", "merged", "true", "merged_by.login", "bob")
	c.get("pulls").is(t, "#", "0")
	c.get("pulls?state=closed&head=acme:feature-7&base=main").is(t, "#", "1")
	c.want(404, "GET", "pulls/99", "")
	c.want(404, "GET", "/repos/acme/other/pulls", "")
	if err := g.Push(99, "a4", sandbox.PushSpec{}); err == nil {
		t.Error("a push to a pull request that is not there went through")
	}
}

func TestWhoMovedABranch(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	g.OpenPull(sandbox.PullSpec{Number: 8, Head: "f1", Fork: "mallory", Author: "mallory"})
	g.OpenPull(sandbox.PullSpec{Number: 9, Head: "d1", Author: "dependabot[bot]", PushedBy: "bob"})
	now.pass(time.Minute)
	check(t, g.Push(7, "a2", sandbox.PushSpec{By: "bob", Commit: sandbox.CommitSpec{Author: "carol"}}))
	check(t, g.Push(7, "a3", sandbox.PushSpec{By: "bob", Force: true, Commit: sandbox.CommitSpec{Author: "someone@example.org"}}))
	c.get("activity?ref=refs/heads/feature-7").is(t, "#", "3",
		"0.activity_type", "force_push", "0.actor.login", "bob", "0.before", sandbox.SHA("a2"), "0.after",
		sandbox.SHA("a3"),
		"1.activity_type", "push", "1.actor.login", "bob", "2.activity_type", "branch_creation", "2.actor.login", "alice")
	c.get("commits/"+sandbox.SHA("a2")).is(t, "author.login", "carol", "committer.login", "carol")
	c.get("commits/"+sandbox.SHA("a3")).is(t, "author", "null", "committer", "null",
		"commit.author.email", "someone@example.org")
	c.get("activity?ref=refs/heads/feature-9").is(t, "#", "1", "0.actor.login", "bob")
	c.get("activity?ref=refs/heads/feature-8").is(t, "#", "0") // it is told in the fork
}

func TestFilesAndCommits(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	many := make([]sandbox.ChangedFile, 3100)
	for i := range many {
		many[i].Path = fmt.Sprintf("f%d.go", i)
	}
	many[0].Previous = "old.go"
	g.OpenPull(sandbox.PullSpec{Number: 9, Head: "b1", Files: many})
	c.get("pulls/9").is(t, "changed_files", "3100")
	c.get("pulls/9/files?per_page=100").is(t, "0.status", "renamed", "0.previous_filename", "old.go",
		"1.status", "modified", "#", "100")
	c.get("pulls/9/files?per_page=100&page=31").is(t, "#", "0") // GitHub stops at 3,000
	c.get("commits/"+sandbox.SHA("b1")[:7]).is(t, "sha", sandbox.SHA("b1"))
	c.get("commits/"+sandbox.MergeSHA("b1")).is(t, "parents.#", "2", "parents.1.sha", sandbox.SHA("b1"))
	c.want(422, "GET", "commits/0123456789", "")
	c.want(404, "GET", "git/commits/"+sandbox.SHA("nobody"), "")
}

func TestReviewsAndThreads(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.Review(7, sandbox.ReviewSpec{By: "bugbot[bot]", Comments: []sandbox.LineComment{{Path: "main.go", Line: 3, Body: "nil"}}}))
	now.pass(time.Minute)
	check(t, g.Push(7, "a2", sandbox.PushSpec{}))
	c.get("pulls/7/reviews").is(t, "0.state", "COMMENTED", "0.commit_id", sandbox.SHA("a1"), "0.user.type", "Bot",
		"0.submitted_at", "2026-11-21T14:00:00Z")
	c.get("pulls/7/comments").is(t, "0.commit_id", sandbox.SHA("a2"), "0.original_commit_id", sandbox.SHA("a1"), "0.line", "3") // it moves along
	check(t, g.OutdateThreads(7, "bugbot[bot]"))
	c.get("pulls/7/comments").is(t, "0.commit_id", sandbox.SHA("a1"), "0.line", "<missing>")

	reply := must[int64](t)(g.ReplyInThread(7, "bugbot[bot]", "alice", "no"))
	c.get(fmt.Sprintf("pulls/7/reviews/%d", reply)).is(t, "state", "COMMENTED", "body", "")
	c.get("pulls/7/comments").is(t, "1.in_reply_to_id", c.get("pulls/7/comments").at("0.id"))
	check(t, g.DismissReview(id, "bob"))
	c.get("pulls/7/reviews").is(t, "0.state", "DISMISSED")
	c.get("issues/7/timeline").is(t, "0.event", "review_dismissed", "0.dismissed_review.review_id", fmt.Sprint(id),
		"0.dismissed_review.state", "commented")
	if err := g.ResolveThreads(7, "nobody", "bob"); err == nil {
		t.Error("threads that nobody opened were resolved")
	}
}

// TestReviewsMove: GitHub shows some reviews on another commit than the one that they were written on.
func TestReviewsMove(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	for _, by := range []string{"sage[bot]", "bob"} {
		must[int64](t)(g.Review(7, sandbox.ReviewSpec{By: by, State: "APPROVED"}))
	}
	check(t, g.Push(7, "a2", sandbox.PushSpec{Merges: "main", Moves: []string{"sage[bot]"}}))
	c.get("pulls/7/reviews").is(t, "0.commit_id", sandbox.SHA("a2"), "0.submitted_at", "2026-11-21T14:00:00Z",
		"1.commit_id", sandbox.SHA("a1"))
	c.get("commits/"+sandbox.SHA("a2")).is(t, "parents.#", "2", "parents.0.sha", sandbox.SHA("a1"),
		"parents.1.sha", c.get("branches/main").at("commit.sha"), "commit.message", "Merge branch 'main' into feature-7")
	check(t, g.Push(7, "a3", sandbox.PushSpec{Force: true, Moves: []string{"sage[bot]", "bob"}}))
	c.get("pulls/7/reviews").is(t, "0.commit_id", sandbox.SHA("a3"), "1.commit_id", sandbox.SHA("a1")) // not one of an older head
}

func TestReviewsAreRequested(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{App: sandbox.App{Slug: "quorum-app"}})
	var asked []string
	g.OnReviewerAsked(func(kind, body string) { // a player may answer at once
		asked = append(asked, kind+" "+body)
		must[int64](t)(g.Comment(7, "app[bot]", "on it"))
	})
	ask := func(login string) reply {
		return c.ask("POST", "pulls/7/requested_reviewers", `{"reviewers":["`+login+`"]}`)
	}
	for login, want := range map[string]int{"copilot-pull-request-reviewer": 422, "alice": 422, "stranger": 422, "copilot-pull-request-reviewer[bot]": 201} {
		if r := ask(login); r.status != want {
			t.Errorf("%s: status %d, want %d", login, r.status, want)
		}
	}
	c.get("pulls/7").is(t, "requested_reviewers.0.login", "Copilot", "requested_reviewers.0.type", "Bot")
	c.get("issues/7/timeline").is(
		t, "0.event", "review_requested", "0.requested_reviewer.login", "Copilot", "0.actor.login", "quorum-app[bot]",
	)
	must[int64](t)(g.Review(7, sandbox.ReviewSpec{By: "copilot-pull-request-reviewer[bot]"}))
	c.get("pulls/7").is(t, "requested_reviewers.#", "0")
	c.want(201, "POST", "issues/7/comments", `{"body":"@app review"}`)
	if got := strings.Join(asked, "; "); got != "review_request copilot-pull-request-reviewer[bot]; comment @app review" {
		t.Errorf("asked: %s", got)
	}
	if w := g.Wrote(); len(w.RequestedReviews) != 1 || len(w.Comments) != 1 {
		t.Errorf("wrote %+v", w)
	}
}

// TestCopilotHearsNoJob: GitHub takes a job's request and does nothing, as only the answer's list of reviewers shows.
func TestCopilotHearsNoJob(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	g.OnReviewerAsked(func(kind, body string) { t.Errorf("it was asked: %s %s", kind, body) })
	r := c.ask("POST", "pulls/7/requested_reviewers", `{"reviewers":["copilot-pull-request-reviewer[bot]"]}`)
	r.is(t, "requested_reviewers.#", "0")
	c.get("pulls/7").is(t, "requested_reviewers.#", "0")
	if w := g.Wrote(); r.status != 201 || len(w.RequestedReviews) != 0 {
		t.Errorf("status %d, wrote %+v", r.status, w)
	}
}

func TestComments(t *testing.T) {
	g, now, c := quiet(t, sandbox.Options{})
	id := must[int64](t)(g.Comment(7, "codex[bot]", "one"))
	now.pass(time.Minute)
	must[int64](t)(g.Comment(7, "codex[bot]", "two"))
	check(t, g.EditComment(id, "alice", "better"))
	c.get(
		fmt.Sprintf("issues/comments/%d", id),
	).is(
		t,
		"body",
		"better",
		"user.login",
		"codex[bot]",
		"created_at",
		"2026-11-21T14:00:00Z",
		"updated_at",
		"2026-11-21T14:01:00Z",
	)
	check(t, g.DeleteComment(g.NewestComment(7, "codex[bot]")))
	c.get("issues/7/comments").is(t, "#", "1")
	c.get("issues/7/comments?since=2026-11-21T14:02:00Z").is(t, "#", "0")
	c.want(422, "POST", "issues/7/comments", `{"body":" "}`)
	c.want(404, "GET", "issues/comments/1", "")
}

func TestContents(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	const file = ".github/review-coordinator.yml"
	c.want(404, "GET", "contents/"+file, "")
	g.SetFile(file, "", "version: 1\n")
	g.SetFile(file, "feature-7", "version: 2\n")
	raw := func(ref string) string {
		return string(c.get("contents/"+file+"?ref="+ref, "Accept: application/vnd.github.raw+json").body)
	}
	for ref, want := range map[string]string{
		"": "version: 1\n", "main": "version: 1\n", "feature-7": "version: 2\n", sandbox.SHA("a1"): "version: 2\n",
		"release": "",
	} {
		if want == "" {
			c.want(404, "GET", "contents/"+file+"?ref="+ref, "")
		} else if got := raw(ref); got != want {
			t.Errorf("at %q: %q, want %q", ref, got, want)
		}
	}
	r := c.get("contents/" + file)
	b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(r.at("content"), "\n", ""))
	if string(b) != "version: 1\n" || err != nil {
		t.Errorf("content %q, %v", b, err)
	}
	r.is(t, "sha", "b82551848c644f63b8517a7bdf8be9a992e6f4da", "encoding", "base64")
	g.RemoveFile(file, "feature-7")
	c.want(404, "GET", "contents/"+file+"?ref=feature-7", "")
}

func TestTrees(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	g.SetFile("docs/rules.md", "", "Be kind.\n")
	sandbox.SetLink(g, "web/AGENTS.md", "", "../docs/rules.md")
	check(t, g.Push(7, "a2", sandbox.PushSpec{Files: []sandbox.ChangedFile{
		{Path: "run.sh", Mode: "100755", Added: 3}, {Path: "docs/rules.md", Status: "removed"},
	}}))
	list := func(at string) (lines []string) {
		r := c.get("git/trees/" + at)
		for i := range 9 {
			if path := r.at(fmt.Sprintf("tree.%d.path", i)); path != "<missing>" {
				lines = append(lines, r.at(fmt.Sprintf("tree.%d.mode", i))+" "+path)
			}
		}
		return lines
	}
	for at, want := range map[string]string{
		"main":                             "040000 docs, 040000 web",
		"main?recursive=1":                 "040000 docs, 100644 docs/rules.md, 040000 web, 120000 web/AGENTS.md",
		sandbox.SHA("a2") + "?recursive=1": "100755 run.sh, 040000 web, 120000 web/AGENTS.md",
	} {
		if got := strings.Join(list(at), ", "); got != want {
			t.Errorf("at %s: %s, want %s", at, got, want)
		}
	}
	link := c.get("git/trees/main?recursive=1").at("tree.3.sha")
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(c.get("git/blobs/" + link).at("content")))
	if string(text) != "../docs/rules.md" || err != nil {
		t.Errorf("the link leads to %q, %v", text, err)
	}
	if got := string(c.get("contents/web/AGENTS.md", "Accept: application/vnd.github.raw+json").body); got != "Be kind.\n" {
		t.Errorf("through the link stands %q", got)
	}
	c.get("pulls/7").is(t, "additions", "4", "deletions", "1")
	sandbox.LimitTrees(g, 3)
	c.get("git/trees/main?recursive=1").is(t, "truncated", "true", "tree.#", "3")
	c.want(404, "GET", "git/trees/nowhere", "")
	c.want(404, "GET", "git/blobs/"+sandbox.SHA("nobody"), "")
}

func TestSignedCommits(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	for i, test := range []struct {
		push sandbox.PushSpec
		want string
	}{
		{sandbox.PushSpec{By: "renovate[bot]"}, "true"},
		{sandbox.PushSpec{By: "alice"}, "false"},
		{sandbox.PushSpec{By: "alice", Commit: sandbox.CommitSpec{Author: "renovate[bot]"}}, "false"},
		{sandbox.PushSpec{By: "renovate[bot]", Commit: sandbox.CommitSpec{Signature: sandbox.Unsigned}}, "false"},
		{sandbox.PushSpec{By: "alice", Commit: sandbox.CommitSpec{Signature: sandbox.Signed}}, "true"},
	} {
		name := fmt.Sprint("c", i)
		check(t, g.Push(7, name, test.push))
		c.get("commits/"+sandbox.SHA(name)).is(t, "commit.verification.verified", test.want)
	}
}

func TestWhoMayWhat(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	g.SetPermission("Bob", "maintain")
	c.get("collaborators/bob/permission").is(t, "permission", "write", "role_name", "maintain", "user.login", "bob")
	c.get("collaborators/passer-by/permission").is(t, "permission", "read")
	c.get("collaborators/acme/permission").is(t, "permission", "admin")
	c.get("collaborators").is(t, "0.login", "bob", "0.role_name", "maintain", "0.permissions.push", "true", "0.permissions.admin", "false")
	g.AddRuleset("release/1")
	c.get("branches/main").is(t, "protected", "false")
	c.get("branches/release/1").is(t, "protected", "true")
	c.get("branches/release%2F1").is(t, "protected", "true")
	c.get("rules/branches/release/1").is(t, "#", "1")
	c.get("rules/branches/main").is(t, "#", "0")
	c.want(404, "GET", "branches/nowhere", "")
	c.get("git/ref/heads/feature-7").is(t, "object.sha", sandbox.SHA("a1"))
	c.want(404, "GET", "git/ref/heads/nowhere", "")
	c.want(403, "GET", "/user", "")
}

func TestWhichCheckIsRequired(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	const rule, protection = "0.parameters.required_status_checks.", "protection.required_status_checks."
	g.Protect("classic")
	bound, lint := sandbox.RequiredCheck{Name: "Q", AppID: 4242}, sandbox.RequiredCheck{Name: "lint"}
	sandbox.ProtectBranch(g, "bound", lint, bound)
	sandbox.ProtectBranch(g, "linear")
	g.AddRuleset("ruled")
	sandbox.AddBranchRuleset(g, "ruled/bound", bound, lint)
	sandbox.AddBranchRuleset(g, "kept")

	classic := c.get("branches/classic")
	classic.is(t, "protected", "true", "protection.enabled", "true", protection+"enforcement_level", "non_admins")
	classic.is(t, protection+"contexts.0", "Review quorum", protection+"checks.0.context", "Review quorum",
		protection+"checks.0.app_id", "null")
	c.get("branches/bound").is(t, protection+"contexts.#", "2", protection+"checks.1.context", "Q",
		protection+"checks.1.app_id", "4242")
	c.get("branches/linear").is(t, "protected", "true", "protection.enabled", "true", protection+"contexts.#", "0")
	c.get("branches/ruled").is(t, "protected", "true", "protection.enabled", "false", protection+"contexts.#", "0")
	c.get("rules/branches/classic").is(t, "#", "0")
	c.get("rules/branches/ruled").is(t, "#", "1", "0.type", "required_status_checks", rule+"0.context", "Review quorum",
		rule+"0.integration_id", "<missing>")
	c.get("rules/branches/ruled/bound").is(t, rule+"#", "2", rule+"0.context", "Q", rule+"0.integration_id", "4242")
	c.get("rules/branches/kept").is(t, "#", "2", "0.type", "deletion", "1.type", "required_linear_history")
}

// A comment and a review hold 262,144 bytes; a page of a hundred of them is 26 MB, and comes as it is.
func TestLargeTexts(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	large := strings.Repeat("ü", 131_072) // of two bytes each
	id := c.want(201, "POST", "issues/7/comments", `{"body":"`+large+`"}`).at("id")
	long := (&caller{t: t, rt: g, token: "t1"})
	long.want(422, "POST", "issues/7/comments", `{"body":"`+large+`x"}`).is(
		t, "message", "Validation Failed: body is too long (maximum is 262144 characters)")
	long.want(422, "PATCH", "issues/comments/"+id, `{"body":"`+large+`x"}`)
	c.want(200, "PATCH", "issues/comments/"+id, `{"body":"`+large+`"}`)
	review := must[int64](t)(g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", Body: large}))
	for _, err := range []error{
		second(g.Comment(7, "sage[bot]", large+"x")),
		second(g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", Body: large + "x"})),
		g.EditReview(review, "", large+"x"), g.EditComment(g.NewestComment(7, "github-actions[bot]"), "", large+"x"),
	} {
		if err == nil || !strings.Contains(err.Error(), "body is too long") {
			t.Errorf("a text that is too long: %v", err)
		}
	}
	large = strings.Repeat("y", 262_144)
	for range 99 {
		must[int64](t)(g.Comment(7, "sage[bot]", large))
		must[int64](t)(g.Review(7, sandbox.ReviewSpec{By: "sage[bot]", Body: large}))
	}
	for _, of := range []string{"issues/7/comments", "pulls/7/reviews"} {
		page := long.get(of + "?per_page=100") // held against the description it would take a while
		if len(page.body) < 100*262_144 || strings.Count(string(page.body), large) != 99 {
			t.Errorf("%s: a page of %d bytes", of, len(page.body))
		}
	}
}

func second(_ int64, err error) error { return err }
