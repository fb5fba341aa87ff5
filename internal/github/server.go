package github

// What a server asks of GitHub for all its installations: what a delivery is about, and a forge of each.

import (
	"context"
	"fmt"
	"strings"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// ReadDelivery says what a delivery is about. It sends nothing.
func (f *Fleet) ReadDelivery(event string, payload []byte) (webhook.Notice, error) {
	n, err := webhook.Parse(event, payload)
	if err != nil {
		return webhook.Notice{}, err
	}
	if f.Personal() {
		n = n.ForToken()
	} else {
		n = n.ForApp(f.KnownSlug())
	}
	n.Organisation = n.Concern == webhook.ConcernRepo && n.Name == "push" && f.holdsOrganisation(n.Owner, n.Repo)
	return n, nil
}

// holdsOrganisation reports whether a repository is the one that holds the policy of its owner.
func (f *Fleet) holdsOrganisation(owner, repo string) bool {
	all := organisationPolicies{repo: f.org}
	at := all.repositoryOf(owner)
	return strings.EqualFold(at.Owner, owner) && strings.EqualFold(at.Repo, repo)
}

// A ServerForge is a server's forge of one installation, with its merge queues.
type ServerForge struct {
	*Forge
	MergeQueues
	fleet *Fleet
}

// ForgeOf returns an installation's forge, or that of a personal token: 0. It sends nothing.
func (f *Fleet) ForgeOf(installation int64) (*ServerForge, error) {
	if f.Personal() != (installation == 0) {
		return nil, fmt.Errorf("enter installation %d: %w", installation, client.ErrNotInstalled)
	}
	forge, err := f.Enter(installation)
	if err != nil {
		return nil, err
	}
	return &ServerForge{forge, QueuesOf(forge), f}, nil
}

// ForgetOrganisation has the organisation's policy asked for again: it may be another one.
func (s *ServerForge) ForgetOrganisation() { s.organisations.forgetAll() }

// RememberOrganisation is [Fleet.RememberOrganisation].
func (s *ServerForge) RememberOrganisation(owner string, file quorum.OrganisationFile) {
	s.fleet.RememberOrganisation(s.installation, owner, file)
}

// PullsOf returns the open pull requests whose head is sha; none if there is no such commit.
func (s *ServerForge) PullsOf(ctx context.Context, owner, repo, sha string) ([]quorum.PR, error) {
	prs, err := s.Forge.PullsOf(ctx, owner, repo, sha)
	if client.IsUnprocessable(err) {
		return nil, nil
	}
	return prs, err
}

// Repositories are those that the installation lets us see and that can change, as owner/name; nil of a personal token.
func (s *ServerForge) Repositories(ctx context.Context) ([]string, error) {
	return s.client.Repositories(ctx)
}
