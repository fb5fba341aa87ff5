package daemon

import (
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// pokedKeys remembers which repositories and tenants were poked since the start, so that each is looked over once
// without anything happening to it. It may be used by several goroutines.
type pokedKeys struct {
	mu   sync.Mutex
	keys map[string]bool
}

// resyncedPrefix stands before the key of a repository all of whose pull requests were looked over since the start.
const resyncedPrefix = "resynced "

func newPokedKeys() *pokedKeys { return &pokedKeys{keys: map[string]bool{}} }

// addFirst reports whether a key is named for the first time since the start.
func (p *pokedKeys) addFirst(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys[key] {
		return false
	}
	p.keys[key] = true
	return true
}

func (p *pokedKeys) contains(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys[key]
}

// remove says that keys may not have been poked after all, or are no more: the next who names them pokes them.
func (p *pokedKeys) remove(keys ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range keys {
		delete(p.keys, key)
	}
}

// removePoked does so for the keys of pokes that may not have been kept.
func (p *pokedKeys) removePoked(pokes []store.Poke) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, poke := range pokes {
		delete(p.keys, poke.Key)
	}
}

// removeTenant forgets all of a tenant: if it comes back, or was never gone, it is looked over as a new one is.
func (p *pokedKeys) removeTenant(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := workkey.Tenant(id)
	for key := range p.keys {
		if bare := strings.TrimPrefix(key, resyncedPrefix); bare == own || strings.HasPrefix(bare, own+"/") {
			delete(p.keys, key)
		}
	}
}

// clear forgets everything, as at a start.
func (p *pokedKeys) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.keys)
}
