package story_test

// Several runs of one reviewer on one head, under way side by side, in the model: either may end first, and the words of
// each are its own.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// maxSideBySide is how many runs of one reviewer have words.
const maxSideBySide = 2

// An attemptTruth is one attempt of a run, with the verdicts of its own words.
type attemptTruth struct {
	run          int64
	number       int
	began, ended time.Time
	yes, no      bool
	failed       bool
	credited     bool // a yes that it may have left, as time tells
}

// isUnderWay reports whether it has not ended and may still say something before its deadline.
func (a *attemptTruth) isUnderWay(now time.Time) bool {
	return a.ended.IsZero() && now.Before(a.began.Add(modelTimeout))
}

// runTruths is what is true of the runs of a world in which they may be under way side by side.
type runTruths struct {
	attempts [][]attemptTruth // by reviewer; nil in a world where each run waits for the one before
}

func (t runTruths) clone() runTruths {
	c := slices.Clone(t.attempts)
	for i := range c {
		c[i] = slices.Clone(c[i])
	}
	return runTruths{c}
}

// attemptOf is the newest attempt of a run.
func (t runTruths) attemptOf(place int, run int64) *attemptTruth {
	for i := range slices.Backward(t.attempts[place]) {
		if a := &t.attempts[place][i]; a.run == run {
			return a
		}
	}
	return nil
}

// noteRuns notes what truly follows from the attempts: of the newest ones of all runs, the last that left a verdict or
// failed speaks for its reviewer, once none is under way. An approval answers what was said before its attempt began.
func (st *modelState) noteRuns() {
	for place := range st.attempts {
		for i := range st.s.Runs {
			st.noteAttempt(place, &st.s.Runs[i])
		}
		truth, last := reviewerTruth{counts: true}, time.Time{}
		for i := range st.attempts[place] {
			a := &st.attempts[place][i]
			isNewest := st.attemptOf(place, a.run) == a
			ended := a.ended
			if ended.IsZero() {
				ended = st.now.Add(1) // after all that has ended
			}
			if isNewest && (a.credited || a.no || a.failed) && !ended.Before(last) {
				truth.yes, last = a.credited && !a.no, ended
			}
			if a.isUnderWay(st.now) {
				truth.counts = false
				if a.began.After(truth.since) {
					truth.since = a.began
				}
			}
			if a.yes && !a.no && !a.ended.IsZero() {
				st.answer(place, func(o *objectionTruth) bool { return o.at.Before(a.began) })
			}
		}
		st.said[place] = truth
	}
}

// noteAttempt notes that a run began or ended its newest attempt.
func (st *modelState) noteAttempt(place int, run *quorum.Run) {
	if run.Path != st.reviewers[place].Workflow || run.Status == "waiting" {
		return
	}
	a := st.attemptOf(place, run.ID)
	if a == nil || a.number < run.Attempt {
		st.attempts[place] = append(st.attempts[place], attemptTruth{run: run.ID, number: run.Attempt, began: run.Started})
		a = st.attemptOf(place, run.ID)
	}
	if !run.Completed() || !a.ended.IsZero() {
		return
	}
	a.ended, a.failed = run.Updated, run.Conclusion == "failure"
	if st.reviewers[place].Verdict.Kind != quorum.Conclusion {
		return
	}
	switch run.Conclusion {
	case "success":
		a.yes, a.credited = true, true
	case "failure":
		a.no = true
		st.object(place, quorum.TextRef{Kind: quorum.TextRun, ID: run.ID}, run)
	}
}

// sideBySideMoves are those of a reviewer two of whose runs may be under way at once.
func sideBySideMoves(add addMove, place int, r *quorum.Reviewer) {
	runs := func(st *modelState) (runs []*quorum.Run) {
		for i := range st.s.Runs {
			if st.s.Runs[i].Path == r.Workflow {
				runs = append(runs, &st.s.Runs[i])
			}
		}
		return runs
	}
	for n, which := range [maxSideBySide]string{"", "its second run "} {
		add(which+"starts", func(st *modelState) bool {
			if len(runs(st)) != n {
				return false
			}
			st.startRun(r, "in_progress")
			return true
		})
		addOf := func(name string, isPossible func(run *quorum.Run) bool, do func(st *modelState, run *quorum.Run)) {
			add(which+name, func(st *modelState) bool {
				all := runs(st)
				if n >= len(all) || !isPossible(all[n]) {
					return false
				}
				do(st, all[n])
				return true
			})
		}
		isAtWork := func(run *quorum.Run) bool { return run.Status == "in_progress" }
		addOf("is run again", func(run *quorum.Run) bool { return run.Completed() && run.Attempt < 3 }, func(st *modelState, run *quorum.Run) {
			run.Attempt++
			st.beginAttempt(run, "in_progress")
		})
		for _, conclusion := range []string{"success", "failure", "cancelled"} {
			addOf("ends as "+conclusion, isAtWork, func(st *modelState, run *quorum.Run) { st.endRun(run, conclusion) })
		}
		if r.Verdict.Kind == quorum.Conclusion {
			continue
		}
		addOf("says yes", isAtWork, func(st *modelState, run *quorum.Run) {
			st.comment(robot, yesText, r.Name)
			st.attemptOf(place, run.ID).yes = true
			for i := range st.attempts[place] {
				a := &st.attempts[place][i]
				a.credited = a.credited || a.ended.IsZero()
			}
		})
		addOf("says no", isAtWork, func(st *modelState, run *quorum.Run) {
			st.object(place, st.comment(robot, noText, r.Name), run)
			st.attemptOf(place, run.ID).no = true
		})
	}
	add("starts and waits", func(st *modelState) bool {
		if all := runs(st); len(all) == 0 || len(all) > maxSideBySide || !all[len(all)-1].Completed() {
			return false
		}
		st.startRun(r, "waiting")
		return true
	})
}

// sideBySideWorld has runs of a reviewer of that kind side by side.
func sideBySideWorld(kind reviewerKind) world {
	w := world{
		name: "two runs, " + kindNames[kind], need: 1, kinds: []reviewerKind{kind}, sideBySide: true,
		add: func(addMove, *quorum.Policy) {}, shows: []string{"reviewers"},
	}
	name := "a-" + kindNames[kind] + " "
	w.told = [][]string{{name + "starts", name + "its second run starts"}}
	if kind == byWorkflowText {
		w.told = append(w.told,
			[]string{name + "starts", name + "its second run starts", name + "its second run says yes"},
			[]string{
				name + "starts", name + "its second run starts", name + "its second run says yes",
				name + "its second run ends as success", "a minute passes",
			},
			[]string{name + "starts", name + "says no", name + "its second run starts", name + "its second run says yes"})
	}
	return w
}

// twoChecksWorld has two checks of one name and App under way.
func twoChecksWorld() world {
	w := plainWorld(1, byCheck)
	w.name, w.add = "two checks", func(addMove, *quorum.Policy) {}
	w.told = [][]string{{"a-check check begins", "a-check check begins"}}
	return w
}
