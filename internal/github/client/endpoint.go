package client

// Endpoints as templates, for metrics: GitHub's own words with the names taken out, so that there are few of them
// whatever is asked for.

import (
	"net/http"
	"strings"
)

// apiWords are the words of the paths that are asked for. rest follows those behind which a name with slashes stands.
const (
	apiWords = " access_tokens actions activity app artifacts attempts blobs branches cancel check-runs check-suites" +
		" collaborators comments commits compare contents deliveries dispatches files force-cancel git graphql hook" +
		" installation installations issues jobs logs memberships orgs permission permissions pulls rate_limit reactions" +
		" repositories repos requested_reviewers rerun rerun-failed-jobs reviews rules rulesets runs selected-actions" +
		" status statuses teams timeline trees user workflow workflows zip "
	restWords = " branches compare contents trees "
)

// endpointOf is the template of a request: GET /repos/{owner}/{repo}/pulls/{}.
func endpointOf(req *http.Request) string {
	path := strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, "/api/v3"), "/api")
	template := req.Method + " "
	inRepo := strings.HasPrefix(path, "/repos/")
	for i, word := range strings.Split(strings.Trim(path, "/"), "/") {
		switch {
		case inRepo && i == 1:
			template += "/{owner}"
		case inRepo && i == 2:
			template += "/{repo}"
		case !strings.Contains(apiWords, " "+word+" "):
			template += "/{}"
		case strings.Contains(restWords, " "+word+" "):
			return template + "/" + word + "/{...}"
		default:
			template += "/" + word
		}
	}
	return template
}
