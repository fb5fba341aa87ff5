package sandbox

// Workflows that are started by a dispatch: what GitHub refuses, and how it names the run.

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// A Dispatch is a workflow run that the program started.
type Dispatch struct {
	Run      int64
	Workflow string // path of the file
	Name     string // of the run
	Inputs   map[string]string
}

// GitHub's limits of a dispatch. Source: its documentation, "Events that trigger workflows", workflow_dispatch.
const (
	maxDispatchInputs = 25
	maxDispatchChars  = 65_535
)

// OnDispatch sets a function that is called when the program starts a workflow. It is called before the request is
// answered.
func OnDispatch(g *GitHub, f func(run int64, workflow string)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.onDispatch = f
}

// dispatchWorkflow starts a workflow on a branch. The file must stand on the default branch; its run belongs to the
// branch's tip. A job's GITHUB_TOKEN may do so. Source: the documentation's "Create a workflow dispatch event"; messages
// as seen on GitHub (github.com/cli/cli/issues/9221, 9989).
func dispatchWorkflow(g *GitHub, r *routedRequest) routeAnswer {
	var in struct {
		Ref     string            `json:"ref"`
		Inputs  map[string]string `json:"inputs"`
		Details bool              `json:"return_run_details"`
	}
	if r.decodeBody(&in) != nil {
		return answerError(http.StatusBadRequest, "Problems parsing JSON")
	}
	path := ".github/workflows/" + r.params["workflow_id"]
	src, found := g.fileContent(path, "")
	if !found {
		return answerNotFound()
	}
	if status, why := whyNoDispatch(g, src, in.Ref, in.Inputs, len(r.body)); status != 0 {
		return answerError(status, why)
	}
	id, err := g.startRun(RunSpec{
		Workflow: path, Event: "workflow_dispatch", Branch: in.Ref, By: g.programLogin(), Title: nameOfRun(src, in.Inputs),
	}, r.now)
	if err != nil {
		return answerError(http.StatusUnprocessableEntity, err.Error())
	}
	w := g.findRun(id)
	g.written.Dispatched = append(g.written.Dispatched, Dispatch{Run: id, Workflow: path, Name: w.title, Inputs: in.Inputs})
	if call := g.onDispatch; call != nil {
		r.afterUnlock = append(r.afterUnlock, func() { call(id, path) })
	}
	if !in.Details {
		return routeAnswer{status: http.StatusNoContent}
	}
	at := fmt.Sprintf("/repos/%s/%s/actions/runs/%d", g.owner, g.repo, id)
	return answerOK(object{
		"workflow_run_id": id, "run_url": r.baseURL + at,
		"html_url": fmt.Sprintf("https://github.com/%s/%s/actions/runs/%d", g.owner, g.repo, id),
	})
}

// whyNoDispatch returns the status and the message with which GitHub refuses to start a workflow; 0 if it does not.
func whyNoDispatch(g *GitHub, src, ref string, inputs map[string]string, size int) (int, string) {
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
	case g.branches[strings.TrimPrefix(ref, "refs/heads/")] == nil && ref != g.defaultBranch:
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
	_, rest, found := strings.Cut(src, "workflow_dispatch:")
	if _, rest, found = strings.Cut(rest, "inputs:\n"); !found {
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
