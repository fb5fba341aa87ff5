package review

// This file reads the commit that a text names and the heading that it opens with: they bind it to a commit and to a
// reviewer.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// commitLine matches a line that names a commit; the commit may be the text or the address of a link.
var commitLine = lazyRegexp(
	`(?:\breviewed commits?|\bfor commit|\bup to commit)(?: ?: ?| )` +
		`(?:\[[^\[\]]{0,80}\]\(https?://[^ ()]{1,200}/commits?/([0-9a-f]{7,64})[^ ()]{0,100}\)` +
		`|\[?\(?([0-9a-f]{7,64}))([^0-9a-z]|$)`,
)

// emphasisMarks strips the Markdown marks that may stand around and within such a line.
var emphasisMarks = strings.NewReplacer("*", "", "`", "", "_", "")

// NamedCommit returns the commit that the text says it is about, in lower case; "" if it names none. Other hexadecimal
// digits mean nothing. If the text names several commits, it cannot be told which one it is about: the string returned is
// no commit's id.
func (p LinedText) NamedCommit(r quorum.Reviewer) string { return namedIn(p.lines, presetOf(r.Preset)) }

// CommitNamedAt is [LinedText.NamedCommit] for the part of the text that holds a line alone, counted from 1: the quote, the
// row of a table or the paragraph. Below a notice an older review may stand, which names a commit of its own.
func (p LinedText) CommitNamedAt(r quorum.Reviewer, line int) string {
	from, to := partOfLine(p.lines, line-1)
	return namedIn(p.lines[from:to], presetOf(r.Preset))
}

// partOfLine returns where the part of a text that holds a line begins and ends.
func partOfLine(lines []pageLine, i int) (from, to int) {
	if i < 0 || i >= len(lines) || lines[i].visibility == hidden {
		return 0, 0
	}
	isRow := func(i int) bool { return strings.HasPrefix(strings.TrimSpace(lines[i].text), "|") }
	if isRow(i) {
		return i, i + 1
	}
	inQuote := lines[i].visibility == quoted
	isPart := func(i int) bool {
		l := lines[i]
		if inQuote {
			return l.visibility == quoted
		}
		return l.visibility != quoted && l.visibility != hidden && strings.TrimSpace(l.text) != "" && !isRow(i)
	}
	for from = i; from > 0 && isPart(from-1); from-- {
	}
	for to = i + 1; to < len(lines) && isPart(to); to++ {
	}
	return from, to
}

// namedIn returns the commit that lines name.
func namedIn(lines []pageLine, pre *preset) string {
	named := ""
	for _, l := range lines {
		if len(l.text) < 10 || l.visibility != inView && !(pre.Quotes && l.visibility == quoted) {
			continue
		}
		words := lowerASCII(l.text[:min(len(l.text), 8<<10)])
		isRow := len(pre.Commits) > 0 && strings.HasPrefix(strings.TrimSpace(words), "|")
		if !isRow && !strings.Contains(words, "commit") && !strings.Contains(words, "between ") {
			continue
		}
		words = emphasisMarks.Replace(words)
		found := commitLine().FindAllStringSubmatch(words, 4)
		for _, expr := range pre.Commits {
			found = append(found, expr.FindAllStringSubmatch(words, 4)...)
		}
		for _, m := range found {
			for _, sha := range m[1:] {
				switch {
				case len(sha) < 7 || len(sha) > 64 || !IsHex(sha):
				case strings.HasPrefix(sha, named): // the same, or more of it
					named = sha
				case !strings.HasPrefix(named, sha):
					return named + " and " + sha
				}
			}
		}
	}
	return named
}

func IsHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// HasHeading reports whether the text opens with heading: its first heading equals it, case ignored; more words may
// follow. A heading in a quote, a fence or a comment is none. No text has the heading "".
func (p LinedText) HasHeading(heading string) bool {
	words := func(line string) string { return strings.Join(strings.Fields(lowerASCII(headingText(line))), " ") }
	want, level := words(heading), headingLevel(heading)
	first := slices.IndexFunc(p.lines, func(l pageLine) bool { return l.level > 0 && l.visibility == inView })
	if want == "" || first < 0 {
		return false
	}
	_, ok := cutWord(words(p.lines[first].text), want)
	return ok && (level == 0 || level == p.lines[first].level)
}
