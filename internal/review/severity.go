package review

// This file tells how grave a finding is, by the words and marks that templates use.

import (
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// severityWord matches the words of templates for each severity, in a group of its own, the gravest first.
const severityWord = `(?:(critical|blockers?|blocking|must[ -]fix|must be fixed|required changes|changes required|severe|p0)` +
	`|(high|major|important|p1)|(medium|moderate|should fix|warnings?|p2)` +
	`|(low|minor|nitpicks?|nits?|suggestions?|trivial|optional|p3))`

const praise = `good|positives?|strengths?|praise|highlights|what works|what went well|well done|kudos|observed practices|tests passed`

var (
	anySeverity = lazyRegexp(severityWord)
	// severityMark matches the marks in colour. Words beat them: a suggestion is one in any colour.
	severityMark  = lazyRegexp(`^(?:(🔴)|(🟠)|(🟡)|(🟢))`)
	severityLabel = lazyRegexp(
		`^` + severityWord + `\b(?:[ -](?:severity|priority))?` +
			`(?: (?:issues?|findings?|problems?|concerns?|comments?|bugs?|items?|vulnerabilities|improvements?))?` +
			`(?: found)?(?: before (?:the )?merg(?:e|ing))?(?: ?[(\[][^()\[\]]{0,40}[)\]])?(?: ?\d+)?$`,
	)
	// severityTag matches a severity that something sets off at the beginning of an item, in brackets or not.
	severityTag = lazyRegexp(`^([(\[]?)` + severityWord + `(?: severity)?(?: priority)?(?: issue)?(?: finding)?(?: before merg(?:e|ing))?` +
		`([)\]]|:| [-–—] | \|)`)
	// settledWords mark rows and sections that hold no open complaint: settled ones, and praise.
	settledWords = lazyRegexp(`\b(?:resolved|fixed|addressed|deferred|acknowledged|passed|previous|prior|since last|dismissed|` +
		praise + `)\b|^done\b`)
	// praisingSection matches the names of settled sections that hold nothing that was ever found.
	praisingSection = lazyRegexp(`\b(?:` + praise + `)\b`)
	unsettledWords  = lazyRegexp(
		`\b(?:and|open|new|remaining)\b|&|\b(?:fixed|passed|good|done)-|\b(?:un(?:resolved|fixed|addressed|acknowledged)|not (?:yet )?(?:resolved|fixed|addressed|acknowledged)|still)\b`,
	)
	// describingSection matches the names of sections that describe and do not complain.
	describingSection = lazyRegexp(
		`^(?:summary|overview|walkthrough|changes|files|what changed|description|tests?|test plan` +
			`|references|checked|what i checked|scope|recommendations?|sequence diagrams?|reasoning|notes?|details)\b`,
	)
	// overallSection matches headings under which "No issues found" speaks for the whole text.
	overallSection = lazyRegexp(
		`^(?:summary|results?|review results?|verdict|assessment|overall|overall assessment` +
			`|conclusion|findings|issues|issues found|review|review summary|code review|no issues found)\b`,
	)

	someFound = lazyRegexp(
		`^(?:.{0,60}\b(?:found|identified|detected|reported|raised|posted|left|generated|with|has) |total:? )?(\d{1,6}) ` +
			`(?:new |potential |open |possible |actionable |unresolved |remaining )*` +
			`((?:critical|high|medium|low|major|minor|important|blocking)(?:[ -]severity)? )?` +
			`(?:issues?|findings?|problems?|bugs?|vulnerabilit(?:y|ies)|violations?|defects?)` +
			`(?: (?:were )?(?:found|detected|identified|remain|remaining|reported|left|open|need attention))?` +
			`(?: (?:across|in|on) (?:\d+|all|the|this|your) ?(?:changed )?(?:files?|pr|pull request|changes|diff|code)?)?[.!:]?$`,
	)
	// countPart matches a label and its number. The label's length is bounded where this is used: each repetition of \pL
	// here would compile the table of all letters once more.
	countPart = lazyRegexp(
		`^(?:([\pL][\pL -]*?(?: \([^()]{0,40}\))?) ?: ?` +
			`(\d{1,6}\+?|none|n|x|\{[^{}]{0,20}\}|\[[^\[\]]{0,20}\]|<[^<>]{0,20}>)` +
			`|(\d{1,6}) ([\pL][\pL -]*))$`,
	)
	placeholder = lazyRegexp(`^(?:n|x|y|\{.*\}|\[.*\]|<.*>|\.\.\.|…|tbd|count|number)$`)
	issueLabel  = lazyRegexp(`^(?:number of )?(?:total |open |new |potential )?(?:issues?|findings?|problems?|bugs?|total)(?: found)?$`)

	// nothingFound says as a line of its own that there is nothing.
	nothingFound = lazyShapes(
		"(no|0|zero) (new |open |)(issues|findings|problems|bugs)( were|) (found|detected|identified)( (across|in) {some} file(s|)|)",
		"(no|0|zero) (new |open |)(issues|findings|problems|bugs)( (across|in) {some} file(s|)|)",
		"found (no|0|zero) (new |open |)(issues|findings|problems|bugs)( (across|in) {some} file(s|)|)",
		"{word} review analyzed this pr and found no bugs or issues to report", "no issues identified ({some} code objects reviewed)",
		"i've completed my review and didn't find any issues", "review completed. no suggestions at this time",
		"all reported issues were addressed( across {some} file(s|)|)",
	)
	// nothing matches a value, or a sentence, that says that there is none.
	nothing = lazyRegexp(
		`^(?:-|–|—|(?:none|n/?a|nil|nothing|zero|0|not applicable|keine?|aucune?|ning[uú]n[ao]?|nessun[ao]?|nenhum[ao]?|geen|нет|không` +
			`|なし|无|無|없음|(?:i |we )?(?:did not|didn't|could not|couldn't) (?:find|see|identify|spot) any(?: \w+){0,3}|found (?:no|none|nothing)(?: \w+)?` +
			`|(?:there (?:are|is|were|was) )?(?:no|not any)(?: (?:critical|blocking|major|minor|high|medium|low|important|new|other|further` +
			`|significant|open|remaining|severity|priority|known|real|such))*` +
			` (?:issues?|findings?|problems?|concerns?|blockers?|suggestions?|bugs?|vulnerabilities|nits|warnings|items|changes|objections?` +
			`|comments?|reason|verdict)|(?:all|both|each|every one) (?:[^.,;]{0,40} )?(?:resolved|fixed|addressed|closed)` +
			`|fixed|resolved|addressed|closed)` +
			// An absence ends: what goes on is a finding that begins with such a word.
			`(?:$|[.,;:!()]| \(| [—–-] | (?:were |was )?(?:found|identified|detected|reported|noted|remain(?:s|ing|ed)?|at this time|so far|here|requir\w+` +
			`|to (?:report|flag|fix|add)|worth (?:mention|not|report|flagg|rais)ing|in (?:this|the|[0-9a-f]{7})|within|by|since|were|was|that)\b))`,
	)
	// settledCount matches a count of what is no longer open, or was found by somebody else.
	settledCount   = lazyRegexp(`\b(?:fix(?:e[sd])?|clos(?:e[sd])?|resolv(?:e[sd])?|address(?:e[sd])?|previous(?:ly)?|prior|earlier|already)\b`)
	exceptionWords = lazyRegexp(`\b(?:but|except|however|although|though|besides|apart from|other than)\b`)
)

// isSettled reports whether a row, a cell or a section of that name holds no open complaint.
func isSettled(name string) bool {
	return settledWords().MatchString(name) && !unsettledWords().MatchString(name)
}

// saysNothing reports whether a value, a cell, an item or a sentence says that there is none.
func saysNothing(words string) bool {
	words = strings.TrimLeft(trimSymbols(words), "([（ ")
	return nothing().MatchString(words) && !exceptionWords().MatchString(words)
}

// severityOfMatch returns the severity of a match: m[1] to m[4] are the groups of [severityWord], the gravest first; 0 if none holds.
func severityOfMatch(m []string) quorum.Severity {
	for i, word := range m {
		if i > 0 && word != "" {
			return quorum.Critical + 1 - quorum.Severity(i)
		}
	}
	return 0
}

// severityOfMark returns the severity of a coloured mark. Green is one only beside other colours: alone it says that all
// is well.
func severityOfMark(s string, coloured bool) quorum.Severity {
	if !coloured {
		s = strings.TrimPrefix(s, "🟢")
	}
	return severityOfMatch(severityMark().FindStringSubmatch(s))
}

// severityOfLabel returns the severity that a label names, if it says nothing else.
func severityOfLabel(label string) quorum.Severity {
	return severityOfMatch(severityLabel().FindStringSubmatch(strings.TrimRight(label, " :")))
}

// priorityBadge matches the picture with which an item begins, as Codex draws its priority.
var priorityBadge = lazyRegexp(`(?i)^(?:\*\*|<su[bp]>| )*!\[(p[0-3]) badge\]`)

// severityOfItem returns the severity that an item begins with: "**Critical** …", "[P1] …", "🔴 …", "High: …". A mark
// alone is enough; a word must be set off, else it is prose.
func severityOfItem(item string, isItem, coloured bool) quorum.Severity {
	head := item[:min(len(item), 160)]
	words := stripMarks(head)
	bare := trimSymbols(words)
	if m := priorityBadge().FindStringSubmatch(bare); m != nil {
		return severityOfLabel(lowerASCII(m[1]))
	}
	bold, isBold := strings.CutPrefix(strings.TrimLeftFunc(head, isSymbol), "**")
	if m := severityTag().FindStringSubmatch(bare); m != nil && (m[1] != "" || !strings.ContainsAny(m[6], ")]")) {
		severity := severityOfMatch(m[1:])
		if isItem || m[1] != "" || isBold || strings.HasPrefix(head, "__") || severity == quorum.Critical {
			return severity
		}
	}
	if tag, _, closed := strings.Cut(bold, "**"); isItem && isBold && closed && len(tag) <= 24 {
		if severity := severityOfLabel(plainWords(tag)); severity > 0 {
			return severity
		}
	}
	return severityOfMark(strings.TrimLeft(words, " "), coloured)
}

func isBelow(s, least quorum.Severity) bool { return s > 0 && s < least }
