package main

// bench acks: how fast deliveries are acknowledged, which happens once they are on the disk. Of several daemons on one PostgreSQL,
// beside one on SQLite, replicas.go measures it.

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
	Connections int           `default:"64"   help:"Connections that are kept. Default ${default}."`
	For         time.Duration `default:"10s"  help:"How long each part takes. Default ${default}."`
	Rate        int           `default:"1000" help:"Deliveries a second in the second part. Default ${default}."`
	Pulls       int           `default:"1000" help:"Tracked pull requests, in 50 installations. Default ${default}."`

	Replicas []int  `placeholder:"N,…" help:"Measure so many daemons that share one PostgreSQL, too, beside SQLite: 1,2,3, say."`
	Rounds   int    `default:"3" help:"With --replicas: rounds, in each of which all are measured in turn. Default ${default}."`
	Crashes  int    `default:"5" help:"With --replicas: how often PostgreSQL crashes under load in the end. Default ${default}."`
	Postgres string `placeholder:"URL" env:"COORDINATOR_POSTGRES" help:"With --replicas: a PostgreSQL where a schema can be made."`
	Restart  string `placeholder:"COMMAND" env:"COORDINATOR_POSTGRES_RESTART" help:"What restarts that as after a crash; else it is not."`
}

// Help is shown by bench acks --help.
func (acksCmd) Help() string {
	return `Every delivery is signed, has an id of its own, and tells of a run on a tracked pull request that is no reviewer's, so that
the whole way is taken: read, verified, parsed, written with fsync, claimed by a worker, judged, and completed without a request.
First as fast as the connections are answered; then at a fixed rate, counting from when each was due, however late it was sent.

With --replicas, SQLite and each number of daemons on PostgreSQL take turns in each round, as a shared machine changes its speed. In the
end PostgreSQL is stopped under load as by a crash, and started again: each delivery that was ever answered 202 must be in the table.

  COORDINATOR_POSTGRES_FSYNC=on .ci/postgres.sh go run ./bench acks --replicas 1,2,3`
}

// Run measures acknowledgements, first as fast as possible and then at a fixed rate.
func (cmd acksCmd) Run(b *harness) error {
	if len(cmd.Replicas) > 0 {
		return cmd.compareReplicas(b)
	}
	t, d, err := b.prepareTracked(fakeOptions{installations: 50, repositories: 1, pulls: cmd.Pulls / 50}, nil)
	if err != nil {
		return err
	}
	defer t.close()
	wires, err := t.irrelevantDeliveries(b)
	if err != nil {
		return err
	}
	t.takeRequests()
	before := d.readUsage()
	l := loadGenerator{daemon: d, deliveries: wires, connections: cmd.Connections}
	b.logProgress("as fast as it goes for %s", cmd.For)
	fast, err := l.runClosedLoop(b.ctx, cmd.For)
	if err != nil {
		return err
	}
	after := d.readUsage()
	b.report.addAtLeast("acks", float64(len(fast))/cmd.For.Seconds(), "/s", 5000)
	b.report.addFigure("  p50", fast.quantileMillis(0.5), "ms")
	b.report.addFigure("  p99", fast.quantileMillis(0.99), "ms")
	b.report.addFigure("  daemon's CPU an event", toMillis(after.cpu-before.cpu)/float64(max(len(fast), 1)), "ms")
	b.report.addFigure("  payload", float64(meanBodySize(wires))/1000, "KB")
	if err := d.awaitIdle(b.ctx, time.Second, time.Minute); err != nil {
		return err
	}
	b.logProgress("%d/s for %s", cmd.Rate, cmd.For)
	slow, err := l.runOpenLoop(b.ctx, cmd.Rate, cmd.For)
	if err != nil {
		return err
	}
	b.report.addFigure(fmt.Sprintf("at %d/s: p50", cmd.Rate), slow.quantileMillis(0.5), "ms")
	b.report.addAtMost(fmt.Sprintf("at %d/s: p99", cmd.Rate), slow.quantileMillis(0.99), "ms", 15)
	b.report.addFigure("  max", slow.quantileMillis(1), "ms")
	b.report.addFigure("requests to GitHub meanwhile", float64(len(t.takeRequests())), "")
	b.report.addFigure("daemon's peak RSS", d.readUsage().peakRSS, "MB")
	return nil
}

func meanBodySize(wires []signedDelivery) int {
	n := 0
	for _, w := range wires {
		n += len(w.body)
	}
	return n / max(len(wires), 1)
}

// irrelevantDeliveries makes deliveries that concern no reviewer, one for each pull request.
func (t *fakeGitHub) irrelevantDeliveries(b *harness) ([]signedDelivery, error) {
	var wires []signedDelivery
	for _, p := range t.allPulls() {
		d, err := t.irrelevantDelivery(p)
		if err != nil {
			return nil, err
		}
		wires = append(wires, t.signDelivery(d))
		if b.ctx.Err() != nil {
			return nil, b.ctx.Err()
		}
	}
	return wires, nil
}

// loadGenerator sends deliveries over and over, each time with a new id.
type loadGenerator struct {
	daemon      *daemonProcess
	others      []*daemonProcess // get connections in turn with daemon
	deliveries  []signedDelivery
	connections int
	deliveryIDs []string        // by index, for deliveries that are sent once; nil: a new id each time
	onAccepted  func(id string) // told each id that was answered 202, by several goroutines; may be nil
}

// runClosedLoop sends on each connection the next delivery as soon as the last one is answered.
func (l loadGenerator) runClosedLoop(ctx context.Context, most time.Duration) (durations, error) {
	end := time.Now().Add(most)
	return l.onEachConnection(ctx, func(send func(int) error) error {
		for i := rand.IntN(len(l.deliveries)); time.Now().Before(end); i++ {
			if err := send(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// sendAll sends each delivery once.
func (l loadGenerator) sendAll(ctx context.Context) (durations, error) {
	var next atomic.Int64
	return l.onEachConnection(ctx, func(send func(int) error) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(l.deliveries) {
				return nil
			}
			if err := send(i); err != nil {
				return err
			}
		}
	})
}

// onEachConnection runs do on every connection and gathers how long each answer took.
func (l loadGenerator) onEachConnection(ctx context.Context, do func(send func(i int) error) error) (all durations, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	for n := range l.connections {
		group.Go(func() {
			var took durations
			failed := l.withConnection(ctx, n, func(c *webhookConn) error {
				return do(func(i int) error {
					began := time.Now()
					err := l.sendNext(c, i, l.deliveryID(i))
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

// withConnection opens the connection of a number, to the daemon whose turn it is.
func (l loadGenerator) withConnection(ctx context.Context, n int, do func(*webhookConn) error) error {
	d := l.daemon
	if turn := n % (1 + len(l.others)); turn > 0 {
		d = l.others[turn-1]
	}
	c, err := dialWebhook(ctx, d.webhookAddr)
	if err != nil {
		return err
	}
	defer c.close()
	return do(c)
}

func (l loadGenerator) deliveryID(i int) string {
	if l.deliveryIDs == nil {
		return newDeliveryID()
	}
	return l.deliveryIDs[i]
}

// sendNext sends the delivery of an index, and tells of it once it is accepted.
func (l loadGenerator) sendNext(c *webhookConn, i int, id string) error {
	err := sendAccepted(c, l.deliveries[i%len(l.deliveries)], id)
	if err == nil && l.onAccepted != nil {
		l.onAccepted(id)
	}
	return err
}

func sendAccepted(c *webhookConn, w signedDelivery, id string) error {
	status, body, err := c.sendDelivery(w, id)
	if err == nil && status != http.StatusAccepted {
		err = fmt.Errorf("the daemon answered %d: %s", status, body)
	}
	return err
}

// runOpenLoop sends rate deliveries a second, whether or not earlier ones are answered. A delivery's time counts from
// when it was due: if it had to wait for a connection, it waited for the daemon.
func (l loadGenerator) runOpenLoop(ctx context.Context, rate int, most time.Duration) (all durations, err error) {
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
				turn := func() time.Time { return began.Add(time.Duration(n) * time.Second / time.Duration(rate)) }
				for at := turn(); n < total && !at.After(now); at = turn() {
					due <- at
					n++
				}
			}
		}
	}()
	var mu sync.Mutex
	var group sync.WaitGroup
	for n := range l.connections {
		group.Go(func() {
			var took durations
			failed := l.withConnection(ctx, n, func(c *webhookConn) error {
				i := rand.IntN(len(l.deliveries))
				for at := range due {
					if err := l.sendNext(c, i, newDeliveryID()); err != nil {
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
