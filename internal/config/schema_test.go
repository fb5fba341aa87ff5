package config

// How the JSON Schema is made from the types of file.go. It is made here and shipped as a file, because the library
// that reads the types would be half a megabyte of a program that starts for every event.

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/review"
)

// reflected is the schema that the types make.
func reflected() []byte {
	s := reflector().Reflect(PolicyKeys{})
	s.Version = jsonschema.Version
	s.Required, s.AnyOf = nil, []*jsonschema.Schema{{Required: []string{"reviewers"}}, {Required: []string{"enforce"}}}
	s.Title = "Review coordinator policy"
	s.Description = "Which reviewers vote on a pull request, and how many approvals are enough."
	defaults(s, reflect.ValueOf(Default()))
	if lanes, ok := s.Properties.Get("lanes"); ok {
		lanes.Items.Required = append(lanes.Items.Required, "if")
		if condition, ok := lanes.Items.Properties.Get("if"); ok {
			condition.MinProperties = new(uint64(1))
		}
	}
	if reviewers, ok := s.Properties.Get("reviewers"); ok {
		entry := reviewers.Items
		entry.AnyOf = []*jsonschema.Schema{{Required: []string{"name"}}, {Required: []string{"preset"}}}
		if preset, ok := entry.Properties.Get("preset"); ok {
			preset.Enum = list(review.Presets()...)
		}
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("config: the schema is no JSON: " + err.Error()) // unreachable unless a default cannot be written as JSON
	}
	return append(out, '\n')
}

func reflector() *jsonschema.Reflector {
	return &jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true, FieldNameTag: "yaml"}
}

// defaults writes the values of v into the schema of its type.
func defaults(s *jsonschema.Schema, v reflect.Value) {
	for field := range v.Type().Fields() {
		property, ok := s.Properties.Get(field.Tag.Get("yaml"))
		if !ok {
			continue
		}
		switch value := v.FieldByIndex(field.Index); value.Kind() {
		case reflect.Struct:
			if q, ok := value.Interface().(Quorum); ok {
				if q != (Quorum{}) {
					property.Default = needWord(q)
				}
				continue
			}
			defaults(property, value)
		case reflect.Int64:
			property.Default = Duration(value.Int()).String()
		case reflect.Int, reflect.Bool:
			property.Default = value.Interface()
		case reflect.String:
			if value.Len() > 0 {
				property.Default = value.String()
			}
		case reflect.Slice:
			if value.Len() > 0 {
				property.Default = value.Interface()
			}
		}
	}
}

func list(words ...string) []any {
	values := make([]any, len(words))
	for i, w := range words {
		values[i] = w
	}
	return values
}

// JSONSchema describes a duration.
func (Duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", Pattern: `^\+?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*)$`},
		{Const: 0},
	}}
}

// JSONSchema describes a pattern.
func (Glob) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", MinLength: new(uint64(1)), MaxLength: new(uint64(1024))}
}

// JSONSchema describes a quorum.
func (Quorum) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: "1"},
		{Type: "string", Enum: list(majorityWord, allWord)},
	}}
}

// JSONSchema describes the quorum of a lane.
func (LaneQuorum) JSONSchema() *jsonschema.Schema {
	s := Quorum{}.JSONSchema()
	s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Type: "string", Enum: list(noneWord)})
	return s
}

// JSONSchema describes people.
func (PeopleKeys) JSONSchema() *jsonschema.Schema {
	entry := reflector().Reflect(PersonKeys{})
	entry.Version, entry.MinProperties = "", new(uint64(1))
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: "0", Maximum: "20"},
		{Type: "array", Items: entry, MinItems: new(uint64(1)), MaxItems: new(uint64(10))},
	}}
}

// JSONSchema describes a verdict format.
func (VerdictFormat) JSONSchema() *jsonschema.Schema {
	keys := reflector().Reflect(VerdictKeys{})
	keys.Version = ""
	keys.OneOf = []*jsonschema.Schema{
		{Required: []string{"artifact"}, MaxProperties: new(uint64(1))},
		{Required: []string{"conclusion"}, MaxProperties: new(uint64(1))},
		{Required: []string{"approve", "object"}, Not: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Required: []string{"artifact"}}, {Required: []string{"conclusion"}},
		}}},
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", Enum: list(review.FormatWords[:]...)},
		keys,
	}}
}

// JSONSchema describes words of a verdict.
func (VerdictWords) JSONSchema() *jsonschema.Schema {
	word := &jsonschema.Schema{Type: "string", MinLength: new(uint64(1)), MaxLength: new(uint64(maxShapeText))}
	return &jsonschema.Schema{Type: "array", Items: word, MinItems: new(uint64(1)), MaxItems: new(uint64(40))}
}

const maxShapeText = 1500 // bytes, as package review allows

// JSONSchema describes a shape.
func (ShapeText) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", MinLength: new(uint64(1)), MaxLength: new(uint64(maxShapeText))}
}

// The default that the reference shows for a reviewer's events is the one that resolving fills in.
func TestDefaultEvents(t *testing.T) {
	field, _ := reflect.TypeFor[ReviewerKeys]().FieldByName("Event")
	if want := "[" + strings.Join(quorum.DefaultEvents(), ", ") + "]"; field.Tag.Get("default") != want {
		t.Errorf("the reference says %s, want %s", field.Tag.Get("default"), want)
	}
}
