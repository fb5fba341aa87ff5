package review

// This file reads the field in which a template has its verdict: "Ready to merge? Yes | No | With fixes" and its
// siblings. A yes is read only if it stands alone in its line; a no is read with whatever follows it.

import (
	"slices"
	"strings"
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
func ruleFields(p LinedText) ruling {
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
func (f verdictField) readValue(value string, sure bool, p LinedText, i int) (v vote, more string) {
	if value == "" {
		next, at := nextLine(p, i)
		value = stripMarks(headingText(next))
		if no := beginsWithRejection(trimSymbols(value)); value == "" || strings.ContainsAny(value, ":?") && !no {
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
				f.loose && trimStatement(rest) != "" && !strings.Contains(inner, "merge") &&
					(word == "fix" || word == "address" || word == "hold") {
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

// beginsWithRejection reports whether a value begins with a word that objects.
func beginsWithRejection(value string) bool {
	return slices.ContainsFunc(rejectedWords, func(word string) bool { _, ok := cutWord(value, word); return ok })
}

// voteAfterYes returns the vote of a yes that is followed by rest in its line.
func voteAfterYes(rest string, sure, negative bool, p LinedText, i int) vote {
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
func isTakenBackBelow(p LinedText, i int) bool {
	text, _ := nextLine(p, i)
	text, _ = listItem(text)
	return conditionStart().MatchString(strings.ToLower(strings.TrimLeft(plainWords(text[:min(len(text), 200)]), "([ ")))
}

// nextLine returns the first line of p after i that is not blank, and its index.
func nextLine(p LinedText, i int) (text string, at int) {
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
	return beginsWithRejection(s)
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
