package client

// Answers that the conditional layer remembers, and the form in which they are kept, in memory or outside this process.
// Losing one costs a full read, no more.

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	ghtransport "github.com/bored-engineer/github-conditional-http-transport"
)

// maxKeptAnswer is how many bytes an answer may have that is remembered.
const maxKeptAnswer = 8 << 20

// A ResponseCache remembers answers of GitHub by opaque keys, as long and as well as it likes. What it returns for a
// key is what was put for it, byte for byte. It is used by several goroutines.
type ResponseCache interface {
	Get(key string) ([]byte, bool) // the caller does not change the result
	Put(key string, value []byte)  // value is the caller's again afterwards
	Forget(key string)
}

// A responseStorage implements ghtransport.Storage on a ResponseCache, where an answer stands as HTTP/1.1 sends it. Only
// the layer above [wholeReader] writes to it: all of it was read to its end and is JSON. Keys include the installation:
// answers must not leak between installations.
type responseStorage struct {
	cache  ResponseCache
	tenant func() int64
}

func (s *responseStorage) cacheKey(url string) string {
	return strconv.FormatInt(s.tenant(), 10) + " " + url
}

// Get returns what is remembered of req's URL, or nil.
func (s *responseStorage) Get(_ context.Context, req *http.Request) (*http.Response, error) {
	key := s.cacheKey(req.URL.String())
	value, found := s.cache.Get(key)
	if !found {
		return nil, nil // as the interface asks for
	}
	resp := readKept(value, req)
	if resp == nil {
		s.cache.Forget(key)
	}
	return resp, nil
}

// readKept is the answer that Put remembered; nil: the bytes are none.
func readKept(value []byte, req *http.Request) *http.Response {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(value)), req)
	if err != nil {
		return nil
	}
	if _, err := bufferBody(resp); err != nil || resp.StatusCode != http.StatusOK {
		return nil
	}
	return resp
}

// Put remembers resp, whose status is 200, and gives it its body back.
func (s *responseStorage) Put(_ context.Context, resp *http.Response) error {
	body, err := bufferBody(resp)
	if err != nil {
		return fmt.Errorf("read answer: %w", err) // unreachable unless a layer was put between us and wholeReader
	}
	key := s.cacheKey(resp.Request.URL.String())
	if len(body) > maxKeptAnswer {
		s.cache.Forget(key)
		return nil
	}
	kept := http.Response{
		StatusCode: resp.StatusCode, ProtoMajor: 1, ProtoMinor: 1, Header: resp.Header.Clone(),
		Body: bodyOf(body), ContentLength: int64(len(body)),
	}
	maps.DeleteFunc(kept.Header, func(name string, _ []string) bool { return !isKeptHeader(name) })
	var packed bytes.Buffer
	packed.Grow(len(body) + 1<<10)
	if err := kept.Write(&packed); err != nil {
		return fmt.Errorf("remember answer: %w", err) // unreachable: it is written to memory
	}
	s.cache.Put(key, packed.Bytes())
	return nil
}

// forget drops an answer that turned out to be of no use.
func (s *responseStorage) forget(url string) { s.cache.Forget(s.cacheKey(url)) }

// isKeptHeader says which headers of an answer outlive it. Its Date and its limits do not: they would pass for those of
// the 304.
func isKeptHeader(name string) bool {
	switch name {
	case "Etag", "Link", "Last-Modified", "Content-Type", "Vary":
		return true
	}
	return strings.HasPrefix(name, ghtransport.VaryPrefix)
}
