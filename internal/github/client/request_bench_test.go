package client

// What a request costs this process, the wire left out.

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// echo is a GitHub that answers each URL with the same, and knows what it has answered.
type echo struct{ body []byte }

func (e *echo) RoundTrip(req *http.Request) (*http.Response, error) {
	h := http.Header{
		"Date": {
			"Mon, 05 Jan 2026 09:00:00 GMT",
		}, "Etag": {`W/"5ca1ab1e"`}, "Vary": {"Accept, Authorization, Cookie, X-GitHub-OTP,Accept-Encoding, Accept, X-Requested-With"},
		"Content-Type": {"application/json; charset=utf-8"}, "X-Github-Request-Id": {"1234:5678"}, "X-Github-Media-Type": {"github.v3"},
		"X-Ratelimit-Limit": {
			"5000",
		}, "X-Ratelimit-Remaining": {"4999"}, "X-Ratelimit-Used": {"1"}, "X-Ratelimit-Reset": {"1767607200"}, "X-Ratelimit-Resource": {"core"},
		"Cache-Control": {"private, max-age=60, s-maxage=60"}, "X-Content-Type-Options": {"nosniff"}, "Server": {"github.com"},
	}
	if req.Header.Get("If-None-Match") != "" {
		return &http.Response{StatusCode: 304, Header: h, Body: http.NoBody, Request: req}, nil
	}
	return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(bytes.NewReader(e.body)), ContentLength: int64(len(e.body)), Request: req}, nil
}

// oneComment is a comment as far as it is read.
type oneComment struct {
	ID   int64 `json:"id"`
	User *struct {
		Login string `json:"login"`
		ID    int64  `json:"id"`
		Type  string `json:"type"`
	} `json:"user"`
	Body    string    `json:"body"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
	URL     string    `json:"html_url"`

	_ string // a client keeps more than is read
}

func BenchmarkRequest(b *testing.B) {
	comment := `{"id":12345,"user":{"login":"somebody","id":1,"type":"User"},"body":"` + strings.Repeat(
		"words and words ",
		60,
	) + `","created_at":"2026-01-05T09:00:00Z","html_url":"https://github.com/acme/shop/pull/7#issuecomment-12345"}`
	body := []byte("[" + strings.Repeat(comment+",", 9) + comment + "]") // 11 KB
	at := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for _, kind := range []string{"200", "304", "304 from disk"} {
		b.Run(kind, func(b *testing.B) {
			o := Options{Token: canary, Transport: &echo{body}, Reserve: true, Now: func() time.Time { at = at.Add(100 * time.Millisecond); return at }}
			if kind == "304 from disk" {
				o.Cache = &paper{kept: map[string][]byte{}}
			}
			c, err := New(o)
			if err != nil {
				b.Fatal(err)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				if kind == "200" {
					i++
				}
				var all []oneComment
				if _, err := c.Get(b.Context(), fmt.Sprintf("repos/acme/shop/issues/%d/comments?per_page=100", i), &all); err != nil || len(all) != 10 {
					b.Fatal(err)
				}
			}
		})
	}
}
