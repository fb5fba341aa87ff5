package report

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// The page on a terminal or in a log. No control character of a stranger's gets there, and no command to a runner: each
// line of theirs stands behind our own.

// Styles colour parts of a page on a terminal; one that is nil leaves its part as it is.
type Styles struct {
	Strong func(string) string            // the title, headings, who can do something
	Faint  func(string) string            // addresses, times
	Vote   func(vote, text string) string // a vote, and the verdict, by their words: approve, Blocked …
}

func (x Styles) strong(s string) string {
	if x.Strong == nil {
		return s
	}
	return x.Strong(s)
}

func (x Styles) faint(s string) string {
	if x.Faint == nil {
		return s
	}
	return x.Faint(s)
}

func (x Styles) vote(word, s string) string {
	if x.Vote == nil {
		return s
	}
	return x.Vote(word, s)
}

// Terminal shows all of the page as text; start is the decision's, from which its times count.
func (p Page) Terminal(x Styles, start time.Time) string {
	var b strings.Builder
	heading := func(s string) { fmt.Fprintf(&b, "\n%s\n", x.strong(s)) }
	b.WriteString(x.strong(plainLine(p.Title, maxTitle)) + "\n\n" + x.vote(p.Verdict, p.Verdict+".") + " " + p.Lead.Plain() + "\n")
	if len(p.Steps) > 0 {
		heading("What you can do")
		for _, s := range p.Steps {
			fmt.Fprintf(&b, "- %s: %s\n", x.strong(s.Who.Plain()), s.What.Plain())
			if s.URL != "" {
				fmt.Fprintf(&b, "  %s\n", x.faint(s.URL))
			}
		}
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "\n%s\n", n.Says.Plain())
		writeBlock(&b, n.Block)
	}
	p.writeRows(&b, x, start)
	list := func(of string, items []Phrase) {
		if len(items) > 0 {
			heading(of)
		}
		for _, item := range items {
			fmt.Fprintf(&b, "- %s\n", item.Plain())
		}
	}
	list(headingRules, p.Rules)
	list(headingHeard, p.Heard)
	list(headingNext, p.Next)
	if len(p.Path) > 0 {
		heading("How it got here")
		for _, m := range p.Path {
			b.WriteString("- ")
			if m.Time != "" {
				b.WriteString(x.faint(m.Time) + " ")
			}
			b.WriteString(m.What.Plain() + "\n")
		}
	}
	p.writeFindings(&b, x)
	p.Footer.writePlain(&b, x)
	return b.String()
}

// writeRows writes a table with a row for each reviewer, and the addresses of what their votes rest on.
func (p Page) writeRows(b *strings.Builder, x Styles, start time.Time) {
	if len(p.Rows) == 0 {
		return
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "REVIEWER\tVOTE\tATTEMPT\tSINCE\tWHY")
	for _, r := range p.Rows {
		who, attempt, since := r.Reviewer.Plain(), "-", "-"
		if r.Note != "" {
			who += " (" + r.Note + ")"
		}
		if r.Attempt > 0 {
			attempt = fmt.Sprint(r.Attempt)
		}
		if !r.Since.IsZero() {
			since = formatTime(r.Since, start)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", who, r.Vote, attempt, since, r.Why.Plain())
	}
	w.Flush() // a strings.Builder takes everything
	lines := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	fmt.Fprintf(b, "\n%s\n", x.strong(lines[0]))
	for i, line := range lines[1:] { // colour is added when the columns stand
		r := p.Rows[i]
		at := strings.Index(lines[0], "VOTE")
		if before, rest := line[:byteOfColumn(line, at)], line[byteOfColumn(line, at):]; strings.HasPrefix(rest, r.Vote) {
			line = before + x.vote(r.Vote, r.Vote) + rest[len(r.Vote):]
		}
		b.WriteString(line + "\n")
		if r.URL != "" {
			fmt.Fprintf(b, "  %s\n", x.faint(r.URL))
		}
	}
}

// byteOfColumn returns where a line's column begins: columns are characters.
func byteOfColumn(line string, column int) int {
	n := 0
	for i := range line {
		if n == column {
			return i
		}
		n++
	}
	return len(line)
}

// maxTerminalFindings is how many bytes of findings a terminal or a job's log shows: four times what fits into a check.
const maxTerminalFindings = 256 << 10

// writeFindings writes all findings with their whole words, as far as there is room.
func (p Page) writeFindings(b *strings.Builder, x Styles) {
	if len(p.Findings) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", x.strong(findingsHeading(p)))
	start := b.Len()
	for i, f := range p.Findings {
		if b.Len()-start > maxTerminalFindings {
			rest := 0
			for _, f := range p.Findings[i:] {
				rest += f.Count
			}
			fmt.Fprintf(b, "\nThe last %d %s not shown, for want of room.\n", rest, isOrAre(rest))
			return
		}
		head := joinPhrases(f.By()).Plain()
		if where := f.Place(); where != "" {
			head = plainLine(where, 300) + " · " + head
		}
		fmt.Fprintf(b, "\n%s\n", x.strong(head))
		if f.URL != "" {
			fmt.Fprintf(b, "  %s\n", x.faint(f.URL))
		}
		for _, w := range f.Said {
			var about []string
			if len(f.Said) > 1 {
				about = append(about, joinPhrases(w.By).Plain())
				if w.Line != f.Line {
					about = append(about, fmt.Sprintf("line %d", w.Line))
				}
			}
			if w.Severity != 0 {
				about = append(about, w.Severity.String())
			}
			if w.Below {
				about = append(about, "below min_severity")
			}
			if len(about) > 0 {
				fmt.Fprintf(b, "  %s\n", x.faint(strings.Join(about, " · ")))
			}
			writeBlock(b, w.Body)
		}
	}
}

func findingsHeading(p Page) string {
	if len(p.Findings) == p.Came {
		return countNoun(p.Came, "finding")
	}
	return placesSaid(p)
}

// maxBlockLines is how many lines of one stranger's text a terminal shows.
const maxBlockLines = 200

// writeBlock writes lines of a stranger's behind a rule, as they are broken.
func writeBlock(b *strings.Builder, text string) {
	n := 0
	for line := range strings.Lines(strings.TrimSpace(makeVisible(cutBytes(text, maxMessage)))) {
		if n++; n > maxBlockLines {
			b.WriteString("  │ …\n")
			return
		}
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "##[", "## [")
		b.WriteString(strings.TrimRight("  │ "+strings.ReplaceAll(line, "\t", "    "), " ") + "\n")
	}
}

func (f PageFooter) writePlain(b *strings.Builder, x Styles) {
	if f.Quorum != nil {
		fmt.Fprintf(b, "\n%s.\n", f.Quorum.Plain())
	}
	if f.Policy != nil {
		fmt.Fprintf(b, "Policy: %s\n", x.faint(f.Policy[0].URL))
	}
	if f.Meaning != "" {
		fmt.Fprintf(b, "What this means: %s\n", x.faint(f.Meaning))
	}
	if f.Writers != nil {
		fmt.Fprintf(b, "%s\n", f.Writers.Plain())
	}
}
