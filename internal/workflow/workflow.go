// Package workflow reads the workflow files of GitHub Actions, as far as it matters who starts them, what their jobs
// are called and may do, and whether a reviewer's does what its policy needs. It never fails over a part unknown to it.
package workflow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/review-coordinator/coordinator/internal/lazy"
)

// A Definition is what a workflow file says.
type Definition struct {
	Name     string // by which other workflows listen to it; "": GitHub calls it by its path
	Triggers []Trigger
	Token    TokenRights // of jobs that name none of their own
	Jobs     []JobPlan   // in the order of their ids
}

// A Trigger is an event that starts the workflow, with its filters; nil: there is none.
type Trigger struct {
	Event          string
	Types          []string
	Branches       []string
	BranchesIgnore []string
	Paths          []string
	PathsIgnore    []string
	Workflows      []string // with workflow_run: names
}

// A JobPlan is a job as its workflow plans it.
type JobPlan struct {
	ID    string
	Name  string // "": the id is its name
	If    string // when it runs
	Uses  string // of a reusable workflow
	Token TokenRights
	Steps []StepPlan
}

// A StepPlan is a step of a job.
type StepPlan struct {
	Uses, Run string
	Dir       string // in which Run runs; "": the workspace
	With      map[string]string
}

// TokenRights are the permissions that a workflow or a job gives its GITHUB_TOKEN. The zero value names none: others
// hold then.
type TokenRights struct {
	Named  bool
	All    string            // read, write: of every permission; "": those of Levels, and none else
	Levels map[string]string // by the permission's name in a workflow: pull-requests
}

// maxSource bounds a file that is read; GitHub takes none that is larger.
const maxSource = 512 << 10

// maxAliases bounds what a file may repeat by reference: each may stand for as much as stands before it.
const maxAliases = 100

var aliasPattern = lazy.Regexp(`(?:^|[\s,\[{:-])\*[0-9A-Za-z_-]`)

// maxOpen bounds what stands within one another, and maxInputs what a step gives its action.
const (
	maxOpen   = 500
	maxInputs = 500
)

// checkCost refuses what would take a parser long: its time grows with the square of the depth. Words of scripts are
// counted, too, which come nowhere near.
func checkCost(src string) error {
	open := 0
	for line := range strings.Lines(src) {
		dashes := 0
		for _, word := range strings.Fields(line) {
			if word != "-" && word != "?" {
				break
			}
			dashes++
		}
		open = max(0, open+strings.Count(line, "[")+strings.Count(line, "{")-strings.Count(line, "]")-strings.Count(line, "}"))
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if open > maxOpen || dashes > maxOpen || indent > 4*maxOpen {
			return errors.New("it is nested too deeply")
		}
	}
	if len(aliasPattern().FindAllStringIndex(src, maxAliases+1)) > maxAliases && strings.Contains(src, "&") {
		return errors.New("it repeats too much by reference")
	}
	return nil
}

// ParseDefinition reads a workflow file.
func ParseDefinition(src string) (Definition, error) {
	if len(src) > maxSource {
		return Definition{}, fmt.Errorf("it is larger than %d bytes", maxSource)
	}
	if err := checkCost(src); err != nil {
		return Definition{}, err
	}
	var top map[string]any
	if err := yaml.Unmarshal([]byte(src), &top); err != nil {
		return Definition{}, errors.New("it is no YAML that GitHub would read")
	}
	d := Definition{Name: textOf(top["name"]), Token: rightsOf(top, "permissions")}
	on, has := top["on"]
	if !has {
		on = top["true"] // as YAML 1.1 reads the word
	}
	d.Triggers = triggersOf(on)
	jobs, _ := top["jobs"].(map[string]any)
	for _, id := range sortedKeys(jobs) {
		d.Jobs = append(d.Jobs, planOf(id, jobs[id]))
	}
	if len(d.Triggers) == 0 || len(d.Jobs) == 0 {
		return d, errors.New("it has no trigger or no job")
	}
	return d, nil
}

// Trigger returns the trigger of an event.
func (d Definition) Trigger(event string) (t Trigger, found bool) {
	i := slices.IndexFunc(d.Triggers, func(t Trigger) bool { return t.Event == event })
	if i < 0 {
		return Trigger{}, false
	}
	return d.Triggers[i], true
}

// ShownName is what GitHub calls the job: in a check's name, and where a rule requires it.
func (j JobPlan) ShownName() string {
	if j.Name != "" {
		return j.Name
	}
	return j.ID
}

// Level returns what the token may do with one thing: read, write or none.
func (r TokenRights) Level(permission string) string {
	switch {
	case r.All != "":
		return r.All
	case r.Levels[permission] != "":
		return r.Levels[permission]
	}
	return "none"
}

// Allows reports whether the token may do that much.
func (r TokenRights) Allows(permission, level string) bool {
	has := r.Level(permission)
	return has == "write" || has == level
}

// triggersOf reads what stands at on:, which is an event, a list of them, or events with their filters.
func triggersOf(on any) (all []Trigger) {
	switch on := on.(type) {
	case string:
		return []Trigger{{Event: on}}
	case []any:
		for _, event := range on {
			all = append(all, Trigger{Event: textOf(event)})
		}
	case map[string]any:
		for _, event := range sortedKeys(on) {
			filters, _ := on[event].(map[string]any)
			all = append(all, Trigger{
				Event: event, Types: textsOf(filters["types"]), Workflows: textsOf(filters["workflows"]),
				Branches: textsOf(filters["branches"]), BranchesIgnore: textsOf(filters["branches-ignore"]),
				Paths: textsOf(filters["paths"]), PathsIgnore: textsOf(filters["paths-ignore"]),
			})
		}
	}
	return all
}

// planOf reads a job.
func planOf(id string, node any) JobPlan {
	job, _ := node.(map[string]any)
	plan := JobPlan{ID: id, Name: textOf(job["name"]), Uses: textOf(job["uses"]), Token: rightsOf(job, "permissions")}
	plan.If = textOf(job["if"])
	steps, _ := job["steps"].([]any)
	for _, node := range steps {
		step, _ := node.(map[string]any)
		with, _ := step["with"].(map[string]any)
		s := StepPlan{Uses: textOf(step["uses"]), Run: textOf(step["run"]), With: map[string]string{}}
		s.Dir = textOf(step["working-directory"])
		if len(with) > maxInputs { // no action has so many, and references may repeat the step
			with = nil
		}
		for _, key := range sortedKeys(with) {
			s.With[key] = textOf(with[key])
		}
		plan.Steps = append(plan.Steps, s)
	}
	return plan
}

// rightsOf reads permissions:, which is a word for all of them, or a level for each.
func rightsOf(node map[string]any, key string) TokenRights {
	switch of := node[key].(type) {
	case string:
		return TokenRights{Named: true, All: strings.TrimSuffix(of, "-all")}
	case map[string]any:
		r := TokenRights{Named: true, Levels: map[string]string{}}
		for _, name := range sortedKeys(of) {
			r.Levels[name] = textOf(of[name])
		}
		return r
	}
	_, named := node[key] // nothing stands there: no permission at all
	return TokenRights{Named: named}
}

// textOf is a scalar as text; "" of anything else.
func textOf(node any) string {
	switch v := node.(type) {
	case nil, map[string]any, []any:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// textsOf is a scalar, or a list of them, as texts.
func textsOf(node any) (all []string) {
	switch v := node.(type) {
	case []any:
		for _, item := range v {
			all = append(all, textOf(item))
		}
	default:
		if text := textOf(v); text != "" {
			all = append(all, text)
		}
	}
	return all
}

func sortedKeys(of map[string]any) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
