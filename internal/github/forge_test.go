package github_test

// What every test of the forge stands on: GitHub in memory, a policy, and a pull request with three reviewers.

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const (
	openaiFile = ".github/workflows/openai.yml"
	geminiFile = ".github/workflows/gemini.yml"
	copilotBot = "copilot-pull-request-reviewer[bot]"
	actionsBot = "github-actions[bot]"

	threeReviewers = `
version: 1
quorum: 2
reviewers:
  - {name: openai, workflow: .github/workflows/openai.yml, heading: "## OpenAI Review"}
  - {name: gemini, workflow: .github/workflows/gemini.yml, heading: "## Gemini Review"}
  - preset: copilot
`
	openaiYes = "## OpenAI Review\n\nRead all of it.\n\n**Ready to merge?** Yes\n"
	geminiYes = "## Gemini Review\n\nRead all of it.\n\n**Ready to merge?** Yes\n"
	geminiNo  = "## Gemini Review\n\nThe cart is emptied twice.\n\n**Ready to merge?** No\n"
)

// A world is a GitHub with a coordinator in front of it.
type world struct {
	t      testing.TB
	g      *sandbox.GitHub
	client *client.Client
	forge  *github.Forge
	loop   *loop.Reconciler
	last   loop.Look
	pr     quorum.PR
	app    string // as which it writes; "" with GITHUB_TOKEN
}

// setup changes how a world is made.
type setup struct {
	policy string
	token  string
	sand   sandbox.Options
	pull   sandbox.PullSpec
	wire   func(http.RoundTripper) http.RoundTripper
	now    func() time.Time
}

// asJob lets the world write with a job's GITHUB_TOKEN.
func asJob(s *setup) { s.sand.App = sandbox.App{} }

func newWorld(t testing.TB, change ...func(*setup)) *world {
	t.Helper()
	s := setup{
		policy: threeReviewers,
		token:  "ghs_x",
		sand:   sandbox.Options{App: sandbox.App{Slug: "quorum-app", ID: 77}, Lag: sandbox.Lag{Rerun: -1, Runner: -1, Cancel: -1}},
		pull:   sandbox.PullSpec{Number: 7},
		now:    time.Now,
	}
	for _, f := range change {
		f(&s)
	}
	s.sand.Now = s.now
	w := &world{t: t, g: sandbox.New(s.sand), pr: quorum.PR{Owner: "acme", Repo: "shop", Number: 7}, app: s.sand.App.Slug}
	if s.policy != "" {
		w.g.SetFile(".github/review-coordinator.yml", "", s.policy)
	}
	w.g.OpenPull(s.pull)
	w.t.Cleanup(func() {
		for _, bad := range append(w.g.UnknownRequests(), w.g.InvalidRequests()...) {
			t.Errorf("GitHub does not understand: %s", bad)
		}
	})
	w.replica(s)
	return w
}

// replica begins anew, as another process would: nothing is remembered.
func (w *world) replica(s setup) {
	w.t.Helper()
	var transport http.RoundTripper = w.g
	if s.wire != nil {
		transport = s.wire(w.g)
	}
	api, err := client.New(client.Options{Token: s.token, Transport: transport, Now: s.now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.client = api
	w.forge = github.NewForge(api, cmp.Or(w.app, quorum.ActionsApp), "", slog.New(slog.DiscardHandler))
	w.forge.SetClock(s.now)
	w.loop = &loop.Reconciler{Forge: w.forge, Now: s.now, Seen: func(l loop.Look) { w.last = l }}
}

func do[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// look reconciles once.
func (w *world) look() time.Time {
	w.t.Helper()
	return do[time.Time](w.t)(w.loop.Reconcile(w.t.Context(), w.pr))
}

// observe observes once.
func (w *world) observe() (quorum.Policy, quorum.Snapshot) {
	w.t.Helper()
	p, s, err := w.forge.Observe(w.t.Context(), w.pr)
	w.must(err)
	return p, s
}

func (w *world) start(file string) int64 {
	w.t.Helper()
	return do[int64](w.t)(w.g.StartRun(sandbox.RunSpec{Workflow: file, PR: 7}))
}

func (w *world) finish(run int64, f sandbox.Finish) {
	w.t.Helper()
	do[bool](w.t)(w.g.FinishRun(run, f))
}

func (w *world) comment(by, body string) int64 {
	w.t.Helper()
	return do[int64](w.t)(w.g.Comment(7, by, body))
}

// own is our one check on the head.
func (w *world) own() sandbox.StoredCheckRun {
	w.t.Helper()
	all := w.g.OwnCheckRuns(w.g.Head(7))
	if len(all) != 1 {
		w.t.Fatalf("%d checks of ours on the head, want one", len(all))
	}
	return all[0]
}

// reads wants our check to read so: its conclusion, or in_progress, and its title.
func (w *world) reads(conclusion, title string) {
	w.t.Helper()
	c := w.own()
	if state := c.Conclusion + c.Status; !strings.HasPrefix(state, conclusion) || !strings.Contains(c.Title, title) {
		w.t.Errorf("the check reads %s %q, want %s %q", state, c.Title, conclusion, title)
	}
}

// asked counts what was asked of GitHub since ForgetRequests: all requests, those that brought something, GraphQL,
// writes. Apart from these, those for the organisation's policy: one serves all looks of some minutes.
type asked struct{ all, fresh, graphql, writes, organisation int }

func (w *world) asked() (n asked) {
	for _, r := range w.g.Requests() {
		if strings.HasPrefix(r.Path, "/repos/acme/.github") {
			n.organisation++
			continue
		}
		n.all++
		switch {
		case r.Path == "/graphql":
			n.graphql++
			n.fresh++
		case !r.NotModified:
			n.fresh++
		}
		if r.Method != http.MethodGet && r.Path != "/graphql" {
			n.writes++
		}
	}
	return n
}

func (w *world) requests() string {
	var b strings.Builder
	for _, r := range w.g.Requests() {
		fmt.Fprintf(&b, "  %d %s %s?%s\n", r.Status, r.Method, r.Path, r.Query)
	}
	return b.String()
}

// bubble runs a test in virtual time, in which pauses take none.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// check is a check as the report might word it.
func check(head string, change ...func(*report.Check)) report.Check {
	c := report.Check{
		Name: "Review quorum", Head: sandbox.SHA(head), ExternalID: report.ExternalID(quorum.PR{Owner: "acme", Repo: "shop", Number: 7}),
		Status: "in_progress", Title: "0 of 2 approvals", Summary: "A table.", Text: "A record.", Described: "0 of 2 approvals",
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func annotations(n int) (all []report.Annotation) {
	for i := range n {
		all = append(all, report.Annotation{Path: "cart.go", Line: i + 1, Level: "warning", Title: "openai", Message: fmt.Sprintf("finding %d", i+1)})
	}
	return all
}
