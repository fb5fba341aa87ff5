package config

// The strict decoder. goccy/go-yaml gives the nodes with their positions, but its own decoder stops at the first mistake;
// this one walks the nodes beside the Go types, notes every mistake and goes on.

import (
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
	"github.com/review-coordinator/coordinator/internal/pathfilter"
)

// Bounds that no honest file reaches. They keep the parser, which recurses and compares keys with keys, within
// milliseconds.
const (
	maxTokens  = 20_000
	maxNesting = 16

	maxProblems = 500 // a file of 64 KiB can hold thousands
)

// A place is where something stands in the file.
type place struct {
	line, column int
	width        int // in characters, for the caret
}

// A reader holds what was found in one file. Keys are written with dots and indexes: reviewers[1].heading.
type reader struct {
	path     string
	src      string
	lines    []string
	keys     map[string]place
	values   map[string]place
	broken   map[string]bool // keys whose value could not be read
	problems []Problem
	warnings []Problem
}

func newReader(path string, src []byte) *reader {
	// The parser counts a CR LF as two line ends in some places.
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(src), "\ufeff"))
	return &reader{
		path:   path,
		src:    text,
		lines:  strings.Split(text, "\n"),
		keys:   map[string]place{},
		values: map[string]place{},
		broken: map[string]bool{},
	}
}

// parse returns the file's mapping, or notes why there is none.
func (r *reader) parse() (ast.Node, bool) {
	switch {
	case len(r.src) > MaxSize:
		r.lines = nil // a snippet of it would show nothing
		r.failAt(place{line: 1, column: 1}, fmt.Sprintf("the file is larger than %d KiB", MaxSize>>10), "shorten it: a policy is a page, not a book")
		return nil, false
	case !utf8.ValidString(r.src) || strings.ContainsRune(r.src, 0):
		r.failAt(r.firstBadByte(), "the file is not UTF-8 text", "save it as UTF-8")
		return nil, false
	}
	tokens := lexer.Tokenize(r.src)
	if !r.permitted(tokens) {
		return nil, false
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // duplicates are told by name below, all of them
	if err != nil {
		r.syntax(err)
		return nil, false
	}
	return r.root(file)
}

func (r *reader) root(file *ast.File) (ast.Node, bool) {
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.NullType {
			bodies = append(bodies, doc.Body)
		}
	}
	const hint = "a policy needs at least reviewers:"
	switch {
	case len(bodies) == 0:
		r.failAt(place{line: 1, column: 1}, "the file is empty", hint)
		return nil, false
	case len(bodies) > 1:
		r.failAt(r.placeOf(bodies[1]), "the file holds more than one document", "remove everything from the second --- on")
		return nil, false
	case bodies[0].Type() != ast.MappingType:
		r.failAt(r.placeOf(bodies[0]), fmt.Sprintf("the file holds %s, not keys with values", kindOf(bodies[0])), hint)
		return nil, false
	}
	return bodies[0], true
}

// permitted refuses, before anything recurses or expands, what a policy has no use for: aliases, tags, depth.
func (r *reader) permitted(tokens token.Tokens) bool {
	count, depth, line, dashes := 0, 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
		}
		message, hint := "", ""
		switch t.Type {
		case token.CommentType:
			continue
		case token.AliasType:
			message, hint = "a policy file has no aliases", `put text that begins with * in quotes, as in "**.go"`
		case token.AnchorType:
			message, hint = "a policy file has no anchors", "write the value out, or put text that begins with & in quotes"
		case token.TagType:
			message, hint = "a policy file has no tags", `put text that begins with ! in quotes, as in "!docs/**"`
		case token.MergeKeyType:
			message, hint = "a policy file has no merge keys", "write the keys out"
		case token.MappingKeyType:
			message, hint = `a policy file has no "?" keys`, "write key: value"
		case token.DirectiveType:
			message, hint = "a policy file has no directives", "remove the line"
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
			r.failAt(r.placeOfToken(t), message, hint)
			return false
		}
	}
	return true
}

func (r *reader) syntax(err error) {
	at, message := place{line: 1, column: 1}, "the file is not YAML"
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		message = "not YAML: " + clean(syntax.Message, 160)
		if strings.Contains(syntax.Message, `'\t'`) || strings.Contains(syntax.Message, "'\t'") {
			message = "not YAML: a tab stands where only spaces may"
		}
		if syntax.Token != nil && syntax.Token.Position != nil {
			at = r.placeOfToken(syntax.Token)
		}
	}
	r.failAt(at, message, r.syntaxHint(at, message))
}

func (r *reader) syntaxHint(at place, message string) string {
	line := []rune(r.line(at.line))
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

// decode reads the file's mapping into file.
func (r *reader) decode(root ast.Node, file *File) { r.decodeAt("", root, file) }

func (r *reader) decodeAt(key string, n ast.Node, into any) {
	r.value(key, n, reflect.ValueOf(into).Elem(), "")
}

// value reads n into a Go value. The tag is that of the field that holds it.
func (r *reader) value(key string, n ast.Node, into reflect.Value, tag reflect.StructTag) {
	if key != "" {
		r.values[key] = r.placeOf(n)
	}
	if n.Type() == ast.NullType {
		r.empty(key)
		return
	}
	if v, ok := into.Addr().Interface().(value); ok {
		v.decode(r, key, n)
		if into.Kind() == reflect.Int64 && tag.Get("positive") != "" && into.Int() == 0 && !r.broken[key] {
			r.fail(key, "it is zero: no reviewer could answer in that time", durationHint)
		}
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		r.structure(key, n, into)
	case reflect.Map:
		r.mapping(key, n, into)
	case reflect.Slice:
		r.sequence(key, n, into, tag)
	case reflect.Bool:
		r.boolean(key, n, into)
	case reflect.Int:
		r.integer(key, n, into, tag)
	case reflect.String:
		r.str(key, n, into, tag)
	default:
		panic("config: no reader for " + into.Type().String()) // unreachable unless file.go gains a kind
	}
}

// empty is a key without a value: nobody writes one to get the default.
func (r *reader) empty(key string) {
	at := r.keys[key]
	line := r.line(at.line)
	if i := strings.Index(line, "#"); i > 0 && strings.Contains(line[:i], ":") {
		r.fail(key, "it has no value: what begins with # is a comment", fmt.Sprintf("put the text in quotes: %q", clean(strings.TrimSpace(line[i:]), 60)))
		return
	}
	r.fail(key, "it has no value", "give it one, or remove the key")
}

func (r *reader) structure(key string, n ast.Node, into reflect.Value) {
	if n.Type() != ast.MappingType {
		r.wrongType(key, n, "keys with values", "known keys: "+strings.Join(keysOf(into.Type()), ", "))
		return
	}
	for name, pair := range r.pairs(key, n) {
		field, ok := fieldOf(into.Type(), name)
		if !ok {
			r.unknown(key, name, into.Type())
			continue
		}
		r.value(join(key, name), pair.Value, into.FieldByIndex(field.Index), field.Tag)
	}
	r.missing(key, into.Type())
}

// missing tells which required keys are not there; the list of reviewers has a sentence of its own.
func (r *reader) missing(key string, t reflect.Type) {
	for field := range t.Fields() {
		name := field.Tag.Get("yaml")
		if !slices.Contains(strings.Split(field.Tag.Get("jsonschema"), ","), "required") || r.has(join(key, name)) {
			continue
		}
		at := r.place(key)
		if key == "" {
			at = place{line: 1, column: 1}
		}
		r.broken[join(key, name)] = true
		r.failAt(at, prefix(key)+name+" is missing", fmt.Sprintf("add %s:", name))
	}
}

func (r *reader) mapping(key string, n ast.Node, into reflect.Value) {
	if n.Type() != ast.MappingType {
		r.wrongType(key, n, "keys with values", "write {} for none")
		return
	}
	into.Set(reflect.MakeMap(into.Type()))
	for name, pair := range r.pairs(key, n) {
		sub := key + "[" + strconv.Quote(name) + "]"
		r.keys[sub] = r.keys[join(key, name)]
		if _, err := pathfilter.Compile(name); err != nil {
			r.fail(sub, fmt.Sprintf("%s is not a pattern: %v", quote(name), err), "patterns are those of GitHub's branch filters")
		}
		element := reflect.New(into.Type().Elem()).Elem()
		r.value(sub, pair.Value, element, "")
		into.SetMapIndex(reflect.ValueOf(name), element)
	}
}

// pairs yields the keys of a mapping in order, each once, and notes where they stand.
func (r *reader) pairs(key string, n ast.Node) func(yield func(string, *ast.MappingValueNode) bool) {
	return func(yield func(string, *ast.MappingValueNode) bool) {
		m, ok := n.(*ast.MappingNode)
		if !ok {
			return
		}
		seen := map[string]int{}
		for _, pair := range m.Values {
			name := pair.Key.GetToken().Value
			at := r.placeOfToken(pair.Key.GetToken())
			if first := seen[name]; first > 0 {
				r.failAt(at, fmt.Sprintf("%s%s stands here again; it is already in line %d", prefix(key), clean(name, 60), first), "keep one of the two")
				continue
			}
			seen[name] = at.line
			r.keys[join(key, name)] = at
			if !yield(name, pair) {
				return
			}
		}
	}
}

func (r *reader) sequence(key string, n ast.Node, into reflect.Value, tag reflect.StructTag) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		hint := `put each entry on a line of its own, after "- "`
		if into.Type().Elem().Kind() == reflect.String {
			hint = "write [" + clean(n.GetToken().Value, 40) + "]"
		}
		r.wrongType(key, n, "a list", hint)
		return
	}
	if most := bound(tag, "maxItems"); most > 0 && len(s.Values) > most {
		r.fail(key, fmt.Sprintf("the list has %d entries", len(s.Values)), fmt.Sprintf("name at most %d", most))
		return
	}
	list := reflect.MakeSlice(into.Type(), len(s.Values), len(s.Values))
	for i, element := range s.Values {
		sub := fmt.Sprintf("%s[%d]", key, i)
		r.keys[sub] = r.placeOf(element)
		r.value(sub, element, list.Index(i), "")
	}
	if len(s.Values) == 0 && bound(tag, "minItems") > 0 {
		r.fail(key, "the list is empty", "name at least one")
	}
	into.Set(list)
}

func (r *reader) boolean(key string, n ast.Node, into reflect.Value) {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.wrongType(key, n, "true or false", "write true or false, without quotes")
		return
	}
	into.SetBool(b.Value)
}

func (r *reader) integer(key string, n ast.Node, into reflect.Value, tag reflect.StructTag) {
	text, _ := plain(n)
	count, err := strconv.Atoi(text)
	if n.Type() != ast.IntegerType || err != nil {
		r.wrongType(key, n, "a whole number", "write a number without quotes")
		return
	}
	low, high := bound(tag, "minimum"), bound(tag, "maximum")
	switch {
	case allowed(tag) != nil && !slices.Contains(allowed(tag), text):
		r.fail(key, fmt.Sprintf("%d is not known here", count), "write "+strings.Join(allowed(tag), " or "))
	case allowed(tag) == nil && (count < low || count > high):
		r.fail(key, fmt.Sprintf("%d is not between %d and %d", count, low, high), fmt.Sprintf("write a number from %d to %d", low, high))
	default:
		into.SetInt(int64(count))
	}
}

func (r *reader) str(key string, n ast.Node, into reflect.Value, tag reflect.StructTag) {
	words := allowed(tag)
	if words != nil {
		text, ok := plain(n)
		switch {
		case !ok:
			r.wrongType(key, n, "one of "+strings.Join(words, ", "), "")
		case !slices.Contains(words, text):
			r.fail(key, fmt.Sprintf("%s is not one of %s", quote(text), strings.Join(words, ", ")), meant(text, words, ""))
		default:
			into.SetString(text)
		}
		return
	}
	text, ok := r.text(key, n, "text", tag.Get("text") == "lines")
	if !ok {
		return
	}
	if most := bound(tag, "maxLength"); most > 0 && utf8.RuneCountInString(text) > most {
		r.fail(key, fmt.Sprintf("it is longer than %d characters", most), "shorten it")
		return
	}
	into.SetString(text)
}

// text reads a string that is not blank and, unless lines is set, has no line breaks or control characters.
func (r *reader) text(key string, n ast.Node, want string, lines bool) (string, bool) {
	text, ok := plain(n)
	switch {
	case !ok:
		r.wrongType(key, n, want, "")
	case n.Type() != ast.StringType && n.Type() != ast.LiteralType:
		r.wrongType(key, n, want, fmt.Sprintf("put it in quotes: %q", clean(text, 60)))
	case strings.TrimSpace(text) == "":
		r.fail(key, "it is blank", "give it a value, or remove the key")
	case !lines && strings.ContainsFunc(text, unprintable):
		r.fail(key, "it has a line break or a control character", "write it on one line")
	case lines && strings.ContainsFunc(text, func(c rune) bool { return unprintable(c) && c != '\n' && c != '\t' }):
		r.fail(key, "it has a control character", "remove it")
	default:
		return text, true
	}
	return "", false
}

func (r *reader) unknown(parent, name string, t reflect.Type) {
	key := join(parent, name)
	known := keysOf(t)
	hint := ""
	near := nearest(name, known)
	switch {
	case near != "":
		hint = fmt.Sprintf("did you mean %s?", near)
		r.broken[join(parent, near)] = true // so that nothing else complains that it is not there
	case t != reflect.TypeFor[File]() && slices.Contains(keysOf(reflect.TypeFor[File]()), name):
		hint = name + " belongs at the top level of the file"
	case t == reflect.TypeFor[File]() && slices.Contains(keysOf(reflect.TypeFor[Reviewer]()), name):
		hint = name + " belongs to an entry of reviewers"
	default:
		hint = "known keys: " + strings.Join(known, ", ")
	}
	r.failAt(r.keys[key], fmt.Sprintf("%sunknown key %s", prefix(parent), quote(name)), hint)
	delete(r.keys, key)
}

func (r *reader) wrongType(key string, n ast.Node, want, hint string) {
	if hint == "" {
		hint = "write " + want
	}
	r.fail(key, fmt.Sprintf("it must be %s, and is %s", want, kindOf(n)), hint)
}

// fail notes a mistake in the value of key.
func (r *reader) fail(key, message, hint string) {
	r.broken[key] = true
	r.failAt(r.place(key), prefix(key)+message, hint)
}

func (r *reader) failAt(at place, message, hint string) {
	if len(r.problems) == maxProblems {
		return
	}
	r.problems = append(r.problems, r.problem(at, message, hint))
}

func (r *reader) warn(key, message, hint string) {
	r.warnings = append(r.warnings, r.problem(r.place(key), message, hint))
}

func (r *reader) problem(at place, message, hint string) Problem {
	return Problem{
		Path:    r.path,
		Line:    max(at.line, 1),
		Column:  max(at.column, 1),
		Message: message,
		Hint:    hint,
		Snippet: r.snippet(at),
	}
}

// has reports whether the file says something for key, be it wrong or misspelt.
func (r *reader) has(key string) bool {
	_, ok := r.keys[key]
	return ok || r.broken[key]
}

// place is where key's value stands, else the key, else what it belongs to.
func (r *reader) place(key string) place {
	for key != "" {
		if at, ok := r.values[key]; ok {
			return at
		}
		if at, ok := r.keys[key]; ok {
			return at
		}
		key = key[:max(0, strings.LastIndexAny(key, ".["))]
	}
	return place{line: 1, column: 1}
}
