package report

import (
	"slices"
	"testing"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

func TestDriftIsSaidOfWhomItConcerns(t *testing.T) {
	p := quorum.Policy{Reviewers: []quorum.Reviewer{{Name: "openai"}, {Name: "copilot"}}}
	var heard []quorum.HeardAnswer
	for n := range 20 {
		for i, r := range p.Reviewers {
			heard = append(heard, quorum.HeardAnswer{
				TextRef: quorum.TextRef{Kind: quorum.TextReview, ID: int64(100*i + n + 1)}, Reviewer: r.Name, Pull: n + 1,
				At: time.Unix(int64(n), 0), Unread: i == 1 && n >= 6 || n == 3,
			})
		}
	}
	heard[2*3+1].Unread = false
	want := []string{"copilot: 14 of its last 20 answers were not understood; its format may have changed"}
	if got := PlainDrifts(quorum.DriftsOf(p, heard)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
