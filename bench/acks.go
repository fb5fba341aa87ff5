package main

// Acknowledging: a delivery is answered once it is on the disk.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

type acksCmd struct {
	Connections int           `default:"64" help:"Connections that are kept. Default ${default}."`
	For         time.Duration `default:"10s" help:"How long each part takes. Default ${default}."`
	Rate        int           `default:"1000" help:"Deliveries a second in the second part. Default ${default}."`
	Pulls       int           `default:"1000" help:"Tracked pull requests, in 50 installations. Default ${default}."`
}

// Help is shown by bench acks --help.
func (acksCmd) Help() string {
	return `Every delivery is signed, has an id of its own, and tells of a run on a tracked pull request that is no reviewer's, so that
the whole way is taken: read, verified, parsed, written with fsync, claimed by a worker, judged, and completed without a request.
First as fast as the connections are answered; then at a fixed rate, counting from when each was due, however late it was sent.`
}

// Run measures.
func (cmd acksCmd) Run(b *bench) error {
	t, d, err := b.prepared(townOptions{installations: 50, repositories: 1, pulls: cmd.Pulls / 50}, nil)
	if err != nil {
		return err
	}
	defer t.close()
	wires, err := t.strangers(b)
	if err != nil {
		return err
	}
	t.asked()
	before := d.use()
	l := load{daemon: d, wires: wires, connections: cmd.Connections}
	b.say("as fast as it goes for %s", cmd.For)
	fast, err := l.closed(b.ctx, cmd.For)
	if err != nil {
		return err
	}
	after := d.use()
	b.report.least("acks", float64(len(fast))/cmd.For.Seconds(), "/s", 5000)
	b.report.add("  p50", fast.at(0.5), "ms")
	b.report.add("  p99", fast.at(0.99), "ms")
	b.report.add("  daemon's CPU an event", ms(after.cpu-before.cpu)/float64(max(len(fast), 1)), "ms")
	b.report.add("  payload", float64(mean(wires))/1000, "KB")
	if err := d.rest(b.ctx, time.Second, time.Minute); err != nil {
		return err
	}
	b.say("%d/s for %s", cmd.Rate, cmd.For)
	slow, err := l.open(b.ctx, cmd.Rate, cmd.For)
	if err != nil {
		return err
	}
	b.report.add(fmt.Sprintf("at %d/s: p50", cmd.Rate), slow.at(0.5), "ms")
	b.report.most(fmt.Sprintf("at %d/s: p99", cmd.Rate), slow.at(0.99), "ms", 15)
	b.report.add("  max", slow.at(1), "ms")
	b.report.add("requests to GitHub meanwhile", float64(len(t.asked())), "")
	b.report.add("daemon's peak RSS", d.use().peak, "MB")
	return nil
}

func mean(wires []wire) int {
	n := 0
	for _, w := range wires {
		n += len(w.body)
	}
	return n / max(len(wires), 1)
}

// strangers are deliveries that concern no reviewer, one for each pull request.
func (t *town) strangers(b *bench) ([]wire, error) {
	var wires []wire
	for _, p := range t.pulls() {
		d, err := t.stranger(p)
		if err != nil {
			return nil, err
		}
		wires = append(wires, t.wired(d))
		if b.ctx.Err() != nil {
			return nil, b.ctx.Err()
		}
	}
	return wires, nil
}

// load sends deliveries over and over, each time with a new id.
type load struct {
	daemon      *daemon
	wires       []wire
	connections int
	ids         []string // of the deliveries, where each is sent once and must be known; nil: new ones
}

// closed sends the next as soon as the last is answered.
func (l load) closed(ctx context.Context, most time.Duration) (times, error) {
	end := time.Now().Add(most)
	return l.each(ctx, func(send func(int) error) error {
		for i := rand.IntN(len(l.wires)); time.Now().Before(end); i++ {
			if err := send(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// all sends each delivery once.
func (l load) all(ctx context.Context) (times, error) {
	var next atomic.Int64
	return l.each(ctx, func(send func(int) error) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(l.wires) {
				return nil
			}
			if err := send(i); err != nil {
				return err
			}
		}
	})
}

// each runs do on every connection and gathers how long each answer took.
func (l load) each(ctx context.Context, do func(send func(i int) error) error) (all times, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	for range l.connections {
		group.Go(func() {
			var took times
			failed := l.connected(ctx, func(c *line) error {
				return do(func(i int) error {
					began := time.Now()
					err := accept(c, l.wires[i%len(l.wires)], l.id(i))
					took = append(took, time.Since(began))
					return errors.Join(err, ctx.Err())
				})
			})
			mu.Lock()
			defer mu.Unlock()
			all, err = append(all, took...), errors.Join(err, failed)
		})
	}
	group.Wait()
	return all, err
}

func (l load) connected(ctx context.Context, do func(*line) error) error {
	c, err := dial(ctx, l.daemon.hooks)
	if err != nil {
		return err
	}
	defer c.close()
	return do(c)
}

func (l load) id(i int) string {
	if l.ids == nil {
		return newID()
	}
	return l.ids[i]
}

func accept(c *line, w wire, id string) error {
	status, body, err := c.send(w, id)
	if err == nil && status != http.StatusAccepted {
		err = fmt.Errorf("the daemon answered %d: %s", status, body)
	}
	return err
}

// open sends so many a second, whether or not those before are answered. A delivery's time counts from when it was due:
// one that had to wait for a connection waited for the daemon.
func (l load) open(ctx context.Context, rate int, most time.Duration) (all times, err error) {
	due := make(chan time.Time, rate*int(most/time.Second)+1)
	go func() {
		defer close(due)
		began := time.Now()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for n, total := 0, int(float64(rate)*most.Seconds()); n < total; {
			select {
			case <-ctx.Done():
				return
			case now := <-tick.C:
				for at := began.Add(time.Duration(n) * time.Second / time.Duration(rate)); n < total && !at.After(now); at = began.Add(time.Duration(n) * time.Second / time.Duration(rate)) {
					due <- at
					n++
				}
			}
		}
	}()
	var mu sync.Mutex
	var group sync.WaitGroup
	for range l.connections {
		group.Go(func() {
			var took times
			failed := l.connected(ctx, func(c *line) error {
				i := rand.IntN(len(l.wires))
				for at := range due {
					if err := accept(c, l.wires[i%len(l.wires)], newID()); err != nil {
						return err
					}
					took = append(took, time.Since(at))
					i++
				}
				return nil
			})
			mu.Lock()
			defer mu.Unlock()
			all, err = append(all, took...), errors.Join(err, failed)
		})
	}
	group.Wait()
	return all, errors.Join(err, ctx.Err())
}
