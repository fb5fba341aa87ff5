package evidence

import (
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/pathfilter"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// guardedPath finds the changed path that makes r's evidence untrustworthy: the pull request would instruct its own
// reviewer.
func (h *headView) guardedPath(r *quorum.Reviewer, event string) (path string, guarded bool) {
	patterns := slices.Clone(r.Guard)
	if r.Author == Actions || r.Workflow != "" && !strings.HasPrefix(r.Workflow, "dynamic/") {
		for _, g := range h.policy.Guard {
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
	if h.snapshot.PR.FilesMissing {
		return "", true
	}
	list, err := pathfilter.CompileAll(patterns)
	if err != nil { // unreachable: config has compiled them all
		return "", true
	}
	for _, f := range h.snapshot.PR.Files {
		for _, name := range []string{f.Path, f.Previous} {
			if name != "" && list.Match(name) {
				return name, true
			}
		}
	}
	return "", false
}
