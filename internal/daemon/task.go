package daemon

// The tasks that ask GitHub. At a pull request: what events have shown is told to the forge, the loop observes, decides and writes,
// and the task returns what the table keeps of it, and the keys that must be looked at because of it.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/review-coordinator/coordinator/internal/dashboard"
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
	was     dashboard.Sight // of a pull request, as the table keeps it: it spares requests, no more
	known   knownPolicy     // of its repository
	forge   TenantForge
	spacing time.Duration // how far apart the looks at its pull request are
}

// askGitHub asks GitHub about a key as its kind asks.
func (t task) askGitHub(ctx context.Context) (workResult, error) {
	switch t.Kind {
	case workkey.KindPull:
		return t.reconcilePull(ctx)
	case workkey.KindHead:
		return t.findPulls(ctx)
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
	t.tellEvents()
	began := d.Now()
	d.work.markObserving(t.Lease, began)
	l, wake, pokes, err := t.runLoop(ctx)
	if err != nil {
		return workResult{pokes: pokes}, err
	}
	d.tenants.putPolicy(t.at, l.Snapshot.File, l.Policy, began)
	s := newSight(d.Places.Web, l, t.was)
	d.logWarnings(t.Tenant, l, t.was, s)
	more, err := t.pokesOfLook(ctx, l, s)
	pokes = append(pokes, more...)
	if err != nil {
		return workResult{pokes: pokes}, err
	}
	r := workResult{label: resultOK, sight: s, pokes: pokes}
	text := sightText(s)
	if l.Decision.Verdict == quorum.Ended { // closed, or without a policy: a new event brings it back
		// The sight is for a look that was asked for meanwhile, so that it tells of no second end.
		r.outcome = store.Completion{Gone: true, Sight: text}
		return r, nil
	}
	isNew := func(number int) bool { return !slices.Contains(t.was.Alike, number) }
	isNewLayer := s.Trunk != "" && (t.was.Trunk == "" || t.was.Base != s.Base) // while it was looked at, nobody told of the one below
	if isNewLayer || slices.ContainsFunc(s.Alike, isNew) || slices.ContainsFunc(t.touches, mayBeOfThread) {
		// a poke of a key that is leased would be due at once
		wake = earlierDue(wake, d.Now().Add(threadPause))
	}
	r.outcome = store.Completion{Wake: wake, Sight: text, Open: s.Open()}
	return r, nil
}

// tellEvents tells the forge what events have shown: it spares requests and decides nothing.
func (t task) tellEvents() {
	head, runs := t.was.Head, []int64(nil) // the last head that is known
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
	t.forge.Hear(t.at.PR(), t.known.reviewersTouches(t.touches)...)
}

// runLoop has the loop observe a pull request, decide and write, and returns its look, when it wakes by our clock, and pokes of
// those that reviewers' circuits held.
func (t task) runLoop(ctx context.Context) (l loop.Look, wake time.Time, pokes []store.Poke, err error) {
	d := t.d
	changed := func(held quorum.PR) { pokes = append(pokes, pullPoke(t.Tenant, held, d.Now(), "")) }
	r := loop.Reconciler{
		Forge: countingForge{t.forge, d.Metrics}, Now: d.Now, Told: true, Seen: func(seen loop.Look) { l = seen },
		Hear: d.hearIn(t.at), Places: d.Places, Spacing: t.spacing,
		Note: d.watchCircuits(t.at, changed).Note,
	}
	if wake, err = r.Reconcile(ctx, t.at.PR()); !wake.IsZero() {
		wake = wake.Add(-l.Snapshot.Skew)
	}
	return l, wake, pokes, err
}

// pokesOfLook returns pokes of those whose checks hang on that of a pull request, which a look has shown other than it was: pull
// requests, as the table's rows tell, and merge groups. One that has no row is closed: two of these would poke each other without end.
func (t task) pokesOfLook(ctx context.Context, l loop.Look, s *dashboard.Sight) (pokes []store.Poke, err error) {
	isOver, isMoved := l.Decision.Verdict == quorum.Ended, t.was.Head != s.Head || t.was.Base != s.Base
	isDecided := t.was.Verdict != s.Verdict || checkState(t.was) != checkState(*s)
	if !isOver && !isMoved && !isDecided {
		return nil, nil
	}
	q := store.Query{Kind: workkey.KindPull, Limit: maxPullsPerRepo, Holds: []string{`"trunk":"`, `"same_diff":[`}}
	for _, number := range slices.Concat(t.was.Siblings, s.Siblings) { // whatever their rows say, which looks under way write anew
		q.Keys = append(q.Keys, workkey.Pull(t.Tenant, quorum.PR{Owner: t.at.Owner, Repo: t.at.Repo, Number: number}))
	}
	rows, err := t.rowsBeside(ctx, q)
	for _, row := range rows {
		if t.isFollowed(row, l, s) {
			pokes = append(pokes, pullPoke(t.Tenant, row.at.PR(), t.d.Now(), ""))
		}
	}
	if err != nil || isOver || !isDecided {
		return pokes, err
	}
	groups, err := t.rowsBeside(ctx, store.Query{Kind: workkey.KindGroup, Limit: maxGroupsPerRepo})
	for _, row := range groups {
		var is groupSight
		if json.Unmarshal(row.Sight, &is) != nil || slices.Contains(is.Pulls, t.at.Number) {
			pokes = append(pokes, knownGroupPoke(row.Key, t.d.Now(), ""))
		}
	}
	return pokes, err
}

// isFollowed reports whether a row is of a pull request whose check hangs on what a look has shown: a layer of a stack upon its branch,
// or one with its diff, for what is objected to one counts for all; one that shared the check that it had before; or one that shares
// its check and shows another state of it, for the look that wrote it was none of its own.
func (t task) isFollowed(row keyedRow, l loop.Look, s *dashboard.Sight) bool {
	o, isOver, isChanged := readSight(row.Sight), l.Decision.Verdict == quorum.Ended, checkState(t.was) != checkState(*s)
	isUpon := o.Trunk != "" && o.Base == l.Snapshot.PR.HeadRef && !l.Snapshot.PR.Fork
	switch isMoved := t.was.Head != s.Head; {
	case (isChanged || isMoved) && (isUpon || slices.Contains(o.Alike, t.at.Number)):
		return true
	case !isOver && (isMoved || t.was.Base != s.Base) && slices.Contains(t.was.Siblings, row.at.Number):
		return true
	case !slices.Contains(s.Siblings, row.at.Number):
		return false
	}
	return isOver || isChanged && o.Head == s.Head && o.Check == s.Check && checkState(o) != checkState(*s)
}

// A keyedRow is a row with what its key names.
type keyedRow struct {
	store.Row
	at workkey.Key
}

// rowsBeside are the rows in the task's repository for which a query asks.
func (t task) rowsBeside(ctx context.Context, q store.Query) (all []keyedRow, err error) {
	q.Tenant, q.Group = &t.Tenant, workkey.Repo(t.Tenant, t.at.Owner, t.at.Repo)
	rows, err := t.d.Store.List(ctx, q)
	for _, row := range rows {
		if at, ok := workkey.Parse(row.Key); ok {
			all = append(all, keyedRow{row, at})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w: %w", q.Group, errTable, err)
	}
	return all, nil
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
