package evidence

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Remember returns the record that belongs to decision d on snapshot s: the record so far, with what is new. The
// intents of d's effects are part of it, so that they stand on GitHub before they are carried out.
func Remember(p quorum.Policy, s quorum.Snapshot, d quorum.Decision, now time.Time) quorum.Record {
	old := s.Record
	if old.Head != s.PR.Head {
		old = quorum.Record{}
	}
	rec := cloneRecord(old)
	rec.Version, rec.Head, rec.Base, rec.Pull, rec.Fork = 1, s.PR.Head, s.PR.BaseRef, s.PR.Number, s.PR.Fork
	if s.File.State == quorum.FileValid {
		rec.Policy = s.File.SHA
	}
	if s.Expired {
		rec.Arrived = s.Arrived.UTC()
	}
	rec.Accounts = rememberAccounts(rec.Accounts, &p, &s)
	views := reviewerViews(&p, &s)
	if len(views) > 0 {
		rec.Commands = rememberCommands(rec.Commands, views[0].head.commands)
	}
	for _, v := range views {
		if at := v.personRequest(); !at.IsZero() {
			if first := (quorum.Asked{Reviewer: v.Name, Base: s.PR.BaseRef, At: at.UTC()}); !slices.Contains(rec.Asked, first) {
				rec.Asked = append(rec.Asked, first)
			}
		}
		rec.Commanded = rememberCommanded(rec.Commanded, v)
		if v.Workflow == "" {
			continue
		}
		for _, run := range v.runs.counted {
			rec.Runs = rememberRun(rec.Runs, run)
		}
	}
	for _, b := range d.Ballots {
		isWhole := !isJudgedInPart(&p, &s) && b.Excused == "" // an approval of which not all was asked may be none
		if b.Vote != quorum.Approve || isWhole {
			rememberBallot(&rec, s, b)
		}
	}
	nameArtifacts(rec.Stood, &p)
	if d.Verdict != quorum.Ended {
		nameObjections(rec.Objections, s.PR.BaseRef, d, now)
	}
	if !s.PR.Closed && s.PR.Diff.Lines != "" { // of a draft, too: what is objected to it stands on the next head with its diff
		rec.Diff, rec.Tree = s.PR.Diff.Lines, s.PR.Diff.Tree
	}
	if !isJudgedInPart(&p, &s) {
		rec.Judged = rememberJudged(rec.Judged, &s, d.Ballots)
		markCounting(rec.Stood, &p, s.PR.BaseRef, d.Ballots)
	}
	for _, a := range slices.Concat(d.Effects.Cancels, d.Effects.Reruns, d.Effects.Requests) {
		rec.Intents = rememberIntent(rec.Intents, a, s.PR.BaseRef, now)
	}
	if d.Verdict != quorum.Ended { // a closed pull request may be reopened
		rec.Undone = rememberUndone(rec.Undone, old.Pass, d, now)
		rec.Pass = d.Pass
	}
	rec.Objections = withForeignOf(old, rec.Objections)
	rec.Seq = old.Seq
	if !reflect.DeepEqual(rec, old) {
		rec.Seq++
	}
	if !s.Began.IsZero() {
		rec.Seen = quorum.Seen{At: s.Began.UTC().Truncate(time.Second), Threads: threadMarks(s.Threads)}
	}
	return rec
}

// withForeignOf returns objections with those of old that stand in another pull request's record, as they stand there:
// what becomes of them is that one's matter.
func withForeignOf(old quorum.Record, all []quorum.Objection) []quorum.Objection {
	all = slices.DeleteFunc(all, func(o quorum.Objection) bool { return o.Of != 0 })
	for _, o := range old.Objections {
		if o.Of != 0 {
			all = append(all, o)
		}
	}
	return all
}

// maxUndone is how many passes that were taken back are remembered: the last ones.
const maxUndone = 5

// rememberUndone adds a pass that stood and that d takes back: whoever has seen it green is told.
func rememberUndone(known []quorum.UndonePass, was *quorum.Pass, d quorum.Decision, now time.Time) []quorum.UndonePass {
	if was == nil || d.Verdict == quorum.Passed {
		return known
	}
	known = append(known, quorum.UndonePass{Passed: was.At, Until: now.UTC().Truncate(time.Second)})
	return known[max(0, len(known)-maxUndone):]
}

// maxCommanded is how many approvals at somebody's command are remembered: the first ones.
const maxCommanded = 20

// rememberCommanded adds the approvals of a reviewer that answer a command: deleting the command makes none of them a review.
func rememberCommanded(known []quorum.Commanded, v *reviewerView) []quorum.Commanded {
	if len(v.Obeys) == 0 {
		return known
	}
	a := v.newestAttempt()
	for _, c := range v.candidates(&a) {
		isKnown := slices.ContainsFunc(known, func(k quorum.Commanded) bool { return k.TextRef == c.ref })
		if c.rejected == answersCommand && !isKnown && len(known) < maxCommanded {
			known = append(known, quorum.Commanded{TextRef: c.ref, By: c.voidDetail})
		}
	}
	return known
}

// nameArtifacts notes in which artifact new approvals stood: a policy that names another one asks for another verdict.
func nameArtifacts(stood []quorum.Stood, p *quorum.Policy) {
	for i := range stood {
		st := &stood[i]
		at := slices.IndexFunc(p.Reviewers, func(r quorum.Reviewer) bool { return r.Name == st.Reviewer })
		if st.Kind == quorum.TextArtifact && st.Artifact == "" && at >= 0 {
			st.Artifact = p.Reviewers[at].Verdict.Artifact
		}
	}
}

// threadMarks has a character for each thread: 1 if it is resolved or outdated, else 0.
func threadMarks(threads []quorum.Thread) string {
	marks := make([]byte, 0, len(threads))
	for _, t := range threads {
		mark := byte('0')
		if t.Resolved || t.Outdated {
			mark = '1'
		}
		marks = append(marks, mark)
	}
	return string(marks[:min(len(marks), quorum.MaxSeenThreads)])
}

// Refuse returns rec with the refusals of a receipt, by which an effect is not tried again, and with the replies that
// were given.
func Refuse(rec quorum.Record, receipt quorum.Receipt) quorum.Record {
	before := len(rec.Refusals)
	rec.Refusals = slices.Clone(rec.Refusals)
	for _, done := range receipt.Done {
		if done.State == quorum.ResultRefused {
			a := done.Action
			rec.Refusals = append(rec.Refusals, quorum.Refusal{
				Kind: a.Kind, Reviewer: a.Reviewer, Run: a.Run, Attempt: a.Attempt, Reason: done.Reason, Detail: done.Detail,
			})
		}
	}
	commands, replied := slices.Clone(rec.Commands), false
	for i := range commands {
		if c := &commands[i]; !c.Replied && slices.Contains(receipt.Replied, c.ID) {
			c.Replied, replied = true, true
		}
	}
	rec.Commands = commands
	if len(rec.Refusals) > before || replied {
		rec.Seq++
	}
	return rec
}

// cloneRecord copies a record so that appending to the copy changes nothing of the original.
func cloneRecord(rec quorum.Record) quorum.Record {
	rec.Runs, rec.Accounts = slices.Clone(rec.Runs), slices.Clone(rec.Accounts)
	rec.Texts, rec.Commanded = slices.Clone(rec.Texts), slices.Clone(rec.Commanded)
	rec.Stood = slices.Clone(rec.Stood)
	rec.Objections = slices.Clone(rec.Objections)
	rec.Intents = slices.Clone(rec.Intents)
	rec.Refusals = slices.Clone(rec.Refusals)
	rec.Asked = slices.Clone(rec.Asked)
	rec.Answers, rec.Undone = slices.Clone(rec.Answers), slices.Clone(rec.Undone)
	rec.Annotated = slices.Clone(rec.Annotated)
	rec.Alike, rec.Judged = slices.Clone(rec.Alike), slices.Clone(rec.Judged)
	rec.Past, rec.Commands = slices.Clone(rec.Past), slices.Clone(rec.Commands)
	return rec
}

// rememberRun remembers a run, its attempt and its end. GitHub sometimes starts a run again without counting the
// attempt.
func rememberRun(runs []quorum.SeenRun, run quorum.Run) []quorum.SeenRun {
	now := quorum.SeenRun{ID: run.ID, Attempt: run.Attempt, Started: run.Started, Path: run.Path}
	if run.Completed() && run.Conclusion != "action_required" { // approving one that waits for approval is no rerun
		now.Ended = run.Updated
	}
	i := slices.IndexFunc(runs, func(s quorum.SeenRun) bool { return s.ID == run.ID })
	if i < 0 {
		return append(runs, now)
	}
	was := runs[i]
	now.Again = was.Again
	if was.Attempt == now.Attempt && !was.Ended.IsZero() && (now.Ended.IsZero() || now.Started.After(was.Started)) {
		now.Again++
	}
	if was.Attempt == now.Attempt && !was.Ended.IsZero() && !now.Ended.IsZero() && now.Started.Equal(was.Started) {
		now.Ended = was.Ended // updated_at may move after the end
	}
	runs[i] = now
	return runs
}

// rememberBallot adds the evidence on which a ballot rests. What an earlier head has left stands in the record already.
func rememberBallot(rec *quorum.Record, s quorum.Snapshot, b quorum.Ballot) {
	isForeign := func(o quorum.Objection) bool {
		return o.Of != 0 && o.TextRef == b.Evidence && o.Reviewer == b.Reviewer
	}
	if b.Carried != "" || slices.ContainsFunc(rec.Objections, isForeign) { // or in another pull request, and in that one's record
		return
	}
	text := b.Evidence.Kind == quorum.TextComment || b.Evidence.Kind == quorum.TextReview
	if seen := (quorum.SeenText{TextRef: b.Evidence, Reviewer: b.Reviewer}); text && !slices.Contains(rec.Texts, seen) {
		rec.Texts = append(rec.Texts, seen)
	}
	switch {
	case b.Vote == quorum.Approve && b.Evidence.ID != 0:
		rememberApproval(rec, s.PR.BaseRef, b)
	case b.Vote == quorum.Object && (!b.Reason.Standing() || b.SaidRun != 0):
		rememberObjection(rec, s, b)
	case b.Then != nil && b.Then.Vote == quorum.Object: // said before the end of its attempt
		rememberObjection(rec, s, *b.Then)
	case (b.Outcome == quorum.Malformed || b.Outcome == quorum.Partial) && len(b.Answers) > 0:
		a := quorum.Answer{Reviewer: b.Reviewer, Run: b.Run, Attempt: b.Attempt, Excerpt: b.Answers[len(b.Answers)-1]}
		if !slices.ContainsFunc(rec.Answers, func(old quorum.Answer) bool {
			return old.Reviewer == a.Reviewer && old.Run == a.Run && old.Attempt == a.Attempt
		}) {
			rec.Answers = append(rec.Answers, a)
		}
	}
}

// rememberApproval adds an approval. All that its reviewer objected to this head and base before is answered by it.
func rememberApproval(rec *quorum.Record, base string, b quorum.Ballot) {
	for i := range rec.Objections {
		o := &rec.Objections[i]
		isRest := b.Reason == quorum.ReasonResolved && o.TextRef != b.Evidence
		if o.Reviewer == b.Reviewer && o.Base == base && !isRest {
			o.Answered = true
		}
	}
	rec.Objections = slices.DeleteFunc(rec.Objections, func(o quorum.Objection) bool { // nothing asks for it again
		return o.Answered && o.Kind == quorum.TextThread
	})
	isSame := func(st quorum.Stood) bool {
		return st.Reviewer == b.Reviewer && st.TextRef == b.Evidence && st.Base == base
	}
	if slices.ContainsFunc(rec.Stood, func(st quorum.Stood) bool { return isSame(st) && st.At.Equal(b.At) }) {
		return
	}
	rec.Stood = append(slices.DeleteFunc(rec.Stood, isSame), quorum.Stood{
		TextRef: b.Evidence, Reviewer: b.Reviewer, Base: base, Run: b.Run, Attempt: b.Attempt, At: b.At,
		Resolved: b.Reason == quorum.ReasonResolved,
	})
}

// rememberObjection adds an objection, so that deleting or editing its text does not end it.
func rememberObjection(rec *quorum.Record, s quorum.Snapshot, b quorum.Ballot) {
	o := quorum.Objection{
		TextRef: b.Evidence, Reviewer: b.Reviewer, Base: s.PR.BaseRef, Run: b.Run, Attempt: b.Attempt,
		At: b.Since, URL: b.URL, Excerpt: excerptOf(b.Detail),
	}
	if b.SaidRun != 0 {
		o.Run, o.Attempt = b.SaidRun, b.SaidAttempt
	}
	for _, f := range b.Findings {
		if f.Thread != 0 {
			o.Threads++
		}
	}
	if len(b.Findings) > 0 {
		o.Excerpt = excerptOf(b.Findings[0].Body)
	}
	if b.Reason != quorum.ReasonOpenThreads {
		rec.Objections = appendObjection(rec.Objections, o)
		return
	}
	for _, f := range b.Findings { // the text itself approves; the objections are open threads, of this head or an earlier one
		o.TextRef, o.Threads = quorum.TextRef{Kind: quorum.TextThread, ID: f.Thread}, 0
		o.Excerpt, o.URL = excerptOf(f.Body), f.URL
		rec.Objections = appendObjection(rec.Objections, o)
	}
}

// maxThreadObjections is how many open threads of a reviewer are recorded: while one of them is open it objects.
const maxThreadObjections = 20

// maxUnanswered is how many unanswered objections of each kind a reviewer has in the record, to a base: one in a
// comment stands whatever its reviews say. Of threads there may be more, and of reviews, for people end them one by one.
const (
	maxUnanswered        = 2
	maxUnansweredReviews = 10
)

func appendObjection(all []quorum.Objection, o quorum.Objection) []quorum.Objection {
	if o.ID == 0 {
		return all
	}
	threads, unanswered, newest := 0, 0, 0
	for i, old := range all {
		isSame := old.Reviewer == o.Reviewer && old.Base == o.Base
		if isSame && old.TextRef == o.TextRef && !old.Answered && (old.Attempt == o.Attempt || o.Kind == quorum.TextThread) {
			return all
		}
		switch {
		case isSame && old.Kind == quorum.TextThread:
			threads++
		case isSame && !old.Answered && old.Kind == o.Kind:
			unanswered, newest = unanswered+1, i
		}
	}
	most := maxUnanswered
	if o.Kind == quorum.TextReview {
		most = maxUnansweredReviews
	}
	if o.Kind != quorum.TextThread && unanswered >= most { // the first and the newest are kept
		if o.At.After(all[newest].At) {
			all[newest] = o
		}
		return all
	}
	if o.Kind == quorum.TextThread && threads >= maxThreadObjections {
		return all
	}
	return append(all, o)
}

// rememberIntent adds the intent to carry out an effect, or counts one more try of it.
func rememberIntent(intents []quorum.Intent, a quorum.Action, base string, now time.Time) []quorum.Intent {
	same := func(in quorum.Intent) bool {
		return in.Kind == a.Kind && in.Reviewer == a.Reviewer && in.Base == base && in.Run == a.Run && in.Attempt == a.Attempt
	}
	if i := slices.IndexFunc(intents, same); i >= 0 {
		intents[i].At, intents[i].Tries = now.UTC(), intents[i].Tries+1
		intents[i].Command = cmp.Or(a.Command, intents[i].Command)
		return intents
	}
	return append(intents, quorum.Intent{
		Kind: a.Kind, Reviewer: a.Reviewer, Base: base, Run: a.Run, Attempt: a.Attempt, At: now.UTC(), Tries: 1,
		Command: a.Command,
	})
}
