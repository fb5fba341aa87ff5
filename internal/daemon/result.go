package daemon

import (
	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
)

// A workResult is the result of work on a key.
type workResult struct {
	label       string // for the metric
	outcome     store.Completion
	pokes       []store.Poke // of other keys that must be looked at because of it
	pr          quorum.PR
	sightBefore dashboard.Sight  // as the table kept it
	sight       *dashboard.Sight // of a look that was made
}

func goneResult() workResult {
	return workResult{label: resultGone, outcome: store.Completion{Gone: true}}
}

// deferredResult puts a key back in its place: its tenant is held.
func deferredResult(w store.Work) workResult {
	return workResult{label: resultDeferred, outcome: store.Completion{Keep: true, Wake: w.Due, Backlog: w.Backlog}}
}
