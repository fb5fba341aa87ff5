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

// InstructionFiles returns the patterns of the files that instruct the reviewer of any preset, sorted. A rule that asks
// less than the others holds for no pull request that changes one of them, whoever reviews there.
func InstructionFiles() []string {
	var all []string
	for _, name := range Presets() {
		all = append(all, presetOf(name).reviewer.Guard...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
