package review

// This file reads shapes: sentences with holes, by which a vendor's lines are told. They are data, in the file of a vendor
// or in a policy, so that nobody needs an expression's syntax to write one, and a line can be turned into one.

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A shape is a sentence in small letters, without Markdown, that stands for a whole line. Its holes are
//
//	{n}         a number
//	{some}      a number that is not 0
//	{count}     a number, "no" or "zero": how many findings there are
//	{login}     an account's name, with or without @
//	{sha}       a commit's id
//	{word}      one word
//	{duration}  "1m 44s", "24 minutes and 26 seconds"
//	{any}       anything, or nothing
//
// and (a|b|) is one of its choices, here a, b or nothing. Points and emoji at its ends do not matter. A shape that begins
// with "# " stands for a heading only.
type shape struct {
	source  string
	rule    string // the list and the file in which it stands
	heading bool
	pattern
	notice quorum.NoticeShape // what it says, in the list of notices
}

// shapeHoles puts the expression of its content in place of each hole. {any} takes as little as it can, so that a number
// behind it is whole.
var shapeHoles = strings.NewReplacer(
	`\{n\}`, number, `\{some\}`, someNumber, `\{count\}`, `(`+number+`|(?:no|zero)\b)`, `\{login\}`, login, `\{sha\}`, sha,
	`\{word\}`, `[^ ]+`, `\{duration\}`, duration, `\{any\}`, `.*?`,
)

const (
	number     = `\d+(?:,\d+)*\b`
	someNumber = `(?:0[0,]*)?[1-9]\d*(?:,\d+)*\b`
	login      = `@?[\w.\[\]/-]*[\w\[\]/-]`
	sha        = `[0-9a-f]{7}[0-9a-f]*`
	duration   = oneUnit + `(?:,?(?: and)? ?` + oneUnit + `)*\b`
	oneUnit    = `\d[\d.]* *(?:s|ms|sec(?:ond)?s?|m(?:in(?:ute)?)?s?|h(?:(?:ou)?r)?s?|d(?:ay)?s?)`
)

const (
	maxShape        = 1500 // bytes of its source
	fewestOfLetters = 3
)

var (
	errShapeEmpty = fmt.Errorf("holds fewer than %d letters", fewestOfLetters)
	errShapeCase  = errors.New("has a capital letter, which no line has when it is compared")
	errShapeOpen  = errors.New("has a bracket without its other half")
)

// parseShape parses a shape that stands in a list. Its error completes the sentence that begins with the shape.
func parseShape(source string, list int) (s shape, err error) {
	bare, heading := strings.CutPrefix(source, "# ")
	expr, err := exprOfShape(cmp.Or(trimStatement(bare), bare))
	switch {
	case len(source) > maxShape:
		return s, fmt.Errorf("is longer than %d bytes", maxShape)
	case strings.ToLower(source) != source:
		return s, errShapeCase
	case err != nil:
		return s, err
	}
	s = shape{source: source, heading: heading, pattern: patternOf(`(?s)\A` + expr + `\z`)}
	return s, s.checkFor(list)
}

// quotedBrackets matches the innermost brackets of a quoted shape.
var quotedBrackets = lazyRegexp(`\\\(((?:[^\\]|\\[^()])*)\\\)`)

// exprOfShape returns a shape as an expression. Brackets without a choice are text: \x28 and \x29, which no later step takes for more.
func exprOfShape(source string) (string, error) {
	expr := shapeHoles.Replace(strings.ReplaceAll(regexp.QuoteMeta(source), `\\`, `\x5c`))
	for quotedBrackets().MatchString(expr) {
		expr = quotedBrackets().ReplaceAllStringFunc(expr, func(quoted string) string {
			inner := quoted[2 : len(quoted)-2]
			if !strings.Contains(inner, `\|`) {
				return `\x28` + inner + `\x29`
			}
			return "(?:" + strings.ReplaceAll(inner, `\|`, "|") + ")"
		})
	}
	_, hole, isHole := strings.Cut(expr, `\{`)
	name, _, closed := strings.Cut(hole, `\}`)
	switch {
	case isHole && !closed, strings.Contains(expr, `\(`):
		return "", errShapeOpen
	case isHole:
		const known = "{n}, {some}, {count}, {login}, {sha}, {word}, {duration}, {any}"
		return "", fmt.Errorf("has an unknown hole {%s}: there are %s", name, known)
	}
	return expr, nil
}

// holesAndMarks matches what is no letter of a shape, innermost the brackets that hold none.
var (
	holesAndMarks = lazyRegexp(`\{[^}]*\}|[ .,:;!?-]`)
	innermost     = lazyRegexp(`\([^()]*\)`)
)

// fewestLetters returns how many letters each line of a shape has at least. What fills a hole is none.
func fewestLetters(source string) int {
	fewest := func(choices string) string {
		all := strings.Split(choices[1:len(choices)-1], "|")
		return slices.MinFunc(all, func(a, b string) int { return len(a) - len(b) })
	}
	source = holesAndMarks().ReplaceAllString(source, "")
	for innermost().MatchString(source) {
		source = innermost().ReplaceAllStringFunc(source, fewest)
	}
	return len(source)
}

// UnmarshalText parses a shape of a vendor's file, or of the program itself, that stands in no list.
func (s *shape) UnmarshalText(text []byte) (err error) {
	if *s, err = parseShape(string(text), noList); err != nil {
		return fmt.Errorf("%.60q %w", text, err)
	}
	return nil
}

// match reports whether a statement has the shape. count is what stands in its hole {count}.
func (s shape) match(statement string) (count string, ok bool) {
	groups := s.findGroups(statement)
	if groups == nil {
		return "", false
	}
	return strings.Join(groups[1:], ""), true
}

// statementOf returns a line as shapes are compared with it: in small letters, without Markdown, links' addresses and
// pictures, and without points and emoji at its ends. A line of nothing else stays as it is.
func statementOf(text string) string {
	words := stripMarks(headingText(cutLinks(strings.TrimSpace(text))))
	return cmp.Or(trimStatement(words), words)
}

// trimStatement cuts points, colons and emoji off the ends of s; but no cross off its end, which denies what stands before it.
func trimStatement(s string) string {
	s = strings.ReplaceAll(s, "\ufe0f", "")
	for {
		short := strings.TrimLeftFunc(s, isSymbol)
		short = strings.TrimRightFunc(short, func(r rune) bool { return isSymbol(r) && r != '❌' })
		short = strings.TrimRight(short, ".!…")
		for _, name := range cheers {
			short = strings.TrimPrefix(strings.TrimSuffix(short, name), name)
		}
		if rest, ok := strings.CutSuffix(short, ":"); ok && !strings.HasSuffix(rest, ":") {
			short = rest
		}
		if short == s {
			return s
		}
		s = short
	}
}

// cheers are the names of emoji that say no more than the words beside them.
var cheers = [...]string{
	":white_check_mark:", ":heavy_check_mark:", ":+1:", ":thumbsup:", ":tada:", ":rocket:", ":sparkles:", ":green_circle:",
}

var (
	pictures = lazyRegexp(`!\[[^\[]*?\]\([^)]*\)`)
	links    = lazyRegexp(`\[([^\[]*?)\]\([^)]*\)`)
)

// cutLinks returns text with each link of Markdown as its words, and without pictures.
func cutLinks(text string) string {
	if !strings.Contains(text, "](") {
		return text
	}
	return links().ReplaceAllString(pictures().ReplaceAllString(text, ""), "$1")
}

// lazyShapes returns a function that parses shapes which the program itself writes, when it is first called: a program that
// reads no text parses none.
func lazyShapes(sources ...string) func() []shape {
	return sync.OnceValue(func() (all []shape) {
		for _, source := range sources {
			one, err := parseShape(source, noList)
			if err != nil {
				panic(err)
			}
			all = append(all, one)
		}
		return all
	})
}

func isOneOf(shapes []shape, statement string) bool {
	return slices.ContainsFunc(shapes, func(s shape) bool { _, ok := s.match(statement); return ok })
}

type compiledShapes struct {
	origin string // the preset's file, or "policy"
	lists  [shapeLists][]shape
}

// The lists of shapes, as [quorum.Shapes] names them.
const (
	listApproves = iota
	listIfSettled
	listCounts
	listObjects
	listVetoes
	listPartial
	listWorking
	listOther
	listNotices
	shapeLists
	noList // of a shape that stands in no list
)

var shapeListNames = [shapeLists]string{
	"approves", "if_settled", "counts", "objects", "vetoes", "partial", "working", "other", "notices",
}

// policyOrigin is where the shapes of a policy come from, as a rule names it.
const policyOrigin = "policy"

// ReadsShapes reports whether shapes are looked for in texts of that format: its verdict stands in sentences.
func ReadsShapes(kind quorum.FormatKind) bool {
	return kind == quorum.Auto || kind == quorum.FindingList || kind == quorum.ReviewState
}

// CheckShapes reports the first mistake in shapes that a policy brings: the list, the shape, and what is wrong with it.
func CheckShapes(s quorum.Shapes) error {
	_, err := compileShapes(policyOrigin, s)
	return err
}

func compileShapes(origin string, s quorum.Shapes) (c compiledShapes, err error) {
	c.origin = origin
	for list, sources := range [shapeLists][]string{
		s.Approves, s.IfSettled, s.Counts, s.Objects, s.Vetoes, s.Partial, s.Working, s.Other, nil,
	} {
		for _, source := range sources {
			s, err := parseShape(source, list)
			if err != nil {
				return c, fmt.Errorf("%s: %.60q %w", shapeListNames[list], source, err)
			}
			s.rule = origin + " " + shapeListNames[list] + ": " + source
			c.lists[list] = append(c.lists[list], s)
		}
	}
	for _, n := range s.Notices {
		one, err := parseNotice(n)
		if err != nil {
			return c, fmt.Errorf("notices: %.60q %w", cmp.Or(n.Line, n.Marker), err)
		}
		one.rule = origin + " notices: " + cmp.Or(n.Line, "<!-- "+n.Marker+" -->")
		c.lists[listNotices] = append(c.lists[listNotices], one)
	}
	return c, nil
}

// parseNotice parses a notice: one that is only a marker is the shape of no line. Its error completes the sentence that begins
// with its line or marker.
func parseNotice(n quorum.NoticeShape) (s shape, err error) {
	reasons := noticeReasons[n.Outcome]
	switch {
	case (n.Line == "") == (n.Marker == ""):
		return s, errors.New("needs a line or a marker, and not both")
	case lowerASCII(n.Marker) != n.Marker:
		return s, errShapeCase
	case reasons == nil:
		return s, fmt.Errorf("is %v: a notice is empty, overloaded, limited, failed, declined or unknown", n.Outcome)
	case !slices.Contains(reasons, n.Reason):
		return s, fmt.Errorf("is %v for the reason %q, and not for one of %q", n.Outcome, n.Reason, reasons)
	case n.Line != "":
		s, err = parseShape(n.Line, listNotices)
	}
	s.notice = n
	return s, err
}

// noticeReasons are the reasons that a notice of an outcome may give; no notice has another outcome.
var noticeReasons = map[quorum.Outcome][]quorum.Reason{
	quorum.Empty:      {quorum.ReasonEmpty},
	quorum.Overloaded: {quorum.ReasonOverloaded},
	quorum.Limited:    {quorum.ReasonRateLimit, quorum.ReasonQuota},
	quorum.Failed: {
		quorum.ReasonCredentials, quorum.ReasonBilling, quorum.ReasonBudget, quorum.ReasonInvalid, quorum.ReasonModelRefusal,
	},
	quorum.Declined: {quorum.ReasonDeclined, quorum.ReasonTooLarge, quorum.ReasonSkipped, quorum.ReasonNoSecrets},
	quorum.Unknown:  {quorum.ReasonUnknown},
}

// checkFor reports what makes a shape useless or dangerous in a list.
func (s shape) checkFor(list int) error {
	holds := func(hole string) bool { return strings.Contains(s.source, hole) }
	approving := list == listApproves || list == listIfSettled
	switch {
	case list != noList && fewestLetters(strings.TrimPrefix(s.source, "# ")) < fewestOfLetters:
		return errShapeEmpty
	case approving && (holds("{any}") || holds("{word}")):
		return errors.New("holds {any} or {word}: what approves is known to its last word")
	case approving && (holds("{count}") || countsFindings(s.source)):
		return errors.New("leaves open how many findings there are: write 0 or no, or the line with {count} under counts")
	case approving && holds("{n}"):
		return errors.New("holds {n}, which may be 0, and who saw nothing approves nothing: write {some}")
	case list == listCounts && (holds("{any}") || !holds("{count}")):
		return errors.New("needs {count}, and may not hold {any}: a count of zero approves")
	}
	return nil
}

// counted matches, in a shape, a number beside a word for findings: "{n} issues", "issues found: {n}", "issues ({n})".
var counted = lazyRegexp(countedHole + `[ ()|]*(?:[^ ()|,.;:{]+[ ()|]+){0,2}` + findingNoun +
	`|(?:^|[ ()|:,.;}])` + findingNoun + `[^ ()|:,.;}]*(?:[ ()|:]+[^ ()|:,.;}]+){0,2}` +
	`[ ()|:=-]*(?:[:=-] *` + countedHole + `|\( *` + countedHole + `\))`)

const (
	countedHole = `\{(?:n|some)\}`
	findingNoun = `(?:issue|finding|problem|bug|error|comment|suggestion|concern|warning|nit|vulnerab|violation|block` +
		`|defect|smell|hotspot|alert|risk|fail|flaw|remark|critical|major|minor|high|medium|low|p[0-3]|unresolved|open` +
		`|new|actionable|potential|security)`
)

func countsFindings(source string) bool { return counted().MatchString(source) }
