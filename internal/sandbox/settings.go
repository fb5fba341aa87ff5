package sandbox

// A repository's settings, as far as those who set it up ask for them: rulesets, what Actions may do, which workflows
// are switched off. What only an administrator sees is refused to anybody else.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Settings are those of a repository. The zero value is a public one as GitHub makes it, whose settings the program under
// test may not read.
type Settings struct {
	Private       bool
	MayRead       bool     // the program has the permission administration: read
	NoActions     bool     // Actions is switched off
	Allowed       string   // which actions may run: all (the default), local_only, selected
	Patterns      []string // with selected
	WriteDefault  bool     // a job's token may write unless its workflow says otherwise
	WorkflowsVote bool     // workflows may approve pull requests
	Rulesets      []RulesetSpec
	MergeQueue    bool              // the default branch is merged by a queue that its classic protection asks for
	States        map[string]string // of workflows by their path, such as disabled_manually; default active
}

// A RulesetSpec is a ruleset of branches.
type RulesetSpec struct {
	ID          int64
	Name        string
	Enforcement string   // active (the default), disabled, evaluate
	Include     []string // ~DEFAULT_BRANCH, ~ALL, refs/heads/…
	Checks      []RequiredCheck
	Creation    bool   // it restricts who creates such a branch
	MergeQueue  bool   // it asks for a merge queue
	By          string // the organisation whose it is; default: the repository's own
}

// Configure sets the settings of a repository.
func Configure(g *GitHub, s Settings) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settings = s
	g.renderedRepos = map[string]json.RawMessage{}
}

func settingsRoutes() []route {
	return []route{
		{method: "GET", pattern: "R/rulesets", handle: listRulesets},
		{method: "GET", pattern: "R/rulesets/{n:ruleset_id}", handle: getRuleset},
		{method: "GET", pattern: "R/actions/permissions", handle: forAdministrators(getActionsPermissions)},
		{method: "GET", pattern: "R/actions/permissions/workflow", handle: forAdministrators(getDefaultToken)},
		{method: "GET", pattern: "R/actions/permissions/selected-actions", handle: forAdministrators(getSelectedActions)},
	}
}

// forAdministrators refuses what GitHub shows with the permission administration: read alone.
func forAdministrators(handle func(*GitHub, *routedRequest) routeAnswer) func(*GitHub, *routedRequest) routeAnswer {
	return func(g *GitHub, r *routedRequest) routeAnswer {
		if g.settings.MayRead {
			return handle(g, r)
		}
		a := answerError(http.StatusForbidden, "Resource not accessible by integration")
		a.header = map[string]string{"X-Accepted-GitHub-Permissions": "administration=read"}
		return a
	}
}

// visibilityWord is GitHub's word for who sees the repository.
func visibilityWord(s Settings) string {
	if s.Private {
		return "private"
	}
	return "public"
}

// rulesOf are the rules of a ruleset.
func rulesOf(s RulesetSpec) []object {
	var rules []object
	if len(s.Checks) > 0 {
		rules = rulesJSON(&branchRules{checks: s.Checks})
	}
	if s.Creation {
		rules = append(rules, object{"type": "creation"})
	}
	if s.MergeQueue {
		rules = append(rules, object{"type": "merge_queue", "parameters": object{
			"check_response_timeout_minutes": 60, "grouping_strategy": "ALLGREEN", "max_entries_to_build": 5, "max_entries_to_merge": 5,
			"merge_method": "MERGE", "min_entries_to_merge": 1, "min_entries_to_merge_wait_minutes": 5,
		}})
	}
	return rules
}

// rulesetsFor are the active rulesets that hold for a branch.
func rulesetsFor(g *GitHub, branch string) []RulesetSpec {
	return slices.DeleteFunc(slices.Clone(g.settings.Rulesets), func(s RulesetSpec) bool {
		return or(s.Enforcement, "active") != "active" || !slices.ContainsFunc(s.Include, func(ref string) bool {
			matches, _ := path.Match(ref, "refs/heads/"+branch)
			return ref == "~ALL" || ref == "~DEFAULT_BRANCH" && branch == g.defaultBranch || matches
		})
	})
}

// rulesetJSON is a ruleset as the list has it.
func rulesetJSON(g *GitHub, s RulesetSpec) object {
	kind, source := sourceOf(g, s)
	return object{
		"id": s.ID, "name": s.Name, "target": "branch", "source_type": kind, "source": source, "enforcement": or(s.Enforcement, "active"),
		"node_id": nodeID("RRS", s.ID), "created_at": timeOrNull(g.createdAt), "updated_at": timeOrNull(g.createdAt),
		"_links": object{"self": object{"href": fmt.Sprintf("%s/rulesets/%d", g.apiURL(), s.ID)}, "html": nil},
	}
}

// sourceOf is whose a ruleset is.
func sourceOf(g *GitHub, s RulesetSpec) (kind, name string) {
	if s.By != "" {
		return "Organization", s.By
	}
	return "Repository", g.owner + "/" + g.repo
}

func listRulesets(g *GitHub, r *routedRequest) routeAnswer {
	all := slices.DeleteFunc(slices.Clone(g.settings.Rulesets), func(s RulesetSpec) bool {
		return s.By != "" && r.queryParam("includes_parents") == "false"
	})
	return answerList(r, all, func(s RulesetSpec) any { return rulesetJSON(g, s) }, "")
}

func getRuleset(g *GitHub, r *routedRequest) routeAnswer {
	for _, s := range g.settings.Rulesets {
		if s.ID == r.intParam("ruleset_id") {
			whole := rulesetJSON(g, s)
			whole["rules"] = rulesOf(s)
			whole["conditions"] = object{"ref_name": object{"include": s.Include, "exclude": []string{}}}
			return answerOK(whole)
		}
	}
	return answerNotFound()
}

func getActionsPermissions(g *GitHub, _ *routedRequest) routeAnswer {
	if g.settings.NoActions {
		return answerOK(object{"enabled": false})
	}
	said := object{"enabled": true, "allowed_actions": or(g.settings.Allowed, "all")}
	if g.settings.Allowed == "selected" {
		said["selected_actions_url"] = g.apiURL() + "/actions/permissions/selected-actions"
	}
	return answerOK(said)
}

func getDefaultToken(g *GitHub, _ *routedRequest) routeAnswer {
	level := "read"
	if g.settings.WriteDefault {
		level = "write"
	}
	return answerOK(object{"default_workflow_permissions": level, "can_approve_pull_request_reviews": g.settings.WorkflowsVote})
}

func getSelectedActions(g *GitHub, _ *routedRequest) routeAnswer {
	if g.settings.Allowed != "selected" {
		return answerError(http.StatusConflict, "Conflict")
	}
	patterns := append([]string{}, g.settings.Patterns...)
	return answerOK(object{"github_owned_allowed": true, "verified_allowed": false, "patterns_allowed": patterns})
}

// workflowsWithoutRun are the workflow files of the default branch that never ran, as GitHub lists them all the same.
func workflowsWithoutRun(g *GitHub) (all []*workflowRun) {
	for name, source := range g.files[g.defaultBranch] {
		isWorkflow := strings.HasPrefix(name, ".github/workflows/") && (path.Ext(name) == ".yml" || path.Ext(name) == ".yaml")
		if !isWorkflow || source == nil || slices.ContainsFunc(g.runs, func(r *workflowRun) bool { return r.workflowFile() == name }) {
			continue
		}
		r := &workflowRun{workflowPath: name, name: nameInSource(*source, name)}
		for _, c := range name {
			r.workflowID = (r.workflowID*31 + int64(c)) % 100_000_000
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *workflowRun) int { return strings.Compare(a.workflowPath, b.workflowPath) })
	return all
}

// nameInSource is the name that a workflow file gives itself; its path without one.
func nameInSource(source, file string) string {
	for line := range strings.Lines(source) {
		if name, found := strings.CutPrefix(line, "name:"); found {
			return strings.Trim(strings.TrimSpace(name), `"'`)
		}
	}
	return file
}
