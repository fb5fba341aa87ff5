package review

// This file reads the field in which a template has its verdict: "Ready to merge? Yes | No | With fixes" and its
// siblings. A field is a line of its own. It is read strictly where it would approve: prompts teach models such
// templates, and they hand back half of them.

import (
	"regexp"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// vote is the meaning of one field, list or sentence.
type vote uint8

const (
	silent           vote = iota // says nothing
	approves                     // a clear yes
	objects                      // a clear no
	unfilledTemplate             // a template's value that was not filled in
	conditionalYes               // a yes with a condition
	yesAndNo                     // a yes and a no, which contradict each other
	unclear                      // none of these
)

// ruling is the vote of all fields of a text together, with a quote.
type ruling struct {
	vote   vote
	detail string
}

// verdictField is a field's label with the words that are its values. Any other value is unclear, or ignored where the
// label is an everyday word (loose).
type verdictField struct {
	label   string
	approve []string
	object  []string
	loose   bool // an unknown value is ignored
}

var (
	yesWords      = []string{"yes"}
	approvedWords = []string{"approved", "approve"}
	noWords       = []string{"with fixes", "with changes", "no", "not yet", "not ready"}
	rejectedWords = []string{
		"request changes",
		"requests changes",
		"changes requested",
		"changes required",
		"changes needed",
		"request_changes",
		"changes_requested",
		"revise",
		"rethink",
		"rejected",
		"reject",
		"issues found",
		"needs fixes",
		"needs changes",
		"needs work",
		"needs revision",
		"with fixes",
		"not approved",
		"do not merge",
		"block",
		"blocked",
		"no",
	}
	verdictFields = []verdictField{
		{label: "ready to merge", approve: yesWords, object: noWords},
		{label: "final verdict", approve: approvedWords, object: rejectedWords},
		{label: "overall verdict", approve: approvedWords, object: rejectedWords},
		{label: "review verdict", approve: approvedWords, object: rejectedWords},
		{label: "verdict", approve: approvedWords, object: rejectedWords},
		{label: "review status", approve: approvedWords, object: rejectedWords, loose: true},
		{label: "status", approve: approvedWords, object: rejectedWords, loose: true},
		{label: "task quality", approve: approvedWords, object: rejectedWords},
	}
	valueWords = []string{
		"with fixes",
		"yes",
		"no",
		"approved",
		"approve",
		"request changes",
		"changes requested",
		"revise",
		"rethink",
		"rejected",
		"reject",
		"issues found",
		"needs fixes",
		"needs work",
		"needs changes",
		"comment",
		"block",
	}
)

// conditionWords make a yes conditional, anywhere in its sentence.
var conditionWords = regexp.MustCompile(
	`\b(?:if|once|after|when|whenever|unless|provided|providing|assuming|pending|except|excepting` +
		`|but|until|till|however|though|although|albeit|conditional\w*|contingent` +
		`|subject to|as long as|so long as|barring|apart from|aside from|other than` +
		`|must|needs?|should|not(?:$| yet| ready| really)|i say no|do not|don't|cannot|can't|and no` +
		`|(?:fix|address|resolve|update|add|rebase) .{0,60}\bfirst|first (?:fix|address|resolve)` +
		`|(?:fixes|changes|work) (?:are |is )?(?:needed|required|remain)` +
		`|with (?:\w+[ -]){0,3}(?:fix|fixes|change|changes|caveats?|reservations?|conditions?` +
		`|suggestions?|nits?|modifications?|tweaks?|follow-?ups?|adjustments?|corrections?|exceptions?))` +
		`(?:\b|$)`,
)

// conditionStart makes a yes conditional at the beginning of the next sentence.
var conditionStart = regexp.MustCompile(
	`^(?:(?:no|not|nope)(?:$|[.,;:!])|not really|i say no|but|if|once|after|unless|provided|assuming` +
		`|pending|except|however|only|as long as|on condition|conditional)(?:\b|$| )`,
)

// maxFields is the number of fields that a text may have; one with more is no review.
const maxFields = 100

// maxYesSentence is the length that the sentence of a yes may have; a longer one was not written as a verdict.
const maxYesSentence = 2000

// labelStart matches the next field's label, which ends a sentence that runs on over the end of its line.
var labelStart = regexp.MustCompile(`^[a-z][a-z /-]{0,40}[:?]`)

// nothingWrong matches a "no" that is no refusal: "no issues" after "Ready to merge?" says nothing about merging.
var nothingWrong = regexp.MustCompile(
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
		f, value, sure, ok := parseField(l.text)
		if !ok {
			continue
		}
		if seen++; seen > maxFields {
			return ruling{vote: unclear, detail: shortQuote(l.text)}
		}
		v, detail := f.readValue(value, sure && l.visibility == inView, p, i)
		got := ruling{vote: v, detail: shortQuote(strings.TrimSpace(l.text + detail))}
		switch v {
		case silent:
		case approves:
			if yes.vote == silent {
				yes = got
			}
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
		return ruling{vote: yesAndNo, detail: shortQuote(yes.detail + " / " + no.detail)}
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
	for range 3 {
		rest, item := listItem(trimmed)
		if !item {
			break
		}
		trimmed = rest
	}
	if trimmed == "" {
		return f, "", false, false
	}
	head := trimmed[:min(len(trimmed), 240)]
	if !strings.ContainsAny(head, "?:") {
		return f, "", false, false
	}
	if bare := lowerASCII(dropInvisible(head)); !strings.Contains(bare, "merge") && !strings.Contains(bare, "verdict") &&
		!strings.Contains(bare, "status") &&
		!strings.Contains(bare, "quality") {
		return f, "", false, false
	}
	sure = trimmed[0] != '`' && !strings.Contains(trimmed, "~~")
	short := plainWords(dropInvisible(head))
	for _, f := range verdictFields {
		rest, found := cutWord(short, f.label)
		if !found {
			continue
		}
		rest = strings.TrimLeft(rest, " ")
		if rest == "" || rest[0] != '?' && rest[0] != ':' {
			continue
		}
		sure = sure && !isDeceptive(trimmed)
		whole := stripMarks(headingText(dropInvisible(trimmed)))
		_, value, _ = strings.Cut(whole, f.label)
		return f, strings.TrimLeft(value, " ?:"), sure, true
	}
	return f, "", false, false
}

// readValue reads the value of the field in line i of p. Only a sure one approves. more is the text read beyond the line.
func (f verdictField) readValue(value string, sure bool, p Page, i int) (v vote, more string) {
	if value == "" {
		next, at := nextLine(p, i)
		if value = stripMarks(next); value == "" || strings.ContainsAny(value, ":?") {
			return f.voteOfUnknown(unfilledTemplate), ""
		}
		i, more = at, " "+next
		sure = sure && !isDeceptive(next) && p.lines[at].visibility == inView
	}
	negative := strings.ContainsAny(value, "❌⛔🚫🛑✗✘👎🔴⚠✖")
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
	for _, word := range f.object {
		if rest, ok := cutWord(inner, word); ok {
			if word == "no" && nothingWrong.MatchString(inner) || strings.HasPrefix(rest, "-") && len(rest) > 1 && isAlnum(rest[1]) {
				return f.voteOfUnknown(unclear), more
			}
			return objects, more
		}
	}
	for _, word := range f.approve {
		rest, ok := cutWord(inner, word)
		if !ok {
			continue
		}
		return voteAfterYes(rest, sure, negative, p, i), more
	}
	return f.voteOfUnknown(unclear), more
}

// voteAfterYes returns the vote of a yes that is followed by rest.
func voteAfterYes(rest string, sure, negative bool, p Page, i int) vote {
	rest = strings.TrimRight(rest, " ")
	tail := strings.TrimLeftFunc(rest, isSymbol)
	switch {
	case negative:
		return yesAndNo
	case hasCondition(tail, p, i):
		return conditionalYes
	case !sure:
		return silent
	case tail == "":
		return approves
	case strings.IndexByte(".,!;:()]\"'", tail[0]) >= 0,
		strings.HasPrefix(tail, "- "), strings.HasPrefix(tail, "-- "),
		strings.HasPrefix(tail, "— "), strings.HasPrefix(tail, "– "), strings.HasPrefix(tail, "—"):
		return approves
	}
	return unclear
}

// hasCondition looks for a condition in the rest of a yes' sentence, which may go on in the next lines, and at the
// beginning of the next sentence and line.
func hasCondition(tail string, p Page, i int) bool {
	sentence, next, ended := cutSentence(tail)
	for n := 1; !ended && n <= 8 && i+n < len(p.lines); n++ {
		l := p.lines[i+n]
		text := strings.TrimSpace(l.text)
		if text == "" || l.level > 0 || l.visibility == hidden || text[0] == '|' || text[0] == '<' || strings.HasPrefix(text, "---") {
			break
		}
		if _, item := listItem(text); item {
			break
		}
		words := plainWords(text)
		if strings.HasPrefix(text, "**") || strings.HasPrefix(text, "__") || labelStart.MatchString(words) {
			break
		}
		var part string
		part, next, ended = cutSentence(words)
		sentence += " " + part
	}
	if len(sentence) > maxYesSentence || conditionWords.MatchString(sentence) ||
		conditionStart.MatchString(trimSymbols(strings.TrimLeft(next, " ([-—–:;,"))) {
		return true
	}
	text, _ := nextLine(p, i)
	text, _ = listItem(text)
	return conditionStart.MatchString(strings.TrimLeft(plainWords(text), "([ "))
}

// cutSentence cuts s after its first sentence.
func cutSentence(s string) (sentence, next string, ended bool) {
	for i := 0; i < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && (i+1 == len(s) || s[i+1] == ' ') {
			return s[:i], strings.TrimLeft(s[i+1:], " "), true
		}
	}
	return s, "", false
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
	_, _, ok := cutValue(s)
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

// toReading returns the reading of a ruling by itself.
func (r ruling) toReading() Reading {
	switch r.vote {
	case approves:
		return Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: r.detail}
	case objects:
		return Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: r.detail}
	case unfilledTemplate:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonTemplate, Detail: r.detail}
	case conditionalYes:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonConditional, Detail: r.detail}
	case yesAndNo:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: r.detail}
	case silent, unclear:
	}
	return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: r.detail}
}
