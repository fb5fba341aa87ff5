package client

// Answers that the conditional layer remembers, and the form in which they are kept, in memory or outside this process.
// Losing one costs a full read, no more.

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

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

// A responseStorage implements ghtransport.Storage on a ResponseCache. Only the layer above [wholeReader] writes to it:
// what is in it was read to its end and is JSON. The tenant is in every key: what one may see is nothing for another.
type responseStorage struct {
	cache   ResponseCache
	tenant  func() int64
	buffers *sync.Pool // of *[]byte, to pack answers in
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
	header, body, ok := unpackAnswer(value)
	if !ok {
		s.cache.Forget(key)
		return nil, nil
	}
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Header: header, Body: bodyOf(body), ContentLength: int64(len(body)), Request: req,
	}, nil
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
	buffer := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buffer)
	*buffer = packAnswer((*buffer)[:0], resp.Header, body)
	s.cache.Put(key, *buffer)
	return nil
}

// forget drops an answer that turned out to be of no use.
func (s *responseStorage) forget(url string) { s.cache.Forget(s.cacheKey(url)) }

// answerVersion is the first byte of a packed answer. One with another is a miss.
const answerVersion = 2

// isKeptHeader says which headers of an answer outlive it. Its Date and its limits do not: they would pass for those of
// the 304.
func isKeptHeader(name string) bool {
	switch name {
	case "Etag", "Link", "Last-Modified", "Content-Type", "Vary":
		return true
	}
	return strings.HasPrefix(name, ghtransport.VaryPrefix)
}

// packAnswer writes into out, which is empty: version, headers as counted pairs of counted strings, body.
func packAnswer(out []byte, header http.Header, body []byte) []byte {
	size, pairs := 16+len(body), 0
	for name, values := range header {
		if !isKeptHeader(name) {
			continue
		}
		for _, v := range values {
			size += len(name) + len(v) + 2*binary.MaxVarintLen32
			pairs++
		}
	}
	out = append(slices.Grow(out, size), answerVersion)
	out = binary.AppendUvarint(out, uint64(pairs))
	for name, values := range header {
		if !isKeptHeader(name) {
			continue
		}
		for _, v := range values {
			out = append(binary.AppendUvarint(out, uint64(len(name))), name...)
			out = append(binary.AppendUvarint(out, uint64(len(v))), v...)
		}
	}
	return append(out, body...)
}

// unpackAnswer reads what packAnswer wrote; anything else is not ok.
func unpackAnswer(value []byte) (header http.Header, body []byte, ok bool) {
	if len(value) == 0 || value[0] != answerVersion {
		return nil, nil, false
	}
	rest := value[1:]
	ok = true
	number := func() (n int) {
		v, size := binary.Uvarint(rest)
		if ok = ok && size > 0 && v <= maxAnswer; !ok {
			return 0
		}
		rest = rest[size:]
		return int(v)
	}
	text := func() (s string) {
		n := number()
		if ok = ok && n <= len(rest); !ok {
			return ""
		}
		s, rest = string(rest[:n]), rest[n:]
		return s
	}
	header = http.Header{}
	for range number() {
		name := text()
		if v := text(); ok {
			header[name] = append(header[name], v)
		}
		if !ok {
			break
		}
	}
	return header, rest, ok
}
