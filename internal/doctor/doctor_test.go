package doctor

// Set-ups as teams have them: six good ones, of which nothing is said, and each way to spoil one, of which exactly that
// is said.

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/workflow"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

const (
	posting = ".github/workflows/review-coordinator.yml"
	bellOf  = ".github/workflows/review-bell.yml"
	openai  = ".github/workflows/openai.yml"
	gemini  = ".github/workflows/gemini.yml"

	usualPolicy = `version: 1
quorum: all
reviewers:
  - {name: openai, workflow: .github/workflows/openai.yml, heading: "## OpenAI review"}
  - {name: gemini, workflow: .github/workflows/gemini.yml, heading: "## Gemini review"}
`
	reviews = "\non: pull_request\njobs: {review: {runs-on: ubuntu-latest, steps: [{run: ./review, env: {KEY: '${{ secrets.KEY }}'}}]}}\n"
)

// withPolicy gives the set-up a policy.
func (s *Setup) withPolicy(t *testing.T, src string) {
	t.Helper()
	policy, err := config.Parse("policy.yml", []byte(src))
	s.File = quorum.PolicyFile{State: quorum.FileValid, Path: ".github/review-coordinator.yml"}
	if err != nil {
		s.File.State, s.File.Problem = quorum.FileBroken, err.Error()
	}
	s.Policy = policy
}

// withFile writes a workflow file of the default branch; "" takes it away.
func (s *Setup) withFile(path, source string) {
	s.Workflows = slices.DeleteFunc(s.Workflows, func(f WorkflowFile) bool { return f.Path == path })
	if source == "" {
		return
	}
	s.Workflows = append(s.Workflows, WorkflowFile{File: workflow.Read(path, source), State: "active", Created: now.Add(-90 * 24 * time.Hour)})
}

// edit replaces a part of a workflow file, which must be there.
func (s *Setup) edit(t *testing.T, path, from, to string) {
	t.Helper()
	i := slices.IndexFunc(s.Workflows, func(f WorkflowFile) bool { return f.Path == path })
	if i < 0 || !strings.Contains(s.Workflows[i].Source, from) {
		t.Fatalf("%s holds no %q", path, from)
	}
	s.withFile(path, strings.ReplaceAll(s.Workflows[i].Source, from, to))
}

// state sets a workflow's.
func (s *Setup) state(path, state string) {
	i := slices.IndexFunc(s.Workflows, func(f WorkflowFile) bool { return f.Path == path })
	s.Workflows[i].State = state
}

// requires makes the default branch require checks: "Review quorum@15368".
func (s *Setup) requires(ruleset int64, checks ...string) {
	s.Bases[0].Required = nil
	for _, c := range checks {
		name, app, _ := strings.Cut(c, "@")
		r := Requirement{Check: name, Ruleset: ruleset}
		_, _ = fmt.Sscan(app, &r.App)
		s.Bases[0].Required = append(s.Bases[0].Required, r)
	}
}

// forEachPull changes what was seen.
func (s *Setup) forEachPull(change func(p *SeenPull)) {
	for i := range s.Pulls {
		change(&s.Pulls[i])
	}
}

func example(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile("../../examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

func account(login string) quorum.Account { return quorum.Account{Login: login, Bot: true} }

// jobSetup is posted by the event-driven example with GITHUB_TOKEN, and required in a ruleset.
func jobSetup(t *testing.T) *Setup {
	t.Helper()
	s := &Setup{
		Owner: "octo", Repo: "shop", Branch: "main", Public: true, Now: now, Bases: []Base{{Name: "main"}}, Actions: ActionsSettings{Allowed: "all"},
		Rulesets: []Ruleset{{ID: 42, Name: "main", Active: true, Include: []string{"~DEFAULT_BRANCH"}, Checks: []Requirement{{Check: "Review quorum"}}}},
	}
	s.withPolicy(t, usualPolicy)
	s.withFile(bellOf, example(t, "bell.yml"))
	s.withFile(posting, example(t, "event-driven.yml"))
	s.edit(t, posting, "[Review bell, OpenAI review, Gemini review]", "[Review bell, OpenAI review, Gemini review]")
	s.withFile(openai, "name: OpenAI review"+reviews)
	s.withFile(gemini, "name: Gemini review"+reviews)
	s.requires(42, "Review quorum@15368", "test")
	for n := 1; n <= 4; n++ {
		p := SeenPull{Number: n, Updated: now.Add(-time.Duration(n) * time.Hour), Open: true}
		for i, path := range []string{openai, gemini} {
			p.Runs = append(p.Runs, quorum.Run{Path: path, Event: "pull_request", Conclusion: "success", Suite: int64(10*n + i), Number: n, Created: p.Updated})
		}
		p.Texts = []quorum.Text{
			{Author: account("github-actions[bot]"), Body: "## OpenAI review\n\nGood."},
			{Author: account("github-actions[bot]"), Body: "## Gemini review\n\nGood."},
		}
		p.Checks = []quorum.CheckRun{{
			Name: "Review quorum", App: "github-actions", AppID: 15368, Suite: int64(10 * n),
			ExternalID: report.ExternalID(quorum.PR{Owner: "octo", Repo: "shop", Number: n}),
		}}
		p.Statuses = []quorum.Status{{Context: "Review quorum", State: "success", Creator: account("github-actions[bot]")}}
		s.Pulls = append(s.Pulls, p)
	}
	return s
}

// appSetup is posted by the example with an App's token.
func appSetup(t *testing.T) *Setup {
	t.Helper()
	s := jobSetup(t)
	s.withFile(posting, example(t, "with-app-token.yml"))
	s.requires(42, "Review quorum@777")
	s.forEachPull(func(p *SeenPull) { p.Checks[0].App, p.Checks[0].AppID, p.Statuses = "quorum-app", 777, nil })
	return s
}

// daemonSetup is posted by a daemon, which asks by itself.
func daemonSetup(t *testing.T) *Setup {
	t.Helper()
	s := appSetup(t)
	s.withFile(posting, "")
	s.withFile(bellOf, "")
	s.App = AppIdentity{ID: 777, Slug: "quorum-app"}
	return s
}

// codesOf are what is said, but for what is fine.
func codesOf(all []Diagnosis) (codes []string) {
	for _, d := range all {
		if d.Grade != Fine {
			codes = append(codes, d.Code)
		}
	}
	return codes
}

func TestNothingIsInventedOfGoodSetups(t *testing.T) {
	for name, test := range map[string]struct {
		of    func(*testing.T) *Setup
		spoil func(*Setup)
		want  []string
	}{
		// What is said of a job's token is true of each.
		"a job with GITHUB_TOKEN": {jobSetup, func(*Setup) {}, []string{"forgeable"}},
		"a job in a private repository, by pull_request_target": {jobSetup, func(s *Setup) {
			s.Public = false
			s.withFile(posting, example(t, "waiting-job.yml"))
			s.withFile(bellOf, "")
			s.withFile("sweep.yml", example(t, "schedule-sweep.yml"))
		}, []string{"forgeable"}},
		"an App's token": {appSetup, func(*Setup) {}, nil},
		"a daemon": {daemonSetup, func(s *Setup) {
			s.Bases[0].Queue = true
		}, nil},
		"Apps and a person, in classic protection, on the first day": {daemonSetup, func(s *Setup) {
			s.withPolicy(t, "version: 1\nquorum: 1\npeople: 1\nreviewers:\n  - preset: copilot\n  - {preset: coderabbit, shadow: true}\n")
			s.Workflows, s.Pulls, s.Rulesets = nil, nil, nil
			s.requires(0, "Review quorum@777")
		}, nil},
		"lanes, another name, a queue": {appSetup, func(s *Setup) {
			s.withPolicy(t, strings.Replace(usualPolicy, "quorum: all\n", "quorum: all\ncheck: AI\nlanes:\n"+
				"  - {name: docs, if: {all_paths: [\"docs/**\"]}, quorum: none, why: docs}\n  - {name: old, if: {base: [stable]}, people: 1}\n", 1))
			s.Bases = append(s.Bases, Base{Name: "stable", Required: []Requirement{{Check: "AI", App: 777, Ruleset: 43}}})
			s.requires(42, "AI@777")
			s.Bases[0].Queue = true
			s.edit(t, posting, "  status:\n", "  status:\n  merge_group:\n    types: [checks_requested]\n")
			s.forEachPull(func(p *SeenPull) { p.Checks[0].Name = "AI" })
		}, nil},
		"a verdict file, which needs no heading; and no comments that anybody waits for": {jobSetup, func(s *Setup) {
			s.withPolicy(t, strings.Replace(usualPolicy, `heading: "## Gemini review"`, "verdict: {artifact: gemini-verdict}", 1))
			s.edit(t, gemini, "./review", "./review gemini-verdict")
			s.edit(t, posting, "  issue_comment:\n    types: [created, edited, deleted]\n", "")
			s.forEachPull(func(p *SeenPull) { p.Texts = p.Texts[:1] })
		}, []string{"forgeable"}},
		"an open ruleset with restricted creation, and a command that nobody may give": {jobSetup, func(s *Setup) {
			s.Rulesets[0].Include, s.Rulesets[0].Creation = []string{"~ALL"}, true
			s.Rulesets = append(s.Rulesets, Ruleset{ID: 43, Active: true, Include: []string{"~ALL"}, Checks: []Requirement{{Check: "test"}}})
			s.edit(t, openai, "on: pull_request", "on: {pull_request: {branches-ignore: ['old/**']}}")
			s.edit(t, posting, "  issue_comment:\n    types: [created, edited, deleted]\n", "")
		}, []string{"forgeable"}},
		"forks that pass by the one without secrets": {appSetup, func(s *Setup) {
			s.withPolicy(t, strings.Replace(usualPolicy, "quorum: all\n", "quorum: 1\nstand_in: none\n", 1))
			s.edit(t, gemini, "secrets.KEY", "secrets.GITHUB_TOKEN")
		}, nil},
		"one person alone, who may vouch": {appSetup, func(s *Setup) {
			s.withPolicy(t, strings.Replace(usualPolicy, "quorum: all\n", "quorum: all\nown_change: stand_in\n", 1))
			s.OnlyWriter = "alice"
		}, nil},
		"one person alone, where nobody stands in": {appSetup, func(s *Setup) {
			s.withPolicy(t, strings.Replace(usualPolicy, "quorum: all\n", "quorum: 1\nstand_in: none\n", 1))
			s.edit(t, gemini, "secrets.KEY", "secrets.GITHUB_TOKEN")
			s.OnlyWriter = "alice"
		}, nil},
		"a reviewer that starts for some paths, as the policy says": {appSetup, func(s *Setup) {
			s.withPolicy(t, strings.Replace(usualPolicy, `"## OpenAI review"`, `"## OpenAI review", when: {any_path: ["**.go"]}`, 1))
			s.edit(t, openai, "on: pull_request", "on: {pull_request: {paths: ['**.go']}}")
			s.forEachPull(func(p *SeenPull) { p.Runs, p.Texts = p.Runs[1:], p.Texts[1:] })
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.of(t)
			test.spoil(s)
			all := Examine(*s)
			if got := codesOf(all); !slices.Equal(got, test.want) || !CanBeTrusted(all) {
				t.Errorf("%q\n%s", got, told(all))
			}
			if len(all) != 4 && len(test.want) == 0 {
				t.Errorf("four things are fine:\n%s", told(all))
			}
		})
	}
}

func told(all []Diagnosis) string {
	var b strings.Builder
	for _, d := range all {
		fmt.Fprintf(&b, "%s %s: %s\n  -> %s\n", d.Grade, d.Code, d.Says, d.Remedy)
		for _, fix := range d.Fix {
			fmt.Fprintf(&b, "  $ %s\n", fix)
		}
	}
	return b.String()
}

// A spoiled set-up, and what must be said of it: its code, its grade, and words that name what is wrong.
type spoiled struct {
	name  string
	of    func(*testing.T) *Setup
	spoil func(*testing.T, *Setup)
	code  string
	grade Grade
	says  string
	fix   string // a part of the commands; "": there is none
}

func TestEachBrokenSetupIsFound(t *testing.T) {
	for _, test := range spoiledSetups() {
		t.Run(test.name, func(t *testing.T) {
			s := test.of(t)
			test.spoil(t, s)
			all := Examine(*s)
			codes := slices.DeleteFunc(codesOf(all), func(code string) bool { return code == "forgeable" })
			if !slices.Equal(codes, []string{test.code}) {
				t.Fatalf("it says %q, want %s\n%s", codes, test.code, told(all))
			}
			d := all[slices.IndexFunc(all, func(d Diagnosis) bool { return d.Code == test.code })]
			if d.Grade != test.grade || !strings.Contains(d.Says, test.says) {
				t.Errorf("want %s, %q\n%s", test.grade, test.says, told(all))
			}
			if d.Remedy == "" && d.Grade != Unknown {
				t.Errorf("%s has no remedy", d.Code)
			}
			if fixes := strings.Join(d.Fix, "\n"); (test.fix == "") != (fixes == "") || !strings.Contains(fixes, test.fix) {
				t.Errorf("want the fix %q:\n%s", test.fix, fixes)
			}
			if CanBeTrusted(all) != (test.grade != Broken) {
				t.Error("whether it can be trusted is not what is said of it")
			}
		})
	}
}

func spoiledSetups() []spoiled {
	return slices.Concat(spoiledPolicies(), spoiledRules(), spoiledPosters(), spoiledReviewers())
}

func spoiledPolicies() []spoiled {
	return []spoiled{
		{"there is no policy", jobSetup, func(_ *testing.T, s *Setup) {
			s.File = quorum.PolicyFile{State: quorum.FileMissing}
		}, "no-policy", Broken, `no policy on "main"`, "coordinator init --repo octo/shop --pull-request"},
		{"the policy has a mistake", jobSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, "version: 1\nquorum: 3\nreviewers: [{preset: copilot}]\n")
		}, "broken-policy", Broken, "policy.yml:2", ""},
		{"the organisation's policy is not shown any more", jobSetup, func(_ *testing.T, s *Setup) {
			s.File = quorum.PolicyFile{
				State: quorum.FileBroken, Problem: "it cannot be read any more",
				Org: quorum.OrganisationFile{Repo: "octo/.github", Broken: true},
			}
		}, "broken-organisation-policy", Broken, "octo/.github", ""},
		{"the policy is off", jobSetup, func(_ *testing.T, s *Setup) { s.Policy.Mode = quorum.Off }, "mode-off", Broken, "mode: off", ""},
		{"a policy that only reports is required", jobSetup, func(_ *testing.T, s *Setup) {
			s.Policy.Mode = quorum.ReportOnly
		}, "report-mode-required", Broken, "neutral", ""},
	}
}

func spoiledRules() []spoiled {
	return []spoiled{
		{
			"nothing requires the check", appSetup, func(_ *testing.T, s *Setup) {
				s.requires(42, "test")
				s.Rulesets = nil
			}, "not-required", ToDo, `nothing requires "Review quorum" on "main"`,
			`gh api --method POST repos/octo/shop/rulesets --input -`,
		},
		{"another name is required", appSetup, func(_ *testing.T, s *Setup) {
			s.requires(42, "review-quorum@777")
			s.Rulesets[0].Checks[0].Check = "review-quorum"
			s.Rulesets[0].Rules = []json.RawMessage{json.RawMessage(checksRule("review-quorum"))}
		}, "other-name", Broken, `requires "review-quorum"`, `"context":"Review quorum"`},
		{"the ruleset is not active", appSetup, func(_ *testing.T, s *Setup) {
			s.requires(42)
			s.Rulesets[0].Active = false
		}, "ruleset-inactive", Broken, `"main" requires`, `{"enforcement":"active"}`},
		{"any source will do, in a ruleset", appSetup, func(_ *testing.T, s *Setup) {
			s.requires(42, "Review quorum")
			s.Rulesets[0].Rules = []json.RawMessage{json.RawMessage(checksRule("Review quorum")), json.RawMessage(`{"type":"deletion"}`)}
		}, "any-source", Broken, "from any source", `"integration_id":777`},
		{
			"any source will do, in classic protection", appSetup, func(_ *testing.T, s *Setup) {
				s.requires(0, "Review quorum", "test@15368")
				s.Rulesets = nil
			}, "any-source", Broken, "from any source",
			`printf '%s' '{"checks":[{"app_id":777,"context":"Review quorum"},{"app_id":15368,"context":"test"}]}' | ` +
				`gh api --method PATCH repos/octo/shop/branches/main/protection/required_status_checks --input -`,
		},
		{"any source will do, of a job's check", jobSetup, func(_ *testing.T, s *Setup) {
			s.requires(0, "Review quorum")
			s.Rulesets = nil
		}, "any-source", Warning, "green status of that name", `"app_id":15368`},
		{"another App is required", daemonSetup, func(_ *testing.T, s *Setup) {
			s.requires(0, "Review quorum@15368")
			s.Rulesets = nil
		}, "other-source", Broken, "from App 15368, and App 777 posts it", `"app_id":777`},
		{"Actions is required, and an App's token posts that was never seen", appSetup, func(_ *testing.T, s *Setup) {
			s.requires(42, "Review quorum@15368")
			s.forEachPull(func(p *SeenPull) { p.Checks = nil })
		}, "other-source", Broken, "from GitHub Actions", ""},
		{"the job is required", jobSetup, func(_ *testing.T, s *Setup) {
			s.requires(42, "look")
		}, "job-required", Broken, `requires "look"`, ""},
		{"the job is required, too", jobSetup, func(_ *testing.T, s *Setup) {
			s.requires(42, "look", "Review quorum@15368")
		}, "job-required", Broken, "green whatever the verdict", ""},
		{"a job is called as the check is", appSetup, func(_ *testing.T, s *Setup) {
			s.withFile("ci.yml", "name: CI\non: push\njobs: {test: {name: Review quorum, steps: [{run: make}]}}\n")
		}, "job-of-that-name", Broken, "a job of ci.yml", ""},
		{"a base of a lane requires nothing", appSetup, func(_ *testing.T, s *Setup) {
			s.Bases = append(s.Bases, Base{Name: "it's; stable"})
		}, "base-not-required", Warning, `a lane names "it's; stable"`, `["refs/heads/it'\''s; stable"]`},
		{"a green can be carried", appSetup, func(_ *testing.T, s *Setup) {
			s.Rulesets[0].Include = []string{"~DEFAULT_BRANCH", "refs/heads/release/*"}
		}, "green-carried", Warning, `"refs/heads/release/*"`, ""},
		{"nobody may read the rules", appSetup, func(_ *testing.T, s *Setup) {
			s.Bases[0].Required, s.Rulesets = nil, nil
			s.Unread = []Unread{{RulesPart, `which checks the rules of "main" require`, "administration: read"}}
		}, "not-read", Unknown, "could not be read", ""},
		{
			"a queue is not answered", appSetup, func(_ *testing.T, s *Setup) { s.Bases[0].Queue = true },
			"queue-not-answered", Broken, "merged by a queue", "",
		},
		{"an App is not told of the queue", daemonSetup, func(_ *testing.T, s *Setup) {
			s.Bases[0].Queue, s.App.Deaf = true, []string{"merge-queues: read"}
		}, "queue-not-answered", Broken, `the App "quorum-app" lacks merge-queues: read`, ""},
		{"a queue starts it for another type", jobSetup, func(t *testing.T, s *Setup) {
			s.Bases[0].Queue = true
			s.edit(t, posting, "  status:\n", "  status:\n  merge_group:\n    types: [destroyed]\n")
		}, "queue-not-answered", Broken, "merged by a queue", ""},
	}
}

func checksRule(check string) string {
	return `{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":true,"required_status_checks":[{"context":"` + check +
		`"},{"context":"test","integration_id":15368}]}}`
}

func spoiledPosters() []spoiled {
	edit := func(path, from, to string) func(*testing.T, *Setup) {
		return func(t *testing.T, s *Setup) { s.edit(t, path, from, to) }
	}
	return []spoiled{
		{"nothing posts", jobSetup, func(_ *testing.T, s *Setup) {
			s.withFile(posting, "")
			s.forEachPull(func(p *SeenPull) { p.Checks = nil })
		}, "nothing-posts", Broken, "nothing posts the check", "coordinator init"},
		{"a job and an App post", daemonSetup, func(t *testing.T, s *Setup) {
			s.withFile(bellOf, example(t, "bell.yml"))
			s.withFile(posting, example(t, "event-driven.yml"))
		}, "two-writers", Broken, posting + " posts the check with GITHUB_TOKEN, and an App posts it, too", ""},
		{"two Apps post", daemonSetup, func(_ *testing.T, s *Setup) { s.Pulls[0].Checks[0].AppID = 778 }, "two-writers", Broken, "two coordinators", ""},
		{"another tool writes the name", appSetup, func(_ *testing.T, s *Setup) {
			s.Pulls[1].Checks = append(s.Pulls[1].Checks, quorum.CheckRun{Name: "Review quorum", App: "evil\u202e-app"})
		}, "foreign-check", Warning, `on #2 stands a check called "Review quorum"`, ""},
		{"the App may not write checks", daemonSetup, func(_ *testing.T, s *Setup) {
			s.App.Lacks = []string{"checks: write"}
		}, "app-permissions", Broken, `"quorum-app" lacks checks: write`, ""},
		{"the App may not run anybody again", daemonSetup, func(_ *testing.T, s *Setup) {
			s.App.Misses = []string{"actions: write"}
		}, "app-cannot-act", Warning, "actions: write", ""},
		{
			"the workflow is switched off", jobSetup, func(_ *testing.T, s *Setup) { s.state(posting, "disabled_inactivity") },
			"posting-disabled", Broken, "disabled_inactivity", "gh api --method PUT repos/octo/shop/actions/workflows/review-coordinator.yml/enable",
		},
		{"the action is not allowed", jobSetup, func(_ *testing.T, s *Setup) {
			s.Actions.Allowed, s.Actions.Patterns = "selected", []string{"actions/*", "review-coordinator/other@*"}
		}, "action-not-allowed", Broken, "do not allow", ""},
		{
			"the job may not write checks", jobSetup, edit(posting, "checks: write", "checks: read"), "job-permissions", Broken,
			`"look" of ` + posting + " lacks checks: write", "",
		},
		{"the job names no permissions, and reads by default", jobSetup, func(t *testing.T, s *Setup) {
			s.withFile(posting, dropLines(example(t, "event-driven.yml"), "permissions:", "      actions:", "      checks:", "      contents:", "      issues:",
				"      pull-requests:", "      statuses:"))
		}, "job-permissions", Broken, "actions: read, checks: write, issues: read, pull-requests: read", ""},
		{"the job may not run anybody again", jobSetup, edit(posting, "actions: write", "actions: read"), "job-cannot-act", Warning, "actions: write", ""},
		{"the job may write no status", jobSetup, edit(posting, "statuses: write", "statuses: read"), "no-equal-status", Warning, "passes over", ""},
		{"the gate passes over the suite of a dispatched run", jobSetup, func(_ *testing.T, s *Setup) {
			s.Pulls[2].Runs = append(s.Pulls[2].Runs, quorum.Run{Path: posting, Event: "workflow_dispatch", Suite: 99})
			s.Pulls[2].Checks[0].Suite, s.Pulls[2].Statuses = 99, nil
		}, "suite-ignored", Broken, "#3: it is filed under a run of " + posting + " that workflow_dispatch started", ""},
		{"the gate passes over a suite that was replaced", jobSetup, func(_ *testing.T, s *Setup) {
			s.Pulls[0].Runs = append(s.Pulls[0].Runs, quorum.Run{Path: openai, Event: "pull_request", Suite: 99, Number: 9})
			s.Pulls[0].Statuses[0].Context = "another"
		}, "suite-ignored", Broken, "a newer one has replaced", ""},
		{
			"a reviewer has another name", jobSetup, edit(openai, "name: OpenAI review", "name: OpenAI Review"), "reviewer-not-heard", Broken,
			`openai.yml is called "OpenAI Review"`, "",
		},
		{"a name that nobody has", jobSetup, edit(posting, "Gemini review]", "Gemini review, Gone]"), "hears-nobody", Warning, `"Gone"`, ""},
		{"it listens to itself", jobSetup, edit(posting, "[Review bell,", "[Review coordinator, Review bell,"), "listens-to-itself", Broken, "for ever", ""},
		{"it does not hear an end", jobSetup, edit(posting, "types: [requested, completed]", "types: [requested]"), "run-types", Broken, "ends", ""},
		{"it does not hear a beginning", jobSetup, edit(posting, "types: [requested, completed]", "types: [completed]"), "run-types", Warning, "begins", ""},
		{
			"it listens to one branch", jobSetup, edit(posting, "types: [requested, completed]", "types: [requested, completed]\n    branches: [main]"),
			"run-branches", Broken, "some branches", "",
		},
		{"there is no bell", jobSetup, func(t *testing.T, s *Setup) {
			s.edit(t, posting, "[Review bell, ", "[")
			s.withFile(bellOf, "")
		}, "no-bell", Warning, "no bell rings", ""},
		{
			"the bell rings seldom", jobSetup, edit(bellOf, "edited, ready_for_review, converted_to_draft, closed]", "closed]"), "pull-types", Warning,
			"edited, ready_for_review, converted_to_draft", "",
		},
		{"labels are not heard", jobSetup, func(_ *testing.T, s *Setup) {
			s.Policy.Lanes = []quorum.Lane{{Name: "big", If: quorum.Condition{Labels: []string{"big"}}}}
		}, "labels-not-heard", Warning, "labels", ""},
		{
			"the bell leaves paths out", jobSetup, edit(bellOf, "converted_to_draft, closed]", "converted_to_draft, closed]\n    paths-ignore: ['**.md']"),
			"pull-filter", Warning, "filter", "",
		},
		{
			"the bell is switched off", jobSetup, func(_ *testing.T, s *Setup) { s.state(bellOf, "disabled_manually") }, "bell-disabled", Broken,
			"switched off", "review-bell.yml/enable",
		},
		{"only a schedule starts it", jobSetup, func(t *testing.T, s *Setup) {
			s.withFile(posting, example(t, "schedule-sweep.yml"))
			s.withFile(bellOf, "")
		}, "only-schedule", Warning, "only the schedule", "coordinator init"},
		{"only a person starts it", jobSetup, func(t *testing.T, s *Setup) {
			s.withFile(posting, example(t, "manual.yml"))
			s.withFile(bellOf, "")
		}, "only-by-hand", Broken, "but a person", "coordinator init"},
		{"no schedule", jobSetup, edit(posting, "  schedule:\n    - cron: '7,22,37,52 * * * *'", ""), "no-schedule", Warning, "no event announces", ""},
		{"GitHub forbids what starts it", jobSetup, func(t *testing.T, s *Setup) {
			s.withFile(posting, example(t, "waiting-job.yml"))
			s.withFile("sweep.yml", example(t, "schedule-sweep.yml"))
			s.withFile(bellOf, "")
		}, "own-event-forbidden", Broken, "blocks in public repositories", ""},
		{"a fork's token only reads", jobSetup, func(t *testing.T, s *Setup) {
			s.withFile(posting, strings.Replace(example(t, "waiting-job.yml"), "pull_request_target:", "pull_request:", 1))
			s.withFile("sweep.yml", example(t, "schedule-sweep.yml"))
			s.withFile(bellOf, "")
		}, "forks-cannot-write", Warning, "its token only reads", ""},
		{
			"tokens write by default", jobSetup, func(_ *testing.T, s *Setup) { s.Actions.DefaultAll = true }, "default-write", Warning, "github-actions[bot]",
			`{"can_approve_pull_request_reviews":false,"default_workflow_permissions":"read"}`,
		},
		{
			"workflows approve", appSetup, func(_ *testing.T, s *Setup) { s.Actions.Approves = true }, "actions-approve", Warning, "approve pull requests",
			"actions/permissions/workflow",
		},
		{
			"Actions is switched off", appSetup, func(_ *testing.T, s *Setup) { s.Actions.Disabled = true }, "actions-disabled", Broken, "switched off",
			`{"allowed_actions":"all","enabled":true}`,
		},
	}
}

// dropLines leaves out the lines that begin so, however they are indented.
func dropLines(text string, begins ...string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(begins, func(begin string) bool {
			return strings.HasPrefix(strings.TrimSpace(line), strings.TrimSpace(begin))
		}) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func spoiledReviewers() []spoiled {
	edit := func(path, from, to string) func(*testing.T, *Setup) {
		return func(t *testing.T, s *Setup) { s.edit(t, path, from, to) }
	}
	policy := func(from, to string) func(*testing.T, *Setup) {
		return func(t *testing.T, s *Setup) { s.withPolicy(t, strings.Replace(usualPolicy, from, to, 1)) }
	}
	return []spoiled{
		{
			"its workflow is not there", appSetup, func(_ *testing.T, s *Setup) { s.withFile(gemini, "") }, "workflow-missing", Broken,
			"there is no " + gemini, "",
		},
		{
			"its workflow is switched off", appSetup, func(_ *testing.T, s *Setup) { s.state(gemini, "disabled_manually") }, "workflow-disabled", Broken,
			"disabled_manually", "gemini.yml/enable",
		},
		{"its workflow is broken", appSetup, func(_ *testing.T, s *Setup) { s.withFile(gemini, "on: [") }, "workflow-broken", Broken, "no workflow", ""},
		{"a comment starts it", appSetup, edit(gemini, "on: pull_request", "on: issue_comment"), "workflow-events", Broken, `"issue_comment"`, ""},
		{"it is called", appSetup, func(t *testing.T, s *Setup) {
			s.edit(t, gemini, "on: pull_request", "on: workflow_call")
			s.withFile("all.yml", "name: All\non: pull_request\njobs: {review: {uses: ./.github/workflows/gemini.yml}}\n")
		}, "workflow-called", Broken, "whose run it then is: all.yml", ""},
		{"GitHub forbids its event", appSetup, edit(gemini, "on: pull_request", "on: pull_request_target"), "event-forbidden", Broken, "2026-11-02", ""},
		{
			"it starts for the first commit only", appSetup, edit(gemini, "on: pull_request", "on: {pull_request: {types: [opened]}}"),
			"no-synchronize", Broken, "a new head is never reviewed", "",
		},
		{
			"it starts for another branch", appSetup, edit(gemini, "on: pull_request", "on: {pull_request: {branches: ['release/**']}}"),
			"branch-filter", Broken, `against "main"`, "",
		},
		{
			"it starts for some paths", appSetup, edit(gemini, "on: pull_request", "on: {pull_request: {paths: ['src/**']}}"), "path-filter",
			Warning, "some paths", "",
		},
		{
			"its action is given a token", appSetup, func(t *testing.T, s *Setup) {
				s.edit(t, gemini, "steps: [", "steps: [{uses: anthropics/claude-code-action@v1, with: {github_token: x}}, ")
				i := slices.IndexFunc(s.Policy.Reviewers, func(r quorum.Reviewer) bool { return r.Workflow == gemini })
				s.Policy.Reviewers[i].Author = "claude[bot]"
			}, "token-account", Broken, "writes by that token and not as claude[bot]", "",
		},
		{
			"its artifact is not made", appSetup, policy(`heading: "## Gemini review"`, "verdict: {artifact: review-verdict}"), "artifact-missing", Broken,
			`"review-verdict"`, "",
		},
		{
			"its heading is another", appSetup, policy(`heading: "## Gemini review"`, `heading: "## Gemini Code Review"`), "heading-not-seen", Broken,
			`ran on 4 pull requests, and no text of "github-actions[bot]" opens with "## Gemini Code Review"`, "",
		},
		{
			"it was never seen, and is needed", daemonSetup, policy("reviewers:\n", "reviewers:\n  - preset: greptile\n"), "never-met", Broken,
			`"greptile" was not seen on the last 4 pull requests: 2 reviewers can answer, and 3 approvals are needed`, "",
		},
		{
			"it was never seen, and is required", daemonSetup, policy("quorum: all\nreviewers:\n", "quorum: 1\nreviewers:\n  - {preset: greptile, required: true}\n"),
			"never-met", Broken, "the policy requires its approval", "",
		},
		{
			"it was never seen", daemonSetup, policy("quorum: all\nreviewers:\n", "quorum: 2\nreviewers:\n  - preset: greptile\n"), "not-seen", Warning,
			`"greptile" was not seen on the last 4 pull requests`, "",
		},
		{"it is retired", daemonSetup, policy("reviewers:\n", "reviewers:\n  - preset: gemini-code-assist\n"), "retired", Warning, "retired", ""},
		{
			"it is our own check", daemonSetup, policy("reviewers:\n", "reviewers:\n  - {name: all, check: Review quorum, app: quorum-app, verdict: conclusion}\n"),
			"waits-for-itself", Broken, `"all" is what posts this check`, "",
		},
		{
			"it is our own status", daemonSetup,
			policy("reviewers:\n", "reviewers:\n  - {name: all, status: Review quorum, author: bob, verdict: conclusion}\n"),
			"waits-for-itself", Broken, `"all" is what posts this check`, "",
		},
		{
			"it is our own workflow", appSetup, policy("reviewers:\n", "reviewers:\n  - {name: all, workflow: "+posting+", verdict: conclusion}\n"),
			"waits-for-itself", Broken, `"all" is what posts this check`, "",
		},
		{"its workflow posts the check, too", appSetup, func(t *testing.T, s *Setup) {
			s.edit(t, gemini, "jobs: {", "jobs: {all: {needs: review, steps: [{uses: review-coordinator/coordinator@v1, with: {wait: true, app-id: 7}}]}, ")
		}, "waits-for-itself", Broken, `"gemini" is what posts this check`, ""},
		{"it was not seen yet", daemonSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, strings.Replace(usualPolicy, "reviewers:\n", "reviewers:\n  - preset: greptile\n", 1))
			s.Pulls = s.Pulls[:2]
		}, "not-seen", Warning, `"greptile" was not seen on the last 2 pull requests`, ""},
		{"it was not seen before the coordinator", daemonSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, strings.Replace(usualPolicy, "reviewers:\n", "reviewers:\n  - preset: greptile\n", 1))
			s.forEachPull(func(p *SeenPull) { p.Checks = nil })
		}, "not-seen", Warning, `"greptile" was not seen on the last 4 pull requests`, ""},
		{"its format changed", appSetup, func(_ *testing.T, s *Setup) {
			s.Drifts = []quorum.Drift{{Reviewer: "gemini", Answers: 4, Unread: 4, InRow: 4}}
		}, "drifted", Warning, `"gemini": 4 of its last 4 answers were not understood`, ""},
		{
			"nobody else can approve", appSetup, func(_ *testing.T, s *Setup) { s.OnlyWriter = "alice" }, "only-writer", Warning,
			`"alice" alone may write here`, "",
		},
		{"no fork's can pass", appSetup, policy("quorum: all\n", "quorum: all\nstand_in: none\n"), "forks-cannot-pass", Warning, "no fork's can pass", ""},
		{"Copilot's reviews are held", jobSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, usualPolicy+"  - preset: copilot\n")
			s.forEachPull(func(p *SeenPull) {
				p.Texts = append(p.Texts, quorum.Text{Author: account("copilot-pull-request-reviewer[bot]"), Body: "## Pull request overview"})
			})
		}, "bell-held", Warning, "Copilot", ""},
		{"an App's comments are not heard", jobSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, usualPolicy+"  - {name: sage, author: \"sage[bot]\"}\n")
			s.edit(t, posting, "  issue_comment:\n    types: [created, edited, deleted]\n", "")
			s.forEachPull(func(p *SeenPull) { p.Texts = append(p.Texts, quorum.Text{Author: account("sage[bot]")}) })
		}, "comments-not-heard", Warning, "no comment starts", ""},
		{"the comments of a workflow with an account of its own are not heard", jobSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, usualPolicy+"  - {name: sage, workflow: "+openai+", author: \"sage[bot]\"}\n")
			s.edit(t, posting, "  issue_comment:\n    types: [created, edited, deleted]\n", "")
		}, "comments-not-heard", Warning, "no comment starts", ""},
		{"people's commands are not heard", jobSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, usualPolicy+"override: maintain\n")
			s.edit(t, posting, "  issue_comment:\n    types: [created, edited, deleted]\n", "")
		}, "comments-not-heard", Warning, "no comment starts", ""},
		{
			"it starts for no pull request against ours", appSetup,
			edit(gemini, "on: pull_request", "on: {pull_request: {branches-ignore: ['ma*']}}"), "branch-filter", Broken, `against "main"`, "",
		},
		{"another App's check is no sign of it", daemonSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, strings.Replace(usualPolicy, "reviewers:\n", "reviewers:\n  - preset: greptile\n", 1))
			s.forEachPull(func(p *SeenPull) {
				p.Checks = append(p.Checks, quorum.CheckRun{Name: "Greptile Review", App: "other"}, quorum.CheckRun{Name: "Other", App: "greptile-apps"})
			})
		}, "never-met", Broken, `"greptile" was not seen`, ""},
		{"a reviewer without a run never wrote its heading", appSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, usualPolicy+"  - {name: sage, author: \"github-actions[bot]\", heading: \"## Sage\"}\n")
		}, "never-met", Broken, `"sage" was not seen`, ""},
		{"an App's checks are not heard", jobSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, usualPolicy+"  - {name: sec, check: Security review, app: secbot, verdict: conclusion}\n")
			s.edit(t, posting, "  check_run:\n    types: [completed]\n", "")
			s.forEachPull(func(p *SeenPull) {
				p.Checks = append(p.Checks, quorum.CheckRun{Name: "Security review", App: "secbot"})
			})
		}, "checks-not-heard", Warning, `"sec" answers by a check`, ""},
		{"statuses are not heard", jobSetup, func(t *testing.T, s *Setup) {
			s.withPolicy(t, usualPolicy+"  - {name: sonar, status: sonarqube, author: \"sonarbot[bot]\", verdict: conclusion}\n")
			s.edit(t, posting, "  status:\n", "")
			s.forEachPull(func(p *SeenPull) {
				p.Statuses = append(p.Statuses, quorum.Status{Context: "sonarqube", Creator: account("sonarbot[bot]")})
			})
		}, "statuses-not-heard", Warning, `"sonar" answers by a status`, ""},
	}
}

// What could not be read is neither fine nor broken, and the rest is said as ever.
func TestWhatWasNotReadIsNotKnown(t *testing.T) {
	for part, lost := range map[Part]struct {
		fine string
		lose func(*Setup)
	}{
		RulesPart:        {"fine-required", func(s *Setup) { s.Bases[0].Required = nil }},
		ProtectionPart:   {"fine-required", func(s *Setup) { s.Bases[0].Required = nil }},
		RulesetsPart:     {"fine-required", func(s *Setup) { s.Rulesets = nil }},
		QueuePart:        {"fine-posting", func(*Setup) {}},
		ActionsPart:      {"fine-actions", func(s *Setup) { s.Actions = ActionsSettings{} }},
		DefaultTokenPart: {"fine-actions", func(s *Setup) { s.edit(t, posting, "    permissions: {}\n", "") }},
		WorkflowsPart:    {"fine-posting", func(s *Setup) { s.Workflows = nil }},
		PullsPart:        {"fine-reviewers", func(s *Setup) { s.Pulls = nil }},
		AnswersPart:      {"fine-reviewers", func(*Setup) {}},
		WritersPart:      {"fine-reviewers", func(*Setup) {}},
	} {
		for _, needs := range []string{"", "administration: read"} {
			s := appSetup(t)
			lost.lose(s)
			s.Unread = []Unread{{part, "this", needs}}
			all := Examine(*s)
			if got := codesOf(all); !slices.Equal(got, []string{"not-read"}) || all[0].Grade != Unknown || (all[0].Remedy == "") != (needs == "") {
				t.Errorf("part %d: %q\n%s", part, got, told(all))
			}
			if slices.ContainsFunc(all, func(d Diagnosis) bool { return d.Code == lost.fine }) {
				t.Errorf("part %d is said to be fine:\n%s", part, told(all))
			}
		}
	}
}

// Names are data: nothing of them reaches a terminal, a line of a report or a shell as anything else.
func TestHostileNamesAreOnlyNames(t *testing.T) {
	const evil = "x\n# y\x1b[31m\u202e`a`$(b)';c\u200b"
	s := appSetup(t)
	s.withFile(".github/workflows/"+evil+".yml", "name: e\non: push\njobs: {a: {name: Review quorum, steps: [{run: x}]}}\n")
	s.Bases = append(s.Bases, Base{Name: evil})
	s.Rulesets[0].Name, s.Rulesets[0].Include = evil, []string{"refs/heads/" + evil + "*"}
	s.Policy.Reviewers[0].Workflow = ".github/workflows/" + evil
	s.Pulls[0].Checks = append(s.Pulls[0].Checks, quorum.CheckRun{Name: "Review quorum", App: evil})
	all := Examine(*s)
	if len(codesOf(all)) < 5 {
		t.Errorf("too little is said:\n%s", told(all))
	}
	for _, d := range all {
		for _, text := range append([]string{d.Says, d.Remedy}, d.Fix...) {
			if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				t.Errorf("%s: %q", d.Code, text[i:])
			}
		}
	}
}

// An Enterprise Server is another host, and its Actions are another App.
func TestCommandsNameTheHost(t *testing.T) {
	for host, want := range map[string]string{
		"": "--method PUT repos/octo/shop/", "git.example.org": "--method PUT --hostname git.example.org repos/octo/shop/",
	} {
		s := jobSetup(t)
		s.Host, s.Actions.DefaultAll = host, true
		s.requires(42, "Review quorum@7")
		if got := told(Examine(*s)); !strings.Contains(got, want) || strings.Contains(got, "other-source") != (host == "") {
			t.Errorf("%q:\n%s", host, got)
		}
	}
}
