package story

// Workflows that the coordinator starts: each is called by its file's name, and so is its newest run.

import (
	"path"
	"strings"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// workflowLabel is what a story calls a workflow and its runs: fix of .github/workflows/fix.yml.
func workflowLabel(workflow string) string {
	base := path.Base(workflow)
	return strings.TrimSuffix(strings.TrimSuffix(base, ".yml"), ".yaml")
}

// queueDispatchReactions names the run that was started, and queues the steps that the scenario tells of it.
func (w *world) queueDispatchReactions(id int64, workflow string) {
	label := workflowLabel(workflow)
	w.mu.Lock()
	w.runIDs[label] = id
	w.dispatchCounts[label]++
	nth := w.dispatchCounts[label]
	w.mu.Unlock()
	for _, r := range w.scenario.reactions {
		if r.onDispatch && r.label == label && (r.occurrence == 0 || r.occurrence == nth) {
			w.queueSteps(r.steps, 0)
		}
	}
}

// dispatchText says which workflow was started, and as what: by its run's name, with the scenario's names of commits.
func (w *world) dispatchText(d sandbox.Dispatch) string {
	name := d.Name
	for _, commit := range w.scenario.commitsByLength() {
		name = strings.ReplaceAll(name, sandbox.SHA(commit), commit)
	}
	return workflowLabel(d.Workflow) + " as \"" + name + "\""
}
