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
	found    []quorum.Finding // with a severity: they object
	listed   []quorum.Finding // with a place only: quoted beside a verdict that objects
	counted  map[quorum.Severity]int
	zero     bool   // counts something that matters, and everything it counts is zero
	clean    bool   // says as a whole that there is nothing
	sure     bool   // something that counts stands in plain view
	unfilled bool   // a count is a placeholder
	read     bool   // it shows that something was read: files, a commit, praise, what was resolved
	counts   ruling // without a vote: the newest line that counts or says that there is nothing, and a quote of the first
	first    int    // the index of the line of the first finding
	prose    int    // the index of the last line that is neither, nor a footer; -1: none

	// Of the line that is read:
	pageLine
	i        int  // its index
	said     bool // it counts, or says that there is nothing
	coloured bool // marks of other colours stand beside green ones, so that green is a severity
	at       section
	sections int             // how many began
	last     *quorum.Finding // the finding that lines indented deeper belong to
	depth    int
	link     place           // of the link that is the line of content before
	pending  *quorum.Finding // a numbered item without a place: one, if the next line is a link to the code
	table    *table          // of which it may be a row
	block    *quorum.Finding // the finding that a block of labels begins, and the index of its newest line
	blockEnd int
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
}

// tallyFindings returns the counts and lists of p.
func tallyFindings(p LinedText) findingTally {
	t := findingTally{counted: map[quorum.Severity]int{}, prose: -1}
	t.coloured = slices.ContainsFunc(p.lines, func(l pageLine) bool {
		return l.visibility != hidden && strings.ContainsAny(l.text, "🔴🟠🟡")
	})
	for t.i, t.pageLine = range p.lines {
		t.readLine(strings.TrimSpace(t.text))
	}
	return t
}

// readLine reads the next line.
func (t *findingTally) readLine(text string) {
	isSeen := text != "" && (t.visibility == inView || t.visibility == doubtful || t.alert)
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
	switch to, isLink := permalink(text); {
	case text[0] == '|':
		t.last = nil
		t.readRow(text)
	case t.last != nil && columns > t.depth:
		if len(t.last.Body) < 4000 && !isMarkup(plainWords(text)) {
			t.last.Body += "\n" + text
		}
		if t.last.Path == "" {
			t.last.Path, t.last.Line = findPlace(text)
		}
	case isLink:
		if t.last == nil && t.pending != nil {
			t.listed = append(t.listed, *t.pending)
			t.last = &t.listed[len(t.listed)-1]
		}
		if t.last != nil && t.last.Path == "" {
			t.last.Path, t.last.Line = to.path, to.line
		}
		t.link, t.last, t.pending = to, nil, nil
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
	if !t.at.inherits && severity == 0 {
		severity, isFinding = severityOfTitle(headingText(text), t.coloured)
	}
	if isFinding && !t.at.settled {
		t.last, t.depth = t.addFound(findingAt(text, tags().ReplaceAllString(headingText(text), ""), severity)), -1
		t.at.hasContent = true
		return
	}
	t.sections++
	if t.visibility == inView && t.isNothingFound(text) {
		t.noteClean(true, text)
	}
}

// readItem reads a line that is neither a heading nor part of a table or a finding.
func (t *findingTally) readItem(text string, columns int) {
	item, isItem := listItem(text)
	before := len(t.listed)
	isWordless := t.last != nil && before > 0 && t.last == &t.listed[before-1] && isPlaceOnly(t.last.Body)
	t.last, t.pending, t.said = nil, nil, false
	found := t.readWords(item, isItem)
	if isWordless && !t.said && !isPlaceOnly(item) { // "**cart.go:13**", and its words below
		found = t.joinPlace(before-1, found, item)
	}
	if found != nil && found.Path == "" {
		found.Path, found.Line = t.link.path, t.link.line
	}
	t.link = place{}
	t.last, t.depth = found, columns
	isOpen := found == nil && !t.said && !t.at.settled && !t.at.describes
	if isOpen && isItem && text[0] >= '0' && text[0] <= '9' {
		t.pending = &quorum.Finding{Body: item}
	}
	t.noteProse(text, found != nil && !(isWordless && found.Severity == 0))
}

// severityOfTitle returns the severity that sets a heading off as a finding: "[P1] The lock is never released".
func severityOfTitle(title string, coloured bool) (quorum.Severity, bool) {
	for range 2 { // "1. 🔴 …", "**1) 🔴 …**"
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

// isMarkup reports whether a line's words are a rule or nothing: nobody says anything by it.
func isMarkup(words string) bool { return strings.Trim(words, "-=_ ") == "" }

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

// noteClean notes that a line says that nothing was found. It says so for the whole text above all sections, below its
// title, as a heading, or in a section of that kind.
func (t *findingTally) noteClean(isHeading bool, text string) {
	t.said = true
	t.clean = t.clean || isHeading || t.sections < 2 || overallSection().MatchString(t.at.name)
	t.noteCount(text, "nothing found", false)
}

// noteCount notes the line that counts. The line that is quoted is the first, or the first that weighs more.
func (t *findingTally) noteCount(text, rule string, weighs bool) {
	if t.counts.line = t.i; weighs || t.counts.detail == "" {
		t.counts.detail, t.counts.rule = shortQuote(text), rule
	}
}

// beginSection returns the section that a heading begins below s.
func (s section) beginSection(name string, level int) section {
	n := section{level: level, name: name}
	named := false
	n.severity, named = severityOfLabel(name)
	switch {
	case !named && name != "" && s.severity > 0 && !s.settled && !s.saysNone && level > s.level &&
		!settledWords().MatchString(name) && !describingSection().MatchString(name) && !saysNothing(name):
		n.inherits, n.severity, n.level = true, s.severity, s.level
	case s.settled && level > s.settledLevel && !(s.praises && n.severity >= quorum.Medium):
		n.settled, n.settledLevel, n.praises = true, s.settledLevel, s.praises
	case isSettledName(name, level):
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

// readWords reads the words of a line. It returns the finding that the line begins, nil if none.
func (t *findingTally) readWords(item string, isItem bool) *quorum.Finding {
	words := "a line too long to be compared" // on no list, and without a colon
	short := len(item) <= maxMatchedLine
	if short {
		words = plainWords(item)
	}
	begins := isItem || t.at.severity > 0 && !t.at.hasContent // an item begins a finding, and so does what opens a section with a severity
	switch {
	case len(item) < 120 && !isItem && t.visibility == inView && t.isNothingFound(item):
		t.noteClean(false, item)
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
	severity, tagged := severityOfItem(item, isItem, t.coloured)
	if !tagged && short {
		severity, tagged = setOffSeverity(item, isItem || strings.HasPrefix(item, "**"))
	}
	if label, value, found := strings.Cut(words, ":"); found {
		switch _, named := severityOfLabel(label); {
		case named && saysNothing(value): // "**Critical:** None"
			t.said = true
			return nil
		case t.readBlock(strings.TrimSpace(label), strings.TrimSpace(value), item):
			return nil
		}
	}
	if !tagged && t.at.severity > 0 && begins {
		severity, tagged = t.at.severity, true
	}
	t.at.hasContent = true
	finding := findingAt(item, item, severity)
	switch {
	case tagged:
		return t.addFound(finding)
	case finding.Path != "" && (isItem && !t.at.describes || strings.HasPrefix(item, "**")):
		t.listed = append(t.listed, finding)
		return &t.listed[len(t.listed)-1]
	}
	return nil
}

// readBlock reads a line of a block of labels: a severity, then a place and what is wrong there.
func (t *findingTally) readBlock(label, value, item string) bool {
	switch label {
	case "severity", "priority":
		severity, ok := severityOfLabel(trimSymbols(value))
		if t.block = nil; ok {
			t.block, t.blockEnd = &quorum.Finding{Severity: severity}, t.i
		}
		return ok
	case "file", "location", "path", "line", "place", "problem", "issue", "description", "title", "finding":
	default:
		return false
	}
	if t.block == nil || t.i > t.blockEnd+4 || value == "" {
		return false
	}
	t.blockEnd, t.said = t.i, true
	if t.block.Body == "" {
		t.block = t.addFound(findingAt(item, item, t.block.Severity))
		return true
	}
	if t.block.Body += "\n" + item; t.block.Path == "" {
		t.block.Path, t.block.Line = findPlace(item)
	}
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
			t.addCount(0, true, number, item)
		}
		return number != ""
	}
	if m := someFound().FindStringSubmatch(words); m != nil && len(words) < 160 && !settledCount().MatchString(words) {
		severity, _ := severityOfLabel(strings.TrimSpace(m[2]))
		t.addCount(severity, m[2] == "", m[1], item)
		return true
	}
	if !hasSeverity(words) && !issueLabel().MatchString(strings.TrimRight(words, ": 0123456789")) {
		return false
	}
	type count struct {
		severity quorum.Severity
		total    bool
		number   string
	}
	var counts []count
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
		severity, ok := severityOfLabel(label)
		total := issueLabel().MatchString(label)
		// A label of nothing counts nothing.
		if !ok && !total || number == "none" && !strings.Contains(words, ",") {
			return false
		}
		counts = append(counts, count{severity, total, number})
	}
	for _, c := range counts {
		t.addCount(c.severity, c.total, c.number, item)
	}
	return true
}

// isTotal reports whether words count findings of all severities, and what follows tells of which: "3 issues found (2 high, 1 low)".
func isTotal(words, parts string) bool {
	words = strings.TrimSpace(words)
	return hasSeverity(parts) && (issueLabel().MatchString(words) || someFound().MatchString(words))
}

var firstNumber = lazyRegexp(`\b\d{1,6}\b`)

// addCount counts findings of a severity, or a total of them. Their number may be a word or a placeholder.
func (t *findingTally) addCount(severity quorum.Severity, total bool, number, text string) {
	n, err := strconv.Atoi(number)
	switch {
	case err == nil && n >= 0, number == "none":
	case placeholder().MatchString(number):
		t.unfilled = true
		return
	case number != "" && number[0] >= '1' && number[0] <= '9' && !settledWords().MatchString(number): // "2 new"
		n = 1
	default:
		return
	}
	t.noteCount(text, "count", n > 0 && t.counted[severity] == 0)
	t.counted[severity] += n
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
}

var (
	// severityColumn matches the name of a column that holds the severity of each row.
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
	// openColumn matches the name of a column that counts what is open.
	openColumn = lazyRegexp(`^(?:open|remaining|unresolved|outstanding)$`)
)

// newTable returns the table that a row begins.
func newTable(cells []string, coloured bool) *table {
	h := &table{across: make([]quorum.Severity, len(cells)), openAt: -1, severityAt: -1}
	explains := false
	for i, name := range cells {
		h.across[i], _ = severityOfCell(name, coloured)
		h.isAcross = h.isAcross || i > 0 && h.across[i] > 0
		name = trimSymbols(name)
		if h.header = append(h.header, name); openColumn().MatchString(name) {
			h.openAt = i
		}
		if h.severityAt < 0 && severityColumn().MatchString(name) {
			h.severityAt = i
		}
		explains = explains || otherColumn().MatchString(name)
	}
	if explains {
		h.severityAt = -1
	}
	return h
}

// readRow reads a row of a table: the header, or below it a finding, or counts.
func (t *findingTally) readRow(text string) {
	cells := cellsOf(text)
	for i, c := range cells {
		cells[i] = stripMarks(strings.TrimSpace(c))
	}
	switch {
	case t.at.settled:
		return
	case t.table == nil:
		t.table = newTable(cells, t.coloured)
		return
	case isMarkup(strings.Join(cells, "")): // the rule below the header
		return
	}
	h, label := t.table, trimSymbols(cells[0])
	severity, isSeverity := severityOfCell(cells[0], t.coloured)
	total := issueLabel().MatchString(label)
	h.hasCount = h.hasCount || isSeverity
	switch {
	case t.at.severity > 0 && !h.isAcross && !h.hasCount:
		t.listRow(cells, text, t.at.severity, -1)
		return
	case h.isSettledCell(0, label):
		t.read = t.read || t.visibility == inView && hasPositive(cells[1:])
		return
	case h.severityAt >= 0 && h.severityAt < len(cells):
		if s, ok := severityOfCell(cells[h.severityAt], t.coloured); ok && t.listRow(cells, text, s, h.severityAt) {
			return
		}
	}
	t.read = t.read || h.openAt >= 0 && hasPositive(cells[1:]) // what was found is not open any more
	for i, c := range cells {
		counts := i > 0 && (isSeverity || total)
		switch isKnown := i < len(h.header); {
		case h.isAcross:
			if counts = isKnown && h.across[i] > 0; counts {
				severity = h.across[i]
			}
		case isKnown:
			counts = counts && !isSettled(h.header[i]) && (h.openAt < 0 || i == h.openAt)
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
		case t.table.isSettledCell(i, c), c == "0" && !placeColumn().MatchString(t.table.nameOf(i)):
			return false
		case saysNothing(c), placeholder().MatchString(c): // a finding without a file, or with nothing to add, is one
			if mainColumn().MatchString(t.table.nameOf(i)) {
				return false
			}
		default:
			says = says || strings.Trim(c, "0123456789 -") != ""
		}
	}
	if says {
		row := strings.NewReplacer("|", " ", "`", "").Replace(text)
		t.addFound(findingAt(row, strings.Trim(text, "| "), severity))
	}
	return says
}

// nameOf returns the name of column i; "" if it has none.
func (h *table) nameOf(i int) string {
	if i < len(h.header) {
		return h.header[i]
	}
	return ""
}

// isSettledCell reports whether a cell says that its row is settled: by one word that is no path, or in a column that is for that.
func (h *table) isSettledCell(i int, cell string) bool {
	isWord := !strings.ContainsAny(cell, " ./") || i == 0 && !isPathWord(cell)
	isStatus := statusColumn().MatchString(h.nameOf(i)) && strings.Count(cell, " ") < 3
	return (isWord || isStatus) && isSettled(cell)
}

// findingAt returns a finding with the place that a line names.
func findingAt(line, body string, severity quorum.Severity) quorum.Finding {
	path, number := findPlace(line)
	return quorum.Finding{Path: path, Line: number, Body: body, Severity: severity}
}

// addFound adds a finding of the line, and returns it where it is kept.
func (t *findingTally) addFound(f quorum.Finding) *quorum.Finding {
	if len(t.found) == 0 {
		t.first = t.i
	}
	t.found, t.sure = append(t.found, f), t.sure || t.visibility == inView
	return &t.found[len(t.found)-1]
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
	for s, n := range t.counted {
		if n > 0 && !isBelow(s, least) {
			return true
		}
	}
	return slices.ContainsFunc(t.found, func(f quorum.Finding) bool { return !isBelow(f.Severity, least) })
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
func (t findingTally) countsOnlyAt(line int) bool { return len(t.found) == 0 && t.counts.line == line }

// isMinorOnly reports whether t is only a list of minor findings without a file and line.
func (t findingTally) isMinorOnly() bool {
	return len(t.counted) == 0 &&
		!slices.ContainsFunc(t.found, func(f quorum.Finding) bool { return f.Severity != quorum.Low || f.Path != "" })
}

// hasFindings reports whether anything is counted or listed with a severity.
func (t findingTally) hasFindings() bool { return t.hasObjection(quorum.SeverityAny) }

// contradictsItself reports whether the text says that there is nothing, of a severity or at all, and lists findings.
func (t findingTally) contradictsItself() bool {
	saysZero := func(s quorum.Severity) bool { n, counts := t.counted[s]; return counts && n == 0 }
	switch {
	case slices.ContainsFunc(t.found, func(f quorum.Finding) bool { return saysZero(f.Severity) || saysZero(0) }):
		return true
	case t.hasFindings():
		return t.clean
	}
	return (t.clean || t.zero) && len(t.listed) > 0
}

// allFindings returns the findings to quote, marked where they lie below least.
func (t findingTally) allFindings(least quorum.Severity) []quorum.Finding {
	out := slices.Concat(t.found, t.listed)
	for i := range out {
		out[i].Below = isBelow(out[i].Severity, least)
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
