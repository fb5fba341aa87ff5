package main

// SIGTERM while more is accepted than looks can be under way.

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

// soonDue is after how long at most everything accepted is due: in a rush it waits for half a second.
const soonDue = time.Second

// Run stops.
func (cmd sigtermCmd) Run(b *bench) error {
	runs := map[string]int64{}
	t, d, err := b.prepared(townOptions{installations: 10, repositories: 1, pulls: (cmd.Events + 9) / 10}, func(t *town) error { return almost(t, runs) })
	if err != nil {
		return err
	}
	defer t.close()
	pulls := t.pulls()[:cmd.Events]
	l := load{daemon: d, connections: 16}
	for _, p := range pulls {
		w, err := t.ends(p, runs[p.String()])
		if err != nil {
			return err
		}
		l.wires, l.ids = append(l.wires, w), append(l.ids, newID())
	}
	release := t.hold()
	if _, err := l.all(b.ctx); err != nil {
		release()
		return err
	}
	due := time.Now().Add(soonDue)
	go func() {
		defer release()
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end) && d.listens(b.ctx); {
			_ = pause(b.ctx, 10*time.Millisecond) // it has its end
		}
	}()
	took, err := d.terminate(30 * time.Second)
	if err != nil {
		b.report.violated("%v", err)
	}
	left, err := b.left(b.ctx)
	if err != nil {
		return err
	}
	undecided := cmd.judge(b, left, l.ids, pulls, due)
	b.report.add("accepted events", float64(cmd.Events), "")
	b.report.most("SIGTERM → gone", took.Seconds(), "s", 10)
	b.report.add("decided before it went", float64(cmd.Events-undecided), "")
	b.report.least("left for the next start", float64(undecided), "", 1)
	if err := cmd.again(b, t, pulls, left); err != nil {
		return err
	}
	for _, p := range t.pulls() {
		if n := len(p.Own(p.Head(p.number))); n != 1 {
			b.report.violated("%s has %d checks of ours", p, n)
		}
	}
	return nil
}

// judge says what is not in the table and should be, and returns how many pull requests are not decided.
func (cmd sigtermCmd) judge(b *bench, left table, ids []string, pulls []pull, due time.Time) (undecided int) {
	var keys, late, leased []string
	for _, p := range pulls {
		keys = append(keys, p.key())
		if own := p.Own(p.Head(p.number)); len(own) == 1 && passed(own[0]) {
			continue
		}
		undecided++
		if r, ok := left.rows[p.key()]; ok && r.due > due.UnixMicro() {
			late = append(late, fmt.Sprintf("%s, due at %d", p.key(), r.due))
		}
	}
	for key, r := range left.rows {
		if r.leased {
			leased = append(leased, key)
		}
	}
	b.report.violations("after the stop", "keys are still leased", leased)
	b.report.violations("after the stop", "things are not in the table", left.missing(ids, keys))
	b.report.violations("after the stop", "pull requests that are not decided are not due", late)
	return undecided
}

// again starts the daemon once more, on what it has left.
func (cmd sigtermCmd) again(b *bench, t *town, pulls []pull, left table) error {
	t.hub.Fault(sandbox.Fault{Match: "GET /app/installations", Status: 502})
	d, err := b.start(t, b.dir+"/coordinator.db")
	if err != nil {
		return err
	}
	began := time.Now()
	if err := checked(b.ctx, pulls, time.Minute, passed); err != nil {
		b.report.violated("after the next start: %v", err)
	}
	b.report.add("all decided after the next start within", time.Since(began).Seconds(), "s")
	t.hub.ClearFaults()
	rested := d.rest(b.ctx, time.Second, time.Minute)
	if _, err := d.terminate(30 * time.Second); err != nil {
		b.report.violated("%v", err)
	}
	now, err := b.left(b.ctx)
	if err != nil {
		return errors.Join(rested, err)
	}
	b.report.violations("after the next start", "keys were not kept", now.broken(left))
	for id := range left.deliveries {
		if !now.deliveries[id] {
			b.report.violated("after the next start: the delivery %s is not in the table any more", id)
			break
		}
	}
	return rested
}
