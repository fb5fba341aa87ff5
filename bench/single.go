package main

// One event at a time: how many requests it costs, and how long it takes until the check is written.

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

type latencyCmd struct {
	N int `default:"240" help:"Events. Default ${default}."`
}

// Help is shown by bench latency --help.
func (latencyCmd) Help() string {
	return `Two of three reviewers have approved, and the third has written its answer. Its run ends: GitHub sends workflow_run, and the
check turns green. The time counts from when the delivery is sent until GitHub has answered the request that writes the check.`
}

// Run measures the time from a delivery to the written check.
func (cmd latencyCmd) Run(b *harness) error {
	runs := map[string]int64{}
	t, d, err := b.prepareTracked(
		fakeOptions{installations: 20, repositories: 1, pulls: (cmd.N + 19) / 20},
		func(t *fakeGitHub) error { return prepareAlmostDecided(t, runs) },
	)
	if err != nil {
		return err
	}
	defer t.close()
	m, err := b.measureOneByOne(t, d, runs, cmd.N)
	if err != nil {
		return err
	}
	b.report.addFigure("events", float64(len(m.written)), "")
	b.report.addFigure("delivery → acknowledged, p50", m.acked.quantileMillis(0.5), "ms")
	b.report.addFigure("delivery → first request to GitHub, p50", m.claimed.quantileMillis(0.5), "ms")
	b.report.addAtMost("delivery → check written, p50", m.written.quantileMillis(0.5), "ms", 100)
	b.report.addFigure("delivery → check written, p95", m.written.quantileMillis(0.95), "ms")
	b.report.addFigure("delivery → check written, p99", m.written.quantileMillis(0.99), "ms")
	b.report.addAtMost("requests in series, median", m.seriesLengths.quantileMillis(0.5), "", 3)
	b.report.noteEndpoints(m.requests, len(m.written))
	return nil
}

// prepareAlmostDecided plays every pull request until one more event decides it.
func prepareAlmostDecided(t *fakeGitHub, runs map[string]int64) error {
	for _, p := range t.allPulls() {
		for r := range reviewers[:2] {
			if err := p.approveAsReviewer(r); err != nil {
				return err
			}
		}
		run, err := p.startRun(2)
		if err != nil {
			return err
		}
		if err := p.postApproval(2); err != nil {
			return err
		}
		runs[p.String()] = run
	}
	return nil
}

type latencySamples struct {
	acked, claimed, written durations
	seriesLengths           durations // numbers of requests in series, as milliseconds
	requests                []loggedRequest
}

// measureOneByOne ends the last run of each pull request, one after another.
func (b *harness) measureOneByOne(t *fakeGitHub, d *daemonProcess, runs map[string]int64, n int) (m latencySamples, err error) {
	c, err := dialWebhook(b.ctx, d.webhookAddr)
	if err != nil {
		return m, err
	}
	defer c.close()
	pulls := t.allPulls()
	for i := range pulls[:min(n, len(pulls))] {
		p := pulls[(i*len(pulls)/20+i/20)%len(pulls)] // another installation each time
		if runs[p.String()] == 0 {
			continue
		}
		if err := b.measureOne(t, c, p, runs[p.String()], &m); err != nil {
			return m, fmt.Errorf("%s: %w", p, err)
		}
		delete(runs, p.String())
	}
	return m, nil
}

func (b *harness) measureOne(t *fakeGitHub, c *webhookConn, p trackedPull, run int64, m *latencySamples) error {
	w, err := t.endRun(p, run)
	if err != nil {
		return err
	}
	written := make(chan loggedRequest, 16)
	t.setAnswerHandler(func(q loggedRequest) {
		if q.isWrite() && strings.Contains(q.path, "/check-runs") && strings.HasPrefix(q.path, "/repos/"+p.name+"/") {
			select {
			case written <- q:
			default:
			}
		}
	})
	defer t.setAnswerHandler(nil)
	t.takeRequests()
	began := time.Now()
	if err := sendAccepted(c, w, newDeliveryID()); err != nil {
		return err
	}
	acked := time.Since(began)
	timer := time.NewTimer(30 * time.Second)
	defer timer.Stop()
	for {
		select {
		case q := <-written:
			own := p.OwnCheckRuns(p.Head(p.number))
			if len(own) == 0 || !isPassed(own[len(own)-1]) {
				continue
			}
			all := t.takeRequests()
			m.acked, m.written = append(m.acked, acked), append(m.written, q.ended.Sub(began))
			if len(all) > 0 {
				first := all[0].began
				for _, q := range all {
					if q.began.Before(first) {
						first = q.began
					}
				}
				m.claimed = append(m.claimed, first.Sub(began))
			}
			m.seriesLengths = append(m.seriesLengths, time.Duration(countWaves(all))*time.Millisecond)
			m.requests = append(m.requests, all...)
			return sleepFor(b.ctx, 40*time.Millisecond) // let the look finish
		case <-timer.C:
			return fmt.Errorf("its check was not written within 30s")
		case <-b.ctx.Done():
			return b.ctx.Err()
		}
	}
}

type irrelevantCmd struct {
	N int `default:"1000" help:"Events. Default ${default}."`
}

// Help is shown by bench irrelevant --help.
func (irrelevantCmd) Help() string {
	return `Runs, check runs and check suites of a workflow that is no reviewer's, check runs of another App, and statuses of a build, on
tracked pull requests. None of them may cost a request.`
}

// Run counts the requests that irrelevant events cost.
func (cmd irrelevantCmd) Run(b *harness) error {
	t, d, err := b.prepareTracked(fakeOptions{installations: 10, repositories: 1, pulls: 10}, nil)
	if err != nil {
		return err
	}
	defer t.close()
	kinds := map[string][]signedDelivery{}
	for i := range cmd.N / 7 {
		told, err := t.collectDeliveries(func() error { return playForeignBuild(t.allPulls()[i%100], i) })
		if err != nil {
			return err
		}
		for _, d := range filterDeliveries(told, "workflow_run", "check_run", "check_suite", "status") {
			kind := strings.TrimSuffix(d.Event+"."+d.Action, ".")
			kinds[kind] = append(kinds[kind], t.signDelivery(d))
		}
	}
	m1, err := d.readMetrics(b.ctx)
	if err != nil {
		return err
	}
	before, events, requests := d.readUsage(), 0, 0
	for _, kind := range sortedKeys(kinds) {
		t.takeRequests()
		if _, err := (loadGenerator{daemon: d, deliveries: kinds[kind], connections: 8}).sendAll(b.ctx); err != nil {
			return err
		}
		if err := d.awaitIdle(b.ctx, time.Second, 5*time.Minute); err != nil {
			return err
		}
		n := len(t.takeRequests())
		b.report.addAtMost(fmt.Sprintf("requests for %d of %s", len(kinds[kind]), kind), float64(n), "", 0)
		events, requests = events+len(kinds[kind]), requests+n
	}
	m2, err := d.readMetrics(b.ctx)
	if err != nil {
		return err
	}
	b.report.addAtMost(fmt.Sprintf("requests for all %d", events), float64(requests), "", 0)
	b.report.addFigure("looks that were spared", sparedLooks(m2)-sparedLooks(m1), "")
	b.report.addFigure("daemon's CPU an event", toMillis(d.readUsage().cpu-before.cpu)/float64(max(events, 1)), "ms")
	return nil
}

// playForeignBuild plays a build on a pull request: a run with its check, another App's check, a status.
func playForeignBuild(p trackedPull, i int) error {
	run, err := p.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/build.yml", Name: "build", PR: p.number, Jobs: []string{"compile"}})
	if err != nil {
		return err
	}
	if _, err := p.FinishRun(run, sandbox.Finish{}); err != nil {
		return err
	}
	if _, err := p.SetCheck(sandbox.CheckSpec{
		Name: fmt.Sprintf("coverage %d", i), App: sandbox.App{Slug: "coverage-app"}, Head: p.Head(p.number),
		Conclusion: "success",
	}); err != nil {
		return err
	}
	_, err = p.SetStatus(sandbox.CommitStatus{Head: p.Head(p.number), Context: "deploy/preview", State: "success", By: "deployer[bot]"})
	return err
}

type pushCmd struct {
	Reading time.Duration `default:"31s" help:"How long the reviewers read before the first of them answers. Default ${default}."`
}

// Help is shown by bench push --help.
func (pushCmd) Help() string {
	return `A push to a tracked pull request whose three reviewers had all approved; their runs begin, they read for a while, and one after
another approves, until the check is green. What is answered 304 costs nothing and is counted apart. Before half a minute has
passed GitHub's lists may still lack what is new, so that who answers sooner is looked at with a request more.`
}

// Run counts the requests of a push and of the three reviews that follow it.
func (cmd pushCmd) Run(b *harness) error {
	t, d, err := b.prepareTracked(fakeOptions{installations: 1, repositories: 1, pulls: 3}, func(t *fakeGitHub) error {
		for _, p := range t.allPulls() {
			for r := range reviewers {
				if err := p.approveAsReviewer(r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer t.close()
	if err := awaitChecks(b.ctx, t.allPulls(), time.Minute, isPassed); err != nil {
		return err
	}
	p := t.allPulls()[1]
	c, err := dialWebhook(b.ctx, d.webhookAddr)
	if err != nil {
		return err
	}
	defer c.close()
	play := func(what func() error) ([]loggedRequest, error) {
		t.takeRequests()
		told, err := t.collectDeliveries(what)
		if err != nil {
			return nil, err
		}
		for _, d := range told {
			if err := sendAccepted(c, t.signDelivery(d), newDeliveryID()); err != nil {
				return nil, err
			}
		}
		err = d.awaitIdle(b.ctx, time.Second, time.Minute)
		return t.takeRequests(), err
	}
	pushed, err := play(func() error { return p.Push(p.number, headName(p.number, 2), sandbox.PushSpec{}) })
	if err != nil {
		return err
	}
	b.report.addAtMost("a push: requests that are not 304", float64(countPaid(pushed)), "", 10)
	b.report.addFigure("  of them writes", float64(countRequests(pushed, loggedRequest.isWrite)), "")
	b.report.addFigure("  answered 304", float64(len(pushed)-countPaid(pushed)), "")
	b.report.addFigure("  requests in series", float64(countWaves(pushed)), "")
	b.report.noteEndpoints(pushed, 1)
	cycle := pushed
	count := func(name string, what func() error) error {
		all, err := play(what)
		cycle = append(cycle, all...)
		b.report.addFigure("  "+name+": not 304 / 304", float64(countPaid(all)), fmt.Sprintf("/ %d", len(all)-countPaid(all)))
		return err
	}
	runs := make([]int64, len(reviewers))
	if err := count("three runs start", func() (err error) {
		for r := range reviewers {
			if runs[r], err = p.startRun(r); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := sleepFor(b.ctx, cmd.Reading); err != nil {
		return err
	}
	for r, who := range reviewers {
		if err := count(who.name+" comments", func() error { return p.postApproval(r) }); err != nil {
			return err
		}
		if err := count(who.name+" ends", func() error { _, err := p.FinishRun(runs[r], sandbox.Finish{}); return err }); err != nil {
			return err
		}
	}
	if err := awaitChecks(b.ctx, []trackedPull{p}, 10*time.Second, isPassed); err != nil {
		return err
	}
	queries := countRequests(cycle, func(q loggedRequest) bool { return strings.HasSuffix(q.path, "/graphql") })
	b.report.addAtMost("the whole cycle over REST: requests that are not 304", float64(countPaid(cycle)-queries), "", 18)
	b.report.addAtMost("  queries of GraphQL, of a point each", float64(queries), "", 6)
	b.report.addAtMost("  requests in all", float64(len(cycle)), "", 60)
	return nil
}

// countPaid counts the requests that were not answered 304: only these count against the rate limit.
func countPaid(all []loggedRequest) int {
	return countRequests(all, func(q loggedRequest) bool { return q.status != http.StatusNotModified })
}

func countRequests(all []loggedRequest, is func(loggedRequest) bool) (n int) {
	for _, q := range all {
		if is(q) {
			n++
		}
	}
	return n
}

type idleCmd struct {
	For   time.Duration `default:"30s"  help:"How long. Default ${default}."`
	Pulls int           `default:"1000" help:"Tracked pull requests. Default ${default}."`
}

// Run measures CPU, memory and requests of a daemon without events.
func (cmd idleCmd) Run(b *harness) error {
	t, d, err := b.prepareTracked(fakeOptions{installations: 50, repositories: 1, pulls: max(cmd.Pulls/50, 1)}, nil)
	if err != nil {
		return err
	}
	defer t.close()
	t.takeRequests()
	before := d.readUsage()
	if err := sleepFor(b.ctx, cmd.For); err != nil {
		return err
	}
	after := d.readUsage()
	b.report.addFigure("tracked pull requests", float64(len(t.allPulls())), "")
	b.report.addFigure("CPU", 100*(after.cpu-before.cpu).Seconds()/cmd.For.Seconds(), "% of a core")
	b.report.addFigure("RSS", after.rss, "MB")
	b.report.addFigure("requests to GitHub", float64(len(t.takeRequests())), "")
	return nil
}
