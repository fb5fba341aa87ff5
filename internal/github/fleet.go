package github

// A forge for each installation of an App, for a server.

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
)

// FleetOptions say which App, and where. They show no token and no key, as [Options] does not.
type FleetOptions struct {
	client.PoolOptions        // with a Token instead of an App the one tenant is 0
	Config             string // path of the policy file; "": the two default ones
	PolicyRepository   string // owner/name that holds the organisation's policy; "": each owner's .github
}

// A Fleet is an App with a forge for each of its installations, or a personal token with one. It may be used by several
// goroutines.
type Fleet struct {
	*client.Pool
	config string
	org    string // the repository of the organisation's policy
	now    func() time.Time
	log    *slog.Logger

	memories *Memories   // of the pull requests of all installations
	fence    *writeFence // of their checks

	mu     sync.Mutex
	forges map[int64]*Forge // by installation; those whose client is alive, and soon no others
	most   int              // forges: beyond it those are dropped whose client is
	// known are the policies of owners that each installation had when they were read last, by whatever process: a
	// forge that is made anew must not take one that is hidden since for one that never was
	known map[int64]map[string]quorum.OrganisationFile
}

// NewFleet returns a fleet, or says what is wrong with the options. It sends nothing.
func NewFleet(o FleetOptions) (*Fleet, error) {
	if o.App == nil {
		o.Slug = cmp.Or(o.Slug, quorum.ActionsApp) // as whoever has no App; a personal token writes statuses
	}
	pool, err := client.NewPool(o.PoolOptions)
	if err != nil {
		return nil, err
	}
	f := &Fleet{
		Pool:     pool,
		config:   o.Config,
		org:      o.PolicyRepository,
		now:      o.Now,
		log:      o.Log,
		memories: NewMemories(maxPulls),
		fence:    newWriteFence(),
		forges:   map[int64]*Forge{},
		known:    map[int64]map[string]quorum.OrganisationFile{},
	}
	if f.now == nil {
		f.now = time.Now
	}
	return f, nil
}

// Format keeps the token and the key out of every verb.
func (f *Fleet) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "github.Fleet(%v)", f.Pool) }

// Enter returns the forge of an installation, the same one as long as it is used. It sends nothing.
func (f *Fleet) Enter(installation int64) (*Forge, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.Client(installation)
	if err != nil {
		return nil, err
	}
	if forge, known := f.forges[installation]; known && forge.client == c {
		return forge, nil
	}
	forge := WithPolicyRepository(NewForge(c, "", f.config, logOfInstallation(f.log, installation)), f.org)
	forge.app = pooledApp{f.Pool}
	forge.Share(f.memories)
	forge.SetClock(f.now)
	forge.fence, forge.installation = f.fence, installation
	for owner, file := range f.known[installation] {
		WithKnownOrganisation(forge, owner, file)
	}
	f.forges[installation] = forge
	if len(f.forges) > f.most {
		maps.DeleteFunc(f.forges, func(id int64, _ *Forge) bool { return !f.Holds(id) })
		f.most = len(f.forges)
	}
	return forge, nil
}

// logOfInstallation returns a log of which each line names the installation.
func logOfInstallation(log *slog.Logger, installation int64) *slog.Logger {
	if log == nil {
		return nil
	}
	return log.With(oplog.Installation(installation))
}

// Leave forgets an installation: its token and its limits.
func (f *Fleet) Leave(installation int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.forges, installation)
	f.Pool.Leave(installation)
}

// RememberOrganisation notes the policy that an owner had for an installation when it was read last; the zero one: none.
func (f *Fleet) RememberOrganisation(installation int64, owner string, file quorum.OrganisationFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owner = strings.ToLower(owner)
	if file == (quorum.OrganisationFile{}) {
		delete(f.known[installation], owner)
		return
	}
	if f.known[installation] == nil {
		f.known[installation] = map[string]quorum.OrganisationFile{}
	}
	f.known[installation][owner] = file
	if forge, entered := f.forges[installation]; entered {
		forge.organisations.remember(owner, file)
	}
}

// Login is whose personal token it is; "" of an App.
func (f *Fleet) Login(ctx context.Context) (string, error) {
	if !f.Personal() {
		return "", nil
	}
	forge, err := f.Enter(0)
	if err != nil {
		return "", err // unreachable unless a personal token has no client
	}
	var who quorum.Account
	if err := forge.readIdentity(ctx, &who); err != nil {
		return "", fmt.Errorf("sign in with the token: %w", err)
	}
	return who.Login, nil
}
