package evidence_test

// What GitHub shows on a commit alone may be about another pull request, which nobody need see any more.

import (
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

const never = -1 << 20

// twin adds pull request 8 of the same branch.
func (x *scene) twin(head string, created, closed int, change ...func(*quorum.PullRequest)) *scene {
	o := quorum.PullRequest{PR: quorum.PR{Owner: "acme", Repo: "shop", Number: 8}, Head: head, HeadRef: "feature", HeadRepo: "acme/shop", Created: at(created)}
	if closed != never {
		o.Closed, o.ClosedAt = true, at(closed)
	}
	for _, f := range change {
		f(&o)
	}
	x.s.SameBranch = append(x.s.SameBranch, o)
	return x
}

// stranger adds pull request 9 of a fork that has the same head.
func (x *scene) stranger(created int, base string) *scene {
	x.s.SameHead = append(x.s.SameHead, quorum.PullRequest{
		PR: quorum.PR{Owner: "acme", Repo: "shop", Number: 9}, Head: head, HeadRef: "copy", HeadRepo: "mallory/shop", Fork: true, BaseRef: base,
		Author: who("mallory"), Created: at(created),
	})
	return x
}

// blobs are the workflow's file on the base of this pull request and on that of the other.
func (x *scene) blobs(here, there string) *scene {
	base := x.s.SameBranch[len(x.s.SameBranch)-1].BaseRef
	x.s.Blobs = map[quorum.BranchFile]string{{Path: file, Branch: "main"}: here, {Path: file, Branch: base}: there}
	return x
}

func (x *scene) check(c quorum.CheckRun) *scene {
	c.Name, c.Status = "review", "completed"
	x.s.Checks = append(x.s.Checks, c)
	return x
}

func (x *scene) status(id int64, sec int, state string) *scene {
	x.s.Statuses = append(x.s.Statuses, quorum.Status{ID: id, Context: "sonarqube", State: state, Creator: who("sonarbot[bot]"), At: at(sec)})
	return x
}

func lint() quorum.Reviewer {
	r := openai()
	r.Verdict = format(quorum.Conclusion)
	return r
}

func checked(app string) quorum.Reviewer {
	return quorum.Reviewer{
		Name:         "sec",
		Check:        "review",
		App:          app,
		Author:       app + "[bot]",
		Verdict:      format(quorum.Conclusion),
		FailureMeans: quorum.MeansFindings,
		Timeout:      10 * time.Minute,
	}
}

func sonar() quorum.Reviewer {
	return quorum.Reviewer{
		Name:         "sonar",
		Status:       "sonarqube",
		Author:       "sonarbot[bot]",
		Verdict:      format(quorum.Conclusion),
		FailureMeans: quorum.MeansUnavailable,
		Timeout:      10 * time.Minute,
	}
}

func TestApprovalsOfAnotherPullRequest(t *testing.T) {
	const actions = "github-actions"
	another := wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonOtherPull, ""}
	again := wanted{quorum.Pending, quorum.Unknown, quorum.ReasonUnknown, "rerun"}
	event := func(name string) func(*scene) {
		return func(x *scene) { x.p.Reviewers[0].Events = []string{name} }
	}
	of := func(branch, repo string) func(*quorum.Run) {
		return func(r *quorum.Run) { r.Branch, r.Repo = branch, repo }
	}
	strict := lint()
	strict.FailureMeans = quorum.MeansFindings
	both := checked("secbot")
	both.Verdict = format(quorum.Auto)
	running := both
	running.Workflow, running.Events = file, []string{"pull_request"}
	text := func(id int64, from, to int) quorum.CheckRun {
		return quorum.CheckRun{ID: id, App: "secbot", Suite: 9, Conclusion: "success", Summary: "**Ready to merge?** Yes", Started: at(from), Completed: at(to)}
	}
	green := func(app string, id, suite int64, from, to int) quorum.CheckRun {
		return quorum.CheckRun{ID: id, App: app, Suite: suite, Conclusion: "success", Started: at(from), Completed: at(to)}
	}
	red := func(app string, id, suite int64, from, to int) quorum.CheckRun {
		c := green(app, id, suite, from, to)
		c.Conclusion = "failure"
		return c
	}
	job := func(c quorum.CheckRun) quorum.CheckRun { c.Job = true; return c }
	judge(t, []row{
		{"open when the run was made", onHead(lint()).run(1, 10, 100).twin(older, 0, 200), another},
		{"and still open", onHead(lint()).run(1, 10, 100).twin(older, 0, never), another},
		{"opened in the same second", onHead(lint()).run(1, 10, 100).twin(head, 10, 10), another},
		{"opened later", onHead(lint()).run(1, 10, 100).twin(head, 11, 200), approves},
		{"opened later, and the run was run again", onHead(lint()).run(1, 10, 300, attempt(2, 100)).twin(head, 11, 200), approves},
		{"closed before the head arrived", onHead(lint()).run(1, 10, 100).twin(older, -50, -1), approves},
		{"closed before, with this head: a label starts its runs", onHead(lint()).run(1, 10, 100).twin(head, -50, -1), another},
		{"it had this head, and the run came late", onHead(lint()).run(1, 203, 260).twin(older, 0, 200), another},
		{
			"another branch's, which GitHub listed all the same",
			onHead(lint()).run(1, 10, 100).twin(head, 0, 200, func(o *quorum.PullRequest) { o.HeadRef = "other" }),
			approves,
		},
		{"another repository's", onHead(lint()).run(1, 10, 100).twin(head, 0, 200, func(o *quorum.PullRequest) { o.HeadRepo = "mallory/shop" }), approves},
		{"one of whose repository is gone", onHead(lint()).run(1, 10, 100).twin(head, 0, 200, func(o *quorum.PullRequest) { o.HeadRepo = "" }), approves},
		{
			"both of whose repositories are gone",
			onHead(
				lint(),
			).run(
				1,
				10,
				100,
				of("feature", ""),
			).with(
				func(x *scene) { x.s.PR.HeadRepo = "" },
			).twin(
				head,
				0,
				200,
				func(o *quorum.PullRequest) { o.HeadRepo = "" },
			),
			another,
		},
		{"a list without the pull request itself", onHead(lint()).run(1, 10, 100).with(func(x *scene) { x.s.SameBranch = []quorum.PullRequest{} }), another},
		{"a push is of no pull request", onHead(lint()).with(event("push")).run(1, 10, 100, by("push")).twin(head, 0, 200), approves},
		{"a dynamic run is", onHead(lint()).run(1, 10, 100, by("dynamic")).twin(head, 0, 200), another},
		{"a failure is not believed more", onHead(lint()).run(1, 10, 100, ended("failure")).twin(head, 0, 200), again},
		{"one of before speaks", onHead(lint()).run(1, 10, 100).run(2, 210, 300).twin(head, 200, 400), approves},
		{"one of before that failed", onHead(lint()).run(1, 10, 100, ended("failure")).run(2, 210, 300).twin(head, 200, 400), again},
		{"a newer one that failed", onHead(lint()).run(1, 10, 100).run(2, 210, 300, ended("failure")).twin(head, 200, 400), again},
		{"a text of a run of another base's workflow", onHead(openai()).run(1, 10, 100).comment(1, 50, bot, yes).twin(head, 0, 200), another},
		{"of another base's that is the same", onHead(openai()).run(1, 10, 100).comment(1, 50, bot, yes).twin(head, 0, 200).blobs("w1", "w1"), approves},
		{"and that is not", onHead(openai()).run(1, 10, 100).comment(1, 50, bot, yes).twin(head, 0, 200).blobs("w1", "w2"), another},
		{"a text that objects", onHead(openai()).run(1, 10, 100).comment(1, 50, bot, no).twin(head, 0, 200).blobs("w1", "w2"), objects},
		{
			"a text answers nothing there",
			onHead(openai()).run(1, 10, 100).comment(1, 50, bot, no).run(2, 210, 300).comment(2, 250, bot, yes).twin(head, 205, 400).blobs("w1", "w2"),
			stands,
		},

		{"a dynamic run of another's", onHead(lint()).run(1, 10, 100, by("dynamic"), of("refs/pull/8/merge", "acme/shop")), silent},
		{"a dynamic run of its own", onHead(lint()).run(1, 10, 100, by("dynamic"), of("refs/pull/7/merge", "acme/shop")), approves},
		{
			"of a repository that is gone, as the head's is",
			onHead(lint()).run(1, 10, 100, of("feature", "")).with(func(x *scene) { x.s.PR.HeadRepo = "" }),
			another,
		},
		{"another branch's run", onHead(lint()).run(1, 10, 100, of("evil", "acme/shop")), silent},
		{"another branch's that failed", onHead(strict).run(1, 10, 100).run(2, 20, 110, of("evil", "acme/shop"), ended("failure")), stands},
		{"and no own run", onHead(strict).run(2, 20, 110, of("evil", "acme/shop"), ended("failure")), stands},
		{"a fork's that failed", onHead(strict).run(1, 10, 100).run(2, 20, 110, of("feature", "mallory/shop"), ended("failure")), approves},
		{
			"an answer to another branch's",
			onHead(strict).run(2, 20, 110, of("evil", "acme/shop"), ended("failure")).run(3, 120, 200),
			approves,
		},
		{
			"which another branch's run is not",
			onHead(strict).run(1, 10, 100).run(2, 20, 110, of("evil", "acme/shop"), ended("failure")).run(3, 120, 200, of("evil", "acme/shop")),
			stands,
		},
		{"another branch's under way", onHead(strict).run(1, 10, 100).run(2, 20, -1, of("evil", "acme/shop")), approves},
		{"another repository's run", onHead(lint()).run(1, 10, 100, of("feature", "mallory/shop")), silent},
		{"a run of a repository that is gone", onHead(lint()).run(1, 10, 100, of("feature", "")), silent},
		{"the branch is not told", onHead(lint()).run(1, 10, 100, of("", "Acme/Shop")), approves},
		{"a push of another branch", onHead(lint()).with(event("push")).run(1, 10, 100, by("push"), of("evil", "acme/shop")), approves},
		{"another branch's, newer", onHead(lint()).run(1, 10, 100, ended("failure")).run(2, 110, 200, of("evil", "acme/shop")), again},
		{"another branch's reruns are not ours", onHead(lint()).run(1, 10, 100, ended("failure")).run(2, 1, 9, of("evil", "acme/shop"), attempt(3, 5)), again},
		{
			"another branch's run makes nothing ambiguous",
			onHead(openai()).run(1, 10, 100).run(2, 20, 90, of("evil", "mallory/shop"), numbered(0)).comment(1, 50, bot, yes),
			approves,
		},

		{"a check", onHead(checked("secbot")).check(green("secbot", 5, 9, 5, 50)).twin(older, 0, 20), another},
		{"a check from before", onHead(checked("secbot")).check(green("secbot", 5, 9, 5, 50)).twin(head, 51, 60), approves},
		{
			"a check from before speaks",
			onHead(checked("secbot")).check(green("secbot", 5, 9, 5, 50)).check(green("secbot", 6, 9, 55, 58)).twin(head, 51, 60),
			approves,
		},
		{
			"one that objects does, too",
			onHead(checked("secbot")).check(red("secbot", 5, 9, 5, 50)).check(green("secbot", 6, 9, 55, 58)).twin(head, 51, 60),
			objects,
		},
		{"a newer objection", onHead(checked("secbot")).check(green("secbot", 5, 9, 5, 50)).check(red("secbot", 6, 9, 55, 58)).twin(head, 51, 60), objects},
		{"a check in words", onHead(both).check(text(5, 5, 50)).twin(head, 0, 20), another},
		{
			"a review beside it stands in the pull request",
			onHead(both).review(4, 40, "secbot[bot]", "COMMENTED", sageOK).check(text(5, 5, 50)).twin(head, 0, 20),
			approves,
		},
		{"a check in words, and its run is under way", onHead(running).run(1, 60, -1).check(text(5, 5, 50)).twin(head, 0, 20), atWork},
		{"a status", onHead(sonar()).status(5, 50, "success").twin(head, 50, 60), another},
		{"a status from before", onHead(sonar()).status(5, 49, "success").twin(head, 50, 60), approves},
		{"a status from when the other had this head", onHead(sonar()).status(5, -30, "success").twin(older, -50, -20), another},
		{"a check without times", onHead(checked("secbot")).check(quorum.CheckRun{ID: 5, App: "secbot", Conclusion: "success"}).twin(head, 0, 20), another},
		{"a status from before speaks", onHead(sonar()).status(5, 49, "success").status(6, 55, "success").twin(head, 50, 60), approves},

		{"a stranger's, opened while a check was at work", onHead(checked("secbot")).check(green("secbot", 5, 9, 5, 50)).stranger(20, "easy"), approves},
		{"opened before it began", onHead(checked("secbot")).check(green("secbot", 5, 9, 5, 50)).stranger(5, "easy"), another},
		{"against the same base", onHead(checked("secbot")).check(green("secbot", 5, 9, 5, 50)).stranger(0, "main"), approves},
		{"it objects all the same", onHead(checked("secbot")).check(red("secbot", 5, 9, 5, 50)).stranger(0, "easy"), objects},
		{"opened while a status was pending", onHead(sonar()).status(5, 10, "pending").status(6, 50, "success").stranger(20, "easy"), approves},
		{
			"opened before that",
			onHead(sonar()).status(5, 10, "pending").status(6, 50, "success").stranger(10, "easy"),
			wanted{quorum.Pending, quorum.Running, quorum.ReasonRunning, ""},
		},
		{"no run is of a stranger's", onHead(lint()).run(1, 10, 100).stranger(0, "easy"), approves},

		{"a job is as old as its run", onHead(checked(actions)).run(1, 10, 100).check(job(green(actions, 5, 1001, 60, 90))).twin(head, 11, 95), approves},
		{
			"a rerun of a job is, too",
			onHead(checked(actions)).run(1, 10, 400, attempt(2, 300)).check(job(green(actions, 5, 1001, 300, 400))).twin(older, 0, 200),
			another,
		},
		{"another branch's job", onHead(checked(actions)).run(1, 10, 100, of("evil", "acme/shop")).check(job(green(actions, 5, 1001, 20, 30))), silent},
		{"a job of a run that is not listed", onHead(checked(actions)).check(job(green(actions, 5, 1001, 20, 30))), silent},
		{
			"one that failed",
			onHead(checked(actions)).run(1, 10, 100).check(job(green(actions, 5, 1001, 20, 30))).check(job(red(actions, 6, 1002, 40, 50))),
			objects,
		},
		{"a job of a push", onHead(checked(actions)).run(1, 10, 100, by("push")).check(job(green(actions, 5, 1001, 20, 30))).twin(head, 0, 200), approves},
		{
			"written by a workflow, in whosever suite",
			onHead(checked(actions)).run(1, 10, 100, of("evil", "mallory/shop")).check(green(actions, 5, 1001, 20, 30)),
			approves,
		},
		{
			"an objection there is not lost",
			onHead(
				checked(actions),
			).run(
				1,
				10,
				100,
			).run(
				2,
				20,
				100,
				of("evil", "acme/shop"),
			).check(
				job(green(actions, 5, 1001, 20, 30)),
			).check(
				red(actions, 6, 1002, 40, 50),
			),
			objects,
		},
	})
	x := onHead(lint()).run(1, 10, 100).twin(head, 0, 200)
	if b := x.ballot(); b.Detail != "#8" || b.Since != at(100) {
		t.Errorf("it names %q and says so since %s", b.Detail, b.Since)
	}
	x = onHead(sonar()).status(6, 50, "success").stranger(10, "easy")
	if b := x.ballot(); b.Detail != "#9 by mallory" {
		t.Errorf("of a stranger's it says %q", b.Detail)
	}
}

// What nobody has asked for approves nothing, and is asked for where it matters.
func TestMissingSameBranch(t *testing.T) {
	auto := checked("secbot")
	auto.Verdict = format(quorum.Auto)
	for name, c := range map[string]struct {
		x    *scene
		want bool
	}{
		"a green run":          {onHead(lint()).run(1, 10, 100), true},
		"a red one":            {onHead(lint()).run(1, 10, 100, ended("failure")), false},
		"one under way":        {onHead(lint()).run(1, 10, -1), false},
		"a text":               {onHead(openai()).run(1, 10, 100).comment(1, 50, bot, yes), true},
		"one that objects":     {onHead(openai()).run(1, 10, 100).comment(1, 50, bot, no), false},
		"a check":              {onHead(checked("secbot")).check(quorum.CheckRun{ID: 5, App: "secbot", Conclusion: "success", Completed: at(50)}), true},
		"a check that objects": {onHead(checked("secbot")).check(quorum.CheckRun{ID: 5, App: "secbot", Conclusion: "failure", Completed: at(50)}), false},
		"a check in words": {
			onHead(auto).
				check(quorum.CheckRun{ID: 5, App: "secbot", Conclusion: "neutral", Summary: "**Ready to merge?** Yes", Completed: at(50)}).
				comment(1, 60, "secbot[bot]", sageOK),
			true,
		},
		"a status": {onHead(sonar()).status(5, 50, "success"), true},
		"a draft":  {onHead(sonar()).status(5, 50, "success").with(func(x *scene) { x.s.PR.Draft = true }), false},
	} {
		c.x.s.SameBranch = nil
		if got := evidence.Missing(c.x.p, c.x.s).SameBranch; got != c.want {
			t.Errorf("%s: asked for: %v", name, got)
		}
		if b := c.x.ballot(); c.want && b.Vote == quorum.Approve && b.Evidence.Kind != quorum.TextComment {
			t.Errorf("%s: it approves before", name)
		}
		c.x.s.SameBranch = []quorum.PullRequest{}
		if evidence.Missing(c.x.p, c.x.s).SameBranch {
			t.Errorf("%s: asked for again", name)
		}
	}
}
