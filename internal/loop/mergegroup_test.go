package loop_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// A queueOfOne is a merge queue with the pull request of a host.
type queueOfOne struct {
	h      *host
	since  time.Time
	gone   bool
	failed error // of each read
	told   []string
}

func (q *queueOfOne) ReadGroup(_ context.Context, ref quorum.GroupRef) (quorum.MergeGroup, error) {
	return quorum.MergeGroup{GroupRef: ref, Pulls: []quorum.PR{pr}, Whole: true, Gone: q.gone, Since: q.since}, q.failed
}

func (q *queueOfOne) PublishGroup(_ context.Context, ref quorum.GroupRef, c report.Check) error {
	if c.Head != ref.Head {
		return errors.New("a check of another commit")
	}
	q.told = append(q.told, fmt.Sprint(time.Since(q.since), " ", c.Status, c.Conclusion))
	return nil
}

var groupRef = quorum.GroupRef{
	Owner: "acme", Repo: "shop", Head: "00000000000000000000000000000000000000b1",
	Branch: "gh-readonly-queue/main/pr-7-00000000000000000000000000000000000000a1",
}

// A job stays with a group until it is decided: ten minutes at most, whatever its pull request still waits for. Nothing is
// written for the pull request.
func TestStayWithGroup(t *testing.T) {
	for _, test := range []struct {
		title string
		begin func(*host, *queueOfOne)
		looks int
		last  string // written
		err   bool
	}{
		{
			"nobody answers", func(h *host, _ *queueOfOne) { h.p.Reviewers[0].Timeout, h.p.Deadline = time.Hour, time.Hour },
			41, "10m0s completedfailure", false,
		},
		{"it has no policy", func(h *host, _ *queueOfOne) { h.s.File = quorum.PolicyFile{State: quorum.FileMissing} }, 0, "", false},
		{"the queue has let go of it", func(_ *host, q *queueOfOne) { q.gone = true }, 0, "", false},
		{"it was merged", func(h *host, _ *queueOfOne) { h.s.PR.Closed, h.s.PR.Merged = true, true }, 0, "", false},
		{"it was closed", func(h *host, _ *queueOfOne) { h.s.PR.Closed = true }, 1, "0s completedaction_required", false},
		{
			"a lane needs no review", func(h *host, _ *queueOfOne) { h.p.Rules, h.p.Need = []quorum.NeedRule{{Share: quorum.NoReview}}, 0 },
			2, "50ms completedsuccess", false,
		},
		{"GitHub refuses", func(_ *host, q *queueOfOne) { q.failed = errors.New("no") }, 0, "", true},
	} {
		t.Run(test.title, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := opened()
				q := &queueOfOne{h: h, since: time.Now()}
				test.begin(h, q)
				_, err := h.reconciler().StayWithGroup(t.Context(), q, groupRef, 15*time.Second, nil)
				last := ""
				if len(q.told) > 0 {
					last = q.told[len(q.told)-1]
				}
				if (err != nil) != test.err || len(q.told) != test.looks || last != test.last {
					t.Errorf("%d looks, the last writes %q, %v", len(q.told), last, err)
				}
				for _, what := range h.story {
					if what != "observe" {
						t.Errorf("of the pull request: %s", what)
					}
				}
			})
		})
	}
}

var _ loop.GroupForge = (*queueOfOne)(nil)
