package daemon

// The workers. One dispatcher claims what is due, as much as there are workers free, and each worker takes one key to its
// end: a look, or a reason why there is none yet. A limit, a refusal or a fault becomes a due time; nothing sleeps, and
// nothing is tried again within a look beyond what the host's own client does.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	shortBackoff = 500 * time.Millisecond // after the first failure of a key; doubles
	longBackoff  = 2 * time.Minute
	forbidden    = 15 * time.Minute // in place of it, if a permission is missing
	shortDenied  = time.Minute      // after the first refusal of our credentials; doubles
	longDenied   = time.Hour
	faultsInARow = 5               // on the way to the host, of one tenant: then all of it waits
	restFault    = 5 * time.Second // doubles
	longRest     = time.Minute
	pokesAtOnce  = 500              // in one transaction: deliveries wait for it
	idle         = 10 * time.Second // the longest the dispatcher trusts what it knows of the table
	breath       = 5 * time.Millisecond
	calm         = 8 * time.Second // without work: then memory is given back
	few          = 4               // looks at a time
	storeFault   = time.Second     // before the table is asked again after a fault of its own
	again        = 2 * time.Second // until a key is looked at of which a lost look is not yet at its end
	late         = 2 * time.Second // how long the end of a lease may take when all else has ended
)

// errLost says that another worker may have the key by now.
var errLost = errors.New("the lease is lost")

// errStopped ends looks that are under way when the daemon stops.
var errStopped = errors.New("the daemon is stopping")

// Run works until ctx ends, and then drains: looks under way are given [Config.Drain] to end, nothing new is begun, and
// what is left over stays in the table. It returns the error of the table if that cannot be used at all.
func (d *Daemon) Run(ctx context.Context) error {
	if err := d.Store.Poke(ctx, store.Poke{Key: workkey.App, Kind: workkey.KindApp, Due: d.Now()}); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	working, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var workers sync.WaitGroup
	free := make(chan struct{}, d.Workers)
	for range d.Workers {
		free <- struct{}{}
	}
	renewing, renewed := context.WithCancel(working)
	var renewer sync.WaitGroup
	renewer.Go(func() { d.renew(renewing) })
	var quiet time.Time // since when nothing was claimed; zero: memory was given back since then
	crowded := false    // there were more than a few looks at a time since then
	for ctx.Err() == nil {
		n := 1
		select {
		case <-ctx.Done():
			continue
		case <-free:
		}
		if len(free) == 0 && d.deep.Load() { // a claim is a commit: where much is due, a few workers share one
			d.gather(ctx)
		}
		for len(free) > 0 {
			<-free
			n++
		}
		works, next := d.claim(ctx, n)
		for range n - len(works) {
			free <- struct{}{}
		}
		for _, w := range works {
			workers.Go(func() {
				defer func() { free <- struct{}{}; d.wake() }()
				d.work(working, w)
			})
		}
		if now := d.Now(); len(works) > 0 {
			quiet, crowded = now, crowded || d.underWay() > few
		} else if !quiet.IsZero() && now.Sub(quiet) > calm && d.underWay() == 0 {
			d.ease(crowded)
			quiet, crowded = time.Time{}, false
		}
		if len(works) < n {
			d.rest(ctx, next)
		}
	}
	d.Stop()
	ended := make(chan struct{})
	go func() { workers.Wait(); close(ended) }()
	timer := time.NewTimer(d.Drain)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		stop(errStopped)
		<-ended
	}
	renewed()
	renewer.Wait()
	return nil
}

// ease gives memory back: what a rush took would be kept for the next one.
func (d *Daemon) ease(crowded bool) {
	times := 1
	if crowded {
		times = 3 // a pool lets go at the second, a stack shrinks by half at each
		if d.Calm != nil {
			d.Calm()
		}
	}
	for range times {
		debug.FreeOSMemory()
	}
}

// gather waits a moment for more workers to be free.
func (d *Daemon) gather(ctx context.Context) {
	ring, stop := d.Alarm(d.Now().Add(breath))
	defer stop()
	select {
	case <-ctx.Done():
	case <-ring:
	}
}

// rest waits until something may have become due.
func (d *Daemon) rest(ctx context.Context, next time.Time) {
	at := d.Now().Add(idle)
	if !next.IsZero() && next.Before(at) {
		at = next
	}
	ring, stop := d.Alarm(at)
	defer stop()
	select {
	case <-ctx.Done():
	case <-d.kick:
	case <-ring:
	}
}

// claim leases up to n keys. If there are fewer it says when there will be more.
func (d *Daemon) claim(ctx context.Context, n int) (works []store.Work, next time.Time) {
	now := d.Now()
	d.steady(ctx, now)
	except, most, until := d.held(now)
	d.mu.Lock()
	room, rushing := d.rush.room(now, d.Workers, d.busy)
	d.mu.Unlock()
	if room <= 0 {
		return nil, now.Add(rushPause)
	}
	if except = append(except, rushing...); room < n || len(rushing) > 0 { // nothing else wakes us when there is more of it
		n, until = min(n, room), now.Add(rushPause)
	}
	works, err := d.Store.Claim(ctx, store.Claim{Now: now, Until: now.Add(d.Lease), Limit: n, Except: except, Most: most, Each: d.PerTenant})
	d.mu.Lock()
	for _, w := range works {
		d.busy[w.Tenant]++
	}
	d.mu.Unlock()
	d.deep.Store(len(works) == n)
	if err == nil && len(works) < n {
		next, err = d.Store.Next(ctx, except)
	}
	if err != nil {
		if ctx.Err() == nil {
			d.Log.Error("the table cannot be read", "err", err)
		}
		return works, now.Add(storeFault)
	}
	if next.IsZero() || !until.IsZero() && until.Before(next) {
		next = until
	}
	if len(works) == 0 && !next.IsZero() && !next.After(now) { // whatever a clock or a budget says: no two vain claims without a pause
		next = now.Add(breath)
	}
	return works, next
}

// underWay is how many looks there are.
func (d *Daemon) underWay() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, busy := range d.busy {
		n += busy
	}
	return n
}

// held are the tenants that get nothing now, with the first moment at which one of them may, and how much others may get.
func (d *Daemon) held(now time.Time) (except []int64, most map[int64]int, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	most = map[int64]int{}
	for id, n := range d.busy {
		most[id] = d.PerTenant - n
	}
	for id, t := range d.tenants {
		at := latest(t.until, t.parked)
		if t.short {
			at = latest(at, d.budget(id, t, now))
			most[id] = min(1, d.PerTenant-d.busy[id])
		}
		if t.denied > 0 { // one is enough to find out whether the key was renewed
			most[id] = 1 - d.busy[id]
		}
		if now.Before(at) {
			most[id] = 0
			if until.IsZero() || at.Before(until) {
				until = at
			}
		}
	}
	for id, n := range most {
		if n <= 0 {
			except = append(except, id)
			delete(most, id)
		}
	}
	return except, most, until
}

// budget is when a tenant that was short of its budget may have one look more; d.mu is held.
func (d *Daemon) budget(id int64, t *tenant, now time.Time) time.Time {
	site, err := d.Host.Enter(id)
	if err != nil { // its next look tells why
		t.short = false
		return now
	}
	if !site.Ready(now, d.PerTenant).After(now) {
		t.short = false
		return now
	}
	return site.Ready(now, d.busy[id]+1)
}

// short reports whether a tenant's budget does not allow what is under way: from then on it gets one look at a time, as the
// budget allows.
func (d *Daemon) short(id int64, site Site) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Now()
	if !site.Ready(now, d.busy[id]).After(now) {
		return false
	}
	d.tenant(id).short = true
	return true
}

// renew prolongs the leases of all looks under way.
func (d *Daemon) renew(ctx context.Context) {
	for {
		ring, stop := d.Alarm(d.Now().Add(d.Lease / 3))
		select {
		case <-ctx.Done():
			stop()
			return
		case <-ring:
			stop()
		}
		d.mu.Lock()
		var leases []store.Lease
		for l := range d.leases {
			leases = append(leases, l)
		}
		d.mu.Unlock()
		if len(leases) == 0 {
			continue
		}
		lost, err := d.Store.Renew(ctx, d.Now().Add(d.Lease), leases...)
		if err != nil && ctx.Err() == nil {
			d.Log.Error("leases cannot be renewed", "err", err)
		}
		d.mu.Lock()
		for _, l := range lost {
			if at, ok := d.leases[l]; ok {
				at.end(errLost)
			}
		}
		d.mu.Unlock()
	}
}

// work takes one key to its end.
func (d *Daemon) work(ctx context.Context, w store.Work) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alone := d.begin(w.Lease, cancel)
	began := d.Now()
	if w.Wake.Equal(w.Due) && !w.Wake.IsZero() {
		d.Metrics.WokeLate(max(began.Sub(w.Due), 0))
	}
	var r result
	if alone {
		r = d.once(ctx, w)
	} else {
		r = deferred(w)
		r.outcome.Wake = began.Add(again)
	}
	if w.Kind == workkey.KindPull && w.Sight == nil && r.outcome.Sight == nil && !r.outcome.Gone {
		r.outcome.Open = true // nobody knows yet what is decided
	}
	d.end(w.Lease) // before the table does: it may be claimed anew at once
	now := d.Now()
	d.Metrics.Looked(r.result, now.Sub(began))
	r.outcome.Now = now
	ours := false
	var err error
	if !errors.Is(context.Cause(ctx), errLost) {
		ending, done := context.WithTimeout(context.WithoutCancel(ctx), late)
		for few := range slices.Chunk(r.pokes, pokesAtOnce) { // before the key ends: what it leads to must not be lost between the two
			if err = d.Store.Poke(ending, few...); err != nil {
				break
			}
		}
		if err == nil {
			ours, err = d.Store.Complete(ending, w.Lease, r.outcome)
		}
		done()
	}
	d.mu.Lock()
	if d.busy[w.Tenant]--; d.busy[w.Tenant] <= 0 {
		delete(d.busy, w.Tenant)
	}
	d.mu.Unlock()
	if !ours { // what was found may not have been kept
		d.forget(keysOf(r.pokes)...)
	}
	if ours && r.outcome.Gone {
		d.forget(w.Key, resynced+w.Key)
	}
	switch {
	case err != nil: // the lease runs out, and the key is due again
		d.Log.Error("the outcome of a look cannot be kept", "key", w.Key, "err", err)
	case ours && r.sight != nil:
		d.told(r)
	}
	d.Feed.Publish(w.Key)
}

// looking is what is done under a lease.
type looking struct {
	began time.Time // when GitHub was first asked about a pull request; zero: it is not
	end   context.CancelCauseFunc
}

// begin notes a lease, and reports whether its key is looked at by nobody else here. A lease can run out under a look whose
// process lives: its clock was set forward, or the machine slept. Such a look ends before the next one begins.
func (d *Daemon) begin(l store.Lease, end context.CancelCauseFunc) (alone bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	alone = true
	for other, at := range d.leases {
		if other.Key == l.Key {
			at.end(errLost)
			alone = false
		}
	}
	d.leases[l] = looking{end: end}
	return alone
}

// end says that nobody looks under a lease any more.
func (d *Daemon) end(l store.Lease) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.leases, l)
}

// reads says that a pull request is being looked at under a lease.
func (d *Daemon) reads(l store.Lease, began time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at, ok := d.leases[l]; ok {
		at.began = began
		d.leases[l] = at
	}
}

// looks returns since when, by our clock, a pull request is being looked at; zero: it is not.
func (d *Daemon) looks(key string) (since time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for l, at := range d.leases {
		if l.Key == key {
			since = at.began
		}
	}
	return since
}

// told is what others are told of a look that was kept. The end of what nobody knew is no news: what has ended is not kept,
// so each later event finds its end anew.
func (d *Daemon) told(r result) {
	was, s := r.was, *r.sight
	changed := was.Head != s.Head || was.Status != s.Status || was.Conclusion != s.Conclusion || was.Says != s.Says
	if changed && (was.Head != "" || s.Verdict != quorum.Ended.String()) {
		if was.Head != s.Head || was.Verdict != s.Verdict {
			d.Metrics.Decided(s.Verdict)
		}
		d.Log.Info("decided", "pr", s.PR, "head", short(s.Head), "verdict", s.Verdict, "check", state(s), "says", s.Says)
	}
	if d.Looked != nil {
		d.Looked(r.pr, s)
	}
}

func short(sha string) string { return sha[:min(len(sha), 7)] }

// state is what the check run shows in one word.
func state(s dashboard.Sight) string {
	if s.Conclusion != "" {
		return s.Conclusion
	}
	return s.Status
}

// A result is what work on a key came to.
type result struct {
	result  string // for the metric
	outcome store.Outcome
	pokes   []store.Poke // what else must be looked at because of it
	pr      quorum.PR
	was     dashboard.Sight  // before
	sight   *dashboard.Sight // of a look that was made
}

// Results of a look, as the metric names them.
const (
	resultOK       = "ok"
	resultSpared   = "spared"
	resultLimited  = "limited"
	resultFailed   = "failed"
	resultGone     = "gone"
	resultPanicked = "panicked"
	resultDeferred = "deferred"
)

// once works on a key, and survives it.
func (d *Daemon) once(ctx context.Context, w store.Work) (r result) {
	defer func() {
		if v := recover(); v != nil {
			d.Log.Error("a look panicked", "key", w.Key, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			r = d.failed(w, errors.New("a mistake of the coordinator's own: its log tells more"))
			r.result = resultPanicked
		}
	}()
	err := error(nil)
	r, err = d.dispatch(ctx, w)
	if err != nil {
		failed := d.after(ctx, w, err)
		failed.outcome.Sight = r.outcome.Sight // of a round that came half way
		return failed
	}
	if r.result != resultSpared && r.result != resultDeferred { // which ask the host nothing
		d.well(w.Tenant)
	}
	return r
}

// dispatch does what the key's kind asks for.
func (d *Daemon) dispatch(ctx context.Context, w store.Work) (result, error) {
	if w.Key == workkey.App {
		return d.lookOver(ctx, w)
	}
	p, ok := workkey.Parse(w.Key)
	if !ok || p.Tenant != w.Tenant {
		d.Log.Error("the table holds a key that means nothing", "key", w.Key)
		return gone(), nil
	}
	touches, filterable := readTouches(w.Touches)
	if filterable && (w.Kind == workkey.KindHead || w.Kind == workkey.KindPull) {
		if r, spared := d.spare(w, p, touches); spared {
			return r, nil
		}
	}
	site, err := d.Host.Enter(w.Tenant)
	if err != nil {
		return result{}, err
	}
	if d.short(w.Tenant, site) {
		return deferred(w), nil
	}
	switch w.Kind {
	case workkey.KindPull:
		return d.look(ctx, w, p, site, touches)
	case workkey.KindHead:
		return d.find(ctx, w, p, site)
	case workkey.KindRepo:
		return d.resync(ctx, w, p, site)
	case workkey.KindTenant:
		return d.list(ctx, w, site)
	}
	d.Log.Error("the table holds a kind of key that means nothing", "key", w.Key, "kind", w.Kind)
	return gone(), nil
}

func gone() result { return result{result: resultGone, outcome: store.Outcome{Gone: true}} }

// deferred puts a key back in its place: its tenant is held.
func deferred(w store.Work) result {
	return result{result: resultDeferred, outcome: store.Outcome{Keep: true, Wake: w.Due}}
}

// spare ends work without a request if nothing that happened concerns a reviewer.
func (d *Daemon) spare(w store.Work, p workkey.Key, touches []quorum.Touch) (result, bool) {
	if len(touches) == 0 || w.Attempts > 0 || !w.Wake.IsZero() && !d.Now().Before(w.Wake) {
		return result{}, false
	}
	known, ok := d.policies.get(workkey.Repo(p.Tenant, p.Owner, p.Repo))
	if !ok {
		return result{}, false
	}
	for _, t := range touches {
		if known.state != quorum.FileMissing && evidence.Concerned(known.policy, t) {
			return result{}, false
		}
	}
	r := result{result: resultSpared, outcome: store.Outcome{Wake: w.Wake}}
	if w.Kind == workkey.KindHead || w.Sight == nil || readSight(w.Sight).Verdict == quorum.Ended.String() { // nothing need be known of it
		r.outcome = store.Outcome{Gone: true}
	}
	return r, true
}

// reviewers are the touches of reviewers' texts, as far as the policy is known: strangers' may be many, and few are kept.
func (d *Daemon) reviewers(p workkey.Key, touches []quorum.Touch) []quorum.Touch {
	known, ok := d.policies.get(workkey.Repo(p.Tenant, p.Owner, p.Repo))
	if !ok || known.state != quorum.FileValid {
		return touches
	}
	return slices.DeleteFunc(slices.Clone(touches), func(t quorum.Touch) bool {
		return t.Author != "" && !slices.ContainsFunc(known.policy.Reviewers, func(r quorum.Reviewer) bool { return strings.EqualFold(r.Author, t.Author) })
	})
}

// look reconciles a pull request.
func (d *Daemon) look(ctx context.Context, w store.Work, p workkey.Key, site Site, touches []quorum.Touch) (result, error) {
	pr := p.PR()
	was := readSight(w.Sight) // it spares requests, no more
	head := was.Head
	var runs []int64
	for _, t := range touches {
		if t.Run != 0 {
			runs = append(runs, t.Run)
		}
		if t.Event == "pull_request" && t.Head != "" {
			head = t.Head // the newest comes last
		}
	}
	if head != "" || len(runs) > 0 {
		site.Expect(pr, head, runs...)
	}
	site.Hear(pr, d.reviewers(p, touches)...)
	var last loop.Look
	began := d.Now()
	d.reads(w.Lease, began)
	r := loop.Reconciler{
		Forge: counted{site, d.Metrics}, Now: d.Now, Told: true, Seen: func(l loop.Look) { last = l },
	}
	wake, err := r.Reconcile(ctx, pr)
	if err != nil {
		return result{}, err
	}
	d.policies.put(workkey.Repo(p.Tenant, p.Owner, p.Repo), last.Snapshot.File, last.Policy, began)
	s := d.sight(last, was)
	text, err := json.Marshal(s)
	if err != nil {
		return result{}, fmt.Errorf("keep sight: %w", err) // unreachable: it holds strings, numbers and times
	}
	if last.Decision.Verdict == quorum.Ended { // closed, or without a policy: a new event brings it back
		// The sight is for a look that was asked for meanwhile, so that it tells of no second end.
		return result{result: resultOK, pr: pr, was: was, sight: s, outcome: store.Outcome{Gone: true, Sight: text}}, nil
	}
	if !wake.IsZero() { // it is by GitHub's clock
		wake = wake.Add(-last.Snapshot.Skew)
	}
	return result{result: resultOK, pr: pr, was: was, sight: s, outcome: store.Outcome{Wake: wake, Sight: text, Open: s.Open()}}, nil
}

// counted counts what becomes of effects.
type counted struct {
	loop.Forge
	metrics *Metrics
}

// Apply carries out effects and counts the reruns among them.
func (c counted) Apply(ctx context.Context, pr quorum.PR, e quorum.Effects) (quorum.Receipt, error) {
	receipt, err := c.Forge.Apply(ctx, pr, e)
	for _, done := range receipt.Done {
		if done.Action.Kind == quorum.Rerun {
			c.metrics.Reran(became(done.State))
		}
	}
	return receipt, err
}

// became is what became of an effect, as the metric names it.
func became(s quorum.ResultState) string {
	switch s {
	case quorum.ResultDone:
		return "done"
	case quorum.ResultVoid:
		return "void"
	case quorum.ResultRefused:
		return "refused"
	case quorum.ResultFailed:
		return "failed"
	}
	return "failed" // unreachable unless a state is new
}

// find looks for the pull requests of a commit, which events of forks, statuses and other Apps' checks do not name.
func (d *Daemon) find(ctx context.Context, w store.Work, p workkey.Key, site Site) (result, error) {
	prs, err := site.PullsOf(ctx, p.Owner, p.Repo, p.Head)
	if err != nil {
		return result{}, err
	}
	r := gone()
	r.result = resultOK
	touches := w.Touches
	if len(touches) == 0 {
		touches = []string{""}
	}
	for _, pr := range prs {
		for _, t := range touches {
			if t == store.Any {
				t = ""
			}
			r.pokes = append(r.pokes, d.pullPoke(p.Tenant, pr, d.Now(), t))
		}
	}
	return r, nil
}

// after says what becomes of a key whose work failed.
func (d *Daemon) after(ctx context.Context, w store.Work, err error) result {
	if ctx.Err() != nil { // we are stopping, or the lease is lost: nobody's fault
		return deferred(w)
	}
	var mistake interface{ Stack() string }
	if errors.As(err, &mistake) {
		d.Log.Error("a look panicked", "key", w.Key, "err", err, "stack", mistake.Stack())
	}
	until, limited := retryAt(err)
	switch {
	case limited:
		d.hold(w.Tenant, latest(until, d.Now().Add(time.Second))) // one that has passed must not make us ask at once
		return result{result: resultLimited, outcome: store.Outcome{Keep: true, Wake: w.Due}}
	case w.Key == workkey.App && !errors.Is(err, ErrUnauthorized): // the host itself is never gone
	case errors.Is(err, ErrNoTenant):
		return d.leave(ctx, w, err)
	case errors.Is(err, ErrSuspended):
		d.park(w.Tenant, d.Now().Add(longDenied)) // its return is announced, and looked for
		d.Log.Warn("an installation is suspended", "tenant", w.Tenant)
		return deferred(w)
	case errors.Is(err, ErrUnauthorized):
		return d.denied(w, err)
	case errors.Is(err, ErrGone):
		d.Log.Info("it is gone", "key", w.Key, "err", err)
		if at, ok := workkey.Parse(w.Key); ok && w.Kind == workkey.KindPull { // if only it seemed so, the next resync's whole list shows it
			d.forget(resynced + workkey.Repo(at.Tenant, at.Owner, at.Repo))
		}
		r := gone()
		r.pokes = d.within(ctx, w)
		return r
	case errors.Is(err, ErrMoved): // the host has answered
		d.well(w.Tenant)
	case temporary(err):
		d.fault(w.Tenant)
	}
	d.Log.Warn("a look failed", "key", w.Key, "attempt", w.Attempts+1, "err", err)
	return d.failed(w, err)
}

// within are the pull requests that are tracked of a repository: with it they may be gone, or have another name.
func (d *Daemon) within(ctx context.Context, w store.Work) (pokes []store.Poke) {
	if w.Kind != workkey.KindRepo {
		return nil
	}
	rows, err := d.Store.List(ctx, store.Query{Tenant: &w.Tenant, Kind: workkey.KindPull, Group: w.Key, Limit: maxTracked, Thin: true})
	if err != nil {
		d.Log.Error("the table cannot be read", "err", err)
	}
	for _, row := range rows {
		if at, ok := workkey.Parse(row.Key); ok {
			pokes = append(pokes, d.pullPoke(w.Tenant, at.PR(), d.Now(), ""))
		}
	}
	return pokes
}

// failed has a key looked at again after a while that doubles with each failure.
func (d *Daemon) failed(w store.Work, err error) result {
	longest := longBackoff
	if errors.Is(err, ErrForbidden) { // people must act first; GitHub bans who goes on asking
		longest = forbidden
	}
	wait := min(shortBackoff<<min(w.Attempts, 10), longest)
	return result{result: resultFailed, outcome: store.Outcome{Failed: err.Error(), Wake: d.Now().Add(wait/2 + d.Jitter(wait/2))}}
}

// leave forgets a tenant that the host does not know any more.
func (d *Daemon) leave(ctx context.Context, w store.Work, err error) result {
	d.Log.Info("an installation is gone, and with it all its work", "tenant", w.Tenant, "err", err)
	if err := d.Store.Drop(ctx, w.Tenant); err != nil {
		d.Log.Error("the work of an installation cannot be dropped", "tenant", w.Tenant, "err", err)
	}
	d.Host.Leave(w.Tenant)
	d.mu.Lock()
	delete(d.tenants, w.Tenant)
	delete(d.pace, w.Tenant)
	own := workkey.Tenant(w.Tenant)
	for key := range d.known { // if it comes back, or was never gone, it is looked over as a new one is
		if bare := strings.TrimPrefix(key, resynced); bare == own || strings.HasPrefix(bare, own+"/") {
			delete(d.known, key)
		}
	}
	d.mu.Unlock()
	return gone()
}

// denied parks a tenant whose credentials the host does not take: asking on would change nothing.
func (d *Daemon) denied(w store.Work, err error) result {
	d.mu.Lock()
	t := d.tenant(w.Tenant)
	first, now := t.denied == 0, d.Now()
	if first || !now.Before(t.until) { // else another look of the same moment has said so
		t.until = now.Add(min(shortDenied<<min(t.denied, 10), longDenied))
		t.denied++
	}
	next := t.until
	d.mu.Unlock()
	if first {
		d.Log.Error("the host does not take our credentials: the App's key, or the token, must be renewed", "tenant", w.Tenant, "next", next, "err", err)
	}
	r := deferred(w)
	r.result = resultFailed
	return r
}

// tenant is what is remembered of one; d.mu is held.
func (d *Daemon) tenant(id int64) *tenant {
	t := d.tenants[id]
	if t == nil {
		t = &tenant{}
		d.tenants[id] = t
	}
	return t
}

// hold keeps a tenant back.
func (d *Daemon) hold(id int64, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tenant(id)
	d.answered(id, t) // a limit is an answer
	if until.After(t.until) {
		t.until = until
	}
}

// answered notes that a tenant's host can be reached; d.mu is held.
func (d *Daemon) answered(id int64, t *tenant) {
	if t.faults >= faultsInARow {
		d.Log.Info("the host can be reached again", "tenant", id)
	}
	t.faults = 0
}

// park keeps a suspended tenant back until it returns, or at most until a time: then it is asked again.
func (d *Daemon) park(id int64, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tenant(id).parked = until
}

// unpark says that a tenant may be back.
func (d *Daemon) unpark(id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.tenants[id]; t != nil {
		t.parked = time.Time{}
	}
}

// fault notes that a tenant's host could not be reached. After some in a row all of the tenant waits a little: during an
// outage each key would find it out for itself.
func (d *Daemon) fault(id int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tenant(id)
	if t.faults++; t.faults < faultsInARow {
		return
	}
	if t.faults == faultsInARow {
		d.Log.Warn("the host cannot be reached: its pull requests are looked at as soon as it can", "tenant", id)
	}
	rest := min(restFault<<min(t.faults-faultsInARow, 10), longRest)
	if until := d.Now().Add(rest/2 + d.Jitter(rest/2)); until.After(t.until) {
		t.until = until
	}
}

// well forgets what was wrong with a tenant, but not until when it is held.
func (d *Daemon) well(id int64) {
	d.mu.Lock()
	renewed := false
	if t := d.tenants[id]; t != nil {
		renewed = t.denied > 0
		d.answered(id, t)
		t.denied = 0
		if now := d.Now(); !t.short && !now.Before(t.until) && !now.Before(t.parked) {
			delete(d.tenants, id)
		}
	}
	d.mu.Unlock()
	if renewed {
		d.Log.Info("the host takes our credentials again", "tenant", id)
	}
}
