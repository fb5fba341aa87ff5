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
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	var s pageScanner
	s.size = len(body)
	s.lines = make([]pageLine, 0, 1+strings.Count(body, "\n"))
	for raw := range strings.SplitSeq(body, "\n") {
		switch {
		case s.fence != 0:
			s.scanFenced(raw)
		case s.inComment:
			s.scanCommented(raw)
		default:
			s.scanOutside(raw)
		}
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
	s.inComment = false
}

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

func (s *pageScanner) scanFenced(raw string) {
	indent, rest := cutIndent(raw)
	n := leadingCount(rest, s.fence)
	switch {
	case n >= s.fenceLen && strings.TrimSpace(rest[n:]) == "":
		if !s.fenceUncertain && indent <= 3 {
			s.blocks = append(s.blocks, fencedBlock{text: s.fenceBody.String(), closed: true, end: len(s.lines)})
		}
		s.ambiguous = s.ambiguous || !s.fenceUncertain && indent > 3 // it closes the fence only if both stand in a list
		s.fence = 0
		s.addLine("", hidden)
	case s.fenceUncertain, indent < s.fenceIndent && rest != "": // a line that leaves the list's item would end its fence
		s.addLine(raw, doubtful)
	default:
		s.fenceBody.WriteString(raw + "\n")
		s.addLine("", hidden)
	}
}

func (s *pageScanner) scanCommented(raw string) {
	text, after, isClosed := strings.Cut(raw, "-->")
	s.commentText.WriteString(text)
	switch {
	case isClosed:
		s.noteComment(s.commentText.String())
		s.scanText(after, s.commentMayShow, true)
		return
	case s.commentMayShow:
		s.addLine(raw, doubtful)
	default:
		s.addLine("", hidden)
	}
	s.commentText.WriteByte('\n')
}

// scanOutside reads a line outside of fences and comments.
func (s *pageScanner) scanOutside(raw string) {
	indent, rest := cutIndent(raw)
	inner, items := cutItems(rest, 4) // a fence or a quote may follow the mark of a list's item
	switch {
	case rest == "":
		s.lazyQuote, s.openSpan, s.struck, s.inDefinition = false, false, false, false
		s.addLine("", inView)
	case indent <= 3 && rest[0] == '>':
		text := strings.TrimLeft(rest, "> \t")
		s.lazyQuote = text != ""
		s.addLine(text, quoted)
	case s.beginFence(inner):
		s.fenceIndent = indent
		s.fenceUncertain = indent > 3 || items > 0 || s.ambiguous
		s.addLine("", hidden)
	case items > 0 && strings.HasPrefix(inner, ">"):
		s.lazyQuote = true
		s.addLine(raw, quoted)
	default:
		s.scanText(raw, indent > 3, false)
	}
}

// beginFence begins a fence, and reports whether text opens one.
func (s *pageScanner) beginFence(text string) bool {
	if text == "" || text[0] != '`' && text[0] != '~' {
		return false
	}
	n := leadingCount(text, text[0])
	if n < 3 || text[0] == '`' && strings.Contains(text[n:], "`") {
		return false
	}
	s.fence, s.fenceLen = text[0], n
	s.fenceBody.Reset()
	s.lazyQuote, s.openSpan = false, false
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
	bare := cutCodeSpans(text)
	isUnsure := soft || s.lazyQuote || s.openSpan || s.openTag || s.hidingDepth > 0 || s.ambiguous || s.inDefinition
	isUnsure = s.followStrikes(bare) || isUnsure
	s.inDefinition = s.inDefinition || linkDefinition().MatchString(text)
	isOnlyCode := strings.TrimSpace(bare) == "" && strings.TrimSpace(text) != "" // which is no statement
	see := inView
	if s.followTags(bare) || isUnsure || isOnlyCode || s.inDefinition {
		see = doubtful
	}
	s.ambiguous = s.ambiguous || ownEnding().MatchString(bare)
	s.openSpan = s.openSpan || unclosed && level == 0
	s.underlineHeading(text)
	isCoded := !isUnsure && codeRow().MatchString(text)
	s.lines = append(s.lines, pageLine{text: text, visibility: see, level: level, afterComment: lead, coded: isCoded})
}

var (
	// codeRow matches a line that is nothing but parts in <code>, as a vendor draws its counts.
	codeRow = lazyRegexp("^(?:\\s*<code>[^<>`~]*</code>)+\\s*$")
	// linkDefinition matches the definition of a link or a footnote: "[name]: address".
	linkDefinition = lazyRegexp(`^[ \v\f]{0,3}\[[^\]]+\]:`)
	// ownEnding matches the beginning of an XML instruction, a declaration or CDATA: where those end is not followed.
	ownEnding = lazyRegexp(`<\?|<!(?:\[|[0-9A-Za-z])`)
	// anyTag matches a tag, which may go on in the next line: then its end is "".
	anyTag = lazyRegexp(`<(/?)([0-9A-Za-z]{1,16})([^<>]*)(>|$)`)
	// tildes and backticks match runs of them.
	tildes    = lazyRegexp(`~+`)
	backticks = lazyRegexp("`+")
)

// cutComments cuts the HTML comments out of a line, and begins one that is not closed in it. In a code span there is none.
// unclosed reports whether the line leaves a code span open.
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
	for i := 0; ; {
		at := strings.Index(raw[i:], "<!--")
		if at < 0 {
			break
		}
		at += i
		for len(spans) > 0 && (spans[0][0] < i || spans[0][1] <= at) { // a span within a comment, or before this mark
			spans = spans[1:]
		}
		if len(spans) > 0 && spans[0][0] < at {
			i = spans[0][1]
			continue
		}
		b.WriteString(raw[from:at])
		isFirst := strings.TrimSpace(b.String()) == ""
		*lead = *lead || isFirst
		// "<!-->" is a whole comment: its end may share the dashes of its beginning.
		end := strings.Index(raw[at+2:], "-->")
		if end < 0 {
			s.inComment, s.commentMayShow = true, !isFirst
			s.commentText.Reset()
			s.commentText.WriteString(raw[at+4:] + "\n")
			return b.String(), unclosed
		}
		if end > 2 {
			s.noteComment(raw[at+4 : at+2+end])
		}
		i = at + 2 + end + len("-->")
		from = i
	}
	b.WriteString(raw[from:])
	return b.String(), unclosed
}

// codeSpans finds the code spans of a line, each from its first byte to behind its last, in order.
func codeSpans(raw string) (spans [][]int, unclosed bool) {
	runs := backticks().FindAllStringIndex(raw, -1)
	next := map[int]int{} // by length: the nearest run to the right
	closing := make([]int, len(runs))
	for i, run := range slices.Backward(runs) {
		closing[i], next[run[1]-run[0]] = next[run[1]-run[0]], i
	}
	for i := 0; i < len(runs); i++ {
		if end := closing[i]; end > 0 {
			spans = append(spans, []int{runs[i][0], runs[end][1]})
			i = end
		} else {
			unclosed = true
		}
	}
	return spans, unclosed
}

func cutCodeSpans(text string) string {
	return replaceCodeSpans(text, func(string) string { return "" })
}

// replaceCodeSpans returns a line with something in the place of each of its code spans.
func replaceCodeSpans(text string, by func(span string) string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	spans, _ := codeSpans(text)
	var b strings.Builder
	from := 0
	for _, s := range spans {
		b.WriteString(text[from:s[0]] + by(text[s[0]:s[1]]))
		from = s[1]
	}
	b.WriteString(text[from:])
	return b.String()
}

// followTags keeps track of hidingTags, and reports whether a part of this line stands between them.
func (s *pageScanner) followTags(text string) (concerned bool) {
	if s.openTag {
		_, after, isClosed := strings.Cut(text, ">")
		if !isClosed {
			return true
		}
		s.openTag, concerned, text = false, true, after
	}
	for _, m := range anyTag().FindAllStringSubmatch(text, -1) {
		tag, isClosing := lowerASCII(m[2]), m[1] != ""
		switch {
		case m[4] == "":
			s.openTag = strings.TrimSpace(m[3]) == "" || strings.Contains(m[3], "=")
			concerned = concerned || s.openTag
		case s.hidingDepth == 0 && !isClosing && slices.Contains(hidingTags[:], tag):
			s.hidingTag, s.hidingDepth, concerned = tag, 1, true
		case s.hidingDepth == 0 || tag != s.hidingTag:
		case isClosing:
			s.hidingDepth--
		default:
			s.hidingDepth++
		}
	}
	return concerned || s.hidingDepth > 0
}

// followStrikes reports whether a part of this line may be struck out. GitHub takes one tilde or two, over several lines.
func (s *pageScanner) followStrikes(text string) bool {
	concerned := s.struck
	for _, run := range tildes().FindAllString(text, -1) {
		if len(run) <= 2 {
			s.struck, concerned = !s.struck, true
		}
	}
	return concerned
}

// underlineHeading makes the line before a heading, if text underlines it.
func (s *pageScanner) underlineHeading(text string) {
	mark := strings.TrimSpace(text)
	if len(s.lines) == 0 || mark == "" || strings.Trim(mark, "=") != "" && strings.Trim(mark, "-") != "" {
		return
	}
	last := &s.lines[len(s.lines)-1]
	above := strings.TrimSpace(last.text)
	_, isItem := listItem(above)
	if last.visibility == inView && last.level == 0 && !last.afterComment && above != "" && !strings.Contains(above, "|") && !isItem {
		last.level = map[byte]int{'=': 1, '-': 2}[mark[0]]
	}
}
