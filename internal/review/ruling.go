package review

// This file makes one ruling of the fields of a text, and a reading of a ruling.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A ruling is what a line, or all fields or lists of a text together, say of the change. A quote goes with it.
type ruling struct {
	vote   vote
	detail string
	rule   string // the field or shape that decided, and where it is listed
	line   int    // the index of its line; of an approval the last one
	weak   bool   // it does not stand in plain view, so that it cannot approve
}

func (r ruling) toReading() Reading {
	got := votedReadings[r.vote]
	got.Detail, got.Rule, got.Line = r.detail, r.rule, r.line+1
	switch r.vote {
	case refuses:
		return r.refusal()
	case silent:
		got.Line = 0
	default:
	}
	return got
}

var votedReadings = [...]Reading{
	silent:           {Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed},
	approves:         {Outcome: quorum.Approved, Reason: quorum.ReasonApproved},
	objects:          {Outcome: quorum.Findings, Reason: quorum.ReasonFindings},
	unfilledTemplate: {Outcome: quorum.Malformed, Reason: quorum.ReasonTemplate},
	conditionalYes:   {Outcome: quorum.Malformed, Reason: quorum.ReasonConditional},
	yesAndNo:         {Outcome: quorum.Malformed, Reason: quorum.ReasonContradicts},
	unclear:          {Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed},
}

// refusal returns the reading of a field whose value says that there was no review. What stands behind it in brackets may tell why.
func (r ruling) refusal() Reading {
	_, cause, _ := strings.Cut(r.detail, "(")
	got := readLog(Material{Body: cause})
	if got.Outcome == quorum.Unknown && strings.Contains(lowerASCII(r.detail), "skipped") {
		got.Outcome, got.Reason = quorum.Declined, quorum.ReasonSkipped
	}
	got.Detail, got.Rule, got.Line = r.detail, r.rule, r.line+1
	return got
}

// maxFields is the number of fields that a text may have; one with more is no review.
const maxFields = 100

// ruleFields returns the ruling of all fields of a text. One value said twice is one, and two that differ contradict each other.
func (d *document) ruleFields() ruling {
	var yes, no, bad ruling // of each kind the one that counts
	weakYes := false        // a yes stands where it cannot approve
	seen := 0
	for i, l := range d.lines {
		if l.visibility != inView && l.visibility != doubtful || l.text == "" || len(l.text) > 64<<10 {
			continue
		}
		got := d.ruleField(i, l)
		if got.vote == silent {
			continue
		}
		got.detail = shortQuote(got.detail)
		if seen++; seen > maxFields {
			return ruling{vote: unclear, detail: got.detail, line: i}
		}
		switch {
		case got.vote == approves && got.weak:
			weakYes = true
		case got.vote == approves: // the first is quoted, and the last one's line counts
			got.detail = cmp.Or(yes.detail, got.detail)
			yes = got
		case got.vote == objects:
			no = cmp.Or(no, got)
		case bad.vote == silent || bad.vote == unclear:
			bad = got
		}
	}
	other := cmp.Or(no, bad)
	switch {
	case yes.vote != silent && (no.vote != silent || bad.vote == refuses):
		other.vote, other.detail = yesAndNo, shortQuote(yes.detail+" / "+other.detail)
		return other
	case no.vote != silent && no.weak && weakYes: // a prompt lists the values to choose from
		no.vote = unfilledTemplate
		return no
	}
	return cmp.Or(other, yes)
}

// ruleField returns the ruling of the field in line i; silent if there is none.
func (d *document) ruleField(i int, l pageLine) ruling {
	text := strings.TrimSpace(l.text)
	got := ruling{detail: text, line: i, weak: l.visibility != inView || strings.Contains(text, " style=")}
	second, isPair := "", false // two fields in one line must both say yes
	if !strings.HasPrefix(text, "|") {
		l.text, second, isPair = strings.Cut(l.text, " | **")
	}
	f, value, sure, ok := parseField(l)
	if !ok && isPair { // "**Risk:** low | **Verdict:** no": it cannot approve there
		l.text, isPair = "**"+second, false
		f, value, _, ok = parseField(l)
	}
	if !ok {
		return d.ruleHeading(got, l, text)
	}
	got.rule, got.weak = "field: "+f.label, got.weak || !sure
	if value == "" {
		if f.inLine {
			return ruling{}
		}
		next, at := nextLine(d.LinedText, i)
		value = stripMarks(headingText(next))
		bare := trimSymbols(value)
		isAnswer := beginsWithRejection(bare) || beginsWithOneOf(refusedWords, bare)
		if value == "" || strings.ContainsAny(value, ":?") && !isAnswer {
			got.vote = f.voteOfUnknown(unfilledTemplate)
			return got
		}
		got.weak = got.weak || isDeceptive(next) || d.lines[at].visibility != inView || strings.Contains(next, "~")
		got.detail, got.line = text+" "+next, at
	}
	got.vote = f.voteOf(value)
	f, value, _, _ = parseField(pageLine{text: "**" + second})
	if isPair && got.vote == approves && f.voteOf(value) != approves {
		got.vote = unclear
	}
	return got
}

// ruleHeading returns the ruling of a heading, or a line in bold, that is a value by itself: "# NEEDS CHANGES", "## ✅ APPROVED",
// "## Round 2 — APPROVED"; and of a line that is nothing but a word that objects: "NACK".
func (d *document) ruleHeading(got ruling, l pageLine, text string) ruling {
	text = text[:min(len(text), 400)]
	strong := l.level > 0 || strings.HasPrefix(strings.TrimLeftFunc(text, isSymbol), "**")
	parts := strings.Split(strings.ReplaceAll(plainWords(text), " – ", " — "), " — ")
	for n, part := range parts {
		if word, ok := rejectingUnit(trimSymbols(part), strong); ok && (n == 0 || strong) {
			got.vote, got.rule = objects, "field: "+word
			return got
		}
	}
	last := trimStatement(parts[len(parts)-1])
	isOther := func(part string) bool { return !roundName().MatchString(trimSymbols(part)) }
	isValue := (last == "approved" || last == "lgtm") && !slices.ContainsFunc(parts[:len(parts)-1], isOther)
	if l.level > 0 && isValue && !isDeceptive(text) && !strings.ContainsAny(text, crosses+emptyBoxes+"~`") {
		got.vote, got.rule = approves, "field: heading"
		return got
	}
	return ruling{}
}

// roundName matches what may stand before a value in a heading: "Round 2 — APPROVED".
var roundName = lazyRegexp(`^(?:(?:code |ai |final )?(?:review|round|pass|attempt|iteration))(?: ?#?\d+)?$`)

// rejectingUnit recognises a word that objects and is the whole of a line, or begins a heading or a line in bold.
func rejectingUnit(words string, strong bool) (word string, ok bool) {
	words = strings.ToLower(words)
	for _, w := range rejectedWords {
		rest, found := cutWord(words, w)
		if !found || slices.Contains(sectionWords, w) {
			continue
		}
		rest = trimSymbols(strings.TrimLeft(trimSymbols(rest), " "))
		for _, more := range [...]string{"yet", "to merge", "for merge", "to be merged"} {
			rest = strings.TrimLeft(strings.TrimPrefix(rest, more), " ")
		}
		if strings.Trim(rest, ".!") == "" || rest[0] == ':' || strong && strings.ContainsAny(rest[:1], ".!,-(") {
			return w, true
		}
	}
	return "", false
}
