package daemon

// A failed look: when its key is looked at again, and whether all of its installation waits.

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	firstBackoff     = 500 * time.Millisecond // after the first failure of a key; half as much again after each more
	longestBackoff   = 2 * time.Minute
	forbiddenBackoff = 15 * time.Minute // in place of it, if a permission is missing
)

// outcomeOfError returns the outcome of work that failed with err, and notes what err tells of the tenant.
func (t task) outcomeOfError(ctx context.Context, err error) workResult {
	d, w := t.d, t.Work
	if ctx.Err() != nil { // we are stopping, or the lease is lost: that is no failure
		return deferredResult(w, resultDeferred)
	}
	var mistake interface{ Stack() string }
	if errors.As(err, &mistake) {
		d.Log.Error("a mistake of the coordinator's own: please report it", oplog.Subject(w.Key), "err", err, "stack", mistake.Stack())
	}
	class := classOf(err)
	if isAbsent := class == classNotInstalled || class == classGone && client.IsNotFound(err); isAbsent && w.Key != workkey.App {
		if next := d.tenants.doubt(w); !next.IsZero() {
			d.Log.Info("it seems to be gone: GitHub is asked again before that is believed", oplog.Subject(w.Key), "err", err)
			return failedResult(w, err, next)
		}
	}
	until, limited := retryAt(err)
	var nextTry time.Time // when all of the tenant finds out whether its trouble is over
	switch {
	case limited:
		d.tenants.holdLimited(w.Tenant, laterTime(until, d.Now().Add(time.Second))) // one that has passed must not make us ask at once
		return deferredResult(w, resultLimited)
	case w.Key == workkey.App && class != classUnauthorized: // the host itself is never gone
	case class == classNotInstalled:
		return d.forgetTenant(ctx, w, err)
	case class == classSuspended:
		d.Metrics.countFailure(class)
		hold := longestDenial // its return is announced, and looked for
		if d.Poll > 0 {       // perhaps by another process
			hold = d.Resync + d.Resync/2
		}
		d.tenants.holdSuspended(w.Tenant, d.Now().Add(hold))
		d.Log.Warn(classTexts[class].says, oplog.Installation(w.Tenant), "remedy", classTexts[class].remedy)
		return deferredResult(w, resultDeferred)
	case class == classUnauthorized:
		d.Metrics.countFailure(class)
		d.tenants.noteTrouble(w.Tenant, class, err)
		return deferredResult(w, resultFailed)
	case class == classGone:
		d.Log.Info("it is not on GitHub any more, or we may not see it", oplog.Subject(w.Key), "err", err)
		r, failed := t.goneWithin(ctx)
		if failed != nil {
			return d.retryLater(w, failed, time.Time{})
		}
		return r
	case class == classMoved: // the host has answered
		d.tenants.markHealthy(w)
	case class != classDatabase && isTemporary(err):
		nextTry = d.tenants.noteTrouble(w.Tenant, class, err)
	}
	d.Metrics.countFailure(class)
	d.Log.Warn(taskTexts[w.Kind].failed, oplog.Subject(w.Key),
		"attempt", w.Attempts+1, "because", classTexts[class].says, "remedy", classTexts[class].remedy, "err", err)
	return d.retryLater(w, err, nextTry)
}

// goneWithin returns the end of a key that is gone. A repository's pull requests may be gone with it, or have another name; of a pull
// request that only seems so the next resync's whole list shows it.
func (t task) goneWithin(ctx context.Context) (workResult, error) {
	r := goneResult()
	if t.Kind == workkey.KindPull {
		t.d.tenants.unpoke(t.Tenant, resyncedPrefix+workkey.Repo(t.Tenant, t.at.Owner, t.at.Repo))
	}
	if t.Kind != workkey.KindRepo {
		return r, nil
	}
	rows, err := t.rowsBeside(ctx, store.Query{Kind: workkey.KindPull, Limit: maxPullsPerRepo, Thin: true})
	for _, row := range rows {
		r.pokes = append(r.pokes, pullPoke(t.Tenant, row.at.PR(), t.d.Now(), ""))
	}
	return r, err
}

// retryLater has a key looked at again after a while that grows with each failure, but no later than at a moment, if that is not zero.
func (d *Daemon) retryLater(w store.Work, err error, latest time.Time) workResult {
	longest := longestBackoff
	if classOf(err) == classForbidden { // people must act first; GitHub bans who goes on asking
		longest = forbiddenBackoff
	}
	wait := min(time.Duration(float64(firstBackoff)*math.Pow(1.5, float64(min(w.Attempts, 20)))), longest)
	return failedResult(w, err, earlierDue(d.Now().Add(wait/2+d.Jitter(wait/2)), latest))
}

// failedResult has a key looked at again at a moment, after a look that failed.
func failedResult(w store.Work, err error, wake time.Time) workResult {
	return workResult{label: resultFailed, outcome: store.Completion{
		Failed: sayFailure(err), Wake: wake, Backlog: w.Backlog, LiveDue: w.LiveDue,
	}}
}

// forgetTenant forgets a tenant that the host does not know any more.
func (d *Daemon) forgetTenant(ctx context.Context, w store.Work, err error) workResult {
	if client.MayWrite(ctx) != nil { // another process may work for it, and know better
		return deferredResult(w, resultDeferred)
	}
	d.Log.Info("an installation is gone, and with it all its work", oplog.Installation(w.Tenant), "err", err)
	if err := d.Store.Drop(ctx, w.Tenant); err != nil {
		d.Log.Error("the work of an installation cannot be dropped", oplog.Installation(w.Tenant), "err", err)
	}
	d.tenants.forget(w.Tenant)
	return goneResult()
}
