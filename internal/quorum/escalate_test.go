package quorum

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Whose review is asked for was not asked before, or was and GitHub shows no trace of it; nobody is asked a third time,
// nor who has spoken or is asked by somebody else; and nobody where nothing is wrong.
func TestPeopleAreAskedOnce(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d, in := w.decide(), w.Facts.Invited
		ended := d.NeedsPerson() && d.Verdict == Blocked
		for i, name := range d.Effects.People {
			asked := in.Asked != nil && slices.Contains(in.Asked.To, name)
			switch {
			case slices.Contains(d.Effects.People[:i], name):
				t.Fatalf("%s is asked twice", name)
			case slices.Contains(in.Seen, name), slices.Contains(in.Spoken, name):
				t.Fatalf("%s is asked, and was, or has spoken: %+v", name, in)
			case asked && (in.Asked.Tries > 0 || w.Now.Before(in.Asked.At.Add(ReplicaLag))):
				t.Fatalf("%s is asked again: %+v", name, in.Asked)
			case in.Off, w.Policy.Mode != Enforce, d.Verdict != Unverified && !ended:
				t.Fatalf("%s is asked: %s, %+v", name, d.Verdict, w.Policy)
			}
		}
		if len(d.Effects.People) > 0 && d.Effects.Head != "a1" {
			t.Fatal("for no head")
		}
	})
}

// endedLoop has as many fixes made as there may be.
func endedLoop(w *world) {
	w.Policy.Fix, w.Facts.Fix = FixPolicy{Workflow: "fix.yml", MaxRestarts: 1}, &FixFacts{Listed: true, Made: 1}
}

// Two of three must approve: from when on it is Unverified, and when dave is asked.
func TestWhenPeopleAreAsked(t *testing.T) {
	lost := func(at int) Ballot {
		return Ballot{Vote: Unavailable, Outcome: Failed, Reason: ReasonCredentials, Since: sec(at)}
	}
	late := func(at int) Ballot {
		return Ballot{Vote: Pending, Outcome: Running, Reason: ReasonRunning, Late: ReasonLate, Deadline: sec(at), Since: sec(1)}
	}
	yes := func(at int) Ballot {
		return Ballot{Vote: Approve, Outcome: Approved, Reason: ReasonApproved, At: sec(at), Since: sec(at)}
	}
	no := func(at int) Ballot {
		return Ballot{Vote: Object, Outcome: Findings, Reason: ReasonFindings, At: sec(at), Since: sec(at)}
	}
	none := []Ballot{lost(3), lost(4), lost(5)}
	asked := func(tries int, refused ...RefusedPerson) *AskedPeople {
		return &AskedPeople{At: sec(14), To: []string{"dave"}, Tries: tries, Refused: refused}
	}
	for name, c := range map[string]struct {
		ballots []Ballot
		change  func(w *world)
		want    int // second
	}{
		"the second that is lost":       {ballots: []Ballot{lost(3), yes(4), lost(7)}, want: 17},
		"a third changes nothing":       {ballots: []Ballot{lost(3), lost(5), lost(7)}, want: 15},
		"too few vote, from the start":  {ballots: []Ballot{yes(2), yes(4), lost(7)}, change: func(w *world) { w.Policy.Need = 4 }, want: 11},
		"by a deadline":                 {ballots: []Ballot{lost(3), yes(4), late(9)}, want: 19},
		"the loop has ended":            {ballots: []Ballot{no(3), lost(4), lost(5)}, change: endedLoop, want: 5},
		"blocked, and the loop goes on": {ballots: []Ballot{no(3), lost(4), lost(5)}},
		"passed":                        {ballots: []Ballot{yes(3), yes(4), lost(5)}},
		"a draft": {ballots: none, change: func(w *world) {
			w.Facts.Draft, w.Policy.DraftsWait = true, true
		}},
		"only reported":         {ballots: none, change: func(w *world) { w.Policy.Mode = ReportOnly }},
		"nothing is remembered": {ballots: none, change: func(w *world) { w.Facts.Invited.Off = true }},
		"a person is missing": {ballots: []Ballot{yes(3), yes(4), yes(6)}, change: func(w *world) {
			w.Policy.People, w.Policy.Grace = NewPeople(PeopleRule{Count: 1}), time.Hour
		}, want: 16},
		"a required one":            {ballots: []Ballot{yes(3), yes(4), lost(6)}, change: func(w *world) { w.Ballots[2].Required = true }, want: 16},
		"the answer was lost":       {ballots: none, change: func(w *world) { w.Facts.Invited.Asked = asked(0) }, want: 44},
		"the answer was lost twice": {ballots: none, change: func(w *world) { w.Facts.Invited.Asked = asked(1) }},
		"GitHub refuses": {ballots: none, change: func(w *world) {
			w.Facts.Invited.Asked = asked(0, RefusedPerson{Name: "dave"})
		}},
		"asked, and GitHub shows it": {ballots: none, change: func(w *world) {
			w.Facts.Invited = Invitations{Asked: asked(0), Seen: []string{"Dave"}}
		}},
		"asked already by whoever opened": {ballots: none, change: func(w *world) { w.Facts.Invited.Seen = []string{"dave"} }},
		"dave opened it":                  {ballots: none, change: func(w *world) { w.Facts.Invited.Spoken = []string{"DAVE"} }},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{
				Policy: Policy{
					Check: "Review quorum", Mode: Enforce, Need: 2, EarlyStart: true, StandIn: Write,
					Escalate: Escalation{To: []string{"dave"}, After: 10 * time.Second},
				},
				Facts: Facts{
					PR: PR{"acme", "shop", 7}, Head: "a1", Base: "main", Start: sec(1), File: PolicyFile{State: FileValid, SHA: "p1"},
				},
			}
			for i, b := range c.ballots {
				b.Reviewer = string(rune('a' + i))
				w.Ballots = append(w.Ballots, b)
			}
			if c.change != nil {
				c.change(&w)
			}
			got := 0
			for at := 8; at < 100 && got == 0; at++ { // look as often as the wakes say, and at every second
				if d := w.at(sec(at)).decide(); len(d.Effects.People) > 0 {
					got = at
				} else if !d.PeopleAt.IsZero() && d.PeopleAt.Before(d.Wake) {
					t.Errorf("dave is asked at %v, and the wake is %v", d.PeopleAt, d.Wake)
				}
			}
			if diff := cmp.Diff(max(c.want, 0), got); c.want > 8 && diff != "" || (c.want == 0) != (got == 0) {
				t.Errorf("asked at %d, want %d", got, c.want)
			}
		})
	}
}
