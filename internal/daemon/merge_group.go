package daemon

// Merge queues: a group's commit is a key of its own, from the event that announces it until the queue has let go of it.
// Whatever changes a verdict has the groups of the repository looked at again.

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// maxGroupsPerRepo is how many merge groups of one repository are looked at: GitHub builds a hundred at once at most.
const maxGroupsPerRepo = 1000

// leftQueueMargin is how long after our last look a group that the queue does not show is taken for one that left it.
const leftQueueMargin = time.Minute

// groupSight is kept in the row of a merge group. It spares looks and decides nothing.
type groupSight struct {
	Pulls   []int  `json:"pulls"`
	State   string `json:"state"` // of the check
	Verdict string `json:"verdict"`
	Gone    bool   `json:"gone,omitempty"`
}

// goneSight is for a look that was asked for while another one found that the group is no more: a commit of the queue's
// never comes back.
var goneSight = []byte(`{"gone":true}`)

// reconcileGroup reconciles a merge queue's group.
func (d *Daemon) reconcileGroup(ctx context.Context, w store.Work, p workkey.Key, forge TenantForge) (workResult, error) {
	var was groupSight
	_ = json.Unmarshal(w.Sight, &was)
	gone := goneResult()
	gone.outcome.Sight = goneSight
	if was.Gone || slices.Contains(w.Touches, groupGone) {
		return gone, nil
	}
	r := loop.Reconciler{Forge: forge, Now: d.Now, Told: true, Hear: d.hearIn(p), Places: d.Places}
	look, err := r.ReconcileGroup(ctx, forge, p.GroupRef())
	if err != nil {
		return workResult{}, err
	}
	if look.IsOver() {
		return gone, nil
	}
	state := cmp.Or(look.Check.Conclusion, look.Check.Status)
	now := groupSight{State: state, Verdict: look.Decision.Verdict.String()}
	for _, s := range look.Decision.Shared {
		now.Pulls = append(now.Pulls, s.Number)
	}
	if was.State != now.State {
		d.Log.Info("decided", oplog.Subject(w.Key), "head", p.Head, "verdict", now.Verdict, "check_run", state, "title", look.Check.Title)
	}
	outcome := store.Completion{Sight: sightText(now), Open: look.Decision.Verdict == quorum.Waiting}
	if wake := look.Decision.Wake; !wake.IsZero() { // it is by GitHub's clock
		outcome.Wake = wake.Add(-look.Skew)
	}
	return workResult{label: resultOK, outcome: outcome}, nil
}

// knownGroupPoke is a poke of a merge group that was read in the table, and may be forgotten meanwhile.
func knownGroupPoke(key string, due time.Time, touch string) store.Poke {
	p := newPoke(workkey.KindGroup, key, due, touch)
	p.IfKnown = true
	return p
}

// groupPokes returns pokes of the merge groups that a pull request is in.
func (d *Daemon) groupPokes(ctx context.Context, p workkey.Key) (pokes []store.Poke) {
	for _, row := range d.resync.groupRows(ctx, p) {
		var is groupSight
		if json.Unmarshal(row.Sight, &is) != nil || slices.Contains(is.Pulls, p.Number) {
			pokes = append(pokes, knownGroupPoke(row.Key, d.Now(), ""))
		}
	}
	return pokes
}

// groupRows are the merge groups of a repository that are known.
func (r *resyncer) groupRows(ctx context.Context, p workkey.Key) []store.Row {
	rows, err := r.d.Store.List(ctx, store.Query{
		Tenant: &p.Tenant, Kind: workkey.KindGroup, Group: workkey.Repo(p.Tenant, p.Owner, p.Repo), Limit: maxGroupsPerRepo,
	})
	if err != nil {
		r.d.Log.Error("our database cannot be read", oplog.Subject(workkey.Repo(p.Tenant, p.Owner, p.Repo)), "err", err)
	}
	return rows
}

// resyncGroups returns pokes of the merge groups that no delivery told of, or of which none told that they are no more.
// The queues of the repository are asked for where it is known to have one, and once after a start.
func (r *resyncer) resyncGroups(
	ctx context.Context, p workkey.Key, forge TenantForge, base string, ask bool, now time.Time,
) (pokes []store.Poke, hasQueue bool, err error) {
	rows := r.groupRows(ctx, p)
	bases := []string{}
	if ask && base != "" {
		bases = append(bases, base)
	}
	known := map[string]bool{}
	for _, row := range rows {
		if at, ok := workkey.Parse(row.Key); ok {
			known[at.Head] = true
			if b := at.GroupRef().Base(); !slices.Contains(bases, b) {
				bases = append(bases, b)
			}
		}
	}
	listed := map[string]bool{}
	for _, b := range bases {
		groups, err := forge.Groups(ctx, p.Owner, p.Repo, b)
		if err != nil {
			return nil, false, err
		}
		hasQueue = hasQueue || groups != nil
		for _, g := range groups {
			listed[g.Head] = true
			if !known[g.Head] {
				pokes = append(pokes, newPoke(workkey.KindGroup, workkey.Group(p.Tenant, g), now, ""))
			}
		}
	}
	for _, row := range rows {
		at, ok := workkey.Parse(row.Key)
		if ok && !listed[at.Head] && !row.Seen.IsZero() && now.Sub(row.Seen) > leftQueueMargin {
			touch := groupGone
			if row.Open { // one that is undecided ends as any other
				touch = ""
			}
			pokes = append(pokes, knownGroupPoke(row.Key, now, touch))
		}
	}
	return pokes, hasQueue || len(rows) > 0, nil
}
