package github_test

// What a page tells of a pull request, and what that calls for.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// The page of open pull requests, as GitHub writes it.
type (
	openPull struct {
		Number  int          `json:"number"`
		Title   string       `json:"title"`
		Draft   bool         `json:"isDraft"`
		Updated time.Time    `json:"updatedAt"`
		Head    string       `json:"headRefOid"`
		Base    string       `json:"baseRefName"`
		HeadRef *openHeadRef `json:"headRef"`
		Threads struct {
			Total int          `json:"totalCount"`
			Nodes []openThread `json:"nodes"`
		} `json:"reviewThreads"`
		Commits struct {
			Nodes []openCommit `json:"nodes"`
		} `json:"commits"`
	}
	openHeadRef struct {
		Target struct {
			OID    string `json:"oid"`
			Suites struct {
				Nodes []openSuite `json:"nodes"`
			} `json:"checkSuites"`
		} `json:"target"`
	}
	openThread struct {
		Resolved bool `json:"isResolved"`
		Outdated bool `json:"isOutdated"`
	}
	openCommit struct {
		Commit openTip `json:"commit"`
	}
	openTip struct {
		OID    string      `json:"oid"`
		Rollup *openRollup `json:"statusCheckRollup"`
	}
	openSuite struct {
		ID      int64     `json:"databaseId"`
		Updated time.Time `json:"updatedAt"`
	}
	openRollup struct {
		Contexts struct {
			Nodes []openContext `json:"nodes"`
		} `json:"contexts"`
	}
	openContext struct {
		Type       string    `json:"__typename"`
		ExternalID string    `json:"externalId"`
		Status     string    `json:"status"`
		Conclusion string    `json:"conclusion"`
		Started    time.Time `json:"startedAt"`
		Completed  time.Time `json:"completedAt"`
		Created    time.Time `json:"createdAt"`
		Text       string    `json:"text"`
		Suite      struct {
			ID  int64 `json:"databaseId"`
			App struct {
				Slug string `json:"slug"`
			} `json:"app"`
		} `json:"checkSuite"`
	}
)

// An inquirer asks a GitHub, whose only page of open pull requests it knows, which of them must be looked at.
type inquirer struct {
	now      time.Time
	file     quorum.PolicyFile
	policy   string // its text
	personal bool
	pulls    []openPull
	asked    struct { // in the last query
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
}

func newInquirer() *inquirer {
	return &inquirer{now: looked.Add(2 * time.Hour), file: quorum.PolicyFile{State: quorum.FileValid, SHA: "policy"}, policy: "drafts: review\n"}
}

func (in *inquirer) RoundTrip(req *http.Request) (*http.Response, error) {
	status, answer := 200, any(nil)
	switch src := "version: 1\nquorum: 1\nreviewers:\n  - preset: copilot\n" + in.policy; {
	case req.URL.Path == "/graphql":
		if err := json.NewDecoder(req.Body).Decode(&in.asked); err != nil {
			return nil, err
		}
		answer = map[string]any{
			"data": map[string]any{"repository": map[string]any{"pullRequests": map[string]any{"nodes": in.pulls, "pageInfo": map[string]any{}}}},
		}
	case in.file.State == quorum.FileMissing, strings.HasPrefix(req.URL.Path, "/repos/acme/.github/"):
		status, answer = 404, map[string]any{"message": "Not Found"}
	default:
		if in.file.State == quorum.FileBroken {
			src += "quorum: none\n"
		}
		answer = map[string]any{
			"type":     "file",
			"encoding": "base64",
			"size":     len(src),
			"content":  base64.StdEncoding.EncodeToString([]byte(src)),
			"sha":      in.file.SHA,
		}
	}
	text, err := json.Marshal(answer)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(text))), Request: req}, err
}

// due are the pull requests that must be looked at.
func (in *inquirer) due(t *testing.T) []github.Due {
	t.Helper()
	token := "ghs_x"
	if in.personal {
		token = "ghp_x"
	}
	now := func() time.Time { return in.now }
	f := github.NewForge(do[*client.Client](t)(client.New(client.Options{Token: token, Transport: in, Now: now})), quorum.ActionsApp, "", nil)
	f.SetClock(now)
	open := do[github.Open](t)(f.Open(t.Context(), "acme", "shop"))
	if open.File.State != in.file.State || open.Count != len(in.pulls) {
		t.Fatalf("the policy file is in state %d, %d are open", open.File.State, open.Count)
	}
	return open.Due
}

// sweepLookMargin is how much older than our look a change may seem that it did not see.
const sweepLookMargin = 5 * time.Second

// shown is a pull request as a page shows it, with our check on its head.
type shown struct {
	p    openPull
	own  openContext
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
	s.p = openPull{Number: 7, Title: "Change", Updated: looked.Add(-time.Hour), Head: "head"}
	s.p.Threads.Total = 2
	s.threads(true, false)
	s.own = openContext{
		Type:       "CheckRun",
		ExternalID: "review-coordinator acme/shop#7",
		Status:     "COMPLETED",
		Conclusion: "SUCCESS",
		Started:    looked,
		Completed:  looked.Add(2 * time.Second),
	}
	s.own.Suite.ID, s.own.Suite.App.Slug = 1, quorum.ActionsApp
	return s
}

func (s *shown) threads(resolved ...bool) {
	s.p.Threads.Nodes = nil
	for _, is := range resolved {
		s.p.Threads.Nodes = append(s.p.Threads.Nodes, openThread{Resolved: is})
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
	c := openContext{Type: "CheckRun", Status: "COMPLETED", Conclusion: "SUCCESS", Started: looked.Add(started), Completed: looked.Add(completed)}
	c.Suite.ID, c.Suite.App.Slug = suite, quorum.ActionsApp
	s.tip().Rollup.Contexts.Nodes = append(s.tip().Rollup.Contexts.Nodes, c)
}

func (s *shown) suite(id int64, updated time.Duration) {
	if s.p.HeadRef == nil {
		s.tip()
	}
	s.p.HeadRef.Target.Suites.Nodes = append(s.p.HeadRef.Target.Suites.Nodes, openSuite{id, looked.Add(updated)})
}

func (s *shown) tip() *openTip {
	if len(s.p.Commits.Nodes) == 0 {
		s.p.Commits.Nodes = append(s.p.Commits.Nodes, openCommit{openTip{OID: s.p.Head, Rollup: &openRollup{}}})
		s.p.HeadRef = &openHeadRef{}
		s.p.HeadRef.Target.OID = s.p.Head
		s.suite(1, 2*time.Second)
	}
	return &s.p.Commits.Nodes[0].Commit
}

func (s *shown) page(t *testing.T) openPull {
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
		given func(s *shown, in *inquirer)
		want  github.Why
	}{
		{"nothing is new", func(*shown, *inquirer) {}, 0},
		{"no check", func(s *shown, _ *inquirer) { s.none = true }, github.Unseen},
		{"no check on this head", func(s *shown, _ *inquirer) { s.tip(); s.p.Head = "next" }, github.Unseen},
		{"a check that is of another head", func(s *shown, _ *inquirer) { s.rec.Head = "next" }, github.Unseen},
		{"somebody else's check", func(s *shown, _ *inquirer) { s.own.Suite.App.Slug = "mallory" }, github.Unseen},
		{"another pull request's check", func(s *shown, _ *inquirer) { s.own.ExternalID = "review-coordinator acme/shop#77" }, github.Unseen},
		{"a check that cannot be read", func(s *shown, _ *inquirer) { s.text = "Edited." }, github.Unseen},
		{"a check that says of no look", func(s *shown, _ *inquirer) { s.rec.Seen = quorum.Seen{} }, github.Unseen},
		{"a check that has ended", func(s *shown, _ *inquirer) { s.own.Conclusion = "CANCELLED" }, github.Unseen},
		{"another name's check has ended", func(s *shown, in *inquirer) {
			old := *s
			old.own.Conclusion, old.rec.Seen.At = "CANCELLED", looked.Add(-time.Minute)
			old.p.Commits.Nodes = nil
			other := old.page(t)
			s.tip().Rollup.Contexts.Nodes = append(s.tip().Rollup.Contexts.Nodes, other.Commits.Nodes[0].Commit.Rollup.Contexts.Nodes...)
		}, 0},

		{"undecided", func(s *shown, _ *inquirer) { s.open() }, github.Undecided},
		{"its time has come", func(s *shown, in *inquirer) { s.open(); s.d.Wake = in.now }, github.Awake},
		{"its time comes in a second", func(s *shown, in *inquirer) { s.open(); s.d.Wake = in.now.Add(time.Second) }, github.Undecided},
		{"decided, and its time has come", func(s *shown, in *inquirer) { s.blocked(); s.d.Wake = in.now }, github.Awake},
		{"decided, and its time has not come", func(s *shown, in *inquirer) { s.blocked(); s.d.Wake = in.now.Add(time.Second) }, 0},

		{"the pull request changed", func(s *shown, _ *inquirer) { s.p.Updated = looked.Add(time.Minute) }, github.Changed},
		{"it changed while we looked", func(s *shown, _ *inquirer) { s.p.Updated = looked }, github.Changed},
		{
			"it changed so shortly before that a replica may not have shown it",
			func(s *shown, _ *inquirer) { s.p.Updated = looked.Add(-sweepLookMargin) }, github.Changed,
		},
		{"it changed before", func(s *shown, _ *inquirer) { s.p.Updated = looked.Add(-sweepLookMargin - time.Second) }, 0},
		{"another suite changed", func(s *shown, _ *inquirer) { s.suite(2, time.Minute) }, github.Changed},
		{"the head's branch is gone", func(s *shown, _ *inquirer) { s.tip(); s.p.HeadRef = nil }, 0},
		{"the head's branch is gone, and a job ended", func(s *shown, _ *inquirer) {
			s.beside(3, -time.Hour, time.Minute)
			s.p.HeadRef = nil
		}, github.Changed},
		{"the head's branch is ahead of its pull request", func(s *shown, _ *inquirer) { s.tip(); s.p.HeadRef.Target.OID = "next" }, github.Changed},
		{"another suite changed before", func(s *shown, _ *inquirer) { s.suite(2, -time.Minute) }, 0},
		{"our own write changed a suite", func(s *shown, _ *inquirer) { s.suite(1, time.Hour) }, 0},
		{"a job in our suite ended", func(s *shown, _ *inquirer) { s.suite(1, time.Minute); s.beside(1, -time.Minute, time.Minute) }, github.Changed},
		{"a job in our suite began", func(s *shown, _ *inquirer) { s.beside(1, time.Minute, -time.Hour) }, github.Changed},
		{"a job in our suite ended before", func(s *shown, _ *inquirer) { s.beside(1, -time.Hour, -time.Minute) }, 0},
		{"a job ended in a suite that says nothing", func(s *shown, _ *inquirer) { s.beside(3, -time.Hour, time.Minute) }, github.Changed},
		{"a status was written", func(s *shown, _ *inquirer) {
			s.tip().Rollup.Contexts.Nodes = append(s.tip().Rollup.Contexts.Nodes, openContext{Type: "StatusContext", Created: looked.Add(time.Minute)})
		}, github.Changed},

		{"a thread was resolved", func(s *shown, _ *inquirer) { s.blocked(); s.threads(true, true) }, github.Settled},
		{"the same threads are resolved", func(s *shown, _ *inquirer) { s.blocked(); s.threads(true, false) }, 0},
		{"one was resolved and one opened again", func(s *shown, _ *inquirer) { s.blocked(); s.threads(false, true) }, github.Settled},
		{"more threads than a page shows", func(s *shown, _ *inquirer) { s.blocked(); s.p.Threads.Total = 101 }, github.Settled},
		{"a thread was resolved under a pass", func(s *shown, _ *inquirer) { s.threads(true, true) }, 0},
		{"a thread was opened again under a pass", func(s *shown, _ *inquirer) { s.threads(false, false) }, github.Settled},

		{"another policy", func(s *shown, in *inquirer) { in.file.SHA = "newer" }, github.Outdated},
		{"a policy that was mended", func(s *shown, in *inquirer) { s.d.Reason = quorum.ReasonBroken }, github.Outdated},
		{"a policy that broke", func(s *shown, in *inquirer) { in.file.State = quorum.FileBroken }, github.Outdated},
		{"a policy that is broken still", func(s *shown, in *inquirer) {
			in.file.State, s.d.Reason, s.rec.Policy = quorum.FileBroken, quorum.ReasonBroken, ""
		}, 0},
		{"a broken policy, and no check", func(s *shown, in *inquirer) { in.file.State, s.none = quorum.FileBroken, true }, github.Unseen},

		{"a draft that waits", func(s *shown, in *inquirer) {
			s.open()
			s.p.Draft, s.d.Reason, in.policy, s.p.Updated = true, quorum.ReasonDraft, "drafts: wait\n", looked.Add(time.Hour)
		}, 0},
		{"a draft that became ready", func(s *shown, in *inquirer) {
			s.open()
			s.d.Reason, in.policy, s.p.Updated = quorum.ReasonDraft, "drafts: wait\n", looked.Add(time.Hour)
		}, github.Changed},
		{"a draft that is to be reviewed from now on", func(s *shown, in *inquirer) {
			s.open()
			s.p.Draft, s.d.Reason, in.file.SHA = true, quorum.ReasonDraft, "newer"
		}, github.Outdated},

		{"no policy, and a check is open", func(s *shown, in *inquirer) { s.open(); in.file.State = quorum.FileMissing }, github.Undecided},
		{"no policy, and the check is completed", func(s *shown, in *inquirer) { in.file.State = quorum.FileMissing }, 0},
		{"no policy, and no check", func(s *shown, in *inquirer) { in.file.State, s.none = quorum.FileMissing, true }, 0},
		{"off, and a check is open", func(s *shown, in *inquirer) { s.open(); in.policy = "mode: off\n" }, github.Undecided},
		{"off, and no check", func(s *shown, in *inquirer) { in.policy, s.none = "mode: off\n", true }, 0},
		{"a personal token", func(s *shown, in *inquirer) { in.personal, s.none = true, true }, github.Unseen},
	} {
		t.Run(test.title, func(t *testing.T) {
			s, in := passed(), newInquirer()
			test.given(s, in)
			in.pulls = []openPull{s.page(t)}
			var got github.Why
			for _, d := range in.due(t) {
				got = d.Why
			}
			if got != test.want {
				t.Errorf("it is looked at because it is %q, want %q", got, test.want)
			}
		})
	}
}

func TestOrderOfUrgency(t *testing.T) {
	in := newInquirer()
	for n, why := range []github.Why{github.Undecided, github.Changed, github.Undecided, github.Awake, github.Unseen, github.Undecided, github.Changed} {
		s := passed()
		s.p.Number, s.own.ExternalID = n+1, fmt.Sprintf("review-coordinator acme/shop#%d", n+1)
		switch why {
		case github.Changed:
			s.p.Updated = looked.Add(time.Minute)
		case github.Unseen:
			s.none = true
		case github.Awake:
			s.open()
			s.d.Wake = in.now
		default:
			s.open()
		}
		in.pulls = append(in.pulls, s.page(t))
	}
	firsts := map[int]bool{}
	for range 3 {
		var numbers []int
		for _, d := range in.due(t) {
			numbers = append(numbers, d.PR.Number)
		}
		if !slices.Equal(numbers[:4], []int{4, 5, 2, 7}) {
			t.Errorf("the order is %v", numbers)
		}
		firsts[numbers[4]] = true
		in.now = in.now.Add(time.Minute)
	}
	if len(firsts) != 3 {
		t.Errorf("of those that wait %v came first", firsts)
	}
}

// The query asks without aliases, and GitHub's own bound of nodes holds for its largest page.
func TestOpenQuery(t *testing.T) {
	in := newInquirer()
	in.due(t)
	query, first := in.asked.Query, in.asked.Variables["first"]
	if n := strings.Count(query, "{") - strings.Count(query, "}"); n != 0 {
		t.Errorf("%d braces are not closed", n)
	}
	for _, part := range []string{
		"pullRequests(states: OPEN, first: $first", "reviewThreads(first: 100)", "commits(last: 1)", "checkSuites(first: 50)",
		"contexts(first: 100)", "checkSuites(first: 2, filterBy: {checkName: $check})",
	} {
		if !strings.Contains(query, part) {
			t.Errorf("it does not ask for %s", part)
		}
	}
	const nodes = 100 * (1 + 100 + 50 + 1 + 1*(2+2*5+100))
	if first != 100.0 || nodes > 500_000 {
		t.Errorf("it asks for %v at once, and up to %d nodes", first, nodes)
	}
}

// A token that may not read statuses is shown no rollup. That ends no sweep, and is said once: our check is found among
// the suites all the same, and a run that changed is seen.
func TestASweepWithoutStatuses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const pulls = 25
		w := newWorld(t, asJob, under(oneCopilot), func(s *setup) { s.sand.NoStatuses = true })
		for n := range pulls - 1 {
			w.g.OpenPull(sandbox.PullSpec{Number: 100 + n, Head: fmt.Sprint("other", n)})
		}
		said := &strings.Builder{}
		w.forge = github.NewForge(w.client, quorum.ActionsApp, "", slog.New(slog.NewTextHandler(said, nil)))
		w.look()
		pass(time.Hour)
		w.look()
		pass(time.Minute)
		dueWhy := func() github.Why {
			open := do[github.Open](t)(w.forge.OpenOfFew(t.Context(), "acme", "shop"))
			if open.Count != pulls {
				t.Errorf("%d are open", open.Count)
			}
			i := slices.IndexFunc(open.Due, func(d github.Due) bool { return d.PR == w.pr })
			if i < 0 {
				return 0
			}
			return open.Due[i].Why
		}
		before := dueWhy()
		if before == github.Unseen || before == github.Changed {
			t.Errorf("it is due as %s", before)
		}
		if n := strings.Count(said.String(), "statuses: read"); n != 1 {
			t.Errorf("it was said %d times:\n%s", n, said)
		}
		w.start(openaiFile)
		if why := dueWhy(); why != github.Changed {
			t.Errorf("a run began, and it is due as %s", why)
		}
	})
}
