package daemon

import (
	"strings"
	"sync"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// pokedKeys remembers which repositories and tenants were poked since the start, so that each is looked over once
// without anything happening to it. It may be used by several goroutines.
type pokedKeys struct{ keys sync.Map }

// resyncedPrefix stands before the key of a repository all of whose pull requests were looked over since the start.
const resyncedPrefix = "resynced "

// addFirst reports whether a key is named for the first time since the start.
func (p *pokedKeys) addFirst(key string) bool {
	_, known := p.keys.LoadOrStore(key, true)
	return !known
}

func (p *pokedKeys) contains(key string) bool {
	_, known := p.keys.Load(key)
	return known
}

// remove says that keys may not have been poked after all, or are no more: the next who names them pokes them.
func (p *pokedKeys) remove(keys ...string) {
	for _, key := range keys {
		p.keys.Delete(key)
	}
}

// removePoked does so for the keys of pokes that may not have been kept.
func (p *pokedKeys) removePoked(pokes []store.Poke) {
	for _, poke := range pokes {
		p.keys.Delete(poke.Key)
	}
}

// removeTenant forgets all of a tenant: if it comes back, or was never gone, it is looked over as a new one is.
func (p *pokedKeys) removeTenant(id int64) {
	own := workkey.Tenant(id)
	for key := range p.keys.Range {
		key, _ := key.(string)
		if bare := strings.TrimPrefix(key, resyncedPrefix); bare == own || strings.HasPrefix(bare, own+"/") {
			p.keys.Delete(key)
		}
	}
}

// clear forgets everything, as at a start.
func (p *pokedKeys) clear() { p.keys.Clear() }
