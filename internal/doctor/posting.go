package doctor

// Who posts the check, whether that hears of what happens, and whether GitHub lets it.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/workflow"
)

// actionName is the coordinator's action; what stands before the version.
const actionName = "review-coordinator/coordinator@"

// A poster is a job that posts the check.
type poster struct {
	file  WorkflowFile
	job   workflow.JobPlan
	uses  string // the action as it is written; "" if the program is started by a script
	asApp bool   // it has an App's token
}

// postersOf returns the jobs that post the check.
func postersOf(files []WorkflowFile) (all []poster) {
	for _, file := range files {
		for _, job := range file.Jobs {
			for _, step := range job.Steps {
				isAction := strings.HasPrefix(strings.ToLower(step.Uses), actionName)
				isScript := strings.Contains(step.Run, "coordinator run") || strings.Contains(step.Run, "coordinator sweep")
				if !isAction && !isScript || step.With["dry-run"] == "true" {
					continue
				}
				p := poster{file: file, job: job, asApp: step.With["app-id"] != ""}
				if isAction {
					p.uses = step.Uses
				}
				all = append(all, p)
				break
			}
		}
	}
	return all
}

// A postingExam is an examination of what posts the check.
type postingExam struct{ *examination }

// examinePosting examines what posts the check.
func (e postingExam) examinePosting() {
	e.examineWriters()
	e.examineAppRights()
	for _, p := range e.posts {
		e.examinePoster(p)
	}
	e.examineQueue()
	if len(e.posts) > 0 {
		earsExam(e).examineEars()
	}
	e.examineGate()
}

// examineWriters examines who posts: nobody, two, or somebody else under the name.
func (e postingExam) examineWriters() {
	seen, found := e.newestOwnCheck()
	byJob := func(app bool) bool {
		return slices.ContainsFunc(e.posts, func(p poster) bool { return p.asApp == app })
	}
	switch {
	case len(e.posts) == 0 && e.App.ID == 0 && !found && !e.isUnread(WorkflowsPart) && !e.isUnread(PullsPart):
		e.report(Broken, "nothing-posts", "no workflow runs the coordinator, and no check of it was seen: nothing posts the check",
			"add its workflows, or run it as an App: docs/daemon.md", e.initCommand())
	case byJob(false) && (byJob(true) || e.App.ID != 0 || found && seen.App != quorum.ActionsApp):
		i := slices.IndexFunc(e.posts, func(p poster) bool { return !p.asApp })
		e.report(Broken, "two-writers", fmt.Sprintf(
			"%s posts the check with GITHUB_TOKEN, and an App posts it, too: each is a check of its own, and they may say different things",
			e.posts[i].file.Path), "keep one: remove that workflow, or give it the App's id and key")
	case found && e.App.ID != 0 && seen.AppID != 0 && seen.AppID != e.App.ID:
		e.report(Broken, "two-writers",
			fmt.Sprintf("the newest check is of the App %s, and this is the App %s: two coordinators post it",
				quoteName(seen.App), quoteName(e.App.Slug)), "keep one of them")
	}
	for _, p := range e.Pulls {
		for _, c := range p.Checks {
			if c.Name == e.Policy.Check && !c.Job && !e.isOwnCheck(c) {
				e.report(Warning, "foreign-check", fmt.Sprintf("on #%d stands a check called %s that no coordinator wrote, of the App %s",
					p.Number, quoteName(c.Name), quoteName(c.App)), "find out who writes it; rename one of the two")
				return
			}
		}
	}
}

// examineAppRights examines what the App may do.
func (e postingExam) examineAppRights() {
	const remedy = "add it in the App's settings, and accept it in the installation's"
	who := "the App " + quoteName(e.App.Slug)
	if len(e.App.Lacks) > 0 {
		e.report(Broken, "app-permissions", who+" lacks "+strings.Join(e.App.Lacks, ", ")+": it cannot post the check", remedy)
	}
	if len(e.App.Misses) > 0 {
		e.report(Warning, "app-cannot-act",
			who+" lacks "+strings.Join(e.App.Misses, ", ")+": it runs nobody again and asks nobody", remedy)
	}
}

// What a job's token needs: without the first there is no check, without the second nobody is run again or asked.
var (
	neededRights = []string{"actions: read", "checks: write", "contents: read", "issues: read", "pull-requests: read"}
	usefulRights = []string{"actions: write", "pull-requests: write"}
)

// equalStatusRight is what a status beside the check needs, which the merge gate counts where it passes over the check.
const equalStatusRight = "statuses: write"

// JobRights are the permissions of a job's token without which there is no check, and those without which it acts less.
func JobRights() (needed, useful []string) {
	return slices.Clone(neededRights), append(slices.Clone(usefulRights), equalStatusRight)
}

// lackingRights are those of the permissions that a job's token does not have; whatever is not known, it has.
func (e postingExam) lackingRights(p poster, needs []string) (lacking []string) {
	rights := p.job.Token
	if !rights.Named {
		rights = p.file.Token
	}
	if !rights.Named {
		switch {
		case e.isUnread(DefaultTokenPart):
			return nil
		case e.Actions.DefaultAll:
			rights = workflow.TokenRights{Named: true, All: "write"}
		default: // GitHub docs, "Permissions for the GITHUB_TOKEN": restricted is contents and packages
			rights = workflow.TokenRights{Named: true, Levels: map[string]string{"contents": "read", "packages": "read"}}
		}
	}
	for _, need := range needs {
		name, level, _ := strings.Cut(need, ": ")
		if !rights.Allows(name, level) {
			lacking = append(lacking, need)
		}
	}
	return lacking
}

// examinePoster examines one job that posts the check.
func (e postingExam) examinePoster(p poster) {
	if p.file.State != "" && p.file.State != "active" {
		e.report(Broken, "posting-disabled",
			fmt.Sprintf("%s is switched off (%s): it posts nothing", p.file.Path, plainText(p.file.State, 40)),
			"switch it on", e.enableCommand(p.file.Path))
	}
	if p.uses != "" && !e.allowsAction(p.uses) {
		e.report(Broken, "action-not-allowed", fmt.Sprintf("the settings of Actions do not allow %s", quoteName(p.uses)),
			fmt.Sprintf("add %s* to the actions that are allowed: Settings, Actions, General", actionName))
	}
	if p.asApp {
		return
	}
	if lacking := e.lackingRights(p, neededRights); len(lacking) > 0 {
		e.report(Broken, "job-permissions", fmt.Sprintf("the job %s of %s lacks %s", quoteName(p.job.ShownName()), p.file.Path,
			strings.Join(lacking, ", ")), "write all the lines of permissions: docs/permissions.md")
		return
	}
	if lacking := e.lackingRights(p, usefulRights); len(lacking) > 0 {
		e.report(Warning, "job-cannot-act", fmt.Sprintf("the job %s of %s lacks %s: it runs no reviewer again, or asks none",
			quoteName(p.job.ShownName()), p.file.Path, strings.Join(lacking, ", ")),
			"write all the lines of permissions: docs/permissions.md")
	}
	if len(e.lackingRights(p, []string{equalStatusRight})) > 0 {
		e.report(Warning, "no-equal-status", fmt.Sprintf(
			"the job %s of %s may not write a status beside its check, and GitHub's merge gate passes over such a check after a label or a new title",
			quoteName(p.job.ShownName()), p.file.Path), "add statuses: write to its permissions, or use an App's token")
	}
}

// allowsAction reports whether the settings of Actions allow an action. In their patterns * is any text; none of them refuses.
func (e postingExam) allowsAction(uses string) bool {
	matches := func(pattern string) bool {
		expr := "(?is)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$"
		fits, err := regexp.MatchString(expr, uses)
		return fits && err == nil
	}
	switch e.Actions.Allowed {
	case "local_only":
		return matches(e.Owner + "/*")
	case "selected":
		return matches(e.Owner+"/*") || slices.ContainsFunc(e.Actions.Patterns, matches)
	}
	return true
}

// examineQueue examines whether a merge queue gets its check. An App that runs by itself needs no trigger for it.
func (e postingExam) examineQueue() {
	isQueued := func(b Base) bool { return b.Queue }
	if i := slices.IndexFunc(e.Bases, isQueued); i >= 0 && len(e.posts) == 0 && len(e.App.Deaf) > 0 {
		e.report(Broken, "queue-not-answered", fmt.Sprintf(
			"%s is merged by a queue, and the App %s lacks %s: it is told of no merge group, and nothing is ever merged",
			quoteName(e.Bases[i].Name), quoteName(e.App.Slug), strings.Join(e.App.Deaf, ", ")),
			"add it and the event Merge group in the App's settings, and accept it in the installation's")
	}
	answers := func(p poster) bool {
		t, found := p.file.Trigger("merge_group")
		return found && (len(t.Types) == 0 || slices.Contains(t.Types, "checks_requested"))
	}
	for _, base := range e.Bases {
		if base.Queue && len(e.posts) > 0 && !slices.ContainsFunc(e.posts, answers) {
			e.report(Broken, "queue-not-answered", fmt.Sprintf(
				"%s is merged by a queue, and no workflow posts the check on the queue's commits: nothing is ever merged", quoteName(base.Name)),
				fmt.Sprintf("add merge_group: {types: [checks_requested]} to what starts %s", e.posts[0].file.Path))
		}
	}
}

// examineGate examines whether the check that stands on a head is in a suite that GitHub's merge gate passes over, with
// no status of its name that counts in its place: GITHUB_TOKEN's checks go into the suite of whichever run came first.
func (e postingExam) examineGate() {
	for _, p := range e.Pulls {
		i := slices.IndexFunc(p.Checks, func(c quorum.CheckRun) bool { return e.isOwnCheck(c) && c.App == quorum.ActionsApp })
		if i < 0 || !p.Open || slices.ContainsFunc(p.Statuses, func(s quorum.Status) bool { return s.Context == e.Policy.Check }) {
			continue
		}
		if why := passedOverFor(p.Runs, p.Checks[i].Suite); why != "" {
			e.report(Broken, "suite-ignored", fmt.Sprintf(
				"GitHub's merge gate passes over the check on #%d: %s", p.Number, why),
				"give the job statuses: write, so that a status stands beside the check, or use an App's token: docs/require.md")
			return
		}
	}
}

// passedOverFor says why the merge gate passes over the checks of a suite; "" if it counts them.
func passedOverFor(runs []quorum.Run, suite int64) string {
	i := slices.IndexFunc(runs, func(r quorum.Run) bool { return r.Suite == suite })
	if i < 0 || suite == 0 {
		return ""
	}
	run := runs[i]
	if run.Event == "workflow_dispatch" || run.Event == "schedule" {
		return fmt.Sprintf("it is filed under a run of %s that %s started", run.Path, run.Event)
	}
	isNewer := func(r quorum.Run) bool { return r.Path == run.Path && r.Event == run.Event && r.Number > run.Number }
	if slices.ContainsFunc(runs, isNewer) {
		return fmt.Sprintf("it is filed under a run of %s that a newer one has replaced", run.Path)
	}
	return ""
}
