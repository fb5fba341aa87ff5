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

// withoutAccepts is a snapshot without what people accepted who may not: the policy lets them no more, or not here, or
// they had no hand in the other pull request of the head below which they said it, and had one in this.
func withoutAccepts(p *quorum.Policy, s *quorum.Snapshot) *quorum.Snapshot {
	least := cmp.Or(p.Override, quorum.Admin+1) // 0: nobody may
	mayNot := func(may quorum.Permission, own bool) bool { return may < least || own && !p.OwnChange }
	own := *s
	own.Record.Commands, own.Record.Objections = slices.Clone(s.Record.Commands), slices.Clone(s.Record.Objections)
	for i := range own.Record.Commands {
		switch c := &own.Record.Commands[i]; {
		case c.Verb != quorum.CommandAccept, c.Refused != "":
		case mayNot(c.May, c.Own):
			c.Refused, c.Reviewers = quorum.ReasonNoOverride, nil
		case !p.OwnChange && change.HadHand(s, quorum.Account{Login: c.By}):
			c.Refused, c.Reviewers = quorum.ReasonHadHand, nil
		}
	}
	for i := range own.Record.Objections {
		if o := &own.Record.Objections[i]; o.Accepted != "" && mayNot(o.May, o.Own) {
			o.Answered, o.Resolved, o.Accepted, o.Own, o.May = false, false, "", false, 0
		}
	}
	return &own
}

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

func (v recordView) knowsText(ref quorum.TextRef) bool { return slices.Contains(v.record.Texts, ref) }

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
func (v recordView) leftReruns(run *quorum.Run) int {
	return len(without(v.record.Intents, func(in quorum.Intent) bool {
		isOver := in.Attempt < run.Attempt || run.Conclusion == "cancelled"
		isCancelled := in.Kind == quorum.Cancel && in.Run == run.ID && isOver
		return !isCancelled || !v.hasOwnIntent(quorum.Rerun, run.ID, in.Attempt-1)
	}))
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
	return v.firstAfter(v.record.Turns, reserve, time.Time{})
}

// firstAfter is the first time after a moment that a list tells of a reviewer on this base; zero if it tells of none.
func (v recordView) firstAfter(all []quorum.FirstTime, reviewer string, after time.Time) time.Time {
	isIt := func(f *quorum.FirstTime) bool { return f.Reviewer == reviewer && f.Base == v.base && f.At.After(after) }
	return cmp.Or(firstOf(all, isIt), &quorum.FirstTime{}).At
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

// refusalOf is GitHub's newest refusal to cancel an attempt, or to run or ask a reviewer again after it, and whether that
// is its last word. That the permission for a rerun is missing it says twice. Of a request (run 0) it is the reviewer's newest
// since that attempt; of a run it is anybody's who shares it.
func (v recordView) refusalOf(kind quorum.ActionKind, reviewer string, run int64, attempt int) (no quorum.Refusal, isFinal bool) {
	for _, said := range v.record.Refusals {
		isIt := said.Run == run && said.Attempt == attempt
		if run == 0 {
			isIt = said.Reviewer == reviewer && said.Attempt >= attempt
		}
		if said.Kind == kind && isIt {
			isFinal = kind != quorum.Rerun || said.Reason != quorum.ReasonPermission || no.Reason == said.Reason
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

// lastJudged is the verdict that a reviewer gave last; zero if it gave none.
func lastJudged(all []quorum.Judged, reviewer string) quorum.Judged {
	isIts := func(j *quorum.Judged) bool { return j.Reviewer == reviewer }
	return *cmp.Or(firstOf(all, isIts), &quorum.Judged{})
}

// withJudged is a list with what a reviewer judged last.
func withJudged(all []quorum.Judged, last quorum.Judged) []quorum.Judged {
	return append(without(all, func(j quorum.Judged) bool { return j.Reviewer == last.Reviewer }), last)
}

// nextJudged is was, or what follows it from a ballot on a head. An objection that stands here from elsewhere counts as said last
// where another verdict was.
func nextJudged(was quorum.Judged, b *quorum.Ballot, pr *quorum.PullRequest) quorum.Judged {
	isNo, said, diff := b.Vote == quorum.Object, b.Since.UTC().Truncate(time.Second), pr.Diff.Lines
	now := quorum.Judged{Reviewer: b.Reviewer, Head: pr.Head, No: isNo, Diff: diff, Times: 1, Said: said, Again: b.Again}
	if isNo {
		now.Noes = 1
	}
	switch isNew := was.Reviewer == "" || said.After(was.Said); {
	case !isVerdictHere(b) && (!isNo || was.Reviewer == ""):
		return was
	case isNew && was.Diff == diff && diff != "":
		now.Times, now.Noes = was.Times+1, was.Noes+now.Noes
	case isNew: // of another diff: it counts anew
	case was.Head == pr.Head && (was.Said.Equal(said) || b.Reason == quorum.ReasonResolved): // threads changed
		was.No, was.Noes = isNo, max(was.Noes, now.Noes)
		return was
	case !isNo: // an approval that was said already
		return was
	default: // it stands here, whatever was said since of another head or base
		if now.Said = was.Said; was.Diff == diff {
			now.Times, now.Noes = was.Times, was.Noes
		}
	}
	return now
}

func isVerdictHere(b *quorum.Ballot) bool {
	return b.Carried == "" && b.Evidence.ID != 0 && (b.Vote == quorum.Approve || b.Vote == quorum.Object)
}
