package client

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestEndpoint(t *testing.T) {
	for _, test := range []struct{ method, path, want string }{
		{"GET", "repos/acme/shop/pulls/7", "GET /repos/{owner}/{repo}/pulls/{number}"},
		{"GET", "/repos/acme/shop/pulls/7/", "GET /repos/{owner}/{repo}/pulls/{number}"},
		{"GET", "repos/acme/shop/issues/comments/7", "GET /repos/{owner}/{repo}/issues/comments/{comment_id}"},
		{"GET", "repos/acme/shop/contents/.github/a/b.yml", "GET /repos/{owner}/{repo}/contents/{path...}"},
		{"PATCH", "repos/acme/shop/check-runs/1", "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}"},
		{"POST", "app/installations/7/access_tokens", "POST /app/installations/{installation_id}/access_tokens"},
		{"GET", "repos/pulls/pulls/pulls", "GET /repos/{owner}/{repo}/pulls"},
		{"GET", "repositories/1001/pulls", "other"}, // where GitHub's links lead to
		{"BREW", "repos/acme/shop/pulls/7", "other"},
		{"GET", "repos/acme/shop/pulls/7/evil", "other"},
		{"GET", "repos/acme", "other"},
		{"GET", "", "other"},
	} {
		if got := endpointOf(test.method, test.path, false); got != test.want {
			t.Errorf("%s %s: %s", test.method, test.path, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { endpointOf("GET", "repos/acme/shop/pulls/7", false) }); n > 1 {
		t.Errorf("%v allocations", n)
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
