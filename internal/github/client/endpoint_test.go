package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestEndpoint(t *testing.T) {
	for _, test := range []struct{ method, path, want string }{
		{"GET", "/repos/acme/shop/pulls/7", "GET /repos/{owner}/{repo}/pulls/{}"},
		{"GET", "/api/v3/repos/acme/shop/pulls/7/", "GET /repos/{owner}/{repo}/pulls/{}"},
		{"GET", "/repos/acme/shop/issues/comments/7", "GET /repos/{owner}/{repo}/issues/comments/{}"},
		{"GET", "/repos/acme/shop/contents/.github/a/b.yml", "GET /repos/{owner}/{repo}/contents/{...}"},
		{"GET", "/repos/acme/shop/rules/branches/a/b", "GET /repos/{owner}/{repo}/rules/branches/{...}"},
		{"PATCH", "/repos/acme/shop/check-runs/1", "PATCH /repos/{owner}/{repo}/check-runs/{}"},
		{"POST", "/app/installations/7/access_tokens", "POST /app/installations/{}/access_tokens"},
		{"POST", "/api/graphql", "POST /graphql"},
		{"GET", "/repos/pulls/pulls/pulls", "GET /repos/{owner}/{repo}/pulls"},
		{"GET", "/repositories/1001/pulls", "GET /repositories/{}/pulls"}, // where GitHub's links lead to
		{"GET", "/evil/\n", "GET /{}/{}"},
		{"GET", "/", "GET /{}"},
	} {
		if got := endpointOf(&http.Request{Method: test.method, URL: &url.URL{Path: test.path}}); got != test.want {
			t.Errorf("%s %s: %s", test.method, test.path, got)
		}
	}
}

func TestObserved(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	w := follows(
		said{status: 200, body: `{"n":1}`, header: []string{`Etag: "a"`}},
		said{status: 304},
		said{status: 404, body: `{}`},
		said{status: 200, body: `{"data":{"n":1}}`},
		reset,
	)
	c := w.client(t, func(o *Options) {
		o.BaseURL = "https://ghe.example/api/v3"
		o.Observed = func(endpoint string, status int, took time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, fmt.Sprint(endpoint, " ", status))
			if took < 0 || took > time.Hour {
				t.Error(took)
			}
		}
	})
	for range 3 {
		get(t, c)
	}
	if err := c.GraphQL(t.Context(), "query{n}", nil, &number{}); err != nil {
		t.Error(err)
	}
	if _, err := c.Send(t.Context(), "POST", "repos/acme/shop/check-runs", number{}, nil); !errors.Is(err, ErrTransport) {
		t.Error(err)
	}
	want := []string{
		"GET /repos/{owner}/{repo} 200",
		"GET /repos/{owner}/{repo} 304",
		"GET /repos/{owner}/{repo} 404",
		"POST /graphql 200",
		"POST /repos/{owner}/{repo}/check-runs 0",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
}
