package evidence

import (
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// What is kept of the texts of one look has a bound, however many lines they have.
func TestPagesAreKeptWithinABound(t *testing.T) {
	r := newTextReader(0)
	for id := range int64(100) {
		body := strings.Repeat("\n", 64<<10)
		if id == 0 {
			body = "Ready to merge? Yes"
		}
		r.pageOf(&quorum.Text{TextRef: quorum.TextRef{Kind: quorum.TextComment, ID: id}, Body: body})
	}
	lines := 0
	for _, p := range r.pages {
		lines += p.Size()
	}
	if lines > maxKeptLines || len(r.pages) == 0 {
		t.Errorf("%d lines of %d texts are kept", lines, len(r.pages))
	}
}
