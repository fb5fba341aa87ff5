package review

// The files that instruct each preset's reviewer, and so are guarded: those that its vendor documents as read, in every
// folder in which the vendor reads them. Each list names the page that says so, as it stood in November 2026. What such a
// file pulls in by its own words (an import, a list of further files) is named by no vendor and guarded by nothing.

import "slices"

// linkedInstructions are guarded together wherever one of them is: repositories keep them as links to one another, and a
// pull request that changes the target of a link changes what the link's name says. Source of the custom: agents.md, and
// code.claude.com/docs/en/memory, which tells to import or to link AGENTS.md.
var linkedInstructions = []string{
	"**/AGENTS.md", "**/AGENT.md", "**/CLAUDE.md", "**/GEMINI.md", ".github/copilot-instructions.md", "**/.agents/**",
}

// guardWithLinks returns the patterns, and the names to which files of them are linked.
func guardWithLinks(patterns ...string) []string { return slices.Concat(linkedInstructions, patterns) }

var (
	// Source: docs.github.com, "Support for different types of custom instructions", "About agent skills" and "About
	// customizing Copilot cloud agent's development environment" (a review reuses its setup steps); AGENTS.md: GitHub
	// changelog of June 2026.
	copilotGuard = guardWithLinks(
		".github/instructions/**", ".github/skills/**", "**/.claude/**",
		".github/workflows/copilot-setup-steps.yml", ".github/workflows/copilot-code-review.yml",
	)

	// Source: docs.coderabbit.ai/knowledge-base/code-guidelines and /configuration/file; its names are case-sensitive.
	coderabbitGuard = guardWithLinks(
		".coderabbit.yaml", ".coderabbit.yml", ".coderabbit.config.ts",
		".github/instructions/**", "**/.cursorrules", "**/.cursor/rules/**", "**/.windsurfrules", "**/.clinerules/**", "**/.rules/**",
	)

	// Source: developers.openai.com/codex/guides/agents-md, and its pages on skills and on the project's configuration.
	codexGuard = guardWithLinks("**/AGENTS.override.md", "**/.codex/**")

	// Source: as codex, and the README of openai/codex-action, whose prompt file stands there.
	codexActionGuard = guardWithLinks("**/AGENTS.override.md", "**/.codex/**", ".github/codex/**")

	// Source: code.claude.com/docs/en/memory, /settings, /skills and /mcp.
	claudeActionGuard = guardWithLinks("**/CLAUDE.local.md", "**/.claude/**", "**/.mcp.json")

	// Source: code.claude.com/docs/en/code-review-customize: both files in subdirectories, too.
	claudeReviewGuard = guardWithLinks("**/REVIEW.md", "**/.claude/**")

	// Source: geminicli.com/docs/cli/gemini-md and /reference/configuration; the commands: the examples of
	// google-github-actions/run-gemini-cli.
	geminiCLIGuard = guardWithLinks("**/.gemini/**", "**/.geminiignore", ".github/commands/**")

	// Source: docs.qodo.ai/governance/rule-enforcement/building-review-standards, and
	// /code-review/get-started/rule-enforcement/without-rule-system, which apply at any depth; the settings: the
	// documentation of qodo-ai/pr-agent.
	qodoGuard = guardWithLinks(
		".pr_agent.toml", "**/best_practices.md", "**/RULE.md", "**/pr_compliance_checklist.yaml", "**/copilot-instructions.md",
		"**/.cursorrules", "**/.cursor/rules/**", "**/skills/**/SKILL.md", ".qodo/**",
	)

	// Source: docs.sourcery.ai/reviews/agent-instruction-files: "anywhere in the repository".
	sourceryGuard = guardWithLinks(
		".sourcery.yaml", "**/SOURCERY.md", "**/.claude/**", "**/.cursorrules", "**/.cursor/rules/**", "**/.cursor/BUGBOT.md",
		"**/.windsurfrules", "**/.windsurf/rules/**", "**/.github/copilot-instructions.md", "**/.github/instructions/**",
		"**/.clinerules", "**/.clinerules/**",
	)

	// Source: greptile.com/docs/code-review/greptile-config: the folder "in any directory". That it takes up other tools'
	// rules (CLAUDE.md, AGENTS.md, .cursorrules) is reported by its users and not documented.
	greptileGuard = guardWithLinks("**/greptile.json", "**/.greptile/**", "**/.cursorrules", "**/.cursor/rules/**")

	// Source: cursor.com/docs/bugbot, "Project rules": the root's and those found upward from the changed files.
	bugbotGuard = guardWithLinks("**/BUGBOT.md", "**/.cursor/**", "**/.cursorrules")
)
