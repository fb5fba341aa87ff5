package workflow

// What a reviewer needs of its workflow, by the repository's files alone: init, config check and doctor ask here.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/lazy"
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

// WithCalled returns f with the jobs and the sources of what it calls in its repository, directly or through others:
// a run of f is a run of all of that. The others are the repository's workflows.
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
	isCall := func(j JobPlan) bool { return j.Uses == "./"+f.Path }
	i := slices.IndexFunc(all, func(o File) bool { return slices.ContainsFunc(o.Jobs, isCall) })
	if i < 0 {
		return ""
	}
	return all[i].Path
}

// PullTriggers returns the triggers whose runs stand on the head of a pull request, but for one that waits for
// changes of the workflow itself: it tests the workflow, and reviews nothing.
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

// ClaudeAction writes as claude[bot], its App, unless it is given another token. Source: its docs, "github_token".
const ClaudeAction = "anthropics/claude-code-action"

var jobToken = lazy.Regexp(`(?i)GITHUB_TOKEN|github\.token|github\[|toJSON\(`)

// OwnToken returns the token that the step gives to [ClaudeAction], and whether it is the job's; "": it gives none.
func (s StepPlan) OwnToken() (token string, isJobs bool) {
	if s.Action() == ClaudeAction {
		token = s.With["github_token"]
	}
	return token, jobToken().MatchString(token)
}

var toolPattern = lazy.Regexp(`^actions/(?:checkout|cache|setup-[a-z]+|upload-artifact|download-artifact)$`)

// MayComment reports whether a run of the file may write a comment by its job's token: what is known of the file does
// not rule it out.
func (f File) MayComment() bool {
	return f.Broken != "" || slices.ContainsFunc(f.Jobs, func(j JobPlan) bool {
		rights := j.Token
		if !rights.Named {
			rights = f.Token
		}
		may := !rights.Named || rights.Allows("pull-requests", "write") || rights.Allows("issues", "write")
		return may && (j.Uses != "" || jobToken().MatchString(f.Source) || slices.ContainsFunc(j.Steps, func(s StepPlan) bool {
			return s.Uses != "" && !toolPattern().MatchString(s.Action()) // whose token may be the job's by default
		}))
	})
}

// A Need is what a policy needs of a reviewer's workflow.
type Need struct {
	Events  []string // whose runs are on a pull request's head
	Base    string   // of the pull requests; "": it is not known
	ByPaths bool     // for some paths only
	Author  string   // as whom it writes what is read; "": nothing is
}

// A Flaw is why a workflow does not do what is needed.
type Flaw struct {
	ID           string // of the finding: docs/doctor.md
	Partly       bool   // it does so on other pull requests
	Says, Remedy string // the first begins with the file's path
}

// Flaw returns what is wrong with f, the gravest alone; all are the repository's workflows.
func (f File) Flaw(n Need, all []File) (Flaw, bool) {
	starts := slices.DeleteFunc(slices.Clone(f.Triggers), func(t Trigger) bool { return !slices.Contains(n.Events, t.Event) })
	if len(starts) == 0 {
		return f.whyNoStart(all), true
	}
	of := starts[0]
	if of.Event == "pull_request" || of.Event == "pull_request_target" {
		switch {
		case !slices.ContainsFunc(starts, func(t Trigger) bool { return t.Hears("synchronize") }):
			return Flaw{
				ID: "no-synchronize", Says: f.Path + " does not start for a push: a new head is never reviewed",
				Remedy: "add synchronize to the types of " + of.Event,
			}, true
		case n.Base != "" && !of.matchesBranch(n.Base):
			return Flaw{
				ID: "branch-filter", Says: fmt.Sprintf("%s does not start for pull requests against %s", f.Path, strconv.Quote(n.Base)),
				Remedy: "add it to the branches of " + of.Event,
			}, true
		}
	}
	for _, s := range f.WithCalled(all).Steps() {
		if token, _ := s.OwnToken(); token != "" && strings.EqualFold(n.Author, "claude[bot]") {
			return Flaw{
				ID:     "token-account",
				Says:   fmt.Sprintf("%s gives github_token to %s, which then writes by that token and not as claude[bot]", f.Path, ClaudeAction),
				Remedy: "take github_token out, or write who writes then and the heading of its texts: author: and heading:",
			}, true
		}
	}
	startsForAll := func(t Trigger) bool { return len(t.Paths)+len(t.PathsIgnore) == 0 }
	if !n.ByPaths && !slices.ContainsFunc(starts, startsForAll) {
		return Flaw{
			ID: "path-filter", Partly: true,
			Says:   f.Path + " starts for some paths only, and the policy waits for it on every pull request",
			Remedy: "say the same in the policy: when: {any_path: [...]}, or take the filter out of the workflow",
		}, true
	}
	return Flaw{}, false
}

// whyNoStart says why nothing that counts starts f.
func (f File) whyNoStart(all []File) Flaw {
	if _, isCalled := f.Trigger("workflow_call"); isCalled {
		caller := f.Caller(all)
		if caller != "" {
			caller = ": " + caller
		}
		return Flaw{
			ID: "workflow-called", Says: f.Path + " is called by another workflow, whose run it then is" + caller,
			Remedy: "name the workflow that calls it",
		}
	}
	events := make([]string, 0, len(f.Triggers))
	for _, t := range f.Triggers {
		events = append(events, strconv.Quote(t.Event))
	}
	return Flaw{
		ID:     "workflow-events",
		Says:   fmt.Sprintf("%s is started by %s, whose runs are not on the pull request's head", f.Path, strings.Join(events, ", ")),
		Remedy: "start it by pull_request; or leave workflow out, and name the author of its texts",
	}
}

// Hears reports whether the trigger hears an activity of that type. GitHub's defaults, where no types stand: "Events
// that trigger workflows", pull_request.
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
