package workflow

// What a reviewer needs of its workflow, by the repository's files alone: init, config check and doctor ask here.

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
)

// A File is a workflow of a repository.
type File struct {
	Path   string
	Source string
	Broken string // why GitHub cannot run it; "": it can
	Definition
}

// Read reads a workflow file.
func Read(path, source string) File {
	f := File{Path: path, Source: source}
	var err error
	if f.Definition, err = ParseDefinition(source); err != nil {
		f.Broken = err.Error()
	}
	return f
}

// WithCalled returns f with the jobs and the sources of what it calls in its repository, directly or through others: a run of f is a
// run of all of that. The others are the repository's workflows.
func (f File) WithCalled(others []File) File {
	f.Jobs = slices.Clone(f.Jobs)
	for i, called := 0, map[string]bool{f.Path: true}; i < len(f.Jobs); i++ {
		for _, o := range others {
			if f.Jobs[i].Uses == "./"+o.Path && !called[o.Path] {
				called[o.Path] = true
				f.Jobs, f.Source = append(f.Jobs, o.Jobs...), f.Source+"\n"+o.Source
			}
		}
	}
	return f
}

// Caller is the path of a workflow of the repository that calls f; "" without one.
func (f File) Caller(all []File) string {
	isCall := func(j JobPlan) bool { return strings.HasSuffix(strings.Split(j.Uses, "@")[0], "/"+path.Base(f.Path)) }
	i := slices.IndexFunc(all, func(o File) bool { return slices.ContainsFunc(o.Jobs, isCall) })
	if i < 0 {
		return ""
	}
	return all[i].Path
}

// PullTriggers returns the triggers whose runs stand on the head of a pull request, but for one that waits for changes of the
// workflow itself: it tests the workflow, and reviews nothing.
func (f File) PullTriggers() []Trigger {
	return slices.DeleteFunc(slices.Clone(f.Triggers), func(t Trigger) bool {
		isOther := func(pattern string) bool { return pattern != f.Path }
		return t.Event != "pull_request" && t.Event != "pull_request_target" ||
			len(t.Paths) > 0 && !slices.ContainsFunc(t.Paths, isOther)
	})
}

// Steps returns the steps of all jobs.
func (d Definition) Steps() (all []StepPlan) {
	for _, job := range d.Jobs {
		all = append(all, job.Steps...)
	}
	return all
}

// Action is the name of the action that the step uses, in lower case and without its version.
func (s StepPlan) Action() string {
	name, _, _ := strings.Cut(strings.ToLower(s.Uses), "@")
	return name
}

// The accounts under which actions write.
const (
	ClaudeAction = "anthropics/claude-code-action"
	actionsBot   = "github-actions[bot]"
)

// TokenAccount is as whom [ClaudeAction] writes because of the token that it is given; "": as claude[bot], for it is given none.
// Source: its docs, "github_token".
func (s StepPlan) TokenAccount() string {
	switch token := s.With["github_token"]; {
	case s.Action() != ClaudeAction || token == "":
		return ""
	case strings.Contains(token, "secrets.GITHUB_TOKEN") || strings.Contains(token, "github.token"):
		return actionsBot
	}
	return "the App of its token"
}

// MayComment reports whether a run of the workflow may write a comment: a job's token lets it, and a step is not known for
// something else.
func (d Definition) MayComment() bool {
	return slices.ContainsFunc(d.Jobs, func(j JobPlan) bool {
		rights := j.Token
		if !rights.Named {
			rights = d.Token
		}
		may := !rights.Named || rights.Allows("pull-requests", "write") || rights.Allows("issues", "write")
		return may && (j.Uses != "" || slices.ContainsFunc(j.Steps, StepPlan.mayComment))
	})
}

// mayComment reports whether a step may send something to GitHub: an action that is no plain tool of Actions', or a script that
// has a token or calls gh.
func (s StepPlan) mayComment() bool {
	action := s.Action()
	isTool := strings.HasPrefix(action, "actions/") && action != "actions/github-script" && action != "actions/ai-inference"
	words := strings.FieldsFunc(strings.ToLower(s.Run), func(r rune) bool { return !('a' <= r && r <= 'z' || r == '_' || r == '.') })
	return action != "" && !isTool || slices.ContainsFunc(words, func(word string) bool {
		return word == "gh" || word == "curl" || strings.Contains(word, "token") || strings.Contains(word, "api.github")
	}) || strings.HasPrefix(s.Run, "./") || strings.Contains(s.Run, " ./") || strings.Contains(s.Run, "scripts/")
}

// A Need is what a policy needs of a reviewer's workflow.
type Need struct {
	Events  []string // whose runs are on a pull request's head
	Base    string   // of the pull requests; "": it is not known
	ByPaths bool     // for some paths only
	Author  string   // as whom the reviewer writes
}

// A Fault is why a workflow does not do what is needed.
type Fault struct {
	ID           string // of the finding: docs/doctor.md
	Partly       bool   // it does so on other pull requests
	Says, Remedy string // the first begins with the file's path
}

// Fault returns what is wrong with f, the gravest alone; all are the repository's workflows.
func (f File) Fault(n Need, all []File) (Fault, bool) {
	starts := slices.DeleteFunc(slices.Clone(f.Triggers), func(t Trigger) bool { return !slices.Contains(n.Events, t.Event) })
	if len(starts) == 0 {
		return f.whyNoStart(all), true
	}
	of := starts[0]
	if of.Event == "pull_request" || of.Event == "pull_request_target" {
		switch {
		case !slices.ContainsFunc(starts, func(t Trigger) bool { return t.Hears("synchronize") }):
			return Fault{
				ID: "no-synchronize", Says: f.Path + " does not start for a push: a new head is never reviewed",
				Remedy: "add synchronize to the types of " + of.Event,
			}, true
		case n.Base != "" && !of.matchesBranch(n.Base):
			return Fault{
				ID: "branch-filter", Says: fmt.Sprintf("%s does not start for pull requests against %s", f.Path, strconv.Quote(n.Base)),
				Remedy: "add it to the branches of " + of.Event,
			}, true
		}
	}
	for _, s := range f.WithCalled(all).Steps() {
		if as := s.TokenAccount(); as != "" && strings.HasSuffix(n.Author, "[bot]") && !strings.EqualFold(n.Author, as) {
			return Fault{
				ID: "token-account",
				Says: fmt.Sprintf("%s gives github_token to %s, which then writes as %s and not as %s",
					f.Path, ClaudeAction, as, n.Author),
				Remedy: "take github_token out, or write who writes then and the heading that its texts open with: author: and heading:",
			}, true
		}
	}
	if len(of.Paths)+len(of.PathsIgnore) > 0 && !n.ByPaths {
		return Fault{
			ID: "path-filter", Partly: true,
			Says:   f.Path + " starts for some paths only, and the policy waits for it on every pull request",
			Remedy: "say the same in the policy: when: {any_path: [...]}, or take the filter out of the workflow",
		}, true
	}
	return Fault{}, false
}

// whyNoStart says why nothing that counts starts f.
func (f File) whyNoStart(all []File) Fault {
	if _, isCalled := f.Trigger("workflow_call"); isCalled {
		caller := f.Caller(all)
		if caller != "" {
			caller = ": " + caller
		}
		return Fault{
			ID: "workflow-called", Says: f.Path + " is called by another workflow, whose run it then is" + caller,
			Remedy: "name the workflow that calls it",
		}
	}
	events := make([]string, 0, len(f.Triggers))
	for _, t := range f.Triggers {
		events = append(events, strconv.Quote(t.Event))
	}
	return Fault{
		ID:     "workflow-events",
		Says:   fmt.Sprintf("%s is started by %s, whose runs are not on the pull request's head", f.Path, strings.Join(events, ", ")),
		Remedy: "start it by pull_request; or leave workflow out, and name the author of its texts",
	}
}

// Hears reports whether the trigger hears an activity of that type. GitHub's defaults, where no types stand: "Events that trigger
// workflows", pull_request.
func (t Trigger) Hears(kind string) bool {
	types := t.Types
	if len(types) == 0 {
		types = []string{"opened", "synchronize", "reopened"}
	}
	return slices.Contains(types, kind)
}

// matchesBranch reports whether the filters let a base pass.
func (t Trigger) matchesBranch(branch string) bool {
	matches := func(patterns []string) bool {
		list, err := pathfilter.CompileAll(patterns)
		return err == nil && list.Match(branch)
	}
	return (len(t.Branches) == 0 || matches(t.Branches)) && (len(t.BranchesIgnore) == 0 || !matches(t.BranchesIgnore))
}
