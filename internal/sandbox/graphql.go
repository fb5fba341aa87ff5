package sandbox

// The executor of GraphQL, which knows GitHub's rules for pages and its limits. A field that this GitHub does not have
// is an error, as it is there; it is never left out in silence.

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
)

// A connectionField lists nodes, which its arguments select. The executor cuts the pages.
type connectionField func(args object) []object

// A resolverField is a field with arguments.
type resolverField func(args object) (any, *graphError)

// maxNodes is the most that a query may ask for, counted as if every page were full.
const maxNodes = 500_000

// graphRequest is the body of POST /graphql.
type graphRequest struct {
	Query         string `json:"query"`
	OperationName string `json:"operationName"`
	Variables     object `json:"variables"`

	err error
}

// readGraphRequest reads the body once: it is needed to find the repository, and again to answer the query.
func (r *routedRequest) readGraphRequest() (*graphRequest, error) {
	if r.graphBody == nil {
		r.graphBody = &graphRequest{}
		r.graphBody.err = r.decodeBody(r.graphBody)
	}
	return r.graphBody, r.graphBody.err
}

// answerGraphQL answers POST /graphql.
func (g *GitHub) answerGraphQL(r *routedRequest) routeAnswer {
	in, err := r.readGraphRequest()
	if err != nil || r.Method != "POST" {
		return answerError(400, "Problems parsing JSON")
	}
	e, problems := g.queryCache.prepareExecution(in)
	if problems != nil {
		return answerOK(object{"errors": problems})
	}
	n := e.countNodes(e.op.SelectionSet, 1, 0)
	if n > maxNodes {
		e.addError(nil, "MAX_NODE_LIMIT_EXCEEDED", "This query requests up to %d possible nodes which exceeds the maximum limit of %d.", n, maxNodes)
		return answerOK(object{"errors": e.errors})
	}
	data := e.resolveFields(e.op.SelectionSet, graphView{g, r}.rootNode(n), make([]string, 0, maxDepth+1))
	switch {
	case e.invalid:
		return answerOK(object{"errors": e.errors})
	case e.errors != nil:
		return answerOK(object{"data": data, "errors": e.errors})
	}
	return answerOK(object{"data": data})
}

// graphCache keeps parsed and validated queries: programs send the same ones again and again.
type graphCache struct {
	mu      lock
	queries map[[2]string]graphQuery
}

// graphQuery is a parsed query, or the errors that were found in it.
type graphQuery struct {
	op       *ast.OperationDefinition
	problems []graphError
}

// queryPoints returns what a query costs of the hour's points: the requests that its connections would take, divided by
// 100, rounded, and at least 1. Source: "Rate limits and query limits for the GraphQL API", predicting the point value.
func queryPoints(g *GitHub, r *routedRequest) int {
	in, err := r.readGraphRequest()
	if err != nil {
		return 1
	}
	e, problems := g.queryCache.prepareExecution(in)
	if problems != nil {
		return 1
	}
	return max((e.countRequests(e.op.SelectionSet, 1, 0)+50)/100, 1)
}

// maxCachedQueries is how many parsed queries are kept.
const maxCachedQueries = 100

func (c *graphCache) cachedQuery(query, operation string) graphQuery {
	defer c.mu.held()()
	key := [2]string{query, operation}
	if q, known := c.queries[key]; known {
		return q
	}
	var q graphQuery
	q.op, q.problems = readQuery(query, operation)
	if len(c.queries) >= maxCachedQueries || c.queries == nil {
		c.queries = map[[2]string]graphQuery{}
	}
	c.queries[key] = q
	return q
}

// prepareExecution prepares the execution of a request, or returns what is wrong with its query or its variables.
func (c *graphCache) prepareExecution(in *graphRequest) (*queryExecution, []graphError) {
	q := c.cachedQuery(in.Query, in.OperationName)
	if q.problems != nil {
		return nil, q.problems
	}
	vars, err := validator.VariableValues(graphSchema(), q.op, in.Variables)
	if err != nil {
		return nil, []graphError{{Message: err.Error()}}
	}
	return &queryExecution{op: q.op, vars: vars}, nil
}

type queryExecution struct {
	op      *ast.OperationDefinition
	vars    object
	errors  []graphError
	invalid bool // the query itself is wrong: nothing is answered
	visited int  // selections that were counted
}

// addError adds an error about a field, which is null then.
func (e *queryExecution) addError(path []string, kind, format string, args ...any) any {
	e.errors = append(e.errors, graphError{Type: kind, Path: slices.Clone(path), Message: fmt.Sprintf(format, args...)})
	return nil
}

// maxDepth limits how deep a query may nest, and maxSelections its selections once its fragments are spread: they can
// double at every level.
const maxDepth, maxSelections = 40, 5000

// countNodes returns the most nodes that the selections may come to.
func (e *queryExecution) countNodes(sels ast.SelectionSet, times, depth int) int {
	total := 0
	for _, s := range sels {
		if e.visited++; e.visited > maxSelections || depth > maxDepth {
			return maxNodes + 1
		}
		under := times
		if n, paged := e.pageSize(s); paged {
			under = times * n
			total += under
		}
		_, inner := subSelections(s)
		total += e.countNodes(inner, under, depth+1)
		if total > maxNodes {
			return total
		}
	}
	return total
}

// countRequests returns the requests that the connections among the selections would take if every page were full: each
// one for every node of the connections around it.
func (e *queryExecution) countRequests(sels ast.SelectionSet, times, depth int) int {
	total := 0
	for _, s := range sels {
		if e.visited++; e.visited > maxSelections || depth > maxDepth || total > maxNodes || e.isSkipped(s) {
			continue
		}
		under := times
		if n, paged := e.pageSize(s); paged {
			total, under = total+times, times*n
		}
		_, inner := subSelections(s)
		total += e.countRequests(inner, under, depth+1)
	}
	return total
}

func (e *queryExecution) pageSize(s ast.Selection) (int, bool) {
	f, isField := s.(*ast.Field)
	if !isField {
		return 0, false
	}
	for _, name := range []string{"first", "last"} {
		if arg := f.Arguments.ForName(name); arg != nil {
			value, _ := arg.Value.Value(e.vars)
			return toInt(value)
		}
	}
	return 0, false
}

// toInt reads a number of a query, or of its variables, which are JSON.
func toInt(v any) (int, bool) {
	switch v := v.(type) {
	case int64:
		return int(v), true
	case float64:
		return int(v), true
	}
	return 0, false
}

// subSelections returns the selections under s, and the type that an object must have for them; "" for any.
func subSelections(s ast.Selection) (on string, sels ast.SelectionSet) {
	switch s := s.(type) {
	case *ast.Field:
		return "", s.SelectionSet
	case *ast.InlineFragment:
		return s.TypeCondition, s.SelectionSet
	case *ast.FragmentSpread:
		return s.Definition.TypeCondition, s.Definition.SelectionSet
	}
	return "", nil
}

// isSkipped reports whether @include or @skip leaves a selection out.
func (e *queryExecution) isSkipped(s ast.Selection) bool {
	var directives ast.DirectiveList
	switch s := s.(type) {
	case *ast.Field:
		directives = s.Directives
	case *ast.InlineFragment:
		directives = s.Directives
	case *ast.FragmentSpread:
		directives = s.Directives
	}
	for _, d := range directives {
		if d.ArgumentMap(e.vars)["if"] == (d.Name == "skip") {
			return true
		}
	}
	return false
}

// resolveFields computes the selected fields of an object. The paths of all fields share one array: code that keeps
// a path clones it.
func (e *queryExecution) resolveFields(sels ast.SelectionSet, of object, path []string) object {
	out := make(object, len(sels))
	typename, _ := of["__typename"].(string)
	for _, s := range sels {
		f, isField := s.(*ast.Field)
		switch on, inner := subSelections(s); {
		case e.isSkipped(s):
		case !isField && isOfType(typename, on):
			maps.Copy(out, e.resolveFields(inner, of, path))
		case isField:
			was, twice := out[f.Alias].(object)
			out[f.Alias] = e.resolveField(f, of, append(path, f.Alias))
			if now, isObject := out[f.Alias].(object); twice && isObject { // selected in two places
				maps.Copy(was, now)
				out[f.Alias] = was
			}
		}
	}
	return out
}

func (e *queryExecution) resolveField(s *ast.Field, of object, path []string) any {
	v, known := of[s.Name]
	if !known {
		e.invalid = true
		return e.addError(path, "", "the sandbox does not imitate %v.%s", of["__typename"], s.Name)
	}
	var args object
	if len(s.Arguments) > 0 {
		args = s.ArgumentMap(e.vars)
	}
	if f, isResolver := v.(resolverField); isResolver {
		var err *graphError
		if v, err = f(args); err != nil {
			return e.addError(path, err.Type, "%s", err.Message)
		}
	}
	switch v := v.(type) {
	case func() object: // computed only if it is selected
		return e.resolveObject(s, v(), path)
	case object:
		return e.resolveObject(s, v, path)
	case connectionField:
		return e.resolvePage(s, v(args), args, path)
	case func() []object: // likewise
		return e.resolveList(s, v(), path)
	case []object:
		return e.resolveList(s, v, path)
	default:
		return v
	}
}

func (e *queryExecution) resolveList(s *ast.Field, of []object, path []string) []any {
	out := make([]any, len(of))
	for i, o := range of {
		out[i] = e.resolveObject(s, o, path)
	}
	return out
}

func (e *queryExecution) resolveObject(s *ast.Field, o object, path []string) any {
	if o == nil {
		return nil
	}
	return e.resolveFields(s.SelectionSet, o, path)
}

// resolvePage cuts one page out of a connection. GitHub insists on first or last, and gives at most 100.
func (e *queryExecution) resolvePage(s *ast.Field, all []object, args object, path []string) any {
	first, hasFirst := toInt(args["first"])
	last, hasLast := toInt(args["last"])
	switch {
	case !hasFirst && !hasLast:
		const message = "You must provide a `first` or `last` value to properly paginate the `%s` connection."
		return e.addError(path, "MISSING_PAGINATION_BOUNDARIES", message, s.Name)
	case first > 100 || last > 100 || first < 0 || last < 0:
		const message = "Requesting %v records on the `%s` connection exceeds the `first` limit of 100 records."
		return e.addError(path, "EXCESSIVE_PAGINATION", message, max(first, last), s.Name)
	}
	from, to := 0, len(all)
	if after, given := args["after"].(string); given {
		n, valid := decodeCursor(after)
		if !valid {
			return e.addError(path, "INVALID_CURSOR_ARGUMENTS", "`%s` does not appear to be a valid cursor.", after)
		}
		from = min(n, len(all))
	}
	if before, given := args["before"].(string); given {
		if n, valid := decodeCursor(before); valid {
			to = max(min(n-1, len(all)), from)
		}
	}
	if hasFirst {
		to = min(to, from+first)
	} else {
		from = max(from, to-last)
	}
	info := object{
		"__typename": "PageInfo", "hasNextPage": to < len(all), "hasPreviousPage": from > 0, "startCursor": nil,
		"endCursor": nil,
	}
	if to > from {
		info["startCursor"], info["endCursor"] = encodeCursor(from+1), encodeCursor(to)
	}
	return e.resolveObject(
		s, object{"__typename": "Connection", "totalCount": len(all), "pageInfo": info, "nodes": all[from:to]}, path,
	)
}

func encodeCursor(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "cursor:v2:%d", n))
}

func decodeCursor(cursor string) (int, bool) {
	b, err := base64.StdEncoding.DecodeString(cursor)
	n, err2 := strconv.Atoi(strings.TrimPrefix(string(b), "cursor:v2:"))
	return n, err == nil && err2 == nil && n >= 0
}
