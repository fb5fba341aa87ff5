package review

// This file finds what takes an approval away: a correction behind it, and words that say that not all was seen. Both are
// read liberally, and nothing here can approve.

import (
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// retraction matches what takes a yes back, anywhere in a line behind it.
var retraction = lazyWorded(
	`\b(?:(?:do|should|must|shall|can|could|would|may) ?(?:not|n't) (?:yet )?(?:be )?(?:merged?|approved?` +
		`|landed|shipped?|released?)` +
		`|(?:don't|dont|can't|cannot|shouldn't|mustn't|wouldn't|won't|never) (?:yet )?(?:be )?(?:merged?` +
		`|approved?|land|ship)` +
		`|not (?:yet )?(?:ready|safe|approved|mergeable|approving)|(?:unsafe|too early) to merge` +
		`|must (?:first )?(?:be )?(?:fix|fixed|address|addressed|resolve|resolved|change|changed|correct` +
		`|corrected|revert|reverted|remove|removed)` +
		`|must[- ]fix|(?:needs?|has|have|ought) to be (?:fixed|addressed|resolved|reworked|changed|corrected` +
		`|reverted)|needs? (?:fixing|fixes|rework)` +
		`|(?:fix|address|resolve|change|correct|revert|remove|rebase|update|add|do) .{0,60}\b(?:first` +
		`|before (?:you )?merg(?:e|ing)|before (?:the )?merge)` +
		`|before (?:this |it |we |you )?(?:is |can be |lands|ships|merg(?:e|ed|ing))|before (?:the )?merge` +
		`|prior to merg(?:e|ing)` +
		`|on (?:second|closer|further) (?:thoughts?|look|inspection|reading)|changed? my mind|i (?:was|am` +
		`|stand) (?:wrong|mistaken|corrected)` +
		`|(?:take|taking|took) (?:it |that |this |my \w+ )?back|(?:withdraw\w*|retract\w*|revok\w+` +
		`|rescind\w*) (?:it|that|this|the|my)` +
		`|disregard (?:the|my|this|that|what)|ignore (?:the|my|this) (?:above|verdict|approval|previous|yes)` +
		`|hold off|hold (?:this|the merge)` +
		`|no longer (?:approved?|valid|holds|stands|true)|(?:verdict|approval|yes) (?:above )?(?:is` +
		`|was) (?:wrong|void|invalid|withdrawn|premature)` +
		`|(?:scratch|strike) that|not so fast|please (?:fix|address|resolve|revert|correct)|reject(?:ed` +
		`|ing)? (?:this|it|the)` +
		`|this (?:is|would be) a blocker|blocks? (?:the |this )?merge|show-?stopper|rejected on)\b` +
		`|^(?:actually|update|edit|edited|correction|wait|errata|erratum|addendum|p\.?s\.?|no|nope|blockers?` +
		`|blocking|must fix` +
		`|rejected|however)(?:$|[.,;:!—–-])`,
)

// foreignRetractions say "do not merge" and "must be fixed" in other languages.
var foreignRetractions = [...]string{
	"nicht mergen", "nicht zusammenführen", "muss noch", "müssen noch", "muss zuerst", "ne pas fusionner",
	"ne fusionnez pas", "doit être corrig",
	"no fusionar", "no fusiones", "no mezclar", "debe corregirse", "hay que corregir", "não mescl",
	"não faça merge", "deve ser corrigid",
	"non unire", "non fare il merge", "deve essere corrett", "niet mergen", "niet samenvoegen", "moet eerst",
	"не сливать", "не мержить",
	"нельзя сливать", "нужно исправить", "nie scalać", "nie łączyć", "należy poprawić", "birleştirmeyin",
	"düzeltilmeli", "jangan digabung",
	"jangan di-merge", "harus diperbaiki", "không merge", "đừng merge", "không hợp nhất", "cần sửa",
	"slå inte ihop", "merga inte", "måste åtgärdas",
	"не зливати", "不要合并", "请勿合并", "不能合并", "需要修复", "必须修复", "不要合併", "マージしない", "マージ不可", "マージするな", "修正が必要", "修正してください",
	"병합하지 마", "머지하지 마", "수정해야", "수정이 필요", "لا تدمج", "يجب إصلاح", "मर्ज न करें", "मर्ज मत", "ठीक करना होगा",
}

// voice says how an approval was given, and so how much of a text may take it back.
type voice uint8

const (
	fieldVoice  voice = 1 + iota // by words that anybody writes: the whole text is the writer's
	vendorVoice                  // by a sentence of its vendor: in folds, tables and quotes its text may say anything
	stateVoice                   // by a review's state: only words that do just that take it back
)

// takenBackAt returns the line of p behind line `from` that takes a yes in it back.
func takenBackAt(p LinedText, from int, by voice) (line int, found bool) {
	prose := 0         // how many lines of prose were read
	next := true       // the line is the first below the yes
	describes := false // it stands in a section that describes the change
	for i := from + 1; i < len(p.lines); i++ {
		l := p.lines[i]
		text := strings.TrimSpace(l.text)
		switch {
		case text == "" || l.visibility == hidden || l.visibility == quoted && by != fieldVoice && !l.alert:
			continue
		case by == vendorVoice && (l.folded || isFooter(text) || text[0] == '|'):
			continue
		case by != vendorVoice && !isFooter(text) && strings.ContainsAny(text, "❌⛔🚫🛑👎✗✘"):
			return i, true
		}
		if _, section := severityOfLabel(plainWords(text)); saysRetraction(text) && !(section && l.level > 0) { // "### Critical (must fix)"
			return i, true
		}
		isHeading := l.level > 0 || strings.HasPrefix(text, "<h") || strings.HasPrefix(text, "<summary") ||
			strings.HasPrefix(text, "<details")
		if isHeading {
			describes = by == vendorVoice || describingSection().MatchString(plainWords(text))
		}
		isName := isHeading && !strings.Contains(headingText(text), " ") // "### Notes"
		if by == stateVoice || l.folded || isName || text[0] == '|' || len(text) > 4*maxMatchedLine {
			next = false
			continue
		}
		item, isItem := listItem(text)
		width := wholeText
		switch {
		case isItem && !(next && by == fieldVoice) || isHeading || l.visibility == quoted:
			width = listedText
		case by == fieldVoice && from >= 0 && !describes && !p.isWithinParagraph(i, from) && !strings.HasPrefix(text, "<su"):
			width = remarkText
		case by == vendorVoice:
			width = vendorText
		}
		next = false
		if width > listedText {
			prose++
		}
		if prose > maxProse || isDoubtful(item, width) || l.visibility != quoted && (by == fieldVoice || !isItem) && isForeignDoubt(item) {
			return i, true
		}
	}
	return 0, false
}

// maxProse is how many lines of prose may stand below a yes. No review has so many, and each is compared with many words.
const maxProse = 150

// isWithinParagraph reports whether line i goes on in a neighbour that is not line from or above.
func (p LinedText) isWithinParagraph(i, from int) bool {
	isProse := func(i int) bool {
		if i <= from || i >= len(p.lines) || p.lines[i].visibility == hidden || p.lines[i].level > 0 {
			return false
		}
		text := strings.TrimSpace(p.lines[i].text)
		_, item := listItem(text)
		return text != "" && !item && text[0] != '<' && text[0] != '|'
	}
	return isProse(i-1) || isProse(i+1)
}

// saysRetraction reports whether a line takes a yes back.
func saysRetraction(text string) bool {
	if len(text) > 4*maxMatchedLine {
		text = text[:4*maxMatchedLine]
	}
	item, _ := listItem(text)
	words := plainWords(item)
	for at := 0; at < len(words); {
		m := retraction().FindStringIndex(words[at:])
		if m == nil {
			break
		}
		if !isDenied(words[:at+m[0]]) {
			return true
		}
		at += m[1]
	}
	if hasForeignLetter(words) {
		words = strings.ToLower(words)
	}
	for _, phrase := range foreignRetractions {
		if strings.Contains(words, phrase) {
			return true
		}
	}
	return false
}

// isDenied reports whether what follows these words is denied by them: "nothing … ", "no …".
func isDenied(before string) bool {
	words := strings.Fields(before[max(0, len(before)-40):])
	for n := len(words) - 1; n >= 0 && n >= len(words)-3; n-- {
		switch strings.Trim(words[n], ".,;:()") {
		case "no", "nothing", "none", "without", "zero", "any":
			return true
		}
		if strings.ContainsAny(words[n], ".;:") {
			return false
		}
	}
	return false
}

// unread matches what says that a part of the change was not seen, and no more: the files of a count are read apart.
var unread = [...]struct {
	expr    func() *wordedRegexp
	outcome quorum.Outcome
}{
	{
		lazyWorded(`\b(?:diff|patch|output|context|response|answer|review|input|prompt|file list|log` +
			`|text)(?: \w+){0,2} (?:was|is|were|got|has been|had to be)` +
			` (?:\w+ )?(?:truncated|cut off|cut short|clipped|abridged|shortened|incomplete|empty` +
			`|too (?:large|big|long)|missing|not available|unavailable|omitted)\b` +
			`|\btruncated (?:diff|output|input|context|patch|file)|\b(?:diff|output|context` +
			`|review) truncated\b|\bempty (?:diff|patch)\b`),
		quorum.Partial,
	},
	{
		lazyWorded(`\b(?:0|no|zero) (?:changed |code )?(?:files?|objects?|lines|changes|diff|code) (?:were ` +
			`|was |have been |could be |objects? (?:were )?)?` +
			`(?:reviewed|read|analy[sz]ed|checked|inspected|processed|scanned|to review)\b` +
			`|\bfiles (?:reviewed|read|analy[sz]ed|checked|scanned):? ?0\b|\breviewed:? 0 (?:of \d+ )?files\b` +
			`|\breviewed (?:0|no) files\b` +
			`|\bnothing (?:was |to |could be |left to )?(?:to )?(?:be )?(?:review(?:ed)?|read|analy[sz]ed?` +
			`|checked)\b`),
		quorum.Partial,
	},
	{
		lazyWorded(`(?:^|[.;:!,] |\b(?:i|we|it|reviewer|model|bot|agent|agents|tool|reviewers|and|but)(?: \w+)? )` +
			`(?:could not|couldn't|cannot|can't|was unable to|were unable to|am unable to|unable to` +
			`|was not able to|wasn't able to|failed to|did not|didn't|have not|haven't)` +
			` (?:\w+ ){0,2}?(?:read|review|reviewed|fetch|load|access|open|see|seen|analy[sz]e|process` +
			`|retrieve|check|checked|look at|inspect|finish|complete|cover|verify|reach|get)` +
			`(?: (?:all|the|every|any|some|most|this|these|those|parts?|rest|remaining|entire|whole|several` +
			`|other|of|\d+|its|their|your|full))*` +
			` (?:\w+ )?(?:diff|files?|changes?|patch|pull request|pr|code|commits?|review|it|them|rest` +
			`|migrations?|tests?|everything|implementation|repository|[\w/-]*[./][\w./-]*\w)` +
			`(?:[.,;:!)]|$| (?:of|in this|due|because|as|since|for|so|and|beyond|after|here|yet|completely` +
			`|fully|at all)\b)` +
			`|\b(?:i|we) (?:could not|couldn't) finish\b` +
			`|\b(?:files?|parts?|agents?|diff|patch|changes?|lines|commits?|migrations?|tests?|review|pages?` +
			`|rest) (?:could not|couldn't|cannot|can't) be ` +
			`(?:read|loaded|fetched|opened|reviewed|parsed|checked|analy[sz]ed|retrieved|seen|shown|accessed` +
			`|completed|finished|processed)\b` +
			`|\b(?:had|have|has|having|with|was given|got) (?:no|not|without) (?:full |complete )?access to\b` +
			`|\bno access to the (?:diff|code|files|repository)\b` +
			`|\b(?:answered|returned|got|with|status|http|error)(?: (?:with|an?|code|http|status` +
			`|error))* (?:40[0-9]|429|5\d\d)\b.{0,60}\b(?:diff|files?|patch|fetch\w*|read\w*|load\w*)\b`),
		quorum.Malformed,
	},
	{
		lazyWorded(`\b(?:not|never|hasn't|haven't|wasn't|weren't|isn't|aren't|un)(?: yet| have| been| be` +
			`| fully| completely| all| actually)* ?` +
			`(?:reviewed|analy[sz]ed|looked at|inspected|evaluated)\b|\bskipped (?:[1-9]\d*|some|several|all` +
			`|the|most|many)(?: other| remaining| large)? files?\b` +
			`|\b[1-9]\d* (?:other )?files? (?:were |was )?(?:skipped|ignored|omitted|excluded|left out)\b` +
			`|\bfiles? skipped:? [1-9]`),
		quorum.Malformed,
	},
	{
		lazyWorded(`\b(?:ran|running) out of (?:time|tokens|context|turns|budget|memory|space)\b|\b(?:context` +
			`|token)s?(?: window| limit| length| budget)+ ` +
			`(?:was |is |were )?(?:exceeded|reached|full|exhausted|hit|too)\b|\b(?:model|api|provider|llm` +
			`|agent|backend|service|reviewer)s? (?:returned|gave|produced|answered|sent)` +
			` (?:no|nothing|an empty|an error|errors?|with an error|only)\b|\b(?:partial|incomplete` +
			`|unfinished|aborted|interrupted) review\b` +
			`|\breview (?:is |was |remains )?(?:incomplete|partial|unfinished|aborted|interrupted` +
			`|not (?:complete|finished|done))\b` +
			`|\b(?:i am|i'm|we are|we're) still (?:looking|reviewing|reading|working|waiting|checking)\b` +
			`|\b(?:the |other |some |several |two |three |\d+ )?(?:others?|agents?|reviewers?|models?` +
			`|reviews?|analys[ei]s|passes|workers?) (?:has |have )?(?:timed out|crashed|failed|errored)\b` +
			`|\bwithout (?:having )?(?:read|reading|seen|seeing|looked|looking at|reviewed|reviewing)\b` +
			`|\b(?:only|just) (?:read|reviewed|looked at|checked|saw|seen|had|covers?|skimmed)\b` +
			`|\b(?:based|judging|going) (?:only |solely |just )?(?:on|from|by) (?:only )?(?:the )?(?:title` +
			`|description|summary|file names?|names)\b` +
			`|\bfirst \d+ (?:lines|files|bytes|kb)\b|\bskimmed\b|\bspot[- ]?check|\bsampled\b`),
		quorum.Malformed,
	},
}

// partSeen matches a share of the change that is less than all of it, and how many of how many files behind their label.
var partSeen = lazyWorded(`\b(?:reviewed|read|checked|analy[sz]ed|scanned|covered|saw|seen|inspected` +
	`|looked at)\b.{0,30}\b\d?\d(?:[.,]\d+)? ?(?:%|percent\b)` +
	`|\b\d?\d(?:[.,]\d+)? ?(?:%|percent) (?:of )?(?:the |all )?(?:\w+ )?(?:change|diff|files|lines|code` +
	`|pull request|pr|patch)\w* (?:was |were |is |are )?(?:reviewed|read|checked|analy[sz]ed|scanned` +
	`|covered|seen)`)

// labelledShare matches how many of how many, behind a label.
var labelledShare = lazyRegexp(`\b(?:files?|lines|hunks|chunks|changes|agents|reviewers|commits|coverage` +
	`|reviewed|read|checked|analy[sz]ed)(?: \w+){0,2} ?[:=] ?(\d{1,6}) ?(?:of|/|out of) ?(\d{1,6})\b`)

// coverage matches how much of how many was seen.
var coverage = lazyRegexp(
	`\b(\d{1,6}) ?(?:/|of|out of|von|sur|de|di|van|av|z|из|dari|trong|から|の|中) ?(?:the |all |den |los |las ` +
		`|les )?(\d{1,6}) ?(?:changed |modified |code |geänderten )?` +
		`(?:files?|objects?|agents?|reviewers?|models?|hunks?|chunks?|parts?|batches|passes|lines|commits` +
		`|dateien|fichiers|archivos|ficheros|arquivos|bestanden` +
		`|filer|plików|файл\pL*|dosya\pL*|berkas|tệp|個|个|件|개|文件)`,
)

// coverageOf reads "3 of 9 files"; seen is below all where not all was seen.
func coverageOf(words string) (seen, all int, ok bool) {
	if !strings.ContainsAny(words, "0123456789") {
		return 0, 0, false
	}
	m := coverage().FindStringSubmatch(words)
	if m == nil {
		m = labelledShare().FindStringSubmatch(words)
	}
	if m == nil {
		return 0, 0, false
	}
	seen, _ = strconv.Atoi(m[1])
	all, _ = strconv.Atoi(m[2])
	return seen, all, true
}

// unreadPart finds the line that says that the writer did not see all of the change. Lists are about the change itself, and
// so are folds and tables; the line that approves says what its vendor means by it.
func unreadPart(p LinedText, approving int) (line int, outcome quorum.Outcome, found bool) {
	for i, l := range p.lines {
		text := strings.TrimSpace(l.text)
		if l.visibility != inView && l.visibility != doubtful && !l.alert || text == "" || l.folded || text[0] == '|' || i == approving {
			continue
		}
		item, isItem := listItem(text)
		if len(item) > 4*maxMatchedLine {
			item = item[:4*maxMatchedLine]
		}
		words := plainWords(item)
		if partSeen().MatchString(words) {
			return i, quorum.Partial, true
		}
		if seen, all, ok := coverageOf(words); ok && seen < all {
			return i, quorum.Partial, true
		}
		if isItem {
			continue
		}
		for _, u := range unread {
			if u.expr().MatchString(words) {
				return i, u.outcome, true
			}
		}
	}
	return 0, 0, false
}
