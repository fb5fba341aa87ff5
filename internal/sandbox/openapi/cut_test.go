package openapi_test

// The description is cut from GitHub's whole one with
//
//	go test ./internal/sandbox/openapi -run TestCut -cut FILE
//
// where FILE is generated/api.github.com.json of the npm package @octokit/openapi.

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox"
	"github.com/review-coordinator/coordinator/internal/sandbox/openapi"
)

var cut = flag.String("cut", "", "cut the description anew from this `file`")

func TestCut(t *testing.T) {
	if *cut == "" {
		operations, err := openapi.Operations()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range slices.Concat(sandbox.Endpoints(), sandbox.AppEndpoints()) {
			if !slices.Contains(operations, e) {
				t.Errorf("%s is answered by the sandbox, and not described; cut the description anew", e)
			}
		}
		return
	}
	whole, err := os.ReadFile(*cut)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(whole, &doc); err != nil {
		t.Fatal(err)
	}
	small, err := json.Marshal(reduce(t, doc))
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(small)
	w.Close()
	if err := os.WriteFile("testdata/api.github.com.json.gz", zipped.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d zipped", len(small), zipped.Len())
}

// reduce keeps the operations that the sandbox answers, and what they refer to.
func reduce(t *testing.T, doc map[string]any) map[string]any {
	t.Helper()
	paths := map[string]any{}
	for _, e := range slices.Concat(sandbox.Endpoints(), sandbox.AppEndpoints()) {
		method, path, _ := strings.Cut(e, " ")
		item, _ := doc["paths"].(map[string]any)[path].(map[string]any)
		op := item[strings.ToLower(method)]
		if op == nil {
			t.Fatalf("GitHub describes no %s", e)
		}
		kept, _ := paths[path].(map[string]any)
		if kept == nil {
			kept = map[string]any{}
		}
		kept[strings.ToLower(method)] = strip(op)
		if item["parameters"] != nil {
			kept["parameters"] = strip(item["parameters"])
		}
		paths[path] = kept
	}
	components := map[string]any{}
	out := map[string]any{
		"openapi":    doc["openapi"],
		"info":       map[string]any{"title": "GitHub", "version": doc["info"].(map[string]any)["version"]},
		"paths":      paths,
		"components": components,
	}
	take(doc["components"].(map[string]any), components, paths)
	return out
}

// strip drops what validates nothing.
func strip(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = strip(v[i])
		}
	case map[string]any:
		if schema, is := v["schema"].(map[string]any); is && v["name"] == "created" {
			delete(schema, "format") // it takes ranges too, such as >=2026-11-21
		}
		if account, is := v["account"].(map[string]any); is && account["allOf"] != nil {
			account["anyOf"] = account["allOf"] // in the list of installations an account is a user and an enterprise at once
			delete(account, "allOf")
		}
		for key, inner := range v {
			_, text := inner.(string)
			switch {
			case strings.HasPrefix(key, "x-"), key == "examples", key == "example", key == "externalDocs", key == "tags":
				if property, isMap := inner.(map[string]any); !isMap || property["type"] == nil { // a property may have that name too
					delete(v, key)
				}
			case key == "summary" && text:
				delete(v, key)
			case key == "description" && text:
				v[key] = "" // an answer must have one
			default:
				v[key] = strip(inner)
			}
		}
	}
	return v
}

// take copies the components that v refers to, and those that they refer to.
func take(all, into map[string]any, v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			take(all, into, x)
		}
	case map[string]any:
		if ref, isRef := v["$ref"].(string); isRef {
			parts := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
			kind, name := parts[0], parts[1]
			if into[kind] == nil {
				into[kind] = map[string]any{}
			}
			taken := into[kind].(map[string]any)
			if taken[name] == nil {
				taken[name] = strip(all[kind].(map[string]any)[name])
				take(all, into, taken[name])
			}
			return
		}
		for _, x := range v {
			take(all, into, x)
		}
	}
}
