package report

import (
	"fmt"
	"slices"
	"strings"
)

// The summary shows the page in this order: the verdict, what people can do, the findings, who voted what, what happens
// next; folded, how it got here; and by which rules. It is written in pieces that are whole Markdown each, so that where
// there is no room for one, nothing is left open.

const noRoomNote = "\n\n_More does not fit here; the whole decision stands in the details._"

// summaryFindings is how many findings the summary shows: the rest stands in the details.
const summaryFindings = 5

// The headings of lists.
const (
	headingRules = "Which rules hold here"
	headingHeard = "What people asked for"
	headingNext  = "What happens next"
)

// summaryBuilder collects pieces of the summary up to GitHub's limit.
type summaryBuilder struct {
	b    strings.Builder
	full bool
}

func (p *summaryBuilder) addPiece(piece string) {
	switch {
	case p.full:
	case p.b.Len()+len(piece) > maxText-len(noRoomNote):
		p.full = true
		p.b.WriteString(noRoomNote)
	default:
		p.b.WriteString(piece)
	}
}

func (p *summaryBuilder) addFormat(format string, a ...any) { p.addPiece(fmt.Sprintf(format, a...)) }

// addList adds a heading of ours and what stands below it; nothing where that is nothing.
func (p *summaryBuilder) addList(heading string, items []Phrase) {
	if len(items) == 0 {
		return
	}
	p.addPiece("\n\n### " + heading + "\n")
	for _, item := range items {
		p.addPiece("\n- " + item.Markdown())
	}
}

// addFold adds a part that is folded, whole or not at all.
func (p *summaryBuilder) addFold(heading string, body string) {
	p.addPiece("\n\n" + fold(heading, body))
}

// fold returns Markdown that opens at a click on its heading, which is ours.
func fold(heading, body string) string {
	return "<details>\n<summary>" + heading + "</summary>\n\n" + body + "\n\n</details>"
}

// Markdown shows the page as GitHub renders it: in the check's summary and in the job's. It has at most 65,535 bytes.
func (p Page) Markdown() string {
	var b summaryBuilder
	b.addFormat("**%s.** %s", p.Verdict, p.Lead.Markdown())
	if len(p.Steps) > 0 {
		b.addPiece("\n\n### What you can do\n")
		for _, s := range p.Steps {
			b.addPiece("\n- " + s.markdown())
		}
	}
	for _, n := range p.Notes {
		b.addPiece("\n\n" + n.markdown())
	}
	p.addFindings(&b)
	if len(p.Rows) > 0 {
		b.addPiece("\n\n| Reviewer | Vote | Why |\n| --- | --- | --- |")
		for _, r := range p.Rows {
			b.addPiece("\n" + r.markdown())
		}
	}
	b.addList(headingRules, p.Rules)
	b.addList(headingHeard, p.Heard)
	b.addList(headingNext, p.Next)
	if len(p.Path) > 0 {
		var items []string
		for _, m := range p.Path {
			items = append(items, "- "+strings.TrimSpace(m.Time+" "+m.What.Markdown()))
		}
		b.addFold("How it got here", strings.Join(items, "\n"))
	}
	p.Footer.addMarkdown(&b)
	return b.b.String()
}

func (s PageStep) markdown() string {
	return fmt.Sprintf("**%s**: %s", s.Who.Markdown(), s.What.Markdown())
}

func (n PageNote) markdown() string {
	if n.Block == "" {
		return n.Says.Markdown()
	}
	return n.Says.Markdown() + "\n\n" + Fence(n.Block)
}

func (r PageRow) markdown() string {
	who, why := r.Reviewer.Markdown(), slices.Clone(r.Why)
	if r.Note != "" {
		who += " (" + r.Note + ")"
	}
	for i := range why {
		why[i].URL = r.URL
	}
	return fmt.Sprintf("| %s | %s %s | %s |", who, r.Mark, r.Vote, why.Markdown())
}

// addFindings adds the first findings, each on a line.
func (p Page) addFindings(b *summaryBuilder) {
	if len(p.Findings) == 0 {
		return
	}
	b.addPiece("\n\n### Findings\n")
	if len(p.Findings) < p.Came {
		b.addPiece("\n" + placesSaid(p) + ".\n")
	}
	shown := p.Findings[:min(len(p.Findings), summaryFindings)]
	for _, f := range shown {
		b.addPiece("\n- " + f.line().Markdown())
	}
	if n := len(p.Findings) - len(shown); n > 0 {
		b.addFormat("\n\n%s in the details below.", countMore(n))
	}
}

// placesSaid says of how many places the findings are, where those are fewer.
func placesSaid(p Page) string {
	findings, places := countNoun(p.Came, "finding"), countNoun(len(p.Findings), "place")
	return fmt.Sprintf("%s at %s", findings, places)
}

func countMore(n int) string {
	if n == 1 {
		return "1 more stands"
	}
	return fmt.Sprintf("%d more stand", n)
}

// line says f on one line: where, by whom, and what first.
func (f PageFinding) line() (p Phrase) {
	if where := f.Place(); where != "" {
		p = append(p, Span{Text: where, From: FromWriting, URL: f.URL}, Span{Text: " · "})
	}
	p = append(p, joinPhrases(f.By())...)
	w := objectingWords(f)
	if w.Severity != 0 {
		p = append(p, Span{Text: " · " + w.Severity.String()})
	}
	if w.Below {
		p = append(p, Span{Text: " · below min_severity"})
	}
	if f.Place() == "" && f.URL != "" {
		p = append(p, Span{Text: " · "}, Span{Text: "comment", URL: f.URL})
	}
	body := oneLine(w.Body)
	if body == "" {
		body = "(no text)"
	}
	return append(p, Span{Text: ": "}, Span{Text: clipRunes(body, maxQuoteRunes), From: FromWriting})
}

// addMarkdown adds the footer: a line, and folded who can write this check.
func (f PageFooter) addMarkdown(b *summaryBuilder) {
	var parts []string
	if f.Quorum != nil {
		parts = append(parts, f.Quorum.Markdown())
	}
	if f.Policy != nil {
		parts = append(parts, f.Policy.Markdown())
	}
	if f.Meaning != "" {
		parts = append(parts, "[what does this mean?]("+f.Meaning+")")
	}
	if len(parts) > 0 {
		b.addPiece("\n\n" + strings.Join(parts, " · "))
	}
	if f.Writers != nil {
		b.addFold("Who can write this check?", f.Writers.Markdown())
	}
}
