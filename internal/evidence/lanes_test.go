package evidence_test

// In which lane a pull request is, and who votes on it.

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// inLanes is a scene whose policy has those lanes, and whose links are known.
func inLanes(lanes ...quorum.Lane) *scene {
	return onHead(openai(), sage()).with(func(x *scene) {
		x.p.Rules, x.p.Lanes, x.s.Links = []quorum.NeedRule{{Share: quorum.Majority}}, lanes, []string{}
		x.s.File.Path = ".github/review-coordinator.yml"
	})
}

func lane(name string, on quorum.Condition) quorum.Lane { return quorum.Lane{Name: name, If: on} }

// laxer is a lane that needs no review.
func laxer(name string, on quorum.Condition) quorum.Lane {
	return quorum.Lane{Name: name, If: on, Laxer: true, Need: &quorum.NeedRule{Share: quorum.NoReview}}
}

// changes are the files that the pull request changes: "old -> new" is a rename.
func (x *scene) changes(paths ...string) *scene {
	x.s.PR.Files = nil
	for _, path := range paths {
		old, renamed, isRename := strings.Cut(path, " -> ")
		f := quorum.File{Path: path}
		if isRename {
			f = quorum.File{Path: renamed, Previous: old}
		}
		x.s.PR.Files = append(x.s.PR.Files, f)
	}
	return x
}

// made says who opened the pull request, and who made and pushed its commit.
func (x *scene) made(opened, made, pushed string, verified bool) *scene {
	x.s.PR.Author = who(opened)
	x.s.Commits = []quorum.Commit{{SHA: head, Verified: verified}}
	for _, login := range strings.Fields(made) {
		x.s.Commits[0].People = append(x.s.Commits[0].People, who(login))
	}
	x.s.Pushes = nil
	if pushed != "" {
		x.s.Pushes = []quorum.Push{{After: head, Actor: who(pushed), At: at(-1)}}
	}
	return x
}

// laneText tells a choice in a line: the lane, those that were added, and why others are not.
func laneText(c quorum.LaneChoice) string {
	words := []string{c.Name}
	if c.Name == "" {
		words[0] = "none"
	}
	for _, added := range c.Added {
		words = append(words, "+"+added)
	}
	for _, not := range c.Not {
		words = append(words, strings.TrimSpace("not "+not.Name+": "+string(not.Reason)+" "+not.Detail))
	}
	return strings.Join(words, ", ")
}

func TestLaneOfPullRequest(t *testing.T) {
	on := func(c quorum.Condition) *scene { return inLanes(lane("a", c)) }
	docs := func() *scene {
		return inLanes(laxer("docs", quorum.Condition{Paths: []string{"docs/**", "*.md", "v1+"}})).changes("docs/a.md")
	}
	lockfile := func() *scene {
		return inLanes(laxer("lock", quorum.Condition{Authors: []string{"dependabot[bot]", "alice"}, Paths: []string{"go.sum"}})).changes("go.sum")
	}
	with := func(x *scene, f func(*quorum.Snapshot)) *scene { f(&x.s); return x }
	for _, test := range []struct {
		name string
		x    *scene
		want string
	}{
		{"paths: all match", on(quorum.Condition{Paths: []string{"web/**"}}).changes("web/a.js", "web/b/c.js"), "a"},
		{"paths: one does not", on(quorum.Condition{Paths: []string{"web/**"}}).changes("web/a.js", "cart.go"), "none"},
		{"paths: one that is excluded", on(quorum.Condition{Paths: []string{"web/**", "!web/pay/**"}}).changes("web/pay/a.js"), "none"},
		{"paths: a rename from elsewhere", on(quorum.Condition{Paths: []string{"web/**"}}).changes("cart.js -> web/cart.js"), "none"},
		{"paths: a rename to elsewhere", on(quorum.Condition{Paths: []string{"web/**"}}).changes("web/cart.js -> cart.js"), "none"},
		{"paths: a rename within", on(quorum.Condition{Paths: []string{"web/**"}}).changes("web/a.js -> web/b.js"), "a"},
		{"paths: an empty list", on(quorum.Condition{Paths: []string{"**"}}).changes(), "none"},
		{
			"paths: an incomplete list",
			with(on(quorum.Condition{Paths: []string{"**"}}), func(s *quorum.Snapshot) { s.PR.FilesMissing = true }),
			"none",
		},
		{"any_path: one matches", on(quorum.Condition{AnyPath: []string{"db/**"}}).changes("cart.go", "db/1.sql"), "a"},
		{"any_path: none does", on(quorum.Condition{AnyPath: []string{"db/**"}}).changes("cart.go"), "none"},
		{"any_path: the old name", on(quorum.Condition{AnyPath: []string{"db/**"}}).changes("db/1.sql -> old.sql"), "a"},
		{"any_path: an empty list", on(quorum.Condition{AnyPath: []string{"db/**"}}).changes(), "a"},
		{
			"any_path: an incomplete list",
			with(on(quorum.Condition{AnyPath: []string{"db/**"}}), func(s *quorum.Snapshot) { s.PR.FilesMissing = true }),
			"a",
		},
		{"all that is named must hold", on(quorum.Condition{Paths: []string{"web/**"}, Base: []string{"dev"}}).changes("web/a.js"), "none"},
		{"base", on(quorum.Condition{Base: []string{"ma*"}}), "a"},
		{"another base", on(quorum.Condition{Base: []string{"release/*"}}), "none"},
		{"the first that holds", inLanes(lane("a", quorum.Condition{Base: []string{"dev"}}), lane("b", quorum.Condition{Base: []string{"main"}}),
			lane("c", quorum.Condition{Base: []string{"main"}})), "b"},

		{"authors: the one", lockfile().made("alice", "alice", "alice", false), "lock"},
		{
			"authors: a robot and GitHub, signed",
			lockfile().made("dependabot[bot]", "dependabot[bot] web-flow", "dependabot[bot]", true),
			"lock",
		},
		{"authors: a robot, not signed", lockfile().made("dependabot[bot]", "dependabot[bot]", "dependabot[bot]", false), "none"},
		{"authors: GitHub, not signed", lockfile().made("alice", "alice web-flow", "alice", false), "none"},
		{"authors: GitHub alone", lockfile().made("alice", "web-flow", "alice", true), "none"},
		{"authors: another opened it", lockfile().made("mallory", "alice", "alice", false), "none"},
		{"authors: another made it", lockfile().made("alice", "mallory", "alice", false), "none"},
		{"authors: with another", lockfile().made("alice", "alice mallory", "alice", false), "none"},
		{"authors: another pushed it", lockfile().made("alice", "alice", "mallory", false), "none"},
		{"authors: a robot's, pushed by another", lockfile().made("dependabot[bot]", "dependabot[bot]", "mallory", true), "none"},
		{"authors: a person of the robot's name", lockfile().made("dependabot", "dependabot", "dependabot", true), "none"},
		{"authors: nobody knows who pushed it", lockfile().made("alice", "alice", "", false), "none"},
		{"authors: nobody knows who made it", lockfile().made("alice", "", "alice", false), "none"},
		{"authors: two of them", lockfile().made("dependabot[bot]", "dependabot[bot]", "alice", true), "lock"},
		{"authors: another pushed before", with(lockfile(), func(s *quorum.Snapshot) {
			s.Pushes = append(s.Pushes, quorum.Push{After: older, Actor: who("mallory"), At: at(-30)})
		}), "none"},
		{
			"authors: another forced it",
			lockfile().event(5, quorum.Event{Kind: quorum.ForcePushed, From: older, To: head, Actor: who("mallory")}),
			"none",
		},
		{"authors: a commit is not listed", with(lockfile(), func(s *quorum.Snapshot) { s.PR.Commits = 2 }), "none"},
		{"authors: not read", with(lockfile(), func(s *quorum.Snapshot) { s.Commits = nil }), "none"},

		{"laxer", docs(), "docs"},
		{"laxer, another base", with(docs(), func(s *quorum.Snapshot) { s.PR.BaseRef = "dev" }), "none, not docs: lane_base dev"},
		{"laxer, a base that it names", with(inLanes(laxer("a", quorum.Condition{Base: []string{"stable"}})),
			func(s *quorum.Snapshot) { s.PR.BaseRef = "stable" }), "a"},
		{"laxer, a base that a pattern means", with(inLanes(laxer("a", quorum.Condition{Base: []string{"sta*"}})),
			func(s *quorum.Snapshot) { s.PR.BaseRef = "stable" }), "none, not a: lane_base stable"},
		{"laxer, a base called as a pattern", with(inLanes(laxer("a", quorum.Condition{Base: []string{"v1+"}})),
			func(s *quorum.Snapshot) { s.PR.BaseRef = "v1+" }), "none"},
		{"laxer, and the next", with(inLanes(laxer("a", quorum.Condition{Base: []string{"s*"}}), lane("b", quorum.Condition{Base: []string{"s*"}})),
			func(s *quorum.Snapshot) { s.PR.BaseRef = "stable" }), "b, not a: lane_base stable"},
		{
			"laxer, the policy", docs().changes("docs/a.md", ".github/review-coordinator.yaml").with(func(x *scene) { x.p.Lanes[0].If.Paths = []string{"**"} }),
			"none, not docs: lane_policy .github/review-coordinator.yaml",
		},
		{
			"laxer, a policy elsewhere",
			with(docs(), func(s *quorum.Snapshot) { s.File.Changed = true }),
			"none, not docs: lane_policy .github/review-coordinator.yml",
		},
		{
			"laxer, the organisation's policy in its repository",
			docs().changes("docs/a.md", "review-coordinator.yml").with(func(x *scene) {
				x.p.Lanes[0].If.Paths = []string{"**"}
				x.s.PR.Owner, x.s.PR.Repo, x.s.File.Org.Repo = "acme", ".github", "Acme/.github"
			}),
			"none, not docs: lane_policy review-coordinator.yml",
		},
		{
			"laxer, such a file elsewhere",
			docs().changes("docs/a.md", "review-coordinator.yml").with(func(x *scene) {
				x.p.Lanes[0].If.Paths = []string{"**"}
				x.s.PR.Owner, x.s.PR.Repo, x.s.File.Org.Repo = "acme", "shop", "acme/.github"
			}),
			"docs",
		},
		{
			"laxer, the policy's guard",
			docs().with(func(x *scene) { x.p.Guard = []string{"docs/a*"} }),
			"none, not docs: lane_guard docs/a.md",
		},
		{
			"laxer, a reviewer's guard",
			docs().with(func(x *scene) { x.p.Reviewers[1].Guard = []string{"docs/*"} }),
			"none, not docs: lane_guard docs/a.md",
		},
		{"laxer, what another list exempts", docs().with(func(x *scene) {
			x.p.Guard, x.p.Reviewers[1].Guard = []string{"docs/**"}, []string{"!docs/**"}
		}), "none, not docs: lane_guard docs/a.md"},
		{
			"laxer, a preset's file that the policy does not name",
			docs().changes("docs/a.md", "AGENTS.md"),
			"none, not docs: lane_guard AGENTS.md",
		},
		{"laxer, a guarded file that was renamed", docs().changes("CLAUDE.md -> docs/a.md"), "none, not docs: lane_guard CLAUDE.md"},
		{
			"laxer, a linked file",
			with(docs(), func(s *quorum.Snapshot) { s.Links = []string{"docs/a.md"} }),
			"none, not docs: lane_guard docs/a.md",
		},
		{
			"laxer, in a linked folder",
			with(docs(), func(s *quorum.Snapshot) { s.Links = []string{"docs"} }),
			"none, not docs: lane_guard docs/a.md",
		},
		{
			"laxer, in place of a linked file's folder",
			with(docs().changes("docs/x"), func(s *quorum.Snapshot) { s.Links = []string{"docs/x/a.md"} }),
			"none, not docs: lane_guard docs/x",
		},
		{
			"laxer, beside a linked file",
			with(docs(), func(s *quorum.Snapshot) { s.Links = []string{"docs/a.md.txt", "docs/a", "doc"} }),
			"docs",
		},
		{
			"laxer, the root is linked",
			with(docs(), func(s *quorum.Snapshot) { s.Links = []string{"."} }),
			"none, not docs: lane_guard docs/a.md",
		},
		{"laxer, links are not known", with(docs(), func(s *quorum.Snapshot) { s.Links = nil }), "none, not docs: lane_links"},
		{
			"laxer, an incomplete list",
			with(inLanes(laxer("a", quorum.Condition{AnyPath: []string{"x"}})), func(s *quorum.Snapshot) { s.PR.FilesMissing = true }),
			"none, not a: lane_guard",
		},

		{
			"a label",
			with(inLanes(lane("a", quorum.Condition{Labels: []string{"Big", "db"}})), func(s *quorum.Snapshot) { s.PR.Labels = []string{"DB"} }),
			"none, +a",
		},
		{"no label", inLanes(lane("a", quorum.Condition{Labels: []string{"db"}})), "none"},
		{"more lines", with(inLanes(lane("a", quorum.Condition{OverLines: 9})), func(s *quorum.Snapshot) { s.PR.Lines = 10 }), "none, +a"},
		{"as many lines", with(inLanes(lane("a", quorum.Condition{OverLines: 9})), func(s *quorum.Snapshot) { s.PR.Lines = 9 }), "none"},
		{"several add, a lane holds", with(
			inLanes(
				lane("a", quorum.Condition{OverLines: 9}), lane("b", quorum.Condition{Base: []string{"main"}}),
				lane("c", quorum.Condition{Labels: []string{"x"}, Base: []string{"main"}}),
				lane("d", quorum.Condition{Labels: []string{"x"}, Base: []string{"dev"}}),
			),
			func(s *quorum.Snapshot) { s.PR.Lines, s.PR.Labels = 10, []string{"x"} }), "b, +a, +c"},
	} {
		if got := laneText(evidence.PolicyFor(test.x.p, test.x.s).Lane); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestWhoVotes(t *testing.T) {
	when := func(c quorum.Condition) *scene {
		return inLanes().with(func(x *scene) { x.p.Reviewers[0].When = c })
	}
	with := func(x *scene, f func(*quorum.Snapshot)) *scene { f(&x.s); return x }
	for _, test := range []struct {
		name string
		x    *scene
		want quorum.Reason
	}{
		{"always", when(quorum.Condition{}), ""},
		{"paths", when(quorum.Condition{Paths: []string{"**.go"}}).changes("a.md", "b.go"), ""},
		{"other paths", when(quorum.Condition{Paths: []string{"**.go"}}).changes("a.md"), quorum.ReasonWhen},
		{"the old name", when(quorum.Condition{Paths: []string{"**.go"}}).changes("a.go -> a.md"), ""},
		{
			"not_paths",
			when(quorum.Condition{Paths: []string{"**.go"}, NotPaths: []string{"gen/**"}}).changes("gen/a.go", "b.md"),
			quorum.ReasonWhen,
		},
		{
			"not_paths, and one beside",
			when(quorum.Condition{Paths: []string{"**.go"}, NotPaths: []string{"gen/**"}}).changes("gen/a.go", "b.go"),
			"",
		},
		{"not_paths alone", when(quorum.Condition{NotPaths: []string{"docs/**"}}).changes("docs/a.md"), quorum.ReasonWhen},
		{"not_paths alone, and one beside", when(quorum.Condition{NotPaths: []string{"docs/**"}}).changes("docs/a.md", "b"), ""},
		{"an empty list", when(quorum.Condition{Paths: []string{"**.go"}}).changes(), ""},
		{
			"an incomplete list",
			with(when(quorum.Condition{Paths: []string{"x"}}), func(s *quorum.Snapshot) { s.PR.FilesMissing = true }),
			"",
		},
		{"authors", when(quorum.Condition{Authors: []string{"alice"}}), ""},
		{"other authors", when(quorum.Condition{Authors: []string{"bob"}}), quorum.ReasonWhen},
		{"labels", with(when(quorum.Condition{Labels: []string{"go"}}), func(s *quorum.Snapshot) { s.PR.Labels = []string{"Go"} }), ""},
		{"no labels", when(quorum.Condition{Labels: []string{"go"}}), quorum.ReasonWhen},
		{"base", when(quorum.Condition{Base: []string{"main"}}), ""},
		{"another base", when(quorum.Condition{Base: []string{"dev"}}), quorum.ReasonWhen},
		{"all that is named must hold", when(quorum.Condition{Paths: []string{"**"}, Base: []string{"dev"}}), quorum.ReasonWhen},
		{
			"a lane names others",
			inLanes(quorum.Lane{Name: "a", If: quorum.Condition{Base: []string{"main"}}, Voters: []string{"sage"}}),
			quorum.ReasonOtherLane,
		},
		{"a lane names it, and when does not", when(quorum.Condition{Base: []string{"dev"}}).with(func(x *scene) {
			x.p.Lanes = []quorum.Lane{{Name: "a", If: quorum.Condition{Base: []string{"main"}}, Voters: []string{"openai"}}}
		}), quorum.ReasonWhen},
	} {
		before := slices.Clone(test.x.p.Reviewers)
		if got := evidence.PolicyFor(test.x.p, test.x.s).Reviewers[0].Excused; got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if test.x.p.Reviewers[0].Excused != before[0].Excused {
			t.Errorf("%s: the policy itself was changed", test.name)
		}
	}
}

// excused is a scene in which the first reviewer has no vote.
func excused(r quorum.Reviewer) *scene {
	r.Excused, r.Required, r.Family = quorum.ReasonWhen, true, "acme"
	return onHead(r, sage())
}

func TestBallotWithoutAVote(t *testing.T) {
	declined := wanted{quorum.Unavailable, quorum.Declined, quorum.ReasonWhen, ""}
	said := ref(quorum.TextComment, 1)
	for _, test := range []struct {
		name  string
		x     *scene
		want  wanted
		votes bool
	}{
		{"silent", excused(openai()), declined, false},
		{"at work", excused(openai()).run(1, 10, -1), declined, false},
		{"it left nothing", excused(openai()).run(1, 10, 100), declined, false},
		{"it failed", excused(openai()).run(1, 10, 100, log("failure", "insufficient_quota")), declined, false},
		{"it approves", excused(openai()).run(1, 10, 100).comment(1, 90, bot, yes), approves, false},
		{"it approves before its end", excused(openai()).run(1, 10, -1).comment(1, 90, bot, yes), declined, false},
		{"it objects", excused(openai()).run(1, 10, 100).comment(1, 90, bot, no), objects, true},
		{"it objected, by the record", excused(openai()).run(1, 10, -1, attempt(2, 200)).
			objected(quorum.Objection{TextRef: said, Reviewer: "openai", Run: 1, Attempt: 1, At: at(90)}), looksAgain, true},
		{"it objected and approves", excused(openai()).run(1, 10, 300, attempt(2, 200)).comment(2, 290, bot, yes).
			objected(quorum.Objection{TextRef: said, Reviewer: "openai", Run: 1, Attempt: 1, At: at(90), Answered: true}), approves, true},
		{"it objected and looks again", excused(openai()).run(1, 10, -1, attempt(2, 200)).
			objected(quorum.Objection{TextRef: said, Reviewer: "openai", Run: 1, Attempt: 1, At: at(90), Answered: true}), atWorkTwo, true},
		{"another objected", excused(openai()).objected(quorum.Objection{TextRef: said, Reviewer: "sage", At: at(90)}), declined, false},
		{"it objected, as it is judged", excused(openai()).with(func(x *scene) {
			x.s.Record.Judged = []quorum.Judged{{Reviewer: "openai", Head: head[:7], Times: 2, Noes: 1}}
		}), silent, true},
		{"it objected to another head", excused(openai()).with(func(x *scene) {
			x.s.Record.Judged = []quorum.Judged{{Reviewer: "openai", Head: older[:7], Times: 1, Noes: 1}}
		}), declined, false},
	} {
		b := test.x.ballot()
		if got := (wanted{b.Vote, b.Outcome, b.Reason, next(b)}); got != test.want || b.Voter() != test.votes || b.Required != test.votes {
			t.Errorf("%s: got %+v, a voter: %t, required: %t; want %+v, %t", test.name, got, b.Voter(), b.Required, test.want, test.votes)
		}
		if b.Family != "acme" || !test.votes && (b.Open || b.Watch || !b.Deadline.IsZero()) {
			t.Errorf("%s: something is waited for: %+v", test.name, b)
		}
	}
}

// What seems to be an objection of a reviewer without a vote holds a green back, and objects when its attempt has ended.
func TestDoubtWithoutAVote(t *testing.T) {
	const doubt = "## OpenAI Review\n\n1. **Critical** `cart.go:42`: the cart is emptied twice.\n"
	b := excused(openai()).run(1, 10, -1).comment(1, 90, bot, doubt).ballot()
	if b.Vote != quorum.Pending || b.Reason != quorum.ReasonDoubt || b.Excused != quorum.ReasonWhen || b.Deadline.IsZero() || len(b.Next) > 0 {
		t.Fatalf("got %+v, want a doubt of a reviewer without a vote", b)
	}
	if b.Then == nil || b.Then.Vote != quorum.Object || !b.Then.Voter() {
		t.Errorf("at the end it is %+v, want an objection that counts", b.Then)
	}
}

func TestMissingForLanes(t *testing.T) {
	lock := quorum.Condition{Authors: []string{"alice"}, Paths: []string{"go.sum"}}
	unread := func(x *scene) *scene { return x.with(func(x *scene) { x.s.Commits, x.s.Links = nil, nil }) }
	for _, test := range []struct {
		name string
		x    *scene
		want string
	}{
		{"no lanes", unread(inLanes()), ""},
		{"a lane by paths", unread(inLanes(lane("a", quorum.Condition{Paths: []string{"**"}}))), ""},
		{"authors decide", unread(inLanes(laxer("a", lock))).changes("go.sum"), "authors"},
		{"another file", unread(inLanes(laxer("a", lock))).changes("go.mod"), ""},
		{"another opened it", unread(inLanes(laxer("a", lock))).changes("go.sum").with(func(x *scene) { x.s.PR.Author = who("bob") }), ""},
		{"it is barred anyway", unread(inLanes(laxer("a", lock))).changes("go.sum").with(func(x *scene) { x.s.PR.BaseRef = "dev" }), ""},
		{
			"a lane before holds",
			unread(inLanes(lane("b", quorum.Condition{Base: []string{"main"}}), laxer("a", lock))).changes("go.sum"),
			"",
		},
		{"then links do", inLanes(laxer("a", lock)).changes("go.sum").with(func(x *scene) { x.s.Links = nil }), "links"},
		{
			"links cannot be told",
			inLanes(laxer("a", lock)).changes("go.sum").with(func(x *scene) { x.s.Links, x.s.NoLinks = nil, true }),
			"",
		},
		{"all is known", inLanes(laxer("a", lock)).changes("go.sum"), ""},
		{
			"a lane adds by authors",
			unread(inLanes(lane("a", quorum.Condition{Authors: []string{"alice"}, OverLines: 5}))).with(func(x *scene) { x.s.PR.Lines = 6 }),
			"authors",
		},
		{"a lane does not add", unread(inLanes(lane("a", quorum.Condition{Authors: []string{"alice"}, OverLines: 5}))), ""},
		{"when by authors", unread(inLanes()).with(func(x *scene) { x.p.Reviewers[0].When.Authors = []string{"alice"} }), "authors"},
		{"when by authors, of a retired one", unread(inLanes()).with(func(x *scene) {
			x.p.Reviewers[0].When.Authors, x.p.Reviewers[0].Retired = []string{"alice"}, true
		}), ""},
	} {
		var got []string
		w := evidence.Missing(test.x.p, test.x.s)
		if w.Authors && w.Lane {
			got = append(got, "authors")
		}
		if w.Links {
			got = append(got, "links")
		}
		if text := strings.Join(got, " "); text != test.want || w.Lane != (test.want != "") {
			t.Errorf("%s: %q, want %q (%+v)", test.name, text, test.want, w)
		}
	}
}

func TestMissingForNobodysVote(t *testing.T) {
	if logs := evidence.Missing(excused(openai()).run(1, 10, 100).p, excused(openai()).run(1, 10, 100).s).Logs; len(logs) > 0 {
		t.Errorf("the logs %v are wanted of a reviewer without a vote", logs)
	}
	x := excused(openai()).run(1, 10, 100).objected(quorum.Objection{TextRef: ref(quorum.TextComment, 1), Reviewer: "openai", Run: 9, Attempt: 1, At: at(5)})
	if logs := evidence.Missing(x.p, x.s).Logs; len(logs) != 1 {
		t.Errorf("the logs %v are wanted of one that objected, want its own", logs)
	}
}

// asksLess finds in what a policy asks less than another: told by itself, and without what the code uses for it.
func asksLess(p, than quorum.Policy) string {
	need := func(p quorum.Policy, voters int) int {
		most := 0
		if len(p.Rules) == 0 {
			most = p.Need
		}
		for _, rule := range p.Rules {
			switch n := 0; rule.Share {
			case quorum.ByNumber:
				most = max(most, rule.Count)
			case quorum.Majority:
				for n*2 <= voters {
					n++
				}
				most = max(most, n)
			case quorum.All:
				most = max(most, voters, 1)
			case quorum.NoReview:
			}
		}
		return most
	}
	for voters := range 9 {
		if need(p, voters) < need(than, voters) {
			return "quorum"
		}
	}
	width := func(p quorum.Permission) int {
		return map[quorum.Permission]int{0: 0, quorum.Admin: 1, quorum.Maintain: 2, quorum.Write: 3}[p]
	}
	for i := range than.Reviewers {
		was, is := than.Reviewers[i], p.Reviewers[i]
		if was.Excused == "" && is.Excused != "" || is.Timeout < was.Timeout {
			return "reviewer " + was.Name
		}
	}
	for what, less := range map[string]bool{
		"people": p.People < than.People, "grace": p.Grace < than.Grace, "timeout": p.Timeout < than.Timeout, "deadline": p.Deadline < than.Deadline,
		"stand_in": width(p.StandIn) > width(than.StandIn), "override": width(p.Override) > width(than.Override),
		"threads": p.Threads == quorum.ByAnyone && than.Threads == quorum.ByOthers,
	} {
		if less {
			return what
		}
	}
	return ""
}

// No label and no size makes a policy ask less of anything.
func TestLabelsAndSizeOnlyAdd(t *testing.T) {
	pointer := func(t *rapid.T, name string, of ...int) *int {
		if n := rapid.SampledFrom(append(of, -1)).Draw(t, name); n >= 0 {
			return &n
		}
		return nil
	}
	rapid.Check(t, func(t *rapid.T) {
		minutes := func(name string) *time.Duration {
			if n := pointer(t, name, 0, 1, 5, 90); n != nil {
				d := time.Duration(*n) * time.Minute
				return &d
			}
			return nil
		}
		may := func(name string) *quorum.Permission {
			if n := pointer(t, name, 0, 1, 2, 3); n != nil {
				p := quorum.Permission(*n)
				return &p
			}
			return nil
		}
		x := inLanes()
		x.p.Timeout = x.p.Reviewers[0].Timeout
		if rapid.Bool().Draw(t, "ruleless") {
			x.p.Rules, x.p.Need = nil, rapid.IntRange(1, 3).Draw(t, "need")
		}
		for range rapid.IntRange(1, 4).Draw(t, "lanes") {
			l := quorum.Lane{
				Name: "l", Laxer: rapid.Bool().Draw(t, "laxer"), People: pointer(t, "people", 0, 1, 2), Grace: minutes("grace"),
				Timeout: minutes("timeout"), Deadline: minutes("deadline"), StandIn: may("stand_in"), Override: may("override"),
			}
			if share := pointer(t, "quorum", 1, 2, 3, 4); share != nil {
				l.Need = &quorum.NeedRule{Share: quorum.Share(*share), Count: 2}
			}
			if by := pointer(t, "threads", 1, 2); by != nil {
				threads := quorum.ThreadsBy(*by)
				l.Threads = &threads
			}
			if rapid.Bool().Draw(t, "voters") {
				l.Voters = []string{"sage"}
			}
			if rapid.Bool().Draw(t, "label") {
				l.If.Labels = []string{"x"}
			}
			if rapid.Bool().Draw(t, "size") {
				l.If.OverLines = 100
			}
			if rapid.Bool().Draw(t, "base") || !l.If.Names() {
				l.If.Base = []string{rapid.SampledFrom([]string{"main", "dev"}).Draw(t, "which")}
			}
			x.p.Lanes = append(x.p.Lanes, l)
		}
		if rapid.Bool().Draw(t, "when") {
			x.p.Reviewers[0].When.Labels = []string{"x"}
		}
		plain := evidence.PolicyFor(x.p, x.s)
		x.s.PR.Labels, x.s.PR.Lines = []string{"x", "y"}, 1000
		if what := asksLess(evidence.PolicyFor(x.p, x.s), plain); what != "" {
			t.Fatalf("with a label and many lines it asks less: %s", what)
		}
	})
}
