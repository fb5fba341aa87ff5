package daemon

import (
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/store"
)

// A workResult is the result of work on a key.
type workResult struct {
	label   string // for the metric
	outcome store.Completion
	pokes   []store.Poke     // of other keys that must be looked at because of it
	sight   *dashboard.Sight // of a look that was made
}

func goneResult() workResult {
	return workResult{label: resultGone, outcome: store.Completion{Gone: true}}
}

// heldResult puts a key off, with all that it was poked for.
func heldResult(w store.Work, until time.Time) workResult {
	return workResult{label: resultDeferred, outcome: store.Completion{
		Keep: true, Wake: until, Backlog: w.Backlog, LiveDue: w.LiveDue,
	}}
}

// deferredResult puts a key back in its place, for its tenant is held. label is what became of it, for the metric.
func deferredResult(w store.Work, label string) workResult {
	r := heldResult(w, w.Due)
	r.label = label
	return r
}
