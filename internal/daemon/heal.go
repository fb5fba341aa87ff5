package daemon

// Healing: what no delivery told. On start and every resync the host is asked which installations there are, which
// repositories they have, which deliveries failed, and which open pull requests changed. Each of these is a key of its own in
// the table, so that one that fails holds up no other, and a round that a restart cuts off goes on where it was.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
)

const (
	maxMissedAge = 72 * time.Hour // GitHub redelivers what is at most three days old
	maxAsks      = 3              // how often one delivery is asked for again
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
	Asked time.Time `json:"asked"` // up to when failed deliveries were looked for
}

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
	since := was.Asked.Add(-d.Resync - time.Minute)
	if oldest := now.Add(-maxMissedAge); since.Before(oldest) || was.Asked.After(now) { // after: the clock was set back
		since = oldest
	}
	if err := d.prune(ctx, now); err != nil {
		return result{}, err
	}
	if err := d.redeliver(ctx, since); err != nil {
		return result{}, err
	}
	text, err := json.Marshal(appSight{Asked: now})
	if err != nil {
		return result{}, fmt.Errorf("keep sight: %w", err) // unreachable: it holds a time
	}
	return result{result: resultOK, outcome: store.Outcome{Wake: now.Add(d.Resync), Sight: text}}, nil
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
		if d.first(tenantKey(t.ID)) {
			pokes = append(pokes, store.Poke{Key: tenantKey(t.ID), Tenant: t.ID, Kind: kindTenant, Due: now})
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
	if err := d.Store.Poke(ctx, store.Poke{Key: appKey, Kind: kindApp, Due: now}); err != nil {
		d.Log.Error("the table cannot be written", "err", err)
	}
}

// redeliver asks for deliveries that failed and were not accepted after all. One that fails every time is asked for a few
// times and then left: what it tells is found by the resync too.
func (d *Daemon) redeliver(ctx context.Context, since time.Time) error {
	missed, err := d.Host.Missed(ctx, since)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(missed))
	for _, m := range missed {
		ids = append(ids, m.ID)
	}
	known, err := d.Store.Known(ctx, ids)
	if err != nil {
		return fmt.Errorf("look for deliveries: %w", err)
	}
	asked, next := d.asked, map[string]int{}
	for _, m := range missed { // those that this round does not come to keep their count
		next[m.ID] = asked[m.ID]
	}
	d.asked = next
	n := 0
	for _, m := range missed {
		if known[m.ID] {
			continue
		}
		if next[m.ID]++; next[m.ID] > maxAsks {
			continue
		}
		err := d.Host.Redeliver(ctx, m)
		_, limited := retryAt(err)
		switch {
		case err == nil:
			n++
		case ctx.Err() != nil, limited, temporary(err), errors.Is(err, ErrUnauthorized):
			return err
		case errors.Is(err, ErrGone): // too old by now
		default:
			d.Log.Warn("a delivery cannot be asked for again", "delivery", m.ID, "err", err)
		}
	}
	if n > 0 {
		d.Metrics.Redelivered(n)
		d.Log.Info("asked for deliveries that failed", "n", n)
	}
	return nil
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
		owner, repo, ok := split(full)
		if ok && d.first(repoKey(w.Tenant, owner, repo)) {
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
func (d *Daemon) resync(ctx context.Context, w store.Work, p place, site Site) (result, error) {
	now := d.Now()
	var was repoSight
	_ = json.Unmarshal(w.Sight, &was)
	key := repoKey(p.tenant, p.owner, p.repo)
	since := was.Latest.Add(-slack)
	whole := was.Latest.IsZero() || !d.knows(resynced+key)
	if whole {
		since = time.Time{}
	}
	c, err := site.Changed(ctx, p.owner, p.repo, since)
	if err != nil {
		return result{}, err
	}
	changed := was.State != c.File.State || was.Policy != c.File.SHA
	if changed && !whole && c.File.State != quorum.FileMissing {
		whole = true
		if c, err = site.Changed(ctx, p.owner, p.repo, time.Time{}); err != nil {
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
	wait = max(wait, d.pace[p.tenant])
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
// undecided and not just being looked at, and if the policy is another, or all were listed, those that we know and the list does not.
func (d *Daemon) due(ctx context.Context, p place, c Changed, changed, whole bool) (pokes []store.Poke, err error) {
	now := d.Now()
	poked := map[string]bool{}
	add := func(pr quorum.PR) {
		if key := pullKey(p.tenant, pr); !poked[key] {
			poked[key] = true
			pokes = append(pokes, d.pullPoke(p.tenant, pr, now, ""))
		}
	}
	margin := slack
	if whole { // as at a start: what was looked at right after its last change need not be looked at again because of that
		margin = 0
	}
	listed := map[string]bool{}
	for _, pull := range c.Pulls {
		key := pullKey(p.tenant, pull.PR)
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
	q := store.Query{Tenant: &p.tenant, Kind: kindPull, Group: repoKey(p.tenant, p.owner, p.repo), Limit: maxTracked, Thin: true}
	if open := true; !whole {
		q.Open = &open
	}
	rows, err := d.Store.List(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("list %s/%s: %w", p.owner, p.repo, err)
	}
	for _, row := range rows {
		at, ok := parseKey(row.Key)
		if ok && (row.Open && now.Sub(d.looks(row.Key)) > slack || changed || whole && !listed[row.Key]) {
			add(at.pr())
		}
	}
	return pokes, nil
}
