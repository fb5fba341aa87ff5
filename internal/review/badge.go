package review

// This file reads how grave a comment on the diff is, by the badge or the words with which its vendor opens it.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A vendorBadge is a label by which a vendor says how grave a comment of its on the diff is. Of a vendor's badges the first
// that stands in a comment decides: graver ones stand before others, and severities before mere kinds.
type vendorBadge struct {
	Label    shape           `json:"label"` // of a picture's name, or of what is in bold, italics or brackets
	Severity quorum.Severity `json:"severity"`
}

const (
	badgeText  = 8 << 10 // bytes of a comment in which its badges are sought
	badgeLines = 8       // lines with words, of which a label may be the whole
	openLines  = 2       // lines with words that may open with a label
	labelRunes = 48      // bytes of a label
)

// SeverityOf returns how grave a comment on the diff by r is; 0 if it does not say. What is graver counts where it says two
// things.
func SeverityOf(r quorum.Reviewer, body string) (most quorum.Severity) {
	labels, own := badgeLabels(ReadLines(body[:min(len(body), badgeText)]))
	badges := presetOf(r.Preset).Badges
	first := len(badges)
	for _, l := range labels {
		at := slices.IndexFunc(badges, func(b vendorBadge) bool { _, ok := b.Label.match(l); return ok })
		if at >= 0 {
			first = min(first, at)
			continue
		}
		for _, before := range [...]string{"severity level: ", "severity: ", "priority: "} {
			l = strings.TrimPrefix(l, before)
		}
		isKind := strings.HasPrefix(l, "suggestion") // of a comment, and no word on how grave it is
		if !isKind {
			most = max(most, severityOfLabel(l))
		}
	}
	if first < len(badges) { // the mark belongs to its badge
		own = badges[first].Severity
	}
	return max(most, own)
}

// badgeLabels returns the labels of a comment, as statements, and the severity of the mark in colour with which it opens.
func badgeLabels(p LinedText) (labels []string, mark quorum.Severity) {
	seen := 0
	keep := func(words string) {
		if words = statementOf(words); words != "" && len(words) <= labelRunes {
			labels = append(labels, words)
		}
	}
	for _, l := range p.lines {
		text := strings.TrimSpace(l.text)
		if l.visibility == hidden || l.visibility == quoted || text == "" || len(text) > 4*maxMatchedLine {
			continue
		}
		if seen++; seen > badgeLines {
			break
		}
		if seen <= openLines {
			for _, marked := range labelMarks {
				for _, m := range marked().FindAllStringSubmatch(text, 8) {
					keep(m[1])
				}
			}
			bare := strings.TrimLeftFunc(stripMarks(cutLinks(text)), isSymbol)
			if open, _, found := strings.Cut(strings.TrimPrefix(bare, "["), "]"); found && bare[0] == '[' {
				keep(open)
			}
			if open, _, found := strings.Cut(bare, ":"); found && l.level == 0 {
				keep(open)
			}
			if seen == 1 {
				mark = severityOfMark(strings.TrimLeft(text, "#*_ >`[("), true)
			}
		}
		if emphasized().MatchString(text) || strings.Contains(lowerASCII(text), "severity") {
			for part := range strings.SplitSeq(text, "|") {
				keep(part)
			}
		}
	}
	return labels, mark
}

// labelMarks match what pictures are called, and what stands in code or in bold.
var labelMarks = [...]func() *regexp.Regexp{
	lazyRegexp(`!\[([^\]]*)\]`), lazyRegexp(`<img [^>]*?\balt=["']([^"'>]*)`),
	lazyRegexp(`<code>(.*?)</code>`), lazyRegexp(`\*\*(.*?)\*\*`),
}

// emphasized matches a line that is, or each of whose parts between bars is, in bold or italics as a whole.
var emphasized = lazyRegexp(`^(?:\*[^|]+\*|_[^|]+_)(?: *\| *(?:\*[^|]+\*|_[^|]+_))*$`)
