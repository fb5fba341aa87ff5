package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
	"github.com/review-coordinator/coordinator/internal/workflow"
)

const (
	onPull     = "on: pull_request\njobs:\n  review:\n    steps:\n"
	asksModel  = "      - run: ask $OPENAI_API_KEY $GITHUB_TOKEN\n"
	yes        = "\n\nRead it.\n\n**Ready to merge?** Yes\n"
	ciFile     = ".github/workflows/ci.yml"
	claudeFile = ".github/workflows/claude.yml"
	openaiFile = ".github/workflows/openai-review.yml"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// surveyed makes runs and texts of one pull request after the other, minutes apart.
type surveyed struct{ Survey }

func (s *surveyed) workflow(path, source string) {
	s.Workflows = append(s.Workflows, workflow.Read(path, source))
}

func (s *surveyed) run(pull int, path string) {
	at := noon.Add(time.Duration(pull) * time.Hour)
	s.Runs = append(
		s.Runs,
		SurveyedRun{Pull: pull, Run: quorum.Run{Path: path, Event: "pull_request", Status: "completed", Started: at, Updated: at.Add(5 * time.Minute)}},
	)
}

func (s *surveyed) text(pull int, by, body string) {
	s.Texts = append(s.Texts, SurveyedText{Pull: pull, Text: quorum.Text{
		TextRef: quorum.TextRef{
			Kind: quorum.TextComment,
		}, Author: quorum.Account{Login: by, Bot: strings.HasSuffix(by, "[bot]")}, Body: body, At: noon.Add(time.Duration(pull)*time.Hour + 3*time.Minute),
	}})
}

func names(p quorum.Policy) (all []string) {
	for _, r := range p.Reviewers {
		all = append(all, strings.Join([]string{r.Name, r.Workflow, r.Author, r.Heading}, " "))
	}
	return all
}

func TestInit(t *testing.T) {
	for _, test := range []struct {
		title   string
		make    func(*surveyed)
		want    string // name, workflow, author and heading of each reviewer of the policy
		fill    string // what must be filled in
		comment string // what the file says
	}{
		{"Apps by their accounts", func(s *surveyed) {
			s.text(1, "copilot-pull-request-reviewer[bot]", "x")
			s.text(2, "copilot-pull-request-reviewer[bot]", "x")
			s.text(2, "coderabbitai[bot]", "x")
			s.text(2, "coderabbitai", "a person who calls himself so")
			s.text(2, "gemini-code-assist[bot]", "x")
			s.Checks = append(s.Checks, SurveyedCheck{3, "Cursor Bugbot", "cursor"}, SurveyedCheck{3, "Cursor Bugbot", "github-actions"})
		}, "bugbot  cursor[bot] |coderabbit  coderabbitai[bot] |copilot  copilot-pull-request-reviewer[bot] ", "", "2 texts on #2, #1."},
		{"a retired one is no reviewer", func(s *surveyed) {
			s.text(1, "gemini-code-assist[bot]", "x")
		}, "", "no reviewer was recognised", "# gemini-code-assist[bot] posted here, but its service has ended"},
		{"a scanner is no reviewer", func(s *surveyed) {
			s.text(1, "sonarqubecloud[bot]", "x")
			s.text(1, "cubic-dev-ai[bot]", "x")
		}, "cubic  cubic-dev-ai[bot] ", "", "# sonarqubecloud[bot] scans by rules and reviews nothing"},
		{
			"workflows by their headings", func(s *surveyed) {
				s.workflow(openaiFile, onPull+asksModel)
				s.workflow(".github/workflows/gemini.yml", onPull+"      - uses: google-github-actions/run-gemini-cli@abc\n")
				s.run(1, openaiFile)
				s.text(1, quorum.ActionsBot, "<!-- x -->\n## OpenAI Code Review"+yes)
				s.run(2, ".github/workflows/gemini.yml")
				s.text(2, quorum.ActionsBot, "## Gemini says"+yes)
			}, "openai-review .github/workflows/openai-review.yml github-actions[bot] ## OpenAI Code Review" +
				"|gemini .github/workflows/gemini.yml github-actions[bot] ## Gemini says",
			"", "Its runs left 1 text under this heading, on #1.",
		},
		{"two at a time: the file that holds the heading", func(s *surveyed) {
			s.workflow(openaiFile, onPull+asksModel+"      - run: echo '## OpenAI Review'\n")
			s.workflow(ciFile, onPull)
			s.run(1, openaiFile)
			s.run(1, ciFile)
			s.text(1, quorum.ActionsBot, "## OpenAI Review"+yes)
		}, "openai-review .github/workflows/openai-review.yml github-actions[bot] ## OpenAI Review", "", ""},
		{"CI at the same time, which may comment: that it calls no model proves nothing", func(s *surveyed) {
			s.workflow(openaiFile, onPull+asksModel)
			s.workflow(ciFile, onPull+"      - uses: acme/lint-comment@v1\n")
			s.run(1, openaiFile)
			s.run(1, ciFile)
			s.text(1, quorum.ActionsBot, "## Lint report\n\nNo issues found."+yes)
		}, "", "no reviewer was recognised|see that this is the heading", "  #   heading: \"## Lint report\"\n"},
		{"CI that cannot comment, and what follows it may", func(s *surveyed) {
			s.workflow(openaiFile, onPull+asksModel)
			s.workflow(ciFile, "permissions: read-all\n"+onPull+"      - uses: acme/lint@v1\n")
			s.workflow(".github/workflows/tell.yml", "on: {workflow_run: {workflows: [CI]}}\njobs: {a: {steps: [{run: x $GITHUB_TOKEN}]}}\n")
			s.run(1, openaiFile)
			s.run(1, ciFile)
			s.text(1, quorum.ActionsBot, "## Lint report"+yes)
		}, "", "no reviewer was recognised|see that this is the heading", ""},
		{"a run of which no file is known", func(s *surveyed) {
			s.workflow(openaiFile, onPull+asksModel)
			s.run(1, openaiFile)
			s.run(1, ".github/workflows/gone.yml")
			s.text(1, quorum.ActionsBot, "## OpenAI Review"+yes)
		}, "", "no reviewer was recognised|see that this is the heading", ""},
		{"previews and reviews of dependencies are none", func(s *surveyed) {
			s.workflow(ciFile, "on: pull_request\njobs: {review: {uses: acme/ci/.github/workflows/preview.yml@v1},"+
				" b: {uses: acme/ci/.github/workflows/dependency-review.yml@v1}}\n")
		}, "", "no reviewer was recognised", "Nothing was recognised"},
		{"CI at the same time, a reviewer that no word gives away: CI cannot comment", func(s *surveyed) {
			s.workflow(openaiFile, onPull+"      - uses: acme/judge@v1\n")
			s.workflow(ciFile, onPull+"      - uses: actions/checkout@v4\n      - run: go test\n")
			s.run(1, openaiFile)
			s.run(1, ciFile)
			s.text(1, quorum.ActionsBot, "## OpenAI Review"+yes)
		}, "openai-review .github/workflows/openai-review.yml github-actions[bot] ## OpenAI Review", "", ""},
		{"two that call models at the same time: nobody knows whose it is", func(s *surveyed) {
			s.workflow(openaiFile, onPull+asksModel)
			s.workflow(".github/workflows/z.yml", "on: workflow_dispatch\njobs: {a: {steps: [{run: ask $OPENAI_API_KEY $GITHUB_TOKEN}]}}\n")
			s.run(1, openaiFile)
			s.run(1, ".github/workflows/z.yml")
			s.text(1, quorum.ActionsBot, "## OpenAI Review"+yes)
		}, "", "no reviewer was recognised|see that this is the heading", "  # 1 text on #1 under this heading, and other workflows ran at the same time.\n" +
			"  # FILL IN: see that this is the heading of its reviews, then take the \"# \" from the lines below.\n" +
			"  # - name: openai-review\n  #   workflow: .github/workflows/openai-review.yml\n  #   heading: \"## OpenAI Review\"\n"},
		{"the caller stands for what it calls, and a test of a workflow is no start", func(s *surveyed) {
			s.workflow(".github/workflows/dispatch.yml", "on: {pull_request: {types: [opened, synchronize]}}\n"+
				"jobs: {review: {uses: ./.github/workflows/model.yml}}\n")
			s.workflow(".github/workflows/model.yml", "on: workflow_call\njobs: {a: {steps: [{uses: google-github-actions/run-gemini-cli@v0}]}}\n")
			s.workflow(".github/workflows/triage.yml", "on: {schedule: [{cron: 0 * * * *}], pull_request: {paths: [.github/workflows/triage.yml]}}\n"+
				"jobs: {a: {steps: [{uses: google-github-actions/run-gemini-cli@v0}]}}\n")
			s.run(1, ".github/workflows/dispatch.yml")
			s.text(1, quorum.ActionsBot, "## Gemini"+yes)
		}, "dispatch .github/workflows/dispatch.yml github-actions[bot] ## Gemini", "", "dispatch.yml uses google-github-actions/run-gemini-cli."},
		{"a review by a workflow of another repository", func(s *surveyed) {
			s.workflow(openaiFile, "on: pull_request\njobs: {a: {uses: acme/ci/.github/workflows/ai-review.yml@v1}}\n")
		}, "", "no reviewer was recognised|no text of it was seen", "uses acme/ci/.github/workflows/ai-review.yml@v1."},
		{"claude's action with a token of its own account", func(s *surveyed) {
			s.workflow(claudeFile, onPull+"      - {uses: anthropics/claude-code-action@v1, with: {github_token: \"${{ secrets.GITHUB_TOKEN }}\"}}\n")
			s.workflow(".github/workflows/other.yml",
				onPull+"      - {uses: anthropics/claude-code-action@v1, with: {github_token: \"${{ steps.app.outputs.token }}\"}}\n")
		}, "", "no reviewer was recognised|no text of it was seen|an App's token", "  #   author: \"github-actions[bot]\"\n  #   heading: \"## FILL IN\"\n"},
		{
			"it starts for some pull requests", func(s *surveyed) {
				s.workflow(claudeFile, "on: {pull_request: {paths: [\"src/**\", \"!src/x/\\\\[a\\\\]/**\"]}}\njobs:\n  a:\n"+
					"    if: github.event.pull_request.draft == false && github.actor != 'dependabot[bot]'\n"+
					"    steps: [{uses: anthropics/claude-code-action@v1}]\n")
				s.run(1, claudeFile)
				s.text(1, "claude[bot]", "x")
				s.text(1, "copilot-pull-request-reviewer[bot]", "x")
			}, "copilot  copilot-pull-request-reviewer[bot] |claude .github/workflows/claude.yml claude[bot] ", "",
			"  # Its if: leaves drafts out.\n" +
				"  # Its if: leaves robots' pull requests out: a lane with authors: may ask others for them.\n" +
				"  # claude[bot] wrote while it ran, on #1.\n" +
				"  - name: claude\n    preset: claude-action\n    workflow: .github/workflows/claude.yml\n    when: {any_path: [\"src/**\", \"!src/x/\\\\[a\\\\]/**\"]}\n",
		},
		{"it does not hear pushes", func(s *surveyed) {
			s.workflow(claudeFile, "on: {pull_request: {types: [opened]}}\njobs: {a: {steps: [{uses: anthropics/claude-code-action@v1}]}}\n")
			s.run(1, claudeFile)
			s.text(1, "claude[bot]", "x")
		}, "", "no reviewer was recognised|add synchronize", "does not start for a push"},
		{"more paths than a policy may name, and a start without any", func(s *surveyed) {
			s.workflow(claudeFile, "on: {pull_request: {paths-ignore: ["+strings.Repeat("x/**, ", 101)+"]}}\njobs: {a: {steps: [{uses: anthropics/claude-code-action@v1}]}}\n")
			s.run(1, claudeFile)
			s.text(1, "claude[bot]", "x")
		}, "claude .github/workflows/claude.yml claude[bot] ", "", "# It starts for some paths only: say which, with when:."},
		{"two starts, each for paths of its own", func(s *surveyed) {
			s.workflow(claudeFile, "on: {pull_request: {paths: [a/**]}, pull_request_target: {paths: [b/**]}}\n"+
				"jobs: {a: {steps: [{uses: anthropics/claude-code-action@v1}]}}\n")
			s.run(1, claudeFile)
			s.text(1, "claude[bot]", "x")
		}, "claude .github/workflows/claude.yml claude[bot] ", "", "# It starts for some paths only: say which, with when:."},
		{"claude's template, whose job's token may only read, beside CI", func(s *surveyed) {
			s.workflow(claudeFile, "permissions: read-all\n"+onPull+"      - uses: anthropics/claude-code-action@v1\n")
			s.workflow(ciFile, onPull+"      - uses: acme/lint@v1\n")
			s.run(1, claudeFile)
			s.run(1, ciFile)
			s.text(1, "claude[bot]", "x")
		}, "claude .github/workflows/claude.yml claude[bot] ", "", "claude[bot] wrote while it ran"},
		{"a report of no model and no verdict is no reviewer", func(s *surveyed) {
			s.workflow(".github/workflows/cover.yml", onPull)
			s.run(1, ".github/workflows/cover.yml")
			s.text(1, quorum.ActionsBot, "## Coverage\n\n81 %")
			s.text(1, "codecov[bot]", "## Codecov Report\n\n81 %")
		}, "", "no reviewer was recognised", "Nothing was recognised"},
		{"a bot that no preset knows, and whose verdicts are read", func(s *surveyed) {
			s.text(1, "sage[bot]", "## Sage"+yes)
			s.text(2, "sage[bot]", "## Sage\n\n**Ready to merge?** No")
			s.Inline = append(s.Inline, SurveyedInline{2, quorum.Account{Login: "sage[bot]", Bot: true}})
			s.text(2, "sage", "a person\n"+yes)
			s.text(2, "dependabot[bot]", "Bumps x.")
		}, "", "no reviewer was recognised|see that it reviews", "  # sage[bot] left 2 comments, 1 inline comment on #2, #1. No preset knows it.\n" +
			"  # Its newest text is read: it objects.\n"},
		{"a bot whose words are not read", func(s *surveyed) {
			s.text(1, "copilot-pull-request-reviewer[bot]", "x")
			s.text(1, "sage[bot]", "I am fond of this one.")
			s.Inline = append(s.Inline, SurveyedInline{1, quorum.Account{Login: "Sage[bot]", Bot: true}})
		}, "copilot  copilot-pull-request-reviewer[bot] ", "see that it reviews", "coordinator classify says what to add for it.\n" +
			"  # FILL IN: see that it reviews each pull request, and that its texts are read, then take the \"# \" from the lines below.\n" +
			"  # - name: sage\n  #   author: \"sage[bot]\"\n"},
		{"a verdict without a known action is a reviewer", func(s *surveyed) {
			s.workflow(".github/workflows/house.yml", onPull+"      - uses: acme/house@v1\n")
			s.run(1, ".github/workflows/house.yml")
			s.text(1, quorum.ActionsBot, "## House rules"+yes)
		}, "house .github/workflows/house.yml github-actions[bot] ## House rules", "", ""},
		{"claude's action under its own account", func(s *surveyed) {
			s.workflow(claudeFile, onPull+"      - uses: anthropics/claude-code-action@v1\n")
			s.run(1, claudeFile)
			s.text(1, "claude[bot]", "**Claude finished**")
		}, "claude .github/workflows/claude.yml claude[bot] ", "", "claude[bot] wrote while it ran, on #1."},
		{"claude's action with GITHUB_TOKEN", func(s *surveyed) {
			s.workflow(claudeFile, onPull+"      - uses: anthropics/claude-code-action@v1\n")
			s.run(1, claudeFile)
			s.text(1, quorum.ActionsBot, "## Claude review"+yes)
		}, "claude .github/workflows/claude.yml github-actions[bot] ## Claude review", "", ""},
		{"the service, without a workflow", func(s *surveyed) {
			s.text(1, "claude[bot]", "x")
		}, "claude-review  claude[bot] ", "", ""},
		{"started by a comment", func(s *surveyed) {
			s.workflow(claudeFile, "on: issue_comment\njobs: {a: {steps: [{uses: anthropics/claude-code-action@v1}]}}")
		}, "", "no reviewer was recognised|start it by pull_request", "is not started by pull_request"},
		{"two headings", func(s *surveyed) {
			s.workflow(openaiFile, onPull+asksModel)
			s.run(1, openaiFile)
			s.run(2, openaiFile)
			s.text(1, quorum.ActionsBot, "## One"+yes)
			s.text(2, quorum.ActionsBot, "## Two"+yes)
		}, "", "no reviewer was recognised|different headings", ""},
		{"headings that begin alike", func(s *surveyed) {
			s.workflow(openaiFile, onPull+asksModel)
			s.workflow(".github/workflows/b.yml", onPull+asksModel)
			s.run(1, openaiFile)
			s.run(2, ".github/workflows/b.yml")
			s.text(1, quorum.ActionsBot, "## Review"+yes)
			s.text(2, quorum.ActionsBot, "## Review of security"+yes)
		}, "openai-review .github/workflows/openai-review.yml github-actions[bot] ## Review", "begins like another", ""},
		{"a text without a verdict", func(s *surveyed) {
			s.workflow(openaiFile, onPull+asksModel)
			s.run(1, openaiFile)
			s.text(1, quorum.ActionsBot, "## Review\n\nLooks nice overall.")
		}, "openai-review .github/workflows/openai-review.yml github-actions[bot] ## Review", "", "None of them has a verdict that can be read"},
		{
			"a text with a field of its own", func(s *surveyed) {
				s.workflow(openaiFile, onPull+asksModel)
				s.run(1, openaiFile)
				s.run(2, openaiFile)
				s.text(1, quorum.ActionsBot, "## Review\n\n**Task quality:** Poor")
				s.text(2, quorum.ActionsBot, "## Review\n\n**Task quality:** Exemplary\n\nNice.")
			}, "openai-review .github/workflows/openai-review.yml github-actions[bot] ## Review", "",
			`if its field says so, add verdict: {field: "Task quality", approve: ["FILL IN"], object: ["FILL IN"], none: ["FILL IN"]}`,
		},
		{"names that YAML would read as something else", func(s *surveyed) {
			s.workflow(".github/workflows/on.yml", onPull+asksModel)
			s.workflow(".github/workflows/On.yaml", onPull+asksModel)
			s.run(1, ".github/workflows/on.yml")
			s.run(2, ".github/workflows/On.yaml")
			s.text(1, quorum.ActionsBot, `## A "quoted" \n review: # yes`+yes)
			s.text(2, quorum.ActionsBot, "## 🤖 Other"+yes)
		}, `on .github/workflows/on.yml github-actions[bot] ## A "quoted" \n review: # yes` +
			`|on-2 .github/workflows/On.yaml github-actions[bot] ## 🤖 Other`, "", ""},
		{"our own workflow is no reviewer", func(s *surveyed) {
			s.workflow(".github/workflows/quorum.yml", onPull+"      - uses: review-coordinator/coordinator@v1 OPENAI_API_KEY\n")
		}, "", "no reviewer was recognised", ""},
	} {
		t.Run(test.title, func(t *testing.T) {
			s := surveyed{Survey{Repo: "acme/shop", Pulls: []int{2, 1}}}
			test.make(&s)
			draft := Init(s.Survey)
			src, fill := draft.Policy, draft.Fill
			policy, err := Parse("policy.yml", src)
			got := strings.TrimSuffix(strings.Join(names(policy), "|"), "fill-in  fill-in[bot] ")
			if got != test.want || err != nil {
				t.Errorf("got %s (%v), want %s\n%s", got, err, test.want, src)
			}
			lines := strings.Split(string(src), "\n")
			var whats []string
			for _, f := range fill {
				whats = append(whats, f.What)
				if line := lines[f.Line-1]; !strings.Contains(line, "FILL IN") && line != "reviewers:" {
					t.Errorf("line %d is %q", f.Line, line)
				}
			}
			want := strings.Split(test.fill, "|")
			for i, what := range whats {
				if i >= len(want) || test.fill == "" || !strings.Contains(what, want[i]) {
					t.Errorf("fill in %q, want %q", whats, want)
				}
			}
			if test.fill != "" && len(whats) != len(want) {
				t.Errorf("fill in %q, want %q", whats, want)
			}
			if !strings.Contains(string(src), test.comment) {
				t.Errorf("it does not say %q:\n%s", test.comment, src)
			}
			if warned := MergeWarnings("policy.yml", src, nil); test.want != "" && len(warned) > 0 {
				t.Errorf("warned: %v", warned)
			}
		})
	}
}

// Every entry that waits for a heading is a valid one once it is filled in.
func TestInitFilledIn(t *testing.T) {
	s := surveyed{Survey{Repo: "acme/shop"}}
	s.workflow(openaiFile, onPull+asksModel)
	s.workflow(".github/workflows/gemini.yml", onPull+"      - uses: google-github-actions/run-gemini-cli@abc\n")
	s.workflow(claudeFile, onPull+"      - uses: anthropics/claude-code-action@v1\n")
	draft := Init(s.Survey)
	src, fill := draft.Policy, draft.Fill
	lines := strings.Split(string(src), "\n")
	for i, line := range lines {
		if body, commented := strings.CutPrefix(line, "  # "); commented && (strings.HasPrefix(body, "- ") || strings.HasPrefix(body, "  ")) {
			lines[i] = strings.Replace("  "+body, "FILL IN", fmt.Sprintf("Review by %03d", i), 1)
		}
	}
	policy, err := Parse("policy.yml", []byte(strings.Join(lines, "\n")))
	if err != nil || len(policy.Reviewers) != 4 || len(fill) != 4 {
		t.Errorf("%v, %d to fill in:\n%s", err, len(fill), strings.Join(lines, "\n"))
	}
}

// What strangers wrote is quoted, and never becomes a key, a reviewer or a comment's end.
func TestInitHostile(t *testing.T) {
	for _, words := range []string{
		"\"\n  - preset: copilot", "x\r\n- y", "\u2028quorum: 1", "`\x00", "${{ secrets.A }}",
		strings.Repeat("a", 500), "\xff", "\u202e",
	} {
		s := surveyed{Survey{Repo: "acme/shop", Pulls: []int{1}}}
		s.workflow(openaiFile, fmt.Sprintf("name: %q\non: {pull_request: {paths: [%q]}}\njobs:\n  a:\n    steps:\n", words, words)+asksModel)
		s.workflow(".github/workflows/a\n- preset: copilot #.yml", onPull+asksModel)
		s.run(1, openaiFile)
		s.text(1, quorum.ActionsBot, "## Review "+words+yes)
		src := Init(s.Survey).Policy
		policy, err := Parse("policy.yml", src)
		if r := policy.Reviewers; err != nil || len(r) != 1 || r[0].Workflow != openaiFile && r[0].Name != "fill-in" {
			t.Errorf("%q: %v %v\n%s", words, err, names(policy), src)
		}
	}
}

// A policy for a whole set-up holds in any case: without a reviewer it holds nothing back, and says what is missing.
func TestInitHoldsInAnyCase(t *testing.T) {
	s := surveyed{Survey{Repo: "acme/shop"}}
	draft := Init(s.Survey)
	policy, err := Parse("policy.yml", draft.Policy)
	if err != nil || policy.Mode != quorum.ReportOnly || policy.Reviewers[0].Author != "fill-in[bot]" || len(draft.Fill) != 1 {
		t.Errorf("%v: %+v\n%s", err, policy, draft.Policy)
	}
	if warned := MergeWarnings("policy.yml", draft.Policy, nil); len(warned) != 1 || !strings.Contains(warned[0].Message, "did not find") {
		t.Errorf("warned %v", warned)
	}
	s.text(1, "copilot-pull-request-reviewer[bot]", "x")
	if policy, err = Parse("policy.yml", Init(s.Survey).Policy); err != nil || policy.Mode != quorum.Enforce || len(policy.Reviewers) != 1 {
		t.Errorf("%v: %+v", err, policy)
	}
}

// The workflow listens to the reviewers' workflows by their names, whatever those are, and never to itself.
func TestWorkflowPlan(t *testing.T) {
	s := surveyed{Survey{Repo: "acme/shop", Pulls: []int{1}}}
	hostile := []string{
		"[x]: #, &a *b", "\"quoted\" \\ 'it'", "true", "a\u2028b\nc\x07", "- y",
		"yes: no", "ünïcode ✓", "12", "1.5", "{a: b}", "@at", "`tick`", "%x", "? y",
	}
	for i, name := range append(slices.Clone(hostile), "Review coordinator", "Review bell", "${{ x }}", "", hostile[0]) {
		file := fmt.Sprintf(".github/workflows/r%02d.yml", i)
		s.Workflows = append(s.Workflows, workflow.Read(file, "name: "+strconv.Quote(name)+"\n"+onPull+asksModel))
	}
	s.Workflows = append(s.Workflows, workflow.Read(ciFile, "name: CI\n"+onPull))
	draft := Init(s.Survey)
	if len(draft.Notes) != 3 {
		t.Errorf("notes %q", draft.Notes)
	}
	example := "on:\n  workflow_run:\n    workflows: [A, B]\n    types: [completed]\nqueue: max # not there\n      - uses: review-coordinator/coordinator@v1\n"
	plan := WorkflowPlan{Listen: draft.Listen}
	var got struct {
		On struct {
			Run struct{ Workflows []string } `yaml:"workflow_run"`
		}
	}
	src := string(plan.Coordinator([]byte(example)))
	top, _, _ := strings.Cut(src, "queue:")
	if err := yaml.Unmarshal([]byte(top), &got); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	want := append(append([]string{"Review bell"}, hostile...), ".github/workflows/r17.yml")
	if !slices.Equal(got.On.Run.Workflows, want) {
		t.Errorf("listens to %q, want %q", got.On.Run.Workflows, want)
	}
	if !strings.HasSuffix(src, "queue: max # not there\n      - uses: review-coordinator/coordinator@v1\n") {
		t.Errorf("changed more:\n%s", src)
	}
	const often, hourly = "    - cron: '7,22,37,52 * * * *' # away from the full hour\n", "    - cron: '7 * * * *' #"
	if src = string(plan.Coordinator([]byte(often))); src != often {
		t.Errorf("in a public repository: %s", src)
	}
	plan.Hourly = true
	if src = string(plan.Coordinator([]byte(often))); !strings.HasPrefix(src, hourly) || strings.Count(src, "\n") != 1 {
		t.Errorf("in a private repository: %s", src)
	}
	plan.Server, plan.Ref = true, "v2"
	if src = string(plan.Coordinator([]byte(example))); strings.Contains(src, "queue") || !strings.HasSuffix(src, "coordinator@v2\n") {
		t.Errorf("on a server:\n%s", src)
	}
}

func TestInitKnowsEveryPreset(t *testing.T) {
	for _, a := range reviewActions {
		if _, known := review.Preset(a.preset); a.preset != "" && (!known || !review.NeedsWorkflow(a.preset)) {
			t.Errorf("%s is no preset of a workflow", a.preset)
		}
		if a.uses != strings.ToLower(a.uses) {
			t.Errorf("%s is never found", a.uses)
		}
	}
}
