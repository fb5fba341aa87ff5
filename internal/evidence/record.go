package evidence

import (
	"reflect"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Remember returns the record that belongs to decision d on snapshot s: the record so far, with what is new. The
// intents of d's effects are part of it, so that they stand on GitHub before they are carried out.
func Remember(p quorum.Policy, s quorum.Snapshot, d quorum.Decision, now time.Time) quorum.Record {
	s = *withoutAccepts(&p, &s)
	old := s.Record
	if old.Head != s.PR.Head {
		old = quorum.Record{}
	}
	rec := cloneRecord(old)
	rec.Guards = rememberGuards(&old, &s)
	d.Ballots = without(d.Ballots, func(b quorum.Ballot) bool { return b.Of != 0 }) // they stand in the record of the other one
	rec.Version, rec.Head, rec.Base, rec.Pull, rec.Fork = 1, s.PR.Head, s.PR.BaseRef, s.PR.Number, s.PR.Fork
	if s.File.State == quorum.FileValid {
		rec.Policy, rec.Org = s.File.SHA, s.File.Org.SHA
	}
	if s.Expired {
		rec.Arrived = s.Arrived.UTC()
	}
	rec.Compared = rec.Compared || s.Alike != nil
	rec.Accounts = rememberAccounts(rec.Accounts, &p, &s)
	views := reviewerViews(&p, &s)
	for _, v := range views {
		rememberReviewer(&rec, v)
	}
	rec.Turns = rememberTurns(rec.Turns, rec.Base, d.Ballots, now)
	isInPart, votes := isJudgedInPart(&p, &s), slices.Concat(d.Ballots, approvalsByPeople(views))
	for _, b := range votes {
		isWhole := !isInPart && (b.Excused == "" || b.Excused == quorum.ReasonReserve)
		if b.Vote != quorum.Approve || isWhole { // an approval of which not all was asked may be none
			rememberBallot(&rec, s, b)
		}
	}
	if len(views) > 0 { // they have one head
		rec.Commands = views[0].commands.all // the record's, and those that were heard now
		rememberUnlooked(&rec, views[0].head.record.unlooked, d.Ballots)
	}
	if d.Verdict != quorum.Ended {
		nameObjections(&rec, &s.PR, d, now)
	}
	if !s.PR.Closed && s.PR.Diff.Lines != "" { // of a draft, too: what is objected to it stands on the next head with its diff
		rec.Diff, rec.Files, rec.Tree = s.PR.Diff.Lines, s.PR.Diff.Files, s.PR.Diff.Tree
		rec.Trunk = s.PR.Stack.Trunk
	}
	rec.Judged = rememberJudged(rec.Judged, &s, without(d.Ballots, func(b quorum.Ballot) bool {
		return isInPart && b.Vote != quorum.Object // of a draft only a no is known for sure
	}))
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

// rememberReviewer adds when a person first asked a reviewer, its approvals that answer a command, for deleting the command makes
// none of them a review, and its runs.
func rememberReviewer(rec *quorum.Record, v *reviewerView) {
	asked := quorum.Asked{Reviewer: v.Name, Base: rec.Base, At: v.personRequest().UTC()}
	if !asked.At.IsZero() {
		rec.Asked = withOnce(rec.Asked, asked)
	}
	if len(v.Obeys) > 0 {
		a := v.newestAttempt()
		for _, c := range v.textsFor(&a) {
			isKnown := slices.ContainsFunc(rec.Commanded, func(k quorum.Commanded) bool { return k.TextRef == c.ref })
			if c.rejected == answersCommand && !isKnown && len(rec.Commanded) < maxCommanded {
				rec.Commanded = append(rec.Commanded, quorum.Commanded{TextRef: c.ref, By: c.voidDetail})
			}
		}
	}
	if v.Workflow != "" {
		for _, run := range v.runs.counted {
			rec.Runs = rememberRun(rec.Runs, run)
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
	if rec.People != nil && len(receipt.People) > 0 {
		asked := *rec.People
		asked.Refused = slices.Concat(asked.Refused, receipt.People)
		rec.People = &asked
		rec.Seq++
	}
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
	isFixNoted := noteFix(&rec, receipt.Fix) // whatever else is news: else it would be started once more
	if len(rec.Refusals) > before || replied || isFixNoted {
		rec.Seq++
	}
	return rec
}
