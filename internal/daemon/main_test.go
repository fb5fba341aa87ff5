package daemon

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" { // plays have small heaps, which Go would collect every few milliseconds
		debug.SetGCPercent(400)
	}
	deadline.Watch(m, storetest.OpenTables).Run()
}
