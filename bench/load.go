package main

// The load of crash and chaos: pull requests that change all the time (pushes, runs, answers, outages, reruns). How each push
// must end is planned beforehand, so that no undisturbed run is needed to know it.
//
// GitHub tells daemons of no installation, and they look nothing over: a start heals nothing, and what was accepted and lost
// is missed. What was not accepted is sent again until it is.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A pushPlan is how a push goes: what the second reviewer writes, what it writes when it is run again, and how the check ends.
type pushPlan struct {
	first, second string
	isRunAgain    bool
	conclusion    string
}

const (
	objectionText = "The total is wrong for an empty cart: it divides by zero in cart.go, line 42.\n\n**Ready to merge?** No"
	outageText    = "Gemini API Error (HTTP 503): Service Unavailable"
)

var pushPlans = []pushPlan{
	{first: approvalText, conclusion: "success"},
	{first: objectionText, conclusion: "failure"},
	{isRunAgain: true, second: approvalText, conclusion: "success"}, // it said nothing, and is run again at once
	{isRunAgain: true, conclusion: "action_required"},               // twice
	{first: outageText, isRunAgain: true, second: approvalText, conclusion: "success"},
}

// settleTime is how long a check, or a rerun, may be awaited. A rerun that was cut off is asked for again after half a
// minute, and after two minutes more if that was cut off, too.
const settleTime = 200 * time.Second

// A load is pull requests that change all the time, and what was accepted of it.
type load struct {
	bench    *bench
	github   *fakeGitHub
	database database
	pick     func() *daemon // whom a delivery is sent to; nil: there is none at the moment

	mu             sync.Mutex
	when           string            // what happens to the daemons
	accepted       map[string]string // by the delivery's id: when
	pushes, reruns int
	calmSince      time.Time     // since when nothing happens to the daemons; zero: it does
	slowest        time.Duration // from then, or the last event of a push, to its check, if it asks for no rerun
}

// newLoad makes a GitHub, and a database on a PostgreSQL, or of SQLite if server is "".
func (b *bench) newLoad(server string) (*load, error) {
	t, err := b.newFakeGitHub(20, 2, 2, 1_000_000)
	if err != nil {
		return nil, err
	}
	t.hub.AddFault(sandbox.Fault{Match: "GET /app/installations", Status: http.StatusBadGateway})
	db, err := b.newDatabase(server)
	return &load{bench: b, github: t, database: db, accepted: map[string]string{}}, err
}

// withLock calls what reads or changes what is kept of the load.
func (l *load) withLock(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// setWhen says what happens to the daemons from now on.
func (l *load) setWhen(format string, args ...any) {
	l.withLock(func() { l.when = fmt.Sprintf(format, args...) })
}

// startPushes begins the pushes and the deliveries. finish lets each push come to its end, and waits until all is over.
func (l *load) startPushes() (finish func()) {
	sending, stopSending := context.WithCancel(l.bench.ctx)
	playing, stopPlaying := context.WithCancel(l.bench.ctx)
	var senders, players sync.WaitGroup
	senders.Go(func() { l.deliverWebhooks(sending) })
	senders.Go(func() { l.github.hub.Run(sending, sandbox.Clock{Now: time.Now, Sleep: sleepFor}) })
	for n, p := range l.github.pulls {
		rng := rand.New(rand.NewPCG(l.bench.seed, uint64(n)))
		players.Go(func() {
			for push := 2; playing.Err() == nil; push++ {
				plan := pushPlans[rng.IntN(len(pushPlans))]
				if err := l.playPush(p, push, plan, rng); err != nil && l.bench.ctx.Err() == nil {
					l.bench.reportFailure("%s, push %d: %v", p, push, err)
					return
				}
			}
		})
	}
	return func() {
		stopPlaying()
		players.Wait()
		_ = l.github.hub.WaitDelivered(l.bench.ctx) // it ends with the command alone
		stopSending()
		senders.Wait()
	}
}

// playPush plays a push with its two reviewers, and waits for its check. One in five is abandoned half-way for the next. Events
// are more than a second apart, as GitHub's times are whole seconds and no reviewer is faster.
func (l *load) playPush(p pull, push int, plan pushPlan, rng *rand.Rand) error {
	soon := func() error {
		return sleepFor(l.bench.ctx, 1050*time.Millisecond+time.Duration(rng.IntN(300))*time.Millisecond)
	}
	l.withLock(func() { l.pushes++ })
	err := p.Push(p.number, fmt.Sprintf("pull %d, push %d", p.number, push), sandbox.PushSpec{})
	reliable, started := p.startRun(0)
	other, startedToo := p.startRun(1)
	if err := errors.Join(err, started, startedToo, soon(), p.postAnswer(0, approvalText)); err != nil {
		return err
	}
	if rng.IntN(5) == 0 { // a new push cancels what runs for the old one
		return errors.Join(p.endRun(reliable, ""), p.endRun(other, "cancelled"), soon())
	}
	if err := errors.Join(p.postAnswer(1, plan.first), soon(), p.endRun(reliable, ""), p.endRun(other, "")); err != nil {
		return err
	}
	ended := time.Now()
	if plan.isRunAgain {
		isRunAgain := func() bool { s, err := p.StateOfRun(other); return err == nil && s.Attempt > 1 }
		err := errors.Join(l.bench.awaitThat("second attempt", settleTime, isRunAgain), soon(), p.postAnswer(1, plan.second))
		if err := errors.Join(err, soon(), p.endRun(other, "")); err != nil {
			return err
		}
		l.withLock(func() { l.reruns++ })
	}
	err = l.bench.awaitChecks([]pull{p}, plan.conclusion, settleTime)
	l.withLock(func() {
		if !plan.isRunAgain && !l.calmSince.IsZero() {
			l.slowest = max(l.slowest, min(time.Since(ended), time.Since(l.calmSince)))
		}
	})
	return err
}

// deliverWebhooks sends webhooks until ctx ends, each until a daemon has accepted it.
func (l *load) deliverWebhooks(ctx context.Context) {
	l.github.hub.DeliverFunc(ctx, func(event, guid string, payload []byte) error {
		for ctx.Err() == nil {
			if d := l.pick(); d != nil {
				status, kept := l.github.sendDelivery(ctx, d, sandbox.HookDelivery{Event: event, GUID: guid, Payload: payload})
				if kept {
					l.withLock(func() { l.accepted[guid] = l.when })
					l.github.tellHook(moment{kind: acknowledged})
				}
				if status == http.StatusAccepted {
					return nil
				} else if status != 0 && status != http.StatusServiceUnavailable {
					l.bench.reportFailure("a delivery of %s was answered %d", event, status)
					return errors.New("it was refused")
				}
			}
			_ = sleepFor(ctx, 10*time.Millisecond) // the loop ends with ctx, too
		}
		return ctx.Err()
	})
}

// countMoves returns how often the writes of the installation that moved most came from another process than the write before.
func (t *fakeGitHub) countMoves() (most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, moves := map[string]string{}, map[string]int{}
	for _, q := range t.requests {
		parts := strings.Split(q.path, "/")
		if q.method == http.MethodGet || len(parts) < 3 || parts[1] != "repos" {
			continue
		}
		if was, known := last[parts[2]]; known && was != q.token {
			moves[parts[2]]++
			most = max(most, moves[parts[2]])
		}
		last[parts[2]] = q.token
	}
	return most
}

// checkOutcome checks what must hold once all is over: what was accepted is in the database, each head has one check, and no run
// was run again twice.
func (l *load) checkOutcome() error {
	b, heads := l.bench, 0
	stored, err := l.database.readDeliveries(b.ctx)
	if err != nil {
		return err
	}
	for id, when := range l.accepted {
		if !stored[id] {
			b.reportFailure("the delivery %s, accepted %s, is not in the database", id, when)
		}
	}
	for _, r := range l.github.repos {
		for _, sha := range r.WrittenHeads() {
			heads++
			if n := len(r.OwnCheckRuns(sha)); n != 1 {
				b.reportFailure("%s: the commit %s has %d checks of ours", r.name, sha[:7], n)
			}
		}
		for run, n := range r.Wrote().Reruns {
			if n > 1 {
				b.reportFailure("%s: run %d was run again %d times", r.name, run, n)
			}
		}
	}
	if crossed := l.github.hub.CrossedRequests(); len(crossed) > 0 {
		b.reportFailure("%d requests asked for what their token must not see, for example %s", len(crossed), crossed[0])
	}
	fmt.Fprintf(b.stdout, "%d pushes, %d deliveries accepted, %d heads with a check, %d reruns\n",
		l.pushes, len(l.accepted), heads, l.reruns)
	return nil
}
