//go:build !action

package main

// What serve --check says of GitHub: whether it takes us, and what the App's installations lack.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
)

// checkFleet says whether GitHub takes us, and what is missing.
func checkFleet(ctx context.Context, c *command, fleet *github.Fleet) error {
	if fleet.Personal() {
		login, err := fleet.Login(ctx)
		if err != nil {
			return explainUnreached(c, fleet, err)
		}
		c.printChecked("identity",
			"a personal token of %s: commit statuses instead of checks, and failed deliveries are not asked for again", oneLine(login))
		return nil
	}
	slug, err := fleet.Slug(ctx)
	if err != nil {
		return explainUnreached(c, fleet, err)
	}
	all, err := fleet.Installations(ctx)
	if err != nil {
		return explainUnreached(c, fleet, err)
	}
	var need []client.Grant // without issues, for one, GitHub sends no comments
	for _, p := range appPermissions {
		if !slices.Contains(optionalPermissions, p.Name) {
			need = append(need, p.Grant)
		}
	}
	lame := 0
	for _, in := range all {
		lacks, deaf := in.Lacks(need...), missingEvents(in.Events)
		switch {
		case !in.Suspended.IsZero():
			c.printWarning(fmt.Sprintf("the installation on %s is suspended", in.Account))
			continue
		case len(lacks) > 0: // GitHub sends no event that needs one of them
			c.printWarning(fmt.Sprintf("the installation on %s lacks %s", in.Account, joinGrants(lacks)))
		case len(deaf) > 0:
			c.printWarning(fmt.Sprintf("the installation on %s is not subscribed to %s", in.Account, strings.Join(deaf, ", ")))
		default:
			continue
		}
		lame++
	}
	c.printChecked("identity", "the App %s, %s", oneLine(slug), countNoun(len(all), "installation"))
	if lame > 0 {
		return hintedError(
			fmt.Errorf("%s cannot be worked on as it should", countNoun(lame, "installation")),
			"add the permissions and events in the App's settings, and accept them in each installation's",
		)
	}
	return nil
}

// missingEvents are the events that we need and an installation does not send.
func missingEvents(events []string) (missing []string) {
	for _, s := range appEvents {
		if s.permission != mergeQueuesPermission && !slices.Contains(events, s.Event) {
			missing = append(missing, s.Event)
		}
	}
	return missing
}

// explainUnreached says what to do when GitHub did not answer, or refused us.
func explainUnreached(c *command, fleet *github.Fleet, err error) error {
	switch {
	case errors.Is(err, client.ErrTransport):
		hint := cmp.Or(client.HintOf(err), "may this machine reach GitHub's API, and is GITHUB_API_URL right?")
		if !strings.HasSuffix(hint, "?") {
			hint += ";"
		}
		return hintedError(err, hint+" serve starts all the same, and waits for GitHub")
	case client.IsNotFound(err):
		return hintedError(err, "is GITHUB_API_URL the API of the GitHub that the App or the token is of?")
	case fleet.Personal():
		return withAPIHint(err)
	}
	return c.explainInstallError(err, "", "")
}
