package quorum

// What a lane makes of a policy: what it asks more is added, what it asks less counts in place of the top level's.

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNeedOf(t *testing.T) {
	for _, test := range []struct {
		name string
		rule NeedRule
		want [6]int // of so many voters
	}{
		{"a number", NeedRule{Share: ByNumber, Count: 2}, [6]int{2, 2, 2, 2, 2, 2}},
		{"majority", NeedRule{Share: Majority}, [6]int{1, 1, 2, 2, 3, 3}},
		{"all", NeedRule{Share: All}, [6]int{1, 1, 2, 3, 4, 5}},
		{"no review", NeedRule{Share: NoReview}, [6]int{}},
		{"no rule at all", NeedRule{}, [6]int{1, 1, 2, 3, 4, 5}},
	} {
		for voters, want := range test.want {
			if got := test.rule.Of(voters); got != want {
				t.Errorf("%s of %d: %d, want %d", test.name, voters, got, want)
			}
		}
	}
	none, majority, broken := NeedRule{Share: NoReview}, NeedRule{Share: Majority}, NeedRule{Share: ByNumber}
	for _, test := range []struct {
		name          string
		p             Policy
		need          int // of three voters
		nobody, hears bool
	}{
		{"the policy's own", Policy{Need: 2}, 2, false, false},
		{"people", Policy{Need: 2, People: NewPeople(PeopleRule{Count: 1})}, 2, false, true},
		{"one rule", Policy{Need: 1, Rules: []NeedRule{majority}}, 2, false, false},
		{"the strictest of several", Policy{Need: 1, Rules: []NeedRule{{Share: All}, majority, {Share: ByNumber, Count: 1}}}, 3, false, false},
		{"no review", Policy{Need: 2, Rules: []NeedRule{none}}, 0, true, true},
		{"no review, and a label that asks for more", Policy{Rules: []NeedRule{none, majority}}, 2, false, true},
		{"a number of zero", Policy{Need: 2, Rules: []NeedRule{broken}}, 0, false, false},
		{"no review, and a number of zero", Policy{Need: 2, Rules: []NeedRule{none, broken}}, 0, false, true},
	} {
		if got := test.p.NeedOf(3); got != test.need || test.p.NeedsNoReview() != test.nobody || test.p.HearsPeople() != test.hears {
			t.Errorf("%s: %d, no review %v, hears people %v", test.name, got, test.p.NeedsNoReview(), test.p.HearsPeople())
		}
	}
}

func TestIsLess(t *testing.T) {
	two, three, majority, all, none := NeedRule{Share: ByNumber, Count: 2}, NeedRule{Share: ByNumber, Count: 3}, NeedRule{Share: Majority},
		NeedRule{Share: All}, NeedRule{Share: NoReview}
	for _, test := range []struct {
		name string
		a, b NeedRule
		most int
		want bool
	}{
		{"two and three", two, three, 3, true},
		{"three and two", three, two, 3, false},
		{"the same", majority, majority, 5, false},
		{"a majority of up to two and all", majority, all, 2, false},
		{"a majority of three and all", majority, all, 3, true},
		{"all and two, where one may be left", all, two, 5, true},
		{"two and all of two", two, all, 2, false},
		{"two and all of three", two, all, 3, true},
		{"none and a majority of nobody", none, majority, 0, true},
		{"a majority and none", majority, none, 5, false},
	} {
		if got := test.a.IsLess(test.b, test.most); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	for a, as := range map[Permission][4]bool{0: {}, Write: {true, false, true, true}, Maintain: {true, false, false, true}, Admin: {true}} {
		for b, want := range as {
			if got := a.IsWider(Permission(b)); got != want { //nolint:gosec // of four
				t.Errorf("permission %d is wider than %d: %v", a, b, got)
			}
		}
	}
}

func drawNeed(t *rapid.T) NeedRule {
	return NeedRule{Share: rapid.SampledFrom([]Share{ByNumber, Majority, All, NoReview}).Draw(t, "share"), Count: rapid.IntRange(1, 4).Draw(t, "count")}
}

// drawKey draws a key of a lane: half of them are the top level's.
func drawKey[T any](t *rapid.T, name string, of ...T) *T {
	if rapid.Bool().Draw(t, name+"?") {
		return nil
	}
	value := rapid.SampledFrom(of).Draw(t, name)
	return &value
}

func drawPolicy(t *rapid.T) Policy {
	permissions := []Permission{0, Write, Maintain, Admin}
	p := Policy{
		Need: rapid.IntRange(1, 4).Draw(t, "need"), People: drawPeople(t),
		Grace: drawTime(t, "grace"), Timeout: drawTime(t, "timeout"), Deadline: drawTime(t, "deadline"),
		EarlyStart: rapid.Bool().Draw(t, "early start"), StandIn: rapid.SampledFrom(permissions).Draw(t, "stand in"),
		OwnChange: rapid.Bool().Draw(t, "own change"),
		Override:  rapid.SampledFrom(permissions).Draw(t, "override"), Threads: rapid.SampledFrom([]ThreadsBy{ByOthers, ByAnyone}).Draw(t, "threads"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "rules") {
		p.Rules = append(p.Rules, drawNeed(t))
	}
	for _, name := range []string{"openai", "gemini", "copilot"} {
		r := Reviewer{Name: name, Timeout: p.Timeout, Excused: rapid.SampledFrom([]Reason{"", "", ReasonWhen}).Draw(t, "excused")}
		if r.OwnTimeout = rapid.Bool().Draw(t, "own timeout"); r.OwnTimeout {
			r.Timeout = 7 * time.Minute
		}
		p.Reviewers = append(p.Reviewers, r)
	}
	return p
}

// drawPeople draws what is asked of people: often nothing.
func drawPeople(t *rapid.T) People {
	of := rapid.SampledFrom([][]string{nil, nil, {"person0"}, {"person1", "Person0"}, {"acme/owners"}, {"person2", "Acme/Owners"}})
	rules := make([]PeopleRule, rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 1, 2}).Draw(t, "rules of people"))
	for i := range rules {
		rules[i] = PeopleRule{rapid.IntRange(0, 2).Draw(t, "count"), of.Draw(t, "of")}
	}
	return NewPeople(rules...)
}

// areMet reports whether some people's approvals are all that a policy asks for.
func areMet(people People, approving ...string) bool {
	for _, rule := range people {
		n := 0
		for _, login := range approving {
			isOwner := login == "person1" || login == "person3"
			if len(rule.Of) == 0 || slices.ContainsFunc(rule.Of, func(name string) bool {
				return strings.EqualFold(name, login) || isOwner && strings.EqualFold(name, "acme/owners")
			}) {
				n++
			}
		}
		if n < rule.Count {
			return false
		}
	}
	return true
}

// isAnyNamed reports whether a person is one of those whom a policy asks for by their name or team.
func isAnyNamed(people People, login string) bool {
	return slices.ContainsFunc(people, func(r PeopleRule) bool { return len(r.Of) > 0 && areMet(People{{1, r.Of}}, login) })
}

func logins(all []StandIn) (names []string) {
	for _, s := range all {
		names = append(names, s.Login)
	}
	return names
}

// theTeams are what [areMet] knows.
var theTeams = Teams{"acme/owners": {Members: []string{"Person1", "person3"}}}

// areMetWhere reports whether whoever meets b meets a.
func areMetWhere(a, b People) bool {
	for who := range 1 << 6 {
		var approving []string
		for i := range 6 {
			if who>>i&1 == 1 {
				approving = append(approving, fmt.Sprint("person", i))
			}
		}
		if areMet(b, approving...) && !areMet(a, approving...) {
			return false
		}
	}
	return true
}

func drawTime(t *rapid.T, name string) time.Duration {
	return time.Duration(rapid.IntRange(1, 5).Draw(t, name)) * time.Minute
}

func drawLane(t *rapid.T) Lane {
	minutes, permissions, need := []time.Duration{time.Minute, 3 * time.Minute, 9 * time.Minute}, []Permission{0, Write, Maintain, Admin}, drawNeed(t)
	return Lane{
		Name: "lane", Why: "why", If: Condition{Base: []string{"main"}}, Need: drawKey(t, "quorum", need), People: drawKey(t, "people", drawPeople(t)),
		Voters: rapid.SampledFrom([][]string{nil, {}, {"openai"}, {"gemini", "copilot"}}).Draw(t, "voters"),
		Grace:  drawKey(t, "grace", minutes...), Timeout: drawKey(t, "timeout", minutes...), Deadline: drawKey(t, "deadline", minutes...),
		EarlyStart: drawKey(t, "early start", true, false), StandIn: drawKey(t, "stand in", permissions...),
		OwnChange: drawKey(t, "own change", true, false), Override: drawKey(t, "override", permissions...), Threads: drawKey(t, "threads", ByOthers, ByAnyone),
	}
}

// lessOf says in what b asks less than a; "" if in nothing.
func lessOf(a, b Policy) string {
	for voters := range 8 {
		if b.NeedOf(voters) < a.NeedOf(voters) {
			return "approvals"
		}
	}
	for i, r := range a.Reviewers {
		o := b.Reviewers[i]
		switch {
		case o.Name != r.Name, o.Excused != r.Excused:
			return "voters"
		case o.Timeout < r.Timeout, o.OwnTimeout != r.OwnTimeout:
			return "a reviewer's timeout"
		}
	}
	switch {
	case b.NeedsNoReview() && !a.NeedsNoReview():
		return "a review"
	case a.HearsPeople() && !b.HearsPeople():
		return "people's say"
	case !areMetWhere(a.People, b.People):
		return "people"
	case b.Grace < a.Grace:
		return "grace"
	case b.Timeout < a.Timeout:
		return "timeout"
	case b.Deadline < a.Deadline:
		return "deadline"
	case b.EarlyStart && !a.EarlyStart:
		return "early start"
	case b.StandIn.IsWider(a.StandIn):
		return "stand-in"
	case b.Override.IsWider(a.Override):
		return "override"
	case b.OwnChange && !a.OwnChange:
		return "own change"
	case b.Threads > a.Threads:
		return "threads"
	}
	return ""
}

// raised is p with what l adds to top.
func (p Policy) raised(l *Lane, top *Policy) Policy {
	adds, _ := top.Compare(l)
	return p.Adding(l, adds)
}

// Whatever is added, in whatever order, nothing is asked less.
func TestWhatIsAddedNeverAsksLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top, a, b := drawPolicy(t), drawLane(t), drawLane(t)
		p := top
		if rapid.Bool().Draw(t, "in a lane") {
			l := drawLane(t)
			p = p.InLane(&l)
		}
		before := p
		before.Reviewers, before.Rules = slices.Clone(p.Reviewers), slices.Clone(p.Rules)
		one, voters := p.raised(&a, &top), top.CountVoters(top.Reviewers)
		if less := lessOf(p, one); less != "" {
			t.Fatalf("asks less: %s", less)
		}
		isLost := a.People != nil && !areMetWhere(*a.People, one.People) && !areMetWhere(*a.People, top.People)
		if isLost || a.Need != nil && a.Need.Of(voters) > max(one.NeedOf(voters), top.NeedOf(voters)) {
			t.Fatal("what the lane asks is not asked")
		}
		both, turned := one.raised(&b, &top), p.raised(&b, &top).raised(&a, &top)
		if less := lessOf(one, both); less != "" {
			t.Fatalf("a second one asks less: %s", less)
		}
		if less := lessOf(both, turned) + lessOf(turned, both); less != "" {
			t.Fatalf("it depends on their order: %s", less)
		}
		if diff := cmp.Diff(before, p); diff != "" {
			t.Fatalf("the policy itself was changed:\n%s", diff)
		}
		if n := len(both.Lane.Added) - len(p.Lane.Added); n != 2 || both.Lane.Added[n-1].By.Base == nil {
			t.Fatalf("%+v", both.Lane)
		}
	})
}

// The test above would hold of an addition that does nothing, and of any if lessOf saw nothing: each key that a lane
// replaces can be less.
func TestALaneMayAskLess(t *testing.T) {
	want := []string{
		"approvals", "voters", "a reviewer's timeout", "people", "grace", "deadline", "early start", "stand-in", "override", "own change", "threads",
	}
	seen := make(map[string]bool)
	lanes := rapid.Custom(func(t *rapid.T) string {
		p, l := drawPolicy(t), drawLane(t)
		if less := lessOf(p, p.InLane(&l)); less == "approvals" || less == "" || rapid.Bool().Draw(t, "as it is") {
			return less
		}
		l.Need, l.Voters, l.Timeout = nil, nil, nil // so that what comes later is seen
		return lessOf(p, p.InLane(&l))
	})
	for i := range 2000 {
		seen[lanes.Example(i)] = true
	}
	for _, less := range want {
		if !seen[less] {
			t.Errorf("no lane asks less: %s", less)
		}
	}
}

// A lane that alone surely holds says how each key is that it names.
func TestALaneReplacesWhatItNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, l := drawPolicy(t), drawLane(t)
		before := p
		before.Reviewers = slices.Clone(p.Reviewers)
		adds, less := p.Compare(&l)
		want, got := p, p.InLane(&l)
		want.Reviewers = slices.Clone(p.Reviewers)
		for i := range want.Reviewers {
			r := &want.Reviewers[i]
			if l.Voters != nil && !slices.Contains(l.Voters, r.Name) && r.Excused == "" && !p.NeedsNoReview() {
				r.Excused = ReasonOtherLane
			}
			if l.Timeout != nil && !r.OwnTimeout {
				r.Timeout = *l.Timeout
			}
		}
		replaceKey(&want.People, l.People)
		replaceKey(&want.Grace, l.Grace)
		replaceKey(&want.Timeout, l.Timeout)
		replaceKey(&want.Deadline, l.Deadline)
		replaceKey(&want.EarlyStart, l.EarlyStart)
		replaceKey(&want.StandIn, l.StandIn)
		replaceKey(&want.Override, l.Override)
		replaceKey(&want.OwnChange, l.OwnChange)
		replaceKey(&want.Threads, l.Threads)
		always := slices.DeleteFunc(slices.Clone(p.Reviewers), func(r Reviewer) bool { return r.When.Names() })
		for n := p.CountVoters(always); l.Need != nil && n <= p.CountVoters(p.Reviewers); n++ {
			if got.NeedOf(n) != l.Need.Of(n) {
				t.Fatalf("%d approvals of %d, want %d", got.NeedOf(n), n, l.Need.Of(n))
			}
		}
		want.Rules, want.Lane = got.Rules, got.Lane
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if isNamed := got.Lane.Name != ""; isNamed != EndsReading(less) || (len(got.Lane.Added) > 0) != (len(adds) > 0 || len(less) > 0 && !isNamed) {
			t.Fatalf("adds %v, less in %v: %+v", adds, less, got.Lane)
		}
		if diff := cmp.Diff(before, p); diff != "" {
			t.Fatalf("the policy itself was changed:\n%s", diff)
		}
	})
}

// An exception shields from nothing above it.
func TestWhatIsAddedAboveIsNotLoosened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top, above, l := drawPolicy(t), drawLane(t), drawLane(t)
		adds, _ := top.Compare(&above)
		_, less := top.Compare(&l)
		p := top.Adding(&above, adds)
		got := p.Loosened(&l, less, adds)
		for _, key := range got.LessThan(&p) {
			if slices.Contains(adds, key) || key == "reviewers" && slices.Contains(adds, "quorum") {
				t.Fatalf("%s was added above (%v) and is less now", key, adds)
			}
		}
	})
}

func replaceKey[T any](key, by *T) {
	if by != nil {
		*key = *by
	}
}

func TestConditionsThatOnlyAdd(t *testing.T) {
	for _, test := range []struct {
		name        string
		is          Condition
		adds, names bool
	}{
		{"nothing", Condition{}, false, false},
		{"all paths", Condition{AllPaths: []string{"docs/**"}}, false, true},
		{"any path", Condition{AnyPath: []string{"docs/**"}}, true, true},
		{"authors", Condition{Authors: []string{"bob"}}, false, true},
		{"base", Condition{Base: []string{"main"}}, false, true},
		{"labels", Condition{Labels: []string{"large"}}, true, true},
		{"labels beside paths", Condition{Labels: []string{"large"}, AllPaths: []string{"docs/**"}}, true, true},
	} {
		if test.is.OnlyAdds() != test.adds || test.is.Names() != test.names {
			t.Errorf("%s: adds %v, names %v", test.name, test.is.OnlyAdds(), test.is.Names())
		}
	}
}
