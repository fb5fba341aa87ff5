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
	read       bool // it shows that something was read: files, a commit, praise, what was resolved
	coloured   bool // marks of other colours stand beside green ones, so that green is a severity
	said       bool // the line that is read counts, or says that there is nothing
	firstFound int  // the index of the line of the first finding
	prose      int  // the index of the last line that is neither, nor a footer; -1: none
}

// The severities, by the words and marks that templates use. Words beat colours: a suggestion is one in any colour.
var (
	severityWords = []struct {
		severity quorum.Severity
		words    []string
	}{
		{
			quorum.Critical,
			[]string{
				"critical",
				"blockers",
				"blocker",
				"blocking",
				"must fix",
				"must-fix",
				"must be fixed",
				"required changes",
				"changes required",
				"severe",
				"p0",
			},
		},
		{quorum.High, []string{"high", "major", "important", "p1"}},
		{quorum.Medium, []string{"medium", "moderate", "should fix", "warnings", "warning", "p2"}},
		{
			quorum.Low,
			[]string{"low", "minor", "nitpicks", "nitpick", "nits", "nit", "suggestions", "suggestion", "trivial", "optional", "p3"},
		},
	}
	severityMarks = []struct {
		severity quorum.Severity
		mark     string
	}{{quorum.Critical, "🔴"}, {quorum.High, "🟠"}, {quorum.Medium, "🟡"}}

	// severityTail matches the rest of a label after its severity.
	severityTail = lazyRegexp(
		`^(?:[ -](?:severity|priority))?` +
			`(?: (?:issues?|findings?|problems?|concerns?|comments?|bugs?|items?|vulnerabilities|improvements?))?` +
			`(?: found)?(?: ?[(\[][^()\[\]]{0,40}[)\]])?(?: ?\d+)?$`,
	)
	// settledWords mark rows and sections that hold no open complaint: settled ones, and praise.
	settledWords = lazyWorded(
		`\b(?:resolved|fixed|addressed|deferred|acknowledged|good|positives?|strengths?` +
			`|praise|highlights|passed|done|previous|prior|since last` +
			`|dismissed|observed practices|what works|what went well|well done|kudos)\b`,
	)
	unsettledWords = lazyWorded(
		`\b(?:un(?:resolved|fixed|addressed|acknowledged)|not (?:yet )?(?:resolved|fixed|addressed|acknowledged)|still)\b`,
	)
	// describingSection matches the names of sections that describe and do not complain.
	describingSection = lazyWorded(
		`^(?:summary|overview|walkthrough|changes|files|what changed|description|tests?|test plan` +
			`|references|checked|what i checked|scope|recommendations?|sequence diagrams?|reasoning|notes?|details)\b`,
	)
	// overallSection matches headings under which "No issues found" speaks for the whole text.
	overallSection = lazyWorded(
		`^(?:summary|results?|review results?|verdict|assessment|overall|overall assessment` +
			`|conclusion|findings|issues|issues found|review|review summary|code review|no issues found)\b`,
	)

	someFound = lazyWorded(
		`^(?:.{0,60}\b(?:found|identified|detected|reported|raised|posted|left|generated|with|has) |total:? )?(\d{1,6}) ` +
			`(?:new |potential |open |possible |actionable |unresolved |remaining )*` +
			`((?:critical|high|medium|low|major|minor|important|blocking)(?:[ -]severity)? )?` +
			`(?:issues?|findings?|problems?|bugs?|vulnerabilit(?:y|ies)|violations?|defects?)` +
			`(?: (?:were )?(?:found|detected|identified|remain|remaining|reported|left|open))?` +
			`(?: (?:across|in|on) (?:\d+|all|the|this|your) ?(?:changed )?(?:files?|pr|pull request|changes|diff|code)?)?[.!:]?$`,
	)
	// The label's length is bounded where this is used: each repetition of \pL here would compile the table of all letters
	// once more.
	countLine = lazyRegexp(
		`^(([\pL][\pL -]*?)(?: \([^()]{0,40}\))?) ?: ?(\d{1,6}|n|x|\{[^{}]{0,20}\}|\[[^\[\]]{0,20}\]|<[^<>]{0,20}>)$`,
	)
	countWord   = lazyRegexp(`^(\d{1,6}) ([\pL][\pL -]*)$`)
	placeholder = lazyRegexp(`^(?:n|x|y|\{.*\}|\[.*\]|<.*>|\.\.\.|…|tbd|count|number)$`)
	issueLabel  = lazyWorded(`^(?:total |open |new |potential )?(?:issues?|findings?|problems?|bugs?|total)(?: found)?$`)

	// nothingFound says as a line of its own that there is nothing.
	nothingFound = lazyShapes(
		"(no|0|zero) (new |open |)(issues|findings|problems|bugs)( were|) (found|detected|identified)( (across|in) {some} file(s|)|)",
		"(no|0|zero) (new |open |)(issues|findings|problems|bugs)( (across|in) {some} file(s|)|)",
		"found (no|0|zero) (new |open |)(issues|findings|problems|bugs)( (across|in) {some} file(s|)|)",
	)
	nothingHere = lazyWorded(
		`^(?:none|n/?a|nil|nothing|-|—` +
			`|no(?: (?:critical|blocking|major|minor|high|medium|low|important|new|other|further` +
			`|significant|open|remaining|severity|priority|known))*` +
			` (?:issues?|findings?|problems?|concerns?|blockers?|suggestions?|bugs?|vulnerabilities|nits|warnings|items|changes))\b`,
	)
	// settledCount matches a count of what is no longer open, or was found by somebody else.
	settledCount   = lazyWorded(`\b(?:fix(?:e[sd])?|clos(?:e[sd])?|resolv(?:e[sd])?|address(?:e[sd])?|previous(?:ly)?|prior|earlier|already)\b`)
	exceptionWords = lazyWorded(`\b(?:but|except|however|although|though|besides|apart from|other than)\b`)
)

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
func tallyFindings(p Page) findingTally {
	t := findingTally{counted: map[quorum.Severity]int{}, coloured: hasOtherColours(p), prose: -1}
	var (
		at      section
		last    *quorum.Finding // the finding that lines indented deeper belong to
		depth   int
		parts   []sectionContent
		link    place           // of the link that is the line of content before
		pending *quorum.Finding // a numbered item without a place: one, if the next line is a link to the code
	)
	for i := 0; i < len(p.lines); i++ {
		l := p.lines[i]
		text := strings.TrimSpace(l.text)
		if l.visibility != inView && l.visibility != doubtful || text == "" {
			if l.visibility == quoted {
				last = nil
			}
			continue
		}
		if name, level, ok := headingOf(l, text); ok {
			above := at
			at = at.beginSection(name, level)
			if _, _, _, field := parseFieldLine(l); field && at.inherits { // a verdict in bold below a list of nits
				at = section{level: level, name: name}
			}
			last = nil
			if at.inherits {
				t.found = append(t.found, quorum.Finding{Body: headingText(text), Severity: above.severity})
				last, depth = &t.found[len(t.found)-1], -1
				last.Path, last.Line = findPlace(text)
				at.hasContent, t.sure = true, t.sure || l.visibility == inView
				continue
			}
			parts = append(parts, sectionContent{name: name, level: level, descriptive: at.settled || at.describes || isQuietFold(l, name)})
			if l.visibility == inView && t.isNothingFound(text) {
				t.noteClean(&parts, text, i)
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
		if isItem && last != nil && columns > depth || !isItem && last != nil && columns > depth {
			if len(last.Body) < 4000 {
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
		last, pending = nil, nil
		if len(parts) > 0 {
			parts[len(parts)-1].hasText = true
		}
		if !isItem {
			item = text
		}
		t.said = false
		found := t.readLine(item, isItem, i, l, &at, &parts)
		switch {
		case found != nil:
			if last, depth = found, columns; found.Path == "" {
				found.Path, found.Line = link.path, link.line
			}
		case isItem && !t.said && !at.settled && !at.describes && text[0] >= '0' && text[0] <= '9':
			pending = &quorum.Finding{Body: item}
		}
		link = place{}
		t.noteProse(i, l, text, at, found != nil)
	}
	t.clean = isClean(parts)
	return t
}

// praisingSection matches the names of settled sections that hold praise, and nothing that was ever found.
var praisingSection = lazyWorded(`\b(?:good|positives?|strengths?|praise|highlights|what works|what went well|well done|kudos|observed practices)\b`)

// endsPraise reports whether a line in a section of praise is none: it has a severity.
func (t *findingTally) endsPraise(text string) bool {
	item, isItem := listItem(text)
	if _, tagged := severityOfItem(item, isItem, t.coloured); tagged {
		return true
	}
	words := plainWords(text[:min(len(text), maxMatchedLine)])
	return text[0] == '|' && (hasSeverity(words) || strings.Contains(words, "severity") || strings.Contains(words, "issues")) ||
		someFound().MatchString(words) || openCount().MatchString(words)
}

// openCount matches a count of findings in a line.
var openCount = lazyWorded(`\b(?:critical|high|medium|blockers?|major|issues?|findings?|problems?|bugs?)(?: found)?: ?[1-9]`)

// hasOtherColours reports whether a page holds a coloured mark that is not green.
func hasOtherColours(p Page) bool {
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
	t.read = t.read || filesRead().MatchString(words) || strings.HasPrefix(words, "reviewed commit")
	if !t.said && !found && !at.describes && !l.folded && words != "" && !isFooter(text) {
		t.prose = i
	}
}

// filesRead matches a positive number of files that were read.
var filesRead = lazyWorded(`\b[1-9]\d* (?:changed |code )?(?:files?|objects?)\b.{0,20}\b(?:reviewed|read|checked|analy[sz]ed|scanned)\b` +
	`|\b(?:reviewed|read|checked|analy[sz]ed|scanned|across|in)(?: all)?:? (?:the )?[1-9]\d* (?:changed |code )?(?:files?|objects?)\b` +
	`|\bfiles (?:reviewed|read|checked|analy[sz]ed|scanned|changed)(?: |: ?| - )[1-9]`)

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

// troubleName matches the name of a fold that does more than describe.
var troubleName = lazyWorded(`\b(?:issues?|findings?|problems?|bugs?|concerns?|comments?|errors?|failures?|failed` +
	`|warnings?|blockers?|caveats?|conditions?|risks?|todo|fix(?:es)?|important|critical` +
	`|skipped|not reviewed|suggestions?|nits?|nitpicks?|outside|missing|limitations?)\b`)

// isQuietFold reports whether a heading is the name of a fold that describes: how a review was made, or of what.
func isQuietFold(l pageLine, name string) bool {
	return l.level == 0 && strings.Contains(l.text, "<summary>") && !troubleName().MatchString(name)
}

// sectionContent is the part of a section that "No issues found" depends on.
type sectionContent struct {
	name        string
	level       int
	descriptive bool
	hasText     bool // it holds text
	clean       bool // it says that nothing was found
}

// isClean reports whether the text as a whole says that nothing was found: it says so for the whole, or for every section
// that holds text, and all other sections only describe.
func isClean(parts []sectionContent) bool {
	said, whole := false, false
	for i, c := range parts {
		if c.clean {
			said = true
			whole = whole || i == 0 || overallSection().MatchString(c.name) || new(findingTally).isNothingFound(c.name)
		}
	}
	if !said {
		return false
	}
	for i, c := range parts {
		if i > 0 && c.hasText && !c.clean && !c.descriptive && !(whole && overallSection().MatchString(c.name)) {
			return false
		}
	}
	return true
}

// noteClean notes that nothing was found in the newest section.
func (t *findingTally) noteClean(parts *[]sectionContent, text string, i int) {
	if len(*parts) == 0 {
		*parts = append(*parts, sectionContent{})
	}
	(*parts)[len(*parts)-1].clean = true
	t.said = true
	if t.line = max(t.line, i); t.detail == "" {
		t.detail, t.rule = shortQuote(text), "nothing found"
	}
}

// beginSection returns the section that a heading begins below s.
func (s section) beginSection(name string, level int) section {
	n := section{level: level, name: name}
	named := false
	n.severity, named = severityOfLabel(name)
	switch {
	case !named && s.severity > 0 && !s.settled && !s.saysNone && level > s.level &&
		!settledWords().MatchString(name) && !describingSection().MatchString(name) && !nothingHere().MatchString(name):
		n.inherits, n.severity, n.level = true, s.severity, s.level
	case s.settled && level > s.settledLevel && !(s.praises && n.severity >= quorum.Medium):
		n.settled, n.settledLevel, n.praises = true, s.settledLevel, s.praises
	case settledWords().MatchString(name) && !unsettledWords().MatchString(name):
		n.settled, n.settledLevel, n.praises = true, level, praisingSection().MatchString(name)
	case describingSection().MatchString(name):
		n.describes = true
	}
	return n
}

// headingOf recognises a heading, or a line in bold that serves as one, with its plain name and level.
func headingOf(l pageLine, text string) (name string, level int, ok bool) {
	switch {
	case l.level > 0:
		return plainWords(text), l.level, true
	case len(text) > 200:
		return "", 0, false
	case strings.HasPrefix(text, "<h") && len(text) > 4 && text[2] >= '1' && text[2] <= '6':
		return plainWords(text), int(text[2] - '0'), true
	case strings.HasPrefix(text, "<summary>"), strings.HasPrefix(text, "<details><summary>"):
		return plainWords(text), 7, true
	}
	bare := strings.TrimRight(strings.TrimFunc(text, isSymbol), ":")
	if len(bare) < 5 || !strings.HasPrefix(bare, "**") || !strings.HasSuffix(bare, "**") || strings.Contains(bare[2:len(bare)-2], "**") {
		return "", 0, false
	}
	if path, _ := findPlace(bare); path != "" || priorityBadge().MatchString(bare) {
		return "", 0, false
	}
	return strings.TrimRight(plainWords(text), ":"), 7, true
}

// readLine reads a line that is neither heading nor table. It returns the finding that the line begins, nil if none.
func (t *findingTally) readLine(item string, isItem bool, i int, l pageLine, at *section, parts *[]sectionContent) *quorum.Finding {
	short := len(item) <= maxMatchedLine
	words := ""
	if short {
		words = plainWords(item)
	}
	switch {
	case len(item) < 120 && !isItem && l.visibility == inView && t.isNothingFound(item):
		t.noteClean(parts, item, i)
		at.hasContent = true
		return nil
	case short && !at.settled && t.readCounts(words, item, i, l.visibility == inView):
		t.said = true
		return nil
	case short && words == "", isItem && placeholder().MatchString(words): // a line of markup alone is no finding
		return nil
	case short && words != "" && strings.IndexByte("n-\xe2", words[0]) >= 0 &&
		nothingHere().MatchString(words) && !exceptionWords().MatchString(words):
		if at.severity > 0 || isItem {
			at.hasContent, at.saysNone = true, true
		}
		t.said = true
		return nil
	case at.settled:
		return nil
	}
	severity, tagged := severityOfItem(item, isItem, t.coloured)
	if !tagged && at.severity > 0 && (isItem || !at.hasContent) {
		severity, tagged = at.severity, true
		if placeholder().MatchString(words) {
			t.unfilled = true
			return nil
		}
	}
	path, line := findPlace(item)
	at.hasContent = true
	finding := quorum.Finding{Path: path, Line: line, Body: item, Severity: severity}
	switch {
	case tagged:
		if len(t.found) == 0 {
			t.firstFound = i
		}
		t.found = append(t.found, finding)
		t.sure = t.sure || l.visibility == inView
		return &t.found[len(t.found)-1]
	case path != "" && (isItem && !at.describes || strings.HasPrefix(item, "**")):
		t.listed = append(t.listed, finding)
		return &t.listed[len(t.listed)-1]
	}
	return nil
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
		if err != nil {
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
		cells := strings.Split(strings.Trim(text, "|"), "|")
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
	if isDivider(body[0]) {
		body, raw = body[1:], raw[1:]
	}
	across := make([]quorum.Severity, len(header)) // the severity of each column, where columns are severities
	skip := make([]bool, len(header))              // columns of settled matters
	open := -1
	wide := false
	for i, h := range header {
		h = trimCell(h)
		if severity, ok := severityOfCell(header[i], t.coloured); ok && i > 0 || ok && len(header) > 2 {
			across[i], wide = severity, true
		}
		skip[i] = settledWords().MatchString(h) && !unsettledWords().MatchString(h)
		if h == "open" || h == "remaining" || h == "unresolved" || h == "outstanding" {
			open = i
		}
	}
	if severity, ok := severityOfCell(header[0], t.coloured); ok && wide && !slices.Contains(across[1:], 0) {
		across[0] = severity // each column is one
	}
	for r, cells := range body {
		label := trimCell(cells[0])
		if settledWords().MatchString(label) && !unsettledWords().MatchString(label) {
			t.read = t.read || sure && len(cells) > 1 && strings.Trim(trimCell(cells[1]), "123456789") == "" && trimCell(cells[1]) != ""
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
			c = trimCell(c)
			t.read = t.read || open >= 0 && hasPositive(cells[1:]) // what was found is not open any more
			switch number, err := strconv.Atoi(c); {
			case err == nil && number >= 0:
				t.addCount(severity, number, total, raw[r], from, sure)
			case c == "none":
				t.addCount(severity, 0, total, raw[r], from, sure)
			case placeholder().MatchString(c):
				t.unfilled = true
			}
		}
	}
	return n
}

// hasPositive reports whether a cell is a positive number.
func hasPositive(cells []string) bool {
	return slices.ContainsFunc(cells, func(c string) bool {
		n, err := strconv.Atoi(trimCell(c))
		return err == nil && n > 0
	})
}

func isDivider(cells []string) bool {
	for _, c := range cells {
		if strings.Trim(c, "-: ") != "" {
			return false
		}
	}
	return true
}

func trimCell(c string) string { return trimSymbols(c) }

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

// severityOfMark returns the severity of a coloured mark. Green is one only beside other colours: alone it says that all
// is well.
func severityOfMark(s string, coloured bool) (quorum.Severity, bool) {
	if coloured && strings.HasPrefix(s, "🟢") {
		return quorum.Low, true
	}
	for _, m := range severityMarks {
		if strings.HasPrefix(s, m.mark) {
			return m.severity, true
		}
	}
	return 0, false
}

// severityOfLabel returns the severity that a label names, if it says nothing else.
func severityOfLabel(label string) (quorum.Severity, bool) {
	for _, s := range severityWords {
		for _, w := range s.words {
			if rest, ok := cutWord(label, w); ok && severityTail().MatchString(strings.TrimRight(rest, " :")) {
				return s.severity, true
			}
		}
	}
	return 0, false
}

func hasSeverity(words string) bool {
	for _, s := range severityWords {
		for _, w := range s.words {
			if strings.Contains(words, w) {
				return true
			}
		}
	}
	return false
}

// priorityBadge matches the picture with which an item begins, as Codex draws its priority.
var priorityBadge = lazyRegexp(`(?i)^(?:\*\*|<su[bp]>| )*!\[(p[0-3]) badge\]`)

// severityOfItem returns the severity that an item begins with: "**Critical** …", "[P1] …", "🔴 …", "High: …". A mark
// alone is enough; a word must be set off, else it is prose.
func severityOfItem(item string, isItem, coloured bool) (quorum.Severity, bool) {
	head := item[:min(len(item), 160)]
	words := stripMarks(head)
	bare := trimSymbols(words)
	if m := priorityBadge().FindStringSubmatch(bare); m != nil {
		return severityOfLabel(lowerASCII(m[1]))
	}
	emphatic := strings.HasPrefix(strings.TrimLeftFunc(head, isSymbol), "**") || strings.HasPrefix(head, "__")
	open := bare != "" && (bare[0] == '[' || bare[0] == '(')
	if open {
		bare = bare[1:]
	}
	for _, s := range severityWords {
		for _, w := range s.words {
			rest, ok := cutWord(bare, w)
			if !ok {
				continue
			}
			for _, more := range []string{" severity", " priority", " issue", " issues", " finding"} {
				rest = strings.TrimPrefix(rest, more)
			}
			set := rest != "" &&
				(open && (rest[0] == ']' || rest[0] == ')') || rest[0] == ':' ||
					strings.HasPrefix(rest, " - ") || strings.HasPrefix(rest, " — ") ||
					strings.HasPrefix(rest, " – ") || strings.HasPrefix(rest, " |"))
			if set && (isItem || open || emphatic || s.severity == quorum.Critical) || emphatic && isItem && isBoldTag(head) {
				return s.severity, true
			}
		}
	}
	if mark, ok := severityOfMark(strings.TrimLeft(words, " "), coloured); ok {
		return mark, true
	}
	return 0, false
}

// isBoldTag reports whether an item begins with a severity in bold and nothing else in it.
func isBoldTag(head string) bool {
	head = strings.TrimLeftFunc(head, isSymbol)
	if !strings.HasPrefix(head, "**") {
		return false
	}
	end := strings.Index(head[2:], "**")
	return end > 0 && end <= 24 && func() bool { _, ok := severityOfLabel(plainWords(head[2 : 2+end])); return ok }()
}

// A place is a line of a file.
type place struct {
	path string
	line int
}

// permalink reads a line that is nothing but a link to a line of code on GitHub: ".../blob/SHA/path#L13-L17".
func permalink(text string) (p place, ok bool) {
	if !strings.HasPrefix(text, "https://") || len(text) > maxMatchedLine || strings.ContainsAny(text, " \t<>()") {
		return p, false
	}
	_, rest, found := strings.Cut(text, "/blob/")
	if !found {
		return p, false
	}
	_, rest, found = strings.Cut(rest, "/")
	path, anchor, anchored := strings.Cut(rest, "#L")
	if !found || !anchored || path == "" {
		return p, false
	}
	n := 0
	for n < len(anchor) && anchor[n] >= '0' && anchor[n] <= '9' {
		n++
	}
	line, err := strconv.Atoi(anchor[:n])
	return place{path, line}, err == nil && line > 0
}

// findPlace returns the first path:line in text. A path has a dot or a slash, and stands by itself or in marks.
func findPlace(text string) (path string, line int) {
	text = text[:min(len(text), maxMatchedLine)]
	for i := 1; i+1 < len(text); i++ {
		if text[i] != ':' || text[i+1] < '0' || text[i+1] > '9' {
			continue
		}
		from := i
		for from > 0 && isPathByte(text[from-1]) {
			from--
		}
		end := i + 1
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		path := text[from:i]
		switch {
		case end < len(text) && (isAlnum(text[end]) || text[end] == '.' && end+1 < len(text) && isAlnum(text[end+1])),
			from > 0 && strings.IndexByte(" \t`([*\"'<|", text[from-1]) < 0,
			!strings.ContainsAny(path, "./\\"),
			strings.HasPrefix(path, "//"), strings.Trim(path, "0123456789./") == "",
			!isAlnum(path[len(path)-1]) && path[len(path)-1] != '_':
			i = end - 1
			continue
		}
		if n, err := strconv.Atoi(text[i+1 : end]); err == nil && n > 0 && n < 1<<30 {
			return path, n
		}
		i = end - 1
	}
	return "", 0
}

func isPathByte(c byte) bool {
	return isAlnum(c) || strings.IndexByte("_@+~.-/\\", c) >= 0 || c >= 0x80
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

func isBelow(s, least quorum.Severity) bool { return s > 0 && s < least }

// isMinorOnly reports whether t is only a list of minor findings without a file and line.
func (t findingTally) isMinorOnly() bool {
	return len(t.counted) == 0 &&
		!slices.ContainsFunc(t.found, func(f quorum.Finding) bool { return f.Severity != quorum.Low || f.Path != "" })
}

// hasFindings reports whether anything is counted or listed with a severity.
func (t findingTally) hasFindings() bool {
	if len(t.found) > 0 {
		return true
	}
	for _, n := range t.counted {
		if n > 0 {
			return true
		}
	}
	return false
}

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
