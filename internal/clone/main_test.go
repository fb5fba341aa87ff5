package clone_test

import (
	"testing"

	"github.com/review-coordinator/coordinator/internal/deadline"
)

func TestMain(m *testing.M) { deadline.Watch(m).Run() }
