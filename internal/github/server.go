package github

// What a server asks of GitHub for all its installations: what a delivery is about, and a forge that may be had before
// GitHub has ever answered.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// ErrAppUnknown is in the chain of an error of the App's own endpoints that answered 404: GitHub does not know the App,
// which does not mean that what was asked for is gone.
var ErrAppUnknown = errors.New("GitHub does not know the App")

// appUnknownError reads like the error that it marks.
type appUnknownError struct{ error }

func (e appUnknownError) Unwrap() []error { return []error{e.error, ErrAppUnknown} }

// markAppUnknown marks an error of the App's own endpoints.
func markAppUnknown(err error) error {
	if client.IsNotFound(err) {
		return appUnknownError{err}
	}
	return err
}

// Slug is the App's, asked for once.
func (f *Fleet) Slug(ctx context.Context) (string, error) {
	slug, err := f.Pool.Slug(ctx)
	return slug, markAppUnknown(err)
}

// Installations are all of the App's; nil of a personal token.
func (f *Fleet) Installations(ctx context.Context) ([]client.Installation, error) {
	all, err := f.Pool.Installations(ctx)
	return all, markAppUnknown(err)
}

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

// A ServerForge is a server's forge of one installation. It is a name: the fleet holds what is behind it. Before the
// App's slug is known, each request asks for it first.
type ServerForge struct {
	fleet        *Fleet
	installation int64
}

// ForgeOf returns an installation's forge, or that of a personal token: 0. It sends nothing.
func (f *Fleet) ForgeOf(installation int64) (*ServerForge, error) {
	if f.Personal() != (installation == 0) {
		return nil, fmt.Errorf("enter installation %d: %w", installation, client.ErrNotInstalled)
	}
	return &ServerForge{f, installation}, nil
}

func (s *ServerForge) enter(ctx context.Context) (*Forge, error) {
	if _, err := s.fleet.Slug(ctx); err != nil {
		return nil, err
	}
	return s.fleet.Enter(s.installation)
}

// Observe is [Forge.Observe].
func (s *ServerForge) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	f, err := s.enter(ctx)
	if err != nil {
		return quorum.Policy{}, quorum.Snapshot{}, err
	}
	return f.Observe(ctx, pr)
}

// ObserveSibling is [Forge.ObserveSibling].
func (s *ServerForge) ObserveSibling(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	f, err := s.enter(ctx)
	if err != nil {
		return quorum.Policy{}, quorum.Snapshot{}, err
	}
	return f.ObserveSibling(ctx, pr)
}

// Apply is [Forge.Apply].
func (s *ServerForge) Apply(ctx context.Context, pr quorum.PR, e quorum.Effects) (quorum.Receipt, error) {
	f, err := s.enter(ctx)
	if err != nil {
		return quorum.Receipt{}, err
	}
	return f.Apply(ctx, pr, e)
}

// Publish is [Forge.Publish].
func (s *ServerForge) Publish(ctx context.Context, pr quorum.PR, c report.Check) error {
	f, err := s.enter(ctx)
	if err != nil {
		return err
	}
	return f.Publish(ctx, pr, c)
}

// Tell is [Forge.Tell].
func (s *ServerForge) Tell(ctx context.Context, pr quorum.PR, c report.Comment, told []quorum.ToldComment) (quorum.Untold, error) {
	f, err := s.enter(ctx)
	if err != nil {
		return quorum.Untold{}, err
	}
	return f.Tell(ctx, pr, c, told)
}

// WithdrawUnread is [Forge.WithdrawUnread].
func (s *ServerForge) WithdrawUnread(ctx context.Context, pr quorum.PR, inSweep bool) error {
	f, err := s.enter(ctx)
	if err != nil {
		return err
	}
	return f.WithdrawUnread(ctx, pr, inSweep)
}

// Expect is [Forge.Expect].
func (s *ServerForge) Expect(pr quorum.PR, head string, runs ...int64) {
	if f, err := s.fleet.Enter(s.installation); err == nil {
		f.Expect(pr, head, runs...)
	}
}

// ForgetOrganisation has the organisation's policy asked for again: it may be another one.
func (s *ServerForge) ForgetOrganisation() {
	if f, err := s.fleet.Enter(s.installation); err == nil {
		f.organisations.forgetAll()
	}
}

// RememberOrganisation is [Fleet.RememberOrganisation].
func (s *ServerForge) RememberOrganisation(owner string, file quorum.OrganisationFile) {
	s.fleet.RememberOrganisation(s.installation, owner, file)
}

// Hear is [Forge.Hear].
func (s *ServerForge) Hear(pr quorum.PR, touches ...quorum.Touch) {
	if f, err := s.fleet.Enter(s.installation); err == nil {
		f.Hear(pr, touches...)
	}
}

// PullsOf returns the open pull requests whose head is sha; none if there is no such commit.
func (s *ServerForge) PullsOf(ctx context.Context, owner, repo, sha string) ([]quorum.PR, error) {
	f, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	prs, err := f.PullsOf(ctx, owner, repo, sha)
	if client.IsUnprocessable(err) {
		return nil, nil
	}
	return prs, err
}

// ReadGroup is [MergeQueues.ReadGroup].
func (s *ServerForge) ReadGroup(ctx context.Context, ref quorum.GroupRef) (quorum.MergeGroup, error) {
	f, err := s.enter(ctx)
	if err != nil {
		return quorum.MergeGroup{}, err
	}
	return QueuesOf(f).ReadGroup(ctx, ref)
}

// PublishGroup is [MergeQueues.PublishGroup].
func (s *ServerForge) PublishGroup(ctx context.Context, ref quorum.GroupRef, c report.Check) error {
	f, err := s.enter(ctx)
	if err != nil {
		return err
	}
	return QueuesOf(f).PublishGroup(ctx, ref, c)
}

// Groups is [MergeQueues.Groups].
func (s *ServerForge) Groups(ctx context.Context, owner, repo, base string) ([]quorum.GroupRef, error) {
	f, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	return QueuesOf(f).Groups(ctx, owner, repo, base)
}

// Repositories is [Fleet.Repositories].
func (s *ServerForge) Repositories(ctx context.Context) ([]string, error) {
	if _, err := s.fleet.Slug(ctx); err != nil {
		return nil, err
	}
	return s.fleet.Repositories(ctx, s.installation)
}

// Changed is [Forge.Changed].
func (s *ServerForge) Changed(ctx context.Context, owner, repo string, since time.Time) (RecentChanges, error) {
	f, err := s.enter(ctx)
	if err != nil {
		return RecentChanges{}, err
	}
	return f.Changed(ctx, owner, repo, since)
}

// Hour is [Forge.Hour].
func (s *ServerForge) Hour() int {
	if f, err := s.fleet.Enter(s.installation); err == nil {
		return f.Hour()
	}
	return 0
}

// Ready is [Forge.Ready].
func (s *ServerForge) Ready(looks int, u client.Urgency) time.Time {
	if f, err := s.fleet.Enter(s.installation); err == nil {
		return f.Ready(looks, u)
	}
	return time.Time{}
}
