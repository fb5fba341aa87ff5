package sandbox

// GitHub's GraphQL schema, as much of it as this GitHub imitates. A query that GitHub would refuse is refused here too,
// before anything is looked up.

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed schema/github.graphql.json.gz
var compressedSchema []byte

// schemaType is a type of the schema.
type schemaType struct {
	Kind     string                 `json:"kind"`
	Fields   map[string]schemaField `json:"fields,omitempty"`   // of an OBJECT, an INTERFACE, an INPUT_OBJECT
	Possible []string               `json:"possible,omitempty"` // of an INTERFACE, a UNION
	Values   []string               `json:"values,omitempty"`   // of an ENUM
}

type schemaField struct {
	Type string            `json:"type"` // as GraphQL writes it: [PullRequest!]!
	Args map[string]string `json:"args,omitempty"`
}

// graphSchema reads the schema, once. The file is part of the program, so that reading it cannot fail.
var graphSchema = sync.OnceValue(func() map[string]schemaType {
	types := map[string]schemaType{}
	r, err := gzip.NewReader(bytes.NewReader(compressedSchema))
	if err != nil {
		panic(err) // unreachable unless the build is broken
	}
	if err := json.NewDecoder(r).Decode(&types); err != nil {
		panic(err) // unreachable unless the build is broken
	}
	return types
})

// bareTypeName returns a type without its brackets and exclamation marks.
func bareTypeName(t string) string { return strings.Trim(t, "[]!") }

// queryValidator checks a query against the schema.
type queryValidator struct {
	doc           *graphDocument
	op            *graphOperation
	usedVariables map[string]bool // variables
	problems      []graphError
	depth         int
	visited       int
}

// maxSelections limits the selections of a query once its fragments are spread: they can double at every level.
const maxSelections = 5000

// validateQuery returns the errors for which GitHub would refuse a query.
func validateQuery(doc *graphDocument, op *graphOperation) []graphError {
	v := &queryValidator{doc: doc, op: op, usedVariables: map[string]bool{}}
	v.checkSelections(op.selections, "Query", nil)
	for name := range op.variableTypes {
		if !v.usedVariables[name] {
			v.addProblem(nil, "Variable $%s is declared by %s but not used", name, cmp.Or(op.name, "anonymous query"))
		}
	}
	return v.problems
}

// addProblem notes an error; the first few are enough.
func (v *queryValidator) addProblem(path []string, format string, args ...any) {
	if len(v.problems) >= 10 {
		return
	}
	v.problems = append(v.problems, graphError{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (v *queryValidator) checkSelections(sels []graphSelection, typename string, path []string) {
	if v.depth++; v.depth > maxDepth {
		v.addProblem(path, "The query is too deep.")
		v.depth--
		return
	}
	defer func() { v.depth-- }()
	for _, s := range sels {
		if v.visited++; v.visited > maxSelections {
			v.addProblem(path, "The query is too complex.")
			return
		}
		for _, args := range s.directives {
			v.checkArguments(args, map[string]string{"if": "Boolean!"}, "directive", path)
		}
		switch {
		case s.spread != "":
			f := v.doc.fragments[s.spread]
			v.checkFragment(f.typeCondition, f.selections, typename, path)
		case s.name == "":
			v.checkFragment(cmp.Or(s.typeCondition, typename), s.selections, typename, path)
		default:
			v.checkField(s, typename, append(slices.Clip(path), cmp.Or(s.alias, s.name)))
		}
	}
}

// checkFragment checks a fragment: an object of the type around it must be able to be of the fragment's type.
func (v *queryValidator) checkFragment(on string, sels []graphSelection, within string, path []string) {
	if _, known := graphSchema()[on]; !known {
		v.addProblem(path, "No such type %s, so it can't be a fragment condition", on)
		return
	}
	can := possibleTypes(within)
	if !slices.ContainsFunc(possibleTypes(on), func(t string) bool { return slices.Contains(can, t) }) {
		v.addProblem(path, "Fragment on %s can't be spread inside %s", on, within)
	}
	v.checkSelections(sels, on, path)
}

// possibleTypes returns the object types that a value of a type may have.
func possibleTypes(typename string) []string {
	t := graphSchema()[typename]
	if t.Possible != nil {
		return t.Possible
	}
	return []string{typename}
}

func (v *queryValidator) checkField(s graphSelection, typename string, path []string) {
	if s.name == "__typename" {
		return
	}
	f, known := graphSchema()[typename].Fields[s.name]
	if !known {
		v.addProblem(path, "Field '%s' doesn't exist on type '%s'", s.name, typename)
		return
	}
	v.checkArguments(s.args, f.Args, "Field '"+s.name+"'", path)
	inner, imitated := graphSchema()[bareTypeName(f.Type)]
	leaf := inner.Kind == "SCALAR" || inner.Kind == "ENUM"
	switch {
	case !imitated:
		v.addProblem(path, "the sandbox does not imitate %s.%s", typename, s.name)
	case leaf && s.selections != nil:
		v.addProblem(path, "Selections can't be made on scalars (field '%s' returns %s but has selections)", s.name, bareTypeName(f.Type))
	case !leaf && len(s.selections) == 0:
		v.addProblem(path, "Field must have selections (field '%s' returns %s but has no selections)", s.name, bareTypeName(f.Type))
	case !leaf:
		v.checkSelections(s.selections, bareTypeName(f.Type), path)
	}
}

func (v *queryValidator) checkArguments(args object, want map[string]string, of string, path []string) {
	for name, value := range args {
		t, known := want[name]
		if !known {
			v.addProblem(path, "%s doesn't accept argument '%s'", of, name)
			continue
		}
		v.checkValue(value, t, name, path)
	}
	for name, t := range want {
		if _, given := args[name]; !given && strings.HasSuffix(t, "!") {
			v.addProblem(path, "%s is missing required arguments: %s", of, name)
		}
	}
}

// checkValue checks that a value is of its argument's type, as far as that can be told.
func (v *queryValidator) checkValue(value any, t, name string, path []string) {
	inner := graphSchema()[bareTypeName(t)]
	wrong := false
	switch value := value.(type) {
	case graphVariable:
		v.usedVariables[string(value)] = true
		declared, known := v.op.variableTypes[string(value)]
		switch {
		case !known:
			v.addProblem(path, "Variable $%s is used but not declared", string(value))
		case bareTypeName(declared) != bareTypeName(t),
			strings.HasSuffix(t, "!") && !strings.HasSuffix(declared, "!") && v.op.defaults[string(value)] == nil:
			v.addProblem(path, "Type mismatch on variable $%s and argument %s (%s / %s)", string(value), name, declared, t)
		}
	case []any:
		wrong = !strings.HasPrefix(t, "[")
		for _, x := range value {
			v.checkValue(x, strings.TrimSuffix(strings.Trim(t, "[]!"), "!"), name, path)
		}
	case object:
		wrong = inner.Kind != "INPUT_OBJECT"
		want := map[string]string{}
		for field, f := range inner.Fields {
			want[field] = f.Type
		}
		v.checkArguments(value, want, "InputObject '"+bareTypeName(t)+"'", path)
	case string: // an enum's name, or a text
		wrong = inner.Kind == "ENUM" && !slices.Contains(inner.Values, value) ||
			slices.Contains([]string{"Int", "Boolean"}, bareTypeName(t))
	case float64:
		wrong = !slices.Contains([]string{"Int", "Float"}, bareTypeName(t))
	case bool:
		wrong = bareTypeName(t) != "Boolean"
	}
	if wrong {
		v.addProblem(path, "Argument '%s' has an invalid value (%v). Expected type '%s'.", name, value, t)
	}
}
