package review

// This file recognises the names of sections: headings, folds and lines in bold, and whose words stand below them.

import "strings"

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
	path, _ := findPlace(text)
	if !boldLine(text) || path != "" || priorityBadge().MatchString(strings.TrimFunc(text, isSymbol)) {
		return "", 0, false
	}
	return strings.TrimRight(plainWords(text), ":"), 7, true
}

// asideName matches the names of sections and folds that hold what is not said now and by the writer.
var asideName = lazyRegexp(
	`\b(?:previous(?:ly)?|prior|earlier|histor(?:y|ical)|archived?|older|outdated|superseded|obsolete|past|former` +
		`|last (?:review|result|run|commit|round|verdict)|examples?|samples?|template|format|descriptions?|instructions?|prompts?` +
		`|quot(?:e|ed|es)|original|for reference|legend|expected|how to|pr summary|pull request summary|changelog)\b`,
)

// currentName matches the names of sections that hold what is said now, although a word of them is an aside's.
var currentName = lazyRegexp(`\b(?:this commit|latest commit|since (?:the )?(?:last|previous))\b`)

// isAsideName reports whether a section or fold of that name holds what is not said now by the writer.
func isAsideName(name string) bool {
	return len(name) <= maxMatchedLine && asideName().MatchString(name) && !currentName().MatchString(name)
}

// boldLine reports whether a line is in bold as a whole, which serves as a heading.
func boldLine(text string) bool {
	bare := strings.TrimRight(strings.TrimFunc(text, isSymbol), ".:! ")
	return len(bare) > 4 && strings.HasPrefix(bare, "**") && strings.HasSuffix(bare, "**") && !strings.Contains(bare[2:len(bare)-2], "**")
}
