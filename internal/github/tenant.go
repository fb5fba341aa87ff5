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
