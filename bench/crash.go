package main

// bench crash and bench faults: kill -9, and writes that fail, while pull requests change all the time.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

type crashCmd struct {
	Points   int    `default:"100"     help:"How often the daemon is killed. Default ${default}."`
	Seed     uint64 `default:"1"       help:"Of where it is killed and what happens. Default ${default}."`
	Repos    int    `default:"20"      help:"Repositories, each in an installation of its own. Default ${default}."`
	Pulls    int    `default:"2"       help:"Pull requests of each. Default ${default}."`
	Postgres string `placeholder:"URL" help:"A PostgreSQL where a schema can be made for its table. Default: SQLite." env:"COORDINATOR_POSTGRES"`
}

// Help is shown by bench crash --help.
func (crashCmd) Help() string {
	return `Forty pull requests are pushed to, reviewed, let down by a reviewer that says nothing or answers 503, and run again, without a
pause, while the daemon is killed with SIGKILL: at any moment of its start and of its work, right after it answered 202, right after GitHub
carried out a rerun whose answer never comes, right after that answer, and in the middle of writing checks. It starts again
at once on the same database: a file, or a schema of a PostgreSQL. Nothing that it accepted is sent again.

After each kill the table is read: every delivery that was answered 202 must be in it, the key of each pull request that one of
them named, each key that was in it at the kill before, and each wake that no look has moved since. In the end every pull request must
have the one check that its story asks for, and no run may have been run again twice.`
}

// A killPoint says at which moment the daemon is killed.
type killPoint uint8

const (
	killInStart    killPoint = 1 + iota // some time after the process began
	killAtWork                          // some time after it listens
	killAfterAck                        // right after one of its first acknowledgements
	killRerunLost                       // GitHub carried out a rerun, and the answer does not come
	killAfterRerun                      // right after the answer
	killCheckLost                       // GitHub wrote a check, and the answer does not come
	killAfterWrite                      // right after the answer
	killPoints     = iota
	maxDaemonLife  = 600 * time.Millisecond // kills the daemon if the awaited moment does not come
)

func (w killPoint) String() string {
	return [...]string{
		"", "in the start", "at work", "after an acknowledgement", "a rerun's answer lost", "after a rerun",
		"a check's answer lost", "after writing a check",
	}[w]
}

// Run kills and restarts the daemon, and checks its table after each kill.
func (cmd crashCmd) Run(b *harness) error {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	l, err := b.newSoakRun(ctx, cmd.Seed, cmd.Repos, cmd.Pulls)
	if err != nil {
		return err
	}
	defer l.github.close()
	if cmd.Postgres != "" {
		drop, err := l.useSchema(ctx, cmd.Postgres)
		if err != nil {
			return err
		}
		defer drop()
	}
	delivering, playing, want := l.startLoad(ctx)
	rng := rand.New(rand.NewPCG(cmd.Seed, 11))
	began, hit := time.Now(), map[killPoint]int{}
	lost, stood, before, cutOff := 0, 0, workTable{}, map[string][]time.Time{}
	for n := range cmd.Points {
		w := killPoint(1 + rng.IntN(killPoints))
		came, err := l.startAndKill(ctx, w, rng)
		if err != nil {
			return fmt.Errorf("point %d (%s), seed %d: %w", n+1, w, cmd.Seed, err)
		}
		hit[came]++
		killedAt := time.Now()
		now, err := l.readTable(ctx)
		if err != nil {
			return fmt.Errorf("point %d (%s), seed %d: %w", n+1, w, cmd.Seed, err)
		}
		lost += l.countLost(fmt.Sprintf("point %d (%s)", n+1, w), before, now)
		before, stood = now, stood+now.countWaiting(time.Now())
		for _, p := range l.github.allPulls() {
			if now.rows[p.tableKey()].leased {
				cutOff[p.String()] = append(cutOff[p.String()], killedAt)
			}
		}
		if (n+1)%25 == 0 {
			b.logProgress("killed %d times, %d deliveries accepted, %d reruns", n+1, len(l.accepted), l.rerunCount)
		}
	}
	took := time.Since(began)
	d, err := b.startDaemonWith(l.github, l.database, 5*time.Second, nil)
	if err != nil {
		return err
	}
	l.setDaemon(d)
	playing()
	ends := <-want
	told := time.Now()
	l.awaitOutcomes(ctx, ends, rerunTimeout)
	b.report.addFigure("settled after the last story's end within", time.Since(told).Seconds(), "s")
	if err := d.awaitIdle(ctx, time.Second, 5*time.Second); err != nil {
		b.report.addNote("%v: redeliveries have their limit too", err)
	}
	delivering()
	if err := l.awaitNothingDue(ctx, 30*time.Second); err != nil {
		return err
	}
	b.report.addFigure("killed", float64(cmd.Points), "times")
	for w := killInStart; w <= killPoints; w++ {
		b.report.addFigure("  "+w.String(), float64(hit[w]), "")
	}
	b.report.addFigure("seed", float64(cmd.Seed), "")
	b.report.addFigure("took", took.Seconds(), "s")
	b.report.addFigure("wakes that were to come, at all kills", float64(stood), "")
	b.report.addAtMost("accepted deliveries, keys and wakes lost", float64(lost), "", 0)
	l.reportRecovery(cutOff)
	l.reportOutcome(cmd.Points)
	return nil
}

// startLoad starts the pushes and the delivery of webhooks. playing stops the pushes, after which want receives their
// expected outcomes; delivering stops the webhooks.
func (l *soakRun) startLoad(ctx context.Context) (delivering, playing func(), want <-chan map[string]pushOutcome) {
	sending, stopSending := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { l.deliverWebhooks(sending) })
	group.Go(func() { l.github.hub.Run(sending, sandbox.Clock{Now: time.Now, Sleep: sleepFor}) })
	acting, stopActing := context.WithCancel(ctx)
	ends := make(chan map[string]pushOutcome, 1)
	group.Go(func() { ends <- l.playPushes(acting) })
	return func() { stopSending(); group.Wait() }, stopActing, ends
}

// setDaemon sets the daemon that webhooks are sent to; nil: none is running.
func (l *soakRun) setDaemon(d *daemonProcess) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.daemon, l.ackCount = d, 0
}

func (l *soakRun) setAckHandler(f func(int)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ackHandler = f
}

// startAndKill starts the daemon and kills it at w. It returns the kill point that happened: the awaited moment may not
// come.
func (l *soakRun) startAndKill(ctx context.Context, w killPoint, rng *rand.Rand) (killPoint, error) {
	var once sync.Once
	var victim *daemonProcess
	came, dead := w, make(chan struct{})
	kill := func(how killPoint) {
		once.Do(func() {
			came = how
			close(dead) // first, so that the reason is known once the process has ended
			_ = victim.process.Kill()
		})
	}
	begun := func(d *daemonProcess) {
		victim = d
		if w == killInStart {
			timer := time.NewTimer(time.Duration(rng.IntN(250)) * time.Millisecond)
			go func() {
				defer timer.Stop()
				<-timer.C
				kill(killInStart)
			}()
			return
		}
		l.armKill(w, 1+rng.IntN(6), kill)
	}
	d, err := l.harness.startDaemonWith(l.github, l.database, 5*time.Second, begun)
	switch {
	case err == nil:
		l.setDaemon(d)
		most := maxDaemonLife
		switch w {
		case killAtWork:
			most = time.Duration(rng.IntN(600)) * time.Millisecond
		case killRerunLost, killAfterRerun: // reruns take longer to become due
			most *= 4
		default:
		}
		timer := time.NewTimer(most)
		select {
		case <-dead:
		case <-timer.C:
			kill(killAtWork)
		case <-ctx.Done():
			return came, context.Cause(ctx)
		}
		timer.Stop()
	case !errors.Is(err, errEnded):
		return came, err
	default:
		select {
		case <-dead:
		default:
			return came, fmt.Errorf("%w: %s", err, logTail(d.logFile))
		}
	}
	<-d.ended
	l.setDaemon(nil)
	l.armKill(0, 0, nil)
	return came, nil
}

// armKill calls kill at the nth event that a kill point waits for. A kill point without such an event disarms it.
func (l *soakRun) armKill(w killPoint, nth int, kill func(killPoint)) {
	l.setAckHandler(nil)
	l.github.setAnswerHandler(nil)
	l.github.hub.AfterRequest(nil)
	is := func(method, path string) bool {
		switch w {
		case killRerunLost, killAfterRerun:
			return strings.Contains(path, "/rerun")
		case killCheckLost, killAfterWrite:
			return method != http.MethodGet && strings.Contains(path, "/check-runs")
		default:
			return false
		}
	}
	if w == killRerunLost || w == killAfterRerun {
		nth = 1
	}
	switch w {
	case killAfterAck:
		l.setAckHandler(func(n int) {
			if n == nth {
				kill(w)
			}
		})
	case killRerunLost, killCheckLost:
		var mu sync.Mutex
		n := 0
		l.github.hub.AfterRequest(func(req *http.Request, _ int) {
			if !is(req.Method, req.URL.Path) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if n++; n == nth {
				kill(w)
			}
		})
	case killAfterRerun, killAfterWrite:
		var mu sync.Mutex
		n := 0
		l.github.setAnswerHandler(func(q loggedRequest) {
			if !is(q.method, q.path) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if n++; n == nth {
				kill(w)
			}
		})
	case killInStart, killAtWork:
	default: // disarmed
	}
}

// countLost compares the table with the accepted deliveries and with the table at the kill before, and counts what is
// missing.
func (l *soakRun) countLost(point string, before, now workTable) (lost int) {
	l.mu.Lock()
	ids, last := make([]string, 0, len(l.accepted)), map[string]acceptedDelivery{}
	for id, a := range l.accepted {
		ids = append(ids, id)
		if a.sentAt.After(last[a.pullName].sentAt) {
			last[a.pullName] = a
		}
	}
	l.mu.Unlock()
	var keys, unheard []string
	for _, p := range l.github.allPulls() {
		a, ok := last[p.String()]
		if !ok {
			continue
		}
		keys = append(keys, p.tableKey())
		r := now.rows[p.tableKey()]
		later := r.dueAt > a.ackedAt.Add(maxDueDelay).UnixMicro() && r.seenAt < a.sentAt.UnixMicro() ||
			r.dueAt > time.Now().Add(maxDueDelay).UnixMicro() && r.gen > r.claimedGen && r.attempts == 0
		if later && !r.leased {
			unheard = append(unheard, p.tableKey())
		}
	}
	for what, all := range map[string][]string{
		"keys are not due though no look began after an accepted delivery": unheard,
		"things are not in the table":                                      now.missingEntries(ids, keys),
		"keys were not kept":                                               now.brokenKeys(before),
		"wakes are lost":                                                   now.lostWakes(),
	} {
		l.harness.report.addViolations(point, what, all)
		lost += len(all)
	}
	return lost
}

func logTail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-500):])
}

type faultsCmd struct {
	For   time.Duration `default:"5s" help:"How long each fault lasts. Default ${default}."`
	Seed  uint64        `default:"1"  help:"Of what happens. Default ${default}."`
	Repos int           `default:"20" help:"Repositories, each in an installation of its own. Default ${default}."`
	Pulls int           `default:"2"  help:"Pull requests of each. Default ${default}."`
	Rest  time.Duration `default:"2m" help:"In the end the daemon is waited for until it rests, so long at most: what it does twice it does by then. Default ${default}."`
}

// Help is shown by bench faults --help.
func (faultsCmd) Help() string {
	return `The same life as in crash, without a kill: for a while every write is answered 502, then reset, then carried out with its answer
lost, then every request fails; and all the time deliveries come twice, late, in any order, or not at all.`
}

// Run applies one fault after another, with a pause after each.
func (cmd faultsCmd) Run(b *harness) error {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	l, err := b.newSoakRun(ctx, cmd.Seed, cmd.Repos, cmd.Pulls)
	if err != nil {
		return err
	}
	defer l.github.close()
	rng := rand.New(rand.NewPCG(cmd.Seed, 13))
	l.github.hub.DisturbDeliveries(func(sandbox.HookDelivery) sandbox.Fate { return deliveryFate(rng.IntN(100)) })
	d, err := b.startDaemonWith(l.github, b.dir+"/coordinator.db", 5*time.Second, nil)
	if err != nil {
		return err
	}
	l.setDaemon(d)
	delivering, playing, want := l.startLoad(ctx)
	struck := 0
	for _, round := range []struct {
		name   string
		faults []sandbox.Fault
	}{
		{"every write is answered 502", writeFaults(sandbox.Fault{Status: 502})},
		{"every write is reset", writeFaults(sandbox.Fault{Kind: sandbox.FaultReset})},
		{"every second write's answer is lost", writeFaults(sandbox.Fault{Kind: sandbox.FaultLost, Times: 12})},
		{"every write is carried out and answered 502", writeFaults(sandbox.Fault{Status: 502, CarriedOut: true})},
		{"everything is answered 500", []sandbox.Fault{{Status: 500}}},
	} {
		for _, f := range round.faults {
			l.github.hub.AddFault(f)
		}
		b.logProgress("%s", round.name)
		if err := sleepFor(ctx, cmd.For); err != nil {
			return err
		}
		l.github.hub.ClearFaults()
		struck++
		if err := sleepFor(ctx, cmd.For); err != nil { // time to recover
			return err
		}
	}
	l.github.hub.DisturbDeliveries(nil)
	playing()
	l.github.hub.ReleaseHeldDeliveries()
	l.awaitOutcomes(ctx, <-want, 2*time.Minute)
	if err := d.awaitIdle(ctx, time.Second, cmd.Rest); err != nil {
		b.report.addNote("%v", err)
	}
	delivering()
	b.report.addFigure("faults", float64(struck), "")
	b.report.addFigure("seed", float64(cmd.Seed), "")
	l.reportOutcome(0)
	return nil
}

func writeFaults(f sandbox.Fault) (all []sandbox.Fault) {
	for _, match := range []string{"POST /repos/**", "PATCH /repos/**"} {
		f.Match = match
		all = append(all, f)
	}
	return all
}

// deliveryFate says whether a delivery is doubled, reordered, delayed or dropped, by a random number below 100.
func deliveryFate(n int) sandbox.Fate {
	switch {
	case n < 10:
		return sandbox.Fate{Twice: true}
	case n < 20:
		return sandbox.Fate{OvertakenBy: 1 + n}
	case n < 30:
		return sandbox.Fate{Delay: time.Duration(n) * 40 * time.Millisecond}
	case n < 32:
		return sandbox.Fate{Drop: true}
	default:
		return sandbox.Fate{}
	}
}
