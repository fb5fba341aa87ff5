package github

// What a server asks of an installation beside looks: how much it may still do.

import "time"

// Ready is the earliest moment at which that many looks would not be held up by a limit, as far as is known; zero: at once.
func (f *Forge) Ready(looks int) time.Time {
	n := max(looks, 1)
	return f.client.Ready(Cost{Reads: n * lookCost.Reads, Queries: n * lookCost.Queries, Writes: n * lookCost.Writes})
}

// Budget is what is left of the hour's requests.
func (f *Forge) Budget() Budget { return f.client.Budget() }

// Budgets are those of all installations that are alive and of which GitHub has told one; 0 is a personal token's.
func (f *Fleet) Budgets() map[int64]Budget {
	all := map[int64]Budget{}
	if f.own != nil {
		all[0] = f.own.Budget()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, at := range f.alive {
		if b := at.Value.(*site).forge.Budget(); b.Limit > 0 {
			all[id] = b
		}
	}
	return all
}

// Named is the App's name if it is known; "" before GitHub was asked for it.
func (f *Fleet) Named() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.slug
}
