package main

// A soak run: pull requests that change all the time (pushes, runs, answers, outages, reruns), and what must hold
// whatever happens to the daemon meanwhile. The outcome of each push is planned beforehand, so that no undisturbed run
// is needed to know it.

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/review-coordinator/coordinator/internal/quorum"
	rendered "github.com/review-coordinator/coordinator/internal/report"
	"github.com/review-coordinator/coordinator/internal/sandbox"
)

// A pushOutcome is the planned outcome of a push.
type pushOutcome uint8

const (
	outcomeApproved  pushOutcome = 1 + iota // both reviewers approve
	outcomeObjected                         // one has a finding
	outcomeRecovered                        // one says nothing, is run again at once, and approves
	outcomeSilent                           // one says nothing, twice
	outcomeOutage                           // one answers 503, is run again later, and approves
	outcomeGivenUp                          // it should have been run again, and a kill cut off each of the three tries
)

// outcomeMix holds each outcome as often as it is drawn.
var outcomeMix = [...]pushOutcome{
	outcomeApproved,
	outcomeApproved,
	outcomeObjected,
	outcomeObjected,
	outcomeRecovered,
	outcomeRecovered,
	outcomeSilent,
	outcomeSilent,
	outcomeOutage,
}

// firstText and secondText are the reviewer's texts in its two attempts.
func (f pushOutcome) firstText() string {
	return [...]string{
		outcomeApproved: approvalComment, outcomeObjected: objectionComment, outcomeRecovered: "", outcomeSilent: "",
		outcomeOutage: outageComment,
	}[f]
}

func (f pushOutcome) secondText() string {
	return [...]string{
		outcomeApproved: "", outcomeObjected: "", outcomeRecovered: approvalComment, outcomeSilent: "",
		outcomeOutage: approvalComment,
	}[f]
}

func (f pushOutcome) wantConclusion() string {
	switch f {
	case outcomeApproved, outcomeRecovered, outcomeOutage:
		return "success"
	case outcomeObjected:
		return "failure"
	case outcomeSilent:
		return "action_required"
	case outcomeGivenUp: // it waits for the reviewer's timeout
		return ""
	default:
		return "unreachable"
	}
}

const (
	outageComment    = "\n\nGemini API Error (HTTP 503): Service Unavailable"
	objectionComment = "\n\nThe total is wrong for an empty cart: it divides by zero in cart.go, line 42.\n\n**Ready to merge?** No"
)

// A soakRun is a GitHub on which pull requests change all the time, and a daemon that may be killed at any moment.
type soakRun struct {
	harness  *harness
	github   *fakeGitHub
	database string     // the daemon's: a file, or a URL
	postgres *sql.DB    // the same, for us; nil: a file
	rng      *rand.Rand // decides what happens, not when
	ctx      context.Context

	mu            sync.Mutex
	daemon        *daemonProcess
	pickDaemon    func() *daemonProcess       // of several; nil: there is one
	accepted      map[string]acceptedDelivery // by id
	lastAckByPull map[string]time.Time
	rerunWaiters  map[string]map[int64]chan int // by repository and run: receives the attempt of its rerun
	ackHandler    func(int)                     // called with the number of 202 answers of this daemon
	ackCount      int
	pushCount     int
	rerunCount    int
	givenUpCount  int
	playErrors    []error
}

type acceptedDelivery struct {
	sentAt, ackedAt time.Time
	pullName        string // the pull request that it names; "" if none
	isPush          bool   // or another event of the pull request itself, which is looked at without delay
}

func (b *harness) newSoakRun(ctx context.Context, seed uint64, repos, pulls int) (*soakRun, error) {
	t, err := newFakeGitHub(
		b.dir,
		fakeOptions{
			installations: repos,
			repositories:  1,
			pulls:         pulls,
			reviewers:     2,
			backoff:       time.Second,
			latency:       b.GitHub,
			hourlyLimit:   1_000_000,
			parallel:      8,
		},
	)
	if err != nil {
		return nil, err
	}
	l := &soakRun{
		harness: b, github: t, database: b.dir + "/coordinator.db", rng: rand.New(rand.NewPCG(seed, 5)), ctx: ctx,
		accepted: map[string]acceptedDelivery{}, lastAckByPull: map[string]time.Time{}, rerunWaiters: map[string]map[int64]chan int{},
	}
	for _, r := range t.repos {
		l.rerunWaiters[r.name] = map[int64]chan int{}
		r.OnRerun(func(run int64, attempt int) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.rerunCount++
			if c := l.rerunWaiters[r.name][run]; c != nil {
				select {
				case c <- attempt:
				default: // a second rerun of the same attempt: reportOutcome finds it
				}
			}
		})
	}
	return l, nil
}

// playPushes plays pushes until ctx ends, and then finishes each pull request's last one. It returns the outcome that
// each pull request must have.
func (l *soakRun) playPushes(ctx context.Context) (want map[string]pushOutcome) {
	want = map[string]pushOutcome{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, p := range l.github.allPulls() {
		rng := rand.New(rand.NewPCG(l.rng.Uint64(), 7))
		group.Go(func() {
			for cycle := 2; ; cycle++ {
				last := ctx.Err() != nil
				f := outcomeMix[rng.IntN(len(outcomeMix))]
				if last && f == outcomeOutage { // its rerun is due in half a minute
					f = outcomeRecovered
				}
				err := l.playPush(p, cycle, f, last, rng)
				if errors.Is(err, errRerunGivenUp) {
					f, err = outcomeGivenUp, nil
				}
				if err != nil {
					l.recordError(fmt.Errorf("play %s: %w", p, err))
					return
				}
				if last || l.ctx.Err() != nil {
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

func (l *soakRun) recordError(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.playErrors = append(l.playErrors, err)
}

// playPush plays a push with its two reviewers. One in four is abandoned half-way for the next push, unless it is the
// last. Events are more than a second apart, as GitHub's times are whole seconds and no reviewer is faster.
func (l *soakRun) playPush(p trackedPull, n int, f pushOutcome, last bool, rng *rand.Rand) error {
	soon := func() error {
		return sleepFor(l.ctx, 1100*time.Millisecond+time.Duration(rng.IntN(400))*time.Millisecond)
	}
	halfway := !last && rng.IntN(4) == 0
	l.mu.Lock()
	l.pushCount++
	l.mu.Unlock()
	if err := p.Push(p.number, headName(p.number, n), sandbox.PushSpec{}); err != nil {
		return err
	}
	if err := soon(); err != nil {
		return err
	}
	var runs [2]int64
	for r := range runs {
		var err error
		if runs[r], err = p.startRun(r); err != nil {
			return err
		}
	}
	rerun := make(chan int, 1)
	l.setRerunWaiter(p.name, runs[1], rerun)
	defer l.setRerunWaiter(p.name, runs[1], nil)
	if err := errors.Join(soon(), p.postApproval(0), soon()); err != nil {
		return err
	}
	if _, err := p.FinishRun(runs[0], sandbox.Finish{}); err != nil {
		return err
	}
	if halfway { // a new push cancels what runs for the old one
		_, err := p.FinishRun(runs[1], sandbox.Finish{Conclusion: "cancelled"})
		return errors.Join(err, soon())
	}
	if err := l.finishAttempt(p, runs[1], f.firstText(), soon); err != nil {
		return err
	}
	if f != outcomeApproved && f != outcomeObjected {
		if err := errors.Join(l.awaitRerun(p, runs[1], rerun), soon()); err != nil {
			return err
		}
		if err := l.finishAttempt(p, runs[1], f.secondText(), soon); err != nil {
			return err
		}
	}
	return soon()
}

// setRerunWaiter sets the channel that a run's rerun is sent to; nil removes it.
func (l *soakRun) setRerunWaiter(repo string, run int64, rerun chan int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rerun == nil {
		delete(l.rerunWaiters[repo], run)
		return
	}
	l.rerunWaiters[repo][run] = rerun
}

// rerunTimeout is how long a rerun may take. If a kill came between its intent and its request, the daemon asks again
// half a minute later at the earliest, and another kill may hit it there.
const rerunTimeout = 4 * time.Minute

// errRerunGivenUp says that a kill cut off each of the three tries of a rerun. There is no fourth: it could not be told
// from a second rerun.
var errRerunGivenUp = errors.New("the rerun was given up")

// awaitRerun waits until the daemon has rerun a workflow run, or has given that up.
func (l *soakRun) awaitRerun(p trackedPull, run int64, rerun <-chan int) error {
	end := time.Now().Add(rerunTimeout)
	for time.Now().Before(end) {
		timer := time.NewTimer(5 * time.Second)
		select {
		case <-rerun:
			timer.Stop()
			return nil
		case <-timer.C:
		case <-l.ctx.Done():
			timer.Stop()
			return context.Cause(l.ctx)
		}
		if l.rerunGivenUp(p, run) {
			l.mu.Lock()
			l.givenUpCount++
			l.mu.Unlock()
			return errRerunGivenUp
		}
	}
	return fmt.Errorf("its reviewer was not run again within %s", rerunTimeout)
}

// rerunGivenUp reports whether the check's record has three tries of a rerun, the last more than a minute ago.
func (l *soakRun) rerunGivenUp(p trackedPull, run int64) bool {
	for _, c := range p.OwnCheckRuns(p.Head(p.number)) {
		record, ok := rendered.ParseRecord(c.Text)
		if ok && slices.ContainsFunc(record.Intents, func(in quorum.Intent) bool {
			return in.Kind == quorum.Rerun && in.Run == run && in.Tries >= 3 && time.Since(in.At) > time.Minute
		}) {
			return true
		}
	}
	return false
}

func (l *soakRun) finishAttempt(p trackedPull, run int64, text string, soon func() error) error {
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

// deliverWebhooks sends webhooks to the running daemon until ctx ends. A delivery that is not accepted has failed:
// GitHub does not repeat it, the daemon must ask for it.
func (l *soakRun) deliverWebhooks(ctx context.Context) {
	l.github.hub.DeliverFunc(ctx, func(event, guid string, payload []byte) error {
		l.mu.Lock()
		d := l.daemon
		l.mu.Unlock()
		if l.pickDaemon != nil {
			d = l.pickDaemon()
		}
		if d == nil {
			return errors.New("nobody listens")
		}
		c, err := dialWebhook(ctx, d.webhookAddr)
		if err != nil {
			return err
		}
		defer c.close()
		sent := time.Now()
		status, body, err := c.sendDelivery(l.github.signDelivery(sandbox.HookDelivery{Event: event, Payload: payload}), guid)
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
		about := subjectOf(payload)
		about.isPush = event == "pull_request"
		l.recordAck(d, guid, sent, answer.Result, about)
		return nil
	})
}

func (l *soakRun) recordAck(by *daemonProcess, guid string, sent time.Time, result string, about deliverySubject) {
	l.mu.Lock()
	now := time.Now()
	_, known := l.accepted[guid]
	switch {
	case result == "accepted":
		l.accepted[guid] = acceptedDelivery{sent, now, about.pullName, about.isPush}
		if about.pullName != "" && about.alwaysLooked {
			l.lastAckByPull[about.pullName] = now
		}
	case result == "duplicate" && !known: // accepted before, but the answer was lost
		l.accepted[guid] = acceptedDelivery{sentAt: sent, ackedAt: now}
	}
	var told func(int)
	if l.daemon == by {
		l.ackCount++
		told = l.ackHandler
	}
	n := l.ackCount
	l.mu.Unlock()
	if told != nil {
		told(n)
	}
}

// A deliverySubject is the pull request that a delivery is about.
type deliverySubject struct {
	pullName     string // the pull request that it names by itself; "" if it names none, or several
	alwaysLooked bool   // the event always causes a look
	isPush       bool
}

func subjectOf(payload []byte) (s deliverySubject) {
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
	s.alwaysLooked = n > 0
	if len(p.Run.Pulls) == 1 {
		n = p.Run.Pulls[0].Number
	}
	if n > 0 {
		s.pullName = fmt.Sprintf("%s#%d", p.Repository.Name, n)
	}
	return s
}

// awaitOutcomes waits until every pull request's head has the check of its outcome, and reports those that have not.
func (l *soakRun) awaitOutcomes(ctx context.Context, want map[string]pushOutcome, most time.Duration) {
	end := time.Now().Add(most)
	for {
		wrong := l.wrongChecks(want)
		if len(wrong) == 0 {
			return
		}
		if time.Now().After(end) || sleepFor(ctx, 50*time.Millisecond) != nil {
			for _, w := range wrong[:min(len(wrong), 10)] {
				l.harness.report.addViolation("%s", w)
			}
			return
		}
	}
}

func (l *soakRun) wrongChecks(want map[string]pushOutcome) (wrong []string) {
	for _, p := range l.github.allPulls() {
		own := p.OwnCheckRuns(p.Head(p.number))
		f, planned := want[p.String()]
		switch {
		case !planned:
			wrong = append(wrong, fmt.Sprintf("%s: its story did not end", p))
		case len(own) == 0:
			wrong = append(wrong, fmt.Sprintf("%s has no check", p))
		case own[0].Conclusion != f.wantConclusion():
			wrong = append(wrong, fmt.Sprintf("%s is %s %q and should be %q", p, own[0].Status, own[0].Conclusion, f.wantConclusion()))
		}
	}
	return wrong
}

// looksByPull returns when each pull request was looked at, in order.
func (l *soakRun) looksByPull() map[string][]time.Time {
	looks := map[string][]time.Time{}
	l.github.mu.Lock()
	for _, q := range l.github.requests {
		if m := pullReadPattern.FindStringSubmatch(q.path); m != nil && q.method == http.MethodGet {
			looks[m[1]+"#"+m[2]] = append(looks[m[1]+"#"+m[2]], q.began)
		}
	}
	l.github.mu.Unlock()
	for _, of := range looks {
		slices.SortFunc(of, time.Time.Compare)
	}
	return looks
}

// longestWait returns how long the push that waited longest did so for the look that follows it.
func (l *soakRun) longestWait() (longest time.Duration) {
	looks := l.looksByPull()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.accepted {
		of := looks[a.pullName]
		i, _ := slices.BinarySearchFunc(of, a.sentAt, time.Time.Compare)
		if a.isPush && i < len(of) {
			longest = max(longest, of[i].Sub(a.ackedAt))
		}
	}
	return longest
}

// mostMoves returns how often the writes of the installation that moved most came from another process than the write before.
func (l *soakRun) mostMoves() (most int) {
	l.github.mu.Lock()
	defer l.github.mu.Unlock()
	last, moves := map[string]string{}, map[string]int{}
	for _, q := range l.github.requests {
		parts := strings.Split(q.path, "/")
		if !q.isWrite() || len(parts) < 3 || parts[1] != "repos" {
			continue
		}
		owner := parts[2]
		if was, known := last[owner]; known && was != q.token {
			moves[owner]++
			most = max(most, moves[owner])
		}
		last[owner] = q.token
	}
	return most
}

// reportOutcome reports what must never happen, once all is settled. A rerun is given up after three kills at the
// earliest.
func (l *soakRun) reportOutcome(kills int) {
	r := &l.harness.report
	for _, err := range l.playErrors {
		r.addViolation("%v", err)
	}
	heads, twice := 0, 0
	for _, repo := range l.github.repos {
		for _, sha := range repo.WrittenHeads() {
			heads++
			if n := len(repo.OwnCheckRuns(sha)); n != 1 {
				r.addViolation("%s: the commit %s has %d checks of ours", repo.name, sha[:7], n)
			}
		}
		for run, n := range repo.Wrote().Reruns {
			if n > 1 {
				twice++
				r.addViolation("%s: run %d was run again %d times", repo.name, run, n)
			}
		}
	}
	unseen := 0
	lastLook := map[string]time.Time{}
	for _, q := range l.github.takeRequests() {
		if m := pullReadPattern.FindStringSubmatch(q.path); m != nil && q.method == http.MethodGet && q.status != 0 {
			if name := m[1] + "#" + m[2]; q.ended.After(lastLook[name]) {
				lastLook[name] = q.ended
			}
		}
	}
	for name, at := range l.lastAckByPull {
		if lastLook[name].Before(at) {
			unseen++
			r.addViolation("%s was not looked at after its last accepted delivery", name)
		}
	}
	if crossed := l.github.hub.CrossedRequests(); len(crossed) > 0 {
		r.addViolation("%d requests asked for what their token must not see, for example %s", len(crossed), crossed[0])
	}
	if unknown := l.github.hub.UnknownRequests(); len(unknown) > 0 {
		slices.Sort(unknown)
		r.addNote("requests that the sandbox does not know: %v", slices.Compact(unknown))
	}
	r.addFigure("pull requests", float64(len(l.github.allPulls())), "")
	r.addFigure("pushes", float64(l.pushCount), "")
	r.addFigure("deliveries accepted", float64(len(l.accepted)), "")
	r.addFigure("heads with a check of ours", float64(heads), "")
	r.addFigure("reruns", float64(l.rerunCount), "")
	r.addAtMost("reruns given up after three tries, each cut off", float64(l.givenUpCount), "", float64(kills/3))
	r.addAtMost("reruns done twice", float64(twice), "", 0)
	r.addAtMost("pull requests not looked at after an accepted delivery", float64(unseen), "", 0)
}
