package review

// This file writes the texts that object.

import (
	"fmt"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// writeObjection returns a text that objects, whatever praise stands beside it.
func (w *writer) writeObjection() generatedText {
	a := w.objection()
	a.field = w.oneIn(2)
	if a.class == "json" { // which stands without a frame
		return a.toText("objects: json", a.String(), mustObject)
	}
	return a.toText("objects: "+a.class, w.frame(a, a.String(), frameParts{}), mustObject)
}

func (w *writer) objection() approval {
	auto := quorum.Reviewer{Name: "plain", Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable}
	object := func(class string, lines ...string) approval {
		return w.withKind(approval{class: class, lines: lines, reviewer: auto})
	}
	switch w.rnd.IntN(12) {
	case 0, 1, 2:
		f := pickOne(w, verdictFields)
		word := pickOne(w, rejectedWords)
		for f.loose && (word == "fix" || word == "address" || word == "hold" || word == "major") {
			word = pickOne(w, rejectedWords)
		}
		value := word
		if word[0] < 0x80 {
			value = w.titled(word)
		}
		if word != "fix" && word != "address" && word != "hold" && w.oneIn(3) { // which are words of a plan as well
			value += pickOne(w, []string{", see below", " — the lock leaks", ": the token is logged", " ❌", " (3 problems)", ". The index is missing"})
		}
		return object("field", w.field(f, value)...)
	case 3:
		return object("heading", pickOne(w, []string{
			"# NEEDS CHANGES", "## ❌ Changes requested", "**❌ Changes requested — see below.**",
			"### Request changes", "## Not approved",
			"**Do not merge.**", "# 🔴 Not ready", "## Needs work", "### ❌ Rejected", "**Changes required**",
			"## Not ready to merge",
		}))
	case 4:
		n := w.number(20)
		return object("count", fmt.Sprintf(pickOne(w, []string{
			"%d issues found", "**%d issues found** across 8 files", "Found %d problems.",
			"Critical: 0 · High: %d", "Critical: %d, High: 0, Low: 2",
			"| Severity | Count |\n|---|---|\n| Critical | %d |\n| Low | 0 |",
			"| 🔴 Critical | 🟠 High |\n|---|---|\n| %d | 0 |", "%d critical issues",
			"Total issues: %d", "The bot found %d potential issues.", "Issues found: %d",
		}), n+1))
	case 5, 6:
		return object("list", pickOne(w, []string{
			"### Critical\n\n- `auth.go:41` logs the token", "- 🔴 `auth.go:41`: the token is logged", "1. **Critical** `auth.go:41`: the token is logged",
			"- [P1] `pool.go:88` races", "**<sub><sub>![P2 Badge](https://example.com/p2)</sub></sub>  The lock is not released**", "- **High:** `pool.go:88` races",
			"### 🟠 Major\n\n1. The lock in `pool.go:88` is not released", "- 🟡 `pool.go:12`: the error is dropped", "- **[CRITICAL]** `auth.go:41`: the token is logged",
			"#### Must fix\n\n- the token is logged in `auth.go:41`", "🔴 **Critical:** the token is logged",
			"### Blockers\n\n- `auth.go:41`: the token is logged",
			"- **Medium** — `pool.go:88`: a race", "- [P0] the token is logged",
		}))
	case 7:
		a := object("state", pickOne(w, []string{"", "The lock leaks.", "**Ready to merge?** Yes", "Nice work overall.", "No issues found"}))
		a.kind, a.state = Review, "CHANGES_REQUESTED"
		return a
	case 8:
		a := object("json", w.jsonObject(pickOne(w, []string{
			`"verdict": "request_changes"`, `"verdict": "REVISE"`, `"status": "rejected"`, `"overall_correctness": "patch is incorrect"`, `"verdict": "No"`,
			`"verdict": "changes requested"`, `"verdict": "fail"`, `"verdict": "needs fixes"`,
		}), pickOne(w, []string{"[]", `[{"path": "a.go", "line": 3, "severity": "high", "body": "the lock leaks"}]`})))
		a.reviewer, a.class = w.jsonReviewer(), "json"
		return a
	}
	p := pickOne(w, w.presets)
	for len(p.objecting) == 0 || p.Retired {
		p = pickOne(w, w.presets)
	}
	line := w.fillShape(pickOne(w, p.objecting).source, fmt.Sprint(w.number(9)))
	return w.presetText(p, line, "preset")
}
