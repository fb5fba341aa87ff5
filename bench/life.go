package main

// A life of pull requests that never rests: pushes, runs, answers, outages, reruns; and what must hold whatever happens to
// the daemon meanwhile. What each push must come to is planned beforehand, so that no undisturbed run is needed to know it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	rendered "github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// fate is what a push comes to.
type fate uint8

const (
	approved  fate = 1 + iota // both reviewers approve
	objected                  // one has a finding
	recovered                 // one says nothing, is run again at once, and approves
	silent                    // one says nothing, twice
	outaged                   // one answers 503, is run again later, and approves
	givenUp                   // it should have been run again, and a kill cut off each of the three tries
)

// fates are how often each comes.
var fates = [...]fate{approved, approved, objected, objected, recovered, recovered, silent, silent, outaged}

// first and second are what the reviewer writes in its attempts.
func (f fate) first() string {
	return [...]string{approved: approval, objected: objection, recovered: "", silent: "", outaged: outage}[f]
}

func (f fate) second() string {
	return [...]string{approved: "", objected: "", recovered: approval, silent: "", outaged: approval}[f]
}

func (f fate) conclusion() string {
	switch f {
	case approved, recovered, outaged:
		return "success"
	case objected:
		return "failure"
	case silent:
		return "action_required"
	case givenUp: // it waits for the reviewer's timeout
		return ""
	default:
		return "unreachable"
	}
}

const (
	outage    = "\n\nGemini API Error (HTTP 503): Service Unavailable"
	objection = "\n\nThe total is wrong for an empty cart: it divides by zero in cart.go, line 42.\n\n**Ready to merge?** No"
)

// A life is a town in which something happens all the time, and a daemon that may die at any moment.
type life struct {
	b    *bench
	t    *town
	rng  *rand.Rand // of what happens, not of when
	from context.Context

	mu       sync.Mutex
	daemon   *daemon
	accepted map[string]accepted // by id
	byPull   map[string]time.Time
	again    map[string]map[int64]chan int // by repository and run: who waits for its rerun
	onAck    func(int)                     // told of each 202 of this daemon
	acks     int
	pushes   int
	reruns   int
	givenUp  int
	errs     []error
}

type accepted struct {
	sent, at time.Time
	pull     string // which it names by itself; "" if none
}

func (b *bench) live(ctx context.Context, seed uint64, repos, pulls int) (*life, error) {
	t, err := newTown(b.dir, townOptions{installations: repos, repositories: 1, pulls: pulls, reviewers: 2, backoff: time.Second, latency: b.GitHub, limit: 1_000_000, parallel: 8})
	if err != nil {
		return nil, err
	}
	l := &life{
		b: b, t: t, rng: rand.New(rand.NewPCG(seed, 5)), from: ctx, accepted: map[string]accepted{}, byPull: map[string]time.Time{}, again: map[string]map[int64]chan int{},
	}
	for _, r := range t.repos {
		l.again[r.name] = map[int64]chan int{}
		r.OnRerun(func(run int64, attempt int) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.reruns++
			if c := l.again[r.name][run]; c != nil {
				select {
				case c <- attempt:
				default: // a second rerun of the same attempt: the end finds it
				}
			}
		})
	}
	return l, nil
}

// play lets everything happen until ctx ends, and then brings each pull request's last push to its end. It returns what
// each pull request must come to.
func (l *life) play(ctx context.Context) (want map[string]fate) {
	want = map[string]fate{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, p := range l.t.pulls() {
		rng := rand.New(rand.NewPCG(l.rng.Uint64(), 7))
		group.Go(func() {
			for cycle := 2; ; cycle++ {
				last := ctx.Err() != nil
				f := fates[rng.IntN(len(fates))]
				if last && f == outaged { // its rerun is due in half a minute
					f = recovered
				}
				err := l.cycle(p, cycle, f, last, rng)
				if errors.Is(err, errGivenUp) {
					f, err = givenUp, nil
				}
				if err != nil {
					l.fail(fmt.Errorf("play %s: %w", p, err))
					return
				}
				if last || l.from.Err() != nil {
					mu.Lock()
					want[p.String()] = f
					mu.Unlock()
					return
				}
			}
		})
	}
	group.Wait()
	return want
}

func (l *life) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

// cycle is a push and what comes of it. One in four is given up half-way for the next push, unless it is the last. GitHub
// tells times in whole seconds: what would happen within one cannot be told apart by anybody, and no reviewer is so fast.
func (l *life) cycle(p pull, n int, f fate, last bool, rng *rand.Rand) error {
	soon := func() error {
		return pause(l.from, 1100*time.Millisecond+time.Duration(rng.IntN(400))*time.Millisecond)
	}
	halfway := !last && rng.IntN(4) == 0
	l.mu.Lock()
	l.pushes++
	l.mu.Unlock()
	if err := p.Push(p.number, head(p.number, n), sandbox.PushSpec{}); err != nil {
		return err
	}
	if err := soon(); err != nil {
		return err
	}
	var runs [2]int64
	for r := range runs {
		var err error
		if runs[r], err = p.starts(r); err != nil {
			return err
		}
	}
	rerun := make(chan int, 1)
	l.waits(p.name, runs[1], rerun)
	defer l.waits(p.name, runs[1], nil)
	if err := errors.Join(soon(), p.approves(0), soon()); err != nil {
		return err
	}
	if _, err := p.FinishRun(runs[0], sandbox.Finish{}); err != nil {
		return err
	}
	if halfway { // a new push cancels what runs for the old one
		_, err := p.FinishRun(runs[1], sandbox.Finish{Conclusion: "cancelled"})
		return errors.Join(err, soon())
	}
	if err := l.answer(p, runs[1], f.first(), soon); err != nil {
		return err
	}
	if f != approved && f != objected {
		if err := errors.Join(l.awaitRerun(p, runs[1], rerun), soon()); err != nil {
			return err
		}
		if err := l.answer(p, runs[1], f.second(), soon); err != nil {
			return err
		}
	}
	return soon()
}

// waits says who waits for a run's rerun; nil: nobody any more.
func (l *life) waits(repo string, run int64, rerun chan int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rerun == nil {
		delete(l.again[repo], run)
		return
	}
	l.again[repo][run] = rerun
}

// mostRerun is how long a rerun may take. One whose intent was written before a kill, and that was not asked for, is repeated
// half a minute later at the earliest, and a kill may hit it there again.
const mostRerun = 4 * time.Minute

// errGivenUp says that a rerun was tried as often as it may be, and each try was cut off: GitHub would not tell a fourth one
// from a second rerun.
var errGivenUp = errors.New("the rerun was given up")

// awaitRerun waits until the daemon has run a run again, or has given it up.
func (l *life) awaitRerun(p pull, run int64, rerun <-chan int) error {
	end := time.Now().Add(mostRerun)
	for time.Now().Before(end) {
		timer := time.NewTimer(5 * time.Second)
		select {
		case <-rerun:
			timer.Stop()
			return nil
		case <-timer.C:
		case <-l.from.Done():
			timer.Stop()
			return context.Cause(l.from)
		}
		if l.gaveUp(p, run) {
			l.mu.Lock()
			l.givenUp++
			l.mu.Unlock()
			return errGivenUp
		}
	}
	return fmt.Errorf("its reviewer was not run again within %s", mostRerun)
}

// gaveUp reports whether the check says that a run was to be run again three times, the last time more than a minute ago.
func (l *life) gaveUp(p pull, run int64) bool {
	for _, c := range p.Own(p.Head(p.number)) {
		record, ok := rendered.ParseRecord(c.Text)
		if ok && slices.ContainsFunc(record.Intents, func(in quorum.Intent) bool {
			return in.Kind == quorum.Rerun && in.Run == run && in.Tries >= 3 && time.Since(in.At) > time.Minute
		}) {
			return true
		}
	}
	return false
}

func (l *life) answer(p pull, run int64, text string, soon func() error) error {
	if text != "" {
		if _, err := p.Comment(p.number, "github-actions[bot]", reviewers[1].heading+text); err != nil {
			return err
		}
	}
	if err := soon(); err != nil {
		return err
	}
	_, err := p.FinishRun(run, sandbox.Finish{})
	return err
}

// deliver sends webhooks to whichever daemon lives, until ctx ends. What it does not accept is a failed delivery: GitHub
// tries nothing twice, the daemon must ask.
func (l *life) deliver(ctx context.Context) {
	l.t.hub.DeliverFunc(ctx, func(event, guid string, payload []byte) error {
		l.mu.Lock()
		d := l.daemon
		l.mu.Unlock()
		if d == nil {
			return errors.New("nobody listens")
		}
		c, err := dial(ctx, d.hooks)
		if err != nil {
			return err
		}
		defer c.close()
		sent := time.Now()
		status, body, err := c.send(l.t.wired(sandbox.Delivery{Event: event, Payload: payload}), guid)
		switch {
		case err != nil:
			return err
		case status != http.StatusAccepted:
			return fmt.Errorf("the daemon answered %d", status)
		}
		var answer struct {
			Result string `json:"result"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		l.acknowledged(d, guid, sent, answer.Result, about(payload))
		return nil
	})
}

func (l *life) acknowledged(by *daemon, guid string, sent time.Time, result string, about subject) {
	l.mu.Lock()
	now := time.Now()
	_, known := l.accepted[guid]
	switch {
	case result == "accepted":
		l.accepted[guid] = accepted{sent, now, about.pull}
		if about.pull != "" && about.looked {
			l.byPull[about.pull] = now
		}
	case result == "duplicate" && !known: // it was accepted, and the answer lost
		l.accepted[guid] = accepted{sent, now, ""}
	}
	var told func(int)
	if l.daemon == by {
		l.acks++
		told = l.onAck
	}
	n := l.acks
	l.mu.Unlock()
	if told != nil {
		told(n)
	}
}

// A subject is what a delivery is about.
type subject struct {
	pull   string // the pull request that it names by itself; "" if it names none, or several
	looked bool   // it is always looked at
}

func about(payload []byte) (s subject) {
	type pull struct {
		Number int `json:"number"`
	}
	var p struct {
		Repository struct {
			Name string `json:"full_name"`
		} `json:"repository"`
		PullRequest pull `json:"pull_request"`
		Issue       pull `json:"issue"`
		Run         struct {
			Pulls []pull `json:"pull_requests"`
		} `json:"workflow_run"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return s
	}
	n := max(p.PullRequest.Number, p.Issue.Number)
	s.looked = n > 0
	if len(p.Run.Pulls) == 1 {
		n = p.Run.Pulls[0].Number
	}
	if n > 0 {
		s.pull = fmt.Sprintf("%s#%d", p.Repository.Name, n)
	}
	return s
}

// settle waits until every pull request's head has the check that it must have, and says where it has not.
func (l *life) settle(ctx context.Context, want map[string]fate, most time.Duration) {
	end := time.Now().Add(most)
	for {
		wrong := l.wrong(want)
		if len(wrong) == 0 {
			return
		}
		if time.Now().After(end) || pause(ctx, 50*time.Millisecond) != nil {
			for _, w := range wrong[:min(len(wrong), 10)] {
				l.b.report.violated("%s", w)
			}
			return
		}
	}
}

func (l *life) wrong(want map[string]fate) (wrong []string) {
	for _, p := range l.t.pulls() {
		own := p.Own(p.Head(p.number))
		f, planned := want[p.String()]
		switch {
		case !planned:
			wrong = append(wrong, fmt.Sprintf("%s: its story did not end", p))
		case len(own) == 0:
			wrong = append(wrong, fmt.Sprintf("%s has no check", p))
		case own[0].Conclusion != f.conclusion():
			wrong = append(wrong, fmt.Sprintf("%s is %s %q and should be %q", p, own[0].Status, own[0].Conclusion, f.conclusion()))
		}
	}
	return wrong
}

// judge says what must never have happened, once all is settled. It takes three kills to cut a rerun off for good.
func (l *life) judge(kills int) {
	r := &l.b.report
	for _, err := range l.errs {
		r.violated("%v", err)
	}
	heads, twice := 0, 0
	for _, repo := range l.t.repos {
		for _, sha := range repo.Heads() {
			heads++
			if n := len(repo.Own(sha)); n != 1 {
				r.violated("%s: the commit %s has %d checks of ours", repo.name, sha[:7], n)
			}
		}
		for run, n := range repo.Wrote().Reruns {
			if n > 1 {
				twice++
				r.violated("%s: run %d was run again %d times", repo.name, run, n)
			}
		}
	}
	unseen := 0
	lastLook := map[string]time.Time{}
	for _, q := range l.t.asked() {
		if m := looked.FindStringSubmatch(q.path); m != nil && q.method == http.MethodGet && q.status != 0 {
			if name := m[1] + "#" + m[2]; q.ended.After(lastLook[name]) {
				lastLook[name] = q.ended
			}
		}
	}
	for name, at := range l.byPull {
		if lastLook[name].Before(at) {
			unseen++
			r.violated("%s was not looked at after its last accepted delivery", name)
		}
	}
	if crossed := l.t.hub.Crossed(); len(crossed) > 0 {
		r.violated("%d requests asked for what their token must not see, for example %s", len(crossed), crossed[0])
	}
	if unknown := l.t.hub.Unknown(); len(unknown) > 0 {
		slices.Sort(unknown)
		r.note("requests that the sandbox does not know: %v", slices.Compact(unknown))
	}
	r.add("pull requests", float64(len(l.t.pulls())), "")
	r.add("pushes", float64(l.pushes), "")
	r.add("deliveries accepted", float64(len(l.accepted)), "")
	r.add("heads with a check of ours", float64(heads), "")
	r.add("reruns", float64(l.reruns), "")
	r.most("reruns given up after three tries, each cut off", float64(l.givenUp), "", float64(kills/3))
	r.most("reruns done twice", float64(twice), "", 0)
	r.most("pull requests not looked at after an accepted delivery", float64(unseen), "", 0)
}
