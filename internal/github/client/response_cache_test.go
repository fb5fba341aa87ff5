package client

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// paper is a disk.
type paper struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (p *paper) Get(key string) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, ok := p.kept[key]
	return value, ok
}

func (p *paper) Put(key string, value []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept[key] = bytes.Clone(value)
}

func (p *paper) Forget(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.kept, key)
}

func (p *paper) copy() map[string][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.kept)
}

// What was remembered comes back, but for what is true of its moment only; what is cut off does not.
func TestPackedAnswers(t *testing.T) {
	header := http.Header{
		"Etag":                  {`W/"1"`},
		"Link":                  {`<https://api.github.com/x?page=2>; rel="next"`},
		"Date":                  {"Mon, 05 Jan 2026 09:00:00 GMT"},
		"X-Ratelimit-Remaining": {"7"},
		"Vary":                  {"Accept", "Cookie"},
	}
	const text = `{"n":1}`
	disk := &paper{kept: map[string][]byte{}}
	s := &responseStorage{cache: disk, tenant: func() int64 { return 0 }}
	req := httptest.NewRequest(http.MethodGet, "http://x/y", nil)
	if err := s.Put(t.Context(), &http.Response{StatusCode: 200, Header: header, Body: bodyOf([]byte(text)), Request: req}); err != nil {
		t.Fatal(err)
	}
	value := disk.copy()["0 http://x/y"]
	got, err := s.Get(t.Context(), req)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	body, err := bufferBody(got)
	want := http.Header{ // a limit or a Date of then would pass for one of now
		"Etag": header["Etag"], "Link": header["Link"], "Vary": header["Vary"], "Content-Length": {"7"},
	}
	if d := cmp.Diff(want, got.Header); d != "" || err != nil || string(body) != text {
		t.Error(string(body), err, d)
	}
	for i := range len(value) {
		disk.Put("0 http://x/y", value[:i])
		if got, err := s.Get(t.Context(), req); got != nil || err != nil {
			t.Errorf("cut at %d: %v, %v", i, got, err)
		}
	}
}

// One tenant's answer is nothing to another, and one that is too long replaces the one before: by nothing.
func TestAnswersOfTenantsAreApart(t *testing.T) {
	tenant := int64(1)
	s := &responseStorage{cache: newMemoryCache(), tenant: func() int64 { return tenant }}
	req := httptest.NewRequest(http.MethodGet, "http://x/y", nil)
	put := func(size int) {
		body := bodyOf(bytes.Repeat([]byte("1"), size))
		if err := s.Put(t.Context(), &http.Response{StatusCode: 200, Body: body, Request: req}); err != nil {
			t.Fatal(err)
		}
	}
	is := func(want bool) {
		t.Helper()
		if resp, err := s.Get(t.Context(), req); (resp != nil) != want || err != nil {
			t.Error(resp, err)
		}
	}
	put(1)
	is(true)
	tenant = 2
	is(false)
	put(maxKeptAnswer)
	is(true)
	put(maxKeptAnswer + 1)
	is(false)
	tenant = 1
	is(true)
}

// An answer is conditional after a restart, and a spoiled one is a miss.
func TestAnswersOutliveTheProcess(t *testing.T) {
	disk := &paper{kept: map[string][]byte{}}
	with := func(o *Options) { o.Cache = disk }
	w := follows(
		said{status: 200, body: `{"n":1}`, header: []string{`Etag: "a"`, `Link: <https://api.github.com/x?page=2>; rel="next"`}},
		said{status: 304},
		said{status: 200, body: `{"n":2}`},
	)
	if n, _, err := get(t, w.client(t, with)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n, a, err := get(t, w.client(t, with)); n != 1 || err != nil || a.Changed || a.Next != "repos/acme/shop?page=2&x=1" || w.heard[1].condition != `"a"` {
		t.Errorf("%d, %+v, %v, %+v", n, a, err, w.heard)
	}
	for key, value := range disk.copy() {
		if key != "0 https://api.github.com/repos/acme/shop?x=1" || bytes.Contains(value, []byte(canary)) {
			t.Errorf("stored %q under %s", value, key)
		}
		disk.Put(key, value[1:])
	}
	if n, _, err := get(t, w.client(t, with)); n != 2 || err != nil || w.heard[2].condition != "" || len(disk.copy()) != 0 {
		t.Errorf("%d, %v, %+v", n, err, w.heard[2])
	}
}

func FuzzRememberedAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nEtag: x\r\n\r\n{}"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, value []byte) {
		s := &responseStorage{cache: &paper{kept: map[string][]byte{"0 http://x/y": value}}, tenant: func() int64 { return 0 }}
		resp, err := s.Get(t.Context(), httptest.NewRequest(http.MethodGet, "http://x/y", nil))
		if err != nil {
			t.Error(err)
		}
		if resp == nil {
			return
		}
		if body, err := bufferBody(resp); err != nil || len(body) > len(value) {
			t.Error(len(body), err)
		}
	})
}
