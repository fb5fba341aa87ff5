//go:build !action

package main

// GitHub as the daemon needs it: the adapter between its seams and the package that talks to GitHub. What it adds is only
// which of the daemon's kinds an error is.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/daemon"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
)

// host implements [daemon.Host].
type host struct {
	fleet *github.Fleet
	app   bool
}

func newHost(o client.Options) (*host, error) {
	fleet, err := github.NewFleet(github.FleetOptions{PoolOptions: client.PoolOptions{Options: o}})
	if err != nil {
		return nil, err
	}
	return &host{fleet: fleet, app: o.App != nil}, nil
}

func (h *host) Reached() time.Time { return h.fleet.Reached() }

func (h *host) Leave(tenant int64) { h.fleet.Leave(tenant) }

// Read says what a delivery is about. Which installation it is of matters only to an App: a personal token is one tenant.
func (h *host) Read(event string, payload []byte) (daemon.Notice, error) {
	e, err := webhook.Parse(event, payload)
	if err != nil {
		return daemon.Notice{}, err
	}
	n := daemon.Notice{
		Event: e.Name, Action: e.Action, Kind: daemon.AboutNothing, Owner: e.Owner, Repo: e.Repo, Pulls: e.PRs, Head: e.Head, Touch: e.Touch, Why: e.Idle,
	}
	if h.app {
		n.Tenant = e.Installation
	}
	kind := kindOf(e.Concern)
	switch own := h.app && e.App != "" && e.App == h.fleet.KnownSlug(); { // a personal token writes no checks
	case h.app && n.Tenant <= 0 && kind != daemon.AboutNothing:
		n.Why = "the event is of no installation of the App"
	case own && e.Touch != (quorum.Touch{}):
		n.Why = "the check is our own"
	case !h.app && (kind == daemon.AboutTenant || kind == daemon.TenantGone || kind == daemon.TenantSuspended):
		n.Why = "a personal token has no installations"
	default:
		n.Kind = kind
	}
	return n, nil
}

func kindOf(c webhook.Concern) daemon.NoticeKind {
	switch c {
	case webhook.ConcernPulls:
		return daemon.AboutPulls
	case webhook.ConcernHead:
		return daemon.AboutHead
	case webhook.ConcernRepo:
		return daemon.AboutRepo
	case webhook.ConcernInstallation:
		return daemon.AboutTenant
	case webhook.ConcernGone:
		return daemon.TenantGone
	case webhook.ConcernSuspended:
		return daemon.TenantSuspended
	case webhook.ConcernNothing:
	}
	return daemon.AboutNothing
}

func (h *host) Enter(tenant int64) (daemon.Site, error) {
	if h.app == (tenant == 0) {
		return nil, fmt.Errorf("enter installation %d: %w", tenant, daemon.ErrNoTenant)
	}
	return &site{host: h, tenant: tenant}, nil
}

// budgets are those of the installations at work.
func (h *host) budgets() map[int64]daemon.Budget {
	all := map[int64]daemon.Budget{}
	for id, b := range h.fleet.Budgets() {
		all[id] = daemon.Budget{Left: b.Left, Limit: b.Limit, Reset: b.Reset}
	}
	return all
}

func (h *host) Tenants(ctx context.Context) (all []daemon.Tenant, err error) {
	found, err := h.fleet.Installations(ctx)
	for _, in := range found {
		all = append(all, daemon.Tenant{ID: in.ID, Account: in.Account, Suspended: !in.Suspended.IsZero()})
	}
	return all, signedIn(err)
}

func (h *host) Missed(ctx context.Context, since time.Time) (all []daemon.Missed, err error) {
	found, err := h.fleet.Deliveries(ctx, since)
	for _, d := range found {
		all = append(all, daemon.Missed{ID: d.GUID, Hook: d.ID})
	}
	return all, signedIn(err)
}

func (h *host) Redeliver(ctx context.Context, m daemon.Missed) error {
	return classed(h.fleet.Redeliver(ctx, m.Hook))
}

// site implements [daemon.Site], for one look. It is a name: the fleet holds what is behind it.
type site struct {
	host   *host
	tenant int64
}

// forge is the installation's. Before the App's name is known, it is asked for.
func (s *site) forge(ctx context.Context) (*github.Forge, error) {
	if _, err := s.host.fleet.Slug(ctx); err != nil {
		return nil, signedIn(err)
	}
	f, err := s.host.fleet.Enter(s.tenant)
	return f, classed(err)
}

func (s *site) Observe(ctx context.Context, pr quorum.PR) (quorum.Policy, quorum.Snapshot, error) {
	f, err := s.forge(ctx)
	if err != nil {
		return quorum.Policy{}, quorum.Snapshot{}, err
	}
	p, snap, err := f.Observe(ctx, pr)
	return p, snap, classed(err)
}

func (s *site) Apply(ctx context.Context, pr quorum.PR, e quorum.Effects) (quorum.Receipt, error) {
	f, err := s.forge(ctx)
	if err != nil {
		return quorum.Receipt{}, err
	}
	r, err := f.Apply(ctx, pr, e)
	return r, classed(err)
}

func (s *site) Publish(ctx context.Context, pr quorum.PR, c report.Check) error {
	f, err := s.forge(ctx)
	if err != nil {
		return err
	}
	return classed(f.Publish(ctx, pr, c))
}

func (s *site) Expect(pr quorum.PR, head string, runs ...int64) {
	if f, err := s.host.fleet.Enter(s.tenant); err == nil {
		f.Expect(pr, head, runs...)
	}
}

func (s *site) Hear(pr quorum.PR, touches ...quorum.Touch) {
	if f, err := s.host.fleet.Enter(s.tenant); err == nil {
		f.Hear(pr, touches...)
	}
}

func (s *site) PullsOf(ctx context.Context, owner, repo, sha string) ([]quorum.PR, error) {
	f, err := s.forge(ctx)
	if err != nil {
		return nil, err
	}
	prs, err := f.PullsOf(ctx, owner, repo, sha)
	if client.IsUnprocessable(err) { // no such commit
		return nil, nil
	}
	return prs, classed(err)
}

func (s *site) Repositories(ctx context.Context) ([]string, error) {
	if _, err := s.host.fleet.Slug(ctx); err != nil {
		return nil, signedIn(err)
	}
	all, err := s.host.fleet.Repositories(ctx, s.tenant)
	return all, classed(err)
}

func (s *site) Changed(ctx context.Context, owner, repo string, since time.Time) (daemon.Changed, error) {
	f, err := s.forge(ctx)
	if err != nil {
		return daemon.Changed{}, err
	}
	found, err := f.Changed(ctx, owner, repo, since)
	c := daemon.Changed{File: found.File, Policy: found.Policy, Latest: found.Latest, Skew: found.Skew}
	for _, p := range found.Pulls {
		c.Pulls = append(c.Pulls, daemon.ChangedPull{PR: p.PR, Updated: p.Updated})
	}
	return c, classed(err)
}

func (s *site) Ready(now time.Time, looks int) time.Time {
	if f, err := s.host.fleet.Enter(s.tenant); err == nil {
		return f.Ready(looks)
	}
	return time.Time{}
}

// An error with the kind that it is to the daemon.
type classedError struct {
	error
	class error
}

func (e classedError) Unwrap() []error { return []error{e.error, e.class} }

// classed adds to err what becomes of the key.
func classed(err error) error {
	var class error
	var unpublishable *github.UnpublishableError
	var api *client.APIError
	switch {
	case err == nil:
		return nil
	case github.IsMoved(err):
		class = daemon.ErrMoved
	case errors.Is(err, client.ErrNotInstalled):
		class = daemon.ErrNoTenant
	case errors.Is(err, client.ErrSuspended):
		class = daemon.ErrSuspended
	case client.IsUnauthorized(err):
		class = daemon.ErrUnauthorized
	case errors.As(err, &unpublishable), client.IsNotFound(err), client.IsGone(err):
		class = daemon.ErrGone
	case errors.As(err, &api) && api.Status == http.StatusMovedPermanently: // it has another name now, and another key
		class = daemon.ErrGone
	case client.IsForbidden(err):
		class = daemon.ErrForbidden
	default:
		return err
	}
	return classedError{err, class}
}

// signedIn classes an error of the App's own endpoints. There 404 says that GitHub does not know the App, not that what a key
// names is gone.
func signedIn(err error) error {
	if client.IsNotFound(err) {
		return classedError{err, daemon.ErrUnauthorized}
	}
	return classed(err)
}

// check says whether GitHub takes us, and what is missing.
func (h *host) check(ctx context.Context, c *command) error {
	if !h.app {
		login, err := h.fleet.Login(ctx)
		if err != nil {
			return h.unreached(c, err)
		}
		fmt.Fprintf(c.Stdout, "ok  identity   a personal token of %s: commit statuses instead of checks, and failed deliveries are not asked for again\n", oneLine(login))
		return nil
	}
	slug, err := h.fleet.Slug(ctx)
	if err != nil {
		return h.unreached(c, err)
	}
	all, err := h.fleet.Installations(ctx)
	if err != nil {
		return h.unreached(c, err)
	}
	var need []client.Grant // without issues, for one, GitHub sends no comments
	for _, p := range appPermissions {
		if p.Name != mergeQueuesPermission {
			need = append(need, p.Grant)
		}
	}
	lame := 0
	for _, in := range all {
		lacks, deaf := in.Lacks(need...), untold(in.Events)
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
	fmt.Fprintf(c.Stdout, "ok  identity   the App %s, %s\n", oneLine(slug), countNoun(len(all), "installation"))
	if lame > 0 {
		return hintedError(fmt.Errorf("%s cannot be worked on as it should", countNoun(lame, "installation")), "add the permissions and events in the App's settings, and accept them in each installation's")
	}
	return nil
}

// untold are the events that we need and an installation does not send.
func untold(events []string) (missing []string) {
	for _, s := range appEvents {
		if s.permission != mergeQueuesPermission && !slices.Contains(events, s.event) {
			missing = append(missing, s.event)
		}
	}
	return missing
}

// unreached says what to do when GitHub did not answer, or refused us.
func (h *host) unreached(c *command, err error) error {
	switch {
	case errors.Is(err, client.ErrTransport):
		return hintedError(err, "may this machine reach GitHub's API, and is GITHUB_API_URL right? serve starts all the same, and waits for GitHub")
	case client.IsNotFound(err):
		return hintedError(err, "is GITHUB_API_URL the API of the GitHub that the App or the token is of?")
	case !h.app:
		return withAPIHint(err)
	}
	return c.explainInstallError(err, "", "")
}
