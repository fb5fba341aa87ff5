package client

import (
	"bytes"
	queue "container/list"
	"sync"
)

// maxCached bounds the bytes of all answers that are remembered in memory.
const maxCached = 64 << 20

// A memoryCache is a ResponseCache in memory. Beyond its bound, the answers not read for longest go.
type memoryCache struct {
	mu      sync.Mutex
	size    int
	entries map[string]*queue.Element
	order   queue.List // of cachedAnswer, the one used last in front
}

type cachedAnswer struct {
	key   string
	value []byte
}

func newMemoryCache() *memoryCache { return &memoryCache{entries: make(map[string]*queue.Element)} }

// Get returns what was put for key.
func (m *memoryCache) Get(key string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.entries[key]
	if !ok {
		return nil, false
	}
	m.order.MoveToFront(at)
	return at.Value.(cachedAnswer).value, true
}

// Put remembers a copy of value for key.
func (m *memoryCache) Put(key string, value []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropEntry(m.entries[key])
	m.entries[key] = m.order.PushFront(cachedAnswer{key, bytes.Clone(value)})
	m.size += len(value)
	for m.size > maxCached {
		m.dropEntry(m.order.Back())
	}
}

// Forget drops what was put for key.
func (m *memoryCache) Forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropEntry(m.entries[key])
}

// dropEntry drops an entry; nil is none.
func (m *memoryCache) dropEntry(at *queue.Element) {
	if at == nil {
		return
	}
	e := m.order.Remove(at).(cachedAnswer)
	m.size -= len(e.value)
	delete(m.entries, e.key)
}
