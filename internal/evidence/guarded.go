package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/change"
	"github.com/review-coordinator/coordinator/internal/pathfilter"
)

// guardedPath finds the changed path that instructs the reviewer; "" where the list of changed files is incomplete.
func (v *reviewerView) guardedPath(a *reviewAttempt) (path string, guarded bool) {
	event := ""
	if a.run != nil {
		event = a.run.Event
	} else if len(v.Events) == 1 {
		event = v.Events[0]
	}
	patterns := slices.Clone(v.Guard)
	if v.isShared() || v.Workflow != "" && !strings.HasPrefix(v.Workflow, "dynamic/") {
		patterns = append(patterns, without(v.head.policy.Guard, func(pattern string) bool {
			return event == "pull_request_target" && pattern == ".github/workflows/**" // it used the default branch's
		})...)
	}
	if len(patterns) == 0 {
		return "", false
	}
	list, err := pathfilter.CompileWithFolders(patterns)
	if v.head.snapshot.PR.FilesMissing || err != nil { // the error is unreachable: config has compiled them all
		return "", true
	}
	for _, path := range change.Paths(&v.head.snapshot.PR) {
		if list.Match(path) {
			return path, true
		}
	}
	return "", false
}
