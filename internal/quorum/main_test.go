package quorum

import (
	"flag"
	"testing"

	"github.com/review-coordinator/coordinator/internal/deadline"
)

// The properties run over 200 cases by default, so that `go test` stays quick; -rapid.checks=10000 is what CI asks for.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "200"); err != nil {
		panic(err) // unreachable unless rapid renames its flag
	}
	deadline.Watch(m).Run()
}
