package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestClientIsRefused(t *testing.T) {
	for _, test := range []struct{ url, token, want string }{
		{"", "", "open GitHub: no token"},
		{"", " \n", "open GitHub: no token"},
		{"", "ghs_can ary", "open GitHub: the token holds a space or a character that no token has"},
		{"http://api.github.com", canary, "read API URL: http://api.github.com must be https: the token would travel in the clear"},
		{"http://localhost.evil.example", canary, "read API URL: http://localhost.evil.example must be https: the token would travel in the clear"},
		{"ftp://127.0.0.1", canary, "read API URL: ftp://127.0.0.1 must be https: the token would travel in the clear"},
		{"https://user:hunter2@ghe.example", canary, "read API URL: it must hold no user or password"},
		{"https://user:hunter2@ghe.example:x", canary, "read API URL: ***@ghe.example:x is no URL"},
		{"user:hunter2@ghe.example/api/v3", canary, "read API URL: ***@ghe.example/api/v3 is not of the form https://host/path"},
		{"https:/user:hunter2@ghe.example/", canary, "read API URL: ***@ghe.example/ is not of the form https://host/path"},
		{"https://us er:hun/ter2@ghe.example/", canary, "read API URL: ***@ghe.example/ is no URL"},
		{"https://user:hunter@2@ghe.example:x", canary, "read API URL: ***@ghe.example:x is no URL"},
		{"https://ghe.example?key=hun@ter2", canary, "read API URL: *** is not of the form https://host/path"},
		{"ghe.example/api/v3", canary, "read API URL: ghe.example/api/v3 is not of the form https://host/path"},
		{"https://ghe.example?x", canary, "read API URL: https://ghe.example?... is not of the form https://host/path"},
	} {
		if _, err := New(Options{BaseURL: test.url, Token: test.token}); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.url, err, test.want)
		}
	}
}

func TestPersonalTokens(t *testing.T) {
	for _, test := range []struct {
		token           string
		outside, inside bool
	}{
		{"ghp_x", true, true},
		{"github_pat_x", true, true},
		{"gho_x", true, true},
		{"ghu_x", true, true},
		{"ghs_x", false, false},
		{"0123456789abcdef", true, false},
	} {
		for _, actions := range []bool{false, true} {
			c, err := New(Options{Token: test.token, Actions: actions})
			if want := actions && test.inside || !actions && test.outside; err != nil || c.Personal() != want {
				t.Errorf("%s, in a job: %v: personal is %v (%v)", test.token, actions, c.Personal(), err)
			}
		}
	}
}

func TestURLs(t *testing.T) {
	for _, test := range []struct{ base, rest, graphql string }{
		{"", "https://api.github.com/repos/acme/shop?x=1", "https://api.github.com/graphql"},
		{"https://ghe.example/api/v3", "https://ghe.example/api/v3/repos/acme/shop?x=1", "https://ghe.example/api/graphql"},
		{"https://ghe.example/api/v3/", "https://ghe.example/api/v3/repos/acme/shop?x=1", "https://ghe.example/api/graphql"},
		{"https://api.acme.ghe.com", "https://api.acme.ghe.com/repos/acme/shop?x=1", "https://api.acme.ghe.com/graphql"},
		{"http://127.0.0.1:99", "http://127.0.0.1:99/repos/acme/shop?x=1", "http://127.0.0.1:99/graphql"},
		{"http://[::1]:99", "http://[::1]:99/repos/acme/shop?x=1", "http://[::1]:99/graphql"},
	} {
		w := follows(said{status: 200, body: `{"data":{"n":1}}`})
		c := w.client(t, func(o *Options) { o.BaseURL = test.base })
		_, _, err := get(t, c)
		if err = errors.Join(err, c.GraphQL(t.Context(), "query{n}", map[string]any{"a": 1}, &number{})); err != nil {
			t.Fatal(err)
		}
		if w.heard[0].url != test.rest || w.heard[1].url != test.graphql || w.heard[0].auth != "Bearer "+canary {
			t.Errorf("%s: %+v", test.base, w.heard)
		}
		if want := `{"query":"query{n}","variables":{"a":1}}` + "\n"; w.heard[1].body != want {
			t.Errorf("got %s, want %s", w.heard[1].body, want)
		}
	}
}

// What a request says of itself, whatever a layer did to the one before.
func TestHeaders(t *testing.T) {
	var heard []http.Header
	c := follows().client(t, func(o *Options) {
		o.UserAgent = "quorum/1"
		o.Transport = tripper(func(req *http.Request) (*http.Response, error) {
			heard = append(heard, req.Header.Clone())
			for name := range req.Header {
				req.Header.Set(name, "changed")
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{}`))}, nil
		})
	})
	for range 2 {
		if _, err := c.Send(t.Context(), "POST", "x", number{1}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
	}
	read := http.Header{
		"Accept":               {"application/vnd.github.v3+json"},
		"Authorization":        {"Bearer " + canary},
		"User-Agent":           {"quorum/1"},
		"X-Github-Api-Version": {"2022-11-28"},
	}
	write := read.Clone()
	write.Set("Content-Type", "application/json")
	if d := cmp.Diff([]http.Header{write, read, write, read}, heard); d != "" {
		t.Error(d)
	}
}

func TestPathsStayInTheAPI(t *testing.T) {
	w := follows(fine)
	c := w.client(t, func(o *Options) { o.BaseURL = "https://ghe.example/api/v3" })
	for _, path := range []string{
		"", "https://evil.example/x", "//evil.example/x", "///evil.example/x", "//", "repos/acme/../../x", "repos/%2e%2e/x",
		"mailto:x", "repos/\n", "?x=1",
	} {
		if _, err := c.Get(t.Context(), path, nil); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", path, err)
		}
		if _, err := c.Tail(t.Context(), path, 1); err == nil {
			t.Errorf("%q: log read", path)
		}
	}
	if len(w.heard) > 0 {
		t.Errorf("sent: %+v", w.heard)
	}
	if _, err := c.Get(t.Context(), "/repos/acme/shop", nil); err != nil || w.heard[0].url != "https://ghe.example/api/v3/repos/acme/shop" {
		t.Errorf("a leading slash: %v %+v", err, w.heard)
	}
}

// Faults 1, 2, 3, 5, 6, 7: a read is tried again and says what GitHub says.
func TestReadsOutliveFaults(t *testing.T) {
	html := said{status: 502, body: "<html>Unicorn!</html>", header: []string{"Content-Type: text/html"}}
	for _, test := range []struct {
		title  string
		script []said
		most   time.Duration
	}{
		{"502 once", []said{{status: 502, body: `{"message":"x"}`}, fine}, 500 * time.Millisecond},
		{"503 three times", []said{{status: 503}, {status: 503}, {status: 503}, fine}, 3500 * time.Millisecond},
		{"500 as a page", []said{html, fine}, 500 * time.Millisecond},
		{"reset", []said{reset, fine}, 500 * time.Millisecond},
		{"refused", []said{unreachable, fine}, 500 * time.Millisecond},
		{"EOF", []said{{err: io.EOF}, fine}, 500 * time.Millisecond},
		{"cut in the middle", []said{{status: 200, body: `{"n":`, cut: true}, fine}, 500 * time.Millisecond},
		{"cut where it is JSON", []said{{status: 200, body: `{"n":2}`, cut: true}, fine}, 500 * time.Millisecond},
		{"half a number", []said{{status: 200, body: `{"n":`}, fine}, 500 * time.Millisecond},
		{"a page with 200", []said{{status: 200, body: "<html>"}, fine}, 500 * time.Millisecond},
		{"nothing with 200", []said{{status: 200}, fine}, 500 * time.Millisecond},
		{"null", []said{{status: 200, body: " null\n"}, fine}, 500 * time.Millisecond},
		{"304 to nothing that we have", []said{{status: 304}, fine}, 500 * time.Millisecond},
		{"no answer", []said{{hang: true}, fine}, patience + 500*time.Millisecond},
		{"Retry-After of an outage", []said{{status: 503, header: []string{"Retry-After: 3"}}, fine}, 3 * time.Second},
	} {
		t.Run(test.title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				w := follows(test.script...)
				n, a, err := get(t, w.client(t))
				if err != nil || n != 1 || !a.Changed || a.Status != 200 {
					t.Errorf("got %d, %+v, %v", n, a, err)
				}
				if took := time.Since(began); took > test.most || len(w.heard) != len(test.script) {
					t.Errorf("took %v and %d requests", took, len(w.heard))
				}
			})
		})
	}
}

// Fault 4: an outage ends in an error that says so, after four tries.
func TestOutagesEnd(t *testing.T) {
	for _, s := range []said{{status: 500}, reset, unreachable, {status: 200, body: "<"}, {hang: true}, {status: 304}} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			w := follows(s)
			_, _, err := get(t, w.client(t))
			if !errors.Is(err, ErrTransport) || errors.Is(err, context.DeadlineExceeded) || len(w.heard) != tries {
				t.Errorf("%+v: %d requests, %v", s, len(w.heard), err)
			}
			if took := time.Since(began); took > 3500*time.Millisecond && !s.hang || took > 4*patience+3500*time.Millisecond {
				t.Errorf("%+v: took %v", s, took)
			}
			if !strings.HasPrefix(err.Error(), "GET repos/acme/shop: ") {
				t.Errorf("%+v: %v", s, err)
			}
		})
	}
}

func TestTheCallersContextEndsEverything(t *testing.T) {
	for _, s := range []said{{hang: true}, {status: 503}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := follows(s).client(t).Get(ctx, "x", nil)
			if s.hang && (!errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrTransport)) || err == nil || time.Since(began) > 20*time.Millisecond {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
}

// Faults 8 to 12, as far as the client goes: what may have been carried out is not sent again.
func TestWritesAreSentOnce(t *testing.T) {
	for _, test := range []struct {
		title string
		s     said
		sent  int
	}{
		{"lost answer", said{status: 502}, 1},
		{"reset", reset, 1},
		{"timeout", said{hang: true}, 1},
		{"answer cut off", said{status: 201, body: `{"n":`, cut: true}, 1},
		{"garbage for an answer", said{status: 201, body: `<html>`}, 1},
		{"nothing where an id was to be", said{status: 201}, 1},
		{"never left", unreachable, tries},
	} {
		t.Run(test.title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := follows(test.s)
				_, err := w.client(t).Send(t.Context(), "POST", "repos/acme/shop/check-runs", number{7}, &number{})
				if !errors.Is(err, ErrTransport) || len(w.heard) != test.sent {
					t.Errorf("%d requests, %v", len(w.heard), err)
				}
				for _, h := range w.heard {
					if h.body != "{\"n\":7}\n" {
						t.Errorf("body of a try: %q", h.body)
					}
				}
			})
		})
	}
	w := follows(said{status: 201})
	if a, err := w.client(t).Send(t.Context(), "POST", "repos/acme/shop/actions/runs/1/rerun", nil, nil); err != nil || a.Status != 201 {
		t.Errorf("an answer of nothing, where nothing is wanted: %+v, %v", a, err)
	}
	w = follows(said{status: 204})
	if a, err := w.client(t).Send(t.Context(), "DELETE", "x", nil, &number{}); err != nil || a.Status != 204 {
		t.Errorf("204: %+v, %v", a, err)
	}
}

// Faults 14, 20, 21, 22, 23 and 68: a refusal is told as it is, at once.
// Who may change nothing any more still reads.
func TestWritesNeedTheirContextsPermit(t *testing.T) {
	late := errors.New("too late")
	w := follows(said{status: 200, body: `{"n":1}`})
	c := w.client(t)
	ctx := WithPermit(t.Context(), func() error { return late })
	_, err := c.Send(ctx, "POST", "repos/acme/shop/check-runs", number{7}, &number{})
	if err == nil || !strings.Contains(err.Error(), late.Error()) || len(w.heard) != 0 {
		t.Errorf("a write without a permit: %d requests, %v", len(w.heard), err)
	}
	if _, err := c.Send(ctx, "GET", "repos/acme/shop", nil, &number{}); err != nil || len(w.heard) != 1 {
		t.Errorf("a read without a permit: %d requests, %v", len(w.heard), err)
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		s    said
		want APIError
		text string
		hint string
		is   func(error) bool
	}{
		{
			said{status: 401, body: `{"message":"Bad credentials"}`},
			APIError{Status: 401, Message: "Bad credentials"},
			"GET repos/acme/shop: 401 Bad credentials", "GitHub does not take the token: it is expired, revoked or mistyped",
			IsUnauthorized,
		},
		{
			said{
				status: 403, body: `{"message":"Resource not accessible by integration"}`,
				header: []string{"X-Accepted-GitHub-Permissions: checks=write", "X-RateLimit-Remaining: 0"},
			},
			APIError{Status: 403, Message: "Resource not accessible by integration", Permission: "checks=write", Missing: true},
			"GET repos/acme/shop: 403 Resource not accessible by integration (needs checks=write)",
			"give the token the permission checks=write", IsForbidden,
		},
		{
			said{
				status: 403, body: `{"message":"This workflow is already running"}`,
				header: []string{"X-RateLimit-Remaining: 4900"},
			},
			APIError{Status: 403, Message: "This workflow is already running"},
			"GET repos/acme/shop: 403 This workflow is already running", "", IsForbidden,
		},
		{said{status: 404, body: `{"message":"Not Found"}`}, APIError{Status: 404, Message: "Not Found"}, "GET repos/acme/shop: 404 Not Found", "", IsNotFound},
		{
			said{status: 404, body: `<html>`},
			APIError{Status: 404, Message: "Not Found (a page, and no answer of an API)"},
			"GET repos/acme/shop: 404 Not Found (a page, and no answer of an API)",
			"something else answered: a proxy's page, or a server that is no GitHub", IsNotFound,
		},
		{
			said{status: 409, body: `{"message":"Git Repository is empty."}`},
			APIError{Status: 409, Message: "Git Repository is empty."},
			"GET repos/acme/shop: 409 Git Repository is empty.", "",
			IsConflict,
		},
		{said{status: 410, body: `[]`}, APIError{Status: 410, Message: "Gone"}, "GET repos/acme/shop: 410 Gone", "", IsGone},
		{
			said{
				status: 422,
				body:   `{"message":"Validation Failed","errors":[{"field":"head_sha","code":"invalid"},{"message":"no\ncommit"},"text"]}`,
			},
			APIError{Status: 422, Message: "Validation Failed; head_sha: invalid; no commit; text"},
			"GET repos/acme/shop: 422 Validation Failed; head_sha: invalid; no commit; text", "", IsUnprocessable,
		},
		{
			said{status: 400, body: `{"message":"` + strings.Repeat("é", 500) + `"}`},
			APIError{Status: 400, Message: strings.Repeat("é", 199) + "…"},
			"GET repos/acme/shop: 400 " + strings.Repeat("é", 199) + "…", "", nil,
		},
	} {
		w := follows(test.s)
		_, a, err := get(t, w.client(t))
		test.want.Method, test.want.Path = "GET", "repos/acme/shop"
		var got *APIError
		if !errors.As(err, &got) || len(w.heard) != 1 || a.Status != test.s.status {
			t.Errorf("%+v: %d requests, %v", test.s, len(w.heard), err)
			continue
		}
		if d := cmp.Diff(test.want, *got, cmpopts.IgnoreUnexported(APIError{})); d != "" || err.Error() != test.text || got.Hint() != test.hint {
			t.Errorf("%s%v\nhint: %s", d, err, got.Hint())
		}
		for i, is := range []func(error) bool{IsUnauthorized, IsForbidden, IsNotFound, IsConflict, IsGone, IsUnprocessable} {
			if want := []int{401, 403, 404, 409, 410, 422}[i] == test.s.status; is(fmt.Errorf("x: %w", err)) != want {
				t.Errorf("%v: predicate %d says %v", err, i, !want)
			}
		}
		if errors.Is(err, ErrTransport) || test.is != nil && !test.is(err) {
			t.Errorf("%v is told as something else", err)
		}
	}
}

// Fault 22, threat T27: a renamed repository is followed; the token goes to no other host.
// A read that is answered before there is an answer is no empty list, and a redirect to no address keeps its signature.
func TestAnswersThatAreNone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/moved" {
			w.Header().Set("Location", "http://127.0.0.1:1/x%zz?sig=canary")
			w.WriteHeader(http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `[{"id":1}]`)
	}))
	defer server.Close()
	c, err := New(Options{BaseURL: server.URL, Token: "ghp_x"})
	if err != nil {
		t.Fatal(err)
	}
	var into []struct{ ID int }
	if _, err := c.GetPage(t.Context(), "accepted", false, &into); err == nil || !strings.Contains(err.Error(), "202") {
		t.Errorf("202: %v, %v", into, err)
	}
	if _, err := c.Tail(t.Context(), "moved", 100); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("a redirect to no address: %v", err)
	}
}

func TestRedirects(t *testing.T) {
	to := func(status int, where string) said {
		return said{status: status, header: []string{"Location: " + where}}
	}
	for _, test := range []struct {
		title, method string
		script        []said
		urls          []string
		err           string
	}{
		{
			"renamed", "GET",
			[]said{to(301, "https://api.github.com/repositories/1"), fine},
			[]string{"https://api.github.com/x", "https://api.github.com/repositories/1"},
			"",
		},
		{
			"renamed, relative", "GET",
			[]said{to(307, "/repositories/1"), fine},
			[]string{"https://api.github.com/x", "https://api.github.com/repositories/1"},
			"",
		},
		{
			"a write that was not carried out", "POST",
			[]said{to(307, "/repositories/1"), fine},
			[]string{"https://api.github.com/x", "https://api.github.com/repositories/1"},
			"",
		},
		{
			"a write that would become a read", "POST",
			[]said{to(301, "/repositories/1"), fine},
			[]string{"https://api.github.com/x"},
			"POST x: 301 moved to /repositories/1",
		},
		{
			"another host", "GET",
			[]said{to(301, "https://evil.example/"), fine},
			[]string{"https://api.github.com/x"},
			"GET x: a redirect to another host (evil.example) is not followed",
		},
		{
			"another port", "GET",
			[]said{to(302, "https://api.github.com:444/"), fine},
			[]string{"https://api.github.com/x"},
			"GET x: a redirect to another host (api.github.com:444) is not followed",
		},
		{
			"in the clear", "GET",
			[]said{to(302, "http://api.github.com/"), fine},
			[]string{"https://api.github.com/x"},
			"GET x: a redirect to another host (api.github.com) is not followed",
		},
		{
			"a write to another host", "PATCH",
			[]said{to(308, "https://evil.example/"), fine},
			[]string{"https://api.github.com/x"},
			"PATCH x: a redirect to another host (evil.example) is not followed",
		},
		{"nowhere", "GET", []said{{status: 302}}, []string{"https://api.github.com/x"}, "GET x: a 302 without a place to go"},
	} {
		t.Run(test.title, func(t *testing.T) {
			w := follows(test.script...)
			_, err := w.client(t).Send(t.Context(), test.method, "x", number{7}, &number{})
			var urls []string
			for _, h := range w.heard {
				urls = append(urls, h.url)
				if h.body != "{\"n\":7}\n" && h.method != "GET" {
					t.Errorf("the body got lost: %+v", h)
				}
			}
			if d := cmp.Diff(test.urls, urls); d != "" || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("%v\n%s", err, d)
			}
		})
	}
	w := follows(to(301, "/x"))
	if _, err := w.client(t).Get(t.Context(), "x", nil); err == nil || len(w.heard) != hops {
		t.Errorf("a circle: %d requests, %v", len(w.heard), err)
	}
}

// Threat T27: wherever 1,000 redirects of any kind lead, only the API's host ever sees the token.
func TestNoOtherHostSeesTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(27, 1))
		pick := func(words ...string) string { return words[random.IntN(len(words))] }
		elsewhere := 0
		for range 1000 {
			where := pick(
				"https://api.github.com",
				"https://api.github.com.evil.example",
				"https://api.github.com@evil.example",
				"https://evil.example",
				"//evil.example",
				"http://api.github.com",
				"https://api.github.com:8443",
				"",
				"\\\\evil.example",
				"https://xn--e1a.example",
			) + pick(
				"/x",
				"/repos/acme/shop",
				"",
				"/..//evil.example",
			)
			status, _ := strconv.Atoi(pick("301", "302", "303", "307", "308"))
			away := said{status: status, header: []string{"Location: " + where}}
			read, log := follows(away, away, fine), follows(away, away, fine)
			if _, err := read.client(t).Send(t.Context(), pick("GET", "POST", "PATCH"), "x", nil, nil); err == nil && len(read.heard) < 3 {
				t.Errorf("%d to %q: no redirect, no error", status, where)
			}
			log.client(t).Tail(t.Context(), "x", 9)
			for _, h := range append(read.heard, log.heard...) {
				if u, err := url.Parse(h.url); err != nil || u.Scheme != "https" || u.Host != "api.github.com" {
					elsewhere++
					if h.auth != "" {
						t.Errorf("%d to %q: %s saw the token", status, where, h.url)
					}
				}
			}
		}
		if elsewhere < 100 {
			t.Errorf("only %d requests went elsewhere: the test does not test", elsewhere)
		}
	})
}

// Fault 25 and the promise of the cache: what is unchanged costs nothing, and nothing else is ever in it.
func TestConditionalRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tag := []string{`Etag: "a"`, `Link: <https://api.github.com/repos/acme/shop?x=1&page=2>; rel="next"`}
		w := follows(
			said{status: 200, body: `{"n":9}`, header: []string{`Etag: "broken"`}, cut: true},
			said{status: 200, body: `{"n":`, header: []string{`Etag: "broken"`}},
			said{status: 200, body: `{"n":1}`, header: tag},
			said{status: 304},
			said{status: 502},
			said{status: 304},
			said{status: 200, body: `{"n":2}`, header: []string{`Etag: "b"`}},
			said{status: 304},
		)
		c := w.client(t)
		for i, want := range []struct {
			n       int
			changed bool
			next    string
		}{
			{1, true, "repos/acme/shop?page=2&x=1"},
			{1, false, "repos/acme/shop?page=2&x=1"},
			{1, false, "repos/acme/shop?page=2&x=1"},
			{2, true, ""},
			{2, false, ""},
		} {
			n, a, err := get(t, c)
			if err != nil || n != want.n || a.Changed != want.changed || a.Next != want.next || a.Status != 200 {
				t.Errorf("look %d: %d, %+v, %v", i, n, a, err)
			}
		}
		var conditions []string
		for _, h := range w.heard {
			conditions = append(conditions, h.condition)
		}
		if d := cmp.Diff([]string{"", "", "", `"a"`, `"a"`, `"a"`, `"a"`, `"b"`}, conditions); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(Counts{Sent: 8, NotModified: 3, Methods: map[string]int{"GET": 8}}, c.Requests()); d != "" {
			t.Error(d)
		}
	})
}

func TestAnAnswerOfAnotherShapeIsForgotten(t *testing.T) {
	w := follows(said{status: 200, body: `[]`, header: []string{`Etag: "list"`}}, fine)
	c := w.client(t)
	if _, _, err := get(t, c); !errors.Is(err, ErrTransport) {
		t.Errorf("a list for an object: %v", err)
	}
	if n, _, err := get(t, c); err != nil || n != 1 || w.heard[1].condition != "" {
		t.Errorf("%d, %v, %+v", n, err, w.heard)
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	s := newMemoryCache()
	for i := range 12 {
		key := fmt.Sprint(i)
		s.Put(key, make([]byte, maxCached/10))
		s.Put(key, make([]byte, maxCached/10)) // again: counted once
	}
	s.Forget("11")
	s.Put("small", []byte("1"))
	for key, want := range map[string]bool{"0": false, "9": false, "10": true, "11": false, "small": true} { // ten of them at most
		if _, got := s.Get(key); got != want {
			t.Errorf("%s is there: %v", key, got)
		}
	}
}

func TestPages(t *testing.T) {
	for _, test := range []struct{ link, next string }{
		{
			`<https://api.github.com/repositories/1/pulls?page=1>; rel="prev", ` +
				`<https://api.github.com/repositories/1/pulls?a=b%2Cc&page=3>; rel="next", ` +
				`<https://api.github.com/x?page=9>; rel="last"`,
			"repos/acme/shop?page=3&x=1",
		},
		{`<https://api.github.com/x?cursor=v1_9&per_page=2>; rel="next"`, "repos/acme/shop?cursor=v1_9&x=1"},
		{`<https://api.github.com/x?after=Y3Vy%3D&per_page=2>; rel="next"`, "repos/acme/shop?after=Y3Vy%3D&x=1"},
		{`<https://evil.example/login?page=2>; rel="next"`, "repos/acme/shop?page=2&x=1"}, // a page of the list that was asked for
		{`<https://api.github.com/x?page=1>; rel="first"`, ""},
		{``, ""},
		{`<https://api.github.com/x?page=2>; rel=next`, "error"},
		{`<https://api.github.com/x?q=a,b&page=2>; rel="next"`, "error"},
		{`<https://api.github.com/x?page=two>; rel="next"`, "error"},
		{`<https://api.github.com/x>; rel="next"`, "error"},
		{`<http://[>; rel="next"`, "error"},
	} {
		w := follows(said{status: 200, body: `{}`, header: []string{"Link: " + test.link}})
		_, a, err := get(t, w.client(t))
		if test.next == "error" && !errors.Is(err, ErrTransport) || test.next != "error" && (err != nil || a.Next != test.next) {
			t.Errorf("%s: %q, %v", test.link, a.Next, err)
		}
	}
}

func TestGraphQL(t *testing.T) {
	for _, test := range []struct {
		title, body string
		sent        int
		want        string
		is          func(error) bool
	}{
		{"data", `{"data":{"n":1}}`, 1, "", nil},
		{"partial data", `{"data":{"n":1},"errors":[{"type":"SOMETHING","message":"no\nidea"}]}`, 1, "POST graphql: 200 no idea", nil},
		{
			"no such pull request", `{"data":{"n":null},"errors":[{"type":"NOT_FOUND","message":"Could not resolve"}]}`, 1,
			"POST graphql: 404 Could not resolve", IsNotFound,
		},
		{
			"no permission", `{"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`, 1,
			"POST graphql: 403 Resource not accessible by integration", IsForbidden,
		},
		{
			"too slow",
			`{"data":null,"errors":[{"message":"Something went wrong while executing your query. This may be the result of a timeout"}]}`,
			tries, "POST graphql: GraphQL gave no answer in time", func(err error) bool { return errors.Is(err, ErrTransport) },
		},
		{"no data", `{"data":null}`, tries, "POST graphql: answer holds no data", func(err error) bool { return errors.Is(err, ErrTransport) }},
		{
			"data that is cut off", `{"data":{"n":1}`, tries, "POST graphql: answer is not GraphQL's",
			func(err error) bool { return errors.Is(err, ErrTransport) },
		},
		{
			"data that is no JSON", `{"data":{"n":01}}`, tries, "POST graphql: answer is not GraphQL's",
			func(err error) bool { return errors.Is(err, ErrTransport) },
		},
		{"another shape", `{"data":[]}`, 1, "", func(err error) bool { return errors.Is(err, ErrTransport) }},
	} {
		t.Run(test.title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := follows(said{status: 200, body: test.body})
				var n number
				err := w.client(t).GraphQL(t.Context(), "query{n}", nil, &n)
				if len(w.heard) != test.sent || test.want != "" && (err == nil || err.Error() != test.want) || test.is != nil && !test.is(err) ||
					(n.N == 1) != (err == nil) {
					t.Errorf("%d requests, %v, read %d", len(w.heard), err, n.N)
				}
				for _, h := range w.heard {
					if h.body != "{\"query\":\"query{n}\"}\n" {
						t.Errorf("body of a try: %q", h.body)
					}
				}
			})
		})
	}
	w := follows(fine)
	if err := w.client(t).GraphQL(t.Context(), "\n mutation{x}", nil, nil); err == nil || len(w.heard) > 0 {
		t.Errorf("a mutation: %v, %d requests", err, len(w.heard))
	}
}

func TestSkew(t *testing.T) {
	for _, test := range []struct{ off, took, least, most time.Duration }{
		{0, 0, 0, 0},
		{2 * time.Second, 0, 0, 0},
		{-2 * time.Second, 0, 0, 0},
		{5 * time.Minute, 0, 5*time.Minute - time.Second, 5*time.Minute + time.Second},
		{-5 * time.Minute, 0, -5*time.Minute - time.Second, -5*time.Minute + time.Second},
		{10 * time.Second, 19 * time.Second, 0, 0}, // the answer was slow: nobody knows
	} {
		synctest.Test(t, func(t *testing.T) {
			w := follows(fine)
			c := w.client(t, func(o *Options) {
				o.Transport = tripper(func(req *http.Request) (*http.Response, error) {
					resp, err := w.RoundTrip(req)
					resp.Header.Set("Date", time.Now().Add(test.off).UTC().Format(http.TimeFormat))
					<-time.After(test.took)
					return resp, err
				})
			})
			_, a, err := get(t, c)
			if got := c.Skew(); err != nil || got < test.least || got > test.most || a.Date.IsZero() {
				t.Errorf("off by %v, took %v: %v, %v", test.off, test.took, got, err)
			}
			first := c.Skew()
			<-time.After(300 * time.Millisecond)
			if get(t, c); c.Skew() != first {
				t.Errorf("the same offset is told as %v, then as %v", first, c.Skew())
			}
		})
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Over real connections, many at once: every answer belongs to its request, and GitHub never sees more than it should.
func TestManyAtOnce(t *testing.T) {
	var now, most, hits atomic.Int64
	var once sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if _, again := once.LoadOrStore(r.URL.Path, true); !again { // each fails once, in the middle of the body
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"n":`)
			return
		}
		hits.Add(1)
		tag := `"` + r.URL.Path + `"`
		w.Header().Set("Etag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprintf(w, `{"n":%s}`, strings.TrimPrefix(r.URL.Path, "/"))
	}))
	defer server.Close()
	c, err := New(Options{BaseURL: server.URL, Token: canary})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for look := range 2 {
				var n number
				a, err := c.Get(t.Context(), fmt.Sprint(i+1), &n)
				if err != nil || n.N != i+1 || a.Changed != (look == 0) {
					t.Errorf("%d: %d, %+v, %v", i+1, n.N, a, err)
				}
			}
		})
	}
	wg.Wait()
	if hits.Load() != 128 || most.Load() > atOnce || c.Requests().Sent != 192 || c.Requests().NotModified != 64 {
		t.Errorf("%d answers, %d at once, %+v", hits.Load(), most.Load(), c.Requests())
	}
}

func TestAClosedConnectionIsNoSecondWrite(t *testing.T) {
	var posts atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			posts.Add(1)
			conn, _, _ := w.(http.Hijacker).Hijack()
			conn.Close()
			return
		}
		io.WriteString(w, `{"n":1}`)
	}))
	defer server.Close()
	c, err := New(Options{BaseURL: server.URL, Token: canary})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := get(t, c); err != nil { // so that the POST finds an idle connection
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), "POST", "x", json.RawMessage(`{}`), nil); !errors.Is(err, ErrTransport) || posts.Load() != 1 {
		t.Errorf("%d posts, %v", posts.Load(), err)
	}
}
