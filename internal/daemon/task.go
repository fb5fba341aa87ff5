package daemon

// The tasks that ask GitHub. At a pull request: what events have shown is told to the forge, the loop observes, decides and writes,
// and the task returns what the table keeps of it, and the keys that must be looked at because of it.

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
	"github.com/review-coordinator/coordinator/internal/github/client"
	"github.com/review-coordinator/coordinator/internal/loop"
	"github.com/review-coordinator/coordinator/internal/oplog"
	"github.com/review-coordinator/coordinator/internal/quorum"
	"github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/store"
	"github.com/review-coordinator/coordinator/internal/workkey"
)

// A task is a key that is worked on, what its events say, and its installation's side of GitHub.
type task struct {
	d *Daemon
	store.Work
	at      workkey.Key
	touches []quorum.Touch
	forge   TenantForge
	spacing time.Duration // how far apart the looks at its pull request are
	spent   spentHour     // in which it is looked at
}

// askGitHub asks GitHub about a key as its kind asks.
func (t task) askGitHub(ctx context.Context) (workResult, error) {
	switch t.Kind {
	case workkey.KindPull:
		return t.countUse(ctx, t.reconcilePull)
	case workkey.KindHead:
		return t.countUse(ctx, t.findPulls)
	case workkey.KindGroup:
		return t.reconcileGroup(ctx)
	case workkey.KindRepo:
		return t.resyncRepository(ctx)
	case workkey.KindTenant:
		return t.resyncInstallation(ctx)
	}
	t.d.Log.Error("our database holds a kind of key that means nothing", oplog.Subject(t.Key), "kind", t.Kind)
	return goneResult(), nil
}

// countUse counts the requests of a look as the part of the hour that its pull request, or its commit, has used.
func (t task) countUse(ctx context.Context, look func(context.Context) (workResult, error)) (workResult, error) {
	var used client.Meter
	defer func() { t.d.tenants.noteUse(t.Work, used.Requests(), t.forge.Hour(), t.spent) }()
	return look(client.WithMeter(ctx, &used))
}

// findPulls looks for the pull requests of a commit, which events of forks, statuses and other Apps' checks do not
// name.
func (t task) findPulls(ctx context.Context) (workResult, error) {
	prs, err := t.forge.PullsOf(ctx, t.at.Owner, t.at.Repo, t.at.Head)
	if err != nil {
		return workResult{}, err
	}
	r := goneResult()
	r.label = resultOK
	touches := t.Touches
	if len(touches) == 0 {
		touches = []string{""}
	}
	for _, pr := range prs {
		for _, touch := range touches {
			if touch == store.Any {
				touch = ""
			}
			r.pokes = append(r.pokes, pullPoke(t.Tenant, pr, t.d.Now(), touch))
		}
	}
	return r, nil
}

// threadPause is when a look that followed an event of a thread is made again: GraphQL alone shows threads, and may be late.
const threadPause = 10 * time.Second

// mayBeOfThread reports whether a touch is the event of a thread, or any.
func mayBeOfThread(t quorum.Touch) bool {
	return t.Event == "pull_request_review_thread" || t == quorum.Touch{}
}

// reconcilePull looks at a pull request.
func (t task) reconcilePull(ctx context.Context) (workResult, error) {
	d := t.d
	if slices.Contains(t.Touches, store.Any) {
		t.touches = append(t.touches, quorum.Touch{})
	}
	was := readSight(t.Sight) // it spares requests, no more
	t.tellEvents(was.Head)
	began := d.Now()
	d.work.markObserving(t.Lease, began)
	l, wake, pokes, err := t.runLoop(ctx)
	if err != nil {
		return workResult{pokes: pokes}, err
	}
	d.tenants.putPolicy(t.at, l.Snapshot.File, l.Policy, began)
	s := newSight(d.Places.Web, l, was)
	d.logWarnings(t.Tenant, l, was, s)
	isNewLayer := d.tenants.noteDependence(t.Work, l)
	r := workResult{
		label: resultOK, pr: t.at.PR(), sightBefore: was, sight: s, pokes: append(pokes, pokesOfLook(ctx, d, t.at, l, was, s)...),
	}
	text := sightText(s)
	if l.Decision.Verdict == quorum.Ended { // closed, or without a policy: a new event brings it back
		// The sight is for a look that was asked for meanwhile, so that it tells of no second end.
		r.outcome = store.Completion{Gone: true, Sight: text}
		return r, nil
	}
	if isNewLayer || slices.ContainsFunc(t.touches, mayBeOfThread) { // a poke of a key that is leased would be due at once
		wake = earlierDue(wake, d.Now().Add(threadPause))
	}
	r.outcome = store.Completion{Wake: wake, Sight: text, Open: s.Open()}
	return r, nil
}

// tellEvents tells the forge what events have shown: it spares requests and decides nothing. head is the last that is known.
func (t task) tellEvents(head string) {
	var runs []int64
	for _, touch := range t.touches {
		if touch.Run != 0 {
			runs = append(runs, touch.Run)
		}
		if touch.Event == "pull_request" || touch.Event == "" {
			head = cmp.Or(touch.Head, head) // the newest touch comes last
		}
	}
	if head != "" || len(runs) > 0 {
		t.forge.Expect(t.at.PR(), head, runs...)
	}
	isNoVote := func(touch quorum.Touch) bool { return touch.Event != "pull_request_review" || touch.Remark }
	votes := slices.DeleteFunc(slices.Clone(t.touches), isNoVote) // first, for the last are kept where there are too many
	t.forge.Hear(t.at.PR(), append(votes, t.d.tenants.reviewersTouches(t.at, t.touches)...)...)
}

// runLoop has the loop observe a pull request, decide and write, and returns its look, when it wakes by our clock, and pokes of
// those that reviewers' circuits held.
func (t task) runLoop(ctx context.Context) (l loop.Look, wake time.Time, pokes []store.Poke, err error) {
	d := t.d
	var held []int
	r := loop.Reconciler{
		Forge: countingForge{t.forge, d.Metrics}, Now: d.Now, Told: true, Seen: func(seen loop.Look) { l = seen },
		Hear: d.hearIn(t.at), Places: d.Places, Spacing: t.spacing,
		Note: d.watchCircuits(t.at, func(n int) { held = append(held, n) }).Note,
	}
	if wake, err = r.Reconcile(ctx, t.at.PR()); !wake.IsZero() {
		wake = wake.Add(-l.Snapshot.Skew)
	}
	slices.Sort(held)
	return l, wake, d.siblingPokes(t.at, t.at.PR(), slices.Compact(held)), err
}

// pokesOfLook returns pokes of what hangs on the check of a pull request, which a look has shown other than it was.
func pokesOfLook(
	ctx context.Context, d *Daemon, p workkey.Key, l loop.Look, was dashboard.Sight, s *dashboard.Sight,
) (pokes []store.Poke) {
	pr, changed := p.PR(), checkState(was) != checkState(*s)
	if changed || was.Head != s.Head {
		pokes = d.siblingPokes(p, pr, d.tenants.dependents(p, l.Snapshot.PR))
	}
	if l.Decision.Verdict == quorum.Ended {
		return append(pokes, d.siblingPokes(p, pr, d.staleSiblings(ctx, p, s))...)
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
// look that wrote it was none of theirs, and what is decided is looked at no more. Of one that has ended all are.
func (d *Daemon) staleSiblings(ctx context.Context, p workkey.Key, s *dashboard.Sight) (numbers []int) {
	pr := p.PR()
	for _, n := range s.Siblings {
		pr.Number = n
		row, err := d.Store.Get(ctx, workkey.Pull(p.Tenant, pr))
		if errors.Is(err, store.ErrNoRow) { // nothing is shown of it: two that are closed would poke each other without end
			continue
		}
		isOver, o := s.Verdict == quorum.Ended.String(), readSight(row.Sight)
		if isOver || o.Head == s.Head && o.Check == s.Check && checkState(o) != checkState(*s) {
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
	known := map[quorum.ResultState]string{quorum.ResultDone: "done", quorum.ResultVoid: "void", quorum.ResultRefused: "refused"}
	return cmp.Or(known[s], "failed")
}
