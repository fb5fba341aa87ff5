package main

// bench acks --replicas: daemons that share one PostgreSQL beside one on SQLite, on the same machine and in the same minutes.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// An ackSite is one or several daemons on one database, with a GitHub of their own.
type ackSite struct {
	name    string
	schema  string // of PostgreSQL; "": SQLite
	github  *fakeGitHub
	daemons []*daemonProcess
	load    loadGenerator

	mu       sync.Mutex
	accepted []string // ids that were answered 202

	rounds []ackRound
}

// An ackRound is what was measured of a site in one round.
type ackRound struct {
	fast, slow durations // each acknowledgement's time: as fast as it goes, and at a fixed rate
	perSecond  float64
	daemonsCPU time.Duration // for all of fast
	serverCPU  time.Duration
	clientCPU  time.Duration
}

const leastReplicaAcks = 5000 // durable acknowledgements a second by two daemons on two cores

// compareReplicas measures SQLite and each number of replicas in turn, round after round, and counts what is in the tables.
func (cmd acksCmd) compareReplicas(b *harness) error {
	ctx := b.ctx
	if cmd.Postgres == "" {
		return errors.New("--replicas needs a PostgreSQL: .ci/postgres.sh starts one for a command, or give --postgres")
	}
	var isDurable float64
	if err := queryNumbers(ctx, cmd.Postgres, `SELECT (current_setting('fsync') = 'on' AND current_setting('synchronous_commit') <> 'off')
		::integer::float8`, &isDurable); err != nil {
		return err
	}
	if isDurable == 0 {
		return errors.New("fsync or synchronous_commit is off there: nothing would be durable (COORDINATOR_POSTGRES_FSYNC=on .ci/postgres.sh …)")
	}
	var sites []*ackSite
	defer func() {
		for _, s := range sites {
			s.remove(cmd.Postgres)
		}
	}()
	for _, replicas := range append([]int{0}, cmd.Replicas...) {
		s, err := cmd.prepareSite(b, replicas)
		if s != nil {
			sites = append(sites, s)
		}
		if err != nil {
			return err
		}
	}
	b.report.Machine.Rounds = measureRounds()
	for n := range max(cmd.Rounds, 1) {
		for _, s := range sites {
			b.logProgress("round %d: %s", n+1, s.name)
			if err := cmd.measureSite(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	for _, s := range sites {
		cmd.reportSite(b, s, sites[0])
	}
	if err := cmd.reportDisk(b, sites); err != nil {
		return err
	}
	return cmd.countAccepted(b, sites)
}

// prepareSite starts daemons that track all pull requests: one on SQLite if replicas is 0. A site that is returned with an error
// is to be removed, too.
func (cmd acksCmd) prepareSite(b *harness, replicas int) (*ackSite, error) {
	s := &ackSite{name: "SQLite"}
	database, daemons := filepath.Join(b.dir, "coordinator.db"), 1
	if replicas > 0 {
		s.name, s.schema = fmt.Sprintf("PostgreSQL, %d replicas", replicas), fmt.Sprintf("acks_%d_%d", replicas, time.Now().UnixNano())
		if replicas == 1 {
			s.name = "PostgreSQL, 1 replica"
		}
		if err := runSQL(b.ctx, cmd.Postgres, "CREATE SCHEMA "+s.schema); err != nil {
			return nil, err
		}
		database, daemons = urlOfSchema(cmd.Postgres, s.schema), replicas
	}
	dir := filepath.Join(b.dir, fmt.Sprintf("site-%d", replicas))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return s, fmt.Errorf("make a folder: %w", err)
	}
	var err error
	if s.github, err = newFakeGitHub(dir, fakeOptions{
		installations: 50, repositories: 1, pulls: max(cmd.Pulls/50, 1), latency: b.GitHub,
	}); err != nil {
		return s, err
	}
	for range daemons {
		d, err := b.startDaemon(s.github, database)
		if err != nil {
			return s, fmt.Errorf("%w: %s", err, logTail(d.logFile))
		}
		s.daemons = append(s.daemons, d)
	}
	b.logProgress("%s", s.name)
	if err := b.awaitTracked(s.github, s.daemons[0]); err != nil {
		return s, err
	}
	wires, err := s.github.irrelevantDeliveries(b)
	if err != nil {
		return s, err
	}
	s.load = loadGenerator{
		daemon: s.daemons[0], others: s.daemons[1:], deliveries: wires, connections: cmd.Connections, onAccepted: s.noteAccepted,
	}
	return s, s.awaitRest(b.ctx, cmd.Postgres)
}

func (s *ackSite) noteAccepted(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accepted = append(s.accepted, id)
}

// awaitRest waits until the daemons have nothing left to do.
func (s *ackSite) awaitRest(ctx context.Context, postgres string) error {
	if s.schema == "" {
		return s.daemons[0].awaitIdle(ctx, time.Second, time.Minute)
	}
	return awaitNothingDue(ctx, postgres, s.schema, time.Minute)
}

// remove ends a site, and drops its table.
func (s *ackSite) remove(postgres string) {
	for _, d := range s.daemons {
		d.kill()
	}
	if s.github != nil {
		s.github.close()
	}
	if s.schema != "" { // one that is left is in nobody's way
		_ = runSQL(context.Background(), postgres, "DROP SCHEMA "+s.schema+" CASCADE")
	}
}

// A cpuReading is the CPU time so far of those who share the machine.
type cpuReading struct{ daemons, server, client time.Duration }

func (s *ackSite) readCPU(ctx context.Context, postgres string) (c cpuReading, err error) {
	for _, d := range s.daemons {
		c.daemons += d.readUsage().cpu
	}
	c.client = readCPU(syscall.Getpid())
	c.server, err = serverCPU(ctx, postgres)
	return c, err
}

// measureSite measures one round of a site.
func (cmd acksCmd) measureSite(ctx context.Context, s *ackSite) (err error) {
	var r ackRound
	before, err := s.readCPU(ctx, cmd.Postgres)
	if err != nil {
		return err
	}
	if r.fast, err = s.load.runClosedLoop(ctx, cmd.For); err != nil {
		return err
	}
	after, err := s.readCPU(ctx, cmd.Postgres)
	if err != nil {
		return err
	}
	r.perSecond = float64(len(r.fast)) / cmd.For.Seconds()
	r.daemonsCPU, r.serverCPU, r.clientCPU = after.daemons-before.daemons, after.server-before.server, after.client-before.client
	if err := s.awaitRest(ctx, cmd.Postgres); err != nil {
		return err
	}
	if r.slow, err = s.load.runOpenLoop(ctx, cmd.Rate, cmd.For); err != nil {
		return err
	}
	s.rounds = append(s.rounds, r)
	return s.awaitRest(ctx, cmd.Postgres)
}

// medianOf returns the median of what a function says of each round, and the least and the most.
func medianOf(rounds []ackRound, of func(int, ackRound) float64) (median, least, most float64) {
	var all []float64
	for i, r := range rounds {
		all = append(all, of(i, r))
	}
	slices.Sort(all)
	return all[len(all)/2], all[0], all[len(all)-1]
}

// reportSite reports a site's rounds: medians, and between which of the rounds they lie.
func (cmd acksCmd) reportSite(b *harness, s, sqlite *ackSite) {
	median, least, most := medianOf(s.rounds, func(_ int, r ackRound) float64 { return r.perSecond })
	if len(s.daemons) == 2 {
		b.report.addAtLeast(s.name+": acks", median, "/s", leastReplicaAcks)
	} else {
		b.report.addFigure(s.name+": acks", median, "/s")
	}
	b.report.addFigure("  least of the rounds", least, "/s")
	b.report.addFigure("  most of the rounds", most, "/s")
	if s != sqlite {
		ratio, _, _ := medianOf(s.rounds, func(i int, r ackRound) float64 { return r.perSecond / sqlite.rounds[i].perSecond })
		b.report.addFigure("  of SQLite's in the same round", ratio, "times")
	}
	ofMillis := func(name string, value func(int, ackRound) float64) {
		median, _, _ := medianOf(s.rounds, value)
		b.report.addFigure("  "+name, median, "ms")
	}
	ofMillis("p50", func(_ int, r ackRound) float64 { return r.fast.quantileMillis(0.5) })
	ofMillis("p99", func(_ int, r ackRound) float64 { return r.fast.quantileMillis(0.99) })
	perEvent := func(cpu time.Duration, r ackRound) float64 { return toMillis(cpu) / float64(max(len(r.fast), 1)) }
	ofMillis("daemons' CPU an event", func(_ int, r ackRound) float64 { return perEvent(r.daemonsCPU, r) })
	if s != sqlite {
		ofMillis("PostgreSQL's CPU an event", func(_ int, r ackRound) float64 { return perEvent(r.serverCPU, r) })
	}
	ofMillis("the sender's CPU an event", func(_ int, r ackRound) float64 { return perEvent(r.clientCPU, r) })
	ofMillis(fmt.Sprintf("at %d/s: p50", cmd.Rate), func(_ int, r ackRound) float64 { return r.slow.quantileMillis(0.5) })
	median, least, most = medianOf(s.rounds, func(_ int, r ackRound) float64 { return r.slow.quantileMillis(0.99) })
	b.report.addFigure(fmt.Sprintf("  at %d/s: p99", cmd.Rate), median, "ms")
	b.report.addFigure("    least of the rounds", least, "ms")
	b.report.addFigure("    most of the rounds", most, "ms")
}

// reportDisk reports what PostgreSQL takes of the disk for a delivery and for a pull request, and how many connections it has.
func (cmd acksCmd) reportDisk(b *harness, sites []*ackSite) error {
	s := sites[len(sites)-1]
	var ofDelivery, ofPull, connections float64
	of := func(table string) string { return s.schema + "." + table }
	if err := errors.Join(
		queryNumbers(b.ctx, cmd.Postgres, fmt.Sprintf(`SELECT (pg_total_relation_size('%s') / greatest(count(*), 1))::float8,
			(SELECT count(*) FROM pg_stat_activity WHERE application_name = 'review-coordinator')::float8 FROM %[1]s`,
			of("deliveries")), &ofDelivery, &connections),
		queryNumbers(b.ctx, cmd.Postgres, fmt.Sprintf(`SELECT ((pg_total_relation_size('%s') + pg_total_relation_size('%s'))
			/ greatest(count(*), 1))::float8 FROM %[1]s WHERE kind = 'pull'`, of("work"), of("sights")), &ofPull),
	); err != nil {
		return err
	}
	daemons := 0
	for _, s := range sites[1:] {
		daemons += len(s.daemons)
	}
	b.report.addFigure("PostgreSQL: disk a delivery", ofDelivery, "bytes")
	b.report.addFigure("PostgreSQL: disk a pull request with three reviewers, after all this", ofPull, "bytes")
	b.report.addFigure("PostgreSQL: connections a daemon", connections/float64(max(daemons, 1)), "")
	return nil
}

// countAccepted stops PostgreSQL under load, as by a crash, and the daemons as by a loss of power, and counts the deliveries that
// were answered 202 and are not in the tables.
func (cmd acksCmd) countAccepted(b *harness, sites []*ackSite) error {
	if cmd.Restart != "" {
		if err := cmd.crashUnderLoad(b, sites[len(sites)-1]); err != nil {
			return err
		}
	}
	accepted, lost := 0, 0
	for _, s := range sites {
		for _, d := range s.daemons {
			d.kill()
		}
		known, err := cmd.readKnown(b, s)
		if err != nil {
			return err
		}
		missing := 0
		for _, id := range s.accepted {
			if !known[id] {
				missing++
			}
		}
		if missing > 0 {
			b.report.addViolation("%s: %d of %d accepted deliveries are not in the table", s.name, missing, len(s.accepted))
		}
		accepted, lost = accepted+len(s.accepted), lost+missing
	}
	b.report.addFigure("deliveries accepted in all", float64(accepted), "")
	b.report.addAtMost("  of them not in the tables", float64(lost), "", 0)
	return nil
}

// readKnown reads the deliveries that are in the table of a site whose daemons were killed.
func (cmd acksCmd) readKnown(b *harness, s *ackSite) (map[string]bool, error) {
	if s.schema != "" {
		return readDeliveryIDs(b.ctx, cmd.Postgres, s.schema)
	}
	t, err := b.readLeftTable(b.ctx)
	return t.deliveries, err
}

// crashUnderLoad sends to a site as fast as it goes while its database is stopped without a warning and started again, several times:
// what was committed without being on the disk is lost only if it came in the last milliseconds.
func (cmd acksCmd) crashUnderLoad(b *harness, s *ackSite) error {
	before := len(s.accepted)
	for n := range cmd.Crashes {
		b.logProgress("PostgreSQL crashes under load, %d of %d", n+1, cmd.Crashes)
		if err := cmd.crashOnce(b.ctx, s); err != nil {
			return err
		}
	}
	b.report.addFigure("times that PostgreSQL crashed under load", float64(cmd.Crashes), "")
	b.report.addFigure("  deliveries accepted between these", float64(len(s.accepted)-before), "")
	return nil
}

func (cmd acksCmd) crashOnce(ctx context.Context, s *ackSite) error {
	for _, d := range s.daemons { // it may still be connecting after the crash before
		l := s.load
		l.daemon, l.others = d, nil
		if err := l.awaitAccepted(ctx, 20*time.Second); err != nil {
			return err
		}
	}
	loading, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() {
		_, _ = s.load.runClosedLoop(loading, time.Minute) // it ends with the crash: each connection at its first refusal
	})
	if err := sleepFor(ctx, 500*time.Millisecond); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "sh", "-c", cmd.Restart).CombinedOutput() //nolint:gosec // the user's own
	cancel()
	group.Wait()
	if err != nil {
		return fmt.Errorf("restart PostgreSQL: %w: %s", err, out)
	}
	return nil
}

// awaitAccepted sends until something is accepted.
func (l loadGenerator) awaitAccepted(ctx context.Context, most time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("nothing is accepted after %s", most))
	defer cancel()
	for {
		err := l.withConnection(ctx, 0, func(c *webhookConn) error { return l.sendNext(c, 0, newDeliveryID()) })
		if err == nil {
			return nil
		}
		if late := sleepFor(ctx, 100*time.Millisecond); late != nil {
			return errors.Join(late, err)
		}
	}
}
