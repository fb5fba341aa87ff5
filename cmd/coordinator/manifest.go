//go:build !action

package main

// The manifest of a GitHub App for the daemon. Each permission and each event is listed here once, with its
// reason. GitHub refuses a manifest whose webhook has no address, that subscribes to an event without the
// permission that the event needs, or that subscribes to one which every App is sent (installation, ping).

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/url"
	"regexp"
	"strings"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/github/client"
)

type manifestCmd struct {
	Webhook string `placeholder:"URL"  help:"Where GitHub reaches the daemon: https://HOST/webhook."`
	Name    string `placeholder:"NAME" help:"Name of the App, one that no other App on GitHub has. Default: ${default}. GitHub lets you change it before it is created." default:"Review coordinator"`
	URL     string `placeholder:"URL"  help:"Homepage of the App, to which its checks link."                                                                             default:"https://github.com/review-coordinator/coordinator" name:"url"`
	Org     string `placeholder:"ORG"  help:"Organisation that will own the App. Default: you."`
	HTML    bool   `                   help:"Print a page with one button that hands the manifest to GitHub."                                                                                                                        name:"html"`
}

// An appPermission is a permission that the App asks for, and why.
type appPermission struct {
	client.Grant
	reason string
}

// appPermissions are the least that the daemon needs.
var appPermissions = []appPermission{
	{client.Grant{Name: "actions", Level: "write"}, "read reviewers' runs and logs; run a failed one again, once; cancel one that hangs; start a fix workflow"},
	{client.Grant{Name: "checks", Level: "write"}, "write the check; read the checks of other Apps"},
	{client.Grant{Name: "contents", Level: "read"}, "read the policy on the default branch, and the commits"},
	{client.Grant{Name: "issues", Level: "read"}, "be told of comments on pull requests"},
	{
		client.Grant{Name: mergeQueuesPermission, Level: "read"},
		"be told of merge groups, and read which pull requests are in one",
	},
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
	event, permission, reason string // permission: GitHub refuses the subscription without it
}

// mergeQueuesPermission is needed by merge queues alone: without it all else works.
const mergeQueuesPermission = "merge_queues"

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

// Help is shown by coordinator app-manifest --help.
func (manifestCmd) Help() string {
	var all strings.Builder
	all.WriteString("The App asks for these permissions, and for no others:\n\n")
	for _, p := range appPermissions {
		fmt.Fprintf(&all, "  %-22s %s\n", p.Name+": "+p.Level, p.reason)
	}
	all.WriteString("\nIt is sent these events:\n\n")
	for _, s := range appEvents {
		fmt.Fprintf(&all, "  %-28s %s\n", s.event, s.reason)
	}
	return all.String() + `
installation, installation_repositories and ping come to every App by themselves.

Examples:

  coordinator app-manifest --webhook https://quorum.example.com/webhook --org octo --html >app.html
  coordinator app-manifest --webhook https://quorum.example.com/webhook

Open app.html in a browser that is signed in to GitHub and press its button.`
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

// projectURL is the homepage of an App that names none of its own.
const projectURL = "https://github.com/review-coordinator/coordinator"

// redirectURL is where GitHub sends the browser with the code for the App's key. It is a port of the person's own
// machine that no known program uses, because the code opens the key and must reach no other machine. Nothing needs to
// answer there.
const redirectURL = "http://localhost:47110/"

// Run prints the manifest, or the page.
func (cmd manifestCmd) Run(c *command) error {
	m, err := cmd.buildManifest()
	if err != nil {
		return err
	}
	api, err := c.apiURLFromEnv()
	if err == nil {
		err = validateAPIURL(api)
	}
	if err != nil {
		return err
	}
	steps := cmd.nextSteps(siteOfAPI(api))
	if cmd.HTML {
		text, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("write manifest: %w", err)
		}
		v := manifestView{
			manifestTables: newManifestTables(), Name: m.Name, Form: steps.formURL, Manifest: string(text), Convert: steps.convertCommand,
		}
		return manifestPage.Execute(c.Stdout, v)
	}
	enc := json.NewEncoder(c.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	fmt.Fprintf(c.Stderr, `
Next: coordinator app-manifest --html >app.html, with the same flags, makes a page whose button sends this manifest to
  %s
Your browser then comes to %s?code=CODE, where nothing needs to answer. Within an hour,
  %s
writes the App's id, its private key (pem) and its webhook_secret. Keep that file to yourself.
`, steps.formURL, redirectURL, steps.convertCommand)
	return nil
}

// manifestSteps are the next steps: the form that takes the manifest, and the command that fetches the key.
type manifestSteps struct{ formURL, convertCommand string }

func (cmd manifestCmd) nextSteps(site githubSite) manifestSteps {
	s := manifestSteps{
		formURL:        site.webURL + "/settings/apps/new",
		convertCommand: "curl -sS -X POST " + site.apiURL + "/app-manifests/CODE/conversions >app.json",
	}
	if cmd.Org != "" {
		s.formURL = site.webURL + "/organizations/" + cmd.Org + "/settings/apps/new"
	}
	return s
}

// orgNamePattern matches the names that GitHub allows for accounts.
var orgNamePattern = regexp.MustCompile(`^[A-Za-z0-9](?:-?[A-Za-z0-9_])*$`)

// maxAppName is GitHub's limit for an App's name, in characters.
const maxAppName = 34

// buildManifest makes the manifest that the flags ask for.
func (cmd manifestCmd) buildManifest() (manifest, error) {
	if err := validateWebhookURL(cmd.Webhook); err != nil {
		return manifest{}, usageError(err, "coordinator app-manifest --webhook https://HOST/webhook, as GitHub reaches it from outside")
	}
	home, err := url.Parse(cmd.URL)
	switch n := len([]rune(cmd.Name)); {
	case err != nil, home.Scheme != "https" && home.Scheme != "http", home.Hostname() == "", home.User != nil:
		return manifest{}, usageError(fmt.Errorf("--url %q is no address of a homepage", cmd.URL), "")
	case strings.TrimSpace(cmd.Name) == "" || n > maxAppName || oneLine(cmd.Name) != cmd.Name:
		return manifest{}, usageError(fmt.Errorf("--name has %d characters: GitHub takes 1 to %d, in one line", n, maxAppName), "")
	case cmd.Org != "" && !orgNamePattern.MatchString(cmd.Org):
		return manifest{}, usageError(
			fmt.Errorf("--org %q is no name of an organisation", cmd.Org),
			"it is the last part of https://github.com/ORG",
		)
	}
	m := manifest{
		Name: cmd.Name, URL: cmd.URL, Hook: manifestHook{URL: cmd.Webhook, Active: true}, Redirect: redirectURL,
		Description: "One check that says whether enough reviewers really approved this commit.", Permissions: map[string]string{},
	}
	for _, s := range appEvents {
		m.Events = append(m.Events, s.event)
	}
	for _, p := range appPermissions {
		m.Permissions[p.Name] = p.Level
	}
	return m, nil
}

// validateWebhookURL returns an error if GitHub could not deliver to the address.
func validateWebhookURL(webhook string) error {
	if webhook == "" {
		return errors.New("--webhook is missing: the address at which GitHub reaches the daemon")
	}
	u, err := url.Parse(webhook)
	switch {
	case err != nil || u.Hostname() == "":
		return errors.New("--webhook is no address")
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
		return fmt.Errorf(
			"--webhook %s does not end with %s, where the daemon takes webhooks: a proxy may want a prefix before that, https://HOST/PREFIX/webhook",
			webhook,
			daemon.WebhookPath,
		)
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

// A manifestView is the data of the page.
type manifestView struct {
	manifestTables
	Name, Form, Manifest, Convert string
}

// manifestTables are what an App asks for, with the reasons.
type manifestTables struct{ Permissions, Events []manifestRow }

type manifestRow struct{ What, Why string }

func newManifestTables() (t manifestTables) {
	for _, p := range appPermissions {
		t.Permissions = append(t.Permissions, manifestRow{p.Name + ": " + p.Level, p.reason})
	}
	for _, s := range appEvents {
		t.Events = append(t.Events, manifestRow{s.event, s.reason})
	}
	return t
}

// manifestStyle is the style of a page with a manifest's button.
const manifestStyle = `body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
button { font: inherit; font-weight: 600; padding: .6rem 1.2rem; border: 0; border-radius: .4rem; background: #1f883d; color: #fff; cursor: pointer }
td { padding: .15rem 1rem .15rem 0; vertical-align: top }
code, pre { font: 14px/1.5 ui-monospace, monospace; overflow-x: auto }
`

// manifestTablesText shows manifestTables.
const manifestTablesText = `<h2>What it may do, and why</h2>
<table>{{range .Permissions}}<tr><td><code>{{.What}}</code></td><td>{{.Why}}</td></tr>
{{end}}</table>
<h2>What it is told</h2>
<table>{{range .Events}}<tr><td><code>{{.What}}</code></td><td>{{.Why}}</td></tr>
{{end}}</table>
`

// manifestPage is the page with the button. It sends nothing by itself, runs no script and loads nothing.
var manifestPage = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Create {{.Name}}</title>
<style>
` + manifestStyle + `</style>
</head>
<body>
<h1>Create {{.Name}}</h1>
<form action="{{.Form}}" method="post">
<input type="hidden" name="manifest" value="{{.Manifest}}">
<p><button>Create the App on GitHub</button></p>
</form>
<p>GitHub asks once more, and lets you change the name. Then your browser comes to an address on your own machine that ends in
<code>?code=CODE</code>. Nothing needs to answer there. Within an hour, with that code:</p>
<pre>{{.Convert}}</pre>
<p>The file holds the App's <code>id</code>, its private key (<code>pem</code>) and its <code>webhook_secret</code>. Keep it to yourself.</p>
` + manifestTablesText + `</body>
</html>
`))
