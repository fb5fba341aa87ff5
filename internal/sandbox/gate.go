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

// isPassedOver reports whether the merge gate passes over the checks of a suite: its run was followed by a newer one
// of the same workflow and event on the commit, or nobody's change started it. Source for dispatched and scheduled
// runs: b24ui 353 and cpplint 360.
func (g *repository) isPassedOver(s *checkSuite) bool {
	r := s.run
	if r == nil {
		return false
	}
	return r.event == "workflow_dispatch" || r.event == "schedule" ||
		slices.ContainsFunc(g.index.runsByHead[r.head], func(o *workflowRun) bool {
			return o.id > r.id && o.workflowFile() == r.workflowFile() && o.event == r.event
		})
}

// appOfRequiredCheck is the id of the App of which a rule of the branch requires the check; 0 if anybody may set it.
func (g *repository) appOfRequiredCheck(branch, check string) int64 {
	b := g.branches[branch]
	if b == nil {
		return 0
	}
	for _, rules := range []*branchRules{b.protection, b.ruleset} {
		if rules == nil {
			continue
		}
		for _, c := range rules.checks {
			if c.Name == check && c.AppID != 0 {
				return c.AppID
			}
		}
	}
	return 0
}

// appOfBot is the App whose bot has that login; a person's has none.
func (g *repository) appOfBot(login string) App {
	slug, isBot := strings.CutSuffix(login, "[bot]")
	switch {
	case !isBot:
		return App{}
	case slug == g.app.Slug:
		return g.app
	}
	return App{Slug: or(g.firstSlug[slug], slug)}.WithID()
}
