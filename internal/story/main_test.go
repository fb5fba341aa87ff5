package story

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/review-coordinator/coordinator/internal/deadline"
)

// A play's heap is so small that Go would collect it every few milliseconds: a sixth of the stories' time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	deadline.Watch(m).Run()
}
