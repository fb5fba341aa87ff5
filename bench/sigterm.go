package main

// bench sigterm: SIGTERM while more events are accepted than can be looked at.

import (
	"errors"
	"fmt"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

type sigtermCmd struct {
	Events int `default:"100" help:"Accepted events that are not looked at yet; more than looks are under way at once. Default ${default}."`
}

// Help is shown by bench sigterm --help.
func (sigtermCmd) Help() string {
	return `Each of the pull requests needs one event more to be decided. While they are accepted GitHub lets every request wait, until the
daemon was told to stop and accepts no more: so most are left over, however fast the machine. After the stop each accepted
delivery must be in the table, and each pull request that is not decided must be due. The next start cannot heal anything, as
GitHub does not tell it which installations there are: it must go on from the table, with the same rows.`
}

// maxDueDelay is the longest time until an accepted event is due: in a burst it waits for half a second.
const maxDueDelay = time.Second

// Run stops the daemon and checks what it left, and that the next start finishes it.
func (cmd sigtermCmd) Run(b *harness) error {
	runs := map[string]int64{}
	t, d, err := b.prepareTracked(
		fakeOptions{installations: 10, repositories: 1, pulls: (cmd.Events + 9) / 10},
		func(t *fakeGitHub) error { return prepareAlmostDecided(t, runs) },
	)
	if err != nil {
		return err
	}
	defer t.close()
	pulls := t.allPulls()[:cmd.Events]
	l := loadGenerator{daemon: d, connections: 16}
	for _, p := range pulls {
		w, err := t.endRun(p, runs[p.String()])
		if err != nil {
			return err
		}
		l.deliveries, l.deliveryIDs = append(l.deliveries, w), append(l.deliveryIDs, newDeliveryID())
	}
	release := t.holdRequests()
	if _, err := l.sendAll(b.ctx); err != nil {
		release()
		return err
	}
	due := time.Now().Add(maxDueDelay)
	go func() {
		defer release()
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end) && d.isListening(b.ctx); {
			_ = sleepFor(b.ctx, 10*time.Millisecond) // the loop has an end of its own
		}
	}()
	took, err := d.terminate(30 * time.Second)
	if err != nil {
		b.report.addViolation("%v", err)
	}
	left, err := b.readLeftTable(b.ctx)
	if err != nil {
		return err
	}
	undecided := cmd.reportLeftover(b, left, l.deliveryIDs, pulls, due)
	b.report.addFigure("accepted events", float64(cmd.Events), "")
	b.report.addAtMost("SIGTERM → gone", took.Seconds(), "s", 10)
	b.report.addFigure("decided before it went", float64(cmd.Events-undecided), "")
	b.report.addAtLeast("left for the next start", float64(undecided), "", 1)
	if err := cmd.restartAndCheck(b, t, pulls, left); err != nil {
		return err
	}
	for _, p := range t.allPulls() {
		if n := len(p.OwnCheckRuns(p.Head(p.number))); n != 1 {
			b.report.addViolation("%s has %d checks of ours", p, n)
		}
	}
	return nil
}

// reportLeftover reports what is missing in the table, and returns how many pull requests are not decided.
func (cmd sigtermCmd) reportLeftover(b *harness, left workTable, ids []string, pulls []trackedPull, due time.Time) (undecided int) {
	var keys, late, leased []string
	for _, p := range pulls {
		keys = append(keys, p.tableKey())
		if own := p.OwnCheckRuns(p.Head(p.number)); len(own) == 1 && isPassed(own[0]) {
			continue
		}
		undecided++
		if r, ok := left.rows[p.tableKey()]; ok && r.dueAt > due.UnixMicro() {
			late = append(late, fmt.Sprintf("%s, due at %d", p.tableKey(), r.dueAt))
		}
	}
	for key, r := range left.rows {
		if r.leased {
			leased = append(leased, key)
		}
	}
	b.report.addViolations("after the stop", "keys are still leased", leased)
	b.report.addViolations("after the stop", "things are not in the table", left.missingEntries(ids, keys))
	b.report.addViolations("after the stop", "pull requests that are not decided are not due", late)
	return undecided
}

// restartAndCheck starts the daemon again on the same database and checks that everything is decided.
func (cmd sigtermCmd) restartAndCheck(b *harness, t *fakeGitHub, pulls []trackedPull, left workTable) error {
	t.hub.AddFault(sandbox.Fault{Match: "GET /app/installations", Status: 502})
	d, err := b.startDaemon(t, b.dir+"/coordinator.db")
	if err != nil {
		return err
	}
	began := time.Now()
	if err := awaitChecks(b.ctx, pulls, time.Minute, isPassed); err != nil {
		b.report.addViolation("after the next start: %v", err)
	}
	b.report.addFigure("all decided after the next start within", time.Since(began).Seconds(), "s")
	t.hub.ClearFaults()
	rested := d.awaitIdle(b.ctx, time.Second, time.Minute)
	if _, err := d.terminate(30 * time.Second); err != nil {
		b.report.addViolation("%v", err)
	}
	now, err := b.readLeftTable(b.ctx)
	if err != nil {
		return errors.Join(rested, err)
	}
	b.report.addViolations("after the next start", "keys were not kept", now.brokenKeys(left))
	for id := range left.deliveries {
		if !now.deliveries[id] {
			b.report.addViolation("after the next start: the delivery %s is not in the table any more", id)
			break
		}
	}
	return rested
}
