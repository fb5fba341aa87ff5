package daemon

// The interfaces to GitHub, in its own types. A [github.Fleet] implements them; tests have fakes.

import (
	"context"
	"time"

	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/github/webhook"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A Host is GitHub with tenants: the installations of an App, or a personal token's one tenant 0. It may be used by
// several goroutines.
type Host interface {
	// ReadDelivery says what a delivery is about. It sends nothing. A payload that is not what GitHub sends is an
	// error.
	ReadDelivery(event string, payload []byte) (webhook.Notice, error)
	// Enter returns a tenant's forge, for one look. It sends nothing.
	Enter(tenant int64) (TenantForge, error)
	// Leave forgets a tenant: its tokens, its limits.
	Leave(tenant int64)
	// Installations are all there are; nil, nil of a personal token.
	Installations(ctx context.Context) ([]client.Installation, error)
	// Deliveries returns deliveries since a moment of which GitHub knows no success, each once; nil, nil of a personal
	// token.
	Deliveries(ctx context.Context, since time.Time) ([]client.FailedDelivery, error)
	// Redeliver asks for a delivery again, by the ID of its newest attempt.
	Redeliver(ctx context.Context, delivery int64) error
}

// A TenantForge is one tenant's side of GitHub.
type TenantForge interface {
	loop.Forge
	loop.GroupForge
	// Groups lists the groups of a branch's merge queue that have a commit; nil where it has no queue.
	Groups(ctx context.Context, owner, repo, base string) ([]quorum.GroupRef, error)
	// Expect tells of a head and of runs that events have shown, before a look: they spare requests and decide nothing.
	Expect(pr quorum.PR, head string, runs ...int64)
	// Hear tells of what events have touched, before a look: one that does not show it yet fails, for a while.
	Hear(pr quorum.PR, touches ...quorum.Touch)
	// ForgetOrganisation has the organisation's policy asked for again: it may be another one.
	ForgetOrganisation()
	// RememberOrganisation notes the policy that an owner had when it was read last, by whatever process; the zero one: none.
	RememberOrganisation(owner string, file quorum.OrganisationFile)
	// PullsOf returns the open pull requests whose head is sha.
	PullsOf(ctx context.Context, owner, repo, sha string) ([]quorum.PR, error)
	// Repositories are those that the tenant lets us see, as owner/name; nil, nil of a personal token.
	Repositories(ctx context.Context) ([]string, error)
	// Changed returns the repository's policy and those of its open pull requests that were changed at or after since;
	// a zero since asks for all. A repository that has no policy returns none.
	Changed(ctx context.Context, owner, repo string, since time.Time) (github.RecentChanges, error)
	// Ready is when the tenant's budget allows that many looks of an urgency side by side; zero if it does at once.
	Ready(looks int, u client.Urgency) time.Time
	// Hour is how many requests GitHub allows the tenant in an hour; 0: it has not said that.
	Hour() int
}

// HostOf is the host that a fleet reaches.
func HostOf(f *github.Fleet) Host { return fleetHost{f} }

// fleetHost returns a fleet's forges as the daemon calls them.
type fleetHost struct{ *github.Fleet }

// Enter implements [Host].
func (h fleetHost) Enter(tenant int64) (TenantForge, error) {
	forge, err := h.ForgeOf(tenant)
	if err != nil {
		return nil, err
	}
	return forge, nil
}
