package sandbox_test

import (
	"strings"
	"testing"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

const fixFile = `name: Fix
run-name: "fix #${{ inputs.pr }} ${{ github.event.inputs.head }}"
on:
  workflow_dispatch:
    inputs:
      pr:
        required: true
      head: {required: true}

jobs: {}
`

// A dispatch starts a run on the default branch, under the name that the workflow gives it; GITHUB_TOKEN may do so.
func TestDispatch(t *testing.T) {
	g, _, c := quiet(t, sandbox.Options{})
	g.SetFile(".github/workflows/fix.yml", "", fixFile)
	var told string
	sandbox.OnDispatch(g, func(_ int64, workflow string) { told = workflow })
	c.want(204, "POST", "actions/workflows/fix.yml/dispatches", `{"ref":"main","inputs":{"pr":"7","head":"abc"}}`)
	detailed := c.want(200, "POST", "actions/workflows/fix.yml/dispatches", `{"ref":"main","inputs":{"pr":"7"},"return_run_details":true}`)
	if told != ".github/workflows/fix.yml" {
		t.Errorf("players were told of %q", told)
	}
	c.get("actions/runs/"+detailed.at("workflow_run_id")).is(t, "event", "workflow_dispatch", "display_title", "fix #7 ", "status", "in_progress")
	c.get("actions/workflows/fix.yml/runs").is(t, "total_count", "2", "workflow_runs.1.display_title", "fix #7 abc", "workflow_runs.1.head_branch", "main")
	c.get("commits/"+g.Head(7)+"/check-suites").is(t, "total_count", "0") // the run is not on the pull request's head
	if got := g.Wrote().Dispatched; len(got) != 2 || got[0].Inputs["head"] != "abc" {
		t.Errorf("dispatched: %+v", got)
	}
}

func TestDispatchesAreRefused(t *testing.T) {
	long := `{"ref":"main","inputs":{"pr":"` + strings.Repeat("x", 66_000) + `"}}`
	for _, tt := range []struct {
		name, file, body string
		status           int
		want             string
	}{
		{"where there is no such workflow", "", `{"ref":"main"}`, 404, "Not Found"},
		{"without the trigger", "on: push\n", `{"ref":"main"}`, 422, "Workflow does not have 'workflow_dispatch' trigger"},
		{"on no branch", fixFile, `{"ref":"nowhere"}`, 422, "No ref found for: nowhere"},
		{"with other inputs", fixFile, `{"ref":"main","inputs":{"base":"main","pr":"7"}}`, 422, `Unexpected inputs provided: ["base"]`},
		{"with too much", fixFile, long, 422, "inputs are too large."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, _, c := quiet(t, sandbox.Options{})
			if tt.file != "" {
				g.SetFile(".github/workflows/fix.yml", "", tt.file)
			}
			c.want(tt.status, "POST", "actions/workflows/fix.yml/dispatches", tt.body).is(t, "message", tt.want)
			if got := g.Wrote().Dispatched; len(got) != 0 {
				t.Errorf("dispatched: %+v", got)
			}
		})
	}
}
