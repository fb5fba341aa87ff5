package review

// This file reads the fields of templates: "**Verdict:** APPROVE", "## Ready to merge?" with the value below, a row of a
// table, a heading that is the value itself. Labels and values are closed lists. A yes is read only if it stands alone behind
// its label; a no is read with whatever follows it.

import (
	"slices"
	"strings"
)

type vote uint8

const (
	silent           vote = iota // says nothing
	approves                     // a clear yes
	objects                      // a clear no
	unfilledTemplate             // a template's value that was not filled in
	conditionalYes               // a yes that does not stand alone
	yesAndNo                     // a yes and a no, which contradict each other
	refuses                      // there was no review
	unclear                      // none of these
)

// verdictField is a field's label with the words that approve.
type verdictField struct {
	label   string
	approve []string
	loose   bool // an everyday word: a value that is on no list means nothing, and an item of a list never approves
	inLine  bool // the name of a section, too: its value stands behind it
	named   bool // its label stands by itself, or in a row, and what follows may be anything
}

var (
	yesWords      = []string{"yes"}
	approvedWords = []string{"approved", "approve", "pass", "passed", "lgtm", "accept", "accepted"}
	onlyApproved  = []string{"approved", "approve"}

	verdictFields = []verdictField{
		{label: "ready to merge", approve: yesWords},
		{label: "safe to merge", approve: yesWords},
		{label: "final verdict", approve: approvedWords},
		{label: "overall verdict", approve: approvedWords},
		{label: "review verdict", approve: approvedWords},
		{label: "final audit verdict", approve: approvedWords},
		{label: "audit verdict", approve: approvedWords},
		{label: "verdict", approve: approvedWords},
		{label: "final decision", approve: approvedWords},
		{label: "review decision", approve: approvedWords},
		{label: "decision", approve: approvedWords},
		{label: "merge recommendation", approve: onlyApproved},
		{label: "final recommendation", approve: onlyApproved},
		{label: "recommendation", approve: []string{"approved", "approve", "merge"}, loose: true},
		{label: "review status", approve: onlyApproved, loose: true},
		{label: "review result", approve: onlyApproved, loose: true},
		{label: "review", approve: []string{"approved", "approve", "lgtm"}, loose: true, inLine: true},
		{label: "status", approve: []string{"approved", "approve", "no issues found"}, loose: true},
		{label: "result", approve: onlyApproved, loose: true},
		{label: "task quality", approve: onlyApproved},
		{label: "assessment", approve: onlyApproved, loose: true},
		{label: "overall assessment", approve: onlyApproved, loose: true},
	}
	// objectingField is a label of which only the noun at its end is known: it can object, and never approve.
	objectingField = verdictField{label: "verdict", loose: true}
	// foreignLabels are labels of verdicts in the languages of known reviewers. They can object, and never approve.
	foreignLabels = []string{
		"ergebnis", "urteil", "fazit", "résultat", "veredicto", "veredito", "resultado", "esito", "oordeel", "вердикт", "итог",
		"kết luận", "結論", "判定", "结论", "結果", "结果", "판정", "결론",
	}

	// rejectedWords begin a value that objects, whatever follows.
	rejectedWords = []string{
		"request changes", "request-changes", "requests changes", "requesting changes", "requires changes",
		"require changes", "deny", "denied", "needs another", "changes necessary", "changes requested",
		"changes required", "changes needed",
		"change requested", "request_changes", "requests_changes", "changes_requested", "changes_required", "revise", "rethink",
		"rejected", "reject", "issues found", "needs fixes", "needs changes", "needs work", "needs revision", "needs rework",
		"needs_fixes", "needs_changes", "needs_work", "needs_revision", "need changes", "with fixes", "with changes",
		"fixes required", "fixes needed", "not approved", "not ready", "not safe", "not yet", "not mergeable", "not acceptable",
		"do not merge", "do not approve", "don't merge", "don't approve", "cannot approve", "can't approve", "cannot merge",
		"no-go", "no go", "block", "blocked", "blocking", "fail", "failed", "failure", "critical_fail", "critical fail", "major",
		"patch is incorrect", "incorrect", "nack", "veto", "unsafe", "disapprove", "disapproved", "decline", "hold", "address", "fix",
		"unacceptable", "no",
		"abgelehnt", "nicht mergen", "änderungen erforderlich", "rejeté", "modifications demandées", "changements demandés",
		"ne pas fusionner", "rechazado", "cambios solicitados", "no fusionar", "reprovado", "rejeitado", "mudanças solicitadas",
		"respinto", "afgewezen", "отклонено", "từ chối", "却下", "要修正", "不通过", "拒绝", "不合格", "거부", "수정 필요",
	}
	// sectionWords are rejected words that name a section, or a plan, as well.
	sectionWords = []string{
		"no", "fix", "hold", "address", "block", "blocking", "failure", "failed", "fail", "issues found", "not yet", "major",
	}
	planWords = []string{"fix", "address", "hold"}
	// refusedWords begin a value that says that there was no review.
	refusedWords = []string{
		"unavailable", "skipped", "n/a", "not applicable", "no_output", "no output", "invalid_output", "invalid output", "failed to run",
		"not run", "did not run", "timed out", "timeout", "error",
	}
	beginsWithValue = lazyRegexp(`^` + valueWord)
	// valueList matches values to choose from: "yes | no", "approve/revise", "yes, no, with fixes".
	valueList = lazyRegexp(`^` + valueWord + `[ \]"']*([|/,]|or )[ \["']*` + valueWord + `[ \]"']*(.*)`)
)

const valueWord = `(with fixes|yes|no|approved?|pass(?:ed)?|lgtm|accept(?:ed)?|merge|request[ _]changes|changes requested|revise` +
	`|rethink|reject(?:ed)?|issues found|needs (?:fixes|work|changes)|comment|block)\b`

// unfilled matches a value that nobody has filled in.
var unfilled = lazyRegexp(`[{}|]|^(?:<|\.\.\.|…)|^(?:n|tbd|todo)$`)

func (f verdictField) voteOf(value string) vote {
	if strings.ContainsAny(value, emptyBoxes) {
		return f.voteOfUnknown(unfilledTemplate)
	}
	negative := strings.ContainsAny(value, crosses)
	value = trimSymbols(value)
	if inner, rest, found := strings.Cut(strings.TrimPrefix(value, "["), "]"); found && value[0] == '[' {
		if value = trimSymbols(inner) + rest; !beginsWithValue().MatchString(value) && !beginsWithRejection(value) {
			return f.voteOfUnknown(unfilledTemplate)
		}
	}
	isYes, no := slices.Contains(f.approve, trimStatement(value)), f.voteByRejection(value)
	switch {
	case listsValues(value):
		return unfilledTemplate
	case unfilled().MatchString(value):
		return f.voteOfUnknown(unfilledTemplate)
	case beginsWithOneOf(refusedWords, value):
		return refuses
	case isYes && !negative:
		return approves
	case no != silent:
		return no
	case isYes:
		return yesAndNo
	case beginsWithOneOf(f.approve, value):
		return conditionalYes
	}
	return f.voteOfUnknown(unclear)
}

// voteByRejection returns the vote of a value that begins with a word that objects, silent if it begins with none. Some of these
// words may mean something else.
func (f verdictField) voteByRejection(value string) vote {
	low := strings.ToLower(value)
	for _, word := range rejectedWords {
		rest, ok := cutWord(low, word)
		if !ok {
			continue
		}
		isPlan := f.loose && slices.Contains(planWords, word) && trimStatement(rest) != "" && !strings.Contains(value, "merge")
		isOther := word == "no" && saysNothing(value) || word == "major" && f.loose || isPlan
		if isOther || strings.HasPrefix(rest, "-") && len(rest) > 1 && isAlnum(rest[1]) {
			return f.voteOfUnknown(unclear)
		}
		return objects
	}
	return silent
}

// voteOfUnknown returns the vote of a value that is none of f's words: v, or silent where it may be anything else.
func (f verdictField) voteOfUnknown(v vote) vote {
	if f.loose || f.named {
		return silent
	}
	return v
}

// splitField splits a line into the label and the value of a field, both in small letters. Those of a row of a table are
// its cells. A heading, or a line in bold, may be nothing but a label: it is named. The label is "" where there is no field.
func splitField(l pageLine) (label, value string, named bool) {
	text := strings.TrimSpace(dropInvisible(l.text))
	isHeading := l.level > 0 || boldLine(text)
	switch {
	case strings.HasPrefix(text, "|"):
		cells := cellsOf(text)
		label = strings.TrimRight(trimSymbols(lowerWords(cells[0])), " :?")
		return label, lowerWords(strings.Join(cells[1:], " — ")), true
	case !isHeading && !strings.ContainsAny(text, ":?："):
		return "", "", false
	}
	text, _ = cutItems(strings.TrimLeftFunc(headingText(text), isSymbol), 3)
	words := lowerWords(text)
	end := strings.IndexAny(words, ":?：")
	if named = end < 0; named {
		end = len(words)
	}
	if named && !isHeading {
		return "", "", false
	}
	label, _ = listItem(trimSymbols(words[:end])) // "**1. Verdict:** …"
	return label, strings.TrimLeft(words[end:], " ?:："), named
}

// parseField recognises a line that is a field of the closed list. Below a heading that is only a label anything may stand; it
// need not be a value. A field in code, struck out, with a link or with deceptive letters is not sure.
func parseField(l pageLine) (f verdictField, value string, sure, ok bool) {
	label, value, named := splitField(l)
	text := strings.TrimSpace(strings.TrimLeftFunc(l.text, func(r rune) bool { return r == '\t' || isSymbol(r) }))
	if label == "" || text[0] == '|' && len(cellsOf(text)) != 2 {
		return f, "", false, false
	}
	for _, f := range verdictFields {
		if label == f.label {
			bare, items := cutItems(text, 3)
			f.named = named
			inCode := strings.HasPrefix(bare, "`") || text[0] == '|' && strings.Contains(text, "`")
			isOdd := inCode || strings.Contains(text, "~") || strings.Contains(text, "](")
			return f, value, !isOdd && !isDeceptive(text) && !(f.loose && items > 0), true
		}
	}
	question, _, isAsked := strings.Cut(text, "?")
	if more, behind, found := strings.Cut(value, ":"); found && isAsked && !strings.Contains(question, ":") {
		label, value = label+" "+more, strings.TrimLeft(behind, " ") // "Ready to ship? Verdict: no"
	}
	if named || !isVerdictNoun(label) {
		return f, "", false, false
	}
	return objectingField, value, false, true
}

// isVerdictNoun reports whether a label is on no list and ends in a word for a verdict: its field can only object.
func isVerdictNoun(label string) bool {
	last := label[strings.LastIndexByte(label, ' ')+1:]
	isNoun := last == "verdict" || last == "decision" || last == "recommendation" || slices.Contains(foreignLabels, label)
	return isNoun && strings.Count(label, " ") < 5 && !isAsideName(label)
}

// fieldAt reads line i as a field of any label. Its value stands behind the label, or below: in line at.
func (p LinedText) fieldAt(i int) (label, value string, at int) {
	label, value, _ = splitField(p.lines[i])
	if label == "" || value != "" || strings.HasPrefix(strings.TrimSpace(p.lines[i].text), "|") {
		return label, value, i
	}
	next, at := nextLine(p, i)
	return label, lowerWords(dropInvisible(next)), at
}

func beginsWithOneOf(words []string, value string) bool {
	return slices.ContainsFunc(words, func(word string) bool { _, ok := cutWord(value, word); return ok })
}

func beginsWithRejection(value string) bool {
	return beginsWithOneOf(rejectedWords, strings.ToLower(value))
}

// listsValues reports whether s lists values instead of having one.
func listsValues(s string) bool {
	m := valueList().FindStringSubmatch(s)
	isList := m != nil && m[2] != ","
	return isList || m != nil && m[1] != m[3] && listGoesOn().MatchString(m[4])
}

// listGoesOn matches what may follow two values and a comma in a list of them.
var listGoesOn = lazyRegexp(`^(?:$|[,|/.]|or )`)
