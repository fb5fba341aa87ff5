package config

// The strict decoder. goccy/go-yaml gives the nodes with their positions, but its own decoder stops at the first
// mistake; this one walks the nodes beside the Go types, notes every mistake and goes on.

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// Bounds that no honest file reaches. They keep the parser, which recurses and compares keys with keys, within
// milliseconds.
const (
	maxTokens  = 20_000
	maxNesting = 16

	maxProblems = 500 // a file of 64 KiB can hold thousands
)

// A position is a place in the file.
type position struct {
	line, column int
	width        int // in characters, for the caret
}

// A policyFileReader reads one file and collects its mistakes. Keys are written with dots and indexes:
// reviewers[1].heading.
type policyFileReader struct {
	path       string
	text       string
	lines      []string
	positions  map[string]position // of each key; once its value is read, of that
	brokenKeys map[string]bool     // keys whose value could not be read
	problems   []Diagnostic
	warnings   []Diagnostic

	isOrganisation bool              // the file is an organisation's
	isTightened    bool              // an organisation enforces something
	floor          []quorum.NeedRule // what an organisation needs at least
}

func newPolicyFileReader(path string, src []byte) *policyFileReader {
	// The parser counts a CR LF as two line ends in some places.
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(src), "\ufeff"))
	return &policyFileReader{
		path: path, text: text, lines: strings.Split(text, "\n"), positions: map[string]position{}, brokenKeys: map[string]bool{},
	}
}

// parseFile returns the file's mapping; nil if there is none, which it notes.
func (r *policyFileReader) parseFile() ast.Node {
	switch {
	case len(r.text) > MaxSize:
		r.lines = nil // a snippet of it would show nothing
		r.failKey("", fmt.Sprintf("the file is larger than %d KiB", MaxSize>>10), "shorten it: a policy is a page, not a book")
	case !utf8.ValidString(r.text) || strings.ContainsRune(r.text, 0):
		r.failAt(firstBadByte(r.lines), "the file is not UTF-8 text", "save it as UTF-8")
	default:
		if tokens := lexer.Tokenize(r.text); r.checkTokens(tokens) {
			return r.parseTokens(tokens)
		}
	}
	return nil
}

func (r *policyFileReader) parseTokens(tokens token.Tokens) ast.Node {
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // duplicates are told by name below, all of them
	if err != nil {
		r.failSyntax(err)
		return nil
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.NullType {
			bodies = append(bodies, doc.Body)
		}
	}
	const hint = "a policy needs at least reviewers:"
	switch {
	case len(bodies) == 0:
		r.failKey("", "the file is empty", hint)
	case len(bodies) > 1:
		r.failAt(r.positionOf(bodies[1]), "the file holds more than one document", "remove everything from the second --- on")
	case bodies[0].Type() != ast.MappingType:
		r.failAt(r.positionOf(bodies[0]), fmt.Sprintf("the file holds %s, not keys with values", kindOf(bodies[0])), hint)
	default:
		return bodies[0]
	}
	return nil
}

// refusedTokens are what YAML has and a policy has not.
var refusedTokens = map[token.Type]struct{ message, hint string }{
	token.AliasType:      {"a policy file has no aliases", `put text that begins with * in quotes, as in "**.go"`},
	token.AnchorType:     {"a policy file has no anchors", "write the value out, or put text that begins with & in quotes"},
	token.TagType:        {"a policy file has no tags", `put text that begins with ! in quotes, as in "!docs/**"`},
	token.MergeKeyType:   {"a policy file has no merge keys", "write the keys out"},
	token.MappingKeyType: {`a policy file has no "?" keys`, "write key: value"},
	token.DirectiveType:  {"a policy file has no directives", "remove the line"},
}

// checkTokens refuses aliases, tags, depth and all else that a policy has no use for, before anything recurses or
// expands.
func (r *policyFileReader) checkTokens(tokens token.Tokens) bool {
	count, depth, line, dashes := 0, 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
		}
		message, hint := refusedTokens[t.Type].message, refusedTokens[t.Type].hint
		switch t.Type {
		case token.CommentType:
			continue
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType:
			dashes++
		case token.SingleQuoteType, token.DoubleQuoteType:
			// A missing quote makes a text of all that follows up to the next one, and mistakes far from the first.
			if text := strings.TrimSpace(t.Origin); len(text) < 2 || text[0] != text[len(text)-1] || strings.Contains(text, "\n") {
				message, hint = "the quotes that open here do not close on their line", "close them; a text of several lines begins with |"
			}
		}
		count++
		switch {
		case count > maxTokens:
			message, hint = "the file holds too much", "shorten it: a policy is a page, not a book"
		case depth > maxNesting, dashes > maxNesting, t.Position.IndentNum > 64*maxNesting:
			message, hint = "the file is nested too deeply", "no key of a policy lies deeper than five levels"
		}
		if message != "" {
			r.failAt(r.positionOfToken(t), message, hint)
			return false
		}
	}
	return true
}

func (r *policyFileReader) failSyntax(err error) {
	at, message := position{line: 1, column: 1}, "the file is not YAML"
	begins := func(mark string) func(string) bool {
		return func(line string) bool { return strings.HasPrefix(line, mark) }
	}
	from, to := slices.IndexFunc(r.lines, begins("<<<<<<< ")), slices.IndexFunc(r.lines, begins(">>>>>>> "))
	if 0 <= from && from < to {
		says := fmt.Sprintf("a merge conflict is left in lines %d to %d", from+1, to+1)
		r.failAt(position{line: from + 1, column: 1}, says, "keep one of its two sides")
		return
	}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		at, message = r.positionOfToken(syntax.Token), "not YAML: "+cleanText(syntax.Message, 160)
		if strings.Contains(syntax.Message, `'\t'`) || strings.Contains(syntax.Message, "'\t'") {
			message = "not YAML: a tab stands where only spaces may"
		}
	}
	r.failAt(at, message, r.syntaxHint(at, message))
}

func (r *policyFileReader) syntaxHint(at position, message string) string {
	line := []rune(r.lineText(at.line))
	switch {
	case at.column <= len(line) && strings.ContainsRune("@`%|>", line[at.column-1]):
		return "put text that begins with @, `, %, | or > in quotes"
	case slices.Contains(line, '\t'):
		return "indent with spaces: YAML allows no tabs there"
	case strings.Contains(message, "must be specified"), slices.Contains(line, '{'), slices.Contains(line, '['):
		return "within { } and [ ] put text with any of []{},: in quotes, and close what you open"
	default:
		return "look at the indentation of this line and of the one before it"
	}
}

// decodeValue reads n into a Go value. The tag is that of the field that holds it.
func (r *policyFileReader) decodeValue(key string, n ast.Node, into reflect.Value, tag reflect.StructTag) {
	line := r.lineText(r.positions[key].line)
	r.positions[key] = r.positionOf(n)
	if n.Type() == ast.NullType {
		r.failEmpty(key, line)
		return
	}
	if v, ok := into.Addr().Interface().(nodeReader); ok {
		v.decodeNode(r, key, n)
		if least := leastDuration(tag); least > 0 && !r.brokenKeys[key] {
			r.checkLeast(key, Duration(into.Int()), least)
		}
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		r.decodeStruct(key, n, into)
	case reflect.Slice:
		r.decodeList(key, n, into, tag)
	case reflect.Bool:
		r.decodeBool(key, n, into)
	case reflect.Int:
		r.decodeInt(key, n, into, tag)
	case reflect.String:
		r.decodeString(key, n, into, tag)
	default:
		panic("config: no reader for " + into.Type().String()) // unreachable unless file.go gains a kind
	}
}

// checkLeast refuses a duration in which nothing could happen.
func (r *policyFileReader) checkLeast(key string, d, least Duration) {
	switch {
	case d == 0:
		r.failKey(key, "it is zero: no reviewer could answer in that time", durationHint)
	case d < least:
		r.failKey(key, fmt.Sprintf("%s is shorter than %s: no reviewer could answer in that time", d, least),
			fmt.Sprintf("write a duration of %s or more, as in 90s, 3m or 1h30m", least))
	}
}

// failEmpty notes that the key of a line has no value: leaving it out would give the default.
func (r *policyFileReader) failEmpty(key, line string) {
	if i := strings.Index(line, "#"); i > 0 && (strings.Contains(line[:i], ":") || strings.HasSuffix(strings.TrimSpace(line[:i]), "-")) {
		r.failKey(key, "it has no value: what begins with # is a comment",
			fmt.Sprintf("put the text in quotes: %q", cleanText(strings.TrimSpace(line[i:]), 60)))
		return
	}
	r.failKey(key, "it has no value", "give it one, or remove the key")
}

func (r *policyFileReader) decodeStruct(key string, n ast.Node, into reflect.Value) {
	mapping, ok := n.(*ast.MappingNode)
	if !ok {
		hint := "known keys: " + strings.Join(keysOf(into.Type()), ", ")
		if text, is := scalarText(n); is && into.Type() == reflect.TypeFor[ReviewerKeys]() {
			hint = "for a preset write {preset: " + cleanText(text, 40) + "}"
		}
		r.failWrongType(key, n, "keys with values", hint)
		return
	}
	lines := map[string]int{}
	for _, pair := range mapping.Values {
		name, at := pair.Key.GetToken().Value, r.positionOfToken(pair.Key.GetToken())
		field, isKnown := fieldOf(into.Type(), name)
		switch first, isAgain := lines[name]; {
		case isAgain:
			r.failAt(at, fmt.Sprintf("%s%s stands here again; it is already in line %d", keyPrefix(key), cleanText(name, 60), first),
				"keep one of the two")
			continue
		case isKnown:
			r.positions[joinKey(key, name)] = at
			r.decodeValue(joinKey(key, name), pair.Value, into.FieldByIndex(field.Index), field.Tag)
		default:
			r.failUnknownKey(key, name, at, into.Type())
		}
		lines[name] = at.line
	}
	r.failMissing(key, into.Type())
}

// failMissing notes the required keys that are not there.
func (r *policyFileReader) failMissing(parent string, t reflect.Type) {
	for field := range t.Fields() {
		name := field.Tag.Get("yaml")
		key := joinKey(parent, name)
		isRequired := slices.Contains(strings.Split(field.Tag.Get("jsonschema"), ","), "required")
		isElsewhere := key == "reviewers" && r.isOrganisation // or nowhere
		if isRequired && !isElsewhere && !r.hasKey(key) {
			r.failAt(r.positionOfKey(parent), keyPrefix(parent)+name+" is missing", fmt.Sprintf("add %s:", name))
			r.brokenKeys[key] = true
		}
	}
}

func (r *policyFileReader) decodeList(key string, n ast.Node, into reflect.Value, tag reflect.StructTag) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		hint := `put each entry on a line of its own, after "- "`
		if into.Type().Elem().Kind() == reflect.String {
			hint = "write [" + cleanText(n.GetToken().Value, 40) + "]"
		}
		r.failWrongType(key, n, "a list", hint)
		return
	}
	if most := tagBound(tag, "maxItems"); most > 0 && len(s.Values) > most {
		r.failKey(key, fmt.Sprintf("the list has %d entries", len(s.Values)), fmt.Sprintf("name at most %d", most))
		return
	}
	list := reflect.MakeSlice(into.Type(), len(s.Values), len(s.Values))
	for i, element := range s.Values {
		sub := fmt.Sprintf("%s[%d]", key, i)
		r.positions[sub] = r.positionOf(element)
		r.decodeValue(sub, element, list.Index(i), "")
	}
	r.failIf(len(s.Values) == 0 && tagBound(tag, "minItems") > 0, key, "the list is empty", "name at least one")
	into.Set(list)
}

func (r *policyFileReader) decodeBool(key string, n ast.Node, into reflect.Value) {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.failWrongType(key, n, "true or false", "write true or false, without quotes")
		return
	}
	into.SetBool(b.Value)
}

func (r *policyFileReader) decodeInt(key string, n ast.Node, into reflect.Value, tag reflect.StructTag) {
	text, _ := scalarText(n)
	count, err := strconv.Atoi(text)
	if n.Type() != ast.IntegerType || err != nil {
		r.failWrongType(key, n, "a whole number", "write a number without quotes")
		return
	}
	low, high := tagBound(tag, "minimum"), tagBound(tag, "maximum")
	switch {
	case allowedWords(tag) != nil && !slices.Contains(allowedWords(tag), text):
		r.failKey(key, fmt.Sprintf("%d is not known here", count), "write "+strings.Join(allowedWords(tag), " or "))
	case allowedWords(tag) == nil && (count < low || count > high):
		r.failKey(key, fmt.Sprintf("%d is not between %d and %d", count, low, high),
			fmt.Sprintf("write a number from %d to %d", low, high))
	default:
		into.SetInt(int64(count))
	}
}

func (r *policyFileReader) decodeString(key string, n ast.Node, into reflect.Value, tag reflect.StructTag) {
	words := allowedWords(tag)
	if words != nil {
		text, ok := scalarText(n)
		switch {
		case !ok:
			r.failWrongType(key, n, "one of "+strings.Join(words, ", "), "")
		case !slices.Contains(words, text):
			r.failKey(key, fmt.Sprintf("%s is not one of %s", quoteText(text), strings.Join(words, ", ")),
				suggestWord(text, words, ""))
		default:
			into.SetString(text)
		}
		return
	}
	text, ok := r.readText(key, n, "text", tag.Get("text") == "lines")
	if !ok {
		return
	}
	if most := tagBound(tag, "maxLength"); most > 0 && utf8.RuneCountInString(text) > most {
		r.failKey(key, fmt.Sprintf("it is longer than %d characters", most), "shorten it")
		return
	}
	into.SetString(text)
}

// readText reads a string that is not blank and, unless lines is set, has no line breaks or control characters.
func (r *policyFileReader) readText(key string, n ast.Node, want string, lines bool) (string, bool) {
	text, ok := scalarText(n)
	switch {
	case !ok:
		r.failWrongType(key, n, want, "")
	case n.Type() != ast.StringType && n.Type() != ast.LiteralType:
		r.failWrongType(key, n, want, fmt.Sprintf("put it in quotes: %q", cleanText(text, 60)))
	case strings.TrimSpace(text) == "":
		r.failKey(key, "it is blank", "give it a value, or remove the key")
	case !lines && strings.ContainsFunc(text, isUnprintable):
		r.failKey(key, "it has a line break or a control character", "write it on one line")
	case lines && strings.ContainsFunc(text, func(c rune) bool { return isUnprintable(c) && c != '\n' && c != '\t' }):
		r.failKey(key, "it has a control character", "remove it")
	default:
		return text, true
	}
	return "", false
}

// goneKeys are keys that there were once, or that other tools have, each with what says it now.
var goneKeys = map[reflect.Type]map[string]string{
	reflect.TypeFor[PolicyKeys](): {
		"extends":   "remove it: the organisation's policy holds where a repository has no file, and what it enforces holds everywhere",
		"approvers": "reviewers: names who votes, quorum: how many approvals are enough, and people: how many of them must be persons",
		"approvals": "quorum: says how many are enough",
		"optional":  "an approval is optional where quorum: asks for fewer than there are reviewers",
		"reroll":    "remove it: an approval after an objection to the same diff counts, and the check says so; people: asks for a person",
	},
	reflect.TypeFor[ConditionKeys](): {
		"paths":        "write all_paths: where every changed path must match, or any_path: where one is enough",
		"not_paths":    `write it as patterns of any_path that begin with !, as in any_path: ["web/**", "!web/vendor/**"]`,
		"paths-ignore": `write it as patterns that begin with !, as in any_path: ["**", "!docs/**"]`,
		"over_lines":   "the size of a change is no condition: who splits a change would escape it; choose by any_path, authors, labels or base",
	},
}

func (r *policyFileReader) failUnknownKey(parent, name string, at position, t reflect.Type) {
	if len(r.problems) == maxProblems {
		return // a file of thousands of keys is not compared with all that are known
	}
	known, conditions := keysOf(t), reflect.TypeFor[ConditionKeys]()
	hint := ""
	near := NearestWord(name, known)
	switch gone := goneKeys[t][name]; {
	case gone != "":
		hint = gone
	case t == reflect.TypeFor[LaneKeys]() && (goneKeys[conditions][name] != "" || slices.Contains(keysOf(conditions), name)):
		hint = cmp.Or(goneKeys[conditions][name], "write it") + ", below if:"
	case near != "":
		hint = fmt.Sprintf("did you mean %s?", near)
		r.brokenKeys[joinKey(parent, near)] = true // so that nothing else complains that it is not there
	case t != reflect.TypeFor[PolicyKeys]() && slices.Contains(keysOf(reflect.TypeFor[PolicyKeys]()), name):
		hint = name + " belongs at the top level of the file"
	case t == reflect.TypeFor[PolicyKeys]() && slices.Contains(keysOf(reflect.TypeFor[ReviewerKeys]()), name):
		hint = name + " belongs to an entry of reviewers"
	default:
		hint = "known keys: " + strings.Join(known, ", ")
	}
	if t == reflect.TypeFor[ConditionKeys]() {
		r.brokenKeys[parent] = true // it may have been all that it names
	}
	r.failAt(at, fmt.Sprintf("%sunknown key %s", keyPrefix(parent), quoteText(name)), hint)
}

func (r *policyFileReader) failWrongType(key string, n ast.Node, want, hint string) {
	r.failKey(key, fmt.Sprintf("it must be %s, and is %s", want, kindOf(n)), cmp.Or(hint, "write "+want))
}

// failKey notes a mistake in the value of key.
func (r *policyFileReader) failKey(key, message, hint string) {
	r.brokenKeys[key] = true
	r.failAt(r.positionOfKey(key), keyPrefix(key)+message, hint)
}

// failIf notes a mistake in the value of key, if it is one.
func (r *policyFileReader) failIf(isMistake bool, key, message, hint string) {
	if isMistake {
		r.failKey(key, message, hint)
	}
}

func (r *policyFileReader) failAt(at position, message, hint string) {
	if len(r.problems) == maxProblems {
		return
	}
	r.problems = append(r.problems, r.diagnosticAt(at, message, hint))
}

func (r *policyFileReader) warnKey(key, message, hint string) {
	r.warnings = append(r.warnings, r.diagnosticAt(r.positionOfKey(key), message, hint))
}

// warnIf warns of the value of key, if that is likely to be regretted.
func (r *policyFileReader) warnIf(isDoubtful bool, key, message, hint string) {
	if isDoubtful {
		r.warnKey(key, message, hint)
	}
}

func (r *policyFileReader) diagnosticAt(at position, message, hint string) Diagnostic {
	return Diagnostic{Path: r.path, Line: at.line, Column: at.column, Message: message, Hint: hint, Snippet: r.showLine(at)}
}

// hasKey reports whether the file says something for key, be it wrong or misspelt.
func (r *policyFileReader) hasKey(key string) bool {
	_, ok := r.positions[key]
	return ok || r.brokenKeys[key]
}

// anyBroken reports whether one of the keys that begin with start and end so could not be read.
func (r *policyFileReader) anyBroken(start string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return r.brokenKeys[start+end] })
}

// firstSaid returns the first of the keys for which the file says something, the last one if there is none.
func (r *policyFileReader) firstSaid(keys ...string) string {
	if i := slices.IndexFunc(keys, r.hasKey); i >= 0 {
		return keys[i]
	}
	return keys[len(keys)-1]
}

// positionOfKey returns the position of key's value, else of the key, else of what contains it.
func (r *policyFileReader) positionOfKey(key string) position {
	for key != "" {
		if at, ok := r.positions[key]; ok {
			return at
		}
		key = key[:max(0, strings.LastIndexAny(key, ".["))]
	}
	return position{line: 1, column: 1}
}
