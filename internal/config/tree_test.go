package config

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// treeOf makes a tree of lines "PATH", "PATH -> TARGET", and of files with a text.
func treeOf(list string, texts map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range texts {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for line := range strings.Lines(list) {
		name, target, isLink := strings.Cut(strings.TrimSpace(line), " -> ")
		switch {
		case isLink:
			tree[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
		case name != "":
			tree[name] = &fstest.MapFile{Data: []byte("x")}
		}
	}
	return tree
}

// told are the warnings, each with its place and its hint on one line.
func told(policy string, tree fs.FS) (lines []string) {
	for _, w := range TreeWarnings(file, []byte(policy), tree) {
		w.Snippet = ""
		lines = append(lines, strings.ReplaceAll(strings.TrimPrefix(w.String(), file+":"), "\n  hint: ", " | "))
	}
	return lines
}

const alphaConcludes = `reviewers:
  - name: alpha
    workflow: .github/workflows/alpha.yml
    verdict: conclusion
`

const guardDefault = `write guard: [".github/workflows/**", ".github/actions/**", `

func TestTwoPoliciesAreWarnedOf(t *testing.T) {
	const one, other = ".github/review-coordinator.yml", ".github/review-coordinator.yaml"
	const want = "2:3: of " + one + " and " + other + " only the first is read | delete the one that is not meant"
	for files, want := range map[string][]string{one: nil, other: nil, one + "\n" + other: {want}} {
		if got := told(alphaConcludes, treeOf(files, nil)); !cmp.Equal(got, want) {
			t.Errorf("%q: %q, want %q", files, got, want)
		}
	}
}

// TestScriptsOfAWorkflow: a file of the tree that a reviewer's workflow names is the pull request's to change.
func TestScriptsOfAWorkflow(t *testing.T) {
	const files = "scripts/ai-review.sh\nprompts/review.md\nMakefile\npackage.json\ntools/judge/action.yml\n" +
		".github/actions/own/action.yml\nREADME.md"
	const script = `"scripts/ai-review.sh"`
	for name, test := range map[string]struct{ policy, step, named string }{
		"a script":                   {"", "run: ./scripts/ai-review.sh --strict", script},
		"a script by an interpreter": {"", "run: bash scripts/ai-review.sh", script},
		"by the workspace":           {"", "run: ${{ github.workspace }}/scripts/ai-review.sh", script},
		"in a folder of its own":     {"", "{run: ./ai-review.sh, working-directory: scripts}", script},
		"a prompt of an action":      {"", "{uses: some/ai@v1, with: {prompt: prompts/review.md}}", `"prompts/review.md"`},
		"an action of the tree":      {"", "uses: ./tools/judge", `"tools/judge/**"`},
		"two, and each once":         {"", `run: "make review\nnpm ci\nmake review"`, `"Makefile", "package.json"`},
		"a guarded action":           {"", "uses: ./.github/actions/own", ""},
		"a guarded script":           {"guard: [\"scripts/**\"]\n", "run: scripts/ai-review.sh", ""},
		"no file of the tree":        {"", "run: gh pr diff && ./scripts/gone.sh ../scripts/ai-review.sh", ""},
		"no YAML":                    {"", "run: [", ""},
	} {
		workflow := "jobs:\n  review:\n    steps:\n      - uses: actions/checkout@v5\n      - " + test.step + "\n"
		var want []string
		if test.named != "" {
			want = []string{`3:15: reviewer "alpha": its workflow names ` + test.named +
				`, which a pull request may change: nothing guards that | ` + guardDefault + test.named + "]"}
		}
		texts := map[string]string{".github/workflows/alpha.yml": workflow}
		got := told(test.policy+alphaConcludes, treeOf(files, texts))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		texts[".github/workflows/alpha.yml"] = strings.Replace(workflow, "actions/checkout@v5", "actions/setup-go@v6", 1)
		if got = told(test.policy+alphaConcludes, treeOf(files, texts)); len(got) > 0 {
			t.Errorf("%s, and nothing is checked out: %q", name, got)
		}
	}
	if got := told(alphaConcludes, treeOf(files, nil)); len(got) > 0 {
		t.Errorf("the workflow is not there: %q", got)
	}
}

// A reviewer's workflow that starts for no pull request, for some, or writes as another than the policy says, is warned of as doctor does.
func TestWorkflowsThatDoNotAnswer(t *testing.T) {
	const claude = "reviewers:\n  - preset: claude-action\n    workflow: .github/workflows/alpha.yml\n"
	const step = "jobs: {a: {steps: [{uses: anthropics/claude-code-action@v1}]}}\n"
	for source, want := range map[string]string{
		"on: pull_request\n" + step:                              "",
		"on: {pull_request: {types: [opened]}}\n" + step:         "does not start for a push",
		"on: {pull_request: {paths: [src/**]}}\n" + step:         "starts for some paths only",
		"on: {pull_request: {paths-ignore: [docs/**]}}\n" + step: "starts for some paths only",
		"on: issue_comment\n" + step:                             `is started by "issue_comment", whose runs are not`,
		"on: workflow_call\n" + step:                             "is called by another workflow, whose run it then is: .github/workflows/all.yaml",
		"on: pull_request\njobs: {a: {steps: [{uses: Anthropics/claude-code-action@v1, with: {github_token: \"${{ github.token }}\"}}]}}\n": "which then writes by that token and not as claude[bot]",
		"on: pull_request\njobs: {a: {uses: ./.github/workflows/called.yml}}\n":                                                             "which then writes by that token and not as claude[bot]",
		"on: [\n": "",
	} {
		got := told(claude, treeOf("", map[string]string{
			".github/workflows/alpha.yml":  source,
			".github/workflows/all.yaml":   "on: pull_request\njobs: {a: {uses: ./.github/workflows/alpha.yml}}\n",
			".github/workflows/called.yml": "on: workflow_call\njobs: {a: {steps: [{uses: anthropics/claude-code-action@v1, with: {github_token: x}}]}}\n",
		}))
		if len(got) > 1 || (want == "") != (len(got) == 0) || want != "" && !strings.Contains(got[0], want) {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	const alone = "reviewers:\n  - {name: x, author: \"x[bot]\", heading: \"## X\", workflow: .github/workflows/alpha.yml}\n"
	for policy, source := range map[string]string{ // what is well
		alone: "on: pull_request\njobs: {a: {steps: [{uses: anthropics/claude-code-action@v1, with: {github_token: x}}]}}\n",
		strings.Replace(alone, "heading: \"## X\"", "verdict: conclusion", 1): "on: pull_request\n" + step,
	} {
		if got := told(policy, treeOf("", map[string]string{".github/workflows/alpha.yml": source})); len(got) > 0 {
			t.Errorf("%s: %q", policy, got)
		}
	}
}

// Under pull_request_target a plain checkout takes the base's files, which no pull request changes.
func TestScriptsOfTheBase(t *testing.T) {
	for ref, want := range map[string]int{
		"":                                 0,
		"\n        with: {fetch-depth: 0}": 0,
		"\n        with: {ref: \"${{ github.event.pull_request.head.sha }}\"}": 1,
		"\n      - run: gh pr checkout 7":                                      1,
	} {
		workflow := "jobs:\n  it:\n    steps:\n      - run: ./review.sh\n      - uses: actions/checkout@v5" + ref + "\n"
		tree := treeOf("review.sh", map[string]string{".github/workflows/alpha.yml": workflow})
		if got := told(alphaConcludes+"    event: [pull_request_target]\n", tree); len(got) != want {
			t.Errorf("%q: %q, want %d", ref, got, want)
		}
	}
}

// TestGuardedLinks: what a guarded name links to instructs the reviewer, and a pull request changes only the target.
func TestGuardedLinks(t *testing.T) {
	const (
		apps      = "reviewers:\n  - preset: coderabbit\n"
		workflows = "reviewers:\n  - preset: claude-action\n    workflow: .github/workflows/c.yml\n"
		linked    = "docs/ai.md\nCLAUDE.md -> docs/ai.md"
	)
	link := func(name, target string) []string {
		return []string{`2:5: reviewer "coderabbit": "` + name + `" is a link to "` + target + `", which nothing guards | ` +
			"keep the text in " + name + " itself, or link it to AGENTS.md"}
	}
	for name, test := range map[string]struct {
		policy, files string
		want          []string
	}{
		"to a file":            {apps, linked, link("CLAUDE.md", "docs/ai.md")},
		"in a folder":          {apps, "docs/ai.md\nmy/AGENTS.md -> ../docs/ai.md", link("my/AGENTS.md", "docs/ai.md")},
		"of a folder":          {apps, "docs/a/b.mdc\n.cursor/rules -> ../docs/a", link(".cursor/rules", "docs/a")},
		"to another guarded":   {apps, "AGENTS.md\nCLAUDE.md -> AGENTS.md\nmy/GEMINI.md -> ../AGENTS.md", nil},
		"a folder, guarded":    {apps, ".agents/skills/a/SKILL.md\n.cursor/rules -> ../.agents/skills", nil},
		"a link of no concern": {apps, "docs/ai.md\nREADME.md -> docs/ai.md", nil},
		"out of the tree":      {apps, "CLAUDE.md -> ../other/CLAUDE.md\nAGENTS.md -> /etc/passwd", nil},
		"of what is not here":  {apps, "node_modules/a/CLAUDE.md -> ../b.md\n.git/CLAUDE.md -> b.md", nil},
		"of a workflow": {workflows, linked, []string{
			`2:5: reviewer "claude-action": "CLAUDE.md" is a link to "docs/ai.md", which nothing guards | ` +
				guardDefault + `"docs/ai.md"]`,
		}},
		"the policy guards it": {"guard: [\"docs/**\"]\n" + workflows, linked, nil},
		"a broken policy":      {"reviewers: 1\n", linked, nil},
	} {
		if diff := cmp.Diff(test.want, told(test.policy, treeOf(test.files, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
