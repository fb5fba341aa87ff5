package openapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox/openapi"
)

// says answers everything alike.
type says struct {
	status int
	body   string
}

func (s says) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: s.status,
		Header:     http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Body:       io.NopCloser(strings.NewReader(s.body)),
	}, nil
}

func TestValidate(t *testing.T) {
	label := `{"id":1,"node_id":"x","url":"https://x.test","name":"n","description":"d","color":"c","default":false}`
	tests := []struct {
		name, method, path, body string
		answer                   says
		want                     string // "" for nothing
	}{
		{"an unknown operation", "GET", "/repos/o/r/wishes", "", says{200, "{}"}, "not described"},
		{"an unknown parameter", "GET", "/repos/o/r/pulls?colour=red", "", says{200, "[]"}, `no parameter "colour"`},
		{"a parameter of the wrong kind", "GET", "/repos/o/r/pulls?per_page=many", "", says{200, "[]"}, "per_page"},
		{"a request without what it needs", "POST", "/repos/o/r/check-runs", `{"name":"x"}`, says{422, "{}"}, "head_sha"},
		{"an answer of the wrong shape", "GET", "/repos/o/r/pulls", "", says{200, "[" + label + "]"}, "answer 200"},
		{"a status that does not occur", "GET", "/repos/o/r/pulls", "", says{202, "[]"}, "status 202 is not described"},
		{"all well", "GET", "/repos/o/r/pulls?per_page=100", "", says{200, "[]"}, ""},
		{"an error that is not described", "GET", "/repos/o/r/pulls", "", says{502, `{"message":"x"}`}, ""},
		{"an Enterprise Server", "GET", "/api/v3/repos/o/r/pulls", "", says{200, "[]"}, ""},
		{"a branch with a slash", "GET", "/repos/o/r/rules/branches/release/1", "", says{200, "[]"}, ""},
		{"GraphQL", "POST", "/graphql", `{"query":"{}"}`, says{200, "{}"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rt, violations := openapi.Validate(tt.answer)
			req, err := http.NewRequest(tt.method, "https://api.github.com"+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				res, err := rt.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if b, _ := io.ReadAll(res.Body); string(b) != tt.answer.body {
					t.Errorf("the answer became %q", b)
				}
				req.Body, _ = req.GetBody()
			}
			said := violations()
			switch {
			case tt.want == "" && len(said) > 0:
				t.Errorf("said %q", said)
			case tt.want != "" && (len(said) != 1 || !strings.Contains(said[0], tt.want)):
				t.Errorf("said %q, want %q once", said, tt.want)
			}
		})
	}
}
