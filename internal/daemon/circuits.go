package daemon

// Reviewers' circuits: how their services fared on the pull requests of a repository. It stands in the table, so that a
// restart neither asks anew who is down, nor warns anew.

import (
	"context"
	"maps"
	"time"

	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// watchCircuits returns what keeps the signs that looks in a repository find. changed is called with each other pull
// request that is to be looked at because of them. A table that cannot be read or written costs a request that may be
// of no use, and no look.
func (d *Daemon) watchCircuits(repo workkey.Key, changed func(quorum.PR)) loop.CircuitWatch {
	group := workkey.Repo(repo.Tenant, repo.Owner, repo.Repo)
	return loop.CircuitWatch{
		Table:   signTable{d.Store, repo.Tenant, group},
		Now:     d.Now,
		Changed: changed,
		Known:   func(circuits []quorum.Circuit) { d.tenants.noteCircuits(repo, circuits) },
		Opened: func(pr quorum.PR, c quorum.Circuit) {
			d.Metrics.CircuitOpened(c.Hold().Limit)
			d.Log.Warn("a reviewer is not asked again for a while", oplog.Installation(repo.Tenant), oplog.PullRequest(pr),
				"reviewer", c.Reviewer, "because", report.CircuitSentence(c.Hold()), "pull_requests", len(c.Waiting))
		},
		Failed: func(pr quorum.PR, doing string, err error) {
			text := "the outages of reviewers cannot be kept"
			if doing == loop.ReadingSigns {
				text = "the outages of reviewers cannot be read"
			}
			d.Log.Warn(text, oplog.PullRequest(pr), "err", err)
		},
	}
}

// signTable is the part of the table that holds the signs of a repository.
type signTable struct {
	store  store.Store
	tenant int64
	group  string
}

// Signs implements [loop.SignTable].
func (t signTable) Signs(ctx context.Context) ([]quorum.Sign, error) {
	kept, err := t.store.Notes(ctx, t.group, false)
	if err != nil {
		return nil, err
	}
	all := make([]quorum.Sign, 0, len(kept))
	for _, s := range kept {
		all = append(all, quorum.Sign{
			Reviewer: s.Reviewer, Of: s.Of, Kind: quorum.SignKind(min(max(s.Kind, 0), 255)), Pull: s.Pull, Stranger: s.Stranger,
			At: s.At, Until: s.Until,
		})
	}
	return all, nil
}

// AddSigns implements [loop.SignTable].
func (t signTable) AddSigns(ctx context.Context, most int, signs ...quorum.Sign) (added int, err error) {
	kept := make([]store.Note, 0, len(signs))
	for _, s := range signs {
		kept = append(kept, store.Note{
			Reviewer: s.Reviewer, Kind: int(s.Kind), Of: s.Of, Pull: s.Pull, Stranger: s.Stranger, At: s.At, Until: s.Until,
		})
	}
	return t.store.AddNotes(ctx, t.tenant, t.group, most, kept...)
}

// noteCircuits keeps until when the circuits of a repository are open.
func (b *tenantBook) noteCircuits(at workkey.Key, circuits []quorum.Circuit) {
	t := b.open(at.Tenant)
	defer b.mu.Unlock()
	for _, c := range circuits {
		t.circuits[[3]string{at.Owner, at.Repo, c.Reviewer}] = c.Hold().Until
	}
}

// OpenCircuits says how many reviewers are not asked again now because their circuits are open, each counted once in a
// repository, as far as looks since the start have seen.
func (d *Daemon) OpenCircuits() (open int) {
	d.tenants.mu.Lock()
	defer d.tenants.mu.Unlock()
	for _, t := range d.tenants.byID {
		maps.DeleteFunc(t.circuits, func(_ [3]string, until time.Time) bool { return !until.After(d.Now()) })
		open += len(t.circuits)
	}
	return open
}
