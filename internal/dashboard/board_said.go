package dashboard

// The check's page as the dashboard shows it: the same blocks from the same data, see package report. What strangers
// wrote is told apart from our own words there; here it is cut, escaped by the template, and shown as what it is.

import (
	"fmt"
	"strings"

	"github.com/review-coordinator/coordinator/internal/report"
)

// A boardSaid is the check's page as it is shown.
type boardSaid struct {
	Lead     []boardWords
	Steps    []boardStep
	Notes    []boardNote
	Findings []boardFinding
	More     string // how many findings are not shown; "": none
	Rules    [][]boardWords
	Heard    [][]boardWords
	Next     [][]boardWords
	Path     []boardPast
	Quorum   []boardWords
	Policy   []boardWords
	Meaning  string // address of the docs
	Writers  []boardWords
}

// A boardWords is a piece of a sentence.
type boardWords struct {
	Text string
	URL  string
	Code bool // what a stranger wrote
	Name bool // what a stranger is called
}

// A boardStep is what somebody can do.
type boardStep struct {
	Who, What []boardWords
}

// A boardNote is a paragraph, and lines of a stranger's below it.
type boardNote struct {
	Says  []boardWords
	Block string
}

// A boardFinding is what reviewers say of one place.
type boardFinding struct {
	Place string
	URL   string
	By    [][]boardWords
	Said  string
	Mark  boardMark
}

// A boardPast is something that happened.
type boardPast struct {
	Time string
	What []boardWords
}

// showSaid words a page; nil if an older program kept none.
func showSaid(s Sight) *boardSaid {
	p := s.Page
	if p == nil {
		return nil
	}
	said := &boardSaid{
		Lead: showPhrase(s, p.Lead), Quorum: showPhrase(s, p.Footer.Quorum), Policy: showPhrase(s, p.Footer.Policy),
		Meaning: safeURL(p.Footer.Meaning, ""), Writers: showPhrase(s, p.Footer.Writers),
	}
	for _, step := range p.Steps {
		said.Steps = append(said.Steps, boardStep{showPhrase(s, step.Who), showPhrase(s, step.What)})
	}
	for _, n := range p.Notes {
		said.Notes = append(said.Notes, boardNote{showPhrase(s, n.Says), clipBlock(n.Block)})
	}
	shown := 0
	for _, f := range p.Findings {
		shown += f.Count
		said.Findings = append(said.Findings, showFinding(s, f))
	}
	if more := p.Came - shown; more > 0 && len(said.Findings) > 0 {
		said.More = fmt.Sprintf("%d more in the check.", more)
	}
	said.Rules, said.Heard, said.Next = showPhrases(s, p.Rules), showPhrases(s, p.Heard), showPhrases(s, p.Next)
	for _, m := range p.Path {
		said.Path = append(said.Path, boardPast{boardClip(m.Time, 40), showPhrase(s, m.What)})
	}
	return said
}

func showPhrases(s Sight, all []report.Phrase) (shown [][]boardWords) {
	for _, p := range all {
		shown = append(shown, showPhrase(s, p))
	}
	return shown
}

// showPhrase words a phrase; what is linked leads to the pull request's host.
func showPhrase(s Sight, p report.Phrase) (spans []boardWords) {
	for _, x := range p {
		spans = append(spans, boardWords{
			Text: boardClip(x.Text, 1000), URL: safeURL(x.URL, s.URL),
			Code: x.From == report.FromWriting, Name: x.From == report.FromName,
		})
	}
	return spans
}

func showFinding(s Sight, f report.PageFinding) boardFinding {
	shown := boardFinding{Place: boardClip(f.Place(), 300), URL: safeURL(f.URL, s.URL)}
	shown.Mark = boardMark{"does not hold it back", "dash", "calm"}
	if f.Objects() {
		shown.Mark = boardMark{"holds it back", "cross", "bad"}
	}
	for _, by := range f.By() {
		shown.By = append(shown.By, showPhrase(s, by))
	}
	if len(f.Said) > 0 {
		shown.Said = boardClip(f.Said[0].Body, 400)
	}
	return shown
}

// whyOf returns what the check's table says of the reviewer in a lane, with its link; nil if an older program kept none.
func whyOf(s Sight, lane int) (why []boardWords, url string) {
	if s.Page == nil || lane >= len(s.Page.Rows) { // the table has a row for each lane, in their order
		return nil, ""
	}
	row := s.Page.Rows[lane]
	return showPhrase(s, row.Why), safeURL(row.URL, s.URL)
}

// clipBlock cuts lines of a stranger's text, and keeps that they are lines.
func clipBlock(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, boardClip(strings.TrimRight(line, "\r\n"), 200))
	}
	return strings.Join(lines[:min(len(lines), 40)], "\n")
}
