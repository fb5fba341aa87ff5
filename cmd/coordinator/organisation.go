package main

// Where the policy of an organisation stands, as commands are told, and what of a policy comes from it.

import (
	"fmt"
	"strings"

	"github.com/review-coordinator/coordinator/internal/config"
	"github.com/review-coordinator/coordinator/internal/lazy"
	"github.com/review-coordinator/coordinator/internal/quorum"
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

// describeOrigins says from where the keys of a policy come, a line each source; "" where no organisation's is known.
func describeOrigins(origins []quorum.Origin) string {
	var b strings.Builder
	for _, source := range []struct {
		from quorum.KeySource
		says string
	}{
		{quorum.FromEnforce, "The organisation enforces"},
		{quorum.FromOrganisation, "From the organisation's policy"},
		{quorum.FromRepository, "From the repository's policy"},
	} {
		var keys []string
		for _, o := range origins {
			if o.From == source.from {
				keys = append(keys, oneLine(o.Key))
			}
		}
		if len(keys) > 0 {
			fmt.Fprintf(&b, "%s: %s.\n", source.says, strings.Join(keys, ", "))
		}
	}
	if b.Len() > 0 {
		b.WriteString("All else is as by default.\n")
	}
	return b.String()
}
