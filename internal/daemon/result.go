package daemon

import (
	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
)

// A result is what work on a key came to.
type result struct {
	result  string // for the metric
	outcome store.Outcome
	pokes   []store.Poke // what else must be looked at because of it
	pr      quorum.PR
	was     dashboard.Sight  // before
	sight   *dashboard.Sight // of a look that was made
}

func gone() result { return result{result: resultGone, outcome: store.Outcome{Gone: true}} }

// deferred puts a key back in its place: its tenant is held.
func deferred(w store.Work) result {
	return result{result: resultDeferred, outcome: store.Outcome{Keep: true, Wake: w.Due}}
}
