package evidence

import (
	"bytes"
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
	s = *withoutAccepts(&p, &s)
	rec := cloneRecord(s.Record)
	if old.Head != s.PR.Head {
		old, rec = quorum.Record{}, quorum.Record{}
	}
	rec.Guards = rememberGuards(&old, &s)
	d.Ballots = without(d.Ballots, func(b quorum.Ballot) bool { return b.Of != 0 }) // they stand in the record of the other one
	rec.Version, rec.Head, rec.Base, rec.Pull, rec.Stranger = 1, s.PR.Head, s.PR.BaseRef, s.PR.Number, s.PR.Stranger()
	if s.File.State == quorum.FileValid {
		rec.Policy, rec.Org = s.File.SHA, s.File.Org.SHA
	}
	if s.Expired {
		rec.Arrived = s.Arrived.UTC()
	}
	rec.Compared.Done = rec.Compared.Done || s.Alike != nil
	rec.Accounts = rememberAccounts(rec.Accounts, &p, &s)
	views := reviewerViews(&p, &s)
	for _, v := range views {
		rememberReviewer(&rec, v)
	}
	rec.Turns = rememberTurns(rec.Turns, rec.Base, d.Ballots, now)
	isInPart, votes := isJudgedInPart(&p, &s), slices.Concat(d.Ballots, approvalsByPeople(views))
	rememberBallots(&rec, s, votes, isInPart)
	if len(views) > 0 { // they have one head
		rec.Commands = views[0].head.commands // the record's, and those that were heard now
		rememberUnlooked(&rec, views[0].head, d.Ballots)
	}
	if d.Verdict != quorum.Ended {
		nameObjections(&rec, &s.PR, d, now)
	}
	if !s.PR.Closed && s.PR.Diff.Lines != "" { // of a draft, too: what is objected to it stands on the next head with its diff
		rec.Diff, rec.Files, rec.Tree = s.PR.Diff.Lines, s.PR.Diff.Files, s.PR.Diff.Tree
		rec.Trunk = s.PR.Stack.Trunk
	}
	if !isInPart || mayCarryOverDraft(&p, &s) {
		noteEnded(&rec, d.Ballots)
		markCounting(rec.Stood, &p, s.PR.BaseRef, votes)
	}
	for _, a := range slices.Concat(d.Effects.Cancels, d.Effects.Reruns, d.Effects.Requests) {
		rec.Intents = rememberIntent(rec.Intents, a, s.PR.BaseRef, now)
	}
	rememberFixes(&rec, &p, &s, &d, now)
	rec.Circuits = holdsOf(d.Ballots)
	if len(d.Effects.People) > 0 {
		rec.People = rememberPeople(&s, d.Effects.People, now)
	}
	if d.Verdict != quorum.Ended { // a closed pull request may be reopened
		rec.Undone = rememberUndone(rec.Undone, old.Pass, d, now)
		rec.Pass = d.Pass
	}
	isOurs, isForeign := func(o quorum.Objection) bool { return o.Of == 0 }, func(o quorum.Objection) bool { return o.Of != 0 }
	rec.Objections = slices.Concat(without(rec.Objections, isForeign), without(old.Objections, isOurs)) // each in its own record
	rec.Seq = old.Seq
	if !reflect.DeepEqual(rec, old) {
		rec.Seq++
	}
	if !s.Began.IsZero() {
		rec.Seen = quorum.Seen{At: s.Began.UTC().Truncate(time.Second), Threads: threadMarks(s.Threads)}
	}
	return rec
}

// rememberUndone adds a pass that stood and that d takes back: whoever has seen it green is told.
func rememberUndone(known []quorum.UndonePass, was *quorum.Pass, d quorum.Decision, now time.Time) []quorum.UndonePass {
	if was == nil || d.Verdict == quorum.Passed {
		return known
	}
	known = append(known, quorum.UndonePass{Passed: was.At, Until: now.UTC().Truncate(time.Second)})
	return known[max(0, len(known)-maxUndone):]
}

// rememberReviewer adds a person's first request, approvals at a command, which may be deleted, and the reviewer's runs.
func rememberReviewer(rec *quorum.Record, v *reviewerView) {
	asked := quorum.FirstTime{Reviewer: v.Name, Base: rec.Base, At: v.personRequest().UTC()}
	if !asked.At.IsZero() {
		rec.Asked = withOnce(rec.Asked, asked)
	}
	for _, c := range v.newestAttempt().textsFor() {
		if c.rejected == answersCommand && len(rec.Commanded) < maxCommanded {
			rec.Commanded = withOnce(rec.Commanded, quorum.Commanded{TextRef: c.ref, By: c.voidDetail})
		}
	}
	for _, run := range v.runs.counted {
		rec.Runs = rememberRun(rec.Runs, run)
	}
}

// threadMarks has a character for each thread: 1 if it is resolved or outdated, else 0.
func threadMarks(threads []quorum.Thread) string {
	marks := bytes.Repeat([]byte("0"), min(len(threads), quorum.MaxSeenThreads))
	for i := range marks {
		if threads[i].Resolved || threads[i].Outdated {
			marks[i] = '1'
		}
	}
	return string(marks)
}

// Refuse returns rec with the refusals of a receipt, so that no effect is tried again, and the replies that were given.
func Refuse(rec quorum.Record, receipt quorum.Receipt) quorum.Record {
	before := rec
	if rec.People != nil && len(receipt.People) > 0 {
		asked := *rec.People
		asked.Refused = slices.Concat(asked.Refused, receipt.People)
		rec.People = &asked
	}
	rec.Refusals, rec.Commands = slices.Clone(rec.Refusals), slices.Clone(rec.Commands)
	for _, done := range receipt.Done {
		if done.State == quorum.ResultRefused {
			a := done.Action
			rec.Refusals = append(rec.Refusals, quorum.Refusal{
				Kind: a.Kind, Reviewer: a.Reviewer, Run: a.Run, Attempt: a.Attempt, Reason: done.Reason, Detail: done.Detail,
			})
		}
	}
	for i := range rec.Commands {
		c := &rec.Commands[i]
		c.Replied = c.Replied || slices.Contains(receipt.Replied, c.ID)
	}
	if noteFix(&rec, receipt.Fix) || !reflect.DeepEqual(rec, before) {
		rec.Seq++
	}
	return rec
}

// cloneRecord copies a record with its lists, so that appending to those of the copy changes nothing of the original.
func cloneRecord(rec quorum.Record) quorum.Record {
	fields := reflect.ValueOf(&rec).Elem()
	for i := range fields.NumField() {
		if list := fields.Field(i); list.Kind() == reflect.Slice && !list.IsNil() {
			list.Set(reflect.AppendSlice(reflect.MakeSlice(list.Type(), 0, list.Len()), list))
		}
	}
	return rec
}

// rememberBallots adds what the ballots rest on, and what each reviewer judged last. An approval of which not all was
// asked may be none.
func rememberBallots(rec *quorum.Record, s quorum.Snapshot, ballots []quorum.Ballot, isInPart bool) {
	for _, b := range ballots {
		isWhole := !isInPart && (b.Excused == "" || b.Excused == quorum.ReasonReserve)
		if b.Vote != quorum.Approve || isWhole {
			rememberBallot(rec, s, b)
		}
		was := lastJudged(rec.Judged, b.Reviewer)
		last := nextJudged(was, &b, &s.PR)
		if b.Reviewer != "" && last != was && (!isInPart || b.Vote == quorum.Object) { // of a draft only a no is known for sure
			rec.Judged = withJudged(rec.Judged, last)
		}
	}
}

// votelessReasons are those of a reviewer that has no say, whatever it wrote.
var votelessReasons = [...]quorum.Reason{quorum.ReasonRetired, quorum.ReasonSelf, quorum.ReasonGuarded, quorum.ReasonFamily}

// noteEnded notes of what was objected whether it stands now, for other pull requests with the same diff. A reviewer's
// unanswered objection is its vote, unless it has none. What a person accepted has not ended: the accept goes with it.
func noteEnded(rec *quorum.Record, ballots []quorum.Ballot) {
	for i := range rec.Objections {
		o := &rec.Objections[i]
		b := firstOf(ballots, func(b *quorum.Ballot) bool { return b.Reviewer == o.Reviewer })
		if b == nil || o.Of != 0 || !rec.Concerns(o, rec.Base, rec.Diff) {
			continue
		}
		isExcused := b.Excused != "" && b.Excused != quorum.ReasonReserve
		isVoteless := isExcused || slices.Contains(votelessReasons[:], b.Reason)
		isAccepted := b.Ended.How == quorum.ReasonOverridden
		objects := b.Vote == quorum.Object || b.Then != nil && b.Then.Vote == quorum.Object
		o.Ended = !isVoteless && !isAccepted && !objects
	}
}

// rememberRun remembers a run and its end. GitHub sometimes starts a run again without counting the attempt.
func rememberRun(runs []quorum.SeenRun, run quorum.Run) []quorum.SeenRun {
	now := quorum.SeenRun{ID: run.ID, Attempt: run.Attempt, Started: run.Started, Path: run.Path}
	if run.Completed() && run.Conclusion != "action_required" { // approving one that waits for approval is no rerun
		now.Ended = run.Updated
	}
	was := firstOf(runs, func(s *quorum.SeenRun) bool { return s.ID == run.ID })
	if was == nil {
		return append(runs, now)
	}
	now.Again = was.Again
	switch {
	case was.Attempt != now.Attempt || was.Ended.IsZero():
	case now.Ended.IsZero(), now.Started.After(was.Started):
		now.Again++
	case now.Started.Equal(was.Started):
		now.Ended = was.Ended // updated_at may move after the end
	}
	*was = now
	return runs
}

// rememberBallot adds the evidence on which a ballot rests. What an earlier head has left stands in the record already.
func rememberBallot(rec *quorum.Record, s quorum.Snapshot, b quorum.Ballot) {
	known := without(rec.Objections, func(o quorum.Objection) bool {
		return o.TextRef != b.Evidence || o.Reviewer != b.Reviewer
	})
	isForeign := func(o quorum.Objection) bool { return o.Of != 0 }
	if b.Carried != "" || slices.ContainsFunc(known, isForeign) { // or in another one's record
		return
	}
	isNewCheck := b.Evidence.Kind == quorum.TextCheck && len(known) == 0 // it may have failed beside a newer one
	if isWithdrawable(b.Evidence.Kind) {
		rec.Texts = withOnce(rec.Texts, b.Evidence)
	}
	switch {
	case b.Vote == quorum.Approve && b.Evidence.ID != 0:
		rememberApproval(rec, &s.PR, b)
	case b.Vote == quorum.Object && (!b.Reason.Standing() || b.SaidRun != 0 || isNewCheck):
		rememberObjection(rec, s, b)
	case b.Then != nil && b.Then.Vote == quorum.Object: // said before the end of its attempt
		rememberObjection(rec, s, *b.Then)
	case (b.Outcome == quorum.Malformed || b.Outcome == quorum.Partial) && len(b.Answers) > 0:
		a := quorum.Answer{Reviewer: b.Reviewer, Run: b.Run, Attempt: b.Attempt, Excerpt: b.Answers[len(b.Answers)-1]}
		isOfAttempt := func(o quorum.Answer) bool {
			return o.Reviewer == a.Reviewer && o.Run == a.Run && o.Attempt == a.Attempt
		}
		if !slices.ContainsFunc(rec.Answers, isOfAttempt) { // one for each attempt
			rec.Answers = append(rec.Answers, a)
		}
	}
}

// rememberApproval adds an approval. All that its reviewer objected to this diff before is answered by it, on this base.
func rememberApproval(rec *quorum.Record, pr *quorum.PullRequest, b quorum.Ballot) {
	base := pr.BaseRef
	for i := range rec.Objections {
		o := &rec.Objections[i]
		isRest := b.Reason == quorum.ReasonResolved && o.TextRef != b.Evidence
		if o.Reviewer != b.Reviewer || isRest || !rec.Concerns(o, base, pr.Diff.Lines) {
			continue
		}
		switch {
		case o.Base == base, o.Base == pr.Target():
			o.Resolved = (b.Reason == quorum.ReasonResolved || b.Since.Before(o.At)) && (!o.Answered || o.Resolved)
			o.Answered, o.Accepted, o.Own = true, "", false
		default:
			o.AnsweredOn = withBase(o.AnsweredOn, base)
		}
	}
	isSame := func(st quorum.Stood) bool {
		return st.Reviewer == b.Reviewer && st.TextRef == b.Evidence && st.Base == base
	}
	was := cmp.Or(firstOf(rec.Stood, func(st *quorum.Stood) bool { return isSame(*st) }), &quorum.Stood{})
	b.Begun = latest(b.Begun, was.Begun) // a rerun since may hide where attempts began
	if was.At.Equal(b.At) && was.Begun.Equal(b.Begun) {
		return
	}
	rec.Stood = append(slices.DeleteFunc(rec.Stood, isSame), quorum.Stood{
		TextRef: b.Evidence, Reviewer: b.Reviewer, Base: base, Run: b.Run, Attempt: b.Attempt, At: b.At, Begun: b.Begun,
		Resolved: b.Reason == quorum.ReasonResolved,
	})
}

func withBase(bases []string, base string) []string {
	bases = withOnce(bases, base)
	return bases[max(0, len(bases)-maxAnsweredOn):]
}

// rememberObjection adds an objection, so that deleting or editing its text does not end it.
func rememberObjection(rec *quorum.Record, s quorum.Snapshot, b quorum.Ballot) {
	o := quorum.Objection{
		TextRef: b.Evidence, Reviewer: b.Reviewer, Base: s.PR.BaseRef, At: b.Since, URL: b.URL,
		Run: cmp.Or(b.SaidRun, b.Run), Attempt: cmp.Or(b.SaidAttempt, b.Attempt),
		Excerpt: excerptOf(b.Detail), More: b.CountFindings() - 1,
	}
	known := recordView{record: rec, base: s.PR.BaseRef, diff: s.PR.Diff.Lines}
	for _, old := range rec.Objections { // it was said against a base of before, to the same diff
		if old.Reviewer == o.Reviewer && old.TextRef == o.TextRef && old.Of == 0 && known.concerns(&old) {
			o.Base, o.Diff, o.Carried = old.Base, old.Diff, old.Carried
		}
	}
	o.Threads = len(without(b.Findings, func(f quorum.Finding) bool { return f.Thread == 0 }))
	if len(b.Findings) > 0 {
		o.Excerpt = excerptOf(b.Findings[0].Body)
	}
	if b.Reason != quorum.ReasonOpenThreads {
		known.addObjection(o)
		return
	}
	for _, f := range b.Findings { // the text itself approves; the objections are threads
		o.TextRef, o.Threads = quorum.TextRef{Kind: quorum.TextThread, ID: f.Thread}, 0
		o.Excerpt, o.More, o.URL = excerptOf(f.Body), 0, f.URL
		known.addObjection(o)
	}
}

// rememberUnlooked adds what no look saw: of other heads with this diff all objections, else those that stand now.
func rememberUnlooked(rec *quorum.Record, h *headView, ballots []quorum.Ballot) {
	known := recordView{record: rec, base: h.record.base, diff: h.record.diff}
	for _, o := range h.record.unlooked {
		isBy := func(b quorum.Ballot) bool {
			return b.Reviewer == o.Reviewer && b.Vote == quorum.Object && b.Evidence == o.TextRef
		}
		if (o.Carried != "" || slices.ContainsFunc(ballots, isBy)) && !known.isRecorded(o) {
			known.addObjection(o)
		}
	}
}

// mostUnanswered is how many unanswered objections of a kind the record holds of a reviewer to this diff, if more than
// two. People end those in reviews one by one, and a reviewer objects while one of its threads is open.
var mostUnanswered = map[quorum.TextKind]int{quorum.TextThread: 20, quorum.TextReview: 10}

// addObjection adds an objection that is not there yet. Where there are too many of its reviewer and kind to this diff, it takes
// the place of the one added last, if it is newer than that. One that was answered, or is to another diff, is always added.
func (v recordView) addObjection(o quorum.Objection) {
	isOfPlace := func(old *quorum.Objection) bool { return old.Base == o.Base && old.Carried == o.Carried }
	unanswered, last := 0, 0
	for i := range v.record.Objections {
		old := &v.record.Objections[i]
		if old.Reviewer != o.Reviewer || old.Kind != o.Kind || old.Answered || !v.concerns(old) {
			continue
		}
		if old.ID == o.ID && isOfPlace(old) && (old.Attempt == o.Attempt || o.Kind == quorum.TextThread) {
			return
		}
		unanswered, last = unanswered+1, i
	}
	switch isOver := func(old quorum.Objection) bool { return old.Answered && isOfPlace(&old) && o.IsSame(old) }; {
	case o.ID == 0:
	case o.Answered, !v.concerns(&o), unanswered < cmp.Or(mostUnanswered[o.Kind], 2): // a thread that is opened again stands
		v.record.Objections = append(without(v.record.Objections, isOver), o)
	case o.At.After(v.record.Objections[last].At):
		v.record.Objections[last] = o
	}
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
		Command: a.Command, Free: a.Free,
	})
}
