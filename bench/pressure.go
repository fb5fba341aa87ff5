package main

// bench pressure: little memory, many pull requests, a burst, and bodies as large as GitHub sends, all at once.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

type pressureCmd struct {
	Limit  string `default:"64MiB" help:"The daemon's GOMEMLIMIT. Default ${default}."`
	Pulls  int    `default:"10000" help:"Tracked pull requests; a multiple of 1,000. Default ${default}."`
	Events int    `default:"2000"  help:"Of them so many are decided by the burst. Default ${default}."`
	Large  int    `default:"8"     help:"Connections that send one body of 24 MB after another meanwhile. Default ${default}."`
}

// Help is shown by bench pressure --help.
func (pressureCmd) Help() string {
	return `1,000 pull requests are tracked, each of which needs one event more to be decided. The daemon starts again with copies of them
in its table, and a soft limit that makes it collect all the time. Then a burst of these events comes, beside signed bodies of
24 MB; one of those comes so slowly that there is no room for others as large, which must be told so. The daemon may answer 202 or
503 and nothing else, the process must stay, and what was refused is sent again under its id, as GitHub would if it was asked to. In the end the
burst is decided, the daemon is killed, and every delivery that it accepted must be in its table, with every pull request and its
wake.`
}

const (
	largeBodySize = 24 << 20        // GitHub sends at most 25 MB
	slowBodyTime  = 6 * time.Second // how long a slow body takes: longer than others wait for its room, shorter than GitHub's 10 s
)

// Run sends the burst and the large bodies to a daemon with little memory.
func (cmd pressureCmd) Run(b *harness) error {
	const base = baseInstallations * basePulls
	if cmd.Pulls < base || cmd.Pulls%base != 0 {
		return fmt.Errorf("read --pulls: %d is no multiple of %d", cmd.Pulls, base)
	}
	runs := map[string]int64{}
	play := func(p trackedPull) (err error) {
		runs[p.String()], err = p.startRun(0)
		return errors.Join(err, p.postApproval(0))
	}
	t, d, err := b.prepareTracked(
		fakeOptions{installations: baseInstallations, repositories: 1, pulls: basePulls, reviewers: 1, playBefore: play},
		nil,
	)
	if err != nil {
		return err
	}
	defer t.close()
	if _, err := d.terminate(20 * time.Second); err != nil {
		return err
	}
	if err := b.multiplyPulls(t, cmd.Pulls/base, play); err != nil {
		return err
	}
	t.hub.AddFault(sandbox.Fault{Match: "GET /app/installations", Status: 502}) // the start's resync of all copies would take minutes
	b.daemonEnv = append(b.daemonEnv, "GOMEMLIMIT="+cmd.Limit)
	if d, err = b.startDaemon(t, b.dir+"/coordinator.db"); err != nil {
		return err
	}
	b.report.addFigure("GOMEMLIMIT="+cmd.Limit+"; tracked pull requests", float64(len(t.allPulls())), "")
	small, large, pulls, err := cmd.buildDeliveries(t, runs)
	if err != nil {
		return err
	}
	d.forgetPeak()
	got := responseTally{statuses: map[int]int{}, accepted: map[string]bool{}, refused: map[int]string{}}
	began := time.Now()
	cmd.sendBurst(b.ctx, d, small, large, &got)
	b.report.addFigure("burst of events", float64(len(small)), "")
	b.report.addFigure("  over after", time.Since(began).Seconds(), "s")
	if err := got.resendRefused(b.ctx, d, small); err != nil {
		b.report.addViolation("what was refused is not accepted later: %v", err)
	}
	if err := awaitChecks(b.ctx, pulls, time.Minute, isPassed); err != nil {
		b.report.addViolation("%v", err)
	}
	b.report.addFigure("  all decided after", time.Since(began).Seconds(), "s")
	b.report.addAtMost("  peak RSS", d.readUsage().peakRSS, "MB", 192)
	select {
	case <-d.ended:
		b.report.addViolation("the daemon ended: %s", logTail(d.logFile))
	default:
	}
	got.reportTally(b)
	d.kill()
	return cmd.checkTable(b, t, &got)
}

// checkTable checks that the killed daemon's table holds every accepted delivery, pull request and wake.
func (cmd pressureCmd) checkTable(b *harness, t *fakeGitHub, got *responseTally) error {
	left, err := b.readLeftTable(b.ctx)
	if err != nil {
		return err
	}
	var keys []string
	for _, p := range t.allPulls() {
		keys = append(keys, p.tableKey())
	}
	b.report.addViolations("in the end", "things are not in the table", left.missingEntries(slices.Collect(maps.Keys(got.accepted)), keys))
	b.report.addViolations("in the end", "wakes are lost", left.lostWakes())
	return nil
}

// buildDeliveries makes the burst, one delivery for each of its pull requests, and one large body for each connection.
func (cmd pressureCmd) buildDeliveries(
	t *fakeGitHub,
	runs map[string]int64,
) (small, large []signedDelivery, pulls []trackedPull, err error) {
	all := t.allPulls()
	for i := range min(cmd.Events, len(all)) {
		p := all[i*7919%len(all)] // spread over the repositories
		w, err := t.endRun(p, runs[p.String()])
		if err != nil {
			return nil, nil, nil, err
		}
		small, pulls = append(small, w), append(pulls, p)
	}
	told, err := t.collectDeliveries(func() error { return all[len(all)-1].postApproval(0) })
	if err != nil {
		return nil, nil, nil, err
	}
	padding := bytes.Repeat([]byte("x"), largeBodySize)
	for range cmd.Large + 1 {
		d := told[0]
		d.Payload = slices.Concat([]byte(`{"padding":"`), padding, []byte(`",`), d.Payload[1:])
		large = append(large, t.signDelivery(d))
	}
	return small, large, pulls, nil
}

// sendBurst sends the small and the large deliveries at the same time. Each has a connection of its own: after a
// refusal the rest of the body would still be in it.
func (cmd pressureCmd) sendBurst(ctx context.Context, d *daemonProcess, small, large []signedDelivery, got *responseTally) {
	var pressing, bursting sync.WaitGroup
	var over atomic.Bool
	begun, first := context.WithCancel(ctx)
	pressing.Go(func() {
		defer first() // also if it was refused
		got.sendOne(ctx, d, large[0], newDeliveryID(), slowBodyTime, first)
	})
	<-begun.Done()
	_ = sleepFor(ctx, 100*time.Millisecond) // the daemon has made room for the slow body
	for _, w := range large[1:] {
		bursting.Go(func() {
			for !over.Load() && ctx.Err() == nil {
				got.sendOne(ctx, d, w, newDeliveryID(), 0, func() {})
			}
		})
	}
	var next atomic.Int64
	for range 16 {
		pressing.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(small) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if id := newDeliveryID(); !got.sendOne(ctx, d, small[i], id, 0, func() {}) {
					got.recordRefused(i, id)
				}
			}
		})
	}
	pressing.Wait()
	over.Store(true)
	bursting.Wait()
}

// A responseTally counts the daemon's answers.
type responseTally struct {
	mu         sync.Mutex
	statuses   map[int]int // 0: no answer
	accepted   map[string]bool
	refused    map[int]string // ids of the burst's refused deliveries, by index
	slowest    time.Duration
	unanswered []error // errors of deliveries without an answer
	unexpected []string
}

// sendOne sends one delivery on a connection of its own, and reports whether it was accepted.
func (g *responseTally) sendOne(ctx context.Context, d *daemonProcess, w signedDelivery, id string, slow time.Duration, begun func()) bool {
	began := time.Now()
	c, err := dialWebhook(ctx, d.webhookAddr)
	status, body := 0, []byte(nil)
	if err == nil {
		defer c.close()
		status, body, err = c.sendSlowly(ctx, w, id, slow, begun)
	}
	var answer struct {
		Result string `json:"result"`
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.statuses[status]++
	g.slowest = max(g.slowest, time.Since(began)-slow)
	if err != nil {
		g.unanswered = append(g.unanswered, err)
	}
	if status != http.StatusAccepted {
		return false
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Result != "accepted" {
		g.unexpected = append(g.unexpected, fmt.Sprintf("%s: %q", id, body))
		return false
	}
	g.accepted[id] = true
	return true
}

func (g *responseTally) recordRefused(i int, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused[i] = id
}

// resendRefused sends the burst's refused deliveries again under their ids.
func (g *responseTally) resendRefused(ctx context.Context, d *daemonProcess, small []signedDelivery) (err error) {
	for i, id := range g.refused {
		if !g.sendOne(ctx, d, small[i], id, 0, func() {}) {
			err = errors.New("a delivery was refused twice")
		}
	}
	return err
}

// reportTally reports the answers by status.
func (g *responseTally) reportTally(b *harness) {
	for status, n := range g.statuses {
		switch status {
		case http.StatusAccepted, http.StatusServiceUnavailable:
		case 0:
			b.report.addViolation("%d deliveries had no answer, for example: %v", n, g.unanswered[0])
		default:
			b.report.addViolation("%d deliveries were answered %d", n, status)
		}
	}
	b.report.addViolations("in the burst", "deliveries were answered 202 and not accepted", g.unexpected)
	b.report.addFigure("  answered 202", float64(g.statuses[http.StatusAccepted]), "")
	b.report.addAtLeast("  answered 503", float64(g.statuses[http.StatusServiceUnavailable]), "", 1)
	b.report.addFigure("  of the burst refused at first", float64(len(g.refused)), "")
	b.report.addFigure("  slowest answer", g.slowest.Seconds(), "s")
}
