package evidence

// How each thing that a look shows is added to a record, once.

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

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
		rec.Texts = withOnce(rec.Texts, quorum.SeenText{TextRef: b.Evidence, Reviewer: b.Reviewer})
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
			o.Resolved = b.Reason == quorum.ReasonResolved && (!o.Answered || o.Resolved)
			o.Answered, o.Accepted, o.Own = true, "", false
		default:
			o.AnsweredOn = withBase(o.AnsweredOn, base)
		}
	}
	isSame := func(st quorum.Stood) bool {
		return st.Reviewer == b.Reviewer && st.TextRef == b.Evidence && st.Base == base
	}
	if i := slices.IndexFunc(rec.Stood, isSame); i >= 0 {
		if rec.Stood[i].At.Equal(b.At) {
			return
		}
		b.Begun = latest(b.Begun, rec.Stood[i].Begun) // a rerun since may hide where attempts began
	}
	rec.Stood = append(slices.DeleteFunc(rec.Stood, isSame), quorum.Stood{
		TextRef: b.Evidence, Reviewer: b.Reviewer, Base: base, Run: b.Run, Attempt: b.Attempt, At: b.At, Begun: b.Begun,
		Resolved: b.Reason == quorum.ReasonResolved,
	})
}

// maxAnsweredOn is how many bases an objection tells on which it is answered: on one before it stands again.
const maxAnsweredOn = 3

func withBase(bases []string, base string) []string {
	bases = withOnce(bases, base)
	return bases[max(0, len(bases)-maxAnsweredOn):]
}

// rememberObjection adds an objection, so that deleting or editing its text does not end it.
func rememberObjection(rec *quorum.Record, s quorum.Snapshot, b quorum.Ballot) {
	o := quorum.Objection{
		TextRef: b.Evidence, Reviewer: b.Reviewer, Base: s.PR.BaseRef, Run: b.Run, Attempt: b.Attempt,
		At: b.Since, URL: b.URL, Excerpt: excerptOf(b.Detail), More: b.CountFindings() - 1,
	}
	if b.SaidRun != 0 {
		o.Run, o.Attempt = b.SaidRun, b.SaidAttempt
	}
	for _, old := range rec.Objections { // it was said against a base of before, to the same diff
		if old.Reviewer == o.Reviewer && old.TextRef == o.TextRef && old.Of == 0 && rec.Concerns(&old, s.PR.BaseRef, s.PR.Diff.Lines) {
			o.Base, o.Carried = old.Base, old.Carried
		}
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
	for _, f := range b.Findings { // the text itself approves; the objections are threads
		o.TextRef, o.Threads = quorum.TextRef{Kind: quorum.TextThread, ID: f.Thread}, 0
		o.Excerpt, o.More, o.URL = excerptOf(f.Body), 0, f.URL
		rec.Objections = appendObjection(rec.Objections, o)
	}
}

// rememberUnlooked adds the objections that no look saw before the pull request left, of those that stand now.
func rememberUnlooked(rec *quorum.Record, unlooked []quorum.Objection, ballots []quorum.Ballot) {
	for _, o := range unlooked {
		isBy := func(b quorum.Ballot) bool {
			return b.Reviewer == o.Reviewer && b.Vote == quorum.Object && b.Evidence == o.TextRef
		}
		if slices.ContainsFunc(ballots, isBy) {
			rec.Objections = appendObjection(rec.Objections, o)
		}
	}
}

// mostUnanswered is how many unanswered objections of a kind the record holds of a reviewer, to a base. People end those in
// reviews one by one, and a reviewer objects while one of its threads is open.
func mostUnanswered(kind quorum.TextKind) int {
	return cmp.Or(map[quorum.TextKind]int{quorum.TextThread: 20, quorum.TextReview: 10}[kind], 2)
}

// appendObjection adds an objection that is not there yet, to those of its head and base.
func appendObjection(all []quorum.Objection, o quorum.Objection) []quorum.Objection {
	isOfPlace := func(old *quorum.Objection) bool { return old.Base == o.Base && old.Carried == o.Carried }
	isKnown := slices.ContainsFunc(all, func(old quorum.Objection) bool {
		isIt := old.Reviewer == o.Reviewer && old.TextRef == o.TextRef && !old.Answered && isOfPlace(&old)
		return isIt && (old.Attempt == o.Attempt || o.Kind == quorum.TextThread)
	})
	if o.ID == 0 || isKnown {
		return all
	}
	isOver := func(old quorum.Objection) bool { return old.Answered && isOfPlace(&old) && o.IsSame(old) }
	return keepFirstAndNewest(without(all, isOver), o, isOfPlace) // a thread that is opened again is one that stands
}

// keepFirstAndNewest adds an objection, or replaces the newest beside it of its reviewer and kind where there are too many.
func keepFirstAndNewest(
	all []quorum.Objection, o quorum.Objection, isBeside func(*quorum.Objection) bool,
) []quorum.Objection {
	unanswered, newest := 0, 0
	for i := range all {
		if old := &all[i]; old.Reviewer == o.Reviewer && old.Kind == o.Kind && !old.Answered && isBeside(old) {
			unanswered, newest = unanswered+1, i
		}
	}
	switch {
	case unanswered < mostUnanswered(o.Kind):
		return append(all, o)
	case o.At.After(all[newest].At):
		all[newest] = o
	}
	return all
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
