package main

// kill -9 and failing writes.

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
	Points int    `default:"100" help:"How often the daemon is killed. Default ${default}."`
	Seed   uint64 `default:"1" help:"Of where it is killed and what happens. Default ${default}."`
	Repos  int    `default:"20" help:"Repositories, each in an installation of its own. Default ${default}."`
	Pulls  int    `default:"2" help:"Pull requests of each. Default ${default}."`
}

// Help is shown by bench crash --help.
func (crashCmd) Help() string {
	return `Forty pull requests are pushed to, reviewed, let down by a reviewer that says nothing or answers 503, and run again, without a
pause, while the daemon is killed with SIGKILL: at any moment of its start and of its work, right after it answered 202, right after GitHub
carried out a rerun whose answer never comes, right after that answer, and in the middle of writing checks. It starts again
at once on the same database. Nothing that it accepted is sent again.

After each kill the table is read: every delivery that was answered 202 must be in it, the key of each pull request that one of
them named, each key that was in it at the kill before, and each wake that no look has moved since. In the end every pull request must
have the one check that its story asks for, and no run may have been run again twice.`
}

// A blow is how the daemon is killed.
type blow uint8

const (
	inStart     blow = 1 + iota // some time after the process began
	atWork                      // some time after it listens
	afterAck                    // right after one of its first acknowledgements
	rerunLost                   // GitHub carried out a rerun, and the answer does not come
	afterRerun                  // right after the answer
	checkLost                   // GitHub wrote a check, and the answer does not come
	afterWrite                  // right after the answer
	blows       = iota
	longestLife = 600 * time.Millisecond // if what is waited for does not come
)

func (w blow) String() string {
	return [...]string{"", "in the start", "at work", "after an acknowledgement", "a rerun's answer lost", "after a rerun", "a check's answer lost", "after writing a check"}[w]
}

// Run kills.
func (cmd crashCmd) Run(b *bench) error {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	l, err := b.live(ctx, cmd.Seed, cmd.Repos, cmd.Pulls)
	if err != nil {
		return err
	}
	defer l.t.close()
	delivering, playing, want := l.begin(ctx)
	rng := rand.New(rand.NewPCG(cmd.Seed, 11))
	began, hit := time.Now(), map[blow]int{}
	lost, stood, before := 0, 0, table{}
	for n := range cmd.Points {
		w := blow(1 + rng.IntN(blows))
		came, err := l.strike(ctx, w, rng)
		if err != nil {
			return fmt.Errorf("point %d (%s), seed %d: %w", n+1, w, cmd.Seed, err)
		}
		hit[came]++
		now, err := b.left(ctx)
		if err != nil {
			return fmt.Errorf("point %d (%s), seed %d: %w", n+1, w, cmd.Seed, err)
		}
		lost += l.kept(fmt.Sprintf("point %d (%s)", n+1, w), before, now)
		before, stood = now, stood+now.waiting(time.Now())
		if (n+1)%25 == 0 {
			b.say("killed %d times, %d deliveries accepted, %d reruns", n+1, len(l.accepted), l.reruns)
		}
	}
	took := time.Since(began)
	d, err := b.startWith(l.t, b.dir+"/coordinator.db", 5*time.Second, nil)
	if err != nil {
		return err
	}
	l.lives(d)
	playing()
	ends := <-want
	told := time.Now()
	l.settle(ctx, ends, mostRerun)
	b.report.add("settled after the last story's end within", time.Since(told).Seconds(), "s")
	if err := d.rest(ctx, time.Second, 5*time.Second); err != nil {
		b.report.note("%v: redeliveries have their limit too", err)
	}
	delivering()
	b.report.add("killed", float64(cmd.Points), "times")
	for w := inStart; w <= blows; w++ {
		b.report.add("  "+w.String(), float64(hit[w]), "")
	}
	b.report.add("seed", float64(cmd.Seed), "")
	b.report.add("took", took.Seconds(), "s")
	b.report.add("wakes that were to come, at all kills", float64(stood), "")
	b.report.most("accepted deliveries, keys and wakes lost", float64(lost), "", 0)
	l.judge(cmd.Points)
	return nil
}

// begin lets things happen and webhooks be sent. playing ends the pushes, and want then says what they come to; delivering
// ends the webhooks.
func (l *life) begin(ctx context.Context) (delivering, playing func(), want <-chan map[string]fate) {
	sending, stopSending := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { l.deliver(sending) })
	group.Go(func() { l.t.hub.Run(sending, sandbox.Clock{Now: time.Now, Sleep: pause}) })
	acting, stopActing := context.WithCancel(ctx)
	ends := make(chan map[string]fate, 1)
	group.Go(func() { ends <- l.play(acting) })
	return func() { stopSending(); group.Wait() }, stopActing, ends
}

// lives says which daemon listens; nil: none.
func (l *life) lives(d *daemon) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.daemon, l.acks = d, 0
}

func (l *life) onAcks(f func(int)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onAck = f
}

// strike starts the daemon and kills it. It returns how it really came: what is waited for may not come.
func (l *life) strike(ctx context.Context, w blow, rng *rand.Rand) (blow, error) {
	var once sync.Once
	var victim *daemon
	came, dead := w, make(chan struct{})
	kill := func(how blow) {
		once.Do(func() {
			came = how
			close(dead) // first: who sees that it has ended must see why
			_ = victim.process.Kill()
		})
	}
	begun := func(d *daemon) {
		victim = d
		if w == inStart {
			timer := time.NewTimer(time.Duration(rng.IntN(250)) * time.Millisecond)
			go func() {
				defer timer.Stop()
				<-timer.C
				kill(inStart)
			}()
			return
		}
		l.arm(w, 1+rng.IntN(6), kill)
	}
	d, err := l.b.startWith(l.t, l.b.dir+"/coordinator.db", 5*time.Second, begun)
	switch {
	case err == nil:
		l.lives(d)
		most := longestLife
		switch w {
		case atWork:
			most = time.Duration(rng.IntN(600)) * time.Millisecond
		case rerunLost, afterRerun: // it takes a while until one is due
			most *= 4
		default:
		}
		timer := time.NewTimer(most)
		select {
		case <-dead:
		case <-timer.C:
			kill(atWork)
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
			return came, fmt.Errorf("%w: %s", err, lastLines(d.log))
		}
	}
	<-d.ended
	l.lives(nil)
	l.arm(0, 0, nil)
	return came, nil
}

// arm has the daemon killed at the nth of what a blow waits for; none ends that.
func (l *life) arm(w blow, nth int, kill func(blow)) {
	l.onAcks(nil)
	l.t.onAnswer(nil)
	l.t.hub.After(nil)
	is := func(method, path string) bool {
		switch w {
		case rerunLost, afterRerun:
			return strings.Contains(path, "/rerun")
		case checkLost, afterWrite:
			return method != http.MethodGet && strings.Contains(path, "/check-runs")
		default:
			return false
		}
	}
	if w == rerunLost || w == afterRerun {
		nth = 1
	}
	switch w {
	case afterAck:
		l.onAcks(func(n int) {
			if n == nth {
				kill(w)
			}
		})
	case rerunLost, checkLost:
		var mu sync.Mutex
		n := 0
		l.t.hub.After(func(req *http.Request, _ int) {
			if !is(req.Method, req.URL.Path) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if n++; n == nth {
				kill(w)
			}
		})
	case afterRerun, afterWrite:
		var mu sync.Mutex
		n := 0
		l.t.onAnswer(func(q request) {
			if !is(q.method, q.path) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if n++; n == nth {
				kill(w)
			}
		})
	case inStart, atWork:
	default: // nothing is waited for
	}
}

// kept compares the table with what was accepted, and with what was in it at the kill before.
func (l *life) kept(point string, before, now table) (lost int) {
	l.mu.Lock()
	ids, last := make([]string, 0, len(l.accepted)), map[string]accepted{}
	for id, a := range l.accepted {
		ids = append(ids, id)
		if a.sent.After(last[a.pull].sent) {
			last[a.pull] = a
		}
	}
	l.mu.Unlock()
	var keys, unheard []string
	for _, p := range l.t.pulls() {
		a, ok := last[p.String()]
		if !ok {
			continue
		}
		keys = append(keys, p.key())
		r := now.rows[p.key()]
		later := r.due > a.at.Add(soonDue).UnixMicro() && r.seen < a.sent.UnixMicro() ||
			r.due > time.Now().Add(soonDue).UnixMicro() && r.gen > r.claimed && r.attempts == 0
		if later && !r.leased {
			unheard = append(unheard, p.key())
		}
	}
	for what, all := range map[string][]string{
		"keys are not due though no look began after an accepted delivery": unheard,
		"things are not in the table":                                      now.missing(ids, keys),
		"keys were not kept":                                               now.broken(before),
		"wakes are lost":                                                   now.asleep(),
	} {
		l.b.report.violations(point, what, all)
		lost += len(all)
	}
	return lost
}

func lastLines(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-500):])
}

type faultsCmd struct {
	For   time.Duration `default:"5s" help:"How long each fault lasts. Default ${default}."`
	Seed  uint64        `default:"1" help:"Of what happens. Default ${default}."`
	Repos int           `default:"20" help:"Repositories, each in an installation of its own. Default ${default}."`
	Pulls int           `default:"2" help:"Pull requests of each. Default ${default}."`
}

// Help is shown by bench faults --help.
func (faultsCmd) Help() string {
	return `The same life as in crash, without a kill: for a while every write is answered 502, then reset, then carried out with its answer
lost, then every request fails; and all the time deliveries come twice, late, in any order, or not at all.`
}

// Run disturbs.
func (cmd faultsCmd) Run(b *bench) error {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	l, err := b.live(ctx, cmd.Seed, cmd.Repos, cmd.Pulls)
	if err != nil {
		return err
	}
	defer l.t.close()
	rng := rand.New(rand.NewPCG(cmd.Seed, 13))
	l.t.hub.Disturb(func(sandbox.Delivery) sandbox.Fate { return disturbed(rng.IntN(100)) })
	d, err := b.startWith(l.t, b.dir+"/coordinator.db", 5*time.Second, nil)
	if err != nil {
		return err
	}
	l.lives(d)
	delivering, playing, want := l.begin(ctx)
	struck := 0
	for _, round := range []struct {
		name   string
		faults []sandbox.Fault
	}{
		{"every write is answered 502", writes(sandbox.Fault{Status: 502})},
		{"every write is reset", writes(sandbox.Fault{Kind: sandbox.FaultReset})},
		{"every second write's answer is lost", writes(sandbox.Fault{Kind: sandbox.FaultLost, Times: 12})},
		{"every write is carried out and answered 502", writes(sandbox.Fault{Status: 502, Carried: true})},
		{"everything is answered 500", []sandbox.Fault{{Status: 500}}},
	} {
		for _, f := range round.faults {
			l.t.hub.Fault(f)
		}
		b.say("%s", round.name)
		if err := pause(ctx, cmd.For); err != nil {
			return err
		}
		l.t.hub.ClearFaults()
		struck++
		if err := pause(ctx, cmd.For); err != nil { // it recovers
			return err
		}
	}
	l.t.hub.Disturb(nil)
	playing()
	l.t.hub.Release()
	l.settle(ctx, <-want, 2*time.Minute)
	if err := d.rest(ctx, time.Second, 2*time.Minute); err != nil {
		b.report.note("%v", err)
	}
	delivering()
	b.report.add("faults", float64(struck), "")
	b.report.add("seed", float64(cmd.Seed), "")
	l.judge(0)
	return nil
}

func writes(f sandbox.Fault) (all []sandbox.Fault) {
	for _, match := range []string{"POST /repos/**", "PATCH /repos/**"} {
		f.Match = match
		all = append(all, f)
	}
	return all
}

// disturbed is what becomes of a delivery, by a number under 100.
func disturbed(n int) sandbox.Fate {
	switch {
	case n < 10:
		return sandbox.Fate{Twice: true}
	case n < 20:
		return sandbox.Fate{Behind: 1 + n}
	case n < 30:
		return sandbox.Fate{Delay: time.Duration(n) * 40 * time.Millisecond}
	case n < 32:
		return sandbox.Fate{Drop: true}
	default:
		return sandbox.Fate{}
	}
}
