package client

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Where the organisation wants single sign-on GitHub says where the token is authorised; an address elsewhere is not
// passed on.
func TestSignOnAddress(t *testing.T) {
	for _, test := range []struct{ header, api, want string }{
		{"required; url=https://github.com/orgs/octo/sso?authorization_request=A1", "https://api.github.com/", "https://github.com/orgs/octo/sso?authorization_request=A1"},
		{"required; url=https://git.example.org/orgs/octo/sso", "https://git.example.org/api/v3/", "https://git.example.org/orgs/octo/sso"},
		{"required; url=https://github.com.evil.example/orgs/octo/sso", "https://api.github.com/", ""},
		{"required; url=http://github.com/orgs/octo/sso", "https://api.github.com/", ""},
		{"required; url=https://github.com@evil.example/", "https://api.github.com/", ""},
		{"required; url=javascript:alert(1)", "https://api.github.com/", ""},
		{"partial-results; organizations=1,2", "https://api.github.com/", ""},
		{"", "https://api.github.com/", ""},
	} {
		c, err := New(Options{BaseURL: test.api, Token: "t", Transport: answerOf(func(*http.Request) *http.Response {
			recorder := httptest.NewRecorder()
			recorder.Header().Set("X-GitHub-SSO", test.header)
			recorder.WriteHeader(http.StatusForbidden)
			_, _ = recorder.WriteString(`{"message": "Resource protected by organization SAML enforcement."}`)
			return recorder.Result()
		})})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Get(context.Background(), "user", nil)
		hint := HintOf(err)
		if test.want != "" && !strings.HasSuffix(hint, ": "+test.want) || test.want == "" && !strings.HasSuffix(hint, "Configure SSO") {
			t.Errorf("%q: %q, want %q", test.header, hint, test.want)
		}
	}
}

// answerOf is a network that answers each request at once.
type answerOf func(*http.Request) *http.Response

func (a answerOf) RoundTrip(req *http.Request) (*http.Response, error) { return a(req), nil }

// Each way not to reach GitHub's API has its advice.
func TestHints(t *testing.T) {
	page := func(status int, header, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if header != "" {
				w.Header().Set("X-GitHub-SSO", header)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"a page of 404", page(404, "", "<!doctype html><title>Page not found</title>"), "GITHUB_API_URL is http://"},
		{"SAML", page(403, "", `{"message": "Resource protected by organization SAML enforcement."}`), "Configure SSO"},
		{"a bad token", page(401, "", `{"message": "Bad credentials"}`), "expired, revoked or mistyped"},
		{"SAML elsewhere", page(403, "required; url=https://evil.example/", `{"message": "Resource protected by organization SAML enforcement."}`), "Configure SSO"},
	} {
		server := httptest.NewServer(test.answer)
		c, err := New(Options{BaseURL: server.URL, Token: "t"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Get(context.Background(), "user", nil)
		if hint := HintOf(err); !strings.Contains(hint, test.want) {
			t.Errorf("%s: %v: %q, want %q", test.name, err, hint, test.want)
		}
		server.Close()
	}
}
