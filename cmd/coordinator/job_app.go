package main

// The program's identity on GitHub: a token, or an installation of a GitHub App.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// writePermissions are the permissions of a token that evaluates and posts, as a workflow file writes them.
const writePermissions = "permissions: {actions: write, checks: write, contents: read, issues: read, pull-requests: write, statuses: write}"

// access says whether a command only reads or also writes.
type access uint8

const (
	readAccess  access = 1 + iota // looks only
	writeAccess                   // posts the check, runs reviewers again, asks them
)

// neededGrants returns the grants that a decision and its check need (must), and those that reruns and requests need
// (should).
func (a access) neededGrants() (must, should []client.Grant) {
	must = []client.Grant{
		{Name: "actions", Level: "read"},
		{Name: "checks", Level: "read"},
		{Name: "contents", Level: "read"},
		{Name: "pull_requests", Level: "read"},
	}
	if a == writeAccess {
		must[1].Level = "write"
		should = []client.Grant{
			{Name: "actions", Level: "write"},
			{Name: "pull_requests", Level: "write"},
			{Name: "statuses", Level: "read"},
		}
	}
	return must, should
}

// connectGitHub makes a client for one repository with the identity that the environment gives: the App's installation, whose slug
// the checks are written as, or a token, whose App is that of all jobs.
func (c *command) connectGitHub(
	ctx context.Context, owner, repo string, will access,
) (api *client.Client, in client.Installation, err error) {
	key, err := c.appFromEnv()
	if err != nil {
		return nil, in, err
	}
	if key == nil {
		api, err = c.newTokenClient()
		return api, client.Installation{Slug: quorum.ActionsApp}, err
	}
	if owner == "" {
		return nil, in, usageError(
			errors.New("no repository: an App works on one that it is installed on"),
			"name it: --repo OWNER/NAME, or GITHUB_REPOSITORY",
		)
	}
	address, err := c.apiURLFromEnv()
	if err != nil {
		return nil, in, err
	}
	api, err = client.New(client.Options{BaseURL: address, App: key, Log: c.newLogger(), Observed: c.Observed})
	if err != nil {
		return nil, in, usageError(err, "")
	}
	in, err = api.Install(ctx, owner, repo)
	if err != nil {
		return nil, in, c.explainInstallError(err, owner, repo)
	}
	must, should := will.neededGrants()
	if lacks := in.Lacks(must...); len(lacks) > 0 {
		return nil, in, hintedError(
			fmt.Errorf("the App %s lacks %s on %s/%s", in.Slug, joinGrants(lacks), owner, repo),
			"add it in the App's settings, and accept it in the installation's",
		)
	}
	if lacks := in.Lacks(should...); len(lacks) > 0 {
		c.printWarning(fmt.Sprintf("the App %s lacks %s: reviewers are not run again or asked as far as that is needed for it",
			in.Slug, joinGrants(lacks)))
	}
	return api, in, nil
}

// apiURLFromEnv returns GITHUB_API_URL, once it is an address that a token may be sent to; "" if it is not set.
func (c *command) apiURLFromEnv() (string, error) {
	api := c.Getenv("GITHUB_API_URL")
	if _, err := client.New(client.Options{BaseURL: api, Token: "none"}); err != nil { // it sends nothing
		return "", usageError(err, "GITHUB_API_URL, if it is set, is https://HOST/api/v3")
	}
	return api, nil
}

func joinGrants(all []client.Grant) string {
	var words []string
	for _, g := range all {
		words = append(words, g.String())
	}
	return strings.Join(words, ", ")
}

// printWarning prints a warning: in a job as a workflow command, elsewhere to standard error.
func (c *command) printWarning(text string) {
	if c.jobOutput != nil {
		c.jobOutput.sendCommand(func(a *githubactions.Action) { a.Warningf("%s", oneLine(text)) })
		return
	}
	if c.JSON != nil {
		c.warnings = append(c.warnings, oneLine(text))
	}
	fmt.Fprintf(c.Stderr, "%s %s\n", paintIf(c.ErrColor, warningStyle, "warning:"), oneLine(text))
}

// explainInstallError adds a hint to the error of an App that cannot work on this repository.
func (c *command) explainInstallError(err error, owner, repo string) error {
	switch {
	case errors.Is(err, client.ErrNotInstalled):
		return hintedError(err, fmt.Sprintf("install the App on %s/%s, or add the repository to its installation", owner, repo))
	case errors.Is(err, client.ErrSuspended):
		return hintedError(err, "unsuspend it in the installation's settings")
	case client.IsUnauthorized(err):
		return hintedError(err, "GITHUB_APP_ID and the private key must be of the same App, and this machine's clock right")
	}
	return withAPIHint(err)
}

// maxKeyBytes is longer than any private key.
const maxKeyBytes = 64 << 10

// appFromEnv returns the App that the environment names; nil without one. No error quotes the key.
func (c *command) appFromEnv() (*client.App, error) {
	id := strings.TrimSpace(c.Getenv("GITHUB_APP_ID"))
	key, file := c.Getenv("GITHUB_APP_PRIVATE_KEY"), c.Getenv("GITHUB_APP_PRIVATE_KEY_FILE")
	switch {
	case id == "" && key == "" && file == "":
		return nil, nil
	case id == "":
		return nil, usageError(errors.New("there is an App's private key without the App's id"), "set GITHUB_APP_ID")
	case key == "" && file == "":
		return nil, usageError(
			errors.New("there is an App's id without its private key"),
			"set GITHUB_APP_PRIVATE_KEY or GITHUB_APP_PRIVATE_KEY_FILE",
		)
	case key != "" && file != "":
		return nil, usageError(errors.New("GITHUB_APP_PRIVATE_KEY and GITHUB_APP_PRIVATE_KEY_FILE are both set"), "keep one of them")
	}
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil || number <= 0 {
		return nil, usageError(
			errors.New("GITHUB_APP_ID is no number"),
			"it stands in the App's settings, as App ID; the Client ID is another",
		)
	}
	from, hint := "GITHUB_APP_PRIVATE_KEY", "GITHUB_APP_PRIVATE_KEY holds the text of the .pem file that GitHub hands out; where that file is, GITHUB_APP_PRIVATE_KEY_FILE says"
	if file != "" {
		if strings.Contains(file, "PRIVATE KEY-----") {
			return nil, usageError(
				errors.New("GITHUB_APP_PRIVATE_KEY_FILE holds a key, and not where its file is"),
				"GITHUB_APP_PRIVATE_KEY holds a key",
			)
		}
		from, hint = "GITHUB_APP_PRIVATE_KEY_FILE "+file, "the key is the .pem file that GitHub hands out"
		text, err := readFileUpTo(file, maxKeyBytes)
		if errors.Is(err, fs.ErrPermission) {
			return nil, usageError(
				fmt.Errorf("read the App's private key: %w", err),
				"the user who runs the coordinator must be able to read the file that GITHUB_APP_PRIVATE_KEY_FILE names",
			)
		}
		if err != nil {
			return nil, usageError(fmt.Errorf("read the App's private key: %w", err), "GITHUB_APP_PRIVATE_KEY_FILE names the file")
		}
		key = string(text)
	}
	if !strings.Contains(key, "\n") { // a shell or an .env file has turned line breaks into \n
		key = strings.ReplaceAll(key, `\n`, "\n")
	}
	app := &client.App{ID: number, Key: []byte(key), Mint: c.maskSecret}
	if _, err := client.New(client.Options{App: app}); err != nil { // it sends nothing
		return nil, usageError(fmt.Errorf("%w (%s)", err, from), hint)
	}
	return app, nil
}

// missingPermissionHint names the permission that the token lacks, if GitHub refused for that reason, and returns ""
// otherwise.
func missingPermissionHint(err error) string {
	var api *client.APIError
	if !errors.As(err, &api) || !api.Missing {
		return ""
	}
	// GitHub names one set of permissions, or alternatives separated by semicolons.
	first, _, _ := strings.Cut(api.Permission, ";")
	var need []client.Grant
	for one := range strings.SplitSeq(first, ",") {
		name, level, _ := strings.Cut(strings.TrimSpace(one), "=")
		if name != "" && level != "" && isPlainWord(name+level) {
			need = append(need, client.Grant{Name: name, Level: level})
		}
	}
	what := "a permission"
	if len(need) > 0 {
		what = joinGrants(need)
	}
	return fmt.Sprintf("the token lacks %s: give the job %s, or add it to the App and accept it in its installation",
		what, writePermissions)
}

func isPlainWord(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}
