package quorum

// What holds in every world: the promises of the package comment, each tried over arbitrary worlds.

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAPassIsEarned(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		if d.Verdict != Passed {
			return
		}
		approvals := 0
		for _, i := range w.voters() {
			b := d.Ballots[i]
			left := w.Ballots[i].Vote == Approve || w.Ballots[i].Then != nil && w.Ballots[i].Then.Vote == Approve
			switch {
			case b.Vote == Object, w.Ballots[i].Vote == Object:
				t.Fatalf("passed although %s objects", b.Reviewer)
			case b.Vote == Approve && !left:
				t.Fatalf("%s never approved", b.Reviewer)
			case b.Vote == Approve:
				approvals++
			case b.Required && len(d.StandIns) == 0:
				t.Fatalf("passed without %s, which is required", b.Reviewer)
			}
		}
		if approvals != d.Approvals {
			t.Fatalf("says %d approvals, has %d", d.Approvals, approvals)
		}
		if approvals < w.Policy.Need && len(d.StandIns) == 0 {
			t.Fatalf("passed with %d of %d", approvals, w.Policy.Need)
		}
		for _, by := range d.StandIns {
			entitled := slices.ContainsFunc(w.Facts.StandIns, func(s StandIn) bool { return s.Review == by.Review })
			if by.Login == "" || !entitled || d.Reason != ReasonStandIn || len(w.Facts.Against) > 0 {
				t.Fatalf("%+v stands in, because %s", by, d.Reason)
			}
		}
	})
}

func TestThePassRemembersWhatItRestsOn(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		if (d.Pass != nil) != (d.Verdict == Passed) {
			t.Fatalf("%s remembers %+v", d.Verdict, d.Pass)
		}
		if d.Pass == nil || d.Pass == w.Facts.Pass {
			return
		}
		var voters []string
		var basis []Basis
		for _, i := range w.voters() {
			voters = append(voters, w.Ballots[i].Reviewer)
			if b := d.Ballots[i]; b.Vote == Approve {
				basis = append(basis, Basis{b.Reviewer, b.Run, b.Attempt})
			}
		}
		want := &Pass{At: d.Pass.At, Policy: w.Facts.File.SHA, Base: w.Facts.Base, Need: w.Policy.Need, Voters: voters, Basis: basis, By: d.StandIns}
		if diff := cmp.Diff(want, d.Pass); diff != "" {
			t.Fatal(diff)
		}
		if d.Pass.At.After(w.Now) {
			t.Fatalf("passed at %v, which is yet to come", d.Pass.At)
		}
	})
}

// Sleeping until the wake misses nothing.
func TestQuietUntilWake(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		end := d.Wake
		if end.IsZero() {
			end = w.Now.Add(time.Hour)
		}
		if !end.After(w.Now) {
			t.Fatalf("wake %v is not after now %v", end, w.Now)
		}
		w = w.remembering(d)
		some := w.Now.Add(time.Duration(rapid.Int64Range(0, int64(end.Sub(w.Now))-1).Draw(t, "later")))
		for _, later := range []time.Time{some, end.Add(-1)} {
			if diff := cmp.Diff(d, w.at(later).decide()); diff != "" {
				t.Fatalf("changed before its wake:\n%s", diff)
			}
		}
		if !d.Wake.IsZero() && cmp.Equal(d, w.at(d.Wake).decide()) {
			t.Fatalf("nothing changes at the wake %v", d.Wake)
		}
	})
}

func TestItAlwaysEnds(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		if d.Verdict == Waiting && d.Reason != ReasonDraft && !d.Wake.After(w.Now) {
			t.Fatalf("waits at %v, wake %v", w.Now, d.Wake)
		}
		if d.Verdict == Waiting && d.Reason == ReasonDraft && !d.Wake.IsZero() {
			t.Fatalf("a draft wakes at %v", d.Wake)
		}
		if late := w.at(sec(2 * lastMoment)).decide(); late.Reason != ReasonDraft &&
			(late.Verdict == Waiting || late.Pending > 0 && late.Verdict != Passed || !late.Wake.IsZero()) {
			t.Fatalf("%s with %d pending long after every deadline", late.Verdict, late.Pending)
		}
	})
}

func TestTheClockNeverTakesAPassBack(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		if d.Verdict != Passed {
			return
		}
		later := w.Now.Add(time.Duration(rapid.IntRange(0, 2*lastMoment).Draw(t, "later")) * time.Second)
		if diff := cmp.Diff(d, w.remembering(d).at(later).decide()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Who looks late, and remembers nothing, finds the same pass: unless an objection whose attempt never ended came by
// the clock in between, which nobody may pass over who has shown no pass yet.
func TestAPassDoesNotDependOnWhoLooksWhen(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		if d.Verdict != Passed {
			return
		}
		later := w.at(w.Now.Add(time.Duration(rapid.IntRange(0, 2*lastMoment).Draw(t, "later")) * time.Second))
		e := later.decide()
		objected := slices.ContainsFunc(w.voters(), func(i int) bool { return w.Ballots[i].asOf(later.Now).Vote == Object })
		if d.Pass != w.Facts.Pass && objected {
			if e.Verdict == Passed {
				t.Fatal("passed over an objection")
			}
			return
		}
		if diff := cmp.Diff(d, e); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestOrderDoesNotMatter(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		places := make([]int, len(w.Ballots))
		for i := range places {
			places[i] = i
		}
		places = rapid.Permutation(places).Draw(t, "order")
		other := w
		other.Ballots, other.Policy.Reviewers = nil, nil
		for _, i := range places {
			other.Ballots = append(other.Ballots, w.Ballots[i])
			other.Policy.Reviewers = append(other.Policy.Reviewers, w.Policy.Reviewers[i])
		}
		if w.Facts.Pass != nil { // it was made in this order too
			pass := *w.Facts.Pass
			pass.Voters = nil
			for _, b := range other.Ballots {
				if slices.Contains(w.Facts.Pass.Voters, b.Reviewer) {
					pass.Voters = append(pass.Voters, b.Reviewer)
				}
			}
			other.Facts.Pass = &pass
		}
		e := other.decide()
		type view struct {
			Verdict                    Verdict
			Reason                     Reason
			Wake, GraceEnd             time.Time
			A, O, U, P                 int
			Reruns, Cancels, Requested int
		}
		see := func(d Decision) view {
			return view{
				d.Verdict,
				d.Reason,
				d.Wake,
				d.GraceEnd,
				d.Approvals,
				d.Objections,
				d.Unavailable,
				d.Pending,
				len(d.Effects.Reruns),
				len(d.Effects.Cancels),
				len(d.Effects.Requests),
			}
		}
		if diff := cmp.Diff(see(d), see(e)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestEffectsAreThoseThatAreDue(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		var want Effects
		acts := d.Verdict == Waiting && d.Reason != ReasonDraft || d.Verdict == Unverified && w.couldPass()
		for _, i := range w.voters() {
			b := w.Ballots[i]
			if !acts || b.Vote != Pending || !w.Now.Before(b.Deadline) {
				continue
			}
			for _, a := range b.Next {
				asked := func(o Action) bool { return o.Run == a.Run && o.Attempt == a.Attempt }
				switch {
				case a.Due.After(w.Now):
				case a.Kind == Rerun && slices.ContainsFunc(want.Reruns, asked),
					a.Kind == Cancel && slices.ContainsFunc(want.Cancels, asked): // reviewers share that run
				case a.Kind == Rerun:
					want.Reruns = append(want.Reruns, a)
				case a.Kind == Cancel:
					want.Cancels = append(want.Cancels, a)
				case a.Kind == Ask:
					want.Requests = append(want.Requests, a)
				}
			}
		}
		if !d.Effects.Empty() {
			want.Head, want.Base = w.Facts.Head, w.Facts.Base
		} else {
			d.Effects.Head, d.Effects.Base = "", ""
		}
		if diff := cmp.Diff(want, d.Effects); diff != "" {
			t.Fatalf("%s: %s", d.Verdict, diff)
		}
	})
}

// couldPass reports whether the policy would pass if everybody who may still answer approved now.
func (w world) couldPass() bool {
	w.Facts.Pass, w.Facts.StandIns = nil, nil
	for i, b := range w.Ballots {
		if b = b.asOf(w.Now); b.Vote == Pending || b.Vote == Unavailable && b.Open {
			b = verdict(b, Approve, w.Now)
		}
		w = w.with(i, b)
	}
	return w.decide().Verdict == Passed
}

// one draws a voter with such a vote; false if there is none.
func (w world) one(t *rapid.T, votes ...Vote) (int, bool) {
	places := slices.DeleteFunc(w.voters(), func(i int) bool { return !slices.Contains(votes, w.Ballots[i].Vote) })
	if len(places) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(places).Draw(t, "voter"), true
}

func TestAnotherApprovalNeverEndsAPass(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		i, found := w.one(t, Pending)
		if !found || w.decide().Verdict != Passed {
			return
		}
		if b := w.Ballots[i].asOf(w.Now); b.Vote == Approve {
			return // it has approved already, and of that a pass may tell
		}
		approved := w.with(i, verdict(w.Ballots[i], Approve, second(t, "cast", lastFact, int(w.Now.Sub(midnight)/time.Second))))
		if e := approved.decide(); e.Verdict != Passed {
			t.Fatalf("%s, once %s had approved too", e.Verdict, w.Ballots[i].Reviewer)
		}
	})
}

func TestAnObjectionNeverPasses(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		i, found := w.one(t, Pending, Approve, Unavailable)
		if !found {
			return
		}
		objected := w.with(i, verdict(w.Ballots[i], Object, second(t, "cast", 0, lastFact)))
		for _, w := range []world{objected, objected.remembering(w.decide())} {
			if d := w.decide(); d.Verdict == Passed {
				t.Fatalf("passed over the objection of %s", w.Ballots[i].Reviewer)
			}
		}
	})
}

func TestALostApprovalNeverPasses(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		i, found := w.one(t, Approve)
		if !found {
			return
		}
		b := w.Ballots[i]
		b.Vote, b.At, b.Outcome, b.Reason = Unavailable, time.Time{}, Withdrawn, ReasonDismissed
		lost := w.with(i, b)
		e := lost.decide()
		byPerson := len(e.StandIns) > 0 // who need not wait any more for a retry that cannot help now
		if d.Verdict != Passed && e.Verdict == Passed && !byPerson {
			t.Fatalf("passed because %s does not approve", b.Reviewer)
		}
		forgotten := lost
		forgotten.Facts.Pass = nil
		rests := d.Verdict == Passed && slices.Contains(d.Pass.Basis, w.Ballots[i].passBasis())
		if rests && forgotten.decide().Verdict != Passed && lost.remembering(d).decide().Verdict == Passed {
			t.Fatal("passed on an approval that is gone")
		}
	})
}

// A ballot that GitHub's facts have settled is shown as it is; a pending one keeps its reviewer and its place.
func TestFactsComeBeforeTheClock(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		if d.Ballots == nil {
			return
		}
		for i, was := range w.Ballots {
			is := d.Ballots[i]
			if is.Reviewer != was.Reviewer {
				t.Fatalf("%s stands where %s should", is.Reviewer, was.Reviewer)
			}
			if was.Vote != Pending && !cmp.Equal(was, is) {
				t.Fatal(cmp.Diff(was, is))
			}
		}
	})
}

func TestEveryVoterIsCountedOnce(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		counted := d.Approvals + d.Objections + d.Unavailable + d.Pending
		if d.Ballots != nil && counted != len(w.voters()) || d.Ballots == nil && counted != 0 {
			t.Fatalf("%d votes of %d voters", counted, len(w.voters()))
		}
		without := w
		without.Ballots = slices.DeleteFunc(slices.Clone(w.Ballots), func(b Ballot) bool { return b.Shadow || b.Retired })
		e := without.decide()
		if d.Verdict != e.Verdict || d.Reason != e.Reason || d.Approvals != e.Approvals {
			t.Fatalf("%s (%s) with its shadows, %s (%s) without", d.Verdict, d.Reason, e.Verdict, e.Reason)
		}
	})
}

func TestEndedExactlyWhereNothingIsDecided(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		off := w.Policy.Mode == Off && w.Facts.File.State == FileValid
		if ended := w.Facts.Closed || w.Facts.File.State == FileMissing || off; ended != (d.Verdict == Ended) {
			t.Fatalf("%s: %+v", d.Verdict, w.Facts)
		}
		if d.Verdict == Ended && (d.Ballots != nil || !d.Effects.Empty() || !d.Wake.IsZero()) {
			t.Fatalf("ended, and yet: %+v", d)
		}
	})
}

// The caller's ballots and facts are its own.
func TestNothingGivenIsChanged(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		before := w
		before.Ballots = slices.Clone(w.Ballots)
		before.Facts.StandIns = slices.Clone(w.Facts.StandIns)
		w.decide()
		if diff := cmp.Diff(before, w); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestTheSecondImplementationAgrees(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		got := opinion{Verdict: d.Verdict, Reason: d.Reason, Wake: d.Wake, Counts: [4]int{d.Approvals, d.Objections, d.Unavailable, d.Pending}}
		if d.Pass != nil {
			got.PassedAt = d.Pass.At
		}
		if diff := cmp.Diff(prose(w), got); diff != "" {
			t.Fatalf("the prose (-) and Decide (+) differ: %s", diff)
		}
	})
}
