package github

// What a page tells of a pull request, and what that calls for.

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// shown is a pull request as a page shows it, with our check on its head.
type shown struct {
	p    graphOpen
	own  graphContext
	rec  quorum.Record
	d    quorum.Decision
	none bool // without our check
	text string
}

var looked = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// passed is one that was looked at an hour after anything happened to it. Our own check's suite changed when it was
// written.
func passed() *shown {
	s := &shown{
		rec: quorum.Record{Version: 1, Seq: 1, Head: "head", Policy: "policy", Seen: quorum.Seen{At: looked, Threads: "10"}},
		d:   quorum.Decision{Verdict: quorum.Passed, Reason: quorum.ReasonTally},
	}
	s.p = graphOpen{Number: 7, Title: "Change", Updated: looked.Add(-time.Hour), Head: "head"}
	s.p.Threads.Total = 2
	s.threads(true, false)
	s.own = graphContext{Type: "CheckRun", ExternalID: "review-coordinator acme/shop#7", Status: "COMPLETED", Conclusion: "SUCCESS", Started: looked, Completed: looked.Add(2 * time.Second)}
	s.own.Suite.ID, s.own.Suite.App.Slug = 1, ActionsApp
	return s
}

func (s *shown) threads(resolved ...bool) {
	s.p.Threads.Nodes = nil
	for _, is := range resolved {
		s.p.Threads.Nodes = append(s.p.Threads.Nodes, struct {
			Resolved bool `json:"isResolved"`
			Outdated bool `json:"isOutdated"`
		}{Resolved: is})
	}
}

func (s *shown) blocked() {
	s.d.Verdict, s.own.Conclusion = quorum.Blocked, "FAILURE"
}

func (s *shown) open() {
	s.d.Verdict, s.own.Status, s.own.Conclusion, s.own.Completed = quorum.Waiting, "IN_PROGRESS", "", time.Time{}
}

// beside puts something else onto the head: in our check's suite, or in one of its own.
func (s *shown) beside(suite int64, started, completed time.Duration) {
	c := graphContext{Type: "CheckRun", Status: "COMPLETED", Conclusion: "SUCCESS", Started: looked.Add(started), Completed: looked.Add(completed)}
	c.Suite.ID, c.Suite.App.Slug = suite, ActionsApp
	s.tip().Rollup.Contexts.Nodes = append(s.tip().Rollup.Contexts.Nodes, c)
}

func (s *shown) suite(id int64, updated time.Duration) {
	s.tip().Suites.Nodes = append(s.tip().Suites.Nodes, struct {
		ID      int64     `json:"databaseId"`
		Updated time.Time `json:"updatedAt"`
	}{id, looked.Add(updated)})
}

func (s *shown) tip() *graphTip {
	if len(s.p.Commits.Nodes) == 0 {
		s.p.Commits.Nodes = append(s.p.Commits.Nodes, struct {
			Commit graphTip `json:"commit"`
		}{graphTip{OID: s.p.Head}})
		tip := &s.p.Commits.Nodes[0].Commit
		tip.Rollup = &struct {
			Contexts graphConnection[graphContext] `json:"contexts"`
		}{}
		s.suite(1, 2*time.Second)
	}
	return &s.p.Commits.Nodes[0].Commit
}

func (s *shown) page(t *testing.T) graphOpen {
	t.Helper()
	if !s.none {
		if s.own.Text = s.text; s.own.Text == "" {
			block, err := json.Marshal(map[string]any{"record": s.rec, "decision": s.d})
			if err != nil {
				t.Fatal(err)
			}
			s.own.Text = "```json\n" + string(block) + "\n```"
		}
		s.tip().Rollup.Contexts.Nodes = append(s.tip().Rollup.Contexts.Nodes, s.own)
	}
	return s.p
}

func TestWhy(t *testing.T) {
	for _, test := range []struct {
		title string
		given func(s *shown, in *inquiry)
		want  Why
	}{
		{"nothing is new", func(*shown, *inquiry) {}, 0},
		{"no check", func(s *shown, _ *inquiry) { s.none = true }, Unseen},
		{"no check on this head", func(s *shown, _ *inquiry) { s.tip(); s.p.Head = "next" }, Unseen},
		{"a check that is of another head", func(s *shown, _ *inquiry) { s.rec.Head = "next" }, Unseen},
		{"somebody else's check", func(s *shown, _ *inquiry) { s.own.Suite.App.Slug = "mallory" }, Unseen},
		{"another pull request's check", func(s *shown, _ *inquiry) { s.own.ExternalID = "review-coordinator acme/shop#77" }, Unseen},
		{"a check that cannot be read", func(s *shown, _ *inquiry) { s.text = "Edited." }, Unseen},
		{"a check that says of no look", func(s *shown, _ *inquiry) { s.rec.Seen = quorum.Seen{} }, Unseen},
		{"a check that has ended", func(s *shown, _ *inquiry) { s.own.Conclusion = "CANCELLED" }, Unseen},
		{"another name's check has ended", func(s *shown, in *inquiry) {
			old := *s
			old.own.Conclusion, old.rec.Seen.At = "CANCELLED", looked.Add(-time.Minute)
			old.p.Commits.Nodes = nil
			other := old.page(t)
			s.tip().Rollup.Contexts.Nodes = append(s.tip().Rollup.Contexts.Nodes, other.Commits.Nodes[0].Commit.Rollup.Contexts.Nodes...)
		}, 0},

		{"undecided", func(s *shown, _ *inquiry) { s.open() }, Undecided},
		{"its time has come", func(s *shown, in *inquiry) { s.open(); s.d.Wake = in.now }, Awake},
		{"its time comes in a second", func(s *shown, in *inquiry) { s.open(); s.d.Wake = in.now.Add(time.Second) }, Undecided},
		{"decided, and its time has come", func(s *shown, in *inquiry) { s.blocked(); s.d.Wake = in.now }, Awake},
		{"decided, and its time has not come", func(s *shown, in *inquiry) { s.blocked(); s.d.Wake = in.now.Add(time.Second) }, 0},

		{"the pull request changed", func(s *shown, _ *inquiry) { s.p.Updated = looked.Add(time.Minute) }, Changed},
		{"it changed while we looked", func(s *shown, _ *inquiry) { s.p.Updated = looked }, Changed},
		{"it changed so shortly before that a replica may not have shown it", func(s *shown, _ *inquiry) { s.p.Updated = looked.Add(-clockSlack) }, Changed},
		{"it changed before", func(s *shown, _ *inquiry) { s.p.Updated = looked.Add(-clockSlack - time.Second) }, 0},
		{"another suite changed", func(s *shown, _ *inquiry) { s.suite(2, time.Minute) }, Changed},
		{"another suite changed before", func(s *shown, _ *inquiry) { s.suite(2, -time.Minute) }, 0},
		{"our own write changed a suite", func(s *shown, _ *inquiry) { s.suite(1, time.Hour) }, 0},
		{"a job in our suite ended", func(s *shown, _ *inquiry) { s.suite(1, time.Minute); s.beside(1, -time.Minute, time.Minute) }, Changed},
		{"a job in our suite began", func(s *shown, _ *inquiry) { s.beside(1, time.Minute, -time.Hour) }, Changed},
		{"a job in our suite ended before", func(s *shown, _ *inquiry) { s.beside(1, -time.Hour, -time.Minute) }, 0},
		{"a job ended in a suite that says nothing", func(s *shown, _ *inquiry) { s.beside(3, -time.Hour, time.Minute) }, Changed},
		{"a status was written", func(s *shown, _ *inquiry) {
			s.tip().Rollup.Contexts.Nodes = append(s.tip().Rollup.Contexts.Nodes, graphContext{Type: "StatusContext", Created: looked.Add(time.Minute)})
		}, Changed},

		{"a thread was resolved", func(s *shown, _ *inquiry) { s.blocked(); s.threads(true, true) }, Settled},
		{"the same threads are resolved", func(s *shown, _ *inquiry) { s.blocked(); s.threads(true, false) }, 0},
		{"one was resolved and one opened again", func(s *shown, _ *inquiry) { s.blocked(); s.threads(false, true) }, Settled},
		{"more threads than a page shows", func(s *shown, _ *inquiry) { s.blocked(); s.p.Threads.Total = 101 }, Settled},
		{"a thread was resolved under a pass", func(s *shown, _ *inquiry) { s.threads(true, true) }, 0},
		{"a thread was opened again under a pass", func(s *shown, _ *inquiry) { s.threads(false, false) }, Settled},

		{"another policy", func(s *shown, in *inquiry) { in.file.SHA = "newer" }, Outdated},
		{"a policy that was mended", func(s *shown, in *inquiry) { s.d.Reason = quorum.ReasonBroken }, Outdated},
		{"a policy that broke", func(s *shown, in *inquiry) { in.file.State = quorum.FileBroken }, Outdated},
		{"a policy that is broken still", func(s *shown, in *inquiry) {
			in.file.State, s.d.Reason, s.rec.Policy = quorum.FileBroken, quorum.ReasonBroken, ""
		}, 0},
		{"a broken policy, and no check", func(s *shown, in *inquiry) { in.file.State, s.none = quorum.FileBroken, true }, Unseen},

		{"a draft that waits", func(s *shown, in *inquiry) {
			s.open()
			s.p.Draft, s.d.Reason, in.policy.DraftsWait, s.p.Updated = true, quorum.ReasonDraft, true, looked.Add(time.Hour)
		}, 0},
		{"a draft that became ready", func(s *shown, in *inquiry) {
			s.open()
			s.d.Reason, in.policy.DraftsWait, s.p.Updated = quorum.ReasonDraft, true, looked.Add(time.Hour)
		}, Changed},
		{"a draft that is to be reviewed from now on", func(s *shown, in *inquiry) {
			s.open()
			s.p.Draft, s.d.Reason, in.file.SHA = true, quorum.ReasonDraft, "newer"
		}, Outdated},

		{"no policy, and a check is open", func(s *shown, in *inquiry) { s.open(); in.file.State = quorum.FileMissing }, Undecided},
		{"no policy, and the check is completed", func(s *shown, in *inquiry) { in.file.State = quorum.FileMissing }, 0},
		{"no policy, and no check", func(s *shown, in *inquiry) { in.file.State, s.none = quorum.FileMissing, true }, 0},
		{"off, and a check is open", func(s *shown, in *inquiry) { s.open(); in.policy.Mode = quorum.Off }, Undecided},
		{"off, and no check", func(s *shown, in *inquiry) { in.policy.Mode, s.none = quorum.Off, true }, 0},
		{"a personal token", func(s *shown, in *inquiry) { in.personal, s.none = true, true }, Unseen},
	} {
		t.Run(test.title, func(t *testing.T) {
			s, in := passed(), inquiry{owner: "acme", repo: "shop", app: ActionsApp, now: looked.Add(2 * time.Hour), file: quorum.PolicyFile{State: quorum.FileValid, SHA: "policy"}, policy: quorum.Policy{Mode: quorum.Enforce}}
			test.given(s, &in)
			if got := in.whyDue(s.page(t)); got != test.want {
				t.Errorf("it is looked at because it is %q, want %q", got, test.want)
			}
		})
	}
}

func TestOrderOfUrgency(t *testing.T) {
	var due []Due
	for n, why := range []Why{Undecided, Changed, Undecided, Awake, Unseen, Undecided, Changed} {
		due = append(due, Due{PR: quorum.PR{Number: n}, Why: why})
	}
	firsts := map[int]bool{}
	for minute := range 3 {
		in, all := inquiry{now: looked.Add(time.Duration(minute) * time.Minute)}, slices.Clone(due)
		in.sortByUrgency(all)
		var numbers []int
		for _, d := range all {
			numbers = append(numbers, d.PR.Number)
		}
		if !slices.Equal(numbers[:4], []int{3, 4, 1, 6}) {
			t.Errorf("the order is %v", numbers)
		}
		firsts[numbers[4]] = true
	}
	if len(firsts) != 3 {
		t.Errorf("of those that wait %v came first", firsts)
	}
}

// The query asks without aliases, and GitHub's own bound of nodes holds for its largest page.
func TestOpenQuery(t *testing.T) {
	query := openHead + openChecks + openTail
	if n := strings.Count(query, "{") - strings.Count(query, "}"); n != 0 {
		t.Errorf("%d braces are not closed", n)
	}
	const nodes = largestPage * (1 + 100 + 1 + 1*(50+100))
	if nodes > 500_000 {
		t.Errorf("it asks for up to %d nodes", nodes)
	}
}
