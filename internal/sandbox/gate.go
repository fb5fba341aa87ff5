package sandbox

// The merge gate: what GitHub makes of a required check, which is not what its API shows.

import (
	"slices"
	"strings"
)

// MergeGateOpens reports whether GitHub's merge gate takes the required check of that name for fulfilled on the head
// of a pull request: at least one check run or commit status of the name counts there, and all that count are green.
// Where a rule of the base requires it of an App, only what that App has set counts.
//
// A check run does not count while it is in the suite of a workflow run that GitHub takes for outdated, although REST,
// isRequired and the rollup go on showing it. A check that a job makes is in the suite of whichever run came first. A
// commit status is in no suite, and the newest of its context always counts. Source: probes of rmartz/merge-safety 73
// and 74 and of sluiceway, autumn 2026; "Troubleshooting required status checks" has it that a check run and a status
// of one name are both required.
func MergeGateOpens(g *GitHub, pull int, check string) bool {
	defer g.mu.held()()
	now := g.carryOutDue()
	p := g.pulls[pull]
	if p == nil {
		return false
	}
	var counting []string
	required := g.appOfRequiredCheck(p.baseBranch, check)
	countsFrom := func(a App) bool { return required == 0 || required == a.ID }
	for _, s := range g.suitesOn(p.head) {
		if g.isPassedOver(s) {
			continue
		}
		for _, c := range g.checksIn(s, true, now) {
			if c.Name == check && c.job != nil && countsFrom(c.App) {
				counting = append(counting, or(c.Conclusion, c.Status))
			}
		}
		for _, c := range s.checks { // all of that name: a newer one hides none
			if c.Name == check && countsFrom(c.App) {
				counting = append(counting, or(c.Conclusion, c.Status))
			}
		}
	}
	for _, s := range g.latestStatuses(p.head) {
		if strings.EqualFold(s.Context, check) && countsFrom(g.appOfBot(s.By)) {
			counting = append(counting, s.State)
		}
	}
	isGreen := func(state string) bool { return slices.Contains([]string{"success", "neutral", "skipped"}, state) }
	return len(counting) > 0 && !slices.ContainsFunc(counting, func(state string) bool { return !isGreen(state) })
}
