package review

// This file recognises the fields of templates: their labels, and the words that are values.

import "strings"

// verdictField is a field's label with the words that are its values. Any other value is unclear, or ignored where the
// label is an everyday word (loose).
type verdictField struct {
	label   string
	approve []string
	loose   bool // an unknown value is ignored, and an item of a list is no field
}

var (
	yesWords      = []string{"yes"}
	approvedWords = []string{"approved", "approve"}

	verdictFields = []verdictField{
		{label: "ready to merge", approve: yesWords},
		{label: "safe to merge", approve: yesWords},
		{label: "final verdict", approve: approvedWords},
		{label: "overall verdict", approve: approvedWords},
		{label: "review verdict", approve: approvedWords},
		{label: "verdict", approve: approvedWords},
		{label: "final decision", approve: approvedWords},
		{label: "review decision", approve: approvedWords},
		{label: "decision", approve: approvedWords},
		{label: "merge recommendation", approve: approvedWords},
		{label: "final recommendation", approve: approvedWords},
		{label: "recommendation", approve: approvedWords, loose: true},
		{label: "review status", approve: approvedWords, loose: true},
		{label: "review result", approve: approvedWords, loose: true},
		{label: "status", approve: approvedWords, loose: true},
		{label: "task quality", approve: approvedWords},
	}
	// objectingField is a label of which only the noun at its end is known: it can object, and never approve.
	objectingField = verdictField{label: "verdict", loose: true}

	// rejectedWords begin a value that objects, whatever follows.
	rejectedWords = []string{
		"request changes", "requests changes", "requesting changes", "changes requested", "changes required", "changes needed",
		"change requested", "request_changes", "requests_changes", "changes_requested", "revise", "rethink", "rejected", "reject",
		"issues found", "needs fixes", "needs changes", "needs work", "needs revision", "needs rework", "needs_fixes", "needs_changes",
		"needs_work", "needs_revision", "need changes", "with fixes", "with changes", "fixes required", "fixes needed", "not approved",
		"not ready", "not safe", "not yet", "not mergeable", "not acceptable", "do not merge", "do not approve", "don't merge",
		"don't approve", "cannot approve", "can't approve", "cannot merge", "block", "blocked", "blocking", "fail", "failed", "failure",
		"critical_fail", "critical fail", "nack", "veto", "unsafe", "disapprove", "disapproved", "decline", "hold", "address", "fix",
		"unacceptable", "no",
	}
	valueWords = []string{
		"with fixes", "yes", "no", "approved", "approve", "request changes", "request_changes", "changes requested", "revise", "rethink",
		"rejected", "reject", "issues found", "needs fixes", "needs work", "needs changes", "comment", "block",
	}

	// plainReasons are what may follow a yes in its line: praise of the whole, known to its last word. Any other reason
	// belongs in the next line, for there is no list of all conditions in all languages.
	plainReasons = lazyShapes(
		"all (looks |is |)good", "(everything |it |this |)looks good( to me|)", "good to (go|merge)", "ship it",
		"well (tested|covered|done)",
		"nice work", "great work", "good work",
		"no (open |remaining |further |outstanding |blocking |)(issues|findings|problems|concerns|blockers)( found| remain| left| remaining|)",
		"(all |the |)(checks|tests)( all|) (pass|are green|are passing)", "the tests cover (both|all) (branches|cases|paths)",
		"(all |every |)(acceptance |)(criteria|criterion) (are|is) met",
	)
)

// parseField recognises a line that is a field. A field in code, struck out or with deceptive letters is not sure.
func parseField(text string) (f verdictField, value string, sure, ok bool) {
	trimmed := strings.TrimLeft(text, " \t")
	items := 0
	for range 3 {
		rest, item := listItem(trimmed)
		if !item {
			break
		}
		trimmed = rest
		items++
	}
	if trimmed == "" {
		return f, "", false, false
	}
	head := trimmed[:min(len(trimmed), 240)]
	if !strings.ContainsAny(head, "?:") && !strings.Contains(head, "：") {
		return f, "", false, false
	}
	bare := lowerASCII(dropInvisible(head))
	known := false
	for _, word := range [...]string{"merge", "verdict", "status", "quality", "decision", "recommendation", "result"} {
		known = known || strings.Contains(bare, word)
	}
	if !known {
		return f, "", false, false
	}
	sure = trimmed[0] != '`' && !strings.Contains(trimmed, "~")
	short := plainWords(dropInvisible(head))
	for _, f := range verdictFields {
		rest, found := cutWord(short, f.label)
		if !found {
			continue
		}
		if rest = strings.TrimLeft(rest, " "); !beginsWithColon(rest) {
			continue
		}
		sure = sure && !isDeceptive(trimmed) && !(f.loose && items > 0)
		whole := stripMarks(headingText(dropInvisible(trimmed)))
		_, value, _ = strings.Cut(whole, f.label)
		return f, strings.TrimLeft(value, " ?:："), sure, true
	}
	label, value, found := strings.Cut(short, ":")
	if noun := label[strings.LastIndexByte(label, ' ')+1:]; found && strings.Count(label, " ") < 5 && !isAsideName(label) {
		switch noun {
		case "verdict", "decision", "recommendation":
			return objectingField, strings.TrimLeft(value, " "), false, true
		}
	}
	return f, "", false, false
}

// parseFieldLine is parseField for a line of a page: a heading, or a line in bold, that is nothing but a label is a field whose
// value stands below. Its section may hold anything else instead of a value.
func parseFieldLine(l pageLine) (f verdictField, value string, sure, ok bool) {
	if f, value, sure, ok = parseField(l.text); ok || len(l.text) > 80 || l.level == 0 && !boldLine(strings.TrimSpace(l.text)) {
		return f, value, sure, ok
	}
	name := plainWords(dropInvisible(l.text))
	for _, f := range verdictFields {
		if name == f.label {
			f.loose = true
			return f, "", !isDeceptive(l.text), true
		}
	}
	return f, "", false, false
}

func beginsWithColon(s string) bool {
	return s != "" && (s[0] == '?' || s[0] == ':' || strings.HasPrefix(s, "："))
}

// crosses are the marks that deny what they stand beside.
const crosses = "❌⛔🚫🛑✗✘👎🔴⚠✖"

// emptyBoxes are boxes that nobody has ticked.
const emptyBoxes = "☐□▢◻◽▫⬜◯○"
