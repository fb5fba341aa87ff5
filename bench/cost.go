package main

// bench push and bench burst: what a daemon costs that nothing happens to.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// startTracking starts a daemon, and waits until every pull request has its check and the daemon rests.
func (b *bench) startTracking(t *fakeGitHub, conclusion string) (*daemon, error) {
	t.hub.TakeDeliveries() // those of what was there before
	db, err := b.newDatabase("")
	if err != nil {
		return nil, err
	}
	d, err := b.startDaemon(t, db, nil)
	if err != nil {
		return nil, err
	}
	_, rests := t.takeRequests(b.ctx)
	return d, errors.Join(b.awaitChecks(t.pulls, conclusion, 10*time.Minute), rests)
}

func isPaid(q request) bool { return q.status != http.StatusNotModified } // what is answered 304 costs nothing

// readingTime is longer than the half minute for which GitHub's lists may lack what is new: who answers sooner is looked at with a
// request more.
const readingTime = 31 * time.Second

// runPush counts the requests of a push to a pull request whose three reviewers had all approved: their runs begin, they read for a
// while, and one after another approves.
func runPush(b *bench) error {
	t, err := b.newFakeGitHub(1, 3, len(reviewers), 0)
	if err != nil {
		return err
	}
	for _, p := range t.pulls {
		if err := p.approveByAll(); err != nil {
			return err
		}
	}
	d, err := b.startTracking(t, "success")
	if err != nil {
		return err
	}
	var cycle []request
	play := func(what string, err error) error { // what has happened, and its requests
		for _, w := range t.hub.TakeDeliveries() {
			if status, _ := t.sendDelivery(b.ctx, d, w); status != http.StatusAccepted {
				return fmt.Errorf("a delivery of %s was answered %d", w.Event, status)
			}
		}
		all, failed := t.takeRequests(b.ctx)
		paid := countRequests(all, isPaid)
		b.printFigure("  "+what, float64(paid), fmt.Sprintf("and %d that are 304", len(all)-paid))
		cycle = append(cycle, all...)
		return errors.Join(err, failed)
	}
	p, runs := t.pulls[1], make([]int64, len(reviewers))
	if err := play("a push", p.Push(p.number, "pull 2, push 2", sandbox.PushSpec{})); err != nil {
		return err
	}
	b.requireAtMost("a push: requests that are not 304", float64(countRequests(cycle, isPaid)), 10, "")
	for r := range runs {
		if runs[r], err = p.startRun(r); err != nil {
			return err
		}
	}
	if err := errors.Join(play("three runs start", nil), sleepFor(b.ctx, readingTime)); err != nil {
		return err
	}
	for r, who := range reviewers {
		err := play(who.name+" comments", p.postAnswer(r, approvalText))
		if err := errors.Join(err, play(who.name+" ends", p.endRun(runs[r], ""))); err != nil {
			return err
		}
	}
	queries := countRequests(cycle, func(q request) bool { return strings.HasSuffix(q.path, "/graphql") })
	b.requireAtMost("the whole cycle over REST: requests that are not 304", float64(countRequests(cycle, isPaid)-queries), 18, "")
	b.requireAtMost("  queries of GraphQL, of a point each", float64(queries), 6, "")
	b.requireAtMost("  requests in all", float64(len(cycle)), 60, "")
	return b.awaitChecks([]pull{p}, "success", 10*time.Second)
}

const burstInstallations, burstPulls, burstEvents = 50, 1000, 10 // events of each pull request

// runBurst has three reviewers run, answer and end on each of many tracked pull requests. The deliveries are sent as fast as they
// are acknowledged, those of one pull request in their order and spread over the whole burst.
func runBurst(b *bench) error {
	t, err := b.newFakeGitHub(burstInstallations, burstPulls/burstInstallations, len(reviewers), 0)
	if err != nil {
		return err
	}
	d, err := b.startTracking(t, "")
	if err != nil {
		return err
	}
	deliveries, err := t.buildBurst()
	if err != nil {
		return err
	}
	t.hub.MuteWebhooks()
	err = sleepFor(b.ctx, 61*time.Second) // GitHub forgets what tracking has used of its limits of a minute
	before, failed := d.cpuTime()
	began, count := time.Now(), float64(len(deliveries))
	if err := errors.Join(err, failed, t.sendBurst(b.ctx, d, deliveries)); err != nil {
		return err
	}
	b.printFigure("all acknowledged after", time.Since(began).Seconds(), "s")
	err = b.awaitChecks(t.pulls, "success", 10*time.Minute)
	took := time.Since(began)
	all, failed := t.takeRequests(b.ctx)
	after, unknown := d.cpuTime()
	if err := errors.Join(err, failed, unknown); err != nil {
		return err
	}
	b.requireAtMost(fmt.Sprintf("%.0f events decided after", count), took.Seconds(), count/2000, "s")
	b.requireAtMost("the daemon's CPU for an event", (after-before)/count, 0.5, "ms")
	looks := countRequests(all, func(q request) bool { return q.method == http.MethodGet && strings.HasSuffix(q.path, "/reviews") })
	b.requireAtMost("looks at a pull request", float64(looks)/burstPulls, 2, "")
	b.checkLimits(t)
	return nil
}

// sendBurst sends each delivery once.
func (t *fakeGitHub) sendBurst(ctx context.Context, d *daemon, deliveries []sandbox.HookDelivery) error {
	var group sync.WaitGroup
	var next atomic.Int64
	var refused atomic.Int64
	for range 32 {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(deliveries)); i = next.Add(1) - 1 {
				if status, _ := t.sendDelivery(ctx, d, deliveries[i]); status != http.StatusAccepted {
					refused.Add(1)
				}
			}
		})
	}
	group.Wait()
	if n := refused.Load(); n > 0 {
		return fmt.Errorf("%d deliveries were not accepted", n)
	}
	return nil
}

// checkLimits checks how close to GitHub's limits the busiest installation came.
func (b *bench) checkLimits(t *fakeGitHub) {
	var points, writes, content, refused int
	for _, r := range t.repos {
		u := t.hub.PeakUsage(r.installation)
		points, writes, content = max(points, u.Points), max(writes, u.Writes), max(content, u.Content)
		refused += t.hub.RefusedRequests(r.installation)
	}
	b.requireAtMost("an installation's peak minute: points", float64(points), 720, "")
	b.requireAtMost("an installation's peak minute: writes", float64(writes), 144, "")
	b.requireAtMost("an installation's peak minute: content", float64(content), 64, "")
	b.requireAtMost("requests refused for a secondary limit", float64(refused), 0, "")
	b.requireAtMost("requests for what their token must not see", float64(len(t.hub.CrossedRequests())), 0, "")
}

// buildBurst makes the deliveries of each pull request: in order within one, and interleaved between them.
func (t *fakeGitHub) buildBurst() ([]sandbox.HookDelivery, error) {
	turns := make([][]sandbox.HookDelivery, burstEvents)
	for _, p := range t.pulls {
		if err := p.approveByAll(); err != nil {
			return nil, err
		}
		turn := 0
		for _, d := range t.hub.TakeDeliveries() {
			isOfRun := d.Event == "workflow_run" && (d.Action != "requested" || turn == 0) // one run is told of when it is asked for, too
			if isOfRun || d.Event == "issue_comment" {
				turns[turn] = append(turns[turn], d)
				turn++
			}
		}
	}
	return slices.Concat(turns...), nil
}
