package daemon

// The workers. Each takes one key to its end: a look, or a reason why there is none yet. Nothing is tried again within
// a look beyond what the host's own client does.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/evidence"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

const (
	lostLookPause   = 2 * time.Second // until a key is looked at of which a lost look is not yet at its end
	completeTimeout = 2 * time.Second // how long the end of a lease may take when all else has ended
)

// workOn works on one key, whose lease runs out at a moment unless it is renewed, and keeps the outcome.
func (d *Daemon) workOn(ctx context.Context, w store.Work, until time.Time) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alone := d.leases.begin(w.Lease, until.Add(-d.Lease), until, cancel)
	ctx = client.WithPermit(ctx, d.leases.permitOf(w.Lease, d.Now, d.Lease/4))
	began := d.Now()
	var r workResult
	if alone {
		r = d.workRecovered(ctx, w)
	} else {
		r = deferredResult(w)
		r.outcome.Wake = began.Add(lostLookPause)
	}
	if w.Kind == workkey.KindPull && w.Sight == nil && r.outcome.Sight == nil && !r.outcome.Gone {
		r.outcome.Open = true // it is not known yet whether it is decided
	}
	d.leases.end(w.Lease) // before the table does: it may be claimed anew at once
	now := d.Now()
	d.Metrics.Looked(w.Kind, r.label, now.Sub(began))
	if isDecided := w.Kind == workkey.KindPull || w.Kind == workkey.KindGroup; isDecided && r.label == resultOK && w.IsAwake(began) {
		d.Metrics.WokeLate(began.Sub(w.Wake))
	}
	r.outcome.Now = now
	ours := false
	var err error
	if !errors.Is(context.Cause(ctx), errLost) {
		ours, err = keepResult(context.WithoutCancel(ctx), d.Store, w.Lease, r)
	}
	if !ours { // the pokes may not have been kept
		d.poked.removePoked(r.pokes)
	}
	if ours && r.outcome.Gone {
		d.poked.remove(w.Key, resyncedPrefix+w.Key)
	}
	switch {
	case err != nil: // the lease runs out, and the key is due again
		d.Log.Error("what an evaluation came to cannot be kept: it is made again", oplog.Subject(w.Key), "err", err)
	case ours && r.sight != nil:
		d.announce(w, r)
	}
	d.underWay.remove(w)
	d.Feed.Publish(w.Key)
}

// UnderWay returns how many keys are worked on. One whose outcome is kept counts until it is announced.
func UnderWay(d *Daemon) int { return d.underWay.total() }

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
	was, s := r.sightBefore, *r.sight
	changed := was.Head != s.Head || was.Status != s.Status || was.Conclusion != s.Conclusion || was.Says != s.Says
	if changed && (was.Head != "" || s.Verdict != quorum.Ended.String()) {
		if was.Head != s.Head || was.Verdict != s.Verdict {
			d.Metrics.Decided(s.Verdict)
		}
		d.Log.Info("decided", oplog.Subject(w.Key), "head", s.Head,
			"verdict", s.Verdict, "check_run", checkState(s), "title", s.Says)
	}
	if d.Looked != nil {
		d.Looked(r.pr, s)
	}
}

// checkState returns the state of the check run in one word.
func checkState(s dashboard.Sight) string {
	if s.Conclusion != "" {
		return s.Conclusion
	}
	return s.Status
}

// workRecovered works on a key; a panic becomes a failure of the key.
func (d *Daemon) workRecovered(ctx context.Context, w store.Work) (r workResult) {
	defer func() {
		if v := recover(); v != nil {
			d.Log.Error("a mistake of the coordinator's own: please report it", oplog.Subject(w.Key),
				"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			r = d.retryLater(w, errors.New("a mistake of the coordinator's own: its log tells more"))
			d.Metrics.countFailure(classOther)
			r.label = resultPanicked
		}
	}()
	err := error(nil)
	r, err = d.workByKind(ctx, w)
	if err != nil {
		failed := d.outcomeOfError(ctx, w, err)
		failed.outcome.Sight = r.outcome.Sight // of a round that came half way
		failed.pokes = append(failed.pokes, r.pokes...)
		return failed
	}
	if r.label != resultSpared && r.label != resultDeferred { // these ask GitHub nothing
		d.health.markHealthy(w.Tenant)
	}
	return r
}

// enterTenant returns a tenant's forge, which knows what the table knows.
func enterTenant(ctx context.Context, d *Daemon, tenant int64) (TenantForge, error) {
	forge, err := d.Host.Enter(tenant)
	if err != nil {
		return nil, err
	}
	return forge, d.orgs.tellForge(ctx, d.Store, tenant, forge)
}

// workByKind works on a key as its kind asks.
func (d *Daemon) workByKind(ctx context.Context, w store.Work) (workResult, error) {
	if w.Key == workkey.App {
		return d.resync.resyncHost(ctx, w)
	}
	p, ok := workkey.Parse(w.Key)
	if !ok || p.Tenant != w.Tenant {
		d.Log.Error("our database holds a key that means nothing", oplog.Subject(w.Key))
		return goneResult(), nil
	}
	touches, filterable := readTouches(w.Touches)
	if filterable && (w.Kind == workkey.KindHead || w.Kind == workkey.KindPull) {
		if r, spared := d.spareLook(w, p, touches); spared {
			return r, nil
		}
	}
	forge, err := enterTenant(ctx, d, w.Tenant)
	if err != nil {
		return workResult{}, err
	}
	isUrgent := mayEndGreen(w, p, d.policies, touches)
	if !isUrgent && forge.Ready(d.underWay.ofTenant(w.Tenant), client.Live).After(d.Now()) {
		isUrgent = isOnGreenHead(ctx, d.Store, w, p, touches)
	}
	until, spacing := d.waitsForGitHub(ctx, w, forge, isUrgent)
	if !until.IsZero() {
		return heldResult(w, until), nil
	}
	if w.Kind == workkey.KindPull || w.Kind == workkey.KindHead {
		var used client.Meter
		ctx = client.WithMeter(ctx, &used)
		spent := d.health.spentHourOf(w.Tenant)
		defer func() { d.shares.noteUse(w.Key, used.Requests(), forge.Hour(), spent, d.Now()) }()
	}
	switch w.Kind {
	case workkey.KindPull:
		if slices.Contains(w.Touches, store.Any) {
			touches = append(touches, quorum.Touch{})
		}
		return d.reconcilePull(ctx, w, p, forge, touches, spacing)
	case workkey.KindGroup:
		return d.reconcileGroup(ctx, w, p, forge)
	case workkey.KindHead:
		return d.findPulls(ctx, w, p, forge)
	case workkey.KindRepo:
		return d.resync.resyncRepository(ctx, w, p, forge)
	case workkey.KindTenant:
		return d.resync.resyncInstallation(ctx, w, forge)
	}
	d.Log.Error("our database holds a kind of key that means nothing", oplog.Subject(w.Key), "kind", w.Kind)
	return goneResult(), nil
}

// waitsForGitHub returns until when a key waits for what GitHub allows; zero: it does not. A key whose whole tenant waits
// keeps its place in the queue. spacing is how far apart looks at a pull request or a commit are, because of what it has used.
func (d *Daemon) waitsForGitHub(
	ctx context.Context, w store.Work, forge TenantForge, isUrgent bool,
) (until time.Time, spacing time.Duration) {
	if d.health.noteShortBudget(w.Tenant, d.underWay.ofTenant(w.Tenant), forge) ||
		w.Backlog && d.health.noteShortBacklog(ctx, w.Tenant, d.underWay.ofTenantsBacklog(w.Tenant), forge) {
		return w.Due, 0
	}
	spent, end := d.health.noteSpentHour(w, isUrgent, d.underWay.ofTenant(w.Tenant), forge)
	if !end.IsZero() {
		return end, 0
	}
	if w.Kind == workkey.KindPull || w.Kind == workkey.KindHead {
		until, spacing = d.shares.next(w.Key, isUrgent)
		if until = laterTime(until, d.shares.nextInSpentHour(w.Key, spent)); until.After(d.Now()) {
			return until, 0
		}
	}
	return time.Time{}, spacing
}

// threadPause is when a look that followed an event of a thread is made again: GraphQL alone shows threads, and may be late.
const threadPause = 10 * time.Second

// mayBeOfThread reports whether a touch is the event of a thread, or any.
func mayBeOfThread(t quorum.Touch) bool {
	return t.Event == "pull_request_review_thread" || t == quorum.Touch{}
}

// isOnGreenHead reports whether a pull request got a head, as touches tell, on which another one of the repository has a green
// check: it is this one's too, and may have to go.
func isOnGreenHead(ctx context.Context, table store.Store, w store.Work, p workkey.Key, touches []quorum.Touch) bool {
	const most = 1000 // rows: of more it is not known
	heads := map[string]bool{}
	for _, t := range touches {
		if isNewHead(t) && t.Head != "" {
			heads[t.Head] = true
		}
	}
	if w.Kind != workkey.KindPull || len(heads) == 0 {
		return false
	}
	repo := workkey.Repo(p.Tenant, p.Owner, p.Repo)
	rows, err := table.List(ctx, store.Query{Tenant: &p.Tenant, Kind: workkey.KindPull, Group: repo, Limit: most})
	return err != nil || len(rows) == most || slices.ContainsFunc(rows, func(r store.Row) bool {
		s := readSight(r.Sight)
		return heads[s.Head] && s.Conclusion == "success"
	})
}

// isNewHead reports whether a pull request came with a head, or got one.
func isNewHead(t quorum.Touch) bool {
	return t.Event == "pull_request" && slices.Contains([]string{"opened", "reopened", "synchronize"}, t.Action)
}

// What only shows waits for the next look, but no longer than this.
const (
	progressPause = 2 * time.Minute  // after the last look: that a run has begun
	approvalPause = 30 * time.Second // after its words: an approval whose run goes on
)

// spareLook ends work without a request if no touch concerns a reviewer. Where all that concerns one only shows, a check
// that waits does so until its next look. What was touched is kept for that look.
func (d *Daemon) spareLook(w store.Work, p workkey.Key, touches []quorum.Touch) (workResult, bool) {
	if len(touches) == 0 || w.Attempts > 0 || w.IsAwake(d.Now()) {
		return workResult{}, false
	}
	known, ok := d.policies.get(workkey.Repo(p.Tenant, p.Owner, p.Repo))
	if !ok {
		return workResult{}, false
	}
	s := readSight(w.Sight)
	wake, isPutOff := w.Wake, false
	for _, t := range touches {
		if known.state == quorum.FileMissing || !evidence.Concerned(*known.policy, t) {
			continue
		}
		until := showsUntil(known.policy, &s, t, touches)
		if !until.After(d.Now()) {
			return workResult{}, false
		}
		if isPutOff = true; wake.IsZero() || until.Before(wake) {
			wake = until
		}
	}
	if isPutOff {
		return workResult{label: resultSpared, outcome: store.Completion{Keep: true, Wake: wake}}, true
	}
	r := workResult{label: resultSpared, outcome: store.Completion{Wake: w.Wake}}
	if w.Kind == workkey.KindHead || w.Sight == nil || s.Verdict == quorum.Ended.String() { // it needs no row
		r.outcome = store.Completion{Gone: true}
	}
	return r, true
}

// showsUntil returns until when an event may wait for another look, for it decides nothing: a check waits, and runs of its
// head go on, whose end is told; zero if it may decide.
func showsUntil(p *quorum.Policy, s *dashboard.Sight, t quorum.Touch, beside []quorum.Touch) time.Time {
	switch {
	case s.Verdict != quorum.Waiting.String():
	case evidence.TellsProgress(t) && t.Head == s.Head:
		return s.At.Add(progressPause)
	case t.Approver != "" && isUnderWay(p, s, t.Approver, beside):
		return time.Unix(t.At, 0).Add(approvalPause)
	}
	return time.Time{}
}

// isUnderWay reports whether a reviewer's run goes on, as the last look or events since have shown.
func isUnderWay(p *quorum.Policy, s *dashboard.Sight, reviewer string, since []quorum.Touch) bool {
	for _, line := range s.Lanes {
		if n := len(line.Attempts); line.Name == reviewer && n > 0 && line.Attempts[n-1].Run != 0 && line.Attempts[n-1].End.IsZero() {
			return true
		}
	}
	return slices.ContainsFunc(since, func(t quorum.Touch) bool {
		return evidence.TellsProgress(t) && t.Head == s.Head && evidence.RunsAs(p, reviewer, t)
	})
}

// mayEndGreen reports whether work may take a green check away: an event came for a pull request that is green, or of which
// nothing is known, or for a commit, which may be such a one's; or it is on a merge group, whose queue waits. What strangers
// say, but for a person's review where those are heard, what approves as far as its words tell, and a new head, on which nothing
// is green, take nothing away; what no event asks for waits for nobody.
func mayEndGreen(w store.Work, p workkey.Key, policies *policyCache, touches []quorum.Touch) bool {
	if w.Kind != workkey.KindPull {
		return w.Kind == workkey.KindHead || w.Kind == workkey.KindGroup
	}
	mayBeGreen := len(w.Sight) == 0 || readSight(w.Sight).Conclusion == "success"
	if w.Backlog || !mayBeGreen {
		return false
	}
	mayObject := func(t quorum.Touch) bool { return t.Event != "" && t.Approver == "" && !isNewHead(t) }
	if slices.Contains(w.Touches, store.Any) || slices.ContainsFunc(policies.reviewersTouches(p, touches), mayObject) {
		return true
	}
	known, ok := policies.get(workkey.Repo(p.Tenant, p.Owner, p.Repo))
	hearsPeople := ok && (known.policy.HearsPeople() || len(known.policy.Lanes) > 0) // a lane may, and the policy may be that of another
	isReview := func(t quorum.Touch) bool { return t.Event == "pull_request_review" }
	return hearsPeople && slices.ContainsFunc(touches, isReview)
}

// reconcilePull reconciles a pull request whose looks are so far apart.
func (d *Daemon) reconcilePull(
	ctx context.Context, w store.Work, p workkey.Key, forge TenantForge, touches []quorum.Touch, spacing time.Duration,
) (workResult, error) {
	pr := p.PR()
	was := readSight(w.Sight) // it spares requests, no more
	head := was.Head
	var runs []int64
	for _, t := range touches {
		if t.Run != 0 {
			runs = append(runs, t.Run)
		}
		if (t.Event == "pull_request" || t.Event == "") && t.Head != "" {
			head = t.Head // the newest touch comes last
		}
	}
	if head != "" || len(runs) > 0 {
		forge.Expect(pr, head, runs...)
	}
	forge.Hear(pr, d.policies.reviewersTouches(p, touches)...)
	var last loop.Look
	began := d.Now()
	d.leases.markObserving(w.Lease, began)
	r := loop.Reconciler{
		Forge: countingForge{forge, d.Metrics}, Now: d.Now, Told: true, Seen: func(l loop.Look) { last = l },
		Hear: d.hearIn(p), Places: d.Places, Spacing: spacing,
	}
	var held []int // their circuits have changed
	r.Note = d.watchCircuits(p, func(n int) { held = append(held, n) }).Note
	wake, err := r.Reconcile(ctx, pr)
	slices.Sort(held)
	pokes := d.siblingPokes(p, pr, slices.Compact(held))
	if err != nil {
		return workResult{pokes: pokes}, err
	}
	d.policies.put(workkey.Repo(p.Tenant, p.Owner, p.Repo), last.Snapshot.File, last.Policy, began)
	s := newSight(d.Places.Web, last, was)
	d.logWarnings(w.Tenant, last, was, s)
	text, err := json.Marshal(s)
	if err != nil {
		return workResult{}, fmt.Errorf("keep sight: %w", err) // unreachable: it holds strings, numbers and times
	}
	isNewLayer := d.depends.note(w.Key, p, last)
	pokes = append(pokes, pokesOfLook(ctx, d, p, last, was, s)...)
	if last.Decision.Verdict == quorum.Ended { // closed, or without a policy: a new event brings it back
		// The sight is for a look that was asked for meanwhile, so that it tells of no second end.
		return workResult{
			label: resultOK, pr: pr, sightBefore: was, sight: s, pokes: pokes, outcome: store.Completion{Gone: true, Sight: text},
		}, nil
	}
	if !wake.IsZero() { // it is by GitHub's clock
		wake = wake.Add(-last.Snapshot.Skew)
	}
	isAgain := isNewLayer || slices.ContainsFunc(touches, mayBeOfThread)
	if again := d.Now().Add(threadPause); isAgain && (wake.IsZero() || again.Before(wake)) {
		wake = again // a poke of a key that is leased would be due at once
	}
	outcome := store.Completion{Wake: wake, Sight: text, Open: s.Open()}
	return workResult{label: resultOK, pr: pr, sightBefore: was, sight: s, pokes: pokes, outcome: outcome}, nil
}

// pokesOfLook returns pokes of what hangs on the check of a pull request, which a look has shown other than it was.
func pokesOfLook(
	ctx context.Context, d *Daemon, p workkey.Key, l loop.Look, was dashboard.Sight, s *dashboard.Sight,
) (pokes []store.Poke) {
	pr, changed := p.PR(), checkState(was) != checkState(*s)
	if changed || was.Head != s.Head {
		pokes = d.siblingPokes(p, pr, d.depends.dependents(p, l.Snapshot.PR))
	}
	if l.Decision.Verdict == quorum.Ended {
		return append(pokes, d.siblingPokes(p, pr, s.Siblings)...)
	}
	if was.Head != s.Head || was.Base != s.Base { // those that it shared a check with have it without this one
		pokes = append(pokes, d.siblingPokes(p, pr, was.Siblings)...)
	}
	if was.Verdict != s.Verdict || changed {
		pokes = append(pokes, d.groupPokes(ctx, p)...)
	}
	if changed {
		pokes = append(pokes, d.siblingPokes(p, pr, d.staleSiblings(ctx, p, s))...)
	}
	return pokes
}

// staleSiblings are the pull requests that share the check of s and of which the table shows another state of it: the
// look that wrote it was none of theirs, and what is decided is looked at no more.
func (d *Daemon) staleSiblings(ctx context.Context, p workkey.Key, s *dashboard.Sight) (numbers []int) {
	pr := p.PR()
	for _, n := range s.Siblings {
		pr.Number = n
		row, err := d.Store.Get(ctx, workkey.Pull(p.Tenant, pr))
		if err != nil { // nothing is shown of it
			continue
		}
		if o := readSight(row.Sight); o.Head == s.Head && o.Check == s.Check && checkState(o) != checkState(*s) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// siblingPokes returns pokes of pull requests of the same repository as pr.
func (d *Daemon) siblingPokes(p workkey.Key, pr quorum.PR, numbers []int) (pokes []store.Poke) {
	for _, n := range numbers {
		pr.Number = n
		pokes = append(pokes, pullPoke(p.Tenant, pr, d.Now(), ""))
	}
	return pokes
}

// logWarnings warns of reviewers that are run again or given up, once each on a head: was is what the look before saw,
// and now notes of what was warned.
func (d *Daemon) logWarnings(installation int64, l loop.Look, was dashboard.Sight, now *dashboard.Sight) {
	before := map[string]string{}
	for _, lane := range was.Lanes {
		if was.Head == now.Head {
			before[lane.Name] = lane.Warned
		}
	}
	for _, w := range report.Warnings(l.Decision) {
		if before[w.Reviewer] != w.Kind {
			d.Log.Warn("a reviewer is run again, or skipped", oplog.Installation(installation), oplog.PullRequest(l.Snapshot.PR.PR),
				"head", now.Head, "reviewer", w.Reviewer, "because", w.Text)
		}
		before[w.Reviewer] = w.Kind
	}
	for i := range now.Lanes {
		now.Lanes[i].Warned = before[now.Lanes[i].Name]
	}
}

// countingForge counts what becomes of effects.
type countingForge struct {
	loop.Forge
	metrics *Metrics
}

// Apply carries out effects and counts the reruns among them.
func (c countingForge) Apply(ctx context.Context, pr quorum.PR, e quorum.Effects) (quorum.Receipt, error) {
	receipt, err := c.Forge.Apply(ctx, pr, e)
	for _, done := range receipt.Done {
		if done.Action.Kind == quorum.Rerun {
			c.metrics.Reran(rerunLabel(done.State))
		}
	}
	return receipt, err
}

// rerunLabel returns the result of an effect as the metric names it.
func rerunLabel(s quorum.ResultState) string {
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

// findPulls looks for the pull requests of a commit, which events of forks, statuses and other Apps' checks do not
// name.
func (d *Daemon) findPulls(ctx context.Context, w store.Work, p workkey.Key, forge TenantForge) (workResult, error) {
	prs, err := forge.PullsOf(ctx, p.Owner, p.Repo, p.Head)
	if err != nil {
		return workResult{}, err
	}
	r := goneResult()
	r.label = resultOK
	touches := w.Touches
	if len(touches) == 0 {
		touches = []string{""}
	}
	for _, pr := range prs {
		for _, t := range touches {
			if t == store.Any {
				t = ""
			}
			r.pokes = append(r.pokes, pullPoke(p.Tenant, pr, d.Now(), t))
		}
	}
	return r, nil
}
