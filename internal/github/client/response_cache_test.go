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

// What was packed comes back, but for what is true of its moment only; what is cut off before the body does not.
func TestPackedAnswers(t *testing.T) {
	header := http.Header{
		"Etag":                  {`W/"1"`},
		"Link":                  {`<https://api.github.com/x?page=2>; rel="next"`},
		"Date":                  {"Mon, 05 Jan 2026 09:00:00 GMT"},
		"X-Ratelimit-Remaining": {"7"},
		"Vary":                  {"Accept", "Cookie"},
	}
	const text = `{"n":1}`
	value := packAnswer(nil, header, []byte(text))
	got, body, ok := unpackAnswer(value)
	want := http.Header{"Etag": header["Etag"], "Link": header["Link"], "Vary": header["Vary"]} // a limit or a Date of then would pass for one of now
	if d := cmp.Diff(want, got); d != "" || !ok || string(body) != text {
		t.Error(string(body), ok, d)
	}
	for i := range len(value) - len(text) {
		if _, _, ok := unpackAnswer(value[:i]); ok {
			t.Errorf("cut at %d", i)
		}
	}
}

// One tenant's answer is nothing to another, and one that is too long replaces the one before: by nothing.
func TestAnswersOfTenantsAreApart(t *testing.T) {
	tenant := int64(1)
	s := &responseStorage{cache: newMemoryCache(), tenant: func() int64 { return tenant }, buffers: &sync.Pool{New: func() any { return new([]byte) }}}
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
	if n, a, err := get(t, w.client(t, with)); n != 1 || err != nil || a.Changed || a.Next != "x?page=2" || w.heard[1].condition != `"a"` {
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

func FuzzUnpackAnswer(f *testing.F) {
	f.Add([]byte{answerVersion, 1, 4, 'E', 't', 'a', 'g', 1, 'x'})
	f.Add(packAnswer(nil, http.Header{"Etag": {"x"}}, []byte("{}")))
	f.Fuzz(func(t *testing.T, value []byte) {
		if header, body, ok := unpackAnswer(value); ok && len(header)+len(body) > len(value) {
			t.Error(header, len(body))
		}
	})
}
