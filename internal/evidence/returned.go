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
		all = objectionsWithin(stays, p, &past)
	}
	if stays := earlierHeadStays(s); len(stays) > 0 { // what is no text belongs to its commit, and never went
		past := arrivedOnce(s, stays[0].from)
		all = append(all, without(objectionsWithin(stays, p, &past), func(o quorum.Objection) bool {
			return o.Kind != quorum.TextComment && o.Kind != quorum.TextReview && o.Kind != quorum.TextThread
		})...)
	}
	return all
}

// arrivedOnce is a snapshot by which the head came at that time and never left. Who pushed it is as it was.
func arrivedOnce(s *quorum.Snapshot, at time.Time) quorum.Snapshot {
	const another = "another head"
	came := quorum.Push{Before: another, After: s.PR.Head, At: at}
	past := *s
	past.Arrived = earliest(s.Arrived, at)
	past.Timeline, past.Pushes = slices.Clone(s.Timeline), slices.Clone(s.Pushes)
	for i := range past.Timeline {
		if e := &past.Timeline[i]; e.Kind == quorum.ForcePushed {
			if e.To == s.PR.Head {
				came.Actor = e.Actor
			}
			e.From, e.To = another, another
		}
	}
	for i := range past.Pushes {
		m := &past.Pushes[i]
		if m.After == s.PR.Head && came.Actor.Login == "" {
			came.Actor = m.Actor
		}
		m.Before, m.After = another, another
	}
	past.Pushes = append(past.Pushes, came)
	return past
}

// objectionsWithin are the objections that stand by what was said within stays, as past shows it. Who moves the base or
// the head also chooses the second: what was said in the very second of a change may object, and answers nothing.
func objectionsWithin(stays []stay, p *quorum.Policy, past *quorum.Snapshot) (all []quorum.Objection) {
	for _, isClosed := range []bool{false, true} {
		isOutside := func(at time.Time) bool { return !isWithin(stays, at, isClosed) }
		isTextOutside := func(t quorum.Text) bool { return isOutside(latest(t.At, t.Edited)) } // what it said before nothing tells
		then := *past
		then.Comments, then.Reviews = without(past.Comments, isTextOutside), without(past.Reviews, isTextOutside)
		then.Threads = without(past.Threads, func(t quorum.Thread) bool { return isOutside(t.At) })
		then.Checks = without(past.Checks, func(c quorum.CheckRun) bool { return isOutside(latest(c.Started, c.Completed)) })
		then.Statuses = without(past.Statuses, func(st quorum.Status) bool { return isOutside(st.At) })
		then.Runs = without(past.Runs, func(run quorum.Run) bool { return isOutside(run.Created) })
		var rec quorum.Record
		for _, v := range reviewerViews(p, &then) {
			b := v.makeBallot()
			rememberBallot(&rec, then, b)
			rememberUnlooked(&rec, v.head.record.unlooked, []quorum.Ballot{b})
		}
		for _, o := range rec.Objections {
			all = appendObjection(all, o)
		}
	}
	return all
}
