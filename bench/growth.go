package main

// bench memory and bench growth: how memory, and the time to acknowledge and to claim, grow with the number of pull
// requests.
//
// 100,000 are not tracked one by one: GitHub's limits alone would make that take an hour. 1,000 are tracked and
// decided; the others are copies of them in the daemon's table, each under its own name, and they exist on GitHub.

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	_ "modernc.org/sqlite" // the driver that the daemon has

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

type memoryCmd struct {
	Many int           `default:"100000" help:"Tracked pull requests in the second part. Default ${default}."`
	Load time.Duration `default:"15s"    help:"How long the load of 200 events a second lasts. Default ${default}."`
}

// Help is shown by bench memory --help.
func (memoryCmd) Help() string {
	return `1,000 pull requests are tracked and decided; then the daemon runs again with copies of them in its table. Each time its memory
is read after a pause, and at its peak under 200 events a second: builds on any of them, and one reviewer in twenty.`
}

// Run measures resident memory, idle and under load.
func (cmd memoryCmd) Run(b *harness) error {
	return b.measureGrown(cmd.Many, func(t *fakeGitHub, d *daemonProcess, tracked int) error {
		if err := sleepFor(b.ctx, 20*time.Second); err != nil { // after ten the daemon has given back the memory of the burst
			return err
		}
		target := 40.0
		if tracked > 1000 {
			target = 150
		}
		b.report.addFigure("tracked pull requests", float64(tracked), "")
		b.report.addAtMost("  idle: RSS", d.readUsage().rss, "MB", target)
		d.forgetPeak()
		wires, err := t.mixedDeliveries(b.ctx, 4000)
		if err != nil {
			return err
		}
		if _, err := (loadGenerator{daemon: d, deliveries: wires, connections: 8}).runOpenLoop(b.ctx, 200, cmd.Load); err != nil {
			return err
		}
		u := d.readUsage()
		b.report.addAtMost("  under 200 events/s: RSS", u.rss, "MB", target)
		b.report.addAtMost("  under 200 events/s: peak RSS", u.peakRSS, "MB", target)
		return nil
	})
}

type growthCmd struct {
	Many   int `default:"100000" help:"Tracked pull requests in the second part. Default ${default}."`
	Events int `default:"10000"  help:"Deliveries at 1,000/s of which the p99 is taken. Default ${default}."`
	Rounds int `default:"3"      help:"Rounds, of which the best p99 is taken: what else the machine does is not the daemon's growth. Default ${default}."`
}

// Run measures acknowledging and claiming with few and with many tracked pull requests.
func (cmd growthCmd) Run(b *harness) error {
	var acks, claims []float64
	err := b.measureGrown(cmd.Many, func(t *fakeGitHub, d *daemonProcess, tracked int) error {
		wires, err := t.mixedDeliveries(b.ctx, 0)
		if err != nil {
			return err
		}
		l := loadGenerator{daemon: d, deliveries: wires, connections: 32}
		if _, err := l.runOpenLoop(b.ctx, 1000, 3*time.Second); err != nil { // it warms up
			return err
		}
		best := 0.0
		for range max(cmd.Rounds, 1) {
			took, err := l.runOpenLoop(b.ctx, 1000, time.Duration(cmd.Events)*time.Millisecond)
			if err != nil {
				return err
			}
			if p := took.quantileMillis(0.99); best == 0 || p < best {
				best = p
			}
		}
		claimed, err := b.measureClaims(t, d)
		if err != nil {
			return err
		}
		acks, claims = append(acks, best), append(claims, claimed.quantileMillis(0.99))
		b.report.addFigure(fmt.Sprintf("%d tracked: p99 of an acknowledgement at 1,000/s", tracked), best, "ms")
		b.report.addFigure(fmt.Sprintf("%d tracked: delivery → first request to GitHub, p50", tracked), claimed.quantileMillis(0.5), "ms")
		b.report.addFigure(fmt.Sprintf("%d tracked: delivery → first request to GitHub, p99", tracked), claimed.quantileMillis(0.99), "ms")
		return nil
	})
	if err != nil {
		return err
	}
	b.report.addAtMost("acknowledging: p99 grows by", acks[1]/acks[0], "×", 1.3)
	b.report.addAtMost("claiming: p99 grows by", claims[1]/claims[0], "×", 1.3)
	return nil
}

// measureClaims measures how long it takes from a delivery to the look's first request, with nothing else going on. The
// look finds nothing new: a reviewer wrote once more what it wrote before.
func (b *harness) measureClaims(t *fakeGitHub, d *daemonProcess) (took durations, err error) {
	c, err := dialWebhook(b.ctx, d.webhookAddr)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := d.awaitIdle(b.ctx, time.Second, time.Minute); err != nil {
		return nil, err
	}
	first := make(chan loggedRequest, 64)
	t.setAnswerHandler(func(q loggedRequest) {
		select {
		case first <- q:
		default:
		}
	})
	defer t.setAnswerHandler(nil)
	for i := range 200 {
		r := t.repos[i%baseInstallations]
		p := trackedPull{r, 1 + i%r.pullCount}
		told, err := t.collectDeliveries(func() error { return p.postApproval(0) })
		if err != nil {
			return nil, err
		}
		told = filterDeliveries(told, "issue_comment") // the look before may have written its check
		t.takeRequests()
		for len(first) > 0 {
			<-first
		}
		w := t.signDelivery(told[0])
		began := time.Now()
		if err := sendAccepted(c, w, newDeliveryID()); err != nil {
			return nil, err
		}
		select {
		case q := <-first:
			took = append(took, q.began.Sub(began))
		case <-time.After(10 * time.Second):
			return nil, fmt.Errorf("%s was not looked at within 10s", p)
		}
		if err := d.awaitIdle(b.ctx, 100*time.Millisecond, 10*time.Second); err != nil {
			return nil, err
		}
	}
	return took, nil
}

const (
	baseInstallations = 50
	basePulls         = 20 // of each
)

// measureGrown runs measure with 1,000 tracked pull requests, and again with many.
func (b *harness) measureGrown(many int, measure func(t *fakeGitHub, d *daemonProcess, tracked int) error) error {
	base := baseInstallations * basePulls
	t, d, err := b.prepareTracked(
		fakeOptions{installations: baseInstallations, repositories: 1, pulls: basePulls, playBefore: approveAll},
		nil,
	)
	if err != nil {
		return err
	}
	defer t.close()
	if err := awaitChecks(b.ctx, t.allPulls(), time.Minute, isPassed); err != nil {
		return err
	}
	if err := measure(t, d, base); err != nil {
		return err
	}
	if _, err := d.terminate(20 * time.Second); err != nil {
		return err
	}
	if err := b.multiplyPulls(t, many/base, approveAll); err != nil {
		return err
	}
	t.takeRequests()
	d, err = b.startDaemon(t, b.dir+"/coordinator.db")
	if err != nil {
		return err
	}
	b.logProgress("the daemon looks over %d repositories", len(t.repos))
	if err := d.awaitIdle(b.ctx, 3*time.Second, 2*time.Minute); err != nil {
		b.report.addNote("the start's resync of %d repositories was not over: %v", len(t.repos), err)
	}
	m, err := d.readMetrics(b.ctx)
	if err != nil {
		return err
	}
	asked := t.takeRequests()
	b.report.addNote(
		"with %d tracked: %s keys in the table; the start cost %d requests",
		many,
		formatNumber(m["coordinator_tasks"]),
		len(asked),
	)
	b.report.noteEndpoints(asked, len(t.repos))
	return measure(t, d, many)
}

// multiplyPulls copies all pull requests so many times, on GitHub and in the table of a stopped daemon.
func (b *harness) multiplyPulls(t *fakeGitHub, times int, play func(trackedPull) error) error {
	b.logProgress("making %d copies", (times-1)*len(t.allPulls()))
	for n := 1; n < times; n++ {
		for in := range baseInstallations {
			if err := t.addRepository(in, n, play); err != nil {
				return err
			}
		}
	}
	return b.copyRows(times)
}

func approveAll(p trackedPull) error {
	for r := range reviewers {
		if err := p.approveAsReviewer(r); err != nil {
			return err
		}
	}
	return nil
}

// copyRows copies every row of shop-0000 to the other repositories of its installation, as looked at after GitHub had
// them: else all would be looked at when the daemon starts.
func (b *harness) copyRows(times int) error {
	db, err := sql.Open("sqlite", "file:"+b.dir+"/coordinator.db?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
	if err != nil {
		return fmt.Errorf("open the table: %w", err)
	}
	defer db.Close()
	const with = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i+1 < ?1) `
	for _, statement := range []string{
		`CREATE TEMP TABLE base AS SELECT row_number() OVER (ORDER BY id) AS nth, (SELECT max(id) FROM work) AS top, (SELECT max(seen_at) FROM work) AS seen, * FROM work WHERE kind IN ('pull', 'repo') AND grp LIKE '%/shop-0000'`,
		`INSERT INTO work (id, key, tenant, kind, grp, gen, claimed, due_at, backlog_at, since, token, wake_at, seen_at, open)
			` + with + `SELECT base.top + n.i * 1000000 + base.id, replace(key, 'shop-0000', printf('shop-%04d', n.i)), tenant, kind, replace(grp, 'shop-0000', printf('shop-%04d', n.i)), gen, claimed, due_at, backlog_at, since, token, wake_at, base.seen + 3600000000 + n.i * 10000 + base.nth, open FROM base, n`,
		`INSERT INTO sights (id, sight)
			` + with + `SELECT base.top + n.i * 1000000 + base.id, CAST(json_replace(replace(CAST(sight AS TEXT), 'shop-0000', printf('shop-%04d', n.i)), '$.at', strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+1 minute')) AS BLOB) FROM base JOIN sights ON sights.id = base.id, n`,
		`DROP TABLE base`,
	} {
		var args []any
		if len(statement) > 0 && statement[0] == 'I' {
			args = append(args, times)
		}
		db.SetMaxOpenConns(1) // the temporary table is the connection's
		if _, err := db.ExecContext(b.ctx, statement, args...); err != nil {
			return fmt.Errorf("copy rows: %w", err)
		}
	}
	return nil
}

// mixedDeliveries makes n deliveries about pull requests of all repositories: builds, and a reviewer's comment in every
// twentieth. With n = 0 it makes 2,000, all of builds.
func (t *fakeGitHub) mixedDeliveries(ctx context.Context, n int) ([]signedDelivery, error) {
	pulls := t.allPulls()
	comments := n / 20
	if n == 0 {
		n = 2000
	}
	t.hub.DisturbDeliveries(func(d sandbox.HookDelivery) sandbox.Fate { // the rest would only lengthen GitHub's list of deliveries
		return sandbox.Fate{Lost: d.Event+"."+d.Action != "workflow_run.completed" && d.Event != "issue_comment"}
	})
	defer t.hub.DisturbDeliveries(nil)
	var wires []signedDelivery
	for i := range n {
		p := pulls[i*7919%len(pulls)]
		if comments > 0 && i%20 == 0 {
			told, err := t.collectDeliveries(func() error { return p.postApproval(0) })
			if err != nil {
				return nil, err
			}
			wires = append(wires, t.signDelivery(told[0]))
			continue
		}
		d, err := t.irrelevantDelivery(p)
		if err != nil {
			return nil, err
		}
		wires = append(wires, t.signDelivery(d))
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return wires, nil
}
