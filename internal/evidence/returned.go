package evidence

// Coming back to a base or to a head brings back what was objected to it and not answered, and a no that was said against
// another base counts here, too. The record tells of what a look saw; of what none saw, GitHub's times tell.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// objectionsOfEarlierStays are the objections that stood when the pull request left this base or this head.
func objectionsOfEarlierStays(h *headView, texts *textReader) []quorum.Objection {
	onBase := objectionsWithin(h, earlierBaseStays(h.snapshot), texts, func(then *quorum.Snapshot) *headView {
		then.Timeline = withoutBaseChanges(then.Timeline)
		return newHeadView(h.policy, then)
	})
	onHead := objectionsWithin(h, h.stays, texts, func(then *quorum.Snapshot) *headView {
		past, came := newHeadView(h.policy, then), h.stays[0].from
		past.cycle.arrival, past.cycle.pushed, past.stays = came, came, nil // and it never left
		past.cycle.start = latest(past.cycle.ready, came, past.cycle.baseChanged)
		return past
	})
	return append(onBase, without(onHead, func(o quorum.Objection) bool {
		return !isText(o.TextRef) // it belongs to its commit, and never went
	})...)
}

// objectionsWithin are the objections that stand by what was said within stays. Who moves the base or the head also chooses the
// second: what was said in the very second of a change may object, and answers nothing.
func objectionsWithin(
	h *headView, stays []stay, texts *textReader, viewOf func(then *quorum.Snapshot) *headView,
) (all []quorum.Objection) {
	for _, isClosed := range []bool{false, true} {
		if len(stays) == 0 {
			break
		}
		then := saidWithin(h.snapshot, stays, isClosed)
		then.Runs = without(then.Runs, func(run quorum.Run) bool { return !isWithin(stays, run.Created, isClosed) })
		for _, v := range viewsOf(viewOf(&then), texts) {
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

// saidWithin is a snapshot without what was said outside the stays. What an edited text said before nothing tells.
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

// tellingBaseStays are the stays on bases in which anything was said.
func tellingBaseStays(s *quorum.Snapshot) []stay {
	telling := without(baseStays(s), func(was stay) bool {
		then := saidWithin(s, []stay{was}, true)
		words := len(then.Comments) + len(then.Reviews) + len(then.Threads) + len(then.Checks) + len(then.Statuses)
		hasRunEnded := func(run quorum.Run) bool { return isWithin([]stay{was}, run.Updated, true) }
		return words == 0 && !slices.ContainsFunc(s.Runs, hasRunEnded)
	})
	return telling[max(0, len(telling)-maxBaseStays):]
}

// objectionsOfOtherBases are what was objected while the pull request was against other bases, or by runs from before it
// came back to this one, in what GitHub shows. What began against this base, or shows no beginning, objects here; else
// its reviewer is required, as one that objected elsewhere.
func objectionsOfOtherBases(h *headView, texts *textReader) (here []quorum.Objection, elsewhere map[string]bool) {
	elsewhere = map[string]bool{}
	s, own, changed := h.snapshot, earlierBaseStays(h.snapshot), h.cycle.baseChanged
	if changed.IsZero() {
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
	for _, was := range tellingBaseStays(s) {
		if was.of != s.PR.BaseRef { // else [objectionsOfEarlierStays] judges it
			judge(h.policy, snapshotWithin(s, was))
		}
	}
	now := snapshotWithin(s, stay{s.PR.BaseRef, changed, changed.AddDate(100, 0, 0)})
	now.Runs = without(now.Runs, func(run quorum.Run) bool { return run.Created.After(changed) })
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
	then.Timeline = withoutBaseChanges(s.Timeline)
	then.Runs = without(s.Runs, func(run quorum.Run) bool {
		return run.Created.After(was.to) || run.Completed() && run.Updated.Add(replyWindow).Before(was.from)
	})
	return then
}

// beganAt is when what objects was visibly begun, as a run, a check run or a pending status; zero where nothing shows it.
func beganAt(h *headView, o *quorum.Objection) (at time.Time) {
	s := h.snapshot
	if run := firstOf(s.Runs, func(run *quorum.Run) bool { return run.ID == o.Run }); run != nil {
		at = run.Created
	}
	if c := firstOf(s.Checks, func(c *quorum.CheckRun) bool { return c.ID == o.ID }); c != nil && o.Kind == quorum.TextCheck {
		at = c.Started
	}
	if st := firstOf(s.Statuses, func(st *quorum.Status) bool { return st.ID == o.ID }); st != nil && o.Kind == quorum.TextStatus {
		at = h.scanBegan(st)
	}
	return at
}
