package daemon

import (
	"testing"

	"github.com/review-coordinator/coordinator/internal/deadline"
	"github.com/review-coordinator/coordinator/internal/store/storetest"
)

func TestMain(m *testing.M) { deadline.Watch(m, storetest.OpenTables).Run() }
