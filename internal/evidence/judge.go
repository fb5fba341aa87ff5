package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// How long an answer may take to show after the attempt that posted it has ended.
const afterEnd = time.Minute

const settling = quorum.ReplicaLag

// How far our clock, by which an intent is dated, may be ahead of GitHub's: a smaller skew is not corrected, and GitHub's
// times are whole seconds.
const slack = 3 * time.Second

// How often an effect that leaves no trace is tried.
const tries = 3

// Judge makes one ballot for each of p's reviewers, in their order, of what GitHub holds. It knows no clock: a pending
// ballot says what time will do to it.
func Judge(p quorum.Policy, s quorum.Snapshot) []quorum.Ballot {
	j := newJudge(p, s)
	ballots := make([]quorum.Ballot, len(p.Reviewers))
	for i, r := range p.Reviewers {
		ballots[i] = j.ballot(r)
	}
	for i, b := range ballots {
		ballots[i].Next = unshared(b, ballots)
	}
	return ballots
}

// unshared are b's actions where others may share its run: it is not cancelled before all who are undecided would.
func unshared(b quorum.Ballot, ballots []quorum.Ballot) []quorum.Action {
	next := slices.Clone(b.Next)
	for _, o := range ballots {
		if b.Run == 0 || o.Reviewer == b.Reviewer || o.Run != b.Run || o.Vote != quorum.Pending || o.Then != nil {
			continue
		}
		at := slices.IndexFunc(o.Next, func(a quorum.Action) bool { return a.Kind == quorum.Cancel })
		for i, a := range next {
			if a.Kind == quorum.Cancel && at >= 0 {
				next[i].Due = latest(a.Due, o.Next[at].Due)
			}
		}
		if at < 0 {
			next = slices.DeleteFunc(next, func(a quorum.Action) bool { return a.Kind == quorum.Cancel })
		}
	}
	return next
}

type judge struct {
	p    quorum.Policy
	s    quorum.Snapshot
	c    cycle
	page map[quorum.TextRef]review.Page // each text is sorted into lines once, whoever is asked about, as long as that is not too much
	kept *int                           // lines of them all
	seen map[material]*gist             // and read once for each, however many runs it may belong to
	sort map[string]ofWorkflow          // and the runs are sorted once; by reviewer
}

func newJudge(p quorum.Policy, s quorum.Snapshot) judge {
	return judge{p: p, s: s, c: cycleOf(s), page: map[quorum.TextRef]review.Page{}, kept: new(int), seen: map[material]*gist{}, sort: map[string]ofWorkflow{}}
}

// material is a text as a reviewer's.
type material struct {
	reviewer string
	ref      quorum.TextRef
}

// gist is what was read of it, as far as anybody asked.
type gist struct {
	headed, named *bool
	commit        string
	readings      map[string]review.Reading // by the review's state and its number of threads
}

func (j judge) gist(r quorum.Reviewer, t quorum.Text) *gist {
	m := material{r.Name, t.TextRef}
	if j.seen[m] == nil {
		j.seen[m] = &gist{readings: map[string]review.Reading{}}
	}
	return j.seen[m]
}

// mostLines bounds what is kept of texts: strangers write as many as they like, of empty lines if they like.
const mostLines = 16 << 10

// pageOf is t as it is seen.
func (j judge) pageOf(t quorum.Text) review.Page {
	p, found := j.page[t.TextRef]
	if !found {
		p = review.ReadPage(t.Body)
		if *j.kept += p.Size(); *j.kept <= mostLines {
			j.page[t.TextRef] = p
		}
	}
	return p
}

// headed reports whether t opens with r's heading.
func (j judge) headed(r quorum.Reviewer, t quorum.Text) bool {
	k := j.gist(r, t)
	if k.headed == nil {
		yes := j.pageOf(t).HasHeading(r.Heading)
		k.headed = &yes
	}
	return *k.headed
}

// naming is the commit that t names.
func (j judge) naming(r quorum.Reviewer, t quorum.Text) string {
	k := j.gist(r, t)
	if k.named == nil {
		k.commit, k.named = j.pageOf(t).NamedCommit(r), new(bool)
	}
	return k.commit
}

// reading is what t says.
func (j judge) reading(r quorum.Reviewer, t quorum.Text, state string, threads int) review.Reading {
	k := j.gist(r, t)
	as := fmt.Sprint(state, " ", threads)
	got, found := k.readings[as]
	if !found {
		m := review.Material{Kind: kindOf(t), Body: t.Body, State: state, Threads: threads}
		got = review.ReadWithPage(r, m, func() review.Page { return j.pageOf(t) })
		k.readings[as] = got
	}
	return got
}

// attempt is one attempt of a reviewer: of its run, or, without a run, the time since it was last asked.
type attempt struct {
	run      *quorum.Run // nil without one
	number   int
	from     time.Time // when it began
	working  time.Time // when its first job started; from without one
	ended    time.Time // zero while it is under way, and always without a run
	spent    int       // attempts used up beyond the first
	request  *quorum.Intent
	byPerson bool // a person caused it: deadlines begin anew
}

func (j judge) ballot(r quorum.Reviewer) quorum.Ballot {
	b := quorum.Ballot{Reviewer: r.Name, Required: r.Required, Shadow: r.Shadow, Retired: r.Retired, Since: j.c.start}
	declined := func(why quorum.Reason, detail string) quorum.Ballot {
		b.Vote, b.Outcome, b.Reason, b.Detail = quorum.Unavailable, quorum.Declined, why, detail
		return b
	}
	switch {
	case r.Retired:
		return declined(quorum.ReasonRetired, "")
	case r.Author != Actions && j.s.PR.Author.Is(r.Author):
		return declined(quorum.ReasonSelf, r.Author)
	}
	a := j.attempt(r)
	event := ""
	if a.run != nil {
		event = a.run.Event
		b.Run, b.Attempt, b.URL = a.run.ID, a.number, a.run.URL
	} else if len(r.Events) == 1 {
		event = r.Events[0]
	}
	if path, yes := guarded(j.p, r, j.s, event); yes {
		return declined(quorum.ReasonGuarded, path)
	}
	return j.settle(r, a, j.read(r, a), b)
}

// attempt finds the newest attempt of r on this head.
func (j judge) attempt(r quorum.Reviewer) attempt {
	if r.Workflow == "" {
		return j.asked(r)
	}
	runs := j.runs(r)
	var a attempt
	for _, run := range j.s.Runs { // those of another base too: coming back to a base refills nothing
		if run.Path != r.Workflow || run.Head != j.s.PR.Head || j.elsewhere(run) {
			continue
		}
		a.spent += run.Attempt - 1
		for _, seen := range j.s.Record.Runs {
			if seen.ID == run.ID {
				a.spent += seen.Again
			}
		}
	}
	run := j.speaks(r, runs)
	if run == nil {
		a.number, a.from, a.working = 1, j.c.start, j.c.start
		return a
	}
	a.run, a.number, a.from = run, run.Attempt, run.Started
	a.working = a.from
	if at := firstJob(*run); !at.IsZero() {
		a.working = latest(a.from, at)
	}
	if run.Completed() {
		a.ended = j.end(*run)
	}
	a.byPerson = run.Attempt > 1 && !j.intended(quorum.Rerun, r.Name, run.ID, run.Attempt-1)
	return a
}

// end is when a run's newest attempt was first seen to have ended: updated_at may move after the end.
func (j judge) end(run quorum.Run) time.Time {
	for _, seen := range j.s.Record.Runs {
		if seen.ID == run.ID && seen.Attempt == run.Attempt && seen.Started.Equal(run.Started) && !seen.Ended.IsZero() {
			return earliest(seen.Ended, run.Updated)
		}
	}
	return run.Updated
}

// asked is the newest attempt of a reviewer without a run: the first begins at the start, the next when it was asked again.
// What a person asks begins the clock anew and costs nothing of ours.
func (j judge) asked(r quorum.Reviewer) attempt {
	a := attempt{number: 1, from: j.c.start}
	for i, in := range j.s.Record.Intents {
		if in.Kind == quorum.Ask && in.Reviewer == r.Name && in.Base == j.s.PR.BaseRef {
			a.number = max(a.number, in.Attempt) // a request for the first attempt bought that one
			a.request, a.from = &j.s.Record.Intents[i], latest(a.from, in.At)
		}
	}
	if at := j.askedByPerson(r); at.After(a.from) {
		a.from, a.byPerson = at, true
	}
	a.spent, a.working = a.number-1, a.from
	return a
}

// askedByPerson is when a person asked r first; zero if nobody did. More requests begin no clock anew: anybody may write
// them, and a wait must end.
func (j judge) askedByPerson(r quorum.Reviewer) (at time.Time) {
	for _, was := range j.s.Record.Asked {
		if was.Reviewer == r.Name && was.Base == j.s.PR.BaseRef && was.At.After(j.c.start) {
			return was.At
		}
	}
	first := func(t time.Time) {
		if t.After(j.c.start) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	for _, t := range j.s.Comments {
		if r.Request.Comment != "" && asks(t, r) && !t.Author.Bot && !same(t.Author, j.s.Ours) {
			first(t.At)
		}
	}
	for _, e := range j.s.Timeline {
		if r.Request.Login != "" && e.Kind == quorum.ReviewRequested && targets(e, r) && !e.Actor.Bot && !same(e.Actor, j.s.Ours) {
			first(e.At)
		}
	}
	return at
}

// asks reports whether a comment holds the words by which r is asked, and nothing else.
func asks(t quorum.Text, r quorum.Reviewer) bool {
	return strings.TrimSpace(t.Body) == strings.TrimSpace(r.Request.Comment)
}

// targets reports whether a request for a review is one for r. GitHub shows Copilot by another name there.
func targets(e quorum.Event, r quorum.Reviewer) bool {
	return e.Target.Is(r.Request.Login) || e.Target.Login == "Copilot" && strings.HasPrefix(r.Request.Login, "copilot-")
}

// asksFirst reports whether r is asked even for its first attempt. A new base voids what was said, and nobody announces it.
func (j judge) asksFirst(r quorum.Reviewer) bool {
	return j.mayAsk(r) && (r.Request.AtStart || !j.c.base.IsZero())
}

// mayAsk reports whether r can be asked: without a record a comment might be repeated for ever.
func (j judge) mayAsk(r quorum.Reviewer) bool {
	return !r.Shadow && r.Request.Set() && !j.s.NoRecord
}

// runs are r's runs on this head that count: of its workflow, of one of its events, of this branch, and of this base. A rerun replays the
// base that the run was created for.
func (j judge) runs(r quorum.Reviewer) []quorum.Run { return j.sorted(r).count }

// ofWorkflow are the runs of a reviewer's workflow.
type ofWorkflow struct {
	count  []quorum.Run // those that count, the newest last
	others []quorum.Run // those of another head, base or event: while one is under way an unnamed text may be its
}

func (j judge) sorted(r quorum.Reviewer) ofWorkflow {
	if known, found := j.sort[r.Name]; found {
		return known
	}
	var of ofWorkflow
	for _, run := range slices.Concat(j.s.Runs, j.s.Others) {
		old := j.c.past(run.Created) || strings.HasPrefix(run.Event, "pull_request") && run.Created.Before(j.s.PR.Created)
		switch {
		case run.Path != r.Workflow || j.elsewhere(run):
		case !old && slices.Contains(r.Events, run.Event) && run.Head == j.s.PR.Head:
			of.count = append(of.count, run)
		case !run.Completed() || run.Conclusion != "skipped" && run.Conclusion != "action_required":
			of.others = append(of.others, run)
		}
	}
	slices.SortFunc(of.count, func(a, b quorum.Run) int { // by number, not by the digits of an id
		if a.Number != b.Number {
			return a.Number - b.Number
		}
		return a.Created.Compare(b.Created)
	})
	j.sort[r.Name] = of
	return of
}

// speaks is the newest run that really ran; if none did, the newest. One that would approve by itself, but may be another
// pull request's, leaves the word to those before it.
func (j judge) speaks(r quorum.Reviewer, runs []quorum.Run) *quorum.Run {
	var doubtful *quorum.Run
	for i := range slices.Backward(runs) {
		if !j.ran(r, runs[i]) {
			continue
		}
		if _, doubt := j.runOfAnother(runs[i]); !doubt || !byRun(r) || runs[i].Conclusion != "success" {
			return &runs[i]
		}
		if doubtful == nil {
			doubtful = &runs[i]
		}
	}
	if doubtful != nil || len(runs) == 0 {
		return doubtful
	}
	return &runs[len(runs)-1]
}

func (j judge) ran(r quorum.Reviewer, run quorum.Run) bool {
	switch {
	case !run.Completed():
		return true
	case run.Conclusion == "skipped" || len(run.Jobs) == 0:
		return false
	case run.Conclusion == "cancelled":
		if j.intended(quorum.Cancel, r.Name, run.ID, run.Attempt) {
			return true
		}
		a := attempt{run: &run, number: run.Attempt, from: run.Started, ended: run.Updated}
		return slices.ContainsFunc(j.texts(r, a), func(w word) bool { return w.verdict() })
	}
	return true
}

// firstJob is when a runner took up the newest attempt; zero while none has. Jobs that were not run again keep their
// earlier times.
func firstJob(run quorum.Run) (at time.Time) {
	for _, job := range run.Jobs {
		if !job.Started.IsZero() && !job.Started.Before(run.Started) && (at.IsZero() || job.Started.Before(at)) {
			at = job.Started
		}
	}
	return at
}

// intended reports whether the record holds that intent.
func (j judge) intended(kind quorum.ActionKind, reviewer string, run int64, attempt int) bool {
	_, found := j.intent(kind, reviewer, run, attempt)
	return found
}

func (j judge) intent(kind quorum.ActionKind, reviewer string, run int64, attempt int) (quorum.Intent, bool) {
	for _, in := range slices.Backward(j.s.Record.Intents) {
		if in.Kind == kind && in.Run == run && in.Attempt == attempt && (in.Reviewer == reviewer || kind != quorum.Ask) {
			return in, true
		}
	}
	return quorum.Intent{}, false
}

// word is a text of a reviewer that is bound to this head and attempt, with what it says.
type word struct {
	review.Reading
	ref         quorum.TextRef
	at          time.Time // since when it says so
	review      bool
	reviewState string // of a review, in GitHub's words
	url         string
	body        string
	threads     []quorum.Thread // that it opened
	void        bool            // it counts for nothing
	why         quorum.Reason   // void: ReasonEdited, ReasonDismissed, ReasonUnnamed, ReasonOtherPull
	by          string          // void: who edited or dismissed it, or which pull request it may be about
}

func (w word) verdict() bool {
	return !w.void && (w.Outcome == quorum.Approved || w.Outcome == quorum.Findings)
}

// texts are r's texts that are bound to a, oldest first.
func (j judge) texts(r quorum.Reviewer, a attempt) (words []word) {
	if r.Author == "" {
		return nil
	}
	for _, t := range slices.Concat(j.s.Comments, j.s.Reviews) {
		if !t.Author.Is(r.Author) || j.own(t) || r.Heading != "" && !j.headed(r, t) {
			continue
		}
		if t.Kind == quorum.TextReview && (t.Commit != j.s.PR.Head || t.State == "PENDING") {
			continue
		}
		w := word{ref: t.TextRef, at: t.At, url: t.URL, body: t.Body, review: t.Kind == quorum.TextReview, reviewState: t.State}
		if !t.Edited.IsZero() {
			w.at = t.Edited
			if !t.Editor.Is(r.Author) {
				w.void, w.why, w.by = true, quorum.ReasonEdited, t.Editor.Login
			}
		}
		bound := j.bound(r, a, t, w.at) || w.void && j.bound(r, a, t, t.At) // void as it is, it says what became of an approval
		if stood, found := j.stood(r.Name, t.TextRef); found && !w.void && stood.Before(w.at) && !stood.Before(a.from) && (bound || j.bound(r, a, t, stood)) {
			w.at, bound = stood, true // its author edited it since
		}
		if !bound {
			continue
		}
		if t.Kind == quorum.TextReview {
			w.threads = j.opened(r, t.ID)
			if t.State == "COMMENTED" && strings.TrimSpace(t.Body) == "" && len(w.threads) == 0 {
				continue // it holds nothing but answers in threads
			}
		}
		by := ""
		if t.State == "DISMISSED" {
			by, w.reviewState = j.dismissed(t.ID)
		}
		w.Reading = j.reading(r, t, w.reviewState, len(w.threads))
		if stands := w.Outcome == quorum.Findings && (by == "" || strings.EqualFold(by, j.s.PR.Author.Login)); t.State == "DISMISSED" && !stands {
			w.void, w.why, w.by = true, quorum.ReasonDismissed, by
		}
		if w.Outcome == quorum.Unrelated {
			continue
		}
		if w.Outcome == quorum.Approved && r.Workflow == "" && j.c.another && !w.review && !j.names(r, t) { // it may be about the other head
			w.void, w.why = true, quorum.ReasonUnnamed
		}
		if named := j.naming(r, t); w.Outcome == quorum.Approved && named != "" && j.vague(named) {
			w.void, w.why = true, quorum.ReasonUnnamed
		}
		words = append(words, w)
	}
	slices.SortStableFunc(words, func(a, b word) int { return a.at.Compare(b.at) })
	return words
}

func kindOf(t quorum.Text) review.Kind {
	if t.Kind == quorum.TextReview {
		return review.Review
	}
	return review.Comment
}

// own reports whether we wrote t: our own comments are never evidence. A job writes as github-actions[bot], as reviewers'
// workflows do, so there only what we would ask for tells them apart.
func (j judge) own(t quorum.Text) bool {
	if t.Kind != quorum.TextComment || !same(t.Author, j.s.Ours) {
		return false
	}
	if !t.Author.Is(Actions) {
		return true
	}
	return slices.ContainsFunc(j.p.Reviewers, func(r quorum.Reviewer) bool { return r.Request.Comment != "" && asks(t, r) })
}

// stood is when the record saw that text approve first.
func (j judge) stood(reviewer string, ref quorum.TextRef) (time.Time, bool) {
	for _, st := range j.s.Record.Stood {
		if st.Reviewer == reviewer && st.TextRef == ref {
			return st.At, true
		}
	}
	return time.Time{}, false
}

// dismissed is who dismissed a review, and the state that it had. The author of the pull request does not end an
// objection that way, nor does nobody knows who.
func (j judge) dismissed(review int64) (by, was string) {
	for _, e := range slices.Backward(j.s.Timeline) {
		if e.Kind == quorum.ReviewDismissed && e.Review == review && e.From != "" && e.From != "DISMISSED" {
			return e.Actor.Login, e.From
		}
		if e.Kind == quorum.ReviewDismissed && e.Review == review {
			by = e.Actor.Login
		}
	}
	return by, "DISMISSED"
}

// bound reports whether a text is about this head and of attempt a (it names the head, or was written during a's time).
func (j judge) bound(r quorum.Reviewer, a attempt, t quorum.Text, at time.Time) bool {
	return j.unbound(r, a, t, at) == ""
}

// unbound says why a text is not about this head or not of attempt a; "" if it is.
func (j judge) unbound(r quorum.Reviewer, a attempt, t quorum.Text, at time.Time) string {
	if j.c.past(at) {
		return "it is from before the base changed"
	}
	named := j.naming(r, t)
	about := j.names(r, t)
	if named != "" && !about && !j.vague(named) && !j.merge(named) {
		return "it names the commit " + named + ", which is not this head"
	}
	if t.Kind == quorum.TextReview {
		about = true // by its commit_id
	}
	if r.Workflow == "" {
		switch {
		case about:
			return ""
		case r.Author == Actions:
			return "any workflow could have written it, and it does not name this commit"
		case at.Before(j.c.arrival):
			return "it is from before this head arrived and names no commit"
		}
		return ""
	}
	if a.run == nil {
		if about && r.Author != Actions {
			return ""
		}
		return "no run of " + r.Workflow + " is known on this head"
	}
	inside := !at.Before(a.from) && (a.ended.IsZero() || !at.After(a.ended.Add(afterEnd)))
	switch {
	case about && r.Author != Actions && !at.Before(a.from):
		return ""
	case !inside:
		return "it was not written during the newest attempt of this head's run"
	case !about && !j.known(r, t) && j.ambiguous(r, *a.run, at):
		return "it names no commit, and another run of this workflow for this pull request was under way"
	}
	return ""
}

// names reports whether a text names this head.
func (j judge) names(r quorum.Reviewer, t quorum.Text) bool {
	named := j.naming(r, t)
	return named != "" && strings.HasPrefix(j.s.PR.Head, named) && !j.collides(named)
}

// vague reports whether it cannot be told which commit a text names: several, one that is not there, or an id that is
// also another head's. That binds nothing and approves nothing; an objection that is bound otherwise stays one.
func (j judge) vague(named string) bool {
	c, asked := j.s.Resolved[named]
	return strings.Contains(named, " and ") || asked && c.SHA == "" || strings.HasPrefix(j.s.PR.Head, named) && j.collides(named)
}

// collides reports whether a short id is also another head's: ids that begin alike are cheap to make.
func (j judge) collides(named string) bool {
	if len(named) < len(j.s.PR.Head) && j.s.PR.Commits > listed && len(j.s.Commits) < j.s.PR.Commits {
		return true // not all heads before are known
	}
	other := func(sha string) bool { return sha != j.s.PR.Head && strings.HasPrefix(sha, named) }
	return slices.ContainsFunc(j.s.Earlier, other) || slices.ContainsFunc(j.s.Others, func(o quorum.Run) bool { return other(o.Head) }) ||
		slices.ContainsFunc(j.s.Commits, func(c quorum.Commit) bool { return other(c.SHA) }) ||
		slices.ContainsFunc(j.s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.ForcePushed && (other(e.From) || other(e.To)) })
}

// known reports whether an approval is remembered and its text was not edited since: a run of another head that is run
// again later would seem to have been under way all the time.
func (j judge) known(r quorum.Reviewer, t quorum.Text) bool {
	stood, found := j.stood(r.Name, t.TextRef)
	return found && !latest(t.At, t.Edited).After(stood)
}

// merge reports whether a commit is a merge of the head with its base: naming it binds nothing, but does no harm.
func (j judge) merge(named string) bool {
	if j.s.PR.Merge != "" && strings.HasPrefix(j.s.PR.Merge, named) {
		return true
	}
	c, found := j.s.Resolved[named]
	return found && len(c.Parents) > 1 && slices.Contains(c.Parents, j.s.PR.Head)
}

// ambiguous reports whether another run of r's workflow for this pull request, of another head or event, was under way.
func (j judge) ambiguous(r quorum.Reviewer, speaks quorum.Run, at time.Time) bool {
	return slices.ContainsFunc(j.sorted(r).others, func(o quorum.Run) bool {
		if o.ID == speaks.ID {
			return false
		}
		from := o.Started
		if o.Attempt > 1 {
			from = o.Created // when its earlier attempts ended is not known
		}
		return !at.Before(from) && (!o.Completed() || !at.After(o.Updated))
	})
}

// opened are the threads that a review opened; of review 0 all that r opened on this head.
func (j judge) opened(r quorum.Reviewer, review int64) (out []quorum.Thread) {
	for _, t := range j.s.Threads {
		if t.Author.Is(r.Author) && (t.Review == review || review == 0 && t.Commit == j.s.PR.Head) {
			out = append(out, t)
		}
	}
	return out
}

// over reports whether a thread has ended: it is outdated, or somebody who may has resolved it.
func (j judge) over(t quorum.Thread) bool {
	return t.Outdated || t.Resolved && (j.p.Threads == quorum.ByAnyone || t.ResolvedBy.Login != "" && !same(t.ResolvedBy, j.s.PR.Author))
}
