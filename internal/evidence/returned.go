package evidence

// Coming back to a base or to a head brings back what was objected to it and not answered. The record tells of what a
// look saw; where the pull request left before one came, GitHub's times tell.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// objectionsOfEarlierStays are the objections that GitHub still shows, and that stood when the pull request left this
// base or this head.
func objectionsOfEarlierStays(p *quorum.Policy, s *quorum.Snapshot) (all []quorum.Objection) {
	if stays := earlierBaseStays(s); len(stays) > 0 {
		past := *s
		past.Timeline = without(s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged })
		all = objectionsWithin(stays, p, past)
	}
	if stays := earlierHeadStays(s); len(stays) > 0 {
		all = append(all, objectionsWithin(stays, p, arrivedOnce(s, stays[0].from))...)
	}
	return all
}

// arrivedOnce is a snapshot by which the head came at that time and never left. Who pushed it is as it was.
func arrivedOnce(s *quorum.Snapshot, at time.Time) quorum.Snapshot {
	const another = "another head"
	past := *s
	past.Timeline, past.Pushes = slices.Clone(s.Timeline), slices.Clone(s.Pushes)
	for i := range past.Timeline {
		if e := &past.Timeline[i]; e.Kind == quorum.ForcePushed {
			e.From, e.To = another, another
		}
	}
	for i := range past.Pushes {
		past.Pushes[i].Before, past.Pushes[i].After = another, another
	}
	past.Pushes = append(past.Pushes, quorum.Push{Before: another, After: s.PR.Head, At: at})
	return past
}

// objectionsWithin are the objections that stand by what was said within stays.
func objectionsWithin(stays []stay, p *quorum.Policy, past quorum.Snapshot) []quorum.Objection {
	isOutside := func(at time.Time) bool { return !isWithin(stays, at) }
	past.Comments = without(past.Comments, func(t quorum.Text) bool { return isOutside(t.At) })
	past.Reviews = without(past.Reviews, func(t quorum.Text) bool { return isOutside(t.At) })
	past.Threads = without(past.Threads, func(t quorum.Thread) bool { return isOutside(t.At) })
	past.Checks = without(past.Checks, func(c quorum.CheckRun) bool { return isOutside(latest(c.Started, c.Completed)) })
	past.Statuses = without(past.Statuses, func(st quorum.Status) bool { return isOutside(st.At) })
	past.Runs = without(past.Runs, func(run quorum.Run) bool { return isOutside(run.Created) })
	var then quorum.Record
	for _, v := range reviewerViews(p, &past) {
		b := v.makeBallot()
		rememberBallot(&then, past, b)
		rememberUnlooked(&then, v.head.record.unlooked, []quorum.Ballot{b})
	}
	return then.Objections
}
