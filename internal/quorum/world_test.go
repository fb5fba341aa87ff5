package quorum

// What a decision may be asked about: small worlds whose times are whole seconds, so that deadlines, graces and facts
// often fall together.

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var midnight = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// sec is n seconds after midnight.
func sec(n int) time.Time { return midnight.Add(time.Duration(n) * time.Second) }

// Facts lie at seconds up to lastFact, which is also the earliest now: nothing that GitHub holds was stamped later than
// anybody looks. What the clock does lies at seconds up to lastMoment.
const (
	lastFact   = 20
	lastMoment = 60
)

// world is everything that Decide is given.
type world struct {
	Policy  Policy
	Ballots []Ballot
	Facts   Facts
	Now     time.Time
}

func (w world) decide() Decision { return Decide(w.Policy, w.Ballots, w.Facts, w.Now) }

func (w world) at(now time.Time) world {
	w.Now = now
	return w
}

// remembering is w once its check has said d.
func (w world) remembering(d Decision) world {
	if d.Verdict == Passed {
		w.Facts.Pass = d.Pass
	}
	return w
}

// with is w with another i-th ballot.
func (w world) with(i int, b Ballot) world {
	w.Ballots = slices.Clone(w.Ballots)
	w.Ballots[i] = b
	return w
}

// voters are the places of the ballots that are counted.
func (w world) voters() (places []int) {
	for i, b := range w.Ballots {
		if !b.Shadow && !b.Retired {
			places = append(places, i)
		}
	}
	return places
}

// likely draws one of the values, the first in about three of four cases.
func likely[T any](t *rapid.T, label string, usual T, others ...T) T {
	if len(others) == 0 || rapid.IntRange(0, 3).Draw(t, label+"?") < 3 {
		return usual
	}
	return rapid.SampledFrom(others).Draw(t, label)
}

func rarely(t *rapid.T, label string) bool { return rapid.IntRange(0, 9).Draw(t, label) == 9 }

func second(t *rapid.T, label string, from, to int) time.Time {
	return sec(rapid.IntRange(from, to).Draw(t, label))
}

// draw makes an arbitrary world.
func draw(t *rapid.T) world {
	var w world
	w.Now = second(t, "now", lastFact, lastMoment)
	start := rapid.IntRange(0, lastFact).Draw(t, "start")
	w.Facts = drawFacts(t, start)
	n := rapid.IntRange(1, 5).Draw(t, "reviewers")
	for i := range n {
		w.Ballots = append(w.Ballots, drawBallot(t, fmt.Sprint("r", i), i, start))
	}
	voters := len(w.voters())
	w.Policy = Policy{
		Check:      "Review quorum",
		Mode:       likely(t, "mode", Enforce, ReportOnly, Enforce, Off),
		Need:       rapid.IntRange(1, voters).Draw(t, "need"),
		Grace:      time.Duration(rapid.IntRange(0, lastFact).Draw(t, "grace")) * time.Second,
		EarlyStart: rapid.Bool().Draw(t, "early start"),
		DraftsWait: rapid.Bool().Draw(t, "drafts wait"),
		StandIn:    Write,
	}
	for _, b := range w.Ballots {
		w.Policy.Reviewers = append(w.Policy.Reviewers, Reviewer{Name: b.Reviewer, Required: b.Required, Shadow: b.Shadow, Retired: b.Retired})
	}
	if rapid.Bool().Draw(t, "passed before") {
		w.Facts.Pass = drawPass(t, w)
	}
	return w
}

func drawFacts(t *rapid.T, start int) Facts {
	f := Facts{
		PR: PR{"acme", "shop", 7}, Head: "a1", Base: likely(t, "base", "main", "dev"), Start: sec(start),
		File:   PolicyFile{State: FileValid, SHA: likely(t, "sha", "p1", "p2")},
		Draft:  rarely(t, "draft"),
		Closed: rarely(t, "closed") && rarely(t, "really closed"),
	}
	if rarely(t, "file") {
		f.File.State = rapid.SampledFrom([]FileState{0, FileValid, FileBroken, FileMissing}).Draw(t, "file state")
	}
	if rarely(t, "siblings") && rarely(t, "real siblings") {
		f.Siblings = []int{8, 9}
	}
	for i := range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "stand-ins") {
		f.StandIns = append(f.StandIns, StandIn{Login: fmt.Sprint("person", i), Review: int64(100 + i), At: second(t, "stood in", 0, lastFact)})
	}
	slices.SortFunc(f.StandIns, func(a, b StandIn) int { return a.At.Compare(b.At) })
	if rarely(t, "against") {
		f.Against = []string{"carol"}
	}
	return f
}

// drawBallot makes a ballot as evidence.Judge could. The first one always is a voter's.
func drawBallot(t *rapid.T, name string, place, start int) Ballot {
	b := Ballot{
		Reviewer: name, Run: int64(10 * place), Attempt: rapid.IntRange(1, 2).Draw(t, "attempt"),
		Since: second(t, "since", 0, lastFact), Required: rapid.IntRange(0, 4).Draw(t, "required") == 4,
		Vote: rapid.SampledFrom([]Vote{Approve, Approve, Approve, Pending, Pending, Pending, Pending, Unavailable, Unavailable, Object}).Draw(t, "vote"),
	}
	if place > 0 {
		b.Shadow, b.Retired = rarely(t, "shadow"), rarely(t, "retired")
	}
	switch b.Vote {
	case Approve, Object:
		b = verdict(b, b.Vote, second(t, "cast", start, lastFact))
	case Unavailable:
		b.Outcome, b.Reason, b.Open = Failed, ReasonCredentials, rapid.Bool().Draw(t, "open")
	case Pending:
		b.Outcome, b.Reason, b.Late, b.Open = Running, ReasonRunning, ReasonLate, true
		b.Deadline = second(t, "deadline", 0, lastMoment)
		switch rapid.IntRange(0, 5).Draw(t, "then") {
		case 4:
			b.Then = then(b, Approve)
		case 5:
			b.Then = then(b, Object)
		}
		for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "actions") {
			kind := rapid.SampledFrom([]ActionKind{Rerun, Cancel, Ask}).Draw(t, "kind")
			b.Next = append(b.Next, Action{Kind: kind, Reviewer: name, Due: second(t, "due", 0, lastMoment), Run: b.Run, Attempt: b.Attempt})
		}
		slices.SortFunc(b.Next, func(x, y Action) int { return x.Due.Compare(y.Due) })
		b.Planned = b.Then == nil && len(b.Next) > 0 && rapid.Bool().Draw(t, "planned")
	}
	return b
}

// verdict is b once its reviewer has voted.
func verdict(b Ballot, v Vote, at time.Time) Ballot {
	b.Vote, b.At, b.Since, b.Outcome, b.Reason = v, at, at, Approved, ReasonApproved
	if v == Object {
		b.Outcome, b.Reason = Findings, ReasonFindings
	}
	b.Deadline, b.Late, b.Then, b.Next, b.Open = time.Time{}, "", nil, nil, false
	return b
}

// then is the verdict that b has left already, although its attempt does not end.
func then(b Ballot, v Vote) *Ballot {
	left := verdict(b, v, laterOf(b.Since, b.Deadline))
	return &left
}

// drawPass makes what an earlier check may remember: mostly a pass of this very cycle, often one that no longer holds,
// and now and then one that was never earned.
func drawPass(t *rapid.T, w world) *Pass {
	pass := &Pass{
		At: second(t, "passed at", 0, lastFact), Policy: likely(t, "pass sha", "p1", "p2"), Base: likely(t, "pass base", "main", "dev"),
		Need: likely(t, "pass need", w.Policy.Need, w.Policy.Need+1), Voters: []string{},
	}
	for _, i := range w.voters() {
		b := w.Ballots[i]
		if !rarely(t, "no voter then") {
			pass.Voters = append(pass.Voters, b.Reviewer)
		}
		if b.Vote == Approve && !rarely(t, "no basis") || rarely(t, "basis") {
			pass.Basis = append(pass.Basis, Basis{b.Reviewer, b.Run, likely(t, "pass attempt", b.Attempt, b.Attempt, b.Attempt-1)})
		}
	}
	if rarely(t, "stood in then") {
		pass.By = []StandIn{{Login: "person0", Review: 100, At: sec(3)}}
	}
	return pass
}

// A property holds in every world.
func property(t *testing.T, holds func(t *rapid.T, w world)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) { holds(t, draw(t)) })
}

// The properties would hold for nothing at all if the worlds were all alike.
func TestWorldsAreVaried(t *testing.T) {
	worlds := rapid.Custom(draw)
	seen := make(map[string]int)
	for i := range 4000 {
		w := worlds.Example(i)
		d := w.decide()
		seen[fmt.Sprint(d.Verdict, " ", d.Reason)]++
		switch {
		case d.Verdict == Passed && w.Facts.Pass == d.Pass:
			seen["a pass stands"]++
		case d.Verdict == Passed && w.Facts.Pass != nil:
			seen["a pass does not stand, and another comes"]++
		case d.Verdict == Passed && d.Unavailable > 0:
			seen["passed without all"]++
		case d.Verdict == Blocked && d.Pending > 0:
			seen["blocked early"]++
		case d.Verdict == Unverified && d.Pending > 0 && !d.Effects.Empty():
			seen["unverified and at work"]++
		case d.Verdict == Waiting && !d.GraceEnd.IsZero():
			seen["grace"]++
		case d.Verdict == Waiting && d.Objections > 0:
			seen["an objection waits"]++
		}
		if d.Verdict == Passed && w.Facts.Pass == nil &&
			slices.ContainsFunc(d.Ballots, func(b Ballot) bool { return b.Reason == ReasonNotReceived && b.Voter() }) {
			seen["passed, not received"]++
		}
	}
	for _, want := range []string{
		"waiting tally", "waiting draft", "passed tally", "passed stand_in", "blocked tally", "unverified tally", "unverified required",
		"unverified broken", "unverified siblings", "ended closed", "ended off", "ended nopolicy",
		"a pass stands", "a pass does not stand, and another comes", "passed without all", "blocked early", "unverified and at work", "grace",
		"an objection waits", "passed, not received",
	} {
		if seen[want] < 5 {
			t.Errorf("%d of 4000 worlds: %s\n%v", seen[want], want, seen)
		}
	}
}
