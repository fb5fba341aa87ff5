package client

// Answers that are remembered outside this process, and the form in which they are stored. Losing one costs a full read; taking one for
// another would be a lie, so each carries a sum over itself and the key under which it belongs.

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	ghtransport "github.com/bored-engineer/github-conditional-http-transport"
)

// ResponseCache remember answers of GitHub by opaque keys, as long and as well as they like. They are used by several goroutines.
type ResponseCache interface {
	Get(key string) ([]byte, bool) // the caller does not change the result
	Put(key string, value []byte)  // value is the caller's again afterwards
	Forget(key string)
}

// A storedCache implements ghtransport.Storage on Answers. The tenant is in every key: what one may see is nothing for another.
type storedCache struct {
	answers ResponseCache
	tenant  func() int64
	buffers *sync.Pool // of *[]byte, to pack answers in
}

func (s *storedCache) cacheKey(url string) string {
	return strconv.FormatInt(s.tenant(), 10) + " " + url
}

// Get returns what is remembered of req's URL, or nil.
func (s *storedCache) Get(_ context.Context, req *http.Request) (*http.Response, error) {
	key := s.cacheKey(req.URL.String())
	value, found := s.answers.Get(key)
	if !found {
		return nil, nil // as the interface asks for
	}
	status, header, body, ok := unpackAnswer(key, value)
	if !ok {
		s.answers.Forget(key)
		return nil, nil
	}
	return &http.Response{StatusCode: status, Header: header, Body: bodyOf(body), ContentLength: int64(len(body)), Request: req}, nil
}

// Put remembers resp and gives it its body back.
func (s *storedCache) Put(_ context.Context, resp *http.Response) error {
	body, err := bufferBody(resp)
	if err != nil {
		return fmt.Errorf("read answer: %w", err) // unreachable unless a layer was put between us and whole
	}
	if len(body) > maxCached/8 {
		return nil
	}
	key := s.cacheKey(resp.Request.URL.String())
	room := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(room)
	*room = packAnswer((*room)[:0], key, resp.StatusCode, resp.Header, body)
	s.answers.Put(key, *room)
	return nil
}

func (s *storedCache) forget(url string) { s.answers.Forget(s.cacheKey(url)) }

// answerVersion is the first byte of a stored answer.
const answerVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// isKeptHeader says which headers of an answer outlive it. Its Date and its limits do not: they would pass for those of the 304.
func isKeptHeader(name string) bool {
	switch name {
	case "Etag", "Link", "Last-Modified", "Content-Type", "Vary":
		return true
	}
	return strings.HasPrefix(name, ghtransport.VaryPrefix)
}

// packAnswer writes into out, which is empty: version, sum over key and the rest, status, headers as counted pairs of
// counted strings, body.
func packAnswer(out []byte, key string, status int, header http.Header, body []byte) []byte {
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
	out = append(slices.Grow(out, size), answerVersion, 0, 0, 0, 0)
	out = binary.AppendUvarint(out, uint64(status))
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
	out = append(out, body...)
	binary.LittleEndian.PutUint32(out[1:], answerSum(key, out[5:]))
	return out
}

func answerSum(key string, rest []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(key), castagnoli), castagnoli, rest)
}

// unpackAnswer reads what packAnswer wrote for key; anything else is not ok.
func unpackAnswer(key string, value []byte) (status int, header http.Header, body []byte, ok bool) {
	if len(value) < 5 || value[0] != answerVersion || binary.LittleEndian.Uint32(value[1:]) != answerSum(key, value[5:]) {
		return 0, nil, nil, false
	}
	rest := value[5:]
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
	ok = true
	status = number()
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
	return status, header, rest, ok && status == http.StatusOK
}
