package review

// This file proposes the row of a vendor's file, or of a policy, by which a text that nobody understood would be: the shape of
// the line that tells most. A person decides whether the text is what its writer says when all is well.

import (
	"fmt"
	"slices"
	"strconv"
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

var (
	// troubleWords stand in lines that say why there is no review.
	troubleWords = lazyRegexp(`\b(?:error(?:s|ed)?|fail(?:ed|ure)|limit(?:s|ed)?|quota|unavailable|overloaded` +
		`|time(?:out|d)|skipp(?:ed|ing)|unable|exceeded|credits?|eligible|disabled|paused|cancelled|expired)\b`)
	// opposingWords stand in lines by which a reviewer objects, or takes back what it says otherwise.
	opposingWords = lazyRegexp(`\b(?:not|cannot|[a-z]+n't|until|unless|but|however|before|should|must|needs?|please|fix` +
		`|reject(?:ed)?|request(?:ed)?|block(?:ed|ing)|fail(?:s|ing)?|could|would|had|broken|bugs?|wrong|left|some|minor|if|once|after)\b`)
	// tellingWords stand in lines that say how a review ended.
	tellingWords = lazyRegexp(`approv|lgtm|looks? (?:good|great|right)|all (?:good|clear|well)|well done|ship it|clean` +
		`|no (?:issue|problem|finding|bug|comment|concern|blocker)|nothing|none|pass|ready|mergeable|verdict|result` +
		`|safe to merge|conclusion|recommend|outcome|issues|findings|problems|reject|changes requested|request changes`)
)

var decisiveLabel = lazyRegexp(`verdict|decision|recommendation|result|status|quality|conclusion|outcome|assessment|rating|approval|merge`)

// SuggestField proposes the verdict format that reads a text with one lone field: its label and its word, in the list
// in which it most likely belongs.
func (r *Reader) SuggestField(body string) (f quorum.Format, line int, found bool) {
	own := r.reviewer
	own.Shapes = quorum.Shapes{}
	d := r.newDocument(ReadLines(body[:min(len(body), MaxText)]))
	for i, l := range d.lines {
		label, word := fieldIn(d.LinedText, i)
		if label == "" || l.visibility != inView || isDeceptive(l.text) || isDeceptive(word) {
			continue
		}
		if found && !strings.EqualFold(f.Field, label) {
			return quorum.Format{}, 0, false
		}
		f, line, found = formatOf(label, word), i+1, true
		// As a word that objects: one that is read is final, whatever it means.
		own.Verdict = quorum.Format{Kind: quorum.Words, Field: label, Object: []string{word}}
	}
	return f, line, found && Read(own, Material{Kind: Check, Body: body}).final // as a text without a heading of its own
}

// fieldIn returns the label and the first words of the value of line i, where it is a field that may hold a verdict.
func fieldIn(p LinedText, i int) (label, word string) {
	label, value, at := p.fieldAt(i)
	if end := strings.IndexAny(value, ".:;,!—–(["); end >= 0 {
		value = value[:end]
	}
	value, _, _ = strings.Cut(value, " - ")
	word = strings.TrimSpace(trimSymbols(value))
	if word == "" || strings.Count(word, " ") > 2 || strings.Count(label, " ") > 3 ||
		!decisiveLabel().MatchString(label) {
		return "", ""
	}
	return asWritten(p.lines[i].text, label), asWritten(p.lines[at].text, word)
}

// asWritten returns words in small letters as they stand in a line, if they stand there whole.
func asWritten(line, words string) string {
	low := strings.ToLower(line)
	if at := strings.Index(low, words); at >= 0 && len(low) == len(line) {
		return line[at : at+len(words)]
	}
	return words
}

// formatOf returns the format of a field with one word; where no word of a list is known, that is to be filled in.
func formatOf(label, word string) quorum.Format {
	f := quorum.Format{Kind: quorum.Words, Field: label, Approve: []string{toFillIn}, Object: []string{toFillIn}}
	said := plainWords(word)
	switch {
	case opposingWords().MatchString(said) || beginsWithRejection(said):
		f.Object = []string{word}
	case tellingWords().MatchString(said) || slices.Contains([]string{"yes", "ok", "accept", "accepted"}, said):
		f.Approve = []string{word}
	case troubleWords().MatchString(said) || beginsWithOneOf(refusedWords, said):
		f.None = []string{word}
	default: // nobody knows what it means: nothing is proposed to approve by it
		f.None = []string{toFillIn}
	}
	return f
}

// toFillIn stands in a row where a person must write what no text has shown.
const toFillIn = "FILL IN"

// VerdictRow returns a format of words as the line of a policy.
func VerdictRow(f quorum.Format) string {
	row := "verdict: {field: " + strconv.Quote(f.Field)
	for _, list := range WordLists(f) {
		if len(list.Words) > 0 {
			row += fmt.Sprintf(", %s: [%s]", list.Key, strconv.Quote(list.Words[0]))
		}
	}
	return row + "}"
}

// Suggest proposes the row for a text: of the lines in plain view the one that most likely says how its review ended.
func (r *Reader) Suggest(body string) (best Suggestion, found bool) {
	d := r.newDocument(ReadLines(body[:min(len(body), MaxText)]))
	bestScore, seen := 0, 0
	for i, l := range d.lines {
		words := d.statements[i]
		if words == "" || l.visibility != inView || l.folded || isDeceptive(l.text) ||
			strings.ContainsAny(words, "{|}") || strings.ContainsFunc(words, unicode.IsControl) {
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
		score := tellingScore(words, l.level > 0 || boldLine(text))
		if one.Shapes.Counts != nil { // a line that counts its findings tells more
			score += 3
		}
		if score > bestScore {
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
	return !item && (unicode.IsLetter(first) || unicode.IsDigit(first)) &&
		strings.IndexByte(":,[{(", text[len(text)-1]) < 0 &&
		strings.Count(words, " ") < maxSuggestedWords && !strings.HasPrefix(words, "reviewed commit")
}

// tellingScore says how likely a line says how its review ended, from 1 on. The title of a text does not.
func tellingScore(words string, strong bool) int {
	isTelling := tellingWords().MatchString(words)
	switch {
	case isTelling && strong:
		return 7
	case isTelling:
		return 5
	case !strong && strings.Count(words, " ") >= 2: // a sentence
		return 2
	}
	return 1
}

// suggestRow returns the row for a line, if a shape of it may stand there.
func suggestRow(text string, heading bool) (s Suggestion, usable bool) {
	source, words := shapeOf(text), statementOf(text)
	if heading {
		source = "# " + source
	}
	s.Shape = source
	counting, counts := asCount(source)
	switch {
	case counts:
		s.List, s.Shape, s.Shapes.Counts = "counts", counting, []string{counting}
	case troubleWords().MatchString(words):
		notice := quorum.NoticeShape{Line: source, Outcome: quorum.Unknown, Reason: quorum.ReasonUnknown}
		s.List, s.Shapes.Notices = "notices", []quorum.NoticeShape{notice}
	case opposingWords().MatchString(words):
		s.List, s.Shapes.Objects = "objects", []string{source}
	default:
		s.List, s.Shapes.Approves = "approves", []string{source}
	}
	return s, CheckShapes(s.Shapes) == nil
}

// asCount returns a shape with {count} in place of its only number of findings: zero approves, and more objects.
func asCount(source string) (counting string, counts bool) {
	for _, at := range aCount().FindAllStringIndex(source, -1) {
		before, after := source[:at[0]], source[at[1]:]
		if countsFindings(before+"{some}"+after) && !countsFindings(before+after) {
			return before + "{count}" + after, true
		}
	}
	return "", false
}

var aCount = lazyRegexp(`\{some\}|\b(?:0|no|zero)\b`)

// shapeOf returns the shape of a line: its words, with holes for what changes.
func shapeOf(text string) string {
	s := commitID().ReplaceAllStringFunc(statementOf(text), func(word string) string {
		if strings.Trim(word, "0123456789") == "" || strings.Trim(word, "abcdef") == "" {
			return word
		}
		return "{sha}"
	})
	s = aDuration().ReplaceAllString(s, "{duration}")
	s = anAccount().ReplaceAllString(s, "{login}")
	return aNumber().ReplaceAllString(s, "{some}")
}

// What changes from one answer to the next.
var (
	commitID  = lazyRegexp(`\b` + sha + `\b`)
	aDuration = lazyRegexp(`\b` + duration)
	anAccount = lazyRegexp(`@` + login)
	aNumber   = lazyRegexp(`\b` + someNumber)
)
