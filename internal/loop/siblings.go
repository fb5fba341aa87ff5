package loop

// Pull requests that share a head share its check. A look at one of them looks at those that speak for the head, decides
// about each alone, and writes what comes of them together: the same, whichever of them it began with.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A headLooks is what a look shows of the open pull requests of a head.
type headLooks struct {
	looks     []*Look // the one that was asked for first
	open      []quorum.PullRequest
	spokesmen []int   // numbers of those of looks that may speak
	gone      []*Look // at those that were closed on the head, as if they were open: what was objected there stands
	checks    []report.Check
}

func (f *headLooks) begin() *Look { return f.looks[0] }

// isAlone reports whether there is nothing to be combined: the pull request that was asked for has its check alone.
func (f *headLooks) isAlone() bool { return len(f.open) < 2 && len(f.looks) == 1 }

func (f *headLooks) lookAt(pr quorum.PR) *Look {
	i := slices.IndexFunc(f.looks, func(l *Look) bool { return l.Snapshot.PR.Number == pr.Number })
	return f.looks[max(i, 0)]
}

// siblingMovedError is a sibling that changed while those of its head were looked at.
type siblingMovedError struct{ pr quorum.PR }

func (e siblingMovedError) Error() string {
	return fmt.Sprintf("observe %s: it moved while it was read", e.pr)
}

// Temporary and LookAgain say that another look may help, at once.
func (siblingMovedError) Temporary() bool { return true }
func (siblingMovedError) LookAgain() bool { return true }

// observeSiblings observes those with which the pull request of a look shares its head, as far as they speak for it.
func (r *Reconciler) observeSiblings(ctx context.Context, begin Look) (*headLooks, error) {
	f := &headLooks{looks: []*Look{&begin}}
	if begin.Snapshot.PR.Closed {
		return f, r.observeHeirs(ctx, f)
	}
	f.open = append(slices.Clone(begin.Snapshot.Siblings), begin.Snapshot.PR)
	isHeard := len(quorum.UnheardOf(&begin.Snapshot)) == 0 && len(quorum.HeldNow(&begin.Snapshot)) == len(begin.Snapshot.Held)
	if len(f.open) == 1 && isHeard || begin.Decision.Verdict == quorum.Ended || begin.Snapshot.File.State != quorum.FileValid {
		return f, nil
	}
	return f, r.observeSpeakers(ctx, f, &begin)
}

// observeHeirs observes the pull requests that still have the head of a closed one which shared its check: what that
// says may have hung on it.
func (r *Reconciler) observeHeirs(ctx context.Context, f *headLooks) error {
	closed := f.begin().Snapshot.PR
	for _, s := range f.begin().Snapshot.Siblings[:min(len(f.begin().Snapshot.Siblings), quorum.MaxSiblings)] {
		heir, err := r.observeWith(ctx, s.PR, r.Forge.ObserveSibling)
		if err != nil {
			return err
		}
		if !heir.Snapshot.PR.ClosedAt.IsZero() || heir.Snapshot.PR.Head != closed.Head || heir.Decision.Verdict == quorum.Ended {
			continue
		}
		f.looks = append(f.looks, &heir)
		f.open = append(slices.Clone(heir.Snapshot.Siblings), heir.Snapshot.PR)
		f.open = slices.DeleteFunc(f.open, func(p quorum.PullRequest) bool { return p.Number == closed.Number })
		return r.observeSpeakers(ctx, f, &heir)
	}
	return nil
}

// observeSpeakers observes those that speak, and others while none of those has the plain check. Those that would speak for
// the base of the pull request that was asked for are among them, for it may have a check of its own. Of many those are left
// out of which our checks on the head tell that they have another one.
func (r *Reconciler) observeSpeakers(ctx context.Context, f *headLooks, from *Look) error {
	open, hasPlain := f.open, false
	if len(open) > quorum.MaxSiblings {
		open = f.pullsWithCheck(from, report.CheckName(from.Policy, true, ""))
	}
	for len(open) > 0 && !hasPlain {
		speakers := quorum.SpeakersOf(open)
		isTheirs := from.Snapshot.Gated && (len(f.spokesmen) == 0 || hasNumber(speakers, from.Snapshot.PR.Number))
		if isTooMany := len(f.spokesmen)+len(speakers) > quorum.MaxSiblings; isTooMany && isTheirs {
			f.refuseCrowd(from, open)
			return nil
		} else if isTooMany { // it is no matter of the one that was asked for
			break
		}
		if err := r.observeAll(ctx, f, speakers); err != nil {
			return err
		}
		for _, s := range speakers {
			hasPlain = hasPlain || f.lookAt(s.PR).Snapshot.Gated
		}
		open = slices.DeleteFunc(slices.Clone(open), func(p quorum.PullRequest) bool { return hasNumber(speakers, p.Number) })
	}
	if !from.Snapshot.Gated {
		base := slices.DeleteFunc(slices.Clone(f.open), func(p quorum.PullRequest) bool { return p.BaseRef != from.Snapshot.PR.BaseRef })
		speakers := quorum.SpeakersOf(base)
		if len(speakers) > quorum.MaxSiblings {
			f.refuseCrowd(from, base)
			return nil
		}
		if err := r.observeAll(ctx, f, speakers); err != nil {
			return err
		}
	}
	gone := quorum.UnheardOf(&from.Snapshot)
	switch closed := f.begin().Snapshot.PR; { // each of many that are closed hears itself, whatever was heard before
	case closed.Merged:
		gone = nil
	case closed.Closed:
		gone = []quorum.PullRequest{closed}
	}
	for _, p := range gone {
		if err := r.observeSibling(ctx, f, p); err != nil {
			return err
		}
	}
	f.shareSaid()
	return nil
}

// pullsWithCheck returns the open pull requests of the head that may have the check of that name.
func (f *headLooks) pullsWithCheck(from *Look, name string) []quorum.PullRequest {
	return slices.DeleteFunc(slices.Clone(f.open), func(p quorum.PullRequest) bool {
		if p.Number == from.Snapshot.PR.Number {
			return from.checkName() != name
		}
		return quorum.HasOtherCheck(&p, name, from.Snapshot.Held)
	})
}

func hasNumber(all []quorum.PullRequest, number int) bool {
	return slices.ContainsFunc(all, func(p quorum.PullRequest) bool { return p.Number == number })
}

// observeAll observes those of the pull requests that no look shows yet.
func (r *Reconciler) observeAll(ctx context.Context, f *headLooks, pulls []quorum.PullRequest) error {
	for _, s := range pulls {
		if slices.Contains(f.spokesmen, s.Number) {
			continue
		}
		if err := r.observeSibling(ctx, f, s); err != nil {
			return err
		}
		f.spokesmen = append(f.spokesmen, s.Number)
	}
	return nil
}

// refuseCrowd has nothing decided: so many pull requests have the check that looking at all of them would cost too much.
func (f *headLooks) refuseCrowd(from *Look, crowd []quorum.PullRequest) {
	f.looks, f.spokesmen, f.open = f.looks[:1], nil, nil
	if from != f.begin() { // it has the head of a closed one
		f.looks = append(f.looks, from)
	}
	for _, p := range crowd {
		if p.Number != from.Snapshot.PR.Number {
			from.crowd = append(from.crowd, p.Number)
		}
	}
	from.judgeAndDecide()
}

// observeSibling observes a pull request of the head, if there is no look at it yet.
func (r *Reconciler) observeSibling(ctx context.Context, f *headLooks, s quorum.PullRequest) error {
	if !s.Closed && slices.ContainsFunc(f.looks, func(l *Look) bool { return l.Snapshot.PR.Number == s.Number }) {
		return nil
	}
	l, err := r.observeWith(ctx, s.PR, r.Forge.ObserveSibling)
	var absent interface{ NotFound() bool }
	switch {
	case s.Closed && errors.As(err, &absent) && absent.NotFound():
		f.gone = append(f.gone, f.begin().unreadSibling(s))
		return nil
	case err != nil:
		return err
	}
	p := l.Snapshot.PR
	isMoved := p.ClosedAt.IsZero() == s.Closed || p.Head != f.begin().Snapshot.PR.Head
	switch {
	case isMoved || p.BaseRef != s.BaseRef || p.Fork != s.Fork || p.Draft != s.Draft:
		return siblingMovedError{s.PR}
	case s.Closed:
		f.gone = append(f.gone, &l)
	default:
		f.looks = append(f.looks, &l)
	}
	return nil
}

// unreadSibling stands for a look at a closed pull request that cannot be read: what our checks hold of it stands.
func (l *Look) unreadSibling(s quorum.PullRequest) *Look {
	rec := quorum.RecordOf(&s, l.Snapshot.Held).WithoutForeign()
	rec.Head, rec.Pull, rec.HeardClosed = s.Head, s.Number, []int{s.Number}
	return &Look{Snapshot: quorum.Snapshot{PR: s, Record: rec}}
}

// shareSaid tells each look what was objected to the commit in the others, and accepted there, which their records do not
// know yet, and what reviewers said below its twins.
func (f *headLooks) shareSaid() {
	var fresh []quorum.HeldRecord
	all := slices.Concat(f.looks, f.gone)
	for _, l := range all {
		if l.Snapshot.PR.Closed {
			continue
		}
		var alone []quorum.Ballot
		if len(all) > 1 {
			s := l.Snapshot
			s.Record = s.Record.WithoutForeign()
			alone = evidence.Judge(l.Policy, s)
		}
		l.Snapshot.Record = l.Snapshot.Record.WithEnded(alone)
		rec := evidence.Remember(l.Policy, l.Snapshot, l.Decision, l.At)
		if rec = rec.WithoutForeign().WithEnded(alone); !l.Snapshot.PR.ClosedAt.IsZero() {
			rec.Commands, rec.HeardClosed = nil, []int{rec.Pull}
			l.Snapshot.Record = rec
		}
		fresh = append(fresh, quorum.HeldRecord{Record: rec})
	}
	for _, l := range f.looks {
		number := l.Snapshot.PR.Number
		held := []quorum.HeldRecord{{Record: l.Snapshot.Record.WithoutForeign()}}
		held[0].Pull = number
		for _, h := range slices.Concat(fresh, quorum.HeldNow(&l.Snapshot)) {
			if h.Pull != 0 && h.Pull != number {
				held = append(held, h)
			}
		}
		rec, known := quorum.RecordOf(&l.Snapshot.PR, held), l.Snapshot.Record
		if reflect.DeepEqual(rec.Objections, known.Objections) && len(rec.Commands) == len(known.Commands) {
			continue
		}
		if known.Head != l.Snapshot.PR.Head { // it had none
			known = quorum.Record{Head: l.Snapshot.PR.Head}
		}
		known.Objections, known.Commands = rec.Objections, rec.Commands
		l.Snapshot.Record = known
		l.judgeAndDecide()
	}
	f.decideAnew()
	f.leaveOneFix()
}

// decideAnew decides about each look by what was said below its twins, too, as it was judged last.
func (f *headLooks) decideAnew() {
	for _, n := range f.spokesmen {
		l := f.lookAt(quorum.PR{Number: n})
		l.twins = nil
		for _, m := range f.spokesmen {
			if o := f.lookAt(quorum.PR{Number: m}); l.Snapshot.PR.IsTwinOf(&o.Snapshot.PR) {
				l.twins = append(l.twins, quorum.Twin{Number: m, Ballots: o.ballots})
			}
		}
		l.decide()
	}
}

// effects are those that are due, of each pull request that was looked at.
func (f *headLooks) effects() (all []quorum.Effects) {
	for i, l := range f.looks {
		if e := l.Decision.Effects; !e.Empty() {
			if i > 0 {
				e.PR = l.Snapshot.PR.PR
			}
			all = append(all, e)
		}
	}
	return all
}

// takeShared takes the effects on runs out of e that were carried out already for another pull request, and returns what
// became of them.
func takeShared(e *quorum.Effects, known map[quorum.Action]quorum.Result) (done []quorum.Result) {
	take := func(all []quorum.Action) (left []quorum.Action) {
		for _, a := range all {
			if result, isKnown := known[sharedAction(a)]; isKnown {
				result.Action = a
				done = append(done, result)
			} else {
				left = append(left, a)
			}
		}
		return left
	}
	e.Cancels, e.Reruns = take(e.Cancels), take(e.Reruns)
	return done
}

// sharedAction is what an effect on a run is, whoever's it is.
func sharedAction(a quorum.Action) quorum.Action {
	if a.Kind == quorum.Ask {
		return a
	}
	return quorum.Action{Kind: a.Kind, Run: a.Run, Attempt: a.Attempt}
}

// hasPassed reports whether a look passed, or one that had not before.
func (f *headLooks) hasPassed(anew bool) bool {
	return slices.ContainsFunc(f.looks, func(l *Look) bool { return l.Decision.Verdict == quorum.Passed && !(anew && l.hadPass) })
}

// wake is when the decision about any of them changes by the clock.
func (f *headLooks) wake() (at time.Time) {
	for _, l := range f.looks {
		at = earlierOf(at, l.Decision.Wake)
	}
	return at
}

// earlierOf is the earlier of two moments, of which either may be none.
func earlierOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// render renders the checks of the head.
func (f *headLooks) render() {
	f.checks = nil
	for _, l := range f.looks {
		l.remember()
	}
	f.decideAnew()
	begin := f.begin()
	if f.isAlone() || begin.Snapshot.PR.Closed {
		begin.Check = f.renderAlone(begin)
		f.checks = append(f.checks, begin.Check)
	}
	if f.isAlone() || len(f.spokesmen) == 0 {
		for _, heir := range f.looks[1:] { // of a crowd
			if f.stands(heir.checkName()) {
				f.checks = append(f.checks, f.renderAlone(heir))
			}
		}
		return
	}
	var judged []quorum.Sibling
	for _, n := range f.spokesmen {
		l := f.lookAt(quorum.PR{Number: n})
		judged = append(judged, quorum.Sibling{
			PR: l.Snapshot.PR, Check: l.checkName(), Gated: l.Snapshot.Gated,
			Decision: l.Decision, Title: report.TitleOf(l.Policy, l.Decision),
		})
	}
	shared := quorum.Shared(judged, f.open, begin.Snapshot.Held)
	for _, s := range shared {
		if s.Name != begin.checkName() && !f.stands(s.Name) { // who has it writes it first: two that look at once would make two
			continue
		}
		c, d := f.renderShared(s, judged)
		c.Others, c.OthersKnown = f.otherNames(begin, shared), true
		if !begin.Snapshot.PR.Closed && s.Name == begin.checkName() {
			if begin.shared = &d; s.Lead != begin.Snapshot.PR.Number { // what it left behind itself
				own := report.Render(begin.Policy, begin.Snapshot, begin.Decision, begin.Snapshot.Record, begin.places)
				c.Retire = append(c.Retire, own.Retire...)
			}
			begin.Check = c
		}
		f.checks = append(f.checks, c)
	}
}

// renderAlone renders the check of a look that nothing is combined with.
func (f *headLooks) renderAlone(l *Look) report.Check {
	c := report.Render(l.Policy, l.Snapshot, l.Decision, f.recordWith(l), l.places)
	c.Others, c.OthersKnown = f.otherNames(l, nil), f.isOpenKnown(l)
	return c
}

// stands reports whether a check of ours of that name stands on the head.
func (f *headLooks) stands(name string) bool {
	return slices.ContainsFunc(f.begin().Snapshot.Held, func(h quorum.HeldRecord) bool { return h.Check == name })
}

// checkName is the name of the check that the pull request of a look has.
func (l *Look) checkName() string {
	return report.CheckName(l.Policy, l.Snapshot.Gated, l.Snapshot.PR.BaseRef)
}

// isOpenKnown reports whether a look knows all open pull requests of the head.
func (f *headLooks) isOpenKnown(l *Look) bool {
	return l.Snapshot.File.State == quorum.FileValid && len(l.crowd) == 0 && l.Decision.Verdict != quorum.Ended
}

// otherNames are the names under which open pull requests of the head may have a check.
func (f *headLooks) otherNames(l *Look, shared []quorum.SharedCheck) (names []string) {
	for _, s := range shared {
		names = append(names, s.Name)
	}
	for _, p := range f.open {
		if p.Number != l.Snapshot.PR.Number {
			names = append(names, report.CheckName(l.Policy, false, p.BaseRef))
		}
	}
	return names
}

// renderShared renders a check that pull requests share, and returns the decision that it shows.
func (f *headLooks) renderShared(s quorum.SharedCheck, judged []quorum.Sibling) (report.Check, quorum.Decision) {
	lead := f.lookAt(quorum.PR{Number: s.Lead})
	d, threads := lead.Decision, false
	if len(s.Pulls) > 1 {
		d.Shared, d.MoreShared = s.Pulls, s.More
	}
	for _, j := range judged {
		if l := f.lookAt(j.PR.PR); j.Check == s.Name {
			d.Wake = earlierOf(d.Wake, l.Decision.Wake)
			threads = threads || slices.ContainsFunc(l.Decision.Ballots, func(b quorum.Ballot) bool { return b.Threads })
		}
	}
	c := report.Render(lead.Policy, lead.Snapshot, d, f.recordWith(lead), lead.places)
	c.Threads = threads
	return c, d
}

// recordWith is the record of a look with those of the others that have its check.
func (f *headLooks) recordWith(l *Look) quorum.Record {
	var here, held []quorum.Record
	for _, o := range f.looks {
		if o != l && !o.Snapshot.PR.Closed && o.checkName() == l.checkName() {
			here = append(here, o.Snapshot.Record)
		}
	}
	own, areKnown := l.Snapshot.Record, f.isOpenKnown(l)
	for _, g := range f.gone {
		if held = append(held, g.Snapshot.Record); g.Snapshot.PR.Number == l.Snapshot.PR.Number {
			own = g.Snapshot.Record
		}
	}
	for _, h := range l.Snapshot.Held {
		isOld := slices.ContainsFunc(f.gone, func(g *Look) bool { return g.Snapshot.PR.Number == h.Pull })
		if h.Check == l.checkName() && !isOld {
			held = append(held, h.Record)
		}
	}
	if len(l.crowd) > 0 { // it stays as it is, whoever is looked at
		own = quorum.Record{Head: l.Snapshot.PR.Head}
		if len(held) > 0 {
			own = held[0]
		}
	}
	return own.WithSiblings(here, held, func(number int) bool {
		return !areKnown || slices.ContainsFunc(f.open, func(p quorum.PullRequest) bool { return p.Number == number })
	})
}

// decisionShown is what the check of a look shows.
func (l *Look) decisionShown() quorum.Decision {
	if l.shared != nil {
		return *l.shared
	}
	return l.Decision
}
