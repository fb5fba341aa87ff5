package review

import (
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
)

// TestPresetsGuardWhatTheirVendorsRead: each file that a vendor documents, in a folder where the vendor reads it there.
func TestPresetsGuardWhatTheirVendorsRead(t *testing.T) {
	for name, files := range map[string]string{
		"copilot": `.github/copilot-instructions.md .github/instructions/a/b.instructions.md AGENTS.md my/AGENTS.md
			.github/skills/a/SKILL.md .claude/skills/a/SKILL.md .agents/skills/a/SKILL.md
			.github/workflows/copilot-setup-steps.yml .github/workflows/copilot-code-review.yml`,
		"coderabbit": `.coderabbit.yaml .coderabbit.yml .coderabbit.config.ts CLAUDE.md my/CLAUDE.md my/AGENTS.md
			my/AGENT.md my/GEMINI.md my/.cursorrules my/.cursor/rules/a.mdc .github/copilot-instructions.md
			.github/instructions/a.instructions.md my/.windsurfrules my/.clinerules/a.md my/.rules/a.md`,
		"codex":         `AGENTS.md my/AGENTS.md my/AGENTS.override.md .codex/config.toml my/.agents/skills/a/SKILL.md`,
		"codex-action":  `my/AGENTS.md my/AGENTS.override.md .codex/config.toml .github/codex/prompts/review.md`,
		"claude-action": `CLAUDE.md my/CLAUDE.md my/CLAUDE.local.md .claude/settings.json my/.claude/rules/a.md .mcp.json`,
		"claude-review": `CLAUDE.md my/CLAUDE.md REVIEW.md my/REVIEW.md .claude/rules/a.md`,
		"gemini-cli":    `GEMINI.md my/GEMINI.md .gemini/settings.json my/.gemini/a .github/commands/review.toml .geminiignore`,
		"qodo": `.pr_agent.toml best_practices.md my/best_practices.md my/AGENTS.md my/CLAUDE.md my/GEMINI.md
			my/RULE.md .cursorrules .cursor/rules/a.mdc my/pr_compliance_checklist.yaml
			my/copilot-instructions.md skills/a/SKILL.md`,
		"sourcery": `.sourcery.yaml my/AGENTS.md my/AGENT.md my/CLAUDE.md my/.claude/CLAUDE.md my/.claude/rules/a/b.md
			my/GEMINI.md my/.cursorrules my/.cursor/rules/a/b.mdc my/.cursor/BUGBOT.md my/.windsurfrules
			my/.windsurf/rules/a.md my/.github/copilot-instructions.md my/.github/instructions/a.instructions.md
			my/.clinerules my/.clinerules/a my/SOURCERY.md`,
		"greptile":           `greptile.json .greptile/config.json my/.greptile/rules.md my/.greptile/files.json`,
		"bugbot":             `.cursor/BUGBOT.md my/.cursor/BUGBOT.md .cursor/rules/a.mdc`,
		"gemini-code-assist": `.gemini/styleguide.md .gemini/config.yaml`,
		"cubic":              `cubic.yaml AGENTS.md my/CLAUDE.md my/.cursorrules my/.cursor/rules/a.mdc`,
		"devin": `REVIEW.md my/REVIEW.md my/AGENTS.md my/CLAUDE.md my/CONTRIBUTING.md .cursorrules .windsurfrules my/a.rules my/a.mdc
			.cursor/rules/a.mdc .coderabbit.yaml greptile.json`,
		"kilo":       `REVIEW.md my/AGENTS.md .kilocode/rules/a.md .kilocoderules`,
		"macroscope": `macroscope.md .macroscope/check-run-agents/a.md AGENTS.md`,
		"augment":    `.augment/code_review_guidelines.yaml my/.augment/rules/a.md AGENTS.md my/CLAUDE.md`,
		"codeant":    `.codeant/review.json .codeant/configuration.json`,
		"kodus": `kodus-config.yml .kody/rules/a.md .cursorrules my/.cursor/rules/a.mdc .github/copilot-instructions.md
			.github/instructions/a.instructions.md .agents.md CLAUDE.md .windsurfrules .rules/a.md docs/coding-standards/a.md`,
		"amazon-q": `.amazonq/rules/a.md`,
		"gitar":    `.gitar/rules/a.md AGENTS.md`,
		"ellipsis": `ellipsis.yaml`,
		"pullfrog": `AGENTS.md my/CLAUDE.md .claude/settings.json opencode.json .github/workflows/pullfrog.yml`,
		"bito":     `.bito.yaml AGENTS.md CLAUDE.md GEMINI.md .cursor/rules/a.mdc .windsurf/rules/a.md`,
		"codacy":   `.codacy.yml .codacy.yaml .codacy/codacy.yaml`,
		"sonar":    `sonar-project.properties my/sonar-project.properties .sonarcloud.properties`,
		"socket":   `socket.yml`,
		"snyk":     `.snyk my/.snyk`,
	} {
		r, ok := Preset(name)
		list, err := pathfilter.CompileWithFolders(r.Guard)
		if !ok || err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for file := range strings.FieldsSeq(files) {
			if !list.Match(file) {
				t.Errorf("%s: %s is not guarded", name, file)
			}
		}
		for _, file := range []string{"cart.go", "README.md", "docs/guide.md", "src/skills.go", "agents/a.go"} {
			if list.Match(file) {
				t.Errorf("%s: %s is guarded", name, file)
			}
		}
	}
}

// TestLinkedInstructionsAreGuardedTogether: CLAUDE.md is commonly a link to AGENTS.md, and so on: who reads one of these
// names is instructed by the file behind it.
func TestLinkedInstructionsAreGuardedTogether(t *testing.T) {
	for _, name := range Presets() {
		r, _ := Preset(name)
		list, err := pathfilter.CompileWithFolders(r.Guard)
		if err != nil {
			t.Fatal(err)
		}
		if r.Retired || IsScanner(name) {
			continue
		}
		for _, file := range []string{
			"AGENTS.md", "my/CLAUDE.md", "my/GEMINI.md", "AGENT.md",
			".github/copilot-instructions.md", ".agents/skills/a/SKILL.md",
		} {
			if !list.Match(file) {
				t.Errorf("%s: %s is not guarded", name, file)
			}
		}
	}
}

// TestPresetsShareNoGuard: who changes the list of one reviewer changes no other's.
func TestPresetsShareNoGuard(t *testing.T) {
	one, _ := Preset("codex")
	one.Guard[0] = "changed"
	if again, _ := Preset("codex"); again.Guard[0] == "changed" {
		t.Error("the guard of a preset can be changed")
	}
}

// TestInstructionFiles: what instructs any preset's reviewer is in the list of all, each pattern once.
func TestInstructionFiles(t *testing.T) {
	all := InstructionFiles()
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("the patterns are not sorted, or stand twice: %q", all)
	}
	for _, name := range Presets() {
		r, _ := Preset(name)
		for _, pattern := range r.Guard {
			if !slices.Contains(all, pattern) || strings.HasPrefix(pattern, "!") {
				t.Errorf("%s: %q is not in the list, or takes away from it", name, pattern)
			}
		}
	}
}

// TestFamilies: a preset names the maker of its model only where it has one: the others may use anybody's.
func TestFamilies(t *testing.T) {
	want := map[string]string{
		"codex": "openai", "codex-action": "openai", "claude-action": "anthropic", "claude-review": "anthropic",
		"gemini-cli": "google", "gemini-code-assist": "google",
	}
	for _, name := range Presets() {
		if r, _ := Preset(name); r.Family != want[name] {
			t.Errorf("%s is of the family %q, want %q", name, r.Family, want[name])
		}
	}
}
