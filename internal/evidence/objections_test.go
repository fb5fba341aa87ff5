package evidence_test

import (
	"testing"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// looks makes a look, with its record, and returns the first reviewer's ballot.
func (x *scene) looks(sec int) quorum.Ballot {
	ballots := evidence.Judge(x.p, x.s)
	d := quorum.Decide(x.p, ballots, evidence.Facts(x.p, x.s), at(sec))
	x.s.Record = evidence.Remember(x.p, x.s, d, at(sec))
	return ballots[0]
}

// What was said and seen stands, whatever takes the text away.
func TestNothingButAnAnswerEndsAnObjection(t *testing.T) {
	onlyNew := openai()
	onlyNew.OnlyNew = true
	for name, steps := range map[string]func() *scene{
		"a yes of its own that it edited into a no, beside a newer yes": func() *scene {
			x := onHead(sage()).review(1, 10, "sage[bot]", "COMMENTED", sageOK)
			x.looks(11)
			x.review(2, 30, "sage[bot]", "COMMENTED", sageOK)
			x.looks(31)
			x.s.Reviews[0].Body, x.s.Reviews[0].Edited, x.s.Reviews[0].Editor = sageNo, at(50), who("sage[bot]")
			return x
		},
		"the same in comments, and the no was deleted": func() *scene {
			x := onHead(sage()).comment(1, 10, "sage[bot]", sageOK)
			x.looks(11)
			x.comment(2, 30, "sage[bot]", sageOK)
			x.looks(31)
			x.s.Comments[0].Body, x.s.Comments[0].Edited, x.s.Comments[0].Editor = sageNo, at(50), who("sage[bot]")
			x.looks(51)
			x.s.Comments = x.s.Comments[1:]
			return x
		},
		"first seen while the next run goes on, and deleted": func() *scene {
			x := onHead(openai()).run(1, 5, 40).comment(1, 30, bot, no).run(2, 60, -1)
			x.looks(61)
			x.s.Comments = nil
			return x
		},
		"an open thread beside a clean answer, while the next run goes on": func() *scene {
			x := onHead(onlyNew).run(1, 5, 40).review(1, 30, bot, "COMMENTED", yes).thread(77)
			x.looks(41)
			return x.run(2, 60, -1)
		},
		"the same, and the next run failed": func() *scene {
			x := onHead(onlyNew).run(1, 5, 40).review(1, 30, bot, "COMMENTED", yes).thread(77)
			x.looks(41)
			return x.run(2, 60, 70, ended("failure"))
		},
		"a thread of the next run was resolved, which is no answer to what was said in words": func() *scene {
			x := onHead(openai()).run(1, 5, 40).comment(1, 30, bot, no)
			x.looks(41)
			x.run(2, 60, 90).review(2, 80, bot, "COMMENTED", "## OpenAI Review\n\n1 comment.\n").thread(5)
			x.looks(91)
			x.s.Threads[0].Resolved, x.s.Threads[0].ResolvedBy = true, who("carol")
			return x
		},
	} {
		if b := steps().looks(120); b.Vote != quorum.Object {
			t.Errorf("%s: it is %s, %s", name, b.Vote, b.Reason)
		}
	}
}

// leavesAndReturns changes the base to another one and back.
func (x *scene) leavesAndReturns(left, back int) *scene {
	x.event(left, quorum.Event{Kind: quorum.BaseChanged, Actor: who("alice"), From: "main", To: "dev"})
	return x.event(back, quorum.Event{Kind: quorum.BaseChanged, Actor: who("alice"), From: "dev", To: "main"})
}

// What was said before the first look stands as long as GitHub shows it, whatever its reviewer has begun since.
func TestAnObjectionStandsAtTheFirstLook(t *testing.T) {
	conclusion := lint()
	conclusion.FailureMeans = quorum.MeansFindings
	status := conclusion
	status.Workflow, status.Status, status.Author = "", "sonarqube", "sonarbot[bot]"
	check := conclusion
	check.Workflow, check.Check, check.App = "", "review", "secbot"
	for name, c := range map[string]struct {
		scene *scene
		vote  quorum.Vote
	}{
		"a status that is pending again": {
			onHead(status).status(1, 10, "failure").status(2, 20, "pending"), quorum.Object,
		},
		"a status that is a yes since": {
			onHead(status).status(1, 10, "failure").status(2, 20, "success"), quorum.Approve,
		},
		"a status that was a yes before": {
			onHead(status).status(1, 10, "success").status(2, 20, "pending"), quorum.Pending,
		},
		"a check beside a newer one that goes on": {onHead(check).check(quorum.CheckRun{ID: 1, App: "secbot", Conclusion: "failure", Completed: at(10)}).
			with(func(x *scene) {
				x.s.Checks = append(x.s.Checks, quorum.CheckRun{ID: 2, Name: "review", App: "secbot", Status: "in_progress", Started: at(20)})
			}), quorum.Object},
		"a run beside a newer one that goes on": {
			onHead(conclusion).run(1, 5, 40, log("failure", "2 problems")).run(2, 60, -1), quorum.Object,
		},
		"a run beside a newer one that succeeded": {
			onHead(conclusion).run(1, 5, 40, log("failure", "2 problems")).run(2, 60, 90), quorum.Approve,
		},
		"a run before one that succeeded": {
			onHead(conclusion).run(1, 5, 20, log("failure", "2 problems")).run(2, 30, 40).run(3, 60, -1), quorum.Pending,
		},
		"a run that failed by an outage": {
			onHead(conclusion).run(1, 5, 40, log("failure", "HTTP 503: overloaded")).run(2, 60, -1), quorum.Pending,
		},
		"a review before the base was left for a while": {
			onHead(sage()).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "No.").leavesAndReturns(30, 50), quorum.Object,
		},
		"the same within a second": {
			onHead(sage()).review(1, 30, "sage[bot]", "CHANGES_REQUESTED", "No.").leavesAndReturns(30, 30), quorum.Object,
		},
		"a run's text before the base was left": {
			onHead(openai()).run(1, 5, 20).comment(1, 18, bot, no).leavesAndReturns(30, 50), quorum.Object,
		},
		"a yes to the other base answers nothing": {
			onHead(sage()).comment(1, 10, "sage[bot]", sageNo).leavesAndReturns(30, 50).comment(2, 40, "sage[bot]", sageOK), quorum.Object,
		},
		"a yes since that may have been begun against the other base": {
			onHead(sage()).comment(1, 10, "sage[bot]", sageNo).leavesAndReturns(30, 50).comment(2, 60, "sage[bot]", sageOK), quorum.Object,
		},
		"a second yes since answers it": {
			onHead(sage()).comment(1, 10, "sage[bot]", sageNo).leavesAndReturns(30, 50).
				comment(2, 60, "sage[bot]", sageOK).comment(3, 70, "sage[bot]", sageOK), quorum.Approve,
		},
		"a yes before the base was left had answered it": {
			onHead(sage()).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "No.").
				review(2, 20, "sage[bot]", "APPROVED", "").leavesAndReturns(30, 50), quorum.Pending,
		},
		"an objection while the other base was there": {
			onHead(sage()).review(1, 40, "sage[bot]", "CHANGES_REQUESTED", "No.").leavesAndReturns(30, 50), quorum.Object,
		},
		"an objection before another base": {
			onHead(sage()).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "No.").retargeted(30), quorum.Object,
		},
		"a no before another base that was answered there": {
			onHead(sage()).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "No.").review(2, 20, "sage[bot]", "APPROVED", "").retargeted(30),
			quorum.Pending,
		},
		"a run's no while the base was away": {
			onHead(openai()).run(1, 5, 40).comment(1, 38, bot, no).leavesAndReturns(30, 50), quorum.Object,
		},
		"a run's no after the base came back": {
			onHead(openai()).run(1, 5, 60).comment(1, 58, bot, no).leavesAndReturns(30, 50), quorum.Object,
		},
		"resolved by somebody who may": {
			onHead(sage()).review(1, 10, "sage[bot]", "COMMENTED", "").thread(5, resolved("carol")).leavesAndReturns(30, 50), quorum.Pending,
		},
	} {
		if b := c.scene.ballot(); b.Vote != c.vote {
			t.Errorf("%s: it is %s, %s", name, b.Vote, b.Reason)
		}
		if b := c.scene.looks(120); b.Vote != c.vote {
			t.Errorf("%s, second look: it is %s, %s", name, b.Vote, b.Reason)
		}
	}
}

// A person ends an objection to a base that the pull request has come back to as any other.
func TestAPersonEndsAnObjectionAfterTheReturn(t *testing.T) {
	seen := func(x *scene) *scene {
		x.looks(20)
		return x.leavesAndReturns(30, 50)
	}
	for name, x := range map[string]*scene{
		"a review is dismissed": seen(onHead(sage()).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "No.")).with(func(x *scene) {
			x.s.Reviews[0].State = "DISMISSED"
		}).event(60, quorum.Event{Kind: quorum.ReviewDismissed, Actor: who("carol"), Review: 1, From: "CHANGES_REQUESTED"}),
		"its threads are resolved": seen(onHead(sage()).review(1, 10, "sage[bot]", "COMMENTED", "").thread(5)).with(func(x *scene) {
			resolved("carol")(&x.s.Threads[0])
		}),
	} {
		if b := x.ballot(); b.Vote != quorum.Pending {
			t.Errorf("%s: it is %s, %s", name, b.Vote, b.Reason)
		}
	}
}

// And what answers it does.
func TestAnswersEndAnObjection(t *testing.T) {
	for name, steps := range map[string]func() *scene{
		"a new comment of a reviewer that was asked again": func() *scene {
			x := onHead(sage()).comment(1, 10, "sage[bot]", sageNo)
			x.looks(11)
			x.comment(2, 20, "carol", "@sage review")
			x.looks(21)
			return x.comment(3, 50, "sage[bot]", sageOK)
		},
		"a run that began again without a new attempt": func() *scene {
			x := onHead(openai()).run(1, 5, 40).comment(1, 30, bot, no)
			x.looks(41)
			x.s.Runs[0].Started, x.s.Runs[0].Updated, x.s.Runs[0].Jobs[0].Started = at(100), at(140), at(100)
			return x.comment(2, 130, bot, yes)
		},
		"a run of the workflow that the policy names now": func() *scene {
			x := onHead(openai()).run(1, 5, 40).comment(1, 30, bot, no)
			x.looks(41)
			x.p.Reviewers[0].Workflow = ".github/workflows/new.yml"
			return x.run(2, 60, 90, func(r *quorum.Run) { r.Path = ".github/workflows/new.yml" }).comment(2, 80, bot, yes)
		},
	} {
		if b := steps().looks(150); b.Vote != quorum.Approve {
			t.Errorf("%s: it is %s, %s", name, b.Vote, b.Reason)
		}
	}
}

// However often a reviewer with many open threads is run again, its threads are recorded once, and answered ones go.
func TestTheRecordKeepsFewThreads(t *testing.T) {
	onlyNew := openai()
	onlyNew.OnlyNew = true
	x := onHead(onlyNew)
	for n := range 12 {
		x.run(int64(n+1), 100*n, 100*n+50).review(int64(n+1), 100*n+20, bot, "COMMENTED", yes)
		for id := range int64(5) {
			x.thread(int64(100*n) + id + 1)
		}
		if b := x.looks(100*n + 60); b.Vote != quorum.Object {
			t.Fatalf("run %d: it is %s, %s", n, b.Vote, b.Reason)
		}
	}
	if n := len(x.s.Record.Objections); n > 20+12 {
		t.Errorf("%d objections are recorded", n)
	}
}

// An App that edits the words of its review ends nothing by that, and a person who resolves its threads does.
func TestThreadsOfAnEditedReviewEndIt(t *testing.T) {
	x := onHead(sage()).review(1, 10, "sage[bot]", "COMMENTED", "").thread(5)
	x.looks(11)
	x.s.Reviews[0].Body, x.s.Reviews[0].Edited, x.s.Reviews[0].Editor = "One remark.", at(30), who("sage[bot]")
	x.looks(31)
	resolved("carol")(&x.s.Threads[0])
	if b := x.looks(60); b.Vote == quorum.Object {
		t.Errorf("it is %s, %s", b.Vote, b.Reason)
	}
}

// Of two statuses of one second the higher ID is the newer one, whether a look saw the first alone or both.
func TestAStatusAnswersOneOfTheSameSecond(t *testing.T) {
	status := lint()
	status.Workflow, status.Status, status.Author, status.FailureMeans = "", "sonarqube", "sonarbot[bot]", quorum.MeansFindings
	for _, isSeen := range []bool{false, true} {
		for ids, want := range map[[2]int64]quorum.Vote{{1, 2}: quorum.Approve, {2, 1}: quorum.Object} { // failure, success
			x := onHead(status).status(ids[0], 10, "failure")
			if isSeen {
				x.looks(10)
			}
			x.status(ids[1], 10, "success")
			for _, sec := range []int{20, 30} {
				if b := x.looks(sec); b.Vote != want {
					t.Errorf("failure %d, success %d, seen %t, look at %d: it is %s, %s", ids[0], ids[1], isSeen, sec, b.Vote, b.Reason)
				}
			}
		}
	}
}

// A text whose last editor nobody knows may be the reviewer's own: that takes its yes, and leaves its no.
func TestAnUnknownEditorVoidsNoObjection(t *testing.T) {
	for said, want := range map[string]quorum.Vote{sageNo: quorum.Object, sageOK: quorum.Pending} {
		x := onHead(sage()).comment(1, 10, "sage[bot]", said)
		x.s.Comments[0].Edited = at(20)
		if b := x.looks(260); b.Vote != want {
			t.Errorf("%q: it is %s, %s; want %s", said, b.Vote, b.Reason, want)
		}
	}
}

// Words that somebody else takes out of a review end nothing, though its threads are resolved then: neither over a push
// nor where the base was left. That its author takes them out does.
func TestAReviewThatSomebodyElseEditedEndsByNoThreads(t *testing.T) {
	change := func(editor, body string) func(*scene) {
		return func(x *scene) {
			x.s.Reviews[0].Body, x.s.Reviews[0].Edited, x.s.Reviews[0].Editor = body, at(30), who(editor)
			resolved("carol")(&x.s.Threads[0])
		}
	}
	for _, isReturn := range []bool{false, true} {
		for name, test := range map[string]struct {
			change  func(*scene)
			objects bool
		}{
			"emptied by one who may write":           {change("mallory", ""), true},
			"emptied by who wrote the change":        {change("alice", ""), true},
			"turned into a yes by one who may write": {change("mallory", sageOK), true},
			"emptied by its author":                  {change("sage[bot]", ""), false},
		} {
			for _, isSeen := range []bool{false, true} { // what was edited is seen before it goes on
				x := onHead(sage()).ofDiff(aDiff).review(1, 10, "sage[bot]", "COMMENTED", sageNo).thread(77)
				x.looks(11)
				x.with(test.change)
				if isSeen {
					x.looks(35)
				}
				if isReturn {
					x.leavesAndReturns(40, 50)
				} else {
					x = x.pushed(aDiff)
				}
				if b := x.looks(260); (b.Vote == quorum.Object) != test.objects {
					t.Errorf("%s, the base left %t, seen %t: it is %s, %s", name, isReturn, isSeen, b.Vote, b.Reason)
				}
			}
		}
	}
}

// The record keeps the first objection of a reviewer and the newest, however often it objects.
func TestTheRecordKeepsTwoObjections(t *testing.T) {
	status := lint()
	status.Workflow, status.Status, status.Author, status.FailureMeans = "", "sonarqube", "sonarbot[bot]", quorum.MeansFindings
	x := onHead(status)
	for n := range 10 {
		x.status(int64(n+1), 10*n+1, "failure").looks(10*n + 2)
	}
	if all := x.s.Record.Objections; len(all) != 2 || all[0].ID != 1 || all[1].ID != 10 {
		t.Errorf("%d are kept: %+v", len(all), all)
	}
}

// A word within a word is no command, and a review may hold one as well as a comment.
func TestWhatIsACommand(t *testing.T) {
	obeys := sage()
	obeys.Obeys = []string{"approve", "resolve"}
	for words, vote := range map[string]quorum.Vote{
		"@sage what is unresolved?":  quorum.Approve,
		"@sage approve":              quorum.Pending,
		"Please, @sage: resolve it.": quorum.Pending,
	} {
		for name, say := range map[string]func(x *scene){
			"comment": func(x *scene) { x.comment(9, 10, "mallory", words) },
			"review":  func(x *scene) { x.review(9, 10, "mallory", "COMMENTED", words) },
		} {
			x := onHead(obeys).with(say).review(10, 20, "sage[bot]", "APPROVED", "")
			if b := x.ballot(); b.Vote != vote {
				t.Errorf("%q in a %s: it is %s, %s", words, name, b.Vote, b.Reason)
			}
		}
	}
}

// A name that a reviewer's account or App has given up is anybody's: by its id it is not the reviewer.
func TestAReviewerIsKnownByItsID(t *testing.T) {
	by := func(id int64) func(x *scene) {
		return func(x *scene) { x.s.Reviews[len(x.s.Reviews)-1].Author.ID = id }
	}
	x := onHead(sage()).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "No.").with(by(5))
	x.looks(11)
	if b := x.review(2, 30, "sage[bot]", "APPROVED", "").with(by(9)).looks(31); b.Vote != quorum.Object {
		t.Errorf("another account of its name: it is %s, %s", b.Vote, b.Reason)
	}
	if b := x.review(3, 50, "sage[bot]", "APPROVED", "").with(by(5)).looks(51); b.Vote != quorum.Approve {
		t.Errorf("its own: it is %s, %s", b.Vote, b.Reason)
	}

	check := lint()
	check.Workflow, check.Check, check.App, check.FailureMeans = "", "review", "secbot", quorum.MeansFindings
	x = onHead(check).check(quorum.CheckRun{ID: 1, App: "secbot", AppID: 5, Conclusion: "failure", Completed: at(10)})
	x.looks(11)
	if b := x.check(quorum.CheckRun{ID: 2, App: "secbot", AppID: 9, Conclusion: "success", Completed: at(20)}).looks(21); b.Vote != quorum.Object {
		t.Errorf("another App of its name: it is %s, %s", b.Vote, b.Reason)
	}
}

// Whose id the policy knows is told by it from the first text on: a renamed account is still known, and whoever took
// over its name is nobody, though an earlier look may have remembered them.
func TestAReviewerWhoseIDThePolicyKnows(t *testing.T) {
	known := sage()
	known.AuthorID = 5
	as := func(login string, id int64) func(x *scene) {
		return func(x *scene) {
			last := &x.s.Reviews[len(x.s.Reviews)-1].Author
			*last = who(login)
			last.ID = id
		}
	}
	for name, c := range map[string]struct {
		login string
		id    int64
		want  quorum.Vote
	}{
		"its own":                            {"sage[bot]", 5, quorum.Approve},
		"its own, and GitHub says no number": {"sage[bot]", 0, quorum.Approve},
		"its own under a new name":           {"sage-reviews[bot]", 5, quorum.Approve},
		"another under its name":             {"sage[bot]", 9, quorum.Pending},
		"a person under its name":            {"sage", 5, quorum.Approve}, // a number has one owner
		"anybody":                            {"basil[bot]", 9, quorum.Pending},
	} {
		x := onHead(known).review(1, 10, "sage[bot]", "APPROVED", "").with(as(c.login, c.id))
		x.s.Record.Accounts = []quorum.SeenAccount{{Name: "sage[bot]", ID: 9}}
		if b := x.ballot(); b.Vote != c.want {
			t.Errorf("%s: it is %s, %s", name, b.Vote, b.Reason)
		}
	}
	x := onHead(known).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "No.").with(as("sage-reviews[bot]", 5))
	x.looks(11)
	if b := x.review(2, 30, "sage[bot]", "APPROVED", "").with(as("sage[bot]", 9)).looks(31); b.Vote != quorum.Object {
		t.Errorf("another account of the name that it gave up: it is %s, %s", b.Vote, b.Reason)
	}
	x = onHead(known)
	x.s.PR.Author = quorum.Account{Login: "sage-reviews[bot]", ID: 5, Bot: true}
	if b := x.ballot(); b.Reason != quorum.ReasonSelf {
		t.Errorf("a pull request of its own under a new name: it is %s, %s", b.Vote, b.Reason)
	}
}

// A review of the head was moved there if it is older than the push: by what tells the push, or by the head's first
// suite.
func TestMovedReview(t *testing.T) {
	const other = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"
	forced := func(sec int, from, to string) func(*scene) *scene {
		return func(x *scene) *scene { return x.event(sec, quorum.Event{Kind: quorum.ForcePushed, From: from, To: to}) }
	}
	pushedAt := func(sec int) func(*scene) *scene {
		return func(x *scene) *scene {
			x.s.Pushes = append(x.s.Pushes, quorum.Push{Before: other, After: head, At: at(sec)})
			return x
		}
	}
	suiteAt := func(sec int) func(*scene) *scene {
		return func(x *scene) *scene {
			x.s.Pushed, x.s.Earlier = at(sec), []string{other}
			return x
		}
	}
	for name, test := range map[string]struct {
		state   string
		at      int
		facts   []func(*scene) *scene
		isMoved bool
	}{
		"before the push":                           {"APPROVED", 99, []func(*scene) *scene{pushedAt(100)}, true},
		"a yes in the second of the push":           {"APPROVED", 100, []func(*scene) *scene{pushedAt(100)}, true},
		"a no in the second of the push":            {"CHANGES_REQUESTED", 100, []func(*scene) *scene{pushedAt(100)}, false},
		"after the push, before the first suite":    {"CHANGES_REQUESTED", 110, []func(*scene) *scene{pushedAt(100), suiteAt(120)}, false},
		"before the first suite, which alone tells": {"APPROVED", 110, []func(*scene) *scene{suiteAt(120)}, true},
		"before a way back that no event shows": {"APPROVED", 110, []func(*scene) *scene{
			forced(90, other, head), forced(100, head, other), pushedAt(200),
		}, true},
		"after a force-push onto the head": {"APPROVED", 110, []func(*scene) *scene{forced(90, other, head)}, false},
	} {
		x := onHead(sage()).review(1, test.at, "sage[bot]", test.state, "")
		for _, add := range test.facts {
			x = add(x)
		}
		if b := evidence.Judge(x.p, x.s)[0]; (b.Reason == quorum.ReasonMoved) != test.isMoved {
			t.Errorf("%s: %s (%s)", name, b.Outcome, b.Reason)
		}
	}
}

// Where the head was left after the last force-push onto it, something that the timeline does not show has brought it
// back.
func TestMovedReviewWantsPushes(t *testing.T) {
	const other = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"
	x := onHead(sage()).event(90, quorum.Event{Kind: quorum.ForcePushed, From: other, To: head}).review(1, 110, "sage[bot]", "APPROVED", "")
	x.s.Pushes = nil
	if w := evidence.Missing(x.p, x.s); w.Pushes {
		t.Error("the force-push tells, and pushes are wanted")
	}
	x = x.event(120, quorum.Event{Kind: quorum.ForcePushed, From: head, To: other})
	if w := evidence.Missing(x.p, x.s); !w.Pushes {
		t.Error("the head was left since, and no pushes are wanted")
	}
}

// A pull request that leaves a head and comes back to it brings back what was objected there, though no look has seen
// it.
func TestComingBackToAHeadBringsItsObjectionBack(t *testing.T) {
	const other = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"
	outAndBack := func(x *scene) *scene {
		x.event(30, quorum.Event{Kind: quorum.ForcePushed, Actor: who("alice"), From: head, To: other})
		return x.event(50, quorum.Event{Kind: quorum.ForcePushed, Actor: who("alice"), From: other, To: head})
	}
	pushedOutForcedBack := func(x *scene) *scene {
		x.event(50, quorum.Event{Kind: quorum.ForcePushed, Actor: who("alice"), From: other, To: head})
		x.s.Pushes = []quorum.Push{
			{Before: other, After: head, Actor: who("alice"), At: at(50)},
			{Before: head, After: other, Actor: who("alice"), At: at(30)},
			{Before: other, After: head, Actor: who("alice"), At: at(0)},
		}
		return x
	}
	dismissed := func(by string) func(*scene) *scene {
		return func(x *scene) *scene {
			x.s.Reviews[0].State = "DISMISSED"
			return x.event(60, quorum.Event{Kind: quorum.ReviewDismissed, Actor: who(by), Review: 1, From: "CHANGES_REQUESTED"})
		}
	}
	conclusion := lint()
	conclusion.FailureMeans = quorum.MeansFindings
	commanded := sage()
	commanded.Obeys = []string{"@sage approve"}
	wroteNo := func() *scene { return onHead(sage()).comment(1, 20, "sage[bot]", sageNo) }
	saidNo := func(sec int) *scene { return onHead(sage()).review(1, sec, "sage[bot]", "CHANGES_REQUESTED", "No.") }
	for name, c := range map[string]struct {
		scene *scene
		vote  quorum.Vote
	}{
		"by force-pushes":                     {outAndBack(saidNo(20)), quorum.Object},
		"in the second of leaving":            {outAndBack(saidNo(30)), quorum.Object},
		"while another head was there":        {outAndBack(saidNo(40)), quorum.Object},
		"by a push and a force-push":          {pushedOutForcedBack(saidNo(20)), quorum.Object},
		"while another was, after a push":     {pushedOutForcedBack(saidNo(40)), quorum.Object},
		"a comment":                           {outAndBack(onHead(sage()).comment(1, 20, "sage[bot]", sageNo)), quorum.Object},
		"a comment on the other head":         {outAndBack(onHead(sage()).comment(1, 40, "sage[bot]", sageNo)), quorum.Pending},
		"answered since":                      {outAndBack(saidNo(20)).review(2, 60, "sage[bot]", "APPROVED", ""), quorum.Approve},
		"answered before it left":             {outAndBack(saidNo(10).review(2, 20, "sage[bot]", "APPROVED", "")), quorum.Pending},
		"answered on the other head":          {outAndBack(saidNo(20).review(2, 40, "sage[bot]", "APPROVED", "")), quorum.Object},
		"a yes is asked for anew":             {outAndBack(onHead(sage()).review(1, 20, "sage[bot]", "APPROVED", "")), quorum.Pending},
		"dismissed by one who had no hand":    {dismissed("carol")(outAndBack(saidNo(20))), quorum.Pending},
		"dismissed by the one who pushed":     {dismissed("alice")(outAndBack(saidNo(20))), quorum.Object},
		"and the base was left and came back": {outAndBack(saidNo(20)).leavesAndReturns(60, 70), quorum.Object},
		"edited into a no on the other head":  {outAndBack(wroteNo().edited(40, "sage[bot]")), quorum.Pending},
		"edited into a yes on the other head": {
			outAndBack(saidNo(10).review(2, 15, "sage[bot]", "COMMENTED", sageOK).with(func(x *scene) {
				x.s.Reviews[1].Edited, x.s.Reviews[1].Editor = at(40), who("sage[bot]")
			})), quorum.Object,
		},
		"a yes in the second of leaving":          {outAndBack(saidNo(20).review(2, 30, "sage[bot]", "APPROVED", "")), quorum.Object},
		"a comment answered by a review":          {outAndBack(wroteNo()).review(2, 60, "sage[bot]", "APPROVED", ""), quorum.Object},
		"a comment beside a newer one":            {outAndBack(wroteNo()).comment(2, 60, "sage[bot]", sageOK), quorum.Object},
		"a comment whose head had no suite there": {outAndBack(wroteNo()).with(func(x *scene) { x.s.Arrived = at(51) }), quorum.Object},
		"a command of one who had no hand was obeyed": {
			outAndBack(onHead(commanded).review(1, 10, "sage[bot]", "CHANGES_REQUESTED", "No.").comment(9, 15, "carol", "@sage approve").
				review(2, 20, "sage[bot]", "APPROVED", "").with(func(x *scene) {
				x.s.Permissions = map[string]quorum.Permission{"carol": quorum.Write}
			})), quorum.Pending,
		},
		"a run's conclusion that a later one answered": {
			outAndBack(onHead(conclusion).run(1, 10, 20, ended("failure"))).run(2, 51, 55).
				run(3, 60, 65, log("failure", "Error: 503 Service Unavailable")), quorum.Pending,
		},
		"said of another base": {outAndBack(saidNo(20)).retargeted(60), quorum.Object},
	} {
		if b := evidence.Judge(c.scene.p, c.scene.s)[0]; b.Vote != c.vote {
			t.Errorf("%s: it is %s, %s", name, b.Vote, b.Reason)
		}
	}
	x := onHead(sage()).comment(1, 20, "sage[bot]", sageNo)
	x.s.Pushes = nil
	if w := evidence.Missing(x.p, x.s); w.Pushes {
		t.Error("nothing was forced, and pushes are wanted")
	}
	x.event(50, quorum.Event{Kind: quorum.ForcePushed, Actor: who("alice"), From: other, To: head})
	if w := evidence.Missing(x.p, x.s); !w.Pushes {
		t.Error("a no may be of an earlier stay, and no pushes are wanted")
	}
	for name, x := range map[string]*scene{"by force-pushes": outAndBack(saidNo(20)), "of the base": saidNo(20).leavesAndReturns(30, 50)} {
		x.looks(70)
		x.s.Reviews = nil
		if b := x.looks(80); b.Vote != quorum.Object {
			t.Errorf("%s, deleted after a look: it is %s, %s", name, b.Vote, b.Reason)
		}
	}
}

// What visibly began against another base makes its reviewer required here, until it says yes against the other one.
func TestAnObjectionThatBeganAgainstAnotherBase(t *testing.T) {
	away := func() *scene { return onHead(openai()).leavesAndReturns(30, 100) }
	scan := quorum.Reviewer{Name: "scan", Check: "review", App: "secbot", Verdict: format(quorum.Conclusion), FailureMeans: quorum.MeansFindings}
	scanned := func(began int) *scene {
		return onHead(scan).leavesAndReturns(30, 100).
			check(quorum.CheckRun{ID: 1, App: "secbot", Conclusion: "failure", Started: at(began), Completed: at(60)})
	}
	for name, c := range map[string]struct {
		scene    *scene
		required bool
	}{
		"a run of then":            {away().run(1, 40, 60).comment(1, 55, bot, no), true},
		"that spoke since":         {away().run(1, 40, 120).comment(1, 110, bot, no), true},
		"and said yes in the end":  {away().run(1, 40, 60).comment(1, 55, bot, no).run(2, 65, 80).comment(2, 75, bot, yes), false},
		"a yes":                    {away().run(1, 40, 60).comment(1, 55, bot, yes), false},
		"a run from before, a no":  {away().run(1, 10, 25).comment(1, 20, bot, no), false}, // it objects
		"a check of then":          {scanned(40), true},
		"a check from before them": {scanned(10), false}, // so does it
	} {
		if b := c.scene.ballot(); b.Required != c.required {
			t.Errorf("%s: required %t, %s, %s", name, b.Required, b.Vote, b.Reason)
		}
	}
}

// A check that approves answers what was objected before it began, and nothing that was said while it was under way,
// whatever takes the text away.
func TestACheckAnswersWhatWasSaidBeforeItBegan(t *testing.T) {
	for began, want := range map[int]quorum.Vote{5: quorum.Object, 15: quorum.Approve} {
		r := sage()
		r.Signal, r.Shapes.Approves = quorum.Signal{Check: "review", App: "sage"}, []string{"all fine here"}
		x := onHead(r).comment(1, 10, "sage[bot]", sageNo)
		x.looks(11)
		x.s.Comments = nil
		x.check(quorum.CheckRun{
			ID: 5, App: "sage", Conclusion: "success", Started: at(began), Completed: at(20), Title: "All fine here",
		})
		if b := x.looks(21); b.Vote != want {
			t.Errorf("a check that began at %d: it is %s, %s", began, b.Vote, b.Reason)
		}
	}
}
