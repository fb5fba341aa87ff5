package story_test

// A model of GitHub that is small enough to walk through everything that may happen to one pull request: its state is a
// snapshot, a move changes it as GitHub would, and beside it stands what is true of it, told by whoever moved.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	lanes "github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// product is what is under test. A mutant replaces one of its parts.
type product struct {
	policyFor func(quorum.Policy, quorum.Snapshot) quorum.Policy
	inherit   func(quorum.Policy, quorum.Snapshot) quorum.Record
	judge     func(quorum.Policy, quorum.Snapshot) []quorum.Ballot
	facts     func(quorum.Policy, quorum.Snapshot) quorum.Facts
	decide    func(quorum.Policy, []quorum.Ballot, quorum.Facts, time.Time) quorum.Decision
	remember  func(quorum.Policy, quorum.Snapshot, quorum.Decision, time.Time) quorum.Record
}

var theProduct = product{
	policyFor: lanes.PolicyFor, inherit: evidence.Inherit,
	judge: evidence.Judge, facts: evidence.Facts, decide: quorum.Decide, remember: evidence.Remember,
}

// reviewerKind is how a reviewer of the model leaves its verdict.
type reviewerKind int

const (
	byWorkflowText reviewerKind = iota // a workflow's comment, as github-actions[bot]
	byConclusion                       // the conclusion of a workflow's run
	byApp                              // an App's reviews and its one comment
	byCheck                            // an App's check run
	byStatus                           // a commit status
)

var kindNames = [...]string{"workflow", "conclusion", "app", "check", "status"}

const (
	model        = "acme"
	mainBase     = "main"
	otherBase    = "stable" // holds what main holds: a diff is the same there
	partBase     = "next"   // has a part of each change already: a diff is another one there
	guardBase    = "evil"   // holds what main holds, but for guarded files
	moveTakes    = 10 * time.Second
	modelTimeout = 5 * time.Minute
	yesText      = "## %s\n\n**Ready to merge?** Yes\n"
	noText       = "## %s\n\n1. **Critical** `cart.go:42`: the total is not rounded.\n\n**Ready to merge?** No\n"
	openText     = "## %s\n\n**Ready to merge?** Yes/No/With fixes\n"
	workingText  = "## %s\n\nReview in progress…\n"
	outageText   = "## %s\n\nError: 503 UNAVAILABLE. The model is overloaded. Please try again later.\n"
)

var (
	opened  = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	author  = quorum.Account{Login: "alice", ID: 1}
	helper  = quorum.Account{Login: "bob", ID: 2}
	second  = quorum.Account{Login: "dave", ID: 6}
	passer  = quorum.Account{Login: "mallory", ID: 7}
	robot   = quorum.Account{Login: quorum.ActionsBot, ID: 3, Bot: true}
	tidier  = quorum.Account{Login: "tidy[bot]", ID: 4, Bot: true}
	ourself = quorum.Account{Login: "quorum[bot]", ID: 5, Bot: true}
)

// modelPolicy is a policy of need approvals by reviewers of these kinds.
func modelPolicy(need int, kinds []reviewerKind) quorum.Policy {
	p := quorum.Policy{
		Check: "Review quorum", Mode: quorum.Enforce, Need: need, Families: quorum.AnyFamily, Carry: quorum.CarryNone,
		Grace: time.Minute, Deadline: 45 * time.Minute,
		EarlyStart: true, DraftsWait: true, StandIn: quorum.Write, Threads: quorum.ByOthers,
		Retry: quorum.Retry{Max: 1, FastFail: 30 * time.Second, Backoff: time.Minute},
	}
	for i, kind := range kinds {
		r := quorum.Reviewer{Name: string(rune('a'+i)) + "-" + kindNames[kind], Timeout: modelTimeout, Verdict: quorum.Format{Kind: quorum.Auto}}
		switch kind {
		case byWorkflowText:
			r.Workflow, r.Author, r.Heading = ".github/workflows/"+r.Name+".yml", quorum.ActionsBot, "## "+r.Name
			r.Events = []string{"pull_request"}
		case byConclusion:
			r.Workflow, r.Author, r.Events = ".github/workflows/"+r.Name+".yml", quorum.ActionsBot, []string{"pull_request"}
			r.Verdict, r.FailureMeans = quorum.Format{Kind: quorum.Conclusion}, quorum.MeansFindings
		case byApp:
			r.Author = r.Name + "[bot]"
		case byCheck:
			r.Check, r.App, r.Verdict, r.FailureMeans = r.Name, "secbot", quorum.Format{Kind: quorum.Conclusion}, quorum.MeansFindings
		case byStatus:
			r.Status, r.Author = r.Name, r.Name+"[bot]"
			r.Verdict, r.FailureMeans = quorum.Format{Kind: quorum.Conclusion}, quorum.MeansFindings
		}
		p.Reviewers = append(p.Reviewers, r)
	}
	return p
}

// An objectionTruth is a no that was said of a head, and so of every one that changes the same lines.
type objectionTruth struct {
	reviewer int
	at       time.Time
	head     string
	lines    string // of the diff against the base of then
	base     string
	ref      quorum.TextRef
	run      int64
	attempt  int
	seen     bool // a look saw it
	onEvil   bool // answered there alone, where a reviewer may be told anything
	answered bool // by its reviewer, or
	ended    bool // by a person who may
}

// A modelState is a pull request at one moment.
type modelState struct {
	s          quorum.Snapshot // but for Began
	now        time.Time
	nextID     int64
	objections []objectionTruth
	said       []reviewerTruth // by reviewer
	superseded []reviewerTruth // the last verdict before its newest run
	older      []reviewerTruth // and the one before that
	work       []workTruth     // of Apps, by reviewer
	guarded    bool            // a look sees what the base holds of guarded files
	moves      []time.Time     // when the base changed, and nothing else
	basePushed map[string]time.Time
	doubted    []quorum.Text   // Apps' answers that may be of another base: of each, what it is and when it was said
	shown      quorum.Decision // by our check
	kinds      []reviewerKind
	reviewers  []quorum.Reviewer
	looked     bool
	atEnd      bool            // everybody approves anew: see [walker.approveInTheEnd]
	reruns     []quorum.Action // that we made
	changeState
	fixTruths
	runTruths
}

// A reviewerTruth is what a reviewer last said of this head and base.
type reviewerTruth struct {
	yes, no bool      // said in its newest attempt
	counts  bool      // its attempt ended, or it has none: a yes approves
	since   time.Time // its attempt began; zero without one
	earlier bool      // of an earlier run, which the newest, that left nothing, did not replace
	spoke   bool      // it left words without a verdict: it replaces an earlier run
}

// A workTruth is what an App may be at work on, which nothing shows.
type workTruth struct {
	busy bool // it has not answered since it was asked last: by a push, a reopening or a change of the base
	old  bool // its next answer may have been begun against a base with another diff
}

// asks notes that all Apps are asked for a review.
func (st *modelState) asks() {
	st.work = slices.Clone(st.work)
	for place := range st.work {
		st.work[place].busy = true
	}
}

// isDoubted notes an App's answer, and reports whether it may have been begun against another base.
func (st *modelState) isDoubted(place int, ref quorum.TextRef) bool {
	isOld := st.work[place].old
	st.work[place] = workTruth{}
	if isOld {
		st.doubted = append(st.doubted, quorum.Text{TextRef: ref, At: st.now})
	}
	return isOld
}

// inDoubt reports whether a text is an answer that may have been begun against another base.
func (st *modelState) inDoubt(t *quorum.Text) bool {
	return slices.ContainsFunc(st.doubted, func(d quorum.Text) bool { return d.TextRef == t.TextRef && d.At.Equal(timeOf(t)) })
}

// timeOf is when a text became what it is.
func timeOf(t *quorum.Text) time.Time {
	if !t.Edited.IsZero() {
		return t.Edited
	}
	return t.At
}

func newModelState(p *quorum.Policy, kinds []reviewerKind) *modelState {
	first := change{path: codeFile}
	pr := quorum.PullRequest{
		PR: quorum.PR{Owner: model, Repo: "shop", Number: 7}, Title: "Round the totals", Head: headSHA(0), HeadRef: "feature", HeadRepo: "acme/shop",
		BaseRef: mainBase, DefaultBranch: mainBase, Author: author, Created: opened, Commits: 1, Files: first.files(), Diff: first.printAgainst(mainBase),
	}
	st := &modelState{
		kinds: kinds, reviewers: p.Reviewers, now: opened, nextID: 100,
		said: make([]reviewerTruth, len(p.Reviewers)), superseded: make([]reviewerTruth, len(p.Reviewers)),
		older:       make([]reviewerTruth, len(p.Reviewers)),
		work:        make([]workTruth, len(p.Reviewers)),
		changeState: newChangeState(first, p),
	}
	st.s = quorum.Snapshot{
		PR: pr, File: quorum.PolicyFile{State: quorum.FileValid, Path: ".github/review-coordinator.yml", SHA: "p1"}, Gated: true, Arrived: opened,
		Permissions: map[string]quorum.Permission{"alice": quorum.Admin, "bob": quorum.Maintain, "dave": quorum.Write, "mallory": 0},
		Ours:        ourself, Links: []string{},
	}
	st.s.SameBranch = []quorum.PullRequest{pr}
	st.heads = []headTruth{{change: first, sha: pr.Head, arrived: opened}}
	st.s.Commits = []quorum.Commit{{SHA: pr.Head, People: []quorum.Account{author}}}
	st.heads[0].commits = st.s.Commits
	st.s.Pushes = []quorum.Push{{After: pr.Head, Actor: author, At: opened}}
	st.asks()
	return st
}

func headSHA(n int) string { return fmt.Sprintf("%07x%033x", 0xa1b2c00+n, n) }

// clone copies what moves change.
func (st *modelState) clone() *modelState {
	c := *st
	c.s.Timeline, c.s.Runs, c.s.Others = slices.Clone(st.s.Timeline), slices.Clone(st.s.Runs), slices.Clone(st.s.Others)
	c.s.Reviews, c.s.Comments, c.s.Threads = slices.Clone(st.s.Reviews), slices.Clone(st.s.Comments), slices.Clone(st.s.Threads)
	c.s.Checks, c.s.Statuses, c.s.Earlier = slices.Clone(st.s.Checks), slices.Clone(st.s.Statuses), slices.Clone(st.s.Earlier)
	c.objections, c.said, c.reruns = slices.Clone(st.objections), slices.Clone(st.said), slices.Clone(st.reruns)
	c.superseded, c.older, c.work, c.doubted = slices.Clone(st.superseded), slices.Clone(st.older), slices.Clone(st.work), slices.Clip(st.doubted)
	c.changeState, c.fixTruths, c.runTruths = st.changeState.clone(), st.fixTruths.clone(), st.runTruths.clone()
	return &c
}

func (st *modelState) newID() int64 {
	st.nextID++
	return st.nextID
}

// run returns the newest run of a reviewer's workflow on this head; nil if there is none.
func (st *modelState) run(r *quorum.Reviewer) *quorum.Run {
	return st.newestRun(r, func(*quorum.Run) bool { return true })
}

func (st *modelState) newestRun(r *quorum.Reviewer, is func(*quorum.Run) bool) *quorum.Run {
	for i := len(st.s.Runs) - 1; i >= 0; i-- {
		if run := &st.s.Runs[i]; run.Path == r.Workflow && !st.isOfOldBase(run) && is(run) {
			return run
		}
	}
	return nil
}

// isOfOldBase reports whether a run was created before the newest change of the base.
func (st *modelState) isOfOldBase(run *quorum.Run) bool {
	return slices.ContainsFunc(st.s.Timeline, func(e quorum.Event) bool {
		return e.Kind == quorum.BaseChanged && !run.Created.After(e.At) && !slices.Contains(st.moves, e.At)
	})
}

// startRun starts a run of a workflow.
func (st *modelState) startRun(r *quorum.Reviewer, status string) {
	number := 1
	for _, run := range slices.Concat(st.s.Runs, st.s.Others) {
		if run.Path == r.Workflow {
			number++
		}
	}
	id := st.newID()
	st.s.Runs = append(st.s.Runs, quorum.Run{
		ID: id, Number: number, Path: r.Workflow, Event: "pull_request", Head: st.s.PR.Head, Branch: "feature", Repo: "acme/shop", Suite: id,
		Attempt: 1, Created: st.now, Actor: author, URL: fmt.Sprint("https://github.test/runs/", id),
	})
	st.beginAttempt(&st.s.Runs[len(st.s.Runs)-1], status)
}

func (st *modelState) beginAttempt(run *quorum.Run, status string) {
	run.Status, run.Conclusion, run.Started, run.Updated = status, "", st.now, st.now
	run.Jobs = nil
	if status == "in_progress" {
		run.Jobs = []quorum.Job{{ID: st.newID(), Started: st.now}}
	}
}

func (st *modelState) endRun(run *quorum.Run, conclusion string) {
	job := quorum.Job{
		ID: st.newID(), Conclusion: conclusion, Started: run.Started, Completed: st.now, Read: true,
	}
	run.Status, run.Conclusion, run.Updated, run.Jobs = "completed", conclusion, st.now, []quorum.Job{job}
}

// object notes that a reviewer said no.
func (st *modelState) object(place int, ref quorum.TextRef, run *quorum.Run) {
	o := objectionTruth{reviewer: place, at: st.now, head: st.s.PR.Head, lines: st.s.PR.Diff.Lines, base: st.s.PR.BaseRef, ref: ref}
	if run != nil {
		o.run, o.attempt = run.ID, run.Attempt
	}
	st.objections = append(st.objections, o)
}

// end ends objections by a person's deed, whatever the head and base are now.
func (st *modelState) end(place int, isEnded func(o *objectionTruth) bool) {
	for i := range st.objections {
		if o := &st.objections[i]; o.reviewer == place && isEnded(o) {
			o.ended = true
		}
	}
}

// answer notes that a reviewer's objections to these lines and this base are answered: all of them that isAnswered
// names. Where that takes a person's word nothing is, nor by a yes on a base with other guarded files what was objected elsewhere.
func (st *modelState) answer(place int, isAnswered func(o *objectionTruth) bool) {
	for i := range st.objections {
		o := &st.objections[i]
		isOfLines := slices.ContainsFunc(st.heads, func(h headTruth) bool { // a text is of its head on every base
			return o.run == 0 && h.sha == o.head && h.printAgainst(st.s.PR.BaseRef).Lines == st.s.PR.Diff.Lines
		})
		if o.reviewer == place && (st.isOfThis(o) || isOfLines) && isAnswered(o) {
			isThere := st.s.PR.BaseRef == guardBase && o.base != guardBase
			o.onEvil, o.answered = o.onEvil || isThere, o.answered || !isThere
		}
	}
}

// isOfThis reports whether an objection is to what this head changes, whichever base it was said of. Of a text without a run
// nobody knows against which base it was begun: it is of its head on every base.
func (st *modelState) isOfThis(o *objectionTruth) bool {
	isText := o.ref.Kind == quorum.TextReview || o.ref.Kind == quorum.TextComment
	return o.lines == st.s.PR.Diff.Lines || o.head == st.s.PR.Head && isText && o.run == 0
}

// isBeforeThis reports whether an objection was said on another head, or before the newest change of the base: whatever
// its reviewer says now is said anew.
func (st *modelState) isBeforeThis(o *objectionTruth) bool {
	return o.head != st.s.PR.Head || slices.ContainsFunc(st.s.Timeline, func(e quorum.Event) bool {
		return e.Kind == quorum.BaseChanged && !o.at.After(e.At) && !slices.Contains(st.moves, e.At)
	})
}

// standing are the objections to these lines and this base that a look saw and nothing answered.
func (st *modelState) standing() (standing []*objectionTruth) {
	for i := range st.objections {
		if o := &st.objections[i]; o.seen && !o.answered && !o.ended && st.isOfThis(o) && !(o.onEvil && st.s.PR.BaseRef == guardBase) {
			standing = append(standing, o)
		}
	}
	return standing
}

// hasStanding reports whether such an objection is a reviewer's.
func (st *modelState) hasStanding(place int) bool {
	return slices.ContainsFunc(st.standing(), func(o *objectionTruth) bool { return o.reviewer == place })
}

// hasApproved reports whether it is true of a reviewer that its newest attempt on this head approved and nothing took
// it back.
func (st *modelState) hasApproved(place int) bool {
	said := &st.said[place]
	isHung := !said.since.IsZero() && !st.now.Before(said.since.Add(modelTimeout)) // an attempt that does not end
	if isHung && !said.counts && !said.yes && !said.no {
		said = &st.superseded[place]
	}
	approves := said.yes && !said.no && (said.counts || isHung)
	if st.kinds[place] == byApp {
		approves = st.appApproves(&st.reviewers[place])
	}
	if st.kinds[place] == byCheck {
		approves = approves && !st.hasCheckUnderWay(place)
	}
	return approves && !st.hasStanding(place)
}

// A move is one thing that may happen. It reports whether it can, now.
type move struct {
	name string
	do   func(st *modelState) bool
}

// moves are all that may happen in a world with that policy.
func (w *world) moves(p *quorum.Policy) (all []move) {
	add := func(name string, do func(st *modelState) bool) { all = append(all, move{name, do}) }
	for i := range p.Reviewers {
		r := &p.Reviewers[i]
		addOwn := func(name string, do func(st *modelState) bool) {
			name = r.Name + " " + name
			if w.few != nil && !slices.ContainsFunc(w.few, func(end string) bool { return strings.HasSuffix(name, end) }) {
				return
			}
			isOwn := !strings.Contains(name, " by ") && !strings.HasSuffix(name, "is deleted")
			add(name, func(st *modelState) bool {
				done := do(st)
				st.begins(i, done && isOwn)
				return done
			})
		}
		switch kind := w.kinds[i]; {
		case w.sideBySide:
			sideBySideMoves(addOwn, i, r)
		case kind == byWorkflowText:
			runMoves(addOwn, i, r)
			textMoves(addOwn, i, r)
		case kind == byConclusion:
			runMoves(addOwn, i, r)
		case kind == byApp:
			appMoves(addOwn, i, r)
		case kind == byCheck:
			checkMoves(addOwn, i, r)
		case kind == byStatus:
			statusMoves(addOwn, i, r)
		}
	}
	if w.add == nil {
		plainMoves(add)
	} else {
		w.add(add, p)
	}
	add("a minute passes", func(st *modelState) bool {
		st.now = st.now.Add(time.Minute - moveTakes)
		return true
	})
	add("its wake comes", func(st *modelState) bool {
		if st.shown.Wake.After(st.now) {
			st.now = st.shown.Wake
			return true
		}
		return false
	})
	return all
}

// begins notes that a reviewer may have begun to work on this head, or said something about it: then nothing is carried.
func (st *modelState) begins(place int, here bool) {
	st.carried[place], st.kept[place] = st.carried[place] && !here, st.kept[place] && !here
}

// plainMoves are what people do where nothing more matters.
func plainMoves(add addMove) {
	add("alice pushes", func(st *modelState) bool { return st.push(author, st.otherChange(codeFile)) })
	retargetMoves(add, mainBase, otherBase, partBase)
	add("alice closes and reopens", func(st *modelState) bool {
		st.s.Timeline = append(st.s.Timeline,
			quorum.Event{Kind: quorum.Closed, At: st.now, Actor: author}, quorum.Event{Kind: quorum.Reopened, At: st.now.Add(time.Second), Actor: author})
		st.now = st.now.Add(time.Second)
		st.asks()
		return true
	})
	add("bob approves", func(st *modelState) bool { return st.review(helper, "APPROVED") })
}

// isAmbiguous reports whether a text that names no commit may come from another run than this one.
func (st *modelState) isAmbiguous(run *quorum.Run) bool {
	return slices.ContainsFunc(slices.Concat(st.s.Runs, st.s.Others), func(o quorum.Run) bool {
		return o.Path == run.Path && o.ID != run.ID && !o.Completed()
	})
}

type addMove func(name string, do func(st *modelState) bool)

func runMoves(add addMove, place int, r *quorum.Reviewer) {
	byConclusion := r.Verdict.Kind == quorum.Conclusion
	add("starts", func(st *modelState) bool {
		run := st.run(r)
		if run != nil && (run.Number > 3 || !run.Completed()) {
			return false
		}
		before := st.said[place]
		st.startRun(r, "in_progress")
		st.said[place] = reviewerTruth{since: st.now}
		if before.counts {
			st.superseded[place], st.older[place] = before, st.superseded[place]
		}
		return true
	})
	add("starts and waits", func(st *modelState) bool {
		run := st.run(r)
		if run == nil || !run.Completed() || run.Number > 3 {
			return false
		}
		st.startRun(r, "waiting")
		return true
	})
	add("is run again", func(st *modelState) bool {
		run := st.run(r)
		if run == nil || !run.Completed() || run.Attempt > 2 {
			return false
		}
		run.Attempt++
		st.beginAttempt(run, "in_progress")
		st.said[place] = reviewerTruth{since: st.now}
		return true
	})
	for _, conclusion := range []string{"success", "failure", "cancelled"} {
		add("ends as "+conclusion, func(st *modelState) bool {
			run := st.run(r)
			if run == nil || run.Status != "in_progress" {
				return false
			}
			st.endRun(run, conclusion)
			said := &st.said[place]
			switch {
			case byConclusion && conclusion == "success":
				*said = reviewerTruth{yes: true, counts: true}
			case byConclusion && conclusion == "failure":
				*said = reviewerTruth{no: true, counts: true}
				st.object(place, quorum.TextRef{Kind: quorum.TextRun, ID: run.ID}, run)
			}
			said.counts, said.spoke = true, said.spoke && conclusion == "success" // what is cancelled was not done with its words
			if conclusion != "failure" && st.endWithoutVerdict(place) {
				return true
			}
			if said.yes && !said.no {
				st.answer(place, func(o *objectionTruth) bool { return o.run != run.ID || o.attempt != run.Attempt })
			}
			return true
		})
	}
	add("is deleted", func(st *modelState) bool {
		run := st.run(r)
		if run == nil || !run.Completed() {
			return false
		}
		id := run.ID
		st.s.Runs = slices.DeleteFunc(st.s.Runs, func(run quorum.Run) bool { return run.ID == id })
		if byConclusion {
			st.objections = slices.DeleteFunc(st.objections, func(o objectionTruth) bool { return o.run == id && !o.seen })
		}
		st.said[place], st.superseded[place] = st.superseded[place], reviewerTruth{} // of an earlier run, if there is one
		if before := st.run(r); before != nil && before.Completed() && slices.ContainsFunc(st.s.Comments, func(t quorum.Text) bool {
			return t.Body == fmt.Sprintf(yesText, r.Name) && !t.At.Before(before.Started) && !t.At.After(before.Updated.Add(time.Minute))
		}) {
			st.said[place] = reviewerTruth{yes: true, counts: true, since: before.Started} // what the deleted run said in the minute after that one
		}
		return true
	})
}

// endWithoutVerdict reports whether a reviewer's run did not fail and left nothing: it replaces none of an earlier run.
func (st *modelState) endWithoutVerdict(place int) bool {
	said := &st.said[place]
	if said.counts = true; said.yes || said.no || said.spoke {
		return false
	}
	*said = st.superseded[place]
	said.earlier = true
	return true
}

// comment lets an account comment as a reviewer.
func (st *modelState) comment(by quorum.Account, format, heading string) quorum.TextRef {
	ref := quorum.TextRef{Kind: quorum.TextComment, ID: st.newID()}
	st.s.Comments = append(st.s.Comments, quorum.Text{TextRef: ref, Author: by, Body: fmt.Sprintf(format, heading), At: st.now})
	return ref
}

// lastComment is the newest comment of a reviewer; nil if there is none.
func (st *modelState) lastComment(r *quorum.Reviewer) *quorum.Text {
	for i := len(st.s.Comments) - 1; i >= 0; i-- {
		t := &st.s.Comments[i]
		if t.Author.Is(r.Author) && (r.Heading == "" || len(t.Body) > len(r.Heading) && t.Body[:len(r.Heading)] == r.Heading) {
			return t
		}
	}
	return nil
}

func textMoves(add addMove, place int, r *quorum.Reviewer) {
	say := func(name, format string, then func(st *modelState, ref quorum.TextRef, run *quorum.Run)) {
		add("says "+name, func(st *modelState) bool {
			run := st.run(r)
			if run == nil || run.Status != "in_progress" {
				return false
			}
			ref := st.comment(robot, format, r.Name)
			if !st.isAmbiguous(run) {
				then(st, ref, run)
			}
			return true
		})
	}
	say("yes", yesText, func(st *modelState, _ quorum.TextRef, _ *quorum.Run) { st.said[place].yes = true })
	say("no", noText, func(st *modelState, ref quorum.TextRef, run *quorum.Run) {
		st.said[place].no = true
		st.object(place, ref, run)
	})
	say("neither", openText, func(st *modelState, _ quorum.TextRef, _ *quorum.Run) { st.said[place].spoke = true })
	say("that it is overloaded", outageText, func(st *modelState, _ quorum.TextRef, _ *quorum.Run) { st.said[place].spoke = true })
	add("text is edited into a yes by a workflow", func(st *modelState) bool {
		t := st.lastComment(r)
		if t == nil || t.Body == fmt.Sprintf(yesText, r.Name) {
			return false
		}
		t.Body, t.Edited, t.Editor = fmt.Sprintf(yesText, r.Name), st.now, robot
		st.dropUnseen(t.TextRef)
		if st.hasObjected(t.TextRef) {
			return true // any workflow may have made that edit: it answers nothing
		}
		run := st.run(r)
		isLate := run != nil && run.Completed() && st.now.Sub(run.Updated) > time.Minute
		if run == nil || st.isAmbiguous(run) || isLate || run.Status == "waiting" {
			return true
		}
		said := &st.said[place] // a text of its newest attempt, or of the minute after it
		if said.earlier {
			*said = reviewerTruth{counts: true}
		}
		said.yes = true
		if said.counts && !said.no {
			st.answer(place, func(o *objectionTruth) bool { return o.run != run.ID || o.attempt != run.Attempt })
		}
		return true
	})
	add("text is deleted", func(st *modelState) bool {
		t := st.lastComment(r)
		if t == nil {
			return false
		}
		ref := t.TextRef
		st.s.Comments = slices.DeleteFunc(st.s.Comments, func(t quorum.Text) bool { return t.TextRef == ref })
		st.dropUnseen(ref)
		for _, said := range []*reviewerTruth{&st.said[place], &st.superseded[place]} {
			isOfAttempt := func(t *quorum.Text) bool {
				return !said.since.IsZero() && !timeOf(t).Before(said.since) && strings.HasPrefix(t.Body, r.Heading)
			}
			left := slices.DeleteFunc(slices.Clone(st.s.Comments), func(t quorum.Text) bool { return !isOfAttempt(&t) })
			said.spoke = said.spoke && len(left) > 0
			said.yes = said.yes && slices.ContainsFunc(left, func(t quorum.Text) bool { // another text of the attempt
				return t.Body == fmt.Sprintf(yesText, r.Name) && !st.hasObjected(t.TextRef)
			})
		}
		run := st.newestRun(r, func(run *quorum.Run) bool { return run.Status != "waiting" }) // which has said nothing
		if run != nil && run.Completed() && run.Conclusion != "failure" {
			st.endWithoutVerdict(place)
		}
		return true
	})
}

// hasObjected reports whether a text has objected to what this head changes.
func (st *modelState) hasObjected(ref quorum.TextRef) bool {
	return slices.ContainsFunc(st.objections, func(o objectionTruth) bool {
		return o.ref == ref && (o.lines == st.s.PR.Diff.Lines || o.head == st.s.PR.Head)
	})
}

// dropUnseen drops an objection that no look saw: nobody can know of it any more.
func (st *modelState) dropUnseen(ref quorum.TextRef) {
	st.objections = slices.DeleteFunc(st.objections, func(o objectionTruth) bool { return o.ref == ref && !o.seen })
}

func appMoves(add addMove, place int, r *quorum.Reviewer) {
	app := quorum.Account{Login: r.Author, ID: int64(50 + place), Bot: true}
	review := func(st *modelState, state string) quorum.TextRef {
		ref := quorum.TextRef{Kind: quorum.TextReview, ID: st.newID()}
		st.s.Reviews = append(st.s.Reviews, quorum.Text{TextRef: ref, Author: app, Body: "", At: st.now, Commit: st.s.PR.Head, State: state})
		return ref
	}
	add("approves", func(st *modelState) bool {
		if st.isDoubted(place, review(st, "APPROVED")) {
			return true
		}
		st.answer(place, func(o *objectionTruth) bool { return o.ref.Kind == quorum.TextReview || st.isBeforeThis(o) })
		return true
	})
	add("requests changes", func(st *modelState) bool {
		ref := review(st, "CHANGES_REQUESTED")
		st.isDoubted(place, ref)
		st.object(place, ref, nil)
		return true
	})
	add("opens a thread", func(st *modelState) bool {
		ref := review(st, "COMMENTED")
		st.s.Threads = append(st.s.Threads, quorum.Thread{
			ID: st.newID(), Review: ref.ID, Author: app, Body: "The total is not rounded.", Path: "cart.go", Line: 42, Commit: st.s.PR.Head, At: st.now,
		})
		st.isDoubted(place, ref)
		st.object(place, ref, nil)
		return true
	})
	for _, by := range []quorum.Account{author, tidier, robot, helper} {
		entitled := by.Login == helper.Login
		add("threads are resolved by "+by.Login, func(st *modelState) bool {
			found := false
			for i := range st.s.Threads {
				if t := &st.s.Threads[i]; !t.Resolved && t.Author.Login == app.Login {
					t.Resolved, t.ResolvedBy, found = true, by, true
					if entitled {
						st.end(place, func(o *objectionTruth) bool { return o.ref.ID == t.Review })
					}
				}
			}
			return found
		})
		add("review is dismissed by "+by.Login, func(st *modelState) bool {
			for i := len(st.s.Reviews) - 1; i >= 0; i-- {
				t := &st.s.Reviews[i]
				if t.Author.Login != app.Login || t.State != "CHANGES_REQUESTED" {
					continue
				}
				st.s.Timeline = append(st.s.Timeline, quorum.Event{
					Kind: quorum.ReviewDismissed, At: st.now, Actor: by, Review: t.ID, From: t.State,
				})
				t.State = "DISMISSED"
				if entitled {
					st.end(place, func(o *objectionTruth) bool { return o.ref == t.TextRef })
				}
				return true
			}
			return false
		})
	}
	add("threads are opened again by "+helper.Login, func(st *modelState) bool {
		found := false
		for i := range st.objections { // what the App has answered by an approval since stays answered
			o := &st.objections[i]
			at := slices.IndexFunc(st.s.Threads, func(t quorum.Thread) bool { return t.Review == o.ref.ID && t.Resolved })
			if o.reviewer == place && at >= 0 && o.ended && !o.answered && !o.onEvil {
				t := &st.s.Threads[at]
				t.Resolved, t.ResolvedBy, o.ended, found = false, quorum.Account{}, false, true
			}
		}
		return found
	})
	add("comments no", func(st *modelState) bool {
		ref := st.comment(app, noText, r.Name)
		st.isDoubted(place, ref)
		st.object(place, ref, nil)
		return true
	})
	for _, format := range []string{yesText, workingText} {
		add("edits its comment into "+map[bool]string{true: "a yes", false: "a word that it works"}[format == yesText], func(st *modelState) bool {
			t := st.lastComment(r)
			if t == nil {
				return false
			}
			t.Body, t.Edited, t.Editor = fmt.Sprintf(format, r.Name), st.now, app
			st.dropUnseen(t.TextRef)
			if format == yesText && !st.isDoubted(place, t.TextRef) {
				st.answer(place, func(o *objectionTruth) bool { return o.ref == t.TextRef || st.isBeforeThis(o) || st.isTakenBack(o) })
			}
			return true
		})
	}
}

// isTakenBack reports whether an App's comment that objected reads otherwise since by its own edit: its next yes answers
// that, too, and the record has room for the first and the newest objection alone.
func (st *modelState) isTakenBack(o *objectionTruth) bool {
	return slices.ContainsFunc(st.s.Comments, func(t quorum.Text) bool { return t.TextRef == o.ref && !t.Edited.IsZero() })
}

// appApproves reports whether an App's own review, comment or resolved thread approves this head and base, as GitHub
// shows them now.
func (st *modelState) appApproves(r *quorum.Reviewer) bool {
	var since time.Time
	for _, e := range st.s.Timeline {
		if e.Kind == quorum.BaseChanged && !slices.Contains(st.moves, e.At) {
			since = e.At
		}
	}
	said := slices.ContainsFunc(st.s.Comments, func(t quorum.Text) bool {
		return t.Author.Is(r.Author) && t.Body == fmt.Sprintf(yesText, r.Name) && t.Edited.After(since) && !st.inDoubt(&t)
	})
	return said || slices.ContainsFunc(st.s.Reviews, func(t quorum.Text) bool {
		if !t.Author.Is(r.Author) || t.Commit != st.s.PR.Head || !t.At.After(since) || st.inDoubt(&t) {
			return false
		}
		return t.State == "APPROVED" || t.State == "COMMENTED" && !slices.ContainsFunc(st.s.Threads, func(th quorum.Thread) bool {
			return th.Review == t.ID && (!th.Resolved || th.ResolvedBy.Login != helper.Login)
		})
	})
}

func checkMoves(add addMove, place int, r *quorum.Reviewer) {
	set := func(st *modelState, status, conclusion string) *quorum.CheckRun {
		i := slices.IndexFunc(st.s.Checks, func(c quorum.CheckRun) bool { return c.Name == r.Check })
		if i < 0 || status == "in_progress" {
			st.s.Checks = append(st.s.Checks, quorum.CheckRun{ID: st.newID(), Name: r.Check, App: r.App, AppID: 9, Suite: 1, Started: st.now})
			i = len(st.s.Checks) - 1
		} else {
			i = len(st.s.Checks) - 1
		}
		c := &st.s.Checks[i]
		c.Status, c.Conclusion, c.Completed = status, conclusion, time.Time{}
		if status == "completed" {
			c.Completed = st.now
		}
		return c
	}
	add("check begins", func(st *modelState) bool {
		set(st, "in_progress", "")
		st.said[place] = reviewerTruth{}
		return true
	})
	add("check fails", func(st *modelState) bool {
		c := set(st, "completed", "failure")
		st.object(place, quorum.TextRef{Kind: quorum.TextCheck, ID: c.ID}, nil)
		st.said[place] = reviewerTruth{no: true, counts: true}
		return true
	})
	add("check succeeds", func(st *modelState) bool {
		c := set(st, "completed", "success")
		st.said[place] = reviewerTruth{yes: true, counts: true}
		st.answer(place, func(o *objectionTruth) bool { return o.at.Before(c.Started) || o.ref.ID == c.ID })
		return true
	})
	for _, conclusion := range []string{"failure", "success"} {
		add("older check ends as "+conclusion, func(st *modelState) bool {
			i := len(st.s.Checks) - 2
			if i < 0 || st.s.Checks[i].Status != "in_progress" {
				return false
			}
			c := &st.s.Checks[i]
			c.Status, c.Conclusion, c.Completed = "completed", conclusion, st.now
			if conclusion == "failure" {
				st.object(place, quorum.TextRef{Kind: quorum.TextCheck, ID: c.ID}, nil)
				return true
			}
			st.answer(place, func(o *objectionTruth) bool { return o.at.Before(c.Started) })
			return true
		})
	}
}

// hasCheckUnderWay reports whether a check of a reviewer has not ended, before its deadline.
func (st *modelState) hasCheckUnderWay(place int) bool {
	name := st.reviewers[place].Check
	return st.now.Before(opened.Add(modelTimeout)) && slices.ContainsFunc(st.s.Checks, func(c quorum.CheckRun) bool {
		isOfOldBase := slices.ContainsFunc(st.s.Timeline, func(e quorum.Event) bool {
			return e.Kind == quorum.BaseChanged && !c.Started.After(e.At)
		})
		return c.Name == name && c.Status != "completed" && !isOfOldBase
	})
}

// setStatus sets a reviewer's status of the head.
func (st *modelState) setStatus(place int, state string) quorum.TextRef {
	id, r := st.newID(), &st.reviewers[place]
	st.s.Statuses = slices.Insert(slices.Clone(st.s.Statuses), 0, quorum.Status{
		ID: id, Context: r.Status, State: state, Creator: quorum.Account{Login: r.Author, ID: int64(50 + place), Bot: true}, At: st.now,
	})
	return quorum.TextRef{Kind: quorum.TextStatus, ID: id}
}

// objectByStatus lets a reviewer's status fail.
func (st *modelState) objectByStatus(place int) {
	st.object(place, st.setStatus(place, "failure"), nil)
	st.said[place] = reviewerTruth{no: true, counts: true}
	st.begins(place, true)
}

func statusMoves(add addMove, place int, _ *quorum.Reviewer) {
	add("status is pending", func(st *modelState) bool {
		st.setStatus(place, "pending")
		st.said[place] = reviewerTruth{}
		return true
	})
	add("status fails", func(st *modelState) bool {
		st.objectByStatus(place)
		return true
	})
	add("status succeeds", func(st *modelState) bool {
		st.setStatus(place, "success")
		st.said[place] = reviewerTruth{yes: true, counts: true}
		st.answer(place, func(*objectionTruth) bool { return true })
		return true
	})
}
