package review

// This file recognises notices, which a reviewer posts instead of a review: an outage, a limit, a refusal, "working on it".
//
// A notice is recognised by the shape of a whole line, and only where notices stand: in a heading, an alert, or the first
// paragraph; never in a list. A genuine review of a rate limiter has the same words. A notice that is not recognised keeps
// the gate shut, and so does a line wrongly taken for one.

import (
	"strings"
)

// failedHeadline matches what a headline says before the cause: "## ⚠️ Gemini API Error (timeout)".
var failedHeadline = lazyRegexp(`^(?:[\w.'-]+ ){0,5}(?:error|failed|failure)(?: ?\(|: )`)

// workingLines say that the review is under way.
var workingLines = lazyShapes(
	"(i'm|i am) (currently |now |)(working on|reviewing|looking at) (it|this|your|the)( {any}|)",
	"(hi {login}, |)i've received your request{any}",
	"preparing (the |)review",
	"(code |)review (is |)(in progress|queued|started|pending|running|under way)( {any}|)",
	"(a |the |)(code |)review of this (pull request|pr) (is in progress|has started){any}",
	"{word} (ai |code |)(is|has started) (working|reviewing|analyzing)( {any}|)",
	"{word} {word} is (working|reviewing|analyzing)( {any}|)",
	"starting (the |a |your |)(code |{word} |)review",
	"reviewing (your |this |the |)(pr|pull request|changes|code){any}",
)

const (
	noticeHead    = 40 // how many lines with words may stand before a notice that is no heading
	headlineWords = 6  // a paragraph of one line and fewer words is as good as a heading
)

// A foundNotice is a line or comment that says why there is no review.
type foundNotice struct {
	Reading
	line   int  // its index
	own    bool // by a shape of its vendor's, not by one that anybody's text may have
	strong bool // a heading, an alert or a comment
}

// findNotice returns the first notice in a text: of its vendor's own before those that anybody's text may have, and lines
// before comments, which say less.
func (d *document) findNotice(kind Kind) (best foundNotice, found bool) {
	seen := 0
	opening := d.endOfOpening(kind)
	for i, l := range d.lines {
		words := d.statements[i]
		if words == "" {
			continue
		}
		seen++
		text := strings.TrimSpace(l.text)
		strong := l.level > 0 || l.alert || boldLine(text) || d.isHeadline(i)
		isRow := text[0] == '|'
		if _, item := listItem(text); item || seen > noticeHead && !strong {
			continue
		}
		if l.visibility != quoted || l.alert || d.preset.Quotes {
			// A row only of the vendor's own table.
			if s, _, ok := d.shapeAt(listNotices, i, anyCount); ok && strings.HasPrefix(s.source, "|") == isRow {
				own := foundNotice{Reading: s.noticeIn(l.text), line: i, own: true, strong: strong || l.visibility == quoted}
				return own.withWait(d.LinedText), true
			}
		}
		if found || isRow || l.visibility == quoted && !l.alert || l.folded || !strong && i >= opening {
			continue
		}
		got, ok := readGeneralNotice(plainWords(text))
		if ok {
			got.Rule, got.Detail = "general notices", shortQuote(l.text)
			best, found = foundNotice{Reading: got, line: i, strong: strong}, true
		}
	}
	for i, c := range d.comments {
		if d.commentLines[i] >= d.end && d.end < len(d.statements) {
			break
		}
		c = strings.Join(strings.Fields(lowerASCII(c[:min(len(c), 400)])), " ")
		for _, set := range d.shapes {
			for _, s := range set.lists[listNotices] {
				if s.notice.Marker != "" && strings.Contains(c, s.notice.Marker) {
					got := foundNotice{Reading: s.noticeIn(c), line: d.commentLines[i], own: true, strong: true}
					return got.withWait(d.LinedText), true
				}
			}
		}
	}
	return best.withWait(d.LinedText), found
}

// isHeadline reports whether line i is a paragraph of a few words.
func (d *document) isHeadline(i int) bool {
	isBlank := func(i int) bool { return i < 0 || i >= len(d.lines) || strings.TrimSpace(d.lines[i].text) == "" }
	return strings.Count(d.statements[i], " ")+1 < headlineWords && isBlank(i-1) && isBlank(i+1)
}

// noticeIn returns the reading of a text by a notice.
func (s shape) noticeIn(text string) Reading {
	return Reading{Outcome: s.notice.Outcome, Reason: s.notice.Reason, Detail: shortQuote(text), Rule: s.rule}
}

// withWait returns n with the end of the limit: the part of the text that holds the notice states it before any other.
func (n foundNotice) withWait(p LinedText) foundNotice {
	from, to := partOfLine(p.lines, n.line)
	if n.Reading = n.withWaitOf(p.lines[max(from, n.line):max(to, n.line)]); !n.statesEnd() {
		n.Reading = n.withWaitOf(p.lines)
	}
	return n
}

// endOfOpening returns where the first paragraph of a text ends, or of a check's output the first two: its title and its
// summary.
func (d *document) endOfOpening(kind Kind) int {
	inside, isCheck := false, kind == Check
	for i := contentStart(d.reviewer, d.LinedText); i < len(d.lines); i++ {
		l := d.lines[i]
		isBlank := strings.TrimSpace(l.text) == "" || l.visibility == hidden
		if inside && isBlank {
			if !isCheck {
				return i
			}
			isCheck = false
		}
		inside = !isBlank && (inside || l.level == 0)
	}
	return len(d.lines)
}

// readGeneralNotice reads a line that anybody's text may have: a notice by an HTTP code, or by its words.
func readGeneralNotice(words string) (Reading, bool) {
	if m := headlineCode.findGroups(words); m != nil {
		return readingOfCode(m[1] + m[2])
	}
	if got, ok := generalNotices.readMessage(words); ok {
		return got, true
	}
	return generalNotices.readMessage(strings.TrimRight(words[len(failedHeadline().FindString(words)):], ").!"))
}

// saysWorking reports whether a text says that its review is still under way, with the line that says so.
func (d *document) saysWorking() (line int, rule string, yes bool) {
	seen := 0
	for i, l := range d.lines {
		words := d.statements[i]
		if words == "" || l.visibility == quoted && !l.alert && !d.preset.Quotes {
			continue
		}
		if s, _, ok := d.shapeAt(listWorking, i, anyCount); ok {
			return i, s.rule, true
		}
		if seen++; seen > 12 {
			break
		}
		if _, item := listItem(strings.TrimSpace(l.text)); item || l.visibility == quoted {
			continue
		}
		for _, s := range workingLines() {
			if _, ok := s.match(words); ok {
				return i, "working: " + s.source, true
			}
		}
	}
	return 0, "", false
}
