package story_test

// Fixes in weeks of the quarter: a workflow is started for what is objected to, and helps, or does not, or makes it worse.

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const (
	fixFile     = ".github/workflows/fix.yml"
	fixWorkflow = "name: Fix\nrun-name: \"fix #${{ inputs.pr }} ${{ inputs.head }} ${{ inputs.base }}\"\non:\n  workflow_dispatch:\n    inputs:\n" +
		"      pr:\n        type: string\n      head:\n        type: string\n      base:\n        type: string\n      findings:\n        type: string\n"
	maxTeamFixes = 2

	fixHelpsInPart = "a fix helps in part"
)

// fixNames are what must happen of fixes: that they are started, and how they go.
var fixNames = []string{
	"→ fixes are started", "a fix helps", "a fix does not help", "a fix adds findings", "a fix pushes nothing", "a fix run fails", fixHelpsInPart,
}

// prepareFixes lets the workflow that fixes be started.
func (w *teamWeek) prepareFixes() {
	if w.rules.fixes {
		w.g.SetFile(fixFile, "", fixWorkflow)
		sandbox.OnDispatch(w.g, w.hearDispatch)
	}
}

// makeStubborn has three reviewers object to a pull request of a week with fixes, which its fixes mend one after another.
func (w *teamWeek) makeStubborn(p *teamPull) {
	if w.rules.fixes && p.path == "cart.go" && !p.draft && p.fork == "" && p.dice.IntN(4) == 0 {
		p.stubborn, p.forced = true, map[int]string{0: "yes", 1: "yes", 2: "no", 3: "no", 4: "no", 5: "yes"}
	}
}

// hearDispatch checks that a fix may be started, and lets it go on.
func (w *teamWeek) hearDispatch(run int64, _ string) {
	all := w.g.Wrote().Dispatched
	in := all[slices.IndexFunc(all, func(d sandbox.Dispatch) bool { return d.Run == run })].Inputs
	number, _ := strconv.Atoi(in["pr"])
	p := w.pull(number)
	if p == nil {
		return
	}
	w.counts["→ fixes are started"]++
	p.note("a fix of %.7s is started", in["head"])
	key := fmt.Sprint(p.lines[in["head"]], " ", in["base"])
	if p.noRecord { // nobody knows any more what the diff of an older head was
		key = in["head"] + " " + in["base"]
	}
	p.fixes[key]++
	p.fixCount++
	switch {
	case p.fixes[key] > 1:
		w.fail(p, "a second fix is started for one diff")
	case p.fixCount > maxTeamFixes:
		w.fail(p, "fix %d is started, of %d", p.fixCount, maxTeamFixes)
	case p.fork != "":
		w.fail(p, "a fix is started for a fork")
	}
	how := fixHelpsInPart
	if !p.stubborn {
		how = w.also.fixes.draw(func(string) bool { return true })
	}
	w.after(time.Duration(60+p.dice.IntN(180))*time.Second, func() { w.goOnWithFix(p, in["head"], how) })
	w.after(5*time.Minute, func() {
		conclusion := map[bool]string{true: "failure", false: "success"}[how == "a fix run fails"]
		if ended, err := w.g.FinishRun(run, sandbox.Finish{Conclusion: conclusion, Attempt: 1}); err != nil || !ended {
			w.fail(p, "end a fix: %t, %v", ended, err)
		}
		w.happened(p, "the fix run ends as "+conclusion)
	})
}

// goOnWithFix lets a fix push what helps, or what does not.
func (w *teamWeek) goOnWithFix(p *teamPull, head, how string) {
	if p.closed || p.head != head || how == "a fix pushes nothing" || how == "a fix run fails" {
		w.count(p, how)
		return
	}
	forced := map[int]string{}
	for place := range voices {
		forced[place] = "yes"
	}
	if how != "a fix helps" {
		for i, o := range p.standing() {
			if i > 0 || how != fixHelpsInPart {
				forced[o.said.voice] = "no"
			}
		}
	}
	if how == "a fix adds findings" {
		forced[p.dice.IntN(2)], forced[2+p.dice.IntN(2)] = "no", "no"
	}
	p.forced = forced
	if w.push(p, pushing{by: "fixer[bot]"}) {
		w.count(p, how)
	}
}
