//go:build !action

package main

// An organisation's hours in virtual time: a first start on many open pull requests, and then pushes with reviews, within
// GitHub's hour of one installation. What happens is decided within seconds all the while.

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/review-coordinator/coordinator/internal/sandbox"
)

var organisationPart = flag.Int("organisation-part", 0, "play an organisation of 500 repositories divided by this")

// An organisation is an installation with many repositories, in which something happens all the time.
type organisation struct {
	*underLoad
	pulls []loadPull

	mu     sync.Mutex
	events []toldEvent
}

// A toldEvent is what happened to a head, and what the check says once that is seen.
type toldEvent struct {
	loadPull
	head  string
	at    time.Time
	wants int // approvals at least
}

// newOrganisation makes repositories with three open pull requests each, by three authors, most of which the reviewers have
// approved.
func newOrganisation(t *testing.T, repositories, hourly int) *organisation {
	o := &organisation{underLoad: &underLoad{t: t, looks: map[string]int{}}}
	o.hub = sandbox.NewHub(sandbox.HubOptions{
		App: sandbox.App{Slug: "quorum-app", ID: 4711}, Secret: loadSecret, EnforceLimits: true, ParallelDeliveries: 16, HourlyLimit: hourly,
	})
	for n := range repositories {
		g := sandbox.New(sandbox.Options{Owner: "acme", Repo: fmt.Sprintf("shop-%03d", n), Now: time.Now, App: o.hub.App()})
		g.SetFile(".github/review-coordinator.yml", "", loadPolicy)
		for i, author := range []string{"alice", "bob", "carol"} {
			number := i + 1
			g.OpenPull(sandbox.PullSpec{Number: number, Head: fmt.Sprintf("head %d of %d", number, n), Author: author})
			p := loadPull{g: g, number: number}
			o.pulls = append(o.pulls, p)
			if (n+number)%5 > 0 {
				for n, run := range o.startReviews(p) {
					o.must(o.review(p, n, run, 0, nil))
				}
			}
		}
		o.hub.Add(77, g) // no event told of all that
	}
	return o
}

func (o *organisation) must(err error) {
	if err != nil {
		o.t.Error(err)
	}
}

// startReviews starts the runs of all reviewers, as an event of the pull request does.
func (o *organisation) startReviews(p loadPull) (runs []int64) {
	for _, who := range loadReviewers {
		run, err := p.g.StartRun(sandbox.RunSpec{Workflow: ".github/workflows/" + who + ".yml", Name: who, PR: p.number, Jobs: []string{"review"}})
		o.must(err)
		runs = append(runs, run)
	}
	return runs
}

// review lets the nth reviewer run on for a while and approve. said is called when its run has ended.
func (o *organisation) review(p loadPull, n int, run int64, takes time.Duration, said func()) error {
	if takes > 0 {
		o.after(takes)
	}
	text := "## " + loadReviewers[n] + "\n\nRead.\n\n**Ready to merge?** Yes"
	if _, err := p.g.Comment(p.number, "github-actions[bot]", text); err != nil {
		return err
	}
	if takes > 0 {
		o.after(5 * time.Second)
	}
	if said != nil {
		said()
	}
	_, err := p.g.FinishRun(run, sandbox.Finish{})
	return err
}

// note notes that something happens now.
func (o *organisation) note(p loadPull, head string, wants int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, toldEvent{p, sandbox.SHA(head), time.Now(), wants})
}

// push pushes to a pull request, which its reviewers then approve one after the other.
func (o *organisation) push(p loadPull, head string) {
	o.note(p, head, 0)
	o.must(p.g.Push(p.number, head, sandbox.PushSpec{}))
	for n, run := range o.startReviews(p) {
		o.must(o.review(p, n, run, 40*time.Second, func() { o.note(p, head, n+1) }))
	}
}

// countUnseen counts the pull requests that show no check of ours yet.
func (o *organisation) countUnseen() (n int) {
	for _, p := range o.pulls {
		if len(p.g.OwnCheckRuns(p.g.Head(p.number))) == 0 {
			n++
		}
	}
	return n
}

// delays are how long it took until the check said what had happened; a day if it never did.
func (o *organisation) delays() (all []time.Duration) {
	for _, e := range o.events {
		delay := 24 * time.Hour
		for _, c := range e.g.OwnCheckRuns(e.head) {
			for _, r := range c.History {
				var approvals int
				if _, err := fmt.Sscanf(r.Title, "%d of", &approvals); err == nil && approvals >= e.wants && !r.At.Before(e.at) {
					delay = min(delay, r.At.Sub(e.at))
				}
			}
		}
		all = append(all, delay)
	}
	return all
}

// A first start on 1,500 open pull requests, and from its first minute on pushes whose reviewers answer: each event is decided
// within seconds, whatever waits to be looked over, and whoever force-pushes elsewhere. An hour of 12,500 requests is that of a
// large organisation, one of 5,000 the least that an App has.
func TestAnOrganisationsHours(t *testing.T) {
	if *organisationPart == 0 {
		t.Skip("-args -organisation-part=1 plays it, as CI does")
	}
	testKey()
	const flood = 400  // force-pushes of one author, in all
	const pushes = 200 // in an hour
	for _, hourly := range []int{12_500, 5000} {
		t.Run(fmt.Sprint(hourly, " requests an hour"), func(t *testing.T) {
			if *organisationPart > 1 && hourly < 12_500 {
				t.Skip("too few for a part of the organisation: -organisation-part=1 plays it")
			}
			synctest.Test(t, func(t *testing.T) { playOrganisation(t, hourly, pushes, flood) })
		})
	}
}

// playOrganisation plays three hours with so many pushes each.
func playOrganisation(t *testing.T, hourly, pushes, flood int) {
	part := max(*organisationPart, 1)
	o := newOrganisation(t, 500/part, hourly/part)
	o.start(o.hub)
	rng := rand.New(rand.NewPCG(1, uint64(hourly)))
	var all sync.WaitGroup
	for i := range 3 * pushes / part {
		at := time.Duration(rng.Float64() * 3 * float64(time.Hour))
		all.Go(func() {
			o.after(at)
			o.push(o.pulls[1+i%(len(o.pulls)-1)], fmt.Sprint("push ", i))
		})
	}
	all.Go(func() {
		for i := range flood / part {
			o.must(o.pulls[0].g.Push(o.pulls[0].number, fmt.Sprint("flood ", i), sandbox.PushSpec{Force: true}))
			o.after(3 * time.Hour / time.Duration(flood/part))
		}
	})
	left := len(o.pulls)
	for hour := range 3 {
		o.after(time.Hour)
		now := o.countUnseen()
		if now >= left && now > 5 && part == 1 { // a few were pushed to just now
			t.Errorf("the first look-over stands still: %d had not been looked at, and %d have not", left, now)
		}
		left = now
		u := o.hub.Usage(77, time.Now().Add(-time.Hour), time.Time{})
		t.Logf("hour %d: %d requests that are not 304 beside %d queries, %d not looked at yet", hour+1, u.Requests-u.NotModified-u.GraphQL, u.GraphQL, left)
	}
	all.Wait()
	o.after(time.Minute)
	spent := 0
	for _, r := range o.pulls[0].g.Requests() {
		if !r.NotModified {
			spent++
		}
	}
	if most := 3 * hourly / part / 10; spent > most {
		t.Errorf("where somebody pushes without end, three hours took %d requests of at most %d", spent, most)
	}
	delays := o.delays()
	t.Logf("%d events: p50 %s, p99 %s, most %s", len(delays), share(delays, 50), share(delays, 99), share(delays, 100))
	if p99 := share(delays, 99); p99 > time.Second {
		t.Errorf("p99 is %s", p99)
	}
	o.stop()
}
