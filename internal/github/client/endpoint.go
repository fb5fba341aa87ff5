package client

// Endpoints as templates, for metrics and for the limits that depend on them: GitHub's own words with the names taken
// out, so that there are few of them whatever is asked for.

import "strings"

// OtherEndpoint stands for all requests of which no template is known.
const OtherEndpoint = "other"

// endpoints are the requests that are told apart: all that a server sends. An observer hears of each under this name.
var endpoints = []string{
	"GET /app", "GET /app/installations", "GET /app/installations/{installation_id}",
	"POST /app/installations/{installation_id}/access_tokens",
	"GET /app/hook/deliveries", "GET /app/hook/deliveries/{delivery_id}", "POST /app/hook/deliveries/{delivery_id}/attempts",
	"GET /installation/repositories", "GET /rate_limit", "GET /user", "POST /graphql",
	"GET /orgs/{org}/teams/{team_slug}/memberships/{username}",
	"GET /repos/{owner}/{repo}", "GET /repos/{owner}/{repo}/activity", "GET /repos/{owner}/{repo}/installation",
	"GET /repos/{owner}/{repo}/actions/permissions", "GET /repos/{owner}/{repo}/actions/permissions/selected-actions",
	"GET /repos/{owner}/{repo}/actions/permissions/workflow", "GET /repos/{owner}/{repo}/rulesets",
	"GET /repos/{owner}/{repo}/rulesets/{ruleset_id}",
	"GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}",
	"GET /repos/{owner}/{repo}/actions/jobs/{job_id}", "GET /repos/{owner}/{repo}/actions/jobs/{job_id}/logs",
	"GET /repos/{owner}/{repo}/actions/runs", "GET /repos/{owner}/{repo}/actions/runs/{run_id}",
	"GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts", "GET /repos/{owner}/{repo}/actions/runs/{run_id}/jobs", "GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}",
	"GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs",
	"POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel", "POST /repos/{owner}/{repo}/actions/runs/{run_id}/force-cancel",
	"POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun", "POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs",
	"GET /repos/{owner}/{repo}/actions/workflows", "GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs",
	"POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches",
	"GET /repos/{owner}/{repo}/branches/{branch...}", "GET /repos/{owner}/{repo}/rules/branches/{branch...}",
	"POST /repos/{owner}/{repo}/check-runs", "GET /repos/{owner}/{repo}/check-runs/{check_run_id}",
	"PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
	"GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations", "GET /repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs",
	"GET /repos/{owner}/{repo}/collaborators", "GET /repos/{owner}/{repo}/collaborators/{username}/permission",
	"GET /repos/{owner}/{repo}/commits/{ref}", "GET /repos/{owner}/{repo}/commits/{ref}/check-runs",
	"GET /repos/{owner}/{repo}/commits/{ref}/check-suites",
	"GET /repos/{owner}/{repo}/commits/{ref}/pulls", "GET /repos/{owner}/{repo}/commits/{ref}/status",
	"GET /repos/{owner}/{repo}/commits/{ref}/statuses",
	"GET /repos/{owner}/{repo}/compare/{basehead...}", "GET /repos/{owner}/{repo}/git/trees/{tree_sha...}",
	"GET /repos/{owner}/{repo}/git/blobs/{file_sha}",
	"GET /repos/{owner}/{repo}/contents/{path...}", "GET /repos/{owner}/{repo}/issues/{issue_number}",
	"GET /repos/{owner}/{repo}/issues/{issue_number}/comments",
	"POST /repos/{owner}/{repo}/issues/{issue_number}/comments", "GET /repos/{owner}/{repo}/issues/{issue_number}/timeline",
	"GET /repos/{owner}/{repo}/issues/comments/{comment_id}", "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions",
	"PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}",
	"GET /repos/{owner}/{repo}/pulls", "GET /repos/{owner}/{repo}/pulls/{number}", "GET /repos/{owner}/{repo}/pulls/{number}/comments",
	"GET /repos/{owner}/{repo}/pulls/{number}/commits", "GET /repos/{owner}/{repo}/pulls/{number}/files",
	"GET /repos/{owner}/{repo}/pulls/{number}/reviews",
	"GET /repos/{owner}/{repo}/pulls/{number}/reviews/{review_id}", "POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers",
	"POST /repos/{owner}/{repo}/statuses/{sha}",
}

const graphqlEndpoint = "POST /graphql"

// endpointOf is the template of a request: GET /repos/{owner}/{repo}/pulls/{number}. path is below the API's root.
func endpointOf(method, path string, query bool) string {
	if query {
		return graphqlEndpoint
	}
	at := templates.findPath(strings.Trim(path, "/"))
	if at == nil || at.endpoints[method] == "" {
		return OtherEndpoint
	}
	return at.endpoints[method]
}

// A pathNode is one word of the templates' paths.
type pathNode struct {
	endpoints map[string]string // of a path that ends here, by method
	words     map[string]*pathNode
	name      *pathNode // any word
	rest      *pathNode // any words
}

var templates = parseTemplates(endpoints)

func parseTemplates(endpoints []string) *pathNode {
	root := &pathNode{}
	for _, e := range endpoints {
		method, path, _ := strings.Cut(e, " /")
		at := root
		for word := range strings.SplitSeq(path, "/") {
			at = at.child(word)
		}
		if at.endpoints == nil {
			at.endpoints = map[string]string{}
		}
		at.endpoints[method] = e
	}
	return root
}

// findPath looks a path up word for word; nil if no template is of its form.
func (at *pathNode) findPath(path string) *pathNode {
	for path != "" {
		var word string
		word, path, _ = strings.Cut(path, "/")
		switch next := at.words[word]; {
		case next != nil:
			at = next
		case at.rest != nil:
			return at.rest
		case at.name != nil:
			at = at.name
		default:
			return nil
		}
	}
	return at
}

// child returns what follows at under a word of a template.
func (at *pathNode) child(word string) *pathNode {
	switch {
	case strings.HasSuffix(word, "...}"):
		if at.rest == nil {
			at.rest = &pathNode{}
		}
		return at.rest
	case strings.HasPrefix(word, "{"):
		if at.name == nil {
			at.name = &pathNode{}
		}
		return at.name
	}
	if at.words == nil {
		at.words = map[string]*pathNode{}
	}
	if at.words[word] == nil {
		at.words[word] = &pathNode{}
	}
	return at.words[word]
}
