package story_test

// The policies whose histories are walked through, each with the moves that matter to it, and what truly holds in them
// for a pull request.

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A world is a policy with what may happen under it.
type world struct {
	name   string
	need   int
	kinds  []reviewerKind
	fewer  int                                 // moves that its histories are shorter than the flag says
	shape  func(p *quorum.Policy)              // what the policy asks beside need
	few    []string                            // ends of the reviewers' moves; none: all of them, and those of plain worlds
	add    func(add addMove, p *quorum.Policy) // further moves
	laneOf func(st *modelState) laneTruth      // nil: that of the top level
	told   [][]string                          // further beginnings
	shows  []string                            // kinds of passes that there must be

	sideBySide bool // runs of one reviewer may be under way at once
	guarded    bool // a look sees what the base holds of guarded files
}

// plainWorld has reviewers of these kinds and asks for need approvals of any of them.
func plainWorld(need int, kinds ...reviewerKind) world {
	var names []string
	for _, k := range kinds {
		names = append(names, kindNames[k])
	}
	w := world{name: strings.Join(names, "+"), need: need, kinds: kinds}
	if need > 1 {
		w.name, w.fewer = w.name+" both", 2
	}
	return w
}

// depth is how many moves its histories have where the flag says so many.
func (w *world) depth(moves int) int { return max(1, moves-w.fewer) }

// policy is the world's.
func (w *world) policy() quorum.Policy {
	p := modelPolicy(w.need, w.kinds)
	if w.shape != nil {
		w.shape(&p)
	}
	return p
}

// A laneTruth is what truly holds for a pull request.
type laneTruth struct {
	name   string
	rules  []quorum.NeedRule
	people int
	votes  func(place int) bool // nil: everybody
}

// needOf is how many of so many voters must approve.
func (l *laneTruth) needOf(voters int) (need int) {
	for _, rule := range l.rules {
		switch rule.Share {
		case quorum.ByNumber:
			need = max(need, rule.Count)
		case quorum.Majority:
			need = max(need, voters/2+1)
		case quorum.All:
			need = max(need, voters, 1)
		case quorum.NoReview:
		}
	}
	return need
}

// topLevel is what holds where no lane does.
func topLevel(p *quorum.Policy) laneTruth {
	rules := p.Rules
	if len(rules) == 0 {
		rules = byNumber(p.Need)
	}
	return laneTruth{rules: rules, people: p.People.Least()}
}

func askedPeople(n int) quorum.People { return quorum.NewPeople(quorum.PeopleRule{Count: n}) }

func byNumber(n int) []quorum.NeedRule { return []quorum.NeedRule{{Share: quorum.ByNumber, Count: n}} }

// The moves by which reviewers of few words say yes and no.
var (
	fewWords  = []string{" starts", " says yes", " says no", " ends as success", " approves", " requests changes", " fails", " succeeds"}
	moreWords = append(slices.Clip(fewWords), " text is edited into a yes by a workflow", " text is deleted", " opens a thread",
		" threads are resolved by bob", " threads are resolved by alice", " threads are opened again by bob", " review is dismissed by bob",
		" review is dismissed by alice")
)

const draftMove = "alice converts to draft, or marks ready"

// carryWorld has pushes that change nothing.
func carryWorld() world {
	return world{
		name: "carry", need: 1, kinds: []reviewerKind{byWorkflowText, byApp}, few: moreWords,
		shape: func(p *quorum.Policy) { p.Carry = quorum.CarrySameDiff },
		add: func(add addMove, _ *quorum.Policy) {
			changeMoves(add)
			retargetMoves(add, mainBase, otherBase, partBase)
			add(draftMove, func(st *modelState) bool {
				st.s.PR.Draft = !st.s.PR.Draft
				return true
			})
		},
		told: [][]string{
			{"b-app requests changes", "alice pushes"},
			{
				"b-app opens a thread", "b-app threads are resolved by bob", "alice retargets to " + partBase,
				"b-app threads are opened again by bob",
			},
			{"b-app opens a thread", "b-app threads are resolved by bob", "alice rebases", "b-app threads are opened again by bob"},
			{"b-app approves", draftMove, "alice rebases", draftMove},
			{"b-app approves", draftMove, "alice rebases", "a-workflow starts", "a-workflow says no", "alice rebases", draftMove},
			{"a-workflow starts", "a-workflow says no", "a-workflow ends as success", "a-workflow text is deleted"},
			{"b-app approves", "alice rebases", "alice forces back to the first head"},
			{"alice rebases", "alice forces back to the first head", "b-app requests changes"},
			{"alice rebases", "alice forces back to the first head", "alice rebases", "b-app requests changes"},
			{"a-workflow starts", "a-workflow says no", "a-workflow ends as success", "alice rebases", "a-workflow starts"},
			{
				"b-app opens a thread", "b-app threads are resolved by bob", "alice retargets to " + partBase,
				"b-app threads are opened again by bob", "alice retargets to " + mainBase, "a-workflow starts",
			},
		},
		shows: []string{"carried", "again"},
	}
}

// askWorld has a reviewer that is asked at the start, beside pushes that change nothing.
func askWorld() world {
	return world{
		name: "carry, asked", need: 2, kinds: []reviewerKind{byApp, byStatus}, few: fewWords,
		shape: func(p *quorum.Policy) {
			p.Carry = quorum.CarrySameDiff
			p.Reviewers[0].Request = quorum.Request{Comment: "@a-app review", AtStart: true}
		},
		add:   func(add addMove, _ *quorum.Policy) { changeMoves(add) },
		shows: []string{"carried"},
	}
}

const (
	strictLabel = "security"
	laxLabel    = "trivial"
	otherBranch = "release-1"
)

// laneWorld has lanes that documentation, a base and labels choose, and a reviewer that judges code alone.
func laneWorld() world {
	none := quorum.NeedRule{Share: quorum.NoReview}
	all := quorum.NeedRule{Share: quorum.All}
	one := askedPeople(1)
	return world{
		name: "lanes", need: 2, kinds: []reviewerKind{byStatus, byApp}, few: fewWords,
		shape: func(p *quorum.Policy) {
			p.Rules, p.Guard = byNumber(2), []string{"docs/rules/**"}
			p.Reviewers[1].When = quorum.Condition{AnyPath: []string{"**.go"}}
			p.Lanes = []quorum.Lane{
				{Name: "trivial", If: quorum.Condition{Labels: []string{laxLabel}}, Need: &none},
				{Name: "security", If: quorum.Condition{Labels: []string{strictLabel}}, Need: &all, People: &one},
				{Name: "docs", Why: "docs only", If: quorum.Condition{AllPaths: []string{"docs/**"}}, Need: &none},
				{Name: "release", If: quorum.Condition{Base: []string{"release-*"}}, Need: &none},
				{Name: "stable", If: quorum.Condition{Base: []string{otherBase}}, Need: &byNumber(1)[0], Voters: []string{"a-status"}},
			}
		},
		add: func(add addMove, _ *quorum.Policy) {
			add("alice pushes", func(st *modelState) bool { return st.push(author, st.otherChange(codeFile)) })
			add("alice pushes documentation", func(st *modelState) bool { return st.push(author, st.otherChange(docsFile)) })
			add("alice pushes a guarded file", func(st *modelState) bool { return st.push(author, st.otherChange(rulesFile)) })
			add("alice forces back to the first head", func(st *modelState) bool { return st.forceBack(author) })
			for _, label := range []string{strictLabel, laxLabel} {
				add("carol turns "+label, func(st *modelState) bool {
					st.setLabel(label)
					return true
				})
			}
			retargetMoves(add, mainBase, otherBase, otherBranch, partBase)
			add("bob approves", func(st *modelState) bool { return st.review(helper, "APPROVED") })
			add("bob requests changes", func(st *modelState) bool { return st.review(helper, "CHANGES_REQUESTED") })
		},
		laneOf: laneOfLaneWorld,
		told: [][]string{
			{"alice pushes documentation", "a-status status fails"},
			{"b-app requests changes", "alice pushes documentation"},
			{"b-app requests changes", "alice retargets to " + otherBase, "alice pushes"},
			{"carol turns " + strictLabel, "a-status status succeeds", "b-app approves"},
		},
		shows: []string{"no review", "by lane", "by label", "stand-in", "again"},
	}
}

// laneOfLaneWorld says in which lane a pull request of that world is.
func laneOfLaneWorld(st *modelState) laneTruth {
	l := laneTruth{rules: byNumber(2)}
	isCode := st.path == codeFile
	l.votes = func(place int) bool { return place == 0 || isCode }
	if slices.Contains(st.labels, strictLabel) { // its lane stands above those that ask less
		l.rules, l.people = append(l.rules, quorum.NeedRule{Share: quorum.All}), 1
		return l
	}
	switch base := st.s.PR.BaseRef; {
	case st.path == docsFile && base == mainBase:
		l.name, l.rules = "docs", nil
	case base == otherBase && st.path != rulesFile:
		l.name, l.rules = "stable", byNumber(1)
		l.votes = func(place int) bool { return place == 0 }
	}
	return l
}

// peopleWorld asks for a person beside the reviewers.
func peopleWorld() world {
	return world{
		name: "people", need: 1, kinds: []reviewerKind{byStatus}, few: fewWords,
		shape: func(p *quorum.Policy) { p.People = askedPeople(1) },
		add: func(add addMove, _ *quorum.Policy) {
			peopleMoves(add)
			add("alice rebases", func(st *modelState) bool { return st.push(author, st.change) })
			retargetMoves(add, mainBase, otherBase, partBase)
		},
		told:  [][]string{{"bob approves", "a-status status fails"}, {"a-status status succeeds", "bob approves", "alice rebases"}},
		shows: []string{"people", "stand-in"},
	}
}

// carriedPeopleWorld carries people's approvals over pushes that change nothing.
func carriedPeopleWorld() world {
	return world{
		name: "people, carried", need: 1, kinds: []reviewerKind{byStatus}, few: fewWords,
		shape: func(p *quorum.Policy) { p.People, p.Carry = askedPeople(1), quorum.CarrySameDiff },
		add: func(add addMove, _ *quorum.Policy) {
			peopleMoves(add)
			changeMoves(add)
			add("dave rebases", func(st *modelState) bool { return st.push(second, st.change) })
			retargetMoves(add, mainBase, otherBase, partBase)
		},
		told: [][]string{
			{"a-status status succeeds", "bob approves", "alice rebases", "alice rebases"},
			{"a-status status succeeds", "dave approves", "dave rebases", "alice rebases"},
			{"a-status status succeeds", "bob approves", "alice retargets to " + otherBase, "alice rebases"},
			{"bob approves", "a-status status fails", "alice rebases", "a-status status succeeds"},
		},
		shows: []string{"people", "carried", "person carried"},
	}
}

// basesWorld has a base on which each diff is the same, and one on which none is.
func basesWorld() world {
	return world{
		name: "bases", need: 1, kinds: []reviewerKind{byCheck, byApp}, few: fewWords,
		shape:   func(p *quorum.Policy) { p.Carry = quorum.CarrySameDiff },
		guarded: true,
		add: func(add addMove, _ *quorum.Policy) {
			add("alice rebases", func(st *modelState) bool { return st.push(author, st.change) })
			add("alice pushes to the base", func(st *modelState) bool {
				st.basePushed = maps.Clone(st.basePushed)
				if st.basePushed == nil {
					st.basePushed = map[string]time.Time{}
				}
				st.basePushed[st.s.PR.BaseRef] = st.now
				return true
			})
			retargetMoves(add, mainBase, otherBase, partBase, guardBase)
		},
		told: [][]string{
			{"b-app approves", "alice retargets to " + otherBase},
			{"b-app approves", "alice retargets to " + guardBase},
			{
				"b-app requests changes", "alice retargets to " + guardBase, "b-app approves", "b-app approves", "alice retargets to " + mainBase,
				"a-check check succeeds",
			},
			{
				"b-app requests changes", "alice retargets to " + partBase, "b-app approves", "b-app approves", "alice retargets to " + mainBase,
				"a-check check succeeds",
			},
			{
				"alice retargets to " + partBase, "b-app requests changes", "alice retargets to " + guardBase, "b-app approves",
				"alice retargets to " + mainBase,
			},
			{"b-app approves", "alice pushes to the base", "alice retargets to " + otherBase},
			{"a-check check fails", "alice retargets to " + partBase, "b-app approves"},
			{"a-check check fails", "alice retargets to " + partBase, "alice rebases", "b-app approves"},
			{"b-app approves", "alice retargets to " + otherBase, "alice rebases"},
			{"alice retargets to " + partBase, "b-app approves", "b-app approves"},
		},
		shows: []string{"reviewers", "carried", "again"},
	}
}

// familyWorld counts two reviewers as one.
func familyWorld() world {
	return world{
		name: "families", need: 2, kinds: []reviewerKind{byStatus, byCheck, byApp}, few: fewWords,
		shape: func(p *quorum.Policy) {
			p.Families = quorum.DistinctFamily
			p.Reviewers[0].Family, p.Reviewers[1].Family = "maker", "maker"
		},
		add: func(add addMove, p *quorum.Policy) {
			add("alice rebases", func(st *modelState) bool { return st.push(author, st.change) })
			add("an agent of the maker's pushes", func(st *modelState) bool {
				return st.push(quorum.Account{Login: p.Reviewers[0].Author, ID: 77, Bot: true}, st.otherChange(codeFile))
			})
		},
		shows: []string{"reviewers"},
	}
}

// seatWorld has a reserve for one reviewer, and one that waits for that seat.
func seatWorld(kinds ...reviewerKind) world {
	shows, told := []string{"reviewers", "seat"}, [][]string{
		{"a-app approves", "b-workflow starts", "b-workflow ends as success", "c-conclusion starts", "c-conclusion ends as success", "its wake comes"},
	}
	if kinds[1] == byCheck {
		shows = append(shows, "again")
		told = [][]string{{"b-check check fails", "alice pushes", "c-app approves", "a-status status succeeds", "its wake comes"}}
	}
	return world{
		name: "seats of " + kindNames[kinds[1]], need: 2, kinds: kinds, few: fewWords,
		shape: func(p *quorum.Policy) {
			p.Reviewers[2].InsteadOf, p.Reviewers[0].After = p.Reviewers[1].Name, []string{p.Reviewers[1].Name}
		},
		add: func(add addMove, _ *quorum.Policy) {
			changeMoves(add)
			retargetMoves(add, mainBase, otherBase, partBase)
		},
		told:  told,
		shows: shows,
	}
}

// commandWorld has people's commands.
func commandWorld() world {
	return world{
		name: "commands", need: 1, kinds: []reviewerKind{byWorkflowText, byStatus}, few: fewWords,
		shape: func(p *quorum.Policy) { p.Override = quorum.Maintain },
		add: func(add addMove, p *quorum.Policy) {
			commandMoves(add, p)
			changeMoves(add)
			add("root ends the override", (*modelState).endOverride)
			retargetMoves(add, mainBase, otherBase, partBase)
		},
		told: [][]string{
			{"b-status status fails", "b-status status succeeds"},
			{"b-status status fails", "bob accepts"},
			{"b-status status fails", "bob accepts", "alice rebases"},
			{"b-status status fails", "bob accepts while it is closed"},
			{"b-status status fails", "alice pushes", "b-status status succeeds"},
		},
		shows: []string{"accepted", "again"},
	}
}

// retargetMoves let the author choose one of these bases.
func retargetMoves(add addMove, bases ...string) {
	for _, base := range bases {
		add("alice retargets to "+base, func(st *modelState) bool { return st.retarget(base) })
	}
}

// worlds are those whose histories are walked through.
func worlds() []world {
	return []world{
		plainWorld(1, byWorkflowText),
		plainWorld(1, byConclusion),
		plainWorld(1, byApp),
		plainWorld(1, byWorkflowText, byWorkflowText),
		plainWorld(1, byApp, byWorkflowText),
		plainWorld(1, byConclusion, byWorkflowText),
		plainWorld(1, byCheck, byStatus),
		// Of these only a sample is walked through: two approvals are needed, and there may be three reviewers.
		plainWorld(2, byWorkflowText, byWorkflowText),
		plainWorld(2, byApp, byWorkflowText),
		plainWorld(2, byWorkflowText, byWorkflowText, byApp),
		plainWorld(2, byConclusion, byWorkflowText, byStatus),
		carryWorld(), askWorld(), laneWorld(), peopleWorld(), carriedPeopleWorld(), basesWorld(), familyWorld(), commandWorld(),
		seatWorld(byStatus, byCheck, byApp), seatWorld(byApp, byWorkflowText, byConclusion),
		lateWorld(), lateConclusionWorld(), fixWorld(),
		sideBySideWorld(byWorkflowText), sideBySideWorld(byConclusion), twoChecksWorld(),
	}
}
