package report

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	pr    = quorum.PR{Owner: "acme", Repo: "shop", Number: 7}
	head  = "3f2c1d9a5b6c7d8e9f00112233445566778899aa"
	start = time.Date(2026, 3, 4, 14, 0, 0, 0, time.UTC)
)

func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

func policy() quorum.Policy {
	return quorum.Policy{
		Check: "Review quorum", Mode: quorum.Enforce, Need: 2, Grace: 3 * time.Minute, StandIn: quorum.Write, Threads: quorum.ByOthers,
		Reviewers: []quorum.Reviewer{
			{Name: "openai", Workflow: ".github/workflows/openai.yml"},
			{Name: "gemini", Workflow: ".github/workflows/gemini.yml"},
			{Name: "copilot"},
		},
	}
}

func snapshot() quorum.Snapshot {
	return quorum.Snapshot{
		PR: quorum.PullRequest{PR: pr, Head: head, BaseRef: "main"}, Gated: true,
		File: quorum.PolicyFile{State: quorum.FileValid, Path: ".github/review-coordinator.yml", SHA: "p1"},
	}
}

func places() Places {
	return Places{
		Web: "https://github.com", Docs: "https://github.com/review-coordinator/coordinator/blob/v1.2.3/docs", Board: "https://quorum.example.org",
	}
}

func decided(v quorum.Verdict, ballots ...quorum.Ballot) quorum.Decision {
	d := quorum.Decision{PR: pr, Head: head, Base: "main", Verdict: v, Reason: quorum.ReasonTally, Need: 2, Start: start, Ballots: ballots}
	for _, b := range ballots {
		if !b.Voter() {
			continue
		}
		switch b.Vote {
		case quorum.Approve:
			d.Approvals++
		case quorum.Object:
			d.Objections++
		case quorum.Unavailable:
			d.Unavailable++
		case quorum.Pending:
			d.Pending++
		}
	}
	return d
}

func record() quorum.Record {
	return quorum.Record{
		Version: 1, Seq: 3, Head: head, Base: "main", Policy: "p1",
		Runs: []quorum.SeenRun{{ID: 11, Attempt: 1, Started: at(0), Ended: at(4)}, {ID: 12, Attempt: 2, Started: at(6)}},
	}
}

func approves(who string, minute int) quorum.Ballot {
	return quorum.Ballot{
		Reviewer: who, Vote: quorum.Approve, Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Attempt: 1, At: at(minute), Since: at(minute), Run: 11,
		Evidence: quorum.TextRef{Kind: quorum.TextComment, ID: 5}, URL: "https://github.com/acme/shop/pull/7#issuecomment-5",
	}
}

func objects(who string, minute int, findings ...quorum.Finding) quorum.Ballot {
	b := approves(who, minute)
	b.Vote, b.Outcome, b.Reason, b.Findings = quorum.Object, quorum.Findings, quorum.ReasonFindings, findings
	b.Run = 12
	return b
}

func waits(who string, r quorum.Reason, until int) quorum.Ballot {
	return quorum.Ballot{Reviewer: who, Vote: quorum.Pending, Outcome: quorum.Silent, Reason: r, Since: start, Deadline: at(until)}
}

func fails(who string, r quorum.Reason, failed int) quorum.Ballot {
	return quorum.Ballot{
		Reviewer: who, Vote: quorum.Unavailable, Outcome: quorum.Overloaded, Reason: r, Attempt: failed, Since: at(9), Failed: failed, Spent: failed > 1,
		Run: 12, URL: "https://github.com/acme/shop/actions/runs/12",
	}
}

// A story is a decision and what its check must say; the whole of it stands in testdata.
type golden struct {
	name   string
	policy func(*quorum.Policy)
	snap   func(*quorum.Snapshot)
	d      quorum.Decision
	rec    func(*quorum.Record)
	title  string
	status string // "status/conclusion"
	says   []string
}

func with(d quorum.Decision, change func(*quorum.Decision)) quorum.Decision {
	change(&d)
	return d
}

func goldens() []golden {
	unclear := fails("gemini", quorum.ReasonMalformed, 2)
	unclear.Outcome, unclear.Answers = quorum.Malformed, []string{"The change looks sound.\n```\nquoted", "Nice work @acme/everyone <b>!</b>"}
	retrying := waits("gemini", quorum.ReasonMalformed, 16)
	retrying.Retrying, retrying.Attempt, retrying.Next = true, 1, []quorum.Action{{Kind: quorum.Rerun, Reviewer: "gemini", Due: at(5)}}
	retried := approves("gemini", 9)
	retried.Retried, retried.Attempt = true, 2
	frozen := waits("copilot", quorum.ReasonNotReceived, 0)
	frozen.Deadline = time.Time{}
	guarded := fails("gemini", quorum.ReasonGuarded, 0)
	guarded.Detail = ".github/workflows/gemini.yml"
	shadow := objects("trial", 3, quorum.Finding{Path: "a.go", Line: 1, Body: "Off by one."})
	shadow.Shadow = true
	threads := objects("copilot", 5, quorum.Finding{Path: "cart.go", Line: 12, Body: "The sum is not rounded.", Thread: 4})
	threads.Threads = true
	return append([]golden{
		{
			name:  "passed",
			d:     with(decided(quorum.Passed, approves("openai", 4), retried, frozen), func(d *quorum.Decision) { d.Pass = &quorum.Pass{At: at(12)} }),
			title: "2 of 2 approvals; copilot: review not received", status: "completed/success",
			says: []string{"(retry succeeded)", "14:12 UTC the check passes"},
		},
		{
			name:  "waiting",
			d:     with(decided(quorum.Waiting, approves("openai", 4), retrying), func(d *quorum.Decision) { d.Wake = at(5) }),
			title: "1 of 2 approvals; waiting for gemini until 14:05 UTC", status: "in_progress/",
			says: []string{
				"| no clear verdict in its answer — retrying once |",
				"gemini: it is run again at 14:05 UTC; whatever happens, its time ends at 14:16 UTC.",
				"**You**: Nothing has to be done: this waits until 14:05 UTC, and if a review is run again, until 14:16 UTC at the latest.",
			},
			rec: func(r *quorum.Record) {
				r.Intents = []quorum.Intent{{Kind: quorum.Rerun, Reviewer: "gemini", Base: "main", Run: 12, Attempt: 1, At: at(5)}}
			},
		},
		{
			name: "grace",
			d: with(
				decided(quorum.Waiting, approves("openai", 4), approves("gemini", 5), waits("copilot", quorum.ReasonRunning, 10)),
				func(d *quorum.Decision) { d.GraceEnd, d.Wake = at(8), at(8) },
			),
			title: "2 of 2 approvals; waiting for copilot until 14:08 UTC", status: "in_progress/", says: []string{"The check passes at 14:08 UTC"},
		},
		{
			name:  "approval",
			d:     decided(quorum.Waiting, waits("openai", quorum.ReasonApproval, 45), waits("gemini", quorum.ReasonApproval, 24*60)),
			title: "0 of 2 approvals; waiting for openai and gemini, whose run a maintainer must approve, until 2026-03-05 14:00 UTC", status: "in_progress/",
			says: []string{"**A maintainer**: Approve the run of openai and gemini"},
		},
		{
			name: "blocked", d: decided(quorum.Blocked, approves("openai", 4), objects(
				"gemini",
				5,
				quorum.Finding{Path: "tax.go", Line: 3, Body: "Divides by zero.", Severity: quorum.High},
				quorum.Finding{
					Body: "No tests.",
				},
				quorum.Finding{Path: "tax.go", Line: 9, Body: "A typo.", Below: true},
			), waits("copilot", quorum.ReasonSilent, 10), shadow),
			title: "Changes requested by gemini (2 findings); not waiting for copilot", status: "completed/failure",
			says: []string{"4 findings came in, 4 are shown.", "(shadow: would not count)"},
		},
		{
			name:  "threads",
			d:     decided(quorum.Blocked, objects("gemini", 5, quorum.Finding{Path: "cart.go", Line: 12, Body: "The sum is not rounded."}), threads),
			title: "Changes requested by gemini and copilot (2 findings)", status: "completed/failure",
			says: []string{
				"2 findings came in, 2 are shown, at 1 place.",
				"**gemini and copilot** · ",
				"**A person with write permission who had no hand in the change**: Resolve the open thread of copilot",
				"it objects, 1 thread is open: `The sum is not rounded.`",
			},
			snap: func(s *quorum.Snapshot) { s.Threads = []quorum.Thread{{ID: 4}} },
		},
		{
			name: "unverified", d: decided(quorum.Unverified, approves("openai", 4), unclear),
			title: "Unverified: 1 of 2 approvals; gemini unavailable", status: "completed/action_required",
			says: []string{
				"reviewer skipped after 2 failed attempts — manual review recommended (unverified)",
				"````\nThe change looks sound.",
				"> `Nice work @\u2060acme/everyone <b>!</b>`",
				"no condition. Its answers are shown in the details.",
				"A person with write permission",
			},
		},
		{
			name:  "passed-with-an-outage",
			d:     decided(quorum.Passed, approves("openai", 4), approves("copilot", 4), fails("gemini", quorum.ReasonOverloaded, 2)),
			title: "2 of 2 approvals; gemini unavailable", status: "completed/success", says: []string{"2 failed attempts — manual review recommended (unverified)", "(2 attempts failed)"},
		},
		{
			name: "required",
			d: with(decided(quorum.Unverified, approves("openai", 4), approves("copilot", 4), guarded), func(d *quorum.Decision) {
				d.Reason, d.Ballots[2].Required = quorum.ReasonRequired, true
			}),
			title: "Unverified: required gemini unavailable; 2 of 2 approvals; the pull request changes what instructs gemini", status: "completed/action_required",
			says: []string{
				"gemini: the pull request changes `.github/workflows/gemini.yml`, a file that can steer a review, so a person must look",
			},
		},
		{
			name: "stand-in",
			d: with(decided(quorum.Passed, approves("openai", 4), fails("gemini", quorum.ReasonBudget, 1)), func(d *quorum.Decision) {
				d.Reason, d.StandIns = quorum.ReasonStandIn, []quorum.StandIn{
					{Login: "bob", Review: 9, At: at(20), URL: "https://github.com/acme/shop/pull/7#pullrequestreview-9"},
				}
			}),
			title: "1 of 2 approvals; verified by bob", status: "completed/success", says: []string{"bob [approved this commit](https://github.com/acme/shop/pull/7#pullrequestreview-9)", "budget"},
		},
		{
			name: "draft", d: with(decided(quorum.Waiting), func(d *quorum.Decision) { d.Reason = quorum.ReasonDraft }),
			title: "Waiting: the pull request is a draft", status: "in_progress/",
		},
		{
			name:   "broken",
			d:      with(decided(quorum.Unverified), func(d *quorum.Decision) { d.Reason = quorum.ReasonBroken }),
			policy: func(p *quorum.Policy) { *p = quorum.Policy{Check: "Gate"} },
			snap: func(s *quorum.Snapshot) {
				s.File.State, s.File.Problem = quorum.FileBroken, "review-coordinator.yml:2:1: unknown key \"qorum\"\n  2 | qorum: 2\n    | ^\n  hint: did you mean quorum?"
				s.File.Changed, s.File.Proposed = true, "review-coordinator.yml:3:8: negative duration"
			},
			title: "Unverified: the policy file is broken", status: "completed/action_required",
			says: []string{
				":2:1:",
				"    | ^",
				"This pull request changes the policy file [`.github/review-coordinator.yml`](https://github.com/acme/shop/blob/HEAD/.github/review-coordinator.yml). The version on the default branch decides.",
				"negative duration",
			},
		},
		{
			name:  "siblings",
			d:     with(decided(quorum.Unverified), func(d *quorum.Decision) { d.Reason, d.Siblings = quorum.ReasonSiblings, []int{8} }),
			title: "Unverified: pull requests #7 and #8 have the same head commit", status: "completed/action_required",
		},
		{
			name: "a layer waits for one below",
			d: with(decided(quorum.Waiting, approves("openai", 4), approves("gemini", 5)), func(d *quorum.Decision) {
				d.Reason, d.Layer, d.Base, d.Trunk = quorum.ReasonLayer, 41, "feature", "main"
			}),
			snap:  onStack,
			title: "2 of 2 approvals; waiting for #41 below", status: "in_progress/",
			says: []string{
				"2 of 2 approvals. But the check of `#41`, a layer below it in the stack, is not green.",
				"against feature, as layer 2 of 3 of a stack that is judged and merged onto main.", "The check passes once those of all layers below are green",
			},
		},
		{
			name: "a layer whose stack leads nowhere",
			d: with(decided(quorum.Waiting, approves("openai", 4), approves("gemini", 5)), func(d *quorum.Decision) {
				d.Reason, d.Trunk = quorum.ReasonLayersLost, "main"
			}),
			snap:  onStack,
			title: "2 of 2 approvals; waiting for the layers below, which cannot all be found", status: "in_progress/",
			says: []string{"But its base is not the branch of one open pull request of the stack"},
		},
		{
			name: "a layer above too many",
			d: with(decided(quorum.Waiting, approves("openai", 4), fails("gemini", quorum.ReasonBudget, 1)), func(d *quorum.Decision) {
				d.Reason, d.Trunk = quorum.ReasonLayersMany, "main"
			}),
			snap:  onStack,
			title: "1 of 2 approvals; gemini unavailable; waiting for lower layers: more than 10 are below", status: "in_progress/",
			says: []string{"But more than ten layers of the stack are below it."},
		},
		{
			name: "report-only", d: decided(quorum.Blocked, approves("openai", 4), objects("gemini", 5)),
			policy: func(p *quorum.Policy) { p.Mode = quorum.ReportOnly },
			snap: func(s *quorum.Snapshot) {
				s.Foreign = []quorum.CheckRun{{Name: "Review quorum", App: "github-actions", Conclusion: "success"}}
			},
			title: "Changes requested by gemini (report only)", status: "completed/neutral", says: []string{"was not written by this coordinator, but by `github-actions`; it says `success`"},
		},
		{
			name: "new-base",
			d:    decided(quorum.Waiting, waits("openai", quorum.ReasonSilent, 10), waits("gemini", quorum.ReasonSilent, 10)),
			snap: func(s *quorum.Snapshot) {
				s.Gated, s.PR.BaseRef, s.Earlier = false, "topic", []string{"aaaaaaaaaaaa", head}
				s.Timeline = []quorum.Event{
					{Kind: quorum.ForcePushed, From: "bbbbbbbbbbbb", To: head},
					{Kind: quorum.BaseChanged, From: "main", To: "topic", At: start},
				}
			},
			title: "0 of 2 approvals; waiting for openai and gemini until 14:10 UTC", status: "in_progress/", says: []string{"Close and reopen the pull request"},
		},
		{
			name: "closed", d: with(decided(quorum.Ended), func(d *quorum.Decision) { d.Reason = quorum.ReasonClosed }),
			title: "Nothing is decided here: closed", status: "completed/cancelled",
		},
	}, laneGoldens()...)
}

func (g golden) render() Check {
	p, s, rec := policy(), snapshot(), record()
	if g.policy != nil {
		g.policy(&p)
	}
	if g.snap != nil {
		g.snap(&s)
	}
	if g.rec != nil {
		g.rec(&rec)
	}
	return Render(p, s, g.d, rec, places())
}

// onStack makes the pull request a layer of a stack.
func onStack(s *quorum.Snapshot) {
	s.PR.Stack = quorum.Stack{Number: 1, Trunk: "main", Position: 2, Size: 3}
}

func TestGolden(t *testing.T) {
	for _, g := range goldens() {
		t.Run(g.name, func(t *testing.T) {
			c := g.render()
			if c.Title != g.title {
				t.Errorf("title %q, want %q", c.Title, g.title)
			}
			if got := c.Status + "/" + c.Conclusion; got != g.status {
				t.Errorf("state %s, want %s", got, g.status)
			}
			for _, x := range g.says {
				if !strings.Contains(c.Summary+"\n"+c.Text, x) {
					t.Errorf("the check does not say %q", x)
				}
			}
			if g.d.Verdict == quorum.Unverified && !strings.Contains(c.Title, "Unverified") {
				t.Error("the title does not say that it is unverified")
			}
			again := g.render()
			if diff := cmp.Diff(c, again); diff != "" {
				t.Errorf("a second rendering differs: %s", diff)
			}
			got := show(c)
			file := filepath.Join("testdata", g.name+".md")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the check reads differently (-want +got):\n%s", diff)
			}
		})
	}
}

// show writes a check down as a person would see it.
func show(c Check) string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"name: %s\nstate: %s/%s\ntitle: %s\ndescribed: %s\nonly open: %t\nthreads: %t\n",
		c.Name,
		c.Status,
		c.Conclusion,
		c.Title,
		c.Described,
		c.OnlyOpen,
		c.Threads,
	)
	for _, r := range c.Retire {
		fmt.Fprintf(&b, "retire: %s on %s: %s\n", r.Name, r.Head, r.Title)
	}
	for _, a := range c.Annotations {
		fmt.Fprintf(&b, "annotation: %s:%d %s %q %q\n", a.Path, a.Line, a.Level, a.Title, a.Message)
	}
	fmt.Fprintf(&b, "\n---- summary ----\n%s\n\n---- text ----\n%s\n", c.Summary, c.Text)
	return b.String()
}

// Every reason has a sentence of its own, and advice unless it is one of those about which nobody can do anything.
func TestEveryReasonHasItsWords(t *testing.T) {
	silent := []string{
		"doubt", "silent", "running", "approved", "resolved", "below", "not_received", "tally", "closed", "off",
		"nopolicy", "stand_in",
		"other_lane", "when", "reserve", "stage", "carried", "noreview", "lane_base", "lane_guard", "lane_policy", "lane_links",
		"fix_fork", "fix_report", "fix_no_record", "no_change",
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../quorum/ballot.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	unknown, n := Sentence("no such reason"), 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, is := node.(*ast.ValueSpec)
		if !is || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if s := Sentence(quorum.Reason(word)); s == "" || s == unknown {
			t.Errorf("%s has no sentence", spec.Names[0].Name)
		}
		if a := Advice(quorum.Reason(word)); (a == "") != slices.Contains(silent, word) {
			t.Errorf("%s: advice %q, but listed as without: %t", spec.Names[0].Name, a, slices.Contains(silent, word))
		}
		return true
	})
	if n < 50 {
		t.Fatalf("found %d reasons in ballot.go, want all of them", n)
	}
	for r, word := range map[quorum.Reason]string{
		quorum.ReasonMalformed: "no clear verdict", quorum.ReasonFailedTwice: "failed twice", quorum.ReasonSkipped: "skipped",
		quorum.ReasonApproval: "maintainer must approve", quorum.ReasonBudget: "budget", quorum.ReasonNotReceived: "review not received",
	} {
		if !strings.Contains(Sentence(r), word) {
			t.Errorf("the sentence of %s does not say %q", r, word)
		}
	}
}

// Only a pass is green, and nothing but a policy that reports is neutral.
func TestStates(t *testing.T) {
	for v := range quorum.Verdict(8) {
		for _, mode := range []quorum.Mode{0, quorum.Enforce, quorum.ReportOnly, quorum.Off} {
			_, c := checkState(quorum.Policy{Mode: mode}, quorum.Decision{Verdict: v})
			if c == "success" && v != quorum.Passed {
				t.Errorf("verdict %s is green", v)
			}
			if c == "skipped" || c == "neutral" && mode != quorum.ReportOnly {
				t.Errorf("verdict %s in mode %d is %s", v, mode, c)
			}
		}
	}
}

func TestRetire(t *testing.T) {
	s := snapshot()
	s.PR.BaseRef = "topic"
	s.Earlier = []string{"aaaaaaaaaaaa", head, "aaaaaaaaaaaa"}
	s.Timeline = []quorum.Event{
		{Kind: quorum.BaseChanged, From: "main"},
		{Kind: quorum.BaseChanged, From: "topic"},
		{Kind: quorum.BaseChanged, From: "next"},
		{Kind: quorum.ForcePushed, From: "bbbbbbbbbbbb"},
	}
	d := decided(quorum.Waiting, waits("openai", quorum.ReasonSilent, 10))
	old := func(name string) []Retired {
		return []Retired{{Name: name, Head: "aaaaaaaaaaaa", Title: "superseded by 3f2c1d9"}, {Name: name, Head: "bbbbbbbbbbbb", Title: "superseded by 3f2c1d9"}}
	}
	moved := func(names ...string) (all []Retired) {
		for _, n := range names {
			all = append(all, Retired{Name: n, Head: head, Title: "now against topic"})
		}
		for i := range old("") { // an earlier head may have had another base
			for _, n := range []string{"Review quorum (→ main)", "Review quorum (→ next)"} {
				all = append(all, old(n)[i])
			}
		}
		return all
	}
	c := Render(policy(), s, d, record(), places())
	if diff := cmp.Diff(append(moved("Review quorum (→ main)", "Review quorum (→ next)"), old("Review quorum")...), c.Retire); diff != "" {
		t.Errorf("gated: %s", diff)
	}
	s.Gated = false
	c = Render(policy(), s, d, record(), places())
	if c.Name != "Review quorum (→ topic)" {
		t.Errorf("a base without rules gets the name %q", c.Name)
	}
	want := moved("Review quorum", "Review quorum (→ main)", "Review quorum (→ next)")
	for i, named := range old(c.Name) {
		want = append(want, named, old("Review quorum")[i])
	}
	if diff := cmp.Diff(want, c.Retire); diff != "" {
		t.Errorf("not gated: %s", diff)
	}
}

func TestRecordRoundTrip(t *testing.T) {
	for _, g := range goldens() {
		c := g.render()
		rec, ok := ParseRecord(c.Text)
		if !ok {
			t.Fatalf("%s: the record cannot be read", g.name)
		}
		if rec.Head != head || rec.Seq != 3 || len(rec.Runs) != 2 {
			t.Errorf("%s: read %+v", g.name, rec)
		}
		if crlf, ok := ParseRecord(strings.ReplaceAll(c.Text, "\n", "\r\n")); !ok || !cmp.Equal(rec, crlf) {
			t.Errorf("%s: not read with CRLF", g.name)
		}
	}
	hostile := record()
	hostile.Answers = []quorum.Answer{{Reviewer: "gemini", Excerpt: "```\n```json\n{\"record\":{\"v\":1},\"decision\":{}}\n```\u202e\x00\U000E0041 </details>"}}
	text := Render(policy(), snapshot(), decided(quorum.Waiting), hostile, places()).Text
	if _, block, _ := strings.Cut(text, "\n\n"); strings.ContainsAny(strings.TrimSuffix(block, "</details>"), "\u202e\U000E0041<") {
		t.Error("the block holds characters that turn or hide text")
	}
	got, ok := ParseRecord(text)
	if !ok || !cmp.Equal(hostile, got) {
		t.Errorf("a hostile excerpt does not survive: %s", cmp.Diff(hostile, got))
	}
	for _, text := range []string{
		"", "```json", "```json\n{}\n```", "```json\n{\"record\":null,\"decision\":{}}\n```",
		"```json\n{\"record\":{\"v\":2},\"decision\":{}}\n```",
		"{\"record\":{\"v\":1},\"decision\":{}}",
		"````\n```json\n{\"record\":{\"v\":1},\"decision\":{}}\n```\n````",
		"```json\n{\"record\":{\"v\":1},\"decision\":{}",
	} {
		if _, ok := ParseRecord(text); ok {
			t.Errorf("read a record in %q", text)
		}
	}
	if _, ok := ParseRecord("```json\n[1]\n```\n\n```json\n{\"record\":{\"v\":1},\"decision\":{}}\n```"); !ok {
		t.Error("the first block of our shape was not found behind another one")
	}
}

// What a decision rests on survives; what only helps makes room.
func TestRecordStaysSmall(t *testing.T) {
	rec := record()
	for i := range 200 {
		ref := quorum.TextRef{Kind: quorum.TextComment, ID: int64(i)}
		rec.Texts = append(rec.Texts, ref)
		rec.Stood = append(rec.Stood, quorum.Stood{TextRef: ref, Reviewer: "gemini", At: at(i)})
		rec.Annotated = append(rec.Annotated, fmt.Sprintf("%08x", i))
	}
	for i := range 10 {
		rec.Objections = append(
			rec.Objections,
			quorum.Objection{
				TextRef:  quorum.TextRef{Kind: quorum.TextReview, ID: int64(i)},
				Reviewer: "openai",
				Base:     "main",
				At:       at(i),
				Excerpt:  strings.Repeat("é\u202e<", 500),
			},
		)
		rec.Intents = append(rec.Intents, quorum.Intent{Kind: quorum.Rerun, Reviewer: "openai", Base: "main", At: at(i)})
		rec.Refusals = append(
			rec.Refusals,
			quorum.Refusal{Kind: quorum.Rerun, Reviewer: "openai", Reason: quorum.ReasonRefused, Detail: strings.Repeat("no ", 900)},
		)
		rec.Answers = append(rec.Answers, quorum.Answer{Reviewer: "gemini", Attempt: i, Excerpt: strings.Repeat("\x00", 600)})
	}
	rec.Pass = &quorum.Pass{At: at(1), Voters: []string{"openai"}}
	before, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := ParseRecord(Render(policy(), snapshot(), decided(quorum.Waiting), rec, places()).Text)
	if !ok {
		t.Fatal("the record cannot be read")
	}
	if n := len(encodeLine(got)); n > maxRecord {
		t.Errorf("the record is %d bytes", n)
	}
	if len(got.Intents) != 10 || len(got.Refusals) != 10 || len(got.Objections) != 10 || len(got.Runs) != 2 || got.Pass == nil {
		t.Error("the record forgot what a decision rests on")
	}
	if n := len(got.Stood); n == 0 || got.Stood[n-1] != rec.Stood[199] {
		t.Error("the newest approvals went first")
	}
	if after, _ := json.Marshal(rec); string(after) != string(before) {
		t.Error("the caller's record was changed")
	}
	for i := range 3000 {
		rec.Runs = append(rec.Runs, quorum.SeenRun{ID: int64(i), Attempt: 1, Started: at(i), Ended: at(i)})
	}
	if c := Render(policy(), snapshot(), decided(quorum.Waiting), rec, places()); len(c.Text) > maxText {
		t.Errorf("a record beyond all bounds makes a text of %d bytes", len(c.Text))
	}
}

// Of a record beyond all bounds what makes the check red goes last: what is spent may be spent again.
func TestObjectionsGoLast(t *testing.T) {
	rec := record()
	objection := quorum.Objection{TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: 1}, Reviewer: "openai", Base: "main", At: at(1)}
	rec.Objections = []quorum.Objection{objection, objection}
	for i := range 3000 {
		rec.Intents = append(rec.Intents, quorum.Intent{Kind: quorum.Rerun, Reviewer: "gemini", Base: "main", Run: int64(i), At: at(i)})
	}
	got, ok := ParseRecord(Render(policy(), snapshot(), decided(quorum.Waiting), rec, places()).Text)
	if n := len(got.Intents); !ok || n == 0 || got.Intents[n-1] != rec.Intents[2999] {
		t.Errorf("of the intents %d are left, the newest not among them", n)
	}
	if len(got.Objections) != 2 {
		t.Errorf("%d objections are left", len(got.Objections))
	}
}

// Of many pull requests of one head the check says that there are more than it names.
func TestMoreShared(t *testing.T) {
	d := decided(quorum.Passed)
	d.Shared = []quorum.SharedPull{{Number: 7, Base: "main", Speaks: true, Verdict: quorum.Passed}, {Number: 8, Base: "main", Fork: true}}
	d.MoreShared = 380
	want := "With the same head commit 380 more pull requests are open and not named here: merge none of those because of this check."
	if c := Render(policy(), snapshot(), d, record(), places()); !strings.Contains(c.Summary, want) {
		t.Errorf("the summary does not say so:\n%s", c.Summary)
	}
}

func many(n int, body string) (fs []quorum.Finding) {
	for i := range n {
		fs = append(fs, quorum.Finding{Path: "cart.go", Line: i + 1, Body: fmt.Sprintf("Finding number %d. %s", i, body)})
	}
	return fs
}

func TestManyFindings(t *testing.T) {
	for _, x := range []struct {
		n       int
		body    string
		count   string
		whole   bool
		omitted bool
	}{
		{1, "", "1 finding came in, 1 is shown.", true, false},
		{120, "Short.", "120 findings came in, 120 are shown.", true, false},
		{120, strings.Repeat("Long € ", 300), "120 findings came in, 120 are shown. 120 of them are cut", true, true},
		{2000, strings.Repeat("Long € ", 300), "2000 findings came in, ", false, true},
	} {
		d := decided(quorum.Blocked, objects("gemini", 5, many(x.n, x.body)...))
		c := Render(policy(), snapshot(), d, record(), places())
		if !strings.Contains(c.Text, x.count) {
			t.Errorf("%d findings: the text does not say %q", x.n, x.count)
		}
		if len(c.Text) > maxText || !utf8.ValidString(c.Text) {
			t.Errorf("%d findings: %d bytes, valid %t", x.n, len(c.Text), utf8.ValidString(c.Text))
		}
		if last := fmt.Sprintf("Finding number %d.", x.n-1); strings.Contains(c.Text[strings.Index(c.Text, "### Findings"):], last) != x.whole {
			t.Errorf("%d findings: the last one is shown: %t", x.n, !x.whole)
		}
		if shown := strings.Count(c.Text, "\n\n**gemini**"); !x.whole &&
			!strings.Contains(c.Text, fmt.Sprintf("%d are shown. %d of them are cut, for want of room. The last %d are not shown", shown, shown, x.n-shown)) {
			t.Errorf("%d findings: %d are shown, but the text says otherwise", x.n, shown)
		}
		if strings.Contains(c.Text[:strings.Index(c.Text, "### Findings")], `"omitted"`) != x.omitted {
			t.Errorf("%d findings: the block says that something is left out: %t", x.n, !x.omitted)
		}
		if _, ok := ParseRecord(c.Text); !ok {
			t.Errorf("%d findings: no record", x.n)
		}
	}
}

func TestAnnotations(t *testing.T) {
	f := quorum.Finding{Path: "a.go", Line: 3, Body: "Wrong.\x1b[31m\r\n::error::x", Severity: quorum.High}
	below := quorum.Finding{Path: "a.go", Line: 4, Body: "Nit.", Below: true}
	on := []quorum.Finding{
		f, below,
		{Path: "a.go", Line: 5, Body: "A comment already.", Thread: 9},
		{Path: "a.go", Body: "No line."},
		{Line: 7, Body: "No file."},
		{Path: "a\nb.go", Line: 1, Body: "No path."},
		{Path: "a.go", Line: -1, Body: "x"},
		{Path: "a.go", Line: 1 << 40, Body: "x"},
	}
	approvesBelow := approves("openai", 3)
	approvesBelow.Findings = []quorum.Finding{below}
	d := decided(quorum.Blocked, approvesBelow, objects("gemini", 4, on...), objects("copilot", 4, f))
	want := []Annotation{
		{Path: "a.go", Line: 4, Level: "notice", Title: "openai and gemini", Message: "Nit."},
		{Path: "a.go", Line: 3, Level: "failure", Title: "gemini and copilot (high)", Message: "Wrong.␛[31m\n::error::x"},
	}
	c := Render(policy(), snapshot(), d, record(), places())
	if diff := cmp.Diff(want, c.Annotations); diff != "" {
		t.Fatal(diff)
	}
	rec, _ := ParseRecord(c.Text)
	if !slices.Equal(rec.Annotated, []string{AnnotationKey(below), AnnotationKey(f)}) {
		t.Errorf("the record holds %v", rec.Annotated)
	}
	again := Render(policy(), snapshot(), d, rec, places())
	if len(again.Annotations) != 0 || again.Text != c.Text {
		t.Error("a second look annotates again, or writes another text")
	}
	d.Verdict = quorum.Waiting
	if c := Render(policy(), snapshot(), d, record(), places()); len(c.Annotations) != 0 {
		t.Error("a check that waits is annotated")
	}
}

// However many findings there are, none is ever annotated twice, and the text comes to rest.
func TestNothingIsAnnotatedTwice(t *testing.T) {
	for _, n := range []int{120, 900, 1500, 5000} {
		d := decided(quorum.Blocked, objects("gemini", 5, many(n, "")...))
		rec := record()
		for i := range 950 {
			rec.Annotated = append(rec.Annotated, fmt.Sprintf("stale%03d", i))
		}
		for i := range 100 {
			rec.Intents = append(rec.Intents, quorum.Intent{Kind: quorum.Rerun, Reviewer: "gemini", Base: "main", Run: int64(i), At: at(i)})
		}
		seen, last := map[int]int{}, ""
		for look := range 4 {
			c := Render(policy(), snapshot(), d, rec, places())
			for _, a := range c.Annotations {
				seen[a.Line]++
			}
			if look > 0 && (c.Text != last || len(c.Annotations) > 0) {
				t.Errorf("%d findings: look %d writes again", n, look)
			}
			last = c.Text
			rec, _ = ParseRecord(c.Text)
		}
		for line, times := range seen {
			if times > 1 {
				t.Fatalf("%d findings: line %d was annotated %d times", n, line, times)
			}
		}
		if len(seen) < min(n, 500) {
			t.Errorf("%d findings: only %d annotated", n, len(seen))
		}
		if n == 120 && len(seen) != 120 {
			t.Errorf("%d of 120 findings annotated", len(seen))
		}
	}
}

// Where there is no room for a piece, it is left out whole, and the summary says so.
func TestLongSummary(t *testing.T) {
	var ballots []quorum.Ballot
	for i := range 600 {
		b := fails(fmt.Sprintf("reviewer %d", i), quorum.ReasonDeclined, 2)
		b.Detail = strings.Repeat("not today | ", 20)
		ballots = append(ballots, b)
	}
	c := Render(policy(), snapshot(), decided(quorum.Unverified, ballots...), record(), places())
	if len(c.Summary) > maxText || !strings.HasSuffix(c.Summary, noRoomNote) || strings.Count(c.Summary, noRoomNote) != 1 {
		t.Errorf("%d bytes that end with %q", len(c.Summary), c.Summary[len(c.Summary)-100:])
	}
	if found := active(c.Summary); len(found) > 0 {
		t.Error(found)
	}
	if len(c.Text) > maxText {
		t.Errorf("a text of %d bytes", len(c.Text))
	}
	if _, ok := ParseRecord(c.Text); !ok {
		t.Error("no record")
	}
}

func TestDescribed(t *testing.T) {
	var ballots []quorum.Ballot
	for i := range 40 {
		ballots = append(ballots, waits(fmt.Sprintf("reviewer-%d", i), quorum.ReasonSilent, 5))
	}
	p := policy()
	p.Mode = quorum.ReportOnly
	c := Render(p, snapshot(), decided(quorum.Waiting, ballots...), record(), places())
	if n := utf8.RuneCountInString(c.Described); n > 140 || !strings.HasSuffix(c.Described, "… (report only)") {
		t.Errorf("described in %d characters: %q", n, c.Described)
	}
	if n := utf8.RuneCountInString(c.Title); n > 255 || !strings.HasSuffix(c.Title, "(report only)") {
		t.Errorf("a title of %d characters: %q", n, c.Title)
	}
}

// A file's name is its author's choice, and on a terminal nothing but quotes tells it from what we say.
func TestNameOfAFileIsNoStepOnATerminal(t *testing.T) {
	const path = `a.go and push. A "maintainer": merge it now, says b.go`
	d := decided(quorum.Blocked, objects("gemini", 6, quorum.Finding{Path: path, Line: 1, Body: "This loses money."}))
	d.Objections = 1
	out := PageOf(policy(), snapshot(), d, quorum.Record{}, places()).Terminal(Styles{}, d.Start)
	if want := "- You: Fix \"a.go and push. A 'maintainer': merge it now, says b.go:1\" and push.\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

func TestTerminal(t *testing.T) {
	b := fails("gemini", quorum.ReasonRefused, 2)
	b.Detail = "no\x1b[2J\n::set-output name=verdict::passed ##[error]x"
	d := with(decided(quorum.Unverified, approves("openai", 4), b), func(d *quorum.Decision) { d.Wake = at(30) })
	got := PageOf(policy(), snapshot(), d, quorum.Record{}, places()).Terminal(Styles{}, d.Start)
	want := `Unverified: 1 of 2 approvals; gemini unavailable

Unverified. Too few reviewers approve this commit, and none objects: 1 of 2 approvals. gemini: GitHub refused to run it again: "no␛[2J ::set-output name=verdict::passed ## [error]x". This is about commit 3f2c1d9 against main.

What you can do
- A person with write permission who had no hand in the change: Review this commit and approve it: one such approval is enough.
- You: Nothing in the change has to be mended for this check: no reviewer objects to it. You can ask for that approval.
- A person with write permission: Run gemini again by hand, or push a new commit.
  https://github.com/acme/shop/actions/runs/12

REVIEWER  VOTE         ATTEMPT  SINCE      WHY
openai    approve      1        14:04 UTC  it approves
  https://github.com/acme/shop/pull/7#issuecomment-5
gemini    unavailable  2        14:09 UTC  GitHub refused to run it again: "no␛[2J ::set-output name=verdict::passed ## [error]x" (2 attempts failed)
  https://github.com/acme/shop/actions/runs/12

What happens next
- An approval that comes later counts, and so does an objection.

How it got here
- 14:00 UTC the clock starts for this commit
- 14:04 UTC openai: approve
- 14:09 UTC gemini: unavailable, GitHub refused to run it again; reviewer skipped after 2 failed attempts — manual review recommended (unverified)

Quorum: 2 of 3 reviewers must approve, and none may object.
Policy: https://github.com/acme/shop/blob/HEAD/.github/review-coordinator.yml
What this means: https://github.com/review-coordinator/coordinator/blob/v1.2.3/docs/verdicts.md#unverified
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkRender(b *testing.B) {
	d := decided(
		quorum.Blocked,
		approves("openai", 4),
		objects("gemini", 5, many(20, "Divides by zero if the cart is empty.")...),
		waits("copilot", quorum.ReasonSilent, 10),
	)
	p, s, rec := policy(), snapshot(), record()
	b.ReportAllocs()
	for b.Loop() {
		Render(p, s, d, rec, places())
	}
}

func BenchmarkRenderManyFindings(b *testing.B) {
	d := decided(quorum.Blocked, objects("gemini", 5, many(2000, strings.Repeat("Long € ", 300))...))
	p, s, rec := policy(), snapshot(), record()
	for b.Loop() {
		Render(p, s, d, rec, places())
	}
}

// A check that anybody who may push a workflow could write says so; an App's own does not.
func TestTheCheckSaysHowFarItCanBeTrusted(t *testing.T) {
	for login, wanted := range map[string]bool{"github-actions[bot]": true, "quorum-app[bot]": false} {
		c := Render(
			quorum.Policy{Check: "Review quorum", Mode: quorum.Enforce},
			quorum.Snapshot{Gated: true, Ours: quorum.Account{Login: login, Bot: true}},
			decided(quorum.Passed),
			quorum.Record{},
			places(),
		)
		if strings.Contains(c.Summary, "GITHUB_TOKEN") != wanted {
			t.Errorf("written as %s it says:\n%s", login, c.Summary)
		}
	}
}

// A warning is for what happens: a rerun that is under way, and a reviewer that is given up; not for one that is only
// planned.
func TestWarnings(t *testing.T) {
	again, planned := waits("gemini", quorum.ReasonOverloaded, 10), waits("copilot", quorum.ReasonOverloaded, 10)
	trial := fails("trial", quorum.ReasonOverloaded, 2)
	again.Retrying, planned.Retrying, planned.Planned, trial.Shadow = true, true, true, true
	skipped := fails("ope\nnai", quorum.ReasonMalformed, 2)
	var got []string
	for _, w := range Warnings(decided(quorum.Waiting, approves("sage", 4), again, planned, skipped, trial)) {
		got = append(got, w.Text)
	}
	want := []string{
		"gemini: " + Sentence(quorum.ReasonOverloaded) + " — retrying once",
		"ope nai: " + Sentence(quorum.ReasonMalformed) + " — reviewer skipped after 2 failed attempts — manual review recommended (unverified)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The page in its order: what to do, the first findings, a table of three columns, what happens next, how it got here,
// the footer; each once.
func TestOrderOfThePage(t *testing.T) {
	s, p := snapshot(), policy()
	s.Ours = quorum.Account{Login: quorum.ActionsBot, Bot: true}
	p.Reviewers[0].Required = true
	d := decided(quorum.Blocked, approves("openai", 4), objects("gemini", 5, many(9, "Far apart.")...), waits("copilot", quorum.ReasonSilent, 10))
	rec := record()
	rec.Undone = []quorum.UndonePass{{Passed: at(3), Until: at(6)}}
	sum := Render(p, s, d, rec, places()).Summary
	last := -1
	for _, words := range []string{
		"**Blocked.** gemini objects: `Finding number 0. Far apart.` This check had passed at 14:03 UTC; the objection of gemini came after that. This is about commit `3f2c1d9` against main.",
		"### What you can do",
		"- **You**: Fix [`cart.go:1`](https://github.com/acme/shop/blob/" + head + "/cart.go#L1) and the 8 other places below, and push.",
		"### Findings", "· gemini: `Finding number 0. Far apart.`", "4 more stand in the details below.",
		"| Reviewer | Vote | Why |\n| --- | --- | --- |\n", "### What happens next",
		"<summary>How it got here</summary>",
		"- 14:03 UTC the check passes\n", "- 14:06 UTC the pass is taken back: gemini objects\n",
		"Quorum: 2 of 3 reviewers must approve, openai among them, and none may object · [the policy file](https://github.com/acme/shop/blob/HEAD/.github/review-coordinator.yml)",
		" · [what does this mean?](https://github.com/review-coordinator/coordinator/blob/v1.2.3/docs/verdicts.md#blocked)",
		"<summary>Who can write this check?</summary>", "GITHUB_TOKEN",
	} {
		at := strings.Index(sum, words)
		if at <= last || strings.Count(sum, words) != 1 {
			t.Errorf("%q stands at %d, %d times, after %d", words, at, strings.Count(sum, words), last)
		}
		last = at
	}
	for line := range strings.Lines(sum) {
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 0 && n != 4 {
			t.Errorf("a row has not three columns: %s", line)
		}
	}
	if t.Failed() {
		t.Log(sum)
	}
}

// What a table keeps of a page is small, whatever strangers wrote, and the same after JSON.
func TestBriefPage(t *testing.T) {
	var ballots []quorum.Ballot
	for i := range 60 {
		b := objects(fmt.Sprint("r", i)+strings.Repeat("x", 500), 5, many(40, strings.Repeat("Long € ", 300))...)
		b.Detail = strings.Repeat("detail ", 200)
		ballots = append(ballots, b)
	}
	s := snapshot()
	s.File.State, s.File.Problem = quorum.FileBroken, strings.Repeat("line\n", 9000)
	page := PageOf(policy(), s, decided(quorum.Blocked, ballots...), record(), places()).Brief()
	text, err := json.Marshal(page)
	if err != nil || len(text) > 40<<10 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	var back Page
	if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(page, back) {
		t.Errorf("%v %s", err, cmp.Diff(page, back))
	}
	if len(page.Findings) != 10 || page.Came != 2400 {
		t.Errorf("%d findings of %d", len(page.Findings), page.Came)
	}
}

// Of the words about one place a table keeps those that hold the pull request back, whoever spoke first.
func TestBriefPageKeepsTheObjection(t *testing.T) {
	shadow := objects("echo", 5, quorum.Finding{Path: "a.go", Line: 1, Body: "All is well."})
	shadow.Shadow = true
	voter := objects("gemini", 6, quorum.Finding{Path: "a.go", Line: 2, Body: "This loses money."})
	page := PageOf(policy(), snapshot(), decided(quorum.Blocked, shadow, voter), record(), places()).Brief()
	if len(page.Findings) != 1 || !page.Findings[0].Objects() || page.Findings[0].Said[0].Body != "This loses money." {
		t.Errorf("%+v", page.Findings)
	}
}
