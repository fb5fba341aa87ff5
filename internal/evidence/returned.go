package evidence

// Coming back to a base or to a head brings back what was objected to it and not answered, and a no that was said against
// another base counts here, too. The record tells of what a look saw; of what none saw, GitHub's times tell.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// objectionsOfEarlierStays are the objections that GitHub still shows, and that stood when the pull request left this
// base or this head.
func objectionsOfEarlierStays(p *quorum.Policy, s *quorum.Snapshot, texts *textReader) (all []quorum.Objection) {
	if stays := earlierBaseStays(s); len(stays) > 0 {
		past := *s
		past.Timeline = without(s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged })
		all = objectionsWithin(stays, p, &past, texts)
	}
	if stays := earlierHeadStays(s); len(stays) > 0 { // what is no text belongs to its commit, and never went
		past := arrivedOnce(s, stays[0].from)
		all = append(all, without(objectionsWithin(stays, p, &past, texts), func(o quorum.Objection) bool {
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
func objectionsWithin(stays []stay, p *quorum.Policy, past *quorum.Snapshot, texts *textReader) (all []quorum.Objection) {
	for _, isClosed := range []bool{false, true} {
		then := saidWithin(past, stays, isClosed)
		then.Runs = without(past.Runs, func(run quorum.Run) bool { return !isWithin(stays, run.Created, isClosed) })
		for _, v := range viewsOf(newHeadView(p, &then), texts) {
			for _, o := range v.objectionsOf(v.makeBallot()) {
				all = appendObjection(all, o)
			}
		}
	}
	return all
}

// objectionsOf are the objections on which a ballot of the reviewer rests.
func (v *reviewerView) objectionsOf(b quorum.Ballot) []quorum.Objection {
	var rec quorum.Record
	rememberBallot(&rec, *v.head.snapshot, b)
	rememberUnlooked(&rec, v.head.record.unlooked, []quorum.Ballot{b})
	return rec.Objections
}

// saidWithin is a snapshot without the words, checks and statuses from outside the stays. What an edited text said before
// nothing tells.
func saidWithin(s *quorum.Snapshot, stays []stay, isClosed bool) quorum.Snapshot {
	isOutside := func(at time.Time) bool { return !isWithin(stays, at, isClosed) }
	isTextOutside := func(t quorum.Text) bool { return isOutside(latest(t.At, t.Edited)) }
	then := *s
	then.Comments, then.Reviews = without(s.Comments, isTextOutside), without(s.Reviews, isTextOutside)
	then.Threads = without(s.Threads, func(t quorum.Thread) bool { return isOutside(t.At) })
	then.Checks = without(s.Checks, func(c quorum.CheckRun) bool { return isOutside(latest(c.Started, c.Completed)) })
	then.Statuses = without(s.Statuses, func(st quorum.Status) bool { return isOutside(st.At) })
	return then
}

// maxBaseStays is how many of the last stays in which anything was said are read.
const maxBaseStays = 50

// tellingBaseStays are the stays on bases in which anything was said, and the last one; none if the base never changed.
func tellingBaseStays(s *quorum.Snapshot) []stay {
	all := baseStays(s)
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1]
	telling := slices.DeleteFunc(all[:len(all)-1], func(was stay) bool {
		then := saidWithin(s, []stay{was}, true)
		words := len(then.Comments) + len(then.Reviews) + len(then.Threads) + len(then.Checks) + len(then.Statuses)
		hasRunEnded := func(run quorum.Run) bool { return isWithin([]stay{was}, run.Updated, true) }
		return words == 0 && !slices.ContainsFunc(s.Runs, hasRunEnded)
	})
	return append(telling[max(0, len(telling)-maxBaseStays):], last)
}

// objectionsOfOtherBases are what was objected while the pull request was against other bases, or by runs from before it
// came back to this one, in what GitHub shows. What began against this base, or shows no beginning, objects here; else
// its reviewer is required, as one that objected elsewhere.
func objectionsOfOtherBases(h *headView, texts *textReader) (here []quorum.Objection, elsewhere map[string]bool) {
	elsewhere = map[string]bool{}
	s, own, stays := h.snapshot, earlierBaseStays(h.snapshot), tellingBaseStays(h.snapshot)
	if len(stays) == 0 {
		return nil, elsewhere
	}
	judge := func(p *quorum.Policy, then quorum.Snapshot) {
		for _, v := range viewsOf(newHeadView(p, &then), texts) {
			b := v.makeBallot()
			if b.Vote == quorum.Approve {
				delete(elsewhere, v.Name)
			}
			for _, o := range v.objectionsOf(b) {
				began := beganAt(v.head, &o)
				if !began.IsZero() && !isWithin(own, began, true) {
					elsewhere[v.Name] = elsewhere[v.Name] || v.isOfHead(o.TextRef)
					continue
				}
				o.Base = s.PR.BaseRef
				here = appendObjection(here, o)
			}
		}
	}
	for _, was := range stays {
		if was.of != s.PR.BaseRef { // else [objectionsOfEarlierStays] judges it
			judge(h.policy, snapshotWithin(s, was))
		}
	}
	last := stays[len(stays)-1].to
	now := snapshotWithin(s, stay{s.PR.BaseRef, last, last.AddDate(100, 0, 0)})
	now.Runs = without(now.Runs, func(run quorum.Run) bool { return run.Created.After(last) })
	now.Checks, now.Statuses = nil, nil
	byRun := *h.policy
	byRun.Reviewers = without(byRun.Reviewers, func(r quorum.Reviewer) bool { return r.Workflow == "" })
	if len(now.Runs) > 0 {
		judge(&byRun, now)
	}
	return here, elsewhere
}

// snapshotWithin shows what was said during a stay on a base, by runs that had begun by its end.
func snapshotWithin(s *quorum.Snapshot, was stay) quorum.Snapshot {
	then := saidWithin(s, []stay{was}, true)
	then.PR.BaseRef = was.of
	then.Timeline = without(s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged })
	then.Runs = without(s.Runs, func(run quorum.Run) bool {
		return run.Created.After(was.to) || run.Completed() && run.Updated.Add(replyWindow).Before(was.from)
	})
	return then
}

// beganAt is when what objects was visibly begun: a run was created, a check run started, a status set to pending; zero
// where nothing shows it.
func beganAt(h *headView, o *quorum.Objection) time.Time {
	s := h.snapshot
	switch {
	case o.Run != 0:
		if run := firstOf(s.Runs, func(run *quorum.Run) bool { return run.ID == o.Run }); run != nil {
			return run.Created
		}
	case o.Kind == quorum.TextCheck:
		if c := firstOf(s.Checks, func(c *quorum.CheckRun) bool { return c.ID == o.ID }); c != nil {
			return c.Started
		}
	case o.Kind == quorum.TextStatus:
		if st := firstOf(s.Statuses, func(st *quorum.Status) bool { return st.ID == o.ID }); st != nil {
			return h.scanBegan(st)
		}
	}
	return time.Time{}
}
