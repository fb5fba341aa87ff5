package github

// The limits of one installation, as a server asks for them before it looks.

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
)

// Ready is the earliest moment at which that many looks would not be held up by a limit, as far as is known; zero: at
// once.
func (f *Forge) Ready(looks int) time.Time {
	return f.client.Ready(costOfLooks(looks))
}

// ReadyForBacklog is Ready for looks that wait for nobody: they get what is not kept for others.
func (f *Forge) ReadyForBacklog(looks int) time.Time {
	return f.client.ReadyForBacklog(costOfLooks(looks))
}

func costOfLooks(looks int) client.Cost {
	n := max(looks, 1)
	return client.Cost{Reads: n * client.LookCost.Reads, Queries: n * client.LookCost.Queries, Writes: n * client.LookCost.Writes}
}

// Budget is what is left of the hour's requests.
func (f *Forge) Budget() client.Budget { return f.client.Budget() }
