package main

// bench burst: many events at once, as after an outage of GitHub's or when a bot touches every pull request.

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

type burstCmd struct {
	Installations int           `default:"50"   help:"Installations that the pull requests are spread over. Default ${default}; with 1 only the acknowledging is waited for, as GitHub's limits make the rest take minutes."`
	Pulls         int           `default:"1000" help:"Pull requests. Default ${default}."`
	Connections   int           `default:"32"   help:"Connections. Default ${default}."`
	Rest          time.Duration `default:"61s"  help:"Pause before the burst, in which GitHub forgets what tracking has used of its limits. Default ${default}."`
	Whole         bool          `               help:"With one installation, wait for the last check all the same."`
}

// Help is shown by bench burst --help.
func (burstCmd) Help() string {
	return `All pull requests are tracked. Then three reviewers run, answer and end on each of them, which takes ten deliveries each.
They are sent as fast as they are acknowledged, those of one pull request in their order and spread over the whole burst.`
}

// Run sends the burst and measures until every check is written.
func (cmd burstCmd) Run(b *harness) error {
	t, d, err := b.prepareTracked(
		fakeOptions{installations: cmd.Installations, repositories: 1, pulls: cmd.Pulls / cmd.Installations, enforceLimits: true},
		nil,
	)
	if err != nil {
		return err
	}
	defer t.close()
	tracking := d.readUsage()
	b.report.addFigure("RSS with all tracked", tracking.rss, "MB")
	wires, err := cmd.buildDeliveries(t)
	if err != nil {
		return err
	}
	t.hub.MuteWebhooks()
	b.logProgress("waiting %s for GitHub's minute to pass", cmd.Rest)
	if err := sleepFor(b.ctx, cmd.Rest); err != nil {
		return err
	}
	b.report.Machine.Rounds = measureRounds()
	t.takeRequests()
	d.forgetPeak()
	m1, err := d.readMetrics(b.ctx)
	if err != nil {
		return err
	}
	before, began := d.readUsage(), time.Now()
	b.logProgress("%d deliveries", len(wires))
	acks, err := loadGenerator{daemon: d, deliveries: wires, connections: cmd.Connections}.sendAll(b.ctx)
	if err != nil {
		return err
	}
	acked := time.Since(began)
	b.report.addFigure("events", float64(len(wires)), "")
	b.report.addFigure("all acknowledged after", acked.Seconds(), "s")
	b.report.addFigure("  p99 of an acknowledgement", acks.quantileMillis(0.99), "ms")
	if cmd.Installations == 1 && !cmd.Whole {
		b.report.addNote("one installation: GitHub's limits make the rest take minutes; serve_load_test.go measures it in virtual time")
		return nil
	}
	if err := awaitChecks(b.ctx, t.allPulls(), time.Hour, isPassed); err != nil {
		return err
	}
	decided := time.Since(began)
	if err := d.awaitIdle(b.ctx, 2*time.Second, time.Hour); err != nil {
		return err
	}
	after := d.readUsage()
	m2, err := d.readMetrics(b.ctx)
	if err != nil {
		return err
	}
	all := t.takeRequests()
	n := float64(len(wires))
	b.report.addFigure("all decided after", decided.Seconds(), "s")
	b.report.addAtLeast("events from webhook to decision", n/decided.Seconds(), "/s", 2000)
	b.report.addAtMost("daemon's CPU an event", toMillis(after.cpu-before.cpu)/n, "ms", 0.5)
	b.report.addAtMost(
		"evaluations a pull request",
		(m2[looksMetric]-m1[looksMetric]-sparedLooks(m2)+sparedLooks(m1))/float64(cmd.Pulls),
		"",
		2,
	)
	rounds, most := 0, 0
	for _, n := range countReads(all) {
		rounds, most = rounds+n, max(most, n)
	}
	b.report.addFigure("  how often a pull request was read, mean", float64(rounds)/float64(cmd.Pulls), "")
	b.report.addFigure("  how often a pull request was read, most", float64(most), "")
	b.report.addFigure("peak RSS", after.peakRSS, "MB")
	cmd.reportLimits(b, t)
	b.report.noteEndpoints(all, cmd.Pulls)
	return nil
}

// reportLimits reports how close to GitHub's limits the busiest installation came.
func (burstCmd) reportLimits(b *harness, t *fakeGitHub) {
	var points, writes, content, at, refused int
	for _, r := range t.repos {
		u := t.hub.PeakUsage(r.installation)
		points, writes, content = max(points, u.Points), max(writes, u.Writes), max(content, u.Content)
		at, refused = max(at, t.hub.PeakConcurrent(r.installation)), refused+t.hub.RefusedRequests(r.installation)
	}
	b.report.addAtMost("an installation's peak minute: points", float64(points), "", 720)
	b.report.addAtMost("an installation's peak minute: writes", float64(writes), "", 144)
	b.report.addAtMost("an installation's peak minute: content", float64(content), "", 64)
	b.report.addFigure("an installation's most requests at a time", float64(at), "")
	if refused > 0 {
		b.report.addViolation("%d requests were refused for a secondary limit", refused)
	}
	if crossed := t.hub.CrossedRequests(); len(crossed) > 0 {
		b.report.addViolation("%d requests asked for what their token must not see, for example %s", len(crossed), crossed[0])
	}
}

// buildDeliveries makes ten deliveries for each pull request: in order within one, and interleaved between them.
func (burstCmd) buildDeliveries(t *fakeGitHub) ([]signedDelivery, error) {
	type placed struct {
		signedDelivery
		turn int
	}
	var all []placed
	for _, p := range t.allPulls() {
		told, err := t.collectDeliveries(func() error {
			for r := range reviewers {
				if err := p.approveAsReviewer(r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		told = filterDeliveries(told, "workflow_run", "issue_comment")
		told = append(told[:1:1], filterDeliveries(told[1:], "workflow_run.in_progress", "workflow_run.completed", "issue_comment")...)
		if len(told) != 10 {
			return nil, fmt.Errorf("play: %s has %d deliveries, and not 10", p, len(told))
		}
		for i, d := range told {
			all = append(all, placed{t.signDelivery(d), i})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.turn, b.turn) })
	wires := make([]signedDelivery, len(all))
	for i, p := range all {
		wires[i] = p.signedDelivery
	}
	return wires, nil
}
