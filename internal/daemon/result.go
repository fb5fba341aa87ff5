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

// heldResult puts a key off, with all that it was poked for; until it was due: back in its place. label is for the metric.
func heldResult(w store.Work, until time.Time, label string) workResult {
	return workResult{label: label, outcome: store.Completion{
		Keep: true, Wake: until, Backlog: w.Backlog, LiveDue: w.LiveDue,
	}}
}
