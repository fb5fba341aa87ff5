package review

// This file reads the field in which a template has its verdict: "Ready to merge? Yes | No | With fixes" and its
// siblings. A field is a line of its own. It is read strictly where it would approve: prompts teach models such
// templates, and they hand back half of them.

import (
	"regexp"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// vote is what one field says.
type vote uint8

const (
	silent    vote = iota // nothing
	approves              // a clear yes
	objects               // a clear no
	template              // unfilled
	condition             // yes, if
	both                  // yes and no
	unclear               // something else
)

// ruling is what all fields of a text say together.
type ruling struct {
	vote   vote
	detail string
}

// a field's label, with the words that are its values. Others than these are unclear, and none of its business where
// the label is an everyday word.
type field struct {
	label   string
	approve []string
	object  []string
	loose   bool // an unknown value is no verdict at all
}

var (
	yesNo    = []string{"yes"}
	approved = []string{"approved", "approve"}
	noFixes  = []string{"with fixes", "with changes", "no", "not yet", "not ready"}
	rejected = []string{"request changes", "requests changes", "changes requested", "changes required", "changes needed", "request_changes", "changes_requested", "revise", "rethink", "rejected", "reject", "issues found", "needs fixes", "needs changes", "needs work", "needs revision", "with fixes", "not approved", "do not merge", "block", "blocked", "no"}
	fields   = []field{
		{label: "ready to merge", approve: yesNo, object: noFixes},
		{label: "final verdict", approve: approved, object: rejected},
		{label: "overall verdict", approve: approved, object: rejected},
		{label: "review verdict", approve: approved, object: rejected},
		{label: "verdict", approve: approved, object: rejected},
		{label: "review status", approve: approved, object: rejected, loose: true},
		{label: "status", approve: approved, object: rejected, loose: true},
		{label: "task quality", approve: approved, object: rejected},
	}
	values = []string{"with fixes", "yes", "no", "approved", "approve", "request changes", "changes requested", "revise", "rethink", "rejected", "reject", "issues found", "needs fixes", "needs work", "needs changes", "comment", "block"}
)

// What makes a yes conditional, anywhere in its sentence.
var conditional = regexp.MustCompile(`\b(?:if|once|after|when|whenever|unless|provided|providing|assuming|pending|except|excepting|but|until|till|however|though|although|albeit|conditional\w*|contingent|subject to|as long as|so long as|barring|apart from|aside from|other than|must|needs?|should|not(?:$| yet| ready| really)|i say no|do not|don't|cannot|can't|and no|(?:fix|address|resolve|update|add|rebase) .{0,60}\bfirst|first (?:fix|address|resolve)|(?:fixes|changes|work) (?:are |is )?(?:needed|required|remain)|with (?:\w+[ -]){0,3}(?:fix|fixes|change|changes|caveats?|reservations?|conditions?|suggestions?|nits?|modifications?|tweaks?|follow-?ups?|adjustments?|corrections?|exceptions?))(?:\b|$)`)

// And what makes it one at the beginning of the next sentence.
var conditionFirst = regexp.MustCompile(`^(?:(?:no|not|nope)(?:$|[.,;:!])|not really|i say no|but|if|once|after|unless|provided|assuming|pending|except|however|only|as long as|on condition|conditional)(?:\b|$| )`)

// maxFields is how many fields a text may have; one with more is no review.
const maxFields = 100

// maxSentence is how long the sentence of a yes may be; a longer one was not written as a verdict.
const maxSentence = 2000

// A label of the next field ends a sentence that goes on over the end of its line.
var nextLabel = regexp.MustCompile(`^[a-z][a-z /-]{0,40}[:?]`)

// A refusal in small letters: "no issues" behind "Ready to merge?" says nothing about merging.
var noThing = regexp.MustCompile(`^no (?:\w+ ){0,2}(?:issues?|blockers?|concerns?|problems?|objections?|findings?|comments?|reason|verdict|changes?)\b`)

// rule reads all fields of p.
func rule(p Page) ruling {
	var yes, no, bad ruling
	seen := 0
	for i, l := range p.lines {
		if l.sight != inView && l.sight != doubtful || l.text == "" || len(l.text) > 64<<10 {
			continue
		}
		f, value, sure, ok := fieldOf(l.text)
		if !ok {
			continue
		}
		if seen++; seen > maxFields {
			return ruling{vote: unclear, detail: quote(l.text)}
		}
		v, detail := f.read(value, sure && l.sight == inView, p, i)
		got := ruling{vote: v, detail: quote(strings.TrimSpace(l.text + detail))}
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
		case template, condition, both, unclear:
			if bad.vote == silent || bad.vote == unclear {
				bad = got
			}
		}
	}
	switch {
	case yes.vote != silent && no.vote != silent:
		return ruling{vote: both, detail: quote(yes.detail + " / " + no.detail)}
	case no.vote != silent:
		return no
	case bad.vote != silent:
		return bad
	}
	return yes
}

// fieldOf recognises a line that is a field. It is not sure of one in code, struck out or with letters that deceive.
func fieldOf(text string) (f field, value string, sure, ok bool) {
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
	if bare := lower(visible(head)); !strings.Contains(bare, "merge") && !strings.Contains(bare, "verdict") && !strings.Contains(bare, "status") && !strings.Contains(bare, "quality") {
		return f, "", false, false
	}
	sure = trimmed[0] != '`' && !strings.Contains(trimmed, "~~")
	short := plain(visible(head))
	for _, f := range fields {
		rest, found := after(short, f.label)
		if !found {
			continue
		}
		rest = strings.TrimLeft(rest, " ")
		if rest == "" || rest[0] != '?' && rest[0] != ':' {
			continue
		}
		sure = sure && !tricky(trimmed)
		whole := unmarked(headingText(visible(trimmed)))
		_, value, _ = strings.Cut(whole, f.label)
		return f, strings.TrimLeft(value, " ?:"), sure, true
	}
	return f, "", false, false
}

// read reads a field's value, which stands in line i of p. Only a sure one approves. More is what was read beyond the line.
func (f field) read(value string, sure bool, p Page, i int) (v vote, more string) {
	if value == "" {
		next, at := following(p, i)
		if value = unmarked(next); value == "" || strings.ContainsAny(value, ":?") {
			return f.unknown(template), ""
		}
		i, more = at, " "+next
		sure = sure && !tricky(next) && p.lines[at].sight == inView
	}
	negative := strings.ContainsAny(value, "❌⛔🚫🛑✗✘👎🔴⚠✖")
	value = trimSymbols(value)
	inner := value
	if open := strings.IndexByte(`[("'`, first(value)); open >= 0 {
		if end := strings.IndexByte(value[1:], `])"'`[open]); end >= 0 {
			inner = trimSymbols(value[1:1+end]) + value[2+end:]
			if value[0] == '[' && !begins(inner) {
				return f.unknown(template), more
			}
		}
	}
	switch {
	case enumerates(inner):
		return template, more
	case strings.ContainsAny(inner, "{}|"), strings.HasPrefix(inner, "<"), strings.HasPrefix(inner, "..."), strings.HasPrefix(inner, "…"), inner == "n", inner == "tbd", inner == "todo":
		return f.unknown(template), more
	}
	for _, word := range f.object {
		if rest, ok := after(inner, word); ok {
			if word == "no" && noThing.MatchString(inner) || strings.HasPrefix(rest, "-") && len(rest) > 1 && isAlnum(rest[1]) {
				return f.unknown(unclear), more
			}
			return objects, more
		}
	}
	for _, word := range f.approve {
		rest, ok := after(inner, word)
		if !ok {
			continue
		}
		return affirms(rest, sure, negative, p, i), more
	}
	return f.unknown(unclear), more
}

// affirms reads what stands behind a yes.
func affirms(rest string, sure, negative bool, p Page, i int) vote {
	rest = strings.TrimRight(rest, " ")
	tail := strings.TrimLeftFunc(rest, isSymbol)
	switch {
	case negative:
		return both
	case hasCondition(tail, p, i):
		return condition
	case !sure:
		return silent
	case tail == "":
		return approves
	case strings.IndexByte(".,!;:()]\"'", tail[0]) >= 0,
		strings.HasPrefix(tail, "- "), strings.HasPrefix(tail, "-- "), strings.HasPrefix(tail, "— "), strings.HasPrefix(tail, "– "), strings.HasPrefix(tail, "—"):
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
		if text == "" || l.level > 0 || l.sight == hidden || text[0] == '|' || text[0] == '<' || strings.HasPrefix(text, "---") {
			break
		}
		if _, item := listItem(text); item {
			break
		}
		words := plain(text)
		if strings.HasPrefix(text, "**") || strings.HasPrefix(text, "__") || nextLabel.MatchString(words) {
			break
		}
		var part string
		part, next, ended = cutSentence(words)
		sentence += " " + part
	}
	if len(sentence) > maxSentence || conditional.MatchString(sentence) || conditionFirst.MatchString(trimSymbols(strings.TrimLeft(next, " ([-—–:;,"))) {
		return true
	}
	text, _ := following(p, i)
	text, _ = listItem(text)
	return conditionFirst.MatchString(strings.TrimLeft(plain(text), "([ "))
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

// following is the next line of p after i that is not blank, and where it is.
func following(p Page, i int) (text string, at int) {
	for n := i + 1; n < len(p.lines) && n <= i+4; n++ {
		l := p.lines[n]
		if l.sight == hidden || l.sight == quoted {
			return "", n
		}
		if text := strings.TrimSpace(l.text); text != "" {
			return text, n
		}
	}
	return "", i
}

// unknown is what a value that is none of f's comes to.
func (f field) unknown(v vote) vote {
	if f.loose {
		return silent
	}
	return v
}

// begins reports whether s begins with a word that some field may have as its value.
func begins(s string) bool {
	_, _, ok := cutValue(s)
	return ok
}

// enumerates reports whether s lists values instead of having one: "yes | no", "approve/revise", "yes, no, with fixes".
func enumerates(s string) bool {
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
	for _, word := range values {
		if rest, ok := after(s, word); ok {
			return word, rest, true
		}
	}
	return "", s, false
}

// first is the first byte of s, 0 if there is none.
func first(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

// reading turns a ruling that is no objection into an outcome.
func (r ruling) reading() Reading {
	switch r.vote {
	case approves:
		return Reading{Outcome: quorum.Approved, Reason: quorum.ReasonApproved, Detail: r.detail}
	case objects:
		return Reading{Outcome: quorum.Findings, Reason: quorum.ReasonFindings, Detail: r.detail}
	case template:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonTemplate, Detail: r.detail}
	case condition:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonConditional, Detail: r.detail}
	case both:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts, Detail: r.detail}
	case silent, unclear:
	}
	return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: r.detail}
}
