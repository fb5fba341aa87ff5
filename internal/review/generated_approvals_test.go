package review

// This file writes the texts that approve, and the frames in which they and all others stand.

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// An approval is a text's part that approves: its lines, of which the last decides.
type approval struct {
	class    string
	lines    []string
	reviewer quorum.Reviewer
	kind     Kind
	state    string
	own      string   // a line that the vendor's text must hold besides, "" if none
	closed   bool     // nothing but a footer may follow: a count of zero, "No issues found"
	field    bool     // it is a field, below which a reason may stand
	header   []string // lines that must stand directly above it, as a table's
}

func (a approval) String() string {
	return strings.Join(append(append([]string(nil), a.header...), a.lines...), "\n")
}

// writeApproval returns a text that approves and nothing else.
func (w *writer) writeApproval() generatedText {
	if w.oneIn(12) {
		return w.writeJSONApproval()
	}
	a := w.approval()
	return a.toText("plain: "+a.class, w.frame(a, a.String(), frameParts{}), mustApprove)
}

func (a approval) toText(class, body string, want expectation) generatedText {
	return generatedText{class: class, reviewer: a.reviewer, material: Material{Kind: a.kind, State: a.state, Body: body}, want: want}
}

// approval returns one way to approve.
func (w *writer) approval() approval {
	switch w.rnd.IntN(10) {
	case 0, 1, 2, 3, 4:
		return w.fieldApproval()
	case 5:
		return w.nothingFoundApproval()
	case 6:
		return w.zeroApproval()
	case 7:
		return w.stateApproval()
	}
	return w.presetApproval()
}

// plainReviewer returns a reviewer without a preset that may approve by what is meant.
func (w *writer) plainReviewer(k quorum.FormatKind) quorum.Reviewer {
	r := quorum.Reviewer{Name: "plain", Verdict: quorum.Format{Kind: quorum.Auto}, FailureMeans: quorum.MeansUnavailable}
	if w.oneIn(4) {
		r.Verdict.Kind = k
	}
	return r
}

func (w *writer) withKind(a approval) approval {
	a.kind = Comment
	if w.oneIn(4) {
		a.kind, a.state = Review, "COMMENTED"
	}
	return a
}

// fieldForms are the forms in which templates write a field. The verbs are the label, its mark and the value.
var fieldForms = []string{
	"**%[1]s%[2]s** %[3]s", "**%[1]s%[2]s %[3]s**", "%[1]s%[2]s %[3]s", "### %[1]s%[2]s %[3]s",
	"- **%[1]s%[2]s** %[3]s",
	"%[1]s%[2]s **%[3]s**", "**%[1]s**%[2]s %[3]s", "**%[1]s%[2]s** **%[3]s**", "**%[1]s%[2]s** %[3]s.",
	"**%[1]s%[2]s** ✅ %[3]s",
	"## ✅ %[1]s%[2]s %[3]s", "**%[1]s%[2]s** [%[3]s]", "__%[1]s%[2]s__ %[3]s", "### **%[1]s%[2]s** %[3]s 🎉",
	"### %[1]s\n%[3]s", "## %[1]s\n\n%[3]s",
	"## %[1]s\n\n**%[3]s**", "**%[1]s%[2]s**\n%[3]s", "**%[1]s%[2]s**\n\n✅ %[3]s",
}

func (w *writer) titled(s string) string {
	switch w.rnd.IntN(3) {
	case 0:
		return strings.ToUpper(s[:1]) + s[1:]
	case 1:
		parts := strings.Fields(s)
		for i, p := range parts {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
		return strings.Join(parts, " ")
	}
	return strings.ToUpper(s)
}

// field returns a field with a value, in a form that suits its label.
func (w *writer) field(f verdictField, value string) []string {
	form := pickOne(w, fieldForms)
	for f.loose && strings.HasPrefix(form, "- ") || f.inLine && strings.Contains(form, "\n") {
		form = pickOne(w, fieldForms)
	}
	mark := ":"
	if strings.HasSuffix(f.label, "to merge") && !w.oneIn(4) {
		mark = "?"
	}
	if label := strings.ToUpper(f.label[:1]) + f.label[1:]; !w.oneIn(3) {
		return strings.Split(fmt.Sprintf(form, label, mark, value), "\n")
	}
	return strings.Split(fmt.Sprintf(form, w.titled(f.label), mark, value), "\n")
}

func (w *writer) fieldApproval() approval {
	f := pickOne(w, verdictFields)
	word := pickOne(w, f.approve)
	for word == "no issues found" { // beside a nit it contradicts itself
		word = pickOne(w, f.approve)
	}
	return w.withKind(approval{
		class: "field", lines: w.field(f, w.titled(word)), reviewer: w.plainReviewer(quorum.ReadyToMerge), field: true,
	})
}

func (w *writer) nothingFoundApproval() approval {
	things := pickOne(w, []string{"issues", "problems", "findings", "bugs"})
	line := pickOne(w, []string{
		"No " + things + " found", "**No " + things + " found**", "## No " + things + " found", "✅ No " + things + " found.",
		"No " + things + " were found.", "0 " + things + " found", "Found no " + things + ".", "**No " + things + " found** across %d files",
		"✅ No new " + things + " found in %d files.", "No " + things + " detected.",
	})
	if strings.Contains(line, "%d") {
		line = fmt.Sprintf(line, w.number(40)+1)
	}
	return w.withKind(approval{class: "nothing found", lines: []string{line}, reviewer: w.plainReviewer(quorum.FindingList), closed: true})
}

func (w *writer) zeroApproval() approval {
	seen := fmt.Sprintf(pickOne(w, []string{"Reviewed %d files.", "Files reviewed: %d", "I checked all %d changed files."}), w.number(40)+1)
	a := approval{class: "zero counts", header: []string{seen, ""}, reviewer: w.plainReviewer(quorum.FindingList), closed: true}
	switch w.rnd.IntN(3) {
	case 0:
		a.header = append(a.header, "| Severity | Count |", "|---|---|", "| Critical | 0 |", "| High | 0 |", "| Medium | 0 |")
		a.lines = []string{"| Low | 0 |"}
	case 1:
		a.lines = []string{"Critical: 0 · High: 0 · Medium: 0 · Low: 0"}
	default:
		a.header = append(a.header, "| 🔴 Critical | 🟠 High | 🟡 Medium | 🟢 Low |", "|--|--|--|--|")
		a.lines = []string{"| 0 | 0 | 0 | 0 |"}
	}
	return w.withKind(a)
}

func (w *writer) stateApproval() approval {
	line := pickOne(w, []string{
		"The contract of the parser is kept.", "Looks right to me.", "Small and well tested.",
		"Nice clean-up!", "",
		"Reads well; the new test covers the empty list.",
	})
	return approval{
		class: "state", lines: []string{line}, reviewer: w.plainReviewer(quorum.ReviewState), kind: Review, state: "APPROVED",
	}
}

// jsonObject returns an object of the form that codex-action or a prompt asks for, with fields added.
func (w *writer) jsonObject(verdict, findings string, more ...string) string {
	parts := []string{verdict, `"findings": ` + findings}
	if w.oneIn(2) {
		parts = append(parts, `"summary": "Renames a helper and its callers."`)
	}
	if w.oneIn(3) {
		parts = append(parts, `"confidence": 0.9`)
	}
	if w.oneIn(4) {
		n := strconv.Itoa(w.number(30))
		parts = append(parts, `"files_reviewed": `+n+`, "files_total": `+n)
	}
	parts = append(parts, more...)
	w.rnd.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	object := "{" + strings.Join(parts, ", ") + "}"
	switch w.rnd.IntN(3) {
	case 0:
		return "```json\n" + object + "\n```"
	case 1:
		return "## Codex review\n\nThe answer in the agreed form:\n\n```json\n" + object + "\n```\n"
	}
	return object
}

func (w *writer) jsonReviewer() quorum.Reviewer {
	r := quorum.Reviewer{Name: "json", Verdict: quorum.Format{Kind: quorum.JSON}, FailureMeans: quorum.MeansUnavailable}
	return r
}

func (w *writer) jsonYes() string {
	return pickOne(w, []string{
		`"verdict": "approve"`, `"verdict": "APPROVED"`, `"status": "approved"`, `"overall_correctness": "patch is correct"`, `"verdict": "Yes"`,
	})
}

func (w *writer) writeJSONApproval() generatedText {
	findings := pickOne(w, []string{"[]", "[]", `[{"path": "a.go", "line": 3, "severity": "low", "body": "A typo in a comment."}]`, "null"})
	body := w.jsonObject(w.jsonYes(), findings)
	return generatedText{class: "plain: json", reviewer: w.jsonReviewer(), material: Material{Kind: Comment, Body: body}, want: mustApprove}
}

// frameParts are what a text has besides its frame.
type frameParts struct {
	top, above, below, end string
	bare                   bool // no frame at all
}

var (
	frameHeads = []string{
		"## AI review", "## Code review", "# Review", "## 🤖 Automated review", "### Review of this change",
		"<!-- bot: review -->\n## Review",
		"<!-- reviewer -->",
	}
	frameSummaries = []string{
		"This change adds a cache in front of the store and drops the old one.",
		"### Summary\n\nThe handler now closes its body, and the test waits for it.",
		"**Summary:** moves the parser to its own package.",
		"- Adds a timeout.\n- Tests it.",
		"- Handles quota exceeded.\n- Answers 401 when authentication failed.",
		"If the cache is cold, the value is read from disk; once it is warm, it stays for a minute.",
		"The shop is down for maintenance while the tables move.",
		"変更は小さく、テストも十分です。",
		"Die Änderung ist klein und gut getestet.",
		"Le changement est petit et bien testé.",
		"Изменение небольшое и хорошо протестировано.",
		"The retry must not run twice, and the new guard sees to it.",
		"### What changed\n\n| File | Change |\n|---|---|\n| `cache.go` | a new type |\n| `cache_test.go` | its tests |",
		"```go\nif err != nil {\n\treturn err\n}\n```",
		"<details>\n<summary>Walkthrough</summary>\n\nThe loop now ends when the channel is closed, unless it is empty.\n\n</details>",
		"I cannot see any change in what callers get.",
		"> The author asked for a look at the locking.\n\nThe locking is sound.",
		"1. The reader is split in two.\n2. Its tests move along.",
	}
	framePraise = []string{
		"### Strengths\n\n- Clear names.\n- Every branch has a test.", "Nice work!", "Well done 🎉",
		"#### What works\n\n- The fallback is simple.",
		"### Positives\n\n- Small functions\n- Bounded retries", "Good use of the existing helper.",
	}
	frameNits = []string{
		"### Minor\n\n- The name `x` could be clearer.", "#### Nits\n\n- `cache.go:14`: a typo in the comment.",
		"### Suggestions\n\n- Consider a shorter name for the helper.",
	}
	frameReasons = []string{
		"**Reasoning:** the change is small and every branch is tested.",
		"**Reasoning:** it closes the file when it is done.",
		"Reason: only renames.", "The change is mechanical, and the tests cover both branches.",
		"**Summary:** all acceptance criteria are met, tests pass.", "**Confidence:** high\n**Risk:** low",
		"Risk: Low\nReason: Only renames.",
		"This is a focused fix of the idle guard; the logic is easy to follow and its test fails without it.",
		"**Begründung:** Die Änderung ist klein und gut getestet.", "**理由:** 変更は小さく、テストも十分です。",
		"**Reasoning:** the lock is now released on every path, so the race that the issue describes is gone.",
		"**Justification:** le changement est petit et bien testé.",
		"What I tried: I attacked the parser with an empty file, a file of one line, and one without an end.",
	}
	frameFooters = []string{
		"---\n\n<sub>Generated by a workflow. [Learn more](https://example.com/docs)</sub>",
		"---\n_Reviewed commit: 1a2b3c4_",
		"<sub>Reviewed in 1m 44s</sub>", "*Was this helpful? React with 👍 or 👎.*", "<!-- review-end -->",
		"***\n\n[View job](https://example.com/run/1)",
		"<details>\n<summary>How this works</summary>\n\nA workflow runs when a pull request is opened. Comment `/review` to run it again.\n\n</details>",
		"Reviewed commit: 1a2b3c4d5e", "<sub>Comment `/review` to trigger another review.</sub>",
		"<details>\n<summary>Files reviewed (3)</summary>\n\n- `a.go`\n- `b.go`\n- `c.go`\n\n</details>",
	}
)

// frame returns the whole text around the part that decides.
func (w *writer) frame(a approval, core string, parts frameParts) string {
	w.added += parts.top + parts.above + parts.below + parts.end
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	if a.own != "" {
		add(a.own)
	}
	add(parts.top)
	if !parts.bare && a.class != "preset" && !w.oneIn(6) {
		add(pickOne(w, frameHeads))
	}
	if !parts.bare && a.class != "preset" {
		for range w.rnd.IntN(3) {
			add(pickOne(w, frameSummaries))
		}
		if w.oneIn(4) {
			add(pickOne(w, framePraise))
		}
		if a.field && w.oneIn(6) {
			add(pickOne(w, frameNits))
		}
		if a.closed && len(out) > 0 {
			add(pickOne(w, []string{"### Findings", "## Result", "## Findings"}))
		}
		if a.field && strings.HasPrefix(last(out), "### Minor") {
			add("## Assessment")
		}
	}
	add(parts.above)
	if parts.below != "" {
		core += "\n" + parts.below
	}
	if parts.above != "" {
		core = out[len(out)-1] + pickOne(w, []string{"\n", "\n\n"}) + core
		out = out[:len(out)-1]
	}
	add(core)
	if !parts.bare && a.field && parts.below == "" && w.oneIn(2) {
		remark := pickOne(w, append(plainRemarks, frameReasons...))
		for a.class == "preset" && Read(a.reviewer, Material{Kind: a.kind, State: a.state, Body: remark}).Outcome == quorum.Approved {
			remark = pickOne(w, append(plainRemarks, frameReasons...)) // the vendor's own yes below its own no is neither
		}
		add(remark)
		if w.oneIn(4) {
			add(pickOne(w, framePraise))
		}
		if w.oneIn(6) {
			add(pickOne(w, frameNits))
		}
	}
	add(parts.end)
	if !parts.bare && w.oneIn(2) {
		add(pickOne(w, frameFooters))
	}
	body := strings.Join(out, "\n\n")
	if w.oneIn(10) {
		body = strings.ReplaceAll(body, "\n", "\r\n")
	}
	return body
}

func last(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}
