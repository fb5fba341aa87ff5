package evidence

import (
	"cmp"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// recordView is what the record of our own check tells about this head and base.
type recordView struct {
	record   *quorum.Record
	base     string
	diff     string             // [quorum.DiffPrint].Lines
	unlooked []quorum.Objection // that no look could record before the pull request left
}

// withoutAccepts is a snapshot without what people accepted who may not: the policy lets them no more, or they had no
// hand in the other pull request of the head below which they said it, and had one in this.
func withoutAccepts(p *quorum.Policy, s *quorum.Snapshot) *quorum.Snapshot {
	mayNot := func(own bool) bool { return p.Override == 0 || own && !p.OwnChange }
	whyRefused := func(c quorum.Command) quorum.Reason {
		switch {
		case c.Verb != quorum.CommandAccept, c.Refused != "":
		case mayNot(c.Own):
			return quorum.ReasonNoOverride
		case !c.Own && change.HadHand(s, quorum.Account{Login: c.By}):
			return quorum.ReasonHadHand
		}
		return ""
	}
	isAccepted := func(o quorum.Objection) bool { return o.Accepted != "" }
	if len(s.Record.Commands) == 0 && !slices.ContainsFunc(s.Record.Objections, isAccepted) {
		return s // as nearly always: each view asks
	}
	own := *s
	own.Record.Commands, own.Record.Objections = slices.Clone(s.Record.Commands), slices.Clone(s.Record.Objections)
	for i := range own.Record.Commands {
		c := &own.Record.Commands[i]
		if why := whyRefused(*c); why != "" {
			c.Refused, c.Reviewers = why, nil
		}
	}
	for i := range own.Record.Objections {
		if o := &own.Record.Objections[i]; o.Accepted != "" && mayNot(o.Own) {
			o.Answered, o.Resolved, o.Accepted, o.Own = false, false, "", false
		}
	}
	return &own
}

// concerns reports whether an objection counts against this head and base.
func (v recordView) concerns(o *quorum.Objection) bool { return v.record.Concerns(o, v.base, v.diff) }

// firstApproval is when the record saw that text approve first; zero if it did not.
func (v recordView) firstApproval(reviewer string, ref quorum.TextRef) time.Time {
	isIt := func(st *quorum.Stood) bool { return st.TextRef == ref }
	return cmp.Or(firstOf(v.approvalsOf(reviewer), isIt), &quorum.Stood{}).At
}

// approvalsOf are the approvals of a reviewer that were once seen on this head.
func (v recordView) approvalsOf(reviewer string) []quorum.Stood {
	return without(v.record.Stood, func(st quorum.Stood) bool { return st.Reviewer != reviewer || st.Carried != "" })
}

// hasAnswered reports whether the record saw the reviewer approve this head and base in an attempt that began after an
// objection, or, where none shows its beginning, after it. Of one run, a later attempt began later.
func (v recordView) hasAnswered(reviewer string, at time.Time, run int64, attempt int) bool {
	return slices.ContainsFunc(v.record.Stood, func(st quorum.Stood) bool {
		isLater := at.Before(st.Begun) || at.Equal(st.Begun) && run != 0 && st.Run == run && st.Attempt > attempt
		if st.Begun.IsZero() {
			isLater = at.Before(st.At) && (run == 0 || st.Run != run || st.Attempt != attempt)
		}
		return st.Reviewer == reviewer && st.Base == v.base && !st.Resolved && isLater
	})
}

// knowsText reports whether a text was evidence at an earlier look at this head.
func (v recordView) knowsText(ref quorum.TextRef) bool {
	return slices.ContainsFunc(v.record.Texts, func(seen quorum.SeenText) bool { return seen.TextRef == ref })
}

// objectionsOf are the objections of a reviewer against this head and base that it has not answered, as far as the record
// knows: those that it holds, and those that no look could record.
func (v recordView) objectionsOf(reviewer string) []quorum.Objection {
	return without(slices.Concat(v.record.Objections, v.unlooked), func(o quorum.Objection) bool {
		return o.Reviewer != reviewer || o.Answered || slices.Contains(o.AnsweredOn, v.base) || !v.concerns(&o)
	})
}

// isRecorded reports whether the record tells of an objection that GitHub shows from before, and of how it ended. A
// thread that was opened again objects, recorded or not.
func (v recordView) isRecorded(o quorum.Objection) bool {
	return slices.ContainsFunc(v.record.Objections, func(r quorum.Objection) bool {
		isIt := r.Reviewer == o.Reviewer && r.TextRef == o.TextRef && !(o.Carried != "" && o.Attempt > r.Attempt)
		isHere := (r.Base == v.base || o.Carried != "") && r.Kind != quorum.TextThread && !r.Resolved
		return isIt && v.concerns(&r) && (!r.Answered || r.Accepted != "" || isHere)
	})
}

// seenRun is a run as the last look saw it; zero if none has.
func (v recordView) seenRun(id int64) quorum.SeenRun {
	isIt := func(seen *quorum.SeenRun) bool { return seen.ID == id }
	return *cmp.Or(firstOf(v.record.Runs, isIt), &quorum.SeenRun{})
}

// endOf is when a run's newest attempt was first seen to have ended: updated_at may move after the end.
func (v recordView) endOf(run *quorum.Run) time.Time {
	seen := v.seenRun(run.ID)
	if seen.Attempt == run.Attempt && seen.Started.Equal(run.Started) && !seen.Ended.IsZero() {
		return earliest(seen.Ended, run.Updated)
	}
	return run.Updated
}

// seenAttempts is how many attempts of a run need no other look: their ends were seen, or they came before one that was.
func (v recordView) seenAttempts(run int64) int {
	seen := v.seenRun(run)
	if seen.Ended.IsZero() {
		return max(seen.Attempt-1, 0)
	}
	return seen.Attempt
}

// leftReruns is how many reruns of a run we cancelled, for the pull request had left its head.
func (v recordView) leftReruns(run *quorum.Run) (n int) {
	for _, in := range v.record.Intents {
		isCancelled := in.Attempt < run.Attempt || run.Conclusion == "cancelled"
		if in.Kind == quorum.Cancel && in.Run == run.ID && isCancelled && v.hasOwnIntent(quorum.Rerun, run.ID, in.Attempt-1) {
			n++
		}
	}
	return n
}

// requestsTo are our requests to a reviewer on this head and base, oldest first.
func (v recordView) requestsTo(reviewer string) (out []*quorum.Intent) {
	for i := range v.record.Intents {
		if in := &v.record.Intents[i]; in.Kind == quorum.Ask && in.Reviewer == reviewer && in.Base == v.base {
			out = append(out, in)
		}
	}
	return out
}

// turnOf is when a reserve got its seat first; zero if it never had it.
func (v recordView) turnOf(reserve string) time.Time {
	isIt := func(turn *quorum.Turn) bool { return turn.Reserve == reserve && turn.Base == v.base }
	return cmp.Or(firstOf(v.record.Turns, isIt), &quorum.Turn{}).At
}

// personRequest is when a person was first seen to ask a reviewer after that moment; zero if none was.
func (v recordView) personRequest(reviewer string, after time.Time) time.Time {
	isIt := func(asked *quorum.Asked) bool {
		return asked.Reviewer == reviewer && asked.Base == v.base && asked.At.After(after)
	}
	return cmp.Or(firstOf(v.record.Asked, isIt), &quorum.Asked{}).At
}

// newestIntent is the newest intent to rerun or cancel an attempt of a run. Several reviewers may share the run.
func (v recordView) newestIntent(kind quorum.ActionKind, run int64, attempt int) (quorum.Intent, bool) {
	for _, in := range slices.Backward(v.record.Intents) {
		if in.Kind == kind && in.Run == run && in.Attempt == attempt {
			return in, true
		}
	}
	return quorum.Intent{}, false
}

func (v recordView) hasIntent(kind quorum.ActionKind, run int64, attempt int) bool {
	_, found := v.newestIntent(kind, run, attempt)
	return found
}

// hasOwnIntent reports whether we meant to do that by ourselves, and not at a person's command.
func (v recordView) hasOwnIntent(kind quorum.ActionKind, run int64, attempt int) bool {
	in, found := v.newestIntent(kind, run, attempt)
	return found && in.Command == 0
}

// hasCommandedIntent reports whether a person's command was, or was to be, carried out for a reviewer or on one of its runs.
func (v recordView) hasCommandedIntent(command int64, reviewer string, runs []quorum.Run) bool {
	return slices.ContainsFunc(v.record.Intents, func(in quorum.Intent) bool {
		isOnRun := slices.ContainsFunc(runs, func(run quorum.Run) bool { return run.ID == in.Run })
		return in.Command == command && (in.Reviewer == reviewer || isOnRun)
	})
}

// refusedRequest is GitHub's newest refusal to let us ask a reviewer, unless it was asked again since.
func (v recordView) refusedRequest(reviewer string) (no quorum.Refusal, refused bool) {
	asked := 0
	for _, in := range v.requestsTo(reviewer) {
		if in.Command != 0 {
			asked = max(asked, in.Attempt)
		}
	}
	for _, said := range v.record.Refusals {
		if said.Kind == quorum.Ask && said.Reviewer == reviewer && said.Attempt >= asked {
			no, refused = said, true
		}
	}
	return no, refused
}

// refusalOf is GitHub's newest refusal to cancel an attempt or to run it again, and whether that is its last word. That
// the permission for a rerun is missing it says twice.
func (v recordView) refusalOf(kind quorum.ActionKind, run int64, attempt int) (no quorum.Refusal, isFinal bool) {
	for _, said := range v.record.Refusals {
		if said.Kind == kind && said.Run == run && said.Attempt == attempt {
			isFinal = kind == quorum.Cancel || said.Reason != quorum.ReasonPermission || no.Reason == said.Reason
			no = said
		}
	}
	return no, isFinal
}

// isCarried reports whether a text is one that an earlier head has left to this one.
func (v recordView) isCarried(reviewer string, ref quorum.TextRef) bool {
	return slices.ContainsFunc(v.record.Stood, func(st quorum.Stood) bool {
		return st.Carried != "" && st.Reviewer == reviewer && st.TextRef == ref
	}) || slices.ContainsFunc(v.record.Objections, func(o quorum.Objection) bool {
		return o.Carried != "" && o.Reviewer == reviewer && o.TextRef == ref && v.concerns(&o)
	})
}

// What a reviewer said before the newest look: on this head, on the head that it judged last, and on this diff.

// A pastView is what one reviewer said before, as the record and GitHub know it.
type pastView struct {
	*quorum.Reviewer
	head        *headView
	onLeftHeads func() *quorum.Judged // [verdictOnLeftHeads], read once; nil in a view of another time or head
}

// hasObjectedBefore reports whether the reviewer has objected to this head: then it votes on it, whatever its lane is now.
func (v pastView) hasObjectedBefore() bool {
	s, j := v.head.snapshot, v.judged()
	return j != nil && j.Noes > 0 && j.Head == s.PR.Head ||
		slices.ContainsFunc(s.Record.Objections, func(o quorum.Objection) bool {
			return o.Reviewer == v.Name && v.head.record.concerns(&o)
		})
}

// judgedBy is the verdict that a reviewer gave last, as a record knows it; nil if it knows none.
func judgedBy(all []quorum.Judged, reviewer string) *quorum.Judged {
	return firstOf(all, func(j *quorum.Judged) bool { return j.Reviewer == reviewer })
}

func (v pastView) judged() *quorum.Judged { return judgedBy(v.head.snapshot.Record.Judged, v.Name) }

// judgedElsewhere is the verdict that the reviewer gave last before it judged this head: what GitHub shows of heads
// that were left, where no look has seen it, or else what the record knows; nil if it gave none.
func (v pastView) judgedElsewhere() *quorum.Judged {
	j := v.judged()
	if v.onLeftHeads == nil || j != nil && j.Head == v.head.snapshot.PR.Head {
		return j
	}
	left := v.onLeftHeads()
	if left == nil || j != nil && left.Head == j.Head && !left.Said.After(j.Said) {
		return j
	}
	if j != nil && j.No && !left.No && left.Head == j.Head && v.Author == quorum.ActionsBot { // any workflow edits it
		return j
	}
	return left
}

// isRequiredAgain reports whether the reviewer objected to the last head that it judged, and this one has another diff,
// or to this head against another base. Its answer is needed then in every lane but one that asks for no review.
func (v pastView) isRequiredAgain() bool {
	if !v.MayVote() || v.Excused == quorum.ReasonWhen || v.head.policy.NeedsNoReview() {
		return false
	}
	j := v.judgedElsewhere()
	if j == nil || v.head.objectedElsewhere[v.Name] {
		return v.head.objectedElsewhere[v.Name]
	}
	diff, isHere := v.head.snapshot.PR.Diff.Lines, j.Head == v.head.snapshot.PR.Head
	isOther := !isHere
	if j.Diff != "" && diff != "" {
		isOther = j.Diff != diff
	}
	return j.No && isOther || j.Again && isHere
}

// withPast adds to a ballot what the reviewer said before: on this diff, and on the head that it judged last.
func (v pastView) withPast(b quorum.Ballot) quorum.Ballot {
	if v.isRequiredAgain() {
		b.Again, b.Required = true, true
	}
	b.Asked, b.Flipped = v.countAnswers(&b)
	if b.Then != nil {
		then := v.withPast(*b.Then)
		then.Required = b.Required
		b.Then = &then
	}
	return b
}

// countAnswers counts the verdicts on this diff, b among them, if there are others; flipped: it objected to it before.
func (v pastView) countAnswers(b *quorum.Ballot) (asked int, flipped bool) {
	j := v.judged()
	if j == nil || !isVerdictHere(b) || j.Diff == "" || j.Diff != v.head.snapshot.PR.Diff.Lines {
		return 0, false
	}
	if asked = j.Times; isNewVerdict(j, b) {
		asked++
	}
	if asked < 2 {
		return 0, false
	}
	return asked, b.Vote == quorum.Approve && b.Reason != quorum.ReasonResolved && j.Noes > 0
}

// isVerdictHere reports whether a ballot is a verdict that was given on this head.
func isVerdictHere(b *quorum.Ballot) bool {
	return b.Carried == "" && b.Evidence.ID != 0 && (b.Vote == quorum.Approve || b.Vote == quorum.Object)
}

func isNewVerdict(j *quorum.Judged, b *quorum.Ballot) bool {
	return b.Since.UTC().Truncate(time.Second).After(j.Said)
}

// rememberJudged remembers what each reviewer said last, and counts what it said on this diff. An objection that stands
// here from elsewhere counts as said last where the record holds another verdict.
func rememberJudged(all []quorum.Judged, s *quorum.Snapshot, ballots []quorum.Ballot) []quorum.Judged {
	head, diff := s.PR.Head, s.PR.Diff.Lines
	for i := range ballots {
		b := &ballots[i]
		isNo := b.Vote == quorum.Object
		was := judgedBy(all, b.Reviewer)
		if !isVerdictHere(b) && (was == nil || !isNo) {
			continue
		}
		said := b.Since.UTC().Truncate(time.Second)
		now := quorum.Judged{Reviewer: b.Reviewer, Head: head, No: isNo, Diff: diff, Times: 1, Said: said, Again: b.Again}
		if isNo {
			now.Noes = 1
		}
		switch {
		case was == nil:
			all = append(all, now)
		case isNewVerdict(was, b):
			if was.Diff == diff && diff != "" {
				now.Times, now.Noes = was.Times+1, was.Noes+now.Noes
			}
			*was = now
		case was.Head == head && (was.Said.Equal(said) || b.Reason == quorum.ReasonResolved): // threads changed
			was.No, was.Noes = isNo, max(was.Noes, now.Noes)
		case isNo: // it stands here, whatever was said since of another head or base
			if was.Diff != diff {
				was.Times, was.Noes = now.Times, now.Noes
			}
			was.No, was.Head, was.Diff, was.Again = true, head, diff, b.Again
		}
	}
	return all
}
