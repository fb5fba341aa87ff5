package config

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestGenerated: what is generated into docs is what the types say.
func TestGenerated(t *testing.T) {
	for path, made := range map[string][]byte{
		"../../docs/policy.md":          policyReference(),
		"../../docs/policy.schema.json": reflected(),
		"policy.schema.json":            reflected(),
	} {
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, made, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		stands, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(stands, made) {
			t.Errorf("%s is stale: run go generate ./internal/config", path)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("policy.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate holds a YAML file against the schema, as an editor does.
func validate(t *testing.T, s *jsonschema.Schema, src []byte) error {
	t.Helper()
	var content any
	if err := yaml.Unmarshal(src, &content); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

func TestSchemaAcceptsGoodFiles(t *testing.T) {
	s := compiled(t)
	files := map[string][]byte{"the example": []byte(examplePolicy)}
	for _, dir := range []string{"good", "warn"} {
		paths, _ := filepath.Glob("testdata/" + dir + "/*.yml")
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[path] = src
		}
	}
	for path, src := range files {
		if err := validate(t, s, src); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSchemaRefusesBadFiles: all mistakes that one value or one key shows.
func TestSchemaRefusesBadFiles(t *testing.T) {
	s := compiled(t)
	for _, name := range []string{
		"unknown-key", "unknown-key-nested", "unknown-key-far", "key-of-the-top-level", "key-of-a-reviewer", "missing-reviewers", "no-reviewers",
		"empty-value", "heading-is-a-comment", "not-keys", "enum", "enum-far", "enum-reviewer", "range", "version", "duration-word", "duration-no-unit",
		"duration-negative", "check-long", "quorum-word", "quorum-zero", "quorum-quoted", "reviewer-without-name", "preset-unknown",
		"type-list-for-text", "type-text-for-list", "type-text-for-mapping", "type-text-for-bool", "type-text-for-number", "type-number-for-text",
		"type-reviewer-is-text", "type-reviewers-is-mapping", "type-duration-is-list", "type-quorum-is-mapping",
		"verdict-unknown", "verdict-number", "verdict-approve-alone", "verdict-object-alone", "verdict-empty", "verdict-mixed",
		"shapes-unknown-key", "shapes-types", "shapes-notice-words",
		"lanes-is-a-map", "lane-conditions", "lane-reviewers", "lane-people", "people", "lanes-wrong-type", "fix-and-lanes", "when", "quorum-none",
	} {
		src, err := os.ReadFile("testdata/bad/" + name + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		if validate(t, s, src) == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
}

// TestSchemaAndParseKnowTheSameKeys asks both about each key of either, at every level, and about one of neither.
func TestSchemaAndParseKnowTheSameKeys(t *testing.T) {
	s := compiled(t)
	for _, level := range []struct {
		name   string
		schema *jsonschema.Schema
		t      reflect.Type
		inside string // a file that holds KEY at that level
	}{
		{"top", s, reflect.TypeFor[PolicyKeys](), "KEY: ~\n"},
		{"retry", s.Properties["retry"], reflect.TypeFor[RetryKeys](), "retry: {KEY: ~}\n"},
		{"circuit_breaker", s.Properties["circuit_breaker"], reflect.TypeFor[CircuitBreakerKeys](), "circuit_breaker: {KEY: ~}\n"},
		{"sweep", s.Properties["sweep"], reflect.TypeFor[SweepKeys](), "sweep: {KEY: ~}\n"},
		{"sweep.backoff", s.Properties["sweep"].Properties["backoff"], reflect.TypeFor[BackoffKeys](), "sweep: {backoff: {KEY: ~}}\n"},
		{"people", s.Properties["people"].AnyOf[1].Items2020, reflect.TypeFor[PersonKeys](), "people: [{KEY: ~}]\n"},
		{"fix", s.Properties["fix"], reflect.TypeFor[FixKeys](), "fix: {KEY: ~}\n"},
		{"reviewers", s.Properties["reviewers"].Items2020, reflect.TypeFor[ReviewerKeys](), "reviewers: [{KEY: ~}]\n"},
		{"when", s.Properties["reviewers"].Items2020.Properties["when"], reflect.TypeFor[ConditionKeys](), "reviewers: [{when: {KEY: ~}}]\n"},
		{"shapes", s.Properties["reviewers"].Items2020.Properties["shapes"], reflect.TypeFor[ShapesKeys](), "reviewers: [{shapes: {KEY: ~}}]\n"},
		{
			"notices", s.Properties["reviewers"].Items2020.Properties["shapes"].Properties["notices"].Items2020, reflect.TypeFor[NoticeKeys](),
			"reviewers: [{shapes: {notices: [{KEY: ~}]}}]\n",
		},
		{"request", s.Properties["reviewers"].Items2020.Properties["request"], reflect.TypeFor[RequestKeys](), "reviewers: [{request: {KEY: ~}}]\n"},
		{"enforce", s.Properties["enforce"], reflect.TypeFor[EnforceKeys](), "enforce: {KEY: ~}\n"},
		{"escalate", s.Properties["escalate"], reflect.TypeFor[EscalateKeys](), "escalate: {KEY: ~}\n"},
		{"lanes", s.Properties["lanes"].Items2020, reflect.TypeFor[LaneKeys](), "lanes: [{KEY: ~}]\n"},
		{"if", s.Properties["lanes"].Items2020.Properties["if"], reflect.TypeFor[ConditionKeys](), "lanes: [{if: {KEY: ~}}]\n"},
	} {
		var inSchema []string
		for key := range level.schema.Properties {
			inSchema = append(inSchema, key)
		}
		inTypes := keysOf(level.t)
		slices.Sort(inSchema)
		slices.Sort(inTypes)
		if !slices.Equal(inSchema, inTypes) {
			t.Errorf("%s: the schema has %v, the types %v", level.name, inSchema, inTypes)
		}
		for _, key := range append(inSchema, "nonsense") {
			_, err := Parse(file, []byte(strings.ReplaceAll(level.inside, "KEY", key)))
			refused := strings.Contains(err.Error(), `unknown key "`+key+`"`)
			if refused != (key == "nonsense") {
				t.Errorf("%s.%s: unknown to Parse: %t", level.name, key, refused)
			}
		}
		if level.schema.AdditionalProperties != false {
			if extra, ok := level.schema.AdditionalProperties.(*jsonschema.Schema); !ok || extra.Bool == nil || *extra.Bool {
				t.Errorf("%s: the schema accepts other keys", level.name)
			}
		}
	}
}
