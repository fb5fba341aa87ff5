// Package openapi holds requests and answers against GitHub's own OpenAPI description: what passes unquestioned here,
// GitHub would have understood, and has described. It is for tests; no command needs it.
package openapi

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// description is cut down to the operations that the sandbox answers; testdata/README.md says from what, and how.
//
//go:embed testdata/api.github.com.json.gz
var description []byte

// loadDescription reads the description once: it takes longer than a test.
var loadDescription = sync.OnceValues(func() (*openapi3.T, error) {
	r, err := gzip.NewReader(bytes.NewReader(description))
	if err != nil {
		return nil, fmt.Errorf("read description: %w", err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read description: %w", err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		return nil, fmt.Errorf("read description: %w", err)
	}
	return doc, nil
})

// Operations lists the operations that are described, as "METHOD /path/{parameter}".
func Operations() ([]string, error) {
	doc, err := loadDescription()
	if err != nil {
		return nil, err
	}
	var all []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			all = append(all, method+" "+path)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Validate passes requests on to next and notes what GitHub's description has against them or their answers. The
// function that it returns lists that, each thing once.
//
// An error status that is not described is let through: GitHub describes few of those that it uses. So are answers that
// never arrive, and requests under /graphql, which has a schema of its own.
func Validate(next http.RoundTripper) (http.RoundTripper, func() []string) {
	v := &validator{next: next}
	return v, v.violations
}

type validator struct {
	next http.RoundTripper

	mu    sync.Mutex
	found []string
}

func (v *validator) violations() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.found)
}

func (v *validator) addViolation(req *http.Request, format string, args ...any) {
	s := fmt.Sprintf("%s %s: %s", req.Method, req.URL.RequestURI(), fmt.Sprintf(format, args...))
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.found, s) {
		v.found = append(v.found, s)
	}
}

// RoundTrip implements http.RoundTripper.
func (v *validator) RoundTrip(req *http.Request) (*http.Response, error) {
	path := strings.TrimPrefix(req.URL.EscapedPath(), "/api/v3")
	if path == "/graphql" || path == "/api/graphql" || strings.HasPrefix(path, "/_logs/") {
		return v.next.RoundTrip(req)
	}
	doc, err := loadDescription()
	if err != nil {
		return nil, err
	}
	var body []byte
	if req.Body != nil {
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, fmt.Errorf("read request: %w", err)
		}
		req.Body.Close()
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	input := v.validateRequest(doc, req, path, body)
	res, err := v.next.RoundTrip(req)
	if err != nil || input == nil {
		return res, err
	}
	v.validateResponse(req, res, input)
	return res, nil
}

// validateRequest validates a request; nil if it is not described.
func (v *validator) validateRequest(doc *openapi3.T, req *http.Request, path string, body []byte) *openapi3filter.RequestValidationInput {
	template, params := findTemplate(doc, req.Method, path)
	if template == "" {
		v.addViolation(req, "not described")
		return nil
	}
	item := doc.Paths.Map()[template]
	op := item.GetOperation(req.Method)
	for name := range req.URL.Query() {
		if op.Parameters.GetByInAndName("query", name) == nil && item.Parameters.GetByInAndName("query", name) == nil {
			v.addViolation(req, "GitHub knows no parameter %q there", name)
		}
	}
	copied := req.Clone(req.Context())
	if body != nil {
		copied.Body = io.NopCloser(bytes.NewReader(body))
		if len(body) > 0 && copied.Header.Get("Content-Type") == "" {
			copied.Header.Set("Content-Type", "application/json")
		}
	}
	input := &openapi3filter.RequestValidationInput{
		Request: copied, PathParams: params,
		Route:   &routers.Route{Spec: doc, Path: template, PathItem: item, Method: req.Method, Operation: op},
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true},
	}
	if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
		v.addViolation(req, "request: %v", err)
	}
	return input
}

// validateResponse validates an answer and leaves it readable.
func (v *validator) validateResponse(req *http.Request, res *http.Response, input *openapi3filter.RequestValidationInput) {
	described := input.Route.Operation.Responses.Status(res.StatusCode) != nil
	switch {
	case res.StatusCode == http.StatusNotModified, res.StatusCode >= 400 && !described:
		return
	case strings.HasPrefix(res.Header.Get("Content-Type"), "text/"), strings.Contains(req.Header.Get("Accept"), "raw"):
		return // no answer of GitHub's own, or a file as it is
	case !described:
		v.addViolation(req, "status %d is not described", res.StatusCode)
		return
	case !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json"):
		return // an answer without a body
	}
	b, err := io.ReadAll(res.Body)
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(b))
	if err != nil { // it breaks off, and its reader must see that
		res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(b), failingReader{err}))
		return
	}
	answer := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input,
		Status:                 res.StatusCode,
		Header:                 res.Header,
		Options:                input.Options,
	}
	if err := openapi3filter.ValidateResponse(context.Background(), answer.SetBodyBytes(b)); err != nil {
		v.addViolation(req, "answer %d: %v", res.StatusCode, err)
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// findTemplate finds the template of a path: of several the one with the most words wins. A parameter at the end
// takes the rest.
func findTemplate(doc *openapi3.T, method, path string) (string, map[string]string) {
	got := strings.Split(strings.Trim(path, "/"), "/")
	best, words, params := "", -1, map[string]string(nil)
	for template, item := range doc.Paths.Map() {
		if item.GetOperation(method) == nil {
			continue
		}
		if n, found := matchTemplate(strings.Split(strings.Trim(template, "/"), "/"), got); found != nil && n > words {
			best, words, params = template, n, found
		}
	}
	return best, params
}

func matchTemplate(want, got []string) (words int, params map[string]string) {
	params = map[string]string{}
	for i, w := range want {
		param := strings.HasPrefix(w, "{")
		switch {
		case i >= len(got), !param && w != got[i]:
			return 0, nil
		case !param:
			words++
		case i == len(want)-1 && (w == "{path}" || w == "{ref}" || w == "{branch}"):
			params[strings.Trim(w, "{}")] = strings.Join(got[i:], "/")
			return words, params
		default:
			params[strings.Trim(w, "{}")] = got[i]
		}
	}
	if len(got) != len(want) {
		return 0, nil
	}
	return words, params
}
