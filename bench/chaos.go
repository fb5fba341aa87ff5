package main

// bench chaos: replicas on one PostgreSQL that are killed, halted, stopped and cut off, and a database that restarts.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

type chaosCmd struct {
	Postgres string        `required:"" placeholder:"URL" env:"COORDINATOR_POSTGRES" help:"A PostgreSQL where a schema can be made."`
	Restart  string        `placeholder:"COMMAND" env:"COORDINATOR_POSTGRES_RESTART" help:"What restarts that; else it is not."`
	Replicas int           `default:"3" help:"Daemons. Default ${default}."`
	Blows    int           `default:"12" help:"How often something is done to one of them. Default ${default}."`
	Pause    time.Duration `default:"4s" help:"Between two blows. Default ${default}."`
	Seed     uint64        `default:"1" help:"Of what happens. Default ${default}."`
	Repos    int           `default:"20" help:"Repositories, each in an installation of its own. Default ${default}."`
	Pulls    int           `default:"2" help:"Pull requests of each. Default ${default}."`
	Upgrade  string        `placeholder:"PATH" help:"The program of a newer version: who is started again is started as that."`
}

// Help is shown by bench chaos --help.
func (chaosCmd) Help() string {
	return `The life of bench crash, told to several daemons on one database, each delivery to any of them. One after another is killed with
SIGKILL, halted with SIGSTOP until long after its leases have run out, stopped with SIGTERM, or cut off from the database by a proxy
that swallows what it is sent; and the database restarts. In the end every delivery that was answered 202 must be in the table, every
pull request must have the one check that its story asks for, and no run may have been run again twice. With --upgrade the first is
stopped and comes back as another version, which brings the tables to its schema while the others are at work, and so does whoever is
killed or stopped after it.`
}

// A blow is what is done to a replica.
type blow uint8

const (
	blowKill blow = iota
	blowHalt
	blowStop
	blowCut
	blowRestart // of the database
	blows       = iota
)

func (w blow) String() string {
	return [...]string{
		"killed", "halted beyond its leases", "stopped and replaced", "cut off from the database", "the database restarted",
	}[w]
}

const (
	haltFor = 40 * time.Second // a lease is 30 s long
	cutFor  = 20 * time.Second
	// longestRecovery is a lease, and some seconds for a database that restarts meanwhile.
	longestRecovery = 40 * time.Second
)

// A replica is one of the daemons, with its own way to the database.
type replica struct {
	proxy *cuttableProxy

	mu      sync.Mutex
	process *daemonProcess // nil: it is being replaced
	aside   bool           // a load balancer would have noticed by now
}

func (r *replica) setProcess(d *daemonProcess) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.process = d
}

func (r *replica) setAside(is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aside = is
}

func (r *replica) takingDeliveries() *daemonProcess {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.aside {
		return nil
	}
	return r.process
}

// Run strikes the replicas one after another, and checks what is left.
func (cmd chaosCmd) Run(b *harness) error {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	schema := fmt.Sprintf("chaos_%d", time.Now().UnixNano())
	if err := runSQL(ctx, cmd.Postgres, "CREATE SCHEMA "+schema); err != nil {
		return err
	}
	defer func() { // one that is left is in nobody's way
		_ = runSQL(context.WithoutCancel(ctx), cmd.Postgres, "DROP SCHEMA "+schema+" CASCADE")
	}()
	l, err := b.newSoakRun(ctx, cmd.Seed, cmd.Repos, cmd.Pulls)
	if err != nil {
		return err
	}
	defer l.github.close()
	replicas := make([]*replica, cmd.Replicas)
	for i := range replicas {
		r := &replica{}
		if r.proxy, err = newCuttableProxy(cmd.Postgres); err != nil {
			return err
		}
		defer r.proxy.close()
		replicas[i] = r
		if err := cmd.startReplica(b, l, r, schema); err != nil {
			return err
		}
	}
	if cmd.Upgrade != "" {
		b.Bin = cmd.Upgrade
	}
	rng, pick := rand.New(rand.NewPCG(cmd.Seed, 17)), rand.New(rand.NewPCG(cmd.Seed, 19))
	var pickMu sync.Mutex
	l.pickDaemon = func() *daemonProcess {
		pickMu.Lock()
		defer pickMu.Unlock()
		for range 10 * len(replicas) {
			if d := replicas[pick.IntN(len(replicas))].takingDeliveries(); d != nil {
				return d
			}
		}
		return nil
	}
	delivering, playing, want := l.startLoad(ctx)
	began, struck := time.Now(), map[blow]int{}
	var group sync.WaitGroup
	for n := range cmd.Blows {
		if err := sleepFor(ctx, cmd.Pause); err != nil {
			return err
		}
		w := cmd.drawBlow(rng, n)
		r := replicas[n%len(replicas)]
		for r.takingDeliveries() == nil { // what was done to it before has not ended
			if err := sleepFor(ctx, 100*time.Millisecond); err != nil {
				return err
			}
		}
		struck[w]++
		b.logProgress("%s: replica %d %s", time.Since(began).Round(time.Second), n%len(replicas), w)
		group.Go(func() {
			if err := cmd.strikeReplica(ctx, b, l, r, w, schema); err != nil {
				l.recordError(fmt.Errorf("%s: %w", w, err))
			}
		})
	}
	group.Wait()
	playing()
	ends := <-want
	l.awaitOutcomes(ctx, ends, rerunTimeout)
	delivering()
	for w := range blow(blows) {
		b.report.addFigure("  "+w.String(), float64(struck[w]), "times")
	}
	b.report.addFigure("seed", float64(cmd.Seed), "")
	b.report.addFigure("took", time.Since(began).Seconds(), "s")
	b.report.addAtMost("the longest from an accepted push to its look", l.longestWait().Seconds(), "s", longestRecovery.Seconds())
	moves, mostMoves := l.mostMoves(), 2*cmd.Blows // one away and one back for each blow
	b.report.addAtMost("the most often that an installation moved to another daemon", float64(moves), "times", float64(mostMoves))
	if moves > mostMoves {
		b.report.addViolation("an installation was worked on by several daemons in turn: it moved %d times", moves)
	}
	missing, err := cmd.countMissing(ctx, l, schema)
	if err != nil {
		return err
	}
	b.report.addAtMost("accepted deliveries lost", float64(missing), "", 0)
	if missing > 0 {
		b.report.addViolation("%d accepted deliveries are not in the table", missing)
	}
	l.reportOutcome(cmd.Blows)
	return nil
}

// drawBlow returns the nth blow.
func (cmd chaosCmd) drawBlow(rng *rand.Rand, n int) blow {
	w := blow(rng.IntN(blows))
	switch {
	case n == 0 && cmd.Upgrade != "": // the others go on beside it
		return blowStop
	case w == blowRestart && cmd.Restart == "":
		return blowKill
	}
	return w
}

// startReplica starts a replica's process.
func (cmd chaosCmd) startReplica(b *harness, l *soakRun, r *replica, schema string) error {
	d, err := b.startDaemonWith(l.github, r.proxy.databaseURL(cmd.Postgres, schema), 5*time.Second, nil)
	if err != nil {
		return fmt.Errorf("%w: %s", err, logTail(d.logFile))
	}
	r.setProcess(d)
	return nil
}

// strikeReplica does something to a replica, and returns once it works again.
func (cmd chaosCmd) strikeReplica(ctx context.Context, b *harness, l *soakRun, r *replica, w blow, schema string) error {
	d := r.takingDeliveries()
	noticed := time.AfterFunc(time.Second, func() { r.setAside(true) })
	defer func() {
		noticed.Stop()
		r.setAside(false)
	}()
	switch w {
	case blowKill:
		d.kill()
		return cmd.restartReplica(ctx, b, l, r, schema)
	case blowStop:
		r.setProcess(nil)
		if _, err := d.terminate(15 * time.Second); err != nil {
			return err
		}
		return cmd.restartReplica(ctx, b, l, r, schema)
	case blowHalt:
		if err := d.process.Signal(syscall.SIGSTOP); err != nil {
			return fmt.Errorf("halt: %w", err)
		}
		return errors.Join(sleepFor(ctx, haltFor), d.process.Signal(syscall.SIGCONT))
	case blowCut:
		r.proxy.setCut(true)
		defer r.proxy.setCut(false)
		return sleepFor(ctx, cutFor)
	case blowRestart:
		noticed.Stop()                                                                 // it is all of them
		out, err := exec.CommandContext(ctx, "sh", "-c", cmd.Restart).CombinedOutput() //nolint:gosec // the user's own
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	return nil
}

// restartReplica starts a replica again, as often as it takes: the database may be away.
func (cmd chaosCmd) restartReplica(ctx context.Context, b *harness, l *soakRun, r *replica, schema string) error {
	r.setProcess(nil)
	var err error
	for range 20 {
		if err = cmd.startReplica(b, l, r, schema); err == nil {
			return nil
		}
		if sleepFor(ctx, time.Second) != nil {
			return context.Cause(ctx)
		}
	}
	return err
}

// countMissing counts accepted deliveries that are not in the table.
func (cmd chaosCmd) countMissing(ctx context.Context, l *soakRun, schema string) (missing int, err error) {
	known, err := readDeliveryIDs(ctx, cmd.Postgres, schema)
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.accepted {
		if !known[id] {
			missing++
		}
	}
	return missing, nil
}

// A cuttableProxy leads to a database, until it is cut: then it swallows what it is sent, and ends nothing.
type cuttableProxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	heals chan struct{} // closed when it is whole; nil: it is
}

func newCuttableProxy(database string) (*cuttableProxy, error) {
	config, err := pgx.ParseConfig(database)
	if err != nil {
		return nil, fmt.Errorf("read the database's address: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen before the database: %w", err)
	}
	p := &cuttableProxy{listener: l, target: net.JoinHostPort(config.Host, fmt.Sprint(config.Port))}
	go p.acceptConnections()
	return p, nil
}

func (p *cuttableProxy) close() { _ = p.listener.Close() }

// databaseURL returns the URL of a database as it is reached through the proxy.
func (p *cuttableProxy) databaseURL(database, schema string) string {
	u, err := url.Parse(database)
	if err != nil {
		return database // unreachable: it was read before
	}
	u.Host = p.listener.Addr().String()
	return urlOfSchema(u.String(), schema)
}

// setCut cuts the way, or makes it whole. What was sent while it was cut is lost: those connections end then.
func (p *cuttableProxy) setCut(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case is && p.heals == nil:
		p.heals = make(chan struct{})
	case !is && p.heals != nil:
		close(p.heals)
		p.heals = nil
	}
}

func (p *cuttableProxy) isCut() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heals
}

func (p *cuttableProxy) acceptConnections() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer in.Close()
			if heals := p.isCut(); heals != nil {
				<-heals
				return
			}
			out, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", p.target)
			if err != nil {
				return
			}
			defer out.Close()
			var both sync.WaitGroup
			both.Go(func() { p.copyUntilCut(out, in); _ = out.Close() })
			both.Go(func() { p.copyUntilCut(in, out); _ = in.Close() })
			both.Wait()
		}()
	}
}

// copyUntilCut copies until the way is cut, and then ends when it is whole again.
func (p *cuttableProxy) copyUntilCut(to io.Writer, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if heals := p.isCut(); heals != nil {
			<-heals
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
