package client

import (
	"bytes"
	"sync"
)

// maxCached bounds the bytes of all answers that are remembered in memory.
const maxCached = 64 << 20

// A memoryCache is a ResponseCache in memory. Beyond its bound it begins anew: a job never comes there.
type memoryCache struct {
	mu      sync.Mutex
	size    int
	entries map[string][]byte
}

func newMemoryCache() *memoryCache { return &memoryCache{entries: map[string][]byte{}} }

// Get returns what was put for key.
func (m *memoryCache) Get(key string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.entries[key]
	return value, ok
}

// Put remembers a copy of value for key.
func (m *memoryCache) Put(key string, value []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size += len(value) - len(m.entries[key])
	if m.size > maxCached {
		clear(m.entries)
		m.size = len(value)
	}
	m.entries[key] = bytes.Clone(value)
}

// Forget drops what was put for key.
func (m *memoryCache) Forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size -= len(m.entries[key])
	delete(m.entries, key)
}
