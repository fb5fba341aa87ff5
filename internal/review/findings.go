package review

// This file reads counts and lists of findings.
//
// A finding is only ever quoted. Read are: table rows and lines that count by severity, items that begin with a severity
// or stand under a heading that is one, and "No issues found" as a line of its own. A severity in the middle of a
// sentence is prose.

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// findingTally holds the findings that a text counts and lists.
type findingTally struct {
	found      []quorum.Finding // with a severity: they object
	listed     []quorum.Finding // with a place only: quoted beside a verdict that objects
	counted    map[quorum.Severity]int
	zero       bool // counts something that matters, and everything it counts is zero
	clean      bool // says as a whole that there is nothing
	sure       bool // something that counts stands in plain view
	unfilled   bool // a count is a placeholder
	detail     string
	rule       string // what decided, and the index of its line
	line       int
	read       bool            // it shows that something was read: files, a commit, praise, what was resolved
	coloured   bool            // marks of other colours stand beside green ones, so that green is a severity
	said       bool            // the line that is read counts, or says that there is nothing
	firstFound int             // the index of the line of the first finding
	prose      int             // the index of the last line that is neither, nor a footer; -1: none
	block      *quorum.Finding // the finding that a block of labels begins, and the index of its newest line
	blockLine  int
}

// section is the part of a text that a line stands in.
type section struct {
	severity     quorum.Severity // of the heading
	level        int             // of the heading; bold lines have 7
	settled      bool            // it holds settled matters
	settledLevel int
	praises      bool // it is settled because it praises
	describes    bool // it describes and does not complain
	name         string
	hasContent   bool // a line of it was read already
	saysNone     bool // it says that there is nothing in it
	inherits     bool // it is one finding of the section above that has a heading of its own
	isFirst      bool // the title of the text
}

// tallyFindings returns the counts and lists of p.
func tallyFindings(p LinedText) findingTally {
	t := findingTally{counted: map[quorum.Severity]int{}, coloured: hasOtherColours(p), prose: -1}
	var (
		at       section
		last     *quorum.Finding // the finding that lines indented deeper belong to
		depth    int
		sections int
		link     place           // of the link that is the line of content before
		pending  *quorum.Finding // a numbered item without a place: one, if the next line is a link to the code
	)
	for i := 0; i < len(p.lines); i++ {
		l := p.lines[i]
		text := strings.TrimSpace(l.text)
		if l.visibility != inView && l.visibility != doubtful && !l.alert || text == "" {
			if l.visibility == quoted {
				last = nil
			}
			continue
		}
		if name, level, ok := headingOf(l, text); ok {
			above := at
			at = at.beginSection(name, level, text)
			if _, _, _, field := parseFieldLine(l); field || slices.Contains(approvedWords, name) { // it names no section
				at = section{level: level, name: name}
			}
			last = nil
			title, isFinding := severityOfTitle(headingText(text), t.coloured)
			if at.inherits {
				title, isFinding = above.severity, true
			}
			if isFinding && !at.settled && (at.inherits || at.severity == 0) {
				body := tags().ReplaceAllString(headingText(text), "")
				last, depth = t.addFound(findingAt(text, body, title), i, l.visibility == inView), -1
				at.hasContent = true
				continue
			}
			at.isFirst = sections == 0
			sections++
			if l.visibility == inView && t.isNothingFound(text) {
				t.noteClean(at, true, text, i)
			}
			continue
		}
		if at.praises && t.endsPraise(text) {
			at = section{level: at.level}
		}
		if text[0] == '|' {
			n := t.readTable(p.lines[i:], at, i)
			i += n - 1
			last = nil
			continue
		}
		columns, _ := cutIndent(l.text)
		item, isItem := listItem(text)
		if last != nil && columns > depth {
			if len(last.Body) < 4000 && !isMarkup(text) {
				last.Body += "\n" + text
			}
			if last.Path == "" {
				last.Path, last.Line = findPlace(text)
			}
			continue
		}
		if to, ok := permalink(text); ok {
			switch {
			case last != nil && last.Path == "":
				last.Path, last.Line = to.path, to.line
			case pending != nil:
				pending.Path, pending.Line = to.path, to.line
				t.listed = append(t.listed, *pending)
			}
			link, last, pending = to, nil, nil
			continue
		}
		isWordless := last != nil && len(t.listed) > 0 && last == &t.listed[len(t.listed)-1] && isPlaceOnly(last.Body)
		last, pending = nil, nil
		if !isItem {
			item = text
		}
		t.said = false
		before := len(t.listed)
		found := t.readLine(item, isItem, i, l, &at)
		if isWordless && !t.said && !isPlaceOnly(item) { // "**cart.go:13**", and its words below
			found = t.joinPlace(before-1, found, item)
		}
		switch {
		case found != nil:
			if last, depth = found, columns; found.Path == "" {
				found.Path, found.Line = link.path, link.line
			}
		case isItem && !t.said && !at.settled && !at.describes && text[0] >= '0' && text[0] <= '9':
			pending = &quorum.Finding{Body: item}
		}
		link = place{}
		t.noteProse(i, l, text, at, found != nil && !(isWordless && found.Severity == 0))
	}
	return t
}

// severityOfTitle returns the severity that sets a heading off as a finding: "[P1] The lock is never released".
func severityOfTitle(title string, coloured bool) (quorum.Severity, bool) {
	for range 2 {
		title, _ = listItem(strings.TrimLeft(title, "*_ "))
	}
	if s, ok := severityOfItem(title, true, coloured); ok {
		rest := title
		if _, after, found := strings.Cut(title, ":"); found {
			rest = after
		}
		if words := plainWords(rest); strings.Contains(words, " ") && !saysNothing(words) {
			return s, true
		}
	}
	return setOffSeverity(title, true)
}

// setOffWord matches a severity that brackets, dashes or a path set off within a line.
var setOffWord = lazyRegexp("(?:^|[(\\[{—–:·→|`]\\s*|\\s-\\s|" + `[\w/]\.\w+(?::\d+)?:? [(\[]?)` +
	`(?:severity: ?|sev(?:erity)?[ =])?(critical|blocker|high|major|medium|p[0-2])(?:[ -](?:severity|priority|risk))?` +
	`(?:\s*[)\]}—–:·→|/,!]|\s-\s| [\w/]+\.\w+(?::\d+)?|$)`)

// setOffSeverity returns the severity that is set off in a line of several words: at its beginning or, if anywhere, within it.
func setOffSeverity(line string, anywhere bool) (quorum.Severity, bool) {
	words := strings.TrimLeft(plainWords(line[:min(len(line), maxMatchedLine)]), "–—→#()0123456789. ")
	m := setOffWord().FindStringSubmatchIndex(words)
	if m == nil || m[0] > 0 && !anywhere {
		return 0, false
	}
	behind := strings.TrimLeft(words[m[1]:], " :-—–")
	if isSettled(words) || saysNothing(behind) || strings.Count(strings.TrimSpace(words[:m[0]]+words[m[1]:]), " ") < 2 {
		return 0, false
	}
	return severityOfLabel(words[m[2]:m[3]])
}

// joinPlace makes one finding of listed[i], which names a place and says nothing, and of the line below: found, if that began
// one by itself.
func (t *findingTally) joinPlace(i int, found *quorum.Finding, item string) *quorum.Finding {
	if found == nil {
		t.listed[i].Body = item
		return &t.listed[i]
	}
	found.Path, found.Line = t.listed[i].Path, t.listed[i].Line
	isListed := i+1 < len(t.listed)
	t.listed = slices.Delete(t.listed, i, i+1)
	if isListed {
		return &t.listed[len(t.listed)-1]
	}
	return found
}

// isMarkup reports whether a line is a rule or holds nothing but tags: nobody says anything by it.
func isMarkup(text string) bool {
	return len(text) <= maxMatchedLine && (stripMarks(text) == "" || strings.Trim(text, "-*_= ") == "")
}

// tags matches the tags in a line.
var tags = lazyRegexp(`</?[A-Za-z][^<>]*>`)

// isPlaceOnly reports whether a finding's line names a place and says nothing of it.
func isPlaceOnly(body string) bool {
	return len(body) <= maxMatchedLine && onlyPlace().MatchString(strings.Trim(body, "*_`:[]() "))
}

// onlyPlace matches path:line and path:line-line.
var onlyPlace = lazyRegexp(`^[\w@+~./\\\x{80}-\x{10ffff}-]+:\d[\d-]*$`)

// praisingSection matches the names of settled sections that hold praise, and nothing that was ever found.
var praisingSection = lazyRegexp(`\b(?:good|positives?|strengths?|praise|highlights|what works|what went well|well done|kudos|observed practices)\b`)

// endsPraise reports whether a line in a section of praise is none: it has a severity.
func (t *findingTally) endsPraise(text string) bool {
	item, isItem := listItem(text)
	if _, tagged := severityOfItem(item, isItem, t.coloured); tagged {
		return true
	}
	words := plainWords(text[:min(len(text), maxMatchedLine)])
	isCount := hasSeverity(words) || strings.Contains(words, "severity") || strings.Contains(words, "issues")
	return strings.HasPrefix(words, "severity:") || text[0] == '|' && isCount ||
		someFound().MatchString(words) || openCount().MatchString(words)
}

// openCount matches a count of findings in a line.
var openCount = lazyRegexp(`\b(?:critical|high|medium|blockers?|major|issues?|findings?|problems?|bugs?)(?: found)?: ?[1-9]`)

// hasOtherColours reports whether a page holds a coloured mark that is not green.
func hasOtherColours(p LinedText) bool {
	for _, l := range p.lines {
		if l.visibility != hidden && strings.ContainsAny(l.text, "🔴🟠🟡") {
			return true
		}
	}
	return false
}

// noteProse notes a line that is no count, no finding and no footer, and what it shows of what was read.
func (t *findingTally) noteProse(i int, l pageLine, text string, at section, found bool) {
	if at.settled {
		t.read = t.read || l.visibility == inView
		return
	}
	words := plainWords(text[:min(len(text), maxMatchedLine)])
	showsRead := filesRead().MatchString(words) || strings.HasPrefix(words, "reviewed commit")
	t.read = t.read || showsRead
	isPlainCount := showsRead && strings.Count(words, " ") < 5
	if !t.said && !found && !isPlainCount && !at.describes && !l.folded && words != "" && !isFooter(text) {
		t.prose = i
	}
}

// filesRead matches a positive number of files that were read.
var filesRead = lazyRegexp(`\b[1-9]\d* (?:changed |code )?(?:files?|objects?)\b.{0,20}\b(?:` + wasRead + `)\b` +
	`|\b(?:` + wasRead + `|across|in)(?: all)?:? (?:the )?[1-9]\d* (?:changed |code )?(?:files?|objects?)\b` +
	`|\bfiles (?:` + wasRead + `|changed)(?: |: ?| - )[1-9]`)

// saysNothingElse reports whether a count of zero, or a line that says that there is nothing, may approve: nothing but
// footers follows it, and beside a bare count something shows what was read.
func (t *findingTally) saysNothingElse() bool {
	return t.prose < t.line && (t.clean || t.read)
}

// isNothingFound reports whether a line says that there is nothing, and notes whether it says where it looked.
func (t *findingTally) isNothingFound(text string) bool {
	words := statementOf(text)
	isLink := strings.Contains(text, "](") // whose text names what it leads to
	if isLink || strings.ContainsAny(text, crosses) || !isOneOf(nothingFound(), words) {
		return false
	}
	t.read = t.read || filesRead().MatchString(words)
	return true
}

// noteClean notes that a line says that nothing was found. It says so for the whole text above all sections, as a heading, or in
// a section of that kind.
func (t *findingTally) noteClean(at section, isHeading bool, text string, i int) {
	t.said = true
	t.clean = t.clean || isHeading || at.name == "" || at.isFirst || overallSection().MatchString(at.name)
	if t.line = max(t.line, i); t.detail == "" {
		t.detail, t.rule = shortQuote(text), "nothing found"
	}
}

// beginSection returns the section that a heading begins below s. text is its line as it is written.
func (s section) beginSection(name string, level int, text string) section {
	n := section{level: level, name: name}
	named := false
	n.severity, named = severityOfLabel(name)
	switch {
	case !named && name != "" && s.severity > 0 && !s.settled && !s.saysNone && level > s.level &&
		!settledWords().MatchString(name) && !describingSection().MatchString(name) && !saysNothing(name):
		n.inherits, n.severity, n.level = true, s.severity, s.level
	case s.settled && level > s.settledLevel && !(s.praises && n.severity >= quorum.Medium):
		n.settled, n.settledLevel, n.praises = true, s.settledLevel, s.praises
	case isSettledName(name, level) && !isBoldSentence(text):
		n.settled, n.settledLevel, n.praises = true, level, praisingSection().MatchString(name)
	case describingSection().MatchString(name):
		n.describes = true
	}
	return n
}

// isSettledName reports whether a section of that name holds settled matters. A title never does: its words are the author's.
func isSettledName(name string, level int) bool {
	return level > 1 && strings.Count(name, " ") < 4 && isSettled(name)
}

// readLine reads a line that is neither heading nor table. It returns the finding that the line begins, nil if none.
func (t *findingTally) readLine(item string, isItem bool, i int, l pageLine, at *section) *quorum.Finding {
	short := len(item) <= maxMatchedLine
	words := ""
	if short {
		words = plainWords(item)
	}
	switch {
	case len(item) < 120 && !isItem && l.visibility == inView && t.isNothingFound(item):
		t.noteClean(*at, false, item, i)
		at.hasContent = true
		return nil
	case short && !at.settled && t.readCounts(words, item, i, l.visibility == inView):
		t.said = true
		return nil
	case short && (words == "" || isMarkup(item)), isItem && placeholder().MatchString(words): // a line of markup alone is no finding
		return nil
	case short && (isItem || at.severity > 0 && !at.hasContent) && saysNothing(words):
		if at.severity > 0 || isItem {
			at.hasContent, at.saysNone = true, true
		}
		t.said = true
		return nil
	case at.settled:
		return nil
	}
	severity, tagged := severityOfItem(item, isItem, t.coloured)
	if !tagged && short {
		severity, tagged = setOffSeverity(item, isItem || strings.HasPrefix(item, "**"))
	}
	if label, value, found := strings.Cut(words, ":"); found && short {
		switch _, named := severityOfLabel(label); {
		case named && saysNothing(value): // "**Critical:** None"
			t.said = true
			return nil
		case t.readBlock(strings.TrimSpace(label), strings.TrimSpace(value), item, i):
			return nil
		}
	}
	if !tagged && at.severity > 0 && (isItem || !at.hasContent) {
		severity, tagged = at.severity, true
		if placeholder().MatchString(words) {
			t.unfilled = true
			return nil
		}
	}
	at.hasContent = true
	finding := findingAt(item, item, severity)
	switch {
	case tagged:
		return t.addFound(finding, i, l.visibility == inView)
	case finding.Path != "" && (isItem && !at.describes || strings.HasPrefix(item, "**")):
		t.listed = append(t.listed, finding)
		return &t.listed[len(t.listed)-1]
	}
	return nil
}

// readBlock reads a line of a block of labels: a severity, then a place and what is wrong there.
func (t *findingTally) readBlock(label, value, item string, i int) bool {
	switch label {
	case "severity", "priority":
		severity, ok := severityOfLabel(trimSymbols(value))
		if t.block = nil; ok {
			t.block, t.blockLine = &quorum.Finding{Severity: severity}, i
		}
		return ok
	case "file", "location", "path", "line", "place", "problem", "issue", "description", "title", "finding":
	default:
		return false
	}
	if t.block == nil || i > t.blockLine+4 || value == "" {
		return false
	}
	if path, line := findPlace(item); path != "" {
		t.block.Path, t.block.Line = path, line
	}
	if t.blockLine = i; t.block.Body == "" {
		t.block.Body, t.said = item, true
		t.addFound(*t.block, i, true)
	}
	last := &t.found[len(t.found)-1]
	if last.Path == "" {
		last.Path, last.Line = t.block.Path, t.block.Line
	}
	if last.Body != item {
		last.Body += "\n" + item
	}
	return true
}

// readCounts reads a line that counts: "Critical: 0 · High: 2", "3 issues found".
func (t *findingTally) readCounts(words, item string, i int, sure bool) bool {
	if words == "" {
		return false
	}
	if !strings.ContainsAny(words, ":0123456789") {
		return false
	}
	if m := someFound().FindStringSubmatch(words); m != nil && len(words) < 160 && !settledCount().MatchString(words) {
		n, _ := strconv.Atoi(m[1])
		severity, _ := severityOfLabel(strings.TrimSpace(m[2]))
		t.addCount(severity, n, m[2] == "", item, i, sure)
		return true
	}
	if label, rest, found := strings.Cut(words, ": "); found && issueLabel().MatchString(label) && hasSeverity(rest) {
		words = strings.Trim(strings.NewReplacer(" (", ", ", ")", "").Replace(rest), " ,")
		if n, more, found := strings.Cut(words, ", "); found && strings.Trim(n, "0123456789") == "" {
			words = more
		}
	}
	if !hasSeverity(words) && !issueLabel().MatchString(strings.TrimRight(words, ": 0123456789")) {
		return false
	}
	type counted struct {
		severity quorum.Severity
		n        int
		total    bool
	}
	var parts []counted
	for _, part := range strings.FieldsFunc(words, func(r rune) bool {
		return r == '·' || r == ',' || r == ';' || r == '|' || r == '•'
	}) {
		part = trimSymbols(part)
		label, number := "", ""
		if m := countLine().FindStringSubmatch(part); m != nil && utf8.RuneCountInString(m[2]) <= 41 {
			label, number = m[1], m[3]
		} else if m := countWord().FindStringSubmatch(part); m != nil && utf8.RuneCountInString(m[2]) <= 31 {
			label, number = m[2], m[1]
		} else {
			return false
		}
		if settledWords().MatchString(label) {
			continue
		}
		severity, ok := severityOfLabel(label)
		total := issueLabel().MatchString(label)
		if !ok && !total {
			return false
		}
		n, err := strconv.Atoi(number)
		if number == "none" && !strings.Contains(words, ",") { // a label of nothing counts nothing
			return false
		}
		if err != nil && number != "none" {
			t.unfilled = true
			continue
		}
		parts = append(parts, counted{severity, n, total})
	}
	for _, p := range parts {
		t.addCount(p.severity, p.n, p.total, item, i, sure)
	}
	return true
}

// addCount counts n findings of a severity.
func (t *findingTally) addCount(severity quorum.Severity, n int, total bool, text string, i int, sure bool) {
	before := t.counted[severity]
	t.counted[severity] = before + n
	if t.line = max(t.line, i); n > 0 && before == 0 || t.detail == "" {
		t.detail, t.rule = shortQuote(text), "count"
	}
	if !sure || n == 0 && (strings.ContainsAny(text, "❌⛔🚫🛑👎✗✘⚠") || strings.HasPrefix(text, "[ ]")) {
		return
	}
	t.sure = true
	if n == 0 && (total || severity >= quorum.High) {
		t.zero = true
	}
}

// readTable reads the table that begins at lines[0] and returns its number of lines.
func (t *findingTally) readTable(lines []pageLine, at section, from int) (n int) {
	var rows [][]string
	var raw []string
	sure := true
	for n < len(lines) && (lines[n].visibility == inView || lines[n].visibility == doubtful) {
		text := strings.TrimSpace(lines[n].text)
		if text == "" || text[0] != '|' {
			break
		}
		n++
		sure = sure && lines[n-1].visibility == inView && !isDeceptive(text)
		if len(text) > 4*maxMatchedLine || len(rows) > 500 {
			continue
		}
		cells := cellsOf(text)
		for i, c := range cells {
			cells[i] = stripMarks(strings.TrimSpace(c))
		}
		rows, raw = append(rows, cells), append(raw, text)
	}
	if n == 0 {
		return 1
	}
	if at.settled || len(rows) < 2 {
		return n
	}
	header, body := rows[0], rows[1:]
	raw = raw[1:]
	if strings.Trim(strings.Join(body[0], ""), "-: ") == "" { // the rule below the header
		body, raw = body[1:], raw[1:]
	}
	across := make([]quorum.Severity, len(header)) // the severity of each column, where columns are severities
	skip := make([]bool, len(header))              // columns of settled matters
	open := -1
	wide := false
	for i, h := range header {
		h = trimSymbols(h)
		if severity, ok := severityOfCell(header[i], t.coloured); ok && i > 0 || ok && len(header) > 2 {
			across[i], wide = severity, true
		}
		skip[i] = isSettled(h)
		if h == "open" || h == "remaining" || h == "unresolved" || h == "outstanding" {
			open = i
		}
	}
	if severity, ok := severityOfCell(header[0], t.coloured); ok && wide && !slices.Contains(across[1:], 0) {
		across[0] = severity // each column is one
	}
	isCount := func(cells []string) bool { _, ok := severityOfCell(cells[0], t.coloured); return ok }
	if at.severity > 0 && !wide && !slices.ContainsFunc(body, isCount) {
		t.listRows(body, raw, at.severity, from, sure)
		return n
	}
	for r, cells := range body {
		label := trimSymbols(cells[0])
		if isSettled(label) {
			t.read = t.read || sure && hasPositive(cells[1:])
			continue
		}
		if t.readRow(header, cells, raw[r], from, sure) {
			continue
		}
		severity, ok := severityOfCell(cells[0], t.coloured)
		total := issueLabel().MatchString(label)
		for i, c := range cells {
			counts := i > 0 && (ok || total) && !wide
			if i < len(header) {
				counts = counts && !skip[i] && (open < 0 || i == open)
				if across[i] > 0 {
					severity, counts = across[i], true
				}
			}
			if !counts {
				continue
			}
			c = trimSymbols(c)
			t.read = t.read || open >= 0 && hasPositive(cells[1:]) // what was found is not open any more
			switch number, err := strconv.Atoi(c); {
			case err == nil && number >= 0:
				t.addCount(severity, number, total, raw[r], from, sure)
			case c == "none":
				t.addCount(severity, 0, total, raw[r], from, sure)
			case c != "" && c[0] >= '1' && c[0] <= '9' && !settledWords().MatchString(c): // "2 new"
				t.addCount(severity, 1, total, raw[r], from, sure)
			case placeholder().MatchString(c):
				t.unfilled = true
			}
		}
	}
	return n
}

var (
	// severityColumn matches the name of a column that holds the severity of each row.
	severityColumn = lazyRegexp(`^(?:severity|sev|priority|prio|level)$`)
	// otherColumn matches the name of a column by which a table explains severities, or counts by them.
	otherColumn = lazyRegexp(`^(?:meaning|definition|counts?|number|total|n|#? ?of findings|means|action)$`)
)

// readRow reads a row of a table with a column of severities, as one finding.
func (t *findingTally) readRow(header, cells []string, raw string, from int, sure bool) bool {
	at := slices.IndexFunc(header, func(h string) bool { return severityColumn().MatchString(trimSymbols(h)) })
	if at < 0 || at >= len(cells) || slices.ContainsFunc(header, func(h string) bool { return otherColumn().MatchString(trimSymbols(h)) }) {
		return false
	}
	severity, ok := severityOfCell(cells[at], t.coloured)
	says := false
	for i, c := range cells {
		if c = trimSymbols(c); i == at || c == "" {
			continue
		}
		if isSettled(c) && strings.Count(c, " ") < 3 || saysNothing(c) {
			return false
		}
		says = says || strings.Trim(c, "0123456789 -") != "" && !placeholder().MatchString(c)
	}
	if !ok || !says {
		return false
	}
	t.listRow(raw, severity, from, sure)
	return true
}

// listRow takes a row of a table for a finding.
func (t *findingTally) listRow(raw string, severity quorum.Severity, from int, sure bool) {
	row := strings.NewReplacer("|", " ", "`", "").Replace(raw)
	t.addFound(findingAt(row, strings.Trim(raw, "| "), severity), from, sure)
}

// findingAt returns a finding with the place that a line names.
func findingAt(line, body string, severity quorum.Severity) quorum.Finding {
	path, number := findPlace(line)
	return quorum.Finding{Path: path, Line: number, Body: body, Severity: severity}
}

// addFound adds a finding of line i, and returns it where it is kept. sure says that it stands in plain view.
func (t *findingTally) addFound(f quorum.Finding, i int, sure bool) *quorum.Finding {
	if len(t.found) == 0 {
		t.firstFound = i
	}
	t.found, t.sure = append(t.found, f), t.sure || sure
	return &t.found[len(t.found)-1]
}

// listRows takes the rows of a table under a severity for findings, but for those that say that there is none.
func (t *findingTally) listRows(body [][]string, raw []string, severity quorum.Severity, from int, sure bool) {
	for r, cells := range body {
		whole := strings.TrimSpace(strings.Join(cells, " "))
		isUnfilled := slices.ContainsFunc(cells, func(c string) bool { return placeholder().MatchString(trimSymbols(c)) })
		if isUnfilled || strings.Trim(whole, "- –—") == "" || saysNothing(whole) {
			continue
		}
		t.listRow(raw[r], severity, from, sure)
	}
}

// hasPositive reports whether a cell is a positive number.
func hasPositive(cells []string) bool {
	return slices.ContainsFunc(cells, func(c string) bool {
		n, err := strconv.Atoi(trimSymbols(c))
		return err == nil && n > 0
	})
}

// severityOfCell returns the severity of a table's cell: by its words, else by its coloured mark.
func severityOfCell(label string, coloured bool) (quorum.Severity, bool) {
	if s, ok := severityOfLabel(trimSymbols(label)); ok {
		return s, true
	}
	if bare := trimSymbols(label); bare != "" && !issueLabel().MatchString(bare) {
		return 0, false
	}
	return severityOfMark(label, coloured)
}

// hasObjection reports whether a finding objects. least is the least severity that does: with quorum.SeverityAny every
// finding objects, and one of unknown severity always does.
func (t findingTally) hasObjection(least quorum.Severity) bool {
	for _, f := range t.found {
		if !isBelow(f.Severity, least) {
			return true
		}
	}
	for s, n := range t.counted {
		if n > 0 && !isBelow(s, least) {
			return true
		}
	}
	return false
}

// countsGrave reports whether a count says that there is something grave, whatever other counts say.
func (t findingTally) countsGrave(least quorum.Severity) bool {
	for s, n := range t.counted {
		if n > 0 && s >= max(least, quorum.Medium) {
			return true
		}
	}
	return false
}

// countsOnlyAt reports whether t holds nothing but what a line counts, which a vendor's own sentence explains.
func (t findingTally) countsOnlyAt(line int) bool { return len(t.found) == 0 && t.line == line }

// isMinorOnly reports whether t is only a list of minor findings without a file and line.
func (t findingTally) isMinorOnly() bool {
	return len(t.counted) == 0 &&
		!slices.ContainsFunc(t.found, func(f quorum.Finding) bool { return f.Severity != quorum.Low || f.Path != "" })
}

// hasFindings reports whether anything is counted or listed with a severity.
func (t findingTally) hasFindings() bool { return t.hasObjection(quorum.SeverityAny) }

// contradictsItself reports whether the counts say that there is nothing where the text lists findings.
func (t findingTally) contradictsItself() bool {
	for s, n := range t.counted {
		if n > 0 {
			continue
		}
		for _, f := range t.found {
			if f.Severity == s || s == 0 {
				return true
			}
		}
	}
	nothing := t.clean || t.zero && !t.hasFindings()
	return nothing && (t.hasFindings() || len(t.listed) > 0)
}

// allFindings returns the findings to quote, marked where they lie below least.
func (t findingTally) allFindings(least quorum.Severity) []quorum.Finding {
	out := append([]quorum.Finding(nil), t.found...)
	out = append(out, t.listed...)
	for i := range out {
		out[i].Below = isBelow(out[i].Severity, least)
	}
	return out
}

// toRuling returns the ruling of the tally by itself; silent if it holds nothing.
func (t findingTally) toRuling(least quorum.Severity) ruling {
	r := ruling{detail: t.detail, rule: t.rule, line: t.line}
	if len(t.found) > 0 {
		r.detail, r.rule, r.line = shortQuote(t.found[0].Body), "finding", t.firstFound
	}
	switch {
	case t.contradictsItself() && !t.countsGrave(least):
		r.vote = yesAndNo
	case t.hasObjection(least):
		r.vote = objects
	case t.unfilled:
		r.vote = unfilledTemplate
	case t.hasFindings() && t.sure, t.zero, t.clean:
		r.vote = approves
	default:
		r.detail = ""
	}
	return r
}

// namesPlace reports whether a finding with a place is listed.
func (t findingTally) namesPlace() bool {
	return slices.ContainsFunc(t.found, func(f quorum.Finding) bool { return f.Path != "" })
}
