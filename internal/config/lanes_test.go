package config

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestLanesReachThePolicy(t *testing.T) {
	p, err := Parse(file, []byte(`
quorum: 2
people: 1
families: distinct
timeout: 8m
lanes:
  - name: docs
    if: {all_paths: ["docs/**", "*.md"], base: [main], authors: [octocat, "robot[bot]"]}
    quorum: none
    why: docs only
  - name: all
    if: {all_paths: ["a/**"], base: [stable, "release/**"]}
    quorum: all
    people: 0
    reviewers: [alpha]
    grace: 0s
    timeout: 20m
    deadline: 1h
    early_start: false
    stand_in: admin
    override: admin
    threads: anyone
  - {name: number, if: {base: [x]}, quorum: 2}
  - {name: word, if: {base: [y]}, quorum: majority}
  - {name: empty, if: {base: [z]}}
reviewers:
  - {name: alpha, author: "alpha[bot]", family: " Acme ", timeout: 5m}
  - preset: claude-action
    workflow: .github/workflows/claude.yml
    when: {any_path: ["**.go", "!**_test.go"], authors: [octocat], labels: [ai], base: [main]}
  - {preset: codex, family: acme}
  - {preset: copilot}
`))
	if err != nil {
		t.Fatal(err)
	}
	rule := func(share quorum.Share, count int) *quorum.NeedRule {
		return &quorum.NeedRule{Share: share, Count: count}
	}
	want := []quorum.Lane{
		{
			Name: "docs", Why: "docs only", Need: rule(quorum.NoReview, 0),
			If: quorum.Condition{AllPaths: []string{"docs/**", "*.md"}, Base: []string{"main"}, Authors: []string{"octocat", "robot[bot]"}},
		},
		{
			Name: "all", Need: rule(quorum.All, 0), People: new(quorum.People(nil)), Voters: []string{"alpha"},
			If: quorum.Condition{
				AllPaths: []string{"a/**"}, Base: []string{"stable", "release/**"},
			},
			Grace: new(time.Duration(0)), Timeout: new(20 * time.Minute), Deadline: new(time.Hour), EarlyStart: new(false),
			StandIn: new(quorum.Admin), Override: new(quorum.Admin), Threads: new(quorum.ByAnyone),
		},
		{Name: "number", Need: rule(quorum.ByNumber, 2), If: quorum.Condition{Base: []string{"x"}}},
		{Name: "word", Need: rule(quorum.Majority, 0), If: quorum.Condition{Base: []string{"y"}}},
		{Name: "empty", If: quorum.Condition{Base: []string{"z"}}},
	}
	if diff := cmp.Diff(want, p.Lanes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if p.Need != 2 || p.People.Least() != 1 || p.Timeout != 8*time.Minute || !slices.Equal(p.Rules, []quorum.NeedRule{*rule(quorum.ByNumber, 2)}) {
		t.Errorf("the top level: need %d, rules %v, people %v, timeout %v", p.Need, p.Rules, p.People, p.Timeout)
	}
	var families, timeouts []string
	for _, q := range p.Reviewers {
		families = append(families, q.Family)
		timeouts = append(timeouts, fmt.Sprint(q.Timeout, q.OwnTimeout))
	}
	if want := []string{"acme", "anthropic", "acme", ""}; !slices.Equal(families, want) {
		t.Errorf("families %q, want %q", families, want)
	}
	if want := []string{"5m0s true", "8m0s false", "8m0s false", "8m0s false"}; !slices.Equal(timeouts, want) {
		t.Errorf("timeouts %q, want %q", timeouts, want)
	}
	when := quorum.Condition{
		AnyPath: []string{"**.go", "!**_test.go"}, Authors: []string{"octocat"}, Labels: []string{"ai"}, Base: []string{"main"},
	}
	if diff := cmp.Diff(when, p.Reviewers[1].When); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestNeedOfFamilies: families are counted in the need of all voters, in majority and in all.
func TestNeedOfFamilies(t *testing.T) {
	for word, want := range map[string]int{"majority": 2, "all": 3, "3": 3, "1": 1} {
		p, err := Parse(file, []byte("quorum: "+word+`
families: distinct
reviewers:
  - {name: a, author: a, family: one}
  - {name: b, author: b, family: ONE}
  - {name: c, author: c, family: two}
  - {name: d, author: d}
  - {name: e, author: e, family: three, shadow: true}
`))
		if err != nil || p.Need != want {
			t.Errorf("quorum: %s needs %d (%v), want %d", word, p.Need, err, want)
		}
	}
}

// TestDesignsExample: the policy that shows every key but those that this version refuses, with what follows from it.
func TestDesignsExample(t *testing.T) {
	src, err := os.ReadFile("testdata/good/design.yml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Parse(file, src)
	if err != nil {
		t.Fatal(err)
	}
	less := map[string]bool{}
	for i := range p.Lanes {
		less[p.Lanes[i].Name] = asksLess(p, i)
	}
	if want := map[string]bool{"docs": true, "lockfile": true, "database": false, "stable": true}; !cmp.Equal(less, want) {
		t.Errorf("ask less: %v, want %v", less, want)
	}
	if _, err := Parse(file, []byte("lanes:\n"+lanesExample+"reviewers:\n"+shapesExample)); err != nil {
		t.Errorf("the example of lanes:\n%v", err)
	}
}

// asksLess reports whether a lane asks less than the top level.
func asksLess(p quorum.Policy, lane int) bool {
	_, less := p.Compare(&p.Lanes[lane])
	return len(less) > 0
}

// TestAsksLess: each key, a little less and a little more than the top level.
func TestAsksLess(t *testing.T) {
	const top = `
quorum: 2
people: 1
grace: 3m
timeout: 10m
deadline: 45m
stand_in: maintain
override: maintain
lanes:
  - {name: lane, if: {base: [x]}, KEY}
reviewers:
  - {name: a, author: a}
  - {name: b, author: b}
  - {name: c, author: c, WHEN}
  - {name: d, author: d, shadow: true}
`
	for _, test := range []struct {
		key, when string
		less      bool
	}{
		{key: "why: nothing else"},
		{key: "quorum: none", less: true},
		{key: "quorum: 1", less: true},
		{key: "quorum: 2"},
		{key: "quorum: majority"},
		{key: "quorum: all"},
		{key: "quorum: all", when: "when: {any_path: [a]}"}, // 2 of 2, or 3 of 3
		{key: "quorum: majority", when: "when: {any_path: [a]}"},
		{key: "people: 0", less: true},
		{key: "people: 2"},
		{key: "reviewers: [a, b]", less: true},
		{key: "reviewers: [c, b, a]"},
		{key: "reviewers: [a, b, c, d]"},
		{key: "grace: 2m59s", less: true},
		{key: "grace: 4m"},
		{key: "timeout: 9m", less: true},
		{key: "timeout: 11m"},
		{key: "deadline: 44m", less: true},
		{key: "deadline: 46m"},
		{key: "early_start: false"},
		{key: "early_start: true"},
		{key: "stand_in: write", less: true},
		{key: "stand_in: admin"},
		{key: "stand_in: none, people: 0", less: true},
		{key: "override: none"},
		{key: "override: admin"},
		{key: "threads: anyone", less: true},
		{key: "threads: others"},
	} {
		p, err := Parse(file, []byte(strings.NewReplacer("KEY", test.key, ", WHEN", strings.TrimSuffix(", "+test.when, ", ")).Replace(top)))
		if err != nil {
			t.Errorf("%s: %v", test.key, err)
			continue
		}
		if got := asksLess(p, 0); got != test.less {
			t.Errorf("%s (%s): asks less: %t", test.key, test.when, got)
		}
	}
	// A number is more than all of one: where the others do not vote, all asks for less.
	p, err := Parse(file, []byte("quorum: 2\nlanes: [{name: l, if: {base: [x]}, quorum: all}]\nreviewers:\n"+
		"  - {name: a, author: a}\n  - {name: b, author: b, when: {any_path: [x]}}\n"))
	if err != nil || !asksLess(p, 0) {
		t.Errorf("all of one is not less than 2 (%v)", err)
	}
}

// randomLanes writes a policy of random keys.
func randomLanes(random *rand.Rand) string {
	var b strings.Builder
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	keys := func(indent, separator string, chance int) {
		for _, line := range []string{
			"quorum: " + pick("1", "2", "3", "majority", "all"), "people: " + pick("0", "1", "2"),
			"grace: " + pick("0s", "3m", "10m"), "timeout: " + pick("1m", "10m", "20m"), "deadline: " + pick("30m", "45m", "2h"),
			"stand_in: " + pick("none", "write", "maintain", "admin"), "override: " + pick("none", "maintain", "admin"),
			"threads: " + pick("others", "anyone"), "early_start: " + pick("true", "false"),
		} {
			if random.IntN(chance) == 0 {
				b.WriteString(indent + line + separator)
			}
		}
	}
	keys("", "\n", 3)
	fmt.Fprintf(&b, "families: %s\nlanes:\n", pick("any", "distinct"))
	voters := 1 + random.IntN(4)
	for i := range 3 {
		fmt.Fprintf(&b, "  - {name: lane%d, if: {base: [b]}", i)
		keys(", ", "", 5)
		if random.IntN(3) == 0 {
			fmt.Fprintf(&b, ", reviewers: [r%s]", strings.Join(strings.Split("012345"[:1+random.IntN(voters)], ""), ", r"))
		}
		b.WriteString("}\n")
	}
	b.WriteString("reviewers:\n")
	for i := range voters {
		fmt.Fprintf(&b, "  - {name: r%d, author: r%d", i, i)
		for _, key := range []string{", family: " + pick("a", "b", "c"), ", when: {any_path: [x]}", ", timeout: 5m"} {
			if random.IntN(3) == 0 {
				b.WriteString(key)
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// TestAsksLessAgainstTrying holds it to a second implementation that tries whoever of those with a condition votes.
func TestAsksLessAgainstTrying(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 1))
	seen := map[bool]int{}
	for range 800 {
		src := randomLanes(random)
		p, err := Parse(file, []byte(src))
		if err != nil {
			continue // a quorum that nobody can reach, people that nobody can be, a lane that asks less than one above it
		}
		for i, lane := range p.Lanes {
			got, want := asksLess(p, i), triedLess(p, lane)
			if got != want {
				t.Fatalf("%s: asks less: %t, want %t\n%s", lane.Name, got, want, src)
			}
			seen[got]++
		}
	}
	if seen[true] < 100 || seen[false] < 100 {
		t.Errorf("too few lanes of each kind: %v", seen)
	}
}

// triedLess tries every set of reviewers whose condition may fail.
func triedLess(p quorum.Policy, lane quorum.Lane) bool {
	for _, r := range p.Reviewers {
		if lane.Voters != nil && !slices.Contains(lane.Voters, r.Name) {
			return true
		}
	}
	rank := func(p quorum.Permission) int { // how many people have it: write, maintain, admin, nobody
		return []int{0, 3, 2, 1}[p]
	}
	less := lane.People != nil && lane.People.Least() < p.People.Least() || lane.Grace != nil && *lane.Grace < p.Grace ||
		lane.Timeout != nil && *lane.Timeout < p.Timeout || lane.Deadline != nil && *lane.Deadline < p.Deadline ||
		lane.StandIn != nil && rank(*lane.StandIn) > rank(p.StandIn) || lane.Override != nil && rank(*lane.Override) > rank(p.Override) ||
		lane.Threads != nil && *lane.Threads > p.Threads || lane.EarlyStart != nil && *lane.EarlyStart && !p.EarlyStart
	for absent := range 1 << len(p.Reviewers) {
		counted := map[string]bool{}
		for i, r := range p.Reviewers {
			if absent>>i&1 == 1 && r.When.Names() {
				continue
			}
			if p.Families == quorum.AnyFamily || r.Family == "" {
				counted["reviewer "+r.Name] = true
			} else {
				counted["family "+r.Family] = true
			}
		}
		less = less || lane.Need != nil && lane.Need.Of(len(counted)) < p.Rules[0].Of(len(counted))
	}
	return less
}

// TestLanesOfTheDocs: the policy of docs/lanes.md is valid, and nothing in it is warned of.
func TestLanesOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/lanes.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	src, _, _ := strings.Cut(rest, "```")
	p, err := Parse(file, []byte(src))
	if err != nil || len(p.Lanes) != 5 {
		t.Fatalf("%d lanes: %v", len(p.Lanes), err)
	}
	for _, w := range MergeWarnings(file, []byte(src), nil) {
		t.Error(w)
	}
	var less []string
	for i := range p.Lanes {
		if asksLess(p, i) {
			less = append(less, p.Lanes[i].Name)
		}
	}
	if want := []string{"docs", "lockfiles"}; !slices.Equal(less, want) {
		t.Errorf("%q ask less, want %q", less, want)
	}
}
