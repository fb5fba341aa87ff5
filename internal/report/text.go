package report

import (
	"fmt"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// The text holds what tools read and what reviewers wrote, in that order, within GitHub's 65,535 bytes. Nothing of the
// block is ever cut; of the findings, first their length is, and only then their number, and the text says so.

const (
	maxText         = 65_535
	maxAnswers      = 16 << 10
	maxExcerptRunes = 600 // characters
	maxExcerptsEach = 2   // of an answer without a verdict: the two attempts of one reviewer
)

// renderText returns the check's text for d and the record that is written with it.
func renderText(p Page, d quorum.Decision, rec quorum.Record) string {
	var b strings.Builder
	b.WriteString(fold("For tools: the record and the decision", jsonBlock(d, rec)))
	if a := renderAnswers(d); len(a) < maxText-b.Len() {
		b.WriteString(a)
	}
	b.WriteString(p.renderFindings(maxText - b.Len()))
	return b.String()
}

// renderAnswers shows what reviewers wrote instead of a verdict.
func renderAnswers(d quorum.Decision) string {
	var b strings.Builder
	for _, x := range d.Ballots {
		if !answeredWithoutVerdict(x) {
			continue
		}
		var one strings.Builder
		fmt.Fprintf(&one, "\n\n**%s**: %s.", quoteName(x.Reviewer), Sentence(malformedReason(x.Reason)))
		for i, a := range x.Answers[max(0, len(x.Answers)-maxExcerptsEach):] {
			fmt.Fprintf(
				&one,
				"\n\nAnswer %d:\n\n%s",
				i+1+max(0, len(x.Answers)-maxExcerptsEach),
				quoteLines(clipRunes(strings.TrimSpace(makeVisible(cutBytes(a, maxOneLine))), maxExcerptRunes)),
			)
		}
		if advice := Advice(malformedReason(x.Reason)); advice != "" {
			one.WriteString("\n\n" + advice)
		}
		if b.Len()+one.Len() > maxAnswers {
			b.WriteString("\n\n_The answers of further reviewers are not shown here, for want of room._")
			break
		}
		b.WriteString(one.String())
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n\n### Answers without a verdict" + b.String()
}

// answeredWithoutVerdict reports whether b is a reviewer that answered without a verdict and has given none since.
func answeredWithoutVerdict(b quorum.Ballot) bool {
	return len(b.Answers) > 0 && (b.Vote == quorum.Unavailable || b.Vote == quorum.Pending)
}

// malformedReason returns why the answers that are shown hold no verdict, also where the reviewer's last attempt ended
// in another way.
func malformedReason(r quorum.Reason) quorum.Reason {
	switch r {
	case quorum.ReasonContradicts, quorum.ReasonTemplate, quorum.ReasonConditional, quorum.ReasonPartial,
		quorum.ReasonUncovered, quorum.ReasonDrift:
		return r
	default:
		return quorum.ReasonMalformed
	}
}

// renderFindings quotes all findings in at most room bytes: each as long as possible, so that as many are shown as came
// in.
func (p Page) renderFindings(room int) string {
	all, came := p.Findings, p.Came
	if came == 0 || room < 600 {
		return ""
	}
	room -= 300 // the heading and the notes
	var b strings.Builder
	shown, shortened := 0, 0
	for _, most := range []int{maxText, 8000, 4000, 2000, 1000, 500, 250, 120} {
		b.Reset()
		shown, shortened = 0, 0
		complete := true
		for _, e := range all {
			t, short := e.renderMarkdown(most)
			if b.Len()+len(t) > room {
				complete = false
				break
			}
			b.WriteString(t)
			shown += e.Count
			if short {
				shortened++
			}
		}
		if complete {
			break
		}
	}
	head := fmt.Sprintf("\n\n### Findings\n\n%s came in, %d %s shown", countNoun(came, "finding"), shown, isOrAre(shown))
	if shown == came && len(all) < came {
		head += fmt.Sprintf(", at %s", countNoun(len(all), "place"))
	}
	head += "."
	if shortened > 0 {
		head += fmt.Sprintf(" %d of them %s cut, for want of room.", shortened, isOrAre(shortened))
	}
	if shown < came {
		head += fmt.Sprintf(" The last %d %s not shown, for want of room.", came-shown, isOrAre(came-shown))
	}
	return head + b.String()
}

// renderMarkdown quotes f with at most most bytes of each text, and reports whether one was cut.
func (f PageFinding) renderMarkdown(most int) (text string, short bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n**%s**", joinPhrases(f.By()).Markdown())
	if where := f.Place(); where != "" {
		b.WriteString(" · " + Phrase{{Text: where, From: FromWriting, URL: f.lineLink()}}.Markdown())
	}
	for _, w := range f.Said {
		if len(f.Said) > 1 {
			b.WriteString("\n\n" + joinPhrases(w.By).Markdown())
			if w.Line != f.Line {
				fmt.Fprintf(&b, " · line %d", w.Line)
			}
		}
		short = w.writeMarkdown(&b, most) || short
	}
	return b.String(), short
}

// lineLink is f's address if that is of its line: comments are linked beside their words.
func (f PageFinding) lineLink() string {
	if f.URL == f.Said[0].URL {
		return ""
	}
	return f.URL
}

// writeMarkdown quotes words with at most most bytes, and reports whether they were cut.
func (w PageWords) writeMarkdown(b *strings.Builder, most int) (short bool) {
	if w.Severity != 0 {
		b.WriteString(" · " + w.Severity.String())
	}
	if w.Below {
		b.WriteString(" · below min_severity")
	}
	if w.URL != "" {
		b.WriteString(" · [comment](" + w.URL + ")")
	}
	// Of a text that is cut no more is looked at than may be shown: a thousand long ones must not hold up a look.
	part := cutBytes(w.Body, max(4*most, 4096))
	body := strings.TrimSpace(makeVisible(part))
	if body == "" {
		body = "(no text)"
	}
	whole := len(body)
	if len(part) < len(w.Body) {
		whole = max(whole, len(w.Body))
	}
	body = cutBytes(body, most)
	b.WriteString("\n\n" + quoteLines(body))
	if len(body) < whole {
		fmt.Fprintf(b, "\n\n_Cut: %d of %d bytes are shown._", len(body), whole)
	}
	return len(body) < whole
}
