package review

// This file reads what a policy itself names: the words of a field, and whole lines, which are shapes. They are final:
// only another of them, or that nothing was read, stands against one. Any other sentence is description.

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// newNamedField returns the field of a format; nil if it names none.
func newNamedField(f quorum.Format) *namedField {
	if f.Field == "" {
		return nil
	}
	n := &namedField{label: strings.TrimRight(lowerWords(f.Field), " :?")}
	add := func(words []string, outcome quorum.Outcome, reason quorum.Reason) {
		for _, w := range words {
			got := Reading{Outcome: outcome, Reason: reason, Rule: policyOrigin + " field " + f.Field + ": " + w}
			n.words = append(n.words, namedWord{trimStatement(lowerWords(w)), got})
		}
	}
	add(f.Object, quorum.Findings, quorum.ReasonFindings)
	// It failed, and nothing says why: run again once, unless the run's log shows that this is of no use.
	add(f.None, quorum.Unknown, quorum.ReasonUnknown)
	add(f.Approve, quorum.Approved, quorum.ReasonApproved)
	slices.SortStableFunc(n.words, func(a, b namedWord) int { return cmp.Compare(len(b.text), len(a.text)) })
	return n
}

// wordShapes returns the words of a format that are whole lines as shapes.
func wordShapes(f quorum.Format) (s quorum.Shapes) {
	if f.Kind != quorum.Words || f.Field != "" {
		return s
	}
	lines := func(words []string) (all []string) {
		for _, w := range words {
			all = append(all, strings.ToLower(statementOf(w)))
		}
		return all
	}
	s.Approves, s.Objects = lines(f.Approve), lines(f.Object)
	for _, line := range lines(f.None) {
		s.Notices = append(s.Notices, quorum.NoticeShape{Line: line, Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown})
	}
	return s
}

// A WordList is the words of a format that mean the same, by their key in a policy.
type WordList struct {
	Key   string
	Words []string
}

func WordLists(f quorum.Format) [3]WordList {
	return [...]WordList{{"approve", f.Approve}, {"object", f.Object}, {"none", f.None}}
}

// CheckWord reports what is wrong with a word of a format. Its error completes the sentence that begins with the word.
func CheckWord(f quorum.Format, word string) error {
	switch {
	case word != strings.Trim(word, "^$"), strings.Contains(word, ".*"), strings.Contains(word, `\`):
		return errors.New("is an expression")
	case word == toFillIn:
		return errors.New("is still to be replaced by a word that the reviewer writes")
	case f.Field != "" && trimStatement(lowerWords(word)) == "":
		return errShapeEmpty
	case f.Field != "":
		return nil
	}
	list := listOther
	if slices.Contains(f.Approve, word) {
		list = listApproves
	}
	_, err := parseShape(strings.ToLower(statementOf(word)), list)
	return err
}

// readNamed reads a text by what its policy names. An objection wins, whatever else is said; other words that differ
// contradict each other. found is false where none of them stands in the text.
func (d *document) readNamed() (got Reading, found bool) {
	hasShapes := len(d.shapes) > 0 && d.shapes[len(d.shapes)-1].origin == policyOrigin
	for i, l := range d.lines {
		var one Reading
		switch {
		case hasShapes && d.statements[i] != "":
			_, isItem := listItem(strings.TrimSpace(l.text))
			if s, _, ok := d.shapeAt(listNotices, i, anyCount); ok && !isItem && l.visibility != quoted {
				one = s.noticeIn(l.text, i)
			} else if own := d.ruleSentence(i, l); own.vote != silent {
				one = own.toReading()
				one.NoOpen, one.Inline, one.inline = own.noOpen, own.inline, own.count
			}
			found = found || strings.HasPrefix(one.Rule, policyOrigin+" ")
		case d.field != nil && l.text != "" && (l.visibility < quoted || l.alert):
			one = d.field.readLine(d.LinedText, i)
			found = found || one.Outcome != 0
		}
		switch {
		case one.Outcome == 0, got.Outcome == quorum.Findings:
		case got.Outcome == 0, got.Outcome == one.Outcome, one.Outcome == quorum.Findings:
			one.NoOpen = one.NoOpen || got.NoOpen
			got = one
		default:
			both := shortQuote(got.Detail + " / " + one.Detail)
			got = ruling{vote: yesAndNo, detail: both, rule: one.Rule, line: i}.toReading()
		}
	}
	if got.Outcome == quorum.Findings {
		got.Findings = tallyFindings(d.LinedText).allFindings(d.reviewer.MinSeverity)
		got.Inline = got.Inline && len(got.Findings) == 0
		markBelow(got.Findings, false)
	}
	got.final = true
	return got, found
}

// readLine reads a line as the field: its outcome is 0 if it is none, or has another value.
func (n *namedField) readLine(p LinedText, i int) (got Reading) {
	label, value, at := p.fieldAt(i)
	word, isWord := n.readValue(value)
	if label != n.label || !isWord {
		return got
	}
	l, below := p.lines[i], p.lines[at]
	isSure := l.visibility == inView && below.visibility == inView && !isDeceptive(l.text+below.text)
	if word.Outcome == quorum.Approved && !isSure {
		return got
	}
	got = word
	got.Detail, got.Line = shortQuote(strings.TrimSpace(l.text)), at+1
	if at != i {
		got.Detail = shortQuote(strings.TrimSpace(l.text) + " " + below.text)
	}
	return got
}

// readValue returns what a value means that begins with one of the words. What follows an approving one is set off by a
// dash, a bracket, a colon or the end of a sentence: "APPROVE once it is fixed" is conditional, and so is "❌ APPROVE".
func (n *namedField) readValue(value string) (got Reading, ok bool) {
	bare := strings.TrimLeftFunc(value, isBeforeWord)
	w, rest, ok := n.cutNamed(bare)
	if w.Outcome != quorum.Approved {
		return w.Reading, ok
	}
	rest = strings.TrimLeft(rest, `])"'”`)
	tail := strings.TrimLeftFunc(rest, isSymbol)
	marks := value[:len(value)-len(bare)] + rest[:len(rest)-len(tail)]
	dash, size := utf8.DecodeRuneInString(tail)
	isOther := tail != "" && (!strings.ContainsRune(".:;!—–-(", dash) || dash == '-' && rest == tail)
	if !isOther && !strings.ContainsAny(marks, crosses+emptyBoxes) {
		next, _, _ := n.cutNamed(strings.TrimLeftFunc(tail[size:], isBeforeWord))
		if next.Outcome == 0 || next.Outcome == quorum.Approved {
			return w.Reading, true
		}
	}
	w.Outcome, w.Reason = quorum.Malformed, quorum.ReasonConditional
	return w.Reading, true
}

// isBeforeWord reports whether a character may stand before a value: emoji, brackets, dashes and quotation marks.
func isBeforeWord(r rune) bool { return isSymbol(r) || strings.ContainsRune(`[("'“-—`, r) }

func (n *namedField) cutNamed(value string) (w namedWord, rest string, ok bool) {
	for _, w = range n.words {
		if rest, ok = cutWord(value, w.text); ok {
			return w, rest, true
		}
	}
	return namedWord{}, "", false
}

// allFiles matches how many of how many files were read.
var allFiles = lazyRegexp(`\b(\d{1,6}) ?(?:/|of|out of) ?(?:the |all )?(\d{1,6}) ?(?:changed |modified )?files?\b`)

// isCovered reports whether a text names the commit that it is about, the head where that is known, or says that all of
// some files were read.
func isCovered(d *document, head string) bool {
	named := d.NamedCommit(d.reviewer)
	return named != "" && IsHex(named) && (head == "" || strings.HasPrefix(head, named)) ||
		slices.ContainsFunc(d.lines, func(l pageLine) bool {
			m := allFiles().FindStringSubmatch(plainWords(l.text[:min(len(l.text), maxMatchedLine)]))
			return l.visibility == inView && m != nil && m[1] == m[2] && strings.Trim(m[1], "0") != ""
		})
}
