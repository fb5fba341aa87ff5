package client

import (
	"bytes"
	"encoding/binary"
	"maps"
	"net/http"
	"slices"
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

// What was stored comes back; what was changed, cut off, or stored under another key does not.
func TestAnswersOnDisk(t *testing.T) {
	header := http.Header{
		"Etag":                  {`W/"1"`},
		"Link":                  {`<https://api.github.com/x?page=2>; rel="next"`},
		"Date":                  {"Mon, 05 Jan 2026 09:00:00 GMT"},
		"X-Ratelimit-Remaining": {"7"},
		"Vary":                  {"Accept", "Cookie"},
	}
	value := packAnswer(nil, "7 u", 200, header, []byte(`{"n":1}`))
	status, got, body, ok := unpackAnswer("7 u", value)
	want := http.Header{"Etag": header["Etag"], "Link": header["Link"], "Vary": header["Vary"]} // a limit or a Date of then would pass for one of now
	if d := cmp.Diff(want, got); d != "" || !ok || status != 200 || string(body) != `{"n":1}` {
		t.Error(status, string(body), ok, d)
	}
	if _, _, _, ok := unpackAnswer("8 u", value); ok {
		t.Error("an answer to another tenant")
	}
	for i := range value {
		bad := slices.Clone(value)
		bad[i] ^= 0x10
		if _, _, _, ok := unpackAnswer("7 u", bad); ok {
			t.Errorf("byte %d is wrong", i)
		}
		if _, _, _, ok := unpackAnswer("7 u", value[:i]); ok {
			t.Errorf("cut at %d", i)
		}
	}
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
	f.Add([]byte{1, 200, 1, 1, 4, 'E', 't', 'a', 'g', 1, 'x'})
	f.Add(packAnswer(nil, "k", 200, http.Header{"Etag": {"x"}}, []byte("{}"))[5:])
	f.Fuzz(func(t *testing.T, rest []byte) {
		value := append([]byte{answerVersion, 0, 0, 0, 0}, rest...)
		binary.LittleEndian.PutUint32(value[1:], answerSum("k", rest))
		if status, _, body, ok := unpackAnswer("k", value); ok && (status != 200 || len(body) > len(rest)) {
			t.Error(status, len(body))
		}
	})
}
