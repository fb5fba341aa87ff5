package config

// How a mistake is shown: places, the line with its caret, and quotes of what strangers may have written.

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

func (r *policyFileReader) positionOf(n ast.Node) position {
	// A block mapping's own token is the colon of its first key.
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return r.positionOfToken(m.Values[0].Key.GetToken())
	}
	return r.positionOfToken(n.GetToken())
}

func (r *policyFileReader) positionOfToken(t *token.Token) position {
	if t == nil || t.Position == nil {
		return position{line: 1, column: 1}
	}
	at := position{line: t.Position.Line, column: max(t.Position.Column, 1), width: 1}
	switch t.Type {
	case token.StringType, token.IntegerType, token.FloatType, token.BoolType,
		token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType:
		at.width = utf8.RuneCountInString(t.Value)
	case token.SingleQuoteType, token.DoubleQuoteType:
		at.width = utf8.RuneCountInString(strings.TrimSpace(t.Origin))
	}
	return at
}

// firstBadByte is where the text stops being UTF-8.
func firstBadByte(lines []string) position {
	for i, line := range lines {
		for j, c := range line {
			if _, size := utf8.DecodeRuneInString(line[j:]); c == 0 || c == utf8.RuneError && size == 1 {
				return position{line: i + 1, column: utf8.RuneCountInString(line[:j]) + 1}
			}
		}
	}
	return position{line: 1, column: 1}
}

func (r *policyFileReader) lineText(number int) string {
	if number < 1 || number > len(r.lines) {
		return ""
	}
	return r.lines[number-1]
}

// showLine shows the line with a caret below. A long line is cut around the caret.
func (r *policyFileReader) showLine(at position) string {
	const most = 100
	line := []rune(strings.TrimRight(r.lineText(at.line), " \t"))
	if len(line) == 0 {
		return ""
	}
	column := min(max(at.column-1, 0), len(line))
	width := max(1, min(at.width, len(line)-column))
	from := 0
	if column+min(width, 20) > most {
		from = column - most/2
	}
	to := min(len(line), from+most)
	width = max(1, min(width, to-column))
	text := strings.Map(toPrintable, string(line[from:to]))
	gutter := fmt.Sprintf("%5d | ", max(at.line, 1))
	below := strings.Repeat(" ", len(gutter)-2) + "| " + strings.Repeat(" ", column-from)
	return gutter + text + "\n" + below + "^" + strings.Repeat("~", width-1)
}

// toPrintable replaces what would move the caret, the cursor or the reading direction.
func toPrintable(c rune) rune {
	switch {
	case c == '\t':
		return ' '
	case isUnprintable(c):
		return '·'
	default:
		return c
	}
}

func isUnprintable(c rune) bool {
	return unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)
}

// cleanText makes text fit for a message: one line, nothing invisible, not too long.
func cleanText(text string, most int) string {
	runes := []rune(strings.Map(toPrintable, strings.ToValidUTF8(text, "·")))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

func quoteText(text string) string { return `"` + cleanText(text, 60) + `"` }

func keyPrefix(key string) string {
	if key == "" {
		return ""
	}
	return cleanText(key, 120) + ": "
}

func joinKey(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// scalarText returns the text of a scalar as it was meant.
func scalarText(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	default:
		return "", false
	}
}

func kindOf(n ast.Node) string {
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "keys with values"
	case ast.SequenceType:
		return "a list"
	case ast.IntegerType, ast.FloatType, ast.InfinityType, ast.NanType:
		return "a number"
	case ast.BoolType:
		return "true or false"
	case ast.NullType:
		return "nothing"
	case ast.StringType, ast.LiteralType:
		return "text"
	default:
		return "something else"
	}
}

// The tags of file.go are read here.

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for field := range t.Fields() {
		if name != "" && field.Tag.Get("yaml") == name {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

func keysOf(t reflect.Type) (keys []string) {
	for field := range t.Fields() {
		if key := field.Tag.Get("yaml"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// tagValues lists what a tag says of name in its bounds, as often as it does.
func tagValues(tag reflect.StructTag, name string) (values []string) {
	for part := range strings.SplitSeq(tag.Get("jsonschema"), ",") {
		if value, ok := strings.CutPrefix(part, name+"="); ok {
			values = append(values, value)
		}
	}
	return values
}

// allowedWords lists the words of an enumeration, nil if the tag has none.
func allowedWords(tag reflect.StructTag) []string { return tagValues(tag, "enum") }

// tagBound returns a number of the tag, 0 if it has none.
func tagBound(tag reflect.StructTag, name string) int {
	values := tagValues(tag, name)
	if len(values) == 0 {
		return 0
	}
	n, err := strconv.Atoi(values[0])
	if err != nil {
		panic("config: bad tag " + string(tag)) // unreachable unless file.go has a typing error
	}
	return n
}

// leastDuration returns the shortest duration that the tag allows, 0 if it has none.
func leastDuration(tag reflect.StructTag) Duration {
	d, err := time.ParseDuration(cmp.Or(tag.Get("least"), "0"))
	if err != nil {
		panic("config: bad tag " + string(tag)) // unreachable unless file.go has a typing error
	}
	return Duration(d)
}

// suggestWord returns the hint for a word that is not known.
func suggestWord(word string, known []string, otherwise string) string {
	if near := NearestWord(word, known); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return cmp.Or(otherwise, "write "+strings.Join(known, ", "))
}

// NearestWord returns the known word that is a typing error away from word, or "". Case and - for _ do not count.
func NearestWord(word string, known []string) string {
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
	letters := func(s string) string { return string(slices.Sorted(slices.Values([]byte(fold(s))))) }
	best, least := "", 2 // one error
	if len(word) >= 5 {
		least++
	}
	if len(word) >= 9 {
		least++
	}
	for _, k := range known {
		if len(word) > 2*len(k)+2 {
			continue
		}
		d := levenshtein.ComputeDistance(fold(word), fold(k))
		if d == least && len(word) == 4 && letters(word) == letters(k) {
			d-- // two that changed places are one error
		}
		if d < least || d == 0 {
			best, least = k, d
		}
	}
	return best
}
