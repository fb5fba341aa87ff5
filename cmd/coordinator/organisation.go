package main

// Where the policy of an organisation stands, as commands are told.

import (
	"fmt"
	"strings"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/lazy"
)

// organisationFlag names where the organisation's policy stands.
type organisationFlag struct {
	PolicyRepository string `help:"The repository that holds the organisation's policy, review-coordinator.yml. Default: the owner's .github, if it has one." placeholder:"OWNER/NAME"`
}

var repositoryPattern = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}$`)

// checkRepository refuses what names no repository.
func (f organisationFlag) checkRepository() error {
	name := f.PolicyRepository
	if name != "" && (!repositoryPattern().MatchString(name) || strings.HasSuffix(name, "/..") || strings.HasSuffix(name, "/.")) {
		return usageError(
			fmt.Errorf("--policy-repository %q is no repository", clipArgument(name)),
			"write it as OWNER/NAME; it must hold "+config.OrganisationFile+" at its root",
		)
	}
	return nil
}
