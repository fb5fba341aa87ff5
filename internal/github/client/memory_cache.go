package client

// Answers that the conditional layer remembers in memory, within a bound. Losing one costs a full read, no more.

import (
	queue "container/list"
	"context"
	"fmt"
	"net/http"
	"sync"
)

// maxCached bounds the bytes of all remembered answers together. An answer that would take an eighth of it is not kept.
const maxCached = 64 << 20

// A memoryCache implements ghtransport.Storage. Only the layer above [whole] writes to it: what is in it was read to its end
// and is JSON.
type memoryCache struct {
	mu      sync.Mutex
	size    int
	entries map[string]*queue.Element
	order   queue.List // of entry, the one used last in front
}

type cachedResponse struct {
	url    string
	status int
	header http.Header
	body   []byte
}

func newMemoryCache() *memoryCache { return &memoryCache{entries: make(map[string]*queue.Element)} }

// Get returns what is remembered of req's URL, or nil.
func (s *memoryCache) Get(_ context.Context, req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.entries[req.URL.String()]
	if !ok {
		return nil, nil // as the interface asks for
	}
	s.order.MoveToFront(at)
	e := at.Value.(cachedResponse)
	return &http.Response{
		StatusCode:    e.status,
		Status:        fmt.Sprintf("%d %s", e.status, http.StatusText(e.status)),
		Header:        e.header.Clone(),
		Body:          bodyOf(e.body),
		ContentLength: int64(len(e.body)),
		Request:       req,
	}, nil
}

// Put remembers resp and gives it its body back.
func (s *memoryCache) Put(_ context.Context, resp *http.Response) error {
	body, err := bufferBody(resp)
	if err != nil {
		return fmt.Errorf("read answer: %w", err) // unreachable unless a layer was put between us and whole
	}
	url := resp.Request.URL.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.entries[url]; ok {
		s.dropEntry(at)
	}
	if len(body) > maxCached/8 {
		return nil
	}
	s.entries[url] = s.order.PushFront(cachedResponse{url: url, status: resp.StatusCode, header: resp.Header.Clone(), body: body})
	s.size += len(body)
	for s.size > maxCached {
		s.dropEntry(s.order.Back())
	}
	return nil
}

// forget drops an answer that turned out to be of no use.
func (s *memoryCache) forget(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.entries[url]; ok {
		s.dropEntry(at)
	}
}

func (s *memoryCache) dropEntry(at *queue.Element) {
	e := s.order.Remove(at).(cachedResponse)
	s.size -= len(e.body)
	delete(s.entries, e.url)
}
