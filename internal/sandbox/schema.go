package sandbox

// GitHub's GraphQL schema, as much of it as this GitHub imitates. A query that GitHub would refuse is refused here too,
// before anything is looked up.

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed schema/github.graphql.json.gz
var schemaFile []byte

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

// schema reads it once. It is part of the program, so that reading it cannot fail.
var schema = sync.OnceValue(func() map[string]schemaType {
	types := map[string]schemaType{}
	r, err := gzip.NewReader(bytes.NewReader(schemaFile))
	if err != nil {
		panic(err) // unreachable unless the build is broken
	}
	if err := json.NewDecoder(r).Decode(&types); err != nil {
		panic(err) // unreachable unless the build is broken
	}
	return types
})

// named is a type without what stands around its name.
func named(t string) string { return strings.Trim(t, "[]!") }

// verifier holds a query against the schema.
type verifier struct {
	doc      *graphDoc
	op       *graphOp
	used     map[string]bool // variables
	problems []graphError
	depth    int
	steps    int
}

// maxSteps is how many selections a query may come to once its fragments are spread: they can double at every level.
const maxSteps = 5000

// verify says what GitHub would refuse in a query.
func verify(doc *graphDoc, op *graphOp) []graphError {
	v := &verifier{doc: doc, op: op, used: map[string]bool{}}
	v.selections(op.sels, "Query", nil)
	for name := range op.types {
		if !v.used[name] {
			v.refuse(nil, "Variable $%s is declared by %s but not used", name, or(op.name, "anonymous query"))
		}
	}
	return v.problems
}

// refuse notes a mistake; the first few are enough.
func (v *verifier) refuse(path []string, format string, args ...any) {
	if len(v.problems) >= 10 {
		return
	}
	v.problems = append(v.problems, graphError{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (v *verifier) selections(sels []graphSel, typename string, path []string) {
	if v.depth++; v.depth > maxDepth {
		v.refuse(path, "The query is too deep.")
		v.depth--
		return
	}
	defer func() { v.depth-- }()
	for _, s := range sels {
		if v.steps++; v.steps > maxSteps {
			v.refuse(path, "The query is too complex.")
			return
		}
		for _, args := range s.directives {
			v.arguments(args, map[string]string{"if": "Boolean!"}, "directive", path)
		}
		switch {
		case s.spread != "":
			f := v.doc.fragments[s.spread]
			v.fragment(f.on, f.sels, typename, path)
		case s.name == "":
			v.fragment(or(s.on, typename), s.sels, typename, path)
		default:
			v.field(s, typename, append(slices.Clip(path), or(s.alias, s.name)))
		}
	}
}

// fragment must be one that an object of the type around it can be.
func (v *verifier) fragment(on string, sels []graphSel, within string, path []string) {
	if _, known := schema()[on]; !known {
		v.refuse(path, "No such type %s, so it can't be a fragment condition", on)
		return
	}
	can := possible(within)
	if !slices.ContainsFunc(possible(on), func(t string) bool { return slices.Contains(can, t) }) {
		v.refuse(path, "Fragment on %s can't be spread inside %s", on, within)
	}
	v.selections(sels, on, path)
}

// possible are the objects that a type may turn out to be.
func possible(typename string) []string {
	t := schema()[typename]
	if t.Possible != nil {
		return t.Possible
	}
	return []string{typename}
}

func (v *verifier) field(s graphSel, typename string, path []string) {
	if s.name == "__typename" {
		return
	}
	f, known := schema()[typename].Fields[s.name]
	if !known {
		v.refuse(path, "Field '%s' doesn't exist on type '%s'", s.name, typename)
		return
	}
	v.arguments(s.args, f.Args, "Field '"+s.name+"'", path)
	inner, imitated := schema()[named(f.Type)]
	leaf := inner.Kind == "SCALAR" || inner.Kind == "ENUM"
	switch {
	case !imitated:
		v.refuse(path, "the sandbox does not imitate %s.%s", typename, s.name)
	case leaf && s.sels != nil:
		v.refuse(path, "Selections can't be made on scalars (field '%s' returns %s but has selections)", s.name, named(f.Type))
	case !leaf && len(s.sels) == 0:
		v.refuse(path, "Field must have selections (field '%s' returns %s but has no selections)", s.name, named(f.Type))
	case !leaf:
		v.selections(s.sels, named(f.Type), path)
	}
}

func (v *verifier) arguments(args object, want map[string]string, of string, path []string) {
	for name, value := range args {
		t, known := want[name]
		if !known {
			v.refuse(path, "%s doesn't accept argument '%s'", of, name)
			continue
		}
		v.value(value, t, name, path)
	}
	for name, t := range want {
		if _, given := args[name]; !given && strings.HasSuffix(t, "!") {
			v.refuse(path, "%s is missing required arguments: %s", of, name)
		}
	}
}

// value must be of its argument's type, as far as it can be told.
func (v *verifier) value(value any, t, name string, path []string) {
	inner := schema()[named(t)]
	wrong := false
	switch value := value.(type) {
	case graphVar:
		v.used[string(value)] = true
		declared, known := v.op.types[string(value)]
		switch {
		case !known:
			v.refuse(path, "Variable $%s is used but not declared", string(value))
		case named(declared) != named(t), strings.HasSuffix(t, "!") && !strings.HasSuffix(declared, "!") && v.op.defaults[string(value)] == nil:
			v.refuse(path, "Type mismatch on variable $%s and argument %s (%s / %s)", string(value), name, declared, t)
		}
	case []any:
		wrong = !strings.HasPrefix(t, "[")
		for _, x := range value {
			v.value(x, strings.TrimSuffix(strings.Trim(t, "[]!"), "!"), name, path)
		}
	case object:
		wrong = inner.Kind != "INPUT_OBJECT"
		want := map[string]string{}
		for field, f := range inner.Fields {
			want[field] = f.Type
		}
		v.arguments(value, want, "InputObject '"+named(t)+"'", path)
	case string: // an enum's name, or a text
		wrong = inner.Kind == "ENUM" && !slices.Contains(inner.Values, value) || slices.Contains([]string{"Int", "Boolean"}, named(t))
	case float64:
		wrong = !slices.Contains([]string{"Int", "Float"}, named(t))
	case bool:
		wrong = named(t) != "Boolean"
	}
	if wrong {
		v.refuse(path, "Argument '%s' has an invalid value (%v). Expected type '%s'.", name, value, t)
	}
}
