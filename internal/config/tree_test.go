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

// TestScriptsOfAWorkflow: a file of the tree that a reviewer's workflow names is the pull request's to change.
func TestScriptsOfAWorkflow(t *testing.T) {
	const files = "scripts/ai-review.sh\nprompts/review.md\nMakefile\npackage.json\ntools/judge/action.yml\n.github/actions/own/action.yml\nREADME.md"
	steps := func(on, steps string) string { return "on: " + on + "\njobs:\n  review:\n    steps:\n" + steps }
	const checkout = "      - uses: actions/checkout@v5\n"
	names := func(files string) []string {
		return []string{`3:15: reviewer "alpha": its workflow names ` + files + `, which a pull request may change: nothing guards that | ` +
			guardDefault + files + "]"}
	}
	for name, test := range map[string]struct {
		policy, workflow string
		want             []string
	}{
		"a script":                     {"", steps("pull_request", checkout+"      - run: ./scripts/ai-review.sh --strict\n"), names(`"scripts/ai-review.sh"`)},
		"a script by an interpreter":   {"", steps("pull_request", checkout+"      - run: bash scripts/ai-review.sh\n"), names(`"scripts/ai-review.sh"`)},
		"by the workspace":             {"", steps("pull_request", checkout+"      - run: ${{ github.workspace }}/scripts/ai-review.sh\n"), names(`"scripts/ai-review.sh"`)},
		"in a folder of its own":       {"", steps("pull_request", checkout+"      - run: ./ai-review.sh\n        working-directory: scripts\n"), names(`"scripts/ai-review.sh"`)},
		"a prompt of an action":        {"", steps("pull_request", checkout+"      - uses: openai/codex-action@v1\n        with: {prompt-file: prompts/review.md}\n"), names(`"prompts/review.md"`)},
		"an action of the tree":        {"", steps("pull_request", checkout+"      - uses: ./tools/judge\n"), names(`"tools/judge/**"`)},
		"two, and each once":           {"", steps("pull_request", checkout+"      - run: |\n          make review\n          npm ci\n          make review\n"), names(`"Makefile", "package.json"`)},
		"a guarded action":             {"", steps("pull_request", checkout+"      - uses: ./.github/actions/own\n"), nil},
		"a guarded script":             {"guard: [\".github/**\", \"scripts/**\"]\n", steps("pull_request", checkout+"      - run: scripts/ai-review.sh\n"), nil},
		"no file of the tree":          {"", steps("pull_request", checkout+"      - run: gh pr diff && ./scripts/gone.sh ../scripts/ai-review.sh\n"), nil},
		"nothing is checked out":       {"", steps("pull_request", "      - run: cat scripts/ai-review.sh\n"), nil},
		"no YAML":                      {"", "jobs: [", nil},
		"another workflow than it has": {"", "", nil},
	} {
		texts := map[string]string{".github/workflows/alpha.yml": test.workflow}
		if test.workflow == "" {
			texts = nil
		}
		if diff := cmp.Diff(test.want, told(test.policy+alphaConcludes, treeOf(files, texts))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Under pull_request_target a plain checkout takes the base's files, which no pull request changes.
func TestScriptsOfTheBase(t *testing.T) {
	for ref, want := range map[string]int{
		"": 0, "\n        with: {fetch-depth: 0}": 0, "\n        with: {ref: \"${{ github.event.pull_request.head.sha }}\"}": 1,
		"\n      - run: gh pr checkout 7": 1,
	} {
		workflow := "jobs:\n  review:\n    steps:\n      - uses: actions/checkout@v5" + ref + "\n      - run: ./review.sh\n"
		tree := treeOf("review.sh", map[string]string{".github/workflows/alpha.yml": workflow})
		if got := told(alphaConcludes+"    event: [pull_request_target]\n", tree); len(got) != want {
			t.Errorf("%q: %q, want %d", ref, got, want)
		}
	}
}

// TestGuardedLinks: what a guarded name links to instructs the reviewer, and only the target is in a pull request's list.
func TestGuardedLinks(t *testing.T) {
	const apps = "reviewers:\n  - preset: coderabbit\n"
	link := func(name, target, hint string) []string {
		return []string{`2:5: reviewer "coderabbit": "` + name + `" is a link to "` + target + `", which nothing guards | ` + hint}
	}
	for name, test := range map[string]struct {
		policy, files string
		want          []string
	}{
		"to a file":            {apps, "docs/ai.md\nCLAUDE.md -> docs/ai.md", link("CLAUDE.md", "docs/ai.md", "keep the text in CLAUDE.md itself, or link it to AGENTS.md")},
		"in a folder":          {apps, "docs/ai.md\nmy/AGENTS.md -> ../docs/ai.md", link("my/AGENTS.md", "docs/ai.md", "keep the text in my/AGENTS.md itself, or link it to AGENTS.md")},
		"of a folder":          {apps, "docs/rules/a.mdc\n.cursor/rules -> ../docs/rules", link(".cursor/rules", "docs/rules", "keep the text in .cursor/rules itself, or link it to AGENTS.md")},
		"to another guarded":   {apps, "AGENTS.md\nCLAUDE.md -> AGENTS.md\n.github/copilot-instructions.md -> ../AGENTS.md", nil},
		"a folder, guarded":    {apps, ".agents/skills/a/SKILL.md\n.cursor/rules -> ../.agents/skills", nil},
		"a link of no concern": {apps, "docs/ai.md\nREADME.md -> docs/ai.md", nil},
		"out of the tree":      {apps, "CLAUDE.md -> ../other/CLAUDE.md\nAGENTS.md -> /etc/passwd", nil},
		"of what is not here":  {apps, "node_modules/a/CLAUDE.md -> ../b.md\n.git/CLAUDE.md -> b.md", nil},
		"of a workflow": {
			"reviewers:\n  - preset: claude-action\n    workflow: .github/workflows/c.yml\n", "docs/ai.md\nCLAUDE.md -> docs/ai.md",
			[]string{`2:5: reviewer "claude-action": "CLAUDE.md" is a link to "docs/ai.md", which nothing guards | ` + guardDefault + `"docs/ai.md"]`},
		},
		"the policy guards it": {
			"guard: [\"docs/**\"]\nreviewers:\n  - preset: claude-action\n    workflow: .github/workflows/c.yml\n", "docs/ai.md\nCLAUDE.md -> docs/ai.md", nil,
		},
		"a broken policy": {"reviewers: 1\n", "docs/ai.md\nCLAUDE.md -> docs/ai.md", nil},
	} {
		if diff := cmp.Diff(test.want, told(test.policy, treeOf(test.files, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
