package main

// bench memory and bench growth: how memory, disk, a start, and the time to acknowledge and to claim grow with the number of
// pull requests.
//
// 100,000 are not tracked one by one: GitHub's limits alone would make that take an hour. 1,000 are tracked and
// decided; the others are copies of them in the daemon's table, each under its own name, with as many deliveries and as
// many answers of reviewers. Of more than 100,000 no more exist on GitHub, which lives in this process and would take 40 KB
// for each: in every installation those of each tenth repository, say, so that events are told of all parts of the table.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver that the daemon has

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

type memoryCmd struct {
	Many int           `default:"100000" help:"Tracked pull requests in the second part. Default ${default}; a million take 10 GB of disk."`
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
		b.report.addFigure("tracked pull requests", float64(tracked), "")
		return b.measureMemory(t, d, tracked, memoryRest, cmd.Load)
	})
}

// memoryRest is how long the daemon has nothing to do before its memory is read: after ten seconds it has given back that of
// the burst.
const memoryRest = 20 * time.Second

// measureMemory measures the daemon's resident memory at rest and under 200 events a second.
func (b *harness) measureMemory(t *fakeGitHub, d *daemonProcess, tracked int, rest, load time.Duration) error {
	if err := sleepFor(b.ctx, rest); err != nil {
		return err
	}
	target := 40.0
	if tracked > 1000 {
		target = 150
	}
	b.report.addAtMost("  idle: RSS", d.readUsage().rss, "MB", target)
	d.forgetPeak()
	wires, err := t.mixedDeliveries(b.ctx, 4000)
	if err != nil {
		return err
	}
	if _, err := (loadGenerator{daemon: d, deliveries: wires, connections: 8}).runOpenLoop(b.ctx, 200, load); err != nil {
		return err
	}
	u := d.readUsage()
	b.report.addAtMost("  under 200 events/s: RSS", u.rss, "MB", target)
	b.report.addAtMost("  under 200 events/s: peak RSS", u.peakRSS, "MB", target)
	return nil
}

type growthCmd struct {
	Many   int  `default:"100000" help:"Tracked pull requests in the second part. Default ${default}; a million take 10 GB of disk."`
	Events int  `default:"10000"  help:"Deliveries at 1,000/s of which the p99 is taken. Default ${default}."`
	Rounds int  `default:"3"      help:"Rounds, of which the best p99 is taken: what else the machine does is not the daemon's growth. Default ${default}."`
	Claims int  `default:"200"    help:"Claims of which the p99 is taken, each of an event alone. Default ${default}."`
	Brief  bool `help:"Rest and load as short as they can be: to see that it works, not for its figures of memory."`
}

// Help is shown by bench growth --help.
func (growthCmd) Help() string {
	return `As bench memory, and after it in the same run: the p99 of an acknowledgement and of a claim with few and with many tracked,
and their ratio; how long a start and a scrape take, and what the database takes of the disk.`
}

// Run measures acknowledging and claiming with few and with many tracked pull requests.
func (cmd growthCmd) Run(b *harness) error {
	var acks, claims []float64
	rest, load := memoryRest, 15*time.Second
	if cmd.Brief {
		rest, load = time.Second, 3*time.Second
	}
	err := b.measureGrown(cmd.Many, func(t *fakeGitHub, d *daemonProcess, tracked int) error {
		b.report.addFigure("tracked pull requests", float64(tracked), "")
		if err := errors.Join(b.measureMemory(t, d, tracked, rest, load), b.addDiskAndScrape(d)); err != nil {
			return err
		}
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
		b.report.addFigure("  p99 of an acknowledgement at 1,000/s", best, "ms")
		claimed, err := b.measureClaims(t, d, cmd.Claims)
		if err != nil {
			return err
		}
		acks, claims = append(acks, best), append(claims, claimed.quantileMillis(0.99))
		b.report.addFigure("  delivery → first request to GitHub, p50", claimed.quantileMillis(0.5), "ms")
		b.report.addFigure("  delivery → first request to GitHub, p99", claimed.quantileMillis(0.99), "ms")
		return nil
	})
	if err != nil {
		return err
	}
	b.report.addAtMost("acknowledging: p99 grows by", acks[1]/acks[0], "×", 1.3)
	b.report.addAtMost("claiming: p99 grows by", claims[1]/claims[0], "×", 1.3)
	return nil
}

// addDiskAndScrape adds what the database and the cache of answers take of the disk, and how long a scrape takes.
func (b *harness) addDiskAndScrape(d *daemonProcess) error {
	files, err := filepath.Glob(b.dir + "/coordinator*.db*")
	if err != nil {
		return fmt.Errorf("find the database: %w", err) // unreachable: the pattern is well-formed
	}
	var table, answers int64
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return fmt.Errorf("measure the database: %w", err)
		case strings.HasPrefix(info.Name(), "coordinator.db"):
			table += info.Size()
		default:
			answers += info.Size()
		}
	}
	b.report.addFigure("  database on disk", float64(table)/1e6, "MB")
	b.report.addFigure("  cache of GitHub's answers on disk", float64(answers)/1e6, "MB")
	var took durations
	for range 20 {
		began := time.Now()
		if _, err := d.readMetrics(b.ctx); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	b.report.addFigure("  a scrape of /metrics, p50", took.quantileMillis(0.5), "ms")
	return nil
}

// measureClaims measures how long it takes from a delivery to the look's first request, with nothing else going on. The
// look finds nothing new: a reviewer wrote once more what it wrote before.
func (b *harness) measureClaims(t *fakeGitHub, d *daemonProcess, n int) (took durations, err error) {
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
	for i := range n {
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
	mostOnGitHub      = 100_000
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
	b.report.addFigure(fmt.Sprintf("start with %d tracked, until it listens", many), toMillis(time.Since(d.startedAt)), "ms")
	b.logProgress("the daemon looks over %d repositories", len(t.repos))
	if err := d.awaitIdle(b.ctx, 3*time.Second, 4*time.Minute); err != nil {
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

// multiplyPulls copies all pull requests so many times in the table of a stopped daemon, and mostOnGitHub of the copies on
// GitHub.
func (b *harness) multiplyPulls(t *fakeGitHub, times int, play func(trackedPull) error) error {
	b.logProgress("making %d copies", (times-1)*len(t.allPulls()))
	step := max(times*len(t.allPulls())/mostOnGitHub, 1)
	for n := step; n < times; n += step {
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
// them: else all would be looked at when the daemon starts. So many as pull requests are the deliveries that it remembers.
func (b *harness) copyRows(times int) error {
	file := b.dir + "/coordinator.db"
	const fast = "?_pragma=journal_mode(OFF)&_pragma=synchronous(0)&_pragma=cache_size(-400000)" // nobody else has the file open
	db, err := sql.Open("sqlite", "file:"+file+fast)
	if err != nil {
		return fmt.Errorf("open the table: %w", err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // the temporary table is the connection's
	const copies = ` WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i+1 < ?1) `
	for _, statement := range []string{
		`CREATE TEMP TABLE base AS
			SELECT row_number() OVER (ORDER BY id) AS nth, (SELECT max(id) FROM work) AS top, (SELECT max(seen_at) FROM work) AS seen, work.*,
				json_replace(CAST(sight AS TEXT), '$.at', strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+10 minutes')) AS sight
			FROM work LEFT JOIN sights USING (id) WHERE kind IN ('pull', 'repo') AND grp LIKE '%/shop-0000' AND ?1`,
		`INSERT INTO work (id, key, tenant, kind, grp, gen, claimed, due_at, backlog_at, since, token, wake_at, seen_at, open)` + copies + `
			SELECT top + i * 1000000 + id, replace(key, 'shop-0000', printf('shop-%04d', i)), tenant, kind,
				replace(grp, 'shop-0000', printf('shop-%04d', i)), gen, claimed, due_at, backlog_at, since, token, wake_at,
				seen + 3600000000 + i * 10000 + nth, open
			FROM n CROSS JOIN base`,
		`INSERT INTO sights (id, sight)` + copies + `
			SELECT top + i * 1000000 + id, CAST(replace(sight, 'shop-0000', printf('shop-%04d', i)) AS BLOB)
			FROM n CROSS JOIN base WHERE sight IS NOT NULL`,
		`INSERT INTO deliveries (id, event, action, received_at)` + copies + `
			SELECT 'bead-' || hex(randomblob(13)), 'workflow_run', 'completed', seen_at - abs(random() % 2592000000000)
			FROM n CROSS JOIN base WHERE kind = 'pull'`,
		`INSERT INTO heard (grp, reviewer, text, tenant, label, pull, stranger, said_at, unread)` + copies + `
			SELECT replace(grp, 'shop-0000', printf('shop-%04d', i)), reviewer, text, tenant, label, pull, stranger,
				said_at - abs(random() % 2592000000000), unread
			FROM n CROSS JOIN heard WHERE grp LIKE '%/shop-0000'`,
	} {
		if _, err := db.ExecContext(b.ctx, statement, times); err != nil {
			return fmt.Errorf("copy rows: %w", err)
		}
	}
	return errors.Join(db.Close(), syncFile(file))
}

// syncFile has a file written to the disk, which would otherwise be busy with it while something is measured.
func syncFile(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("sync the table: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// mixedDeliveries makes n deliveries about pull requests of all repositories: builds, and a reviewer's comment in every
// twentieth. With n = 0 all are of builds: 2,000, or one for each fifth pull request, 20,000 at most.
func (t *fakeGitHub) mixedDeliveries(ctx context.Context, n int) ([]signedDelivery, error) {
	pulls := t.allPulls()
	comments := n / 20
	if n == 0 {
		n = min(max(2000, len(pulls)/5), 20_000)
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
