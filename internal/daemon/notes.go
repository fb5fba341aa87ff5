package daemon

// The notes that the table keeps of reviewers: how their services fared on the pull requests of a repository, so that a restart
// neither asks anew who is down, nor warns anew; and which of their newest answers were understood, so that it asks no vendor
// anew for what nobody understands.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
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
			cause := "outage"
			if c.Hold().Limit {
				cause = "limit"
			}
			d.Metrics.CircuitsOpened.WithLabelValues(cause).Inc()
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

// heardDays is for how long an answer tells something of a vendor's format.
const heardDays = 30

// hearIn returns what keeps the answers that looks in a repository find, and tells those that are kept. A table that
// cannot be read or written costs a request that may be of no use, and no look.
func (d *Daemon) hearIn(repo workkey.Key) func(context.Context, quorum.PR, []quorum.HeardAnswer) []quorum.HeardAnswer {
	group := workkey.Repo(repo.Tenant, repo.Owner, repo.Repo)
	return func(ctx context.Context, pr quorum.PR, found []quorum.HeardAnswer) []quorum.HeardAnswer {
		kept, err := d.Store.Notes(ctx, group, true)
		if err != nil {
			d.Log.Warn("the answers of reviewers cannot be read", oplog.PullRequest(pr), "err", err)
			return found
		}
		known := make([]quorum.HeardAnswer, 0, len(kept)+len(found))
		for _, a := range kept {
			known = append(known, answerOf(a))
		}
		newest := quorum.NewestAnswers(slices.Concat(known, found))
		var fresh []store.Note
		for _, a := range found {
			if row := noteOf(a); slices.Contains(newest, a) && !slices.Contains(kept, row) {
				fresh = append(fresh, row)
			}
		}
		if len(fresh) > 0 {
			if _, err := d.Store.AddNotes(ctx, repo.Tenant, group, quorum.MaxHeard, fresh...); err != nil {
				d.Log.Warn("the answers of reviewers cannot be kept", oplog.PullRequest(pr), "err", err)
			}
		}
		return newest
	}
}

// noteOf is an answer as the table keeps it.
func noteOf(a quorum.HeardAnswer) store.Note {
	return store.Note{
		Kind: store.Answer, Reviewer: a.Reviewer, Of: fmt.Sprintf("%s/%d", a.Kind, a.ID), Label: a.Preset, Pull: a.Pull,
		Stranger: a.Stranger, At: a.At.UTC().Truncate(time.Microsecond), Unread: a.Unread,
	}
}

// answerOf is an answer that the table kept.
func answerOf(h store.Note) quorum.HeardAnswer {
	a := quorum.HeardAnswer{
		Reviewer: h.Reviewer, Preset: h.Label, Pull: h.Pull, Stranger: h.Stranger, At: h.At, Unread: h.Unread,
	}
	kind, id, _ := strings.Cut(h.Of, "/")
	_ = a.Kind.UnmarshalText([]byte(kind)) // a kind that a newer program wrote names no text of ours
	a.ID, _ = strconv.ParseInt(id, 10, 64) // nor does such an id
	return a
}

// CountHeard counts the answers of reviewers by preset that a table keeps and that still tell something.
func CountHeard(ctx context.Context, s store.Store, now time.Time) (map[string]store.HeardCount, error) {
	return s.CountHeard(ctx, now.AddDate(0, 0, -heardDays))
}
