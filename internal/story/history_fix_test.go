package story_test

// Fixes in the model: a fix run pushes, or ends and has pushed nothing, while people push too. And what is true of the
// loop then.

import (
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A fixTruth is a fix run that was started.
type fixTruth struct {
	seen  quorum.FixSeen
	lines int
	base  string
	open  int // the most reviewers that objected to its head
}

// fixTruths are what is true of the fixes of a pull request.
type fixTruths struct {
	fixes    []fixTruth
	pushedBy map[string]int // by head: the fix that pushed it
}

func (f *fixTruths) clone() fixTruths {
	d := fixTruths{fixes: slices.Clone(f.fixes), pushedBy: map[string]int{}}
	for head, i := range f.pushedBy {
		d.pushedBy[head] = i
	}
	return d
}

// maxModelFixes is how many fix runs the model's policy allows.
const maxModelFixes = 3

// showFixes shows in a snapshot what GitHub tells of fixes.
func (st *modelState) showFixes(s *quorum.Snapshot) {
	s.Fix = quorum.FixSight{PushRead: true, Listed: true}
	if i := slices.IndexFunc(s.Pushes, func(p quorum.Push) bool { return p.After == s.PR.Head }); i >= 0 {
		s.Fix.Push = s.Pushes[i]
	}
	for _, f := range slices.Backward(st.fixes) {
		s.Fix.Runs = append(s.Fix.Runs, f.seen)
	}
}

// openNow is how many reviewers object to this head.
func (st *modelState) openNow() (n int) {
	for place := range st.said {
		if st.hasStanding(place) {
			n++
		}
	}
	return n
}

// noteOpen notes how many objections a look saw on the head of a fix.
func (st *modelState) noteOpen() {
	for i := range st.fixes {
		if f := &st.fixes[i]; f.seen.Head == st.s.PR.Head && f.base == st.s.PR.BaseRef {
			f.open = max(f.open, st.openNow())
		}
	}
}

// startFix starts a fix as GitHub does. The answer of one that a crash follows is lost.
func (w *walker) startFix(st *modelState, order *quorum.FixOrder, history []string, crash crashPoint) {
	if order == nil {
		return
	}
	for _, f := range st.fixes {
		if f.base == st.s.PR.BaseRef && (f.lines == st.lines || f.seen.Head == order.Head) {
			w.fails(noSecondFix, history, "a second fix is started for %s", order.Head[:7])
		}
	}
	if len(st.fixes) >= maxModelFixes {
		w.fails(loopsEnd, history, "fix %d is started", len(st.fixes)+1)
	}
	if i, found := st.pushedBy[order.Head]; found && st.openNow() >= st.fixes[i].open {
		w.fails(loopsEnd, history, "another fix is started, although %d object, and %d did before the last one", st.openNow(), st.fixes[i].open)
	}
	seen := quorum.FixSeen{ID: st.newID(), Head: order.Head, Base: order.Base, Created: st.now, Updated: st.now}
	st.fixes = append(st.fixes, fixTruth{seen: seen, lines: st.lines, base: st.s.PR.BaseRef, open: st.openNow()})
	if crash == afterEffect {
		return
	}
	st.s.Record = evidence.Refuse(st.s.Record, quorum.Receipt{Fix: &quorum.FixResult{Order: *order, State: quorum.ResultDone, Run: seen.ID}})
}

// endFix ends the newest fix run; false if none is under way.
func (st *modelState) endFix() bool {
	if len(st.fixes) == 0 || st.fixes[len(st.fixes)-1].seen.Ended {
		return false
	}
	seen := &st.fixes[len(st.fixes)-1].seen
	seen.Ended, seen.Updated = true, st.now
	return true
}

// fixWorld has fixes, beside people's pushes that change something or nothing.
func fixWorld() world {
	return world{
		name: "fixes", need: 1, kinds: []reviewerKind{byApp, byApp}, few: []string{" approves", " requests changes"},
		shape: func(p *quorum.Policy) {
			p.Fix = quorum.FixPolicy{Workflow: ".github/workflows/fix.yml", MaxRestarts: maxModelFixes}
		},
		add: func(add addMove, _ *quorum.Policy) {
			changeMoves(add)
			retargetMoves(add, mainBase, otherBase, partBase)
			add("the fix pushes", func(st *modelState) bool {
				fix := len(st.fixes) - 1
				if len(st.heads) == maxHeads || !st.endFix() || !st.push(tidier, st.otherChange(codeFile)) {
					return false
				}
				st.pushedBy[st.s.PR.Head] = fix
				return true
			})
			add("the fix ends", func(st *modelState) bool { return st.endFix() })
			add("an hour passes", func(st *modelState) bool {
				st.now = st.now.Add(time.Hour)
				return true
			})
		},
		told: [][]string{
			{"a-app requests changes", "the fix pushes"},
			{"a-app requests changes", "b-app requests changes", "the fix pushes"},
			{"a-app requests changes", "the fix ends", "alice pushes"},
			{
				"a-app requests changes", "alice pushes", "a-app approves", "alice forces back to the first head", "alice pushes another mode",
				"the fix pushes", "b-app approves",
			},
			{
				"a-app requests changes", "alice pushes", "a-app requests changes", "alice pushes", "a-app requests changes", "alice pushes",
			},
		},
		shows: []string{"reviewers"},
	}
}

// mutateFixes returns a mutation of what the loop of fixes depends on.
func mutateFixes(mutate func(f *quorum.FixFacts)) func(p *product) {
	return func(p *product) {
		facts := p.facts
		p.facts = func(policy quorum.Policy, s quorum.Snapshot) quorum.Facts {
			f := facts(policy, s)
			if f.Fix != nil {
				mutate(f.Fix)
			}
			return f
		}
	}
}
