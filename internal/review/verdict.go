package review

// This file reads the field in which a template has its verdict: "Ready to merge? Yes | No | With fixes" and its
// siblings. A yes is read only if it stands alone in its line; a no is read with whatever follows it.

import (
	"strings"
)

// vote is the meaning of one field, list or sentence.
type vote uint8

const (
	silent           vote = iota // says nothing
	approves                     // a clear yes
	objects                      // a clear no
	unfilledTemplate             // a template's value that was not filled in
	conditionalYes               // a yes that does not stand alone
	yesAndNo                     // a yes and a no, which contradict each other
	unclear                      // none of these
)

// ruling is the vote of all fields of a text together, with a quote.
type ruling struct {
	vote   vote
	detail string
	rule   string // the field or shape that decided, and where it is listed
	line   int    // the index of its line; of an approval the last one
}

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
		"all (looks |is |)good", "(everything |it |this |)looks good( to me|)", "good to (go|merge)", "ship it", "well (tested|covered|done)",
		"nice work", "great work", "good work",
		"no (open |remaining |further |outstanding |blocking |)(issues|findings|problems|concerns|blockers)( found| remain| left| remaining|)",
		"(all |the |)(checks|tests)( all|) (pass|are green|are passing)", "the tests cover (both|all) (branches|cases|paths)",
		"(all |every |)(acceptance |)(criteria|criterion) (are|is) met",
	)
)

// conditionStart matches what makes a yes conditional, or takes it back, at the beginning of the next line.
var conditionStart = lazyRegexp(
	`^(?:(?:no|not|nope|never)(?:$|[.,;:!])|(?:not really|i say no|but|if|once|after|when|whenever|unless|until|provided|providing` +
		`|assuming|pending|except|excluding|minus|save for|apart from|aside from|other than|however|although|though|only|as long as` +
		`|as soon as|on condition|conditional|subject to|contingent|barring|actually|wait|update|edit|correction` +
		// The same in other languages, by the word that begins it.
		`|aber|sobald|wenn|falls|nur|erst|außer|jedoch|allerdings|sofern|vorausgesetzt|nachdem|bevor` +
		`|mais|si|sauf|seulement|uniquement|dès que|après|à condition|pourvu|cependant|toutefois` +
		`|pero|solo|sólo|salvo|excepto|cuando|después|siempre que|a condición|una vez|sin embargo|aunque` +
		`|mas|se|somente|apenas|exceto|quando|depois|desde que|assim que|contanto|porém|embora` +
		`|ma|però|solo se|tranne|eccetto|dopo|purché|a patto|appena|tuttavia` +
		`|maar|als|zodra|mits|behalve|tenzij|nadat|alleen|echter` +
		`|но|если|только|после|когда|кроме|как только|при условии|однако` +
		`|ale|jeśli|jeżeli|tylko|dopiero|po |oprócz|gdy|pod warunkiem|jednak` +
		`|ama|fakat|ancak|eğer|sadece|yalnızca|sonra|şartıyla|koşuluyla` +
		`|tapi|tetapi|jika|kalau|setelah|kecuali|asalkan|hanya|namun` +
		`|nhưng|nếu|sau khi|trừ|chỉ|miễn là|tuy nhiên` +
		`|men|om|efter|förutsatt|utom|när|endast|dock` +
		`|але|якщо|тільки|після|коли|крім|проте)(?:[^\pL]|$)` +
		`|但|如果|只有|除|之后|不过|前提|然而|等|しかし|ただ|もし|条件|だが|のみ|でも|修正後|다만|하지만|그러나|만약|단,|단 |조건` +
		`|لكن|إذا|بعد|بشرط|فقط|باستثناء|إلا|लेकिन|परंतु|यदि|अगर|बशर्ते|केवल|सिवाय|किन्तु)`,
)

// maxFields is the number of fields that a text may have; one with more is no review.
const maxFields = 100

// nothingWrong matches a "no" that is no refusal: "no issues" after "Ready to merge?" says nothing about merging.
var nothingWrong = lazyRegexp(
	`^no (?:\w+ ){0,2}(?:issues?|blockers?|concerns?|problems?|objections?|findings?|comments?|reason|verdict|changes?)\b`,
)

// ruleFields returns the ruling of all fields of p.
func ruleFields(p Page) ruling {
	var yes, no, bad ruling
	seen := 0
	for i, l := range p.lines {
		if l.visibility != inView && l.visibility != doubtful || l.text == "" || len(l.text) > 64<<10 {
			continue
		}
		f, value, sure, ok := parseFieldLine(l)
		if !ok {
			if v, objecting := rejectingLine(l); objecting && no.vote == silent {
				no = ruling{vote: objects, detail: shortQuote(l.text), rule: "field: " + v, line: i}
			}
			continue
		}
		if seen++; seen > maxFields {
			return ruling{vote: unclear, detail: shortQuote(l.text), line: i}
		}
		v, detail := f.readValue(value, sure && l.visibility == inView, p, i)
		got := ruling{vote: v, detail: shortQuote(strings.TrimSpace(l.text + detail)), rule: "field: " + f.label, line: i}
		if detail != "" {
			_, got.line = nextLine(p, i)
		}
		switch v {
		case silent:
		case approves:
			if yes.vote != silent {
				got.detail = yes.detail
			}
			yes = got
		case objects:
			if no.vote == silent {
				no = got
			}
		case unfilledTemplate, conditionalYes, yesAndNo, unclear:
			if bad.vote == silent || bad.vote == unclear {
				bad = got
			}
		}
	}
	switch {
	case yes.vote != silent && no.vote != silent:
		return ruling{vote: yesAndNo, detail: shortQuote(yes.detail + " / " + no.detail), rule: no.rule, line: no.line}
	case no.vote != silent:
		return no
	case bad.vote != silent:
		return bad
	}
	return yes
}

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

// rejectingLine recognises a heading, or a line in bold, that is itself a value that objects: "# NEEDS CHANGES",
// "**❌ Changes requested — see below.**".
func rejectingLine(l pageLine) (word string, ok bool) {
	text := strings.TrimSpace(l.text)
	if l.level == 0 && !strings.HasPrefix(strings.TrimLeftFunc(text, isSymbol), "**") || len(text) > 200 {
		return "", false
	}
	words := plainWords(text)
	for _, w := range rejectedWords {
		rest, found := cutWord(words, w)
		if !found || !strings.Contains(w, " ") && !strings.Contains(w, "_") && rest != "" {
			continue
		}
		switch rest = strings.TrimLeft(trimSymbols(rest), " "); {
		case rest == "", rest == "yet", rest == "to merge", rest == "for merge", strings.IndexByte(".:!,-", rest[0]) >= 0,
			strings.HasPrefix(rest, "—"), strings.HasPrefix(rest, "–"):
			switch w {
			case "no", "fix", "hold", "address", "block", "blocking", "failure", "failed", "fail", "issues found", "not yet":
				return "", false // a section's name as well
			}
			return w, true
		}
	}
	return "", false
}

// readValue reads the value of the field in line i of p. Only a sure one approves. more is the text read beyond the line.
func (f verdictField) readValue(value string, sure bool, p Page, i int) (v vote, more string) {
	if value == "" {
		next, at := nextLine(p, i)
		value = stripMarks(headingText(next))
		if _, no := cutRejected(trimSymbols(value)); value == "" || strings.ContainsAny(value, ":?") && !no {
			return f.voteOfUnknown(unfilledTemplate), ""
		}
		i, more = at, " "+next
		sure = sure && !isDeceptive(next) && p.lines[at].visibility == inView && !strings.Contains(next, "~")
	}
	negative := strings.ContainsAny(value, crosses)
	if strings.ContainsAny(value, emptyBoxes) {
		return f.voteOfUnknown(unfilledTemplate), more
	}
	value = trimSymbols(value)
	inner := value
	if open := strings.IndexByte(`[("'`, firstByte(value)); open >= 0 {
		if end := strings.IndexByte(value[1:], `])"'`[open]); end >= 0 {
			inner = trimSymbols(value[1:1+end]) + value[2+end:]
			if value[0] == '[' && !beginsWithValue(inner) {
				return f.voteOfUnknown(unfilledTemplate), more
			}
		}
	}
	switch {
	case listsValues(inner):
		return unfilledTemplate, more
	case strings.ContainsAny(inner, "{}|"),
		strings.HasPrefix(inner, "<"),
		strings.HasPrefix(inner, "..."),
		strings.HasPrefix(inner, "…"),
		inner == "n",
		inner == "tbd",
		inner == "todo":
		return f.voteOfUnknown(unfilledTemplate), more
	}
	for _, word := range rejectedWords {
		if rest, ok := cutWord(inner, word); ok {
			if word == "no" && nothingWrong().MatchString(inner) || strings.HasPrefix(rest, "-") && len(rest) > 1 && isAlnum(rest[1]) ||
				f.loose && trimStatement(rest) != "" && (word == "fix" || word == "address" || word == "hold") && !strings.Contains(inner, "merge") {
				return f.voteOfUnknown(unclear), more
			}
			return objects, more
		}
	}
	for _, word := range f.approve {
		if rest, ok := cutWord(inner, word); ok {
			return voteAfterYes(rest, sure, negative, p, i), more
		}
	}
	return f.voteOfUnknown(unclear), more
}

// crosses are the marks that deny what they stand beside.
const crosses = "❌⛔🚫🛑✗✘👎🔴⚠✖"

// emptyBoxes are boxes that nobody has ticked.
const emptyBoxes = "☐□▢◻◽▫⬜◯○"

// cutRejected cuts a word that objects off the front of a value.
func cutRejected(value string) (rest string, ok bool) {
	for _, word := range rejectedWords {
		if rest, ok = cutWord(value, word); ok {
			return rest, true
		}
	}
	return value, false
}

// voteAfterYes returns the vote of a yes that is followed by rest in its line.
func voteAfterYes(rest string, sure, negative bool, p Page, i int) vote {
	switch {
	case negative:
		return yesAndNo
	case !standsAlone(rest), isTakenBackBelow(p, i):
		return conditionalYes
	case !sure:
		return silent
	}
	return approves
}

// standsAlone reports whether nothing but emoji, a full stop or a plain reason follows a yes in its line.
func standsAlone(rest string) bool {
	rest = trimStatement(strings.TrimLeft(rest, ")]\"'"))
	if rest == "" {
		return true
	}
	reason := strings.TrimLeft(rest, " ,.;:!—–-(")
	reason = trimStatement(strings.TrimRight(reason, " )"))
	for _, s := range plainReasons() {
		if _, ok := s.match(reason); ok && len(reason) < len(rest) {
			return true
		}
	}
	return false
}

// isTakenBackBelow reports whether the next line of content below line i begins with a condition or a correction.
func isTakenBackBelow(p Page, i int) bool {
	text, _ := nextLine(p, i)
	text, _ = listItem(text)
	return conditionStart().MatchString(strings.ToLower(strings.TrimLeft(plainWords(text[:min(len(text), 200)]), "([ ")))
}

// nextLine returns the first line of p after i that is not blank, and its index.
func nextLine(p Page, i int) (text string, at int) {
	for n := i + 1; n < len(p.lines) && n <= i+4; n++ {
		l := p.lines[n]
		if l.visibility == hidden || l.visibility == quoted {
			return "", n
		}
		if text := strings.TrimSpace(l.text); text != "" {
			return text, n
		}
	}
	return "", i
}

// voteOfUnknown returns the vote of a value that is none of f's words: v, or silent where f is loose.
func (f verdictField) voteOfUnknown(v vote) vote {
	if f.loose {
		return silent
	}
	return v
}

// beginsWithValue reports whether s begins with a value of some field.
func beginsWithValue(s string) bool {
	if _, _, ok := cutValue(s); ok {
		return true
	}
	_, ok := cutRejected(s)
	return ok
}

// listsValues reports whether s lists values instead of having one: "yes | no", "approve/revise", "yes, no, with fixes".
func listsValues(s string) bool {
	one, rest, ok := cutValue(s)
	if !ok {
		return false
	}
	rest = strings.TrimLeft(rest, " ]\"'")
	comma := false
	switch {
	case strings.HasPrefix(rest, "|"), strings.HasPrefix(rest, "/"):
		rest = rest[1:]
	case strings.HasPrefix(rest, "or "):
		rest = rest[len("or "):]
	case strings.HasPrefix(rest, ","):
		rest, comma = rest[1:], true
	default:
		return false
	}
	second, rest, ok := cutValue(strings.TrimLeft(rest, " [\"'"))
	if !ok || second == one && comma {
		return false
	}
	rest = strings.TrimLeft(rest, " ]\"'")
	return !comma || rest == "" || strings.IndexByte(",|/.", rest[0]) >= 0 || strings.HasPrefix(rest, "or ")
}

func cutValue(s string) (word, rest string, ok bool) {
	for _, word := range valueWords {
		if rest, ok := cutWord(s, word); ok {
			return word, rest, true
		}
	}
	return "", s, false
}

// firstByte returns the first byte of s, 0 if s is empty.
func firstByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}
