package sandbox

// Workflows that are started by a dispatch: what GitHub refuses, and how it names the run.

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// GitHub's limits of a dispatch. Source: its documentation, "Events that trigger workflows", workflow_dispatch.
const (
	maxDispatchInputs = 25
	maxDispatchChars  = 65_535
)

// whyNoDispatch returns the status and the message with which GitHub refuses to start a workflow; 0 if it does not.
func whyNoDispatch(src, ref string, isBranch bool, inputs map[string]string, size int) (int, string) {
	const refused = http.StatusUnprocessableEntity
	takes := dispatchInputs(src)
	var unexpected []string
	for name := range inputs {
		if !slices.Contains(takes, name) {
			unexpected = append(unexpected, fmt.Sprintf("%q", name))
		}
	}
	slices.Sort(unexpected)
	switch {
	case ref == "":
		return refused, `Invalid request.

"ref" wasn't supplied.`
	case !isBranch:
		return refused, "No ref found for: " + ref
	case !strings.Contains(src, "workflow_dispatch"):
		return refused, "Workflow does not have 'workflow_dispatch' trigger"
	case len(inputs) > maxDispatchInputs:
		return refused, fmt.Sprintf("you may only define up to %d inputs for a workflow_dispatch event", maxDispatchInputs)
	case size > maxDispatchChars:
		return refused, "inputs are too large."
	case len(unexpected) > 0:
		return refused, "Unexpected inputs provided: [" + strings.Join(unexpected, ", ") + "]"
	}
	return 0, ""
}

var inputLine = regexp.MustCompile(`^( +)([A-Za-z_][A-Za-z0-9_-]*):`)

// dispatchInputs are the names of the inputs that a workflow declares, one a line.
func dispatchInputs(src string) (names []string) {
	_, trigger, _ := strings.Cut(src, "workflow_dispatch:")
	_, rest, found := strings.Cut(trigger, "inputs:\n")
	if !found {
		return nil
	}
	depth := 0
	for line := range strings.Lines(rest) {
		m := inputLine.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "":
		case m == nil, depth > 0 && len(m[1]) < depth:
			return names
		case depth == 0 || len(m[1]) == depth:
			depth, names = len(m[1]), append(names, m[2])
		}
	}
	return names
}

var (
	runNameLine = regexp.MustCompile(`(?m)^run-name: *["']?(.*?)["']? *$`)
	inputValue  = regexp.MustCompile(`\$\{\{ *(?:github\.event\.)?inputs\.([A-Za-z0-9_-]+) *\}\}`)
)

// nameOfRun is how GitHub names a dispatched run: by the workflow's run-name, else by its name or path.
func nameOfRun(src string, inputs map[string]string) string {
	m := runNameLine.FindStringSubmatch(src)
	if m == nil {
		return ""
	}
	return inputValue.ReplaceAllStringFunc(m[1], func(value string) string {
		return inputs[inputValue.FindStringSubmatch(value)[1]]
	})
}
