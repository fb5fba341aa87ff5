package daemon

// The resync finds changes that no delivery told. On start and every resync the host is asked which installations there
// are, which repositories they have, which deliveries failed, and which open pull requests changed. Each of these is a
// key of its own in the table, so that one that fails holds up no other, and a round that a restart cuts off goes on
// where it was.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/github"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	deliveryMemory = 30 * 24 * time.Hour
	prunedAtOnce   = 5000 // deliveries forgotten at once
	// resyncLookMargin is how much older than our look a change may seem and yet have been invisible to it.
	resyncLookMargin = 10 * time.Second

	pauseWithoutPolicy = time.Hour // how often a repository without a policy is looked over: a push of one is announced
	maxPullsPerRepo    = 100_000   // pull requests of one repository
	leastHour          = 5000      // requests that GitHub allows an installation in an hour, at least
	aheadPart          = 20
	reposPerMinute     = 36 // repositories of an installation that are looked over in a minute at most: a tenth of its points
)

// takeAhead reports whether one more green pull request of a tenant, which GitHub changed and no event told of, is looked at before
// the backlog: a twentieth of what an hour allows goes to these, for anybody can change many with a comment each.
func (b *tenantBook) takeAhead(tenant int64, hour int, now time.Time) bool {
	perHour := float64(cmp.Or(hour, leastHour)) / aheadPart / float64(client.LookCost.Reads+client.LookCost.Writes)
	t := b.open(tenant)
	defer b.mu.Unlock()
	used := laterTime(t.ahead, now.Add(-time.Hour)).Add(time.Duration(float64(time.Hour) / perHour))
	if used.After(now) {
		return false
	}
	t.ahead = used
	return true
}

// appSight is kept in the row of the host.
type appSight struct {
	Asked     time.Time        `json:"asked"` // up to when failed deliveries were looked for
	Unsettled []failedDelivery `json:"unsettled,omitempty"`
}

// resyncHost finds installations and failed deliveries.
func (d *Daemon) resyncHost(ctx context.Context, w store.Work) (workResult, error) {
	now := d.Now()
	tenants, err := d.Host.Installations(ctx)
	if err != nil {
		return workResult{}, err
	}
	if err := d.pokeNewTenants(ctx, tenants, now); err != nil {
		return workResult{}, err
	}
	var was appSight
	_ = json.Unmarshal(w.Sight, &was) // without one all that can be asked for is looked at
	since := was.Asked.Add(-d.Resync - time.Minute)
	if oldest := now.Add(-maxMissedAge); since.Before(oldest) || was.Asked.After(now) { // after: the clock was set back
		since = oldest
	}
	for n := prunedAtOnce; n == prunedAtOnce; { // in steps between which others may write
		if n, err = d.Store.Prune(ctx, now.Add(-deliveryMemory), prunedAtOnce); err != nil {
			return workResult{}, fmt.Errorf("forget old deliveries: %w: %w", errTable, err)
		}
	}
	unsettled, failed := d.askForFailed(ctx, was.Unsettled, since, now)
	sight := appSight{Asked: now, Unsettled: unsettled}
	if failed != nil {
		sight.Asked = was.Asked
	}
	return workResult{label: resultOK, outcome: store.Completion{Wake: now.Add(d.Resync), Sight: sightText(sight)}}, failed
}

// pokeNewTenants pokes installations that are new to us, whether or not the rest of the round succeeds.
func (d *Daemon) pokeNewTenants(ctx context.Context, tenants []client.Installation, now time.Time) error {
	var pokes []store.Poke
	for _, t := range tenants {
		if !t.Suspended.IsZero() {
			d.tenants.holdSuspended(t.ID, now.Add(d.Resync+d.Resync/2))
			continue
		}
		d.tenants.holdSuspended(t.ID, time.Time{})
		poke := newPoke(workkey.KindTenant, workkey.Tenant(t.ID), now, "")
		switch {
		case d.tenants.addFirst(t.ID, poke.Key):
			pokes = append(pokes, poke)
		case d.Poll > 0: // another process may have forgotten it; of one that is known this changes nothing
			poke.Due = now.Add(d.Resync)
			pokes = append(pokes, poke)
		}
	}
	for few := range slices.Chunk(pokes, pokesPerWrite) {
		if err := d.Store.Poke(ctx, few...); err != nil {
			d.tenants.dropPokes(pokes)
			return fmt.Errorf("keep installations: %w: %w", errTable, err)
		}
	}
	return nil
}

// askForFailed asks for deliveries that failed and were not accepted after all: at once, and then again and again, for
// the way to us may be broken for longer than a resync. Nothing else may ever tell what such a delivery tells. It returns
// those that may be asked for again.
func (d *Daemon) askForFailed(ctx context.Context, kept []failedDelivery, since, now time.Time) ([]failedDelivery, error) {
	listed, err := d.Host.Deliveries(ctx, since)
	if err != nil {
		return kept, err
	}
	all := mergeFailed(kept, listed, now)
	var ids []string
	for _, f := range all {
		ids = append(ids, f.ID)
	}
	came, err := d.Store.Known(ctx, ids)
	if err != nil {
		return kept, fmt.Errorf("look for deliveries: %w: %w", errTable, err)
	}
	maps.Copy(came, d.ignored.take())
	all = slices.DeleteFunc(all, func(f failedDelivery) bool { return came[f.ID] })
	if dropped := len(all) - maxUnsettled; dropped > 0 {
		d.Log.Warn(
			"more deliveries failed than are remembered: the oldest are not asked for again", "most", maxUnsettled, "dropped", dropped,
		)
		all = all[dropped:]
	}
	n, err := redeliver(ctx, d, all, now)
	if n > 0 {
		d.Metrics.redelivered.Add(float64(n))
		d.Log.Info("GitHub was asked for deliveries that failed", "count", n)
	}
	return all, err
}

// redeliver asks for those of the failed deliveries whose time has come, and returns for how many.
func redeliver(ctx context.Context, d *Daemon, failed []failedDelivery, now time.Time) (n int, err error) {
	for i := range failed {
		f := &failed[i]
		if f.Next.IsZero() || f.Next.After(now) || f.tooOld(now) {
			continue
		}
		err := d.Host.Redeliver(ctx, f.Hook)
		class := classOf(err)
		// What says nothing of this one has it asked for first the next time.
		if ctx.Err() != nil || class == classLimited || class == classUnauthorized {
			return n, err
		}
		f.markAsked(now, d.Resync, class == classGone)
		switch {
		case err == nil:
			n++
		case isTemporary(err):
			return n, err
		case class == classGone: // too old by now
		default:
			d.Log.Warn("GitHub cannot be asked for a delivery again",
				"delivery", f.ID, "because", classTexts[class].says, "err", err)
		}
	}
	return n, nil
}

// resyncInstallation pokes a tenant's repositories that are new to us, or all where the organisation's policy may have
// changed. Those that are gone end by themselves: GitHub does not know them any more.
func (t task) resyncInstallation(ctx context.Context) (workResult, error) {
	isAnother := slices.Contains(t.Touches, organisationChanged)
	if isAnother {
		t.forge.ForgetOrganisation()
	}
	repos, err := t.forge.Repositories(ctx)
	if err != nil {
		return workResult{}, err
	}
	now := t.d.Now()
	t.d.tenants.open(t.Tenant).pace = max(t.d.Resync, time.Duration(len(repos))*time.Minute/reposPerMinute)
	t.d.tenants.mu.Unlock()
	found := workResult{label: resultOK, outcome: store.Completion{Wake: now.Add(t.d.Resync)}}
	for _, full := range repos {
		owner, repo, ok := workkey.SplitName(full)
		if key := workkey.Repo(t.Tenant, owner, repo); ok && (t.d.tenants.addFirst(t.Tenant, key) || isAnother) {
			found.pokes = append(found.pokes, backlogPoke(key, now, ""))
		}
	}
	return found, nil
}

// resyncRepository looks a repository over: whether its policy is another, and which of its open pull requests need a
// look.
func (t task) resyncRepository(ctx context.Context) (workResult, error) {
	now := t.d.Now()
	var was dashboard.RepoSight
	_ = json.Unmarshal(t.Sight, &was)
	since := was.Latest.Add(-resyncLookMargin)
	whole := was.Latest.IsZero() || !t.d.tenants.isPoked(t.Tenant, resyncedPrefix+t.Key)
	if whole {
		since = time.Time{}
	}
	c, err := t.forge.Changed(ctx, t.at.Owner, t.at.Repo, since)
	if err != nil {
		return workResult{}, err
	}
	changed := was.State != c.File.State || was.Policy != c.File.Blobs()
	if changed && !whole && c.File.State != quorum.FileMissing {
		whole = true
		if c, err = t.forge.Changed(ctx, t.at.Owner, t.at.Repo, time.Time{}); err != nil {
			return workResult{}, err
		}
	}
	t.d.tenants.putPolicy(t.at, c.File, c.Policy, now)
	t.forge.RememberOrganisation(t.at.Owner, c.File.Org)
	pokes, err := t.pullsToLookAt(ctx, c, changed, whole)
	if err != nil {
		return workResult{}, err
	}
	hasQueue := was.Queue
	if c.File.State == quorum.FileValid {
		groups, found, err := t.resyncGroups(ctx, c.Branch, whole || was.Queue)
		if err != nil {
			return workResult{}, err
		}
		pokes, hasQueue = append(pokes, groups...), hasQueue || found
	}
	sight := sightText(dashboard.RepoSight{
		Policy: c.File.Blobs(), Organisation: c.File.Org.Repo, State: c.File.State, Path: c.File.Path,
		Mistakes: dashboard.CutMistakes(c.File.Problem),
		Latest:   laterTime(was.Latest, c.Latest), Queue: hasQueue,
	})
	wait := max(t.d.Resync, t.d.tenants.open(t.Tenant).pace)
	t.d.tenants.mu.Unlock()
	if c.File.State == quorum.FileMissing && was.State == quorum.FileMissing { // by two opinions
		wait = max(wait, pauseWithoutPolicy)
	}
	t.d.tenants.addFirst(t.Tenant, resyncedPrefix+t.Key)
	t.d.Metrics.healed.Add(float64(len(pokes)))
	return workResult{label: resultOK, pokes: pokes, outcome: store.Completion{Wake: now.Add(wait), Backlog: true, Sight: sight}}, nil
}

// pullsToLookAt returns pokes of a repository's pull requests that need a look: those that GitHub changed after our
// last look began, and undecided ones that were not looked at just now and are not tried again anyway. If the policy changed, or
// all were listed, so do those that we know and the list does not hold. All wait in the
// backlog, but for some green ones that may be so no more.
func (t task) pullsToLookAt(ctx context.Context, c github.RecentChanges, changed, whole bool) (pokes []store.Poke, err error) {
	now := t.d.Now()
	observing := t.d.work.observing() // before the rows are read: in between, a look may end
	rows, err := t.rowsBeside(ctx, store.Query{Kind: workkey.KindPull, Limit: maxPullsPerRepo, Thin: !whole})
	if err != nil {
		return nil, err
	}
	known, poked := map[string]store.Row{}, map[string]bool{}
	add := func(pr quorum.PR, head string, isGreen bool) {
		if key := workkey.Pull(t.Tenant, pr); !poked[key] {
			poked[key] = true
			poke := pullPoke(t.Tenant, pr, now, resyncTouch(head))
			poke.Backlog = !isGreen || !t.d.tenants.takeAhead(t.Tenant, t.forge.Hour(), now)
			pokes = append(pokes, poke)
		}
	}
	for _, row := range rows {
		known[row.Key] = row.Row
	}
	margin := resyncLookMargin
	if whole { // as at a start: what was looked at right after its last change need not be looked at again because of that
		margin = 0
	}
	listed := map[string]bool{}
	for _, pull := range c.Pulls {
		key := workkey.Pull(t.Tenant, pull.PR)
		listed[key] = true
		row, isKnown := known[key]
		s, err := t.sightOf(ctx, row, isKnown && !whole)
		if err != nil {
			return nil, err
		}
		seen := laterTime(s.At, observing[key].Add(c.Skew))
		if !isKnown || changed || seen.Before(pull.Updated.Add(margin)) {
			add(pull.PR, pull.Head, s.Conclusion == "success")
		}
	}
	for _, row := range rows {
		undecided := row.Open && row.Attempts == 0 && now.Sub(observing[row.Key]) > resyncLookMargin &&
			now.Sub(t.d.tenants.lookedAt(row.Row)).Abs() >= t.d.Resync/2 // Abs: the clock may have been set back
		if undecided || changed || whole && !listed[row.Key] {
			add(row.at.PR(), "", false)
		}
	}
	return pokes, nil
}

// sightOf returns what a row shows, which is read again where it was listed without.
func (t task) sightOf(ctx context.Context, row store.Row, isThin bool) (s dashboard.Sight, err error) {
	key := row.Key
	if isThin {
		row, err = t.d.Store.Get(ctx, key)
	}
	if err != nil && !errors.Is(err, store.ErrNoRow) {
		return s, fmt.Errorf("read %s: %w: %w", key, errTable, err)
	}
	return readSight(row.Sight), nil
}
