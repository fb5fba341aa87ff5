package sandbox

// GitHub's GraphQL schema, as much of it as this GitHub imitates. A query that GitHub would refuse is refused here too,
// before anything is looked up.

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"slices"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

//go:embed schema/github.graphql.gz
var compressedSchema []byte

// graphSchema reads the schema, once. The file is part of the program, so that reading it cannot fail.
var graphSchema = sync.OnceValue(func() *ast.Schema {
	r, err := gzip.NewReader(bytes.NewReader(compressedSchema))
	if err != nil {
		panic(err) // unreachable unless the build is broken
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err) // unreachable unless the build is broken
	}
	return gqlparser.MustLoadSchema(&ast.Source{Name: "github.graphql", Input: string(text)})
})

// graphRules are the rules of a valid query.
var graphRules = sync.OnceValue(rules.NewDefaultRules)

// maxQueryTokens limits the words of a query: no query needs so many, and fragments multiply them.
const maxQueryTokens = 5000

// graphError is an entry of "errors". A failure in a query is answered with HTTP 200 all the same.
type graphError struct {
	Type    string   `json:"type,omitempty"`
	Path    []string `json:"path,omitempty"`
	Message string   `json:"message"`
}

// readQuery reads a query by the schema, or returns the errors for which GitHub would refuse it.
func readQuery(text, operation string) (*ast.OperationDefinition, []graphError) {
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxQueryTokens)
	if err != nil {
		return nil, []graphError{{Message: err.Error()}}
	}
	op := doc.Operations.ForName(operation)
	if op == nil || op.Operation != ast.Query {
		return nil, []graphError{{Message: "Only queries are known here."}}
	}
	var problems []graphError
	for _, e := range validator.ValidateWithRules(graphSchema(), doc, graphRules()) {
		problems = append(problems, graphError{Message: e.Message, Path: pathOf(e)})
	}
	return op, problems
}

func pathOf(e *gqlerror.Error) (path []string) {
	for _, p := range e.Path {
		if name, isName := p.(ast.PathName); isName {
			path = append(path, string(name))
		}
	}
	return path
}

// isOfType reports whether an object of one type can be named as another: itself, an interface or a union.
func isOfType(typename, as string) bool {
	possible := graphSchema().PossibleTypes[as]
	return as == "" || as == typename || slices.ContainsFunc(possible, func(d *ast.Definition) bool { return d.Name == typename })
}
