package sandbox

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// The parser of GraphQL, as much of it as a query needs.

// graphError is an entry of "errors". A failure in a query is answered with HTTP 200 all the same.
type graphError struct {
	Type    string   `json:"type,omitempty"`
	Path    []string `json:"path,omitempty"`
	Message string   `json:"message"`
}

// maxDepth limits how deep a query may nest: deeper than any needs.
const maxDepth = 40

type graphVariable string

type graphSelection struct {
	alias, name   string
	typeCondition string // of an inline fragment: its type; "" for all
	spread        string // the fragment that is spread
	args          object
	directives    map[string]object
	selections    []graphSelection
}

type graphFragment struct {
	typeCondition string
	selections    []graphSelection
}

type graphOperation struct {
	kind, name    string
	variableTypes map[string]string // of the variables
	defaults      object
	selections    []graphSelection
}

type graphDocument struct {
	ops       []*graphOperation
	fragments map[string]graphFragment
}

func (d *graphDocument) findOperation(name string) *graphOperation {
	for _, op := range d.ops {
		if name == "" || op.name == name {
			return op
		}
	}
	return nil
}

func (o *graphOperation) withDefaults(given object) object {
	all := maps.Clone(o.defaults)
	maps.Copy(all, given)
	return all
}

// graphParser reads tokens; the first mistake ends it.
type graphParser struct {
	tokens []string
	at     int
	depth  int
	err    error
}

func parseGraphDocument(query string) (*graphDocument, error) {
	tokens, err := splitGraphTokens(query)
	if err != nil {
		return nil, err
	}
	p := &graphParser{tokens: tokens}
	doc := &graphDocument{fragments: map[string]graphFragment{}}
	for p.err == nil && p.peek() != "" {
		switch word := p.peek(); word {
		case "{":
			doc.ops = append(doc.ops, &graphOperation{kind: "query", defaults: object{}, selections: p.parseSelections()})
		case "query", "mutation", "subscription":
			p.next()
			op := &graphOperation{kind: word, variableTypes: map[string]string{}, defaults: object{}}
			if isName(p.peek()) {
				op.name = p.next()
			}
			p.parseVariableDefinitions(op)
			p.parseDirectives()
			op.selections = p.parseSelections()
			doc.ops = append(doc.ops, op)
		case "fragment":
			p.next()
			name := p.next()
			p.expectToken("on")
			on := p.next()
			doc.fragments[name] = graphFragment{typeCondition: on, selections: p.parseSelections()}
		default:
			p.fail()
		}
	}
	if p.err == nil {
		p.err = doc.checkFragments(doc.ops)
	}
	return doc, p.err
}

// checkFragments checks that every fragment that is spread is there.
func (d *graphDocument) checkFragments(ops []*graphOperation) error {
	var check func(sels []graphSelection) error
	check = func(sels []graphSelection) error {
		for _, s := range sels {
			if _, known := d.fragments[s.spread]; s.spread != "" && !known {
				return fmt.Errorf("Fragment %s was used, but not defined", s.spread)
			}
			if err := check(s.selections); err != nil {
				return err
			}
		}
		return nil
	}
	for _, op := range ops {
		if err := check(op.selections); err != nil {
			return err
		}
	}
	for _, f := range d.fragments {
		if err := check(f.selections); err != nil {
			return err
		}
	}
	return nil
}

func (p *graphParser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *graphParser) next() string {
	t := p.peek()
	p.at++
	return t
}

func (p *graphParser) fail() {
	if p.err == nil {
		p.err = fmt.Errorf("Expected something else than %q (token %d)", p.peek(), p.at)
	}
}

func (p *graphParser) expectToken(token string) {
	if p.next() != token {
		p.at--
		p.fail()
	}
}

func (p *graphParser) parseVariableDefinitions(op *graphOperation) {
	if p.peek() != "(" {
		return
	}
	for p.next(); p.err == nil && p.peek() != ")"; {
		p.expectToken("$")
		name := p.next()
		p.expectToken(":")
		for p.err == nil && p.peek() != "" && (strings.ContainsAny(p.peek(), "[]!") || isName(p.peek())) {
			op.variableTypes[name] += p.next()
		}
		if p.peek() == "=" {
			p.next()
			op.defaults[name] = p.parseValue()
		}
		if p.peek() == "" {
			p.fail()
		}
	}
	p.expectToken(")")
}

func (p *graphParser) parseSelections() []graphSelection {
	if p.depth++; p.depth > maxDepth {
		p.fail()
		return nil
	}
	defer func() { p.depth-- }()
	p.expectToken("{")
	all := []graphSelection{}
	for p.err == nil && p.peek() != "}" {
		all = append(all, p.parseSelection())
	}
	p.expectToken("}")
	return all
}

func (p *graphParser) parseSelection() graphSelection {
	var s graphSelection
	if p.peek() == "..." {
		p.next()
		switch {
		case p.peek() == "on":
			p.next()
			s.typeCondition = p.next()
		case isName(p.peek()):
			s.spread = p.next()
			s.directives = p.parseDirectives()
			return s
		}
		s.directives = p.parseDirectives()
		s.selections = p.parseSelections()
		return s
	}
	if !isName(p.peek()) {
		p.fail()
		return s
	}
	s.name = p.next()
	if p.peek() == ":" {
		p.next()
		s.alias, s.name = s.name, p.next()
	}
	s.args = p.parseArguments()
	s.directives = p.parseDirectives()
	if p.peek() == "{" {
		s.selections = p.parseSelections()
	}
	return s
}

func (p *graphParser) parseDirectives() map[string]object {
	var all map[string]object
	for p.err == nil && p.peek() == "@" {
		p.next()
		if all == nil {
			all = map[string]object{}
		}
		name := p.next()
		all[name] = p.parseArguments()
	}
	return all
}

func (p *graphParser) parseArguments() object {
	args := object{}
	if p.peek() != "(" {
		return args
	}
	for p.next(); p.err == nil && p.peek() != ")"; {
		name := p.next()
		p.expectToken(":")
		args[name] = p.parseValue()
	}
	p.expectToken(")")
	return args
}

func (p *graphParser) parseValue() any {
	if p.depth++; p.depth > maxDepth {
		p.fail()
		return nil
	}
	defer func() { p.depth-- }()
	t := p.next()
	switch {
	case t == "$":
		return graphVariable(p.next())
	case t == "[":
		all := []any{}
		for p.err == nil && p.peek() != "]" {
			all = append(all, p.parseValue())
		}
		p.expectToken("]")
		return all
	case t == "{":
		all := object{}
		for p.err == nil && p.peek() != "}" {
			name := p.next()
			p.expectToken(":")
			all[name] = p.parseValue()
		}
		p.expectToken("}")
		return all
	case t == "true", t == "false":
		return t == "true"
	case t == "null":
		return nil
	case strings.HasPrefix(t, `"`):
		s, err := strconv.Unquote(t)
		if err != nil {
			p.fail()
		}
		return s
	case isName(t): // an enum
		return t
	}
	n, err := strconv.ParseFloat(t, 64)
	if err != nil {
		p.at--
		p.fail()
	}
	return n
}

func isName(t string) bool {
	if t == "" {
		return false
	}
	c := t[0]
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// splitGraphTokens cuts a query into tokens. Commas mean nothing in GraphQL.
func splitGraphTokens(q string) ([]string, error) {
	var all []string
	for i := 0; i < len(q); {
		c := q[i]
		end := i + 1
		switch {
		case strings.IndexByte(" \t\r\n,", c) >= 0 || strings.HasPrefix(q[i:], "\ufeff"):
			i = end
			continue
		case c == '#':
			for end < len(q) && q[end] != '\n' {
				end++
			}
			i = end
			continue
		case strings.HasPrefix(q[i:], "..."):
			end = i + 3
		case strings.HasPrefix(q[i:], `"""`):
			return nil, fmt.Errorf("Block strings are not known here")
		case c == '"':
			for end < len(q) && q[end] != '"' {
				if q[end] == '\\' {
					end++
				}
				end++
			}
			if end++; end > len(q) {
				return nil, fmt.Errorf("Unterminated string")
			}
		case strings.IndexByte("{}()[]:!$=@|&", c) >= 0:
		default:
			for end < len(q) && (isName(q[end:end+1]) || q[end] >= '0' && q[end] <= '9' ||
				q[end] == '.' || q[end] == '-' || q[end] == '+') {
				end++
			}
		}
		all = append(all, q[i:end])
		i = end
	}
	return all, nil
}
