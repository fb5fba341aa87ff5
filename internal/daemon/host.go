package daemon

// What the daemon needs of the code host, beside what the loop needs of it.

import (
	"context"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// A Host is a code host with tenants: the installations of an App, or a personal token's one tenant 0. It may be used by
// several goroutines.
type Host interface {
	// Read says what a delivery is about. It sends nothing. A payload that is not what the host sends is an error.
	Read(event string, payload []byte) (Notice, error)
	// Enter returns a tenant's side of the host, the same one each time. It sends nothing.
	Enter(tenant int64) (Site, error)
	// Leave forgets a tenant: its tokens, its limits.
	Leave(tenant int64)
	// Tenants are all there are; nil, nil where the host cannot tell (a personal token).
	Tenants(ctx context.Context) ([]Tenant, error)
	// Missed returns deliveries since a moment of which the host knows no success, each once; nil, nil where it cannot tell.
	Missed(ctx context.Context, since time.Time) ([]Missed, error)
	// Redeliver asks for a delivery again.
	Redeliver(ctx context.Context, m Missed) error
	// Reached is when the host last answered; zero: never yet.
	Reached() time.Time
}

// A Tenant is an installation.
type Tenant struct {
	ID        int64
	Account   string // hostile
	Suspended bool
}

// Missed is a delivery that did not reach us, as far as the host knows.
type Missed struct {
	ID   string // X-GitHub-Delivery, by which it would be known
	Hook int64  // by which it is asked for again
}

// A Site is one tenant's side of the host.
type Site interface {
	loop.Forge
	// Expect tells of a head and of runs that events have shown, before a look: they spare requests and decide nothing.
	Expect(pr quorum.PR, head string, runs ...int64)
	// Hear tells of what events have touched, before a look: one that does not show it yet fails, for a while.
	Hear(pr quorum.PR, touches ...quorum.Touch)
	// PullsOf returns the open pull requests whose head is sha.
	PullsOf(ctx context.Context, owner, repo, sha string) ([]quorum.PR, error)
	// Repositories are those that the tenant lets us see, as owner/name; nil, nil where the host cannot tell.
	Repositories(ctx context.Context) ([]string, error)
	// Changed returns the repository's policy and those of its open pull requests that were changed at or after since; a
	// zero since asks for all. A repository that has no policy returns none.
	Changed(ctx context.Context, owner, repo string, since time.Time) (Changed, error)
	// Ready is when the tenant's budget allows that many looks side by side; zero if it does at once.
	Ready(now time.Time, looks int) time.Time
}

// Changed is what a resync of a repository finds.
type Changed struct {
	File   quorum.PolicyFile
	Policy quorum.Policy // zero unless File is valid
	Pulls  []ChangedPull // the most recently changed first
	Latest time.Time     // of the last change of any of its open pull requests, by the host's clock
	Skew   time.Duration // by which the host's clock is ahead of ours
}

// ChangedPull is an open pull request that was changed.
type ChangedPull struct {
	PR      quorum.PR
	Updated time.Time // by the host's clock
}

// Budget is an hour's requests.
type Budget struct {
	Left, Limit int
	Reset       time.Time
}

// A Notice is what a delivery is about.
type Notice struct {
	Event, Action string // as the host spells them; hostile
	Kind          NoticeKind
	Tenant        int64
	Owner, Repo   string
	Pulls         []int        // of AboutPulls
	Head          string       // of AboutHead: by which to find the pull requests
	Touch         quorum.Touch // of AboutPulls and AboutHead
	Why           string       // of AboutNothing: a sentence
}

// NoticeKind says what must be done about a delivery.
type NoticeKind uint8

const (
	AboutNothing    NoticeKind = 1 + iota // nothing that concerns us: it is counted
	AboutPulls                            // pull requests of a repository
	AboutHead                             // a commit whose pull requests must be found
	AboutRepo                             // the default branch was pushed to, or a repository was renamed or came anew: its policy must be read again
	AboutTenant                           // an installation is there, came back, or has other repositories or permissions
	TenantGone                            // an installation was deleted
	TenantSuspended                       // an installation was suspended
)
