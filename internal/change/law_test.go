package change_test

// The law of lanes: adding to a pull request never makes it easier.

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestMain(m *testing.M) { deadline.Watch(m).Run() }

var (
	somePaths    = []string{"docs/a.md", "docs/b.md", "web/a.css", "db/1.sql", "go.sum", "cart.go", "AGENTS.md", ".x/y.md"}
	somePatterns = []string{"docs/**", "**.md", "web/**", "db/**", "go.sum", "**", "!docs/b.md"}
	somePeople   = []string{"alice", "bob", "robot[bot]"}
	someLabels   = []string{"careful", "db"}
)

// some draws one to most of some values.
func some[T any](t *rapid.T, name string, most int, of []T) []T {
	return rapid.SliceOfN(rapid.SampledFrom(of), 1, most).Draw(t, name)
}

// mostly draws a value, or, one time of four, another one.
func mostly[T any](t *rapid.T, name string, value T, of []T) T {
	if rapid.IntRange(0, 3).Draw(t, name+"?") > 0 {
		return value
	}
	return rapid.SampledFrom(of).Draw(t, name)
}

// maybe draws one of some values, or nil.
func maybe[T any](t *rapid.T, name string, of ...T) *T {
	if rapid.IntRange(0, 4).Draw(t, name+"?") > 0 {
		return nil
	}
	return new(rapid.SampledFrom(of).Draw(t, name))
}

func drawCondition(t *rapid.T) (c quorum.Condition) {
	for _, kind := range rapid.SliceOfNDistinct(rapid.IntRange(0, 4), 1, 2, rapid.ID[int]).Draw(t, "kinds") {
		switch kind {
		case 0:
			c.AllPaths = some(t, "all_paths", 3, somePatterns)
		case 1:
			c.AnyPath = some(t, "any_path", 2, somePatterns)
		case 2:
			c.Authors = some(t, "authors", 2, somePeople)
		case 3:
			c.Labels = some(t, "labels", 2, someLabels)
		case 4:
			c.Base = some(t, "base", 2, []string{"main", "main", "stable", "st*", "feature"})
		}
	}
	return c
}

func drawNeed(t *rapid.T) quorum.NeedRule {
	return rapid.SampledFrom([]quorum.NeedRule{
		{Share: quorum.ByNumber, Count: 1},
		{Share: quorum.ByNumber, Count: 2},
		{Share: quorum.ByNumber, Count: 3},
		{Share: quorum.Majority},
		{Share: quorum.All},
		{Share: quorum.NoReview},
	}).Draw(t, "need")
}

// drawPeople draws what is asked of people: often nothing.
func drawPeople(t *rapid.T) quorum.People {
	of := rapid.SampledFrom([][]string{nil, nil, {"p0"}, {"P0", "p1"}, {"p2"}})
	rules := make([]quorum.PeopleRule, rapid.SampledFrom([]int{0, 0, 1, 1, 2}).Draw(t, "rules of people"))
	for i := range rules {
		rules[i] = quorum.PeopleRule{Count: rapid.IntRange(0, 2).Draw(t, "count"), Of: of.Draw(t, "of")}
	}
	return quorum.NewPeople(rules...)
}

// areMetWhere reports whether whoever approves as b asks approves as a asks.
func areMetWhere(a, b quorum.People) bool {
	areMet := func(people quorum.People, who int) bool {
		return !slices.ContainsFunc(people, func(r quorum.PeopleRule) bool {
			n := 0
			for i := range 5 {
				isOf := slices.ContainsFunc(r.Of, func(name string) bool { return strings.EqualFold(name, fmt.Sprint("p", i)) })
				if who>>i&1 == 1 && (isOf || len(r.Of) == 0) {
					n++
				}
			}
			return n < r.Count
		})
	}
	for who := range 1 << 5 {
		if areMet(b, who) && !areMet(a, who) {
			return false
		}
	}
	return true
}

// drawPolicy draws a policy without a fault in its lanes.
func drawPolicy(t *rapid.T) quorum.Policy {
	permissions := []quorum.Permission{0, quorum.Write, quorum.Maintain, quorum.Admin}
	p := quorum.Policy{
		People: drawPeople(t), Grace: time.Minute, Timeout: time.Minute, Deadline: time.Minute,
		StandIn: rapid.SampledFrom(permissions).Draw(t, "stand_in"), Override: rapid.SampledFrom(permissions).Draw(t, "override"),
		Threads:  rapid.SampledFrom([]quorum.ThreadsBy{quorum.ByOthers, quorum.ByAnyone}).Draw(t, "threads"),
		Families: rapid.SampledFrom([]quorum.Families{quorum.AnyFamily, quorum.DistinctFamily}).Draw(t, "families"),
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "reviewers") {
		r := quorum.Reviewer{Name: fmt.Sprint("r", i), Author: "robot[bot]"}
		if rapid.IntRange(0, 3).Draw(t, "when?") == 0 {
			r.When = drawCondition(t)
		}
		p.Reviewers = append(p.Reviewers, r)
	}
	if p.Rules = []quorum.NeedRule{drawNeed(t)}; p.Rules[0].Share == quorum.NoReview {
		p.Rules[0].Share = quorum.Majority
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "lanes") {
		l := quorum.Lane{
			Name: fmt.Sprint("l", i), If: drawCondition(t), People: maybe(t, "people", drawPeople(t)),
			OwnChange: maybe(t, "own_change", true, false), StandIn: maybe(t, "stand_in", permissions...), Override: maybe(t, "override", permissions...),
			Threads: maybe(t, "threads", quorum.ByOthers, quorum.ByAnyone), Grace: maybe(t, "grace", time.Second, time.Hour),
		}
		if rapid.Bool().Draw(t, "need?") {
			l.Need = new(drawNeed(t))
		}
		if rapid.IntRange(0, 3).Draw(t, "voters?") == 0 {
			l.Voters = []string{"r0"}
		}
		p.Lanes = append(p.Lanes, l)
		if _, _, isFaulty := change.LessThanAbove(&p, i); isFaulty {
			p.Lanes = p.Lanes[:i] // the policy would be refused
			break
		}
	}
	return p
}

func account(login string) quorum.Account {
	return quorum.Account{Login: login, Bot: login == "robot[bot]"}
}

// drawCommit draws a commit, mostly by one account alone.
func drawCommit(t *rapid.T, n int, by string) quorum.Commit {
	c := quorum.Commit{SHA: fmt.Sprint("c", n), Verified: mostly(t, "verified", true, []bool{false})}
	c.People = []quorum.Account{account(mostly(t, "by", by, somePeople))}
	if rapid.IntRange(0, 3).Draw(t, "button?") == 0 {
		c.People = append(c.People, account("web-flow"))
	}
	if rapid.IntRange(0, 9).Draw(t, "unknown?") == 0 {
		c.People = nil
	}
	return c
}

func drawPull(t *rapid.T) quorum.Snapshot {
	s, by := quorum.Snapshot{Links: []string{}}, rapid.SampledFrom(somePeople).Draw(t, "author")
	s.PR.DefaultBranch, s.PR.Author, s.PR.Head = "main", account(mostly(t, "opener", by, somePeople)), "c0"
	s.PR.BaseRef = mostly(t, "base", "main", []string{"stable", "feature"})
	for _, path := range some(t, "files", 2, somePaths) { // an empty list is an incomplete one
		s.PR.Files = append(s.PR.Files, quorum.File{Path: path})
	}
	s.PR.Labels = mostly(t, "labels", nil, [][]string{someLabels[:1], someLabels})
	for n := range rapid.IntRange(1, 2).Draw(t, "commits") {
		s.Commits = append(s.Commits, drawCommit(t, n, by))
	}
	s.PR.Commits = len(s.Commits)
	s.Pushes = []quorum.Push{{After: "c0", Actor: account(mostly(t, "pusher", by, append([]string{""}, somePeople...)))}}
	return s
}

// addTo draws something that is added to a pull request, or a signature that goes.
func addTo(t *rapid.T, s quorum.Snapshot) quorum.Snapshot {
	s.PR.Files, s.PR.Labels, s.Commits = slices.Clone(s.PR.Files), slices.Clone(s.PR.Labels), slices.Clone(s.Commits)
	at := rapid.IntRange(0, len(s.Commits)-1).Draw(t, "of")
	switch rapid.SampledFrom([]string{"file", "files", "rename", "label", "commit", "unlisted commit", "co-author", "signature", "push"}).Draw(t, "adds") {
	case "file":
		s.PR.Files = append(s.PR.Files, quorum.File{Path: rapid.SampledFrom(somePaths).Draw(t, "path")})
	case "files": // more than GitHub lists
		s.PR.FilesMissing = true
	case "rename":
		s.PR.Files = append(s.PR.Files, quorum.File{Path: "docs/b.md", Previous: rapid.SampledFrom(somePaths).Draw(t, "path")})
	case "label":
		s.PR.Labels = append(s.PR.Labels, rapid.SampledFrom(someLabels).Draw(t, "label"))
	case "commit":
		s.Commits = append(s.Commits, drawCommit(t, 9, rapid.SampledFrom(somePeople).Draw(t, "committer")))
		s.PR.Commits++
	case "unlisted commit":
		s.PR.Commits++
	case "co-author":
		c := &s.Commits[at]
		c.People = append(slices.Clone(c.People), account(rapid.SampledFrom(somePeople).Draw(t, "who")))
		if !slices.ContainsFunc(c.People[:len(c.People)-1], func(a quorum.Account) bool { return a.Login != "web-flow" }) {
			c.People = append(c.People, quorum.Account{}) // its author stays unknown
		}
	case "signature":
		s.Commits[at].Verified = false
	case "push":
		if s.Pushes[0].Actor.Login == "" {
			break // to know who pushed is no addition
		}
		s.Pushes = append(slices.Clone(s.Pushes), quorum.Push{After: "c0", Actor: account(rapid.SampledFrom(somePeople).Draw(t, "pusher"))})
	}
	return s
}

// whatIsLess says in what a policy asks less than another, told without what the product compares them by; "": in nothing.
func whatIsLess(p, than quorum.Policy) string {
	need := func(p quorum.Policy) (most int) {
		voters := 0
		for _, r := range p.Reviewers {
			if r.Excused == "" {
				voters++
			}
		}
		for _, rule := range p.Rules {
			switch rule.Share {
			case quorum.ByNumber:
				most = max(most, rule.Count)
			case quorum.Majority:
				most = max(most, voters/2+1)
			case quorum.All:
				most = max(most, voters, 1)
			case quorum.NoReview:
			}
		}
		return most
	}
	for i := range than.Reviewers {
		if than.Reviewers[i].Relative != nil && p.Reviewers[i].Relative == nil {
			return "the author's family"
		}
		if than.Reviewers[i].Excused == "" && p.Reviewers[i].Excused != "" {
			return "the vote of " + than.Reviewers[i].Name
		}
	}
	width := map[quorum.Permission]int{0: 0, quorum.Admin: 1, quorum.Maintain: 2, quorum.Write: 3}
	switch {
	case need(p) < need(than):
		return fmt.Sprintf("%d approvals for %d", need(p), need(than))
	case !areMetWhere(than.People, p.People):
		return "people"
	case width[p.StandIn] > width[than.StandIn]:
		return "stand_in"
	case width[p.Override] > width[than.Override]:
		return "override"
	case p.OwnChange && !than.OwnChange:
		return "own_change"
	case p.Threads == quorum.ByAnyone && than.Threads == quorum.ByOthers:
		return "threads"
	}
	return ""
}

// One more file, label, commit, author or push, or one signature less, never lowers the quorum, the people or who votes, nor does it
// give more people a say.
func TestAddingNeverAsksLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, s := drawPolicy(t), drawPull(t)
		before, after := change.PolicyFor(p, s), change.PolicyFor(p, addTo(t, s))
		if less := whatIsLess(after, before); less != "" {
			t.Fatalf("it asks less: %s (lanes %+v, then %+v)", less, before.Lane, after.Lane)
		}
	})
}
