package github

import (
	"slices"
	"sync"
	"time"
)

// A disagreement is what REST and GraphQL told differently of a pull request at the last look.
type disagreement struct {
	mu    sync.Mutex
	head  string
	texts []int64
	since time.Time // when the newest of them was first found
}

// note takes over what a look found of a head, and returns since when the newest of it has been so.
func (d *disagreement) note(head string, texts []int64, now time.Time) (since time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.head != head || slices.ContainsFunc(texts, func(id int64) bool { return !slices.Contains(d.texts, id) }) {
		d.since = now
	}
	d.head, d.texts = head, texts
	return d.since
}
