package review

// This file recognises notices, which a reviewer posts instead of a review: an outage, a limit, a refusal, "working on it".
//
// A notice is recognised by the shape of a whole line, and only where notices stand: in a heading, an alert, or the first
// paragraph; never in a list. A genuine review of a rate limiter has the same words. A notice that is not recognised keeps
// the gate shut, and so does a line wrongly taken for one.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
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
	own    bool // by a shape of its vendor's, not by one that anybody's text may have
	strong bool // a heading, an alert or a comment
}

// findNotice returns the first notice in a text: its vendor's own before general ones, and lines before comments.
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
				own := foundNotice{Reading: s.noticeIn(l.text, i), own: true, strong: strong || l.visibility == quoted}
				return own.withWait(d.LinedText), true
			}
		}
		if found || isRow || l.visibility == quoted && !l.alert || l.folded || !strong && i >= opening {
			continue
		}
		if got := readGeneralNotice(plainWords(text)); got.Outcome != 0 {
			got.Rule, got.Detail, got.Line = "general notices", shortQuote(l.text), i+1
			best, found = foundNotice{Reading: got, strong: strong}, true
		}
	}
	for i, c := range d.comments {
		c = strings.Join(strings.Fields(lowerASCII(c[:min(len(c), 400)])), " ")
		for _, set := range d.shapes {
			for _, s := range set.lists[listNotices] {
				if s.notice.Marker != "" && strings.Contains(c, s.notice.Marker) {
					got := foundNotice{Reading: s.noticeIn(c, d.commentLines[i]), own: true, strong: true}
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

// noticeIn returns the reading of a text in line i by a notice.
func (s shape) noticeIn(text string, i int) Reading {
	return Reading{Outcome: s.notice.Outcome, Reason: s.notice.Reason, Detail: shortQuote(text), Rule: s.rule, Line: i + 1}
}

// endOfOpening returns where the first paragraph of a text ends, or of a check's output the first two: title and summary.
func (d *document) endOfOpening(kind Kind) int {
	inside, isTitle := false, kind == Check
	for i := contentStart(d.reviewer, d.LinedText); i < len(d.lines); i++ {
		l := d.lines[i]
		isBlank := strings.TrimSpace(l.text) == "" || l.visibility == hidden
		if inside && isBlank && !isTitle {
			return i
		}
		isTitle = isTitle && !(inside && isBlank)
		inside = !isBlank && (inside || l.level == 0)
	}
	return len(d.lines)
}

// readGeneralNotice reads a line that anybody's text may have: a notice by an HTTP code, or by its words.
func readGeneralNotice(words string) Reading {
	got := readHTTPCode(words, headlineCode)
	cause := strings.TrimRight(words[len(failedHeadline().FindString(words)):], ").!")
	for _, text := range [...]string{words, cause} {
		if got.Outcome == 0 {
			got = generalNotices.readMessage(text)
		}
	}
	return got
}

// readWorking reads a text that says that its review is still under way.
func (d *document) readWorking() (got Reading, yes bool) {
	seen := 0
	for i, l := range d.lines {
		words := d.statements[i]
		if words == "" || l.visibility == quoted && !l.alert && !d.preset.Quotes {
			continue
		}
		s, _, found := d.shapeAt(listWorking, i, anyCount)
		_, isItem := listItem(strings.TrimSpace(l.text))
		if seen++; !found && seen <= 12 && !isItem && l.visibility != quoted {
			at := slices.IndexFunc(workingLines(), func(s shape) bool { _, ok := s.match(words); return ok })
			if found = at >= 0; found {
				s.rule = "working: " + workingLines()[at].source
			}
		}
		if found {
			got = Reading{Outcome: quorum.Running, Reason: quorum.ReasonRunning, Detail: shortQuote(l.text), Rule: s.rule, Line: i + 1}
			return got, true
		} else if seen > 12 {
			break
		}
	}
	return got, false
}
