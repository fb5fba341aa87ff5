package review

// This file is the one way in which a text is read: for the gate, for what explains it, and for classify. Whatever decides
// what a text says is asked for here, so that the same text has the same answer wherever it is read.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// NewReader returns the reader of r's texts.
func NewReader(r quorum.Reviewer) *Reader {
	reader := &Reader{reviewer: r, preset: presetOf(r.Preset), field: newNamedField(r.Verdict)}
	if reader.preset != noPreset && r.Verdict.Kind == reader.preset.reviewer.Verdict.Kind {
		reader.shapes = append(reader.shapes, &reader.preset.shapes)
	}
	for _, shapes := range [...]quorum.Shapes{r.Shapes, wordShapes(r.Verdict)} {
		if own, err := compileShapes(policyOrigin, shapes); err == nil && !shapes.IsZero() { // no policy with a broken one loads
			reader.shapes = append(reader.shapes, &own)
		}
	}
	return reader
}

// Read reads one text of r, as [Reader.Read] does.
func Read(r quorum.Reviewer, m Material) Reading { return NewReader(r).Read(m) }

// Read reads one text. It is pure and takes time linear in the text's length.
func (r *Reader) Read(m Material) Reading {
	switch {
	case m.Kind == Log:
		return readLog(m)
	case r.reviewer.Retired:
		return Reading{Outcome: quorum.Declined, Reason: quorum.ReasonRetired}
	case m.Kind == Check && m.State != "" && m.State != "completed":
		return Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning}
	case m.Kind == Review && m.State == "COMMENTED" && m.Threads+m.Minor == 0 && strings.TrimSpace(m.Body) == "":
		return Reading{}.asUnrelated("a review that holds nothing but answers in threads", 0)
	case len(m.Body) > MaxText:
		return Reading{Outcome: quorum.Malformed, Reason: quorum.ReasonMalformed, Detail: shortQuote(m.Body[:4*maxDetail])}
	case m.LinedText == nil:
		page := ReadLines(m.Body)
		m.LinedText = &page
	}
	d := r.newDocument(*m.LinedText)
	got := d.read(m)
	if got.Outcome == quorum.Approved && r.reviewer.Verdict.Covered && !isCovered(d, m.Head) {
		got.Outcome, got.Reason, got.Below = quorum.Malformed, quorum.ReasonUncovered, false
		got.Rule = "coverage: required"
	}
	return got
}

func (r *Reader) newDocument(p LinedText) *document {
	if r.preset.OpensQuoted {
		p = p.withOpenedQuote()
	}
	d := &document{LinedText: p, Reader: r, statements: make([]string, len(p.lines))}
	for i, l := range p.lines {
		if l.visibility == hidden || l.text == "" || len(l.text) > maxMatchedLine {
			continue
		}
		item, _ := listItem(strings.TrimSpace(l.text))
		d.statements[i] = statementOf(item)
	}
	mark := d.preset.History
	older := slices.IndexFunc(d.comments, func(c string) bool {
		return mark != "" && strings.Contains(lowerASCII(c[:min(len(c), 400)]), mark)
	})
	if older >= 0 {
		d.lines, d.comments = p.lines[:p.commentLines[older]], p.comments[:older]
	}
	return d
}
