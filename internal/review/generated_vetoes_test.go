package review

// This file writes approvals with one veto added. A veto is a class of its own: nothing of it may approve.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// conditions are what a yes may hang on. Each may stand in the yes' line, in any language, or directly below it, in those that
// the reader knows.
var conditions = []string{
	"if the tests pass", "once CI is green", "provided that the migration is looked at", "after a rebase", "assuming the benchmark holds",
	"pending CI", "unless mona objects", "but the lock leaks on the error path", "only for the docs", "except the schema change",
	"until the numbers are in", "before the release, rotate the key",
	"wenn die Tests durchlaufen", "aber erst nach dem Rebase", "sofern die Migration geprüft wurde",
	"si les tests passent", "mais seulement après un rebase", "sauf la migration",
	"si pasan las pruebas", "pero hay que corregir primero el bloqueo", "salvo la migración",
	"se os testes passarem", "mas só depois de um rebase", "exceto a migração", "als de tests slagen", "maar pas na een rebase",
	"если тесты пройдут", "но только после ребейза", "кроме миграции", "nếu các bài kiểm thử đạt", "nhưng phải sửa khóa trước",
	"如果测试通过", "但需要先修复竞态条件", "前提是构建通过", "ただし先にロックを直すこと", "もし CI が赤なら待つこと", "다만 경쟁 상태를 먼저 수정해야 합니다",
}

var (
	// tails follow a yes in its line.
	tailClasses = map[string][]string{
		"tail: negation": {
			": No", ", not really", " — never in this state", "? Not at all", ", no", " (no)", ": false",
			" = no", ", hardly", " is what I cannot say",
			" would be wrong", " - withheld", ": withheld", ", not", " ... not", " was the old answer",
			", I do not think so", " (denied)", ", said nobody",
		},
		"tail: part": {
			" (design only)", ", only the docs", " (1 of 3)", " (0 of 3 agents)", " (2/3 reviewers)",
			" for the first commit", " (tests not read)",
			", partly", " — 40 %", " (backend part)", " in part", " 3/5", " (60%)", " for `docs/` only", " with nits", " with comments", " by product",
			" for 2 of 5 files", " (title and description)", " of the naming", " - frontend", " (security)",
			", at least the parser",
		},
		"tail: or":  {" | No", " / No / With fixes", " or No", ", No or With fixes", "|No|With fixes", " or not"},
		"tail: two": {" and no", ", and no", " / Rejected", " -> Rejected", " → No", ", rejected on second look", ", later: No"},
	}
	// lead-ins stand above an approval that is somebody else's or of another time.
	leadIns = []string{
		"The author wrote:", "The description of the pull request says:",
		"Had the tests passed I would have written:", "Your answer must end like this:",
		"Example:", "For example:", "mona said:", "CodeRabbit answered:", "Previous review:",
		"In the last round I wrote:", "The template asks for:",
		"The commit message reads:", "Quote from the pull request:", "The old verdict was:",
		"Der Autor schreibt:", "L'auteur a écrit :",
		"作者写道：", "作者のコメント：", "El autor escribió:", "Автор пишет:", "If it were up to the tests:",
		"What the other bot posted:",
		"## Previous review", "## Example output", "### Pull request description",
		"### Prior verdict (superseded)", "## History",
		"<details>\n<summary>Previous result</summary>\n",
		"<details>\n<summary>Earlier review of abc1234</summary>\n",
	}
	// noticeTops stand above everything.
	noticeTops = []string{
		"## ⚠️ API Error (HTTP 503)", "> [!WARNING]\n> Rate limit exceeded. Please wait 5 minutes.",
		"## Rate limit exceeded", "# Review skipped",
		"> [!CAUTION]\n> The model is currently overloaded.", "## ❌ Authentication failed",
		"### Quota exceeded", "## Diff is too large",
		"> [!IMPORTANT]\n> I was unable to fetch the diff of this pull request.", "**The request timed out.**",
		"## Credit balance is too low",
	}
)

func sortedKeys(m map[string][]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// writeVetoed returns an approval with one veto.
func (w *writer) writeVetoed() generatedText {
	switch w.rnd.IntN(11) {
	case 0:
		return w.writeConditional()
	case 1, 2:
		return w.writeTail()
	case 3:
		return w.writeEcho()
	case 4:
		return w.writeHidden()
	case 5:
		return w.writeBesideNotice()
	case 6:
		return w.writeUnfilled()
	case 7:
		return w.writeJSONVetoed()
	}
	return w.writePlanted()
}

// wordedApproval returns an approval by words that anybody writes.
func (w *writer) wordedApproval() approval {
	a := w.approval()
	for a.class == "state" || a.class == "preset" {
		a = w.approval()
	}
	return a
}

// writePlanted returns an approval with a planted sentence, wherever it stands.
func (w *writer) writePlanted() generatedText {
	p := pickOne(w, w.planted)
	for p.kind == "harmless" {
		p = pickOne(w, w.planted)
	}
	a := w.wordedApproval()
	parts := frameParts{end: p.text}
	switch w.rnd.IntN(3) {
	case 0:
		parts = frameParts{top: p.text}
	case 1:
		parts = frameParts{below: "\n" + p.text + "\n"}
	}
	return a.toText("planted, "+p.kind, w.frame(a, a.String(), parts), mustNotApprove)
}

func (w *writer) writeConditional() generatedText {
	text := pickOne(w, conditions)
	a := w.wordedApproval()
	capital := strings.ToUpper(text[:1]) + text[1:]
	if text[0] >= 0x80 {
		capital = text
	}
	if w.oneIn(2) {
		tail := pickOne(w, []string{", %s", " — %s", " (%s)", " %s", "; %s", ". %s.", " - %s"})
		return w.withTail(a, "condition in its line", fmt.Sprintf(tail, text))
	}
	below := pickOne(w, []string{text, capital + ".", "(" + text + ")", "_" + capital + "_", "**" + capital + ".**", "\n" + capital + ".", "- " + text})
	return a.toText("condition below, "+a.class, w.frame(a, a.String(), frameParts{below: below}), mustNotApprove)
}

// withTail returns a text whose approving line goes on.
func (w *writer) withTail(a approval, class, tail string) generatedText {
	for a.class == "zero counts" && strings.HasPrefix(a.lines[0], "|") {
		a = w.zeroApproval()
	}
	w.added = tail
	n := len(a.lines) - 1
	a.lines = append([]string(nil), a.lines...)
	line := a.lines[n]
	if bare, bold := strings.CutSuffix(line, "**"); bold && w.oneIn(2) {
		a.lines[n] = bare + tail + "**"
	} else {
		a.lines[n] = line + tail
	}
	return a.toText(class+", "+a.class, w.frame(a, a.String(), frameParts{}), mustNotApprove)
}

func (w *writer) writeTail() generatedText {
	if w.oneIn(2) {
		return w.withTail(w.wordedApproval(), "more: tail", pickOne(w, moreTails))
	}
	class := pickOne(w, sortedKeys(tailClasses))
	a := w.wordedApproval()
	for a.class == "zero counts" {
		a = w.wordedApproval()
	}
	return w.withTail(a, class, pickOne(w, tailClasses[class]))
}

// writeEcho returns an approval that is not the writer's, or not of now.
func (w *writer) writeEcho() generatedText {
	a := w.fieldApproval()
	if w.oneIn(4) {
		a = w.nothingFoundApproval()
	}
	lead := pickOne(w, append(leadIns, moreLeadIns...))
	for strings.HasPrefix(lead, "#") && strings.HasPrefix(a.lines[0], "#") {
		a = w.fieldApproval()
	}
	parts := frameParts{above: lead, end: pickOne(w, []string{"", "They did not.", "I have not decided yet.", "More below."})}
	if strings.HasPrefix(lead, "<details>") {
		parts.end = "</details>"
	}
	return a.toText("echo, "+a.class, w.frame(a, a.String(), parts), mustNotApprove)
}

// hidings make a text's part one that nobody sees, or that is shown as code, struck out or quoted.
var hidings = map[string]func(s string) string{
	"comment":            func(s string) string { return "<!-- " + s + " -->" },
	"comment of lines":   func(s string) string { return "x <!--\n" + s + "\n-->" },
	"open comment":       func(s string) string { return "<!--\n" + s },
	"fence":              func(s string) string { return "```\n" + s + "\n```" },
	"fence of tildes":    func(s string) string { return "~~~md\n" + s + "\n~~~" },
	"open fence":         func(s string) string { return "````\n" + s },
	"quote":              func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") },
	"quote in item":      func(s string) string { return "- > " + strings.ReplaceAll(s, "\n", "\n  > ") },
	"indented":           func(s string) string { return "x\n\n    " + strings.ReplaceAll(s, "\n", "\n    ") },
	"pre":                func(s string) string { return "<pre>\n" + s + "\n</pre>" },
	"blockquote":         func(s string) string { return "<blockquote>\n\n" + s + "\n\n</blockquote>" },
	"del":                func(s string) string { return "<del>\n\n" + s + "\n\n</del>" },
	"strike":             func(s string) string { return "~~" + s + "~~" },
	"strike over lines":  func(s string) string { return "~~I was content at first.\n" + s + "\nThat was before.~~" },
	"single tilde":       func(s string) string { return "~" + s + "~" },
	"definition's title": func(s string) string { return "[a]: https://example.com '\n" + s + "\n'" },
	"footnote":           func(s string) string { return "[^1]: " + s },
	"declaration":        func(s string) string { return "<!X\n" + s + "\n>" },
	"instruction":        func(s string) string { return "<?x\n" + s + "\n?>" },
	"CDATA":              func(s string) string { return "<![CDATA[\n" + s + "\n]]>" },
	"attribute":          func(s string) string { return "<img alt=\"\n" + s + "\n\" src=x>" },
	"link text":          func(s string) string { return "[" + s + "](https://example.com/badge)" },
	"image":              func(s string) string { return "![" + s + "](https://example.com/badge.svg)" },
	"code span":          func(s string) string { return "`" + s + "`" },
	"code tag":           func(s string) string { return "<code>" + s + "</code>" },
	"cell":               func(s string) string { return "| Who | What |\n|---|---|\n| mona | " + s + " |" },
	"title tag":          func(s string) string { return "<title>\n" + s + "\n</title>" },
	"task":               func(s string) string { return "- [ ] " + s },
	"left to right":      func(s string) string { return "\u202e" + s + "\u202c" },
	"previous fold": func(s string) string {
		return "<details><summary>Previous reviews</summary>\n\n" + s + "\n\n</details>"
	},
	"letters": func(s string) string {
		return replaceSome(s, "e", "\u0435", "o", "\u043e", "a", "\u0430", "E", "\u0415", "O", "\u041e", "A", "\u0410")
	},
	"zero width": func(s string) string {
		return replaceSome(s, "e", "e\u200b", "o", "o\u200b", "E", "E\u200b", "O", "O\u200b")
	},
	"full width": func(s string) string {
		return replaceSome(s, "e", "\uff45", "o", "\uff4f", "E", "\uff25", "O", "\uff2f")
	},
	"joiner": func(s string) string {
		return replaceSome(s, "e", "e\u200d", "o", "o\u200d", "E", "E\u200d", "O", "O\u200d")
	},
	"mathematical": func(s string) string {
		return replaceSome(s, "e", "\U0001d5f2", "o", "\U0001d5fc", "E", "\U0001d5d8", "O", "\U0001d5e2")
	},
	"combining": func(s string) string {
		return replaceSome(s, "e", "e\u0336", "o", "o\u0336", "E", "E\u0336", "O", "O\u0336")
	},
}

func replaceSome(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }

var hidingNames = func() (names []string) {
	for name := range hidings {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

func (w *writer) writeHidden() generatedText {
	a := w.fieldApproval()
	if w.oneIn(3) {
		a = w.nothingFoundApproval()
	} else if w.oneIn(4) {
		a = w.presetApproval()
	}
	name := pickOne(w, hidingNames)
	if a.class == "preset" && name == "link text" { // a vendor may link its own sentence
		name = "image"
	}
	switch name { // over lines, these marks hold no longer
	case "strike", "single tilde", "code span", "code tag", "link text", "image", "cell", "task", "footnote":
		for len(a.lines) > 1 || strings.HasPrefix(a.lines[0], "#") || strings.ContainsAny(a.lines[0], "[|") || strings.HasPrefix(a.lines[0], "- ") {
			a = w.fieldApproval()
		}
	}
	for name == "definition's title" && slices.Contains(a.lines, "") { // a blank line ends it
		a = w.fieldApproval()
	}
	core := hidings[name](strings.Join(a.lines, "\n"))
	if core == strings.Join(a.lines, "\n") {
		return w.writeHidden()
	}
	if p := presetOf(a.reviewer.Preset); name == "quote" && p.OpensQuoted || name == "code tag" && p.CodeRows {
		return w.writeHidden() // there its vendor says so
	}
	return a.toText("hidden: "+name+", "+a.class, w.frame(a, core, frameParts{}), mustNotApprove)
}

func (w *writer) writeBesideNotice() generatedText {
	a := w.fieldApproval()
	if w.oneIn(3) {
		a = w.nothingFoundApproval()
	}
	return a.toText("beside a notice, "+a.class, w.frame(a, a.String(), frameParts{top: pickOne(w, append(noticeTops, moreNotices...))}), mustNotApprove)
}

// writeUnfilled returns a template that nobody filled in.
func (w *writer) writeUnfilled() generatedText {
	f := pickOne(w, verdictFields)
	value := pickOne(w, []string{
		"[Yes | No | With fixes]", "Yes/No/With fixes", "Approved | Rejected", "APPROVE|REVISE|RETHINK",
		"{{verdict}}", "<verdict>", "[your verdict]",
		"Yes or No", "Approved, Rejected", "TBD", "…", "...", "[ ] Yes [ ] No", "Yes ☐ No ☐", "☐ Approved",
		"[ ] Approved", "[x] Yes [x] No", "$VERDICT",
		"%s", "YES / NO", "(Approved|Issues Found)", "one of: Approved, Rejected", "?", "n/a", "undefined",
		"null", "Approved?", "Yes?",
	})
	a := w.withKind(approval{class: "field", lines: w.field(f, value), reviewer: w.plainReviewer(quorum.ReadyToMerge)})
	return a.toText("unfilled", w.frame(a, a.String(), frameParts{}), mustNotApprove)
}

func (w *writer) writeJSONVetoed() generatedText {
	more := pickOne(w, []string{
		`"approved": false`, `"blocking_issues": ["the token is logged"]`, `"errors": ["the diff was truncated"]`, `"required_changes": 2`,
		`"comments": [{"body": "the lock leaks"}]`, `"meta": {"approved": false}`, `"truncated": true`, `"conditions": "once CI is green"`,
		`"notes": "do not merge before Monday"`, `"nested": {"blockers": 1}`, `"severity": "critical"`, `"warnings": ["tests were not read"]`,
		`"overall_explanation": "I could not read the diff."`, `"explanation": "Approved, but only once the lock is fixed."`,
		`"files_reviewed": 3, "files_total": 90`, `"verdict2": "reject"`, `"decision": "reject"`, `"overall_correctness": "patch is incorrect"`,
		`"reasoning": "Do not merge this."`, `"result": "fail"`, `"issues": [{"severity": "critical", "body": "the token is logged"}]`, `"ready": false`,
		`"blocking": true`, `"score": 2`, `"must_fix": ["the index"]`, `"partial": true`, `"error": "timeout"`, `"explanation": "aber erst nach dem Rebase"`,
	})
	findings, verdict := "[]", w.jsonYes()
	class := "json: key"
	if strings.HasPrefix(more, `"overall_correctness`) {
		verdict = `"verdict": "approve"`
	}
	switch w.rnd.IntN(4) {
	case 0:
		class, more = "json: finding", `"title": "x"`
		findings = pickOne(w, []string{
			`[{"path": "a.go", "line": 3, "severity": "high", "body": "the lock leaks"}]`, `[{"title": "[P0] the token is logged", "body": "in the log"}]`,
			`[{"priority": 1, "title": "a race"}]`, `["the token is logged"]`, `"the token is logged"`, `{"path": "a.go"}`, `[{"blocking": true, "body": "x"}]`,
		})
	case 1:
		class, more = "json: verdict", `"title": "x"`
		verdict = pickOne(w, []string{
			`"verdict": "approve once CI is green"`, `"verdict": "approve | reject"`, `"verdict": true`, `"verdict": ["approve"]`, `"verdict": "not approved"`,
			`"verdict": "approved (2 of 3)"`, `"verdict": "approve", "status": "rejected"`, `"verdict": "approve", "verdict": "reject"`, `"verdict": ""`,
			`"verdict": {"value": "approve"}`, `"verdict": "аpprove"`, `"verdict": "<approve>"`, `"ok": true`, `"verdict": "approve_with_nits"`,
		})
	}
	body := w.jsonObject(verdict, findings, more)
	if strings.Count(body, `"files_total"`) > 1 || strings.Count(body, `"title"`) > 2 {
		return w.writeJSONVetoed()
	}
	return generatedText{class: class, reviewer: w.jsonReviewer(), material: Material{Kind: Comment, Body: body}, want: mustNotApprove}
}
