package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/pathfilter"
)

// guardedPath finds the changed path that makes the reviewer's evidence untrustworthy: the pull request would instruct
// its own reviewer. The path is "" where the list of changed files is incomplete.
func (v *reviewerView) guardedPath(a *reviewAttempt) (path string, guarded bool) {
	event := ""
	if a.run != nil {
		event = a.run.Event
	} else if len(v.Events) == 1 {
		event = v.Events[0]
	}
	patterns := slices.Clone(v.Guard)
	if v.isShared() || v.Workflow != "" && !strings.HasPrefix(v.Workflow, "dynamic/") {
		for _, g := range v.head.policy.Guard {
			// A pull_request_target run used the default branch's workflow file.
			if event == "pull_request_target" && g == ".github/workflows/**" {
				continue
			}
			patterns = append(patterns, g)
		}
	}
	if len(patterns) == 0 {
		return "", false
	}
	if v.head.snapshot.PR.FilesMissing {
		return "", true
	}
	list, err := pathfilter.CompileWithFolders(patterns)
	if err != nil { // unreachable: config has compiled them all
		return "", true
	}
	paths := change.Paths(&v.head.snapshot.PR)
	if i := slices.IndexFunc(paths, list.Match); i >= 0 {
		return paths[i], true
	}
	return "", false
}
