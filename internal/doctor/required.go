package doctor

// Whether the check is required, under its name, from its App, and nowhere where a green one is cheap.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
)

// actionsAppID is the App that all jobs' tokens belong to on github.com.
const actionsAppID = 15368

// A rulesExam is an examination of what the bases require.
type rulesExam struct{ *examination }

// examineRequired examines what the bases require.
func (e rulesExam) examineRequired() {
	if e.Policy.Mode == quorum.ReportOnly {
		e.examineReportOnly()
		return
	}
	for i, base := range e.Bases {
		ours := slices.DeleteFunc(slices.Clone(base.Required), func(r Requirement) bool { return r.Check != e.Policy.Check })
		e.examineJobNames(base)
		switch {
		case len(ours) > 0:
			e.examineSources(base, ours)
		case e.isUnread(RulesPart), e.isUnread(ProtectionPart):
		case i == 0:
			e.examineMissing(base)
		default:
			e.report(
				Warning, "base-not-required",
				fmt.Sprintf("a lane names %s, and nothing requires %s there", quoteName(base.Name), quoteName(e.Policy.Check)),
				"require it there, too", e.requireCommand(base.Name)...,
			)
		}
	}
	e.examineCarrying()
}

// examineReportOnly says that a policy that only reports must not be required.
func (e rulesExam) examineReportOnly() {
	for _, base := range e.Bases {
		if slices.ContainsFunc(base.Required, func(r Requirement) bool { return r.Check == e.Policy.Check }) {
			e.report(
				Broken, "report-mode-required",
				fmt.Sprintf("%s is required on %s, and with mode: report it is neutral, which passes", quoteName(e.Policy.Check), quoteName(base.Name)),
				"take mode: report out of the policy, or do not require the check",
			)
		}
	}
}

// examineMissing says why the default branch does not require the check: another name, a ruleset that is not active.
func (e rulesExam) examineMissing(base Base) {
	check := e.Policy.Check
	for _, r := range base.Required {
		if isSimilarName(r.Check, check) {
			fix := e.rulesetCommand(r.Ruleset, func(required map[string]any) {
				if required["context"] == r.Check {
					required["context"] = check
					if app := e.expectedApp(); app != 0 {
						required["integration_id"] = app
					}
				}
			})
			e.report(
				Broken, "other-name",
				fmt.Sprintf(
					"%s requires %s, and the policy calls the check %s", quoteName(base.Name), quoteName(r.Check), quoteName(check),
				),
				"require the name that the policy says, letter by letter", fix...,
			)
			return
		}
	}
	for _, set := range e.Rulesets {
		if !set.Active && slices.ContainsFunc(set.Checks, func(r Requirement) bool { return r.Check == check }) {
			var fix []string
			if !set.Organization {
				fix = []string{e.ghAPI("PUT", e.repoPath("rulesets", fmt.Sprint(set.ID)), map[string]any{"enforcement": "active"})}
			}
			e.report(
				Broken, "ruleset-inactive",
				fmt.Sprintf("the ruleset %s requires %s, and is not active", quoteName(set.Name), quoteName(check)),
				"set its enforcement to Active", fix...,
			)
			return
		}
	}
	if e.requiresOwnJob(base) != "" {
		return // it was said: the check takes the job's place
	}
	e.report(
		ToDo, "not-required",
		fmt.Sprintf("nothing requires %s on %s: it holds nothing back", quoteName(check), quoteName(base.Name)),
		"require it, with the App that posts it as its source", e.requireCommand(base.Name)...,
	)
}

// isSimilarName reports whether somebody probably meant the other name: letters and digits are the same.
func isSimilarName(a, b string) bool {
	lettersOf := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("-_ .:/()→", r) {
				return -1
			}
			return r
		}, strings.ToLower(s))
	}
	return a != b && lettersOf(a) != "" && lettersOf(a) == lettersOf(b)
}

// requiresOwnJob returns the required check that is a job of ours, and no verdict; "" without one.
func (e rulesExam) requiresOwnJob(base Base) string {
	for _, r := range base.Required {
		for _, p := range e.posts {
			if r.Check != e.Policy.Check && (r.Check == p.job.ShownName() || r.Check == p.job.ID) {
				return r.Check
			}
		}
	}
	return ""
}

// examineJobNames examines whether a job is taken for the check.
func (e rulesExam) examineJobNames(base Base) {
	if job := e.requiresOwnJob(base); job != "" {
		e.report(
			Broken, "job-required",
			fmt.Sprintf("%s requires %s: the job that posts the check, which is green whatever the verdict", quoteName(base.Name), quoteName(job)),
			fmt.Sprintf("require %s in its place", quoteName(e.Policy.Check)),
		)
	}
	if base.Name != e.Branch {
		return
	}
	for _, file := range e.Workflows {
		for _, job := range file.Jobs {
			if job.ShownName() == e.Policy.Check {
				e.report(
					Broken, "job-of-that-name",
					fmt.Sprintf("a job of %s is called %s, as the check is: GitHub counts both", file.Path, quoteName(e.Policy.Check)),
					"give the job another name",
				)
			}
		}
	}
}

// examineSources examines from whom the required check must come.
func (e rulesExam) examineSources(base Base, ours []Requirement) {
	app, check := e.expectedApp(), quoteName(e.Policy.Check)
	if app == 0 && e.postsAsApp() { // whose id nothing has shown yet
		app = -1
	}
	for _, r := range ours {
		on := fmt.Sprintf("%s is required on %s", check, quoteName(base.Name))
		switch {
		case r.App == 0 && e.postsAsApp():
			e.report(
				Broken, "any-source", on+" from any source: whoever may write a status or edit a workflow can write a green one",
				"choose the App that posts it as its source", e.sourceCommands(base, r)...,
			)
		case r.App == 0 && e.Host == "":
			e.report(
				Warning, "any-source", on+" from any source: whoever may push can write a green status of that name",
				"choose GitHub Actions as its source", e.sourceCommands(base, r)...,
			)
		case r.App != 0 && app > 0 && r.App != app:
			e.report(
				Broken, "other-source", fmt.Sprintf("%s from App %d, and App %d posts it: it can never be met", on, r.App, app),
				"choose the App that posts it as its source", e.sourceCommands(base, r)...,
			)
		case app == -1 && r.App == actionsAppID:
			e.report(
				Broken, "other-source", on+" from GitHub Actions, and an App of yours posts it: it can never be met",
				"choose the App that posts it as its source",
			)
		}
	}
	if !e.postsAsApp() && base.Name == e.Branch && len(e.posts) > 0 {
		e.report(
			Warning, "forgeable", check+" is posted with GITHUB_TOKEN: whoever may push a workflow can write it, "+
				"and whoever may delete runs can delete it",
			"post it as a GitHub App of your own, and choose that as its source: docs/trust.md",
		)
	}
}

// examineCarrying examines whether the name is required where anybody may make a branch: there a green is earned under
// weaker eyes, and counts until the first look at it.
func (e rulesExam) examineCarrying() {
	for _, set := range e.Rulesets {
		isOurs := func(r Requirement) bool { return r.Check == e.Policy.Check }
		isOpen := func(ref string) bool { return ref == "~ALL" || strings.ContainsAny(ref, "*?[") }
		if !set.Active || set.Creation || !slices.ContainsFunc(set.Checks, isOurs) {
			continue
		}
		if i := slices.IndexFunc(set.Include, isOpen); i >= 0 {
			e.report(
				Warning, "green-carried",
				fmt.Sprintf(
					"the ruleset %s requires %s on %s, which anybody who may push can create: a green one can be carried from there "+
						"until the first look", quoteName(set.Name), quoteName(e.Policy.Check), quoteName(set.Include[i]),
				),
				"name the branches, or add the rule Restrict creations to a ruleset for them",
			)
		}
	}
}
