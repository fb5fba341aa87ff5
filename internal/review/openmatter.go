package review

// This file finds what is still open beside an approval: comments that could not be posted, a count of findings, a gate
// that failed, a part that was not looked at. Each is a class of lines that vendors and models write, and takes the
// approval away wherever it stands; none can give one.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

var (
	// lostComments match comments that their writer could not leave where they belong: they have no thread.
	lostComments = lazyWorded(
		`\b(?:could ?n.?t|cannot|can.?t|failed to|unable to|could not|can not|were not|was not) (?:be )?(?:posted|post|published|attached)\b` +
			`|\b(?:comments?|findings?|suggestions?)\b.{0,60}\boutside (?:of )?the (?:diff|changed lines)\b` +
			`|\boutside (?:of )?the diff\b.{0,60}\b(?:comments?|findings?|suggestions?)\b|\bfailed to post\b`,
	)
	// partRead matches that only a part was looked at, or that something that looks had no end.
	partRead = lazyWorded(
		`\b(?:i|we) (?:have )?(?:only |just )?(?:limited|restricted|confined|narrowed) (?:this|the|my|our)\b` +
			`|\b(?:looked at|reviewed|read|checked|covered) (?:[^ ]+ ){1,5}only\b|\b(?:i|we) (?:have )?skipped\b|\bdue to (?:its |the )?size\b` +
			`|\b(?:reviewed|read|checked|saw|covered) (?:only )?(?:half|parts?|some|most|a sample) of\b|\b(?:context|budget|time|tokens?) ran out\b` +
			`|\b(?:limit|quota|credits?|budget) (?:was |has been |is )?(?:hit|reached|exhausted|used up)\b` +
			`|\b(?:hit|reached|exceeded|used up) (?:your|the|its|my|our|a) .{0,30}\b(?:limit|quota|budget|credits?)\b` +
			`|\b(?:scans?|checks?|agents?|jobs?|analys[ei]s|reviewers?|reviews?|tools?)\b(?: [^ ]+){0,3} (?:failed|errored|crashed|timed out` +
			`|did not (?:finish|run|complete|start|end)|didn.?t (?:finish|run|complete|start|end)|returned an error|stopped early|was interrupted)\b` +
			`|\b(?:new(?:er|est)?|later|last|latest) commits? (?:were|was|are|is|have|has) (?:not|pushed)\b|\bcommit before the (?:last|latest) push\b` +
			`|\b(?:no answer|nothing) came back\b|\bskipped files? \([1-9]|\bfiles (?:reviewed|read|checked) \(0\b` +
			`|\b(?:lines|files|hunks) (?:were )?(?:omitted|excluded|left out) (?:from|of)\b|\b(?:omitted|excluded) from (?:the |this )?(?:analysis|review)\b`,
	)
	// handedOver matches that somebody else has to decide, or decided otherwise.
	handedOver = lazyWorded(
		`\b(?:recommend|advise|vote|decided?) against\b|\ba (?:human|person|maintainer) (?:must|should|has to|needs to)\b` +
			`|\b(?:human|manual) (?:review|approval|check) (?:is )?(?:required|needed|recommended)\b` +
			`|\b(?:requires?|needs?) (?:a )?(?:human|manual) (?:review|approval|check)\b|\bchanges requested by\b`,
	)
	// openCounts match a number of findings, in words or behind its label.
	openCounts = lazyWorded(
		`\b(?:[1-9]\d{0,3}|one|two|three|four|five|six|several|some|a few|many) (?:[a-z-]+ ){0,3}?` +
			`(?:comments?|findings?|issues?|problems?|bugs?|concerns?|vulnerabilit(?:y|ies)|errors?|warnings?|threads?|blockers?|violations?)\b` +
			`|\b(?:open|unresolved|suggestions?|vulnerabilit(?:y|ies)|issues?|findings?|comments?|problems?|bugs?|violations?|blockers?)` +
			`[^:]{0,30}: ?[1-9]`,
	)
	// badGrade matches a grade that is bad, behind its label.
	badGrade = lazyWorded(
		`\b(?:risk|severity|impact)(?: level| score)? ?[:=] ?(?:[^a-z0-9]{1,6})?(?:high|critical|severe)\b` +
			`|\b(?:confidence|score|rating|grade)(?: score)? ?[:=]? ?[0-3] ?(?:/|out of) ?5\b` +
			`|\b(?:confidence|score|rating|grade)(?: score)? ?[:=]? ?[0-6] ?(?:/|out of) ?10\b` +
			`|^(?:p0|p1|critical|blocker) ?: ` +
			`|\b(?:gate|pipeline|build|ci|tests?|checks?) (?:has |have |is |are )?(?:failed|failing|broken|not passed|red)\b`,
	)
	// adversative matches how a sentence begins that takes something back.
	adversative = lazyRegexp(
		`^(?:still|that said|having said that|yet|unfortunately|sadly|regrettably|alas|one thing|on reflection|oh,? wait|oops|hm+)\b[,:.]? |^(?:error|failure): `,
	)
	// openName matches the name of a section that holds what is open.
	openName = lazyRegexp(
		`^(?:open |remaining |known |potential |security )?(?:issues?|problems?|concerns?|findings?|blockers?|defects?|risks?)(?: found)?$` +
			`|^(?:needs? attention|action items?|to-?dos?|must fix|action required|not approved|changes requested)$`,
	)
	// deniedCell, gradedCell and verdictCell match a cell of a table that says no, one that grades what its row names, and one
	// that names the verdict.
	deniedCell  = lazyRegexp(`^(?:no|failed|fail|blocked|rejected|not approved|must fix)$`)
	verdictCell = lazyRegexp(`\b(?:approved?|approval|verdict|decision|recommendation|mergeable|merge|safe)\b`)
	gradedCell  = lazyRegexp(`^(?:critical|blocker|blocking|severe|high|major|medium|p0|p1|p2)$`)
	// settledMatter matches that what is counted or named is open no more.
	settledMatter = lazyWorded(
		`\b(?:resolved|fixed|fixes|addressed|closed|dismissed|gone|solved|settled|no longer|suppressed|previously reported|hidden|collapsed` +
			`|without|no (?:new |open |other |further )?(?:comments?|findings?|issues?|problems?|bugs?|concerns?|errors?|warnings?|blockers?))\b`,
	)
)

// openMatterBeside finds a line beside an approval, in line `at`, that says that something is open. Above a yes only what
// was lost, not read or handed over counts: there a change is described, with the faults that it mends.
func (d *document) openMatterBeside(at int, by voice) (line int, outcome quorum.Outcome, found bool) {
	for i, l := range d.lines {
		text := strings.TrimSpace(l.text)
		if l.visibility == hidden || text == "" || i == at || len(text) > 4*maxMatchedLine {
			continue
		}
		if i > at && by != stateVoice && deniesInSmallPrint(text) {
			return i, quorum.Malformed, true
		}
		if isFooter(text) {
			continue
		}
		words := plainWords(cutLinks(text))
		switch {
		case lostComments().MatchString(words) && !settledMatter().MatchString(words):
			return i, quorum.Malformed, true
		case l.visibility == quoted && !l.alert || l.coded:
		case text[0] == '|':
			if !l.folded && !d.isTableHead(i) && (gradesInRow(text) || i > at && deniesInRow(text, by)) {
				return i, quorum.Malformed, true
			}
		case isPartRead(l, words):
			return i, quorum.Partial, true
		case !l.folded && handedOver().MatchString(words):
			return i, quorum.Malformed, true
		case i > at && by != stateVoice && d.isOpenBelow(i, l, text, words, by):
			return i, quorum.Malformed, true
		}
	}
	return 0, 0, false
}

// isPartRead reports whether a line says that a part was not looked at; the lists within a fold are of the change itself.
func isPartRead(l pageLine, words string) bool {
	if l.folded && !strings.HasPrefix(strings.TrimSpace(l.text), "<") {
		return false
	}
	_, item := listItem(strings.TrimSpace(l.text))
	return !item && partRead().MatchString(words)
}

// isOpenBelow reports whether a line below an approval says that something is open.
func (d *document) isOpenBelow(i int, l pageLine, text, words string, by voice) bool {
	if l.folded && !strings.Contains(text, "<summary") {
		return false
	}
	if name, _, ok := headingOf(l, text); ok {
		return openName().MatchString(trimStatement(name)) && d.hasOpenContent(i)
	}
	item, isItem := listItem(text)
	switch {
	case isItem && strings.HasPrefix(item, "[ ]"), !isItem && adversative().MatchString(words):
		return true
	case isItem || settledMatter().MatchString(words):
		return false
	case badGrade().MatchString(words), openCounts().MatchString(words):
		return true
	}
	path, _ := findPlace(text)
	return path != "" && !d.preset.ListsPlaces && by == vendorVoice
}

// hasOpenContent reports whether the section that line i names holds anything but a word for nothing.
func (d *document) hasOpenContent(i int) bool {
	next, _ := nextLine(d.LinedText, i)
	item, _ := listItem(next)
	words := plainWords(item)
	return words != "" && !nothingHere().MatchString(words) && !strings.HasPrefix(next, "#") && !strings.HasPrefix(next, "<")
}

// deniesInSmallPrint reports whether a picture's name says no, or a line in small letters bears a cross.
func deniesInSmallPrint(text string) bool {
	if (strings.HasPrefix(text, "<sub>") || strings.HasPrefix(text, "<sup>")) && strings.ContainsAny(text, "❌⛔🚫🛑✗✘") {
		return true
	}
	names := pictureNames(text)
	if _, alt, found := strings.Cut(text, `alt="`); found {
		alt, _, _ = strings.Cut(alt, `"`)
		names = append(names, alt)
	}
	return slices.ContainsFunc(names, func(name string) bool { return isRejection(trimStatement(plainWords(name))) })
}

// isTableHead reports whether line i names the columns of a table: a divider follows it.
func (d *document) isTableHead(i int) bool {
	next, _ := nextLine(d.LinedText, i)
	return strings.Contains(next, "-") && isDivider(cellsOf(next))
}

// cellsOf returns the cells of a table's row.
func cellsOf(row string) []string { return strings.Split(strings.Trim(row, "|"), "|") }

// deniesInRow reports whether a table's row says no. A vendor's table shows checks of its own beside the review: of it only a
// row about the verdict counts.
func deniesInRow(row string, by voice) bool {
	cells := cellsOf(row)
	if by == stateVoice || by == vendorVoice && !verdictCell().MatchString(trimSymbols(plainWords(cells[0]))) {
		return false
	}
	return slices.ContainsFunc(cells, func(cell string) bool {
		return strings.ContainsAny(cell, "❌⛔🚫🛑✗✘") || deniedCell().MatchString(trimSymbols(plainWords(strings.TrimSpace(cell))))
	})
}

// gradesInRow reports whether a table's row is a finding: a grade, and words for what it grades. A row with a number counts.
func gradesInRow(row string) bool {
	graded, named := false, false
	for _, cell := range cellsOf(row) {
		words := trimSymbols(plainWords(strings.TrimSpace(cell)))
		switch {
		case words == "":
		case strings.Trim(words, "0123456789 /") == "" && len(words) > 0 && graded:
			return false
		case gradedCell().MatchString(words):
			graded = true
		case strings.Contains(words, " "), strings.Contains(words, ":"):
			named = true
		}
	}
	return graded && named
}
