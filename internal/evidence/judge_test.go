package evidence_test

// What stands on GitHub, told as a snapshot, and the ballots that come of it. Times are seconds of the story; the head
// arrives at 0.

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

const (
	head   = "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"
	older  = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"
	merged = "c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3"
	file   = ".github/workflows/openai.yml"
	bot    = "github-actions[bot]"
	yes    = "## OpenAI Review\n\nRead all of it.\n\n**Ready to merge?** Yes\n"
	no     = "## OpenAI Review\n\nThe cart is emptied twice.\n\n**Ready to merge?** No\n"
	vague  = "## OpenAI Review\n\nIt looks interesting to me.\n"
	sageOK = "Read all of it.\n\n**Ready to merge?** Yes\n"
	sageNo = "The cart is emptied twice.\n\n**Ready to merge?** No\n"
)

var dawn = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

func at(sec int) time.Time { return dawn.Add(time.Duration(sec) * time.Second) }

func who(login string) quorum.Account {
	return quorum.Account{Login: login, Bot: strings.HasSuffix(login, "[bot]")}
}

func format(k quorum.FormatKind) quorum.Format { return quorum.Format{Kind: k} }

func openai() quorum.Reviewer {
	return quorum.Reviewer{
		Name: "openai", Workflow: file, Events: []string{"pull_request", "pull_request_target", "dynamic"}, Author: bot, Heading: "## OpenAI Review",
		Verdict: format(quorum.Auto), FailureMeans: quorum.MeansUnavailable, Timeout: 10 * time.Minute,
	}
}

func sage() quorum.Reviewer {
	return quorum.Reviewer{
		Name:         "sage",
		Author:       "sage[bot]",
		Verdict:      format(quorum.Auto),
		FailureMeans: quorum.MeansUnavailable,
		Timeout:      10 * time.Minute,
		Request:      quorum.Request{Comment: "@sage review"},
	}
}

func policy(r ...quorum.Reviewer) quorum.Policy {
	return quorum.Policy{
		Check: "Review quorum", Mode: quorum.Enforce, Need: 1, Grace: 3 * time.Minute, Deadline: 45 * time.Minute,
		EarlyStart: true, DraftsWait: true, StandIn: quorum.Write, Threads: quorum.ByOthers,
		Guard: []string{".github/workflows/**", ".github/actions/**"},
		Retry: quorum.Retry{Max: 1, FastFail: 30 * time.Second, Backoff: time.Minute}, Reviewers: r,
	}
}

// a scene is a policy with what GitHub shows.
type scene struct {
	p quorum.Policy
	s quorum.Snapshot
}

func onHead(r ...quorum.Reviewer) *scene {
	return &scene{p: policy(r...), s: quorum.Snapshot{
		PR: quorum.PullRequest{
			PR: quorum.PR{
				Owner:  "acme",
				Repo:   "shop",
				Number: 7,
			}, Head: head, HeadRef: "feature", HeadRepo: "acme/shop", BaseRef: "main", DefaultBranch: "main", Merge: merged,
			Author: who("alice"), Created: at(-60), Commits: 1, Files: []quorum.File{{Path: "cart.go"}},
		},
		Commits:    []quorum.Commit{{SHA: head, People: []quorum.Account{who("alice")}}},
		Pushes:     []quorum.Push{{After: head, Actor: who("alice"), At: at(-1)}},
		SameBranch: []quorum.PullRequest{{PR: quorum.PR{Owner: "acme", Repo: "shop", Number: 7}}},
		File: quorum.PolicyFile{
			State: quorum.FileValid,
			SHA:   "p1",
		}, Gated: true, Arrived: at(0), Ours: who(bot), Record: quorum.Record{Version: 1, Head: head, Base: "main"},
	}}
}

// run adds a run that began at from and, unless to is negative, ended at to; change may say more.
func (x *scene) run(id int64, from, to int, change ...func(*quorum.Run)) *scene {
	r := quorum.Run{
		ID:      id,
		Number:  len(x.s.Runs) + 1,
		Path:    file,
		Event:   "pull_request",
		Head:    head,
		Branch:  "feature",
		Repo:    "acme/shop",
		Suite:   id + 1000,
		Attempt: 1,
		Status:  "in_progress",
		Created: at(from),
		Started: at(from),
		Updated: at(from),
		Actor:   who("alice"),
	}
	job := quorum.Job{ID: id + 2000, Started: at(from)}
	if to >= 0 {
		r.Status, r.Conclusion, r.Updated = "completed", "success", at(to)
		job.Conclusion, job.Completed = "success", at(to)
	}
	r.Jobs = []quorum.Job{job}
	for _, f := range change {
		f(&r)
	}
	if r.Jobs != nil && r.Conclusion != "success" {
		r.Jobs[0].Conclusion = r.Conclusion
	}
	x.s.Runs = append(x.s.Runs, r)
	return x
}

func ended(conclusion string) func(*quorum.Run) {
	return func(r *quorum.Run) { r.Conclusion = conclusion }
}

func jobless(conclusion string) func(*quorum.Run) {
	return func(r *quorum.Run) { r.Conclusion, r.Jobs = conclusion, nil }
}

func log(conclusion, text string) func(*quorum.Run) {
	return func(r *quorum.Run) {
		r.Conclusion = conclusion
		r.Jobs[0].Log, r.Jobs[0].Read = text, true
	}
}

// attempt says that the run is at a later attempt, which began at from.
func attempt(n, from int) func(*quorum.Run) {
	return func(r *quorum.Run) {
		r.Attempt, r.Started, r.Jobs[0].Started = n, at(from), at(from)
	}
}

func numbered(n int) func(*quorum.Run) { return func(r *quorum.Run) { r.Number = n } }

func by(event string) func(*quorum.Run) { return func(r *quorum.Run) { r.Event = event } }

// other adds a run of another head.
func (x *scene) other(id int64, from, to int, change ...func(*quorum.Run)) *scene {
	n := len(x.s.Runs)
	x.run(id, from, to, change...)
	r := x.s.Runs[n]
	r.Head = older
	x.s.Runs, x.s.Others = x.s.Runs[:n], append(x.s.Others, r)
	return x
}

func (x *scene) comment(id int64, sec int, author, body string) *scene {
	x.s.Comments = append(x.s.Comments, quorum.Text{TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: id}, Author: who(author), Body: body, At: at(sec)})
	return x
}

func (x *scene) review(id int64, sec int, author, state, body string) *scene {
	x.s.Reviews = append(
		x.s.Reviews,
		quorum.Text{TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: id}, Author: who(author), Body: body, At: at(sec), Commit: head, State: state},
	)
	return x
}

// edited says who edited the last comment, and when.
func (x *scene) edited(sec int, editor string) *scene {
	t := &x.s.Comments[len(x.s.Comments)-1]
	t.Edited, t.Editor = at(sec), who(editor)
	return x
}

// thread adds a thread that the last review opened.
func (x *scene) thread(id int64, change ...func(*quorum.Thread)) *scene {
	r := x.s.Reviews[len(x.s.Reviews)-1]
	t := quorum.Thread{ID: id, Review: r.ID, Author: r.Author, Body: "This leaks.", Path: "cart.go", Line: 3, Commit: r.Commit, At: r.At}
	for _, f := range change {
		f(&t)
	}
	x.s.Threads = append(x.s.Threads, t)
	return x
}

func resolved(login string) func(*quorum.Thread) {
	return func(t *quorum.Thread) { t.Resolved, t.ResolvedBy = true, who(login) }
}

func outdated(t *quorum.Thread) { t.Outdated = true }

func (x *scene) event(sec int, e quorum.Event) *scene {
	e.At = at(sec)
	x.s.Timeline = append(x.s.Timeline, e)
	return x
}

func (x *scene) retargeted(sec int) *scene {
	return x.event(sec, quorum.Event{Kind: quorum.BaseChanged, Actor: who("alice"), From: "dev", To: "main"})
}

func (x *scene) with(f func(x *scene)) *scene {
	f(x)
	return x
}

func (x *scene) intent(in quorum.Intent) *scene {
	x.s.Record.Intents = append(x.s.Record.Intents, in)
	return x
}

func reran(run int64, n, sec int) quorum.Intent {
	return quorum.Intent{Kind: quorum.Rerun, Reviewer: "openai", Base: "main", Run: run, Attempt: n, At: at(sec), Tries: 1}
}

func cancelled(run int64, n, sec int) quorum.Intent {
	return quorum.Intent{Kind: quorum.Cancel, Reviewer: "openai", Base: "main", Run: run, Attempt: n, At: at(sec), Tries: 1}
}

func asked(n, sec int) quorum.Intent {
	return quorum.Intent{Kind: quorum.Ask, Reviewer: "sage", Base: "main", Attempt: n, At: at(sec), Tries: 1}
}

func (x *scene) stood(kind quorum.TextKind, id int64, reviewer string, sec int) *scene {
	x.s.Record.Stood = append(x.s.Record.Stood, quorum.Stood{TextRef: quorum.TextRef{Kind: kind, ID: id}, Reviewer: reviewer, Base: "main", At: at(sec)})
	return x
}

func (x *scene) objected(o quorum.Objection) *scene {
	o.Base, o.Excerpt = "main", "The cart is emptied twice."
	x.s.Record.Objections = append(x.s.Record.Objections, o)
	return x
}

func ref(kind quorum.TextKind, id int64) quorum.TextRef { return quorum.TextRef{Kind: kind, ID: id} }

// ballot is the first reviewer's ballot. No ballot that a test asks for may be contradicted by its explanation.
func (x *scene) ballot() quorum.Ballot {
	ballots := evidence.Judge(x.p, x.s)
	if why := contradiction(x.p, ballots, evidence.Consider(x.p, x.s)); why != "" {
		panic(why)
	}
	return ballots[0]
}

// a wanted ballot.
type wanted struct {
	vote    quorum.Vote
	outcome quorum.Outcome
	reason  quorum.Reason
	next    string // what is done on the way
}

// next says what a ballot does.
func next(b quorum.Ballot) string {
	var all []string
	for _, a := range b.Next {
		all = append(all, a.Kind.String())
	}
	return strings.Join(all, " ")
}

type row struct {
	name string
	x    *scene
	want wanted
}

func judge(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			b := r.x.ballot()
			if got := (wanted{b.Vote, b.Outcome, b.Reason, next(b)}); got != r.want {
				t.Errorf("got %+v (%s), want %+v", got, b.Detail, r.want)
			}
			if b.Vote == quorum.Pending && b.Deadline.IsZero() {
				t.Errorf("it is pending for ever")
			}
		})
	}
}

var (
	approves = wanted{quorum.Approve, quorum.Approved, quorum.ReasonApproved, ""}
	objects  = wanted{quorum.Object, quorum.Findings, quorum.ReasonFindings, ""}
	stands   = wanted{quorum.Object, quorum.Findings, quorum.ReasonStands, ""}
	// objects, and a newer attempt is under way
	looksAgain = wanted{quorum.Object, quorum.Findings, quorum.ReasonLookingAgain, ""}
	atWork     = wanted{quorum.Pending, quorum.Running, quorum.ReasonRunning, "cancel"}
	atWorkTwo  = wanted{quorum.Pending, quorum.Running, quorum.ReasonRunning, ""}
	empty      = wanted{quorum.Pending, quorum.Empty, quorum.ReasonEmpty, "rerun"}
	emptyLast  = wanted{quorum.Unavailable, quorum.Empty, quorum.ReasonEmpty, ""}
	ambiguous  = wanted{quorum.Pending, quorum.Empty, quorum.ReasonAmbiguous, "rerun"}
	silent     = wanted{quorum.Pending, quorum.Silent, quorum.ReasonSilent, ""}
)

// keptJob adds a job of an earlier attempt, which the newest one did not run again.
func keptJob(from, to int) func(*quorum.Run) {
	return func(r *quorum.Run) {
		r.Jobs = append(r.Jobs, quorum.Job{ID: 77, Conclusion: "success", Started: at(from), Completed: at(to), Read: true})
	}
}

func TestWhichRunSpeaks(t *testing.T) {
	judge(t, []row{
		{"none", onHead(openai()), silent},
		{"one that is under way", onHead(openai()).run(1, 10, -1), atWork},
		{"a green run without a text is no review", onHead(openai()).run(1, 10, 100), empty},
		{"a green run with one", onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes), approves},
		{
			"another workflow's run",
			onHead(openai()).run(1, 10, 100, func(r *quorum.Run) { r.Path = ".github/workflows/x.yml" }).comment(1, 90, bot, yes),
			silent,
		},
		{"of another event", onHead(openai()).run(1, 10, 100, by("push")).comment(1, 90, bot, yes), silent},
		{
			"of another head",
			onHead(openai()).run(1, 10, 100, func(r *quorum.Run) { r.Head = older }).comment(1, 90, bot, yes), silent,
		},
		{"created before the pull request", onHead(openai()).run(1, -90, 100).comment(1, 90, bot, yes), silent},
		{
			"a dynamic run of that time",
			onHead(openai()).run(1, -90, 100, by("dynamic")).comment(1, 90, bot, yes), approves,
		},
		{
			"created in the second of the pull request",
			onHead(openai()).run(1, -60, 100).comment(1, 90, bot, yes), approves,
		},
		{"created before the base", onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).retargeted(200), silent},
		{
			"a rerun replays the old base",
			onHead(openai()).run(1, 10, 300, attempt(2, 210)).comment(1, 290, bot, yes).retargeted(200), silent,
		},
		{
			"created in the second of the base",
			onHead(openai()).run(1, 200, 300).comment(1, 290, bot, yes).retargeted(200), silent,
		},
		{
			"created in the second after the base",
			onHead(openai()).run(1, 201, 300).comment(1, 290, bot, yes).retargeted(200), approves,
		},
		{
			"the newest that failed speaks",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).run(2, 110, 200, ended("failure")),
			wanted{quorum.Pending, quorum.Unknown, quorum.ReasonUnknown, "rerun"},
		},
		{
			"one that left nothing replaces nothing",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).run(2, 110, 200), approves,
		},
		{
			"nor one that is under way",
			onHead(openai()).run(1, 10, -1).run(2, 110, 200), atWork,
		},
		{
			"an older one under way holds up a yes",
			onHead(openai()).run(1, 10, -1).run(2, 20, 100).comment(1, 90, bot, yes),
			wanted{quorum.Pending, quorum.Running, quorum.ReasonRunning, ""},
		},
		{
			"an older one objects after a newer one's yes",
			onHead(openai()).run(1, 10, 300).run(2, 20, 100).comment(1, 90, bot, yes).comment(2, 290, bot, no), objects,
		},
		{
			"a yes answers what was said before its attempt began",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, no).run(2, 110, 200).comment(2, 190, bot, yes), approves,
		},
		{
			"and nothing that was said since",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, no).run(2, 80, 200).comment(2, 190, bot, yes), objects,
		},
		{
			"a yes of a job that was not run again stands",
			onHead(openai()).run(1, 10, 300, attempt(2, 200), keptJob(10, 100)).comment(1, 90, bot, yes), approves,
		},
		{
			"a yes of then that no such job left does not",
			onHead(openai()).run(1, 10, 300, attempt(2, 200), keptJob(10, 80)).comment(1, 90, bot, yes),
			wanted{quorum.Unavailable, quorum.Empty, quorum.ReasonEmpty, ""},
		},
		{
			"a yes answers no job that was not run again",
			onHead(openai()).run(1, 10, 300, attempt(2, 200), keptJob(10, 100)).comment(1, 90, bot, no).comment(2, 290, bot, yes), objects,
		},
		{
			"the newest by number, not by the digits of its id",
			onHead(openai()).run(1000, 110, 200, numbered(12)).run(999, 10, 100, numbered(9)).comment(1, 190, bot, yes),
			approves,
		},
		{
			"a skipped one replaces nothing",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).run(2, 110, 111, ended("skipped")), approves,
		},
		{
			"one that never ran replaces nothing",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).run(2, 110, 111, jobless("action_required")),
			approves,
		},
		{
			"one that could not start replaces nothing",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).run(2, 110, 111, jobless("startup_failure")),
			approves,
		},
		{
			"a cancelled one without evidence replaces nothing",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).run(2, 110, 120, ended("cancelled")),
			approves,
		},
		{
			"a cancelled one with evidence speaks",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, yes).run(2, 110, 120, ended("cancelled")).comment(2, 115, bot, no),
			objects,
		},
		{
			"the one that waits for approval",
			onHead(openai()).run(1, 10, 10, jobless("action_required")),
			wanted{quorum.Pending, quorum.AwaitingApproval, quorum.ReasonApproval, ""},
		},
		{
			"waiting",
			onHead(openai()).run(1, 10, -1, func(r *quorum.Run) { r.Status = "waiting" }),
			wanted{quorum.Pending, quorum.AwaitingApproval, quorum.ReasonApproval, ""},
		},
		{"skipped, and no other", onHead(openai()).run(1, 10, 11, ended("skipped")), wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonSkipped, ""}},
		{
			"it could not start",
			onHead(openai()).run(1, 10, 11, jobless("startup_failure")),
			wanted{quorum.Pending, quorum.Unknown, quorum.ReasonUnknown, "rerun"},
		},
		{
			"its event is forbidden",
			onHead(openai()).run(1, 10, 11, jobless("failure")),
			wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonForbidden, ""},
		},
		{
			"a status nobody knows is not an end",
			onHead(openai()).run(1, 10, -1, func(r *quorum.Run) { r.Status = "brooding" }).comment(1, 20, bot, yes),
			wanted{quorum.Pending, quorum.Running, quorum.ReasonRunning, ""},
		},
		{
			"a conclusion nobody knows",
			onHead(openai()).run(1, 10, 100, ended("splendid")),
			wanted{quorum.Pending, quorum.Unknown, quorum.ReasonUnknown, "rerun"},
		},
		{"stale", onHead(openai()).run(1, 10, 100, ended("stale")), wanted{quorum.Pending, quorum.Unknown, quorum.ReasonUnknown, "rerun"}},
		{"neutral", onHead(openai()).run(1, 10, 100, ended("neutral")), empty},
	})
}

func TestWhichTextIsBound(t *testing.T) {
	named := func(body, sha string) string { return body + "\nReviewed commit: `" + sha + "`\n" }
	own := openai()
	own.Author, own.Heading = "claude[bot]", ""
	judge(t, []row{
		{"in the attempt's first second", onHead(openai()).run(1, 10, 100).comment(1, 10, bot, yes), approves},
		{"before the attempt", onHead(openai()).run(1, 10, 100).comment(1, 9, bot, yes), empty},
		{"a minute after its end", onHead(openai()).run(1, 10, 100).comment(1, 160, bot, yes), approves},
		{"later", onHead(openai()).run(1, 10, 100).comment(1, 161, bot, yes), empty},
		{
			"another heading",
			onHead(openai()).run(1, 10, 100).comment(1, 90, bot, strings.Replace(yes, "OpenAI", "Gemini", 1)), empty,
		},
		{"another author", onHead(openai()).run(1, 10, 100).comment(1, 90, "mallory", yes), empty},
		{"a person called so", onHead(openai()).run(1, 10, 100).with(func(x *scene) { x.comment(1, 90, bot, yes).s.Comments[0].Author.Bot = false }), empty},
		{"it names the head", onHead(openai()).run(1, 10, 100).comment(1, 90, bot, named(yes, head[:7])), approves},
		{"it names another commit", onHead(openai()).run(1, 10, 100).comment(1, 90, bot, named(yes, older[:7])), empty},
		{"it names the test merge", onHead(openai()).run(1, 10, 100).comment(1, 90, bot, named(yes, merged)), approves},
		{
			"naming the test merge binds nothing",
			onHead(openai()).run(1, 10, 100).comment(1, 9, bot, named(yes, merged)), empty,
		},
		{"it names a merge of the head", onHead(openai()).run(1, 10, 100).comment(1, 90, bot, named(yes, "d4d4d4d4")).with(func(x *scene) {
			x.s.Resolved = map[string]quorum.Commit{"d4d4d4d4": {SHA: "d4d4d4d4" + older[8:], Parents: []string{older, head}}}
		}), approves},
		{"it names a child of the head", onHead(openai()).run(1, 10, 100).comment(1, 90, bot, named(yes, "d4d4d4d4")).with(func(x *scene) {
			x.s.Resolved = map[string]quorum.Commit{"d4d4d4d4": {SHA: "d4d4d4d4" + older[8:], Parents: []string{head}}}
		}), empty},
		{"it names a commit that does not exist", onHead(openai()).run(1, 10, 100).comment(1, 90, bot, named(yes, "d4d4d4d4")).with(func(x *scene) {
			x.s.Resolved = map[string]quorum.Commit{"d4d4d4d4": {}}
		}), empty},
		{
			"a shared author needs the attempt even if it names the head",
			onHead(openai()).run(1, 10, 100).comment(1, 200, bot, named(yes, head)), empty,
		},
		{"and a run at all", onHead(openai()).comment(1, 90, bot, named(yes, head)), silent},
		{
			"an author of its own does not",
			onHead(own).run(1, 10, 100).comment(1, 200, "claude[bot]", named(yes, head)), approves,
		},
		{
			"but not from before the attempt",
			onHead(own).run(1, 10, 100, attempt(2, 50)).comment(1, 40, "claude[bot]", named(yes, head)), emptyLast,
		},
		{
			"of several any objection objects",
			onHead(openai()).run(1, 10, 100).comment(1, 80, bot, no).comment(2, 90, bot, yes), objects,
		},
		{
			"in whichever order",
			onHead(openai()).run(1, 10, 100).comment(1, 80, bot, yes).comment(2, 90, bot, no), objects,
		},
		{
			"not before the attempt has ended",
			onHead(openai()).run(1, 10, -1).comment(1, 80, bot, yes),
			wanted{quorum.Pending, quorum.Running, quorum.ReasonRunning, ""},
		},
		{
			"while an older head's run is under way",
			onHead(openai()).run(1, 10, 100).other(2, -50, 95).comment(1, 90, bot, yes), ambiguous,
		},
		{
			"then it must name the head",
			onHead(openai()).run(1, 10, 100).other(2, -50, 95).comment(1, 90, bot, named(yes, head)), approves,
		},
		{
			"after the older head's run",
			onHead(openai()).run(1, 10, 100).other(2, -50, 89).comment(1, 90, bot, yes), approves,
		},
		{
			"before the older head's run",
			onHead(openai()).run(1, 10, 100).other(2, 91, 95).comment(1, 90, bot, yes), approves,
		},
		{
			"an older head's run of another workflow",
			onHead(openai()).run(1, 10, 100).other(2, -50, 95, func(r *quorum.Run) { r.Path = "x" }).comment(1, 90, bot, yes),
			approves,
		},
		{
			"an older head's run that never ran",
			onHead(openai()).run(1, 10, 100).other(2, -50, 95, ended("skipped")).comment(1, 90, bot, yes), approves,
		},
		{"a run of another event", onHead(openai()).run(1, 10, 100).run(2, 20, 95, by("push"), numbered(9)).comment(1, 90, bot, yes), ambiguous},
		{
			"an older head's run that was run again since",
			onHead(openai()).run(1, 10, 100).other(2, -50, 500, attempt(2, 400)).comment(1, 90, bot, yes),
			ambiguous,
		},
		{
			"but what stood before that, stands",
			onHead(openai()).run(1, 10, 100).other(2, -50, 500, attempt(2, 400)).comment(1, 90, bot, yes).stood(quorum.TextComment, 1, "openai", 100),
			approves,
		},
		{"from before the base", onHead(openai()).run(1, 201, 300).comment(1, 199, bot, yes).retargeted(200), empty},
	})
}

func TestAttempts(t *testing.T) {
	judge(t, []row{
		{
			"an approval of an earlier attempt does not count",
			onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 90, bot, yes), emptyLast,
		},
		{"nor while the next is under way", onHead(openai()).run(1, 10, -1, attempt(2, 200)).comment(1, 90, bot, yes), atWorkTwo},
		{"nor in the minute after its end", onHead(openai()).run(1, 10, -1, attempt(2, 110)).comment(1, 105, bot, yes), atWorkTwo},
		{"one of the newest does", onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 290, bot, yes), approves},
		{"an objection of an earlier attempt stands if nothing followed", onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 90, bot, no), stands},
		{"or only something without a verdict", onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 90, bot, no).comment(2, 290, bot, vague), stands},
		{"or a limit", onHead(openai()).run(1, 10, 300, attempt(2, 200), log("failure", "Error: 429 Too Many Requests\n")).comment(1, 90, bot, no), stands},
		{"not if an approval did", onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 90, bot, no).comment(2, 290, bot, yes), approves},
		{"and while the next is under way", onHead(openai()).run(1, 10, -1, attempt(2, 200)).comment(1, 90, bot, no), looksAgain},
		{
			"of two attempts before nobody knows whose words came last",
			onHead(openai()).run(1, 10, 500, attempt(3, 400)).comment(1, 90, bot, no).comment(2, 290, bot, yes),
			stands,
		},
		{
			"not if a later attempt had answered it",
			onHead(openai()).run(1, 10, 500, attempt(3, 400)).comment(1, 90, bot, no).comment(2, 290, bot, yes).
				stood(quorum.TextComment, 2, "openai", 300),
			emptyLast,
		},
		{
			"a sticky comment that approves again",
			onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 90, bot, yes).edited(290, bot).stood(quorum.TextComment, 1, "openai", 100),
			approves,
		},
		{"the old attempt still shows after our rerun", onHead(openai()).run(1, 10, 100).intent(reran(1, 1, 160)), empty},
		{"a person's rerun counts as spent", onHead(openai()).run(1, 10, 300, attempt(2, 200)), emptyLast},
		{
			"so does one that did not grow",
			onHead(openai()).run(1, 10, 300).with(func(x *scene) { x.s.Record.Runs = []quorum.SeenRun{{ID: 1, Attempt: 1, Again: 1}} }),
			emptyLast,
		},
		{"and one of another run", onHead(openai()).run(1, 10, 300, attempt(2, 200)).run(2, 310, 400), emptyLast},
	})
	x := onHead(openai()).run(1, 10, -1, attempt(2, 2000)) // a person's: her clock begins anew
	if b := x.ballot(); !b.Deadline.Equal(at(2600)) || b.Watch {
		t.Errorf("a person's rerun is waited for until %s, and a job stays for it: %v", b.Deadline, b.Watch)
	}
	x = onHead(openai()).run(1, 10, -1, attempt(2, 2400)).intent(reran(1, 1, 2390))
	if b := x.ballot(); !b.Deadline.Equal(at(2700)) || !b.Watch || !b.Retrying {
		t.Errorf("our own is waited for until %s, and a job stays for it: %v", b.Deadline, b.Watch)
	}
	commanded := reran(1, 1, 190)
	commanded.Command = 5
	for name, x := range map[string]*scene{
		"under way":           onHead(openai()).run(1, 10, -1, attempt(2, 200)).intent(commanded),
		"beside an objection": onHead(openai()).run(1, 10, -1, attempt(2, 200)).comment(1, 90, bot, no).intent(commanded),
		"not shown yet":       onHead(openai()).run(1, 10, 100).comment(1, 90, bot, no).intent(commanded),
	} {
		if b := x.ballot(); !b.Watch {
			t.Errorf("no job stays for what a person had us run again, %s: %+v", name, b)
		}
	}
	x = onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 290, bot, no).intent(commanded)
	if b := x.ballot(); b.Vote != quorum.Object || b.Watch {
		t.Errorf("%s, and a job stays for what has ended: %v", b.Vote, b.Watch)
	}
	x = onHead(openai()).run(1, 10, 900, attempt(2, 200)).comment(1, 290, bot, yes).with(func(x *scene) {
		x.s.Record.Runs = []quorum.SeenRun{{ID: 1, Attempt: 2, Started: at(200), Ended: at(300)}} // updated_at moves after the end
	})
	if b := x.ballot(); b.Vote != quorum.Approve || !b.At.Equal(at(300)) {
		t.Errorf("it approved at %s, want when it ended", b.At)
	}
	if b := onHead(openai()).run(1, 10, 900).comment(1, 300, bot, yes).with(func(x *scene) {
		x.s.Record.Runs = []quorum.SeenRun{{ID: 1, Attempt: 1, Started: at(10), Ended: at(100)}}
	}).ballot(); b.Vote == quorum.Approve {
		t.Errorf("a text from long after the end counts since updated_at moved")
	}
	x = onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 90, bot, yes).edited(290, bot).stood(quorum.TextComment, 1, "openai", 100)
	if b := x.ballot(); !b.At.Equal(at(300)) {
		t.Errorf("an approval of the second attempt dates from %s", b.At)
	}
	older := onHead(openai()).run(1, 10, 100).run(2, 110, 200)
	older.objected(
		quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "openai", Run: 1, Attempt: 1, At: at(100)},
	).comment(
		1,
		90,
		bot,
		no,
	).comment(
		2,
		190,
		bot,
		yes,
	)
	if b := older.ballot(); b.Vote != quorum.Approve {
		t.Errorf("an approval of a newer run does not replace the older's objection: %s", b.Reason)
	}
	newer := onHead(
		openai(),
	).run(
		1,
		10,
		100,
	).comment(
		1,
		90,
		bot,
		yes,
	).objected(
		quorum.Objection{TextRef: ref(quorum.TextComment, 2), Reviewer: "openai", Run: 2, Attempt: 1, At: at(200)},
	)
	if b := newer.ballot(); b.Vote != quorum.Object {
		t.Errorf("deleting the run that objected ends the objection: %s", b.Reason)
	}
}

func TestEditedTexts(t *testing.T) {
	run := func() *scene { return onHead(openai()).run(1, 10, 100) }
	judge(t, []row{
		{"by its author", run().comment(1, 20, bot, yes).edited(90, bot), approves},
		{"by somebody else", run().comment(1, 20, bot, yes).edited(90, "mallory"), empty},
		{"by nobody knows whom", run().comment(1, 20, bot, yes).edited(90, ""), empty},
		{"by somebody else into an objection", run().comment(1, 20, bot, no).edited(90, "mallory"), empty},
		{
			"an approval that stood, by somebody else",
			run().comment(1, 20, bot, yes).edited(90, "mallory").stood(quorum.TextComment, 1, "openai", 100),
			wanted{quorum.Pending, quorum.Withdrawn, quorum.ReasonEdited, ""},
		},
		{
			"an approval that stood, deleted",
			run().stood(quorum.TextComment, 1, "openai", 100),
			wanted{quorum.Pending, quorum.Withdrawn, quorum.ReasonDeleted, ""},
		},
		{
			"an approval that stood, edited later by its author",
			run().comment(1, 90, bot, yes).edited(900, bot).stood(quorum.TextComment, 1, "openai", 100),
			approves,
		},
		{
			"an approval that its author turned into an objection",
			run().comment(1, 90, bot, no).edited(110, bot).stood(quorum.TextComment, 1, "openai", 100),
			objects,
		},
		{
			"an approval that its author made vague is not bought anew",
			run().comment(1, 90, bot, vague).edited(110, bot).stood(quorum.TextComment, 1, "openai", 100),
			wanted{quorum.Pending, quorum.Withdrawn, quorum.ReasonEdited, ""},
		},
		{
			"an objection, deleted",
			run().objected(quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "openai", Run: 1, Attempt: 1, At: at(100)}),
			stands,
		},
		{
			"an objection, edited by somebody else",
			run().comment(
				1,
				20,
				bot,
				yes,
			).edited(
				90,
				"mallory",
			).objected(
				quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "openai", Run: 1, Attempt: 1, At: at(100)},
			),
			stands,
		},
		{
			"an objection that its author, whom others share, took back in its attempt",
			run().comment(
				1,
				20,
				bot,
				yes,
			).edited(
				90,
				bot,
			).objected(
				quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "openai", Run: 1, Attempt: 1, At: at(100)},
			),
			stands,
		},
		{
			"an objection that any workflow may have edited since",
			run().comment(
				1,
				20,
				bot,
				yes,
			).edited(
				130,
				bot,
			).objected(
				quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "openai", Run: 1, Attempt: 1, At: at(100)},
			),
			stands,
		},
		{"an objection of another base", run().with(func(x *scene) {
			x.objected(quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "openai", Run: 1, Attempt: 1, At: at(100)})
			x.s.Record.Objections[0].Base = "dev"
		}), empty},
		{
			"an objection of another reviewer",
			run().objected(quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "gemini", Run: 1, Attempt: 1, At: at(100)}),
			empty,
		},
	})
	b := run().comment(1, 90, bot, yes).edited(95, bot).stood(quorum.TextComment, 1, "openai", 50).ballot()
	if !b.At.Equal(at(50)) {
		t.Errorf("an approval dates from %s, want from when it first stood", b.At)
	}
}

func TestReviewersWithoutARun(t *testing.T) {
	another := func(x *scene) { x.s.Earlier = []string{older} }
	shared := sage()
	shared.Author, shared.Heading = bot, "## Sage"
	judge(t, []row{
		{"nothing", onHead(sage()), silent},
		{"before the head arrived", onHead(sage()).comment(1, -1, "sage[bot]", sageOK), silent},
		{"after", onHead(sage()).comment(1, 1, "sage[bot]", sageOK), approves},
		{
			"after, and there was another head",
			onHead(sage()).comment(1, 1, "sage[bot]", sageOK).with(another),
			wanted{quorum.Pending, quorum.Silent, quorum.ReasonUnnamed, ""},
		},
		{"then it names the head", onHead(sage()).comment(1, 1, "sage[bot]", sageOK+"\nReviewed commit: "+head).with(another), approves},
		{"an objection need not", onHead(sage()).comment(1, 1, "sage[bot]", sageNo).with(another), objects},
		{
			"a force-push is another head",
			onHead(sage()).comment(1, 50, "sage[bot]", sageOK).event(20, quorum.Event{Kind: quorum.ForcePushed, From: older, To: head}),
			wanted{quorum.Pending, quorum.Silent, quorum.ReasonUnnamed, ""},
		},
		{
			"before the force-push onto it",
			onHead(sage()).comment(1, 10, "sage[bot]", sageNo).event(20, quorum.Event{Kind: quorum.ForcePushed, From: older, To: head}),
			silent,
		},
		{"it names the head from before it arrived", onHead(sage()).comment(1, -1, "sage[bot]", sageOK+"\nReviewed commit: "+head), approves},
		{"it names another", onHead(sage()).comment(1, 1, "sage[bot]", sageOK+"\nReviewed commit: "+older), silent},
		{"a shared author must name the head", onHead(shared).comment(1, 1, bot, "## Sage\n\n"+sageOK), silent},
		{"and then counts", onHead(shared).comment(1, 1, bot, "## Sage\n\n"+sageOK+"\nReviewed commit: "+head), approves},
		{
			"a draft voids nothing that carries its commit",
			onHead(sage()).review(1, 1, "sage[bot]", "APPROVED", "").event(20, quorum.Event{Kind: quorum.ReadyForReview}),
			approves,
		},
		{"a review of another commit", onHead(sage()).with(func(x *scene) { x.review(1, 1, "sage[bot]", "APPROVED", "").s.Reviews[0].Commit = older }), silent},
		{"a review that is not submitted", onHead(sage()).review(1, 1, "sage[bot]", "PENDING", sageOK), silent},
		{"a review of nothing but answers", onHead(sage()).review(1, 1, "sage[bot]", "COMMENTED", " "), silent},
		{
			"the newest of two reviews counts",
			onHead(sage()).review(1, 1, "sage[bot]", "CHANGES_REQUESTED", "no").review(2, 5, "sage[bot]", "APPROVED", ""),
			approves,
		},
		{"in whichever direction", onHead(sage()).review(1, 1, "sage[bot]", "APPROVED", "").review(2, 5, "sage[bot]", "CHANGES_REQUESTED", "no"), objects},
		{"a review does not take a comment back", onHead(sage()).comment(1, 1, "sage[bot]", sageNo).review(2, 5, "sage[bot]", "APPROVED", ""), objects},
		{
			"a limit without a reset",
			onHead(sage()).comment(1, 1, "sage[bot]", "Rate limit exceeded.\n"),
			wanted{quorum.Unavailable, quorum.Limited, quorum.ReasonRateLimit, ""},
		},
		{
			"vague: it is asked once more",
			onHead(sage()).comment(1, 1, "sage[bot]", "It looks interesting.\n"),
			wanted{quorum.Pending, quorum.Malformed, quorum.ReasonMalformed, "ask"},
		},
		{
			"vague, and asked again",
			onHead(sage()).comment(1, 1, "sage[bot]", "It looks interesting.\n").comment(2, 70, bot, "@sage review").intent(asked(2, 70)),
			silent,
		},
		{
			"vague again",
			onHead(
				sage(),
			).comment(
				1,
				1,
				"sage[bot]",
				"It looks interesting.\n",
			).comment(
				2,
				70,
				bot,
				"@sage review",
			).comment(
				3,
				90,
				"sage[bot]",
				"Still interesting.\n",
			).intent(
				asked(2, 70),
			),
			wanted{quorum.Unavailable, quorum.Malformed, quorum.ReasonMalformed, ""},
		},
		{"what it said is not lost by asking", onHead(sage()).comment(1, 1, "sage[bot]", sageOK).intent(asked(2, 70)), approves},
		{
			"without a record nobody is asked by comment",
			onHead(sage()).comment(1, 1, "sage[bot]", "It looks interesting.\n").with(func(x *scene) { x.s.NoRecord = true }),
			wanted{quorum.Unavailable, quorum.Malformed, quorum.ReasonMalformed, ""},
		},
		{
			"a request of which GitHub shows nothing",
			onHead(sage()).comment(1, 1, "sage[bot]", "It looks interesting.\n").intent(asked(2, 70)),
			wanted{quorum.Pending, quorum.Silent, quorum.ReasonSilent, "ask"},
		},
		{
			"by a clock that is ahead",
			onHead(sage()).comment(1, 1, "sage[bot]", "It looks interesting.\n").comment(2, 68, bot, "@sage review\n").intent(asked(2, 70)),
			silent,
		},
		{"our own words are no evidence", onHead(shared).with(func(x *scene) {
			x.p.Reviewers[0].Request.Comment = "## Sage\n\n" + sageOK + "\nReviewed commit: " + head
		}).comment(1, 1, bot, "## Sage\n\n"+sageOK+"\nReviewed commit: "+head), wanted{quorum.Pending, quorum.Silent, quorum.ReasonSilent, ""}},
		{
			"the author is not his own reviewer",
			onHead(sage()).comment(1, 1, "sage[bot]", sageOK).with(func(x *scene) { x.s.PR.Author = who("sage[bot]") }),
			wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonSelf, ""},
		},
		{
			"an approval that stood, dismissed",
			onHead(
				sage(),
			).review(
				1,
				1,
				"sage[bot]",
				"DISMISSED",
				"",
			).stood(
				quorum.TextReview,
				1,
				"sage",
				1,
			).event(
				5,
				quorum.Event{Kind: quorum.ReviewDismissed, Review: 1, Actor: who("bob"), From: "APPROVED"},
			),
			wanted{quorum.Pending, quorum.Withdrawn, quorum.ReasonDismissed, ""},
		},
		{
			"an approval that stood, deleted, and then a reopening",
			onHead(sage()).stood(quorum.TextComment, 1, "sage", 1).event(20, quorum.Event{Kind: quorum.Reopened}),
			wanted{quorum.Pending, quorum.Withdrawn, quorum.ReasonDeleted, ""},
		},
		{
			"it works in the same place again",
			onHead(sage()).comment(1, 1, "sage[bot]", "Currently reviewing this pull request…").
				edited(50, "sage[bot]").stood(quorum.TextComment, 1, "sage", 1),
			wanted{quorum.Pending, quorum.Withdrawn, quorum.ReasonEdited, ""},
		},
		{
			"an objection, dismissed by somebody else",
			onHead(
				sage(),
			).review(
				1,
				1,
				"sage[bot]",
				"DISMISSED",
				"no",
			).event(
				5,
				quorum.Event{Kind: quorum.ReviewDismissed, Review: 1, Actor: who("bob"), From: "CHANGES_REQUESTED"},
			),
			silent,
		},
		{
			"by the author",
			onHead(
				sage(),
			).review(
				1,
				1,
				"sage[bot]",
				"DISMISSED",
				"no",
			).event(
				5,
				quorum.Event{Kind: quorum.ReviewDismissed, Review: 1, Actor: who("Alice"), From: "CHANGES_REQUESTED"},
			),
			objects,
		},
		{"by nobody knows whom", onHead(sage()).review(1, 1, "sage[bot]", "DISMISSED", sageNo), objects},
		{
			"an approval, dismissed by the author",
			onHead(
				sage(),
			).review(
				1,
				1,
				"sage[bot]",
				"DISMISSED",
				"",
			).event(
				5,
				quorum.Event{Kind: quorum.ReviewDismissed, Review: 1, Actor: who("alice"), From: "APPROVED"},
			),
			silent,
		},
		{
			"remembered, and dismissed by the author",
			onHead(
				sage(),
			).review(
				1,
				1,
				"sage[bot]",
				"DISMISSED",
				"",
			).objected(
				quorum.Objection{TextRef: ref(quorum.TextReview, 1), Reviewer: "sage", Attempt: 1, At: at(1)},
			).event(
				5,
				quorum.Event{Kind: quorum.ReviewDismissed, Review: 1, Actor: who("alice")},
			),
			stands,
		},
		{
			"remembered, and dismissed by somebody else",
			onHead(
				sage(),
			).review(
				1,
				1,
				"sage[bot]",
				"DISMISSED",
				"",
			).objected(
				quorum.Objection{TextRef: ref(quorum.TextReview, 1), Reviewer: "sage", Attempt: 1, At: at(1)},
			).event(
				5,
				quorum.Event{Kind: quorum.ReviewDismissed, Review: 1, Actor: who("bob")},
			),
			silent,
		},
		{
			"remembered, and dismissed by nobody knows whom",
			onHead(
				sage(),
			).review(
				1,
				1,
				"sage[bot]",
				"DISMISSED",
				"",
			).objected(
				quorum.Objection{TextRef: ref(quorum.TextReview, 1), Reviewer: "sage", Attempt: 1, At: at(1)},
			),
			stands,
		},
		{
			"another review was dismissed",
			onHead(sage()).review(1, 1, "sage[bot]", "DISMISSED", sageNo).event(5, quorum.Event{Kind: quorum.ReviewDismissed, Review: 2, Actor: who("bob")}),
			objects,
		},
	})
}

func TestRequests(t *testing.T) {
	first := sage()
	first.Request.AtStart = true
	copilot, _ := review.Preset("copilot")
	copilot.Timeout = 10 * time.Minute
	refused := quorum.Refusal{Kind: quorum.Ask, Reviewer: "sage", Attempt: 1, Reason: quorum.ReasonPermission, Detail: "issues=write"}
	judge(t, []row{
		{"at the start", onHead(first), wanted{quorum.Pending, quorum.Silent, quorum.ReasonSilent, "ask"}},
		{"only if nothing was seen", onHead(first).comment(1, 5, "sage[bot]", sageOK), approves},
		{"once", onHead(first).comment(1, 5, bot, "@sage review").intent(asked(1, 5)), silent},
		{
			"a request for the first attempt is not spent",
			onHead(first).comment(1, 5, bot, "@sage review").intent(asked(1, 5)).comment(2, 9, "sage[bot]", "Interesting.\n"),
			wanted{quorum.Pending, quorum.Malformed, quorum.ReasonMalformed, "ask"},
		},
		{"a new base asks who can be asked", onHead(sage()).retargeted(100), wanted{quorum.Pending, quorum.Silent, quorum.ReasonSilent, "ask"}},
		{
			"a new base voids what was said",
			onHead(sage()).comment(1, 50, "sage[bot]", sageOK+"\nReviewed commit: "+head).retargeted(100),
			wanted{quorum.Pending, quorum.Silent, quorum.ReasonSilent, "ask"},
		},
		{
			"and reviews",
			onHead(sage()).review(1, 50, "sage[bot]", "APPROVED", "").retargeted(100),
			wanted{quorum.Pending, quorum.Silent, quorum.ReasonSilent, "ask"},
		},
		{
			"coming back to a base refills nothing",
			onHead(sage()).retargeted(300).comment(1, 70, bot, "@sage review").intent(asked(2, 70)).comment(2, 310, "sage[bot]", "Interesting.\n"),
			wanted{quorum.Unavailable, quorum.Malformed, quorum.ReasonMalformed, ""},
		},
		{"somebody asked already", onHead(first).comment(1, 5, "alice", "@sage review"), silent},
		{"a shadow is not asked", onHead(first).with(func(x *scene) { x.p.Reviewers[0].Shadow = true }), silent},
		{
			"refused",
			onHead(first).intent(asked(1, 5)).with(func(x *scene) { x.s.Record.Refusals = []quorum.Refusal{refused} }),
			wanted{quorum.Unavailable, quorum.Refused, quorum.ReasonPermission, ""},
		},
		{
			"another's request is refused",
			onHead(first).comment(1, 5, bot, "@sage review").intent(asked(1, 5)).with(func(x *scene) {
				other := refused
				other.Reviewer = "openai"
				x.s.Record.Refusals = []quorum.Refusal{other}
			}), silent,
		},
		{"a person asks after a limit", onHead(sage()).comment(1, 5, "sage[bot]", "Rate limit exceeded.\n").comment(2, 600, "bob", "@sage review"), silent},
		{
			"copilot is asked again",
			onHead(
				copilot,
			).review(
				1,
				5,
				copilot.Author,
				"COMMENTED",
				"Copilot encountered an error and was unable to review this pull request. You can try again by re-requesting a review.\n",
			),
			wanted{quorum.Pending, quorum.Overloaded, quorum.ReasonOverloaded, "ask"},
		},
		{
			"GitHub shows the request",
			onHead(
				copilot,
			).intent(
				quorum.Intent{Kind: quorum.Ask, Reviewer: "copilot", Base: "main", Attempt: 2, At: at(70), Tries: 1},
			).event(
				70,
				quorum.Event{Kind: quorum.ReviewRequested, Actor: who(bot), Target: quorum.Account{Login: "Copilot", Bot: true}},
			),
			silent,
		},
		{
			"GitHub shows an older one",
			onHead(
				copilot,
			).intent(
				quorum.Intent{Kind: quorum.Ask, Reviewer: "copilot", Base: "main", Attempt: 2, At: at(70), Tries: 1},
			).event(
				60,
				quorum.Event{Kind: quorum.ReviewRequested, Actor: who(bot), Target: quorum.Account{Login: "Copilot", Bot: true}},
			),
			wanted{quorum.Pending, quorum.Silent, quorum.ReasonSilent, "ask"},
		},
		{
			"tried often enough",
			onHead(copilot).intent(quorum.Intent{Kind: quorum.Ask, Reviewer: "copilot", Base: "main", Attempt: 2, At: at(70), Tries: 3}),
			silent,
		},
	})
	for name, x := range map[string]*scene{
		"comment": onHead(sage()).comment(2, 2400, "bob", "@sage review"),
		"request": onHead(copilot).event(2400, quorum.Event{Kind: quorum.ReviewRequested, Actor: who("bob"), Target: who(copilot.Author)}),
	} {
		if b := x.ballot(); !b.Deadline.Equal(at(3000)) {
			t.Errorf("after a person's %s it is waited for until %s", name, b.Deadline)
		}
	}
	if b := onHead(sage()).comment(2, 2400, "bob", "what does @sage review do?").ballot(); !b.Deadline.Equal(at(600)) {
		t.Errorf("a mention is taken for a request")
	}
}

func TestThreads(t *testing.T) {
	copilot, _ := review.Preset("copilot")
	const (
		found = "Copilot reviewed 2 out of 2 changed files in this pull request and generated 2 comments.\n"
		clean = "Copilot reviewed 2 out of 2 changed files in this pull request and generated no new comments.\n"
	)
	two := func(change ...func(*quorum.Thread)) *scene {
		return onHead(copilot).review(1, 5, copilot.Author, "COMMENTED", found).thread(11, change...)
	}
	over := wanted{quorum.Approve, quorum.Approved, quorum.ReasonResolved, ""}
	open := wanted{quorum.Object, quorum.Findings, quorum.ReasonOpenThreads, ""}
	judge(t, []row{
		{"open", two().thread(12), objects},
		{"one resolved", two(resolved("bob")).thread(12), objects},
		{"all resolved by others", two(resolved("bob")).thread(12, resolved("carol")), over},
		{"all outdated: on its own head that ends nothing", two(outdated).thread(12, outdated), objects},
		{"one resolved by the author", two(resolved("bob")).thread(12, resolved("alice")), objects},
		{"by nobody knows whom", two(resolved("")), objects},
		{"anyone may", two(resolved("alice")).with(func(x *scene) { x.p.Threads = quorum.ByAnyone }), over},
		{"edited by somebody else", two(resolved("bob"), func(t *quorum.Thread) { t.Edited, t.Editor = true, who("mallory") }), objects},
		{
			"fewer than there were",
			two(resolved("bob")).objected(quorum.Objection{TextRef: ref(quorum.TextReview, 1), Reviewer: "copilot", Attempt: 1, At: at(5), Threads: 2}),
			objects,
		},
		{
			"none is left of those that were",
			onHead(
				copilot,
			).review(
				1,
				5,
				copilot.Author,
				"COMMENTED",
				clean,
			).objected(
				quorum.Objection{TextRef: ref(quorum.TextReview, 1), Reviewer: "copilot", Attempt: 1, At: at(5), Threads: 2},
			),
			stands,
		},
		{
			"a request for changes does not end by threads",
			onHead(sage()).review(1, 5, "sage[bot]", "CHANGES_REQUESTED", "").thread(11, resolved("bob")),
			objects,
		},
		{"words do not end by threads", onHead(sage()).review(1, 5, "sage[bot]", "COMMENTED", sageNo).thread(11, resolved("bob")), objects},
		{"comments on the diff do", onHead(sage()).review(1, 5, "sage[bot]", "COMMENTED", "See below.").thread(11, resolved("bob")), over},
		{"only what is new: clean", onHead(copilot).review(1, 5, copilot.Author, "COMMENTED", clean), approves},
		{
			"clean, but an earlier head's thread is open",
			onHead(copilot).review(1, 5, copilot.Author, "COMMENTED", clean).thread(3, func(t *quorum.Thread) { t.Review, t.Commit = 99, older }),
			open,
		},
		{
			"clean, and that one is resolved",
			onHead(
				copilot,
			).review(
				1,
				5,
				copilot.Author,
				"COMMENTED",
				clean,
			).thread(
				3,
				resolved("bob"),
				func(t *quorum.Thread) { t.Review, t.Commit = 99, older },
			),
			approves,
		},
		{
			"clean, and somebody else's is open",
			onHead(copilot).review(1, 5, copilot.Author, "COMMENTED", clean).thread(3, func(t *quorum.Thread) { t.Review, t.Author = 99, who("bob") }),
			approves,
		},
		{"a newer clean review does not close its threads", two().review(2, 50, copilot.Author, "COMMENTED", clean), open},
	})
	if b := two(resolved("bob")).thread(12, resolved("carol")).ballot(); b.Detail != "bob, carol" {
		t.Errorf("resolved by %q", b.Detail)
	}
	if b := two().thread(12).ballot(); !b.Threads || len(b.Findings) != 2 || b.Findings[0].Thread != 11 || b.Findings[0].Line != 3 {
		t.Errorf("the findings are %+v", b.Findings)
	}
}

func TestChecksAndStatuses(t *testing.T) {
	sec := quorum.Reviewer{
		Name:         "sec",
		Check:        "Security review",
		App:          "secbot",
		Author:       "secbot[bot]",
		Verdict:      format(quorum.Conclusion),
		FailureMeans: quorum.MeansUnavailable,
		Timeout:      10 * time.Minute,
	}
	findings := sec
	findings.FailureMeans = quorum.MeansFindings
	sonar := quorum.Reviewer{
		Name:         "sonar",
		Status:       "sonarqube",
		Author:       "sonarbot[bot]",
		Verdict:      format(quorum.Conclusion),
		FailureMeans: quorum.MeansUnavailable,
		Timeout:      10 * time.Minute,
	}
	green := func(r quorum.Reviewer, conclusion string, change ...func(*quorum.CheckRun)) *scene {
		x := onHead(r)
		c := quorum.CheckRun{ID: 5, Name: "Security review", App: "secbot", Status: "completed", Conclusion: conclusion, Started: at(5), Completed: at(50)}
		for _, f := range change {
			f(&c)
		}
		x.s.Checks = append(x.s.Checks, c)
		return x
	}
	status := func(state, context, creator string) *scene {
		x := onHead(sonar)
		x.s.Statuses = append(x.s.Statuses, quorum.Status{ID: 5, Context: context, State: state, Creator: who(creator), At: at(50)})
		return x
	}
	run := openai()
	run.Verdict = format(quorum.Conclusion)
	runFindings := run
	runFindings.FailureMeans = quorum.MeansFindings
	declined := wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonSkipped, ""}
	judge(t, []row{
		{"success", green(sec, "success"), approves},
		{"another App's", green(sec, "success", func(c *quorum.CheckRun) { c.App = "mallory" }), silent},
		{"another name", green(sec, "success", func(c *quorum.CheckRun) { c.Name = "security review" }), silent},
		{"before the base", green(sec, "success").retargeted(100), silent},
		{
			"under way",
			green(sec, "", func(c *quorum.CheckRun) { c.Status, c.Completed = "in_progress", time.Time{} }),
			wanted{quorum.Pending, quorum.Running, quorum.ReasonRunning, ""},
		},
		{"failure", green(sec, "failure"), wanted{quorum.Unavailable, quorum.Unknown, quorum.ReasonUnknown, ""}},
		{"failure means findings", green(findings, "failure"), objects},
		{"neutral", green(sec, "neutral"), declined},
		{"skipped", green(sec, "skipped"), declined},
		{"splendid", green(sec, "splendid"), wanted{quorum.Unavailable, quorum.Unknown, quorum.ReasonUnknown, ""}},
		{"the newest", green(sec, "failure").with(func(x *scene) {
			x.s.Checks = append(
				x.s.Checks,
				quorum.CheckRun{ID: 10, Name: "Security review", App: "secbot", Status: "completed", Conclusion: "success", Completed: at(60)},
			)
		}), approves},
		{"a status is no check", onHead(sec).with(func(x *scene) {
			x.s.Statuses = []quorum.Status{{ID: 1, Context: "Security review", State: "success", Creator: who("secbot[bot]"), At: at(5)}}
		}), silent},
		{"a status", status("success", "SonarQube", "sonarbot[bot]"), approves},
		{"another's", status("success", "sonarqube", "mallory"), silent},
		{"a status' failure", status("failure", "sonarqube", "sonarbot[bot]"), wanted{quorum.Unavailable, quorum.Unknown, quorum.ReasonUnknown, ""}},
		{"a status that is pending", status("pending", "sonarqube", "sonarbot[bot]"), wanted{quorum.Pending, quorum.Running, quorum.ReasonRunning, ""}},
		{"a run's success", onHead(run).run(1, 10, 100), approves},
		{"a run's failure", onHead(run).run(1, 10, 100, ended("failure")), wanted{quorum.Pending, quorum.Unknown, quorum.ReasonUnknown, "rerun"}},
		{
			"a run's second failure",
			onHead(run).run(1, 10, 300, attempt(2, 200), ended("failure")),
			wanted{quorum.Unavailable, quorum.Unknown, quorum.ReasonFailedTwice, ""},
		},
		{"a run's failure means findings", onHead(runFindings).run(1, 10, 100, ended("failure")), objects},
		{
			"but an outage does not",
			onHead(runFindings).run(1, 10, 100, log("failure", "Error: 503 Service Unavailable\n")),
			wanted{quorum.Pending, quorum.Overloaded, quorum.ReasonOverloaded, "rerun"},
		},
		{"a run that is neutral", onHead(run).run(1, 10, 100, ended("neutral")), declined},
		{"a run that is under way", onHead(run).run(1, 10, -1), atWork},
	})
}

func TestWhatIsRunAgain(t *testing.T) {
	first := func(conclusion, text string) *scene { return onHead(openai()).run(1, 10, 100, log(conclusion, text)) }
	refuse := func(why quorum.Reason) func(*scene) {
		return func(x *scene) {
			x.s.Record.Refusals = []quorum.Refusal{{Kind: quorum.Rerun, Reviewer: "openai", Run: 1, Attempt: 1, Reason: why}}
		}
	}
	judge(t, []row{
		{"an outage", first("failure", "Error: 503 Service Unavailable\n"), wanted{quorum.Pending, quorum.Overloaded, quorum.ReasonOverloaded, "rerun"}},
		{"credentials", first("failure", "Error: 401 Incorrect API key provided\n"), wanted{quorum.Unavailable, quorum.Failed, quorum.ReasonCredentials, ""}},
		{
			"deterministic beats transient",
			first("failure", "Error: 500 Internal Server Error\nError: 401 Incorrect API key provided\n"),
			wanted{quorum.Unavailable, quorum.Failed, quorum.ReasonCredentials, ""},
		},
		{"a limit without a reset", first("failure", "Error: 429 Too Many Requests\n"), wanted{quorum.Unavailable, quorum.Limited, quorum.ReasonRateLimit, ""}},
		{
			"a limit with one",
			first("failure", "Error: 429 Too Many Requests\nRetry-After: 120\n"),
			wanted{quorum.Pending, quorum.Limited, quorum.ReasonRateLimit, "rerun"},
		},
		{
			"a limit that resets too late",
			first("failure", "Error: 429 Too Many Requests\nRetry-After: 7200\n"),
			wanted{quorum.Unavailable, quorum.Limited, quorum.ReasonRateLimit, ""},
		},
		{"a log never approves", first("success", yes), empty},
		{"nothing recognised", first("failure", "Error: something\n"), wanted{quorum.Pending, quorum.Unknown, quorum.ReasonUnknown, "rerun"}},
		{"timed out", onHead(openai()).run(1, 10, 100, ended("timed_out")), wanted{quorum.Pending, quorum.Hung, quorum.ReasonHung, "rerun"}},
		{"its own time limit", onHead(openai()).run(1, 10, 100, ended("cancelled"), func(r *quorum.Run) {
			r.Jobs[0].Annotations = []string{"The job running on runner R has exceeded the maximum execution time of 6 minutes."}
		}), wanted{quorum.Pending, quorum.Hung, quorum.ReasonHung, "rerun"}},
		{"cancelled by somebody", onHead(openai()).run(1, 10, 100, ended("cancelled")), wanted{quorum.Pending, quorum.Cancelled, quorum.ReasonCancelled, ""}},
		{
			"cancelled by us",
			onHead(openai()).run(1, 10, 700, ended("cancelled")).intent(cancelled(1, 1, 690)),
			wanted{quorum.Pending, quorum.Hung, quorum.ReasonHung, "rerun"},
		},
		{"a verdict is final even if it was cancelled", onHead(openai()).run(1, 10, 100, ended("cancelled")).comment(1, 90, bot, yes), approves},
		{"or failed", first("failure", "Error: 401 Incorrect API key provided\n").comment(1, 90, bot, yes), approves},
		{"malformed", onHead(openai()).run(1, 10, 100).comment(1, 90, bot, vague), wanted{quorum.Pending, quorum.Malformed, quorum.ReasonMalformed, "rerun"}},
		{
			"malformed, and the log knows why",
			first("failure", "Error: 401 Incorrect API key provided\n").comment(1, 90, bot, vague),
			wanted{quorum.Unavailable, quorum.Failed, quorum.ReasonCredentials, ""},
		},
		{
			"it says that it works, and has ended",
			onHead(openai()).run(1, 10, 100).comment(1, 20, bot, "## OpenAI Review\n\nReview in progress…\n").with(func(x *scene) { x.p.Retry.Max = 0 }),
			emptyLast,
		},
		{
			"refused",
			first("failure", "Error: something\n").with(refuse(quorum.ReasonRefused)),
			wanted{quorum.Unavailable, quorum.Refused, quorum.ReasonRefused, ""},
		},
		{
			"too old",
			first("failure", "Error: something\n").with(refuse(quorum.ReasonTooOld)),
			wanted{quorum.Unavailable, quorum.Refused, quorum.ReasonTooOld, ""},
		},
		{
			"a permission that is missing once",
			first("failure", "Error: 503 Service Unavailable\n").intent(reran(1, 1, 160)).with(refuse(quorum.ReasonPermission)),
			wanted{quorum.Pending, quorum.Overloaded, quorum.ReasonOverloaded, "rerun"},
		},
		{
			"and twice",
			first("failure", "Error: 503 Service Unavailable\n").intent(reran(1, 1, 220)).with(refuse(quorum.ReasonPermission)).with(func(x *scene) {
				x.s.Record.Refusals = append(x.s.Record.Refusals, x.s.Record.Refusals[0])
			}),
			wanted{quorum.Unavailable, quorum.Refused, quorum.ReasonPermission, ""},
		},
		{
			"a refusal of another attempt",
			onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 290, bot, yes).with(refuse(quorum.ReasonTooOld)),
			approves,
		},
		{
			"never",
			first("failure", "Error: something\n").with(func(x *scene) { x.p.Retry.Max = 0 }),
			wanted{quorum.Unavailable, quorum.Unknown, quorum.ReasonUnknown, ""},
		},
		{
			"a shadow",
			first("failure", "Error: something\n").with(func(x *scene) { x.p.Reviewers[0].Shadow = true }),
			wanted{quorum.Unavailable, quorum.Unknown, quorum.ReasonUnknown, ""},
		},
		{"past the deadline", onHead(openai()).run(1, 10, 2690, ended("failure")), wanted{quorum.Unavailable, quorum.Unknown, quorum.ReasonUnknown, ""}},
		{"our cancel is refused", onHead(openai()).run(1, 10, -1).intent(cancelled(1, 1, 610)).with(func(x *scene) {
			x.s.Record.Refusals = []quorum.Refusal{
				{Kind: quorum.Cancel, Reviewer: "openai", Run: 1, Attempt: 1, Reason: quorum.ReasonPermission, Detail: "actions=write"},
			}
		}), atWorkTwo},
	})
}

// Who is run again when.
func TestWhenItIsRunAgain(t *testing.T) {
	due := func(x *scene) time.Duration {
		b := x.ballot()
		if len(b.Next) != 1 {
			t.Fatalf("next is %+v", b.Next)
		}
		return b.Next[0].Due.Sub(dawn)
	}
	again := reran(1, 1, 190)
	again.Tries = 2
	forbid := func(x *scene) {
		x.s.Record.Refusals = []quorum.Refusal{{Kind: quorum.Rerun, Reviewer: "openai", Run: 1, Attempt: 1, Reason: quorum.ReasonPermission}}
	}
	for name, test := range map[string]struct {
		x        *scene
		from, to int // seconds
	}{
		"empty at once":            {onHead(openai()).run(1, 10, 39), 39, 39},
		"empty after fast_fail":    {onHead(openai()).run(1, 10, 40), 88, 112},
		"empty: the queue is free": {onHead(openai()).run(1, 10, 100, func(r *quorum.Run) { r.Jobs[0].Started = at(80) }), 100, 100},
		"malformed":                {onHead(openai()).run(1, 10, 20).comment(1, 15, bot, vague), 68, 92},
		"outage":                   {onHead(openai()).run(1, 10, 20, log("failure", "Error: 503 Service Unavailable\n")), 68, 92},
		"timed out":                {onHead(openai()).run(1, 10, 20, ended("timed_out")), 68, 92},
		"hung":                     {onHead(openai()).run(1, 10, 700, ended("cancelled")).intent(cancelled(1, 1, 690)), 700, 700},
		"limited":                  {onHead(openai()).run(1, 10, 100, log("failure", "Error: 429 Too Many Requests\nRetry-After: 120\n")), 220, 220},
		"no runner":                {onHead(openai()).run(1, 10, -1, func(r *quorum.Run) { r.Status, r.Jobs[0].Started = "queued", time.Time{} }), 610, 610},
		"no end":                   {onHead(openai()).run(1, 10, -1, func(r *quorum.Run) { r.Jobs[0].Started = at(300) }), 900, 900},
		"no end by the deadline":   {onHead(openai()).run(1, 10, -1, func(r *quorum.Run) { r.Jobs[0].Started = at(2500) }), 2700, 2700},
		"our rerun does not show":  {onHead(openai()).run(1, 10, 100).intent(reran(1, 1, 160)), 190, 190},
		"nor does the second try":  {onHead(openai()).run(1, 10, 100).intent(again), 310, 310},
		"it was not permitted":     {onHead(openai()).run(1, 10, 100).intent(reran(1, 1, 160)).with(forbid), 220, 220},
		"our cancel does not show": {onHead(openai()).run(1, 10, -1).intent(cancelled(1, 1, 610)), 640, 640},
		"asked again":              {onHead(sage()).comment(1, 1, "sage[bot]", "Interesting.\n"), 49, 73},
	} {
		if got := due(test.x); got < time.Duration(test.from)*time.Second || got > time.Duration(test.to)*time.Second {
			t.Errorf("%s: due after %s, want %d to %d s", name, got, test.from, test.to)
		}
	}
	spread := map[time.Duration]bool{}
	for id := range int64(40) {
		spread[due(onHead(openai()).run(id+1, 10, 20, ended("failure")))] = true
	}
	if len(spread) < 20 {
		t.Errorf("40 runs are run again at %d moments only", len(spread))
	}
	if a := onHead(openai()).run(1, 10, 100, ended("failure")).ballot().Next[0]; !a.FailedOnly {
		t.Errorf("a job failed, and the whole run is run again")
	}
	if a := onHead(openai()).run(1, 10, 100).ballot().Next[0]; a.FailedOnly {
		t.Errorf("no job failed, and only failed ones are run again")
	}
}

// A run that another undecided reviewer shares is not cancelled before that one's time is over, too.
func TestSharedRuns(t *testing.T) {
	second := openai()
	second.Name, second.Heading, second.Timeout = "second", "## Second Review", 20*time.Minute
	shadow := second
	shadow.Shadow = true
	answer := strings.Replace(yes, "OpenAI", "Second", 1)
	for name, test := range map[string]struct {
		x    *scene
		want time.Time // zero: it is not cancelled
	}{
		"the other has more time":      {onHead(openai(), second).run(1, 10, -1), at(1210)},
		"the other has answered":       {onHead(openai(), second).run(1, 10, -1).comment(1, 50, bot, answer), at(610)},
		"the other is never run again": {onHead(openai(), shadow).run(1, 10, -1), time.Time{}},
		"the other has a run of its own": {
			onHead(openai(), second).run(1, 10, -1).
				with(func(x *scene) { x.p.Reviewers[1].Workflow = "x.yml" }).
				run(2, 10, -1, func(r *quorum.Run) { r.Path = "x.yml" }),
			at(610),
		},
	} {
		var due time.Time
		for _, a := range test.x.ballot().Next {
			due = a.Due
		}
		if !due.Equal(test.want) {
			t.Errorf("%s: it is cancelled at %s, want %s", name, due, test.want)
		}
	}
}

func TestGuard(t *testing.T) {
	own := sage()
	own.Guard = []string{"SAGE.md", "**/.sage/**"}
	changes := func(paths ...string) func(*scene) {
		return func(x *scene) {
			x.s.PR.Files = nil
			for _, p := range paths {
				now, before, _ := strings.Cut(p, " was ")
				x.s.PR.Files = append(x.s.PR.Files, quorum.File{Path: now, Previous: before})
			}
		}
	}
	missing := func(x *scene) { x.s.PR.FilesMissing = true }
	guarded := wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonGuarded, ""}
	reviewed := func(event string) *scene { return onHead(openai()).run(1, 10, 100, by(event)).comment(1, 90, bot, yes) }
	none := onHead(sage()).comment(1, 5, "sage[bot]", sageOK)
	judge(t, []row{
		{"other files", reviewed("pull_request").with(changes("a.go")), approves},
		{"a workflow", reviewed("pull_request").with(changes("a.go", ".github/workflows/x.yml")), guarded},
		{"a workflow that was", reviewed("pull_request").with(changes("x.yml was .github/workflows/x.yml")), guarded},
		{"a workflow, under pull_request_target", reviewed("pull_request_target").with(changes(".github/workflows/x.yml")), approves},
		{"an action, under pull_request_target", reviewed("pull_request_target").with(changes(".github/actions/a/action.yml")), guarded},
		{"the list is incomplete", reviewed("pull_request").with(missing), guarded},
		{"under pull_request_target, too", reviewed("pull_request_target").with(missing), guarded},
		{"an App is not concerned", onHead(sage()).comment(1, 5, "sage[bot]", sageOK).with(changes(".github/workflows/x.yml")), approves},
		{"an App without a guard", none.with(missing), approves},
		{"its own instructions", onHead(own).comment(1, 5, "sage[bot]", sageOK).with(changes("SAGE.md")), guarded},
		{"its folder is a link", onHead(own).comment(1, 5, "sage[bot]", sageOK).with(changes("my/.sage")), guarded},
		{"a link for the folder of workflows", reviewed("pull_request").with(changes(".github/workflows")), guarded},
		{"its own, the list is incomplete", onHead(own).comment(1, 5, "sage[bot]", sageOK).with(missing), guarded},
	})
	if b := reviewed("pull_request").with(changes(".github/workflows/x.yml")).ballot(); b.Detail != ".github/workflows/x.yml" {
		t.Errorf("the path is %q", b.Detail)
	}
}

func TestJudgeKeepsTheOrder(t *testing.T) {
	retired := quorum.Reviewer{Name: "old", Author: "old[bot]", Retired: true, Verdict: format(quorum.Auto)}
	x := onHead(sage(), retired, openai())
	var names []string
	for _, b := range evidence.Judge(x.p, x.s) {
		names = append(names, b.Reviewer)
		if b.Retired && (b.Vote != quorum.Unavailable || b.Reason != quorum.ReasonRetired) {
			t.Errorf("a retired reviewer is %s %s", b.Vote, b.Reason)
		}
	}
	if !slices.Equal(names, []string{"sage", "old", "openai"}) {
		t.Errorf("the ballots are %v", names)
	}
}

func TestTwoVagueAnswersAreBothShown(t *testing.T) {
	x := onHead(openai()).run(1, 10, 300, attempt(2, 200)).comment(1, 290, bot, vague)
	x.s.Record.Answers = []quorum.Answer{{Reviewer: "openai", Run: 1, Attempt: 1, Excerpt: "the first"}, {Reviewer: "other", Attempt: 1, Excerpt: "not his"}}
	if b := x.ballot(); b.Vote != quorum.Unavailable || b.Failed != 2 || !b.Spent || len(b.Answers) != 2 || b.Answers[0] != "the first" ||
		!strings.Contains(b.Answers[1], "interesting") {
		t.Errorf("the ballot is %+v", b)
	}
}

// What the clock does to a ballot that is pending.
func TestDeadlines(t *testing.T) {
	queued := func(r *quorum.Run) { r.Status, r.Jobs[0].Started = "queued", time.Time{} }
	never := func(x *scene) { x.p.Retry.Max = 0 }
	for name, test := range map[string]struct {
		x    *scene
		at   int
		late quorum.Reason
		open bool // an answer may still come and would count
	}{
		"silent":           {onHead(openai()), 600, quorum.ReasonNoAnswer, true},
		"the last attempt": {onHead(openai()).run(1, 10, -1).with(never), 610, quorum.ReasonLate, true},
		"its job began later": {
			onHead(openai()).run(1, 10, -1, func(r *quorum.Run) { r.Jobs[0].Started = at(100) }).with(never),
			700, quorum.ReasonLate, true,
		},
		"no job has begun":                  {onHead(openai()).run(1, 10, -1, queued).with(never), 610, quorum.ReasonLate, true},
		"deadline ends everything":          {onHead(openai()).run(1, 2500, -1).with(never), 2700, quorum.ReasonLate, true},
		"cancelled":                         {onHead(openai()).run(1, 10, 100, ended("cancelled")), 130, quorum.ReasonCancelled, true},
		"cancelled just before the end":     {onHead(openai()).run(1, 10, 2690, ended("cancelled")), 2700, quorum.ReasonCancelled, true},
		"awaiting approval":                 {onHead(openai()).run(1, 10, 10, jobless("action_required")), 2700, quorum.ReasonApproval, true},
		"withdrawn":                         {onHead(openai()).run(1, 10, 100).stood(quorum.TextComment, 1, "openai", 100), 610, quorum.ReasonDeleted, true},
		"an answer that is not counted yet": {onHead(openai()).run(1, 10, -1).comment(1, 50, bot, yes), 610, "", false},
		"our rerun does not show":           {onHead(openai()).run(1, 10, 100).intent(reran(1, 1, 160)), 760, quorum.ReasonEmpty, false},
	} {
		b := test.x.ballot()
		if b.Vote != quorum.Pending || !b.Deadline.Equal(at(test.at)) || b.Late != test.late || b.Open != test.open {
			t.Errorf(
				"%s: %s until %s, then %q, open: %v; want until %s, then %q, %v",
				name,
				b.Vote,
				b.Deadline,
				b.Late,
				b.Open,
				at(test.at),
				test.late,
				test.open,
			)
		}
	}
	b := onHead(openai()).run(1, 10, -1).comment(1, 50, bot, yes).ballot()
	if b.Then == nil || b.Then.Vote != quorum.Approve || !b.Then.At.Equal(at(610)) {
		t.Errorf("an answer whose attempt does not end is then %+v", b.Then)
	}
}
