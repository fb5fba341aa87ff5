package review

// This file reads shapes: sentences with holes, by which a vendor's lines are told. They are data, in the file of a vendor
// or in a policy, so that nobody needs an expression's syntax to write one, and a line can be turned into one.

import (
	"errors"
	"fmt"
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
	heading bool
	first   *shapeNode
}

// A shapeNode is a piece of a shape: literal text, a hole, or a point where it goes on in one of several ways.
type shapeNode struct {
	literal string
	hole    string
	next    []*shapeNode // none: the shape ends here
	gate    *shapeNode   // the hole {any} that every way from here comes to first; nil if there is no such one
}

// A shapePart is a piece of a shape as it is written: literal text, a hole, or choices.
type shapePart struct {
	literal string
	hole    string
	choices [][]shapePart
}

// The limits of a shape.
const (
	maxShape        = 1500 // bytes of its source
	maxAnyHoles     = 4
	maxShapeDepth   = 4   // of brackets in brackets
	maxForgetful    = 256 // steps of a comparison, from which on it remembers what led nowhere
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

// shapeHoles are the names of the holes.
var shapeHoles = [...]string{"n", "some", "count", "login", "sha", "word", "duration", "any"}

// parseShape parses a shape. Its error completes the sentence that begins with the shape.
func parseShape(source string) (shape, error) { return parsePhrase(source, 3) }

// parsePhrase parses a shape of at least so many letters.
func parsePhrase(source string, letters int) (shape, error) {
	switch {
	case len(source) > maxShape:
		return shape{}, errShapeLong
	case strings.ToLower(source) != source:
		return shape{}, errShapeCase
	}
	bare, heading := strings.CutPrefix(source, "# ")
	parts, rest, err := parseParts(trimStatement(bare), 0)
	switch {
	case err != nil:
		return shape{}, err
	case rest != "":
		return shape{}, errShapeOpen
	case countHoles(parts, "any") > maxAnyHoles:
		return shape{}, errShapeHoles
	case countLetters(parts) < letters:
		return shape{}, errShapeEmpty
	}
	return shape{source: source, heading: heading, first: linkParts(parts, &shapeNode{})}, nil
}

// parseParts parses what stands before the end of s, or within brackets (depth > 0) before the next | or ).
func parseParts(s string, depth int) (parts []shapePart, rest string, err error) {
	if depth > maxShapeDepth {
		return nil, "", errShapeDeep
	}
	for s != "" {
		switch s[0] {
		case '(':
			var choices [][]shapePart
			for s[0] == '(' || s[0] == '|' {
				var one []shapePart
				if one, s, err = parseParts(s[1:], depth+1); err != nil {
					return nil, "", err
				}
				if choices = append(choices, one); s == "" {
					return nil, "", errShapeOpen
				}
			}
			s = s[1:]              // the closing bracket
			if len(choices) == 1 { // brackets without a choice are text
				choices[0] = append(append([]shapePart{{literal: "("}}, choices[0]...), shapePart{literal: ")"})
			}
			parts = append(parts, shapePart{choices: choices})
		case '|', ')':
			if depth > 0 {
				return parts, s, nil
			}
			parts, s = append(parts, shapePart{literal: s[:1]}), s[1:]
		case '{':
			name, after, closed := strings.Cut(s[1:], "}")
			switch {
			case !closed:
				return nil, "", errShapeOpen
			case !slices.Contains(shapeHoles[:], name):
				return nil, "", fmt.Errorf("has an unknown hole {%s}: there are {%s}", name, strings.Join(shapeHoles[:], "}, {"))
			}
			parts, s = append(parts, shapePart{hole: name}), after
		default:
			end := strings.IndexAny(s, "(|){")
			if end < 0 {
				end = len(s)
			}
			parts, s = append(parts, shapePart{literal: s[:end]}), s[end:]
		}
	}
	if depth > 0 {
		return nil, "", errShapeOpen
	}
	return parts, "", nil
}

// countHoles returns how many holes of a name may have to be filled at most.
func countHoles(parts []shapePart, name string) (n int) {
	for _, p := range parts {
		if p.hole == name {
			n++
		}
		most := 0
		for _, c := range p.choices {
			most = max(most, countHoles(c, name))
		}
		n += most
	}
	return n
}

// countLetters returns how many bytes of words a line of the shape has at least.
func countLetters(parts []shapePart) (n int) {
	for _, p := range parts {
		n += len(strings.Trim(p.literal, " .,:;!?-"))
		fewest := -1
		for _, c := range p.choices {
			if letters := countLetters(c); fewest < 0 || letters < fewest {
				fewest = letters
			}
		}
		n += max(fewest, 0)
	}
	return n
}

// linkParts returns the node at which parts begin, where after follows them.
func linkParts(parts []shapePart, after *shapeNode) *shapeNode {
	for i := len(parts) - 1; i >= 0; i-- {
		node := &shapeNode{literal: parts[i].literal, hole: parts[i].hole}
		for _, c := range parts[i].choices {
			node.next = append(node.next, linkParts(c, after))
		}
		if len(parts[i].choices) == 0 {
			node.next = []*shapeNode{after}
		}
		node.gate = node.next[0].gateFrom()
		for _, next := range node.next[1:] {
			if next.gateFrom() != node.gate {
				node.gate = nil
			}
		}
		after = node
	}
	return after
}

// gateFrom returns the hole {any} that every way comes to first, n's own included.
func (n *shapeNode) gateFrom() *shapeNode {
	if n.hole == "any" {
		return n
	}
	return n.gate
}

// match reports whether a statement has the shape. count is what stands in its hole {count}.
func (s shape) match(statement string) (count string, ok bool) {
	var m shapeMatcher
	if ok = m.match(s.first, statement); !ok {
		return "", false
	}
	return m.count, true
}

// A shapeMatcher compares one statement with one shape.
type shapeMatcher struct {
	count   string
	failed  *shapeNode // the hole {any} that did not find what follows it: it would not from a later place either
	steps   int
	nowhere map[deadEnd]struct{} // of a comparison of many steps
}

// deadEnd is a piece of a shape that the rest of a statement, of so many bytes, does not have.
type deadEnd struct {
	node *shapeNode
	rest int
}

// match reports whether s has the shape from n on. Where a shape can go on in many ways it remembers the dead ends, so that
// its time does not double with each choice.
func (m *shapeMatcher) match(n *shapeNode, s string) bool {
	if len(n.next) < 2 && n.hole != "any" {
		return m.matchPiece(n, s)
	}
	end := deadEnd{n, len(s)}
	_, known := m.nowhere[end]
	if !known && m.matchPiece(n, s) {
		return true
	}
	if n.hole == "any" {
		m.failed = n
	}
	if known {
		return false
	}
	if m.steps++; m.steps > maxForgetful {
		if m.nowhere == nil {
			m.nowhere = map[deadEnd]struct{}{}
		}
		m.nowhere[end] = struct{}{}
	}
	return false
}

// matchPiece compares the piece n itself, and then what follows it.
func (m *shapeMatcher) matchPiece(n *shapeNode, s string) bool {
	switch n.hole {
	case "":
		after, ok := strings.CutPrefix(s, n.literal)
		if !ok {
			return false
		}
		s = after
	case "any":
		for from := 0; from <= len(s); from++ {
			m.failed = nil
			if m.matchNext(n, s[from:]) {
				return true
			}
			if n.gate != nil && m.failed == n.gate {
				return false
			}
		}
		return false
	default:
		length := holeLength(n.hole, s)
		if length == 0 {
			return false
		}
		if n.hole == "count" {
			m.count = s[:length]
		}
		s = s[length:]
	}
	return m.matchNext(n, s)
}

func (m *shapeMatcher) matchNext(n *shapeNode, s string) bool {
	if len(n.next) == 0 {
		return s == ""
	}
	if end := n.next[0]; n.hole == "any" && len(end.next) == 0 && end.literal == "" { // {any} at the end takes all
		return true
	}
	for _, next := range n.next {
		if m.match(next, s) {
			return true
		}
	}
	return false
}

// holeLength returns how much of the beginning of s fills a hole; 0 if nothing does.
func holeLength(hole, s string) (n int) {
	switch hole {
	case "n", "some":
		n = numberLength(s)
		if hole == "some" && strings.Trim(s[:n], "0,") == "" {
			return 0
		}
	case "count":
		if n = numberLength(s); n == 0 {
			for _, word := range [...]string{"no", "zero"} {
				if _, ok := cutWord(s, word); ok {
					return len(word)
				}
			}
		}
	case "login":
		for n < len(s) && (isAlnum(s[n]) || strings.IndexByte("_.[]-/", s[n]) >= 0 || n == 0 && s[n] == '@') {
			n++
		}
		n = len(strings.TrimRight(s[:n], "."))
	case "sha":
		for n < len(s) && n < 64 && strings.IndexByte("0123456789abcdef", s[n]) >= 0 {
			n++
		}
		if n < 7 {
			return 0
		}
	case "word":
		for n < len(s) && s[n] != ' ' {
			n++
		}
	case "duration":
		n = durationLength(s)
	}
	return n
}

// numberLength returns the length of the number that s begins with; its groups of digits may be set apart by commas.
func numberLength(s string) (n int) {
	for n < len(s) && n < 12 && (s[n] >= '0' && s[n] <= '9' || n > 0 && s[n] == ',' && n+1 < len(s) && s[n+1] >= '0' && s[n+1] <= '9') {
		n++
	}
	if n < len(s) && isAlnum(s[n]) && (n == 0 || s[n] >= '0' && s[n] <= '9') {
		return 0
	}
	return n
}

// durationLength returns the length of the durations that s begins with: "1m 44s", "2 hours and 5 minutes".
func durationLength(s string) (end int) {
	for at := 0; ; {
		digits := 0
		for at+digits < len(s) && (s[at+digits] >= '0' && s[at+digits] <= '9' || digits > 0 && s[at+digits] == '.') {
			digits++
		}
		if digits == 0 {
			return end
		}
		at += digits
		for at < len(s) && s[at] == ' ' {
			at++
		}
		unit := 0
		for at+unit < len(s) && s[at+unit] >= 'a' && s[at+unit] <= 'z' {
			unit++
		}
		if !isTimeUnit(s[at : at+unit]) {
			return end
		}
		at += unit
		end = at
		for _, gap := range [...]string{",", " and", " "} {
			if strings.HasPrefix(s[at:], gap) {
				at += len(gap)
			}
		}
	}
}

func isTimeUnit(s string) bool {
	switch strings.TrimSuffix(s, "s") {
	case "", "ms", "sec", "second", "m", "min", "minute", "h", "hr", "hour", "d", "day":
		return s != ""
	}
	return false
}

// statementOf returns a line as shapes are compared with it: in small letters, without Markdown, links' addresses and
// pictures, and without points and emoji at its ends.
func statementOf(text string) string {
	return trimStatement(stripMarks(headingText(cutLinks(strings.TrimSpace(text)))))
}

// trimStatement cuts points, colons and emoji off the ends of s; but no cross off its end, which denies what stands before it.
func trimStatement(s string) string {
	s = strings.TrimLeftFunc(strings.ReplaceAll(s, "\ufe0f", ""), isSymbol)
	for {
		seen := strings.TrimRightFunc(s, func(r rune) bool { return isSymbol(r) && r != '❌' })
		short := strings.TrimRight(cutShortcode(strings.TrimRight(seen, ".!…")), ":")
		if short == s {
			return s
		}
		s = short
	}
}

// cutShortcode cuts the name of an emoji off the end of s: ":tada:".
func cutShortcode(s string) string {
	bare, ends := strings.CutSuffix(s, ":")
	at := strings.LastIndexByte(bare, ':')
	if !ends || at < 0 || at+1 == len(bare) || at > 0 && bare[at-1] != ' ' || strings.ContainsAny(bare[at:], " /") {
		return s
	}
	return s[:at]
}

// cutLinks returns text with each link of Markdown as its words, and without pictures.
func cutLinks(text string) string {
	if !strings.Contains(text, "](") {
		return text
	}
	return replaceLinks(replaceLinks(text, "![", false), "[", true)
}

// replaceLinks returns text with each link that begins with open as its words, or without it.
func replaceLinks(text, open string, keepWords bool) string {
	var b strings.Builder
	for {
		at := strings.Index(text, "](")
		if at < 0 {
			break
		}
		from, end := strings.LastIndex(text[:at], open), strings.IndexByte(text[at:], ')')
		if end < 0 { // nor is there one behind the next
			break
		}
		if from < 0 {
			b.WriteString(text[:at+2])
			text = text[at+2:]
			continue
		}
		b.WriteString(text[:from])
		if keepWords {
			b.WriteString(text[from+len(open) : at])
		}
		text = text[at+end+1:]
	}
	b.WriteString(text)
	return b.String()
}

// lazyShapes returns a function that parses shapes which the program itself writes, when it is first called: a program that
// reads no text parses none.
func lazyShapes(sources ...string) func() []shape {
	return sync.OnceValue(func() []shape { return mustParseShapes(sources...) })
}

// isOneOf reports whether a statement has one of the shapes.
func isOneOf(shapes []shape, statement string) bool {
	return slices.ContainsFunc(shapes, func(s shape) bool { _, ok := s.match(statement); return ok })
}

// mustParseShapes parses shapes that the program itself writes.
func mustParseShapes(sources ...string) []shape {
	all := make([]shape, 0, len(sources))
	for _, source := range sources {
		s, err := parseShape(source)
		if err != nil {
			panic(fmt.Sprintf("shape %q %v", source, err))
		}
		all = append(all, s)
	}
	return all
}
