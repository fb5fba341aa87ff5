package sandbox

// GraphQL, as much of it as a query needs: a parser, and an executor that knows GitHub's rules for pages and its limits.
// What a query asks for and this GitHub has not is an error, as it is there; it is never left out in silence.

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A connection lists nodes; which of them is up to the arguments. The pages are cut by the executor.
type connection func(args object) []object

// A resolver is a field with arguments.
type resolver func(args object) (any, *graphError)

// graphError is an entry of "errors". A failure in a query is answered with HTTP 200 all the same.
type graphError struct {
	Type    string   `json:"type,omitempty"`
	Path    []string `json:"path,omitempty"`
	Message string   `json:"message"`
}

// maxNodes is the most that a query may ask for, counted as if every page were full.
const maxNodes = 500_000

// maxDepth is deeper than any query needs.
const maxDepth = 40

// graphRequest is the body of POST /graphql.
type graphRequest struct {
	Query         string `json:"query"`
	OperationName string `json:"operationName"`
	Variables     object `json:"variables"`

	err error
}

// graphRequest reads the body once: whose repository it is about is asked before what it asks.
func (r *call) graphRequest() (*graphRequest, error) {
	if r.graph == nil {
		r.graph = &graphRequest{}
		r.graph.err = r.decode(r.graph)
	}
	return r.graph, r.graph.err
}

// graphql answers POST /graphql.
func (g *GitHub) graphql(r *call) answer {
	in, err := r.graphRequest()
	if err != nil || r.Method != "POST" {
		return problem(400, "Problems parsing JSON")
	}
	q := g.graphs.read(in.Query, in.OperationName)
	if q.problems != nil {
		return ok(object{"errors": q.problems})
	}
	doc, op := q.doc, q.op
	e := &execution{doc: doc, vars: op.variables(in.Variables)}
	if n := e.count(op.sels, 1, 0); n > maxNodes {
		return ok(object{"errors": []graphError{{Type: "MAX_NODE_LIMIT_EXCEEDED", Message: fmt.Sprintf("This query requests up to %d possible nodes which exceeds the maximum limit of %d.", n, maxNodes)}}})
	}
	data := e.fields(op.sels, g.graphRoot(r), make([]string, 0, maxDepth+1))
	switch {
	case e.invalid:
		return ok(object{"errors": e.errors})
	case e.errors != nil:
		return ok(object{"data": data, "errors": e.errors})
	}
	return ok(object{"data": data})
}

// graphCache keeps queries that were read and found right: programs ask the same ones again and again.
type graphCache struct {
	mu  sync.Mutex
	all map[[2]string]graphQuery
}

// graphQuery is a query that was read.
type graphQuery struct {
	doc      *graphDoc
	op       *graphOp
	problems []graphError
}

// mostQueries are kept.
const mostQueries = 100

func (c *graphCache) read(query, operation string) graphQuery {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{query, operation}
	if q, known := c.all[key]; known {
		return q
	}
	q := readGraph(query, operation)
	if len(c.all) >= mostQueries || c.all == nil {
		c.all = map[[2]string]graphQuery{}
	}
	c.all[key] = q
	return q
}

func readGraph(query, operation string) graphQuery {
	doc, err := parseGraph(query)
	if err != nil {
		return graphQuery{problems: []graphError{{Message: err.Error()}}}
	}
	op := doc.operation(operation)
	if op == nil || op.kind != "query" {
		return graphQuery{problems: []graphError{{Message: "Only queries are known here."}}}
	}
	return graphQuery{doc: doc, op: op, problems: verify(doc, op)}
}

type execution struct {
	doc     *graphDoc
	vars    object
	errors  []graphError
	invalid bool // the query itself is wrong: nothing is answered
}

func (e *execution) wrong(path []string, format string, args ...any) any {
	e.invalid = true
	e.errors = append(e.errors, graphError{Path: slices.Clone(path), Message: fmt.Sprintf(format, args...)})
	return nil
}

// count is how many nodes the selections may come to.
func (e *execution) count(sels []graphSel, times, depth int) int {
	total := 0
	if depth > maxDepth {
		return maxNodes + 1
	}
	for _, s := range sels {
		under := times
		if n, paged := e.pageSize(s); paged && s.name != "" {
			under = times * n
			total += under
		}
		total += e.count(e.inner(s), under, depth+1)
		if total > maxNodes {
			return total
		}
	}
	return total
}

func (e *execution) pageSize(s graphSel) (int, bool) {
	for _, name := range []string{"first", "last"} {
		if v, given := s.args[name]; given {
			n, isNumber := e.value(v).(float64)
			return int(n), isNumber
		}
	}
	return 0, false
}

// inner are the selections under s, those of a fragment that it spreads included.
func (e *execution) inner(s graphSel) []graphSel {
	if s.spread != "" {
		return e.doc.fragments[s.spread].sels
	}
	return s.sels
}

// value puts the variables into an argument.
func (e *execution) value(v any) any {
	switch v := v.(type) {
	case graphVar:
		return e.vars[string(v)]
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = e.value(x)
		}
		return out
	case object:
		out := object{}
		for k, x := range v {
			out[k] = e.value(x)
		}
		return out
	}
	return v
}

// skipped obeys @include and @skip.
func (e *execution) skipped(s graphSel) bool {
	if v, given := s.directives["include"]; given && e.value(v["if"]) != true {
		return true
	}
	v, given := s.directives["skip"]
	return given && e.value(v["if"]) == true
}

// fields works out what is selected of an object. What is under one field overwrites the path of the one before: who keeps
// a path clones it.
func (e *execution) fields(sels []graphSel, of object, path []string) object {
	out := make(object, len(sels))
	for _, s := range sels {
		switch {
		case e.skipped(s):
		case len(path) > maxDepth:
			e.wrong(path, "The query is too deep.")
		case s.name == "": // a fragment
			cond := s.on
			if s.spread != "" {
				cond = e.doc.fragments[s.spread].on
			}
			if typename, _ := of["__typename"].(string); cond == "" || cond == typename || slices.Contains(interfaces[typename], cond) {
				maps.Copy(out, e.fields(e.inner(s), of, append(path, ""))) // one deeper, so that a fragment within itself ends
			}
		default:
			key := or(s.alias, s.name)
			was, twice := out[key].(object)
			out[key] = e.field(s, of, append(path, key))
			if now, isObject := out[key].(object); twice && isObject { // asked for in two places
				maps.Copy(was, now)
				out[key] = was
			}
		}
	}
	return out
}

func (e *execution) field(s graphSel, of object, path []string) any {
	v, known := of[s.name]
	if !known {
		return e.wrong(path, "the sandbox does not imitate %v.%s", of["__typename"], s.name)
	}
	var args object
	if len(s.args) > 0 {
		args, _ = e.value(s.args).(object)
	}
	if f, isResolver := v.(resolver); isResolver {
		var err *graphError
		if v, err = f(args); err != nil {
			err.Path = slices.DeleteFunc(slices.Clone(path), func(p string) bool { return p == "" })
			e.errors = append(e.errors, *err)
			return nil
		}
	}
	switch v := v.(type) {
	case func() object: // worked out only when it is asked for
		return e.under(s, v(), path)
	case object:
		return e.under(s, v, path)
	case connection:
		return e.page(s, v(args), args, path)
	case func() []object: // likewise
		return e.all(s, v(), path)
	case []object:
		return e.all(s, v, path)
	default:
		if s.sels != nil && v != nil {
			return e.wrong(path, "Selections can't be made on scalars (field '%s')", s.name)
		}
		return v
	}
}

func (e *execution) all(s graphSel, of []object, path []string) []any {
	out := make([]any, len(of))
	for i, o := range of {
		out[i] = e.under(s, o, path)
	}
	return out
}

func (e *execution) under(s graphSel, o object, path []string) any {
	switch {
	case o == nil:
		return nil
	case len(s.sels) == 0:
		return e.wrong(path, "Field must have selections (field '%s' returns %v but has no selections.)", s.name, o["__typename"])
	}
	return e.fields(s.sels, o, path)
}

// page cuts a connection. GitHub wants to be told how many, and gives at most 100.
func (e *execution) page(s graphSel, all []object, args object, path []string) any {
	first, hasFirst := args["first"].(float64)
	last, hasLast := args["last"].(float64)
	switch {
	case !hasFirst && !hasLast:
		e.errors = append(e.errors, graphError{Type: "MISSING_PAGINATION_BOUNDARIES", Path: slices.Clone(path), Message: fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", s.name)})
		return nil
	case first > 100 || last > 100 || first < 0 || last < 0:
		e.errors = append(e.errors, graphError{Type: "EXCESSIVE_PAGINATION", Path: slices.Clone(path), Message: fmt.Sprintf("Requesting %v records on the `%s` connection exceeds the `first` limit of 100 records.", max(first, last), s.name)})
		return nil
	}
	from, to := 0, len(all)
	if after, given := args["after"].(string); given {
		n, valid := place(after)
		if !valid {
			e.errors = append(e.errors, graphError{Type: "INVALID_CURSOR_ARGUMENTS", Path: slices.Clone(path), Message: fmt.Sprintf("`%s` does not appear to be a valid cursor.", after)})
			return nil
		}
		from = min(n, len(all))
	}
	if before, given := args["before"].(string); given {
		if n, valid := place(before); valid {
			to = max(min(n-1, len(all)), from)
		}
	}
	if hasFirst {
		to = min(to, from+int(first))
	} else {
		from = max(from, to-int(last))
	}
	info := object{"__typename": "PageInfo", "hasNextPage": to < len(all), "hasPreviousPage": from > 0, "startCursor": nil, "endCursor": nil}
	if to > from {
		info["startCursor"], info["endCursor"] = cursor(from+1), cursor(to)
	}
	edges := func() []object {
		edges := []object{}
		for i, o := range all[from:to] {
			edges = append(edges, object{"__typename": "Edge", "cursor": cursor(from + i + 1), "node": o})
		}
		return edges
	}
	return e.under(s, object{"__typename": "Connection", "totalCount": len(all), "pageInfo": info, "nodes": all[from:to], "edges": edges}, path)
}

func cursor(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "cursor:v2:%d", n))
}

func place(cursor string) (int, bool) {
	b, err := base64.StdEncoding.DecodeString(cursor)
	n, err2 := strconv.Atoi(strings.TrimPrefix(string(b), "cursor:v2:"))
	return n, err == nil && err2 == nil && n >= 0
}

// What follows reads a query.

type graphVar string

type graphSel struct {
	alias, name string
	on          string // of an inline fragment: its type; "" for all
	spread      string // the fragment that is spread
	args        object
	directives  map[string]object
	sels        []graphSel
}

type graphFragment struct {
	on   string
	sels []graphSel
}

type graphOp struct {
	kind, name string
	types      map[string]string // of the variables
	defaults   object
	sels       []graphSel
}

type graphDoc struct {
	ops       []*graphOp
	fragments map[string]graphFragment
}

func (d *graphDoc) operation(name string) *graphOp {
	for _, op := range d.ops {
		if name == "" || op.name == name {
			return op
		}
	}
	return nil
}

func (o *graphOp) variables(given object) object {
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

func parseGraph(query string) (*graphDoc, error) {
	tokens, err := graphTokens(query)
	if err != nil {
		return nil, err
	}
	p := &graphParser{tokens: tokens}
	doc := &graphDoc{fragments: map[string]graphFragment{}}
	for p.err == nil && p.peek() != "" {
		switch word := p.peek(); word {
		case "{":
			doc.ops = append(doc.ops, &graphOp{kind: "query", defaults: object{}, sels: p.selections()})
		case "query", "mutation", "subscription":
			p.next()
			op := &graphOp{kind: word, types: map[string]string{}, defaults: object{}}
			if isName(p.peek()) {
				op.name = p.next()
			}
			p.variableDefinitions(op)
			p.directives()
			op.sels = p.selections()
			doc.ops = append(doc.ops, op)
		case "fragment":
			p.next()
			name := p.next()
			p.want("on")
			on := p.next()
			doc.fragments[name] = graphFragment{on: on, sels: p.selections()}
		default:
			p.fail()
		}
	}
	if p.err == nil {
		p.err = doc.knows(doc.ops)
	}
	return doc, p.err
}

// knows checks that every fragment that is spread is there.
func (d *graphDoc) knows(ops []*graphOp) error {
	var check func(sels []graphSel) error
	check = func(sels []graphSel) error {
		for _, s := range sels {
			if _, known := d.fragments[s.spread]; s.spread != "" && !known {
				return fmt.Errorf("Fragment %s was used, but not defined", s.spread)
			}
			if err := check(s.sels); err != nil {
				return err
			}
		}
		return nil
	}
	for _, op := range ops {
		if err := check(op.sels); err != nil {
			return err
		}
	}
	for _, f := range d.fragments {
		if err := check(f.sels); err != nil {
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

func (p *graphParser) want(token string) {
	if p.next() != token {
		p.at--
		p.fail()
	}
}

func (p *graphParser) variableDefinitions(op *graphOp) {
	if p.peek() != "(" {
		return
	}
	for p.next(); p.err == nil && p.peek() != ")"; {
		p.want("$")
		name := p.next()
		p.want(":")
		for p.err == nil && p.peek() != "" && (strings.ContainsAny(p.peek(), "[]!") || isName(p.peek())) {
			op.types[name] += p.next()
		}
		if p.peek() == "=" {
			p.next()
			op.defaults[name] = p.value()
		}
		if p.peek() == "" {
			p.fail()
		}
	}
	p.want(")")
}

func (p *graphParser) selections() []graphSel {
	if p.depth++; p.depth > maxDepth {
		p.fail()
		return nil
	}
	defer func() { p.depth-- }()
	p.want("{")
	all := []graphSel{}
	for p.err == nil && p.peek() != "}" {
		all = append(all, p.selection())
	}
	p.want("}")
	return all
}

func (p *graphParser) selection() graphSel {
	var s graphSel
	if p.peek() == "..." {
		p.next()
		switch {
		case p.peek() == "on":
			p.next()
			s.on = p.next()
		case isName(p.peek()):
			s.spread = p.next()
			s.directives = p.directives()
			return s
		}
		s.directives = p.directives()
		s.sels = p.selections()
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
	s.args = p.arguments()
	s.directives = p.directives()
	if p.peek() == "{" {
		s.sels = p.selections()
	}
	return s
}

func (p *graphParser) directives() map[string]object {
	var all map[string]object
	for p.err == nil && p.peek() == "@" {
		p.next()
		if all == nil {
			all = map[string]object{}
		}
		name := p.next()
		all[name] = p.arguments()
	}
	return all
}

func (p *graphParser) arguments() object {
	args := object{}
	if p.peek() != "(" {
		return args
	}
	for p.next(); p.err == nil && p.peek() != ")"; {
		name := p.next()
		p.want(":")
		args[name] = p.value()
	}
	p.want(")")
	return args
}

func (p *graphParser) value() any {
	if p.depth++; p.depth > maxDepth {
		p.fail()
		return nil
	}
	defer func() { p.depth-- }()
	t := p.next()
	switch {
	case t == "$":
		return graphVar(p.next())
	case t == "[":
		all := []any{}
		for p.err == nil && p.peek() != "]" {
			all = append(all, p.value())
		}
		p.want("]")
		return all
	case t == "{":
		all := object{}
		for p.err == nil && p.peek() != "}" {
			name := p.next()
			p.want(":")
			all[name] = p.value()
		}
		p.want("}")
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

// graphTokens cuts a query into tokens. Commas mean nothing in GraphQL.
func graphTokens(q string) ([]string, error) {
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
			for end < len(q) && (isName(q[end:end+1]) || q[end] >= '0' && q[end] <= '9' || q[end] == '.' || q[end] == '-' || q[end] == '+') {
				end++
			}
		}
		all = append(all, q[i:end])
		i = end
	}
	return all, nil
}
