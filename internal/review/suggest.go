package review

// This file proposes the row of a vendor's file, or of a policy, by which a text that nobody understood would be: the shape of
// the line that tells most. A person decides whether the text is what its writer says when all is well.

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A Suggestion is a row to add.
type Suggestion struct {
	Shapes quorum.Shapes // with the one shape, in the list in which it most likely belongs
	List   string        // that list's name: counts for a line that counts findings, notices, objects, or approves
	Shape  string
	Line   int // of the text, counted from 1
}

const (
	maxSuggestedWords = 14 // a longer line is prose, which no two answers have in common
	suggestedOfLines  = 60 // how many lines with words are looked at
)

// troubleWords stand in lines that say why there is no review.
var troubleWords = [...]string{
	"error", "errors", "errored", "failed", "failure", "limit", "limited", "limits", "quota", "unavailable", "overloaded", "timeout",
	"timed",
	"skipped", "skipping", "unable", "exceeded", "credit", "credits", "eligible", "disabled", "paused", "cancelled", "expired",
}

// opposingWords stand in lines by which a reviewer objects, or takes back what it says otherwise.
var opposingWords = [...]string{
	"not", "cannot", "can't", "don't", "won't", "isn't", "aren't", "doesn't", "shouldn't", "until", "unless", "but", "however", "before",
	"should", "must", "needs", "need", "please", "fix", "reject", "rejected", "requested", "request", "blocked", "blocking",
	"fail", "fails", "failing", "could", "couldn't", "would", "had", "broken", "bug", "bugs", "wrong", "left", "some", "minor", "if",
	"once", "after",
}

// tellingWords stand in lines that say how a review ended.
var tellingWords = [...]string{
	"approve", "approval", "lgtm", "looks good", "look good", "looks great", "look great", "looks right", "look right", "all good",
	"all clear", "all well", "well done", "ship it", "clean", "no issue", "no problem", "no finding", "no bug", "no comment", "no concern",
	"no blocker",
	"nothing", "none", "pass", "ready", "safe to merge", "mergeable", "verdict", "result", "conclusion", "recommend", "outcome", "issues",
	"findings", "problems", "reject", "changes requested", "request changes",
}

// Suggest proposes the row for a text: of the lines in plain view the one that most likely says how its review ended.
func (r *Reader) Suggest(body string) (best Suggestion, found bool) {
	d := r.newDocument(ReadLines(body[:min(len(body), MaxText)]))
	bestScore, seen := 0, 0
	for i, l := range d.lines {
		words := d.statements[i]
		if words == "" || l.visibility != inView || l.folded || isDeceptive(l.text) || strings.ContainsFunc(words, unicode.IsControl) {
			continue
		}
		if seen++; seen > suggestedOfLines {
			break
		}
		text := strings.TrimSpace(l.text)
		isOwnHeading := l.level > 0 && r.reviewer.Heading != "" && ReadLines(text).HasHeading(r.reviewer.Heading)
		if !maySayHowItEnded(text, words) || isOwnHeading {
			continue
		}
		one, usable := suggestRow(text, l.level > 0)
		if !usable {
			continue
		}
		if score := tellingScore(words, l.level > 0 || boldLine(text)) + one.bonus(); score > bestScore {
			best, bestScore, found = one, score, true
			best.Line = i + 1
		}
	}
	return best, found
}

// maySayHowItEnded reports whether a line can be an answer's last word: it is no item of a list, no row, no beginning of
// something else, and no prose.
func maySayHowItEnded(text, words string) bool {
	_, item := listItem(text)
	first, _ := utf8.DecodeRuneInString(words)
	return !item && (unicode.IsLetter(first) || unicode.IsDigit(first)) && strings.IndexByte(":,[{(", text[len(text)-1]) < 0 &&
		strings.Count(words, " ") < maxSuggestedWords && !strings.HasPrefix(words, "reviewed commit")
}

// tellingScore says how likely a line says how its review ended, from 1 on. The title of a text does not.
func tellingScore(words string, strong bool) (score int) {
	score = 1
	if slices.ContainsFunc(tellingWords[:], func(w string) bool { return strings.Contains(words, w) }) {
		score += 4
		if strong {
			score += 2
		}
	} else if !strong && strings.Count(words, " ") >= 2 { // a sentence
		score++
	}
	return score
}

// bonus makes a line that counts its findings tell more than another.
func (s Suggestion) bonus() int {
	if s.List == shapeListNames[listCounts] {
		return 3
	}
	return 0
}

// suggestRow returns the row for a line, if a shape of it may stand there.
func suggestRow(text string, heading bool) (s Suggestion, usable bool) {
	source := shapeOf(text)
	if heading {
		source = "# " + source
	}
	words := strings.FieldsFunc(statementOf(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	anyOf := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	counting, counts := asCount(source)
	list := listApproves
	switch {
	case counts:
		s.Shape, list, s.Shapes.Counts = counting, listCounts, []string{counting}
	case anyOf(troubleWords[:]):
		notice := quorum.NoticeShape{Line: source, Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown}
		s = Suggestion{List: "notices", Shape: source, Shapes: quorum.Shapes{Notices: []quorum.NoticeShape{notice}}}
		return s, CheckShapes(s.Shapes) == nil
	case anyOf(opposingWords[:]):
		s.Shape, list, s.Shapes.Objects = source, listObjects, []string{source}
	default:
		s.Shape, s.Shapes.Approves = source, []string{source}
	}
	s.List = shapeListNames[list]
	return s, CheckShapes(s.Shapes) == nil
}

// asCount returns a shape with {count} in place of its only number of findings: zero approves, and more objects.
func asCount(source string) (counting string, counts bool) {
	for _, number := range [...]string{"{some}", "0", "no", "zero"} {
		for from := 0; ; {
			at := strings.Index(source[from:], number)
			if at < 0 {
				break
			}
			at += from
			from = at + len(number)
			before, after := source[:at], source[from:]
			isWord := (at == 0 || !isAlnum(source[at-1])) && (after == "" || !isAlnum(after[0]))
			if !isWord || !countsFindings(before+"{some}"+after) || countsFindings(before+after) {
				continue
			}
			return source[:at] + "{count}" + source[from:], true
		}
	}
	return "", false
}

// changing matches what changes from one answer to the next: commits, durations, accounts and numbers.
var changing = lazyRegexp(`\b(?:(` + sha + `)\b|(` + duration + `)|(` + someNumber + `))|(@` + login + `)`)

// shapeOf returns the shape of a line: its words, with holes for what changes from one answer to the next.
func shapeOf(text string) string {
	s := statementOf(text)
	noText := strings.NewReplacer("{", "\x00", "}", "\x00", "|", "\x00")
	if !bracketsArePlain(s) {
		noText = strings.NewReplacer("{", "\x00", "}", "\x00", "|", "\x00", "(", "\x00", ")", "\x00")
	}
	holed := changing().ReplaceAllStringFunc(noText.Replace(s), func(found string) string {
		switch digits, letters := strings.ContainsAny(found, "0123456789"), strings.ContainsAny(found, "abcdefghijklmnopqrstuvwxyz"); {
		case found[0] == '@':
			return "{login}"
		case !digits:
			return found
		case !letters && strings.Trim(found, "0,") == "":
			return found
		case !letters:
			return "{some}"
		case strings.Trim(found, "0123456789abcdef") == "" && len(found) >= 7:
			return "{sha}"
		default:
			return "{duration}"
		}
	})
	return strings.ReplaceAll(holed, "\x00", "{any}")
}

// bracketsArePlain reports whether every bracket of s has its other half, not too deep: then they stand for themselves.
func bracketsArePlain(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			if depth > 0 { // it would be a choice
				return false
			}
		}
		if depth < 0 || depth > maxShapeDepth {
			return false
		}
	}
	return depth == 0
}
