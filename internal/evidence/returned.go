package evidence

// Coming back to a base brings back what was objected to it and not answered. The record tells of what a look saw;
// where the pull request left the base before one came, GitHub's times tell.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// objectionsOfEarlierStays are the objections that GitHub still shows, and that stood when the pull request left this
// base.
func objectionsOfEarlierStays(p *quorum.Policy, s *quorum.Snapshot) []quorum.Objection {
	stays := earlierStays(s)
	if len(stays) == 0 {
		return nil
	}
	isOutside := func(at time.Time) bool {
		return !slices.ContainsFunc(stays, func(stay baseStay) bool { return stay.holds(at) })
	}
	past := *s
	past.Timeline = without(s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged })
	past.Comments = without(s.Comments, func(t quorum.Text) bool { return isOutside(t.At) })
	past.Reviews = without(s.Reviews, func(t quorum.Text) bool { return isOutside(t.At) })
	past.Threads = without(s.Threads, func(t quorum.Thread) bool { return isOutside(t.At) })
	past.Checks = without(s.Checks, func(c quorum.CheckRun) bool { return isOutside(latest(c.Started, c.Completed)) })
	past.Statuses = without(s.Statuses, func(st quorum.Status) bool { return isOutside(st.At) })
	past.Runs = without(s.Runs, func(run quorum.Run) bool { return isOutside(run.Created) })
	var then quorum.Record
	for _, v := range reviewerViews(p, &past) {
		rememberBallot(&then, past, v.makeBallot())
	}
	return then.Objections
}
