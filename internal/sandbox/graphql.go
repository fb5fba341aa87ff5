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
	"sync"
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
	q := g.queryCache.cachedQuery(in.Query, in.OperationName)
	if q.problems != nil {
		return answerOK(object{"errors": q.problems})
	}
	op, e := q.op, q.execution(in)
	n := e.countNodes(op.selections, 1, 0)
	if n > maxNodes {
		return answerOK(
			object{
				"errors": []graphError{
					{
						Type: "MAX_NODE_LIMIT_EXCEEDED",
						Message: fmt.Sprintf(
							"This query requests up to %d possible nodes which exceeds the maximum limit of %d.",
							n,
							maxNodes,
						),
					},
				},
			},
		)
	}
	data := e.resolveFields(op.selections, g.graphRoot(r, n), make([]string, 0, maxDepth+1))
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
	mu      sync.Mutex
	queries map[[2]string]graphQuery
}

// graphQuery is a parsed query, or the errors that were found in it.
type graphQuery struct {
	doc      *graphDocument
	op       *graphOperation
	problems []graphError
}

// execution prepares the execution of a query without problems.
func (q graphQuery) execution(in *graphRequest) *queryExecution {
	return &queryExecution{doc: q.doc, vars: q.op.withDefaults(in.Variables)}
}

// queryPoints returns what a query costs of the hour's points: the requests that its connections would take, divided by
// 100, rounded, and at least 1. Source: "Rate limits and query limits for the GraphQL API", predicting the point value.
func queryPoints(g *GitHub, r *routedRequest) int {
	in, err := r.readGraphRequest()
	if err != nil {
		return 1
	}
	q := g.queryCache.cachedQuery(in.Query, in.OperationName)
	if q.problems != nil {
		return 1
	}
	return max((q.execution(in).countRequests(q.op.selections, 1, 0)+50)/100, 1)
}

// maxCachedQueries is how many parsed queries are kept.
const maxCachedQueries = 100

func (c *graphCache) cachedQuery(query, operation string) graphQuery {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{query, operation}
	if q, known := c.queries[key]; known {
		return q
	}
	q := parseGraphQuery(query, operation)
	if len(c.queries) >= maxCachedQueries || c.queries == nil {
		c.queries = map[[2]string]graphQuery{}
	}
	c.queries[key] = q
	return q
}

func parseGraphQuery(query, operation string) graphQuery {
	doc, err := parseGraphDocument(query)
	if err != nil {
		return graphQuery{problems: []graphError{{Message: err.Error()}}}
	}
	op := doc.findOperation(operation)
	if op == nil || op.kind != "query" {
		return graphQuery{problems: []graphError{{Message: "Only queries are known here."}}}
	}
	return graphQuery{doc: doc, op: op, problems: validateQuery(doc, op)}
}

type queryExecution struct {
	doc     *graphDocument
	vars    object
	errors  []graphError
	invalid bool // the query itself is wrong: nothing is answered
}

func (e *queryExecution) rejectQuery(path []string, format string, args ...any) any {
	e.invalid = true
	e.errors = append(e.errors, graphError{Path: slices.Clone(path), Message: fmt.Sprintf(format, args...)})
	return nil
}

// countNodes returns the most nodes that the selections may come to.
func (e *queryExecution) countNodes(sels []graphSelection, times, depth int) int {
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
		total += e.countNodes(e.subSelections(s), under, depth+1)
		if total > maxNodes {
			return total
		}
	}
	return total
}

// countRequests returns the requests that the connections among the selections would take if every page were full: each
// one for every node of the connections around it.
func (e *queryExecution) countRequests(sels []graphSelection, times, depth int) int {
	total := 0
	for _, s := range sels {
		if depth > maxDepth || total > maxNodes || e.isSkipped(s) {
			continue
		}
		under := times
		if n, paged := e.pageSize(s); paged && s.name != "" {
			total, under = total+times, times*n
		}
		total += e.countRequests(e.subSelections(s), under, depth+1)
	}
	return total
}

func (e *queryExecution) pageSize(s graphSelection) (int, bool) {
	for _, name := range []string{"first", "last"} {
		if v, given := s.args[name]; given {
			n, isNumber := e.resolveValue(v).(float64)
			return int(n), isNumber
		}
	}
	return 0, false
}

// subSelections returns the selections under s, or those of the fragment that it spreads.
func (e *queryExecution) subSelections(s graphSelection) []graphSelection {
	if s.spread != "" {
		return e.doc.fragments[s.spread].selections
	}
	return s.selections
}

// resolveValue replaces the variables in an argument by their values.
func (e *queryExecution) resolveValue(v any) any {
	switch v := v.(type) {
	case graphVariable:
		return e.vars[string(v)]
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = e.resolveValue(x)
		}
		return out
	case object:
		out := object{}
		for k, x := range v {
			out[k] = e.resolveValue(x)
		}
		return out
	}
	return v
}

// isSkipped reports whether @include or @skip leaves a selection out.
func (e *queryExecution) isSkipped(s graphSelection) bool {
	if v, given := s.directives["include"]; given && e.resolveValue(v["if"]) != true {
		return true
	}
	v, given := s.directives["skip"]
	return given && e.resolveValue(v["if"]) == true
}

// resolveFields computes the selected fields of an object. The paths of all fields share one array: code that keeps
// a path clones it.
func (e *queryExecution) resolveFields(sels []graphSelection, of object, path []string) object {
	out := make(object, len(sels))
	for _, s := range sels {
		switch {
		case e.isSkipped(s):
		case len(path) > maxDepth:
			e.rejectQuery(path, "The query is too deep.")
		case s.name == "": // a fragment
			cond := s.typeCondition
			if s.spread != "" {
				cond = e.doc.fragments[s.spread].typeCondition
			}
			if typename, _ := of["__typename"].(string); cond == "" || cond == typename ||
				slices.Contains(graphInterfaces[typename], cond) {
				maps.Copy(
					out,
					e.resolveFields(e.subSelections(s), of, append(path, "")),
				) // one deeper, so that a fragment within itself ends
			}
		default:
			key := or(s.alias, s.name)
			was, twice := out[key].(object)
			out[key] = e.resolveField(s, of, append(path, key))
			if now, isObject := out[key].(object); twice && isObject { // selected in two places
				maps.Copy(was, now)
				out[key] = was
			}
		}
	}
	return out
}

func (e *queryExecution) resolveField(s graphSelection, of object, path []string) any {
	v, known := of[s.name]
	if !known {
		return e.rejectQuery(path, "the sandbox does not imitate %v.%s", of["__typename"], s.name)
	}
	var args object
	if len(s.args) > 0 {
		args, _ = e.resolveValue(s.args).(object)
	}
	if f, isResolver := v.(resolverField); isResolver {
		var err *graphError
		if v, err = f(args); err != nil {
			err.Path = slices.DeleteFunc(slices.Clone(path), func(p string) bool { return p == "" })
			e.errors = append(e.errors, *err)
			return nil
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
		if s.selections != nil && v != nil {
			return e.rejectQuery(path, "Selections can't be made on scalars (field '%s')", s.name)
		}
		return v
	}
}

func (e *queryExecution) resolveList(s graphSelection, of []object, path []string) []any {
	out := make([]any, len(of))
	for i, o := range of {
		out[i] = e.resolveObject(s, o, path)
	}
	return out
}

func (e *queryExecution) resolveObject(s graphSelection, o object, path []string) any {
	switch {
	case o == nil:
		return nil
	case len(s.selections) == 0:
		return e.rejectQuery(path, "Field must have selections (field '%s' returns %v but has no selections.)", s.name, o["__typename"])
	}
	return e.resolveFields(s.selections, o, path)
}

// resolvePage cuts one page out of a connection. GitHub insists on first or last, and gives at most 100.
func (e *queryExecution) resolvePage(s graphSelection, all []object, args object, path []string) any {
	first, hasFirst := args["first"].(float64)
	last, hasLast := args["last"].(float64)
	switch {
	case !hasFirst && !hasLast:
		e.errors = append(
			e.errors,
			graphError{
				Type:    "MISSING_PAGINATION_BOUNDARIES",
				Path:    slices.Clone(path),
				Message: fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", s.name),
			},
		)
		return nil
	case first > 100 || last > 100 || first < 0 || last < 0:
		e.errors = append(
			e.errors,
			graphError{
				Type: "EXCESSIVE_PAGINATION",
				Path: slices.Clone(path),
				Message: fmt.Sprintf(
					"Requesting %v records on the `%s` connection exceeds the `first` limit of 100 records.",
					max(first, last),
					s.name,
				),
			},
		)
		return nil
	}
	from, to := 0, len(all)
	if after, given := args["after"].(string); given {
		n, valid := decodeCursor(after)
		if !valid {
			e.errors = append(
				e.errors,
				graphError{
					Type:    "INVALID_CURSOR_ARGUMENTS",
					Path:    slices.Clone(path),
					Message: fmt.Sprintf("`%s` does not appear to be a valid cursor.", after),
				},
			)
			return nil
		}
		from = min(n, len(all))
	}
	if before, given := args["before"].(string); given {
		if n, valid := decodeCursor(before); valid {
			to = max(min(n-1, len(all)), from)
		}
	}
	if hasFirst {
		to = min(to, from+int(first))
	} else {
		from = max(from, to-int(last))
	}
	info := object{
		"__typename":      "PageInfo",
		"hasNextPage":     to < len(all),
		"hasPreviousPage": from > 0,
		"startCursor":     nil,
		"endCursor":       nil,
	}
	if to > from {
		info["startCursor"], info["endCursor"] = encodeCursor(from+1), encodeCursor(to)
	}
	edges := func() []object {
		edges := []object{}
		for i, o := range all[from:to] {
			edges = append(edges, object{"__typename": "Edge", "cursor": encodeCursor(from + i + 1), "node": o})
		}
		return edges
	}
	return e.resolveObject(
		s,
		object{"__typename": "Connection", "totalCount": len(all), "pageInfo": info, "nodes": all[from:to], "edges": edges},
		path,
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

// The rest of this file parses queries.
