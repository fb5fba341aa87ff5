package evidence_test

// In which lane a pull request is, and who votes on it.

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/change"
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

// lane is a lane that asks for people.
func lane(name string, on quorum.Condition) quorum.Lane {
	return quorum.Lane{Name: name, If: on, People: new(quorum.NewPeople(quorum.PeopleRule{Count: 3}))}
}

// laxer is a lane that needs no review.
func laxer(name string, on quorum.Condition) quorum.Lane {
	return quorum.Lane{Name: name, If: on, Need: &quorum.NeedRule{Share: quorum.NoReview}}
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
		words = append(words, "+"+added.Name)
	}
	for _, not := range c.Not {
		words = append(words, strings.TrimSpace("not "+not.Name+": "+string(not.Reason)+" "+not.Detail))
	}
	return strings.Join(words, ", ")
}

func TestLaneOfPullRequest(t *testing.T) {
	on := func(c quorum.Condition) *scene { return inLanes(lane("more", c), laxer("less", c)) } // it holds possibly, and surely
	docs := func() *scene {
		return inLanes(laxer("docs", quorum.Condition{AllPaths: []string{"docs/**", "*.md", "v1+"}})).changes("docs/a.md")
	}
	markdown := func(patterns ...string) *scene {
		return docs().with(func(x *scene) { x.p.Lanes[0].If.AllPaths = patterns })
	}
	lockfile := func() *scene {
		return inLanes(laxer("lock", quorum.Condition{Authors: []string{"dependabot[bot]", "alice"}, AllPaths: []string{"go.sum"}})).changes("go.sum")
	}
	with := func(x *scene, f func(*quorum.Snapshot)) *scene { f(&x.s); return x }
	for _, test := range []struct {
		name string
		x    *scene
		want string
	}{
		{"all_paths: all match", on(quorum.Condition{AllPaths: []string{"web/**"}}).changes("web/a.js", "web/b/c.js"), "less, +more"},
		{"all_paths: one does", on(quorum.Condition{AllPaths: []string{"web/**"}}).changes("web/a.js", "cart.go"), "none, +more"},
		{"all_paths: none does", on(quorum.Condition{AllPaths: []string{"web/**"}}).changes("cart.go"), "none"},
		{"all_paths: one that is excluded", on(quorum.Condition{AllPaths: []string{"web/**", "!web/pay/**"}}).changes("web/pay/a.js"), "none"},
		{"all_paths: a rename from elsewhere", on(quorum.Condition{AllPaths: []string{"web/**"}}).changes("cart.js -> web/cart.js"), "none, +more"},
		{"all_paths: a rename to elsewhere", on(quorum.Condition{AllPaths: []string{"web/**"}}).changes("web/cart.js -> cart.js"), "none, +more"},
		{"all_paths: a rename within", on(quorum.Condition{AllPaths: []string{"web/**"}}).changes("web/a.js -> web/b.js"), "less, +more"},
		{"all_paths: an empty list", on(quorum.Condition{AllPaths: []string{"**"}}).changes(), "none, +more"},
		{
			"all_paths: an incomplete list",
			with(on(quorum.Condition{AllPaths: []string{"**"}}), func(s *quorum.Snapshot) { s.PR.FilesMissing = true }),
			"none, +more",
		},
		{"any_path: one matches", on(quorum.Condition{AnyPath: []string{"db/**"}}).changes("cart.go", "db/1.sql"), "none, +more"},
		{"any_path: all match", on(quorum.Condition{AnyPath: []string{"db/**"}}).changes("db/1.sql"), "none, +more"},
		{"any_path: none does", on(quorum.Condition{AnyPath: []string{"db/**"}}).changes("cart.go"), "none"},
		{"any_path: the old name", on(quorum.Condition{AnyPath: []string{"db/**"}}).changes("db/1.sql -> old.sql"), "none, +more"},
		{"any_path: an empty list", on(quorum.Condition{AnyPath: []string{"db/**"}}).changes(), "none, +more"},
		{
			"any_path: an incomplete list",
			with(on(quorum.Condition{AnyPath: []string{"db/**"}}), func(s *quorum.Snapshot) { s.PR.FilesMissing = true }),
			"none, +more",
		},
		{"all that is named must hold", on(quorum.Condition{AllPaths: []string{"web/**"}, Base: []string{"dev"}}).changes("web/a.js"), "none"},
		{"base", on(quorum.Condition{Base: []string{"ma*"}}), "less, +more"},
		{"another base", on(quorum.Condition{Base: []string{"release/*"}}), "none"},
		{"each that asks more", inLanes(lane("a", quorum.Condition{Base: []string{"dev"}}), lane("b", quorum.Condition{Base: []string{"main"}}),
			lane("c", quorum.Condition{Base: []string{"main"}})), "none, +b, +c"},
		{"none below one that asks less", inLanes(lane("a", quorum.Condition{Base: []string{"main"}}), laxer("b", quorum.Condition{Base: []string{"main"}}),
			lane("c", quorum.Condition{Base: []string{"main"}}), laxer("d", quorum.Condition{Base: []string{"main"}})), "b, +a"},
		{"one that only waits less ends nothing", inLanes(
			quorum.Lane{Name: "a", If: quorum.Condition{Base: []string{"main"}}, Deadline: new(time.Second)},
			laxer("b", quorum.Condition{Base: []string{"main"}}),
		), "b, +a"},

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
			func(s *quorum.Snapshot) { s.PR.BaseRef = "stable" }), "none, +b, not a: lane_base stable"},
		{
			"laxer, the policy", markdown("**").changes("docs/a.md", ".github/review-coordinator.yaml"),
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
				x.p.Lanes[0].If.AllPaths = []string{"**"}
				x.s.PR.Owner, x.s.PR.Repo, x.s.File.Org.Repo = "acme", ".github", "Acme/.github"
			}),
			"none, not docs: lane_policy review-coordinator.yml",
		},
		{
			"laxer, such a file elsewhere",
			docs().changes("docs/a.md", "review-coordinator.yml").with(func(x *scene) {
				x.p.Lanes[0].If.AllPaths = []string{"**"}
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
			with(inLanes(laxer("a", quorum.Condition{})), func(s *quorum.Snapshot) { s.PR.FilesMissing = true }),
			"none, not a: lane_guard",
		},

		{
			"a label",
			with(inLanes(lane("a", quorum.Condition{Labels: []string{"Big", "db"}})), func(s *quorum.Snapshot) { s.PR.Labels = []string{"DB"} }),
			"none, +a",
		},
		{"no label", inLanes(lane("a", quorum.Condition{Labels: []string{"db"}})), "none"},
		{"a label asks less of nothing", with(inLanes(laxer("a", quorum.Condition{Labels: []string{"db"}})), func(s *quorum.Snapshot) {
			s.PR.Labels = []string{"db"}
		}), "none"},

		{"an author, and others", on(quorum.Condition{Authors: []string{"claude[bot]"}}).made("claude[bot]", "alice", "alice", true), "none, +more"},
		{"an author of a commit", on(quorum.Condition{Authors: []string{"claude[bot]"}}).made("alice", "alice claude[bot]", "alice", false), "none, +more"},
		{"who pushed", on(quorum.Condition{Authors: []string{"bob"}}).made("alice", "alice", "bob", false), "none, +more"},
		{"none of them", on(quorum.Condition{Authors: []string{"bob"}}).made("alice", "alice", "alice", false), "none"},
		{"nobody knows who made and pushed it", on(quorum.Condition{Authors: []string{"bob"}}).made("alice", "", "", false), "none, +more"},
		{"an unknown author's commit is its pusher's", on(quorum.Condition{Authors: []string{"bob"}}).made("alice", "", "alice", false), "none"},
		{"not all commits are listed", with(on(quorum.Condition{Authors: []string{"bob"}}), func(s *quorum.Snapshot) {
			s.PR.Commits = 200
		}), "none, +more"},
		{"an author beside an unknown one", with(lockfile(), func(s *quorum.Snapshot) {
			s.Commits[0].People = append(s.Commits[0].People, quorum.Account{})
		}), "none"},
		{"a merge that GitHub signed", with(lockfile().made("dependabot[bot]", "dependabot[bot]", "dependabot[bot]", true), func(s *quorum.Snapshot) {
			s.Commits = append(s.Commits, quorum.Commit{SHA: "merge", Verified: true, People: []quorum.Account{who("mallory"), who("web-flow")}})
			s.PR.Commits = 2
		}), "none"},
		{"a link in a folder's place", on(quorum.Condition{AnyPath: []string{"**/migrations/**"}}).changes("pay/migrations"), "none, +more"},

		{"no review of a workflow's folder", markdown("**.md").changes(".github/x/y.md"), "none, not docs: lane_guard .github/x/y.md"},
		{"no review of a hidden folder", markdown("**.md").changes("a/.kiro/y.md"), "none, not docs: lane_guard a/.kiro/y.md"},
		{"no review of one that is spelled out", markdown("**.md", ".vale/**").changes(".vale/y.md"), "docs"},
		{"one that is spelled out elsewhere", markdown("**.md", "a/.vale/**").changes(".vale/y.md"), "none, not docs: lane_guard .vale/y.md"},
		{"one that is excluded elsewhere", markdown("**.md", "!a/.vale/**").changes(".vale/y.md"), "none, not docs: lane_guard .vale/y.md"},
		{"what stands in a hidden folder's place", markdown("docs/**").changes("docs/.vscode"), "none, not docs: lane_guard docs/.vscode"},
		{"a review of a hidden folder", markdown("**.md").with(func(x *scene) {
			x.p.Lanes[0].Need = &quorum.NeedRule{Share: quorum.ByNumber, Count: 1}
			x.p.Rules[0] = quorum.NeedRule{Share: quorum.All}
		}).changes("a/.kiro/y.md"), "docs"},
	} {
		if got := laneText(change.PolicyFor(test.x.p, test.x.s).Lane); got != test.want {
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
		{"paths", when(quorum.Condition{AnyPath: []string{"**.go"}}).changes("a.md", "b.go"), ""},
		{"other paths", when(quorum.Condition{AnyPath: []string{"**.go"}}).changes("a.md"), quorum.ReasonWhen},
		{"the old name", when(quorum.Condition{AnyPath: []string{"**.go"}}).changes("a.go -> a.md"), ""},
		{"all_paths: one is enough", when(quorum.Condition{AllPaths: []string{"**.go"}}).changes("a.md", "b.go"), ""},
		{"an exclusion", when(quorum.Condition{AnyPath: []string{"**.go", "!gen/**"}}).changes("gen/a.go", "b.md"), quorum.ReasonWhen},
		{"an exclusion, and one beside", when(quorum.Condition{AnyPath: []string{"**.go", "!gen/**"}}).changes("gen/a.go", "b.go"), ""},
		{"an empty list", when(quorum.Condition{AllPaths: []string{"**.go"}}).changes(), ""},
		{
			"an incomplete list",
			with(when(quorum.Condition{AllPaths: []string{"x"}}), func(s *quorum.Snapshot) { s.PR.FilesMissing = true }),
			"",
		},
		{"authors", when(quorum.Condition{Authors: []string{"alice"}}), ""},
		{"other authors", when(quorum.Condition{Authors: []string{"bob"}}), quorum.ReasonWhen},
		{"labels", with(when(quorum.Condition{Labels: []string{"go"}}), func(s *quorum.Snapshot) { s.PR.Labels = []string{"Go"} }), ""},
		{"no labels", when(quorum.Condition{Labels: []string{"go"}}), quorum.ReasonWhen},
		{"base", when(quorum.Condition{Base: []string{"main"}}), ""},
		{"another base", when(quorum.Condition{Base: []string{"dev"}}), quorum.ReasonWhen},
		{"all that is named must hold", when(quorum.Condition{AllPaths: []string{"**"}, Base: []string{"dev"}}), quorum.ReasonWhen},
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
		if got := change.PolicyFor(test.x.p, test.x.s).Reviewers[0].Excused; got != test.want {
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
			x.s.Record.Judged = []quorum.Judged{{Reviewer: "openai", Head: head, Times: 2, Noes: 1}}
		}), silent, true},
		{"it objected to another head", excused(openai()).with(func(x *scene) {
			x.s.Record.Judged = []quorum.Judged{{Reviewer: "openai", Head: older, Times: 1, Noes: 1}}
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

// What seems to be an objection of a reviewer without a vote holds a green back, and objects when its attempt has
// ended.
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
	lock := quorum.Condition{Authors: []string{"alice"}, AllPaths: []string{"go.sum"}}
	unread := func(x *scene) *scene { return x.with(func(x *scene) { x.s.Commits, x.s.Links = nil, nil }) }
	for _, test := range []struct {
		name string
		x    *scene
		want string
	}{
		{"no lanes", unread(inLanes()), ""},
		{"a lane by paths", unread(inLanes(lane("a", quorum.Condition{AllPaths: []string{"**"}}))), ""},
		{"authors decide", unread(inLanes(laxer("a", lock))).changes("go.sum"), "authors"},
		{"another file", unread(inLanes(laxer("a", lock))).changes("go.mod"), ""},
		{"another opened it", unread(inLanes(laxer("a", lock))).changes("go.sum").with(func(x *scene) { x.s.PR.Author = who("bob") }), ""},
		{"it is barred anyway", unread(inLanes(laxer("a", lock))).changes("go.sum").with(func(x *scene) { x.s.PR.BaseRef = "dev" }), ""},
		{
			"a lane before is the last that is read",
			unread(inLanes(laxer("b", quorum.Condition{Base: []string{"main"}}), laxer("a", lock))).changes("go.sum").with(func(x *scene) {
				x.s.Links = []string{}
			}),
			"",
		},
		{"then links do", inLanes(laxer("a", lock)).changes("go.sum").with(func(x *scene) { x.s.Links = nil }), "links"},
		{
			"links cannot be told",
			inLanes(laxer("a", lock)).changes("go.sum").with(func(x *scene) { x.s.Links, x.s.NoLinks = nil, true }),
			"",
		},
		{"all is known", inLanes(laxer("a", lock)).changes("go.sum"), ""},
		{"a lane asks more of somebody's changes", unread(inLanes(lane("a", quorum.Condition{Authors: []string{"bob"}}))), "authors"},
		{"it does, by who opened it", unread(inLanes(lane("a", quorum.Condition{Authors: []string{"alice"}}))), ""},
		{"it does not, by its base", unread(inLanes(lane("a", quorum.Condition{Authors: []string{"bob"}, Base: []string{"dev"}}))), ""},
		{"when by authors", unread(inLanes()).with(func(x *scene) { x.p.Reviewers[0].When.Authors = []string{"bob"} }), "authors"},
		{"when by authors, of a retired one", unread(inLanes()).with(func(x *scene) {
			x.p.Reviewers[0].When.Authors, x.p.Reviewers[0].Retired = []string{"bob"}, true
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
