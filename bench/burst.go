package main

// The burst: a merge queue that woke up, a bot that touched everything, GitHub after an outage.

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

type burstCmd struct {
	Installations int           `default:"50" help:"Installations that the pull requests are spread over. Default ${default}; with 1 only the acknowledging is waited for, as GitHub's limits make the rest take minutes."`
	Pulls         int           `default:"1000" help:"Pull requests. Default ${default}."`
	Connections   int           `default:"32" help:"Connections. Default ${default}."`
	Rest          time.Duration `default:"61s" help:"Pause before the burst, in which GitHub forgets what tracking has used of its limits. Default ${default}."`
	Whole         bool          `help:"With one installation, wait for the last check all the same."`
}

// Help is shown by bench burst --help.
func (burstCmd) Help() string {
	return `All pull requests are tracked. Then three reviewers run, answer and end on each of them, which takes ten deliveries each.
They are sent as fast as they are acknowledged, those of one pull request in their order and spread over the whole burst.`
}

// Run measures.
func (cmd burstCmd) Run(b *bench) error {
	t, d, err := b.prepared(townOptions{installations: cmd.Installations, repositories: 1, pulls: cmd.Pulls / cmd.Installations, enforce: true}, nil)
	if err != nil {
		return err
	}
	defer t.close()
	tracking := d.use()
	b.report.add("RSS with all tracked", tracking.rss, "MB")
	wires, err := cmd.deliveries(t)
	if err != nil {
		return err
	}
	t.hub.Mute()
	b.say("waiting %s for GitHub's minute to pass", cmd.Rest)
	if err := pause(b.ctx, cmd.Rest); err != nil {
		return err
	}
	b.report.Machine.Rounds = rounds()
	t.asked()
	d.forgetPeak()
	m1, err := d.metrics(b.ctx)
	if err != nil {
		return err
	}
	before, began := d.use(), time.Now()
	b.say("%d deliveries", len(wires))
	acks, err := load{daemon: d, wires: wires, connections: cmd.Connections}.all(b.ctx)
	if err != nil {
		return err
	}
	acked := time.Since(began)
	b.report.add("events", float64(len(wires)), "")
	b.report.add("all acknowledged after", acked.Seconds(), "s")
	b.report.add("  p99 of an acknowledgement", acks.at(0.99), "ms")
	if cmd.Installations == 1 && !cmd.Whole {
		b.report.note("one installation: GitHub's limits make the rest take minutes; serve_load_test.go measures it in virtual time")
		return nil
	}
	if err := checked(b.ctx, t.pulls(), time.Hour, passed); err != nil {
		return err
	}
	decided := time.Since(began)
	if err := d.rest(b.ctx, 2*time.Second, time.Hour); err != nil {
		return err
	}
	after := d.use()
	m2, err := d.metrics(b.ctx)
	if err != nil {
		return err
	}
	all := t.asked()
	n := float64(len(wires))
	b.report.add("all decided after", decided.Seconds(), "s")
	b.report.least("events from webhook to decision", n/decided.Seconds(), "/s", 2000)
	b.report.most("daemon's CPU an event", ms(after.cpu-before.cpu)/n, "ms", 0.5)
	b.report.most("evaluations a pull request", (m2[looks]-m1[looks]-m2[spared]+m1[spared])/float64(cmd.Pulls), "", 2)
	rounds, most := 0, 0
	for _, n := range evaluations(all) {
		rounds, most = rounds+n, max(most, n)
	}
	b.report.add("  how often a pull request was read, mean", float64(rounds)/float64(cmd.Pulls), "")
	b.report.add("  how often a pull request was read, most", float64(most), "")
	b.report.add("peak RSS", after.peak, "MB")
	cmd.limits(b, t)
	b.report.noteEndpoints(all, cmd.Pulls)
	return nil
}

// limits shows how much of GitHub's limits the installation that used most has used.
func (burstCmd) limits(b *bench, t *town) {
	var points, writes, content, at, refused int
	for _, r := range t.repos {
		u := t.hub.Peak(r.installation)
		points, writes, content = max(points, u.Points), max(writes, u.Writes), max(content, u.Content)
		at, refused = max(at, t.hub.PeakConcurrent(r.installation)), refused+t.hub.Refused(r.installation)
	}
	b.report.most("an installation's peak minute: points", float64(points), "", 720)
	b.report.most("an installation's peak minute: writes", float64(writes), "", 144)
	b.report.most("an installation's peak minute: content", float64(content), "", 64)
	b.report.add("an installation's most requests at a time", float64(at), "")
	if refused > 0 {
		b.report.violated("%d requests were refused for a secondary limit", refused)
	}
	if crossed := t.hub.Crossed(); len(crossed) > 0 {
		b.report.violated("%d requests asked for what their token must not see, for example %s", len(crossed), crossed[0])
	}
}

// deliveries are ten for each pull request: those of one in their order, the pull requests in turns.
func (burstCmd) deliveries(t *town) ([]wire, error) {
	type placed struct {
		wire
		turn int
	}
	var all []placed
	for _, p := range t.pulls() {
		told, err := t.told(func() error {
			for r := range reviewers {
				if err := p.reviewed(r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		told = only(told, "workflow_run", "issue_comment")
		told = append(told[:1:1], only(told[1:], "workflow_run.in_progress", "workflow_run.completed", "issue_comment")...)
		if len(told) != 10 {
			return nil, fmt.Errorf("play: %s has %d deliveries, and not 10", p, len(told))
		}
		for i, d := range told {
			all = append(all, placed{t.wired(d), i})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.turn, b.turn) })
	wires := make([]wire, len(all))
	for i, p := range all {
		wires[i] = p.wire
	}
	return wires, nil
}
