package review

import (
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestSeverityOf(t *testing.T) {
	const none, low, medium, high, critical = quorum.Severity(0), quorum.Low, quorum.Medium, quorum.High, quorum.Critical
	for _, c := range []struct {
		preset, body string
		want         quorum.Severity
	}{
		{"coderabbit", "_🩺 Stability_ | _🟠 Major_ | _⚡ Quick win_\n\n**Close the file.**", high},
		{"coderabbit", "_⚠️ Potential issue_ | _🔴 Critical_\n\n**Escape the name.**", critical},
		{"coderabbit", "_⚠️ Potential issue_ | _🟡 Minor_\n\n**The word \"critical\" has no capital.**", low},
		{"coderabbit", "_⚠️ Potential issue_\n\nThe sum may be negative.", medium},
		{"coderabbit", "_🧹 Nitpick_ | _🔵 Trivial_\n\nA shorter name would do.", low},
		{"coderabbit", "**Close the file.**\n\nIt stays open.", none},
		{"codex", "**<sub><sub>![P2 Badge](https://img.shields.io/badge/P2-yellow?style=flat)</sub></sub>  Close the file**\n\nIt stays open.", medium},
		{"codex", "**<sub><sub>![P0 Badge](https://img.shields.io/badge/P0-red)</sub></sub>  Escape the name**\n\nNot a nit.", critical},
		{"bugbot", "### The file stays open\n\n**High Severity**\n\n<!-- DESCRIPTION START -->\nNobody closes it.", high},
		{"bugbot", "### A name is misleading\n\n**Low Severity**\n\nIt counts nothing.", low},
		{"greptile", `<a href="#"><img alt="P1" src="https://example.com/p1.svg" align="top"></a> **The file stays open**`, high},
		{"greptile", "**style:** the name is long", low},
		{"greptile", "**logic:** the sum may be negative", high},
		{"sourcery", "**issue (bug_risk):** The sum may be negative.", high},
		{"sourcery", "**🚨 issue (security):** The name is not escaped.", critical},
		{"sourcery", "**suggestion (testing):** A test for the empty cart is missing.", low},
		{"sourcery", "**nitpick (typo):** Two letters are swapped.", low},
		{"qodo", "1\\. The name is not escaped <code>🐞 Bug</code> <code>⛨ Security</code>\n\nIt reaches the page.", critical},
		{"qodo", "1\\. The file stays open <code>🐞 Bug</code> <code>☼ Reliability</code>", high},
		{"qodo", "![Action required](https://example.com/action-required.png)\n\n1\\. The file stays open", high},
		{"copilot", "[nitpick] The name is long.", low},
		{"copilot", "The file stays open.", none},
		{"copilot", "[nitpick] Severity: critical\n\nThe name is not escaped.", low}, // no label is the whole line
		{"copilot", "**nitpick** **Critical** The name is not escaped.", critical},
		{"bugbot", "**Low Severity**\n\n**Severity: Critical**\n\nThe name is not escaped.", critical},
		{"greptile", "**style** [P0] The name is not escaped.", low},
		{"claude-review", "[P0] **Pre-existing**: the name is not escaped", critical},
		{"claude-review", "🔴 **Important**: The file stays open.", high},
		{"claude-review", "🟡 **Nit:** The name is long.", low},
		{"", "P2: The file stays open", medium},
		{"", "**P1**: The file stays open", high},
		{"", "![high](https://example.com/high-priority.svg)\n\nThe file stays open.", high},
		{"", "![security-critical](https://example.com/x.svg)\n\nEscape it.", none},
		{"", "🟠 High: the file stays open", high},
		{"", "🔴 The file stays open", critical},
		{"", "**CRITICAL:** the name is not escaped", critical},
		{"", "[P3] Rename it", low},
		{"", "**Suggestion:** Close the file. [resource leak]\n\n**Severity Level:** Major ⚠️", high},
		{"", "**Suggestion:** Close the file.", none},
		{"", "The file stays open.\n\nSeverity: medium", medium},
		{"", "This minor change breaks the sum.", none},
		{"", "The sum may be negative: low numbers are not checked.", none},
		{"", "```\nCritical: 3\n```\nThe file stays open.", none},
		{"", "<!-- **Low Severity** -->\nThe file stays open.", none},
		{"", "> **Low**\n\nThe file stays open.", none},
		{"", "The file stays open.\n\n" + strings.Repeat("And so on.\n\n", 10) + "**Low**", none},
		{"", "**Low** **Critical**\n\nThe file stays open.", critical},
		{"", "", none},
	} {
		if got := SeverityOf(quorum.Reviewer{Preset: c.preset}, c.body); got != c.want {
			t.Errorf("%s: %q: %v, want %v", c.preset, c.body, got, c.want)
		}
	}
}

func TestBadgesOfAVendorsFile(t *testing.T) {
	for _, name := range Presets() {
		for _, b := range presetOf(name).Badges {
			if b.Severity == 0 {
				t.Errorf("%s: badge %q has no severity", name, b.Label.source)
			}
			if strings.Contains(b.Label.source, "|") || strings.Contains(b.Label.source, "{") {
				continue
			}
			if got := SeverityOf(quorum.Reviewer{Preset: name}, "**"+b.Label.source+"**: the file stays open"); got != b.Severity {
				t.Errorf("%s: badge %q: %v, want %v", name, b.Label.source, got, b.Severity)
			}
		}
	}
	if err := new(shape).UnmarshalText([]byte("Minor")); err == nil {
		t.Error("a label in capitals is accepted")
	}
}

func TestCommentsBelowMinSeverity(t *testing.T) {
	const codex = "### 💡 Codex Review\n\nHere are some automated review suggestions for this pull request."
	for _, c := range []struct {
		preset, state, body string
		threads, minor      int
		want                quorum.Outcome
	}{
		{"bugbot", "COMMENTED", "Cursor Bugbot has reviewed your changes and found 2 potential issues.", 0, 2, quorum.Approved},
		{"bugbot", "COMMENTED", "Cursor Bugbot has reviewed your changes and found 3 potential issues.", 0, 2, quorum.Findings},
		{"bugbot", "COMMENTED", "Cursor Bugbot has reviewed your changes and found 2 potential issues.", 1, 1, quorum.Findings},
		{"coderabbit", "COMMENTED", "**Actionable comments posted: 1**", 0, 1, quorum.Approved},
		{"coderabbit", "COMMENTED", "**Actionable comments posted: 1**\n\n> [!CAUTION]\n> Some comments are outside the diff.", 0, 1, quorum.Findings},
		{"coderabbit", "CHANGES_REQUESTED", "**Actionable comments posted: 1**", 0, 1, quorum.Findings},
		{"coderabbit", "DISMISSED", "**Actionable comments posted: 1**", 0, 1, quorum.Malformed},
		{"codex", "COMMENTED", codex, 0, 1, quorum.Approved},
		{"codex", "COMMENTED", codex, 1, 0, quorum.Findings},
		{"codex", "COMMENTED", codex + "\n\nThe design does not hold.", 0, 1, quorum.Malformed},
		{"codex", "COMMENTED", "> " + codex, 0, 1, quorum.Malformed},
		{"codex", "COMMENTED", "", 0, 1, quorum.Approved},
		{"codex", "COMMENTED", "", 0, 0, quorum.Unrelated},
		{"sourcery", "COMMENTED", "Hey - I've found 1 issue", 0, 1, quorum.Approved},
		{"sourcery", "COMMENTED", "Hey - I've found 1 issue, and left some feedback:\n\n- Split the type.", 0, 1, quorum.Findings},
	} {
		r, _ := Preset(c.preset)
		r.MinSeverity = quorum.Medium
		got := Read(r, Material{Kind: Review, State: c.state, Body: c.body, Threads: c.threads, Minor: c.minor})
		if got.Outcome != c.want || got.Below != (c.want == quorum.Approved) {
			t.Errorf("%s, %s, %q with %d and %d: %v, below %v", c.preset, c.state, c.body, c.threads, c.minor, got.Outcome, got.Below)
		}
	}
}
