package doctor

// Whether each reviewer can answer, and whether its answer is found.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/workflow"
)

// A reviewersExam is an examination of the policy's reviewers.
type reviewersExam struct{ *examination }

// examineReviewers examines the reviewers of the policy.
func (e reviewersExam) examineReviewers() {
	var absent []quorum.Reviewer
	for _, r := range e.Policy.Reviewers {
		before := len(e.all)
		switch {
		case r.Retired:
			e.report(Warning, "retired", fmt.Sprintf("%s is retired: its service has ended, and it has no vote", quoteName(r.Name)),
				"take it out of the policy")
			continue
		case e.waitsForItself(r):
			e.report(Broken, "waits-for-itself", fmt.Sprintf("%s is what posts this check: it waits for itself", quoteName(r.Name)),
				"take it out of the policy's reviewers")
			continue
		case r.Workflow != "" && !strings.HasPrefix(r.Workflow, "dynamic/"):
			e.examineWorkflow(r)
		}
		if len(e.all) > before {
			continue // that it was not seen follows from it
		}
		if pulls := e.pullsFor(r); len(pulls) > 0 && !slices.ContainsFunc(pulls, func(p SeenPull) bool { return isSeenOn(r, p) }) {
			absent = append(absent, r)
		} else {
			e.examineHeading(r)
		}
	}
	e.examineAbsent(absent)
	e.examineForks()
	if e.OnlyWriter != "" && e.NeedsOthers() {
		e.report(Warning, "only-writer", quoteName(e.OnlyWriter)+
			" alone may write here, as far as GitHub lists who may: where a reviewer or a person is missing, nobody can approve what they change",
			"write own_change: stand_in, and comment /review-coordinator vouch: docs/commands-by-comment.md")
	}
	for _, d := range e.Drifts {
		if says := report.DriftSentence(d); says != "" {
			e.report(Warning, "drifted", quoteName(d.Reviewer)+": "+says,
				"coordinator classify shows how its newest text is read; give the policy its new shape, or update the coordinator")
		}
	}
}

// waitsForItself reports whether a reviewer is the coordinator.
func (e reviewersExam) waitsForItself(r quorum.Reviewer) bool {
	return r.Check != "" && r.Check == e.Policy.Check || r.Status != "" && r.Status == e.Policy.Check ||
		r.Workflow != "" && e.isOwnWorkflow(r.Workflow) ||
		slices.ContainsFunc(e.posts, func(p poster) bool { return r.Check != "" && r.Check == p.job.ShownName() })
}

// examineWorkflow examines what starts a reviewer's workflow.
func (e reviewersExam) examineWorkflow(r quorum.Reviewer) {
	grade := Broken
	if r.Shadow {
		grade = Warning
	}
	who := quoteName(r.Name)
	i := slices.IndexFunc(e.Workflows, func(f WorkflowFile) bool { return f.Path == r.Workflow && f.Source != "" })
	if i < 0 {
		if !e.isUnread(WorkflowsPart) {
			e.report(grade, "workflow-missing",
				fmt.Sprintf("%s: there is no %s on %s", who, plainText(r.Workflow, 120), quoteName(e.Branch)),
				"write the path of a workflow that is there, or add it to "+quoteName(e.Branch))
		}
		return
	}
	file := e.Workflows[i]
	switch {
	case file.State != "" && file.State != "active":
		e.report(grade, "workflow-disabled", fmt.Sprintf("%s: %s is switched off (%s)", who, file.Path, plainText(file.State, 40)),
			"switch it on", e.enableCommand(file.Path))
	case file.Broken != "":
		e.report(grade, "workflow-broken",
			fmt.Sprintf("%s: %s is no workflow: %s", who, file.Path, file.Broken), "mend it: GitHub does not run it")
	default:
		e.examineStart(r, file, grade)
	}
}

// examineStart examines whether a reviewer's workflow starts for each head of each pull request, and writes as the policy says.
func (e reviewersExam) examineStart(r quorum.Reviewer, file WorkflowFile, grade Grade) {
	need := workflow.Need{Events: r.Events, Base: e.Branch, ByPaths: len(r.When.AllPaths)+len(r.When.AnyPath) > 0}
	if readsTexts(r) {
		need.Author = r.Author
	}
	starts := func(event string) bool { _, found := file.Trigger(event); return found }
	if e.forbidsTarget(file.Path) {
		need.Events = slices.DeleteFunc(slices.Clone(r.Events), func(event string) bool { return event == "pull_request_target" })
	}
	if !slices.ContainsFunc(need.Events, starts) && slices.ContainsFunc(r.Events, starts) {
		e.report(grade, "event-forbidden",
			fmt.Sprintf("%s: pull_request_target starts %s, which GitHub blocks in public repositories since 2026-11-02",
				quoteName(r.Name), file.Path), "start it by pull_request, or allow the event for this file: Settings, Actions, Policies")
		return
	}
	var files []workflow.File
	for _, f := range e.Workflows {
		files = append(files, f.File)
	}
	if flaw, found := file.Flaw(need, files); found {
		flawGrade := grade
		if flaw.Partly {
			flawGrade = Warning
		}
		e.report(flawGrade, flaw.ID, quoteName(r.Name)+": "+plainText(flaw.Says, 300), flaw.Remedy)
	}
	if slices.ContainsFunc(need.Events, starts) {
		e.examineArtifact(r, file, grade)
	}
}

// examineArtifact examines whether a workflow makes the artifact in which its verdict stands.
func (e reviewersExam) examineArtifact(r quorum.Reviewer, file WorkflowFile, grade Grade) {
	reuses := slices.ContainsFunc(file.Jobs, func(j workflow.JobPlan) bool { return j.Uses != "" })
	if r.Verdict.Kind != quorum.Artifact || reuses || strings.Contains(file.Source, r.Verdict.Artifact) ||
		strings.Contains(file.Source, "review-coordinator/coordinator/verdict@") {
		return
	}
	e.report(grade, "artifact-missing", fmt.Sprintf("%s: its verdict stands in the artifact %s, and %s uploads none of that name",
		quoteName(r.Name), quoteName(r.Verdict.Artifact), file.Path), "add the action's verdict step: docs/reviewers.md")
}

// pullsFor are the pull requests on which a reviewer should have been seen: all that changed since its workflow came.
func (e reviewersExam) pullsFor(r quorum.Reviewer) []SeenPull {
	if r.When.Names() || r.Shadow && r.Workflow == "" {
		return nil
	}
	file, _ := e.workflowOf(r)
	return slices.DeleteFunc(slices.Clone(e.Pulls), func(p SeenPull) bool { return p.Updated.Before(file.Created) })
}

// isSeenOn reports whether a reviewer left anything on a pull request.
func isSeenOn(r quorum.Reviewer, p SeenPull) bool {
	ran := func(run quorum.Run) bool { return r.Workflow != "" && run.Path == r.Workflow }
	wrote := func(t quorum.Text) bool {
		if !r.IsAuthor(t.Author) {
			return false
		}
		return !strings.EqualFold(r.Author, quorum.ActionsBot) || r.Workflow == "" && opensWith(t.Body, r.Heading)
	}
	checked := func(c quorum.CheckRun) bool {
		return r.Check != "" && c.Name == r.Check && c.App == r.App ||
			r.Signal.Check != "" && c.Name == r.Signal.Check && c.App == r.Signal.App
	}
	stated := func(s quorum.Status) bool {
		return r.Status != "" && strings.EqualFold(s.Context, r.Status) && r.IsAuthor(s.Creator)
	}
	return slices.ContainsFunc(p.Runs, ran) || slices.ContainsFunc(p.Texts, wrote) || slices.ContainsFunc(p.Checks, checked) ||
		slices.ContainsFunc(p.Statuses, stated)
}

// opensWith reports whether a text has a heading, wherever it stands: a reviewer may greet before.
func opensWith(body, heading string) bool { return heading == "" || strings.Contains(body, heading) }

// examineHeading examines whether a reviewer that runs has ever written a text that is taken for its own.
func (e reviewersExam) examineHeading(r quorum.Reviewer) {
	if r.Heading == "" || r.Workflow == "" || !readsTexts(r) {
		return
	}
	ran := 0
	for _, p := range e.Pulls {
		if slices.ContainsFunc(p.Texts, func(t quorum.Text) bool { return r.IsAuthor(t.Author) && opensWith(t.Body, r.Heading) }) {
			return
		}
		if slices.ContainsFunc(p.Runs, func(run quorum.Run) bool { return run.Path == r.Workflow && run.Conclusion == "success" }) {
			ran++
		}
	}
	if ran >= fewPulls {
		e.report(Broken, "heading-not-seen", fmt.Sprintf("%s ran on %s, and no text of %s opens with %s", quoteName(r.Name),
			countNoun(ran, "pull request"), quoteName(r.Author), quoteName(r.Heading)),
			"write the heading with which its texts open, letter by letter")
	}
}

// fewPulls are too few to say that somebody never comes.
const fewPulls = 3

// examineAbsent says who was not seen, and whether the quorum can be reached without them.
func (e reviewersExam) examineAbsent(absent []quorum.Reviewer) {
	if len(absent) == 0 {
		return
	}
	voters, required := e.Policy.Voters(), false
	names := make([]string, 0, len(absent))
	for _, r := range absent {
		names = append(names, r.Name)
		required = required || r.Required
		if r.Voter() {
			voters--
		}
	}
	were := "was"
	if len(absent) > 1 {
		were = "were"
	}
	says := fmt.Sprintf("%s %s not seen on the last %s", listNames(names), were, countNoun(len(e.Pulls), "pull request"))
	const remedy = "install it or start it on the next pull request; or take it out of the policy, or lower the quorum"
	need := e.Policy.NeedOf(e.Policy.Voters())
	_, everPosted := e.newestOwnCheck()
	switch {
	case !everPosted || len(e.Pulls) < fewPulls: // it is new: they may have come with it
		e.report(Warning, "not-seen", says, remedy)
	case e.Policy.NeedsNoReview() || !required && voters >= need:
		e.report(Warning, "not-seen", says, remedy)
	case required:
		e.report(Broken, "never-met", says+", and the policy requires its approval: the check can never pass", remedy)
	default:
		e.report(Broken, "never-met", fmt.Sprintf("%s: %s can answer, and %s needed: the check can never pass", says,
			countNoun(max(voters, 0), "reviewer"), countApprovals(need)), remedy)
	}
}

func countApprovals(n int) string {
	if n == 1 {
		return "1 approval is"
	}
	return fmt.Sprintf("%d approvals are", n)
}

// usesSecrets reports whether a workflow takes secrets of the repository.
func usesSecrets(source string) bool {
	rest := strings.ReplaceAll(source, "secrets.GITHUB_TOKEN", "")
	return strings.Contains(rest, "secrets.") || strings.Contains(rest, "secrets: inherit")
}

// examineForks examines whether a fork's pull request can pass in a repository where everybody may open one: its runs
// have no secrets.
func (e reviewersExam) examineForks() {
	if !e.Public || e.Policy.StandIn != 0 || e.Policy.NeedsNoReview() {
		return
	}
	without, voters := 0, e.Policy.Voters()
	for _, r := range e.Policy.Reviewers {
		file, found := e.workflowOf(r)
		_, target := file.Trigger("pull_request_target")
		if r.Voter() && found && !target && usesSecrets(file.Source) {
			without++
		}
	}
	if need := e.Policy.NeedOf(voters); without > 0 && voters-without < need {
		e.report(Warning, "forks-cannot-pass", fmt.Sprintf(
			"%s have no secrets on a fork's pull request, and stand_in: none lets nobody fill in: no fork's can pass", countNoun(without, "reviewer")),
			"write stand_in: write, or add a reviewer that is an App: docs/forks.md")
	}
}
