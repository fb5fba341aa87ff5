package config

// The JSON Schema of the policy file, for editors. It is made from the types of file.go; what only the whole file shows
// (a quorum that nobody can reach, a missing heading) is left to Parse.

import (
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/review-coordinator/coordinator/internal/evidence"
)

// Schema returns the JSON Schema of a policy file, indented and always the same.
func Schema() []byte {
	s := reflector().Reflect(File{})
	s.Version = jsonschema.Version
	s.Title = "Review coordinator policy"
	s.Description = "Which reviewers vote on a pull request, and how many approvals are enough."
	defaults(s, reflect.ValueOf(Default()))
	if reviewers, ok := s.Properties.Get("reviewers"); ok {
		entry := reviewers.Items
		entry.AnyOf = []*jsonschema.Schema{{Required: []string{"name"}}, {Required: []string{"preset"}}}
		if preset, ok := entry.Properties.Get("preset"); ok {
			preset.Enum = list(evidence.Presets()...)
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
				property.Default = q.String()
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
