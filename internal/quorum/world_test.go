package quorum

// What a decision may be asked about: small worlds whose times are whole seconds, so that deadlines, graces and facts
// often fall together.

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// voters are the places of the ballots that are counted. A reserve is no voter of its own.
func (w world) voters() (places []int) {
	for i, b := range w.Ballots {
		if !b.Shadow && !b.Retired && (b.Excused == "" || b.Vote == Object) && b.InsteadOf == "" {
			places = append(places, i)
		}
	}
	return places
}

// votersAt are the places of the ballots that are counted at a second, or must be answered: a seat has one of its two.
func (w world) votersAt(now int) (places []int) {
	for i, b := range w.Ballots {
		isVoter := !b.Shadow && !b.Retired && (b.Excused == "" || b.Vote == Object)
		hasReserve := slices.ContainsFunc(w.reservesOf(b), func(k int) bool { return hasSeat(w, k, now) })
		if b.InsteadOf != "" {
			isVoter = isVoter && (hasSeat(w, i, now) || b.Again && b.Excused == "" || b.Vote == Object)
		}
		if isVoter && !hasReserve {
			places = append(places, i)
		}
	}
	return places
}

// reservesOf are the places of the reserves of a reviewer.
func (w world) reservesOf(of Ballot) (places []int) {
	for i, b := range w.Ballots {
		if b.InsteadOf == of.Reviewer && of.InsteadOf == "" {
			places = append(places, i)
		}
	}
	return places
}

// seated are those of some places that fill one: a reserve without a seat fills none.
func (w world) seated(places []int, now int) []int {
	return slices.DeleteFunc(slices.Clone(places), func(i int) bool { return w.Ballots[i].InsteadOf != "" && !hasSeat(w, i, now) })
}

func (w world) hasReserves() bool {
	return slices.ContainsFunc(w.Ballots, func(b Ballot) bool { return b.InsteadOf != "" })
}

// hasOlderReserve reports whether a reserve had that ballot's seat before: what it said then is older, and a grace may
// have begun with it.
func (w world) hasOlderReserve(i int) bool {
	return slices.ContainsFunc(w.Ballots, func(b Ballot) bool { return b.InsteadOf == w.Ballots[i].Reviewer && !b.Turn.IsZero() })
}

// mergesSeats reports whether who fills a seat can change how many families there are.
func (w world) mergesSeats() bool { return w.Policy.Families == DistinctFamily && w.hasReserves() }

func secondOf(t time.Time) int { return int(t.Sub(midnight) / time.Second) }

// families are the different families of those ballots; who has none, or where none are counted, is one of its own.
func (w world) families(places []int) (n int) {
	seen := ""
	for _, i := range places {
		b := w.Ballots[i]
		name := b.Family
		if name == "" || w.Policy.Families != DistinctFamily {
			name = "only " + b.Reviewer
		}
		if !strings.Contains(seen, "/"+name+"/") {
			seen, n = seen+"/"+name+"/", n+1
		}
	}
	return n
}

// need is how many must approve: of several rules, what the strictest asks of those who vote.
func (w world) need() (most int) {
	voters := w.families(w.voters())
	if len(w.Policy.Rules) == 0 {
		return w.Policy.Need
	}
	for _, rule := range w.Policy.Rules {
		switch asks := rule.Count; rule.Share {
		case NoReview:
		case All:
			most = max(most, voters, 1)
		case Majority:
			asks = 1
			for 2*asks <= voters {
				asks++
			}
			most = max(most, asks)
		case ByNumber:
			most = max(most, asks)
		}
	}
	return most
}

// asksNobody reports whether the lane asks for no reviewer's approval.
func (w world) asksNobody() bool { return len(w.Policy.Rules) > 0 && w.need() == 0 }

// peopleObject reports whether a person's request for changes is an objection here.
func (w world) peopleObject() bool {
	wasNone := false // although labels may have added a number
	for _, rule := range w.Policy.Rules {
		wasNone = wasNone || rule.Share == NoReview
	}
	return len(w.Facts.Against) > 0 && (len(w.Policy.People) > 0 || wasNone)
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
	drawReserves(t, w.Ballots)
	voters := len(w.voters())
	w.Policy = Policy{
		Check:      "Review quorum",
		Mode:       likely(t, "mode", Enforce, ReportOnly, Enforce, Off),
		Need:       rapid.IntRange(1, voters).Draw(t, "need"),
		Grace:      time.Duration(rapid.IntRange(0, lastFact).Draw(t, "grace")) * time.Second,
		EarlyStart: rapid.Bool().Draw(t, "early start"),
		DraftsWait: rapid.Bool().Draw(t, "drafts wait"),
		StandIn:    Write,
		People:     drawPeople(t),
		Families:   rapid.SampledFrom([]Families{AnyFamily, DistinctFamily}).Draw(t, "families"),
		Rules:      drawRules(t, voters),
		Lane:       LaneChoice{Name: likely(t, "lane", "", "database")},
	}
	for _, b := range w.Ballots {
		w.Policy.Reviewers = append(w.Policy.Reviewers, Reviewer{Name: b.Reviewer, Required: b.Required, Shadow: b.Shadow, Retired: b.Retired})
	}
	if rapid.Bool().Draw(t, "passed before") {
		w.Facts.Pass = drawPass(t, w)
	}
	if rapid.IntRange(0, 3).Draw(t, "escalates") == 3 {
		w.Policy.Escalate, w.Facts.Invited = drawEscalation(t)
	}
	w.Policy.Fix, w.Facts.Fix = drawFixes(t)
	return w
}

// drawReserves makes reserves of some ballots, each of another reviewer. Some had their turn before, and some must
// judge again.
func drawReserves(t *rapid.T, ballots []Ballot) {
	if rapid.IntRange(0, 3).Draw(t, "reserves") < 3 {
		return
	}
	for i := 1; i < len(ballots); i++ {
		j := rapid.IntRange(0, i-1).Draw(t, "of whom")
		isTaken := slices.ContainsFunc(ballots, func(b Ballot) bool { return b.InsteadOf == ballots[j].Reviewer })
		if rapid.Bool().Draw(t, "no reserve") || isTaken || ballots[j].InsteadOf != "" {
			continue
		}
		ballots[i].InsteadOf, ballots[i].Required = ballots[j].Reviewer, false
		of := &ballots[j]
		switch {
		case of.Then == nil && rapid.Bool().Draw(t, "had its turn"):
			ballots[i].Turn = second(t, "turn", 0, secondOf(of.Since)) // the other one has begun again since
			if of.Vote == Pending {
				ballots[i].Turn = earlierOf(ballots[i].Turn, of.Deadline)
			}
		case of.Then == nil && of.Vote == Pending && rapid.Bool().Draw(t, "has its turn then"):
			ballots[i].Turn = of.Deadline
		}
		for _, k := range []int{i, j} {
			if rarely(t, "again") {
				ballots[k].Again, ballots[k].Required = true, true
				if then := ballots[k].Then; then != nil {
					then.Again, then.Required = true, true
				}
			}
		}
	}
}

// drawEscalation makes people whose review may be asked for, some of whom were asked before.
func drawEscalation(t *rapid.T) (Escalation, Invitations) {
	names := []string{"dave", "erin", "acme/team"}
	some := func(label string) (all []string) {
		for _, name := range names {
			if rapid.IntRange(0, 2).Draw(t, label) == 2 {
				all = append(all, name)
			}
		}
		return all
	}
	e := Escalation{To: names, After: time.Duration(rapid.IntRange(1, lastFact).Draw(t, "after")) * time.Second}
	in := Invitations{Seen: some("seen"), Spoken: some("spoken"), Off: rarely(t, "no record")}
	if asked := some("asked"); len(asked) > 0 {
		in.Asked = &AskedPeople{At: second(t, "asked at", 0, lastFact), To: asked, Tries: rapid.IntRange(0, 1).Draw(t, "tries")}
		for _, name := range some("refused") {
			in.Asked.Refused = append(in.Asked.Refused, RefusedPerson{Name: name, Reason: ReasonNoCollaborator})
		}
	}
	return e, in
}

// diffDecisions tells two decisions apart.
func diffDecisions(a, b Decision) string { return cmp.Diff(a, b, cmp.AllowUnexported(OpenFinding{})) }

// drawFixes makes a loop of fixes of which some were made; in every second world there is none.
func drawFixes(t *rapid.T) (FixPolicy, *FixFacts) {
	if rapid.Bool().Draw(t, "no fixes") {
		return FixPolicy{}, nil
	}
	p := FixPolicy{Workflow: ".github/workflows/fix.yml", MaxRestarts: rapid.IntRange(0, 2).Draw(t, "restarts")}
	f := FixFacts{Made: rapid.IntRange(0, 3).Draw(t, "fixes made"), Listed: !rarely(t, "not listed"), ByFix: rarely(t, "by fix"), Branch: "main"}
	f.Before = rapid.IntRange(0, 2).Draw(t, "open before")
	if rarely(t, "none is started") {
		f.Not = ReasonFixFork
	}
	if rapid.IntRange(0, 3).Draw(t, "started here") == 3 { // often so long ago that its answer is lost
		f.Here = &FixRun{
			Head: likely(t, "fixed head", "a1", "a0"), Base: "main", At: second(t, "started at", -3*lastMoment, lastFact),
			Tries: likely(t, "tries of the fix", 1, 2), Sent: rarely(t, "sent"),
		}
		if rarely(t, "the fix is seen") {
			f.Seen = &FixSeen{ID: 5, Ended: rapid.Bool().Draw(t, "the fix has ended"), Updated: second(t, "the fix was updated", 0, lastFact)}
		}
	}
	return p, &f
}

// drawRules makes what is needed of those who vote; none: the policy's own number.
func drawRules(t *rapid.T, voters int) (rules []NeedRule) {
	if rarely(t, "no review") {
		rules = append(rules, NeedRule{Share: NoReview})
		if !rarely(t, "and more") {
			return rules
		}
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "rules") {
		rules = append(rules, drawRule(t, voters))
	}
	return rules
}

func drawRule(t *rapid.T, voters int) NeedRule {
	rule := NeedRule{Share: rapid.SampledFrom([]Share{ByNumber, Majority, All}).Draw(t, "share")}
	if rule.Share == ByNumber {
		rule.Count = rapid.IntRange(1, voters+1).Draw(t, "count")
	}
	return rule
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
	f.Teams = theTeams
	for i := range rapid.SampledFrom([]int{0, 0, 1, 2, 3, 4}).Draw(t, "stand-ins") {
		f.StandIns = append(f.StandIns, StandIn{Login: fmt.Sprint("person", i), Review: int64(100 + i), At: second(t, "stood in", 0, lastFact)})
	}
	if rarely(t, "vouches") {
		f.StandIns = append(f.StandIns, StandIn{Login: "person5", Review: 105, At: second(t, "vouched", 0, lastFact), Vouch: true})
		if len(f.StandIns) == 1 && rapid.Bool().Draw(t, "nobody else may write") { // else somebody else may
			f.OnlyWriter = "Person5"
		}
	}
	slices.SortFunc(f.StandIns, func(a, b StandIn) int { return a.At.Compare(b.At) })
	if rarely(t, "against") {
		f.Against = []string{"carol"}
	}
	if rarely(t, "reply") {
		f.Replies = []Reply{{Command: 5, Refused: rapid.Bool().Draw(t, "refused")}}
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
	b.Family = rapid.SampledFrom([]string{"", "google", "google", "openai"}).Draw(t, "family")
	if place > 0 {
		b.Shadow, b.Retired = rarely(t, "shadow"), rarely(t, "retired")
		if b.Vote != Object && rapid.IntRange(0, 5).Draw(t, "excused") == 5 {
			return drawExcused(t, b, start)
		}
	}
	switch b.Vote {
	case Approve, Object:
		b = verdict(b, b.Vote, second(t, "cast", start, lastFact))
	case Unavailable:
		b.Reason = likely(t, "why unavailable", ReasonCredentials, ReasonGuarded, ReasonCancelled)
		b.Outcome, b.Open = Failed, rapid.Bool().Draw(t, "open")
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
	if rarely(t, "commanded") {
		b.Next = append(b.Next, Action{
			Kind: rapid.SampledFrom([]ActionKind{Rerun, Ask}).Draw(t, "command"), Reviewer: name, Command: 7,
			Run: likely(t, "commanded run", b.Run, 0), Attempt: b.Attempt,
		})
	}
	return b
}

// drawExcused makes the ballot of one that has no vote here: mostly of one that has said nothing.
func drawExcused(t *rapid.T, b Ballot, start int) Ballot {
	b.Excused = rapid.SampledFrom([]Reason{ReasonOtherLane, ReasonWhen}).Draw(t, "why excused")
	b.Vote = rapid.SampledFrom([]Vote{Unavailable, Approve, Pending}).Draw(t, "vote of an excused one")
	switch b.Vote { //nolint:exhaustive // who objects is not excused
	case Unavailable:
		b.Outcome, b.Reason = Declined, b.Excused
	case Approve:
		b = verdict(b, Approve, second(t, "cast", start, lastFact))
	case Pending:
		b.Outcome, b.Reason, b.Late, b.Deadline = Running, ReasonDoubt, ReasonLate, second(t, "deadline", 0, lastMoment)
		b.Then = then(b, Object)
		if rapid.Bool().Draw(t, "a voter then") {
			b.Then.Excused = ""
		}
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
		Need: likely(t, "pass need", w.need(), w.need()+1), Voters: []string{}, Lane: w.Policy.Lane.Name,
	}
	if !rarely(t, "other people then") {
		pass.People = w.Policy.People.filledBy(w.Facts.StandIns, w.Facts)
	} else {
		for i := range rapid.IntRange(0, 2).Draw(t, "people then") {
			pass.People = append(pass.People, StandIn{Login: fmt.Sprint("person", i), Review: int64(100 + i), At: sec(4)})
		}
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
		n := rapid.IntRange(0, 2).Draw(t, "who stood in")
		pass.By = []StandIn{{Login: fmt.Sprint("person", n), Review: int64(100 + n), At: sec(3)}}
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
		excusedDoubt := slices.ContainsFunc(d.Ballots, isExcused(Pending))
		for kind, is := range map[string]bool{
			"a pass with people":                        d.Verdict == Passed && len(d.People) > 0,
			"a stand-in beside people":                  d.Verdict == Passed && len(d.People) > 0 && len(d.StandIns) > 0,
			"a pass with people stands":                 d.Verdict == Passed && len(d.People) > 0 && w.Facts.Pass == d.Pass,
			"a pass without review stands":              d.Reason == ReasonNoReview && w.Facts.Pass == d.Pass,
			"people are missing beside a stand-in":      d.Reason == ReasonPeople && len(d.StandIns) > 0,
			"people are missing without review":         d.Reason == ReasonPeople && w.asksNobody(),
			"a reviewer objects without review":         d.Verdict == Blocked && w.asksNobody() && d.Objections > 0,
			"a person objects":                          d.Verdict == Blocked && d.Objections == 0,
			"a family approves once":                    d.Verdict == Passed && len(d.Pass.Basis) > d.Approvals,
			"one of a family is waited for":             d.Verdict == Waiting && d.Pending == 0 && d.Approvals >= d.Need && d.Objections == 0,
			"passed beside an excused approval":         d.Verdict == Passed && slices.ContainsFunc(d.Ballots, isExcused(Approve)),
			"a doubt of an excused one holds back":      d.Verdict == Waiting && d.Approvals >= d.Need && excusedDoubt,
			"a doubt of an excused one and no stand-in": d.Verdict == Unverified && d.Pending == 0 && len(w.Facts.StandIns) > 0 && excusedDoubt,
			"an excused one objects":                    d.Verdict == Blocked && slices.ContainsFunc(w.Ballots, isExcused(Pending)) && !excusedDoubt,
			"two rules":                                 len(w.Policy.Rules) == 2 && d.Verdict == Passed,
			"a person's rerun when passed":              d.Verdict == Passed && len(d.Effects.Reruns) > 0,
			"a person's question when passed":           d.Verdict == Passed && len(d.Effects.Requests) > 0,
			"a fix is ordered":                          d.Effects.Fix != nil && w.Facts.Fix.Here == nil,
			"a fix is ordered once more":                d.Effects.Fix != nil && w.Facts.Fix.Here != nil,
			"a reply when blocked":                      d.Verdict == Blocked && len(d.Effects.Replies) > 0,
		} {
			if is {
				seen[kind]++
			}
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
		"unverified people", "unverified too_few", "passed noreview", "a pass with people", "a stand-in beside people",
		"a pass with people stands", "a pass without review stands", "people are missing beside a stand-in",
		"people are missing without review", "a reviewer objects without review", "a person objects", "a family approves once",
		"one of a family is waited for", "passed beside an excused approval", "a doubt of an excused one holds back",
		"a doubt of an excused one and no stand-in", "an excused one objects", "two rules", "a person's rerun when passed",
		"a person's question when passed", "a reply when blocked", "a fix is ordered", "a fix is ordered once more",
	} {
		if seen[want] < 5 {
			t.Errorf("%d of 4000 worlds: %s\n%v", seen[want], want, seen)
		}
	}
}

// isExcused reports of a ballot whether it is an excused one with that vote.
func isExcused(v Vote) func(b Ballot) bool {
	return func(b Ballot) bool { return b.Excused != "" && !b.Shadow && !b.Retired && b.Vote == v }
}
