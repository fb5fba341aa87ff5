package review

// This file reads counts and lists of findings.
//
// A finding is only ever quoted. Read are: table rows and lines that count by severity, items that begin with a severity
// or stand under a heading that is one, and "No issues found" as a line of its own. A severity in the middle of a
// sentence is prose.

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

type findingTally struct {
	found    []*quorum.Finding        // with a severity: they object
	listed   []*quorum.Finding        // with a place only: quoted beside a verdict that objects
	counted  [1 + quorum.Critical]int // by severity, 0 for a total; -1: nothing counts it
	zero     bool                     // counts something that matters, and everything it counts is zero
	clean    bool                     // says as a whole that there is nothing
	sure     bool                     // something that counts stands in plain view
	unfilled bool                     // a count is a placeholder
	read     bool                     // it shows that something was read: files, a commit, praise, what was resolved
	counts   ruling                   // without a vote: the newest line that counts or says that there is nothing, and a quote of the first
	first    int                      // the index of the line of the first finding
	prose    int                      // the index of the last line that is neither, nor a footer; -1: none

	lines []pageLine

	// Of the line that is read:
	pageLine
	i        int  // its index
	said     bool // it counts, or says that there is nothing
	coloured bool // marks of other colours stand beside green ones, so that green is a severity
	at       section
	sections int             // how many began
	last     *quorum.Finding // the finding that lines indented deeper belong to
	depth    int
	linkPath string // of the link that is the line of content before, and the line that it leads to
	linkLine int
	pending  *quorum.Finding // a numbered item without a place: one, if the next line is a link to the code
	table    *table          // of which it may be a row
	block    *quorum.Finding // the finding that a block of labels begins, and the index of its newest line
	blockEnd int
}

type section struct {
	severity   quorum.Severity // of the heading
	level      int             // of the heading, or of the one above that says what it is; bold lines have 7
	settled    bool            // it holds settled matters
	praises    bool            // it is settled because it praises
	describes  bool            // it describes and does not complain
	name       string
	hasContent bool // a line of it was read already
	saysNone   bool // it says that there is nothing in it
	inherits   bool // it is one finding of the section above that has a heading of its own
}

func tallyFindings(p LinedText) findingTally {
	t := findingTally{lines: p.lines, counted: [...]int{-1, -1, -1, -1, -1}, prose: -1, block: &quorum.Finding{}}
	t.coloured = slices.ContainsFunc(p.lines, func(l pageLine) bool {
		return l.visibility != hidden && strings.ContainsAny(l.text, "🔴🟠🟡")
	})
	for t.i, t.pageLine = range p.lines {
		t.readLine(strings.TrimSpace(t.text))
	}
	return t
}

func (t *findingTally) readLine(text string) {
	isSeen := text != "" && (t.visibility < quoted || t.alert)
	if !isSeen || text[0] != '|' {
		t.table = nil
	}
	if !isSeen {
		if t.visibility == quoted {
			t.last = nil
		}
		return
	}
	if name, level, ok := headingOf(t.pageLine, text); ok {
		t.readHeading(name, level, text)
		return
	}
	if t.at.praises && t.endsPraise(text) {
		t.at = section{level: t.at.level}
	}
	columns, _ := cutIndent(t.text)
	switch path, line := permalink(text); {
	case text[0] == '|':
		t.last = nil
		t.readRow(text)
	case t.last != nil && columns > t.depth:
		addWords(t.last, text)
	case line > 0:
		if t.last == nil && t.pending != nil {
			t.last = t.addFinding(*t.pending)
		}
		if t.last != nil && t.last.Path == "" {
			t.last.Path, t.last.Line = path, line
		}
		t.linkPath, t.linkLine, t.last, t.pending = path, line, nil, nil
	default:
		t.readItem(text, columns)
	}
}

// readHeading begins the section of a heading, unless the heading is a finding by itself.
func (t *findingTally) readHeading(name string, level int, text string) {
	t.at, t.last = t.at.beginSection(name, level), nil
	if _, _, _, field := parseField(t.pageLine); field || slices.Contains(approvedWords, name) { // it names no section
		t.at = section{level: level, name: name}
	}
	severity, isFinding := t.at.severity, t.at.inherits
	if severity == 0 {
		severity = severityOfTitle(headingText(text), t.coloured)
		isFinding = severity > 0
	}
	if isFinding && !t.at.settled {
		t.last, t.depth = t.addFinding(findingAt(text, tags().ReplaceAllString(headingText(text), ""), severity)), -1
		t.at.hasContent = true
		return
	}
	t.sections++
	t.readNothingFound(text, true)
}

// readItem reads a line that is neither a heading nor part of a table or a finding.
func (t *findingTally) readItem(text string, columns int) {
	item, isItem := listItem(text)
	placed := t.last
	isWordless := placed != nil && placed.Severity == 0 && onlyPlace().MatchString(placed.Body)
	t.last, t.pending, t.said = nil, nil, false
	found := t.readWords(item, isItem)
	if isWordless && !t.said && !onlyPlace().MatchString(item) { // "**cart.go:13**", and its words below
		if found == nil {
			found, placed.Body = placed, item
		} else {
			found.Path, found.Line = placed.Path, placed.Line
			t.listed = slices.DeleteFunc(t.listed, func(f *quorum.Finding) bool { return f == placed })
		}
	}
	if found != nil && found.Path == "" {
		found.Path, found.Line = t.linkPath, t.linkLine
	}
	t.linkPath, t.linkLine, t.last, t.depth = "", 0, found, columns
	isOpen := found == nil && !t.said && !t.at.settled && !t.at.describes
	if isOpen && isItem && text[0] >= '0' && text[0] <= '9' {
		t.pending = &quorum.Finding{Body: item}
	}
	t.noteProse(text, found != nil && !(isWordless && found.Severity == 0))
}

// severityOfTitle returns the severity that sets a heading off as a finding: "[P1] The lock is never released".
func severityOfTitle(title string, coloured bool) quorum.Severity {
	for range 2 { // "1. 🔴 …", "**1) 🔴 …**"
		title, _ = listItem(strings.TrimLeft(title, "*_ "))
	}
	_, rest, found := strings.Cut(title, ":")
	if !found {
		rest = title
	}
	words := plainWords(rest)
	if s := severityOfItem(title, true, coloured); s > 0 && strings.Contains(words, " ") && !saysNothing(words) {
		return s
	}
	return setOffSeverity(title, true)
}

// setOffWord matches a severity that brackets, dashes or a path set off within a line.
var setOffWord = lazyRegexp("(?:^|[(\\[{—–:·→|`]\\s*|\\s-\\s|" + `[\w/]\.\w+(?::\d+)?:? [(\[]?)` +
	`(?:severity: ?|sev(?:erity)?[ =])?(critical|blocker|high|major|medium|p[0-2])(?:[ -](?:severity|priority|risk))?` +
	`(?:\s*[)\]}—–:·→|/,!]|\s-\s| [\w/]+\.\w+(?::\d+)?|$)`)

// setOffSeverity returns the severity that is set off in a line of several words: at its beginning or, if anywhere, within it.
func setOffSeverity(line string, anywhere bool) quorum.Severity {
	words := strings.TrimLeft(plainWords(line[:min(len(line), maxMatchedLine)]), "–—→#()0123456789. ")
	m := setOffWord().FindStringSubmatchIndex(words)
	if m == nil || m[0] > 0 && !anywhere {
		return 0
	}
	behind := strings.TrimLeft(words[m[1]:], " :-—–")
	if isSettled(words) || saysNothing(behind) || strings.Count(strings.TrimSpace(words[:m[0]]+words[m[1]:]), " ") < 2 {
		return 0
	}
	return severityOfLabel(words[m[2]:m[3]])
}

// isMarkup reports whether a line's words are a rule or nothing: nobody says anything by it.
func isMarkup(words string) bool { return strings.Trim(words, "-=_ ") == "" }

var tags = lazyRegexp(`</?[A-Za-z][^<>]*>`)

// onlyPlace matches path:line and path:line-line, with nothing said of it.
var onlyPlace = lazyRegexp("^[*_`:\\[\\]() ]*" + `[\w@+~./\\\x{80}-\x{10ffff}-]+:\d[\d-]*` + "[*_`:\\[\\]() ]*$")

// endsPraise reports whether a line in a section of praise is none: it has a severity.
func (t *findingTally) endsPraise(text string) bool {
	item, isItem := listItem(text)
	words := plainWords(text[:min(len(text), maxMatchedLine)])
	isCount := anySeverity().MatchString(words) || strings.Contains(words, "severity") || strings.Contains(words, "issues")
	return severityOfItem(item, isItem, t.coloured) > 0 || strings.HasPrefix(words, "severity:") || text[0] == '|' && isCount ||
		someFound().MatchString(words) || openCount().MatchString(words)
}

var openCount = lazyRegexp(`\b(?:critical|high|medium|blockers?|major|issues?|findings?|problems?|bugs?)(?: found)?: ?[1-9]`)

// noteProse notes a line that is no count, no finding and no footer, and what it shows of what was read.
func (t *findingTally) noteProse(text string, found bool) {
	if t.at.settled {
		t.read = t.read || t.visibility == inView
		return
	}
	words := plainWords(text[:min(len(text), maxMatchedLine)])
	showsRead := filesRead().MatchString(words) || strings.HasPrefix(words, "reviewed commit")
	t.read = t.read || showsRead
	isPlainCount := showsRead && strings.Count(words, " ") < 5
	if !t.said && !found && !isPlainCount && !t.at.describes && !t.folded && words != "" && !isFooter(text) {
		t.prose = t.i
	}
}

// filesRead matches a positive number of files that were read.
var filesRead = lazyRegexp(`\b[1-9]\d* (?:changed |code )?(?:files?|objects?)\b.{0,20}\b(?:` + wasRead + `)\b` +
	`|\b(?:` + wasRead + `|across|in)(?: all)?:? (?:the )?[1-9]\d* (?:changed |code )?(?:files?|objects?)\b` +
	`|\bfiles (?:` + wasRead + `|changed)(?: |: ?| - )[1-9]`)

// saysNothingElse reports whether a count of zero, or a line that says that there is nothing, may approve: nothing but
// footers follows it, and beside a bare count something shows what was read.
func (t *findingTally) saysNothingElse() bool {
	return t.prose < t.counts.line && (t.clean || t.read)
}

// readNothingFound reads a line that says that nothing was found, and where it looked. It says so for the whole text above all
// sections, below its title, as a heading, or in a section of that kind.
func (t *findingTally) readNothingFound(text string, isHeading bool) bool {
	words := statementOf(text)
	isLink := strings.Contains(text, "](") // whose text names what it leads to
	if t.visibility != inView || isLink || strings.ContainsAny(text, crosses) || !isOneOf(nothingFound(), words) {
		return false
	}
	t.said, t.read = true, t.read || filesRead().MatchString(words)
	t.clean = t.clean || isHeading || t.sections < 2 || overallSection().MatchString(t.at.name)
	t.noteCount(text, "nothing found", false)
	return true
}

// noteCount notes the line that counts. The line that is quoted is the first, or the first that weighs more.
func (t *findingTally) noteCount(text, rule string, weighs bool) {
	if t.counts.line = t.i; weighs || t.counts.detail == "" {
		t.counts.detail, t.counts.rule = shortQuote(text), rule
	}
}

// beginSection returns the section that a heading begins below s.
func (s section) beginSection(name string, level int) section {
	n := section{level: level, name: name, severity: severityOfLabel(name)}
	switch {
	case n.severity == 0 && name != "" && s.severity > 0 && !s.settled && !s.saysNone && level > s.level &&
		!settledWords().MatchString(name) && !describingSection().MatchString(name) && !saysNothing(name):
		n.inherits, n.severity, n.level = true, s.severity, s.level
	case s.settled && level > s.level && !(s.praises && n.severity >= quorum.Medium):
		n.settled, n.level, n.praises = true, s.level, s.praises
	case level > 1 && strings.Count(name, " ") < 4 && isSettled(name): // no title: its words are the author's
		n.settled, n.praises = true, praisingSection().MatchString(name)
	case describingSection().MatchString(name):
		n.describes = true
	}
	return n
}

// readWords reads the words of a line. It returns the finding that the line begins, nil if none.
func (t *findingTally) readWords(item string, isItem bool) *quorum.Finding {
	words := "a line too long to be compared" // on no list, and without a colon
	short := len(item) <= maxMatchedLine
	if short {
		words = plainWords(item)
	}
	begins := isItem || t.at.severity > 0 && !t.at.hasContent // an item begins a finding, and so does what opens a section with a severity
	switch {
	case len(item) < 120 && !isItem && t.readNothingFound(item, false):
		t.at.hasContent = true
		return nil
	case short && !t.at.settled && t.readCounts(words, item):
		t.said = true
		return nil
	case isMarkup(words):
		return nil
	case begins && placeholder().MatchString(words):
		t.unfilled = t.unfilled || t.at.severity > 0
		return nil
	case begins && saysNothing(words):
		t.at.hasContent, t.at.saysNone, t.said = true, true, true
		return nil
	case t.at.settled:
		return nil
	}
	severity := severityOfItem(item, isItem, t.coloured)
	if severity == 0 && short {
		severity = setOffSeverity(item, isItem || strings.HasPrefix(item, "**"))
	}
	if label, value, found := strings.Cut(words, ":"); found {
		switch {
		case severityOfLabel(label) > 0 && saysNothing(value): // "**Critical:** None"
			t.said = true
			return nil
		case t.readBlock(strings.TrimSpace(label), strings.TrimSpace(value), item):
			return nil
		}
	}
	if severity == 0 && begins {
		severity = t.at.severity
	}
	t.at.hasContent = true
	finding := findingAt(item, item, severity)
	if severity > 0 || finding.Path != "" && (isItem && !t.at.describes || strings.HasPrefix(item, "**")) {
		return t.addFinding(finding)
	}
	return nil
}

// readBlock reads a line of a block of labels: a severity, then a place and what is wrong there.
func (t *findingTally) readBlock(label, value, item string) bool {
	switch label {
	case "severity", "priority":
		t.block, t.blockEnd = &quorum.Finding{Severity: severityOfLabel(trimSymbols(value))}, t.i
		return t.block.Severity > 0
	case "file", "location", "path", "line", "place", "problem", "issue", "description", "title", "finding":
	default:
		return false
	}
	if t.block.Severity == 0 || t.i > t.blockEnd+4 || value == "" {
		return false
	}
	if t.blockEnd, t.said = t.i, true; t.block.Body == "" {
		t.block = t.addFinding(*t.block)
	}
	addWords(t.block, item)
	return true
}

// maxLabel is the longest label of a count, in runes; a longer one is a sentence.
const maxLabel = 60

// readCounts reads a line that counts: "Critical: 0 · High: 2", "3 issues found".
func (t *findingTally) readCounts(words, item string) bool {
	if !strings.ContainsAny(words, ":0123456789") {
		return false
	}
	if at := strings.IndexAny(words, ":("); at > 0 && isTotal(words[:at], words[at:]) {
		number := firstNumber().FindString(words)
		if !t.readCounts(strings.NewReplacer("(", ",", ")", "").Replace(words[at+1:]), item) {
			t.addCount(0, true, strings.TrimLeft(number, "0"), item) // a zero must have parts that count
		}
		return number != ""
	}
	if m := someFound().FindStringSubmatch(words); m != nil && len(words) < 160 && !settledCount().MatchString(words) {
		t.addCount(severityOfLabel(strings.TrimSpace(m[2])), m[2] == "", m[1], item)
		return true
	}
	var counts []func()
	for _, part := range strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune("·,;|•", r) }) {
		if strings.Trim(part, "0123456789 ") == "" { // the total of the others
			continue
		}
		m := countPart().FindStringSubmatch(trimSymbols(part))
		if m == nil || utf8.RuneCountInString(m[1]+m[4]) > maxLabel {
			return false
		}
		label, number := m[1]+m[4], m[2]+m[3]
		if settledWords().MatchString(label) {
			continue
		}
		severity, total := severityOfLabel(label), issueLabel().MatchString(label)
		// A label of nothing counts nothing.
		if severity == 0 && !total || number == "none" && !strings.Contains(words, ",") {
			return false
		}
		counts = append(counts, func() { t.addCount(severity, total, number, item) })
	}
	if !anySeverity().MatchString(words) && !issueLabel().MatchString(strings.TrimRight(words, ": 0123456789")) {
		return false
	}
	for _, add := range counts {
		add()
	}
	return true
}

// isTotal reports whether words count findings of all severities, and what follows tells of which: "3 issues found (2 high, 1 low)".
func isTotal(words, parts string) bool {
	words = strings.TrimSpace(words)
	return anySeverity().MatchString(parts) && (issueLabel().MatchString(words) || someFound().MatchString(words))
}

var firstNumber = lazyRegexp(`\b\d{1,6}\b`)

// addCount counts findings of a severity, or a total of them. Their number may be a word or a placeholder.
func (t *findingTally) addCount(severity quorum.Severity, total bool, number, text string) {
	n, err := strconv.Atoi(number)
	isNumber := err == nil || number == "none"
	switch {
	case isNumber && n == 0 && t.visibility != inView: // nor does it deny what stands in plain view
		return
	case isNumber:
	case placeholder().MatchString(number):
		t.unfilled = true
		return
	case number != "" && number[0] >= '1' && number[0] <= '9' && !settledWords().MatchString(number): // "2 new"
		n = 1
	default:
		return
	}
	t.noteCount(text, "count", n > 0 && t.counted[severity] <= 0)
	t.counted[severity] = max(t.counted[severity], 0) + n
	isDenied := n == 0 && (strings.ContainsAny(text, "❌⛔🚫🛑👎✗✘⚠") || strings.HasPrefix(text, "[ ]"))
	if t.visibility == inView && !isDenied && !isDeceptive(text) {
		t.sure = true
		t.zero = t.zero || n == 0 && (total || severity >= quorum.High)
	}
}

// A table is what its header says of the rows below it.
type table struct {
	header     []string
	across     []quorum.Severity // of the columns that count findings of one severity
	isAcross   bool              // there are such columns
	severityAt int               // the column of each row's severity; -1: none
	openAt     int               // the column of what is open; -1: none
	hasCount   bool              // a row of it counts
	hasRule    bool              // its header was read
}

var (
	severityColumn = lazyRegexp(`^(?:severity|sev|priority|prio|level)$`)
	// otherColumn matches the name of a column by which a table explains severities, or counts by them.
	otherColumn = lazyRegexp(`^(?:meaning|definition|counts?|number|total|n|#? ?of findings|means|action)$`)
	// mainColumn matches the name of a column that says in each row what was found.
	mainColumn = lazyRegexp(`^(?:issues?|findings?|problems?|bugs?|concerns?|comments?|descriptions?|details?|titles?|summary` +
		`|what|found|open|results?|status)\b`)
	// statusColumn matches the name of a column that says what became of each row.
	statusColumn = lazyRegexp(`^(?:status|state|resolution|resolved|fixed|addressed|outcome|result|disposition|follow-?up)\??$`)
	// placeColumn matches the name of a column in which a 0 is no count.
	placeColumn = lazyRegexp(`^(?:#|no|nr|id|index|item|lines?|line (?:no|number)|location|file|path)?\.?$`)
	openColumn  = lazyRegexp(`^(?:open|remaining|unresolved|outstanding)$`)
)

func newTable(cells []string, coloured bool) *table {
	h := &table{header: make([]string, len(cells)), across: make([]quorum.Severity, len(cells))}
	for i, name := range cells {
		h.header[i], h.across[i] = trimSymbols(name), severityOfCell(name, coloured)
		h.isAcross = h.isAcross || i > 0 && h.across[i] > 0
	}
	find := func(column func() *regexp.Regexp) int { return slices.IndexFunc(h.header, column().MatchString) }
	h.openAt, h.severityAt = find(openColumn), find(severityColumn)
	if find(otherColumn) >= 0 {
		h.severityAt = -1
	}
	return h
}

// isTableRule reports whether a line is the rule below a table's header.
func isTableRule(text string) bool {
	return strings.Contains(text, "|") && strings.Contains(text, "-") && strings.Trim(text, "|:- \t") == ""
}

// readRow reads a row of a table: the header, which a rule follows, or below it a finding, or counts.
func (t *findingTally) readRow(text string) {
	cells := cellsOf(text)
	for i, c := range cells {
		cells[i] = stripMarks(strings.TrimSpace(c))
	}
	isFirst := t.table == nil
	if isFirst {
		t.table = newTable(cells, t.coloured)
	}
	isRuled := !t.table.hasRule && t.i+1 < len(t.lines) && isTableRule(t.lines[t.i+1].text)
	if !t.at.settled && !isTableRule(text) && !(isFirst && (isRuled || t.at.severity > 0)) {
		t.readCells(cells, text)
	}
	if isRuled {
		if t.table.severityAt < 0 && !t.table.isAcross { // what stood above is no header
			t.table = newTable(cells, t.coloured)
		}
		t.table.hasRule = true
	}
}

// readCells reads a row that is no header.
func (t *findingTally) readCells(cells []string, text string) {
	if !t.table.hasRule { // no table, as GitHub shows it: it can object
		t.visibility = doubtful
	}
	h, label := t.table, trimSymbols(cells[0])
	missing := max(0, len(cells)-len(h.header))
	h.header, h.across = append(h.header, make([]string, missing)...), append(h.across, make([]quorum.Severity, missing)...)
	severity, total := severityOfCell(cells[0], t.coloured), issueLabel().MatchString(label)
	isCount := severity > 0 || total
	h.hasCount = h.hasCount || severity > 0
	switch {
	case t.at.severity > 0 && !h.isAcross && !h.hasCount:
		t.listRow(cells, text, t.at.severity, -1)
		return
	case h.isSettledCell(0, label):
		t.read = t.read || t.visibility == inView && hasPositive(cells[1:])
		return
	case h.severityAt >= 0 && h.severityAt < len(cells):
		if s := severityOfCell(cells[h.severityAt], t.coloured); s > 0 && t.listRow(cells, text, s, h.severityAt) {
			return
		}
	}
	t.read = t.read || h.openAt >= 0 && hasPositive(cells[1:]) // what was found is not open any more
	for i, c := range cells {
		counts := isCount && h.countsOpen(i)
		if h.isAcross {
			severity = h.across[i]
			counts = severity > 0
		}
		if counts {
			t.addCount(severity, total, trimSymbols(c), text)
		}
	}
}

// listRow takes a row of a table for a finding, unless its cells say that there is none. The cell of its severity, and
// numbers, say nothing. It reports whether the row is one.
func (t *findingTally) listRow(cells []string, text string, severity quorum.Severity, severityAt int) bool {
	says := false
	for i, c := range cells {
		c = trimSymbols(c)
		switch {
		case i == severityAt || c == "":
		case t.table.isSettledCell(i, c), c == "0" && !placeColumn().MatchString(t.table.header[i]):
			return false
		case saysNothing(c), placeholder().MatchString(c): // a finding without a file, or with nothing to add, is one
			if mainColumn().MatchString(t.table.header[i]) {
				return false
			}
		default:
			says = says || strings.Trim(c, "0123456789 -") != ""
		}
	}
	if says {
		row := strings.NewReplacer("|", " ", "`", "").Replace(text)
		t.addFinding(findingAt(row, strings.Trim(text, "| "), severity))
	}
	return says
}

// countsOpen reports whether column i counts what is open, if it counts.
func (h *table) countsOpen(i int) bool {
	return i > 0 && !isSettled(h.header[i]) && (h.openAt < 0 || h.header[i] == "" || openColumn().MatchString(h.header[i]))
}

// isSettledCell reports whether a cell says that its row is settled: by one word that is no path, or in a column that is for that.
func (h *table) isSettledCell(i int, cell string) bool {
	isWord := !strings.ContainsAny(cell, " ./") || i == 0 && !isPathWord(cell)
	isStatus := statusColumn().MatchString(h.header[i]) && strings.Count(cell, " ") < 3
	return (isWord || isStatus) && isSettled(cell)
}

func findingAt(line, body string, severity quorum.Severity) quorum.Finding {
	path, number := findPlace(line)
	return quorum.Finding{Path: path, Line: number, Body: body, Severity: severity}
}

func addWords(f *quorum.Finding, text string) {
	if len(f.Body) < 4000 && !isMarkup(plainWords(text)) {
		f.Body = strings.TrimPrefix(f.Body+"\n"+text, "\n")
	}
	if f.Path == "" {
		f.Path, f.Line = findPlace(text)
	}
}

// addFinding adds a finding of the line, and returns it where it is kept.
func (t *findingTally) addFinding(f quorum.Finding) *quorum.Finding {
	if f.Severity == 0 {
		t.listed = append(t.listed, &f)
		return &f
	}
	if len(t.found) == 0 {
		t.first = t.i
	}
	t.found, t.sure = append(t.found, &f), t.sure || t.visibility == inView
	return &f
}

func hasPositive(cells []string) bool {
	return slices.ContainsFunc(cells, func(c string) bool {
		n, err := strconv.Atoi(trimSymbols(c))
		return err == nil && n > 0
	})
}

// severityOfCell returns the severity of a table's cell: by its words, else by its coloured mark.
func severityOfCell(label string, coloured bool) quorum.Severity {
	bare := trimSymbols(label)
	if bare == "" || issueLabel().MatchString(bare) {
		return severityOfMark(label, coloured)
	}
	return severityOfLabel(bare)
}

// hasObjection reports whether a finding objects. least is the least severity that does: with quorum.SeverityAny every
// finding objects, and one of unknown severity always does.
func (t findingTally) hasObjection(least quorum.Severity) bool {
	return t.counted[0] > 0 || slices.Max(t.counted[max(least, quorum.Low):]) > 0 ||
		slices.ContainsFunc(t.found, func(f *quorum.Finding) bool { return f.Severity >= least })
}

// countsOnlyAt reports whether t holds nothing but what a line counts, which a vendor's own sentence explains.
func (t findingTally) countsOnlyAt(line int) bool { return len(t.found) == 0 && t.counts.line == line }

// isMinorOnly reports whether t is only a list of minor findings without a file and line.
func (t findingTally) isMinorOnly() bool {
	return slices.Max(t.counted[:]) < 0 &&
		!slices.ContainsFunc(t.found, func(f *quorum.Finding) bool { return f.Severity != quorum.Low || f.Path != "" })
}

func (t findingTally) hasFindings() bool { return t.hasObjection(quorum.SeverityAny) }

// contradictsItself reports whether the text says that there is nothing, of a severity or at all, and lists findings.
func (t findingTally) contradictsItself() bool {
	if t.hasFindings() {
		isDenied := func(f *quorum.Finding) bool { return t.counted[f.Severity] == 0 || t.counted[0] == 0 }
		return t.clean || slices.ContainsFunc(t.found, isDenied)
	}
	return (t.clean || t.zero) && len(t.listed) > 0
}

// allFindings returns the findings to quote, marked where they lie below least.
func (t findingTally) allFindings(least quorum.Severity) []quorum.Finding {
	var out []quorum.Finding
	for _, f := range slices.Concat(t.found, t.listed) {
		one := *f
		one.Below = isBelow(f.Severity, least)
		out = append(out, one)
	}
	return out
}

// toRuling returns the ruling of the tally by itself; silent if it holds nothing.
func (t findingTally) toRuling(least quorum.Severity) ruling {
	r := t.counts
	if len(t.found) > 0 {
		r = ruling{detail: shortQuote(t.found[0].Body), rule: "finding", line: t.first}
	}
	switch {
	case t.contradictsItself() && slices.Max(t.counted[max(least, quorum.Medium):]) <= 0: // no count says that something is grave
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

func (t findingTally) namesPlace() bool {
	return slices.ContainsFunc(t.found, func(f *quorum.Finding) bool { return f.Path != "" })
}
