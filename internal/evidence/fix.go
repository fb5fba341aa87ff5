package evidence

// What a fix of a blocked pull request rests on: who pushed the head, which fix runs there were, and whether one of
// them pushed it. What GitHub keeps it tells; the record tells what was about to be started and what came of it.

import (
	"cmp"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxFixes is how many fix runs a record remembers: the last ones. It counts them all.
const maxFixes = 10

// fixFacts returns what the loop of fixes depends on; nil where there is none.
func fixFacts(h *headView) *quorum.FixFacts {
	s, rec := h.snapshot, &h.snapshot.Record
	if h.policy.Fix.Workflow == "" || isJudgedInPart(h.policy, s) {
		return nil
	}
	f := quorum.FixFacts{
		Made: rec.FixesMade, Here: fixHere(s), Listed: s.Fix.Listed, Branch: s.PR.DefaultBranch, Known: rec.OpenBefore,
	}
	if s.Fix.Listed { // else one may be another pull request's
		f.Made = max(f.Made, len(s.Fix.Runs))
	}
	f.Not, f.Detail = whyNoFix(h)
	if f.Here != nil {
		f.Seen = firstOf(s.Fix.Runs, func(seen *quorum.FixSeen) bool {
			return seen.ID == f.Here.Run || f.Here.Run == 0 && seen.Head == f.Here.Head && seen.Base == f.Here.Base
		})
	}
	by, found := fixThatPushed(s)
	f.ByFix, f.Before = found || rec.ByFix, by.Open
	return &f
}

// fixHere is the fix for this head's change, whoever started it, for whichever pull request of it; nil if there is none.
func fixHere(s *quorum.Snapshot) *quorum.FixRun {
	diff := s.PR.Diff.Lines
	for _, run := range slices.Backward(s.Record.Fixes) {
		isSameDiff := run.Diff != "" && run.Diff == diff && len(s.PR.Files) > 0 // without files every diff is the same
		if run.Base == s.PR.BaseRef && (run.Head == s.PR.Head || isSameDiff) {
			return &run
		}
	}
	for _, held := range s.Held {
		run := firstOf(held.Fixes, func(run *quorum.FixRun) bool { return run.Head == s.PR.Head })
		if run != nil && held.Pull != s.PR.Number {
			return run
		}
	}
	for _, seen := range s.Fix.Runs {
		if seen.Head == s.PR.Head && seen.Base == s.PR.BaseRef {
			return &quorum.FixRun{Head: seen.Head, Base: seen.Base, Diff: diff, At: seen.Created, Tries: 1, Run: seen.ID}
		}
	}
	return nil
}

// whyNoFix says why no fix is started for the head; "" if one may be. A head in no fork was pushed by somebody with
// write, but whoever may read may open a pull request of any branch. Who switched fixes off may have had a hand in the
// change: that only stops a machine that pushes to that person's own branch.
func whyNoFix(h *headView) (why quorum.Reason, detail string) {
	switch s := h.snapshot; {
	case h.policy.Mode != quorum.Enforce:
		return quorum.ReasonFixReport, ""
	case s.NoRecord:
		return quorum.ReasonFixNoRecord, ""
	case s.PR.Fork:
		return quorum.ReasonFixFork, ""
	case s.Fix.Stranger: // whose branch it is has not asked for a machine's push
		return quorum.ReasonFixStranger, ""
	case s.PR.HasLabel(quorum.NoFixLabel):
		return quorum.ReasonFixLabel, ""
	}
	if said := fixSwitchOf(&h.snapshot.Record, h.commands); said != nil && said.Off {
		return quorum.ReasonFixOff, said.By
	}
	return "", ""
}

// fixThatPushed is the fix run during which an App or a machine's account pushed the head.
func fixThatPushed(s *quorum.Snapshot) (run quorum.FixRun, found bool) {
	pusher, at := s.Fix.Push.Actor, s.Fix.Push.At
	if at.IsZero() || pusher.Login == "" || !pusher.Bot && pusher.Same(s.PR.Author) {
		return run, false
	}
	by := firstOf(s.Fix.Runs, func(seen *quorum.FixSeen) bool {
		return seen.Head != s.PR.Head && !at.Before(seen.Created) && (!seen.Ended || !at.After(seen.Updated))
	})
	if by == nil {
		return run, false
	}
	isIt := func(r *quorum.FixRun) bool { return r.Run == by.ID || r.Head == by.Head && r.Base == by.Base }
	return *cmp.Or(firstOf(s.Record.Fixes, isIt), &run), true
}

// MissingOfFix lists what the decision about a fix lacks. Nothing is wanted while no reviewer objects.
func MissingOfFix(p quorum.Policy, s quorum.Snapshot) (w quorum.FixWants) {
	if p.Fix.Workflow == "" || isJudgedInPart(&p, &s) || p.Mode != quorum.Enforce || s.NoRecord || s.PR.Fork {
		return w
	}
	views := reviewerViews(&p, &s)
	if !anyVotes(views, quorum.Object) {
		return w
	}
	f := fixFacts(views[0].head)
	if here := f.Here; here != nil && (here.Refused != "" || here.Run != 0) {
		if here.Refused == "" && !f.Listed && f.Seen == nil {
			w.Run = here.Run
		}
		w.Push = here.Head != s.PR.Head && !s.Fix.PushRead && !s.Record.ByFix // it may have pushed the same diff
		return w
	}
	w.Push = !s.Fix.PushRead
	w.List = !f.Listed && (f.Not == "" || f.Here != nil)
	return w
}

// rememberFixes remembers the fixes of a pull request: what GitHub shows, what is to be started, and which findings are open.
func rememberFixes(rec *quorum.Record, p *quorum.Policy, s *quorum.Snapshot, d *quorum.Decision, now time.Time) {
	rec.FixSwitch = fixSwitchOf(rec, rec.Commands)
	f := fixFacts(newHeadView(p, s))
	if f == nil {
		return
	}
	rec.FixesMade, rec.ByFix = f.Made, f.ByFix
	if d.Loop != nil && len(d.Loop.Open) > 0 {
		rec.Open = quorum.TrackFindings(d.Loop.Open)
	} else if d.Verdict == quorum.Passed {
		rec.Open = nil
	}
	here, seen := cmp.Or(f.Here, &quorum.FixRun{}), cmp.Or(f.Seen, &quorum.FixSeen{})
	if seen.ID != 0 && fixFor(rec.Fixes, here.Head, here.Base) == nil {
		rec.Fixes = append(rec.Fixes, *here)
	}
	if known := fixFor(rec.Fixes, here.Head, here.Base); known != nil {
		known.Run = cmp.Or(known.Run, seen.ID)
		if here.Head == s.PR.Head && d.Loop != nil {
			known.Open = max(known.Open, quorum.CountOpen(d.Loop.Open))
		}
	}
	if order := d.Effects.Fix; order != nil {
		if fixFor(rec.Fixes, order.Head, order.Base) == nil {
			rec.FixesMade++
			open := quorum.CountOpen(order.Findings)
			rec.Fixes = append(rec.Fixes, quorum.FixRun{Head: order.Head, Base: order.Base, Diff: s.PR.Diff.Lines, Open: open})
		}
		run := fixFor(rec.Fixes, order.Head, order.Base)
		run.At, run.Tries = now.UTC(), run.Tries+1
		rec.Fixes = rec.Fixes[max(0, len(rec.Fixes)-maxFixes):]
	}
}

func fixFor(fixes []quorum.FixRun, head, base string) *quorum.FixRun {
	return firstOf(fixes, func(r *quorum.FixRun) bool { return r.Head == head && r.Base == base })
}

// noteFix notes in rec what became of the start of a fix, and reports whether that is news. A start that is void was no try.
func noteFix(rec *quorum.Record, done *quorum.FixResult) bool {
	if done == nil || done.State == quorum.ResultFailed {
		return false
	}
	rec.Fixes = slices.Clone(rec.Fixes)
	run := fixFor(rec.Fixes, done.Order.Head, done.Order.Base)
	if run == nil {
		return false
	}
	switch done.State {
	case quorum.ResultDone:
		run.Run, run.Sent = done.Run, done.Run == 0
	case quorum.ResultRefused:
		run.Refused, run.Detail = done.Reason, done.Detail
	case quorum.ResultFailed, quorum.ResultVoid: // a failed one was left above
		run.Tries--
	}
	if run.Tries == 0 || done.State == quorum.ResultRefused {
		rec.FixesMade = max(rec.FixesMade-1, 0)
	}
	rec.Fixes = slices.DeleteFunc(rec.Fixes, func(r quorum.FixRun) bool { return r.Tries == 0 })
	return true
}

// takeOverFixes takes over what the head before tells of the fixes of the pull request.
func (in *inheritance) takeOverFixes(before *quorum.Record) {
	left := without(before.Fixes, func(r quorum.FixRun) bool { return fixFor(in.rec.Fixes, r.Head, r.Base) != nil })
	fixes := slices.Concat(left, in.rec.Fixes)
	slices.SortStableFunc(fixes, func(a, b quorum.FixRun) int { return a.At.Compare(b.At) })
	in.rec.Fixes = fixes[max(0, len(fixes)-maxFixes):]
	in.rec.FixesMade = max(in.rec.FixesMade, before.FixesMade)
	if own := in.rec.FixSwitch; before.FixSwitch != nil && (own == nil || own.At.Before(before.FixSwitch.At)) {
		in.rec.FixSwitch = before.FixSwitch
	}
	for _, open := range [][]quorum.Tracked{before.Open, before.OpenBefore} { // nobody may have judged it
		if in.rec.OpenBefore == nil {
			in.rec.OpenBefore = open
		}
	}
}

// fixSwitchOf is the last word about fixes, on this head or an earlier one; nil if nobody said any.
func fixSwitchOf(rec *quorum.Record, commands []quorum.Command) *quorum.FixSwitch {
	last := rec.FixSwitch
	for _, c := range commands {
		isOff, isOn := c.Verb == quorum.CommandFixOff, c.Verb == quorum.CommandFixOn
		if c.Refused == "" && (isOff || isOn) && (last == nil || !c.At.Before(last.At)) {
			last = &quorum.FixSwitch{Off: isOff, By: c.By, At: c.At.UTC()}
		}
	}
	return last
}
