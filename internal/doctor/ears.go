package doctor

// What the workflows that post the check hear of: each event that no trigger names is seen only by the schedule, which
// GitHub drops most when it is needed.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workflow"
)

// pullTypes are the changes of a pull request that change a decision.
var pullTypes = []string{"opened", "reopened", "synchronize", "edited", "ready_for_review", "converted_to_draft", "closed"}

// leastPullTypes are those that a job needs which stays with the pull request and looks by itself.
var leastPullTypes = []string{"opened", "reopened", "synchronize", "ready_for_review"}

// An earsExam is an examination of what the posting workflows hear.
type earsExam struct{ *examination }

// ears are the triggers of all workflows that post the check, and of the bells that they listen to.
type ears struct {
	own   []workflow.Trigger
	bells []bell
	names []string // of workflows that are listened to
}

// A bell is a workflow that rings for the one that posts the check, and reviews nothing.
type bell struct {
	file  WorkflowFile
	rings []workflow.Trigger
}

// hears reports whether an event starts a job of ours, by itself or by a bell.
func (a ears) hears(event string) bool { return len(a.triggers(event)) > 0 }

// triggers are those of an event.
func (a ears) triggers(event string) (all []workflow.Trigger) {
	for _, t := range a.own {
		if t.Event == event {
			all = append(all, t)
		}
	}
	for _, b := range a.bells {
		for _, t := range b.rings {
			if t.Event == event {
				all = append(all, t)
			}
		}
	}
	return all
}

// shownName is what GitHub calls a workflow, and what others listen to.
func (f WorkflowFile) shownName() string {
	if f.Name != "" {
		return f.Name
	}
	return f.Path
}

// isReviewers reports whether a workflow is a reviewer's.
func (e earsExam) isReviewers(path string) bool {
	return slices.ContainsFunc(e.Policy.Reviewers, func(r quorum.Reviewer) bool { return r.Workflow == path })
}

// collectEars returns what the workflows hear.
func (e earsExam) collectEars() (a ears) {
	counted := map[string]bool{}
	for _, p := range e.posts {
		if counted[p.file.Path] {
			continue
		}
		counted[p.file.Path] = true
		a.own = append(a.own, p.file.Triggers...)
		if t, found := p.file.Trigger("workflow_run"); found {
			a.names = append(a.names, t.Workflows...)
		}
	}
	for _, file := range e.Workflows {
		if slices.Contains(a.names, file.shownName()) && !e.isReviewers(file.Path) && !counted[file.Path] {
			a.bells = append(a.bells, bell{file, file.Triggers})
		}
	}
	return a
}

// examineEars examines what the workflows hear.
func (e earsExam) examineEars() {
	a := e.collectEars()
	if a.hears("workflow_run") {
		e.examineListening(a)
	}
	e.examinePullEvents(a)
	e.examineBells(a)
	e.examineOtherEvents(a)
}

// examineListening examines the names that the workflow listens to.
func (e earsExam) examineListening(a ears) {
	deaf := e.examineUnheard(a)
	for _, p := range e.posts {
		t, found := p.file.Trigger("workflow_run")
		if !found {
			continue
		}
		if slices.Contains(t.Workflows, p.file.shownName()) {
			e.report(Broken, "listens-to-itself",
				p.file.Path+" listens to its own name: it starts itself for ever", "take its name out of workflows")
		}
		if len(t.Types) > 0 && !slices.Contains(t.Types, "completed") {
			e.report(Broken, "run-types",
				fmt.Sprintf("%s does not hear when a reviewer ends: its workflow_run has the types %s", p.file.Path, listNames(t.Types)),
				"write types: [requested, completed]")
		} else if len(t.Types) > 0 && !slices.Contains(t.Types, "requested") {
			e.report(Warning, "run-types", p.file.Path+" does not hear when a reviewer begins: the check comes when the first has ended",
				"write types: [requested, completed]")
		}
		if len(t.Branches)+len(t.BranchesIgnore) > 0 {
			e.report(Broken, "run-branches",
				p.file.Path+" listens to runs of some branches: for a run that is the pull request's branch, and not its base",
				"take branches out of its workflow_run")
		}
		if deaf {
			continue
		}
		for _, name := range t.Workflows {
			isIt := func(f WorkflowFile) bool { return f.shownName() == name }
			if !slices.ContainsFunc(e.Workflows, isIt) && !e.isUnread(WorkflowsPart) {
				e.report(Warning, "hears-nobody",
					fmt.Sprintf("%s listens to %s, and no workflow is called so", p.file.Path, quoteName(name)),
					"write the name: of a workflow, or take it out")
			}
		}
	}
}

// examineUnheard reports whether a reviewer's workflow is not listened to, or its name not known.
func (e earsExam) examineUnheard(a ears) (deaf bool) {
	told := map[string]bool{}
	for _, r := range e.Policy.Reviewers {
		file, found := e.workflowOf(r)
		if !found && r.Workflow != "" && !r.Retired {
			deaf = true // its name is not known
		}
		if !found || r.Retired || told[file.Path] || slices.Contains(a.names, file.shownName()) || e.isOwnWorkflow(file.Path) {
			continue
		}
		told[file.Path], deaf = true, true
		e.report(Broken, "reviewer-not-heard", fmt.Sprintf("%s is called %s, and %s listens to %s: nobody hears when %s ends",
			file.Path, quoteName(file.shownName()), e.posts[0].file.Path, listNames(a.names), quoteName(r.Name)),
			fmt.Sprintf("add %s to the workflows of its workflow_run", quoteName(file.shownName())))
	}
	return deaf
}

// examinePullEvents examines which changes of a pull request are heard.
func (e earsExam) examinePullEvents(a ears) {
	heard := slices.Concat(a.triggers("pull_request"), a.triggers("pull_request_target"))
	if len(heard) == 0 {
		switch {
		case !startsByItself(a):
			e.report(Broken, "only-by-hand", "nothing starts what posts the check but a person",
				"use the event-driven workflow: coordinator init writes it", e.initCommand())
		case a.hears("workflow_run"):
			e.report(Warning, "no-bell",
				"no bell rings when a pull request changes: drafts, new bases and closing are seen only by the schedule",
				"add the bell, and listen to it: coordinator init writes one")
		default:
			e.report(Warning, "only-schedule", "only the schedule starts what posts the check, and GitHub drops it most when it is needed",
				"use the event-driven workflow: coordinator init writes it", e.initCommand())
		}
		return
	}
	wanted := pullTypes
	if !a.hears("workflow_run") {
		wanted = leastPullTypes
	}
	hears := func(kind string) bool {
		return slices.ContainsFunc(heard, func(t workflow.Trigger) bool { return t.Hears(kind) })
	}
	missing := slices.DeleteFunc(slices.Clone(wanted), hears)
	if len(missing) > 0 {
		e.report(Warning, "pull-types",
			"nothing starts when a pull request is "+strings.Join(missing, ", ")+": it is seen only by the schedule",
			"write types: ["+strings.Join(wanted, ", ")+"]")
	}
	if e.usesLabels() && (!hears("labeled") || !hears("unlabeled")) {
		e.report(Warning, "labels-not-heard", "the policy asks for labels, and nothing starts when one is set or taken away",
			"add labeled and unlabeled to the types of pull_request")
	}
	for _, t := range heard {
		if len(t.Paths)+len(t.PathsIgnore)+len(t.Branches)+len(t.BranchesIgnore) > 0 {
			e.report(Warning, "pull-filter", "what rings for a pull request leaves some out by a filter of paths or branches",
				"take the filter out: the policy says who reviews what")
			break
		}
	}
	e.examineOwnEvents(a)
}

// startsByItself reports whether anything but a person starts a job of ours.
func startsByItself(a ears) bool {
	return slices.ContainsFunc([]string{
		"workflow_run", "pull_request", "pull_request_target", "pull_request_review", "issue_comment", "check_run", "status", "schedule",
	}, a.hears)
}

// usesLabels reports whether the policy asks for a label anywhere.
func (e earsExam) usesLabels() bool {
	return slices.ContainsFunc(e.Policy.Lanes, func(l quorum.Lane) bool { return len(l.If.Labels) > 0 }) ||
		slices.ContainsFunc(e.Policy.Reviewers, func(r quorum.Reviewer) bool { return len(r.When.Labels) > 0 })
}

// examineOwnEvents examines whether the pull request's own events may start what posts the check.
func (e earsExam) examineOwnEvents(a ears) {
	for _, p := range e.posts {
		_, target := p.file.Trigger("pull_request_target")
		_, pull := p.file.Trigger("pull_request")
		switch {
		case target && e.forbidsTarget(p.file.Path):
			e.report(Broken, "own-event-forbidden",
				p.file.Path+" is started by pull_request_target, which GitHub blocks in public repositories",
				"use the event-driven workflow, or allow the event for this file: Settings, Actions, Policies")
		case pull && !target && e.Public && !a.hears("workflow_run"):
			why := "its token only reads"
			if p.asApp {
				why = "it has no secret"
			}
			e.report(Warning, "forks-cannot-write",
				fmt.Sprintf("%s is started by pull_request: for a fork %s, and no check is written", p.file.Path, why),
				"use the event-driven workflow: coordinator init writes it")
		}
	}
}

// examineBells examines whether a bell rings by itself.
func (e earsExam) examineBells(a ears) {
	for _, b := range a.bells {
		if b.file.State != "" && b.file.State != "active" {
			e.report(Broken, "bell-disabled",
				fmt.Sprintf("%s is switched off (%s): nobody hears of pull requests", b.file.Path, plainText(b.file.State, 40)),
				"switch it on", e.enableCommand(b.file.Path))
		}
		_, reviews := b.file.Trigger("pull_request_review")
		isCopilot := func(r quorum.Reviewer) bool { return strings.HasPrefix(strings.ToLower(r.Author), "copilot-") }
		if reviews && slices.ContainsFunc(e.Policy.Reviewers, isCopilot) {
			e.report(Warning, "bell-held",
				b.file.Path+" rings for reviews, and GitHub holds each run that Copilot's review starts until somebody approves it",
				"take pull_request_review out of it")
		}
	}
}

// examineOtherEvents examines what reviewers leave without a run.
func (e earsExam) examineOtherEvents(a ears) {
	if !a.hears("schedule") && startsByItself(a) {
		e.report(Warning, "no-schedule", "nothing looks at what no event announces: a deadline, a resolved thread, a lost event",
			"add a schedule, every fifteen minutes and away from the full hour")
	}
	if !a.hears("workflow_run") {
		return // it stays and looks by itself, or it was said that only the schedule starts it
	}
	comments, checks, statuses := false, "", ""
	for _, r := range e.Policy.Reviewers {
		switch {
		case r.Retired:
		case r.Check != "" && r.App != quorum.ActionsApp:
			checks = r.Name
		case r.Status != "":
			statuses = r.Name
		case r.Workflow == "" || !strings.EqualFold(r.Author, quorum.ActionsBot):
			comments = true
		}
	}
	if !a.hears("issue_comment") && (comments || e.Policy.Override != 0) {
		e.report(Warning, "comments-not-heard",
			"no comment starts what posts the check: reviewers' and people's commands are seen only by the schedule",
			"add issue_comment: {types: [created, edited, deleted]}")
	}
	if !a.hears("check_run") && checks != "" {
		e.report(Warning, "checks-not-heard",
			fmt.Sprintf("%s answers by a check, and no check_run starts what posts ours", quoteName(checks)),
			"add check_run: {types: [completed]}")
	}
	if !a.hears("status") && statuses != "" {
		e.report(Warning, "statuses-not-heard",
			fmt.Sprintf("%s answers by a status, and no status starts what posts the check", quoteName(statuses)),
			"add status to what starts it")
	}
}
