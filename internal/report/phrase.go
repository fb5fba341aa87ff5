package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What a page says is put together from our own words and from what strangers chose. A phrase keeps the two apart, so
// that each place where it is shown, Markdown, a terminal or HTML, makes a stranger's words harmless in its own way.

// A Phrase is a sentence or a part of one.
type Phrase []Span

// A Span is a piece of a phrase.
type Span struct {
	Text string   `json:"text"`           // on one line
	From SpanFrom `json:"from,omitempty"` // whose words they are
	URL  string   `json:"url,omitempty"`  // leads to a page of the repository, of the docs or of the dashboard
}

// SpanFrom says whose words a span holds.
type SpanFrom string

const (
	FromUs      SpanFrom = ""      // our own: plain text, safe everywhere
	FromName    SpanFrom = "name"  // of a reviewer, an account or a branch; hostile
	FromWriting SpanFrom = "quote" // a path, a log, what a reviewer wrote, a command to type: to be shown as code; hostile
)

// The longest spans of strangers that a page holds, in characters.
const (
	maxNameRunes  = 100
	maxQuoteRunes = 240
)

func wordsPhrase(format string, a ...any) Phrase { return Phrase{{Text: fmt.Sprintf(format, a...)}} }

func namePhrase(s string) Phrase {
	return Phrase{{Text: clipRunes(oneLine(s), maxNameRunes), From: FromName}}
}

func namesOf(names []string) (all []Phrase) {
	for _, name := range names {
		all = append(all, namePhrase(name))
	}
	return all
}

func quotePhrase(s string) Phrase {
	return Phrase{{Text: clipRunes(oneLine(s), maxQuoteRunes), From: FromWriting}}
}

// fillPhrase returns the words of a format with phrases in the places of its %s. What stands between backticks is shown
// as code.
func fillPhrase(format string, parts ...Phrase) (p Phrase) {
	for _, part := range parts {
		words, rest, _ := strings.Cut(format, "%s")
		format = rest
		p = slices.Concat(p, codedPhrase(words), part)
	}
	p = slices.Concat(p, codedPhrase(format))
	return slices.DeleteFunc(p, func(s Span) bool { return s.Text == "" && s.From == FromUs })
}

// codedPhrase returns words of ours, with what stands between backticks as code.
func codedPhrase(words string) (p Phrase) {
	for i, part := range strings.Split(words, "`") {
		s := Span{Text: part}
		if i%2 == 1 {
			s.From = FromWriting
		}
		p = append(p, s)
	}
	return p
}

// linkPhrase returns p as a link to a page of the repository; without one where url is none.
func linkPhrase(pr quorum.PR, p Phrase, url string) Phrase {
	if !isRepositoryPage(pr, url) {
		return p
	}
	p = slices.Clone(p)
	for i := range p {
		p[i].URL = url
	}
	return p
}

// joinPhrases joins phrases as a sentence does; of many it names the first ones.
func joinPhrases(all []Phrase) Phrase { return joinPhrasesBy("and", all, 10) }

// joinPhrasesBy joins phrases by commas and a last word; of more than most it names the first ones.
func joinPhrasesBy(word string, all []Phrase, most int) (p Phrase) {
	for i, one := range all {
		switch {
		case i == most:
			return append(p, Span{Text: fmt.Sprintf(" %s %d more", word, len(all)-most)})
		case i > 0 && i == len(all)-1:
			p = append(p, Span{Text: " " + word + " "})
		case i > 0:
			p = append(p, Span{Text: ", "})
		}
		p = append(p, one...)
	}
	return p
}

// objectionsOf returns "the objection of gemini", of several "the objections of gemini and kim".
func objectionsOf(names []Phrase) Phrase {
	if len(names) == 1 {
		return fillPhrase("the objection of %s", names[0])
	}
	return fillPhrase("the objections of %s", joinPhrases(names))
}

// Plain shows p on one line of a terminal or a log: no control character of a stranger's gets there, and no words of his
// that read like ours.
func (p Phrase) Plain() string {
	var b strings.Builder
	for _, s := range p {
		text := s.Text
		if s.From != FromUs {
			text = plainLine(text, maxQuoteRunes)
		}
		if s.From == FromWriting && strings.Contains(text, " ") {
			text = `"` + strings.ReplaceAll(text, `"`, "'") + `"`
		}
		b.WriteString(text)
	}
	return plainLine(b.String(), maxOneLine)
}

// Markdown shows p in prose or in the cell of a table, where no word of a stranger's does anything.
func (p Phrase) Markdown() string {
	var b strings.Builder
	for i := 0; i < len(p); {
		end, url := i, p[i].URL
		var part strings.Builder
		for ; end < len(p) && p[end].URL == url; end++ {
			part.WriteString(p[end].markdown())
		}
		if i = end; url == "" {
			b.WriteString(part.String())
		} else {
			fmt.Fprintf(&b, "[%s](%s)", part.String(), url)
		}
	}
	return b.String()
}

func (s Span) markdown() string {
	switch s.From {
	case FromUs:
		return s.Text
	case FromName:
		return quoteName(s.Text)
	default:
		return Quote(s.Text)
	}
}
