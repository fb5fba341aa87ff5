package review

// This file finds out which lines of a Markdown text a reader sees as the reviewer's own words.
//
// It is no Markdown parser. It sorts lines into certain and uncertain: where GitHub's rendering depends on containers
// that are not followed here (a fence in a list, a lazy line after a quote, a tag that is not closed), a line is
// doubtful. A doubtful line can object but never approve, so a mistake costs a retry and no wrong pass.

import (
	"slices"
	"strings"
)

// hidingTags are the tags whose contents are hidden, or shown as code, a quote or struck out: not the writer's own words.
var hidingTags = [...]string{
	"pre", "blockquote", "code", "samp", "del", "s", "strike", "template", "script", "style", "textarea", "title", "svg", "math", "q",
}

// pageScanner builds a LinedText line by line.
type pageScanner struct {
	LinedText
	inComment      bool
	commentMayShow bool // the comment began within a line: if it is never closed, GitHub shows it
	commentText    strings.Builder
	fence          byte // 0: none
	fenceLen       int
	fenceIndent    int
	fenceUncertain bool // a fence only if it stands in a list
	fenceBody      strings.Builder
	lazyQuote      bool // a paragraph of a quote may go on without its mark
	openSpan       bool // a code span may go on from an earlier line of the paragraph
	openTag        bool // a tag goes on
	hidingTag      string
	hidingDepth    int  // how many hidingTag are open
	ambiguous      bool // from here to the end, GitHub may show the text in one of two ways
	struck         bool // a struck-out part goes on from an earlier line of the paragraph
	inDefinition   bool // a link's definition may go on: its title is shown nowhere
}

// ReadLines sorts the lines of body.
func ReadLines(body string) LinedText {
	if strings.Contains(body, "\r") {
		body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	}
	var s pageScanner
	s.size = len(body)
	s.lines = make([]pageLine, 0, 1+strings.Count(body, "\n"))
	for raw := range strings.SplitSeq(body, "\n") {
		s.scanLine(raw)
	}
	if s.fence != 0 && !s.fenceUncertain {
		s.blocks = append(s.blocks, fencedBlock{text: s.fenceBody.String()})
	}
	if s.inComment {
		s.noteComment(s.commentText.String())
	}
	s.markAsides()
	return s.LinedText
}

// noteComment keeps the content of an HTML comment, and the line in which it ends.
func (s *pageScanner) noteComment(text string) {
	s.comments, s.commentLines = append(s.comments, text), append(s.commentLines, len(s.lines))
}

// Size is how many lines the page holds: what keeping it costs.
func (p LinedText) Size() int { return len(p.lines) }

// withOpenedQuote returns the page with the quote that it opens with in plain view, for a writer whose verdict stands there.
func (p LinedText) withOpenedQuote() LinedText {
	p.lines = slices.Clone(p.lines) // a page may be kept, and read for others
	began := false
	for i := range p.lines {
		l := &p.lines[i]
		switch {
		case l.visibility == quoted:
			began, l.visibility = true, inView
		case began || l.visibility != hidden && strings.TrimSpace(l.text) != "":
			return p
		}
	}
	return p
}

func (s *pageScanner) addLine(text string, see visibility) {
	s.lines = append(s.lines, pageLine{text: text, visibility: see})
}

func (s *pageScanner) scanLine(raw string) {
	switch {
	case s.fence != 0:
		s.scanFenced(raw)
	case s.inComment:
		s.scanCommented(raw)
	default:
		s.scanOutside(raw)
	}
}

// scanFenced reads a line within a fence.
func (s *pageScanner) scanFenced(raw string) {
	indent, rest := cutIndent(raw)
	n := leadingCount(rest, s.fence)
	closes := n >= s.fenceLen && strings.TrimSpace(rest[n:]) == ""
	switch {
	case closes && (indent <= 3 || s.fenceUncertain):
		if !s.fenceUncertain {
			s.blocks = append(s.blocks, fencedBlock{text: s.fenceBody.String(), closed: true, end: len(s.lines)})
		}
		s.fence = 0
		s.addLine("", hidden)
	case closes: // closes the fence only if both stand in a list
		s.fence, s.ambiguous = 0, true
		s.addLine("", hidden)
	case s.fenceUncertain, indent < s.fenceIndent && rest != "": // a line that leaves the list's item would end its fence
		s.addLine(raw, doubtful)
	default:
		s.fenceBody.WriteString(raw)
		s.fenceBody.WriteByte('\n')
		s.addLine("", hidden)
	}
}

// scanCommented reads a line that begins within an HTML comment.
func (s *pageScanner) scanCommented(raw string) {
	end := strings.Index(raw, "-->")
	if end < 0 {
		s.commentText.WriteString(raw)
		s.commentText.WriteByte('\n')
		if s.commentMayShow {
			s.addLine(raw, doubtful)
			return
		}
		s.addLine("", hidden)
		return
	}
	s.commentText.WriteString(raw[:end])
	s.endComment()
	soft := s.commentMayShow
	s.scanText(raw[end+len("-->"):], soft, true)
}

func (s *pageScanner) endComment() {
	s.noteComment(s.commentText.String())
	s.commentText.Reset()
	s.inComment = false
}

// scanOutside reads a line outside of fences and comments.
func (s *pageScanner) scanOutside(raw string) {
	indent, rest := cutIndent(raw)
	if rest == "" {
		s.lazyQuote, s.openSpan, s.struck, s.inDefinition = false, false, false, false
		s.addLine("", inView)
		return
	}
	if indent <= 3 && rest[0] == '>' {
		text := strings.TrimLeft(rest, "> \t")
		s.lazyQuote = text != ""
		s.addLine(text, quoted)
		return
	}
	if s.beginFence(indent, rest) {
		return
	}
	if quotesInItem(rest) {
		s.lazyQuote = true
		s.addLine(raw, quoted)
		return
	}
	s.scanText(raw, indent > 3, false)
}

// quotesInItem reports whether rest is an item of a list that begins with a quote.
func quotesInItem(rest string) bool {
	rest, items := cutItems(rest, 4)
	return items > 0 && strings.HasPrefix(rest, ">")
}

// beginFence begins a fence, and reports whether rest opens one.
func (s *pageScanner) beginFence(indent int, rest string) bool {
	inner, _ := cutItems(rest, 4) // a fence may follow the mark of a list's item
	if inner == "" || inner[0] != '`' && inner[0] != '~' {
		return false
	}
	n := leadingCount(inner, inner[0])
	if n < 3 || inner[0] == '`' && strings.Contains(inner[n:], "`") {
		return false
	}
	s.fence, s.fenceLen, s.fenceIndent = inner[0], n, indent
	s.fenceUncertain = indent > 3 || len(inner) != len(rest) || s.ambiguous
	s.fenceBody.Reset()
	s.lazyQuote, s.openSpan = false, false
	s.addLine("", hidden)
	return true
}

// scanText adds a line that is neither fence nor quote.
func (s *pageScanner) scanText(raw string, soft, lead bool) {
	text, unclosed := s.cutComments(raw, &lead)
	level := 0
	if !lead {
		level = headingLevel(text)
	}
	if level > 0 {
		s.lazyQuote, s.openSpan = false, false
	}
	see := inView
	if soft || s.lazyQuote || s.openSpan || s.openTag || s.hidingDepth > 0 || s.ambiguous || s.inDefinition {
		see = doubtful
	}
	bare := cutCodeSpans(text)
	coded := see == inView && isCodeRow(text)
	if s.followStrikes(bare) {
		see, coded = doubtful, false
	}
	if isLinkDefinition(text) {
		s.inDefinition, see = true, doubtful
	}
	if s.followTags(bare) || strings.TrimSpace(bare) == "" && strings.TrimSpace(text) != "" { // a line of nothing but code is no statement
		see = doubtful
	}
	if endsInItsOwnWay(bare) {
		s.ambiguous = true
	}
	if unclosed && level == 0 {
		s.openSpan = true
	}
	s.underlineHeading(text)
	s.lines = append(s.lines, pageLine{text: text, visibility: see, level: level, afterComment: lead, coded: coded && !s.ambiguous})
}

// isCodeRow reports whether a line is nothing but parts in <code>, as a vendor draws its counts.
func isCodeRow(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "<code>")
	for ok && rest != "" {
		part, after, closed := strings.Cut(rest, "</code>")
		after = strings.TrimSpace(after)
		rest, ok = strings.CutPrefix(after, "<code>")
		ok = (ok || after == "") && closed && !strings.ContainsAny(part, "<>`~")
	}
	return ok
}

// cutComments cuts the HTML comments out of a line, and begins one that is not closed in it. A comment's mark within a
// code span is none. unclosed reports whether the line leaves a code span open.
func (s *pageScanner) cutComments(raw string, lead *bool) (text string, unclosed bool) {
	if !strings.ContainsAny(raw, "`<") {
		return raw, false
	}
	spans, unclosed := codeSpans(raw)
	if !strings.Contains(raw, "<!--") {
		return raw, unclosed
	}
	var b strings.Builder
	from := 0
	for i := 0; i < len(raw); {
		for len(spans) > 0 && spans[0].from < i { // a span within a comment
			spans = spans[1:]
		}
		switch {
		case raw[i] == '`':
			if len(spans) > 0 && spans[0].from == i {
				i = spans[0].end
			} else {
				i += leadingCount(raw[i:], '`')
			}
		case strings.HasPrefix(raw[i:], "<!--"):
			b.WriteString(raw[from:i])
			first := strings.TrimSpace(b.String()) == ""
			if first {
				*lead = true
			}
			// "<!-->" is a whole comment: its end may share the dashes of its beginning.
			end := strings.Index(raw[i+2:], "-->")
			if end < 0 {
				s.inComment, s.commentMayShow = true, !first
				s.commentText.Reset()
				s.commentText.WriteString(raw[i+4:])
				s.commentText.WriteByte('\n')
				return b.String(), unclosed
			}
			if end > 2 {
				s.noteComment(raw[i+4 : i+2+end])
			}
			i += 2 + end + len("-->")
			from = i
		default:
			i++
		}
	}
	b.WriteString(raw[from:])
	return b.String(), unclosed
}

// span is a part of a line, from its first byte to behind its last.
type span struct{ from, end int }

// codeSpans finds the code spans of a line, in order. Every run of backticks is looked at once.
func codeSpans(raw string) (spans []span, unclosed bool) {
	if strings.IndexByte(raw, '`') < 0 {
		return nil, false
	}
	var runs []span
	for i := 0; i < len(raw); i++ {
		if n := leadingCount(raw[i:], '`'); n > 0 {
			runs = append(runs, span{i, i + n})
			i += n
		}
	}
	next := map[int]int{} // by length: the nearest run to the right
	closing := make([]int, len(runs))
	for i, run := range slices.Backward(runs) {
		closing[i], next[run.end-run.from] = next[run.end-run.from], i
	}
	for i := 0; i < len(runs); i++ {
		if end := closing[i]; end > 0 {
			spans = append(spans, span{runs[i].from, runs[end].end})
			i = end
		} else {
			unclosed = true
		}
	}
	return spans, unclosed
}

// cutCodeSpans cuts the code spans out of a line.
func cutCodeSpans(text string) string {
	return replaceCodeSpans(text, func(string) string { return "" })
}

// replaceCodeSpans returns a line with something in the place of each of its code spans.
func replaceCodeSpans(text string, by func(span string) string) string {
	spans, _ := codeSpans(text)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for _, s := range spans {
		b.WriteString(text[from:s.from])
		b.WriteString(by(text[s.from:s.end]))
		from = s.end
	}
	b.WriteString(text[from:])
	return b.String()
}

// followTags keeps track of hidingTags, which make the text between them not the writer's own. It reports whether this
// line holds such text.
func (s *pageScanner) followTags(text string) bool {
	concerned := false
	if s.openTag {
		end := strings.IndexByte(text, '>')
		if end < 0 {
			return true
		}
		s.openTag, concerned = false, true
		text = text[end+1:]
	}
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 || i+1 >= len(text) {
			return concerned || s.hidingDepth > 0
		}
		text = text[i+1:]
		closing := text[0] == '/'
		word := strings.TrimPrefix(text, "/")
		n := 0
		for n < len(word) && n < 16 && isAlnum(word[n]) {
			n++
		}
		if n == 0 {
			continue
		}
		tag := lowerASCII(word[:n])
		next := strings.IndexAny(word[n:], "<>")
		if next < 0 || word[n+next] == '<' {
			rest := word[n:]
			if next >= 0 {
				rest = rest[:next]
			}
			if next < 0 && (strings.TrimSpace(rest) == "" || strings.Contains(rest, "=")) {
				s.openTag = true
				return true
			}
			continue
		}
		switch {
		case s.hidingDepth == 0 && !closing && slices.Contains(hidingTags[:], tag):
			s.hidingTag, s.hidingDepth, concerned = tag, 1, true
		case s.hidingDepth > 0 && tag == s.hidingTag && closing:
			s.hidingDepth--
		case s.hidingDepth > 0 && tag == s.hidingTag:
			s.hidingDepth++
		}
	}
}

// followStrikes keeps track of what is struck out: GitHub takes one tilde or two, and a struck part may go on over the lines
// of a paragraph. It reports whether a part of this line may be struck out.
func (s *pageScanner) followStrikes(text string) bool {
	concerned := s.struck
	for i := strings.IndexByte(text, '~'); i >= 0 && i < len(text); {
		n := leadingCount(text[i:], '~')
		if n <= 2 {
			s.struck, concerned = !s.struck, true
		}
		next := strings.IndexByte(text[i+n:], '~')
		if next < 0 {
			break
		}
		i += n + next
	}
	return concerned
}

// isLinkDefinition reports whether a line defines a link or a footnote: "[name]: address".
func isLinkDefinition(text string) bool {
	indent, rest := cutIndent(text)
	if indent > 3 || !strings.HasPrefix(rest, "[") {
		return false
	}
	end := strings.IndexByte(rest, ']')
	return end > 1 && strings.HasPrefix(rest[end+1:], ":")
}

// endsInItsOwnWay reports whether an XML instruction, a declaration or CDATA begins in a line: where those end is not followed.
func endsInItsOwnWay(text string) bool {
	if strings.Contains(text, "<?") {
		return true
	}
	for {
		_, after, found := strings.Cut(text, "<!")
		if !found {
			return false
		}
		if after != "" && (after[0] == '[' || isAlnum(after[0])) {
			return true
		}
		text = after
	}
}

// underlineHeading makes the line before a heading, if text underlines it.
func (s *pageScanner) underlineHeading(text string) {
	mark := strings.TrimSpace(text)
	if len(s.lines) == 0 || mark == "" || leadingCount(mark, mark[0]) != len(mark) || mark[0] != '=' && mark[0] != '-' {
		return
	}
	last := &s.lines[len(s.lines)-1]
	if last.visibility != inView || last.level > 0 || last.afterComment || strings.TrimSpace(last.text) == "" ||
		strings.Contains(last.text, "|") {
		return
	}
	if _, item := listItem(strings.TrimSpace(last.text)); item {
		return
	}
	last.level = 2
	if mark[0] == '=' {
		last.level = 1
	}
}
