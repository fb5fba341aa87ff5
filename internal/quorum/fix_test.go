package quorum

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var fixStart = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// objecting is a decision's input: one reviewer objects to these findings.
func objecting(findings ...Finding) []Ballot {
	return []Ballot{{Reviewer: "lee", Vote: Object, Outcome: Findings, Reason: ReasonFindings, Since: fixStart, At: fixStart, Findings: findings}}
}

func decideFix(p Policy, ballots []Ballot, f FixFacts, now time.Time) Decision {
	p.Need, p.EarlyStart, p.Deadline = 1, true, 45*time.Minute
	p.Fix.Workflow = ".github/workflows/fix.yml"
	f.Branch = "main"
	return Decide(p, ballots, Facts{
		PR: PR{Owner: "acme", Repo: "shop", Number: 7}, Head: "b", Base: "main", File: PolicyFile{State: FileValid}, Start: fixStart, Fix: &f,
	}, now)
}

// Each row is what the loop of fixes comes to, for one objection.
func TestLoop(t *testing.T) {
	two := objecting(Finding{Path: "a.go", Line: 1, Body: "x"}, Finding{Path: "b.go", Line: 1, Body: "y"})
	working := slices.Clone(two)
	working[0].UnderWay = true
	again := slices.Clone(two)
	again[0].Reason = ReasonLookingAgain
	lost := &FixRun{Head: "b", Base: "main", At: fixStart, Tries: 1}
	lostTwice := &FixRun{Head: "b", Base: "main", At: fixStart, Tries: 2}
	sent := &FixRun{Head: "b", Base: "main", At: fixStart, Tries: 1, Run: 5}
	refused := &FixRun{Head: "b", Base: "main", At: fixStart, Tries: 1, Refused: ReasonFixTrigger}
	ended := &FixSeen{ID: 5, Ended: true, Updated: fixStart.Add(3 * time.Minute)}
	for name, tt := range map[string]struct {
		ballots []Ballot
		facts   FixFacts
		after   time.Duration
		state   LoopState
		why     Reason
		orders  bool
		wake    time.Duration // 0: none
	}{
		"the first":                    {two, FixFacts{Listed: true}, time.Minute, LoopDue, "", true, 0},
		"an attempt goes on":           {working, FixFacts{Listed: true}, time.Minute, LoopWaiting, "", false, 45 * time.Minute},
		"it looks again":               {again, FixFacts{Listed: true}, time.Minute, LoopWaiting, "", false, 45 * time.Minute},
		"the attempt never ends":       {working, FixFacts{Listed: true}, 45 * time.Minute, LoopDue, "", true, 0},
		"a fork":                       {two, FixFacts{Listed: true, Not: ReasonFixFork}, time.Minute, LoopNone, ReasonFixFork, false, 0},
		"as many as may be":            {two, FixFacts{Listed: true, Made: 2}, time.Minute, LoopOver, ReasonFixMax, false, 0},
		"fewer than before":            {two, FixFacts{Listed: true, Made: 1, ByFix: true, Before: 3}, time.Minute, LoopDue, "", true, 0},
		"no fewer than before":         {two, FixFacts{Listed: true, Made: 1, ByFix: true, Before: 2}, time.Minute, LoopOver, ReasonFixNoFewer, false, 0},
		"no fewer, by a person's push": {two, FixFacts{Listed: true, Made: 1, Before: 2}, time.Minute, LoopDue, "", true, 0},
		"refused":                      {two, FixFacts{Here: refused}, time.Minute, LoopOver, ReasonFixTrigger, false, 0},
		"under way":                    {two, FixFacts{Here: sent}, time.Minute, LoopRunning, "", false, time.Hour},
		"an hour without a push":       {two, FixFacts{Here: sent}, time.Hour, LoopOver, ReasonFixNoPush, false, 0},
		"it has ended, and a push may be on its way": {
			two, FixFacts{Here: sent, Seen: ended}, 3 * time.Minute, LoopRunning, "", false, 3*time.Minute + ReplicaLag,
		},
		"it has ended and pushed nothing": {two, FixFacts{Here: sent, Seen: ended}, 4 * time.Minute, LoopOver, ReasonFixNoPush, false, 0},
		"it has pushed the same diff": {
			two,
			FixFacts{Here: &FixRun{Head: "a", Base: "main", At: fixStart, Tries: 1, Run: 5}, Seen: ended, ByFix: true},
			4 * time.Minute, LoopOver, ReasonFixSameDiff, false, 0,
		},
		"a person has pushed the same diff": {
			two,
			FixFacts{Here: &FixRun{Head: "a", Base: "main", At: fixStart, Tries: 1, Run: 5}, Seen: ended},
			4 * time.Minute, LoopOver, ReasonFixNoPush, false, 0,
		},
		"no answer came":                     {two, FixFacts{Here: lost, Listed: true}, time.Minute, LoopRunning, "", false, 2 * time.Minute},
		"no answer came, and none is listed": {two, FixFacts{Here: lost, Listed: true}, 2 * time.Minute, LoopDue, "", true, 0},
		"no answer came, and it is listed": {
			two, FixFacts{Here: lost, Listed: true, Seen: &FixSeen{ID: 5}}, 2 * time.Minute, LoopRunning, "", false, time.Hour,
		},
		"switched off since": {
			two, FixFacts{Here: lost, Listed: true, Not: ReasonFixOff}, 2 * time.Minute, LoopOver, ReasonFixLost, false, 0,
		},
		"lost twice": {two, FixFacts{Here: lostTwice, Listed: true}, 2 * time.Minute, LoopOver, ReasonFixLost, false, 0},
	} {
		d := decideFix(Policy{Fix: FixPolicy{MaxRestarts: 2}}, tt.ballots, tt.facts, fixStart.Add(tt.after))
		if d.Loop == nil || d.Loop.State != tt.state || d.Loop.Reason != tt.why || (d.Effects.Fix != nil) != tt.orders {
			t.Errorf("%s: %+v, orders %v", name, d.Loop, d.Effects.Fix)
		}
		if d.NeedsPerson() != (tt.state == LoopOver) {
			t.Errorf("%s: needs a person: %t", name, d.NeedsPerson())
		}
		if wake := fixStart.Add(tt.wake); tt.wake == 0 && !d.Wake.IsZero() || tt.wake != 0 && !d.Wake.Equal(wake) {
			t.Errorf("%s: wake %v, want %v after the start", name, d.Wake.Sub(fixStart), tt.wake)
		}
	}
}

// What the decision rests on does not matter where nobody objects, or only a person does.
// A fix is ordered where an objection stands and its attempt has ended, and never beyond what the policy allows.
func TestAFixIsEarned(t *testing.T) {
	property(t, func(t *rapid.T, w world) {
		d := w.decide()
		if d.Effects.Fix == nil { // TestWorldsAreVaried says that there are others
			return
		}
		f := w.Facts.Fix
		isUnderWay := func(b Ballot) bool { return b.Vote == Object && b.UnderWay }
		switch end := w.Facts.Start.Add(w.Policy.Deadline); {
		case d.Verdict != Blocked || d.Objections == 0:
			t.Fatalf("a fix of what is %s with %d objections", d.Verdict, d.Objections)
		case w.Policy.Fix.Workflow == "" || f == nil || !f.Listed || f.Not != "":
			t.Fatalf("a fix although none may be started: %+v", f)
		case f.Here == nil && f.Made >= w.Policy.Fix.MaxRestarts:
			t.Fatalf("a fix after %d of %d", f.Made, w.Policy.Fix.MaxRestarts)
		case f.Here != nil && f.Here.Head != w.Facts.Head:
			t.Fatalf("a fix once more for another head: %+v", f.Here)
		case f.Here != nil && f.Here.Tries > 1:
			t.Fatalf("a fix of one diff a third time: %+v", f.Here)
		case slices.ContainsFunc(d.Ballots, isUnderWay) && w.Now.Before(end):
			t.Fatal("a fix while the attempt that objects goes on")
		}
	})
}

func TestLoopNeedsAnObjection(t *testing.T) {
	approving := []Ballot{{Reviewer: "lee", Vote: Approve, Outcome: Approved, Reason: ReasonApproved, Since: fixStart, At: fixStart}}
	d := decideFix(Policy{Fix: FixPolicy{MaxRestarts: 2}}, approving, FixFacts{Listed: true, Made: 1}, fixStart)
	if d.Verdict != Passed || d.Effects.Fix != nil || d.Loop == nil || d.Loop.State != LoopIdle || d.NeedsPerson() {
		t.Errorf("%s: %+v, orders %v", d.Verdict, d.Loop, d.Effects.Fix)
	}
}

func TestFollowFindings(t *testing.T) {
	known := TrackFindings(followFindings(objecting(
		Finding{Path: "cart.go", Line: 42, Body: "**Critical** `cart.go:42`: the total is not rounded."},
		Finding{Path: "tax.go", Line: 7, Body: "The tax is wrong.", Thread: 9},
		Finding{Body: "No tests."},
	), nil, false))
	for name, tt := range map[string]struct {
		finding Finding
		byFix   bool
		want    FindingState
	}{
		"the same line":                {Finding{Path: "cart.go", Line: 44, Body: "other words"}, true, FindingAgain},
		"the same words, further down": {Finding{Path: "cart.go", Line: 90, Body: "Critical cart.go:90: the total is not rounded"}, true, FindingAgain},
		"the same words elsewhere":     {Finding{Path: "sum.go", Line: 42, Body: "the total is not rounded"}, true, FindingByFix},
		"the same thread":              {Finding{Path: "vat.go", Line: 70, Body: "Renamed.", Thread: 9}, true, FindingAgain},
		"no place, the same words":     {Finding{Body: "No tests."}, false, FindingAgain},
		"no place, other words":        {Finding{Body: "No docs."}, false, FindingNew},
		"another place, by a fix":      {Finding{Path: "cart.go", Line: 4, Body: "rounded twice"}, true, FindingByFix},
	} {
		got := followFindings(objecting(tt.finding), known, tt.byFix)
		if len(got) != 1 || got[0].State != tt.want {
			t.Errorf("%s: %+v, want %s", name, got, tt.want)
		}
	}
}

// Findings of one place are one, with everybody's words; what is below min_severity is none, and a bare no is one.
func TestOpenFindings(t *testing.T) {
	ballots := []Ballot{
		{Reviewer: "kim", Vote: Object, Findings: []Finding{{Path: "a.go", Line: 3, Body: "x"}, {Path: "a.go", Line: 30, Below: true}}},
		{Reviewer: "lee", Vote: Object, Findings: []Finding{{Path: "a.go", Line: 5, Body: "y"}, {Path: "b.go", Line: 5, Body: "z"}}},
		{Reviewer: "max", Vote: Object, Detail: "no"},
		{Reviewer: "pat", Vote: Object, Shadow: true, Findings: []Finding{{Path: "c.go", Line: 1}}},
	}
	got := followFindings(ballots, nil, false)
	if len(got) != 3 || len(got[0].Said) != 2 || got[2].Said[0].Body != "no" {
		t.Errorf("%+v", got)
	}
}

func TestFindingsJSONFits(t *testing.T) {
	for _, n := range []int{0, 1, 50, 600} {
		o := FixOrder{}
		for range n {
			o.Findings = append(o.Findings, OpenFinding{Path: "a.go", Said: []FixWords{{Reviewer: "lee", Body: strings.Repeat("\"<ü\x00", 3000)}}})
		}
		text := o.FindingsJSON("https://github.com/acme/shop/runs/1", 50_000)
		var got struct {
			Findings []OpenFinding
			Total    int
			More     string
		}
		size := len(encodeJSON(text))
		if err := json.Unmarshal([]byte(text), &got); err != nil || size > 50_000 || got.Total != n || got.More == "" {
			t.Errorf("%d findings: %d bytes, total %d, %v", n, size, got.Total, err)
		}
		if n > 0 && len(got.Findings) == 0 {
			t.Errorf("%d findings: none is told", n)
		}
	}
}

func TestFixRunNames(t *testing.T) {
	head := strings.Repeat("ab", 20)
	for name, want := range map[string]int{
		"fix #7 " + head + " release/1": 7, "fix #77 " + head + " main": 77, "fix #7 ": 0, "fix #7 master main": 0, "fix #07 " + head + " main": 0,
		"Fix #7 " + head + " main": 0, "fix #7 " + head: 0, "fix #7 " + head + " ": 0, "fix #7 " + head + " main x": 0,
		"fix #-7 " + head + " main": 0, "fix #99999999999999999999 " + head + " main": 0,
	} {
		if got, _, _ := ParseFixRunName(name); got != want {
			t.Errorf("%q is a fix of #%d, want #%d", name, got, want)
		}
	}
	if _, got, base := ParseFixRunName("fix #7 " + head + " release/1"); got != head || base != "release/1" {
		t.Errorf("head %q, base %q", got, base)
	}
}
