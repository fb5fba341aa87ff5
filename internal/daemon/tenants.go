package daemon

// The memory of installations besides the table. All of it saves requests or waits for a moment: a restart forgets it.

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// tenantBook holds one entry for each installation. It may be used by several goroutines.
type tenantBook struct {
	config *Config

	mu   sync.Mutex
	byID map[int64]*tenantEntry
	held map[int64]*tenantEntry // those that are not simply healthy: each claim reads them

	policies map[string]knownPolicy // by the key of a repository
}

// tenantEntry is the memory of one installation.
type tenantEntry struct {
	tenantState
	looks    int                     // that were admitted and are under way
	isOld    bool                    // another process may have worked for it since
	poked    map[string]bool         // keys that were named since the start, so that each is looked over once without an event
	doubts   map[string]goneDoubt    // by key
	tell     func() error            // has its forge know the organisations' policies, once; nil: not yet
	circuits map[[3]string]time.Time // until when those are open that looks have seen, by owner, repository and reviewer
	shares   map[string]pullShare    // by key
	pace     time.Duration           // how often its repositories are looked over
	ahead    time.Time               // up to when, within the last hour, it has used what goes before its backlog
}

func newTenantBook(c *Config) *tenantBook {
	return &tenantBook{config: c, byID: map[int64]*tenantEntry{}, held: map[int64]*tenantEntry{}, policies: map[string]knownPolicy{}}
}

// newTenantEntry returns the memory of an installation of which nothing is known but its looks under way, and what looks have used.
func newTenantEntry(looks int, shares map[string]pullShare) *tenantEntry {
	return &tenantEntry{
		looks: looks, shares: shares, poked: map[string]bool{}, doubts: map[string]goneDoubt{}, circuits: map[[3]string]time.Time{},
	}
}

// open locks the book and returns an installation's entry, a new one if there was none. The caller unlocks it.
func (b *tenantBook) open(id int64) *tenantEntry {
	b.mu.Lock()
	if b.byID[id] == nil {
		b.byID[id] = newTenantEntry(0, map[string]pullShare{})
	}
	return b.byID[id]
}

// openHeld opens the entry of an installation that may have to wait.
func (b *tenantBook) openHeld(id int64) *tenantEntry {
	t := b.open(id)
	b.held[id] = t
	return t
}

// forget drops an installation but for its looks under way and what these have used: as after a restart, all of it is read anew and
// looked over.
func (b *tenantBook) forget(id int64) {
	b.config.Host.Leave(id)
	was := b.open(id)
	defer b.mu.Unlock()
	b.byID[id] = newTenantEntry(was.looks, was.shares)
	delete(b.held, id)
	within := workkey.Tenant(id) + "/"
	maps.DeleteFunc(b.policies, func(repo string, _ knownPolicy) bool { return strings.HasPrefix(repo, within) })
}

// forgetMoved forgets the installations of claimed keys for which another process has worked since. A claim that failed may have said so
// of any.
func (b *tenantBook) forgetMoved(works []store.Work, err error) {
	if err != nil && b.config.Poll > 0 {
		b.mu.Lock()
		for t := range maps.Values(b.byID) {
			t.isOld = true
		}
		b.mu.Unlock()
	}
	for _, w := range works {
		isOld := b.open(w.Tenant).isOld
		b.mu.Unlock()
		if w.Moved || isOld {
			b.forget(w.Tenant)
		}
	}
}

// resyncedPrefix stands before the key of a repository all of whose pull requests were looked over since the start.
const resyncedPrefix = "resynced "

// addFirst reports whether an installation's key is named for the first time since the start.
func (b *tenantBook) addFirst(id int64, key string) bool {
	t := b.open(id)
	defer b.mu.Unlock()
	known := t.poked[key]
	t.poked[key] = true
	return !known
}

// isPoked reports whether a key was named.
func (b *tenantBook) isPoked(id int64, key string) bool {
	t := b.open(id)
	defer b.mu.Unlock()
	return t.poked[key]
}

// unpoke notes that keys may not have been poked after all, or are gone: they are poked when they are named again.
func (b *tenantBook) unpoke(id int64, keys ...string) {
	t := b.open(id)
	defer b.mu.Unlock()
	for _, key := range keys {
		delete(t.poked, key)
	}
}

// dropPokes does so for pokes that may not have been kept.
func (b *tenantBook) dropPokes(pokes []store.Poke) {
	for _, p := range pokes {
		b.unpoke(p.Tenant, p.Key)
	}
}

// beginAnew forgets which keys were named and what is held until when, as at a start.
func (b *tenantBook) beginAnew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.held)
	for t := range maps.Values(b.byID) {
		clear(t.poked)
		t.tenantState = tenantState{}
	}
}
