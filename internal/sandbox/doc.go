// Package sandbox is GitHub in memory: one repository with its pull requests, workflow runs, reviews and checks, behind
// an http.Handler and an http.RoundTripper.
//
// What it promises is GitHub's habits, the awkward ones included. For a moment after a rerun it shows the old attempt;
// a cancel is accepted first and carried out later; a job id is a check run id; what GITHUB_TOKEN writes lands in the
// check suite of the oldest workflow run; GraphQL names bots without their "[bot]"; times are whole seconds. Its
// answers, and the requests that it accepts, are held against GitHub's own OpenAPI description in tests.
//
// Nothing in it runs by itself. Time is whatever Options.Now says, what happens later is worked out when somebody
// looks, and [GitHub.Due] names the moment at which something will next change by itself. So a story told to it in
// virtual time is the same story every time.
package sandbox
