package daemon

// The daemon's parts and its life: what it is given, how a delivery becomes work, how it starts and how it drains.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// Config is what a daemon is made of. Zero durations and numbers are the defaults.
type Config struct {
	Store   store.Store
	Host    Host
	Metrics *Metrics
	Feed    *dashboard.Feed
	Log     *slog.Logger
	Now     func() time.Time

	// Alarm rings once it is at, by Now; stop ends it. It may be nil, for a clock that goes as fast as the machine's. A clock
	// that goes faster, or stands, needs its own.
	Alarm func(at time.Time) (ring <-chan time.Time, stop func())

	Resync    time.Duration                             // how often everything is looked over; default 5m
	Workers   int                                       // looks at once; default 64
	PerTenant int                                       // of them for one tenant; default 12
	Lease     time.Duration                             // how long a worker may be silent; default 30s
	Drain     time.Duration                             // how long a stop waits for looks under way; default 5s
	Jitter    func(most time.Duration) time.Duration    // nil: random
	Looked    func(pr quorum.PR, sight dashboard.Sight) // called after each look that was kept, those of one pull request in any order; may be nil
	Calm      func()                                    // called some seconds after many looks: what was kept for them may go; may be nil
	Web       string                                    // where people see the host; default https://github.com
	Policies  int                                       // policies that are remembered; default 4096
}

// A Daemon turns deliveries into looks. Make it with [New], let [Daemon.Run] work, and hand it deliveries with
// [Daemon.Receive].
type Daemon struct {
	Config
	kick chan struct{} // something may have become due

	mu       sync.Mutex
	busy     map[int64]int // looks under way, by tenant
	leases   map[store.Lease]looking
	tenants  map[int64]*tenant // those that are not simply well
	known    map[string]bool   // repositories and tenants that were poked since the start
	clock    time.Time         // as the dispatcher last read it
	policies *policies
	pace     map[int64]time.Duration // how often a tenant's repositories are looked over
	draining bool

	unsettled map[string]unsettled // deliveries that failed, by their ID; nil: those that were left are not read yet

	rush rush
	deep atomic.Bool // the last claim found as much as there were workers: more is due
}

// tenant is what is remembered of one that is limited or failing.
type tenant struct {
	until  time.Time // nothing of it is claimed before
	parked time.Time // nor before this: it is suspended
	faults int       // in a row: on the way to the host
	denied int       // in a row: the host did not take our credentials
	short  bool      // its budget did not allow what was under way
}

// New returns a daemon that does nothing yet.
func New(c Config) *Daemon {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Resync, c.Lease, c.Drain = cmp.Or(c.Resync, 5*time.Minute), cmp.Or(c.Lease, 30*time.Second), cmp.Or(c.Drain, 5*time.Second)
	c.Workers, c.PerTenant, c.Policies = cmp.Or(c.Workers, 64), cmp.Or(c.PerTenant, 12), cmp.Or(c.Policies, 4096)
	c.Web = cmp.Or(c.Web, "https://github.com")
	if c.Jitter == nil {
		c.Jitter = func(most time.Duration) time.Duration { return rand.N(max(most, 1)) }
	}
	if c.Alarm == nil {
		c.Alarm = func(at time.Time) (<-chan time.Time, func()) {
			timer := time.NewTimer(at.Sub(c.Now()))
			return timer.C, func() { timer.Stop() }
		}
	}
	return &Daemon{
		Config: c, kick: make(chan struct{}, 1),
		busy: map[int64]int{}, leases: map[store.Lease]looking{}, tenants: map[int64]*tenant{}, known: map[string]bool{},
		policies: newPolicies(c.Policies), pace: map[int64]time.Duration{},
	}
}

// Receive makes a delivery durable and returns what became of it. After an error nothing was accepted: [ErrMalformed] if
// it never will be.
func (d *Daemon) Receive(ctx context.Context, r Received) (result string, err error) {
	if d.Draining() {
		return "", ErrDraining
	}
	n, err := d.Host.Read(r.Event, r.Payload)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	due := d.Now()
	if n.Kind != AboutNothing { // which costs no look, and is no rush
		due = d.rush.settled(n.Tenant, due)
	}
	pokes := d.pokes(n, due)
	if len(pokes) == 0 {
		d.settle(r.ID) // the table will never know it
		return ignored, nil
	}
	fresh, err := d.Store.Accept(ctx, store.Delivery{ID: r.ID, Event: n.Event, Action: n.Action, At: r.At}, pokes...)
	switch {
	case err != nil:
		d.forget(keysOf(pokes)...)
		return "", fmt.Errorf("accept delivery: %w", err)
	case !fresh:
		d.forget(keysOf(pokes)...)
		return duplicate, nil
	}
	if n.Kind == AboutTenant {
		d.unpark(n.Tenant)
	}
	d.wake()
	return accepted, nil
}

// pokes are what a notice asks for.
func (d *Daemon) pokes(n Notice, now time.Time) (out []store.Poke) {
	switch n.Kind {
	case AboutNothing:
		return nil
	case AboutTenant, TenantGone, TenantSuspended: // what is so, the host tells
		return []store.Poke{{Key: workkey.Tenant(n.Tenant), Tenant: n.Tenant, Kind: workkey.KindTenant, Due: now}}
	case AboutRepo:
		return []store.Poke{d.repoPoke(n.Tenant, n.Owner, n.Repo, now)}
	case AboutHead:
		out = append(out, store.Poke{
			Key: workkey.Head(n.Tenant, n.Owner, n.Repo, n.Head), Tenant: n.Tenant, Kind: workkey.KindHead, Group: workkey.Repo(n.Tenant, n.Owner, n.Repo), Due: now, Touch: touchText(n.Touch),
		})
	case AboutPulls:
		for _, number := range n.Pulls {
			out = append(out, d.pullPoke(n.Tenant, quorum.PR{Owner: n.Owner, Repo: n.Repo, Number: number}, now, touchText(n.Touch)))
		}
	}
	// A repository that no listing has shown yet gets its resync by its first event: a personal token has no other way, and
	// an App's list is read every few minutes only.
	if len(out) > 0 && d.first(workkey.Repo(n.Tenant, n.Owner, n.Repo)) {
		p := d.repoPoke(n.Tenant, n.Owner, n.Repo, now.Add(d.Resync))
		p.Touch = firstSeen
		out = append(out, p)
	}
	return out
}

// firstSeen is the touch of a repository that an event named: no reason to look at once if it is known.
const firstSeen = "{}"

func (d *Daemon) repoPoke(tenant int64, owner, repo string, due time.Time) store.Poke {
	key := workkey.Repo(tenant, owner, repo)
	return store.Poke{Key: key, Tenant: tenant, Kind: workkey.KindRepo, Group: key, Due: due}
}

func (d *Daemon) pullPoke(tenant int64, pr quorum.PR, due time.Time, touch string) store.Poke {
	return store.Poke{Key: workkey.Pull(tenant, pr), Tenant: tenant, Kind: workkey.KindPull, Group: workkey.Repo(tenant, pr.Owner, pr.Repo), Due: due, Touch: touch}
}

// first reports whether a key is named for the first time since the start.
func (d *Daemon) first(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known[key] {
		return false
	}
	d.known[key] = true
	return true
}

// forget says that keys may not have been poked after all, or are no more: the next who names them pokes them.
func (d *Daemon) forget(keys ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		delete(d.known, key)
	}
}

func keysOf(pokes []store.Poke) []string {
	keys := make([]string, len(pokes))
	for i, p := range pokes {
		keys[i] = p.Key
	}
	return keys
}

// touchText is a touch as the table keeps it. The zero one asks for a look, whatever happened.
func touchText(t quorum.Touch) string {
	if t == (quorum.Touch{}) {
		return store.Any
	}
	text, err := json.Marshal(t)
	if err != nil {
		return store.Any // unreachable: it holds strings and numbers
	}
	return string(text)
}

// readTouches reads what was written by touchText; false if one of them says to look, whatever happened.
func readTouches(texts []string) (all []quorum.Touch, ok bool) {
	for _, text := range texts {
		var t quorum.Touch
		if text == store.Any || json.Unmarshal([]byte(text), &t) != nil {
			return all, false
		}
		all = append(all, t)
	}
	return all, true
}

// wake lets the dispatcher look at the table.
func (d *Daemon) wake() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// Draining reports whether the daemon is stopping.
func (d *Daemon) Draining() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.draining
}

// Stop makes [Daemon.Receive] refuse. What was accepted stays in the table.
func (d *Daemon) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.draining = true
}

// policies remembers a bounded number of repositories' policies, so that an event that concerns no reviewer costs no
// request. What is decided rests on none of them: every look reads the policy anew.
type policies struct {
	most int
	mu   sync.Mutex
	by   map[string]policy
}

type policy struct {
	state  quorum.FileState
	policy quorum.Policy
	at     time.Time // when it began to be read
}

func newPolicies(most int) *policies { return &policies{most: most, by: map[string]policy{}} }

// put remembers a policy that began to be read at a time. One that was read later stays: a slow look must not bring back
// what a push has changed.
func (p *policies) put(repo string, f quorum.PolicyFile, q quorum.Policy, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old, known := p.by[repo]
	if known && at.Before(old.at) {
		return
	}
	if !known && len(p.by) >= p.most {
		for old := range p.by { // any of them: it is read again when it is needed
			delete(p.by, old)
			break
		}
	}
	p.by[repo] = policy{f.State, q, at}
}

func (p *policies) get(repo string) (policy, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q, known := p.by[repo]
	return q, known
}
