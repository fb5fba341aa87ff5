package review

// This file finds what says that nothing, or only a part, of a change was read, or that the answer is no answer. It is read
// liberally, wherever it stands but in code, in clauses about what was to be read or about the answer itself. Each word of a
// clause is reduced to its class, and a few shapes of classes say that something was not read.

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// unreadWords are the words that the shapes know, behind their class; any other word is of the class '.', and a number of 'q'.
// Two words that mean something only together are joined by +: the second has the class, and the first none.
const unreadWords = `
n not no never none nothing unable neither nor zero 0 without couldn't didn't wasn't weren't haven't hasn't
v cannot can't isn't aren't don't doesn't does+not do+not is+not are+not
e failed fail denied impossible errored
r read reading reviewed reviewing analyse analysed analyze analyzed analysing analyzing look looked looking inspect
r inspected examine examined check checked cover covers covered scan scanned process processed see saw seen to+review
r to+view
f fetch fetched fetching load loaded loading open opened receive received provide provided access accessed accessible
f include included retrieve retrieved display displayed given get got send sent shown available attached parse parsed
f fit finish finished complete handed pasted completed reach reached supplied passed performed done made clone respond
f responded answer answered
l truncated clipped abridged omitted excluded skipped dropped incomplete partial aborted interrupted crashed
l unavailable inaccessible empty missing exceeded exceeds invalid timeout cut+off cut+short left+out timed+out ran+out
l too+large too+big too+long not+valid stopped+half-way stopped+halfway stopped+midway cut+at was+overloaded
l was+killed was+cancelled refused+to been+capped was+capped stopped+early stopped+after
u unreviewed unread not+reviewed not+analysed not+analyzed not+inspected
k fallback default defaulted defaults
d diff diffs patch patches hunk hunks my+context my+prompt my+input the+prompt
c changes changeset pr commit commits pull+request
m file files code contents content rest remainder repository
a review reviews verdict analysis pass chunk chunks
g model models reviewer reviewers agent agents tool
w output response input
h hit
o only just merely solely title+alone description+alone
p part parts first half some subset title description names beginning test tests the+test
b be been was were
t problem problems issue issues finding findings bug bugs concern concerns blocker blockers regression regressions
t reason reasons defect defects secret secrets vulnerability vulnerabilities gap gaps change difference way need needs
t sign flaw flaws how why anything any+changes
x generated binary binaries lock lockfile lockfiles deleted image images minified
I i we
H don't+have didn't+have not+have please+provide please+paste please+share please+attach
L limited+to restricted+to
B based+on worked+from rests+on relied+on
P half+of part+of some+of most+of third+of quarter+of
i time+limit token+limit review+limit context+limit output+limit turn+limit context+window context+length token+budget
. the+reviewed all+reviewed the+included the+open no+longer`

// unreadClass returns the classes of words, and of two words that are joined.
var unreadClass = sync.OnceValue(func() map[string]byte {
	classes := map[string]byte{}
	for line := range strings.SplitSeq(unreadWords[1:], "\n") {
		for w := range strings.FieldsSeq(line[1:]) {
			classes[w] = line[0]
		}
	}
	return classes
})

// An unreadRow says that something was not read.
type unreadRow struct {
	expr    func() *regexp.Regexp
	example string
}

// unreadShapes are held against the words of a clause: a letter stands for a word of its class.
var unreadShapes = []unreadRow{
	{lazyRegexp(`[ne][^rft]{0,4}[rf][^t]{0,6}[dcmag]`), "unable to load the diff"},
	{lazyRegexp(`I.?[nv].{0,2}[rf](?:[^t]*$|[^t]{0,6}[dcm])`), "i did not look at the migration"},
	{lazyRegexp(`d[^nvt]{0,6}v[^t]{0,3}[rf]`), "the diff is not available"},
	{lazyRegexp(`[dcag][^nt]{0,6}[ne][^t]{0,3}[rf]`), "the diff was never shown to me"},
	{lazyRegexp(`m[^nt]{0,6}(?:bn|n\.?b)[^t]{0,2}[rf]`), "the changed files could not be opened"},
	{lazyRegexp(`n[^rft]{0,3}[dcma][^rftn]{0,2}[rf]`), "none of the changed files was read"},
	{lazyRegexp(`[mdcp].{0,6}u|^.{0,3}u`), "api/users.go: not reviewed"},
	{lazyRegexp(`n\.?d`), "without the diff this rests on the title"},
	{lazyRegexp(`[rf][^rf]{0,2}[dcm][^t]{0,3}e`), "fetching the diff failed"},
	{lazyRegexp(`[ga].{0,2}e`), "the agent failed"},
	{lazyRegexp(`g.{0,2}n.{0,2}[wm]`), "the tool returned nothing for api/users.go"},
	{lazyRegexp(`[dcag].{0,5}l|l.{0,4}[dcag]|w(?:b\.?)?l|I[b.]?l`), "the diff was truncated after 3,000 lines"},
	{lazyRegexp(`m[.x]{0,3}b\.?l|l\.?q\.?m|^lx*m[mx]*$|^q?m\.?lq?$|^lmq$`), "the remaining files were skipped"},
	{lazyRegexp(`H.{0,2}[dcm]`), "i don't have the diff"},
	{lazyRegexp(`[adrf].{0,2}L`), "review limited to the first 50 files"},
	{lazyRegexp(`B.{0,5}o|o.{0,2}B`), "based on the description only"},
	{lazyRegexp(`Io.?r.{0,4}[pm]`), "i only read the tests"},
	{lazyRegexp(`r.{0,2}P.{0,2}[dcm]|P.{0,2}[dcm].{0,3}r`), "reviewed roughly half of the diff"},
	{lazyRegexp(`m.?n.?a`), "files without review"},
	{lazyRegexp(`k.{0,2}a|a.{0,3}k`), "this is a fallback verdict"},
	{lazyRegexp(`i.{0,3}[hfl]|h.{0,3}i|a.*i$`), "the token limit was reached"},
	{lazyRegexp(`[rf].{0,6}p.{0,3}o|o.{0,5}p.{0,8}[rfdc]`), "only the first ten files were reviewed"},
}

var (
	// clauseEnds part a line into clauses.
	clauseEnds = lazyRegexp(`[.;!?] | [—–-] |[()]|, (?:so|because|since|but) | (?:because|and therefore|so that) `)
	// deniedLoss is a loss that is denied: "nothing was skipped".
	deniedLoss = lazyRegexp(`([nv][^l]{0,3})l`)
)

// aboutCode matches the clauses that describe what code does, or did before the change.
var aboutCode = lazyRegexp(
	`\b(?:when|if|whether|in case) (?:[a-z'/.-]+ ){0,5}(?:is|are|has|have|cannot|can't|fails|times|gives|changes?|exceeds|does(?: not|n't))\b[^,.;]*` +
		`|^(?:previously|before this(?: change)?,?|before,) [^;.]*|^(?:in )?the (?:old|previous|existing) (?:code|version|implementation) [^;.]*` +
		`|^the (?:bug|root cause) was [^;.]*|^this (?:fixes|closes|makes|prevents) [^;.]*` +
		`|\b(?:the|a|an|new|unit) tests? (?:now )?(?:covers?|checks?|proves?|shows?|asserts?) [^;.]*` +
		`|\b(?:says|shows|counts|lists|reports|logs|prints) (?:how many|which|what) [^;.]*`)

// statedLosses are fields and counts that say so.
var statedLosses = []unreadRow{
	{lazyRegexp(`^(?:(?:the )?(?:diff|input|output|response|review|context|prompt|answer|patch|model)s? )?(?:was )?` +
		`(?:truncated|clipped|cut off|incomplete|partial|fallback|timed out|capped)\??: ?(?:yes|true|[1-9])`), "truncated: yes"},
	{lazyRegexp(`^(?:diff|patch|files?|code|changes|contents?)(?: (?:was|were))? ?(?:available|reviewed|read|seen|loaded|included|provided` +
		`|received)\??: ?(?:no|none|nothing|false)\b|^(?:reviewed|read|seen): ?(?:no|none|nothing)\b`), "files reviewed: none"},
	{lazyRegexp(`^(?:status|coverage|completeness|review|review status|mode|source|scope)\??: ?` +
		`(?:partial|incomplete|truncated|fallback|default|cancell?ed|timed out|aborted)\b`), "status: cancelled"},
	{lazyRegexp(`^(?:(?:skipped|omitted|unread|unreviewed|excluded|remaining|failed|ignored) (?:files|hunks|chunks)` +
		`|(?:files|hunks|chunks) (?:not (?:yet )?\w+|skipped|omitted|remaining|left|excluded))` +
		`\b.{0,12}[:(] ?\S*[1-9./]`), "remaining files: 12"},
	{lazyRegexp(`\b[1-9]\d*(?: files)? reviewed, [1-9]\d*(?: files)? (?:skipped|omitted|left)\b` +
		`|\breviewed [1-9]\d* files, (?:skipped|omitted) [1-9]`), "reviewed 12 files, skipped 28"},
	{lazyRegexp(`^coverage: (?:of the diff: )?\d?\d ?%|\b\d?\d ?% of the (?:diff|patch|changes|files|pr)\b` +
		`.{0,20}\b(?:reviewed|read|checked|covered)`), "about 60% of the diff was reviewed"},
	{lazyRegexp(`\b(?:fallback|default(?:ed|ing)?)(?: to)?(?: an?)? approv\w+`), "defaulted to approve"},
	{lazyRegexp(`^error (?:while|when|during) (?:fetching|loading|reading|opening)\b`), "error while fetching the description"},
	{lazyRegexp(`\bnot covered\b`), "### not covered"},
}

// saysUnread reports whether a line in small letters, without Markdown, says that something was not read.
func saysUnread(words string) bool {
	isIn := func(text string) func(unreadRow) bool {
		return func(row unreadRow) bool { return row.expr().MatchString(text) }
	}
	if slices.ContainsFunc(statedLosses, isIn(words)) {
		return true
	}
	for _, clause := range clauseEnds().Split(aboutCode().ReplaceAllString(words, " "), -1) {
		classes := unreadClasses(clause)
		if classes = deniedLoss().ReplaceAllString(classes, "${1}."); strings.Contains(classes, "x") && !strings.Contains(classes, "M") {
			classes = strings.ReplaceAll(classes, "m", ".") // such files need not be read
		}
		if slices.ContainsFunc(unreadShapes, isIn(strings.ReplaceAll(classes, "M", "m"))) {
			return true
		}
	}
	return false
}

// unreadClasses returns the classes of the words of a clause, one letter a word.
func unreadClasses(clause string) string {
	classes := unreadClass()
	var out []byte
	previous := ""
	for w := range strings.FieldsSeq(clause) {
		w = strings.TrimSuffix(strings.Trim(w, `"'.,:;!?()[]{}`), "'s")
		class, known := classes[previous+"+"+w]
		switch {
		case known:
			out[len(out)-1] = '.' // "not valid" denies nothing
		case classes[w] > 0:
			class = classes[w]
		case w != "" && strings.Trim(w, "0123456789,") == "":
			class = 'q'
		case isPathWord(w):
			if class = 'M'; mayGoUnread(quorum.File{Path: w}) { // M: a file that needs review
				class = 'x'
			}
		default:
			class = '.'
		}
		out, previous = append(out, class), w
	}
	return string(out)
}

func isPathWord(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	return strings.Contains(w, "/") && !strings.Contains(w, "//") || dot > 0 && len(w)-dot > 1 && len(w)-dot < 6 && isAlnum(w[dot+1])
}

var (
	// coverage matches how many of how many were read.
	coverage = lazyRegexp(
		`\b(\d{1,6}) ?(?:files? )?(?:/|of|out of) ?(?:the |all )?(\d{1,6}) ?(?:changed |modified |code )?` +
			`(?:files?|objects?|agents?|reviewers?|models?|hunks?|chunks?|parts?|batches|passes|lines|commits)\b` +
			`|\b(\d{1,6}) (?:changed )?(?:files|hunks|chunks) (?:out )?of (?:the )?(\d{1,6})\b` +
			`|\b(?:files?|lines|hunks|chunks|agents|reviewers|` + wasRead + `)(?: \w+){0,2} ?[:=] ?` +
			`(\d{1,6}) ?\(?(?:of|/|out of) ?(\d{1,6})\b`)
	// percentage matches a share below all.
	percentage = lazyRegexp(`\b(?:` + wasRead + `|covered)\b.{0,30}\b\d?\d(?:[.,]\d+)? ?(?:%|percent\b)`)
	// countedFiles match a number of files that were read, or changed.
	countedFiles = lazyRegexp(`^(?:changed |modified )?(?:files|hunks|lines) ?(?:(` + wasRead + `)` +
		`|changed|modified|total|in (?:the |this )?(?:diff|pr|pull request))?:? (\d{1,6})$`)
	unneededFiles = lazyRegexp(`\b(\d{1,6}) (?:\w+ )?(?:generated|binary|lock|deleted)(?: files?\b|[),;.]|$)`)
)

const wasRead = `reviewed|read|checked|analy[sz]ed|scanned`

// countsPart reports whether words count a part as read: "3 of 9 files". What need not be read counts as read.
func countsPart(words string) bool {
	unneeded := 0
	for _, m := range unneededFiles().FindAllStringSubmatch(words, 4) {
		n, _ := strconv.Atoi(m[1])
		unneeded += n
	}
	return slices.ContainsFunc(coverage().FindAllStringSubmatch(words, -1), func(m []string) bool {
		seen, _ := strconv.Atoi(m[1] + m[3] + m[5])
		all, _ := strconv.Atoi(m[2] + m[4] + m[6])
		return seen+unneeded < all
	})
}

// unreadLine finds the line that says that not all was read, or that there is no answer. Where a vendor's own words approve, its
// folds, tables and quotes are about the change itself; the line that approves says what its vendor means by it.
func (d *document) unreadLine(approving int, ownWords bool) (line int, found bool) {
	var counted countedRead
	var header []string
	for i, text := range d.linesBeside(approving, ownWords) {
		parts := []string{d.wholeSentence(i, text)}
		if strings.Contains(text, ": ") { // it may go on with nothing
			parts = append(parts, text)
		}
		if text[0] == '|' {
			cells := cellsOf(text)
			if i == 0 || !strings.HasPrefix(strings.TrimSpace(d.lines[i-1].text), "|") {
				header = cells
			}
			parts = rowClauses(header, cells)
		}
		if slices.ContainsFunc(parts, counted.showsUnread) {
			return i, true
		}
	}
	for i := len(d.lines) - 1; i > approving && !ownWords; i-- { // an answer that ends in a colon was cut off
		text := strings.TrimRight(d.lines[i].text, "*_ ")
		if d.lines[i].visibility == hidden || text != "" {
			return i, strings.HasSuffix(text, ":")
		}
	}
	return 0, false
}

// countedRead is how many files a text says were read, and how many there are; 0: it does not say.
type countedRead struct{ seen, all int }

// showsUnread reports whether a part of a line says that not all was read, by itself or beside the parts before it.
func (c *countedRead) showsUnread(part string) bool {
	item, _ := listItem(strings.TrimSpace(part))
	words := plainWords(cutLinks(dropInvisible(dropCode(item))))
	if countsPart(words) || percentage().MatchString(words) || saysUnread(words) {
		return true
	}
	for one := range strings.SplitSeq(strings.ReplaceAll(words, " · ", ", "), ", ") { // two counts in one line
		m := countedFiles().FindStringSubmatch(strings.TrimSpace(one))
		switch {
		case m == nil:
			continue
		case m[1] == "":
			c.all, _ = strconv.Atoi(m[2])
		default:
			if c.seen, _ = strconv.Atoi(m[2]); c.seen == 0 {
				return true
			}
		}
		if c.seen > 0 && c.seen < c.all {
			return true
		}
	}
	return false
}

// wholeSentence returns the text of line i behind what it goes on with: a text may be broken into lines by width.
func (p LinedText) wholeSentence(i int, text string) string {
	l, above := p.lines[i], p.lines[max(0, i-1)]
	before := strings.TrimSpace(above.text)
	_, isItem := listItem(text)
	_, _, _, isField := parseField(l)
	_, _, _, isBelowField := parseField(above)
	isOwn := i == 0 || l.level > 0 || above.level > 0 || l.visibility != above.visibility || isItem || isField || isBelowField ||
		!isAlnum(text[0]) && !strings.ContainsAny(text[:1], "`*") || boldLine(text)
	if isOwn || before == "" || before[0] == '|' || len(before) > 200 || strings.ContainsAny(before[len(before)-1:], ".!?:|>*") {
		return text
	}
	return strings.TrimSpace(above.text[strings.LastIndexAny(above.text, ".!?;")+1:]) + " " + text
}

// rowClauses returns the cells of a row, each behind the name of its column, and the row; of two cells the second behind the first.
func rowClauses(header, cells []string) (clauses []string) {
	if len(cells) == 2 {
		clauses = append(clauses, strings.TrimSpace(cells[0])+": "+strings.TrimSpace(cells[1]))
	}
	for i, c := range cells {
		if i < len(header) && len(header[i]) <= 80 {
			clauses = append(clauses, c)
			c = strings.TrimSpace(header[i]) + ": " + strings.TrimSpace(c)
		}
		clauses = append(clauses, c)
	}
	return append(clauses, strings.Join(clauses, " "))
}

// dropCode returns a line without what stands in code; a path stays.
func dropCode(text string) string {
	return replaceCodeSpans(text, func(span string) string {
		if inner := strings.Trim(span, "` "); !strings.ContainsAny(inner, " *") && isPathWord(inner) {
			return inner
		}
		return "code"
	})
}
