package doctor

// What more than one part of an examination asks of a set-up.

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// isOwnCheck reports whether a check run is one that a coordinator wrote for this repository.
func (e *examination) isOwnCheck(c quorum.CheckRun) bool {
	ours := strings.TrimSuffix(report.ExternalID(quorum.PR{Owner: e.Owner, Repo: e.Repo}), "0") // of pull request #0, which is none
	return c.Name == e.Policy.Check && !c.Job && strings.HasPrefix(strings.ToLower(c.ExternalID), strings.ToLower(ours))
}

// newestOwnCheck is the check on the pull request that changed last of those that have one.
func (e *examination) newestOwnCheck() (c quorum.CheckRun, found bool) {
	for _, p := range e.Pulls {
		if i := slices.IndexFunc(p.Checks, e.isOwnCheck); i >= 0 {
			return p.Checks[i], true
		}
	}
	return quorum.CheckRun{}, false
}

// postsAsApp reports whether an App of somebody's own posts the check.
func (e *examination) postsAsApp() bool {
	if e.App.ID != 0 || slices.ContainsFunc(e.posts, func(p poster) bool { return p.asApp }) {
		return true
	}
	seen, found := e.newestOwnCheck()
	return len(e.posts) == 0 && found && seen.App != quorum.ActionsApp
}

// expectedApp is the App from which the check must come; 0: it is not known.
func (e *examination) expectedApp() int64 {
	seen, found := e.newestOwnCheck()
	switch {
	case e.App.ID != 0:
		return e.App.ID
	case e.postsAsApp() && found && seen.App != quorum.ActionsApp:
		return seen.AppID
	case !e.postsAsApp() && e.Host == "":
		return actionsAppID
	}
	return 0
}

// isOwnWorkflow reports whether a job of a workflow posts the check: its run has not ended while that job looks.
func (e *examination) isOwnWorkflow(path string) bool {
	return slices.ContainsFunc(e.posts, func(p poster) bool { return p.file.Path == path })
}

// workflowOf returns the workflow file of a reviewer, as far as it could be read.
func (e *examination) workflowOf(r quorum.Reviewer) (f WorkflowFile, found bool) {
	i := slices.IndexFunc(e.Workflows, func(f WorkflowFile) bool { return r.Workflow != "" && f.Path == r.Workflow && f.Source != "" })
	if i < 0 || e.Workflows[i].Broken != "" {
		return WorkflowFile{}, false
	}
	return e.Workflows[i], true
}
