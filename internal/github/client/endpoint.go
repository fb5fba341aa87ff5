package client

// Endpoints as templates, for metrics and for the limits that depend on them: GitHub's own words with the names taken out,
// so that there are few of them whatever is asked for.

import "strings"

// endpoint is the template of a request: GET /repos/{owner}/{repo}/pulls/{number}. path is below the API's root.
func endpoint(method, path string, query bool) string {
	if query {
		return "POST /graphql"
	}
	template, known := template(strings.Trim(path, "/"))
	if !known {
		return otherEndpoint
	}
	for _, m := range methods {
		if m == method {
			return m + template
		}
	}
	return otherEndpoint
}

// otherEndpoint stands for all that is not known.
const otherEndpoint = "other"

var methods = []string{"GET", "POST", "PATCH", "PUT", "DELETE"}

// template looks path up word for word.
func template(path string) (string, bool) {
	at := endpoints
	for path != "" {
		var word string
		word, path, _ = strings.Cut(path, "/")
		switch next := at.words[word]; {
		case next != nil:
			at = next
		case at.rest != nil:
			return at.rest.template, true
		case at.name != nil:
			at = at.name
		default:
			return "", false
		}
	}
	return at.template, at.template != ""
}

// A step is one word of a path.
type step struct {
	template string // of a path that ends here
	words    map[string]*step
	name     *step // any word
	rest     *step // any words
}

// endpoints are those that we ask for.
var endpoints = steps(
	"app", "app/installations", "app/installations/{installation_id}", "app/installations/{installation_id}/access_tokens",
	"app/hook/deliveries", "app/hook/deliveries/{delivery_id}", "app/hook/deliveries/{delivery_id}/attempts",
	"installation/repositories", "user", "users/{username}", "user/repos", "rate_limit", "meta", "graphql",
	"repos/{owner}/{repo}", "repos/{owner}/{repo}/installation",
	"repos/{owner}/{repo}/actions/artifacts/{artifact_id}/zip",
	"repos/{owner}/{repo}/actions/jobs/{job_id}", "repos/{owner}/{repo}/actions/jobs/{job_id}/logs", "repos/{owner}/{repo}/actions/jobs/{job_id}/rerun",
	"repos/{owner}/{repo}/actions/runs", "repos/{owner}/{repo}/actions/runs/{run_id}", "repos/{owner}/{repo}/actions/runs/{run_id}/artifacts",
	"repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}", "repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs",
	"repos/{owner}/{repo}/actions/runs/{run_id}/cancel", "repos/{owner}/{repo}/actions/runs/{run_id}/force-cancel", "repos/{owner}/{repo}/actions/runs/{run_id}/jobs",
	"repos/{owner}/{repo}/actions/runs/{run_id}/rerun", "repos/{owner}/{repo}/actions/runs/{run_id}/rerun-failed-jobs",
	"repos/{owner}/{repo}/actions/workflows", "repos/{owner}/{repo}/actions/workflows/{workflow_id}", "repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs",
	"repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches", "repos/{owner}/{repo}/actions/permissions", "repos/{owner}/{repo}/actions/permissions/workflow",
	"repos/{owner}/{repo}/branches", "repos/{owner}/{repo}/branches/{branch}", "repos/{owner}/{repo}/branches/{branch}/protection",
	"repos/{owner}/{repo}/check-runs", "repos/{owner}/{repo}/check-runs/{check_run_id}", "repos/{owner}/{repo}/check-runs/{check_run_id}/annotations",
	"repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest", "repos/{owner}/{repo}/check-suites", "repos/{owner}/{repo}/check-suites/{check_suite_id}",
	"repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs", "repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest",
	"repos/{owner}/{repo}/collaborators/{username}/permission", "repos/{owner}/{repo}/commits", "repos/{owner}/{repo}/commits/{ref}", "repos/{owner}/{repo}/commits/{ref}/check-runs", "repos/{owner}/{repo}/commits/{ref}/check-suites",
	"repos/{owner}/{repo}/commits/{ref}/pulls", "repos/{owner}/{repo}/commits/{ref}/status", "repos/{owner}/{repo}/commits/{ref}/statuses",
	"repos/{owner}/{repo}/compare/{basehead...}", "repos/{owner}/{repo}/contents/{path...}", "repos/{owner}/{repo}/git/commits/{commit_sha}",
	"repos/{owner}/{repo}/git/ref/{ref...}", "repos/{owner}/{repo}/git/trees/{tree_sha}", "repos/{owner}/{repo}/git/blobs/{file_sha}",
	"repos/{owner}/{repo}/issues", "repos/{owner}/{repo}/issues/comments/{comment_id}", "repos/{owner}/{repo}/issues/{issue_number}",
	"repos/{owner}/{repo}/issues/{issue_number}/comments", "repos/{owner}/{repo}/issues/{issue_number}/timeline",
	"repos/{owner}/{repo}/pulls", "repos/{owner}/{repo}/pulls/comments/{comment_id}", pullEndpoint[1:], "repos/{owner}/{repo}/pulls/{number}/comments",
	"repos/{owner}/{repo}/pulls/{number}/comments/{comment_id}/replies", "repos/{owner}/{repo}/pulls/{number}/commits", "repos/{owner}/{repo}/pulls/{number}/files",
	"repos/{owner}/{repo}/pulls/{number}/requested_reviewers", "repos/{owner}/{repo}/pulls/{number}/reviews",
	"repos/{owner}/{repo}/pulls/{number}/reviews/{review_id}", "repos/{owner}/{repo}/pulls/{number}/reviews/{review_id}/comments",
	"repos/{owner}/{repo}/rules/branches/{branch...}", "repos/{owner}/{repo}/rulesets", "repos/{owner}/{repo}/statuses/{sha}",
)

func steps(templates ...string) *step {
	root := &step{}
	for _, t := range templates {
		at := root
		for word := range strings.SplitSeq(t, "/") {
			at = at.after(word)
		}
		at.template = " /" + t
	}
	return root
}

func (s *step) after(word string) *step {
	switch {
	case strings.HasSuffix(word, "...}"):
		if s.rest == nil {
			s.rest = &step{}
		}
		return s.rest
	case strings.HasPrefix(word, "{"):
		if s.name == nil {
			s.name = &step{}
		}
		return s.name
	}
	if s.words == nil {
		s.words = map[string]*step{}
	}
	if s.words[word] == nil {
		s.words[word] = &step{}
	}
	return s.words[word]
}
