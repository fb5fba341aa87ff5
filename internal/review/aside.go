package review

// This file finds the lines that do not speak for their writer: what somebody else said, what was said before, an example.
// Such a line is doubtful: it can object but never approve.

import "strings"

// ownLabel matches a label that announces the writer's own words, so that what follows its colon is in their voice.
var ownLabel = lazyRegexp(
	`^(?:here(?:'s| is| are) )?(?:(?:my|our|the|final|overall|code|review|merge|summary|of|and|full|complete|detailed) ){0,5}` +
		`(?:assessment|verdict|conclusion|decision|recommendation|result|results|review|summary|findings|issues|status|answer)` +
		`(?: (?:of|for|on) (?:this|the|your) (?:pull request|pr|changes?|diff|code|commit))?$`,
)

// markAsides makes doubtful what stands in a section or fold of others' or older words, and what follows a line that ends
// in a colon: "Had the tests passed I would have written:". It also notes which lines are folded or within an alert.
func (s *pageScanner) markAsides() {
	var (
		section     int  // level of the heading that began an aside, 0: none
		folds       int  // how many <details> are open
		asideFold   int  // the outermost of them that is an aside, 0: none
		afterColon  bool // the line of content before ended in a colon
		lineIsAside bool // the line of content before was one of what a colon announces
		asideIsItem bool
		inAlert     bool
	)
	for i := range s.lines {
		l := &s.lines[i]
		text := strings.TrimSpace(l.text)
		inAlert = l.visibility == quoted && (inAlert || alertName().MatchString(text))
		l.alert, l.folded = inAlert, folds > 0
		if l.visibility == quoted || l.visibility == hidden || text == "" {
			continue
		}
		folds += strings.Count(text, "<details")
		if asideFold == 0 && folds > 0 && strings.Contains(text, "<summary") && isAsideName(plainWords(text)) {
			asideFold = folds
		}
		l.folded = folds > 0
		announced := afterColon
		if name, level, ok := headingOf(*l, text); ok && !strings.Contains(text, "<summary") {
			if section == 0 || level <= section {
				section = 0
				if isAsideName(name) {
					section = level
				}
			}
			_, value, _, field := parseField(*l)
			afterColon, lineIsAside = afterColon && field && value == "", false
		} else {
			announced = announced || lineIsAside && continuesAside(text, asideIsItem)
			lineIsAside = announced
			_, asideIsItem = listItem(text)
			afterColon = announces(text)
		}
		if announced || section > 0 || asideFold > 0 {
			if l.coded = false; l.visibility == inView {
				l.visibility = doubtful
			}
		}
		if folds = max(0, folds-strings.Count(text, "</details>")); folds < asideFold {
			asideFold = 0
		}
	}
}

// alertName matches how an alert begins in Markdown, or in its plain text: "[!WARNING]", "Warning".
var alertName = lazyRegexp(`(?i)^(?:\[!|(?:warning|caution|important|note|tip)$)`)

// announces reports whether a line ends in a colon and what follows is not the writer's own verdict.
func announces(text string) bool {
	bare := strings.TrimRight(text, "*_` ")
	if !strings.HasSuffix(bare, ":") && !strings.HasSuffix(bare, "：") {
		return false
	}
	if last := bare[strings.LastIndexByte(bare, ' ')+1:]; len(last) > 2 && last[0] == ':' { // an emoji in words: ":tada:"
		return false
	}
	words := strings.TrimRight(plainWords(text), ":： ")
	return !ownLabel().MatchString(words) || isAsideName(words)
}

// continuesAside reports whether a line goes on with what a colon announced: an item, or behind a field another.
func continuesAside(text string, behindItem bool) bool {
	if _, item := listItem(text); item || behindItem {
		return item
	}
	_, _, _, field := parseField(pageLine{text: text})
	return field
}
