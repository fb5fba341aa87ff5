package quorum

// What holds in every world: the promises of the package comment, each tried over arbitrary worlds.

import (
	"slices"
	"strings"
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
		var approving []int
		at, w := secondOf(d.Pass.At), withoutUntaken(w, secondOf(w.Now))
		for _, i := range w.votersAt(at) {
			b := d.Ballots[i]
			left := w.Ballots[i].Vote == Approve || w.Ballots[i].Then != nil && w.Ballots[i].Then.Vote == Approve
			switch {
			case b.Vote == Object, w.Ballots[i].Vote == Object:
				t.Fatalf("passed although %s objects", b.Reviewer)
			case b.Vote == Approve && !left:
				t.Fatalf("%s never approved", b.Reviewer)
			case b.Vote == Approve:
				approving = append(approving, i)
			case b.Required && len(d.StandIns) == 0 && !w.asksNobody():
				t.Fatalf("passed without %s, which is required", b.Reviewer)
			}
		}
		if families := w.families(w.seated(approving, at)); families != d.Approvals {
			t.Fatalf("says %d approvals, has %d", d.Approvals, families)
		}
		if d.Approvals < w.need() && len(d.StandIns) == 0 {
			t.Fatalf("passed with %d of %d", d.Approvals, w.need())
		}
		if (d.Reason == ReasonNoReview) != (w.asksNobody() && len(d.StandIns) == 0) || d.Need != w.need() {
			t.Fatalf("passed with need %d because %s", d.Need, d.Reason)
		}
	})
}

// One approval by a person fills one place: that of the stand-in, or one of those that the policy asks of people. A
// vouch is none: it takes the place of those only where nobody else may write.
func TestAPersonFillsOnePlace(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		isMet := areMet(w.Policy.People, logins(d.People)...)
		if slices.ContainsFunc(d.People, func(s StandIn) bool { return s.Vouch }) {
			if isMet = strings.EqualFold(d.People[0].Login, w.Facts.OnlyWriter); !isMet || len(d.People) > 1 {
				t.Fatalf("%+v are people of whom %q alone may write", d.People, w.Facts.OnlyWriter)
			}
		}
		if d.Verdict == Passed && !isMet || d.Reason == ReasonPeople && (d.Verdict != Unverified || isMet) {
			t.Fatalf("%s (%s) with %v of %+v", d.Verdict, d.Reason, logins(d.People), w.Policy.People)
		}
		places := make(map[int64]bool)
		for _, person := range slices.Concat(d.StandIns, d.People) {
			entitled := slices.ContainsFunc(w.Facts.StandIns, func(s StandIn) bool { return s.Review == person.Review })
			if person.Login == "" || !entitled || places[person.Review] || w.peopleObject() {
				t.Fatalf("%+v is one of %+v and %+v, because %s", person, d.StandIns, d.People, d.Reason)
			}
			places[person.Review] = true
		}
		standsIn := d.Verdict == Passed && d.Reason == ReasonStandIn || d.Verdict == Unverified && d.Reason == ReasonPeople
		if len(d.StandIns) > 0 && (!standsIn || len(w.Facts.Against) > 0) {
			t.Fatalf("%+v stand in, because %s", d.StandIns, d.Reason)
		}
	})
}

// A request for changes by a person who could stand in ends what rests on people, and nothing else.
func TestAPersonsNoIsHeardWherePeopleAreAsked(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		w.Facts.Against = nil
		d := w.decide()
		w.Facts.Against = []string{"carol"}
		e := w.decide()
		switch {
		case w.peopleObject():
			if e.Verdict == Passed || e.Verdict == Blocked && !e.AgainstVote {
				t.Fatalf("%s, although carol requests changes", e.Verdict)
			}
		case e.Verdict != d.Verdict && len(d.StandIns) == 0:
			t.Fatalf("%s, and %s once carol requests changes", d.Verdict, e.Verdict)
		}
		if e.Verdict == Passed && len(e.StandIns) > 0 {
			t.Fatal("a person stands in against another")
		}
	})
}

// Whatever labels or size add to a policy, what did not pass does not pass for it; but for a person who stands in, and
// need not wait any more for a retry that cannot help now.
func TestAnAddedRuleNeverPasses(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		w.Facts.Pass = nil
		added := Lane{Name: "large"}
		rule, people, grace := drawRule(t, len(w.Ballots)), drawPeople(t), time.Duration(lastFact)*time.Second
		if rapid.Bool().Draw(t, "a rule") {
			added.Need = &rule
		}
		if rapid.Bool().Draw(t, "other people") {
			added.People = &people
		}
		if rapid.Bool().Draw(t, "another grace") {
			added.Grace = &grace
		}
		d, e := w.decide(), w.policy(func(p *Policy) { top := *p; *p = p.raised(&added, &top) }).decide()
		if e.Need < d.Need || !areMetWhere(d.MissingPeople, e.MissingPeople) && d.Verdict == e.Verdict && len(d.StandIns)+len(e.StandIns) == 0 {
			t.Fatalf("needs %d and %+v, and with more asked %d and %+v", d.Need, d.MissingPeople, e.Need, e.MissingPeople)
		}
		if e.Verdict == Passed && d.Verdict != Passed && len(e.StandIns) == 0 {
			t.Fatalf("%s (%s), and passed once more is asked", d.Verdict, d.Reason)
		}
	})
}

// Whom the lane excuses is as good as not there, until it objects or seems to.
func TestAnExcusedVoteIsNone(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		excused := func(b Ballot) bool { return b.Excused != "" && b.Vote != Object && !isDoubtful(b) }
		without := w
		without.Ballots = slices.DeleteFunc(slices.Clone(w.Ballots), excused)
		d, e := w.decide(), without.decide()
		if d.Verdict != e.Verdict || d.Reason != e.Reason || d.Need != e.Need || d.Approvals != e.Approvals || d.Pending != e.Pending {
			t.Fatalf("%s (%s) with those who are excused, %s (%s) without", d.Verdict, d.Reason, e.Verdict, e.Reason)
		}
		i, found := w.pick(t, func(b Ballot) bool { return !b.Shadow && !b.Retired })
		if !found {
			return
		}
		doubt := w.Ballots[i]
		doubt.Excused, doubt.Vote, doubt.Deadline, doubt.Late, doubt.Planned = ReasonWhen, Pending, w.Now.Add(time.Second), ReasonLate, false
		doubt.Then = then(doubt, Object)
		for _, w := range []world{w.with(i, doubt), w.remembering(d).with(i, doubt), w.with(i, doubt).at(doubt.Deadline)} {
			if d := w.decide(); d.Verdict == Passed {
				t.Fatalf("passed although %s seems to object", doubt.Reviewer)
			}
		}
	})
}

// isDoubtful reports whether a reviewer at work would object if it said no more.
func isDoubtful(b Ballot) bool { return b.Vote == Pending && b.Then != nil && b.Then.Vote == Object }

func TestThePassRemembersWhatItRestsOn(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		if (d.Pass != nil) != (d.Verdict == Passed) {
			t.Fatalf("%s remembers %+v", d.Verdict, d.Pass)
		}
		if d.Pass == nil || d.Pass == w.Facts.Pass {
			return
		}
		voters := []string{}
		var basis []Basis
		for _, i := range withoutUntaken(w, secondOf(w.Now)).votersAt(secondOf(d.Pass.At)) {
			voters = append(voters, w.Ballots[i].Reviewer)
			if b := d.Ballots[i]; b.Vote == Approve {
				basis = append(basis, Basis{b.Reviewer, b.Run, b.Attempt})
			}
		}
		want := &Pass{
			At: d.Pass.At, Policy: w.Facts.File.SHA, Base: w.Facts.Base, Need: w.need(), Voters: voters, Basis: basis, By: d.StandIns, People: d.People,
			Lane: w.Policy.Lane.Name,
		}
		if diff := cmp.Diff(want, d.Pass); diff != "" {
			t.Fatal(diff)
		}
		if d.Pass.At.After(w.Now) {
			t.Fatalf("passed at %v, which is yet to come", d.Pass.At)
		}
	})
}

// Of a reviewer and its reserve one has their seat, and the reserve only once the other one will not vote: it never
// adds a voter, and sheds no objection.
func TestASeatHasOneVote(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		if d.Ballots == nil || d.Reason == ReasonDraft {
			return
		}
		for i, b := range d.Ballots {
			for _, k := range w.reservesOf(w.Ballots[i]) {
				r := d.Ballots[k]
				switch hasSeat := r.Voter() && r.Excused == "" && b.Excused == ReasonReserve; {
				case b.Excused == "" && r.Excused == "":
					t.Fatalf("%s and %s both have their seat", b.Reviewer, r.Reviewer)
				case hasSeat && b.Vote == Approve && d.Verdict == Passed && b.At.After(d.Pass.At): // the pass stands over it
				case hasSeat && (b.Vote == Approve || b.Vote == Object || b.Again):
					t.Fatalf("%s has the seat of %s, who votes", r.Reviewer, b.Reviewer)
				}
				if d.Verdict == Passed && (b.Vote == Object || r.Vote == Object) && b.MayVote() && r.MayVote() {
					t.Fatalf("passed over an objection of %s or %s", b.Reviewer, r.Reviewer)
				}
			}
		}
		alone := w // what a reserve adds is its own answers alone
		alone.Ballots = slices.DeleteFunc(slices.Clone(w.Ballots), func(b Ballot) bool { return b.InsteadOf != "" })
		if e := alone.decide(); d.Need != e.Need {
			t.Fatalf("%d must approve, %d without its reserves", d.Need, e.Need)
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
			if diff := diffDecisions(d, w.at(later).decide()); diff != "" {
				t.Fatalf("changed before its wake:\n%s", diff)
			}
		}
		if !d.Wake.IsZero() && diffDecisions(d, w.at(d.Wake).decide()) == "" {
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
		late := w.at(sec(2 * lastMoment).Add(FixPatience + FixRepeat)).decide()
		if late.Reason != ReasonDraft && (late.Verdict == Waiting || late.Pending > 0 && late.Verdict != Passed || !late.Wake.IsZero()) {
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
		if diff := diffDecisions(d, w.remembering(d).at(later).decide()); diff != "" {
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
		objected := slices.ContainsFunc(w.Ballots, func(b Ballot) bool { return b.MayVote() && b.asOf(later.Now).Vote == Object })
		if d.Pass != w.Facts.Pass && objected {
			if e.Verdict == Passed {
				t.Fatal("passed over an objection")
			}
			return
		}
		if w.hasReserves() && e.Verdict == Passed {
			return // who has a seat later may have approved earlier, or not: only the moment differs
		}
		getsSeat := func(b Ballot) bool {
			return b.InsteadOf != "" && b.Voter() && b.Vote == Pending && b.Since.After(w.Now)
		}
		if e.Verdict == Waiting && slices.ContainsFunc(e.Ballots, getsSeat) {
			return // whose seat it is now could add nothing to a pass, for its family had approved: its reserve can
		}
		if diff := diffDecisions(d, e); diff != "" {
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

// What is due goes out while it can help; what people asked for, and the answers to it, whatever the verdict.
func TestEffectsAreThoseThatAreDue(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		if w.mergesSeats() {
			return
		}
		w.Policy.Escalate, w.Policy.Fix = Escalation{}, FixPolicy{} // see TestPeopleAreAskedOnce and TestAFixIsEarned
		d := w.decide()
		if d.Verdict == Ended || d.Reason == ReasonBroken || d.Reason == ReasonSiblings {
			if !d.Effects.Empty() {
				t.Fatalf("%s, and yet: %+v", d.Reason, d.Effects)
			}
			return
		}
		var want Effects
		acts := d.Verdict == Waiting && d.Reason != ReasonDraft || d.Verdict == Unverified && d.Reason != ReasonPeople && w.couldPass()
		for _, i := range w.votersAt(secondOf(w.Now)) {
			b := w.Ballots[i]
			if !acts || b.Vote != Pending || !w.Now.Before(b.Deadline) {
				continue
			}
			for _, a := range b.Next {
				switch {
				case a.Command != 0, a.Due.After(w.Now):
				case a.Kind == Rerun && slices.ContainsFunc(want.Reruns, isOf(a)),
					a.Kind == Cancel && slices.ContainsFunc(want.Cancels, isOf(a)): // reviewers share that run
				case a.Kind == Rerun:
					want.Reruns = append(want.Reruns, a)
				case a.Kind == Cancel:
					want.Cancels = append(want.Cancels, a)
				case a.Kind == Ask:
					want.Requests = append(want.Requests, a)
				}
			}
		}
		for _, b := range w.Ballots { // a shadow's too
			for _, a := range b.Next {
				same := slices.IndexFunc(want.Reruns, isOf(a))
				switch {
				case a.Command == 0:
				case a.Kind == Ask:
					want.Requests = append(want.Requests, a)
				case same < 0:
					want.Reruns = append(want.Reruns, a)
				case want.Reruns[same].Command == 0: // one run for both
					want.Reruns[same] = a
				}
			}
		}
		want.Replies = w.Facts.Replies
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

// isOf reports of an action whether it is about the same attempt as a.
func isOf(a Action) func(o Action) bool {
	return func(o Action) bool { return o.Run == a.Run && o.Attempt == a.Attempt }
}

// couldPass reports whether the policy would pass if everybody who may still answer approved now.
func (w world) couldPass() bool {
	w.Facts.Pass, w.Facts.StandIns, w.Policy.People = nil, nil, nil
	for i, b := range w.Ballots {
		if b.Excused != "" {
			b.Vote = Unavailable // whatever it seems to say
			b.Open = false
		}
		if b = b.asOf(w.Now); b.Vote == Pending || b.Vote == Unavailable && b.Open {
			b = verdict(b, Approve, w.Now)
		}
		w = w.with(i, b)
	}
	return w.decide().Verdict == Passed
}

// one draws a voter with such a vote; false if there is none.
func (w world) one(t *rapid.T, votes ...Vote) (int, bool) {
	voters := w.voters()
	return w.pick(t, func(b Ballot) bool {
		isVoter := slices.ContainsFunc(voters, func(i int) bool { return w.Ballots[i].Reviewer == b.Reviewer })
		return isVoter && slices.Contains(votes, b.Vote)
	})
}

// pick draws one of the ballots that fit; false if there is none.
func (w world) pick(t *rapid.T, fits func(b Ballot) bool) (int, bool) {
	var places []int
	for i, b := range w.Ballots {
		if fits(b) {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(places).Draw(t, "ballot"), true
}

func TestAnotherApprovalNeverEndsAPass(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		i, found := w.one(t, Pending)
		if !found || w.decide().Verdict != Passed || w.hasReserves() {
			return // an approval that gives a seat back is newer than the one that it replaces
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
		i, found := w.pick(t, func(b Ballot) bool { return !b.Shadow && !b.Retired }) // of one that is excused it is one, too
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
		if !found || w.mergesSeats() || w.hasOlderReserve(i) {
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
		rests := d.Verdict == Passed && slices.Contains(d.Pass.Basis, Basis{b.Reviewer, w.Ballots[i].Run, w.Ballots[i].Attempt})
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
			if isOfSeat := was.InsteadOf != "" || len(w.reservesOf(was)) > 0; isOfSeat { // who has it, is what is added
				was.Excused, was.Required, was.Open, was.Since, was.At = is.Excused, is.Required, is.Open, is.Since, is.At
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
		var objecting, others []int
		for i, b := range d.Ballots {
			switch {
			case b.Shadow, b.Retired:
			case b.Vote == Object:
				objecting = append(objecting, i)
			case b.Excused == "":
				others = append(others, i)
			}
		}
		// Objections are never merged; of the others each family is counted once, and approves if one of it does.
		if counted := d.Approvals + d.Unavailable + d.Pending; d.Objections != len(objecting) || counted != w.families(others) {
			t.Fatalf("%d objections of %d, %d other votes of %d", d.Objections, len(objecting), counted, w.families(others))
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

// Of people who are asked and of fixes, which change no verdict, it knows nothing: TestPeopleAreAskedOnce,
// TestAFixIsEarned and TestQuietUntilWake hold them.
func TestTheSecondImplementationAgrees(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		w.Policy.Escalate, w.Policy.Fix = Escalation{}, FixPolicy{}
		d := w.decide()
		got := opinion{Verdict: d.Verdict, Reason: d.Reason, Wake: d.Wake, Counts: [4]int{d.Approvals, d.Objections, d.Unavailable, d.Pending}}
		if d.Pass != nil {
			got.PassedAt = d.Pass.At
		}
		want := prose(w)
		if w.hasReserves() { // who has a seat now may have approved later than the one before
			got.PassedAt, want.PassedAt = time.Time{}, time.Time{}
			if d.Verdict == Passed { // its votes and its reason are those of then
				got.Counts, want.Counts, got.Reason, want.Reason = [4]int{}, [4]int{}, "", ""
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("the prose (-) and Decide (+) differ: %s", diff)
		}
	})
}
