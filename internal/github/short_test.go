package github

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A payload that was made short says the same.
func TestShortPayloads(t *testing.T) {
	payloads := payloadFields
	check := func(payload []byte) {
		t.Helper()
		var whole, part eventPayload
		needed, ok := short(payload, payloads)
		err := json.Unmarshal(payload, &whole)
		if (err == nil) != (ok && json.Unmarshal(needed, &part) == nil) || len(needed) > len(payload) {
			t.Errorf("%.300s: %v, short %t", payload, err, ok)
		}
		if d := cmp.Diff(whole, part, cmp.Exporter(func(reflect.Type) bool { return true })); err == nil && d != "" {
			t.Errorf("%.300s: %s", payload, d)
		}
	}
	for _, all := range collected(t) {
		for _, payload := range all {
			check(payload)
		}
	}
	for _, payload := range []string{
		`{}`, ` { } `, `{"x":"\\","action":"a\"b\\"}`, `{"x":"\\\"}","action":"b"}`, `{"action":null,"issue":{"pull_request":{"url":"x"}}}`,
		`{"repositories":[],"check_suite":{"pull_requests":[ {"number":1,"x":[{}]} , {"number":2} ]},"check_run":{"pull_requests":[{"number":1,"head":{"sha":"x","y":{}}}]}}`,
		`{"workflow":"a.yml","comment":[{"user":1}],"review":null}`, `{"action":"a","action":"b"}`, `{"x":-1.5e+3,"y":true,"z":null}`,
		``, `{`, `{}}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{"a":"`, `{"a":"\"`, `{"a":[}`, `[]`, `"x"`, `{"action":"a"`, `{"check_suite":{"pull_requests":[1,]}}`, `{"check_suite":{"pull_requests":[{}`,
	} {
		check([]byte(payload))
	}
	deep := []byte(`{"check_suite":{"pull_requests":` + strings.Repeat("[", 1<<20))
	if _, ok := short(deep, payloads); ok {
		t.Error("a list without an end")
	}
}

// Answers that were made short say the same as whole ones, whatever is read of them.
func TestShortAnswers(t *testing.T) {
	type within struct {
		Runs *[]restRun `json:"workflow_runs"`
	}
	type mixed struct {
		Any   map[string]json.RawMessage `json:"any"`
		At    time.Time                  `json:"at,omitempty"`
		Until *time.Time                 `json:"until"`
		Names []string                   `json:"names"`
		Deep  [][]restUser               `json:"deep"`
		Loose any                        `json:"loose"`
	}
	type spelled struct{ Title string } // found as title, too
	const run = `{"id":1,"path":"a.yml","head_sha":"x","actor":{"login":"u","type":"Bot","urls":{"a":[1,{"b":"}"}]}},"head_repository":null,"created_at":"2026-01-05T09:00:00Z","jobs":["\"",{}]}`
	for _, into := range []func() any{
		func() any { return new([]restRun) }, func() any { return new(within) }, func() any { return new(restPull) }, func() any { return new([]restPull) },
		func() any { return new([]restCheck) }, func() any { return new(mixed) }, func() any { return new(spelled) }, func() any { return new(map[string]int) },
	} {
		for _, text := range []string{
			`[]`, `[ ]`, `[` + run + `,` + run + `]`, `{"workflow_runs":[` + run + `],"total_count":1}`, `{"workflow_runs":null}`, `null`, `{}`, `[null,{}]`, `[[]]`,
			`{"number":7,"title":"a \"title\" \u0041","head":{"sha":"x","repo":null},"base":{"repo":{"full_name":"a/b"}},"labels":[{"name":"l","x":{}}],"user":{"id":1}}`,
			`{"any":{"a":[{}],"b":{"c":1}},"at":"2026-01-05T09:00:00Z","until":"2026-01-05T09:00:00Z","names":["a","b"],"deep":[[{"login":"u","x":1}],[]],"loose":{"a":[1]}}`,
			`{"number":"7"}`, `{"number":7.5}`, `[{"id":"1"}]`, `{"at":1}`, `{"title":"y"}`, `<html>`, ``, `[` + run, `{"number":7}}`, `{"a":1}`, `{"a":1} x`,
		} {
			whole, part := into(), into()
			wrong, err := json.Unmarshal([]byte(text), whole), decode([]byte(text), fieldsOf(reflect.TypeOf(part)), part)
			if (wrong == nil) != (err == nil) || wrong != nil && wrong.Error() != err.Error() {
				t.Errorf("%T of %s: %v, want %v", part, text, err, wrong)
			}
			if d := cmp.Diff(whole, part); wrong == nil && d != "" {
				t.Errorf("%T of %s: %s", part, text, d)
			}
		}
	}
	if got, ok := short([]byte(`[`+run+`]`), fieldsOf(reflect.TypeFor[*[]restRun]())); !ok || strings.Contains(string(got), "urls") {
		t.Errorf("%t %s: what nobody reads is still there", ok, got)
	}
}
