package story_test

// The way out of every red: whatever has happened, once everything that was under way has ended and each reviewer approves the head in an
// attempt that began after all of it, the check passes, unless the model knows what stands against it. The other laws forbid a green
// that nobody earned, this one a red.

import (
	"fmt"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// freshLooks is how many looks a pass may take then: the first one, the end of the grace, and what is announced between.
const freshLooks = 6

// approveInTheEnd lets everything end, and everybody approve, and checks that the check passes then.
func (w *walker) approveInTheEnd(from *modelState, history []string) {
	st := from.clone()
	st.s.PR.Draft, st.atEnd = false, true
	st.endFix()
	st.endAllRuns()
	st.now = st.now.Add(2 * time.Minute)
	history = append(slices.Clip(history), "all that is under way ends, and everybody approves the head anew")
	for place := range w.policy.Reviewers {
		st.approveAnew(place)
	}
	lane := topLevel(&w.policy)
	if w.laneOf != nil {
		lane = w.laneOf(st)
	}
	if _, against := st.people(); lane.people > 0 || len(lane.rules) == 0 && len(against) > 0 {
		st.review(helper, "APPROVED")
		st.review(second, "APPROVED")
	}
	for range freshLooks {
		st.now = st.now.Add(moveTakes)
		w.look(st, history, noCrash)
		if st.shown.Verdict == quorum.Passed || st.shown.Wake.IsZero() {
			break
		}
		st.now = st.shown.Wake
	}
	if st.shown.Verdict == quorum.Passed {
		return
	}
	if why := w.standsAgainst(st, &lane); why != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.unearned[why]++
		return
	}
	votes := ""
	for _, b := range st.shown.Ballots {
		votes += fmt.Sprintf("; %s %s (%s, %s)", b.Reviewer, b.Vote, b.Outcome, b.Reason)
	}
	w.fails(freshPasses, history, "%s: %s%s", st.shown.Verdict, st.shown.Reason, votes)
}

// standsAgainst says what truly stands against a pass, in few words; "" if nothing does.
func (w *walker) standsAgainst(st *modelState, lane *laneTruth) string {
	isResolvedInDoubt := func(o objectionTruth) bool { // it is held against the head as long as that has that base, which nobody has earned
		return o.ended && slices.ContainsFunc(st.doubted, func(t quorum.Text) bool { return t.TextRef == o.ref })
	}
	switch {
	case slices.ContainsFunc(st.objections, st.isInOwnComment):
		return "an App's comment"
	case slices.ContainsFunc(st.objections, isResolvedInDoubt):
		return "an App's thread that may be of another base, and that a person has resolved"
	case len(st.standing()) > 0:
		return "an objection that nothing answers"
	case st.path == rulesFile:
		return "a guarded file"
	}
	votes := w.votersOf(st, lane)
	approvals := w.countOf(func(place int) bool { return votes[place] && w.approves(st, place) })
	if approvals < lane.needOf(w.countOf(func(place int) bool { return votes[place] })) {
		return "too few who may approve"
	}
	for place := range votes {
		if w.mustApprove(st, lane, place) && !w.approves(st, place) {
			return "who is required may not approve"
		}
	}
	approving, against := st.people()
	if isPersonal := lane.people > 0 || len(lane.rules) == 0; isPersonal && (len(approving) < lane.people || len(against) > 0) {
		return "a person"
	}
	return ""
}

// isInOwnComment reports whether an App objected in a comment to this, and has not taken that back on the only head and its first base:
// what it says elsewhere answers that not, and an edit after a change of the base is an answer that may be of before.
func (st *modelState) isInOwnComment(o objectionTruth) bool {
	if st.kinds[o.reviewer] != byApp || o.ref.Kind != quorum.TextComment || o.ended || !st.isOfThis(&o) {
		return false
	}
	isYes := slices.ContainsFunc(st.s.Comments, func(t quorum.Text) bool {
		return t.TextRef == o.ref && t.Body == fmt.Sprintf(yesText, st.reviewers[o.reviewer].Name)
	})
	hasMoved := slices.ContainsFunc(st.s.Timeline, func(e quorum.Event) bool { return e.Kind == quorum.BaseChanged })
	return !isYes || hasMoved || len(st.heads) > 1
}

// endAllRuns ends the runs and checks that are under way, on heads that were left, too, without a word.
func (st *modelState) endAllRuns() {
	for i := range st.s.Runs {
		if run := &st.s.Runs[i]; !run.Completed() {
			st.endRun(run, "cancelled")
		}
	}
	for i := range st.s.Checks {
		if c := &st.s.Checks[i]; c.Status != "completed" {
			c.Status, c.Conclusion, c.Completed = "completed", "cancelled", st.now
		}
	}
	st.heads = slices.Clone(st.heads)
	for i := range st.heads {
		for k := range st.reviewers {
			for r := &st.reviewers[k]; i != st.at && r.Workflow != "" && st.endLeftRun(r, &st.heads[i], "cancelled") != nil; {
			}
		}
	}
}

// approveAnew lets a reviewer begin anew and approve the head.
func (st *modelState) approveAnew(place int) {
	r, began := &st.reviewers[place], st.now
	isBefore := func(o *objectionTruth) bool { return !o.at.After(began) }
	switch st.kinds[place] {
	case byWorkflowText, byConclusion:
		st.startRun(r, "in_progress")
		st.noteRuns()
		run := &st.s.Runs[len(st.s.Runs)-1]
		st.now = st.now.Add(moveTakes)
		if st.kinds[place] == byWorkflowText {
			st.comment(robot, yesText, r.Name)
		}
		st.endRun(run, "success")
		if st.attempts != nil {
			a := st.attemptOf(place, run.ID)
			a.yes, a.credited = true, true
		}
	case byApp:
		st.approveAsApp(place)
		return
	case byCheck:
		st.s.Checks = append(st.s.Checks, quorum.CheckRun{
			ID: st.newID(), Name: r.Check, App: r.App, AppID: 9, Suite: 1, Started: st.now, Completed: st.now.Add(moveTakes),
			Status: "completed", Conclusion: "success",
		})
		st.now = st.now.Add(moveTakes)
	case byStatus:
		st.setStatus(place, "success") // ends what is under way, which may have begun against another base
		st.now = st.now.Add(moveTakes)
		st.setStatus(place, "pending")
		st.now = st.now.Add(moveTakes)
		st.setStatus(place, "success")
	}
	st.said[place] = reviewerTruth{yes: true, counts: true}
	st.answer(place, isBefore)
	st.begins(place, true)
}

// approveAsApp lets an App approve in a review, after the author resolved its threads: twice, for its first answer after a change of the
// base may have been begun before. Its comment, which names no commit, can take back an objection to the only head alone.
func (st *modelState) approveAsApp(place int) {
	var own []move
	appMoves(func(name string, do func(st *modelState) bool) { own = append(own, move{name, do}) }, place, &st.reviewers[place])
	names := []string{"threads are resolved by alice", "approves", "approves"}
	if len(st.heads) == 1 {
		names = append([]string{"edits its comment into a yes", "edits its comment into a yes"}, names...)
	}
	for _, name := range names {
		i := slices.IndexFunc(own, func(m move) bool { return m.name == name })
		st.now = st.now.Add(moveTakes)
		st.begins(place, own[i].do(st))
	}
}
