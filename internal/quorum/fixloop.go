package quorum

// When a fix is started for a blocked pull request, and when the loop ends: each start is earned by an objection that
// stands, each diff has one, and a loop that gets nowhere stops and asks for a person.

import (
	"slices"
	"time"
)

// NeedsPerson reports whether the loop of fixes has ended without a pass: then only a person goes on.
func (d *Decision) NeedsPerson() bool { return d.Loop != nil && d.Loop.State == LoopOver }

// scheduleFix says how the loop of fixes stands, and orders the fix that is due.
func (d *Decision) scheduleFix(p Policy, f Facts, now time.Time) {
	if p.Fix.Workflow == "" || f.Fix == nil {
		return
	}
	l := Loop{State: LoopIdle, Made: f.Fix.Made, Max: p.Fix.MaxRestarts}
	if d.Verdict != Blocked || d.Objections == 0 {
		if l.Made > 0 {
			d.Loop = &l
		}
		return
	}
	l.Open = followFindings(d.Ballots, f.Fix.Known, f.Fix.ByFix)
	if f.Fix.ByFix {
		l.Before = f.Fix.Before
	}
	end := f.Start.Add(p.Deadline) // an attempt that objected and never ends holds up nothing for ever
	maySayMore := func(b *Ballot) bool { return b.UnderWay || b.Reason == ReasonLookingAgain }
	switch {
	case f.Fix.Here != nil:
		d.followFix(&l, p, f, now)
	case f.Fix.Not != "":
		l.State, l.Reason, l.Detail = LoopNone, f.Fix.Not, f.Fix.Detail
	case now.Before(end) && slices.ContainsFunc(votersWith(d.Ballots, Object), maySayMore):
		l.State, l.Until = LoopWaiting, end
		d.wakeBy(end)
	case !f.Fix.Listed:
		l.State = LoopWaiting // unreachable unless a look did not read what it needs
	case l.Before > 0 && CountOpen(l.Open) >= l.Before:
		l.State, l.Reason = LoopOver, ReasonFixNoFewer
	case l.Made >= l.Max:
		l.State, l.Reason = LoopOver, ReasonFixMax
	default:
		d.orderFix(&l, p, f)
	}
	d.Loop = &l
}

func (d *Decision) orderFix(l *Loop, p Policy, f Facts) {
	l.State = LoopDue
	d.Effects.Fix = &FixOrder{
		Workflow: p.Fix.Workflow, Branch: f.Fix.Branch, Number: f.PR.Number, Head: f.Head, Base: f.Base, Findings: l.Open,
	}
}

// followFix says what became of the fix for this diff.
func (d *Decision) followFix(l *Loop, p Policy, f Facts, now time.Time) {
	run, seen := f.Fix.Here, f.Fix.Seen
	l.State, l.At, l.Run, l.Until = LoopRunning, run.At, run.Run, run.At.Add(FixPatience)
	over := func(at time.Time, why Reason) {
		if now.Before(at) {
			d.wakeBy(at)
			return
		}
		l.State, l.Reason, l.Until = LoopOver, why, time.Time{}
	}
	repeat, without := run.At.Add(FixRepeat), ReasonFixNoPush
	if run.Head != f.Head && f.Fix.ByFix {
		without = ReasonFixSameDiff
	}
	switch {
	case run.Refused != "":
		l.State, l.Reason, l.Detail, l.Until = LoopOver, run.Refused, run.Detail, time.Time{}
	case seen != nil:
		l.Run, l.URL = seen.ID, seen.URL
		if seen.Ended { // the new head may show a moment later
			l.Until = seen.Updated.Add(ReplicaLag)
		}
		over(l.Until, without)
	case run.Run != 0, run.Sent, !f.Fix.Listed: // it is known what became of the start, or was not asked
		over(l.Until, without)
	case now.Before(repeat), run.Tries >= maxFixTries, f.Fix.Not != "",
		run.Head != f.Head: // it was for an earlier head with this diff, and is started no more
		over(repeat, ReasonFixLost)
	default:
		d.orderFix(l, p, f)
	}
}

// FixDue is since when a fix could have been started: since the last objection was said.
func (d *Decision) FixDue() time.Time {
	at := d.Start
	for _, b := range votersWith(d.Ballots, Object) {
		at = laterOf(at, b.Since)
	}
	return at
}
