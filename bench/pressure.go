package main

// Little memory: many pull requests, a burst, and bodies as large as GitHub sends, all at once.

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
	Events int    `default:"2000" help:"Of them so many are decided by the burst. Default ${default}."`
	Large  int    `default:"8" help:"Connections that send one body of 24 MB after another meanwhile. Default ${default}."`
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
	largeBody = 24 << 20        // GitHub sends at most 25 MB
	slowBody  = 6 * time.Second // how long one takes that comes slowly: longer than others wait for its room, shorter than GitHub's 10
)

// Run presses.
func (cmd pressureCmd) Run(b *bench) error {
	const base = baseInstallations * basePulls
	if cmd.Pulls < base || cmd.Pulls%base != 0 {
		return fmt.Errorf("read --pulls: %d is no multiple of %d", cmd.Pulls, base)
	}
	runs := map[string]int64{}
	play := func(p pull) (err error) {
		runs[p.String()], err = p.starts(0)
		return errors.Join(err, p.approves(0))
	}
	t, d, err := b.prepared(townOptions{installations: baseInstallations, repositories: 1, pulls: basePulls, reviewers: 1, play: play}, nil)
	if err != nil {
		return err
	}
	defer t.close()
	if _, err := d.terminate(20 * time.Second); err != nil {
		return err
	}
	if err := b.multiply(t, cmd.Pulls/base, play); err != nil {
		return err
	}
	t.hub.Fault(sandbox.Fault{Match: "GET /app/installations", Status: 502}) // looking over the copies would take GitHub's limits minutes
	b.env = append(b.env, "GOMEMLIMIT="+cmd.Limit)
	if d, err = b.start(t, b.dir+"/coordinator.db"); err != nil {
		return err
	}
	b.report.add("GOMEMLIMIT="+cmd.Limit+"; tracked pull requests", float64(len(t.pulls())), "")
	small, large, pulls, err := cmd.deliveries(t, runs)
	if err != nil {
		return err
	}
	d.forgetPeak()
	got := tally{statuses: map[int]int{}, accepted: map[string]bool{}, refused: map[int]string{}}
	began := time.Now()
	cmd.burst(b.ctx, d, small, large, &got)
	b.report.add("burst of events", float64(len(small)), "")
	b.report.add("  over after", time.Since(began).Seconds(), "s")
	if err := got.again(b.ctx, d, small); err != nil {
		b.report.violated("what was refused is not accepted later: %v", err)
	}
	if err := checked(b.ctx, pulls, time.Minute, passed); err != nil {
		b.report.violated("%v", err)
	}
	b.report.add("  all decided after", time.Since(began).Seconds(), "s")
	b.report.most("  peak RSS", d.use().peak, "MB", 192)
	select {
	case <-d.ended:
		b.report.violated("the daemon ended: %s", lastLines(d.log))
	default:
	}
	got.judge(b)
	d.kill()
	return cmd.after(b, t, &got)
}

// after reads what is left in the table.
func (cmd pressureCmd) after(b *bench, t *town, got *tally) error {
	left, err := b.left(b.ctx)
	if err != nil {
		return err
	}
	var keys []string
	for _, p := range t.pulls() {
		keys = append(keys, p.key())
	}
	b.report.violations("in the end", "things are not in the table", left.missing(slices.Collect(maps.Keys(got.accepted)), keys))
	b.report.violations("in the end", "wakes are lost", left.asleep())
	return nil
}

// deliveries are the burst, one for each of its pull requests, and one large body for each connection.
func (cmd pressureCmd) deliveries(t *town, runs map[string]int64) (small, large []wire, pulls []pull, err error) {
	all := t.pulls()
	for i := range min(cmd.Events, len(all)) {
		p := all[i*7919%len(all)] // of another repository each time
		w, err := t.ends(p, runs[p.String()])
		if err != nil {
			return nil, nil, nil, err
		}
		small, pulls = append(small, w), append(pulls, p)
	}
	told, err := t.told(func() error { return all[len(all)-1].approves(0) })
	if err != nil {
		return nil, nil, nil, err
	}
	padding := bytes.Repeat([]byte("x"), largeBody)
	for range cmd.Large + 1 {
		d := told[0]
		d.Payload = slices.Concat([]byte(`{"padding":"`), padding, []byte(`",`), d.Payload[1:])
		large = append(large, t.wired(d))
	}
	return small, large, pulls, nil
}

// burst sends everything. A connection on which a body was refused is not used again: what is left of the body stands in it.
func (cmd pressureCmd) burst(ctx context.Context, d *daemon, small, large []wire, got *tally) {
	var pressing, bursting sync.WaitGroup
	var over atomic.Bool
	begun, first := context.WithCancel(ctx)
	pressing.Go(func() {
		defer first() // it was refused
		got.post(ctx, d, large[0], newID(), slowBody, first)
	})
	<-begun.Done()
	_ = pause(ctx, 100*time.Millisecond) // the slow one has its room: what was written was read
	for _, w := range large[1:] {
		bursting.Go(func() {
			for !over.Load() && ctx.Err() == nil {
				got.post(ctx, d, w, newID(), 0, func() {})
			}
		})
	}
	var next atomic.Int64
	for range 16 {
		pressing.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(small) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if id := newID(); !got.post(ctx, d, small[i], id, 0, func() {}) {
					got.refuse(i, id)
				}
			}
		})
	}
	pressing.Wait()
	over.Store(true)
	bursting.Wait()
}

// A tally is what the daemon answered.
type tally struct {
	mu       sync.Mutex
	statuses map[int]int // 0: nothing
	accepted map[string]bool
	refused  map[int]string // of the burst, with its id
	largest  time.Duration
	unsaid   []error // of those that had no answer
	odd      []string
}

// post sends one delivery on a connection of its own, and reports whether it was accepted.
func (g *tally) post(ctx context.Context, d *daemon, w wire, id string, slow time.Duration, begun func()) bool {
	began := time.Now()
	c, err := dial(ctx, d.hooks)
	status, body := 0, []byte(nil)
	if err == nil {
		defer c.close()
		status, body, err = c.slowly(ctx, w, id, slow, begun)
	}
	var answer struct {
		Result string `json:"result"`
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.statuses[status]++
	g.largest = max(g.largest, time.Since(began)-slow)
	if err != nil {
		g.unsaid = append(g.unsaid, err)
	}
	if status != http.StatusAccepted {
		return false
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Result != "accepted" {
		g.odd = append(g.odd, fmt.Sprintf("%s: %q", id, body))
		return false
	}
	g.accepted[id] = true
	return true
}

func (g *tally) refuse(i int, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused[i] = id
}

// again sends once more what was refused of the burst.
func (g *tally) again(ctx context.Context, d *daemon, small []wire) (err error) {
	for i, id := range g.refused {
		if !g.post(ctx, d, small[i], id, 0, func() {}) {
			err = errors.New("a delivery was refused twice")
		}
	}
	return err
}

// judge reports what was answered.
func (g *tally) judge(b *bench) {
	for status, n := range g.statuses {
		switch status {
		case http.StatusAccepted, http.StatusServiceUnavailable:
		case 0:
			b.report.violated("%d deliveries had no answer, for example: %v", n, g.unsaid[0])
		default:
			b.report.violated("%d deliveries were answered %d", n, status)
		}
	}
	b.report.violations("in the burst", "deliveries were answered 202 and not accepted", g.odd)
	b.report.add("  answered 202", float64(g.statuses[http.StatusAccepted]), "")
	b.report.least("  answered 503", float64(g.statuses[http.StatusServiceUnavailable]), "", 1)
	b.report.add("  of the burst refused at first", float64(len(g.refused)), "")
	b.report.add("  slowest answer", g.largest.Seconds(), "s")
}
