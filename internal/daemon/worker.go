package daemon

// The workers. Each takes one key to its end: claimed (dispatch.go), spared or urgent (urgency.go), admitted (admission.go), observed,
// decided and written (task.go), stored and announced (here). Nothing is tried again within a look beyond what the host's own client
// does: a wait is a due time.

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	lostLookPause   = 2 * time.Second // until a key is looked at of which a lost look is not yet at its end
	completeTimeout = 2 * time.Second // how long the end of a lease may take when all else has ended
)

// workOn takes one key, which was claimed under a lease that runs out at a moment unless it is renewed, to its end: it looks, unless a lost
// look at the key is not yet at its end, stores what the look came to, and then tells of it. The lease ends here before it does so in
// the table: the key may be claimed anew at once.
func (d *Daemon) workOn(ctx context.Context, w store.Work, until time.Time) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := d.Now()
	r := heldResult(w, began.Add(lostLookPause))
	if d.work.begin(w.Lease, until.Add(-d.Lease), until, cancel) {
		r = d.workRecovered(client.WithPermit(ctx, d.work.permitOf(w.Lease, d.Now, d.Lease/4)), w)
	}
	d.work.end(w.Lease)
	d.Metrics.Looked(w.Kind, r.label, d.Now().Sub(began))
	if isDecided := w.Kind == workkey.KindPull || w.Kind == workkey.KindGroup; isDecided && r.label == resultOK && w.IsAwake(began) {
		d.Metrics.WokeLate(began.Sub(w.Wake))
	}
	if d.storeResult(ctx, w, r) && r.sight != nil {
		d.announce(w, r)
	}
	d.work.remove(w.Lease)
	d.Feed.Publish(w.Key)
}

// storeResult keeps what work came to, and reports whether its lease was still there. If it was not, the key is due again.
func (d *Daemon) storeResult(ctx context.Context, w store.Work, r workResult) (ours bool) {
	if w.Kind == workkey.KindPull && w.Sight == nil && r.outcome.Sight == nil && !r.outcome.Gone {
		r.outcome.Open = true // it is not known yet whether it is decided
	}
	r.outcome.Now = d.Now()
	if !errors.Is(context.Cause(ctx), errLost) {
		var err error
		if ours, err = keepResult(context.WithoutCancel(ctx), d.Store, w.Lease, r); err != nil {
			d.Log.Error("what an evaluation came to cannot be kept: it is made again", oplog.Subject(w.Key), "err", err)
			ours = false
		}
	}
	switch {
	case !ours: // the pokes may not have been kept
		d.tenants.dropPokes(r.pokes)
	case r.outcome.Gone:
		d.tenants.unpoke(w.Tenant, w.Key, resyncedPrefix+w.Key)
	}
	return ours
}

// keepResult keeps what a look came to, and reports whether its lease was still there.
func keepResult(ctx context.Context, table store.Store, l store.Lease, r workResult) (ours bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	for few := range slices.Chunk(r.pokes, pokesPerWrite) { // before the key ends: what it leads to must not be lost between the two
		if err := table.Poke(ctx, few...); err != nil {
			return false, err
		}
	}
	return table.Complete(ctx, l, r.outcome)
}

// announce tells the log, the metrics and the caller of a look that was kept. The end of a pull request that was not
// known is no news: ended ones are not kept, so that each later event finds the end again.
func (d *Daemon) announce(w store.Work, r workResult) {
	was, s := readSight(w.Sight), *r.sight
	changed := was.Head != s.Head || was.Status != s.Status || was.Conclusion != s.Conclusion || was.Says != s.Says
	if changed && (was.Head != "" || s.Verdict != quorum.Ended.String()) {
		if was.Head != s.Head || was.Verdict != s.Verdict {
			d.Metrics.Decided(s.Verdict)
		}
		d.Log.Info("decided", oplog.Subject(w.Key), "head", s.Head,
			"verdict", s.Verdict, "check_run", checkState(s), "title", s.Says)
	}
	if at, ok := workkey.Parse(w.Key); ok && d.Looked != nil {
		d.Looked(at.PR(), s)
	}
}

// workRecovered works on a key; a panic becomes a failure of the key.
func (d *Daemon) workRecovered(ctx context.Context, w store.Work) (r workResult) {
	defer func() {
		if v := recover(); v != nil {
			d.Log.Error("a mistake of the coordinator's own: please report it", oplog.Subject(w.Key),
				"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			r = d.retryLater(w, errors.New("a mistake of the coordinator's own: its log tells more"), time.Time{})
			d.Metrics.countFailure(classOther)
			r.label = resultPanicked
		}
	}()
	at, ok := workkey.Parse(w.Key)
	if at.Tenant != w.Tenant || !ok && w.Key != workkey.App {
		d.Log.Error("our database holds a key that means nothing", oplog.Subject(w.Key))
		return goneResult()
	}
	t := task{d: d, Work: w, at: at}
	r, err := t.work(ctx)
	if err != nil {
		failed := t.outcomeOfError(ctx, err)
		failed.outcome.Sight = r.outcome.Sight // of a round that came half way
		failed.pokes = append(failed.pokes, r.pokes...)
		return failed
	}
	if r.label != resultSpared && r.label != resultDeferred { // these ask GitHub nothing
		d.tenants.markHealthy(w)
	}
	return r
}

// work works on a key as its kind asks, unless its events ask for no look, or it waits for what GitHub allows.
func (t task) work(ctx context.Context) (workResult, error) {
	d, w := t.d, t.Work
	if w.Key == workkey.App {
		return d.resyncHost(ctx, w)
	}
	t.known = d.tenants.policyOf(t.at)
	if w.Kind == workkey.KindPull {
		t.was = readSight(w.Sight)
	}
	var mayBeSpared bool
	t.touches, mayBeSpared = readTouches(w.Touches)
	if r, spared := t.spareLook(); mayBeSpared && spared {
		return r, nil
	}
	var err error
	if t.forge, err = d.Host.Enter(w.Tenant); err == nil {
		err = d.tenants.tellForge(ctx, w.Tenant, t.forge)
	}
	if err != nil {
		return workResult{}, err
	}
	until, spacing := d.tenants.admitLook(w, t.forge, t.lookUrgency(ctx))
	if !until.IsZero() {
		return heldResult(w, until), nil
	}
	t.spacing = spacing
	var used client.Meter
	admitted := d.Now()
	defer func() { d.tenants.endLook(w, admitted, used.Requests(), t.forge.Hour()) }()
	return t.askGitHub(client.WithMeter(ctx, &used))
}
