package main

// bench crash and bench chaos: daemons that are struck while pull requests change all the time.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A crashPoint is a moment at which the daemon is struck: after a while of its start, or of its work, or at one of the first
// few moments of a kind.
type crashPoint struct {
	name string
	kind momentKind // 0: any moment
	path string     // what the path of a request that writes has in it
	few  int
}

var crashPoints = []crashPoint{
	{name: "in its start"},
	{name: "at work"},
	{"after a 202", acknowledged, "", 6},
	{"a check written, the answer lost", carriedOut, "/check-runs", 6},
	{"a check written and answered", answered, "/check-runs", 6},
	{"a run run again, the answer lost", carriedOut, "/rerun", 1},
	{"a run run again, and answered", answered, "/rerun", 1},
}

var inStart, atWork = crashPoints[0], crashPoints[1]

// crashMode is bench crash.
type crashMode struct {
	*load
	rng     *rand.Rand
	running atomic.Pointer[daemon]
}

// runCrash strikes the daemon at one point after another, and checks what is left.
func runCrash(b *bench) error {
	l, err := b.newLoad(os.Getenv("COORDINATOR_POSTGRES"))
	if err != nil {
		return err
	}
	m := &crashMode{load: l, rng: rand.New(rand.NewPCG(b.seed, 11))}
	l.pick = m.running.Load
	finish := m.startPushes()
	began, hits, order := time.Now(), map[string]int{}, m.rng.Perm(len(crashPoints))
	for n := range b.points {
		p, signal := crashPoints[order[n%len(order)]], syscall.SIGKILL
		if m.rng.IntN(4) == 0 && n < b.points-1 { // the last one leaves leases behind
			signal = syscall.SIGTERM
		}
		m.setWhen("before point %d (%s, %s)", n+1, p.name, signal)
		came, err := m.strikeDaemon(b, p, signal)
		if err != nil {
			return fmt.Errorf("point %d (%s, %s), seed %d: %w", n+1, p.name, signal, b.seed, err)
		}
		hits[fmt.Sprintf("%s, %s", came.name, signal)]++
	}
	fmt.Fprintf(b.stdout, "%d points on %s in %s, seed %d: %v\n", b.points, m.database.driver, time.Since(began), b.seed, hits)
	began = time.Now()
	m.setWhen("after the last point")
	d, err := b.startDaemon(m.github, m.database, nil)
	if err != nil {
		return err
	}
	m.withLock(func() { m.calmSince = time.Now() })
	m.running.Store(d)
	finish()
	b.printFigure("until every push had its check", time.Since(began).Seconds(), "s")
	// It is less than a lease, which is 30 s long: what a killed daemon was looking at does not wait for its end.
	b.requireAtMost("  the longest of those that asked for no rerun", m.slowest.Seconds(), 20, "s")
	if err := d.endProcess(syscall.SIGTERM); err != nil {
		b.reportFailure("%v", err)
	}
	return m.checkOutcome()
}

// strikeDaemon starts the daemon and sends it a signal at a point. It returns the point that came: the awaited one may not.
func (m *crashMode) strikeDaemon(b *bench, p crashPoint, signal syscall.Signal) (came crashPoint, err error) {
	var once sync.Once
	struck := make(chan struct{})
	strike := func(d *daemon, at crashPoint) {
		once.Do(func() {
			came = at
			close(struck) // first, so that the reason is known once the process is gone
			d.sendSignal(signal)
		})
	}
	life, nth := 1500*time.Millisecond, int64(1+m.rng.IntN(max(p.few, 1))) // life: if the moment does not come
	early := time.Duration(m.rng.IntN(200)) * time.Millisecond
	if p == atWork {
		life = 3 * early
	}
	defer m.github.hook.Store(nil)
	d, err := b.startDaemon(m.github, m.database, func(d *daemon) {
		var count atomic.Int64
		hook := func(at moment) {
			if at.kind == p.kind && at.method != http.MethodGet && strings.Contains(at.path, p.path) && count.Add(1) == nth {
				strike(d, p)
			}
		}
		m.github.hook.Store(&hook)
		if p == inStart {
			time.AfterFunc(early, func() { strike(d, p) })
		}
	})
	if err != nil {
		select {
		case <-struck:
			return came, nil
		default:
			return came, err // it was not we who ended it
		}
	}
	m.running.Store(d)
	defer m.running.Store(nil)
	defer time.AfterFunc(life, func() { strike(d, atWork) }).Stop()
	<-struck
	return came, d.awaitEnd(signal)
}

// blows are what is done to a replica: each once of twelve times, else at random one of those that do not take as long as the first.
var blows = []string{"halted until long after its leases have run out", "killed", "the server restarted", "stopped and replaced"}

// A replica is one of the daemons.
type replica struct {
	daemon atomic.Pointer[daemon]
	aside  atomic.Bool // it gets no deliveries: a load balancer would have noticed
	struck atomic.Bool // what was done to it has not ended
}

// chaosMode is bench chaos.
type chaosMode struct {
	*load
	replicas [3]replica
}

// runChaos strikes one replica after another, and checks what is left.
func runChaos(b *bench) error {
	server := os.Getenv("COORDINATOR_POSTGRES")
	if server == "" || os.Getenv("COORDINATOR_POSTGRES_RESTART") == "" {
		return errors.New("chaos needs a PostgreSQL, and what restarts it: .ci/postgres.sh starts one for a command")
	}
	l, err := b.newLoad(server)
	if err != nil {
		return err
	}
	m := &chaosMode{load: l}
	for i := range m.replicas {
		if err := m.startReplica(&m.replicas[i]); err != nil {
			return err
		}
	}
	l.pick = func() *daemon {
		if r := &m.replicas[rand.IntN(len(m.replicas))]; !r.aside.Load() {
			return r.daemon.Load()
		}
		return nil
	}
	began, finish := time.Now(), l.startPushes()
	if err := m.strikeAll(b); err != nil {
		return err
	}
	l.setWhen("after the last blow")
	finish()
	for i := range m.replicas {
		if err := m.replicas[i].daemon.Load().endProcess(syscall.SIGTERM); err != nil {
			b.reportFailure("in the end: %v", err)
		}
	}
	b.printFigure("took", time.Since(began).Seconds(), fmt.Sprintf("s; seed %d", b.seed))
	most := 2 * b.blows // one away and one back for each blow
	b.requireAtMost("how often an installation moved to another daemon", float64(l.github.countMoves()), float64(most), "times")
	return l.checkOutcome()
}

// strikeAll strikes one replica after another, and returns once all of them work again.
func (m *chaosMode) strikeAll(b *bench) error {
	rng := rand.New(rand.NewPCG(b.seed, 17))
	var group sync.WaitGroup
	defer group.Wait()
	for n := range b.blows {
		w := blows[1+rng.IntN(len(blows)-1)]
		if n%12 < len(blows) {
			w = blows[n%12]
		}
		var r *replica
		i := n
		works := func() bool { i, r = i+1, &m.replicas[i%len(m.replicas)]; return !r.struck.Load() }
		if err := errors.Join(sleepFor(b.ctx, 4*time.Second), b.awaitThat("replica that works", time.Minute, works)); err != nil {
			return err
		}
		fmt.Fprintf(b.stdout, "blow %d: %s\n", n+1, w)
		m.setWhen("after blow %d (%s)", n+1, w)
		r.struck.Store(true)
		group.Go(func() {
			noticed := time.AfterFunc(time.Second, func() { r.aside.Store(true) })
			if err := m.strikeReplica(b, r, w); err != nil {
				b.reportFailure("%s: %v", w, err)
			}
			noticed.Stop()
			r.aside.Store(false)
			r.struck.Store(false)
		})
	}
	return nil
}

// strikeReplica does something to a replica, and returns once it works again.
func (m *chaosMode) strikeReplica(b *bench, r *replica, what string) error {
	d := r.daemon.Load()
	switch what {
	case blows[0]:
		d.sendSignal(syscall.SIGSTOP)
		defer d.sendSignal(syscall.SIGCONT)
		return sleepFor(b.ctx, 35*time.Second) // a lease is 30 s long
	case blows[1]:
		return errors.Join(d.endProcess(syscall.SIGKILL), m.startReplica(r))
	case blows[2]:
		command := os.Getenv("COORDINATOR_POSTGRES_RESTART")
		if out, err := exec.CommandContext(b.ctx, "sh", "-c", command).CombinedOutput(); err != nil { //nolint:gosec // the user's own
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	default:
		return errors.Join(d.endProcess(syscall.SIGTERM), m.startReplica(r))
	}
}

// startReplica starts a replica's process, as often as it takes: the server may be away.
func (m *chaosMode) startReplica(r *replica) error {
	return m.bench.awaitThat("start of a replica", 30*time.Second, func() bool {
		d, err := m.bench.startDaemon(m.github, m.database, nil)
		r.daemon.Store(d)
		return err == nil
	})
}
