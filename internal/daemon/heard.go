package daemon

// The history of reviewers' answers: which of their newest ones in a repository were understood. It stands in the
// table, so that a restart asks no vendor anew for what nobody understands.

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

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
