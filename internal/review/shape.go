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
}

// shapeHoles are the holes, each with the expression of its content. {any} takes as little as it can, so that a number
// behind it is whole.
var shapeHoles = [...]struct{ name, expr string }{
	{"n", number},
	{"some", someNumber},
	{"count", `(` + number + `|(?:no|zero)\b)`},
	{"login", login},
	{"sha", sha},
	{"word", `[^ ]+`},
	{"duration", duration},
	{"any", `.*?`},
}

const (
	number     = `\d+(?:,\d+)*\b`
	someNumber = `(?:0[0,]*)?[1-9]\d*(?:,\d+)*\b`
	login      = `@?[\w.\[\]/-]*[\w\[\]/-]`
	sha        = `[0-9a-f]{7}[0-9a-f]*`
	duration   = oneUnit + `(?:,?(?: and)? ?` + oneUnit + `)*\b`
	oneUnit    = `\d[\d.]* *(?:s|ms|sec(?:ond)?s?|m(?:in(?:ute)?)?s?|h(?:(?:ou)?r)?s?|d(?:ay)?s?)`
)

// The limits of a shape.
const (
	maxShape        = 1500 // bytes of its source
	maxAnyHoles     = 4
	maxShapeDepth   = 4 // of brackets in brackets
	fewestOfLetters = 3
)

var (
	errShapeLong  = fmt.Errorf("is longer than %d bytes", maxShape)
	errShapeHoles = fmt.Errorf("has more than %d holes {any}", maxAnyHoles)
	errShapeEmpty = fmt.Errorf("holds fewer than %d letters", fewestOfLetters)
	errShapeCase  = errors.New("has a capital letter, which no line has when it is compared")
	errShapeOpen  = errors.New("has a bracket without its other half")
	errShapeDeep  = fmt.Errorf("has brackets that are more than %d deep", maxShapeDepth)
)

// parseShape parses a shape. Its error completes the sentence that begins with the shape.
func parseShape(source string) (shape, error) { return parsePhrase(source, fewestOfLetters) }

// parsePhrase parses a shape of at least so many letters.
func parsePhrase(source string, letters int) (shape, error) {
	switch {
	case len(source) > maxShape:
		return shape{}, errShapeLong
	case strings.ToLower(source) != source:
		return shape{}, errShapeCase
	}
	bare, heading := strings.CutPrefix(source, "# ")
	p, _, err := parsePart(cmp.Or(trimStatement(bare), bare), 0)
	switch {
	case err != nil:
		return shape{}, err
	case p.anyHoles > maxAnyHoles:
		return shape{}, errShapeHoles
	case p.letters < letters:
		return shape{}, errShapeEmpty
	}
	return shape{source, "", heading, rx(`(?s)\A` + p.expr + `\z`)}, nil
}

// A shapePart is a part of a shape as an expression.
type shapePart struct {
	expr     string
	letters  int // bytes of words that a line has at least
	anyHoles int // that may have to be filled at most
}

// add adds the part that follows p.
func (p *shapePart) add(next shapePart) {
	p.expr += next.expr
	p.letters += next.letters
	p.anyHoles += next.anyHoles
}

func literalPart(s string) shapePart {
	return shapePart{expr: regexp.QuoteMeta(s), letters: len(strings.Trim(s, " .,:;!?-"))}
}

// oneOf returns the part that is one of choices.
func oneOf(choices []shapePart) (p shapePart) {
	p.letters = choices[0].letters
	for _, c := range choices {
		p.expr += "|" + c.expr
		p.letters, p.anyHoles = min(p.letters, c.letters), max(p.anyHoles, c.anyHoles)
	}
	p.expr = "(?:" + p.expr[1:] + ")"
	return p
}

// parsePart parses the shape s, or within brackets (depth > 0) what stands before the next | or ).
func parsePart(s string, depth int) (p shapePart, rest string, err error) {
	if depth > maxShapeDepth {
		return p, "", errShapeDeep
	}
	for s != "" {
		switch s[0] {
		case '(':
			var choices []shapePart
			for s[0] == '(' || s[0] == '|' {
				var one shapePart
				if one, s, err = parsePart(s[1:], depth+1); err != nil {
					return p, "", err
				}
				choices = append(choices, one)
			}
			s = s[1:]              // the closing bracket
			if len(choices) == 1 { // brackets without a choice are text
				p.add(literalPart("("))
				p.add(choices[0])
				p.add(literalPart(")"))
			} else {
				p.add(oneOf(choices))
			}
		case '|', ')':
			if depth > 0 {
				return p, s, nil
			}
			p.add(literalPart(s[:1]))
			s = s[1:]
		case '{':
			name, after, closed := strings.Cut(s[1:], "}")
			hole, err := holePart(name)
			switch {
			case !closed:
				return p, "", errShapeOpen
			case err != nil:
				return p, "", err
			}
			p.add(hole)
			s = after
		default:
			end := strings.IndexAny(s, "(|){")
			if end < 0 {
				end = len(s)
			}
			p.add(literalPart(s[:end]))
			s = s[end:]
		}
	}
	if depth > 0 {
		return p, "", errShapeOpen
	}
	return p, "", nil
}

func holePart(name string) (p shapePart, err error) {
	names := make([]string, len(shapeHoles))
	for i, h := range shapeHoles {
		if names[i] = h.name; h.name != name {
			continue
		}
		if name == "any" {
			p.anyHoles = 1
		}
		p.expr = h.expr
		return p, nil
	}
	return p, fmt.Errorf("has an unknown hole {%s}: there are {%s}", name, strings.Join(names, "}, {"))
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
	return sync.OnceValue(func() []shape {
		all, err := parseShapes(sources)
		if err != nil {
			panic(err)
		}
		return all
	})
}

// isOneOf reports whether a statement has one of the shapes.
func isOneOf(shapes []shape, statement string) bool {
	return slices.ContainsFunc(shapes, func(s shape) bool { _, ok := s.match(statement); return ok })
}

// parseShapes parses shapes that pass the checks. Its error names the first that is wrong.
func parseShapes(sources []string, checks ...func(shape) error) (all []shape, err error) {
	for _, source := range sources {
		s, err := parseShape(source)
		for _, check := range checks {
			if err == nil {
				err = check(s)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%.60q %w", source, err)
		}
		all = append(all, s)
	}
	return all, nil
}
