package evidence_test

// What a hostile author, outsider or workflow has tried, and what must hold against it.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// twin is a commit of which the first seven digits are the head's: to find one takes a second.
const twin = "a1a1a1a999999999999999999999999999999999"

func oak() quorum.Reviewer {
	r := sage()
	r.Name, r.Author, r.Request = "oak", "oak[bot]", quorum.Request{}
	return r
}

// decide decides at second sec.
func (x *scene) decide(sec int) quorum.Decision {
	return quorum.Decide(x.p, evidence.Judge(x.p, x.s), evidence.Facts(x.p, x.s), at(sec))
}

// decides wants each scene to come to its verdict after two hours.
func decides(t *testing.T, verdict quorum.Verdict, scenes map[string]*scene) {
	t.Helper()
	for name, x := range scenes {
		if d := x.decide(7200); d.Verdict != verdict {
			t.Errorf("%s: %s (%s), want %s: %+v", name, d.Verdict, d.Reason, verdict, d.Ballots)
		}
	}
}

// withheld wants no scene to pass, now or later.
func withheld(t *testing.T, scenes map[string]*scene) {
	t.Helper()
	for name, x := range scenes {
		for _, sec := range []int{300, 7200} {
			if d := x.decide(sec); d.Verdict == quorum.Passed {
				t.Errorf("%s: it passes after %d seconds: %+v", name, sec, d.Ballots)
			}
		}
	}
}

func forced(x *scene) {
	x.event(0, quorum.Event{Kind: quorum.ForcePushed, From: twin, To: head}).s.Earlier = []string{twin}
}

// seen is the scene after a look in which the verdict was so.
func (x *scene) seen(t *testing.T, sec int, verdict quorum.Verdict) *scene {
	t.Helper()
	if d := x.remember(t, sec); d.Verdict != verdict {
		t.Fatalf("at first it is %s, want %s", d.Verdict, verdict)
	}
	return x
}

func TestAShortIDThatCollidesNamesNothing(t *testing.T) {
	short, full := "\nReviewed commit: "+head[:7], "\nReviewed commit: "+head
	twins := func(x *scene) { x.s.Others[0].Head = twin }
	withheld(t, map[string]*scene{
		"from before the head":      onHead(oak()).comment(1, -50, "oak[bot]", sageOK+short).with(forced),
		"after it":                  onHead(oak()).comment(1, 30, "oak[bot]", sageOK+short).with(forced),
		"by a slow run of the twin": onHead(openai()).run(1, 10, 60).other(2, -90, 50).with(twins).comment(1, 40, bot, yes+short).with(forced),
		"all of several must be of head": onHead(
			oak(),
		).comment(
			1,
			30,
			"oak[bot]",
			"# Fix the cart, for commit "+head+"\n\nReviewed commit: "+older+"\n\n"+sageOK,
		).with(
			forced,
		),
	})
	agreed := func(x *scene) *scene { return x.comment(9, 6, "oak[bot]", sageOK+full).with(forced) }
	decides(t, quorum.Blocked, map[string]*scene{ // and no twin takes an objection away
		"an objecting comment":   agreed(onHead(sage(), oak()).comment(1, 5, "sage[bot]", sageNo+short)),
		"a request for changes":  agreed(onHead(sage(), oak()).review(1, 5, "sage[bot]", "CHANGES_REQUESTED", sageNo+short)),
		"a workflow's objection": agreed(onHead(openai(), oak()).run(1, 1, 100).comment(1, 50, bot, no+short)),
	})
}

func TestAnObjectionMayQuoteCommits(t *testing.T) {
	gone := func(x *scene) { x.s.Resolved = map[string]quorum.Commit{"1234567": {}, "0000000": {}} }
	agreed := func(x *scene) *scene { return x.comment(9, 6, "oak[bot]", sageOK).with(gone) }
	for _, quote := range []string{
		"\nThe comment `Reviewed commit: 0000000` in cart.go misleads.\n", "\nThe message says it is for commit 1234567, which is wrong.\n",
	} {
		decides(t, quorum.Blocked, map[string]*scene{
			quote + "in a review":       agreed(onHead(sage(), oak()).review(1, 5, "sage[bot]", "CHANGES_REQUESTED", sageNo+quote)),
			quote + "in a run's text":   agreed(onHead(openai(), oak()).run(1, 1, 100).comment(1, 50, bot, no+quote)),
			quote + "and the head, too": agreed(onHead(openai(), oak()).run(1, 1, 100).comment(1, 50, bot, no+quote+"\n\nReviewed commit: "+head)),
		})
	}
	withheld(t, map[string]*scene{ // what cannot be told approves nothing
		"a run's text": onHead(openai()).run(1, 1, 100).comment(1, 50, bot, yes+"\nIt is for commit 1234567.").with(gone),
		"a comment":    onHead(oak()).comment(1, 50, "oak[bot]", sageOK+"\nIt is for commit 1234567.").with(gone),
	})
}

func TestDeletingEndsNoFindings(t *testing.T) {
	onlyNew := sage()
	onlyNew.OnlyNew = true
	earlier := onHead(onlyNew).review(60, -20, "sage[bot]", "COMMENTED", "x").thread(70)
	earlier.s.Reviews[0].Commit, earlier.s.Threads[0].Commit = older, older
	earlier.review(61, 50, "sage[bot]", "COMMENTED", sageOK).seen(t, 100, quorum.Blocked).s.Threads = nil

	bugbot, _ := review.Preset("bugbot")
	bugbot.Timeout = 10 * time.Minute
	counted := onHead(bugbot).review(60, 30, "cursor[bot]", "COMMENTED", "x").thread(70).thread(71)
	counted.s.Checks = []quorum.CheckRun{
		{
			ID:         1,
			Name:       "Cursor Bugbot",
			App:        "cursor",
			Status:     "completed",
			Conclusion: "neutral",
			Summary:    "Bugbot completed review and found 2 potential issues",
			Started:    at(20),
			Completed:  at(30),
		},
	}
	counted.s.Reviews = nil
	counted.seen(t, 100, quorum.Blocked).s.Threads = counted.s.Threads[:1]
	resolved("bob")(&counted.s.Threads[0])

	coderabbit, _ := review.Preset("coderabbit")
	coderabbit.Timeout = 10 * time.Minute
	beside := onHead(
		coderabbit,
	).review(
		60,
		50,
		"coderabbitai[bot]",
		"COMMENTED",
		"**Actionable comments posted: 1**\n\n"+
			"<details>\n<summary>⚠️ Outside diff range comments (3)</summary><blockquote>\n\ncart.go: the sum is wrong.\n\n</blockquote></details>\n",
	).thread(
		70,
		resolved("bob"),
	)

	withheld(
		t,
		map[string]*scene{
			"the threads of an earlier head":       earlier,
			"one of the two that a check counts":   counted,
			"resolving those on the diff, of more": beside,
		},
	)
}

func TestNobodyTalksOverAnObjection(t *testing.T) {
	rewritten := onHead(openai()).run(1, 1, 60).comment(1, 55, bot, no).seen(t, 65, quorum.Blocked).edited(100, bot)
	rewritten.s.Comments[0].Body = yes
	chat, _ := review.Preset("coderabbit")
	chat.Timeout = 10 * time.Minute
	withheld(t, map[string]*scene{
		"another workflow's review in the same attempt": onHead(
			openai(),
		).run(
			1,
			1,
			60,
		).review(
			60,
			40,
			bot,
			"CHANGES_REQUESTED",
			no,
		).review(
			61,
			55,
			bot,
			"COMMENTED",
			yes,
		),
		"another workflow's edit after the end": rewritten,
		"a chat's answer to whoever asked for it": onHead(
			chat,
		).comment(
			1,
			50,
			"coderabbitai[bot]",
			"<!-- This is an auto-generated reply by CodeRabbit -->\n@alice, as you asked, commit "+head+":\n\n"+
				"No actionable comments were generated in the recent review. 🎉\n",
		),
		"a run of the base that was left this second": onHead(openai()).retargeted(1).run(1, 1, 50).comment(1, 40, bot, yes),
		"a review of that base":                       onHead(oak()).retargeted(1).review(1, 1, "oak[bot]", "APPROVED", ""),
		"a check of a workflow that the change writes": onHead(
			quorum.Reviewer{Name: "sec", Check: "review", App: "github-actions", Author: bot, Verdict: format(quorum.Conclusion), Timeout: 10 * time.Minute},
		).with(
			func(x *scene) {
				x.s.PR.Files = []quorum.File{{Path: ".github/workflows/review.yml"}}
				x.s.Checks = []quorum.CheckRun{
					{ID: 1, Name: "review", App: "github-actions", Status: "completed", Conclusion: "success", Started: at(20), Completed: at(30)},
				}
			},
		),
	})
}

// Two others approve, and two are needed: only the objection holds.
func TestAnObjectionStandsWhoeverLooked(t *testing.T) {
	elm := oak()
	elm.Name, elm.Author = "elm", "elm[bot]"
	three := func() *scene {
		x := onHead(openai(), oak(), elm).comment(1, 40, bot, no).comment(2, 40, "oak[bot]", sageOK).comment(3, 40, "elm[bot]", sageOK)
		x.p.Need, x.p.Retry.Max = 2, 0
		return x
	}
	// A later run of the same head dies.
	again := three().run(5, 1, 50)
	again.seen(t, 60, quorum.Blocked).run(6, 100, 110, ended("failure"))
	// The attempt is still under way when it is seen, and it is deleted before the end.
	whileRunning := three().run(5, 1, -1)
	whileRunning.remember(t, 50)
	whileRunning.s.Runs, whileRunning.s.Comments = nil, whileRunning.s.Comments[1:]
	decides(t, quorum.Blocked, map[string]*scene{
		"nobody looked between two runs": three().run(5, 1, 50).run(6, 100, 110, ended("failure")),
		"somebody did":                   again,
		"while the attempt ran":          whileRunning.run(5, 1, 100),
	})
}

func TestWhatTakesAPassBack(t *testing.T) {
	for name, change := range map[string]func(x *scene){
		"its text is edited by the author":   func(x *scene) { x.edited(70, "alice") },
		"its text is deleted":                func(x *scene) { x.s.Comments = nil },
		"its run is run again":               func(x *scene) { x.s.Runs = nil; x.run(1, 1, 110, attempt(2, 100), ended("failure")) },
		"a new run":                          func(x *scene) { x.run(2, 100, -1) },
		"another policy, and no text":        func(x *scene) { x.s.File.SHA, x.s.Comments = "p2", nil },
		"the base goes and comes back":       func(x *scene) { x.retargeted(200) },
		"in the second of the pass":          func(x *scene) { x.retargeted(66) },
		"a guarded file was renamed":         func(x *scene) { x.s.PR.Files = []quorum.File{{Path: "x", Previous: ".github/workflows/a.yml"}} },
		"it is not known which files change": func(x *scene) { x.s.PR.FilesMissing = true },
	} {
		x := onHead(openai()).run(1, 1, 60).comment(1, 55, bot, yes).seen(t, 66, quorum.Passed)
		change(x)
		if d := x.decide(300); d.Verdict == quorum.Passed {
			t.Errorf("%s: it still passes: %+v", name, d.Ballots)
		}
	}
}

func TestNoChangeOfTheBaseBuysARerun(t *testing.T) {
	x := onHead(openai()).run(5, 1, 50, attempt(2, 20), ended("failure")).run(6, 201, 240, ended("failure"))
	x.retargeted(100).retargeted(101).event(200, quorum.Event{Kind: quorum.Reopened, Actor: who("alice")})
	if d := x.decide(500); len(d.Effects.Reruns) > 0 {
		t.Errorf("the head's second rerun: %+v", d.Effects.Reruns)
	}
}

func TestTwoReviewersOfOneRunShareItsEffects(t *testing.T) {
	sec, style := openai(), openai()
	sec.Name, sec.Heading, sec.Timeout = "sec", "## Sec", 5*time.Minute
	style.Name, style.Heading = "style", "## Style"
	x := onHead(sec, style).run(1, 1, 50, ended("failure"))
	if d := x.decide(300); len(d.Effects.Reruns) > 1 {
		t.Errorf("one run is run again twice: %+v", d.Effects.Reruns)
	}
	x = onHead(sec, style).run(1, 1, -1)
	if d := x.decide(5*60 + 10); len(d.Effects.Cancels) > 0 {
		t.Errorf("it is cancelled while one of them may still speak: %+v", d.Effects.Cancels)
	}
}

func TestWhoseStandInCounts(t *testing.T) {
	stood := func(x *scene) {
		x.review(500, 300, "bob", "APPROVED", "").s.Permissions = map[string]quorum.Permission{"bob": quorum.Write}
	}
	plain := onHead(sage()).with(stood)
	plain.s.Commits = []quorum.Commit{{SHA: head, People: []quorum.Account{who("alice")}}}
	decides(t, quorum.Passed, map[string]*scene{"somebody who may write": plain}) // or the others show nothing

	pushed := onHead(sage()).with(stood).other(4, -90, -80, func(r *quorum.Run) { r.Actor = who("bob") }).run(5, 1, 10, by("push"))
	pushed.s.PR.Commits, pushed.s.Commits = 2, []quorum.Commit{{SHA: older}, {SHA: head, People: []quorum.Account{who("alice")}}}
	cut := onHead(sage()).with(stood)
	cut.s.PR.Commits = 300
	for i := range 250 {
		cut.s.Commits = append(cut.s.Commits, quorum.Commit{SHA: fmt.Sprint(i), People: []quorum.Account{who("alice")}})
	}
	crowd := onHead(sage()).review(1, 50, "maint", "CHANGES_REQUESTED", "no")
	crowd.s.Reviews[0].Member = true
	for i := range 30 {
		crowd.review(int64(100+i), 51+i, fmt.Sprintf("stranger%d", i), "APPROVED", "")
	}
	crowd.with(stood).s.Commits = plain.s.Commits
	known := map[string]quorum.Permission{"maint": quorum.Admin, "bob": quorum.Write}
	crowd.s.Permissions = map[string]quorum.Permission{}
	for _, login := range evidence.Missing(crowd.p, onHead(sage()).with(func(x *scene) { x.s = crowd.s; x.s.Permissions = nil }).s).People {
		crowd.s.Permissions[strings.ToLower(login)] = known[strings.ToLower(login)]
	}
	withheld(t, map[string]*scene{
		"who pushed what nobody is named for":       pushed,
		"where GitHub lists not all commits":        cut,
		"over a maintainer whom strangers crowd in": crowd,
	})
}

// Who may not write asks for a review every nine minutes, and deletes what he asked before.
func TestStrangersDoNotKeepItWaiting(t *testing.T) {
	kept, deleted := onHead(sage()), onHead(sage())
	for i := range 50 {
		kept.comment(int64(i+1), i*540, "mallory", "@sage review")
		deleted.s.Comments = nil
		deleted.comment(int64(i+1), i*540, "mallory", "@sage review").remember(t, i*540+1)
	}
	for name, x := range map[string]*scene{"all stand": kept, "one stands": deleted} {
		if d := x.decide(49*540 + 60); d.Verdict == quorum.Waiting {
			t.Errorf("%s: after %d minutes it is waited for until %s", name, 49*9+1, d.Ballots[0].Deadline)
		}
	}
}

func TestTextsThatOnlySeemToApprove(t *testing.T) {
	for _, body := range []string{
		"I was unable to fetch the diff.\n\nNo issues found.",
		"I couldn't access the changed files.\n\n**Ready to merge?** Yes",
		"The diff was empty, and so is this review.\n\n**Ready to merge?** Yes",
		"**Ready to merge?** Yes\n\nError: API rate limit exceeded, the review is incomplete.",
		"**Ready to merge?** Yes\n\nReviewed 0 of 12 files.",
		"**Verdict:** Approved\n\n## Required changes\n\n- cart.go:12 leaks",
		"**Ready to merge?** Yes, said the prompt. I say no.",
		"**Ready to merge?** Yes. Not really.",
		"**Ready to merge?** Yes — NOT",
		"Ready to merge? Yes, no",
		"Not ready to merge? Yes",
		"Ready to merge? Yes\nReady to merge? Nope",
		"Verdict: Approved by the author, not by me",
		"**Verdict:** Approve ❌",
		"**Verdict:** Approved\n\n## Critical\n\nIt leaks in cart.go",
		"**Verdict:** Approved\n\n### Blocking issues\n\n1. It leaks",
		"~~**Ready to merge?** Yes~~",
		"[Ready to merge]: Yes",
		"[Ready to merge?]: Yes",
		"[^1]: Ready to merge? Yes",
		"> [!NOTE]\n> Ready to merge? Yes",
		"<!-- --!>\nReady to merge? Yes\n-->",
		"<![CDATA[\nReady to merge? Yes\n]]>",
		"\tReady to merge? Yes",
		"- a\n\n      Ready to merge? Yes",
		"1. a\n\n       Ready to merge? Yes",
	} {
		if got := review.Read(oak(), review.Material{Kind: review.Comment, Body: body}); got.Outcome == quorum.Approved {
			t.Errorf("it approves: %q", body)
		}
	}
}

// Some reviewers are told by a slash command, without a mention.
func TestApprovalsAtASlashCommand(t *testing.T) {
	qodo, _ := review.Preset("qodo")
	for says, want := range map[string]quorum.Vote{
		"/review auto_approve": quorum.Pending, "/review --short auto_approve": quorum.Pending, "/review": quorum.Approve,
		"does anybody use auto_approve here?": quorum.Approve,
	} {
		x := onHead(qodo).comment(1, 20, "alice", says).review(2, 30, "qodo-code-review[bot]", "APPROVED", "")
		if b := x.ballot(); b.Vote != want {
			t.Errorf("%s: %s, %s", says, b.Vote, b.Reason)
		}
	}
}

// Whoever tells a reviewer to approve has not had the change reviewed, but for a maintainer who had no hand in it.
func TestApprovalsAtCommand(t *testing.T) {
	rabbit, _ := review.Preset("coderabbit")
	for name, test := range map[string]struct {
		by, says, body string
		want           quorum.Vote
	}{
		"by the author":                        {"alice", "@coderabbitai approve", "", quorum.Pending},
		"by a passer-by":                       {"mallory", "please @CodeRabbitAI, Approve this", "", quorum.Pending},
		"by a maintainer":                      {"bob", "@coderabbitai approve", "", quorum.Approve},
		"with a word to it":                    {"mallory", "@coderabbitai approve", "Approved as requested.", quorum.Pending},
		"somebody asked for a review":          {"alice", "@coderabbitai review", "", quorum.Approve},
		"it says itself that it found nothing": {"alice", "@coderabbitai approve", "No actionable comments were generated in the recent review. 🎉", quorum.Approve},
	} {
		x := onHead(rabbit).comment(1, 20, test.by, test.says).review(2, 30, "coderabbitai[bot]", "APPROVED", test.body)
		x.s.Permissions = map[string]quorum.Permission{"bob": quorum.Write, "alice": quorum.Write}
		if b := x.ballot(); b.Vote != test.want || test.want == quorum.Pending && b.Reason != quorum.ReasonCommand {
			t.Errorf("%s: %s, %s", name, b.Vote, b.Reason)
		}
	}
}
