package quorum

// Each rule with both sides of its boundary, in the order of their numbers. Times are seconds after the start.

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func approves(name string, at int) Ballot {
	return verdict(Ballot{Reviewer: name, Run: 1, Attempt: 1}, Approve, sec(at))
}

func objects(name string, at int) Ballot {
	return verdict(Ballot{Reviewer: name, Run: 1, Attempt: 1}, Object, sec(at))
}

func unavailable(name string, since int) Ballot {
	return Ballot{Reviewer: name, Run: 1, Attempt: 1, Vote: Unavailable, Outcome: Failed, Reason: ReasonCredentials, Since: sec(since)}
}

func pending(name string, deadline int) Ballot {
	return Ballot{
		Reviewer: name,
		Run:      1,
		Attempt:  1,
		Vote:     Pending,
		Outcome:  Running,
		Reason:   ReasonRunning,
		Since:    sec(1),
		Deadline: sec(deadline),
		Late:     ReasonLate,
		Open:     true,
	}
}

// answered is pending too, although its verdict is there: its attempt has not ended.
func answered(name string, deadline int, v Vote) Ballot {
	b := pending(name, deadline)
	b.Then = then(b, v)
	return b
}

func required(b Ballot) Ballot {
	b.Required = true
	return b
}

func shadow(b Ballot) Ballot {
	b.Shadow = true
	return b
}

func retired(b Ballot) Ballot {
	b.Retired = true
	return b
}

func next(b Ballot, kind ActionKind, due int) Ballot {
	b.Next = append(b.Next, Action{Kind: kind, Reviewer: b.Reviewer, Run: b.Run, Attempt: b.Attempt, Due: sec(due)})
	return b
}

func attempt(b Ballot, n int) Ballot {
	b.Attempt = n
	return b
}

// table is a policy of two approvals with a grace of 180 seconds, and nothing that speaks against a decision.
func table(now int, ballots ...Ballot) world {
	return world{
		Policy:  Policy{Check: "Review quorum", Mode: Enforce, Need: 2, Grace: 180 * time.Second, EarlyStart: true, DraftsWait: true, StandIn: Write},
		Ballots: ballots,
		Facts:   Facts{PR: PR{"acme", "shop", 7}, Head: "a1", Base: "main", Start: sec(0), File: PolicyFile{State: FileValid, SHA: "p1"}},
		Now:     sec(now),
	}
}

func (w world) of(need int) world                 { w.Policy.Need = need; return w }
func (w world) patient() world                    { w.Policy.EarlyStart = false; return w }
func (w world) facts(change func(f *Facts)) world { change(&w.Facts); return w }
func (w world) policy(change func(*Policy)) world { change(&w.Policy); return w }
func (w world) bob(at int) world                  { return w.person("bob", at) }
func (w world) person(login string, at int) world {
	w.Facts.StandIns = append(w.Facts.StandIns, StandIn{Login: login, Review: int64(at), At: sec(at)})
	return w
}

func (w world) vouch(at int) world {
	w = w.person("alice", at)
	w.Facts.StandIns[len(w.Facts.StandIns)-1].Vouch = true
	return w
}

// only is w where nobody but login may write.
func (w world) only(login string) world { return w.facts(func(f *Facts) { f.OnlyWriter = login }) }

// keptFrom is b, kept from its vote for that reason.
func keptFrom(why Reason, b Ballot) Ballot { b.Reason = why; return b }

func (w world) rules(rules ...NeedRule) world {
	w.Policy.Rules = rules
	return w
}

// distinct counts families.
func (w world) distinct() world { w.Policy.Families = DistinctFamily; return w }

func (w world) people(n int, of ...string) world {
	w.Policy.People = w.Policy.People.And(NewPeople(PeopleRule{n, of}))
	return w
}

func excused(b Ballot) Ballot {
	b.Excused = ReasonOtherLane
	return b
}

func draft(f *Facts)   { f.Draft = true }
func closed(f *Facts)  { f.Closed = true }
func against(f *Facts) { f.Against = []string{"carol"} }

// outcome is what a table's row expects.
type outcome struct {
	is     Verdict
	why    Reason
	a, o   int // approvals, objections
	u, p   int // unavailable, pending
	wake   int // seconds; 0: none
	passed int // seconds: when it passed
}

func (d Decision) outcome() outcome {
	got := outcome{is: d.Verdict, why: d.Reason, a: d.Approvals, o: d.Objections, u: d.Unavailable, p: d.Pending}
	if !d.Wake.IsZero() {
		got.wake = int(d.Wake.Sub(midnight) / time.Second)
	}
	if d.Pass != nil {
		got.passed = int(d.Pass.At.Sub(midnight) / time.Second)
	}
	return got
}

func TestDecide(t *testing.T) {
	const tally = ReasonTally
	tests := []struct {
		name string
		w    world
		want outcome
	}{
		// The table of the manual: openai, gemini, copilot; two approvals.
		{"all approve", table(30, approves("openai", 10), approves("gemini", 20), approves("copilot", 30)), outcome{is: Passed, why: tally, a: 3, passed: 30}},
		{
			"two approve, the grace runs",
			table(30, approves("openai", 10), approves("gemini", 20), pending("copilot", 600)),
			outcome{is: Waiting, why: tally, a: 2, p: 1, wake: 200},
		},
		{
			"two approve, the grace's last second",
			table(199, approves("openai", 10), approves("gemini", 20), pending("copilot", 600)),
			outcome{is: Waiting, why: tally, a: 2, p: 1, wake: 200},
		},
		{
			"two approve, the grace is over",
			table(200, approves("openai", 10), approves("gemini", 20), pending("copilot", 600)),
			outcome{is: Passed, why: tally, a: 2, p: 1, passed: 200},
		},
		{
			"object, approve, anything",
			table(30, objects("openai", 10), approves("gemini", 20), pending("copilot", 600)),
			outcome{is: Blocked, why: tally, a: 1, o: 1, p: 1, wake: 600},
		},
		{
			"gemini is rerun",
			table(90, approves("openai", 10), next(pending("gemini", 600), Rerun, 95), unavailable("copilot", 20)),
			outcome{is: Waiting, why: tally, a: 1, u: 1, p: 1, wake: 95},
		},
		{
			"approve, unavailable, timeout",
			table(600, approves("openai", 10), unavailable("gemini", 20), pending("copilot", 600)),
			outcome{is: Unverified, why: tally, a: 1, u: 2},
		},
		{
			"approve, unavailable, approve",
			table(30, approves("openai", 10), unavailable("gemini", 20), approves("copilot", 25)),
			outcome{is: Passed, why: tally, a: 2, u: 1, passed: 25},
		},
		{
			"object, pending, pending",
			table(30, objects("openai", 10), pending("gemini", 600), pending("copilot", 700)),
			outcome{is: Waiting, why: tally, o: 1, p: 2, wake: 600},
		},

		// Where nothing is decided, and rule 1.
		{"no policy", table(30, approves("openai", 10)).facts(func(f *Facts) { f.File.State = FileMissing }), outcome{is: Ended, why: ReasonNoPolicy}},
		{"no policy, closed", table(30).facts(closed).facts(func(f *Facts) { f.File.State = FileMissing }), outcome{is: Ended, why: ReasonNoPolicy}},
		{"closed", table(30, approves("openai", 10), approves("gemini", 10)).facts(closed), outcome{is: Ended, why: ReasonClosed}},
		{"closed, and the file is broken", table(30).facts(closed).facts(func(f *Facts) { f.File.State = FileBroken }), outcome{is: Ended, why: ReasonClosed}},
		{"off", table(30, approves("openai", 10), approves("gemini", 10)).policy(func(p *Policy) { p.Mode = Off }), outcome{is: Ended, why: ReasonOff}},
		{
			"report only decides all the same",
			table(30, approves("openai", 10), approves("gemini", 10)).policy(func(p *Policy) { p.Mode = ReportOnly }),
			outcome{is: Passed, why: tally, a: 2, passed: 10},
		},
		{
			"broken",
			table(30, approves("openai", 10), approves("gemini", 10)).facts(func(f *Facts) { f.File.State = FileBroken }),
			outcome{is: Unverified, why: ReasonBroken},
		},
		{
			"a file in no known state",
			table(30, approves("openai", 10), approves("gemini", 10)).facts(func(f *Facts) { f.File.State = 0 }),
			outcome{is: Unverified, why: ReasonBroken},
		},
		{"an empty quorum", table(30, approves("openai", 10)).of(0), outcome{is: Unverified, why: ReasonBroken}},
		{"nobody votes in an empty quorum", table(30).of(0), outcome{is: Unverified, why: ReasonBroken}},
		{
			"siblings",
			table(30, approves("openai", 10), approves("gemini", 10)).facts(func(f *Facts) { f.Siblings = []int{8} }),
			outcome{is: Unverified, why: ReasonSiblings},
		},
		{
			"a draft waits",
			table(30, approves("openai", 10), approves("gemini", 10), next(pending("copilot", 20), Rerun, 5)).facts(draft),
			outcome{is: Waiting, why: ReasonDraft, a: 2, p: 1},
		},
		{
			"a draft is reviewed",
			table(30, approves("openai", 10), approves("gemini", 10)).facts(draft).policy(func(p *Policy) { p.DraftsWait = false }),
			outcome{is: Passed, why: tally, a: 2, passed: 10},
		},

		// Rule 2.
		{
			"all have answered, one objects",
			table(30, objects("openai", 10), approves("gemini", 20), approves("copilot", 20)),
			outcome{is: Blocked, why: tally, a: 2, o: 1},
		},
		{
			"all but one are unavailable, and that one objects",
			table(30, objects("openai", 10), unavailable("gemini", 20)),
			outcome{is: Blocked, why: tally, o: 1, u: 1},
		},
		{
			"a quorum can no longer be reached: no second answer is waited for",
			table(30, objects("openai", 10), unavailable("gemini", 20), pending("copilot", 600)),
			outcome{is: Blocked, why: tally, o: 1, u: 1, p: 1, wake: 600},
		},
		{
			"two objections are a quorum of answers",
			table(30, objects("openai", 10), objects("gemini", 20), pending("copilot", 600), pending("sonar", 600)),
			outcome{is: Blocked, why: tally, o: 2, p: 2, wake: 600},
		},
		{
			"patient: everybody is waited for",
			table(30, objects("openai", 10), objects("gemini", 20), pending("copilot", 600)).patient(),
			outcome{is: Waiting, why: tally, o: 2, p: 1, wake: 600},
		},
		{
			"patient: and then it is blocked",
			table(600, objects("openai", 10), objects("gemini", 20), pending("copilot", 600)).patient(),
			outcome{is: Blocked, why: tally, o: 2, u: 1},
		},
		{"one of need one objects", table(30, objects("openai", 10), pending("gemini", 600)).of(1), outcome{is: Blocked, why: tally, o: 1, p: 1, wake: 600}},
		{
			"an objection is waited with, whatever a required reviewer lacks",
			table(30, objects("openai", 10), required(unavailable("gemini", 20)), pending("copilot", 600), pending("sonar", 700)),
			outcome{is: Waiting, why: tally, o: 1, u: 1, p: 2, wake: 600},
		},
		{
			"an objection by a shadow is none",
			table(30, approves("openai", 10), approves("gemini", 20), shadow(objects("exp", 5))),
			outcome{is: Passed, why: tally, a: 2, passed: 20},
		},
		{
			"an objection whose attempt ends with its deadline",
			table(600, approves("openai", 10), pending("gemini", 600), answered("copilot", 600, Object)),
			outcome{is: Blocked, why: tally, a: 1, o: 1, u: 1},
		},
		{
			"the second before",
			table(599, approves("openai", 10), pending("gemini", 600), answered("copilot", 600, Object)),
			outcome{is: Waiting, why: tally, a: 1, p: 2, wake: 600},
		},

		// Rule 3.
		{"one is missing", table(30, approves("openai", 10), unavailable("gemini", 20)), outcome{is: Unverified, why: tally, a: 1, u: 1}},
		{
			"a required one is missing",
			table(30, approves("openai", 10), approves("gemini", 20), required(unavailable("copilot", 5))),
			outcome{is: Unverified, why: ReasonRequired, a: 2, u: 1},
		},
		{
			"a required one approves",
			table(30, approves("openai", 10), unavailable("gemini", 20), required(approves("copilot", 25))),
			outcome{is: Passed, why: tally, a: 2, u: 1, passed: 25},
		},
		{
			"a required shadow is not waited for",
			table(30, approves("openai", 10), approves("gemini", 20), shadow(required(unavailable("exp", 5)))),
			outcome{is: Passed, why: tally, a: 2, passed: 20},
		},
		{
			"a retired one neither",
			table(30, approves("openai", 10), approves("gemini", 20), retired(required(unavailable("old", 5)))),
			outcome{is: Passed, why: tally, a: 2, passed: 20},
		},
		{
			"a shadow's approval is none",
			table(30, approves("openai", 10), shadow(approves("exp", 5)), unavailable("gemini", 20)),
			outcome{is: Unverified, why: tally, a: 1, u: 1},
		},
		{
			"a required vote of no known kind",
			table(30, approves("openai", 10), approves("gemini", 20), required(Ballot{Reviewer: "copilot"})),
			outcome{is: Unverified, why: ReasonRequired, a: 2},
		},
		{"silent to its deadline", table(600, pending("openai", 600), pending("gemini", 500)), outcome{is: Unverified, why: tally, u: 2}},
		{
			"an approval whose attempt ends with its deadline",
			table(600, approves("openai", 10), answered("gemini", 600, Approve)),
			outcome{is: Passed, why: tally, a: 2, passed: 600},
		},
		{
			"the last answer comes before the grace is over",
			table(100, approves("openai", 10), approves("gemini", 20), pending("copilot", 100)),
			outcome{is: Passed, why: tally, a: 2, u: 1, passed: 100},
		},
		{
			"nobody looked when the grace was over",
			table(700, approves("openai", 10), approves("gemini", 20), pending("copilot", 600)),
			outcome{is: Passed, why: tally, a: 2, p: 1, passed: 200},
		},

		// stand_in.
		{
			"bob stands in",
			table(30, approves("openai", 10), unavailable("gemini", 20)).bob(15),
			outcome{is: Passed, why: ReasonStandIn, a: 1, u: 1, passed: 20},
		},
		{
			"bob comes last",
			table(30, approves("openai", 10), unavailable("gemini", 20)).bob(25),
			outcome{is: Passed, why: ReasonStandIn, a: 1, u: 1, passed: 25},
		},
		{
			"bob stands in for a required one",
			table(30, approves("openai", 10), approves("gemini", 20), required(unavailable("copilot", 5))).bob(15),
			outcome{is: Passed, why: ReasonStandIn, a: 2, u: 1, passed: 20},
		},
		{
			"bob stands in for all",
			table(30, unavailable("openai", 10), unavailable("gemini", 20)).bob(15),
			outcome{is: Passed, why: ReasonStandIn, u: 2, passed: 20},
		},
		{
			"carol is against it",
			table(30, approves("openai", 10), unavailable("gemini", 20)).bob(15).facts(against),
			outcome{is: Unverified, why: tally, a: 1, u: 1},
		},
		{
			"bob does not hurry the pending",
			table(30, approves("openai", 10), unavailable("gemini", 20), pending("copilot", 600)).bob(15),
			outcome{is: Waiting, why: tally, a: 1, u: 1, p: 1, wake: 600},
		},
		{
			"nor where it is unverified already",
			table(30, unavailable("openai", 10), unavailable("gemini", 20), pending("copilot", 600)).bob(15),
			outcome{is: Unverified, why: tally, u: 2, p: 1, wake: 600},
		},
		{
			"bob does not stand in over an objection",
			table(30, objects("openai", 10), unavailable("gemini", 20)).bob(15),
			outcome{is: Blocked, why: tally, o: 1, u: 1},
		},
		{"bob is not needed", table(30, approves("openai", 10), approves("gemini", 20)).bob(25), outcome{is: Passed, why: tally, a: 2, passed: 20}},

		// Rule 4.
		{
			"too few are left",
			table(30, unavailable("openai", 10), unavailable("gemini", 20), pending("copilot", 600)),
			outcome{is: Unverified, why: tally, u: 2, p: 1, wake: 600},
		},
		{
			"just enough are left",
			table(30, approves("openai", 10), unavailable("gemini", 20), pending("copilot", 600)),
			outcome{is: Waiting, why: tally, a: 1, u: 1, p: 1, wake: 600},
		},
		{
			"a required one is lost",
			table(30, approves("openai", 10), approves("gemini", 20), required(unavailable("copilot", 25)), pending("sonar", 600)),
			outcome{is: Unverified, why: ReasonRequired, a: 2, u: 1, p: 1, wake: 600},
		},
		{
			"a required one is lost, and too few have approved yet",
			table(30, approves("openai", 10), required(unavailable("copilot", 25)), pending("sonar", 600)),
			outcome{is: Unverified, why: tally, a: 1, u: 1, p: 1, wake: 600},
		},
		{
			"a required one is late",
			table(300, approves("openai", 10), approves("gemini", 20), required(pending("copilot", 300)), pending("sonar", 600)),
			outcome{is: Unverified, why: ReasonRequired, a: 2, u: 1, p: 1, wake: 600},
		},

		// Rule 5.
		{
			"a required one is waited for",
			table(500, approves("openai", 10), approves("gemini", 20), required(pending("copilot", 600))),
			outcome{is: Waiting, why: tally, a: 2, p: 1, wake: 600},
		},
		{
			"the grace begins with the last required approval",
			table(200, approves("openai", 10), approves("gemini", 20), required(approves("copilot", 50)), pending("sonar", 600)),
			outcome{is: Waiting, why: tally, a: 3, p: 1, wake: 230},
		},
		{
			"the grace begins with the need-th approval, not with a later one",
			table(200, approves("openai", 10), approves("gemini", 20), approves("copilot", 50), pending("sonar", 600)),
			outcome{is: Passed, why: tally, a: 3, p: 1, passed: 200},
		},
		{
			"whoever came in which order",
			table(100, approves("openai", 50), approves("gemini", 10), approves("copilot", 20), pending("sonar", 600)),
			outcome{is: Waiting, why: tally, a: 3, p: 1, wake: 200},
		},
		{
			"the grace begins with the start",
			table(200, approves("openai", 10), approves("gemini", 20), pending("copilot", 600)).facts(func(f *Facts) { f.Start = sec(100) }),
			outcome{is: Waiting, why: tally, a: 2, p: 1, wake: 280},
		},
		{
			"a deadline within the grace comes first",
			table(30, approves("openai", 10), approves("gemini", 20), pending("copilot", 100)),
			outcome{is: Waiting, why: tally, a: 2, p: 1, wake: 100},
		},
		{
			"without grace",
			table(20, approves("openai", 10), approves("gemini", 20), pending("copilot", 600)).policy(func(p *Policy) { p.Grace = 0 }),
			outcome{is: Passed, why: tally, a: 2, p: 1, passed: 20},
		},
		{
			"a deadline in the second in which the grace ends",
			table(200, approves("openai", 10), approves("gemini", 20), pending("copilot", 200)),
			outcome{is: Passed, why: tally, a: 2, u: 1, passed: 200},
		},
		{
			"an objection of that second comes first",
			table(200, approves("openai", 10), approves("gemini", 20), objects("copilot", 200)),
			outcome{is: Blocked, why: tally, a: 2, o: 1},
		},

		// Rule 6.
		{"nobody has answered", table(30, pending("openai", 600), pending("gemini", 500)), outcome{is: Waiting, why: tally, p: 2, wake: 500}},
		{
			"a fact in the second of its deadline",
			table(600, approves("openai", 600), approves("gemini", 20)),
			outcome{is: Passed, why: tally, a: 2, passed: 600},
		},
		{"the deadline itself", table(600, pending("openai", 600), approves("gemini", 20)), outcome{is: Unverified, why: tally, a: 1, u: 1}},
		{
			"a shadow's deadline is shown",
			table(30, pending("openai", 600), pending("gemini", 500), shadow(pending("exp", 400))),
			outcome{is: Waiting, why: tally, p: 2, wake: 400},
		},
		{
			"a shadow is not rerun",
			table(30, pending("openai", 600), pending("gemini", 500), shadow(next(pending("exp", 550), Rerun, 40))),
			outcome{is: Waiting, why: tally, p: 2, wake: 500},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.w.decide().outcome(); got != test.want {
				t.Errorf("\n got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// What lanes, families and people make of the rules.
func TestDecideInALane(t *testing.T) {
	const tally = ReasonTally
	majority, all, none := NeedRule{Share: Majority}, NeedRule{Share: All}, NeedRule{Share: NoReview}
	number := func(n int) NeedRule { return NeedRule{Share: ByNumber, Count: n} }
	google := func(b Ballot) Ballot { return b.of("google") }
	silent := excused(unavailable("sonar", 1))
	doubt := excused(answered("sonar", 600, Object))
	tests := []struct {
		name string
		w    world
		want outcome
	}{
		// The need follows from those who vote.
		{
			"a majority of two that are left is both",
			table(30, approves("openai", 10), unavailable("gemini", 20), silent).rules(majority),
			outcome{is: Unverified, why: tally, a: 1, u: 1},
		},
		{"a majority of one is that one", table(30, approves("openai", 10), silent).rules(majority), outcome{is: Passed, why: tally, a: 1, passed: 10}},
		{"nobody is left of a majority", table(30, silent).rules(majority), outcome{is: Unverified, why: ReasonTooFew}},
		{"nobody is left of all", table(30, silent).rules(all), outcome{is: Unverified, why: ReasonTooFew}},
		{
			"too few voters are left",
			table(30, pending("openai", 600), silent).rules(number(2)),
			outcome{is: Unverified, why: ReasonTooFew, p: 1, wake: 600},
		},
		{
			"too few voters are left, of the policy's own number too",
			table(30, approves("openai", 10), silent),
			outcome{is: Unverified, why: ReasonTooFew, a: 1},
		},
		{
			"just enough voters are left",
			table(30, approves("openai", 10), pending("gemini", 600), silent).rules(number(2)),
			outcome{is: Waiting, why: tally, a: 1, p: 1, wake: 600},
		},
		{
			"bob stands in where too few voters are left",
			table(30, approves("openai", 10), silent).bob(15),
			outcome{is: Passed, why: ReasonStandIn, a: 1, passed: 15},
		},
		{
			"of two rules the stricter holds",
			table(30, approves("openai", 10), approves("gemini", 20), unavailable("copilot", 25)).rules(majority, all),
			outcome{is: Unverified, why: tally, a: 2, u: 1},
		},
		{"a rule of no approvals is broken", table(30, approves("openai", 10)).rules(number(0)), outcome{is: Unverified, why: ReasonBroken}},

		// Who is excused.
		{
			"an excused approval is none",
			table(30, approves("openai", 10), excused(approves("sonar", 5)), unavailable("gemini", 20)),
			outcome{is: Unverified, why: tally, a: 1, u: 1},
		},
		{
			"an excused one that is required is not waited for",
			table(30, approves("openai", 10), approves("gemini", 20), required(silent)),
			outcome{is: Passed, why: tally, a: 2, passed: 20},
		},
		{
			"an excused one that objects votes",
			table(30, approves("openai", 10), approves("gemini", 20), excused(objects("sonar", 25))),
			outcome{is: Blocked, why: tally, a: 2, o: 1},
		},
		{
			"an excused one seems to object",
			table(599, approves("openai", 10), approves("gemini", 20), doubt),
			outcome{is: Waiting, why: tally, a: 2, wake: 600},
		},
		{
			"and does once its attempt does not end",
			table(600, approves("openai", 10), approves("gemini", 20), doubt),
			outcome{is: Blocked, why: tally, a: 2, o: 1},
		},
		{
			"bob does not stand in while one that is excused seems to object",
			table(30, approves("openai", 10), unavailable("gemini", 20), doubt).bob(15),
			outcome{is: Unverified, why: tally, a: 1, u: 1, wake: 600},
		},

		// Families.
		{
			"one family counts once",
			table(30, unavailable("openai", 9), google(approves("gemini", 4)), google(approves("flash", 6))).distinct(),
			outcome{is: Unverified, why: tally, a: 1, u: 1},
		},
		{
			"where any is counted, it counts twice",
			table(30, unavailable("openai", 9), google(approves("gemini", 4)), google(approves("flash", 6))),
			outcome{is: Passed, why: tally, a: 2, u: 1, passed: 9},
		},
		{
			"who has no family is one of its own",
			table(30, approves("openai", 9), approves("gemini", 4)).distinct(),
			outcome{is: Passed, why: tally, a: 2, passed: 9},
		},
		{
			"a family that has approved is not waited for",
			table(30, approves("openai", 9), google(approves("gemini", 4)), google(pending("flash", 600))).distinct(),
			outcome{is: Passed, why: tally, a: 2, passed: 9},
		},
		{
			"nor does the moment of the pass move with what the rest of it says",
			table(30, approves("openai", 9), google(approves("gemini", 4)), google(approves("flash", 25))).distinct(),
			outcome{is: Passed, why: tally, a: 2, passed: 9},
		},
		{
			"a required one of a family that has approved is waited for",
			table(30, approves("openai", 9), google(approves("gemini", 4)), google(required(pending("flash", 600)))).distinct().bob(5),
			outcome{is: Waiting, why: tally, a: 2, wake: 600},
		},
		{
			"although another required one is lost",
			table(30, required(unavailable("openai", 9)), google(approves("gemini", 4)), google(required(pending("flash", 600)))).distinct().of(1).bob(5),
			outcome{is: Unverified, why: ReasonRequired, a: 1, u: 1, wake: 600},
		},
		{
			"a family is pending while none of it approves",
			table(30, approves("openai", 9), google(unavailable("gemini", 4)), google(pending("flash", 600))).distinct(),
			outcome{is: Waiting, why: tally, a: 1, p: 1, wake: 600},
		},
		{
			"a family's objection beside its approval",
			table(30, approves("openai", 9), google(approves("gemini", 4)), google(objects("flash", 6))).distinct(),
			outcome{is: Blocked, why: tally, a: 2, o: 1},
		},
		{
			"the grace begins with the need-th family",
			table(30, google(approves("gemini", 4)), google(approves("flash", 6)), approves("openai", 9), pending("sonar", 600)).distinct(),
			outcome{is: Waiting, why: tally, a: 2, p: 1, wake: 189},
		},
		{
			"a majority of families",
			table(30, google(approves("gemini", 4)), google(unavailable("flash", 6)), unavailable("openai", 9)).distinct().rules(majority),
			outcome{is: Unverified, why: tally, a: 1, u: 1},
		},
		{
			"fewer families than must approve",
			table(30, google(approves("gemini", 4)), google(approves("flash", 6))).distinct(),
			outcome{is: Unverified, why: ReasonTooFew, a: 1},
		},

		// People.
		{
			"who vouches stands in for a reviewer that is down",
			table(30, approves("openai", 10), unavailable("gemini", 20)).vouch(25),
			outcome{is: Passed, why: ReasonStandIn, a: 1, u: 1, passed: 25},
		},
		{
			"and not for one that the change itself keeps from approving",
			table(30, approves("openai", 10), keptFrom(ReasonGuarded, unavailable("gemini", 20))).vouch(25),
			outcome{is: Unverified, why: tally, a: 1, u: 1},
		},
		{
			"nor for one that was cancelled", table(30, approves("openai", 10), keptFrom(ReasonCancelled, unavailable("gemini", 20))).vouch(25),
			outcome{is: Unverified, why: tally, a: 1, u: 1},
		},
		{
			"who vouches fills no place of people", table(30, approves("openai", 10), approves("gemini", 20)).people(1).vouch(25),
			outcome{is: Unverified, why: ReasonPeople, a: 2},
		},
		{
			"but where nobody else may write", table(30, approves("openai", 10), approves("gemini", 20)).people(2).people(1, "dan").vouch(25).only("Alice"),
			outcome{is: Passed, why: tally, a: 2, passed: 25},
		},
		{
			"not where another one alone may write", table(30, approves("openai", 10), approves("gemini", 20)).people(1).vouch(25).only("bob"),
			outcome{is: Unverified, why: ReasonPeople, a: 2},
		},
		{
			"and fills one place", table(30, approves("openai", 10), unavailable("gemini", 20)).people(1).vouch(25).only("alice"),
			outcome{is: Unverified, why: ReasonPeople, a: 1, u: 1},
		},
		{
			"said twice, by a login that changed", table(30, approves("openai", 10), unavailable("gemini", 20)).people(1).vouch(25).vouch(26).only("alice"),
			outcome{is: Unverified, why: ReasonPeople, a: 1, u: 1},
		},
		{"a person is missing", table(30, approves("openai", 10), approves("gemini", 20)).people(1), outcome{is: Unverified, why: ReasonPeople, a: 2}},
		{"a person is there", table(30, approves("openai", 10), approves("gemini", 20)).people(1).bob(15), outcome{is: Passed, why: tally, a: 2, passed: 20}},
		{
			"the person comes last",
			table(30, approves("openai", 10), approves("gemini", 20)).people(1).bob(25),
			outcome{is: Passed, why: tally, a: 2, passed: 25},
		},
		{"one of two people", table(30, approves("openai", 10), approves("gemini", 20)).people(2).bob(25), outcome{is: Unverified, why: ReasonPeople, a: 2}},
		{
			"two of two people",
			table(30, approves("openai", 10), approves("gemini", 20)).people(2).bob(25).person("dan", 28),
			outcome{is: Passed, why: tally, a: 2, passed: 28},
		},
		{
			"the reviewers' grace comes first",
			table(199, approves("openai", 10), approves("gemini", 20), pending("copilot", 600)).people(1),
			outcome{is: Waiting, why: tally, a: 2, p: 1, wake: 200},
		},
		{
			"and then the person is missing",
			table(200, approves("openai", 10), approves("gemini", 20), next(pending("copilot", 600), Rerun, 20)).people(1),
			outcome{is: Unverified, why: ReasonPeople, a: 2, p: 1, wake: 600},
		},
		{
			"one approval fills one place",
			table(30, approves("openai", 10), unavailable("gemini", 20)).people(1).bob(25),
			outcome{is: Unverified, why: ReasonPeople, a: 1, u: 1},
		},
		{
			"another fills the other",
			table(30, approves("openai", 10), unavailable("gemini", 20)).people(1).bob(25).person("dan", 28),
			outcome{is: Passed, why: ReasonStandIn, a: 1, u: 1, passed: 28},
		},
		{
			"carol is heard where people are asked",
			table(30, approves("openai", 10), approves("gemini", 20)).people(1).bob(15).facts(against),
			outcome{is: Blocked, why: tally, a: 2},
		},
		{
			"and waited with for a second answer",
			table(30, pending("openai", 600), pending("gemini", 600)).people(1).facts(against),
			outcome{is: Waiting, why: tally, p: 2, wake: 600},
		},
		{"and nowhere else", table(30, approves("openai", 10), approves("gemini", 20)).facts(against), outcome{is: Passed, why: tally, a: 2, passed: 20}},

		// Lanes without a review.
		{"no review is needed", table(30, pending("openai", 600)).rules(none), outcome{is: Passed, why: ReasonNoReview, p: 1}},
		{"nobody reviews at all", table(30).rules(none), outcome{is: Passed, why: ReasonNoReview}},
		{"whoever is required", table(30, required(unavailable("openai", 5))).rules(none), outcome{is: Passed, why: ReasonNoReview, u: 1}},
		{"a lane without review hears a no", table(30, objects("copilot", 3), silent).rules(none), outcome{is: Blocked, why: tally, o: 1}},
		{
			"at once",
			table(30, objects("copilot", 3), pending("openai", 600)).rules(none),
			outcome{is: Blocked, why: tally, o: 1, p: 1, wake: 600},
		},
		{
			"or patiently",
			table(30, objects("copilot", 3), pending("openai", 600)).rules(none).patient(),
			outcome{is: Waiting, why: tally, o: 1, p: 1, wake: 600},
		},
		{"and one of who is excused", table(30, excused(objects("copilot", 3))).rules(none), outcome{is: Blocked, why: tally, o: 1}},
		{"what seems to be one", table(30, doubt).rules(none), outcome{is: Waiting, why: tally, wake: 600}},
		{"a person's", table(30, unavailable("openai", 3)).rules(none).facts(against), outcome{is: Blocked, why: tally, u: 1}},
		{
			"a person's, although a label asks for an approval",
			table(30, approves("openai", 3)).rules(none, number(1)).facts(against),
			outcome{is: Blocked, why: tally, a: 1},
		},
		{"a label asks for an approval", table(30, unavailable("openai", 3)).rules(none, number(1)), outcome{is: Unverified, why: tally, u: 1}},
		{"only its people are missing", table(30, pending("openai", 600)).rules(none).people(1), outcome{is: Unverified, why: ReasonPeople, p: 1, wake: 600}},
		{
			"only its people are needed",
			table(30, pending("openai", 600)).rules(none).people(1).bob(9),
			outcome{is: Passed, why: ReasonNoReview, p: 1, passed: 9},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.w.decide().outcome(); got != test.want {
				t.Errorf("\n got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// Rule 0: a pass with copilot's review not received, and what comes after it.
func TestAPassStands(t *testing.T) {
	passed := table(200, approves("openai", 10), approves("gemini", 20), pending("copilot", 600))
	d := passed.decide()
	if d.Verdict != Passed {
		t.Fatal(d.Verdict)
	}
	vouched := table(30, approves("openai", 10), unavailable("gemini", 20), unavailable("copilot", 20)).bob(25)
	e := vouched.decide()
	if e.Verdict != Passed {
		t.Fatal(e.Verdict)
	}
	remember := func(now int, ballots ...Ballot) world { return table(now, ballots...).remembering(d) }
	openai, gemini, copilot := approves("openai", 10), approves("gemini", 20), pending("copilot", 600)
	tests := []struct {
		name string
		w    world
		want outcome
	}{
		{"the clock alone", remember(9000, openai, gemini, copilot), outcome{is: Passed, why: ReasonTally, a: 2, p: 1, passed: 200}},
		{"copilot approves late", remember(500, openai, gemini, approves("copilot", 450)), outcome{is: Passed, why: ReasonTally, a: 3, passed: 200}},
		{"copilot fails late", remember(500, openai, gemini, unavailable("copilot", 450)), outcome{is: Passed, why: ReasonTally, a: 2, u: 1, passed: 200}},
		{"copilot objects late", remember(500, openai, gemini, objects("copilot", 450)), outcome{is: Blocked, why: ReasonTally, a: 2, o: 1}},
		{
			"copilot objects, and its attempt never ends",
			remember(700, openai, gemini, answered("copilot", 600, Object)),
			outcome{is: Blocked, why: ReasonTally, a: 2, o: 1},
		},
		{
			"copilot seems to object, and its attempt goes on",
			remember(500, openai, gemini, answered("copilot", 600, Object)),
			outcome{is: Waiting, why: ReasonTally, a: 2, p: 1, wake: 600},
		},
		{
			"copilot, overdue when it passed, objects",
			remember(700, openai, gemini, answered("copilot", 150, Object)),
			outcome{is: Blocked, why: ReasonTally, a: 2, o: 1},
		},
		{
			"gemini's approval is gone",
			remember(500, openai, unavailable("gemini", 450), copilot),
			outcome{is: Waiting, why: ReasonTally, a: 1, u: 1, p: 1, wake: 600},
		},
		{
			"gemini began again",
			remember(500, openai, attempt(pending("gemini", 900), 2), copilot),
			outcome{is: Waiting, why: ReasonTally, a: 1, p: 2, wake: 600},
		},
		{
			"gemini approves in another attempt",
			remember(500, openai, attempt(approves("gemini", 450), 2), copilot),
			outcome{is: Waiting, why: ReasonTally, a: 2, p: 1, wake: 600},
		},
		{
			"a new head's run",
			remember(500, openai, gemini, copilot).with(1, func() Ballot { b := approves("gemini", 450); b.Run = 2; return b }()),
			outcome{is: Waiting, why: ReasonTally, a: 2, p: 1, wake: 600},
		},
		{
			"another policy",
			remember(100, openai, gemini, copilot).facts(func(f *Facts) { f.File.SHA = "p2" }),
			outcome{is: Waiting, why: ReasonTally, a: 2, p: 1, wake: 200},
		},
		{
			"another base",
			remember(100, openai, gemini, copilot).facts(func(f *Facts) { f.Base = "dev" }),
			outcome{is: Waiting, why: ReasonTally, a: 2, p: 1, wake: 200},
		},
		{"another quorum", remember(500, openai, gemini, copilot).of(3), outcome{is: Waiting, why: ReasonTally, a: 2, p: 1, wake: 600}},
		{"a smaller quorum", remember(500, openai, gemini, copilot).of(1), outcome{is: Passed, why: ReasonTally, a: 2, p: 1, passed: 190}},
		{"another voter", remember(100, openai, gemini, copilot, pending("sonar", 900)), outcome{is: Waiting, why: ReasonTally, a: 2, p: 2, wake: 200}},
		{"a voter less", remember(100, openai, gemini, shadow(copilot)), outcome{is: Passed, why: ReasonTally, a: 2, passed: 20}},
		{"a draft again", remember(500, openai, gemini, copilot).facts(draft), outcome{is: Waiting, why: ReasonDraft, a: 2, p: 1}},
		{"closed", remember(500, openai, gemini, copilot).facts(closed), outcome{is: Ended, why: ReasonClosed}},
		{"carol has no say in it", remember(9000, openai, gemini, copilot).facts(against), outcome{is: Passed, why: ReasonTally, a: 2, p: 1, passed: 200}},
		{"bob's stands too", vouched.remembering(e).at(sec(9000)), outcome{is: Passed, why: ReasonStandIn, a: 1, u: 2, passed: 25}},
		{
			"and while a reviewer that he stood in for began again",
			vouched.remembering(e).with(1, attempt(pending("gemini", 900), 2)).at(sec(500)),
			outcome{is: Passed, why: ReasonStandIn, a: 1, p: 1, u: 1, passed: 25},
		},
		{"until carol is against it", vouched.remembering(e).facts(against), outcome{is: Unverified, why: ReasonTally, a: 1, u: 2}},
		{"until he takes it back", vouched.remembering(e).facts(func(f *Facts) { f.StandIns = nil }), outcome{is: Unverified, why: ReasonTally, a: 1, u: 2}},
		{
			"and another review of his is another",
			vouched.remembering(e).facts(func(f *Facts) { f.StandIns = []StandIn{{Login: "bob", Review: 28, At: sec(28)}} }),
			outcome{is: Passed, why: ReasonStandIn, a: 1, u: 2, passed: 28},
		},
		{"a pass that was never earned", table(30, approves("openai", 10), pending("gemini", 600)).facts(func(f *Facts) {
			f.Pass = &Pass{At: sec(5), Policy: "p1", Base: "main", Need: 2, Voters: []string{"openai", "gemini"}, Basis: []Basis{{"openai", 1, 1}}}
		}), outcome{is: Waiting, why: ReasonTally, a: 1, p: 1, wake: 600}},
		{"nor by a required one", table(30, approves("openai", 10), approves("gemini", 20), required(pending("copilot", 600))).facts(func(f *Facts) {
			f.Pass = &Pass{
				At:     sec(25),
				Policy: "p1",
				Base:   "main",
				Need:   2,
				Voters: []string{"openai", "gemini", "copilot"},
				Basis:  []Basis{{"openai", 1, 1}, {"gemini", 1, 1}},
			}
		}), outcome{is: Waiting, why: ReasonTally, a: 2, p: 1, wake: 600}},
	}
	asked := table(30, approves("openai", 10), approves("gemini", 20)).people(1).bob(25)
	docs := table(30, required(pending("openai", 600))).rules(NeedRule{Share: NoReview})
	asked, docs = asked.remembering(asked.decide()), docs.remembering(docs.decide())
	tests = append(tests, []struct {
		name string
		w    world
		want outcome
	}{
		{"with a person", asked.at(sec(9000)), outcome{is: Passed, why: ReasonTally, a: 2, passed: 25}},
		{"until the person takes it back", asked.facts(func(f *Facts) { f.StandIns = nil }), outcome{is: Unverified, why: ReasonPeople, a: 2}},
		{"until carol is against that", asked.facts(against), outcome{is: Blocked, why: ReasonTally, a: 2}},
		{"until another person is asked", asked.people(2), outcome{is: Unverified, why: ReasonPeople, a: 2}},
		{"and although none is asked any more", asked.people(0), outcome{is: Passed, why: ReasonTally, a: 2, passed: 25}},
		{
			"the same person in two places",
			asked.with(1, unavailable("gemini", 20)).facts(func(f *Facts) {
				pass := *f.Pass
				pass.By, pass.Basis, f.Pass = pass.People, pass.Basis[:1], &pass
			}),
			outcome{is: Unverified, why: ReasonPeople, a: 1, u: 1},
		},
		{"without a review", docs.at(sec(9000)), outcome{is: Passed, why: ReasonNoReview, p: 1}},
		{"although the start is another", docs.facts(func(f *Facts) { f.Start = sec(28) }), outcome{is: Passed, why: ReasonNoReview, p: 1}},
		{"until its reviewer objects", docs.with(0, objects("openai", 35)), outcome{is: Blocked, why: ReasonTally, o: 1}},
		{"until carol does", docs.facts(against), outcome{is: Blocked, why: ReasonTally, p: 1, wake: 600}},
		{
			"until a label asks for a review",
			docs.rules(NeedRule{Share: NoReview}, NeedRule{Share: All}),
			outcome{is: Waiting, why: ReasonTally, p: 1, wake: 600},
		},
	}...)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.w.decide().outcome(); got != test.want {
				t.Errorf("\n got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// What is shown of a ballot that the clock has touched.
func TestWhatTheClockDoesToABallot(t *testing.T) {
	copilot := next(pending("copilot", 600), Cancel, 700)
	copilot.Retrying, copilot.Watch = true, true
	late := copilot
	late.Vote, late.Reason, late.Since = Unavailable, ReasonLate, sec(600)
	late.Deadline, late.Next, late.Retrying, late.Watch = time.Time{}, nil, false, false
	notReceived := copilot
	notReceived.Reason, notReceived.Deadline = ReasonNotReceived, time.Time{}
	said := answered("copilot", 600, Approve)
	waits := func(b Ballot, now int) Ballot {
		return table(now, approves("openai", 10), pending("gemini", 9000), b).decide().Ballots[2]
	}
	tests := []struct {
		name      string
		got, want Ballot
	}{
		{"before its deadline", waits(copilot, 599), copilot},
		{"at its deadline", waits(copilot, 600), late},
		{"after its deadline", waits(copilot, 601), late},
		{"its answer before", waits(said, 599), said},
		{"its answer at its deadline", waits(said, 600), *said.Then},
		{"when the check passed", table(200, approves("openai", 10), approves("gemini", 20), copilot).decide().Ballots[2], notReceived},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEffects(t *testing.T) {
	gemini := next(next(next(pending("gemini", 600), Cancel, 50), Rerun, 60), Ask, 70)
	open := unavailable("copilot", 20)
	open.Open = true
	asked := approves("openai", 10) // by a person
	asked.Next = []Action{{Kind: Rerun, Reviewer: "openai", Run: 1, Attempt: 1, Command: 7}}
	tests := []struct {
		name string
		w    world
		want string
		wake int
	}{
		{"nothing is due", table(49, gemini, pending("openai", 900)), "", 50},
		{"the first is due", table(50, gemini, pending("openai", 900)), "cancel gemini", 60},
		{"the second is due", table(60, gemini, pending("openai", 900)), "cancel gemini, rerun gemini", 70},
		{"all are due", table(70, gemini, pending("openai", 900)), "cancel gemini, rerun gemini, ask gemini", 600},
		{"not beyond the deadline", table(600, gemini, pending("openai", 900)).of(1), "", 900},
		{"not for a shadow", table(70, shadow(gemini), pending("openai", 900), pending("copilot", 900)), "", 600},
		{"not for a retired one", table(70, retired(gemini), pending("openai", 900), pending("copilot", 900)), "", 600},
		{"not when passed", table(200, approves("openai", 10), approves("copilot", 20), gemini), "", 0},
		{"not when blocked", table(70, objects("openai", 10), approves("copilot", 20), gemini), "", 600},
		{"while an objection waits", table(70, objects("openai", 10), pending("copilot", 900), gemini), "cancel gemini, rerun gemini, ask gemini", 600},
		{"not for a draft", table(70, gemini, pending("openai", 900)).facts(draft), "", 0},
		{"what a person asked for: when passed", table(70, asked, approves("copilot", 20)), "rerun openai", 0},
		{"when blocked", table(70, asked, objects("copilot", 20)), "rerun openai", 0},
		{"for a draft", table(70, asked, pending("copilot", 900)).facts(draft), "rerun openai", 0},
		{"for a shadow", table(70, shadow(asked), approves("copilot", 20)).of(1), "rerun openai", 0},
		{"for one that is excused", table(70, excused(asked), approves("copilot", 20)).of(1), "rerun openai", 0},
		{"once, where another of that run asks for it", table(70, asked, next(pending("gemini", 900), Rerun, 60)), "rerun openai", 900},
		{"only people are missing", table(200, approves("openai", 10), approves("copilot", 20), gemini).people(1), "", 600},
		{"not for one that is excused", table(70, excused(gemini), pending("openai", 900), pending("copilot", 900)), "", 600},
		{"not where no review is needed", table(70, gemini).rules(NeedRule{Share: NoReview}), "", 0},
		{"unverified for good", table(70, unavailable("openai", 10), unavailable("copilot", 20), gemini), "", 600},
		{"unverified, but an answer may still come", table(70, unavailable("openai", 10), open, gemini), "cancel gemini, rerun gemini, ask gemini", 600},
		{"unverified for good, whatever a shadow may still say", table(70, unavailable("openai", 10), shadow(open), gemini), "", 600},
		{
			"unverified, and a required shadow is lost",
			table(70, unavailable("openai", 10), open, shadow(required(unavailable("sonar", 20))), gemini),
			"cancel gemini, rerun gemini, ask gemini",
			600,
		},
		{"unverified, and a required one is lost", table(70, approves("openai", 10), required(unavailable("sonar", 20)), gemini), "", 600},
		{
			"unverified, and a required one may still answer",
			table(70, approves("openai", 10), required(open), gemini),
			"cancel gemini, rerun gemini, ask gemini",
			600,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := test.w.decide()
			got := ""
			for _, some := range [][]Action{d.Effects.Cancels, d.Effects.Reruns, d.Effects.Requests} {
				for _, a := range some {
					if got != "" {
						got += ", "
					}
					got += fmt.Sprint(a.Kind, " ", a.Reviewer)
				}
			}
			if got != test.want || d.Effects.Empty() != (test.want == "") || d.outcome().wake != test.wake {
				t.Errorf("%s: %q, wake %d; want %q, wake %d", d.Verdict, got, d.outcome().wake, test.want, test.wake)
			}
			if !d.Effects.Empty() && (d.Effects.Head != "a1" || d.Effects.Base != "main") {
				t.Errorf("effects on %q, %q", d.Effects.Head, d.Effects.Base)
			}
		})
	}
}

// Who reads a decision knows what it is about, and until when it waits.
func TestADecisionSaysWhatItIsAbout(t *testing.T) {
	d := table(30, approves("openai", 10), approves("gemini", 20), pending("copilot", 600)).decide()
	if d.PR.String() != "acme/shop#7" || d.Head != "a1" || d.Base != "main" || d.Need != 2 || !d.Start.Equal(sec(0)) || !d.GraceEnd.Equal(sec(200)) {
		t.Errorf("%+v", d)
	}
	d = table(30, approves("openai", 10)).bob(9).facts(func(f *Facts) { f.Siblings = []int{8, 9} }).decide()
	if diff := cmp.Diff([]int{7, 8, 9}, d.Siblings); diff != "" {
		t.Error(diff)
	}
	d = table(30, approves("openai", 10), unavailable("gemini", 20)).bob(9).person("dan", 12).decide()
	if diff := cmp.Diff([]StandIn{{Login: "bob", Review: 9, At: sec(9)}}, d.StandIns); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkDecide(b *testing.B) {
	w := table(
		30,
		approves("openai", 10),
		approves("gemini", 20),
		next(pending("copilot", 600), Rerun, 100),
		unavailable("codex", 15),
		required(approves("bugbot", 5)),
	)
	passed := w.at(sec(300)).remembering(w.at(sec(300)).decide())
	moments := []struct {
		name string
		w    world
	}{{"waiting", w}, {"passes", w.at(sec(300))}, {"passed", passed}}
	for _, m := range moments {
		b.Run(m.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.w.decide()
			}
		})
	}
}
