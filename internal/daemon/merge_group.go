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
	Pulls []int  `json:"pulls"`
	State string `json:"state"` // of the check
	Gone  bool   `json:"gone,omitempty"`
}

// goneSight is for a look that was asked for while another one found that the group is no more: a commit of the queue's
// never comes back.
var goneSight = []byte(`{"gone":true}`)

// reconcileGroup reconciles a merge queue's group.
func (t task) reconcileGroup(ctx context.Context) (workResult, error) {
	var was groupSight
	_ = json.Unmarshal(t.Sight, &was)
	gone := goneResult()
	gone.outcome.Sight = goneSight
	if was.Gone || slices.Contains(t.Touches, groupGone) {
		return gone, nil
	}
	r := loop.Reconciler{Forge: t.forge, Now: t.d.Now, Told: true, Hear: t.d.hearIn(t.at), Places: t.d.Places}
	look, err := r.ReconcileGroup(ctx, t.forge, t.at.GroupRef())
	if err != nil {
		return workResult{}, err
	}
	if look.IsOver() {
		return gone, nil
	}
	state := cmp.Or(look.Check.Conclusion, look.Check.Status)
	now := groupSight{State: state}
	for _, s := range look.Decision.Shared {
		now.Pulls = append(now.Pulls, s.Number)
	}
	if was.State != now.State {
		t.d.Log.Info("decided", oplog.Subject(t.Key), "head", t.at.Head,
			"verdict", look.Decision.Verdict, "check_run", state, "title", look.Check.Title)
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

// resyncGroups returns pokes of the merge groups that no delivery told of, or of which none told that they are no more.
// The queues of the repository are asked for where it is known to have one, and once after a start.
func (t task) resyncGroups(ctx context.Context, base string, ask bool) (pokes []store.Poke, hasQueue bool, err error) {
	now := t.d.Now()
	rows, err := t.rowsBeside(ctx, store.Query{Kind: workkey.KindGroup, Limit: maxGroupsPerRepo, Thin: true})
	if err != nil {
		return nil, false, err
	}
	bases := []string{}
	if ask && base != "" {
		bases = append(bases, base)
	}
	known := map[string]bool{}
	for _, row := range rows {
		known[row.at.Head] = true
		if b := row.at.GroupRef().Base(); !slices.Contains(bases, b) {
			bases = append(bases, b)
		}
	}
	listed := map[string]bool{}
	for _, b := range bases {
		groups, err := t.forge.Groups(ctx, t.at.Owner, t.at.Repo, b)
		if err != nil {
			return nil, false, err
		}
		hasQueue = hasQueue || groups != nil
		for _, g := range groups {
			listed[g.Head] = true
			if !known[g.Head] {
				pokes = append(pokes, newPoke(workkey.KindGroup, workkey.Group(t.Tenant, g), now, ""))
			}
		}
	}
	for _, row := range rows {
		if !listed[row.at.Head] && !row.Seen.IsZero() && now.Sub(row.Seen) > leftQueueMargin {
			touch := groupGone
			if row.Open { // one that is undecided ends as any other
				touch = ""
			}
			pokes = append(pokes, knownGroupPoke(row.Key, now, touch))
		}
	}
	return pokes, hasQueue || len(rows) > 0, nil
}
