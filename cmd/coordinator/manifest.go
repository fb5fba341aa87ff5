//go:build !action

package main

// The manifest of a GitHub App for the daemon. Each permission and each event is listed here once, with its
// reason. GitHub refuses a manifest whose webhook has no address, that subscribes to an event without the
// permission that the event needs, or that subscribes to one which every App is sent (installation, ping).

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/lazy"
)

// An appPermission is a permission that the App asks for, and why.
type appPermission struct {
	client.Grant
	Reason string
}

// appPermissions are the least that the daemon needs.
var appPermissions = []appPermission{
	{client.Grant{Name: "actions", Level: "write"}, "read reviewers' runs and logs; run a failed one again, once; cancel one that hangs; start a fix workflow"},
	{client.Grant{Name: "checks", Level: "write"}, "write the check; read the checks of other Apps"},
	{client.Grant{Name: "contents", Level: "read"}, "read the policy on the default branch, and the commits"},
	{client.Grant{Name: "issues", Level: "read"}, "be told of comments on pull requests"},
	{client.Grant{Name: "members", Level: "read"}, "read who is in a team whose approval the policy asks for; ask a team for a review"},
	{client.Grant{Name: mergeQueuesPermission, Level: "read"}, "be told of merge groups, and read which pull requests are in one"},
	{client.Grant{Name: "metadata", Level: "read"}, "every App has it: the repository, its branches and who may push"},
	{
		client.Grant{Name: "pull_requests", Level: "write"},
		"read pull requests, files, reviews and threads; ask a reviewer, by a comment too, or people; answer people's commands; " +
			"tell the verdict in a comment",
	},
	{client.Grant{Name: "statuses", Level: "read"}, "read reviewers that set a commit status"},
}

// An eventSubscription is a webhook event that the App subscribes to, and why.
type eventSubscription struct {
	Event, permission, Reason string // permission: GitHub refuses the subscription without it
}

const mergeQueuesPermission = "merge_queues"

// optionalPermissions are needed by teams in a policy and by merge queues alone: without them all else works.
var optionalPermissions = []string{"members", mergeQueuesPermission}

// appEvents are the events that can change a check. GitHub sends ping, installation and installation_repositories to
// every App, and refuses a manifest that names them.
var appEvents = []eventSubscription{
	{"check_run", "checks", "another App's check as a reviewer; Re-run and Rerun reviewers on our own check"},
	{"check_suite", "checks", "all checks of an App on a commit have ended"},
	{"issue_comment", "issues", "a reviewer's answer as a comment: new, edited or deleted; a person's command"},
	{"merge_group", mergeQueuesPermission, "a merge queue's commit, which needs the check, too"},
	{"pull_request", "pull_requests", "opened, pushed to, retargeted, ready, closed"},
	{"pull_request_review", "pull_requests", "a review, or its dismissal"},
	{"pull_request_review_comment", "pull_requests", "a finding beside a line: new, edited or deleted"},
	{"pull_request_review_thread", "pull_requests", "a thread is resolved or opened again; no job is ever told of that"},
	{"push", "contents", "a new policy on the default branch"},
	{"repository", "metadata", "renamed, moved or deleted"},
	{"status", "statuses", "a reviewer that sets a commit status"},
	{"workflow_run", "actions", "a reviewer's run begins or ends"},
}

// describeManifest lists what the manifest asks for, each with its reason.
func describeManifest() string {
	var all strings.Builder
	all.WriteString("The App asks for these permissions, and for no others:\n\n")
	for _, p := range appPermissions {
		fmt.Fprintf(&all, "  %-22s %s\n", p.Name+": "+p.Level, p.Reason)
	}
	all.WriteString("\nIt is sent these events:\n\n")
	for _, s := range appEvents {
		fmt.Fprintf(&all, "  %-28s %s\n", s.Event, s.Reason)
	}
	all.WriteString("\ninstallation, installation_repositories and ping come to every App by themselves.")
	return all.String()
}

// A manifest is a GitHub App's manifest:
// https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type manifest struct {
	Name        string            `json:"name"`
	URL         string            `json:"url"`
	Hook        manifestHook      `json:"hook_attributes"`
	Redirect    string            `json:"redirect_url"`
	Description string            `json:"description"`
	Public      bool              `json:"public"`
	Events      []string          `json:"default_events"`
	Permissions map[string]string `json:"default_permissions"`
}

type manifestHook struct {
	URL    string `json:"url"`
	Active bool   `json:"active"`
}

// projectURL is the homepage of an App.
const projectURL = "https://github.com/review-coordinator/coordinator"

// redirectURL is where GitHub sends the browser with the code for the App's key, if no page of serve setup waits for it. It is a
// port of the person's own machine that no known program uses, because the code opens the key and must reach no other machine.
const redirectURL = "http://localhost:47110/"

// printManifest prints the manifest, and says on standard error what GitHub does with it.
func printManifest(c *command, m manifest, site githubSite, org string) error {
	m.Redirect = redirectURL
	enc := json.NewEncoder(c.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	fmt.Fprintf(c.Stderr, `
GitHub takes it as the field manifest of a form that a browser posts to
  %s
The browser then comes to %s?code=CODE, where nothing needs to answer. Within an hour,
  curl -sS -X POST %s/app-manifests/CODE/conversions >app.json
writes the App's id, its private key (pem) and its webhook_secret. Keep that file to yourself.
`, site.newAppURL(org), redirectURL, site.apiURL)
	return nil
}

// newAppURL returns the address of the form that takes a manifest; org is the owner, or "" for the person.
func (s githubSite) newAppURL(org string) string {
	if org == "" {
		return s.webURL + "/settings/apps/new"
	}
	return s.webURL + "/organizations/" + org + "/settings/apps/new"
}

// orgNamePattern matches the names that GitHub allows for accounts.
var orgNamePattern = lazy.Regexp(`^[A-Za-z0-9](?:-?[A-Za-z0-9_])*$`)

// maxAppName is GitHub's limit for an App's name, in characters.
const maxAppName = 34

// newManifest makes the manifest of an App. It leads back nowhere yet.
func newManifest(webhook, name string) manifest {
	m := manifest{
		Name: name, URL: projectURL, Hook: manifestHook{URL: webhook, Active: true},
		Description: "One check that says whether enough reviewers really approved this commit.", Permissions: map[string]string{},
	}
	for _, s := range appEvents {
		m.Events = append(m.Events, s.Event)
	}
	for _, p := range appPermissions {
		m.Permissions[p.Name] = p.Level
	}
	return m
}

// validateWebhookURL returns an error if GitHub could not deliver to the address.
func validateWebhookURL(webhook string) error {
	u, err := url.Parse(webhook)
	if err != nil || u.Hostname() == "" {
		return errors.New("--webhook is no address")
	}
	switch _, err := strconv.ParseUint("0"+u.Port(), 10, 16); {
	case err != nil || u.Port() == "0":
		return fmt.Errorf("--webhook %s names port %s: ports are 1 to 65535", webhook, u.Port())
	case u.User != nil:
		return errors.New("--webhook holds a user or a password: whoever sees the App's settings would read it")
	case u.RawQuery != "" || u.ForceQuery:
		return errors.New("--webhook has a query (?…): the daemon reads none")
	case u.Fragment != "":
		return errors.New("--webhook has a fragment (#…): GitHub would not send it")
	case u.Scheme != "https":
		return fmt.Errorf("--webhook %s is not https: payloads would cross the network readable", webhook)
	case u.Path == "" || u.Path == "/":
		return fmt.Errorf("--webhook %s has no path: the daemon takes webhooks at %s", webhook, daemon.WebhookPath)
	case !strings.HasSuffix(u.Path, daemon.WebhookPath):
		return fmt.Errorf("--webhook %s does not end with %s, where the daemon takes webhooks: "+
			"a proxy may want a prefix before that, https://HOST/PREFIX/webhook", webhook, daemon.WebhookPath)
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		return fmt.Errorf("--webhook %s is this machine: GitHub does not reach it", webhook)
	}
	return nil
}

// validateAPIURL returns an error, with the right address, if the website cannot be derived from the API's.
func validateAPIURL(api string) error {
	if api == "" {
		return nil
	}
	u, err := url.Parse(strings.TrimRight(api, "/"))
	if err != nil {
		return err // unreachable: it was read before
	}
	own := ""
	switch name := strings.TrimPrefix(u.Hostname(), "www."); {
	case u.Host == "api.github.com" || strings.HasSuffix(u.Path, "/api/v3"):
		return nil
	case name == "github.com":
		own = "it is https://api.github.com"
	case strings.HasPrefix(name, "api.") && strings.HasSuffix(name, ".ghe.com"):
		return nil
	case strings.HasSuffix(name, ".ghe.com"):
		own = "it is https://api." + name
	default:
		own = "of a GitHub Enterprise Server it is " + u.Scheme + "://" + u.Host + "/api/v3"
	}
	return usageError(fmt.Errorf("GITHUB_API_URL %s is no address of GitHub's API", api), own)
}
