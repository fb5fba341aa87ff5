package daemon

// Healing: what no delivery told. On start and every resync the host is asked which installations there are, which
// repositories they have, which deliveries failed, and which open pull requests changed. Each of these is a key of its own in
// the table, so that one that fails holds up no other, and a round that a restart cuts off goes on where it was.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	maxMissedAge = 72 * time.Hour // GitHub redelivers what is at most three days old
	longestPause = 4 * time.Hour  // before one delivery is asked for once more
	maxUnsettled = 10_000         // deliveries that failed and are still asked for
	remembered   = 30 * 24 * time.Hour
	pruned       = 5000 // deliveries forgotten at once
	slack        = 10 * time.Second
	// slack is how much older than our look a change may seem and yet have been invisible to it.
	withoutPolicy = time.Hour // how often a repository without a policy is looked over: a push of one is announced
	maxTracked    = 100_000   // pull requests of one repository
	perMinute     = 36        // repositories of an installation that are looked over in a minute at most: a tenth of its points
)

// appSight is what is kept of looking over the host.
type appSight struct {
	Asked     time.Time   `json:"asked"` // up to when failed deliveries were looked for
	Unsettled []unsettled `json:"unsettled,omitempty"`
}

// An unsettled delivery failed, as far as the host knows, and the table does not know it. One that is too old by now stays
// as long as the host names it, so that it is not taken for a new one.
type unsettled struct {
	ID    string    `json:"id"`
	Hook  int64     `json:"hook"`           // of its newest attempt
	Found time.Time `json:"found"`          // when the host first named it
	Next  time.Time `json:"next,omitzero"`  // when it is asked for; zero: never again
	Asks  int       `json:"asks,omitempty"` // how often it was
}

func (u unsettled) tooOld(now time.Time) bool { return now.Sub(u.Found) > maxMissedAge }

// lookOver finds installations and failed deliveries.
func (d *Daemon) lookOver(ctx context.Context, w store.Work) (result, error) {
	now := d.Now()
	tenants, err := d.Host.Tenants(ctx)
	if err != nil {
		return result{}, err
	}
	if err := d.enter(ctx, tenants, now); err != nil {
		return result{}, err
	}
	var was appSight
	_ = json.Unmarshal(w.Sight, &was) // without one all that can be asked for is looked at
	d.remember(was.Unsettled)
	since := was.Asked.Add(-d.Resync - time.Minute)
	if oldest := now.Add(-maxMissedAge); since.Before(oldest) || was.Asked.After(now) { // after: the clock was set back
		since = oldest
	}
	if err := d.prune(ctx, now); err != nil {
		return result{}, err
	}
	failed := d.redeliver(ctx, since, now)
	sight := appSight{Asked: now, Unsettled: d.missing()}
	if failed != nil {
		sight.Asked = was.Asked
	}
	text, err := json.Marshal(sight)
	if err != nil {
		return result{}, fmt.Errorf("keep sight: %w", err) // unreachable: it holds strings, numbers and times
	}
	return result{result: resultOK, outcome: store.Outcome{Wake: now.Add(d.Resync), Sight: text}}, failed
}

// enter has tenants looked over that were not yet, whatever becomes of the rest of the round.
func (d *Daemon) enter(ctx context.Context, tenants []Tenant, now time.Time) error {
	var pokes []store.Poke
	for _, t := range tenants {
		if t.Suspended {
			d.park(t.ID, now.Add(d.Resync+d.Resync/2))
			continue
		}
		d.unpark(t.ID)
		if d.first(workkey.Tenant(t.ID)) {
			pokes = append(pokes, store.Poke{Key: workkey.Tenant(t.ID), Tenant: t.ID, Kind: workkey.KindTenant, Due: now})
		}
	}
	if len(pokes) == 0 {
		return nil
	}
	if err := d.Store.Poke(ctx, pokes...); err != nil {
		d.forget(keysOf(pokes)...)
		return fmt.Errorf("look over tenants: %w", err)
	}
	return nil
}

// prune forgets old deliveries, in steps between which others may write.
func (d *Daemon) prune(ctx context.Context, now time.Time) error {
	for {
		n, err := d.Store.Prune(ctx, now.Add(-remembered), pruned)
		if err != nil {
			return fmt.Errorf("forget old deliveries: %w", err)
		}
		if n < pruned {
			return nil
		}
	}
}

// setBack is how far a clock may go back before what was to happen in that time is looked for at once.
const setBack = time.Minute

// steady notices a clock that was set back: what was due a moment ago would seem not to be for as long.
func (d *Daemon) steady(ctx context.Context, now time.Time) {
	now = now.Round(0) // the machine's own count of time goes on
	d.mu.Lock()
	back := d.clock.Sub(now)
	d.clock = now
	if back > setBack {
		clear(d.known) // as at a start
	}
	d.mu.Unlock()
	if back <= setBack {
		return
	}
	d.Log.Warn("the clock was set back: everything is looked over", "by", back)
	if err := d.Store.Poke(ctx, store.Poke{Key: workkey.App, Kind: workkey.KindApp, Due: now}); err != nil {
		d.Log.Error("the table cannot be written", "err", err)
	}
}

// redeliver asks for deliveries that failed and were not accepted after all: at once, and then again and again, for the way
// to us may be broken for longer than a resync. Nothing else may ever tell what such a delivery tells.
func (d *Daemon) redeliver(ctx context.Context, since, now time.Time) error {
	missed, err := d.Host.Missed(ctx, since)
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	for _, m := range missed {
		ids[m.ID] = true
	}
	for _, u := range d.missing() {
		ids[u.ID] = true
	}
	known, err := d.Store.Known(ctx, slices.Collect(maps.Keys(ids)))
	if err != nil {
		return fmt.Errorf("look for deliveries: %w", err)
	}
	if n := d.unsettle(missed, known, now); n > 0 {
		d.Log.Warn("more deliveries failed than are remembered: the oldest are not asked for again", "most", maxUnsettled, "dropped", n)
	}
	n := 0
	defer func() {
		if n > 0 {
			d.Metrics.Redelivered(n)
			d.Log.Info("asked for deliveries that failed", "n", n)
		}
	}()
	for _, u := range d.missing() {
		if u.Next.IsZero() || u.Next.After(now) || u.tooOld(now) {
			continue
		}
		err := d.Host.Redeliver(ctx, Missed{ID: u.ID, Hook: u.Hook})
		_, limited := retryAt(err)
		if ctx.Err() != nil || limited || errors.Is(err, ErrUnauthorized) { // it says nothing of this one, which is asked for first the next time
			return err
		}
		d.askedFor(u.ID, now, errors.Is(err, ErrGone))
		switch {
		case err == nil:
			n++
		case temporary(err):
			return err
		case errors.Is(err, ErrGone): // too old by now
		default:
			d.Log.Warn("a delivery cannot be asked for again", "delivery", u.ID, "err", err)
		}
	}
	return nil
}

// remember takes up the unsettled deliveries that an earlier process left.
func (d *Daemon) remember(left []unsettled) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unsettled != nil { // what this process knows is newer: a round that failed half way may not have been kept
		return
	}
	d.unsettled = map[string]unsettled{}
	for _, u := range left {
		d.unsettled[u.ID] = u
	}
}

// missing are the unsettled deliveries, the oldest first.
func (d *Daemon) missing() []unsettled {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Values(d.unsettled), func(a, b unsettled) int {
		return cmp.Or(a.Found.Compare(b.Found), cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.ID, b.ID))
	})
}

// unsettle adds what the host named as missed, and forgets what the table knows, or what is too old. It says how many were
// dropped because there are too many.
func (d *Daemon) unsettle(missed []Missed, known map[string]bool, now time.Time) (dropped int) {
	d.mu.Lock()
	named := map[string]bool{}
	for _, m := range missed {
		named[m.ID] = true
		u, old := d.unsettled[m.ID]
		if !old {
			u = unsettled{ID: m.ID, Found: now, Next: now}
		}
		u.Hook = m.Hook
		d.unsettled[m.ID] = u
	}
	for id, u := range d.unsettled {
		if u.Found.After(now) { // the clock was set back
			u.Found, u.Next = now, now
		}
		d.unsettled[id] = u
		if known[id] || (u.Next.IsZero() || u.tooOld(now)) && !named[id] {
			delete(d.unsettled, id)
		}
	}
	d.mu.Unlock()
	if all := d.missing(); len(all) > maxUnsettled {
		dropped = len(all) - maxUnsettled
		for _, u := range all[:dropped] {
			d.settle(u.ID)
		}
	}
	return dropped
}

// askedFor notes that a delivery was asked for: the next time after a pause that doubles, or never again.
func (d *Daemon) askedFor(id string, now time.Time, never bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u, ok := d.unsettled[id]
	if !ok { // it came meanwhile
		return
	}
	u.Next = now.Add(min(d.Resync<<min(u.Asks, 14), longestPause))
	u.Asks++
	if never {
		u.Next = time.Time{}
	}
	d.unsettled[id] = u
}

// settle says that a delivery need not be asked for.
func (d *Daemon) settle(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.unsettled, id)
}

// list finds a tenant's repositories. Those that are gone end by themselves: GitHub does not know them any more.
func (d *Daemon) list(ctx context.Context, w store.Work, site Site) (result, error) {
	repos, err := site.Repositories(ctx)
	if err != nil {
		return result{}, err
	}
	now := d.Now()
	d.mu.Lock()
	d.pace[w.Tenant] = max(d.Resync, time.Duration(len(repos))*time.Minute/perMinute)
	d.mu.Unlock()
	r := result{result: resultOK, outcome: store.Outcome{Wake: now.Add(d.Resync)}}
	for _, full := range repos {
		owner, repo, ok := workkey.SplitName(full)
		if ok && d.first(workkey.Repo(w.Tenant, owner, repo)) {
			r.pokes = append(r.pokes, d.repoPoke(w.Tenant, owner, repo, now))
		}
	}
	return r, nil
}

// repoSight is what is kept of a repository.
type repoSight struct {
	Policy string           `json:"policy"` // blob SHA
	State  quorum.FileState `json:"state"`
	Latest time.Time        `json:"latest"` // of the last change of an open pull request that was seen, by GitHub's clock
}

// resync looks a repository over: whether its policy is another, and which of its open pull requests need a look.
func (d *Daemon) resync(ctx context.Context, w store.Work, p workkey.Key, site Site) (result, error) {
	now := d.Now()
	var was repoSight
	_ = json.Unmarshal(w.Sight, &was)
	key := workkey.Repo(p.Tenant, p.Owner, p.Repo)
	since := was.Latest.Add(-slack)
	whole := was.Latest.IsZero() || !d.knows(resynced+key)
	if whole {
		since = time.Time{}
	}
	c, err := site.Changed(ctx, p.Owner, p.Repo, since)
	if err != nil {
		return result{}, err
	}
	changed := was.State != c.File.State || was.Policy != c.File.SHA
	if changed && !whole && c.File.State != quorum.FileMissing {
		whole = true
		if c, err = site.Changed(ctx, p.Owner, p.Repo, time.Time{}); err != nil {
			return result{}, err
		}
	}
	d.policies.put(key, c.File, c.Policy, now)
	pokes, err := d.due(ctx, p, c, changed, whole)
	if err != nil {
		return result{}, err
	}
	text, err := json.Marshal(repoSight{Policy: c.File.SHA, State: c.File.State, Latest: latest(was.Latest, c.Latest)})
	if err != nil {
		return result{}, fmt.Errorf("keep sight: %w", err) // unreachable: it holds strings and times
	}
	wait := d.Resync
	d.mu.Lock()
	wait = max(wait, d.pace[p.Tenant])
	d.mu.Unlock()
	if c.File.State == quorum.FileMissing {
		wait = max(wait, withoutPolicy)
	}
	d.first(resynced + key)
	d.Metrics.Healed(len(pokes))
	return result{result: resultOK, pokes: pokes, outcome: store.Outcome{Wake: now.Add(wait), Sight: text}}, nil
}

// resynced stands before the key of a repository all of whose pull requests were looked over since the start.
const resynced = "resynced "

func (d *Daemon) knows(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[key]
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// due are the pull requests of a repository that need a look: those that GitHub changed after ours began, those that are
// undecided and not just being looked at, nor tried again anyway, and if the policy is another, or all were listed, those that we know and the list does not.
func (d *Daemon) due(ctx context.Context, p workkey.Key, c Changed, changed, whole bool) (pokes []store.Poke, err error) {
	now := d.Now()
	poked := map[string]bool{}
	add := func(pr quorum.PR) {
		if key := workkey.Pull(p.Tenant, pr); !poked[key] {
			poked[key] = true
			pokes = append(pokes, d.pullPoke(p.Tenant, pr, now, ""))
		}
	}
	margin := slack
	if whole { // as at a start: what was looked at right after its last change need not be looked at again because of that
		margin = 0
	}
	listed := map[string]bool{}
	for _, pull := range c.Pulls {
		key := workkey.Pull(p.Tenant, pull.PR)
		listed[key] = true
		began := d.looks(key).Add(c.Skew) // before the row is read: in between, that look may end
		row, err := d.Store.Get(ctx, key)
		switch {
		case errors.Is(err, store.ErrNoRow):
			add(pull.PR)
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", key, err)
		case changed, latest(readSight(row.Sight).At, began).Before(pull.Updated.Add(margin)):
			add(pull.PR)
		}
	}
	q := store.Query{Tenant: &p.Tenant, Kind: workkey.KindPull, Group: workkey.Repo(p.Tenant, p.Owner, p.Repo), Limit: maxTracked, Thin: true}
	if open := true; !whole {
		q.Open = &open
	}
	rows, err := d.Store.List(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("list %s/%s: %w", p.Owner, p.Repo, err)
	}
	for _, row := range rows {
		at, ok := workkey.Parse(row.Key)
		if ok && (row.Open && row.Attempts == 0 && now.Sub(d.looks(row.Key)) > slack || changed || whole && !listed[row.Key]) {
			add(at.PR())
		}
	}
	return pokes, nil
}
